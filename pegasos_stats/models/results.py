"""Base class of results: predictions, tables, data frames, reports."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import checks
from pegasos_stats.arrays import Mask, Vector
from pegasos_stats.data import design as designs
from pegasos_stats.data import user_data
from pegasos_stats.data.design import ScaledDesign, Scaling
from pegasos_stats.data.labels import LabelCoding, Ties
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.language.formula_design import UNSEEN, Unseen, without_unseen
from pegasos_stats.data.sample import (
    Counts,
    MissingRowCounts,
    Offset,
    aligned_labels,
    column_named,
)
from pegasos_stats.data.scan.rows import streamed
from pegasos_stats.data.scan.source import digests_by_row
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    MissingAttributeError,
    OptionError,
    counted,
    listing,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion, joined_tables
from pegasos_stats.metrics.inputs import EventLevel, Mode
from pegasos_stats.models.new_rows import (
    ScoredBlock,
    by_block,
    rows_of_table,
)
from pegasos_stats.models.notes import Note, about_fit
from pegasos_stats.other_frames import takes_streams
from pegasos_stats.solvers.certificate import Certificate
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.solver_runs import (
    AnySolution,
    OptimalityBounds,
    certificate_of,
    scores_of,
    shortfall_of,
)
from pegasos_stats.tables import DisplayedBySummary, Summary, significant

if TYPE_CHECKING:
    from pegasos_stats.models.linear import Model
    from pegasos_stats.output.report.report import Report
    from pegasos_stats.studies.cross_validation import LambdaPath
    from pegasos_stats.studies.thresholds import Thresholds

Result = TypeVar("Result")


class LazyMethod(Generic[Result]):
    """A method that imports its function from a higher layer on first access.

    Parameters
    ----------
    module, name : str
        Module and name of the function; its first argument is the object.
    """

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, instance: object, kind: type) -> Callable[..., Result]:
        """Return the bound method of an object, or the function for a class."""
        function = getattr(import_module(self.module), self.name)
        return function if instance is None else MethodType(function, instance)


@dataclass(frozen=True)
class NamesOfModel:
    """Names of the columns of a model whose rows are not in memory.

    Attributes
    ----------
    exog_names : list of str
        Names of all coefficients; statsmodels has the same attribute.
    endog_names : str
        Name of the outcome.
    """

    exog_names: list[str]
    endog_names: str

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingAttributeError(
            f"The model has no {name!r} without its rows, which are not in memory (a "
            "loaded fit, or rows in files); build it from the data."
        )


@suggest_names("result")
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Results(DisplayedBySummary, ABC):
    """A fitted model, returned by the `fit` method of a model.

    Attributes
    ----------
    problem : Problem
        The objective, with the training rows as numbers.
    solver : Optimum, Pegasos or SDCA
    solution : Solution or KernelSolution
    design : Design
        Rule that converts data, including new data, to a matrix.
    coding : LabelCoding
        Which class is coded -1 and which +1.
    index : Index, shape (n,)
        Row labels of the rows used.
    offsets : Offset or None
        Source of the offset, if the fit has one.
    dropped : MissingRowCounts
        Numbers of rows excluded for missing values.
    trace : DataFrame or None
        One row per epoch with ``fit(trace=True)``, otherwise None.
    refinement : Optimum or None
        The solver of ``fit(refine=)``, which started from the first solver's dual
        variables.
    seconds : float or None
        Run time of ``fit()``.
    counted : Counts or None
        Source of the frequency weights, if the fit has ``freq_weights=``.
    full_model : Model or None
        The model with its rows; None for a loaded fit, files and Dask.
    """

    problem: Problem
    solver: AnySolver
    solution: AnySolution
    design: designs.Design
    coding: LabelCoding
    index: pd.Index
    offsets: Offset | None
    dropped: MissingRowCounts
    trace: pd.DataFrame | None = None
    refinement: Optimum | None = None
    seconds: float | None = None
    counted: Counts | None = None
    full_model: "Model | None" = None

    _field_rules = "problem.X np, index n, solution.dual n, seconds nonnegative"

    thresholds = cast(
        "LazyMethod[Thresholds]",
        LazyMethod("pegasos_stats.studies.thresholds", "thresholds"),
    )
    report = cast(
        "LazyMethod[Report]", LazyMethod("pegasos_stats.output.report.report", "report")
    )

    @property
    def lambda_path(self) -> "LambdaPath | None":
        """Path by which ``lam="cv"`` chose lambda; None for other and loaded fits."""
        chosen = self.problem.lam_rule == "cv" and self.full_model is not None
        return self.full_model._path if chosen and self.full_model is not None else None

    @property
    def model(self) -> "Model | NamesOfModel":
        """The model; for loaded fits, files and Dask only the names of its columns."""
        if self.full_model is not None:
            return self.full_model
        names = ["Intercept"] * self.problem.intercept + list(self.design.names)
        return NamesOfModel(names, str(self.coding.name))

    @property
    def intercept(self) -> float:
        """Intercept ``alpha``; 0 for a model without one."""
        return float(self.solution.alpha)

    @property
    def nobs(self) -> int:
        """Number of rows used, counted by `freq_weights`, without rows of weight 0."""
        return self.problem.n_weighed

    @cached_property
    def certificate(self) -> Certificate:
        """Primal and dual objective of the fit, and the gap between them.

        The dual objective is computed at the last dual point of the solver; `shortfall`
        has tighter bounds.
        """
        solver = self.solver if self.refinement is None else self.refinement
        return certificate_of(self.problem, self.solution, solver.tol)

    @cached_property
    def _row_digests(self) -> NDArray[np.uint64]:
        """A digest of each training row with its label and offset."""
        problem = self.problem
        return digests_by_row(problem.X, problem.y, problem.row_offsets)

    @cached_property
    def shortfall(self) -> OptimalityBounds:
        """Lower and upper bounds on the distance of the objective from its minimum.

        If `relative_gap` is above 1e-6, `Optimum` continues from the dual point of the
        fit to improve the bounds. This needs about as much time as the fit, or a tenth
        of a second if the fit was faster. For kernel models, and for fits saved without
        these bounds, the bounds are 0 and `gap`.

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
        return OptimalityBounds.certified(self.certificate)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes and warnings about the fit; `summary` adds notes on standard errors.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> wild = ps.svm("digit ~ .", train, lam=1e-3).fit(ps.Pegasos(1, seed=443))
        >>> [note.topic for note in wild.notes if note.severity == "warning"]
        ['run']
        """
        return (*about_fit(self), *self._on_predictors[1])

    @cached_property
    def _on_predictors(self) -> tuple[float, list[Note]]:
        """Notes on the predictors of a linear fit.

        Saved files contain a pair: a number that is no longer used, and the notes.
        """
        return np.inf, []

    @cached_property
    def _moments(self) -> tuple[Vector, Vector] | None:
        """Means and standard deviations of the predictors; None if unknown."""
        source = self.problem.source
        return None if source.is_missing else source.moments

    @cached_property
    def constants(self) -> Mask:
        """Mask of constant columns; without an intercept, only of columns of zeros."""
        if self._moments is None:
            return np.zeros(self.problem.p, dtype=bool)
        means, deviations = self._moments
        zero = (means == 0.0) & (deviations == 0.0)
        return np.asarray(zero | (self.problem.intercept & ~varies(means, deviations)))

    @property
    def objective(self) -> float:
        """Value of the objective at the fit, ``lam/2 ||beta||^2 + mean loss``."""
        return self.certificate.objective

    @property
    def dual_objective(self) -> float:
        """Dual objective: a lower bound on the minimum of the objective."""
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
        """Whether the solver reached its tolerance; None if it has no tolerance."""
        if self.problem.has_firth and isinstance(self.solution, Solution):
            return self.solution.settled
        at, last = self.certificate, self.refinement or self.solver
        return last.converged(at, self.solution.settled)

    @property
    def scaling(self) -> Scaling | None:
        """Centres and scales of ``standardize=True``; None without it."""
        return self.design.scaling if isinstance(self.design, ScaledDesign) else None

    @property
    @abstractmethod
    def n_support(self) -> int:
        """Number of support rows: training rows that the fit depends on."""

    @property
    def n_iter(self) -> int:
        """Number of steps of the solver: row visits, batches or iterations."""
        return int(self.solution.n_iter)

    @property
    def n_epochs(self) -> int | None:
        """Number of epochs or iterations, not counting ``refine=``; None if unknown."""
        return self.solution.n_epochs

    @property
    def n_violations(self) -> int:
        """Number of visits of rows with a margin below 1; for the log loss, below 0.

        A step of Pegasos visits one row, or one batch. A Newton step uses all rows, so
        the number of violations may exceed `n_iter`.
        """
        return int(self.solution.n_violations)

    @property
    def seed(self) -> int | None:
        """Seed, as for R's ``set.seed()``; None if no random numbers were drawn."""
        # Earlier versions saved a seed for Newton steps, which draw no random numbers.
        is_former = isinstance(self.solver, Optimum) and not self.solution.methods
        return None if is_former else self.solution.seed

    @property
    def solver_name(self) -> str:
        """Name of the solver, and of ``refine=``, if used."""
        return self.solver.name + (", then Optimum" * bool(self.refinement))

    @suggest_arguments
    @by_block()
    def decision_function(
        self, data: object = None, *, unseen: Unseen = "error", offset: object = None
    ) -> "pd.Series[float]":
        """Scores ``x'beta + alpha``; a score above 0 predicts the second class.

        The offset is added, if the fit has one.

        Parameters
        ----------
        data : DataFrame or array, a Scan, or a frame of Dask; optional
            New rows; the training rows if omitted. Files are read block by block, and
            their rows are numbered from 0. A Dask frame yields a lazy result, which is
            computed on the workers.
        unseen : "error" or "missing"
            New factor levels raise an error, or count as missing values: their rows
            have no prediction, and a warning states the number of these rows.
        offset : Series or array, shape (n,), or a column's name; optional
            Offset of new rows. It is required if the offset of the fit was an array;
            otherwise it replaces the column that the fit used.

        Returns
        -------
        Series, on the index of `data`; NaN in rows with missing values

        Raises
        ------
        ColumnError
            If `data` lacks a column, or has values that the model cannot use.
        OptionError
            If new rows lack a required offset, or have one that is not allowed.
        """
        return self._scores(self._matrix(data, unseen, offset))

    @suggest_arguments
    @by_block()
    def predict(
        self,
        data: object = None,
        ties: Ties | None = None,
        unseen: Unseen = "error",
        *,
        threshold: float | None = None,
        offset: object = None,
    ) -> pd.Series:
        """Labels by the sign of the score, or by a threshold.

        Parameters
        ----------
        data : optional
            As for `decision_function`.
        ties : "na", "positive" or "negative", optional
            Label of a row whose score is exactly 0, or exactly at the threshold:
            missing, the second class or the first. The default is the `ties` option of
            the solver, which is ``"na"`` unless you set it.
        unseen, offset : optional
            As for `decision_function`.
        threshold : float, optional
            For logistic regression a probability of the second class, as in
            `predict_proba`; for an SVM, which has no probabilities, a score. Rows above
            the threshold get the second class, rows below it the first. The default is
            a score of 0, which is a probability of 0.5 unless classes were weighted. To
            choose a threshold see `thresholds`.

        Returns
        -------
        Series
            The original labels, on the index of `data`; missing for rows with missing
            values.

        Raises
        ------
        OptionError
            If `threshold` is not a number, or not a probability with the log loss.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> result = model.fit(ps.Optimum(seed=1))
        >>> sixes = [result.predict(test, threshold=t).eq(6).sum() for t in (0.5, 0.9)]
        >>> bool(sixes[0] > sixes[1])
        True
        """
        scores = self.decision_function(data, unseen=unseen, offset=offset)
        return predicted(scores, self.problem, self.coding, self._ties(ties), threshold)

    @suggest_arguments
    @by_block()
    def predict_proba(
        self, data: object = None, *, unseen: Unseen = "error", offset: object = None
    ) -> pd.DataFrame:
        """Probabilities of both classes, ``1 / (1 + exp(-z))`` for the second.

        Without class weights, ``z`` is the score. With class weights, ``"balanced"`` or
        a dictionary, ``z`` is the score minus ``log(w+ / w-)``, where ``w-`` and ``w+``
        are the weights of the first and the second class. Probabilities then refer to
        the class frequencies of the training data. With row weights they refer to the
        weighted population, as in ``glm()``. Without a threshold, `predict` uses the
        sign of the score, not of ``z``.

        Parameters
        ----------
        data, unseen, offset : optional
            As for `decision_function`.

        Returns
        -------
        DataFrame, on the index of `data`
            A column for each class, such as ``["yes"]``; NaN in rows with missing
            values.

        Raises
        ------
        OptionError
            If the model is an SVM, which has no probabilities.
        """
        checks.check_log_loss(self.problem.loss, "predict_proba()")
        scores = self.decision_function(data, unseen=unseen, offset=offset)
        return self.coding.probabilities(scores - self.problem.prior_shift)

    @suggest_arguments
    @by_block("actual", "se_fit", whole=True)
    def augment(
        self,
        data: object = None,
        actual: object = None,
        *,
        ties: Ties | None = None,
        unseen: Unseen = "error",
        threshold: float | None = None,
        offset: object = None,
        se_fit: bool = False,
    ) -> pd.DataFrame:
        """The data with columns of predictions added, as by broom's ``augment``.

        Parameters
        ----------
        data : DataFrame or array, a Scan, or a frame of Dask; optional
            New rows. If omitted, the training data: the outcome and the columns of
            the design matrix, factors as columns of 0 and 1. A Dask frame yields a lazy
            result, which is computed on the workers.
        actual, ties, unseen : optional
            As for `confusion`. Without labels there are no columns ``margin`` and
            ``loss``. Labels in files or Dask frames must be a column.
        threshold : float, optional
            Threshold for ``predicted``, as for `predict`.
        offset : optional
            As for `decision_function`.
        se_fit : bool, default False
            Whether to add standard errors: ``score_se``, and for the log loss
            ``probability_se``; see `get_prediction`.

        Returns
        -------
        DataFrame, on the index of `data`
            All columns of the data, then ``predicted``, ``score``, for the log loss
            ``probability`` (of the second class), and if labels are available
            ``margin = y score`` and ``loss``. For the training rows of a logistic fit
            also ``resid`` (the deviance residual), ``hat`` and ``cooks_d``, see
            `get_influence`. Rows with a missing value have missing predictions.

        Raises
        ------
        ColumnError
            If the data already have a column of one of these names: rename it.
        OptionError
            If `actual` or `se_fit` is used with files or a Dask frame.
        """
        checks.check_flag("se_fit", se_fit)
        problem, coding = self.problem, self.coding
        scores = self.decision_function(data, unseen=unseen, offset=offset)
        labels = self._labels_if_any(data, actual)
        label = predicted(scores, problem, coding, self._ties(ties), threshold)
        added = pd.DataFrame({"predicted": label, "score": scores})
        if problem.loss == "log":
            both = coding.probabilities(scores - problem.prior_shift)
            added["probability"] = both.iloc[:, 1]
        if labels is not None:
            margin = coding.encode(labels) * scores.to_numpy()
            added["margin"] = margin
            added["loss"] = LOSSES[problem.loss].values(margin)
        added = added.assign(**self._further_columns(data, unseen, offset, se_fit))
        frame = self._frame(data)
        if duplicates := [name for name in added.columns if name in frame.columns]:
            raise ColumnError(
                f"The data already have columns called {listing(duplicates)}, which "
                "augment() adds; rename them."
            )
        return pd.concat([frame, added.set_axis(frame.index)], axis=1)

    def _further_columns(
        self, data: object, unseen: Unseen, offset: object, se_fit: bool
    ) -> "dict[str, pd.Series[float]]":
        """Further columns of `augment`, for linear fits."""
        if se_fit:
            raise OptionError(
                "se_fit=True needs standard errors, which kernel models do not have; "
                "leave it out."
            )
        return {}

    def _scores(self, matrix: designs.ModelMatrix) -> "pd.Series[float]":
        """Scores of the rows of a matrix; NaN for incomplete rows."""
        return matrix.spread(
            scores_of(self.problem, self.solution, matrix.values, matrix.offset)
        ).rename("score")

    def _check_offset(self, data: object, offset: object) -> None:
        """Raise `OptionError` for an offset of training rows, or of a fit without."""
        if offset is not None and (data is None or self.offsets is None):
            why = "the training rows already have an offset"
            if self.offsets is None:
                why = "the fit has no offset"
            raise OptionError(f"offset= is not allowed, as {why}; leave it out.")

    def _matrix(
        self, data: object = None, unseen: Unseen = "error", offset: object = None
    ) -> designs.ModelMatrix:
        """The matrix of `data`; for None, of the training rows.

        Raises
        ------
        OptionError
            If `offset` is passed for the training rows, or to a fit without an offset.

        Warns
        -----
        ColumnWarning
            With ``unseen="missing"``, if rows have new levels.
        """
        checks.check_choice("unseen", unseen, UNSEEN)
        self._check_offset(data, offset)
        if data is not None:
            missing = unseen == "missing"
            with_known_levels = without_unseen(self.design, data) if missing else data
            matrix = self.design.matrix(with_known_levels)
            if self.offsets is None:
                return matrix
            return self.offsets.on(matrix, data, offset)
        everything = np.ones(self.problem.n, dtype=bool)
        return designs.ModelMatrix(
            self.problem.X, everything, self.index, offset=self.problem.offset
        )

    def _labels(self, data: object = None) -> pd.Series:
        """Labels in the outcome's column of `data`; for None, of the training rows.

        Raises
        ------
        ColumnError
            If there is no such column, or a predictor has the same name.
        """
        if data is None:
            return self.coding.decode(self.problem.y, self.index)
        return outcome_column(data, self.design, self.coding, "actual=labels")

    def _labels_if_any(self, data: object, actual: object) -> pd.Series | None:
        """Labels from `actual` or the data; None if neither has them."""
        if actual is not None:
            index = self.index.to_frame() if data is None else data
            return aligned_labels(actual, index)
        with suppress(ColumnError):
            return self._labels(data)
        return None

    def _frame(self, data: object) -> pd.DataFrame:
        """Return data as a frame; for None, the outcome and predictors of the fit."""
        if data is None:
            return self._training_frame()
        if self.design.formula is not None:
            return user_data.as_data(data)
        if user_data.is_sparse(data) and not isinstance(data, pd.DataFrame):
            return sparse_frame(data, designs.row_labels(data))
        return designs.as_frame(data)

    def _training_frame(self) -> pd.DataFrame:
        """Outcome and predictors of the rows used, on their original scale.

        Factors are represented by their columns of 0 and 1. A precomputed kernel has no
        predictors.

        Raises
        ------
        ColumnError
            If the outcome and a predictor have the same name.
        """
        outcome, X, design = self._labels().to_frame(), self.problem.X, self.design
        problem = self.problem
        if isinstance(problem, KernelProblem) and problem.kernel.name == "precomputed":
            return outcome
        if isinstance(design, ScaledDesign):
            X, design = design.scaling.unapply(X), design.design
        names = (
            design.columns if isinstance(design, designs.FrameDesign) else design.names
        )
        columns = pd.Index(list(names), tupleize_cols=False)
        if user_data.is_sparse(X):
            predictors = sparse_frame(X, self.index).set_axis(columns, axis=1)
        else:
            predictors = pd.DataFrame(np.array(X), index=self.index, columns=columns)
        if self.coding.name in columns:
            raise same_name(self.coding.name, "data and actual=labels")
        return pd.concat([outcome, predictors], axis=1)

    def _ties(self, ties: Ties | None) -> Ties:
        return self.solver.ties if ties is None else ties

    @suggest_arguments
    @takes_streams
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
        groups: object = None,
        by: object = None,
    ) -> ConfusionMatrix:
        """Confusion table of actual against predicted labels, with its statistics.

        It includes the area under the ROC curve, and for a logistic fit log loss and
        Brier score.

        Parameters
        ----------
        data, ties, unseen, threshold : optional
            As for `predict`. Files are read once and need 9 bytes of memory per row,
            and 8 more for the area under the ROC curve; the table lists the first
            100,000 misclassified rows. A Dask frame is scored on the workers, and the
            scores are collected.
        actual : Series or array, optional
            Labels of the rows; if omitted, the outcome's column of `data`. If `data` is
            a data frame, a Series must have the same index; otherwise the index of the
            Series is ignored.
        positive, event_level, mode, prevalence, beta : optional
            As for `pegasos_stats.metrics.confusion`.
        freq_weights : array or Series of whole numbers, or a column's name; optional
            How many rows each row represents; if omitted, the column that the fit used.
            Not allowed for files and Dask frames.
        weights : array or Series, or a column's name; optional
            Weight of each row, as for `pegasos_stats.metrics.confusion`; 1 if omitted,
            even if the fit had weights.
        offset : optional
            As for `decision_function`.
        groups : array or Series, or a column's name; optional
            Groups of rows that depend on each other, for intervals, as for
            `pegasos_stats.metrics.confusion`.
        by : str, Series or array, optional
            Labels of subgroups of `data`, or the name of their column: the result is a
            `Subgroups`, with error rates, area and calibration of each. `actual`,
            `freq_weights`, `weights`, `offset` and `groups` must then be names of
            columns.

        Returns
        -------
        ConfusionMatrix
            Intervals and tests are missing if the rows are the training rows, in any
            order. They are also missing if more than 5% of the rows are training rows
            and chance does not explain this; the table's ``source`` states it. A loaded
            fit, or a fit to files or Dask, recognises its training rows only if all are
            there in the original order. A fit to a data frame does not recognise its
            training rows in files or Dask frames.
        """
        choices: dict[str, Any] = {"positive": positive, "event_level": event_level}
        choices |= {"mode": mode, "prevalence": prevalence, "beta": beta}
        of_rows: dict[str, Any] = {"weights": weights, "groups": groups}
        if by is not None:
            from pegasos_stats.studies.validation import subgroups

            if data is None:
                raise OptionError("splits the rows of data=; pass data.", "by", by)
            if streamed(data) is not None:
                raise DataError("by= needs rows in memory; pass a data frame.")
            choices |= {"ties": ties, "unseen": unseen, "threshold": threshold}
            columns = {"actual": actual, "offset": offset, **of_rows}
            columns |= {"freq_weights": freq_weights}
            frame = self._frame(data)
            return subgroups(self.confusion, frame, by, columns, choices)  # type: ignore[return-value]
        problem = self.problem
        if isinstance(data, tuple) and len(data) == 2 and actual is None:
            actual, data = data  # y and X, as test= of fit()
        if getattr(actual, "ndim", 1) == 2 and getattr(data, "ndim", 1) < 2:
            raise DataError("Rows come first, labels second: write confusion(X, y).")
        if data is not None and streamed(data) is None:
            actual = user_data.by_position(actual, data)
            freq_weights = user_data.by_position(freq_weights, data)
            of_rows = {k: user_data.by_position(v, data) for k, v in of_rows.items()}
        arguments = self, data, actual, unseen, offset, freq_weights, [weights, groups]
        rows = rows_of_table(*arguments)
        shift = problem.prior_shift if problem.loss == "log" else None

        def table_of(piece: ScoredBlock) -> ConfusionMatrix:
            f, coding, values = piece.scores, self.coding, dict(of_rows)
            for name, value in of_rows.items():
                if isinstance(value, str):
                    what = "one value for each row"
                    values[name] = column_named(name, value, piece.columns, what)
            return confusion(
                piece.labels,
                predicted(f, problem, coding, self._ties(ties), threshold),
                levels=coding.levels,
                scores=f,
                probabilities=None
                if shift is None
                else coding.probabilities(f - shift),
                freq_weights=piece.counts,
                **choices,
                **values,
            )

        return rows.with_source(joined_tables(map(table_of, rows), shift))

    @cached_property
    def training_table(self) -> ConfusionMatrix:
        """Confusion table of the training rows; for a loaded fit, only its counts."""
        pair, levels = (self._labels(), self.predict()), self.coding.levels
        table = confusion(*pair, levels=levels, freq_weights=self.problem.counting)
        return replace(table, source="training")

    @abstractmethod
    @suggest_arguments
    def tidy(self) -> pd.DataFrame:
        """Terms of the fit with their estimates, as a data frame."""

    @suggest_arguments
    def glance(self) -> pd.DataFrame:
        """The fit as a data frame of one row, as by broom's ``glance``.

        Returns
        -------
        DataFrame, one row
            Columns ``nobs, dropped`` (rows used, and excluded for missing values),
            ``loss, lam, objective, dual_objective, gap, relative_gap, n_iter,
            n_violations, n_support, error_rate`` (of the training rows), ``solver,
            seed`` (missing if no random numbers were drawn) and ``converged`` (missing
            for a solver without a tolerance). To compare fits, use ``pd.concat``.
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
    @suggest_arguments
    def summary(self, *, details: bool = False) -> Summary:
        """Header, table and notes on one screen; `details` adds the rest."""

    def __repr__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        return (
            f"<Results: {self.coding.described}, {counted(self.nobs, 'row')}, "
            f"objective {significant(self.objective, 6)}{seed}>"
        )


def varies(means: Vector, deviations: Vector) -> Mask:
    """Mask of the columns that are not constant, up to rounding."""
    return np.asarray(deviations > 1e-12 * np.abs(means))


def outcome_column(
    data: object, design: designs.Design, coding: LabelCoding, cure: str
) -> pd.Series:
    """Return the outcome of `data`, by the formula if there is one, else by its name.

    Raises
    ------
    ColumnError
        If there is no such column, or a predictor has the same name; the message
        advises to use `cure`.
    """
    if design.formula is not None:
        return outcome_of(design.formula, user_data.as_data(data), design.functions)
    if coding.name in design.names:
        raise same_name(coding.name, cure)
    if isinstance(data, pd.DataFrame) and coding.name in data.columns:
        return data[coding.name]
    raise ColumnError(f"The outcome {coding.name!r} is not among the data; use {cure}.")


def same_name(name: str, cure: str) -> ColumnError:
    """Return the error for an outcome with the name of a predictor."""
    return ColumnError(
        f"The outcome and a predictor are both called {name!r}; use {cure}."
    )


def predicted(
    scores: "pd.Series[float]",
    problem: Problem,
    coding: LabelCoding,
    ties: Ties,
    threshold: float | None = None,
) -> pd.Series:
    """Labels of scores: by their sign, or by a threshold, see `Results.predict`.

    Raises
    ------
    OptionError
        If the threshold is not a number, or not a probability with the log loss.
    """
    if threshold is None:
        return coding.predicted(scores, ties)
    cut = checked_threshold(threshold, problem)
    values = thresholded(np.asarray(scores, dtype=np.float64), problem)
    return coding.predicted(pd.Series(values, scores.index), ties, cut)


def checked_threshold(threshold: object, problem: Problem) -> float:
    """Return a threshold on the scale of `thresholded`, or raise `OptionError`."""
    return checks.check_threshold(threshold, problem.loss == "log")


def thresholded(scores: NDArray[np.float64], problem: Problem) -> NDArray[np.float64]:
    """Values to compare with a threshold: scores, or probabilities for the log loss."""
    if problem.loss != "log":
        return scores
    from scipy.special import expit

    return np.asarray(expit(scores - problem.prior_shift))


def score_at(threshold: float, problem: Problem) -> float:
    """Score at a threshold, the inverse of `thresholded`; it may be infinite."""
    if problem.loss != "log":
        return threshold
    from scipy.special import logit

    return float(logit(threshold)) + problem.prior_shift


def sparse_frame(X: object, index: pd.Index) -> pd.DataFrame:
    """Sparse rows as a frame, with the columns ``x1, x2, ...``."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(user_data.in_rows(X))
    names = [f"x{j + 1}" for j in range(matrix.shape[1])]
    sparse = pd.DataFrame.sparse.from_spmatrix  # type: ignore[attr-defined]
    frame: pd.DataFrame = sparse(matrix, index, names)
    return frame
