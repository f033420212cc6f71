"""Pegasos in the v form, for dense or sparse rows, with every option.

With steps ``1 / (lam t)`` the vector ``v = lam t beta`` is the sum of the
slope-weighted ``y x`` of all steps, so a step touches the entries of its rows alone.
Projection multiplies ``v`` by a number, which is kept apart: ``v = scale * w``. This is
the reference arithmetic of sparse rows (``exact``) and the fast one of all rows.
"""

import math

from pegasos_stats.compiled.arithmetic.lanes import Integers, Signs, Vector
from pegasos_stats.compiled.arithmetic.risk import violated
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    offset_at,
    prefetch_row,
    row_add,
    row_dot,
    row_dot_fast,
    row_norm2,
)
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.pegasos.pegasos_literal import (
    ALPHA,
    ALPHA_TOTAL,
    AVERAGED,
    KEPT,
    LENGTH,
    NORM2,
    RADIUS,
    SCALE,
    STEPS,
    UNDERFLOW,
    UNIT,
    VIOLATIONS,
    WEIGHT_SCALE,
    State,
    keep_weights,
    shrink,
    weighted_slope,
)

AHEAD = 8  # visits between the prefetch of a row and its use

CANCELLATION = 2.0**-10  # the least scale with a lagged average: it costs ten bits

LEAST_SCALE = 2.0**-200  # below it the square of ||v|| / scale might overflow


@inlined
def project_unit(lam: float, state: State) -> None:
    """``unit <- min(1, (1 / sqrt(lam)) / (|unit| * sqrt(norm2))) * unit``."""
    scalars = state.scalars
    limit = 1.0 / math.sqrt(lam)
    if scalars[NORM2] > 0.0 and abs(scalars[UNIT]) * math.sqrt(scalars[NORM2]) > limit:
        f = limit / (abs(scalars[UNIT]) * math.sqrt(scalars[NORM2]))
        scalars[UNIT] = f * scalars[UNIT]
        scalars[KEPT] = shrink(state.weights, scalars[KEPT], f, UNDERFLOW)


@kernel
def stepped_epoch(
    X: Rows,
    y: Signs,
    rows: Integers,
    lam: float,
    loss: int,
    batch_size: int,
    intercept: bool,
    project: bool,
    average: bool,
    exact: bool,
    sizes: Vector,
    state: State,
) -> None:
    """Take one step for each batch ``A`` of consecutive ``rows``.

    In this order of operations::

        m_i  <- y_i * (unit * x_i'w + (alpha + offset_i))  for i in A, before the update
        t    <- t + 1,   eta <- the next one of ``sizes``
        unit <- (1 - eta * lam) * unit
        for i in A, in order, where s(m_i) is not 0:
            d <- ((s(m_i) / |A|) * y_i) / (unit / eta)
            if project:  norm2 <- norm2 + d * (2 * x_i'w + d * ||x_i||^2)
            if average:  lag   <- lag + (pull * d) * x_i
            w <- w + d * x_i
        alpha <- alpha + eta * (h / |A|),   h = sum of s(m_i) * y_i in order
        if project and norm2 > 0 and |unit| * sqrt(norm2) > 1 / sqrt(lam):
            unit <- ((1 / sqrt(lam)) / (|unit| * sqrt(norm2))) * unit
        if average:  pull <- pull + unit,  alpha_total <- alpha_total + alpha

    ``beta = unit * w``. The sum of the averaged iterates is ``pull * w - lag``; it is
    added to ``total``, and ``lag`` and ``pull`` return to 0, at the end of every call
    and before ``w`` is multiplied by ``unit`` and ``unit`` set to 1: where a step makes
    it smaller than 2^-10 (average) or 2^-200 (none), whatever its sign.
    """
    scalars, visits = state.scalars, rows.shape[0]
    alpha, pull = scalars[ALPHA], 0.0
    floor = CANCELLATION if average else LEAST_SCALE
    if average:
        state.work[:] = 0.0
    for first in range(0, visits, batch_size):
        last, eta = min(first + batch_size, visits), sizes[first // batch_size]
        see_batch(X, y, rows, first, last, scalars[UNIT], alpha, loss, exact, state)
        scalars[STEPS] += 1.0
        keep_weights(eta * lam, state)
        scalars[UNIT] = (1.0 - eta * lam) * scalars[UNIT]
        if abs(scalars[UNIT]) < floor:
            if average:
                settle(pull, state)
                pull = 0.0
            absorb(UNIT, state)
        scalars[SCALE] = scalars[UNIT] / eta
        h = add_batch(X, y, rows, first, last, pull, project, average, exact, state)
        if intercept:
            alpha = alpha + eta * (h / (last - first))
        if project:
            project_unit(lam, state)
        if average:
            pull += scalars[UNIT]
            scalars[ALPHA_TOTAL] += alpha
            scalars[AVERAGED] += 1.0
    if average:
        settle(pull, state)
    scalars[ALPHA] = alpha


@inlined
def dot(X: Rows, i: int, w: Vector, exact: bool) -> float:
    """``x_i'w``, from the first entry to the last if ``exact``."""
    return row_dot(X, i, w) if exact else row_dot_fast(X, i, w)


@inlined
def rounding_bound(state: State, lam: float, alpha: float, count: int) -> float:
    """Bound the rounding of any margin near 1 in the next ``count`` plain steps.

    Let ``u = 2^-53`` and ``R`` the largest ``||x_i||``. Step ``t`` makes ``beta``
    the mean of ``t - 1`` times the last one and at most one row over ``lam``, so it is
    never longer than ``R / lam`` or the one that the run began with. Two ways of
    summing ``x'beta`` differ by at most ``2 p u R ||beta||`` and some, and adding
    ``alpha`` rounds ``u (1 + 2 |alpha|)`` off. The bound is twice the sum.
    """
    eta = 1.0 / (lam * (state.scalars[STEPS] + 1.0))
    radius = state.scalars[RADIUS]
    longest = max(radius / lam, state.scalars[LENGTH])
    products = (state.w.shape[0] + 32.0) * radius * longest
    error: float = 2.0**-51 * (products + 8.0 * (1.0 + abs(alpha) + count * eta))
    return error


@inlined
def plain_margin(
    X: Rows, i: int, y: float, w: Vector, unit: float, alpha: float, bound: float
) -> float:
    """``y (unit x_i'w + alpha)``, summed from first to last within `bound` of 1."""
    m = y * (unit * row_dot_fast(X, i, w) + alpha)
    if abs(m - 1.0) > bound:
        return m
    return y * (unit * row_dot(X, i, w) + alpha)


@kernel
def plain_scaled_epoch(
    X: Rows,
    y: Signs,
    rows: Integers,
    lam: float,
    intercept: bool,
    exact: bool,
    state: State,
) -> None:
    """Take plain steps: hinge loss, a row a step, no projection, no average.

    For each row ``i`` of ``rows``::

        m <- y_i * (unit * x_i'w + alpha)
        t <- t + 1,   unit <- 1 / (lam * t)
        if m < 1:  w <- w + y_i * x_i,   alpha <- alpha + unit * y_i

    Every bit is that of ``scaled_epoch`` on the same rows: a margin enters only
    through ``m < 1``, so the sum may run in any order where it is not near 1.
    """
    scalars, w, weights = state.scalars, state.w, state.weights
    t, alpha, unit = scalars[STEPS], scalars[ALPHA], scalars[UNIT]
    violations = 0.0
    visits = rows.shape[0]
    bound = rounding_bound(state, lam, alpha, visits) if exact else -1.0
    for k in range(visits):
        i = rows[k]
        prefetch_row(X, rows[min(k + AHEAD, visits - 1)])
        m = plain_margin(X, i, y[i], w, unit, alpha, bound)
        t += 1.0
        unit = 1.0 / (lam * t)
        if m < 1.0:
            row_add(X, i, y[i], w)
            weights[i] += 1.0
            violations += 1.0
            if intercept:
                alpha += unit * y[i]
    scalars[STEPS], scalars[ALPHA], scalars[UNIT] = t, alpha, unit
    scalars[VIOLATIONS] += violations


@inlined
def see_batch(
    X: Rows,
    y: Signs,
    rows: Integers,
    first: int,
    last: int,
    unit: float,
    alpha: float,
    loss: int,
    exact: bool,
    state: State,
) -> None:
    """Put ``s(m_i)``, weights of the rows included, in ``slopes``.

    That of the visits ``first`` to ``last - 1``.
    """
    for k in range(first, last):
        i = rows[k]
        prefetch_row(X, rows[min(k + AHEAD, rows.shape[0] - 1)])
        at = alpha + offset_at(state.offset, i)
        m = y[i] * (unit * dot(X, i, state.w, exact) + at)
        state.scalars[VIOLATIONS] += 1.0 if violated(loss, m) else 0.0
        state.slopes[k] = weighted_slope(state, i, loss, m)


@inlined
def add_batch(
    X: Rows,
    y: Signs,
    rows: Integers,
    first: int,
    last: int,
    pull: float,
    project: bool,
    average: bool,
    exact: bool,
    state: State,
) -> float:
    """Add the rows of a batch to ``w``; return ``h``, the sum of ``s(m_i) y_i``."""
    scalars, w, slopes = state.scalars, state.w, state.slopes
    h = 0.0
    for k in range(first, last):
        if slopes[k] == 0.0:
            continue
        i = rows[k]
        h += slopes[k] * y[i]
        share = slopes[k] / (last - first)
        d = share * y[i] / scalars[SCALE]
        state.weights[i] += share / scalars[WEIGHT_SCALE]
        if project:
            inner = dot(X, i, w, exact)
            scalars[NORM2] += d * (2.0 * inner + d * row_norm2(X, i))
        if average:
            row_add(X, i, pull * d, state.work)
        row_add(X, i, d, w)
    return h


@inlined
def project_scale(lam: float, state: State) -> None:
    """``scale <- min(1, (1 / sqrt(lam)) / (unit * sqrt(norm2))) * scale``."""
    scalars = state.scalars
    limit = 1.0 / math.sqrt(lam)
    unit = scalars[SCALE] / (lam * scalars[STEPS])
    if scalars[NORM2] > 0.0 and unit * math.sqrt(scalars[NORM2]) > limit:
        f = limit / (unit * math.sqrt(scalars[NORM2]))
        scalars[SCALE] = f * scalars[SCALE]
        weight_scale = scalars[WEIGHT_SCALE]
        scalars[WEIGHT_SCALE] = shrink(state.weights, weight_scale, f, UNDERFLOW)


@inlined
def settle(pull: float, state: State) -> None:
    """``total <- total + (pull * w - lag)``, ``lag <- 0``."""
    total, w, lag = state.total, state.w, state.work
    for j in range(w.shape[0]):
        total[j] = total[j] + (pull * w[j] - lag[j])
        lag[j] = 0.0


@inlined
def absorb(factor: int, state: State) -> None:
    """``w <- w * f``, ``norm2 <- norm2 * (f * f)``, ``f <- 1`` for a factor of w."""
    f = state.scalars[factor]
    for j in range(state.w.shape[0]):
        state.w[j] *= f
    state.scalars[NORM2] *= f * f
    state.scalars[factor] = 1.0


@kernel
def scaled_epoch(
    X: Rows,
    y: Signs,
    rows: Integers,
    lam: float,
    loss: int,
    batch_size: int,
    intercept: bool,
    project: bool,
    average: bool,
    exact: bool,
    state: State,
) -> None:
    """Take one step for each batch ``A`` of consecutive ``rows``.

    In this order of operations::

        m_i  <- y_i * (unit * x_i'w + (alpha + offset_i))  for i in A, before the update
        t    <- t + 1;  at t = 1:  w <- 0
        for i in A, in order, where s(m_i) is not 0:
            d <- ((s(m_i) / |A|) * y_i) / scale
            if project:  norm2 <- norm2 + d * (2 * x_i'w + d * ||x_i||^2)
            if average:  lag   <- lag + (pull * d) * x_i
            w <- w + d * x_i
        alpha <- alpha + (1 / (lam * t)) * (h / |A|),   h = sum of s(m_i) * y_i in order
        unit  <- scale / (lam * t)
        if project and norm2 > 0 and unit * sqrt(norm2) > 1 / sqrt(lam):
            f     <- (1 / sqrt(lam)) / (unit * sqrt(norm2))
            scale <- f * scale,   unit <- scale / (lam * t)
        if average:  pull <- pull + unit,  alpha_total <- alpha_total + alpha

    ``beta = unit * w``, with ``unit = 1`` before the first step. The sum of the
    averaged iterates is ``pull * w - lag``; it is added to ``total``, and ``lag`` and
    ``pull`` return to 0, at the end of every call and whenever ``scale`` is multiplied
    into ``w``: when, after a step, ``scale`` is below 2^-10 (average) or 2^-200 (none),
    ``norm2 <- norm2 * (scale * scale)``, ``w <- w * scale``, ``scale <- 1``,
    ``unit <- 1 / (lam * t)``.
    """
    scalars, visits = state.scalars, rows.shape[0]
    alpha = scalars[ALPHA]
    unit = scalars[UNIT]
    floor = CANCELLATION if average else LEAST_SCALE
    pull = 0.0
    if average:
        state.work[:] = 0.0
    for first in range(0, visits, batch_size):
        last = min(first + batch_size, visits)
        see_batch(X, y, rows, first, last, unit, alpha, loss, exact, state)
        if scalars[STEPS] == 0.0:
            state.w[:] = 0.0
            scalars[NORM2] = 0.0
        h = add_batch(X, y, rows, first, last, pull, project, average, exact, state)
        scalars[STEPS] += 1.0
        if intercept:
            alpha = alpha + 1.0 / (lam * scalars[STEPS]) * (h / (last - first))
        if project:
            project_scale(lam, state)
        unit = scalars[SCALE] / (lam * scalars[STEPS])
        if average:
            pull += unit
            scalars[ALPHA_TOTAL] += alpha
            scalars[AVERAGED] += 1.0
        if scalars[SCALE] < floor:
            if average:
                settle(pull, state)
                pull = 0.0
            absorb(SCALE, state)
            unit = 1.0 / (lam * scalars[STEPS])
    if average:
        settle(pull, state)
    scalars[ALPHA], scalars[UNIT] = alpha, unit
