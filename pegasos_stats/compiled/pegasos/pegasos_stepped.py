"""Pegasos with steps of any size, for sparse rows and for sums in any order.

``beta = unit * w``: a step of size ``eta`` multiplies ``unit`` by ``1 - eta lam`` and
touches the entries of its rows alone. This is the reference arithmetic of sparse rows
(``exact``) and the fast one of all rows; average and projection as in the v form.
"""

import math

from pegasos_stats.compiled.arithmetic.lanes import Integers, Signs, Vector
from pegasos_stats.compiled.arithmetic.rows import Rows
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.pegasos.pegasos_literal import (
    UNDERFLOW,
    keep_weights,
    shrink,
)
from pegasos_stats.compiled.pegasos.pegasos_scaled import (
    CANCELLATION,
    LEAST_SCALE,
    absorb,
    add_batch,
    see_batch,
    settle,
)
from pegasos_stats.compiled.pegasos.pegasos_state import (
    ALPHA,
    ALPHA_TOTAL,
    AVERAGED,
    KEPT,
    NORM2,
    SCALE,
    STEPS,
    UNIT,
    State,
)


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
