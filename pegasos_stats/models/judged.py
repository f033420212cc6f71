"""The quality of a fit: its certificate, distance from the minimum, notes."""

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pegasos_stats.arrays import Mask
from pegasos_stats.data.design import Design
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes import (
    Note,
    about_data,
    about_fit,
    about_predictors,
    constant,
    decided_by_rounding,
    level_order,
    no_predictor_helps,
    spreads,
)
from pegasos_stats.solvers.centring import constants, constants_of
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.shortfall import Shortfall, shortfall_of
from pegasos_stats.solvers.solutions import AnySolution, certificate_of

if TYPE_CHECKING:
    from pegasos_stats.models.base import Model


class Judged(ABC):
    """What the rows of a fit say of it; `Results` has the rest."""

    problem: Problem
    solver: Pegasos | SDCA
    solution: AnySolution
    design: Design
    coding: LabelCoding
    dropped: Dropped
    refinement: SDCA | None
    model: "Model | None"

    @property
    @abstractmethod
    def lambda_path(self) -> Any:
        """The path that chose lambda, with ``lam="cv"``."""

    @property
    def intercept(self) -> float:
        """Intercept ``alpha``; 0 for a model without one."""
        return float(self.solution.alpha)

    @property
    def nobs(self) -> int:
        """Number of rows used, those of weight 0 not counted."""
        return self.problem.n_weighed

    @cached_property
    def certificate(self) -> Certificate:
        """Primal and dual objective of the fit, and the gap between them.

        The dual point is the one the solver ended with; `shortfall` has better bounds.
        """
        solver = self.solver if self.refinement is None else self.refinement
        return certificate_of(self.problem, self.solution, solver.tol)

    @cached_property
    def shortfall(self) -> Shortfall:
        """Lower and upper bounds on the distance of the objective from its minimum.

        If the relative gap of `certificate` is above 1e-6, SDCA continues from its dual
        point for as much work as the fit took, or a tenth of a second, to improve the
        bounds. For kernel models, and for models saved without them, these are the
        bounds of the certificate.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train, lam=0.01).fit(ps.Pegasos(seed=443))
        >>> round(result.objective, 4), round(result.gap, 4)
        (0.2135, 0.2135)
        >>> round(result.shortfall.at_least, 4), round(result.shortfall.at_most, 4)
        (0.2134, 0.2134)
        """
        if isinstance(self.solution, Solution) and self.problem.has_rows:
            given = self.problem, self.solver, self.solution, self.certificate
            return shortfall_of(*given)
        return Shortfall.certified(self.certificate)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the fit and warnings; `summary` adds those on standard errors.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> wild = ps.svm("digit ~ .", train, lam=1e-3).fit(ps.Pegasos(1, seed=443))
        >>> [note.topic for note in wild.notes if note.severity == "warning"]
        ['run']
        """
        standardized = self.scaling is not None
        fit = self.problem, self.certificate, self.solver, self.coding, standardized
        data = about_data(self.dropped, self.design)
        data += level_order(self.coding, self.design)
        reach, penalty = self._on_predictors
        about = about_fit(*fit, self._training(), self.shortfall, reach)
        return (*about, *self._about_path(), *data, *penalty)

    def _about_path(self) -> tuple[Note, ...]:
        """That the path that chose lambda found no use for the predictors, if so."""
        path = self.lambda_path
        if path is None or self.problem.loss == "hinge" or not path.is_best_at_largest:
            return ()
        return (no_predictor_helps(path.metric),)

    @cached_property
    def _on_predictors(self) -> tuple[float, tuple[Note, ...]]:
        """How far the predictors move scores; notes on them."""
        found, problem, names = self.solution, self.problem, self.design.names
        if not isinstance(found, Solution):
            return math.inf, ()
        same = constant([names[j] for j in np.flatnonzero(self.constants)])
        if not problem.has_rows:
            return math.inf, tuple(same)
        spread, scaled = spreads(problem), self.scaling is not None
        with np.errstate(over="ignore", invalid="ignore"):
            reach = float(np.abs(found.beta) @ spread)
        given = problem, found, names, spread, self.relative_gap, scaled
        about = *decided_by_rounding(problem, found), *same, *about_predictors(*given)
        return reach, about

    @cached_property
    def constants(self) -> Mask:
        """Columns beside an intercept that are the same number, not 0, in all rows."""
        problem, scaling, values = self.problem, self.scaling, None
        if isinstance(problem.X, Elsewhere):
            measured = problem.X.measured
            if problem.intercept:
                values = constants_of(measured.means, measured.spread)
        elif problem.has_rows:
            values = constants(problem)
            if scaling is not None:
                values = constants_of(scaling.centre, spreads(problem))
        return np.zeros(problem.p, dtype=bool) if values is None else values != 0.0

    @property
    def objective(self) -> float:
        """Regularised risk at the fit, ``lam/2 ||beta||^2 + mean loss``."""
        return self.certificate.objective

    @property
    def dual_objective(self) -> float:
        """Dual objective: a lower bound on the objective of any model."""
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
        """Whether the solver reached its tolerance; None for a run without one."""
        at, last = self.certificate, self.refinement or self.solver
        return last.converged(at, self.solution.settled)

    @property
    def scaling(self) -> Scaling | None:
        """Centres and scales of ``standardize=True``; None without it."""
        return self.design.scaling if isinstance(self.design, ScaledDesign) else None

    @abstractmethod
    def _training(self) -> ConfusionMatrix:
        """Confusion table of the rows of the fit."""
