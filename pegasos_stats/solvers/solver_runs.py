"""The run of a solver, of Pegasos with SDCA after it, and how far a fit falls short.

The dual point of a run of Pegasos gives a valid but perhaps useless bound, such as a
minimum not below 0. From that point SDCA continues for as many visits of rows as the
fit took, or for `WORK` multiplications if these are more: `shortfall_of`. Its dual
point gives a better lower bound on the minimum, its primal objective an upper bound.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_positive
from pegasos_stats.errors import DataError, OptionError, shown
from pegasos_stats.solvers.centring import (
    centred,
    constants,
    needed_centre,
    shifted_solution,
    without_constants,
)
from pegasos_stats.solvers.kernel_ascent import KernelAscent, run_kernel_sdca
from pegasos_stats.solvers.kernel_problem import (
    KernelProblem,
    KernelSolution,
    multiples,
)
from pegasos_stats.solvers.kernel_run import run_kernel_pegasos
from pegasos_stats.solvers.newton.threads import one_thread
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    certificate,
    mean_loss,
)
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import (
    Moment,
    Observer,
    check_solver,
    run_pegasos,
)
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import DEFAULT_TOL, SDCA, near_enough, warn_of
from pegasos_stats.solvers.sdca_run import LinearRun, run_epochs
from pegasos_stats.solvers.solutions import scores_of

WORK = 1e8  # multiplications, about a tenth of a second


@dataclass(frozen=True)
class OptimalityBounds:
    """How far the objective of a fit is above its minimum: between two numbers.

    Attributes
    ----------
    at_least, at_most : float
        Of ``P(beta, alpha) - min P``. The first is 0 where no better fit is known, the
        second infinite where nothing is.
    lower, upper : float
        Between which ``min P`` is: a certified bound, and the objective of the best fit
        that is known.
    changed : int
        Training rows that the best fit known predicts otherwise.
    errors : int
        Training rows that the best fit known predicts wrongly.
    reached : bool
        Whether the best fit known is at the minimum, to a relative gap of 1e-6.
    """

    at_least: float
    at_most: float
    lower: float
    upper: float
    changed: int = 0
    errors: int = 0
    reached: bool = False

    @classmethod
    def certified(cls, at: Certificate) -> "OptimalityBounds":
        """What a certificate alone says."""
        reached = at.relative_gap <= DEFAULT_TOL
        return cls(
            0.0,
            at.gap,
            at.dual_objective,
            at.objective,
            errors=at.errors,
            reached=reached,
        )


def work_of(problem: Problem, solver: Pegasos | SDCA, found: Solution) -> float:
    """Visits of rows that may be spent on judging a fit.

    Examples
    --------
    >>> problem = Problem(np.ones((4, 50)), np.array([-1.0, 1.0, 1.0, -1.0]), lam=1.0)
    >>> found = Solution(np.zeros(50), 0.0, np.zeros(4), 3_000_000, 0, None)
    >>> work_of(problem, Pegasos(seed=1), found)
    3000000.0
    """
    rows = solver.passes.batch(problem.n) if isinstance(solver, Pegasos) else 1
    entries = float(getattr(problem.X, "nnz", problem.X.size)) / problem.n
    return max(float(found.n_iter) * rows, WORK / max(1.0, entries))


def closer_fit(
    problem: Problem, solver: Pegasos | SDCA, found: Solution
) -> tuple[Solution, Certificate]:
    """Go on from a fit to the relative gap of SDCA, within `work_of` it.

    If that is reached, this is what ``fit(solver, refine=1e-6)`` gives.
    """
    then = SDCA(REFINEMENT_EPOCHS, sample_kind=solver.sample_kind)
    then = then.with_seed(found.seed)
    work = work_of(problem, solver, found)
    try:
        closer = run_linear(problem, then, dual=found.dual, warn=False, most=work)
    except DataError:  # coefficients overflow on the way
        closer = found
    return closer, certificate(problem, closer.beta, closer.alpha, closer.dual)


def shortfall_of(
    problem: Problem, solver: Pegasos | SDCA, found: Solution, at: Certificate
) -> OptimalityBounds:
    """How far a fit is from the minimum.

    Parameters
    ----------
    problem : Problem
    solver : Pegasos or SDCA
        Of the fit.
    found : Solution
    at : Certificate
        That of the fit; if it is to a relative gap of 1e-6, there is no more to do.

    Examples
    --------
    >>> X, y = np.array([[1.0], [-2.0]]), np.array([1.0, -1.0])
    >>> problem = Problem(X, y, lam=0.5)
    >>> found = Solution(np.array([2.0]), 0.0, np.zeros(2), 2, 2, None)
    >>> at = certificate(problem, found.beta, found.alpha, found.dual)
    >>> known = shortfall_of(problem, Pegasos(seed=1), found, at)
    >>> at.gap, round(known.at_least, 6), round(known.at_most, 6)
    (1.0, 0.888889, 0.888889)
    """
    plain = OptimalityBounds.certified(at)
    if plain.reached:
        return plain
    closer, there = closer_fit(problem, solver, found)
    tight = certificate(problem, found.beta, found.alpha, closer.dual)
    if tight.gap < plain.at_most:
        plain = replace(OptimalityBounds.certified(tight), reached=False)
    upper = there.objective
    if not upper < plain.upper:
        return plain
    signs = [
        np.sign(scores_of(problem, fit, problem.X, problem.offset))
        for fit in (found, closer)
    ]
    return replace(
        plain,
        at_least=min(plain.upper - upper, plain.at_most),
        upper=upper,
        changed=int(np.count_nonzero(signs[0] != signs[1])),
        errors=there.errors,
        reached=there.relative_gap <= DEFAULT_TOL,
    )


NEARLY = 0.99  # of the weight of a class

ROUNDING = 1e-12  # of an objective, a sum over the rows

NEAR = 10.0  # times the relative gap, which the penalty of such coefficients is below

REFINEMENT_EPOCHS = 1000

AnySolution = TypeVar("AnySolution", Solution, KernelSolution)


def zero_where_best(problem: Problem, found: Solution, tol: float) -> Solution:
    """The same, or coefficients of 0 if their objective is no larger.

    The hinge has such an optimum where a class is rare, predictors say little, or the
    penalty is strong. A solver comes near to it, ``lam/2 ||beta||^2 <= gap``, with
    coefficients that are its own noise, by which scores would be ordered. The intercept
    stays as it is if it is one of several that are best.

    Parameters
    ----------
    problem : Problem
    found : Solution
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
    penalty = 0.5 * problem.lam * float(found.beta @ found.beta)
    if problem.loss != "hinge" or not penalty <= NEAR * tol:  # of at most 1
        return found
    if not _lighter_is_wrong(problem, found):
        return found
    zero, alone, known = np.zeros(problem.p), _alone(problem), problem.row_offsets
    at = mean_loss(problem, problem.X @ found.beta + known, found.alpha) + penalty
    there, here = (mean_loss(problem, known, alpha) for alpha in (alone, found.alpha))
    if not there <= at + ROUNDING * at:
        return found
    return replace(found, beta=zero, alpha=found.alpha if here <= there else alone)


def _lighter_is_wrong(problem: Problem, found: Solution) -> bool:
    """Whether all rows of a class are beyond the margin, as one is where beta is 0."""
    w, positive = problem.row_weights, problem.y > 0.0
    sides = [rows for rows in (positive, ~positive) if w[rows].any()]
    return any(found.dual[rows].sum() >= NEARLY * w[rows].sum() for rows in sides)


def _alone(problem: Problem) -> float:
    """The best intercept without predictors."""
    if not problem.intercept:
        return 0.0
    return best_intercept(problem.row_offsets, problem.y, "hinge", problem.weights)


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
    run, see `needed_centre`; the coefficients of constant ones are 0.

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
    centre = needed_centre(problem)
    inner = problem if centre is None else centred(problem, centre)
    if solver.sums == "fast":
        inner = inner.in_quick_form
    run = LinearRun(inner, solver, dual)
    found: Solution
    values = constants(problem)

    def shown(solution: Solution) -> Solution:
        back = shifted_solution(solution, centre)
        beta, alpha = without_constants(back.beta, back.alpha, values)
        return replace(back, beta=beta, alpha=alpha)

    with nullcontext() if inner.n < inner.p else one_thread():
        found, reached = run_epochs(
            run, inner.n, solver, observe, progress, most, shown
        )
    if solver.sums == "fast":  # the others are the bits of R
        found = zero_where_best(problem, found, solver.tol)
    if not solver.stops or not warn or (reached and centre is None):
        return found
    at = certificate(problem, found.beta, found.alpha, found.dual)
    if not (solver.reached(at) or near_enough(at, solver)):
        warn_of(at, solver, reached, "tol" if dual is None else "refine")
    return found


def checked_refinement(tol: float | None, solver: Pegasos | SDCA) -> SDCA | None:
    """SDCA to a relative gap, with the seed of the solver it goes on from.

    Raises
    ------
    OptionError
        If the tolerance is not between 0 and 1, or the solver is SDCA already.
    """
    if tol is None:
        return None
    given, tol = tol, check_positive("refine", tol)
    if tol >= 1.0:
        raise OptionError(
            "is not allowed: every fit is within it; give a relative gap below 1.",
            "refine",
            tol,
        )
    if solver.to_optimum:
        raise OptionError(
            f"refine={shown(given)} goes on from Pegasos; give "
            f"SDCA(tol={shown(given)}) instead."
        )
    then = SDCA(
        REFINEMENT_EPOCHS, tol, sample_kind=solver.sample_kind, ties=solver.ties
    )
    return then.with_seed(solver.seed)


def run_linear(
    problem: Problem,
    solver: Pegasos | SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
    most: float = math.inf,
) -> Solution:
    """Run a solver on a linear problem.

    Either warns of a tolerance that it has not reached unless told otherwise. SDCA
    begins with the dual weights, if some are given, and ends after so many visits of
    rows at most; see `run_sdca`.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the certificate tells
        if isinstance(solver, SDCA):
            return run_sdca(problem, solver, observe, progress, dual, warn, most)
        return run_pegasos(problem, solver, observe, progress, warn)


def run_then_refine(
    problem: Problem,
    solver: Pegasos | SDCA,
    refinement: SDCA | None = None,
    observe: Observer | None = None,
    progress: bool = False,
) -> Solution:
    """Run a solver, and SDCA from its dual point if there is a refinement.

    Steps, violations and epochs are counted through; the seed is that of the solver.

    Warns
    -----
    ConvergenceWarning
        If SDCA does not reach its tolerance.
    """
    if refinement is None:
        return run_linear(problem, solver, observe, progress)

    def begin(watch: Observer | None) -> Solution:
        return run_linear(problem, solver, watch, progress, warn=False)

    def go_on(first: Solution, watch: Observer | None) -> Solution:
        then = refinement if first.seed is None else refinement.with_seed(first.seed)
        return run_linear(problem, then, watch, progress, first.dual)

    return in_two_runs(begin, go_on, observe)


def run_kernel(
    problem: KernelProblem,
    solver: Pegasos | SDCA,
    refinement: SDCA | None = None,
    observe: Observer | None = None,
    progress: bool = False,
) -> KernelSolution:
    """Run a solver on a kernel problem, and SDCA after it, as `run_then_refine`."""
    if isinstance(solver, SDCA):
        return run_kernel_sdca(problem, solver, observe, progress)
    if refinement is None:
        return run_kernel_pegasos(problem, solver, observe, progress)

    def begin(watch: Observer | None) -> KernelSolution:
        return run_kernel_pegasos(problem, solver, watch, progress)

    def go_on(first: KernelSolution, watch: Observer | None) -> KernelSolution:
        then = refinement if first.seed is None else refinement.with_seed(first.seed)
        c, T = multiples(problem, first)
        return run_kernel_sdca(problem, then, watch, progress, c * (problem.n / T))

    return in_two_runs(begin, go_on, observe)


def in_two_runs(
    begin: Callable[[Observer | None], AnySolution],
    go_on: Callable[[AnySolution, Observer | None], AnySolution],
    observe: Observer | None,
) -> AnySolution:
    """Two runs, the second from where the first ended, observed and counted as one."""
    last: list[Moment] = []

    def first_moment(moment: Moment) -> None:
        last[:] = [moment]
        if observe is not None:
            observe(moment)

    first = begin(first_moment)

    def later_moment(moment: Moment) -> None:
        if observe is not None:
            observe(
                Moment(
                    last[0].epoch + moment.epoch,
                    _counted_through(first, moment.solution),
                    last[0].cpu_seconds + moment.cpu_seconds,
                )
            )

    return _counted_through(first, go_on(first, later_moment if observe else None))


def kernel_path(
    problem: KernelProblem, solver: Pegasos | SDCA, lambdas: Vector
) -> list[KernelSolution]:
    """Solve for each lambda, largest first; SDCA goes on from where it is.

    It keeps its rows of the Gram matrix, which do not depend on lambda. Warns of
    nothing.
    """
    if isinstance(solver, Pegasos):
        each = (replace(problem, lam=float(lam)) for lam in lambdas)
        return [run_kernel_pegasos(at, solver) for at in each]
    ascent = KernelAscent(replace(problem, lam=float(lambdas[0])), solver)
    found: list[KernelSolution] = []
    for lam in lambdas:
        if found:
            ascent.move_to(float(lam))
        found.append(run_epochs(ascent, problem.n, solver)[0])
    return found


def _counted_through(first: AnySolution, then: AnySolution) -> AnySolution:
    return replace(
        then,
        n_iter=first.n_iter + then.n_iter,
        n_violations=first.n_violations + then.n_violations,
        seed=then.seed if first.seed is None else first.seed,
        n_epochs=first.n_epochs,
    )
