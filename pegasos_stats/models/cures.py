"""Cures of a poor fit, tried on that very fit: fitted again with an option changed."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pegasos_stats.advice import Cure, Setting, Together
from pegasos_stats.checks import check_positive
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.weights import class_weights
from pegasos_stats.errors import ConvergenceWarning, DataError, OptionError
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.inference.estimating import has_rows
from pegasos_stats.models.notes import fits
from pegasos_stats.models.notes.note import Topic
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.options import values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.refining import run_kernel, run_linear
from pegasos_stats.solvers.sdca import DEFAULT_TOL, SDCA
from pegasos_stats.solvers.sdca_advice import call_of, longer_runs, near_enough
from pegasos_stats.solvers.sdca_run import that_reaches
from pegasos_stats.solvers.shortfall import Shortfall, work_of
from pegasos_stats.solvers.solutions import AnySolution, certificate_of, scores_of

MOST_WORK = 1e9  # multiplications of a fit that is repeated: a second or two
MOST_ROUNDS = 20  # of SDCA with a kernel, whose fits take a few where they are easy
TENFOLD = range(1, 10)  # powers of ten that lambda is changed by

EXACT = Setting("solver", "SDCA")
BEST_INTERCEPT = Setting("refit_intercept", True)
SCALED = Setting("standardize", True)
BALANCED = Setting("weights", "balanced")


@dataclass(frozen=True, eq=False)
class Trials:
    """Repeats a fit with other options, to see whether its warnings go.

    Attributes
    ----------
    problem : Problem
    solver : Pegasos or SDCA
    refinement : SDCA or None
    solution : Solution or KernelSolution
        Of the fit.
    coding : LabelCoding
    standardized : bool
        Whether its predictors are.
    shortfall : Shortfall
    """

    problem: Problem
    solver: Pegasos | SDCA
    refinement: SDCA | None
    solution: AnySolution
    coding: LabelCoding
    standardized: bool
    shortfall: Shortfall

    def cures(
        self, at: Certificate, training: ConfusionMatrix
    ) -> dict[Topic, Cure | None]:
        """Cures of the warnings that stand, by topic."""
        found: dict[Topic, Cure | None] = {}
        if fits.is_worse_than_none(self.problem, at):
            found["run"] = self.of_running_away()
        elif fits.is_too_short(self.problem, self.shortfall):
            found["run"] = self.of_falling_short()
        if fits.is_one_answer(training):
            found["predictions"] = self.of_one_answer()
        return found

    @property
    def is_cheap(self) -> bool:
        """Whether the fit may be repeated some times."""
        X, found = self.problem.X, self.solution
        if not has_rows(self.problem):
            return False
        if not isinstance(found, Solution):
            return float(found.n_iter) * self.problem.n <= MOST_WORK
        entries = float(getattr(X, "nnz", X.size)) / self.problem.n
        return work_of(self.problem, self.solver, found) * entries <= MOST_WORK

    def of_running_away(self) -> Cure | None:
        """What helps a fit that is worse than the model that is all zero."""
        to_optimum = self.solver.to_optimum or self.refinement is not None
        found = self._optimum()  # is never worse than the model that is all zero
        if not to_optimum and self.shortfall.reached:
            found.append((Setting("refine", DEFAULT_TOL),))
        if self.problem.intercept and not self.solver.refit_intercept:
            found += self._first([(BEST_INTERCEPT,)])
        return Cure(tuple(found)) if found else None

    def of_one_answer(self) -> Cure | None:
        """What makes a fit answer both levels."""
        to_optimum = self.solver.to_optimum or self.refinement is not None
        lam, with_solver = self.problem.lam, list[Together]([()])
        if not to_optimum:
            with_solver.append((EXACT,))
        for solver in with_solver:
            if solver and self._helps(solver):
                return Cure((solver,))
            found = list[Together]()
            if self._may_scale():
                found += self._first([(SCALED, *solver)])
            if self.problem.weights is None:
                found += self._first([(BALANCED, *solver)])
            smaller = ((Setting("lam", lam / 10.0**k), *solver) for k in TENFOLD)
            found += self._first(smaller)
            if found:
                return Cure(tuple(found))
        return None

    def of_falling_short(self) -> Cure | None:
        """Options that continue the fit to the minimum."""
        found = self._optimum()
        if self.shortfall.reached and not self.solver.to_optimum:
            found.append((Setting("refine", DEFAULT_TOL),))
        return Cure(tuple(found)) if found else None

    def _optimum(self) -> list[Together]:
        """What goes to the optimum; of SDCA a longer run, otherwise as it was."""
        if not isinstance(self.solver, SDCA):
            known = self.refinement is None or self._helps((EXACT,))
            return [(EXACT,)] if known else []
        solver = self.solver.with_seed(self.solution.seed)
        tol = min(solver.tol, DEFAULT_TOL) or DEFAULT_TOL
        if isinstance(self.problem, KernelProblem) or not has_rows(self.problem):
            return [call_of(run, solver) for run in longer_runs(solver, tol)][:1]
        found = that_reaches(self.problem, solver, tol)
        return [] if found is None else [found]

    def _may_scale(self) -> bool:
        given = isinstance(self.problem, KernelProblem) and (
            self.problem.kernel.name == "precomputed"
        )
        return not (self.standardized or given)

    def _first(self, candidates: Iterable[Together]) -> list[Together]:
        """The first of these settings that helps; none after a fit without an end."""
        for each in candidates:
            helps = self._helps(each)
            if helps is not False:
                return [each] if helps else []
        return []

    def _helps(self, settings: Together) -> bool | None:
        """Whether the fit with these settings is fine; None if it came to no end."""
        if not self.is_cheap:
            return False
        try:
            return self._is_fine(*self._changed(settings))
        except (DataError, OptionError):
            return False

    def _changed(
        self, settings: Together
    ) -> tuple[Problem, Pegasos | SDCA, SDCA | None]:
        problem, solver, refinement = self.problem, self.solver, self.refinement
        solver = solver.with_seed(self.solution.seed)
        for setting in settings:
            value: Any = setting.value
            if setting.name == "standardize":
                X = Scaling.of(problem.X, problem.intercept).apply(problem.X)
                problem = replace(problem, X=X)
            elif setting.name == "weights":
                balanced = class_weights(value, problem.y, self.coding)
                problem = replace(problem, weights=balanced, balanced=True)
            elif setting.name == "lam":
                problem = replace(problem, lam=check_positive("lam", value))
            elif setting.name == "solver":
                solver, refinement = SDCA().with_seed(self.solution.seed), None
            else:
                given = values_of(solver) | {setting.name: value}
                solver = type(solver)(**given)
        return problem, solver, refinement

    def _is_fine(
        self, problem: Problem, solver: Pegasos | SDCA, refinement: SDCA | None
    ) -> bool | None:
        """Whether both levels are predicted, by a fit that is better than none.

        None if the fit was ended before it came to its optimum.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._run(problem, solver, refinement)
            at = certificate_of(problem, found)
            scores = scores_of(problem, found, problem.X, problem.offset)
        last = refinement or solver
        arrived = not isinstance(last, SDCA) or not last.stops
        if not arrived and isinstance(last, SDCA):
            arrived = last.reached(at) or near_enough(at, last)
        if not arrived:
            return None
        both = bool((scores > 0.0).any() and (scores < 0.0).any())
        return both and not fits.is_worse_than_none(problem, at)

    def _run(
        self, problem: Problem, solver: Pegasos | SDCA, refinement: SDCA | None
    ) -> AnySolution:
        if isinstance(problem, KernelProblem):
            if isinstance(solver, SDCA):
                solver = replace(solver, epochs=min(solver.epochs, MOST_ROUNDS))
            if refinement is not None:
                few = min(refinement.epochs, MOST_ROUNDS)
                refinement = replace(refinement, epochs=few)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return run_kernel(problem, solver, refinement)
        assert isinstance(self.solution, Solution)
        most = work_of(self.problem, self.solver, self.solution)
        found = run_linear(problem, solver, warn=False, most=most)
        if refinement is None:
            return found
        dual = found.dual
        return run_linear(problem, refinement, dual=dual, warn=False, most=most)
