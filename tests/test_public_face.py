"""The public names and their signatures are those that are written down."""

import difflib

import public_face
import pytest

import pegasos_stats as ps


def test_the_public_face_changes_only_on_purpose() -> None:
    before = public_face.FILE.read_text(encoding="utf-8").splitlines()
    now = public_face.public_face().splitlines()
    changes = list(difflib.unified_diff(before, now, n=0, lineterm=""))
    assert not changes, "on purpose? then run scripts/public_face.py"


@pytest.mark.parametrize("name", ["dask", "sklearn"])
def test_modules_that_need_optional_packages_are_imported_by_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(ps, name, raising=False)  # another test may have imported it
    with pytest.raises(AttributeError, match=f"; write import pegasos_stats.{name}.$"):
        getattr(ps, name)
