"""Steps on pairs and on single dual weights: the best ones, found by looking at all."""

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
    rows = working_sets.whole_set(K, y, weights, a, slope)
    assert working_sets.single_steps(rows, scale, 0.0, 1e-12, 1) == 1
    one = rows.a[:n]
    assert np.flatnonzero(one != a).tolist() == [np.argmax(each)]
    assert dual(one) == pytest.approx(max(each), rel=1e-12)

    rows = working_sets.whole_set(K, y, weights, a, slope)
    assert working_sets.pair_steps(rows, scale, 0.0, 1e-12, 1) == 1
    two = rows.a[:n]
    assert set(np.flatnonzero(two != a)) == {i, gain.argmax()}
    assert ((two >= 0) & (two <= weights)).all()
    assert two @ y == pytest.approx(a @ y, abs=1e-13)  # two roundings of the weights
    # Terms of up to 1e4, summed in another order.
    np.testing.assert_allclose(y - rows.slope[:n], K @ (two * y) / scale, atol=1e-11)
    for share in (0.0, 0.5, 0.99, 1.01, 1.5):
        other = a + share * (two - a)
        if ((other >= 0) & (other <= weights)).all():
            assert dual(other) < dual(two)


@pytest.mark.parametrize("kind", ["pair", "single"])
@pytest.mark.parametrize("most", [1, 3, 60])
@pytest.mark.parametrize("seed", range(4))
def test_a_working_set_filled_from_rows_that_are_kept_is_the_same(seed, most, kind):
    """Two whole pieces and part of a third; rows of the matrix are kept in disorder."""
    K, y, w, a, scores = halfway(seed, 190)
    slope, scale = y - scores, LAM * 190
    taken = np.random.default_rng(seed).permutation(190)[:150]
    rows = working_sets.empty_set(150)
    places = np.arange(150)[::-1].copy()
    working_sets.fill(rows, taken, K[taken][::-1].copy(), places, y, w, a, slope)
    K = K[np.ix_(taken, taken)]
    given = K, y[taken], w[taken], a[taken], slope[taken]
    whole, steps = (
        working_sets.whole_set(*given),
        getattr(working_sets, f"{kind}_steps"),
    )
    assert steps(rows, scale, 0.0, 1e-12, most) == most
    assert steps(whole, scale, 0.0, 1e-12, most) == most
    # 60 steps at most, rounded in another order: scores are up to 1e4, weights to 3.
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(rows.a, whole.a, **close)
    np.testing.assert_allclose(rows.slope[:150], whole.slope[:150], **close)


def test_no_step_is_taken_where_nothing_may_move():
    """Of one class none may fall from 0, and none may rise from its weight."""
    K, _, weights, _, _ = halfway(0, 23)
    for a in (np.zeros(23), weights):
        rows = working_sets.whole_set(K, np.ones(23), weights, a, np.ones(23))
        assert working_sets.pair_steps(rows, 1.0, 0.0, 1e-12, 5) == 0
