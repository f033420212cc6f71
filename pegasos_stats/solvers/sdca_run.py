"""The run of SDCA: epochs of one method, or of several, up to the tolerance."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.solvers.centring import centred, needed_centre, shifted_solution
from pegasos_stats.solvers.coordinates import Coordinates, WideCoordinates
from pegasos_stats.solvers.method import Method
from pegasos_stats.solvers.newton.hinge import Goal
from pegasos_stats.solvers.newton.log import newton_steps
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    certificate,
    feasible,
)
from pegasos_stats.solvers.pegasos_run import (
    Moment,
    Observer,
    clock_for,
    with_progress,
)
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA

NO_ROWS = np.zeros(0, dtype=np.int64)
MANY_COLUMNS = 100  # where pairs of dense rows are quick
FREE, NOT_FREE = 1.25, 1.5  # rows to a column up to which they are, by intercept


class Run(Protocol):
    """What `run_epochs` needs of a run, linear or with a kernel."""

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch visits rows in a random order."""

    @property
    def visits(self) -> float:
        """Rows visited so far, or whose visits would have cost as much."""

    def epoch(self, rows: Rows) -> None:
        """Do one epoch."""

    def reached(self) -> bool:
        """Whether the tolerance is reached."""

    def solution(self, seed: int | None) -> Any:
        """What the run gives in its present state, a solution."""


def run_epochs(
    run: Run,
    n: int,
    solver: SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    most: float = math.inf,
    shown: Callable[[Any], Any] = lambda solution: solution,
) -> tuple[Any, bool]:
    """Run up to the tolerance or the last epoch.

    Parameters
    ----------
    run : Run
    n : int
        Number of rows.
    solver : SDCA
    observe, progress, most
        As for `run_sdca`.
    shown : callable, optional
        What becomes of a solution of the run.

    Returns
    -------
    solution : Solution or KernelSolution
    reached : bool
        Whether the tolerance was reached.
    """
    rng = solver.generator()
    epochs: Iterable[int] = range(1, solver.epochs + 1)
    clock, spent = clock_for(observe), 0
    total = None if solver.stops else solver.epochs
    for epoch in with_progress(epochs, total, "epoch") if progress else epochs:
        rows = rng.permutation(n) if run.visits_rows else NO_ROWS
        began = clock()
        run.epoch(rows)
        spent += clock() - began
        if observe is not None:
            observe(Moment(epoch, shown(run.solution(rng.seed)), spent / 1e9))
        if solver.stops and run.reached():
            return shown(run.solution(rng.seed)), True
        if run.visits > most:
            break
    return shown(run.solution(rng.seed)), False


class LinearRun:
    """Epochs of a method, and of another that follows where the first takes long.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
    a : float64 array, shape (n,), optional
        Dual weights to begin with.
    """

    def __init__(self, problem: Problem, solver: SDCA, a: Vector | None = None) -> None:
        self._problem, self._solver = problem, solver
        self._method = first_method(problem, solver, a)
        self._steps, self._violations, self._visits = 0, 0, 0.0

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        return self._method.visits_rows

    @property
    def visits(self) -> float:
        """Rows visited so far, or whose visits would have cost as much."""
        return self._visits + self._method.visits

    @np.errstate(all="ignore")
    def epoch(self, rows: Rows) -> None:
        """Do an epoch, of another method where the last one took long."""
        following = self._method.following()
        if following is not None:
            before, self._method = self._method, following
            self._steps += before.steps
            self._violations += before.violations
            self._visits += before.visits
        self._method.step(rows)

    @np.errstate(all="ignore")
    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again from the rows."""
        at = self._method.gap
        if isinstance(at, Certificate) or not self._solver.reached(at):
            return self._solver.reached(at)
        found = certificate(self._problem, *self._method.best(), self._solver.tol)
        return self._solver.reached(found)

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and the best dual point."""
        problem, (beta, alpha, a) = self._problem, self._method.best()
        return Solution(
            beta=beta,
            alpha=alpha,
            dual=feasible(a, problem.y, problem.intercept, problem.most_dual),
            n_iter=self._steps + self._method.steps,
            n_violations=self._violations + self._method.violations,
            seed=seed,
        )


def first_method(problem: Problem, solver: SDCA, a: Vector | None) -> Method:
    """Coordinate steps where there are more columns than rows, else Newton steps."""
    if solver.algorithm == "perm":
        return Coordinates(problem, solver, a)
    if starts_with_coordinates(problem):
        return WideCoordinates(problem, solver, a)
    goal = Goal(solver.tol, solver.gap_tol)
    return newton_steps(problem, goal, None if a is None else start_of(problem, a))


def starts_with_coordinates(problem: Problem) -> bool:
    """Whether coordinate steps come first: with more columns than rows.

    For the hinge also with nearly as many, for its pairs, and on sparse rows always.
    Pairs and lengths know no offset.

    Examples
    --------
    >>> X, y = np.ones((120, 100)), np.tile([-1.0, 1.0], 60)
    >>> hinge, log = (Problem(X, y, lam=1.0, loss=loss) for loss in ("hinge", "log"))
    >>> starts_with_coordinates(hinge), starts_with_coordinates(log)
    (True, False)
    """
    n, p = problem.n, problem.p
    most = p
    if problem.loss == "hinge" and not isinstance(problem.X, np.ndarray):
        most = n + 1
    elif problem.loss == "hinge" and p >= MANY_COLUMNS:
        most = int(p * (FREE if problem.intercept else NOT_FREE))
    return n < most and problem.offset is None


def start_of(problem: Problem, dual: Vector) -> tuple[Vector, Vector]:
    """``(beta, alpha)`` that dual weights give, and these made feasible."""
    a = feasible(dual, problem.y, problem.intercept, problem.most_dual)
    beta = (a * problem.y) @ problem.X / (problem.lam * problem.n)
    alpha = 0.0
    if problem.intercept:
        scores = problem.X @ beta + problem.row_offsets
        alpha = best_intercept(scores, problem.y, problem.loss, problem.weights)
    return np.append(beta, alpha), a


def solved_by_steps(
    problem: Problem, solver: SDCA, dual: Vector | None = None
) -> Solution:
    """Solve a problem by steps over all its rows, and warn of nothing.

    Parameters
    ----------
    problem, solver, dual
        As for `run_sdca`.
    """
    centre = needed_centre(problem)
    inner = problem if centre is None else centred(problem, centre)
    found, _ = run_epochs(LinearRun(inner, solver, dual), inner.n, solver)
    return shifted_solution(found, centre)
