"""A study: the runs of several solvers on one model."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from pegasos_stats.checks import check_count, check_flag
from pegasos_stats.errors import (
    ConvergenceWarning,
    OptionError,
    PegasosStatsError,
    shown,
)
from pegasos_stats.models.base import HeldOut, Model
from pegasos_stats.parallel import map_in_order, n_workers
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver import Solver
from pegasos_stats.studies.compare.comparison import SolverComparison

LARGEST_SEED = 2**31 - 1


class Run(NamedTuple):
    """One run of a study: its solver has the seed of the run."""

    name: str
    number: int
    solver: Pegasos | SDCA


def compare_solvers(
    model: Model,
    solvers: Mapping[str, Pegasos | SDCA],
    *,
    runs: int = 100,
    test: Any = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> SolverComparison:
    """Run every solver many times on one model and record every epoch.

    Run r of every solver starts at the r-th of these seeds of R::

        set.seed(seed); sample.int(2147483647, runs)

    so solvers that shuffle alike visit the rows in the same order, more runs keep the
    first ones as they are, and another solver in the study changes no number of the
    others. Seeds that the solvers themselves have are not used. A solver that draws
    nothing runs as often as the others: only its times differ.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    solvers : mapping of name to solver
        Solvers run as they are: SDCA ends at its tolerance, and records no epoch after
        that; ``SDCA(tol=0)`` runs all its epochs.
    runs : int, default 100
    test : DataFrame or pair (y, X), optional
        Held-out rows with labels, whose error is recorded.
    seed : int, optional
        As for R's ``set.seed()``; drawn, and kept in the result, if left out.
    workers : int, optional
        Number of threads; all usable cores if left out. It changes no number but the
        times.
    progress : bool, default False
        Whether to show a progress bar, a run at a time.

    Returns
    -------
    SolverComparison

    Raises
    ------
    OptionError
        If `model` is no model, `solvers` holds something else than named solvers, or
        a solver does not go with the model.
    ColumnError
        If the held-out rows have no labels.
    DataError
        If a run overflows; a note says which.

    Notes
    -----
    ``cpu_seconds`` is the processor time of the updates alone, in the thread of the
    run; drawing rows, objectives and errors are not in it. SDCA runs once before all
    others, so that no time has the loading of compiled code in it. The runs of the
    solvers alternate: what slows the machine for a while slows all of them. Threads
    side by side share caches and memory, which costs each of them time:
    ``workers=1`` gives the cleanest times. With a kernel model each thread holds its
    own rows of the Gram matrix.

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
    check_model(model)
    checked = checked_solvers(solvers)
    runs = check_count("runs", runs)
    check_flag("progress", progress)
    threads = n_workers(workers)
    stream = RRandom(seed)
    held_out = None if test is None else model.held_out(test)
    tasks = list(planned(checked, stream, runs))
    with warnings.catch_warnings():
        # The filter is one for all threads. The gaps are in the record.
        warnings.simplefilter("ignore", ConvergenceWarning)
        frames = list(run_all(model, checked, tasks, held_out, threads, progress))
    return SolverComparison(
        runs=joined(checked, frames),
        solvers=checked,
        model=model,
        n_runs=runs,
        n_test=None if held_out is None else len(held_out[1]),
        seed=int(stream.seed or 0),
        workers=threads,
    )


def planned(
    solvers: Mapping[str, Pegasos | SDCA], stream: RRandom, runs: int
) -> Iterator[Run]:
    """Yield the runs, solvers in turn, each with its seed."""
    seeds = stream.sample_int(LARGEST_SEED, runs).tolist()
    for number, seed in enumerate(seeds, 1):
        for name, solver in solvers.items():
            yield Run(name, number, solver.with_seed(seed))


def run_all(
    model: Model,
    solvers: Mapping[str, Pegasos | SDCA],
    tasks: list[Run],
    held_out: HeldOut | None,
    workers: int,
    progress: bool,
) -> Iterable[pd.DataFrame]:
    """Yield the record of each run, in order."""
    for solver in solvers.values():
        if solver.to_optimum:
            model.solve(solver.with_seed(0))

    def recorded(task: Run) -> pd.DataFrame:
        return record(model, task, held_out)

    frames = map_in_order(recorded, tasks, workers)
    return with_progress(frames, len(tasks), "run") if progress else frames


def record(model: Model, task: Run, held_out: HeldOut | None) -> pd.DataFrame:
    """Record of one run, with the name of its solver, its number and its seed."""
    solver = task.solver
    recorder = model.recorder(solver.ties, held_out)
    try:
        model.solve(solver, recorder)
    except PegasosStatsError as error:
        error.add_note(f"In run {task.number} of {task.name!r}, seed {solver.seed}.")
        raise
    lines = recorder.frame()
    drawn = solver.seed if solver.uses_random_numbers else None
    head: dict[str, Any] = {
        "solver": task.name,
        "run": task.number,
        "seed": pd.array([drawn] * len(lines), dtype="Int64"),
    }
    lines.insert(4, "relative_gap", _relative(lines["gap"], lines["objective"]))
    return pd.concat([pd.DataFrame(head, index=lines.index), lines], axis=1)


def _relative(gap: "pd.Series[Any]", objective: "pd.Series[Any]") -> "pd.Series[Any]":
    """Gaps by their objectives; of an objective of 0, as certificates have it."""
    return (gap / objective).mask((gap == 0.0) & (objective == 0.0), 0.0)


def joined(
    solvers: Mapping[str, Pegasos | SDCA], frames: Iterable[pd.DataFrame]
) -> pd.DataFrame:
    """All records in one frame: solvers in their order, then runs, then epochs."""
    whole = pd.concat(frames, ignore_index=True)
    names = pd.CategoricalDtype(list(solvers))
    whole = whole.astype({"solver": names})
    return whole.sort_values(["solver", "run"], kind="stable", ignore_index=True)


def check_model(model: Any) -> None:
    """Raise `OptionError` unless it is a model."""
    if not isinstance(model, Model):
        raise OptionError(
            f"model is of type {type(model).__name__}; give a model that is not "
            "fitted yet, such as ps.svm('y ~ .', data)."
        )


def checked_solvers(solvers: Any) -> dict[str, Pegasos | SDCA]:
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
        if not isinstance(name, str) or not name.strip():
            raise OptionError(
                f"{shown(name)} does not name a solver; give text that is not blank."
            )
        if not isinstance(solver, Solver):
            raise OptionError(
                f"solvers[{name!r}] is of type {type(solver).__name__}; give a solver, "
                "such as ps.Pegasos(epochs=20)."
            )
    return dict(solvers)
