"""The run of SDCA for the hinge with very many more rows than columns, in memory."""

from dataclasses import replace

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.solvers.objective import Certificate, certificate
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.few_reads import Reading
from pegasos_stats.solvers.reads.hinge import Hinge
from pegasos_stats.solvers.reads.rows import InMemory
from pegasos_stats.solvers.reads.seeing import Described
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_steps import Narrow

FEWEST = 50_000  # rows
MANY = 2000  # rows to a column
MOST_NEAR = 0.3  # of the rows, that are kept
MOST_READS = 10
COST = 2.0  # of a read and the work after it, in visits of each row
CLOSE = 1e-12  # of the objective: what rounding does to a certificate, and far more


class FewReads:
    """Reads of the rows, each an epoch; Newton steps where they do not pay.

    The first epoch solves a sample of the rows too. If that says that too many rows are
    near the margin, or reads come to no end, the run is a `Narrow` from then on.
    """

    def __init__(
        self,
        problem: Problem,
        solver: SDCA,
        dual: Vector | None,
        workers: int | None = None,
    ) -> None:
        assert dual is None
        self._problem, self._solver, self._workers = problem, solver, workers
        self._fit: Reading | None = None
        self._before: Solution | None = None
        self._narrow: Narrow | None = None

    @staticmethod
    def serves(problem: Problem, solver: SDCA, dual: Vector | None) -> bool:
        """Whether reads are likely to pay for a problem that starts from nothing."""
        is_dense = isinstance(problem.X, np.ndarray)
        from_nothing = dual is None and solver.start == "zero" and solver.stops
        many = problem.n >= max(FEWEST, MANY * problem.p) and problem.p > 0
        is_right = problem.loss == "hinge" and solver.algorithm == "newton"
        return is_right and is_dense and from_nothing and many

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        if self._narrow is not None:
            return self._narrow.visits_rows
        return self._fit is not None and not self._pays

    @property
    def visits(self) -> float:
        """Rows visited so far, or whose visits would have cost as much."""
        reads = 0 if self._fit is None else 1 + self._fit.reads
        further = 0.0 if self._narrow is None else self._narrow.visits
        return COST * reads * self._problem.n + further

    def epoch(self, rows: Rows) -> None:
        """Solve a sample or the rows that are kept, and read all rows."""
        if self._narrow is None and self.visits_rows:
            self._before = self._found()
            begin = self._before.dual if self._reading.reads > 0 else None
            self._reading.step.forget_rows()
            self._narrow = Narrow(self._problem, self._solver, begin)
        if self._narrow is not None:
            self._narrow.epoch(rows)
            return
        if self._fit is None:
            problem = self._problem
            home = InMemory(problem, self._workers)
            given = home, problem.lam, problem.loss, problem.intercept
            self._fit = Reading(Described(*given), self._solver)
            if not self._pays:
                return
        else:
            self._fit.solve()
        self._fit.read()

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again if rounding decides."""
        if self._narrow is not None:
            return self._narrow.reached()
        if self._reading.reads == 0 or not self._solver.reached(self._reading.at):
            return False
        at = self._reading.at
        farther = replace(at, rounding=at.rounding + CLOSE * at.objective)
        return self._solver.reached(farther) or self._solver.reached(self.certificate())

    def certificate(self) -> Certificate:
        """Primal and dual objective, computed from the rows."""
        found = self.solution(None)
        return certificate(self._problem, found.beta, found.alpha, found.dual)

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit that was read and the dual point at hand, or Newton's."""
        if self._narrow is None or self._before is None:
            return replace(self._found(), seed=seed)
        found, before = self._narrow.solution(seed), self._before
        return replace(
            found,
            n_iter=before.n_iter + found.n_iter,
            n_violations=before.n_violations + found.n_violations,
        )

    @property
    def _reading(self) -> Reading:
        assert self._fit is not None  # an epoch comes first
        return self._fit

    @property
    def _pays(self) -> bool:
        """Whether few rows are near the margin, and further reads bring more."""
        fit = self._reading
        assert isinstance(fit.step, Hinge)
        near = max(fit.step.near, fit.step.kept.m / self._problem.n)
        return near <= MOST_NEAR and fit.reads < MOST_READS and not fit.is_exhausted

    def _found(self) -> Solution:
        fit, n = self._reading, self._problem.n
        if fit.reads == 0:
            return Solution(*fit.step.point, np.zeros(n), 0, 0, None)
        return replace(fit.solution(), n_violations=fit.violations)
