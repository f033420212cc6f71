"""Folds of whole groups: as R draws them, as even as can be, in every study."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.rng import RRandom
from pegasos_stats.studies.selection.folds import drawn_folds, grouped_folds
from tests.parity.cases import golden

DRAWN = golden("group_folds.json")  # by r_reference/golden_folds.R
SOLVER = ps.SDCA(tol=1e-3, epochs=100, seed=1)


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
def model(frame):
    return ps.svm("y ~ a + b", frame, lam=0.1)


def apart(folds, groups):
    groups = np.asarray(groups)
    return all(not set(groups[train]) & set(groups[test]) for train, test in folds)


@pytest.mark.parametrize("case", DRAWN)
def test_folds_are_those_that_r_wrote(case):
    rng = RRandom(case["seed"], sample_kind=case["kind"])
    groups = pd.factorize(np.array(case["groups"]))[0]
    k, repeats = case["k"], len(case["folds"])
    found = drawn_folds(np.array(case["y"]), k, repeats, rng, groups)
    assert found.assignment.tolist() == case["folds"]
    assert apart(found, groups)


def spread(folds, y):
    """How far shares of a level in the folds are apart, both levels together."""
    return sum(
        np.std([np.sum(y[test] == level) / np.sum(y == level) for _, test in folds])
        for level in (0, 1)
    )


def test_levels_are_as_even_as_those_of_scikit_learn():
    ours, stratified, plain = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        groups = pd.factorize(rng.integers(0, 20, 150) ** 2 // 12)[0]
        y = (rng.random(150) < 0.1 + 0.3 * (groups % 3 == 0)).astype(int)
        drawn = drawn_folds(y, 4, 1, RRandom(seed), groups)
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


def test_groups_may_be_a_column_or_labels_of_all_rows(frame, model):
    given = {"folds": 4, "seed": 3}
    by_name = ps.cross_validate(model, SOLVER, groups="patient", **given)
    known = frame["patient"].drop(3).to_numpy()
    assert apart(by_name.folds, known)
    for groups in (frame["patient"], frame["patient"].to_list()):
        found = ps.cross_validate(model, SOLVER, groups=groups, **given)
        assert (found.folds.assignment == by_name.folds.assignment).all()
    y = model.coding.decode(model.problem.y)
    drawn = ps.Folds.stratified(y, 4, groups=known, seed=3)
    assert (drawn.assignment == by_name.folds.assignment).all()
    assert by_name.folds.kind == "4, stratified by group"
    rows = ps.cross_validate(model, SOLVER, **given)
    assert not apart(rows.folds, known)


def test_all_studies_keep_groups_whole(frame, model):
    given = {"folds": 3, "groups": "patient", "seed": 3}
    expected = ps.cross_validate(model, SOLVER, **given).folds.assignment
    path = ps.lambda_path(model, [1.0, 0.1], SOLVER, **given)
    assert (path.folds.assignment == expected).all()
    nested = ps.cross_validate(model, SOLVER, lambda_path=path, **given)
    assert (nested.folds.assignment == expected).all()
    again = ps.cross_validate(
        model, SOLVER, folds=path.folds, lambda_path=[1.0], seed=3
    )
    assert again.folds is path.folds
    calibrated = ps.calibrate(model, SOLVER, **given)
    assert (calibrated.validation.folds.assignment == expected).all()
    kernel = ps.kernel_svm("y ~ a + b", frame, lam=0.1)
    tuned = ps.tune_kernel(kernel, [0.1, 1.0], [0.1], SOLVER, **given)
    for each in tuned.paths:
        assert (each.folds.assignment == expected).all()


def test_inner_folds_keep_groups_whole_too(frame, model):
    from pegasos_stats.studies.selection.cross_validation import inner_folds

    known = frame["patient"].drop(3).to_numpy()
    outer = ps.cross_validate(model, SOLVER, folds=3, groups="patient", seed=1).folds
    for split in outer.splits:
        inner = inner_folds(model, outer, split, 10, 1, RRandom(4))
        assert inner.k == 10
        fitted = np.sort(np.concatenate([test for _, test in inner]))
        assert (fitted == split.train).all()
        assert apart(inner, known)
        many = inner_folds(model, outer, split, 40, 1, RRandom(4))
        assert many.k == len(set(known[split.train]))


def test_folds_that_part_a_group_are_refused(frame, model):
    halves = np.arange(48) % 2
    kept = frame.drop(3).assign(half=np.delete(halves, 3))
    assert (kept.groupby("patient")["half"].nunique() == 2).sum() > 3
    with pytest.raises(DataError, match="Fold 0 of repeat 1 parts groups"):
        ps.cross_validate(model, SOLVER, seed=1, folds=halves, groups="patient")
    whole = frame["patient"].isin([f"p{i}" for i in range(8)])
    found = ps.cross_validate(model, SOLVER, seed=1, folds=whole, groups="patient")
    assert found.folds.kind == "2, given by group"
    assert (found.folds.groups == pd.factorize(frame["patient"].drop(3))[0]).all()


def test_what_is_no_group_is_refused(model):
    with pytest.raises(OptionError, match=r"folds=17 .* 16 groups"):
        ps.cross_validate(model, SOLVER, seed=1, folds=17, groups="patient")
    with pytest.raises(OptionError, match=r"groups are of 2 kinds"):
        ps.cross_validate(model, SOLVER, seed=1, groups=["patient", "y"])
    with pytest.raises(OptionError, match=r"folds=3 .* 2 groups"):
        ps.Folds.stratified([0, 1, 0, 1], 3, groups=list("aabb"))
