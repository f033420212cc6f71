"""Optimal intercept for fixed scores, the null model, and columns that need centring.

Columns far from zero, such as dates, are centred; constant columns are dropped.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import UNIT, Vector
from pegasos_stats.data.sample import r_sum
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sums import total

# Two sums of weights count as equal up to this share of the smaller class weight.
SAME_WEIGHT = 1e-12
FAR_MEAN = 30.0  # distance of a mean from 0 in standard deviations


def zero_objective(problem: Problem) -> float:
    """Objective at coefficients and intercept 0: 1 for both hinges, log 2 for the log.

    With an offset it is the mean loss of the offsets.
    """
    if problem.offset is None:
        return problem.loss_function.at_zero
    return mean_loss(problem, problem.offset, 0.0)


def mean_loss(problem: Problem, scores: Vector, alpha: float) -> float:
    """Compute ``mean w_i loss(y_i (scores_i + alpha))``; scores include offsets."""
    m = problem.y * (scores + alpha)
    losses = problem.loss_function.values(m)
    return total(problem.row_weights * losses) / problem.n


def best_intercept(
    scores: Vector, y: Vector, loss: str, weights: Vector | None = None
) -> float:
    """Exact minimiser over ``alpha`` of ``mean w_i loss(y_i (scores_i + alpha))``.

    Rows of weight 0 are excluded. Two sums of weights count as equal if they differ by
    at most 1e-12 times the smaller class weight.

    Hinge: the mean loss is piecewise linear in ``alpha`` with a kink at ``y_i -
    scores_i`` for every row. Its derivative starts at ``-W / n``, with ``W`` the weight
    of the rows with ``y = +1``, and increases by ``w_i / n`` at each kink. The minimum
    is where the cumulative weight reaches ``W``; at the midpoint of two kinks if it
    equals ``W``. The weights are cumulated from the left if ``+1`` is the class of
    smaller weight, else from the right up to the weight of ``-1``. The result equals
    the R reference bit for bit.

    Log: with ``z_i = scores_i + alpha`` the sum of ``w_i / (1 + exp(-z_i))`` equals
    ``W`` at the minimum. This is equivalent to ``D + B = A`` for the tails ``t_i = w_i
    / (1 + exp(|z_i|))``, where ``A`` is their sum over the rows with ``z_i`` above 0,
    ``B`` their sum over the others, and ``D`` the weight of the rows above 0 minus
    ``W``, or 0 if these count as equal. The equation solved is ``log(B + max(D, 0)) =
    log(A + max(-D, 0))``; the derivative of the difference of its sides is at least 1/2
    in absolute value, however flat the loss. Newton's method starts at the midpoint of
    ``log(W / W_-) - max(scores)`` and ``log(W / W_-) - min(scores)``, where ``W_-`` is
    the weight of the rows with ``y = -1``. A step that leaves this bracket, or is
    longer than half the previous step, is replaced by a bisection. The method stops at
    a step of at most ``2^-52 max(1, |alpha|)``. The rounding error of the result is at
    most ``1e-14 (1 + max |z_i|)``. Errors of the scores change the result by at most
    the largest of them.

    Squared hinge: the derivative of the mean loss is piecewise linear with the same
    kinks as the hinge; its root is left of the first kink where it is not negative.

    Parameters
    ----------
    scores : float64 array, shape (n,)
        ``X beta``, without the intercept.
    y : float64 array, shape (n,), of -1 and +1
        Both labels occur with positive weight.
    loss : str
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 by default.

    Examples
    --------
    >>> best_intercept(np.array([0.0, 4.0]), np.array([-1.0, 1.0]), "hinge")
    -2.0
    """
    w = np.ones(y.size) if weights is None else weights
    counts = w > 0.0
    return BEST_INTERCEPTS[loss](scores[counts], y[counts], w[counts])


def refitted(problem: Problem, beta: Vector) -> float:
    """Exact minimiser of the objective over the intercept, for fixed coefficients."""
    scores = compiled.risk.scores(problem.rows, beta, 0.0) + problem.row_offsets
    return best_intercept(scores, problem.y, problem.loss, problem.weights)


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
    """Cumulative sums, as in R."""
    return np.add.accumulate(v, dtype=np.longdouble).astype(np.float64)


def _best_squared_intercept(scores: Vector, y: Vector, w: Vector) -> float:
    kinks = y - scores
    order = np.argsort(kinks, kind="stable")
    kinks, w, low = kinks[order], w[order], y[order] < 0.0

    def left_of(v: Vector) -> Vector:
        """Sum over the rows whose margin is below 1 just to the left of each kink."""
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
    """Compute ``log(B + max(D, 0)) - log(A + max(-D, 0))`` and its derivative."""
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
    """Compute ``log(more + sum w_i / (1 + exp(-z_i)))`` and its derivative."""
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
    """Intercept and objective of the null model.

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


def needed_centre(problem: Problem) -> Vector | None:
    """Means of the columns that are far from 0 in units of their spread, 0 for others.

    With a free intercept the problems for ``x - c`` and ``x`` are equivalent: the
    intercepts are ``alpha + c'beta`` and ``alpha``. With ``x``, cancellation limits the
    accuracy. For a constant column the spread is the largest spread of all columns, but
    at least 1.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float64 array, shape (p,), or None
        None if no column is far, the rows are sparse, or there is no intercept.

    Examples
    --------
    >>> X = np.array([[2001.0, 3.0], [2002.0, 5.0], [2003.0, 4.0]])
    >>> needed_centre(Problem(X, np.array([-1.0, 1.0, 1.0]), lam=1.0))
    array([2002.,    0.])
    """
    if not problem.intercept or not isinstance(problem.X, np.ndarray):
        return None
    if not may_be_far(problem):
        return None
    means, spread = problem.moments
    largest = max(1.0, float(spread.max(initial=0.0)))
    return centre_of(means, np.where(spread > 0.0, spread, largest))


def may_be_far(problem: Problem) -> bool:
    """Whether a column may be far from 0 in units of its spread, or constant.

    A few rows suffice: nearly all values of such a column are near its mean.
    """
    means, spread = problem.moments_of_some
    return not bool((np.abs(means) <= FAR_MEAN / 3.0 * spread).all())


def centre_for_errors(problem: Problem) -> Vector | None:
    """`needed_centre`, and the values of all constant columns.

    With a free intercept their coefficients are 0, and so are the standard errors.

    Examples
    --------
    >>> X, y = np.array([[2.0, 3.0], [2.0, 5.0]]), np.array([-1.0, 1.0])
    >>> needed_centre(Problem(X, y, lam=1.0)), centre_for_errors(Problem(X, y, lam=1.0))
    (None, array([2., 0.]))
    """
    if problem.intercept and not hasattr(type(problem.X), "tocsr"):
        return centre_of(*problem.moments)
    return constants(problem)


def centre_of(means: Vector, spread: Vector) -> Vector | None:
    """`centre_for_errors` from means and standard deviations of the columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        far = (np.abs(means) > FAR_MEAN * spread) & np.isfinite(means)
    return np.where(far, means, 0.0) if far.any() else None


def centred(problem: Problem, centre: Vector) -> Problem:
    """Return the problem for ``x - c``, with a copy of the rows.

    In sparse rows only constant columns are centred, which removes their entries.
    """
    if isinstance(problem.X, np.ndarray):
        return replace(problem, X=np.ascontiguousarray(problem.X - centre))
    X = problem.X.copy()
    X.data[centre[X.indices] != 0.0] = 0.0
    X.eliminate_zeros()
    return replace(problem, X=X)


def shifted_solution(solution: Solution, centre: Vector | None) -> Solution:
    """Convert a solution for ``x - c`` to ``x``, with intercept ``alpha - c'beta``."""
    if centre is None:
        return solution
    return replace(solution, alpha=float(solution.alpha - centre @ solution.beta))


def constants(problem: Problem) -> Vector | None:
    """Values of constant columns; 0 for other columns.

    Parameters
    ----------
    problem : Problem
        Problem with dense or sparse rows.

    Returns
    -------
    float64 array, shape (p,), or None
        None if all constant columns are 0, or there is no intercept.

    Examples
    --------
    >>> X, y = np.array([[2.0, 3.0], [2.0, 5.0]]), np.array([-1.0, 1.0])
    >>> constants(Problem(X, y, lam=1.0))
    array([2., 0.])
    """
    if not problem.intercept:
        return None
    if isinstance(problem.X, np.ndarray):
        return constants_of(*problem.moments) if may_be_far(problem) else None
    X, n = problem.X, problem.n
    some = X[:: max(1, n // 64)]  # most columns vary in a few rows
    maybe = np.flatnonzero(np.bincount(some.indices) == some.shape[0])
    values = some[:, maybe].toarray()
    maybe = maybe[(values == values[0]).all(axis=0)]
    if maybe.size == 0:
        return None
    columns = X[:, maybe].tocsc()
    low, high = (end.toarray().ravel() for end in (columns.min(0), columns.max(0)))
    means, spread = np.zeros(problem.p), np.ones(problem.p)
    means[maybe], spread[maybe] = low, high - low
    return constants_of(means, spread)


def constants_of(means: Vector, spread: Vector) -> Vector | None:
    """`constants` from means and standard deviations of the columns."""
    constant = (spread == 0.0) & (means != 0.0)
    return np.where(constant, means, 0.0) if constant.any() else None


def without_constants(
    beta: Vector, alpha: float, values: Vector | None
) -> tuple[Vector, float]:
    """Set coefficients of constant columns to 0, and adjust the intercept.

    Scores do not change and the penalty decreases, so these coefficients are 0 at the
    optimum.

    Parameters
    ----------
    beta : float64 array, shape (p,)
    alpha : float
    values : float64 array, shape (p,), or None
        As in `constants`.

    Examples
    --------
    >>> without_constants(np.array([0.5, 1.0]), 3.0, np.array([2.0, 0.0]))
    (array([0., 1.]), 4.0)
    """
    if values is None:
        return beta, alpha
    return np.where(values != 0.0, 0.0, beta), alpha + float(values @ beta)
