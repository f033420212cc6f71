"""Scalar random variates and the kernels that fill arrays with them.

Logarithms, powers and roots are those of the C library, one number at a time: numpy's
vectorised ones may differ in the last bit, and R uses the C library's. A kernel whose
words run out gives back the position before the draw it could not finish.

References
----------
Wichura, *Algorithm AS 241: The percentage points of the normal distribution*, Applied
Statistics 37 (1988), routine PPND16.
Ahrens & Dieter, *Computer methods for sampling from the exponential and normal
distributions*, Communications of the ACM 15 (1972), algorithm SA.
Kachitvichyanukul & Schmeiser, *Binomial random variate generation*, Communications of
the ACM 31 (1988), algorithm BTPE.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.compiling import with_python_division
from pegasos_stats.compiled.random.sampling import uniform

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

# LN2_SUMS[k] is the sum of ln(2)**i / i! over i = 1..k+1, correctly rounded.
LN2_SUMS = (
    0.6931471805599453,
    0.933373687519046,
    0.9888777961838676,
    0.9984959252914961,
    0.9998292811061389,
    0.9999833164100728,
    0.9999985691438767,
    0.9999998906925558,
    0.9999999924734159,
    0.9999999995283275,
    0.9999999999728814,
    0.9999999999985598,
    0.999999999999929,
    0.9999999999999968,
    0.9999999999999999,
    1.0,
)
CENTRE = (
    (
        3.3871328727963666080e0,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ),
    (
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
)
MIDDLE = (
    (
        1.42343711074968357734e0,
        4.63033784615654529590e0,
        5.76949722146069140550e0,
        3.64784832476320460504e0,
        1.27045825245236838258e0,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ),
    (
        1.0,
        2.05319162663775882187e0,
        1.67638483018380384940e0,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)
TAIL = (
    (
        6.65790464350110377720e0,
        5.46378491116411436990e0,
        1.78482653991729133580e0,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ),
    (
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
)


@with_python_division
def horner(coefficients: tuple[float, ...], x: float) -> float:
    """Evaluate the polynomial with these coefficients, the constant first."""
    total = coefficients[-1]
    for k in range(len(coefficients) - 2, -1, -1):
        total = total * x + coefficients[k]
    return total


@with_python_division
def normal_quantile(p: float) -> float:
    """Quantile of the standard normal distribution at ``p`` (AS 241, PPND16).

    NaN outside [0, 1], infinite at its ends.
    """
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return float(q * horner(CENTRE[0], r) / horner(CENTRE[1], r))
    r = min(p, 1.0 - p)
    if not r > 0.0:
        return math.copysign(math.inf, q) if r == 0.0 else math.nan
    r = math.sqrt(-math.log(r))
    if r <= 5.0:
        r -= 1.6
        z = horner(MIDDLE[0], r) / horner(MIDDLE[1], r)
    else:
        r -= 5.0
        z = horner(TAIL[0], r) / horner(TAIL[1], r)
    return math.copysign(z, q)


@with_python_division
def normal_quantiles(p: Vector) -> Vector:
    """`normal_quantile` of each entry, shape (n,)."""
    out = np.empty(p.size)
    for i in range(p.size):
        out[i] = normal_quantile(p[i])
    return out


@with_python_division
def exponential(words: Integers, at: int) -> tuple[float, int]:
    """One standard exponential number (algorithm SA); -1 when the words run out.

    The leading zero bits of a uniform number give a geometric count of ln 2; the rest
    is ln 2 times the least of a random number of uniform numbers.
    """
    if at >= words.size:
        return -1.0, at
    u, total = 2.0 * uniform(words[at]), 0.0
    while u <= 1.0:
        total += LN2_SUMS[0]
        u *= 2.0
    u -= 1.0
    if u <= LN2_SUMS[0]:
        return total + u, at + 1
    least, k = 1.0, 0
    while at + k + 2 < words.size:
        least = min(least, uniform(words[at + k + 1]), uniform(words[at + k + 2]))
        k += 1
        if u <= LN2_SUMS[k]:
            return total + least * LN2_SUMS[0], at + k + 2
    return -1.0, at


@with_python_division
def draw_exponentials(
    out: Vector, done: int, words: Integers, at: int
) -> tuple[int, int]:
    """Fill ``out[done:]`` with standard exponential numbers; ``done``, ``at`` after."""
    while done < out.size:
        value, at = exponential(words, at)
        if value < 0.0:
            break
        out[done] = value
        done += 1
    return done, at


@with_python_division
def wrapped(value: int) -> int:
    """Wrap around at 2**31, as the 32-bit integers do in which R computes this."""
    return (value + 2**31) % 2**32 - 2**31


@with_python_division
def power(base: float, exponent: int) -> float:
    """Raise to a whole power by squaring: R's last bit, where ``**`` has another."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@with_python_division
def binomial_by_inversion(
    size: int, p: float, words: Integers, at: int
) -> tuple[int, int]:
    """One binomial number, for ``p <= 1/2`` and ``size * p < 30``; -1: words ran out.

    The probabilities are taken off a uniform number one after the other; beyond 110
    a new number is drawn.
    """
    odds = p / (1.0 - p)
    ratio = odds * (size + 1)
    at_zero = power(1.0 - p, size)
    while at < words.size:
        u, f = uniform(words[at]), at_zero
        at += 1
        for x in range(112):
            if u < f:
                return x, at
            u -= f
            f *= ratio / (x + 1) - odds
    return -1, at


@with_python_division
def hat(size: int, p: float) -> tuple[float, ...]:
    """BTPE's hat: a triangle, two parallelograms and two exponential tails (step 0).

    Returns the middle, left and right end, the parallelograms' height, the rates of
    the tails, and the areas up to the end of each of the four parts.
    """
    q = 1.0 - p
    peak = size * p + p
    half = int(2.195 * math.sqrt(size * p * q) - 4.6 * q) + 0.5
    middle = int(peak) + 0.5
    left, right = middle - half, middle + half
    height = 0.134 + 20.5 / (15.3 + int(peak))
    slope = (peak - left) / (peak - left * p)
    left_rate = slope * (1.0 + 0.5 * slope)
    slope = (right - peak) / (right * q)
    right_rate = slope * (1.0 + 0.5 * slope)
    area2 = half * (1.0 + height + height)
    area3 = area2 + height / left_rate
    area4 = area3 + height / right_rate
    return (
        middle, left, right, height, left_rate, right_rate, half, area2, area3, area4
    )  # fmt: skip


@with_python_division
def propose(
    parts: tuple[float, ...], size: int, u: float, v: float
) -> tuple[int, float]:
    """Place a point under the hat (steps 1 to 4): its integer and its height.

    The integer is -1 if the point is rejected here; the height is 0 if it lies in the
    triangle and is accepted without a test.
    """
    middle, left, right, height, left_rate, right_rate = parts[:6]
    area1, area2, area3, area4 = parts[6:]
    u *= area4
    if u <= area1:
        return int(middle - area1 * v + u), 0.0
    if u <= area2:
        place = left + (u - area1) / height
        v = v * height + 1.0 - abs(middle - place) / area1
        return (int(place), v) if 0.0 < v <= 1.0 else (-1, v)
    if u <= area3:
        x = int(left + math.log(v) / left_rate)
        return (x, v * (u - area2) * left_rate) if x >= 0 else (-1, v)
    x = int(right - math.log(v) / right_rate)
    return (x, v * (u - area3) * right_rate) if x <= size else (-1, v)


@with_python_division
def mass_ratio(x: int, size: int, p: float) -> float:
    """``f(x) / f(mode)`` of the binomial probabilities, by recursion (step 5.1)."""
    mode = int(size * p + p)
    odds = p / (1.0 - p)
    ratio = odds * (size + 1)
    f = 1.0
    for i in range(mode + 1, x + 1):
        f *= ratio / i - odds
    for i in range(x + 1, mode + 1):
        f /= ratio / i - odds
    return f


@with_python_division
def stirling(x: float) -> float:
    """Correct Stirling's formula for the factorial of ``x - 1``."""
    y = x * x
    series = 13860.0 - (462.0 - (132.0 - (99.0 - 140.0 / y) / y) / y) / y
    return series / x / 166320.0


@with_python_division
def accepted(x: int, v: float, size: int, p: float) -> bool:
    """Whether a point of height ``v`` lies under the probabilities (step 5).

    Near the mode by recursion, elsewhere by squeezing and then Stirling's formula.
    """
    variance = size * p * (1.0 - p)
    mode = int(size * p + p)
    k = abs(x - mode)
    if k <= 20 or k >= variance / 2.0 - 1.0:
        return bool(v <= mass_ratio(x, size, p))
    margin = (k / variance) * (
        (k * (k / 3.0 + 0.625) + 0.1666666666666) / variance + 0.5
    )
    centre = wrapped(-k * k) / (2.0 * variance)
    log_v = math.log(v)
    if log_v < centre - margin:
        return True
    return bool(log_v <= centre + margin and log_v <= log_mass(x, mode, size, p))


@with_python_division
def log_mass(x: int, mode: int, size: int, p: float) -> float:
    """``log(f(x) / f(mode))`` by Stirling's formula (step 5.3)."""
    q = 1.0 - p
    x1, f1 = x + 1.0, mode + 1.0
    z, w = size + 1.0 - mode, size - x + 1.0
    total = (
        (mode + 0.5) * math.log(f1 / x1)
        + (size - mode + 0.5) * math.log(z / w)
        + (x - mode) * math.log(w * p / (x1 * q))
        + stirling(f1)
        + stirling(z)
        + stirling(x1)
        + stirling(w)
    )
    return float(total)


@with_python_division
def binomial_by_rejection(
    size: int, p: float, words: Integers, at: int
) -> tuple[int, int]:
    """One binomial number for ``p <= 1/2`` and ``size * p >= 30`` (BTPE); or -1."""
    parts = hat(size, p)
    while at + 2 <= words.size:
        x, v = propose(parts, size, uniform(words[at]), uniform(words[at + 1]))
        at += 2
        if x >= 0 and (v == 0.0 or accepted(x, v, size, p)):
            return x, at
    return -1, at


@with_python_division
def draw_binomials(
    out: Integers, done: int, words: Integers, at: int, sizes: Integers, probs: Vector
) -> tuple[int, int]:
    """Fill ``out[done:]`` with binomial numbers; ``done`` and ``at`` after.

    For ``p`` above 1/2 the failures are drawn. Where nothing is random (``size`` 0,
    ``p`` 0 or 1) no word is used.
    """
    while done < out.size:
        size, p = sizes[done], min(probs[done], 1.0 - probs[done])
        if size == 0 or p == 0.0:
            x = 0
        elif size * p < 30.0:
            x, at = binomial_by_inversion(size, p, words, at)
        else:
            x, at = binomial_by_rejection(size, p, words, at)
        if x < 0:
            break
        out[done] = x if probs[done] <= 0.5 else size - x
        done += 1
    return done, at
