"""Steps on pairs of dual weights: the best ones, found by looking at all."""

import numpy as np
import pytest

from pegasos_stats.compiled import working_sets

LAM = 0.4


def halfway(seed, n):
    """Weighted, unbalanced rows, their dual weights inside and at both bounds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * 10.0 ** rng.uniform(-1, 1, (n, 1))
    y = np.where(rng.random(n) < 0.25, 1.0, -1.0)
    weights = rng.uniform(0.1, 3.0, n)
    a = weights * rng.choice([0.0, 0.3, 0.9, 1.0], n)
    K = X @ X.T
    return K, y, weights, a, K @ (a * y) / (LAM * n)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_a_step_is_the_best_of_all(seed, intercept):
    """Without intercept a row of zeros, which may always move, is one of the pair."""
    n = 23
    K, y, weights, a, scores = halfway(seed, n)
    scale, slope = LAM * n, y - scores
    rises = np.where(y > 0, a < weights, a > 0)
    falls = np.where(y > 0, a > 0, a < weights)
    norms = np.diag(K)
    if not intercept:
        slope, norms = np.append(slope, 0.0), np.append(norms, 0.0)
        rises, falls = np.append(rises, True), np.append(falls, True)
    inner = np.zeros((norms.size, norms.size))
    inner[:n, :n] = K
    i = np.where(rises, slope, -np.inf).argmax()
    fall, apart = slope[i] - slope, norms[i] + norms - 2.0 * inner[i]
    gain = np.where(falls & (fall > 0), fall**2 / np.where(apart > 0, apart, 1), -1.0)

    def dual(a):
        return a.sum() - (a * y) @ K @ (a * y) / scale / 2

    rows = working_sets.working_set(K, y, weights, a, slope[:n], intercept)
    assert working_sets.pair_steps(rows, scale, 0.0, 1) == 1
    two = rows.a[:n]
    assert set(np.flatnonzero(two != a)) == {i, gain.argmax()} - {n}
    assert ((two >= 0) & (two <= weights)).all()
    if intercept:
        assert two @ y == pytest.approx(a @ y, abs=1e-13)  # two roundings of weights
    # Terms of up to 1e4, summed in another order.
    np.testing.assert_allclose(y - rows.slope[:n], K @ (two * y) / scale, atol=1e-11)
    for share in (0.0, 0.5, 0.99, 1.01, 1.5):
        other = a + share * (two - a)
        if ((other >= 0) & (other <= weights)).all():
            assert dual(other) < dual(two)


@pytest.mark.parametrize("intercept", [True, False])
def test_steps_end_where_no_slopes_differ_by_more(intercept):
    """150 rows: two whole pieces and part of a third."""
    K, y, w, a, scores = halfway(3, 150)
    scale, least = LAM * 150, 1e-6
    rows = working_sets.working_set(K, y, w, a, y - scores, intercept)
    assert 0 < working_sets.pair_steps(rows, scale, least, 10**6) < 10**6
    a, slope = rows.a[:150], y - K @ (rows.a[:150] * y) / scale
    highest = slope[np.where(y > 0, a < w, a > 0)].max()
    lowest = slope[np.where(y > 0, a > 0, a < w)].min()
    if not intercept:
        highest, lowest = max(highest, 0.0), min(lowest, 0.0)
    assert highest - lowest <= least + 1e-9  # slopes of up to 1e4, summed anew


def test_no_step_is_taken_where_nothing_may_move():
    """Of one class none may fall from 0, and none may rise from its weight."""
    K, _, weights, _, _ = halfway(0, 23)
    for a in (np.zeros(23), weights):
        given = np.ones(23), weights, a, np.ones(23)
        rows = working_sets.working_set(K, *given, intercept=True)
        assert working_sets.pair_steps(rows, 1.0, 0.0, 5) == 0
