"""Kernel Pegasos: counts of violations instead of coefficients.

The same algorithm in R is ``r_reference/R/kernel_pegasos.R``.

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
from pegasos_stats.compiled.compiling import with_python_division

WIDTH = 512  # rows per block: their sums, 4 KiB, stay in the L1 cache


class KernelKind(IntEnum):
    """Code of a kernel function; numba does not cache code that receives functions.

    * linear: ``x'z``;
    * polynomial: ``(gamma x'z + offset)^degree``, the power of ``b`` computed as
      ``((b * b) * b) * ...``;
    * Gaussian: ``exp(-gamma ||x - z||^2)`` from the sum of the squared differences, so
      that ``K(x, x)`` is 1;
    * precomputed: ``X`` is the symmetric matrix of the kernel values.
    """

    LINEAR = 0
    POLYNOMIAL = 1
    GAUSSIAN = 2
    PRECOMPUTED = 3


class Kernel(NamedTuple):
    """A kernel function with its parameters; parameters of other kernels are ignored.

    Attributes
    ----------
    kind : int
        A `KernelKind`.
    degree : int
    offset : float
    gamma : float
    """

    kind: int
    degree: int = 1
    offset: float = 0.0
    gamma: float = 1.0


class Gram(NamedTuple):
    """Rows of the Gram matrix of ``X``, each computed at its first use.

    Attributes
    ----------
    kernel : Kernel
    X : float64 array, shape (n, p), C-contiguous; (n, n) if precomputed
    blocks : float64 array, shape (ceil(n / WIDTH), p, WIDTH), C-contiguous
        From `blocked`: the transpose, so that sums vectorise over rows.
    values : float64 array, shape (capacity, n)
        Computed rows; the memory of a row is allocated when it is first stored.
    place : int64 array, shape (n,)
        Position of each row in `values`, -1 if it is not stored.
    computed : int64 array, shape (1,)
        Number of rows computed, with repetitions.
    """

    kernel: Kernel
    X: Matrix
    blocks: Matrix
    values: Matrix
    place: Integers
    computed: Integers


def blocked(X: Matrix) -> Matrix:
    """Transpose `X` in blocks of `WIDTH` rows, the last one padded with zeros."""
    n, p = X.shape
    blocks = np.zeros((-(-n // WIDTH), p, WIDTH))
    for block, start in zip(blocks, range(0, n, WIDTH), strict=True):
        part = X[start : start + WIDTH]
        block[:, : len(part)] = part.T
    return blocks


def gram_of(kernel: Kernel, X: Matrix, budget: int = 2**29) -> Gram:
    """Prepare the rows of the Gram matrix of `X`, without computing them.

    Parameters
    ----------
    kernel : Kernel
    X : float64 array, shape (n, p), C-contiguous; (n, n) if precomputed
    budget : int
        Bytes for rows and blocks together. All ``n`` rows fit in about ``8 n (n + p)``
        bytes; there is always memory for one row.
    """
    n = X.shape[0]
    is_precomputed = kernel.kind == KernelKind.PRECOMPUTED
    blocks = blocked(X[:0] if is_precomputed else X)
    affordable = max(1, min(n + 1, (budget - blocks.nbytes) // (8 * n)))
    capacity = 0 if is_precomputed else affordable
    return Gram(
        kernel,
        X,
        blocks,
        np.empty((capacity, n)),
        np.full(n, -1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
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
            base = kernel.gamma * values[j] + kernel.offset
            power = base
            for _ in range(1, kernel.degree):
                power *= base
            values[j] = power
    elif kernel.kind == KernelKind.GAUSSIAN:
        for j in range(values.size):
            values[j] = math.exp(-kernel.gamma * values[j])


@with_python_division
def kernel_values(kernel: Kernel, x: Vector, block: Matrix, out: Vector) -> None:
    """Fill `out` with ``K(x, z_j)`` for the rows of a block.

    Each value is summed over the features from the first to the last, starting at 0.

    Parameters
    ----------
    kernel : Kernel
        A kernel that is not precomputed.
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
def add_gram_row(total: Vector, weight: float, gram: Gram, i: int) -> None:
    """``total[j] += weight * K(x_i, x_j)`` for all rows, in place.

    A row is computed at its first use, and stored if there is room in ``gram.values``.
    Other rows are recomputed at each use, in the last row of ``gram.values``.

    Parameters
    ----------
    total : float64 array, shape (n,)
    weight : float
    gram : Gram
    i : int
    """
    if gram.kernel.kind == KernelKind.PRECOMPUTED:
        add_products(total, weight, gram.X[i])
        return
    place = gram.place[i]
    if place < 0:
        place = min(gram.computed[0], len(gram.values) - 1)
        gram.computed[0] += 1
        if place < len(gram.values) - 1:
            gram.place[i] = place
        for b in range(gram.blocks.shape[0]):
            part = gram.values[place][b * WIDTH : (b + 1) * WIDTH]
            kernel_values(gram.kernel, gram.X[i], gram.blocks[b], part)
    add_products(total, weight, gram.values[place])


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

    so that ``g`` is summed in the order of the violations, and a step without violation
    only reads ``g_i``.

    Parameters
    ----------
    gram : Gram
        Rows of the Gram matrix.
    y : float64 array, shape (n,), of -1 and +1
    wy : float64 array, shape (n,)
        ``w_i y_i`` with the weights of the rows, usually 1.
    rows : int64 array, shape (m,)
        The rows to visit, counted from zero, in this order.
    lam : float
        Penalty, above zero.
    t : int
        Number of earlier steps.
    counts : int64 array, shape (n,)
        Violations ``c`` of each row; changed in place.
    g : float64 array, shape (n,)
        Unscaled scores; changed in place.
    alpha : float
        Intercept before the first of these steps.
    intercept : bool
        Whether to update ``alpha``; otherwise it is constant.

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
            add_gram_row(g, wy[i], gram, i)
            if intercept:
                alpha = alpha + 1.0 / (lam * t) * wy[i]
    return alpha, violations


def kernel_scores(
    kernel: Kernel, support: Matrix, weights: Vector, X: Matrix, alpha: float
) -> Vector:
    """Scores ``sum_j weights_j K(support_j, x_i) + alpha`` of new rows, shape (q,).

    The sum runs over the support rows from the first to the last, then the intercept,
    for `WIDTH` new rows at a time.

    Parameters
    ----------
    kernel : Kernel
    support : float64 array, shape (m, p), C-contiguous
        Rows with positive counts; ignored for a precomputed kernel.
    weights : float64 array, shape (m,)
        ``c_j w_j / (lam * T) * y_j`` of these rows, after ``T`` steps.
    X : float64 array, shape (q, p)
        New rows; for a precomputed kernel the matrix of ``K(x_i, support_j)``, of
        shape (q, m).
    alpha : float
    """
    scores = np.zeros(X.shape[0])
    for start in range(0, scores.size, WIDTH):
        block = blocked(X[start : start + WIDTH])[0]
        add_block_scores(scores[start : start + WIDTH], kernel, support, weights, block)
    return scores + alpha


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
