"""Fit many resamples of the same dense rows.

A resample has weights ``w_i``. For the hinge, Newton's method with a kernel estimate of
the Hessian (as in Koo, Lee, Kim & Park, JMLR 9, 2008) leads from the fit of all rows to
an approximate fit of the resample. Then an interior-point method solves for the rows
nearest to the margin, the active rows. The dual weights of the other rows are fixed: at
``w_i`` for margins below 1, else at 0. Together the dual weights of all rows are
feasible, so their dual objective and the objective over all rows yield a duality gap.
If the gap is too large, more rows become active: those that a resample may move across
the margin, to judge by the first resamples. If it is still too large, all rows become
active. For the other losses, Newton steps start from the fit of all rows and yield a
duality gap.
"""

from abc import ABC, abstractmethod
from copy import copy
from typing import NamedTuple, Self

import numpy as np

from pegasos_stats.arrays import Mask, Matrix, Rows, Vector, dense_rows
from pegasos_stats.solvers.hinge_proximal import SCREENED_TOL
from pegasos_stats.solvers.intercept import SAME_WEIGHT
from pegasos_stats.solvers.interior import InteriorPoints, hessians
from pegasos_stats.solvers.losses import MarginLoss
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.rounding import LAST
from pegasos_stats.solvers.sums import ENTRIES

# Active rows of the interior-point method: a quarter of the rows that may cross the
# margin, at least eight per column. 199 resamples of 1,000 x 10 and of 5,000 x 5 take
# 0.32 s and 0.51 s; with all rows that may cross the margin 1.9 s and 1.8 s; with all
# rows 1.5 s and 3.9 s.
OWN_SHARE, OWN_TO_A_COLUMN = 4, 8
TIED = 1e-3  # minimum half-width of the smoothing; 10 times the minimum of mu
NEWTON_STEPS = 12  # maximum; from a point near the minimum, a few suffice
MOST_PRODUCTS = 16 * ENTRIES  # maximum entries in products of rows: 16 MB


class ResampleRows(NamedTuple):
    """Active rows, those with label -1 first, and fixed rows.

    Attributes
    ----------
    rows : int array, shape (m,)
    Z : float64 array, shape (k + 1, m)
        ``z_i = y_i (x_i, 1)``, and ``1 - y_i offset_i`` as the last row.
    cut : int
        Number of active rows with label -1.
    fixed : two int arrays
        Fixed rows of positive dual weight, with labels -1 and +1.
    products : float64 array, shape (m, k k), or None
        ``z_i z_i'``; None if too large.
    """

    rows: Rows
    Z: Matrix
    cut: int
    fixed: tuple[Rows, Rows]
    products: Matrix | None


class Resamples(ABC):
    """Fits resamples of a problem, starting at its solution; thread-safe.

    Parameters
    ----------
    problem : Problem
        Its rows, dense or sparse, are copied to a dense matrix.
    solution : Solution
        Fit of all rows.
    tol : float
        Relative gap at which a resample counts as solved.
    """

    def __init__(self, problem: Problem, solution: Solution, tol: float) -> None:
        y, n, free = problem.y, problem.n, problem.intercept
        self._free, self._y, self._tol = free, y, tol
        self._p, self._loss = problem.p, problem.loss_function
        self._Z = Z = (
            np.hstack([dense_rows(problem.X), np.ones((n, 1 + free))]) * y[:, None]
        )
        Z[:, -1] = 1.0 - y * problem.row_offsets
        self._theta = np.append(solution.beta, [solution.alpha] * free)

    def with_tol(self, tol: float) -> Self:
        """Return a copy with another relative gap."""
        other, other._tol = copy(self), tol
        return other

    @abstractmethod
    def look_near(self, estimates: Matrix, reach: float) -> None:
        """See `HingeResamples`."""

    @np.errstate(all="ignore")
    def __call__(
        self, weights: Matrix, penalties: Matrix
    ) -> tuple[Matrix, Vector, Vector]:
        """Fit resamples.

        Parameters
        ----------
        weights : float64 array, shape (B, n)
        penalties : float64 array, shape (B, p)
            Penalty of each coefficient, in place of ``lam``.

        Returns
        -------
        estimates : float64 array, shape (B, p + 1)
            ``alpha, beta``; ``alpha`` is 0 without intercept.
        gap, risk : float64 arrays, shape (B,)
        """
        none = np.zeros((len(weights), 1))
        penalties = np.hstack([penalties, none[:, : int(self._free)]])
        theta, gap, risk = self._fitted(weights, penalties)
        alpha = theta[:, -1:] if self._free else none
        return np.hstack([alpha, theta[:, : self._p]]), gap, risk

    @abstractmethod
    def _fitted(
        self, weights: Matrix, penalties: Matrix
    ) -> tuple[Matrix, Vector, Vector]:
        """Compute ``theta``, gap and objective of resamples."""


def newton_steps(
    loss: MarginLoss,
    rows: tuple[Matrix, Vector],
    weights: Matrix,
    penalties: Matrix,
    theta: Matrix,
    enough: float,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Take Newton steps of many fits of the same rows with different weights.

    Stops when no step reduces the objective by more than about half of `enough`.

    Parameters
    ----------
    loss : MarginLoss
    rows : pair of float64 arrays, shape (n, k) and (n,)
        ``y_i (x_i, 1)`` and ``y_i offset_i``.
    weights : float64 array, shape (B, n)
    penalties, theta : float64 array, shape (B, k)
        Penalties of the coefficients, and starting points.
    enough : float

    Returns
    -------
    theta, step : float64 array, shape (B, k)
        Not finite if a diagonal element of the Hessian is nearly 0.
    a : float64 array, shape (B, n)
        Minus the derivatives of the losses before the last step.
    hessian : float64 array, shape (B, k, k)
    """
    Z, shift = rows
    for _ in range(NEWTON_STEPS):
        a = loss.dual_weights(theta @ Z.T + shift)
        g = (weights * a) @ Z - penalties * theta
        H = np.stack([(Z.T * row) @ Z for row in weights * loss.second_derivatives(a)])
        diagonal = np.einsum("bjj->bj", H)
        diagonal += penalties
        diagonal *= 1.0 + 1e-13  # else collinear columns would make H singular
        is_flat = ~(diagonal.min(axis=1) > 1e-10 * weights.sum(axis=1))
        H[is_flat] = np.eye(Z.shape[1])  # such as with separated classes
        d = np.linalg.solve(H, g[:, :, None])[:, :, 0]
        d[is_flat] = np.nan
        theta = theta + d
        if not ((g * d).sum(axis=1) > enough).any():
            break
    return theta, d, a, H


class SmoothResamples(Resamples):
    """Resamples of a smooth loss."""

    def look_near(self, estimates: Matrix, reach: float) -> None:
        """Do nothing: with a smooth loss all rows are active."""

    def _fitted(
        self, weights: Matrix, penalties: Matrix
    ) -> tuple[Matrix, Vector, Vector]:
        Z, shift, loss = self._Z[:, :-1], 1.0 - self._Z[:, -1], self._loss
        theta = np.tile(self._theta, (len(weights), 1))
        parts = weights / weights.sum(axis=1)[:, None]
        # The remaining error is then small relative to the tolerance.
        enough = 0.01 * self._tol
        theta, *_ = newton_steps(loss, (Z, shift), parts, penalties, theta, enough)
        m = theta @ Z.T + shift
        a = loss.dual_weights(m)
        risk = (parts * loss.values(m.ravel()).reshape(m.shape)).sum(axis=1)
        risk += 0.5 * (penalties * theta**2).sum(axis=1)
        if self._free:
            sides = [(parts * a) @ (self._y == side) for side in (-1.0, 1.0)]
            low, high = (np.minimum(*sides) / side for side in sides)
            a *= np.where(self._y < 0.0, low[:, None], high[:, None])
        image = ((parts * a) @ Z)[:, : self._p]
        reward = loss.conjugate_terms(a.ravel(), None).reshape(a.shape) - a * shift
        gap = risk - (parts * reward).sum(axis=1)
        gap += 0.5 * (image**2 / penalties[:, : self._p]).sum(axis=1)
        return theta, np.maximum(gap, LAST * risk), risk


class HingeResamples(Resamples):
    """Resamples of the hinge."""

    def __init__(self, problem: Problem, solution: Solution, tol: float) -> None:
        super().__init__(problem, solution, tol)
        everywhere = np.ones(problem.n, dtype=np.bool_)
        self._all = self._near = self._part(everywhere, ~everywhere)

    def look_near(self, estimates: Matrix, reach: float) -> None:
        """Fix rows that are too far from the margin for resamples to move across it.

        Parameters
        ----------
        estimates : float64 array, shape (b, p + 1)
            Estimates ``alpha, beta`` of the first resamples.
        reach : float
            Safety factor for the largest move of a row by these estimates.
        """
        theta = np.roll(estimates, -1, axis=1)[:, : self._theta.size]
        changes = theta - self._theta
        s = self._Z[:, -1] - self._Z[:, :-1] @ self._theta
        moves = np.abs(self._Z[:, :-1] @ changes.T).max(axis=1)
        is_near = np.abs(s) <= reach * moves
        if is_near.any():
            self._near = self._part(is_near, ~is_near & (s > 0.0))

    def _part(self, is_near: Mask, is_fixed: Mask) -> ResampleRows:
        sides = self._y < 0.0, self._y > 0.0
        rows = [np.flatnonzero(is_near & side) for side in sides]
        low, high = (np.flatnonzero(is_fixed & side) for side in sides)
        both = np.concatenate(rows)
        Z = np.ascontiguousarray(self._Z[both].T)
        X, products = self._Z[both, :-1], None
        if X.size * X.shape[1] <= MOST_PRODUCTS:
            products = (X[:, :, None] * X[:, None]).reshape(both.size, -1)
        return ResampleRows(both, Z, rows[0].size, (low, high), products)

    def _fitted(
        self, weights: Matrix, penalties: Matrix
    ) -> tuple[Matrix, Vector, Vector]:
        theta, gap, risk, inner = self._solved(self._near, weights, penalties, True)
        for part in (self._near, self._all):
            is_worse = ~(gap <= self._tol * risk)
            if part is self._all:  # if the inner gap is larger, more rows do not help
                is_worse &= inner <= self._tol * risk
            if (worse := is_worse.nonzero()[0]).size:
                again = self._solved(part, weights[worse], penalties[worse], False)
                better = ~(again[1] >= gap[worse])
                at = worse[better]
                for values, value in zip((theta, gap, risk, inner), again, strict=True):
                    values[at] = value[better]
        return theta, gap, risk

    def _solved(
        self, part: ResampleRows, weights: Matrix, penalties: Matrix, few: bool
    ) -> tuple[Matrix, Vector, Vector, Vector]:
        """Compute ``theta``, gap and objective over all rows, and the inner gap.

        The inner gap is the duality gap of the problem of the active rows.
        """
        (rows, Z, cut, sides, products), m = part, part.rows.size
        totals = weights.sum(axis=1)
        near = weights[:, rows] / totals[:, None]
        fixed = np.stack([weights[:, side] @ self._Z[side] for side in sides], 1)
        fixed /= totals[:, None, None]
        theta, z, negative = self._of_fit(near), Z[None], np.arange(m)[None] < cut
        own = min(m, max(OWN_TO_A_COLUMN * len(Z), m // OWN_SHARE))
        if few and own < m:
            theta, s = self._approached(part, near, fixed.sum(axis=1), penalties, own)
            far = np.where(near > 0.0, np.abs(s), np.inf)
            order = np.argpartition(far, own, axis=1)
            width = np.take_along_axis(far, order[:, own : own + 1], axis=1)[:, 0]
            some = np.sort(order[:, :own], axis=1)
            full = np.where(s > 0.0, near, 0.0)
            np.put_along_axis(full, some, 0.0, axis=1)
            fixed[:, 0] += full[:, :cut] @ Z[:, :cut].T
            fixed[:, 1] += full[:, cut:] @ Z[:, cut:].T
            z, negative, products = Z.T[some].transpose(0, 2, 1), some < cut, None
            near = np.take_along_axis(near, some, axis=1)
        else:
            width = np.abs(Z[-1] - theta @ Z[:-1]).max(axis=1)
        mu = 0.1 * np.maximum(width, TIED)
        points = InteriorPoints(
            *(z, negative, near, fixed, penalties, theta, mu, products)
        )
        theta, s, _, dual, inner = points.solved(SCREENED_TOL * self._tol)
        if self._free:
            signs = np.broadcast_to(z[:, -2], s.shape)
            theta[:, -1] += middles(signs * s, near * signs, fixed[:, :, -2])
        s = np.column_stack([-theta, np.ones(len(theta))]) @ self._Z.T
        np.maximum(s, 0.0, out=s)
        risk = np.einsum("bi,bi->b", weights, s) / totals
        risk += 0.5 * (penalties * theta**2).sum(axis=1)
        return theta, np.maximum(risk - dual, LAST * risk), risk, inner

    def _of_fit(self, weights: Matrix) -> Matrix:
        return np.tile(self._theta, (len(weights), 1))

    def _approached(
        self, part: ResampleRows, w: Matrix, fixed: Matrix, penalties: Matrix, own: int
    ) -> tuple[Matrix, Matrix]:
        """Compute ``theta`` and ``s = 1 - m`` by Newton's method for a smoothed hinge.

        The smoothing covers `own` rows near the margin of the fit of all rows. A step
        that increases the objective is halved. Iterations stop when no step changes an
        objective by more than 1%.
        """
        Z, X = part.Z, part.Z[:-1]
        theta = self._of_fit(w)
        s = Z[-1] - theta @ X
        least, best, s_of_best = np.full(len(w), np.inf), theta, s
        width = 2.0 * max(TIED, float(np.partition(np.abs(s[0]), own)[own]))
        for _ in range(NEWTON_STEPS):
            risk = np.einsum("bi,bi->b", w, np.maximum(s, 0.0)) + fixed[:, -1]
            risk += ((0.5 * penalties * theta - fixed[:, :-1]) * theta).sum(axis=1)
            lower = risk < least
            is_last = not (np.abs(least - risk) > 1e-2 * risk).any()
            least, is_lower = np.where(lower, risk, least), lower[:, None]
            best, s_of_best = (
                np.where(is_lower, *pair) for pair in ((theta, best), (s, s_of_best))
            )
            if is_last:
                break
            v = 0.5 + s / width
            a = np.minimum(np.maximum(v, 0.0), 1.0)
            g = penalties * theta - fixed[:, :-1] - (w * a) @ X.T
            H = hessians(X[None], np.where(a == v, w, 0.0) / width, part.products)
            np.einsum("bjj->bj", H)[:] += penalties + 1e-12
            try:
                d = np.linalg.solve(H, g[:, :, None])[:, :, 0]
            except np.linalg.LinAlgError:  # the Hessian of a resample is singular
                break
            theta = np.where(is_lower, theta - d, 0.5 * (theta + best))
            s = Z[-1] - theta @ X
        return best, s_of_best


def middles(kinks: Matrix, signed: Matrix, fixed: Matrix) -> Vector:
    """Changes that move intercepts to the midpoints of the optimal intervals.

    The change is 0 if the fixed rows of one class weigh at least as much as all rows of
    the other class.

    Parameters
    ----------
    kinks : float64 array, shape (B, m)
        Intercepts at which rows cross the margin, minus the current intercept.
    signed : float64 array, shape (B, m)
        Weights times ``y_i``.
    fixed : float64 array, shape (B, 2)
        Sums of `signed` over the fixed rows with labels -1 and +1.

    Examples
    --------
    >>> middles(np.array([[-1.0, 2.0]]), np.array([[1.0, -1.0]]), np.zeros((1, 2)))
    array([0.5])
    """
    order, resample = np.argsort(kinks, axis=1), np.arange(len(kinks))
    weights = np.abs(signed)
    passed = np.take_along_axis(weights, order, axis=1).cumsum(axis=1)
    passed -= fixed[:, :1]
    plus = np.maximum(signed, 0.0).sum(axis=1) + fixed[:, 1]
    minus = weights.sum(axis=1) + fixed[:, 1] - fixed[:, 0] - plus
    rounding = SAME_WEIGHT * np.minimum(plus, minus)
    is_in = (-fixed[:, 0] < plus) & (plus + rounding < passed[:, -1])
    low, high = (
        kinks[resample, order[resample, (passed >= goal[:, None]).argmax(axis=1)]]
        for goal in (plus - rounding, plus + rounding)
    )
    return np.where(is_in, 0.5 * (low + high), 0.0)
