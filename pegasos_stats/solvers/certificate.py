"""Certificates: the objective of a fit and a lower bound on its minimum."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Integers, Vector
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import DataError
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import Rounding, Within, are_close, lower_bound
from pegasos_stats.solvers.sums import (
    Sums,
    risk_and_image,
    sums_at,
)


def balanced(a: Vector, y: Vector) -> Vector:
    """Lower the dual weights of a class until both classes have exactly the same sum.

    All weights are truncated, and those of the class with the larger sum are lowered in
    proportion. Weights that are already truncated and balanced do not change.

    Parameters
    ----------
    a : float64 array, shape (n,), not below 0
    y : float64 array, shape (n,), of -1 and +1
    """
    bits = min(53, 62 - a.size.bit_length())
    power = max(-1074, math.frexp(float(a.max(initial=0.0)))[1] - bits)
    counts = scaled(a, -power)
    np.floor(counts, out=counts)
    excess = signed_sum(counts, y, bits)
    if excess == 0:
        cut = scaled(counts, power)
        return a if (cut == a).all() else cut
    heavier = y > 0.0 if excess > 0 else y < 0.0
    total = (float(counts.sum()) + abs(excess)) / 2.0
    # Slightly less than the excess, so that rounding never lowers the counts too far.
    lowered = (abs(excess) - a.size) / total - 2.0**-50
    if lowered > 0.0:
        counts *= 1.0 - lowered * heavier
        np.floor(counts, out=counts)
    left, room = abs(signed_sum(counts, y, bits)), counts * heavier
    if room[row := int(room.argmax())] >= left:
        counts[row] -= left
    else:
        counts -= shares(room.astype(np.int64), left)
    return scaled(counts, power)


def signed_sum(counts: Vector, y: Vector, bits: int) -> int:
    """Compute ``sum_i counts_i y_i`` exactly, for whole numbers below ``2^bits``."""
    half = 2.0 ** ((bits + 1) // 2)
    high = counts * (1.0 / half)
    np.floor(high, out=high)
    above = int(y @ high) * int(half)
    high *= half
    return above + int(y @ np.subtract(counts, high, out=high))


def shares(most: Integers, total: int) -> Integers:
    """Scale integers down to a total, proportionally and without exceeding any.

    Examples
    --------
    >>> shares(np.array([3, 1, 4]), 5)
    array([3, 0, 2])
    """
    if total == 0:
        return np.zeros_like(most)
    parts = (most * (total / int(most.sum()) * (1.0 - 2.0**-50))).astype(np.int64)
    left, room = total - int(parts.sum()), most - parts
    parts += np.clip(left - (np.cumsum(room) - room), 0, room)
    return parts


def scaled(a: Vector | Integers, power: int) -> Vector:
    """Compute ``a 2^power``."""
    if abs(power) < 1000:
        return np.asarray(a * 2.0**power)
    return np.asarray(np.ldexp(a, power))


@dataclass(frozen=True)
class Gap:
    """Objective of a fit, and a dual objective.

    Attributes
    ----------
    objective : float
        ``P(beta, alpha)`` at the fit, intercept included.
    dual_objective : float
        ``D(a)`` at a dual point, as a method computes or estimates it. Only a
        `Certificate` allows for rounding.
    """

    objective: float
    dual_objective: float

    @property
    def gap(self) -> float:
        """``objective - dual_objective``."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self) -> float:
        """``gap / objective``; 0 if both are 0, infinite if only the objective is 0."""
        if self.objective == 0.0:
            return 0.0 if self.gap == 0.0 else float("inf")
        return self.gap / self.objective


@dataclass(frozen=True)
class Certificate(Gap):
    """Bound on the distance of a fit from the optimum.

    For the objective ``P`` in real arithmetic, at the reported coefficients,
    ``dual_objective <= min P`` and ``P(beta, alpha) - min P <= gap``: no coefficients
    have an objective more than `gap` below that of the fit, and by strong convexity
    ``||beta - beta*||^2 <= 2 gap / lam``. A bound on the rounding of both objectives is
    subtracted from `dual_objective`, see ``rounding.py``. If the result is negative, it
    is set to 0, and `rounding` is the part of the bound that this does not cover. If
    there is no bound, `gap` is infinite.

    Attributes
    ----------
    objective : float
        ``P(beta, alpha)`` at the fit, intercept included.
    dual_objective : float
        ``D(a)`` at a feasible dual point, minus a bound on rounding; at least 0.
    errors : int
        Misclassified rows: scores on the wrong side of 0.
    at_zero : pair of int
        Numbers of rows with a score of exactly 0, of the first and second level.
    rounding : float
        0 if `dual_objective` is positive, so nearly always.
    divergence : float or None
        With ``lam = 0`` the gap, computed without the cancellation in the difference of
        the two objectives: see ``maximum_likelihood.py``.
    """

    errors: int
    at_zero: tuple[int, int] = (0, 0)
    rounding: float = 0.0
    divergence: float | None = None

    _field_rules = (
        "objective nonnegative, dual_objective finite, errors nonnegative, "
        "at_zero nonnegative, rounding distance, divergence distance"
    )

    @classmethod
    def bounded(
        cls,
        objective: float,
        bounds: tuple[Within, Within, Within],
        least: Callable[[], float],
        errors: int,
        at_zero: tuple[int, int],
    ) -> "Certificate":
        """Certify by bounds on the objective and on both terms of the dual.

        ``least()`` returns a lower bound on the objective; see `lower_bound`.
        """
        dual, rounding = lower_bound(objective, *bounds, least)
        return cls(objective, dual, errors, at_zero, rounding)

    @classmethod
    def of_divergence(
        cls, objective: float, gap: float, errors: int, at_zero: tuple[int, int]
    ) -> "Certificate":
        """Certify by the gap, which is infinite if there is no bound."""
        dual = max(0.0, objective - gap)
        return cls(objective, dual, errors, at_zero, divergence=gap)

    @property
    def gap(self) -> float:
        """``objective - dual_objective + rounding``, never below 0."""
        if self.divergence is not None:
            return self.divergence
        return self.objective - self.dual_objective + self.rounding

    def error_rate(self, n: int, ties: Ties) -> float:
        """Error rate among the rows with a prediction; NaN if there are none."""
        if ties == "na":
            decided = n - sum(self.at_zero)
            return self.errors / decided if decided else float("nan")
        return (self.errors + self.at_zero[ties == "negative"]) / n

    def _conditions(self) -> Iterator[object]:
        """Check that the dual objective does not exceed the objective."""
        yield self.dual_objective <= self.objective


def feasible(
    a: Vector, y: Vector, intercept: bool, most: Vector | None = None
) -> Vector:
    """Project dual weights to a feasible point of the dual.

    Clips to [0, most_i]. With a free intercept the weights of both classes must have
    the same sum: all are truncated to about 50 binary digits of the largest, and those
    of the class with the larger sum are lowered. The sums then agree exactly, not only
    up to rounding: a difference ``delta = mean(a_i y_i)`` would lower the bound by
    ``|alpha* delta|``, and the optimal intercept ``alpha*`` is large if columns are far
    from zero.

    Parameters
    ----------
    a : float64 array, shape (n,)
    y : float64 array, shape (n,), of -1 and +1
    intercept : bool
    most : float64 array, shape (n,), optional
        Upper bounds; 1 by default.

    Returns
    -------
    float64 array, shape (n,)

    Examples
    --------
    >>> feasible(np.array([0.5, 1.5, 0.5]), np.array([-1.0, 1.0, 1.0]), True)
    array([0.5       , 0.33333333, 0.16666667])
    """
    a = np.clip(a, 0.0, 1.0 if most is None else most)
    if math.isnan(float(a.sum())):
        a[np.isnan(a)] = 0.0
    return balanced(a, y) if intercept else a


def certificate(
    problem: Problem,
    beta: Vector,
    alpha: float,
    a: Vector,
    enough: float = 0.0,
    is_feasible: bool = False,
    sums: Callable[[Vector, float], Sums | None] | None = None,
) -> Certificate:
    """Compute primal and dual objective in one pass over the data.

    ``P = lam/2 ||beta||^2 + mean w loss(y (X beta + alpha + offset))`` at the fit, and
    ``D = mean (w H(a/w) - a y offset) - lam/2 ||X'(a y) / (lam n)||^2`` at feasible
    dual weights, with ``H(a) = a`` for the hinge, ``-a log a - (1-a) log(1-a)`` for the
    log loss, ``a - a^2 / 4`` for the squared hinge, and ``w`` the weights of the rows.
    If ``D`` is negative, the value 0 at ``a = 0`` replaces it.

    The objective is summed in doubles. If the bounds on rounding are not small enough,
    it is also summed with twice the digits; this value is reported if the two differ by
    more than one part in 10^12. A bound on rounding is subtracted from the dual
    objective, see `Certificate`.

    Parameters
    ----------
    problem : Problem
    beta : float64 array, shape (p,)
    alpha : float
    a : float64 array, shape (n,)
        Dual weights; made `feasible` first, unless `is_feasible`.
    enough : float
        Relative gap that suffices: rounding need only be small relative to it.
    sums : callable, optional
        ``sums(a, reach)`` returns the sums of an earlier pass, or None; see
        `Method.sums`.

    Returns
    -------
    Certificate

    Raises
    ------
    DataError
        If the objective overflows.

    References
    ----------
    Shalev-Shwartz & Zhang, JMLR 14 (2013), equations 1 to 5.
    """
    if not is_feasible:
        a = feasible(a, problem.y, problem.intercept, problem.dual_upper_bounds)
    bounds = Rounding(problem, beta, alpha)
    totals = None if sums is None else sums(a, bounds.reach)
    has_pass = totals is None
    if totals is None:
        totals = row_sums(problem, beta, alpha, a, bounds.reach)
    with np.errstate(over="ignore", invalid="ignore"):
        objective = float(0.5 * problem.lam * (beta @ beta) + totals.loss / problem.n)
    objective = finite(objective)
    risk, reward = bounds.primal(totals), bounds.reward(totals)
    cost = bounds.cost(totals)
    if not are_close(objective, risk, reward, cost, enough):
        if not has_pass:
            return certificate(problem, beta, alpha, a, enough, is_feasible=True)
        point = beta, alpha, int(problem.loss_code), a
        exactly = compiled.risk.risk_and_image_exactly(
            problem.rows, problem.y, *point, problem.row_weights, problem.offset
        )
        risk, cost = bounds.primal_exactly(exactly), bounds.cost_exactly(exactly)
        if abs(risk.value - objective) > 1e-12 * objective:
            objective = finite(risk.value)
    return Certificate.bounded(
        objective, (risk, reward, cost), bounds.least, totals.errors, totals.at_zero
    )


def row_sums(
    problem: Problem, beta: Vector, alpha: float, a: Vector, reach: float
) -> Sums:
    """Sum over dense or sparse rows, in one pass."""
    X, y, others = problem.X, problem.y, (problem.weights, reach, problem.offset)
    if isinstance(X, np.ndarray):
        return risk_and_image(X, y, beta, alpha, problem.loss, a, *others)
    rows, image = problem.rows, np.zeros(problem.p)
    compiled.rows.add_rows(rows, a * y, image)
    f, most = compiled.risk.scores(rows, beta, alpha), problem.column_entries
    return sums_at(f, image, most, y, problem.loss, a, *others)


def finite(objective: float) -> float:
    """Return the objective, or raise `DataError` if it is not finite."""
    if not np.isfinite(objective):
        raise DataError(
            "The objective overflows: it is not finite; divide large "
            "predictors by a constant, or give a larger lam."
        )
    return objective


def primal(problem: Problem, beta: Vector, alpha: float) -> float:
    """Objective ``lam/2 ||beta||^2 + mean w loss(y (X beta + alpha + offset))``.

    The intercept is not penalised (Shalev-Shwartz et al. 2011, equation 1, with the
    free intercept of section 6).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), lam=1.0)
    >>> primal(problem, np.array([0.5]), 0.0)
    0.375
    """
    return certificate(problem, beta, alpha, np.zeros(problem.n)).objective
