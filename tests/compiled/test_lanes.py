"""Vector registers: each operation, compiled, is what numpy computes by its text."""

import itertools

import numpy as np
import pytest
from numba import njit

import pegasos_stats.compiled.compiling  # noqa: F401, knows what to emit for lanes
from pegasos_stats.compiled.arithmetic.lanes import (
    all_apart,
    below,
    every,
    exponent,
    fused,
    lane,
    lanes,
    load,
    load_part,
    power_of_two,
    shifted,
    store,
    total,
    totals,
    where_below,
)

A = np.array([0.3, -1.0, 2.5, -0.0])
B = np.array([1.5, 0.1, -4.0, 7.0])


@njit
def apart(x, centre, distance):
    return all_apart(load(x, 0), centre, distance)


@pytest.mark.parametrize("far", list(itertools.product([False, True], repeat=4)))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_all_are_apart_if_each_is(far, side):
    x = 1.0 + side * np.where(far, 0.26, 0.25)  # 0.25 is not farther than 0.25
    assert apart(x, 1.0, 0.25) is all(far)
    assert apart.py_func(x, 1.0, 0.25) is all(far)


@njit
def rearranged(a, b, out):
    x, y = load(a, 0), load(b, 0)
    store(out[0], 0, below(x, 0.3))
    store(out[1], 0, where_below(x, 0.3, y))
    store(out[2], 0, every(x, 2))
    store(out[3], 0, shifted(9.0, x))
    store(out[4], 0, lanes(lane(x, 0), lane(x, 3), 5.0, -1.0))
    store(out[5], 0, load_part(b, 1, 2))
    store(out[6], 0, totals(x, y, x * y, x - y))
    store(out[7], 0, fused(x, y, x))
    return total(x)


def test_lanes_are_moved_and_added_as_numpy_does_it():
    ours, plain = np.zeros((8, 4)), np.zeros((8, 4))
    assert rearranged(A, B, ours) == rearranged.py_func(A, B, plain)
    exact = slice(0, 7)
    np.testing.assert_array_equal(ours[exact], plain[exact])
    # one rounding or two
    np.testing.assert_allclose(ours[7], plain[7], rtol=0, atol=2.0**-52 * 10.0)


def test_single_precision_is_widened_as_it_is_read():
    ours, plain = np.zeros((8, 4)), np.zeros((8, 4))
    rearranged(A.astype(np.float32), B.astype(np.float32), ours)
    rearranged.py_func(A.astype(np.float32), B.astype(np.float32), plain)
    np.testing.assert_array_equal(ours[:7], plain[:7])


@njit
def powers(k, a, out):
    store(out[0], 0, power_of_two(load(k, 0)))
    store(out[1], 0, exponent(load(a, 0)))


def test_powers_of_two_and_exponents_are_exact():
    for k in ([0.0, 1.0, -1.0, 10.0], [1023.0, -1022.0, 52.0, -53.0]):
        whole = 2.0 ** np.array(k)
        for a in (whole, whole * 1.5, whole * (2.0 - 2.0**-52)):
            for form in (powers, powers.py_func):
                out = np.zeros((2, 4))
                form(np.array(k), a, out)
                np.testing.assert_array_equal(out, [whole, k])
