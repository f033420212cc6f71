"""Dual weights as whole multiples of one small number, so that their sums are exact.

With a free intercept the dual asks for ``sum_i a_i y_i = 0``, and pays ``|alpha*
delta|`` for a difference ``delta``. Where rows are read in blocks no sum in doubles is
exact; one of whole multiples of `UNIT` is.
"""

import numpy as np
from numpy.typing import NDArray

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


def balanced(a: Vector, y: Vector, w: Vector, excess: int) -> Vector | None:
    """Change weights of one class until ``excess + sum_i a_i y_i`` is 0, in units.

    Those of the class that is too heavy are lowered; if they are not enough, those of
    the other are raised.

    Parameters
    ----------
    a : float64 array, shape (m,), of 0 or more
    y : float64 array, shape (m,), of -1 and +1
    w : float64 array, shape (m,)
        The most that a weight may be.
    excess : int
        ``sum_i a_i y_i`` of all other rows, in units.

    Returns
    -------
    float64 array, shape (m,), or None
        Cut weights; None if neither class can make up for it.

    Examples
    --------
    >>> a, y, w = np.array([1.0, 0.5, 0.5]), np.array([1.0, 1.0, -1.0]), np.ones(3)
    >>> balanced(a, y, w, 0).round(3)
    array([0.333, 0.167, 0.5  ])
    >>> balanced(np.array([0.0, 0.0, 0.5]), y, w, 3 * 2**30)
    array([0.  , 0.  , 0.75])
    >>> balanced(a, y, w, 2**40) is None
    True
    """
    counts = (a / UNIT).astype(np.int64)
    over = excess + int(counts[y > 0.0].sum()) - int(counts[y < 0.0].sum())
    heavier = y > 0.0 if over > 0 else y < 0.0
    over = abs(over)
    lowered = counts * heavier
    if int(lowered.sum()) >= over:
        return _doubles(counts - _shares(lowered, over))
    raised = ((w / UNIT).astype(np.int64) - counts) * ~heavier
    if int(raised.sum()) >= over:
        return _doubles(counts + _shares(raised, over))
    return None


def _shares(most: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Whole numbers of this sum, in proportion to others that they do not exceed."""
    there = int(most.sum())
    if total == 0:
        return np.zeros_like(most)
    found = (most * (total / there * (1.0 - 2.0**-50))).astype(np.int64)
    left, room = total - int(found.sum()), most - found
    before = np.cumsum(room) - room
    found += np.clip(left - before, 0, room)
    return found


def _doubles(counts: NDArray[np.int64]) -> Vector:
    return np.asarray(counts * UNIT, dtype=np.float64)
