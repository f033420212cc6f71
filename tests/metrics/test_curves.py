"""Curves of scores, and of net benefit, against scikit-learn and R."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.metrics.scores import area_under_curve
from tests.metrics.counted_tables import auc_interval

# ---- The ROC curve and the interval of its area, against scikit-learn and R's pROC.

ROUNDING = 1e-12  # the same sums in another order

# pROC 1.18.0 in R: ci.auc(roc(a, s, direction = "<"), method = "delong").
CODES = np.repeat([0, 1], [9, 7])
SCORES = np.array([1, 2, 2, 3, 3, 4, 5, 6, 7, 3, 4, 5, 6, 7, 8, 9], dtype=float)


def drawn(seed, n=120):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, n)
    return codes, np.round(rng.normal(size=n) + codes, 1)


def test_the_interval_is_that_of_proc():
    assert area_under_curve(CODES, SCORES) == pytest.approx(0.79365079365079361)
    found = auc_interval(CODES, SCORES, scale="plain")
    assert found == pytest.approx((0.57134100872989069, 1.0), rel=ROUNDING)
    found = auc_interval(CODES, SCORES, level=0.8, scale="plain")
    expected = (0.64829023848318190, 0.93901134881840553)
    assert found == pytest.approx(expected, rel=ROUNDING)


def test_rows_that_count_several_times_are_so_many_rows_of_proc():
    """Twelve kinds of new rows that count 45, with ties between and within levels."""
    kinds = pd.DataFrame({"x": np.repeat(np.arange(6.0), 2), "y": ["a", "b"] * 6})
    kinds["times"] = [9, 1, 5, 2, 4, 3, 2, 5, 1, 6, 0, 7]
    train = pd.DataFrame({"x": np.arange(8.0), "y": list("aabababb")})
    result = ps.logit("y ~ x", train, lam=0.01).fit()
    counted = result.confusion(kinds, freq_weights="times")
    line = counted.conf_int().set_index("term").loc["auc"]
    each = kinds.loc[kinds.index.repeat(kinds["times"])]
    codes, scores = (each["y"] == "b").astype(int).to_numpy(), each["x"].to_numpy()
    assert line["estimate"] == pytest.approx(0.874007936508, abs=1e-12)
    logits = auc_interval(codes, scores)
    assert (line["conf_low"], line["conf_high"]) == pytest.approx(logits, rel=ROUNDING)
    found = auc_interval(codes, scores, scale="plain")
    assert found == pytest.approx((0.773940554427, 0.974075318588), abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_on_the_logit_scale_has_the_same_variance(level):
    codes, scores = drawn(5, 40)
    area = area_under_curve(codes, scores)
    low, high = auc_interval(codes, scores, level, scale="plain")
    half = (high - low) / 2.0 / (area * (1.0 - area))
    logits = np.array(auc_interval(codes, scores, level))
    logits = np.log(logits / (1.0 - logits))
    middle = np.log(area / (1.0 - area))
    assert logits == pytest.approx([middle - half, middle + half], rel=1e-9)


def test_near_1_the_logit_scale_covers_where_the_plain_one_does_not():
    rng, truth = np.random.default_rng(7), 0.9831  # Phi(3 / sqrt(2))
    held = {"logit": 0, "plain": 0}
    codes = np.repeat([0, 1], [60, 25])
    for _ in range(400):
        scores = rng.normal(size=85) + 3.0 * codes
        for scale in held:
            low, high = auc_interval(codes, scores, scale=scale)
            # Without a row out of order there is no interval; it is not counted.
            held[scale] += bool(np.isnan(low) or low <= truth <= high)
    assert held["logit"] / 400 > 0.92  # 0.95, less 3 standard errors of 0.011
    assert held["plain"] / 400 < 0.92


def test_the_other_level_has_the_mirrored_interval():
    codes, scores = drawn(6)
    low, high = auc_interval(codes, scores)
    assert auc_interval(1 - codes, scores) == pytest.approx((1.0 - high, 1.0 - low))


@pytest.mark.parametrize(
    ("codes", "scores"), [([0, 0, 1, 1], [1, 2, 3, 4]), ([0, 1, 1], [2, 1, 3])]
)
def test_without_variance_there_is_no_interval(codes, scores):
    assert np.isnan(auc_interval(np.array(codes), np.array(scores, dtype=float))).all()


# ---- Precision and recall, against scikit-learn.


def drawn_of_recall(seed, n=300, digits=2):
    rng = np.random.default_rng(seed)
    rare = rng.random(n) < 0.08
    return np.where(rare, "yes", "no"), np.round(rare + rng.normal(size=n), digits)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("digits", [16, 1])
def test_curve_and_average_are_those_of_scikit_learn(seed, digits):
    actual, scores = drawn_of_recall(seed, digits=digits)
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
    actual, scores = drawn_of_recall(5)
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
    actual, scores = drawn_of_recall(6)
    found = ps.precision_recall([*actual, None, "yes"], [*scores, 1.0, np.nan])
    assert (found.nobs, found.n_left_out) == (300, 2)
    assert found.tidy().equals(ps.precision_recall(actual, scores).tidy())


def test_what_has_no_curve_is_refused():
    with pytest.raises(DataError, match="'yes'"):
        ps.precision_recall(["yes"] * 3, [1, 2, 3])
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


# ---- Net benefit, against the formula of dcurves row by row.

THRESHOLDS = np.arange(100) / 100.0


def drawn_of_curve(seed=1, n=250):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.0, 3.0, n)
    actual = np.where(rng.random(n) < p, "yes", "no")
    return actual, p, np.clip(np.round(p**0.5, 2), 0.0, 1.0)


def by_hand(happened, p, threshold, prevalence=None):
    """Net benefit as dcurves computes it, by the rates within the outcomes."""
    share = happened.mean() if prevalence is None else prevalence
    true = (p[happened] >= threshold).mean() * share
    false = (p[~happened] >= threshold).mean() * (1.0 - share)
    return true - threshold / (1.0 - threshold) * false


@pytest.mark.parametrize("prevalence", [None, 0.05])
def test_net_benefit_is_that_of_the_formula(prevalence):
    actual, a, b = drawn_of_curve()
    models = {"a": a, "b": b}
    table = ps.decision_curve(actual, models, prevalence=prevalence).tidy()
    sides = models | {"all": np.ones(250), "none": np.full(250, -1.0)}
    assert table["model"].unique().tolist() == ["a", "b", "all", "none"]
    for name, p in sides.items():
        expected = [by_hand(actual == "yes", p, t, prevalence) for t in THRESHOLDS]
        line = table[table["model"] == name]
        assert line["threshold"].tolist() == THRESHOLDS.tolist()
        np.testing.assert_allclose(line["net_benefit"], expected, ROUNDING, ROUNDING)


# dca(data, outcome="y", modelnames=["p"], thresholds=AT, prevalence=...) of dcurves
# 1.1.7 in Python.
AT = [0.0, 0.1, 0.2, 0.5, 0.7]
Y = [0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0]
P = [0.05, 0.1, 0.3, 0.85, 0.2, 0.5, 0.35, 0.6, 0.1, 0.25, 0.2, 0.7]
OF_DCURVES = {
    None: """0.416666666666667 0.361111111111111 0.333333333333333 0.166666666666667
        -0.111111111111111 0.416666666666667 0.351851851851852 0.270833333333333
        -0.166666666666667 -0.944444444444444 0 0 0 0 0""",
    0.1: """0.1 0.0142857142857143 -0.0285714285714286 -0.0685714285714286 -0.28
        0.1 0 -0.125 -0.8 -2 0 0 0 0 0""",
}


@pytest.mark.parametrize("prevalence", OF_DCURVES)
def test_net_benefit_is_that_of_dcurves(prevalence):
    found = ps.decision_curve(Y, {"p": P}, AT, prevalence=prevalence).tidy()
    expected = np.array(OF_DCURVES[prevalence].split(), dtype=float)
    np.testing.assert_allclose(found["net_benefit"], expected, 1e-13, 1e-15)


def test_right_probabilities_are_above_both_rules():
    rng = np.random.default_rng(4)
    p = rng.beta(1.0, 3.0, 100_000)
    table = ps.decision_curve(rng.random(p.size) < p, p, [0.1, 0.3, 0.5]).tidy()
    benefit = table.pivot(index="threshold", columns="model", values="net_benefit")
    assert (benefit["model"] > benefit[["all", "none"]].max(axis=1)).all()


def test_rows_that_lack_any_probability_are_left_out_of_all():
    actual, a, b = drawn_of_curve()
    longer = {"a": [*a, np.nan, 0.5], "b": [*b, 0.5, 0.5]}
    found = ps.decision_curve([*actual, "yes", None], longer)
    assert (found.nobs, found.n_left_out) == (250, 2)
    expected = ps.decision_curve(actual, {"a": a, "b": b}).tidy()
    pd.testing.assert_frame_equal(found.tidy(), expected)


@pytest.mark.parametrize(
    ("p", "given", "error", "named"),
    [
        (P, {"thresholds": [0.5, 1.0]}, OptionError, "thresholds"),
        ({"all": P}, {}, OptionError, "'all'"),
        (P, {"prevalence": 1.5}, OptionError, "1.5"),
        ([2.0] * 12, {}, DataError, "between 0 and 1"),
        (P[1:], {}, DataError, "11"),
    ],
)
def test_what_has_no_net_benefit_is_refused(p, given, error, named):
    with pytest.raises(error, match=named):
        ps.decision_curve(Y, p, **given)
