"""Frames and arrays as numbers."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array

import pegasos_stats as ps
from pegasos_stats.data.design import FrameDesign
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


def test_an_array_of_other_width_is_refused():
    design = FrameDesign.from_data(np.ones((3, 2)))
    with pytest.raises(ColumnError, match="3 columns; the model was fitted on 2"):
        design.matrix(np.ones((3, 3)))


@pytest.mark.parametrize("X", [np.ones(3), 5.0, np.ones((2, 2, 2))])
def test_data_without_rows_and_columns_are_refused(X):
    with pytest.raises(DataError, match="one row for each observation"):
        FrameDesign.from_data(X)


def test_a_column_twice_in_new_data_is_refused():
    design = FrameDesign.from_data(frame(u=[1, 2, 3]))
    doubled = pd.concat([frame(u=[1, 2, 3])] * 2, axis=1)
    with pytest.raises(ColumnError, match="'u' occurs more than once"):
        design.matrix(doubled)


def test_names_that_would_clash_in_params_are_refused():
    with pytest.raises(ColumnError, match="'1' occurs more than once"):
        FrameDesign.from_data(pd.DataFrame(np.ones((2, 2)), columns=[1, "1"]))
    with pytest.raises(ColumnError, match="'Intercept'"):
        FrameDesign.from_data(frame(Intercept=[1, 2, 3]))


def test_numbers_in_object_columns_are_numbers():
    data = frame(
        u=pd.Series([1, Decimal("2.5"), None], index=list("abc"), dtype=object)
    )
    assert FrameDesign.from_data(data).matrix(data).values.tolist() == [[1.0], [2.5]]


def test_float32_stays_float32():
    X = np.ones((3, 2), dtype=np.float32)
    values = FrameDesign.from_data(X).matrix(X).values
    assert values.dtype == np.float32
    assert np.shares_memory(values, X)


@pytest.mark.parametrize("make", [csr_array, csc_matrix, coo_array])
def test_sparse_matrices_stay_sparse(make):
    X = make(np.array([[0.0, 1.0], [2.0, 0.0], [np.nan, 3.0]]))
    matrix = FrameDesign.from_data(X).matrix(X)
    assert matrix.values.format == "csr"
    assert matrix.kept.tolist() == [True, True, False]
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
        assert matrix.kept.tolist() == [True, False, True][::step]


def test_an_infinite_sparse_entry_is_named():
    X = csr_array(np.array([[0.0, 1.0], [0.0, np.inf]]))
    with pytest.raises(ColumnError, match=r"'x2' holds infinite values in 1 row \(1\)"):
        FrameDesign.from_data(X).matrix(X)


def test_sparse_columns_of_a_frame():
    dense = frame(u=[0.0, 2.0, 0.0], v=[1.0, 0.0, 0.0])
    sparse = dense.astype(pd.SparseDtype(float, 0.0))
    mixed = sparse.assign(v=dense["v"])
    with_nan = dense.replace(0.0, np.nan).astype(pd.SparseDtype(float, np.nan))
    for data in (sparse, mixed):
        matrix = FrameDesign.from_data(data).matrix(data)
        assert matrix.values.toarray().tolist() == dense.to_numpy().tolist()
    assert FrameDesign.from_data(with_nan).matrix(with_nan).kept.sum() == 0


def test_sparse_data_are_real_and_have_two_dimensions():
    with pytest.raises(ColumnError, match="complex128"):
        FrameDesign.from_data(csr_array(np.eye(2))).matrix(csr_array(np.eye(2) + 1j))
    with pytest.raises(DataError, match="one dimension"):
        FrameDesign.from_data(coo_array(np.ones(3)))


@pytest.mark.parametrize("X", [None, 5, (v for v in [[1.0]]), {"a": [1.0, 2.0]}, "ab"])
def test_what_has_no_rows_is_named_by_its_type(X):
    with pytest.raises(DataError, match=f"of type {type(X).__name__}"):
        ps.SVM(["a", "b"], X, lam=1.0)
    model = ps.SVM(["a", "b"], [[1.0], [2.0]], lam=1.0)
    with pytest.raises(DataError, match=f"of type {type(X).__name__}"):
        model.fit(trace=True, test=(["a", "b"], X))


def read_only(X):
    X.flags.writeable = False
    return X


def mapped(X, folder, mode):
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode=mode)


@pytest.mark.parametrize(
    ("give", "is_shared"),
    [
        (lambda X, folder: read_only(X), True),
        (lambda X, folder: read_only(X)[2:], True),
        (lambda X, folder: read_only(X.astype(np.float32)), True),
        (lambda X, folder: mapped(X, folder, "r"), True),
        (lambda X, folder: mapped(X, folder, "r")[2:], True),
        (lambda X, folder: mapped(X, folder, "c"), False),
        (lambda X, folder: X, False),
        (lambda X, folder: read_only(X[:]), False),  # X itself can be written to
        (lambda X, folder: read_only(X).T[:2].T, False),  # not row by row
        (lambda X, folder: pd.DataFrame(read_only(X)), False),
    ],
)
def test_rows_are_not_copied_where_nobody_can_write_to_them(tmp_path, give, is_shared):
    X = np.random.default_rng(1).standard_normal((40, 3))
    given = give(X, tmp_path)
    y = np.tile([0, 1], 20)[-len(given) :]
    model = ps.SVM(y, given, lam=0.1)
    assert np.shares_memory(model.problem.X, np.asarray(given)) == is_shared
    assert not model.problem.X.flags.writeable
    copied = ps.SVM(y, np.array(given), lam=0.1)
    assert not np.shares_memory(copied.problem.X, np.asarray(given))
    params = [each.fit(ps.SDCA(seed=1)).params.tolist() for each in (model, copied)]
    assert params[0] == params[1]
