"""Newton steps on dual weights between their bounds, which pair steps move slowly."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

STEPS = 3  # at most
LENGTHS = tuple(0.5**k for k in range(8))  # of a step, tried one after the other
RIDGE, STEEPER = 1e-11, 100.0  # of the mean of the diagonal; where that is too little
BISECTIONS = 80
MOST_RIDGES = 5
ENOUGH = 1e-3  # of the gain of the first step, below which no further one is taken


@np.errstate(over="ignore", invalid="ignore")
def newton_steps(
    K: Matrix, slope: Vector, u: Vector, low: Vector, high: Vector, free: bool
) -> Vector:
    """Maximise ``slope'd - d'Kd / 2`` over ``d`` with ``u + d`` within its bounds.

    A step solves for the weights between their bounds, with ``sum d = 0`` if the
    intercept is `free`, and is projected on the bounds; weights that reach one stay
    there.

    Parameters
    ----------
    K : float64 array, shape (m, m)
        Part of the Gram matrix, divided by ``lam n``.
    slope : float64 array, shape (m,)
        ``y_i - scores_i`` at `u`.
    u, low, high : float64 array, shape (m,)
        ``a_i y_i`` and its bounds.
    free : bool

    Returns
    -------
    float64 array, shape (m,)
        New ``u``, of a dual that is no less.

    References
    ----------
    Bertsekas, *Projected Newton methods for optimization problems with simple
    constraints*, SIAM Journal on Control and Optimization 20 (1982).
    """
    u, slope, first = u.copy(), slope.copy(), 0.0
    for _ in range(STEPS):
        inside = np.flatnonzero((u > low) & (u < high))
        if inside.size < 2:
            break
        part = K[np.ix_(inside, inside)]
        step = _step(part, slope[inside], free)
        given = part, slope[inside], u[inside], low[inside], high[inside], free
        change, gain = _best_length(*given, step)
        if not gain > ENOUGH * first:
            break
        first = first or gain
        u[inside] = np.clip(u[inside] + change, low[inside], high[inside])
        slope -= K[:, inside] @ change
    return u


def _step(K: Matrix, slope: Vector, free: bool) -> Vector:
    """Solve ``K d = slope - b`` for ``d``, and for the ``b`` that makes it sum to 0."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    m, ridge = len(slope), RIDGE * float(np.diag(K).mean())
    right = np.column_stack([slope, np.ones(m)])
    for _ in range(MOST_RIDGES):
        try:
            factor = cho_factor(K + ridge * np.eye(m), lower=True, check_finite=False)
            break
        except LinAlgError:
            ridge *= STEEPER
    else:
        return np.asarray(slope - slope.mean() * free)
    d, each = cho_solve(factor, right, check_finite=False).T
    return np.asarray(d - d.sum() / each.sum() * each if free else d)


def _best_length(
    K: Matrix,
    slope: Vector,
    u: Vector,
    low: Vector,
    high: Vector,
    free: bool,
    step: Vector,
) -> tuple[Vector, float]:
    """Return the change that gains most, of some lengths of a step, and its gain."""
    best, most = np.zeros(len(u)), 0.0
    for length in LENGTHS:
        wanted = u + length * step
        change = _within(wanted, low, high, float(u.sum()) if free else None) - u
        gain = float(slope @ change - 0.5 * change @ (K @ change))
        if gain > most:
            best, most = change, gain
        if np.array_equal(wanted, u + change):
            break
    return best, most


def _within(u: Vector, low: Vector, high: Vector, total: float | None) -> Vector:
    """Return the nearest point within the bounds, with this sum if one is given."""
    if total is None:
        return np.clip(u, low, high)
    below, above = float((u - high).min()), float((u - low).max())
    for _ in range(BISECTIONS):
        middle = 0.5 * (below + above)
        if np.clip(u - middle, low, high).sum() > total:
            below = middle
        else:
            above = middle
    return np.clip(u - 0.5 * (below + above), low, high)
