"""Passes over dual weights, without intercept: of the hinge, those that may still move.

A weight at an end of its range, whose margin is further on the right side of 1 than any
was on the wrong side in the last pass, is left out of the passes that follow, until the
others are solved. Then all rows are looked at, and the passes begin anew with all of
them and a smaller goal.

References
----------
Hsieh, Chang, Lin, Keerthi & Sundararajan, *A dual coordinate descent method for
large-scale linear SVM*, ICML (2008), algorithm 3.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.lanes import Signs, Vector
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    prefetch_row,
    row_add,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.dual.sdca import (
    STEPS,
    VIOLATIONS,
    DualState,
    coordinate_epoch,
)

AHEAD = 4  # visits between the prefetch of a row and its use
FACTOR, SUMMAND, MASK = 1664525, 1013904223, 2**32 - 1  # of a congruential generator

COUNT, ABOVE, BELOW, SEED = range(4)


def passes(n: int, seed: int) -> Vector:
    """Numbers that `shrunk_passes` keeps; no row is left out."""
    return np.array([n, math.inf, -math.inf, seed & MASK])


@inlined
def shuffle(rows: NDArray[np.int64], count: int, seed: int) -> int:
    """Bring the first ``count`` rows to a random order; return the next seed."""
    for k in range(count - 1, 0, -1):
        seed = (seed * FACTOR + SUMMAND) & MASK
        j = (seed * (k + 1)) >> 32
        rows[k], rows[j] = rows[j], rows[k]
    return seed


@kernel
def shrunk_passes(
    X: Rows,
    y: Vector,
    rows: NDArray[np.int64],
    lam: float,
    visits: float,
    goal: float,
    state: DualState,
    numbers: Vector,
) -> bool:
    """Visit rows until no slope of the dual is steeper, or so many were visited.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    y : float64 array, shape (n,)
    rows : int64 array, shape (n,)
        All rows; those that may move come first. Changed in place.
    lam, visits : float
    goal : float
        Largest difference of two slopes of weights that may move, ``1 - m_i``.
    state : DualState
        Changed in place; of the hinge, without offset.
    numbers : float64 array, shape (4,)
        From `passes`. Where the goal is reached, all rows may move again.

    Returns
    -------
    bool
        Whether the goal was reached.
    """
    w, a, norm2, weights = state.w, state.a, state.norm2, state.weights
    n = y.shape[0]
    scale, left, violations = lam * n, visits, 0.0
    count, seed = int(numbers[COUNT]), int(numbers[SEED])
    above, below, solved = numbers[ABOVE], numbers[BELOW], False
    while left > 0.0 and not solved:
        seed = shuffle(rows, count, seed)
        highest, lowest = -math.inf, math.inf
        left -= count
        state.scalars[STEPS] += count
        k = 0
        while k < count:
            i = rows[k]
            prefetch_row(X, rows[min(k + AHEAD, count - 1)])
            slope = y[i] * row_dot_fast(X, i, w) - 1.0
            violations += 1.0 if slope < 0.0 else 0.0
            at, most = a[i], weights[i]
            if (at <= 0.0 and slope > above) or (at >= most and slope < below):
                count -= 1
                rows[k], rows[count] = rows[count], i
                continue
            k += 1
            free = slope
            if at <= 0.0:
                free = min(free, 0.0)
            if at >= most:
                free = max(free, 0.0)
            highest, lowest = max(highest, free), min(lowest, free)
            if free != 0.0:
                new = most
                if norm2[i] > 0.0:
                    new = min(most, max(0.0, at - scale * slope / norm2[i]))
                a[i] = new
                d = (new - at) * y[i] / scale
                if d != 0.0:
                    row_add(X, i, d, w)
        above = highest if highest > 0.0 else math.inf
        below = lowest if lowest < 0.0 else -math.inf
        solved = count == 0 or highest - lowest <= goal
    if solved:
        count, above, below = n, math.inf, -math.inf
    numbers[COUNT], numbers[SEED] = count, seed
    numbers[ABOVE], numbers[BELOW] = above, below
    state.scalars[VIOLATIONS] += violations
    return solved


@kernel
def whole_passes(
    X: Rows,
    y: Signs,
    rows: NDArray[np.int64],
    lam: float,
    loss: int,
    count: int,
    numbers: Vector,
    state: DualState,
) -> None:
    """Visit all rows ``count`` times, each time in a new order.

    The steps are those of ``sdca.coordinate_epoch`` without intercept; the order is of
    the kind of `shrunk_passes`, with its seed in ``numbers``.
    """
    seed = int(numbers[SEED])
    for _ in range(count):
        seed = shuffle(rows, rows.shape[0], seed)
        coordinate_epoch(X, y, rows, lam, loss, 0.0, True, 0.0, state)
    numbers[SEED] = seed
