"""Fixtures for all tests: live R, and the folder of data.

A test that asks for the fixture `r` gets the marker ``r``, one that asks for
`data_folder` the marker ``data``. `make check` excludes both, and the marker ``slow``,
which a test of more than about two CPU seconds sets itself, or its module for all
tests. The others take about 150 CPU seconds. `make check`, with style and types, takes
about two minutes on two idle cores if the kernels are compiled.
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from pegasos_stats.compiled.compiling import NOTICE, event
from pegasos_stats.studies.parity import R, loading_code

event.unregister("numba:compile", NOTICE)  # standard error is as with kernels in cache

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "r_reference"
sys.path += [str(ROOT / name) for name in ("docs/_site", "docs/data", "scripts")]
MARKERS = {"r": "r", "data_folder": "data"}
LONGEST = ("test_docs", "test_vignettes")  # start first, so that none ends alone

NO_R = (
    "R or rpy2 is missing or they do not fit together: `make test` installs both, and "
    "PEGASOS_STATS_NO_R=1 switches the tests against live R off"
)
START = """
suppressWarnings(Sys.setlocale("LC_CTYPE", "C.UTF-8"))
Sys.setlocale("LC_COLLATE", "C")
options(digits = 17, warn = 2)
RNGkind("default", "default", "default")
"""

# Examples of property tests: the same ones in every `make test`; new ones, and four
# times as many, in every round of `make fuzz` (--hypothesis-profile=search).
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=25,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "search",
    settings.get_profile("repeatable"),
    derandomize=False,
    max_examples=100,
    print_blob=True,
)
settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in MARKERS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKERS[fixture])
    items.sort(key=lambda item: item.path.stem not in LONGEST)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder that PEGASOS_STATS_DATA names."""
    name = os.environ.get("PEGASOS_STATS_DATA")
    if not name:
        pytest.skip("PEGASOS_STATS_DATA is not set: no folder of data")
    assert Path(name).is_dir(), f"PEGASOS_STATS_DATA={name} is no folder"
    return Path(name)


class Embedded(R):
    """R in this process, by rpy2; variables persist in the reference's environment."""

    def _start(self) -> None:
        os.environ.setdefault("RPY2_CFFI_MODE", "ABI")  # needs no compiler
        path = os.environ.get("LD_LIBRARY_PATH")
        import rpy2.rinterface as rinterface

        rinterface.initr()
        os.environ.pop("LD_LIBRARY_PATH", None)  # of R, not for other programs
        if path is not None:
            os.environ["LD_LIBRARY_PATH"] = path
        self._place = rinterface.StrSexpVector([self._folder.as_posix()])
        self._loaded = rinterface.evalr(loading_code())

    def _run(self) -> None:
        self._loaded["answer_request"](self._place, self._loaded)


@pytest.fixture(scope="session")
def r() -> Embedded:
    """R in this process. Where R or rpy2 is missing, each test of it is an error."""
    if os.environ.get("PEGASOS_STATS_NO_R") == "1":
        pytest.skip("PEGASOS_STATS_NO_R=1 switches the tests against live R off")
    return start_r()


def start_r() -> Embedded:
    """Start R in this process, without anybody's profile."""
    os.environ["R_PROFILE_USER"] = os.environ["R_ENVIRON_USER"] = os.devnull
    try:
        started = Embedded()
    except (ImportError, OSError, ValueError) as error:
        raise RuntimeError(NO_R) from error
    started.eval(START)
    return started
