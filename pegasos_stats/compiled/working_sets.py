"""SMO on a working set: all rows, or some rows of a kernel problem.

For a kernel problem the dual weights of a few hundred rows change, while the others are
fixed. The Gram matrix of the working set stays in the cache of the processor; the
scores of all rows are updated after the steps. Maxima over rows are computed in pieces
of `PIECE` rows, with vector instructions; then the position is located within the piece
with the largest maximum.

References
----------
Joachims, *Making large-scale SVM learning practical* (1999). Fan, Chen & Lin, *Working
set selection using second order information for training support vector machines*, JMLR
6 (2005), WSS 2.
"""

import math
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.compiled.compiling import inlined, kernel

PIECE = 64  # rows per piece
# Minimum squared distance of two rows, relative to their squared norms.
LEAST_DISTANCE = 1e-12
EXTREMES = {"nnan", "nsz", "contract"}  # maxima in any order


class WorkingSet(NamedTuple):
    """Rows of the working set, padded to whole pieces with rows that cannot move.

    Attributes
    ----------
    K : float64 array, shape (m, m)
        Their Gram matrix.
    diagonal, y, w, a : float64 array, shape (m,)
        Its diagonal, labels, weights of the rows, dual weights.
    slope : float64 array, shape (m,)
        ``y_i - scores_i``.
    rise, fall : float64 array, shape (m,)
        0 if ``a_i y_i`` may rise, else minus infinity; 0 if it may fall, else infinity.
    gains : float64 array, shape (m,)
    tops : float64 array, shape (m / PIECE,)
        Arrays that `pair_steps` uses as work space.
    """

    K: Matrix
    diagonal: Vector
    y: Vector
    w: Vector
    a: Vector
    slope: Vector
    rise: Vector
    fall: Vector
    gains: Vector
    tops: Vector


@inlined
def may_rise(a: float, y: float, w: float) -> bool:
    """Whether ``a y`` can increase."""
    return a < w if y > 0.0 else a > 0.0


@inlined
def may_fall(a: float, y: float, w: float) -> bool:
    """Whether ``a y`` can decrease."""
    return a > 0.0 if y > 0.0 else a < w


@inlined
def room(a: float, y: float, w: float) -> float:
    """Maximum increase of ``a y``."""
    return w - a if y > 0.0 else a


@inlined
def bounded(a: float, w: float, reached: bool, direction: float) -> float:
    """Clip ``a`` to [0, w]; exactly the bound if the step reaches it."""
    if reached:
        return w if direction > 0.0 else 0.0
    return min(w, max(0.0, a))


def working_set(
    rows: Iterable[Vector],
    y: Vector,
    w: Vector,
    a: Vector,
    slope: Vector,
    intercept: bool,
) -> WorkingSet:
    """Copy rows into a working set.

    Without an intercept a row of zeros is added, whose dual weight may always change: a
    step on a pair with this row changes the dual weight of one row only.

    Parameters
    ----------
    rows : iterable of arrays, shape (size,)
        Rows of their Gram matrix.
    y, w, a, slope : float64 array, shape (size,)
        As in a `WorkingSet`.
    intercept : bool
        Whether ``sum_i a_i y_i`` is constant.
    """
    size = y.size
    m = -(-(size + (not intercept)) // PIECE) * PIECE
    K, vectors = np.zeros((m, m)), np.zeros((8, m))
    for k, row in enumerate(rows):
        K[k, :size] = row
    values = K.diagonal()[:size], y, w, a, slope
    for vector, column in zip(vectors, values, strict=False):
        vector[:size] = column
    if not intercept:
        vectors[1:4, -1] = 1.0, math.inf, 1e300  # y, w, a: no step reaches a bound
    tops = np.zeros(m // PIECE)
    return WorkingSet(K, *[*vectors, tops])


@inlined
def note_room(rows: WorkingSet, i: int) -> None:
    """Update the directions in which row ``i`` may move."""
    a, y, w = rows.a[i], rows.y[i], rows.w[i]
    rows.rise[i] = 0.0 if may_rise(a, y, w) else -math.inf
    rows.fall[i] = 0.0 if may_fall(a, y, w) else math.inf


@partial(kernel, fastmath=EXTREMES)
def pair_steps(rows: WorkingSet, scale: float, least: float, most: int) -> int:
    """Take steps on pairs of rows; return their number.

    Parameters
    ----------
    rows : WorkingSet
        Its `a` and `slope` are changed in place.
    scale : float
        ``lam n``.
    least : float
        Stop when the largest slope of rows that may rise exceeds the smallest slope of
        rows that may fall by at most this.
    most : int
        Maximum number of steps.
    """
    m, slope, rise, fall = rows.y.shape[0], rows.slope, rows.rise, rows.fall
    gains, tops, diagonal = rows.gains, rows.tops, rows.diagonal
    for i in range(m):
        note_room(rows, i)
    for c in range(tops.shape[0]):
        tops[c] = -math.inf
        for k in range(c * PIECE, (c + 1) * PIECE):
            tops[c] = max(tops[c], slope[k] + rise[k])
    for count in range(most):
        i, highest = -1, -math.inf
        for c in range(tops.shape[0]):
            highest = max(highest, tops[c])
        if highest == -math.inf:
            return count
        for c in range(tops.shape[0]):
            if tops[c] == highest:
                for k in range(c * PIECE, (c + 1) * PIECE):
                    if slope[k] + rise[k] == highest:
                        i = k
                        break
                break
        row, square, furthest, best, piece = rows.K[i], diagonal[i], 0.0, 0.0, -1
        for c in range(tops.shape[0]):
            top = widest = 0.0
            for k in range(c * PIECE, (c + 1) * PIECE):
                difference = highest - slope[k] - fall[k]
                difference = difference if difference > 0.0 else 0.0
                both = square + diagonal[k]
                distance = both - 2.0 * row[k]
                closest = LEAST_DISTANCE * both + 1e-300
                distance = distance if distance > closest else closest
                gain = difference * difference / distance
                gains[k] = gain
                top = gain if gain > top else top
                widest = difference if difference > widest else widest
            furthest = widest if widest > furthest else furthest
            if top > best:
                best, piece = top, c
        if furthest <= least or piece < 0:
            return count
        j = -1
        for k in range(piece * PIECE, (piece + 1) * PIECE):
            if gains[k] == best:
                j = k
                break
        both = square + diagonal[j]
        distance = max(both - 2.0 * row[j], LEAST_DISTANCE * both)
        difference = slope[i] - slope[j]
        up = room(rows.a[i], rows.y[i], rows.w[i])
        down = room(rows.a[j], -rows.y[j], rows.w[j])
        d = min(up, down)
        if distance * d > scale * difference:
            d = scale * difference / distance
        rows.a[i] = bounded(rows.a[i] + rows.y[i] * d, rows.w[i], d == up, rows.y[i])
        rows.a[j] = bounded(rows.a[j] - rows.y[j] * d, rows.w[j], d == down, -rows.y[j])
        note_room(rows, i)
        note_room(rows, j)
        step, other = d / scale, rows.K[j]
        for c in range(tops.shape[0]):
            top = -math.inf
            for k in range(c * PIECE, (c + 1) * PIECE):
                new = slope[k] - step * (row[k] - other[k])
                slope[k] = new
                new += rise[k]
                top = new if new > top else top
            tops[c] = top
    return most
