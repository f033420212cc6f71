"""The run of Pegasos on a kernel problem."""

import time
from dataclasses import dataclass

import numpy as np

from pegasos_stats.errors import OptionError
from pegasos_stats.kernel_problem import KernelProblem, KernelSolution
from pegasos_stats.objective import best_intercept
from pegasos_stats.running import Moment, Observer, check_solver, shown_epochs
from pegasos_stats.solvers import Pegasos


@dataclass
class _Run:
    """State of a run: counts, unscaled scores, intercept, steps."""

    counts: np.ndarray
    g: np.ndarray
    alpha: float = 0.0
    steps: int = 0
    violations: int = 0


def run_kernel_pegasos(
    problem: KernelProblem,
    solver: Pegasos,
    observe: Observer | None = None,
    progress: bool = False,
) -> KernelSolution:
    """Run Pegasos on a kernel problem (Shalev-Shwartz et al. 2011, figure 3).

    Parameters
    ----------
    problem : KernelProblem
    solver : Pegasos
        One row a step, no projection, no average.
    observe : callable, optional
        Called with a `Moment` after every epoch.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    KernelSolution

    Raises
    ------
    OptionError
        If the solver has an option that kernels do not have.
    """
    from pegasos_stats.kernels.gram import gram_of
    from pegasos_stats.kernels.kernel_pegasos import kernel_pegasos_epoch

    check_kernel_solver(problem, solver)
    rng = solver.generator()
    gram = gram_of(problem.kernel.code(), problem.X, problem.memory)
    run = _Run(np.zeros(problem.n, dtype=np.int64), np.zeros(problem.n))
    spent = 0
    for epoch, rows in enumerate(shown_epochs(problem, solver, rng, progress), 1):
        began = time.thread_time_ns()
        run.alpha, below_one = kernel_pegasos_epoch(
            gram,
            problem.y,
            rows,
            problem.lam,
            run.steps,
            run.counts,
            run.g,
            run.alpha,
            problem.intercept,
        )
        spent += time.thread_time_ns() - began
        run.steps += len(rows)
        run.violations += below_one
        if observe is not None:
            found = _solution(problem, solver, run, rng.seed)
            observe(Moment(epoch, found, spent / 1e9))
    return _solution(problem, solver, run, rng.seed)


def check_kernel_solver(problem: KernelProblem, solver: Pegasos) -> None:
    """Raise `OptionError` for options that make no sense with a kernel."""
    check_solver(problem, solver)
    for option, plain in (
        ("batch_size", 1),
        ("project", False),
        ("average", "none"),
        ("arithmetic", "reference"),
    ):
        value = getattr(solver, option)
        if value != plain:
            raise OptionError(
                f"{option}={value!r} makes no sense for a kernel model, whose state is "
                f"a count for each row; leave it out."
            )


def _solution(
    problem: KernelProblem, solver: Pegasos, run: _Run, seed: int | None
) -> KernelSolution:
    alpha = run.alpha
    if solver.refit_intercept:
        scores = run.g / (problem.lam * run.steps)
        alpha = best_intercept(scores, problem.y, problem.loss)
    return KernelSolution(
        counts=run.counts.copy(),
        g=run.g.copy(),
        alpha=alpha,
        n_iter=run.steps,
        n_violations=run.violations,
        seed=seed if solver.uses_random_numbers else None,
    )
