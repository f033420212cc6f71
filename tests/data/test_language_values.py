"""Functions of formulas, one by one, beside numpy, pandas and R's own words."""

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.language.vocabulary import cut

ROUNDING = 1e-12  # the same sums in another order
DATA = pd.DataFrame(
    {
        "x": [-2.5, -0.5, 0.0, 0.75, 1.5, 12.25],
        "z": [3.0, -1.0, 2.0, -4.0, 0.5, 6.0],
        "k": [1, 3, 2, 4, 10, 3],
        "s": [" ab", "Abc", "b.c", "cab", "bcA ", "a"],
        "m": [1.0, np.nan, 3.0, np.inf, -np.inf, 0.0],
        "d": pd.to_datetime(
            ["2020-02-29 05:06:07", "2021-12-31 23:59:58", "2022-07-04"] * 2,
            format="mixed",
        ),
        "o": 1.0,
    },
    index=[5, 3, 9, 7, 1, 0],
)
x, z, k, s, m, d = (DATA[name] for name in "xzksmd")

VALUES = {
    "log(k, 2)": np.log2(k),
    "log(k, base=10)": np.log10(k),
    "np.log1p(k)": np.log1p(k),
    "ceiling(x)": np.ceil(x),
    "atan2(x, z)": np.arctan2(x, z),
    "np.mod(x, z)": np.mod(x, z),
    "np.pow(k, z)": k**z,
    "np.true_divide(z, k)": z / k,
    "round(x)": [-2.0, -0.0, 0.0, 1.0, 2.0, 12.0],
    "round(x, 1)": [-2.5, -0.5, 0.0, 0.8, 1.5, 12.2],
    "round(k, -1)": [0, 0, 0, 0, 10, 0],
    "np.clip(x, -1, 2)": x.clip(-1, 2),
    "np.clip(x, z, 13)": np.clip(x, z, 13),
    "np.clip(x, -9, z)": np.clip(x, -9, z),
    "x.clip(-1, 2)": x.clip(-1, 2),
    "np.where(x > z, x, k)": np.where(x > z, x, k),
    "ifelse(x > 0, 1, -1)": np.where(x > 0, 1, -1),
    "pmin(x, z, 0.5)": np.minimum(np.minimum(x, z), 0.5),
    "pmax(x, z, 0.5)": np.maximum(np.maximum(x, z), 0.5),
    "as_integer(x)": [-2, 0, 0, 0, 1, 12],
    "as_logical(x)": x != 0.0,
    "as_numeric(x > 0)": (x > 0) * 1.0,
    "nchar(s)": [3, 3, 3, 3, 4, 1],
    "s.str.len()": [3, 3, 3, 3, 4, 1],
    "x.between(-0.5, 1.5)": [False, True, True, True, True, False],
    "x.between(-0.5, 1.5, 'neither')": [False, False, True, True, False, False],
    "k.isin([3, 10])": k.isin([3, 10]),
    "x.round(1)": [-2.5, -0.5, 0.0, 0.8, 1.5, 12.2],
    "x.abs()": x.abs(),
    "np.nan_to_num(m, nan=7)": np.nan_to_num(m, nan=7),
    "np.nan_to_num(m, 1, 2, 3)": [1.0, 1.0, 3.0, 2.0, 3.0, 0.0],
    "x.astype('int')": x.astype(int),
    "x - mean(x)": x - x.mean(),
    "x - median(z)": x - z.median(),
    "x / sd(x)": x / np.std(x, ddof=1),
    "x / std(x)": x / np.std(x, ddof=1),
    "x / np.std(x)": x / np.std(x.to_numpy()),
    "x / var(x)": x / np.var(x, ddof=1),
    "x / np.var(x)": x / np.var(x.to_numpy()),
    "x / x.var()": x / x.var(),
    "x + max(z) - min(z)": x + 10.0,
    "x / sum(k)": x / 23.0,
    "x - quantile(x)": x - np.quantile(x, 0.5),
    "x - quantile(x, 0.9)": x - np.quantile(x, 0.9),
    "x - x.quantile(q=0.25)": x - np.quantile(x, 0.25),
    "startsWith(s, 'b')": [False, False, True, False, True, False],
    "endsWith(s, 'c')": [False, True, True, False, False, False],
    "s.str.contains('ab')": [True, False, False, True, False, False],
    "s.str.startswith('A')": [False, True, False, False, False, False],
    "d.dt.year": [2020, 2021, 2022] * 2,
    "d.dt.hour": [5, 23, 0] * 2,
    "d.dt.dayofweek": [5, 4, 0] * 2,
    "d.dt.dayofyear": [60, 365, 185] * 2,
    "d.dt.quarter": [1, 4, 3] * 2,
    "x * pi - np.e": x * np.pi - np.e,
    "x < Inf": np.ones(6, dtype=bool),
    "x == 0 | z == 6": (x == 0) | (z == 6),
    "-x**2": -(x**2),
    "-2**2 + x": x - 4,
    "k // 2": k // 2,
    "(2 * k) %in% c(2, 6)": (2 * k).isin([2, 6]),
    "x % 2": np.mod(x, 2),
}
TEXTS = {
    "toupper(s)": [" AB", "ABC", "B.C", "CAB", "BCA ", "A"],
    "tolower(s)": [" ab", "abc", "b.c", "cab", "bca ", "a"],
    "trimws(s)": ["ab", "Abc", "b.c", "cab", "bcA", "a"],
    "substr(s, 2, 3)": ["ab", "bc", ".c", "ab", "cA", ""],
    "substr(s, 0, 1)": [" ", "A", "b", "c", "b", "a"],
    "s.str.slice(1, 3)": ["ab", "bc", ".c", "ab", "cA", ""],
    "s.str.title()": [" Ab", "Abc", "B.C", "Cab", "Bca ", "A"],
    "s.str.capitalize()": [" ab", "Abc", "B.c", "Cab", "Bca ", "A"],
    "s.str.strip()": ["ab", "Abc", "b.c", "cab", "bcA", "a"],
    "as_character(x)": ["-2.5", "-0.5", "0", "0.75", "1.5", "12.25"],
    "ifelse(x > 0, 'p', 'n')": list("nnnppp"),
}


@pytest.mark.parametrize("expression", [*VALUES, *TEXTS])
def test_a_function_gives_these_values(expression):
    found = outcome_of(f"{expression} ~ o", DATA, {})
    assert found.index.equals(DATA.index)
    if expression in TEXTS:
        assert found.tolist() == TEXTS[expression]
        return
    given = found.to_numpy(dtype=np.float64, na_value=np.nan)
    expected = np.asarray(VALUES[expression], dtype=np.float64)
    np.testing.assert_allclose(given, expected, rtol=ROUNDING, atol=ROUNDING)


# As R gives cut(0:4, c(3, 0, 4, 2), right =, include.lowest =)
@pytest.mark.parametrize(
    ("right", "lowest", "cells"),
    [
        (True, False, [None, "(0,2]", "(0,2]", "(2,3]", "(3,4]"]),
        (True, True, ["[0,2]", "[0,2]", "[0,2]", "(2,3]", "(3,4]"]),
        (False, False, ["[0,2)", "[0,2)", "[2,3)", "[3,4)", None]),
    ],
)
def test_intervals_are_closed_where_r_closes_them(right, lowest, cells):
    values = pd.Series([0.0, 1.0, 2.0, 3.0, 4.0])
    found = cut(values, [3, 0, 4, 2], None, right, lowest).values
    assert found.astype(object).where(found.notna(), None).tolist() == cells


def test_a_number_of_intervals_reaches_a_thousandth_beyond_the_range():
    state = {}
    found = cut(pd.Series([-5.0, 0.0, 5.0]), 2, state=state).values
    np.testing.assert_allclose(state["breaks"], [-5.01, 0.0, 5.01], rtol=ROUNDING)
    assert found.cat.categories.tolist() == ["(-5.01,0]", "(0,5.01]"]
    again = cut(pd.Series([5.005, 5.02]), 2, state=state).values
    assert again.isna().tolist() == [False, True]
