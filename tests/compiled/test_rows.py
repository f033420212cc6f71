"""Dense and sparse rows: the same numbers, compiled or not."""

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_array

from pegasos_stats.compiled.rows import (
    row_add,
    row_dot,
    row_dot_fast,
    row_norm2,
)
from pegasos_stats.solvers.sums import kernel_rows


@njit(error_model="numpy")
def compiled(X, i, d, w):
    dots = row_dot(X, i, w), row_dot_fast(X, i, w)
    row_add(X, i, d, w)
    return (*dots, row_norm2(X, i))


@pytest.mark.parametrize("p", [1, 5, 21])
def test_sparse_and_dense_rows_have_equal_bits(p):
    rng = np.random.default_rng(p)
    X = rng.standard_normal((5, p)) * (rng.random((5, p)) < 0.7)
    w, sparse = rng.standard_normal(p), kernel_rows(csr_array(X))
    for i in range(5):
        one, other = w.copy(), w.copy()
        dense, stored = compiled(X, i, -2.5, one), compiled(sparse, i, -2.5, other)
        assert dense[0] == stored[0]
        assert dense[2] == stored[2]
        np.testing.assert_array_equal(one, other)


def test_dot_is_summed_from_first_to_last():
    X = np.array([[1e16, 1.0, -1e16, 1.0]])
    assert compiled(X, 0, 0.0, np.ones(4))[0] == 1.0
