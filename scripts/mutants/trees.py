"""A copy of the checkout, and what a run of all tests in one has shown."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build/mutants"
RECORD = KEPT / "tests.json"
KERNELS = "pegasos_stats/compiled/__pycache__"


def copied(to: Path) -> Path:
    """Copy the checkout, with the compiled kernels that were kept with the record."""
    for name in _files():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    if (KEPT / "kernels").exists():
        shutil.copytree(KEPT / "kernels", to / KERNELS)
    os.environ.pop("NUMBA_CACHE_DIR", None)  # they are looked for there
    return to


def recorded() -> None:
    """Run the tests that changed since the last record, or all; keep what they ran."""
    known = KEPT / "digests.json"
    before = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    now = _digests()
    if any(before.get(f) != now[f] for f in now if not _is_test(f)):
        shutil.rmtree(KEPT, ignore_errors=True)
        before = {}
    changed = [f for f in now if _is_test(f) and before.get(f) != now[f]]
    if not changed:
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    print(f"running {len(changed) if before else 'all'} files of tests", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copied(Path(folder))
        options = ["-q", "-p", "no:cacheprovider", "-p", "recording"]
        options += ["-n", "auto", "--dist", "worksteal"]
        found = {
            "PYTHONPATH": os.pathsep.join([folder, str(tree / "scripts/mutants")]),
            "MUTANTS_RECORD": str(KEPT / "new.json"),
        }
        run = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *(changed if before else [])],
            cwd=tree,
            env=os.environ | found,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if run.returncode not in (0, 1):
            raise RuntimeError(f"the tests do not run: {run.stdout[-2000:]}")
        shutil.rmtree(KEPT / "kernels", ignore_errors=True)
        shutil.copytree(tree / KERNELS, KEPT / "kernels")
    _joined(set(changed))
    known.write_text(json.dumps(before | now), encoding="utf-8")


def _joined(changed: set[str]) -> None:
    """Add what the new run found to what is known of tests that did not change."""
    new = json.loads((KEPT / "new.json").read_text(encoding="utf-8"))
    if RECORD.exists():
        old = json.loads(RECORD.read_text(encoding="utf-8"))
        files = {test: test.partition("::")[0] for test in old["seconds"]}
        same = [t for t, f in files.items() if f not in changed and (ROOT / f).exists()]
        new["seconds"] |= {test: old["seconds"][test] for test in same}
        new["failed"] += [test for test in old["failed"] if test in same]
    RECORD.write_text(json.dumps(new), encoding="utf-8")
    lines = Coverage(data_file=str(KEPT / "tests.lines"), config_file=False)
    lines.load()
    lines.combine([str(path) for path in KEPT.glob("new.lines.*")])
    lines.save()


def _files() -> list[str]:
    """Files of the checkout: all that is not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in run.stdout.split("\0") if name]
    return [name for name in names if (ROOT / name).is_file()]


def _is_test(file: str) -> bool:
    name = file.rpartition("/")[2]
    return file.startswith("tests/") and name.startswith("test_")


def _digests() -> dict[str, str]:
    """Of the package and its tests."""
    watched = [name for name in _files() if name.endswith(".py")]
    watched = [f for f in watched if f.startswith(("tests/", "pegasos_stats/"))]
    return {f: hashlib.sha256((ROOT / f).read_bytes()).hexdigest() for f in watched}
