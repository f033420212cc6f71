"""The image of the dual weights of some rows that follow each other."""

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
    row_add,
)


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
