"""What a certificate needs of dense rows, in numpy: see `rounding` for its bounds."""

from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Dense, Vector
from pegasos_stats.solvers.dense.blocks import (
    additions,
    blocks,
    doubles,
    image,
    total,
)
from pegasos_stats.solvers.dense.threads import one_thread

UNIT = 2.0**-53  # rounding of one operation, relative


class Sums(NamedTuple):
    """Sums over the rows, as those of ``compiled/arithmetic/risk.py``.

    Attributes
    ----------
    loss : float
        ``sum_i w_i loss(y_i (x_i'beta + alpha + offset_i))``.
    entropy : float
        ``sum_i w_i H(a_i / w_i)``.
    errors, at_zero : int, pair of int
        Rows with a margin below 0; rows with a score of 0, of -1 and of +1.
    exposed : float
        Weights of the rows whose margin is below ``1 + reach``, summed, by the hinge.
    dual : float
        Dual weights, summed.
    image : float64 array, shape (p,)
        ``X'(a y)``.
    additions : float
        The most additions of a summand of `image`.
    known, known_size : float
        ``sum_i a_i y_i offset_i`` and ``sum_i |a_i offset_i|``.
    share : float
        Part of a sum of positive numbers that its rounding may be.
    """

    loss: float
    entropy: float
    errors: int
    at_zero: tuple[int, int]
    exposed: float
    dual: float
    image: Vector
    additions: float
    known: float
    known_size: float
    share: float
    loss_rest: float = 0.0
    entropy_rest: float = 0.0
    known_rest: float = 0.0


@one_thread()
def risk_and_image(
    X: Dense,
    y: Vector,
    beta: Vector,
    alpha: float,
    loss: str,
    a: Vector,
    weights: Vector | None = None,
    reach: float = 0.0,
    offset: Vector | None = None,
) -> Sums:
    """Sums over the rows, which are read once.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p)
    y : float64 array, shape (n,), of -1 and +1
    beta : float64 array, shape (p,)
    alpha : float
    loss : "hinge" or "log"
    a : float64 array, shape (n,), in [0, w_i]
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 if not given.
    reach : float
        How far rounding may move a margin.
    offset : float64 array, shape (n,), optional
    """
    (n, p), ay = X.shape, a * y
    m, found, count = np.empty(n), np.zeros(p), 0
    for rows in blocks(n, p):
        B = doubles(X, rows)
        np.matmul(B, beta, out=m[rows])
        found += image(ay[rows], B)
        count += 1
    m += alpha if offset is None else alpha + offset
    m *= y
    losses = np.maximum(0.0, 1.0 - m) if loss == "hinge" else log_losses(m)
    entropies = a if loss == "hinge" else log_entropies(a, weights)
    exposed = np.zeros(0)
    if loss == "hinge":
        exposed = np.where(m >= 1.0 + reach, 0.0, 1.0 if weights is None else weights)
    known = np.zeros(0) if offset is None else ay * offset
    zero = y[m == 0.0]
    largest = max(rows.stop - rows.start for rows in blocks(n, p))
    return Sums(
        loss=total(losses if weights is None else weights * losses),
        entropy=total(entropies),
        errors=int(np.count_nonzero(m < 0.0)),
        at_zero=(int((zero < 0.0).sum()), int((zero > 0.0).sum())),
        exposed=total(exposed),
        dual=total(a),
        image=found,
        additions=additions(largest) + count,
        known=total(known),
        known_size=total(np.abs(known)),
        share=(additions(n) + 2.0) * UNIT,
    )


def log_losses(m: Vector) -> Vector:
    """``log(1 + exp(-m))``."""
    return np.asarray(np.log1p(np.exp(-np.abs(m))) + np.maximum(0.0, -m))


def log_entropies(a: Vector, weights: Vector | None) -> Vector:
    """``w H(a / w)``, ``H(t) = -t log t - (1 - t) log(1 - t)``."""
    if weights is None:
        t = a
    else:
        t = np.divide(a, weights, out=np.zeros(a.size), where=weights > 0.0)
    inside = (t > 0.0) & (t < 1.0)
    t = np.where(inside, t, 0.5)
    found = np.where(inside, -t * np.log(t) - (1.0 - t) * np.log1p(-t), 0.0)
    return found if weights is None else np.asarray(weights * found)
