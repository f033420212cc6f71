"""Cross-validation, plain and nested; paths of lambda; tuning of gamma."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import checks, compiled
from pegasos_stats.arrays import Axes, DataColumn, Vector
from pegasos_stats.data.labels import Ties
from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.metrics.scores import PairCounts, counts_of_pairs
from pegasos_stats.models.kernel import KernelResults, KernelSVM
from pegasos_stats.models.linear import Model
from pegasos_stats.models.results import Results, predicted
from pegasos_stats.solvers.certificate import feasible
from pegasos_stats.solvers.intercept import zero_model
from pegasos_stats.solvers.kernel_problem import KernelProblem, support_of
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.options import DEFAULT_EPOCHS
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies import fold_fits
from pegasos_stats.studies.fold_fits import FoldFit, FoldFitter
from pegasos_stats.studies.folds import Folds
from pegasos_stats.tables import Summarised, Summary, significant

Rule = Literal["min", "1se"]

RULES: tuple[Rule, ...] = ("min", "1se")
PATH_EPOCHS = 1000  # epochs of the default Optimum along a path
GRID_SIZE = 30
MAX_LAMBDAS = 10_000
GRID_RATIO = 1e-5
NAMED_LINES = 6  # named coefficients in the figure
SUMMARY_LINES = 30
NESTED_FOLDS = 10  # inner folds, unless a path sets their number
GAMMA_MULTIPLES = (1.0 / 16.0, 0.25, 1.0, 4.0, 16.0)  # of the model's gamma


@suggest_arguments
def lambda_grid(
    model: Model, count: int = GRID_SIZE, ratio: float = GRID_RATIO
) -> Vector:
    """Return a grid of lambda for a path, largest first.

    Let ``a`` be the dual variables of the model with only an intercept, and ``g = X'(a
    y) / n``. For large lambda the solution is ``g / lam`` to first order. The largest
    lambda of the grid is half the range of the scores ``x_i'g`` or, without intercept,
    the largest ``|x_i'g|``. At this lambda, scores differ by at most 2, the distance
    from -1 to 1. For the hinge loss and two classes of equal weight, the solution for
    all larger lambda is exactly ``g / lam``: every margin is at most 1, and every dual
    variable is 1 (Hastie, Rosset, Tibshirani & Zhu 2004, section 3.1). The grid is
    geometric, rounded to four digits.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    count : int, default 30
    ratio : float, default 1e-5
        Smallest divided by largest value, below 1.

    Returns
    -------
    float64 array, shape (count,), largest first

    Raises
    ------
    OptionError
        If `count` or `ratio` is not allowed.
    DataError
        If the predictors have the same mean in both classes.

    References
    ----------
    Hastie, Rosset, Tibshirani & Zhu, *The entire regularization path for the support
    vector machine*, JMLR 5 (2004).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> ps.lambda_grid(ps.SVM(y, X, lam=1.0), count=3, ratio=0.01)
    array([3.  , 0.3 , 0.03])
    """
    problem = fold_fits.checked_model(model).problem
    count = checks.check_count("count", count, MAX_LAMBDAS)
    ratio = checks.check_fraction("ratio", ratio)
    scores = _first_order(problem, null_dual(problem))
    half_range = float(np.ptp(scores)) / 2.0
    largest = half_range if problem.intercept else float(np.abs(scores).max())
    if not largest > 0.0:
        raise DataError(
            "The predictors have the same mean in both classes, so the data determine "
            "no largest lambda; pass lambdas= to lambda_path()."
        )
    if ratio * largest < sys.float_info.min:
        why = f"is too small: {largest:.3g} times it underflows; pass a larger one."
        raise OptionError(why, "ratio", ratio)
    values = np.geomspace(largest, ratio * largest, count)
    return np.array([float(f"{value:.3e}") for value in values])


def null_dual(problem: Problem) -> Vector:
    """Return dual variables of the model with at most an intercept.

    Hinge: the weight of the row, scaled down in the heavier class to the total of the
    other. For other losses, or with an offset: the weight times the negative slope of
    the loss.
    """
    w, y = problem.row_weights, problem.y
    if problem.loss == "hinge" and problem.offset is None:
        return feasible(w.copy(), y, problem.intercept, w)
    m = y * (problem.row_offsets + zero_model(problem)[0])
    s = problem.loss_function.dual_weights(m)
    return feasible(w * s, y, problem.intercept, problem.dual_upper_bounds)


def _first_order(problem: Problem, a: Vector) -> Vector:
    """Return the scores ``X g``, or of a kernel ``sum_j a_j y_j K(x_j, x_i) / n``."""
    signed = a * problem.y / problem.n
    X = problem.X
    if not isinstance(problem, KernelProblem):
        return np.asarray(X @ np.asarray(X.T @ signed), dtype=np.float64)
    if problem.kernel.name == "precomputed":
        return np.asarray(X @ signed)
    return np.asarray(
        compiled.kernel_pegasos.kernel_scores(problem.kernel.code(), X, signed, X, 0.0)
    )


def distinct_positive(name: str, values: Any) -> list[float]:
    """Return distinct positive numbers in increasing order, or raise `OptionError`."""
    refused = OptionError(
        "is not allowed; pass a list of different numbers above zero.", name, values
    )
    with convert_errors(refused):
        items = list(values) if np.ndim(values) == 1 else []
    numbers = sorted({checks.check_positive(name, item) for item in items})
    if not items or len(numbers) < len(items):
        raise refused
    return numbers


def checked_lambdas(lambdas: object, model: Model) -> Vector:
    """Return lambdas, largest first, by default from `lambda_grid`."""
    if lambdas is None:
        return lambda_grid(model)
    return np.array(distinct_positive("lambdas", lambdas)[::-1])


def place(loss: Vector, error: Vector, rule: Rule) -> int:
    """Return the position of the lambda chosen by a rule; for ties the largest lambda.

    Parameters
    ----------
    loss, error : float64 array, shape (m,)
        Mean and standard error at each lambda, largest first. At least one mean is not
        NaN.
    rule : "min" or "1se"
        The smallest loss, or the first within one standard error of it. Without a
        standard error both are equal.

    Examples
    --------
    >>> loss, error = np.array([0.5, 0.3, 0.2]), np.full(3, 0.1)
    >>> place(loss, error, "min"), place(loss, error, "1se")
    (2, 1)
    """
    best = int(np.nanargmin(loss))
    if rule == "min" or np.isnan(error[best]):
        return best
    return int(np.flatnonzero(loss <= loss[best] + error[best])[0])


@suggest_arguments
def lambda_path(
    model: Model,
    lambdas: object = None,
    solver: AnySolver | None = None,
    *,
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    metrics: object = None,
    metric: str | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> "LambdaPath":
    """Fit a model for many values of lambda and cross-validate each of them.

    With `Optimum` all folds are fitted together, from the largest lambda on, in passes
    over their shared rows. This requires at most 300 columns, at least three rows per
    column (20 for the hinge), and no transform that is computed from the rows of a
    fold; sparse rows become dense, up to 2^25 values. Otherwise folds are fitted
    separately, and each fit starts with the dual variables of the previous one,
    rescaled for its lambda. Pegasos always starts at zero, because its first steps
    discard any start. Each fit reports its duality gap.

    Folds and seeds are drawn as in `cross_validate`, one seed per fold; fits to all
    rows use `seed` itself. A solver with a seed of its own uses this seed in all fits.
    The scaling of ``standardize=True`` and transforms of a formula, such as ``scale()``
    and ``bs()``, are computed from the training rows of each fit. Factor levels and
    balanced weights come from all rows; a level without training rows has the
    coefficient 0.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
        The function ignores its lambda.
    lambdas : sequence of float, optional
        By default from `lambda_grid`.
    solver : Optimum, Pegasos or SDCA, optional
        By default `Optimum` to a relative gap of 1e-3.
    folds : int, Folds, Series or array, list of pairs, or None; default 10
        As for `cross_validate`; None fits only all rows.
    repeats, groups, seed, metrics
        As for `cross_validate`.
    metric : str, optional
        Metric that chooses lambda, by default the error rate, or the log loss for a
        logistic model. If `metrics` lacks this default, the first of `metrics`.
    workers, progress
        As for `cross_validate`.

    Returns
    -------
    LambdaPath

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver cannot fit the model.
    DataError
        If the training rows of a fold have only one class, or folds are for other rows.

    Warns
    -----
    ConvergenceWarning
        Once, if any fit does not reach the tolerance.

    References
    ----------
    Friedman, Hastie & Tibshirani, Journal of Statistical Software 33 (2010), sections
    2.5 and 6; Hastie, Rosset, Tibshirani & Zhu, JMLR 5 (2004).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=1.0)
    >>> path = ps.lambda_path(model, [10, 1, 0.1], folds=5, seed=443)
    >>> path.lambda_1se >= path.lambda_min
    True
    >>> path.refit("1se").confusion(test).n_errors
    1
    """
    model = fold_fits.checked_model(model)
    grid = checked_lambdas(lambdas, model)
    default = Optimum(epochs=PATH_EPOCHS, tol=fold_fits.FOLD_TOL)
    at = fold_fits.at_lambda(model, model.problem.lam or 1.0 / model.problem.n)
    fitter = FoldFitter.of(at, solver, default, seed, workers, progress)
    chosen = fold_fits.checked_metrics(metrics, model.problem.loss)
    names = tuple(measure.name for measure in chosen)
    if metric is None:
        usual = LOSSES[model.problem.loss].decides
        metric = usual if usual in names else names[0]
    checks.check_choice("metric", metric, names)
    use = fold_fits.with_seed(fitter.solver, fitter.rng.seed)
    partition = None if folds is None else fitter.folds(folds, repeats, groups)
    tasks = [fold_fits.Task(None, use)]  # first all rows, then the folds
    if partition is not None:
        tasks += fitter.tasks(partition.splits)
    elif checks.check_count("repeats", repeats) > 1:
        why = "is for random folds; pass a number as folds=, or omit repeats=."
        raise OptionError(why, "repeats", repeats)
    whole, *parts = fits = fitter.fits(tasks, grid)
    fitter.warn_of_gaps(fits)
    by_fold = None
    if partition is not None:
        by_fold = fitter.lines(partition, parts, chosen)
        by_fold.insert(2, "lam", np.tile(grid, len(partition)))
    lines, coefficients = _whole_fits(model, grid, whole, use.ties)
    return LambdaPath(
        model=model,
        solver=use,
        lambdas=grid,
        folds=partition,
        seed=fitter.rng.seed,
        metrics=chosen,
        metric=metric,
        fits=lines,
        coefficients=coefficients,
        by_fold=by_fold,
    )


def best_lambda(model: Model, folds: Folds) -> float:
    """Return ``lambda_path(model, folds=folds).lambda_min``, for a single repeat."""
    grid, problem = lambda_grid(model), model.problem
    default = Optimum(epochs=PATH_EPOCHS, tol=fold_fits.FOLD_TOL)
    at = fold_fits.at_lambda(model, 1.0 / problem.n)
    fitter = FoldFitter.of(at, None, default, 1, 1, False)
    name = LOSSES[problem.loss].decides
    (metric,) = fold_fits.checked_metrics(name, problem.loss)
    lines, weights = [], []
    for split, own in zip(
        folds.splits, fitter.fits(fitter.tasks(folds.splits), grid), strict=True
    ):
        scores = np.array([fit.scores for fit in own])
        finite = ~np.isnan(scores).any(axis=0)
        y, w = problem.y[split.test], problem.row_weights[split.test]
        at_each = y[finite], scores[:, finite], w[finite]
        lines.append(metric.measure(*at_each, fitter.solver.ties))
        weights.append(float(w.sum()))
    loss = np.average(lines, axis=0, weights=weights)
    return float(grid[place(loss, np.full(len(grid), np.nan), "min")])


def _whole_fits(
    model: Model, grid: Vector, fits: Sequence[Any], ties: Ties
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Return one row per fit to all rows, and the coefficients of a linear model."""
    n, ends = model.problem.n, [fit.certificate for fit in fits]
    columns = {
        "lam": grid,
        "objective": [end.objective for end in ends],
        "relative_gap": [end.relative_gap for end in ends],
        "training_error": [end.error_rate(n, ties) for end in ends],
        "steps": [fit.steps for fit in fits],
    }
    if isinstance(model.problem, KernelProblem):
        rows = [support_of(model.problem, fit.solution)[0] for fit in fits]
        return pd.DataFrame(columns | {"n_support": list(map(len, rows))}), None
    beta = np.array([fit.solution.beta for fit in fits])
    columns["norm"] = [float(np.linalg.norm(vector)) for vector in beta]
    frame = pd.DataFrame(beta, pd.Index(grid, name="lam"), list(model.names))
    if model.problem.intercept:
        frame.insert(0, "Intercept", [fit.solution.alpha for fit in fits])
    return pd.DataFrame(columns), frame


@suggest_names("path")
@dataclass(frozen=True, repr=False, eq=False)
class LambdaPath(Summarised):
    """Fits for many values of lambda; returned by `lambda_path`.

    Attributes
    ----------
    model : Model
    solver : Optimum, Pegasos or SDCA
        Solver and seed of the fits to all rows.
    lambdas : float64 array, shape (m,)
        Largest first.
    folds : Folds or None
    seed : int or None
    metrics : tuple of Metric
    metric : str
        Name of the metric that chooses lambda.
    fits : DataFrame
        One row per lambda for the fit to all rows: ``lam, objective, relative_gap,
        training_error, steps``, and the ``norm`` of the coefficients or, with a kernel,
        ``n_support``.
    coefficients : DataFrame, shape (m, p + 1), or None
        Intercept and coefficients of the fits to all rows, with the index ``lam``; for
        standardized predictors with ``standardize=True``. None with a kernel.
    by_fold : DataFrame or None
        One row per fold and lambda, as in ``CrossValidation.by_fold``.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train)
    >>> path = ps.lambda_path(model, [10, 1], folds=5, seed=1)
    >>> path.table.columns[-3:].tolist()
    ['hinge_loss_se', 'auc', 'auc_se']
    >>> path.best_model("min").problem.lam == path.lambda_min
    True
    """

    model: Model
    solver: AnySolver
    lambdas: Vector
    folds: Folds | None
    seed: int | None
    metrics: tuple[fold_fits.Metric, ...]
    metric: str
    fits: pd.DataFrame
    coefficients: pd.DataFrame | None
    by_fold: pd.DataFrame | None

    _field_rules = "seed seed"

    def tidy(self) -> pd.DataFrame:
        """Return cross-validated metrics: ``lam, term, estimate, std_error``.

        Means and standard errors are computed as in ``CrossValidation.tidy()``.

        Raises
        ------
        OptionError
            If the path was not cross-validated.
        """
        parts = []
        for metric in self.metrics:
            mean, error = self._curve(metric.name)
            columns = {"lam": self.lambdas, "term": metric.name, "estimate": mean}
            parts.append(pd.DataFrame(columns | {"std_error": error}))
        return pd.concat(parts).sort_index(kind="stable", ignore_index=True)

    @cached_property
    def table(self) -> pd.DataFrame:
        """`fits` with mean and standard error of each metric, one row per lambda.

        The columns of a metric are named like the metric, and with the suffix ``_se``.
        """
        table = self.fits.copy()
        for metric in self.metrics if self.by_fold is not None else ():
            mean, error = self._curve(metric.name)
            table[metric.name], table[f"{metric.name}_se"] = mean, error
        return table

    @property
    def lambda_min(self) -> float:
        """Lambda with the best mean metric; for ties the largest.

        Raises
        ------
        OptionError
            If the path was not cross-validated, or the metric is undefined for all
            lambdas.
        """
        return self._chosen("min")

    @property
    def lambda_1se(self) -> float:
        """Largest lambda whose mean metric is within one standard error of the best.

        Raises
        ------
        OptionError
            As for `lambda_min`; also with a single fold, which has no standard error.
        """
        return self._chosen("1se")

    def _losses(self) -> tuple[Vector, Vector]:
        """Return the metric as a loss to minimise, and its standard error."""
        mean, error = self._curve(self.metric)
        metric = next(item for item in self.metrics if item.name == self.metric)
        return -mean if metric.larger_is_better else mean, error

    def _chosen(self, rule: Rule) -> float:
        loss, error = self._losses()
        check_defined(loss, self.metric)
        if rule == "1se" and np.isnan(error[place(loss, error, "min")]):
            raise OptionError(
                "There is no standard error with a single fold; use the rule 'min'."
            )
        return float(self.lambdas[place(loss, error, rule)])

    @suggest_arguments
    def best_model(self, rule: Rule = "1se") -> Any:
        """Return the model at the chosen lambda, before ``fit()``.

        Parameters
        ----------
        rule : "1se" or "min"
            `lambda_1se` or `lambda_min`.
        """
        checks.check_choice("rule", rule, RULES)
        return fold_fits.at_lambda(self.model, self._chosen(rule))

    @suggest_arguments
    def refit(self, rule: Rule = "1se") -> Results:
        """Fit all rows at the chosen lambda, with the solver of the path.

        The fit does not start at a solution of the path, so it can be repeated without
        the path. With `Optimum` the tolerance is 1e-6, or the tolerance of the path if
        that is smaller.

        Parameters
        ----------
        rule : "1se" or "min"

        Warns
        -----
        ConvergenceWarning
            If the solver does not reach its tolerance.
        """
        result: Results = self.best_model(rule).fit(fold_fits.for_all_rows(self.solver))
        return result

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the metric against lambda, and mark `lambda_min` and `lambda_1se`.

        Vertical bars are standard errors.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the lines, such as ``color`` or ``label``.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        OptionError
            If the path was not cross-validated.
        """
        from pegasos_stats.output.plotting.curves import draw_curve

        return draw_curve(self, ax, line)

    @suggest_arguments
    def plot_coefficients(
        self, *, named: int = NAMED_LINES, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw coefficients against lambda, without the intercept.

        Only the thousand coefficients that are largest at the smallest lambda are
        drawn.

        Parameters
        ----------
        named : int, default 6
            Number of coefficients drawn in colour and with names: the largest ones at
            the smallest lambda.
        ax : Axes, optional
        **line
            Properties of the coloured lines.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        OptionError
            If the model has a kernel.
        """
        from pegasos_stats.output.plotting.curves import draw_path

        if self.coefficients is None:
            raise OptionError(
                "A kernel model has no coefficients; plot() draws its metric."
            )
        count = checks.whole_of(named)
        if count is None or count < 0:
            why = "is not allowed; pass a whole number, 0 or more."
            raise OptionError(why, "named", named)
        beta = self.coefficients.drop(columns="Intercept", errors="ignore")
        return draw_path(self, beta, min(count, beta.shape[1]), ax, line)

    def summary(self) -> Summary:
        """Return header, one row per lambda, and notes; ``print()`` shows text."""
        marks, m, metric = self.marks(), len(self.lambdas), "none"
        names = ["norm" if "norm" in self.fits else "n_support", "training_error"]
        notes = ["norm and training_error refer to the fits to all rows."]
        if self.by_fold is not None:
            metric = self.metric
            names += [metric, f"{metric}_se"]
            notes.append(
                f"lambda_min has the best mean {metric} over the folds; lambda_1se is "
                "the largest lambda within one standard error of the best. The best "
                "mean is optimistic; for a fair estimate use "
                "cross_validate(model, lambda_path=path)."
            )
        for name, lam in marks.items():
            if end := end_of_path(self, lam):
                notes.append(f"lambda_{name} is {end}.")
        spaced = {round(i) for i in np.linspace(0, m - 1, min(m, SUMMARY_LINES))}
        marked = np.flatnonzero(np.isin(self.lambdas, [*marks.values()]))
        rows = self.table.iloc[sorted({*spaced, *marked.tolist()})]
        table = rows[names].map(significant).set_axis(rows["lam"].map(significant))
        table[""] = [
            ", ".join(name for name, lam in marks.items() if lam == v)
            for v in rows["lam"]
        ]
        left = dict(fold_fits.model_fields(self.model)) | {"Deciding metric:": metric}
        left |= {f"lambda_{n}:": significant(v, 6) for n, v in marks.items()}
        del left["lambda:"]
        gap = float(self.fits["relative_gap"].max())
        right = fold_fits.run_fields(self.solver, self.folds, self.seed, gap)
        return Summary(["Lambda path"], table, notes, [*left.items()], right)

    def _curve(self, name: str) -> tuple[Vector, Vector]:
        """Return mean and standard error of a metric for each lambda."""
        if self.by_fold is None:
            raise OptionError("The path was not cross-validated; pass folds=10.")
        return fold_fits.curve(self.by_fold, name, len(self.lambdas))

    @property
    def is_best_at_largest(self) -> bool:
        """Return whether `lambda_min` is the largest lambda of the path."""
        return bool(self.lambda_min == self.lambdas[0])

    def marks(self) -> dict[str, float]:
        """Return the chosen lambdas in a dict: ``"min"`` and ``"1se"``, if defined."""
        marks: dict[str, float] = {}
        for rule in RULES:
            with suppress(OptionError):
                marks[rule] = self._chosen(rule)
        return marks


def check_defined(losses: Vector, metric: str) -> None:
    """Raise `OptionError` if a metric is NaN everywhere."""
    if np.isnan(losses).all():
        raise OptionError(f"{metric} is undefined in all folds; use another metric.")


def end_of_path(path: LambdaPath, lam: float) -> str:
    """Describe a lambda at an end of the path; return no text for other lambdas."""
    largest = lam == path.lambdas[0]
    if len(path.lambdas) < 2 or not (largest or lam == path.lambdas[-1]):
        return ""
    if largest and "norm" in path.fits and path.fits["norm"].iloc[0] == 0.0:
        return "the largest of the path, where all coefficients are 0"
    which = "largest" if largest else "smallest"
    return f"the {which} of the path; a better one may lie beyond"


@suggest_arguments
def cross_validate(
    model: Model,
    solver: AnySolver | None = None,
    *,
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    metrics: object = None,
    lambda_path: object = None,
    rule: Rule = "1se",
    workers: int | None = None,
    progress: bool = False,
) -> "CrossValidation":
    """Cross-validate a model: fit all folds but one, and score the held-out fold.

    One stream of R's random numbers determines the folds and then a seed for each fit:
    ``set.seed(seed)``, ``repeated_folds(y, k, repeats)`` and ``fit_seeds(k * repeats)``
    of ``r_reference``. A solver with a seed of its own uses this seed in every fold;
    `Pegasos` has none by default.

    The scaling of ``standardize=True`` and transforms of a formula, such as ``scale()``
    and ``bs()``, are computed from the training rows of each fit. Factor levels and
    balanced weights come from all rows; a level without training rows has the
    coefficient 0.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    solver : Optimum, Pegasos or SDCA, optional
        By default `Optimum` to a relative gap of 1e-3.
    folds : int, Folds, Series or array, or list of pairs, default 10
        A number of stratified folds; ``validation.folds`` of another cross-validation;
        the fold of each row, by number or label (for repeats a matrix of shape
        (repeats, n)); or pairs ``(train, test)`` of positions among the rows used,
        counted from zero.
    repeats : int, default 1
        Number of repeats with different random folds.
    groups : str, Series, array or list, shape (n,), optional
        Clusters of dependent rows, as for ``SVM.fit``. Each group is in one fold,
        classes are balanced across folds, and error rates refer to new groups.
    seed : int, default 1
        Seed for R's ``set.seed()``; None draws a seed.
    metrics : str, callable, or sequence of them, optional
        ``"error_rate"``, ``"auc"``; ``"hinge_loss"`` (hinge), ``"squared_hinge_loss"``
        (squared hinge); ``"log_loss"``, ``"brier_score"`` (log loss); a named function
        of labels -1, +1 and scores. By default all metrics of the model's loss. Rows
        are weighted: with ``weights="balanced"`` the error rate refers to classes of
        equal size.
    lambda_path : LambdaPath, True or sequence of float, optional
        Nested cross-validation: each fold chooses lambda from its training rows. A path
        sets the values, the number of inner folds and the metric. With a sequence of
        values, or True for `lambda_grid`, there are 10 inner folds. The estimate refers
        to the whole procedure, and the lambda of the model is ignored. Without this
        argument, models with ``lam="cv"`` are cross-validated in this way, with the
        rule ``"min"``.
    rule : "1se" or "min", default "1se"
        Whether each fold chooses `LambdaPath.lambda_1se` or `LambdaPath.lambda_min`;
        ignored with ``lam="cv"`` unless `lambda_path` is set.
    workers : int, optional
        Number of threads, by default one per usable core. Results do not depend on it.
        Each thread stores the rows of a fold or, with a kernel, a Gram matrix.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    CrossValidation

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver cannot fit the model.
    DataError
        If the training rows of a fold lack a class, folds are for other rows, or a fold
        splits a group.

    Warns
    -----
    ConvergenceWarning
        Once, if the solver does not reach its tolerance in one or more folds.
    UndefinedMetricWarning
        If a metric is not defined in some fold, such as the area under the curve
        where a class has no held-out row.

    References
    ----------
    Stone, Journal of the Royal Statistical Society B 36 (1974), 111-147.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=1)
    >>> validation = ps.cross_validate(model, folds=5, seed=443)
    >>> validation.by_fold["n_test"].tolist()
    [40, 40, 40, 40, 40]
    >>> bool(validation.mean["error_rate"] == validation.confusion().error_rate)
    True
    """
    model = fold_fits.checked_model(model)
    if model.problem.lam_rule == "cv" and lambda_path is None:
        lambda_path, rule = True, "min"
    choosing = checked_choosing(lambda_path, rule, model)
    at, epochs = model, DEFAULT_EPOCHS
    if choosing is not None:
        unused = model.problem.lam or 1.0 / model.problem.n
        at, epochs = fold_fits.at_lambda(model, unused), PATH_EPOCHS
    default = Optimum(fold_fits.FOLD_TOL, epochs=epochs)
    fitter = FoldFitter.of(at, solver, default, seed, workers, progress)
    chosen = fold_fits.checked_metrics(metrics, model.problem.loss)
    partition = fitter.folds(folds, repeats, groups)
    lams: list[float] = []
    if choosing is None:
        lam = np.array([model.problem.lam])
        fits = fitter.fits(fitter.tasks(partition.splits), lam)
    else:
        fits, lams = nested_fits(fitter, partition, choosing)
    fitter.warn_of_gaps(fits)
    scores = np.full((model.problem.n, partition.repeats), np.nan)
    for split, (fit,) in zip(partition.splits, fits, strict=True):
        scores[split.test, split.repeat - 1] = fit.scores
    columns = pd.RangeIndex(1, partition.repeats + 1, name="repeat")
    by_fold = fitter.lines(partition, fits, chosen)
    if not model.problem.lam and not lams:
        lams = [fit.lam for (fit,) in fits]
    if lams:
        by_fold.insert(2, "lam", lams)
    fold_fits.warn_undefined(by_fold, chosen)
    return CrossValidation(
        model=model,
        solver=fitter.solver,
        folds=partition,
        seed=fitter.rng.seed,
        metrics=chosen,
        by_fold=by_fold,
        scores_by_repeat=pd.DataFrame(scores, model._sample.index, columns),
        choosing=choosing,
    )


@suggest_names("validation")
@dataclass(frozen=True, repr=False, eq=False)
class CrossValidation(Summarised):
    """Cross-validated performance of a model; returned by `cross_validate`.

    Attributes
    ----------
    model : Model
    solver : Optimum, Pegasos or SDCA
    folds : Folds
        Folds, which another cross-validation of the same rows can reuse.
    seed : int or None
        Seed of random folds and of the fits.
    metrics : tuple of Metric
    by_fold : DataFrame
        One row per fold: ``repeat, fold, n_train, n_test``; ``weight`` of the held-out
        rows; ``decided``, the weight of held-out rows with a predicted class; ``seed,
        steps, objective, relative_gap`` of the fit; and the metrics. Nested
        cross-validation adds ``lam``, as does a `Logit` without ``lam`` or with
        ``lam=0``.
    scores_by_repeat : DataFrame, shape (n, repeats)
        Out-of-fold scores: the score of each row by the fit without this row; NaN for a
        row that is in no test fold.
    choosing : Choosing or None
        Options of the nested choice of lambda, or None.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.logit("digit ~ .", train, lam=1)
    >>> validation = ps.cross_validate(model, folds=5, seed=1)
    >>> validation.tidy()["term"].tolist()
    ['error_rate', 'log_loss', 'brier_score', 'auc']
    """

    model: Model
    solver: AnySolver
    folds: Folds
    seed: int | None
    metrics: tuple[fold_fits.Metric, ...]
    by_fold: pd.DataFrame
    scores_by_repeat: pd.DataFrame
    choosing: "Choosing | None" = None

    _field_rules = "seed seed"

    def tidy(self) -> pd.DataFrame:
        """Return metrics, one per row: ``term, estimate, std_error``, as in broom.

        The estimate is the mean over the folds, weighted by their held-out rows. The
        standard error refers to a single repeat (root mean square over the repeats). It
        is approximate and tends to be too small, because folds share training rows.
        For nested cross-validation it includes Nadeau and Bengio's factor for shared
        training rows.
        """
        lines = []
        for metric in self.metrics:
            (mean,), (error,) = fold_fits.curve(self.by_fold, metric.name)
            lines.append((metric.name, float(mean), float(error)))
        table = pd.DataFrame(lines, columns=["term", "estimate", "std_error"])
        if self.choosing is not None:
            table["std_error"] *= fold_fits.correction_factor(self.by_fold)
        return table

    @property
    def _notes_on_lambda(self) -> list[str]:
        """Notes on folds that choose lambda, or are fitted with another lambda."""
        if self.choosing is not None:
            inner = counted(self.choosing.folds, "fold")
            return [
                f"Nested: each fold chooses lambda from its training rows, by {inner}, "
                f"{self.choosing.metric.name} and the rule {self.choosing.rule}; "
                "standard errors are Nadeau and Bengio's."
            ]
        if not self.model.problem.lam and (
            missing := int(self.by_fold["lam"].gt(0).sum())
        ):
            return [
                f"The maximum likelihood estimate does not exist in {missing} of "
                f"{counted(len(self.by_fold), 'fold')}: fitted with lam = 1/n."
            ]
        return []

    @property
    def mean(self) -> "pd.Series[float]":
        """Mean of each metric over the folds."""
        return self.tidy().set_index("term")["estimate"]

    @property
    def std_error(self) -> "pd.Series[float]":
        """Standard error of each mean; NaN with a single fold."""
        return self.tidy().set_index("term")["std_error"]

    @property
    def scores(self) -> "pd.Series[float]":
        """Out-of-fold scores, averaged over the repeats, with the index of the rows."""
        return self.scores_by_repeat.mean(axis=1).rename("score")

    @property
    def actual(self) -> DataColumn:
        """Labels of the rows."""
        sample = self.model._sample
        return sample.coding.decode(sample.y, sample.index)

    @property
    def probabilities(self) -> pd.DataFrame:
        """Out-of-fold probabilities of a logistic model, from `scores`.

        Raises
        ------
        OptionError
            If the model is not logistic.
        """
        checks.check_log_loss(self.model.problem.loss, "probabilities")
        odds = self.scores - self.model.problem.prior_shift
        return self.model.coding.probabilities(odds)

    @suggest_arguments
    def confusion(
        self,
        repeat: int = 1,
        *,
        ties: Ties | None = None,
        threshold: float | None = None,
    ) -> ConfusionMatrix:
        """Compute the confusion table of actual and out-of-fold predicted labels.

        Rows count once, or by their ``freq_weights``; rows of weight 0 do not count.
        There are no intervals and tests, because the predictions are not independent;
        `tidy` reports standard errors. The AUC, ``auc_pooled``, pools the scores of all
        folds and may differ much from the mean over folds.

        Parameters
        ----------
        repeat : int, default 1
        ties, threshold : optional
            As for `Results.predict`.

        Raises
        ------
        OptionError
            If the repeat does not exist, or `threshold` is not allowed.
        """
        if checks.number_of(repeat) not in self.scores_by_repeat.columns:
            why = f"is not allowed; pass a number from 1 to {self.folds.repeats}."
            raise OptionError(why, "repeat", repeat)
        model, problem = self.model, self.model.problem
        scores = self.scores_by_repeat[repeat].dropna()
        tested = self.scores_by_repeat[repeat].notna().to_numpy(dtype=bool)
        ties = self.solver.ties if ties is None else ties
        odds, counts = scores - problem.prior_shift, problem.counting
        logistic = problem.loss == "log"
        table = confusion(
            self.actual[tested],
            predicted(scores, problem, model.coding, ties, threshold),
            levels=model.coding.levels,
            scores=scores,
            probabilities=model.coding.probabilities(odds) if logistic else None,
            freq_weights=None if counts is None else counts[tested],
        )
        return replace(table, source="out of fold")

    def pairs(self) -> PairCounts:
        """Shares of correctly ordered and of tied pairs of held-out rows within folds.

        The shares are means over the folds, weighted as in `tidy`; the `area` of the
        result is the AUC of `tidy`. The shares are NaN if no fold has rows of both
        classes.
        """
        problem, shares, weights = self.model.problem, [], []
        for split in self.folds.splits:
            scores = self.scores_by_repeat.to_numpy()[split.test, split.repeat - 1]
            w, finite = problem.row_weights[split.test], ~np.isnan(scores)
            codes = (problem.y[split.test] > 0.0).astype(np.intp)
            pairs = counts_of_pairs(codes[finite], scores[finite], w[finite])
            shares.append(pairs.shares[:2])
            weights.append([float(w.sum())] * 2)
        repeats = self.by_fold["repeat"].to_numpy()
        means, _ = fold_fits.means_and_errors(
            np.array(shares), np.array(weights), repeats
        )
        return PairCounts(*means.tolist())

    @suggest_arguments
    def plot(
        self, *, ax: "Axes | Sequence[Axes] | None" = None
    ) -> "NDArray[np.object_]":
        """Draw one panel per metric: values of the folds, mean and standard error.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            One panel per metric, by default in a new figure.

        Returns
        -------
        array of Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_folds

        return draw_folds(self.by_fold, self.tidy(), ax)

    @suggest_arguments
    def plot_roc(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the ROC curves of the folds and their mean.

        The mean curve averages true positive rates at each false positive rate. Folds
        without rows of both classes have no curve, and the legend counts them.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the mean curve, such as ``color`` or ``label``.

        Raises
        ------
        DataError
            If no fold has rows of both classes.
        DependencyError
            If matplotlib is not installed.
        """
        return self._draw_roc(self.model.coding.levels, ax=ax, line=line)

    def _draw_roc(
        self,
        levels: Sequence[object],
        is_first: bool = False,
        *,
        ax: "Axes | None" = None,
        line: Mapping[str, object] | None = None,
    ) -> "Axes":
        """Draw the curves of the second class or, if `is_first`, of the first."""
        from pegasos_stats.output.plotting.curves import draw_fold_rocs

        codes = (self.model._sample.y > 0.0).astype(np.intp)
        scores = self.scores_by_repeat.to_numpy(dtype=np.float64)
        if is_first:
            codes, scores, levels = 1 - codes, -scores, levels[::-1]
        parts = [
            (codes[split.test], scores[split.test, split.repeat - 1])
            for split in self.folds.splits
        ]
        return draw_fold_rocs(parts, self.pairs().area, levels, ax, line or {})

    def summary(self) -> Summary:
        """Return header, metrics and notes: text in ``print()``, HTML in a notebook."""
        estimates = self.tidy().set_index("term")
        folds = self.by_fold[list(estimates.index)]
        columns = {
            "mean": estimates["estimate"],
            "std err": estimates["std_error"],
            "lowest fold": folds.min(),
            "highest fold": folds.max(),
        }
        left = dict(fold_fits.model_fields(self.model))
        notes = [
            "Means over the folds, weighted by their held-out rows. Standard errors "
            "refer to one repeat and are approximate, because folds share training "
            "rows."
        ]
        if self.choosing is not None:
            ends = self.by_fold["lam"].agg(["min", "max"]).unique()
            left["lambda:"] = " to ".join(map(significant, ends))
        notes += self._notes_on_lambda
        gap = float(self.by_fold["relative_gap"].max())
        right = fold_fits.run_fields(self.solver, self.folds, self.seed, gap)
        table = pd.DataFrame(columns).map(significant)
        return Summary(["Cross-validation"], table, notes, [*left.items()], right)


@dataclass(frozen=True, eq=False)
class Choosing:
    """Options of the choice of lambda within a fold.

    Attributes
    ----------
    lambdas : float64 array, shape (m,)
        Largest first.
    folds, repeats : int
        Number of inner folds, and of their repeats.
    metric : Metric
        Metric that chooses lambda.
    rule : "1se" or "min"
    """

    lambdas: Vector
    folds: int
    repeats: int
    metric: fold_fits.Metric
    rule: Rule


def checked_choosing(lambda_path: object, rule: Rule, model: Model) -> Choosing | None:
    """Validate the options of a nested choice of lambda; None for the model's lambda.

    Parameters
    ----------
    lambda_path : None, False, True, LambdaPath or sequence of float
    rule : "1se" or "min"
    model : Model

    Raises
    ------
    OptionError
        If lambdas or rule are not allowed.
    """
    checks.check_choice("rule", rule, RULES)
    if lambda_path is None or lambda_path is False:
        return None
    if isinstance(lambda_path, LambdaPath):
        folds, lambdas = lambda_path.folds, lambda_path.lambdas
        metric = next(m for m in lambda_path.metrics if m.name == lambda_path.metric)
        size = (NESTED_FOLDS, 1) if folds is None else (folds.k, folds.repeats)
        return Choosing(lambdas, *size, metric, rule)
    loss = model.problem.loss
    (metric,) = fold_fits.checked_metrics(LOSSES[loss].decides, loss)
    grid = None if lambda_path is True else lambda_path
    return Choosing(checked_lambdas(grid, model), NESTED_FOLDS, 1, metric, rule)


def nested_fits(
    fitter: FoldFitter, folds: Folds, choosing: Choosing
) -> tuple[list[list[FoldFit]], list[float]]:
    """Fit each fold at the lambda that its inner cross-validation chooses.

    Returns
    -------
    fits : list of lists of one FoldFit
        One list per fold.
    lambdas : list of float
        The chosen values.
    """
    metric, lambdas = choosing.metric, choosing.lambdas
    outer, inner = fitter.nested(folds, choosing.folds, choosing.repeats, lambdas)
    fits, chosen = [], []
    for whole, (part, own) in zip(outer, inner, strict=True):
        lines = fitter.lines(part, own, [metric])
        mean, error = fold_fits.curve(lines, metric.name, len(lambdas))
        loss = -mean if metric.larger_is_better else mean
        at = place(loss, error, choosing.rule)
        fits.append([whole[at]])
        chosen.append(float(lambdas[at]))
    return fits, chosen


@suggest_arguments
def tune_kernel(
    model: KernelSVM,
    gammas: object = None,
    lambdas: object = None,
    solver: AnySolver | None = None,
    *,
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    metrics: object = None,
    metric: str | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> "KernelTuning":
    """Cross-validate a Gaussian kernel over gamma and lambda on the same folds.

    Each gamma has a `lambda_path`. Along the path, `Optimum` starts at the previous
    solution and reuses computed rows of the Gram matrix.

    Parameters
    ----------
    model : KernelSVM
        Model with a Gaussian kernel; the function ignores its lambda.
    gammas : sequence of float, optional
        By default 1/16, 1/4, 1, 4 and 16 times the gamma of the model.
    lambdas : sequence of float, optional
        Values for all gammas, by default from `lambda_grid` for each gamma.
    solver, folds, repeats, groups, seed, metrics, metric, workers, progress
        As for `lambda_path`; all gammas share the folds.

    Returns
    -------
    KernelTuning

    Raises
    ------
    OptionError
        If the model has no Gaussian kernel, or an option is not allowed.

    Warns
    -----
    ConvergenceWarning
        Once for each gamma with a fit that does not reach the tolerance.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.kernel_svm("digit ~ .", train, lam=1.0)
    >>> tuning = ps.tune_kernel(model, [0.001, 0.1], [1e-2, 1e-4], folds=3, seed=443)
    >>> tuning.table[["gamma", "lam"]].to_numpy().tolist()
    [[0.001, 0.01], [0.001, 0.0001], [0.1, 0.01], [0.1, 0.0001]]
    >>> tuning.gamma
    0.001
    """
    fold_fits.checked_model(model)
    kernel = getattr(model.problem, "kernel", None)
    if kernel is None or kernel.gamma is None:
        raise OptionError("The model has no gamma; use one with a Gaussian kernel.")
    grid = [times * kernel.gamma for times in GAMMA_MULTIPLES]
    if gammas is not None:
        grid = distinct_positive("gammas", gammas)
    if folds is None:
        raise OptionError("is not allowed; pass a number of folds.", "folds", None)
    paths: list[LambdaPath] = []
    for gamma in grid:
        changed = copy(model)  # shares the data
        of_gamma = replace(kernel, gamma=gamma)
        changed.problem = replace(model.problem, kernel=of_gamma)
        path = lambda_path(
            changed,
            lambdas,
            solver,
            folds=folds,
            repeats=repeats,
            groups=groups,
            seed=seed,
            metrics=metrics,
            metric=metric,
            workers=workers,
            progress=progress,
        )
        folds, repeats, groups, seed = path.folds, 1, None, path.seed
        paths.append(path)
    return KernelTuning(tuple(grid), tuple(paths))


@suggest_names("tuning")
@dataclass(frozen=True, repr=False, eq=False)
class KernelTuning:
    """Paths of lambda for several values of gamma; returned by `tune_kernel`.

    Attributes
    ----------
    gammas : tuple of float
        In increasing order.
    paths : tuple of LambdaPath
        One path per gamma, on the same folds.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.kernel_svm("digit ~ .", train, lam=1.0)
    >>> tuning = ps.tune_kernel(model, [0.001, 0.1], [1e-2, 1e-4], folds=3, seed=443)
    >>> tuning.refit().confusion(test).error_rate < 0.05
    True
    """

    gammas: tuple[float, ...]
    paths: tuple[LambdaPath, ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """``gamma`` and the columns of ``LambdaPath.table``, one row per pair."""
        paths = zip(self.gammas, self.paths, strict=True)
        parts = [path.table.assign(gamma=gamma) for gamma, path in paths]
        columns = ["gamma", *self.paths[0].table]
        return pd.concat(parts, ignore_index=True)[columns]

    @property
    def best(self) -> LambdaPath:
        """The path with the best mean metric; for ties the smallest gamma.

        Raises
        ------
        OptionError
            If the metric is undefined for all pairs.
        """
        losses = np.array([path._losses()[0] for path in self.paths])
        check_defined(losses, self.metric)
        at: int = int(np.nanargmin(losses)) // losses.shape[1]
        return self.paths[at]

    @property
    def metric(self) -> str:
        """Name of the metric that chooses gamma and lambda."""
        return self.paths[0].metric

    @property
    def gamma(self) -> float:
        """The chosen gamma."""
        return self.gammas[self.paths.index(self.best)]

    @property
    def lam(self) -> float:
        """The chosen lambda: ``lambda_min`` of the path of the chosen gamma."""
        return self.best.lambda_min

    def refit(self) -> KernelResults:
        """Fit all rows at the chosen gamma and lambda.

        The cross-validated error at the chosen values is optimistic, because it is the
        best of many. Use new rows for a better estimate; a nested `cross_validate`
        ignores the choice of gamma.
        """
        result = self.best.refit("min")
        assert isinstance(result, KernelResults)
        return result

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the mean metric as a map of lambda and gamma, and mark the best pair.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.tiles import draw_map

        return draw_map(self.table, self.metric, (self.lam, self.gamma), ax)

    def __repr__(self) -> str:
        pairs = counted(len(self.table), "pair")
        return (
            f"<KernelTuning: {pairs} of gamma and lambda, best {self.metric} at gamma "
            f"{self.gamma:g}, lam {self.lam:g}>"
        )
