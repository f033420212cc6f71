"""Support vector machines with a kernel: models, and results with support rows."""

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Predictors, Vector, dense_rows
from pegasos_stats.checks import check_count, check_flag
from pegasos_stats.data import sample as samples
from pegasos_stats.data.design import ModelMatrix, ScaledDesign, Scaling
from pegasos_stats.data.labels import Coding
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.data.sample import rows_of_weights
from pegasos_stats.data.user_data import check_memory
from pegasos_stats.errors import OptionError
from pegasos_stats.foreign_names import (
    as_function,
    own_value,
    suggest_arguments,
    suggest_names,
)
from pegasos_stats.models.linear import Model, checked_solver
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import summary_of
from pegasos_stats.solvers import kernel_problem as kernels
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.problem import Lam, penalty_of
from pegasos_stats.solvers.solver_runs import (
    AnySolution,
    checked_refinement,
    run_then_refine,
)
from pegasos_stats.tables import Summary, fixed

if TYPE_CHECKING:
    from pegasos_stats.output.plotting.result_plots import ResultPlots

KERNEL_MEMORY = 512 * 2**20


class KernelSVM(Model):
    """Support vector machine with a kernel; its intercept is not penalised.

    Minimises ``lam/2 ||f||^2 + mean(max(0, 1 - y_i (f(x_i) + alpha)))`` over the
    functions ``f = sum_j b_j K(x_j, .)``. `Optimum` computes a dual variable for each
    row; Pegasos counts the margin violations of each row. Predictions depend only on
    the support rows, whose dual variable or count is positive.

    Parameters
    ----------
    y : Series or array, shape (n,)
        Outcome with two levels.
    X : DataFrame, array or scipy sparse array, shape (n, p)
        Numeric predictors; for a precomputed kernel the matrix ``K(x_i, x_j)``,
        shape (n, n). Sparse predictors become a dense array.
    lam : float or "cv", optional
        Penalty, above zero; by default ``1 / n``, as for `SVM`.
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    kernel : "gaussian", "polynomial", "linear" or "precomputed"
        ``exp(-gamma ||x - z||^2)``, ``(gamma x'z + offset)^degree`` or ``x'z``.
    degree : int, optional
        Degree of the polynomial kernel, at least 1; default 2.
    offset : float, optional
        Constant of the polynomial kernel, at least 0; default 1.
    gamma : float, "auto" or "scale", optional
        Parameter of the Gaussian and the polynomial kernel, above zero. ``"auto"`` is
        ``1 / p``, ``"scale"`` is ``1 / (p var(X))``, with the variance of all entries
        in rows of positive weight. The default is 1 for the polynomial kernel; for the
        Gaussian kernel ``"auto"``, or ``"scale"`` with ``standardize=False``.
    coding, na_action, weights, freq_weights
        As for `SVM`; a precomputed kernel does not allow `freq_weights`.
    standardize : bool, optional
        As for `SVM`, but True by default, as ``scale`` in e1071 and ``scaled`` in
        kernlab; a precomputed kernel is not standardized.
    memory : int, default 512 MiB
        Size in bytes of the cache for rows of the Gram matrix, which are computed when
        needed. If not all rows fit, Pegasos caches the rows that it uses first,
        `Optimum` the rows that it used last. Results of Pegasos do not depend on
        `memory`; results of `Optimum` vary within its tolerance.

    Raises
    ------
    LabelError, ColumnError, DataError, OptionError
        As for `SVM`; also for an option that does not apply to the kernel.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
    section 4. In the paper the score at step ``t`` has the factor ``1 / (lam t)``; here
    the factor is ``1 / (lam (t - 1))``.
    Fan, Chen & Lin, *Working set selection using second order information for training
    support vector machines*, JMLR 6 (2005).

    Examples
    --------
    >>> import numpy as np, pegasos_stats as ps
    >>> angle = np.linspace(0, 6, 40)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), ["inner"] * 40 + ["outer"] * 40
    >>> model = ps.KernelSVM(y, X, kernel="polynomial", degree=2, lam=0.01)
    >>> model.fit(ps.Optimum(seed=1)).confusion().n_errors
    0
    """

    problem: kernels.KernelProblem

    @suggest_arguments
    def __init__(
        self,
        y: object,
        X: object,
        *,
        lam: Lam = None,
        intercept: bool = True,
        kernel: kernels.KernelName = "gaussian",
        degree: int | None = None,
        offset: float | None = None,
        gamma: kernels.Gamma = None,
        coding: Coding = "factor",
        na_action: samples.NaAction = "drop",
        weights: object = None,
        freq_weights: object = None,
        standardize: bool | None = None,
        memory: int = KERNEL_MEMORY,
    ) -> None:
        check_flag("intercept", intercept)
        sample = samples.sample_of_arrays(
            y, X, bool(intercept), coding, na_action, weights, freq_weights
        )
        options = degree, offset, gamma
        self._set_up(sample, lam, intercept, kernel, options, standardize, memory)

    @classmethod
    @suggest_arguments
    def from_formula(
        cls,
        formula: str,
        data: object,
        *,
        lam: Lam = None,
        intercept: bool = True,
        kernel: kernels.KernelName = "gaussian",
        degree: int | None = None,
        offset: float | None = None,
        gamma: kernels.Gamma = None,
        coding: Coding = "factor",
        na_action: samples.NaAction = "drop",
        weights: object = None,
        freq_weights: object = None,
        standardize: bool | None = None,
        memory: int = KERNEL_MEMORY,
        functions: Functions | None = None,
    ) -> Self:
        """Build the model from a formula and a data frame.

        Parameters
        ----------
        formula : str
        data : DataFrame
        weights, freq_weights : optional
            As in `KernelSVM`, or the name of a column of `data`.
        lam, intercept, kernel, degree, offset, gamma
            As in `KernelSVM`; a precomputed kernel needs no formula.
        coding, na_action, standardize, memory
            As in `KernelSVM`.
        functions : dict of str to callable, optional
            Further functions for the formula, as for `svm`.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> str(ps.KernelSVM.from_formula("digit ~ .", train, lam=1.0).problem.kernel)
        'gaussian, gamma 0.015625'
        """
        check_flag("intercept", intercept)
        of_rows = intercept, coding, na_action, weights, freq_weights, functions
        sample, free = samples.sample_of_formula(formula, data, *of_rows)
        model, options = cls.__new__(cls), (degree, offset, gamma)
        model._set_up(sample, lam, free, kernel, options, standardize, memory)
        return model

    def _set_up(
        self,
        sample: samples.Sample,
        lam: Lam,
        intercept: bool,
        kernel_name: kernels.KernelName,
        options: "tuple[int | None, float | None, kernels.Gamma]",
        standardize: bool | None,
        memory: int,
    ) -> None:
        sample = as_rows_of_kernel(sample, kernel_name, standardize, intercept)
        usual = partial(usual_gamma, sample)
        kernel = kernels.checked_kernel(kernel_name, *options, usual)
        memory = check_count("memory", memory, 2**62)
        if sample.offsets is not None:
            raise OptionError(
                f"Kernel models do not support an offset; leave out {sample.offsets}."
            )
        self._sample = sample
        penalty, rule = penalty_of(lam, sample.n_weighed)
        self.problem = kernels.KernelProblem(
            self._matrix(kernel),
            sample.y,
            penalty,
            "hinge",
            bool(intercept),
            kernel,
            memory,
            weights=sample.weights,
            weights_of=sample.weights_of,
            lam_rule=rule,
            verified=kernel.name != "precomputed"
            or len(sample.X) <= kernels.CHOLESKY_ROWS,
        )

    def _matrix(self, kernel: kernels.KernelFunction) -> Matrix:
        """Return the rows as a dense array; for a precomputed kernel, its values."""
        self._columns = None
        X = dense(self._sample.X)
        if kernel.name != "precomputed":
            return X
        if self.scaling is not None:
            raise OptionError(
                "A precomputed kernel does not allow standardize=True; leave it out."
            )
        if self._sample.counted is not None:
            raise OptionError(
                "A precomputed kernel does not allow freq_weights; repeat its rows "
                "and columns instead."
            )
        self._columns = np.flatnonzero(self._sample.complete)
        return kernels.checked_gram(X, self._sample.complete)

    @suggest_arguments
    def fit(
        self,
        solver: AnySolver | None = None,
        *,
        refine: float | None = None,
        trace: bool = False,
        test: object = None,
        progress: bool = False,
    ) -> "KernelResults":
        """Minimise the objective.

        Parameters
        ----------
        solver : Optimum or Pegasos, optional
            ``Optimum()`` by default, which minimises to a tolerance. ``Pegasos`` uses
            one row per step, allows neither projection nor averaging, and reproduces
            the R script in ``r_reference/``.
        refine, trace, test, progress
            As for ``SVM.fit``.

        Returns
        -------
        KernelResults

        Raises
        ------
        OptionError
            If the solver has an option that kernel models do not support, or if `test`
            is passed without `trace`, or `refine` without Pegasos.

        Warns
        -----
        ConvergenceWarning
            If the solver does not reach its tolerance; for the default tolerance only
            if the relative gap is above 1e-3.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.kernel_svm("digit ~ .", train, lam=1e-3, gamma=1e-3)
        >>> best = model.fit(ps.Optimum(tol=1e-6, seed=1))
        >>> best.relative_gap < 1e-6
        True
        >>> steps = model.fit(ps.Pegasos(epochs=2, seed=1))
        >>> steps.n_iter, bool(steps.objective > best.objective)
        (400, True)
        """
        solver = checked_solver(solver, Optimum)
        check_flag("progress", progress)
        refinement = checked_refinement(refine, solver)
        began = time.perf_counter()
        model = self.at_chosen_lambda()
        recorder = model._recorder(trace, test, solver.ties)
        solution = run_then_refine(
            model.problem, solver, refinement, recorder, progress
        )
        return KernelResults(
            problem=model.problem,
            solver=solver,
            solution=solution,
            design=self.design,
            coding=self.coding,
            index=self._sample.index,
            dropped=self.dropped,
            trace=None if recorder is None else recorder.frame(),
            refinement=refinement,
            columns=self._columns,
            seconds=time.perf_counter() - began,
            counted=self.counted,
            full_model=model,
            offsets=None,
        )

    def _scores(
        self, solution: AnySolution, X: Predictors, offset: Vector | None
    ) -> Vector:
        return new_scores(self.problem, solution, X, self._columns)


@suggest_names("result", "kernel")
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class KernelResults(Results):
    """A fitted kernel model; returned by ``KernelSVM(...).fit()``.

    Its other attributes are those of `Results`.

    Attributes
    ----------
    problem : KernelProblem
    solution : KernelSolution
    columns : int64 array or None
        For a precomputed kernel, the columns of the matrix that belong to the training
        rows.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.kernel_svm("digit ~ .", train, kernel="polynomial", lam=1e4)
    >>> result = model.fit(ps.Pegasos(epochs=5, seed=443))
    >>> bool(result.n_support == (result.counts > 0).sum())
    True
    >>> best = model.fit(ps.Optimum(tol=1e-6, seed=443))
    >>> bool(best.n_support == len(best.dual_coef))
    True
    """

    problem: kernels.KernelProblem
    solution: kernels.KernelSolution
    columns: NDArray[np.int64] | None = None

    _field_rules = f"{Results._field_rules}, solution.counts n"

    @property
    def counts(self) -> "pd.Series[int]":
        """Number of margin violations of each training row, shape (n,).

        Raises
        ------
        OptionError
            If the solver was `Optimum`, which computes dual variables instead.
        """
        if self.solution.counts is None:
            raise OptionError(
                "Optimum computes dual variables and does not count violations; use "
                "dual_coef or tidy()."
            )
        return pd.Series(self.solution.counts, index=self.index, name="count")

    @property
    def n_support(self) -> int:
        """Number of support rows: training rows that predictions depend on."""
        return len(self._support)

    @property
    def dual_coef(self) -> "pd.Series[float]":
        """Coefficients ``b_j`` of the support rows, the factors of ``K(x_j, .)``.

        After ``T`` steps of Pegasos ``b_j = c_j w_j y_j / (lam T)``, with the number of
        violations ``c_j`` and the weight ``w_j`` of the row. With `Optimum`
        ``b_j = a_j y_j / (lam n)``, with the dual variable ``a_j``.
        """
        support, coefficients = kernels.support_of(self.problem, self.solution)
        return pd.Series(coefficients, index=self.index[support], name="dual_coef")

    @property
    def _support(self) -> NDArray[np.intp]:
        """Positions of the support rows, counted from zero."""
        support: NDArray[np.intp] = kernels.support_of(self.problem, self.solution)[0]
        return support

    @property
    def plot(self) -> "ResultPlots":
        """Figures of the fit, such as ``result.plot.roc(data)``."""
        from pegasos_stats.output.plotting.result_plots import ResultPlots

        return ResultPlots(self)

    def _scores(self, matrix: ModelMatrix) -> "pd.Series[float]":
        scores: pd.Series[float] = matrix.spread(
            new_scores(self.problem, self.solution, matrix.values, self.columns)
        )
        return scores.rename("score")

    @suggest_arguments
    def tidy(self) -> pd.DataFrame:
        """Intercept and coefficients of the support rows, as a data frame.

        Returns
        -------
        DataFrame
            Columns ``term`` (``"Intercept"``, then row labels; for a loaded fit,
            positions of training rows) and ``estimate`` (the intercept, then
            `dual_coef`). With Pegasos also ``count``, the number of violations. With
            `Optimum` also ``dual_weight``, the dual variable, which is at most the
            weight of the row and equals this weight if the margin is below 1.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.kernel_svm("digit ~ .", train, kernel="linear", lam=1.0)
        >>> result = model.fit(ps.Pegasos(epochs=2, seed=1))
        >>> len(result.tidy()) == 1 + result.n_support
        True
        """
        weights = self.dual_coef
        cells: dict[str, object] = {
            "term": weights.index.to_numpy(dtype=object),
            "estimate": weights.to_numpy(),
        }
        if self.solution.dual is not None:
            cells["dual_weight"] = self.solution.dual[self._support]
        else:
            counts = self.counts.to_numpy()[self._support]
            cells["count"] = pd.array(counts, "Int64")
        rows = pd.DataFrame(cells)
        if not self.problem.intercept:
            return rows
        first = {"term": ["Intercept"], "estimate": [self.intercept]}
        return pd.concat([pd.DataFrame(first), rows], ignore_index=True)

    @suggest_arguments
    def summary(self, *, digits: int = 3, details: bool = False) -> Summary:
        """Header, number of support rows, and at most three notes.

        Parameters
        ----------
        digits : int, default 3
            Decimals of the intercept.
        details : bool, default False
            Whether to add the solver, the certificate and all notes.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook shows HTML; ``to_latex()`` returns LaTeX.
        """
        check_count("digits", digits)
        cells = {
            "Support rows": f"{self.n_support:,} of {self.nobs:,}",
            "Intercept": fixed(self.intercept, digits),
        }
        function = pd.DataFrame({"value": list(cells.values())}, list(cells))
        return summary_of(self, function, details=details)


def new_scores(
    problem: kernels.KernelProblem,
    solution: AnySolution,
    X: Predictors,
    columns: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Scores of rows, shape (q,).

    Parameters
    ----------
    problem : KernelProblem
    solution : KernelSolution
    X : array or scipy sparse array, shape (q, p)
        For a precomputed kernel the values ``K(x, x_j)``, with a column for each
        training row, or a column for each row that was passed to the model.
    columns : int64 array, shape (n,), optional
        Positions of the training rows among the rows that were passed to the model.
    """
    assert isinstance(solution, kernels.KernelSolution)
    X = dense(X)
    if problem.kernel.name == "precomputed" and X.shape[1] != problem.n:
        X = X[:, columns]
    return np.asarray(kernels.scores_of_kernel(problem, solution, X))


def as_rows_of_kernel(
    sample: samples.Sample, kernel: object, standardize: bool | None, intercept: bool
) -> samples.Sample:
    """Return the sample with dense rows, standardized by default."""
    if standardize is None:
        standardize = str(own_value("kernel", kernel)) != "precomputed"
    check_flag("standardize", standardize)
    X, count = dense(sample.X), rows_of_weights(sample.raw_weights)
    if not standardize:
        return replace(sample, X=X)
    scaling = Scaling.of(X, bool(intercept), sample.weights, count)
    design = ScaledDesign(sample.design, scaling)
    return replace(sample, X=scaling.apply(X), design=design)


def usual_gamma(sample: samples.Sample, rule: str) -> float:
    """Return the gamma of a rule: ``"auto"``, ``"scale"``, or the Gaussian default."""
    X, weights = dense(sample.X), sample.weights
    if rule == "default" and isinstance(sample.design, ScaledDesign):
        rule = "auto"
    if rule == "auto":
        return 1.0 / float(max(1, X.shape[1]))
    return kernels.usual_gamma(X if weights is None else X[weights > 0.0])


def dense(X: Predictors) -> Matrix:
    """Convert rows to a dense array of float64.

    Raises
    ------
    DataError
        If there is not enough memory to convert sparse rows.
    """
    if not isinstance(X, np.ndarray):
        check_memory(
            8.0 * X.shape[0] * X.shape[1],
            "A kernel model computes with dense rows, and X as an array",
            "use fewer columns, or fit a linear model",
        )
    return np.ascontiguousarray(dense_rows(X))


kernel_svm = as_function(
    "kernel_svm",
    KernelSVM.from_formula,
    """Kernel support vector machine, from a formula and a data frame.

        Minimises ``lam/2 ||f||^2 + mean(max(0, 1 - y_i (f(x_i) + alpha)))`` over the
        functions ``f = sum_j b_j K(x_j, .)``. The intercept ``alpha`` is not penalised.
        The default penalty is ``1 / n``; the default kernel is Gaussian with
        ``gamma = 1 / p`` on standardized predictors. ``fit()`` of the returned model
        estimates ``f``.
    """,
)
