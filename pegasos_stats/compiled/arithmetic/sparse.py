"""Sparse rows ``z_i = (x_i, one)``: their products, and Newton's equations of some.

In each function `X` is a `CSR` of shape (n, p), and vectors of columns have the shape
(p + 1,), or (p,) if `one` is 0.
"""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.lanes import Vector
from pegasos_stats.compiled.arithmetic.rows import CSR, row_add, row_dot_fast
from pegasos_stats.compiled.compiling import kernel

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


@kernel
def put_products(X: CSR, one: float, v: Vector, found: Vector) -> None:
    """Put ``z_i'v`` of every row."""
    for i in range(found.shape[0]):
        found[i] = row_dot_fast(X, i, v) + one * v[-1]


@kernel
def add_image(X: CSR, one: float, c: Vector, found: Vector) -> None:
    """Add ``sum_i c_i z_i``."""
    for i in range(c.shape[0]):
        if c[i] != 0.0:
            row_add(X, i, c[i], found)
            found[-1] += one * c[i]


@kernel
def add_gram(X: CSR, one: float, rows: Rows, h: Vector, H: Matrix) -> None:
    """Add ``sum_k h_k z_i z_i'``, ``i`` the k-th row, to ``H + H'``, once the diagonal.

    Parameters
    ----------
    X, one, rows
    h : float64 array, shape (rows,)
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
    rows: Rows,
    h: Vector,
    ridge: Vector,
    g: Vector,
    tol: float,
    products: int,
    room: Matrix,
) -> None:
    """Put about ``H^-1 g`` in the first row of `room`; the diagonal preconditions.

    ``H = diag(ridge) + sum_k h_k z_i z_i'``. Ends when the preconditioned residual is
    ``tol`` times the first one, or after so many products with ``H``.

    Parameters
    ----------
    X, one, rows
    h : float64 array, shape (rows,)
    ridge, g : float64 array
    tol : float
    products : int
    room : float64 array, shape (5, p + 1) or (5, p)
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
        bend = 0.0
        for j in range(size):
            bend += u[j] * Hu[j]
        before, rz, t = rz, 0.0, rz / bend
        for j in range(size):
            d[j] += t * u[j]
            r[j] -= t * Hu[j]
            rz += r[j] * (r[j] / diagonal[j])
        for j in range(size):
            u[j] = r[j] / diagonal[j] + rz / before * u[j]
