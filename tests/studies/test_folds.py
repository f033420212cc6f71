"""Folds: as R draws them, of whole groups, and what is learnt within them."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.rng import RRandom
from pegasos_stats.studies.fold_fits import inner_folds
from pegasos_stats.studies.folds import checked_folds, draw_folds, grouped_folds
from tests.parity.cases import golden

# ---- Folds: drawn as R draws them, balanced, reused, given in several forms.

DRAWN = golden("folds.json")  # by r_reference/golden_folds.R


@pytest.fixture(scope="module")
def model():
    """50 rows; row 7 of the data has a missing value, row 9 no label."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(52, 3)), columns=["a", "b", "c"])
    data.index = [f"row {i}" for i in range(52)]
    data["y"] = np.where(data["a"] + rng.normal(size=52) > 0.3, "yes", "no")
    data.loc["row 7", "b"] = np.nan
    data.loc["row 9", "y"] = None
    return ps.svm("y ~ a + b + c", data, lam=0.1)


def read(folds, model, repeats=1):
    return checked_folds(folds, repeats, model._sample, RRandom(443))


@pytest.mark.parametrize("case", DRAWN)
def test_folds_and_seeds_are_those_that_r_wrote(case):
    rng = RRandom(case["seed"], sample_kind=case["kind"])
    found = draw_folds(np.array(case["y"]), case["k"], len(case["folds"]), rng)
    assert found.assignment.tolist() == case["folds"]
    seeds = rng.sample_int(2**31 - 1, len(case["seeds"]))
    assert seeds.tolist() == case["seeds"]


@pytest.mark.parametrize("seed", range(10))
def test_folds_differ_by_one_row_at_most_in_all_and_in_each_level(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 200))
    y = rng.integers(0, rng.integers(2, 5), n)
    k = int(rng.integers(2, n + 1))
    folds = ps.Folds.stratified(y, k, repeats=2, seed=seed)
    for line in folds.assignment:
        assert set(line) == set(range(1, k + 1))
        for rows in (np.ones(n, bool), *(y == level for level in np.unique(y))):
            sizes = np.bincount(line[rows], minlength=k + 1)[1:]
            assert sizes.max() - sizes.min() <= 1
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(n))


CATEGORIES = pd.Categorical(["x", "y"], categories=["y", "x", "unused"])


@pytest.mark.parametrize("y", [["a", "b"], [True, False], [2.5, 1.5], CATEGORIES])
def test_levels_come_in_the_order_of_factor(y):
    signs = pd.Series(y).loc[[0, 1] * 10].reset_index(drop=True)
    levels = ps.LabelCoding.from_labels(signs)
    codes = (levels.encode(signs) > 0).astype(int)
    drawn = ps.Folds.stratified(signs, 4, seed=5).assignment
    assert (drawn == ps.Folds.stratified(codes, 4, seed=5).assignment).all()


def test_folds_of_a_model_are_those_of_its_labels(model):
    labels = model.coding.decode(model.problem.y, model._sample.index)
    found = read(5, model, repeats=2)
    expected = ps.Folds.stratified(labels, 5, repeats=2, seed=443)
    assert (found.assignment == expected.assignment).all()


def test_folds_are_used_again(model):
    drawn = read(5, model)
    assert read(drawn, model) is drawn
    assert (read(drawn.assignment, model).assignment == drawn.assignment).all()
    assert (read(drawn.assignment[0], model).assignment == drawn.assignment).all()
    assert (read(list(drawn), model).assignment == drawn.assignment).all()


def test_folds_of_other_rows_are_refused_though_there_are_as_many(model):
    labels = model.coding.decode(model.problem.y, model._sample.index)
    folds = ps.Folds.stratified(labels, 5, seed=1)
    assert read(folds, model) is folds
    later = labels.set_axis([f"later {label}" for label in labels.index])
    for other, what in ((later, "row labels"), (labels[::-1].to_numpy(), "classes")):
        with pytest.raises(DataError, match=f"to other rows: {what} differ; "):
            read(ps.Folds.stratified(other, 5, seed=1), model)


def test_folds_by_label_leave_one_site_out(model):
    site = pd.Series(np.resize(["Bonn", "Ulm", "Kiel"], 50), model._sample.index)
    found = read(site, model)
    assert [split.fold for split in found.splits] == ["Bonn", "Kiel", "Ulm"]
    for split in found.splits:
        assert set(site.iloc[split.test]) == {split.fold}
    assert (read(site.to_numpy(), model).assignment == found.assignment).all()


def test_labels_of_rows_that_were_dropped_are_left_out(model):
    whole = np.arange(52) % 4
    kept = model._sample.complete
    assert (read(whole, model).assignment == read(whole[kept], model).assignment).all()
    by_row = read(pd.Series(whole, [f"row {i}" for i in range(52)]), model)
    assert (by_row.assignment == read(whole, model).assignment).all()


def test_pairs_of_scikit_learn_are_taken(model):
    y = model.problem.y
    once = StratifiedKFold(5, shuffle=True, random_state=0)
    pairs = list(once.split(y, y))
    found = read(iter(pairs), model)
    assert (found.repeats, found.k) == (1, 5)
    for split, (train, test) in zip(found.splits, pairs, strict=True):
        assert (split.train == train).all()
        assert (split.test == test).all()
    again = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    assert read(again.split(y, y), model).repeats == 3


def test_pairs_may_leave_rows_out(model):
    part = read([(np.arange(30), np.arange(40, 50))], model)
    assert (part.assignment[0] > 0).sum() == 10


@pytest.mark.parametrize(
    ("folds", "error", "message"),
    [
        (1, OptionError, "folds=1 is not allowed with 50 rows"),
        (51, OptionError, "folds=51"),
        (2.0, OptionError, "2.0 is not allowed"),
        (np.ones(50), DataError, "only fold is 1.0"),
        (np.arange(49), DataError, "49 values"),
        (np.where(np.arange(50) == 3, np.nan, np.arange(50) % 2), DataError, "'row 3'"),
        (pd.Series(np.arange(50) % 2), DataError, "row labels of folds"),
        (
            [(np.arange(30), np.arange(29, 50))],
            DataError,
            "both training and test rows",
        ),
        ([(np.arange(30), np.array([50]))], DataError, "do not exist: 50; "),
        ([(np.arange(30), np.array([-1]))], DataError, "do not exist: -1; "),
        ([(np.arange(30), np.array([31, 31]))], DataError, "more than once: 31; "),
        ([(np.arange(30), [])], DataError, "no training or no test rows; "),
        ([(np.arange(30), np.arange(50) > 29)], DataError, "not integers: False"),
        ((np.arange(30), np.arange(30, 50)), OptionError, "folds="),
        (ps.Folds.stratified([0, 1] * 9, 3, seed=1), DataError, "18 rows"),
    ],
)
def test_wrong_folds_are_refused(model, folds, error, message):
    with pytest.raises(error, match=message):
        read(folds, model)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "y is empty; pass labels."),
        (["a", None], "y has 1 missing label in 2 rows; pass a label for each row."),
        (["a"], "1 row cannot be split into folds; pass more data."),
    ],
)
def test_stratified_folds_need_labels(y, message):
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        ps.Folds.stratified(y, 2)


def test_every_fit_needs_both_levels(model):
    by_level = model.problem.y
    with pytest.raises(DataError, match="no training row of class 'no'"):
        read(by_level, model)
    X = np.arange(12.0)[:, None]
    row, weights = np.arange(12), np.where(np.arange(12) == 1, 0, 1)
    single = ps.SVM(row == 3, X, lam=1.0)
    for each in (single, ps.SVM(row < 2, X, weights=weights, lam=1.0)):
        with pytest.raises(DataError, match="class True"):
            ps.cross_validate(each, folds=3, seed=1)


# ---- Folds of whole groups: as R draws them, as even as can be, in every study.

GROUPED = golden("group_folds.json")  # by r_reference/golden_folds.R
SOLVER = ps.Optimum(tol=1e-3, epochs=100, seed=1)


@pytest.fixture(scope="module")
def frame():
    """48 rows of 16 patients, whose number is no predictor; one value is missing."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(48, 2)), columns=["a", "b"])
    data["patient"] = rng.permutation(np.repeat([f"p{i}" for i in range(16)], 3))
    data["y"] = np.where(data["a"] + rng.normal(size=48) > 0.5, "yes", "no")
    data.loc[3, "b"] = np.nan
    return data


@pytest.fixture(scope="module")
def grouped(frame):
    return ps.svm("y ~ a + b", frame, lam=0.1)


def apart(folds, groups):
    groups = np.asarray(groups)
    return all(not set(groups[train]) & set(groups[test]) for train, test in folds)


@pytest.mark.parametrize("case", GROUPED)
def test_folds_are_those_that_r_wrote(case):
    rng = RRandom(case["seed"], sample_kind=case["kind"])
    groups = pd.factorize(np.array(case["groups"]))[0]
    k, repeats = case["k"], len(case["folds"])
    found = draw_folds(np.array(case["y"]), k, repeats, rng, groups)
    assert found.assignment.tolist() == case["folds"]
    assert apart(found, groups)


def spread(folds, y):
    """How far shares of a level in the folds are apart, both levels together."""
    held = np.array([np.bincount(y[test], minlength=2) for _, test in folds])
    return np.std(held / held.sum(axis=0), axis=0).sum()


def test_levels_are_as_even_as_those_of_scikit_learn():
    ours, stratified, plain = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        groups = pd.factorize(rng.integers(0, 20, 150) ** 2 // 12)[0]
        y = (rng.random(150) < 0.1 + 0.3 * (groups % 3 == 0)).astype(int)
        drawn = draw_folds(y, 4, 1, RRandom(seed), groups)
        assert apart(drawn, groups)
        assert sorted(np.concatenate([test for _, test in drawn])) == list(range(150))
        assert min(len(test) for _, test in drawn) > 0
        ours.append(spread(drawn, y))
        given = np.zeros((150, 1)), y, groups
        splitter = StratifiedGroupKFold(4, shuffle=True, random_state=seed)
        stratified.append(spread(list(splitter.split(*given)), y))
        plain.append(spread(list(GroupKFold(4).split(*given)), y))
    assert np.mean(ours) <= 1.02 * np.mean(stratified)  # both are greedy
    assert np.mean(ours) < 0.8 * np.mean(plain)


def test_groups_of_one_row_are_spread_as_single_rows():
    y = np.array([0] * 13 + [1] * 8)
    fold = grouped_folds(y, np.arange(21), 5, RRandom(2))
    for rows in (y == 0, y == 1, y >= 0):
        sizes = np.bincount(fold[rows], minlength=6)[1:]
        assert sizes.max() - sizes.min() <= 1


def test_every_fold_has_a_group_if_there_are_as_many():
    groups = np.repeat(np.arange(5), [20, 1, 1, 1, 1])
    y = np.resize([0, 1, 1], 24)
    fold = grouped_folds(y, groups, 5, RRandom(3))
    assert sorted(pd.unique(fold)) == [1, 2, 3, 4, 5]


def test_groups_may_be_a_column_or_labels_of_all_rows(frame, grouped):
    given = {"folds": 4, "seed": 3}
    by_name = ps.cross_validate(grouped, SOLVER, groups="patient", **given)
    known = frame["patient"].drop(3).to_numpy()
    assert apart(by_name.folds, known)
    for groups in (frame["patient"], frame["patient"].to_list()):
        found = ps.cross_validate(grouped, SOLVER, groups=groups, **given)
        assert (found.folds.assignment == by_name.folds.assignment).all()
    y = grouped.coding.decode(grouped.problem.y)
    drawn = ps.Folds.stratified(y, 4, groups=known, seed=3)
    assert (drawn.assignment == by_name.folds.assignment).all()
    assert by_name.folds.kind == "4, stratified by group"
    rows = ps.cross_validate(grouped, SOLVER, **given)
    assert not apart(rows.folds, known)


def test_all_studies_keep_groups_whole(frame, grouped):
    given = {"folds": 3, "groups": "patient", "seed": 3}
    expected = ps.cross_validate(grouped, SOLVER, **given).folds.assignment
    path = ps.lambda_path(grouped, [1.0, 0.1], SOLVER, **given)
    assert (path.folds.assignment == expected).all()
    nested = ps.cross_validate(grouped, SOLVER, lambda_path=path, **given)
    assert (nested.folds.assignment == expected).all()
    with_path = {"folds": path.folds, "lambda_path": [1.0], "seed": 3}
    assert ps.cross_validate(grouped, SOLVER, **with_path).folds is path.folds
    calibrated = ps.calibrate(grouped, SOLVER, **given)
    assert (calibrated.validation.folds.assignment == expected).all()
    kernel = ps.kernel_svm("y ~ a + b", frame, lam=0.1)
    tuned = ps.tune_kernel(kernel, [0.1, 1.0], [0.1], SOLVER, **given)
    assert all((each.folds.assignment == expected).all() for each in tuned.paths)


def test_inner_folds_keep_groups_whole_too(frame, grouped):
    known = frame["patient"].drop(3).to_numpy()
    outer = ps.cross_validate(grouped, SOLVER, folds=3, groups="patient", seed=1).folds
    for split in outer.splits:
        inner = inner_folds(grouped, outer, split, 10, 1, RRandom(4))
        assert inner.k == 10
        fitted = np.sort(np.concatenate([test for _, test in inner]))
        assert (fitted == split.train).all()
        assert apart(inner, known)
        many = inner_folds(grouped, outer, split, 40, 1, RRandom(4))
        assert many.k == len(set(known[split.train]))


def test_folds_that_part_a_group_are_refused(frame, grouped):
    halves = np.arange(48) % 2
    kept = frame.drop(3).assign(half=np.delete(halves, 3))
    assert (kept.groupby("patient")["half"].nunique() == 2).sum() > 3
    with pytest.raises(DataError, match="Fold 0 of repeat 1 splits groups"):
        ps.cross_validate(grouped, SOLVER, seed=1, folds=halves, groups="patient")
    whole = frame["patient"].isin([f"p{i}" for i in range(8)])
    found = ps.cross_validate(grouped, SOLVER, seed=1, folds=whole, groups="patient")
    assert found.folds.kind == "2, given by group"
    assert (found.folds.groups == pd.factorize(frame["patient"].drop(3))[0]).all()


# ---- What is learnt of predictors is learnt from the rows that are fitted alone.

EXACT = ps.Optimum(tol=1e-8, epochs=500, seed=1)
FOLD_OF = pd.Series(np.arange(60) % 3)
NEAR = 1e-3  # of scores of two fits within a relative gap of 1e-8


@pytest.fixture(scope="module")
def curves():
    rng = np.random.default_rng(8)
    data = pd.DataFrame({"x": rng.normal(size=60), "z": rng.gamma(2.0, size=60)})
    data["g"] = rng.choice(["a", "b", "c"], 60)
    signal = 2.0 * data["x"] + data["x"] ** 2 + data["z"] + (data["g"] == "b")
    data["y"] = np.where(signal + rng.normal(size=60) > 3.5, "u", "v")
    return data


def near(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=NEAR, atol=NEAR)


TERMS = ["scale(x)", "center(x) + g", "poly(x, 2)", "bs(x, df=5)", "cr(z, df=4)"]
TERMS += ["ns(x, df=3) + ns(z, knots=[1, 2])", "np.maximum(x - mean(x), 0) + z"]
TERMS += ["x / sd(x)", "C(cut(x, 3)) + z", "scale(z):g"]


@pytest.mark.slow
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("terms", TERMS)
def test_scores_are_those_of_a_model_of_the_other_rows(curves, terms, standardize):
    given = {"lam": 0.1, "standardize": standardize}
    model = ps.svm(f"y ~ {terms}", curves, **given)
    found = ps.cross_validate(model, EXACT, folds=FOLD_OF, seed=1)
    for fold in range(3):
        test = curves[fold == FOLD_OF]
        fit = ps.svm(f"y ~ {terms}", curves[fold != FOLD_OF], **given).fit(EXACT)
        assert fit.coef.abs().max() > 0.1  # scores are no constant
        inside = test["x"].between(*curves["x"][fold != FOLD_OF].agg(["min", "max"]))
        expected = fit.decision_function(test[inside])
        near(found.scores[expected.index], expected)


def test_splines_go_on_beyond_the_rows_that_are_fitted_and_cuts_do_not(curves):
    low = int(curves["x"].idxmin())
    spline = ps.svm("y ~ bs(x, df=4)", curves, lam=0.1)
    found = ps.cross_validate(spline, EXACT, folds=FOLD_OF, seed=1)
    own = curves[FOLD_OF[low] != FOLD_OF]
    wide = ps.svm("y ~ bs(x, df=4, extrapolation='extend')", own, lam=0.1).fit(EXACT)
    expected = wide.decision_function(curves.loc[[low]]).iloc[0]
    assert found.scores[low] == pytest.approx(expected, rel=NEAR)
    assert found.scores.notna().all()
    cut = ps.svm("y ~ C(cut(x, 3)) + z", curves, lam=0.1)
    found = ps.cross_validate(cut, EXACT, folds=FOLD_OF, seed=1, metrics="error_rate")
    missing = found.scores.isna()
    assert missing[low]
    for i in missing.index[missing]:
        own = curves["x"][FOLD_OF[i] != FOLD_OF]
        assert not own.min() <= curves["x"][i] <= own.max()
    assert found.confusion().counts.sum() == 60 - missing.sum()
    line = ps.cross_validate(cut, EXACT, folds=FOLD_OF, seed=1).by_fold.iloc[0]
    scores, y = found.scores[FOLD_OF == 0], cut.problem.y[FOLD_OF == 0]
    losses = np.maximum(0.0, 1.0 - y * scores)
    assert line["hinge_loss"] == pytest.approx(losses.mean(), rel=1e-12)  # skips NaN
    assert line["n_test"] == 20
    assert line["decided"] == scores.notna().sum()


def test_a_level_that_a_fit_lacks_has_no_part_in_its_scores(curves):
    data = curves.copy()
    data["g"] = np.where(FOLD_OF == 2, "only", data["g"])
    model = ps.svm("y ~ scale(x) + g", data, lam=0.1)
    found = ps.cross_validate(model, EXACT, folds=FOLD_OF, seed=1)
    own = data[FOLD_OF != 2]
    fit = ps.svm("y ~ scale(x) + g", own, lam=0.1).fit(EXACT)
    as_first = data[FOLD_OF == 2].assign(g="a")  # the level without a coefficient
    expected = fit.decision_function(as_first)
    near(found.scores[FOLD_OF == 2], expected)
    plain = ps.svm("y ~ x + g", data, lam=0.1)
    found = ps.cross_validate(plain, EXACT, folds=FOLD_OF, seed=1)
    fit = ps.svm("y ~ x + g", own, lam=0.1).fit(EXACT)
    expected = fit.decision_function(as_first)
    near(found.scores[FOLD_OF == 2], expected)


def test_counts_missing_rows_and_all_studies(curves):
    data = curves.copy()
    data.loc[[4, 30], "x"] = np.nan
    data["n"] = np.arange(60) % 3
    given = {"lam": 0.1, "freq_weights": "n"}
    model = ps.svm("y ~ scale(x) + g", data, **given)
    assert model.problem.n == 60 - data["n"][[4, 30]].sum()
    folds = ps.cross_validate(model, EXACT, folds=3, seed=2).folds
    path = ps.lambda_path(model, [0.1], EXACT, folds=folds)
    cv = ps.cross_validate(model, EXACT, folds=folds)
    assert path.table["error_rate"].iloc[0] == cv.mean["error_rate"]
    rows = data.loc[np.repeat(np.arange(60), data["n"])].dropna().reset_index(drop=True)
    for train, test in folds:
        fit = ps.svm("y ~ scale(x) + g", rows.iloc[train], lam=0.1).fit(EXACT)
        near(cv.scores.iloc[test], fit.decision_function(rows.iloc[test]))
    kernel = ps.kernel_svm("y ~ scale(x) + z", curves, gamma=0.5, lam=0.1)
    found = ps.cross_validate(kernel, EXACT, folds=FOLD_OF, seed=1)
    own = curves[FOLD_OF != 0]
    fit = ps.kernel_svm("y ~ scale(x) + z", own, gamma=0.5, lam=0.1).fit(EXACT)
    expected = fit.decision_function(curves[FOLD_OF == 0])
    near(found.scores[FOLD_OF == 0], expected)


@pytest.mark.parametrize("term", ["scale(x)", "I((x - mean(x)) / sd(x))"])
def test_a_fold_in_which_a_transform_has_no_value_is_named(curves, term):
    data = curves.assign(x=np.where(FOLD_OF == 1, curves["x"], 2.0))
    model = ps.svm(f"y ~ {term}", data, lam=0.1)
    with pytest.raises(DataError, match=r"^Fold 1 of repeat 1 has 40 training rows"):
        ps.cross_validate(model, EXACT, folds=FOLD_OF, seed=1)
