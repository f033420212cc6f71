"""Fits on parts of the rows: side by side where they share them, else one by one."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pegasos_stats.arrays import Mask, Predictors, Rows, Values, Vector
from pegasos_stats.checks import LARGEST_INTEGER, check_flag
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
from pegasos_stats.parallel import map_in_order, n_workers
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.dense.sums import blocks
from pegasos_stats.solvers.dense.threads import one_thread
from pegasos_stats.solvers.kernel_problem import KernelProblem, KernelSolution
from pegasos_stats.solvers.kernel_run import check_kernel_solver
from pegasos_stats.solvers.objective import Certificate, Gap
from pegasos_stats.solvers.options import values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import check_solver, with_progress
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import DEFAULT_EPOCHS, DEFAULT_TOL, SDCA
from pegasos_stats.solvers.shared.folded_rows import FoldedRows
from pegasos_stats.solvers.shared.hinge_path import hinge_path
from pegasos_stats.solvers.shared.log_path import log_path
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


TIGHTEST = 1e-8  # tolerance: below it rounding asks for sums with more digits
PER_COLUMN = {"hinge": 20, "log": 3}  # rows of a fit, at least
COLUMNS = 300  # at most
PATHS = {"hinge": hinge_path, "log": log_path}
CONSTANT = 1e-6  # of a mean: a deviation that sums of squares do not tell from 0


class SharedFits(NamedTuple):
    """The fits of one task, a line for each lambda.

    Attributes
    ----------
    beta : float64 array, shape (m, p)
        Of the columns of the problem, as they are there.
    alpha : float64 array, shape (m,)
    gaps : tuple of Gap
    reads : int array, shape (m,)
    certified : bool array, shape (m,)
    """

    beta: Vector
    alpha: Vector
    gaps: tuple[Gap, ...]
    reads: Rows
    certified: Mask

    def scores(self, X: Vector, offset: Vector | None) -> Vector:
        """Scores of rows by all fits, shape (m, rows)."""
        found = self.beta @ X.T
        found += self.alpha[:, None]
        if offset is not None:
            found += offset
        return np.asarray(found)


class _Set(NamedTuple):
    """Splits that share their rows, each of which one of them holds out at most.

    Attributes
    ----------
    rows : int array
        All rows that they fit or hold out, sorted.
    places : list of int
        Places of the splits.
    fold : int array, shape (rows,)
        Which of the splits holds a row out.
    """

    rows: Rows
    places: list[int]
    fold: Rows


def suits(problem: Problem, solver: object) -> bool:
    """Whether fits of these rows by this solver may be found side by side.

    Those of SDCA by Newton steps, to a relative gap, on dense rows of few columns.
    """
    return (
        type(problem) is Problem
        and isinstance(problem.X, np.ndarray)
        and 0 < problem.p <= COLUMNS
        and isinstance(solver, SDCA)
        and (solver.algorithm, solver.start) == ("newton", "zero")
        and solver.epochs >= DEFAULT_EPOCHS
        and solver.tol >= TIGHTEST
        and not solver.gap_tol
        and problem.in_few_entries is problem
    )


def shared_fits(
    problem: Problem,
    splits: Sequence[Split | None],
    lambdas: Vector,
    tol: float,
    scaling: Scaling | None = None,
    raw_weights: Vector | None = None,
) -> list[SharedFits | None]:
    """Fit splits that hold out different rows of the same ones, side by side.

    Parameters
    ----------
    problem : Problem
        One that `suits`.
    splits : sequence of Split or None
        None for a fit on all rows, which is found if there are splits of all rows.
    lambdas : float64 array, shape (m,)
        Largest first.
    tol : float
    scaling : Scaling, optional
        That of the columns, of which each split then has one of its own.
    raw_weights : float64 array, shape (n,), optional
        Weights as they were given, for that.

    Returns
    -------
    list of SharedFits or None, one for each split
        None for a split that shares too little, or fits fewer rows to a column than
        `PER_COLUMN`.
    """
    found: list[SharedFits | None] = [None] * len(splits)
    wholes = [at for at, split in enumerate(splits) if split is None]
    for each in _sets(problem, splits):
        scales = None if scaling is None else _scales(problem, each, raw_weights)
        of_rows = problem if len(each.rows) == problem.n else problem.of_rows(each.rows)
        rows = FoldedRows(of_rows, each.fold, len(each.places), scales)
        with one_thread():
            path = PATHS[problem.loss](rows, lambdas, tol)
        theta = np.array([point.theta for point in path])
        objective = np.array([point.objective for point in path])
        dual = np.array([point.dual for point in path])
        reads = np.array([point.reads for point in path])
        certified = np.array([point.certified(tol) for point in path])
        places = [*enumerate(each.places)]
        if len(each.rows) == problem.n:
            places += [(rows.k, at) for at in wholes]
            wholes = []
        for j, at in places:
            beta, alpha = theta[:, j, : rows.p], np.zeros(len(path))
            if rows.intercept:
                alpha = theta[:, j, -1] - beta @ rows.centre
            pairs = zip(objective[:, j].tolist(), dual[:, j].tolist(), strict=True)
            gaps = tuple(Gap(P, max(0.0, D)) for P, D in pairs)
            found[at] = SharedFits(beta, alpha, gaps, reads[:, j], certified[:, j])
    return found


def _sets(problem: Problem, splits: Sequence[Split | None]) -> Iterator[_Set]:
    """Sets of two splits or more with enough rows to fit."""
    least = PER_COLUMN[problem.loss] * (problem.p + 1)
    together: dict[object, list[int]] = {}
    for at, split in enumerate(splits):
        if split is not None and split.n_train >= least:
            every = None if split.given is None else _rows_of(split).tobytes()
            together.setdefault((split.repeat, every), []).append(at)
    for places in together.values():
        given = [split for at in places if (split := splits[at]) is not None]
        rows = _rows_of(given[0])
        held_out = np.concatenate([split.test for split in given])
        if len(given) < 2 or np.unique(held_out).size < held_out.size:
            continue
        if held_out.size < rows.size:  # rows that no split holds out
            continue
        fold = np.empty(problem.n, dtype=np.int64)
        for j, split in enumerate(given):
            fold[split.test] = j
        yield _Set(rows, places, fold[rows])


def _rows_of(split: Split) -> Rows:
    """Rows that a split fits or holds out."""
    if split.given is None:
        return np.arange(split.n)
    return np.sort(np.concatenate([split.given, split.test]))


def _scales(problem: Problem, of: _Set, raw_weights: Vector | None) -> Vector:
    """What columns are divided by in each split, shape (splits, p): `Scaling.scale`.

    From the sums of each fold; where these leave it open whether a column is constant,
    from its rows.
    """
    X, w, k = problem.X[of.rows], problem.row_weights[of.rows], len(of.places)
    raw = w if raw_weights is None else raw_weights[of.rows]
    n, sums, squares = (
        np.zeros((k, 1)),
        np.zeros((k, problem.p)),
        np.zeros((k, problem.p)),
    )
    for j in range(k):
        inside = of.fold == j
        n[j], sums[j] = w[inside].sum(), w[inside] @ X[inside]
        squares[j] = w[inside] @ np.square(X[inside])
    left = n.sum() - n
    means = (sums.sum(axis=0) - sums) / left
    total = np.maximum(squares.sum(axis=0) - squares - left * means * means, 0.0)
    sizes = np.sqrt(squares.sum(axis=0) / n.sum())
    found = np.ones((k, problem.p))
    for j in range(k):
        others = of.fold != j
        count = rows_of_weights(raw[others])
        found[j] = np.sqrt(total[j] / (left[j] - left[j] / count))
        if (found[j] <= CONSTANT * sizes).any():
            scaling = Scaling.of(X[others], problem.intercept, w[others], count)
            found[j] = scaling.scale
    return found


Found = tuple[Fitted | None, Mask]


def run_tasks(
    tasks: Sequence[Task], workers: int | None, progress: bool
) -> list[Fitted]:
    """Run all fits; numbers do not depend on the workers.

    Fits that are not found side by side, or not to the tolerance, are made one by one,
    several at the same time.
    """
    check_flag("progress", progress)
    count, known = n_workers(workers), _side_by_side(tasks)
    rest = [
        replace(task, lambdas=task.lambdas[~done])
        for task, (_, done) in zip(tasks, known, strict=True)
        if not done.all()
    ]
    alone: Iterable[Fitted] = map_in_order(fitted, rest, count)
    if progress:
        alone = with_progress(alone, len(rest), "fold")
    each = iter(alone)
    return [
        part if part is not None and done.all() else _merged(part, next(each), done)
        for part, done in known
    ]


def _side_by_side(tasks: Sequence[Task]) -> list[Found]:
    """What is found by passes over the rows that the fits share, for each task.

    Where the formula has transforms that learn from the rows, every fold has rows of
    its own, and nothing is.

    Returns
    -------
    list of pairs, one for each task
        What was found, if anything, and for which lambdas it is certified.
    """
    found: list[Found] = [(None, np.zeros(len(t.lambdas), dtype=bool)) for t in tasks]
    groups: dict[object, list[int]] = {}
    for at, task in enumerate(tasks):
        options = repr(values_of(task.solver) | {"seed": None})
        key = id(task.model), task.lambdas.tobytes(), options
        groups.setdefault(key, []).append(at)
    for places in groups.values():
        first = tasks[places[0]]
        model, problem, solver = first.model, first.model.problem, first.solver
        if len(places) < 2 or learns(model) or not suits(problem, solver):
            continue
        splits = [tasks[at].split for at in places]
        for at, fits in zip(
            places,
            shared_fits(
                problem,
                splits,
                first.lambdas,
                solver.tol,
                getattr(model, "scaling", None),
                model._sample.raw_weights,
            ),
            strict=True,
        ):
            if fits is not None:
                found[at] = _as_alone(tasks[at], fits), fits.certified
    return found


def _as_alone(task: Task, fits: SharedFits) -> Fitted:
    """What was found side by side, as if it had been found alone."""
    problem, split = task.model.problem, task.split
    if split is None:
        certificates = tuple(
            Certificate(gap.objective, gap.dual_objective, errors, (minus, plus))
            for gap, (errors, minus, plus) in zip(
                fits.gaps, _counts(problem, fits).tolist(), strict=True
            )
        )
        solutions = tuple(map(Coefficients, fits.beta, fits.alpha.tolist()))
        steps = tuple((fits.reads * problem.n).tolist())
        nothing = np.empty((len(task.lambdas), 0))
        return Fitted(certificates, steps, task.solver.seed, nothing, solutions)
    offset = None if problem.offset is None else problem.offset[split.test]
    scores = fits.scores(problem.X[split.test], offset)
    steps = tuple((fits.reads * split.n_train).tolist())
    return Fitted(fits.gaps, steps, task.solver.seed, scores, ())


def _counts(problem: Problem, fits: SharedFits) -> Rows:
    """Rows on the wrong side, and those of -1 and of +1 with a score of 0, by fit."""
    found = np.zeros((len(fits.alpha), 3), dtype=np.int64)
    for rows in blocks(problem.n, problem.p + len(fits.alpha)):
        y = problem.y[rows]
        offset = None if problem.offset is None else problem.offset[rows]
        scores = fits.scores(problem.X[rows], offset)
        found[:, 0] += (scores * y < 0.0).sum(axis=1)
        for at, level in (1, -1.0), (2, 1.0):
            found[:, at] += (scores[:, y == level] == 0.0).sum(axis=1)
    return found


def _merged(found: Fitted | None, other: Fitted, done: Mask) -> Fitted:
    """One of both at each lambda: `other` has those that are not done."""
    if found is None:
        return other
    scores = found.scores.copy()
    scores[~done] = other.scores
    return Fitted(
        _in_turn(found.certificates, other.certificates, done),
        _in_turn(found.steps, other.steps, done),
        other.seed,
        scores,
        _in_turn(found.solutions, other.solutions, done),
    )


def _in_turn(
    found: tuple[Values, ...], other: tuple[Values, ...], done: Mask
) -> tuple[Values, ...]:
    rest = iter(other)
    pairs = zip(found, done.tolist(), strict=False)  # folds have no solutions
    return tuple(each if kept else next(rest) for each, kept in pairs)
