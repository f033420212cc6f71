"""Combinations of coefficients that are the same in all samples: nothing to test."""

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.columns import Mask
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.resamples import BootstrapResult

ROUNDINGS = 2e-15  # of sums over the rows: some units in the last place
NEARLY = 1e-3  # of the errors that an error is put together from


def is_constant(
    found: Covariance | BootstrapResult, R: Matrix, penalties: Vector
) -> Mask:
    """Whether each row of ``R theta`` has a variance that is 0 but for rounding.

    The coefficient of a column that is the same in all rows is 0. Where ``X r = 0``, as
    for a column that is twice another, ``r'theta`` is 0 as well: only the penalty
    speaks of it. Then ``r'G r`` and ``r'(H - lam J) r`` are 0 but for rounding.
    Resamples are the same but for the solver, or nearer to each other than the
    certificates can tell, and than a thousandth of the errors of the coefficients.

    Parameters
    ----------
    found : Covariance or BootstrapResult
        Of k coefficients.
    R : float64 array, shape (m, k)
    penalties : float64 array, shape (k,)
        The diagonal of ``lam J``.
    """
    sizes = np.abs(R)
    with np.errstate(all="ignore"):
        variances = np.einsum("ij,ij->i", R @ found.matrix, R)
        if isinstance(found, BootstrapResult):
            errors = np.sqrt(np.maximum(variances, 0.0))
            near = errors <= found.distance * np.linalg.norm(R, axis=1)
            near &= errors <= NEARLY * (sizes @ found.std_error)
            return np.asarray(near | found.combined(R).pinned)
        silent = variances == 0.0
        scores, curvature = found.meat, found.bread - np.diag(penalties)
        return np.asarray(
            silent | (_is_zero(scores, scores, R) & _is_zero(curvature, found.bread, R))
        )


def _is_zero(A: Matrix, made_of: Matrix, R: Matrix) -> Mask:
    """Whether each ``r'A r`` is 0 but for the rounding of what ``A`` is made of."""
    sizes = np.abs(R)
    bound = ROUNDINGS * np.einsum("ij,ij->i", sizes @ np.abs(made_of), sizes)
    return np.asarray(np.einsum("ij,ij->i", R @ A, R) <= bound)
