"""Digests of training rows, to recognise them: all in order, or each by itself."""

import hashlib

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Predictors
from pegasos_stats.data.user_data import is_sparse

BLOCK = 1 << 20  # numbers that are taken as float64 at a time

SEED = 1  # of the factors of the columns, which may be any odd numbers


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


def digests_by_row(X: Predictors, *columns: NDArray[np.float64]) -> NDArray[np.uint64]:
    """A digest of each row of a matrix and of what stands beside it, shape (n,).

    Equal rows have the same, and others hardly ever: it has 64 bits. It is no secret.

    Examples
    --------
    >>> one, other, again = digests_by_row(np.array([[0.0, 1], [1, 0], [-0.0, 1]]))
    >>> bool(one == again), bool(one == other)
    (True, False)
    """
    n, p = X.shape
    rng, each = np.random.default_rng(SEED), p + len(columns)
    factors = rng.integers(1 << 63, size=each, dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    found = np.zeros(n, dtype=np.uint64)
    entries = n * p if isinstance(X, np.ndarray) else X.nnz
    step = max(1, BLOCK * n // max(1, entries))
    for begin in range(0, n, step):
        block = X[begin : begin + step]
        if isinstance(block, np.ndarray):
            found[begin : begin + step] = _mixed(block) @ factors[:p]
        else:
            block = block.tocsr()
            block = type(block)(
                (_mixed(block.data), block.indices, block.indptr), block.shape
            )
            found[begin : begin + step] = block @ factors[:p]
    for column, factor in zip(columns, factors[p:], strict=True):
        found += _mixed(column) * factor
    return found


def _mixed(numbers: NDArray[np.floating]) -> NDArray[np.uint64]:
    """Bits of numbers, mixed; those of 0 and -0 are none."""
    flat = numbers.astype(np.float64).ravel() + 0.0
    return pd.util.hash_array(flat, categorize=False).reshape(numbers.shape)
