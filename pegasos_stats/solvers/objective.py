"""The function that every model minimises, its dual, and the gap between them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import UNIT, Integers, Vector
from pegasos_stats.data.labels import Ties
from pegasos_stats.data.weights import r_sum
from pegasos_stats.errors import DataError
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import Rounding, are_close, lower_bound
from pegasos_stats.solvers.sums import (
    Sums,
    blocks,
    doubles,
    risk_and_image,
    sums_at,
    total,
)


def balanced(a: Vector, y: Vector) -> Vector:
    """Lower the weights of a class, until both have exactly the same sum.

    Those of the class with the larger sum are multiplied by the ratio of the sums, all
    are cut, and what is then left of the difference is taken off the first weights that
    have it. Weights that are balanced and have been cut stay as they are.

    Parameters
    ----------
    a : float64 array, shape (n,), not below 0
    y : float64 array, shape (n,), of -1 and +1
    """
    bits = min(53, 62 - a.size.bit_length())  # so that sums are exact
    power = max(-1074, math.frexp(float(a.max(initial=0.0)))[1] - bits)
    counts = np.floor(scaled(a, -power)).astype(np.int64)
    above = y > 0.0
    plus = int(np.where(above, counts, 0).sum())
    minus = int(counts.sum()) - plus
    if plus == minus:
        cut = scaled(counts, power)
        return a if (cut == a).all() else cut
    heavy, least = above if plus > minus else ~above, min(plus, minus)
    lowered = np.floor(counts * (least / max(plus, minus))).astype(np.int64)
    heavier, lighter = np.where(heavy, lowered, 0), np.where(heavy, 0, counts)
    sum_of_heavier = int(heavier.sum())
    _take_off(heavier, sum_of_heavier - least)
    _take_off(lighter, least - sum_of_heavier)
    return scaled(heavier + lighter, power)


def scaled(a: Vector | Integers, power: int) -> Vector:
    """``a 2^power``."""
    if abs(power) < 1000:
        return np.asarray(a * 2.0**power)
    return np.asarray(np.ldexp(a, power))


def _take_off(counts: Integers, units: int) -> None:
    """Subtract units, if any, in place, from the first numbers that have them."""
    for rows in blocks(counts.size, 1) if units > 0 else ():
        before = np.cumsum(counts[rows]) - counts[rows]
        off = np.clip(units - before, 0, counts[rows])
        counts[rows] -= off
        units -= int(off.sum())
        if units == 0:
            break


ROUGH = 1e-12  # of an objective: rounded more than that it is computed again
SAME_WEIGHT = 1e-12  # of the lighter class: sums that differ by less are the same
SPARSE_BLOCKS = 8  # of rows, whose images are summed each by itself


@dataclass(frozen=True)
class Gap:
    """Objective of a fit, and a lower bound of the least one.

    Attributes
    ----------
    objective : float
        ``P(beta, alpha)`` at the fit, intercept included.
    dual_objective : float
        ``D(a)`` at a feasible dual point, less a bound of rounding; 0 if it is below.
    """

    objective: float
    dual_objective: float

    @property
    def gap(self) -> float:
        """``objective - dual_objective``, never below 0."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self) -> float:
        """``gap / objective``; of an objective of 0, 0 if the gap is, else infinite."""
        if self.objective == 0.0:
            return 0.0 if self.gap == 0.0 else float("inf")
        return self.gap / self.objective


@dataclass(frozen=True)
class Certificate(Gap):
    """How far a fit is from the optimum, at most.

    For the regularised risk ``P`` in real arithmetic, at the numbers that are reported,
    ``dual_objective <= min P`` and ``P(beta, alpha) - min P <= gap``: no model has a
    risk more than `gap` below that of the fit, and by strong convexity
    ``||beta - beta*||^2 <= 2 gap / lam``. What rounding may have done to `objective`
    and to the dual is taken off `dual_objective`, see ``rounding.py``; what does not
    fit in there, because no risk is below 0, is `rounding`. Where nothing is known of
    it `gap` is infinite.

    Attributes
    ----------
    objective : float
        ``P(beta, alpha)`` at the fit, intercept included.
    dual_objective : float
        ``D(a)`` at a feasible dual point, less a bound of rounding; 0 if it is below.
    errors : int
        Rows with a score on the wrong side of 0.
    at_zero : pair of int
        Rows with a score of exactly 0: of the first level, and of the second.
    rounding : float
        0 where `dual_objective` is above 0, and nearly always.
    divergence : float or None
        With ``lam = 0`` the gap itself, which the difference of the two objectives
        would lose in rounding: see ``maximum_likelihood.py``.
    """

    errors: int
    at_zero: tuple[int, int] = (0, 0)
    rounding: float = 0.0
    divergence: float | None = None

    @property
    def gap(self) -> float:
        """``objective - dual_objective + rounding``, never below 0."""
        if self.divergence is not None:
            return self.divergence
        return self.objective - self.dual_objective + self.rounding

    def error_rate(self, n: int, ties: Ties) -> float:
        """Errors divided by decided rows, of ``n`` rows; NaN where none is decided."""
        if ties == "na":
            decided = n - sum(self.at_zero)
            return self.errors / decided if decided else float("nan")
        return (self.errors + self.at_zero[ties == "negative"]) / n


def feasible(
    a: Vector, y: Vector, intercept: bool, most: Vector | None = None
) -> Vector:
    """Turn dual weights into a point that the dual allows.

    Clips to [0, most_i]. With a free intercept the weights of both classes must have
    the same sum: those of the class with the larger sum are scaled down to it, all are
    cut after some 50 binary digits of the largest, and some lowered by what is left.
    Then the sums are the same exactly, not to rounding: of a difference
    ``delta = mean(a_i y_i)`` the dual would pay ``|alpha* delta|``, which is much where
    columns are far from zero.

    Parameters
    ----------
    a : float64 array, shape (n,)
    y : float64 array, shape (n,), of -1 and +1
    intercept : bool
    most : float64 array, shape (n,), optional
        1 if not given.

    Returns
    -------
    float64 array, shape (n,)

    Examples
    --------
    >>> feasible(np.array([0.5, 1.5, 0.5]), np.array([-1.0, 1.0, 1.0]), True)
    array([0.5       , 0.33333333, 0.16666667])
    """
    a = np.asarray(a, dtype=np.float64)
    a = np.where(a > 0.0, np.minimum(a, 1.0 if most is None else most), 0.0)
    return balanced(a, y) if intercept else a


def certificate(
    problem: Problem, beta: Vector, alpha: float, a: Vector, enough: float = 0.0
) -> Certificate:
    """Primal and dual objective in one pass over the rows.

    ``P = lam/2 ||beta||^2 + mean w loss(y (X beta + alpha + offset))`` at the fit, and
    ``D = mean (w H(a/w) - a y offset) - lam/2 ||X'(a y) / (lam n)||^2`` at the dual
    weights made feasible, with ``H(a) = a`` for the hinge and
    ``-a log a - (1-a) log(1-a)`` for the log loss, ``a - a^2 / 4`` for the squared
    hinge, and ``w`` the weights of the rows,
    usually 1. Where ``a = 0`` is the better point, its value 0 is taken.

    Parameters
    ----------
    problem : Problem
    beta : float64 array, shape (p,)
    alpha : float
    a : float64 array, shape (n,)
        Dual weights; made `feasible` first.
    enough : float
        A relative gap that is small enough, so that rounding has to be small beside it
        and no smaller.

    The objective is the one that is rounded in this way, unless it is off by more than
    one part in 10^12: then it is the one that is rounded once. From the dual objective
    what rounding may have done is taken off, see `Certificate`.

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
    w = problem.row_weights
    a = feasible(a, problem.y, problem.intercept, problem.most_dual)
    bounds = Rounding(problem, beta, alpha)
    seen = row_sums(problem, beta, alpha, a, bounds.reach)
    with np.errstate(over="ignore", invalid="ignore"):
        objective = float(0.5 * problem.lam * (beta @ beta) + seen.loss / problem.n)
    objective = finite(objective)
    risk, reward, cost = bounds.primal(seen), bounds.reward(seen), bounds.cost(seen)
    if not are_close(objective, risk, reward, cost, enough):
        exactly = compiled.risk.risk_and_image_exactly(
            problem.rows,
            problem.y,
            beta,
            alpha,
            int(problem.loss_code),
            a,
            w,
            problem.offset,
        )
        risk, cost = bounds.primal_exactly(exactly), bounds.cost_exactly(exactly)
        if abs(risk.value - objective) > ROUGH * objective:
            objective = finite(risk.value)
    dual, rounding = lower_bound(objective, risk, reward, cost, bounds.least)
    return Certificate(objective, dual, seen.errors, seen.at_zero, rounding)


def row_sums(
    problem: Problem, beta: Vector, alpha: float, a: Vector, reach: float
) -> Sums:
    """Sums over the rows, dense or sparse, which are read once."""
    X, y, given = problem.X, problem.y, (problem.weights, reach, problem.offset)
    if isinstance(X, np.ndarray):
        return risk_and_image(X, y, beta, alpha, problem.loss, a, *given)
    f, found, ay = np.empty(problem.n), np.zeros(problem.p), a * y
    size = -(-problem.n // SPARSE_BLOCKS)
    for first in range(0, problem.n, size):
        rows = slice(first, min(first + size, problem.n))
        B = doubles(X, rows)
        f[rows], found = B @ beta, found + ay[rows] @ B
    return sums_at(f + alpha, found, size + SPARSE_BLOCKS, y, problem.loss, a, *given)


def finite(objective: float) -> float:
    """Return the objective, or raise `DataError` if it is no finite number."""
    if not np.isfinite(objective):
        raise DataError(
            "The objective overflows: it is not finite; bring the predictors to a "
            "common scale, or give a larger lam."
        )
    return objective


def primal(problem: Problem, beta: Vector, alpha: float) -> float:
    """Regularised risk ``lam/2 ||beta||^2 + mean loss(y (X beta + alpha + offset))``.

    The intercept is not penalised (Shalev-Shwartz et al. 2011, equation 1, with the
    free intercept of section 6).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), lam=1.0)
    >>> primal(problem, np.array([0.5]), 0.0)
    0.375
    """
    return certificate(problem, beta, alpha, np.zeros(problem.n)).objective


def zero_objective(problem: Problem) -> float:
    """Objective of the model that is all zero: 1 for the hinge, log 2 for the log.

    With an offset it is the mean loss of that alone.
    """
    if problem.offset is None:
        return problem.loss_function.at_zero
    return mean_loss(problem, problem.offset, 0.0)


def mean_loss(problem: Problem, scores: Vector, alpha: float) -> float:
    """``mean w_i loss(y_i (scores_i + alpha))``, offsets being part of the scores."""
    m = problem.y * (scores + alpha)
    losses = problem.loss_function.values(m)
    return total(problem.row_weights * losses) / problem.n


def best_intercept(
    scores: Vector, y: Vector, loss: str, weights: Vector | None = None
) -> float:
    """Exact minimiser over ``alpha`` of ``mean w_i loss(y_i (scores_i + alpha))``.

    Rows of weight 0 are left out. Two sums of weights are the same where they differ
    by no more than 1e-12 of the weight of the lighter class.

    Hinge: the mean loss is piecewise linear with a kink at ``y_i - scores_i`` for
    every row, where its slope grows by ``w_i / n``, from ``-W / n`` with ``W`` the
    weight of the rows with ``y = +1``. It is least where the weights passed reach
    ``W``; in the middle of two kinks if they do so exactly. Kinks are passed from the
    left if ``+1`` is the lighter class, else from the right, where the weight of
    ``-1`` is to be reached. Every bit is that of the R reference.

    Log: with ``z_i = scores_i + alpha`` the sum of ``w_i / (1 + exp(-z_i))`` is to be
    ``W``. That is ``D + B = A`` for the tails ``t_i = w_i / (1 + exp(|z_i|))``, ``A``
    and ``B`` their sums over the rows with ``z_i`` above 0 and not, and ``D`` the
    weight of the rows above 0 less ``W``; 0 where both are the same. Solved is
    ``log(B + max(D, 0)) = log(A + max(-D, 0))``, whose two sides part by 1/2 at least
    for each unit of ``alpha``, however flat the loss is there: by Newton's method from
    the middle of ``log(W / W_-) - max(scores)`` and ``log(W / W_-) - min(scores)``; a
    step that leaves the bracket, or is longer than half the one before, is replaced by
    its middle, until a step is at most ``2^-52 max(1, |alpha|)``. The result errs by
    ``1e-14 (1 + max |z_i|)`` at most, and by no more than the scores do.

    Squared hinge: the slope of the mean loss is a broken line with the same kinks as
    the hinge; the root is left of the first kink where it is not below 0.

    Parameters
    ----------
    scores : float64 array, shape (n,)
        ``X beta``, the intercept left out.
    y : float64 array, shape (n,), of -1 and +1
        Both occur with a weight above 0.
    loss : str
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 if not given.

    Examples
    --------
    >>> best_intercept(np.array([0.0, 4.0]), np.array([-1.0, 1.0]), "hinge")
    -2.0
    """
    w = np.ones(y.size) if weights is None else weights
    counts = w > 0.0
    given = scores[counts], y[counts], w[counts]
    return BEST_INTERCEPTS[loss](*given)


def refitted(problem: Problem, beta: Vector) -> float:
    """Exact minimiser of the risk over the intercept, for these coefficients."""
    found = compiled.risk.scores(problem.rows, beta, 0.0) + problem.row_offsets
    return best_intercept(found, problem.y, problem.loss, problem.weights)


def _middle_of_kinks(scores: Vector, y: Vector, w: Vector) -> float:
    goal, other = r_sum(w[y > 0]), r_sum(w[y < 0])
    if goal > other:
        return 0.0 - _middle_of_kinks(-scores, -y, w)
    kinks = y - scores
    order = np.argsort(kinks, kind="stable")
    passed = _running(w[order])
    rounding = SAME_WEIGHT * goal
    first = np.searchsorted(passed, goal - rounding)
    second = np.searchsorted(passed, goal + rounding, side="right")
    return float((kinks[order[first]] + kinks[order[second]]) / 2.0)


def _running(v: Vector) -> Vector:
    """Running sums, as R has them."""
    return np.add.accumulate(v, dtype=np.longdouble).astype(np.float64)


def _best_squared_intercept(scores: Vector, y: Vector, w: Vector) -> float:
    kinks = y - scores
    order = np.argsort(kinks, kind="stable")
    kinks, w, low = kinks[order], w[order], y[order] < 0.0

    def left_of(v: Vector) -> Vector:
        """Sums over the rows that are short of the margin left of every kink."""
        below, above = np.where(low, v, 0.0), np.where(low, 0.0, v)
        return _running(below) - below + _running(above[::-1])[::-1]

    first, totals = kinks[0], left_of(w)
    sums = left_of(w * (kinks - first))
    k = int(np.argmax(totals * (kinks - first) >= sums))
    return float(first + sums[k] / totals[k] if totals[k] > 0.0 else kinks[k])


def _best_log_intercept(scores: Vector, y: Vector, w: Vector) -> float:
    plus, minus = r_sum(w[y > 0]), r_sum(w[y < 0])
    even = math.log(plus) - math.log(minus)
    low, high = even - float(scores.max()), even - float(scores.min())
    alpha, moved = (low + high) / 2.0, high - low
    for _ in range(200):
        excess, slope = _log_excess(scores + alpha, w, plus, minus)
        low, high = (alpha, high) if excess < 0.0 else (low, alpha)
        new = alpha - excess / slope
        if not low <= new <= high or abs(new - alpha) > moved / 2.0:
            new = (low + high) / 2.0
        moved, alpha = abs(new - alpha), new
        if moved <= 2.0 * UNIT * max(1.0, abs(alpha)):
            break
    return alpha


def _log_excess(z: Vector, w: Vector, plus: float, minus: float) -> tuple[float, float]:
    """``log(B + max(D, 0)) - log(A + max(-D, 0))`` and its derivative by ``alpha``."""
    above = z > 0.0
    if plus <= minus:
        difference, lighter = r_sum(w[above]) - plus, plus
    else:
        difference, lighter = minus - r_sum(w[~above]), minus
    if abs(difference) <= SAME_WEIGHT * lighter:
        difference = 0.0
    left, left_slope = _log_sum(z[~above], w[~above], max(difference, 0.0))
    right, right_slope = _log_sum(-z[above], w[above], max(-difference, 0.0))
    return left - right, left_slope + right_slope


def _log_sum(z: Vector, w: Vector, more: float) -> tuple[float, float]:
    """``log(more + sum w_i / (1 + exp(-z_i)))``, and its derivative by a shift of z."""
    from scipy.special import expit, log_expit

    logs = np.log(w) + log_expit(z)
    log_more = math.log(more) if more > 0.0 else -math.inf
    largest = max(float(logs.max(initial=-math.inf)), log_more)
    shares = np.exp(logs - largest)
    total = float(shares.sum()) + math.exp(log_more - largest)
    return largest + math.log(total), float((shares * expit(-z)).sum()) / total


BEST_INTERCEPTS: dict[str, Callable[[Vector, Vector, Vector], float]] = {
    "hinge": _middle_of_kinks,
    "log": _best_log_intercept,
    "squared_hinge": _best_squared_intercept,
}


def zero_model(problem: Problem) -> tuple[float, float]:
    """Intercept and objective of the best fit without coefficients.

    Examples
    --------
    >>> problem = Problem(np.eye(3), np.array([1.0, 1.0, -1.0]), lam=1.0)
    >>> zero_model(problem)
    (1.0, 0.6666666666666666)
    """
    scores = problem.row_offsets
    alpha = (
        best_intercept(scores, problem.y, problem.loss, problem.weights)
        if problem.intercept
        else 0.0
    )
    return alpha, mean_loss(problem, scores, alpha)
