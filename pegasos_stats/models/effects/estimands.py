"""Estimands: mean predictions, differences, slopes; with standard errors."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.labels import AT_ZERO
from pegasos_stats.models.inference.covariance import (
    BootstrapResult,
    Covariance,
    Estimate,
)
from pegasos_stats.models.inference.separation import MOSTLY, is_unbounded
from pegasos_stats.models.inference.wald import ContrastTests

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
    shift : float, or float64 array, shape (b,)
        What weights of the classes have added to scores; of several fits each.
    tie : float
        The share of a score that is 0, to within 1e-5, as ties hold it there.
    """

    curve: Curve
    shift: float | Vector = 0.0
    tie: float = 0.5

    def of(self, scores: Matrix) -> Matrix:
        """Predictions."""
        if self.curve == "probability":
            return self._chances(scores)
        if self.curve == "share":
            at_zero = np.abs(scores) <= AT_ZERO
            return np.where(at_zero, self.tie, scores > 0.0)
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

    def values(
        self, thetas: Matrix, heights: Heights, shifts: Vector | None = None
    ) -> Vector:
        """The mean by each of several fits, shape (b,).

        Parameters
        ----------
        thetas : float64 array, shape (b, k)
        heights : Heights
        shifts : float64 array, shape (b,), optional
            Of each fit, in the place of that of `heights`.
        """
        size = max(1, int(TOGETHER / len(self.rows)))
        parts = []
        for first in range(0, len(thetas), size):
            some = slice(first, first + size)
            at = heights if shifts is None else replace(heights, shift=shifts[some])
            parts.append(self._some(thetas[some].T, at))
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

    def by_shift(self, theta: Vector, heights: Heights) -> float:
        """Derivative of the mean by what is taken off the scores."""
        if heights.curve != "probability":
            return 0.0
        scores = self._scores(self.rows, theta)
        if self.direction is not None:
            bend = heights.bend(scores) * (self.direction @ theta)
            return -float(self.shares @ bend)
        slope = heights.slope(scores)
        if self.other is not None:
            slope = slope - heights.slope(self._scores(self.other, theta))
        return -float(self.shares @ slope)

    def is_apart(self, unbounded: Matrix) -> bool:
        """Whether most of its rows, or of the others, have scores without limit."""
        taken = [self.rows] if self.other is None else [self.rows, self.other]
        grow = [self.shares @ is_unbounded(rows, unbounded) for rows in taken]
        return bool(max(grow) >= MOSTLY)

    def _scores(self, rows: Matrix, thetas: Matrix) -> Matrix:
        """Scores by one fit, or by several, a column for each."""
        scores = np.asarray(rows @ thetas)
        if self.offset is None:
            return scores
        return scores + (self.offset if thetas.ndim == 1 else self.offset[:, None])


def tested(
    theta: Vector,
    errors: Estimate | None,
    estimands: Iterable[tuple[str, Estimand]],
    heights: Heights,
    solver_noise: Vector | None,
) -> ContrastTests:
    """Estimate each mean, with its error.

    The rows are taken as they are: errors are those of the coefficients. By the delta
    method the variance is ``g' V g``, with the gradient ``g`` of the mean and the
    covariance ``V`` of the coefficients; from resamples it is that of the mean by the
    coefficients of each resample, and so are intervals. Where balanced weights were
    taken off, both allow for what that depends on, the shares of the classes. There is
    none of predictions for separated rows, which vary by chance but not with the
    coefficients.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    errors : Covariance, BootstrapResult or None
        Of `theta`, for the predictors as the rows of the estimands have them.
    estimands : iterable of pairs (name, Estimand)
    heights : Heights
    solver_noise : float64 array, shape (k,), or None
        What of each coefficient is the solver's.

    Examples
    --------
    >>> one = Estimand(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> tested(np.zeros(2), None, [("mean", one)], Heights("probability"), None).effect
    array([0.5])
    """
    resampled = errors if isinstance(errors, BootstrapResult) else None
    priors = None if resampled is None else resampled.priors
    free = None if errors is None else errors.unbounded
    names, values, gradients, replicates, by_shift, apart = [], [], [], [], [], []
    for name, estimand in estimands:
        names.append(name)
        values.append(estimand.values(theta[None], heights)[0])
        gradients.append(estimand.gradient(theta, heights))
        by_shift.append(estimand.by_shift(theta, heights))
        apart.append(free is not None and estimand.is_apart(free))
        if resampled is not None:
            replicates.append(estimand.values(resampled.estimates, heights, priors))
    effect, J = np.array(values), np.array(gradients)
    sd, df = np.full(len(effect), np.nan), np.inf
    if resampled is not None:
        each = np.column_stack(replicates)
        covariance = np.atleast_2d(np.cov(each, rowvar=False))
        resampled = resampled.mapped(effect, each, covariance, J)
        sd = resampled.std_error
    elif isinstance(errors, Covariance):
        variances = np.einsum("ij,jk,ik->i", J, errors.matrix, J)
        if errors.prior is not None:
            *mixed, variance = errors.prior
            slope = np.array(by_shift)
            variances += slope * (2.0 * J @ np.array(mixed) + slope * variance)
        sd, df = np.sqrt(np.maximum(variances, 0.0)), errors.df
    sd = np.where(apart, np.nan, sd)
    least = None if solver_noise is None else np.abs(J) @ solver_noise
    return ContrastTests(
        names, effect, sd, np.zeros(len(effect)), df, resampled, noise=least
    )
