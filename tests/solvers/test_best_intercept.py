"""The refitted intercept: the root in many digits, the kinks one by one, and R."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import expit

from pegasos_stats.solvers.intercept import best_intercept
from tests.parity.equality import assert_same_bits

ROUNDING = 1e-14  # of 1 + max |z|: what best_intercept() promises for the log loss


def exact_root(scores, y, w):
    """Root of sum w / (1 + exp(-z)) = sum w [y > 0], by halving, in many digits."""
    with localcontext() as context:
        context.prec = 300  # a tail of exp(-600) beside 1
        rows = [
            (Decimal(float(s)), Decimal(float(v)))
            for s, v in zip(scores, w, strict=True)
        ]
        plus = sum(
            (v for (_, v), sign in zip(rows, y, strict=True) if sign > 0), Decimal(0)
        )
        low = min(-s for s, _ in rows) - 2000
        high = max(-s for s, _ in rows) + 2000
        for _ in range(72):
            middle = (low + high) / 2
            seen = sum(v / (1 + (-(s + middle)).exp()) for s, v in rows)
            low, high = (middle, high) if seen < plus else (low, middle)
        return float(middle)


def drawn(seed):
    """Scores of many sizes, unbalanced classes, weights of many kinds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    scores = rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 2.5) + rng.uniform(-9, 9)
    if seed % 4 == 0:  # every row far on the wrong side: the loss is flat between
        scores = -y * rng.uniform(20.0, 300.0, n)
    if seed % 4 == 1:  # every row far on its own side
        scores = y * rng.uniform(20.0, 300.0, n)
    weights = [np.ones(n), rng.integers(0, 4, n), rng.uniform(0, 2, n)]
    w = np.asarray(weights[seed % 3], dtype=float)
    w[:2] = 1.0
    return scores, y, w


# Each of 4 kinds of scores with each of 3 kinds of weights.
@pytest.mark.parametrize("seed", range(12))
def test_the_log_loss_has_its_root_where_more_digits_have_it(seed):
    scores, y, w = drawn(seed)
    alpha, exact = best_intercept(scores, y, "log", w), exact_root(scores, y, w)
    # Weights that are no whole numbers are summed to 1e-16 only, and sums that differ
    # by less than 1e-12 are the same: where the loss is flat that moves the root.
    plus = w[y > 0].sum()
    tails = (w * expit(-np.abs(scores + exact))).sum()
    if (w != np.round(w)).any() and tails < 1e-3 * plus:
        assert abs((w * expit(scores + alpha)).sum() - plus) <= 1e-12 * w.sum()
    else:
        assert abs(alpha - exact) <= ROUNDING * (1.0 + np.abs(scores + exact).max())


@pytest.mark.parametrize("seed", range(0, 60, 3))
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_row_of_weight_zero_changes_nothing(seed, loss):
    scores, y, w = drawn(seed)
    without = best_intercept(scores, y, loss, w)
    more = np.append(scores, [1e9, -1e9]), np.append(y, [1.0, -1.0])
    assert best_intercept(*more, loss, np.append(w, [0.0, 0.0])) == without


@pytest.mark.parametrize("ratio", [1e-300, 1e-13, 1e-6, 1.0, 1e6, 1e13, 1e300])
def test_the_hinge_is_least_at_its_middle_however_light_a_class(ratio):
    for rng in map(np.random.default_rng, range(40)):
        y = np.where(rng.random(14) > 0.5, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        scores = np.round(rng.standard_normal(14) * 4.0) / 2.0
        w = np.where(y > 0, 1.0, ratio) * rng.integers(1, 3, 14)
        alpha = best_intercept(scores, y, "hinge", w)
        below, above = least_kinks(scores, y, w)
        assert alpha == (below + above) / 2.0


def least_kinks(scores, y, w):
    """Ends of the stretch where the slope is 0, else twice the kink, exactly."""
    kinks = np.unique(y - scores)
    exact = [Decimal(float(v)) for v in w]
    goal = sum(v for v, sign in zip(exact, y, strict=True) if sign > 0)
    with localcontext() as context:
        context.prec = 700
        passed = [
            sum(v for v, k in zip(exact, y - scores, strict=True) if k <= kink)
            for kink in kinks
        ]
        first = next(k for k, total in enumerate(passed) if total >= goal)
    return kinks[first], kinks[first + (passed[first] == goal)]


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_exchanging_the_classes_changes_the_sign_alone(loss):
    for seed in range(60):
        scores, y, w = drawn(seed)
        alpha = best_intercept(scores, y, loss, w)
        other = best_intercept(-scores, -y, loss, w)
        assert other == pytest.approx(
            -alpha, rel=0, abs=ROUNDING * (1.0 + np.abs(scores + alpha).max())
        )


@pytest.mark.parametrize("seed", range(60))
def test_r_finds_the_same_intercept(r, seed):
    scores, y, w = drawn(seed)
    for loss in ("hinge", "log"):
        ours = best_intercept(scores, y, loss, w)
        theirs = r.call("best_intercept", scores, y, loss, w)[0]
        if loss == "hinge":
            assert_same_bits(ours, theirs, "intercept")
        else:
            allowed = ROUNDING * (1.0 + np.abs(scores + theirs).max())
            assert abs(ours - theirs) <= allowed
