"""The inverse of a curvature matrix, robust to the scales of coefficients."""

import numpy as np

from pegasos_stats.arrays import Matrix, Vector

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
    from scipy.linalg.lapack import dpotri

    scale, root = _factored(H)
    if root is None:
        return np.full_like(H, np.nan)
    with np.errstate(over="ignore"):
        found = dpotri(root, lower=1, overwrite_c=1)[0]  # 0 above the diagonal
        found *= scale
        found *= scale[:, None]
    found += found.T
    found[np.diag_indices_from(found)] *= 0.5
    return np.asarray(found)


def solved(H: Matrix, b: Vector) -> Vector | None:
    """``H^-1 b`` in the same way; None if ``H`` is singular.

    Examples
    --------
    >>> solved(np.array([[4.0, 0.0], [0.0, 0.5]]), np.array([2.0, 1.0]))
    array([0.5, 2. ])
    """
    from scipy.linalg import cho_solve

    scale, root = _factored(H)
    if root is None:
        return None
    return np.asarray(cho_solve((root, True), b * scale) * scale)


def _factored(H: Matrix) -> tuple[Vector, Matrix | None]:
    """What scales the diagonal to 1, and Cholesky's factor; None for a singular one."""
    from scipy.linalg.lapack import dpotrf

    diagonal = np.diag(H)
    if not np.isfinite(H).all() or (diagonal <= 0.0).any():
        return diagonal, None
    scale = 1.0 / np.sqrt(diagonal)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = H * scale
        scaled *= scale[:, None]
    if not np.isfinite(scaled).all():
        return scale, None
    root, failed = dpotrf(scaled.T, lower=1, overwrite_a=1)  # symmetric, so its own
    if failed or np.square(np.diag(root)).min() <= ROUNDING * len(H):
        return scale, None
    return scale, root
