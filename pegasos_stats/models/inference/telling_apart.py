"""How well predictors tell the levels apart; where hardly, the hinge has no formula."""

import math
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.data.groups import Groups
from pegasos_stats.solvers.objective import best_intercept
from pegasos_stats.solvers.problem import Problem, Solution

# By simulation: see `hardly_told` for what they are.
ERRORS, SHARE = 7.0, 0.15
BY_CHANCE, POWER = 0.9, 2.0 / 3.0


class Gain(NamedTuple):
    """By how much the mean loss of a fit is below that of the intercept alone.

    Attributes
    ----------
    share : float
        Of the latter, which is of the best intercept; 0 if there is none.
    errors : float
        In standard errors; 0 where no loss differs.
    """

    share: float
    errors: float


@np.errstate(over="ignore", invalid="ignore")
def gain_of(
    problem: Problem, found: Solution | Vector, groups: Groups | None = None
) -> Gain:
    """What the coefficients of a fit of the hinge gain.

    Parameters
    ----------
    problem : Problem
    found : Solution, or float64 array, shape (n,)
        The fit; or ``u_i = 1 - y_i f(x_i)`` at it, of rows in files.
    groups : Groups, optional
        Of one kind: rows of a group depend on each other.

    Examples
    --------
    >>> y = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> problem = Problem(np.zeros((4, 1)), y, lam=1.0)
    >>> gain = gain_of(problem, np.array([0.4, 0.5, 0.5, 0.6]))
    >>> round(gain.share, 3), round(gain.errors, 2)
    (0.5, 14.14)
    """
    y, w, alone = problem.y, problem.row_weights, problem.row_offsets
    u = found if isinstance(found, np.ndarray) else beyond_margin(problem, found)
    if problem.intercept:
        alone = alone + best_intercept(alone, y, "hinge", problem.weights)
    without = np.maximum(0.0, 1.0 - y * alone)
    less = without - np.maximum(0.0, u)
    mean, most = float(w @ less) / problem.n, float(w @ without) / problem.n
    apart: Vector = w * (less - mean)
    if groups is not None and len(groups.codes) == 1:
        apart = np.bincount(groups.codes[0], apart).astype(np.float64)
    error = math.sqrt(float(apart @ apart)) / problem.n
    return Gain(mean / most if most > 0.0 else 1.0, mean / error if error > 0 else 0.0)


def beyond_margin(problem: Problem, found: Solution) -> Vector:
    """``u_i = 1 - y_i f(x_i)`` of a fit whose rows are in memory, shape (n,)."""
    f = arithmetic.risk.scores(problem.rows, found.beta, found.alpha)
    return np.asarray(1.0 - problem.y * (f + problem.row_offsets))


def hardly_told(
    problem: Problem, found: Solution | Vector, groups: Groups | None = None
) -> Gain | None:
    """The gain of a fit of the hinge, if predictors hardly tell the levels apart.

    If they say nothing, no coefficient is the best in the population. The rows are then
    far from the margin and the intercept may be anything between -1 and 1: the
    curvature that the formula needs is not there. In samples the largest values come to
    the margin, and the formula takes the density that they have there for that of the
    population. It does not cover near such a population either.

    The gain is below 15% of the loss and below ``7 + sqrt(p)`` standard errors. To the
    15% comes what ``p`` coefficients gain by chance, ``0.9 (p / n)^(2/3)``.

    References
    ----------
    Koo, Lee, Kim & Park, *A Bahadur representation of the linear support vector
    machine*, JMLR 9 (2008), whose conditions exclude such a minimiser.
    """
    if problem.loss != "hinge":
        return None
    gain, p = gain_of(problem, found, groups), problem.p
    little = gain.share < SHARE + BY_CHANCE * (p / problem.n) ** POWER
    return gain if little and gain.errors < ERRORS + math.sqrt(p) else None


def in_words(gain: Gain) -> str:
    """That predictors hardly lower the loss."""
    share, errors = max(0.0, gain.share), max(0.0, gain.errors)
    return (
        "with this lambda the predictors lower the hinge loss by too little for the "
        f"formula: the mean of the fit is {share:.0%} below that of the intercept "
        f"alone ({errors:.1f} standard errors, by the training rows)"
    )
