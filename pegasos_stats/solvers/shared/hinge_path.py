"""The hinge along a path, all folds side by side: few rows are solved, then all read.

Fits begin where a line in log lambda through the last two has them. One pass there
tells which rows are near the margin in some fit: within ``1.2`` times the largest
change that the last fits brought. The others are fixed, and the fits
are solved on those rows. A second pass has the objectives; where a gap is too
large, rows that are on the wrong side join, and it is done again. Any gap is certified
over all rows.

Rows with margins well above 1 in all fits have the dual weight 0. Rows with margins
well below 1 in all fits are inside: those of a class that a fit keeps are one row,
their sum, with one dual weight for all of them. Its loss is that of the rows as long as
these are inside, and any dual weights of this kind are dual weights of the whole.

From a centre ``c`` the proximal point of the dual is the maximiser of

    D(a) - (gamma/(2 W)) sum_i w_i (a_i - c_i)^2,

and it is ``a_i = clip(c_i + (1 - m_i)/gamma, 0, 1)`` at the minimum of a smoothed risk
with piecewise constant second derivatives, which Newton steps with a line search find
(the method of ``newton/hinge.py``, where the references are). With ``g`` the
gradient there, the gap is ``sum g^2/(2 lam s^2)``, how far the coefficients are from
that minimum, and a rest that is due to the smoothing. Where the first is not much of
the gap, ``a`` is the next centre, and ``gamma`` is halved.
"""

from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Mask, Rows, Vector
from pegasos_stats.solvers.objective import best_intercept
from pegasos_stats.solvers.sdca_run import NEAR
from pegasos_stats.solvers.shared.folded_rows import FoldedRows, PathPoint, extrapolated

FEW = 1000  # rows that are all kept
ROUNDS = 8
INNER, TIGHTER = 0.1, 0.1  # of the tolerance, for the rows that are kept: errors of
# rows held out tell lambdas apart better than at 0.3, in an eighth more time
ROUGH = 1e-2  # relative gap of the fit that tells where to begin
WIDER = 1.2  # of the last change of a slack, how near the margin rows are kept
NARROW, WIDE = 0.01, 0.5
FIRST = 0.3  # at the first lambda
WRONG = 0.3  # of that, where a fixed row is on the wrong side
NO_WEIGHT = 1e-9  # instead of 0, of a class without rows inside
MOST = 200  # steps
SHRINKS, GROWS = 0.5, 2.0  # of gamma, with the centre and without
LEAST = 1e-6  # of gamma
PATIENCE = 12  # steps from a centre
SOLVED = 3.0  # of the rest of the gap, what the coefficients may leave at a centre
FLAT = 0.05  # of the first slope, where a line search ends
TRIALS = 40  # of a line search
INSIDE = 0.1, 0.9  # of a bracket, where the next trial is
NO_CURVATURE = 1e-12, 1e-2  # of the intercept, with active rows and without
CLOSE = 0.5  # slacks whose changes are looked at


def slacks(rows: FoldedRows, theta: Vector, part: slice | Rows) -> Vector:
    """``1 - m_i`` of some rows, shape (fits, rows)."""
    found = theta @ rows.Z[part].T
    found += 1.0 if rows.known is None else 1.0 + rows.known[part]
    return np.asarray(found)


def losses(
    rows: FoldedRows, theta: Vector, fits: Rows
) -> tuple[Vector, Vector, Vector]:
    """One pass over all rows.

    Returns
    -------
    loss : float64 array, shape (fits,)
        ``sum_i w_i max(0, 1 - m_i)``.
    low, high : float64 array, shape (n,)
        Least and largest ``1 - m_i`` of each row.
    """
    place = rows.places(fits)
    loss, low, high = np.zeros(len(fits)), np.empty(rows.n), np.empty(rows.n)
    for block in rows.blocks:
        part = block.rows
        slack = slacks(rows, theta, part)
        slack.min(axis=0, out=low[part])
        slack.max(axis=0, out=high[part])
        np.maximum(slack, 0.0, out=slack)
        for first, stop, fold in block.pieces:
            if (j := place[fold]) >= 0:
                slack[j, first:stop] = 0.0
        w = rows.weights
        loss += slack.sum(axis=1) if w is None else slack @ w[part]
    return loss, low, high


class NearRows:
    """The rows near the margin, and two rows for those inside, for some fits.

    Arrays of these rows have ``size`` columns, the last two for the rows inside.

    Parameters
    ----------
    rows : FoldedRows
    near : int array
        Rows near the margin, sorted.
    inside : bool array, shape (n,)
    fits : int array

    Attributes
    ----------
    Z : float64 array, shape (near, q)
        ``w_i z_i``.
    target : float64 array, shape (near,)
        ``w_i (1 - y_i offset_i)``.
    held_out : bool array, shape (fits, near)
    sums : float64 array, shape (fits, 2, q + 2)
        Of the rows inside, by class: sums of ``w_i z_i``, targets and weights.
    per_weight : float64 array, shape (fits, size)
        ``1 / w_i``.
    """

    def __init__(self, rows: FoldedRows, near: Rows, inside: Mask, fits: Rows) -> None:
        self.rows, self.near, self.fits = rows, near, fits
        self.Z, self.target = rows.Z[near], np.ones(len(near))
        if rows.known is not None:
            self.target += rows.known[near]
        self.weights = None if rows.weights is None else rows.weights[near]
        if self.weights is not None:
            self.Z *= self.weights[:, None]
            self.target *= self.weights
        self.held_out = rows.folds[near] == fits[:, None]
        self.sums = self._sums_inside(inside)
        self.per_weight = np.ones((len(fits), len(near) + 2))
        if self.weights is not None:
            self.per_weight[:, :-2] /= self.weights
        self.per_weight[:, -2:] /= np.maximum(self.sums[:, :, -1], NO_WEIGHT)

    def _sums_inside(self, inside: Mask) -> Vector:
        rows, q = self.rows, self.rows.q
        found = np.zeros((rows.size, 2, q + 2))
        if inside.any():
            w = inside * (1.0 if rows.weights is None else rows.weights)
            t = w if rows.known is None else w * (1.0 + rows.known)
            for block in rows.blocks:
                for first, stop, fold in block.pieces:
                    part = slice(block.first + first, block.first + stop)
                    at = found[fold, block.level]
                    at[:q] += w[part] @ rows.Z[part]
                    at[q:] += t[part].sum(), w[part].sum()
        return np.asarray(found.sum(axis=0) - found[self.fits])

    def only(self, fits: Mask) -> "NearRows":
        """The same rows for some of the fits."""
        found = copy(self)
        for name in ("fits", "held_out", "sums", "per_weight"):
            setattr(found, name, getattr(self, name)[fits])
        return found

    def change(self, theta: Vector) -> Vector:
        """``w_i z_i'theta``, shape (fits, size)."""
        found = np.empty(self.per_weight.shape)
        np.matmul(theta, self.Z.T, out=found[:, :-2])
        sums = self.sums[:, :, : self.rows.q]
        np.einsum("jcl,jl->jc", sums, theta, out=found[:, -2:])
        return found

    def slack(self, theta: Vector) -> Vector:
        """``w_i (1 - m_i)``; minus infinity of rows held out, which never count."""
        found = self.change(theta)
        found[:, :-2] += self.target
        found[:, -2:] += self.sums[:, :, -2]
        found[:, :-2][self.held_out] = -np.inf
        return found

    def image(self, a: Vector) -> Vector:
        """``sum_i w_i a_i z_i``, shape (fits, q)."""
        sums = self.sums[:, :, : self.rows.q]
        found = np.einsum("jc,jcl->jl", a[:, -2:], sums)
        return np.asarray(found + a[:, :-2] @ self.Z)

    def reward(self, a: Vector) -> Vector:
        """``sum_i w_i a_i (1 - y_i offset_i)``, shape (fits,)."""
        inside = (a[:, -2:] * self.sums[:, :, -2]).sum(axis=1)
        return np.asarray(a[:, :-2] @ self.target + inside)

    def by_class(self, a: Vector) -> tuple[Vector, Vector]:
        """Rewards and images of each class, shapes (2, fits) and (2, fits, q)."""
        cut = int(np.searchsorted(self.near, self.rows.n_first))
        rewards, images = [], []
        for level, part in enumerate((slice(0, cut), slice(cut, len(self.near)))):
            inside = a[:, level - 2, None] * self.sums[:, level]
            images.append(a[:, :-2][:, part] @ self.Z[part] + inside[:, :-2])
            rewards.append(a[:, :-2][:, part] @ self.target[part] + inside[:, -2])
        return np.array(rewards), np.array(images)

    def hessians(self, active: Mask) -> Vector:
        """``sum w_i z_i z_i'`` over the rows that are active in each fit."""
        q = self.rows.q
        found = np.empty((len(self.fits), q, q))
        for j in range(len(self.fits)):
            chosen = np.flatnonzero(active[j, :-2])
            A = self.Z.take(chosen, axis=0)
            if self.weights is not None:
                A /= np.sqrt(self.weights[chosen])[:, None]
            np.matmul(A.T, A, out=found[j])
            for level in (0, 1):
                if active[j, level - 2]:
                    z = self.sums[j, level, :q]
                    found[j] += np.outer(z, z * self.per_weight[j, level - 2])
        return found


@dataclass
class _Fits:
    """The fits that are on the way, a line of every array for each.

    Attributes
    ----------
    place : int array
        Their places among all.
    theta, centre, gamma, slack : float64 array
    first : float64 array
        The slack at the beginning.
    steps : int array
        Steps since the centre, or gamma, was changed.
    P, best_theta, D, best_a : float64 array
        Best points so far.
    """

    place: Rows
    theta: Vector
    centre: Vector
    gamma: Vector
    slack: Vector
    first: Vector
    steps: Rows
    P: Vector
    best_theta: Vector
    D: Vector
    best_a: Vector

    def only(self, fits: Mask) -> "_Fits":
        """Some of the fits."""
        return _Fits(*(getattr(self, each.name)[fits] for each in fields(self)))


def proximal_fits(
    kept: NearRows,
    lam: float,
    tol: float,
    theta: Vector,
    centre: Vector,
    gamma: Vector,
) -> tuple[Vector, Vector, Vector, float]:
    """Solve all fits on the rows that are kept, to a relative gap.

    Parameters
    ----------
    kept : NearRows
    lam, tol : float
    theta : float64 array, shape (fits, q)
    centre : float64 array, shape (fits, kept.size)
    gamma : float64 array, shape (fits,)

    Returns
    -------
    theta, a, gamma : float64 array
        The best coefficients and the best dual weights; ``gamma`` at the end.
    moved : float
        The largest change of a slack that began near 0.
    """
    size, slack = len(theta), kept.slack(theta)
    found, weights, gammas = theta.copy(), centre.copy(), gamma.copy()
    moved = 0.0
    now = _Fits(
        np.arange(size),
        *(theta, centre, gamma, slack, slack, np.zeros(size, dtype=np.int64)),
        *(np.full(size, np.inf), theta.copy()),
        *(np.full(size, -np.inf), centre.copy()),
    )
    for step in range(MOST):
        v, a, gradient, apart, rest = _gaps(kept, lam, now)
        going = tol * now.P < now.P - now.D
        if step == MOST - 1:
            going[:] = False
        if not going.all():
            done = now.only(~going)
            found[done.place], weights[done.place] = done.best_theta, done.best_a
            gammas[done.place] = done.gamma
            near = np.abs(done.first[:, :-2]) < CLOSE
            changes = np.abs(done.slack[:, :-2][near] - done.first[:, :-2][near])
            moved = max(moved, float(changes.max(initial=0.0)))
            if not going.any():
                break
            kept, now = kept.only(going), now.only(going)
            v, a, gradient = v[going], a[going], gradient[going]
            apart, rest = apart[going], rest[going]
        solved = apart <= SOLVED * rest
        changed = solved | (now.steps >= PATIENCE)
        if changed.any():
            now.centre = np.where(solved[:, None], a, now.centre)
            factor = np.where(solved, SHRINKS, np.where(changed, GROWS, 1.0))
            now.gamma = np.maximum(LEAST, now.gamma * factor)
            now.steps = np.where(changed, 0, now.steps)
            v, a = _weights(kept, now)
            gradient = _gradient(kept, lam, now.theta, kept.image(a))
        _step(kept, lam, now, v, gradient)
    return found, weights, gammas, moved


def _weights(kept: NearRows, now: _Fits) -> tuple[Vector, Vector]:
    """Dual weights of the smoothed risk, before and after they are clipped."""
    v = now.slack * (kept.per_weight / now.gamma[:, None])
    v += now.centre
    return v, v.clip(0.0, 1.0)


def _gradient(kept: NearRows, lam: float, theta: Vector, image: Vector) -> Vector:
    penalty = kept.rows.penalty(lam, kept.fits)
    return np.asarray(penalty * theta + image / kept.rows.total[kept.fits, None])


def _gaps(
    kept: NearRows, lam: float, now: _Fits
) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Look at all fits, and keep the best points.

    Of the constraint of the dual, which holds at the end only, its price is taken off.

    Returns
    -------
    v, a, gradient : float64 array
    apart, rest : float64 array, shape (fits,)
        The two parts of the gap.
    """
    rows, p = kept.rows, kept.rows.p
    penalty, total = rows.penalty(lam, kept.fits)[:, :p], rows.total[kept.fits]
    v, a = _weights(kept, now)
    image = kept.image(a)
    gradient = _gradient(kept, lam, now.theta, image)
    loss = np.maximum(now.slack, 0.0).sum(axis=1)
    P = rows.value(lam, now.theta, loss, kept.fits)
    squares = np.square(image[:, :p] / total[:, None]) / penalty
    price = np.zeros(len(total))
    if rows.intercept:
        price = np.abs(image[:, -1]) / total * (np.abs(now.theta[:, -1]) + 1.0)
    D = kept.reward(a) / total - 0.5 * squares.sum(axis=1) - price
    better = now.P > P
    now.P[better], now.best_theta[better] = P[better], now.theta[better]
    better = now.D < D
    now.D[better], now.best_a[better] = D[better], a[better]
    apart = 0.5 * (np.square(gradient[:, :p]) / penalty).sum(axis=1) + price
    return v, a, gradient, apart, np.maximum(0.0, P - D - apart)


def _step(kept: NearRows, lam: float, now: _Fits, v: Vector, gradient: Vector) -> None:
    """A Newton step of every fit."""
    rows, theta, gamma = kept.rows, now.theta, now.gamma
    penalty, total = rows.penalty(lam, kept.fits), rows.total[kept.fits]
    active = (v > 0.0) & (v < 1.0)
    H = kept.hessians(active) / (gamma * total)[:, None, None]
    at = np.arange(rows.q)
    H[:, at, at] += penalty
    if rows.intercept:
        H[:, -1, -1] += np.where(active.any(axis=1), *NO_CURVATURE)
    free = rows.free[kept.fits]
    H *= free[:, :, None] & free[:, None, :]
    H[:, at, at] += ~free
    d = np.linalg.solve(H, -(gradient * free)[:, :, None])[:, :, 0]
    change = kept.change(d)
    t = _lengths(
        v,
        change,
        kept.per_weight / gamma[:, None],
        total,
        (penalty * theta * d).sum(axis=1),
        (penalty * d * d).sum(axis=1),
        (gradient * d).sum(axis=1),
    )
    now.theta = theta + t[:, None] * d
    now.slack = now.slack + t[:, None] * change
    now.steps = now.steps + 1


def _lengths(
    v: Vector,
    change: Vector,
    per_gamma: Vector,
    total: Vector,
    along: Vector,
    curved: Vector,
    first: Vector,
) -> Vector:
    """Length of each step, where the slope of the smoothed risk is nearly 0.

    The slope is ``along + t curved + sum a(t) change / W`` and grows with ``t``; the
    next trial is where a line through the ends of the bracket has it 0.
    """
    size = len(total)
    t, going = np.ones(size), np.ones(size, dtype=bool)
    low, high = np.zeros(size), np.full(size, np.inf)
    slope_low, slope_high = first, np.zeros(size)
    per_step = change * per_gamma
    for _ in range(TRIALS):
        a = t[:, None] * per_step
        a += v
        np.clip(a, 0.0, 1.0, out=a)
        slope = along + t * curved + np.einsum("ji,ji->j", a, change) / total
        going = going & (np.abs(slope) > FLAT * np.abs(first))
        if not going.any():
            break
        below = slope < 0.0
        low, slope_low = np.where(below, t, low), np.where(below, slope, slope_low)
        high, slope_high = np.where(below, high, t), np.where(below, slope_high, slope)
        bracketed = going & (high < np.inf)
        t = np.where(going, 2.0 * t, t)
        share = slope_low[bracketed] / (slope_low - slope_high)[bracketed]
        width = (high - low)[bracketed]
        t[bracketed] = low[bracketed] + width * share.clip(*INSIDE)
    return t


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
