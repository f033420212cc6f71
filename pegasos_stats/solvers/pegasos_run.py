"""Run Pegasos: draw rows, call compiled loops, build the solution."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pegasos_stats import compiled
from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.data.user_data import check_memory
from pegasos_stats.errors import (
    ConvergenceWarning,
    OptionError,
    counted,
    warn_caller,
)
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.certificate import Certificate, certificate
from pegasos_stats.solvers.intercept import refitted
from pegasos_stats.solvers.options import Solver
from pegasos_stats.solvers.pegasos import (
    Pegasos,
    check_length,
    check_sizes,
    first_iterate,
    sizes_of_steps,
)
from pegasos_stats.solvers.problem import MethodRun, Problem, Solution

Item = TypeVar("Item")


@dataclass(frozen=True)
class Moment:
    """State of a run after an epoch, for observers.

    Attributes
    ----------
    epoch : int
        Number of completed epochs.
    solution : Solution or KernelSolution
        The solution if the run stopped here.
    cpu_seconds : float
        Processor time of all updates so far, without drawing rows and observing.
    """

    epoch: int
    solution: Any
    cpu_seconds: float


Observer = Callable[[Moment], None]


def run_pegasos(
    problem: Problem,
    solver: Pegasos,
    observe: Observer | None = None,
    progress: bool = False,
    warn: bool = True,
    kind: "type[Visitor] | None" = None,
) -> Any:
    """Run Pegasos.

    Parameters
    ----------
    problem : Problem
    solver : Pegasos
    observe : callable, optional
        Called with a `Moment` after every epoch.
    progress : bool
        Whether to show a progress bar of epochs.
    warn : bool
        Whether to warn if a tolerance is not reached.
    kind : type, optional
        Class that takes the steps, by default `Visitor`, for linear problems.

    Returns
    -------
    Solution or KernelSolution

    Raises
    ------
    OptionError
        If the solver does not support the problem.

    Warns
    -----
    ConvergenceWarning
        If a tolerance is set and not reached.
    """
    check_solver(problem, solver)
    rng = solver.generator()
    visitor = (kind or Visitor)(problem, solver, rng)
    epochs: Iterable[Rows] = solver.passes.rows(problem.n, rng)
    if progress:
        epochs = with_progress(epochs, solver.passes.count(problem.n), "epoch")
    if not solver.may_end_early:
        visit_epochs(visitor, epochs, rng.seed, observe)
        return visitor.solution(rng.seed)
    stopping = Stopping(problem, solver, *visitor.begun_with)
    reached = visit_epochs(visitor, epochs, rng.seed, observe, stopping.reached)
    if warn and not reached:
        stopping.warn(visitor.epoch)
    return replace(visitor.solution(rng.seed), settled=stopping.settled)


def visit_epochs(
    visitor: "Visitor",
    epochs: Iterable[Rows],
    seed: int | None,
    observe: Observer | None,
    ends: Callable[..., bool] | None = None,
) -> bool:
    """Take the steps of all epochs, and measure their time.

    Stops and returns True after an epoch whose solution satisfies `ends`.
    """
    visitor.visit(np.empty(0, dtype=np.int64))  # compile the loops before timing
    spent = 0.0
    for rows in epochs:
        began = time.thread_time()
        visitor.visit(rows)
        spent += time.thread_time() - began
        visitor.epoch += 1
        if observe is not None:
            observe(Moment(visitor.epoch, visitor.solution(seed), spent))
        if ends is not None and ends(visitor.solution(seed)):
            return True
    return False


class Visitor:
    """State of a run of Pegasos, and the methods that take its steps.

    Parameters
    ----------
    problem : Problem
    solver : Pegasos
    rng : RRandom
        Generator for a random start, which is drawn before the rows.

    Attributes
    ----------
    epoch : int
        Number of completed epochs; the average of the last epochs uses it.
    rule : StepRule
        Options common to all steps.
    begun_with : tuple of float64 array, shape (p,), and float
        Coefficients and intercept before the first step.
    """

    def __init__(self, problem: Problem, solver: Pegasos, rng: RRandom) -> None:
        self.epoch, self._problem, self._solver = 0, problem, solver
        self._begin(rng)

    def _begin(self, rng: RRandom) -> None:
        """Initialise the state."""
        problem, solver = self._problem, self._solver
        self._y = problem.y.astype(np.int8, copy=False)
        size, is_fast = solver.passes.batch(problem.n), solver.arithmetic == "fast"
        code, is_free = int(problem.loss_code), problem.intercept
        self.rule = compiled.pegasos.StepRule(
            problem.lam, code, size, is_free, solver.project, fast=is_fast
        )
        is_literal = not (is_fast or hasattr(type(problem.X), "tocsr"))
        radius = problem.radius if is_literal else 0.0
        self._state = compiled.pegasos.start(
            problem.n, problem.p, radius, size, problem.weights, problem.offset
        )
        before = float(solver.first_step - 1)
        in_v_form = solver.has_own_steps and not is_literal and before > 0.0
        v = problem.lam * before if in_v_form else 1.0
        self.begun_with = first_iterate(solver.start, problem, rng)
        compiled.pegasos.begin(self._state, *self.begun_with, before, v)

    def visit(self, rows: Rows) -> None:
        """Take a step at each batch of rows."""
        self._take(self._problem.rows, self._y, rows, self._state)

    def _take(
        self,
        X: "compiled.rows.Rows",
        y: NDArray[np.int8],
        rows: Rows,
        state: "compiled.pegasos.State",
    ) -> None:
        """Take a step at each batch of rows of `X`."""
        problem, solver = self._problem, self._solver
        count = -(-len(rows) // self.rule.batch_size)
        first, lam, n = solver.first_step, problem.lam, problem.n
        sizes = sizes_of_steps(solver.step, lam, n, first, self.steps, count)
        rule = self.rule._replace(average=solver.averages(self.epoch))
        compiled.pegasos.pegasos_epoch(X, y, rows, rule, state, sizes)

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        last = int(self._state.scalars[compiled.pegasos.STEPS])
        return last - self._solver.first_step + 1

    def solution(self, seed: int | None) -> Solution:
        """Return the solution at the current state."""
        state, scalars = compiled.pegasos, self._state.scalars
        beta, alpha = state.iterate(self._state)
        if self._solver.refit_intercept:
            alpha = self._refitted(beta)
        return Solution(
            beta=beta,
            alpha=alpha,
            dual=state.dual_weights(self._state),
            n_iter=self.steps,
            n_violations=int(scalars[state.VIOLATIONS]),
            **self._history(seed),
        )

    def _history(self, seed: int | None) -> dict[str, Any]:
        """Seed, epochs and methods, as in `Solution`."""
        return {
            "seed": seed if self._solver.uses_random_numbers else None,
            "n_epochs": self.epoch,
            "methods": (MethodRun(self._solver.name, self.epoch, "epoch"),),
        }

    def _refitted(self, beta: Vector) -> float:
        return refitted(self._problem, beta)


def check_solver(problem: Problem, solver: Solver) -> None:
    """Raise `OptionError` for options that do not fit this problem."""
    if problem.has_firth and solver.visits_rows:
        raise OptionError(
            f"penalty='firth' does not go with {solver.name}; leave the solver out."
        )
    if solver.refit_intercept and not (problem.intercept or solver.to_optimum):
        raise OptionError(
            "refit_intercept=True makes no sense for a model without intercept; leave "
            "the option out, or give the model an intercept."
        )
    if solver.intercept is False and problem.intercept:
        form, other = f"This form of {solver.name}", ""
        if solver.to_optimum:
            form, other = solver.name, ", or use ps.Optimum()"
        raise OptionError(
            f"{form} has no intercept; build the model with intercept=False{other}."
        )
    if not problem.lam and solver.visits_rows:
        raise OptionError(
            f"{solver.name} needs a penalty: its steps are divided by lam; give lam=, "
            "such as lam=1.0, or leave the solver out for the optimum."
        )
    if isinstance(solver, Pegasos):
        if solver.project and problem.offset is not None:
            raise OptionError(
                "project=True limits the norm of beta to 1 / sqrt(lam), but with an "
                "offset the optimum may exceed it; leave the option out."
            )
        check_length(solver.start, problem)
        size = float(min(solver.passes.batch(problem.n), 1e300))  # fits in a double
        what, cure = f"A batch of {size:.3g} rows", "give a smaller one"
        # Bytes per row of a batch: its label, its subgradient, and twice its index.
        check_memory(32.0 * size, what, cure)
        check_sizes(solver.step, solver.passes.most_steps(problem.n))
        if problem.lam_rule == "1/n":
            raise OptionError(
                "Pegasos takes steps of 1/(lambda t) and has no default lambda; set "
                "lam=, such as lam=1.0, or omit the solver and its options."
            )


def with_progress(
    items: Iterable[Item], total: int | None, unit: str
) -> Iterable[Item]:
    """Show tqdm's progress bar while iterating; a count if the total is unknown."""
    from tqdm import tqdm

    bar: Iterable[Item] = tqdm(iter(items), total=total, unit=unit)
    return bar


class Stopping:
    """Stopping rule, which is checked after every epoch.

    Parameters
    ----------
    problem : Problem
    solver : Pegasos
        With `tol`, `change_tol` or both; either stops the run.
    beta, alpha : float64 array, shape (p,), and float
        Starting point of the run.
    certify : callable, optional
        By default `certificate`.

    Attributes
    ----------
    at : Certificate or None
        The last certificate.
    params : float64 array, shape (1 + p,)
        Parameters after the last epoch, the intercept first.
    change : float
        Largest change of a parameter over the last epoch, relative to the largest
        parameter; both include the intercept.
    settled : bool
        Whether `change` was at most `change_tol`, if that is positive.
    """

    def __init__(
        self,
        problem: Problem,
        solver: Pegasos,
        beta: Vector,
        alpha: float,
        certify: Callable[[Solution], Certificate] | None = None,
    ) -> None:
        self._solver = solver
        self._certify = certify or (
            lambda at: certificate(problem, at.beta, at.alpha, at.dual)
        )
        self.params = np.array([alpha, *beta])
        self.at: Certificate | None = None
        self.change, self.settled = np.inf, False

    def reached(self, solution: Solution) -> bool:
        """Whether the run stops with the current solution.

        With reference arithmetic, the change of the coefficients equals the change in
        the R reference bit for bit; the duality gaps are equal up to rounding.
        """
        params = np.array([solution.alpha, *solution.beta])
        moved = float(np.abs(params - self.params).max())
        largest = float(np.abs(params).max())
        self.params, self.change = params, moved / largest if largest else 0.0
        limit = self._solver.change_tol
        self.settled = limit > 0.0 and moved <= limit * largest
        if self.settled:
            return True
        if not self._solver.stops:
            return False
        self.at = self._certify(solution)
        return bool(self._solver.reached(self.at))

    def warn(self, epochs: int) -> None:
        """Warn that the run reached its maximum number of epochs."""
        facts = []
        if self.at is not None:
            facts.append(f"the relative gap is {self.at.relative_gap:.2g}")
        if self._solver.change_tol > 0.0:
            facts.append(
                f"the last epoch changed a coefficient by {self.change:.2g} times the "
                "largest one"
            )
        warn_caller(
            f"Pegasos has not reached {self._solver.goals} after "
            f"{counted(epochs, 'epoch')}: {', '.join(facts)}. Omit the solver for the "
            "optimum.",
            ConvergenceWarning,
        )
