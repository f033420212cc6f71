"""Precision and recall, against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError

ROUNDING = 1e-12  # the same sums in another order


def drawn(seed, n=300, digits=2):
    rng = np.random.default_rng(seed)
    rare = rng.random(n) < 0.08
    return np.where(rare, "yes", "no"), np.round(rare + rng.normal(size=n), digits)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("digits", [16, 1])
def test_curve_and_average_are_those_of_scikit_learn(seed, digits):
    actual, scores = drawn(seed, digits=digits)
    found = ps.precision_recall(actual, scores)
    expected = average_precision_score(actual == "yes", scores)
    assert found.average_precision == pytest.approx(expected, rel=ROUNDING)
    precision, recall, thresholds = precision_recall_curve(actual == "yes", scores)
    line = found.tidy()
    np.testing.assert_allclose(line["precision"], precision[::-1], ROUNDING)
    np.testing.assert_allclose(line["recall"], recall[::-1], ROUNDING)
    assert line["threshold"].tolist() == [np.inf, *thresholds[::-1]]
    assert found.prevalence == (actual == "yes").mean()


def test_the_positive_class_and_probabilities():
    actual, scores = drawn(5)
    p = 1.0 / (1.0 + np.exp(-scores))
    frame = pd.DataFrame({"no": 1.0 - p, "yes": p})
    found = ps.precision_recall(actual, frame)
    same = ps.precision_recall(actual, p)
    assert found.average_precision == same.average_precision
    other = ps.precision_recall(actual, frame, positive="no")
    expected = average_precision_score(actual == "no", 1.0 - p)
    assert other.average_precision == pytest.approx(expected, rel=ROUNDING)
    assert (found.positive, other.positive) == ("yes", "no")


def test_incomplete_rows_are_left_out():
    actual, scores = drawn(6)
    found = ps.precision_recall([*actual, None, "yes"], [*scores, 1.0, np.nan])
    assert (found.nobs, found.n_left_out) == (300, 2)
    assert found.tidy().equals(ps.precision_recall(actual, scores).tidy())


def test_what_has_no_curve_is_refused():
    with pytest.raises(DataError, match="'yes'"):
        ps.precision_recall(["yes"] * 3, [1, 2, 3])
    with pytest.raises(DataError, match="'no'"):
        ps.precision_recall(["yes", "yes", "no"], [1, 2, np.nan])
    with pytest.raises(DataError, match="3 actual and 2"):
        ps.precision_recall([1, 2, 1], [1, 2])
    with pytest.raises(OptionError, match="positive"):
        ps.precision_recall([1, 2, 1], [1, 2, 3], positive=3)


def test_infinite_scores_are_tied():
    scores = [np.inf, np.inf, 0.0, -np.inf, -np.inf]
    found = ps.precision_recall([0, 1, 1, 0, 1], scores)
    assert found.table["recall"].round(3).tolist() == [0.0, 0.333, 0.667, 1.0]
    expected = 0.5 / 3 + 2 / 9 + 0.6 / 3
    assert found.average_precision == pytest.approx(expected, abs=1e-12)
