"""The rows that an epoch of Pegasos visits in files, in parts that are read ahead."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Dense, Rows
from pegasos_stats.data.scan.blocks import in_sequence
from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.parallel import one_ahead
from pegasos_stats.solvers.pegasos import Pegasos


class Part(NamedTuple):
    """Rows that are visited one after the other.

    Attributes
    ----------
    numbers : int64 array, shape (k,)
        Of the rows of `X`, among all rows of the fit.
    X : float64 or float32 array, shape (k, p), C-contiguous
    order : int64 array, shape (k,)
        Places in `X`.
    """

    numbers: Rows
    X: Dense
    order: Rows


class Epochs:
    """The rows of each epoch, in parts.

    Parameters
    ----------
    measured : Measured
    solver : Pegasos

    Raises
    ------
    OptionError
        If files cannot be read in this order, or a batch is more than a block.
    """

    def __init__(self, measured: Measured, solver: Pegasos) -> None:
        is_name = isinstance(solver.order, str)
        if not is_name or solver.order != "sequential":
            raise OptionError(
                f"{f'order={solver.order!r}' if is_name else 'A list of rows'} takes "
                "rows from anywhere, and files are read from first to last; give "
                "order='sequential'."
            )
        if solver.batch_size > measured.step:
            raise OptionError(
                f"batch_size={solver.batch_size!r} is more than a block of the files, "
                f"which has {counted(measured.step, 'row')}; give at most as many, or "
                f"more memory: {measured.scan.more}."
            )
        self._measured, self._size = measured, solver.batch_size

    def parts(self) -> Iterator[Part]:
        """The rows of the next epoch; the next part is read ahead."""
        found = self._in_sequence()
        yield from one_ahead(
            found if self._size == 1 else in_batches(found, self._size)
        )

    def _in_sequence(self) -> Iterator[Part]:
        for first, X in in_sequence(self._measured):
            order = np.arange(len(X))
            yield Part(first + order, X, order)


def in_batches(parts: Iterable[Part], size: int) -> Iterator[Part]:
    """Cut parts so that each, but for the last, holds whole batches of so many rows.

    Examples
    --------
    >>> rows = [Part(np.arange(a, b), np.ones((b - a, 1)), np.arange(b - a))
    ...         for a, b in ((0, 3), (3, 4), (4, 9))]
    >>> [part.numbers.tolist() for part in in_batches(rows, 2)]
    [[0, 1], [2, 3], [4, 5, 6, 7], [8]]
    """
    numbers, X = np.zeros(0, dtype=np.int64), None
    for part in parts:
        numbers = np.concatenate([numbers, part.numbers[part.order]])
        ordered = part.X[part.order]
        X = ordered if X is None else np.concatenate([X, ordered])
        whole = numbers.size // size * size
        if whole:
            yield Part(numbers[:whole], X[:whole], np.arange(whole))
            numbers, X = numbers[whole:], X[whole:].copy()
    if X is not None and numbers.size:
        yield Part(numbers, X, np.arange(numbers.size))
