"""A covariance put together from its matrices, or why it is not defined."""

from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.models.inference import defects
from pegasos_stats.models.inference.bread_and_meat import Curvature, pull_of
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.options import Cluster, Sandwich
from pegasos_stats.models.inference.standardizing import Stacked
from pegasos_stats.models.notes.standard_errors import nonrobust
from pegasos_stats.solvers.problem import Problem


class Matrices(NamedTuple):
    """What a covariance is put together from.

    Attributes
    ----------
    bread, inverse, meat, middle : float64 array, shape (k, k)
        ``H``, ``H^-1``, ``G`` and ``H^-1 G H^-1``.
    factor : float
        By which the covariance is multiplied, as the correction has it.
    slopes : float64 array, shape (k,), or None
        ``sum_i w_i s_i y_i z_i``, of the log loss.
    stacked : Stacked or None
        Of standardized predictors whose means and deviations are estimates too.
    is_scaled : bool
    prior : float64 array, shape (k + 1,), or None
        As of a `Covariance`.
    """

    bread: Matrix
    inverse: Matrix
    meat: Matrix
    middle: Matrix
    factor: float
    slopes: Vector | None
    stacked: Stacked | None
    is_scaled: bool
    prior: Vector | None


class Estimated(NamedTuple):
    """Covariances, as of a `Covariance`, and what was wrong with the first.

    Attributes
    ----------
    matrix : float64 array, shape (k, k)
    fixed : float64 array, shape (k, k), or None
    lost : int
        Variances that are lost in rounding.
    below : bool
        Whether some were below zero.
    """

    matrix: Matrix
    fixed: Matrix | None
    lost: int
    below: bool


def put_together(
    problem: Problem,
    beta: Vector,
    options: Sandwich,
    curvature: Curvature,
    given: Matrices,
    groups: Groups | None = None,
) -> Covariance:
    """The covariance, or why it is not defined; without `joint`."""
    H, inverse = given.bread, given.inverse
    matrix, fixed, lost, below = estimated(given, problem.n, groups)
    reason = defects.reason_of(
        problem, curvature, inverse, given.meat
    ) or defects.overflow(matrix)
    can_resample = not isinstance(problem.X, Elsewhere) and (
        groups is None or len(groups.numbers) == 1
    )
    facts = reason, lost, len(H), below, can_resample, given.is_scaled
    clusters = options if isinstance(options, Cluster) else None
    df = groups.fewest - 1.0 if groups and clusters and clusters.use_t else np.inf
    return Covariance(
        matrix=np.full_like(H, np.nan) if reason else matrix,
        bread=H,
        meat=given.meat,
        bandwidth=curvature.bandwidth,
        newton_step=_newton_step(problem, beta, given.slopes, inverse),
        df=float(df),
        description=_described(curvature, options, groups, given.is_scaled),
        notes=defects.notes_on(*facts),
        fixed=None if reason else fixed,
        pull=pull_of(problem, beta, H, inverse),
        prior=given.prior,
    )


def estimated(given: Matrices, n: int, groups: Groups | None) -> Estimated:
    """The covariance of ``n`` rows without variances that are lost or below zero."""
    inverse, fixed = given.inverse, None
    matrix, below = defects.without_negative(given.middle * (given.factor / n), groups)
    lost = defects.raise_to_rounding(matrix, inverse, given.meat, given.factor / n)
    if given.stacked is not None:
        matrix, fixed = given.stacked.covariances(inverse, n / given.factor)
        matrix, below = defects.without_negative(matrix, groups)
        fixed = defects.without_negative(fixed, groups)[0]
    elif given.is_scaled:
        fixed = matrix  # given the predictors: their means and deviations are known
    return Estimated((matrix + matrix.T) / 2.0, fixed, lost, below)


def _newton_step(
    problem: Problem, beta: Vector, slopes: Vector | None, inverse: Matrix
) -> Vector | None:
    """``-H^-1 grad P`` for the log loss."""
    if slopes is None:
        return None
    gradient = -slopes / problem.n
    gradient[int(problem.intercept) :] += problem.lam * beta
    return -inverse @ gradient


def _described(
    curvature: Curvature, options: Sandwich, groups: Groups | None, scaled: bool
) -> str:
    kind = f"sandwich, {options.correction}"
    if options.correction == "nonrobust":
        kind = nonrobust(scaled)
    if groups is not None:
        kind = f"cluster {kind}, {groups}"
    if curvature.bandwidth is None:
        return kind
    rule = options.bandwidth if isinstance(options.bandwidth, str) else "given"
    told = ", rows moved to it" if options.move else ""
    return (
        f"{kind}, kernel at the margin of width {curvature.bandwidth:.3g} "
        f"({rule}){told}"
    )
