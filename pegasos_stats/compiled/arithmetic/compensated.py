"""Sums and products with their rounding errors: twice the digits of a double.

A number is held as ``high + low``, not added up. Where a product underflows or a factor
is above 2^996 its error is lost; bounds of rounding have a term for the first, and the
second ends in NaN.

References
----------
Ogita, Rump & Oishi, *Accurate sum and dot product*, SIAM Journal on Scientific
Computing 26 (2005), algorithms 3.1 (`two_sum`), 3.3 (`two_product`), 5.3 (the dots).
"""

from typing import TypeVar

import numpy as np

from pegasos_stats.compiled.arithmetic.lanes import Lanes, Numbers, Vector
from pegasos_stats.compiled.arithmetic.rows import CSR, Rows, by_type_of_rows
from pegasos_stats.compiled.compiling import inlined

Number = TypeVar("Number", float, Lanes)
SPLITTER = 134217729.0  # 2^27 + 1


@inlined
def two_sum(a: Number, b: Number) -> tuple[Number, Number]:
    """``a + b`` rounded, and what the rounding left out."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inlined
def two_product(a: float, b: float) -> tuple[float, float]:
    """``a * b`` rounded, and what the rounding left out."""
    product = a * b
    wide = SPLITTER * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = SPLITTER * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    rest = a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )
    return product, rest


def row_dot_exactly(X: Rows, i: int, w: Vector) -> tuple[float, float, float]:
    """``x_i'w`` as ``high`` and ``low``, and ``sum_j |x_ij w_j|``."""
    if isinstance(X, CSR):
        return sparse_dot_exactly(X, i, w)
    return dense_dot_exactly(X, i, w)


def dense_dot_exactly(X: Numbers, i: int, w: Vector) -> tuple[float, float, float]:
    """``row_dot_exactly`` of a dense row."""
    high = low = size = 0.0
    for j in range(X.shape[1]):
        product, rest = two_product(np.float64(X[i, j]), w[j])
        high, left = two_sum(high, product)
        low += left + rest
        size += abs(product)
    return high, low, size


def sparse_dot_exactly(X: CSR, i: int, w: Vector) -> tuple[float, float, float]:
    """``row_dot_exactly`` of a sparse row."""
    high = low = size = 0.0
    for k in range(X.indptr[i], X.indptr[i + 1]):
        product, rest = two_product(np.float64(X.data[k]), w[X.indices[k]])
        high, left = two_sum(high, product)
        low += left + rest
        size += abs(product)
    return high, low, size


def row_add_exactly(X: Rows, i: int, d: float, high: Vector, low: Vector) -> float:
    """Add ``d x_i`` to ``high + low``, and return what two roundings are parts of.

    They round numbers to at most ``u`` times their sizes, whose sum is returned: the
    error of `low` by this row is not more, for all columns together.
    """
    if isinstance(X, CSR):
        return sparse_add_exactly(X, i, d, high, low)
    return dense_add_exactly(X, i, d, high, low)


def dense_add_exactly(X: Numbers, i: int, d: float, high: Vector, low: Vector) -> float:
    """``row_add_exactly`` of a dense row."""
    size = 0.0
    for j in range(X.shape[1]):
        product, rest = two_product(d, np.float64(X[i, j]))
        high[j], left = two_sum(high[j], product)
        low[j] += left + rest
        size += abs(left + rest) + abs(low[j])
    return size


def sparse_add_exactly(X: CSR, i: int, d: float, high: Vector, low: Vector) -> float:
    """``row_add_exactly`` of a sparse row."""
    size = 0.0
    for k in range(X.indptr[i], X.indptr[i + 1]):
        product, rest = two_product(d, np.float64(X.data[k]))
        j = X.indices[k]
        high[j], left = two_sum(high[j], product)
        low[j] += left + rest
        size += abs(left + rest) + abs(low[j])
    return size


by_type_of_rows(row_dot_exactly, dense_dot_exactly, sparse_dot_exactly)
by_type_of_rows(row_add_exactly, dense_add_exactly, sparse_add_exactly)
