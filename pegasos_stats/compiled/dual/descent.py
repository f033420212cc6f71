"""The log loss in one read of the rows: risk, dual weights and their image.

Rows are taken a block at a time, which stays in the cache between their scores and
their image.
"""

from pegasos_stats.compiled.arithmetic.blocks import add_block
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Vector,
    below,
    lane,
    lanes,
    load_part,
    store,
    total,
)
from pegasos_stats.compiled.arithmetic.log_lanes import log_losses
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    offset_at,
    prefetch_row,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import kernel

RISK, BALANCE, ERRORS = range(3)


@kernel
def look(
    X: Rows,
    y: Vector,
    weights: Vector,
    offset: Vector,
    w: Vector,
    alpha: float,
    block: int,
    a: Vector,
    image: Vector,
    sums: Vector,
) -> None:
    """Put dual weights, their image and three sums, at coefficients and an intercept.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    y, weights : float64 array, shape (n,)
    offset : float64 array, shape (n,) or (0,)
    w : float64 array, shape (padded(p),)
    alpha : float
    block : int
        Rows that are looked at together.
    a : float64 array, shape (n,)
        Receives ``w_i / (1 + exp(m_i))``.
    image : float64 array, shape (padded(p),)
        Receives ``sum_i a_i y_i x_i``.
    sums : float64 array, shape (3,)
        Receives ``RISK`` ``sum w_i log(1 + exp(-m_i))``, ``BALANCE`` ``sum a_i y_i``,
        and ``ERRORS``, rows with ``m_i < 0``.
    """
    n = y.shape[0]
    risk = balance = errors = lanes(0.0, 0.0, 0.0, 0.0)
    image[:] = 0.0
    for first in range(0, n, block):
        stop = min(n, first + block)
        for i in range(first, stop):
            prefetch_row(X, min(n - 1, i + block))
            a[i] = y[i] * (row_dot_fast(X, i, w) + (alpha + offset_at(offset, i)))
        for i in range(first, stop, LANES):
            count = min(LANES, stop - i)
            m, u = load_part(a, i, count), load_part(weights, i, count)
            loss, slope = log_losses(m)
            slope = u * slope
            risk = risk + u * loss
            errors = errors + below(m, 0.0)
            balance = balance + slope * load_part(y, i, count)
            if count == LANES:
                store(a, i, slope)
            else:
                for j in range(count):
                    a[i + j] = lane(slope, j)
        add_block(X, first, stop, a, y, image)
    sums[RISK], sums[BALANCE], sums[ERRORS] = total(risk), total(balance), total(errors)
