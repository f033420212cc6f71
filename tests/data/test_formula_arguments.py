"""Arguments that a function of formulas does not take: what was got, what may be given.

Each sentence names the formula and the term, at the fit as on new rows.
"""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, FormulaError

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
WHOLE = "give a whole number of 1 or more"
FLAG = "give True or False"
TEXT = "takes numbers, and there is text"
NO_TEXT = "takes text, and there are numbers; make text of them by as_character()"
LEVELS = "the levels are 'a', 'b', 'c'"
NAMES = "'Diff', 'Helmert', 'Poly', 'Sum', 'Treatment'"
CODED = (
    f"give one of {NAMES}, Treatment('level'), or {{'name': [a weight for each level]}}"
)
BREAKS = (
    "give a list of two or more numbers that differ, or a whole number of intervals, 2 "
    "or more"
)
NO_SPREAD = "has the value 2 in every row; leave the term out"
SIDES = (
    "has text on one side and numbers on the other; compare text with text, or numbers "
    "with numbers"
)

OF_TERMS = {
    "bs(x, lower_bound=1)": "bs() has bounds from 1 to 4.875, and its values go from 0 "
    "to 4.875; give bounds that hold them, or extrapolation='clip'",
    "bs(x, df=4, upper_bound=1)": "bs() has bounds from 0 to 1, and its values go from "
    "0 to 4.875; give bounds that hold them, or extrapolation='clip'",
    "bs(x, df=4, lower_bound=9)": "bs() has bounds from 9 to 4.875; give a lower_bound "
    "below the upper_bound",
    "cr(x, df=4, lower_bound=2, upper_bound=1)": "cr() has bounds from 2 to 1; give a "
    "lower_bound below the upper_bound",
    "cr(x, df=4, lower_bound=1, extrapolation='raise')": "cr() has bounds from 1 to "
    "4.875, and its values go from 0 to 4.875; give bounds that hold them, or "
    "extrapolation='clip'",
    "bs(x, lower_bound='a')": "lower_bound of bs() is 'a'; give a finite number",
    "bs(x, df=2)": "df of bs() is 2; give a whole number of 3 or more, as degree is 3",
    "bs(x, df=3, include_intercept=True)": "df of bs() is 3; give a whole number of 4 "
    "or more, as degree is 3 and the intercept",
    "bs(x, df=2.5)": f"df of bs() is 2.5; {WHOLE}",
    "bs(x, df=0)": f"df of bs() is 0; {WHOLE}",
    "bs(x, degree=0)": f"degree of bs() is 0; {WHOLE}",
    "bs(x, degree='a')": f"degree of bs() is 'a'; {WHOLE}",
    "bs(x, df=4, knots=[1])": "bs() has both df and knots; give one of them",
    "bs(x, knots=1)": "knots of bs() is 1; give a list of numbers",
    "bs(x, knots=['a'])": "knots of bs() is ['a']; give a list of numbers",
    "bs(x, extrapolation='no')": "extrapolation of bs() is 'no'; give one of 'clip', "
    "'extend', 'na', 'raise', 'zero'",
    "bs(x, include_intercept=1)": f"include_intercept of bs() is 1; {FLAG}",
    "bs(g)": f"bs() {TEXT}",
    "cr(x)": "cr() has neither df nor knots; give one of them",
    "cr(x, df=2)": "df of cr() is 2; give a whole number of 3 or more",
    "cr(x, df=1, constraints='center')": "df of cr() is 1; give a whole number of 2 or "
    "more",
    "cr(x, knots=[])": "knots of cr() is []; give numbers between 0 and 4.875",
    "cr(x, knots=[0])": "knots of cr() is [0]; give numbers between 0 and 4.875",
    "cr(x, df=3, constraints=[1, 2, 3])": "constraints of cr() is [1, 2, 3]; give "
    "a list "
    "of 4 weights",
    "cc(x, knots=[1, 2], constraints=[[1, 2], [2, 1]])": "constraints of cc() is "
    "[[1, 2], [2, 1]]; give 2 lists of 3 weights",
    "cr(x, df=3, constraints=[0, 0, 0, 0])": "constraints of cr() is [0, 0, 0, "
    "0]; give "
    "fewer than 4, none of which follows from the others",
    "cr(x, df=3, constraints=[[1], 2])": "constraints of cr() is [[1], 2]; "
    "give 'center', "
    "a list of weights, or several lists of weights",
    "ns(x, df=3, knots=[1])": "ns() has both df and knots; give one of them",
    "ns(x, df=1, intercept=True)": "df of ns() is 1; give a whole number of 2 or "
    "more, as "
    "intercept is True",
    "ns(x, knots=[0])": "knots of ns() is [0]; give numbers between 0 and 4.875, "
    "the outer "
    "knots",
    "ns(x, df=2, Boundary_knots=[7, 6])": "ns() has no value between its outer knots "
    "6 and "
    "7; give Boundary_knots that hold values",
    "ns(x, df=2, Boundary_knots=[1])": "Boundary_knots of ns() is [1]; give a list "
    "of 2 "
    "numbers that differ",
    "ns(rare, df=3)": "all inner knots that ns() finds are 0, an outer one, as so many "
    "rows have this value; give knots, or leave the term out",
    "ns(one, df=2)": f"ns() {NO_SPREAD}",
    "ns(g)": f"ns() {TEXT}",
    "cc(x, df=0)": f"df of cc() is 0; {WHOLE}",
    "cs(x, knots=[9])": "knots of cs() is [9]; give numbers between 0 and 4.875",
    "cr(x, df=3, constraints='no')": "constraints of cr() is 'no'; give 'center', a "
    "list of weights, or several lists of weights",
    "cr(k, df=9)": "cr() has 3 different values between its bounds; give a smaller df, "
    "or leave the term out",
    "poly(x, 0)": f"degree of poly() is 0; {WHOLE}",
    "poly(x, 2.5)": f"degree of poly() is 2.5; {WHOLE}",
    "poly(k, 3)": "degree of poly() is 3; give a whole number below 3, as there are so "
    "many different values",
    "poly(one, 2)": f"poly() {NO_SPREAD}",
    "poly(x, 2, raw='a')": f"raw of poly() is 'a'; {FLAG}",
    "scale(one)": f"scale() {NO_SPREAD}",
    "scale(x, ddof=40)": "ddof of scale() is 40; give a whole number below 40, "
    "the rows",
    "scale(x, center='a')": "center of scale() is 'a'; give True, False or a number",
    "standardize(one)": f"standardize() {NO_SPREAD}",
    "center(g)": f"center() {TEXT}",
    "scale(f)": "scale() takes numbers, and there are categories; make numbers of them "
    "by as_numeric(), or leave the call out",
    "cut(x, [1])": f"breaks of cut() is [1]; {BREAKS}",
    "cut(x, [1, 1])": f"breaks of cut() is [1, 1]; {BREAKS}",
    "cut(x, 2.5)": f"breaks of cut() is 2.5; {BREAKS}",
    "cut(one, 3)": f"cut() {NO_SPREAD}",
    "cut(x, 3, labels=['a'])": "labels of cut() is ['a']; give a list of 3 texts that "
    "differ, one for each interval",
    "cut(x)": "cut() lacks breaks; it takes x, breaks, labels, right, include_lowest",
    "lag(x, 0.5)": "k of lag() is 0.5; give a whole number of rows",
    "log(x, 1)": "base of log() is 1; give a number above 0 other than 1",
    "log(g)": f"log() {TEXT}",
    "round(x, 1.5)": "digits of round() is 1.5; give a whole number of at most 300",
    "I(x - quantile(x, 2))": "q of quantile() is 2; give a number between 0 and 1",
    "hashed(g, levels=2.5)": f"levels of hashed() is 2.5; {WHOLE}",
    "np.clip(x, 'a', 1)": "a_min of np.clip() is 'a'; give numbers, and no text",
    "x.isin(1)": "values of isin() is 1; give a list of values",
    "toupper(x)": f"toupper() {NO_TEXT}",
    "substr(g)": "substr() lacks start; it takes x, start, stop",
    "pmin(x, g)": "pmin() and pmax() take numbers, and there is text",
    "ifelse(x > 1, 'a', 1)": "ifelse() has text and numbers to choose from; give one "
    "kind",
    "as_numeric(g)": "there are values that are no numbers, 'a', 'b', 'c'",
    "I(x > 'a')": f"'>' {SIDES}",
    "C(g, Treatment('zz'))": f"'zz' is no level; {LEVELS}, so give one of these",
    "relevel(k, ref='1')": "'1' is no level; the levels are 0, 1, 2, so give one of "
    "these",
    "C(g, 'zz')": f"contrasts of C() is 'zz'; {CODED}",
    "C(g, levels=['a'])": f"levels= lacks 'b', 'c'; {LEVELS}, so give them all, or "
    "drop rows",
    "C(g, levels=['a', 'a'])": "levels of C() is ['a', 'a']; give a list of levels "
    "that differ",
    "C(g, contr.poly(scores=[1, 2]))": f"its contrasts do not go with its levels; "
    f"{LEVELS}, so give one for each",
    "C(g, contr.custom([[1], [2]]))": f"its contrasts do not go with its levels; "
    f"{LEVELS}, so give one for each",
    "C(g, Diff(backward='a'))": f"backward of Diff() is 'a'; {FLAG}",
}  # fmt: skip
UNKNOWN = {
    "C(g, Helmet)": f"'Helmet' in C() is no contrast (did you mean 'Helmert'?); give "
    f"one of {NAMES}",
    "C(g, contrasts=contr.zz)": "'contr.zz' in C() is no contrast (did you mean "
    f"'contr.sum'?); give one of {NAMES}",
}


def refused(term):
    with pytest.raises(FormulaError) as caught:
        ps.logit(f"y ~ k + {term}", DATA, lam=0.1)
    return str(caught.value)


@pytest.mark.parametrize("term", OF_TERMS)
def test_an_argument_is_refused_in_one_sentence(term):
    begin = f"The formula {f'y ~ k + {term}'!r} cannot be used: {term}: "
    assert refused(term) == f"{begin}{OF_TERMS[term]}."


@pytest.mark.parametrize("term", UNKNOWN)
def test_contrasts_that_are_not_known_are_no_column(term):
    begin = f"The formula {f'y ~ k + {term}'!r} cannot be used: "
    assert refused(term) == f"{begin}{UNKNOWN[term]}."


def test_terms_of_one_level_are_no_predictor():
    with pytest.raises(FormulaError) as caught:
        ps.logit("y ~ cut(x, [7, 8])", DATA, lam=1.0)
    assert str(caught.value) == (
        "The formula 'y ~ cut(x, [7, 8])' has only terms of one level in these data; "
        "add a predictor that varies."
    )


def test_rows_that_are_not_complete_are_of_a_term():
    with pytest.raises(ps.errors.DataError) as caught:
        ps.logit("y ~ lag(x, 100)", DATA, lam=1.0)
    assert str(caught.value) == (
        "None of 40 rows is complete (40 in 'lag(x, 100)'); give data with values for "
        "the outcome and all predictors."
    )


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


def test_new_rows_of_another_level_and_text_are_named():
    result = ps.logit("y ~ C(g, Treatment('b')) + poly(x, 2)", DATA, lam=0.1).fit()
    with pytest.raises(ColumnError, match=r"'g' holds levels .*, 'q'"):
        result.predict(DATA.assign(g="q"))
    with pytest.raises(ColumnError, match="'x'"):
        result.predict(DATA.assign(x="q"))
