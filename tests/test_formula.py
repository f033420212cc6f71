"""Formulas: terms, contrasts, missing values, and the same coding on new data."""

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.errors import ColumnError, DataError, FormulaError
from pegasos_stats.formula import FormulaDesign, outcome_of, split_formula


@pytest.fixture
def data():
    return pd.DataFrame(
        {
            "y": ["no", "yes", "no", "yes", "no"],
            "x": [1.0, 2.0, np.nan, 4.0, 8.0],
            "g": ["u", "v", "u", "w", "v"],
            "blood type": [1, 2, 3, 4, 5],
            "c": pd.Categorical(list("ababa"), categories=["z", "b", "a"]),
            "flag": pd.array([True, None, True, False, True], dtype="boolean"),
        },
        index=["r1", "r2", "r3", "r4", "r1"],
    )


def design_of(formula, data, **options):
    usable = outcome_of(formula, data).notna().to_numpy()
    return FormulaDesign.from_data(formula, data, usable, **options)


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("y ~ .", ["x", "g[T.w]", "g[T.v]", "blood type", "c[T.a]", "flag"]),
        ("y ~ . - g", ["x", "blood type", "c[T.a]", "flag"]),
        ("y ~ x + C(g)", ["x", "C(g)[T.v]", "C(g)[T.w]"]),
        ("y ~ x + factor(g)", ["x", "C(g)[T.v]", "C(g)[T.w]"]),
        ("y ~ x * flag", ["x", "flag", "x:flag"]),
        ("y ~ g - 1", ["g[u]", "g[v]", "g[w]"]),
        ("y ~ `blood type`", ["blood type"]),
        ("`y`~log(x)", ["log(x)"]),
        ("y ~ poly(x, 2)", ["poly(x, 2)[1]", "poly(x, 2)[2]"]),
        ("x > 1 ~ g", ["g[T.v]", "g[T.w]"]),
    ],
)
def test_names_of_the_coefficients(data, formula, names):
    design, _ = design_of(formula, data)
    assert sorted(design.names) == sorted(names)


@pytest.mark.parametrize(
    "formula",
    ["y ~ .", "y ~ x + C(g)", "y ~ scale(x) + g", "y ~ poly(x, 2)", "y ~ x:c + flag"],
)
def test_the_training_rows_replayed_give_the_same_matrix(data, formula):
    design, matrix = design_of(formula, data)
    again = design.matrix(data)
    np.testing.assert_array_equal(again.values, matrix.values)
    np.testing.assert_array_equal(again.kept, matrix.kept)


def test_a_single_new_row_is_coded_as_at_fit(data):
    design, matrix = design_of("y ~ scale(x) + C(g) + c", data)
    row = design.matrix(data.iloc[[3]])
    assert row.values.tolist() == [matrix.values[2].tolist()]


def test_the_intercept_goes_with_minus_one_or_the_option(data):
    assert not design_of("y ~ g - 1", data)[0].intercept
    assert not design_of("y ~ 0 + g", data)[0].intercept
    without, _ = design_of("y ~ g", data, intercept=False)
    assert not without.intercept
    assert without.names == ("g[u]", "g[v]", "g[w]")


def test_rows_with_missing_values_are_not_kept(data):
    _, matrix = design_of("y ~ x + flag", data)
    assert matrix.kept.tolist() == [True, False, False, True, True]
    assert matrix.index.tolist() == data.index.tolist()


def test_a_transformation_that_gives_nan_leaves_the_row_out(data):
    _, matrix = design_of("y ~ log(x - 3)", data.dropna())
    assert matrix.kept.tolist() == [False, True, True]


def test_levels_that_occur_only_in_incomplete_rows_do_not_count(data):
    data.loc["r4", "y"] = None
    design, _ = design_of("y ~ g", data)
    assert design.names == ("g[T.v]",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"g": "q"}, r"'g' holds levels .* 'q', in 4 rows \('r1', 'r2'"),
        ({"c": "z"}, "'c' holds levels that did not occur at fit"),
        ({"x": "1"}, "'x' is not numeric: it holds '1'"),
        ({"x": np.inf}, "'x' holds infinite values in 5 rows"),
        ({"x": -np.inf, "g": "q"}, "'x' holds infinite"),
    ],
)
def test_new_data_that_do_not_fit_are_named(data, change, words):
    design, _ = design_of("y ~ x + C(g) + c", data)
    with pytest.raises(ColumnError, match=words):
        design.matrix(data.assign(**change))


def test_a_missing_column_is_named(data):
    design, _ = design_of("y ~ x + g", data)
    with pytest.raises(ColumnError, match="Column 'g' not found"):
        design.matrix(data.drop(columns="g"))


def test_unused_categories_of_new_data_do_no_harm(data):
    design, _ = design_of("y ~ g", data)
    new = data.assign(g=pd.Categorical(data["g"], categories=["w", "u", "v", "new"]))
    np.testing.assert_array_equal(design.matrix(new).values, design.matrix(data).values)


def test_an_infinite_value_at_fit_is_named(data):
    with pytest.raises(ColumnError, match=r"'x' holds infinite values in 1 row \('r2'"):
        design_of("y ~ x", data.assign(x=[1.0, np.inf, 3.0, 4.0, 5.0]))
    with pytest.raises(ColumnError, match=r"'log\(x\)' holds infinite"):
        design_of("y ~ log(x)", data.assign(x=[0.0, 1.0, 3.0, 4.0, 5.0]))


@pytest.mark.parametrize(
    "formula",
    ["y", "~ x", "y ~", "y ~ x ~ g", "y ~ x +", "y ~ (x", "y ~ 1", "y ~ f(x)"],
)
def test_formulas_that_cannot_be_read(data, formula):
    with pytest.raises(FormulaError, match="formula") as caught:
        design_of(formula, data)
    assert "\x1b" not in str(caught.value)


def test_a_column_that_is_not_there_is_named(data):
    with pytest.raises(ColumnError, match="Column 'nosuch' not found"):
        design_of("y ~ nosuch + x", data)
    with pytest.raises(ColumnError, match="Column 'nosuch' not found"):
        design_of("nosuch ~ x", data)


def test_no_complete_row_is_an_error(data):
    with pytest.raises(DataError, match="complete"):
        design_of("y ~ x", data.assign(x=np.nan))


def test_an_expression_is_an_outcome(data):
    outcome = outcome_of("x > 3 ~ g", data)
    assert outcome.fillna(False).tolist() == [False, False, False, True, True]
    assert outcome.isna().tolist() == [False, False, True, False, False]


def test_a_tilde_in_a_quoted_name_does_not_split():
    assert split_formula("`a~b` ~ x") == ("`a~b`", "x")
