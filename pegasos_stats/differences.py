"""Where two runs of Pegasos part, and why."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.linear_results import LinearResults
from pegasos_stats.orders import Rows
from pegasos_stats.problem import Problem
from pegasos_stats.running import Visitor
from pegasos_stats.solvers import Pegasos

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Difference:
    """The first step at which two runs differ.

    Attributes
    ----------
    step : int
        Number of the step, counted from 1; one more than the number of steps where
        only what is made of them differs.
    reason : str
        Why they part, in one sentence.
    rows_a, rows_b : int64 array or None
        Rows of the step in both runs, counted from zero; None after the last.
    change : float
        ``max |params_a - params_b|`` after the step; NaN if one run has ended.

    Examples
    --------
    >>> print(Difference(3, "the arithmetic rounds differently.", None, None, 1e-17))
    Step 3: the arithmetic rounds differently.
    """

    step: int
    reason: str
    rows_a: Rows | None
    rows_b: Rows | None
    change: float

    def __str__(self) -> str:
        return f"Step {self.step:,}: {self.reason}"


def first_difference(run_a: LinearResults, run_b: LinearResults) -> Difference | None:
    """Repeat two fits side by side and find the first step at which they differ.

    Rows are compared first, then the bits of coefficients and intercept after the
    step, and last, if all steps are the same, the iterates that are returned.

    Parameters
    ----------
    run_a, run_b : LinearResults
        Fits by `Pegasos` on the same rows and columns.

    Returns
    -------
    Difference or None
        None if the two runs are the same in every bit.

    Raises
    ------
    DataError
        If the two fits do not have the same numbers of rows and columns.
    OptionError
        If a fit is not a linear one.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, intercept=False)
    >>> script = model.fit(ps.Pegasos.r_script(epochs=5, seed=443))
    >>> first_difference(script, model.fit(ps.Pegasos.homework(epochs=5))).step
    1
    """
    _check(run_a, run_b)
    a, b = Replay(run_a), Replay(run_b)
    while True:
        epoch_a, epoch_b = a.next_epoch(), b.next_epoch()
        if epoch_a is None and epoch_b is None:
            return _in_what_is_returned(run_a, run_b)
        found = _in_epoch(a, b, epoch_a, epoch_b)
        if found is not None:
            return found


class Replay:
    """A run that can be repeated an epoch or a step at a time."""

    def __init__(self, run: LinearResults) -> None:
        self.problem: Problem = run.problem
        self.solver: Pegasos = replace(run.solver, seed=run.seed)
        self.visitor = Visitor(self.problem, self.solver)
        self._epochs = self._all_epochs()

    def _all_epochs(self) -> Iterator[Rows]:
        yield from self.solver.epochs_of_rows(self.problem.n, self.solver.generator())

    def next_epoch(self) -> Rows | None:
        """Rows of the next epoch, None after the last."""
        return next(self._epochs, None)

    def batches(self, rows: Rows) -> list[Rows]:
        """Rows of each step."""
        k = self.solver.batch_size
        return [rows[first : first + k] for first in range(0, len(rows), k)]

    def iterate(self) -> Vector:
        """Intercept and coefficients after the last step taken."""
        beta, alpha = self.visitor.last()
        return np.concatenate([[alpha], beta])


def _in_epoch(
    a: Replay, b: Replay, rows_a: Rows | None, rows_b: Rows | None
) -> Difference | None:
    """Take an epoch in one go where it is the same; otherwise step by step."""
    start_a, start_b = a.visitor.copy(), b.visitor.copy()
    alike = a.solver.batch_size == b.solver.batch_size
    if rows_a is None or rows_b is None:
        return _step_by_step(a, b, rows_a, rows_b)
    if alike and np.array_equal(rows_a, rows_b):
        a.visitor.visit(rows_a)
        b.visitor.visit(rows_a)
        if _same(a.iterate(), b.iterate()):
            return None
    a.visitor, b.visitor = start_a, start_b
    return _step_by_step(a, b, rows_a, rows_b)


def _step_by_step(
    a: Replay, b: Replay, rows_a: Rows | None, rows_b: Rows | None
) -> Difference | None:
    batches_a = [] if rows_a is None else a.batches(rows_a)
    batches_b = [] if rows_b is None else b.batches(rows_b)
    for batch_a, batch_b in zip(batches_a, batches_b, strict=False):
        step = a.visitor.steps + 1
        a.visitor.visit(batch_a)
        b.visitor.visit(batch_b)
        left, right = a.iterate(), b.iterate()
        if not np.array_equal(batch_a, batch_b):
            reason = _about_rows(a.solver, b.solver, batch_a, batch_b)
        elif not _same(left, right):
            reason = _about_update(a, b, left, right)
        else:
            continue
        return Difference(step, reason, batch_a, batch_b, _largest(left, right))
    return _ended(a, b, batches_a, batches_b)


def _ended(
    a: Replay, b: Replay, batches_a: list[Rows], batches_b: list[Rows]
) -> Difference | None:
    """One run has no more steps in this epoch, the other has."""
    if len(batches_a) == len(batches_b):
        return None
    steps = min(a.visitor.steps, b.visitor.steps)
    which = "first" if len(batches_a) < len(batches_b) else "second"
    here = min(len(batches_a), len(batches_b))
    return Difference(
        steps + 1,
        f"the {which} run ends after {counted(steps, 'step')}, the other goes on.",
        batches_a[here] if here < len(batches_a) else None,
        batches_b[here] if here < len(batches_b) else None,
        float("nan"),
    )


def _about_rows(a: Pegasos, b: Pegasos, rows_a: Rows, rows_b: Rows) -> str:
    if a.batch_size != b.batch_size:
        return (
            f"the steps have {counted(len(rows_a), 'row')} and "
            f"{counted(len(rows_b), 'row')} (batch_size {a.batch_size} and "
            f"{b.batch_size})."
        )
    at = int(np.flatnonzero(rows_a != rows_b)[0]) if len(rows_a) == len(rows_b) else 0
    return (
        f"the rows differ, {rows_a[at]} and {rows_b[at]} (orders {_order(a)} and "
        f"{_order(b)})."
    )


def _order(solver: Pegasos) -> str:
    """Name of an order, with the seed where it is drawn."""
    if not solver.uses_random_numbers:
        return "'sequential'" if isinstance(solver.order, str) else "given"
    return f"{solver.order!r} with seed {solver.seed}"


def _about_update(a: Replay, b: Replay, left: Vector, right: Vector) -> str:
    """Why the same rows gave different coefficients: the first option that differs."""
    differing = [
        ("the losses differ", a.problem.loss, b.problem.loss),
        ("lambda differs", a.problem.lam, b.problem.lam),
        ("the intercept is free in one run only", *_free(a, b)),
        ("the projection shortened beta in one run only", *_projected(a, b)),
        ("the arithmetic rounds differently", *_arithmetic(a, b)),
    ]
    for words, one, other in differing:
        if one != other:
            return f"{words} ({one} and {other})."
    if not np.array_equal(a.problem.y, b.problem.y):
        return "the labels are coded differently."
    return "the predictors differ."


def _free(a: Replay, b: Replay) -> tuple[str, str]:
    words = {True: "free", False: "none"}
    return words[a.problem.intercept], words[b.problem.intercept]


def _projected(a: Replay, b: Replay) -> tuple[str, str]:
    return f"project={a.solver.project}", f"project={b.solver.project}"


def _arithmetic(a: Replay, b: Replay) -> tuple[str, str]:
    return a.solver.arithmetic, b.solver.arithmetic


def _in_what_is_returned(run_a: Any, run_b: Any) -> Difference | None:
    """All steps are the same; the iterates returned may not be."""
    left, right = (
        np.concatenate([[run.intercept], run.solution.beta]) for run in (run_a, run_b)
    )
    if _same(left, right):
        return None
    kinds = [
        f"average={run.solver.average!r}, refit_intercept={run.solver.refit_intercept}"
        for run in (run_a, run_b)
    ]
    reason = (
        f"all steps are the same, what is returned differs ({' and '.join(kinds)})."
    )
    return Difference(run_a.n_iter + 1, reason, None, None, _largest(left, right))


def _same(left: Vector, right: Vector) -> bool:
    return left.tobytes() == right.tobytes()


def _largest(left: Vector, right: Vector) -> float:
    return float(np.max(np.abs(left - right)))


def _check(run_a: Any, run_b: Any) -> None:
    for run in (run_a, run_b):
        if not isinstance(run, LinearResults):
            raise OptionError(
                f"A run is of type {type(run).__name__}; give the results of two "
                "linear fits."
            )
    shapes = [(run.problem.n, run.problem.p) for run in (run_a, run_b)]
    if shapes[0] != shapes[1]:
        raise DataError(
            f"The runs have {shapes[0]} and {shapes[1]} rows and columns; give two "
            "fits on the same data."
        )
