"""Rows of weight 0, which a fit has visited but which say nothing of its errors."""

from dataclasses import replace

import numpy as np

from pegasos_stats.data.groups import Groups
from pegasos_stats.data.weights import mean_one
from pegasos_stats.solvers.problem import Problem, Solution


def without_weightless(
    problem: Problem, found: Solution, groups: Groups | None = None
) -> tuple[Problem, Solution, Groups | None]:
    """Problem, solution and groups of the rows that have a weight, with mean 1 again.

    The objective and its minimiser are the same. Rows in files stay: sums over them do
    not change.

    Examples
    --------
    >>> X, y, w = np.eye(3), np.array([-1.0, 1.0, 1.0]), np.array([1.5, 0.0, 1.5])
    >>> at = Solution(np.zeros(3), 0.0, w.copy(), 0, 0, None)
    >>> problem, at, _ = without_weightless(Problem(X, y, 0.1, weights=w), at)
    >>> problem.n, problem.weights, at.dual
    (2, None, array([1., 1.]))
    """
    if not (problem.n_weightless and problem.has_rows):
        return problem, found, groups
    rows = np.flatnonzero(problem.row_weights)
    problem = problem.of_rows(rows)
    weights = mean_one(np.asarray(problem.weights))
    if (weights == weights[0]).all():
        problem, weights = replace(problem, weights=None), np.ones(problem.n)
    else:
        problem = replace(problem, weights=weights)
    share = len(rows) / len(found.dual)
    dual = np.minimum(share * found.dual[rows], weights)
    groups = None if groups is None else groups.among(rows)
    return problem, replace(found, dual=dual), groups
