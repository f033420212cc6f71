"""In which order rows are visited: R's permutations, draws, or a given list."""

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, counted, listing, shown
from pegasos_stats.rng import RRandom

Rows = NDArray[np.int64]

Order = Literal["shuffle", "sequential", "replace"]

NAMES: tuple[Order, ...] = get_args(Order)


def checked_order(order: Any) -> str | Rows:
    """Return the name of an order, or an explicit one as an int64 array.

    Raises
    ------
    OptionError
        If `order` is neither a known name nor a list of whole numbers from zero.
    """
    if isinstance(order, str):
        if order not in NAMES:
            raise OptionError(
                f"order={shown(order)} is not known; give one of {listing(NAMES)}, or "
                "an array of rows counted from zero."
            )
        return order
    refused = OptionError(
        "order has lists of different lengths; give one list of rows, or one of the "
        "same length for each epoch."
    )
    with refusing(refused):
        rows = np.asarray(order)
    if rows.ndim not in (1, 2) or rows.dtype.kind not in "iu" or rows.size == 0:
        raise OptionError(
            f"order is an array of shape {rows.shape} and type {rows.dtype}; give rows "
            "as whole numbers counted from zero, in one list or one list per epoch."
        )
    if rows.min() < 0 or rows.max() >= 2**62:
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise OptionError(f"order holds the row {wrong}; rows are counted from zero.")
    rows = rows.astype(np.int64, order="C")
    rows.flags.writeable = False
    return rows


def check_rows(order: str | Rows, n: int) -> None:
    """Raise `OptionError` if an explicit order names a row beyond the data."""
    if not isinstance(order, str) and order.max() >= n:
        raise OptionError(
            f"order holds the row {order.max()} and the fit uses {counted(n, 'row')}, "
            f"counted from zero; the last is {n - 1}."
        )


def shuffled(n: int, epochs: int, rng: RRandom) -> Iterator[Rows]:
    """One permutation per epoch, R's ``sample(1:n, n)``."""
    for _ in range(epochs):
        yield rng.permutation(n)


def sequential(n: int, epochs: int) -> Iterator[Rows]:
    """Rows in the order of the data, every epoch."""
    rows = np.arange(n, dtype=np.int64)
    for _ in range(epochs):
        yield rows


def replaced(n: int, steps: int, batch_size: int, rng: RRandom) -> Iterator[Rows]:
    """``sample(n, batch_size, replace = TRUE)`` for each step, about n rows at a time.

    Drawing for many steps at once gives the same numbers as drawing step by step.
    """
    chunk = max(1, n // batch_size)
    for first in range(0, steps, chunk):
        size = min(chunk, steps - first) * batch_size
        drawn = rng.sample_int(n, size, replace=True)
        yield np.asarray(drawn, dtype=np.int64) - 1


def explicit(rows: Rows, epochs: int) -> Iterator[Rows]:
    """A given list of rows, in every epoch; or one list for each epoch."""
    for _ in range(epochs):
        yield from np.atleast_2d(rows)
