"""The run of SDCA: draws rows, calls kernels, checks the gap, makes the solution."""

import math
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from pegasos_stats.arrays import Vector
from pegasos_stats.solvers.at_zero import zero_where_best
from pegasos_stats.solvers.centring import (
    centred,
    constants,
    far_centre,
    moved,
    without_constants,
)
from pegasos_stats.solvers.dense.run import DenseRun
from pegasos_stats.solvers.dense.threads import one_thread
from pegasos_stats.solvers.methods import choose_method
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.pegasos_run import Observer, check_solver
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_steps import Run, run_epochs
from pegasos_stats.solvers.sdca_warning import near_enough, warn_of
from pegasos_stats.solvers.wide import Wide


def run_sdca(
    problem: Problem,
    solver: SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
    most: float = math.inf,
) -> Solution:
    """Run SDCA on a linear problem.

    The duality gap that ends the run is computed from the rows anew. With a free
    intercept columns that are far from zero beside their spread are centred for the
    run, see `far_centre`; the coefficients of constant ones are 0.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
    observe : callable, optional
        Called with a `Moment` after every epoch.
    progress : bool
        Whether to show a progress bar, an epoch at a time.
    dual : float64 array, shape (n,), optional
        Dual weights to begin with, for example those of another solution; clipped to
        what the dual allows. With it nothing is begun by modified SGD.
    warn : bool
        ``False`` where the caller looks at the gap and warns for many runs at once.
    most : float
        Visits of rows after which no epoch is begun, the steps of other kinds counted
        as visits that cost as much.

    Returns
    -------
    Solution
        The best fit and the best dual point of the Newton steps; with more columns than
        rows the last ones, at their best lengths. Of SDCA-perm the last iterate.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    check_solver(problem, solver)
    centre = far_centre(problem)
    inner = problem if centre is None else centred(problem, centre)
    if solver.sums == "fast":
        inner = inner.in_few_entries
    run: Run = run_of(inner, solver, dual, observe is not None)(inner, solver, dual)
    found: Solution
    given = run, inner.n, solver, observe, progress, most
    values = constants(problem)

    def shown(solution: Solution) -> Solution:
        back = moved(solution, centre)
        beta, alpha = without_constants(back.beta, back.alpha, values)
        return replace(back, beta=beta, alpha=alpha)

    with one_thread() if isinstance(run, DenseRun) else nullcontext():
        found, reached = run_epochs(*given, shown)
    if solver.sums == "fast":  # the others are the bits of R
        found = zero_where_best(problem, found, solver.tol)
    if not solver.stops or not warn or (reached and centre is None):
        return found
    at = certificate(problem, found.beta, found.alpha, found.dual)
    if not (solver.reached(at) or near_enough(at, solver)):
        warn_of(at, solver, reached, "tol" if dual is None else "refine")
    return found


def run_of(
    problem: Problem, solver: SDCA, a: Vector | None, observed: bool = False
) -> Any:
    """Return what makes the run: for very many rows in memory, or for others.

    The processor time of a run that is observed is that of this thread, an epoch at a
    time.
    """
    steps = choose_method(problem, solver, a)
    return partial(Wide, is_observed=True) if observed and steps is Wide else steps
