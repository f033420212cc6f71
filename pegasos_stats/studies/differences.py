"""The first step at which two runs of Pegasos differ, and why."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np

from pegasos_stats.arrays import Matrix, Rows, Vector
from pegasos_stats.errors import DataError, OptionError, counted, shown
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Visitor
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sizes import sizes_of_steps


@dataclass(frozen=True, eq=False)
class Difference:
    """The first step at which two runs differ.

    Attributes
    ----------
    step : int
        Number of the step, counted from 1; one more than the number of steps if only
        the result computed from them differs.
    reason : str
        Why they differ, in one sentence.
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


@suggest_arguments
def first_difference(run_a: LinearResults, run_b: LinearResults) -> Difference | None:
    """Repeat two fits step by step and find the first step at which they differ.

    Rows are compared first, then the bits of coefficients and intercept after the
    step, and last, if all steps are the same, the iterates that are returned.

    Parameters
    ----------
    run_a, run_b : LinearResults
        Fits by `Pegasos` on the same rows and columns.

    Returns
    -------
    Difference or None
        None if the two runs agree in every bit.

    Raises
    ------
    DataError
        If the two fits differ in the number of rows or columns.
    OptionError
        If a fit is not a linear one.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, intercept=False, lam=1.0)
    >>> script = model.fit(ps.Pegasos.r_script(epochs=5, seed=443))
    >>> other = model.fit(ps.Pegasos.r_script(epochs=5, seed=1))
    >>> first_difference(script, other).step
    1
    """
    _check(run_a, run_b)
    a, b = Replay(run_a), Replay(run_b)
    while a.fetch() and b.fetch():
        found = _in_epoch(a, b)
        if found is not None:
            return found
    if a.fetch() or b.fetch():
        which, longer = ("second", a) if a.pending else ("first", b)
        steps = longer.visitor.steps
        return Difference(
            steps + 1,
            f"the {which} run ends after {counted(steps, 'step')}, the other goes on.",
            a.pending[0] if a.pending else None,
            b.pending[0] if b.pending else None,
            float("nan"),
        )
    left, right = (
        np.concatenate([[run.intercept], run.solution.beta]) for run in (run_a, run_b)
    )
    if _same(left, right):
        return None
    kinds = " and ".join(_returned(run) for run in (run_a, run_b))
    reason = f"all steps are the same, what is returned differs ({kinds})."
    step = min(run_a.n_iter, run_b.n_iter) + 1
    return Difference(step, reason, None, None, _largest(left, right))


class Replay:
    """A repeated run: the rows still to visit, and the state so far."""

    def __init__(self, run: LinearResults) -> None:
        self.problem: Problem = run.problem
        self.solver = cast(Pegasos, run.solver.with_seed(run.seed))
        rng = self.solver.generator()
        self.visitor = Visitor(self.problem, self.solver, rng)
        self.pending: list[Rows] = []
        epochs = self.solver.passes.rows(self.problem.n, rng)
        self._epochs = islice(epochs, run.n_epochs)

    def fetch(self) -> bool:
        """Fetch the next epoch if no step is left; return whether there is one now."""
        if not self.pending:
            rows = next(self._epochs, np.empty(0, dtype=np.int64))
            k = self.visitor.batch_size
            self.pending = [rows[i : i + k] for i in range(0, len(rows), k)]
        return bool(self.pending)

    def take(self, count: int) -> None:
        """Take the first `count` of the pending steps."""
        steps = self.pending[:count]
        if steps and all(len(s) == self.visitor.batch_size for s in steps[:-1]):
            steps = [np.concatenate(steps)]  # fewer calls; a short step ends a call
        for step in steps:
            self.visitor.visit(step)
        del self.pending[:count]

    def iterate(self) -> Vector:
        """Intercept and coefficients after the last step taken."""
        beta, alpha = self.visitor.last()
        return np.concatenate([[alpha], beta])


def _in_epoch(a: Replay, b: Replay) -> Difference | None:
    """Take the steps that are pending in both runs, and compare.

    Where their rows are the same they are taken in one go, and again one by one if
    the results differ.
    """
    count = min(len(a.pending), len(b.pending))
    pairs = zip(a.pending[:count], b.pending[:count], strict=True)
    if all(np.array_equal(rows_a, rows_b) for rows_a, rows_b in pairs):
        start_a, start_b = a.visitor.copy(), b.visitor.copy()
        steps_a, steps_b = list(a.pending), list(b.pending)
        a.take(count)
        b.take(count)
        if _same(a.iterate(), b.iterate()):
            return None
        a.visitor, b.visitor, a.pending, b.pending = start_a, start_b, steps_a, steps_b
    for _ in range(count):
        found = _in_step(a, b)
        if found is not None:
            return found
    return None


def _in_step(a: Replay, b: Replay) -> Difference | None:
    """Take one step in both runs and compare."""
    rows_a, rows_b, step = a.pending[0], b.pending[0], a.visitor.steps + 1
    a.take(1)
    b.take(1)
    left, right = a.iterate(), b.iterate()
    if not np.array_equal(rows_a, rows_b):
        reason = _about_rows(a.solver, b.solver, rows_a, rows_b)
    elif not _same(left, right):
        reason = _about_update(a, b, rows_a)
    else:
        return None
    return Difference(step, reason, rows_a, rows_b, _largest(left, right))


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
    """Write the order of a solver, with the seed if it is drawn."""
    if not solver.uses_random_numbers:
        return "'sequential'" if isinstance(solver.order, str) else "given"
    kind = "" if solver.sample_kind == "rejection" else " by rounding"
    return f"{solver.order!r} with seed {solver.seed}{kind}"


def _about_update(a: Replay, b: Replay, rows: Rows) -> str:
    """Why a step at the same rows gave different coefficients.

    The rows come first, then what is minimised, then how.
    """
    if not np.array_equal(a.problem.y[rows], b.problem.y[rows]):
        return "the labels are coded differently."
    if not np.array_equal(_dense(a.problem, rows), _dense(b.problem, rows)):
        return "the predictors differ."
    if not np.array_equal(a.problem.row_weights[rows], b.problem.row_weights[rows]):
        return "the weights of the rows differ."
    if not np.array_equal(a.problem.row_offsets[rows], b.problem.row_offsets[rows]):
        return "the offsets of the rows differ."
    facts: dict[str, Callable[[Replay], object]] = {
        "the losses differ": lambda run: run.problem.loss,
        "lambda differs": lambda run: run.problem.lam,
        "the runs begin with other coefficients": lambda run: shown(
            np.array([run.visitor.begun_with[1], *run.visitor.begun_with[0]])
        ),
        "the steps have other sizes": _last_size,
        "the intercept is free in one run only": lambda run: (
            "free" if run.problem.intercept else "none"
        ),
        "the projection shortened beta in one run only": _projected,
        "the arithmetic rounds differently": _arithmetic,
    }
    for words, fact in facts.items():
        one, other = fact(a), fact(b)
        if one != other:
            return f"{words} ({one} and {other})."
    return "the arithmetic rounds differently."


def _dense(problem: Problem, rows: Rows) -> Matrix:
    """Rows of the predictors as an array of doubles."""
    part = problem.X[rows]
    dense = part if isinstance(part, np.ndarray) else part.toarray()
    return np.asarray(dense, dtype=np.float64)


def _last_size(run: Replay) -> str:
    """Size of the last step taken."""
    given, taken = run.solver, run.visitor.steps - 1
    found = sizes_of_steps(
        given.step, run.problem.lam, run.problem.n, given.first_step, taken, 1
    )
    eta = 1.0 / (run.problem.lam * (given.first_step + taken))
    return f"{eta if found is None else found[0]:g}"


def _projected(run: Replay) -> str:
    """Say whether the projection has put beta on its ball, up to rounding."""
    norm = float(np.linalg.norm(run.iterate()[1:]))
    reached = norm * np.sqrt(run.problem.lam) >= 1.0 - 1e-9
    return "projected" if run.solver.project and reached else "not projected"


def _arithmetic(run: Replay) -> str:
    kind = "dense" if isinstance(run.problem.X, np.ndarray) else "sparse"
    return f"{run.solver.arithmetic}, {kind} {run.problem.X.dtype}"


def _returned(run: LinearResults) -> str:
    """Options that say what is made of the iterates of a run."""
    solver, then = cast(Pegasos, run.solver), run.refinement
    refined = "" if then is None else f", refine={then.tol:g}"
    return (
        f"average={solver.average!r}, refit_intercept={solver.refit_intercept}{refined}"
    )


def _same(left: Vector, right: Vector) -> bool:
    return left.tobytes() == right.tobytes()


def _largest(left: Vector, right: Vector) -> float:
    return float(np.max(np.abs(left - right)))


def _check(*runs: object) -> None:
    """Raise an error unless the runs are linear fits by Pegasos on the same data."""
    shapes = []
    for run in runs:
        if not isinstance(run, LinearResults) or not isinstance(run.solver, Pegasos):
            raise OptionError(
                f"A run is of type {type(run).__name__}; give the results of two "
                "linear fits by Pegasos."
            )
        shapes.append((run.problem.n, run.problem.p))
    if shapes[0] != shapes[1]:
        raise DataError(
            f"The runs have {shapes[0]} and {shapes[1]} rows and columns; give two "
            "fits on the same data."
        )
