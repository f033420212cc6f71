"""What a free intercept takes over: columns far from zero, such as dates; constants."""

from dataclasses import replace

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sums import moments

FAR_MEAN = 30.0  # standard deviations from 0 to the mean


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
    maybe = np.flatnonzero(np.bincount(X.indices, minlength=problem.p) == n)
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
