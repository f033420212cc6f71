"""Rows wherever they are: all that the method of few reads asks of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from pegasos_stats.arrays import Dense, Rows, Vector, read_only
from pegasos_stats.parallel import map_in_order
from pegasos_stats.solvers.centring import constants
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


Values = np.ndarray
NO_VALUES: Values = read_only(np.zeros(0))


class Column(Protocol):
    """A number for each row, which stays where the rows are."""

    def gathered(self) -> Values:
        """The numbers of all rows, shape (n,)."""


@dataclass(frozen=True, eq=False)
class Here:
    """A number for each row, in memory."""

    values: Values

    def gathered(self) -> Values:
        """The numbers of all rows, shape (n,)."""
        return self.values

    def of(self, block: Block) -> Values:
        """Those of the rows of a block, to be changed in place."""
        return self.values[block.first : block.first + block.y.size]


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
    constants : float64 array, shape (p,), or None
        Values of the columns that are the same in all rows, 0 for other columns.
    most_kept : int
        Rows that may be brought home.
    more : str
        How to let there be more.
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
    def constants(self) -> Vector | None:
        """Values of constant columns, 0 for others, shape (p,); None without any."""

    @property
    def most_kept(self) -> int:
        """Rows that may be brought home."""

    @property
    def more(self) -> str:
        """How to let there be more."""

    def read(
        self, work: Callable[[Block, Values], Found], column: Column | None = None
    ) -> Iterator[Found]:
        """Read all rows once: what `work` finds in each block, in their order.

        The blocks are the same each time. `work` is given the numbers of the block's
        rows in the column too, which it may change in place, or `NO_VALUES`. It may run
        in several threads or elsewhere, where it is sent with all that it holds. What
        is found in blocks that follow each other may come as one, see `plus`.
        """

    def blank(self, dtype: type) -> Column:
        """A column of zeros."""

    def column(self, values: Values) -> Column:
        """A column of these numbers, shape (n,)."""

    def sample(self, most: int) -> Taken:
        """Rows drawn at random, about as many of each class, at most so many."""


def plus(a: Any, b: Any, owned: bool = False) -> Any:
    """What two parts of a read found, together: tuples with names field by field.

    Parts with a method ``plus`` are added by it, and others by ``+``: of lists the
    items of both. Arrays of a first part that is `owned` are added to in place.
    """
    if hasattr(a, "plus"):
        return a.plus(b)
    if isinstance(a, tuple):
        return type(a)(*(plus(x, y, owned) for x, y in zip(a, b, strict=True)))
    if owned and isinstance(a, np.ndarray) and a.shape == np.shape(b):
        return np.add(a, b, out=a if a.dtype == np.result_type(a, b) else None)
    return a + b


def added(parts: Iterable[Any]) -> Any:
    """Sum of parts in their order, by `plus`; None of none.

    Examples
    --------
    >>> class Pair(NamedTuple):
    ...     one: float
    ...     two: list[float]
    >>> added([Pair(1, [2.0]), Pair(3, [4.0])])
    Pair(one=4, two=[2.0, 4.0])
    """
    total, owned = None, False
    for part in parts:
        if total is None:
            total = part
            continue
        total = plus(total, part, owned)
        owned = True
    return total


def rows_of_block(p: int) -> int:
    """How many rows a block has: a function of their length alone."""
    return max(1, NUMBERS // max(1, p))


def values_of(column: Column | None, block: Block) -> Values:
    """Numbers of the rows of a block, from a column in memory if there is one."""
    if column is None:
        return NO_VALUES
    assert isinstance(column, Here)
    return column.of(block)


def drawn(y: Values, most: int) -> list[Rows]:
    """Numbers of rows drawn at random of each class, -1 and +1, in random order."""
    rng, found = np.random.default_rng(SEED), []
    for sign in (-1, 1):
        of_class = np.flatnonzero(y == sign)
        count = min(most // 2, of_class.size)
        found.append(rng.choice(of_class, count, replace=False))
    return found


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
        self.class_weights = below, above
        self.most_kept, self.more = self.n, "all of them"
        self.farthest, self.constants = problem.farthest, constants(problem)

    def read(
        self, work: Callable[[Block, Values], Found], column: Column | None = None
    ) -> Iterator[Found]:
        """Read all rows once."""
        return map_in_order(
            lambda block: work(block, values_of(column, block)),
            self._blocks(),
            self._workers,
        )

    def blank(self, dtype: type) -> Here:
        """A column of zeros."""
        return Here(np.zeros(self.n, dtype=dtype))

    def column(self, values: Values) -> Here:
        """A column of these numbers."""
        return Here(values)

    def sample(self, most: int) -> Taken:
        """Rows drawn at random."""
        problem = self._problem
        w = problem.row_weights
        counted = np.where(w > 0.0, problem.y, 0.0) if problem.weighted else problem.y
        rows = np.sort(np.concatenate(drawn(counted, most)))
        offset = None if problem.offset is None else problem.offset[rows]
        return Taken(rows, problem.X[rows], problem.y[rows], w[rows], offset)

    def _blocks(self) -> Iterator[Block]:
        problem, step = self._problem, rows_of_block(self.p)
        w = problem.row_weights
        for first in range(0, self.n, step):
            part = slice(first, first + step)
            X, y = read_only(problem.X[part]), read_only(problem.y[part])
            offset = None if problem.offset is None else problem.offset[part]
            yield Block(first, X, y, read_only(w[part]), offset)
