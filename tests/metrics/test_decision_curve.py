"""Net benefit, against the formula of dcurves row by row."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError

ROUNDING = 1e-12  # the same sums in another order
THRESHOLDS = np.arange(100) / 100.0


def drawn(seed=1, n=250):
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
    actual, a, b = drawn()
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
    None: [
        *[0.416666666666667, 0.361111111111111, 0.333333333333333],
        *[0.166666666666667, -0.111111111111111, 0.416666666666667],
        *[0.351851851851852, 0.270833333333333, -0.166666666666667],
        *[-0.944444444444444, 0.0, 0.0, 0.0, 0.0, 0.0],
    ],
    0.1: [
        *[0.1, 0.0142857142857143, -0.0285714285714286, -0.0685714285714286, -0.28],
        *[0.1, 0.0, -0.125, -0.8, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ],
}


@pytest.mark.parametrize("prevalence", OF_DCURVES)
def test_net_benefit_is_that_of_dcurves(prevalence):
    found = ps.decision_curve(Y, {"p": P}, AT, prevalence=prevalence).tidy()
    expected = OF_DCURVES[prevalence]
    np.testing.assert_allclose(found["net_benefit"], expected, 1e-13, 1e-15)


def test_right_probabilities_are_above_both_rules():
    rng = np.random.default_rng(4)
    p = rng.beta(1.0, 3.0, 100_000)
    table = ps.decision_curve(rng.random(p.size) < p, p, [0.1, 0.3, 0.5]).tidy()
    benefit = table.pivot(index="threshold", columns="model", values="net_benefit")
    assert (benefit["model"] > benefit[["all", "none"]].max(axis=1)).all()


def test_rows_that_lack_any_probability_are_left_out_of_all():
    actual, a, b = drawn()
    longer = {"a": [*a, np.nan, 0.5], "b": [*b, 0.5, 0.5]}
    found = ps.decision_curve([*actual, "yes", None], longer)
    assert (found.nobs, found.n_left_out) == (250, 2)
    expected = ps.decision_curve(actual, {"a": a, "b": b}).tidy()
    pd.testing.assert_frame_equal(found.tidy(), expected)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda y, p: ps.decision_curve(y, p, [0.5, 1.0]), OptionError, "thresholds"),
        (lambda y, p: ps.decision_curve(y, p, []), OptionError, "thresholds"),
        (lambda y, p: ps.decision_curve(y, p, ["a"]), OptionError, "thresholds"),
        (lambda y, p: ps.decision_curve(y, {}), OptionError, "name"),
        (lambda y, p: ps.decision_curve(y, {"all": p}), OptionError, "'all'"),
        (lambda y, p: ps.decision_curve(y, p, prevalence=1.5), OptionError, "1.5"),
        (lambda y, p: ps.decision_curve(y, p + 1.0), DataError, "between 0 and 1"),
        (lambda y, p: ps.decision_curve(y[1:], p), DataError, "249"),
        (lambda y, p: ps.decision_curve(["a"] * 250, p), DataError, "'a'"),
    ],
)
def test_what_has_no_net_benefit_is_refused(call, error, words):
    actual, p, _ = drawn()
    with pytest.raises(error, match=words):
        call(actual, p)
