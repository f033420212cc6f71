"""What a formula cannot do is said in a sentence that names what helps."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnWarning, PegasosStatsError

N = 60
rng = np.random.default_rng(2)
DATA = pd.DataFrame(
    {
        "y": rng.choice(["a", "b"], N),
        "x": np.linspace(0, 5, N),
        "w": rng.choice(["1", "3"], N),
        "k": rng.integers(0, 4, N),
        "g": rng.choice(["u", "v"], N),
        "Kosten (CHF)": rng.normal(size=N),
        "Police-Nr": range(N),
    }
)
RAW = ["NoneType", "object", "operand", "tuple index", "bitxor", "lambda", "positional"]
CURES = {
    "relevel(factor(w), ref='2')": "'2' is not a level of .* '1', '3'",
    "C(w, Treatment('2'))": "'1', '3'",
    "poly(x, None)": "poly.. takes x, degree",
    "cut(x, None)": "cut.. takes x, breaks",
    "np.maximum(x)": "np.maximum.. takes x, y",
    "pmin()": "pmin.. takes columns",
    "ns(x, knots=5)": "ns.. takes x, df, knots",
    "scale(None)": "scale.. takes",
    "I(x ^ 2)": r"the operator \^; write powers as x\*\*2",
    "I(x << 2)": "the operator <<",
    "I(x == None)": r"write is.na\(x\)",
    "Kosten (CHF)": "'Kosten', .*in backticks, if their names",
    "Police Nr": "names that are not words need backticks",
    ". - Police-Nr": "'Police-Nr': .*names with spaces or signs in backticks",
    "lag(x)": r"shift\(1\)",
    "fillna(x, 0)": r"fillna\(\) is a method here; write x\.fillna\(\)",
    "minimum(x, k)": r"write np\.minimum\(\)",
    "where(x > 1, x, 0)": r"write np\.where\(\)",
    "x +": "a term is missing after a sign",
    "C(w, levels=['1'])": "levels= of C.w, levels=.* omits '3', which occurs",
    "1": "null_deviance",
}


@pytest.mark.parametrize("terms", CURES)
def test_a_cure_is_named(terms):
    with pytest.raises(PegasosStatsError, match=CURES[terms]) as caught:
        ps.logit(f"y ~ {terms}", DATA, lam=1.0)
    assert not any(word in str(caught.value) for word in RAW)


def test_data_without_rows_are_named():
    with pytest.raises(PegasosStatsError, match="no rows"):
        ps.logit("y ~ x", DATA.iloc[:0])


def test_levels_of_numbers_are_named_by_their_text_as_in_r():
    names = ps.logit("y ~ relevel(factor(k), ref='2')", DATA, lam=1.0).names
    assert [name[-4:] for name in names] == ["T.0]", "T.1]", "T.3]"]


def test_splines_go_on_beyond_the_rows_of_the_fit_with_a_warning():
    result = ps.logit("y ~ bs(x, df=4)", DATA, lam=0.1).fit()
    told = "bs(x, df=4, extrapolation='extend')"
    expected = ps.logit(f"y ~ {told}", DATA, lam=0.1).fit()
    new = pd.DataFrame({"x": [1.0, 7.0, -2.0]})
    with pytest.warns(ColumnWarning, match="beyond .* .0 to 5. in 2 rows, as in R"):
        scores = result.decision_function(new)
    np.testing.assert_allclose(scores, expected.decision_function(new), rtol=1e-6)


def test_effects_leave_out_the_text_of_expressions():
    result = ps.logit("y ~ x + I(g == 'u')", DATA, lam=0.1).fit()
    both = [result.margins(v, at=a).tidy() for v in (None, "x") for a in (None, "mean")]
    for one, other in zip(both[:2], both[2:], strict=True):
        pd.testing.assert_frame_equal(one, other)
    with pytest.raises(PegasosStatsError, match="'g' is text that is not a factor"):
        result.margins("g")
