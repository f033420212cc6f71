"""Fits of all tasks: side by side where their rows are shared, else one by one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pegasos_stats.arrays import Rows
from pegasos_stats.checks import check_flag
from pegasos_stats.data.columns import Mask
from pegasos_stats.parallel import map_in_order, n_workers
from pegasos_stats.solvers.dense.blocks import blocks
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.options import values_of
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies.selection.fold_fits import (
    Coefficients,
    Fitted,
    Task,
    fitted,
    learns,
)
from pegasos_stats.studies.selection.shared_path import SharedFits, shared_fits, suits

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
        scaled = getattr(model, "scaling", None), model._sample.raw_weights
        given = problem, splits, first.lambdas, solver.tol
        for at, fits in zip(places, shared_fits(*given, *scaled), strict=True):
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


def _in_turn(found: tuple[Any, ...], other: tuple[Any, ...], done: Mask) -> Any:
    rest = iter(other)
    pairs = zip(found, done.tolist(), strict=False)  # folds have no solutions
    return tuple(each if kept else next(rest) for each, kept in pairs)
