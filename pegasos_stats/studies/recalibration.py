"""Logistic recalibration of probabilities, and the Newton method that it shares."""

from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Codes, Matrix, Vector
from pegasos_stats.metrics.intervals import Interval, quantile

STEPS = 100
DECREMENT = 1e-14  # of the objective, by Newton's quadratic model
RIDGE = 1e-12  # on the diagonal of the Hessian, as Lin, Lin & Weng have it
SHORTEST = 1e-10  # step, as a share of Newton's
NAN = float("nan")


class Recalibration(NamedTuple):
    """Slope and intercept of a logistic recalibration, with Wald intervals."""

    slope: float = NAN
    slope_interval: Interval = Interval(NAN, NAN)
    intercept: float = NAN
    intercept_interval: Interval = Interval(NAN, NAN)


def recalibrated(p: Vector, happened: Codes, level: float = 0.95) -> Recalibration:
    """Recalibrate probabilities by ``logit P = a + b logit(p)``.

    The slope is ``b``. The intercept is ``a`` with ``b = 1``, an offset: calibration in
    the large. Both by maximum likelihood, with intervals from the information.

    Parameters
    ----------
    p : float64 array, shape (n,)
    happened : int array, shape (n,)
        1 for events, else 0.
    level : float, default 0.95

    Returns
    -------
    Recalibration
        NaN with events or other rows alone, or probabilities of 0 or 1; the slope also
        where probabilities separate the two, or are all the same.

    References
    ----------
    Cox, Biometrika 45 (1958), 562-565; Steyerberg, *Clinical Prediction Models* (2019),
    section 15.3.

    Examples
    --------
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8])
    >>> found = recalibrated(p, np.array([0, 0, 0, 1, 0, 1, 1, 1]))
    >>> round(found.slope, 3), abs(round(found.intercept, 3))
    (0.792, 0.0)
    """
    from scipy.special import logit

    z = np.asarray(logit(p))
    events, others = z[happened == 1], z[happened == 0]
    if not (events.size and others.size and np.isfinite(z).all()):
        return Recalibration()
    ones = np.ones((z.size, 1))
    intercept, around = _last_coefficient(ones, happened, z, level)
    if others.max() <= events.min() or events.max() <= others.min():
        return Recalibration(intercept=intercept, intercept_interval=around)
    slope = _last_coefficient(np.column_stack([ones, z]), happened, 0.0 * z, level)
    return Recalibration(*slope, intercept, around)


def _last_coefficient(
    columns: Matrix, happened: Codes, offset: Vector, level: float
) -> tuple[float, Interval]:
    """The last coefficient of a logistic regression, and its interval."""
    w, targets = np.ones(len(columns)), happened.astype(np.float64)
    start = np.zeros(columns.shape[1])
    at = minimise_logistic(start, -columns, targets, w, -offset)
    inverse = np.linalg.inv(information(at, -columns, w, -offset))
    last, half = float(at[-1]), quantile(level) * float(inverse[-1, -1]) ** 0.5
    return last, Interval(last - half, last + half)


def minimise_logistic(
    at: Vector,
    columns: Matrix,
    targets: Vector,
    w: Vector,
    offset: Vector | float = 0.0,
) -> Vector:
    """Minimise `logistic_objective` from a starting point.

    By Newton's method, halving the step until it descends.

    References
    ----------
    Lin, Lin & Weng, Machine Learning 68 (2007), algorithm 1.
    """
    from scipy.special import expit

    value = logistic_objective(at, columns, targets, w, offset)
    for _ in range(STEPS):
        p = np.asarray(expit(-(columns @ at + offset)))
        gradient = columns.T @ (w * (targets - p))
        step = np.linalg.solve(information(at, columns, w, offset), -gradient)
        descent = float(gradient @ step)
        if -descent <= DECREMENT * (1.0 + value):
            return at + step
        length = 1.0
        while length >= SHORTEST:
            there = logistic_objective(at + length * step, columns, targets, w, offset)
            if there < value + 1e-4 * length * descent:
                break
            length /= 2.0
        else:
            return at
        at, value = at + length * step, there
    return at


def logistic_objective(
    at: Vector,
    columns: Matrix,
    targets: Vector,
    w: Vector,
    offset: Vector | float = 0.0,
) -> float:
    """``sum w_i (log(1 + exp(-z_i)) + t_i z_i)``, ``z`` the columns at ``at``."""
    z = columns @ at + offset
    return float(w @ (np.logaddexp(0.0, -z) + targets * z))


def information(
    at: Vector, columns: Matrix, w: Vector, offset: Vector | float = 0.0
) -> Matrix:
    """Second derivatives of `logistic_objective`."""
    from scipy.special import expit

    p = np.asarray(expit(-(columns @ at + offset)))
    ridge = RIDGE * np.eye(len(at))
    return np.asarray((columns.T * (w * p * (1.0 - p))) @ columns + ridge)
