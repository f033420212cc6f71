"""Results of tasks of Dask, unless nobody works on them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from pegasos_stats.errors import DataError, counted

PATIENCE = 300.0  # seconds in which no worker works on anything
LOOK = 5.0  # seconds between two looks at the workers


def computed(tasks: Sequence[Any]) -> list[Any]:
    """What tasks give, brought home.

    A cluster may lose all its workers: that of one machine gives up a worker that does
    not come back in time. The scheduler then waits for others, without end.

    Raises
    ------
    DataError
        If the workers of `distributed` do nothing for a long time.
    """
    import dask
    import dask.base

    client: Any = getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "gather") or _is_task():
        return list(dask.compute(*tasks))
    futures = client.compute(list(tasks))
    found = asyncio.run_coroutine_threadsafe(
        client.gather(futures, asynchronous=True), client.loop.asyncio_loop
    )
    busy = monotonic()
    try:
        while not found.done():
            with suppress(TimeoutError):
                return list(found.result(LOOK))
            if any(client.processing().values()):
                busy = monotonic()
            if monotonic() - busy > PATIENCE:
                raise _nobody_works(len(client.nthreads()))
        return list(found.result())
    finally:  # also after Ctrl-C
        found.cancel()


def _nobody_works(workers: int) -> DataError:
    return DataError(
        f"{counted(workers, 'worker')} of Dask did nothing for {PATIENCE:g} seconds "
        "while rows were to be read; start workers, and fit again. A LocalCluster "
        "gives up a worker that is lost for longer than the setting "
        "distributed.deploy.lost-worker-timeout."
    )


def _is_task() -> bool:
    """Whether this runs in a task, which Dask lets others have its thread meanwhile."""
    from distributed.worker import thread_state

    return bool(getattr(thread_state, "key", False))
