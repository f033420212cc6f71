"""The first step at which R and Python differ, found by repeating fewer steps."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.compiled.arithmetic.risk import scores
from pegasos_stats.compiled.pegasos.pegasos_state import dual_weights
from pegasos_stats.solvers.kernel_run import KernelVisitor
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Visitor
from pegasos_stats.solvers.problem import kernel_rows
from pegasos_stats.solvers.sdca_coordinates import Plain
from pegasos_stats.studies.parity.session import R
from pegasos_stats.studies.parity.setup import Setup
from pegasos_stats.studies.parity.sides import Run, difference, epochs_of

Epochs = list[Rows]


@dataclass(frozen=True, eq=False)
class Parting:
    """Where two runs part.

    Attributes
    ----------
    words : str
    step : int or None
        Counted from 1; None where it is before the first step or after the last.
    here, there : float64 array
        Margins of the rows of this step before it, in Python and in R.
    """

    words: str
    step: int | None = None
    here: Vector | None = None
    there: Vector | None = None

    def __str__(self) -> str:
        return self.words


def first_parting(r: R, setup: Setup, ours: Run, theirs: Run) -> Parting:
    """Epoch, step, rows, margins and coefficients where the two runs part.

    Parameters
    ----------
    r : R
    setup : Setup
    ours, theirs : dict
        What `sides.in_python` and `sides.in_r` gave.
    """
    for name in ("levels", "y", "weights"):
        if not difference(setup, name, ours, theirs).equal:
            return Parting("The runs differ before their first step.")
    size = batch_size(setup)
    count = min(len(ours["rows"]), len(theirs["rows"]))
    apart = np.flatnonzero(ours["rows"][:count] != theirs["rows"][:count])
    if apart.size:
        at = int(apart[0])
        row, other = int(ours["rows"][at]), int(theirs["rows"][at])
        step = at // size + 1
        return Parting(
            f"Step {step:,} visits row {row:,} here and {other:,} in R.", step
        )
    plain = setup
    if isinstance(setup.solver, Pegasos):
        plain = replace(setup, solver=replace(setup.solver, refit_intercept=False))
    sides = Sides(r, plain, theirs)
    if sides.differ_after(sides.steps) is None:
        return Parting(
            f"All {sides.steps:,} steps are the same; what is made of them differs."
        )
    same, apart_at = 0, sides.steps
    while apart_at - same > 1:
        middle = (same + apart_at) // 2
        if sides.differ_after(middle) is None:
            same = middle
        else:
            apart_at = middle
    return sides.described(apart_at)


def batch_size(setup: Setup) -> int:
    """Rows in a step."""
    return int(getattr(setup.solver, "batch_size", 1))


def first_steps(epochs: Epochs, size: int, count: int) -> Epochs:
    """Rows of the first `count` steps, by epochs; the last one may be cut."""
    found: Epochs = []
    for rows in epochs:
        if count <= 0:
            break
        found.append(rows[: count * size])
        count -= -(-len(rows) // size)
    return found


class Sides:
    """Both runs, repeated from the start up to any step."""

    def __init__(self, r: R, setup: Setup, theirs: Run) -> None:
        self._r, self._setup, self._weights = r, setup, theirs
        ran = int(theirs["n_epochs"][0]) if "n_epochs" in theirs else None
        self.epochs, self.size = epochs_of(setup)[:ran], batch_size(setup)
        self.steps = sum(-(-len(rows) // self.size) for rows in self.epochs)
        r.set("given", setup.in_r())
        r.set("n_epochs", len(self.epochs))
        r.eval("given$n_epochs <- n_epochs")

    def differ_after(self, step: int) -> str | None:
        """Quantities that differ after a number of steps."""
        cut = first_steps(self.epochs, self.size, step)
        ours = python_state(self._setup, cut)
        theirs = {**self._weights, **self._r_state("state_after(given, cut)", cut)}
        for name in [*self._setup.state, "alpha"]:
            found = difference(self._setup, name, ours, theirs)
            if not found.equal:
                return f"{name}: {found.words}"
        return None

    def described(self, step: int) -> Parting:
        """What is known of a step: where, at which rows, with which margins."""
        before = first_steps(self.epochs, self.size, step - 1)
        cut = first_steps(self.epochs, self.size, step)
        rows = cut[-1][len(before[-1]) if len(before) == len(cut) else 0 :]
        here = python_margins(self._setup, before, rows)
        self._r.set("rows", rows + 1)
        there = self._r_state("margins_after(given, cut, rows)", before)
        words = (
            f"First at step {step:,}, in epoch {len(cut):,}: row "
            f"{', '.join(str(row + 1) for row in rows)}; margin {_digits(here)} here, "
            f"{_digits(there)} in R; then {self.differ_after(step)}."
        )
        return Parting(words, step, here, np.asarray(there, dtype=np.float64))

    def _r_state(self, code: str, epochs: Epochs) -> Any:
        cut = {f"epoch{k}": rows + 1 for k, rows in enumerate(epochs)}
        self._r.set("cut", cut)
        return self._r.eval(code)


def _digits(numbers: Any) -> str:
    return ", ".join(f"{number:.17g}" for number in numbers)


def python_state(setup: Setup, epochs: Epochs) -> Run:
    """The state after the steps at these rows."""
    problem, solver = setup.problem, setup.solver
    if not isinstance(solver, Pegasos):
        run = Plain(problem, solver, None)
        for rows in epochs:
            run.epoch(rows)
        found = run.solution(None)
        return {"beta": found.beta, "alpha": 0.0, "a": found.dual}
    if setup.kernel is not None:
        steps = KernelVisitor(problem, solver)
        for rows in epochs:
            steps.visit(rows)
        counted = steps.solution(None)
        return {"counts": counted.counts, "g": counted.g, "alpha": counted.alpha}
    visitor = Visitor(problem, solver, solver.generator())
    for rows in epochs:
        visitor.visit(rows)
        visitor.epoch += 1
    beta, alpha = visitor.last()
    return {"beta": beta, "alpha": alpha, "a": dual_weights(visitor._state)}


def python_margins(setup: Setup, before: Epochs, rows: Rows) -> Vector:
    """Margins of these rows, seen from the state before."""
    problem, solver = setup.problem, setup.solver
    seen: Any = np.zeros(len(rows))
    if setup.kernel is not None:
        if before:
            state = python_state(setup, before)
            unit = 1.0 / (problem.lam * sum(map(len, before)))
            seen = unit * state["g"][rows] + state["alpha"]
        return np.asarray(problem.y[rows] * seen)
    if before:
        state = python_state(setup, before)
        beta, alpha = state["beta"], state["alpha"]
    elif isinstance(solver, Pegasos):
        beta, alpha = Visitor(problem, solver, solver.generator()).begun_with
    else:
        beta, alpha = np.zeros(problem.p), 0.0
    seen = scores(kernel_rows(problem.X[rows]), beta, alpha) + problem.row_offsets[rows]
    return np.asarray(problem.y[rows] * seen)
