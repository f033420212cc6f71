"""The fit of a model together with the sigmoid of its scores."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import DataError
from pegasos_stats.models.base import Model
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.calibration.calibrated import CalibratedResults
from pegasos_stats.studies.calibration.platt import Sigmoid, fit_sigmoid
from pegasos_stats.studies.selection.cross_validation import cross_validate
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.runs import with_seed

Vector = NDArray[np.float64]


def calibrate(
    model: Model,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: Any = 5,
    repeats: int = 1,
    seed: int | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> CalibratedResults:
    """Fit a model and Platt's sigmoid, which turns its scores into probabilities.

    The model is fitted on all rows. The sigmoid ``1 / (1 + exp(A f + B))`` is fitted
    on out-of-fold scores, of each row by a fit that has not seen it, because scores
    of rows that a fit has seen are too far apart. It assumes that those scores are
    distributed as the scores of the fit on all rows are on new rows, which holds
    better with more folds. `fit_sigmoid` in ``pegasos_stats/studies/calibration`` has
    the likelihood and its regularised targets.

    Parameters
    ----------
    model : SVM, KernelSVM or Logit
    solver, folds, repeats, seed, workers, progress
        As for `cross_validate`; `folds` are 5 if left out, at least 2. The fit on all
        rows has the seed of the folds.

    Returns
    -------
    CalibratedResults

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver does not go with the model.
    DataError
        If a fold leaves no row of a level to fit, or there are no two folds.

    Warns
    -----
    ConvergenceWarning
        If SDCA does not reach its tolerance.

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
    validation = cross_validate(
        model,
        solver,
        folds=folds,
        repeats=repeats,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    _check_folds(validation.folds)
    fitting: Any = model
    result = fitting.fit(with_seed(validation.solver, validation.seed))
    y, weights = model.problem.y, model.problem.row_weights
    scores = validation.scores_by_repeat
    columns = pd.DataFrame(
        cross_fitted_logits(validation.folds, y, scores.to_numpy(), weights),
        scores.index,
        scores.columns,
    )
    sigmoid = sigmoid_of(y, scores.to_numpy(), weights)
    return CalibratedResults(result, sigmoid, validation, columns)


def sigmoid_of(y: Vector, scores: Vector, weights: Vector) -> Sigmoid:
    """Sigmoid of out-of-fold scores, all repeats together, each row counted once.

    Parameters
    ----------
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)
        NaN where a row is in no held-out fold.
    """
    known = ~np.isnan(scores)
    shares = weights[:, None] / np.maximum(known.sum(axis=1, keepdims=True), 1)
    labels, shares = (np.broadcast_to(v, scores.shape) for v in (y[:, None], shares))
    return fit_sigmoid(labels[known], scores[known], shares[known])


def cross_fitted_logits(
    folds: Folds, y: Vector, scores: Vector, weights: Vector
) -> Vector:
    """Log odds of the rows of each fold, by the sigmoid of the other folds' scores.

    Parameters
    ----------
    folds : Folds
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)

    Returns
    -------
    float64 array, shape (n, repeats)
    """
    found = np.full(scores.shape, np.nan)
    for split in folds.splits:
        column = scores[:, split.repeat - 1]
        others = ~np.isnan(column)
        others[split.test] = False
        sigmoid = fit_sigmoid(y[others], column[others], weights[others])
        found[split.test, split.repeat - 1] = sigmoid.logits(column[split.test])
    return found


def _check_folds(folds: Folds) -> None:
    """Raise `DataError` if a repeat has one fold only."""
    counts = [0] * folds.repeats
    for split in folds.splits:
        counts[split.repeat - 1] += 1
    if min(counts) < 2:
        raise DataError(
            "A repeat has one fold only, so that no other gives the sigmoid for its "
            "rows; give at least two folds."
        )
