"""One pass over the rows for the risk of the log loss, four rows at a time."""

from pegasos_stats.compiled.arithmetic.blocks import add_block
from pegasos_stats.compiled.arithmetic.compensated import two_sum
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Lanes,
    Vector,
    below,
    lane,
    lanes,
    load_part,
    total,
    where_below,
)
from pegasos_stats.compiled.arithmetic.log_lanes import entropies, log_losses
from pegasos_stats.compiled.arithmetic.rows import (
    Rows,
    offset_at,
    prefetch_row,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel

LOSS, ENTROPY, ERRORS, AT_ZERO, EXPOSED, DUAL, KNOWN, SUMS = 0, 2, 4, 5, 7, 8, 9, 12
AHEAD = 16  # rows, that are asked for


@kernel
def add_rows_of_log_loss(
    X: Rows,
    y: Vector,
    w: Vector,
    alpha: float,
    a: Vector,
    weights: Vector,
    offset: Vector,
    reach: float,
    block: int,
    part: Vector,
    image: Vector,
    sums: Vector,
) -> None:
    """Add every row to the sums and, a block at a time, to the image.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    y, a, weights : float64 array, shape (n,)
    w : float64 array, shape (padded(p),)
    alpha : float
    offset : float64 array, shape (n,) or (0,)
    reach : float
        How far rounding may move a margin.
    block : int
        Rows whose image is summed by itself.
    part, image : float64 array, shape (padded(p),)
        Zeros before; ``image`` receives ``X'(a y)``.
    sums : float64 array, shape (SUMS,)
        Receives what a ``risk.Seen`` has, the pairs one after the other.
    """
    n = y.shape[0]
    zero = lanes(0.0, 0.0, 0.0, 0.0)
    losses, losses_rest, rewards, rewards_rest = zero, zero, zero, zero
    errors, at_zero, sides, exposed, dual = zero, zero, zero, zero, zero
    known = known_rest = known_size = 0.0
    for first in range(0, n, block):
        stop = min(n, first + block)
        for i in range(first, stop, LANES):
            count = min(LANES, stop - i)
            for j in range(i, i + count):
                prefetch_row(X, min(n - 1, j + AHEAD))
            side, u = load_part(y, i, count), load_part(weights, i, count)
            r, score = load_part(a, i, count), scores(X, i, stop - 1, w, alpha, offset)
            m = side * score
            loss = u * log_losses(m)[0]
            reward = u * entropies(r / (u + (1.0 - below(0.0 - u, 0.0))))
            losses, left = two_sum(losses, loss)
            losses_rest = losses_rest + left
            rewards, left = two_sum(rewards, reward)
            rewards_rest = rewards_rest + left
            wrong, right = below(m, 0.0), below(0.0 - m, 0.0)
            undecided = side * side * (1.0 - wrong - right)
            errors, at_zero = errors + wrong, at_zero + undecided
            sides, dual = sides + side * undecided, dual + r
            exposed = exposed + where_below(m, 1.0 + reach, u)
            add_block(X, i, i + count, a, y, part)
        if offset.shape[0] > 0:
            for i in range(first, stop):
                known, rest = two_sum(known, a[i] * y[i] * offset[i])
                known_rest += rest
                known_size += a[i] * abs(offset[i])
        for j in range(image.shape[0]):
            image[j] += part[j]
            part[j] = 0.0
    sums[LOSS], sums[LOSS + 1] = whole(losses, losses_rest)
    sums[ENTROPY], sums[ENTROPY + 1] = whole(rewards, rewards_rest)
    sums[ERRORS], sums[EXPOSED], sums[DUAL] = total(errors), total(exposed), total(dual)
    sums[AT_ZERO] = 0.5 * (total(at_zero) - total(sides))
    sums[AT_ZERO + 1] = 0.5 * (total(at_zero) + total(sides))
    sums[KNOWN], sums[KNOWN + 1], sums[KNOWN + 2] = known, known_rest, known_size


@inlined
def scores(
    X: Rows, i: int, last: int, w: Vector, alpha: float, offset: Vector
) -> Lanes:
    """``x_i'w + (alpha + offset_i)`` of four rows, the last one again at the end."""
    j, k, m = min(i + 1, last), min(i + 2, last), min(i + 3, last)
    return lanes(
        row_dot_fast(X, i, w) + (alpha + offset_at(offset, i)),
        row_dot_fast(X, j, w) + (alpha + offset_at(offset, j)),
        row_dot_fast(X, k, w) + (alpha + offset_at(offset, k)),
        row_dot_fast(X, m, w) + (alpha + offset_at(offset, m)),
    )


@inlined
def whole(sums: Lanes, rests: Lanes) -> tuple[float, float]:
    """The sum of lanes, and what rounding left out of it."""
    found, left = two_sum(lane(sums, 0), lane(sums, 1))
    found, further = two_sum(found, lane(sums, 2))
    found, last = two_sum(found, lane(sums, 3))
    return found, ((total(rests) + left) + further) + last
