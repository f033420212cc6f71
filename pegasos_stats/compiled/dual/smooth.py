"""The smoothed risk with a free intercept: its sums over the rows.

With a centre ``c`` in the dual box and a width ``gamma > 0`` the hinge is replaced by

    phi_i(m) = max over a in [0, w_i] of  a (1 - m) - gamma/(2 v_i) (a - c_i)^2

with ``v_i = max(1, w_i)``, so that a row of weight 1000 moves as far as 1000 rows do;
weights have the mean 1. It differs from the hinge where the maximiser ``a_i(m) =
min(w_i, max(0, c_i + (1 - m) v_i / gamma))`` is inside the box. The log loss is smooth
and taken as it is, with ``a_i(m) = w_i / (1 + exp(m))``. In both cases ``a_i(m)`` is a
dual weight, and at the ``alpha`` with ``sum_i a_i y_i = 0`` the dual point is feasible.

References
----------
Yan & Li, *An efficient augmented Lagrangian method for support vector machine*,
Optimization Methods and Software 35 (2020).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.losses import HINGE
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    offset_at,
    row_add,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel

RISK, REWARD, BALANCE, CURVATURE, ERRORS, VIOLATIONS, KNOWN = range(7)

any_order = {"reassoc", "nsz", "contract"}


class Smooth(NamedTuple):
    """The smoothed risk and its value at the last scores that were seen.

    Attributes
    ----------
    y : float64 array, shape (n,), of -1 and +1
    weights : float64 array, shape (n,)
        Weights of the rows in the risk.
    centre : float64 array, shape (n,)
    loss : int
        Code of the loss.
    a : float64 array, shape (n,)
        Dual weights ``a_i(m_i)``.
    active : int64 array, shape (n,)
        Its first entries are the rows with ``a_i'(m_i)`` not 0.
    h : float64 array, shape (n,)
        ``-a_i'(m_i)`` of those rows.
    image : float64 array, shape (padded(p),)
        ``sum_i a_i y_i x_i``.
    sums : float64 array, shape (7,)
        ``RISK`` ``sum w_i loss(m_i)``; ``REWARD`` ``sum H_i(a_i)``; ``BALANCE``
        ``sum a_i y_i``; ``CURVATURE`` ``sum h_i``; ``ERRORS`` rows with ``m_i < 0``;
        ``VIOLATIONS`` rows with ``m_i < 1``; ``KNOWN`` ``sum a_i y_i offset_i``.
    offset : float64 array, shape (n,) or (0,)
        Known part of each row's score; empty if there is none. Scores that are given
        to the functions below have it in them.
    """

    y: Vector
    weights: Vector
    centre: Vector
    loss: int
    a: Vector
    active: NDArray[np.int64]
    h: Vector
    image: Vector
    sums: Vector
    offset: Vector


def smooth(
    y: Vector,
    weights: Vector,
    a: Vector,
    loss: int,
    p: int,
    offset: Vector | None = None,
) -> Smooth:
    """Return the smoothed risk with centre ``a``; nothing is seen yet."""
    n = y.size
    active, image = np.zeros(n, dtype=np.int64), np.zeros(padded(p))
    h, sums = np.zeros(n), np.zeros(7)
    known = np.zeros(0) if offset is None else offset.copy()
    return Smooth(y, weights, a.copy(), loss, a, active, h, image, sums, known)


@inlined
def log_weight(m: float, w: float) -> tuple[float, float]:
    """``a = w / (1 + exp(m))`` and ``-a'(m)``."""
    e = math.exp(-abs(m))
    s = 1.0 / (1.0 + e)
    return w * (e * s if m > 0.0 else s), w * (e * s * s)


@inlined
def hinge_weight(m: float, w: float, c: float, gamma: float) -> tuple[float, float]:
    """``a = min(w, max(0, c + (1 - m) max(1, w) / gamma))`` and ``-a'(m)``."""
    v = max(1.0, w)
    inner = c + (1.0 - m) * v / gamma
    a = min(w, max(0.0, inner))
    return a, (v / gamma if a == inner else 0.0)


@kernel
def put_dots(X: Rows, w: Vector, found: Vector) -> None:
    """Put ``x_i'w`` of every row in ``found``."""
    for i in range(found.shape[0]):
        found[i] = row_dot_fast(X, i, w)


@kernel
def put_scores(X: Rows, w: Vector, at: Smooth, found: Vector) -> None:
    """Put ``x_i'w + offset_i`` of every row in ``found``."""
    for i in range(found.shape[0]):
        found[i] = row_dot_fast(X, i, w) + offset_at(at.offset, i)


@kernel(fastmath=any_order)
def balance(f: Vector, alpha: float, gamma: float, at: Smooth) -> None:
    """Put ``sum_i a_i y_i`` and ``sum_i h_i``, at scores ``f_i + alpha``."""
    y, weights, c = at.y, at.weights, at.centre
    total = curvature = 0.0
    if at.loss == HINGE:
        for i in range(y.shape[0]):
            m = y[i] * (f[i] + alpha)
            a, h = hinge_weight(m, weights[i], c[i], gamma)
            total += a * y[i]
            curvature += h
    else:
        for i in range(y.shape[0]):
            a, h = log_weight(y[i] * (f[i] + alpha), weights[i])
            total += a * y[i]
            curvature += h
    at.sums[BALANCE] = total
    at.sums[CURVATURE] = curvature


@kernel(fastmath=any_order)
def slope_along(
    f: Vector, alpha: float, q: Vector, move: float, t: float, gamma: float, at: Smooth
) -> float:
    """Slope of ``sum_i phi_i`` at ``t``, along scores ``f + alpha + t (q + move)``."""
    y, weights, c = at.y, at.weights, at.centre
    total = 0.0
    if at.loss == HINGE:
        for i in range(y.shape[0]):
            m = y[i] * (f[i] + alpha + t * (q[i] + move))
            a, _ = hinge_weight(m, weights[i], c[i], gamma)
            total -= a * y[i] * (q[i] + move)
    else:
        for i in range(y.shape[0]):
            m = y[i] * (f[i] + alpha + t * (q[i] + move))
            a, _ = log_weight(m, weights[i])
            total -= a * y[i] * (q[i] + move)
    return total


@kernel
def see_rows(X: Rows, f: Vector, alpha: float, gamma: float, at: Smooth) -> int:
    """Fill ``a``, ``active``, ``h``, ``image`` and ``sums`` at scores ``f_i + alpha``.

    For the log loss ``H_i(a_i) = w_i loss(m_i) + a_i m_i`` at ``a_i = a_i(m_i)``.

    Returns
    -------
    int
        Number of active rows.
    """
    y, weights, sums = at.y, at.weights, at.sums
    count = 0
    sums[:] = 0.0
    at.image[:] = 0.0
    for i in range(y.shape[0]):
        m = y[i] * (f[i] + alpha)
        if at.loss == HINGE:
            a, h = hinge_weight(m, weights[i], at.centre[i], gamma)
            sums[RISK] += weights[i] * max(0.0, 1.0 - m)
            sums[REWARD] += a
        else:
            a, h = log_weight(m, weights[i])
            risk = weights[i] * (math.log1p(math.exp(-abs(m))) + max(0.0, -m))
            sums[RISK] += risk
            sums[REWARD] += risk + a * m
        sums[BALANCE] += a * y[i]
        sums[CURVATURE] += h
        sums[ERRORS] += 1.0 if m < 0.0 else 0.0
        sums[VIOLATIONS] += 1.0 if m < 1.0 else 0.0
        sums[KNOWN] += a * y[i] * offset_at(at.offset, i)
        at.a[i] = a
        if h > 0.0:
            at.active[count] = i
            at.h[count] = h
            count += 1
        if a != 0.0:
            row_add(X, i, a * y[i], at.image)
    return count
