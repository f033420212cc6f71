"""How well the log odds of the classes are known, which balanced weights take away.

Probabilities of the log loss are of ``f(x) - log(w+ / w-)``. Weights that are made to
balance the classes have ``log(w+ / w-) = log(n- / n+)``, an estimate as well.
"""

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.groups import Groups
from pegasos_stats.models.inference.clustering import scores_with
from pegasos_stats.solvers.problem import Problem


def prior_of(
    problem: Problem, s: Vector, inverse: Matrix, groups: Groups | None = None
) -> Vector | None:
    """Covariances of the coefficients with ``log(n- / n+)``, and its variance.

    To first order ``log(n- / n+)`` is off by ``sum_i c_i`` with ``c_i = 1 / n-`` and
    ``-1 / n+`` in the two classes, and the coefficients by ``-H^-1 (1/n) sum_i g_i``.
    Scores ``g_i`` have the mean 0 in each class where weights are balanced: without
    groups the two are uncorrelated.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        Slope weights; not looked at without groups.
    inverse : float64 array, shape (k, k)
        ``H^-1``.
    groups : Groups, optional

    Returns
    -------
    float64 array, shape (k + 1,), or None
        None where nothing is taken away, or what is was given.

    Examples
    --------
    >>> y = np.array([-1.0, 1.0, 1.0, 1.0])
    >>> weighted = Problem(np.zeros((4, 1)), y, 1.0, "log", balanced=True)
    >>> prior_of(weighted, np.ones(4), np.eye(2)).round(3)
    array([0.   , 0.   , 1.333])
    """
    if problem.loss != "log" or not problem.balanced:
        return None
    positive = problem.y > 0.0
    n = problem.n
    many, few = float(positive.sum()), float(n - positive.sum())
    if groups is None:
        return np.append(np.zeros(len(inverse)), 1.0 / many + 1.0 / few)
    c = np.where(positive, -1.0 / many, 1.0 / few)
    mixed, squares = scores_with(problem, s, groups, c)
    return np.append(-inverse @ mixed / n, squares)
