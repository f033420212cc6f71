"""Columns far from zero, such as dates in seconds, brought near it while fitting."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.problem import Problem, Solution

Vector = NDArray[np.float64]

FAR = 30.0  # standard deviations from 0 to the mean
LOOKED_AT = 100  # rows, evenly spaced


def far_centre(problem: Problem) -> Vector | None:
    """Means of the columns that are far from zero beside their spread; 0 for others.

    With a free intercept the problem is the same for ``x - c`` as for ``x``, with
    ``alpha + c'beta`` for ``alpha``, but a method that takes small differences of large
    numbers ends early with the latter. Means and spread of some rows do: any ``c``
    near the rows is as good.

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
    some = problem.X[:: -(-problem.n // LOOKED_AT)]
    with np.errstate(over="ignore", invalid="ignore"):
        means = some.mean(axis=0, dtype=np.float64)
        spread = some.std(axis=0, dtype=np.float64)
        far = (np.abs(means) > FAR * spread) & (spread > 0.0) & np.isfinite(means)
    return np.where(far, means, 0.0) if far.any() else None


def centred(problem: Problem, centre: Vector) -> Problem:
    """Return the problem for ``x - c``; it takes a copy of the rows."""
    return replace(problem, X=np.ascontiguousarray(problem.X - centre))


def moved(found: Solution, centre: Vector | None) -> Solution:
    """Return the solution for ``x - c`` as that for ``x``: ``alpha - c'beta``."""
    if centre is None:
        return found
    return replace(found, alpha=float(found.alpha - centre @ found.beta))
