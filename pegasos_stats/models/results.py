"""Results that all models have: predictions, tables, data frames, reports."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Mask, Vector
from pegasos_stats.data.labels import Ties
from pegasos_stats.data.language.formula_design import Unseen
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import ScaledDesign, Scaling, moments
from pegasos_stats.data.scan.files import Scan, joined, scanned_frames
from pegasos_stats.data.scan.levels import columns_of_outcome
from pegasos_stats.data.scan.partitions import Partitions, compute_tasks
from pegasos_stats.data.scan.rows import Block, StreamedRows, Values, added
from pegasos_stats.data.weights import Counts, column_named, column_of_counts
from pegasos_stats.errors import DataError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.metrics.inputs import EventLevel, Mode
from pegasos_stats.models import notes as about
from pegasos_stats.models.notes import Note
from pegasos_stats.models.predicting import Predictor, light, predicted
from pegasos_stats.models.row_sources import row_source
from pegasos_stats.other_frames import is_dask, partitioned
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.risk_and_bound import Point, scores
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solutions import certificate_of
from pegasos_stats.solvers.solver_runs import Shortfall, shortfall_of
from pegasos_stats.tables import Summary, significant

if TYPE_CHECKING:
    from pegasos_stats.models.base import Model
    from pegasos_stats.output.report.output_path import Format
    from pegasos_stats.output.report.report import Report
    from pegasos_stats.studies.selection.lambda_path import LambdaPath
    from pegasos_stats.studies.thresholds import Thresholds

SOME, SAME = 100, 1e-6  # rows that are compared; of the range of their scores


class ReadRows(NamedTuple):
    """Rows of files, read once.

    Attributes
    ----------
    scores : Series, shape (n,)
    labels : Series, shape (n,)
    beside : DataFrame, shape (n, m), or None
        Further columns that were asked for; None for the rows of the fit.
    seen : bool
        Whether the rows are those of the fit.
    """

    scores: "pd.Series[float]"
    labels: pd.Series
    beside: pd.DataFrame | None
    seen: bool


def _asked(
    unseen: Unseen,
    offset: object,
    names: list[str],
    labelled: bool,
    result: "Results",
    frame: pd.DataFrame,
) -> tuple["pd.Series[float]", pd.Series, pd.DataFrame]:
    """Scores of some rows, labels or missing values, and other columns."""
    f = result.decision_function(frame, unseen=unseen, offset=offset)
    labels = result._labels(frame) if labelled else pd.Series(None, frame.index)
    return f, labels, frame[names]


@suggest_names("result")
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Results(Predictor):
    """A fitted model; made by the `fit` method of a model.

    Attributes
    ----------
    problem, solver, solution, design, coding, index, offsets
        As of `Predictor`.
    dropped : Dropped
        Counts of the rows left out for missing values.
    trace : DataFrame or None
        One line per epoch, with ``fit(trace=True)``; else None.
    refinement : SDCA or None
        The solver of ``fit(refine=)``, which went on from the dual point of the first.
    seconds : float or None
        Run time of the fit.
    counted : Counts or None
        Counts of the rows, if ``freq_weights=`` was given.
    model : Model or None
        What was fitted; None for a loaded fit.
    """

    dropped: Dropped
    trace: pd.DataFrame | None = None
    refinement: SDCA | None = None
    seconds: float | None = None
    counted: Counts | None = None
    model: "Model | None" = None

    @property
    def lambda_path(self) -> "LambdaPath | None":
        """The path that chose lambda, with ``lam="cv"``; None of a loaded fit."""
        chosen = self.problem.lam_rule == "cv" and self.model is not None
        return self.model._path if chosen and self.model is not None else None

    @property
    def intercept(self) -> float:
        """Intercept ``alpha``; 0 for a model without one."""
        return float(self.solution.alpha)

    @property
    def nobs(self) -> int:
        """Number of rows used, those of weight 0 not counted."""
        return self.problem.n_weighed

    @cached_property
    def certificate(self) -> Certificate:
        """Primal and dual objective of the fit, and the gap between them.

        The dual point is the one the solver ended with; `shortfall` has better bounds.
        """
        solver = self.solver if self.refinement is None else self.refinement
        return certificate_of(self.problem, self.solution, solver.tol)

    @cached_property
    def shortfall(self) -> Shortfall:
        """Lower and upper bounds on the distance of the objective from its minimum.

        If the relative gap of `certificate` is above 1e-6, SDCA continues from its dual
        point for as much work as the fit took, or a tenth of a second, to improve the
        bounds. For kernel models, and for models saved without them, these are the
        bounds of the certificate.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train, lam=0.01).fit(ps.Pegasos(seed=443))
        >>> round(result.objective, 4), round(result.gap, 4)
        (0.2135, 0.2135)
        >>> round(result.shortfall.at_least, 4), round(result.shortfall.at_most, 4)
        (0.2134, 0.2134)
        """
        if isinstance(self.solution, Solution) and self.problem.has_rows:
            return shortfall_of(
                self.problem, self.solver, self.solution, self.certificate
            )
        return Shortfall.certified(self.certificate)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the fit and warnings; `summary` adds those on standard errors.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> wild = ps.svm("digit ~ .", train, lam=1e-3).fit(ps.Pegasos(1, seed=443))
        >>> [note.topic for note in wild.notes if note.severity == "warning"]
        ['run']
        """
        found = about.about_fit(self)
        path = self.lambda_path
        if path is not None and self.problem.loss == "log" and path.is_best_at_largest:
            found.append(about.no_predictor_helps(path.metric))
        data = about.about_data(self.dropped, self.design)
        levels = about.level_order(self.coding, self.design)
        return (*found, *data, *levels, *self._on_predictors[1])

    @cached_property
    def _on_predictors(self) -> tuple[float, list[Note]]:
        """Notes on the predictors of a linear fit, beside a number no longer in use."""
        return np.inf, []

    @cached_property
    def _moments(self) -> tuple[Vector, Vector] | None:
        """Means and standard deviations of the columns of the fit; None if unknown."""
        X, scaling = self.problem.X, self.scaling
        if isinstance(X, StreamedRows):
            means, deviations = X.means, X.spread
            if scaling is None:
                return means, deviations
            return (means - scaling.centre) / scaling.scale, deviations / scaling.scale
        if not self.problem.has_rows:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return moments(X)

    @cached_property
    def constants(self) -> Mask:
        """Columns beside an intercept with one value in all rows; all those of 0."""
        if self._moments is None:
            return np.zeros(self.problem.p, dtype=bool)
        means, deviations = self._moments
        zero = (means == 0.0) & (deviations == 0.0)
        return np.asarray(zero | (self.problem.intercept & ~varies(means, deviations)))

    @property
    def objective(self) -> float:
        """Regularised risk at the fit, ``lam/2 ||beta||^2 + mean loss``."""
        return self.certificate.objective

    @property
    def dual_objective(self) -> float:
        """Dual objective: a lower bound on the objective of any model."""
        return self.certificate.dual_objective

    @property
    def gap(self) -> float:
        """Duality gap, ``objective - dual_objective``."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """``gap / objective``."""
        return self.certificate.relative_gap

    @property
    def converged(self) -> bool | None:
        """Whether the solver reached its tolerance; None for a run without one."""
        at, last = self.certificate, self.refinement or self.solver
        return last.converged(at, self.solution.settled)

    @property
    def scaling(self) -> Scaling | None:
        """Centres and scales of ``standardize=True``; None without it."""
        return self.design.scaling if isinstance(self.design, ScaledDesign) else None

    @property
    @abstractmethod
    def n_support(self) -> int:
        """Number of training rows that the fit depends on."""

    @property
    def n_iter(self) -> int:
        """Number of steps taken."""
        return int(self.solution.n_iter)

    @property
    def n_epochs(self) -> int | None:
        """Epochs that the solver ran, without those of ``refine=``; None for SDCA."""
        return self.solution.n_epochs

    @property
    def n_violations(self) -> int:
        """Number of visits of rows with a margin below 1; for the log loss, below 0.

        A step of Pegasos visits one row, or those of a batch; Newton steps of SDCA look
        at all rows, so that violations may be more than `n_iter`.
        """
        return int(self.solution.n_violations)

    @property
    def seed(self) -> int | None:
        """Seed of the run; R's ``set.seed()`` with it repeats a fit of Pegasos."""
        return self.solution.seed

    @property
    def solver_name(self) -> str:
        """Name of the solver, with that of ``refine=`` if there was one."""
        return self.solver.name + (", then SDCA" * bool(self.refinement))

    @suggest_arguments
    @partitioned
    def confusion(
        self,
        data: object = None,
        actual: object = None,
        *,
        ties: Ties | None = None,
        unseen: Unseen = "error",
        positive: object = None,
        event_level: EventLevel | None = None,
        mode: Mode | None = None,
        prevalence: float | None = None,
        beta: float = 1.0,
        freq_weights: object = None,
        weights: object = None,
        threshold: float | None = None,
        offset: object = None,
    ) -> ConfusionMatrix:
        """Confusion table of actual against predicted labels, with its statistics.

        It includes the area under the ROC curve, and for a logistic fit log loss and
        Brier score.

        Parameters
        ----------
        data, ties, unseen, threshold : optional
            As for `predict`. Files are read once, also those of a fit from files; a
            Dask frame is scored partition by partition, and the scores are collected
            here.
        actual : Series or array, optional
            Labels of the rows; if omitted, the outcome's column of `data`.
        positive, event_level, mode, prevalence, beta : optional
            As for `pegasos_stats.metrics.confusion`.
        freq_weights : array or Series of whole numbers, or a column's name; optional
            How many rows each row stands for; if omitted, the column that the fit used.
        weights : array or Series, or a column's name; optional
            Weight of each row, as for `pegasos_stats.metrics.confusion`; 1 if omitted,
            even if the fit had weights.
        offset : optional
            As for `decision_function`.

        Returns
        -------
        ConfusionMatrix
            Without intervals and tests if these are rows of the fit, in any order, or
            more than one in twenty is and chance would not repeat so many; ``source``
            says which rows they are. A fit from files, or loaded, knows its rows all
            together in their order alone.
        """
        read = matrix = None
        if isinstance(data, tuple) and len(data) == 2 and actual is None:
            actual, data = data  # y and X, as test= of fit()
        if getattr(actual, "ndim", 1) == 2 and getattr(data, "ndim", 1) < 2:
            raise DataError("Rows come first, labels second: write confusion(X, y).")
        if are_in_files(self.problem, data):
            known = None if self.counted is None else self.counted.column
            read = read_rows(
                self,
                data,
                unseen,
                offset,
                [freq_weights, weights, known],
                actual is None,
            )
            scores, data = read.scores, read.beside
        else:
            matrix = self._matrix(data, unseen, offset)
            scores = self._scores(matrix)
        logistic = self.problem.loss == "log"
        odds = scores - self.problem.prior_shift
        if actual is not None:
            labels = actual
        else:
            labels = self._labels(data) if read is None else read.labels
        counts = column_of_counts(freq_weights, self.counted, data)
        if data is None and counts is None:
            counts = self.problem.counting
        if isinstance(weights, str):
            weights = column_named("weights", weights, data, "one number for each row")
        found = confusion(
            labels,
            predicted(scores, self.problem, self.coding, self._ties(ties), threshold),
            positive,
            levels=self.coding.levels,
            scores=scores,
            probabilities=self.coding.probabilities(odds) if logistic else None,
            event_level=event_level,
            mode=mode,
            prevalence=prevalence,
            beta=beta,
            freq_weights=counts,
            weights=weights,
        )
        if data is None or (read is not None and read.seen):
            return replace(found, source="training")
        if matrix is None:
            return found
        return row_source(self, matrix, labels, counts).marked(found)

    @suggest_arguments
    def thresholds(
        self,
        data: object = None,
        actual: object = None,
        *,
        metric: str | None = None,
        cost: object = None,
        positive: object = None,
        folds: object = 5,
        repeats: int = 1,
        groups: object = None,
        seed: int | None = 1,
        unseen: Unseen = "error",
        freq_weights: object = None,
        offset: object = None,
        workers: int | None = None,
        progress: bool = False,
    ) -> "Thresholds":
        """Choose a threshold for ``predict(threshold=)``, estimate its performance.

        The choice uses scores of rows that no fit has seen: out-of-fold scores of the
        same model and solver, from folds as in `cross_validate`, or scores of new rows.
        The performance of the procedure is estimated by nesting: in each fold a
        threshold is chosen without the rows of that fold, by 5 inner folds of the
        training rows; for new rows, by the other folds.

        Candidates are the midpoints between neighbouring scores; if the usual threshold
        lies between the two, it is the candidate. Of several equally good ones the
        nearest to the usual threshold is taken. The scale is that of `predict`.

        Metrics and costs use ``freq_weights=`` and weights of rows.
        Class weights, such as ``"balanced"``, are used in the fits only.

        Parameters
        ----------
        data, actual, unseen, freq_weights, offset : optional
            New rows, as for `confusion`; out-of-fold scores if left out.
        metric : str, optional
            Metric to maximise: ``"balanced_accuracy"``, the default, ``"youden"``,
            ``"accuracy"``, ``"kappa"``, ``"mcc"``, ``"f1"``, ``"f0.5"``, ``"f2"``; or
            to minimise: ``"error_rate"``.
        cost : dict, optional
            Costs, instead of a metric; their mean over the rows is minimised. Give the
            cost of each kind of error, ``{"false_positive": 1, "false_negative": 5}``,
            or of an error in each actual level, ``{"no": 1, "yes": 5}``.
        positive : label, optional
            Positive class; by default the second level, as everywhere.
        folds, repeats, groups, seed, workers, progress
            As for `cross_validate`. By default folds keep the groups of
            ``fit(groups=)`` whole; with two groupings, those of the first.

        Returns
        -------
        Thresholds
            With ``threshold``, ``estimate``, ``std_error``, ``table``, ``plot()``.

        Raises
        ------
        OptionError
            If an option is not allowed.
        DataError
            If `data` are the rows of the fit, or a loaded fit has no rows.

        References
        ----------
        Varma & Simon, *Bias in error estimation when using cross-validation for model
        selection*, BMC Bioinformatics 7 (2006), 91.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ p34 + p43", train, lam=0.01).fit(ps.SDCA(seed=1))
        >>> cost = {"false_positive": 1, "false_negative": 5}
        >>> found = result.thresholds(cost=cost, seed=443)
        >>> usual, chosen = (
        ...     result.confusion(test, threshold=t).table.loc[6, 5]
        ...     for t in (0.0, found.threshold)
        ... )
        >>> bool(chosen < usual)
        True
        """
        from pegasos_stats.studies.thresholds import choose_threshold

        return choose_threshold(
            *(self, data, actual),
            metric=metric,
            cost=cost,
            positive=positive,
            folds=folds,
            repeats=repeats,
            groups=groups,
            seed=seed,
            unseen=unseen,
            freq_weights=freq_weights,
            offset=offset,
            workers=workers,
            progress=progress,
        )

    @cached_property
    def training_table(self) -> ConfusionMatrix:
        """Confusion table of the training rows; for a loaded model, its counts."""
        pair, levels = (self._labels(), self.predict()), self.coding.levels
        found = confusion(*pair, levels=levels, freq_weights=self.problem.counting)
        return replace(found, source="training")

    @abstractmethod
    def tidy(self) -> pd.DataFrame:
        """Terms of the fit with their estimates, as a data frame."""

    def glance(self) -> pd.DataFrame:
        """The fit as one row, with the columns of broom's ``glance``.

        Returns
        -------
        DataFrame, one row
            Columns ``nobs, dropped`` (rows used, and left out for missing values),
            ``loss, lam, objective, dual_objective, gap, relative_gap, n_iter,
            n_violations, n_support, error_rate`` (of the training rows), ``solver,
            seed`` (drawn from or not) and ``converged`` (missing for a run without a
            tolerance). ``pd.concat`` of several compares fits.
        """
        facts = ("objective", "dual_objective", "gap", "relative_gap")
        counts = ("n_iter", "n_violations", "n_support")
        cells = {
            **{"nobs": self.nobs, "dropped": self.dropped.total},
            **{"loss": self.problem.loss, "lam": self.problem.lam},
            **{name: getattr(self, name) for name in (*facts, *counts)},
            "error_rate": self.training_table.error_rate,
            "solver": self.solver_name,
            "seed": pd.array([self.seed], dtype="Int64"),
            "converged": pd.array([self.converged], dtype="boolean"),
        }
        return pd.DataFrame(cells, index=[0])

    @abstractmethod
    def summary(self, *, details: bool = False) -> Summary:
        """Header, table and notes on one screen; `details` adds the rest."""

    def _repr_html_(self) -> str:
        return self.summary().to_html()

    def report(
        self,
        test: object = None,
        path: str | PathLike[str] | None = None,
        *,
        format: "Format | None" = None,
        title: str | None = None,
        image_shape: tuple[int, int] | None = None,
        positive: object = None,
        path_of_lambda: object = None,
        validation: object = None,
        unseen: Unseen = "error",
        offset: object = None,
        threshold: object = None,
        overwrite: bool = False,
    ) -> "Report":
        """Make a one-page report of the fit; see `pegasos_stats.report`."""
        from pegasos_stats.output.report.report import report

        return report(
            *(self, test, path),
            format=format,
            title=title,
            image_shape=image_shape,
            positive=positive,
            path_of_lambda=path_of_lambda,
            validation=validation,
            unseen=unseen,
            offset=offset,
            threshold=threshold,
            overwrite=overwrite,
        )

    def __repr__(self) -> str:
        return (
            f"<Results: {self.coding.described}, {counted(self.nobs, 'row')}, "
            f"{self._size()}, objective {significant(self.objective, 6)}, "
            f"seed {self.seed}>"
        )

    @abstractmethod
    def _size(self) -> str:
        """How large the fit is, in words."""


def varies(means: Vector, deviations: Vector) -> Mask:
    """Which columns have different values, beyond the rounding of their mean."""
    return np.asarray(deviations > 1e-12 * np.abs(means))


def are_in_files(problem: object, data: object) -> bool:
    """Whether rows are in files: these data, or those of the fit for None."""
    if data is None:
        return isinstance(getattr(problem, "X", None), StreamedRows)
    return isinstance(data, Scan) or is_dask(data)


def read_rows(
    result: "Results",
    data: object,
    unseen: Unseen,
    offset: object,
    columns: Sequence[object] = (),
    labelled: bool = True,
) -> ReadRows:
    """Read rows once, block by block.

    Parameters
    ----------
    result : Results
    data : Scan, frame of Dask, or None
        None for the rows of a fit from files.
    unseen, offset
        As for `decision_function`.
    columns : sequence
        Names of further columns; what is no name is passed over.
    labelled : bool
        Whether labels are read too; else they are missing.

    Raises
    ------
    ColumnError
        If a file lacks a column.
    """
    of_fit, solution = result.problem, result.solution
    if data is None:
        assert isinstance(of_fit, Problem)
        assert isinstance(solution, Solution)
        found = scores_of_fit(of_fit, solution)
        f = pd.Series(found, result.index, name="score")
        return ReadRows(f, result._labels(), None, seen=True)
    source = data if isinstance(data, Scan) else Partitions(data)
    if isinstance(source, Scan):
        source.renewed()
    names = [name for name in columns if isinstance(name, str) and name in source.kinds]
    outcome: list[str] = []
    if labelled and result.design.formula is not None:
        nothing = pd.DataFrame({name: [] for name in source.kinds})
        formula = str(result.design.formula)
        outcome = columns_of_outcome(formula, nothing, source.noun)
    elif labelled:
        outcome = [result.coding.name]
    offsets = result.offsets
    also = [] if offsets is None else offsets.columns([*source.kinds], offset)
    asked = partial(_asked, unseen, offset, names, labelled)
    if isinstance(source, Scan):
        frames = scanned_frames(source, result.design, [*outcome, *names, *also])
        parts = [asked(result, frame) for frame in frames]
    else:
        parts = compute_tasks(source.tasks(asked, light(result)))
    of_files = isinstance(source, Scan)  # whose rows are numbered over all of them
    f = pd.concat([part[0] for part in parts], ignore_index=of_files)
    beside = pd.concat([part[2] for part in parts]).set_axis(f.index)
    labels = joined([part[1] for part in parts]).set_axis(f.index)
    same = labelled and isinstance(of_fit, Problem) and isinstance(solution, Solution)
    return ReadRows(f, labels, beside, same and are_of_fit(result, data, f, labels))


def are_of_fit(
    result: "Results", data: object, f: "pd.Series[float]", labels: pd.Series
) -> bool:
    """Whether scores are those of the rows of a fit from files, in their order.

    Its files may hold other rows by now, and other files its rows. What scores that
    are all the same do not tell, and what a weight may have left out, the paths do.
    """
    X, found = result.problem.X, result.solution
    assert isinstance(found, Solution)
    if not isinstance(X, StreamedRows):
        return False
    complete = (f.notna() & labels.notna()).to_numpy(dtype=bool)
    some = result.problem.X.sample(SOME)
    expected = scores(some.X, Point(found.beta, found.alpha), some.offset)
    spread = float(np.ptp(expected))
    if complete.sum() != X.shape[0] or spread == 0.0:
        return isinstance(X.scan, Scan | Partitions) and X.scan.holds(data)
    apart = np.abs(f.to_numpy()[complete][some.numbers] - expected)
    return bool(apart.max() <= SAME * spread)


def scores_of_fit(problem: Problem, solution: Solution) -> Vector:
    """Read the rows of a fit from files, and return their scores, shape (n,)."""
    work = partial(_scores, Point(solution.beta, solution.alpha))
    return np.concatenate(added(problem.X.read(work)))


def _scores(at: Point, block: Block, values: Values) -> list[Vector]:
    return [scores(block.X, at, block.offset)]
