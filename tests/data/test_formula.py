"""Formulas: terms, contrasts, missing values, and the same coding on new data."""

import re

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.language.formula import TermReader, outcome_of
from pegasos_stats.data.language.formula_design import design_of as read_design
from pegasos_stats.errors import ColumnError, FormulaError
from tests.data.formula_frames import design_of, frame


@pytest.fixture
def data():
    return frame()


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("y ~ .", ["x", "g[T.v]", "g[T.w]", "blood type", "c[T.a]", "flag"]),
        ("y ~ . - g", ["x", "blood type", "c[T.a]", "flag"]),
        ("y ~ x + factor(g)", ["x", "C(g)[T.v]", "C(g)[T.w]"]),
        ("y ~ x * flag", ["x", "flag", "x:flag"]),
        ("y ~ g - 1", ["g[u]", "g[v]", "g[w]"]),
        ("`y`~log(x)", ["log(x)"]),
        ("y ~ poly(x, 2)", ["poly(x, 2)[1]", "poly(x, 2)[2]"]),
        ("x > 1 ~ g", ["g[T.v]", "g[T.w]"]),
        ("y ~ x +\n  flag", ["x", "flag"]),
    ],
)
def test_names_of_the_coefficients(data, formula, names):
    design, _ = design_of(formula, data)
    assert list(design.names) == names


@pytest.mark.parametrize(
    ("formula", "option", "free"),
    [
        *[("y ~ g", True, True), ("y ~ g - 1", True, False)],
        *[("y ~ 0 + g", True, False), ("y ~ g", False, False)],
    ],
)
def test_the_intercept_goes_with_minus_one_or_the_option(data, formula, option, free):
    design, _, has_intercept = read_design(formula, data, np.ones(5, bool), option)
    assert has_intercept is free
    assert design.names == (("g[T.v]", "g[T.w]") if free else ("g[u]", "g[v]", "g[w]"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"g": "q"}, r"'g' holds levels .* 'q', in the rows 'r1', 'r2'"),
        ({"c": "z"}, "'c' holds levels that did not occur at fit"),
        ({"x": "1"}, "'x' is not numeric: it holds '1'"),
        ({"x": np.inf}, "'x' holds infinite values in the rows 'r1'"),
    ],
)
def test_new_data_that_do_not_fit_are_named(data, change, words):
    design, _ = design_of("y ~ x + C(g) + c", data)
    with pytest.raises(ColumnError, match=words):
        design.matrix(data.assign(**change))


@pytest.mark.parametrize(
    "formula",
    ["y", "~ x", "y ~", "y ~ x ~ g", "y ~ x +", "y ~ (x", "y ~ 1", "y ~ f(x)"],
)
def test_formulas_that_cannot_be_read(data, formula):
    with pytest.raises(FormulaError, match="formula") as caught:
        design_of(formula, data)
    assert "\x1b" not in str(caught.value)


def test_connectives_join_comparisons_as_in_r_and_no_other_numbers(data):
    complete = data.fillna({"x": 0.0})
    _, matrix = design_of("y ~ I(x > 1 & g == 'v' | x == 0)", complete)
    assert matrix.values.ravel().tolist() == [0.0, 1.0, 1.0, 0.0, 1.0]
    with pytest.raises(FormulaError, match="comparisons, or 1 and 0"):
        design_of("y ~ I(`blood type` & 1)", data)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("y ~ I(x - mean(x))", 16.0 - 4.5),
        ("y ~ I(x / x.max())", 2.0),
        ("y ~ I(x / np.std(x))", 16.0 / np.std([1.0, 8.0])),
    ],
)
def test_a_summary_of_a_column_is_that_of_the_fit(data, formula, value):
    two = data.iloc[[0, 4]].assign(y=["no", "yes"])
    design, _ = design_of(formula, two)
    new = design.matrix(pd.DataFrame({"x": [16.0]}))
    np.testing.assert_allclose(new.values, [[value]], rtol=1e-15)  # one division


def test_intervals_are_named_and_kept_as_in_r(data):
    complete = data.dropna()
    design, matrix = design_of("y ~ cut(x, [0, 2, 10])", complete)
    assert design.names == ("cut(x, [0, 2, 10])[T.(2,10]]",)
    assert matrix.values.ravel().tolist() == (complete["x"] > 2).tolist()
    new = design.matrix(pd.DataFrame({"x": [1.0, 5.0, 99.0, -1.0]}))
    assert new.complete.tolist() == [True, True, False, False]
    assert new.values.ravel().tolist() == [0.0, 1.0]
    third, _ = design_of("y ~ cut(x, 3)", complete)
    again = third.matrix(complete.iloc[[0]])
    assert again.values.tolist() == [[0.0, 0.0]]


def test_a_column_named_like_a_function_is_a_column(data):
    names = ["log", "np", "C", "scale", "I", "pi", "poly", "contr"]
    named = data.assign(**{name: np.arange(5.0) + i for i, name in enumerate(names)})
    _, matrix = design_of(f"y ~ {' + '.join(names)}", named)
    np.testing.assert_array_equal(matrix.values, named[names])
    _, inside = design_of("y ~ I(np + pi) + exp(log) + np.exp(np) + I(2 * C)", named)
    expected = [named.np + named.pi, np.exp(named.log), np.exp(named.np), 2 * named.C]
    np.testing.assert_array_equal(inside.values, np.column_stack(expected))
    assert outcome_of("log > 2 ~ g", named).tolist() == (named["log"] > 2).tolist()


@pytest.mark.parametrize("name", ["é", "µg", "ﬁt", "K", "größe", "名前", "a.µ"])
def test_names_in_any_alphabet_are_names(data, name):
    named = data.assign(**{name: np.arange(1.0, 6.0)})
    for term in (name, f"`{name}`"):
        _, matrix = design_of(f"y ~ {term} + log({term}) + I({term} * 2)", named)
        expected = named[name], np.log(named[name]), named[name] * 2
        np.testing.assert_array_equal(matrix.values, np.column_stack(expected))
        found = outcome_of(f"{term} > 2 ~ g", named)
        assert found.tolist() == (named[name] > 2).tolist()


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("factor(x > 1)", [False, True, None, True, True]),
        ("I(`blood type` > 3)", [False, False, False, True, True]),
        ("x > 1 & g == 'v'", [False, True, False, False, True]),
        ("x > 1 | g == 'u'", [True, True, True, True, True]),
        ("g %in% c('u', 'w')", [True, False, True, True, False]),
        ("not g in ['u', 'w']", [False, True, False, False, True]),
        ("1 < x <= 4", [False, True, None, True, False]),
        ("g == 'a & b | c %in% d'", [False] * 5),
        ("ifelse(x > 2, 'long', 'short')", ["short", "short", None, "long", "long"]),
    ],
)
def test_outcomes_are_computed_as_r_reads_them(data, outcome, expected):
    found = outcome_of(f"{outcome} ~ g", data).astype(object)
    assert found.where(found.notna(), None).tolist() == expected


SUMS = ["a + b + c", "a + b:c + c", "a*b + c", "b + a - 1", "b %in% a / c", "a"]
OTHERS = [
    "0 + b:a*c - a",
    "(a + b) / (c + d)",
    "-1 + a - -b",
    "b:(a + c) - b:a",
]


@pytest.mark.parametrize("power", [1, 2, 3, 5, 1_000_000])
def test_terms_are_those_of_formulaic(power):
    from formulaic import Formula

    def terms_of(text):
        terms = TermReader("y ~ a", []).terms(text)
        return [str(term).split(":") for term in terms]

    def theirs(text):
        return [[factor.expr for factor in term.factors] for term in Formula(text)]

    for text in SUMS:
        assert terms_of(f"({text})^{power}") == theirs(f"({text})^{min(power, 5)}")
    for text in OTHERS:
        assert terms_of(text) == theirs(text)


def test_sparse_columns_stay_sparse_behind_a_formula():
    data = pd.DataFrame({"a": [0.0, 1.0, 0.0], "b": [2.0, 0.0, 0.0]})
    sparse = data.astype(pd.SparseDtype(float, 0.0)).assign(y=["n", "p", "n"])
    for more in ({}, {"c": [1.0, 2.0, 3.0]}, {"c": [None, True, False]}):
        design, matrix = design_of("y ~ .", sparse.assign(**more))
        assert matrix.values.format == "csr"
        assert design.names == ("a", "b", *more)
        assert design.formula == "y ~ ."


@pytest.mark.parametrize("text", ["str", "object", "category"])
def test_factors_beside_a_sparse_column_have_their_contrasts(text):
    data = pd.DataFrame({"a": [0.0, 1.0, 0.0], "g": ["u", "v", None]})
    g = data["g"].astype(text).where(data["g"].notna())  # 'None' in pandas 2.2
    data = data.assign(y=["n", "p", "n"], g=g)
    sparse = data.assign(a=data["a"].astype(pd.SparseDtype(float, 0.0)))
    expected, found = (design_of("y ~ .", frame) for frame in (data, sparse))
    assert found[0].names == expected[0].names == ("a", "g[T.v]")
    np.testing.assert_array_equal(found[1].values, expected[1].values)


@pytest.mark.parametrize("terms", ["x + g", "poly(x, 2)", "x:g + c", "scale(x)"])
def test_a_design_is_the_same_after_data_without_a_complete_row(terms, data):
    whole = data.dropna().reset_index(drop=True)
    design, fitted = design_of(f"y ~ {terms}", whole)
    text = whole.assign(x=pd.Series([pd.NA] * len(whole), dtype="string"))
    for none in (whole[:0].astype(object), whole[:0], whole.assign(x=None), text):
        found = design.matrix(none)
        assert found.values.shape == (0, len(design.names))
        assert found.complete.tolist() == [False] * len(none)
        assert len(found.index) == len(none)
    np.testing.assert_array_equal(design.matrix(whole).values, fitted.values)


def test_a_column_called_like_a_level_or_an_interaction_is_not_lost():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"y": list("pq") * 20, "g": list("uvvu") * 10})
    data[["a", "b", "a:b", "g[T.v]"]] = rng.normal(size=(40, 4))
    twice = {"g + `g[T.v]`": "g[T.v]", ".": "g[T.v]", "a * b + `a:b`": "a:b"}
    for terms, name in twice.items():
        with pytest.raises(ColumnError, match=f"the name {re.escape(repr(name))}"):
            ps.logit(f"y ~ {terms}", data, lam=1.0)
    alone = ps.logit("y ~ `a:b` + a + `g[T.v]`", data, lam=0.1).fit()
    assert list(alone.coef.index) == ["a:b", "a", "g[T.v]"]


@pytest.mark.parametrize("name", ["1", "0", "2.5", "Intercept", 7, ("a", "b")])
def test_names_that_a_formula_cannot_tell_are_refused(name):
    data = pd.DataFrame({"y": [0, 1], name: [1.0, 2.0]})
    with pytest.raises(ColumnError, match="cannot be used in a formula"):
        design_of("y ~ .", data)


@pytest.mark.parametrize("formula", ["y ~ y", "y ~ x + y", "C(y) ~ y:x"])
def test_the_outcome_is_no_predictor(data, formula):
    with pytest.raises(FormulaError, match="outcome among the predictors"):
        design_of(formula, data)


def test_a_name_behind_a_minus_is_a_column_too():
    data = pd.DataFrame({"y": ["a", "b"] * 5, "x": range(10), "z": [1.0, 2.0] * 5})
    assert ps.logit("y ~ . - z", data, lam=1.0).names == ("x",)
    with pytest.raises(ColumnError, match="'nope' not found"):
        ps.logit("y ~ . - nope", data, lam=1.0)


@pytest.mark.parametrize("terms", ["`log(x)`:k + log(x)", "log(x) + .", ". - log(x)"])
def test_a_column_with_the_name_of_a_computed_term_beside_it_is_refused(terms):
    data = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "k": 1.0, "y": list("abab")})
    data["log(x)"] = data["x"] * 100.0
    with pytest.raises(ColumnError, match=r"'log\(x\)'"):
        ps.logit(f"y ~ {terms}", data)
    assert ps.logit("y ~ log(x)", data).design.matrix(data).values[0, 0] == 0.0


def test_a_missing_value_is_no_level():
    data = pd.DataFrame({"g": list("uvw") * 4, "y": list("ab") * 6})
    model = ps.logit("y ~ C(g, levels=c('u', 'v', NA, 'w'))", data, lam=0.1)
    plain = ps.logit("y ~ g", data, lam=0.1)
    np.testing.assert_array_equal(model.problem.X, plain.problem.X)
    with pytest.raises(ColumnError, match="'other'"):
        model.fit().predict(data.assign(g="other"))


def test_contrasts_may_be_named_in_quotes_as_in_r():
    data = pd.DataFrame({"g": list("uvw") * 4, "y": list("ab") * 6})
    named, called = (
        ps.logit(f"y ~ C(g, {contrasts})", data, lam=0.1).problem.X
        for contrasts in ("'contr.sum'", "contr.sum")
    )
    np.testing.assert_array_equal(named, called)


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_text_some_of_which_is_missing_is_not_compared_with_numbers(dtype):
    data = pd.DataFrame({"g": pd.Series(["1", None, "2", "1"], dtype=dtype)})
    data["y"] = list("abab")
    with pytest.raises(FormulaError, match="text with numbers"):
        ps.logit("y ~ I(g == 1)", data)
    assert ps.logit("y ~ I(g == '1')", data, lam=0.1).problem.X.sum() == 2.0
