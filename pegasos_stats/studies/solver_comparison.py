"""Runs of several solvers on one model, every epoch recorded."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pegasos_stats import checks, errors, parallel, tables
from pegasos_stats.data.user_data import named
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.linear import Model
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.optimum import AnySolver
from pegasos_stats.solvers.options import Solver
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.studies import fold_fits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SOLVERS = (
    "give solvers by name: {'Pegasos': ps.Pegasos(epochs=20), 'Optimum': ps.Optimum()}."
)


MEASURES = (
    *("objective", "gap", "relative_gap", "violations"),
    *("training_error", "test_error", "cpu_seconds"),
)


QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


@suggest_arguments
def compare_solvers(
    model: Model,
    solvers: Mapping[str, AnySolver],
    *,
    runs: int = 100,
    test: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "SolverComparison":
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
        Solvers by name. `Optimum` and `SDCA` stop at their tolerance and record no
        later epochs; with ``tol=0`` they run all.
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
    run; drawing rows, and computing objectives and errors, is not included. All
    but `Pegasos` run once beforehand, so that no time includes the loading of compiled
    code. The runs of the solvers alternate, so that a slow phase of the machine affects
    all of them. Parallel threads share caches and memory, which slows each of them:
    ``workers=1`` gives the most accurate times. With a kernel model each thread holds
    its own rows of the Gram matrix.

    References
    ----------
    Shalev-Shwartz & Zhang, JMLR 14 (2013), section 7: SDCA against Pegasos.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=0.1)
    >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "Newton": ps.Optimum(0, epochs=3)}
    >>> found = ps.compare_solvers(model, solvers, runs=5, test=test, seed=443)
    >>> found.runs.loc[[0, 15], ["solver", "run", "seed", "epoch", "steps"]]
         solver  run       seed  epoch  steps
    0   Pegasos    1  588432584      1    200
    15   Newton    1       <NA>      1      1
    """
    checked = named("solvers", solvers, Solver, SOLVERS)
    model = fold_fits.checked_model(model, in_memory=False).at_chosen_lambda()
    runs = checks.check_count("runs", runs)
    checks.check_flag("progress", progress)
    threads, stream = parallel.n_workers(workers), RRandom(seed)
    held_out = None if test is None else model.held_out(test)
    seeds = stream.sample_int(checks.LARGEST_INTEGER, runs).tolist()
    tasks = [  # the solvers in turn
        (name, number, solver.with_seed(seed))
        for number, seed in enumerate(seeds, 1)
        for name, solver in checked.items()
    ]

    def record(task: tuple[str, int, AnySolver]) -> pd.DataFrame:
        """Run one solver once; return its record with name, number and seed."""
        name, number, solver = task
        recorder = model.recorder(solver.ties, held_out)
        try:
            seed = model.solve(solver, recorder).seed
        except errors.PegasosStatsError as error:
            error.add_note(f"In run {number} of {name!r}, seed {solver.seed}.")
            raise
        lines = recorder.frame()
        lines.insert(0, "solver", name)
        lines.insert(1, "run", number)
        lines.insert(2, "seed", pd.Series([seed] * len(lines), dtype="Int64"))
        gap, objective = lines["gap"], lines["objective"]
        relative = (gap / objective).mask((gap == 0.0) & (objective == 0.0), 0.0)
        lines.insert(7, "relative_gap", relative)  # 0 / 0 is 0, as in a `Certificate`
        return lines

    with warnings.catch_warnings():
        # The filter is one for all threads. The gaps are in the record.
        warnings.simplefilter("ignore", errors.ConvergenceWarning)
        for solver in checked.values():
            if solver.to_optimum:
                model.solve(solver.with_seed(0))  # loads its compiled code
        frames: Iterable[pd.DataFrame] = parallel.map_in_order(record, tasks, threads)
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


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class SolverComparison(tables.Summarised):
    """Runs of several solvers on one model; made by `compare_solvers`.

    Attributes
    ----------
    runs : DataFrame
        A row for each epoch of each run: ``solver, run, seed, epoch, steps,
        objective, gap, relative_gap, violations`` (of this epoch), ``training_error``,
        ``test_error`` if there are held-out rows, and ``cpu_seconds``, the
        processor time of all updates so far.
    solvers : mapping of name to solver
        The solvers, as given.
    model : SVM, Logit or KernelSVM
    n_runs : int
        Runs of each solver.
    n_test : int or None
        Number of held-out rows.
    seed : int
        Seed from which the seeds of the runs are drawn; drawn itself if none was given.
    workers : int
        Number of threads.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=0.1)
    >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "Newton": ps.Optimum(0, epochs=3)}
    >>> found = ps.compare_solvers(model, solvers, runs=5, seed=443)
    >>> again = model.fit(found.solver("Newton", run=2), trace=True).trace
    >>> newton = found.runs.query("solver == 'Newton' and run == 2")
    >>> again["objective"].tolist() == newton["objective"].tolist()
    True
    """

    runs: pd.DataFrame
    solvers: Mapping[str, AnySolver]
    model: Model
    n_runs: int
    n_test: int | None
    seed: int
    workers: int

    _field_rules = "seed seed"

    @property
    def lower_bound(self) -> float:
        """Largest dual objective of all epochs: a lower bound on the optimum."""
        return float((self.runs["objective"] - self.runs["gap"]).max())

    @property
    def least_objective(self) -> float:
        """Smallest objective of all epochs: an upper bound on the optimum."""
        return float(self.runs["objective"].min())

    def solver(self, name: str, run: int) -> AnySolver:
        """Return a solver with the seed of one of its runs, which a fit then repeats.

        Parameters
        ----------
        name : str
        run : int
            Counted from 1, as in `runs`.

        Raises
        ------
        OptionError
            If there is no such run.
        """
        checks.check_choice("name", name, tuple(self.solvers))
        at = (self.runs["solver"] == name) & (self.runs["run"] == checks.number_of(run))
        if not at.any():
            raise OptionError(f"is not from 1 to {self.n_runs}.", "run", run)
        seed = self.runs.loc[at, "seed"].iloc[0]
        return self.solvers[name].with_seed(None if pd.isna(seed) else int(seed))

    def tidy(self) -> pd.DataFrame:
        """Mean, spread and quantiles over the runs, at every epoch.

        Returns
        -------
        DataFrame
            A row for each solver, epoch and measure, in columns ``solver, epoch,
            measure, n_runs, mean, sd, q05, q25, q50, q75, q95``. Measures are
            ``objective, gap, relative_gap, violations, training_error, test_error,
            cpu_seconds``. Quantiles are R's type 7, ``sd`` has the divisor ``n - 1``
            (NaN for one run). Runs that ended before an epoch are not included in it;
            `n_runs` counts the others.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ .", train, lam=0.1)
        >>> solvers = {"Pegasos": ps.Pegasos(epochs=3)}
        >>> found = ps.compare_solvers(model, solvers, runs=5, seed=443).tidy()
        >>> found.query("measure == 'gap'")[["epoch", "n_runs", "mean", "sd"]].round(3)
           epoch  n_runs   mean     sd
        1      1       5  ...
        """
        measures = pd.CategoricalDtype(measures_of(self.runs))
        names = list(measures.categories)
        long = self.runs.melt(["solver", "epoch"], names, "measure")
        long = long.astype({"measure": measures, "value": "float64"})
        keys = ["solver", "epoch", "measure"]
        values = long.groupby(keys, observed=True)["value"]
        columns = {"n_runs": values.count(), "mean": values.mean(), "sd": values.std()}
        columns |= {name: values.quantile(share) for name, share in QUANTILES.items()}
        return pd.DataFrame(columns).reset_index()

    def glance(self) -> pd.DataFrame:
        """Statistics of each solver at the end of its runs.

        Returns
        -------
        DataFrame
            A row for each solver: ``solver, n_runs, epochs_min, epochs_max,
            n_reached`` (runs that reached the tolerance, missing where there is
            none), then ``_mean`` and ``_sd`` of every measure at the last epoch of
            each run.
        """
        last = self.runs.groupby(["solver", "run"], observed=True).tail(1)
        by_solver = last.groupby("solver", observed=True)
        columns = {
            "n_runs": by_solver.size(),
            "epochs_min": by_solver["epoch"].min(),
            "epochs_max": by_solver["epoch"].max(),
        }
        reached = {
            name: runs_at_tolerance(runs, self.solvers[str(name)])
            for name, runs in by_solver
        }
        columns["n_reached"] = pd.Series(reached, dtype="Int64")
        for name in measures_of(self.runs):
            columns[f"{name}_mean"] = by_solver[name].mean()
            columns[f"{name}_sd"] = by_solver[name].std()
        return pd.DataFrame(columns).rename_axis("solver").reset_index()

    def summary(self) -> tables.Summary:
        """Summarise each solver at the end of its runs.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook HTML; ``to_latex()`` gives LaTeX.
        """
        last = self.glance().set_index("solver").rename_axis(None)
        low, high = (
            tables.significant(v, 8) for v in (self.lower_bound, self.least_objective)
        )
        right = [
            ("Runs of each:", f"{self.n_runs:,}"),
            ("Seed:", str(self.seed)),
            ("Held-out rows:", "none" if self.n_test is None else f"{self.n_test:,}"),
        ]
        reached = last["n_reached"].dropna().items()
        threads = counted(self.workers, "thread")
        notes = [
            "Means over the runs, each at its last epoch; spreads are in glance().",
            f"Certified by duality: the optimum lies between {low} and {high}.",
            *(f"{name} reached its tolerance in {n} runs." for name, n in reached),
            f"CPU time of the updates alone, in {threads}.",
        ]
        which = "training" if self.n_test is None else "test"
        columns = {
            "epochs_max": "epochs",
            "objective_mean": "objective",
            "gap_mean": "gap",
            f"{which}_error_mean": f"{which} error",
            "cpu_seconds_mean": "CPU s",
        }
        table = last[list(columns)].map(tables.significant).rename(columns=columns)
        left = fold_fits.model_fields(self.model)
        return tables.Summary(["Comparison of solvers"], table, notes, left, right)

    @suggest_arguments
    def plot(
        self,
        *,
        excess: bool = False,
        ax: "Sequence[Axes] | None" = None,
        **line: object,
    ) -> "tuple[Axes, Axes, Axes]":
        """Draw loss against CPU time, test error and gap against epoch.

        A line goes through the median over the runs, a band from the 5% to the 95%
        quantile. Each point of the first panel is an epoch: the median loss at the
        median time. Axes are logarithmic where values span more than a factor of ten,
        those of time and gap always.

        Parameters
        ----------
        excess : bool, default False
            Whether to show the loss minus `lower_bound`, the most that is left to gain.
        ax : three axes, optional
            By default those of a new figure, one below the other.
        **line
            Properties of the lines.

        Returns
        -------
        tuple of three Axes
            Without held-out rows the second shows the training error.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        OptionError
            If `ax` does not hold three axes.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ .", train, lam=0.1)
        >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "Optimum": ps.Optimum()}
        >>> found = ps.compare_solvers(model, solvers, runs=5, test=test, seed=443)
        >>> from matplotlib.figure import Figure
        >>> loss, error, gap = found.plot(ax=Figure().subplots(3))
        >>> gap.get_ylabel()
        'Duality gap'
        """
        from pegasos_stats.output.plotting.curves import plot_comparison

        checks.check_flag("excess", excess)
        return plot_comparison(self, excess, ax, line)


def measures_of(runs: pd.DataFrame) -> list[str]:
    """Return the measures of a record: without held-out rows there is no test error."""
    return [name for name in MEASURES if name in runs.columns]


def runs_at_tolerance(last: pd.DataFrame, solver: AnySolver) -> int | None:
    """Count the runs of one solver that reached its tolerance; None if it has none.

    They ended before the last epoch allowed, or with a gap that is small enough.
    """
    if not solver.stops:
        return None
    near = last["gap"] <= solver.tol * last["objective"]
    if solver.gap_tol:
        near |= last["gap"] <= solver.gap_tol
    return int((near | (last["epoch"] < solver.epochs)).sum())
