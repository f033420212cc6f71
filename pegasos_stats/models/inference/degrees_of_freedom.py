"""Degrees of freedom of a covariance that few rows determine."""

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.bandwidth import effective_rows
from pegasos_stats.models.inference.bread_and_meat import groups_of
from pegasos_stats.models.inference.inverse import inverse_of
from pegasos_stats.models.inference.joint_tests import whitening
from pegasos_stats.models.inference.row_sums import column_sums, images, quadratic_forms
from pegasos_stats.solvers.problem import Problem

MOST_COEFFICIENTS = 1000  # of a singular matrix, for its eigenvalues


def degrees_of_freedom(
    problem: Problem, s: Vector, stretch: Vector | float, meat: Matrix
) -> float:
    """Rows of normal scores whose covariance would be as rough as this one.

    ::

        k (k + 1) / (sum_i r_i^4 - k / n),    r_i^2 = c_i'G^-1 c_i / n

    with the centred scores ``c_i``, ``G = (1/n) sum_i c_i c_i'``, of rank ``k``. The
    mean squared error of ``G``, relative to ``G``, is estimated by the denominator, and
    is ``k (k + 1) / m`` for ``m`` normal scores, so that normal scores have about
    ``n``. Where one level is rare, most of ``G`` is from its rows, and it is about
    their number. Never more than ``n``, or ``(sum w_i)^2 / sum w_i^2`` with weights,
    and more than ``k``, however few these rows are.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        Slope weights.
    stretch : float64 array, shape (n,), or 1
        By which the score of a row is multiplied.
    meat : float64 array, shape (k, k)
        ``G``.

    Returns
    -------
    float

    References
    ----------
    Satterthwaite, *An approximate distribution of estimates of variance components*,
    Biometrics 2 (1946), for one coefficient.
    Pan & Wall, *Small-sample adjustments in using the sandwich variance estimator in
    generalized estimating equations*, Statistics in Medicine 21 (2002).
    Pustejovsky & Tipton, *Small-sample methods for cluster-robust variance estimation
    and hypothesis testing in fixed effects models*, Journal of Business & Economic
    Statistics 36 (2018), for several.

    Examples
    --------
    Intercepts alone, of 2 rows in 50 and of 25 in 50:

    >>> from pegasos_stats.models.inference.bread_and_meat import meat_of
    >>> def of(rare):
    ...     y = np.where(np.arange(50) < rare, 1.0, -1.0)
    ...     problem = Problem(np.zeros((50, 1)), y, lam=0.1, loss="log")
    ...     s = np.where(y > 0.0, 1.0 - rare / 50, rare / 50)
    ...     return round(degrees_of_freedom(problem, s, 1.0, meat_of(problem, s)), 2)
    >>> of(2), of(25)
    (4.54, 50.0)
    """
    most = effective_rows(problem.y, problem.weights)
    if problem.n <= len(meat):  # all r_i are the same
        return most
    inverse, k = inverse_and_rank(meat)
    if not k:
        return most
    squares = squared_lengths(problem, s, stretch, inverse) / problem.n
    spread = float(squares @ squares) - k / problem.n
    found = k * (k + 1.0) / spread if spread > 0.0 else np.inf
    return min(most, found) if np.isfinite(found) else most


def inverse_and_rank(meat: Matrix) -> tuple[Matrix, int]:
    """Inverse of a covariance where it has variance; rank 0 if that is not known.

    Examples
    --------
    >>> inverse_and_rank(np.diag([4.0, 0.0]))
    (array([[0.25, 0.  ],
           [0.  , 0.  ]]), 1)
    """
    inverse = inverse_of(meat)
    if np.isfinite(inverse).all():
        return inverse, len(meat)
    if len(meat) > MOST_COEFFICIENTS or not np.isfinite(meat).all():
        return inverse, 0
    whiten = whitening(meat)
    return whiten.T @ whiten, len(whiten)


def squared_lengths(
    problem: Problem, s: Vector, stretch: Vector | float, inverse: Matrix
) -> Vector:
    """``c_i'A c_i`` of the centred scores, shape (n,), for ``A`` of shape (k, k)."""
    w, g = problem.row_weights, -s * problem.y
    squares = g * g * quadratic_forms(problem, inverse)
    for group in groups_of(problem):
        weights = np.where(group, w, 0.0)
        mean = column_sums(problem, weights * g) / weights.sum()
        image = inverse @ mean
        squares -= group * (2.0 * g * images(problem, image) - float(mean @ image))
    return np.asarray(squares * np.square(stretch * w))
