"""``G``, the covariance of the scores of the rows."""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.models.inference.moments import column_sums, cross_product
from pegasos_stats.solvers.problem import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

SAME_SUM = 1e-9  # relative; weights that balance both classes, to rounding


def slopes_of(problem: Problem, u: Vector, dual: Vector | None = None) -> Vector:
    """Slope weights ``s_i`` from ``u_i = 1 - y_i f(x_i)``.

    ``1 / (1 + exp(1 - u_i))`` for the log loss. For the hinge 1 beyond the margin,
    ``u_i > 0``, and 0 inside; at the margin itself, where it may be anything between,
    the optimum has its own: ``a_i / w_i``, which is 1 and 0 elsewhere as well.

    Parameters
    ----------
    problem : Problem
    u : float64 array, shape (n,)
    dual : float64 array, shape (n,), optional
        Dual weights ``a_i`` of the optimum.

    Returns
    -------
    float64 array, shape (n,)

    Examples
    --------
    >>> problem = Problem(np.eye(3), np.array([1.0, -1.0, 1.0]), lam=1.0)
    >>> slopes_of(problem, np.array([-1.0, 0.0, 1.0]))
    array([0., 0., 1.])
    >>> slopes_of(problem, np.array([-1.0, 0.0, 1.0]), np.array([0.0, 0.3, 1.0]))
    array([0. , 0.3, 1. ])
    """
    from scipy.special import expit

    if problem.loss == "log":
        return np.asarray(expit(u - 1.0), dtype=np.float64)
    if dual is None:
        return (u > 0.0).astype(np.float64)
    w = problem.row_weights
    share = np.divide(dual, w, out=np.zeros(problem.n), where=w > 0.0)
    return np.clip(share, 0.0, 1.0)


def meat_of(problem: Problem, s: Vector, stretch: Vector | float = 1.0) -> Matrix:
    """``G = (1/n) sum_i (r_i w_i)^2 (g_i - mean)(g_i - mean)'``.

    Here ``g_i = -s_i y_i z_i``. The mean is weighted: weights of mean 1 make the risk a
    ratio of two means. Weights that are constant in each class and have the same sum in
    both make it a sum of two such ratios, and the mean is that of the row's class.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        Slope weights.
    stretch : float64 array, shape (n,), or 1
        ``r_i``, by which the score of a row is multiplied.

    Returns
    -------
    float64 array, shape (k, k)

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> meat_of(problem, np.array([1.0, 1.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    w, g = problem.row_weights, -s * problem.y
    squares = np.square(stretch * w)
    total = cross_product(problem, squares * g * g)
    for rows in _groups(problem):
        weights, of_group = np.where(rows, w, 0.0), np.where(rows, squares, 0.0)
        mean = column_sums(problem, weights * g) / weights.sum()
        mixed = np.outer(column_sums(problem, of_group * g), mean)
        total += np.outer(mean, mean) * float(of_group.sum()) - mixed - mixed.T
    return total / problem.n


def _groups(problem: Problem) -> list[NDArray[np.bool_]]:
    """Rows whose scores have a mean of their own: all, or those of each class."""
    w, classes = problem.weights, [problem.y < 0.0, problem.y > 0.0]
    together = [np.ones(problem.n, dtype=bool)]
    if w is None or not all(rows.any() for rows in classes):
        return together
    constant = all(np.ptp(w[rows]) == 0.0 for rows in classes)
    low, high = (float(w[rows].sum()) for rows in classes)
    balanced = constant and abs(high - low) <= SAME_SUM * high
    return classes if balanced else together
