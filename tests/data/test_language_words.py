"""What formulas refuse, and both sides of the limits of numbers."""

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.errors import FormulaError
from tests.data.formulas import LISTS

DATA = pd.DataFrame(
    {
        "x": [-2.5, -0.5, 0.75, 4.0],
        "k": [1, 3, 2, 7],
        "s": ["a", "b", "b", "c"],
        "y": ["n", "p", "n", "p"],
    }
)
REFUSED = LISTS["not of the language"]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_not_of_the_language_is_refused(expression):
    with pytest.raises(FormulaError) as caught:
        outcome_of(f"{expression} ~ x", DATA, {})
    assert str(caught.value).startswith(f"The formula {f'{expression} ~ x'!r} ")


@pytest.mark.parametrize("formula", ["y ~ (x + k)^x", "y ~ x^1.5", "y ~ (x + k)^(-1)"])
def test_a_power_of_terms_is_a_whole_number(formula):
    with pytest.raises(FormulaError, match="a whole number"):
        ps.svm(formula, DATA, lam=1.0)
