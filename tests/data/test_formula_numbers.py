"""Formulas: columns of every type, arithmetic, whole numbers and powers."""

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.errors import FormulaError
from tests.data.formula_frames import design_of, frame


@pytest.fixture
def data():
    return frame()


@pytest.mark.parametrize(
    ("terms", "dtype"),
    [
        *[("x + `blood type`", dtype) for dtype in (object, "Float64", "float32")],
        *[("g", dtype) for dtype in ("string", "str", object, "category")],
    ],
)
def test_numbers_are_numbers_and_text_is_text_in_every_dtype(data, terms, dtype):
    complete = data.dropna()
    columns = ["g"] if terms == "g" else ["x", "blood type"]
    expected, matrix = design_of(f"y ~ {terms}", complete)
    other = complete.astype(dict.fromkeys(columns, dtype))
    design, same = design_of(f"y ~ {terms}", other)
    assert design.names == expected.names
    np.testing.assert_array_equal(same.values, matrix.values)
    np.testing.assert_array_equal(expected.matrix(other).values, matrix.values)


@pytest.mark.parametrize(
    "formula",
    ["y ~ I(n^2)", "y ~ {n^2}", "y ~ x + np.log(1 + n^2)", "n^2 > 4 ~ x", "y ~ I(b^b)"],
)
def test_a_caret_is_never_the_xor_of_whole_numbers(data, formula):
    whole = data.assign(n=np.arange(5), b=[True, False] * 2 + [True])
    with pytest.raises(FormulaError, match=r"write powers as x\*\*2, not x\^2"):
        design_of(formula, whole)


def test_true_counts_as_one_in_arithmetic_as_in_r(data):
    both = outcome_of("(x > 1) + (`blood type` > 3) ~ g", data.fillna({"x": 9.0}))
    assert both.tolist() == [0, 1, 1, 2, 2]
    _, matrix = design_of("y ~ I(-(`blood type` > 3)) + exp(`blood type` > 3)", data)
    np.testing.assert_array_equal(matrix.values[:, 0], [0, 0, 0, -1, -1])
    np.testing.assert_array_equal(matrix.values[:, 1], np.exp([0.0, 0, 0, 1, 1]))


WHOLE = {
    "u": np.array([200, 3, 7], dtype="uint8"),
    "v": np.array([100, 5, 9], dtype="uint8"),
    "w": np.array([1, 2, 3], dtype="uint64"),
    "far": np.array([2**63 + 2**20, 1, 2], dtype="uint64"),
    "big": np.array([2**40, -3, 5]),
    "half": np.array([300, 2, 1], dtype="float16"),
    "flag": [True, False, True],
}


@pytest.mark.parametrize(
    ("term", "of_reals"),
    [
        ("u:v", lambda d: d.u * d.v),
        ("big:u", lambda d: d.big * d.u),
        ("half:u", lambda d: d.half * d.u),
        ("I(big + 9223372036854775807)", lambda d: d.big + 2.0**63),
        ("I(2**-w)", lambda d: 2.0**-d.w),
        ("I(w - 2)", lambda d: d.w - 2),
        ("abs(w - big)", lambda d: abs(d.w - d.big)),
        ("I(far // 2)", lambda d: np.floor(d.far / 2)),
        ("np.power(u, -1)", lambda d: 1 / d.u),
        ("sum(big * 2**22):u", lambda d: (d.big * 2.0**22).sum() * d.u),
        ("as_integer(big * 1e9)", lambda d: d.big * 1e9),
    ],
)
def test_whole_numbers_are_computed_with_as_real_ones_are(term, of_reals):
    data = pd.DataFrame(WHOLE).assign(y=[0, 1, 0])
    _, matrix = design_of(f"y ~ {term}", data)
    expected = of_reals(data.astype(np.float64))
    np.testing.assert_array_equal(matrix.values[:, 0], expected)


def test_polynomials_and_numbers_of_another_type_do_not_wrap_around():
    data = pd.DataFrame(WHOLE).assign(y=[0, 1, 0])
    design, matrix = design_of("y ~ poly(big, 2, raw=True)", data)
    assert design.names == ("poly(big, 2, raw=True)[1]", "poly(big, 2, raw=True)[2]")
    np.testing.assert_array_equal(matrix.values[:, 1], data["big"] * 1.0 * data["big"])
    with pytest.raises(FormulaError, match="numbers that int32 cannot hold"):
        design_of("y ~ I(big.astype('int32'))", data)
    _, matrix = design_of("y ~ I(half.astype('int32'))", data)
    np.testing.assert_array_equal(matrix.values[:, 0], [300, 2, 1])


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "Float64", "uint8"])
@pytest.mark.parametrize("term", ["C(`blood type`)", "C(`blood type` * 2 - 1)"])
def test_whole_numbers_stay_whole_where_they_are_levels(data, term, dtype):
    design, _ = design_of(f"y ~ {term}", data.astype({"blood type": dtype}))
    levels = [name.rpartition("T.")[2] for name in design.names]
    assert levels == [f"{k * 2 - 1 if '*' in term else k}]" for k in (2, 3, 4, 5)]


def test_labels_of_intervals_have_as_many_digits_as_tell_them_apart(data):
    """``levels(cut(1990:1995, c(1989, 1992, 1995)))`` of R."""
    years = data.assign(x=[1990, 1991, 1993, 1994, 1995])
    design, _ = design_of("y ~ cut(x, [1989, 1992, 1995])", years)
    assert design.names == ("cut(x, [1989, 1992, 1995])[T.(1992,1995]]",)
