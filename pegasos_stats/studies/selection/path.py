"""Fits along a path of lambda, with the cross-validated error of each."""

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_count
from pegasos_stats.errors import OptionError, listing, shown
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.base import Model
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.kernel_problem import KernelProblem, support_of
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection import fold_fits, fold_metrics
from pegasos_stats.studies.selection.folds import checked_folds
from pegasos_stats.studies.selection.lambdas import EPOCHS, checked_lambdas
from pegasos_stats.studies.selection.path_results import LambdaPath
from pegasos_stats.studies.selection.side_by_side import run_tasks


@suggest_arguments
def lambda_path(
    model: Model,
    lambdas: object = None,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    metrics: object = None,
    metric: str | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> LambdaPath:
    """Fit a model for many values of lambda, and cross-validate each of them.

    With SDCA the fits of all folds are made side by side, from the largest lambda on,
    by passes over the rows that they share: with dense rows of up to 300 columns, three
    or more to a column, 20 for the hinge, and no transform that is computed from the
    rows of a fold. Otherwise each fold is fitted alone, each fit starting with the dual
    weights of the one before, times the best factor. Pegasos starts each fit at zero,
    as its first steps discard any start. Each fit reports its gap.

    Folds and seeds are drawn as in `cross_validate`, one seed for each fold; the fits
    on all rows use `seed` itself. If the solver has a seed, that is used in all fits.

    Weights, the scaling of ``standardize=True`` and transforms of a formula, such as
    ``scale()`` and ``bs()``, are computed from the training rows of each fit. Factors
    keep the levels of all rows; a level without training rows has the coefficient 0.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
        Its own lambda is not used.
    lambdas : sequence of float, optional
        By default those of `lambda_grid`.
    solver : Pegasos or SDCA, optional
        By default SDCA to a relative gap of 1e-3.
    folds : int, Folds, Series or array, list of pairs, or None; default 10
        As for `cross_validate`; None for fits on all rows only.
    repeats, groups, seed, metrics
        As for `cross_validate`.
    metric : str, optional
        Metric for the choice of lambda; by default the error rate, for a logistic model
        the log loss.
    workers, progress
        As for `cross_validate`.

    Returns
    -------
    LambdaPath

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver does not suit the model.
    DataError
        If the training rows of a fold lack a level, or folds are for other rows.

    Warns
    -----
    ConvergenceWarning
        Once, if SDCA does not reach its tolerance in one or more fits.

    References
    ----------
    Friedman, Hastie & Tibshirani, Journal of Statistical Software 33 (2010), sections
    2.5 and 6; Hastie, Rosset, Tibshirani & Zhu, JMLR 5 (2004).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=1.0)
    >>> path = ps.lambda_path(model, [10, 1, 0.1], folds=5, seed=443)
    >>> path.lambda_1se >= path.lambda_min
    True
    >>> path.refit("1se").confusion(test).n_errors
    1
    """
    model = fold_fits.checked_model(model)
    grid = checked_lambdas(lambdas, model)
    default = SDCA(epochs=EPOCHS, tol=fold_fits.FOLD_TOL)
    solver = fold_fits.checked_fold_solver(model, solver, default, own_lambda=False)
    chosen = fold_metrics.checked_metrics(metrics, model.problem.loss)
    names = [known.name for known in chosen]
    if metric is None:
        usual = fold_metrics.DECIDES[model.problem.loss]
        metric = usual if usual in names else names[0]
    elif not isinstance(metric, str) or metric not in names:
        raise OptionError(
            f"metric={shown(metric)} is not among the metrics; give one of "
            f"{listing(names)}."
        )
    rng = RRandom(seed, sample_kind=solver.sample_kind)
    if folds is not None:
        drawn = checked_folds(folds, repeats, model._sample, rng, groups)
    elif check_count("repeats", repeats) == 1:
        drawn = None
    else:
        raise OptionError(
            f"repeats={shown(repeats)} makes no sense with folds=None; give folds=10, "
            "or leave it out."
        )
    use = fold_fits.with_seed(solver, rng.seed)
    tasks = [fold_fits.Task(model, None, use, grid)]  # all rows, then those of folds
    if drawn is not None:
        tasks += fold_fits.fold_tasks(model, drawn, solver, grid, rng)
    whole, *parts = run_tasks(tasks, workers, progress)
    certificates = [at for fit in (whole, *parts) for at in fit.certificates]
    fold_fits.warn_of_gaps(solver, certificates)
    by_fold = None
    if drawn is not None:
        by_fold = fold_metrics.fold_lines(model, drawn, parts, chosen, solver.ties)
        by_fold.insert(2, "lam", np.tile(grid, len(drawn)))
    return LambdaPath(
        model=model,
        solver=use,
        lambdas=grid,
        folds=drawn,
        seed=rng.seed,
        metrics=chosen,
        metric=metric,
        fits=_fits(model, grid, whole, solver),
        coefficients=_coefficients(model, grid, whole),
        by_fold=by_fold,
    )


def _fits(
    model: Model, grid: Vector, whole: fold_fits.Fitted, solver: Pegasos | SDCA
) -> pd.DataFrame:
    """One line for each lambda: the fit on all rows and how large its solution is."""
    lines = []
    for lam, at, steps, found in zip(
        grid, whole.certificates, whole.steps, whole.solutions, strict=True
    ):
        assert isinstance(at, Certificate)
        line = {
            "lam": lam,
            "objective": at.objective,
            "relative_gap": at.relative_gap,
            "training_error": at.error_rate(model.problem.n, solver.ties),
            "steps": steps,
        }
        if isinstance(found, fold_fits.Coefficients):
            line["norm"] = float(np.linalg.norm(found.beta))
        else:
            assert isinstance(model.problem, KernelProblem)
            line["n_support"] = len(support_of(model.problem, found)[0])
        lines.append(line)
    return pd.DataFrame(lines)


def _coefficients(
    model: Model, grid: Vector, whole: fold_fits.Fitted
) -> pd.DataFrame | None:
    """One line for each lambda, of a linear model."""
    linear = [f for f in whole.solutions if isinstance(f, fold_fits.Coefficients)]
    if not linear:
        return None
    values = np.array([found.beta for found in linear])
    index = pd.Index(grid, name="lam")
    frame = pd.DataFrame(values, index, list(model.names))
    if model.problem.intercept:
        frame.insert(0, "Intercept", [found.alpha for found in linear])
    return frame
