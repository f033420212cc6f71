"""What effects look like, where a term has no value, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError

SOLVER = ps.Optimum(tol=1e-9, seed=1)
TERMS = ["cut(x, 3)", "bs(x, df=4)", "C(floor(x / 2))", "cut(x, [-4, 0, 4, 7])"]


@pytest.fixture(scope="module")
def data():
    i = np.arange(90)
    data = pd.DataFrame({"x": i % 11 - 3.0, "b": i % 5 == 0})
    data["g"] = np.array(list("uvw"))[i % 3]
    return data.assign(y=np.where((i * i) % 7 > 2 + data["x"] / 3, "ill", "well"))


def fitted(term, model, data):
    return model(f"y ~ {term} + b", data, lam=0.01).fit(SOLVER, cov_type="none")


def share(result, data):
    """Mean probability of the second level, or of rows that are predicted so."""
    if result.problem.loss == "log":
        return result.predict_proba(data)["well"].mean()
    return (result.predict(data) == "well").mean()


def by_hand(result, data, change, top):
    """Mean change from ``x`` to ``x + change``, or to ``x`` from below at the top."""
    low = np.where(data["x"] + change > top, data["x"] - change, data["x"])
    high = data.assign(x=low + change)
    return share(result, high) - share(result, data.assign(x=low))


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("model", [ps.logit, ps.svm])
def test_a_change_stays_where_all_terms_have_a_value(data, term, model):
    result, spread = fitted(term, model, data), float(data["x"].std())
    top = 7.99 if "floor" in term else 7.0  # floor(7.99 / 2) is a level of the fit
    for asked, change in (({"change": "sd"}, spread), ({"change": 2}, 2.0), ({}, None)):
        found = result.margins("x", **asked).tidy()
        if change is None and model is ps.logit and "bs" in term:
            assert found["contrast"].tolist() == ["dY/dX"]
            continue
        expected = by_hand(result, data, change or spread, top)
        assert found["estimate"].iloc[0] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(DataError, match=r"x \+ 50 .*in 90 rows"):
        result.margins("x", change=50)
    with pytest.raises(DataError, match=r"x = 30, in 90 rows"):
        result.margins("b", at={"x": 30})


@pytest.mark.parametrize("end", [-3.0, 7.0])
def test_a_row_at_the_end_of_a_spline_has_a_derivative(data, end):
    result = fitted("bs(x, df=4)", ps.logit, data)
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
    limits = ["conf_low", "conf_high"]
    np.testing.assert_array_equal(table[limits], whole.clip(0.0, 1.0))
    by_score = few.predictions("x", scale="link")
    ends = by_score.estimates.conf_int()
    np.testing.assert_array_equal(by_score.tidy()[limits], ends)


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


@pytest.fixture(scope="module")
def fit(data):
    return ps.logit("y ~ x + g + b", data, lam=0.01).fit(SOLVER, cov_type="HC0")


def test_columns_are_those_of_tidy(fit):
    numbers = ["estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
    found = fit.margins("x", at={"g": ["u", "w"], "b": True})
    assert list(found.tidy()) == ["term", "contrast", "at_g", "at_b", *numbers]
    told = [f"x: dY/dX at g = {g}, b = True" for g in "uw"]
    assert found.estimates.hypotheses == told
    predicted = fit.predictions(["b", "g"], at={"x": 1.5}).tidy()
    untested = ["estimate", "std_error", "conf_low", "conf_high"]
    assert list(predicted) == ["term", "value", "at_x", *untested]
    assert predicted["term"].unique().tolist() == ["b:g"]
    assert predicted["value"].tolist()[:2] == ["False, u", "False, v"]
    head = str(found.summary(alpha=0.1))
    assert "[0.05" in head
    assert "0.95]" in head


def test_arrays_and_sparse_rows_have_effects_by_position(data):
    X = data[["x", "b"]].astype(float).to_numpy()
    near = ps.Optimum(tol=1e-13, seed=1)
    dense = ps.Logit(data["y"].to_numpy(), X, lam=0.01).fit(near)
    sparse = ps.Logit(data["y"].to_numpy(), csr_array(X), lam=0.01).fit(near)
    plain = ps.Logit(data["y"], data[["x", "b"]], lam=0.01).fit(near)
    expected = plain.margins("x").estimates.effect
    for each in (dense, sparse):
        assert each.margins().keys["term"].tolist() == ["x1", "x2"]
        found = each.margins("x1").estimates.effect
        # sqrt(2 gap / lam) bounds coefficients, a quarter of it probabilities
        np.testing.assert_allclose(found, expected, atol=np.sqrt(2e-13 / 0.01))
    assert plain.margins().keys["contrast"].tolist() == ["dY/dX", "True - False"]


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"variables": ["x", "x"]}, r"variables=\['x', 'x'\]"),
        ({"at": {"x": [1, None]}}, r"\[1, None\] for 'x'"),
        ({"at": {"x": []}}, r"\[\] for 'x'"),
        ({"at": {"g": "q"}}, "'q' for 'g'"),
        ({"at": {"q": 1}}, "'q' is not a predictor"),
        ({"change": -1}, "change=-1"),
        ({"variables": "g", "change": "word"}, "not for 'g'"),
        ({"change": {"g": 2.0}}, "not for 'g'"),
        ({"change": {}}, "change={} names no predictor"),
        ({"at": {"g": "u"}, "variables": "g"}, "both contain 'g'"),
        ({"variables": "x", "change": "word"}, "number above zero"),
        ({"comparison": "ratio", "scale": "link"}, "probabilities"),
        ({"weights": np.ones(90)}, "weights="),
    ],
)
def test_what_is_not_allowed_is_named(fit, asked, named):
    with pytest.raises(OptionError, match=named):
        fit.margins(**asked)


@pytest.mark.parametrize("term", ["I(x > 2)", "C(x > 2)", "floor(x / 2)"])
def test_a_step_has_no_derivative(data, term):
    result = ps.logit(f"y ~ {term} + b", data, lam=0.01).fit(SOLVER, cov_type="HC0")
    found = result.margins("x")
    assert found.tidy()["contrast"].tolist() == ["+ 1 sd"]
    moved = data.assign(x=data["x"] + data["x"].std())
    higher = result.predict_proba(moved)["well"] - result.predict_proba(data)["well"]
    assert found.tidy()["estimate"].iloc[0] == pytest.approx(higher.mean(), abs=1e-14)
    by_name = result.margins("x", change={"x": 3}).tidy()["contrast"]
    assert by_name.tolist() == ["+ 3"]


def test_levels_of_booleans_are_found_by_numbers(fit):
    found = fit.margins("x", at={"b": [1, 0.0]})
    assert found.keys["at_b"].tolist() == [True, False]
    assert found.estimates.hypotheses[0] == "x: dY/dX at b = True"


def test_factors_in_at_have_no_effects_by_default(fit):
    """`variables` omitted: all other predictors, and numbers in ``at=``."""
    at = {"g": "u", "x": [1.0, 2.0]}
    found = fit.margins(at=at)
    others = [name for name in fit.margins().keys["term"].unique() if name != "g"]
    assert found.keys["term"].unique().tolist() == others
    same = fit.margins(others, at=at).estimates.effect
    np.testing.assert_array_equal(found.estimates.effect, same)


def test_a_model_without_effects_says_why():
    data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
    with pytest.raises(OptionError, match="at= sets every predictor"):
        ps.logit("y ~ g", data).fit().margins(at={"g": "u"})
    with pytest.raises(OptionError, match="neither numeric predictors nor factors"):
        ps.logit('y ~ I(g == "u")', data).fit().margins()
