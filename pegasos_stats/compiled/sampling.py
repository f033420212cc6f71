"""R's ``sample()``, normal and exponential variates, from 32-bit random words."""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Integers, Vector
from pegasos_stats.compiled.compiling import inlined, kernel, with_python_division

# LN2_SUMS[k] is the sum of ln(2)**i / i! over i = 1..k+1, correctly rounded.
LN2_SUMS = (
    0.6931471805599453, 0.933373687519046, 0.9888777961838676, 0.9984959252914961,
    0.9998292811061389, 0.9999833164100728, 0.9999985691438767, 0.9999998906925558,
    0.9999999924734159, 0.9999999995283275, 0.9999999999728814, 0.9999999999985598,
    0.999999999999929, 0.9999999999999968, 0.9999999999999999, 1.0,
)  # fmt: skip

# Coefficients of AS 241, numerator and denominator, the constant first: CENTRE for
# |q| <= 0.425, MIDDLE for r <= 5 and TAIL for r > 5, as in `normal_quantile`.
CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
)  # fmt: skip

MIDDLE = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
     6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
     5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip

TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
     1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
     1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


@with_python_division
def horner(coefficients: tuple[float, ...], x: float) -> float:
    """Evaluate the polynomial with these coefficients, the constant first."""
    total = 0.0
    for k in range(len(coefficients) - 1, -1, -1):
        total = total * x + coefficients[k]
    return total


@with_python_division
def normal_quantile(p: float) -> float:
    """Quantile of the standard normal distribution at ``p`` (AS 241, PPND16).

    NaN outside [0, 1]; infinite at 0 and 1.
    """
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return float(q * horner(CENTRE[0], r) / horner(CENTRE[1], r))
    r = min(p, 1.0 - p)
    if not r > 0.0:
        return math.copysign(math.inf, q) if r == 0.0 else math.nan
    r = math.sqrt(-math.log(r))
    above, below = MIDDLE if r <= 5.0 else TAIL
    r -= 1.6 if r <= 5.0 else 5.0
    return math.copysign(horner(above, r) / horner(below, r), q)


@with_python_division
def normal_quantiles(p: Vector) -> Vector:
    """`normal_quantile` of each entry, shape (n,)."""
    out = np.empty(p.size)
    for i in range(p.size):
        out[i] = normal_quantile(p[i])
    return out


@with_python_division
def draw_exponentials(
    out: Vector, done: int, words: Integers, at: int
) -> tuple[int, int]:
    """Fill ``out[done:]`` with standard exponential variates; return ``done``, ``at``.

    Algorithm SA (Ahrens & Dieter): a variate is ln 2 times the number of leading zero
    bits of a uniform number, plus a rest. The rest is the number ``u`` that the other
    bits represent, if it is at most ln 2. Otherwise it is ln 2 times the minimum of
    ``k + 1`` uniform numbers, where ``k`` is the first index with ``u <= LN2_SUMS[k]``.
    """
    while done < out.size and at < words.size:
        u, total = 2.0 * uniform(words[at]), 0.0
        while u <= 1.0:
            total += LN2_SUMS[0]
            u *= 2.0
        u -= 1.0
        least, k = 1.0, 0
        while u > LN2_SUMS[k]:
            if at + k + 2 >= words.size:
                return done, at
            least = min(least, uniform(words[at + k + 1]), uniform(words[at + k + 2]))
            k += 1
        out[done] = total + (least * LN2_SUMS[0] if k > 0 else u)
        at += k + 2 if k > 0 else 1
        done += 1
    return done, at


@with_python_division
def uniform(word: int) -> float:
    """``word / 2**32``, or R's ``2.328306437080797e-10 / 2`` for the word 0."""
    return word * 2.0**-32 if word > 0 else 2.328306437080797e-10 / 2.0


@with_python_division
def bit_length(value: int) -> int:
    """Count the binary digits of ``value``: ``ceil(log2(n))`` if it is ``n - 1``."""
    bits = 0
    while value >> bits > 0:
        bits += 1
    return bits


@inlined
def trial(words: Integers, at: int, bits: int) -> int:
    """Draw ``bits`` random bits, 16 at a time from the upper halves of the words.

    There are ``bits // 16 + 1`` pieces, of which the first is the most significant; the
    lowest ``bits`` bits are returned.
    """
    low = (1 << bits) - 1
    value = int(words[at]) >> 16
    if bits >= 16:
        value = value << 16 | int(words[at + 1]) >> 16
        for piece in range(2, bits // 16 + 1):
            value = (value & (low >> 16)) << 16 | int(words[at + piece]) >> 16
    return value & low


@with_python_division
def draw_by_rounding(
    out: Integers, done: int, words: Integers, at: int, bound: int
) -> tuple[int, int]:
    """Fill ``out[done:]`` with ``floor(bound * u)``, as in R before 3.6.

    For a bound above ``2**31 - 1`` the uniform number ``u`` comes from two words. The
    other arguments and the results are as in `take_by_rejection`.
    """
    pieces = 1 if bound < 2**31 else 2
    while done < out.size and at + pieces <= words.size:
        u = uniform(words[at])
        if pieces == 2:
            u = (math.floor(2.0**25 * u) + uniform(words[at + 1])) / 2.0**25
        out[done] = int(bound * u)
        done += 1
        at += pieces
    return done, at


@with_python_division
def draw_subsets(
    out: Integers,
    done: int,
    words: Integers,
    at: int,
    pool: NDArray[np.int32],
    picks: Integers,
    rounding: bool,
) -> tuple[int, int]:
    """Fill ``out[done:]`` with consecutive subsets; return ``done``, ``at``.

    Within a subset, numbers are drawn as in `take_by_rejection`, or with `rounding` as
    in R before 3.6.

    Parameters
    ----------
    out : int64 array, shape (count * size,)
    done, words, at
        As for `take_by_rejection`.
    pool : int32 array, shape (n,), n < 2^31
        ``0 .. n - 1``, restored after the last draw of a subset.
    picks : int64 array, shape (size,)
        Positions in `pool` from which this subset was drawn so far.
    rounding : bool
        Whether to draw as in R before 3.6.
    """
    size = picks.size
    while done < out.size and at < words.size:
        k = done % size
        left = pool.size - k
        if rounding:
            v, at = int(left * uniform(words[at])), at + 1
        else:
            bits = bit_length(left - 1)
            if at + bits // 16 + 1 > words.size:
                break
            v, at = trial(words, at, bits), at + bits // 16 + 1
        if v < left:
            picks[k], out[done] = v, pool[v]
            pool[v] = pool[left - 1]
            done += 1
            if k == size - 1:
                for place in picks:
                    pool[place] = place
    return done, at


@with_python_division
def sort_down(weights: Vector, order: Integers) -> None:
    """Heapsort ``weights`` into descending order, in place, and ``order`` with them.

    Heapsort is not stable; this implementation orders equal weights as R does. In each
    iteration a weight and its label move down the min-heap, from ``hole`` to their
    place.
    """
    unheaped, last = weights.size // 2, weights.size - 1
    while last > 0:
        if unheaped > 0:
            unheaped -= 1
            weight, label = weights[unheaped], order[unheaped]
        else:
            weight, label = weights[last], order[last]
            weights[last], order[last] = weights[0], order[0]
            last -= 1
        hole, child = unheaped, 2 * unheaped + 1
        while child <= last:
            if child < last and weights[child] > weights[child + 1]:
                child += 1
            if weight <= weights[child]:
                break
            weights[hole], order[hole] = weights[child], order[child]
            hole, child = child, 2 * child + 1
        weights[hole], order[hole] = weight, label


@with_python_division
def alias_table(weights: Vector) -> tuple[Vector, Integers]:
    """Walker's alias table of ``weights`` (sum 1): thresholds and aliases, shape (n,).

    For a number ``u`` in ``[k, k + 1)`` the draw is ``k`` if ``u < threshold[k]``, else
    ``alias[k]``. Cells below the average weight are filled in order, each from the
    current donor. Donors are the other cells, from the last one to the first. All cells
    are in one list, the donors after the short cells. A donor that falls below the
    average is followed by the next donor, and is itself filled when its turn in the
    list comes.
    """
    n = weights.size
    threshold, alias = weights * n, np.zeros(n, np.int64)
    cells = np.empty(n, np.int64)
    short, rich = 0, n
    for i in range(n):
        if threshold[i] < 1.0:
            cells[short] = i
            short += 1
        else:
            rich -= 1
            cells[rich] = i
    if rich > 0:
        for k in range(n - 1):
            if rich >= n:
                break
            i, j = cells[k], cells[rich]
            alias[i] = j
            threshold[j] += threshold[i] - 1.0
            if threshold[j] < 1.0:
                rich += 1
    return threshold + np.arange(n), alias


@with_python_division
def draw_from_alias(
    out: Integers,
    done: int,
    words: Integers,
    at: int,
    threshold: Vector,
    alias: Integers,
    rounding: bool,
) -> tuple[int, int]:
    """Fill ``out[done:]`` with indices by the alias table; return ``done``, ``at``.

    With `rounding`, one word determines the cell and the position in it. Otherwise the
    cell is drawn by rejection, and one further word determines the position.
    """
    n, bits = threshold.size, bit_length(threshold.size - 1)
    pieces = bits // 16 + 1
    while done < out.size and at < words.size:
        if rounding:
            place, after = uniform(words[at]) * n, at
        else:
            cell, after = n, at
            while cell >= n and after + pieces < words.size:
                cell = trial(words, after, bits)
                after += pieces
            if cell >= n:
                break
            place = cell + uniform(words[after])
        at = after + 1
        k = int(place)
        out[done] = k if place < threshold[k] else alias[k]
        done += 1
    return done, at


@inlined
def twisted(word: np.uint32, after: np.uint32, middle: np.uint32) -> np.uint32:
    """Word of the next key, from this word, the next word and the word 397 later."""
    y = (word & np.uint32(0x80000000)) | (after & np.uint32(0x7FFFFFFF))
    return middle ^ (y >> np.uint32(1)) ^ ((y & np.uint32(1)) * np.uint32(0x9908B0DF))


@kernel
def fill_words(key: NDArray[np.uint32], out: Integers) -> None:
    """Fill ``out`` with the words that follow a key of the Mersenne-Twister.

    Parameters
    ----------
    key : uint32 array, shape (624,)
        Key whose words have all been used; replaced by the key of the last block of
        ``out``.
    out : int64 array, shape (m,)
        Output; ``m`` is a multiple of 624.
    """
    n, middle = 624, 397
    for first in range(0, out.shape[0], n):
        for i in range(n - middle):
            key[i] = twisted(key[i], key[i + 1], key[i + middle])
        for i in range(n - middle, n - 1):
            key[i] = twisted(key[i], key[i + 1], key[i + middle - n])
        key[n - 1] = twisted(key[n - 1], key[0], key[middle - 1])
        for i in range(n):
            y = key[i] ^ (key[i] >> np.uint32(11))
            y = y ^ ((y << np.uint32(7)) & np.uint32(0x9D2C5680))
            y = y ^ ((y << np.uint32(15)) & np.uint32(0xEFC60000))
            out[first + i] = y ^ (y >> np.uint32(18))


@kernel
def take_by_rejection(
    out: Integers, done: int, words: Integers, at: int, pool: Integers
) -> tuple[int, int]:
    """Draw without replacement by R's rejection: ``sample(n, m)`` for ``n <= 2^31``.

    Let ``left`` be the number of remaining items, and ``b`` the number of binary digits
    of ``left - 1``. A trial uses the upper 16 bits of one word if ``b < 16``, and of
    two words otherwise::

        v <- the lowest b bits;  again if v >= left
        out[n - left] <- pool[v];  pool[v] <- pool[left - 1];  left <- left - 1

    To avoid branches, each trial is written to ``out``, but counted only if accepted.

    Parameters
    ----------
    out : int64 array, shape (m,)
        Filled in place.
    done : int
        Number of entries of ``out`` that are already filled.
    words : int64 array of 32-bit words
    at : int
        Position of the first unused word.
    pool : int32 or int64 array, shape (n,)
        Remaining items, in its first ``n - done`` entries; changed in place.

    Returns
    -------
    done, at : int
        ``done`` is below ``m`` if there were too few words; call again with more.
    """
    n = pool.shape[0]
    left, stop = n - done, n - out.shape[0]
    while left > stop:
        bits, before = bit_length(left - 1), n - left
        pieces, mask = bits // 16 + 1, (1 << bits) - 1
        least = max((mask + 1) >> 1, stop)  # b does not change down to this
        if pieces == 1:
            while left > least and at < words.shape[0]:
                out[n - left] = v = (words[at] >> 16) & mask
                at += 1
                left -= int(v < left)
        else:
            while left > least and at + 2 <= words.shape[0]:
                v = ((words[at] >> 16) << 16 | words[at + 1] >> 16) & mask
                out[n - left] = v
                at += 2
                left -= int(v < left)
        for k in range(before, n - left):
            v = out[k]
            out[k] = pool[v]
            pool[v] = pool[n - 1 - k]
        if left > least:
            break
    return n - left, at
