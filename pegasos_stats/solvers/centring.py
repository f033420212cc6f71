"""Centring, for the time of a fit, of columns far from zero, such as dates."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.solvers.problem import Problem, Solution

Vector = NDArray[np.float64]

FAR = 30.0  # standard deviations from 0 to the mean
LARGE = 1e6  # standard deviation of a column, where one scale for all may help


def far_centre(problem: Problem) -> Vector | None:
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
    >>> far_centre(Problem(X, np.array([-1.0, 1.0, 1.0]), lam=1.0))
    array([2002.,    0.])
    """
    if not problem.intercept or not isinstance(problem.X, np.ndarray):
        return None
    return centre_of(*problem.moments)


def centre_of(means: Vector, spread: Vector) -> Vector | None:
    """`far_centre` by means and standard deviations of the columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.where(spread > 0.0, spread, max(1.0, float(spread.max())))
        far = (np.abs(means) > FAR * spread) & np.isfinite(means)
    return np.where(far, means, 0.0) if far.any() else None


def centred(problem: Problem, centre: Vector) -> Problem:
    """Return the problem for ``x - c``; it takes a copy of the rows."""
    return replace(problem, X=np.ascontiguousarray(problem.X - centre))


def moved(found: Solution, centre: Vector | None) -> Solution:
    """Return the solution for ``x - c`` as that for ``x``: ``alpha - c'beta``."""
    if centre is None:
        return found
    return replace(found, alpha=float(found.alpha - centre @ found.beta))


def on_one_scale(problem: Problem) -> Problem | None:
    """The problem of ``standardize=True``, where a column is far larger than 1.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Problem or None
        None where no column is, or the matrix is not dense.

    Examples
    --------
    >>> X, y = np.array([[1e18, 2.0], [3e18, 6.0]]), np.array([-1.0, 1.0])
    >>> on_one_scale(Problem(X, y, lam=1.0)).X.tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    X = problem.X
    if not isinstance(X, np.ndarray):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        moved = X - X.mean(axis=0) if problem.intercept else X
        sizes = np.sqrt(np.square(moved).mean(axis=0))
    if not (np.isfinite(sizes).all() and sizes.max(initial=0.0) > LARGE):
        return None
    return replace(problem, X=moved / np.where(sizes > 0.0, sizes, 1.0))
