"""Inner products of sparse rows with each other."""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.rows import CSR
from pegasos_stats.compiled.compiling import kernel

BLOCK = 32  # rows and columns of a part that is mirrored at a time


@kernel
def put_inner_products(
    X: CSR, columns: CSR, first: NDArray[np.int64], G: NDArray[np.float64]
) -> None:
    """Put ``x_i'x_k`` in ``G``.

    Row ``i`` of ``G`` is the sum, over the entries of ``x_i``, of the column of each
    from row ``i`` down; what is above the diagonal is then mirrored.

    Parameters
    ----------
    X : CSR, shape (n, p)
    columns : CSR, shape (p, n)
        The transpose of ``X``, the rows of each column in rising order.
    first : int64 array, shape (p,)
        The first entry of each column; changed in place.
    G : float64 array, shape (n, n)
        Of zeros.
    """
    n = G.shape[0]
    for i in range(n):
        row = G[i]
        for e in range(X.indptr[i], X.indptr[i + 1]):
            j, value = X.indices[e], np.float64(X.data[e])
            for k in range(first[j], columns.indptr[j + 1]):
                row[columns.indices[k]] += value * columns.data[k]
            first[j] += 1
    for top in range(0, n, BLOCK):
        for left in range(0, top + 1, BLOCK):
            for i in range(top, min(n, top + BLOCK)):
                for k in range(left, min(i, left + BLOCK)):
                    G[i, k] = G[k, i]
