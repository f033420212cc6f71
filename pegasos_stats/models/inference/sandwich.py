"""The sandwich covariance of a penalised fit."""

from dataclasses import replace
from functools import partial

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.errors import DataError
from pegasos_stats.models.inference import bread_and_meat as parts
from pegasos_stats.models.inference.assembling import (
    Matrices,
    estimated,
    put_together,
)
from pegasos_stats.models.inference.bandwidth import effective_rows
from pegasos_stats.models.inference.by_rows import inverse_of_bread, sandwiched
from pegasos_stats.models.inference.clustering import clustered_meat
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.long_tails import for_joint_tests
from pegasos_stats.models.inference.options import (
    FOR_FEW_ROWS,
    OF_LEVERAGES,
    Cluster,
    Sandwich,
)
from pegasos_stats.models.inference.prior import prior_of
from pegasos_stats.models.inference.row_sums import (
    column_sums,
    cross_product,
    products,
)
from pegasos_stats.models.inference.separation import (
    IdentifiedPart,
    Separation,
    separated_by,
    separated_rows,
)
from pegasos_stats.models.inference.shrinkage import (
    Drawn,
    drawn_to_model,
    for_few_rows,
    not_below,
)
from pegasos_stats.models.inference.standardizing import Stacked, stacked
from pegasos_stats.models.inference.symmetric import around, forms
from pegasos_stats.models.inference.uncentring import uncentred
from pegasos_stats.solvers.centring import centre_for_errors, centred, moved
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.problem import Problem, Solution

LARGEST_LEVERAGE = 0.99
NEAR = 1e-3  # relative gap at which dual weights are those of the optimum, nearly
MOST_COEFFICIENTS = 10_000  # 800 MB for each matrix
WIDE = 1000  # coefficients, of more of which only what is asked for is computed
MOST_PAIRS = 1.5  # rows to a coefficient, with which all pairs of them are quicker


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
    centre = centre_for_errors(problem)
    given = options, dual, scaling, groups
    if centre is None:
        found, least = _of_rows(problem, beta, alpha, *given, scaling is not None)
    else:
        inner, there = centred(problem, centre), float(alpha + centre @ beta)
        found, least = _of_rows(inner, beta, there, *given, True)
        found, least = uncentred(found, centre), least and uncentred(least, centre)
    return found if least is None else not_below(found, least)


def _of_rows(
    problem: Problem,
    beta: Vector,
    alpha: float,
    options: Sandwich,
    dual: Vector | None,
    scaling: Scaling | None,
    groups: Groups | None,
    whole: bool,
) -> tuple[Covariance, Covariance | None]:
    """The covariance; and if it is drawn, the one before, or variances alone of it."""
    beta = np.asarray(beta, dtype=np.float64)
    u, s = _margins(problem, beta, alpha, dual)
    curvature = parts.curvature_of(problem, u, s, options)
    cross = cross_product(problem, curvature.d)
    H = parts.bread(problem, curvature, cross)
    inverse = inverse_of_bread(problem, curvature, H)
    few = options.correction in FOR_FEW_ROWS and problem.n <= MOST_PAIRS * len(H)
    pairs = products(problem, inverse) if few else None
    stretch, factor = _corrected(problem, curvature, inverse, options, pairs)
    meat = _meat(problem, s, stretch, options, groups)
    sums, slopes, drawn, least = None, None, None, None
    if scaling is not None and options.correction != "nonrobust":
        sums = stacked(problem, beta, s, stretch, bool(scaling.centre.any()), groups)
    if problem.loss == "log":
        slopes = column_sums(problem, problem.row_weights * s * problem.y)
    if options.correction == "shrunk":
        drawn = drawn_to_model(problem, s, stretch, meat, cross)
    if drawn and drawn.share > 0.0 and not whole:
        middle = np.diag(forms(inverse, meat))
    elif groups is not None or options.correction == "nonrobust":
        middle = around(inverse, meat)
    else:
        middle = sandwiched(problem, s, stretch, meat, inverse)
    prior = prior_of(problem, s, inverse, groups)
    matrices = Matrices(
        *(H, inverse, meat, middle, factor, slopes, sums, scaling is not None, prior)
    )
    if drawn and drawn.share > 0.0:
        least = estimated(matrices, problem.n, groups)
        matrices = _drawn(matrices, drawn, problem, beta, scaling)
    found = put_together(problem, beta, options, curvature, matrices, groups)
    if not found.is_defined:
        return found, None
    if problem.loss == "hinge":
        add = partial(_with_joint, found, problem, u, s, inverse, options, sums, groups)
        return replace(found, later=add) if len(H) > WIDE else add(), None
    if known := separated_rows(problem, s):
        given = problem, beta, alpha, options, scaling, groups
        return _of_others(found, known, *given), None
    rows = options, s, stretch, meat, inverse, drawn, pairs
    return (
        for_few_rows(found, problem, *rows),
        least and replace(found, matrix=least.matrix, fixed=least.fixed),
    )


def _of_others(
    found: Covariance,
    known: Separation,
    problem: Problem,
    beta: Vector,
    alpha: float,
    options: Sandwich,
    scaling: Scaling | None,
    groups: Groups | None,
) -> Covariance:
    """The covariance of what rows that are not separated determine, 0 for the rest.

    The separated ones, which are certain, say nothing of it: it is that of the fit
    without them, in columns that are independent there.
    """
    whole, first = IdentifiedPart.without(problem, known), int(problem.intercept)
    if not whole.columns.size:  # complete separation
        every = np.eye(len(found.matrix))
        return replace(found, separated=known.number, unbounded=every, notes=())
    kept = np.flatnonzero(~separated_by(problem, known.directions))
    n, w = problem.n, problem.row_weights[kept]
    X, y = problem.X[kept], problem.y[kept]
    offset = None if problem.offset is None else problem.offset[kept]
    lam = problem.lam * n / float(w.sum())
    weights = None if problem.weights is None else w / w.mean()
    rest = replace(problem, X=X, y=y, lam=lam, weights=weights, offset=offset)
    columns = whole.columns[first:] - first
    theta = whole.change @ np.concatenate([np.full(first, alpha), beta])
    if scaling is not None:
        scaling = Scaling(scaling.centre[columns], scaling.scale[columns])
    groups = None if groups is None else groups.among(kept)
    rest = replace(rest, X=np.ascontiguousarray(X[:, columns]))
    given = options, None, scaling, groups
    of_rest = sandwich(rest, theta[first:], float(theta[0]) * first, *given)
    return replace(
        of_rest,
        matrix=whole.spread(of_rest.matrix),
        joint=whole.spread(of_rest.joint),
        fixed=whole.spread(of_rest.fixed),
        pull=whole.spread(of_rest.pull),
        bias=whole.spread(of_rest.bias),
        bread=found.bread,
        meat=found.meat,
        newton_step=found.newton_step,
        prior=found.prior,
        separated=known.number,
        unbounded=whole.unbounded,
    )


def _margins(
    problem: Problem, beta: Vector, alpha: float, dual: Vector | None
) -> tuple[Vector, Vector]:
    """``u_i``, and the slope weights."""
    f = arithmetic.risk.scores(problem.rows, beta, alpha) + problem.row_offsets
    u = 1.0 - problem.y * f
    if dual is not None and problem.loss == "hinge":
        at = certificate(problem, beta, alpha, dual)
        dual = dual if at.relative_gap <= NEAR else None
    return u, parts.slopes_of(problem, u, dual)


def _drawn(
    plain: Matrices,
    drawn: Drawn,
    problem: Problem,
    beta: Vector,
    scaling: Scaling | None,
) -> Matrices:
    """The same with the meat that is drawn to the model."""
    meat, sums = drawn.meat(plain.meat), plain.stacked
    if sums is not None and scaling is not None:
        none = np.zeros(problem.n), 1.0, bool(scaling.centre.any())
        sums = drawn.stacked(sums, stacked(problem, beta, *none))
    middle = around(plain.inverse, meat)
    return plain._replace(meat=meat, middle=middle, stacked=sums)


@np.errstate(over="ignore", invalid="ignore")
def bread_at(problem: Problem, found: Solution) -> Matrix:
    """``H`` at a fit, for rows about their centre, if they are far from zero."""
    centre = centre_for_errors(problem)
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
    width = float(found.bandwidth or 0.0)
    for _ in range(2):  # the second time with the curvature of the first
        others = parts.margins_of_others(problem, u, s, inverse, problem.n, width)
        curvature = parts.curvature_of(problem, others, s, narrow)
        H = parts.bread(problem, curvature)
        inverse = inverse_of_bread(problem, curvature, H)
        if not np.isfinite(inverse).all():
            return found
    n, stretch = problem.n, _corrected(problem, curvature, inverse, narrow)
    if sums is None:
        plain = np.ndim(stretch[0]) == 0  # as it was
        meat = found.meat if plain else _meat(problem, s, stretch[0], options, groups)
        given = problem, s, stretch[0], meat, inverse
        middle = around(inverse, meat) if groups else sandwiched(*given)
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
    problem: Problem,
    curvature: parts.Curvature,
    inverse: Matrix,
    options: Sandwich,
    pairs: Matrix | None = None,
) -> tuple[Vector | float, float]:
    """What scores and covariance are multiplied by, as the correction has it."""
    plain = options.correction in ("HC0", "nonrobust")
    if plain or not np.isfinite(inverse).all():
        return 1.0, 1.0
    leverage = parts.leverages(problem, curvature, inverse, pairs)
    if options.correction in OF_LEVERAGES:
        left = 1.0 - np.minimum(leverage, LARGEST_LEVERAGE)
        half = options.correction in ("HC2", "shrunk")
        return 1.0 / (np.sqrt(left) if half else left), 1.0
    n, used = problem.n, float(leverage.sum())
    above = n - 1.0 if isinstance(options, Cluster) else n
    return 1.0, above / (n - used) if n > used else np.nan
