"""What effects look like, and what is said where there are none."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

SOLVER = ps.SDCA(tol=1e-9, seed=1)


@pytest.fixture(scope="module")
def data():
    i = np.arange(90)
    data = pd.DataFrame({"x": i % 11 - 3.0, "g": np.array(list("uvw"))[i % 3]})
    return data.assign(y=np.where((i * i) % 7 > 2, "ill", "well"), b=i % 5 == 0)


@pytest.fixture(scope="module")
def fit(data):
    return ps.logit("y ~ x + g + b", data, lam=0.01).fit(SOLVER, cov_type="HC0")


def test_columns_are_those_of_tidy(fit):
    numbers = ["estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
    found = fit.margins("x", at={"g": ["u", "w"], "b": True})
    assert list(found.tidy()) == ["term", "contrast", "at_g", "at_b", *numbers]
    assert found.estimates.hypotheses == [
        "x: dY/dX at g = u, b = True",
        "x: dY/dX at g = w, b = True",
    ]
    predicted = fit.predictions(["b", "g"], at={"x": 1.5}).tidy()
    untested = ["estimate", "std_error", "conf_low", "conf_high"]
    assert list(predicted) == ["term", "value", "at_x", *untested]
    assert predicted["term"].unique().tolist() == ["b:g"]
    assert predicted["value"].tolist()[:2] == ["False, u", "False, v"]
    wide, narrow = found.tidy(0.99), found.tidy(0.5)
    assert (wide["conf_low"] < narrow["conf_low"]).all()
    assert (wide["conf_high"] > narrow["conf_high"]).all()
    head = str(found.summary(alpha=0.1))
    assert "[0.05" in head
    assert "0.95]" in head


def test_arrays_and_sparse_rows_have_effects_by_position(data):
    from scipy.sparse import csr_array

    X = data[["x", "b"]].astype(float).to_numpy()
    near = ps.SDCA(tol=1e-13, seed=1)
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
    ("asked", "kind", "named"),
    [
        ({"variables": "z"}, OptionError, "'z' is not a predictor"),
        ({"variables": ["x", "x"]}, OptionError, r"variables=\['x', 'x'\]"),
        ({"at": 2}, OptionError, "at=2"),
        ({"at": {"x": [1, None]}}, OptionError, r"\[1, None\] for 'x'"),
        ({"at": {"x": []}}, OptionError, r"\[\] for 'x'"),
        ({"at": {"g": "q"}}, OptionError, "'q' for 'g'"),
        ({"at": {"q": 1}}, OptionError, "'q' is not a predictor"),
        ({"change": "2sd"}, OptionError, "change='2sd'"),
        ({"change": -1}, OptionError, "change=-1"),
        ({"contrasts": "all"}, OptionError, "contrasts='all'"),
        ({"scale": "log"}, OptionError, "scale='log'"),
        ({"weights": np.ones(90)}, OptionError, "weights="),
    ],
)
def test_what_is_not_allowed_is_named(fit, asked, kind, named):
    with pytest.raises(kind, match=named):
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
