"""Platt's sigmoid: from a score to a probability."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.studies.selection.folds import Folds

STEPS = 100
DECREMENT = 1e-14  # of the objective, by Newton's quadratic model
SMALLEST = 1e-290  # of a score, by which A can be divided
RIDGE = 1e-12  # on the diagonal of the Hessian, as Lin, Lin & Weng have it
SHORTEST = 1e-10  # step, as a share of Newton's


@dataclass(frozen=True)
class Sigmoid:
    """``P(y = 1 | f) = 1 / (1 + exp(A f + B))``.

    Attributes
    ----------
    A : float
        Below zero where large scores speak for the second level.
    B : float

    Examples
    --------
    >>> Sigmoid(A=-2.0, B=0.0).logits(np.array([0.5]))
    array([1.])
    """

    A: float
    B: float

    def logits(self, scores: Vector) -> Vector:
        """Log odds of the second level, ``-(A f + B)``."""
        return -(self.A * scores + self.B)


def fit_sigmoid(y: Vector, scores: Vector, weights: Vector | None = None) -> Sigmoid:
    """Fit Platt's sigmoid by maximum likelihood with regularised targets.

    Minimises ``sum w_i (log(1 + exp(-z_i)) + t_i z_i)``, ``z_i = A f_i + B``, where
    the targets are ``t = (N+ + 1) / (N+ + 2)`` for the second level and
    ``1 / (N- + 2)`` for the first, ``N`` the weight of a level: by Newton's method,
    halving the step until it descends.

    Parameters
    ----------
    y : float64 array, shape (n,), of -1 and +1
    scores : float64 array, shape (n,)
    weights : float64 array, shape (n,), optional
        1 if not given.

    References
    ----------
    Platt, *Probabilistic outputs for support vector machines*, Advances in Large
    Margin Classifiers (1999), equations 4 to 6; Lin, Lin & Weng, *A note on Platt's
    probabilistic outputs for support vector machines*, Machine Learning 68 (2007),
    algorithm 1.

    Examples
    --------
    >>> found = fit_sigmoid(np.array([-1.0, -1, 1, 1]), np.array([-1.0, 0, 0, 1]))
    >>> round(found.A, 4), abs(round(found.B, 4))
    (-1.0986, 0.0)
    """
    w = np.ones(len(y)) if weights is None else weights
    upper, lower = float(w[y > 0].sum()), float(w[y < 0].sum())
    targets = np.where(y > 0, (upper + 1.0) / (upper + 2.0), 1.0 / (lower + 2.0))
    size = max(float(np.abs(scores).max()), SMALLEST)
    columns = np.column_stack([scores / size, np.ones(len(y))])
    # GLM of statsmodels agrees to 1e-10, in eight times the time, and may overflow.
    start = np.array([0.0, np.log((lower + 1.0) / (upper + 1.0))])
    A, B = _newton(start, columns, targets, w)
    return Sigmoid(float(A) / size, float(B))


def base_rate(y: Vector, scores: Vector, weights: Vector) -> Sigmoid:
    """The constant sigmoid: the share of the second level for every score.

    Parameters
    ----------
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n,) or (n, repeats)
        NaN where a row has none; a row without any does not count.

    Examples
    --------
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0])
    >>> base_rate(y, np.zeros(4), np.ones(4)).logits(np.zeros(1)).round(3)
    array([-1.099])
    """
    known = ~np.isnan(scores).all(axis=1) if scores.ndim > 1 else ~np.isnan(scores)
    upper = float(weights[known & (y > 0)].sum())
    lower = float(weights[known & (y < 0)].sum())
    with np.errstate(divide="ignore"):
        return Sigmoid(0.0, float(np.log(lower) - np.log(upper)))


def _newton(at: Vector, columns: Matrix, targets: Vector, w: Vector) -> Vector:
    """Minimise the regularised likelihood from a starting point."""
    from scipy.special import expit

    value = _objective(at, columns, targets, w)
    for _ in range(STEPS):
        p = np.asarray(expit(-(columns @ at)))
        gradient = columns.T @ (w * (targets - p))
        hessian = (columns.T * (w * p * (1.0 - p))) @ columns + RIDGE * np.eye(2)
        step = np.linalg.solve(hessian, -gradient)
        descent = float(gradient @ step)
        if -descent <= DECREMENT * (1.0 + value):
            return at + step
        length = 1.0
        while length >= SHORTEST:
            there = _objective(at + length * step, columns, targets, w)
            if there < value + 1e-4 * length * descent:
                break
            length /= 2.0
        else:
            return at
        at, value = at + length * step, there
    return at


def _objective(at: Vector, columns: Matrix, targets: Vector, w: Vector) -> float:
    """Minus the regularised log-likelihood."""
    z = columns @ at
    return float(w @ (np.logaddexp(0.0, -z) + targets * z))


def sigmoid_of(y: Vector, scores: Matrix, weights: Vector) -> Sigmoid:
    """Fit the sigmoid to the scores of all repeats together, each row counted once.

    Parameters
    ----------
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)
        NaN where a row is in no held-out fold.
    """
    known = ~np.isnan(scores)
    shares = weights[:, None] / np.maximum(known.sum(axis=1, keepdims=True), 1)
    labels, shares = (np.broadcast_to(v, scores.shape) for v in (y[:, None], shares))
    return fit_sigmoid(labels[known], scores[known], shares[known])


def cross_fitted_logits(
    folds: Folds,
    y: Vector,
    scores: Matrix,
    weights: Vector,
    fitting: Callable[[Vector, Vector, Vector], Sigmoid] = fit_sigmoid,
) -> Matrix:
    """Return log odds of the rows of each fold, by the sigmoid of the other folds.

    Parameters
    ----------
    folds : Folds
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)
    fitting : callable
        Fits the sigmoid to labels, scores and weights.

    Returns
    -------
    float64 array, shape (n, repeats)
    """
    found = np.full(scores.shape, np.nan)
    for split in folds.splits:
        column = scores[:, split.repeat - 1]
        others = ~np.isnan(column)
        others[split.test] = False
        sigmoid = fitting(y[others], column[others], weights[others])
        found[split.test, split.repeat - 1] = sigmoid.logits(column[split.test])
    return found
