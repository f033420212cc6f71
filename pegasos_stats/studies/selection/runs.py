"""Many fits on parts of the rows: their seeds, their order, one warning for all."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.checks import check_flag
from pegasos_stats.errors import (
    ConvergenceWarning,
    OptionError,
    counted,
    warn_caller,
)
from pegasos_stats.models.base import Model, checked_solver
from pegasos_stats.models.kernel import pegasos_alone
from pegasos_stats.parallel import map_in_order, n_workers
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.kernel_run import check_kernel_solver
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import check_solver, with_progress
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import MORE_TIME
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.training import Fitted, Task, fitted

LARGEST_SEED = 2**31 - 1  # .Machine$integer.max of R


def checked_model(model: Any) -> Model:
    """Return the model, or raise `OptionError` if it is none."""
    if not isinstance(model, Model):
        raise OptionError(
            f"model is of type {type(model).__name__}; give a model such as "
            "ps.svm(formula, data), not yet fitted."
        )
    return model


def checked_fold_solver(model: Model, solver: Any, default: SDCA) -> Pegasos | SDCA:
    """Return a solver that goes with the model and with any part of its rows.

    Parameters
    ----------
    model : Model
    solver : Pegasos, SDCA or None
    default : SDCA
        For a linear model; ``Pegasos()`` for one with a kernel.

    Raises
    ------
    OptionError
        If it does not, or names the rows to visit.
    """
    problem = model.problem
    kernel = isinstance(problem, KernelProblem)
    if solver is None and not kernel:
        return default
    chosen = checked_solver(solver, Pegasos)
    if chosen.to_optimum and not kernel:
        return chosen
    stepwise = pegasos_alone(chosen)
    if not isinstance(stepwise.order, str):
        raise OptionError(
            "order names rows of the whole data, and each fold fits a part of them; "
            "give 'shuffle', 'sequential' or 'replace'."
        )
    if isinstance(problem, KernelProblem):
        check_kernel_solver(problem, stepwise)
    check_solver(problem, stepwise)
    return stepwise


def seeded(solver: Pegasos | SDCA, count: int, rng: RRandom) -> list[Pegasos | SDCA]:
    """The solver for each of so many fits, seeds drawn if it has none.

    ``sample.int(.Machine$integer.max, count)`` of R.
    """
    if solver.seed is not None or not solver.uses_random_numbers:
        return [solver] * count
    seeds = rng.sample_int(LARGEST_SEED, count)
    return [solver.with_seed(int(seed)) for seed in seeds]


def fold_tasks(
    model: Model,
    folds: Folds,
    solver: Pegasos | SDCA,
    lambdas: NDArray[np.float64],
    rng: RRandom,
) -> list[Task]:
    """One task for each fold, with a seed of its own."""
    pairs = zip(folds.splits, seeded(solver, len(folds), rng), strict=True)
    return [Task(model, split, use, lambdas) for split, use in pairs]


def with_seed(solver: Pegasos | SDCA, seed: int | None) -> Pegasos | SDCA:
    """The solver with a seed, that of the fit on all rows, if it has none."""
    if solver.seed is not None or not solver.uses_random_numbers:
        return solver
    return solver.with_seed(seed)


def run_tasks(
    tasks: Sequence[Task], workers: int | None, progress: bool
) -> list[Fitted]:
    """Fit every task, side by side; numbers do not depend on the workers.

    Warns
    -----
    ConvergenceWarning
        Once, if any fit has not reached its tolerance.
    """
    check_flag("progress", progress)
    found: Iterable[Fitted] = map_in_order(fitted, tasks, n_workers(workers))
    if progress:
        found = with_progress(found, len(tasks), "fold")
    return list(found)


def warn_of_gaps(solver: Pegasos | SDCA, certificates: Sequence[Certificate]) -> None:
    """Warn once of all fits that have not reached their tolerance."""
    if not solver.stops:
        return
    late = [at.relative_gap for at in certificates if not solver.reached(at)]
    if late:
        warn_caller(
            f"SDCA has not reached its tolerance in {len(late)} of "
            f"{counted(len(certificates), 'fit')}; their largest relative gap is "
            f"{max(late):.2g}: {MORE_TIME}.",
            ConvergenceWarning,
        )
