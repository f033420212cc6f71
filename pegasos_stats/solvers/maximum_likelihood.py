"""Maximum likelihood for logistic regression: the log loss with lam = 0, certified.

With ``z = (1, x)``, margins ``m_i = y_i (z_i'theta + offset_i)`` and weights ``w_i``

    P(theta) = (1/n) sum_i w_i log(1 + exp(-m_i)).

Its dual maximises ``D(a) = (1/n) sum_i (w_i H(a_i / w_i) - a_i y_i offset_i)`` over
``0 <= a_i <= w_i`` with ``sum_i a_i y_i z_i = 0``, where ``H`` is the binary entropy:
without a penalty the signed dual weights ``a_i y_i`` are orthogonal to every column.
For the weights ``a_i = w_i / (1 + exp(m_i))`` at ``theta`` this sum is ``-n g``, with
the gradient ``g`` of ``P``. Newton's step ``d`` yields weights ``a_i'`` that satisfy
the constraint (``P''`` is the Hessian of ``P``):

    d = -(P'')^-1 g,    a_i' = a_i - w_i s_i (1 - s_i) y_i z_i'd,    s_i = a_i / w_i.

For any ``a'`` the gap is a mean Kullback-Leibler divergence, which is computed without
cancellation, minus a term of a residual:

    P(theta) - D(a') = (1/n) sum_i w_i KL(a_i' / w_i || a_i / w_i) - r'theta,

where ``r = (1/n) sum_i a_i' y_i z_i`` is the residual of the constraint; after a
Newton step it is a rounding error.

The estimate exists if a feasible dual point is strictly interior and the columns have
full rank (Albert & Anderson). For nearly all fits the dual point of a Newton step shows
this; otherwise a linear program decides (module `separation`). Predictors are
standardized internally, so their units do not matter.

A column is not estimable if the standard deviation of its residual on the columns
before it is below 1e-7 of its own standard deviation (without an intercept, of its root
mean square). R's ``lm`` has the same tolerance.

References
----------
Albert & Anderson, *On the existence of maximum likelihood estimates in logistic
regression models*, Biometrika 71 (1984).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import UNIT, Mask, Matrix, Vector, dense_rows
from pegasos_stats.data.scan.rows import size_of_sample
from pegasos_stats.data.scan.source import Block, Values, added
from pegasos_stats.errors import DataError, listing
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers import separation
from pegasos_stats.solvers.certificate import Certificate, finite
from pegasos_stats.solvers.intercept import centre_of
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.options import DEFAULT_TOL, NEWTON
from pegasos_stats.solvers.problem import MethodRun, Problem, Solution, Unit
from pegasos_stats.solvers.resamples import NEWTON_STEPS, newton_steps
from pegasos_stats.solvers.rounding import CLOSEST, MARGIN
from pegasos_stats.solvers.smooth_newton import null_model
from pegasos_stats.solvers.streamed.few_reads import StreamedFit, problem_of_sample
from pegasos_stats.solvers.sums import (
    TINY,
    additions,
    image,
    pivots,
    sample_rows,
    solved,
    table_of,
)

SMALLEST_STEP = 1e-9  # in standard errors: stop after a smaller Newton step
SMALL_STEP = 1e-3  # in standard errors: reuse the Hessian after a smaller step
COLLINEAR = 1e-7  # maximum residual SD of a collinear column, relative to its SD
SURE_PIVOT = 1e-9  # smallest squared residual that a Gram matrix determines
STRICTLY = 1e-10  # minimum distance of an interior a_i / w_i from 0 and 1
LEAST_SHARE = 1e-3  # minimum ratio of corrected to original a_i and w_i - a_i


class LikelihoodSums(NamedTuple):
    """Sums computed in one pass over the data, at a point ``theta``.

    The symbols are those of the module; ``a'`` is the dual point to compare with ``a``.

    Attributes
    ----------
    loss : float
        ``sum_i w_i log(1 + exp(-m_i))``.
    gradient : float64 array, shape (k,)
        ``sum_i a_i y_i z_i``, which is ``-n`` times the gradient.
    hessian : float64 array, shape (k, k)
        ``sum_i w_i s_i (1 - s_i) z_i z_i'``; zeros if it was not requested.
    divergence : float
        ``sum_i w_i KL(a_i' / w_i || a_i / w_i)``.
    left : float64 array, shape (k,)
        ``sum_i a_i' y_i z_i``.
    table : int array, shape (2, 3)
        Numbers of rows by label and predicted label, the last column for scores of 0.
    behind : int
        Number of rows of positive weight whose margin is 0 or negative.
    inside : float64 array, shape (2,)
        Minimum of ``a_i' / w_i`` and ``1 - a_i' / w_i``; and minimum ratio of these to
        their values before the correction, ``s_i`` and ``1 - s_i``.
    additions : float
        Maximum number of additions that a summand of `left` passes through.
    """

    loss: float
    gradient: Vector
    hessian: Matrix
    divergence: float
    left: Vector
    table: NDArray[np.int64]
    behind: int
    inside: Vector
    additions: float

    def plus(self, other: "LikelihoodSums") -> "LikelihoodSums":
        """Combine with the sums over other rows."""
        pairs: Any = zip(self[:-2], other[:-2], strict=True)
        inside = np.minimum(self.inside, other.inside)
        most = max(self.additions, other.additions) + 1.0
        return LikelihoodSums._make([*(a + b for a, b in pairs), inside, most])


@dataclass(frozen=True, eq=False)
class EstimableColumns:
    """Standardized estimable columns, the intercept first if there is one.

    Attributes
    ----------
    centre, scale : float64 array, shape (p,)
    intercept : bool
    columns : int array, shape (q,)
        Indices of the estimable predictors.
    basis : float64 array, shape (q, q), or None
        For nearly collinear columns: the matrix that makes them nearly orthogonal, by
        which the standardized rows are multiplied.
    """

    centre: Vector
    scale: Vector
    intercept: bool
    columns: NDArray[np.intp]
    basis: Matrix | None = None

    @property
    def k(self) -> int:
        """Number of coefficients."""
        return self.columns.size + self.intercept

    def rows(self, X: Any) -> Any:
        """Standardized rows, shape (m, q); without a basis sparse rows stay sparse."""
        if self.columns.size < self.centre.size:
            X = X[:, self.columns]
        scale = self.scale[self.columns]
        if isinstance(X, np.ndarray):
            Z = np.subtract(X, self.centre[self.columns], order="C")
            Z *= 1.0 / scale
        else:
            Z = X.multiply(1.0 / scale).tocsr()
        return Z if self.basis is None else np.asarray(Z @ self.basis)

    def scores(self, Z: Any, theta: Vector) -> Vector:
        """``z_i'theta``, shape (m,)."""
        if self.intercept:
            return np.asarray(Z @ theta[1:] + theta[0])
        return np.asarray(Z @ theta)

    def sums(self, Z: Any, c: Vector) -> Vector:
        """``sum_i c_i z_i``, shape (k,)."""
        by_blocks = isinstance(Z, np.ndarray) and Z.size > 0
        inner = image(c, Z) if by_blocks else np.asarray(c @ Z)
        return np.append(c.sum(), inner) if self.intercept else inner

    def gram(self, Z: Any, h: Vector) -> Matrix:
        """``sum_i h_i z_i z_i'``, shape (k, k), for ``h_i >= 0``."""
        root = np.sqrt(h)
        if isinstance(Z, np.ndarray):
            weighted = Z * root[:, None]
            inner = weighted.T @ weighted
        else:
            weighted = Z.multiply(root[:, None]).tocsr()
            inner = (weighted.T @ weighted).toarray()
        if not self.intercept:
            return np.asarray(inner)
        first = np.asarray(h @ Z)
        H = np.empty((self.k, self.k))
        H[0, 0], H[0, 1:], H[1:, 0], H[1:, 1:] = h.sum(), first, first, inner
        return H

    def solution(self, theta: Vector) -> tuple[Vector, float]:
        """``beta``, shape (p,), and ``alpha`` on the original scale of predictors."""
        inner, beta = theta[int(self.intercept) :], np.zeros(self.centre.size)
        if self.basis is not None:
            inner = self.basis @ inner
        beta[self.columns] = inner / self.scale[self.columns]
        if not self.intercept:
            return beta, 0.0
        return beta, float(theta[0] - self.centre @ beta)

    def theta(self, beta: Vector, alpha: float) -> Vector:
        """Inverse of `solution`; coefficients of inestimable columns are dropped."""
        inner = beta[self.columns] * self.scale[self.columns]
        if self.basis is not None:
            inner = np.asarray(np.linalg.solve(self.basis, inner))
        if not self.intercept:
            return np.asarray(inner)
        pairs = zip(self.centre.tolist(), beta.tolist(), strict=True)
        shift = sum((Fraction(c) * Fraction(b) for c, b in pairs), Fraction(alpha))
        return np.append(float(shift), inner)


def gram_of(at: EstimableColumns, block: Block, values: Values) -> Matrix:
    """``sum_i w_i z_i z_i'`` over the rows of a block."""
    return at.gram(at.rows(block.X), block.w)


class Triangle(NamedTuple):
    """The factor ``R`` of ``Z = QR``, shape (min(m, k), k)."""

    R: Matrix

    @classmethod
    def of(cls, Z: Matrix) -> "Triangle":
        """Factorise a matrix of rows."""
        return cls(np.asarray(np.linalg.qr(Z, mode="r")))

    def plus(self, other: "Triangle") -> "Triangle":
        """Factorise the rows of both factors together."""
        return self.of(np.vstack([self.R, other.R]))


def triangle_of(
    at: EstimableColumns, mean: Vector, block: Block, values: Values
) -> Triangle:
    """Factorise the rows of a block, weighted and centred at the mean of all rows."""
    Z = dense_rows(at.rows(block.X)) - mean
    return Triangle.of(Z * np.sqrt(block.w)[:, None])


def standardized(problem: Problem) -> EstimableColumns:
    """Scale the columns; centre dense ones if there is an intercept.

    The scale is the standard deviation of a column; for sparse rows or without an
    intercept, the root mean square. It is rounded up to a power of 2: multiplying by
    its reciprocal is exact and faster than dividing. Columns whose scale is 0 are
    excluded.
    """
    X, p = problem.X, problem.p
    if hasattr(type(X), "tocsr"):
        means, scale = np.zeros(p), np.sqrt(X.power(2).mean(axis=0))
    else:
        means, scale = problem.moments
    if not problem.intercept:
        means, scale = np.zeros(p), np.hypot(means, scale)
    varies = np.flatnonzero(scale > 0.0)
    powers = np.ceil(np.log2(np.where(scale == 0.0, 1.0, scale)))
    scale = np.exp2(np.maximum(-1022.0, powers))
    if not np.isfinite(scale).all():
        raise DataError(
            "The squares of the predictors overflow; divide large predictors by a "
            "constant."
        )
    return EstimableColumns(means, scale, problem.intercept, varies)


def estimable_columns(problem: Problem) -> EstimableColumns:
    """Standardize the columns that are not combinations of the columns before them.

    The residuals of the columns come from the Gram matrix; if one of them is near the
    rounding error of the Gram matrix, they come from the factor ``R`` of a QR
    decomposition.
    """
    at, weight = standardized(problem), sum(problem.class_weights)
    covariance = added(problem.source.map_blocks(partial(gram_of, at))) / weight
    mean = np.zeros(at.columns.size)
    if at.intercept:
        mean, covariance = covariance[0, 1:], covariance[1:, 1:]
        covariance = covariance - np.outer(mean, mean)
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    varies = size > COLLINEAR
    size = np.where(varies, size, np.inf)
    if not (
        pivots(covariance / size / size[:, None], COLLINEAR**2)[varies] < SURE_PIVOT
    ).any():
        return replace(at, columns=at.columns[varies])
    R = added(problem.source.map_blocks(partial(triangle_of, at, mean))).R
    estimable, basis = varies & independent(R), None
    residual = np.square(np.diag(Triangle.of(R[:, estimable]).R))
    if (residual < SURE_PIVOT * np.square(R[:, estimable]).sum(axis=0)).any():
        basis = np.linalg.inv(Triangle.of(R[:, estimable]).R) * np.sqrt(weight)
    return replace(at, columns=at.columns[estimable], basis=basis)


def independent(columns: Matrix) -> Mask:
    """Mark columns that are linearly independent of those before them, shape (k,).

    Examples
    --------
    >>> independent(np.array([[1.0, 1.0, 3.0], [0.0, 0.0, 1.0]]))
    array([ True, False,  True])
    """
    basis, answers = np.zeros((0, len(columns))), list[bool]()
    for column in columns.T:
        residual = column - (basis @ column) @ basis
        residual -= (basis @ residual) @ basis  # again, to remove rounding errors
        size = float(np.linalg.norm(residual))
        answers.append(size > COLLINEAR * float(np.linalg.norm(column)))
        if answers[-1]:
            basis = np.vstack([basis, residual / size])
    return np.array(answers, dtype=bool)


@dataclass(frozen=True, eq=False)
class LikelihoodPass:
    """Sum over the rows of a block at a point, and compare with a dual point.

    Attributes
    ----------
    at : EstimableColumns
    theta : float64 array, shape (k,)
    curved : bool
        Whether the Hessian is summed.
    step : tuple of two float64 arrays, shape (k,), or None
        Start of the Newton step, and the step. They define the dual point ``a'`` of the
        module's formula, which is stored in `dual`. Without a step ``a`` is stored, and
        `divergence`, `left` and `inside` of the sums are not computed.
    by_dual : bool
        Whether `dual` contains the dual point ``a'``; then no step is needed.
    """

    at: EstimableColumns
    theta: Vector
    curved: bool = False
    step: tuple[Vector, Vector] | None = None
    by_dual: bool = False

    @one_thread()
    @np.errstate(over="ignore", divide="ignore", invalid="ignore")
    def __call__(self, block: Block, dual: Values) -> LikelihoodSums:
        """Sum over a block."""
        at, y, w, k = self.at, block.y, block.w, self.at.k
        Z = at.rows(block.X)
        m = y * self._scores(Z, block, self.theta)
        s, rest, losses = logistic(m)
        sums = LikelihoodSums(
            loss=float(w @ losses),
            gradient=at.sums(Z, w * s * y),
            hessian=at.gram(Z, w * s * rest) if self.curved else np.zeros((k, k)),
            divergence=np.inf,
            left=np.full(k, np.inf),
            table=table_of(y, m),
            behind=int(np.count_nonzero((w > 0.0) & ~(m > 0.0))),
            inside=np.zeros(2),
            additions=additions(len(y)) if isinstance(Z, np.ndarray) else float(len(y)),
        )
        if self.by_dual:
            before, rest_before = s, rest
            point = np.divide(dual, w, out=s.copy(), where=w > 0.0)
            rest_point = 1.0 - point
        elif self.step is not None:
            start, step = self.step
            before, rest_before, _ = logistic(y * self._scores(Z, block, start))
            moved = before * rest_before * y * at.scores(Z, step)
            point, rest_point = before - moved, rest_before + moved
            if dual.size:
                dual[:] = w * np.clip(point, 0.0, 1.0)
        else:
            if dual.size:
                dual[:] = w * s
            return sums
        some, is_inside = w > 0.0, (point >= 0.0) & (rest_point >= 0.0)
        ratios = np.minimum(point / before, rest_point / rest_before)
        distances = np.where(is_inside, divergence(point - s, s, rest), np.inf)
        far = np.flatnonzero(is_inside & ~np.isfinite(distances))  # s is 0 or 1
        uniform = divergence(point[far] - 0.5, 0.5, 0.5)
        distances[far] = losses[far] + point[far] * m[far] + uniform - np.log(2.0)
        ends = np.minimum(point, rest_point)[some], ratios[some]
        return sums._replace(
            divergence=float(w[some] @ distances[some]),
            left=at.sums(Z, w * point * y),
            inside=np.array([part.min(initial=1.0) for part in ends]),
        )

    def _scores(self, Z: Any, block: Block, theta: Vector) -> Vector:
        scores = self.at.scores(Z, theta)
        return scores if block.offset is None else scores + block.offset


def logistic(m: Vector) -> tuple[Vector, Vector, Vector]:
    """``1 / (1 + exp(m))``, ``1 / (1 + exp(-m))`` and ``log(1 + exp(-m))``.

    Examples
    --------
    >>> [part.round(4).tolist() for part in logistic(np.array([-2.0, 0.0]))]
    [[0.8808, 0.5], [0.1192, 0.5], [2.1269, 0.6931]]
    """
    tail = np.exp(-np.abs(m))
    near, far = 1.0 / (1.0 + tail), tail / (1.0 + tail)
    ahead = m > 0.0
    losses = np.log1p(tail) - np.minimum(m, 0.0)
    return np.where(ahead, far, near), np.where(ahead, near, far), losses


def divergence(change: Vector, s: Vector | float, rest: Vector | float) -> Vector:
    """``KL(s + change || s)`` of two probabilities, ``rest = 1 - s``; not below 0.

    It is computed without cancellation, with ``h(x) = (1 + x) log(1 + x) - x``, as ::

        s h(change / s) + (1 - s) h(-change / (1 - s))

    Examples
    --------
    >>> s, rest = np.array([0.5, 0.5]), np.array([0.5, 0.5])
    >>> divergence(np.array([0.25, 1e-9]), s, rest)
    array([1.30812036e-01, 2.00000000e-18])
    """
    return np.asarray(s * _excess(change / s) + rest * _excess(-change / rest))


def _excess(x: Vector) -> Vector:
    """``(1 + x) log(1 + x) - x``; 1 at ``x = -1``."""
    x = np.maximum(x, -1.0)
    series = x * x * (0.5 - x * (1.0 / 6.0 - x / 12.0))
    safe = np.where(x > -1.0, x, 0.0)
    excess = np.where(x > -1.0, (1.0 + safe) * np.log1p(safe) - safe, 1.0)
    # The relative error of the series is about 1e-10 at most.
    return np.where(np.abs(x) < 1e-3, series, excess)


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """Result of the maximisation, or the reason why there is no estimate.

    Attributes
    ----------
    solution : Solution or None
        None if the estimate does not exist, its existence is not proved, or it was not
        reached.
    certificate : Certificate or None
    table : int array, shape (2, 3), or None
        Numbers of rows by label and predicted label, the last column for scores of 0.
    reason : str
        Why there is no solution, as the end of a sentence that begins with «The maximum
        likelihood estimate»; empty if there is one.
    n_passes : int
        Number of passes over streamed rows, including the search for collinear columns.
    """

    solution: Solution | None
    certificate: Certificate | None = None
    table: NDArray[np.int64] | None = None
    reason: str = ""
    n_passes: int = 0

    @property
    def streamed(self) -> StreamedFit:
        """The estimate in the form of other streamed fits."""
        assert self.solution is not None
        assert self.certificate is not None
        assert self.table is not None
        return StreamedFit(
            self.solution, self.certificate, self.table, True, self.n_passes
        )


def no_maximum(reason: str, problem: Problem) -> DataError:
    """Return the exception for a fit without an estimate."""
    return DataError(
        f"The maximum likelihood estimate {reason}. Leave lam out for the penalty 1/n, "
        "or give penalty='firth' for inference, lam='cv' for prediction"
        f"{problem.where_to_refit}."
    )


Observe = Callable[[int, Solution], None]


@one_thread()
def maximum_likelihood(
    problem: Problem, names: Sequence[str] = (), observe: Observe | None = None
) -> MaximumLikelihood:
    """Maximise the likelihood of a logistic regression by Newton's method.

    Parameters
    ----------
    problem : Problem
        Log loss with ``lam = 0``; rows in memory, in files or in Dask partitions.
    names : sequence of str, optional
        Names of the predictors, for the message if there is no estimate.
    observe : callable, optional
        Called after each pass, with the number of the pass and the current solution.

    Returns
    -------
    MaximumLikelihood

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    >>> fit = maximum_likelihood(Problem(X, y, 0.0, loss="log"))
    >>> fit.solution.beta.round(4), round(fit.solution.alpha, 4)
    (array([0.9082]), -1.3623)
    >>> ordered = Problem(X, np.array([-1.0, -1.0, 1.0, 1.0]), 0.0, loss="log")
    >>> maximum_likelihood(ordered, ["dose"]).reason
    "does not exist: 'dose' separates the classes"
    """
    k = problem.p + problem.intercept
    if k > 3000:  # a Hessian of 72 MB
        reason = f"was not computed: {k:,} coefficients are too many"
        return MaximumLikelihood(None, reason=reason)
    source = problem.source
    before = source.n_reads
    ascent = Ascent(problem, estimable_columns(problem), observe)
    ascent.begin()
    return replace(climbed(ascent, names), n_passes=source.n_reads - before)


def refit(problem: Problem, at: EstimableColumns, theta: Vector) -> MaximumLikelihood:
    """Maximise the likelihood of a resample, from the estimate for all rows.

    Parameters
    ----------
    problem : Problem
    at : EstimableColumns
        Estimable columns of the problem with all rows. If they are collinear in the
        resample, it has no estimate.
    theta : float64 array, shape (k,)
        Estimate for all rows, the start.
    """
    ascent = Ascent(problem, at)
    ascent.begin(theta)
    if not ascent.has_full_rank:
        return MaximumLikelihood(None, reason="is undetermined")
    return climbed(ascent, ())


class LikelihoodRefits:
    """Maximum likelihood for many resamples at once, from the estimate for all rows.

    Parameters
    ----------
    problem : Problem
        Problem with ``lam = 0``.
    at : EstimableColumns
    theta : float64 array, shape (k,)
        As for `refit`.
    """

    def __init__(self, problem: Problem, at: EstimableColumns, theta: Vector) -> None:
        Z = dense_rows(at.rows(problem.X))
        if at.intercept:
            Z = np.column_stack([np.ones(problem.n), Z])
        self._Z, self._at, self._theta = Z * problem.y[:, None], at, theta
        self._offset = problem.y * problem.row_offsets

    @np.errstate(all="ignore")
    def __call__(self, weights: Matrix) -> tuple[Matrix, Mask]:
        """Return ``alpha, beta``, shape (B, p + 1), and which of them are proved.

        For a proved estimate the last Newton step is below 1e-6 standard errors, so the
        remaining error is below 1e-9 standard errors. The dual point of this step is
        strictly interior, so the estimate exists. Use `refit` for other resamples.

        Parameters
        ----------
        weights : float64 array, shape (B, n)
            Weights of the rows in each resample.
        """
        Z, theta = self._Z, np.tile(self._theta, (len(weights), 1))
        rows, none = (Z, self._offset), np.zeros_like(theta)
        theta, d, s, H = newton_steps(LOSSES["log"], rows, weights, none, theta, 1e-12)
        is_last = np.einsum("bj,bjk,bk->b", d, H, d) <= 1e-12
        size = np.sqrt(np.einsum("bjj->bj", H))
        correlations = H / size[:, None] / size[:, :, None]
        correlations[~np.isfinite(correlations)] = 0.0
        has_full_rank = np.linalg.eigvalsh(correlations)[:, 0] > SURE_PIVOT
        move, rest = d @ Z.T, 1.0 - s
        shares = np.minimum(1.0 - rest * move, 1.0 + s * move)
        inside = (shares > LEAST_SHARE) & (np.minimum(s, rest) * shares >= STRICTLY)
        inside |= weights == 0.0
        points = [self._at.solution(row) for row in theta]
        estimates = np.array([[alpha, *beta] for beta, alpha in points])
        return estimates, is_last & has_full_rank & inside.all(axis=1)


def climbed(ascent: "Ascent", names: Sequence[str]) -> MaximumLikelihood:
    """Take Newton steps until the estimate is reached or shown not to exist."""
    exists, size, is_last = False, np.inf, False
    while ascent.n_passes < 100 and not ascent.is_separated:
        size, before = ascent.size, size
        if not np.isfinite(size):
            break
        is_slow = before < SMALL_STEP and size > before / 2.0
        is_last = size <= SMALLEST_STEP or (is_slow and ascent.is_curved)
        ascent.take_step(is_last or not exists, is_last, is_slow)
        exists = exists or ascent.proves_existence
        # Within this number of passes most estimates are proved to exist.
        if not exists and (is_last or ascent.n_passes >= NEWTON_STEPS):
            exists = ascent.is_overlapping() is True
            if not exists:
                break
        if is_last:
            fit = ascent.fit()
            if fit.certificate and fit.certificate.relative_gap <= DEFAULT_TOL:
                return fit
            break
    reason = "was not reached by Newton's steps: offsets or predictors are huge"
    if not exists:
        reason = ascent.reason(names)
    return MaximumLikelihood(None, reason=reason)


class Ascent:
    """Newton's method with one pass over the data at each point.

    Attributes
    ----------
    sums : LikelihoodSums
        Sums of the last pass.
    n_passes : int
    is_curved : bool
        Whether the last pass computed the Hessian.
    """

    sums: LikelihoodSums
    is_curved = False
    _direction: Vector | None = None

    def __init__(
        self, problem: Problem, at: EstimableColumns, observe: Observe | None = None
    ) -> None:
        self._problem, self._at, self._observe = problem, at, observe
        self._dual = np.zeros(problem.n)
        self._theta = np.zeros(at.k)
        self._hessian = np.zeros((at.k, at.k))
        self.n_passes, self._violations = 0, 0

    def begin(self, theta: Vector | None = None) -> None:
        """Pass over the rows at a point, by default a rough estimate from a sample.

        With few rows, or without an estimate from the sample, the default is the null
        model.
        """
        problem, at = self._problem, self._at
        if theta is None:
            part = sample_of(problem, at.k)
            theta = None if part is None else Ascent(part, at).rough()
        if theta is None:
            null = null_model(problem)[-1:] if at.intercept else np.zeros(0)
            theta = np.append(null, np.zeros(at.columns.size))
        self._theta = theta
        self._pass(True)

    @property
    def has_full_rank(self) -> bool:
        """Whether the Hessian shows that no column is a combination of others."""
        size = np.sqrt(np.maximum(np.diag(self._hessian), TINY))
        return bool(
            (
                pivots(self._hessian / size / size[:, None], COLLINEAR**2)
                > COLLINEAR**2
            ).all()
        )

    def rough(self) -> Vector | None:
        """Return a point near the estimate; None if no such point is found."""
        self.begin()
        for _ in range(NEWTON_STEPS):
            if not np.isfinite(self.size) or self.is_separated:
                return None
            if self.size <= 0.1 * np.sqrt(self._at.k):  # standard errors
                return self._theta + self._step
            self.take_step()
        return None

    def _pass(self, curved: bool, step: tuple[Vector, Vector] | None = None) -> None:
        work = LikelihoodPass(self._at, self._theta, curved, step)
        self.sums = added(self._problem.source.map_blocks(work, self._dual))
        self.n_passes, self.is_curved = self.n_passes + 1, curved
        self._violations += self.sums.behind
        if curved:
            self._hessian = self.sums.hessian
        if self._observe is not None:
            self._observe(self.n_passes, self.solution)

    @property
    def _step(self) -> Vector:
        """Newton's step."""
        return solved(self._hessian, self.sums.gradient)

    @property
    def size(self) -> float:
        """Length of the Newton step in standard errors.

        No coefficient moves by a larger multiple of its standard error.
        """
        squared = float(self.sums.gradient @ self._step)
        return float(np.sqrt(squared)) if squared >= 0.0 else float("nan")

    def take_step(
        self, judged: bool = False, is_last: bool = False, is_slow: bool = False
    ) -> None:
        """Take a Newton step, halved until the likelihood does not decrease.

        With `judged`, compare with the dual point of the step; the last step is not
        halved. The first halving may shorten the step further, to the share
        ``log(1 + delta) / delta``, with ``delta`` the largest change of a score in the
        full step. The likelihood increases up to this share, because the third
        derivative of a loss is at most its second derivative.
        """
        start, loss, step = self._theta, self.sums.loss, self._step
        curved, share = (self.size > SMALL_STEP or is_slow) and not is_last, 1.0
        for _ in range(40):
            self._theta = start + share * step
            if is_last:  # certify the coefficients as they are reported
                self._theta = self._at.theta(*self._at.solution(self._theta))
            self._pass(curved, (start, step) if judged else None)
            if is_last or self.sums.loss <= loss + CLOSEST * abs(loss):
                break
            share /= 2.0
            if share == 0.5:
                changes = partial(largest_change, self._at, step)
                delta = max(added(self._problem.source.map_blocks(changes)))
                share = min(share, float(np.log1p(delta)) / delta)

    @property
    def proves_existence(self) -> bool:
        """Whether the dual point is feasible and strictly interior."""
        (weight, ratio), left = self.sums.inside, self.sums.left
        if not (weight >= STRICTLY and ratio > LEAST_SHARE):
            return False
        # The constraint may be violated by the equivalent of 1e-6 standard errors.
        return float(left @ solved(self._hessian, left)) <= 1e-12

    @property
    def is_separated(self) -> bool:
        """Whether the current point classifies all rows correctly.

        Always false with an offset, because the offset may separate the classes.
        """
        return self._problem.offset is None and not self.sums.behind

    def is_overlapping(self) -> bool | None:
        """Whether no direction separates the classes; None if this is undecided."""
        if self.is_separated:
            return False
        self._direction = separation.first_direction(self._pass_over, self._at.k)
        return None if self._direction is None else not self._direction.any()

    def _pass_over(self, b: Vector | None) -> separation.DirectionPass:
        """Evaluate a direction on all rows; columns far from 0 are centred."""
        at = self._at
        centre = centre_of(at.centre, at.scale)
        near = replace(
            at, centre=np.zeros(at.centre.size) if centre is None else centre
        )
        work = DirectionsPass(at, near, self._theta, b)
        sums: separation.DirectionPass = added(self._problem.source.map_blocks(work))
        return sums

    def reason(self, names: Sequence[str]) -> str:
        """Why there is no estimate, as the end of a sentence."""
        at, p = self._at, self._problem.p
        names = list(names) or [f"x{j + 1}" for j in range(p)]
        ends = np.min(added(self._problem.source.map_blocks(ranges_of)), axis=0)
        # A column separates the classes if its ranges in them share at most one value.
        separates = (-ends[1] <= ends[0, ::-1]).any(axis=0)
        separating = [names[j] for j in at.columns if separates[j]]
        if separating:
            verb = "separates" if len(separating) == 1 else "separate"
            which = listing(separating, 3)
            return f"does not exist: {which} {verb} the classes"
        if self.is_separated:
            return "does not exist: the predictors together separate the classes"
        if self._direction is None:
            return "may not exist: neither the dual nor a linear program decides"
        sizes = np.abs(self._direction[int(at.intercept) :])
        places = np.flatnonzero(sizes > 1e-6 * sizes.max(initial=0.0))
        named = [names[j] for j in at.columns[places]]
        return (
            f"does not exist: a combination of {listing(named, 3)} separates "
            "the classes"
        )

    @property
    def solution(self) -> Solution:
        """The point of the last pass, with its dual point."""
        beta, alpha = self._at.solution(self._theta)
        estimable = np.zeros(self._problem.p, dtype=bool)
        estimable[self._at.columns] = True
        streamed = self._problem.source.is_streamed
        unit: Unit = "pass" if streamed else "iteration"
        return Solution(
            beta,
            alpha,
            self._dual.copy(),
            n_iter=self.n_passes,
            n_violations=self._violations,
            seed=None,
            n_epochs=self.n_passes,
            methods=(MethodRun(NEWTON, self.n_passes, unit),),
            estimable=None if estimable.all() else estimable,
        )

    def fit(self) -> MaximumLikelihood:
        """Return the estimate and its certificate."""
        at = certificate_at(self._problem, self._at, self._theta, self.sums)
        return MaximumLikelihood(self.solution, at, self.sums.table)


def sample_of(problem: Problem, k: int) -> Problem | None:
    """Sample whose estimate is the starting point; None if there are few rows."""
    X = problem.X
    some = sample_rows(problem.y, problem.weights, k)
    if some is None:
        return None
    if problem.has_rows:
        return problem.of_rows(some)
    return problem_of_sample(problem, X.sample(size_of_sample(problem.n, problem.p)))


@dataclass(frozen=True, eq=False)
class DirectionsPass:
    """Evaluate, in one pass, a direction that may separate the classes.

    Attributes
    ----------
    at : EstimableColumns
        Columns of `theta`.
    near : EstimableColumns
        Columns of `direction`.
    theta : float64 array, shape (k,)
        Current point.
    direction : float64 array, shape (k,), or None
    """

    at: EstimableColumns
    near: EstimableColumns
    theta: Vector
    direction: Vector | None

    def __call__(self, block: Block, dual: Values) -> separation.DirectionPass:
        """Evaluate the direction in the rows of a block."""
        f = self.at.scores(self.at.rows(block.X), self.theta)
        if block.offset is not None:
            f += block.offset
        Z = dense_rows(self.near.rows(block.X))
        if self.at.intercept:
            Z = np.column_stack([np.ones(len(Z)), Z])
        s, none = logistic(block.y * f)[0], np.zeros((0, Z.shape[1]))
        return separation.pass_over(Z, block.y, block.w, s, none, self.direction)


def largest_change(
    at: EstimableColumns, step: Vector, block: Block, values: Values
) -> list[float]:
    """Largest change of a score by a step, in a list of one number."""
    return [float(np.abs(at.scores(at.rows(block.X), step)).max(initial=0.0))]


def ranges_of(block: Block, dual: Values) -> list[Matrix]:
    """Minima of the columns and of their negatives, by class, in a list of one array.

    The array has shape (2, 2, p): column or negative, class -1 or +1, predictor. Only
    rows of positive weight count.
    """
    ends = np.full((2, 2, block.X.shape[1]), np.inf)
    for place, sign in enumerate((-1.0, 1.0)):
        X = block.X[np.flatnonzero((block.y == sign) & (block.w > 0.0))]
        if X.shape[0]:
            low, high = X.min(axis=0), X.max(axis=0)
            if not isinstance(X, np.ndarray):
                low, high = low.toarray(), high.toarray()
            ends[:, place] = low, -high
    return [ends]


def certificate_at(
    problem: Problem, at: EstimableColumns, theta: Vector, sums: LikelihoodSums
) -> Certificate:
    """Certify a point from the sums of a pass over all rows.

    The gap includes two bounds on rounding errors. The error of the constraint is added
    to ``|r|``. An error in a margin changes the divergence of a row by at most that
    error times ``|s_i - a_i' / w_i|``, which by Pinsker's inequality is at most the
    root of half the divergence. Columns have a mean square of at most 1.
    """
    n = problem.n
    rounding = MARGIN * UNIT * (sums.additions + 8.0)  # 8 for the summand itself
    left = np.abs(sums.left) / n + rounding
    mean, k = sums.divergence / n, theta.size
    reach = MARGIN * UNIT * (k + 2.0) * np.sqrt(k) * np.linalg.norm(theta)
    gap = mean + float(left @ np.abs(theta)) + float(reach * np.sqrt(mean / 2.0))
    objective = finite(sums.loss / n)
    (_, above, zero), (below, _, zero_plus) = sums.table
    return Certificate.of_divergence(
        objective, gap, int(above + below), (int(zero), int(zero_plus))
    )


def likelihood_certificate(
    problem: Problem, beta: Vector, alpha: float, a: Vector
) -> Certificate:
    """Certify a fit with ``lam = 0`` by its dual weights ``a``.

    If the weights violate the constraint of the dual, for instance because they belong
    to other coefficients, the gap includes the violation.
    """
    columns = np.flatnonzero(beta)
    at = standardized(problem)
    at = replace(at, columns=np.union1d(columns, at.columns))
    theta = at.theta(beta, alpha)
    sums = added(problem.source.map_blocks(LikelihoodPass(at, theta, by_dual=True), a))
    return certificate_at(problem, at, theta, sums)
