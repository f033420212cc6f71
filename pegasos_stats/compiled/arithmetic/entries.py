"""The entries of dense rows that are not 0."""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.lanes import Numbers
from pegasos_stats.compiled.compiling import kernel


@kernel
def count_entries(X: Numbers, indptr: NDArray[np.int64]) -> None:
    """Put in ``indptr[i + 1]``, shape (n + 1,), how many there are up to row ``i``."""
    indptr[0] = 0
    for i in range(X.shape[0]):
        count = 0
        for j in range(X.shape[1]):
            count += int(X[i, j] != 0.0)
        indptr[i + 1] = indptr[i] + count


@kernel
def put_entries(X: Numbers, data: Numbers, indices: NDArray[np.int32]) -> None:
    """Put them in ``data`` and their columns in ``indices``, row by row."""
    k = 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:
                data[k], indices[k] = X[i, j], j
                k += 1
