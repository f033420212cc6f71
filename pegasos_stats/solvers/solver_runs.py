"""Entry points: run a solver, certify a solution, compute scores, bound the shortfall.

The dual point of Pegasos gives a valid lower bound on the minimum, but often a useless
one, such as 0. `shortfall_of` therefore continues with `Optimum` from that point, for
as many row visits as the fit took or for `WORK` multiplications, whichever is more. Its
dual point gives a better lower bound, and its objective an upper bound.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Predictors, Vector
from pegasos_stats.checks import check_positive
from pegasos_stats.data.scan.source import RowSource
from pegasos_stats.errors import (
    ConvergenceWarning,
    DataError,
    OptionError,
    shown,
    warn_caller,
)
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers import kernel_ascent, kernel_problem
from pegasos_stats.solvers.certificate import Certificate, certificate
from pegasos_stats.solvers.firth import firth_solution, uncertified
from pegasos_stats.solvers.kernel_problem import KernelProblem, KernelSolution
from pegasos_stats.solvers.maximum_likelihood import (
    MaximumLikelihood,
    likelihood_certificate,
    maximum_likelihood,
    no_maximum,
)
from pegasos_stats.solvers.optimum import AnySolver, Optimum, near_enough, warn_of
from pegasos_stats.solvers.optimum_run import run_epochs, run_to_optimum
from pegasos_stats.solvers.options import DEFAULT_EPOCHS, DEFAULT_TOL, checked_tol
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import (
    Moment,
    Observer,
    check_solver,
    run_pegasos,
    with_progress,
)
from pegasos_stats.solvers.problem import Problem, Solution, joined
from pegasos_stats.solvers.smooth_newton import SmoothSteps
from pegasos_stats.solvers.streamed.few_reads import StreamedFit, few_reads
from pegasos_stats.solvers.streamed.steps import run_over_files
from pegasos_stats.solvers.sums import kernel_rows, scores_in_order

WORK = 1e8  # multiplications, about a tenth of a second
REFINEMENT_EPOCHS = 10 * DEFAULT_EPOCHS

AnySolution = Solution | KernelSolution


def certificate_of(
    problem: Problem, solution: AnySolution, enough: float = 0.0
) -> Certificate:
    """Primal and dual objective of a solution, and the gap between them.

    Rounding error need only be small relative to the gap `enough`; see `certificate`.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), lam=1.0)
    >>> solution = Solution(np.array([0.5]), 0.0, np.array([0.0, 1.0]), 1, 2, None)
    >>> certificate_of(problem, solution).objective
    0.375
    """
    if isinstance(solution, Solution):
        if problem.has_firth:
            return uncertified(problem, solution.beta, solution.alpha)
        if not problem.lam:
            return likelihood_certificate(
                problem, solution.beta, solution.alpha, solution.dual
            )
        return certificate(
            problem, solution.beta, solution.alpha, solution.dual, enough
        )
    assert isinstance(problem, KernelProblem)
    return kernel_problem.kernel_certificate(problem, solution)


def scores_of(
    problem: Problem, solution: AnySolution, X: np.ndarray, offset: Vector | None
) -> Vector:
    """Scores of the rows of `X`, shape (q,), by a solution of `problem`.

    Parameters
    ----------
    problem : Problem
    solution : Solution or KernelSolution
    X : array or scipy CSR array, shape (q, p)
        For a precomputed kernel, its values with the training rows, shape (q, n).
    offset : float64 array, shape (q,), or None
        Fixed part of each score; None if the problem has no offset.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), lam=1.0)
    >>> solution = Solution(np.array([0.5]), 0.0, np.array([0.0, 1.0]), 1, 2, None)
    >>> scores_of(problem, solution, np.array([[3.0]]), None)
    array([1.5])
    """
    assert (offset is None) == (problem.offset is None)
    if isinstance(solution, KernelSolution):
        assert isinstance(problem, KernelProblem)
        return kernel_problem.scores_of_kernel(problem, solution, X)
    scores = linear_scores(X, solution.beta, solution.alpha)
    return scores if offset is None else scores + offset


def linear_scores(X: Predictors, beta: Vector, alpha: float) -> Vector:
    """Compute ``x_i'beta + alpha``, bitwise independent of the other rows."""
    if isinstance(X, np.ndarray):
        return scores_in_order(X, beta, alpha)
    scores: Vector = compiled.risk.scores(kernel_rows(X), beta, alpha)
    return scores


@dataclass(frozen=True)
class OptimalityBounds:
    """Bounds on the distance of an objective from its minimum.

    Attributes
    ----------
    at_least, at_most : float
        Bounds on ``P(beta, alpha) - min P``. The first is 0 if no better fit was
        computed, the second infinite if there is no certificate.
    lower, upper : float
        Bounds on ``min P``: a certified lower bound, and the objective of the best fit
        computed.
    changed : int
        Number of training rows that the best fit assigns to another class than the fit.
    errors : int
        Number of training rows that the best fit misclassifies.
    reached : bool
        Whether the best fit has a relative gap of at most 1e-6.
    """

    at_least: float
    at_most: float
    lower: float
    upper: float
    changed: int = 0
    errors: int = 0
    reached: bool = False

    _field_rules = (
        "at_least distance, lower distance, changed nonnegative, errors nonnegative"
    )

    @classmethod
    def certified(cls, at: Certificate) -> "OptimalityBounds":
        """Bounds from a certificate alone."""
        return cls(
            0.0,
            at.gap,
            at.dual_objective,
            at.objective,
            errors=at.errors,
            reached=at.relative_gap <= DEFAULT_TOL,
        )

    def _conditions(self) -> Iterator[object]:
        """Check that the bounds are ordered."""
        yield self.at_least <= self.at_most


def shortfall_of(
    problem: Problem, solver: AnySolver, solution: Solution, at: Certificate
) -> OptimalityBounds:
    """Bound how far the objective of a fit is above the minimum.

    Parameters
    ----------
    problem : Problem
    solver : Optimum, Pegasos or SDCA
        Solver of the fit.
    solution : Solution
    at : Certificate
        Certificate of the fit; with a relative gap of 1e-6 or less its bounds suffice.

    Examples
    --------
    >>> X, y = np.array([[1.0], [-2.0]]), np.array([1.0, -1.0])
    >>> problem = Problem(X, y, lam=0.5)
    >>> solution = Solution(np.array([2.0]), 0.0, np.zeros(2), 2, 2, None)
    >>> at = certificate(problem, solution.beta, solution.alpha, solution.dual)
    >>> bounds = shortfall_of(problem, Pegasos(seed=1), solution, at)
    >>> at.gap, round(bounds.at_least, 6), round(bounds.at_most, 6)
    (1.0, 0.888889, 0.888889)
    """
    plain = OptimalityBounds.certified(at)
    if problem.has_firth:
        return replace(plain, at_most=math.inf)
    if plain.reached:
        return plain
    batch = solver.passes.batch(problem.n) if isinstance(solver, Pegasos) else 1
    entries = float(getattr(problem.X, "nnz", problem.X.size)) / problem.n
    work = max(float(solution.n_iter) * batch, WORK / max(1.0, entries))
    then = Optimum(epochs=REFINEMENT_EPOCHS, sample_kind=solver.sample_kind)
    try:
        closer = run_linear(
            problem,
            then.with_seed(solution.seed),
            None,
            False,
            solution.dual,
            False,
            work,
        )
    except DataError:  # the coefficients overflow
        closer = solution
    there = certificate(problem, closer.beta, closer.alpha, closer.dual)
    tight = certificate(problem, solution.beta, solution.alpha, closer.dual)
    if tight.gap < plain.at_most:
        plain = replace(OptimalityBounds.certified(tight), reached=False)
    upper = there.objective
    if not upper < plain.upper:
        return plain
    before, after = (
        np.sign(scores_of(problem, fit, problem.X, problem.offset))
        for fit in (solution, closer)
    )
    return replace(
        plain,
        at_least=min(plain.upper - upper, plain.at_most),
        upper=upper,
        changed=int(np.count_nonzero(before != after)),
        errors=there.errors,
        reached=there.relative_gap <= DEFAULT_TOL,
    )


def checked_refinement(tol: float | None, solver: AnySolver) -> Optimum | None:
    """Return `Optimum` with a tolerance and the first solver's seed; None without one.

    Raises
    ------
    OptionError
        If the tolerance is not between 0 and 1, or the solver is not Pegasos.
    """
    if tol is None:
        return None
    tol = checked_tol("refine", check_positive("refine", tol))
    if solver.to_optimum:
        raise OptionError(
            f"refine={shown(tol)} continues a run of Pegasos; give "
            f"{solver.name}(tol={shown(tol)}) instead."
        )
    kind, ties = solver.sample_kind, solver.ties
    then = Optimum(tol, epochs=REFINEMENT_EPOCHS, sample_kind=kind, ties=ties)
    return then.with_seed(solver.seed)


def run_linear(
    problem: Problem,
    solver: AnySolver,
    observe: Observer | None = None,
    progress: bool = False,
    dual: Vector | None = None,
    warn: bool = True,
    most: float = math.inf,
) -> Solution:
    """Run a solver on a linear problem.

    Warns if the tolerance is not reached, unless `warn` is false. `dual` is a warm
    start of Optimum and SDCA, and `most` bounds their number of row visits; see
    `run_to_optimum`.
    """
    if not problem.lam:
        return run_without_lambda(problem, solver, observe, warn)
    with np.errstate(over="ignore", invalid="ignore"):  # checked by the certificate
        if not isinstance(solver, Pegasos):
            return run_to_optimum(problem, solver, observe, progress, dual, warn, most)
        solution: Solution = run_pegasos(problem, solver, observe, progress, warn)
    return solution


def run_without_lambda(
    problem: Problem, solver: AnySolver, observe: Observer | None, warn: bool
) -> Solution:
    """Maximise the likelihood, perhaps with Firth's penalty.

    Raises
    ------
    DataError
        If the likelihood has no maximum.

    Warns
    -----
    ConvergenceWarning
        If the last step of Firth's estimates exceeds 1e-9 standard errors.
    """
    check_solver(problem, solver)
    began = time.thread_time()

    def tell(iteration: int, solution: Solution) -> None:
        if observe is not None:
            observe(Moment(iteration, solution, time.thread_time() - began))

    if not problem.has_firth:
        fit = maximum_likelihood(problem, observe=tell if observe else None)
        if fit.solution is None:
            raise no_maximum(fit.reason, problem)
        return fit.solution
    solution = firth_solution(problem)
    tell(solution.n_epochs or 0, solution)
    if warn and not solution.settled:
        warn_caller(
            "Firth's estimates have not converged: predictors are nearly collinear, or "
            "have very large values. Use fewer predictors, or transform them.",
            ConvergenceWarning,
        )
    return solution


class SolverRun(NamedTuple):
    """A solution, with its certificate and table if the rows were streamed."""

    solution: Any
    passes: StreamedFit | None = None


def check_access(source: RowSource, solver: AnySolver) -> None:
    """Raise `OptionError` if the solver cannot visit the rows in the order it needs."""
    in_order = source.is_ordered and isinstance(solver, Pegasos)
    if source.is_streamed and not (in_order or isinstance(solver, Optimum)):
        raise OptionError(
            f"{solver.name} cannot be used with {source.title}; give ps.Optimum()."
        )


def run_solver(
    problem: Problem,
    solver: AnySolver,
    refinement: Optimum | None = None,
    observe: Observer | None = None,
    progress: bool = False,
    likelihood: MaximumLikelihood | None = None,
) -> SolverRun:
    """Run a solver, or return a maximum likelihood estimate that is already computed.

    With an observer, the solver runs in any case.

    Warns
    -----
    ConvergenceWarning
        If a tolerance is not reached.
    """
    streamed = problem.source.is_streamed
    if likelihood is not None and likelihood.solution is not None and observe is None:
        return SolverRun(likelihood.solution, likelihood.streamed if streamed else None)
    if not streamed:
        solution = run_then_refine(problem, solver, refinement, observe, progress)
        return SolverRun(solution)
    check_access(problem.source, solver)
    passes = run_passes(problem, solver, progress)
    if likelihood is not None:  # without an estimate
        passes = replace(passes, n_reads=passes.n_reads + likelihood.n_passes)
    return SolverRun(passes.solution, passes)


def run_passes(problem: Problem, solver: AnySolver, progress: bool) -> StreamedFit:
    """Run a solver in passes over streamed rows.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    X = problem.X
    if isinstance(solver, Pegasos):
        epochs = partial(with_progress, total=solver.epochs, unit="epoch")
        passes = run_over_files(problem, solver, epochs if progress else iter)
    else:
        assert isinstance(solver, Optimum)  # see `check_access`
        passes = few_reads(problem, solver, progress_bar() if progress else None)
        at, solution = passes.certificate, passes.solution
        if solver.stops and not (passes.reached or near_enough(at, solver)):
            # If the active rows do not fit in memory, the solver may not converge.
            lacks_room = problem.loss == "hinge" and X.max_retained_rows < problem.n
            more = f"; more memory may help: {X.scan.more}" * lacks_room
            warn_of(at, solver, "tol", epochs=solution.n_epochs, hint=more)
    X.check_unchanged()
    return passes


def progress_bar() -> Callable[[int, Certificate], None]:
    """Show the number of passes and the relative gap in a progress bar of tqdm."""
    from tqdm import tqdm

    bar = tqdm(total=None, unit="pass")

    def show(number: int, at: Certificate) -> None:
        bar.set_postfix_str(f"relative gap {at.relative_gap:.1e}", refresh=False)
        bar.update(1)

    return show


def run_then_refine(
    problem: Problem,
    solver: AnySolver,
    refinement: Optimum | None = None,
    observe: Observer | None = None,
    progress: bool = False,
) -> Any:
    """Run a solver, then the refinement from its dual point if there is one.

    Steps, violations and epochs are summed over both runs.

    Warns
    -----
    ConvergenceWarning
        If a tolerance is not reached.
    """

    def run(
        how: AnySolver,
        watch: Observer | None,
        a: Vector | None = None,
        warn: bool = True,
    ) -> AnySolution:
        watch = watch if observe else None
        if not isinstance(problem, KernelProblem):
            return run_linear(problem, how, watch, progress, a, warn)
        of_kernel = kernel_ascent.checked_kernel_solver(problem, how)
        if isinstance(of_kernel, Pegasos):
            kind = kernel_ascent.KernelVisitor
            solution: KernelSolution = run_pegasos(
                problem, of_kernel, watch, progress, kind=kind
            )
            return solution
        return kernel_ascent.run_working_sets(problem, of_kernel, watch, progress, a)

    tell: Observer = observe or (lambda _: None)
    last = Moment(0, None, 0.0)

    def tell_first(moment: Moment) -> None:
        nonlocal last
        last = moment
        tell(moment)

    first = run(solver, tell_first, warn=refinement is None)
    if refinement is None:
        return first

    def tell_later(moment: Moment) -> None:
        solution = _counted_through(first, moment.solution)
        seconds = last.cpu_seconds + moment.cpu_seconds
        tell(Moment(last.epoch + moment.epoch, solution, seconds))

    a = first.dual
    if isinstance(problem, KernelProblem) and isinstance(first, KernelSolution):
        c, T = kernel_problem.multiples(problem, first)
        a = c * (problem.n / T)
    then = refinement if first.seed is None else refinement.with_seed(first.seed)
    return _counted_through(first, run(then, tell_later, a))


@one_thread()
@np.errstate(over="ignore", invalid="ignore")
def nearer(problem: Problem, solution: AnySolution) -> AnySolution:
    """Return a solution nearer to the minimum of a small problem, without warnings."""
    if isinstance(solution, KernelSolution):
        assert isinstance(problem, KernelProblem)
        closer = Optimum(tol=1e-9, gap_tol=1e-9)
        then: AnySolution = kernel_ascent.run_working_sets(
            problem, closer, a=solution.dual, warn=False
        )
        return _counted_through(solution, then)
    if problem.loss == "log":
        steps = SmoothSteps(problem, np.append(solution.beta, solution.alpha))
        for _ in range(3):  # each step squares the remaining error
            next(steps.walk)
        beta, alpha, dual = steps.best()
        return replace(solution, beta=beta, alpha=alpha, dual=dual)
    closer = Optimum(tol=1e-10, gap_tol=1e-12)
    then = run_linear(problem, closer, dual=solution.dual, warn=False)
    return _counted_through(solution, then)


def _counted_through(first: AnySolution, then: AnySolution) -> AnySolution:
    return replace(
        then,
        n_iter=first.n_iter + then.n_iter,
        n_violations=first.n_violations + then.n_violations,
        seed=then.seed if first.seed is None else first.seed,
        n_epochs=first.n_epochs,
        methods=joined(*first.methods, *then.methods),
    )


def kernel_path(
    problem: KernelProblem, solver: Optimum | Pegasos, lambdas: Vector
) -> list[KernelSolution]:
    """Solve for each lambda in decreasing order, with warm starts of Optimum.

    The cached rows of the Gram matrix do not depend on lambda. Does not warn.
    """
    problems = [replace(problem, lam=float(lam)) for lam in lambdas]
    if isinstance(solver, Pegasos):
        kind = kernel_ascent.KernelVisitor
        return [run_pegasos(at, solver, kind=kind) for at in problems]
    ascent = kernel_ascent.KernelAscent(problems[0], solver)
    solutions: list[KernelSolution] = []
    for at in problems:
        if solutions:
            ascent.move_to(at.lam)
        solutions.append(run_epochs(ascent, problem.n, solver)[0])
    return solutions
