"""The sandwich covariance of a penalised fit."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.errors import DataError
from pegasos_stats.models.inference import bread_and_meat as parts
from pegasos_stats.models.inference import defects
from pegasos_stats.models.inference.bandwidth import effective_rows
from pegasos_stats.models.inference.choosing import for_joint_tests
from pegasos_stats.models.inference.clustering import clustered_meat
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.inverse import inverse_of
from pegasos_stats.models.inference.options import OF_LEVERAGES, Cluster, Sandwich
from pegasos_stats.models.inference.prior import prior_of
from pegasos_stats.models.inference.row_sums import column_sums, cross_product
from pegasos_stats.models.inference.separation import separated_rows
from pegasos_stats.models.inference.shrinkage import (
    drawn_to_model,
    for_few_rows,
    not_below,
)
from pegasos_stats.models.inference.standardizing import Stacked, stacked
from pegasos_stats.models.inference.uncentring import uncentred
from pegasos_stats.models.notes.standard_errors import nonrobust
from pegasos_stats.solvers.centring import centred, far_centre, moved
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.problem import Problem, Solution

LARGEST_LEVERAGE = 0.99
NEAR = 1e-3  # relative gap at which dual weights are those of the optimum, nearly
MOST_COEFFICIENTS = 10_000  # 800 MB for each matrix
WIDE = 1000  # coefficients, of more of which only what is asked for is computed


@np.errstate(over="ignore", invalid="ignore")
def sandwich(
    problem: Problem,
    beta: Vector,
    alpha: float,
    options: Sandwich | None = None,
    dual: Vector | None = None,
    scaling: Scaling | None = None,
    groups: Groups | None = None,
) -> Covariance:
    """Covariance ``(1/n) H^-1 G H^-1`` of the coefficients at the optimum.

    For a fixed ``lam`` the fit is an M-estimator of the minimiser of the penalised risk
    in the population, and this its asymptotic covariance; rows are independent. ``G``
    is the covariance, with divisor ``n``, of the scores ``-w_i s_i y_i z_i`` with
    ``z = (1, x)``; ``s_i`` is 1 beyond the margin and 0 inside for the hinge, and
    ``1 / (1 + exp(m_i))`` for the log loss; `Sandwich` says what ``H`` is. Weights of
    mean 1 count as ratios, ``w_i (score_i - weighted mean of scores)``, and weights
    that were asked to make both classes equal are taken class by class.

    Parameters
    ----------
    problem : Problem
    beta : float64 array, shape (p,)
    alpha : float
    options : Sandwich, optional
    dual : float64 array, shape (n,), optional
        Dual weights of the fit. For the hinge ``s_i = a_i / w_i``, if the duality gap
        is within 0.1% of the objective: then rows at the margin itself do not count as
        beyond it or inside by rounding.
    scaling : Scaling, optional
        How the predictors were standardized, if they were: means and deviations are
        estimates too, and their equations are stacked, see `standardizing`.
    groups : Groups, optional
        Of rows that depend on each other; options are a `Cluster` then.

    Returns
    -------
    Covariance
        With a note if it is not defined, and so given as NaN: no row near the margin,
        no row beyond it, or predictors that are collinear while `lam` is tiny; or if
        variances are lost in rounding.

    Raises
    ------
    DataError
        If there are more than 10,000 coefficients.

    References
    ----------
    Huber, *The behavior of maximum likelihood estimates under nonstandard conditions*,
    Proceedings of the fifth Berkeley symposium 1 (1967).
    Koo, Lee, Kim & Park, JMLR 9 (2008), theorem 1.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [-0.5], [0.0], [1.5]]), np.array([-1.0, 1.0, -1.0, 1])
    >>> problem = Problem(X, y, lam=0.1, loss="log")
    >>> found = sandwich(problem, np.array([0.8587]), 0.0)
    >>> found.std_error.round(2)
    array([0.99, 0.46])
    """
    options = Sandwich() if options is None else options
    check_size(problem)
    centre = far_centre(problem)
    given = options, dual, scaling, groups
    if options.correction == "shrunk":
        plain = replace(options, correction="HC2"), dual, scaling, groups
        found = _about_centre(problem, beta, alpha, centre, *given)
        return not_below(found, _about_centre(problem, beta, alpha, centre, *plain))
    return _about_centre(problem, beta, alpha, centre, *given)


def _about_centre(
    problem: Problem, beta: Vector, alpha: float, centre: Vector | None, *given: Any
) -> Covariance:
    if centre is None:
        return _of_rows(problem, beta, alpha, *given)
    inner, there = centred(problem, centre), float(alpha + centre @ beta)
    return uncentred(_of_rows(inner, beta, there, *given), centre)


def _of_rows(
    problem: Problem,
    beta: Vector,
    alpha: float,
    options: Sandwich,
    dual: Vector | None,
    scaling: Scaling | None,
    groups: Groups | None,
) -> Covariance:
    beta = np.asarray(beta, dtype=np.float64)
    f = arithmetic.risk.scores(problem.rows, beta, alpha) + problem.row_offsets
    u = 1.0 - problem.y * f
    if dual is not None and problem.loss == "hinge":
        at = certificate(problem, beta, alpha, dual)
        dual = dual if at.relative_gap <= NEAR else None
    s = parts.slopes_of(problem, u, dual)
    curvature = parts.curvature_of(problem, u, s, options)
    H = parts.bread(problem, curvature)
    inverse = inverse_of(H)
    stretch, factor = _corrected(problem, curvature, inverse, options)
    of_rows_alone = _meat(problem, s, stretch, options, groups)
    meat, sums, drawn = of_rows_alone, None, None
    if options.correction == "shrunk":
        drawn = drawn_to_model(problem, s, stretch, meat)
        meat = drawn.meat(meat)
    of_rows = groups is None and options.correction != "nonrobust"
    given = problem, s, stretch, meat, inverse
    middle = parts.sandwiched(*given) if of_rows else inverse @ meat @ inverse
    if scaling is not None and options.correction != "nonrobust":
        centred_too = bool(scaling.centre.any())
        sums = stacked(problem, beta, s, stretch, centred_too, groups)
        if drawn is not None:
            none = stacked(problem, beta, np.zeros(problem.n), 1.0, centred_too)
            sums = drawn.stacked(sums, none)
    slopes = None
    if problem.loss == "log":
        slopes = column_sums(problem, problem.row_weights * s * problem.y)
    prior = prior_of(problem, s, inverse, groups)
    matrices = Matrices(
        *(H, inverse, meat, middle, factor, slopes, sums, scaling is not None, prior)
    )
    found = put_together(problem, beta, options, curvature, matrices, groups)
    if not found.is_defined:
        return found
    if problem.loss == "log":
        if apart := separated_rows(problem, s, found.pull):
            found = replace(found, separated=apart, notes=())  # this says more
        few = options, s, stretch, of_rows_alone, inverse, drawn
        return for_few_rows(found, problem, *few)
    add = partial(_with_joint, found, problem, u, s, inverse, options, sums, groups)
    return replace(found, later=add) if len(H) > WIDE else add()


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


def put_together(
    problem: Problem,
    beta: Vector,
    options: Sandwich,
    curvature: parts.Curvature,
    given: Matrices,
    groups: Groups | None = None,
) -> Covariance:
    """The covariance, or why it is not defined; without `joint`."""
    n, H, inverse = problem.n, given.bread, given.inverse
    matrix, fixed = given.middle * (given.factor / n), None
    matrix, below = defects.without_negative(matrix, groups)
    lost = defects.raise_to_rounding(matrix, inverse, given.meat, given.factor / n)
    if given.stacked is not None:
        matrix, fixed = given.stacked.covariances(inverse, n / given.factor)
        matrix, below = defects.without_negative(matrix, groups)
        fixed = defects.without_negative(fixed, groups)[0]
    elif given.is_scaled:
        fixed = matrix  # given the predictors: their means and deviations are known
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
        matrix=np.full_like(H, np.nan) if reason else (matrix + matrix.T) / 2.0,
        bread=H,
        meat=given.meat,
        bandwidth=curvature.bandwidth,
        newton_step=_newton_step(problem, beta, given.slopes, inverse),
        df=float(df),
        description=_described(curvature, options, groups, given.is_scaled),
        notes=defects.notes_on(*facts),
        fixed=None if reason else fixed,
        pull=parts.pull_of(problem, beta, H, inverse),
        prior=given.prior,
    )


@np.errstate(over="ignore", invalid="ignore")
def bread_at(problem: Problem, found: Solution) -> Matrix:
    """``H`` at a fit, for rows about their centre, if they are far from zero."""
    centre = far_centre(problem)
    if centre is not None:
        found, problem = moved(found, -centre), centred(problem, centre)
    f = arithmetic.risk.scores(problem.rows, found.beta, found.alpha)
    u = 1.0 - problem.y * (f + problem.row_offsets)
    s = parts.slopes_of(problem, u)
    return parts.bread(problem, parts.curvature_of(problem, u, s, Sandwich()))


def _meat(
    problem: Problem,
    s: Vector,
    stretch: Vector | float,
    options: Sandwich,
    groups: Groups | None,
) -> Matrix:
    """``G``: of rows, or of groups of them, or as the model has it."""
    if groups is not None:
        return clustered_meat(problem, s, groups)
    if options.correction == "nonrobust":
        return cross_product(problem, s * (1.0 - s)) / problem.n
    return parts.meat_of(problem, s, stretch)


def _with_joint(
    found: Covariance,
    problem: Problem,
    u: Vector,
    s: Vector,
    inverse: Matrix,
    options: Sandwich,
    sums: Stacked | None,
    groups: Groups | None,
) -> Covariance:
    """Add the covariance for tests of several hypotheses together, of the hinge."""
    narrow = for_joint_tests(problem, options)
    for _ in range(2):  # the second time with the curvature of the first
        curvature = parts.curvature_of(
            problem,
            parts.margins_of_others(problem, u, s, inverse, problem.n),
            s,
            narrow,
        )
        inverse = inverse_of(parts.bread(problem, curvature))
        if not np.isfinite(inverse).all():
            return found
    n, stretch = problem.n, _corrected(problem, curvature, inverse, narrow)
    if sums is None:
        plain = np.ndim(stretch[0]) == 0  # as it was
        meat = found.meat if plain else _meat(problem, s, stretch[0], options, groups)
        given = problem, s, stretch[0], meat, inverse
        middle = inverse @ meat @ inverse if groups else parts.sandwiched(*given)
        matrix = middle * (stretch[1] / n)
    else:
        matrix, _ = sums.covariances(inverse, n / stretch[1])
    d, w = curvature.d, problem.weights
    rows = 1.0 / ((d @ d) / d.sum() ** 2 + 1.0 / effective_rows(u, w))
    if groups is not None:
        rows = min(rows, groups.fewest - 1.0)
    if not np.isfinite(matrix).all() or not np.isfinite(rows):
        return found
    return replace(found, joint=(matrix + matrix.T) / 2.0, rows=float(rows))


def check_size(problem: Problem) -> None:
    """Raise `DataError` if the covariance would not fit in memory."""
    k = problem.p + problem.intercept
    if k > MOST_COEFFICIENTS:
        raise DataError(
            f"The covariance of {k:,} coefficients has {k * k:,} entries; standard "
            f"errors need at most {MOST_COEFFICIENTS:,} coefficients."
        )


def _corrected(
    problem: Problem, curvature: parts.Curvature, inverse: Matrix, options: Sandwich
) -> tuple[Vector | float, float]:
    """What scores and covariance are multiplied by, as the correction has it."""
    plain = options.correction in ("HC0", "nonrobust")
    if plain or not np.isfinite(inverse).all():
        return 1.0, 1.0
    leverage = parts.leverages(problem, curvature, inverse)
    if options.correction in OF_LEVERAGES:
        left = 1.0 - np.minimum(leverage, LARGEST_LEVERAGE)
        half = options.correction in ("HC2", "shrunk")
        return 1.0 / (np.sqrt(left) if half else left), 1.0
    n, used = problem.n, float(leverage.sum())
    above = n - 1.0 if isinstance(options, Cluster) else n
    return 1.0, above / (n - used) if n > used else np.nan


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
    curvature: parts.Curvature, options: Sandwich, groups: Groups | None, scaled: bool
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
