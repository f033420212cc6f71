"""Arguments that a function of formulas does not take, and what is asked at the fit."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, FormulaError
from tests.data.formulas import LISTS

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
REFUSED = LISTS["arguments that are refused"] + LISTS["cannot be read"]


@pytest.mark.parametrize("term", REFUSED)
def test_an_argument_is_refused_and_the_formula_named(term):
    formula = f"y ~ k + {term}"
    with pytest.raises(FormulaError) as caught:
        ps.logit(formula, DATA, lam=0.1)
    message = str(caught.value)
    assert message.startswith(f"The formula {formula!r} cannot be used: ")
    assert "\n" not in message


@pytest.mark.parametrize("term", ["scale(one)", "standardize(one)", "cut(x, [7, 8])"])
def test_a_term_without_a_value_in_any_row_is_named(term):
    with pytest.raises(DataError) as caught:
        ps.logit(f"y ~ {term}", DATA, lam=1.0)
    assert f"40 in '{term}'" in str(caught.value)


@pytest.mark.parametrize("term", ["poly(x, 2)", "cr(x, df=3)", "C(g, Sum)"])
def test_what_is_asked_at_the_fit_is_not_asked_of_new_rows(term):
    """One row has one value and one level, and is coded by what the fit found."""
    result = ps.logit(f"y ~ {term}", DATA, lam=0.1).fit(ps.Optimum(seed=1))
    whole = result.decision_function(DATA)
    for row in (3, 17):
        one = result.decision_function(DATA.iloc[[row]])
        # a row alone may be summed in another order: some units of rounding
        np.testing.assert_allclose(one, whole.iloc[[row]], rtol=1e-12)
