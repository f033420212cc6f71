"""Separation: rows of the log loss whose scores only the penalty limits.

Without penalty the log loss has no minimum where some direction ``b`` lowers no margin
and raises some: ``y_i z_i'b >= 0`` in all rows, ``> 0`` in these (Albert & Anderson). A
linear programme finds it (Konis), and by repetition all such rows: complete separation
if they are all rows. The others determine what has an estimate.

It is looked for if Newton's step without the penalty raises the margin of a row by 1 or
more. Where rows are separated by ``b`` there is such a row: the step ``d`` solves

    sum_i v_i z_i z_i'd = sum_i v_i z_i y_i / (1 - s_i),    v_i = w_i s_i (1 - s_i),

which, times ``b``, says that a weighted mean of ``y_i z_i'd`` over the separated rows
is one of ``1 / (1 - s_i)``, above 1. Complete separation is reported if most rows are
predicted with a probability above 0.999: a larger penalty gives all coefficients a
value of its own. It is not looked for with more than 500 coefficients or 100 predictors
of a row that are not 0, which might take more than a second or two, nor in more than 20
passes.

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

CERTAIN = 1e-3  # probability of the other level, in rows that are predicted surely
SAME = 1e-8  # rounding of columns, of combinations, and of margins by a direction
MOST_COLUMNS = 500  # coefficients of a programme; rows that a pass adds to it


class DirectionPass(NamedTuple):
    """What a pass over rows says of a direction, after others that separate rows.

    Attributes
    ----------
    margins : float64 array, shape (m,)
        Of the violated rows, from the lowest, each times a random number: else the
        worst ones might be alike.
    violated : float64 array, shape (m, k)
        Rows ``y_i z_i`` that the direction moves back.
    total : float64 array, shape (k,)
        ``sum_i y_i z_i`` over the rows that no direction separates.
    number, certain : int
        Rows that some direction separates; and of these the `CERTAIN` ones.
    """

    margins: Vector
    violated: Matrix
    total: Vector
    number: int
    certain: int

    def plus(self, other: "DirectionPass") -> "DirectionPass":
        """The same of the rows of both."""
        margins = np.concatenate([self.margins, other.margins])
        worst = np.argsort(margins)[:MOST_COLUMNS]
        return DirectionPass(
            margins[worst],
            np.concatenate([self.violated, other.violated])[worst],
            self.total + other.total,
            self.number + other.number,
            self.certain + other.certain,
        )


Look = Callable[[Matrix, Vector | None], DirectionPass]


class Separation(NamedTuple):
    """How many rows are separated, and the directions that do it, shape (q, k)."""

    number: int
    directions: Matrix


def separated_by(Z: Matrix, y: Vector, w: Vector, directions: Matrix) -> Mask:
    """Rows with a weight to whose margins some direction adds, shape (n,).

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
    """Take a direction; without one the rows with the largest ``s_i`` are violated."""
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
    """The largest number of each column, or 1 if all are 0."""
    scale = np.abs(rows).max(axis=0, initial=0.0)
    return np.where(scale == 0.0, 1.0, scale)


def best_direction(total: Vector, rows: Matrix) -> Vector:
    """Maximise ``total'b`` with ``rows b >= 0`` and ``|b_j| <= 1`` by their scales."""
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
    """Whether programmes might take more than a second or two."""
    rows = start.violated
    many = np.count_nonzero(rows) > 100 * len(rows)
    return len(start.total) > MOST_COLUMNS or bool(many)


def separating_directions(
    look: Look, start: DirectionPass, most: float = math.inf
) -> tuple[DirectionPass, Matrix] | None:
    """The last pass, and the directions before it that separate rows, shape (q, k).

    A programme starts with the rows that are predicted worst. Rows that its solution
    moves back are added to it, until there are none: then it is the solution for all
    rows, and those that it moves forward are separated. The others are looked at in the
    same way. Where they all stay, no other row is separated.

    Parameters
    ----------
    look : callable
        Gives `pass_over` of all rows for a direction, after others.
    start : DirectionPass
        That of no direction.
    most : int, optional
        Directions that are enough.

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
        at = look(directions, b)
        rows = np.concatenate([rows, at.violated])
        if len(at.violated):
            continue
        if at.number == last.number:
            return last, directions
        last, total, rows = at, at.total, rows[rows @ b <= SAME]
        directions = np.vstack([directions, b])
        if len(directions) == most:
            return last, directions
    return None


def first_direction(
    look: Callable[[Vector | None], DirectionPass], k: int
) -> Vector | None:
    """A direction that separates rows; zeros if none does, None if undecided.

    Parameters
    ----------
    look : callable
        Gives `pass_over` of all rows for a direction, after no others.
    k : int
        Number of coefficients.
    """
    start = look(None)
    if is_too_large(start):
        return None
    result = separating_directions(lambda _, b: look(b), start, most=1)
    return None if result is None else np.asarray([*result[1], np.zeros(k)][0])


def find_separation(look: Look, theta: Vector, n: int) -> Separation | None:
    """The separated rows; None if there are none, or all with few that are certain.

    Where the fit itself has every row on the right side, no programme is needed.

    Parameters
    ----------
    look : callable
        As for `separating_directions`.
    theta : float64 array, shape (k,)
        Of the fit.
    n : int
        Rows with a weight.
    """
    none = np.zeros((0, len(theta)))
    start = look(none, None)
    rows = start.violated
    if is_too_large(start):
        return None
    if theta.any() and (rows @ theta > 0.0).all():
        b = theta / np.abs(theta * scales(rows)).max()
        at = look(none, b)
        if at.number == n:
            return Separation(n, b[None]) if at.certain >= n / 2.0 else None
    result = separating_directions(look, start)
    if result is None:
        return None
    last, directions = result
    if not last.number or (last.number == n and last.certain < n / 2.0):
        return None
    return Separation(last.number, directions)


@dataclass(frozen=True, eq=False)
class IdentifiedPart:
    """Coefficients that the rows without the separated ones determine.

    Their scores are ``X' beta' + alpha'`` with the columns ``X'`` that are independent
    of each other there.

    Attributes
    ----------
    columns : int array, shape (k',)
        Of the ``k`` coefficients those of these columns, the intercept first.
    change : float64 array, shape (k', k)
        ``theta' = change theta``.
    unbounded : float64 array, shape (k, q)
        Directions in which scores of these rows do not change: a combination ``R
        theta`` is determined if ``R`` is at right angles to all.
    """

    columns: NDArray[np.intp]
    change: Matrix
    unbounded: Matrix

    @classmethod
    def by(cls, H: Matrix) -> "IdentifiedPart":
        """That of the independent columns, by ``H = sum_i d_i z_i z_i'``.

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
        """That of these columns, of which the others are combinations.

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
        """A matrix or vector of these coefficients as one of all; 0 elsewhere."""
        k = self.change.shape[1]
        whole = np.zeros((k,) * array.ndim)
        whole[np.ix_(*[self.columns] * array.ndim)] = array
        return whole


def images(R: Matrix, directions: Matrix | None) -> Matrix | None:
    """``R b`` of directions ``b`` of the coefficients, rounding being 0."""
    if directions is None:
        return None
    moved, size = R @ directions, np.abs(R) @ np.abs(directions)
    return np.asarray(np.where(np.abs(moved) > SAME * size, moved, 0.0))


def is_unbounded(R: Matrix, unbounded: Matrix | None) -> Mask:
    """Which of the combinations ``R theta`` nothing but the penalty limits, shape (m,).

    Examples
    --------
    >>> away = np.array([[-1.0], [1.0], [1.0]])
    >>> is_unbounded(np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, -1]]), away)
    array([ True, False, False])
    """
    moved = images(R, unbounded)
    return np.zeros(len(R), bool) if moved is None else np.asarray(moved.any(axis=1))
