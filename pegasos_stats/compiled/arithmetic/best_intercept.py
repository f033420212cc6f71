"""The best intercept of the hinge loss, by walking from kink to kink."""

import math

from pegasos_stats.compiled.arithmetic.lanes import Vector
from pegasos_stats.compiled.compiling import inlined, kernel

SAME_WEIGHT = 1e-12  # of the lighter class: sums that differ by less are the same


@kernel
def middle_intercept(scores: Vector, y: Vector, weights: Vector, near: float) -> float:
    """Minimise ``sum_i w_i max(0, 1 - y_i (scores_i + alpha))`` over ``alpha``.

    The same as ``objective.best_intercept``, which sorts the kinks: where the least
    value is taken between two of them, the middle. Kinks are counted from the left
    until their weights reach that of the class ``+1`` if it is the lighter one, else
    from the right to that of ``-1``. Costs one pass over the rows for each kink between
    ``near`` and the result.

    Parameters
    ----------
    scores, weights : float64 array, shape (n,)
    y : float64 array, shape (n,), of -1 and +1, both occurring
    near : float
        Where to begin.
    """
    upper = lower = 0.0
    for i in range(y.shape[0]):
        if y[i] > 0.0:
            upper += weights[i]
        else:
            lower += weights[i]
    side = 1.0 if upper <= lower else -1.0
    goal = min(upper, lower)
    rounding = SAME_WEIGHT * goal
    low: float = kink_where(scores, y, weights, side, goal - rounding, side * near)
    high: float = kink_where(scores, y, weights, side, goal + rounding, low)
    return 0.0 + side * (0.5 * (low + high))


@inlined
def kink_where(
    scores: Vector, y: Vector, weights: Vector, side: float, goal: float, near: float
) -> float:
    """Return the first kink up to which the weights reach ``goal``; times ``side``."""
    at = near
    for _ in range(y.shape[0] + 1):
        before = here = 0.0
        below, above = -math.inf, math.inf
        for i in range(y.shape[0]):
            kink = side * (y[i] - scores[i])
            if kink < at:
                before += weights[i]
                below = max(below, kink)
            elif kink > at:
                above = min(above, kink)
            else:
                here += weights[i]
        if before >= goal and below > -math.inf:
            at = below
        elif before + here < goal and above < math.inf:
            at = above
        else:
            break
    return at
