"""Problems with the fits that default standard errors are chosen by."""

import numpy as np

from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.refining import run_linear
from pegasos_stats.solvers.sdca import SDCA


def at(problem: Problem) -> tuple[Problem, Solution]:
    """The problem and its optimum."""
    return problem, run_linear(problem, SDCA(tol=1e-8, epochs=2000, seed=1))


def at_zero(problem: Problem) -> tuple[Problem, Solution]:
    """The problem and the fit that is all zero."""
    none = np.zeros(problem.p), 0.0, np.zeros(problem.n)
    return problem, Solution(*none, 0, 0, None)
