"""Dual weights of two classes with the same sum, counted in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic import risk
from pegasos_stats.solvers.objective import balanced, feasible


def excess(a, y):
    """How much larger the sum of the positive class is."""
    return sum(Fraction(float(w)) * int(s) for w, s in zip(a, y, strict=True))


def unbalanced(seed, size, n=41):
    """Weights of all sizes, some 0, of two classes one of which is rare."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < rng.choice([0.1, 0.8]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    a = rng.random(n) * 10.0 ** rng.integers(-9, 1, n) * (rng.random(n) < 0.8) * size
    a[:2] = 0.5 * size, 0.25 * size
    return a, read_only(y)


def compiled(a, y):
    a = a.copy()
    risk.balance(a, y)
    return a


WAYS = pytest.mark.parametrize("balance", [compiled, balanced])


@WAYS
@pytest.mark.parametrize("size", [5e-324 * 2**8, 1e-300, 1.0, 3e5, 1.7e308])
@pytest.mark.parametrize("seed", range(8))
def test_weights_are_lowered_to_exactly_the_same_sums(seed, size, balance):
    before, y = unbalanced(seed, size)
    a = balance(before, y)
    assert excess(a, y) == 0
    assert (a >= 0.0).all()
    assert (a <= before).all()
    assert a.max() > 0.0
    sums = {s: Fraction(0) for s in (1.0, -1.0)}
    for w, s in zip(before, y, strict=True):
        sums[s] += Fraction(float(w))
    ratio = min(sums.values()) / max(sums.values())
    unit = max(Fraction(float(before.max())) * Fraction(1, 2**52), Fraction(1, 2**1074))
    for old, new, s in zip(before, a, y, strict=True):
        share = 1 if sums[s] == min(sums.values()) else ratio
        # cut to units; products, sums and what is taken off the first: some units each
        assert abs(Fraction(float(new)) - share * Fraction(float(old))) <= 4 * 41 * unit
    np.testing.assert_array_equal(balance(a, y), a)


@WAYS
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_class_without_weights_leaves_none_to_the_other(sign, balance):
    y = read_only(np.array([1.0, -1.0, 1.0, -1.0]))
    a = balance(np.where(y == sign, 0.7, 0.0), y)
    assert not a.any()
    assert not balance(a, y).any()


def test_weights_are_clipped_to_their_boxes():
    a = np.array([-1.0, 0.0, 0.5, 2.0, np.nan, np.inf, -np.inf])
    weights = np.array([1.0, 1.0, 1.0, 1.5, 1.0, 0.25, 1.0])
    found = feasible(a, np.ones(7), False, weights)
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.5, 1.5, 0.0, 0.25, 0.0])
