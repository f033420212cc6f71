"""Certificates and scores of solutions, linear or with a kernel."""

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.solvers.kernel_problem import (
    KernelProblem,
    KernelSolution,
    kernel_certificate,
    scores_of_kernel,
)
from pegasos_stats.solvers.newton.sums import kernel_rows, scores_in_order
from pegasos_stats.solvers.objective import Certificate, certificate
from pegasos_stats.solvers.problem import Problem, Solution

AnySolution = Solution | KernelSolution


def certificate_of(
    problem: Problem, found: AnySolution, enough: float = 0.0
) -> Certificate:
    """Primal and dual objective of a solution, and the gap between them.

    Beside a relative gap of `enough` rounding has to be small, and no smaller; as for
    `certificate`.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), lam=1.0)
    >>> found = Solution(np.array([0.5]), 0.0, np.array([0.0, 1.0]), 1, 2, None)
    >>> certificate_of(problem, found).objective
    0.375
    """
    if isinstance(found, Solution):
        return certificate(problem, found.beta, found.alpha, found.dual, enough)
    assert isinstance(problem, KernelProblem)
    return kernel_certificate(problem, found)


def scores_of(
    problem: Problem, found: AnySolution, X: np.ndarray, offset: Vector | None
) -> Vector:
    """Scores of the rows of `X`, shape (q,), by a solution of `problem`.

    Parameters
    ----------
    problem : Problem
    found : Solution or KernelSolution
    X : array or scipy CSR array, shape (q, p)
        Of a precomputed kernel its values with the rows of the problem, shape (q, n).
    offset : float64 array, shape (q,), or None
        Known part of each score, where the problem has one; None where not.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), lam=1.0)
    >>> found = Solution(np.array([0.5]), 0.0, np.array([0.0, 1.0]), 1, 2, None)
    >>> scores_of(problem, found, np.array([[3.0]]), None)
    array([1.5])
    """
    assert (offset is None) == (problem.offset is None)
    if isinstance(found, Solution):
        if isinstance(X, np.ndarray):
            scores = scores_in_order(X, found.beta, found.alpha)
        else:
            scores = arithmetic.risk.scores(kernel_rows(X), found.beta, found.alpha)
        return scores if offset is None else scores + offset
    assert isinstance(problem, KernelProblem)
    return scores_of_kernel(problem, found, X)
