"""What cannot be read as a formula is an error of ours, in one line."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import FormulaError

DATA = pd.DataFrame({"x": np.arange(6.0), "a b": [1.0, 0, 2, 5, 3, 4]})
DATA["y"], DATA["g"], DATA["1"] = list("uvuvvu"), list("cdcddc"), 1.0


@pytest.mark.parametrize(
    "terms",
    [
        "x>0",
        "g + x > 0",
        "x != 0 + g",
        "g == 'c'",
        "g:x>0",
        "g - x>0",
        "(g + x>0)",
        "log(x + 5) > 1",
        "x && g",
        "!x",
        "x$g",
        "x, g",
        "(x",
        "x)",
        "log(x",
        "x +",
        "x:",
        ":x",
        "x // 2",
        "x % 2",
        "`x",
        "x g",
        "not x",
        "'x'",
        "2*x",
    ],
)
def test_a_formula_that_cannot_be_read_is_named_in_one_line(terms):
    formula = f"y ~ {terms}"
    with pytest.raises(FormulaError) as caught:
        ps.svm(formula, DATA, lam=1.0)
    message = str(caught.value)
    assert message.startswith(f"The formula {formula!r} cannot be used: ")
    assert "I(x > 0)" in message
    assert message.isprintable()
