"""Dense arithmetic on four rows at once: their products and what a step adds of them.

``x`` is a tuple of four rows, ``e`` of four entries of each. The loops run over whole
lanes and end with the part of a lane that is left; vectors of coefficients are padded.
"""

from typing import TypeAlias

from pegasos_stats.compiled.arithmetic.lanes import (
    LANES,
    Integers,
    Lanes,
    Numbers,
    Vector,
    every,
    fused,
    lanes,
    load,
    load_part,
    prefetch,
    store,
    totals,
    visited,
)
from pegasos_stats.compiled.compiling import inlined

FourRows: TypeAlias = tuple[Numbers, Numbers, Numbers, Numbers]
ThreeLanes: TypeAlias = tuple[Lanes, Lanes, Lanes]
FourLanes: TypeAlias = tuple[Lanes, Lanes, Lanes, Lanes]
TenLanes: TypeAlias = tuple[
    Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes
]


@inlined
def four(X: Numbers, rows: Integers, k: int) -> FourRows:
    """Return the rows of the visits ``k`` to ``k + 3``."""
    return (
        visited(X, rows, k),
        visited(X, rows, k + 1),
        visited(X, rows, k + 2),
        visited(X, rows, k + 3),
    )


@inlined
def entries(x: FourRows, j: int) -> FourLanes:
    """Four entries of each row."""
    return load(x[0], j), load(x[1], j), load(x[2], j), load(x[3], j)


@inlined
def last_entries(x: FourRows, j: int, count: int) -> FourLanes:
    """Return the ``count`` last entries of each row, then zeros."""
    return (
        load_part(x[0], j, count),
        load_part(x[1], j, count),
        load_part(x[2], j, count),
        load_part(x[3], j, count),
    )


@inlined
def prefetch_two(x: Numbers, y: Numbers, j: int) -> None:
    """Ask the memory for entry ``j`` of two rows."""
    prefetch(x, j)
    prefetch(y, j)


@inlined
def add_products(e: FourLanes, w: Lanes, sums: TenLanes) -> TenLanes:
    """Add the products with ``w``, and of each pair of rows, to ten sums."""
    u0, u1, u2, u3, g01, g02, g03, g12, g13, g23 = sums
    return (
        fused(e[0], w, u0),
        fused(e[1], w, u1),
        fused(e[2], w, u2),
        fused(e[3], w, u3),
        fused(e[0], e[1], g01),
        fused(e[0], e[2], g02),
        fused(e[0], e[3], g03),
        fused(e[1], e[2], g12),
        fused(e[1], e[3], g13),
        fused(e[2], e[3], g23),
    )


@inlined
def products(x: FourRows, ahead: FourRows, w: Vector) -> FourLanes:
    """``u_b = x_b'w``, and ``g_c = (x_c'x_b where b > c, else 0)`` for c = 0, 1, 2.

    ``b`` runs over the lanes. The first two rows ``ahead`` are prefetched on the way.
    """
    zero = lanes(0.0, 0.0, 0.0, 0.0)
    sums = (zero, zero, zero, zero, zero, zero, zero, zero, zero, zero)
    p = x[0].shape[0]
    whole = p - p % LANES
    for j in range(0, whole, LANES):
        prefetch_two(ahead[0], ahead[1], j)
        sums = add_products(entries(x, j), load(w, j), sums)
    prefetch_two(ahead[0], ahead[1], p - 1)
    if whole < p:
        e = last_entries(x, whole, p - whole)
        sums = add_products(e, load(w, whole), sums)
    u0, u1, u2, u3, g01, g02, g03, g12, g13, g23 = sums
    return (
        totals(u0, u1, u2, u3),
        totals(zero, g01, g02, g03),
        totals(zero, zero, g12, g13),
        totals(zero, zero, zero, g23),
    )


@inlined
def literal(beta: Lanes, x: Lanes, s: Lanes, eta: Lanes, lam: float) -> Lanes:
    """``beta - eta * (lam * beta - s * x)``, rounded as written."""
    return beta - eta * (lam * beta - s * x)


@inlined
def literal_four(
    beta: Lanes, e: FourLanes, s: FourLanes, eta: Lanes, lam: float
) -> Lanes:
    """Take four literal steps in four coordinates."""
    beta = literal(beta, e[0], s[0], every(eta, 0), lam)
    beta = literal(beta, e[1], s[1], every(eta, 1), lam)
    beta = literal(beta, e[2], s[2], every(eta, 2), lam)
    return literal(beta, e[3], s[3], every(eta, 3), lam)


@inlined
def literal_update(
    x: FourRows, ahead: FourRows, s: FourLanes, eta: Lanes, lam: float, beta: Vector
) -> None:
    """``beta <- beta - eta * (lam * beta - s * x)``, four times.

    The last two rows ``ahead`` are prefetched on the way.
    """
    p = x[0].shape[0]
    whole = p - p % LANES
    for j in range(0, whole, LANES):
        prefetch_two(ahead[2], ahead[3], j)
        store(beta, j, literal_four(load(beta, j), entries(x, j), s, eta, lam))
    prefetch_two(ahead[2], ahead[3], p - 1)
    if whole < p:
        e = last_entries(x, whole, p - whole)
        store(beta, whole, literal_four(load(beta, whole), e, s, eta, lam))


@inlined
def add_four(v: Lanes, e: FourLanes, s: FourLanes) -> Lanes:
    """``v + s x``, four times."""
    v = fused(e[0], s[0], v)
    v = fused(e[1], s[1], v)
    v = fused(e[2], s[2], v)
    return fused(e[3], s[3], v)


@inlined
def scaled_update(x: FourRows, ahead: FourRows, s: FourLanes, v: Vector) -> None:
    """``v <- v + s x``, four times; two rows ``ahead`` are prefetched on the way."""
    p = x[0].shape[0]
    whole = p - p % LANES
    for j in range(0, whole, LANES):
        prefetch_two(ahead[2], ahead[3], j)
        store(v, j, add_four(load(v, j), entries(x, j), s))
    prefetch_two(ahead[2], ahead[3], p - 1)
    if whole < p:
        e = last_entries(x, whole, p - whole)
        store(v, whole, add_four(load(v, whole), e, s))
