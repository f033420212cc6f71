"""Permutations as R makes them, of the words of numpy's generator."""

from decimal import Decimal, localcontext
from math import factorial

import numpy as np
import pytest

from pegasos_stats.compiled.random.sampling import LN2_SUMS, take_by_rejection
from pegasos_stats.rng.generator import BLOCK


def words_from(seed, blocks):
    """Give the words of numpy's generator."""
    return np.random.MT19937(seed).random_raw(BLOCK * blocks).astype(np.int64)


def definition(n, words):
    """R's sample(n, n) by rejection, in the plainest words."""
    words, pool, out = iter(words), list(range(n)), []
    for left in range(n, 0, -1):
        bits = (left - 1).bit_length()
        while True:
            v = 0
            for _ in range(bits // 16 + 1):
                v = v * 65536 + int(next(words) >> 16)
            v %= 2**bits
            if v < left:
                break
        out.append(pool[v])
        pool[v] = pool[left - 1]
    return out


@pytest.mark.parametrize("n", [1, 2, 3, 10, 257, 1000, 66_000])
@pytest.mark.parametrize("piece", [7, 600, 10**6])
def test_permutations_are_those_of_the_definition(n, piece):
    words = words_from(n, 4 + 5 * n // BLOCK)
    out, pool, done, at, stop = np.empty(n, dtype=np.int64), np.arange(n), 0, 0, 0
    while done < n:
        stop = min(stop + piece, words.size)
        done, at = take_by_rejection(out, done, words[:stop], at, pool)
    np.testing.assert_array_equal(out, definition(n, words))


@pytest.mark.parametrize(("n", "size"), [(10, 3), (1000, 1), (66_000, 600), (5, 0)])
def test_fewer_draws_are_the_first_of_a_permutation(n, size):
    words = words_from(n, 4 + 5 * n // BLOCK)
    out = np.empty(size, dtype=np.int64)
    assert take_by_rejection(out, 0, words, 0, np.arange(n))[0] == size
    np.testing.assert_array_equal(out, definition(n, words)[:size])


def test_sums_of_algorithm_sa_are_correctly_rounded():
    with localcontext(prec=50):
        ln2 = Decimal(2).ln()
        terms = [ln2**i / factorial(i) for i in range(1, len(LN2_SUMS) + 1)]
        sums = [sum(terms[: k + 1]) for k in range(len(terms))]
    assert [float(each) for each in sums] == list(LN2_SUMS)
