"""Fits of all tasks: side by side where their rows are shared, else one by one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Mask, Rows, Values, Vector
from pegasos_stats.checks import check_flag
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.weights import rows_of_weights
from pegasos_stats.parallel import map_in_order, n_workers
from pegasos_stats.solvers.dense.sums import blocks
from pegasos_stats.solvers.dense.threads import one_thread
from pegasos_stats.solvers.objective import Certificate, Gap
from pegasos_stats.solvers.options import values_of
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import DEFAULT_EPOCHS, SDCA
from pegasos_stats.solvers.shared.folded_rows import FoldedRows
from pegasos_stats.solvers.shared.hinge_path import hinge_path
from pegasos_stats.solvers.shared.log_path import log_path
from pegasos_stats.studies.selection.fold_fits import (
    Coefficients,
    Fitted,
    Task,
    fitted,
    learns,
)
from pegasos_stats.studies.selection.folds import Split

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
