"""Which method solves a problem of SDCA."""

from collections.abc import Callable

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.solvers.centring import centred, far_centre, moved
from pegasos_stats.solvers.dense.run import DenseRun
from pegasos_stats.solvers.problem import LossName, Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain
from pegasos_stats.solvers.sdca_steps import Narrow, Run, run_epochs
from pegasos_stats.solvers.wide import Wide

PAIRED_COLUMNS = 100  # of dense rows, where pairs are quick
FREE, NOT_FREE = 1.25, 1.5  # rows to a column up to which they are, by intercept
# Columns up to which numpy takes about the time of compiled steps, or 1 ms more. The
# hinge takes 1.8 times as long with 60 columns; in 300 rows of 30 columns 2 ms more.
# The log loss takes 1.3 to 1.7 times as long with 80 columns of 5,000 rows, and from
# 10,000 rows on half as long, up to 200 columns.
MOST_COLUMNS: dict[LossName, int] = {"hinge": 30, "log": 60}
FEW_ROWS, MOST_OF_FEW = 2000, 20  # the same of the hinge, with fewer rows than these
MANY_ROWS, MOST_OF_MANY = 10_000, 200  # the same of the log loss, with more than these
# Share of the rarer class, and rows, of which the hinge is quicker compiled: of one in
# twenty or ten 2 to 4 times, of one in seven twice, of one in five no more.
RARE, RARE_ROWS = 0.15, 10_000


def choose_method(
    problem: Problem, solver: SDCA, a: Vector | None
) -> Callable[..., Run]:
    """Return the class of the run.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
    a : float64 array, shape (n,), or None
        Dual weights to begin with.
    """
    if solver.algorithm == "perm":
        return Plain
    if is_wide(problem):
        return Wide
    is_plain = solver.start == "zero" and solver.stops
    if is_plain and isinstance(problem.X, np.ndarray) and has_few_columns(problem):
        return DenseRun
    return Narrow


def has_few_columns(problem: Problem) -> bool:
    """Whether numpy alone is as quick as compiled steps.

    Examples
    --------
    >>> X, y = np.ones((120, 30)), np.tile([-1.0, 1.0], 60)
    >>> [has_few_columns(Problem(X, y, 1.0, loss)) for loss in ("hinge", "log")]
    [False, True]
    """
    most = MOST_COLUMNS[problem.loss]
    if problem.loss == "hinge":
        if problem.n >= RARE_ROWS and problem.lightest < RARE * problem.n:
            return False
        if problem.n < FEW_ROWS:
            most = MOST_OF_FEW
    elif problem.n >= MANY_ROWS:
        most = MOST_OF_MANY
    return 0 < problem.p <= most


def is_wide(problem: Problem) -> bool:
    """Whether there are more columns than rows, or for pairs of the hinge nearly so.

    Pairs and lengths, for many columns, know no offset.

    Examples
    --------
    >>> X, y = np.ones((120, 100)), np.tile([-1.0, 1.0], 60)
    >>> is_wide(Problem(X, y, lam=1.0)), is_wide(Problem(X, y, lam=1.0, loss="log"))
    (True, False)
    """
    n, p = problem.n, problem.p
    has_pairs = problem.loss == "hinge" and isinstance(problem.X, np.ndarray)
    if has_pairs and p >= PAIRED_COLUMNS:
        p = int(p * (FREE if problem.intercept else NOT_FREE))
    return n < p and problem.offset is None


def solved_by_steps(
    problem: Problem, solver: SDCA, dual: Vector | None = None
) -> Solution:
    """Solve a problem by steps over all its rows, and warn of nothing.

    Parameters
    ----------
    problem, solver, dual
        As for `run_sdca`.
    """
    centre = far_centre(problem)
    inner = problem if centre is None else centred(problem, centre)
    run = choose_method(inner, solver, dual)(inner, solver, dual)
    found, _ = run_epochs(run, inner.n, solver)
    return moved(found, centre)
