"""Draws without replacement by the words of the Mersenne-Twister."""

from pegasos_stats.arrays import Integers
from pegasos_stats.compiled.compiling import inlined, kernel


@inlined
def accept(
    out: Integers, n: int, left: int, least: int, bits: int, words: Integers, at: int
) -> tuple[int, int]:
    """Put trials of ``bits`` bits below ``left`` in ``out``, until ``left = least``.

    Each trial is written, and counted only if it fits: no branch depends on it.
    """
    mask = (1 << bits) - 1
    if bits < 16:
        while left > least and at < words.shape[0]:
            v = (words[at] >> 16) & mask
            at += 1
            out[n - left] = v
            left -= int(v < left)
    else:
        while left > least and at + 2 <= words.shape[0]:
            v = ((words[at] >> 16) << 16 | words[at + 1] >> 16) & mask
            at += 2
            out[n - left] = v
            left -= int(v < left)
    return left, at


@inlined
def take(out: Integers, pool: Integers, first: int, last: int) -> None:
    """Replace the places in ``out[first:last]`` by what stands there in the pool."""
    left = pool.shape[0] - first
    for k in range(first, last):
        left -= 1
        v = out[k]
        out[k] = pool[v]
        pool[v] = pool[left]


@kernel
def take_by_rejection(
    out: Integers, done: int, words: Integers, at: int, pool: Integers
) -> tuple[int, int]:
    """Draw without replacement by R's rejection: ``sample(n, m)`` for ``n < 2^32``.

    With ``left`` entries left, ``b`` binary digits in ``left - 1``, and 16 bits from
    the upper half of each word, one word if ``b < 16``, else two::

        v <- the lowest b bits;  again if v >= left
        out[n - left] <- pool[v];  pool[v] <- pool[left - 1];  left <- left - 1

    Parameters
    ----------
    out : int64 array, shape (m,)
        Filled in place.
    done : int
        Entries of ``out`` filled before.
    words : int64 array of 32-bit words
    at : int
        Position of the first word not used.
    pool : int32 or int64 array, shape (n,)
        What is left, in its first ``n - done`` entries; changed in place.

    Returns
    -------
    done, at : int
        ``done`` is below ``m`` when the words ran out; call again with more.
    """
    n = pool.shape[0]
    left, stop = n - done, n - out.shape[0]
    while left > stop:
        bits = 0
        while (left - 1) >> bits > 0:
            bits += 1
        least = max((1 << bits) >> 1, stop)
        before = n - left
        left, at = accept(out, n, left, least, bits, words, at)
        take(out, pool, before, n - left)
        if left > least:
            break
    return n - left, at
