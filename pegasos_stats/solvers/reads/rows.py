"""Rows wherever they are: all that the method of few reads asks of them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from pegasos_stats.arrays import Dense, Rows, Vector, read_only
from pegasos_stats.parallel import map_in_order
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import RowSizes

Found = TypeVar("Found")

NUMBERS = 2**18  # of a block: two megabytes, which stay near the processor
SEED = 1  # of the rows of a sample


class Block(NamedTuple):
    """Some rows that follow each other.

    Attributes
    ----------
    first : int
        Number of the first of them.
    X : float64 or float32 array, shape (k, p), C-contiguous
    y : float64 array, shape (k,), of -1 and +1
    w : float64 array, shape (k,)
        Weights, whose mean over all rows is 1.
    offset : float64 array, shape (k,), or None
        Known part of each row's score.
    """

    first: int
    X: Dense
    y: Vector
    w: Vector
    offset: Vector | None = None


class Taken(NamedTuple):
    """Some rows that were brought home, with their numbers, in rising order."""

    numbers: Rows
    X: Dense
    y: Vector
    w: Vector
    offset: Vector | None = None


class Home(RowSizes, Protocol):
    """Where rows are.

    Attributes
    ----------
    n, p, radius
        As of `RowSizes`.
    weights : float64 array, shape (n,), or None
        Weights of the rows, with mean 1; None if all are 1.
    class_weights : pair of float
        Weights of the rows of -1, and of +1, summed.
    farthest : float or None
        Largest offset by size; None without offsets.
    most_kept : int
        Rows that may be brought home.
    """

    @property
    def weights(self) -> Vector | None:
        """Weights of all rows, shape (n,); None if all are 1."""

    @property
    def class_weights(self) -> tuple[float, float]:
        """Weights of the rows of -1, and of +1, summed."""

    @property
    def farthest(self) -> float | None:
        """Largest offset by size; None without offsets."""

    @property
    def most_kept(self) -> int:
        """Rows that may be brought home."""

    def read(self, work: Callable[[Block], Found]) -> Iterator[Found]:
        """Read all rows once: what `work` finds in each block, in their order.

        The blocks are the same each time, and `work` may run in several threads.
        """

    def sample(self, most: int) -> Taken:
        """Rows drawn at random, about as many of each class, at most so many."""


def rows_of_block(p: int) -> int:
    """How many rows a block has: a function of their length alone."""
    return max(1, NUMBERS // max(1, p))


class InMemory:
    """Rows of a problem in memory.

    Parameters
    ----------
    problem : Problem
        With dense rows.
    workers : int, optional
        Number of threads; no number depends on it.
    """

    def __init__(self, problem: Problem, workers: int | None = None) -> None:
        self._problem, self._workers = problem, workers
        self.n, self.p, self.radius = problem.n, problem.p, problem.radius
        self.weights, w = problem.weights, problem.row_weights
        below, above = (float(w[problem.y == sign].sum()) for sign in (-1.0, 1.0))
        self.class_weights, self.most_kept = (below, above), self.n
        self.farthest = problem.farthest

    def read(self, work: Callable[[Block], Found]) -> Iterator[Found]:
        """Read all rows once."""
        return map_in_order(work, self._blocks(), self._workers)

    def sample(self, most: int) -> Taken:
        """Rows drawn at random."""
        problem, rng = self._problem, np.random.default_rng(SEED)
        parts = []
        for sign in (-1.0, 1.0):
            of_class = np.flatnonzero(problem.y == sign)
            count = min(most // 2, of_class.size)
            parts.append(rng.choice(of_class, count, replace=False))
        rows = np.sort(np.concatenate(parts))
        given = problem.X[rows], problem.y[rows], problem.row_weights[rows]
        offset = None if problem.offset is None else problem.offset[rows]
        return Taken(rows, *given, offset)

    def _blocks(self) -> Iterator[Block]:
        problem, step = self._problem, rows_of_block(self.p)
        w = problem.row_weights
        for first in range(0, self.n, step):
            part = slice(first, first + step)
            X, y = read_only(problem.X[part]), read_only(problem.y[part])
            offset = None if problem.offset is None else problem.offset[part]
            yield Block(first, X, y, read_only(w[part]), offset)
