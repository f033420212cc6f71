"""Try changes of the package: run the tests that can see each, every time in a fork.

A change is written into the copy of the checkout, where processes that a test starts
find it. Most forks come from a process that has collected all tests, and the change is
put into its live functions; what runs when the package is imported, and what is
compiled, is tried in forks that import the package anew.
"""

import gc
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from places import Mutant
from reach import COMPILED, Reach

COLLECTING = 180.0  # seconds, until the first test runs
COMPILING = 600.0  # all kernels anew
STALLED = 60.0  # what a test may take beyond the time that it took when measured
SLOWER = 10.0  # than then: other work on the machine
OPTIONS = ["-q", "-p", "no:cacheprovider"]
TIMES = count(1)  # of changed files, all different: Python keeps code by them

Attempt = Callable[[list[str], Mutant | None], str]


@dataclass(eq=False)
class Trials:
    """Trials in the current folder, a copy of the checkout; a plugin of pytest."""

    reach: Reach
    most: float  # seconds of tests for one mutant
    seen: list[Mutant] = field(default_factory=list)
    unfit: set[str] = field(default_factory=set)  # fail in a fork without a change
    live: list[tuple[Mutant, CodeType, CodeType]] = field(default_factory=list)

    def run(self, mutants: list[Mutant]) -> None:
        """Print what becomes of each; those for live functions come last."""
        for mutant in mutants:
            if (codes := _codes(mutant, self.reach)) is None:
                self._try(mutant, self._imported_anew)
            else:
                self.live.append((mutant, *codes))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            pytest.main([*OPTIONS, f"--basetemp={folder}/tests"], plugins=[self])

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try changes in place of the tests."""
        items = {item.nodeid: item for item in session.items}
        for mutant, old, new in self.live:
            self._try(mutant, partial(self._live, items, partial(_swap, old, new)))
        return True

    def _try(self, mutant: Mutant, attempt: Attempt) -> None:
        at, total, left_out = mutant.place, 0.0, 0
        tests: list[str] = []
        for test in self.reach.tests(mutant.file, at.function, at.line):
            if total + self.reach.seconds[test] > self.most:
                left_out += 1
            elif test not in self.unfit:
                total += self.reach.seconds[test]
                tests.append(test)
        remark = f"{len(tests)} tests passed, {left_out} left out for their time"
        start, word = time.monotonic(), "SURVIVED"
        while tests:
            with _changed(mutant):
                failing = attempt(tests, mutant)
            if not failing:
                break
            alone = failing if failing in tests else tests[0]
            if not attempt([alone], None):
                word, remark = "seen", failing
                self.seen.append(mutant)
                break
            self.unfit.add(alone)
            tests = tests[tests.index(alone) + 1 :]
        took = f"{time.monotonic() - start:.0f} s"
        print(f"{word}: {mutant.file}:{at.line} {at.change} ({remark}; {took})")
        print(mutant.diff(Path(mutant.file).read_bytes()), flush=True)

    def _live(
        self,
        known: dict[str, pytest.Item],
        change: Callable[[], None],
        tests: list[str],
        mutant: Mutant | None,
    ) -> str:
        """Run tests that are collected."""
        items = [known[test] for test in tests]

        def run(pipe: Connection) -> None:
            if mutant is not None:
                change()
            plugins = items[0].config.pluginmanager
            plugins.unregister(name="terminalreporter")
            plugins.register(Watch(pipe, tests))
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            pipe.send("")

        return self._in_fork(run, STALLED)

    def _imported_anew(self, tests: list[str], mutant: Mutant | None) -> str:
        """Run tests where neither they nor the package have been imported."""
        files = {test.partition("::")[0]: None for test in tests}
        compiles = mutant is not None and mutant.file.startswith(COMPILED)

        def run(pipe: Connection) -> None:
            if compiles:
                os.environ["NUMBA_CACHE_DIR"] = folder
            if pytest.main([*OPTIONS, *files], plugins=[Watch(pipe, tests)]) == 0:
                pipe.send("")

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            return self._in_fork(run, COMPILING if compiles else COLLECTING)

    def _in_fork(self, run: Callable[[Connection], None], longest: float) -> str:
        """Return the test that was the last to run, empty if all came to their end."""
        reader, writer = Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            try:
                os.setpgid(0, 0)
                silent = os.open(os.devnull, os.O_RDWR)
                for stream in range(3):
                    os.dup2(silent, stream)
                run(writer)
            finally:
                os.killpg(0, signal.SIGKILL)
        writer.close()
        said, seconds = "the tests cannot be collected", self.reach.seconds
        try:
            while said and reader.poll(longest + SLOWER * seconds.get(said, 0.0)):
                said = reader.recv()
        except EOFError:
            pass  # the fork has ended itself
        finally:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return said


@dataclass(eq=False)
class Watch:
    """Plugin of pytest: say which test runs; the first that fails is the last."""

    pipe: Connection
    tests: list[str]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep these tests, in their order."""
        known = {item.nodeid: item for item in items}
        items[:] = [known[test] for test in self.tests]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say that a test begins."""
        self.pipe.send(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End this process, and those that it started, when a test fails."""
        if report.failed:
            os.killpg(0, signal.SIGKILL)


@contextmanager
def _changed(mutant: Mutant) -> Iterator[None]:
    path = Path(mutant.file)
    before, times = path.read_bytes(), path.stat()
    path.write_bytes(mutant.place.applied(before))
    time = next(TIMES)
    os.utime(path, (time, time))
    try:
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _codes(mutant: Mutant, reach: Reach) -> tuple[CodeType, CodeType] | None:
    """Code of the changed function, before and after; None if it may be in use."""
    path, at = Path(mutant.file).resolve(), mutant.place
    name = reach.called_later(mutant.file, at.line)
    if not name or mutant.file.startswith(COMPILED):
        return None
    source = path.read_bytes()
    old, new = (
        _function(compile(text, path, "exec", dont_inherit=True), name, at.line)
        for text in (source, at.applied(source))
    )
    return (old, new) if old.co_freevars == new.co_freevars else None


def _function(module: CodeType, name: str, line: int) -> CodeType:
    """Code of a function that holds a line; getter and setter share their name."""
    todo, found = [module], []
    while todo:
        inner = [c for c in todo.pop().co_consts if isinstance(c, CodeType)]
        todo += inner
        found += [
            c for c in inner if c.co_qualname == name and c.co_firstlineno <= line
        ]
    return max(found, key=lambda code: code.co_firstlineno)


def _swap(old: CodeType, new: CodeType) -> None:
    """Give all functions that run the old code the new one."""

    def place(code: CodeType) -> tuple[str, str, int]:
        return code.co_filename, code.co_qualname, code.co_firstlineno

    gc.unfreeze()  # what was frozen is not among the objects
    for found in gc.get_objects():
        if type(found) is FunctionType and place(found.__code__) == place(old):
            found.__code__ = new
