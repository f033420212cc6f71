"""What effects look like, and what is said where there are none."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, DataError, OptionError

SOLVER = ps.SDCA(tol=1e-9, seed=1)
AT_MEANS = "Predictors are at their means, factors at the shares of their levels."


@pytest.fixture(scope="module")
def data():
    i = np.arange(90)
    data = pd.DataFrame({"x": i % 11 - 3.0, "g": np.array(list("uvw"))[i % 3]})
    return data.assign(y=np.where((i * i) % 7 > 2, "ill", "well"), b=i % 5 == 0)


@pytest.fixture(scope="module")
def fit(data):
    return ps.logit("y ~ x + g + b", data, lam=0.01).fit(SOLVER, cov_type="HC0")


def test_the_table_says_what_it_is_of(fit):
    lines = str(fit.margins("x")).splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["Average", "Marginal", "Effects"],
        ["-" * 78],
        ["y:", "probability", "of", "well", "Loss:", "log"],
        ["Averaged", "over:", "90", "rows", "lambda:", "0.01"],
    ]
    assert lines[6].split()[:2] == ["x:", "dY/dX"]


@pytest.mark.parametrize(
    ("asked", "title", "notes"),
    [
        (
            lambda fit: fit.margins("g", at="mean"),
            "Marginal Effects at Means",
            [AT_MEANS],
        ),
        (
            lambda fit: fit.margins("x", change=2),
            "Average Marginal Effects",
            [
                "Means over the rows, in which other predictors have their own values.",
                "+ is the change if each value is increased by this amount.",
            ],
        ),
        (
            lambda fit: fit.predictions("g"),
            "Average Predictions",
            ["Means over the rows, in which other predictors have their own values."],
        ),
        (
            lambda fit: fit.predictions("g", at="mean"),
            "Predictions at Means",
            [AT_MEANS],
        ),
    ],
)
def test_titles_and_notes(fit, asked, title, notes):
    found = asked(fit)
    assert found.title == title
    assert found.notes[: len(notes)] == notes
    assert any("HC0" in note for note in found.notes)


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


def test_levels_of_booleans_are_found_by_numbers(fit):
    found = fit.margins("x", at={"b": [1, 0.0]})
    assert found.keys["at_b"].tolist() == [True, False]
    assert found.estimates.hypotheses[0] == "x: dY/dX at b = True"


def test_without_covariance_there_are_effects_alone(fit):
    none = fit.with_covariance("none")
    for shown in (none.margins("x"), none.predictions("g")):
        found = shown.tidy()
        assert found["estimate"].notna().all()
        assert found.loc[:, "std_error":].isna().all(axis=None)
        assert list(shown.summary().params.columns) == ["estimate"]
        assert "cov_type='none'" in shown.notes[-1]


def test_names_of_any_kind_are_shown_as_they_are(data):
    hostile = "a<b>|_%&"
    named = data.rename(columns={"x": hostile})
    result = ps.Logit(named["y"], named[[hostile]], lam=0.01).fit(SOLVER)
    found = result.margins()
    assert found.keys["term"].tolist() == [hostile]
    assert "a&lt;b&gt;|_%&amp;: dY/dX" in found._repr_html_()
    assert r"a$<$b$>$$|$\_\%\&: dY/dX" in found.summary().to_latex()


def test_arrays_and_sparse_rows_have_effects_by_position(data):
    from scipy.sparse import csr_array

    X = data[["x", "b"]].astype(float).to_numpy()
    dense = ps.Logit(data["y"].to_numpy(), X, lam=0.01).fit(SOLVER)
    sparse = ps.Logit(data["y"].to_numpy(), csr_array(X), lam=0.01).fit(SOLVER)
    plain = ps.Logit(data["y"], data[["x", "b"]], lam=0.01).fit(SOLVER)
    expected = plain.margins("x").estimates.effect
    for each in (dense, sparse):
        assert each.margins().keys["term"].tolist() == ["x1", "x2"]
        np.testing.assert_allclose(
            each.margins("x1").estimates.effect, expected, rtol=1e-7
        )
    assert plain.margins().keys["contrast"].tolist() == ["dY/dX", "True - False"]


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        (
            lambda fit, data: fit.margins("z"),
            OptionError,
            "'z' is not a predictor of this fit; its predictors are 'x', 'g', 'b'.",
        ),
        (
            lambda fit, data: fit.margins(["x", "x"]),
            OptionError,
            "variables=['x', 'x'] is not allowed; give different names of predictors: "
            "'x', 'g', 'b'.",
        ),
        (
            lambda fit, data: fit.margins(at=2),
            OptionError,
            "at=2 is not allowed; give 'mean', or values by name, such as at={'x': [1, "
            "2]}.",
        ),
        (
            lambda fit, data: fit.margins(at={"x": [1, None]}),
            OptionError,
            "at= has [1, None] for 'x'; give one or several finite numbers.",
        ),
        (
            lambda fit, data: fit.margins(at={"g": "q"}),
            OptionError,
            "at= has 'q' for 'g'; give one or several of 'u', 'v', 'w'.",
        ),
        (
            lambda fit, data: fit.predictions(at={"x": []}),
            OptionError,
            "at= has [] for 'x'; give one or several finite numbers.",
        ),
        (
            lambda fit, data: fit.margins(data=data, weights="n"),
            ColumnError,
            "weights='n' is no column of the data; give the name of one, or one number "
            "for each row.",
        ),
        (
            lambda fit, data: fit.margins(at={"q": 1}),
            OptionError,
            "'q' is not a predictor of this fit; its predictors are 'x', 'g', 'b'.",
        ),
        (
            lambda fit, data: fit.margins(change="2sd"),
            OptionError,
            "change='2sd' is not allowed; give 'sd', a number above zero, or these by "
            "name, such as change={'x': 10}.",
        ),
        (
            lambda fit, data: fit.margins(change=-1),
            OptionError,
            "change=-1 is not allowed; give a finite number above zero.",
        ),
        (
            lambda fit, data: fit.margins(contrasts="all"),
            OptionError,
            "contrasts='all' is not known; give one of 'reference', 'pairwise'.",
        ),
        (
            lambda fit, data: fit.margins(scale="log"),
            OptionError,
            "scale='log' is not known; give one of 'response', 'link'.",
        ),
        (
            lambda fit, data: fit.margins(weights=np.ones(90)),
            OptionError,
            "weights= are of the rows of data=; give both, or neither: the rows of the "
            "fit count as they did there.",
        ),
        (
            lambda fit, data: fit.margins(data=data.assign(x=np.nan)),
            DataError,
            "No row of data= is complete; give rows with all predictors.",
        ),
        (
            lambda fit, data: fit.margins(data=data, weights=np.zeros(90)),
            DataError,
            "weights are missing in a complete row, or 0 in all; give a number of 0 or "
            "more for each row, above 0 for some.",
        ),
    ],
)
def test_what_is_not_allowed_is_said(fit, data, asked, kind, words):
    with pytest.raises(kind) as caught:
        asked(fit, data)
    assert str(caught.value) == words


def test_a_term_without_a_value_for_a_changed_row_is_said(data):
    result = ps.logit("y ~ sqrt(x + 3) + b", data, lam=0.01).fit(SOLVER)
    with pytest.raises(DataError) as caught:
        result.margins("x", at={"x": -4})
    assert str(caught.value) == (
        "A term of the formula has no value at x = -4, in 90 rows; give other values "
        "by at=."
    )
    with pytest.raises(DataError) as caught:
        result.predictions("b", at={"x": [0, -4.5]})
    assert str(caught.value) == (
        "A term of the formula has no value at x = -4.5, b = False, in 90 rows; give "
        "other values by at=."
    )


@pytest.mark.parametrize("term", ["I(x > 2)", "C(x > 2)", "floor(x / 2)"])
def test_a_step_has_no_derivative(data, term):
    result = ps.logit(f"y ~ {term} + b", data, lam=0.01).fit(SOLVER, cov_type="HC0")
    found = result.margins("x")
    assert found.tidy()["contrast"].tolist() == ["+ 1 sd"]
    moved = data.assign(x=data["x"] + data["x"].std())
    higher = result.predict_proba(moved)["well"] - result.predict_proba(data)["well"]
    assert found.tidy()["estimate"].iloc[0] == pytest.approx(higher.mean(), abs=1e-14)
    assert found.notes[2] == (
        "x is in a step function, which has no derivative: it is changed by one "
        "standard deviation unless change= is given."
    )
    by_name = result.margins("x", change={"x": 3}).tidy()["contrast"]
    assert by_name.tolist() == ["+ 3"]


@pytest.mark.parametrize("term", ["I(x ** 2)", "bs(x, df=4)", "pmax(x, 0.5)"])
def test_smooth_terms_and_kinks_have_one(data, term):
    result = ps.logit(f"y ~ {term} + b", data, lam=0.01).fit(SOLVER, cov_type="none")
    assert result.margins("x").tidy()["contrast"].tolist() == ["dY/dX"]
