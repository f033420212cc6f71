"""All statistics of a confusion table: options, scores, undefined ones, the report."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError, UndefinedMetricWarning
from pegasos_stats.metrics.caret import CARET_NAMES
from pegasos_stats.metrics.rates import mcnemar

RTOL = 1e-12  # the same sums in another order

ACTUAL = [5] * 300 + [6] * 300
PREDICTED = [5] * 285 + [6] * 15 + [5] * 8 + [6] * 292


@pytest.fixture(scope="module")
def digits():
    return ps.confusion(ACTUAL, PREDICTED, event_level="first")


@pytest.fixture(scope="module")
def logistic():
    train, test = ps.datasets.load_digits56()
    return ps.logit("digit ~ p34 + p43", train).fit(), test


def random_labels(k, n=200, seed=0):
    return np.random.default_rng(seed).choice(list("abcde")[:k], (2, n))


def test_the_second_level_is_positive_and_that_of_caret_may_be_named(digits):
    assert digits.positive == 5
    named = ps.confusion(ACTUAL, PREDICTED, 5)
    assert named.by_class.equals(digits.by_class)
    other = ps.confusion(ACTUAL, PREDICTED)
    for matrix, level in ((digits, 5), (named, 5), (other, 6)):
        assert matrix.positive == matrix.by_class.name == level
        assert f"'Positive' Class : {level}" in str(matrix.summary())
    assert other.by_class["specificity"] == digits.by_class["sensitivity"]
    assert other.overall.equals(digits.overall)


def test_rows_are_actual_where_caret_has_columns(digits):
    assert digits.overall["no_information_rate"] == 0.5  # 0.5117 of the transpose
    assert digits.by_class["balanced_accuracy"] == pytest.approx(0.9616666666666667)
    assert "Rows are the actual labels" in str(digits.summary())


def test_probabilities_of_more_levels():
    actual, predicted = random_labels(3)
    p = np.random.default_rng(2).dirichlet([1, 1, 1], 200)
    frame = pd.DataFrame(p, columns=["a", "b", "c"])[["c", "a", "b"]]
    found = ps.confusion(actual, predicted, probabilities=frame).overall
    assert found["log_loss"] == pytest.approx(metrics.log_loss(actual, p), rel=RTOL)
    peer = ((p - (np.array(list("abc")) == actual[:, None])) ** 2).sum() / 200
    assert found["brier_score"] == pytest.approx(peer, rel=RTOL)


def test_undecided_rows_keep_their_score():
    scores = [-1.0, 0.0, np.nan, 1.0, 0.0]
    matrix = ps.confusion([0, 0, 0, 1, 1], [0, None, None, 1, None], scores=scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert matrix.overall["auc"] == 3.5 / 4


def test_a_fit_gives_its_scores_and_probabilities(logistic):
    result, test = logistic
    matrix = result.confusion(test, positive=6, mode="everything", beta=2)
    y, p = test["digit"] == 6, result.predict_proba(test)[6]
    assert matrix.overall["auc"] == pytest.approx(metrics.roc_auc_score(y, p))
    assert matrix.overall["log_loss"] == pytest.approx(metrics.log_loss(y, p))
    assert matrix.positive == 6
    assert str(matrix) == str(matrix.summary("everything"))


def test_undefined_statistics_are_named():
    matrix = ps.confusion([5, 5, 6], [5, 5, 5], 5)
    with pytest.warns(UndefinedMetricWarning, match="mcc"):
        assert np.isnan(matrix.overall["mcc"])
    with pytest.warns(UndefinedMetricWarning, match="neg_pred_value"):
        assert np.isnan(matrix.by_class["neg_pred_value"])
    with pytest.warns(UndefinedMetricWarning) as found:
        matrix.tidy()
    assert len(found) == 1


def test_levels_that_are_not_there_keep_their_place():
    actual = pd.Categorical(["a", "b", "a"], categories=["a", "b", "c"])
    with pytest.warns(UndefinedMetricWarning, match="c: sensitivity"):
        by_class = ps.confusion(actual, actual).by_class
    assert by_class["detection_rate"].tolist() == [2 / 3, 1 / 3, 0.0]


def test_tidy_has_the_columns_of_broom(digits):
    tidied = digits.tidy(level=0.9)
    columns = "term class estimate conf_low conf_high p_value"
    assert tidied.columns.tolist() == columns.split()
    terms = tidied["term"].tolist()
    assert terms[:3] == ["accuracy", "kappa", "mcnemar"]
    assert terms[-11:] == list(CARET_NAMES)[7:]
    assert set(tidied["class"][-11:]) == {5}
    accuracy = tidied.set_index("term").loc["accuracy"]
    low, high = digits.error_interval(level=0.9)
    limits = accuracy["conf_low"], accuracy["conf_high"]
    assert limits == pytest.approx((1 - high, 1 - low))
    assert accuracy["p_value"] == digits.overall["accuracy_p_value"]


@pytest.mark.parametrize("method", ["exact", "wilson"])
def test_intervals_of_all_rates(digits, method):
    found = digits.conf_int(method).set_index("term")[["conf_low", "conf_high"]]
    assert tuple(found.loc["error_rate"]) == digits.error_interval(method)
    right = ps.confusion(ACTUAL[:300], PREDICTED[:300], levels=[5, 6])
    low, high = right.error_interval(method)
    assert tuple(found.loc["sensitivity"]) == pytest.approx((1 - high, 1 - low))


TWO, THREE = [5, 6], ["a", "b", "c"]


@pytest.mark.parametrize(
    ("labels", "options", "named"),
    [
        (TWO, {"positive": 7}, "positive=7"),
        (TWO, {"mode": "all"}, "mode='all'"),
        (TWO, {"beta": 0}, "beta=0"),
        (TWO, {"prevalence": {5: 0.1, 6: 0.9}}, "prevalence="),
        (TWO, {"scores": ["high", "low"]}, "scores"),
        (TWO, {"probabilities": pd.DataFrame({5: [1, 1], 7: [0, 0]})}, "columns 5, 7"),
        (TWO, {"probabilities": [0.5, 1.5]}, r"1 row \(1\) are not between 0 and 1"),
        (TWO, {"probabilities": [[0.5, 0.6], [0, 1]]}, r"1 row \(0\) do not add up to"),
        (THREE, {"positive": "a"}, "positive="),
        (THREE, {"scores": [1, 2, 3]}, "scores"),
        (THREE, {"prevalence": 0.5}, "prevalence="),
        (THREE, {"prevalence": {"a": 0.5}}, "prevalence="),
    ],
)
def test_options_that_make_no_sense_are_named(labels, options, named):
    with pytest.raises((DataError, OptionError), match=f"(?i){named}"):
        ps.confusion(labels, labels, **options)


def test_a_certain_error_has_an_infinite_log_loss():
    actual, predicted = [0, 0, 1, 1], [0, 1, 0, 1]
    matrix = ps.confusion(actual, predicted, probabilities=[0.5, 0.6, 0.0, 0.5])
    assert matrix.overall["log_loss"] == np.inf


def test_equal_errors_are_not_corrected():
    assert mcnemar(np.array([[10, 5], [5, 10]])) == (0.0, 1, 1.0)
    assert np.isnan(mcnemar(np.array([[10, 0], [0, 10]])).p_value)


def test_scores_of_labels_without_names_go_by_position():
    scores = pd.Series([0.0, 1.0], index=[1, 0])
    assert ps.confusion([5, 6], [6, 5], scores=scores).overall["auc"] == 1.0
