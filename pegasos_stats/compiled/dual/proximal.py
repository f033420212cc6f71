"""Newton steps for the proximal point in the dual.

What they solve is told in ``pegasos_stats/solvers/proximal.py``.

Every function changes the state in place. The whole of a step, and of a run, is
compiled, so that many problems can be solved side by side in threads.
"""

import math
from typing import NamedTuple

import numpy as np

from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.losses import HINGE
from pegasos_stats.compiled.arithmetic.rows import Rows, offset_at
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.dual.newton import (
    SMALLEST,
    Direction,
    inner,
    newton_direction,
)
from pegasos_stats.compiled.dual.smooth import (
    BALANCE,
    CURVATURE,
    ERRORS,
    KNOWN,
    REWARD,
    RISK,
    VIOLATIONS,
    Smooth,
    balance,
    put_dots,
    put_scores,
    see_rows,
    slope_along,
)

LEAST_WIDTH = 1e-6
SHRINK = 0.5  # of gamma, with a new centre
PATIENCE, GROW = 12, 2.0  # steps at one centre before gamma grows, and by how much
SOLVED = 1.0  # the first part of the gap over the second, for a new centre
RESIDUAL, PRODUCTS = 0.05, 300  # of conjugate gradients
FLAT = 0.3  # share of the slope that may be left after the line search
TRIALS = 60
BALANCED = 1e-15

(
    ALPHA,
    GAMMA,
    STEPS_HERE,
    IS_SOLVED,
    ACTIVE,
    OBJECTIVE,
    DUAL_OBJECTIVE,
    BEST_ALPHA,
    BEST_ERRORS,
    ALL_VIOLATIONS,
) = range(10)


class Proximal(NamedTuple):
    """Where the steps are, and the best points so far.

    Attributes
    ----------
    w, gradient, best_w : float64 array, shape (padded(p),)
        Coefficients, the gradient of the smoothed risk there, and the coefficients of
        the least risk so far.
    scores, moves, best_a : float64 array, shape (n,)
        ``x_i'w + offset_i``, ``x_i'd`` along the last direction, and the dual weights
        of the largest dual objective so far.
    scalars : float64 array, shape (10,)
        ``ALPHA``; ``GAMMA``; ``STEPS_HERE`` taken at the present centre; ``IS_SOLVED``,
        1 if that is done with; ``ACTIVE`` rows; the best ``OBJECTIVE`` with its
        ``BEST_ALPHA`` and ``BEST_ERRORS``, the best ``DUAL_OBJECTIVE``;
        ``ALL_VIOLATIONS``, rows with a margin below 1 summed over the steps.
    """

    w: Vector
    gradient: Vector
    best_w: Vector
    scores: Vector
    moves: Vector
    best_a: Vector
    scalars: Vector


def proximal(n: int, p: int, w: Vector | None = None) -> Proximal:
    """Return room for a run; `w`, shape (padded(p),), is taken as it is."""
    w = np.zeros(padded(p)) if w is None else w
    gradient, best_w = np.zeros(padded(p)), np.zeros(padded(p))
    scores, moves, best_a = (np.zeros(n) for _ in range(3))
    return Proximal(w, gradient, best_w, scores, moves, best_a, np.zeros(10))


@kernel
def begin_at(
    X: Rows,
    lam: float,
    free: bool,
    alpha: float,
    width: float,
    at: Smooth,
    state: Proximal,
) -> None:
    """Start at ``state.w``, ``alpha`` and the centre of ``at``.

    ``gamma`` begins with ``width``, if that is above 1. ``free`` tells whether there is
    an intercept.
    """
    scalars = state.scalars
    scalars[:] = 0.0
    scalars[ALPHA], scalars[GAMMA] = alpha, max(1.0, width)
    scalars[OBJECTIVE], scalars[DUAL_OBJECTIVE] = math.inf, -math.inf
    put_scores(X, state.w, at, state.scores)
    see(X, lam, free, at, state)


@kernel
def begin(
    X: Rows,
    lam: float,
    free: bool,
    alpha: float,
    width: float,
    at: Smooth,
    to: Direction,
    state: Proximal,
) -> None:
    """Start as `begin_at`, at the best length of ``beta`` if that is less."""
    begin_at(X, lam, free, alpha, width, at, state)
    for j in range(state.w.shape[0]):
        to.d[j] = -state.w[j]
    for i in range(state.scores.shape[0]):
        state.moves[i] = offset_at(at.offset, i) - state.scores[i]
    slope = inner(state.gradient, to.d)
    kept = 1.0 - min(1.0, line_search(lam, 0.0, slope, at, to, state))
    for j in range(state.w.shape[0]):
        state.w[j] *= kept
    for i in range(state.scores.shape[0]):
        known = offset_at(at.offset, i)
        state.scores[i] = kept * (state.scores[i] - known) + known
    see(X, lam, free, at, state)


@kernel
def step(
    X: Rows, lam: float, free: bool, at: Smooth, to: Direction, state: Proximal
) -> None:
    """Take a Newton step, from a new centre if the present one is done with."""
    scalars = state.scalars
    if scalars[IS_SOLVED] > 0.0:
        put(at.a, at.centre)
        move_on(SHRINK, X, lam, free, at, state)
    elif scalars[STEPS_HERE] == PATIENCE:
        move_on(GROW, X, lam, free, at, state)
    scalars[STEPS_HERE] += 1.0
    fall = -at.sums[BALANCE] / at.y.shape[0] if free else 0.0
    count = int(scalars[ACTIVE])
    move = newton_direction(
        X, count, lam, state.gradient, fall, free, RESIDUAL, PRODUCTS, at, to
    )
    put_dots(X, to.d, state.moves)
    slope = inner(state.gradient, to.d) + fall * move
    t = line_search(lam, move, slope, at, to, state)
    for j in range(state.w.shape[0]):
        state.w[j] += t * to.d[j]
    for i in range(state.scores.shape[0]):
        state.scores[i] += t * state.moves[i]
    scalars[ALPHA] += t * move
    see(X, lam, free, at, state)


@kernel
def move_on(
    factor: float, X: Rows, lam: float, free: bool, at: Smooth, state: Proximal
) -> None:
    """Go on with another ``gamma``, and perhaps another centre."""
    state.scalars[GAMMA] = max(LEAST_WIDTH, factor * state.scalars[GAMMA])
    state.scalars[STEPS_HERE] = 0.0
    see(X, lam, free, at, state)


@kernel
def see(X: Rows, lam: float, free: bool, at: Smooth, state: Proximal) -> None:
    """Balance, and look at the rows: weights, gradient, both objectives."""
    scalars, n = state.scalars, at.y.shape[0]
    if free:
        set_balance(at, state)
    count = see_rows(X, state.scores, scalars[ALPHA], scalars[GAMMA], at)
    apart = norm2 = image2 = 0.0
    for j in range(state.w.shape[0]):
        image = at.image[j] / (lam * n)
        state.gradient[j] = lam * (state.w[j] - image)
        apart += state.gradient[j] * state.gradient[j]
        norm2 += state.w[j] * state.w[j]
        image2 += image * image
    apart /= 2.0 * lam
    objective = lam / 2.0 * norm2 + at.sums[RISK] / n
    dual = (at.sums[REWARD] - at.sums[KNOWN]) / n - lam / 2.0 * image2
    if free:
        dual -= cost_of_balance(scalars[ALPHA], at) / n
    scalars[ACTIVE] = count
    scalars[IS_SOLVED] = 1.0 if apart <= SOLVED * (objective - dual - apart) else 0.0
    scalars[ALL_VIOLATIONS] += at.sums[VIOLATIONS]
    keep_best(objective, dual, at, state)


@inlined
def cost_of_balance(alpha: float, at: Smooth) -> float:
    """What scaling the larger class down to the balance takes from the dual sum.

    To first order: the weights of a class have the slope ``1 - m + y alpha`` for the
    hinge, ``y alpha`` for the log loss, the slack ``1 - m`` weighing as much as the
    risk. It is rounding, multiplied by ``alpha``.
    """
    slack = 2.0 * at.sums[RISK] if at.loss == HINGE else 0.0
    reward = max(at.sums[REWARD], SMALLEST)
    cost: float = abs(at.sums[BALANCE]) * (abs(alpha) + slack / reward)
    return cost


@inlined
def put(numbers: Vector, into: Vector) -> None:
    """``into[i] <- numbers[i]``."""
    for i in range(numbers.shape[0]):
        into[i] = numbers[i]


@inlined
def keep_best(objective: float, dual: float, at: Smooth, state: Proximal) -> None:
    """Keep the fit of the least risk, and the weights of the largest dual."""
    scalars = state.scalars
    if objective < scalars[OBJECTIVE]:
        scalars[OBJECTIVE], scalars[BEST_ALPHA] = objective, scalars[ALPHA]
        scalars[BEST_ERRORS] = at.sums[ERRORS]
        put(state.w, state.best_w)
    if dual > scalars[DUAL_OBJECTIVE]:
        scalars[DUAL_OBJECTIVE] = dual
        put(at.a, state.best_a)


@kernel
def set_balance(at: Smooth, state: Proximal) -> None:
    """Set ``alpha`` to the root of ``sum_i a_i y_i``, which falls as it grows."""
    scalars, low, high = state.scalars, -math.inf, math.inf
    reach = 1.0
    for _ in range(TRIALS):
        balance(state.scores, scalars[ALPHA], scalars[GAMMA], at)
        excess, curvature = at.sums[BALANCE], at.sums[CURVATURE]
        if abs(excess) <= BALANCED * at.y.shape[0]:
            return
        if excess > 0.0:
            low = scalars[ALPHA]
        else:
            high = scalars[ALPHA]
        newton = excess / curvature if curvature > 0.0 else math.inf * excess
        new = scalars[ALPHA] + min(reach, max(-reach, newton))
        if not low < new < high:
            new = (low + high) / 2.0
        if new == scalars[ALPHA] or not math.isfinite(new):
            return
        scalars[ALPHA] = new
        reach *= 2.0


@kernel
def line_search(
    lam: float, move: float, slope: float, at: Smooth, to: Direction, state: Proximal
) -> float:
    """Step length at which the slope has fallen to a share of its size.

    The slope increases with the length. Secants inside the bracket, kept a tenth away
    from its ends; doubling while there is none. 0 if nothing can be gained.
    """
    if slope >= 0.0:
        return 0.0
    low, low_slope, high, high_slope, t = 0.0, slope, math.inf, math.inf, 1.0
    for _ in range(TRIALS):
        here = slope_at(lam, move, t, at, to, state)
        if abs(here) <= FLAT * abs(slope):
            break
        if here < 0.0:
            low, low_slope = t, here
        else:
            high, high_slope = t, here
        if high == math.inf:
            t *= 2.0
        else:
            share = -low_slope / (high_slope - low_slope)
            t = low + (high - low) * max(0.1, min(0.9, share))
    return t


@kernel
def slope_at(
    lam: float, move: float, t: float, at: Smooth, to: Direction, state: Proximal
) -> float:
    """Slope of the smoothed risk at length ``t`` along the direction."""
    alpha, gamma = state.scalars[ALPHA], state.scalars[GAMMA]
    rows = slope_along(state.scores, alpha, state.moves, move, t, gamma, at)
    penalty = lam * (inner(state.w, to.d) + t * inner(to.d, to.d))
    slope: float = penalty + rows / at.y.shape[0]
    return slope
