"""Copies of the checkout, where a file can be changed and the tests run."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[2]
KERNELS = "pegasos_stats/compiled"
COMPILED = f"{KERNELS}/__pycache__"
NOT_FOUND, NONE_RAN = 4, 5  # what pytest ends with


@dataclass(frozen=True)
class Tree:
    """A copy of the checkout."""

    root: Path

    @contextmanager
    def changed(self, file: str, source: bytes) -> Iterator[None]:
        """Change one file; afterwards all is as before, compiled kernels too."""
        path, compiled = self.root / file, self.root / COMPILED
        before, kept = path.read_bytes(), self.root / "kept"
        is_kernel = file.startswith(KERNELS) and compiled.exists()
        if is_kernel:
            shutil.copytree(compiled, kept)
        path.write_bytes(source)
        try:
            yield
        finally:
            path.write_bytes(before)
            if is_kernel:
                shutil.rmtree(compiled)
                kept.rename(compiled)

    def fails(self, tests: list[str], limit: float) -> tuple[bool, str]:
        """Tell whether one of these tests fails, and which, or ends too late."""
        code, said = self._run(tests, limit)
        if code == NOT_FOUND and (known := self._names(tests, limit)) is not None:
            # Renamed or removed since they were recorded: no word of a failure.
            tests = [test for test in tests if test in known]
            code, said = self._run(tests, limit) if tests else (NONE_RAN, "")
        if code is None:
            return True, "endless"
        if code in (0, NONE_RAN):
            return False, f"{len(tests)} tests passed"
        words = ("FAILED", "ERROR")
        named = [line for line in said.splitlines() if line.startswith(words)]
        return True, named[0][:150] if named else said.strip()[-150:]

    def _run(self, tests: list[str], limit: float) -> tuple[int | None, str]:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as names:
            names.write("\n".join(tests))
            names.flush()
            return self.pytest("-x", "--tb=no", f"@{names.name}", limit=limit)

    def _names(self, tests: list[str], limit: float) -> set[str] | None:
        """All tests of the files of these; None if they cannot be collected."""
        files = {test.partition("::")[0] for test in tests}
        files = {file for file in files if (self.root / file).is_file()}
        if not files:
            return set()
        code, said = self.pytest("--collect-only", *sorted(files), limit=limit)
        return set(said.splitlines()) if code in (0, NONE_RAN) else None

    def pytest(
        self, *options: str, limit: float | None = None, record: Path | None = None
    ) -> tuple[int | None, str]:
        """Exit code and output of pytest in this tree; None if it ends too late."""
        found = [str(self.root), str(self.root / "scripts/mutants")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(found)}
        if record is not None:
            environment["MUTANTS_RECORD"] = str(record)
        run = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said = run.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            return None, ""
        return run.returncode, said


def copied(to: Path, kept: Path) -> Tree:
    """Copy the checkout, with the compiled kernels that were kept with the map."""
    for name in _files():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    if (kept / "kernels").exists():
        shutil.copytree(kept / "kernels", to / COMPILED)
    return Tree(to)


def recorded(kept: Path, old: bool, jobs: int) -> Path:
    """Run the tests that changed since the last record, or all; the record's file."""
    record, before, now = kept / "tests.json", _read(kept), _digests()
    if not old and any(before.get(f) != now[f] for f in now if _matters(f)):
        shutil.rmtree(kept, ignore_errors=True)
        before = {}
    changed = [f for f in now if _is_test(f) and before.get(f) != now[f]]
    if not changed:
        return record
    kept.mkdir(parents=True, exist_ok=True)
    print(f"running {len(changed) if before else 'all'} files of tests", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copied(Path(folder), kept)
        share = ["-n", str(jobs), "--dist", "worksteal"]
        options = [*(changed if before else []), *share, "-p", "recording"]
        code, said = tree.pytest(*options, record=kept / "new.json")
        if code not in (0, 1):
            raise RuntimeError(f"the tests do not run: {said[-2000:]}")
        shutil.rmtree(kept / "kernels", ignore_errors=True)
        shutil.copytree(tree.root / COMPILED, kept / "kernels")
    _joined(kept, record, changed)
    now = {f: d for f, d in now.items() if not old or _is_test(f)}
    state = json.dumps(before | now)
    (kept / "digests.json").write_text(state, encoding="utf-8")
    return record


def _joined(kept: Path, record: Path, changed: list[str]) -> None:
    """Add what the new run found to what is known of tests that did not change."""
    new = json.loads((kept / "new.json").read_text(encoding="utf-8"))
    if record.exists():
        old = json.loads(record.read_text(encoding="utf-8"))
        files = set(changed)
        for test, seconds in old["seconds"].items():
            if test.partition("::")[0] not in files:
                new["seconds"][test] = seconds
        new["failed"] += [
            test for test in old["failed"] if test.partition("::")[0] not in files
        ]
    record.write_text(json.dumps(new), encoding="utf-8")
    lines = Coverage(data_file=str(kept / "tests.lines"), config_file=False)
    lines.load()
    lines.combine([str(path) for path in kept.glob("new.lines.*")])
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


def _matters(file: str) -> bool:
    """Tell whether all tests must run again after a change of this file."""
    return not _is_test(file) and file.startswith(("tests/", "pegasos_stats/"))


def _digests() -> dict[str, str]:
    watched = [name for name in _files() if name.endswith(".py")]
    return {f: hashlib.sha256((ROOT / f).read_bytes()).hexdigest() for f in watched}


def _read(kept: Path) -> dict[str, str]:
    path = kept / "digests.json"
    found: dict[str, str] = {}
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
    return found
