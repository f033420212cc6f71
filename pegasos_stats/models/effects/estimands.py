"""What is estimated: means of predictions, their differences and slopes, by rows."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pegasos_stats.arrays import Matrix, Vector

Curve = Literal["probability", "share", "score"]

TOGETHER = 1e7  # scores that are held at once


@dataclass(frozen=True, eq=False)
class Heights:
    """What a prediction is, from the score of a row.

    Attributes
    ----------
    curve : "probability", "share" or "score"
        ``1 / (1 + exp(-(f - shift)))`` of a score ``f``; whether it is above 0; or the
        score itself.
    shift : float
        What weights of the classes have added to scores.
    tie : float
        The share of a score that is exactly 0.
    """

    curve: Curve
    shift: float = 0.0
    tie: float = 0.5

    def of(self, scores: Matrix) -> Matrix:
        """Predictions."""
        if self.curve == "probability":
            return self._chances(scores)
        if self.curve == "share":
            return np.where(scores == 0.0, self.tie, scores > 0.0)
        return scores

    def slope(self, scores: Matrix) -> Matrix:
        """Their derivative by the score; 0 for shares, which are steps."""
        if self.curve == "probability":
            chance = self._chances(scores)
            return chance * (1.0 - chance)
        return np.full_like(scores, float(self.curve == "score"))

    def bend(self, scores: Matrix) -> Matrix:
        """Their second derivative."""
        if self.curve == "probability":
            chance = self._chances(scores)
            return chance * (1.0 - chance) * (1.0 - 2.0 * chance)
        return np.zeros_like(scores)

    def _chances(self, scores: Matrix) -> Matrix:
        from scipy.special import expit

        return np.asarray(expit(scores - self.shift))


@dataclass(frozen=True, eq=False)
class Estimand:
    """A mean over rows: of predictions, of their difference, or of their slope.

    Attributes
    ----------
    shares : float64 array, shape (n,)
        Weights of the rows, whose sum is 1.
    rows : float64 array, shape (n, k)
        Where predictions, or slopes, are taken.
    other : float64 array, shape (n, k), optional
        Rows whose predictions are subtracted.
    direction : float64 array, shape (n, k), optional
        Derivative of `rows` by a predictor: then the mean is of ``dP/df D'theta``.
    offset : float64 array, shape (n,), optional
        Known part of the scores of the rows, whatever becomes of a predictor.
    """

    shares: Vector
    rows: Matrix
    other: Matrix | None = None
    direction: Matrix | None = None
    offset: Vector | None = None

    def values(self, thetas: Matrix, heights: Heights) -> Vector:
        """The mean by each of several fits, shape (b,).

        Parameters
        ----------
        thetas : float64 array, shape (b, k)
        heights : Heights
        """
        size = max(1, int(TOGETHER / len(self.rows)))
        parts = [
            self._some(thetas[first : first + size].T, heights)
            for first in range(0, len(thetas), size)
        ]
        return np.concatenate(parts)

    def _some(self, thetas: Matrix, heights: Heights) -> Vector:
        if self.direction is not None:
            slope = heights.slope(self._scores(self.rows, thetas))
            return np.asarray(self.shares @ (slope * (self.direction @ thetas)))
        each = heights.of(self._scores(self.rows, thetas))
        if self.other is not None:
            each = each - heights.of(self._scores(self.other, thetas))
        return np.asarray(self.shares @ each)

    def gradient(self, theta: Vector, heights: Heights) -> Vector:
        """Derivative of the mean by the coefficients, shape (k,)."""
        scores = self._scores(self.rows, theta)
        slope = self.shares * heights.slope(scores)
        if self.direction is not None:
            bend = self.shares * heights.bend(scores) * (self.direction @ theta)
            return np.asarray(bend @ self.rows + slope @ self.direction)
        found = slope @ self.rows
        if self.other is not None:
            scores = self._scores(self.other, theta)
            found = found - self.shares * heights.slope(scores) @ self.other
        return np.asarray(found)

    def _scores(self, rows: Matrix, thetas: Matrix) -> Matrix:
        """Scores by one fit, or by several, a column for each."""
        scores = np.asarray(rows @ thetas)
        if self.offset is None:
            return scores
        return scores + (self.offset if thetas.ndim == 1 else self.offset[:, None])
