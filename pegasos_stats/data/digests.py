"""Digests of training rows, to recognise the rows of a fit that was saved."""

import hashlib

import numpy as np

from pegasos_stats.arrays import Predictors
from pegasos_stats.data.columns import is_sparse

BLOCK = 1 << 20  # numbers that are taken as float64 at a time


def rows_digest(X: object) -> str | None:
    """Digest of training rows; of a loaded fit that of its file, if it has one."""
    if isinstance(X, np.ndarray) or hasattr(type(X), "tocsr"):
        return digest_of(X)
    return getattr(X, "digest", None)


def digest_of(X: Predictors) -> str:
    """SHA-256, in hexadecimal, of the shape and the numbers of a matrix in their order.

    Matrices have the same digest if they are equal: of a sparse one only what is not 0
    counts, 0 and -0 are one number, and so are a float32 and the float64 it becomes.
    A dense matrix and a sparse one have not.

    Examples
    --------
    >>> digest_of(np.array([[0.0, 1.0]])) == digest_of(np.array([[-0.0, 1.0]]))
    True
    >>> digest_of(np.array([[0.0, 1.0]])) == digest_of(np.array([[1.0, 0.0]]))
    False
    """
    kind = "sparse" if is_sparse(X) else "dense"
    digest = hashlib.sha256(f"{kind} {X.shape[0]} {X.shape[1]}".encode())
    step = max(1, BLOCK // max(1, X.shape[1]))
    for begin in range(0, X.shape[0], step):
        block = X[begin : begin + step]
        if not isinstance(block, np.ndarray):
            block = block.tocsr(copy=True)
            block.sum_duplicates()
            block.eliminate_zeros()
            for places in (block.indptr, block.indices):
                digest.update(places.astype("<i8").tobytes())
            block = block.data
        digest.update((block.astype("<f8") + 0.0).tobytes())
    return digest.hexdigest()
