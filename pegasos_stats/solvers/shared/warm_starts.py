"""What a path is made of: the fits at one lambda, and where the next ones begin."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Rows, Vector

FAR = 2.0  # in log lambda: beyond that fits do not tell where the next one is
MOST = 3  # fits that a start is extrapolated from
LARGEST = 8.0  # sum of the factors of an extrapolation, by size


class PathPoint(NamedTuple):
    """All fits at one lambda.

    Attributes
    ----------
    lam : float
    theta : float64 array, shape (fits, q)
    objective, dual : float64 array, shape (fits,)
        ``P`` at `theta`, and a lower bound of the least ``P`` that holds in real
        arithmetic; both not finite where nothing was found.
    reads : int array, shape (fits,)
        Passes over the rows.
    """

    lam: float
    theta: Vector
    objective: Vector
    dual: Vector
    reads: Rows

    def certified(self, tol: float) -> Vector:
        """Which fits are within a relative gap."""
        return np.asarray(self.objective - self.dual <= tol * self.objective)


def extrapolated(past: Sequence[PathPoint], lam: float, most: int = MOST) -> Vector:
    """Coefficients at `lam` of the polynomial in log lambda through the last points.

    Examples
    --------
    >>> nothing = np.zeros(1), np.zeros(1), np.ones(1)
    >>> past = [PathPoint(lam, np.array([[lam]]), *nothing) for lam in (4.0, 2.0)]
    >>> extrapolated(past, 1.0)
    array([[0.]])
    """
    at = math.log(lam)
    used = [point for point in past[-most:] if math.log(point.lam) - at < FAR]
    used = used or [past[-1]]
    while True:
        logs = [math.log(point.lam) for point in used]
        factors = [math.prod((at - u) / (t - u) for u in logs if u != t) for t in logs]
        if sum(abs(each) for each in factors) <= LARGEST:
            pairs = zip(factors, used, strict=True)
            return np.asarray(sum(each * point.theta for each, point in pairs))
        used = used[1:]
