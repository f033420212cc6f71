"""The run of Pegasos on a kernel problem."""

import numpy as np

from pegasos_stats.arrays import Rows, read_only
from pegasos_stats.compiled import pegasos
from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.kernel_problem import KernelProblem, KernelSolution
from pegasos_stats.solvers.objective import best_intercept
from pegasos_stats.solvers.options import given
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import (
    Observer,
    check_solver,
    shown_epochs,
    visit_epochs,
)
from pegasos_stats.solvers.sdca import SDCA

# Options that a kernel model takes, of each solver, and what it keeps of a row.
WITH_KERNELS = {
    "Pegasos": {
        "epochs",
        "seed",
        "order",
        "steps",
        "refit_intercept",
        "sample_kind",
        "ties",
        "intercept",
    },
    "SDCA": {"epochs", "tol", "gap_tol", "seed", "sample_kind", "ties"},
}
STATE = {"Pegasos": "count", "SDCA": "dual weight"}
UNINTERRUPTED = 10**8  # products in one call of a kernel, a tenth of a second or so


class KernelVisitor:
    """Takes steps at given rows and holds the state of a run.

    Attributes
    ----------
    epoch : int
        Epochs done.
    """

    def __init__(self, problem: KernelProblem, solver: Pegasos) -> None:
        self.epoch = 0
        self._problem = problem
        self._solver = solver
        self._gram = pegasos.kernel_pegasos.gram_of(
            problem.kernel.code(), problem.X, problem.memory
        )
        self._counts = np.zeros(problem.n, dtype=np.int64)
        self._g = np.zeros(problem.n)
        self._wy = problem.row_weights * problem.y
        self._alpha, self._steps, self._violations = 0.0, 0, 0

    def visit(self, rows: Rows) -> None:
        """Take a step at each of `rows`; between two pieces Ctrl-C is heard."""
        problem = self._problem
        cost = problem.n * problem.p
        length = max(1, UNINTERRUPTED // cost)
        for first in range(0, max(len(rows), 1), length):
            self._visit_piece(rows[first : first + length])

    def _visit_piece(self, rows: Rows) -> None:
        problem = self._problem
        self._alpha, below_one = pegasos.kernel_pegasos.kernel_pegasos_epoch(
            self._gram,
            problem.y,
            self._wy,
            read_only(rows),
            problem.lam,
            self._steps,
            self._counts,
            self._g,
            self._alpha,
            problem.intercept,
        )
        self._steps += len(rows)
        self._violations += below_one

    def solution(self, seed: int | None) -> KernelSolution:
        """What the run gives in its present state."""
        alpha = self._alpha
        if self._solver.refit_intercept:
            scores = self._g / (self._problem.lam * self._steps)
            problem = self._problem
            alpha = best_intercept(scores, problem.y, problem.loss, problem.weights)
        return KernelSolution(
            counts=self._counts.copy(),
            g=self._g.copy(),
            alpha=alpha,
            n_iter=self._steps,
            n_violations=self._violations,
            seed=seed if self._solver.uses_random_numbers else None,
            n_epochs=self.epoch,
        )


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
    check_kernel_solver(problem, solver)
    rng = solver.generator()
    visitor = KernelVisitor(problem, solver)
    visit_epochs(
        visitor, shown_epochs(problem, solver, rng, progress), rng.seed, observe
    )
    return visitor.solution(rng.seed)


def check_kernel_solver(problem: KernelProblem, solver: Pegasos | SDCA) -> None:
    """Raise `OptionError` for options that make no sense with a kernel."""
    if isinstance(solver, Pegasos) and solver.may_end_early:
        raise OptionError(
            "A kernel model has no run of Pegasos that ends by itself; leave the "
            "tolerances out, or the solver for the optimum."
        )
    for name, value in given(solver).items():
        if name not in WITH_KERNELS[solver.name]:
            raise OptionError(
                "makes no sense for a kernel model, whose state is a "
                f"{STATE[solver.name]} for each row; leave it out.",
                name,
                value,
            )
    check_solver(problem, solver)
