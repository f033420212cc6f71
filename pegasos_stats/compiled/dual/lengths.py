"""A pass over the rows for the gap, and the best lengths of a fit and a dual point.

With a small penalty on separable rows the risk of ``beta`` falls by much if every
margin that is almost 1 becomes 1: along ``(s beta, s alpha)`` that is a problem in one
number. The same holds of ``t a`` in the dual.
"""

from pegasos_stats.compiled.arithmetic.lanes import Vector
from pegasos_stats.compiled.arithmetic.losses import HINGE, dual_entropy, loss_value
from pegasos_stats.compiled.arithmetic.rows import Rows, row_add, row_dot_fast
from pegasos_stats.compiled.compiling import kernel

DOUBLINGS, HALVINGS = 60, 45
NEARBY = 1.0 / 64.0  # where a length above 1 is looked for first

any_order = {"reassoc", "nsz", "contract"}


@kernel(fastmath=any_order)
def squared_norm(v: Vector) -> float:
    """``||v||^2``: as long as ``v`` is, in this thread alone."""
    total = 0.0
    for j in range(v.shape[0]):
        total += v[j] * v[j]
    return total


@kernel
def scores_and_image(
    X: Rows, y: Vector, w: Vector, a: Vector, scores: Vector, image: Vector
) -> None:
    """Put ``x_i'w`` in ``scores`` and add ``sum_i a_i y_i x_i`` to ``image``."""
    for i in range(a.shape[0]):
        scores[i] = row_dot_fast(X, i, w)
        if a[i] != 0.0:
            row_add(X, i, a[i] * y[i], image)


@kernel(fastmath=any_order)
def mean_loss(
    loss: int, y: Vector, weights: Vector, scores: Vector, alpha: float, length: float
) -> float:
    """``mean w_i loss(length y_i (scores_i + alpha))``."""
    total = 0.0
    for i in range(y.shape[0]):
        m = length * (y[i] * (scores[i] + alpha))
        total += weights[i] * loss_value(loss, m)
    mean: float = total / y.shape[0]
    return mean


@kernel(fastmath=any_order)
def mean_reward(loss: int, weights: Vector, a: Vector) -> float:
    """``mean H_i(a_i)``, the first part of the dual."""
    total = 0.0
    for i in range(a.shape[0]):
        if loss == HINGE:
            total += a[i]
        elif weights[i] > 0.0:
            total += weights[i] * dual_entropy(loss, a[i] / weights[i])
    mean: float = total / a.shape[0]
    return mean


@kernel(fastmath=any_order)
def slope_of_length(
    length: float, y: Vector, weights: Vector, scores: Vector, alpha: float
) -> float:
    """Derivative of the mean hinge loss by the length of ``(beta, alpha)``."""
    total = 0.0
    for i in range(y.shape[0]):
        m = y[i] * (scores[i] + alpha)
        total -= weights[i] * m if length * m < 1.0 else 0.0
    slope: float = total / y.shape[0]
    return slope


@kernel
def best_length(
    penalty: float, y: Vector, weights: Vector, scores: Vector, alpha: float
) -> float:
    """Minimise ``penalty/2 s^2 + mean w_i max(0, 1 - s y_i (scores_i + alpha))``.

    The upper end of a bracket of ``s``, where no margin is short of 1 by the width of
    it: with a small penalty that would cost more than all the rest.
    """
    low, high, step = 0.0, 1.0, NEARBY
    for _ in range(DOUBLINGS):
        slope = slope_of_length(high, y, weights, scores, alpha)
        if penalty * high + slope >= 0.0:
            break
        low, high, step = high, high + step, 4.0 * step
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        slope = slope_of_length(middle, y, weights, scores, alpha)
        if penalty * middle + slope < 0.0:
            low = middle
        else:
            high = middle
    return high


@kernel
def dual_length(penalty: float, reward: float, weights: Vector, a: Vector) -> float:
    """Maximise ``t reward - penalty/2 t^2`` with ``t a`` inside its box."""
    if penalty <= 0.0:
        return 1.0
    length = reward / penalty
    for i in range(a.shape[0]):
        if length * a[i] > weights[i]:
            length = weights[i] / a[i]
    return length
