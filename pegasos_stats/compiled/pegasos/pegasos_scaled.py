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
    NORM2,
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


@inlined
def dot(X: Rows, i: int, w: Vector, exact: bool) -> float:
    """``x_i'w``, from the first entry to the last if ``exact``."""
    return row_dot(X, i, w) if exact else row_dot_fast(X, i, w)


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
def absorb(factor: int, pull: float, average: bool, state: State) -> float:
    """``w <- w * f``, ``norm2 <- norm2 * (f * f)``, ``f <- 1`` for a factor of w.

    Iterates so far are added to ``total`` before; returns the ``pull`` that is left.
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

    With ``sizes`` of steps ``eta`` it is, before the rows of a batch are added and in
    the place of the line at ``t = 1``::

        unit  <- (1 - eta * lam) * unit
        scale <- unit / eta

    with ``eta`` in the place of ``1 / (lam * t)`` for ``alpha``; ``unit`` is then what
    projection multiplies, and what is multiplied into ``w``, before ``scale`` is
    computed: where a step makes it smaller than the same limits, whatever its sign.
    """
    scalars, visits, any_size = state.scalars, rows.shape[0], sizes.shape[0] > 0
    alpha, pull = scalars[ALPHA], 0.0
    floor = CANCELLATION if average else LEAST_SCALE
    if average:
        state.work[:] = 0.0
    for first in range(0, visits, batch_size):
        last = min(first + batch_size, visits)
        see_batch(X, y, rows, first, last, scalars[UNIT], alpha, loss, exact, state)
        scalars[STEPS] += 1.0
        eta = 1.0 / (lam * scalars[STEPS])
        if any_size:
            eta = sizes[first // batch_size]
            keep_weights(eta * lam, state)
            scalars[UNIT] = (1.0 - eta * lam) * scalars[UNIT]
            if abs(scalars[UNIT]) < floor:
                pull = absorb(UNIT, pull, average, state)
            scalars[SCALE] = scalars[UNIT] / eta
        elif scalars[STEPS] == 1.0:
            state.w[:] = 0.0
            scalars[NORM2] = 0.0
        h = add_batch(X, y, rows, first, last, pull, project, average, exact, state)
        if intercept:
            alpha = alpha + eta * (h / (last - first))
        if project and any_size:
            project_unit(lam, state)
        elif project:
            project_scale(lam, state)
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
