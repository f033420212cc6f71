"""Several solvers on one model: each runs many times, and every epoch is recorded."""

import warnings
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from pegasos_stats.checks import LARGEST_INTEGER, check_count, check_flag
from pegasos_stats.data.foreign import is_name
from pegasos_stats.errors import (
    ConvergenceWarning,
    OptionError,
    PegasosStatsError,
    shown,
)
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.base import HeldOut, Model
from pegasos_stats.parallel import map_in_order, n_workers
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver import Solver
from pegasos_stats.studies.compare_results import SolverComparison


class Run(NamedTuple):
    """One run of a study: its solver has the seed of the run."""

    name: str
    number: int
    solver: Pegasos | SDCA


@suggest_arguments
def compare_solvers(
    model: Model,
    solvers: Mapping[str, Pegasos | SDCA],
    *,
    runs: int = 100,
    test: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> SolverComparison:
    """Run each solver many times on one model and record every epoch.

    Run r of every solver starts at the r-th of these seeds of R::

        set.seed(seed); sample.int(2147483647, runs)

    so solvers with the same kind of order visit the rows in the same order, more runs
    do not change the first ones, and an additional solver does not change the results
    of the others. Seeds set in the solvers are not used. A solver without random
    numbers runs as often as the others; only its times vary.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    solvers : mapping of name to solver
        Solvers by name. SDCA stops at its tolerance and records no later epochs;
        ``SDCA(tol=0)`` runs all its epochs.
    runs : int, default 100
    test : DataFrame or pair (y, X), optional
        Held-out rows with labels, whose error is recorded.
    seed : int, default 1
        As for R's ``set.seed()``; None draws one.
    workers : int, optional
        Number of threads; all usable cores if omitted. Only the times depend on it.
    progress : bool, default False
        Whether to show a progress bar, a run at a time.

    Returns
    -------
    SolverComparison

    Raises
    ------
    OptionError
        If `model` is not a model, `solvers` holds something other than named solvers,
        or a solver does not suit the model.
    ColumnError
        If the held-out rows have no labels.
    DataError
        If a run overflows; a note on the exception names the run.

    Notes
    -----
    ``cpu_seconds`` is the processor time of the updates alone, in the thread of the
    run; drawing rows, and computing objectives and errors, is not included. SDCA runs
    once beforehand, so that no time includes the loading of compiled code. The runs of
    the solvers alternate, so that a slow phase of the machine affects all of them.
    Parallel threads share caches and memory, which slows each of them: ``workers=1``
    gives the most accurate times. With a kernel model each thread holds its own rows of
    the Gram matrix.

    References
    ----------
    Shalev-Shwartz & Zhang, JMLR 14 (2013), section 7: SDCA against Pegasos.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=0.1)
    >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "SDCA": ps.SDCA(tol=0, epochs=3)}
    >>> found = ps.compare_solvers(model, solvers, runs=5, test=test, seed=443)
    >>> found.runs.loc[[0, 15], ["solver", "run", "seed", "epoch", "steps"]]
         solver  run       seed  epoch  steps
    0   Pegasos    1  588432584      1    200
    15     SDCA    1  588432584      1    200
    """
    if not isinstance(model, Model):
        raise OptionError(
            f"model is of type {type(model).__name__}; give a model that is not "
            "fitted yet, such as ps.svm('y ~ .', data)."
        )
    checked, model = checked_solvers(solvers), model.at_chosen_lambda()
    runs = check_count("runs", runs)
    check_flag("progress", progress)
    threads = n_workers(workers)
    stream = RRandom(seed)
    held_out = None if test is None else model.held_out(test)
    seeds = stream.sample_int(LARGEST_INTEGER, runs).tolist()
    tasks = [  # the solvers in turn
        Run(name, number, solver.with_seed(seed))
        for number, seed in enumerate(seeds, 1)
        for name, solver in checked.items()
    ]
    with warnings.catch_warnings():
        # The filter is one for all threads. The gaps are in the record.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for solver in checked.values():
            if solver.to_optimum:
                model.solve(solver.with_seed(0))  # loads its compiled code
        frames: Iterable[pd.DataFrame] = map_in_order(
            lambda task: record(model, task, held_out), tasks, threads
        )
        if progress:
            frames = with_progress(frames, len(tasks), "run")
        whole = pd.concat(frames, ignore_index=True)
    whole = whole.astype({"solver": pd.CategoricalDtype(list(checked))})
    return SolverComparison(
        runs=whole.sort_values(["solver", "run"], kind="stable", ignore_index=True),
        solvers=checked,
        model=model,
        n_runs=runs,
        n_test=None if held_out is None else len(held_out[1]),
        seed=int(stream.seed or 0),
        workers=threads,
    )


def record(model: Model, task: Run, held_out: HeldOut | None) -> pd.DataFrame:
    """Run one solver once; return its record with name, number and seed."""
    solver = task.solver
    recorder = model.recorder(solver.ties, held_out)
    try:
        model.solve(solver, recorder)
    except PegasosStatsError as error:
        error.add_note(f"In run {task.number} of {task.name!r}, seed {solver.seed}.")
        raise
    lines = recorder.frame()
    drawn = solver.seed if solver.uses_random_numbers else None
    head: dict[str, object] = {
        "solver": task.name,
        "run": task.number,
        "seed": pd.array([drawn] * len(lines), dtype="Int64"),
    }
    gap, objective = lines["gap"], lines["objective"]
    relative = (gap / objective).mask((gap == 0.0) & (objective == 0.0), 0.0)
    lines.insert(4, "relative_gap", relative)  # 0 / 0 is 0, as in a `Certificate`
    return pd.concat([pd.DataFrame(head, index=lines.index), lines], axis=1)


def checked_solvers(solvers: object) -> dict[str, Pegasos | SDCA]:
    """Return the solvers by name, or raise `OptionError` for anything else."""
    example = "{'Pegasos': ps.Pegasos(epochs=20), 'SDCA': ps.SDCA()}"
    if not isinstance(solvers, Mapping):
        raise OptionError(
            f"solvers is of type {type(solvers).__name__}; give names and solvers, "
            f"such as {example}."
        )
    if not solvers:
        raise OptionError(f"solvers is empty; give at least one, such as {example}.")
    for name, solver in solvers.items():
        if not is_name(name):
            raise OptionError(
                f"{shown(name)} does not name a solver; give text that is not blank."
            )
        if not isinstance(solver, Solver):
            raise OptionError(
                f"solvers[{name!r}] is of type {type(solver).__name__}; give a solver, "
                "such as ps.Pegasos(epochs=20)."
            )
    return dict(solvers)
