"""What a study found: the record of all runs, and what is computed from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from pegasos_stats.checks import check_flag, number_of
from pegasos_stats.errors import OptionError, listing, shown
from pegasos_stats.models.base import Model
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.compare.report import (
    TITLE,
    end_table,
    model_facts,
    study_notes,
    tolerance_of,
)
from pegasos_stats.studies.compare.statistics import (
    at_the_end,
    runs_at_tolerance,
    statistics_by_epoch,
)
from pegasos_stats.tables import Fields, Summary, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class SolverComparison:
    """Runs of several solvers on one model; made by `compare_solvers`.

    Attributes
    ----------
    runs : DataFrame
        A row for each epoch of each run: ``solver, run, seed`` (missing where nothing
        is drawn), ``epoch, steps, objective, gap, relative_gap, violations`` (of this
        epoch), ``training_error``, ``test_error`` if there are held-out rows, and
        ``cpu_seconds``, the processor time of all updates so far.
    solvers : mapping of name to solver
        As they were given.
    model : SVM, Logit or KernelSVM
    n_runs : int
        Runs of each solver.
    n_test : int or None
        Number of held-out rows.
    seed : int
        Start of the stream of seeds; drawn if none was given.
    workers : int
        Threads side by side.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=0.1)
    >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "SDCA": ps.SDCA(tol=0, epochs=3)}
    >>> found = ps.compare_solvers(model, solvers, runs=5, seed=443)
    >>> again = model.fit(found.solver("SDCA", run=2), trace=True).trace
    >>> sdca = found.runs.query("solver == 'SDCA' and run == 2")
    >>> again["objective"].tolist() == sdca["objective"].tolist()
    True
    """

    runs: pd.DataFrame
    solvers: Mapping[str, Pegasos | SDCA]
    model: Model
    n_runs: int
    n_test: int | None
    seed: int
    workers: int

    @property
    def lower_bound(self) -> float:
        """Best dual objective of all epochs: no model has a smaller objective."""
        return float((self.runs["objective"] - self.runs["gap"]).max())

    @property
    def least_objective(self) -> float:
        """Least objective of all epochs: the optimum is not above it."""
        return float(self.runs["objective"].min())

    def solver(self, name: str, run: int) -> Pegasos | SDCA:
        """Return a solver with the seed of one of its runs: it repeats that run.

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
        if not isinstance(name, str) or name not in self.solvers:
            raise OptionError(
                f"There is no solver {shown(name)}; give one of "
                f"{listing(self.solvers)}."
            )
        at = (self.runs["solver"] == name) & (self.runs["run"] == number_of(run))
        if not at.any():
            raise OptionError(
                f"There is no run {shown(run)}; give a number from 1 to {self.n_runs}."
            )
        seed = self.runs.loc[at, "seed"].iloc[0]
        return replace(self.solvers[name], seed=None if pd.isna(seed) else int(seed))

    def tidy(self) -> pd.DataFrame:
        """Mean, spread and quantiles over the runs, at every epoch.

        Returns
        -------
        DataFrame
            A row for each solver, epoch and measure, in columns ``solver, epoch,
            measure, n_runs, mean, sd, q05, q25, q50, q75, q95``. Measures are
            ``objective, gap, relative_gap, violations, training_error, test_error,
            cpu_seconds``. Quantiles are R's type 7, ``sd`` has the divisor ``n - 1``
            (NaN for one run). Runs that ended before an epoch are not in it: `n_runs`
            counts those that are.

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
        return self._by_epoch.copy()

    def glance(self) -> pd.DataFrame:
        """Every solver at the end of its runs.

        Returns
        -------
        DataFrame
            A row for each solver: ``solver, n_runs, epochs_min, epochs_max,
            n_reached`` (runs that reached the tolerance, missing where there is
            none), then ``_mean`` and ``_sd`` of every measure at the last epoch of
            each run.
        """
        last = at_the_end(self.runs)
        reached = {
            name: runs_at_tolerance(self.runs[self.runs["solver"] == name], solver)
            for name, solver in self.solvers.items()
        }
        counts = [reached[name] for name in last["solver"]]
        last.insert(4, "n_reached", pd.Series(counts, dtype="Int64"))
        return last

    def summary(self) -> Summary:
        """Every solver at the end of its runs, in words.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook HTML; ``as_latex()`` gives LaTeX.
        """
        last, limits = self.glance(), (self.lower_bound, self.least_objective)
        tolerances = {
            name: tolerance_of(solver)
            for name, solver in self.solvers.items()
            if solver.stops
        }
        notes = study_notes(
            last, tolerances, limits, self.n_runs, self.seed, self.workers
        )
        left = model_facts(self.model.problem, self.model.coding.name)
        return Summary(TITLE, left, self._right(), end_table(last), notes)

    def plot(
        self, ax: "Sequence[Axes] | None" = None, *, excess: bool = False
    ) -> "tuple[Axes, Axes, Axes]":
        """Draw loss against CPU time, test error and gap against epoch.

        A line goes through the median over the runs, a band from the 5% to the 95%
        quantile. Each point of the first panel is an epoch: the median loss at the
        median time. A line is thin where some runs have ended. Axes are logarithmic
        where values span more than a factor of ten, those of time and gap always.

        Parameters
        ----------
        ax : three axes, optional
            Those of a new figure, one below the other, if left out.
        excess : bool, default False
            Whether to show the loss less `lower_bound`: what is left to gain, at
            most.

        Returns
        -------
        tuple of three Axes
            With no held-out rows the second has the training error.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        OptionError
            If `ax` are not three.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ .", train, lam=0.1)
        >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "SDCA": ps.SDCA()}
        >>> found = ps.compare_solvers(model, solvers, runs=5, test=test, seed=443)
        >>> from matplotlib.figure import Figure
        >>> loss, error, gap = found.plot(Figure().subplots(3))
        >>> gap.get_ylabel()
        'Duality gap'
        """
        from pegasos_stats.output.plotting.comparison import plot_comparison

        check_flag("excess", excess)
        return plot_comparison(self._by_epoch, self.lower_bound, excess, ax)

    def _right(self) -> Fields:
        held_out = "none" if self.n_test is None else f"{self.n_test:,}"
        return [
            ("Runs of each:", f"{self.n_runs:,}"),
            ("Seed:", str(self.seed)),
            ("Held-out rows:", held_out),
            ("Lower bound:", significant(self.lower_bound, 6)),
            ("Least objective:", significant(self.least_objective, 6)),
        ]

    @cached_property
    def _by_epoch(self) -> pd.DataFrame:
        return statistics_by_epoch(self.runs)

    def __str__(self) -> str:
        return self.summary().as_text()

    def __repr__(self) -> str:
        return (
            f"<SolverComparison: {', '.join(self.solvers)}; {self.n_runs:,} runs each, "
            f"seed {self.seed}>"
        )

    def _repr_html_(self) -> str:
        return self.summary().as_html()
