"""Run Optimum or SDCA: epochs of one or several methods, up to the tolerance."""

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
# Multiplications above which BLAS uses several threads; they take some seconds.
THREADED = 1e10
# If the penalty term is below this multiple of `tol`, coefficients may be noise.
NEAR_ZERO = 10.0


def drawn_epochs(solver: Optimum | SDCA, n: int, rng: RRandom) -> Iterator[Rows]:
    """Yield a permutation of the rows per epoch; a random stop shortens the last."""
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
    """Run epochs until the tolerance or the maximum number of epochs is reached.

    Parameters
    ----------
    run : LinearRun or KernelAscent
    n : int
        Number of rows.
    solver : Optimum or SDCA
    observe, progress, most
        As in `run_to_optimum`.
    shown : callable, optional
        Transforms solutions of the run before they are observed or returned.

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
    """Epochs of a method, and of its successors when it stalls.

    Parameters
    ----------
    problem : Problem
    solver : Optimum or SDCA
    a : float64 array, shape (n,), optional
        Initial dual weights.
    """

    def __init__(
        self, problem: Problem, solver: Optimum | SDCA, a: Vector | None = None
    ) -> None:
        self._problem, self._solver = problem, solver
        self._method = first_method(problem, solver, a)
        self._steps, self._violations, self._visits = 0, 0, 0.0  # of earlier methods
        self._names: list[tuple[str, Unit]] = []  # method of each epoch
        self._best: tuple[Vector, float, Vector] | None = None
        # Certificate of the last point, computed from the rows.
        self.certificate: Certificate | None = None

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch takes coordinate steps."""
        return self._method.visits_rows

    @property
    def visits(self) -> float:
        """Row visits so far, including other work in equivalent visits."""
        return self._visits + self._method.visits

    def epoch(self, rows: Rows) -> None:
        """Run an epoch, with the next method if the current one has stalled."""
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
        """Whether the gap is within the tolerance, confirmed from the rows."""
        at, tol = self._method.gap, self._solver.tol
        if isinstance(at, Certificate) or not self._solver.reached(at):
            return self._solver.reached(at)
        at = certificate(self._problem, *self.best(), tol, True, self._method.sums)
        self.certificate = at
        return self._solver.reached(at)

    def best(self) -> tuple[Vector, float, Vector]:
        """The best fit and the best feasible dual point, cached per epoch."""
        if self._best is None:
            problem, (beta, alpha, a) = self._problem, self._method.best()
            a = feasible(a, problem.y, problem.intercept, problem.dual_upper_bounds)
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


def run_to_optimum(
    problem: Problem,
    solver: Optimum | SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
    most: float = math.inf,
) -> Solution:
    """Run `Optimum` or `SDCA` on a linear problem.

    The duality gap that stops the run is computed from the rows. With a free intercept,
    columns whose mean is large relative to their spread are centred during the run, see
    `needed_centre`; coefficients of constant columns are 0.

    Parameters
    ----------
    problem : Problem
    solver : Optimum or SDCA
    observe : callable, optional
        Called with a `Moment` after every epoch.
    progress : bool
        Whether to show a progress bar of epochs.
    dual : float64 array, shape (n,), optional
        Initial dual weights, for example from another solution; clipped to the feasible
        range. With initial weights modified SGD is not used.
    warn : bool
        ``False`` if the caller checks the gap and warns once for many runs.
    most : float
        Number of row visits after which no new epoch starts; other steps count as
        visits of equal cost.

    Returns
    -------
    Solution
        For Optimum the best fit and the best dual point; with more columns than rows
        the last ones, optimally rescaled. For SDCA the last iterate, or the mean.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    check_solver(problem, solver)
    centre, values = intercept.needed_centre(problem), intercept.constants(problem)
    inner = problem if centre is None else intercept.centred(problem, centre)
    if solver.arithmetic == "fast":
        inner = inner.with_best_storage
    run = LinearRun(inner, solver, dual)
    solution: Solution

    def shown(solution: Solution) -> Solution:
        back = intercept.shifted_solution(solution, centre)
        beta, alpha = intercept.without_constants(back.beta, back.alpha, values)
        return replace(back, beta=beta, alpha=alpha)

    # Multiplications for the Gram matrix of the rows.
    many = float(inner.n) * inner.n * inner.p
    with nullcontext() if inner.n < inner.p and many > THREADED else one_thread():
        solution, reached = run_epochs(
            run, inner.n, solver, observe, progress, most, shown
        )
    if solver.arithmetic == "fast":  # otherwise bit for bit as in R
        last, solution = solution, zero_where_best(problem, solution, solver.tol)
        if inner is problem and values is None and solution is last:
            vars(solution)["certificate"] = run.certificate  # until a result uses it
    if not solver.stops or not warn or (reached and centre is None):
        return solution
    at = certificate(problem, solution.beta, solution.alpha, solution.dual)
    if not (solver.reached(at) or near_enough(at, solver)):
        warn_of(at, solver, "tol" if dual is None else "refine", is_close=reached)
    return solution


def solved_by_steps(
    problem: Problem, solver: Optimum | SDCA, dual: Vector | None = None
) -> Solution:
    """Solve a problem by steps over all its rows, without warnings.

    Parameters
    ----------
    problem, solver, dual
        As in `run_to_optimum`.
    """
    centre = intercept.needed_centre(problem)
    inner = problem if centre is None else intercept.centred(problem, centre)
    solution, _ = run_epochs(LinearRun(inner, solver, dual), inner.n, solver)
    return intercept.shifted_solution(solution, centre)


def zero_where_best(problem: Problem, solution: Solution, tol: float) -> Solution:
    """Replace the coefficients by 0 if this does not increase the objective.

    With the hinge the optimum has coefficients of 0 if a class is rare, the predictors
    are weak or the penalty is strong: all rows of a class violate the margin. A solver
    then returns coefficients that are numerical noise, ``lam/2 ||beta||^2 <= gap``, but
    would order the scores. The intercept does not change if it is optimal.

    Parameters
    ----------
    problem : Problem
    solution : Solution
    tol : float
        Tolerance of the solver, a relative gap.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [1.0], [1.0], [-1.0]]), np.array([-1.0, -1, 1, 1])
    >>> near = Solution(np.array([1e-9]), 0.3, np.ones(4), 1, 4, None)
    >>> best = zero_where_best(Problem(X, y, lam=1.0), near, 1e-6)
    >>> best.beta, best.alpha
    (array([0.]), 0.3)
    """
    penalty = 0.5 * problem.lam * float(solution.beta @ solution.beta)
    # Without an offset the minimum is at most 1, so `tol` also bounds the absolute gap.
    if problem.loss != "hinge" or not penalty <= NEAR_ZERO * tol:
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
