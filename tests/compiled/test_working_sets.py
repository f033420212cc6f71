"""Steps within a working set beside the plain steps on the same rows."""

import numpy as np
import pytest

from pegasos_stats.compiled.dual import pairs, working_sets

SEEDS = pytest.mark.parametrize("seed", range(4))
FLAT, LAM = 1e-12, 0.4


def halfway(seed, n=190, m=150):
    """Weighted, unbalanced rows, some weights at a bound, and those that are to move.

    Two whole pieces are taken and part of a third, in another order than the rows.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * 10.0 ** rng.uniform(-1, 1, (n, 1))
    y = np.where(rng.random(n) < 0.25, 1.0, -1.0)
    w = rng.uniform(0.1, 3.0, n)
    a = w * rng.choice([0.0, 0.3, 0.9, 1.0], n)
    K, scale = X @ X.T, LAM * n
    return K, y, w, a, y - K @ (a * y) / scale, rng.permutation(n)[:m], scale


def filled(K, y, w, a, slope, taken):
    rows = working_sets.empty_set(taken.size, K.dtype)
    places = np.arange(taken.size)[::-1].copy()
    working_sets.fill(rows, taken, K[taken][::-1].copy(), places, y, w, a, slope)
    return rows


@pytest.mark.parametrize("kind", ["pair", "single"])
@pytest.mark.parametrize("most", [1, 2, 3, 10, 60])
@SEEDS
def test_steps_are_those_of_pairs(seed, most, kind):
    K, y, w, a, slope, taken, scale = halfway(seed)
    rows = filled(K, y, w, a, slope, taken)
    within = getattr(working_sets, f"{kind}_steps_within")
    assert within(rows, scale, 0.0, FLAT, most) == most
    part, a, scores = K[np.ix_(taken, taken)], a[taken], (y - slope)[taken]
    given = (part,) if kind == "pair" else (part, np.diag(part) / scale)
    plain = getattr(pairs, f"{kind}_steps")
    assert plain(*given, y[taken], w[taken], scale, most, a, scores) == most
    assert_are(rows, a, y[taken] - scores)


def assert_are(rows, a, slope):
    m = a.size
    # 60 steps at most, rounded in another order: scores are up to 1e4, weights to 3.
    np.testing.assert_allclose(rows.a[:m], a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rows.slope[:m], slope, rtol=1e-9, atol=1e-9)
    assert (rows.a[m:] == 0.0).all()


def furthest_apart(rows):
    """Largest slope of a row that may rise, less the least of one that may fall."""
    rises = np.where(rows.y > 0.0, rows.a < rows.w, rows.a > 0.0)
    falls = np.where(rows.y > 0.0, rows.a > 0.0, rows.a < rows.w)
    return rows.slope[rises].max() - rows.slope[falls].min()


@pytest.mark.parametrize("least", [2.0, 0.1])
@SEEDS
def test_pairs_end_where_no_slopes_are_further_apart(seed, least):
    K, y, w, a, slope, taken, scale = halfway(seed)
    rows = filled(K, y, w, a, slope, taken)
    steps = working_sets.pair_steps_within(rows, scale, least, FLAT, 100_000)
    assert 0 < steps < 100_000
    assert furthest_apart(rows) <= least
    again = filled(K, y, w, a, slope, taken)  # one step before it was further
    working_sets.pair_steps_within(again, scale, least, FLAT, steps - 1)
    assert furthest_apart(again) > least


@pytest.mark.parametrize("least", [1.0, 0.1])
@SEEDS
def test_single_steps_end_where_no_row_is_further_from_its_margin(seed, least):
    K, y, w, a, slope, taken, scale = halfway(seed)
    rows = filled(K, y, w, a, slope, taken)
    steps = working_sets.single_steps_within(rows, scale, least, FLAT, 100_000)
    assert 0 < steps < 100_000
    slack = rows.y * rows.slope
    assert slack[rows.a < rows.w].max() <= least
    assert slack[rows.a > 0.0].min() >= -least


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("size", [64, 65])
def test_no_step_is_taken_where_nothing_may_move(share, size):
    """Of one class no two weights may rise and fall; alone each is to leave its box."""
    K, _, w, _, slope, _, scale = halfway(0)
    y, taken, slope = np.ones(w.size), np.arange(size), (2.0 * share - 1.0) * abs(slope)
    rows = filled(K, y, w, share * w, slope, taken)
    assert working_sets.pair_steps_within(rows, scale, 0.0, FLAT, 9) == 0
    assert working_sets.single_steps_within(rows, scale, 0.0, FLAT, 9) == 0
    assert (rows.a[:size] == share * w[:size]).all()
