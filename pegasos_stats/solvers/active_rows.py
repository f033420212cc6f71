"""Which rows matter to the hinge: those near the margin; the others are fixed.

At the optimum the dual weight of a row is 0 beyond the margin, ``w_i`` short of it, and
between the two only where the margin is exactly 1. So rows that are far from the margin
at a point near the optimum are fixed at 0 and at ``w_i``, and the others are solved.
Those fixed at ``w_i`` are one row for each class, their weighted mean, of their total
weight. That is exact while its margin is below 1, because the hinge is straight there,
and any share of that weight is feasible: so the dual of the problem solved is a dual of
the whole, and a pass over all rows, which has the risk, certifies the point. The same
pass tells which rows were fixed on the wrong side; they join, and it is done again.
"""

import numpy as np

from pegasos_stats.arrays import Mask, Matrix, Vector

SCREENED_TOL = 0.3  # of the gap asked for, that of the rows near the margin
NO_WEIGHT = 1e-9  # instead of 0, of a class without fixed rows


def with_sums(
    Z: Matrix, y: Vector, t: Vector, w: Vector, sums: Matrix
) -> tuple[Vector, Vector, Vector]:
    """Rows near the margin, and the mean of the rows of each class fixed at ``w_i``.

    Parameters
    ----------
    Z : float64 array, shape (m + 2, k)
        Its last two rows are set to the means.
    y : float64 array, shape (m,)
        Signs of the rows: those of `Z`, or 1 where rows are multiplied by them.
    t, w : float64 array, shape (m,)
        Targets ``1 - y_i offset_i``, and weights.
    sums : float64 array, shape (2, k + 2)
        Over the fixed rows of -1 and of +1, of ``w_i y_i z_i``, targets and weights.

    Returns
    -------
    y, t, w : float64 array, shape (m + 2,)

    Examples
    --------
    >>> Z, one = np.array([[1.0], [0.0], [0.0]]), np.ones(1)
    >>> sums = np.array([[0.0, 0.0, 0.0], [6.0, 3.0, 3.0]])
    >>> with_sums(Z, one, one, one, sums)[1].tolist(), Z[2].tolist()
    ([1.0, 0.0, 1.0], [2.0])
    """
    weight = np.maximum(sums[:, -1], NO_WEIGHT)
    np.divide(sums[:, :-2], weight[:, None], out=Z[-2:])
    t, w = np.append(t, sums[:, -2] / weight), np.append(w, weight)
    return np.append(y, [1.0, 1.0]), t, w


def on_wrong_side(full: Mask, low: Vector, high: Vector, reach: float) -> Mask:
    """Rows that would be fixed on the wrong side, or nearly so.

    Parameters
    ----------
    full : bool array, shape (n,)
        Rows fixed at ``w_i``; the others at 0.
    low, high : float64 array, shape (n,)
        How short of the margin rows are, at least and at most in several fits.
    reach : float
        How near the margin is nearly.

    Examples
    --------
    >>> s = np.array([0.05, 0.2, -0.05, -0.2])
    >>> on_wrong_side(np.array([True, True, False, False]), s, s, 0.1).tolist()
    [True, False, True, False]
    """
    return np.asarray(np.where(full, low < reach, high > -reach))
