"""A sample of rows that come a piece at a time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Dense, Rows, Vector

WAITING = 0.25  # of the sample, rows that wait
LARGEST, SHARE = 200_000, 0.1  # rows of a sample, and as a share of all
FEWEST = 20  # rows of a sample for each coefficient


def size_of_sample(n: int, p: int) -> int:
    """A tenth of the rows, within bounds.

    Examples
    --------
    >>> size_of_sample(1_000_000, 50), size_of_sample(10**8, 50)
    (100000, 200000)
    """
    return min(n, LARGEST, max(int(SHARE * n), FEWEST * (p + 1)))


class RowSample(NamedTuple):
    """Rows drawn at random, in rising order of their numbers.

    Attributes
    ----------
    numbers : int64 array, shape (m,)
    X : array, shape (m, p)
    """

    numbers: Rows
    X: Dense


class Reservoir:
    """The rows with the smallest keys so far, at most so many, in rising order.

    Parameters
    ----------
    most : int
    nothing : array, shape (0, p)
        Of the precision of the rows.

    Examples
    --------
    >>> sampling = Reservoir(2, np.zeros((0, 1)))
    >>> for key, number in ((0.5, 0), (0.7, 1), (0.6, 2), (0.9, 3)):
    ...     sampling.add(np.array([key]), np.array([number]), np.full((1, 1), number))
    >>> sample_of([sampling], 2)
    RowSample(numbers=array([0, 2]), X=array([[0.], [2.]]))
    """

    def __init__(self, most: int, nothing: Dense) -> None:
        self._most, self.largest = most, np.inf if most else 0.0  # key that may join
        self._parts: list[tuple[Vector, Rows, Dense]]
        self._parts = [(np.zeros(0), np.zeros(0, dtype=np.int64), nothing)]

    def add(self, keys: Vector, numbers: Rows, X: Dense) -> None:
        """Add rows, with numbers above those of all before; in rising order."""
        self._parts.append((keys, numbers, X))
        if sum(keys.size for keys, _, _ in self._parts) > (1.0 + WAITING) * self._most:
            self.largest = float(self.smallest(self._most)[0].max(initial=0.0))

    def smallest(self, most: int) -> tuple[Vector, Rows, Dense]:
        """Keys, numbers and rows of the smallest keys, which alone stay."""
        keys, numbers = (
            np.concatenate([part[j] for part in self._parts]) for j in (0, 1)
        )
        stays, rows, first = np.sort(np.argsort(keys, kind="stable")[:most]), [], 0
        for _, of_part, X in self._parts:
            begin, end = np.searchsorted(stays, [first, first + of_part.size])
            rows.append(X[stays[begin:end] - first])
            first += of_part.size
        kept: Dense = np.concatenate(rows)  # type: ignore[assignment]
        self._parts = [(keys[stays], numbers[stays], kept)]
        return self._parts[0]


def sample_of(parts: Sequence[Reservoir], most: int) -> RowSample:
    """As many rows of each part, at most so many of all."""
    found = [part.smallest(most // len(parts)) for part in parts]
    numbers = np.sort(np.concatenate([of_part for _, of_part, _ in found]))
    X = np.empty((numbers.size, found[0][2].shape[1]), dtype=found[0][2].dtype)
    for _, of_part, rows in found:
        X[np.searchsorted(numbers, of_part)] = rows
    return RowSample(numbers, X)
