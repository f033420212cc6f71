"""The sandwich covariance ``(1/n) H^-1 G H^-1`` of a penalised fit.

The rows, in memory or in files, are read block by block. The first pass computes sums,
for the hinge a second pass computes ``H`` with its kernel, and the last pass computes
the influence of each row ::

    psi_i = -H^-1 S_i + D_i,    V = (1/n^2) sum_i psi_i psi_i'

with the score ``S_i`` of the row. ``D_i`` is 0, unless predictors are standardized:
then it is the influence through their means and standard deviations, see
`Fitted.scores`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from pegasos_stats.arrays import Mask, Matrix, SparseRows, Vector, dense_rows
from pegasos_stats.arrays import Rows as Numbers
from pegasos_stats.data.design import Scaling
from pegasos_stats.data.sample import Groups
from pegasos_stats.data.scan.source import NO_VALUES, Block, Values, Work, added
from pegasos_stats.errors import DataError
from pegasos_stats.models.inference.options import OF_LEVERAGES, Cluster, Sandwich
from pegasos_stats.models.inference.wald import MOST_COEFFICIENTS, Covariance
from pegasos_stats.models.notes import Note
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers.intercept import centre_for_errors
from pegasos_stats.solvers.losses import LOSSES, LossName
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.separation import (
    MOST_COLUMNS,
    DirectionPass,
    IdentifiedPart,
    find_separation,
    pass_over,
    separated_by,
)
from pegasos_stats.solvers.sums import solved

Result = TypeVar("Result")

SCORE_BLOCK = 1 << 20  # numbers in a block of rows
NEAR_OPTIMUM = 1e-3  # relative gap up to which dual variables identify margin rows
FORWARD = 1.0 - 1e-6  # a row whose margin increases by this may be separated
MARGIN_ROUNDING = 1e-6  # accuracy of margins
# Pivots of H, scaled to unit diagonal, count as 0 if they are at most k times this.
PIVOT_ROUNDING = 1e-13
SINGULAR = 1e-10  # eigenvalues of I - R A R' that count as 0; rounding is about 1e-13
NEARLY_COLLINEAR = 1e-3  # pivot of H at which a variance loses three digits
SeparatedRows = tuple[int, IdentifiedPart, "Fitted"]


class FittedRows(NamedTuple):
    """Rows of a block at the fit: ``z = (1, x)``, or ``z = x`` without an intercept.

    Attributes
    ----------
    Z : float64 array, shape (m, k)
        Rows ``z_i`` with predictors minus `Fitted.centre`, restricted to the columns
        `Fitted.columns` and multiplied by `Fitted.basis`.
    y, w : float64 array, shape (m,)
    u : float64 array, shape (m,)
        ``1 - y_i f(x_i)``.
    s : float64 array, shape (m,)
        Minus the derivative of the loss with respect to ``m_i = y_i f(x_i)``. For a
        hinge fit near its optimum it is ``a_i / w_i`` with the dual variable ``a_i``;
        for other hinge fits it is 1 if ``m_i < 1`` and 0 otherwise.
    """

    Z: Matrix
    y: Vector
    w: Vector
    u: Vector
    s: Vector


class ClassSums(NamedTuple):
    """Sums over the rows of each class, -1 and +1, and over all.

    Attributes
    ----------
    rows : float64 array, shape (2,)
        Numbers of rows with a positive weight.
    w, wu, wuu : float64 array, shape (2,)
        ``sum w_i``, ``sum w_i u_i`` and ``sum w_i u_i^2``.
    z, uz, scores : float64 array, shape (2, k)
        ``sum w_i z_i``, ``sum w_i u_i z_i`` and ``sum -w_i s_i y_i z_i``.
    squares : float64 array, shape (2, k)
        ``sum w_i z_i^2``.
    H : float64 array, shape (k, k)
        ``sum_i w_i loss''(m_i) z_i z_i'``; for the hinge ``sum_i w_i z_i z_i'``.
    u, margin_weights : list of float64 array
        ``u_i`` and ``w_i`` of all rows, for the hinge.
    """

    rows: Vector
    w: Vector
    wu: Vector
    wuu: Vector
    z: Matrix
    uz: Matrix
    scores: Matrix
    squares: Matrix
    H: Matrix
    u: list[Vector]
    margin_weights: list[Vector]


class Curvature(NamedTuple):
    """Curvature of the hinge, and numbers of rows at and beyond the margin.

    Attributes
    ----------
    H : float64 array, shape (k, k)
        ``sum_i w_i k_h(u_i) z~_i z~_i'``, see `Sandwich`.
    near : float
        ``sum_i exp(-(u_i / h)^2 / 2)`` over rows with a positive weight.
    beyond : int
        Number of rows with a margin below 1.
    """

    H: Matrix
    near: float
    beyond: int


class RowInfluence(NamedTuple):
    """Quantities besides the fit from which the influence of rows is computed.

    Attributes
    ----------
    inverse : float64 array, shape (k, k)
        ``H^-1``.
    n : int
    correction : str
    means : float64 array, shape (2, k)
        Mean score of each class with balanced weights; otherwise the mean score of all
        rows, for both classes.
    moments : three float64 arrays, shapes (k,), (2, k) and (2, k), or None
        For standardized predictors: the mean of all rows; then, as for `means` by
        class, the mean and the mean squared difference from the mean of all rows.
    centred : bool
        Whether the intercept depends on the estimated means of predictors.
    classes : float64 array, shape (2,), or None
        Number of rows of each class, for balanced weights with the log loss.
    """

    inverse: Matrix
    n: int
    correction: str
    means: Matrix
    moments: tuple[Vector, Matrix, Matrix] | None
    centred: bool
    classes: Vector | None


class Products(NamedTuple):
    """``sum psi_i psi_i'``, and the same sum with ``-H^-1 S_i`` for ``psi_i``."""

    psi: Matrix
    fixed: Matrix


class RowScores(NamedTuple):
    """Scores of rows, and their influence through standardization and weights.

    Attributes
    ----------
    S : float64 array, shape (m, k)
        ``S_i``.
    moved : float64 array, shape (m, k) or (m, k + 1), or None
        ``D_i``. With balanced weights and the log loss its last column is the influence
        on ``log(n- / n+)``.
    """

    S: Matrix
    moved: Matrix | None

    def influence(self, inverse: Matrix) -> tuple[Matrix, Matrix]:
        """``psi_i = -H^-1 S_i + D_i`` and ``-H^-1 S_i``, as rows of two arrays."""
        fixed = -self.S @ inverse
        if self.moved is None:
            return fixed, fixed
        psi = self.moved.copy()
        psi[:, : len(inverse)] += fixed
        return psi, fixed


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit without its rows, as it is sent to workers.

    Attributes
    ----------
    lam, loss, intercept
        As for the problem.
    beta : float64 array, shape (p,)
    alpha : float
        Intercept for predictors minus `centre`.
    centre : float64 array, shape (p,), or None
        Means of columns that are far from zero, and values of constant columns; 0 for
        the others.
    slopes : float64 array, shape (p',)
        Coefficients of the predictors in `columns`, including the effects of excluded
        predictors that are linear combinations of them; `beta` if `columns` is None.
    directions : float64 array, shape (q, k), or None
        Directions that separate the excluded rows, see `Separation`.
    columns : int array, shape (k',), or None
        Positions of the coefficients that the rows determine; None for all.
    basis : float64 array, shape (k', k'), or None
        Basis in which the columns are nearly orthogonal: rows are ``z'B``.
    """

    lam: float
    loss: LossName
    intercept: bool
    beta: Vector
    alpha: float
    centre: Vector | None
    slopes: Vector
    directions: Matrix | None = None
    columns: Numbers | None = None
    basis: Matrix | None = None

    def part(self, block: Block, dual: Values) -> FittedRows:
        """Return the rows of a block at the fit."""
        X = dense_rows(block.X)
        if self.centre is not None:
            X = X - self.centre
        f = X @ self.beta + self.alpha
        if block.offset is not None:
            f = f + block.offset
        u, w = 1.0 - block.y * f, block.w
        if self.loss != "hinge":
            s = LOSSES[self.loss].dual_weights(1.0 - u)
        elif dual.size:
            s = np.clip(np.divide(dual, w, np.zeros(w.size), where=w > 0.0), 0.0, 1.0)
        else:
            s = (u > 0.0).astype(np.float64)
        Z = np.column_stack([np.ones(len(X)), X]) if self.intercept else X
        if self.directions is not None:
            w = np.where(separated_by(Z, block.y, w, self.directions), 0.0, w)
        Z = Z if self.columns is None else Z[:, self.columns]
        return FittedRows(Z if self.basis is None else Z @ self.basis, block.y, w, u, s)

    def pass_over(
        self, directions: Matrix, b: Vector | None, block: Block, dual: Values
    ) -> DirectionPass:
        """Evaluate a direction that may separate rows."""
        Z, y, w, _, s = self.part(block, dual)
        return pass_over(Z, y, w, s, directions, b)

    def moved_forward(self, step: Vector, block: Block, dual: Values) -> int:
        """Count rows whose margins increase by 1 or more in a step."""
        Z, y, w, _, _ = self.part(block, dual)
        return int(((y * (Z @ step) >= FORWARD) & (w > 0.0)).sum())

    @np.errstate(over="ignore", invalid="ignore")
    def sums(self, block: Block, dual: Values) -> ClassSums:
        """Compute the sums of `ClassSums` over a block."""
        Z, y, w, u, s = self.part(block, dual)
        classes = np.array([w * (y < 0.0), w * (y > 0.0)])
        hinge = self.loss == "hinge"
        return ClassSums(
            rows=np.count_nonzero(classes, axis=1).astype(np.float64),
            w=classes.sum(axis=1),
            wu=classes @ u,
            wuu=classes @ (u * u),
            z=classes @ Z,
            uz=(classes * u) @ Z,
            scores=(classes * -(s * y)) @ Z,
            squares=classes @ (Z * Z),
            H=cross(Z, w if hinge else w * LOSSES[self.loss].second_derivatives(s)),
            u=[u] if hinge else [],
            margin_weights=[w] if hinge else [],
        )

    def curvature(
        self, h: float, slopes: Matrix, block: Block, dual: Values
    ) -> "Curvature":
        """Compute the sums of `Curvature` over a block; `slopes` are ``c_y``."""
        Z, y, w, u, _ = self.part(block, dual)
        heights = np.exp(-0.5 * np.square(u / h))
        moved = Z - u[:, None] * slopes[(y > 0.0).astype(int)]
        counted = w > 0.0
        return Curvature(
            cross(moved, w * heights / (np.sqrt(2.0 * np.pi) * h)),
            float(heights[counted].sum()),
            int((u[counted] > MARGIN_ROUNDING).sum()),
        )

    def scores(self, influence: RowInfluence, block: Block, dual: Values) -> RowScores:
        """``S_i`` and ``D_i`` of a block, as rows of two arrays.

        A score is ``S_i = r_i w_i (-s_i y_i z_i - mean)``. The mean is subtracted
        because weights are scaled to mean 1, which makes the risk a ratio of two means.
        With balanced weights it is a sum of two such ratios, one for each class.
        ``r_i`` is 1, ``(1 - h_i)^(-1/2)`` for HC2 or ``(1 - h_i)^-1`` for HC3, with
        ``h_i`` at most 0.99.

        Standardized predictors also depend on their estimated means and deviations. On
        the original scale the penalty is ``lam/2 sum_j (scale_j b_j)^2``, which adds
        ``w_i lam beta_j (x_ij^2 - 1)`` to ``S_i``. The influence on the coefficients
        through ``scale_j`` is ``w_i beta_j (x_ij^2 - 1) / 2``, and the influence on the
        intercept through the means is ``w_i sum_j beta_j x_ij``. With balanced weights
        and the log loss ``D_i`` has one more column, the influence on ``log(n- / n+)``:
        ``n / n-`` for a row of class -1 and ``-n / n+`` for a row of class +1.
        """
        Z, y, w, _, s = self.part(block, dual)
        r, first = w, int(self.intercept)
        place = (y > 0.0).astype(int)
        if influence.correction in OF_LEVERAGES:
            h = self.leverages(Z, w, s, influence.inverse, influence.n)
            left = 1.0 - np.minimum(h, 0.99)
            r = w / (np.sqrt(left) if influence.correction == "HC2" else left)
        S = r[:, None] * (-(s * y)[:, None] * Z - influence.means[place])
        moved = None
        if influence.moments is not None:
            centre, means, variances = (
                moment[..., first:] for moment in influence.moments
            )
            X = Z[:, first:]
            spread = np.square(X - centre) - variances[place]
            spread *= w[:, None] * self.slopes
            S[:, first:] += self.lam * spread
            moved = np.zeros_like(S)
            moved[:, first:] = 0.5 * spread
            if influence.centred:
                moved[:, 0] = w * ((X - means[place]) @ self.slopes)
        if influence.classes is not None:
            below, above = influence.n / influence.classes
            prior = np.where(place > 0, -above, below) * (w > 0.0)
            moved = np.column_stack(
                [np.zeros_like(S) if moved is None else moved, prior]
            )
        return RowScores(S, moved)

    def roots(self, block: Block, dual: Values) -> Matrix:
        """``(w_i loss''(m_i))^1/2 z_i`` of a block, shape (m, k)."""
        Z, _, w, _, s = self.part(block, dual)
        return np.sqrt(w * LOSSES[self.loss].second_derivatives(s))[:, None] * Z

    def squared_roots(self, block: Block, dual: Values) -> Matrix:
        """``sum_i w_i loss''(m_i) z_i z_i'`` of a block, shape (k, k)."""
        R = self.roots(block, dual)
        return np.asarray(R.T @ R)

    def leverages(
        self, Z: Matrix, w: Vector, s: Vector, inverse: Matrix, n: int
    ) -> Vector:
        """``w_i loss''(m_i) z_i'H^-1 z_i / n``, shape (m,)."""
        forms = np.einsum("ij,ij->i", Z @ inverse, Z)
        return np.asarray(w * LOSSES[self.loss].second_derivatives(s) * forms / n)

    def products(self, influence: RowInfluence, block: Block, dual: Values) -> Products:
        """Compute the sums of `Products` over a block."""
        psi, fixed = self.scores(influence, block, dual).influence(influence.inverse)
        squares = psi.T @ psi
        return Products(squares, squares if psi is fixed else fixed.T @ fixed)


@one_thread()
@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def sandwich(
    problem: Problem,
    solution: Solution,
    options: Sandwich,
    scaling: Scaling | None = None,
    groups: Groups | None = None,
    relative_gap: float = 0.0,
) -> Covariance:
    """Covariance ``(1/n) H^-1 G H^-1`` of the coefficients at the optimum.

    For a fixed ``lam`` the fit is an M-estimator of the minimiser of the penalised risk
    in the population, and the result is its asymptotic covariance.

    Parameters
    ----------
    problem : Problem
        Its rows are in memory, in files or in a Dask data frame.
    solution : Solution
    options : Sandwich
    scaling : Scaling, optional
        Standardization of the predictors, if any.
    groups : Groups, optional
        Groups of dependent rows; `options` must then be a `Cluster`.
    relative_gap : float
        Relative gap of the fit. Up to 0.1% the dual variables identify the rows at the
        margin of the hinge.

    Returns
    -------
    Covariance
        NaN, with a note, if it is not defined. Examples are a hinge fit with an
        intercept and no row near the margin, a hinge fit with no row beyond the margin,
        and collinear predictors with a tiny `lam`.

    Raises
    ------
    DataError
        If there are more than 10,000 coefficients, or rows cannot be read.

    References
    ----------
    See `Sandwich`.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [-0.5], [0.0], [1.5]]), np.array([-1.0, 1.0, -1.0, 1])
    >>> problem = Problem(X, y, lam=0.1, loss="log")
    >>> at = Solution(np.array([0.8587]), 0.0, np.zeros(4), 0, 0, None)
    >>> sandwich(problem, at, Sandwich()).std_error.round(2)
    array([0.99, 0.46])
    """
    rows = SandwichRows.of(problem, solution, options, scaling, groups, relative_gap)
    if solution.estimable is not None:
        return rows.uncentred(rows.of_estimable(solution.estimable))
    sums: ClassSums = rows.total(rows.fitted.sums)
    whole = rows.covariance(sums)
    if problem.no_ml:
        return rows.uncentred(undefined(whole, no_ml(problem)))
    if not problem.lam:  # the classes overlap, as the estimate exists
        return rows.uncentred(whole)
    separated = None if np.isnan(whole.matrix).all() else rows.separation(sums)
    if separated is None:
        if rows.is_collinear(sums):
            reason = f"predictors are collinear, and lam={problem.lam:g} is too small"
            whole = undefined(whole, reason)
        return rows.uncentred(whole)
    number, part, fitted = separated
    first = int(problem.intercept)
    slopes = part.change[first:, first:] @ fitted.beta
    fitted = replace(fitted, columns=part.columns, slopes=slopes)
    whole = replace(whole, separated=number, unbounded=part.unbounded)
    if part.columns.size:  # else separation is complete
        rest = rows.covariance_of(fitted)
        whole = replace(
            whole,
            matrix=part.spread(rest.matrix),
            fixed=None if rest.fixed is None else part.spread(rest.fixed),
            notes=rest.notes,
            rows=rest.rows,
        )
    return rows.uncentred(whole)


@dataclass(frozen=True, eq=False)
class SandwichRows:
    """Rows of a fit, and the fit to centred predictors.

    Attributes
    ----------
    problem : Problem
    fitted : Fitted
    dual : float64 array, shape (n,), or None
        Dual variables, for a hinge fit near its optimum.
    options, scaling, groups
        As for `sandwich`.
    """

    problem: Problem
    fitted: Fitted
    dual: Vector | None
    options: Sandwich
    scaling: Scaling | None
    groups: Groups | None

    @classmethod
    def of(
        cls,
        problem: Problem,
        solution: Solution,
        options: Sandwich,
        scaling: Scaling | None = None,
        groups: Groups | None = None,
        gap: float = 0.0,
    ) -> "SandwichRows":
        """Compute the centre, and check the number of coefficients."""
        k = problem.p + problem.intercept
        if k > MOST_COEFFICIENTS:
            raise DataError(
                f"The covariance of {k:,} coefficients has {k * k:,} entries, and "
                f"standard errors need at most {MOST_COEFFICIENTS:,} coefficients; use "
                "fewer predictors, or cov_type='none'."
            )
        centre = centre_for_errors(problem)
        alpha = solution.alpha + (
            0.0 if centre is None else float(centre @ solution.beta)
        )
        is_near = problem.loss == "hinge" and gap <= NEAR_OPTIMUM
        fitted = Fitted(
            problem.lam,
            problem.loss,
            problem.intercept,
            solution.beta,
            alpha,
            centre,
            solution.beta,
        )
        dual = solution.dual if is_near else None
        return cls(problem, fitted, dual, options, scaling, groups)

    def map_blocks(self, work: Work[Result]) -> Iterator[Result]:
        """Apply `work` to each block of rows and their dual variables."""
        dual = NO_VALUES if self.dual is None else self.dual
        step = max(256, SCORE_BLOCK // max(1, self.problem.p))
        return self.problem.source.map_blocks(work, dual, step)

    def total(self, work: Work[Result]) -> Result:
        """Sum of the results of `work` for the blocks."""
        total: Result = added(self.map_blocks(work))
        return total

    def of_estimable(self, estimable: Mask) -> Covariance:
        """The covariance of the estimable columns; 0 for the others."""
        rows = np.append([True] * self.problem.intercept, estimable)
        columns, slopes = np.flatnonzero(rows), self.fitted.beta[estimable]
        inner = self.covariance_of(replace(self.fitted, columns=columns, slopes=slopes))
        T = np.eye(rows.size)[:, columns]
        return inner.mapped(T, T @ inner.bread @ T.T)

    def covariance_of(self, fitted: Fitted) -> Covariance:
        """Covariance for the columns and basis of `fitted`, by passes over the rows."""
        others = replace(self, fitted=fitted)
        return others.covariance(others.total(fitted.sums))

    def separation(self, sums: ClassSums) -> SeparatedRows | None:
        """Exclude the separated rows of a fit with the log loss.

        Returns
        -------
        tuple, or None without separated rows
            The number of separated rows; the coefficients that the remaining rows
            determine; and the fit, which excludes the separated rows if others remain.
        """
        fitted = self.fitted
        if fitted.loss != "log" or not self._may_be_separated(sums):
            return None
        theta = np.append([fitted.alpha] * fitted.intercept, fitted.beta)
        n, run_pass = self.problem.n_weighed, self.fitted.pass_over
        separation = find_separation(
            lambda *of_pass: self.total(partial(run_pass, *of_pass)), theta, n
        )
        if separation is None:
            return None
        H = np.zeros_like(sums.H)
        if separation.n_separated < n:
            fitted = replace(fitted, directions=separation.directions)
            # The penalty determines a constant column, which is 0 in centred rows.
            H = self.total(fitted.sums).H + np.diag(np.diag(sums.H) == 0.0)
        return separation.n_separated, IdentifiedPart.by(H), fitted

    def is_collinear(self, sums: ClassSums) -> bool:
        """Whether predictors are collinear and the penalty is negligible."""
        H, k = sums.H + np.diag(np.diag(sums.H) == 0.0), len(sums.H)
        penalty = np.diag(penalty_of(self.problem, k)) * self.problem.n
        if k > min(MOST_COLUMNS, self.problem.n_weighed) or not np.isfinite(H).all():
            return False
        # Rounding errors of a variance are divided by the square of penalty / diag(H).
        # From 1e-6 on this square, 1e-12, exceeds the relative rounding error of H.
        negligible = bool((penalty < 1e-6 * np.diag(H))[-self.problem.p :].any())
        return negligible and bool(np.isnan(inverse_of(H)).any())

    def _may_be_separated(self, sums: ClassSums) -> bool:
        """Whether Newton's step without the penalty raises a margin by 1 or more."""
        step = solved(sums.H, -sums.scores.sum(axis=0))
        farthest = np.linalg.norm(step[int(self.fitted.intercept) :])
        radius, centre = self.problem.radius, self.fitted.centre
        radius += 0.0 if centre is None else float(np.linalg.norm(centre))
        most = farthest * radius + (abs(step[0]) if self.fitted.intercept else 0.0)
        if most < FORWARD:
            return False
        return bool(self.total(partial(self.fitted.moved_forward, step)))

    def covariance(self, sums: ClassSums) -> Covariance:
        """Covariance for centred rows; NaN, with the reason, if it is not defined."""
        problem, slopes = self.problem, self.fitted.slopes
        options, groups = self.options, self.groups
        n, first, k = problem.n, int(problem.intercept), len(sums.H)
        H, width, reason = sums.H / n, None, ""
        if problem.loss == "hinge":
            width, at = self.hinge_curvature(sums)
            H, reason = at.H / n, why_undefined(problem, width, at)
        H = H + self.penalty(k)
        if not reason and (B := self.needed_basis(H)) is not None:
            # theta = B phi
            return self.covariance_of(replace(self.fitted, basis=B)).mapped(B, H)
        inverse = inverse_of(H)
        if not np.isfinite(H).all() or not np.isfinite(sums.scores).all():
            reason = "the squares of the predictors overflow"
        elif not reason and not np.isfinite(inverse).all():
            reason = f"predictors are collinear, and lam={problem.lam:g} is too small"
        products, undetermined = self.products(sums, inverse, H)
        used = float(sums.rows.sum())
        factor = correction_factor(used, self.penalty(k), inverse, options) / n**2
        matrix, below = without_negative(products.psi * factor, groups)
        fixed, _ = without_negative(products.fixed * factor, groups)
        prior, matrix = matrix[k] if len(matrix) > k else None, matrix[:k, :k]
        if not reason and not np.isfinite(matrix).all():
            reason = "variances overflow"
        gradient = sums.scores.sum(axis=0) / n
        shrinkage = np.append(np.zeros(first), problem.lam * slopes)
        B = self.fitted.basis
        gradient += shrinkage if B is None else B.T @ shrinkage
        is_fixed = self.scaling is None or options.correction == "nonrobust"
        # With Firth's penalty a step of the likelihood does not lead to the optimum.
        has_step = problem.loss != "hinge" and not problem.has_firth
        df, rows = np.inf, np.inf
        if isinstance(options, Cluster) and groups:
            df = groups.df(k) if options.use_t else np.inf
            rows = df if options.correction == "CR3" else np.inf
            if df <= 0.0 and not reason:
                reason = f"{groups} are too few for {k} coefficients"
        elif problem.loss == "hinge" or options.correction == "HC3":
            rows = max(0.0, used - k)
        V = Covariance(
            matrix=(matrix + matrix.T) / 2.0,
            bread=H,
            df=df,
            rows=rows,
            bandwidth=width,
            newton_step=-inverse @ gradient if has_step else None,
            notes=(BELOW,) if below else (),
            fixed=None if is_fixed else (fixed + fixed.T) / 2.0,
            prior=prior,
            unbounded=undetermined,
        )
        return undefined(V, reason) if reason else V

    def penalty(self, k: int) -> Matrix:
        """``lam J``, shape (k, k), for the columns in use."""
        penalty, B = penalty_of(self.problem, k), self.fitted.basis
        return penalty if B is None else B.T @ penalty @ B

    def needed_basis(self, H: Matrix) -> Matrix | None:
        """``B`` with ``B'HB = I`` if columns are nearly collinear, but not exactly.

        The relative rounding error of a variance is inversely proportional to the share
        of a column's sum of squares that earlier columns do not explain. An example of
        a small share is the product of a date with a group.
        """
        if self.fitted.basis is not None or self.scaling is not None:
            return None
        if self.problem.lam and not np.isfinite(inverse_of(H)).all():
            return None
        root, scale = scaled_root(H)
        if root is None or np.square(np.diag(root)).min() > NEARLY_COLLINEAR:
            return None
        return np.asarray(np.linalg.solve(root, np.diag(scale)).T)

    def hinge_curvature(self, sums: ClassSums) -> tuple[float, Curvature]:
        """Bandwidth and curvature; both are 0 if all rows have the same margin."""
        width, k = self.options.bandwidth, len(sums.H)
        if width == "silverman":
            row_weights, w = self.problem.weights, sums.margin_weights
            weights = None if row_weights is None else np.concatenate(w)
            width = silverman(np.concatenate(sums.u), weights)
        if not width:
            return 0.0, Curvature(np.zeros((k, k)), 0.0, 0)
        # c_y = sum w (u - mean) z / sum w (u - mean) u, of each class
        means = sums.wu / np.maximum(sums.w, np.finfo(float).tiny)
        size = (sums.wuu - means * sums.wu)[:, None]
        slopes = (sums.uz - means[:, None] * sums.z) / np.where(size > 0, size, np.inf)
        return float(width), self.total(partial(self.fitted.curvature, width, slopes))

    def products(
        self, sums: ClassSums, inverse: Matrix, H: Matrix
    ) -> tuple[Products, Matrix | None]:
        """``sum psi_i psi_i'``; for groups ``sum_ways c sum_g psi_g psi_g'``.

        Also returns the directions that the rows do not determine if some group is
        omitted. For ``"nonrobust"`` the sum is replaced by its expectation under the
        model.
        """
        problem, n, scaling = self.problem, self.problem.n, self.scaling
        correction = self.options.correction
        if correction == "nonrobust":  # G = H - lam J
            model = inverse @ (H - self.penalty(len(H))) @ inverse * n
            return Products(model, model), None
        balanced, moments = problem.balanced, None

        def averages(of_classes: Matrix) -> Matrix:
            # balanced weights: each class has its own mean
            if balanced:
                return of_classes / sums.w[:, None]
            return np.tile(of_classes.sum(axis=0) / sums.w.sum(), (2, 1))

        if scaling is not None:
            centre, means = sums.z.sum(axis=0) / sums.w.sum(), averages(sums.z)
            squares = averages(sums.squares) - 2.0 * centre * means + centre**2
            moments = centre, means, squares
        influence = RowInfluence(
            inverse,
            n,
            correction,
            averages(sums.scores),
            moments,
            problem.intercept and scaling is not None and bool(scaling.centre.any()),
            sums.rows if balanced and problem.loss == "log" else None,
        )
        if self.groups is None:
            products: Products = self.total(partial(self.fitted.products, influence))
            return products, None
        return self.group_products(influence, self.groups)

    def group_products(
        self, influence: RowInfluence, groups: Groups
    ) -> tuple[Products, Matrix | None]:
        """``sum_ways c sum_g psi_g psi_g'``, with ``S_g`` corrected for CR3."""
        parts = self.map_blocks(partial(self.fitted.scores, influence))
        (S, moved), undetermined = concatenated([*parts]), None
        products = []
        for way in ways_of(groups, self.options.correction != "CR3"):
            of_groups = RowScores(
                way.indicator @ S, None if moved is None else way.indicator @ moved
            )
            if self.options.correction == "CR3":
                roots = np.concatenate([*self.map_blocks(self.fitted.roots)])
                inverse = influence.inverse / influence.n
                scores, undetermined = scores_left_out(
                    of_groups.S, roots, groups.codes[0], inverse
                )
                of_groups = of_groups._replace(S=scores)
            psi = of_groups.influence(influence.inverse)
            products.append(Products(*(way.product(array) for array in psi)))
        total: Products = added(products)
        return total, undetermined

    def uncentred(self, covariance: Covariance) -> Covariance:
        """Convert the covariance for rows ``(1, x - c)`` to rows ``(1, x)``."""
        centre, intercept = self.fitted.centre, self.problem.intercept
        if centre is None:
            return covariance
        scale = np.ones(centre.size)
        C = Scaling(-centre, scale).undoing(intercept)
        back = Scaling(centre, scale).undoing(intercept)
        return covariance.mapped(back, C.T @ covariance.bread @ C)


def no_ml(problem: Problem) -> str:
    """Why a fit without maximum likelihood estimate has no standard errors."""
    return (
        f"The maximum likelihood estimate {problem.no_ml}. Fitted with the penalty "
        "lam = 1/n, without standard errors. Use penalty='firth' for inference, "
        f"lam='cv' for prediction{problem.where_to_refit}."
    )


def undefined(V: Covariance, reason: str) -> Covariance:
    """Return the covariance as NaN, with a note about the reason."""
    nothing = np.full_like(V.matrix, np.nan)
    text = f"The covariance of the coefficients is not defined: {reason}."
    if reason.endswith("."):
        text = reason
    return replace(
        V,
        matrix=nothing,
        inner=None,
        basis=None,
        fixed=None if V.fixed is None else nothing,
        notes=(Note("standard errors", "note", text),),
    )


def why_undefined(problem: Problem, width: float, at: Curvature) -> str:
    """Why the curvature of the hinge is not defined; empty if it is."""
    if not width:
        return "all rows have the same margin"
    if at.beyond == 0:
        return "no row has a margin below 1, where the hinge has a slope"
    if problem.intercept and at.near < 0.5:
        return f"no row lies within the bandwidth {width:.3g} of the margin"
    return ""


def correction_factor(
    n: float, penalty: Matrix, inverse: Matrix, options: Sandwich
) -> float:
    """``n / (n - d)`` for HC1, ``(n - 1) / (n - d)`` for CR1; 1 for the others.

    ``d = tr(H^-1 (H - lam J))``, the effective number of coefficients.
    """
    if options.correction not in ("HC1", "CR1"):
        return 1.0
    d = len(inverse) - float(np.sum(inverse * penalty))
    above = n - 1.0 if isinstance(options, Cluster) else n
    return above / (n - d) if n > d else np.nan


def null_directions(problem: Problem, solution: Solution) -> Matrix:
    """Directions that change ``f(x)`` of no row, if columns are not estimable.

    Returns
    -------
    float64 array, shape (k, q)
        One column for each coefficient that is not estimable: 1 for this coefficient.
    """
    assert solution.estimable is not None
    rows = SandwichRows.of(problem, solution, Sandwich())
    sums: ClassSums = rows.total(rows.fitted.sums)
    columns = np.flatnonzero(np.append([True] * problem.intercept, solution.estimable))
    directions = IdentifiedPart.of_columns(sums.H, columns).unbounded
    if rows.fitted.centre is None:
        return directions
    back = Scaling(rows.fitted.centre, np.ones(problem.p)).undoing(problem.intercept)
    return np.asarray(back @ directions)


def bread_at(problem: Problem, solution: Solution) -> Matrix:
    """``H`` of the log loss at a fit, for rows minus their centre."""
    rows = SandwichRows.of(problem, solution, Sandwich())
    H = rows.total(rows.fitted.squared_roots)
    return np.asarray(H / problem.n + penalty_of(problem, len(H)))


@one_thread()
def hat_values(problem: Problem, solution: Solution) -> Vector:
    """Leverages of a logistic fit to rows in memory, shape (n,).

    The diagonal of ``W^1/2 Z (Z'WZ + n lam J)^-1 Z' W^1/2`` with the diagonal matrix
    ``W`` of the ``w_i s_i (1 - s_i)``; NaN if ``Z'WZ + n lam J`` is singular.
    """
    rows = SandwichRows.of(problem, solution, Sandwich())
    inverse = inverse_of(bread_at(problem, solution))

    def leverages(block: Block, dual: Values) -> Vector:
        Z, _, w, _, s = rows.fitted.part(block, dual)
        return rows.fitted.leverages(Z, w, s, inverse, problem.n)

    return np.concatenate([*rows.map_blocks(leverages)])


def penalty_of(problem: Problem, k: int) -> Matrix:
    """``lam J``, shape (k, k)."""
    return np.diag(np.append([0.0] * problem.intercept, [problem.lam] * k)[:k])


class Way(NamedTuple):
    """One grouping, or the grouping by pairs of groups.

    Attributes
    ----------
    indicator : sparse array, shape (M, n)
        Indicators of the groups.
    factor : float
        ``M / (M - 1)``, or 1 for CR3. It is negative for the grouping by pairs, because
        the two groupings together count each pair of groups twice. Not used in strata.
    strata : sparse array, shape (H, M), or None
        Indicators of the strata.
    """

    indicator: SparseRows
    factor: float
    strata: "SparseRows | None"

    def product(self, psi: Matrix) -> Matrix:
        """``c sum_g psi_g psi_g'``, with the factor ``c``.

        In strata ``psi_g`` is centred at the mean of its stratum, and
        ``c = m_h / (m_h - 1)`` in stratum ``h`` of ``m_h`` groups.
        """
        if self.strata is None:
            return np.asarray(self.factor * (psi.T @ psi))
        sizes = self.strata.sum(axis=1)
        means = (self.strata @ psi) / sizes[:, None]
        centred = psi - self.strata.T @ means
        scale = self.strata.T @ np.sqrt(sizes / (sizes - 1.0))
        return np.asarray((centred * scale[:, None]).T @ (centred * scale[:, None]))


def ways_of(groups: Groups, corrected: bool = True) -> list[Way]:
    """Return the groupings; for two, also the grouping by pairs, with a negative sign.

    Examples
    --------
    >>> groups = Groups(("a", "b"), (2, 2), (np.array([0, 0, 1]), np.array([0, 1, 1])))
    >>> [round(way.factor, 3) for way in ways_of(groups)]
    [2.0, 2.0, -1.5]
    """
    signed = [(1.0, codes) for codes in groups.codes]
    if len(signed) > 1:
        first, second = groups.codes
        pairs = first * np.int64(groups.numbers[1]) + second
        signed.append((-1.0, np.unique(pairs, return_inverse=True)[1]))
    ways = []
    for sign, codes in signed:
        indicator = indicator_of(codes)
        M = indicator.shape[0]
        factor = M / (M - 1.0) if corrected else 1.0
        strata = groups.strata
        if strata is not None:
            first_rows = np.unique(codes, return_index=True)[1]
            strata = indicator_of(strata[first_rows])
        ways.append(Way(indicator, sign * factor, strata))
    return ways


def indicator_of(codes: Numbers) -> SparseRows:
    """Return the indicators of the codes of rows or groups, shape (codes, rows)."""
    from scipy.sparse import csr_array

    M, n = int(codes.max()) + 1, codes.size
    return csr_array((np.ones(n), (codes, np.arange(n))), shape=(M, n))


def scores_left_out(
    S: Matrix, roots: Matrix, codes: Numbers, inverse: Matrix
) -> tuple[Matrix, Matrix | None]:
    """Scores of groups for CR3, ``T_g = (I - R_g'R_g A)^-1 S_g``.

    Then ``A T_g = (A^-1 - R_g'R_g)^-1 S_g`` is the Newton step between the fit and the
    fit without the group. ``T_g = S_g + R_g'(I - R_g A R_g')^-1 R_g A S_g`` is computed
    with the generalised inverse.

    Parameters
    ----------
    S : float64 array, shape (M, k)
    roots : float64 array, shape (n, k)
        ``(w_i loss''(m_i))^1/2 z_i``; ``R_g`` consists of the rows of group ``g``.
    codes : int array, shape (n,)
        Group of each row.
    inverse : float64 array, shape (k, k)
        ``A = (n H)^-1``.

    Returns
    -------
    T : float64 array, shape (M, k)
    undetermined : float64 array, shape (k, q), or None
        Directions that the rows do not determine if some group is omitted.
    """
    S, k, directions = S.copy(), len(inverse), list[Vector]()
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):  # all groups of one size at once
        members = np.flatnonzero(sizes == size)
        R = roots[order[starts[members, None] + np.arange(size)]]
        if size > k:
            R = np.asarray(np.linalg.qr(R, mode="r"))
        beyond = np.eye(R.shape[1]) - R @ inverse @ R.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(beyond)
        regular = values > SINGULAR
        scale = np.divide(1.0, values, out=np.zeros_like(values), where=regular)
        moved = R @ (S[members] @ inverse)[:, :, None]
        moved = vectors @ (scale[:, :, None] * (vectors.transpose(0, 2, 1) @ moved))
        S[members] += (R.transpose(0, 2, 1) @ moved)[:, :, 0]
        for g, column in np.argwhere(~regular):
            directions.append(inverse @ R[g].T @ vectors[g, :, column])
    if not directions:
        return S, None
    undetermined = np.column_stack(directions)
    undetermined /= np.abs(undetermined).max(axis=0)
    undetermined[np.abs(undetermined) < MARGIN_ROUNDING] = 0.0
    return S, undetermined


def concatenated(parts: list[RowScores]) -> RowScores:
    """Concatenate the scores of all blocks."""
    moved = [part.moved for part in parts if part.moved is not None]
    whole = np.concatenate(moved) if moved else None
    return RowScores(np.concatenate([part.S for part in parts]), whole)


def without_negative(matrix: Matrix, groups: Groups | None) -> tuple[Matrix, bool]:
    """Replace negative eigenvalues by 0 if a variance is negative.

    For two groupings the matrix is a difference, which may have a negative variance
    (Cameron, Gelbach & Miller 2011, section 2.3).

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


BELOW = Note(
    "standard errors",
    "note",
    "With two groupings a variance was negative, so the negative eigenvalues of the "
    "covariance were set to 0.",
)


def silverman(u: Vector, w: Vector | None = None) -> float:
    """``1.06 min(sd, IQR / 1.34) n^(-1/5)``, ignoring a term that rounds to 0.

    With weights ``n = (sum w_i)^2 / sum w_i^2``, and ``sd`` and ``IQR`` are weighted.
    Scott (1992); R's ``bw.nrd``.

    Examples
    --------
    >>> round(silverman(np.array([0.0, 1.0, 2.0, 3.0])), 4)
    0.8992
    """
    n, quarters = u.size if w is None else w.sum() ** 2 / (w @ w), [0.25, 0.75]
    variance = float(np.average((u - np.average(u, weights=w)) ** 2, weights=w))
    deviation = float(np.sqrt(variance * n / (n - 1.0))) if n > 1.0 else 0.0
    if w is None:
        low, high = np.quantile(u, quarters)
    else:
        low, high = np.quantile(u, quarters, weights=w, method="inverted_cdf")
    sizes = [deviation, float(high - low) / 1.34]
    spread = min((size for size in sizes if size > MARGIN_ROUNDING), default=0.0)
    return float(1.06 * spread * n**-0.2)


def cross(Z: Matrix, d: Vector) -> Matrix:
    """``sum_i d_i z_i z_i'``, for ``d_i >= 0``."""
    scaled = Z * np.sqrt(d)[:, None]
    return np.asarray(scaled.T @ scaled)


def scaled_root(H: Matrix) -> tuple[Matrix | None, Vector]:
    """Return the Cholesky factor of ``D H D`` with unit diagonal, and ``diag(D)``.

    The factor is None if ``H`` is not positive definite; the second array then has no
    meaning.
    """
    diagonal = np.diag(H)
    if not np.isfinite(H).all() or (diagonal <= 0.0).any():
        return None, diagonal
    scale: Vector = 1.0 / np.sqrt(diagonal)
    try:
        return np.asarray(np.linalg.cholesky(H * scale * scale[:, None])), scale
    except np.linalg.LinAlgError:
        return None, scale


def inverse_of(H: Matrix) -> Matrix:
    """Inverse, computed with the diagonal scaled to 1; NaN if singular up to rounding.

    Examples
    --------
    >>> inverse_of(np.array([[4.0, 0.0], [0.0, 1e-300]]))
    array([[2.5e-001, 0.0e+000],
           [0.0e+000, 1.0e+300]])
    >>> inverse_of(np.ones((2, 2)))
    array([[nan, nan],
           [nan, nan]])
    """
    root, scale = scaled_root(H)
    if root is None or np.square(np.diag(root)).min() <= PIVOT_ROUNDING * len(H):
        return np.full_like(H, np.nan)
    left = np.linalg.solve(root, np.diag(scale))
    with np.errstate(over="ignore"):
        return np.asarray(left.T @ left)
