"""The run of SDCA: draws rows, calls kernels, checks the gap, makes the solution."""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.advice import Setting, Together
from pegasos_stats.compiled import dual
from pegasos_stats.errors import DataError
from pegasos_stats.solvers.active_set import ActiveSet, exactly
from pegasos_stats.solvers.centring import centred, far_centre, moved, on_one_scale
from pegasos_stats.solvers.descending import Descending
from pegasos_stats.solvers.objective import Certificate, certificate
from pegasos_stats.solvers.pegasos_run import (
    Moment,
    Observer,
    check_solver,
    clock_for,
    refitted,
    with_progress,
)
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.proximal import ProximalNewton
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_advice import (
    call_of,
    longer_runs,
    near_enough,
    warn_of,
)
from pegasos_stats.solvers.sdca_coordinates import Plain, settled, solution_of
from pegasos_stats.solvers.wide import Wide

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

COORDINATE_EPOCHS = 2  # before the Newton steps
WARM_EPOCHS = 1  # the same where dual weights to begin with are given
WORK = 1e8  # multiplications of a trial, about a tenth of a second
NO_ROWS = np.zeros(0, dtype=np.int64)
RATIO = 1.0  # square of the constant column that stands for the intercept until then
ROUNDED = 1e-15  # gap that may be rounding: weights have the mean 1, a risk is below 1


def run_sdca(
    problem: Problem,
    solver: SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
    most: float = math.inf,
) -> Solution:
    """Run SDCA on a linear problem.

    The duality gap that ends the run is computed from the rows anew. With a free
    intercept columns that are far from zero beside their spread are centred for the
    run, see `far_centre`.

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
    most : float
        Visits of rows after which no epoch is begun, the steps of other kinds counted
        as visits that cost as much.

    Returns
    -------
    Solution
        The best fit and the best dual point of the Newton steps; with more columns than
        rows the last ones, at their best lengths. Of SDCA-perm the last iterate.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    check_solver(problem, solver)
    centre = far_centre(problem)
    inner = problem if centre is None else centred(problem, centre)
    run: Run = run_of(inner, solver, dual)(inner, solver, dual)
    found: Solution
    given = run, inner.n, solver, observe, progress, most
    found, reached = run_epochs(*given, lambda solution: moved(solution, centre))
    if not solver.stops or not warn or (reached and centre is None):
        return found
    at = certificate(problem, found.beta, found.alpha, found.dual)
    if not (solver.reached(at) or near_enough(at, solver)):
        taken_as, enough = ("tol" if dual is None else "refine"), None
        drawn = solver.with_seed(found.seed)
        if not reached and dual is None and solver.tol > 0.0:
            enough = that_reaches(problem, drawn, solver.tol)
        scaled = None if reached or enough else on_one_scale(problem)
        if scaled and reaches(scaled, drawn):
            enough = (Setting("standardize", True),)
        warn_of(at, solver, reached, taken_as, enough)
    return found


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
    epochs: Any = range(1, solver.epochs + 1)
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


def run_of(problem: Problem, solver: SDCA, a: Vector | None) -> Any:
    """Return the class of the run: SDCA-perm; few columns, or very few; many.

    Pairs and lengths, for many columns, know no offset.
    """
    if solver.algorithm == "perm":
        return Plain
    if Descending.serves(problem, solver, a):
        return Descending
    is_narrow = problem.n >= problem.p or problem.offset is not None
    return Narrow if is_narrow else Wide


def that_reaches(problem: Problem, solver: SDCA, tol: float) -> Together | None:
    """Settings of SDCA that reach a tolerance, tried for `WORK` at most each.

    More epochs are tried, with all else as the solver has it; for SDCA-perm, which may
    take thousands, Newton steps after that.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
        What has been run, with its seed.
    tol : float

    Examples
    --------
    >>> X, y = np.array([[1.0], [-2.0], [0.5]]), np.array([1.0, -1.0, -1.0])
    >>> found = that_reaches(Problem(X, y, lam=0.1), SDCA(seed=1, start="sgd"), 1e-8)
    >>> [each.named for each in found]
    ["start='sgd'", 'tol=1e-08']
    """
    for trial in longer_runs(solver, tol):
        if reaches(problem, trial):
            return call_of(trial, solver)
    return None


def reaches(problem: Problem, solver: SDCA) -> bool:
    """Whether a run reaches its tolerance, with `WORK` at most."""
    entries = float(getattr(problem.X, "nnz", problem.X.size)) / problem.n
    try:
        found = run_sdca(problem, solver, warn=False, most=WORK / max(1.0, entries))
    except DataError:  # coefficients that overflow
        return False
    return solver.reached(certificate(problem, found.beta, found.alpha, found.dual))


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


class Narrow:
    """Coordinate steps, then Newton steps, where there are no more columns than rows.

    The penalty on a free intercept in the coordinate steps is centred anew after every
    epoch. There are few of these epochs.
    """

    def __init__(self, problem: Problem, solver: SDCA, dual: Vector | None) -> None:
        self._problem, self._solver = problem, solver
        self._coordinates = Plain(problem, solver, dual, RATIO)
        self._epochs_before = COORDINATE_EPOCHS if dual is None else WARM_EPOCHS
        self._newton: ProximalNewton | ActiveSet | None = None
        self._settled: float | None = None
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
            newton = self._newton or self._coordinates.newton_method()
            self._newton = exactly(self._problem, newton, self._newton_steps)
            self._newton_visits += self._newton.cost
            self._newton.step()
            self._newton_steps += 1
            return
        self._coordinates.epoch(rows)
        self._coordinates.centre_anew()
        self._epochs += 1

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again if computed anew."""
        if self._newton is None:
            return False
        found = self._newton.gap
        if not (self._solver.reached(found) or found.gap <= ROUNDED):
            return False
        self._settled, at = settled(self._problem, self._solver, *self._best())
        return self._solver.reached(at)

    def certificate(self) -> Certificate:
        """Primal and dual objective of the best points, computed from the rows."""
        return certificate(self._problem, *self._best())

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and the best dual point."""
        seen = 0 if self._newton is None else self._newton.violations
        further = self._newton_steps, seen
        return solution_of(self._coordinates, *self._best(), *further, seed)

    def _best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``: the best ones of Newton's method, or the last."""
        if self._newton is not None:
            beta, alpha, a = self._newton.best()
            return beta, alpha if self._settled is None else self._settled, a
        state, problem = self._coordinates.state, self._problem
        beta, alpha = state.w[: problem.p].copy(), float(state.scalars[dual.sdca.ALPHA])
        if problem.intercept and problem.weights is None:
            alpha = refitted(problem, beta)
        return beta, alpha, state.a.copy()
