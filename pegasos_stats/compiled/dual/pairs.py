"""Steps on pairs of dual weights, from the Gram matrix: for few rows and many columns.

Without intercept a step moves one weight, the one that raises the dual most.

A pair moves along ``a_i + y_i d, a_j - y_j d``, which leaves ``sum_i a_i y_i`` as it
is, to where it maximises the dual of the hinge. The first of the pair has the steepest
slope; the second promises the largest gain, to second order. With the scores kept a
step costs two passes over ``n`` numbers, whatever the number of columns.

References
----------
Platt, *Fast training of support vector machines using sequential minimal optimization*
(1999). Fan, Chen & Lin, *Working set selection using second order information for
training support vector machines*, JMLR 6 (2005), WSS 2.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.lanes import Vector
from pegasos_stats.compiled.compiling import inlined, kernel

FLAT = 1e-12  # of the squared norms: a pair of rows that are the same


@inlined
def may_rise(a: float, y: float, w: float) -> bool:
    """Whether ``a y`` can grow."""
    return a < w if y > 0.0 else a > 0.0


@inlined
def may_fall(a: float, y: float, w: float) -> bool:
    """Whether ``a y`` can fall."""
    return a > 0.0 if y > 0.0 else a < w


@kernel
def steepest(y: Vector, weights: Vector, a: Vector, scores: Vector) -> int:
    """Return the row with the largest ``y_i - scores_i`` of those that may rise."""
    best, found = -math.inf, -1
    for i in range(y.shape[0]):
        if y[i] - scores[i] > best and may_rise(a[i], y[i], weights[i]):
            best, found = y[i] - scores[i], i
    return found


@kernel
def partner(
    K: NDArray[np.float64],
    i: int,
    y: Vector,
    weights: Vector,
    a: Vector,
    scores: Vector,
) -> int:
    """Return the row that promises the largest gain with row ``i``; -1 if none."""
    best, found, top, row = 0.0, -1, y[i] - scores[i], K[i]
    for j in range(y.shape[0]):
        fall = top - (y[j] - scores[j])
        if fall > 0.0 and may_fall(a[j], y[j], weights[j]):
            apart = max(row[i] + K[j, j] - 2.0 * row[j], FLAT * (row[i] + K[j, j]))
            if fall * fall > best * apart:
                best, found = fall * fall / apart if apart > 0.0 else math.inf, j
    return found


@inlined
def room(a: float, y: float, w: float) -> float:
    """How far ``a y`` can grow."""
    return w - a if y > 0.0 else a


@kernel
def pair_steps(
    K: NDArray[np.float64],
    y: Vector,
    weights: Vector,
    scale: float,
    steps: int,
    a: Vector,
    scores: Vector,
) -> int:
    """Take steps; return how many were taken until nothing could be gained.

    Parameters
    ----------
    K : float64 array, shape (n, n)
        ``x_i'x_j``.
    scale : float
        ``lam n``.
    steps : int
        How many at most.
    a, scores : float64 array, shape (n,)
        Dual weights, and ``(1 / scale) sum_j a_j y_j K_ij``; changed in place.
    """
    for count in range(steps):
        i = steepest(y, weights, a, scores)
        j = partner(K, i, y, weights, a, scores) if i >= 0 else -1
        if j < 0:
            return count
        fall = (y[i] - scores[i]) - (y[j] - scores[j])
        apart = K[i, i] + K[j, j] - 2.0 * K[i, j]
        up, down = room(a[i], y[i], weights[i]), room(a[j], -y[j], weights[j])
        d = min(up, down)
        if apart * d > scale * fall:
            d = scale * fall / apart
        a[i] = bounded(a[i] + y[i] * d, weights[i], d == up, y[i])
        a[j] = bounded(a[j] - y[j] * d, weights[j], d == down, -y[j])
        for k in range(y.shape[0]):
            scores[k] += d / scale * (K[i, k] - K[j, k])
    return steps


@kernel
def single_steps(
    K: NDArray[np.float64],
    curvature: Vector,
    y: Vector,
    weights: Vector,
    scale: float,
    steps: int,
    a: Vector,
    scores: Vector,
) -> int:
    """Take steps on one weight each, the one that gains most; without intercept.

    Parameters and result are those of `pair_steps`; ``curvature`` is the diagonal of
    ``K`` over ``scale``, above 0.
    """
    n = y.shape[0]
    for count in range(steps):
        best, found, move = 0.0, -1, 0.0
        for k in range(n):
            slack = 1.0 - y[k] * scores[k]
            d = min(weights[k] - a[k], max(-a[k], slack / curvature[k]))
            gain = d * (slack - 0.5 * d * curvature[k])
            if gain > best:
                best, found, move = gain, k, d
        if found < 0:
            return count
        a[found] = min(weights[found], max(0.0, a[found] + move))
        change, row = move * y[found] / scale, K[found]
        for k in range(n):
            scores[k] += change * row[k]
    return steps


@inlined
def bounded(a: float, w: float, reached: bool, direction: float) -> float:
    """``a`` in [0, w]; exactly the bound if the step goes that far."""
    if reached:
        return w if direction > 0.0 else 0.0
    return min(w, max(0.0, a))
