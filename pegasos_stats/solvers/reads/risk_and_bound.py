"""What one read of the rows says of a fit: its risk, and its bound from below.

With a free intercept the dual asks for ``sum_i a_i y_i = 0``, and pays ``|alpha*
delta|`` for a difference ``delta``. Where rows are read in blocks no sum in doubles is
exact; dual weights are whole multiples of `UNIT`, whose sums are.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Vector, read_only
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.solvers.newton.sums import Sums
from pegasos_stats.solvers.objective import Certificate, finite
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import Rounding, Within, lower_bound

UNIT = 2.0**-32  # what a dual weight loses at most; 1 is a multiple of it


class Point(NamedTuple):
    """Coefficients and intercept."""

    beta: Vector
    alpha: float


class Bound(NamedTuple):
    """A dual point: mean reward of its weights, and ``lam/2 ||beta(a)||^2``."""

    reward: Within
    cost: Within


NO_BOUND = Bound(Within(0.0, 0.0), Within(0.0, 0.0))  # that of weights of 0


def scores(X: Dense, at: Point, offset: Vector | None = None) -> Vector:
    """``x_i'beta + alpha + offset_i``, summed in an order that suits the machine."""
    found, w = np.zeros(X.shape[0]), np.zeros(arithmetic.lanes.padded(at.beta.size))
    w[: at.beta.size] = at.beta
    dual.sdca.put_dots(read_only(X), read_only(w), found)
    found += at.alpha
    if offset is not None:
        found += offset
    return found


def image(X: Dense, c: Vector) -> Vector:
    """``sum_i c_i x_i``."""
    found = np.zeros(arithmetic.lanes.padded(X.shape[1]))
    dual.sdca.add_rows(read_only(X), read_only(c), found)
    return found[: X.shape[1]]


def table_of(y: Vector, f: Vector) -> NDArray[np.int64]:
    """Rows by label and sign of the score: -1, +1, none; shape (2, 3)."""
    found = np.zeros((2, 3), dtype=np.int64)
    for line, sign in enumerate((-1.0, 1.0)):
        of_class = f[y == sign]
        below, above = np.count_nonzero(of_class < 0), np.count_nonzero(of_class > 0)
        found[line] = below, above, of_class.size - below - above
    return found


@dataclass(frozen=True)
class Risk:
    """What a read says of a point.

    Attributes
    ----------
    point : Point
    objective : float
    within : Within
        The same in real arithmetic.
    errors : int
    at_zero : pair of int
        As of `Sums`.
    table : int array, shape (2, 3)
        Rows by label and predicted label, the last column for scores of 0.
    least : float
        A bound of the risk of every fit.
    bound : Bound
        Of a dual point, if one is known.
    """

    point: Point
    objective: float
    within: Within
    errors: int
    at_zero: tuple[int, int]
    table: NDArray[np.int64]
    least: float
    bound: Bound = NO_BOUND

    @classmethod
    def of(
        cls, problem: Problem, point: Point, seen: Sums, table: NDArray[np.int64]
    ) -> "Risk":
        """The risk of a point from the sums of a read."""
        rounding = Rounding(problem, *point)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(point.beta @ point.beta)
            objective = 0.5 * problem.lam * squares + seen.loss / problem.n
        objective, within = finite(objective), rounding.primal(seen)
        return cls(
            point, objective, within, seen.errors, seen.at_zero, table, rounding.least()
        )

    def certificate(self, bound: Bound | None = None) -> Certificate:
        """Certify the point by a dual point, that of the same read if none is given."""
        dual, rounding = lower_bound(
            self.objective, self.within, *(bound or self.bound), lambda: self.least
        )
        at = Certificate(self.objective, dual, self.errors, self.at_zero)
        return replace(at, rounding=rounding)


def cut(a: Vector) -> Vector:
    """Multiples of `UNIT` at most as large.

    Examples
    --------
    >>> cut(np.array([1.0, 2.0**-33]))
    array([1., 0.])
    """
    return np.floor(a / UNIT) * UNIT


def units(a: Vector) -> int:
    """``sum_i a_i`` in units, exactly, of weights that are cut.

    Examples
    --------
    >>> units(np.array([1.0, 0.5])) == 3 * 2**31
    True
    """
    return int((a / UNIT).astype(np.int64).sum())


def balanced(a: Vector, y: Vector, w: Vector, excess: int) -> Vector | None:
    """Change weights of one class until ``excess + sum_i a_i y_i`` is 0, in units.

    Those of the class that is too heavy are lowered; if they are not enough, those of
    the other are raised.

    Parameters
    ----------
    a : float64 array, shape (m,), of 0 or more
    y : float64 array, shape (m,), of -1 and +1
    w : float64 array, shape (m,)
        The most that a weight may be.
    excess : int
        ``sum_i a_i y_i`` of all other rows, in units.

    Returns
    -------
    float64 array, shape (m,), or None
        Cut weights; None if neither class can make up for it.

    Examples
    --------
    >>> a, y, w = np.array([1.0, 0.5, 0.5]), np.array([1.0, 1.0, -1.0]), np.ones(3)
    >>> balanced(a, y, w, 0).round(3)
    array([0.333, 0.167, 0.5  ])
    >>> balanced(np.array([0.0, 0.0, 0.5]), y, w, 3 * 2**30)
    array([0.  , 0.  , 0.75])
    >>> balanced(a, y, w, 2**40) is None
    True
    """
    counts = (a / UNIT).astype(np.int64)
    over = excess + int(counts[y > 0.0].sum()) - int(counts[y < 0.0].sum())
    heavier = y > 0.0 if over > 0 else y < 0.0
    over = abs(over)
    lowered = counts * heavier
    if int(lowered.sum()) >= over:
        return _doubles(counts - _shares(lowered, over))
    raised = ((w / UNIT).astype(np.int64) - counts) * ~heavier
    if int(raised.sum()) >= over:
        return _doubles(counts + _shares(raised, over))
    return None


def _shares(most: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Whole numbers of this sum, in proportion to others that they do not exceed."""
    there = int(most.sum())
    if total == 0:
        return np.zeros_like(most)
    found = (most * (total / there * (1.0 - 2.0**-50))).astype(np.int64)
    left, room = total - int(found.sum()), most - found
    before = np.cumsum(room) - room
    found += np.clip(left - before, 0, room)
    return found


def _doubles(counts: NDArray[np.int64]) -> Vector:
    return np.asarray(counts * UNIT, dtype=np.float64)
