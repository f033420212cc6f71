"""Newton directions for the smoothed risk: ``(beta, alpha)`` by conjugate gradients.

The Hessian is ``lam I + (1/n) sum_i h_i z_i z_i'`` with ``z_i = (x_i, 1)``, without
``lam`` in the corner of ``alpha``. Only the active rows have ``h_i > 0``: with the
hinge, those whose dual weight is inside its box, which are few.

Products with it go through the active rows. Where rows are sparse and columns few, and
more products are taken than the matrix costs, that is made, and its own are quicker.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    mean_entries,
    row_add,
    row_add_products,
    row_add_squares,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.dual.smooth import CURVATURE, Smooth

RIDGE = 1e-6  # of the curvature in alpha, added to it
SMALLEST = 1e-300
MOST_COLUMNS = 256  # of a matrix, of half a megabyte
OF_ENTRIES = 0.25  # products that cost as much as the matrix, to an entry of a row
LEAST_PRODUCTS, MANY = 3.0, 2**31
LARGEST_TRACE = 1e-8 * 2.0**52  # of a matrix, times lam


class Direction(NamedTuple):
    """A Newton direction for ``beta``, and the scratch of conjugate gradients.

    Attributes
    ----------
    d, residual, conjugate, product, diagonal : float64 array, shape (padded(p),)
    column : float64 array, shape (padded(p),)
        Of the Hessian, that of ``alpha``.
    hessian : float64 array, shape (padded(p), padded(p)) or (0, 0)
        That of ``beta`` without ``lam``; empty if rows are dense or columns many.
    """

    d: Vector
    residual: Vector
    conjugate: Vector
    product: Vector
    diagonal: Vector
    column: Vector
    hessian: NDArray[np.float64]


def direction(p: int, is_sparse: bool = False) -> Direction:
    """Return room for a direction, with that for the matrix if rows are sparse."""
    size = padded(p)
    side = size if is_sparse and p <= MOST_COLUMNS else 0
    vectors = [np.zeros(size) for _ in range(6)]
    d, residual, conjugate, product, diagonal, column = vectors
    hessian = np.zeros((side, side))
    return Direction(d, residual, conjugate, product, diagonal, column, hessian)


@kernel
def hessian_times(
    X: Rows, count: int, lam: float, v: Vector, move: float, at: Smooth, product: Vector
) -> float:
    """``(lam I + (1/n) sum_i h_i z_i z_i') (v, move)`` with ``z_i = (x_i, 1)``.

    The part of ``beta`` is put in ``product``, that of ``alpha``, without ``lam``,
    returned.
    """
    n = float(at.y.shape[0])
    for j in range(v.shape[0]):
        product[j] = lam * v[j]
    total = 0.0
    for k in range(count):
        i = at.active[k]
        d = at.h[k] / n * (row_dot_fast(X, i, v) + move)
        total += d
        row_add(X, i, d, product)
    return total


@kernel
def put_hessian(X: Rows, count: int, at: Smooth, to: Direction) -> None:
    """Put ``(1/n) sum_i h_i x_i x_i'`` and ``(1/n) sum_i h_i x_i``."""
    H, n = to.hessian, float(at.y.shape[0])
    H[:, :] = 0.0
    to.column[:] = 0.0
    for k in range(count):
        i, h = at.active[k], at.h[k] / n
        row_add_products(X, i, h, H)
        row_add(X, i, h, to.column)
    for j in range(H.shape[0]):
        for k in range(j):
            H[k, j] = H[j, k]


@kernel
def matrix_times(
    lam: float, v: Vector, move: float, curvature: float, to: Direction
) -> float:
    """`hessian_times`, from the matrix that `put_hessian` put."""
    H, product = to.hessian, to.product
    total = move * curvature
    for j in range(v.shape[0]):
        product[j] = lam * v[j] + move * to.column[j] + row_dot_fast(H, j, v)
        total += to.column[j] * v[j]
    return total


@inlined
def inner(u: Vector, v: Vector) -> float:
    """``u'v``."""
    total = 0.0
    for j in range(u.shape[0]):
        total += u[j] * v[j]
    return total


@inlined
def products_of_matrix(X: Rows, count: int, lam: float, to: Direction) -> int:
    """Products that cost as much as the matrix, which is made then; or very many.

    The rounding of the matrix has to be small beside ``lam``: of columns far from zero
    it is not.
    """
    side, entries, trace = to.hessian.shape[0], mean_entries(X), 0.0
    if side == 0 or side * side > entries * count:
        return MANY
    for j in range(side):
        trace += to.diagonal[j]
    if not trace <= LARGEST_TRACE * lam:
        return MANY
    return int(LEAST_PRODUCTS + OF_ENTRIES * entries)


@kernel
def newton_direction(
    X: Rows,
    count: int,
    lam: float,
    gradient: Vector,
    slope: float,
    free: bool,
    tol: float,
    limit: int,
    at: Smooth,
    to: Direction,
) -> float:
    """Solve ``H (d, move) = -(gradient, slope)`` by conjugate gradients.

    ``H`` is that of `hessian_times`; its diagonal is the preconditioner. Stops when the
    preconditioned residual is ``tol`` times the first one, or after ``limit`` products.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    count : int
        Number of active rows, from `see_rows`.
    lam : float
    gradient : float64 array, shape (padded(p),)
    slope : float
        Derivative with respect to ``alpha``.
    free : bool
        Whether there is an intercept ``alpha``; if not, its part is 0.
    tol : float
    limit : int
    at : Smooth
    to : Direction
        Its ``d`` receives the part of ``beta``.

    Returns
    -------
    float
        The part of ``alpha``.
    """
    d, r, u, product, diagonal, _, _ = to
    p, n = gradient.shape[0], float(at.y.shape[0])
    diagonal[:] = lam
    for k in range(count):
        row_add_squares(X, at.active[k], at.h[k] / n, diagonal)
    curvature = at.sums[CURVATURE] / n
    move, r_alpha = 0.0, -slope
    if not free or curvature < SMALLEST:
        curvature, r_alpha = 1.0, 0.0
    u_alpha = r_alpha / curvature
    rz = r_alpha * u_alpha
    for j in range(p):
        d[j] = 0.0
        r[j] = -gradient[j]
        u[j] = r[j] / diagonal[j]
        rz += r[j] * u[j]
    goal, enough = tol * tol * rz, products_of_matrix(X, count, lam, to)
    for taken in range(limit):
        if rz <= goal or rz < SMALLEST:
            break
        if taken == enough:
            put_hessian(X, count, at, to)
        if taken >= enough:
            total = matrix_times(lam, u, u_alpha, at.sums[CURVATURE] / n, to)
        else:
            total = hessian_times(X, count, lam, u, u_alpha, at, product)
        total = total + RIDGE * curvature * u_alpha if free else 0.0
        step = rz / (inner(u, product) + u_alpha * total)
        move += step * u_alpha
        r_alpha -= step * total
        new = r_alpha * (r_alpha / curvature)
        for j in range(p):
            d[j] += step * u[j]
            r[j] -= step * product[j]
            new += r[j] * (r[j] / diagonal[j])
        b = new / rz
        rz = new
        u_alpha = r_alpha / curvature + b * u_alpha
        for j in range(p):
            u[j] = r[j] / diagonal[j] + b * u[j]
    return move
