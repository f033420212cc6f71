"""Lower and upper bounds on the distance of a fit from the minimum, for little work.

The dual point of a run of Pegasos gives a valid but perhaps useless bound, such as a
minimum not below 0. From that point SDCA continues for as many visits of rows as the
fit took, or for `WORK` multiplications if these are more. Its dual point gives a better
lower bound on the minimum, its primal objective an upper bound.
"""

from dataclasses import dataclass, replace

import numpy as np

from pegasos_stats.errors import DataError
from pegasos_stats.solvers.objective import Certificate, certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import DEFAULT_TOL, SDCA
from pegasos_stats.solvers.solutions import scores_of
from pegasos_stats.solvers.solver_runs import REFINEMENT_EPOCHS, run_linear

WORK = 1e8  # multiplications, about a tenth of a second


@dataclass(frozen=True)
class Shortfall:
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
    def certified(cls, at: Certificate) -> "Shortfall":
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


@dataclass(frozen=True, eq=False)
class Closer:
    """A fit that SDCA reached from the dual point of another.

    Attributes
    ----------
    solution : Solution
    certificate : Certificate
    reached : bool
        Whether it came to its tolerance.
    """

    solution: Solution
    certificate: Certificate
    reached: bool


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
    problem: Problem, solver: Pegasos | SDCA, found: Solution, tol: float
) -> Closer:
    """Go on from a fit to a relative gap, within `work_of` it.

    If the tolerance is reached, this is what ``fit(solver, refine=tol)`` gives.
    """
    then = SDCA(REFINEMENT_EPOCHS, tol, sample_kind=solver.sample_kind)
    then = then.with_seed(found.seed)
    work = work_of(problem, solver, found)
    try:
        closer = run_linear(problem, then, dual=found.dual, warn=False, most=work)
    except DataError:  # coefficients overflow on the way
        closer = found
    at = certificate(problem, closer.beta, closer.alpha, closer.dual)
    return Closer(closer, at, then.reached(at))


def shortfall_of(
    problem: Problem, solver: Pegasos | SDCA, found: Solution, at: Certificate
) -> Shortfall:
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
    plain = Shortfall.certified(at)
    if plain.reached:
        return plain
    closer = closer_fit(problem, solver, found, DEFAULT_TOL)
    tight = certificate(problem, found.beta, found.alpha, closer.solution.dual)
    if tight.gap < plain.at_most:
        plain = replace(Shortfall.certified(tight), reached=False)
    upper = closer.certificate.objective
    if not upper < plain.upper:
        return plain
    fits = found, closer.solution
    here, there = (
        np.sign(scores_of(problem, fit, problem.X, problem.offset)) for fit in fits
    )
    return replace(
        plain,
        at_least=min(plain.upper - upper, plain.at_most),
        upper=upper,
        changed=int(np.count_nonzero(here != there)),
        errors=closer.certificate.errors,
        reached=closer.reached,
    )
