"""The public names and their signatures are those that are written down."""

import difflib
import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts/public_face.py"


def test_the_public_face_changes_only_on_purpose() -> None:
    spec = importlib.util.spec_from_file_location("public_face", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    before = script.FILE.read_text(encoding="utf-8").splitlines()
    now = script.public_face().splitlines()
    changes = [
        line
        for line in difflib.unified_diff(before, now, n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    assert not changes, "on purpose? then run scripts/public_face.py"
