"""The run of SDCA on dense rows with a moderate number of columns, in numpy."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.solvers.active_set import ActiveSet, exactly
from pegasos_stats.solvers.dense.blocks import additions
from pegasos_stats.solvers.dense.hinge import Goal, Hinge
from pegasos_stats.solvers.dense.log import LogSteps
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    certificate,
    feasible,
)
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.rounding import UNIT
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_steps import Narrow, run_epochs

ALMOST = 0.99  # of the gap that is asked for
BLOCKED = 3000.0  # roundings of a sum over a block of rows, hardly more
PATIENCE = 20  # steps in which the gap is to be halved
MOST_READS = 400.0  # after which it goes on compiled


class DenseRun:
    """Steps in numpy, each an epoch; compiled ones where these do not suffice."""

    def __init__(self, problem: Problem, solver: SDCA, dual: Vector | None) -> None:
        self._problem, self._solver = problem, solver
        self._goal = Goal(solver.tol, solver.gap_tol)
        start = None if dual is None else start_of(problem, dual)
        self._steps: LogSteps | Hinge
        if problem.loss == "log":
            self._steps = LogSteps(problem, None if start is None else start[0])
            self._walk: Iterator[None] = self._steps.steps()
        else:
            self._steps = Hinge(problem, start)
            self._walk = self._steps.steps(self._goal)
        self._count = self._violations = 0
        self._gaps: list[float] = []
        self._further: Narrow | ActiveSet | None = None

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        return isinstance(self._further, Narrow) and self._further.visits_rows

    @property
    def visits(self) -> float:
        """Rows visited so far, or whose visits would have cost as much."""
        further = self._further.visits if isinstance(self._further, Narrow) else 0.0
        return self._steps.reads * self._problem.n + further

    @np.errstate(all="ignore")
    def epoch(self, rows: Rows) -> None:
        """Take a step."""
        if isinstance(self._further, Narrow):
            self._further.epoch(rows)
            return
        if isinstance(self._further, ActiveSet):
            self._further.step()
            self._count += 1
            return
        is_on = next(self._walk, self) is None
        self._count += is_on
        self._violations = self._steps.violations
        self._gaps.append(self._steps.gap)
        if isinstance(self._steps, Hinge):
            further = exactly(self._problem, self, self._count)
            if isinstance(further, ActiveSet):
                bring_near(further, self._solver)
                self._further = further
                return
        if not is_on or self._steps.reads > MOST_READS or self.stands_still:
            self._further = Narrow(self._problem, self._solver, self._steps.a)
            if not is_on:
                self._further.epoch(rows)

    @property
    def stands_still(self) -> bool:
        """Whether the last steps have not halved the gap."""
        gaps = self._gaps
        return len(gaps) > PATIENCE and not gaps[-1] <= 0.5 * gaps[-1 - PATIENCE]

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``: the best so far."""
        if isinstance(self._further, ActiveSet):
            return self._further.best()
        theta = self._steps.theta
        return theta[:-1], float(theta[-1]), self._steps.a

    @np.errstate(all="ignore")
    def reached(self) -> bool:
        """Whether the gap is within the tolerance, computed from the rows."""
        if isinstance(self._further, Narrow):
            return self._further.reached()
        if self._further is None:
            goal = self._goal(self._steps.risk)
            if not self._steps.gap <= goal:
                return False
            if isinstance(self._steps, LogSteps):
                gap = self._steps.certified()
                if not gap <= goal:
                    return False
                if gap + self._rounding() <= ALMOST * goal:
                    return True
        elif not self._solver.reached(self._further.gap):
            return False
        return self._solver.reached(self.certificate())

    def _rounding(self) -> float:
        """More than rounding does to the gap that steps of the log loss compute.

        Scores are off by `reach`, as in ``rounding.py``, and the length of the
        coefficients that dual weights give by `apart`.
        """
        problem, (beta, alpha, a) = self._problem, self.best()
        radius, count = problem.radius, problem.p + additions(problem.n) + BLOCKED
        size = radius * math.sqrt(float(beta @ beta)) + abs(alpha)
        reach = count * UNIT * (1.0 + size + (problem.farthest or 0.0))
        apart = count * UNIT * radius * float(a.sum()) / problem.n
        apart /= math.sqrt(2.0 * problem.lam)
        return 2.0 * reach + 2.0 * apart * math.sqrt(self._steps.risk) + apart * apart

    def certificate(self) -> Certificate:
        """Primal and dual objective, computed from the rows."""
        if isinstance(self._further, Narrow):
            return self._further.certificate()
        return certificate(self._problem, *self.best(), self._solver.tol)

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and its dual point."""
        if isinstance(self._further, Narrow):
            found = self._further.solution(seed)
            return replace(
                found,
                n_iter=self._count + found.n_iter,
                n_violations=self._violations + found.n_violations,
            )
        problem, (beta, alpha, a) = self._problem, self.best()
        return Solution(
            beta=beta.copy(),
            alpha=alpha,
            dual=feasible(a, problem.y, problem.intercept, problem.weights),
            n_iter=self._count,
            n_violations=self._violations,
            seed=seed,
        )


def bring_near(steps: ActiveSet, solver: SDCA) -> None:
    """Start from the solution of the problem whose far columns are brought near."""
    nearer = steps.nearer()
    if nearer is not None:
        run = DenseRun(nearer, solver, None)
        steps.begin_near(run_epochs(run, nearer.n, solver)[0])


def start_of(problem: Problem, dual: Vector) -> tuple[Vector, Vector]:
    """``(beta, alpha)`` that dual weights give, and these made feasible."""
    a = feasible(dual, problem.y, problem.intercept, problem.weights)
    beta = (a * problem.y) @ problem.X / (problem.lam * problem.n)
    alpha = 0.0
    if problem.intercept:
        scores = problem.X @ beta + problem.row_offsets
        alpha = best_intercept(scores, problem.y, problem.loss, problem.weights)
    return np.append(beta, alpha), a
