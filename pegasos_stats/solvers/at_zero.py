"""The fit whose coefficients are all zero, where no other is better."""

from dataclasses import replace

import numpy as np

from pegasos_stats.solvers.objective import best_intercept, mean_loss
from pegasos_stats.solvers.problem import Problem, Solution

NEARLY = 0.99  # of the weight of a class
ROUNDING = 1e-12  # of an objective, a sum over the rows
NEAR = 10.0  # times the relative gap, which the penalty of such coefficients is below


def zero_where_best(problem: Problem, found: Solution, tol: float) -> Solution:
    """The same, or coefficients of 0 if their objective is no larger.

    The hinge has such an optimum where a class is rare, predictors say little, or the
    penalty is strong. A solver comes near to it, ``lam/2 ||beta||^2 <= gap``, with
    coefficients that are its own noise, by which scores would be ordered. The intercept
    stays as it is if it is one of several that are best.

    Parameters
    ----------
    problem : Problem
    found : Solution
    tol : float
        Relative gap that the solver was to reach.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [1.0], [1.0], [-1.0]]), np.array([-1.0, -1, 1, 1])
    >>> near = Solution(np.array([1e-9]), 0.3, np.ones(4), 1, 4, None)
    >>> best = zero_where_best(Problem(X, y, lam=1.0), near, 1e-6)
    >>> best.beta, best.alpha
    (array([0.]), 0.3)
    """
    penalty = 0.5 * problem.lam * float(found.beta @ found.beta)
    if problem.loss != "hinge" or not penalty <= NEAR * tol:  # of at most 1
        return found
    if not _lighter_is_wrong(problem, found):
        return found
    zero, alone, known = np.zeros(problem.p), _alone(problem), problem.row_offsets
    at = mean_loss(problem, problem.X @ found.beta + known, found.alpha) + penalty
    there, here = (mean_loss(problem, known, alpha) for alpha in (alone, found.alpha))
    if not there <= at + ROUNDING * at:
        return found
    return replace(found, beta=zero, alpha=found.alpha if here <= there else alone)


def _lighter_is_wrong(problem: Problem, found: Solution) -> bool:
    """Whether all rows of a class are beyond the margin, as one is where beta is 0."""
    w, positive = problem.row_weights, problem.y > 0.0
    sides = [rows for rows in (positive, ~positive) if w[rows].any()]
    return any(found.dual[rows].sum() >= NEARLY * w[rows].sum() for rows in sides)


def _alone(problem: Problem) -> float:
    """The best intercept without predictors."""
    if not problem.intercept:
        return 0.0
    given = problem.row_offsets, problem.y, "hinge", problem.weights
    return best_intercept(*given)
