"""What formulas refuse, and both sides of the limits of numbers."""

import operator

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.language.values import in_range
from pegasos_stats.errors import FormulaError

DATA = pd.DataFrame(
    {
        "x": [-2.5, -0.5, 0.75, 4.0],
        "k": [1, 3, 2, 7],
        "s": ["a", "b", "b", "c"],
        "y": ["n", "p", "n", "p"],
    }
)
REFUSED = [
    "s*2",
    "s + 1",
    "-s",
    "x in 3",
    "x < [1]",
    "x < k < [1]",
    "np.maximum(x, s)",
    "x + np.sqrt(None)",
    "x + poly()",
    "x + scale()",
    "scale(x, center=x)",
    "scale(x, x)",
    "round(x, k)",
    "lag(x, x)",
    "poly(x, 1001)",
    "bs(x, df=1001)",
    "hashed(s, levels=1001)",
    "cut(x, 1)",
    "cut(x, 2.5)",
    "cut(x, 'a')",
    "cut(x, [1, 1, 2])",
    "cut(x, [1, 2, 3], ['a'])",
    "x ^ 2",
    "x + 1/0",
    "x @ k",
    "x is 3",
    "x + [x]",
    "x + c(x)",
    "x + {[1]: 2}",
    "x[0]",
    "f'{x}'",
    "x + 3j",
    "s == b'a'",
    "(lambda x: x)(3)",
    "Q()",
    "Q(3)",
    "Q('x', 'k')",
    "Q('x', name='k')",
    "np.log(**{'x': 1})",
    "np.foo(x)",
    "y + 11111z",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_not_of_the_language_is_refused(expression):
    with pytest.raises(FormulaError) as caught:
        outcome_of(f"{expression} ~ x", DATA, {})
    assert str(caught.value).startswith(f"The formula {f'{expression} ~ x'!r} ")


@pytest.mark.parametrize("formula", ["y ~ (x + k)^x", "y ~ x^1.5", "y ~ (x + k)^(-1)"])
def test_a_power_of_terms_is_a_whole_number(formula):
    with pytest.raises(FormulaError, match="a whole number"):
        ps.svm(formula, DATA, lam=1.0)


@pytest.mark.parametrize("sign", [-1, 1])
def test_whole_numbers_become_real_where_64_bits_end(sign):
    inside, outside = [sign * 2**62, 3], [sign * 2**61, -sign * 3]
    found = in_range(operator.mul, pd.Series(inside), 1)
    assert (found.dtype.kind, found.tolist()) == ("i", inside)
    found = in_range(operator.mul, pd.Series(outside), 4)
    assert (found.dtype.kind, found.tolist()) == ("f", [sign * 2.0**63, -sign * 12.0])
    found = in_range(operator.mul, pd.Series(outside), 2)
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
