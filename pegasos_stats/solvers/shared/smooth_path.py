"""Losses that bend along a path, all folds side by side: Newton steps share passes.

A pass multiplies the rows by the coefficients of all fits whose gap is still too large:
with ``T = exp(-m)`` and ``q = 1 + T`` the losses are ``log q`` and the dual weights
``a = T / q``; those of the rows that a fit leaves out are 0. From the losses and the
images ``sum_i w_i a_i z_i`` of each class follow objective, gradient and dual
objective, because ``sum_i w_i H(a_i) = sum_i w_i (log q_i + a_i m_i)``, and ``m_i`` is
linear in the coefficients. Of the squared hinge they are ``max(0, 1 - m)^2`` and twice
its root.

Steps of all fits are by one Hessian, that of the fit on all rows. It is renewed when a
step by it, going by the one before, would leave a gap that is too large; a fit that is
not done after four passes takes its own. Steps that increase the objective are halved.
Fits begin where a parabola in log lambda through the last three has them.
"""

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.solvers.shared.folded_rows import FoldedRows, PathPoint, extrapolated

AIM = 0.001  # of the tolerance, where a few passes reach it: lambdas are told apart
MOST = 30  # passes at one lambda
SHARED = 4  # passes with the Hessian of all rows
ROUNDED = 1e-14  # of an objective


def smooth_path(rows: FoldedRows, lambdas: Vector, tol: float) -> list[PathPoint]:
    """Fit all folds, and all rows, for each lambda, the largest first.

    Parameters
    ----------
    rows : FoldedRows
    lambdas : float64 array, shape (m,)
    tol : float
        Relative gap that is asked for; fits that do not reach it are returned too.
    """
    fits = SmoothPath(rows)
    found: list[PathPoint] = []
    with np.errstate(over="ignore", invalid="ignore"):  # halved steps come back
        for lam in lambdas:
            found.append(fits.at(float(lam), found, tol))
    return found


class SmoothPath:
    """Newton steps, with the Hessian that was computed last."""

    def __init__(self, rows: FoldedRows) -> None:
        self.rows, self.is_log = rows, rows.loss.most == 1.0
        self.a = np.empty(rows.n)  # dual weights of the fit on all rows
        self.hessian: Vector | None = None
        self.left = 0.0  # share of the largest gap that the last step left

    def at(self, lam: float, past: list[PathPoint], tol: float) -> PathPoint:
        """All fits at one lambda."""
        rows, every = self.rows, self.rows.every
        best = past[-1].theta.copy() if past else self._start()
        theta = extrapolated(past, lam) if past else best.copy()
        P, D = np.full(rows.size, np.inf), np.zeros(rows.size)
        slope, reads = np.zeros_like(theta), np.zeros(rows.size, dtype=np.int64)
        fits, inverse, largest = every, None, np.inf
        for read in range(1, MOST + 1):
            loss, bend, image = self._read(theta[fits], fits)
            risk = rows.value(lam, theta[fits], loss.sum(axis=0), fits)
            reward = -np.einsum("cjl,jl->cj", image, theta[fits])
            dual = rows.bound(lam, theta[fits], reward, image, fits, loss, bend)
            descent = rows.penalty(lam, fits) * theta[fits]
            descent += image.sum(axis=0) / rows.total[fits, None]
            lower = risk <= P[fits] * (1.0 + ROUNDED)
            kept = fits[lower]
            best[kept], P[kept], D[kept] = theta[kept], risk[lower], dual[lower]
            slope[kept] = descent[lower] * rows.free[kept]
            reads[fits] += 1
            is_whole_new = lower[-1] or fits[-1] < rows.k
            gap = np.where(np.inf > P, (P - D) / P, np.inf)
            before, largest = largest, gap[fits].max()
            goal = AIM * tol if read <= SHARED else tol
            still = ~(gap[fits] <= goal)
            back, going = fits[still & ~lower], fits[still & lower]
            fits = fits[still]
            if not len(fits):
                break
            if read > 1:
                self.left = largest / before
            is_old = largest * self.left > AIM * tol
            if is_whole_new and (self.hessian is None or is_old):
                self.hessian, inverse = self._hessian(self.a), None
            theta[back] = 0.5 * (theta[back] + best[back])
            if self.hessian is None:
                continue
            if read > SHARED:
                for j in going:
                    own = self._hessian(self._weights_of(best[j], j))
                    step = self._inverse(own, lam, j) @ slope[j]
                    theta[j] = best[j] - step * rows.free[j]
                continue
            if inverse is None:
                inverse = self._inverse(self.hessian, lam, rows.k)
            theta[going] = best[going] - slope[going] @ inverse * rows.free[going]
        return PathPoint(lam, best, P, D, reads)

    def _start(self) -> Vector:
        """Coefficients 0, with the intercept of that."""
        rows = self.rows
        theta = np.zeros((rows.size, rows.q))
        if rows.intercept:
            first = slice(0, rows.n_first)
            w = None if rows.weights is None else rows.weights[first]
            low = np.bincount(rows.folds[first], w, minlength=rows.k)
            low = np.append(low.sum() - low, low.sum())
            pairs = zip(rows.total - low, low, strict=True)
            theta[:, -1] = [rows.loss.alone(*of_fit) for of_fit in pairs]
        return theta

    def _read(self, theta: Vector, fits: Rows) -> tuple[Vector, Vector, Vector]:
        """Sums of the losses and images of the dual weights, by class.

        Returns
        -------
        loss, bend : float64 array, shape (2, fits)
            Sums of ``w_i log q_i`` and of ``w_i T_i``.
        image : float64 array, shape (2, fits, q)
        """
        rows, place = self.rows, self.rows.places(fits)
        loss, bend = np.zeros((2, 2, len(fits)))
        image = np.zeros((2, *theta.shape))
        for block in rows.blocks:
            Z = rows.Z[block.rows]
            T = theta @ Z.T
            if rows.known is not None:
                T += rows.known[block.rows]
            if self.is_log:
                np.exp(T, out=T)
            else:
                np.maximum(T + 1.0, 0.0, out=T)
            for first, stop, fold in block.pieces:
                if (j := place[fold]) >= 0:
                    T[j, first:stop] = 0.0
            w = np.ones(len(Z)) if rows.weights is None else rows.weights[block.rows]
            if self.is_log:
                q = T + 1.0
                bend[block.level] += T @ w
                a = np.divide(T, q, out=T)
                np.log(q, out=q)
            else:
                q, a = T * T, 2.0 * T
                bend[block.level] += 2.0 * (q @ w)
            if place[rows.k] >= 0:
                self.a[block.rows] = a[-1]
            loss[block.level] += q @ w
            if rows.weights is not None:
                a *= w
            image[block.level] += a @ Z
        return loss, bend, image

    def _weights_of(self, theta: Vector, fit: int) -> Vector:
        """Dual weights of one fit, shape (n,)."""
        rows = self.rows
        m = -(rows.Z @ theta)
        if rows.known is not None:
            m -= rows.known
        a = rows.loss.slopes(m)
        a[rows.folds == fit] = 0.0
        return np.asarray(a)

    def _hessian(self, a: Vector) -> Vector:
        """``sum_i w_i bend_i z_i z_i'``."""
        rows = self.rows
        total = np.zeros((rows.q, rows.q))
        for block in rows.blocks:
            h = rows.loss.bends(a[block.rows])
            if rows.weights is not None:
                h *= rows.weights[block.rows]
            A = rows.Z[block.rows] * np.sqrt(h)[:, None]
            total += A.T @ A
        return total

    def _inverse(self, hessian: Vector, lam: float, fit: int) -> Vector:
        """Inverse of the Hessian of the objective."""
        rows = self.rows
        free = rows.free[fit]
        H = hessian / rows.total[fit]
        if not free.all():
            H *= np.outer(free, free)
            H[~free, ~free] = 1.0
        H[np.diag_indices(rows.q)] += lam * rows.squares[fit]
        return np.asarray(np.linalg.inv(H))
