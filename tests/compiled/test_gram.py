"""Kernel values and the rows that are kept."""

import math

import numpy as np
import pytest

from pegasos_stats.compiled.pegasos.kernel_pegasos import (
    COMPUTED,
    HITS,
    MEMORY_BUDGET,
    WIDTH,
    add_gram_row,
    blocked,
    diagonal_of,
    gaussian,
    gram_of,
    linear,
    polynomial,
    precomputed,
)

KERNELS = [linear(), polynomial(1, 0.0), polynomial(3, 1.5), gaussian(0.3)]
EACH = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def normal(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def matrix_of(gram, counts=None):
    """All rows, asked for one after the other."""
    n = len(gram.X)
    counts = np.zeros(n, dtype=np.int64) if counts is None else counts
    K = np.zeros((n, n))
    for i in range(n):
        add_gram_row(K[i], 1.0, gram, counts, i)
    return K


def literal(kernel, x, z):
    """One value, every sum a loop from the first feature to the last."""
    total = 0.0
    for a, b in zip(x.tolist(), z.tolist(), strict=True):
        total += (a - b) * (a - b) if kernel.gamma else a * b
    if kernel.gamma:
        return math.exp(-kernel.gamma * total)
    power = total + kernel.offset
    for _ in range(kernel.degree - 1):
        power *= total + kernel.offset
    return power


@EACH
def test_values_are_summed_from_the_first_feature_to_the_last(kernel):
    X = normal(23, 7)
    expected = [[literal(kernel, x, z) for z in X] for x in X]
    np.testing.assert_array_equal(matrix_of(gram_of(kernel, X)), expected)


@EACH
def test_matrix_is_symmetric_in_every_bit(kernel):
    K = matrix_of(gram_of(kernel, normal(WIDTH + 9, 5)))
    np.testing.assert_array_equal(K, K.T)


def test_precomputed_rows_are_those_given_and_none_is_kept():
    given = normal(6, 6)
    gram = gram_of(precomputed(), given)
    np.testing.assert_array_equal(matrix_of(gram), given)
    assert gram.kept.nbytes == 0
    assert gram.tally[COMPUTED] == 0


def test_every_row_is_kept_where_the_budget_allows_it():
    gram = gram_of(gaussian(1.0), normal(50, 4))
    matrix_of(gram)
    matrix_of(gram)
    assert gram.kept.shape == (50, 50)
    assert gram.tally[COMPUTED] == 50
    assert gram.tally[HITS] == 50


@pytest.mark.parametrize("budget", [0, 10_000, 2**20, MEMORY_BUDGET])
def test_memory_stays_within_the_budget_but_for_one_row(budget):
    gram = gram_of(linear(), normal(1500, 2))
    gram = gram_of(linear(), gram.X, budget)
    least = gram.blocks.nbytes + gram.kept[:1].nbytes
    assert gram.blocks.nbytes + gram.kept.nbytes <= max(budget, least)
    assert len(gram.kept) >= 1


@pytest.mark.parametrize("places", [1, 2, 7])
def test_rows_are_right_whatever_was_given_up_before(places):
    n, kernel, rng = 40, gaussian(0.5), np.random.default_rng(5)
    X, counts = normal(n, 3), np.zeros(n, dtype=np.int64)
    K = matrix_of(gram_of(kernel, X))
    gram = gram_of(kernel, X, blocked(X).nbytes + 8 * n * places)
    for i in rng.integers(0, n, 500):
        counts[i] += 1
        row = np.zeros(n)
        add_gram_row(row, 1.0, gram, counts, i)
        np.testing.assert_array_equal(row, K[i])
    assert gram.kept.shape == (places, n)
    np.testing.assert_array_equal(gram.kept, K[gram.owner])
    assert sorted(gram.place[gram.owner]) == list(range(places))
    assert (gram.place >= 0).sum() == places
    assert gram.tally[HITS] + gram.tally[COMPUTED] == 500


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@EACH
def test_the_diagonal_that_bounds_rounding_is_no_less_and_little_more(kernel, scale):
    """Of a kernel, and of the same matrix where that is given."""
    X = scale * normal(20, 4)
    K = matrix_of(gram_of(kernel, X))
    for size in (diagonal_of(kernel, X), diagonal_of(precomputed(), K)):
        assert (np.diag(K) <= size).all()
        # above it by 1% of a product, of its power with the offset, and of the whole
        assert (size <= 1.01**4 * np.diag(K) + 1e-300).all()
