"""Newton directions for the smoothed risk: ``(beta, alpha)`` by conjugate gradients.

The Hessian is ``lam I + (1/n) sum_i h_i z_i z_i'`` with ``z_i = (x_i, 1)``, without
``lam`` in the corner of ``alpha``. Only the active rows have ``h_i > 0``: with the
hinge, those whose dual weight is inside its box, which are few.

Products with it go through the active rows. Where rows are sparse and columns few, and
more products are taken than the matrix costs, that is made, and its own are quicker.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.risk import HINGE
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    mean_entries,
    offset_at,
    row_add,
    row_add_products,
    row_add_squares,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel

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

RISK, REWARD, BALANCE, CURVATURE, ERRORS, VIOLATIONS, KNOWN = range(7)
any_order = {"reassoc", "nsz", "contract"}
RIDGE = 1e-6  # of the curvature in alpha, added to it
SMALLEST = 1e-300
MOST_COLUMNS = 256  # of a matrix, of half a megabyte
OF_ENTRIES = 0.25  # products that cost as much as the matrix, to an entry of a row
LEAST_PRODUCTS, MANY = 3.0, 2**31
LARGEST_TRACE = 1e-8 * 2.0**52  # of a matrix, times lam


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


class Smooth(NamedTuple):
    """The smoothed risk and its value at the last scores that were seen.

    Attributes
    ----------
    y : float64 array, shape (n,), of -1 and +1
    weights : float64 array, shape (n,)
        Weights of the rows in the risk.
    centre : float64 array, shape (n,)
    loss : int
        Code of the loss.
    a : float64 array, shape (n,)
        Dual weights ``a_i(m_i)``.
    active : int64 array, shape (n,)
        Its first entries are the rows with ``a_i'(m_i)`` not 0.
    h : float64 array, shape (n,)
        ``-a_i'(m_i)`` of those rows.
    image : float64 array, shape (padded(p),)
        ``sum_i a_i y_i x_i``.
    sums : float64 array, shape (7,)
        ``RISK`` ``sum w_i loss(m_i)``; ``REWARD`` ``sum H_i(a_i)``; ``BALANCE``
        ``sum a_i y_i``; ``CURVATURE`` ``sum h_i``; ``ERRORS`` rows with ``m_i < 0``;
        ``VIOLATIONS`` rows with ``m_i < 1``; ``KNOWN`` ``sum a_i y_i offset_i``.
    offset : float64 array, shape (n,) or (0,)
        Known part of each row's score; empty if there is none. Scores that are given
        to the functions below have it in them.
    """

    y: Vector
    weights: Vector
    centre: Vector
    loss: int
    a: Vector
    active: NDArray[np.int64]
    h: Vector
    image: Vector
    sums: Vector
    offset: Vector


class Direction(NamedTuple):
    """A Newton direction for ``beta``, and the scratch of conjugate gradients.

    Attributes
    ----------
    d, residual, conjugate, product, diagonal : float64 array, shape (padded(p),)
    column : float64 array, shape (padded(p),)
        Of the Hessian, that of ``alpha``.
    hessian : float64 array, shape (padded(p), padded(p)) or (0, 0)
        That of ``beta`` without ``lam``; empty if rows are dense or columns many.
    """

    d: Vector
    residual: Vector
    conjugate: Vector
    product: Vector
    diagonal: Vector
    column: Vector
    hessian: NDArray[np.float64]


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


def smooth(
    y: Vector,
    weights: Vector,
    a: Vector,
    loss: int,
    p: int,
    offset: Vector | None = None,
) -> Smooth:
    """Return the smoothed risk with centre ``a``; nothing is seen yet."""
    n = y.size
    active, image = np.zeros(n, dtype=np.int64), np.zeros(padded(p))
    h, sums = np.zeros(n), np.zeros(7)
    known = np.zeros(0) if offset is None else offset.copy()
    return Smooth(y, weights, a.copy(), loss, a, active, h, image, sums, known)


@inlined
def log_weight(m: float, w: float) -> tuple[float, float]:
    """``a = w / (1 + exp(m))`` and ``-a'(m)``."""
    e = math.exp(-abs(m))
    s = 1.0 / (1.0 + e)
    return w * (e * s if m > 0.0 else s), w * (e * s * s)


@inlined
def hinge_weight(m: float, w: float, c: float, gamma: float) -> tuple[float, float]:
    """``a = min(w, max(0, c + (1 - m) max(1, w) / gamma))`` and ``-a'(m)``."""
    v = max(1.0, w)
    inner = c + (1.0 - m) * v / gamma
    a = min(w, max(0.0, inner))
    return a, (v / gamma if a == inner else 0.0)


@kernel
def put_dots(X: Rows, w: Vector, found: Vector) -> None:
    """Put ``x_i'w`` of every row in ``found``."""
    for i in range(found.shape[0]):
        found[i] = row_dot_fast(X, i, w)


@kernel
def put_scores(X: Rows, w: Vector, at: Smooth, found: Vector) -> None:
    """Put ``x_i'w + offset_i`` of every row in ``found``."""
    for i in range(found.shape[0]):
        found[i] = row_dot_fast(X, i, w) + offset_at(at.offset, i)


@kernel(fastmath=any_order)
def balance(f: Vector, alpha: float, gamma: float, at: Smooth) -> None:
    """Put ``sum_i a_i y_i`` and ``sum_i h_i``, at scores ``f_i + alpha``."""
    y, weights, c = at.y, at.weights, at.centre
    total = curvature = 0.0
    if at.loss == HINGE:
        for i in range(y.shape[0]):
            m = y[i] * (f[i] + alpha)
            a, h = hinge_weight(m, weights[i], c[i], gamma)
            total += a * y[i]
            curvature += h
    else:
        for i in range(y.shape[0]):
            a, h = log_weight(y[i] * (f[i] + alpha), weights[i])
            total += a * y[i]
            curvature += h
    at.sums[BALANCE] = total
    at.sums[CURVATURE] = curvature


@kernel(fastmath=any_order)
def slope_along(
    f: Vector, alpha: float, q: Vector, move: float, t: float, gamma: float, at: Smooth
) -> float:
    """Slope of ``sum_i phi_i`` at ``t``, along scores ``f + alpha + t (q + move)``."""
    y, weights, c = at.y, at.weights, at.centre
    total = 0.0
    if at.loss == HINGE:
        for i in range(y.shape[0]):
            m = y[i] * (f[i] + alpha + t * (q[i] + move))
            a, _ = hinge_weight(m, weights[i], c[i], gamma)
            total -= a * y[i] * (q[i] + move)
    else:
        for i in range(y.shape[0]):
            m = y[i] * (f[i] + alpha + t * (q[i] + move))
            a, _ = log_weight(m, weights[i])
            total -= a * y[i] * (q[i] + move)
    return total


@kernel
def see_rows(X: Rows, f: Vector, alpha: float, gamma: float, at: Smooth) -> int:
    """Fill ``a``, ``active``, ``h``, ``image`` and ``sums`` at scores ``f_i + alpha``.

    For the log loss ``H_i(a_i) = w_i loss(m_i) + a_i m_i`` at ``a_i = a_i(m_i)``.

    Returns
    -------
    int
        Number of active rows.
    """
    y, weights, sums = at.y, at.weights, at.sums
    count = 0
    sums[:] = 0.0
    at.image[:] = 0.0
    for i in range(y.shape[0]):
        m = y[i] * (f[i] + alpha)
        if at.loss == HINGE:
            a, h = hinge_weight(m, weights[i], at.centre[i], gamma)
            sums[RISK] += weights[i] * max(0.0, 1.0 - m)
            sums[REWARD] += a
        else:
            a, h = log_weight(m, weights[i])
            risk = weights[i] * (math.log1p(math.exp(-abs(m))) + max(0.0, -m))
            sums[RISK] += risk
            sums[REWARD] += risk + a * m
        sums[BALANCE] += a * y[i]
        sums[CURVATURE] += h
        sums[ERRORS] += 1.0 if m < 0.0 else 0.0
        sums[VIOLATIONS] += 1.0 if m < 1.0 else 0.0
        sums[KNOWN] += a * y[i] * offset_at(at.offset, i)
        at.a[i] = a
        if h > 0.0:
            at.active[count] = i
            at.h[count] = h
            count += 1
        if a != 0.0:
            row_add(X, i, a * y[i], at.image)
    return count


def direction(p: int, is_sparse: bool = False) -> Direction:
    """Return room for a direction, with that for the matrix if rows are sparse."""
    size = padded(p)
    side = size if is_sparse and p <= MOST_COLUMNS else 0
    vectors = [np.zeros(size) for _ in range(6)]
    d, residual, conjugate, product, diagonal, column = vectors
    hessian = np.zeros((side, side))
    return Direction(d, residual, conjugate, product, diagonal, column, hessian)


@kernel
def hessian_times(
    X: Rows, count: int, lam: float, v: Vector, move: float, at: Smooth, product: Vector
) -> float:
    """``(lam I + (1/n) sum_i h_i z_i z_i') (v, move)`` with ``z_i = (x_i, 1)``.

    The part of ``beta`` is put in ``product``, that of ``alpha``, without ``lam``,
    returned.
    """
    n = float(at.y.shape[0])
    for j in range(v.shape[0]):
        product[j] = lam * v[j]
    total = 0.0
    for k in range(count):
        i = at.active[k]
        d = at.h[k] / n * (row_dot_fast(X, i, v) + move)
        total += d
        row_add(X, i, d, product)
    return total


@kernel
def put_hessian(X: Rows, count: int, at: Smooth, to: Direction) -> None:
    """Put ``(1/n) sum_i h_i x_i x_i'`` and ``(1/n) sum_i h_i x_i``."""
    H, n = to.hessian, float(at.y.shape[0])
    H[:, :] = 0.0
    to.column[:] = 0.0
    for k in range(count):
        i, h = at.active[k], at.h[k] / n
        row_add_products(X, i, h, H)
        row_add(X, i, h, to.column)
    for j in range(H.shape[0]):
        for k in range(j):
            H[k, j] = H[j, k]


@kernel
def matrix_times(
    lam: float, v: Vector, move: float, curvature: float, to: Direction
) -> float:
    """`hessian_times`, from the matrix that `put_hessian` put."""
    H, product = to.hessian, to.product
    total = move * curvature
    for j in range(v.shape[0]):
        product[j] = lam * v[j] + move * to.column[j] + row_dot_fast(H, j, v)
        total += to.column[j] * v[j]
    return total


@inlined
def inner(u: Vector, v: Vector) -> float:
    """``u'v``."""
    total = 0.0
    for j in range(u.shape[0]):
        total += u[j] * v[j]
    return total


@inlined
def products_of_matrix(X: Rows, count: int, lam: float, to: Direction) -> int:
    """Products that cost as much as the matrix, which is made then; or very many.

    The rounding of the matrix has to be small beside ``lam``: of columns far from zero
    it is not.
    """
    side, entries, trace = to.hessian.shape[0], mean_entries(X), 0.0
    if side == 0 or side * side > entries * count:
        return MANY
    for j in range(side):
        trace += to.diagonal[j]
    if not trace <= LARGEST_TRACE * lam:
        return MANY
    return int(LEAST_PRODUCTS + OF_ENTRIES * entries)


@kernel
def newton_direction(
    X: Rows,
    count: int,
    lam: float,
    gradient: Vector,
    slope: float,
    free: bool,
    tol: float,
    limit: int,
    at: Smooth,
    to: Direction,
) -> float:
    """Solve ``H (d, move) = -(gradient, slope)`` by conjugate gradients.

    ``H`` is that of `hessian_times`; its diagonal is the preconditioner. Stops when the
    preconditioned residual is ``tol`` times the first one, or after ``limit`` products.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    count : int
        Number of active rows, from `see_rows`.
    lam : float
    gradient : float64 array, shape (padded(p),)
    slope : float
        Derivative with respect to ``alpha``.
    free : bool
        Whether there is an intercept ``alpha``; if not, its part is 0.
    tol : float
    limit : int
    at : Smooth
    to : Direction
        Its ``d`` receives the part of ``beta``.

    Returns
    -------
    float
        The part of ``alpha``.
    """
    d, r, u, product, diagonal, _, _ = to
    p, n = gradient.shape[0], float(at.y.shape[0])
    diagonal[:] = lam
    for k in range(count):
        row_add_squares(X, at.active[k], at.h[k] / n, diagonal)
    curvature = at.sums[CURVATURE] / n
    move, r_alpha = 0.0, -slope
    if not free or curvature < SMALLEST:
        curvature, r_alpha = 1.0, 0.0
    u_alpha = r_alpha / curvature
    rz = r_alpha * u_alpha
    for j in range(p):
        d[j] = 0.0
        r[j] = -gradient[j]
        u[j] = r[j] / diagonal[j]
        rz += r[j] * u[j]
    goal, enough = tol * tol * rz, products_of_matrix(X, count, lam, to)
    for taken in range(limit):
        if rz <= goal or rz < SMALLEST:
            break
        if taken == enough:
            put_hessian(X, count, at, to)
        if taken >= enough:
            total = matrix_times(lam, u, u_alpha, at.sums[CURVATURE] / n, to)
        else:
            total = hessian_times(X, count, lam, u, u_alpha, at, product)
        total = total + RIDGE * curvature * u_alpha if free else 0.0
        step = rz / (inner(u, product) + u_alpha * total)
        move += step * u_alpha
        r_alpha -= step * total
        new = r_alpha * (r_alpha / curvature)
        for j in range(p):
            d[j] += step * u[j]
            r[j] -= step * product[j]
            new += r[j] * (r[j] / diagonal[j])
        b = new / rz
        rz = new
        u_alpha = r_alpha / curvature + b * u_alpha
        for j in range(p):
            u[j] = r[j] / diagonal[j] + b * u[j]
    return move
