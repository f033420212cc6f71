"""The best intercept for scores, the null model, and columns that an intercept absorbs.

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
from pegasos_stats.solvers.sums import moments, total

SAME_WEIGHT = 1e-12  # of the lighter class: sums that differ by less are the same
FAR_MEAN = 30.0  # standard deviations from 0 to the mean


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
    return BEST_INTERCEPTS[loss](scores[counts], y[counts], w[counts])


def refitted(problem: Problem, beta: Vector) -> float:
    """Exact minimiser of the risk over the intercept, for these coefficients."""
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


def needed_centre(problem: Problem) -> Vector | None:
    """Means of the columns that are far from zero beside their spread; 0 for others.

    With a free intercept the problem is the same for ``x - c`` as for ``x``, with
    ``alpha + c'beta`` for ``alpha``, but a method that takes small differences of large
    numbers ends early with the latter. A constant column is far beside the largest
    spread of the others, or 1.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float64 array, shape (p,), or None
        None where no column is far, rows are sparse, or there is no intercept.

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
    """Whether a column may be far from zero beside its spread, or constant.

    Some rows tell: nearly all rows of such a column are near its mean.
    """
    n = problem.n
    some = problem.X[:: max(1, n // 2000)]
    means, spread = moments(some) if len(some) < n else problem.moments
    return not bool((np.abs(means) <= FAR_MEAN / 3.0 * spread).all())


def centre_for_errors(problem: Problem) -> Vector | None:
    """`needed_centre`, and constant columns wherever they are.

    Their coefficients are 0 beside a free intercept: so are, then, the errors.

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
    """`centre_for_errors` by means and standard deviations of the columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        far = (np.abs(means) > FAR_MEAN * spread) & np.isfinite(means)
    return np.where(far, means, 0.0) if far.any() else None


def centred(problem: Problem, centre: Vector) -> Problem:
    """Return the problem for ``x - c``; it takes a copy of the rows.

    Of sparse rows only constant columns are centred, which leaves no entries of them.
    """
    if isinstance(problem.X, np.ndarray):
        return replace(problem, X=np.ascontiguousarray(problem.X - centre))
    X = problem.X.copy()
    X.data[centre[X.indices] != 0.0] = 0.0
    X.eliminate_zeros()
    return replace(problem, X=X)


def shifted_solution(solution: Solution, centre: Vector | None) -> Solution:
    """Return the solution for ``x - c`` as that for ``x``: ``alpha - c'beta``."""
    if centre is None:
        return solution
    return replace(solution, alpha=float(solution.alpha - centre @ solution.beta))


def constants(problem: Problem) -> Vector | None:
    """Values of the columns that are the same in all rows; 0 for other columns.

    Parameters
    ----------
    problem : Problem
        With dense or sparse rows.

    Returns
    -------
    float64 array, shape (p,), or None
        None where no column is constant and not 0, or there is no intercept.

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
    """`constants` by means and standard deviations of the columns."""
    constant = (spread == 0.0) & (means != 0.0)
    return np.where(constant, means, 0.0) if constant.any() else None


def without_constants(
    beta: Vector, alpha: float, values: Vector | None
) -> tuple[Vector, float]:
    """Coefficients of 0 for constant columns, whose share the intercept takes.

    Scores are the same, and the penalty is smaller: at the optimum they are 0.

    Parameters
    ----------
    beta : float64 array, shape (p,)
    alpha : float
    values : float64 array, shape (p,), or None
        As of `constants`.

    Examples
    --------
    >>> without_constants(np.array([0.5, 1.0]), 3.0, np.array([2.0, 0.0]))
    (array([0., 1.]), 4.0)
    """
    if values is None:
        return beta, alpha
    return np.where(values != 0.0, 0.0, beta), alpha + float(values @ beta)
