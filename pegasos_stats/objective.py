"""The function that every model minimises."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def primal(
    X: NDArray[np.float64], y: Vector, beta: Vector, alpha: float, lam: float
) -> float:
    """Regularised risk ``lam/2 * ||beta||^2 + mean(max(0, 1 - y * (X beta + alpha)))``.

    The intercept is not penalised (Shalev-Shwartz et al. 2011, equation 1, with the
    free intercept of section 6).

    Parameters
    ----------
    X : float64 array, shape (n, p)
    y : float64 array, shape (n,), of -1 and +1
    beta : float64 array, shape (p,)
    alpha : float
    lam : float

    Returns
    -------
    float

    Examples
    --------
    >>> X = np.array([[1.0], [-2.0]])
    >>> primal(X, np.array([1.0, -1.0]), np.array([0.5]), 0.0, lam=1.0)
    0.375
    """
    margins = y * (X @ beta + alpha)
    return float(0.5 * lam * (beta @ beta) + np.maximum(0.0, 1.0 - margins).mean())
