"""Statistics of tables and scores drawn at random, against definitions and peers."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from sklearn import metrics
from statsmodels.stats.contingency_tables import SquareTable
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.proportion import proportion_confint

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError, UndefinedMetricWarning
from pegasos_stats.metrics import rates
from pegasos_stats.metrics import scores as statistics
from pegasos_stats.metrics.confusion import class_terms, overall_terms
from pegasos_stats.metrics.inputs import Choices
from pegasos_stats.metrics.intervals import proportion_interval
from tests.metrics.counted_tables import (
    NAN,
    SAME,
    auc_interval,
    divided,
    rows_of,
    same,
    tables,
)
from tests.parity.tables import matrix_of

# ---- Scores and probabilities, tied and weighted, beside their peers.


@st.composite
def scored_rows(draw, least=2):
    """Levels of which one may be rare, scores that are tied, weights with zeros."""
    n = draw(st.integers(least, 30))
    codes = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    scores = np.array(draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n))) / 2
    weights = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    return codes, scores, weights.astype(float)


@pytest.mark.fuzz
@given(rows=scored_rows())
def test_the_area_counts_pairs(rows):
    codes, scores, w = rows
    pairs = list(itertools.product(*(np.flatnonzero(codes == c) for c in (1, 0))))
    won = [(scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]) for i, j in pairs]
    size = [w[i] * w[j] for i, j in pairs]
    same(statistics.area_under_curve(codes, scores), np.mean(won) if won else NAN)
    weighted = statistics.area_under_curve(codes, scores, w)
    same(weighted, divided(np.dot(won, size), np.sum(size)) if won else NAN)
    repeated = np.repeat(np.arange(codes.size), w.astype(int))
    same(weighted, statistics.area_under_curve(codes[repeated], scores[repeated]))


@pytest.mark.fuzz
@given(rows=scored_rows(), level=st.sampled_from([0.5, 0.9, 0.99]))
def test_the_curve_and_its_interval_follow_from_pairs(rows, level):
    codes, scores, _ = rows
    assume(0 < codes.sum() < codes.size)
    curve = statistics.roc_curve(codes, scores)
    theirs = metrics.roc_curve(codes, scores, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_positive, theirs[0], rtol=SAME)
    np.testing.assert_allclose(curve.true_positive, theirs[1], rtol=SAME)
    np.testing.assert_array_equal(curve.thresholds, theirs[2])
    area = np.trapezoid(curve.true_positive, curve.false_positive)
    same(area, statistics.area_under_curve(codes, scores))
    low, high = auc_interval(codes, scores, level, scale="plain")
    one, other = scores[codes == 1][:, None], scores[codes == 0][None, :]
    won = (one > other) + 0.5 * (one == other)
    m, n = won.shape
    variance = NAN
    if min(m, n) > 1:
        variance = won.mean(axis=1).var(ddof=1) / m + won.mean(axis=0).var(ddof=1) / n
    if not variance > 1e-12:
        return
    half = norm.ppf((1 + level) / 2) * variance**0.5
    same(low, max(won.mean() - half, 0.0), rel=1e-9)
    same(high, min(won.mean() + half, 1.0), rel=1e-9)


@pytest.mark.fuzz
@given(data=st.data(), k=st.integers(2, 4))
def test_losses_of_probabilities_are_those_of_scikit_learn(data, k):
    n = data.draw(st.integers(1, 20))
    codes = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    odds = data.draw(st.lists(st.integers(1, 50), min_size=n * k, max_size=n * k))
    p = np.reshape(odds, (n, k)) / np.reshape(odds, (n, k)).sum(axis=1, keepdims=True)
    theirs = metrics.log_loss(codes, p, labels=range(k))
    same(statistics.log_loss(codes, p), theirs)
    brier = ((p - np.eye(k)[codes]) ** 2).sum() / n / (2 if k == 2 else 1)
    same(statistics.brier_score(codes, p), brier)


@pytest.mark.fuzz
@given(data=st.data())
def test_rows_that_lack_something_are_left_out_where_it_is_needed(data):
    n = data.draw(st.integers(1, 25))
    labels = st.lists(st.sampled_from(["low", "high", None]), min_size=n, max_size=n)
    actual, predicted = (pd.Series(data.draw(labels), dtype=object) for _ in range(2))
    p = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))) / 9
    p[p == 1.0] = np.nan
    scores = np.where(np.isnan(p), np.nan, 2 * p - 1)
    levels = ["low", "high"]
    given = {"levels": levels, "scores": scores, "probabilities": p}
    matrix = ps.confusion(actual, predicted, **given)
    for (i, j), count in np.ndenumerate(matrix.counts[:, :2]):
        assert count == ((actual == levels[i]) & (predicted == levels[j])).sum()
    labelled, given_label = actual.notna(), predicted.notna()
    undecided = int((labelled & ~given_label).sum())
    assert matrix.n_undecided == undecided == matrix.counts[:, 2].sum()
    assert matrix.n_unlabelled == (~labelled).sum()
    wrong = labelled & given_label & (actual != predicted)
    assert matrix.errors.index.tolist() == actual.index[wrong].tolist()
    assert matrix.n_errors == wrong.sum()
    assert matrix.n_classified == (labelled & given_label).sum()
    used = (labelled & ~np.isnan(p)).to_numpy()
    codes = (actual[used] == "high").to_numpy().astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        overall = matrix.overall
    expected = statistics.area_under_curve(codes, p[used])
    same(overall["auc"], expected)
    same(overall["brier_score"], np.mean((p[used] - codes) ** 2) if used.any() else NAN)


def test_probabilities_are_one_in_sum_to_their_tolerance():
    actual = predicted = ["a", "b", "b"]
    p = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    for sign in (-1, 1):
        p[1, 1] = 0.5 + sign * 0.9e-6
        ps.confusion(actual, predicted, probabilities=p)
        p[1, 1] = 0.5 + sign * 1.1e-6
        with pytest.raises(DataError, match="do not add up to 1"):
            ps.confusion(actual, predicted, probabilities=p)
    for outside in ([1.5, -0.5], [-1e-9, 1.0 + 1e-9]):
        with pytest.raises(DataError, match="are not between 0 and 1"):
            ps.confusion(actual, predicted, probabilities=[outside] * 3)
    one = ps.confusion(actual, predicted, probabilities=[0.0, 1.0, 0.25])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert one.overall["brier_score"] == pytest.approx(0.5625 / 3)


def test_a_share_may_be_nought_or_one_and_no_more():
    actual = ["a", "b", "b"]
    for share in (0, 1.0, np.float32(0.5)):
        choices = ps.confusion(actual, actual, prevalence=share).choices
        assert choices.prevalence == (share,)
    for share in (-1e-9, 1.0 + 1e-9, True, "0.5", np.nan):
        with pytest.raises(OptionError, match="prevalence="):
            ps.confusion(actual, actual, prevalence=share)
    three = dict(zip("abc", (0.0, 1.0, 0.25), strict=True))
    found = ps.confusion(list("abca"), list("abcb"), prevalence=three)
    with pytest.warns(UndefinedMetricWarning, match="_pred_value"):
        assert found.by_class["prevalence"].to_dict() == three
    assert matrix_of(np.array([[3, 1], [2, 9]]), Choices("b")).positive == "b"


# ---- Statistics of tables and scores, unbalanced, tied and weighted, beside their ...
#
# scikit-learn, scipy and statsmodels have most of them; the others follow from their
# definitions by counting rows.


@pytest.mark.fuzz
@given(counts=tables(), data=st.data())
def test_statistics_of_a_class_are_shares_of_rows(counts, data):
    positive = data.draw(st.integers(0, len(counts) - 1))
    beta = data.draw(st.sampled_from([0.25, 1.0, 2.0, 3.0]))
    share = data.draw(st.none() | st.sampled_from([0.0, 0.03, 0.6, 1.0]))
    actual, predicted = rows_of(counts) == positive
    n, tp = actual.size, int((actual & predicted).sum())
    fn, fp = int((actual & ~predicted).sum()), int((~actual & predicted).sum())
    tn = n - tp - fn - fp
    sens, spec = divided(tp, tp + fn), divided(tn, tn + fp)
    prec = divided(tp, tp + fp)
    p = divided(tp + fn, n) if share is None else share
    below = (1 + beta**2) * tp + beta**2 * fn + fp
    expected = {
        "sensitivity": sens,
        "specificity": spec,
        "pos_pred_value": divided(sens * p, sens * p + (1 - spec) * (1 - p)),
        "neg_pred_value": divided(spec * (1 - p), (1 - sens) * p + spec * (1 - p)),
        "precision": prec,
        "recall": sens,
        f"f{beta:g}": divided((1 + beta**2) * tp, below),
        "prevalence": p,
        "detection_rate": divided(tp, n),
        "detection_prevalence": divided(tp + fp, n),
        "balanced_accuracy": (sens + spec) / 2,
    }
    found = class_terms(counts, positive, share, beta)
    assert list(found) == list(expected)
    for name, value in found.items():
        same(value, expected[name], rel=1e-9)  # 1 - spec loses digits


@pytest.mark.fuzz
@given(counts=tables())
def test_statistics_of_the_table_are_those_of_the_peers(counts):
    actual, predicted = rows_of(counts)
    n, right = actual.size, int(np.trace(counts))
    assume(n > 0)
    found = overall_terms(counts)
    rate = counts.sum(axis=1).max() / n
    same(found["accuracy"], metrics.accuracy_score(actual, predicted))
    same(found["no_information_rate"], rate)
    above = binomtest(right, n, rate, "greater").pvalue
    same(found["accuracy_p_value"], above, rel=1e-9)
    interval = proportion_confint(right, n, method="beta")
    low, high = np.where(np.isnan(interval), (0, 1), interval)
    same(found["accuracy_low"], low)
    same(found["accuracy_high"], high)
    matthews = kappa = NAN
    if len(set(actual)) > 1 and len(set(predicted)) > 1:
        matthews = metrics.matthews_corrcoef(actual, predicted)
    if len(set(actual) | set(predicted)) > 1:
        kappa = metrics.cohen_kappa_score(actual, predicted)
    ours = found["mcc"], found["kappa"]
    assert ours == pytest.approx((matthews, kappa), 1e-9, 1e-12, nan_ok=True)
    k = len(counts)
    upper = np.triu_indices(k, 1)
    if (counts + counts.T)[upper].all() and k > 1:
        test = rates.mcnemar(counts)
        theirs = SquareTable(counts, shift_zeros=False).symmetry()
        if k == 2:
            unequal = bool(counts[0, 1] != counts[1, 0])
            theirs = their_mcnemar(counts, exact=False, correction=unequal)
        same(test.statistic, theirs.statistic)
        same(found["mcnemar_p_value"], theirs.pvalue, rel=1e-9)
        assert test.df == k * (k - 1) / 2
    else:
        assert found["mcnemar_p_value"] != found["mcnemar_p_value"]


@pytest.mark.fuzz
@given(b=st.integers(0, 60), c=st.integers(0, 60))
def test_the_exact_test_of_mcnemar_is_the_binomial_one(b, c):
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert rates.mcnemar_exact(b, c) == pytest.approx(expected, rel=1e-9)


@pytest.mark.fuzz
@given(
    n=st.integers(1, 500),
    share=st.floats(0, 1),
    level=st.floats(0.01, 0.999),
    method=st.sampled_from(["exact", "wilson"]),
)
def test_intervals_of_a_share_are_those_of_scipy(n, share, level, method):
    count = round(share * n)
    found = proportion_interval(count, n, method, level)
    theirs = binomtest(count, n).proportion_ci(level, method)
    assert tuple(found) == pytest.approx(tuple(theirs), rel=1e-8, abs=1e-12)
