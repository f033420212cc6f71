"""Missing values in formulas: R's rule, with R's values (model.frame, model.matrix)."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.sample import Offset, sample_of_formula

NA = np.nan
DATA = pd.DataFrame(
    {
        "x": [1.0, NA, 3.0, -2.0, NA, 6.0, 0.5, 2.0],
        "s": [NA, 3.0, 1.0, 1.0, 1.0, 5.0, NA, 0.0],
        "g": ["a", None, "b", "a", None, "b", "c", "a"],
        "y": ["q", "p", "q", "p", "q", "q", None, "p"],
    },
    index=range(1, 9),
)
FILLED = {1: 1, 2: 0, 3: 3, 4: -2, 5: 0, 6: 6, 8: 2}
UNKNOWN = {1: 0, 2: 1, 3: 0, 4: 0, 5: 1, 6: 0, 8: 0}
KNOWN = {row: 1 - value for row, value in UNKNOWN.items()}
OF_G = [[0, 0], [0, 1], [1, 0], [0, 0], [0, 1], [1, 0], [0, 0]]
WITH_NONE = dict(zip(UNKNOWN, OF_G, strict=True))

# model.matrix(y ~ term, model.frame(y ~ term, data)) of R, without the intercept.
OF_R = {
    "is.na(x)": UNKNOWN,
    "np.isnan(x)": UNKNOWN,
    "I(x.isna())": UNKNOWN,
    "I(not is.na(x))": KNOWN,
    "x.notna()": KNOWN,
    "np.isfinite(x)": KNOWN,
    "is.na(g)": UNKNOWN,
    "ifelse(is.na(x), 0, x)": FILLED,
    "np.where(np.isnan(x), 0, x)": FILLED,
    "x.fillna(0)": FILLED,
    "coalesce(x, 0)": FILLED,
    "coalesce(x, s)": {1: 1, 2: 3, 3: 3, 4: -2, 5: 1, 6: 6, 8: 2},
    "I((x > 0) | (s > 2))": {1: 1, 2: 1, 3: 1, 4: 0, 6: 1, 8: 1},
    "I((x > 0) & (s > 2))": {3: 0, 4: 0, 5: 0, 6: 1, 8: 0},
    "ifelse(x > 0, 1, 0)": {1: 1, 3: 1, 4: 0, 6: 1, 8: 1},
    "ifelse(x > 0, s, 0)": {3: 1, 4: 0, 6: 5, 8: 0},
    "pmax(x, s)": {3: 3, 4: 1, 6: 6, 8: 2},
    "I(x %in% c(1, 3))": {1: 1, 2: 0, 3: 1, 4: 0, 5: 0, 6: 0, 8: 0},
    "addNA(g)": WITH_NONE,
    "C(g.fillna('none'))": WITH_NONE,
    "log(x + 3)": {1: np.log(4), 3: np.log(6), 4: 0.0, 6: np.log(9), 8: np.log(5)},
    "scale(x) + s": {
        3: [0.4666583705916, 1],
        4: [-1.3999751117748, 1],
        6: [1.5866384600114, 5],
        8: [0.0933316741183, 0],
    },
    "bs(x, df=4) + s": {
        3: [0.093750000000, 0.395833333333, 0.473379629630, 0.03703703703704, 1],
        4: [0.000000000000, 0.000000000000, 0.000000000000, 0.00000000000000, 1],
        6: [0.000000000000, 0.000000000000, 0.000000000000, 1.00000000000000, 5],
        8: [0.222222222222, 0.493827160494, 0.282578875171, 0.00137174211248, 0],
    },
    "ns(x, 2) + s": {
        3: [0.571651795069, -0.0258571488441, 1],
        4: [0.000000000000, 0.0000000000000, 1],
        6: [0.327538829831, 0.7903751489083, 5],
        8: [0.572911120792, -0.1844408950849, 0],
    },
    "cut(x, 3) + s": {3: [1, 0, 1], 4: [0, 0, 1], 6: [0, 1, 5], 8: [1, 0, 0]},
}  # fmt: skip


def sample_of(terms, data=DATA):
    return sample_of_formula(f"y ~ {terms}", data, True, "factor", "drop")[0]


@pytest.mark.parametrize("terms", OF_R)
def test_rows_and_values_are_those_of_r(terms):
    found, expected = sample_of(terms), OF_R[terms]
    assert found.index.tolist() == list(expected)
    values = np.array(list(expected.values()), dtype=float).reshape(len(expected), -1)
    np.testing.assert_allclose(found.X, values, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("terms", OF_R)
def test_new_rows_have_what_they_had_at_the_fit(terms):
    found = sample_of(terms)
    again = found.design.matrix(DATA.loc[found.index])
    both = again.index[again.complete].isin(found.index)
    np.testing.assert_array_equal(again.values[both], found.X)
    for place, label in enumerate(found.index):
        alone = found.design.matrix(DATA.loc[[label]])
        np.testing.assert_array_equal(alone.values, found.X[[place]])


@pytest.mark.parametrize("text", ["object", "string", "category"])
def test_columns_of_other_types_have_the_same_rows(text):
    data = DATA.astype({"x": "Float64", "s": "Int64", "g": text})
    for terms in ("is.na(x)", "coalesce(x, s)", "addNA(g)", "scale(x) + s",
                  "I((x > 0) | (s > 2))", "C(g.fillna('none'))"):  # fmt: skip
        expected = sample_of(terms)
        found = sample_of(terms, data)
        np.testing.assert_allclose(found.X, expected.X, rtol=1e-14)
        assert found.index.equals(expected.index)


def test_a_model_of_what_is_missing_has_all_rows_and_the_coefficient_of_statsmodels():
    rng = np.random.default_rng(3)
    x = np.where(np.arange(60) % 6 == 0, NA, rng.standard_normal(60))
    p = 1.0 / (1.0 + np.exp(0.5 - 1.0 * np.isnan(x)))
    data = pd.DataFrame({"x": x, "y": np.where(rng.random(60) < p, "b", "a")})
    model = ps.logit("y ~ np.isnan(x)", data, lam=1e-8)
    result = model.fit(ps.Optimum(tol=1e-9, seed=1))
    assert (model.problem.n, model.dropped.total) == (60, 0)
    of = data.y == "b"
    shares = np.array([of[rows].mean() for rows in (x == x, x != x)])
    odds = np.log(shares / (1 - shares))
    np.testing.assert_allclose(result.params, [odds[0], np.diff(odds)[0]], atol=1e-4)
    scores = result.decision_function(pd.DataFrame({"x": [5.0, NA]}))
    np.testing.assert_allclose(scores, odds, atol=1e-4)


def test_an_outcome_and_an_offset_have_the_same_rule():
    assert outcome_of("is.na(x) ~ s", DATA).tolist() == DATA.x.isna().tolist()
    found = outcome_of("ifelse(is.na(x), 'none', 'some') ~ s", DATA)
    assert found.tolist() == np.where(DATA.x.isna(), "none", "some").tolist()
    offset = Offset(terms=("ifelse(is_na(x), 0, x)",)).of(DATA)
    assert offset.tolist() == DATA.x.fillna(0.0).tolist()


def test_counts_of_what_is_left_out_are_of_the_rows_that_are():
    assert sample_of("is.na(x)").dropped.missing == (("y", 1),)
    assert sample_of("I((x > 0) | (s > 2))").dropped.missing == (("y", 1), ("x", 1))
    assert sample_of("scale(x) + s").dropped.missing == (("y", 1), ("s", 2), ("x", 2))


def test_functions_of_the_caller_get_all_rows():
    model = ps.svm("y ~ none(x)", DATA, lam=0.1, functions={"none": np.isnan})
    assert model.problem.X[:, 0].tolist() == list(UNKNOWN.values())
