"""The best lengths of a fit and of a dual point, and the gap at them."""

from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.solvers.dense.sums import log_entropies, total
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    finite,
    mean_loss,
)
from pegasos_stats.solvers.problem import Problem

DOUBLINGS, HALVINGS = 60, 45
NEARBY = 1.0 / 64.0  # where a length above 1 is looked for first


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
    y, w, n = problem.y, problem.row_weights, problem.n
    penalty, dual_penalty = problem.lam * norm2, problem.lam * dual_norm2
    rewards, s, t = a if problem.loss == "hinge" else log_entropies(a, w), 1.0, 1.0
    reward = total(rewards) / n
    if problem.loss == "hinge":
        if problem.intercept:
            alpha = best_intercept(scores, y, "hinge", problem.weights)
        s = fit_length(penalty, w, y * (scores + alpha))
        t = dual_length(dual_penalty, reward, w, a)
    risk = mean_loss(problem, s * scores, s * alpha)
    objective = finite(risk + 0.5 * penalty * s * s)
    least = max(0.0, t * reward - 0.5 * dual_penalty * t * t)
    errors = int(np.count_nonzero(y * (scores + alpha) < 0.0))
    return Lengths(s, s * alpha, t, Certificate(objective, least, errors))


def fit_length(penalty: float, w: Vector, m: Vector) -> float:
    """Minimise ``penalty/2 s^2 + mean w_i max(0, 1 - s m_i)``, by halving.

    The upper end of a bracket of ``s``, where no margin is short of 1 by the width of
    it: with a small penalty that would cost more than all the rest.

    Examples
    --------
    >>> fit_length(0.1, np.ones(2), np.array([0.5, 1.0]))
    2.0
    """
    weighed = w * m / m.size

    def falls(s: float) -> bool:
        return penalty * s < float(weighed[s * m < 1.0].sum())

    low, high, step = 0.0, 1.0, NEARBY
    for _ in range(DOUBLINGS):
        if not falls(high):
            break
        low, high, step = high, high + step, 4.0 * step
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falls(middle) else (low, middle)
    return high


def dual_length(penalty: float, reward: float, w: Vector, a: Vector) -> float:
    """Maximise ``t reward - penalty/2 t^2`` with ``t a`` inside its box."""
    if penalty <= 0.0:
        return 1.0
    inside = a > 0.0
    return min(reward / penalty, float((w[inside] / a[inside]).min(initial=np.inf)))
