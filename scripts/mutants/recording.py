"""Plugin of pytest: which lines of the package each test runs, and for how long.

The file that MUTANTS_RECORD names receives the seconds of each test and the names of
those that failed; beside it lie the data of coverage, the test being the context of
a line. What fixtures and caches run counts for the test that was first to need it.
"""

import json
import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

RECORD = Path(os.environ["MUTANTS_RECORD"])
PACKAGE = Path.cwd() / "pegasos_stats"

measured = coverage.Coverage(
    data_file=str(RECORD.with_suffix(".lines")),
    data_suffix=True,
    include=[f"{PACKAGE}/*"],
    config_file=False,
    messages=False,
)
measured.set_option("run:relative_files", True)
seconds: Counter[str] = Counter()
failed: set[str] = set()


def runs_tests(config: pytest.Config) -> bool:
    """Tell this process from the one that only hands out the tests."""
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    """Measure from the start."""
    if runs_tests(config):
        measured.start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give the lines that run now to this test."""
    measured.switch_context(item.nodeid)
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add what a part of the test took."""
    seconds[report.nodeid] += report.duration
    if report.failed:
        failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save; the tests only from the process that hears of all of them."""
    if runs_tests(session.config):
        measured.stop()
        measured.save()
    else:
        found = {"seconds": seconds, "failed": sorted(failed)}
        RECORD.write_text(json.dumps(found), encoding="utf-8")
