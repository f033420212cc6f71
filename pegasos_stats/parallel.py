"""Many runs on all cores: threads, because kernels let them run side by side."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from pegasos_stats.checks import check_count

Item = TypeVar("Item")
Found = TypeVar("Found")

MOST = 1024  # threads
AHEAD = 4  # tasks handed out before their turn, for each worker


def n_workers(workers: int | None) -> int:
    """Return the number of threads: as given, or one for each usable core.

    Raises
    ------
    OptionError
        If it is not a whole number above zero.
    """
    if workers is not None:
        return check_count("workers", workers, MOST)
    if hasattr(os, "sched_getaffinity"):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(
    function: Callable[[Item], Found],
    items: Iterable[Item],
    workers: int | None = None,
    most: int | None = None,
) -> Iterator[Found]:
    """Apply a function to every item in several threads; results come in order.

    Items are taken from the iterable in the calling thread, one after the other, so
    random numbers may be drawn there: no number depends on the number of threads.
    An exception ends the iteration; tasks not begun by then are dropped.

    Parameters
    ----------
    function : callable
        Must change nothing that another call reads.
    items : iterable
    workers : int, optional
        Number of threads; all usable cores if not given. 1 uses no thread.
    most : int, optional
        Results that are there at once at most.

    Examples
    --------
    >>> list(map_in_order(abs, [-2, 3], workers=2))
    [2, 3]
    """
    count = n_workers(workers)
    ahead = AHEAD * count if most is None else min(AHEAD * count, most)
    if min(count, ahead) == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Found]] = deque()
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
    """Pass items on, the next one made in another thread while one is used.

    Two items are held at a time. An exception in the making of an item is raised here.

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
