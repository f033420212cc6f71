"""The run of a solver, and of Pegasos with SDCA after it."""

import math
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_positive
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.solvers.kernel_ascent import KernelAscent, run_kernel_sdca
from pegasos_stats.solvers.kernel_problem import (
    KernelProblem,
    KernelSolution,
    multiples,
)
from pegasos_stats.solvers.kernel_run import run_kernel_pegasos
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Moment, Observer, run_pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import run_sdca
from pegasos_stats.solvers.sdca_steps import run_epochs

REFINEMENT_EPOCHS = 1000

AnySolution = TypeVar("AnySolution", Solution, KernelSolution)


def checked_refinement(tol: Any, solver: Pegasos | SDCA) -> SDCA | None:
    """SDCA to a relative gap, with the seed of the solver it goes on from.

    Raises
    ------
    OptionError
        If the tolerance is not between 0 and 1, or the solver is SDCA already.
    """
    if tol is None:
        return None
    given, tol = tol, check_positive("refine", tol)
    if tol >= 1.0:
        raise OptionError(
            "is not allowed: every fit is within it; give a relative gap below 1.",
            "refine",
            tol,
        )
    if solver.to_optimum:
        raise OptionError(
            f"refine={shown(given)} goes on from Pegasos; give "
            f"SDCA(tol={shown(given)}) instead."
        )
    then = SDCA(
        REFINEMENT_EPOCHS, tol, sample_kind=solver.sample_kind, ties=solver.ties
    )
    return then.with_seed(solver.seed)


def run_linear(
    problem: Problem,
    solver: Pegasos | SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
    most: float = math.inf,
) -> Solution:
    """Run a solver on a linear problem.

    Either warns of a tolerance that it has not reached unless told otherwise. SDCA
    begins with the dual weights, if some are given, and ends after so many visits of
    rows at most; see `run_sdca`.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the certificate tells
        if isinstance(solver, SDCA):
            return run_sdca(problem, solver, observe, progress, dual, warn, most)
        return run_pegasos(problem, solver, observe, progress, warn)


def run_refined(
    problem: Problem,
    solver: Pegasos | SDCA,
    refinement: SDCA | None = None,
    observe: Observer | None = None,
    progress: bool = False,
) -> Solution:
    """Run a solver, and SDCA from its dual point if there is a refinement.

    Steps, violations and epochs are counted through; the seed is that of the solver.

    Warns
    -----
    ConvergenceWarning
        If SDCA does not reach its tolerance.
    """
    if refinement is None:
        return run_linear(problem, solver, observe, progress)
    through = Through(observe)
    first = run_linear(problem, solver, through, progress, warn=False)
    return continued(problem, first, refinement, through.onward(first), progress)


def continued(
    problem: Problem,
    first: Solution,
    refinement: SDCA,
    observe: Observer | None = None,
    progress: bool = False,
) -> Solution:
    """Go on with SDCA from the dual point of a solution, on its seed if it has one."""
    if first.seed is not None:
        refinement = refinement.with_seed(first.seed)
    then = run_linear(problem, refinement, observe, progress, first.dual)
    return _counted_through(first, then)


def run_kernel(
    problem: KernelProblem,
    solver: Pegasos | SDCA,
    refinement: SDCA | None = None,
    observe: Observer | None = None,
    progress: bool = False,
) -> KernelSolution:
    """Run a solver on a kernel problem, and SDCA after it, as `run_refined`."""
    if isinstance(solver, SDCA):
        return run_kernel_sdca(problem, solver, observe, progress)
    if refinement is None:
        return run_kernel_pegasos(problem, solver, observe, progress)
    through = Through(observe)
    first = run_kernel_pegasos(problem, solver, through, progress)
    if first.seed is not None:
        refinement = refinement.with_seed(first.seed)
    c, T = multiples(problem, first)
    onward = through.onward(first)
    a = c * (problem.n / T)
    return _counted_through(
        first, run_kernel_sdca(problem, refinement, onward, progress, a)
    )


def kernel_path(
    problem: KernelProblem, solver: Pegasos | SDCA, lambdas: Vector
) -> list[KernelSolution]:
    """Solve for each lambda, largest first; SDCA goes on from where it is.

    It keeps its rows of the Gram matrix, which do not depend on lambda. Warns of
    nothing.
    """
    if isinstance(solver, Pegasos):
        each = (replace(problem, lam=float(lam)) for lam in lambdas)
        return [run_kernel_pegasos(at, solver) for at in each]
    ascent = KernelAscent(replace(problem, lam=float(lambdas[0])), solver)
    found: list[KernelSolution] = []
    for lam in lambdas:
        if found:
            ascent.move_to(float(lam))
        found.append(run_epochs(ascent, problem.n, solver)[0])
    return found


class Through:
    """Observes two runs, one after the other, as one."""

    def __init__(self, observe: Observer | None) -> None:
        self._observe = observe
        self._last: Moment | None = None

    def __call__(self, moment: Moment) -> None:
        """Pass a moment of the first run on."""
        self._last = moment
        if self._observe is not None:
            self._observe(moment)

    def onward(self, first: Solution | KernelSolution) -> Observer | None:
        """Return what observes the second run, counted from the end of the first."""
        last, observe = self._last, self._observe
        if observe is None or last is None:
            return None

        def passed_on(moment: Moment) -> None:
            observe(
                Moment(
                    last.epoch + moment.epoch,
                    _counted_through(first, moment.solution),
                    last.cpu_seconds + moment.cpu_seconds,
                )
            )

        return passed_on


def _counted_through(first: AnySolution, then: AnySolution) -> AnySolution:
    return replace(
        then,
        n_iter=first.n_iter + then.n_iter,
        n_violations=first.n_violations + then.n_violations,
        seed=then.seed if first.seed is None else first.seed,
        n_epochs=first.n_epochs,
    )
