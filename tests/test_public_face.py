"""The public names and their signatures are those that are written down."""

import difflib

import public_face


def test_the_public_face_changes_only_on_purpose() -> None:
    before = public_face.FILE.read_text(encoding="utf-8").splitlines()
    now = public_face.public_face().splitlines()
    changes = list(difflib.unified_diff(before, now, n=0, lineterm=""))
    assert not changes, "on purpose? then run scripts/public_face.py"
