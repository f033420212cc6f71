"""The run of SDCA for the log loss with many more rows than columns."""

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.solvers.descent import Descent
from pegasos_stats.solvers.objective import Certificate, certificate, feasible
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import settled


class Descending:
    """Steps of `Descent`, each an epoch; no row is drawn."""

    visits_rows = False

    def __init__(self, problem: Problem, solver: SDCA, dual: Vector | None) -> None:
        assert dual is None
        self._problem, self._solver = problem, solver
        self._descent: Descent | None = None
        self._settled: float | None = None
        self._steps = 0
        self.visits = 0.0

    @staticmethod
    def serves(problem: Problem, solver: SDCA, dual: Vector | None) -> bool:
        """Whether this is the run for a problem that starts from nothing."""
        from_nothing = dual is None and solver.start == "zero"
        return problem.loss == "log" and from_nothing and problem.many_rows

    def epoch(self, rows: Rows) -> None:
        """Take a step, the first one from the solution of a sample."""
        self._settled = None
        self._steps += 1
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self._descent is None:
                self._descent = Descent(self._problem)
                self.visits += 2.0 * self._problem.n
            self.visits += self._descent.cost
            self._descent.step()

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again if computed anew."""
        if self._descent is None or not self._solver.reached(self._descent.gap):
            return False
        self._settled, at = settled(self._problem, self._solver, *self._best())
        return self._solver.reached(at)

    def certificate(self) -> Certificate:
        """Primal and dual objective of the best points, computed from the rows."""
        return certificate(self._problem, *self._best())

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and its dual point."""
        problem, (beta, alpha, a) = self._problem, self._best()
        assert self._descent is not None  # an epoch comes first
        return Solution(
            beta=beta,
            alpha=alpha,
            dual=feasible(a, problem.y, problem.intercept, problem.weights),
            n_iter=self._steps,
            n_violations=self._descent.violations,
            seed=seed,
        )

    def _best(self) -> tuple[Vector, float, Vector]:
        assert self._descent is not None  # an epoch comes first
        beta, alpha, a = self._descent.best()
        return beta, alpha if self._settled is None else self._settled, a
