"""Pegasos on dense rows in reference arithmetic.

Each operation is rounded as it is written; sums run from the first term to the last.
`literal_epoch` has every option; `guarded_epoch` takes plain steps for the hinge loss
four at a time, with the same bits.

Plain means one row a step, no projection, no average. With ``t`` steps taken, the
margins of the next four rows ``x_0 .. x_3`` follow from products that do not wait for
one another. Since ``lam t beta`` is the sum of the ``s y x`` of all steps so far,

    m_b = y_b ((lam t beta'x_b + sum_{c<b} s_c y_c x_c'x_b) / (lam (t + b)) + alpha_b)

where ``alpha_b = alpha + sum_{c<b} s_c y_c / (lam (t + c + 1))``. Four scores and six
inner products read the rows once; the four decisions ``s_b = [m_b < 1]`` are then a
short chain, and ``beta`` is read and written once for four steps.

In the hinge loss a margin enters only through ``m < 1``. The reference arithmetic
therefore takes the decisions from these margins and makes the four updates exactly as
they are written. A block in which some margin is within the rounding bound of 1 is done
again from the definition, a row at a time, so every bit is that of ``literal_step``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Integers,
    Lanes,
    Numbers,
    Signs,
    Vector,
    all_apart,
    below,
    every,
    fused,
    lane,
    lanes,
    load,
    padded,
    shifted,
    store,
    total,
    where_below,
)
from pegasos_stats.compiled.arithmetic.risk import HINGE, slope, violated
from pegasos_stats.compiled.arithmetic.rows import (
    FourLanes,
    ThreeLanes,
    four,
    literal_update,
    prefetch_row,
    products,
    row_dot,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel

ROWS_AHEAD = 24  # rows between a visit and the prefetch of a later one
SEGMENT = 1024  # steps for which one rounding bound is good
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


@inlined
def decide(
    u: Lanes,
    g: ThreeLanes,
    y: Lanes,
    eta: Lanes,
    eta_before: float,
    alpha: float,
    free: float,
) -> tuple[Lanes, FourLanes]:
    """Return the margins ``m_b`` and ``y_b [m_b < 1]``, in every lane, of four steps.

    ``u_b = lam t beta'x_b``; ``free`` is 1 with an intercept, else 0. ``m_b`` is final
    once the decisions ``c < b`` have added their rows to it.
    """
    before = shifted(eta_before, eta)
    after_0 = every(eta, 0) * lanes(0.0, free, free, free)
    after_1 = every(eta, 1) * lanes(0.0, 0.0, free, free)
    after_2 = every(eta, 2) * lanes(0.0, 0.0, 0.0, free)
    m = fused(y * before, u, y * alpha)
    s0 = every(where_below(m, 1.0, y), 0)
    m = fused(s0, y * fused(before, g[0], after_0), m)
    s1 = every(where_below(m, 1.0, y), 1)
    m = fused(s1, y * fused(before, g[1], after_1), m)
    s2 = every(where_below(m, 1.0, y), 2)
    m = fused(s2, y * fused(before, g[2], after_2), m)
    s3 = every(where_below(m, 1.0, y), 3)
    return m, (s0, s1, s2, s3)


@inlined
def steps(t: float, lam: float) -> Lanes:
    """``eta = 1 / (lam t)`` of the next four steps."""
    return 1.0 / (lam * (t + lanes(1.0, 2.0, 3.0, 4.0)))


@inlined
def alpha_after(alpha: float, eta: Lanes, s: FourLanes, free: float) -> float:
    """``alpha <- alpha + eta s``, four times."""
    move = free * eta
    alpha = alpha + lane(move, 0) * lane(s[0], 0)
    alpha = alpha + lane(move, 1) * lane(s[1], 0)
    alpha = alpha + lane(move, 2) * lane(s[2], 0)
    return alpha + lane(move, 3) * lane(s[3], 0)


@inlined
def take_signs(y: Signs, rows: Integers, signs: Vector) -> None:
    """Put the labels in the order of the visits."""
    for k in range(rows.shape[0]):
        signs[k] = y[rows[k]]


@inlined
def add_slopes(slopes: Vector, rows: Integers, weights: Vector) -> float:
    """Add the slopes of the visits to the weights of their rows; return their sum."""
    violations = 0.0
    for k in range(rows.shape[0]):
        weights[rows[k]] += slopes[k]
        violations += slopes[k]
    return violations


@inlined
def by_definition(
    X: Numbers,
    rows: Integers,
    first: int,
    last: int,
    lam: float,
    t: float,
    alpha: float,
    free: float,
    state: State,
) -> float:
    """Visit some rows literally, one at a time; return ``alpha``."""
    for k in range(first, last):
        eta = 1.0 / (lam * (t + float(k - first + 1)))
        y = state.signs[k]
        state.slopes[k] = (
            1.0 if y * (row_dot(X, rows[k], state.w) + alpha) < 1.0 else 0.0
        )
        s = state.slopes[k] * y
        literal_step(X[rows[k]], s, eta, lam, state.w)
        alpha = alpha + eta * (free * s)
    return alpha


@kernel
def guarded_epoch(
    X: Numbers, y: Signs, rows: Integers, lam: float, intercept: bool, state: State
) -> None:
    """Take plain steps in reference arithmetic.

    For each row ``i`` of ``rows``::

        t     <- t + 1
        eta   <- 1 / (lam * t)
        s     <- y_i if y_i * (x_i'beta + alpha) < 1 else 0
        beta  <- beta - eta * (lam * beta - s * x_i)
        alpha <- alpha + eta * s

    Every bit of ``beta`` and ``alpha`` is that of these operations in this order, the
    score summed from the first coordinate to the last.
    """
    scalars, beta, signs, slopes = state.scalars, state.w, state.signs, state.slopes
    free = 1.0 if intercept else 0.0
    t, alpha, visits = scalars[STEPS], scalars[ALPHA], rows.shape[0]
    take_signs(y, rows, signs)
    eta_before = 1.0 / (lam * t) if t > 0.0 else 0.0
    k, bound, bounded = 0, 0.0, 0
    while k < visits:
        if k == bounded:  # for few steps at first, where eta changes quickly
            length = int(min(max(t, 16.0), SEGMENT)) // LANES * LANES
            bounded = min(visits, k + length)
            bound = rounding_bound(state, 1.0 / (lam * (t + 1.0)), alpha, bounded - k)
        last = min(k + LANES, visits)
        eta = steps(t, lam)
        done = False
        if last - k == LANES:
            x = four(X, rows, k)
            ahead = four(X, rows, min(k + ROWS_AHEAD, visits - LANES))
            u, g0, g1, g2 = products(x, ahead, beta)
            y4 = load(signs, k)
            m, s = decide((lam * t) * u, (g0, g1, g2), y4, eta, eta_before, alpha, free)
            done = all_apart(m, 1.0, bound)
            if done:
                store(slopes, k, below(m, 1.0))
                literal_update(x, ahead, s, eta, lam, beta)
                alpha = alpha_after(alpha, eta, s, free)
        if not done:
            alpha = by_definition(X, rows, k, last, lam, t, alpha, free, state)
        t += float(last - k)
        eta_before = lane(eta, 3)
        k = last
    scalars[STEPS], scalars[ALPHA] = t, alpha
    scalars[VIOLATIONS] += add_slopes(slopes, rows, state.weights)
