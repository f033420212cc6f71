"""A sample of rows that come a piece at a time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Dense, Rows, Vector

WAITING = 0.1  # of the sample, rows that wait
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


class Waiting(NamedTuple):
    """Rows that may join a sample, with their random keys."""

    keys: Vector
    numbers: Rows
    X: Dense


class Reservoir:
    """The rows with the smallest keys so far, at most so many, in any order.

    Rows stay where they are once they are in; a row with a smaller key takes the place
    of one that falls out.

    Parameters
    ----------
    X : array, shape (most, p)
        Room for the rows.

    Examples
    --------
    >>> sampling = Reservoir(np.empty((2, 1)))
    >>> for key, number in ((0.5, 0), (0.7, 1), (0.6, 2), (0.9, 3)):
    ...     sampling.add(np.array([key]), np.array([number]), np.full((1, 1), number))
    >>> sample_of([sampling], 2)
    RowSample(numbers=array([0, 2]), X=array([[0.], [2.]]))
    """

    def __init__(self, X: Dense) -> None:
        self._X, self._most, self._m = X, len(X), 0
        self._order = np.zeros(0, dtype=np.int64)  # of the rows that are taken
        self._keys, self._numbers = np.empty(len(X)), np.empty(len(X), dtype=np.int64)
        self.largest = np.inf if len(X) else 0.0
        self._waiting: list[Waiting] = []

    def add(self, keys: Vector, numbers: Rows, X: Dense) -> None:
        """Add rows, with numbers above those of all before; in rising order."""
        self._waiting.append(Waiting(keys, numbers, X))
        if sum(each.keys.size for each in self._waiting) > WAITING * self._most:
            self._settle()

    def _settle(self) -> None:
        """Let the rows in that wait, those with the smallest keys."""
        keys, numbers, X = (
            np.concatenate(each) for each in zip(*self._waiting, strict=True)
        )
        self._waiting, m = [], self._m
        every = np.concatenate([self._keys[:m], keys])
        stays = np.ones(every.size, dtype=bool)
        if every.size > self._most:
            last = np.partition(every, self._most - 1)[self._most - 1]
            stays = every < last
            ties = np.flatnonzero(every == last)  # of which those with small numbers
            order = np.argsort(np.concatenate([self._numbers[:m], numbers])[ties])
            stays[ties[order[: self._most - int(stays.sum())]]] = True
            self.largest = float(last)
        joining = np.flatnonzero(stays[m:])
        free = np.concatenate([np.flatnonzero(~stays[:m]), np.arange(m, self._most)])
        places = free[: joining.size]
        self._keys[places], self._numbers[places] = keys[joining], numbers[joining]
        self._X[places] = X[joining]
        self._m = min(every.size, self._most)

    def smallest(self, most: int) -> Rows:
        """Numbers of the rows with the smallest keys, at most so many."""
        if self._waiting:
            self._settle()
        self._order = np.lexsort((self._numbers[: self._m], self._keys[: self._m]))
        self._order = self._order[:most]
        return self._numbers[self._order]

    def room(self, count: int) -> Dense:
        """Room for so many rows."""
        return np.empty((count, self._X.shape[1]), dtype=self._X.dtype)

    def put(self, X: Dense, places: Rows) -> None:
        """Put the rows that `smallest` named at these places of an array."""
        X[places] = self._X[self._order]


def sample_of(parts: Sequence[Reservoir], most: int) -> RowSample:
    """As many rows of each part, at most so many of all."""
    numbers = [part.smallest(most // len(parts)) for part in parts]
    whole = np.sort(np.concatenate(numbers))
    X = parts[0].room(whole.size)
    for part, own in zip(parts, numbers, strict=True):
        part.put(X, np.searchsorted(whole, own))
    return RowSample(whole, X)
