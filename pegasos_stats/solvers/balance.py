"""Dual weights of two classes with exactly the same sum.

The weights are cut to multiples of one power of two, so that all sums are sums of
integers.
"""

import math

import numpy as np

from pegasos_stats.arrays import Vector

DIGITS = 53  # of a double
HALF = 26  # of them in the lower part of a count
ROWS = 2**25  # whose lower parts, or higher ones, are summed exactly
MOST = 1000  # power of two that is a double, as its inverse is
SMALLEST = -1074  # exponent of the smallest double


def balanced(a: Vector, y: Vector) -> Vector:
    """Lower the weights of a class, until both have exactly the same sum.

    Those of the class with the larger sum are multiplied by the ratio of the sums, all
    are cut, and what is then left of the difference is taken off the first weights that
    have it. Weights that are balanced and have been cut stay as they are.

    Parameters
    ----------
    a : float64 array, shape (n,), not below 0
    y : float64 array, shape (n,), of -1 and +1
    """
    power = _power(a)
    counts = np.floor(scaled(a, -power))
    if _difference(counts, y) == 0 and (scaled(counts, power) == a).all():
        return a
    shares = scaled(a, -power - DIGITS)  # below 1: no sum overflows
    total, apart = float(shares.sum()), float(shares @ y)
    ratio = max(0.0, total - abs(apart)) / (total + abs(apart))
    a = (
        np.where(y > 0.0, a * ratio, a)
        if apart > 0.0
        else np.where(y > 0.0, a, a * ratio)
    )
    power = _power(a)
    counts = np.floor(scaled(a, -power))
    _take_off(counts, y, _difference(counts, y))
    return scaled(counts, power)


def _power(a: Vector) -> int:
    """Power of two of which all weights have at most as many as a double can count."""
    return max(SMALLEST, math.frexp(float(a.max(initial=0.0)))[1] - DIGITS)


def scaled(a: Vector, power: int) -> Vector:
    """``a 2^power``."""
    if abs(power) < MOST:
        return a * 2.0**power
    return np.asarray(np.ldexp(a, power))


def _difference(counts: Vector, y: Vector) -> int:
    """``sum_i counts_i y_i``, exactly: no double on the way is above 2^53."""
    found = 0
    for first in range(0, y.size, ROWS):
        count, sign = counts[first : first + ROWS], y[first : first + ROWS]
        high = np.floor(count * 2.0**-HALF)
        low = count - high * 2.0**HALF
        found += (int(high @ sign) << HALF) + int(low @ sign)
    return found


def _take_off(counts: Vector, y: Vector, units: int) -> None:
    """Subtract units, in place, from the class whose sum is too large."""
    left = abs(units)
    if left == 0:
        return
    for i in np.flatnonzero((y > 0.0) == (units > 0)):
        taken = min(int(counts[i]), left)
        counts[i] -= taken
        left -= taken
        if left == 0:
            return
