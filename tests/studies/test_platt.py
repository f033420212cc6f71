"""Platt's sigmoid: the regularised likelihood, scores of any size, scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration

from pegasos_stats.studies.calibration import fit_sigmoid
from pegasos_stats.studies.reliability import logistic_objective

# scikit-learn minimises the same likelihood by L-BFGS to a gradient of 1e-6.
PEER_ATOL = 1e-6


def drawn(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 200))
    scores = rng.normal(size=n) * 10 ** rng.uniform(-3, 3)
    y = np.where(rng.random(n) < expit(scores), 1.0, -1.0)
    y[:2] = [-1.0, 1.0]
    return y, scores, rng.integers(1, 4, n).astype(float)


def slope(y, scores, weights, found):
    """Gradient in A and B of the regularised likelihood."""
    upper, lower = weights[y > 0].sum(), weights[y < 0].sum()
    targets = np.where(y > 0, (upper + 1) / (upper + 2), 1 / (lower + 2))
    p = expit(found.logits(scores))
    return weights @ ((targets - p) * scores), weights @ (targets - p)


@pytest.mark.parametrize("seed", range(12))
def test_the_sigmoid_is_at_the_optimum(seed):
    y, scores, weights = drawn(seed)
    found = fit_sigmoid(y, scores, weights)
    by_A, by_B = slope(y, scores, weights, found)
    rounding = 1e-6 * weights.sum()  # the decrement is its square: 1e-14 of the loss
    assert abs(by_A) <= rounding * np.abs(scores).max()
    assert abs(by_B) <= rounding


@pytest.mark.parametrize("seed", range(8))
def test_the_sigmoid_is_that_of_scikit_learn(seed):
    y, scores, weights = drawn(seed)
    scale = np.abs(scores).max() / 5  # where their L-BFGS is well scaled
    for w in (None, weights):
        ours = fit_sigmoid(y, scores / scale, w)
        theirs = _SigmoidCalibration().fit(scores / scale, y, w)
        columns = np.column_stack([scores / scale, np.ones(len(y))])
        losses = [
            regularised(y, columns, w, pair)
            for pair in ((ours.A, ours.B), (theirs.a_, theirs.b_))
        ]
        assert losses[0] <= losses[1] * (1 + 1e-14)
        assert pytest.approx((theirs.a_, theirs.b_), abs=PEER_ATOL) == (
            ours.A,
            ours.B,
        )


def regularised(y, columns, weights, pair):
    w = np.ones(len(y)) if weights is None else weights
    upper, lower = w[y > 0].sum(), w[y < 0].sum()
    targets = np.where(y > 0, (upper + 1) / (upper + 2), 1 / (lower + 2))
    return logistic_objective(np.array(pair), columns, targets, w)


def test_extreme_scores_give_a_finite_sigmoid():
    y = np.resize([-1.0, 1.0], 20)
    for scores in (y, 1e8 * y, 1e-8 * y, -y):
        found = fit_sigmoid(y, scores)
        # separated: the targets themselves, (10 + 1) / (10 + 2) and its complement
        assert found.logits(scores) == pytest.approx(y * np.log(11), rel=1e-6)
    for scores in (np.zeros(20), np.full(20, 3.0)):
        found = fit_sigmoid(y, scores)  # ten of each: an even chance
        assert found.logits(scores) == pytest.approx(np.zeros(20), abs=1e-6)
    lonely = fit_sigmoid(np.ones(4), np.arange(4.0))
    assert lonely.logits(np.zeros(1)) == pytest.approx(np.log(5), rel=1e-6)


@pytest.mark.parametrize("power", [-300, 300])
def test_the_unit_of_the_scores_does_not_matter(power):
    """In units that are powers of two every bit stays."""
    y, scores, weights = drawn(3)
    one, other = (fit_sigmoid(y, f, weights) for f in (scores, scores * 2.0**power))
    assert (other.A * 2.0**power, other.B) == (one.A, one.B)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1.7e308])
def test_a_sigmoid_is_finite_whatever_the_size_of_the_scores(size):
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    scores = size * np.array([-1.0, 0.0, 0.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_sigmoid(y, scores)
        logits = found.logits(scores)
    assert found.A <= 0.0
    assert np.isfinite([found.A, found.B, *logits]).all()
    if size >= 1e-200:
        same = fit_sigmoid(y, scores / size)
        # Newton's steps end within 1e-12 of the likelihood, 1e-6 of a coefficient.
        assert found.A * size == pytest.approx(same.A, rel=1e-6)
