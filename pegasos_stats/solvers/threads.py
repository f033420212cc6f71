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


class Library:
    """The OpenBLAS of numpy.

    Parameters
    ----------
    loaded : ctypes.CDLL

    Attributes
    ----------
    fits : int
        Number of fits that run.
    before : int
        Number of threads before the first of them.

    Raises
    ------
    AttributeError
        If it has none of the functions.
    """

    def __init__(self, loaded: ctypes.CDLL) -> None:
        self.lock, self.fits, self.before = threading.Lock(), 0, 0
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
    blas = library()
    if blas is None:
        yield
        return
    with blas.lock:
        if blas.fits == 0:
            blas.before = blas.threads()
            blas.set_threads(1)
        blas.fits += 1
    try:
        yield
    finally:
        with blas.lock:
            blas.fits -= 1
            if blas.fits == 0:
                blas.set_threads(blas.before)


def _after_fork() -> None:
    """No fit runs in a process that is forked off during one."""
    blas = library()
    if blas is None:
        return
    if blas.fits:
        blas.set_threads(blas.before)
    blas.lock, blas.fits = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
