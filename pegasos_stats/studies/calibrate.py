"""Probabilities from any model: Platt's sigmoid of out-of-fold scores."""

from collections import Counter
from typing import Any

import pandas as pd

from pegasos_stats.errors import DataError, UndefinedMetricWarning, warn_caller
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.base import Model
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.proximal import zero_model
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.calibrated_results import SHARES, CalibratedResults
from pegasos_stats.studies.platt import (
    Sigmoid,
    base_rate,
    cross_fitted_logits,
    fit_sigmoid,
    sigmoid_of,
)
from pegasos_stats.studies.selection import cross_validation
from pegasos_stats.studies.selection.fold_fits import for_all_rows, with_seed

NEAR = 0.01  # relative gap of a fit near enough to its optimum to be compared


@suggest_arguments
def calibrate(
    model: Model,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: object = 5,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> CalibratedResults:
    """Fit a model and Platt's sigmoid, which turns its scores into probabilities.

    The model is fitted on all rows. The sigmoid ``1 / (1 + exp(A f + B))`` is fitted on
    out-of-fold scores, because a fit separates its own training rows too well. This
    assumes that out-of-fold scores have the distribution of the scores of new rows in
    the fit on all rows, which holds better with more folds.
    ``pegasos_stats/studies/platt.py`` has the likelihood and its regularised targets.

    Class weights, such as ``weights="balanced"``, are used in the fits but not in the
    sigmoid: probabilities are for levels as frequent as in the data. Weights that
    differ from row to row are used in both.

    Scores carry no information if the fit is, within its duality gap, no better than
    one without predictors, or if out-of-fold scores of the second level are not larger
    than those of the first. Then each probability is the share of the level, with a
    warning.

    Parameters
    ----------
    model : SVM, KernelSVM or Logit
    solver, folds, repeats, groups, seed, workers, progress
        As for `cross_validate`, with at least 2 folds. A run of Pegasos without a seed
        uses that of the folds on all rows.

    Returns
    -------
    CalibratedResults

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver does not suit the model.
    DataError
        If the training rows of a fold lack a level, or there are fewer than two folds.

    Warns
    -----
    ConvergenceWarning
        If SDCA does not reach its tolerance.
    UndefinedMetricWarning
        If the scores carry no information, so that probabilities are the shares of the
        levels.

    References
    ----------
    Platt, *Probabilistic outputs for support vector machines*, Advances in Large
    Margin Classifiers (1999); Lin, Lin & Weng, Machine Learning 68 (2007), 267-276.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ p34 + p43 + p22", train, lam=0.01)
    >>> found = ps.calibrate(model, ps.SDCA(seed=1), folds=5, seed=443)
    >>> bool(found.sigmoid.A < 0)
    True
    """
    validation = cross_validation.cross_validate(
        model,
        solver,
        folds=folds,
        repeats=repeats,
        groups=groups,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    per_repeat = Counter(split.repeat for split in validation.folds.splits)
    if min(per_repeat.values()) < 2:
        raise DataError(
            "A repeat has one fold only, so that no other gives the sigmoid for its "
            "rows; give at least two folds."
        )
    fitting: Any = validation.model.at_chosen_lambda()
    solver = for_all_rows(with_seed(validation.solver, validation.seed))
    result = fitting.fit(solver)
    y, weights = model.problem.y, model.problem.outcome_weights
    scores = validation.scores_by_repeat
    given = y, scores.to_numpy(), weights
    sigmoid = sigmoid_of(*given)
    why = _without_scores(result, sigmoid)
    if why:
        warn_caller(f"{why}: {SHARES}.", UndefinedMetricWarning)
        sigmoid = base_rate(*given)
    way = base_rate if why else fit_sigmoid
    logits = cross_fitted_logits(validation.folds, *given, way)
    columns = pd.DataFrame(logits, scores.index, scores.columns)
    return CalibratedResults(result, sigmoid, validation, columns, why)


def _without_scores(result: Results, sigmoid: Sigmoid) -> str:
    """Why scores say nothing of the labels; empty if they do."""
    without = zero_model(result.problem)[1]
    alone = result.problem.offset is None  # predictors say all that there is to say
    near = result.relative_gap <= NEAR
    if alone and near and abs(without - result.objective) <= result.gap:
        return "The fit is no better than one without predictors, within its gap"
    if sigmoid.A >= 0.0:
        return "Out-of-fold scores of the second level are not the larger ones"
    return ""
