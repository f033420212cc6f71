"""When a run of Pegasos ends before its last epoch."""

from typing import Any

import numpy as np

from pegasos_stats.advice import Setting, one_of
from pegasos_stats.arrays import Vector
from pegasos_stats.errors import ConvergenceWarning, counted, warn_caller
from pegasos_stats.solvers.objective import Certificate, certificate
from pegasos_stats.solvers.problem import Problem, Solution

REFINED = 1e-6  # relative gap of the cure where there is no tolerance of the gap


class Stopping:
    """Looks at a run after every epoch: whether it has reached a tolerance.

    Parameters
    ----------
    problem : Problem
    solver : Pegasos
        With `tol`, `change_tol` or both, of which one will do.
    beta : float64 array, shape (p,)
    alpha : float
        What the run begins with.

    Attributes
    ----------
    change : float
        Largest change of a coefficient, the intercept among them, over the last epoch,
        as a share of the largest of them.
    settled : bool
        Whether that change was within `change_tol`.
    """

    def __init__(
        self, problem: Problem, solver: Any, beta: Vector, alpha: float
    ) -> None:
        self._problem, self._solver = problem, solver
        self._params = np.array([alpha, *beta])
        self._at: Certificate | None = None
        self.change, self.settled = np.inf, False

    def reached(self, found: Solution) -> bool:
        """Whether the run ends with what it would give now.

        The change of the coefficients is the same in every bit as in the R reference,
        whose duality gap is the same to rounding.
        """
        params = np.array([found.alpha, *found.beta])
        moved = float(np.abs(params - self._params).max())
        largest = float(np.abs(params).max())
        self._params, self.change = params, moved / largest if largest else 0.0
        limit = self._solver.change_tol
        self.settled = limit > 0.0 and moved <= limit * largest
        if self.settled:
            return True
        if not self._solver.stops:
            return False
        self._at = certificate(self._problem, found.beta, found.alpha, found.dual)
        return bool(self._solver.reached(self._at))

    def warn(self, epochs: int) -> None:
        """Warn that the run ended at its limit."""
        facts = []
        if self._at is not None:
            facts.append(f"the relative gap is {self._at.relative_gap:.2g}")
        if self._solver.change_tol > 0.0:
            facts.append(
                f"the last epoch changed a coefficient by {self.change:.2g} of the "
                "largest"
            )
        warn_caller(
            f"Pegasos has not reached {self._solver.goals} after "
            f"{counted(epochs, 'epoch')}: {', '.join(facts)}.",
            ConvergenceWarning,
            one_of([Setting("refine", self._solver.tol or REFINED)]),
        )
