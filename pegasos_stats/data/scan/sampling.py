"""A sample of rows that come a piece at a time."""

from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Dense, Rows, Vector

SHARE = 0.1  # of the sample, rows that wait


class Sampled(NamedTuple):
    """Rows drawn at random from one class, the smallest keys first.

    Attributes
    ----------
    keys : float64 array, shape (m,)
        Random numbers, one for each row; it is of the sample if its is small.
    numbers : int64 array, shape (m,)
    X : array, shape (m, p)
    """

    keys: Vector
    numbers: Rows
    X: Dense


class Sampling:
    """The rows with the smallest keys so far, at most so many, in any order.

    Rows stay where they are once they are in; a row with a smaller key takes the place
    of one that falls out.

    Parameters
    ----------
    X : array, shape (most, p)
        Room for the rows.

    Examples
    --------
    >>> sampling = Sampling(np.empty((2, 1)))
    >>> for key, number in ((0.5, 0), (0.7, 1), (0.6, 2), (0.9, 3)):
    ...     sampling.add(np.array([key]), np.array([number]), np.full((1, 1), number))
    >>> sampling.sampled()
    Sampled(keys=array([0.5, 0.6]), numbers=array([0, 2]), X=array([[0.], [2.]]))
    """

    def __init__(self, X: Dense) -> None:
        self._X, self._most, self._m = X, len(X), 0
        self._keys, self._numbers = np.empty(len(X)), np.empty(len(X), dtype=np.int64)
        self.largest = np.inf if len(X) else 0.0
        self._waiting: list[Sampled] = []

    def add(self, keys: Vector, numbers: Rows, X: Dense) -> None:
        """Add rows, with numbers above those of all before; in rising order."""
        self._waiting.append(Sampled(keys, numbers, X))
        if sum(each.keys.size for each in self._waiting) > SHARE * self._most:
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

    def sampled(self) -> Sampled:
        """The sample."""
        if self._waiting:
            self._settle()
        keys, numbers = self._keys[: self._m], self._numbers[: self._m]
        order = np.lexsort((numbers, keys))
        return Sampled(keys[order], numbers[order], self._X[: self._m][order])
