"""The log loss of four margins at a time: exponentials and logarithms in lanes.

Each is off by a few units in the last place, as those of the mathematical library are,
which take ten times as long.
"""

import math

from pegasos_stats.compiled.arithmetic.lanes import (
    Lanes,
    below,
    exponent,
    fused,
    lanes,
    power_of_two,
    where_below,
)
from pegasos_stats.compiled.compiling import inlined

LARGEST = 746.0  # exp(-x) of it is 0
TO_WHOLE = 1.5 * 2.0**52  # added to a number, it rounds it to a whole one
PER_LOG_2 = 1.4426950408889634  # 1 / log(2)
LOG_2 = 0.6931471805599453
LOG_2_HIGH = 0.693147180369123816490  # its first 32 digits: times k <= 1076 exact
LOG_2_LOW = 1.90821492927058770002e-10
ROOT_2 = 1.4142135623730951
SMALLEST = 2.0**-1022  # double with all its digits
EXP = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))  # from the last term on
ARTANH = tuple(2.0 / k for k in range(21, 1, -2))


@inlined
def constant(x: float) -> Lanes:
    """Put a number in every lane."""
    return lanes(x, x, x, x)


@inlined
def series(x: Lanes, factors: tuple[float, ...]) -> Lanes:
    """Sum a power series whose last factor comes first, by Horner's rule."""
    total = constant(factors[0])
    for factor in factors[1:]:
        total = fused(total, x, constant(factor))
    return total


@inlined
def exp_of_minus(x: Lanes) -> Lanes:
    """``exp(-x)`` of numbers from 0 to `LARGEST`.

    ``x = k log(2) - r`` with ``|r| <= log(2) / 2``, and ``exp(r)`` by its series, whose
    first term left out is below ``5e-18``. The power of two is taken in two parts, as
    the whole may be smaller than a number with all digits.
    """
    k = (x * PER_LOG_2 + TO_WHOLE) - TO_WHOLE
    r = (k * LOG_2_HIGH - x) + k * LOG_2_LOW
    s = series(r, EXP)
    s = fused(r, fused(s, r, constant(1.0)), constant(1.0))
    half = (k * 0.5 + TO_WHOLE) - TO_WHOLE
    return s * power_of_two(0.0 - half) * power_of_two(half - k)


@inlined
def twice_artanh(s: Lanes) -> Lanes:
    """``2 artanh(s)`` by its series; what is left out is below ``3e-18`` of it.

    Parameters
    ----------
    s : lanes
        With ``s^2 < 0.0295``.
    """
    z = s * s
    t = series(z, ARTANH)
    return s + s + s * (z * t)


@inlined
def log_one_plus(e: Lanes) -> Lanes:
    """``log(1 + e)`` of numbers from 0 to 1.

    Above ``sqrt(2) - 1`` it is the logarithm of half ``1 + e``, and ``log(2)``.
    """
    large = 1.0 - below(e, ROOT_2 - 1.0)
    return twice_artanh((e - large) / ((2.0 + e) + large)) + large * LOG_2


@inlined
def log_one_minus(b: Lanes) -> Lanes:
    """``log(1 - b)`` of numbers from 0 to 1/2.

    Above ``1 - sqrt(1/2)`` it is the logarithm of twice ``1 - b``, less ``log(2)``.
    """
    large = 1.0 - below(b, 1.0 - 0.5 * ROOT_2)
    moved = large - (b + large * b)
    return twice_artanh(moved / (2.0 + moved)) - large * LOG_2


@inlined
def entropies(a: Lanes) -> Lanes:
    """``-a log a - (1 - a) log(1 - a)`` of numbers from 0 to 1.

    It is computed from the smaller of both; of one below ``2^-1022`` it is too small.
    """
    upper = 1.0 - a
    b = a + where_below(upper, 0.5, upper - a)
    b = b + where_below(b, 0.0, 0.0 - b)
    least = b + where_below(b, SMALLEST, SMALLEST - b)
    k = exponent(least)
    log_b = log_one_plus(least * power_of_two(0.0 - k) - 1.0) + k * LOG_2
    return 0.0 - (b * log_b + (1.0 - b) * log_one_minus(b))


@inlined
def log_losses(m: Lanes) -> tuple[Lanes, Lanes]:
    """``log(1 + exp(-m))`` and ``1 / (1 + exp(m))``; NaN of a margin not finite."""
    minus = where_below(m, 0.0, m)
    size = m - (minus + minus)
    near = below(size, LARGEST)
    e = exp_of_minus(where_below(size, LARGEST, size) + (m - m)) * near
    upper = e + where_below(m, 0.0, 1.0 - e)  # 1 below 0
    return log_one_plus(e) - minus, upper / (1.0 + e)
