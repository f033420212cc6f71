"""Frames and arrays as numbers."""

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.design import FrameDesign
from pegasos_stats.errors import ColumnError, DataError


def frame(**columns):
    return pd.DataFrame(columns, index=list("abc"))


def test_columns_are_taken_by_name():
    design = FrameDesign.from_data(frame(u=[1, 2, 3], v=[4.0, 5.0, 6.0]))
    matrix = design.matrix(frame(w=["x"] * 3, v=[1.0, 2.0, 3.0], u=[7, 8, 9]))
    assert design.names == ("u", "v")
    assert matrix.values.tolist() == [[7.0, 1.0], [8.0, 2.0], [9.0, 3.0]]
    assert matrix.values.flags.c_contiguous


def test_rows_with_missing_values_are_left_out_and_come_back_as_nan():
    data = frame(u=pd.array([1, None, 3], dtype="Int64"), v=[True, False, None])
    matrix = FrameDesign.from_data(data).matrix(data)
    assert matrix.values.tolist() == [[1.0, 1.0]]
    spread = matrix.spread(np.array([9.0]))
    assert spread.index.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(spread, [9.0, np.nan, np.nan])


def test_a_plain_float_array_is_not_copied():
    X = np.ones((3, 2))
    assert np.shares_memory(FrameDesign.from_data(X).matrix(X).values, X)


def test_array_columns_are_called_x1_x2():
    assert FrameDesign.from_data(np.ones((3, 2))).names == ("x1", "x2")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1, "?", "?"], r"'u' is not numeric: it holds '\?' in 2 rows \('b', 'c'\)"),
        (["x", "y", "z"], "holds 'x', 'y', 'z' in 3 rows"),
        (pd.Categorical(["1", "2", "1"]), "'u' is not numeric"),
        (pd.to_datetime(["2020-01-01"] * 3), "'u' is not numeric"),
        ([1j, 2j, 3j], "'u' is not numeric"),
        ([1.0, np.inf, -np.inf], r"infinite values in 2 rows \('b', 'c'\)"),
    ],
)
def test_what_is_not_a_finite_number_is_named_with_its_rows(column, words):
    data = frame(u=column)
    design = FrameDesign.from_data(data)
    with pytest.raises(ColumnError, match=words):
        design.matrix(data)


def test_missing_columns_are_named():
    design = FrameDesign.from_data(frame(u=[1, 2, 3], v=[1, 2, 3]))
    with pytest.raises(ColumnError, match="Column 'v' not found; the data have 'u'"):
        design.matrix(frame(u=[1, 2, 3]))


def test_repeated_column_names_are_refused():
    with pytest.raises(ColumnError, match="'u' occur more than once"):
        FrameDesign.from_data(pd.DataFrame(np.ones((2, 2)), columns=["u", "u"]))


def test_an_array_of_other_width_is_refused():
    design = FrameDesign.from_data(np.ones((3, 2)))
    with pytest.raises(ColumnError, match="3 columns; the model was fitted on 2"):
        design.matrix(np.ones((3, 3)))


@pytest.mark.parametrize("X", [np.ones(3), 5.0, np.ones((2, 2, 2))])
def test_data_without_rows_and_columns_are_refused(X):
    with pytest.raises(DataError, match="dimension"):
        FrameDesign.from_data(X)
