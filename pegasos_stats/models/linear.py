"""Base class of models, and linear models."""

import time
from abc import ABC
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Predictors, Vector
from pegasos_stats.checks import check_choice, check_flag
from pegasos_stats.data import sample as samples
from pegasos_stats.data.design import Design, ScaledDesign, Scaling
from pegasos_stats.data.labels import Coding, LabelCoding, Ties, signs_of
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.data.sample import Counts, Offset, column_of_counts
from pegasos_stats.data.scan.rows import sample_of_stream
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import (
    as_function,
    own_value,
    suggest_arguments,
    suggest_names,
)
from pegasos_stats.models.effects import unread_columns
from pegasos_stats.models.inference import options
from pegasos_stats.models.linear_results import LinearResults, with_passes
from pegasos_stats.models.new_rows import labelled_rows
from pegasos_stats.models.results import outcome_column
from pegasos_stats.other_frames import is_streamed, takes_streams
from pegasos_stats.solvers.losses import LossName
from pegasos_stats.solvers.maximum_likelihood import (
    MaximumLikelihood,
    maximum_likelihood,
    no_maximum,
)
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.options import Solver
from pegasos_stats.solvers.pegasos import Pegasos, in_order
from pegasos_stats.solvers.pegasos_run import Moment, Observer, check_solver
from pegasos_stats.solvers.problem import Lam, Penalty, Problem, penalty_of, with_cached
from pegasos_stats.solvers.solver_runs import (
    AnySolution,
    certificate_of,
    check_access,
    checked_refinement,
    run_solver,
    scores_of,
)

if TYPE_CHECKING:
    from pegasos_stats.studies.cross_validation import LambdaPath

PATH_FOLDS = 10  # of ``lam="cv"``


@dataclass(eq=False)
class Recorder:
    """Callback that records one row of the trace after every epoch.

    Parameters
    ----------
    problem : Problem
        Objective on the training rows.
    ties : "na", "positive" or "negative"
        Class of a score of exactly 0; with ``"na"`` such rows are excluded.
    test_error : callable, optional
        Function of a solution that returns its error rate on held-out rows.
    """

    problem: Problem
    ties: Ties
    test_error: Callable[[AnySolution], float] | None = None
    _lines: list[dict[str, object]] = field(default_factory=list)
    _violations: int = 0

    def __call__(self, moment: Moment) -> None:
        """Record the row of an epoch."""
        solution = moment.solution
        at = certificate_of(self.problem, solution)
        line = {
            "epoch": moment.epoch,
            "steps": solution.n_iter,
            "objective": at.objective,
            "gap": at.gap,
            "violations": solution.n_violations - self._violations,
            "training_error": at.error_rate(self.problem.n, self.ties),
        }
        if self.test_error is not None:
            line["test_error"] = self.test_error(solution)
        self._violations = solution.n_violations
        self._lines.append(line | {"cpu_seconds": moment.cpu_seconds})

    def frame(self) -> pd.DataFrame:
        """Return the trace as a data frame, one row per epoch.

        Columns: ``epoch``; ``steps`` up to its end; ``objective``; ``gap``;
        ``violations`` in this epoch; ``training_error``; ``test_error`` if there are
        held-out rows; ``cpu_seconds``, the processor time of all updates so far.
        """
        return pd.DataFrame(self._lines)


# Predictors of the rows, their outcomes -1 or +1, and their offsets or None.
HeldOut = tuple[Predictors, Vector, Vector | None]


@suggest_names("model")
class Model(ABC):
    """Base class of models: data, choice of lambda and trace."""

    problem: Problem
    _sample: samples.Sample
    _path: "LambdaPath | None" = None  # with lam="cv": the path that chose lambda
    _choices: "dict[bytes, Self] | None" = None  # models with chosen lambda, by groups
    _likelihood: MaximumLikelihood | None = None  # with lam = 0: its estimate

    def __repr__(self) -> str:
        lam = "by cross-validation" if self.problem.lam_rule == "cv" else "0 or 1/n"
        lam = lam if self.lam is None else self.problem.lambda_text
        lam = "Firth's penalty" if self.problem.has_firth else f"lam {lam}"
        return (
            f"<{type(self).__name__}: {self.coding.described}, "
            f"{counted(self.problem.n, 'row')}, "
            f"{counted(len(self.names), 'predictor')}, "
            f"{lam}; not fitted, see fit()>"
        )

    @property
    def lam(self) -> float | None:
        """Penalty; None if ``fit()`` chooses it (see ``result.model.lam``)."""
        choices = {"cv": self._path, "ml": self._likelihood}
        is_open = choices.get(self.problem.lam_rule, "none needed") is None
        return None if is_open else self.problem.lam

    def at_chosen_lambda(self, groups: samples.Groups | None = None) -> Self:
        """Return the model with a number as lambda, chosen at the first call.

        With ``lam="cv"`` this is the ``lambda_min`` of
        ``lambda_path(model, folds=10, seed=1)``, chosen once for each grouping; with
        fewer than 10 groups, each group is a fold. For a logistic regression without
        ``lam`` it is 0 if the maximum likelihood estimate exists, and otherwise 1/n.

        Parameters
        ----------
        groups : Groups, optional
            Folds do not split these groups. With two groupings, folds do not split the
            groups of the first one.

        Returns
        -------
        Model
            The model itself if its penalty is a number above 0 or Firth's; otherwise a
            copy.

        Raises
        ------
        DataError
            If ``lam=0`` and the maximum likelihood estimate does not exist.
        """
        if self.problem.has_firth:
            return self
        if not self.problem.lam:
            return self if self._likelihood else self._with_likelihood()
        if self.problem.lam_rule != "cv" or self._path is not None:
            return self
        from pegasos_stats.studies.cross_validation import lambda_path

        whole = None if groups is None else replace(groups, codes=groups.codes[:1])
        key = b"" if whole is None else whole.codes[0].tobytes()
        self._choices = self._choices or {}
        if key not in self._choices:
            other = copy(self)
            most = self.problem.n if groups is None else groups.numbers[0]
            folds = min(PATH_FOLDS, most)
            other._path = lambda_path(self, folds=folds, groups=whole, seed=1)
            lam = other._path.lambda_min
            other.problem = replace(self.problem, lam=lam, lam_rule="cv")
            self._choices[key] = other
        return self._choices[key]

    def _with_likelihood(self) -> Self:
        """Return a copy with the maximum likelihood estimate, or with lambda 1/n."""
        self._choices = self._choices or {}
        if b"ml" not in self._choices:
            other, problem = copy(self), self.problem
            other._likelihood = maximum_likelihood(problem, self.names)
            if reason := other._likelihood.reason:
                if problem.lam_rule == "given":
                    raise no_maximum(reason, problem)
                other.problem = problem.without_ml(reason)
            self._choices[b"ml"] = other
        return self._choices[b"ml"]

    def solve(self, solver: AnySolver, observe: Observer | None = None) -> AnySolution:
        """Run a solver, and return its solution.

        Parameters
        ----------
        solver : Optimum, Pegasos or SDCA
        observe : callable, optional
            Called with a `Moment` after every epoch, for example a `recorder`.

        Returns
        -------
        Solution or KernelSolution

        Raises
        ------
        OptionError
            If the solver does not suit the model.
        """
        solver = self.with_start_in_column_order(solver)
        check_solver(self.problem, solver)
        problem = self.at_chosen_lambda().problem
        solution: AnySolution = run_solver(problem, solver, observe=observe).solution
        return solution

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients without the intercept."""
        return self.design.names

    @property
    def exog_names(self) -> list[str]:
        """Names of all coefficients; statsmodels has the same attribute."""
        return ["Intercept"] * self.problem.intercept + list(self.names)

    @property
    def endog_names(self) -> str:
        """Name of the outcome; statsmodels has the same attribute."""
        return str(self.coding.name)

    @property
    def design(self) -> Design:
        """Design: the rule that turns data into a matrix of predictors."""
        return self._sample.design

    @property
    def coding(self) -> LabelCoding:
        """Which level is -1 and which +1."""
        return self._sample.coding

    @property
    def dropped(self) -> samples.MissingRowCounts:
        """Numbers of rows excluded because of missing values."""
        return self._sample.dropped

    @property
    def counted(self) -> Counts | None:
        """Source of the frequency weights; None without ``freq_weights=``."""
        return self._sample.counted

    @property
    def offsets(self) -> Offset | None:
        """Source of the offset: a column, a term or numbers; None without an offset."""
        return self._sample.offsets

    @property
    def scaling(self) -> Scaling | None:
        """Centres and scales of ``standardize=True``; None without it."""
        return self.design.scaling if isinstance(self.design, ScaledDesign) else None

    def with_start_in_column_order(self, solver: AnySolver) -> AnySolver:
        """Return the solver with its starting coefficients in the order of the columns.

        Raises
        ------
        OptionError
            If a starting coefficient has a name that is not in `names`.
        """
        if not (isinstance(solver, Pegasos) and isinstance(solver.start, Mapping)):
            return solver
        start = in_order(solver.start, self.names, self.problem.intercept)
        return replace(solver, start=start)

    def recorder(self, ties: Ties, held_out: HeldOut | None = None) -> Recorder:
        """Return a recorder of the trace, with the error rate of `held_out` rows."""
        if held_out is None:
            return Recorder(self.problem, ties)
        X, y, offset = held_out

        def error_rate(solution: AnySolution) -> float:
            signs = signs_of(self._scores(solution, X, offset), ties)
            decided = ~np.isnan(signs)
            return float((signs != y)[decided].mean()) if decided.any() else np.nan

        return Recorder(self.problem, ties, error_rate)

    def _scores(
        self, solution: AnySolution, X: Predictors, offset: Vector | None
    ) -> Vector:
        """Scores of the rows of a matrix by a solution."""
        return scores_of(self.problem, solution, X, offset)

    def _recorder(self, trace: bool, test: object, ties: Ties) -> Recorder | None:
        """Return the recorder of a fit with ``trace=True``."""
        check_flag("trace", trace)
        if test is not None and not trace:
            raise OptionError("test= is recorded in the trace; pass trace=True too.")
        held_out = None if test is None else self.held_out(test)
        return self.recorder(ties, held_out) if trace else None

    @suggest_arguments
    def held_out(self, test: object) -> HeldOut:
        """Convert held-out rows as the training rows were; exclude incomplete rows.

        Parameters
        ----------
        test : DataFrame or pair (y, X)

        Returns
        -------
        X : array, shape (n, p)
        y : float64 array, shape (n,), of -1 and +1
        offset : float64 array, shape (n,), or None

        Raises
        ------
        ColumnError
            If the column of the outcome or of a predictor is missing.
        LabelError
            If a label is not one of the two levels of the model.
        DataError
            If no row is complete.
        OptionError
            If the offset of the model is an array, which has no values for these rows.
        """
        if isinstance(test, tuple) and len(test) == 2:
            labels, X = samples.aligned_labels(*test), test[1]
        else:
            labels = outcome_column(test, self.design, self.coding, "test=(y, X)")
            X = test
        matrix = self.design.matrix(X)
        if self.offsets is not None:
            matrix = self.offsets.on(matrix, X, None)
        counts = column_of_counts(None, self.counted, X)
        rows, labels, offset = labelled_rows(matrix, labels, counts)
        if not len(labels):
            raise DataError(
                "No row of test= is complete; pass rows whose outcome and predictors "
                "are not missing."
            )
        return rows, self.coding.encode(labels), offset


def checked_solver(
    solver: AnySolver | None, default: type[Optimum] | type[Pegasos]
) -> AnySolver:
    """Return the solver, or one of the default kind.

    Raises
    ------
    OptionError
        If it is not a solver.
    """
    if solver is None:
        return default()
    if not isinstance(solver, Solver):
        raise OptionError(
            f"solver is of type {type(solver).__name__}; use a solver such as "
            "ps.Optimum() or ps.Pegasos(epochs=20, seed=443)."
        )
    return solver


class LinearModel(Model):
    """Base class of `SVM` and `Logit`."""

    _losses: ClassVar[tuple[LossName, ...]]  # allowed losses, the default first

    @suggest_arguments
    def __init__(
        self,
        y: object,
        X: object,
        *,
        lam: Lam = None,
        intercept: bool = True,
        coding: Coding = "factor",
        na_action: samples.NaAction = "drop",
        weights: object = None,
        freq_weights: object = None,
        offset: object = None,
        standardize: bool = False,
        loss: LossName | None = None,
        penalty: Penalty = "ridge",
    ) -> None:
        check_flag("intercept", intercept)
        sample = samples.sample_of_arrays(
            y,
            X,
            bool(intercept),
            coding,
            na_action,
            weights,
            freq_weights,
            standardize,
            offset,
        )
        self._set_up(sample, lam, bool(intercept), loss, penalty)

    @classmethod
    @suggest_arguments
    @takes_streams
    def from_formula(
        cls,
        formula: str,
        data: object,
        *,
        lam: Lam = None,
        intercept: bool = True,
        coding: Coding = "factor",
        na_action: samples.NaAction = "drop",
        weights: object = None,
        freq_weights: object = None,
        offset: object = None,
        standardize: bool = False,
        functions: Functions | None = None,
        loss: LossName | None = None,
        penalty: Penalty = "ridge",
    ) -> Self:
        """Build the model from a formula and a data frame.

        Parameters
        ----------
        formula : str
            ``"y ~ ."``, ``"y ~ a + C(b)"``, ``"y > 20 ~ log(a)"``. Text and categories
            become treatment contrasts with the first level dropped. A formula may
            contain columns, numbers, text, arithmetic, comparisons, and functions of R
            and numpy: ``log``, ``np.sqrt``, ``scale``, ``poly``, ``bs``, ``ns``,
            ``cut``, ``ifelse``, ``x.clip(0, 1)``, ... The section :ref:`formulas` lists
            them.
        data : DataFrame or Scan, or a frame of Dask
            A data frame, of pandas or another library; files opened by `scan`; or a
            Dask frame, whose partitions are not collected. With files and Dask,
            `offset` must name a column; `weights` must name a column, or be
            ``"balanced"`` or a dict; `freq_weights` and `functions` are not allowed.
        weights : optional
            As in `SVM`, or the name of a column of `data`. As in R, ``.`` in the
            formula includes this column; ``"y ~ . - w"`` excludes a column ``w``.
        freq_weights : optional
            As in `SVM`, or the name of a column of `data`. If new data contain this
            column, ``confusion`` and similar methods use it too.
        offset : optional
            As in `SVM`, or the name of a column of `data`, which is then read from new
            data too, like ``offset(x)`` in the formula. All offsets are added up.
            As in R, ``.`` includes the columns of offsets; ``"y ~ . - x + offset(x)"``
            uses ``x`` only as an offset.
        lam, intercept, coding, na_action, standardize, loss, penalty
            As in `SVM`; for logistic regression as in `Logit`.
        functions : dict of str to callable, optional
            Further functions for the formula, such as ``{"half": lambda x: x / 2}``.
            They are not saved with a fit: pass them to `load` again.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> ps.svm("digit ~ p34 + p43", train, lam=1.0).names
        ('p34', 'p43')
        """
        check_flag("intercept", intercept)
        weighted = weights, freq_weights, functions, standardize, offset
        of_rows = intercept, coding, na_action, *weighted
        if not is_streamed(data):
            sample, has_intercept = samples.sample_of_formula(formula, data, *of_rows)
            return cls.of_sample(sample, lam, has_intercept, loss, penalty)
        is_ridge = own_value("penalty", penalty) == "ridge"
        needs_memory = {
            "lam": lam if isinstance(lam, str) else None,
            "penalty": None if is_ridge else penalty,
        }
        sample, has_intercept = sample_of_stream(formula, data, needs_memory, *of_rows)
        return cls.of_sample(sample, lam, has_intercept, loss, penalty)

    @classmethod
    def of_sample(
        cls,
        sample: samples.Sample,
        lam: Lam,
        intercept: bool,
        loss: LossName | None = None,
        penalty: Penalty = "ridge",
    ) -> Self:
        """Build the model from a sample."""
        model = cls.__new__(cls)
        model._set_up(sample, lam, intercept, loss, penalty)
        return model

    def _set_up(
        self,
        sample: samples.Sample,
        lam: Lam,
        intercept: bool,
        loss: LossName | None,
        penalty: Penalty,
    ) -> None:
        if loss is not None:
            check_choice("loss", loss, self._losses)
        self._sample = sample
        loss = loss or self._losses[0]
        if (penalty := checked_penalty(penalty, lam, loss, sample)) != "ridge":
            lam = 0.0
        number, rule = penalty_of(lam, sample.n_weighed, loss)
        self.problem = Problem(
            sample.X,
            sample.y,
            number,
            loss,
            intercept,
            weights=sample.weights,
            weights_of=sample.weights_of,
            offset=sample.offset,
            lam_rule=rule,
            penalty=penalty,
        )

    @cached_property
    def _unread_columns(self) -> pd.DataFrame | None:
        """Result of `unread_columns`, cached for all fits."""
        return unread_columns(self.design, self._sample.lines)

    @property
    def loss(self) -> LossName:
        """Name of the loss."""
        return self.problem.loss

    @suggest_arguments
    def fit(
        self,
        solver: AnySolver | None = None,
        *,
        refine: float | None = None,
        cov_type: options.CovType | options.CovName = "default",
        groups: object = None,
        strata: object = None,
        trace: bool = False,
        test: object = None,
        progress: bool = False,
    ) -> LinearResults:
        """Fit the model by minimising its objective.

        Parameters
        ----------
        solver : Optimum, Pegasos or SDCA, optional
            By default ``Optimum()``, which minimises to a relative gap of 1e-6.
        refine : float, optional
            Relative gap to which `Optimum` minimises after Pegasos, starting from the
            dual variables of Pegasos.
        cov_type : str, Sandwich, Cluster, Bootstrap or None
            Kind of standard errors, computed on first access. For the log loss and the
            squared hinge the default is ``"HC3"``, or ``"cluster"`` with `groups`, or
            ``"nonrobust"`` with Firth's penalty. For the hinge it is the pairs
            bootstrap of rows or, with `groups`, of whole groups. The bootstrap draws
            999 resamples, or for large data fewer, but at least 199. For files and Dask
            the hinge has no standard errors by default. Allowed names: ``"nonrobust"``
            (as R's ``glm``) for the log loss; ``"HC0"`` to ``"HC3"`` except for the
            hinge; ``"sandwich"``, which is ``"HC0"`` except for the hinge; ``"CR0"``
            and ``"CR1"`` with `groups`; ``"CR3"`` with `groups`, except for the hinge;
            ``"cluster"``, which is ``"CR3"``, or ``"CR1"`` for the hinge and for two
            groupings; ``"bootstrap"``; ``"none"``. To set options such as the seed,
            pass a `Sandwich`, `Cluster` or `Bootstrap` object.
        groups : str, Series, array or list, shape (n,); or a list of two, optional
            Groups of rows that depend on each other, such as patients of a hospital:
            the name of a column of the data, or a label for each row of the data,
            including excluded rows. A training row without a label raises an error.
            A list of two means two-way clustering. Groups are allowed with
            ``"default"``, ``"cluster"``, ``"CR0"``, ``"CR1"`` and, for a single
            grouping, with ``"CR3"`` and ``"bootstrap"``. With the hinge, two groupings
            need ``"cluster"``, ``"CR0"`` or ``"CR1"``. With ``freq_weights=`` all
            repetitions of a row are in its group.
        strata : str, Series, array or list, shape (n,), optional
            Strata of a survey design, within which `groups` (or, without `groups`,
            rows) were sampled. The covariance is then linearised, as in R's
            ``survey::svyglm``; pass the sampling weights as ``weights=`` to the model.
            Strata need ``cov_type="cluster"``, the default except for the hinge.
            A stratum needs at least two groups. A group with rows in two strata counts
            as two groups, as with ``nest=TRUE`` in R.
        trace : bool, default False
            Whether to record objective, gap, violations, error rate and processor
            time after every epoch, in ``result.trace``.
        test : DataFrame or pair (y, X), optional
            Held-out rows with labels, whose error rate the trace records.
        progress : bool, default False
            Whether to show a progress bar.

        Returns
        -------
        LinearResults

        Raises
        ------
        OptionError
            If the solver does not suit the model, or if `test` is passed without
            `trace`, `refine` without Pegasos, or `groups` with a covariance for
            independent rows.
        DataError
            If a row has no group, if a stratum has only one group, or if ``lam=0`` and
            the maximum likelihood estimate does not exist.

        Warns
        -----
        ConvergenceWarning
            If the solver does not reach its tolerance; for the default tolerance only
            if the relative gap is above 1e-3.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ .", train, lam=1.0)
        >>> result = model.fit(ps.Pegasos(epochs=2, seed=1), trace=True, test=test)
        >>> result.trace["steps"].tolist()
        [200, 400]
        >>> model.fit(ps.Pegasos(epochs=2, seed=1), refine=1e-6).relative_gap < 1e-6
        True
        """
        solver = self.with_start_in_column_order(checked_solver(solver, Optimum))
        check_flag("progress", progress)
        source, lines = self.problem.source, self._sample.lines
        source.check_in_memory(
            refine=refine, groups=groups, strata=strata, trace=trace, test=test
        )
        check_access(source, solver)
        refinement = checked_refinement(refine, solver)
        if not self.problem.lam:  # before lambda is chosen
            check_solver(self.problem, solver)
        began = time.perf_counter()
        row_groups = None if groups is None or lines is None else lines.groups(groups)
        if strata is not None and lines is not None:
            row_groups = lines.stratified(row_groups, strata)
        model = self.at_chosen_lambda(row_groups)
        recorder = model._recorder(trace, test, solver.ties)
        # Raises an error before the fit if the model does not allow `cov_type`.
        options.chosen_options(cov_type, model.problem, row_groups)
        run = run_solver(
            model.problem, solver, refinement, recorder, progress, model._likelihood
        )
        result = LinearResults(
            problem=model.problem,
            solver=solver,
            solution=run.solution,
            design=self.design,
            coding=self.coding,
            index=self._sample.index,
            dropped=self.dropped,
            trace=None if recorder is None else recorder.frame(),
            refinement=refinement,
            errors_by=options.checked_cov_type(cov_type),
            groups=row_groups,
            lines=None if lines is None else replace(lines, frame=None),
            seconds=time.perf_counter() - began,
            counted=self.counted,
            unread=self._unread_columns,
            full_model=model if source.in_memory else None,
            offsets=self.offsets,
        )
        at = vars(run.solution).pop("certificate", None)
        if at is not None and refinement is None:
            with_cached(result, certificate=at)
        return result if run.passes is None else with_passes(result, run.passes)


class SVM(LinearModel):
    """Linear support vector machine; its intercept is not penalised.

    Minimises ``lam/2 ||beta||^2 + mean(max(0, 1 - y_i (x_i'beta + alpha)))``. The mean
    is over the rows without missing values. ``y_i`` is -1 for the first level of the
    outcome and +1 for the second.

    Parameters
    ----------
    y : Series or array, shape (n,)
        Outcome with two levels: text, numbers, booleans or categories.
    X : DataFrame, array or scipy sparse array, shape (n, p)
        Numeric predictors. A constant column is not needed. Sparse data, also sparse
        columns of a frame, stay sparse. The model stores a copy, so later changes of
        `X`, or of a memory-mapped file, do not affect it. A read-only array of
        doubles in C order (``X.flags.writeable = False``) is not copied, unless
        `standardize` is true.
    lam : float or "cv", optional
        Penalty, above zero (lambda in the literature). By default ``1 / n``, the C = 1
        of other packages. Here ``n`` is the number of rows of the model (``nobs``),
        counted by `freq_weights`, without incomplete rows and rows of weight 0. Fits to
        folds and resamples use the same `lam`. Pegasos, whose step size is
        ``1 / (lam t)``, needs a `lam`. ``"cv"`` chooses the ``lambda_min`` of
        ``lambda_path(model, folds=10, seed=1)``, whose folds do not split the groups
        passed to ``fit()``. This path, ``result.lambda_path``, is not saved with the
        fit. It is computed with `Optimum`, also for Pegasos fits. `cross_validate`
        chooses lambda again in each fold. Standard errors treat lambda as fixed.
        ``"cv"`` needs the rows in memory.
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    coding : "factor", "first-seen" or a pair (negative, positive)
        Which level is coded -1, see `LabelCoding`.
    na_action : "drop" or "raise"
        Rows with missing values are excluded and counted, or raise an error.
    weights : array or Series, shape (n,); "balanced"; or dict, optional
        Weight of each row's loss, 0 or more. ``"balanced"`` means the same total
        weight for both levels, ``{level: weight}`` a weight for each level.
        Weights are scaled to a mean of 1, so only their ratios matter. Pegasos and SDCA
        visit rows of weight 0, as the R script in ``r_reference/`` does, but ``nobs``,
        standard errors and tables of the training rows do not count them.
    freq_weights : array or Series of whole numbers, shape (n,), optional
        How many rows each row represents, as in a table of counts. A row with count 0
        is excluded; a missing count is a missing value. All results equal the results
        for a table that repeats each row as often as its count.
    offset : array or Series, shape (n,), optional
        A fixed part of each row's score, as in ``glm(offset=)``: the score is
        ``x_i'beta + alpha + offset_i``. It is neither scaled nor penalised. New rows
        need an offset too: pass ``offset=`` to ``predict`` and similar methods.
    standardize : bool, default False
        Whether to scale the predictors to mean 0 and standard deviation 1. Sparse
        predictors, and all predictors of a model without intercept, are not centred.
        Means and standard deviations are weighted; if all weights are integers, a
        weight of 2 counts as two rows. The penalty applies to the coefficients of the
        scaled predictors; ``params_original`` contains the coefficients on the original
        scale.
    loss : "hinge" or "squared_hinge", optional
        ``"squared_hinge"`` replaces the hinge by its square,
        ``max(0, 1 - y_i (x_i'beta + alpha))^2``, the default of LIBLINEAR and
        ``LinearSVC``. It is differentiable, so that standard errors are HC3, as for the
        log loss.
    penalty : "ridge", "firth" or "flic", default "ridge"
        The ridge penalty is ``lam / 2`` times the sum of squared coefficients. The
        others are for logistic regression only, see `Logit`.

    Raises
    ------
    LabelError
        If the outcome does not have exactly two levels.
    ColumnError
        If a column is not numeric or contains infinite values.
    DataError
        If `y` and `X` differ in length or row labels, or no complete row is left.
    OptionError
        If an option is not allowed.

    See Also
    --------
    SVM.from_formula : Builds the model from a formula and a data frame, as does `svm`.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
    equation 1 and section 6.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.SVM(train["digit"], train.drop(columns="digit"), lam=1.0)
    >>> result = model.fit(ps.Pegasos(epochs=20, seed=443))
    >>> result.nobs
    200
    """

    _losses = "hinge", "squared_hinge"


class Logit(LinearModel):
    """Logistic regression by maximum likelihood, or with a ridge penalty.

    Minimises ``lam/2 ||beta||^2 + mean(log(1 + exp(-y_i (x_i'beta + alpha))))``; the
    intercept is not penalised. Without `lam` there is no penalty (``lam = 0``), and the
    coefficients are the maximum likelihood estimates of R's ``glm``. If the predictors
    separate the classes, no such estimates exist. The fit then uses ``lam = 1 / n``
    without standard errors, intervals or p-values, and a note explains why. Without a
    penalty, a column that is a linear combination of earlier ones has the coefficient
    NaN.

    ``penalty="firth"``, for few events or separated classes, maximises the log
    likelihood plus ``log det(I) / 2``, where ``I`` is the Fisher information. Its
    estimates are finite. Standard errors are model-based; intervals and p-values are
    computed from profiles of this penalised likelihood. Firth's penalty allows counts
    as ``freq_weights``, but not `lam`, `weights`, groups, files or Dask.

    ``penalty="flic"``, for predictions, takes the slopes of Firth's fit and estimates
    the intercept by maximum likelihood with these slopes fixed. The mean fitted
    probability then equals the share of the second level in the training rows. FLIC
    has no standard errors.

    For other parameters and exceptions see `SVM`; `loss` must be ``"log"``.

    Parameters
    ----------
    lam : float or "cv", optional
        Penalty, 0 or more. The default is 0 if the maximum likelihood estimate exists,
        otherwise ``1 / n``. Without `lam`, the attribute ``lam`` of the model is None,
        and ``result.model.lam`` is the number that ``fit()`` chose. A number above 0
        corresponds to a N(0, 1 / (n lam)) prior on each coefficient, which often
        improves predictions but biases log odds ratios towards 0. ``"cv"`` chooses
        lambda by cross-validation, as for `SVM`. `Pegasos` and `SDCA` need a number
        above 0 or ``"cv"``. With ``lam=0``, ``fit()`` raises `DataError` if the maximum
        likelihood estimate does not exist.

    See Also
    --------
    Logit.from_formula : Builds the model from a formula and a data frame, as does
        `logit`.

    References
    ----------
    Albert & Anderson, *On the existence of maximum likelihood estimates in logistic
    regression models*, Biometrika 71 (1984).
    Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
    section 5, for Pegasos with the log loss.
    Firth, Biometrika 80 (1993). Heinze & Schemper, Statistics in Medicine 21 (2002).
    Puhr, Heinze, Nold, Lusa & Geroldinger, Statistics in Medicine 36 (2017), for FLIC.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1).fit(ps.Pegasos(epochs=5, seed=443))
    >>> probabilities = result.predict_proba(test)
    >>> bool((probabilities.sum(axis=1).round(12) == 1).all())
    True
    """

    _losses = ("log",)


def checked_penalty(
    penalty: object, lam: object, loss: LossName, sample: samples.Sample
) -> Penalty:
    """Return the name of a penalty.

    Raises
    ------
    OptionError
        If there is no such penalty, or Firth's penalty does not allow an option.
    """
    penalty = own_value("penalty", penalty)
    check_choice("penalty", penalty, ("ridge", "firth", "flic"))
    if penalty == "ridge":
        return "ridge"
    for is_wrong, reason in (
        (loss != "log", "is only for logistic regression; use ps.logit."),
        (lam is not None, "does not allow lam=; omit one of the two."),
        (
            sample.weights is not None,
            "does not go with weights=; pass counts as freq_weights=.",
        ),
    ):
        if is_wrong:
            raise OptionError(reason, "penalty", penalty)
    return cast(Penalty, penalty)


svm = as_function(
    "svm",
    SVM.from_formula,
    """Linear support vector machine, from a formula and a data frame.

        Minimises ``lam/2 ||beta||^2 + mean(max(0, 1 - y_i (x_i'beta + alpha)))``. The
        intercept ``alpha`` is not penalised. Without `lam` the penalty is ``1 / n``,
        the C = 1 of other packages. ``fit()`` of the returned model yields the
        coefficients, with bootstrap standard errors (HC3 for the squared hinge).
    """,
)
logit = as_function(
    "logit",
    Logit.from_formula,
    """Logistic regression, from a formula and a data frame.

        Minimises ``lam/2 ||beta||^2 + mean(log(1 + exp(-y_i (x_i'beta + alpha))))``.
        Without `lam` there is no penalty: ``fit()`` of the returned model yields
        the maximum likelihood estimates of R's ``glm``, with HC3 standard errors. If
        the predictors separate the classes, the fit uses the penalty ``1 / n`` and has
        no standard errors. The second level of the outcome is modelled.
    """,
)
