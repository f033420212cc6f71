"""Copies of rows, dense or sparse, into room for rows of the same kind."""

from typing import Any

import numpy as np

from pegasos_stats.compiled.arithmetic.rows import CSR, Rows, by_type_of_rows


def room_for(X: Rows) -> Rows:
    """Return room for as many rows as ``X`` has, empty."""
    if isinstance(X, CSR):
        data, indices = np.empty_like(X.data), np.empty_like(X.indices)
        return CSR(data, indices, np.zeros_like(X.indptr), X.n_cols)
    return np.empty_like(X)


def row_copy(X: Rows, i: int, to: Rows, k: int) -> None:
    """Copy row ``i`` to row ``k`` of ``to``; row 0 first, then one after the other."""
    if isinstance(X, CSR):
        sparse_copy(X, i, to, k)
    else:
        dense_copy(X, i, to, k)


def dense_copy(X: Any, i: int, to: Any, k: int) -> None:
    """``row_copy`` of a dense row."""
    for j in range(X.shape[1]):
        to[k, j] = X[i, j]


def sparse_copy(X: Any, i: int, to: Any, k: int) -> None:
    """``row_copy`` of a sparse row."""
    start, at = X.indptr[i], to.indptr[k]
    count = X.indptr[i + 1] - start
    for j in range(count):
        to.data[at + j] = X.data[start + j]
        to.indices[at + j] = X.indices[start + j]
    to.indptr[k + 1] = at + count


by_type_of_rows(row_copy, dense_copy, sparse_copy)
