"""The run of SDCA: rows drawn, kernels called, the gap looked at, the solution made."""

import math
import time
import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import ConvergenceWarning, counted
from pegasos_stats.objective import Certificate, certificate, feasible
from pegasos_stats.problem import Problem, Solution
from pegasos_stats.proximal import ProximalNewton
from pegasos_stats.running import Moment, Observer, refitted, with_progress
from pegasos_stats.sdca import SDCA

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

COORDINATE_EPOCHS = 2  # before the Newton steps of a free intercept, if n >= p
WARM_EPOCHS = 1  # the same where dual weights to begin with are given
PATIENCE = 5  # epochs in which the gap is to be halved, if n < p
NO_ROWS = np.zeros(0, dtype=np.int64)
RATIO = 1.0  # square of the constant column that stands for the intercept until then


def run_sdca(
    problem: Problem,
    solver: SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
) -> Solution:
    """Run SDCA on a linear problem.

    The duality gap is computed after every epoch; the one that ends the run is
    computed from the rows anew.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
    observe : callable, optional
        Called with a `Moment` after every epoch.
    progress : bool
        Whether to show a progress bar, an epoch at a time.
    dual : float64 array, shape (n,), optional
        Dual weights to begin with, for example those of another solution; clipped to
        what the dual allows. With it nothing is begun by modified SGD.
    warn : bool
        ``False`` where the caller looks at the gap and warns for many runs at once.

    Returns
    -------
    Solution
        Without intercept the last iterate; with it the best fit and the best dual
        point of all epochs.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    rng = solver.generator()
    run: Run = (Free if problem.intercept else Plain)(problem, solver, dual)
    epochs: Any = range(1, solver.epochs + 1)
    spent = 0
    total = None if solver.stops else solver.epochs
    for epoch in with_progress(epochs, total, "epoch") if progress else epochs:
        rows = rng.permutation(problem.n) if run.visits_rows else NO_ROWS
        began = time.thread_time_ns()
        run.epoch(rows)
        spent += time.thread_time_ns() - began
        if observe is not None:
            observe(Moment(epoch, run.solution(rng.seed), spent / 1e9))
        if solver.stops and run.reached():
            return run.solution(rng.seed)
    if solver.stops and warn:
        warn_of(run.certificate(), solver)
    return run.solution(rng.seed)


def warn_of(at: Certificate, solver: SDCA) -> None:
    """Warn that the tolerance was not reached."""
    goal = f"tol={solver.tol:g}" if solver.tol > 0 else f"gap_tol={solver.gap_tol:g}"
    warnings.warn(
        f"SDCA has not reached {goal} after {counted(solver.epochs, 'epoch')}: the "
        f"relative gap is {at.relative_gap:.2g}, the gap {at.gap:.2g}; give more "
        "epochs or a larger tolerance.",
        ConvergenceWarning,
        stacklevel=3,
    )


class Run(Protocol):
    """What `run_sdca` needs of a run."""

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch visits rows in a random order."""

    def epoch(self, rows: Rows) -> None:
        """Do one epoch."""

    def reached(self) -> bool:
        """Whether the tolerance is reached."""

    def certificate(self) -> Certificate:
        """Primal and dual objective, computed from the rows."""

    def solution(self, seed: int | None) -> Solution:
        """What the run gives in its present state."""


class Plain:
    """SDCA-perm: coordinate steps, ``alpha`` 0 or the coefficient of a column."""

    def __init__(
        self, problem: Problem, solver: SDCA, dual: Vector | None, ratio: float = 0.0
    ) -> None:
        from pegasos_stats.kernels import sdca

        self.problem, self._solver, self._ratio = problem, solver, ratio
        self._rows, self._loss = problem.rows, int(problem.loss_code)
        self._y = problem.y.astype(np.int8)
        self._begins_by_sgd = solver.start == "sgd" and dual is None
        given = self._rows, problem.p, problem.row_weights
        self.state = (
            sdca.start(*given)
            if dual is None
            else sdca.start_from(*given, problem.y, problem.lam, dual)
        )
        if dual is not None and ratio > 0.0:
            beta = self.state.w[: problem.p]
            self.state.scalars[sdca.ALPHA] = refitted(problem, beta)

    @property
    def visits_rows(self) -> bool:
        """Always: every epoch is a permutation."""
        return True

    def epoch(self, rows: Rows) -> None:
        """Visit the rows."""
        from pegasos_stats.kernels.sdca import sdca_epoch, sgd_epoch

        lam, state = self.problem.lam, self.state
        if self._begins_by_sgd:
            given: Any = self._rows, self._y, rows, lam, self._loss, self._ratio
            sgd_epoch(*given, state)
            self._begins_by_sgd = False
            return
        sdca_epoch(
            self._rows,
            self._y,
            rows,
            lam,
            state,
            loss=self._loss,
            ratio=self._ratio,
            fast=self._ratio > 0.0,
        )

    def certificate(self) -> Certificate:
        """Primal and dual objective at the coefficients and the dual weights."""
        beta = self.state.w[: self.problem.p]
        return certificate(self.problem, beta, 0.0, self.state.a)

    def reached(self) -> bool:
        """Whether the gap is within the tolerance."""
        return self._solver.reached(self.certificate())

    def solution(self, seed: int | None) -> Solution:
        """Return the last iterate."""
        from pegasos_stats.kernels.sdca import STEPS, VIOLATIONS

        return Solution(
            beta=self.state.w[: self.problem.p].copy(),
            alpha=0.0,
            dual=self.state.a.copy(),
            n_iter=int(self.state.scalars[STEPS]),
            n_violations=int(self.state.scalars[VIOLATIONS]),
            seed=seed,
        )


class Free:
    """Coordinate steps, then Newton steps, for an intercept without penalty.

    The penalty on the intercept of the coordinate steps is centred anew after every
    epoch, at ``alpha + ratio sum_i a_i y_i / (lam n)``. With more rows than columns
    there are few of these epochs. With more columns than rows, where a Newton step
    costs much more, they go on until `PATIENCE` of them have not halved the gap.
    """

    def __init__(self, problem: Problem, solver: SDCA, dual: Vector | None) -> None:
        self._problem, self._solver = problem, solver
        self._coordinates = Plain(problem, solver, dual, RATIO)
        self._epochs_before = COORDINATE_EPOCHS if dual is None else WARM_EPOCHS
        self._newton: ProximalNewton | None = None
        self._newton_steps = 0
        self._gaps: list[float] = []

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        if self._newton_steps > 0 or self._problem.n >= self._problem.p:
            return len(self._gaps) < self._epochs_before
        gaps = self._gaps
        return len(gaps) <= PATIENCE or gaps[-1] < 0.5 * gaps[-1 - PATIENCE]

    def epoch(self, rows: Rows) -> None:
        """Visit the rows, or take a Newton step if there are none."""
        if rows.size == 0:
            self._newton = self._newton or self._newton_method()
            self._newton.step()
            self._newton_steps += 1
            return
        from pegasos_stats.kernels.sdca import ALPHA

        self._coordinates.epoch(rows)
        state, problem = self._coordinates.state, self._problem
        centre = RATIO * float(state.a @ problem.y) / (problem.lam * problem.n)
        state.scalars[ALPHA] += centre
        self._gaps.append(math.inf)

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again if computed anew."""
        if self._newton is not None and not self._solver.reached(self._newton.gap):
            return False
        if self._newton is None and self._problem.n >= self._problem.p:
            return False
        at = self.certificate()
        if self._newton is None:
            self._gaps[-1] = at.gap
        return self._solver.reached(at)

    def certificate(self) -> Certificate:
        """Primal and dual objective of the best points, computed from the rows."""
        return certificate(self._problem, *self._best())

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and the best dual point."""
        from pegasos_stats.kernels.sdca import STEPS, VIOLATIONS

        scalars = self._coordinates.state.scalars
        beta, alpha, a = self._best()
        seen = 0 if self._newton is None else self._newton.violations
        return Solution(
            beta=beta,
            alpha=alpha,
            dual=feasible(a, self._problem.y, True, self._problem.weights),
            n_iter=int(scalars[STEPS]) + self._newton_steps,
            n_violations=int(scalars[VIOLATIONS]) + seen,
            seed=seed,
        )

    def _newton_method(self) -> ProximalNewton:
        """Newton steps from the present coordinates."""
        from pegasos_stats.kernels.sdca import ALPHA

        state, problem = self._coordinates.state, self._problem
        alpha = float(state.scalars[ALPHA])
        width = float(state.norm2.mean()) / (problem.lam * problem.n)
        return ProximalNewton(problem, state.w, alpha, state.a, width)

    def _best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``: the best ones of Newton's method, or the last."""
        from pegasos_stats.kernels.sdca import ALPHA

        if self._newton is not None:
            return self._newton.best()
        state, problem = self._coordinates.state, self._problem
        beta, alpha = state.w[: problem.p].copy(), float(state.scalars[ALPHA])
        if problem.weights is None:
            alpha = refitted(problem, beta)
        return beta, alpha, state.a.copy()
