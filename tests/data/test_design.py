"""Frames and arrays as numbers."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array

from pegasos_stats.data.design import FrameDesign
from pegasos_stats.errors import ColumnError


def frame(**columns):
    return pd.DataFrame(columns, index=list("abc"))


def test_columns_are_taken_by_name_and_once():
    design = FrameDesign.from_data(frame(u=[1, 2, 3], v=[4.0, 5.0, 6.0]))
    new = frame(w=["x"] * 3, v=[1.0, 2.0, 3.0], u=[7, 8, 9])
    matrix = design.matrix(new)
    assert design.names == ("u", "v")
    assert matrix.values.tolist() == [[7.0, 1.0], [8.0, 2.0], [9.0, 3.0]]
    assert matrix.values.flags.c_contiguous
    with pytest.raises(ColumnError, match="'v', 'u' occurs more than once"):
        design.matrix(pd.concat([new, new], axis=1))


def test_rows_with_missing_values_are_left_out_and_come_back_as_nan():
    data = frame(u=[Decimal("2.5"), None, 3], v=[True, False, None])
    matrix = FrameDesign.from_data(data).matrix(data)
    assert matrix.values.tolist() == [[2.5, 1.0]]
    spread = matrix.spread(np.array([9.0]))
    assert spread.index.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(spread, [9.0, np.nan, np.nan])


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1, "?", "?"], r"'u' is not numeric: it holds '\?' in the rows 'b', 'c'"),
        (["x", "y", "z"], "holds 'x', 'y', 'z' in the rows"),
        (pd.Categorical(["1", "2", "1"]), "'u' is not numeric"),
        (pd.to_datetime(["2020-01-01"] * 3), "'u' is not numeric"),
        ([1j, 2j, 3j], "'u' is not numeric"),
        ([1.0, np.inf, -np.inf], r"infinite values in the rows 'b', 'c'"),
    ],
)
def test_what_is_not_a_finite_number_is_named_with_its_rows(column, words):
    data = frame(u=column)
    design = FrameDesign.from_data(data)
    with pytest.raises(ColumnError, match=words):
        design.matrix(data)


@pytest.mark.parametrize("make", [csc_matrix, coo_array])
def test_sparse_matrices_stay_sparse(make):
    X = make(np.array([[0.0, 1.0], [2.0, 0.0], [np.nan, 3.0]]))
    matrix = FrameDesign.from_data(X).matrix(X)
    assert matrix.values.format == "csr"
    assert matrix.complete.tolist() == [True, True, False]
    assert matrix.values.toarray().tolist() == [[0.0, 1.0], [2.0, 0.0]]


def test_repeated_and_unordered_entries_become_canonical():
    X = csr_array(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    matrix = FrameDesign.from_data(X).matrix(X)
    assert matrix.values.toarray().tolist() == [[2.0, 4.0]]
    assert matrix.values.indices.tolist() == [0, 1]
    assert X.indices.tolist() == [1, 0, 1]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("kind", "large"), [("f8", 1e300), ("f4", 1e30)])
def test_numbers_whose_squares_overflow_are_no_infinite_values(kind, large, order):
    X = np.array([[large, 1.0], [-large, np.nan], [0.0, 2.0]], kind, order=order)
    for step in (1, 2):  # every second row is not contiguous
        matrix = FrameDesign.from_data(X[::step]).matrix(X[::step])
        assert matrix.complete.tolist() == [True, False, True][::step]


def test_sparse_columns_of_a_frame():
    dense = frame(u=[0.0, 2.0, 0.0], v=[1.0, 0.0, 0.0])
    sparse = dense.astype(pd.SparseDtype(float, 0.0))
    mixed = sparse.assign(v=dense["v"])
    with_nan = dense.replace(0.0, np.nan).astype(pd.SparseDtype(float, np.nan))
    for data in (sparse, mixed):
        matrix = FrameDesign.from_data(data).matrix(data)
        assert matrix.values.toarray().tolist() == dense.to_numpy().tolist()
    assert FrameDesign.from_data(with_nan).matrix(with_nan).complete.sum() == 0
