"""One thread for products and solves of small matrices.

OpenBLAS, which numpy brings, shares products from some thousand numbers on among all
cores, and its threads wait for each other in a loop: two gain a tenth on an idle
machine, and where another process works they take several times as long. It has no
limit for one thread of Python, only one for the process. That is set to 1 while a fit
by numpy runs, and set back when the last of those that run at the same time has ended:
products of other threads of the process take one core meanwhile. Where numpy has
another BLAS nothing is set.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np

FOLDERS = "../numpy.libs", ".dylibs", ".libs"  # beside numpy, in its wheels
NAMES = "scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}"


class Limit:
    """How many fits run, and the number of threads before the first."""

    def __init__(self) -> None:
        self.lock, self.fits, self.before = threading.Lock(), 0, 0

    def lower(self, library: "Library") -> None:
        """Set one thread, for the first of several fits."""
        with self.lock:
            if self.fits == 0:
                self.before = library.threads()
                library.set_threads(1)
            self.fits += 1

    def restore(self, library: "Library") -> None:
        """Set the number of before, after the last of several fits."""
        with self.lock:
            self.fits -= 1
            if self.fits == 0:
                library.set_threads(self.before)


LIMIT = Limit()


class Library:
    """The OpenBLAS of numpy.

    Parameters
    ----------
    loaded : ctypes.CDLL

    Raises
    ------
    AttributeError
        If it has none of the functions.
    """

    def __init__(self, loaded: ctypes.CDLL) -> None:
        for name in NAMES:
            with suppress(AttributeError):
                self.threads = getattr(loaded, name.format("get_num_threads"))
                self.set_threads = getattr(loaded, name.format("set_num_threads"))
                return
        raise AttributeError(loaded)


@cache
def library() -> Library | None:
    """The OpenBLAS of numpy, None where there is none in its wheel."""
    home = Path(np.__file__).parent
    for folder in FOLDERS:
        for path in (home / folder).glob("*openblas*"):
            with suppress(OSError, AttributeError):
                return Library(ctypes.CDLL(str(path)))
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numpy's BLAS to one thread; calls may overlap.

    Examples
    --------
    >>> with one_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    found = library()
    if found is None:
        yield
        return
    LIMIT.lower(found)
    try:
        yield
    finally:
        LIMIT.restore(found)


def _after_fork() -> None:
    """No fit runs in a process that is forked off during one."""
    global LIMIT
    before, LIMIT = LIMIT, Limit()
    found = library()
    if before.fits and found is not None:
        found.set_threads(before.before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
