"""Widths of the density at the margin, of numbers drawn at random, by other sources.

The rules are those of statsmodels' quantile regression and of R.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.regression import quantile_regression as peer

from pegasos_stats.models.inference import bandwidth

pytestmark = pytest.mark.fuzz

SAME = 1e-9  # the same sums in another order, of numbers that cancel in part
SEEDS = st.integers(0, 2**32 - 1)


def samples():
    return st.tuples(SEEDS, st.integers(4, 60), st.sampled_from([0.1, 0.5, 0.95]))


def drawn(seed, n, inside):
    """Numbers below zero in about that share, some tied."""
    rng = np.random.default_rng(seed)
    u = (rng.standard_normal(n) - norm.ppf(inside)) * 3.0
    return u.round(1) if rng.random() < 0.3 else u


def bofinger(n, tau):
    """As ``bandwidth.rq(hs = FALSE)`` of R's quantreg; statsmodels has ``phi(2 x)``."""
    x = norm.ppf(tau)
    return n**-0.2 * (4.5 * norm.pdf(x) ** 4 / (2.0 * x**2 + 1.0) ** 2) ** 0.2


@given(given_sample=samples())
def test_widths_are_those_of_statsmodels(given_sample):
    u = drawn(*given_sample)
    n, tau = u.size, np.mean(u <= 0.0)
    spread = min(np.std(u, ddof=1), np.subtract(*np.quantile(u, [0.75, 0.25])) / 1.34)
    assume(spread > 1e-3 and 0.0 < tau < 1.0)
    assert bandwidth.silverman(u) == pytest.approx(1.06 * spread * n**-0.2, rel=SAME)
    for ours, theirs in (
        (bandwidth.hall_sheather, peer.hall_sheather),
        (bandwidth.bofinger, bofinger),
    ):
        d = min(theirs(n, tau), 0.9 * min(tau, 1.0 - tau))
        expected = spread * (norm.ppf(tau + d) - norm.ppf(tau - d)) / 2.0
        assert ours(u) == pytest.approx(expected, rel=SAME)


def test_widths_are_r_s(r):
    for seed in range(20):
        u = drawn(seed, 5 + seed, 0.3)
        expected = r.call("bw.nrd", x=u)[0]
        assert bandwidth.silverman(u) == pytest.approx(expected, rel=1e-12)


@given(given_sample=samples())
@pytest.mark.parametrize("rule", ["silverman", "hall-sheather", "bofinger"])
def test_widths_follow_the_units_and_weights(given_sample, rule):
    u = drawn(*given_sample)
    assume(bandwidth.spread(u) > 1e-3)
    of = bandwidth.RULES[rule]
    assert of(4.0 * u) == pytest.approx(4.0 * of(u), rel=SAME)
    # Weights that are 0 leave rows out; their size does not matter.
    w = np.r_[np.full(u.size, 3.0), np.zeros(5)]
    longer = np.r_[u, 100.0 * np.arange(5)]
    quartiles = np.quantile(u, [0.25, 0.75], method="inverted_cdf")
    spread = min(np.std(u, ddof=1), np.ptp(quartiles) / 1.34)
    assume(spread > 1e-3)
    expected = of(u) / bandwidth.spread(u) * spread
    assert of(longer, w) == pytest.approx(expected, rel=SAME)


def test_spread_takes_what_is_not_zero():
    lone = np.r_[np.zeros(9), 7.0]  # no interquartile range
    assert bandwidth.spread(lone) == pytest.approx(np.std(lone, ddof=1))
    assert bandwidth.spread(np.full(5, 2.0)) == 0.0
    assert bandwidth.spread(np.array([3.0])) == 0.0
    assert bandwidth.spread(np.array([1.0, -1.0]), np.array([2.0, 0.0])) == 0.0
    assert bandwidth.share_inside(np.array([0.0, -1.0, -2.0])) == 1.0 - 0.5 / 3.0
    w = np.array([3.0, 1.0])
    assert bandwidth.effective_rows(w, w) == pytest.approx(1.6)
    assert bandwidth.share_inside(np.array([-1.0, 1.0]), w) == 1.0 - 0.5 / 1.6
