"""A fit on a part of the rows, and the scores of the rows held out."""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.columns import selected
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.weights import mean_one
from pegasos_stats.models.base import Model
from pegasos_stats.models.kernel import pegasos_alone
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.kernel_run import run_kernel_pegasos
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.refining import run_linear
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solutions import AnySolution, certificate_of, scores_of
from pegasos_stats.studies.selection.folds import Split

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]
AnyModel = TypeVar("AnyModel", bound=Model)


@dataclass(frozen=True, eq=False)
class Task:
    """Fits on the rows of a split, or on all, one for each lambda.

    Attributes
    ----------
    model : Model
    split : Split or None
    solver : Pegasos or SDCA
        With the seed of these fits.
    lambdas : float64 array, shape (m,)
        Largest first: each fit of SDCA begins with the dual weights of the last one.
    """

    model: Model
    split: Split | None
    solver: Pegasos | SDCA
    lambdas: Vector


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the fits of a `Task` gave.

    Attributes
    ----------
    certificates : tuple of Certificate, one for each lambda
    steps : tuple of int
    seed : int or None
    scores : float64 array, shape (m, n_test)
        Of the rows held out.
    solutions : tuple of Solution or KernelSolution
        Only of fits on all rows.
    """

    certificates: tuple[Certificate, ...]
    steps: tuple[int, ...]
    seed: int | None
    scores: Vector
    solutions: tuple[AnySolution, ...]


def fitted(task: Task) -> Fitted:
    """Fit, and score the rows held out; changes nothing and warns of nothing."""
    problem, held_out = task.model.problem, None
    if task.split is not None:
        problem, held_out = training(task.model, task.split)
    solutions = path_solutions(problem, task.solver, task.lambdas)
    problems = [replace(problem, lam=float(lam)) for lam in task.lambdas]
    pairs = list(zip(problems, solutions, strict=True))
    scores = [] if held_out is None else [scores_of(*pair, held_out) for pair in pairs]
    return Fitted(
        tuple(certificate_of(*pair) for pair in pairs),
        tuple(int(found.n_iter) for found in solutions),
        solutions[0].seed,
        np.array(scores),
        tuple(solutions) if held_out is None else (),
    )


def training(model: Model, split: Split) -> tuple[Problem, Any]:
    """The problem of the rows to fit, and the predictors of those held out.

    What was estimated from all rows is estimated again from those to fit: the scaling
    of ``standardize=True`` (scaled columns scaled again are the columns scaled once)
    and the mean of the weights.
    """
    whole, rows = model.problem, split.train
    X, held_out = _taken(whole, rows, rows), _taken(whole, split.test, rows)
    if getattr(model, "scaling", None) is not None:
        scaling = Scaling.of(X, whole.intercept)
        X, held_out = scaling.apply(X), scaling.apply(held_out)
    weights = None if whole.weights is None else mean_one(whole.weights[rows])
    return replace(whole, X=X, y=whole.y[rows], weights=weights), held_out


def _taken(problem: Problem, rows: Rows, columns: Rows) -> Any:
    """Rows of the predictors; of a precomputed kernel these columns of them."""
    if isinstance(problem, KernelProblem) and problem.kernel.name == "precomputed":
        return np.ascontiguousarray(problem.X[np.ix_(rows, columns)])
    if np.array_equal(rows, np.arange(problem.n)):
        return selected(problem.X, np.ones(problem.n, dtype=bool))
    taken = problem.X[rows]
    return np.ascontiguousarray(taken) if isinstance(taken, np.ndarray) else taken


def path_solutions(
    problem: Problem, solver: Pegasos | SDCA, lambdas: Vector
) -> list[Any]:
    """Solutions for each lambda, largest first; SDCA begins where it last ended.

    Dual weights are in [0, w_i] for every lambda, so those of one, also times a
    number up to 1, are a feasible start for the next.
    """
    found: list[Any] = []
    before = 0.0
    for lam in lambdas:
        at, dual = replace(problem, lam=float(lam)), None
        if found and solver.to_optimum:
            dual = next_dual(found[-1], before, at)
        found.append(_solution(at, solver, dual))
        before = at.lam
    return found


def next_dual(last: Solution, lam: float, problem: Problem) -> Vector:
    """Dual weights to begin with, from the solution for a larger lambda.

    For the hinge ``t a`` with the ``t`` up to 1 that makes the dual largest at the
    new lambda ``lam'``: ``D(t a) = t mean(a) - t^2 (lam ||beta||)^2 / (2 lam')``.
    Where all rows are within the margins it is 1; where the levels are separated and
    no row is inside any more, ``lam' / lam``: then ``beta`` is the same, and both
    are the solution.
    """
    norm2 = float(last.beta @ last.beta)
    curvature = lam * lam * norm2
    if problem.loss == "log" or not curvature > 0.0:  # for tiny lambdas it underflows
        return last.dual
    best = problem.lam * float(last.dual.mean()) / curvature
    return last.dual * min(1.0, best)


def _solution(problem: Problem, solver: Pegasos | SDCA, dual: Vector | None) -> Any:
    if isinstance(problem, KernelProblem):
        return run_kernel_pegasos(problem, pegasos_alone(solver))
    return run_linear(problem, solver, dual=dual, warn=False)


def at_lambda(model: AnyModel, lam: float) -> AnyModel:
    """The same model with another lambda; the data are shared."""
    other = copy(model)
    other.problem = replace(model.problem, lam=float(lam))
    return other
