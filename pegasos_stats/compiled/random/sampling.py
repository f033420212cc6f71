"""Sampling kernels: from the words of a Mersenne-Twister to row numbers.

Every kernel reads 32-bit words from an int64 array, beginning at ``at``, and returns
how far it came: when the words run out it stops between two draws, so that the caller
can append words and call it again.

References
----------
Knuth, *The Art of Computer Programming*, vol. 2, section 3.4.2, algorithm P (shuffle);
vol. 3, section 5.2.3, algorithm H (heapsort).
Walker, *An efficient method for generating discrete random variables with general
distributions*, ACM Transactions on Mathematical Software 3 (1977).
Ripley, *Stochastic Simulation* (1987), section 3.2 (alias tables).
"""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Integers, Vector
from pegasos_stats.compiled.compiling import with_python_division

WORD = 2.0**-32
SMALLEST = 2.328306437080797e-10 / 2  # what runif of R gives for the word 0
WIDE = 2**31 - 1  # above it, rounding takes two words for a number


@with_python_division
def uniform(word: int) -> float:
    """``word / 2**32``, kept above zero: one draw of R's ``runif``."""
    return word * WORD if word > 0 else SMALLEST


@with_python_division
def uniforms(words: Integers) -> Vector:
    """Give `uniform` of each word, shape (n,)."""
    out = np.empty(words.size)
    for i in range(words.size):
        out[i] = uniform(words[i])
    return out


@with_python_division
def bit_length(value: int) -> int:
    """Count the binary digits of ``value``: ``ceil(log2(n))`` for ``n - 1``."""
    bits = 0
    while value >> bits > 0:
        bits += 1
    return bits


@with_python_division
def trial(words: Integers, at: int, bits: int) -> int:
    """``bits`` random bits, taken 16 at a time from the upper halves of the words.

    There are ``bits // 16 + 1`` pieces, the first one highest; what exceeds ``bits``
    is cut off.
    """
    low = (1 << bits) - 1
    value = int(words[at]) >> 16
    if bits >= 16:
        value = value << 16 | int(words[at + 1]) >> 16
        for piece in range(2, bits // 16 + 1):
            value = (value & (low >> 16)) << 16 | int(words[at + piece]) >> 16
    return value & low


@with_python_division
def draw_by_rejection(
    out: Integers, done: int, words: Integers, at: int, bound: int
) -> tuple[int, int]:
    """Fill ``out[done:]`` with indices below ``bound``, by rejection (R since 3.6).

    Each trial is written, and counted only if it fits: no branch to mispredict.

    Parameters
    ----------
    out : int64 array, shape (m,)
        Filled in place.
    done : int
        Number of entries filled before.
    words : int64 array of 32-bit words
    at : int
        Position of the first word not used.
    bound : int

    Returns
    -------
    done : int
        Number of entries filled by now.
    at : int
        Position of the first word not used; trials that did not fit are used up.
    """
    bits = bit_length(bound - 1)
    pieces = bits // 16 + 1
    while done < out.size and at + pieces <= words.size:
        value = trial(words, at, bits)
        at += pieces
        out[done] = value
        done += int(value < bound)
    return done, at


@with_python_division
def draw_by_rounding(
    out: Integers, done: int, words: Integers, at: int, bound: int, shrink: int
) -> tuple[int, int]:
    """Fill ``out[done:]`` with ``floor(bound * u)``, as R before 3.6 did.

    Above ``2**31 - 1`` the uniform number comes from two words. Arguments and results
    are those of `draw_by_rejection`.
    """
    while done < out.size and at < words.size:
        left = bound - shrink * done
        u = uniform(words[at])
        if left > WIDE:
            if at + 2 > words.size:
                break
            at += 1
            u = (math.floor(2.0**25 * u) + uniform(words[at])) / 2.0**25
        out[done] = int(left * u)
        done += 1
        at += 1
    return done, at


@with_python_division
def take_out(pool: Integers | NDArray[np.int32], picks: Integers) -> None:
    """Replace each of ``picks`` by the entry of ``pool`` at that place.

    After each one the last entry left moves into the place that has become free.
    """
    last = pool.size - 1
    for i in range(picks.size):
        j = picks[i]
        picks[i] = pool[j]
        pool[j] = pool[last - i]


@with_python_division
def keep_new(out: Integers, done: int, table: Integers, drawn: Integers) -> int:
    """Append to ``out[:done]`` those of ``drawn`` that have not come before.

    ``table``, of a power of two of entries and -1 where empty, remembers what came.
    Returns the number of entries of ``out`` filled by now.
    """
    last = table.size - 1
    for index in drawn:
        place = index & last
        while table[place] >= 0 and table[place] != index:
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = index
            out[done] = index
            done += 1
    return done


@with_python_division
def sort_down(weights: Vector, order: Integers) -> None:
    """Heapsort ``weights`` into descending order, in place, and ``order`` with them.

    A heapsort is not stable, and R's order of equal weights is that of this one.
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
        sift(weights, order, unheaped, last, weight, label)


@with_python_division
def sift(
    weights: Vector, order: Integers, hole: int, last: int, weight: float, label: int
) -> None:
    """Let ``(weight, label)`` sink from ``hole`` into a heap, the least on top."""
    child = 2 * hole + 1
    while child <= last:
        if child < last and weights[child] > weights[child + 1]:
            child += 1
        if weight <= weights[child]:
            break
        weights[hole], order[hole] = weights[child], order[child]
        hole, child = child, 2 * child + 1
    weights[hole], order[hole] = weight, label


@with_python_division
def weighted_without_replacement(
    weights: Vector, order: Integers, u: Vector, out: Integers
) -> None:
    """Fill ``out`` with labels drawn one after the other, each with its weight.

    ``weights`` (sum 1, descending) and their labels ``order`` are changed: what has
    been drawn is taken out. Draw ``i`` is the first whose running sum of the weights
    left reaches ``u[i]`` times their total.
    """
    total, last = 1.0, weights.size - 1
    for i in range(out.size):
        target, j = total * u[i], 0
        mass = weights[0]
        while j < last and target > mass:
            j += 1
            mass += weights[j]
        out[i] = order[j]
        total -= weights[j]
        weights[j:last] = weights[j + 1 : last + 1].copy()
        order[j:last] = order[j + 1 : last + 1].copy()
        last -= 1


@with_python_division
def alias_table(weights: Vector) -> tuple[Vector, Integers]:
    """Walker's table of ``weights`` (sum 1): thresholds and aliases, shape (n,) each.

    Cell ``k`` keeps ``k`` for numbers in ``[k, threshold[k])`` and gives ``alias[k]``
    above. Cells below the average are filled in the order in which they are found,
    each from the first cell that still has too much.
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
    fill_cells(threshold, alias, cells, rich)
    return threshold + np.arange(n), alias


@with_python_division
def fill_cells(threshold: Vector, alias: Integers, cells: Integers, rich: int) -> None:
    """Pour from the cells at ``rich`` and after into those before, until none is left.

    A rich cell that falls below the average is itself filled later: the list of short
    cells goes on where the list of rich ones has been used up.
    """
    n = cells.size
    if rich == 0:
        return
    for k in range(n - 1):
        if rich >= n:
            break
        i, j = cells[k], cells[rich]
        alias[i] = j
        threshold[j] += threshold[i] - 1.0
        if threshold[j] < 1.0:
            rich += 1


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
    """Fill ``out[done:]`` with indices by the alias table; ``done`` and ``at`` after.

    By rounding one word gives the cell and the place in it; by rejection the cell is
    drawn first, then a word gives the place.
    """
    n = threshold.size
    while done < out.size and at < words.size:
        if rounding:
            place, after = uniform(words[at]) * n, at
        else:
            cells, after = draw_by_rejection(out[: done + 1], done, words, at, n)
            if cells == done or after == words.size:
                break
            place = out[done] + uniform(words[after])
        at = after + 1
        k = int(place)
        out[done] = k if place < threshold[k] else alias[k]
        done += 1
    return done, at
