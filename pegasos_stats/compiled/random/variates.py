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
"""

import math

import numpy as np

from pegasos_stats.arrays import Integers, Vector
from pegasos_stats.compiled.compiling import with_python_division
from pegasos_stats.compiled.random.sampling import uniform

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
