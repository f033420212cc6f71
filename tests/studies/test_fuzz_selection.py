"""Folds, metrics, paths and calibration of unbalanced, weighted and tied rows.

What is compared with: scipy's optimisers, scikit-learn, and the definitions, row by
row. Whole weights are the same as rows written down so often.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn import metrics as peer

import pegasos_stats as ps
from pegasos_stats.studies import fold_fits as metrics
from pegasos_stats.studies.calibration import (
    cross_fitted_logits,
    fit_sigmoid,
    sigmoid_of,
)
from pegasos_stats.studies.cross_validation import lambda_grid
from pegasos_stats.studies.fold_fits import at_lambda, next_dual
from pegasos_stats.studies.folds import Folds

SEEDS = st.integers(0, 2**32 - 1)


def scored(seed, n=None):
    """Labels with a rare level, scores that overlap, whole weights, some zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60)) if n is None else n
    y = np.where(rng.random(n) < rng.choice([0.1, 0.5, 0.9]), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    scores = rng.choice([0.3, 40.0]) * (y + 2.0 * rng.standard_normal(n)) - 1.0
    w = rng.integers(0, 4, n).astype(float)
    w[:2] += 1.0
    return y, scores, w, rng


@pytest.mark.fuzz
@given(seed=SEEDS, factor=st.sampled_from([-1.0, 0.125, 64.0]))
def test_the_sigmoid_follows_rows_units_and_names_of_the_levels(seed, factor):
    y, scores, w, _ = scored(seed)
    found = fit_sigmoid(y, scores, w)
    rows = np.repeat(np.arange(y.size), w.astype(int))
    again = fit_sigmoid(y[rows], scores[rows])
    units = fit_sigmoid(y, factor * scores, w)
    swapped = fit_sigmoid(-y, scores, w)
    shifted = fit_sigmoid(y, scores + 3.0, w)
    z = found.A * scores + found.B
    # Each is within 1e-14 of its least value: the root of it, times the curvature.
    near = {"rtol": 1e-4, "atol": 1e-4}
    np.testing.assert_allclose(again.A * scores + again.B, z, **near)
    np.testing.assert_allclose(units.A * factor * scores + units.B, z, **near)
    np.testing.assert_allclose(swapped.A * scores + swapped.B, -z, **near)
    np.testing.assert_allclose(shifted.A * (scores + 3.0) + shifted.B, z, **near)


@pytest.mark.fuzz
@given(seed=SEEDS, repeats=st.integers(1, 3))
def test_a_row_counts_once_however_often_it_was_held_out(seed, repeats):
    y, first, w, rng = scored(seed)
    scores = first[:, None] + rng.standard_normal((y.size, repeats))
    scores[rng.random(scores.shape) < 0.3] = np.nan
    scores[:2, 0] = first[:2]
    known = ~np.isnan(scores)
    times = known.sum(axis=1)
    labels = np.repeat(y, times)
    shares = np.repeat(w / np.maximum(times, 1), times)
    expected = fit_sigmoid(labels, scores[known], shares)
    found = sigmoid_of(y, scores, w, fit_sigmoid)
    assert pytest.approx((expected.A, expected.B), rel=1e-9) == (found.A, found.B)


@pytest.mark.fuzz
@given(seed=SEEDS, k=st.integers(2, 4), repeats=st.integers(1, 2))
def test_no_row_is_in_its_own_sigmoid(seed, k, repeats):
    y, first, w, rng = scored(seed, 40)
    y[:12] = np.tile([1.0, -1.0], 6)
    w[:12] = 1.0 + np.arange(12) % 3
    folds = Folds.stratified(y, k, repeats=repeats, seed=int(rng.integers(1000)))
    scores = np.column_stack([first * (1.0 + r) for r in range(repeats)])
    found = cross_fitted_logits(folds, y, scores, w, fit_sigmoid)
    for r, line in enumerate(folds.assignment):
        for j in range(1, k + 1):
            test, rest = line == j, line != j
            alone = fit_sigmoid(y[rest], scores[rest, r], w[rest])
            np.testing.assert_allclose(found[test, r], alone.logits(scores[test, r]))


@pytest.mark.fuzz
@given(seed=SEEDS)
def test_metrics_are_those_of_scikit_learn_with_weights(seed):
    y, scores, w, _ = scored(seed)
    at = (y, scores[None], w, "na")
    error = 1.0 - peer.accuracy_score(y, np.sign(scores), sample_weight=w)
    assert metrics.error_rate(*at)[0] == pytest.approx(error, rel=1e-9, abs=1e-12)
    hinge = peer.hinge_loss(y, scores, sample_weight=w)
    assert metrics.MEASURES["hinge_loss"](*at)[0] == pytest.approx(hinge, rel=1e-9)
    likelihood = np.average(np.log1p(np.exp(-y * scores)), weights=w)
    assert metrics.MEASURES["log_loss"](*at)[0] == pytest.approx(likelihood, rel=1e-9)
    brier = np.average((expit(scores) - (y > 0)) ** 2, weights=w)
    assert metrics.brier_score(*at)[0] == pytest.approx(brier, rel=1e-9)
    area = peer.roc_auc_score(y, scores, sample_weight=w)
    assert metrics.auc(*at)[0] == pytest.approx(area, rel=1e-9)


def test_undecided_rows_go_where_ties_say():
    y, scores = np.array([1.0, -1.0, -1.0, 1.0]), np.array([[0.0, -0.0, 0.0, 2.0]])
    w = np.array([4.0, 1.0, 2.0, 3.0])
    expected = {"na": 0.0, "positive": 0.3, "negative": 0.4}
    assert expected == {t: metrics.error_rate(y, scores, w, t) for t in expected}
    nothing = metrics.error_rate(y[:3], scores[:, :3], w[:3], "na")
    assert nothing != nothing
    assert metrics.MEASURES["hinge_loss"](y, scores, 0.0 * w, "na") != 0.0
    better = {m.name: m.larger_is_better for m in metrics.checked_metrics(None, "log")}
    assert better == {"error_rate": 0, "log_loss": 0, "brier_score": 0, "auc": 1}


def linear(seed, loss=None, intercept=None, weighted=None):
    """A model with rare levels and columns off zero, and its problem."""
    y, _, w, rng = scored(seed, 40)
    X = rng.standard_normal((40, 3)) * [1.0, 2.0, 0.5] + y[:, None] * 0.5 - 1.0
    loss = rng.choice(["svm", "logit"]) if loss is None else loss
    free = bool(rng.random() < 0.7) if intercept is None else intercept
    w = w if (rng.random() < 0.5 if weighted is None else weighted) else None
    kind = ps.SVM if loss == "svm" else ps.Logit
    return kind(y, X, lam=0.1, intercept=free, weights=w)


@pytest.mark.fuzz
@given(seed=SEEDS, count=st.integers(1, 5), ratio=st.sampled_from([0.5, 1e-2, None]))
def test_a_path_begins_where_scores_begin_to_differ_by_two(seed, count, ratio):
    model = linear(seed)
    problem = model.problem
    w, y = problem.row_weights, problem.y
    up, down = w[y > 0].sum(), w[y < 0].sum()
    if problem.loss == "hinge":
        share = {1.0: min(1.0, down / up), -1.0: min(1.0, up / down)}
    else:
        share = {1.0: down / (up + down), -1.0: up / (up + down)}
    if not problem.intercept:
        share = dict.fromkeys((1.0, -1.0), 1.0 if problem.loss == "hinge" else 0.5)
    a = w * np.array([share[s] for s in y])
    g = (a * y) @ problem.X / y.size
    scores = problem.X @ g
    largest = np.ptp(scores) / 2 if problem.intercept else np.abs(scores).max()
    found = lambda_grid(model, count, **({} if ratio is None else {"ratio": ratio}))
    assert found.shape == (count,)
    # Four digits are kept.
    assert found[0] == pytest.approx(largest, rel=6e-4)
    assert (found == [float(f"{v:.3e}") for v in found]).all()
    if count > 1:
        last = largest * (1e-5 if ratio is None else ratio)
        assert found[-1] == pytest.approx(last, rel=6e-4)
        steps = np.diff(np.log(found))
        np.testing.assert_allclose(steps, steps[0], atol=2e-3)


@pytest.mark.fuzz
@given(seed=SEEDS, smaller=st.sampled_from([0.9, 0.3, 0.01]))
def test_the_next_start_is_the_best_multiple_of_the_last_dual_weights(seed, smaller):
    model = linear(seed, "svm")
    with_lam = at_lambda(model, 1.0)
    found = with_lam.fit(ps.Optimum(tol=0.05, epochs=300, seed=1)).solution
    assume(found.beta @ found.beta > 1e-12)
    problem = at_lambda(model, smaller).problem
    assert problem.lam == smaller
    assert model.problem.lam == 0.1
    norm2 = found.beta @ found.beta  # lam is 1

    def minus_dual(t):
        return -(t * found.dual.mean() - t * t * norm2 / (2.0 * smaller))

    best = minimize_scalar(minus_dual, bounds=(0.0, 1.0), method="bounded")
    least = min(best.fun, minus_dual(1.0))
    dual = next_dual(found, 1.0, problem)
    t = dual.sum() / found.dual.sum()
    assert minus_dual(t) <= least + 1e-6 * abs(least)
    assert (dual <= found.dual).all()
    logistic = linear(seed, "logit").problem
    assert next_dual(found, 1.0, logistic) is found.dual
