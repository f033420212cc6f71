"""What cannot be read as a formula brings a cure, and no words of formulaic."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, FormulaError

DATA = pd.DataFrame({"x": np.arange(6.0), "a b": [1.0, 0, 2, 5, 3, 4]})
DATA["y"], DATA["g"], DATA["1"] = list("uvuvvu"), list("cdcddc"), 1.0
BRACKET = "a bracket is opened or closed without its other half; write both."
LACKS = "'{}' lacks a term on one of its sides; add the term, or take it out."
NO_TERM = "'{}' is no operator of terms; "
BETWEEN = "there is no + or other operator between `{}` and `{}`; a name that is no"


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ("x>0", "a comparison is no term; write I(x>0)."),
        ("g + x > 0", "a comparison is no term; write I(x > 0)."),
        ("x != 0 + g", "a comparison is no term; write I(x != 0)."),
        ("g == 'c'", "a comparison is no term; write I(g == 'c')."),
        ('g=="u + v"', 'a comparison is no term; write I(g=="u + v").'),
        ("g:x>0", "a comparison is no term; write I(x>0)."),
        ("g - x>0", "a comparison is no term; write I(x>0)."),
        ("(g + x>0)", "a comparison is no term; write I(x>0)."),
        ("log(x + 5) > 1", "a comparison is no term; what is computed of columns"),
        ("x && g", NO_TERM.format("&") + "what is computed of columns stands in I()"),
        ("!x", NO_TERM.format("!") + "what is computed of columns stands in I()"),
        ("x$g", NO_TERM.format("$") + "terms are joined by +, as in 'y ~ a + b'"),
        ("x, g", NO_TERM.format(",") + "terms are joined by +, as in 'y ~ a + b'"),
        ("(x", BRACKET),
        ("x)", BRACKET),
        ("log(x", BRACKET),
        ("x +", LACKS.format("+")),
        ("x:", LACKS.format(":")),
        (":x", LACKS.format(":")),
        ("x // 2", LACKS.format("//")),
        ("x % 2", "'%' stands alone; what is computed of columns stands in I()"),
        ("`x", "the quote ` is not closed; write it at both ends."),
        ("x g", BETWEEN.format("x", "g")),
        ("not x", BETWEEN.format("not", "x")),
        ("'x'", "text is no term; write names of columns without quotes"),
        ("2*x", "a number is no term and multiplies none; what is computed"),
    ],
)
def test_a_formula_that_cannot_be_read_brings_a_cure(terms, said):
    with pytest.raises(FormulaError) as caught:
        ps.svm(f"y ~ {terms}", DATA, lam=1.0)
    begin = f"The formula {f'y ~ {terms}'!r} cannot be used: "
    assert str(caught.value).startswith(begin + said)


@pytest.mark.parametrize("terms", ["`1`", "x + `1`", "."])
def test_a_column_named_as_a_number_is_refused_by_name(terms):
    with pytest.raises(ColumnError, match=r"^The column name '1' cannot be used in a"):
        ps.svm(f"y ~ {terms}", DATA, lam=1.0)
