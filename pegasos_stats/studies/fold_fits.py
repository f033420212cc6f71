"""Fits on parts of the rows, and metrics of the held-out rows."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from pegasos_stats import errors
from pegasos_stats.arrays import Mask, Matrix, Predictors, Rows, Vector
from pegasos_stats.checks import LARGEST_R_INTEGER, check_choice, check_flag
from pegasos_stats.data.design import ModelMatrix, ScaledDesign, Scaling
from pegasos_stats.data.labels import Ties, signs_of
from pegasos_stats.data.language.formula_design import FormulaDesign, without_unseen
from pegasos_stats.data.sample import WeightsOf, mean_one, rows_of_weights
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.metrics.scores import areas_under_curves
from pegasos_stats.models.linear import Model, checked_solver
from pegasos_stats.parallel import map_in_order, n_workers, one_thread
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers import pegasos_run, solver_runs
from pegasos_stats.solvers.certificate import Certificate, Gap
from pegasos_stats.solvers.kernel_ascent import checked_kernel_solver
from pegasos_stats.solvers.kernel_problem import KernelProblem, KernelSolution
from pegasos_stats.solvers.losses import LOSSES, LossName
from pegasos_stats.solvers.maximum_likelihood import maximum_likelihood
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.options import DEFAULT_EPOCHS, DEFAULT_TOL
from pegasos_stats.solvers.path import FoldedRows, PathPoint, fold_path
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.studies import folds as fold_rows
from pegasos_stats.studies.folds import Folds, Split
from pegasos_stats.tables import Fields, significant

ONE_AT_A_TIME = Lock()  # threads share warning filters, which formulas change
FOLD_TOL = 1e-3  # default relative gap: held-out errors need no more digits

AnyModel = TypeVar("AnyModel", bound=Model)
MIN_BATCH_TOL = 1e-8  # below this tolerance rounding requires sums with more digits
PER_COLUMN = {"hinge": 20, "log": 3, "squared_hinge": 3}  # minimum rows for joint fits
MAX_BATCH_COLUMNS = 300
MOST_WRITTEN = 2**25  # entries of sparse rows that may become dense: 256 MB
LARGER_IS_BETTER = ("auc",)


class Coefficients(NamedTuple):
    """Coefficients, shape (p,), and intercept of a linear fit."""

    beta: Vector
    alpha: float


class Task(NamedTuple):
    """Rows to fit: the training rows of a split, or all rows without one."""

    split: Split | None
    solver: AnySolver


class FoldFit(NamedTuple):
    """Fit of a part of the rows for one lambda.

    Attributes
    ----------
    certificate : Gap
        Objective and duality gap; a `Certificate` for a fit on all rows.
    steps : int
    seed : int or None
    scores : float64 array, shape (n_test,)
        Scores of the held-out rows; NaN where a transform is undefined.
    solution : Coefficients, KernelSolution or None
        Stored only for a fit on all rows.
    lam : float
        Penalty of the fit; NaN stands for the requested lambda.
    """

    certificate: Gap
    steps: int
    seed: int | None
    scores: Vector
    solution: Coefficients | KernelSolution | None
    lam: float = float("nan")


def checked_model(
    model: object, study: str = "Cross-validation", in_memory: bool = True
) -> Model:
    """Return the model, or raise `OptionError` if it is not a model.

    Parameters
    ----------
    model : Model
    study : str
        What needs the rows in memory, for the message.
    in_memory : bool
    """
    if not isinstance(model, Model):
        kind = type(model).__name__
        raise OptionError(f"model is of type {kind}; pass a model, before fit().")
    source = model.problem.source
    if in_memory and source.is_streamed:
        raise errors.DataError(
            f"{study} needs rows in memory, not in {source.noun}; pass a data frame."
        )
    return model


def model_fields(model: Model) -> Fields:
    """Describe the model, for the header of a study."""
    problem = model.problem
    return [
        ("Outcome:", model.coding.name),
        ("Loss:", problem.loss),
        ("lambda:", problem.lambda_text),
        ("Intercept:", "free" if problem.intercept else "none"),
        ("No. Observations:", f"{problem.n:,}"),
    ]


def run_fields(
    solver: AnySolver, folds: Folds | None, seed: int | None, gap: float
) -> Fields:
    """Describe the solver of the folds, for the header of a study."""
    if not (isinstance(solver, Pegasos) and solver.uses_random_numbers):
        seed = None if folds is None else folds.seed
    return [
        ("Folds:", "none" if folds is None else folds.kind),
        *([("Seed:", str(seed))] if seed is not None else []),
        ("Solver:", solver.name),
        *([("Largest relative gap:", significant(gap, 3))] if gap < np.inf else []),
    ]


def with_seed(solver: AnySolver, seed: int | None) -> AnySolver:
    """Set the seed of a solver that draws random numbers and has no seed."""
    if solver.seed is not None or not solver.uses_random_numbers:
        return solver
    return solver.with_seed(seed)


def for_all_rows(solver: AnySolver) -> AnySolver:
    """Return the solver for all rows: Optimum uses at most its default tolerance."""
    if isinstance(solver, Optimum) and solver.tol > DEFAULT_TOL:
        return replace(solver, tol=DEFAULT_TOL)
    return solver


@dataclass(frozen=True)
class FoldFitter:
    """Fitter of folds: model, solver, and generator of folds and seeds.

    Attributes
    ----------
    model : Model
    solver : Optimum, Pegasos or SDCA
    rng : RRandom
    workers : int or None
    progress : bool
    """

    model: Model
    solver: AnySolver
    rng: RRandom
    workers: int | None
    progress: bool

    @classmethod
    def of(
        cls,
        model: Model,
        solver: AnySolver | None,
        default: Optimum,
        seed: int | None,
        workers: int | None,
        progress: bool,
    ) -> "FoldFitter":
        """Return the fitter, after checking that the solver suits the model and folds.

        Parameters
        ----------
        default : Optimum
            Solver if `solver` is None.

        Raises
        ------
        OptionError
            If the solver cannot fit the model, or lists the rows to visit.
        """
        problem = model.problem
        chosen = default if solver is None else checked_solver(solver, Optimum)
        chosen = model.with_start_in_column_order(chosen)
        if isinstance(chosen, Pegasos) and not isinstance(chosen.order, str):
            raise OptionError(
                "order= lists rows of all data, but a fold fits only a part; omit it."
            )
        if isinstance(problem, KernelProblem):
            checked_kernel_solver(problem, chosen)
        elif isinstance(chosen, Pegasos):
            pegasos_run.check_solver(problem, chosen)
        check_flag("progress", progress)
        rng = RRandom(seed, sample_kind=chosen.sample_kind)
        return cls(model, chosen, rng, workers, progress)

    def folds(self, folds: object, repeats: object, groups: object) -> Folds:
        """Draw folds of the rows, or validate the user's folds."""
        sample = self.model._sample
        return fold_rows.checked_folds(folds, repeats, sample, self.rng, groups)

    def tasks(self, splits: Sequence[Split]) -> list[Task]:
        """Return one task for each split.

        If the solver has no seed, each split gets its own seed, as drawn by R's
        ``sample.int(.Machine$integer.max, length(splits))``.
        """
        solver = self.solver
        if solver.seed is not None or not solver.uses_random_numbers:
            return [Task(split, solver) for split in splits]
        seeds = self.rng.sample_int(LARGEST_R_INTEGER, len(splits)).tolist()
        pairs = zip(splits, seeds, strict=True)
        return [Task(split, solver.with_seed(seed)) for split, seed in pairs]

    def fits(self, tasks: Sequence[Task], lambdas: Vector) -> list[list[FoldFit]]:
        """Fit the rows of each task for each lambda, and score its held-out rows.

        Tasks are fitted together where possible. The others, and those that miss the
        tolerance, are fitted separately, in parallel. Results do not depend on the
        workers.

        Parameters
        ----------
        tasks : sequence of Task
            Their solvers differ only in the seed.
        lambdas : float64 array, shape (m,)
            Largest first: all solvers except Pegasos start with the previous dual
            variables.

        Returns
        -------
        list of lists of FoldFit
            For each task, one for each lambda.
        """
        count, shared = n_workers(self.workers), shared_fits(self.model, tasks, lambdas)
        rest = [
            (task, lambdas[missing])
            for task, fits in zip(tasks, shared, strict=True)
            if (missing := [fit is None for fit in fits]).count(True)
        ]
        single: Iterable[list[FoldFit]] = map_in_order(
            lambda item: fit_task(self.model, *item), rest, count
        )
        if self.progress:
            single = pegasos_run.with_progress(single, len(rest), "fold")
        others = (fit for fits in single for fit in fits)
        return [[fit or next(others) for fit in fits] for fits in shared]

    def nested(
        self,
        folds: Folds,
        k: int,
        repeats: int,
        lambdas: Vector,
        outer: Sequence[Task] | None = None,
    ) -> tuple[list[list[FoldFit]], list[tuple[Folds, list[list[FoldFit]]]]]:
        """Fit each fold and its inner folds at each lambda.

        Parameters
        ----------
        k, repeats : int
            Number of inner folds, and of their repeats.
        outer : sequence of Task, optional
            Tasks of the outer folds; by default one per fold, whose seeds are drawn
            together with the seeds of the inner folds.

        Returns
        -------
        outer : list of lists of FoldFit
        inner : list of (Folds, list of lists of FoldFit), for each fold
        """
        rng = self.rng
        inner = [
            inner_folds(self.model, folds, s, k, repeats, rng) for s in folds.splits
        ]
        every = [split for part in inner for split in part.splits]
        if outer is None:
            tasks = self.tasks([*folds.splits, *every])
        else:
            tasks = [*outer, *self.tasks(every)]
        fits = iter(self.fits(tasks, lambdas))
        own = [next(fits) for _ in range(len(tasks) - len(every))]
        return own, [(part, [next(fits) for _ in part.splits]) for part in inner]

    def warn_of_gaps(self, fits: Iterable[Sequence[FoldFit]]) -> None:
        """Warn once of all fits that have not reached their tolerance.

        Pegasos with `change_tol` is exempt: its stopping rule ignores the gap.
        """
        solver, ends = self.solver, [fit.certificate for part in fits for fit in part]
        late = [at.relative_gap for at in ends if not solver.reached(at)]
        late = [] if self.model.problem.has_firth else late
        if late and solver.stops and not solver.change_tol > 0.0:
            errors.warn_caller(
                f"{solver.name} has not reached its tolerance in {len(late)} of "
                f"{counted(len(ends), 'fit')} (largest relative gap {max(late):.2g}). "
                "Use more epochs, or standardize=True if predictors differ in scale.",
                errors.ConvergenceWarning,
            )

    def lines(
        self,
        folds: Folds,
        fits: Sequence[Sequence[FoldFit]],
        metrics: "Sequence[Metric]",
    ) -> pd.DataFrame:
        """Return one row per fold and lambda, with all metrics.

        Metrics exclude rows without a score, where a transform is undefined.
        """
        problem, ties = self.model.problem, self.solver.ties
        columns: dict[str, list[Any]] = defaultdict(list)
        for split, own in zip(folds.splits, fits, strict=True):
            y, weights = problem.y[split.test], problem.row_weights[split.test]
            scores = np.array([fit.scores for fit in own])
            finite = ~np.isnan(scores).any(axis=0)
            of_split = {
                "repeat": split.repeat,
                "fold": split.fold,
                "n_train": split.n_train,
                "n_test": len(split.test),
                "weight": float(weights.sum()),
            }
            for name, value in of_split.items():
                columns[name] += [value] * len(own)
            columns["decided"] += list(~np.isnan(signs_of(scores, ties)) @ weights)
            columns["seed"] += [fit.seed for fit in own]
            columns["steps"] += [fit.steps for fit in own]
            columns["objective"] += [fit.certificate.objective for fit in own]
            columns["relative_gap"] += [fit.certificate.relative_gap for fit in own]
            if not finite.all():
                y, scores, weights = y[finite], scores[:, finite], weights[finite]
            for metric in metrics:
                columns[metric.name] += list(metric.measure(y, scores, weights, ties))
        return pd.DataFrame(columns | {"seed": pd.array(columns["seed"], "Int64")})


def inner_folds(
    model: Model, folds: Folds, split: Split, k: int, repeats: int, rng: RRandom
) -> Folds:
    """Draw inner folds of the training rows of a split, numbered as rows of the data.

    They preserve groups if `folds` do. Their number is at most the number of rows or
    groups.
    """
    rows, y, groups = split.train, model.problem.y, None
    most = len(rows)
    if folds.groups is not None:
        groups, levels = pd.factorize(folds.groups[rows])
        most = len(levels)
    codes = (y[rows] > 0).astype(np.intp)
    relative = fold_rows.draw_folds(codes, min(k, most), repeats, rng, groups)
    splits = tuple(
        Split(part.repeat, part.fold, rows[part.test], split.n, rows[part.train])
        for part in relative.splits
    )
    inner = Folds(splits, split.n)
    fold_rows.check_classes(inner, y * (model.problem.row_weights > 0.0), model.coding)
    return inner


def fit_task(model: Model, task: Task, lambdas: Vector) -> list[FoldFit]:
    """Fit the rows of a task and score its held-out rows, without warnings."""
    problem, split, fits = model.problem, task.split, []
    held_out, offset, scored = None, None, np.zeros(0, dtype=bool)
    if split is not None:
        problem, held_out, scored = training(model, split)
        if model.problem.offset is not None:
            offset = model.problem.offset[split.test][scored]
    for at, one in path_solutions(problem, task.solver, lambdas):
        scores = np.full(len(scored), np.nan)
        solution: Coefficients | KernelSolution | None = None
        if held_out is not None:
            scores[scored] = solver_runs.scores_of(at, one, held_out, offset)
        elif isinstance(one, Solution):
            solution = Coefficients(one.beta, one.alpha)
        else:
            solution = one
        gap = solver_runs.certificate_of(at, one)
        fits.append(FoldFit(gap, int(one.n_iter), one.seed, scores, solution, at.lam))
    return fits


def path_solutions(
    problem: Problem, solver: AnySolver, lambdas: Vector
) -> Iterator[tuple[Problem, solver_runs.AnySolution]]:
    """Solve for each lambda, largest first; only Pegasos ignores the previous solution.

    The bounds of the dual variables do not depend on lambda, so the solution for one
    lambda, scaled by a factor up to 1, is a feasible start for the next. If the maximum
    likelihood estimate does not exist, lambda = 0 becomes 1/n.
    """
    problem = replace(problem, lam_rule="given")
    if isinstance(problem, KernelProblem):
        of_kernel = checked_kernel_solver(problem, solver)
        fits = solver_runs.kernel_path(problem, of_kernel, lambdas)
        for lam, fit in zip(lambdas, fits, strict=True):
            yield replace(problem, lam=float(lam)), fit
        return
    last: Solution | None = None
    before = 0.0
    for lam in lambdas:
        at, dual = replace(problem, lam=float(lam)), None
        if not lam and not at.has_firth:
            pegasos_run.check_solver(at, solver)
            estimate = maximum_likelihood(at)
            if estimate.solution is not None:
                yield at, estimate.solution
                continue
            at = at.without_ml(estimate.reason)
        elif last is not None and solver.to_optimum:
            dual = next_dual(last, before, at)
        last, before = solver_runs.run_linear(at, solver, dual=dual, warn=False), at.lam
        yield at, last


def next_dual(last: Solution, lam: float, problem: Problem) -> Vector:
    """Return starting dual variables from the solution for a larger lambda.

    For the hinge they are ``t a``, where ``t`` up to 1 maximises the dual at the new
    lambda ``lam'``: ``D(t a) = t mean(a) - t^2 (lam ||beta||)^2 / (2 lam')``. With an
    offset the mean is of ``a (1 - y offset)``. If all rows are within the margins at
    both lambdas, ``t`` is 1. If the classes are separated and no row is within
    the margins, ``t`` is ``lam' / lam``, and ``beta`` solves both problems.
    """
    norm2 = float(last.beta @ last.beta)
    curvature = lam * lam * norm2
    if problem.loss != "hinge" or not curvature > 0.0:  # underflows for tiny lambdas
        return last.dual
    offset = 0.0 if problem.offset is None else problem.y * problem.offset
    best = problem.lam * float((last.dual * (1.0 - offset)).mean()) / curvature
    return last.dual * min(1.0, max(0.0, best))


def at_lambda(model: AnyModel, lam: float) -> AnyModel:
    """Return the same model with another lambda; the data are shared."""
    if model.problem.has_firth:
        raise OptionError("penalty='firth' has no lambda to choose; omit penalty=.")
    changed = copy(model)
    changed.problem = replace(model.problem, lam=float(lam), lam_rule="given")
    return changed


def training(model: Model, split: Split) -> tuple[Problem, Predictors, Mask]:
    """Return the problem of the training rows, and the held-out predictors.

    Estimates from all rows are replaced by estimates from the training rows: transforms
    of a formula, such as the mean of ``scale()`` and the knots of ``bs()``; the scaling
    of ``standardize=True``; and the mean of the weights.

    Returns
    -------
    problem : Problem
    held_out : array, shape (m, p)
    scored : bool array, shape (n_test,)
        Mask of the held-out rows with a value of every transform. For example,
        ``cut(x, 3)`` has no value outside the range of the training rows.

    Raises
    ------
    DataError
        If a transform fails for the training rows, or has no value in any of them.
    """
    whole, rows = model.problem, split.train
    scored = np.ones(len(split.test), dtype=bool)
    anew = _learnt_anew(model, split)
    if anew is None:
        X, held_out = _submatrix(whole, rows, rows), _submatrix(whole, split.test, rows)
    else:
        fitted, tested = anew
        X, rows = fitted.values, rows[fitted.complete]
        held_out, scored = tested.values, tested.complete
    weights = None if whole.weights is None else mean_one(whole.weights[rows])
    if getattr(model, "scaling", None) is not None:
        # Scaling scaled columns equals scaling the original columns.
        scaling = _scaling(model, X, rows, weights)
        X, held_out = scaling.apply(X), scaling.apply(held_out)
    offset = None if whole.offset is None else whole.offset[rows]
    data = {"X": X, "y": whole.y[rows], "weights": weights, "offset": offset}
    of: WeightsOf = "rows" if whole.weights_of == "rows" else "levels"
    return replace(whole, **data, weights_of=of), held_out, scored


def learning_design(model: Model) -> FormulaDesign | None:
    """Return the design of a formula whose transforms depend on the rows, or None."""
    design = model.design
    if isinstance(design, ScaledDesign):
        design = design.design
    return design if isinstance(design, FormulaDesign) and design.state else None


def _learnt_anew(model: Model, split: Split) -> tuple[ModelMatrix, ModelMatrix] | None:
    """Return training and held-out rows, with transforms from the training rows.

    None if no formula has such a transform.

    Raises
    ------
    DataError
        As for `training`.
    """
    design, lines = learning_design(model), model._sample.lines
    if design is None or lines is None or lines.frame is None:
        return None
    fitted, tested = (
        lines.frame.iloc[lines.positions[rows]] for rows in (split.train, split.test)
    )
    where = f"{split} has {counted(split.n_train, 'training row')}"
    with ONE_AT_A_TIME:
        try:
            learnt = design.learnt_on(fitted)
        except errors.FormulaError as error:
            why = f"{where}, for which the formula {error.reason}"
            raise errors.DataError(why) from None
        matrix = learnt.matrix(fitted)
        if not matrix.complete.any():
            raise errors.DataError(
                f"{where}, and none has a value in all terms; use fewer folds."
            )
        return matrix, learnt.matrix(without_unseen(learnt, tested, warn=False))


def _submatrix(problem: Problem, rows: Rows, columns: Rows) -> Any:
    """Take rows of the predictors, and these columns of a precomputed kernel."""
    if isinstance(problem, KernelProblem) and problem.kernel.name == "precomputed":
        return np.ascontiguousarray(problem.X[np.ix_(rows, columns)])
    part = problem.X[rows]
    return np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part


def suits(problem: Problem, solver: object) -> bool:
    """Return whether folds of these rows can be fitted together by this solver.

    This requires Optimum with a relative gap and few columns. Sparse rows become dense.
    """
    is_dense = isinstance(problem.X, np.ndarray)
    return (
        type(problem) is Problem
        and problem.has_rows
        and (is_dense or problem.n * problem.p <= MOST_WRITTEN)
        and 0 < problem.p <= MAX_BATCH_COLUMNS
        and isinstance(solver, Optimum)
        and solver.epochs >= DEFAULT_EPOCHS
        and solver.tol >= MIN_BATCH_TOL
        and not solver.gap_tol
    )


def shared_fits(
    model: Model, tasks: Sequence[Task], lambdas: Vector
) -> list[list[FoldFit | None]]:
    """Fit splits of the same rows together.

    If transforms depend on the rows, each fold has its own predictors, and there are no
    joint fits.

    Returns
    -------
    list of lists of FoldFit or None
        As `FoldFitter.fits`. None if a fit is not certified, if splits share too few
        rows, or if there are fewer rows per column than `PER_COLUMN`. Fits on all rows
        are included if there are splits of all rows.
    """
    problem, solver = model.problem, tasks[0].solver
    fits: list[list[FoldFit | None]] = [[None] * len(lambdas) for _ in tasks]
    if not lambdas.all() or len(tasks) < 2 or learning_design(model):
        return fits
    if not suits(problem, solver):
        return fits
    if not isinstance(problem.X, np.ndarray):
        problem = replace(problem, X=problem.X.toarray())
    wholes = [at for at, task in enumerate(tasks) if task.split is None]
    for rows, held_out in _sets(problem, tasks):
        fold, parts = np.empty(problem.n, dtype=np.int64), range(len(held_out))
        for j, split in enumerate(held_out.values()):
            fold[split.test] = j
        scales = None
        if getattr(model, "scaling", None) is not None:
            w, train = problem.row_weights, [rows[fold[rows] != j] for j in parts]
            scalings = [_scaling(model, problem.X[at], at, w[at]) for at in train]
            scales = np.array([scaling.scale for scaling in scalings])
        of_all = len(rows) == problem.n
        of_rows = problem if of_all else problem.of_rows(rows)
        folded = FoldedRows(of_rows, fold[rows], len(held_out), scales)
        with one_thread():
            path = fold_path(folded, lambdas, solver.tol)
        for j, at in enumerate([*held_out, *(wholes if of_all else ())]):
            last = min(j, folded.k)  # the fit of all rows
            fits[at] = list(_fits_of(problem, tasks[at], folded, path, last))
    return fits


def _sets(
    problem: Problem, tasks: Sequence[Task]
) -> Iterator[tuple[Rows, dict[int, Split]]]:
    """Yield rows, and groups of tasks whose test sets partition these rows.

    A group lists the positions of two or more splits with enough training rows.
    """
    least = PER_COLUMN[problem.loss] * (problem.p + 1)
    together: dict[object, dict[int, Split]] = defaultdict(dict)
    for at, (split, _) in enumerate(tasks):
        if split is not None and split.n_train >= least:
            every = None if split.given is None else split.rows.tobytes()
            together[split.repeat, every][at] = split
    for held_out in together.values():
        rows = next(iter(held_out.values())).rows
        tested = np.concatenate([split.test for split in held_out.values()])
        once = np.unique(tested).size == tested.size == rows.size
        if len(held_out) > 1 and once:
            yield rows, held_out


def _fits_of(
    problem: Problem, task: Task, rows: FoldedRows, path: Sequence[PathPoint], j: int
) -> Iterator[FoldFit | None]:
    """Return the joint fits of split `j`; None if one is not certified."""
    split, y, n = task.split, problem.y, problem.n
    X, offset = problem.X, problem.row_offsets
    if split is not None:
        n, X, offset = split.n_train, X[split.test], offset[split.test]
    thetas = np.array([point.theta[j] for point in path])
    betas, alphas = thetas[:, : rows.p], np.zeros(len(path))
    if rows.intercept:
        alphas = thetas[:, -1] - betas @ rows.centre
    every = (X @ betas.T + alphas).T + offset
    for point, beta, alpha, scores in zip(path, betas, alphas, every, strict=True):
        if not point.certified(task.solver.tol)[j]:
            yield None
            continue
        gap = Gap(float(point.objective[j]), max(0.0, float(point.dual[j])))
        model = None
        if split is None:
            wrong = int((scores * y < 0.0).sum())
            low, high = (int((y[scores == 0.0] == level).sum()) for level in (-1, 1))
            gap = Certificate(gap.objective, gap.dual_objective, wrong, (low, high))
            model, scores = Coefficients(beta.copy(), float(alpha)), np.empty(0)
        yield FoldFit(gap, int(point.n_passes[j]) * n, None, scores, model)


def _scaling(
    model: Model, X: Predictors, rows: Rows, weights: Vector | None
) -> Scaling:
    """Compute the scaling of ``standardize=True`` from some rows."""
    raw = model._sample.raw_weights
    count = rows_of_weights(None if raw is None else raw[rows])
    return Scaling.of(X, model.problem.intercept, weights, count)


Measure = Callable[[Vector, Matrix, Vector, Ties], Vector]


@dataclass(frozen=True)
class Metric:
    """Metric computed from labels and scores.

    Attributes
    ----------
    name : str
    function : callable
        Maps labels -1 and +1, shape (n,), scores, shape (m, n), weights and ties to m
        numbers. A function of the user has two arguments: labels, and scores of shape
        (n,).
    larger_is_better : bool
    own : bool
        Whether the user supplied the function.
    """

    name: str
    function: Callable[..., Any]
    larger_is_better: bool = False
    own: bool = False

    def measure(self, y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
        """Evaluate the metric for each row of the matrix `scores`.

        Raises
        ------
        OptionError
            If a function of the user fails, or does not return a number.
        """
        if not self.own:
            return np.asarray(self.function(y, scores, weights, ties))
        try:
            return np.array([float(self.function(y, line)) for line in scores])
        except Exception as error:
            why = f"{type(error).__name__}: {errors.shown(str(error))}"
            raise OptionError(
                f"The metric {self.name} raised {why}; it must return a number for "
                "labels -1, +1 and scores."
            ) from error


def error_rate(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Share of misclassified rows among the rows with a predicted class.

    Examples
    --------
    >>> y, scores = np.array([1.0, -1, 1]), np.array([[2.0, 1, 0]])
    >>> error_rate(y, scores, np.ones(3), "na")
    array([0.5])
    """
    signs = signs_of(scores, ties)
    decided = ~np.isnan(signs)
    return _shares((decided & (signs != y)) @ weights, decided @ weights)


def mean_loss(
    loss: LossName, y: Vector, scores: Matrix, weights: Vector, ties: Ties
) -> Vector:
    """Mean of the loss at ``y score``; the log loss requires logistic scores."""
    values = LOSSES[loss].values
    return _means(np.array([values(y * line) for line in scores]), weights)


def brier_score(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Mean of ``(p - [y = 1])^2`` of logistic ``p = 1 / (1 + exp(-score))``."""
    from scipy.special import expit

    return _means(np.square(expit(-y * scores)), weights)


def auc(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Area under the ROC curve; NaN if a class has no row."""
    return areas_under_curves((y > 0).astype(np.intp), scores, weights)


def _means(values: Matrix, weights: Vector) -> Vector:
    """Weighted mean of each row of a matrix; NaN if all weights are 0."""
    return _shares(values @ weights, np.full(len(values), weights.sum()))


def _shares(parts: Vector, totals: Vector) -> Vector:
    means = np.full(len(parts), np.nan)
    return np.asarray(np.divide(parts, totals, out=means, where=totals > 0.0))


MEASURES: dict[str, Measure] = {
    "error_rate": error_rate,
    **{f"{name}_loss": partial(mean_loss, name) for name in LOSSES},
    "brier_score": brier_score,
    "auc": auc,
}
FOLD_COLUMNS = (  # columns of the table of folds, in addition to the metrics
    *("repeat", "fold", "lam", "n_train", "n_test", "weight", "decided", "seed"),
    *("steps", "objective", "relative_gap"),
)


def checked_metrics(metrics: Any, loss: LossName) -> tuple[Metric, ...]:
    """Validate names of metrics, or functions of labels -1, +1 and scores.

    Parameters
    ----------
    metrics : None, str, callable, or sequence of them
        By default all metrics of the loss.
    loss : "hinge", "squared_hinge" or "log"

    Raises
    ------
    OptionError
        If a metric does not exist, does not apply to the loss, or repeats a name.
    """
    allowed = LOSSES[loss].metrics
    if metrics is None:
        metrics = allowed
    named = errors.listing(allowed)
    why = f"is not allowed; pass each of {named} at most once, or named functions."
    refused = OptionError(why, "metrics", metrics)
    items = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
    if not isinstance(items, list | tuple):
        raise refused
    chosen = []
    for item in items:
        if callable(item):
            chosen.append(Metric(getattr(item, "__name__", ""), item, own=True))
        else:
            check_choice("metric", item, allowed)
            chosen.append(Metric(item, MEASURES[item], item in LARGER_IS_BETTER))
    names = {metric.name for metric in chosen if metric.name.isidentifier()}
    if not chosen or len(names) < len(chosen) or names.intersection(FOLD_COLUMNS):
        raise refused
    return tuple(chosen)


def means_and_errors(
    values: Matrix, weights: Matrix, repeats: Rows
) -> tuple[Vector, Vector]:
    """Mean over the folds of each column, and its standard error.

    One repeat has k folds with values ``v_j`` and weights ``w_j``. Its mean is ``m =
    sum w_j v_j / sum w_j``, with the standard error ``sqrt(sum w_j (v_j - m)^2 / sum
    w_j / (k - 1))``. The means of repeats are averaged. The standard error is the root
    mean square over the repeats: it does not shrink with their number, because they use
    the same rows. Folds with the value NaN are excluded.

    Parameters
    ----------
    values, weights : float64 array, shape (folds, m)
        Weights are sums over the held-out rows.
    repeats : int64 array, shape (folds,)

    Returns
    -------
    pair of float64 array, shape (m,)
        NaN if no fold has a value; the standard error also with one fold.

    References
    ----------
    Hastie, Tibshirani & Friedman, *The Elements of Statistical Learning* (2009),
    section 7.10.1.

    Examples
    --------
    >>> values = np.array([[0.25], [0.75]])
    >>> means_and_errors(values, np.ones((2, 1)), np.ones(2, int))
    (array([0.5]), array([0.25]))
    """
    finite = ~np.isnan(values)
    v, w = np.where(finite, values, 0.0), np.where(finite, weights, 0.0)
    means, squares, used = [], [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for repeat in np.unique(repeats):
            part = repeats == repeat
            count, total = finite[part].sum(axis=0), w[part].sum(axis=0)
            mean = (w[part] * v[part]).sum(axis=0) / total
            variance = (w[part] * np.square(v[part] - mean)).sum(axis=0) / total
            variance = np.where(count > 1, variance / (count - 1.0), np.nan)
            used.append(count > 0)
            means.append(np.where(count > 0, mean, 0.0))
            squares.append(np.where(count > 0, variance, 0.0))
        number = np.sum(used, axis=0)
        return np.sum(means, axis=0) / number, np.sqrt(np.sum(squares, axis=0) / number)


def curve(lines: pd.DataFrame, name: str, count: int = 1) -> tuple[Vector, Vector]:
    """Estimate and standard error of a metric for each lambda, shape (count,).

    The weight of a fold is the total weight of its held-out rows. For the error rate,
    only rows with a predicted class count, so that its mean is the rate over all folds.

    Parameters
    ----------
    lines : DataFrame
        Rows of one fold after the other, `count` per fold: columns ``repeat``,
        ``weight``, ``decided`` and the metric.
    name : str
    count : int, default 1
        Number of lambdas.
    """
    by = "decided" if name == "error_rate" else "weight"
    values, weights = (
        lines[column].to_numpy(dtype=np.float64).reshape(-1, count)
        for column in (name, by)
    )
    return means_and_errors(values, weights, lines["repeat"].to_numpy()[::count])


def warn_undefined(by_fold: pd.DataFrame, metrics: Sequence[Metric]) -> None:
    """Warn of metrics that are NaN in some folds."""
    missing = by_fold[[metric.name for metric in metrics]].isna().sum()
    for name, count in missing[missing > 0].items():
        folds = counted(int(count), "fold")
        text = f"{name} is not defined in {folds}; its mean is over the other folds."
        errors.warn_caller(text, errors.UndefinedMetricWarning)


def correction_factor(by_fold: pd.DataFrame) -> float:
    """Correction factor of a standard error, because folds share training rows.

    ``sqrt(1 + k n_test / n_train)`` for ``k`` folds of a repeat. In simulations without
    signal, with 60 to 200 rows, the estimate plus 1.96 uncorrected standard errors was
    below the true value in 8% to 12% of the samples.

    Parameters
    ----------
    by_fold : DataFrame
        Columns ``repeat, n_train, n_test``.

    References
    ----------
    Nadeau & Bengio, *Inference for the generalization error*, Machine Learning 52
    (2003), 239-281, section 3.3.

    Examples
    --------
    >>> lines = {"repeat": [1] * 10, "n_train": [90] * 10, "n_test": [10] * 10}
    >>> round(correction_factor(pd.DataFrame(lines)), 3)
    1.453
    """
    k = len(by_fold) / by_fold["repeat"].nunique()
    share = float((by_fold["n_test"] / by_fold["n_train"]).mean())
    return float(np.sqrt(1.0 + k * share))
