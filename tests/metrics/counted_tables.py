"""Tables of counts drawn at random, and how two statistics are compared."""

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.stats import norm

from pegasos_stats.metrics.intervals import area_and_variance, area_interval

SAME = 1e-12  # a few operations on counts
NAN = float("nan")


def tables(least=1, most=4):
    """Counts that are rarely balanced: some cells are large, some empty."""
    cells = st.one_of(st.integers(0, 3), st.integers(0, 200))

    def square(k):
        row = st.lists(cells, min_size=k, max_size=k)
        return st.lists(row, min_size=k, max_size=k).map(np.array)

    return st.integers(least, most).flatmap(square)


def rows_of(counts):
    """Actual and predicted position of every row of the table."""
    cells = np.ndindex(counts.shape)
    pairs = [pair for pair in cells for _ in range(counts[pair])]
    return np.array(pairs, dtype=int).reshape(-1, 2).T


def auc_interval(codes, scores, level=0.95, scale="logit"):
    """The interval of the area, or pROC's: ``A +- z sqrt(V)``, cut off at 0 and 1."""
    area, variance = area_and_variance(codes, scores)
    if scale == "logit":
        return area_interval(area, variance, level)
    half = norm.ppf((1.0 + level) / 2.0) * np.sqrt(variance)
    return max(area - half, 0.0), min(area + half, 1.0)


def divided(a, b):
    return a / b if b else NAN


def same(ours, theirs, rel=SAME):
    # A sum that is 0 in one order may be a rounding of numbers up to 1 in another.
    assert ours == pytest.approx(theirs, rel=rel, abs=1e-15, nan_ok=True)
