"""Newton directions for the smoothed risk: ``(beta, alpha)`` by conjugate gradients.

The Hessian is ``lam I + (1/n) sum_i h_i z_i z_i'`` with ``z_i = (x_i, 1)``, without
``lam`` in the corner of ``alpha``. Only the active rows have ``h_i > 0``: with the
hinge, those whose dual weight is inside its box, which are few.
"""

from typing import NamedTuple

import numpy as np

from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    row_add,
    row_add_squares,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.dual.smooth import CURVATURE, Smooth

RIDGE = 1e-6  # of the curvature in alpha, added to it
SMALLEST = 1e-300


class Direction(NamedTuple):
    """A Newton direction for ``beta``, and the scratch of conjugate gradients.

    Attributes
    ----------
    d, residual, conjugate, product, diagonal : float64 array, shape (padded(p),)
    """

    d: Vector
    residual: Vector
    conjugate: Vector
    product: Vector
    diagonal: Vector


def direction(p: int) -> Direction:
    """Return room for a direction."""
    return Direction(*(np.zeros(padded(p)) for _ in range(5)))


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


@inlined
def inner(u: Vector, v: Vector) -> float:
    """``u'v``."""
    total = 0.0
    for j in range(u.shape[0]):
        total += u[j] * v[j]
    return total


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
    d, r, u, product, diagonal = to
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
    goal = tol * tol * rz
    for _ in range(limit):
        if rz <= goal or rz < SMALLEST:
            break
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
