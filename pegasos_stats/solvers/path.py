"""Fit a model for each fold at many lambdas, with shared passes over the data.

Rows are sorted by class. Each fit starts from an extrapolation of the previous fits in
log lambda: linear for the hinge, else quadratic. Gaps are certified over all rows.

Hinge: a pass at the extrapolated coefficients determines the active rows, which are
near the margin in some fit: within 1.2 times the largest difference between
extrapolated and fitted margins at the previous lambda, but at least 0.01 and at most
0.5. At the first lambda all rows are active. The dual weights of the other rows are
fixed, and the fits are solved on the active rows by the steps of ``hinge_proximal.py``.
A second pass computes the objectives. If a gap is too large, rows fixed on the wrong
side become active, and the fits are solved again. Rows with margins well above 1 in all
fits have the dual weight 0. Rows with margins well below 1 in all fits are inside the
margin: in each fit, the inside rows of a class are replaced by their sum, with one dual
weight. The loss of the sum equals the total loss of these rows while they remain
inside, and its dual weight is feasible for each of them.

Smooth losses: a pass multiplies the rows by the coefficients of all fits whose gap is
still too large. With ``T = exp(-m)`` and ``q = 1 + T`` the losses are ``log q`` and the
dual weights ``a = T / q``; both are set to 0 for held-out rows. Objective, gradient and
dual objective follow from the losses and the images ``sum_i w_i a_i z_i`` of each
class, because ``sum_i w_i H(a_i) = sum_i w_i (log q_i + a_i m_i)``, and ``m_i`` is
linear in the coefficients. With the squared hinge the losses are ``max(0, 1 - m)^2``
and the dual weights ``2 max(0, 1 - m)``.

All fits share the Hessian of the fit on all rows. It is recomputed if one more step
with it is not expected to reduce the gap to a thousandth of the tolerance. A fit that
needs more than four passes uses its own Hessian. Steps that increase the objective are
halved.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import UNIT, Mask, Matrix, Rows, Vector
from pegasos_stats.solvers.hinge_proximal import (
    ProximalNewton,
    on_wrong_side,
    with_sums,
)
from pegasos_stats.solvers.intercept import needed_centre
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.optimum_run import NEAR_ZERO
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import CLOSEST, MARGIN
from pegasos_stats.solvers.sums import ENTRIES, TINY, DenseRows, largest_norm

MARGINS = ENTRIES // 4  # margins per block; a pass needs several arrays of this size


class FoldedRows:
    """The rows of ``k + 1`` fits: the first ``k`` hold out a fold each, the last none.

    Fit ``j`` minimises ``lam/2 sum_l (s_jl beta_l)^2 + (1/W_j) sum_i w_i loss(m_i)``
    over its rows ``i`` with total weight ``W_j``. With ``theta = (beta, alpha)`` and
    ``z_i = -y_i (x_i, 1)`` the margins are ``m_i = y_i offset_i - z_i'theta``. For
    ``a_i >= 0`` (at most 1 except for the squared hinge) with
    ``sum_i w_i a_i y_i = 0``, the dual is

        D(a) = (1/W) sum_i w_i (H(a_i) - a_i y_i offset_i) - lam/2 sum_l (s_l b_l)^2,
        b_l = (1/(lam W s_l^2)) sum_i w_i a_i y_i x_il.

    Without an intercept ``sum_i w_i a_i y_i`` is not constrained, and ``z_i`` is
    ``-y_i x_i``. With an intercept, columns far from zero are centred. Rows of weight 0
    are excluded.

    Parameters
    ----------
    problem : Problem
        Problem with dense rows; its lambda is not used.
    fold : int array, shape (n,)
        Fold of each row, from 0.
    k : int
        Number of folds.
    scales : float64 array, shape (k, p), optional
        ``s_jl`` of the fits that hold out a fold: the divisor of column ``l`` when it
        is standardized in that fit. Default 1; always 1 for the last fit.

    Attributes
    ----------
    loss : MarginLoss
    Z : float64 array, shape (n, q)
        ``z_i``, sorted by class.
    cut : int
        Number of rows of the first class.
    blocks : list of pairs
        The class, 0 or 1, and the rows of each block.
    centre : float64 array, shape (p,)
        Subtracted from the columns of ``x_i``.
    weights, shift : float64 array, shape (n,)
        ``w_i``, and ``-y_i offset_i``.
    folds : int array, shape (n,)
    by_class : float64 array, shape (2, k + 1)
        Total weight of each class.
    total : float64 array, shape (k + 1,)
        ``W_j``.
    squares : float64 array, shape (k + 1, q)
        ``s_jl^2``, 0 for the intercept.
    free : bool array, shape (k + 1, q)
        Coefficients that may differ from 0, see `_free`.
    every : int array, shape (k + 1,)
        Indices of all fits.
    """

    def __init__(
        self, problem: Problem, fold: Rows, k: int, scales: Vector | None = None
    ) -> None:
        y, w, self.loss = problem.y, problem.row_weights, problem.loss_function
        order = np.argsort(y, kind="stable")
        order = order[w[order] > 0.0]
        self.intercept, self.n, self.p = problem.intercept, order.size, problem.p
        self.k, self.q = k, problem.p + int(problem.intercept)
        sign = -y[order]
        self.cut = int(np.count_nonzero(sign > 0.0))
        size = max(256, MARGINS // (k + 1))
        self.blocks = [
            (level, slice(first, min(end, first + size)))
            for level, start, end in ((0, 0, self.cut), (1, self.cut, self.n))
            for first in range(start, end, size)
        ]
        far = needed_centre(problem)
        self.centre = np.zeros(self.p) if far is None else far
        self.Z = np.empty((self.n, self.q))
        for _, part in self.blocks:
            X = problem.X[order[part]] - self.centre
            np.multiply(X, sign[part, None], out=self.Z[part, : self.p])
        self.Z[:, self.p :] = sign[:, None]
        self.weights, self.folds = w[order], fold[order]
        self.shift = sign * problem.row_offsets[order]
        sides = slice(0, self.cut), slice(self.cut, self.n)
        held_out = [
            np.bincount(self.folds[side], self.weights[side], k) for side in sides
        ]
        self.by_class = np.array([np.append(v.sum() - v, v.sum()) for v in held_out])
        self.total = self.by_class.sum(axis=0)
        self.squares = np.ones((k + 1, self.q))
        if scales is not None:
            self.squares[:k, : self.p] = scales * scales
        self.squares[:, self.p :] = 0.0
        self.free, self.every = self._free(problem.X, order), np.arange(k + 1)

    def _free(self, X: Matrix, order: Rows) -> Mask:
        """Mark the coefficients that may differ from 0, shape (k + 1, q).

        With an intercept, coefficients of columns that are constant in a fit are 0,
        because the intercept replaces these columns. Without an intercept, only
        coefficients of columns of zeros are 0.
        """
        k, ends = self.k, []
        for fold in range(k):
            rows = X[order[self.folds == fold]]
            low, high = rows.min(axis=0, initial=np.inf), rows.max(0, initial=-np.inf)
            ends.append([low, -high])
        is_fitted = np.arange(k) != np.arange(k + 1)[:, None]
        low, high = (
            np.where(is_fitted[:, :, None], end, np.inf).min(axis=1)
            for end in np.moveaxis(np.array(ends), 1, 0)
        )
        same = low == -high
        if not self.intercept:
            same &= low == 0.0
        return np.hstack([~same, np.ones((k + 1, self.q - self.p), dtype=bool)])

    @property
    def null_intercepts(self) -> Vector:
        """The optimal intercept of each fit without predictors and offsets."""
        return np.array(
            [self.loss.null_intercept(*pair) for pair in self.by_class[::-1].T]
        )

    @cached_property
    def mean_square(self) -> float:
        """Mean of ``||x_i||^2``."""
        X = self.Z[:, : self.p]
        return float(np.einsum("ij,ij->", X, X)) / self.n

    def penalty(self, lam: float, fits: Rows) -> Vector:
        """``lam s_jl^2`` for the coefficients of some fits, shape (fits, q)."""
        return lam * self.squares[fits]

    def value(self, lam: float, theta: Vector, loss: Vector, fits: Rows) -> Vector:
        """Compute objectives from sums of losses."""
        squares = (self.penalty(lam, fits) * theta * theta).sum(axis=1)
        return np.asarray(0.5 * squares + loss / self.total[fits])

    def bound(
        self,
        lam: float,
        theta: Vector,
        terms: Vector,
        image: Vector,
        fits: Rows,
        loss: Vector | None = None,
        curvature: Vector | None = None,
    ) -> Vector:
        """Dual objectives, minus a bound on the rounding errors of both objectives.

        To be feasible, the dual weights of the class with the larger sum are scaled
        down to the smaller sum. Sums by class suffice: for a factor ``c`` up to 1 the
        hinge satisfies ``H(c a) = c H(a)``, and the log loss, with ``T = a / (1 - a)``
        and the derivative ``H'(a) = m``, satisfies

            H(c a) >= max(c H(a), H(a) - (1 - c) a m - (1 - c)^2 T / (2 c)),

        because ``-H''(t) = 1/(t (1 - t))`` is at most ``1/(c a (1 - a))`` for ``t``
        between ``c a`` and ``a``. So scaling increases the gap only by a term of second
        order in the difference of the two sums. The inequality also holds for the
        squared hinge, with ``-H'' = 1/2`` and ``T = 2 loss``.

        No sum over the rows is rounded more than ``n + q`` times. Apart from the
        weights, whose mean is 1, none of its terms exceeds
        ``R (||beta|| + ||b||) + |alpha| + |offset| + 1``, with ``R`` the largest
        ``||x_i||``. An exponential and a logarithm, accurate to four units in the last
        place each, count as 16 more roundings. The rounding of ``a_i`` does not matter
        with the log loss, because the dual is stationary there. Centring rounds each
        entry once, and the intercept for uncentred rows requires another sum.

        Parameters
        ----------
        lam : float
        theta : float64 array, shape (fits, q)
        terms : float64 array, shape (2, fits)
            ``sum w_i (H(a_i) - a_i y_i offset_i)`` of each class, or a lower bound;
            without the part `loss` if `loss` is passed.
        image : float64 array, shape (2, fits, q)
            ``sum w_i a_i z_i`` of each class.
        fits : int array
        loss, curvature : float64 array, shape (2, fits), optional
            Sum of the weighted losses, and ``sum w_i T_i``, of each class; for the
            smooth losses.
        """
        p, total, penalty = self.p, self.total[fits], self.penalty(lam, fits)
        factor = np.ones_like(terms)
        if self.intercept:
            sums = np.abs(image[:, :, -1])
            factor = sums.min(axis=0) / np.maximum(sums, TINY)
        v = np.einsum("cj,cjl->jl", factor, image)[:, :p] / total[:, None]
        b = v / penalty[:, :p]
        conjugate_terms = factor * terms
        if loss is not None and curvature is not None:
            lost = 0.5 * MARGIN * (1.0 - factor) ** 2 / factor * curvature
            conjugate_terms += np.fmax(factor * loss, loss - lost)
        dual = conjugate_terms.sum(axis=0) / total - 0.5 * (v * b).sum(axis=1)
        beta = theta[:, :p]
        norms = np.sqrt((beta * beta).sum(axis=1)) + np.sqrt((b * b).sum(axis=1))
        largest = self.radius * norms + self.max_abs_offset + 1.0
        if self.intercept:
            largest += np.abs(theta[:, -1])
        rounding = 8.0 * UNIT * (self.n + self.q + 16.0)  # for eight sums over the rows
        centring = UNIT * (self.q + 4.0) * float(np.linalg.norm(self.centre))
        moved = (rounding * self.radius + centring) ** 2 / penalty[:, :p].min(axis=1)
        return np.asarray(dual - rounding * largest - centring * norms - moved)

    @cached_property
    def radius(self) -> float:
        """Largest Euclidean norm of a row."""
        return largest_norm(self.Z[:, : self.p])

    @cached_property
    def max_abs_offset(self) -> float:
        """Largest absolute offset."""
        return float(np.abs(self.shift).max())


class PathPoint(NamedTuple):
    """Solutions of all fits at one lambda.

    Attributes
    ----------
    lam : float
    theta : float64 array, shape (fits, q)
    objective, dual : float64 array, shape (fits,)
        ``P`` at `theta`, and a lower bound on its minimum that allows for rounding;
        `objective` is not finite if the fit failed.
    n_passes : int array, shape (fits,)
        Passes over the rows; for the hinge, without the pass at the extrapolation.
    """

    lam: float
    theta: Vector
    objective: Vector
    dual: Vector
    n_passes: Rows

    def certified(self, tol: float) -> Vector:
        """Mark the fits whose relative gap is at most `tol`."""
        return np.asarray(self.objective - self.dual <= tol * self.objective)


def extrapolated(past: Sequence[PathPoint], lam: float, most: int = 3) -> Vector:
    """Extrapolate coefficients to `lam` by a polynomial in log lambda.

    The last `most` points are used, without points whose log lambda exceeds the new one
    by 2 or more; at least the last point is used. While the absolute values of the
    factors sum to more than 8, the first point is omitted.

    Examples
    --------
    >>> nothing = np.zeros(1), np.zeros(1), np.ones(1)
    >>> past = [PathPoint(lam, np.array([[lam]]), *nothing) for lam in (4.0, 2.0)]
    >>> extrapolated(past, 1.0)
    array([[0.]])
    """
    at = math.log(lam)
    points = [point for point in past[-most:] if math.log(point.lam) - at < 2.0]
    points = points or [past[-1]]
    while True:
        logs = [math.log(point.lam) for point in points]
        factors = [math.prod((at - u) / (t - u) for u in logs if u != t) for t in logs]
        if sum(map(abs, factors)) <= 8.0:
            pairs = zip(factors, points, strict=True)
            return np.asarray(sum(factor * point.theta for factor, point in pairs))
        points = points[1:]


# Inner tolerance for the active rows, relative to the tolerance. Compared with 0.3,
# held-out errors distinguish lambdas better, and fits need an eighth more time.
INNER_GAP = 0.1
# Bounds on the distance from the margin within which rows are active.
NARROW, WIDE = 0.01, 0.5


def losses(
    rows: FoldedRows, theta: Vector, fits: Rows
) -> tuple[Vector, Vector, Vector]:
    """Compute the losses of some fits in one pass over all rows.

    Returns
    -------
    loss : float64 array, shape (fits,)
        ``sum_i w_i max(0, 1 - m_i)``.
    low, high : float64 array, shape (n,)
        Minimum and maximum of ``1 - m_i`` over the fits, for each row.
    """
    loss, low, high = np.zeros(len(fits)), np.empty(rows.n), np.empty(rows.n)
    for _, part in rows.blocks:
        slack = theta @ rows.Z[part].T
        slack += 1.0 + rows.shift[part]
        slack.min(axis=0, out=low[part])
        slack.max(axis=0, out=high[part])
        np.maximum(slack, 0.0, out=slack)
        np.copyto(slack, 0.0, where=rows.folds[part] == fits[:, None])
        loss += slack @ rows.weights[part]
    return loss, low, high


class NearRows:
    """Active rows of some fits, and one row per class for the rows inside the margin.

    In arrays over these rows, the rows for the classes are the last two.

    Parameters
    ----------
    rows : FoldedRows
    near : int array
        Active rows, sorted.
    inside : bool array, shape (n,)
    fits : int array

    Attributes
    ----------
    Z : float64 array, shape (near + 2, q)
    weights, target : float64 array, shape (near,)
        ``w_i``, and ``w_i (1 - y_i offset_i)``.
    sums : float64 array, shape (fits, 2, q + 2)
        Sums over the rows inside, by class: ``w_i z_i``, targets and weights.
    """

    def __init__(self, rows: FoldedRows, near: Rows, inside: Mask, fits: Rows) -> None:
        self.rows, self.near, self.fits, q = rows, near, fits, rows.q
        self.weights = rows.weights[near]
        self.Z = np.vstack([rows.Z[near], np.zeros((2, q))])
        self.target = self.weights * (1.0 + rows.shift[near])
        self.sums = np.zeros((len(fits), 2, q + 2))
        weights = inside * rows.weights
        for level, part in rows.blocks:
            w = np.where(rows.folds[part] == fits[:, None], 0.0, weights[part])
            self.sums[:, level, :q] += w @ rows.Z[part]
            self.sums[:, level, q] += w @ (1.0 + rows.shift[part])
            self.sums[:, level, -1] += w.sum(axis=1)

    def solve(
        self, lam: float, tol: float, theta: Vector, centre: Vector, gamma: Vector
    ) -> Vector:
        """Solve all fits to a relative gap `tol`; update `theta`, `gamma` in place.

        Parameters
        ----------
        lam, tol : float
        theta : float64 array, shape (fits, q)
            Starting points.
        centre : float64 array, shape (fits, near)
            Initial dual weights of the active rows.
        gamma : float64 array, shape (fits,)
            Smoothing, see `ProximalNewton`.

        Returns
        -------
        float64 array, shape (fits, near + 2)
            Dual weights of the active rows and of the two sums.
        """
        a = np.hstack([centre, np.ones((len(theta), 2))])
        for j in range(len(self.fits)):
            steps = self._steps(j, lam, theta[j], a[j], float(gamma[j]))
            for _ in range(200):
                if not tol * steps.risk < steps.gap:
                    break
                steps.step()
            theta[j], a[j], gamma[j] = steps.theta, steps.a, steps.gamma
        return a

    def _steps(
        self, j: int, lam: float, theta: Vector, centre: Vector, gamma: float
    ) -> ProximalNewton:
        """Set up the Newton steps of one fit, in which held-out rows have no effect.

        A column that is constant in the fit is replaced by zeros.
        """
        rows, fit, m = self.rows, self.fits[j], len(self.near)
        out = rows.folds[self.near] == fit
        t = np.where(out, -1.0, self.target / self.weights)
        _, t, w = with_sums(self.Z, np.empty(m), t, self.weights, self.sums[j])
        y = np.full(m + 2, -1.0)
        y[:m][out], centre[:m][out] = 0.0, 0.0
        free, penalty = rows.free[fit], rows.penalty(lam, self.fits)[j]
        Z = DenseRows(self.Z if free.all() else self.Z * free, None)
        total = float(rows.total[fit])
        return ProximalNewton(Z, y, t, w, penalty, total, theta, centre, gamma)

    def by_class(self, a: Vector) -> tuple[Vector, Vector]:
        """Sum conjugate terms and ``w_i a_i z_i``, shapes (2, fits), (2, fits, q)."""
        weighted = a[:, :-2] * self.weights
        targets, sums = self.target / self.weights, a[:, -2:, None] * self.sums
        conjugate_terms = sums[:, :, -2].T.copy()
        images = sums[:, :, :-2].swapaxes(0, 1)
        cut = int(np.searchsorted(self.near, self.rows.cut))
        for level, part in enumerate((slice(0, cut), slice(cut, len(self.near)))):
            conjugate_terms[level] += weighted[:, part] @ targets[part]
            images[level] += weighted[:, part] @ self.Z[:-2][part]
        return conjugate_terms, images


class HingePath:
    """Hinge fits at a decreasing sequence of lambdas."""

    def __init__(self, rows: FoldedRows, tol: float) -> None:
        self.rows, self.tol = rows, tol
        self.a = np.full((rows.k + 1, rows.n), 0.5)  # dual weights of the previous fits
        self.width = np.inf  # all rows are active at the first lambda
        self.past: list[PathPoint] = []

    def at(self, lam: float) -> PathPoint:
        """Solve all fits at one lambda."""
        rows, tol, every = self.rows, self.tol, self.rows.every
        theta = np.zeros((rows.k + 1, rows.q))
        if self.past:
            theta = extrapolated(self.past, lam, 2)
        _, *first = losses(rows, theta, every)
        inside = first[0] > self.width
        near = np.flatnonzero(~inside & (first[1] >= -self.width))
        fits, inner, wrong_by = every, INNER_GAP * tol, 0.3 * self.width
        # Approximate change of a margin per unit of its dual weight.
        gamma = np.full(rows.k + 1, max(1.0, rows.mean_square / (4.0 * lam * rows.n)))
        P, D = np.full(rows.k + 1, np.inf), np.zeros(rows.k + 1)
        n_passes = np.zeros(rows.k + 1, dtype=np.int64)
        for turn in range(8):  # solve the active rows, pass over all rows
            near_rows = NearRows(rows, near, inside, fits)
            at, g = theta[fits], gamma[fits]
            a = near_rows.solve(lam, inner, at, self.a[np.ix_(fits, near)], g)
            theta[fits], gamma[fits], self.a[fits] = at, g, inside
            self.a[np.ix_(fits, near)] = a[:, :-2]
            loss, *ends = losses(rows, at, fits)
            if not turn:
                changes = np.abs(np.array(ends) - first)
                close = np.abs(first) < WIDE
                moved = float(changes.max(initial=0.0, where=close))
                self.width = min(WIDE, max(NARROW, 1.2 * moved))
            P[fits] = rows.value(lam, at, loss, fits)
            D[fits] = rows.bound(lam, at, *near_rows.by_class(a), fits)
            n_passes[fits] += 1
            fits = fits[~(P[fits] - D[fits] <= tol * P[fits])]
            if not len(fits):
                break
            low, high = ends
            wrong = on_wrong_side(inside, low, high, wrong_by)
            wrong[near] = False
            if not wrong.any():
                inner *= INNER_GAP
            near = np.union1d(near, np.flatnonzero(wrong))
            inside = inside & ~wrong
        self._zero_where_best(lam, theta, P)
        return PathPoint(lam, theta, P, D, n_passes)

    def _zero_where_best(self, lam: float, theta: Vector, P: Vector) -> None:
        """Set nearly zero coefficients to 0 if this does not increase the objective."""
        rows = self.rows
        penalty = rows.value(lam, theta, np.zeros(len(P)), rows.every)
        fits = np.flatnonzero(penalty <= NEAR_ZERO * self.tol)
        if not len(fits):
            return
        for intercept in (rows.null_intercepts, theta[:, -1].copy()):
            zero = np.zeros((len(fits), rows.q))
            if rows.intercept:
                zero[:, -1] = intercept[fits]
            objective = rows.value(lam, zero, losses(rows, zero, fits)[0], fits)
            better = objective <= P[fits]
            P[fits[better]], theta[fits[better]] = objective[better], zero[better]


# Gap to reach in the first passes, relative to the tolerance: held-out errors then
# distinguish nearby lambdas.
AIM = 0.001
SHARED = 4  # passes with the shared Hessian, before each fit uses its own


class SmoothPath:
    """Newton steps that reuse the last Hessian computed."""

    def __init__(self, rows: FoldedRows, tol: float) -> None:
        self.rows, self.tol, self.is_log = rows, tol, rows.loss.most == 1.0
        self.past: list[PathPoint] = []
        self.hessian: Vector | None = None
        self.left = 0.0  # factor by which the last step reduced the largest gap

    def at(self, lam: float) -> PathPoint:
        """Solve all fits at one lambda."""
        rows, past, tol, B = self.rows, self.past, self.tol, self.rows.k + 1
        best = past[-1].theta.copy() if past else np.zeros((B, rows.q))
        if not past and rows.intercept:
            best[:, -1] = rows.null_intercepts
        theta = extrapolated(past, lam) if past else best.copy()
        P, D, slope = np.full(B, np.inf), np.zeros(B), np.zeros_like(theta)
        n_passes, fits = np.zeros(B, dtype=np.int64), rows.every
        inverse, largest = None, np.inf
        for turn in range(1, 31):
            loss, curvature, image = self._pass(theta[fits], fits)
            risk = rows.value(lam, theta[fits], loss.sum(axis=0), fits)
            terms = -np.einsum("cjl,jl->cj", image, theta[fits])
            dual = rows.bound(lam, theta[fits], terms, image, fits, loss, curvature)
            descent = rows.penalty(lam, fits) * theta[fits]
            descent += image.sum(axis=0) / rows.total[fits, None]
            lower = risk <= P[fits] * (1.0 + CLOSEST)
            at = fits[lower]
            best[at], P[at], D[at] = theta[at], risk[lower], dual[lower]
            slope[at] = descent[lower] * rows.free[at]
            n_passes[fits] += 1
            gap = np.where(np.inf > P, (P - D) / P, np.inf)
            before, largest = largest, gap[fits].max()
            still = ~(gap[fits] <= (AIM * tol if turn <= SHARED else tol))
            back, going = fits[still & ~lower], fits[still & lower]
            fits = fits[still]
            if not len(fits):
                break
            if turn > 1:
                self.left = largest / before
            theta[back] = 0.5 * (theta[back] + best[back])
            if turn > SHARED:
                for j in going:
                    own = self._inverse(self._hessian(best[j], j), lam, j)
                    theta[j] = best[j] - own @ slope[j] * rows.free[j]
                continue
            if self.hessian is None or largest * self.left > AIM * tol:
                self.hessian, inverse = self._hessian(best[rows.k], rows.k), None
            if inverse is None:
                inverse = self._inverse(self.hessian, lam, rows.k)
            theta[going] = best[going] - slope[going] @ inverse * rows.free[going]
        return PathPoint(lam, best, P, D, n_passes)

    def _pass(self, theta: Vector, fits: Rows) -> tuple[Vector, Vector, Vector]:
        """Sum losses, ``w_i T_i`` and ``w_i a_i z_i`` by class, for `bound`.

        Returns
        -------
        loss, curvature : float64 array, shape (2, fits)
            Sums of the weighted losses and of ``w_i T_i``, where ``T_i`` is ``exp(-m)``
            for the log loss and twice the loss for the squared hinge.
        image : float64 array, shape (2, fits, q)
        """
        rows, (loss, curvature) = self.rows, np.zeros((2, 2, len(fits)))
        image = np.zeros((2, *theta.shape))
        for level, part in rows.blocks:
            Z, w = rows.Z[part], rows.weights[part]
            T = theta @ Z.T
            T += rows.shift[part]
            if self.is_log:
                np.exp(T, out=T)
            else:
                np.maximum(T + 1.0, 0.0, out=T)
            np.copyto(T, 0.0, where=rows.folds[part] == fits[:, None])
            if self.is_log:
                q = T + 1.0
                curvature[level] += T @ w
                a = np.divide(T, q, out=T)
                np.log(q, out=q)
            else:
                q, a = T * T, 2.0 * T
                curvature[level] += 2.0 * (q @ w)
            loss[level] += q @ w
            a *= w
            image[level] += a @ Z
        return loss, curvature, image

    def _hessian(self, theta: Vector, fit: int) -> Vector:
        """Hessian of the loss of one fit, from the second derivatives at `theta`."""
        rows = self.rows
        H = np.zeros((rows.q, rows.q))
        for _, part in rows.blocks:
            Z, w = rows.Z[part], rows.weights[part] * (rows.folds[part] != fit)
            s = rows.loss.dual_weights(-(Z @ theta) - rows.shift[part])
            A = Z * np.sqrt(w * rows.loss.second_derivatives(s))[:, None]
            H += A.T @ A
        return H

    def _inverse(self, hessian: Vector, lam: float, fit: int) -> Vector:
        """Invert the Hessian of the objective."""
        rows = self.rows
        free = rows.free[fit]
        H = hessian / rows.total[fit]
        H *= np.outer(free, free)
        H[~free, ~free] = 1.0
        H[np.diag_indices(rows.q)] += lam * rows.squares[fit]
        return np.asarray(np.linalg.inv(H))


def fold_path(rows: FoldedRows, lambdas: Vector, tol: float) -> list[PathPoint]:
    """Fit all folds and all rows at each lambda.

    Parameters
    ----------
    rows : FoldedRows
    lambdas : float64 array, shape (m,), decreasing
    tol : float
        Relative gap to reach; fits that do not reach it are returned too.
    """
    kind = HingePath if rows.loss is LOSSES["hinge"] else SmoothPath
    path = kind(rows, tol)
    with np.errstate(over="ignore", invalid="ignore"):  # steps that overflow are halved
        for lam in lambdas:
            path.past.append(path.at(float(lam)))
    return path.past
