"""The best lengths of a fit and of a dual point, and the gap at them."""

from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import dual
from pegasos_stats.solvers.objective import Certificate, best_intercept, finite
from pegasos_stats.solvers.problem import Problem


class Lengths(NamedTuple):
    """The best lengths of a fit and of a dual point, with the certificate of both."""

    fit: float
    alpha: float
    dual: float
    at: Certificate


def lengths(
    problem: Problem,
    scores: Vector,
    alpha: float,
    norm2: float,
    a: Vector,
    dual_norm2: float,
) -> Lengths:
    """Return the ``s`` of the least risk of ``s (beta, alpha)``, and ``t`` of ``t a``.

    ``t`` gives the largest dual inside the box. Both are 1 for the log loss. With a
    small penalty on separable rows no other number is as far from its best value.

    Parameters
    ----------
    problem : Problem
    scores : float64 array, shape (n,)
        ``X beta``.
    alpha : float
        Intercept; the hinge takes the best one, if it is free.
    norm2 : float
        ``||beta||^2``.
    a : float64 array, shape (n,)
        Dual weights that the dual allows.
    dual_norm2 : float
        ``||beta(a)||^2``.
    """
    y, weights, loss = problem.y, problem.row_weights, int(problem.loss_code)
    penalty, dual_penalty = problem.lam * norm2, problem.lam * dual_norm2
    reward = dual.newton.mean_reward(loss, weights, a)
    s = t = 1.0
    if problem.loss == "hinge":
        if problem.intercept:
            alpha = best_intercept(scores, y, "hinge", problem.weights)
        s = dual.newton.best_length(penalty, y, weights, scores, alpha)
        t = dual.newton.dual_length(dual_penalty, reward, weights, a)
    risk = dual.newton.mean_loss(loss, y, weights, scores, alpha, s)
    objective = finite(risk + 0.5 * penalty * s * s)
    least = max(0.0, t * reward - 0.5 * dual_penalty * t * t)
    errors = int(np.count_nonzero(y * (scores + alpha) < 0.0))
    return Lengths(s, s * alpha, t, Certificate(objective, least, errors))
