"""What estimated means and deviations of standardized predictors add to the sandwich.

A fit with ``standardize=True`` solves the equations of the penalised risk, of the means
and of the deviations together. On predictors as they were the means drop out and the
penalty is ``lam/2 sum_j (scale_j b_j)^2``, so the score of row ``i`` has ``lam beta_j
(x_ij^2 - 1)`` added for every standardized ``x_j``. On the standardized scale
coefficients move with ``scale_j``, by ``beta_j (x_ij^2 - 1) / 2``, and the intercept
with the means, by ``sum_j beta_j x_ij``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.groups import Groups
from pegasos_stats.models.inference.bread_and_meat import groups_of
from pegasos_stats.models.inference.clustering import ways_of
from pegasos_stats.models.inference.row_sums import blocks_of, column_sums
from pegasos_stats.models.inference.symmetric import around
from pegasos_stats.solvers.problem import Problem


class Stacked(NamedTuple):
    """Means over the rows of products of their scores and their moves.

    Attributes
    ----------
    scores : float64 array, shape (k, k)
        ``mean S_i S_i'``, the meat with the scores of the penalty.
    mixed : float64 array, shape (k, k)
        ``mean S_i D_i'``, with the moves of the coefficients.
    moves : float64 array, shape (k, k)
        ``mean D_i D_i'``.
    """

    scores: Matrix
    mixed: Matrix
    moves: Matrix

    def add(self, scores: Matrix, moves: Matrix, factor: float) -> None:
        """Add the products of independent scores and moves, a row each."""
        self.scores[:] += factor * (scores.T @ scores)
        self.mixed[:] += factor * (scores.T @ moves)
        self.moves[:] += factor * (moves.T @ moves)

    def covariances(self, inverse: Matrix, n: float) -> tuple[Matrix, Matrix]:
        """Covariance of ``-H^-1 S + D``, and of ``-H^-1 S``, means of n rows.

        That is of the coefficients on the standardized scale; and, with the scaling of
        the fit undone, on the original one.
        """
        fixed = around(inverse, self.scores) / n
        turned = inverse @ self.mixed / n
        return fixed - turned - turned.T + self.moves / n, fixed


class Stacking(NamedTuple):
    """What scores and moves of a row are made of beside the row.

    Attributes
    ----------
    lam : float
    intercept : bool
    beta, means, variances : float64 array, shape (p,)
        Coefficients; means and variances of the columns, with divisor ``n``.
    centred : bool
        Whether the intercept moves with the means.
    """

    lam: float
    intercept: bool
    beta: Vector
    means: Vector
    variances: Vector
    centred: bool

    def of(
        self, X: Matrix, factors: Vector, offsets: Sequence[tuple[Vector, Vector]]
    ) -> tuple[Matrix, Matrix]:
        """Scores ``S_i`` and moves ``D_i`` of some rows, shape (m, k) both.

        Parameters
        ----------
        X : float64 array, shape (m, p)
        factors : float64 array, shape (m,)
            By which rows are multiplied to be their scores.
        offsets : sequence of (factors, mean)
            What is subtracted from the scores: a mean for each group of rows.
        """
        first, (m, p) = int(self.intercept), X.shape
        scores, moves = np.ones((m, p + first)), np.zeros((m, p + first))
        scores[:, first:] = X
        scores *= factors[:, None]
        for factor, mean in offsets:
            scores -= factor[:, None] * mean
        apart = X - self.means
        spread = np.square(apart) - self.variances
        scores[:, first:] += self.lam * self.beta * spread
        moves[:, first:] = 0.5 * self.beta * spread
        if self.centred:
            moves[:, 0] = apart @ self.beta
        return scores, moves


def stacked(
    problem: Problem,
    beta: Vector,
    s: Vector,
    stretch: Vector | float,
    centred: bool,
    groups: Groups | None = None,
) -> Stacked:
    """Sum over the rows, some at a time.

    Parameters
    ----------
    problem : Problem
        With the standardized predictors.
    beta : float64 array, shape (p,)
    s : float64 array, shape (n,)
        Slope weights.
    stretch : float64 array, shape (n,), or 1
        By which the score of a row is multiplied.
    centred : bool
        Whether means were subtracted, and not only deviations divided by.
    groups : Groups, optional
        Of rows whose scores and moves are added before they are multiplied.
    """
    first, n = int(problem.intercept), problem.n
    w, g = problem.row_weights, -s * problem.y
    factors, offsets = np.broadcast_to(stretch * w, (n,)), []
    for group in groups_of(problem):
        weights = np.where(group, w, 0.0)
        mean = column_sums(problem, weights * g) / weights.sum()
        offsets.append((np.where(group, factors, 0.0), mean))
    alone = Problem(problem.X, problem.y, problem.lam, intercept=False)
    means = column_sums(alone, np.ones(n)) / n
    variances = sum(
        np.square(dense_of(block) - means).sum(axis=0)
        for block, _ in blocks_of(problem.X)
    )
    k = problem.p + first
    found = Stacked(*(np.zeros((k, k)) for _ in range(3)))
    ways = [] if groups is None else ways_of(groups)
    shapes = [(way.indicator.shape[0], k) for way in ways]
    totals = [(np.zeros(shape), np.zeros(shape)) for shape in shapes]
    stacking = Stacking(
        problem.lam, bool(first), beta, means, variances / n, bool(first and centred)
    )
    for block, rows in blocks_of(problem.X):
        here = [(factor[rows], mean) for factor, mean in offsets]
        scores, moves = stacking.of(dense_of(block), (factors * g)[rows], here)
        if not ways:
            found.add(scores, moves, 1.0 / n)
        for way, (all_scores, all_moves) in zip(ways, totals, strict=True):
            all_scores += way.indicator[:, rows] @ scores
            all_moves += way.indicator[:, rows] @ moves
    for way, sums in zip(ways, totals, strict=True):
        found.add(*sums, way.factor / n)
    return found


def dense_of(block: object) -> Matrix:
    """Rows as an array, sparse ones too."""
    found = block if isinstance(block, np.ndarray) else block.toarray()  # type: ignore[attr-defined]
    return np.asarray(found, dtype=np.float64)
