"""Effects where a term of the formula has no value beyond what it was fitted on."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError

SOLVER = ps.SDCA(tol=1e-9, seed=1)
TERMS = ["cut(x, 3)", "bs(x, df=4)", "C(floor(x / 2))", "cut(x, [-4, 0, 4, 7])"]


@pytest.fixture(scope="module")
def data():
    i = np.arange(90)
    data = pd.DataFrame({"x": i % 11 - 3.0, "b": i % 5 == 0})
    return data.assign(y=np.where((i * i) % 7 > 2 + data["x"] / 3, "ill", "well"))


@pytest.fixture(scope="module")
def fits(data):
    def fitted(term, model):
        return model(f"y ~ {term} + b", data, lam=0.01).fit(SOLVER, cov_type="none")

    return {
        (term, model): fitted(term, model)
        for term in TERMS
        for model in (ps.logit, ps.svm)
    }


def by_hand(result, data, change, top):
    """Mean change from ``x`` to ``x + change``, or to ``x`` from below at the top."""
    low = np.where(data["x"] + change > top, data["x"] - change, data["x"])
    if result.problem.loss == "log":
        low, high = (
            result.predict_proba(data.assign(x=x))["well"] for x in (low, low + change)
        )
    else:
        low, high = (
            result.predict(data.assign(x=x)) == "well" for x in (low, low + change)
        )
    return high.astype(float).mean() - low.astype(float).mean()


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("model", [ps.logit, ps.svm])
def test_a_change_stays_where_all_terms_have_a_value(data, fits, term, model):
    result = fits[term, model]
    spread = float(data["x"].std())
    top = 7.99 if "floor" in term else 7.0  # floor(7.99 / 2) is a level of the fit
    without_slope = model is ps.svm or "bs" not in term
    for asked, change in (({"change": "sd"}, spread), ({"change": 2}, 2.0), ({}, None)):
        found = result.margins("x", **asked)
        if change is None and not without_slope:
            assert found.tidy()["contrast"].tolist() == ["dY/dX"]
            continue
        change = spread if change is None else change
        assert found.tidy()["estimate"].iloc[0] == pytest.approx(
            by_hand(result, data, change, top), abs=1e-12
        )


@pytest.mark.parametrize("term", TERMS)
def test_what_leaves_the_range_on_both_sides_is_refused(fits, term):
    with pytest.raises(DataError, match=r"x \+ 50 .*in 90 rows"):
        fits[term, ps.logit].margins("x", change=50)
    with pytest.raises(DataError, match=r"x = 30, in 90 rows"):
        fits[term, ps.svm].margins("b", at={"x": 30})


@pytest.mark.parametrize("end", [-3.0, 7.0])
def test_a_row_at_the_end_of_a_spline_has_a_derivative(data, fits, end):
    result = fits["bs(x, df=4)", ps.logit]
    row = data[data["x"] == end].iloc[[0]]
    inside = row.assign(x=end - np.sign(end) * 1e-5)
    low, high = (result.predict_proba(each)["well"].iloc[0] for each in (inside, row))
    slope = (high - low) / (np.sign(end) * 1e-5)
    found = result.margins("x", row).tidy()
    assert found["contrast"].tolist() == ["dY/dX"]
    # one-sided, with an error of the second order of 1e-5, and rounding of 1e-16/1e-5
    assert found["estimate"].iloc[0] == pytest.approx(slope, rel=1e-3, abs=1e-8)
    assert abs(slope) > 1e-3


def test_intervals_of_shares_end_at_0_and_1():
    rows = pd.DataFrame({"x": np.arange(12.0), "y": list("uuuuuvuvvvvv")})
    few = ps.logit("y ~ x", rows, lam=1e-6).fit(SOLVER, cov_type="HC0")
    found = few.predictions("x")
    table, whole = found.tidy(), found.estimates.conf_int()
    assert whole.min() < 0.0
    assert whole.max() > 1.0
    limits = table[["conf_low", "conf_high"]].to_numpy()
    np.testing.assert_array_equal(limits, whole.clip(0.0, 1.0))
    by_score = few.predictions("x", scale="link")
    limits = by_score.tidy()[["conf_low", "conf_high"]].to_numpy()
    np.testing.assert_array_equal(limits, by_score.estimates.conf_int())


@pytest.mark.parametrize("size", [1e155, 1e-170])
def test_predictors_whose_squares_no_double_holds_have_effects(data, size):
    """They are those of the same predictor in another unit, a power of 2."""
    unit = 2.0 ** np.round(np.log2(size))
    solver = ps.SDCA(tol=1e-12, seed=1)
    fits = [
        ps.logit("y ~ x", data.assign(x=data["x"] * each), standardize=True, lam=1.0)
        for each in (1.0, unit)
    ]
    usual, scaled = (fit.fit(solver, cov_type="HC0") for fit in fits)
    for asked in ({"change": "sd"}, {}):
        one, other = (fit.margins("x", **asked).tidy() for fit in (usual, scaled))
        factor = 1.0 if asked else unit
        found = other["estimate"] * factor
        np.testing.assert_allclose(found, one["estimate"], rtol=1e-6)  # of differences


def test_new_rows_that_count_for_several_are_so_many(data):
    some = data.assign(n=1 + np.arange(90) % 3)
    fit = ps.logit("y ~ x", some, lam=0.01, freq_weights="n").fit(SOLVER)
    own, given = (fit.margins("x", change="sd", data=each) for each in (None, some))
    for each in (own, given):
        assert " 180 rows " in str(each)
    values = [each.tidy()["estimate"].item() for each in (own, given)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)  # of sums
    assert " 90 rows " in str(fit.margins("x", data=some, weights="n"))


def test_intervals_of_differences_of_shares_end_at_both_ones():
    """Twelve rows: the sandwich alone would reach beyond what a difference can be."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"g": list("uv") * 6, "x": rng.normal(size=12)})
    data["y"] = np.where(np.arange(12) % 4 == 1, "q", "p")
    data.loc[0, "y"] = "q"
    fit = ps.logit("y ~ g * x", data, lam=1e-4).fit(SOLVER, cov_type="HC0")
    wide = fit.margins("g").tidy(conf_level=0.9999)
    assert wide["conf_low"].min() == -1.0 or wide["conf_high"].max() == 1.0
    assert wide[["conf_low", "conf_high"]].abs().max(axis=None) <= 1.0
    slopes = fit.margins("x").tidy(conf_level=0.9999)
    plain = fit.margins("x").estimates.conf_int(1e-4)
    np.testing.assert_array_equal(slopes[["conf_low", "conf_high"]], plain)
    link = fit.margins("g", scale="link").tidy(conf_level=0.9999)
    assert link["conf_high"].max() > 1.0
