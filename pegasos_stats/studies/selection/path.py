"""Fits along a path of lambda, with the cross-validated error of each."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.checks import check_count
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError, listing, shown
from pegasos_stats.models.base import Model
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import LossName, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solutions import AnySolution
from pegasos_stats.studies.selection.cross_validation import lines_of
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.given import checked_folds
from pegasos_stats.studies.selection.lambdas import checked_lambdas
from pegasos_stats.studies.selection.metrics import DECIDES, Metric, checked_metrics
from pegasos_stats.studies.selection.path_results import LambdaPath
from pegasos_stats.studies.selection.runs import (
    checked_fold_solver,
    checked_model,
    fold_tasks,
    run_tasks,
    warn_of_gaps,
    with_seed,
)
from pegasos_stats.studies.selection.training import Fitted, Task

Vector = NDArray[np.float64]

EPOCHS = 1000  # of SDCA where no solver is given


def lambda_path(
    model: Model,
    lambdas: Any = None,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: Any = 10,
    repeats: int = 1,
    seed: int | None = None,
    metrics: Any = None,
    metric: str | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> LambdaPath:
    """Fit for many values of lambda, and cross-validate each of them.

    SDCA goes from the largest lambda down and begins each fit with the dual weights
    of the last one, scaled to the best multiple: that is a feasible point for every
    lambda. Pegasos begins each fit at zero, as its first steps forget any start. The
    same is done on all rows and on those of each fold; every fit states its gap.

    Folds and seeds are drawn as by `cross_validate`, a seed for each fold; the fits
    on all rows have `seed` itself. A solver with a seed of its own uses that
    everywhere.

    Weights and the scaling of ``standardize=True`` are taken from the rows of each
    fit. Transforms of a formula such as ``scale()`` or ``poly()`` were evaluated
    once, on all rows.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
        Its own lambda is not used.
    lambdas : sequence of float, optional
        Those of `lambda_grid` if left out.
    solver : Pegasos or SDCA, optional
        If left out SDCA to a relative gap of 1e-3, with a kernel ``Pegasos()``.
    folds : int, Folds, Series or array, list of pairs, or None; default 10
        As for `cross_validate`; None for the fits on all rows alone.
    repeats, seed, metrics
        As for `cross_validate`.
    metric : str, optional
        Which of the metrics decides: if left out the error rate, for a logistic
        model the log loss.
    workers, progress
        As for `cross_validate`.

    Returns
    -------
    LambdaPath

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver does not go with the model.
    DataError
        If a fold leaves no row of a level to fit, or is not of these rows.

    Warns
    -----
    ConvergenceWarning
        Once, if SDCA does not reach its tolerance in some fit.

    References
    ----------
    Friedman, Hastie & Tibshirani, Journal of Statistical Software 33 (2010), sections
    2.5 and 6; Hastie, Rosset, Tibshirani & Zhu, JMLR 5 (2004).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train)
    >>> path = ps.lambda_path(model, [10, 1, 0.1], folds=5, seed=443)
    >>> path.lambda_1se >= path.lambda_min
    True
    >>> path.refit("1se").confusion(test).n_errors
    1
    """
    model = checked_model(model)
    grid = checked_lambdas(lambdas, model)
    solver = checked_fold_solver(model, solver, SDCA(epochs=EPOCHS))
    chosen = checked_metrics(metrics, model.problem.loss)
    decides = _deciding(metric, chosen, model.problem.loss)
    rng = RRandom(seed, sample_kind=solver.sample_kind)
    drawn = _folds(folds, repeats, model, rng)
    tasks = _tasks(model, drawn, solver, grid, rng)
    whole, *parts = run_tasks(tasks, workers, progress)
    warn_of_gaps(solver, [at for fit in (whole, *parts) for at in fit.certificates])
    return LambdaPath(
        model=model,
        solver=tasks[0].solver,
        lambdas=grid,
        folds=drawn,
        seed=rng.seed,
        metrics=chosen,
        metric=decides,
        fits=_fits(model, grid, whole, solver.ties),
        coefficients=_coefficients(model, grid, whole),
        by_fold=_by_fold(model, drawn, parts, chosen, solver, grid),
    )


def _deciding(given: str | None, chosen: tuple[Metric, ...], loss: LossName) -> str:
    """Name of the metric that decides."""
    names = [metric.name for metric in chosen]
    if given is None:
        return DECIDES[loss] if DECIDES[loss] in names else names[0]
    if not isinstance(given, str) or given not in names:
        raise OptionError(
            f"metric={shown(given)} is not among the metrics; give one of "
            f"{listing(names)}."
        )
    return given


def _folds(folds: Any, repeats: int, model: Model, rng: RRandom) -> Folds | None:
    if folds is not None:
        return checked_folds(folds, repeats, model._sample, rng)
    check_count("repeats", repeats)
    if repeats != 1:
        raise OptionError(
            f"repeats={shown(repeats)} makes no sense with folds=None; give folds=10, "
            "or leave it out."
        )
    return None


def _tasks(
    model: Model,
    folds: Folds | None,
    solver: Pegasos | SDCA,
    grid: Vector,
    rng: RRandom,
) -> list[Task]:
    """The fits on all rows, then those of each fold."""
    whole = Task(model, None, with_seed(solver, rng.seed), grid)
    parts = [] if folds is None else fold_tasks(model, folds, solver, grid, rng)
    return [whole, *parts]


def _fits(model: Model, grid: Vector, whole: Fitted, ties: Ties) -> pd.DataFrame:
    """One line for each lambda: the fit on all rows."""
    n = model.problem.n
    lines = []
    for lam, at, steps, found in zip(
        grid, whole.certificates, whole.steps, whole.solutions, strict=True
    ):
        line = {
            "lam": lam,
            "objective": at.objective,
            "relative_gap": at.relative_gap,
            "training_error": at.error_rate(n, ties),
            "steps": steps,
        }
        lines.append(line | _size(found))
    return pd.DataFrame(lines)


def _size(found: AnySolution) -> dict[str, Any]:
    """How large a solution is: the norm of its coefficients, or its support."""
    if isinstance(found, Solution):
        return {"norm": float(np.linalg.norm(found.beta))}
    return {"n_support": int((found.counts > 0).sum())}


def _coefficients(model: Model, grid: Vector, whole: Fitted) -> pd.DataFrame | None:
    """One line for each lambda, of a linear model."""
    linear = [found for found in whole.solutions if isinstance(found, Solution)]
    if not linear:
        return None
    values = np.array([found.beta for found in linear])
    index = pd.Index(grid, name="lam")
    frame = pd.DataFrame(values, index, list(model.names))
    if model.problem.intercept:
        frame.insert(0, "Intercept", [found.alpha for found in linear])
    return frame


def _by_fold(
    model: Model,
    folds: Folds | None,
    parts: list[Fitted],
    metrics: tuple[Metric, ...],
    solver: Pegasos | SDCA,
    grid: Vector,
) -> pd.DataFrame | None:
    """One line for each fold and lambda."""
    if folds is None:
        return None
    lines = lines_of(model, folds, parts, metrics, solver)
    lines.insert(2, "lam", np.tile(grid, len(folds)))
    return lines
