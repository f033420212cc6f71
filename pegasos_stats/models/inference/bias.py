"""The bias of the log loss in samples of few rows, to second order."""

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.bread_and_meat import groups_of, meat_of
from pegasos_stats.models.inference.by_rows import sandwiched
from pegasos_stats.models.inference.row_sums import column_sums, images, quadratic_forms
from pegasos_stats.solvers.problem import Problem


def bias_of(
    problem: Problem, s: Vector, inverse: Matrix, pairs: Matrix | None = None
) -> Vector:
    """By how much coefficients are too large on average, to the order ``1 / n``.

    ::

        H^-1 (1/n) sum_i z_i (d_i z_i'H^-1 (g_i - mean) / n - d_i y_i (s_i - 1/2) v_i)

    with ``d_i = w_i s_i (1 - s_i)``, the scores ``g_i = -w_i s_i y_i z_i`` and ``v_i =
    z_i'V z_i``, the variance of the fitted log odds by ``V = (1/n) H^-1 G H^-1``. The
    first part is there as curvature and scores are of the same rows, the second as the
    curvature changes with the coefficients. The jackknife estimates the same, by as
    many fits as there are rows.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        ``1 / (1 + exp(m_i))``, with the margins ``m_i`` of the optimum.
    inverse : float64 array, shape (k, k)
        ``H^-1``.
    pairs : float64 array, shape (n, n), optional
        ``z_i'H^-1 z_j``: with not many more rows than coefficients the shorter way.

    Returns
    -------
    float64 array, shape (k,)

    References
    ----------
    Cordeiro & McCullagh, *Bias correction in generalized linear models*, JRSS B 53
    (1991), where the model holds and without a penalty.
    Kosmidis & Lunardon, *Empirical bias-reducing adjustments to estimating functions*,
    JRSS B 86 (2024).

    Examples
    --------
    The log odds of 2 in 10 alone: ``-(1 - 2 p) / (2 n p (1 - p))``.

    >>> y = np.where(np.arange(10) < 2, 1.0, -1.0)
    >>> problem = Problem(np.zeros((10, 1)), y, lam=0.1, loss="log")
    >>> s = np.where(y > 0.0, 0.8, 0.2)
    >>> bias_of(problem, s, np.diag([1.0 / 0.16, 1.0 / 0.1])).round(4)
    array([-0.1875,  0.    ])
    """
    n, d = problem.n, problem.row_weights * s * (1.0 - s)
    same_rows, v = (
        _by_matrices(problem, s, inverse)
        if pairs is None
        else _by_pairs(problem, s, pairs)
    )
    bends = problem.y * (s - 0.5) * v
    return np.asarray(inverse @ column_sums(problem, d * (same_rows / n - bends)) / n)


def _by_matrices(problem: Problem, s: Vector, inverse: Matrix) -> tuple[Vector, Vector]:
    """``z_i'H^-1 (g_i - mean)`` and ``v_i`` from matrices of shape (k, k)."""
    w, n = problem.row_weights, problem.n
    same_rows = -w * s * problem.y * quadratic_forms(problem, inverse)
    for group in groups_of(problem):
        weights = np.where(group, w, 0.0)
        mean = column_sums(problem, -weights * s * problem.y) / weights.sum()
        same_rows -= weights * images(problem, inverse @ mean)
    V = sandwiched(problem, s, 1.0, meat_of(problem, s), inverse) / n
    return same_rows, quadratic_forms(problem, V)


def _by_pairs(problem: Problem, s: Vector, pairs: Matrix) -> tuple[Vector, Vector]:
    """The same from ``z_i'H^-1 (g_j - mean)`` of all pairs of rows."""
    w = problem.row_weights
    images = pairs * (-w * s * problem.y)
    for group in groups_of(problem):
        weights = np.where(group, w, 0.0)
        images -= np.outer(images[:, group].sum(axis=1) / weights.sum(), weights)
    return np.diag(images), np.square(images).sum(axis=1) / problem.n**2
