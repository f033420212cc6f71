"""Dual weights of two classes with exactly the same sum.

The weights are cut to multiples of one power of two, so that all sums are sums of
integers.
"""

import math

from pegasos_stats.compiled.arithmetic.lanes import Vector
from pegasos_stats.compiled.compiling import inlined, kernel

DIGITS = 53  # of a double
SHARE = 2.0**-DIGITS
HALF = 26  # of them in the lower part of an integer: sums of 2^36 rows do not overflow
MOST = 1 << 62
SMALLEST = -1074  # exponent of the smallest double


@kernel
def balance(a: Vector, y: Vector) -> None:
    """Lower the weights of a class in place, until both have exactly the same sum.

    Those of the class with the larger sum are multiplied by the ratio of the sums, all
    are cut, and what is then left of the difference is taken off the first weights that
    have it. Weights that are balanced and have been cut stay as they are.
    """
    unit = unit_of(a)
    if unit == 0.0 or difference(a, y, unit, False) == 0:
        return
    positive = negative = 0.0
    for i in range(a.shape[0]):  # in units of 2^53: no sum overflows
        if y[i] > 0.0:
            positive += a[i] / unit * SHARE
        else:
            negative += a[i] / unit * SHARE
    larger = 1.0 if positive > negative else -1.0
    ratio = min(positive, negative) / max(positive, negative)
    for i in range(a.shape[0]):
        if y[i] == larger:
            a[i] *= ratio
    unit = unit_of(a)
    if unit > 0.0:
        take_off(a, y, unit, difference(a, y, unit, True))


@inlined
def unit_of(a: Vector) -> float:
    """Power of two of which all weights have at most as many as a double can count."""
    largest = 0.0
    for i in range(a.shape[0]):
        largest = max(largest, a[i])
    if largest == 0.0:
        return 0.0
    return math.ldexp(1.0, max(SMALLEST, math.frexp(largest)[1] - DIGITS))


@inlined
def difference(a: Vector, y: Vector, unit: float, cut: bool) -> int:
    """``sum_i a_i y_i`` in units, exactly; the weights are cut first, or must be.

    Returns
    -------
    int
        At most `MOST`. 1, if weights that must be cut are not.
    """
    high = low = 0
    for i in range(a.shape[0]):
        count = int(a[i] / unit)
        if not cut and count * unit != a[i]:
            return 1
        a[i] = count * unit
        sign = 1 if y[i] > 0.0 else -1
        high += sign * (count >> HALF)
        low += sign * (count & ((1 << HALF) - 1))
    high += low >> HALF
    low &= (1 << HALF) - 1
    if abs(high) >= MOST >> HALF:
        return MOST if high > 0 else -MOST
    return (high << HALF) + low


@inlined
def take_off(a: Vector, y: Vector, unit: float, units: int) -> None:
    """Subtract units from the weights of the class whose sum is too large."""
    larger = 1.0 if units > 0 else -1.0
    left = abs(units)
    for i in range(a.shape[0]):
        if left == 0:
            break
        if y[i] == larger and a[i] > 0.0:
            count = int(a[i] / unit)
            taken = min(count, left)
            a[i] = (count - taken) * unit
            left -= taken
