"""Thresholds that are chosen: on which rows, how well, and how honestly."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import TunedThresholdClassifierCV

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.metrics.scores import ScoredRows, Target, cut
from pegasos_stats.studies.folds import draw_folds
from tests.studies.threshold_rows import COST, SOLVER, frame


@pytest.fixture(scope="module")
def svm():
    return ps.svm("y ~ .", frame(1), lam=0.01).fit(SOLVER)


@pytest.fixture(scope="module")
def logit():
    weights = {"no": 1.0, "yes": 2.0}
    return ps.logit("y ~ .", frame(1), lam=0.01, weights=weights).fit(SOLVER)


@pytest.fixture(scope="module")
def found(svm):
    return svm.thresholds(cost=COST, folds=3, seed=7)


def test_it_is_chosen_by_the_scores_of_cross_validation(svm, found):
    cv = ps.cross_validate(svm.model, SOLVER, folds=3, seed=7)
    assert (found.folds.assignment == cv.folds.assignment).all()
    rows = ScoredRows(cv.scores.to_numpy(), svm.problem.y > 0.0, np.ones(90))
    thresholds, decisions = cut(rows, True, 0.0, (-np.inf, np.inf))
    assert (thresholds == found.table["threshold"]).all()
    costs_ = Target("cost", 1.0, 4.0).of(decisions.tables)
    assert (costs_ == found.table["cost"]).all()
    assert found.apparent == costs_.min()
    table = cv.confusion(threshold=found.threshold).table
    assert (table.loc["no", "yes"] + 4 * table.loc["yes", "no"]) / 90 == found.apparent


def test_the_nested_estimate_is_that_of_new_rows_and_the_apparent_one_is_not():
    new = frame(10**6, 20_000)
    drawn = []
    for seed in range(10):
        model = ps.svm("y ~ .", frame(seed, 60), lam=0.01, weights="balanced")
        result = model.fit(ps.Optimum(tol=1e-3, seed=1))
        found = result.thresholds(cost=COST, folds=5, seed=seed, workers=1)
        table = result.confusion(new, threshold=found.threshold).table
        paid = (table.loc["no", "yes"] + 4 * table.loc["yes", "no"]) / len(new)
        drawn.append((found.estimate, found.apparent, paid))
    drawn = np.array(drawn)
    nested, apparent = drawn[:, 0] - drawn[:, 2], drawn[:, 1] - drawn[:, 2]
    error = nested.std(ddof=1) / np.sqrt(10)
    assert abs(nested.mean()) < 3.0 * error  # within chance
    # In 30 samples of 60 rows -0.16, with a standard error of 0.024.
    assert apparent.mean() < -0.05
    assert nested.mean() > apparent.mean() + 0.05


class Scores(ClassifierMixin, BaseEstimator):
    """A fit of ours as scikit-learn takes one."""

    def __init__(self, result=None):
        self.result = result
        self.classes_ = np.array(["no", "yes"])

    def decision_function(self, X):
        return self.result.decision_function(X).to_numpy()

    fit = predict = decision_function  # neither is called


@pytest.mark.parametrize("metric", ["balanced_accuracy", "accuracy"])
def test_thresholds_of_new_rows_are_those_of_scikit_learn(svm, metric):
    new = frame(2, 70)
    ours = svm.thresholds(new, metric=metric, seed=1)
    at = ours.table["threshold"].to_numpy()
    finite = np.clip(at, -1e6, 1e6)  # no infinite ones there
    given = {"cv": "prefit", "refit": False, "store_cv_results": True}
    peer = TunedThresholdClassifierCV(
        Scores(svm), scoring=metric, thresholds=finite, **given
    )
    tuned = peer.fit(new.drop(columns="y"), new["y"])
    theirs = tuned.cv_results_["scores"]
    np.testing.assert_allclose(ours.table[metric], theirs, rtol=1e-12)
    assert ours.apparent == pytest.approx(tuned.best_score_, rel=1e-12)
    best = np.flatnonzero(np.isclose(theirs, tuned.best_score_, rtol=0, atol=1e-12))
    near = best[np.argmin(np.abs(at[best]))]
    assert ours.threshold == at[near]


def test_new_rows_are_judged_by_thresholds_of_other_folds(svm):
    new = frame(3, 60)
    ours = svm.thresholds(new, metric="f1", positive="no", folds=4, repeats=2, seed=5)
    codes = (new["y"] == "yes").to_numpy()
    folds = draw_folds(codes.astype(int), 4, 2, ps.RRandom(5))
    scores = svm.decision_function(new).to_numpy()
    counts = np.zeros((2, 2, 3))  # repeat; chosen or usual; tp, fn, fp of "no"
    for split, line in zip(folds.splits, ours.by_fold.itertuples(), strict=True):
        own = ScoredRows(scores[split.train], codes[split.train], np.ones(45))
        thresholds, decisions = cut(own, False, 0.0, (-np.inf, np.inf))
        best = Target("f1").best(thresholds, decisions, 0.0)
        assert line.threshold == thresholds[best]
        for j, at in enumerate((line.threshold, 0.0)):
            no, said = ~codes[split.test], scores[split.test] < at
            found = [(no & said).sum(), (no & ~said).sum(), (~no & said).sum()]
            counts[split.repeat - 1, j] += found
    f1 = 2 * counts[..., 0] / (2 * counts[..., 0] + counts[..., 1] + counts[..., 2])
    np.testing.assert_allclose(ours.tidy()["estimate"], f1.mean(axis=0), rtol=1e-12)
    assert ours.tidy()["threshold"].tolist() == [ours.threshold, 0.0]
    assert (ours.positive, ours.out_of_fold) == ("no", False)


def test_probabilities_are_the_scale_of_a_logistic_fit(logit):
    ours = logit.thresholds(metric="youden", folds=3, seed=2)
    assert ours.scale == "probability"
    assert ours.usual == pytest.approx(1.0 / 3.0, rel=1e-12)  # odds 2, by weights
    assert ours.table["threshold"].between(0.0, 1.0).all()
    cv = ps.cross_validate(logit.model, SOLVER, folds=3, seed=2)
    predicted = np.where(cv.probabilities["yes"] > ours.threshold, "yes", "no")
    by_class = ps.confusion(cv.actual, predicted).by_class
    assert (cv.confusion(threshold=ours.threshold).by_class == by_class).all()
    youden = by_class["sensitivity"] + by_class["specificity"] - 1.0
    assert ours.apparent == pytest.approx(youden, rel=1e-12)


def test_counts_are_rows():
    data = frame(4, 40)
    counts = np.arange(40) % 3
    longer = data.loc[np.repeat(np.arange(40), counts)].reset_index(drop=True)
    given = {"metric": "mcc", "folds": 3, "seed": 1}
    short = ps.svm("y ~ .", data, lam=0.1, freq_weights=counts).fit(SOLVER)
    long = ps.svm("y ~ .", longer, lam=0.1).fit(SOLVER)
    ours, theirs = (fit.thresholds(**given) for fit in (short, long))
    assert ours.table.equals(theirs.table)
    assert ours.by_fold.equals(theirs.by_fold)
    new = frame(5, 40)
    many = new.loc[np.repeat(np.arange(40), counts)]
    ours = short.thresholds(new, freq_weights=counts, **given)
    assert ours.by_fold.equals(short.thresholds(many, **given).by_fold)


def test_offsets_are_in_the_scores():
    data = frame(6, 60).rename(columns={"e": "known"})
    fit = ps.logit("y ~ a + b", data, lam=0.1, offset="known").fit(SOLVER)
    cv = ps.cross_validate(fit.model, SOLVER, folds=3, seed=1)
    ours = fit.thresholds(folds=3, seed=1)
    by_class = cv.confusion(threshold=ours.threshold).by_class
    assert ours.apparent == pytest.approx(by_class["balanced_accuracy"], rel=1e-12)
    new = frame(7, 60).rename(columns={"e": "known"})
    by_name = fit.thresholds(new, seed=1)
    given = fit.thresholds(new, seed=1, offset=new["known"])
    assert given.by_fold.equals(by_name.by_fold)
    other = fit.thresholds(new, seed=1, offset=-new["known"])
    assert not given.table.equals(other.table)


def test_weights_count_that_differ_from_row_to_row_and_not_those_of_classes():
    data = frame(6, 60)
    weights = np.where(np.arange(60) % 4, 1.0, 3.0)
    given = {"cost": COST, "folds": 3, "seed": 1}
    model = ps.svm("y ~ .", data, lam=0.1, weights=weights)
    ours = model.fit(SOLVER).thresholds(**given)
    scaled = weights / weights.mean()
    yes = (data["y"] == "yes").to_numpy()
    assert ours.table["cost"].iloc[0] == pytest.approx(scaled[~yes].sum() / 60)
    assert ours.table["cost"].iloc[-1] == pytest.approx(4 * scaled[yes].sum() / 60)
    balanced = ps.svm("y ~ .", data, lam=0.1, weights="balanced").fit(SOLVER)
    ours = balanced.thresholds(**given)
    assert ours.table["cost"].iloc[-1] == pytest.approx(4 * yes.mean())


def test_folds_keep_groups_whole_that_the_fit_was_told_of():
    data = frame(7, 60)
    groups = np.repeat(np.arange(15), 4)
    model = ps.svm("y ~ .", data, lam=0.1)
    ways = [groups, np.arange(60) % 4]
    result = model.fit(SOLVER, cov_type="cluster", groups=ways)
    ours = result.thresholds(folds=3, seed=1)
    for train, test in ours.folds:
        assert not set(groups[train]) & set(groups[test])
    again = model.fit(SOLVER).thresholds(folds=3, seed=1, groups=groups)
    assert again.by_fold.equals(ours.by_fold)
    new = result.thresholds(frame(8, 60), folds=3, seed=1, groups=groups)
    assert dict(new.summary().right)["Folds:"] == "3, stratified by group"


def test_costs_by_error_and_by_level_are_the_same(svm):
    new = frame(2, 70)
    for positive, missed, falsely in (("yes", 4, 1), ("no", 1, 4)):
        given = {"positive": positive, "seed": 1}
        by_error = {"false_negative": missed, "false_positive": falsely}
        ours = svm.thresholds(new, cost=by_error, **given)
        theirs = svm.thresholds(new, cost=COST, **given)
        assert ours.by_fold.equals(theirs.by_fold)
        assert ours.table.equals(theirs.table)


def test_rows_that_choose_no_threshold_are_refused(svm, tmp_path):
    with pytest.raises(DataError, match="training rows; omit data or pass"):
        svm.thresholds(frame(1))
    ps.save(svm, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    with pytest.raises(DataError, match="Loaded fits"):
        loaded.thresholds()
    with pytest.raises(DataError, match="training rows; pass new rows"):
        loaded.thresholds(frame(1))  # without data it has no rows either
    new = frame(2, 70)
    ours, theirs = (fit.thresholds(new, seed=1) for fit in (loaded, svm))
    assert ours.by_fold.equals(theirs.by_fold)
    with pytest.raises(DataError, match="'yes' has none"):
        svm.thresholds(new[new["y"] == "no"], seed=1)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"metric": "F1"}, "did you mean 'f1'"),
        ({"metric": "mcc", "cost": COST}, "metric='mcc' excludes cost="),
        ({"cost": {"no": 0, "yes": 0}}, "cost={'no': 0, 'yes': 0}"),
        ({"cost": {"no": -1, "yes": 1}}, "cost=-1"),
        ({"positive": "maybe"}, "positive='maybe'"),
        ({"freq_weights": np.ones(90)}, "freq_weights="),
        ({"offset": np.ones(90)}, "offset="),
    ],
)
def test_options_that_make_no_sense(svm, given, named):
    with pytest.raises(OptionError, match=named):
        svm.thresholds(**given)
