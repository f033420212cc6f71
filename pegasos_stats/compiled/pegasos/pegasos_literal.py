"""Pegasos on dense rows in reference arithmetic, with every option.

Each operation is rounded as it is written; sums run from the first term to the last.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Integers,
    Numbers,
    Signs,
    Vector,
    fused,
    lanes,
    load,
    padded,
    total,
)
from pegasos_stats.compiled.arithmetic.risk import HINGE, slope, violated
from pegasos_stats.compiled.arithmetic.rows import (
    prefetch_row,
    row_dot,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel

(
    STEPS,
    ALPHA,
    UNIT,
    SCALE,
    WEIGHT_SCALE,
    NORM2,
    VIOLATIONS,
    ALPHA_TOTAL,
    AVERAGED,
    RADIUS,
    BEFORE,
    LENGTH,
    KEPT,
) = range(13)

AHEAD = 8  # visits between the prefetch of a row and its use

UNDERFLOW = 2.0**-500  # the least scale of slope weights

ROUNDING = 2.0**-48  # of a number that is added to a score, and more


class State(NamedTuple):
    """The iterate and its companions; every array is changed in place.

    All sums are of whole steps, so the state is a valid fit after every call of
    ``pegasos_epoch``, and a run may be interrupted between calls.

    Attributes
    ----------
    w : float64 array, shape (padded(p),)
        ``beta = scalars[UNIT] * w[:p]``. The literal arithmetic keeps ``beta`` itself
        (``UNIT`` is 1), the v form ``v = lam t beta`` as ``SCALE * w``.
    weights : float64 array, shape (n,)
        Slope weights: the steps have added ``(1 / (lam t)) sum_i WEIGHT_SCALE
        weights[i] y_i x_i`` to ``beta``, with steps of any size ``(1 / lam) sum_i KEPT
        weights[i] y_i x_i``.
    total : float64 array, shape (padded(p),)
        Sum of the iterates ``beta`` that are to be averaged.
    work : float64 array, shape (padded(p),)
        Scratch: the gradient of a batch, or the lag of ``total``.
    signs, slopes : float64 array, shape (max(n, batch_size),)
        Scratch: labels and slopes in the order of the visits.
    case_weights : float64 array, shape (n,) or (0,)
        Weight of each row's loss; empty if all are 1.
    offset : float64 array, shape (n,) or (0,)
        Known part of each row's score; empty if there is none.
    scalars : float64 array, shape (13,)
        ``STEPS`` is ``t``, the number of the last step, and ``BEFORE`` that of the one
        before the run; ``ALPHA``; ``UNIT``, ``SCALE``, ``WEIGHT_SCALE``; ``NORM2`` is
        ``||w||^2`` (with projection and not in the literal arithmetic); ``VIOLATIONS``
        seen; ``ALPHA_TOTAL`` and ``AVERAGED``: sum of ``alpha`` and number of the
        iterates in ``total``; ``RADIUS`` the largest ``||x_i||``, below zero until it
        is known; ``LENGTH`` of the ``beta`` that the run begins with; ``KEPT`` as in
        ``weights``, 0 with steps ``1 / (lam t)``.
    """

    w: Vector
    weights: Vector
    total: Vector
    work: Vector
    signs: Vector
    slopes: Vector
    case_weights: Vector
    offset: Vector
    scalars: Vector


@inlined
def weighted_slope(state: State, i: int, loss: int, m: float) -> float:
    """``w_i s(m)``: the slope weight of row ``i``, times the weight of its loss."""
    s: float = slope(loss, m)
    if state.case_weights.shape[0] > 0:
        s = state.case_weights[i] * s
    return s


def start(
    n: int,
    p: int,
    batch_size: int = 1,
    case_weights: Vector | None = None,
    offset: Vector | None = None,
) -> State:
    """Return the state before the first step: everything is 0."""
    scalars = np.zeros(13)
    scalars[[UNIT, SCALE, WEIGHT_SCALE]] = 1.0
    scalars[RADIUS] = -1.0
    w, total, work = (np.zeros(padded(p)) for _ in range(3))
    signs, slopes = (np.zeros(max(n, batch_size)) for _ in range(2))
    given, known = (
        read_only(np.zeros(0) if each is None else each)
        for each in (case_weights, offset)
    )
    return State(w, np.zeros(n), total, work, signs, slopes, given, known, scalars)


def begin(state: State, beta: Vector, alpha: float, t: float, v: float = 1.0) -> None:
    """Let a run begin with ``beta`` and ``alpha`` after step ``t``.

    Parameters
    ----------
    state : State
        From `start`.
    beta : float64 array, shape (p,)
    alpha, t : float
    v : float
        What ``w`` is a multiple of ``beta`` by: ``lam t`` for the v form, else 1.
        Before the first step, with ``t`` 0, it is 1 for the v form too: that step
        makes ``beta`` anew, and only its margins know the one before.
    """
    scalars = state.scalars
    state.w[: beta.size] = v * beta
    scalars[[ALPHA, STEPS, BEFORE, UNIT]] = alpha, t, t, 1.0 / v
    scalars[NORM2] = np.add.accumulate(state.w * state.w)[-1]  # from first to last
    scalars[LENGTH] = np.sqrt(beta @ beta)


def last_iterate(state: State, p: int) -> tuple[Vector, float]:
    """Return ``(beta, alpha)`` after the last step."""
    return state.scalars[UNIT] * state.w[:p], float(state.scalars[ALPHA])


def average_iterate(state: State, p: int) -> tuple[Vector, float]:
    """Return the mean of ``(beta, alpha)`` over the steps that asked for it."""
    count = state.scalars[AVERAGED]
    return state.total[:p] / count, float(state.scalars[ALPHA_TOTAL] / count)


def dual_weights(state: State) -> NDArray[np.float64]:
    """``a_i`` with ``beta = (1 / (lam n)) sum_i a_i y_i x_i``; shape (n,).

    That holds for a run from zero, with ``t`` from 1. With steps ``1 / (lam t)`` they
    are in [0, w_i] over whole epochs whose batches are all of one size; else clip (a
    batch that is short, rows drawn with replacement, steps of another size).
    """
    n, scalars = state.weights.size, state.scalars
    if scalars[KEPT] != 0.0:
        return np.asarray(scalars[KEPT] * state.weights * n)
    taken = max(float(scalars[STEPS] - scalars[BEFORE]), 1.0)
    return np.asarray(scalars[WEIGHT_SCALE] * state.weights * n / taken)


@inlined
def literal_step(x: Numbers, s: float, eta: float, lam: float, beta: Vector) -> None:
    """``beta[j] <- beta[j] - eta * (lam * beta[j] - s * x[j])``."""
    for j in range(x.shape[0]):
        beta[j] = beta[j] - eta * (lam * beta[j] - s * np.float64(x[j]))


@inlined
def norm_fast(w: Vector) -> float:
    """``||w||`` of a padded vector, summed in an order that suits the machine."""
    a = lanes(0.0, 0.0, 0.0, 0.0)
    for j in range(0, w.shape[0], LANES):
        a = fused(load(w, j), load(w, j), a)
    return float(math.sqrt(total(a)))


@inlined
def rounding_bound(state: State, eta: float, alpha: float, count: int) -> float:
    """Bound the rounding of any margin near 1 in the next ``count`` steps.

    Let ``u = 2^-53``, ``R`` the largest ``||x_i||``, ``eta`` the first step size and
    ``B = ||beta|| + count eta R``, which bounds every ``||beta||`` of these steps.
    Two ways of summing ``x'beta`` differ by at most ``2 p u R B`` and some, the
    rounding of the last four updates changes it by at most ``30 u R (B + 4 eta R)``,
    and adding ``alpha`` rounds ``u (1 + 2 |alpha|)`` off. The bound is twice the sum.
    """
    radius = state.scalars[RADIUS]
    reach = norm_fast(state.w) + count * eta * radius
    products = (state.w.shape[0] + 32.0) * radius * (reach + 4.0 * eta * radius)
    error: float = 2.0**-51 * (products + 8.0 * (1.0 + abs(alpha) + count * eta))
    return error


@inlined
def literal_margin(
    X: Numbers, i: int, y: float, beta: Vector, alpha: float, loss: int, bound: float
) -> float:
    """``y (x_i'beta + alpha)``, summed from first to last wherever its bits matter.

    The hinge loss only asks whether the margin is below 1; a margin farther than
    ``bound`` from 1 may be summed in any order.
    """
    if loss == HINGE:
        m = y * (row_dot_fast(X, i, beta) + alpha)
        if abs(m - 1.0) > bound:
            return m
    return y * (row_dot(X, i, beta) + alpha)


@inlined
def batch_step(g: Vector, size: float, eta: float, lam: float, beta: Vector) -> None:
    """``beta[j] <- beta[j] - eta * (lam * beta[j] - g[j] / size)``."""
    for j in range(beta.shape[0]):
        beta[j] = beta[j] - eta * (lam * beta[j] - g[j] / size)


@inlined
def project_literally(lam: float, beta: Vector) -> float:
    """``beta[j] <- f * beta[j]`` with ``f = min(1, (1 / sqrt(lam)) / ||beta||)``.

    ``||beta||`` is the square root of the squares summed from first to last. Returns
    ``f``; nothing is done where it is 1.
    """
    norm2 = 0.0
    for j in range(beta.shape[0]):
        norm2 += beta[j] * beta[j]
    norm = math.sqrt(norm2)
    limit = 1.0 / math.sqrt(lam)
    if norm <= limit:
        return 1.0
    f = limit / norm
    for j in range(beta.shape[0]):
        beta[j] = f * beta[j]
    return f


@inlined
def shrink(values: Vector, scale: float, f: float, floor: float) -> float:
    """Multiply ``scale * values`` by ``f`` in the scale alone, until it falls below."""
    scale *= f
    if abs(scale) >= floor:
        return scale
    for j in range(values.shape[0]):
        values[j] *= scale
    return 1.0


@inlined
def keep_weights(share: float, state: State) -> None:
    """Multiply the slope weights by ``1 - share``; slopes enter times ``share``.

    For a step of any size ``eta``, whose share is ``eta lam``.
    """
    scalars = state.scalars
    kept = 1.0 if scalars[KEPT] == 0.0 else scalars[KEPT]
    scalars[KEPT] = shrink(state.weights, kept, 1.0 - share, UNDERFLOW)
    scalars[WEIGHT_SCALE] = scalars[KEPT] / share


@inlined
def see_batch(
    X: Numbers,
    y: Signs,
    rows: Integers,
    first: int,
    last: int,
    alpha: float,
    loss: int,
    bound: float,
    state: State,
) -> float:
    """Put ``s(m_i)`` of the visits ``first`` to ``last - 1`` in ``slopes``.

    ``s(m_i)`` is the slope times the weight of the row. Returns ``h``, the sum of
    ``s(m_i) y_i``.
    """
    scalars, slopes = state.scalars, state.slopes
    h = 0.0
    for k in range(first, last):
        i = rows[k]
        prefetch_row(X, rows[min(k + AHEAD, rows.shape[0] - 1)])
        at, near = alpha, bound
        if state.offset.shape[0] > 0:
            at = alpha + state.offset[i]
            near = bound + ROUNDING * abs(at)
        m = literal_margin(X, i, y[i], state.w, at, loss, near)
        scalars[VIOLATIONS] += 1.0 if violated(loss, m) else 0.0
        slopes[k] = weighted_slope(state, i, loss, m)
        h = h + slopes[k] * y[i]
        state.weights[i] += slopes[k] / (last - first) / scalars[WEIGHT_SCALE]
    return h


@inlined
def sum_gradient(
    X: Numbers, y: Signs, rows: Integers, first: int, last: int, state: State
) -> None:
    """``g <- 0``, then ``g[j] <- g[j] + (s(m_i) y_i) * x_i[j]`` for each visit."""
    g, slopes = state.work, state.slopes
    g[:] = 0.0
    for k in range(first, last):
        s = slopes[k] * y[rows[k]]
        if s != 0.0:
            x = X[rows[k]]
            for j in range(x.shape[0]):
                g[j] = g[j] + s * np.float64(x[j])


@inlined
def add_iterate(alpha: float, state: State) -> None:
    """``total <- total + beta``, ``alpha_total <- alpha_total + alpha``."""
    for j in range(state.w.shape[0]):
        state.total[j] += state.w[j]
    state.scalars[ALPHA_TOTAL] += alpha
    state.scalars[AVERAGED] += 1.0


@kernel
def literal_epoch(
    X: Numbers,
    y: Signs,
    rows: Integers,
    lam: float,
    loss: int,
    batch_size: int,
    intercept: bool,
    project: bool,
    average: bool,
    sizes: Vector,
    state: State,
) -> None:
    """Take one step for each batch ``A`` of consecutive ``rows``.

    In this order of operations::

    t     <- t + 1
    eta   <- 1 / (lam * t), or the next one of ``sizes`` where there are any
    m_i   <- y_i * (x_i'beta + (alpha + offset_i))    for i in A, before the update
    g[j]  <- 0, then g[j] + (s(m_i) * y_i) * x_i[j]     for i in A, in order
    h     <- 0, then h + s(m_i) * y_i                   for i in A, in order
    beta  <- beta - eta * (lam * beta - g / |A|)
    alpha <- alpha + eta * (h / |A|)
    if project:  beta  <- min(1, (1 / sqrt(lam)) / ||beta||) * beta
    if average:  total <- total + beta,  alpha_total <- alpha_total + alpha
    """
    scalars, beta, visits = state.scalars, state.w, rows.shape[0]
    alpha, any_size = scalars[ALPHA], sizes.shape[0] > 0
    for first in range(0, visits, batch_size):
        last = min(first + batch_size, visits)
        scalars[STEPS] += 1.0
        eta = 1.0 / (lam * scalars[STEPS])
        if any_size:
            eta = sizes[first // batch_size]
            keep_weights(eta * lam, state)
        bound = 0.0
        if loss == HINGE:
            bound = rounding_bound(state, eta, alpha, 1)
        h = see_batch(X, y, rows, first, last, alpha, loss, bound, state)
        if last - first == 1:
            literal_step(X[rows[first]], h, eta, lam, beta)
        else:
            sum_gradient(X, y, rows, first, last, state)
            batch_step(state.work, float(last - first), eta, lam, beta)
        if intercept:
            alpha = alpha + eta * (h / (last - first))
        if project:
            f = project_literally(lam, beta)
            scale = KEPT if any_size else WEIGHT_SCALE
            scalars[scale] = shrink(state.weights, scalars[scale], f, UNDERFLOW)
        if average:
            add_iterate(alpha, state)
    scalars[ALPHA] = alpha
