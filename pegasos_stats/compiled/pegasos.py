"""Pegasos: stochastic sub-gradient steps for hinge and log loss.

The same algorithm in R is ``r_reference/R/pegasos.R``. The docstring of each kernel
lists its operations in order. `literal_epoch` handles dense rows in reference
arithmetic, `scaled_epoch` the fast arithmetic and all sparse rows. Both support every
option. Plain steps on single rows are faster in `block_epoch` (dense rows, four at a
time) and `sparse_epoch`, with bitwise equal results; only in fast arithmetic does
`block_epoch` sum in another order.

`literal_epoch` performs the operations exactly as written; sums run from the first term
to the last. With the hinge loss a margin enters only through ``m < 1``. So its score is
summed in the fastest order, and again from first to last if the margin is within the
rounding bound of 1: results are bitwise those of the definition.

`scaled_epoch` uses the scaled vector ``v = lam t beta``. With steps ``1 / (lam t)`` on
single rows, ``v`` is the sum of ``s y x`` over all steps, with ``s`` minus the
derivative of the loss, so a step changes only the entries that are not 0 in its row.
Projection multiplies ``v`` by a number, which is stored separately: ``v = scale * w``.

References
----------
Shalev-Shwartz, Singer, Srebro & Cotter, *Pegasos: primal estimated sub-gradient
solver for SVM*, Mathematical Programming B 127 (2011), figures 1 and 2.
"""

import math
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Dense, Integers, Vector, read_only
from pegasos_stats.compiled.compiling import fast, inlined, kernel
from pegasos_stats.compiled.risk import HINGE, slope, violated
from pegasos_stats.compiled.rows import (
    CSR,
    Rows,
    Signs,
    offset_at,
    prefetch_row,
    row_add,
    row_dot,
    row_dot_fast,
    row_norm2,
)

LEAST_COLUMNS = 11  # with 10 columns, blocks of four take as long as single steps
# Bound on the rounding error from adding a number to a score, relative to the number.
SUMMAND = 2.0**-48
(
    STEPS,
    ALPHA,
    UNIT,
    SCALE,
    WEIGHT_SCALE,
    SHARE,
    NORM2,
    VIOLATIONS,
    ALPHA_TOTAL,
    AVERAGED,
    RADIUS,
    BEFORE,
    HEAVIEST,
    SCALARS,
) = range(14)


class StepRule(NamedTuple):
    """Options common to the steps of a call.

    Attributes
    ----------
    lam : float
        Penalty, above zero.
    loss : int
        Code of the loss.
    batch_size : int
        Rows per step.
    intercept, project : bool
    average : bool
        Whether the iterates of these steps enter the average.
    fast : bool
        Whether to use ``v`` and to sum in any order, instead of reference arithmetic.
    """

    lam: float
    loss: int = HINGE
    batch_size: int = 1
    intercept: bool = True
    project: bool = False
    average: bool = False
    fast: bool = False


class State(NamedTuple):
    """State of the iteration; steps change the arrays that are not read-only.

    Calls of ``pegasos_epoch`` complete their last step, so the state is a valid fit
    after every call, and a run may be interrupted between calls.

    Attributes
    ----------
    w : float64 array, shape (p,)
        ``beta = scalars[UNIT] * w``. Reference arithmetic on dense rows stores ``beta``
        (``UNIT`` is 1); otherwise ``v = lam t beta`` is stored as ``SCALE * w``.
    weights : float64 array, shape (n,)
        Subgradient weights. The steps have added ``1 / (lam t)`` times
        ``sum_i WEIGHT_SCALE weights[i] y_i x_i`` to ``beta``; with user-defined step
        sizes they have added ``1 / lam`` times this sum.
    total : float64 array, shape (p,)
        Sum of the iterates ``beta`` to average.
    work : float64 array, shape (p,)
        Scratch: the gradient of a batch, or the lag of ``total``.
    derivatives : float64 array, shape (batch_size,)
        Scratch: minus the derivatives of the losses in a batch.
    case_weights : float64 array, shape (n,) or (0,)
        Weight of each row's loss; empty if all are 1. Read-only.
    offset : float64 array, shape (n,) or (0,)
        Fixed part of each row's score; empty if there is none. Read-only.
    scalars : float64 array, shape (SCALARS,)
        ``STEPS`` is ``t``, the number of the last step; ``BEFORE`` is the number of the
        last step before the run; ``ALPHA`` is the intercept; ``UNIT``, ``SCALE`` and
        ``WEIGHT_SCALE`` are the factors above; ``SHARE`` is ``eta lam`` of the last
        step if its size is user-defined, else 0; ``NORM2`` is ``||w||^2``, current only
        in `scaled_epoch` with projection; ``VIOLATIONS`` is the number of visits to
        rows with a violated margin; ``ALPHA_TOTAL`` is the sum of ``alpha`` and
        ``AVERAGED`` the number of iterates in ``total``; ``RADIUS`` is the largest
        ``||x_i||``; ``HEAVIEST`` is the largest case weight, at least 1.
    """

    w: Vector
    weights: Vector
    total: Vector
    work: Vector
    derivatives: Vector
    case_weights: Vector
    offset: Vector
    scalars: Vector


def start(
    n: int,
    p: int,
    radius: float,
    batch_size: int = 1,
    case_weights: Vector | None = None,
    offset: Vector | None = None,
) -> State:
    """Return the state before the first step: everything is 0.

    The `radius` is the largest ``||x_i||``, or an upper bound on it, which only makes
    the steps slower.
    """
    scalars = np.zeros(SCALARS)
    scalars[[UNIT, SCALE, WEIGHT_SCALE]] = 1.0
    scalars[[RADIUS, HEAVIEST]] = radius, 1.0
    if case_weights is not None:
        scalars[HEAVIEST] = max(1.0, case_weights.max(initial=0.0))
    w, total, work, none = np.zeros(p), np.zeros(p), np.zeros(p), np.zeros(0)
    weights, derivatives = np.zeros(n), np.zeros(batch_size)
    case_weights = read_only(none if case_weights is None else case_weights)
    offset = read_only(none if offset is None else offset)
    return State(w, weights, total, work, derivatives, case_weights, offset, scalars)


def begin(state: State, beta: Vector, alpha: float, t: float, v: float = 1.0) -> None:
    """Start a run with ``beta`` and ``alpha`` after step ``t``.

    Parameters
    ----------
    state : State
        From `start`.
    beta : float64 array, shape (p,)
    alpha, t : float
    v : float
        Ratio of ``w`` to ``beta``: 1 if ``w`` stores ``beta``, else ``lam t``. With
        ``t = 0`` it is always 1: the first step uses ``beta`` only for its margins and
        then replaces it.
    """
    scalars = state.scalars
    state.w[:] = v * beta
    scalars[[ALPHA, STEPS, BEFORE, UNIT]] = alpha, t, t, 1.0 / v
    scalars[NORM2] = np.add.accumulate(state.w * state.w)[-1]  # from first to last


def iterate(state: State) -> tuple[Vector, float]:
    """Return ``(beta, alpha)``: the mean of averaged iterates, or the last iterate."""
    scalars, count = state.scalars, state.scalars[AVERAGED]
    if count > 0.0:
        return state.total / count, float(scalars[ALPHA_TOTAL] / count)
    return scalars[UNIT] * state.w, float(scalars[ALPHA])


def dual_weights(state: State) -> Vector:
    """Return ``a`` with ``beta = (1 / (lam n)) sum_i a_i y_i x_i``, shape (n,).

    The equation holds for a run from zero, with ``t`` from 1. With steps
    ``1 / (lam t)`` and whole epochs of equal batches, ``a_i`` is in [0, w_i] for the
    hinge and the log loss. Otherwise it may need clipping: with a short batch, rows
    sampled with replacement, or other step sizes.
    """
    scalars, n = state.scalars, state.weights.size
    steps = max(float(scalars[STEPS] - scalars[BEFORE]), 1.0)
    divisor = 1.0 if scalars[SHARE] != 0.0 else steps
    return np.asarray(scalars[WEIGHT_SCALE] * state.weights * n / divisor)


@inlined
def weighted_slope(state: State, i: int, loss: int, m: float) -> float:
    """Compute ``w_i s(m)``, minus the derivative of the weighted loss of row ``i``."""
    s: float = slope(loss, m)
    return state.case_weights[i] * s if state.case_weights.shape[0] > 0 else s


@inlined
def literal_step(x: Dense, s: float, eta: float, lam: float, beta: Vector) -> None:
    """Update ``beta[j] <- beta[j] - eta * (lam * beta[j] - s * x[j])``."""
    for j in range(x.shape[0]):
        beta[j] = beta[j] - eta * (lam * beta[j] - s * np.float64(x[j]))


@fast
def norm_fast(w: Vector) -> float:
    """Compute ``||w||``, summed in the fastest order of the machine."""
    squares = 0.0
    for j in range(w.shape[0]):
        squares += w[j] * w[j]
    return math.sqrt(squares)


@inlined
def rounding_bound(state: State, moved: float, alpha: float) -> float:
    """Bound the rounding error of any margin near 1 in the next steps.

    Let ``u = 2^-53``, ``R`` the largest ``||x_i||``, ``moved`` the sum of the step
    sizes, each times the largest weight, and ``B = ||beta|| + moved R``, which bounds
    every ``||beta||`` of these steps. Two orders of summing ``x'beta`` differ by at
    most ``2 p u R B`` to first order, and adding ``alpha`` has a rounding error of
    ``u (1 + 2 |alpha|)``, where ``alpha`` changes by at most ``moved``. The bound is
    more than twice the sum.
    """
    radius = state.scalars[RADIUS]
    reach = norm_fast(state.w) + moved * radius
    products = (state.w.shape[0] + 32.0) * radius * reach
    error: float = 2.0**-51 * (products + 8.0 * (1.0 + abs(alpha) + moved))
    return error


@inlined
def margin(
    X: Rows, i: int, y: float, unit: float, w: Vector, at: float, bound: float
) -> float:
    """Compute ``y (unit x_i'w + at)``, summed from first to last if rounding matters.

    The hinge loss only depends on whether the margin is below 1, so a margin farther
    than ``bound`` from 1 may be summed in any order. If ``bound`` is minus infinity,
    this applies to all margins; if it is infinity, to none.
    """
    if bound == -math.inf:
        return y * (unit * row_dot_fast(X, i, w) + at)
    if bound < math.inf:
        m = y * (unit * row_dot_fast(X, i, w) + at)
        if abs(m - 1.0) > bound:
            return m
    return y * (unit * row_dot(X, i, w) + at)


@inlined
def batch_step(g: Vector, size: float, eta: float, lam: float, beta: Vector) -> None:
    """Update ``beta[j] <- beta[j] - eta * (lam * beta[j] - g[j] / size)``."""
    for j in range(beta.shape[0]):
        beta[j] = beta[j] - eta * (lam * beta[j] - g[j] / size)


@inlined
def shrink_weights(f: float, state: State) -> None:
    """Multiply the subgradient weights by ``f``, usually through their scale alone."""
    scale = state.scalars[WEIGHT_SCALE] * f
    if abs(scale) < 2.0**-500:
        for j in range(state.weights.shape[0]):
            state.weights[j] *= scale
        scale = 1.0
    state.scalars[WEIGHT_SCALE] = scale


@inlined
def projection(norm: float, lam: float, state: State) -> float:
    """Multiply subgradient weights by ``min(1, 1 / sqrt(lam) / norm)``; return it."""
    limit = 1.0 / math.sqrt(lam)
    if not norm > limit:
        return 1.0
    shrink_weights(limit / norm, state)
    return limit / norm


@inlined
def keep_weights(share: float, state: State) -> float:
    """Multiply the subgradient weights by ``1 - share``, with ``share = eta lam``.

    Returns the divisor that converts derivatives to subgradient weights.
    """
    shrink_weights(1.0 - share, state)
    state.scalars[SHARE] = share
    divisor: float = state.scalars[WEIGHT_SCALE] / share
    return divisor


@inlined
def store_derivatives(
    X: Rows,
    y: Signs,
    rows: Integers,
    first: int,
    last: int,
    unit: float,
    alpha: float,
    loss: int,
    bound: float,
    state: State,
) -> float:
    """Store ``s(m_i)`` of the visits ``first`` to ``last - 1`` in ``derivatives``.

    ``s(m_i)`` is minus the derivative of the loss, times the weight of the row. Returns
    ``h``, the sum of ``s(m_i) y_i``.
    """
    h = 0.0
    for k in range(first, last):
        i = rows[k]
        prefetch_row(X, state.weights, rows, k)
        at, near = alpha, bound
        if state.offset.shape[0] > 0:
            at = alpha + state.offset[i]
            near = bound + SUMMAND * abs(at)
        m = margin(X, i, y[i], unit, state.w, at, near)
        s = weighted_slope(state, i, loss, m)
        state.derivatives[k - first] = s
        state.scalars[VIOLATIONS] += 1.0 if violated(loss, m) else 0.0
        h = h + s * y[i]
    return h


@kernel
def literal_epoch(
    X: Dense, y: Signs, rows: Integers, rule: StepRule, sizes: Vector, state: State
) -> None:
    """Take one step for each batch ``A`` of consecutive ``rows``.

    Operations, in this order::

        t     <- t + 1
        eta   <- 1 / (lam * t), or the next entry of ``sizes`` if there are any
        m_i   <- y_i * (x_i'beta + (alpha + offset_i))    for i in A, before the update
        g[j]  <- 0, then g[j] + (s(m_i) * y_i) * x_i[j]     for i in A, in order
        h     <- 0, then h + s(m_i) * y_i                   for i in A, in order
        beta  <- beta - eta * (lam * beta - g / |A|)
        if intercept:  alpha <- alpha + eta * (h / |A|)
        if project:  beta  <- min(1, (1 / sqrt(lam)) / ||beta||) * beta
        if average:  total <- total + beta,  alpha_total <- alpha_total + alpha

    where ``s(m_i)`` includes the case weight, as in `store_derivatives`.
    """
    scalars, beta, lam, visits = state.scalars, state.w, rule.lam, rows.shape[0]
    alpha, size, any_size = scalars[ALPHA], rule.batch_size, sizes.shape[0] > 0
    bound, bounded = math.inf, 0
    for first in range(0, visits, size):
        last = min(first + size, visits)
        scalars[STEPS] += 1.0
        eta, divisor = 1.0 / (lam * scalars[STEPS]), scalars[WEIGHT_SCALE]
        if any_size:
            eta = sizes[first // size]
            divisor = keep_weights(eta * lam, state)
        # As eta decreases, a bound is valid for the next t steps; with user-defined
        # sizes, for one step.
        if rule.loss == HINGE and first >= bounded:
            count = 1.0 if any_size else scalars[STEPS]
            bound = rounding_bound(state, count * eta * scalars[HEAVIEST], alpha)
            bounded = first + int(count) * size
        h = store_derivatives(
            X, y, rows, first, last, 1.0, alpha, rule.loss, bound, state
        )
        if last - first > 1:
            state.work[:] = 0.0
        for k in range(first, last):
            i, s = rows[k], state.derivatives[k - first]
            state.weights[i] += s / (last - first) / divisor
            if s != 0.0 and last - first > 1:
                row_add(X, i, s * y[i], state.work)
        if last - first > 1:
            batch_step(state.work, float(last - first), eta, lam, beta)
        else:
            literal_step(X[rows[first]], h, eta, lam, beta)
        if rule.intercept:
            alpha = alpha + eta * (h / (last - first))
        if rule.project:
            norm2 = 0.0
            for j in range(beta.shape[0]):
                norm2 += beta[j] * beta[j]
            f = projection(math.sqrt(norm2), lam, state)
            if f < 1.0:
                for j in range(beta.shape[0]):
                    beta[j] = f * beta[j]
        if rule.average:
            for j in range(beta.shape[0]):
                state.total[j] += beta[j]
            scalars[ALPHA_TOTAL] += alpha
            scalars[AVERAGED] += 1.0
    scalars[ALPHA] = alpha


@inlined
def settle(pull: float, state: State) -> None:
    """Update ``total <- total + (pull * w - lag)``, ``lag <- 0``."""
    total, w, lag = state.total, state.w, state.work
    for j in range(w.shape[0]):
        total[j] = total[j] + (pull * w[j] - lag[j])
        lag[j] = 0.0


@inlined
def absorb(factor: int, pull: float, average: bool, state: State) -> float:
    """Absorb a factor: ``w <- w * f``, ``norm2 <- norm2 * (f * f)``, ``f <- 1``.

    Earlier iterates are first added to ``total``; returns the new ``pull``.
    """
    if average:
        settle(pull, state)
        pull = 0.0
    f = state.scalars[factor]
    for j in range(state.w.shape[0]):
        state.w[j] *= f
    state.scalars[NORM2] *= f * f
    state.scalars[factor] = 1.0
    return pull


@kernel
def scaled_epoch(
    X: Rows, y: Signs, rows: Integers, rule: StepRule, sizes: Vector, state: State
) -> None:
    """Take one step for each batch ``A`` of consecutive ``rows``.

    Operations, in this order::

        m_i  <- y_i * (unit * x_i'w + (alpha + offset_i))  for i in A, before the update
        t    <- t + 1;  at t = 1:  w <- 0
        for i in A, in order, where s(m_i) is not 0:
            d <- ((s(m_i) / |A|) * y_i) / scale
            if project:  norm2 <- norm2 + d * (2 * x_i'w + d * ||x_i||^2)
            if average:  lag   <- lag + (pull * d) * x_i
            w <- w + d * x_i
        h    <- sum of s(m_i) * y_i in order
        if intercept:  alpha <- alpha + (1 / (lam * t)) * (h / |A|)
        unit  <- scale / (lam * t)
        if project and norm2 > 0 and unit * sqrt(norm2) > 1 / sqrt(lam):
            f     <- (1 / sqrt(lam)) / (unit * sqrt(norm2))
            scale <- f * scale,   unit <- scale / (lam * t)
        if average:  pull <- pull + unit,  alpha_total <- alpha_total + alpha

    As in `store_derivatives`, ``s(m_i)`` includes the case weight. ``beta = unit * w``,
    with ``unit = 1`` before the first step. The sum of the averaged iterates is
    ``pull * w - lag``. At the end of every call, and whenever ``scale`` is absorbed
    into ``w``, this sum is added to ``total``, and ``lag`` and ``pull`` are reset to 0.
    If ``scale`` is below 2^-10 (with averaging) or 2^-200 (without) after a step, it is
    absorbed::

        w <- w * scale,  norm2 <- norm2 * (scale * scale)
        scale <- 1,  unit <- 1 / (lam * t)

    With step sizes ``eta`` from ``sizes``, these operations precede the rows of a batch
    and replace the line at ``t = 1``::

        unit  <- (1 - eta * lam) * unit
        scale <- unit / eta

    and ``eta`` replaces ``1 / (lam * t)`` in the update of ``alpha``. Projection then
    multiplies ``unit`` instead of ``scale``. If the absolute value of ``unit`` is below
    the same limits, it is absorbed into ``w`` before ``scale`` is computed.
    """
    scalars, w, lam, average = state.scalars, state.w, rule.lam, rule.average
    visits, size, any_size = rows.shape[0], rule.batch_size, sizes.shape[0] > 0
    alpha, pull = scalars[ALPHA], 0.0
    floor = 2.0**-10 if average else 2.0**-200
    bound = -math.inf if rule.fast else math.inf
    if average:
        state.work[:] = 0.0
    for first in range(0, visits, size):
        last, unit = min(first + size, visits), scalars[UNIT]
        scalars[STEPS] += 1.0
        eta, divisor = 1.0 / (lam * scalars[STEPS]), scalars[WEIGHT_SCALE]
        if any_size:
            eta = sizes[first // size]
            divisor = keep_weights(eta * lam, state)
        h = store_derivatives(
            X, y, rows, first, last, unit, alpha, rule.loss, bound, state
        )
        if any_size:
            scalars[UNIT] = (1.0 - eta * lam) * unit
            if abs(scalars[UNIT]) < floor:
                pull = absorb(UNIT, pull, average, state)
            scalars[SCALE] = scalars[UNIT] / eta
        elif scalars[STEPS] == 1.0:
            w[:] = 0.0
            scalars[NORM2] = 0.0
        for k in range(first, last):
            i, s = rows[k], state.derivatives[k - first]
            if s != 0.0:
                share = s / (last - first)
                d = share * y[i] / scalars[SCALE]
                state.weights[i] += share / divisor
                if rule.project:
                    inner = row_dot_fast(X, i, w) if rule.fast else row_dot(X, i, w)
                    scalars[NORM2] += d * (2.0 * inner + d * row_norm2(X, i))
                if average:
                    row_add(X, i, pull * d, state.work)
                row_add(X, i, d, w)
        if rule.intercept:
            alpha = alpha + eta * (h / (last - first))
        if rule.project:
            unit = (
                scalars[UNIT] if any_size else scalars[SCALE] / (lam * scalars[STEPS])
            )
            norm = abs(unit) * math.sqrt(max(0.0, scalars[NORM2]))
            scalars[UNIT if any_size else SCALE] *= projection(norm, lam, state)
        if not any_size:
            scalars[UNIT] = scalars[SCALE] / (lam * scalars[STEPS])
        if average:
            pull += scalars[UNIT]
            scalars[ALPHA_TOTAL] += alpha
            scalars[AVERAGED] += 1.0
        if not any_size and scalars[SCALE] < floor:
            pull = absorb(SCALE, pull, average, state)
            scalars[UNIT] = eta
    if average:
        settle(pull, state)
    scalars[ALPHA] = alpha


@fast
def four_products(
    X: Dense, i: int, j: int, k: int, m: int, w: Vector
) -> tuple[float, ...]:
    """Compute scores ``x'w`` of four rows and their six inner products in one pass."""
    a = b = c = d = ab = ac = ad = bc = bd = cd = 0.0
    for q in range(w.shape[0]):
        xa, xb, v = np.float64(X[i, q]), np.float64(X[j, q]), w[q]
        xc, xd = np.float64(X[k, q]), np.float64(X[m, q])
        a += xa * v
        b += xb * v
        c += xc * v
        d += xd * v
        ab += xa * xb
        ac += xa * xc
        ad += xa * xd
        bc += xb * xc
        bd += xb * xd
        cd += xc * xd
    return a, b, c, d, ab, ac, ad, bc, bd, cd


@inlined
def signed_weight(state: State, i: int, y: float) -> float:
    """Compute ``w_i y_i``."""
    return state.case_weights[i] * y if state.case_weights.shape[0] > 0 else y


@inlined
def four_steps(
    X: Dense,
    y: Signs,
    rows: tuple[int, int, int, int],
    rule: StepRule,
    bound: float,
    state: State,
) -> bool:
    """Take one step at each of four rows, or none if a margin is near 1.

    Returns whether the steps were taken, as always in fast arithmetic. After ``t``
    steps, with ``e_b = 1 / (lam (t + b))``, ``v = lam t beta`` and
    ``s_c = w_c s(m_c) y_c``, the margins of the rows ``x_0, ..., x_3`` follow from
    inner products that do not depend on one another::

        m_b = y_b (e_b (x_b'v + sum_{c<b} s_c x_c'x_b) + alpha_b + offset_b)
        alpha_b = alpha + sum_{c<b} e_{c+1} s_c

    Without an intercept ``alpha_b = alpha``.
    """
    scalars, w, weights = state.scalars, state.w, state.weights
    i, j, k, m = rows
    lam, loss, literal = rule.lam, rule.loss, not rule.fast
    t, alpha = scalars[STEPS], scalars[ALPHA]
    a, b, c, d, ab, ac, ad, bc, bd, cd = four_products(X, i, j, k, m, w)
    size = lam * t if literal else 1.0
    free = 1.0 if rule.intercept else 0.0
    e0, e1, e2 = 1.0 / (lam * t), 1.0 / (lam * (t + 1.0)), 1.0 / (lam * (t + 2.0))
    e3, e4 = 1.0 / (lam * (t + 3.0)), 1.0 / (lam * (t + 4.0))
    y0, y1, y2, y3 = float(y[i]), float(y[j]), float(y[k]), float(y[m])
    o0, o1 = offset_at(state.offset, i), offset_at(state.offset, j)
    o2, o3 = offset_at(state.offset, k), offset_at(state.offset, m)
    m0 = y0 * e0 * size * a + y0 * (alpha + o0)
    m1 = y1 * e1 * size * b + y1 * (alpha + o1)
    m2 = y2 * e2 * size * c + y2 * (alpha + o2)
    m3 = y3 * e3 * size * d + y3 * (alpha + o3)
    s0 = slope(loss, m0) * signed_weight(state, i, y0)
    m1 += s0 * (y1 * (e1 * ab + free * e1))
    m2 += s0 * (y2 * (e2 * ac + free * e1))
    m3 += s0 * (y3 * (e3 * ad + free * e1))
    s1 = slope(loss, m1) * signed_weight(state, j, y1)
    m2 += s1 * (y2 * (e2 * bc + free * e2))
    m3 += s1 * (y3 * (e3 * bd + free * e2))
    s2 = slope(loss, m2) * signed_weight(state, k, y2)
    m3 += s2 * (y3 * (e3 * cd + free * e3))
    s3 = slope(loss, m3) * signed_weight(state, m, y3)
    if literal:
        largest = abs(alpha) + max(abs(o0), abs(o1), abs(o2), abs(o3))
        nearest = min(abs(m0 - 1.0), abs(m1 - 1.0), abs(m2 - 1.0), abs(m3 - 1.0))
        if not nearest > bound + SUMMAND * largest:
            return False
        for q in range(w.shape[0]):  # `literal_step` of four rows
            v = w[q]
            v = v - e1 * (lam * v - s0 * np.float64(X[i, q]))
            v = v - e2 * (lam * v - s1 * np.float64(X[j, q]))
            v = v - e3 * (lam * v - s2 * np.float64(X[k, q]))
            w[q] = v - e4 * (lam * v - s3 * np.float64(X[m, q]))
    else:
        for q in range(w.shape[0]):
            two = s0 * np.float64(X[i, q]) + s1 * np.float64(X[j, q])
            w[q] += two + (s2 * np.float64(X[k, q]) + s3 * np.float64(X[m, q]))
        scalars[UNIT] = e4
    weights[i] += s0 * y0
    weights[j] += s1 * y1
    weights[k] += s2 * y2
    weights[m] += s3 * y3
    count = int(violated(loss, m0)) + int(violated(loss, m1))
    scalars[VIOLATIONS] += count + int(violated(loss, m2)) + int(violated(loss, m3))
    alpha = alpha + e1 * (free * s0)
    alpha = alpha + e2 * (free * s1)
    alpha = alpha + e3 * (free * s2)
    scalars[ALPHA] = alpha + e4 * (free * s3)
    scalars[STEPS] = t + 4.0
    return True


@inlined
def single_step(X: Dense, y: Signs, i: int, rule: StepRule, state: State) -> None:
    """Take a plain step at one row, as in `literal_epoch` or `scaled_epoch`."""
    scalars, w = state.scalars, state.w
    at = scalars[ALPHA] + offset_at(state.offset, i)
    m = y[i] * (scalars[UNIT] * row_dot(X, i, w) + at)
    s = weighted_slope(state, i, rule.loss, m)
    scalars[STEPS] += 1.0
    eta = 1.0 / (rule.lam * scalars[STEPS])
    if rule.fast:
        if scalars[STEPS] == 1.0:
            w[:] = 0.0
        row_add(X, i, s * y[i], w)
        scalars[UNIT] = eta
    else:
        literal_step(X[i], s * y[i], eta, rule.lam, w)
    state.weights[i] += s
    scalars[VIOLATIONS] += int(violated(rule.loss, m))
    if rule.intercept:
        scalars[ALPHA] += eta * (s * y[i])


@kernel
def block_epoch(
    X: Dense, y: Signs, rows: Integers, rule: StepRule, state: State
) -> None:
    """Take one plain step for each of ``rows``, four at a time.

    Plain steps visit one row, have the size ``1 / (lam t)``, and neither project nor
    average. In reference arithmetic (hinge loss only) `four_steps` determines ``m <
    1``, and the updates are those of `literal_epoch`. If a margin is within the
    rounding bound of 1, the rows of the block are visited one by one, so results are
    bitwise equal. In fast arithmetic ``w = lam t beta``.
    """
    scalars, visits = state.scalars, rows.shape[0]
    bound, bounded = 0.0, 0
    for first in range(0, visits, 4):
        last = min(first + 4, visits)
        if first >= bounded and not rule.fast:
            count = max(scalars[STEPS], 4.0)
            moved = count * scalars[HEAVIEST] / (rule.lam * (scalars[STEPS] + 1.0))
            bound = rounding_bound(state, moved, scalars[ALPHA])
            bounded = first + int(count) // 4 * 4
        done = False
        if last - first == 4 and scalars[STEPS] > 0.0:
            for k in range(first, last):
                prefetch_row(X, state.weights, rows, k)
            four = rows[first], rows[first + 1], rows[first + 2], rows[first + 3]
            done = four_steps(X, y, four, rule, bound, state)
        if not done:
            for k in range(first, last):
                single_step(X, y, rows[k], rule, state)


@kernel
def sparse_epoch(
    X: CSR, y: Signs, rows: Integers, rule: StepRule, state: State
) -> None:
    """Take one plain step of the hinge loss for each of the sparse ``rows``.

    For each row ``i``::

        m <- y_i * (unit * x_i'w + (alpha + offset_i))
        t <- t + 1,   unit <- 1 / (lam * t);  at t = 1:  w <- 0
        if m < 1:  w <- w + (w_i * y_i) * x_i
        if m < 1 and intercept:  alpha <- alpha + unit * (w_i * y_i)

    where ``w_i`` is the case weight. Results are bitwise those of `scaled_epoch`.
    """
    scalars, w, weights = state.scalars, state.w, state.weights
    t, alpha, unit = scalars[STEPS], scalars[ALPHA], scalars[UNIT]
    bound, violations = -math.inf if rule.fast else math.inf, 0.0
    for k in range(rows.shape[0]):
        i = rows[k]
        prefetch_row(X, weights, rows, k)
        at = alpha + offset_at(state.offset, i)
        m = margin(X, i, y[i], unit, w, at, bound)
        t += 1.0
        unit = 1.0 / (rule.lam * t)
        if t == 1.0:
            w[:], scalars[NORM2] = 0.0, 0.0
        if m < 1.0:
            s = weighted_slope(state, i, HINGE, m)
            violations += 1.0
            weights[i] += s
            row_add(X, i, s * y[i], w)
            if rule.intercept:
                alpha = alpha + unit * (s * y[i])
    scalars[STEPS], scalars[ALPHA], scalars[UNIT] = t, alpha, unit
    scalars[VIOLATIONS] += violations


def pegasos_epoch(
    X: Rows,
    y: Signs,
    rows: Integers,
    rule: StepRule,
    state: State,
    sizes: Vector | None = None,
) -> None:
    """Take Pegasos steps over ``rows``.

    At step ``t``, with the batch ``A`` of rows::

        eta   = 1 / (lam * t), or the next entry of ``sizes``
        beta  <- beta - eta * (lam * beta - (1/|A|) sum_A w_i s(m_i) y_i x_i)
        if intercept:  alpha <- alpha + eta * (1/|A|) sum_A w_i s(m_i) y_i
        if project:  beta <- min(1, (1 / sqrt(lam)) / ||beta||) * beta

    where ``s(m)`` is minus the derivative of the loss, ``w_i`` the case weight, and
    ``m_i = y_i (x_i'beta + (alpha + offset_i))`` the margin before the update.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p), C-contiguous; or CSR
    y : int8 array, shape (n,), of -1 and +1
        Other real types are allowed but slower.
    rows : int64 array, shape (m,), C-contiguous
        The rows to visit, counted from zero, in this order; each step takes the next
        ``batch_size`` rows, the last step the remaining ones.
    rule : StepRule
        The same in all calls on one state, except `average`.
    state : State
        From `start` or the last call; changed in place.
    sizes : float64 array, shape (steps,), optional
        Positive size of each step; in all calls on one state, or in none.
    """
    X, rows = read_only(X), read_only(rows)
    step_sizes = read_only(np.zeros(0) if sizes is None else sizes)
    size, is_hinge = rule.batch_size, rule.loss == HINGE
    is_plain = size == 1 and not (rule.project or rule.average or step_sizes.size)
    in_blocks = state.w.size >= LEAST_COLUMNS and (rule.fast or is_hinge)
    room = max(state.weights.size, size)
    if rows.size > room:
        room = room // size * size
    # The sum of averaged iterates is updated after every chunk.
    for first in range(0, max(rows.size, 1), room):
        part = rows[first : first + room]
        now = step_sizes[first // size : -(-(first + room) // size)]
        if isinstance(X, CSR) and is_plain and is_hinge:
            sparse_epoch(X, y, part, rule, state)
        elif is_plain and in_blocks and not isinstance(X, CSR):
            block_epoch(X, y, part, rule, state)
        elif isinstance(X, CSR) or rule.fast:
            scaled_epoch(X, y, part, rule, now, state)
        else:
            literal_epoch(X, y, part, rule, now, state)
