"""Compiled operations on rows of the data, dense or sparse.

Dense data are a C-contiguous array of shape (n, p), float64 or float32; sparse data are
a ``CSR``. Compiled functions have one source for both: the type of ``X`` selects the
dense or sparse version of `bounds` and `entry` at compile time. `add_gram` and
`conjugate_gradients` are for a ``CSR`` only.

References
----------
Ogita, Rump & Oishi, *Accurate sum and dot product*, SIAM Journal on Scientific
Computing 26 (2005), algorithms 3.1 (`two_sum`), 3.3 (`two_product`), 5.3
(`row_dot_exactly`).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Integers, Matrix, Vector
from pegasos_stats.compiled.compiling import fast, inlined, kernel

# Visits between the prefetch of a row and its use. Without prefetching, Pegasos on
# 200,000 x 20 and SDCA on w8a take 2.2 times as long.
AHEAD = 8
LINE = 8  # doubles per cache line of 64 bytes


class CSR(NamedTuple):
    """Sparse rows: row ``i`` has the entries ``indptr[i]`` to ``indptr[i + 1] - 1``.

    Attributes
    ----------
    data : float64 or float32 array, shape (stored,)
    indices : int32 or int64 array, shape (stored,)
        Columns, counted from zero, each at most once in a row.
    indptr : int32 or int64 array, shape (n + 1,)
    n_cols : int
    """

    data: Dense
    indices: NDArray[np.int32] | NDArray[np.int64]
    indptr: NDArray[np.int32] | NDArray[np.int64]
    n_cols: int


Rows: TypeAlias = Dense | CSR
Signs: TypeAlias = NDArray[np.float64] | NDArray[np.int8]
Form: TypeAlias = Callable[..., object]
Values: TypeAlias = list[ir.Value]


def by_type_of_rows(public: Form, dense: Form, sparse: Form) -> None:
    """Register both forms of a function; numba selects one by the type of ``X``."""

    def choose(X: types.Type, *rest: types.Type) -> Form:
        return sparse if isinstance(X, types.BaseNamedTuple) else dense

    options = {"forceinline": True, "error_model": "numpy", "_nrt": False}
    overload(public, jit_options=options, strict=False)(choose)


def bounds(X: Rows, i: int) -> tuple[int, int]:
    """First position of the entries of row ``i``, and the position after the last."""
    return sparse_bounds(X, i) if isinstance(X, CSR) else dense_bounds(X, i)


def dense_bounds(X: Dense, i: int) -> tuple[int, int]:
    """`bounds` of a dense row: all columns."""
    return 0, X.shape[1]


def sparse_bounds(X: CSR, i: int) -> tuple[int, int]:
    """`bounds` of a sparse row.

    They are unsigned, because numba tests signed indices for negative values.
    """
    return np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])  # type: ignore[return-value]


def entry(X: Rows, i: int, k: int) -> tuple[int, float]:
    """Column and value of entry ``k`` in row ``i``."""
    return sparse_entry(X, i, k) if isinstance(X, CSR) else dense_entry(X, i, k)


def dense_entry(X: Dense, i: int, k: int) -> tuple[int, float]:
    """`entry` of a dense row."""
    return k, np.float64(X[i, k])


def sparse_entry(X: CSR, i: int, k: int) -> tuple[int, float]:
    """`entry` of a sparse row."""
    return np.uint64(X.indices[k]), np.float64(X.data[k])  # type: ignore[return-value]


by_type_of_rows(bounds, dense_bounds, sparse_bounds)
by_type_of_rows(entry, dense_entry, sparse_entry)


def dot(X: Rows, i: int, w: Vector) -> float:
    """Compute ``x_i'w``.

    `row_dot` sums from the first entry to the last, like a loop in R. `row_dot_fast`
    sums in any order, such as the order of vector instructions.
    """
    total = 0.0
    first, last = bounds(X, i)
    for k in range(first, last):
        j, x = entry(X, i, k)
        total += x * w[j]
    return total


row_dot, row_dot_fast = inlined(dot), fast(dot)


@inlined
def row_add(X: Rows, i: int, d: float, w: Vector) -> None:
    """Update ``w[j] = w[j] + d * x_i[j]`` for every stored entry."""
    first, last = bounds(X, i)
    for k in range(first, last):
        j, x = entry(X, i, k)
        w[j] += d * x


@inlined
def row_norm2(X: Rows, i: int) -> float:
    """Compute ``||x_i||^2``, summed from the first entry to the last."""
    norm2 = 0.0
    first, last = bounds(X, i)
    for k in range(first, last):
        x = entry(X, i, k)[1]
        norm2 += x * x
    return norm2


@inlined
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return ``a + b`` rounded, and the rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inlined
def halves(a: float) -> tuple[float, float]:
    """Split ``a`` into two numbers of at most 26 binary digits (Dekker)."""
    wide = 134217729.0 * a  # 2^27 + 1
    high = wide - (wide - a)
    return high, a - high


@inlined
def two_product(a: float, b: float) -> tuple[float, float]:
    """Return ``a * b`` rounded, and the rounding error.

    The returned error is inexact if the product underflows; rounding bounds contain a
    term for underflow. It may be NaN if the absolute value of a factor exceeds 2^996.
    """
    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    rest = ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    return product, a_low * b_low - rest


@inlined
def row_dot_exactly(X: Rows, i: int, w: Vector) -> tuple[float, float, float]:
    """Compute ``x_i'w`` in doubled precision.

    Returns ``high`` and ``low``, whose sum is ``x_i'w``, and ``sum_j |x_ij w_j|``.
    """
    high = low = size = 0.0
    first, last = bounds(X, i)
    for k in range(first, last):
        j, x = entry(X, i, k)
        product, rest = two_product(x, w[j])
        high, left = two_sum(high, product)
        low += left + rest
        size += abs(product)
    return high, low, size


@inlined
def row_add_exactly(X: Rows, i: int, d: float, high: Vector, low: Vector) -> float:
    """Add ``d x_i`` to ``high + low``; return 2^53 times a bound of the rounding error.

    Only ``left + rest`` and ``low[j]`` are rounded. The error of each is at most ``u``
    times its absolute value, with ``u = 2^-53``. So ``u`` times the returned sum of
    absolute values bounds the sum of the errors over all columns.
    """
    size = 0.0
    first, last = bounds(X, i)
    for k in range(first, last):
        j, x = entry(X, i, k)
        product, rest = two_product(d, x)
        high[j], left = two_sum(high[j], product)
        low[j] += left + rest
        size += abs(left + rest) + abs(low[j])
    return size


@kernel
def add_rows(X: Rows, c: Vector, image: Vector) -> None:
    """Add ``c_i x_i`` of every row to ``image``."""
    for i in range(c.shape[0]):
        if c[i] != 0.0:
            row_add(X, i, c[i], image)


@kernel
def add_gram(X: CSR, one: float, rows: Integers, h: Vector, H: Matrix) -> None:
    """Add the products ``h_m z_i z_i'`` of the rows ``i = rows[m]`` to ``H``.

    Rows are ``z_i = (x_i, one)``, or ``x_i`` if `one` is 0. Each product of two columns
    ``j`` and ``l`` is added to only one of ``H[j, l]`` and ``H[l, j]``. The symmetric
    matrix has the entries ``H[j, l] + H[l, j]`` off the diagonal.

    Parameters
    ----------
    X : CSR, shape (n, p)
    one : float
    rows : int64 array, shape (m,)
    h : float64 array, shape (m,)
    H : float64 array, shape (p + 1, p + 1), or (p, p)
    """
    last = H.shape[0] - 1
    for m in range(h.shape[0]):
        i = rows[m]
        H[last, last] += h[m] * one * one
        for k in range(X.indptr[i], X.indptr[i + 1]):
            row, hx = H[X.indices[k]], h[m] * X.data[k]
            row[last] += hx * one
            for t in range(X.indptr[i], k + 1):
                row[X.indices[t]] += hx * X.data[t]


@kernel
def conjugate_gradients(
    X: CSR,
    one: float,
    rows: Integers,
    h: Vector,
    ridge: Vector,
    g: Vector,
    tol: float,
    products: int,
    room: Matrix,
) -> None:
    """Store an approximation of ``H^-1 g`` in the first row of `room`.

    ``H = diag(ridge) + sum_m h_m z_i z_i'`` with ``i = rows[m]``. The preconditioner is
    the diagonal of ``H``. Iterations stop when the preconditioned norm of the residual
    is at most ``tol`` times its initial value, or after `products` products with ``H``.

    Parameters
    ----------
    X, one, rows, h
        As in `add_gram`.
    ridge, g : float64 array
    tol : float
    products : int
    room : float64 array, shape (5, p + 1) or (5, p)
        Result in the first row; the other rows are work space.
    """
    d, r, u, Hu, diagonal = room[0], room[1], room[2], room[3], room[4]
    size = g.shape[0]
    for j in range(size):
        diagonal[j] = ridge[j]
    for m in range(h.shape[0]):
        i = rows[m]
        diagonal[size - 1] += h[m] * one * one
        for k in range(X.indptr[i], X.indptr[i + 1]):
            diagonal[X.indices[k]] += h[m] * (X.data[k] * X.data[k])
    rz = 0.0
    for j in range(size):
        d[j], r[j], u[j] = 0.0, g[j], g[j] / diagonal[j]
        rz += r[j] * u[j]
    goal = tol * tol * rz
    for _ in range(products):
        if not rz > goal:
            break
        for j in range(size):
            Hu[j] = ridge[j] * u[j]
        for m in range(h.shape[0]):
            i = rows[m]
            part = h[m] * (row_dot_fast(X, i, u) + one * u[size - 1])
            row_add(X, i, part, Hu)
            Hu[size - 1] += one * part
        curvature = 0.0
        for j in range(size):
            curvature += u[j] * Hu[j]
        before, rz, t = rz, 0.0, rz / curvature
        for j in range(size):
            d[j] += t * u[j]
            r[j] -= t * Hu[j]
            rz += r[j] * (r[j] / diagonal[j])
        for j in range(size):
            u[j] = r[j] / diagonal[j] + rz / before * u[j]


@inlined
def offset_at(offset: Vector, i: int) -> float:
    """Offset of row ``i``; 0 if the array is empty."""
    return offset[i] if offset.shape[0] > 0 else 0.0


@intrinsic
def prefetch(
    typing: object, x: types.Type, j: types.Type
) -> tuple[Signature, Callable[..., ir.Value]]:
    """Prefetch ``x[j]`` into the L2 cache; return nothing."""

    def emit(
        context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Values
    ) -> ir.Value:
        data = make_array(sig.args[0])(context, builder, args[0]).data
        place = builder.bitcast(
            builder.gep(data, [args[1]]), ir.IntType(8).as_pointer()
        )
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, *[number] * 3])
        function = cgutils.get_or_insert_function(
            builder.module, kind, "llvm.prefetch.p0"
        )
        builder.call(function, [place, number(0), number(2), number(1)])
        return context.get_dummy_value()

    return types.void(x, types.intp), emit


def prefetch_row(X: Rows, a: Vector, rows: Integers, k: int) -> None:
    """Prefetch row ``rows[k + AHEAD]``, and its entry of ``a``."""


def prefetch_dense(X: Dense, a: Vector, rows: Integers, k: int) -> None:
    """`prefetch_row` of a dense row: its first 32 numbers, and the last."""
    i, p = rows[min(k + AHEAD, rows.shape[0] - 1)], X.shape[1]
    x = X[i]
    for j in range(0, min(p, 4 * LINE), LINE):
        prefetch(x, j)
    prefetch(x, p - 1)
    prefetch(a, i)


def prefetch_sparse(X: CSR, a: Vector, rows: Integers, k: int) -> None:
    """`prefetch_row` of a sparse row: cache lines of its first entries."""
    i = rows[min(k + AHEAD, rows.shape[0] - 1)]
    first = X.indptr[i]
    prefetch(X.data, first)
    prefetch(X.data, first + LINE)
    prefetch(X.indices, first)
    prefetch(a, i)


by_type_of_rows(prefetch_row, prefetch_dense, prefetch_sparse)
