"""Losses, and the objective in doubled precision in one pass over the rows."""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Vector, read_only
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.rows import (
    Rows,
    offset_at,
    row_add_exactly,
    row_dot,
    row_dot_exactly,
    two_product,
    two_sum,
)


class Loss(IntEnum):
    """Codes of the losses."""

    HINGE = 0
    LOG = 1
    SQUARED_HINGE = 2


HINGE, LOG, SQUARED_HINGE = map(int, Loss)


class SeenExactly(NamedTuple):
    """Sums over the rows in doubled precision.

    Attributes
    ----------
    loss, loss_rest : float
        ``sum_i w_i loss(m_i)``.
    loss_error : float
        Bound on the error of this sum that the errors of the margins cause.
    image, image_rest : float64 array, shape (p,)
        ``X'(a y)``.
    image_error : float
        Bound on the sum of the errors over all columns, except underflows.
    """

    loss: float
    loss_rest: float
    loss_error: float
    image: Vector
    image_rest: Vector
    image_error: float


@inlined
def loss_value(loss: int, m: float) -> float:
    """Hinge ``max(0, 1 - m)``, or its square; log ``log(1 + exp(-m))``.

    The log loss is ``log1p(exp(-m))`` for ``m > 0`` and ``log1p(exp(m)) - m``
    otherwise, so that no exponential overflows.
    """
    if loss == HINGE:
        return max(0.0, 1.0 - m)
    if loss == SQUARED_HINGE:
        return max(0.0, 1.0 - m) * max(0.0, 1.0 - m)
    if m > 0.0:
        return math.log1p(math.exp(-m))
    return math.log1p(math.exp(m)) - m


@inlined
def slope(loss: int, m: float) -> float:
    """``s(m) = -loss'(m)``: hinge 1 if ``m < 1``, else 0; log ``1 / (1 + exp(m))``.

    Squared hinge ``2 max(0, 1 - m)``. The log slope is ``e / (1 + e)`` with ``e =
    exp(-m)`` for ``m > 0`` and ``1 / (1 + exp(m))`` otherwise.
    """
    if loss == HINGE:
        return np.float64(m < 1.0)  # branch-free: the branch predictor would fail
    if loss == SQUARED_HINGE:
        return 2.0 * max(0.0, 1.0 - m)
    if m > 0.0:
        e = math.exp(-m)
        return e / (1.0 + e)
    return 1.0 / (1.0 + math.exp(m))


@inlined
def violated(loss: int, m: float) -> bool:
    """Test ``m < 1`` for both hinge losses, ``m < 0`` for the log loss."""
    return m < (0.0 if loss == LOG else 1.0)


def risk_and_image_exactly(
    X: Rows,
    y: Vector,
    beta: Vector,
    alpha: float,
    loss: int,
    a: Vector,
    weights: Vector,
    offset: Vector | None = None,
) -> SeenExactly:
    """Sum over the rows in doubled precision, which takes about ten times as long.

    The log loss of a margin is computed in double precision, by the math library.
    """
    X, y, weights = read_only(X), read_only(y), read_only(weights)
    image, image_rest, sums = np.zeros(beta.size), np.zeros(beta.size), np.zeros(4)
    offset, beta = read_only(np.zeros(0) if offset is None else offset), read_only(beta)
    add_rows_exactly(
        X, y, beta, alpha, loss, a, weights, offset, image, image_rest, sums
    )
    total, rest, error, lost = map(float, sums)
    return SeenExactly(total, rest, error, image, image_rest, lost)


@kernel
def add_rows_exactly(
    X: Rows,
    y: Vector,
    w: Vector,
    alpha: float,
    loss: int,
    a: Vector,
    weights: Vector,
    offset: Vector,
    image: Vector,
    image_rest: Vector,
    sums: Vector,
) -> None:
    """Add every row to the four sums and to the image.

    The error of an inner product of length ``p`` is less than ``(4 (p + 2) u)^2 sum
    |x_j w_j|`` (Ogita, Rump & Oishi 2005, proposition 5.5), plus underflows.
    """
    total = rest = error = size = 0.0
    share = (4.0 * (w.shape[0] + 4.0) * 2.0**-53) ** 2
    lost = 4.0 * (w.shape[0] + 4.0) * 2.0**-1074  # error of an underflow
    for i in range(y.shape[0]):
        high, low, scale = row_dot_exactly(X, i, w)
        high, left = two_sum(high, alpha)
        high, low = two_sum(high, low + left)
        at = offset_at(offset, i)
        if at != 0.0:
            high, left = two_sum(high, at)
            high, low = two_sum(high, low + left)
        high, low = y[i] * high, y[i] * low
        distance = share * (1.0 + scale + abs(alpha) + abs(at)) + lost
        if loss == HINGE:
            value, left = two_sum(1.0, -high)
            value, low = two_sum(value, left - low)
            if value <= 0.0:
                value = low = 0.0
        else:
            value = loss_value(loss, high)
            if loss == SQUARED_HINGE:  # the error of the margin times the derivative
                distance = (
                    distance * slope(loss, high - abs(low) - distance) + low * low
                )
            else:
                distance += low * low * slope(loss, abs(high) - abs(low))
            low *= -slope(loss, high)
        product, left = two_product(weights[i], value)
        rest += left + weights[i] * low
        total, left = two_sum(total, product)
        rest += left
        error += weights[i] * distance
        if a[i] != 0.0:
            size += row_add_exactly(X, i, a[i] * y[i], image, image_rest)
    for j in range(image.shape[0]):
        image[j], image_rest[j] = two_sum(image[j], image_rest[j])
    lost = 2.0**-52 * size  # twice u, because the sizes are also rounded
    sums[0], sums[1], sums[2], sums[3] = total, rest, error, lost


def scores(X: Rows, beta: Vector, alpha: float) -> Vector:
    """Compute ``x_i'beta + alpha``, each summed from the first entry to the last.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    beta : float64 array, shape (p,)
    alpha : float

    Returns
    -------
    float64 array, shape (n,)
    """
    n = X.indptr.shape[0] - 1 if hasattr(X, "indptr") else X.shape[0]
    out = np.zeros(n)
    put_scores(X, beta, alpha, out)
    return out


@kernel
def put_scores(X: Rows, beta: Vector, alpha: float, out: Vector) -> None:
    """Store the score of every row in `out`."""
    for i in range(out.shape[0]):
        out[i] = row_dot(X, i, beta) + alpha
