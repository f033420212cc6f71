"""What a solver does with one row of the data, dense or sparse.

Dense data are a C-contiguous array of shape (n, p), float64 or float32; sparse data are
a ``CSR``. One kernel source serves both: each public function here is the dense or the
sparse one by the type of ``X``, in compiled code when the kernel is compiled.

Dense coefficient vectors are padded with zeros to whole lanes (``lanes.padded``).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Integers,
    Lanes,
    Numbers,
    Vector,
    every,
    fused,
    lanes,
    load,
    load_part,
    prefetch,
    store,
    total,
    totals,
    visited,
)
from pegasos_stats.compiled.compiling import inlined, kernel

FourRows: TypeAlias = tuple[Numbers, Numbers, Numbers, Numbers]

ThreeLanes: TypeAlias = tuple[Lanes, Lanes, Lanes]

FourLanes: TypeAlias = tuple[Lanes, Lanes, Lanes, Lanes]

TenLanes: TypeAlias = tuple[
    Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes
]


class CSR(NamedTuple):
    """Sparse rows: row ``i`` holds the entries ``indptr[i]`` to ``indptr[i + 1] - 1``.

    Attributes
    ----------
    data : float64 or float32 array, shape (stored,)
    indices : int32 or int64 array, shape (stored,)
        Columns, counted from zero, each at most once in a row.
    indptr : int32 or int64 array, shape (n + 1,)
    n_cols : int
    """

    data: Numbers
    indices: NDArray[np.int32] | NDArray[np.int64]
    indptr: NDArray[np.int32] | NDArray[np.int64]
    n_cols: int


Rows: TypeAlias = Numbers | CSR

Form: TypeAlias = Callable[..., object]


def by_type_of_rows(public: Form, dense: Form, sparse: Form) -> None:
    """Let compiled kernels take the dense or the sparse form of a public function."""

    def choose(X: types.Type, *rest: types.Type) -> Form:
        return sparse if isinstance(X, types.BaseNamedTuple) else dense

    options = {"forceinline": True, "error_model": "numpy", "_nrt": False}
    overload(public, jit_options=options, strict=False)(choose)


@inlined
def four(X: Numbers, rows: Integers, k: int) -> FourRows:
    """Return the rows of the visits ``k`` to ``k + 3``."""
    return (
        visited(X, rows, k),
        visited(X, rows, k + 1),
        visited(X, rows, k + 2),
        visited(X, rows, k + 3),
    )


@inlined
def entries(x: FourRows, j: int) -> FourLanes:
    """Four entries of each row."""
    return load(x[0], j), load(x[1], j), load(x[2], j), load(x[3], j)


@inlined
def last_entries(x: FourRows, j: int, count: int) -> FourLanes:
    """Return the ``count`` last entries of each row, then zeros."""
    return (
        load_part(x[0], j, count),
        load_part(x[1], j, count),
        load_part(x[2], j, count),
        load_part(x[3], j, count),
    )


@inlined
def prefetch_two(x: Numbers, y: Numbers, j: int) -> None:
    """Ask the memory for entry ``j`` of two rows."""
    prefetch(x, j)
    prefetch(y, j)


@inlined
def add_products(e: FourLanes, w: Lanes, sums: TenLanes) -> TenLanes:
    """Add the products with ``w``, and of each pair of rows, to ten sums."""
    u0, u1, u2, u3, g01, g02, g03, g12, g13, g23 = sums
    return (
        fused(e[0], w, u0),
        fused(e[1], w, u1),
        fused(e[2], w, u2),
        fused(e[3], w, u3),
        fused(e[0], e[1], g01),
        fused(e[0], e[2], g02),
        fused(e[0], e[3], g03),
        fused(e[1], e[2], g12),
        fused(e[1], e[3], g13),
        fused(e[2], e[3], g23),
    )


@inlined
def products(x: FourRows, ahead: FourRows, w: Vector) -> FourLanes:
    """``u_b = x_b'w``, and ``g_c = (x_c'x_b where b > c, else 0)`` for c = 0, 1, 2.

    ``b`` runs over the lanes. The first two rows ``ahead`` are prefetched on the way.
    """
    zero = lanes(0.0, 0.0, 0.0, 0.0)
    sums = (zero, zero, zero, zero, zero, zero, zero, zero, zero, zero)
    p = x[0].shape[0]
    whole = p - p % LANES
    for j in range(0, whole, LANES):
        prefetch_two(ahead[0], ahead[1], j)
        sums = add_products(entries(x, j), load(w, j), sums)
    prefetch_two(ahead[0], ahead[1], p - 1)
    if whole < p:
        e = last_entries(x, whole, p - whole)
        sums = add_products(e, load(w, whole), sums)
    u0, u1, u2, u3, g01, g02, g03, g12, g13, g23 = sums
    return (
        totals(u0, u1, u2, u3),
        totals(zero, g01, g02, g03),
        totals(zero, zero, g12, g13),
        totals(zero, zero, zero, g23),
    )


@inlined
def literal(beta: Lanes, x: Lanes, s: Lanes, eta: Lanes, lam: float) -> Lanes:
    """``beta - eta * (lam * beta - s * x)``, rounded as written."""
    return beta - eta * (lam * beta - s * x)


@inlined
def literal_four(
    beta: Lanes, e: FourLanes, s: FourLanes, eta: Lanes, lam: float
) -> Lanes:
    """Take four literal steps in four coordinates."""
    beta = literal(beta, e[0], s[0], every(eta, 0), lam)
    beta = literal(beta, e[1], s[1], every(eta, 1), lam)
    beta = literal(beta, e[2], s[2], every(eta, 2), lam)
    return literal(beta, e[3], s[3], every(eta, 3), lam)


@inlined
def literal_update(
    x: FourRows, ahead: FourRows, s: FourLanes, eta: Lanes, lam: float, beta: Vector
) -> None:
    """``beta <- beta - eta * (lam * beta - s * x)``, four times.

    The last two rows ``ahead`` are prefetched on the way.
    """
    p = x[0].shape[0]
    whole = p - p % LANES
    for j in range(0, whole, LANES):
        prefetch_two(ahead[2], ahead[3], j)
        store(beta, j, literal_four(load(beta, j), entries(x, j), s, eta, lam))
    prefetch_two(ahead[2], ahead[3], p - 1)
    if whole < p:
        e = last_entries(x, whole, p - whole)
        store(beta, whole, literal_four(load(beta, whole), e, s, eta, lam))


def row_dot(X: Rows, i: int, w: Vector) -> float:
    """``x_i'w``, summed from the first entry to the last, as an R loop does."""
    return sparse_dot(X, i, w) if isinstance(X, CSR) else dense_dot(X, i, w)


def dense_dot(X: Numbers, i: int, w: Vector) -> float:
    """``row_dot`` of a dense row."""
    dot = 0.0
    for j in range(X.shape[1]):
        dot += np.float64(X[i, j]) * w[j]
    return dot


def sparse_dot(X: CSR, i: int, w: Vector) -> float:
    """``row_dot`` of a sparse row."""
    dot = 0.0
    for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
        dot += np.float64(X.data[k]) * w[np.uint64(X.indices[k])]
    return dot


def row_dot_fast(X: Rows, i: int, w: Vector) -> float:
    """``x_i'w``, summed in an order that suits the machine."""
    return sparse_dot_fast(X, i, w) if isinstance(X, CSR) else dense_dot_fast(X, i, w)


def dense_dot_fast(X: Numbers, i: int, w: Vector) -> float:
    """``row_dot_fast`` of a dense row: two sums of four lanes."""
    x, p = X[i], X.shape[1]
    a = b = lanes(0.0, 0.0, 0.0, 0.0)
    j = 0
    while j + 2 * LANES <= p:
        a = fused(load(x, j), load(w, j), a)
        b = fused(load(x, j + LANES), load(w, j + LANES), b)
        j += 2 * LANES
    if j + LANES <= p:
        a = fused(load(x, j), load(w, j), a)
        j += LANES
    if j < p:
        b = fused(load_part(x, j, p - j), load(w, j), b)
    return total(a + b)


def sparse_dot_fast(X: CSR, i: int, w: Vector) -> float:
    """``row_dot_fast`` of a sparse row: two sums, every second entry each."""
    a = b = 0.0
    one = np.uint64(1)
    k, stop = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])
    while k + one < stop:
        a += np.float64(X.data[k]) * w[np.uint64(X.indices[k])]
        b += np.float64(X.data[k + one]) * w[np.uint64(X.indices[k + one])]
        k += np.uint64(2)
    if k < stop:
        a += np.float64(X.data[k]) * w[np.uint64(X.indices[k])]
    return a + b


def row_add(X: Rows, i: int, d: float, w: Vector) -> None:
    """``w[j] = w[j] + d * x_i[j]`` for every stored entry."""
    if isinstance(X, CSR):
        sparse_add(X, i, d, w)
    else:
        dense_add(X, i, d, w)


def dense_add(X: Numbers, i: int, d: float, w: Vector) -> None:
    """``row_add`` of a dense row."""
    x, p = X[i], X.shape[1]
    whole = p - p % LANES
    for j in range(0, whole, LANES):
        store(w, j, load(w, j) + d * load(x, j))
    if whole < p:
        store(w, whole, load(w, whole) + d * load_part(x, whole, p - whole))


def sparse_add(X: CSR, i: int, d: float, w: Vector) -> None:
    """``row_add`` of a sparse row."""
    for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
        w[np.uint64(X.indices[k])] += d * np.float64(X.data[k])


def row_norm2(X: Rows, i: int) -> float:
    """``||x_i||^2``, summed from the first entry to the last."""
    return sparse_norm2(X, i) if isinstance(X, CSR) else dense_norm2(X, i)


def dense_norm2(X: Numbers, i: int) -> float:
    """``row_norm2`` of a dense row."""
    norm2 = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        norm2 += x * x
    return norm2


def sparse_norm2(X: CSR, i: int) -> float:
    """``row_norm2`` of a sparse row."""
    norm2 = 0.0
    for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
        x = np.float64(X.data[k])
        norm2 += x * x
    return norm2


def prefetch_row(X: Rows, i: int) -> None:
    """Ask the memory for row ``i``, which is visited soon."""


def prefetch_dense(X: Numbers, i: int) -> None:
    """``prefetch_row`` of a dense row: each line of the cache, at most 64 of them."""
    x, p = X[i], X.shape[1]
    for j in range(0, min(p, 512), 8):
        prefetch(x, j)
    prefetch(x, p - 1)


def prefetch_sparse(X: CSR, i: int) -> None:
    """``prefetch_row`` of a sparse row: its first entries."""
    k = X.indptr[i]
    prefetch(X.data, k)
    prefetch(X.data, k + 8)
    prefetch(X.indices, k)


by_type_of_rows(row_dot, dense_dot, sparse_dot)

by_type_of_rows(row_dot_fast, dense_dot_fast, sparse_dot_fast)

by_type_of_rows(row_add, dense_add, sparse_add)

by_type_of_rows(row_norm2, dense_norm2, sparse_norm2)

by_type_of_rows(prefetch_row, prefetch_dense, prefetch_sparse)


@kernel
def put_norms(X: Rows, norm2: Vector) -> None:
    """Put ``||x_i||^2`` of every row in ``norm2``."""
    for i in range(norm2.shape[0]):
        norm2[i] = row_norm2(X, i)


def largest_norm(X: Rows, n: int) -> float:
    """Largest ``||x_i||`` of ``n`` rows; not a number if an entry is not."""
    norm2 = np.zeros(n)
    put_norms(read_only(X), norm2)
    return float(np.sqrt(norm2.max(initial=0.0)))


@inlined
def offset_at(offset: Vector, i: int) -> float:
    """Offset of row ``i``; 0 where there are none, an array of no entries."""
    return offset[i] if offset.shape[0] > 0 else 0.0
