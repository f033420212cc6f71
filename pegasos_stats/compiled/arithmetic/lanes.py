"""Four doubles at a time: the vector arithmetic of the dense kernels.

Lanes are ``LANES`` doubles. Here they are a small array; in compiled code they are one
vector register, by the translation of ``lanes_llvm.py``. So ``NUMBA_DISABLE_JIT=1``
computes the same numbers from the same text.

``+ - * /`` between lanes, or between lanes and a number, round every lane as IEEE 754
says: nothing is fused, nothing reassociated. Only ``fused`` may skip a rounding.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

LANES = 4

Lanes: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.float64] | NDArray[np.int8]


def padded(p: int) -> int:
    """``p`` rounded up to whole lanes."""
    return -(-p // LANES) * LANES


def visited(X: Numbers, rows: Integers, k: int) -> Numbers:
    """Return ``X[rows[k]]``, the row that is visited ``k``-th; no index is negative."""
    row: Numbers = X[rows[k]]
    return row


def load(x: Numbers, j: int) -> Lanes:
    """Take ``x[j]`` to ``x[j + 3]``."""
    return x[j : j + LANES].astype(np.float64)


def load_part(x: Numbers, j: int, count: int) -> Lanes:
    """Take the ``count`` numbers from ``x[j]`` on, then zeros."""
    part = np.zeros(LANES)
    part[:count] = x[j : j + count]
    return part


def store(x: Vector, j: int, a: Lanes) -> None:
    """Put lanes in ``x[j]`` to ``x[j + 3]``."""
    x[j : j + LANES] = a


def prefetch(x: NDArray[np.generic], j: int) -> None:
    """Ask the memory for ``x[j]``, which is needed soon; nothing is computed."""


def lanes(a: float, b: float, c: float, d: float) -> Lanes:
    """Put four numbers in lanes."""
    return np.array([a, b, c, d])


def lane(a: Lanes, i: int) -> float:
    """Lane ``i`` as a number."""
    return float(a[i])


def every(a: Lanes, i: int) -> Lanes:
    """Lane ``i`` in every lane."""
    return np.full(LANES, a[i])


def shifted(first: float, a: Lanes) -> Lanes:
    """``(first, a0, a1, a2)``."""
    return np.array([first, a[0], a[1], a[2]])


def fused(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Return ``a * b + c``, with one rounding where the machine can, else two."""
    return a * b + c


def below(a: Lanes, limit: float) -> Lanes:
    """1 in every lane that is below ``limit``, else 0."""
    return np.where(a < limit, 1.0, 0.0)


def where_below(a: Lanes, limit: float, b: Lanes) -> Lanes:
    """``b`` in every lane where ``a`` is below ``limit``, else 0."""
    return np.where(a < limit, b, 0.0)


def all_apart(a: Lanes, centre: float, distance: float) -> bool:
    """Whether every lane is farther than ``distance`` from ``centre``."""
    return bool(np.all(np.abs(a - centre) > distance))


def total(a: Lanes) -> float:
    """``(a0 + a1) + (a2 + a3)``."""
    return float((a[0] + a[1]) + (a[2] + a[3]))


def totals(a: Lanes, b: Lanes, c: Lanes, d: Lanes) -> Lanes:
    """Return the ``total`` of each of four lanes, in lanes."""
    return np.array([total(a), total(b), total(c), total(d)])
