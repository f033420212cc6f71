"""Stochastic dual coordinate ascent: epochs over rows, for all losses.

The same algorithm in R is ``r_reference/R/sdca.R``.

The dual weights ``a_i`` are in [0, w_i], where ``w_i`` is the weight of the row in the
objective; for the squared hinge they have no upper bound. The coefficients are
``beta(a) = (1 / (lam n)) sum_i a_i y_i x_i``. Each step maximises, over one coordinate,

    D(a) = (1/n) sum_i (H_i(a_i) - a_i y_i offset_i) - lam/2 ||beta(a)||^2

with ``H_i(a) = a`` for the hinge, ``a - a^2 / (4 w_i)`` for the squared hinge, and
``w_i H(a / w_i)`` for the log loss, ``H`` the entropy ``-p log p - (1 - p) log(1 -
p)``.

An intercept is the coefficient of a further column with the constant value
``sqrt(ratio)``: ``alpha`` changes by ``ratio (a_new - a) y / (lam n)``, which
corresponds to a penalty ``lam / (2 ratio) (alpha - alpha_0)^2`` around the initial
``alpha_0``. ``ratio = 0`` is the published algorithm, without intercept.

References
----------
Shalev-Shwartz & Zhang, *Stochastic dual coordinate ascent methods for regularized loss
minimization*, JMLR 14 (2013), figures 1 (SDCA-perm) and 2 (modified SGD), section 6.2.
"""

import math
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Integers, Vector, read_only
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.risk import HINGE, SQUARED_HINGE, violated
from pegasos_stats.compiled.rows import (
    Rows,
    Signs,
    add_rows,
    offset_at,
    prefetch_row,
    row_add,
    row_dot,
    row_dot_fast,
    row_norm2,
)

ALPHA, STEPS, VIOLATIONS = range(3)


class DualState(NamedTuple):
    """Dual weights and their coefficients; every array is changed in place.

    Attributes
    ----------
    w : float64 array, shape (p,)
        ``beta``.
    a : float64 array, shape (n,)
        Dual weights: ``a_i >= 0``, and ``a_i <= weights_i`` except for the squared
        hinge.
    weights : float64 array, shape (n,)
        Weights of the rows in the objective.
    norm2 : float64 array, shape (n,)
        ``||x_i||^2``.
    offset : float64 array, shape (n,) or (0,)
        Fixed part of each row's score; empty if there is none.
    scalars : float64 array, shape (3,)
        ``ALPHA``; number of coordinate ``STEPS``; number of ``VIOLATIONS``.
    """

    w: Vector
    a: Vector
    weights: Vector
    norm2: Vector
    offset: Vector
    scalars: Vector


@inlined
def log_step(a: float, m: float, q: float, w: float) -> float:
    """Solve ``log(w / a_new - 1) = m + (a_new - a) q`` for ``a_new`` in (0, w).

    With ``a_new = w / (1 + exp(z))`` the equation is ``z - m - (a_new - a) q = 0``. The
    left side increases in ``z`` with a derivative of at least 1, and has a root between
    ``m - a q`` and ``m + (w - a) q``. Newton's method starts at ``z = m``. A step that
    leaves the bracket, or exceeds half the previous step, is replaced by a bisection.
    """
    low, high = m - a * q, m + (w - a) * q
    z, moved = m, high - low
    for _ in range(100):  # bisection alone needs no more
        e = math.exp(-abs(z))
        s = 1.0 / (1.0 + e)
        share = e * s if z > 0.0 else s
        excess = z - m - (w * share - a) * q
        if excess < 0.0:
            low = z
        else:
            high = z
        new = z - excess / (1.0 + q * w * (e * s * s))
        if not low <= new <= high or abs(new - z) > 0.5 * moved:
            new = 0.5 * (low + high)
        moved = abs(new - z)
        done = moved <= 1e-8 * (1.0 + abs(z))
        z = new
        if done:
            break
    e = math.exp(-abs(z))
    return w * (e / (1.0 + e)) if z > 0.0 else w / (1.0 + e)


def start(
    X: Rows,
    p: int,
    weights: Vector,
    offset: Vector | None = None,
) -> DualState:
    """Return the state with ``a = 0``, ``beta = 0`` and ``alpha = 0``."""
    X, weights = read_only(X), read_only(weights)
    n = weights.size
    norm2 = np.zeros(n)
    put_norms(X, norm2)
    offsets = read_only(np.zeros(0) if offset is None else offset)
    w, a = np.zeros(p), np.zeros(n)
    return DualState(w, a, weights, norm2, offsets, np.zeros(3))


def set_weights(X: Rows, y: Vector, lam: float, a: Vector, state: DualState) -> None:
    """Set the dual weights of a state from `start`."""
    np.clip(a, 0.0, state.weights, out=state.a)
    add_rows(read_only(X), state.a * y, state.w)
    state.w[:] /= lam * state.a.size


@kernel
def put_norms(X: Rows, norm2: Vector) -> None:
    """Store ``||x_i||^2`` of every row in ``norm2``."""
    for i in range(norm2.shape[0]):
        norm2[i] = row_norm2(X, i)


@inlined
def dual_step(
    loss: int, a: float, m: float, scale: float, norm2: float, w: float
) -> float:
    """Return the optimal value of a coordinate; ``scale`` is ``lam n`` or ``lam t``."""
    if loss == SQUARED_HINGE:
        curvature = 1.0 + 2.0 * w * norm2 / scale
        new: float = max(0.0, a + (2.0 * w * (1.0 - m) - a) / curvature)
    elif loss != HINGE:
        new = log_step(a, m, norm2 / scale, w)
    elif norm2 == 0.0:
        new = w
    else:
        new = min(w, max(0.0, a + scale * (1.0 - m) / norm2))
    return new


@kernel
def sdca_epoch(
    X: Rows,
    y: Signs,
    rows: Integers,
    lam: float,
    loss: int,
    ratio: float,
    fast: bool,
    state: DualState,
) -> None:
    """Optimise the coordinates of ``rows``, one after the other.

    For each row ``i``, in this order of operations::

        m     <- y_i * x_i'beta
        a_new <- min(w_i, max(0, a_i + (lam * n) * (1 - m) / ||x_i||^2))
        beta  <- beta + (a_new - a_i) * y_i / (lam * n) * x_i

    for the hinge; a row with ``||x_i|| = 0`` gets ``a_i = w_i``. ``a`` and ``beta`` are
    bitwise the results of these operations, with scores summed from the first entry to
    the last. For the log loss ``a_new`` solves

        log(w_i / a_new - 1) = m + (a_new - a_i) * ||x_i||^2 / (lam * n).

    For the squared hinge, whose dual weights have no upper bound,

        a_new <- max(0, a_i + (2 w_i (1 - m) - a_i) / (1 + 2 w_i ||x_i||^2 / (lam * n)))

    With ``ratio > 0`` the score includes ``alpha`` and ``||x_i||^2`` includes
    ``ratio``; with an offset the score includes ``alpha + offset_i``.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p), C-contiguous; or CSR
    y : int8 array, shape (n,), of -1 and +1
    rows : int64 array, shape (m,)
        The rows to visit, counted from zero; a permutation for SDCA-perm.
    lam : float
    loss : int
        Code of the loss.
    ratio : float
        Square of the constant column for the intercept; 0 without intercept.
    fast : bool
        Whether to sum scores in the fastest order, with equal results up to rounding.
    state : DualState
        Changed in place.
    """
    w, a, norm2, weights = state.w, state.a, state.norm2, state.weights
    alpha, violations = state.scalars[ALPHA], 0.0
    visits, scale = rows.shape[0], lam * float(a.shape[0])
    for k in range(visits):
        i = rows[k]
        prefetch_row(X, a, rows, k)
        at = alpha + offset_at(state.offset, i)
        dot = row_dot_fast(X, i, w) if fast else row_dot(X, i, w)
        m = y[i] * (dot + at)
        violations += 1.0 if violated(loss, m) else 0.0
        new = dual_step(loss, a[i], m, scale, norm2[i] + ratio, weights[i])
        d = (new - a[i]) * y[i] / scale
        if d != 0.0:
            row_add(X, i, d, w)
            alpha += ratio * d
        a[i] = new
    state.scalars[ALPHA] = alpha
    state.scalars[STEPS] += float(visits)
    state.scalars[VIOLATIONS] += violations


@kernel
def sgd_epoch(
    X: Rows,
    y: Signs,
    rows: Integers,
    lam: float,
    loss: int,
    ratio: float,
    state: DualState,
) -> None:
    """Modified SGD: initial dual weights, from one permutation of the rows.

    Starts from ``a = 0``; step ``t`` with row ``i`` performs in this order::

        m   <- y_i * (unit * x_i'v)         unit = 1 / (lam * (t - 1)), 0 at t = 1
        a_i <- min(w_i, max(0, (lam * t) * (1 - m) / ||x_i||^2))
        v   <- v + a_i * y_i * x_i

    for the hinge, with ``a_i = w_i`` where ``||x_i|| = 0``; for the log loss the root
    of ``sdca_epoch`` with ``lam * t`` for ``lam * n``. At the end ``beta = v / (lam *
    n)``. With ``ratio > 0`` the score includes ``unit * ratio * sum_s a_s y_s``, and
    with an offset ``offset_i``.
    """
    v, a, norm2, weights = state.w, state.a, state.norm2, state.weights
    unit, total, violations = 0.0, 0.0, 0.0
    visits = rows.shape[0]
    for k in range(visits):
        i = rows[k]
        prefetch_row(X, a, rows, k)
        score = unit * (row_dot(X, i, v) + ratio * total)
        m = y[i] * (score + offset_at(state.offset, i))
        violations += 1.0 if violated(loss, m) else 0.0
        scale = lam * float(k + 1)
        a[i] = dual_step(loss, 0.0, m, scale, norm2[i] + ratio, weights[i])
        row_add(X, i, a[i] * y[i], v)
        total += a[i] * y[i]
        unit = 1.0 / scale
    scale = lam * float(a.shape[0])
    for j in range(v.shape[0]):
        v[j] = v[j] / scale
    state.scalars[ALPHA] = ratio * total / scale
    state.scalars[STEPS] += float(visits)
    state.scalars[VIOLATIONS] += violations
