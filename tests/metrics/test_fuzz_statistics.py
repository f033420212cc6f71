"""Statistics of tables and scores, unbalanced, tied and weighted, beside their peers.

scikit-learn, scipy and statsmodels have most of them; the others follow from their
definitions by counting rows.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics
from statsmodels.stats.contingency_tables import SquareTable
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.proportion import proportion_confint

from pegasos_stats.metrics import rates
from pegasos_stats.metrics.confusion import class_terms, overall_terms
from pegasos_stats.metrics.intervals import proportion_interval
from tests.metrics.counted_tables import NAN, divided, rows_of, same, tables


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
        f"f{beta:g}": (1 + beta**2) * tp / below if tp else NAN,
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
    low, high = (
        edge if edge == edge else end
        for edge, end in zip(interval, (0, 1), strict=True)
    )
    same(found["accuracy_low"], low)
    same(found["accuracy_high"], high)
    constant = len(set(actual)) == 1 or len(set(predicted)) == 1
    if constant:
        assert found["mcc"] != found["mcc"]
    else:
        theirs = metrics.matthews_corrcoef(actual, predicted)
        assert found["mcc"] == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    if len(set(actual) | set(predicted)) > 1:
        theirs = metrics.cohen_kappa_score(actual, predicted)
        assert found["kappa"] == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    else:
        assert found["kappa"] != found["kappa"]
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
