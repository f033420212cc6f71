"""Intervals of statistics of a table: formulas of the literature, and coverage."""

import numpy as np
import pytest
from scipy.special import expit
from statsmodels.stats.inter_rater import cohens_kappa

import pegasos_stats as ps
from pegasos_stats.metrics import intervals
from pegasos_stats.metrics import rates as of_table
from pegasos_stats.metrics.confusion import ConfusionMatrix
from tests.metrics.counted_tables import auc_interval, rows_of

Z = 1.959963984540054
COUNTS = np.array([[60, 13], [4, 123]])
LEVELS3 = np.array([[40, 6, 1], [3, 55, 9], [2, 0, 84]])
SAME = 1e-10  # a dozen operations, in another order


def on_fishers_scale(value, error):
    middle, half = np.arctanh(value), Z * error / (1.0 - value**2)
    return np.tanh([middle - half, middle + half])


@pytest.mark.parametrize("counts", [COUNTS, COUNTS.T, LEVELS3])
def test_kappa_has_the_error_of_fleiss_cohen_and_everitt(counts):
    peer = cohens_kappa(counts)
    expected = on_fishers_scale(peer.kappa, peer.std_kappa)
    assert intervals.kappa_interval(counts) == pytest.approx(expected, rel=SAME)


def test_the_correlation_has_the_error_of_bishop_fienberg_and_holland():
    p = COUNTS / COUNTS.sum()
    (r1, r0), (c1, c0) = p.sum(axis=1), p.sum(axis=0)
    phi = of_table.matthews_correlation(COUNTS)
    slant = (r1 - r0) * (c1 - c0) / np.sqrt(r1 * r0 * c1 * c0)
    sides = (r1 - r0) ** 2 / (r1 * r0) + (c1 - c0) ** 2 / (c1 * c0)
    variance = 1 - phi**2 + phi * (1 + phi**2 / 2) * slant - 0.75 * phi**2 * sides
    expected = on_fishers_scale(phi, np.sqrt(variance / COUNTS.sum()))
    assert intervals.matthews_interval(COUNTS) == pytest.approx(expected, rel=SAME)


def test_predictive_values_are_proportions_of_the_rows_predicted():
    found = intervals.class_intervals(COUNTS, 0, None, "wilson", 0.9)
    for name, rows in (("pos_pred_value", (60, 64)), ("neg_pred_value", (123, 136))):
        assert found[name] == intervals.proportion_interval(*rows, "wilson", 0.9)


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_predictive_values_at_a_prevalence_are_mercaldos(share):
    sens, spec, m, n = 60 / 73, 123 / 127, 73, 127
    found = intervals.class_intervals(COUNTS, 0, share)
    log_odds = np.log(sens * share / ((1 - spec) * (1 - share)))
    error = np.sqrt((1 - sens) / sens / m + spec / (1 - spec) / n)
    limits = expit(log_odds + np.array([-Z, Z]) * error)
    assert found["pos_pred_value"] == pytest.approx(limits, rel=SAME)
    log_odds = np.log(spec * (1 - share) / ((1 - sens) * share))
    error = np.sqrt(sens / (1 - sens) / m + (1 - spec) / spec / n)
    limits = expit(log_odds + np.array([-Z, Z]) * error)
    assert found["neg_pred_value"] == pytest.approx(limits, rel=SAME)


def test_balanced_accuracy_adds_the_squares_of_wilsons_distances():
    rates = [(60, 73), (123, 127)]
    limits = np.array([intervals.proportion_interval(*r, "wilson") for r in rates])
    p = np.array([k / n for k, n in rates])
    below = np.sqrt(((p - limits[:, 0]) ** 2).sum()) / 2
    above = np.sqrt(((limits[:, 1] - p) ** 2).sum()) / 2
    expected = p.mean() - below, p.mean() + above
    for positive in (0, 1):
        found = intervals.class_intervals(COUNTS, positive)["balanced_accuracy"]
        assert found == pytest.approx(expected, rel=SAME)


TRUTHS = {
    "even": np.array([[0.40, 0.10], [0.15, 0.35]]),
    "rare": np.array([[0.10, 0.05], [0.05, 0.80]]),
    "good": np.array([[0.47, 0.03], [0.02, 0.48]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUTHS)
def test_intervals_cover(name):
    """500 samples of 150 rows: 0.95, less and more than 4 standard errors of 0.01.

    Binomial ones are exact, and cover more often; where a rate has 15 rows, by much.
    """
    p, rng = TRUTHS[name], np.random.default_rng(3)
    whole = np.round(p * 10_000).astype(np.int64)
    names = ("kappa", "matthews_correlation", "balanced_accuracy")
    names += ("pos_pred_value", "neg_pred_value")
    truths = {name: getattr(of_table, name)(whole) for name in names}
    held = dict.fromkeys(names, 0)
    for counts in rng.multinomial(150, p.ravel(), size=500).reshape(-1, 2, 2):
        found = intervals.class_intervals(counts)
        found["kappa"] = intervals.kappa_interval(counts)
        found["matthews_correlation"] = intervals.matthews_interval(counts)
        for name, truth in truths.items():
            low, high = found[name]
            held[name] += bool(np.isnan(low) or low <= truth <= high)
    for name, count in held.items():
        assert 0.91 <= count / 500 <= (0.998 if "value" in name else 0.989), name


@pytest.mark.parametrize(
    "cells", [(30, 0, 0, 20), (0, 30, 20, 0), (30, 20, 0, 0), (30, 0, 20, 0), (0,) * 4]
)
def test_without_variance_there_is_no_interval(cells):
    counts = np.reshape(cells, (2, 2))
    assert np.isnan(intervals.matthews_interval(counts)).all()
    if counts[1].any() and counts[:, 1].any() and counts[0, 0]:
        assert np.isnan(intervals.kappa_interval(counts)).all()
    if not counts[1].any():
        found = intervals.class_intervals(counts)["balanced_accuracy"]
        assert np.isnan(found).all()
        assert np.isnan(intervals.kappa_interval(counts)).all()


def test_all_of_them_are_in_conf_int_and_tidy():
    actual, predicted = rows_of(COUNTS)
    scores = np.linspace(-1.0, 1.0, actual.size) + predicted
    matrix = ps.confusion(actual, predicted, 0, scores=scores, prevalence=0.1)
    found = matrix.conf_int("wilson", 0.9).set_index("term")
    names = "error_rate accuracy kappa mcc auc sensitivity specificity pos_pred_value"
    names += " neg_pred_value precision balanced_accuracy"
    assert found.index.tolist() == names.split()
    limits = found[["conf_low", "conf_high"]].apply(tuple, axis=1)
    assert limits["kappa"] == intervals.kappa_interval(COUNTS, 0.9)
    assert limits["mcc"] == intervals.matthews_interval(COUNTS, 0.9)
    assert limits["auc"] == auc_interval(actual, scores, 0.9)
    of_class = intervals.class_intervals(COUNTS, 0, 0.1, "wilson", 0.9)
    of_class.pop("recall")
    assert {name: limits[name] for name in of_class} == of_class
    values = matrix.by_class
    for term in found.index[5:]:
        assert found.loc[term, "estimate"] == pytest.approx(values[term], rel=SAME)
    tidied = matrix.tidy("wilson", 0.9).set_index("term")
    for term in set(found.index) - {"error_rate"}:
        assert tuple(tidied.loc[term, ["conf_low", "conf_high"]]) == limits[term]


@pytest.mark.parametrize("source", ["training", "out of fold"])
def test_rows_that_are_not_new_have_no_interval_and_no_test(source):
    actual, predicted = rows_of(COUNTS)
    new = ps.confusion(actual, predicted, scores=predicted)
    given = {"scored": new.scored, "source": source}
    matrix = ConfusionMatrix(new.levels, new.counts.copy(), new.errors, **given)
    gone = ["accuracy_low", "accuracy_high", "accuracy_p_value", "mcnemar_p_value"]
    assert matrix.overall[gone].isna().all()
    area = "auc_pooled" if source == "out of fold" else "auc"
    kept = matrix.overall.drop(gone).rename({area: "auc"})
    assert kept.equals(new.overall.drop(gone))
    assert matrix.by_class.equals(new.by_class)
    assert matrix.conf_int()[["conf_low", "conf_high"]].isna().all(axis=None)
    assert matrix.conf_int()["estimate"].notna().all()
    tidied = matrix.tidy()
    assert tidied[["conf_low", "conf_high", "p_value"]].isna().all(axis=None)
    assert area in set(tidied["term"])
    assert str(matrix.summary()).count("95% CI") == 1  # caret's own line
    with pytest.warns(ps.errors.UndefinedMetricWarning) as found:
        assert np.isnan(matrix.error_interval()).all()
    assert found[0].filename == __file__


def test_out_of_fold_labels_are_no_new_rows():
    rng = np.random.default_rng(2)
    model = ps.SVM(rng.permutation(60) < 30, rng.normal(size=(60, 3)), lam=1.0)
    table = ps.cross_validate(model, folds=5, seed=1).confusion()
    assert table.source == "out of fold"
    assert "auc" not in table.overall.index
    assert 0.0 <= table.overall["auc_pooled"] <= 1.0


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        # 2 P(X < 8) + P(X = 8) for X binomial of 23 and one half
        (8, 15, 0.15158963203430176),
        (0, 5, 1 / 32),  # 2 / 32 less 1 / 32
        (2, 2, 1 - 0.5 * 6 / 16),
        (0, 0, 1.0),
    ],
)
def test_the_mid_p_value_counts_half_of_what_is_as_far(b, c, p):
    assert of_table.mcnemar_mid_p(b, c) == pytest.approx(p, rel=1e-12)


def test_a_class_without_hits_has_an_f_measure_of_0():
    matrix = ps.confusion(list("aabbb"), list("bbbab"), "a")
    assert matrix.by_class["f1"] == 0.0
    tidied = matrix.tidy().set_index("term")
    assert tidied.loc["f1", "estimate"] == 0.0
    assert "F1 :     NA" in str(matrix.summary("everything"))  # as caret prints it


def test_a_level_that_nobody_has_or_predicts_has_no_f_measure():
    with pytest.warns(ps.errors.UndefinedMetricWarning, match="f1"):
        found = ps.confusion(["a"], ["a"], levels=["a", "b"]).by_class
    assert np.isnan(found["f1"])
