"""Cross-validation: identities, scikit-learn on the same folds, what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.errors import (
    ConvergenceWarning,
    OptionError,
    PegasosStatsError,
    UndefinedMetricWarning,
)
from pegasos_stats.studies.fold_fits import means_and_errors

pytestmark = pytest.mark.slow

TIGHT = ps.Optimum(epochs=1000, tol=1e-10, seed=1)
# Scores of a fit at a relative gap of 1e-10: ||beta - beta*|| <= sqrt(2 gap / lam),
# here 5e-5, times a row of norm about 3, and the intercept moves as much.
SCORE_ATOL = 5e-4


@pytest.mark.parametrize("make", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("storage", [np.asarray, csr_array])
@pytest.mark.parametrize("standardize", [False, True])
def test_out_of_fold_scores_are_those_of_models_of_the_other_rows(
    data, make, storage, standardize
):
    X, y = data[["a", "b", "c", "d"]].to_numpy() * [1, 50, 0.1, 1], data["y"].to_numpy()
    weights = data["w"].to_numpy()
    options = {"lam": 0.05, "standardize": standardize}
    model = make(y, storage(X), weights=weights, **options)
    found = ps.cross_validate(model, TIGHT, folds=4, seed=1)
    for train, test in found.folds:
        part = make(y[train], storage(X[train]), weights=weights[train], **options)
        scores = part.fit(TIGHT).decision_function(storage(X[test]))
        apart = found.scores.iloc[test] - scores.to_numpy()
        assert apart.abs().max() <= SCORE_ATOL


def test_pegasos_is_repeated_in_every_bit_by_its_seed(data, svm):
    solver = ps.Pegasos(epochs=3)
    found = ps.cross_validate(svm, solver, folds=4, seed=443)
    assert found.by_fold["seed"].nunique() == 4
    for split, seed in zip(found.folds.splits, found.by_fold["seed"], strict=True):
        part = ps.svm("y ~ a + b + c + d", data.iloc[split.train], lam=0.05)
        scores = part.fit(replace(solver, seed=seed)).decision_function(data)
        assert (found.scores.iloc[split.test] == scores.iloc[split.test]).all()
    fixed = ps.cross_validate(svm, replace(solver, seed=7), folds=4, seed=443)
    assert set(fixed.by_fold["seed"]) == {7}


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "precomputed"])
def test_kernel_models_are_cross_validated(data, kernel):
    X, y = data[["a", "b", "c", "d"]].to_numpy(), data["y"].to_numpy()
    K = X @ X.T
    rows = K if kernel == "precomputed" else X
    gamma = 0.25 if kernel == "gaussian" else None
    given = {"kernel": kernel, "lam": 0.1, "gamma": gamma, "standardize": False}
    model = ps.KernelSVM(y, rows, **given)
    found = ps.cross_validate(model, ps.Pegasos(epochs=2, seed=3), folds=3, seed=1)
    for train, test in found.folds:
        part = K[np.ix_(train, train)] if kernel == "precomputed" else X[train]
        there = K[np.ix_(test, train)] if kernel == "precomputed" else X[test]
        fit = ps.KernelSVM(y[train], part, **given)
        scores = fit.fit(ps.Pegasos(epochs=2, seed=3)).decision_function(there)
        assert (found.scores.iloc[test].to_numpy() == scores.to_numpy()).all()
    along = ps.lambda_path(model, [1.0, 0.1], ps.Pegasos(epochs=2), folds=3, seed=1)
    assert along.coefficients is None
    assert along.fits["n_support"].between(1, 120).all()
    with pytest.raises(OptionError, match="no coefficients"):
        along.plot_coefficients()
    with pytest.raises(OptionError, match="SDCA is for linear models"):
        ps.cross_validate(model, ps.SDCA())
    below = ps.lambda_path(model, [1.0, 0.1], ps.Optimum(seed=1), folds=3, seed=1)
    assert (below.fits["objective"] < along.fits["objective"]).all()
    assert (below.fits["relative_gap"] <= 1e-6).all()


def test_numbers_do_not_depend_on_the_workers(svm):
    for run in (ps.cross_validate, ps.lambda_path):
        given = {"folds": 4, "repeats": 2, "seed": 5}
        one, many = (run(svm, **given, workers=count) for count in (1, 3))
        pd.testing.assert_frame_equal(one.by_fold, many.by_fold, check_exact=True)
    pd.testing.assert_frame_equal(one.table, many.table, check_exact=True)
    pd.testing.assert_frame_equal(one.coefficients, many.coefficients, check_exact=True)


def test_a_path_of_one_lambda_is_a_cross_validation(svm):
    drawn = {"folds": 4, "repeats": 2, "seed": 5}
    found = ps.cross_validate(svm, **drawn)
    path = ps.lambda_path(svm, [svm.problem.lam], ps.Optimum(tol=1e-3), **drawn)
    left = path.by_fold.drop(columns="lam")
    pd.testing.assert_frame_equal(left, found.by_fold, check_exact=True)
    assert (path.refit().params == svm.fit(ps.Optimum(seed=5)).params).all()


def test_error_counts_are_those_of_scikit_learn(data, svm):
    X, y = data[["a", "b", "c", "d"]].to_numpy(), data["y"].to_numpy()
    found = ps.cross_validate(svm, TIGHT, folds=5, seed=1)  # 96 rows in every fit
    # no score is so near to 0 that the gap could turn its sign
    assert found.scores.abs().min() > SCORE_ATOL
    peer = SVC(kernel="linear", C=1 / (0.05 * 96), tol=1e-10)
    errors = 24 * (1 - cross_val_score(peer, X, y, cv=list(found.folds)))
    assert (24 * found.by_fold["error_rate"]).round(9).tolist() == [*errors.round(9)]
    area = cross_val_score(peer, X, y, cv=list(found.folds), scoring="roc_auc")
    np.testing.assert_allclose(found.by_fold["auc"], area, rtol=1e-12)  # same ranks


def test_log_losses_are_those_of_scikit_learn(data):
    X, y = data[["a", "b", "c", "d"]].to_numpy(), data["y"].to_numpy() == "yes"
    model = ps.Logit(y, X, lam=0.05)
    found = ps.cross_validate(model, TIGHT, folds=5, seed=1)
    peer = LogisticRegression(C=1 / (0.05 * 96), tol=1e-10, solver="newton-cg")
    for name in ("log_loss", "brier_score"):
        given = {"cv": list(found.folds), "scoring": f"neg_{name}"}
        theirs = -cross_val_score(peer, X, y, **given)
        # the losses have slopes of at most 1 in the score
        np.testing.assert_allclose(found.by_fold[name], theirs, atol=SCORE_ATOL)


def test_means_are_those_of_all_held_out_rows(data, svm):
    found = ps.cross_validate(svm, folds=7, repeats=2, seed=3)  # folds of 17 and 18
    errors = [found.confusion(repeat).error_rate for repeat in (1, 2)]
    assert found.mean["error_rate"] == pytest.approx(np.mean(errors), rel=1e-14)
    margins = np.where(data["y"] == "yes", 1, -1)[:, None] * found.scores_by_repeat
    hinge = np.maximum(0, 1 - margins).mean().mean()
    assert found.mean["hinge_loss"] == pytest.approx(hinge, rel=1e-14)
    assert found.scores.index.equals(data.index)


def test_rows_count_with_their_weights(data):
    model = ps.svm("y ~ a + b", data, lam=0.05, weights="w")
    found = ps.cross_validate(model, folds=5, seed=3)
    wrong = np.sign(found.scores) != np.where(data["y"] == "yes", 1, -1)
    expected = np.average(wrong, weights=data["w"])
    assert found.mean["error_rate"] == pytest.approx(expected, rel=1e-13)
    line, test = found.by_fold.iloc[0], found.folds.splits[0].test
    given = data["y"].iloc[test] == "yes", found.scores.iloc[test]
    area = roc_auc_score(*given, sample_weight=data["w"].iloc[test])
    assert line["auc"] == pytest.approx(area, rel=1e-12)


def test_standard_errors_are_those_of_glmnet():
    # cv.glmnet: sqrt(weighted.mean((v - m)^2, w) / (k - 1)), folds weighted by size
    v, w = np.array([0.1, 0.3, 0.2]), np.array([10.0, 9.0, 9.0])

    def mean_and_error(values, weights, repeats):
        found = means_and_errors(values[:, None], weights[:, None], repeats)
        return np.ravel(found)

    mean = np.average(v, weights=w)
    error = np.sqrt(np.average((v - mean) ** 2, weights=w) / 2)
    once = mean_and_error(v, w, np.ones(3, int))
    assert once == pytest.approx((mean, error), rel=1e-14)
    again = mean_and_error(np.tile(v, 2), np.tile(w, 2), np.repeat([1, 2], 3))
    assert again == pytest.approx(once, rel=1e-14)
    equal = mean_and_error(v, np.ones(3), np.ones(3, int))
    assert equal[1] == pytest.approx(v.std(ddof=1) / np.sqrt(3), rel=1e-14)


def test_a_metric_of_ones_own(svm):
    def cost(y, scores):
        return float(np.mean(np.where(y > 0, 5.0, 1.0) * (np.sign(scores) != y)))

    found = ps.cross_validate(svm, folds=5, seed=1, metrics=["auc", cost])
    assert found.tidy()["term"].tolist() == ["auc", "cost"]
    # Folds weighted by their rows: the mean of all rows, summed in another order.
    assert found.mean["cost"] == pytest.approx(
        cost(svm.problem.y, found.scores.to_numpy()), rel=1e-12
    )


def test_a_level_that_is_not_held_out_has_no_auc(svm):
    labels = svm.problem.y
    folds = np.where(labels > 0, np.arange(120) % 2, 2 + np.arange(120) % 3)
    with pytest.warns(UndefinedMetricWarning, match="auc is not defined in 5 folds"):
        found = ps.cross_validate(svm, folds=folds)
    assert np.isnan(found.mean["auc"])
    rate = found.confusion().error_rate
    assert found.mean["error_rate"] == pytest.approx(rate, rel=1e-12)  # sums reordered


def test_gaps_that_are_too_large_warn_once(svm):
    with pytest.warns(ConvergenceWarning, match="in 5 of 5 fits") as caught:
        ps.cross_validate(svm, ps.Optimum(epochs=1, tol=1e-9), folds=5, seed=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_many_odd_models_are_cross_validated():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(20, 100))
    y = np.resize([0, 1], 20)
    constant = np.column_stack([np.full(20, 7.1), np.zeros(20), wide[:, 0]])
    for X in (wide, wide.astype(np.float32), constant, wide[:, :1]):
        for intercept in (True, False):
            model = ps.SVM(y, X, intercept=intercept, standardize=True, lam=1.0)
            found = ps.lambda_path(model, folds=4, seed=1)
            assert found.table.notna().all(axis=None)
    numbered = ps.Logit(y == 1, pd.DataFrame(wide[:, :2]), lam=1.0)
    assert ps.cross_validate(numbered, folds=20, metrics="log_loss")


X = np.array([[0.0], [1.0], [3.0], [2.0], [5.0], [4.0]])
Y = ["no", "no", "yes", "no", "yes", "yes"]
SMALL = ps.SVM(Y, X, lam=0.5)
ALIKE = ps.SVM([0, 1, 0, 1], [[1.0], [1.0], [2.0], [2.0]], lam=1.0)


def seed(y, scores):
    return 0.0


HALVES = {"groups": [1, 1, 1, 2, 2, 2], "folds": 2, "lambda_path": [0.5, 0.1]}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ps.Folds.stratified(["a"], 2), "^1 row "),
        (lambda: ps.Folds.stratified(Y, 2, groups=[1] * 6), "groups are 1 in all"),
        (lambda: ps.cross_validate(3), "model is of type int"),
        (lambda: ps.lambda_grid(ALIKE), "same mean in both classes"),
        (lambda: ps.lambda_grid(SMALL, ratio=1.0), r"ratio=1\.0"),
        ({"groups": ["a"] * 6}, "'a' in all rows"),
        (HALVES, "1 group cannot be split"),
        ({"metrics": "AUC"}, "did you mean 'auc'"),
        ({"metrics": ["auc", seed]}, "^metrics="),
        ({"metrics": ["auc", "auc"]}, "at most once"),
        ({"metrics": "log_loss"}, "'log_loss'"),
    ],
)
def test_what_cannot_be_validated_is_named(call, named):
    with pytest.raises(PegasosStatsError, match=named):
        call() if callable(call) else ps.cross_validate(SMALL, **call)


# ---- Nested cross-validation: what it chooses, and that its estimate is honest.

GRID = [1.0, 0.1, 0.01]
QUICK = ps.Optimum(tol=1e-4, epochs=200, seed=1)


def test_a_path_says_how_to_choose(data):
    model = ps.logit("y ~ . - w", data, lam=1.0)
    given = {"folds": 4, "repeats": 2, "seed": 1, "metric": "brier_score"}
    path = ps.lambda_path(model, GRID, QUICK, **given)
    given = {"folds": 3, "seed": 1, "rule": "min", "metrics": "auc"}
    found = ps.cross_validate(model, QUICK, lambda_path=path, **given)
    how = found.choosing
    chosen = how.folds, how.repeats, how.metric.name, how.rule
    assert chosen == (4, 2, "brier_score", "min")
    assert (how.lambdas == path.lambdas).all()
    assert found.tidy()["term"].tolist() == ["auc"]
    plain = found.by_fold["auc"].std() / np.sqrt(3)  # folds of 40 rows, fits of 80
    assert found.std_error["auc"] == pytest.approx(plain * np.sqrt(2.5), rel=1e-12)
    assert set(found.by_fold["lam"]) <= set(GRID)


def test_undecided_rows_count_alike_in_folds_and_pooled(data):
    model = ps.svm("y ~ np.round(a)", data, lam=0.5, intercept=False)
    found = ps.cross_validate(model, QUICK, folds=7, seed=1)
    table = found.confusion()
    assert table.n_undecided > 0
    assert found.by_fold["decided"].nunique() > 1
    assert found.mean["error_rate"] == pytest.approx(table.error_rate, rel=1e-12)
    assert found.by_fold["decided"].sum() == table.n_classified
    assert found.by_fold["weight"].sum() == 120


def test_the_estimate_is_right_where_there_is_nothing_to_find():
    # Half of the labels each, dealt at random: any rule errs in half of new rows.
    # benchmarks/nested.py does it at length, with an effect too.
    errors, held, best = [], 0, []
    for seed in range(1, 21):
        rng = np.random.default_rng([3, seed])
        model = ps.SVM(np.repeat(["a", "b"], 24), rng.normal(size=(48, 3)), lam=1.0)
        given = {"folds": 3, "seed": seed, "workers": 1}
        path = ps.lambda_path(model, [1.0, 0.01], QUICK, **given)
        found = ps.cross_validate(
            model, QUICK, lambda_path=path, rule="min", metrics="error_rate", **given
        )
        error = found.mean["error_rate"]
        errors.append(error)
        held += abs(error - 0.5) <= 1.96 * found.std_error["error_rate"]
        best.append(path.tidy().query("term == 'error_rate'")["estimate"].min())
    spread = np.std(errors, ddof=1) / np.sqrt(20)
    assert abs(np.mean(errors) - 0.5) < 3.0 * spread
    assert held >= 15  # 95% of 20 are 19; fewer than 15 has a probability of 0.03%
    assert np.mean(best) < np.mean(errors)  # the least of a path is less


# ---- Cross-validation over gamma and lambda of a Gaussian kernel.

LAMBDAS = [1e-1, 1e-3]


def waves(n=160, seed=3):
    """Levels that a stiff curve does not tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    inside = np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n) > 0.4
    return X, np.where(inside, "in", "out")


@pytest.fixture(scope="module")
def model():
    X, y = waves()
    return ps.KernelSVM(y, X, gamma=2.0, lam=1.0)


@pytest.fixture(scope="module")
def found(model):
    gammas = [2.0, 0.001, 300.0]
    return ps.tune_kernel(model, gammas, LAMBDAS, folds=4, repeats=2, seed=7)


def test_each_gamma_has_the_path_that_it_has_alone(model, found):
    X, y = waves()
    assert found.gammas == (0.001, 2.0, 300.0)
    for gamma, path in zip(found.gammas, found.paths, strict=True):
        assert path.model.problem.kernel.gamma == gamma
        assert path.folds is found.paths[0].folds
        alone = ps.KernelSVM(y, X, gamma=gamma, lam=1.0)
        fits = ps.lambda_path(alone, LAMBDAS, folds=path.folds, seed=7).fits
        np.testing.assert_allclose(fits["objective"], path.fits["objective"], rtol=1e-3)
    assert model.problem.kernel.gamma == 2.0


def test_the_best_pair_is_that_of_the_table(found):
    table = found.table
    best = table.loc[table["error_rate"].idxmin()]
    assert (found.gamma, found.lam) == (best["gamma"], best["lam"]) == (2.0, 1e-3)
    result = found.refit()
    assert result.problem.kernel.gamma == 2.0
    assert result.problem.lam == 1e-3
    assert result.relative_gap <= 1e-6


def test_a_metric_may_be_better_the_larger_it_is(model):
    given = {"folds": 3, "seed": 7, "metric": "auc"}
    found = ps.tune_kernel(model, [0.001, 2.0, 300.0], LAMBDAS, **given)
    assert found.gamma == found.table.loc[found.table["auc"].idxmax(), "gamma"]


def test_a_metric_that_no_fold_has_chooses_nothing():
    X, y = waves(8)
    few = ps.KernelSVM(y, X, gamma=1.0, lam=1.0)
    tuning = ps.tune_kernel(few, [1.0], [0.1], folds=8, metric="auc")
    with pytest.raises(OptionError, match="auc is undefined in all folds"):
        tuning.refit()


def test_gammas_are_multiples_of_that_of_the_model_if_none_are_given(model):
    found = ps.tune_kernel(model, lambdas=[0.1], folds=2, seed=1)
    assert found.gammas == (0.125, 0.5, 2.0, 8.0, 32.0)
