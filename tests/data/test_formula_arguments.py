"""Arguments that a function of formulas does not take, and what is asked at the fit."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, FormulaError

DATA = pd.DataFrame(
    {
        "x": np.arange(40) / 8.0,
        "k": np.arange(40) % 3,
        "one": 2.0,
        "rare": np.maximum(np.arange(40) - 35, 0),
        "g": np.array(list("abca"))[np.arange(40) % 4],
        "y": np.where(np.arange(40) % 5 < 2, "no", "yes"),
    }
)
DATA["f"] = pd.Categorical(DATA["k"])
REFUSED = [
    "bs(x, lower_bound=1)",
    "bs(x, df=4, upper_bound=1)",
    "bs(x, df=4, lower_bound=9)",
    "cr(x, df=4, lower_bound=2, upper_bound=1)",
    "cr(x, df=4, lower_bound=1, extrapolation='raise')",
    "bs(x, lower_bound='a')",
    "bs(x, df=2)",
    "bs(x, df=3, include_intercept=True)",
    "bs(x, df=2.5)",
    "bs(x, df=0)",
    "bs(x, degree=0)",
    "bs(x, degree='a')",
    "bs(x, df=4, knots=[1])",
    "bs(x, knots=1)",
    "bs(x, knots=['a'])",
    "bs(x, extrapolation='no')",
    "bs(x, include_intercept=1)",
    "bs(g)",
    "cr(x)",
    "cr(x, df=2)",
    "cr(x, df=1, constraints='center')",
    "cr(x, knots=[])",
    "cr(x, knots=[0])",
    "cr(x, df=3, constraints=[1, 2, 3])",
    "cc(x, knots=[1, 2], constraints=[[1, 2], [2, 1]])",
    "cr(x, df=3, constraints=[[1], 2])",
    "ns(x, df=3, knots=[1])",
    "ns(x, df=1, intercept=True)",
    "ns(x, knots=[0])",
    "ns(x, df=2, Boundary_knots=[7, 6])",
    "ns(x, df=2, Boundary_knots=[1])",
    "ns(rare, df=3)",
    "ns(one, df=2)",
    "ns(g)",
    "cc(x, df=0)",
    "cs(x, knots=[9])",
    "cr(x, df=3, constraints='no')",
    "poly(x, 0)",
    "poly(x, 2.5)",
    "poly(k, 3)",
    "poly(one, 2)",
    "poly(x, 2, raw='a')",
    "scale(x, center='a')",
    "center(g)",
    "scale(f)",
    "cut(x, [1])",
    "cut(x, [1, 1])",
    "cut(x, 2.5)",
    "cut(one, 3)",
    "cut(x, 3, labels=['a'])",
    "cut(x)",
    "lag(x, 0.5)",
    "log(g)",
    "round(x, 1.5)",
    "I(x - quantile(x, 2))",
    "hashed(g, levels=2.5)",
    "np.clip(x, 'a', 1)",
    "x.isin(1)",
    "toupper(x)",
    "substr(g)",
    "pmin(x, g)",
    "ifelse(x > 1, 'a', 1)",
    "as_numeric(g)",
    "I(x > 'a')",
    "C(g, Treatment('zz'))",
    "relevel(k, ref='1')",
    "C(g, 'zz')",
    "C(g, levels=['a', 'a'])",
    "C(g, contr.poly(scores=[1, 2]))",
    "C(g, contr.custom([[1], [2]]))",
    "C(g, Diff(backward='a'))",
]


@pytest.mark.parametrize("term", REFUSED)
def test_an_argument_is_refused_and_the_formula_named(term):
    formula = f"y ~ k + {term}"
    with pytest.raises(FormulaError) as caught:
        ps.logit(formula, DATA, lam=0.1)
    message = str(caught.value)
    assert message.startswith(f"The formula {formula!r} cannot be used: ")
    assert "\n" not in message


@pytest.mark.parametrize(
    "term", ["scale(one)", "standardize(one)", "lag(x, 100)", "cut(x, [7, 8])"]
)
def test_a_term_without_a_value_in_any_row_is_named(term):
    with pytest.raises(DataError) as caught:
        ps.logit(f"y ~ {term}", DATA, lam=1.0)
    assert f"40 in '{term}'" in str(caught.value)


@pytest.mark.parametrize(
    "term",
    [
        "poly(x, 2)",
        "scale(x)",
        "cut(x, 3)",
        "bs(x, df=4)",
        "cr(x, df=3)",
        "ns(x, 3)",
        "C(g, Sum)",
    ],
)
def test_what_is_asked_at_the_fit_is_not_asked_of_new_rows(term):
    """One row has one value and one level, and is coded by what the fit found."""
    result = ps.logit(f"y ~ {term}", DATA, lam=0.1).fit(ps.SDCA(seed=1))
    whole = result.decision_function(DATA)
    for row in (3, 17):
        one = result.decision_function(DATA.iloc[[row]])
        # a row alone may be summed in another order: some units of rounding
        np.testing.assert_allclose(one, whole.iloc[[row]], rtol=1e-12)
