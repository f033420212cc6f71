"""Logistic regression by maximum likelihood, or with Firth's penalty, on dense rows.

Firth's estimates maximise the log likelihood plus half the logarithm of the determinant
of Fisher's information, ``l(theta) + log det I(theta) / 2``: the second term is the
logarithm of Jeffreys' prior, up to a constant. They solve

    sum_i w_i (y_i - p_i + h_i (1/2 - p_i)) z_i = 0,    z_i = (1, x_i), y_i = 0 or 1,

with the leverages ``h_i = v_i z_i' I^-1 z_i``, ``v_i = p_i (1 - p_i)``, and are finite
even if the classes are separated. Weights are counts: a row of weight 2 is equivalent
to two rows, each with the leverage ``h_i``. Columns are first centred and
orthonormalised, so that neither their units nor their means affect the accuracy. The
algorithm is Fisher scoring with L-BFGS corrections from earlier steps; steps that
decrease the objective are halved. The objective may not be concave, so the solution is
a local maximum.

References
----------
Firth, Biometrika 80 (1993). Heinze & Schemper, Statistics in Medicine 21 (2002).
Kosmidis & Firth, Biometrika 108 (2021), for finite estimates.
Puhr, Heinze, Nold, Lusa & Geroldinger, Statistics in Medicine 36 (2017), for FLIC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pegasos_stats.arrays import Mask, Matrix, Vector, dense_rows
from pegasos_stats.data.design import Scaling
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers.certificate import Certificate
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.solvers.maximum_likelihood import (
    SMALLEST_STEP,
    independent,
    logistic,
)
from pegasos_stats.solvers.problem import MethodRun, Problem, Solution
from pegasos_stats.solvers.smooth_newton import two_loops


@dataclass(frozen=True, eq=False)
class OrthonormalRows:
    """Rows with orthonormal columns, for ``k`` coefficients with the intercept first.

    Attributes
    ----------
    basis : float64 array, shape (n, r)
        ``sum_i w_i u_i u_i'`` is the identity matrix; rows of weight 0 are excluded.
    signs : float64 array, shape (n,)
        The outcome, -1 or +1.
    weights : float64 array, shape (n,)
        Counts.
    offset : float64 array, shape (n,)
    back : float64 array, shape (k, r)
        Coefficients are ``back @ phi`` for scores ``basis @ phi + offset``; a row is 0
        if its coefficient is not estimable.
    estimable : bool array, shape (k,)
        False for a column that depends linearly on earlier ones, see `independent`.
    """

    basis: Matrix
    signs: Vector
    weights: Vector
    offset: Vector
    back: Matrix
    estimable: Mask

    @property
    def log_volume(self) -> float:
        """``log |det back|`` of the estimable coefficients."""
        return float(np.linalg.slogdet(self.back[self.estimable])[1])


def orthonormal_rows(
    X: Matrix,
    signs: Vector,
    intercept: bool = True,
    weights: Vector | None = None,
    offset: Vector | None = None,
) -> OrthonormalRows:
    """Centre the columns, if there is an intercept, and orthonormalise them.

    Parameters
    ----------
    X : float64 array, shape (n, p)
    signs : float64 array, shape (n,), of -1 and +1
    intercept : bool
    weights : float64 array, shape (n,), optional
        Counts.
    offset : float64 array, shape (n,), optional

    Raises
    ------
    DataError
        If the sum of a column overflows.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])
    >>> orthonormal_rows(X, np.array([-1.0, 1.0, 1.0])).estimable
    array([ True,  True, False])
    """
    w = np.ones(len(signs)) if weights is None else weights
    o = np.zeros(len(signs)) if offset is None else offset
    if not w.all():
        present = w > 0.0
        X, signs, w, o = X[present], signs[present], w[present], o[present]
    scaling = Scaling.of(X, intercept, w, float(w.sum()))
    Z = scaling.apply(np.asarray(X, dtype=np.float64))
    if intercept:  # constant columns leave rounding errors
        Z[:, np.ptp(X, axis=0) <= 1e-12 * np.abs(scaling.centre)] = 0.0
        Z = np.column_stack([np.ones(len(Z)), Z])
    root = np.sqrt(w)[:, None]
    Z *= root
    estimable = independent(np.asarray(np.linalg.qr(Z, mode="r")))
    Q, R = np.linalg.qr(Z[:, estimable])
    inverse = np.zeros((len(estimable), R.shape[1]))
    inverse[estimable] = np.linalg.inv(R)
    back = scaling.undoing(intercept) @ inverse
    return OrthonormalRows(Q / root, signs, w, o, back, estimable)


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """Estimates by maximum likelihood or Firth's penalty; some may be fixed.

    Attributes
    ----------
    theta : float64 array, shape (k,)
        Coefficients, the intercept first; NaN if not estimable.
    objective : float
        The log likelihood, with ``log det I / 2`` of all columns for Firth's penalty.
    covariance : float64 array, shape (k, k)
        Inverse of Fisher's information of all coefficients at `theta`.
    n_iter : int
        Number of steps.
    converged : bool
        Whether the last step was below `SMALLEST_STEP` standard errors.
    diverges : bool
        Whether the likelihood has no maximum: the classes are separated, and
        `objective` is the supremum.
    phi : float64 array, shape (r,)
        The estimates as coefficients of the orthonormal columns.
    score : float64 array, shape (r,)
        Derivatives of the objective with respect to `phi`; 0 except for fixed
        coefficients.
    """

    theta: Vector
    objective: float
    covariance: Matrix
    n_iter: int
    converged: bool
    diverges: bool
    phi: Vector
    score: Vector

    def slope(self, direction: Vector) -> float:
        """Derivative of the objective with respect to the only fixed coefficient."""
        return float(direction @ self.score / (direction @ direction))

    @property
    def std_error(self) -> Vector:
        """Standard errors: square roots of the diagonal of `covariance`, shape (k,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


@dataclass(frozen=True, eq=False)
class LikelihoodPoint:
    """Objective, first derivatives and Cholesky factor of the information at ``phi``.

    The objective refers to the orthonormal columns; without a factor it is -infinity.
    """

    phi: Vector
    objective: float
    score: Vector
    factor: Matrix

    @classmethod
    def at(cls, rows: OrthonormalRows, phi: Vector, firth: bool) -> "LikelihoodPoint":
        """Pass over the rows at a point."""
        U, w = rows.basis, rows.weights
        scores = U @ phi + rows.offset
        s, rest, losses = logistic(rows.signs * scores)
        objective, v, residuals = -float(w @ losses), s * rest, rows.signs * s
        try:
            L = np.asarray(np.linalg.cholesky(U.T @ (U * (w * v)[:, None])))
        except np.linalg.LinAlgError:
            return cls(phi, -np.inf, np.zeros(len(phi)), np.eye(len(phi)))
        if firth:
            objective += float(np.log(np.diag(L)).sum())
            leverages = v * np.square(U @ np.linalg.inv(L).T).sum(axis=1)
            residuals -= leverages * np.tanh(scores / 2.0) / 2.0
        return cls(phi, objective, U.T @ (w * residuals), L)

    @property
    def is_finite(self) -> bool:
        """Whether the factorisation succeeded and nothing overflowed."""
        return bool(np.isfinite(self.objective) and np.isfinite(self.score).all())


@one_thread()
def fit_likelihood(
    rows: OrthonormalRows,
    firth: bool = True,
    values: Mapping[int, float] | None = None,
    starts: Sequence[Vector] = (),
) -> LikelihoodFit:
    """Maximise the likelihood, with or without Firth's penalty.

    Parameters
    ----------
    rows : OrthonormalRows
    firth : bool
        Whether to add ``log det I / 2``, with the information of all columns.
    values : mapping from int to float, optional
        Fixed coefficients: values by position.
    starts : sequence of float64 arrays, shape (r,)
        Starting values of `phi`; the best of the maxima is returned. By default scores
        near 0 and, with Firth's penalty, the maximum likelihood estimate for an
        adjusted outcome.

    Examples
    --------
    >>> X, signs = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([-1.0, 1, 1, 1])
    >>> fit_likelihood(orthonormal_rows(X, signs)).theta[1].round(6)  # log(5)
    np.float64(1.609438)
    """
    values = {} if values is None else values
    if not starts:
        starts = [-(rows.weights * rows.offset) @ rows.basis]
        if firth:
            adjusted = _ascent(_adjusted(rows), False, values, starts[0])
            starts = [adjusted.phi, *starts]
    fits = [_ascent(rows, firth, values, phi) for phi in starts]
    return max(fits, key=lambda fit: (fit.converged, fit.objective))


def _adjusted(rows: OrthonormalRows) -> OrthonormalRows:
    """Add a small share of the other outcome to each row: then a maximum exists.

    The share is ``r / 2n`` of each row, as in R's brglm2.
    """
    w = rows.weights
    part = rows.basis.shape[1] / float(w.sum()) / 2.0
    return replace(
        rows,
        basis=np.tile(rows.basis, (2, 1)),
        signs=np.append(rows.signs, -rows.signs),
        weights=np.append(w * (1.0 + part), w * part),
        offset=np.tile(rows.offset, 2),
    )


def _ascent(
    rows: OrthonormalRows, firth: bool, values: Mapping[int, float], phi: Vector
) -> LikelihoodFit:
    """Maximise from a point, after moving it to satisfy the fixed values.

    The likelihood counts as having no maximum if two consecutive steps change a score
    by more than 1/2 but are predicted to gain less than 1e-13, the rounding of its
    supremum.
    """
    C, c = rows.back[[*values]], np.array([*values.values()])
    N = null_space(C)
    if len(c):  # move the other coefficients to their optimum, to first order
        factor = LikelihoodPoint.at(rows, phi, firth=False).factor
        along = np.linalg.solve(factor.T, np.linalg.solve(factor, C.T))
        phi = phi + along @ np.linalg.solve(C @ along, c - C @ phi)
    phi = phi + np.linalg.pinv(C) @ (c - C @ phi)
    point = LikelihoodPoint.at(rows, phi, firth)
    pairs: list[tuple[Vector, Vector, float]] = []
    converged = diverges = False
    steps = near = 0
    while steps < 500 and point.is_finite and N.shape[1]:
        half = N.T @ point.factor
        try:
            metric = np.asarray(np.linalg.inv(half @ half.T))
        except np.linalg.LinAlgError:  # only rounding remains
            diverges = not firth
            break
        g: Vector = np.asarray(N.T @ point.score)
        d = two_loops(metric, pairs if firth else [], g)
        if not d @ g > 0.0:
            pairs, d = [], metric @ g
        step = N @ d
        gain = float(np.sum(np.square(point.factor.T @ step)))
        far = not firth and float(np.abs(rows.basis @ step).max()) > 0.5
        near = near + 1 if far and gain < 1e-13 else 0
        diverges = near > 1
        converged = not far and gain < SMALLEST_STEP**2
        if diverges:
            break
        new = _along(rows, point, step, firth)
        steps += 1
        if new is None:
            diverges = far
            break
        moved, change = N.T @ (new.phi - point.phi), g - N.T @ new.score
        if (inner := float(moved @ change)) > 0.0:
            pairs = [*pairs[-19:], (moved, change, inner)]
        point = new
        if converged:
            break
    converged = converged or not N.shape[1]
    theta, root = rows.back @ point.phi, np.linalg.solve(point.factor, rows.back.T)
    covariance, absent = root.T @ root, ~rows.estimable
    theta[absent] = covariance[absent] = covariance[:, absent] = np.nan
    objective = point.objective - (rows.log_volume if firth else 0.0)
    ends = steps, converged, diverges, point.phi, point.score
    return LikelihoodFit(theta, objective, covariance, *ends)


def _along(
    rows: OrthonormalRows, point: LikelihoodPoint, step: Vector, firth: bool
) -> LikelihoodPoint | None:
    """Line search: halve a step until the objective does not decrease.

    A relative decrease of up to 1e-12 is rounding and ignored; the score resolves
    smaller differences.
    """
    least = point.objective - 1e-12 * (1.0 + abs(point.objective))
    for halvings in range(40):
        new = LikelihoodPoint.at(rows, point.phi + 0.5**halvings * step, firth)
        if new.is_finite and new.objective >= least:
            return new
    return None


def null_space(C: Matrix) -> Matrix:
    """Orthonormal basis of the null space of ``C``, shape (r, r - q).

    Examples
    --------
    >>> abs(null_space(np.array([[3.0, 0.0]])))
    array([[0.],
           [1.]])
    """
    return np.asarray(np.linalg.qr(C.T, mode="complete")[0][:, len(C) :])


def rows_of(problem: Problem) -> OrthonormalRows:
    """Orthonormalise the columns of a problem without weights."""
    X = dense_rows(problem.X)
    return orthonormal_rows(X, problem.y, problem.intercept, None, problem.offset)


def firth_solution(problem: Problem) -> Solution:
    """Compute the estimates with Firth's penalty; `settled` is true if they converged.

    Examples
    --------
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([-1.0, 1, 1, 1])
    >>> problem = Problem(X, y, 0.0, "log", penalty="firth")
    >>> firth_solution(problem).beta.round(6)
    array([1.609438])
    """
    rows = rows_of(problem)
    fit = fit_likelihood(rows)
    theta, first = np.nan_to_num(fit.theta), int(problem.intercept)
    beta, alpha = theta[first:], float(theta[0]) if first else 0.0
    margins = problem.y * scores_of_rows(problem, beta, alpha)
    estimable = rows.estimable[first:]
    solution = Solution(
        beta,
        alpha,
        logistic(margins)[0],
        n_iter=fit.n_iter,
        n_violations=int((margins <= 0.0).sum()),
        seed=None,
        n_epochs=fit.n_iter,
        settled=fit.converged,
        estimable=None if estimable.all() else estimable,
        methods=(MethodRun("Fisher scoring", fit.n_iter, "iteration"),),
    )
    return with_flic(problem, solution) if problem.penalty == "flic" else solution


def with_flic(problem: Problem, solution: Solution) -> Solution:
    """Re-estimate the intercept by maximum likelihood, with scores as offset (FLIC).

    It solves ``sum_i (y_i - p_i) = 0``, so the mean probability equals the mean
    outcome.
    """
    scores = scores_of_rows(problem, solution.beta, solution.alpha)
    shift = best_intercept(scores, problem.y, "log")
    dual = logistic(problem.y * (scores + shift))[0]
    return replace(
        solution, beta=solution.beta.copy(), alpha=solution.alpha + shift, dual=dual
    )


def scores_of_rows(problem: Problem, beta: Vector, alpha: float) -> Vector:
    """Compute scores of the rows of a problem, with offsets, shape (n,)."""
    return np.asarray(problem.X @ beta + alpha + problem.row_offsets)


def uncertified(problem: Problem, beta: Vector, alpha: float) -> Certificate:
    """Return the mean log loss of a fit, without the penalty, and an infinite gap.

    Used for Firth's penalty: the penalised likelihood may not be concave.
    """
    margins = problem.y * scores_of_rows(problem, beta, alpha)
    at_zero = problem.y[margins == 0.0]
    return Certificate.of_divergence(
        float(logistic(margins)[2].mean()),
        float("inf"),
        int((margins < 0.0).sum()),
        (int((at_zero < 0.0).sum()), int((at_zero > 0.0).sum())),
    )
