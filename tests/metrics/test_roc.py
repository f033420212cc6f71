"""The ROC curve and the interval of its area, against scikit-learn and R's pROC."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.metrics.intervals import auc_interval
from pegasos_stats.metrics.scores import area_under_curve, roc_curve

ROUNDING = 1e-12  # the same sums in another order

# pROC 1.18.0 in R: ci.auc(roc(a, s, direction = "<"), method = "delong").
CODES = np.repeat([0, 1], [9, 7])
SCORES = np.array([1, 2, 2, 3, 3, 4, 5, 6, 7, 3, 4, 5, 6, 7, 8, 9], dtype=float)


def drawn(seed, n=120):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, n)
    return codes, np.round(rng.normal(size=n) + codes, 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_area_between_the_points_is_that_by_ranks(seed):
    codes, scores = drawn(seed)
    found = roc_curve(codes, scores)
    area = np.trapezoid(found.true_positive, found.false_positive)
    assert area == pytest.approx(area_under_curve(codes, scores), rel=ROUNDING)


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
    ("codes", "scores"),
    [
        ([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0]),
        ([0, 1, 1], [2.0, 1.0, 3.0]),
        ([0, 1], [1, 2]),
    ],
)
def test_without_variance_there_is_no_interval(codes, scores):
    assert np.isnan(auc_interval(np.array(codes), np.array(scores, dtype=float))).all()
