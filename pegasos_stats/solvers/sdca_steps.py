"""SDCA by epochs over all rows: the loop, and the run for few columns."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.compiled import dual
from pegasos_stats.solvers.centring import LARGE
from pegasos_stats.solvers.dense.interior import LONG, InteriorSteps
from pegasos_stats.solvers.objective import Certificate, certificate, feasible
from pegasos_stats.solvers.pegasos_run import (
    Moment,
    Observer,
    clock_for,
    refitted,
    with_progress,
)
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.proximal import ProximalNewton
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain, settled, solution_of
from pegasos_stats.solvers.shrinking import Shrinking

COORDINATE_EPOCHS = 2  # before the Newton steps; none of the log loss from zero
WARM_EPOCHS = 1  # the same where dual weights to begin with are given
SHRUNK, SHRUNK_APART = 40.0, 400.0  # passes that take as long as Newton steps
APART = 100  # one error in so many rows: nearly separable, where more passes do
NO_ROWS = np.zeros(0, dtype=np.int64)
RATIO = 1.0  # square of the constant column that stands for the intercept until then
TRIED = 22  # Newton steps before a gap that stands still is computed otherwise
ROUNDED = 1e-15  # gap that may be rounding: weights have the mean 1, a risk is below 1


def run_epochs(
    run: "Run",
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


class Run(Protocol):
    """What `run_sdca` needs of a run."""

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

    def certificate(self) -> Certificate:
        """Primal and dual objective, computed from the rows."""

    def solution(self, seed: int | None) -> Any:
        """What the run gives in its present state, a solution."""


def weights_at(problem: Problem, beta: Vector, alpha: float) -> Vector:
    """``w_i / (1 + exp(m_i))``, the dual weights of the log loss."""
    from scipy.special import expit

    margins = problem.y * (problem.X @ beta + alpha + problem.row_offsets)
    return np.asarray(problem.row_weights * expit(-margins))


class Narrow:
    """Coordinate steps, then Newton steps, where there are no more columns than rows.

    The penalty on a free intercept in the coordinate steps is centred anew after every
    epoch. There are few of these epochs: the log loss, which Newton's method minimises
    from zero in as few steps, has none.
    """

    def __init__(self, problem: Problem, solver: SDCA, dual: Vector | None) -> None:
        self._problem, self._solver = problem, solver
        self._coordinates = Plain(problem, solver, dual, RATIO)
        self._epochs_before = COORDINATE_EPOCHS if dual is None else WARM_EPOCHS
        if problem.loss == "log" and dual is None and solver.start == "zero":
            self._epochs_before = 0
        self._newton: Shrinking | ProximalNewton | InteriorSteps | None = None
        self._settled: float | None = None
        self._slopes: Vector | None = None
        self._epochs = self._newton_steps = 0
        self._newton_visits = 0.0

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        return self._epochs < self._epochs_before

    @property
    def visits(self) -> float:
        """Rows visited so far, or whose visits would have cost as much."""
        return self._coordinates.visits + self._newton_visits

    def epoch(self, rows: Rows) -> None:
        """Visit the rows, or take a Newton step if there are none."""
        self._settled = None
        if rows.size == 0:
            self._newton = self._next_steps(self._newton)
            self._newton_visits += self._newton.cost
            self._newton.step()
            self._newton_steps += not isinstance(self._newton, Shrinking)
            return
        self._coordinates.epoch(rows)
        self._coordinates.centre_anew()
        self._epochs += 1

    def _next_steps(
        self, steps: Shrinking | ProximalNewton | InteriorSteps | None
    ) -> Shrinking | ProximalNewton | InteriorSteps:
        """Return these steps, or others where they would take long.

        A first look tells little of rows that are nearly separable.
        """
        if steps is None and Shrinking.serves(self._problem):
            steps = Shrinking(self._coordinates, self._solver)
        if isinstance(steps, Shrinking):
            is_apart = APART * steps.gap.errors <= self._problem.n
            most = SHRUNK_APART if is_apart else SHRUNK
            if (is_apart and steps.looks == 1) or steps.left() <= most:
                return steps
        if steps is None or isinstance(steps, Shrinking):
            steps = self._coordinates.newton_method()
        if not isinstance(steps, ProximalNewton):
            return steps
        is_long = steps.stands_still or self._newton_steps >= LONG
        if is_long and InteriorSteps.serves(self._problem):
            return InteriorSteps(self._problem, *steps.best())
        return steps

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again if computed anew."""
        if self._newton is None:
            return False
        found = self._newton.gap
        if not (self._solver.reached(found) or found.gap <= ROUNDED):
            return self._reached_at_slopes()
        self._settled, at = settled(self._problem, self._solver, *self._best())
        return self._solver.reached(at)

    def _reached_at_slopes(self) -> bool:
        """Whether the dual weights that belong to the best fit reach the tolerance.

        With predictors far larger than 1 the gap of Newton steps of the log loss may
        be nothing but rounding.
        """
        problem, newton = self._problem, self._newton
        is_large = problem.loss == "log" and problem.radius > LARGE
        if not is_large or self._newton_steps % TRIED:
            return False
        if not (isinstance(newton, ProximalNewton) and newton.stands_still):
            return False
        beta, alpha, _ = newton.best()
        a = weights_at(problem, beta, alpha)
        a = feasible(a, problem.y, problem.intercept, problem.weights)
        if self._solver.reached(certificate(problem, beta, alpha, a)):
            self._slopes = a
        return self._slopes is not None

    def certificate(self) -> Certificate:
        """Primal and dual objective of the best points, computed from the rows."""
        return certificate(self._problem, *self._best())

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and the best dual point."""
        seen = 0 if self._newton is None else self._newton.violations
        return solution_of(
            self._coordinates, *self._best(), self._newton_steps, seen, seed
        )

    def _best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``: the best ones of Newton's method, or the last."""
        if self._newton is not None:
            beta, alpha, a = self._newton.best()
            a = a if self._slopes is None else self._slopes
            return beta, alpha if self._settled is None else self._settled, a
        state, problem = self._coordinates.state, self._problem
        beta, alpha = state.w[: problem.p].copy(), float(state.scalars[dual.sdca.ALPHA])
        if problem.intercept and problem.weights is None:
            alpha = refitted(problem, beta)
        return beta, alpha, state.a.copy()
