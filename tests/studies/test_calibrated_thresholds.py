"""Thresholds of calibrated probabilities: by which rows, and judged by which."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.metrics.scores import ScoredRows, Target, cut
from pegasos_stats.studies.calibration import fit_sigmoid
from pegasos_stats.studies.selection.folds import drawn_folds
from tests.studies.threshold_rows import COST, SOLVER, frame


@pytest.fixture(scope="module")
def calibrated():
    model = ps.svm("y ~ .", frame(1), lam=0.01, weights={"no": 1.0, "yes": 2.0})
    return ps.calibrate(model, SOLVER, folds=3, seed=7)


@pytest.fixture(scope="module")
def found(calibrated):
    return calibrated.thresholds(cost=COST, seed=5)


def paid(table):
    return (
        table.loc["no", "yes"] + 4 * table.loc["yes", "no"]
    ) / table.to_numpy().sum()


def test_it_is_that_of_least_cost_out_of_fold(calibrated, found):
    table = calibrated.confusion(threshold=found.threshold).table
    assert paid(table) == found.apparent == found.table["cost"].min()
    assert (found.scale, found.usual, found.out_of_fold) == ("probability", 0.5, True)
    assert found.folds is calibrated.validation.folds
    # The weights of the classes are in the fits, not in what is paid: 90 rows count 90.
    assert found.by_fold["weight"].sum() == 90.0
    usual = paid(calibrated.confusion().table)
    assert found.tidy()["estimate"].iloc[1] == pytest.approx(usual, rel=1e-12)


def test_that_of_a_fold_is_chosen_within_the_rows_it_is_fitted_on(calibrated, found):
    data, rng = frame(1), ps.RRandom(5)
    y = calibrated.result.problem.y
    splits = calibrated.validation.folds.splits
    inner = [drawn_folds((y[s.train] > 0).astype(int), 5, 1, rng) for s in splits]
    at, split = 1, splits[1]
    part, labels = data.iloc[split.train], y[split.train]
    scores = np.zeros(len(labels))
    for fit, held in inner[at]:
        weights = {"no": 1.0, "yes": 2.0}
        model = ps.svm("y ~ .", part.iloc[fit], lam=0.01, weights=weights)
        result = model.fit(SOLVER)
        scores[held] = result.decision_function(part.iloc[held])
    chances = 1.0 / (1.0 + np.exp(-fit_sigmoid(labels, scores).logits(scores)))
    thresholds, decisions = cut(
        ScoredRows(chances, labels > 0, np.ones(60)), True, 0.5, (0.0, 1.0)
    )
    chosen = thresholds[Target("cost", 1.0, 4.0).best(thresholds, decisions, 0.5)]
    line = found.by_fold.iloc[at]
    assert line["threshold"] == pytest.approx(chosen, rel=1e-9)  # sums of other rows
    own = calibrated.probabilities["yes"].iloc[split.test] > line["threshold"]
    yes = data["y"].iloc[split.test] == "yes"
    assert line["cost"] == ((own & ~yes).sum() + 4 * (yes & ~own).sum()) / 30


def test_new_rows_have_folds_of_their_own(calibrated):
    new = frame(2, 70)
    found = calibrated.thresholds(new, metric="f1", positive="no", folds=4, seed=1)
    table = calibrated.confusion(new, threshold=found.threshold, positive="no")
    assert found.apparent == pytest.approx(table.by_class["f1"], rel=1e-12)
    assert (found.out_of_fold, found.folds.k, found.seed) == (False, 4, 1)
    labels = new.pop("y")
    same = calibrated.thresholds(
        new, labels, metric="f1", positive="no", folds=4, seed=1
    )
    assert same.by_fold.equals(found.by_fold)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"folds": 4}, "folds="),
        ({"freq_weights": "a"}, "freq_weights="),
        ({"positive": "maybe"}, "positive='maybe'"),
    ],
)
def test_what_goes_with_other_rows_is_refused(calibrated, given, named):
    with pytest.raises(OptionError, match=f"^{named}"):
        calibrated.thresholds(**given)


def test_rows_of_the_fit_are_refused_and_useless_scores_choose_nothing(calibrated):
    with pytest.raises(DataError, match="These are the rows of the fit"):
        calibrated.thresholds(frame(1))
    data = frame(1)
    data["a"] = 0.0
    model = ps.svm("y ~ a", data, lam=0.01)
    with pytest.warns(ps.errors.UndefinedMetricWarning):
        flat = ps.calibrate(model, SOLVER, folds=3, seed=7)
    found = flat.thresholds(metric="accuracy", seed=1)
    assert found.threshold == 0.5
