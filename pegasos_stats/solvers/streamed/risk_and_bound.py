"""Objective and dual bound from one pass over the data.

With a free intercept the dual has the constraint ``sum_i a_i y_i = 0``; a residual
``delta`` lowers the bound by ``|alpha* delta| / n``, where ``alpha*`` is the optimal
intercept. Sums of doubles over blocks are not exact. So dual weights are multiples of
`DUAL_UNIT`, whose sums are exact.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Dense, Vector
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers import sums
from pegasos_stats.solvers.certificate import Certificate, finite, shares
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import Rounding, Within

DUAL_UNIT = 2.0**-32  # dual weights are rounded down to multiples of it; it divides 1


class Point(NamedTuple):
    """Coefficients and intercept."""

    beta: Vector
    alpha: float


class Bound(NamedTuple):
    """Terms of the dual: mean of the conjugate terms, and ``lam/2 ||beta(a)||^2``."""

    reward: Within
    cost: Within

    @classmethod
    def of(cls, problem: Problem, totals: sums.Sums) -> "Bound":
        """Compute the terms from sums over the rows."""
        rounding = Rounding(problem, np.zeros(problem.p), 0.0)
        return cls(rounding.reward(totals), rounding.cost(totals))


NO_BOUND = Bound(Within(0.0, 0.0), Within(0.0, 0.0))  # for dual weights of 0


@one_thread()
def scores(X: Dense, at: Point, offset: Vector | None = None) -> Vector:
    """Compute ``x_i'beta + alpha + offset_i``."""
    scores = np.empty(len(X))
    for rows in sums.blocks(*X.shape):
        np.matmul(sums.doubles(X, rows), at.beta, out=scores[rows])
    scores += at.alpha
    return scores if offset is None else scores + offset


@one_thread()
def blockwise_image(X: Dense, c: Vector) -> Vector:
    """Compute ``sum_i c_i x_i``."""
    combined = np.zeros(X.shape[1])
    for rows in sums.blocks(*X.shape):
        combined += sums.image(c[rows], sums.doubles(X, rows))
    return combined


@dataclass(frozen=True)
class Risk:
    """Objective of a point, from one pass.

    Attributes
    ----------
    point : Point
    objective : float
    totals : Sums
    rounding : Rounding
    """

    point: Point
    objective: float
    totals: sums.Sums
    rounding: Rounding

    @classmethod
    def of(cls, problem: Problem, point: Point, totals: sums.Sums) -> "Risk":
        """Compute the objective of a point from the sums of a pass."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(point.beta @ point.beta)
            objective = 0.5 * problem.lam * squares + totals.loss / problem.n
        rounding = Rounding(problem, *point)
        return cls(point, finite(objective), totals, rounding)

    def certificate(self, bound: Bound) -> Certificate:
        """Certify the point by a dual point."""
        within, totals = self.rounding.primal(self.totals), self.totals
        return Certificate.bounded(
            self.objective,
            (within, *bound),
            self.rounding.least,
            totals.errors,
            totals.at_zero,
        )


def cut(a: Vector) -> Vector:
    """Round down to multiples of `DUAL_UNIT`.

    Examples
    --------
    >>> cut(np.array([1.0, 2.0**-33]))
    array([1., 0.])
    """
    return np.floor(a / DUAL_UNIT) * DUAL_UNIT


def units(a: Vector) -> int:
    """Compute ``sum_i a_i / DUAL_UNIT`` exactly, for multiples of `DUAL_UNIT`.

    Examples
    --------
    >>> units(np.array([1.0, 0.5])) == 3 * 2**31
    True
    """
    return int((a / DUAL_UNIT).astype(np.int64).sum())


def balanced_units(a: Vector, y: Vector, w: Vector, excess: int) -> Vector | None:
    """Change the weights of a class until ``excess + sum_i a_i y_i`` is 0, in units.

    The weights of the class with the larger sum are lowered; if that does not suffice,
    those of the other class are raised.

    Parameters
    ----------
    a : float64 array, shape (m,), of 0 or more
    y : float64 array, shape (m,), of -1 and +1
    w : float64 array, shape (m,)
        Upper bounds of the weights.
    excess : int
        ``sum_i a_i y_i`` of all other rows, in units.

    Returns
    -------
    float64 array, shape (m,), or None
        Multiples of `DUAL_UNIT`; None if neither class suffices.

    Examples
    --------
    >>> a, y, w = np.array([1.0, 0.5, 0.5]), np.array([1.0, 1.0, -1.0]), np.ones(3)
    >>> balanced_units(a, y, w, 0).round(3)
    array([0.333, 0.167, 0.5  ])
    >>> balanced_units(np.array([0.0, 0.0, 0.5]), y, w, 3 * 2**30)
    array([0.  , 0.  , 0.75])
    >>> balanced_units(a, y, w, 2**40) is None
    True
    """
    counts = (a / DUAL_UNIT).astype(np.int64)
    over = excess + int(counts[y > 0.0].sum()) - int(counts[y < 0.0].sum())
    heavier = y > 0.0 if over > 0 else y < 0.0
    lower = counts * heavier
    higher = ((w / DUAL_UNIT).astype(np.int64) - counts) * ~heavier
    if int(lower.sum()) >= abs(over):
        counts = counts - shares(lower, abs(over))
    elif int(higher.sum()) >= abs(over):
        counts = counts + shares(higher, abs(over))
    else:
        return None
    return np.asarray(counts * DUAL_UNIT, dtype=np.float64)
