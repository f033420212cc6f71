"""Folds: drawn as R draws them, balanced, reused, given in several forms."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

import pegasos_stats as ps
from pegasos_stats.errors import DataError, LabelError, OptionError
from pegasos_stats.rng import RRandom
from pegasos_stats.studies.selection.folds import checked_folds, drawn_folds
from tests.parity.cases import golden

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


def test_parts(model):
    assert (model.problem.n, len(model._sample.kept)) == (50, 52)


@pytest.mark.parametrize("case", DRAWN)
def test_folds_and_seeds_are_those_that_r_wrote(case):
    rng = RRandom(case["seed"], sample_kind=case["kind"])
    found = drawn_folds(np.array(case["y"]), case["k"], len(case["folds"]), rng)
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


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b"] * 10,
        [True, False] * 10,
        [2.5, 1.5] * 10,
        pd.Categorical(["x", "y"] * 10, categories=["y", "x", "unused"]),
    ],
    ids=["text", "logical", "numbers", "categories"],
)
def test_levels_come_in_the_order_of_factor(y):
    signs = pd.Series(y)
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


def test_folds_by_label_leave_one_site_out(model):
    site = pd.Series(np.resize(["Bonn", "Ulm", "Kiel"], 50), model._sample.index)
    found = read(site, model)
    assert [split.fold for split in found.splits] == ["Bonn", "Kiel", "Ulm"]
    for split in found.splits:
        assert set(site.iloc[split.test]) == {split.fold}
    assert (read(site.to_numpy(), model).assignment == found.assignment).all()


def test_labels_of_rows_that_were_dropped_are_left_out(model):
    whole = np.arange(52) % 4
    kept = model._sample.kept
    assert (read(whole, model).assignment == read(whole[kept], model).assignment).all()
    data_index = [f"row {i}" for i in range(52)]
    by_row = read(pd.Series(whole, data_index), model)
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


def test_pairs_may_be_marks_and_may_leave_rows_out(model):
    marks = np.arange(50) < 20
    found = read([(marks, ~marks)], model)
    assert found.splits[0].train.tolist() == list(range(20))
    part = read([(np.arange(30), np.arange(40, 50))], model)
    assert (part.assignment[0] > 0).sum() == 10


@pytest.mark.parametrize(
    ("folds", "error", "message"),
    [
        (1, OptionError, "folds=1 is not allowed with 50 rows"),
        (51, OptionError, "folds=51"),
        (True, OptionError, "folds=True"),
        ("ten", OptionError, "'ten' is not allowed"),
        (2.0, OptionError, "2.0 is not allowed"),
        (np.ones(50), DataError, "1.0 only"),
        (np.arange(49), DataError, "49 values"),
        (np.where(np.arange(50) == 3, np.nan, np.arange(50) % 2), DataError, "'row 3'"),
        (pd.Series(np.arange(50) % 2), DataError, "row labels of folds"),
        ([(np.arange(30), np.arange(29, 50))], DataError, "both fitted and held out"),
        ([(np.arange(30), np.arange(0))], DataError, "no rows"),
        ([(np.arange(30), np.array([50]))], DataError, "to 50"),
        ([(np.arange(30), np.array([-1]))], DataError, "-1"),
        ([(np.arange(30), np.array([31, 31]))], DataError, "different ones"),
        ((np.arange(30), np.arange(30, 50)), OptionError, "folds="),
        ([], DataError, "0 values"),
        (ps.Folds.stratified([0, 1] * 9, 3, seed=1), DataError, "18 rows"),
    ],
)
def test_wrong_folds_are_refused(model, folds, error, message):
    with pytest.raises(error, match=message):
        read(folds, model)


def test_repeats_go_with_a_number_of_folds(model):
    for wrong in (0, 1.5, True):
        with pytest.raises(OptionError, match="repeats"):
            read(5, model, repeats=wrong)
    with pytest.raises(OptionError, match="goes with a number of folds"):
        read(np.arange(50) % 2, model, repeats=2)


def test_every_fit_needs_both_levels(model):
    by_level = model.problem.y
    with pytest.raises(DataError, match="no row of level 'no' to fit"):
        read(by_level, model)
    X = np.arange(12.0)[:, None]
    single = ps.SVM(np.arange(12) == 3, X, lam=1.0)
    with pytest.raises(DataError, match="level True"):
        ps.cross_validate(single, folds=3, seed=1)
    twice = ps.SVM(
        np.arange(12) < 2, X, weights=np.where(np.arange(12) == 1, 0, 1), lam=1.0
    )
    with pytest.raises(DataError, match="level True"):
        ps.cross_validate(twice, folds=3, seed=1)


def test_labels_of_folds_to_draw_are_checked():
    with pytest.raises(DataError, match="1 rows"):
        ps.Folds.stratified(["a", None, "b"], 2)
    with pytest.raises(LabelError, match="types"):
        ps.Folds.stratified(["a", 1, "a", 1], 2)
    with pytest.raises(OptionError, match="folds=0"):
        ps.Folds.stratified([1, 2], 0)


def test_a_drawn_seed_is_kept():
    folds = ps.Folds.stratified([0, 1] * 10, 5)
    again = ps.Folds.stratified([0, 1] * 10, 5, seed=folds.seed)
    assert (folds.assignment == again.assignment).all()
    assert f"seed {folds.seed}" in repr(folds)
