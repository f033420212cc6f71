"""Fits on parts of the rows: which solver, which seeds, and how they are run."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pegasos_stats.arrays import Mask, Predictors, Rows, Vector
from pegasos_stats.checks import LARGEST_INTEGER
from pegasos_stats.data.columns import selected
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.language.design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.data.scan.matrix_in_files import Elsewhere
from pegasos_stats.data.weights import mean_one, rows_of_weights
from pegasos_stats.errors import (
    ConvergenceWarning,
    DataError,
    FormulaError,
    OptionError,
    counted,
    warn_caller,
)
from pegasos_stats.models.base import Model, checked_solver
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.kernel_problem import KernelProblem, KernelSolution
from pegasos_stats.solvers.kernel_run import check_kernel_solver
from pegasos_stats.solvers.objective import Gap
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import check_solver
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import DEFAULT_TOL, SDCA
from pegasos_stats.solvers.solutions import AnySolution, certificate_of, scores_of
from pegasos_stats.solvers.solver_runs import kernel_path, run_linear
from pegasos_stats.studies.selection.folds import Folds, Split

ONE_AT_A_TIME = Lock()  # formulas are evaluated with the filters of warnings changed
FOLD_TOL = 1e-3  # relative gap by default: errors of held-out rows need no more

AnyModel = TypeVar("AnyModel", bound=Model)


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be fitted: the rows of a split, or all, once for each lambda.

    Attributes
    ----------
    model : Model
    split : Split or None
    solver : Pegasos or SDCA
        With the seed of these fits.
    lambdas : float64 array, shape (m,)
        Largest first: each fit of SDCA begins with the dual weights of the last one.
    """

    model: Model
    split: Split | None
    solver: Pegasos | SDCA
    lambdas: Vector


class Coefficients(NamedTuple):
    """Coefficients, shape (p,), and intercept of a linear fit."""

    beta: Vector
    alpha: float


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the fits of a `Task` gave.

    Attributes
    ----------
    certificates : tuple of Gap, one for each lambda
        Certificates of fits on all rows.
    steps : tuple of int
    seed : int or None
    scores : float64 array, shape (m, n_test)
        Of the rows held out.
    solutions : tuple of Coefficients or KernelSolution
        Only of fits on all rows.
    """

    certificates: tuple[Gap, ...]
    steps: tuple[int, ...]
    seed: int | None
    scores: Vector
    solutions: tuple[Coefficients | KernelSolution, ...]

    def only(self, at: int) -> "Fitted":
        """The same of one lambda alone, by its position."""
        return replace(
            self,
            certificates=self.certificates[at : at + 1],
            steps=self.steps[at : at + 1],
            scores=self.scores[at : at + 1],
            solutions=self.solutions[at : at + 1],
        )


def checked_model(model: object) -> Model:
    """Return the model, or raise `OptionError` if it is not a model."""
    if not isinstance(model, Model):
        raise OptionError(
            f"model is of type {type(model).__name__}; give a model such as "
            "ps.svm(formula, data), not yet fitted."
        )
    if isinstance(X := model.problem.X, Elsewhere):
        raise DataError(
            f"Folds are of rows in memory, and those of the model are in {X.noun}; "
            "give a model of a sample that is read into memory."
        )
    return model


def checked_fold_solver(
    model: Model,
    solver: Pegasos | SDCA | None,
    default: SDCA,
    own_lambda: bool = True,
) -> Pegasos | SDCA:
    """Return the solver, checked: it suits the model and any part of its rows.

    Parameters
    ----------
    model : Model
    solver : Pegasos, SDCA or None
    default : SDCA
        Taken if `solver` is None.
    own_lambda : bool
        Whether the fits are at the lambda of the model.

    Raises
    ------
    OptionError
        If it does not suit the model, or lists the rows to visit.
    """
    problem = model.problem if own_lambda else replace(model.problem, lam_rule="given")
    chosen = default if solver is None else checked_solver(solver, SDCA)
    chosen = model.in_columns(chosen)
    if isinstance(chosen, Pegasos) and not isinstance(chosen.order, str):
        raise OptionError(
            "order names rows of the whole data, and each fold fits a part of them; "
            "give 'shuffle', 'sequential' or 'replace'."
        )
    if isinstance(problem, KernelProblem):
        check_kernel_solver(problem, chosen)
    elif isinstance(chosen, Pegasos):
        check_solver(problem, chosen)
    return chosen


def with_seed(solver: Pegasos | SDCA, seed: int | None) -> Pegasos | SDCA:
    """Give a solver this seed, unless it has one or draws nothing."""
    if solver.seed is not None or not solver.uses_random_numbers:
        return solver
    return solver.with_seed(seed)


def for_all_rows(solver: Pegasos | SDCA) -> Pegasos | SDCA:
    """Return the solver for the fit that is kept: SDCA to its default tolerance."""
    if isinstance(solver, SDCA) and solver.tol > DEFAULT_TOL:
        return replace(solver, tol=DEFAULT_TOL)
    return solver


def fold_tasks(
    model: Model, folds: Folds, solver: Pegasos | SDCA, lambdas: Vector, rng: RRandom
) -> list[Task]:
    """Return one task for each fold.

    Where the solver has no seed each fold gets one of its own, drawn as by R's
    ``sample.int(.Machine$integer.max, length(folds))``.
    """
    solvers = [solver] * len(folds)
    if solver.seed is None and solver.uses_random_numbers:
        seeds = rng.sample_int(LARGEST_INTEGER, len(folds))
        solvers = [solver.with_seed(int(seed)) for seed in seeds]
    pairs = zip(folds.splits, solvers, strict=True)
    return [Task(model, split, use, lambdas) for split, use in pairs]


def warn_of_gaps(solver: Pegasos | SDCA, certificates: Sequence[Gap]) -> None:
    """Warn, in one warning, of all fits that have not reached their tolerance.

    Nothing is said of Pegasos with `change_tol`, which the certificates do not tell.
    """
    if not solver.stops or solver.change_tol > 0.0:
        return
    late = [at.relative_gap for at in certificates if not solver.reached(at)]
    if late:
        warn_caller(
            f"{solver.name} has not reached its tolerance in {len(late)} of "
            f"{counted(len(certificates), 'fit')}; their largest relative gap is "
            f"{max(late):.2g}. Give more epochs or a larger tolerance.",
            ConvergenceWarning,
        )


def fitted(task: Task) -> Fitted:
    """Fit on the rows of a task, and score the rows held out; warns of nothing."""
    problem, held_out, n_test = task.model.problem, None, 0
    if task.split is not None:
        problem, held_out, scored = training(task.model, task.split)
        n_test = len(task.split.test)
    solutions = path_solutions(problem, task.solver, task.lambdas)
    problems = [replace(problem, lam=float(lam)) for lam in task.lambdas]
    pairs = list(zip(problems, solutions, strict=True))
    scores = np.full((len(pairs), n_test), np.nan)
    if task.split is not None:
        offset = task.model.problem.offset
        known = None if offset is None else offset[task.split.test][scored]
        for line, pair in zip(scores, pairs, strict=True):
            line[scored] = scores_of(*pair, held_out, known)
    return Fitted(
        tuple(certificate_of(*pair) for pair in pairs),
        tuple(int(found.n_iter) for found in solutions),
        solutions[0].seed,
        scores,
        () if held_out is not None else tuple(map(_kept, solutions)),
    )


def _kept(found: AnySolution) -> Coefficients | KernelSolution:
    """What is kept of a solution: of a linear one the coefficients."""
    if isinstance(found, Solution):
        return Coefficients(found.beta, found.alpha)
    return found


def path_solutions(
    problem: Problem, solver: Pegasos | SDCA, lambdas: Vector
) -> Sequence[AnySolution]:
    """Solve for each lambda, largest first; SDCA begins where it last ended.

    Dual weights are in [0, w_i] for every lambda, so those of one, also times a
    number up to 1, are a feasible start for the next.
    """
    problem = replace(problem, lam_rule="given")
    if isinstance(problem, KernelProblem):
        return kernel_path(problem, solver, lambdas)
    found: list[Solution] = []
    before = 0.0
    for lam in lambdas:
        at, dual = replace(problem, lam=float(lam)), None
        if found and solver.to_optimum:
            dual = next_dual(found[-1], before, at)
        found.append(run_linear(at, solver, dual=dual, warn=False))
        before = at.lam
    return found


def next_dual(last: Solution, lam: float, problem: Problem) -> Vector:
    """Return dual weights to begin with, from the solution for a larger lambda.

    For the hinge ``t a`` with the ``t`` up to 1 that makes the dual largest at the
    new lambda ``lam'``: ``D(t a) = t mean(a) - t^2 (lam ||beta||)^2 / (2 lam')``, with
    ``a (1 - y offset)`` for ``a`` in the mean where there is an offset.
    Where all rows are within the margins it is 1; where the levels are separated and
    no row is inside any more, ``lam' / lam``: then ``beta`` is the same, and both
    are the solution.
    """
    norm2 = float(last.beta @ last.beta)
    curvature = lam * lam * norm2
    if problem.loss == "log" or not curvature > 0.0:  # for tiny lambdas it underflows
        return last.dual
    known = 0.0 if problem.offset is None else problem.y * problem.offset
    best = problem.lam * float((last.dual * (1.0 - known)).mean()) / curvature
    return last.dual * min(1.0, max(0.0, best))


def at_lambda(model: AnyModel, lam: float) -> AnyModel:
    """Return the same model with another lambda; the data are shared."""
    other = copy(model)
    other.problem = replace(model.problem, lam=float(lam), lam_rule="given")
    return other


def training(model: Model, split: Split) -> tuple[Problem, Predictors, Mask]:
    """Return the problem of the rows to fit, and the predictors of those held out.

    What was estimated from all rows is estimated again from those to fit: what the
    transforms of a formula keep, such as the mean of ``scale()`` and the knots of
    ``bs()``; the scaling of ``standardize=True``; and the mean of the weights.

    Returns
    -------
    problem : Problem
    held_out : array, shape (m, p)
    scored : bool array, shape (n_test,)
        Which of the rows held out these are: a transform may have no value for a row,
        as ``cut(x, 3)`` beyond the range of the rows to fit.

    Raises
    ------
    DataError
        If a transform has no value for any row to fit, or cannot be computed of them.
    """
    whole, rows = model.problem, split.train
    scored = np.ones(len(split.test), dtype=bool)
    anew = _learnt_anew(model, split)
    if anew is None:
        X, held_out = _taken(whole, rows, rows), _taken(whole, split.test, rows)
    else:
        fitted, tested = anew
        X, rows = fitted.values, rows[fitted.kept]
        held_out, scored = tested.values, tested.kept
    weights = None if whole.weights is None else mean_one(whole.weights[rows])
    if getattr(model, "scaling", None) is not None:
        # Scaled columns scaled again are the columns scaled once.
        raw = model._sample.raw_weights
        count = None if raw is None else rows_of_weights(raw[rows])
        scaling = Scaling.of(X, whole.intercept, weights, count)
        X, held_out = scaling.apply(X), scaling.apply(held_out)
    offset = None if whole.offset is None else whole.offset[rows]
    given = {"X": X, "y": whole.y[rows], "weights": weights, "offset": offset}
    return replace(whole, **given, balanced=False), held_out, scored


def _learning(model: Model) -> FormulaDesign | None:
    """The formula of the model, if it has a transform that learns from the rows."""
    design = model.design
    if isinstance(design, ScaledDesign):
        design = design.design
    return design if isinstance(design, FormulaDesign) and design.learns else None


def learns(model: Model) -> bool:
    """Whether each fold has predictors of its own, beside their scaling."""
    return _learning(model) is not None


def _learnt_anew(model: Model, split: Split) -> tuple[ModelMatrix, ModelMatrix] | None:
    """Rows to fit and rows held out, by what transforms find in the rows to fit.

    None where the formula has no such transform, or there is none.

    Raises
    ------
    DataError
        As for `training`.
    """
    design, lines = _learning(model), model._sample.lines
    if design is None:
        return None
    if lines is None:  # of a model from a file: taking its rows is refused
        return None
    assert lines.frame is not None  # formulas are of frames
    fitted, tested = (
        lines.frame.iloc[lines.positions[rows]] for rows in (split.train, split.test)
    )
    where = f"Fold {split.fold!r} of repeat {split.repeat} has "
    where += f"{counted(split.n_train, 'row')} to fit"
    with ONE_AT_A_TIME:
        try:
            learnt = design.learnt_on(fitted)
        except FormulaError as error:
            what = f"{where}, for which the formula {error.reason}"
            raise DataError(what) from None
        found = learnt.matrix(fitted)
        if not found.kept.any():
            raise DataError(
                f"{where}, and none has a value in all terms of the formula; give "
                "larger folds, or take out the transform."
            )
        return found, learnt.matrix(learnt.without_unseen(tested).data)


def _taken(problem: Problem, rows: Rows, columns: Rows) -> Any:
    """Take rows of the predictors, and these columns of a precomputed kernel."""
    if isinstance(problem, KernelProblem) and problem.kernel.name == "precomputed":
        return np.ascontiguousarray(problem.X[np.ix_(rows, columns)])
    if np.array_equal(rows, np.arange(problem.n)):
        return selected(problem.X, np.ones(problem.n, dtype=bool))
    taken = problem.X[rows]
    return np.ascontiguousarray(taken) if isinstance(taken, np.ndarray) else taken
