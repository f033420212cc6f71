"""SDCA one dual weight at a time: its state and its solution."""

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.compiled import dual
from pegasos_stats.solvers.objective import Certificate, certificate, feasible
from pegasos_stats.solvers.pegasos_run import refitted
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.proximal import ProximalNewton
from pegasos_stats.solvers.sdca import SDCA

WIDEST = (
    4096.0  # of a first gamma: one far column would make it a million, for all rows
)


class Plain:
    """SDCA-perm: coordinate steps, ``alpha`` 0 or the coefficient of a column.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
    a : float64 array, shape (n,), optional
        Dual weights to begin with.
    ratio : float
        Square of the constant column that stands for a free intercept; without
        intercept there is none.
    """

    def __init__(
        self, problem: Problem, solver: SDCA, a: Vector | None, ratio: float = 0.0
    ) -> None:
        ratio = ratio if problem.intercept else 0.0
        self.problem, self._solver, self.ratio = problem, solver, ratio
        self._fast = solver.sums == "fast"
        self._rows, self._loss = problem.rows, int(problem.loss_code)
        self._y = problem.y.astype(np.int8)
        self._order = np.arange(problem.n)
        self._numbers = dual.shrinking.passes(problem.n, solver.seed or 0)
        self._begins_by_sgd = solver.start == "sgd" and a is None
        self.state = (
            dual.sdca.start(self._rows, problem.p, problem.row_weights, problem.offset)
            if a is None
            else dual.sdca.start_from(
                self._rows,
                problem.p,
                problem.row_weights,
                problem.y,
                problem.lam,
                a,
                problem.offset,
            )
        )
        if a is not None and ratio > 0.0:
            beta = self.state.w[: problem.p]
            self.state.scalars[dual.sdca.ALPHA] = refitted(problem, beta)

    @property
    def visits_rows(self) -> bool:
        """Always: every epoch is a permutation."""
        return True

    @property
    def visits(self) -> float:
        """Rows visited so far."""
        return float(self.state.scalars[dual.sdca.STEPS])

    def epoch(self, rows: Rows) -> None:
        """Visit the rows."""
        lam, state = self.problem.lam, self.state
        if self._begins_by_sgd:
            dual.sdca.sgd_epoch(
                self._rows, self._y, rows, lam, self._loss, self.ratio, state
            )
            self._begins_by_sgd = False
            return
        dual.sdca.sdca_epoch(
            self._rows,
            self._y,
            rows,
            lam,
            state,
            loss=self._loss,
            ratio=self.ratio,
            fast=self._fast,
        )

    def pass_over(self, count: int) -> None:
        """Visit all rows so many times, in orders that R does not have."""
        problem = self.problem
        dual.shrinking.whole_passes(
            self._rows,
            self._y,
            self._order,
            problem.lam,
            self._loss,
            count,
            self._numbers,
            self.state,
        )

    def centre_anew(self) -> None:
        """Centre the penalty at ``alpha + ratio sum_i a_i y_i / (lam n)``."""
        if self.ratio == 0.0:
            return
        balance = float(self.state.a @ self.problem.y)
        scale = self.problem.lam * self.problem.n
        self.state.scalars[dual.sdca.ALPHA] += self.ratio * balance / scale

    def newton_method(self) -> ProximalNewton:
        """Newton steps from the present state."""
        state, problem = self.state, self.problem
        alpha = float(state.scalars[dual.sdca.ALPHA])
        width = float(state.norm2.mean()) / (problem.lam * problem.n)
        return ProximalNewton(problem, state.w, alpha, state.a, min(width, WIDEST))

    def certificate(self) -> Certificate:
        """Primal and dual objective at the coefficients and the dual weights."""
        beta = self.state.w[: self.problem.p]
        return certificate(self.problem, beta, 0.0, self.state.a)

    def reached(self) -> bool:
        """Whether the gap is within the tolerance."""
        return self._solver.reached(self.certificate())

    def solution(self, seed: int | None) -> Solution:
        """Return the last iterate."""
        return Solution(
            beta=self.state.w[: self.problem.p].copy(),
            alpha=0.0,
            dual=self.state.a.copy(),
            n_iter=int(self.state.scalars[dual.sdca.STEPS]),
            n_violations=int(self.state.scalars[dual.sdca.VIOLATIONS]),
            seed=seed,
        )


def solution_of(
    coordinates: Plain,
    beta: Vector,
    alpha: float,
    a: Vector,
    steps: int,
    violations: int,
    seed: int | None,
) -> Solution:
    """Return a solution that was found by coordinate steps and further ones."""
    problem, scalars = coordinates.problem, coordinates.state.scalars
    return Solution(
        beta=beta,
        alpha=alpha,
        dual=feasible(a, problem.y, problem.intercept, problem.weights),
        n_iter=int(scalars[dual.sdca.STEPS]) + steps,
        n_violations=int(scalars[dual.sdca.VIOLATIONS]) + violations,
        seed=seed,
    )


def settled(
    problem: Problem, solver: SDCA, beta: Vector, alpha: float, a: Vector
) -> tuple[float, Certificate]:
    """Return an intercept with its certificate: this one, or a double next to it.

    Where the least risk is as small as the rounding of a margin, as for separable rows,
    the last place of the intercept decides.
    """
    at = certificate(problem, beta, alpha, a, solver.tol)
    if solver.reached(at) or not problem.intercept:
        return alpha, at
    down, up = (float(np.nextafter(alpha, end)) for end in (-np.inf, np.inf))
    for other in (down, up, 2.0 * down - alpha, 2.0 * up - alpha):
        there = certificate(problem, beta, other, a)
        if there.gap < at.gap:
            alpha, at = other, there
    return alpha, at
