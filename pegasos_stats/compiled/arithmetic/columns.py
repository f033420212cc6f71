"""The columns of a dense matrix: as rows, and their moments."""

from pegasos_stats.compiled.arithmetic.four_rows import (
    FourLanes,
    entries,
    last_entries,
)
from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Numbers,
    Vector,
    fused,
    lane,
    lanes,
    load,
    store,
    totals,
)
from pegasos_stats.compiled.compiling import inlined, kernel


@kernel
def put_rows(columns: Numbers, X: Numbers) -> None:
    """Put ``columns[j, i]`` at ``X[i, j]``."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = columns[j, i]


@kernel
def add_moments(X: Numbers, first: Vector, total: Vector, squares: Vector) -> float:
    """Add every row's differences to the first row, and their squares.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p)
    first : float64 array, shape (padded(p),)
        The first row, then zeros.
    total, squares : float64 array, shape (padded(p),)

    Returns
    -------
    float
        The largest ``||x_i||^2``, with the bits of ``rows.largest_norm2``.
    """
    n, p = X.shape
    whole = p - p % LANES
    zero = lanes(0.0, 0.0, 0.0, 0.0)
    largest = 0.0
    for i in range(0, n, 4):
        j = i + 1 if i + 1 < n else 0  # which adds nothing
        k = i + 2 if i + 2 < n else 0
        m = i + 3 if i + 3 < n else 0
        x, sums = (X[i], X[j], X[k], X[m]), (zero, zero, zero, zero)
        for q in range(0, whole, LANES):
            e = entries(x, q)
            add_four_moments(e, q, first, total, squares)
            sums = add_squares(e, sums)
        if whole < p:
            e = last_entries(x, whole, p - whole)
            add_four_moments(e, whole, first, total, squares)
            sums = add_squares(e, sums)
        norms = totals(sums[0], sums[1], sums[2], sums[3])
        for row in range(LANES):
            if not lane(norms, row) <= largest:
                largest = lane(norms, row)
    return largest


@inlined
def add_squares(e: FourLanes, sums: FourLanes) -> FourLanes:
    """Add the squares of four entries of each row to its sum."""
    return (
        fused(e[0], e[0], sums[0]),
        fused(e[1], e[1], sums[1]),
        fused(e[2], e[2], sums[2]),
        fused(e[3], e[3], sums[3]),
    )


@inlined
def add_four_moments(
    e: FourLanes, q: int, first: Vector, total: Vector, squares: Vector
) -> None:
    """`add_moments` of four rows in four columns."""
    f, s = load(first, q), load(squares, q)
    a, b, c, d = e[0] - f, e[1] - f, e[2] - f, e[3] - f
    s = fused(a, a, fused(b, b, fused(c, c, fused(d, d, s))))
    store(squares, q, s)
    store(total, q, load(total, q) + ((a + b) + (c + d)))
