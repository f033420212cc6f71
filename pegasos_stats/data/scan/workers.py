"""Results of tasks of Dask, unless nobody works on them."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from pegasos_stats.errors import DataError, PegasosStatsError, counted

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
        with of_partitions():
            return list(dask.compute(*tasks))
    futures = client.compute(list(tasks))
    found = asyncio.run_coroutine_threadsafe(
        client.gather(futures, asynchronous=True), client.loop.asyncio_loop
    )
    busy = monotonic()
    try:
        while not found.done():
            with suppress(TimeoutError), of_partitions():
                return list(found.result(LOOK))
            if any(client.processing().values()):
                busy = monotonic()
            if monotonic() - busy > PATIENCE:
                raise _nobody_works(len(client.nthreads()))
        return list(found.result())
    finally:  # also after Ctrl-C
        found.cancel()


@contextmanager
def of_partitions() -> Iterator[None]:
    """Say of partitions that are not as their frame says what is wrong with them."""
    try:
        yield
    except PegasosStatsError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split()).rstrip(".")[:160]
        raise DataError(
            f"A partition of the Dask frame cannot be read ({reason}); let all have "
            "the columns and types that the frame says."
        ) from error


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
