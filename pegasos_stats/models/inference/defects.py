"""Defects of an estimated covariance: undefined, lost in rounding, not positive."""

import numpy as np

from pegasos_stats.advice import Setting, one_of
from pegasos_stats.arrays import Matrix
from pegasos_stats.data.groups import Groups
from pegasos_stats.errors import counted
from pegasos_stats.models.inference.bread_and_meat import Curvature
from pegasos_stats.models.inference.inverse import ROUNDING
from pegasos_stats.models.notes.note import Note
from pegasos_stats.solvers.problem import Problem

SEPARATED = (
    "no row has a margin below 1, where the hinge has a slope, as the fit separates "
    "the two levels"
)
OVERFLOW = "the squares of the predictors overflow"
RESAMPLES = "{} resamples rows instead, which takes a while."
FEWEST_ROWS = 0.5  # at the margin, for a curvature in the intercept
MARGIN = 1.0 + 1e-9  # for the rounding of a bound itself


def without_negative(matrix: Matrix, groups: Groups | None) -> tuple[Matrix, bool]:
    """A covariance whose variances are not below zero; and whether some were.

    A difference of covariances, as of two ways of grouping, may have such. Then its
    eigenvalues below zero are taken as 0.

    References
    ----------
    Cameron, Gelbach & Miller, Journal of Business & Economic Statistics 29 (2011),
    section 2.3.

    Examples
    --------
    >>> groups = Groups(("a", "b"), (3, 3))
    >>> without_negative(np.diag([1.0, -0.5]), groups)
    (array([[1., 0.],
           [0., 0.]]), True)
    """
    several = groups is not None and len(groups.numbers) > 1
    if not several or not (np.diag(matrix) < 0.0).any():
        return matrix, False
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T, True


def reason_of(
    problem: Problem, curvature: Curvature, inverse: Matrix, meat: Matrix
) -> str:
    """Why the covariance is not defined; empty if it is."""
    if not np.isfinite(meat).all():
        return OVERFLOW
    if curvature.bandwidth == 0.0:
        return "all rows have the same margin"
    if curvature.beyond == 0:
        return SEPARATED
    if problem.intercept and curvature.near < FEWEST_ROWS:
        return (
            f"no row lies within the bandwidth {curvature.bandwidth:.3g} of the "
            "margin, so the risk has no curvature in the intercept"
        )
    if not np.isfinite(inverse).all():
        return (
            f"predictors are collinear, and lam={problem.lam:g} is too small to tell "
            "their coefficients apart"
        )
    return ""


def overflow(matrix: Matrix) -> str:
    """Why a covariance is not defined that is not finite; empty if it is."""
    return "" if np.isfinite(matrix).all() else "variances overflow"


def raise_to_rounding(
    matrix: Matrix, inverse: Matrix, meat: Matrix, factor: float
) -> int:
    """Raise variances that are lost in rounding to a bound of it; return their number.

    The bound is `ROUNDING` of ``(|H^-1| |G| |H^-1|)_jj``, of which the variance is
    what is left after cancellation. It is no more than that of ``(|H^-1| g)_j^2`` with
    ``g`` the roots of the largest ``|G_jl|`` of a row, which is enough for most.
    """
    largest = np.maximum(meat.max(axis=1), -meat.min(axis=1))
    most = ROUNDING * factor * np.square(np.abs(inverse) @ np.sqrt(largest))
    near = np.flatnonzero((np.diag(matrix) <= MARGIN * most) & (most > 0.0))
    if not near.size:
        return 0
    sizes = np.abs(inverse[near])
    bound = ROUNDING * factor * ((sizes @ np.abs(meat)) * sizes).sum(axis=1)
    lost = matrix[near, near] < bound
    matrix[near[lost], near[lost]] = bound[lost]
    return int(np.count_nonzero(lost))


def notes_on(
    reason: str,
    lost: int,
    k: int,
    below: bool = False,
    can_resample: bool = True,
    is_scaled: bool = False,
) -> tuple[Note, ...]:
    """Why it is not defined, or how many of the k errors are lost in rounding.

    Or that there were variances `below` zero. Where the fit separates the levels rows
    can be resampled, unless they are of groups of two kinds. Predictors that are
    standardized, `is_scaled`, have one scale.
    """
    cure, verb = None, "is" if lost == 1 else "are"
    if reason:
        text = f"The covariance of the coefficients is not defined: {reason}."
        if reason == SEPARATED and can_resample:
            cure = one_of([Setting("cov_type", "bootstrap")], RESAMPLES)
        if reason == OVERFLOW and not is_scaled:
            cure = one_of(
                [Setting("standardize", True)], "{} brings them to one scale."
            )
    elif lost:
        text = (
            f"{lost} of {counted(k, 'standard error')} {verb} lost in rounding, and "
            "given as the bound of it: predictors are constant, nearly the same or "
        )
        text += "in few rows." if is_scaled else "on scales far apart;"
        if not is_scaled:
            cure = one_of([Setting("standardize", True)], "{} helps with scales.")
    elif below:
        text = (
            "Groups of two kinds gave variances below zero: eigenvalues of the "
            "covariance below zero are taken as 0, which makes other standard errors "
            "larger; there are few groups for so many coefficients."
        )
    else:
        return ()
    return (Note("standard errors", "note", text, cure),)
