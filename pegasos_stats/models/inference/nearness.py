"""How far coefficients may be from the optimum: by the certificate, by a closer fit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.advice import Cure, Setting, one_of
from pegasos_stats.arrays import Vector
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import that_reaches
from pegasos_stats.solvers.shortfall import closer_fit

GOES_ON = "{} goes on to the optimum."
SPARE = 0.1  # of the relative gap that is needed, so that moves can be told from it


def distance_at(gap: float, lam: float) -> float:
    """Bound ``sqrt(2 gap / lam)`` of ``||beta - beta*||``.

    Examples
    --------
    >>> distance_at(0.02, 1.0)
    0.2
    """
    return float(np.sqrt(2.0 * max(gap, 0.0) / lam))


@dataclass(frozen=True, eq=False)
class Nearness:
    """What a closer fit tells of coefficients whose bound is too wide.

    Attributes
    ----------
    apart : float64 array, shape (k,), or None
        How far each may be from the optimum; NaN where it is not known. None where
        nothing is but the certificate.
    cure : Cure or None
        What goes on to the optimum, tried before.
    """

    apart: Vector | None
    cure: Cure | None


def nearness_of(
    problem: Problem,
    solver: Pegasos | SDCA,
    found: Solution,
    distance: Vector,
    remedy: Setting,
) -> Nearness:
    """Go on from a fit, and see how far its coefficients move.

    A coefficient is apart by its move and the bound ``sqrt(2 gap / lam)`` of the closer
    fit; the intercept by its move, which no bound limits.

    Parameters
    ----------
    problem : Problem
    solver : Pegasos or SDCA
    found : Solution
    distance : float64 array, shape (k,)
        How far coefficients may be by the certificate.
    remedy : Setting
        The option that goes on, and a relative gap.
    """
    tol = float(remedy.value or 0.0)
    closer = closer_fit(problem, solver, found, SPARE * tol)
    beta, alpha = closer.solution.beta, closer.solution.alpha
    apart: NDArray[np.float64] = np.abs(beta - found.beta)
    apart += distance_at(closer.certificate.gap, problem.lam)
    if problem.intercept:
        moved = abs(alpha - found.alpha) if closer.reached else np.nan
        apart = np.concatenate([[moved], apart])
    if not closer.reached:
        apart = np.fmin(apart, distance)
    if remedy.name == "refine":
        cure = one_of([remedy], GOES_ON) if closer.reached else None
        return Nearness(apart, cure)
    assert isinstance(solver, SDCA)  # others go on by refine=
    reaches = that_reaches(problem, solver.with_seed(found.seed), tol)
    return Nearness(apart, None if reaches is None else Cure((reaches,), GOES_ON))
