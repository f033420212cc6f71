"""The width of the kernel at the margin, of numbers drawn at random, is R's bw.nrd."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pegasos_stats.models.inference.sandwich import silverman

pytestmark = pytest.mark.fuzz

SAME = 1e-9  # the same sums in another order, of numbers that cancel in part
SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(n) * 3.0
    return u.round(1) if rng.random() < 0.3 else u


def test_it_is_r_s(r):
    for seed in range(20):
        u = drawn(seed, 5 + seed)
        assert silverman(u) == pytest.approx(r.call("bw.nrd", x=u)[0], rel=1e-12)


@given(seed=SEEDS, n=st.integers(4, 60))
def test_it_follows_units_and_weights(seed, n):
    u = drawn(seed, n)
    deviation = np.std(u, ddof=1)
    spread = min(deviation, np.subtract(*np.quantile(u, [0.75, 0.25])) / 1.34)
    assume(spread > 1e-3)
    assert silverman(u) == pytest.approx(1.06 * spread * n**-0.2, rel=SAME)
    assert silverman(4.0 * u) == pytest.approx(4.0 * silverman(u), rel=SAME)
    # Weights that are 0 leave rows out; their size does not matter.
    w, longer = np.r_[np.full(n, 3.0), np.zeros(5)], np.r_[u, 100.0 * np.arange(5)]
    quartiles = np.quantile(u, [0.25, 0.75], method="inverted_cdf")
    spread = min(deviation, np.ptp(quartiles) / 1.34)
    assume(spread > 1e-3)
    assert silverman(longer, w) == pytest.approx(1.06 * spread * n**-0.2, rel=SAME)


def test_what_is_zero_is_no_spread():
    lone = np.r_[np.zeros(9), 7.0]  # no interquartile range
    expected = 1.06 * np.std(lone, ddof=1) * 10**-0.2
    assert silverman(lone) == pytest.approx(expected)
    assert silverman(np.full(5, 2.0)) == silverman(np.array([3.0])) == 0.0
