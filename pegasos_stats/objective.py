"""The function that every model minimises, its dual, and the gap between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import DataError
from pegasos_stats.labels import Ties
from pegasos_stats.problem import ZERO_LOSS, Problem

Vector = NDArray[np.float64]

SAME_WEIGHT = 1e-12  # of all weight: sums that differ by less are the same
ROUNDING = 1e-14  # of an intercept, in the sums of slope weights that it balances


@dataclass(frozen=True)
class Certificate:
    """How far a fit is from the optimum, at most.

    ``dual_objective <= min P <= objective`` for the regularised risk ``P``, so no
    model has an objective more than `gap` below that of the fit, and by strong
    convexity ``||beta - beta*||^2 <= 2 gap / lam``.

    Attributes
    ----------
    objective : float
        ``P(beta, alpha)`` at the fit, intercept included.
    dual_objective : float
        ``D(a)`` at a feasible dual point.
    errors : int
        Rows with a score on the wrong side of 0.
    at_zero : pair of int
        Rows with a score of exactly 0: of the first level, and of the second.
    """

    objective: float
    dual_objective: float
    errors: int
    at_zero: tuple[int, int] = (0, 0)

    @property
    def gap(self) -> float:
        """``objective - dual_objective``."""
        return self.objective - self.dual_objective

    def error_rate(self, n: int, ties: Ties) -> float:
        """Errors divided by decided rows, of ``n`` rows; NaN where none is decided."""
        if ties == "na":
            decided = n - sum(self.at_zero)
            return self.errors / decided if decided else float("nan")
        return (self.errors + self.at_zero[ties == "negative"]) / n

    @property
    def relative_gap(self) -> float:
        """``gap / objective``."""
        return self.gap / self.objective


def feasible(
    a: Vector, y: Vector, intercept: bool, weights: Vector | None = None
) -> Vector:
    """Turn dual weights into a point that the dual allows.

    Clips to [0, w_i]. With a free intercept the weights of both classes must have the
    same sum: those of the class with the larger sum are scaled down to it.

    Parameters
    ----------
    a : float64 array, shape (n,)
    y : float64 array, shape (n,), of -1 and +1
    intercept : bool
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 if not given.

    Returns
    -------
    float64 array, shape (n,)

    Examples
    --------
    >>> feasible(np.array([0.5, 1.5, 0.5]), np.array([-1.0, 1.0, 1.0]), True)
    array([0.5       , 0.33333333, 0.16666667])
    """
    a = np.clip(a, 0.0, 1.0 if weights is None else weights)
    if not intercept:
        return a
    sums = {sign: float(a[y == sign].sum()) for sign in (-1.0, 1.0)}
    larger = max(sums, key=lambda sign: sums[sign])
    if sums[larger] == sums[-larger]:
        return a
    return np.where(y == larger, a * (sums[-larger] / sums[larger]), a)


def certificate(problem: Problem, beta: Vector, alpha: float, a: Vector) -> Certificate:
    """Primal and dual objective in one pass over the rows.

    ``P = lam/2 ||beta||^2 + mean w loss(y (X beta + alpha))`` at the fit, and
    ``D = mean w H(a/w) - lam/2 ||X'(a y) / (lam n)||^2`` at the dual weights made
    feasible, with ``H(a) = a`` for the hinge and ``-a log a - (1-a) log(1-a)`` for
    the log loss, and ``w`` the weights of the rows, usually 1. Where ``a = 0`` is the
    better point, its value 0 is taken.

    Parameters
    ----------
    problem : Problem
    beta : float64 array, shape (p,)
    alpha : float
    a : float64 array, shape (n,)
        Dual weights; made `feasible` first.

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
    from pegasos_stats.kernels.risk import risk_and_image

    a = feasible(a, problem.y, problem.intercept, problem.weights)
    loss, entropy, errors, at_zero, image = risk_and_image(
        problem.rows,
        problem.y,
        beta,
        alpha,
        int(problem.loss_code),
        a,
        problem.weights,
    )
    with np.errstate(over="ignore", invalid="ignore"):
        w = image / (problem.lam * problem.n)
        half = 0.5 * problem.lam
        objective = float(half * (beta @ beta) + loss / problem.n)
        dual = float(entropy / problem.n - half * (w @ w))
    return Certificate(
        finite(objective), dual if dual > 0.0 else 0.0, int(errors), at_zero
    )


def finite(objective: float) -> float:
    """Return the objective, or raise `DataError` if it is no finite number."""
    if not np.isfinite(objective):
        raise DataError(
            "The objective overflows: it is no finite number; bring the predictors to "
            "a common scale, or give a larger lam."
        )
    return objective


def primal(problem: Problem, beta: Vector, alpha: float) -> float:
    """Regularised risk ``lam/2 ||beta||^2 + mean loss(y (X beta + alpha))``.

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
    """Objective of the model that is all zero: 1 for the hinge, log 2 for the log."""
    return ZERO_LOSS[problem.loss]


def best_intercept(
    scores: Vector, y: Vector, loss: str, weights: Vector | None = None
) -> float:
    """Exact minimiser over ``alpha`` of ``mean w_i loss(y_i (scores_i + alpha))``.

    Hinge: the mean loss is piecewise linear with a kink at ``y_i - scores_i`` for
    every row, where its slope grows by ``w_i / n``, from ``-W / n`` with ``W`` the
    weight of the rows with ``y = +1``. It is least where the weights passed reach
    ``W``; in the middle of two kinks if they do so exactly. Log: Newton's method,
    halved where it leaves the bracket, to rounding.

    Parameters
    ----------
    scores : float64 array, shape (n,)
        ``X beta``, the intercept left out.
    y : float64 array, shape (n,), of -1 and +1, both occurring
    loss : "hinge" or "log"
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 if not given.

    Examples
    --------
    >>> best_intercept(np.array([0.0, 4.0]), np.array([-1.0, 1.0]), "hinge")
    -2.0
    """
    w = np.ones(y.size) if weights is None else weights
    if loss == "log":
        return _best_log_intercept(scores, y, w)
    kinks = y - scores
    order = np.argsort(kinks)
    passed = np.cumsum(w[order])
    upper, rounding = float(w[y > 0].sum()), SAME_WEIGHT * float(passed[-1])
    first = np.searchsorted(passed, upper - rounding)
    second = np.searchsorted(passed, upper + rounding, side="right")
    return float((kinks[order[first]] + kinks[order[second]]) / 2.0)


def _best_log_intercept(scores: Vector, y: Vector, w: Vector) -> float:
    """Root of ``log sum_- w s(m) - log sum_+ w s(m)``, increasing, by safe Newton."""
    plus = y > 0
    logit = float(np.log(w[plus].sum() / w[~plus].sum()))
    low, high = logit - float(scores.max()), logit - float(scores.min())
    alpha = (low + high) / 2.0
    for _ in range(200):
        up, up_slope = _log_sum(scores[~plus] + alpha, w[~plus])
        down, down_slope = _log_sum(-(scores[plus] + alpha), w[plus])
        excess = up - down
        low, high = (alpha, high) if excess < 0 else (low, alpha)
        slope = up_slope + down_slope
        step = alpha - excess / slope if slope > 0.0 else np.inf
        new = step if low <= step <= high else (low + high) / 2.0
        last_bits = ROUNDING * max(1.0, abs(alpha))
        done = abs(new - alpha) <= last_bits or high - low <= last_bits
        alpha = new
        if done:
            break
    return float(alpha)


def _log_sum(z: Vector, w: Vector) -> tuple[float, float]:
    """``log sum w_i expit(z_i)`` and its derivative by a common shift of ``z``."""
    from scipy.special import expit, log_expit

    logs = log_expit(z)
    largest = float(logs.max())
    shares = w * np.exp(logs - largest)
    total = float(shares.sum())
    return largest + float(np.log(total)), float((shares * expit(-z)).sum()) / total
