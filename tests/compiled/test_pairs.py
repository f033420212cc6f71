"""Steps on pairs and on single dual weights: the best ones, found by looking at all."""

import numpy as np
import pytest

from pegasos_stats.compiled.dual import working_sets

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


@pytest.mark.parametrize("seed", range(12))
def test_a_step_is_the_best_of_all(seed):
    n = 23
    K, y, weights, a, scores = halfway(seed, n)
    scale, slope = LAM * n, y - scores
    rises = np.where(y > 0, a < weights, a > 0)
    falls = np.where(y > 0, a > 0, a < weights)
    i = np.where(rises, slope, -np.inf).argmax()
    fall, apart = slope[i] - slope, K[i, i] + np.diag(K) - 2.0 * K[i]
    gain = np.where(falls & (fall > 0), fall**2 / np.where(apart > 0, apart, 1), -1.0)
    best = np.clip(a + (1.0 - y * scores) * scale / np.diag(K), 0.0, weights)

    def dual(a):
        return a.sum() - (a * y) @ K @ (a * y) / scale / 2

    each = [dual(np.where(np.arange(n) == j, best, a)) for j in range(n)]
    one, f = a.copy(), scores.copy()
    given = K, np.diag(K) / scale, y, weights, scale, 1
    assert working_sets.single_steps(*given, one, f) == 1
    assert np.flatnonzero(one != a).tolist() == [np.argmax(each)]
    assert dual(one) == pytest.approx(max(each), rel=1e-12)

    two = a.copy()
    assert working_sets.pair_steps(K, y, weights, scale, 1, two, scores) == 1
    assert set(np.flatnonzero(two != a)) == {i, gain.argmax()}
    assert ((two >= 0) & (two <= weights)).all()
    assert two @ y == pytest.approx(a @ y, abs=1e-13)  # two roundings of the weights
    # Terms of up to 1e4, summed in another order.
    np.testing.assert_allclose(scores, K @ (two * y) / scale, atol=1e-11)
    for share in (0.0, 0.5, 0.99, 1.01, 1.5):
        other = a + share * (two - a)
        if ((other >= 0) & (other <= weights)).all():
            assert dual(other) < dual(two)


@pytest.mark.parametrize("kind", ["pair", "single"])
@pytest.mark.parametrize("most", [1, 3, 60])
@pytest.mark.parametrize("seed", range(4))
def test_steps_within_a_working_set_are_the_same(seed, most, kind):
    """Two whole pieces and part of a third, in another order than the rows."""
    K, y, w, a, scores = halfway(seed, 190)
    slope, scale = y - scores, LAM * 190
    taken = np.random.default_rng(seed).permutation(190)[:150]
    rows = working_sets.empty_set(150, K.dtype)
    places = np.arange(150)[::-1].copy()
    working_sets.fill(rows, taken, K[taken][::-1].copy(), places, y, w, a, slope)
    within = getattr(working_sets, f"{kind}_steps_within")
    assert within(rows, scale, 0.0, 1e-12, most) == most
    K, a, scores = K[np.ix_(taken, taken)], a[taken], scores[taken]
    given = (K,) if kind == "pair" else (K, np.diag(K) / scale)
    plain = getattr(working_sets, f"{kind}_steps")
    assert plain(*given, y[taken], w[taken], scale, most, a, scores) == most
    # 60 steps at most, rounded in another order: scores are up to 1e4, weights to 3.
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(rows.a[:150], a, **close)
    np.testing.assert_allclose(rows.slope[:150], y[taken] - scores, **close)


def test_no_step_is_taken_where_nothing_may_move():
    """Of one class none may fall from 0, and none may rise from its weight."""
    K, _, weights, _, _ = halfway(0, 23)
    for a in (np.zeros(23), weights):
        given = K, np.ones(23), weights, 1.0, 5, a.copy(), np.zeros(23)
        assert working_sets.pair_steps(*given) == 0
