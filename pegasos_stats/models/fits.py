"""What every fit holds: the problem, its solution, and a certificate."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from pegasos_stats.data.design import Design
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.sample import Dropped
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solutions import AnySolution, certificate_of


@dataclass(frozen=True, repr=False, eq=False)
class Fit(ABC):
    """A solution with the data that it is of, and how it was found.

    Attributes
    ----------
    problem : Problem
        The rows used, as numbers.
    solver : Pegasos or SDCA
    solution : Solution or KernelSolution
    design : Design
        How data become a matrix; replayed on new data.
    coding : LabelCoding
        Which level is -1 and which +1.
    index : Index, shape (n,)
        Row labels of the rows used.
    dropped : Dropped
        Counts of the rows left out for missing values.
    trace : DataFrame or None
        One line per epoch, where ``fit(trace=True)`` asked for it.
    refinement : SDCA or None
        What went on from the solver's dual point, where ``fit(refine=)`` asked for it.
    seconds : float or None
        Run time of the fit.
    """

    problem: Problem
    solver: Pegasos | SDCA
    solution: AnySolution
    design: Design
    coding: LabelCoding
    index: pd.Index
    dropped: Dropped
    trace: pd.DataFrame | None = None
    refinement: SDCA | None = None
    seconds: float | None = None

    @cached_property
    def certificate(self) -> Certificate:
        """Primal and dual objective of the fit."""
        return certificate_of(self.problem, self.solution)

    @property
    @abstractmethod
    def n_support(self) -> int:
        """Number of training rows that the fit depends on."""

    @property
    def intercept(self) -> float:
        """Intercept ``alpha``; 0 for a model without one."""
        return float(self.solution.alpha)

    @property
    def nobs(self) -> int:
        """Number of rows used."""
        return self.problem.n

    @property
    def n_iter(self) -> int:
        """Number of steps taken."""
        return int(self.solution.n_iter)

    @property
    def n_violations(self) -> int:
        """Visits of rows with a margin below 1; for the log loss, below 0."""
        return int(self.solution.n_violations)

    @property
    def seed(self) -> int | None:
        """Seed of the run; ``set.seed()`` of R with it repeats the fit."""
        return self.solution.seed

    @property
    def objective(self) -> float:
        """Regularised risk at the fit, ``lam/2 ||beta||^2 + mean loss``."""
        return self.certificate.objective

    @property
    def dual_objective(self) -> float:
        """Dual objective at a feasible point: no model has a smaller risk."""
        return self.certificate.dual_objective

    @property
    def gap(self) -> float:
        """Duality gap, ``objective - dual_objective``."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """``gap / objective``."""
        return self.certificate.relative_gap

    @property
    def converged(self) -> bool | None:
        """Whether the tolerance was reached; None for a run without one (Pegasos)."""
        last = self.solver if self.refinement is None else self.refinement
        if not last.stops:
            return None
        return last.reached(self.certificate)

    @property
    def solver_name(self) -> str:
        """The solver, and the one that went on from it if there is one."""
        return self.solver.name + (", then SDCA" * bool(self.refinement))
