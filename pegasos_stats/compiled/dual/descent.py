"""The log loss in one read of the rows: risk, dual weights and their image.

Rows are taken a block at a time, which stays in the cache between their scores and
their image.
"""

import math

from pegasos_stats.compiled.arithmetic.four_rows import add_four, entries, last_entries
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Numbers,
    Vector,
    lanes,
    load,
    store,
)
from pegasos_stats.compiled.arithmetic.rows import (
    CSR,
    Rows,
    by_type_of_rows,
    offset_at,
    row_add,
    row_dot_fast,
)
from pegasos_stats.compiled.compiling import kernel

RISK, BALANCE, ERRORS = range(3)


def add_block(X: Rows, first: int, stop: int, a: Vector, y: Vector, w: Vector) -> None:
    """``w <- w + a_i y_i x_i`` for the rows from ``first`` to before ``stop``."""
    if isinstance(X, CSR):
        sparse_add_block(X, first, stop, a, y, w)
    else:
        dense_add_block(X, first, stop, a, y, w)


def dense_add_block(
    X: Numbers, first: int, stop: int, a: Vector, y: Vector, w: Vector
) -> None:
    """``add_block`` of dense rows, four at a time; of the last ones some again by 0."""
    p = X.shape[1]
    whole, last = p - p % LANES, stop - 1
    for i in range(first, stop, 4):
        j, k, m = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        x = (X[i], X[j], X[k], X[m])
        b = a[i] * y[i]
        c = a[j] * y[j] if j > i else 0.0
        d = a[k] * y[k] if k > j else 0.0
        e = a[m] * y[m] if m > k else 0.0
        s = (lanes(b, b, b, b), lanes(c, c, c, c), lanes(d, d, d, d), lanes(e, e, e, e))
        for q in range(0, whole, LANES):
            store(w, q, add_four(load(w, q), entries(x, q), s))
        if whole < p:
            part = last_entries(x, whole, p - whole)
            store(w, whole, add_four(load(w, whole), part, s))


def sparse_add_block(
    X: CSR, first: int, stop: int, a: Vector, y: Vector, w: Vector
) -> None:
    """``add_block`` of sparse rows."""
    for i in range(first, stop):
        row_add(X, i, a[i] * y[i], w)


by_type_of_rows(add_block, dense_add_block, sparse_add_block)


@kernel
def look(
    X: Rows,
    y: Vector,
    weights: Vector,
    offset: Vector,
    w: Vector,
    alpha: float,
    block: int,
    a: Vector,
    image: Vector,
    sums: Vector,
) -> None:
    """Put dual weights, their image and three sums, at coefficients and an intercept.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    y, weights : float64 array, shape (n,)
    offset : float64 array, shape (n,) or (0,)
    w : float64 array, shape (padded(p),)
    alpha : float
    block : int
        Rows that are looked at together.
    a : float64 array, shape (n,)
        Receives ``w_i / (1 + exp(m_i))``.
    image : float64 array, shape (padded(p),)
        Receives ``sum_i a_i y_i x_i``.
    sums : float64 array, shape (3,)
        Receives ``RISK`` ``sum w_i log(1 + exp(-m_i))``, ``BALANCE`` ``sum a_i y_i``,
        and ``ERRORS``, rows with ``m_i < 0``.
    """
    n = y.shape[0]
    risk = balance = errors = 0.0
    image[:] = 0.0
    for first in range(0, n, block):
        stop = min(n, first + block)
        for i in range(first, stop):
            a[i] = y[i] * (row_dot_fast(X, i, w) + (alpha + offset_at(offset, i)))
        for i in range(first, stop):
            m = a[i]
            e = math.exp(-abs(m))
            s = 1.0 / (1.0 + e)
            risk += weights[i] * (math.log1p(e) + max(0.0, -m))
            errors += 1.0 if m < 0.0 else 0.0
            a[i] = weights[i] * (e * s if m > 0.0 else s)
            balance += a[i] * y[i]
        add_block(X, first, stop, a, y, image)
    sums[RISK], sums[BALANCE], sums[ERRORS] = risk, balance, errors
