"""Thresholds that are chosen: what is refused, and what the summary says."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from tests.studies.threshold_rows import COST, SOLVER, frame


@pytest.fixture(scope="module")
def svm():
    return ps.svm("y ~ .", frame(1), lam=0.01).fit(SOLVER)


@pytest.fixture(scope="module")
def found(svm):
    return svm.thresholds(cost=COST, folds=3, seed=7)


def test_the_training_rows_are_refused(svm, tmp_path):
    with pytest.raises(DataError) as caught:
        svm.thresholds(frame(1))
    assert str(caught.value) == (
        "These are the rows of the fit, on which scores are too far apart to choose a "
        "threshold; leave data out for scores out of fold, or give new rows."
    )
    ps.save(svm, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    with pytest.raises(DataError) as caught:
        loaded.thresholds()
    assert str(caught.value) == (
        "A loaded fit does not hold the rows to choose a threshold by; give new rows: "
        "thresholds(data)."
    )
    new = frame(2, 70)
    ours, theirs = (fit.thresholds(new, seed=1) for fit in (loaded, svm))
    assert ours.by_fold.equals(theirs.by_fold)
    one = new[new["y"] == "no"]
    with pytest.raises(DataError) as caught:
        svm.thresholds(one, seed=1)
    assert str(caught.value) == (
        "No row of level 'yes' is there to choose a threshold by; give rows of both "
        "levels."
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"metric": "sensitivity"},
            "metric='sensitivity' is not known; give one of 'accuracy', 'error_rate', "
            "'balanced_accuracy', 'youden', 'kappa', 'mcc', 'f1', 'f0.5', 'f2'.",
        ),
        (
            {"metric": "F1"},
            "metric='F1' is not known (did you mean 'f1'?); give one of 'accuracy', "
            "'error_rate', 'balanced_accuracy', 'youden', 'kappa', 'mcc', 'f1', "
            "'f0.5', 'f2'.",
        ),
        (
            {"metric": ["f1"]},
            "metric=['f1'] is not known; give one of 'accuracy', 'error_rate', "
            "'balanced_accuracy', 'youden', 'kappa', 'mcc', 'f1', 'f0.5', 'f2'.",
        ),
        (
            {"metric": "mcc", "cost": COST},
            "metric='mcc' and cost={'no': 1.0, 'yes': 4.0} exclude each other; give "
            "one of them.",
        ),
        (
            {"cost": {"no": 0, "yes": 0}},
            "cost={'no': 0, 'yes': 0} is not allowed; give what wrong decisions cost, "
            "one of them above zero: {'false_positive': 1, 'false_negative': 5}, or by "
            "the actual level, {'no': 1, 'yes': 5}.",
        ),
        (
            {"cost": {"no": 1}},
            "cost={'no': 1} is not allowed; give what wrong decisions cost, one of "
            "them above zero: {'false_positive': 1, 'false_negative': 5}, or by the "
            "actual level, {'no': 1, 'yes': 5}.",
        ),
        (
            {"cost": {"no": -1, "yes": 1}},
            "cost=-1 is not allowed; give a finite number, 0 or more.",
        ),
        (
            {"positive": "maybe"},
            "positive='maybe' is not among the levels; give one of 'no', 'yes'.",
        ),
    ],
)
def test_options_that_make_no_sense(svm, given, words):
    with pytest.raises(OptionError) as caught:
        svm.thresholds(**given)
    assert str(caught.value) == words


def test_the_summary_says_what_was_done(found):
    text = str(found.summary())
    assert "Best:                    smallest cost" in text
    assert "Cost of a false negative:            4" in text
    assert "Positive class:                    yes" in text
    low, high = found.by_fold["threshold"].min(), found.by_fold["threshold"].max()
    assert found.summary().notes == [
        "Nested: in each fold the threshold was chosen anew, by folds of the rows that "
        "it was fitted on, and judged on the rows held out; decisions of all folds are "
        "counted together.",
        f"Thresholds of the folds go from {low:.4g} to {high:.4g}.",
        f"On the rows that have chosen it the cost at the threshold is "
        f"{found.apparent:.4g}, which is optimistic.",
    ]
    assert repr(found) == (
        f"<Thresholds: score {found.threshold:.4g}, cost {found.estimate:.4g} "
        f"(standard error {found.std_error:.2g}), seed 7>"
    )


def test_a_threshold_beyond_all_scores_is_said(svm):
    ours = svm.thresholds(cost={"no": 0, "yes": 1}, folds=3, seed=7)
    assert ours.apparent == 0.0
    dearer = ours.table["threshold"] > ours.threshold
    assert (ours.table["cost"][dearer] > 0.0).all()
    never = svm.thresholds(cost={"no": 1, "yes": 1e-9}, folds=3, seed=7)
    predicted = svm.predict(threshold=never.threshold)
    assert (predicted == "no").all()
    infinite = np.isinf(never.threshold)
    last = "At this threshold all rows are predicted alike."
    assert (never.summary().notes[-1] == last) == infinite


@pytest.mark.parametrize("name", ["freq_weights", "offset"])
def test_rows_of_the_fit_have_their_own(svm, name):
    with pytest.raises(OptionError, match=f"^{name}= is of the rows of data="):
        svm.thresholds(**{name: np.ones(90)})
