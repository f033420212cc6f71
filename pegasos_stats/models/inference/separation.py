"""Separation: rows of the log loss whose scores only the penalty limits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.columns import Mask
from pegasos_stats.models.inference.inverse import solved
from pegasos_stats.models.inference.row_sums import column_sums, cross_product, images
from pegasos_stats.solvers.problem import Problem

SURE, CERTAIN = 1e-3, 5e-3  # probability of the other level: of most rows, of separated
ONWARD = 0.5  # of a Newton step without penalty, which is 1 where there is no minimum
STILL = 0.02  # moves of the other rows, once they are where they would be without it
MOSTLY = 0.5  # of the rows: with fewer that are sure the penalty shrinks all scores
ALONG = (0.0, 1.0, 10.0)  # Newton steps without penalty, after which no row is wrong
AGAIN, MOST, MOST_READS = 3, 25, 5  # steps in a row that do so, of so many at most
SAME = 1e-8  # rounding of columns, and of combinations


class Onward(NamedTuple):
    """What Newton steps without penalty do to some rows, as counts and sums.

    Attributes
    ----------
    used, sure : int
        Rows with a weight; and those that were sure at the optimum.
    apart, doubtful : int
        Rows to whose margins each step adds more than `ONWARD`; and of these those that
        were not certain at the optimum.
    moving : int
        Other rows that the last step moves by more than `STILL`.
    wrong : int64 array, shape (3,)
        Rows on the wrong side after so many of the first step as `ALONG` says.
    curvature : float64 array, shape (k, k)
    slopes : float64 array, shape (k,)
        ``sum_i w_i s_i (1 - s_i) z_i z_i'`` and ``sum_i w_i s_i y_i z_i`` after all.
    """

    used: int
    sure: int
    apart: int
    doubtful: int
    moving: int
    wrong: NDArray[np.int64]
    curvature: Matrix
    slopes: Vector


@np.errstate(all="ignore")  # of certain rows, and of a file that was edited
def onward(problem: Problem, s: Vector, steps: list[Vector]) -> Onward:
    """Take these steps from the optimum, where ``s_i = 1 / (1 + exp(m_i))``."""
    w, y = problem.row_weights, problem.y
    gains = [y * images(problem, step) for step in steps]
    margins = np.log1p(-s) - np.log(s)
    known = margins - y * problem.row_offsets
    used, apart = w > 0.0, apart_by(problem, steps, gains)
    moving = used & ~apart & ~(np.abs(gains[-1]) <= STILL)
    wrong = [np.sum(used & ~(known + along * gains[0] > 0.0)) for along in ALONG]
    after = 1.0 / (1.0 + np.exp(margins + sum(gains)))
    return Onward(
        int(used.sum()),
        int((used & (s < SURE)).sum()),
        int(apart.sum()),
        int((apart & (s > CERTAIN)).sum()),
        int(moving.sum()),
        np.array(wrong),
        cross_product(problem, w * after * (1.0 - after)),
        column_sums(problem, w * after * y),
    )


def apart_by(
    problem: Problem, steps: list[Vector], gains: list[Vector] | None = None
) -> Mask:
    """Rows to whose margins each of the last steps adds more than `ONWARD`."""
    last = steps[-AGAIN:]
    if gains is None:
        gains = [problem.y * images(problem, step) for step in last]
    grow = np.all([gain > ONWARD for gain in gains[-AGAIN:]], axis=0)
    return np.asarray(grow & (problem.row_weights > 0.0))


class Separated(NamedTuple):
    """How many rows are separated; and the steps by which they are told."""

    number: int
    steps: list[Vector]


def separated(
    taken: Callable[[list[Vector]], Onward],
    curvature: Matrix,
    slopes: Vector,
    n: int,
    in_reads: bool = False,
) -> Separated:
    """Which of ``n`` rows have scores that nothing but the penalty limits.

    Where all rows of a level of a factor have the same outcome, or the outcomes can be
    told apart altogether, the mean log loss has no minimum: Newton steps without
    penalty add about 1 to the margins of such rows, however many are taken, and bring
    other rows to where they stay. All rows are separated where most are predicted with
    certainty, and the fit, or one farther out, has no row on the wrong side. A penalty
    that shrinks all scores is not taken for one that only keeps them finite: separated
    rows are not certain there.

    Parameters
    ----------
    taken : callable
        Gives `Onward` of all rows after these steps from the optimum.
    curvature, slopes : float64 array, shape (k, k) and (k,)
        At the optimum, as of `Onward`.
    n : int
    in_reads : bool
        Whether each step is a read of files: fewer are taken, and none after one by
        which rows are apart that were not certain.
    """
    none, steps, again = Separated(0, []), [], 0
    if not np.isfinite(curvature).all():
        return none
    columns = np.arange(len(slopes))
    if solved(curvature, slopes) is None:  # some depend on others
        columns = Determined.by(curvature).columns
    for _ in range(MOST_READS if in_reads else MOST):
        step = np.zeros(len(slopes))
        moves = solved(curvature[np.ix_(columns, columns)], slopes[columns])
        if moves is None or not np.isfinite(moves).all():
            break  # no curvature is left
        step[columns] = moves
        steps.append(step)
        found = taken(steps)
        is_sure = len(steps) == 1 and found.sure >= MOSTLY * found.used
        if is_sure and not found.wrong.all():
            return Separated(n, steps)
        if not found.apart or (found.doubtful and in_reads):
            return none
        again = 0 if found.moving else again + 1
        if again == AGAIN:
            break
        curvature, slopes = found.curvature, found.slopes
    if not again or found.doubtful:
        return none
    return Separated(found.apart, steps)


def separated_rows(problem: Problem, s: Vector) -> Separated:
    """The same of rows in memory, with ``s_i = 1 / (1 + exp(m_i))`` at the optimum.

    Examples
    --------
    All rows with ``x = 1`` are positive: ``beta`` is what the penalty lets it be.

    >>> X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    >>> problem = Problem(X, np.array([-1.0, 1.0, 1.0, 1.0, 1.0]), lam=1e-9, loss="log")
    >>> separated_rows(problem, np.array([0.5, 0.5, 3e-8, 3e-8, 3e-8])).number
    3

    No row is wrong, but few are certain where the penalty is larger.

    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = Problem(X, y, lam=1e-6, loss="log")
    >>> s = 1.0 / (1.0 + np.exp([14.0, 7.0, 7.0, 14.0]))
    >>> [separated_rows(problem, each).number for each in (s, s**0.25)]
    [4, 0]
    """
    if not (s < CERTAIN).any():
        return Separated(0, [])
    w = problem.row_weights
    at = (
        cross_product(problem, w * s * (1.0 - s)),
        column_sums(problem, w * s * problem.y),
    )
    return separated(lambda steps: onward(problem, s, steps), *at, problem.n)


@dataclass(frozen=True, eq=False)
class Determined:
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
    def by(cls, H: Matrix) -> "Determined":
        """From ``H = sum_i d_i z_i z_i'`` of these rows.

        Examples
        --------
        >>> Z = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 3.0], [1.0, 0.0, 5.0]])
        >>> found = Determined.by(Z.T @ Z)
        >>> found.columns, found.unbounded.T
        (array([0, 2]), array([[0., 1., 0.]]))
        """
        k, chosen = len(H), []
        left, diagonal = H.copy(), np.diag(H).copy()
        for j in range(k):  # Gauss and Jordan's, the columns in their order
            if left[j, j] <= SAME * diagonal[j] or diagonal[j] <= 0.0:
                continue
            chosen.append(j)
            rest = left[j] / left[j, j]
            left = left - np.outer(left[:, j], rest)
            left[j], left[:, j] = 0.0, 0.0
        columns = np.array(chosen, dtype=np.intp)
        others = np.setdiff1d(np.arange(k), columns)
        inner = H[np.ix_(columns, columns)]
        A = np.linalg.lstsq(inner, H[np.ix_(columns, others)])[0]
        A[np.abs(A) < SAME] = 0.0
        change, unbounded = np.zeros((len(columns), k)), np.zeros((k, len(others)))
        change[np.arange(len(columns)), columns] = 1.0
        change[:, others] = A
        unbounded[others, np.arange(len(others))] = 1.0
        unbounded[columns] = 0.0 - A
        return cls(columns, change, unbounded)

    def put_back(self, directions: Matrix | None) -> Matrix:
        """Directions of ``theta'`` as some of ``theta``, shape (k, q)."""
        if directions is None:
            return np.zeros((self.change.shape[1], 0))
        found = np.zeros((self.change.shape[1], directions.shape[1]))
        found[self.columns] = directions
        return found

    def spread(self, array: Matrix) -> Matrix:
        """A matrix or vector of these coefficients as one of all; 0 elsewhere."""
        k = self.change.shape[1]
        found = np.zeros((k,) * array.ndim)
        found[np.ix_(*[self.columns] * array.ndim)] = array
        return found


def is_unbounded(R: Matrix, unbounded: Matrix) -> Mask:
    """Which of the combinations ``R theta`` nothing but the penalty limits, shape (m,).

    Examples
    --------
    >>> away = np.array([[-1.0], [1.0], [1.0]])
    >>> is_unbounded(np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, -1]]), away)
    array([ True, False, False])
    """
    size = np.abs(R) @ np.abs(unbounded)
    return np.asarray((np.abs(R @ unbounded) > SAME * size).any(axis=1))
