"""Runs of Optimum and SDCA: epochs of one method, or of several, to the tolerance."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.parallel import one_thread
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers import intercept
from pegasos_stats.solvers.certificate import Certificate, certificate, feasible
from pegasos_stats.solvers.intercept import mean_loss, zero_model
from pegasos_stats.solvers.optimum import (
    Optimum,
    first_method,
    near_enough,
    next_method,
    warn_of,
)
from pegasos_stats.solvers.pegasos_run import (
    Moment,
    Observer,
    check_solver,
    with_progress,
)
from pegasos_stats.solvers.problem import MethodRun, Problem, Solution, Unit
from pegasos_stats.solvers.sdca import SDCA

if TYPE_CHECKING:
    from pegasos_stats.solvers.kernel_ascent import KernelAscent

NO_ROWS = np.zeros(0, dtype=np.int64)
THREADED = 1e10  # products, some seconds, of which threads of BLAS take a share
NEAR_ZERO = 10.0  # relative gaps: largest penalty of coefficients that may be noise


def drawn_epochs(solver: Optimum | SDCA, n: int, rng: RRandom) -> Iterator[Rows]:
    """Permutations of the rows, one for each epoch; a random stop shortens the last."""
    left = solver.epochs * n
    if isinstance(solver, SDCA) and solver.random_stop is not None:
        last = solver.random_stop * n
        left += int(rng.sample_int(last, 1)[0]) - last
    while left > 0:
        yield rng.permutation(n)[:left]
        left -= n


@np.errstate(all="ignore")
def run_epochs(
    run: Union["LinearRun", "KernelAscent"],
    n: int,
    solver: Optimum | SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    most: float = math.inf,
    shown: Callable[[Any], Any] = lambda solution: solution,
) -> tuple[Any, bool]:
    """Run up to the tolerance or the last epoch.

    Parameters
    ----------
    run : LinearRun or KernelAscent
    n : int
        Number of rows.
    solver : Optimum or SDCA
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
    rng, reached, seed = solver.generator(), False, None
    epochs: Iterable[int] = range(1, solver.epochs + 1)
    spent = 0.0
    total = None if solver.stops else solver.epochs
    permutations = drawn_epochs(solver, n, rng)
    for epoch in with_progress(epochs, total, "epoch") if progress else epochs:
        rows = NO_ROWS
        if run.visits_rows:
            rows, seed = next(permutations, NO_ROWS), rng.seed
            if not rows.size:  # after a random stop
                break
        began = time.thread_time() if observe else 0.0
        run.epoch(rows)
        if observe is not None:
            spent += time.thread_time() - began
            observe(Moment(epoch, shown(run.solution(seed)), spent))
        reached = solver.stops and run.reached()
        if reached or run.visits > most:
            break
    return shown(run.solution(seed)), reached


class LinearRun:
    """Epochs of a method, and of another that follows where the first takes long.

    Parameters
    ----------
    problem : Problem
    solver : Optimum or SDCA
    a : float64 array, shape (n,), optional
        Dual weights to begin with.
    """

    def __init__(
        self, problem: Problem, solver: Optimum | SDCA, a: Vector | None = None
    ) -> None:
        self._problem, self._solver = problem, solver
        self._method = first_method(problem, solver, a)
        self._steps, self._violations, self._visits = 0, 0, 0.0  # of methods before
        self._names: list[tuple[str, Unit]] = []  # of the method of each epoch
        self._best: tuple[Vector, float, Vector] | None = None
        self.certificate: Certificate | None = None  # of the last point, from the rows

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        return self._method.visits_rows

    @property
    def visits(self) -> float:
        """Rows visited so far, or whose visits would have cost as much."""
        return self._visits + self._method.visits

    def epoch(self, rows: Rows) -> None:
        """Do an epoch, of another method where the last one took long."""
        successor = next_method(self._problem, self._solver, self._method)
        if successor is not None:
            before, self._method = self._method, successor
            self._steps += before.steps
            self._violations += before.violations
            self._visits += before.visits
        method, self._best, self.certificate = self._method, None, None
        method.step(rows)
        self._names.append((method.name, method.unit))

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again from the rows."""
        at, tol = self._method.gap, self._solver.tol
        if isinstance(at, Certificate) or not self._solver.reached(at):
            return self._solver.reached(at)
        at = certificate(self._problem, *self.best(), tol, True, self._method.sums)
        self.certificate = at
        return self._solver.reached(at)

    def best(self) -> tuple[Vector, float, Vector]:
        """The best fit, and the best dual point made feasible; once an epoch."""
        if self._best is None:
            problem, (beta, alpha, a) = self._problem, self._method.best()
            a = feasible(a, problem.y, problem.intercept, problem.most_dual)
            self._best = beta, alpha, a
        return self._best

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and the best dual point."""
        steps = self._steps + self._method.steps
        violations = self._violations + self._method.violations
        methods = tuple(
            MethodRun(name, sum(1 for _ in epochs), unit)
            for (name, unit), epochs in groupby(self._names)
        )
        epochs = len(self._names)
        return Solution(*self.best(), steps, violations, seed, epochs, methods=methods)


def run_sdca(
    problem: Problem,
    solver: Optimum | SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
    most: float = math.inf,
) -> Solution:
    """Run `Optimum` or `SDCA` on a linear problem.

    The duality gap that ends the run is computed from the rows. With a free
    intercept columns whose mean is large relative to their spread are centred for the
    run, see `needed_centre`; the coefficients of constant ones are 0.

    Parameters
    ----------
    problem : Problem
    solver : Optimum or SDCA
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
        rows the last ones, at their best lengths. Of SDCA the last iterate, or the
        mean.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    check_solver(problem, solver)
    centre, values = intercept.needed_centre(problem), intercept.constants(problem)
    inner = problem if centre is None else intercept.centred(problem, centre)
    if solver.arithmetic == "fast":
        inner = inner.in_quick_form
    run = LinearRun(inner, solver, dual)
    solution: Solution

    def shown(solution: Solution) -> Solution:
        back = intercept.shifted_solution(solution, centre)
        beta, alpha = intercept.without_constants(back.beta, back.alpha, values)
        return replace(back, beta=beta, alpha=alpha)

    many = float(inner.n) * inner.n * inner.p  # products in the Gram matrix of the rows
    with nullcontext() if inner.n < inner.p and many > THREADED else one_thread():
        solution, reached = run_epochs(
            run, inner.n, solver, observe, progress, most, shown
        )
    if solver.arithmetic == "fast":  # the others are the bits of R
        last, solution = solution, zero_where_best(problem, solution, solver.tol)
        if inner is problem and values is None and solution is last:
            vars(solution)["certificate"] = run.certificate  # until a result takes it
    if not solver.stops or not warn or (reached and centre is None):
        return solution
    at = certificate(problem, solution.beta, solution.alpha, solution.dual)
    if not (solver.reached(at) or near_enough(at, solver)):
        warn_of(at, solver, "tol" if dual is None else "refine", is_close=reached)
    return solution


def solved_by_steps(
    problem: Problem, solver: Optimum | SDCA, dual: Vector | None = None
) -> Solution:
    """Solve a problem by steps over all its rows, and warn of nothing.

    Parameters
    ----------
    problem, solver, dual
        As for `run_sdca`.
    """
    centre = intercept.needed_centre(problem)
    inner = problem if centre is None else intercept.centred(problem, centre)
    solution, _ = run_epochs(LinearRun(inner, solver, dual), inner.n, solver)
    return intercept.shifted_solution(solution, centre)


def zero_where_best(problem: Problem, solution: Solution, tol: float) -> Solution:
    """The same, or coefficients of 0 if their objective is no larger.

    The hinge has such an optimum where a class is rare, predictors say little, or the
    penalty is strong: all rows of a class are beyond the margin. A solver comes near to
    it, ``lam/2 ||beta||^2 <= gap``, with coefficients that are its own noise, by which
    scores would be ordered. The intercept stays as it is if it is one of several that
    are best.

    Parameters
    ----------
    problem : Problem
    solution : Solution
    tol : float
        Relative gap that the solver was to reach.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [1.0], [1.0], [-1.0]]), np.array([-1.0, -1, 1, 1])
    >>> near = Solution(np.array([1e-9]), 0.3, np.ones(4), 1, 4, None)
    >>> best = zero_where_best(Problem(X, y, lam=1.0), near, 1e-6)
    >>> best.beta, best.alpha
    (array([0.]), 0.3)
    """
    penalty = 0.5 * problem.lam * float(solution.beta @ solution.beta)
    if problem.loss != "hinge" or not penalty <= NEAR_ZERO * tol:  # of at most 1
        return solution
    w, offset = problem.row_weights, problem.row_offsets
    sides = [side for side in (problem.y > 0.0, problem.y < 0.0) if w[side].any()]
    if all(solution.dual[side].sum() < 0.99 * w[side].sum() for side in sides):
        return solution
    null_intercept, _ = zero_model(problem)
    scores = problem.X @ solution.beta + offset
    at = mean_loss(problem, scores, solution.alpha) + penalty
    there, here = (
        mean_loss(problem, offset, alpha) for alpha in (null_intercept, solution.alpha)
    )
    if not there <= at + 1e-12 * at:
        return solution
    alpha = solution.alpha if here <= there else null_intercept
    return replace(solution, beta=np.zeros(problem.p), alpha=alpha)
