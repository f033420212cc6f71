"""One pass over the rows for the risk and for the image of dual weights."""

from typing import Any

import numpy as np

from pegasos_stats.kernels.compiling import kernel
from pegasos_stats.kernels.lanes import Vector, padded
from pegasos_stats.kernels.losses import dual_entropy, loss_value
from pegasos_stats.kernels.rows import row_add, row_dot, row_dot_fast


def risk_and_image(
    X: Any,
    y: Vector,
    beta: Vector,
    alpha: float,
    loss: int,
    a: Vector,
    weights: Vector | None = None,
) -> tuple[float, float, int, tuple[int, int], Vector]:
    """Sums over the rows: losses, dual entropies, errors, and ``X'(a y)``.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    y : float64 array, shape (n,), of -1 and +1
    beta : float64 array, shape (p,)
    alpha : float
    loss : int
        Code of the loss.
    a : float64 array, shape (n,), in [0, w_i]
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 if not given.

    Returns
    -------
    loss : float
        ``sum_i w_i loss(y_i (x_i'beta + alpha))``.
    entropy : float
        ``sum_i w_i H(a_i / w_i)``, see `dual_entropy`.
    errors : int
        Rows with ``y_i (x_i'beta + alpha) < 0``.
    at_zero : pair of int
        Rows with a score of exactly 0 and ``y_i`` -1, and +1.
    image : float64 array, shape (p,)
    """
    p = beta.shape[0]
    w, image, sums = np.zeros(padded(p)), np.zeros(padded(p)), np.zeros(5)
    w[:p] = beta
    given = np.ones(y.shape[0]) if weights is None else weights
    add_rows(X, y, w, alpha, loss, a, given, image, sums)
    at_zero = int(sums[3]), int(sums[4])
    return float(sums[0]), float(sums[1]), int(sums[2]), at_zero, image[:p]


@kernel
def add_rows(
    X: Any,
    y: Vector,
    w: Vector,
    alpha: float,
    loss: int,
    a: Vector,
    weights: Vector,
    image: Vector,
    sums: Vector,
) -> None:
    """Add every row to the five sums and to the image."""
    for i in range(y.shape[0]):
        m = y[i] * (row_dot_fast(X, i, w) + alpha)
        sums[0] += weights[i] * loss_value(loss, m)
        if weights[i] > 0.0:
            sums[1] += weights[i] * dual_entropy(loss, a[i] / weights[i])
        sums[2] += 1.0 if m < 0.0 else 0.0
        if m == 0.0:
            sums[3 if y[i] < 0.0 else 4] += 1.0
        if a[i] != 0.0:
            row_add(X, i, a[i] * y[i], image)


def scores(X: Any, beta: Vector, alpha: float) -> Vector:
    """Scores ``x_i'beta + alpha``, each summed from the first entry to the last.

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
    found = np.zeros(n)
    put_scores(X, beta, alpha, found)
    return found


@kernel
def put_scores(X: Any, beta: Vector, alpha: float, found: Vector) -> None:
    """Put the score of every row in `found`."""
    for i in range(found.shape[0]):
        found[i] = row_dot(X, i, beta) + alpha
