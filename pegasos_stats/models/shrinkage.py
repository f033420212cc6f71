"""How far the penalty draws a fit towards 0, by its scores and its predictors."""

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.data.scaling import moments
from pegasos_stats.solvers.problem import Problem

MOST_STEPS = 50  # of Newton's method, which takes five or ten
CLOSE = 1e-8  # of a slope, relative


def calibration_slope(y: Vector, scores: Vector, weights: Vector) -> float:
    """Slope ``b`` of the logistic regression of the labels on the scores.

    ``P(y = 1) = 1 / (1 + exp(-(a + b score)))`` by maximum likelihood. It is 1 for the
    rows of a fit without penalty, and above 1 where the penalty made scores too small.

    Parameters
    ----------
    y, scores, weights : float64 array, shape (n,)

    Returns
    -------
    float
        Infinite if the scores separate the labels; NaN if they are all the same.

    Examples
    --------
    >>> y, scores = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-2.0, -1.0, 1.0, 2.0])
    >>> slope = calibration_slope(y, scores, np.ones(4))
    >>> abs(calibration_slope(y, slope * scores, np.ones(4)) - 1.0) < 1e-9
    True
    """
    from scipy.special import expit

    if scores.min() == scores.max():
        return float("nan")
    if scores[y > 0.0].min() > scores[y < 0.0].max():
        return float("inf")
    size = float(np.abs(scores).max())
    f, a, b = scores / size, 0.0, 0.0
    with np.errstate(all="ignore"):
        for _ in range(MOST_STEPS):
            s = weights * expit(-y * (a + b * f))
            d = s * (1.0 - s / weights.clip(min=np.finfo(float).tiny))
            g = float(s @ y), float((s * y) @ f)
            h = float(d.sum()), float(d @ f), float((d * f) @ f)
            determinant = h[0] * h[2] - h[1] * h[1]
            step = (h[0] * g[1] - h[1] * g[0]) / determinant
            a, b = a + (h[2] * g[0] - h[1] * g[1]) / determinant, b + step
            if abs(step) <= CLOSE * abs(b):
                return b / size
    return float("nan")


def spreads(problem: Problem) -> Vector:
    """Standard deviation of each predictor, shape (p,); 0 for a constant one."""
    with np.errstate(over="ignore", invalid="ignore"):
        means, deviations = moments(problem.X)
    return np.where(deviations > 1e-12 * np.abs(means), deviations, 0.0)
