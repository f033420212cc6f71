"""The inverse of a curvature, whatever the scales of its coefficients."""

import numpy as np

from pegasos_stats.arrays import Matrix

ROUNDING = 1e-13  # of a pivot of H that is 1 before elimination, and of sums


def inverse_of(H: Matrix) -> Matrix:
    """Inverse by Cholesky's method, the diagonal scaled to 1 first; NaN if singular.

    Examples
    --------
    >>> inverse_of(np.array([[4.0, 0.0], [0.0, 1e-300]]))
    array([[2.5e-001, 0.0e+000],
           [0.0e+000, 1.0e+300]])
    >>> inverse_of(np.ones((2, 2)))
    array([[nan, nan],
           [nan, nan]])
    """
    from scipy.linalg import cho_solve, cholesky

    undefined = np.full_like(H, np.nan)
    diagonal = np.diag(H)
    if not np.isfinite(H).all() or (diagonal <= 0.0).any():
        return undefined
    scale = 1.0 / np.sqrt(diagonal)
    scaled = H * scale * scale[:, None]
    if not np.isfinite(scaled).all():
        return undefined
    try:
        root = cholesky(scaled, lower=True)
    except np.linalg.LinAlgError:
        return undefined
    if np.square(np.diag(root)).min() <= ROUNDING * len(H):
        return undefined
    found = cho_solve((root, True), np.diag(scale)) * scale[:, None]
    return np.asarray((found + found.T) / 2.0)
