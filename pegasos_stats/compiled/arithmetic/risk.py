"""One pass over the rows for the risk and for the image of dual weights."""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.compensated import (
    row_add_exactly,
    row_dot_exactly,
    two_product,
    two_sum,
)
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Lanes,
    Vector,
    below,
    exponent,
    fused,
    lane,
    lanes,
    load_part,
    padded,
    power_of_two,
    total,
    where_below,
)
from pegasos_stats.compiled.arithmetic.rows import (
    CSR,
    Rows,
    add_block,
    offset_at,
    prefetch_row,
    row_add,
    row_dot,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import inlined, kernel

LARGEST = 746.0  # exp(-x) of it is 0
TO_WHOLE = 1.5 * 2.0**52  # added to a number, it rounds it to a whole one
PER_LOG_2 = 1.4426950408889634  # 1 / log(2)
LOG_2 = 0.6931471805599453
LOG_2_HIGH = 0.693147180369123816490  # its first 32 digits: times k <= 1076 exact
LOG_2_LOW = 1.90821492927058770002e-10
ROOT_2 = 1.4142135623730951
SMALLEST = 2.0**-1022  # double with all its digits
EXP = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))  # from the last term on
ARTANH = tuple(2.0 / k for k in range(21, 1, -2))
LOSS, ENTROPY, ERRORS, AT_ZERO, EXPOSED, DUAL, KNOWN, SUMS = 0, 2, 4, 5, 7, 8, 9, 12
ROWS_AHEAD = 16  # rows, that are asked for


class Loss(IntEnum):
    """The code of a loss."""

    HINGE = 0
    LOG = 1


HINGE, LOG = int(Loss.HINGE), int(Loss.LOG)
UNIT = 2.0**-53  # rounding of one operation, relative
TINY = 2.0**-1074  # rounding of one that underflows


class Seen(NamedTuple):
    """Sums over the rows, each with what rounding left out of it.

    Attributes
    ----------
    loss, loss_rest : float
        ``sum_i w_i loss(y_i (x_i'beta + alpha + offset_i))``.
    entropy, entropy_rest : float
        ``sum_i w_i H(a_i / w_i)``, see `dual_entropy`.
    errors : int
        Rows with ``y_i (x_i'beta + alpha + offset_i) < 0``.
    at_zero : pair of int
        Rows with a score of exactly 0 and ``y_i`` -1, and +1.
    exposed : float
        Weights of the rows whose margin is below ``1 + reach``, summed.
    dual : float
        Dual weights, summed.
    image : float64 array, shape (p,)
        ``X'(a y)``, summed in blocks.
    additions : int
        The most additions of a summand of `image`, about.
    known, known_rest, known_size : float
        ``sum_i a_i y_i offset_i``, what rounding left out of it, and
        ``sum_i |a_i offset_i|``.
    """

    loss: float
    loss_rest: float
    entropy: float
    entropy_rest: float
    errors: int
    at_zero: tuple[int, int]
    exposed: float
    dual: float
    image: Vector
    additions: int
    known: float
    known_rest: float
    known_size: float

    def plus(self, other: "Seen") -> "Seen":
        """Sums over these rows and others; their rests too."""
        loss, loss_left = two_sum(self.loss, other.loss)
        entropy, left = two_sum(self.entropy, other.entropy)
        known, known_left = two_sum(self.known, other.known)
        return self._replace(
            loss=loss,
            loss_rest=self.loss_rest + other.loss_rest + loss_left,
            entropy=entropy,
            entropy_rest=self.entropy_rest + other.entropy_rest + left,
            errors=self.errors + other.errors,
            at_zero=(
                self.at_zero[0] + other.at_zero[0],
                self.at_zero[1] + other.at_zero[1],
            ),
            exposed=self.exposed + other.exposed,
            dual=self.dual + other.dual,
            image=self.image + other.image,
            additions=max(self.additions, other.additions) + 1,
            known=known,
            known_rest=self.known_rest + other.known_rest + known_left,
            known_size=self.known_size + other.known_size,
        )


class SeenExactly(NamedTuple):
    """Sums over the rows with twice the digits.

    Attributes
    ----------
    loss, loss_rest : float
        ``sum_i w_i loss(m_i)``.
    loss_error : float
        Bound of the error of it that comes from margins.
    image, image_rest : float64 array, shape (p,)
        ``X'(a y)``.
    image_error : float
        Bound of the sum of its errors, but for products that underflow.
    """

    loss: float
    loss_rest: float
    loss_error: float
    image: Vector
    image_rest: Vector
    image_error: float


@inlined
def constant(x: float) -> Lanes:
    """Put a number in every lane."""
    return lanes(x, x, x, x)


@inlined
def series(x: Lanes, factors: tuple[float, ...]) -> Lanes:
    """Sum a power series whose last factor comes first, by Horner's rule."""
    total = constant(factors[0])
    for factor in factors[1:]:
        total = fused(total, x, constant(factor))
    return total


@inlined
def exp_of_minus(x: Lanes) -> Lanes:
    """``exp(-x)`` of numbers from 0 to `LARGEST`.

    ``x = k log(2) - r`` with ``|r| <= log(2) / 2``, and ``exp(r)`` by its series, whose
    first term left out is below ``5e-18``. The power of two is taken in two parts, as
    the whole may be smaller than a number with all digits.
    """
    k = (x * PER_LOG_2 + TO_WHOLE) - TO_WHOLE
    r = (k * LOG_2_HIGH - x) + k * LOG_2_LOW
    s = series(r, EXP)
    s = fused(r, fused(s, r, constant(1.0)), constant(1.0))
    half = (k * 0.5 + TO_WHOLE) - TO_WHOLE
    return s * power_of_two(0.0 - half) * power_of_two(half - k)


@inlined
def twice_artanh(s: Lanes) -> Lanes:
    """``2 artanh(s)`` by its series; what is left out is below ``3e-18`` of it.

    Parameters
    ----------
    s : lanes
        With ``s^2 < 0.0295``.
    """
    z = s * s
    t = series(z, ARTANH)
    return s + s + s * (z * t)


@inlined
def log_one_plus(e: Lanes) -> Lanes:
    """``log(1 + e)`` of numbers from 0 to 1.

    Above ``sqrt(2) - 1`` it is the logarithm of half ``1 + e``, and ``log(2)``.
    """
    large = 1.0 - below(e, ROOT_2 - 1.0)
    return twice_artanh((e - large) / ((2.0 + e) + large)) + large * LOG_2


@inlined
def log_one_minus(b: Lanes) -> Lanes:
    """``log(1 - b)`` of numbers from 0 to 1/2.

    Above ``1 - sqrt(1/2)`` it is the logarithm of twice ``1 - b``, less ``log(2)``.
    """
    large = 1.0 - below(b, 1.0 - 0.5 * ROOT_2)
    moved = large - (b + large * b)
    return twice_artanh(moved / (2.0 + moved)) - large * LOG_2


@inlined
def entropies(a: Lanes) -> Lanes:
    """``-a log a - (1 - a) log(1 - a)`` of numbers from 0 to 1.

    It is computed from the smaller of both; of one below ``2^-1022`` it is too small.
    """
    upper = 1.0 - a
    b = a + where_below(upper, 0.5, upper - a)
    b = b + where_below(b, 0.0, 0.0 - b)
    least = b + where_below(b, SMALLEST, SMALLEST - b)
    k = exponent(least)
    log_b = log_one_plus(least * power_of_two(0.0 - k) - 1.0) + k * LOG_2
    return 0.0 - (b * log_b + (1.0 - b) * log_one_minus(b))


@inlined
def log_losses(m: Lanes) -> tuple[Lanes, Lanes]:
    """``log(1 + exp(-m))`` and ``1 / (1 + exp(m))``; NaN of a margin not finite."""
    minus = where_below(m, 0.0, m)
    size = m - (minus + minus)
    near = below(size, LARGEST)
    e = exp_of_minus(where_below(size, LARGEST, size) + (m - m)) * near
    upper = e + where_below(m, 0.0, 1.0 - e)  # 1 below 0
    return log_one_plus(e) - minus, upper / (1.0 + e)


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
                prefetch_row(X, min(n - 1, j + ROWS_AHEAD))
            side, u = load_part(y, i, count), load_part(weights, i, count)
            r, score = (
                load_part(a, i, count),
                scores_of_four(X, i, stop - 1, w, alpha, offset),
            )
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
def scores_of_four(
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


@inlined
def loss_value(loss: int, m: float) -> float:
    """Hinge ``max(0, 1 - m)``; log ``log(1 + exp(-m))``.

    The log loss is ``log1p(exp(-m))`` for ``m > 0`` and ``log1p(exp(m)) - m``
    otherwise, so that no exponential overflows.
    """
    if loss == HINGE:
        return max(0.0, 1.0 - m)
    if m > 0.0:
        return math.log1p(math.exp(-m))
    return math.log1p(math.exp(m)) - m


@inlined
def slope(loss: int, m: float) -> float:
    """``s(m) = -loss'(m)``: hinge 1 if ``m < 1``, else 0; log ``1 / (1 + exp(m))``.

    The log slope is ``e / (1 + e)`` with ``e = exp(-m)`` for ``m > 0`` and
    ``1 / (1 + exp(m))`` otherwise.
    """
    if loss == HINGE:
        return 1.0 if m < 1.0 else 0.0
    if m > 0.0:
        e = math.exp(-m)
        return e / (1.0 + e)
    return 1.0 / (1.0 + math.exp(m))


@inlined
def dual_entropy(loss: int, a: float) -> float:
    """``-conjugate(-a)`` for ``a`` in [0, 1]: the reward of a dual weight.

    Hinge ``a``; log ``-a log a - (1 - a) log(1 - a)``, with ``0 log 0 = 0``.
    """
    if loss == HINGE:
        return a
    if a <= 0.0 or a >= 1.0:
        return 0.0
    return -a * math.log(a) - (1.0 - a) * math.log1p(-a)


@inlined
def violated(loss: int, m: float) -> bool:
    """Hinge: the margin is below 1. Log: the row is misclassified, ``m < 0``."""
    return m < 1.0 if loss == HINGE else m < 0.0


def risk_and_image(
    X: Rows,
    y: Vector,
    beta: Vector,
    alpha: float,
    loss: int,
    a: Vector,
    weights: Vector | None = None,
    reach: float = 0.0,
    offset: Vector | None = None,
) -> Seen:
    """Sums over the rows: losses, dual entropies, errors, and ``X'(a y)``.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    y : float64 array, shape (n,), of -1 and +1
    beta : float64 array, shape (p,)
    alpha : float
    loss : int
        Code of the loss.
    a : float64 array, shape (n,), in [0, w_i]
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 if not given.
    reach : float
        How far rounding may move a margin.
    offset : float64 array, shape (n,), optional
        Known part of each row's score.
    """
    X, y = read_only(X), read_only(y)
    n, p = y.shape[0], beta.shape[0]
    w, image, part, sums = (np.zeros(k) for k in [padded(p)] * 3 + [SUMS])
    w[:p] = beta
    given = read_only(np.ones(n) if weights is None else weights)
    known = read_only(np.zeros(0) if offset is None else offset)
    block = rows_in_block(X, n, p)
    rest = given, known, reach, block, part, image, sums
    if loss == LOG:
        add_rows_of_log_loss(X, y, w, alpha, a, *rest)
    else:
        add_rows_of_hinge(X, y, w, alpha, a, *rest)
    found = sums.tolist()
    return Seen(
        loss=found[LOSS],
        loss_rest=found[LOSS + 1],
        entropy=found[ENTROPY],
        entropy_rest=found[ENTROPY + 1],
        errors=int(found[ERRORS]),
        at_zero=(int(found[AT_ZERO]), int(found[AT_ZERO + 1])),
        exposed=found[EXPOSED],
        dual=found[DUAL],
        image=image[:p],
        additions=block + -(-n // block),
        known=found[KNOWN],
        known_rest=found[KNOWN + 1],
        known_size=found[KNOWN + 2],
    )


def rows_in_block(X: Rows, n: int, p: int) -> int:
    """Rows that are summed by themselves: about ``sqrt(n)``, more if these are short.

    A sum of ``n`` numbers in blocks has the rounding of ``2 sqrt(n)`` of them.
    """
    stored = X.data.shape[0] if isinstance(X, CSR) else n * p
    blocks = min(math.isqrt(n), stored // (8 * p + 1)) + 1
    return max(1, -(-n // blocks))


@kernel
def add_rows_of_hinge(
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
    """Add every row to the sums and, a block at a time, to the image."""
    n = y.shape[0]
    total = total_rest = entropy = entropy_rest = exposed = dual = 0.0
    known = known_rest = known_size = 0.0
    for first in range(0, n, block):
        for i in range(first, min(n, first + block)):
            at = offset_at(offset, i)
            m = y[i] * (row_dot_fast(X, i, w) + (alpha + at))
            total, left = two_sum(total, weights[i] * loss_value(HINGE, m))
            total_rest += left
            if not m >= 1.0 + reach:
                exposed += weights[i]
            if m < 0.0:
                sums[ERRORS] += 1.0
            elif m == 0.0:
                sums[AT_ZERO if y[i] < 0.0 else AT_ZERO + 1] += 1.0
            if a[i] != 0.0:
                reward = weights[i] * (a[i] / weights[i])
                entropy, left = two_sum(entropy, reward)
                entropy_rest += left
                dual += a[i]
                if offset.shape[0] > 0:
                    known, left = two_sum(known, a[i] * y[i] * at)
                    known_rest += left
                    known_size += a[i] * abs(at)
                row_add(X, i, a[i] * y[i], part)
        for j in range(image.shape[0]):
            image[j] += part[j]
            part[j] = 0.0
    sums[LOSS], sums[LOSS + 1] = total, total_rest
    sums[ENTROPY], sums[ENTROPY + 1] = entropy, entropy_rest
    sums[EXPOSED], sums[DUAL] = exposed, dual
    sums[KNOWN], sums[KNOWN + 1], sums[KNOWN + 2] = known, known_rest, known_size


def risk_and_image_exactly(
    X: Rows,
    y: Vector,
    beta: Vector,
    alpha: float,
    loss: int,
    a: Vector,
    weights: Vector,
    offset: Vector | None = None,
) -> SeenExactly:
    """Sums over the rows as by `risk_and_image`, with twice the digits.

    The log loss of a margin is that of the mathematical library. The time is some ten
    times that of `risk_and_image`.
    """
    X, y, weights = read_only(X), read_only(y), read_only(weights)
    p = beta.shape[0]
    w, image, image_rest, sums = (np.zeros(k) for k in [padded(p)] * 3 + [4])
    w[:p] = beta
    known = read_only(np.zeros(0) if offset is None else offset)
    add_rows_exactly(X, y, w, alpha, loss, a, weights, known, image, image_rest, sums)
    total, rest, error, lost = (float(k) for k in sums)
    return SeenExactly(total, rest, error, image[:p], image_rest[:p], lost)


@kernel
def add_rows_exactly(
    X: Rows,
    y: Vector,
    w: Vector,
    alpha: float,
    loss: int,
    a: Vector,
    weights: Vector,
    offset: Vector,
    image: Vector,
    image_rest: Vector,
    sums: Vector,
) -> None:
    """Add every row to the four sums and to the image.

    A dot of ``p`` products has an error of less than ``(4 (p + 2) u)^2 sum |x_j w_j|``
    (Ogita, Rump & Oishi 2005, proposition 5.5), and that of products that underflow.
    """
    total = rest = error = size = 0.0
    share = (4.0 * (w.shape[0] + 4.0) * UNIT) ** 2
    lost = 4.0 * (w.shape[0] + 4.0) * TINY
    for i in range(y.shape[0]):
        high, low, scale = row_dot_exactly(X, i, w)
        high, left = two_sum(high, alpha)
        high, low = two_sum(high, low + left)
        at = offset_at(offset, i)
        if at != 0.0:
            high, left = two_sum(high, at)
            high, low = two_sum(high, low + left)
        high, low = y[i] * high, y[i] * low
        apart = share * (1.0 + scale + abs(alpha) + abs(at)) + lost
        if loss == HINGE:
            value, left = two_sum(1.0, -high)
            value, low = two_sum(value, left - low)
            if value <= 0.0:
                value = low = 0.0
        else:
            value = loss_value(loss, high)
            apart += low * low * slope(loss, abs(high) - abs(low))
            low *= -slope(loss, high)
        product, left = two_product(weights[i], value)
        rest += left + weights[i] * low
        total, left = two_sum(total, product)
        rest += left
        error += weights[i] * apart
        if a[i] != 0.0:
            size += row_add_exactly(X, i, a[i] * y[i], image, image_rest)
    for j in range(image.shape[0]):
        image[j], image_rest[j] = two_sum(image[j], image_rest[j])
    lost = 2.0 * UNIT * size  # twice, as the sizes are rounded too
    sums[0], sums[1], sums[2], sums[3] = total, rest, error, lost


def scores(X: Rows, beta: Vector, alpha: float) -> Vector:
    """Scores ``x_i'beta + alpha``, each summed from the first entry to the last.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    beta : float64 array, shape (p,)
    alpha : float

    Returns
    -------
    float64 array, shape (n,)
    """
    n = X.indptr.shape[0] - 1 if hasattr(X, "indptr") else X.shape[0]
    found = np.zeros(n)
    put_scores(X, beta, alpha, found)
    return found


@kernel
def put_scores(X: Rows, beta: Vector, alpha: float, found: Vector) -> None:
    """Put the score of every row in `found`."""
    for i in range(found.shape[0]):
        found[i] = row_dot(X, i, beta) + alpha
