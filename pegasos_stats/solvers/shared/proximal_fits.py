"""The hinge on the rows that are kept, all fits side by side.

From a centre ``c`` the proximal point of the dual is the maximiser of

    D(a) - (gamma/(2 W)) sum_i w_i (a_i - c_i)^2,

and it is ``a_i = clip(c_i + (1 - m_i)/gamma, 0, 1)`` at the minimum of a smoothed risk
with piecewise constant second derivatives, which Newton steps with a line search find
(the method of ``solvers/proximal.py``, where the references are). With ``g`` the
gradient there, the gap is ``sum g^2/(2 lam s^2)``, how far the coefficients are from
that minimum, and a rest that is due to the smoothing. Where the first is not much of
the gap, ``a`` is the next centre, and ``gamma`` is halved.
"""

from dataclasses import dataclass, fields

import numpy as np

from pegasos_stats.arrays import Mask, Rows, Vector
from pegasos_stats.solvers.shared.near_rows import NearRows

MOST = 200  # steps
SHRINKS, GROWS = 0.5, 2.0  # of gamma, with the centre and without
LEAST = 1e-6  # of gamma
PATIENCE = 12  # steps from a centre
SOLVED = 3.0  # of the rest of the gap, what the coefficients may leave at a centre
FLAT = 0.05  # of the first slope, where a line search ends
TRIALS = 40  # of a line search
INSIDE = 0.1, 0.9  # of a bracket, where the next trial is
NO_CURVATURE = 1e-12, 1e-2  # of the intercept, with active rows and without
NEAR = 0.5  # slacks whose changes are looked at


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
            near = np.abs(done.first[:, :-2]) < NEAR
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
