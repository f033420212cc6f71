"""One pass over the rows for the risk and for the image of dual weights."""

import math
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.compensated import (
    row_add_exactly,
    row_dot_exactly,
    two_product,
    two_sum,
)
from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.log_risk import (
    AT_ZERO,
    DUAL,
    ENTROPY,
    ERRORS,
    EXPOSED,
    KNOWN,
    LOSS,
    SUMS,
    add_rows_of_log_loss,
)
from pegasos_stats.compiled.arithmetic.losses import (
    HINGE,
    LOG,
    loss_value,
    slope,
)
from pegasos_stats.compiled.arithmetic.rows import (
    CSR,
    Rows,
    offset_at,
    row_add,
    row_dot,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import kernel

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
