"""Cross-validation: every row scored by a fit that has not seen it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.models.base import Model
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.given import checked_folds
from pegasos_stats.studies.selection.metrics import Metric, checked_metrics
from pegasos_stats.studies.selection.runs import (
    checked_fold_solver,
    checked_model,
    fold_tasks,
    run_tasks,
    warn_of_gaps,
)
from pegasos_stats.studies.selection.training import Fitted
from pegasos_stats.studies.selection.validated import CrossValidation


def cross_validate(
    model: Model,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: Any = 10,
    repeats: int = 1,
    seed: int | None = None,
    metrics: Any = None,
    workers: int | None = None,
    progress: bool = False,
) -> CrossValidation:
    """Fit on all folds but one, score the rows of that one, for every fold.

    From one stream of R's random numbers come first the folds, then a seed for the
    fit of each: ``set.seed(seed)``, ``repeated_folds(y, k, repeats)`` and
    ``fit_seeds(k * repeats)`` of ``r_reference``. A solver with a seed of its own
    uses that in every fold instead.

    Weights are scaled anew, and with ``standardize=True`` the scaling is estimated
    anew, from the rows of each fit. Transforms of a formula such as ``scale()`` or
    ``poly()`` were evaluated once, on all rows.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    solver : Pegasos or SDCA, optional
        As for ``model.fit``: ``SDCA()``, with a kernel ``Pegasos()``, if left out.
    folds : int, Folds, Series or array, or list of pairs, default 10
        A number of stratified folds; the ``folds`` of another cross-validation; the
        fold of each row by number or label, in two dimensions a line for each repeat;
        or pairs ``(train, test)`` of rows used, counted from zero.
    repeats : int, default 1
        How often folds are drawn.
    seed : int, optional
        As for R's ``set.seed()``. Without one a seed is drawn and kept.
    metrics : str, callable, or sequence of them, optional
        ``"error_rate"``, ``"auc"``; ``"hinge_loss"`` (hinge); ``"log_loss"``,
        ``"brier_score"`` (log loss); a function of labels -1, +1 and scores. All of
        the model's loss if left out. Rows count with their weights: with
        ``weights="balanced"`` the error rate is that of levels of the same size.
    workers : int, optional
        Number of threads; all usable cores if left out. No number depends on it.
        Each holds the rows of its fold, with a kernel those of its Gram matrix.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    CrossValidation

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver does not go with the model.
    DataError
        If a fold leaves no row of a level to fit, or is not of these rows.

    Warns
    -----
    ConvergenceWarning
        Once, if SDCA does not reach its tolerance in some fold.
    UndefinedMetricWarning
        If a metric is not defined in some fold, such as the area under the curve
        where a level has no held-out row.

    References
    ----------
    Stone, Journal of the Royal Statistical Society B 36 (1974), 111-147.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> found = ps.cross_validate(ps.svm("digit ~ .", train), folds=5, seed=443)
    >>> found.by_fold["n_test"].tolist()
    [40, 40, 40, 40, 40]
    >>> bool(found.mean["error_rate"] == found.confusion().error_rate)
    True
    """
    model = checked_model(model)
    solver = checked_fold_solver(model, solver, SDCA())
    chosen = checked_metrics(metrics, model.problem.loss)
    rng = RRandom(seed, sample_kind=solver.sample_kind)
    drawn = checked_folds(folds, repeats, model._sample, rng)
    tasks = fold_tasks(model, drawn, solver, np.array([model.problem.lam]), rng)
    fits = run_tasks(tasks, workers, progress)
    warn_of_gaps(solver, [fit.certificates[0] for fit in fits])
    found = CrossValidation(
        model=model,
        solver=solver,
        folds=drawn,
        seed=rng.seed,
        metrics=chosen,
        by_fold=lines_of(model, drawn, fits, chosen, solver),
        scores_by_repeat=_scores(model, drawn, fits),
    )
    found.warn_undefined()
    return found


def lines_of(
    model: Model,
    folds: Folds,
    fits: Sequence[Fitted],
    metrics: Sequence[Metric],
    solver: Pegasos | SDCA,
) -> pd.DataFrame:
    """One line for each fold, and each lambda of its fits."""
    lines = []
    y, weights = model.problem.y, model.problem.row_weights
    for split, fit in zip(folds.splits, fits, strict=True):
        test = split.test
        for scores, at, steps in zip(
            fit.scores, fit.certificates, fit.steps, strict=True
        ):
            line = {
                "repeat": split.repeat,
                "fold": split.fold,
                "n_train": split.n_train,
                "n_test": len(test),
                "weight": float(weights[test].sum()),
                "seed": fit.seed,
                "steps": steps,
                "objective": at.objective,
                "relative_gap": at.relative_gap,
            }
            given = y[test], scores, weights[test], solver.ties
            lines.append(line | {m.name: m.measure(*given) for m in metrics})
    return pd.DataFrame(lines)


def _scores(model: Model, folds: Folds, fits: Sequence[Fitted]) -> pd.DataFrame:
    """Scores of the held-out rows, a column for each repeat."""
    found = np.full((model.problem.n, folds.repeats), np.nan)
    for split, fit in zip(folds.splits, fits, strict=True):
        found[split.test, split.repeat - 1] = fit.scores[0]
    columns = pd.RangeIndex(1, folds.repeats + 1, name="repeat")
    return pd.DataFrame(found, model._sample.index, columns)
