"""Folds, metrics, paths and calibration of unbalanced, weighted and tied rows.

What is compared with: scipy's optimisers, scikit-learn, and the definitions, row by
row. Whole weights are the same as rows written down so often.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from sklearn import metrics as peer

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.metrics import proportion_interval
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.studies.platt import cross_fitted_logits, fit_sigmoid, sigmoid_of
from pegasos_stats.studies.selection import fold_metrics as metrics
from pegasos_stats.studies.selection.fold_fits import at_lambda, next_dual, training
from pegasos_stats.studies.selection.fold_metrics import estimates, mean_and_error
from pegasos_stats.studies.selection.folds import Folds, check_classes
from pegasos_stats.studies.selection.lambdas import lambda_grid

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


def platt(y, scores, w):
    """The likelihood of Platt's paper, its targets included, by scipy."""
    upper, lower = w[y > 0].sum(), w[y < 0].sum()
    t = np.where(y > 0, (upper + 1) / (upper + 2), 1 / (lower + 2))
    size = np.abs(scores).max()

    def value(at):
        z = at[0] * scores / size + at[1]
        return w @ (np.logaddexp(0.0, -z) + t * z) / w.sum()

    def slope(at):
        z = at[0] * scores / size + at[1]
        apart = w * (t - expit(-z)) / w.sum()
        return np.array([apart @ scores / size, apart.sum()])

    best = minimize(value, [0.0, 0.0], jac=slope, method="BFGS", options={"gtol": 1e-9})
    return (
        best.fun,
        lambda A, B: value([A * size, B]),
        lambda A, B: slope([A * size, B]),
    )


@pytest.mark.fuzz
@given(seed=SEEDS, weighted=st.booleans())
def test_the_sigmoid_is_the_optimum_of_platts_likelihood(seed, weighted):
    y, scores, w, _ = scored(seed)
    found = fit_sigmoid(y, scores, w if weighted else None)
    w = w if weighted else np.ones(y.size)
    least, value, slope = platt(y, scores, w)
    assert value(found.A, found.B) <= least + 1e-12
    # Newton's last step leaves a gradient of the root of the decrement, at most.
    assert np.abs(slope(found.A, found.B)).max() <= 1e-6
    np.testing.assert_array_equal(found.logits(scores), -(found.A * scores + found.B))


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
    scores = np.column_stack(
        [first + rng.standard_normal(y.size) for _ in range(repeats)]
    )
    scores[rng.random(scores.shape) < 0.3] = np.nan
    scores[:2, 0] = first[:2]
    known = ~np.isnan(scores)
    times = known.sum(axis=1)
    labels = np.repeat(y, times)
    shares = np.repeat(w / np.maximum(times, 1), times)
    expected = fit_sigmoid(labels, scores[known], shares)
    found = sigmoid_of(y, scores, w)
    assert pytest.approx((expected.A, expected.B), rel=1e-9) == (found.A, found.B)


@pytest.mark.fuzz
@given(seed=SEEDS, k=st.integers(2, 4), repeats=st.integers(1, 2))
def test_no_row_is_in_its_own_sigmoid(seed, k, repeats):
    y, first, w, rng = scored(seed, 40)
    y[:12] = np.tile([1.0, -1.0], 6)
    w[:12] = 1.0 + np.arange(12) % 3
    folds = Folds.stratified(y, k, repeats=repeats, seed=int(rng.integers(1000)))
    scores = np.column_stack([first * (1.0 + r) for r in range(repeats)])
    found = cross_fitted_logits(folds, y, scores, w)
    for r, line in enumerate(folds.assignment):
        for j in range(1, k + 1):
            test, rest = line == j, line != j
            alone = fit_sigmoid(y[rest], scores[rest, r], w[rest])
            np.testing.assert_allclose(found[test, r], alone.logits(scores[test, r]))


@pytest.mark.fuzz
@given(seed=SEEDS, bins=st.sampled_from([1, 3, 10, [0.0, 0.05, 0.5, 1.0]]))
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("positive", ["no", "yes", None])
def test_reliability_counts_the_rows_of_each_bin(seed, bins, strategy, positive):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 50))
    p = rng.choice([0.0, 0.05, 0.1, 1.0 / 3.0, 0.5, 0.9, 1.0], n)
    p = np.where(rng.random(n) < 0.5, rng.random(n), p)
    came = rng.random(n) < 0.2
    came[:2] = [True, False]
    labels = np.where(came, "yes", "no").astype(object)
    missing = (rng.random(n) < 0.1) & (np.arange(n) > 1)
    labels[missing] = None
    given_p = p.copy()
    lost = (rng.random(n) < 0.1) & (np.arange(n) > 1)
    given_p[lost] = np.nan
    happened = came == (positive != "no")
    used = ~missing & ~lost
    probabilities = pd.DataFrame({"no": 1.0 - given_p, "yes": given_p})
    if positive == "no":
        p = 1.0 - p
    found = ps.reliability(
        labels, probabilities, bins, strategy=strategy, positive=positive, level=0.8
    )
    ends = np.array(bins) if np.ndim(bins) else np.linspace(0.0, 1.0, bins + 1)
    if strategy == "quantile" and not np.ndim(bins):
        ends = np.unique(np.quantile(p[used], ends))
        ends = ends if ends.size > 1 else np.array([0.0, 1.0])
    table = found.table
    np.testing.assert_allclose(table["low"], ends[:-1])
    np.testing.assert_allclose(table["high"], ends[1:])
    apart = 0.0
    for j, line in table.iterrows():
        above = (p > ends[j]) | (j == 0)
        inside = used & above & ((p <= ends[j + 1]) | (j == len(table) - 1))
        assert line["n"] == inside.sum()
        limits = proportion_interval(
            int(happened[inside].sum()), int(inside.sum()), "wilson", 0.8
        )
        np.testing.assert_allclose(
            line[["conf_low", "conf_high"]].astype(float), limits
        )
        if inside.any():
            assert line["mean_predicted"] == pytest.approx(p[inside].mean())
            assert line["observed"] == pytest.approx(happened[inside].mean())
            apart += abs(happened[inside].sum() - p[inside].sum())
    assert found.calibration_error == pytest.approx(apart / used.sum(), abs=1e-12)
    assert found.n_left_out == n - used.sum()
    expected = np.mean((p[used] - happened[used]) ** 2)
    assert found.brier_score == pytest.approx(expected)
    assert found.positive == (positive or "yes")


@pytest.mark.fuzz
@given(seed=SEEDS)
def test_metrics_are_those_of_scikit_learn_with_weights(seed):
    y, scores, w, _ = scored(seed)
    at = (y, scores, w, "na")
    error = 1.0 - peer.accuracy_score(y, np.sign(scores), sample_weight=w)
    assert metrics.error_rate(*at) == pytest.approx(error, rel=1e-9, abs=1e-12)
    hinge = peer.hinge_loss(y, scores, sample_weight=w)
    assert metrics.hinge_loss(*at) == pytest.approx(hinge, rel=1e-9)
    likelihood = np.average(np.log1p(np.exp(-y * scores)), weights=w)
    assert metrics.log_loss(*at) == pytest.approx(likelihood, rel=1e-9)
    brier = np.average((expit(scores) - (y > 0)) ** 2, weights=w)
    assert metrics.brier_score(*at) == pytest.approx(brier, rel=1e-9)
    area = peer.roc_auc_score(y, scores, sample_weight=w)
    assert metrics.auc(*at) == pytest.approx(area, rel=1e-9)


def test_undecided_rows_go_where_ties_say():
    y, scores = np.array([1.0, -1.0, -1.0, 1.0]), np.array([0.0, -0.0, 0.0, 2.0])
    w = np.array([4.0, 1.0, 2.0, 3.0])
    found = {
        t: metrics.error_rate(y, scores, w, t) for t in ("na", "positive", "negative")
    }
    assert found == {"na": 0.0, "positive": 0.3, "negative": 0.4}
    nothing = metrics.error_rate(y[:3], scores[:3], w[:3], "na")
    assert nothing != nothing
    assert metrics.hinge_loss(y, scores, 0.0 * w, "na") != 0.0
    better = {m.name: m.larger_is_better for m in metrics.checked_metrics(None, "log")}
    assert better == {"error_rate": 0, "log_loss": 0, "brier_score": 0, "auc": 1}


@pytest.mark.fuzz
@given(seed=SEEDS, k=st.integers(1, 5), repeats=st.integers(1, 3))
def test_the_error_of_a_mean_is_that_of_its_folds(seed, k, repeats):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((repeats, k)) - 5.0
    weights = rng.integers(1, 9, (repeats, k)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    kept = ~np.isnan(values)
    pairs = []
    for v, w, used in zip(values, weights, kept, strict=True):
        if not used.any():
            continue
        v, w = v[used], w[used] / w[used].sum()
        mean = (w * v).sum()
        spread = (w * (v - mean) ** 2).sum()
        pairs.append((mean, np.sqrt(spread / (v.size - 1)) if v.size > 1 else np.nan))
    flat = values.ravel(), weights.ravel(), np.repeat(np.arange(repeats) + 1, k)
    found = mean_and_error(*flat)
    if not pairs:
        assert np.isnan(found).all()
        return
    means, errors = np.array(pairs).T
    expected = means.mean(), np.sqrt((errors**2).mean())
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    lines = pd.DataFrame(dict(zip(("m", "weight", "repeat"), flat, strict=True)))
    table = estimates(lines.assign(other=1.0), ["m", "other"])
    np.testing.assert_allclose(table["estimate"], [expected[0], 1.0], rtol=1e-12)
    assert table["term"].tolist() == ["m", "other"]


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


def test_a_ratio_is_below_one():
    model = linear(1)
    assert lambda_grid(model, 2, 1.0 - 1e-3).shape == (2,)
    for wrong in (1.0, 1.5):
        with pytest.raises(OptionError, match=f"^ratio={wrong} is not allowed; give a"):
            lambda_grid(model, 2, wrong)


@pytest.mark.fuzz
@given(seed=SEEDS, smaller=st.sampled_from([0.9, 0.3, 0.01]))
def test_the_next_start_is_the_best_multiple_of_the_last_dual_weights(seed, smaller):
    model = linear(seed, "svm")
    with_lam = at_lambda(model, 1.0)
    found = with_lam.fit(ps.SDCA(tol=0.05, epochs=300, seed=1)).solution
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


@pytest.mark.fuzz
@given(seed=SEEDS, scaled=st.booleans())
def test_a_fold_is_fitted_as_if_its_rows_were_all(seed, scaled):
    y, _, w, rng = scored(seed, 30)
    y[:6], w[:6] = [1, -1, 1, -1, 1, -1], [1, 2, 3, 1, 2, 3]
    X = rng.standard_normal((30, 2)) * [3.0, 0.1] - [5.0, 0.0]
    model = ps.SVM(y, X, lam=0.1, weights=w, standardize=scaled)
    folds = Folds.stratified(y, 3, seed=7)
    for split in folds.splits:
        problem, held_out, scored_rows = training(model, split)
        assert scored_rows.all()
        alone = ps.SVM(
            y[split.train],
            X[split.train],
            lam=0.1,
            weights=w[split.train],
            standardize=scaled,
        )
        np.testing.assert_allclose(problem.X, alone.problem.X, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(problem.weights, alone.problem.weights, rtol=1e-12)
        expected = X[split.test]
        if scaled:
            raw, own = X[split.train], alone.problem.X  # the same map, of two rows
            slope = (own[1] - own[0]) / (raw[1] - raw[0])
            expected = own[0] + (expected - raw[0]) * slope
        np.testing.assert_allclose(held_out, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("by_pairs", [False, True])
def test_each_level_is_left_in_each_fit_by_one_row_at_least(sign, by_pairs):
    y = sign * np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    coding = SimpleNamespace(levels=("low", "high"))
    rare = "high" if sign > 0 else "low"
    for test, allowed in (([0, 2], True), ([0, 1], False), ([2, 3, 4], True)):
        given_rows = np.setdiff1d(np.arange(6), test)
        split = SimpleNamespace(
            test=np.array(test),
            fold=1,
            repeat=1,
            given=given_rows if by_pairs else None,
        )
        folds = SimpleNamespace(splits=[split])
        if allowed:
            check_classes(folds, y, coding)
        else:
            said = f"^Fold 1 of repeat 1 leaves no row of level '{rare}' to fit; give "
            with pytest.raises(DataError, match=said):
                check_classes(folds, y, coding)


def test_rows_of_weight_zero_are_no_rows_of_their_level():
    y = np.array([0, 0, 0, 1, 1, 1])
    X = np.arange(6.0)[:, None]
    folds = [1, 2, 3, 1, 2, 3]
    model = ps.SVM(y, X, weights=[1, 1, 1, 1, 1, 0], lam=1.0)
    ps.cross_validate(model, folds=folds, metrics="error_rate", seed=1)
    for weights, level in (([1, 1, 1, 1, 0, 0], 1), ([0, 0, 2, 1, 1, 1], 0)):
        with pytest.raises(DataError, match=f"leaves no row of level {level} to fit"):
            ps.cross_validate(ps.SVM(y, X, weights=weights, lam=1.0), folds=folds)


@pytest.mark.fuzz
@given(seed=SEEDS)
def test_fits_of_a_path_hold_their_certificates_on_rare_levels(seed):
    model = linear(seed)
    path = ps.lambda_path(model, [0.5, 0.05], folds=None, seed=3)
    for lam, fit in zip((0.5, 0.05), path.fits.itertuples(), strict=True):
        problem = at_lambda(model, lam).problem
        best = (
            at_lambda(model, lam).fit(ps.SDCA(tol=1e-5, epochs=5000, seed=5)).solution
        )
        bound = certificate(problem, best.beta, best.alpha, best.dual)
        assert fit.objective >= bound.dual_objective * (1.0 - 1e-12)
        assert (
            fit.objective <= bound.objective * (1.0 + 1.01 * fit.relative_gap) + 1e-12
        )
