"""Compensated sums beside exact fractions, where plain sums have no digit left."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.compiled.rows import (
    row_add_exactly,
    row_dot_exactly,
    two_product,
    two_sum,
)
from pegasos_stats.solvers.rounding import squared
from pegasos_stats.solvers.sums import kernel_rows
from tests.solvers.exactly import fractions

UNIT = Fraction(1, 2**53)
P = 30


def exact(high, low=0.0):
    return Fraction(float(high)) + Fraction(float(low))


def cancelling(seed):
    """Two vectors of all sizes whose products almost cancel in pairs."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(P) * 10.0 ** rng.integers(-8, 9, P)
    w = rng.standard_normal(P) * 10.0 ** rng.integers(-8, 9, P)
    x[1::2], w[1::2] = x[::2], -w[::2] * (1.0 + 2.0**-30 * rng.standard_normal(P // 2))
    order = rng.permutation(P)
    x[order[0]] = 0.0
    return x[order], w[order]


@pytest.mark.parametrize(("a", "b"), [(1.0, 2.0**-60), (-1e300, 3.7), (0.1, -0.3)])
def test_a_sum_and_a_product_with_their_rests_are_exact(a, b):
    for first, second in [(a, b), (b, a)]:
        total, rest = two_sum(first, second)
        assert total == first + second
        assert exact(total, rest) == exact(a) + exact(b)
        x, y = first / 2.0**20, math.pi * second
        if abs(x) < 1e290 > abs(y):
            product, rest = two_product(x, y)
            assert product == x * y
            assert exact(product, rest) == exact(x) * exact(y)


@pytest.mark.parametrize("form", [np.atleast_2d, csr_array])
@pytest.mark.parametrize("seed", range(5))
def test_dots_have_twice_the_digits(form, seed):
    x, w = cancelling(seed)
    X = kernel_rows(form(np.vstack([w, x])))
    high, low, size = row_dot_exactly(X, 1, w)
    products = fractions(x) * fractions(w)
    lost = (4 * (P + 2) * UNIT) ** 2 * abs(products).sum()  # Ogita, Rump & Oishi
    assert abs(exact(high, low) - products.sum()) <= lost
    assert abs(exact(high) - products.sum()) > lost  # the lower digits are needed
    # The size is a plain sum, which rounds once for each of its terms.
    assert size == pytest.approx(float(abs(products).sum()), rel=1e-12)


@pytest.mark.parametrize("form", [np.atleast_2d, csr_array])
def test_sums_of_rows_have_twice_the_digits(form):
    rows = np.vstack([cancelling(seed)[0] for seed in range(6)])
    factors = cancelling(9)[1][:6]
    rows, factors = np.vstack([rows, rows]), np.append(factors, -factors * (1 + 1e-9))
    X, high, low = kernel_rows(form(rows)), np.zeros(P), np.zeros(P)
    size = sum(row_add_exactly(X, i, d, high, low) for i, d in enumerate(factors))
    parts = fractions(factors)[:, None] * fractions(rows)
    lost = (4 * (len(parts) + 2) * UNIT) ** 2 * abs(parts).sum(axis=0)
    apart = abs(fractions(high) + fractions(low) - parts.sum(axis=0))
    assert (apart <= lost).all()
    # what roundings are parts of bounds the errors, and is no looser than the theorem
    assert 0 < apart.sum() <= UNIT * exact(size) <= lost.sum()


@pytest.mark.parametrize("size", [1e-320, 1e-170, 3.0, 1e170, 1.7e308])
@pytest.mark.parametrize("with_low", [False, True])
def test_squares_are_summed_without_leaving_the_range(size, with_low):
    rng = np.random.default_rng(3)
    high = rng.uniform(-1.0, 1.0, P) * size
    low = high * 2.0**-30 * rng.uniform(0.5, 1.0, P) if with_low else None
    m, k = squared(high, low)
    want = ((fractions(high) + fractions(low if with_low else 0.0)) ** 2).sum()
    # some units in the last place, and the squares of the lower parts, 2^-60
    assert abs(exact(m) * Fraction(2) ** k / want - 1) <= 8 * UNIT


@pytest.mark.parametrize("number", [0.0, math.inf, math.nan])
def test_squares_of_nothing_and_of_no_finite_number(number):
    m, k = squared(np.array([0.0, number, -0.0]))
    assert k == 0
    np.testing.assert_equal(m, number)
