"""Dual weights as whole multiples of one small number, so that their sums are exact.

With a free intercept the dual asks for ``sum_i a_i y_i = 0``, and pays ``|alpha*
delta|`` for a difference ``delta``. Where rows are read in blocks no sum in doubles is
exact; one of whole multiples of `UNIT` is.
"""

import numpy as np

from pegasos_stats.arrays import Vector

UNIT = 2.0**-32  # what a dual weight loses at most; 1 is a multiple of it


def cut(a: Vector) -> Vector:
    """Multiples of `UNIT` at most as large.

    Examples
    --------
    >>> cut(np.array([1.0, 2.0**-33]))
    array([1., 0.])
    """
    return np.floor(a / UNIT) * UNIT


def units(a: Vector) -> int:
    """``sum_i a_i`` in units, exactly, of weights that are cut.

    Examples
    --------
    >>> units(np.array([1.0, 0.5])) == 3 * 2**31
    True
    """
    return int((a / UNIT).astype(np.int64).sum())


def balanced(a: Vector, y: Vector, excess: int) -> Vector | None:
    """Lower weights of one class until ``excess + sum_i a_i y_i`` is 0, in units.

    Parameters
    ----------
    a : float64 array, shape (m,), of 0 or more
    y : float64 array, shape (m,), of -1 and +1
    excess : int
        ``sum_i a_i y_i`` of all other rows, in units.

    Returns
    -------
    float64 array, shape (m,), or None
        Cut weights; None if the weights of the class are not enough.

    Examples
    --------
    >>> a, y = np.array([1.0, 0.5, 0.5]), np.array([1.0, 1.0, -1.0])
    >>> balanced(a, y, 0).round(3)
    array([0.333, 0.167, 0.5  ])
    >>> balanced(a, y, 2**40) is None
    True
    """
    counts = (a / UNIT).astype(np.int64)
    over = excess + int(counts[y > 0.0].sum()) - int(counts[y < 0.0].sum())
    rows = np.flatnonzero(y > 0.0 if over > 0 else y < 0.0)
    over, total = abs(over), int(counts[rows].sum())
    if over > total:
        return None
    if over:
        share = over / total * (1.0 - 2.0**-50)  # never rounded up
        counts[rows] -= (counts[rows] * share).astype(np.int64)
        too_many = int(counts[rows].sum()) - (total - over)
        before = np.cumsum(counts[rows]) - counts[rows]
        taken = np.clip(too_many - before, 0, counts[rows])
        counts[rows] -= taken
    return np.asarray(counts * UNIT, dtype=np.float64)
