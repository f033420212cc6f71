"""Run tasks on all cores, in threads: compiled kernels release the GIL."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from pegasos_stats.checks import check_count

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_WORKERS = 1024
TASKS_PER_WORKER = 4  # submitted tasks per worker


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
        Number of threads, by default one per usable core. With 1 there is no thread.
    most : int, optional
        Largest number of results in memory.

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

    Two items are in memory. An exception while computing an item is raised here.

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
