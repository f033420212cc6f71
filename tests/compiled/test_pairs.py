"""Pairs of dual weights beside a search through all pairs."""

import numpy as np
import pytest

from pegasos_stats.compiled.dual import pairs


def halfway(seed, n=23):
    """Weighted, unbalanced rows, their dual weights inside and at both bounds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * 10.0 ** rng.uniform(-1, 1, (n, 1))
    y = np.where(rng.random(n) < 0.25, 1.0, -1.0)
    weights = rng.uniform(0.1, 3.0, n)
    a = weights * rng.choice([0.0, 0.3, 0.9, 1.0], n)
    K = X @ X.T
    return K, y, weights, a, K @ (a * y) / (0.4 * n)


@pytest.mark.parametrize("seed", range(12))
def test_the_pair_is_the_steepest_row_and_the_one_of_largest_gain(seed):
    K, y, weights, a, scores = halfway(seed)
    slope = y - scores
    rises = np.where(y > 0, a < weights, a > 0)
    falls = np.where(y > 0, a > 0, a < weights)
    i = pairs.steepest(y, weights, a, scores)
    assert i == np.where(rises, slope, -np.inf).argmax()
    fall = slope[i] - slope
    apart = K[i, i] + np.diag(K) - 2.0 * K[i]
    gain = np.where(falls & (fall > 0), fall**2 / np.where(apart > 0, apart, 1), -1.0)
    assert pairs.partner(K, i, y, weights, a, scores) == gain.argmax()


@pytest.mark.parametrize("seed", range(12))
def test_a_step_maximises_the_dual_along_its_pair(seed):
    K, y, weights, a, scores = halfway(seed)
    scale = 0.4 * y.size

    def dual(a):
        return a.sum() - (a * y) @ K @ (a * y) / scale / 2

    before, balance = a.copy(), a @ y
    assert pairs.pair_steps(K, y, weights, scale, 1, a, scores) == 1
    moved = np.flatnonzero(a != before)
    assert moved.size == 2
    assert (a >= 0).all()
    assert (a <= weights).all()
    assert a @ y == pytest.approx(balance, abs=1e-13)  # two roundings of the weights
    # Terms of up to 1e4, summed in another order.
    np.testing.assert_allclose(scores, K @ (a * y) / scale, atol=1e-11)
    for share in (0.0, 0.5, 0.99, 1.01, 1.5):
        other = before + share * (a - before)
        if (other >= 0).all() and (other <= weights).all():
            assert dual(other) < dual(a)


@pytest.mark.parametrize("seed", range(12))
def test_a_single_step_is_the_one_that_gains_most(seed):
    K, y, weights, a, scores = halfway(seed)
    scale = 0.4 * y.size
    curvature = np.diag(K) / scale

    def dual(a):
        return a.sum() - (a * y) @ K @ (a * y) / scale / 2

    best = np.clip(a + (1.0 - y * scores) / curvature, 0.0, weights)
    reached = [dual(np.where(np.arange(y.size) == i, best, a)) for i in range(y.size)]
    before = a.copy()
    given = K, curvature, y, weights, scale, 1
    assert pairs.single_steps(*given, a, scores) == 1
    moved = np.flatnonzero(a != before)
    assert moved.tolist() == [np.argmax(reached)]
    assert a[moved] == pytest.approx(best[moved], rel=1e-12)
    np.testing.assert_allclose(scores, K @ (a * y) / scale, atol=1e-11)


def test_no_pair_is_left_where_nothing_may_move():
    K, y, weights, _, _ = halfway(0)
    none = np.zeros(y.size)
    one = np.ones(y.size)  # one class alone: no weight may fall
    assert pairs.partner(K, 0, one, weights, none, none) == -1
    assert pairs.steepest(one, weights, weights.copy(), none) == -1
    # of the same class none may fall from 0, and none may rise from its weight
    for a in (none, weights):
        assert pairs.pair_steps(K, one, weights, 1.0, 5, a.copy(), none.copy()) == 0
