"""Plain Pegasos for the hinge loss on dense rows, four steps at a time.

Plain means one row a step, no projection, no average. With ``t`` steps taken, the
margins of the next four rows ``x_0 .. x_3`` follow from products that do not wait for
one another. Since ``lam t beta`` is the sum of the ``s y x`` of all steps so far,

    m_b = y_b ((lam t beta'x_b + sum_{c<b} s_c y_c x_c'x_b) / (lam (t + b)) + alpha_b)

where ``alpha_b = alpha + sum_{c<b} s_c y_c / (lam (t + c + 1))``. Four scores and six
inner products read the rows once; the four decisions ``s_b = [m_b < 1]`` are then a
short chain, and ``beta`` is read and written once for four steps.

In the hinge loss a margin enters only through ``m < 1``. The reference arithmetic
therefore takes the decisions from these margins and makes the four updates exactly as
they are written. A block in which some margin is within the rounding bound of 1 is done
again from the definition, a row at a time, so every bit is that of ``literal_step``.
"""

from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Integers,
    Lanes,
    Numbers,
    Signs,
    Vector,
    all_apart,
    below,
    every,
    fused,
    lane,
    lanes,
    load,
    shifted,
    store,
    where_below,
)
from pegasos_stats.compiled.arithmetic.rows import (
    FourLanes,
    ThreeLanes,
    four,
    literal_update,
    products,
    row_dot,
)
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.pegasos.pegasos_literal import (
    ALPHA,
    STEPS,
    VIOLATIONS,
    State,
    literal_step,
    rounding_bound,
)

ROWS_AHEAD = 24  # rows between a visit and the prefetch of a later one
SEGMENT = 1024  # steps for which one rounding bound is good


@inlined
def decide(
    u: Lanes,
    g: ThreeLanes,
    y: Lanes,
    eta: Lanes,
    eta_before: float,
    alpha: float,
    free: float,
) -> tuple[Lanes, FourLanes]:
    """Return the margins ``m_b`` and ``y_b [m_b < 1]``, in every lane, of four steps.

    ``u_b = lam t beta'x_b``; ``free`` is 1 with an intercept, else 0. ``m_b`` is final
    once the decisions ``c < b`` have added their rows to it.
    """
    before = shifted(eta_before, eta)
    after_0 = every(eta, 0) * lanes(0.0, free, free, free)
    after_1 = every(eta, 1) * lanes(0.0, 0.0, free, free)
    after_2 = every(eta, 2) * lanes(0.0, 0.0, 0.0, free)
    m = fused(y * before, u, y * alpha)
    s0 = every(where_below(m, 1.0, y), 0)
    m = fused(s0, y * fused(before, g[0], after_0), m)
    s1 = every(where_below(m, 1.0, y), 1)
    m = fused(s1, y * fused(before, g[1], after_1), m)
    s2 = every(where_below(m, 1.0, y), 2)
    m = fused(s2, y * fused(before, g[2], after_2), m)
    s3 = every(where_below(m, 1.0, y), 3)
    return m, (s0, s1, s2, s3)


@inlined
def steps(t: float, lam: float) -> Lanes:
    """``eta = 1 / (lam t)`` of the next four steps."""
    return 1.0 / (lam * (t + lanes(1.0, 2.0, 3.0, 4.0)))


@inlined
def alpha_after(alpha: float, eta: Lanes, s: FourLanes, free: float) -> float:
    """``alpha <- alpha + eta s``, four times."""
    move = free * eta
    alpha = alpha + lane(move, 0) * lane(s[0], 0)
    alpha = alpha + lane(move, 1) * lane(s[1], 0)
    alpha = alpha + lane(move, 2) * lane(s[2], 0)
    return alpha + lane(move, 3) * lane(s[3], 0)


@inlined
def take_signs(y: Signs, rows: Integers, signs: Vector) -> None:
    """Put the labels in the order of the visits."""
    for k in range(rows.shape[0]):
        signs[k] = y[rows[k]]


@inlined
def add_slopes(slopes: Vector, rows: Integers, weights: Vector) -> float:
    """Add the slopes of the visits to the weights of their rows; return their sum."""
    violations = 0.0
    for k in range(rows.shape[0]):
        weights[rows[k]] += slopes[k]
        violations += slopes[k]
    return violations


@inlined
def by_definition(
    X: Numbers,
    rows: Integers,
    first: int,
    last: int,
    lam: float,
    t: float,
    alpha: float,
    free: float,
    state: State,
) -> float:
    """Visit some rows literally, one at a time; return ``alpha``."""
    for k in range(first, last):
        eta = 1.0 / (lam * (t + float(k - first + 1)))
        y = state.signs[k]
        state.slopes[k] = (
            1.0 if y * (row_dot(X, rows[k], state.w) + alpha) < 1.0 else 0.0
        )
        s = state.slopes[k] * y
        literal_step(X[rows[k]], s, eta, lam, state.w)
        alpha = alpha + eta * (free * s)
    return alpha


@kernel
def guarded_epoch(
    X: Numbers, y: Signs, rows: Integers, lam: float, intercept: bool, state: State
) -> None:
    """Take plain steps in reference arithmetic.

    For each row ``i`` of ``rows``::

        t     <- t + 1
        eta   <- 1 / (lam * t)
        s     <- y_i if y_i * (x_i'beta + alpha) < 1 else 0
        beta  <- beta - eta * (lam * beta - s * x_i)
        alpha <- alpha + eta * s

    Every bit of ``beta`` and ``alpha`` is that of these operations in this order, the
    score summed from the first coordinate to the last.
    """
    scalars, beta, signs, slopes = state.scalars, state.w, state.signs, state.slopes
    free = 1.0 if intercept else 0.0
    t, alpha, visits = scalars[STEPS], scalars[ALPHA], rows.shape[0]
    take_signs(y, rows, signs)
    eta_before = 1.0 / (lam * t) if t > 0.0 else 0.0
    k, bound, bounded = 0, 0.0, 0
    while k < visits:
        if k == bounded:  # for few steps at first, where eta changes quickly
            length = int(min(max(t, 16.0), SEGMENT)) // LANES * LANES
            bounded = min(visits, k + length)
            bound = rounding_bound(state, 1.0 / (lam * (t + 1.0)), alpha, bounded - k)
        last = min(k + LANES, visits)
        eta = steps(t, lam)
        done = False
        if last - k == LANES:
            x = four(X, rows, k)
            ahead = four(X, rows, min(k + ROWS_AHEAD, visits - LANES))
            u, g0, g1, g2 = products(x, ahead, beta)
            y4 = load(signs, k)
            m, s = decide((lam * t) * u, (g0, g1, g2), y4, eta, eta_before, alpha, free)
            done = all_apart(m, 1.0, bound)
            if done:
                store(slopes, k, below(m, 1.0))
                literal_update(x, ahead, s, eta, lam, beta)
                alpha = alpha_after(alpha, eta, s, free)
        if not done:
            alpha = by_definition(X, rows, k, last, lam, t, alpha, free, state)
        t += float(last - k)
        eta_before = lane(eta, 3)
        k = last
    scalars[STEPS], scalars[ALPHA] = t, alpha
    scalars[VIOLATIONS] += add_slopes(slopes, rows, state.weights)
