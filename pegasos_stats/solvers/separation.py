"""Separation: rows whose scores in logistic regression are infinite without penalty.

Without a penalty the log loss has no minimum if some direction ``b`` separates rows:
``y_i z_i'b >= 0`` for all rows, and ``> 0`` for the separated ones (Albert & Anderson).
A linear program finds such a direction (Konis). Repeating it for the remaining rows
finds all separated rows. If these are all rows, separation is complete. Otherwise the
remaining rows determine which coefficients have an estimate.

The search starts if a Newton step without the penalty raises the margin of some row by
1 or more. If a direction ``b`` separates rows, such a row exists. The step ``d`` solves

    sum_i v_i z_i z_i'd = sum_i v_i z_i y_i / (1 - s_i),    v_i = w_i s_i (1 - s_i).

The product with ``b`` shows that two weighted means over the separated rows are equal:
those of ``y_i z_i'd`` and of ``1 / (1 - s_i)``, which is above 1.

Complete separation is reported if at least half of the rows are predicted with a
probability above 0.999. Otherwise the penalty is large enough to determine all
coefficients. There is no search with more than 500 coefficients, or with more than 100
non-zero predictors per row, because it might take more than a second or two. The search
stops after 20 passes.

References
----------
Albert & Anderson, Biometrika 71 (1984). Konis, *Linear programming algorithms for
detecting separated data in binary logistic regression models*, Oxford (2007).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Mask, Matrix, Vector
from pegasos_stats.solvers.sums import TINY, pivots, solved

CERTAIN = 1e-3  # largest probability of the other class in a certain prediction
SAME = 1e-8  # relative size of rounding errors in columns, combinations and margins
# Maximum numbers of coefficients of a linear program, and of rows added by a pass.
MOST_COLUMNS = 500


class DirectionPass(NamedTuple):
    """Result of a pass over the rows for one direction, besides earlier directions.

    Attributes
    ----------
    margins : float64 array, shape (m,)
        Margins of the violated rows, in ascending order. Each is multiplied by a random
        number; otherwise the worst rows might all be similar.
    violated : float64 array, shape (m, k)
        Rows ``y_i z_i`` whose margin the direction lowers.
    total : float64 array, shape (k,)
        ``sum_i y_i z_i`` over the rows that no direction separates.
    n_separated, n_certain : int
        Number of rows that some direction separates, and of certain predictions among
        them, see `CERTAIN`.
    """

    margins: Vector
    violated: Matrix
    total: Vector
    n_separated: int
    n_certain: int

    def plus(self, other: "DirectionPass") -> "DirectionPass":
        """Combine with the pass over other rows."""
        margins = np.concatenate([self.margins, other.margins])
        worst = np.argsort(margins)[:MOST_COLUMNS]
        return DirectionPass(
            margins[worst],
            np.concatenate([self.violated, other.violated])[worst],
            self.total + other.total,
            self.n_separated + other.n_separated,
            self.n_certain + other.n_certain,
        )


RunPass = Callable[[Matrix, Vector | None], DirectionPass]


class Separation(NamedTuple):
    """Number of separated rows, and the directions that separate them, shape (q, k)."""

    n_separated: int
    directions: Matrix


def separated_by(Z: Matrix, y: Vector, w: Vector, directions: Matrix) -> Mask:
    """Mark the rows of positive weight that some direction separates, shape (n,).

    Examples
    --------
    >>> Z = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> separated_by(Z, np.ones(2), np.ones(2), np.array([[0.0, 1.0]]))
    array([False,  True])
    """
    separated = np.zeros(len(y), dtype=bool)
    for b in directions:
        separated |= y * (Z @ b) > SAME
    return separated & (w > 0.0)


def pass_over(
    Z: Matrix, y: Vector, w: Vector, s: Vector, directions: Matrix, b: Vector | None
) -> DirectionPass:
    """Evaluate a direction; without one, rows with large ``s_i`` count as violated."""
    separated = separated_by(Z, y, w, directions)
    margins = -s if b is None else y * (Z @ b)
    rest = (w > 0.0) & ~separated
    violated = np.flatnonzero(rest & (margins < -SAME))
    lowest = margins[violated] * np.random.default_rng(0).random(len(violated))
    worst = np.argsort(lowest)[:MOST_COLUMNS]
    violated = violated[worst]
    separated |= rest & (margins > SAME)
    return DirectionPass(
        lowest[worst],
        y[violated, None] * Z[violated],
        np.where(rest & ~separated, y, 0.0) @ Z,
        int(separated.sum()),
        int((separated & (s < CERTAIN)).sum()),
    )


def scales(rows: Matrix) -> Vector:
    """Largest absolute value of each column, or 1 if all are 0."""
    scale = np.abs(rows).max(axis=0, initial=0.0)
    return np.where(scale == 0.0, 1.0, scale)


def best_direction(total: Vector, rows: Matrix) -> Vector:
    """Maximise ``total'b`` with ``rows b >= 0`` and ``|b_j| <= 1 / scale_j``."""
    from scipy.optimize import linprog

    scale = scales(rows)
    optimum = linprog(
        -total / scale,
        A_ub=-rows / scale,
        b_ub=np.zeros(len(rows)),
        bounds=(-1.0, 1.0),
        options={"primal_feasibility_tolerance": 1e-9},
    )
    return np.zeros(len(total)) if optimum.x is None else np.asarray(optimum.x / scale)


def is_too_large(start: DirectionPass) -> bool:
    """Whether the linear programs might take more than a second or two."""
    rows = start.violated
    many = np.count_nonzero(rows) > 100 * len(rows)
    return len(start.total) > MOST_COLUMNS or bool(many)


def separating_directions(
    run_pass: RunPass, start: DirectionPass, most: float = math.inf
) -> tuple[DirectionPass, Matrix] | None:
    """Return the last pass, and all directions that separate rows, shape (q, k).

    The first linear program contains the rows that are predicted worst. Rows whose
    margin its solution lowers are added until there are none. The solution then holds
    for all rows, and separates those whose margin it raises. The search is repeated for
    the remaining rows until it separates no further row.

    Parameters
    ----------
    run_pass : callable
        Returns `pass_over` of all rows, for earlier directions and a new one.
    start : DirectionPass
        The pass without a direction.
    most : int, optional
        Largest number of directions.

    Returns
    -------
    tuple or None
        None if 20 passes do not decide.
    """
    last, total, rows = start, start.total, start.violated
    directions = np.zeros((0, len(total)))
    for _ in range(20):
        b = best_direction(total, rows)
        if total @ b <= SAME:
            return last, directions
        result = run_pass(directions, b)
        rows = np.concatenate([rows, result.violated])
        if len(result.violated):
            continue
        if result.n_separated == last.n_separated:
            return last, directions
        last, total, rows = result, result.total, rows[rows @ b <= SAME]
        directions = np.vstack([directions, b])
        if len(directions) == most:
            return last, directions
    return None


def first_direction(
    run_pass: Callable[[Vector | None], DirectionPass], k: int
) -> Vector | None:
    """Return a direction that separates rows; zeros if none does, None if undecided.

    Parameters
    ----------
    run_pass : callable
        Returns `pass_over` of all rows for a direction.
    k : int
        Number of coefficients.
    """
    start = run_pass(None)
    if is_too_large(start):
        return None
    result = separating_directions(lambda _, b: run_pass(b), start, most=1)
    return None if result is None else np.asarray([*result[1], np.zeros(k)][0])


def find_separation(run_pass: RunPass, theta: Vector, n: int) -> Separation | None:
    """Find the separated rows; a fit without training errors needs no linear program.

    Parameters
    ----------
    run_pass : callable
        As for `separating_directions`.
    theta : float64 array, shape (k,)
        Coefficients of the fit.
    n : int
        Number of rows of positive weight.

    Returns
    -------
    Separation or None
        None if no row is separated, if the search is too large or undecided, or if all
        rows are separated but fewer than half of the predictions are certain.
    """
    none = np.zeros((0, len(theta)))
    start = run_pass(none, None)
    rows = start.violated
    if is_too_large(start):
        return None
    if theta.any() and (rows @ theta > 0.0).all():
        b = theta / np.abs(theta * scales(rows)).max()
        of_fit = run_pass(none, b)
        if of_fit.n_separated == n:
            return Separation(n, b[None]) if of_fit.n_certain >= n / 2.0 else None
    result = separating_directions(run_pass, start)
    if result is None:
        return None
    last, directions = result
    is_complete = last.n_separated == n
    if not last.n_separated or (is_complete and last.n_certain < n / 2.0):
        return None
    return Separation(last.n_separated, directions)


@dataclass(frozen=True, eq=False)
class IdentifiedPart:
    """Coefficients that are determined by the rows that no direction separates.

    The scores of these rows are ``X' beta' + alpha'`` with linearly independent columns
    ``X'``.

    Attributes
    ----------
    columns : int array, shape (k',)
        Positions of the columns ``X'`` among all ``k``; the intercept is column 0.
    change : float64 array, shape (k', k)
        ``theta' = change theta``.
    unbounded : float64 array, shape (k, q)
        Directions that do not change the scores of these rows. A combination ``R
        theta`` is determined if ``R`` is orthogonal to all of them.
    """

    columns: NDArray[np.intp]
    change: Matrix
    unbounded: Matrix

    @classmethod
    def by(cls, H: Matrix) -> "IdentifiedPart":
        """Select independent columns, by ``H = sum_i d_i z_i z_i'``.

        Examples
        --------
        >>> Z = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 3.0], [1.0, 0.0, 5.0]])
        >>> identified = IdentifiedPart.by(Z.T @ Z)
        >>> identified.columns, identified.unbounded.T
        (array([0, 2]), array([[0., 1., 0.]]))
        """
        size = np.sqrt(np.diag(H) + (np.diag(H) == 0.0))
        residuals = pivots(H / size / size[:, None], SAME)
        return cls.of_columns(H, np.flatnonzero(residuals > SAME))

    @classmethod
    def of_columns(cls, H: Matrix, columns: NDArray[np.intp]) -> "IdentifiedPart":
        """Use these columns; the others are linear combinations of them.

        Examples
        --------
        >>> Z = np.array([[1.0, 1.0, 2.0], [1.0, 3.0, 4.0], [1.0, 5.0, 6.0]])
        >>> identified = IdentifiedPart.of_columns(Z.T @ Z, np.array([0, 1]))
        >>> identified.unbounded.T.round(6)
        array([[-1., -1.,  1.]])
        """
        k, others = len(H), np.setdiff1d(np.arange(len(H)), columns)
        inner, A = H[np.ix_(columns, columns)], np.zeros((len(columns), len(others)))
        for place, j in enumerate(others):
            A[:, place] = solved(inner, H[columns, j])
        size = np.sqrt(np.maximum(np.diag(H), TINY))
        A[np.abs(A) * size[columns, None] < SAME * size[others]] = 0.0
        change, unbounded = np.eye(k)[columns], np.eye(k)[:, others]
        change[:, others], unbounded[columns] = A, 0.0 - A
        return cls(columns, change, unbounded)

    def spread(self, array: Matrix) -> Matrix:
        """Expand a vector or matrix to all coefficients, with zeros elsewhere."""
        k = self.change.shape[1]
        whole = np.zeros((k,) * array.ndim)
        whole[np.ix_(*[self.columns] * array.ndim)] = array
        return whole


def images(R: Matrix, directions: Matrix | None) -> Matrix | None:
    """Return ``R b`` for directions ``b``, with rounding errors replaced by 0."""
    if directions is None:
        return None
    products, size = R @ directions, np.abs(R) @ np.abs(directions)
    return np.asarray(np.where(np.abs(products) > SAME * size, products, 0.0))


def is_unbounded(R: Matrix, unbounded: Matrix | None) -> Mask:
    """Whether only the penalty limits each combination ``R theta``, shape (m,).

    Examples
    --------
    >>> unbounded = np.array([[-1.0], [1.0], [1.0]])
    >>> is_unbounded(np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, -1]]), unbounded)
    array([ True, False, False])
    """
    products = images(R, unbounded)
    if products is None:
        return np.zeros(len(R), bool)
    return np.asarray(products.any(axis=1))
