"""Pegasos: stochastic sub-gradient steps for the hinge loss, one row at a time.

Beside this file stands ``r_reference/R/pegasos.R``, the same algorithm in R.

References
----------
Shalev-Shwartz, Singer, Srebro & Cotter, *Pegasos: primal estimated sub-gradient
solver for SVM*, Mathematical Programming B 127 (2011), figure 1.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


@njit(cache=True)
def score(x: Vector, beta: Vector, alpha: float) -> float:
    """``x'beta + alpha``, summed from the first coordinate to the last."""
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * beta[j]
    return total + alpha


@njit(cache=True)
def pegasos_epoch(
    X: NDArray[np.float64],
    y: Vector,
    rows: Rows,
    lam: float,
    t: int,
    beta: Vector,
    alpha: float,
    intercept: bool,
) -> tuple[float, int]:
    """Take one step at each of ``rows``, in reference arithmetic.

    At step ``t`` with ``eta = 1 / (lam * t)`` and row ``i``::

        beta  <- beta - eta * (lam * beta - [y_i f(x_i) < 1] y_i x_i)
        alpha <- alpha + eta * [y_i f(x_i) < 1] y_i

    Parameters
    ----------
    X : float64 array, shape (n, p), C-contiguous
    y : float64 array, shape (n,), of -1 and +1
    rows : int64 array, shape (m,)
        The rows to visit, counted from zero, in this order.
    lam : float
        Penalty, above zero.
    t : int
        Number of steps taken before.
    beta : float64 array, shape (p,)
        Coefficients; changed in place.
    alpha : float
        Intercept before the first of these steps.
    intercept : bool
        Whether ``alpha`` moves.

    Returns
    -------
    alpha : float
        Intercept after the last step.
    violations : int
        Number of steps whose margin was below 1.
    """
    violations = 0
    for i in rows:
        t += 1
        eta = 1.0 / (lam * t)
        x = X[i]
        if y[i] * score(x, beta, alpha) < 1.0:
            violations += 1
            for j in range(beta.shape[0]):
                beta[j] = beta[j] - eta * (lam * beta[j] - y[i] * x[j])
            if intercept:
                alpha = alpha + eta * y[i]
        else:
            for j in range(beta.shape[0]):
                beta[j] = beta[j] - eta * (lam * beta[j])
    return alpha, violations


@njit(cache=True)
def scores(X: NDArray[np.float64], beta: Vector, alpha: float) -> Vector:
    """Scores ``X beta + alpha`` of all rows, shape (n,), each summed as in `score`."""
    found = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        found[i] = score(X[i], beta, alpha)
    return found
