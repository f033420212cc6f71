"""Nested cross-validation: lambda is chosen from the training rows of each fold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_choice
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import DataError
from pegasos_stats.models.base import Model
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection import fold_fits, fold_metrics
from pegasos_stats.studies.selection.fold_fits import Fitted
from pegasos_stats.studies.selection.folds import (
    Folds,
    Split,
    check_classes,
    drawn_folds,
)
from pegasos_stats.studies.selection.lambdas import RULES, Rule, checked_lambdas, place
from pegasos_stats.studies.selection.path_results import LambdaPath
from pegasos_stats.studies.selection.side_by_side import run_tasks

INNER = 10  # folds, unless an earlier path says how many


@dataclass(frozen=True, eq=False)
class Choosing:
    """How lambda is chosen from the rows of a fit.

    Attributes
    ----------
    lambdas : float64 array, shape (m,)
        Largest first.
    folds, repeats : int
        Of the rows of each fit.
    metric : Metric
        The one that decides.
    rule : "1se" or "min"
    """

    lambdas: Vector
    folds: int
    repeats: int
    metric: fold_metrics.Metric
    rule: Rule


def checked_choosing(lambda_path: object, rule: Rule, model: Model) -> Choosing | None:
    """Read how lambda is to be chosen; None if it is that of the model.

    Parameters
    ----------
    lambda_path : None, False, True, LambdaPath or sequence of float
    rule : "1se" or "min"
    model : Model

    Raises
    ------
    OptionError
        If lambdas or rule are not allowed.
    """
    check_choice("rule", rule, RULES)
    if lambda_path is None or lambda_path is False:
        return None
    usual = fold_metrics.DECIDES[model.problem.loss]
    (metric,) = fold_metrics.checked_metrics(usual, model.problem.loss)
    if not isinstance(lambda_path, LambdaPath):
        given = None if lambda_path is True else lambda_path
        return Choosing(checked_lambdas(given, model), INNER, 1, metric, rule)
    metric = next(m for m in lambda_path.metrics if m.name == lambda_path.metric)
    folds = lambda_path.folds
    size = (INNER, 1) if folds is None else (folds.k, folds.repeats)
    return Choosing(lambda_path.lambdas, *size, metric, rule)


def nested_fits(
    model: Model,
    folds: Folds,
    solver: Pegasos | SDCA,
    choosing: Choosing,
    rng: RRandom,
    workers: int | None,
    progress: bool,
) -> tuple[list[Fitted], list[float]]:
    """Fit the rows of each fold at the lambda that their own cross-validation chose.

    Returns
    -------
    fits : list of Fitted
        One for each fold, at one lambda.
    lambdas : list of float
        Those chosen.
    """
    inner = [
        within(model, folds, split, choosing.folds, choosing.repeats, rng)
        for split in folds.splits
    ]
    splits = [*folds.splits, *(split for each in inner for split in each.splits)]
    every = Folds(tuple(splits), folds.n)
    tasks = fold_fits.fold_tasks(model, every, solver, choosing.lambdas, rng)
    fits = run_tasks(tasks, workers, progress)
    outer, rest = fits[: len(folds)], iter(fits[len(folds) :])
    found, chosen = [], []
    for fit, part in zip(outer, inner, strict=True):
        own = [next(rest) for _ in part.splits]
        at = _place(model, part, own, choosing, solver.ties)
        chosen.append(float(choosing.lambdas[at]))
        found.append(fit.only(at))
    return found, chosen


def corrected(by_fold: pd.DataFrame) -> float:
    """What a standard error is multiplied by, as folds share the rows that they fit.

    ``sqrt(1 + k n_test / n_train)`` for ``k`` folds of a repeat. On noise, of 60 to 200
    rows, an estimate plus 1.96 errors was below the truth in 8% to 12% of samples
    without it.

    Parameters
    ----------
    by_fold : DataFrame
        Columns ``repeat, n_train, n_test``.

    References
    ----------
    Nadeau & Bengio, *Inference for the generalization error*, Machine Learning 52
    (2003), 239-281, section 3.3.

    Examples
    --------
    >>> lines = {"repeat": [1] * 10, "n_train": [90] * 10, "n_test": [10] * 10}
    >>> round(corrected(pd.DataFrame(lines)), 3)
    1.453
    """
    k = len(by_fold) / by_fold["repeat"].nunique()
    share = float((by_fold["n_test"] / by_fold["n_train"]).mean())
    return float(np.sqrt(1.0 + k * share))


def within(
    model: Model, folds: Folds, split: Split, k: int, repeats: int, rng: RRandom
) -> Folds:
    """Folds of the rows of a fit, as rows of the whole.

    Whole groups stay together if they do in `folds`. There are at most as many folds as
    rows, or groups.
    """
    rows, y = split.train, model.problem.y
    codes = (y[rows] > 0).astype(np.intp)
    groups, most = None, len(rows)
    if folds.groups is not None:
        groups = pd.factorize(folds.groups[rows])[0]
        most = int(groups.max()) + 1
    if most < 2:
        raise DataError(
            f"Fold {split.fold!r} of repeat {split.repeat} leaves 1 "
            f"{'row' if groups is None else 'group'} to fit, which no folds within "
            "can part; give more folds, or more groups."
        )
    drawn = drawn_folds(codes, min(k, most), repeats, rng, groups)
    splits = tuple(
        Split(each.repeat, each.fold, rows[each.test], split.n, rows[each.train])
        for each in drawn.splits
    )
    found = Folds(splits, split.n)
    check_classes(found, y * (model.problem.row_weights > 0.0), model.coding)
    return found


def _place(
    model: Model,
    folds: Folds,
    fits: Sequence[Fitted],
    choosing: Choosing,
    ties: Ties,
) -> int:
    """Position of the lambda that the folds choose."""
    metric, lambdas = choosing.metric, choosing.lambdas
    lines = fold_metrics.fold_lines(model, folds, fits, (metric,), ties)
    mean, error = fold_metrics.curve(lines, metric.name, len(lambdas))
    return place(-mean if metric.larger_is_better else mean, error, choosing.rule)
