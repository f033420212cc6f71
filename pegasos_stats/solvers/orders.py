"""Orders in which rows are visited: R's permutations, draws, or a given list."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pegasos_stats.arrays import Rows
from pegasos_stats.checks import check_choice, check_count
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, counted, did_you_mean, listing, shown
from pegasos_stats.rng import RRandom

Order = Literal["shuffle", "sequential", "replace"]
Average = Literal["none", "all"] | int

NAMES: tuple[Order, ...] = get_args(Order)


def checked_order(order: ArrayLike) -> str | Rows:
    """Return the name of an order, or an explicit one as an int64 array.

    Raises
    ------
    OptionError
        If `order` is neither a known name nor a list of whole numbers from zero.
    """
    if isinstance(order, str):
        if order not in NAMES:
            raise OptionError(
                f"order={shown(order)} is not known{did_you_mean(order, NAMES)}; give "
                f"one of {listing(NAMES)}, or an array of rows counted from zero."
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


def checked_average(name: str, average: Average) -> Average:
    """Return ``"none"``, ``"all"`` or a number of epochs, or raise `OptionError`."""
    if not isinstance(average, str):
        return check_count(name, average)
    check_choice(name, average, ("none", "all"))
    return average


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


@dataclass(frozen=True, eq=False)
class Passes:
    """How a run passes over its rows: in which order, how often, in which batches.

    Attributes
    ----------
    order : str or int64 array
    epochs, steps : int or None
        Steps for ``"replace"``, epochs for all others.
    batch_size : int
    """

    order: str | Rows
    epochs: int | None
    steps: int | None
    batch_size: int

    def rows(self, n: int, rng: RRandom) -> Iterator[Rows]:
        """Rows to visit, an epoch at a time (for ``"replace"``, about n draws)."""
        check_rows(self.order, n)
        epochs = self.epochs or 0
        if not isinstance(self.order, str):
            return explicit(self.order, epochs)
        if self.order == "shuffle":
            return shuffled(n, epochs, rng)
        if self.order == "sequential":
            return sequential(n, epochs)
        return replaced(n, self.steps or 0, self.batch_size, rng)

    @property
    def whole(self) -> int:
        """Number of epochs, a list of rows for each of them counted."""
        lists = 1 if isinstance(self.order, str) else np.atleast_2d(self.order).shape[0]
        return (self.epochs or 0) * lists

    def count(self, n: int) -> int:
        """Number of epochs over n rows; for ``"replace"`` of portions of about n."""
        if self.steps is not None:
            return -(-self.steps // max(1, n // self.batch_size))
        return self.whole

    def most_steps(self, n: int) -> int:
        """Number of steps over n rows, if the run does not end before."""
        if self.steps is not None:
            return self.steps
        return self.whole * -(-self._length(n) // self.batch_size)

    def batch(self, n: int) -> int:
        """`batch_size`, but no more than the rows of an epoch."""
        if self.steps is not None:
            return self.batch_size
        return min(self.batch_size, self._length(n))

    def _length(self, n: int) -> int:
        return n if isinstance(self.order, str) else int(self.order.shape[-1])
