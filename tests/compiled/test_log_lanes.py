"""Exponentials and logarithms in lanes, against 40 digits of them."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numba import njit

import pegasos_stats.compiled.compiling  # noqa: F401, knows what to emit for lanes
from pegasos_stats.compiled.arithmetic.lanes import load, store
from pegasos_stats.compiled.arithmetic.risk import entropies, log_losses
from tests.solvers.exactly import TEN, log_loss

# Half of what `rounding.LIBRARY` takes the whole loss of a margin to be off by.
CLOSE = 8.0 * 2.0**-53


@njit
def put(x, losses, slopes, rewards):
    for i in range(0, x.size, 4):
        loss, slope = log_losses(load(x, i))
        store(losses, i, loss)
        store(slopes, i, slope)
        store(rewards, i, entropies(load(x, i)))


def found(x):
    losses, slopes, rewards = (np.empty(len(x)) for _ in range(3))
    put(np.asarray(x), losses, slopes, rewards)
    return losses, slopes, rewards


def exact_slope(m):
    m = TEN.divide(Decimal(m.numerator), Decimal(m.denominator))
    return Fraction(TEN.divide(Decimal(1), TEN.add(Decimal(1), TEN.exp(m))))


def exact_entropy(a):
    if a in (0, 1):
        return Fraction(0)
    least = min(a, 1 - a)
    if least < 1e-25:  # so that log(1 - least) is -least to 25 digits
        least = TEN.divide(Decimal(least.numerator), Decimal(least.denominator))
        return Fraction(TEN.multiply(least, 1 - TEN.ln(least)))
    one, other = (
        TEN.divide(Decimal(k.numerator), Decimal(k.denominator)) for k in (a, 1 - a)
    )
    return -Fraction(one * TEN.ln(one) + other * TEN.ln(other))


def are_close(ours, exact):
    return all(
        abs(Fraction(float(each)) - value) <= Fraction(CLOSE) * value
        for each, value in zip(ours, exact, strict=True)
    )


def margins():
    rng = np.random.default_rng(1)
    sizes = np.repeat([1e-12, 1e-3, 1.0, 30.0, 230.0], 40)
    edge = np.log(np.sqrt(2.0) - 1.0)
    edges = [edge, -edge, -np.nextafter(edge, 0.0), -np.nextafter(edge, -1.0)]
    halves = np.log(2.0) * np.array([0.5, 1.5, 20.5, 1020.5])
    return np.r_[rng.normal(size=200) * sizes, edges, halves, 0.0, -0.0, 708.0, -708.0]


def weights():
    rng = np.random.default_rng(2)
    scales = np.repeat([1e-300, 1e-20, 1e-3, 1.0], 40)
    inner = rng.random(160) * scales
    ends = [0.0, 1.0, 0.5, np.sqrt(0.5), 1.0 - np.sqrt(0.5), 2.0**-1022, 0.25, 0.75]
    return np.r_[inner, 1.0 - inner, ends]


def test_losses_and_slopes_of_margins_are_right_to_four_units():
    m = margins()
    losses, slopes, _ = found(m)
    exact = [Fraction(float(each)) for each in m]
    assert are_close(losses, map(log_loss, exact))
    assert are_close(slopes, map(exact_slope, exact))


def test_entropies_are_right_to_four_units():
    a = weights()
    *_, rewards = found(a)
    assert are_close(rewards, (exact_entropy(Fraction(float(each))) for each in a))


def test_of_margins_far_away_losses_are_straight_and_slopes_0_or_1():
    m = np.array([745.0, -745.0, 745.2, -745.2, 800.0, -800.0, 1e300, -1e300])
    losses, slopes, _ = found(m)
    slope = [math.exp(min(0.0, -x)) for x in m]
    loss = [-x if x < 0.0 else math.exp(-x) for x in m]
    # A double of 5e-324 is the least one, and half of it 0.
    np.testing.assert_allclose(losses, loss, rtol=0.0, atol=5e-324)
    np.testing.assert_allclose(slopes, slope, rtol=0.0, atol=5e-324)


def test_a_margin_that_is_not_finite_has_no_loss():
    with np.errstate(invalid="ignore"):  # of the Python forms
        losses, slopes, _ = found([np.inf, -np.inf, np.nan, 0.0])
    assert np.isnan(losses).tolist() == [True, True, True, False]
    assert np.isnan(slopes).tolist() == [True, True, True, False]


def test_an_entropy_below_the_smallest_normal_number_is_no_larger_than_it_is():
    a = np.array([5e-324, 1e-310, 0.0, 1e-308])
    *_, rewards = found(a)
    exact = [float(exact_entropy(Fraction(float(each)))) for each in a]
    assert (rewards >= 0.0).all()
    assert (rewards <= exact).all()
