"""What formulas refuse, by the whole word; and both sides of the limits of numbers."""

import operator
from hashlib import md5

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.formula import check_functions, outcome_of
from pegasos_stats.data.language.arithmetic import in_range
from pegasos_stats.data.language.functions import cut
from pegasos_stats.errors import ColumnError, FormulaError, OptionError

DATA = pd.DataFrame(
    {
        "x": [-2.5, -0.5, 0.75, 4.0],
        "k": [1, 3, 2, 7],
        "s": ["a", "b", "b", "c"],
        "y": ["n", "p", "n", "p"],
    }
)
ALLOWED = (
    "; allowed are columns, numbers, text, arithmetic, comparisons and functions such "
    "as log, np.sqrt, scale and poly; compute other columns in the data before, or "
    "give functions={'name': f} in Python."
)
BREAKS = (
    "give a list of two or more numbers that differ, or a whole number of intervals, 2 "
    "or more"
)
LIST = "has a list of other things than constants"
NO_NAME = "has Q(), which takes the name of a column"

UNUSABLE = {
    "s*2": "'*' takes numbers, and there is text",
    "s + 1": "'+' takes numbers, and there is text",
    "-s": "'negative' takes numbers, and there is text",
    "x in 3": "'in' does not go with these values",
    "x < [1]": "'<' does not go with these values",
    "x < k < [1]": "'<' does not go with these values",
    "np.maximum(x, s)": "np.maximum() takes numbers",
    "x + np.sqrt(None)": "np.sqrt() takes numbers",
    "x + poly()": "poly() takes a column",
    "x + scale()": "scale() takes a column",
    "scale(x, center=x)": "center of scale() is a constant, not a column",
    "scale(x, x)": "center of scale() is a constant, not a column",
    "round(x, k)": "digits of round() is a constant, not a column",
    "lag(x, x)": "k of lag() is a constant, not a column",
    "poly(x, 1001)": "degree of poly() is at most 1,000",
    "bs(x, df=1001)": "df of bs() is at most 1,000",
    "hashed(s, levels=1001)": "levels of hashed() is at most 1,000",
    "cut(x, 1)": f"breaks of cut() is 1; {BREAKS}",
    "cut(x, 2.5)": f"breaks of cut() is 2.5; {BREAKS}",
    "cut(x, 'a')": f"breaks of cut() is 'a'; {BREAKS}",
    "cut(x, [1, 1, 2])": f"breaks of cut() is [1, 1, 2]; {BREAKS}",
    "cut(x, [1, 2, 3], ['a'])": "labels of cut() is ['a']; give a list of 2 texts that "
    "differ, one for each interval",
    "x ^ 2": "write powers as x**2, not x^2",
    "x + 1/0": "division by zero",
}
REFUSED = {
    "x @ k": "uses matmult",
    "x is 3": "compares by 'is', which is written ==",
    "x + [x]": LIST,
    "x + c(x)": LIST,
    "x + {[1]: 2}": "has names in {...} that are lists",
    "x[0]": "takes items, x[...]",
    "f'{x}'": "formats text (f'...')",
    "x + 3j": "holds complex 3j",
    "s == b'a'": "holds bytes b'a'",
    "(lambda x: x)(3)": "calls what is not the name of a function",
    "Q()": NO_NAME,
    "Q(3)": NO_NAME,
    "Q('x', 'k')": NO_NAME,
    "Q('x', name='k')": NO_NAME,
    "np.log(**{'x': 1})": "spreads values (**)",
    "np.foo(x)": "calls 'np.foo', which is not a known function (did you mean "
    "'np.floor'?)",
}


def said(expression):
    with pytest.raises(FormulaError) as caught:
        outcome_of(f"{expression} ~ x", DATA, {})
    return str(caught.value)


def shown(expression):
    return f"The formula {f'{expression} ~ x'!r}"


@pytest.mark.parametrize("expression", UNUSABLE)
def test_what_does_not_go_together_is_said(expression):
    reason = UNUSABLE[expression]
    assert said(expression) == f"{shown(expression)} cannot be used: {reason}."


@pytest.mark.parametrize("more", [0, 1, 40])
def test_what_cannot_be_read_is_shown_by_its_first_sixty_characters(more):
    whole = f"y + {'1' * (55 + more)}z"
    assert said(whole) == (
        f"{shown(whole)} cannot be used: invalid decimal literal in {whole[:60]!r}."
    )


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_not_of_the_language_is_said(expression):
    assert said(expression) == f"{shown(expression)} {REFUSED[expression]}{ALLOWED}"


@pytest.mark.parametrize("formula", ["y ~ x ~ k", "~ x", "y", "y ~ ", ""])
def test_a_formula_has_two_sides(formula):
    with pytest.raises(FormulaError) as caught:
        ps.svm(formula, DATA, lam=1.0)
    assert str(caught.value) == (
        f"The formula {formula!r} is not of the form 'outcome ~ terms'; write for "
        "example 'y ~ .' or 'y ~ a + C(b)'."
    )


@pytest.mark.parametrize("formula", ["y ~ (x + k)^x", "y ~ x^1.5", "y ~ (x + k)^(-1)"])
def test_a_power_of_terms_is_a_whole_number(formula):
    with pytest.raises(FormulaError) as caught:
        ps.svm(formula, DATA, lam=1.0)
    assert str(caught.value) == (
        f"The formula {formula!r} cannot be used: a power of terms is a whole number "
        "from 1."
    )


def test_a_missing_column_is_named_beside_those_there_are():
    with pytest.raises(ColumnError) as caught:
        ps.svm("y ~ nosuch + x", DATA, lam=1.0)
    assert str(caught.value) == (
        "Column 'nosuch' not found; the data have 'x', 'k', 's', 'y': check the "
        "spelling or add the column."
    )


@pytest.mark.parametrize("given", [3, [1], "f", {"a": 3}, {"a": abs, "b": "c"}])
def test_functions_are_a_dictionary_of_functions(given):
    with pytest.raises(OptionError) as caught:
        check_functions(given)
    shown = repr(given)
    assert str(caught.value) == (
        f"functions={shown} is not allowed; give a dictionary of names and functions, "
        "such as functions={'half': lambda x: x / 2}."
    )


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["a b", "ok"], "'a b'"),
        ([""], "''"),
        ([3, "np.log"], "3, 'np.log'"),
    ],
)
def test_names_of_functions_are_words(names, listed):
    with pytest.raises(OptionError) as caught:
        check_functions(dict.fromkeys(names, abs))
    assert str(caught.value) == (
        f"functions= has the names {listed}; give words of letters, digits and "
        "underscores."
    )


@pytest.mark.parametrize("name", ["log", "x", "poly", "C"])
def test_names_of_functions_are_not_taken(name):
    with pytest.raises(OptionError) as caught:
        check_functions({"half": abs, name: abs}, ["x"])
    assert str(caught.value) == (
        f"functions= has {name!r}, which already is a function of formulas or a "
        "column; give another name."
    )
    assert check_functions(None, ["x"]) == {}
    assert check_functions({"half": abs}, ["x"]) == {"half": abs}


@pytest.mark.parametrize("sign", [-1, 1])
def test_whole_numbers_become_real_where_64_bits_end(sign):
    inside, outside = [sign * 2**62, 3], [sign * 2**61, -sign * 3]
    found = in_range(operator.mul, [pd.Series(inside), 1])
    assert (found.dtype.kind, found.tolist()) == ("i", inside)
    found = in_range(operator.mul, [pd.Series(outside), 4])
    assert (found.dtype.kind, found.tolist()) == ("f", [sign * 2.0**63, -sign * 12.0])
    found = in_range(operator.mul, [pd.Series(outside), 2])
    assert (found.dtype.kind, found.tolist()) == ("i", [sign * 2**62, -sign * 6])


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("name", ["+", "-", "*", "**"])
def test_no_column_wraps_around(sign, name):
    data = DATA.assign(k=np.array([sign * 2**62, sign * 5, 1, 0]))
    other = {"+": "k", "-": "(-k)", "*": 3, "**": 3}[name]
    found = outcome_of(f"k {name} {other} ~ x", data, {})
    big = data["k"].astype(object)  # Python's whole numbers have no end
    by = {"+": big + big, "-": big + big, "*": big * 3, "**": big**3}[name]
    assert found.tolist() == [float(value) for value in by]


def test_counts_are_allowed_up_to_a_thousand():
    found = outcome_of("hashed(s, levels=1000) ~ x", DATA, {})
    digests = [md5(text.encode(), usedforsecurity=False) for text in DATA["s"]]
    assert found.tolist() == [int(d.hexdigest(), 16) % 1000 for d in digests]
    values = pd.Series([0.0, 1.0, 4.0])
    assert cut(values, 2).tolist() == ["(-0.004,2]", "(-0.004,2]", "(2,4]"]
    assert len(cut(values, 3).cat.categories) == 3


@pytest.mark.parametrize("flag", [True, False])
def test_a_constant_is_negated_as_a_column_is(flag):
    found = outcome_of(f"ifelse(not {flag}, k, 0) ~ x", DATA, {})
    assert found.tolist() == ([0] * 4 if flag else DATA["k"].tolist())
    column = outcome_of(f"ifelse(not (k > 2) == {flag}, 1, 0) ~ x", DATA, {})
    assert column.tolist() == [int((k > 2) != flag) for k in DATA["k"]]
