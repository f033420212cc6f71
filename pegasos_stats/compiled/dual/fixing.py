"""The hinge in one read of the rows, most of whose dual weights are fixed.

A row is fixed at the dual weight 0, at that of the row in the risk, or is kept. One
read gives the risk at a point, sums of the rows that are fixed at their full weight,
and the rows to keep from now on.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix
from pegasos_stats.compiled.arithmetic.compensated import two_sum
from pegasos_stats.compiled.arithmetic.lanes import Vector
from pegasos_stats.compiled.arithmetic.risk import HINGE, loss_value
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    offset_at,
    row_add,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import kernel

ZERO, FULL, KEPT = 0, 1, 2  # dual weight 0; that of the row; in memory
LOSS, LOSS_REST, EXPOSED, KNOWN, KNOWN_REST, KNOWN_SIZE, LOW, HIGH, SUMS = range(9)
VIOLATIONS, LOW_UNITS, HIGH_UNITS, COUNTS = 6, 7, 8, 9  # after a table of six counts


@kernel
def screen_rows(
    X: Rows,
    y: Vector,
    weights: Vector,
    offset: Vector,
    w: Vector,
    alpha: float,
    reach: float,
    delta: float,
    unit: float,
    block: int,
    state: NDArray[np.int8],
    joined: NDArray[np.int64],
    began: Vector,
    parts: Matrix,
    images: Matrix,
    sums: Vector,
    counts: NDArray[np.int64],
) -> int:
    """Look at all rows, fix them or change what is fixed, and sum.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p)
    y, weights : float64 array, shape (n,)
    offset : float64 array, shape (n,) or (0,)
    w : float64 array, shape (padded(p),)
    alpha : float
    reach : float
        How far rounding may move a margin.
    delta : float
        At the first read, how far from 1 the margins of rows are that are kept; later,
        when rows are kept that were fixed on the wrong side, below 0.
    unit : float
        Of which full weights are cut to whole multiples.
    block : int
        Rows that are summed by themselves.
    state : int8 array, shape (n,)
        `ZERO`, `FULL` or `KEPT` of each row; changed in place.
    joined : int64 array, shape (n,)
        Its first entries receive the rows to keep from now on.
    began : float64 array, shape (n,)
        Receives the dual weights that these had.
    parts, images : float64 array, shape (2, padded(p)), of zeros
        The second receives ``sum_i a_i x_i`` of the rows fixed, of -1 and of +1.
    sums : float64 array, shape (8,), of zeros
        Receives ``LOSS`` ``sum_i w_i max(0, 1 - m_i)`` and what rounding left out of
        it; ``EXPOSED`` weights of the rows with a margin below ``1 + reach``; of the
        rows fixed ``KNOWN`` ``sum_i a_i y_i offset_i`` and what rounding left out of
        it, ``KNOWN_SIZE`` ``sum_i |a_i offset_i|``, and ``sum_i a_i offset_i`` of those
        of -1 and of +1.
    counts : int64 array, shape (9,), of zeros
        Receives rows by label and sign of the score (-1, +1, none); ``VIOLATIONS`` rows
        with a margin below 1; ``sum_i a_i`` of the rows fixed in each class, in units.

    Returns
    -------
    int
        Number of rows to keep from now on.
    """
    n, count = y.shape[0], 0
    total = total_rest = exposed = known = known_rest = 0.0
    for first in range(0, n, block):
        for i in range(first, min(n, first + block)):
            at = offset_at(offset, i)
            f = row_dot_fast(X, i, w) + (alpha + at)
            m, v = y[i] * f, weights[i]
            total, left = two_sum(total, v * loss_value(HINGE, m))
            total_rest += left
            if not m >= 1.0 + reach:
                exposed += v
            side = 1 if y[i] > 0.0 else 0
            column = 0 if f < 0.0 else (1 if f > 0.0 else 2)
            counts[3 * side + column] += 1
            counts[VIOLATIONS] += 1 if m < 1.0 else 0
            if delta >= 0.0:
                before = FULL if m < 1.0 - delta else ZERO
                joins = abs(m - 1.0) <= delta
            else:
                before = state[i]
                joins = (before == FULL and m > 1.0) or (before == ZERO and m < 1.0)
            state[i] = KEPT if joins else before
            if before != FULL and not joins:
                continue
            units = math.floor(v / unit)
            a = units * unit
            if joins:
                joined[count] = i
                began[count] = a if before == FULL else 0.0
                count += 1
                continue
            counts[LOW_UNITS + side] += int(units)
            if at != 0.0:
                known, left = two_sum(known, a * y[i] * at)
                known_rest += left
                sums[KNOWN_SIZE] += a * abs(at)
                sums[LOW + side] += a * at
            row_add(X, i, a, parts[side])
        for side in range(2):
            for j in range(images.shape[1]):
                images[side, j] += parts[side, j]
                parts[side, j] = 0.0
    sums[LOSS], sums[LOSS_REST], sums[EXPOSED] = total, total_rest, exposed
    sums[KNOWN], sums[KNOWN_REST] = known, known_rest
    return count
