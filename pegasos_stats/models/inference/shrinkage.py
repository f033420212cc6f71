"""Covariances of few rows, drawn towards those that the logistic model has."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.bandwidth import effective_rows
from pegasos_stats.models.inference.bias import bias_of
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.degrees_of_freedom import (
    degrees_of_freedom,
    inverse_and_rank,
    squared_lengths,
)
from pegasos_stats.models.inference.options import FOR_FEW_ROWS, Sandwich
from pegasos_stats.models.inference.row_sums import column_sums, cross_product
from pegasos_stats.models.inference.standardizing import Stacked
from pegasos_stats.solvers.problem import Problem

MANY = 1e5  # degrees of freedom; with more, Student's t is normal to six digits


class Drawn(NamedTuple):
    """How far the meat is drawn, and to what.

    Attributes
    ----------
    share : float
        From 0, not at all, to 1, all the way.
    target : float64 array, shape (k, k)
    """

    share: float
    target: Matrix

    def meat(self, meat: Matrix) -> Matrix:
        """``(1 - a) G + a c M``."""
        if self.share == 0.0:
            return meat
        return (1.0 - self.share) * meat + self.share * self.target

    def stacked(self, of_rows: Stacked, of_scaling: Stacked) -> Stacked:
        """The same of standardized predictors.

        In the model no score goes with the moves of means and deviations.

        Parameters
        ----------
        of_rows : Stacked
        of_scaling : Stacked
            Of scores that are 0 but for what means and deviations add to them.
        """
        if self.share == 0.0:
            return of_rows
        target = of_scaling._replace(scores=of_scaling.scores + self.target)
        pairs = zip(of_rows, target, strict=True)
        return Stacked(*((1.0 - self.share) * a + self.share * b for a, b in pairs))


def drawn_to_model(
    problem: Problem,
    s: Vector,
    stretch: Vector | float,
    meat: Matrix,
    cross: Matrix | None = None,
) -> Drawn:
    """How far ``G`` is drawn towards ``M``, which it is if the model holds.

    ::

        (1 - a) G + a c M,    c = tr(M^-1 G) / k,    a = min(1, b^2 / d^2)
        d^2 = |M^-1/2 G M^-1/2 - c I|^2,    b^2 = (1/n) (mean_i r_i^4 - |G|^2)

    with ``r_i^2 = c_i'M^-1 c_i`` of the centred scores, and ``|G|`` measured by ``M``
    too. ``d`` is how far apart the two are, and ``b`` how far ``G`` is from its own
    expectation, so ``a`` is 1 where the rows cannot tell the two apart, and goes to 0
    with more rows if the model does not hold. Not drawn where there are no more rows
    than coefficients.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        Slope weights.
    stretch : float64 array, shape (n,), or 1
        By which the score of a row is multiplied.
    meat : float64 array, shape (k, k)
        ``G``.
    cross : float64 array, shape (k, k), optional
        As for `model_meat`.

    References
    ----------
    Ledoit & Wolf, *A well-conditioned estimator for large-dimensional covariance
    matrices*, Journal of Multivariate Analysis 88 (2004), for the share.

    Examples
    --------
    >>> from pegasos_stats.models.inference.bread_and_meat import meat_of
    >>> y = np.where(np.arange(50) < 10, 1.0, -1.0)
    >>> problem = Problem(np.zeros((50, 1)), y, lam=0.1, loss="log")
    >>> s = np.where(y > 0.0, 0.8, 0.2)
    >>> drawn_to_model(problem, s, 1.0, meat_of(problem, s)).target[0].round(4)
    array([0.16, 0.  ])
    """
    n, M = problem.n, model_meat(problem, s, cross)
    if n <= len(M):
        return Drawn(0.0, M)
    inverse, rank = inverse_and_rank(M)
    if not rank:
        return Drawn(0.0, M)
    image = inverse @ meat
    size, scale = float((image * image.T).sum()), float(np.trace(image)) / rank
    lengths = squared_lengths(problem, s, stretch, inverse)
    noise = (float(lengths @ lengths) / n - size) / n
    apart = size - rank * scale * scale
    # Rows alike leave nothing apart, but for rounding, which may be below 0 too.
    share = 1.0 if apart <= max(noise, 0.0) else max(0.0, noise / apart)
    known = np.isfinite([size, scale, noise, apart]).all()
    return Drawn(share if known else 0.0, scale * M)


def model_meat(problem: Problem, s: Vector, cross: Matrix | None = None) -> Matrix:
    """``G`` if labels are as probable as the fit has them, shape (k, k).

    ``(1/n) sum_i w_i^2 s_i (1 - s_i) z_i z_i'``. Weights that balance the classes move
    the fitted odds by their ratio, which is taken back, and each class has a mean of
    its own.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        Slope weights.
    cross : float64 array, shape (k, k), optional
        ``sum_i w_i s_i (1 - s_i) z_i z_i'``, which is the same without weights.

    Examples
    --------
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0])
    >>> problem = Problem(np.zeros((4, 0)), y, lam=0.1, loss="log")
    >>> model_meat(problem, np.array([0.25, 0.25, 0.25, 0.75]))
    array([[0.1875]])
    """
    w, n = problem.row_weights, problem.n
    if problem.weights is None and cross is not None:
        return cross / n
    if not problem.balanced:
        return cross_product(problem, w * w * s * (1.0 - s)) / n
    positive = problem.y > 0.0
    p = np.where(positive, 1.0 - s, s)
    high, low = float(w[positive][0]), float(w[~positive][0])
    likely = low * p / (low * p + high * (1.0 - p))
    found = np.zeros((problem.p + problem.intercept,) * 2)
    for weight, q, e in ((high, likely, 1.0 - p), (low, 1.0 - likely, p)):
        sums = column_sums(problem, q * e)
        own = cross_product(problem, q * e * e) - np.outer(sums, sums) / q.sum()
        found += weight * weight * own / n
    return found


def for_few_rows(
    found: Covariance,
    problem: Problem,
    options: Sandwich,
    s: Vector,
    stretch: Vector | float,
    meat: Matrix,
    inverse: Matrix,
    drawn: Drawn | None = None,
    pairs: Matrix | None = None,
) -> Covariance:
    """Add what tests and intervals of few rows need, as the correction has it.

    Degrees of freedom are those of ``G``, by ``(1 - a)^2`` if it is drawn: what it is
    drawn to counts as known.

    Parameters
    ----------
    found : Covariance
    problem : Problem
    options : Sandwich
    s, stretch, meat
        As for `drawn_to_model`.
    inverse : float64 array, shape (k, k)
        ``H^-1``.
    drawn : Drawn, optional
    pairs : float64 array, shape (n, n), optional
        As for `bias_of`.
    """
    if options.correction == "HC3":
        rows = effective_rows(problem.y, problem.weights)
        return replace(found, joint=found.matrix, rows=rows)
    if options.correction not in FOR_FEW_ROWS:
        return found
    share = 0.0 if drawn is None else drawn.share
    to_model = f"HC2 drawn {share:.0%} of the way to the model, errors not below HC2's"
    kind = "HC3 (jackknife)" if drawn is None else to_model
    df = np.inf
    if share < 1.0:
        df = degrees_of_freedom(problem, s, stretch, meat) / (1.0 - share) ** 2
    known = df > MANY
    df = np.inf if known else df
    law = "normal" if known else f"Student's t, {df:.3g} degrees of freedom"
    words = f"sandwich, {kind}; intervals and tests allow for bias; {law}"
    bias = bias_of(problem, s, inverse, pairs)
    found = replace(found, description=words, bias=bias, df=df)
    return replace(found, joint=found.matrix, rows=df)


def not_below(found: Covariance, other: Covariance) -> Covariance:
    """A covariance whose standard errors are not below those of another one.

    Correlations stay, and so does `joint`, which does not depend on how the levels of a
    factor are coded.

    References
    ----------
    Angrist & Pischke, *Mostly harmless econometrics* (2009), section 8.1, for the
    larger of two standard errors.
    """
    if not np.isfinite(other.matrix).all():
        return found
    matrix = _raised(found.matrix, other.matrix)
    fixed = found.fixed
    if fixed is not None and other.fixed is not None:
        fixed = _raised(fixed, other.fixed)
    return replace(found, matrix=matrix, fixed=fixed)


def _raised(matrix: Matrix, other: Matrix) -> Matrix:
    own, least = np.diag(matrix), np.diag(other)
    ratio = np.divide(least, own, out=np.ones(len(own)), where=own > 0.0)
    scale = np.sqrt(np.maximum(ratio, 1.0))
    return np.asarray(matrix * scale * scale[:, None])
