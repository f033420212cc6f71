"""The losses as scalar functions of the margin ``m = y (x'beta + alpha)``.

A loss is named by an integer code, because numba never caches a function that is
passed as an argument; every function below has one branch per loss.
"""

import math
from enum import IntEnum

from pegasos_stats.compiled.compiling import inlined


class Loss(IntEnum):
    """The code of a loss."""

    HINGE = 0
    LOG = 1


HINGE, LOG = int(Loss.HINGE), int(Loss.LOG)


@inlined
def loss_value(loss: int, m: float) -> float:
    """Hinge ``max(0, 1 - m)``; log ``log(1 + exp(-m))``.

    The log loss is ``log1p(exp(-m))`` for ``m > 0`` and ``log1p(exp(m)) - m``
    otherwise, so that no exponential overflows.
    """
    if loss == HINGE:
        return max(0.0, 1.0 - m)
    if m > 0.0:
        return math.log1p(math.exp(-m))
    return math.log1p(math.exp(m)) - m


@inlined
def slope(loss: int, m: float) -> float:
    """``s(m) = -loss'(m)``: hinge 1 if ``m < 1``, else 0; log ``1 / (1 + exp(m))``.

    The log slope is ``e / (1 + e)`` with ``e = exp(-m)`` for ``m > 0`` and
    ``1 / (1 + exp(m))`` otherwise.
    """
    if loss == HINGE:
        return 1.0 if m < 1.0 else 0.0
    if m > 0.0:
        e = math.exp(-m)
        return e / (1.0 + e)
    return 1.0 / (1.0 + math.exp(m))


@inlined
def dual_entropy(loss: int, a: float) -> float:
    """``-conjugate(-a)`` for ``a`` in [0, 1]: the reward of a dual weight.

    Hinge ``a``; log ``-a log a - (1 - a) log(1 - a)``, with ``0 log 0 = 0``.
    """
    if loss == HINGE:
        return a
    if a <= 0.0 or a >= 1.0:
        return 0.0
    return -a * math.log(a) - (1.0 - a) * math.log1p(-a)


@inlined
def violated(loss: int, m: float) -> bool:
    """Hinge: the margin is below 1. Log: the row is misclassified, ``m < 0``."""
    return m < 1.0 if loss == HINGE else m < 0.0
