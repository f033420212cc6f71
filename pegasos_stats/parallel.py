"""Run tasks on all cores, in threads: compiled loops release the GIL.

Products and solves of small matrices are fastest in one thread. numpy's OpenBLAS
distributes products of a few thousand numbers over all cores, and its threads wait for
each other in a loop. Two threads save a tenth of the time on an idle machine, but need
several times as long if another process runs. OpenBLAS limits threads only for the
whole process. So `one_thread` sets the limit to 1 during a fit that uses numpy, and
restores the limit after the last of several simultaneous fits. Meanwhile, products in
other threads of the process use one core too. Other BLAS libraries are not changed.
"""

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from pegasos_stats.checks import check_count

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_WORKERS = 1024
TASKS_PER_WORKER = 4  # maximum number of submitted tasks per worker
FOLDERS = "../numpy.libs", ".dylibs", ".libs"  # next to numpy, in its wheels
NAMES = "scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}"


def n_workers(workers: int | None) -> int:
    """Return the number of threads, by default one per usable core.

    Raises
    ------
    OptionError
        If it is not a whole number above zero.
    """
    if workers is not None:
        return check_count("workers", workers, MAX_WORKERS)
    if hasattr(os, "sched_getaffinity"):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int | None = None,
    most: int | None = None,
) -> Iterator[Result]:
    """Apply a function to every item in several threads; results come in order.

    The calling thread iterates over the items, so the iterable may draw random numbers:
    results do not depend on the number of threads. An exception ends the iteration and
    cancels tasks that have not started.

    Parameters
    ----------
    function : callable
        Must not change data that other calls use.
    items : iterable
    workers : int, optional
        Number of threads, by default one per usable core. With 1 the calling thread
        does the work.
    most : int, optional
        Maximum number of results in memory.

    Examples
    --------
    >>> list(map_in_order(abs, [-2, 3], workers=2))
    [2, 3]
    """
    count = n_workers(workers)
    ahead = (
        TASKS_PER_WORKER * count
        if most is None
        else min(TASKS_PER_WORKER * count, most)
    )
    if min(count, ahead) == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(min(count, ahead))
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def one_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Iterate over items; another thread computes the next item while one is used.

    Two items are in memory at a time. An exception in the other thread is raised here.
    No item may be None, which would end the iteration.

    Examples
    --------
    >>> list(one_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    making, pool = iter(items), ThreadPoolExecutor(1)
    try:
        waiting = pool.submit(next, making, None)
        while (item := waiting.result()) is not None:
            waiting = pool.submit(next, making, None)
            yield item
            del item
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Library:
    """The OpenBLAS library of numpy, with the number of fits that limit its threads.

    Parameters
    ----------
    loaded : ctypes.CDLL

    Attributes
    ----------
    fits : int
        Number of running fits, each of which limits the threads to 1.
    before : int
        Number of threads before the first of these fits.

    Raises
    ------
    AttributeError
        If the library lacks the functions.
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
    """Return numpy's OpenBLAS, or None if its wheel has no OpenBLAS."""
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
    """Reset the number of fits and the limit in a forked process."""
    blas = library()
    if blas is None:
        return
    if blas.fits:
        blas.set_threads(blas.before)
    blas.lock, blas.fits = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
