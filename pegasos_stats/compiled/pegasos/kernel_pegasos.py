"""Kernel Pegasos: counts of violations in the place of coefficients.

Beside this file stands ``r_reference/R/kernel_pegasos.R``, the same algorithm in R.

References
----------
Shalev-Shwartz, Singer, Srebro & Cotter, *Pegasos: primal estimated sub-gradient
solver for SVM*, Mathematical Programming B 127 (2011), figure 3.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Integers, Matrix, Vector
from pegasos_stats.compiled.arithmetic.risk import balance
from pegasos_stats.compiled.compiling import with_python_division

MEMORY_BUDGET = 512 * 2**20  # bytes, for a `Gram` as a whole
WIDTH = 512  # rows in a block: their sums, 4 KiB, stay in the first cache

# Places in `Gram.tally`.
FILLED, HAND, HITS, COMPUTED = range(4)
UNIT = 2.0**-53  # rounding of one operation, relative
SMALLEST = 2.0**-1000  # beside which what underflows does not count
MARGIN = 1.01  # for higher powers, and the rounding of a bound


class KernelKind(IntEnum):
    """Which kernel function: a code, because a function argument is never cached."""

    LINEAR = 0
    POLYNOMIAL = 1
    GAUSSIAN = 2
    PRECOMPUTED = 3


class Kernel(NamedTuple):
    """A kernel function with its parameters; those of other kernels are not read.

    Attributes
    ----------
    kind : int
        A `KernelKind`.
    degree : int
    offset : float
    gamma : float
    """

    kind: int
    degree: int
    offset: float
    gamma: float


class Gram(NamedTuple):
    """Rows of the Gram matrix of ``X``, each computed when it is first asked for.

    Attributes
    ----------
    kernel : Kernel
    X : float64 array, shape (n, p), C-contiguous; (n, n) if precomputed
    blocks : float64 array, shape (ceil(n / WIDTH), p, WIDTH), C-contiguous
        Of `blocked`: the transpose, so that rows are summed side by side.
    kept : float64 array, shape (capacity, n)
        Rows computed; memory is taken when a place is first filled.
    owner : int64 array, shape (capacity,)
        Row that each place holds.
    place : int64 array, shape (n,)
        Place of each row, -1 if it is not kept.
    tally : int64 array, shape (4,)
        Places filled, the clock's hand, rows found (``HITS``), rows computed
        (``COMPUTED``).
    """

    kernel: Kernel
    X: Matrix
    blocks: Matrix
    kept: Matrix
    owner: Integers
    place: Integers
    tally: Integers


class FormErrors(NamedTuple):
    """Bounds of what rounding does to the sums of a kernel fit.

    Attributes
    ----------
    g : float64 array, shape (n,)
        Of ``g_i``.
    norm : float
        Of ``sum_i c_i y_i g_i``.
    dual_norm : float
        Of ``sum_ij c_i c_j y_i y_j K(x_i, x_j)`` for the feasible counts.
    """

    g: Vector
    norm: float
    dual_norm: float


def linear() -> Kernel:
    """``K(x, z) = x'z``."""
    return Kernel(int(KernelKind.LINEAR), 1, 0.0, 0.0)


def polynomial(degree: int, offset: float) -> Kernel:
    """``K(x, z) = (x'z + offset)^degree``, ``degree >= 1`` and ``offset >= 0``.

    The power is ``((b * b) * b) * ...`` with ``b = x'z + offset``.
    """
    return Kernel(int(KernelKind.POLYNOMIAL), int(degree), float(offset), 0.0)


def gaussian(gamma: float) -> Kernel:
    """``K(x, z) = exp(-gamma ||x - z||^2)``, ``gamma > 0``.

    The squared distance is the sum of the squared differences: ``K(x, x)`` is 1.
    """
    return Kernel(int(KernelKind.GAUSSIAN), 1, 0.0, float(gamma))


def precomputed() -> Kernel:
    """``K`` given as the symmetric matrix of its values, in the place of ``X``."""
    return Kernel(int(KernelKind.PRECOMPUTED), 1, 0.0, 0.0)


def blocked(X: Matrix) -> Matrix:
    """Transpose `X` in blocks of `WIDTH` rows, the last one filled up with zeros."""
    n, p = X.shape
    blocks = np.zeros((-(-n // WIDTH), p, WIDTH))
    for block, start in zip(blocks, range(0, n, WIDTH), strict=True):
        part = X[start : start + WIDTH]
        block[:, : len(part)] = part.T
    return blocks


def gram_of(kernel: Kernel, X: Matrix, budget: int = MEMORY_BUDGET) -> Gram:
    """Prepare the rows of the Gram matrix of `X`; none is computed yet.

    Parameters
    ----------
    kernel : Kernel
    X : float64 array, shape (n, p), C-contiguous; (n, n) if precomputed
    budget : int
        Bytes for the kept rows and the blocks together. All ``n`` rows are kept where
        about ``8 n (n + p)`` bytes fit, and one at least.
    """
    n = X.shape[0]
    known = kernel.kind == KernelKind.PRECOMPUTED
    blocks = blocked(X[:0] if known else X)
    affordable = max(1, min(n, (budget - blocks.nbytes) // (8 * n)))
    capacity = 0 if known else affordable
    return Gram(
        kernel,
        X,
        blocks,
        np.empty((capacity, n)),
        np.full(capacity, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )


@with_python_division
def add_products(total: Vector, weight: float, values: Vector) -> None:
    """``total += weight * values``, in place."""
    for j in range(total.size):
        total[j] += weight * values[j]


@with_python_division
def add_squares(total: Vector, centre: float, values: Vector) -> None:
    """``total += (values - centre)^2``, in place."""
    for j in range(total.size):
        difference = values[j] - centre
        total[j] += difference * difference


@with_python_division
def finish(kernel: Kernel, values: Vector) -> None:
    """Turn inner products or squared distances into kernel values, in place."""
    if kernel.kind == KernelKind.POLYNOMIAL:
        for j in range(values.size):
            base = values[j] + kernel.offset
            power = base
            for _ in range(1, kernel.degree):
                power *= base
            values[j] = power
    elif kernel.kind == KernelKind.GAUSSIAN:
        for j in range(values.size):
            values[j] = math.exp(-kernel.gamma * values[j])


@with_python_division
def kernel_values(kernel: Kernel, x: Vector, block: Matrix, out: Vector) -> None:
    """Fill `out` with ``K(x, z_j)`` of the rows of a block, for kernels of features.

    Each value is summed over the features from the first to the last, starting at 0.

    Parameters
    ----------
    kernel : Kernel
        Not a precomputed one.
    x : float64 array, shape (p,)
    block : float64 array, shape (p, WIDTH), C-contiguous
        The rows ``z_j`` as columns.
    out : float64 array, shape (m,), m <= WIDTH
    """
    out[:] = 0.0
    for k in range(x.size):
        if kernel.kind == KernelKind.GAUSSIAN:
            add_squares(out, x[k], block[k])
        else:
            add_products(out, x[k], block[k])
    finish(kernel, out)


@with_python_division
def free_place(gram: Gram, counts: Integers, i: int) -> int:
    """Choose where to keep row `i`: a place not yet filled, or one to give up.

    A clock's hand goes round, one place for each row that comes; the row it points at
    leaves if it has violated less often by two at least. Otherwise place 0 is given
    up, which serves whatever comes. An epoch visits every row once, so that rows used
    last come last again: those that violate most are worth keeping. By two, because
    those that come later in this epoch are one behind.
    """
    filled, hand = gram.tally[FILLED], gram.tally[HAND]
    if filled < gram.owner.size:
        gram.tally[FILLED] = filled + 1
        return int(filled)
    gram.tally[HAND] = (hand + 1) % gram.owner.size
    chosen = hand if counts[gram.owner[hand]] + 1 < counts[i] else 0
    gram.place[gram.owner[chosen]] = -1
    return int(chosen)


@with_python_division
def kept_row(gram: Gram, counts: Integers, i: int) -> Vector:
    """Row `i` of the Gram matrix, computed if it is not kept, shape (n,)."""
    place = gram.place[i]
    if place >= 0:
        gram.tally[HITS] += 1
    else:
        place = free_place(gram, counts, i)
        gram.owner[place] = i
        gram.place[i] = place
        gram.tally[COMPUTED] += 1
        for b in range(gram.blocks.shape[0]):
            part = gram.kept[place][b * WIDTH : (b + 1) * WIDTH]
            kernel_values(gram.kernel, gram.X[i], gram.blocks[b], part)
    row: Vector = gram.kept[place]
    return row


@with_python_division
def add_gram_row(
    total: Vector, weight: float, gram: Gram, counts: Integers, i: int
) -> None:
    """``total[j] += weight * K(x_i, x_j)`` for all rows, in place.

    Parameters
    ----------
    total : float64 array, shape (n,)
    weight : float
    gram : Gram
        May keep row `i` from now on.
    counts : int64 array, shape (n,)
        How often each row was used: which rows are worth keeping.
    i : int
    """
    if gram.kernel.kind == KernelKind.PRECOMPUTED:
        add_products(total, weight, gram.X[i])
    else:
        add_products(total, weight, kept_row(gram, counts, i))


@with_python_division
def kernel_pegasos_epoch(
    gram: Gram,
    y: Vector,
    wy: Vector,
    rows: Integers,
    lam: float,
    t: int,
    counts: Integers,
    g: Vector,
    alpha: float,
    intercept: bool,
) -> tuple[float, int]:
    """Take one step at each of ``rows``, in reference arithmetic.

    At step ``t`` with row ``i``, where ``g_i = sum_j c_j w_j y_j K(x_j, x_i)``::

        f <- (1 / (lam * (t - 1))) * g_i + alpha                 (alpha at t = 1)
        if y_i f < 1:
            c_i   <- c_i + 1
            g     <- g + w_i y_i K(x_i, .)
            alpha <- alpha + (1 / (lam * t)) * w_i y_i

    so that ``g`` is summed in the order of the violations, and a step without one
    reads a single number.

    Parameters
    ----------
    gram : Gram
        Rows of the Gram matrix; keeps those it computes.
    y : float64 array, shape (n,), of -1 and +1
    wy : float64 array, shape (n,)
        ``w_i y_i`` with the weights of the rows, usually 1.
    rows : int64 array, shape (m,)
        The rows to visit, counted from zero, in this order.
    lam : float
        Penalty, above zero.
    t : int
        Number of steps taken before.
    counts : int64 array, shape (n,)
        Violations ``c`` of each row; changed in place.
    g : float64 array, shape (n,)
        Unscaled scores; changed in place.
    alpha : float
        Intercept before the first of these steps.
    intercept : bool
        Whether ``alpha`` moves.

    Returns
    -------
    alpha : float
        Intercept after the last step.
    violations : int
        Number of steps whose margin was below 1.
    """
    violations = 0
    for i in rows:
        f = alpha
        if t > 0:
            f = 1.0 / (lam * t) * g[i] + alpha
        t += 1
        if y[i] * f < 1.0:
            violations += 1
            counts[i] += 1
            add_gram_row(g, wy[i], gram, counts, i)
            if intercept:
                alpha = alpha + 1.0 / (lam * t) * wy[i]
    return alpha, violations


def kernel_scores(
    kernel: Kernel, support: Matrix, weights: Vector, X: Matrix, alpha: float
) -> Vector:
    """Scores ``sum_j weights_j K(support_j, x_i) + alpha`` of new rows, shape (q,).

    Summed over the support rows from the first to the last, then the intercept; in
    memory for `WIDTH` new rows at a time.

    Parameters
    ----------
    kernel : Kernel
    support : float64 array, shape (m, p), C-contiguous
        Rows with a count above zero; not read for a precomputed kernel.
    weights : float64 array, shape (m,)
        ``c_j w_j / (lam * T) * y_j`` of these rows.
    X : float64 array, shape (q, p)
        New rows; for a precomputed kernel the matrix of ``K(x_i, support_j)``, of
        shape (q, m).
    alpha : float
    """
    found = np.zeros(X.shape[0])
    for start in range(0, found.size, WIDTH):
        block = blocked(X[start : start + WIDTH])[0]
        add_block_scores(found[start : start + WIDTH], kernel, support, weights, block)
    return found + alpha


@with_python_division
def add_block_scores(
    total: Vector, kernel: Kernel, support: Matrix, weights: Vector, block: Matrix
) -> None:
    """``total_i += sum_j weights_j K(support_j, x_i)`` for the rows of a block."""
    values = np.empty(total.size)
    for j in range(weights.size):
        if kernel.kind == KernelKind.PRECOMPUTED:
            add_products(total, weights[j], block[j])
        else:
            kernel_values(kernel, support[j], block, values)
            add_products(total, weights[j], values)


def squared_norm(y: Vector, counts: Vector, g: Vector, lam: float, T: int) -> float:
    """``||beta||^2 = (1 / (lam T))^2 sum_i c_i y_i g_i`` in the kernel's space."""
    return float((counts * y) @ g) / (lam * T) / (lam * T)


def kernel_primal(
    y: Vector,
    counts: Vector,
    g: Vector,
    lam: float,
    T: int,
    alpha: float,
    w: Vector | float = 1.0,
) -> float:
    """Regularised risk ``lam/2 ||beta||^2 + mean(w_i max(0, 1 - y_i f(x_i)))``.

    ``f(x_i) = g_i / (lam T) + alpha`` after ``T`` steps, so no kernel value is needed
    (Shalev-Shwartz et al. 2011, equation 1).

    Parameters
    ----------
    y : float64 array, shape (n,), of -1 and +1
    counts : array, shape (n,)
        Violations times the weights of the rows, ``c_i``.
    g : float64 array, shape (n,)
        ``g_i = sum_j c_j y_j K(x_j, x_i)``, as `kernel_pegasos_epoch` leaves it.
    lam : float
    T : int
        Number of steps taken.
    alpha : float
    w : float64 array, shape (n,), optional
        Weights of the rows.
    """
    margins = y * (g / (lam * T) + alpha)
    loss = (w * np.maximum(0.0, 1.0 - margins)).mean()
    return 0.5 * lam * squared_norm(y, counts, g, lam, T) + float(loss)


def feasible_counts(
    y: Vector, counts: Vector, T: int, intercept: bool, w: Vector | float = 1.0
) -> Vector:
    """Counts of a dual-feasible point next to those of Pegasos, shape (n,).

    ``beta = sum_i c_i y_i phi(x_i) / (lam T)`` equals ``sum_i a_i y_i phi(x_i) /
    (lam n)`` with the dual variables ``a_i = c_i n / T``. Feasible are ``a_i`` in
    [0, w_i], so ``c_i <= w_i T / n``: always so after whole epochs of an order that
    visits each row once; otherwise larger counts are cut to that, or a little less
    where it is rounded. A free intercept needs ``sum_i a_i y_i = 0`` too: the counts of
    the class with the larger sum are scaled down, so that the sums are the same
    exactly, see ``balance`` in ``arithmetic/risk.py``.
    """
    exact = T % y.size == 0 and isinstance(w, float)
    most = w * (T / y.size) * (1.0 if exact else 1.0 - 2.0**-51)
    c: Vector = np.minimum(counts, most).astype(np.float64)
    if intercept:
        balance(c, y)
    return c


def kernel_dual(
    kernel: Kernel,
    X: Matrix,
    y: Vector,
    counts: Vector,
    g: Vector,
    lam: float,
    T: int,
    intercept: bool,
    w: Vector | float = 1.0,
) -> float:
    """Dual objective ``D(a) = mean(a) - lam/2 ||beta(a)||^2``, a bound below min P.

    With ``a`` from `feasible_counts`. Where these are the counts themselves,
    ``||beta||^2`` comes from `g`. Where they are ``c - d``, it is ``(1 / (lam T))^2
    (c'Qc - 2 d'Qc + d'Qd)`` with ``Q_ij = y_i y_j K(x_i, x_j)``: one pass over the
    rows with ``d_i > 0`` for the last term, the others again from `g`.

    Parameters
    ----------
    kernel : Kernel
    X : float64 array, shape (n, p), C-contiguous; (n, n) if precomputed
    y, counts, g, lam, T, w
        As for `kernel_primal`.
    intercept : bool
        Whether the intercept is free.
    """
    c = feasible_counts(y, counts, T, intercept, w)
    form = dual_form(kernel, X, y, counts, g, c)
    return float(c.sum() / T - 0.5 * lam * (form / (lam * T) / (lam * T)))


def dual_form(
    kernel: Kernel, X: Matrix, y: Vector, counts: Vector, g: Vector, c: Vector
) -> float:
    """``c'Qc`` for counts ``c`` near the ones that gave `g`, see `kernel_dual`."""
    d = counts - c
    moved = 2.0 * float((d * y) @ g)
    return float((counts * y) @ g) - moved + quadratic_form(kernel, X, d * y)


def form_errors(
    kernel: Kernel,
    X: Matrix,
    counts: Vector,
    g: Vector,
    c: Vector,
    roundings: float,
    added: float = 0.0,
) -> FormErrors:
    """Bound what rounding does, by ``|K(x, z)|^2 <= K(x, x) K(z, z)``.

    A value of the kernel is off by some units in the last place for every feature, and
    `g` by one for every row that is added (Higham 2002, section 3.1): by so many
    `roundings` of `g`, all together. What is `added` to the diagonal of a given matrix,
    for it to be that of a kernel, counts too.
    """
    size = np.sqrt(diagonal_of(kernel, X))
    unit, d = MARGIN * UNIT, np.abs(counts - c)
    off = unit * (roundings + 8.0) * size * float(counts @ size)
    off = off + MARGIN * added * counts
    dots = unit * (g.size + 8.0)
    norm = float(counts @ off) + dots * float(counts @ np.abs(g))
    roundings = value_roundings(kernel, X.shape[1])
    rest = unit * (roundings + 2.0 * g.size + 16.0) * float(d @ size) ** 2
    moved = 2.0 * float(d @ off) + 2.0 * dots * float(d @ np.abs(g))
    return FormErrors(off, norm, norm + moved + rest)


def value_roundings(kernel: Kernel, p: int) -> float:
    """Roundings of a value of the kernel, of ``sqrt(K(x, x) K(z, z))``, at most."""
    if kernel.kind == KernelKind.PRECOMPUTED:
        return 0.0
    if kernel.kind == KernelKind.POLYNOMIAL:
        return kernel.degree * (p + 4.0)
    return p + 8.0


def diagonal_of(kernel: Kernel, X: Matrix) -> Vector:
    """``K(x_i, x_i)``, or a little more; of a given matrix its diagonal."""
    with np.errstate(over="ignore", under="ignore"):
        if kernel.kind == KernelKind.PRECOMPUTED:
            return np.asarray(np.maximum(0.0, np.diag(X)) * MARGIN)
        if kernel.kind == KernelKind.GAUSSIAN:
            return np.full(len(X), MARGIN)
        found: Vector = np.einsum("ij,ij->i", X, X) * MARGIN + X.shape[1] * SMALLEST
        if kernel.kind == KernelKind.POLYNOMIAL:
            found = (found + kernel.offset) ** kernel.degree * MARGIN
        return found


def quadratic_form(kernel: Kernel, X: Matrix, v: Vector) -> float:
    """``sum_ij v_i v_j K(x_i, x_j)``, in memory for `WIDTH` rows at a time."""
    rows = np.flatnonzero(v)
    known = kernel.kind == KernelKind.PRECOMPUTED
    support = X[:0] if known else X[rows]
    total = 0.0
    for start in range(0, rows.size, WIDTH):
        block = rows[start : start + WIDTH]
        new = X[np.ix_(block, rows)] if known else X[block]
        total += float(v[block] @ kernel_scores(kernel, support, v[rows], new, 0.0))
    return total
