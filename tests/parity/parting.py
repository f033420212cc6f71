"""The first step at which R and Python part, found by repeating ever fewer steps."""

from dataclasses import replace
from typing import Any

import numpy as np

from pegasos_stats.compiled.arithmetic.risk import scores
from pegasos_stats.compiled.pegasos.pegasos_state import dual_weights
from pegasos_stats.solvers.kernel_run import KernelVisitor
from pegasos_stats.solvers.pegasos_run import Visitor
from pegasos_stats.solvers.problem import Problem, kernel_rows
from pegasos_stats.solvers.sdca_coordinates import Plain
from tests.parity.both_sides import (
    Run,
    compared,
    difference,
    epochs_of,
    given_to_r,
    in_python,
    in_r,
)
from tests.parity.configurations import Configuration

Epochs = list[np.ndarray]


def words_if_apart(r: Any, c: Configuration) -> str | None:
    """The configuration and where it parts, in lines; None if nothing differs."""
    try:
        ours, theirs = in_python(r, c), in_r(r, c)
        found = compared(c, ours, theirs)
        if found is None:
            return None
        return f"{c}\n    {found}\n    {first_parting(r, c, ours, theirs)}"
    except Exception as error:  # one of the sides refuses what the other one may take
        return f"{c}\n    {type(error).__name__}: {error}"


def first_parting(r: Any, c: Configuration, ours: Run, theirs: Run) -> str:
    """Epoch, step, rows, margins and coefficients where the two runs part.

    Parameters
    ----------
    r : R
    c : Configuration
    ours, theirs : dict
        What `both_sides.in_python` and `both_sides.in_r` gave.
    """
    for name in ("levels", "y", "weights"):
        if difference(c, name, ours, theirs) is not None:
            return "The runs differ before their first step."
    apart = np.flatnonzero(ours["rows"] != theirs["rows"])
    if apart.size:
        return _about_rows(c, ours, theirs, int(apart[0]))
    plain = replace(c, options={**c.options, "refit_intercept": False})
    if c.solver == "sdca":
        plain = c
    sides = Sides(r, plain, theirs)
    if sides.differ_after(sides.steps) is None:
        return f"All {sides.steps} steps are the same; what is made of them differs."
    return sides.described(_first(sides))


def _about_rows(c: Configuration, ours: Run, theirs: Run, at: int) -> str:
    step = at // batch_size(c) + 1
    return (
        f"Step {step} visits row {ours['rows'][at]} here and {theirs['rows'][at]} in R."
    )


def _first(sides: "Sides") -> int:
    """The first step after which the states differ, by halving."""
    same, apart = 0, sides.steps
    while apart - same > 1:
        middle = (same + apart) // 2
        if sides.differ_after(middle) is None:
            same = middle
        else:
            apart = middle
    return apart


def batch_size(c: Configuration) -> int:
    return int(c.options.get("batch_size", 1))


def steps_of(epochs: Epochs, size: int) -> int:
    return sum(-(-len(rows) // size) for rows in epochs)


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

    def __init__(self, r: Any, c: Configuration, theirs: Run) -> None:
        self._r, self._c, self._weights = r, c, theirs
        ran = int(theirs["n_epochs"][0]) if "n_epochs" in theirs else None
        self.epochs, self.size = epochs_of(c)[:ran], batch_size(c)
        self.steps = steps_of(self.epochs, self.size)
        self._problem = c.model().problem
        self._names = ["counts", "g"] if c.solver == "kernel" else ["beta", "a"]
        r.set("given", given_to_r(r, c))
        r.set("n_epochs", len(self.epochs))
        r.eval("given$n_epochs <- n_epochs")

    def differ_after(self, step: int) -> str | None:
        """What differs after so many steps."""
        cut = first_steps(self.epochs, self.size, step)
        ours = python_state(self._problem, self._c, cut)
        theirs = {**self._weights, **self._r_state("state_after(given, cut)", cut)}
        for name in [*self._names, "alpha"]:
            found = difference(self._c, name, ours, theirs)
            if found is not None:
                return found
        return None

    def described(self, step: int) -> str:
        """What is known of a step: where, at which rows, with which margins."""
        before = first_steps(self.epochs, self.size, step - 1)
        cut = first_steps(self.epochs, self.size, step)
        rows = cut[-1][len(before[-1]) if len(before) == len(cut) else 0 :]
        here = python_margins(self._problem, self._c, before, rows)
        self._r.set("rows", rows + 1)
        there = self._r_state("margins_after(given, cut, rows)", before)
        return (
            f"First at step {step}, in epoch {len(cut)}: row "
            f"{', '.join(str(row + 1) for row in rows)}; margin {_digits(here)} here, "
            f"{_digits(there)} in R; then {self.differ_after(step)}"
        )

    def _r_state(self, code: str, epochs: Epochs) -> Any:
        cut = {f"epoch{k}": rows + 1 for k, rows in enumerate(epochs)}
        self._r.set("cut", cut)
        return self._r.eval(code)


def _digits(numbers: Any) -> str:
    return ", ".join(f"{number:.17g}" for number in numbers)


def python_state(problem: Any, c: Configuration, epochs: Epochs) -> Run:
    """The state after the steps at these rows."""
    if c.solver == "kernel":
        return _kernel_state(problem, c, epochs)
    if c.solver == "sdca":
        run = Plain(problem, c.as_solver(), None)
        for rows in epochs:
            run.epoch(rows)
        found = run.solution(None)
        return {"beta": found.beta, "alpha": 0.0, "a": found.dual}
    solver = c.as_solver()
    visitor = Visitor(problem, solver, solver.generator())
    for rows in epochs:
        visitor.visit(rows)
        visitor.epoch += 1
    beta, alpha = visitor.last()
    return {"beta": beta, "alpha": alpha, "a": dual_weights(visitor._state)}


def _kernel_state(problem: Any, c: Configuration, epochs: Epochs) -> Run:
    visitor = KernelVisitor(problem, c.as_solver())
    for rows in epochs:
        visitor.visit(rows)
    found = visitor.solution(None)
    return {"counts": found.counts, "g": found.g, "alpha": found.alpha}


def python_margins(
    problem: Problem, c: Configuration, before: Epochs, rows: np.ndarray
) -> np.ndarray:
    """Margins of these rows, seen from the state before."""
    if not before:
        return np.zeros(len(rows))
    state = python_state(problem, c, before)
    if c.solver == "kernel":
        seen = 1.0 / (c.lam * sum(map(len, before))) * state["g"][rows]
        return np.asarray(problem.y[rows] * (seen + state["alpha"]))
    part = kernel_rows(problem.X[rows])
    return problem.y[rows] * scores(part, state["beta"], state["alpha"])
