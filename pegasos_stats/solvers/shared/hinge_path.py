"""The hinge along a path, all folds side by side: few rows are solved, then all read.

Fits begin where a line in log lambda through the last two has them. One pass there
tells which rows are near the margin in some fit: within ``1.2`` times the largest
change that the last fits brought. The others are fixed, see ``near_rows.py``, and the
fits are solved on those rows. A second pass has the objectives; where a gap is too
large, rows that are on the wrong side join, and it is done again. Any gap is certified
over all rows.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Mask, Rows, Vector
from pegasos_stats.solvers.objective import best_intercept
from pegasos_stats.solvers.shared.folded_rows import FoldedRows
from pegasos_stats.solvers.shared.near_rows import NearRows, losses
from pegasos_stats.solvers.shared.proximal_fits import proximal_fits
from pegasos_stats.solvers.shared.warm_starts import PathPoint, extrapolated
from pegasos_stats.solvers.solver_runs import NEAR

FEW = 1000  # rows that are all kept
ROUNDS = 8
INNER, TIGHTER = 0.1, 0.1  # of the tolerance, for the rows that are kept: errors of
# rows held out tell lambdas apart better than at 0.3, in an eighth more time
ROUGH = 1e-2  # relative gap of the fit that tells where to begin
WIDER = 1.2  # of the last change of a slack, how near the margin rows are kept
NARROW, WIDE = 0.01, 0.5
FIRST = 0.3  # at the first lambda
WRONG = 0.3  # of that, where a fixed row is on the wrong side


class _Side(NamedTuple):
    """What is known of the rows from the last fits.

    Attributes
    ----------
    near : int array
        Rows that were kept.
    inside : bool array, shape (n,)
    a : float64 array, shape (fits, near)
        Dual weights of rows that were kept; of others they are 1 inside, 0 outside.
    """

    near: Rows
    inside: Mask
    a: Vector

    def weights(self, near: Rows, fits: Rows) -> Vector:
        """Dual weights of some rows and fits."""
        at = np.searchsorted(self.near, near)
        at[at == len(self.near)] = 0
        known = self.near[at] == near if len(self.near) else np.zeros(len(near), bool)
        found = np.repeat(self.inside[None, near].astype(float), len(fits), axis=0)
        found[:, known] = self.a[np.ix_(fits, at[known])]
        return found


class HingePath:
    """Fits at one lambda after the other."""

    def __init__(self, rows: FoldedRows, tol: float) -> None:
        self.rows, self.tol = rows, tol
        X = rows.Z[:, : rows.p]
        self.mean_square = float(np.einsum("ij,ij->", X, X)) / rows.n
        self.every = np.arange(rows.n)
        everywhere = np.full((rows.size, rows.n), 0.5)
        self.side = _Side(self.every, np.zeros(rows.n, dtype=bool), everywhere)
        self.width = FIRST
        self.past: list[PathPoint] = []

    def at(self, lam: float) -> PathPoint:
        """All fits at one lambda."""
        rows, tol = self.rows, self.tol
        theta = self._start(lam)
        near, inside = self._sides(theta)
        fits, inner, width = rows.every, INNER * tol, self.width
        gamma = np.full(rows.size, self._gamma(lam))
        P, D = np.full(rows.size, np.inf), np.zeros(rows.size)
        reads = np.zeros(rows.size, dtype=np.int64)
        for turn in range(ROUNDS):
            kept = NearRows(rows, near, inside, fits)
            centre = np.ones((len(fits), len(near) + 2))
            centre[:, :-2] = self.side.weights(near, fits)
            theta[fits], a, gamma[fits], moved = proximal_fits(
                kept, lam, inner, theta[fits], centre, gamma[fits]
            )
            if not turn:
                self.width = min(WIDE, max(NARROW, WIDER * moved))
            weights = self.side.weights(near, rows.every)
            weights[fits] = a[:, :-2]
            self.side = _Side(near, inside, weights)
            loss, low, high = losses(rows, theta[fits], fits)
            P[fits] = rows.value(lam, theta[fits], loss, fits)
            D[fits] = rows.bound(lam, theta[fits], *kept.by_class(a), fits)
            reads[fits] += 1
            fits = fits[~(P[fits] - D[fits] <= tol * P[fits])]
            if not len(fits):
                break
            wrong = np.where(inside, low < WRONG * width, high > -WRONG * width)
            wrong[near] = False
            if not wrong.any():
                inner *= TIGHTER
            near = np.union1d(near, np.flatnonzero(wrong))
            inside = inside & ~wrong
        self._zero_where_best(lam, theta, P)
        return PathPoint(lam, theta, P, D, reads)

    def _zero_where_best(self, lam: float, theta: Vector, P: Vector) -> None:
        """Coefficients of 0 where their objective is no larger, as `at_zero` has it."""
        rows = self.rows
        penalty = rows.value(lam, theta, np.zeros(len(P)), rows.every)
        fits = np.flatnonzero(penalty <= NEAR * self.tol)
        if not len(fits):
            return
        zero = np.zeros((len(fits), rows.q))
        trials = [zero]
        if rows.intercept:
            same, alone = zero.copy(), zero.copy()
            same[:, -1] = theta[fits, -1]
            alone[:, -1] = self._alone[fits]
            trials = [alone, same]
        for trial in trials:
            loss = losses(rows, trial, fits)[0]
            objective = rows.value(lam, trial, loss, fits)
            better = objective <= P[fits]
            P[fits[better]], theta[fits[better]] = objective[better], trial[better]

    @cached_property
    def _alone(self) -> Vector:
        """The best intercept of each fit without predictors."""
        rows = self.rows
        y = np.where(np.arange(rows.n) < rows.n_first, -1.0, 1.0)
        offset = np.zeros(rows.n) if rows.known is None else -y * rows.known
        weights = np.ones(rows.n) if rows.weights is None else rows.weights
        kept = [rows.folds != fit for fit in range(rows.size)]
        given = ((offset[part], y[part], "hinge", weights[part]) for part in kept)
        return np.array([best_intercept(*each) for each in given])

    def _start(self, lam: float) -> Vector:
        """Coefficients to begin with."""
        rows = self.rows
        if self.past:
            return extrapolated(self.past, lam, 2)
        theta = np.zeros((rows.size, rows.q))
        if rows.n > FEW:  # the fit on all rows, roughly
            whole = np.array([rows.k])
            kept = NearRows(rows, self.every, self.side.inside, whole)
            centre = np.full((1, rows.n + 2), 0.5)
            found, a, _, _ = proximal_fits(
                kept, lam, ROUGH, theta[whole], centre, np.array([self._gamma(lam)])
            )
            theta[:], self.side.a[:] = found, a[:, :-2]
        return theta

    def _gamma(self, lam: float) -> float:
        """``gamma`` to begin with: about the change of a margin with its own weight."""
        return max(1.0, self.mean_square / (4.0 * lam * self.rows.n))

    def _sides(self, theta: Vector) -> tuple[Rows, Mask]:
        """Rows near the margin in some fit, and rows inside in all."""
        rows = self.rows
        if rows.n <= FEW:
            return self.every, np.zeros(rows.n, dtype=bool)
        _, low, high = losses(rows, theta, rows.every)
        inside = low > self.width
        return np.flatnonzero(~inside & (high >= -self.width)), inside


def hinge_path(rows: FoldedRows, lambdas: Vector, tol: float) -> list[PathPoint]:
    """Fit all folds, and all rows, for each lambda, the largest first.

    Parameters
    ----------
    rows : FoldedRows
    lambdas : float64 array, shape (m,)
    tol : float
        Relative gap that is asked for; fits that do not reach it are returned too.
    """
    path = HingePath(rows, tol)
    for lam in lambdas:
        path.past.append(path.at(float(lam)))
    return path.past
