"""Metrics of held-out scores: a line for each fold, means and standard errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Matrix, Rows, Vector
from pegasos_stats.data.foreign import refusing
from pegasos_stats.data.labels import Ties, signs_of
from pegasos_stats.errors import (
    OptionError,
    UndefinedMetricWarning,
    counted,
    did_you_mean,
    listing,
    shown,
    warn_caller,
)
from pegasos_stats.metrics.scores import areas_under_curves
from pegasos_stats.solvers.problem import LossName
from pegasos_stats.studies.selection.fold_fits import Fit, Fitter
from pegasos_stats.studies.selection.folds import Folds

Measure = Callable[[Vector, Matrix, Vector, Ties], Vector]


@dataclass(frozen=True)
class Metric:
    """A number that says how good scores are.

    Attributes
    ----------
    name : str
    measure : callable
        From labels -1 and +1, shape (n,), lines of scores, shape (m, n), weights and
        ties: a number for each line.
    larger_is_better : bool
    """

    name: str
    measure: Measure
    larger_is_better: bool = False


def error_rate(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Share of rows with a score on the wrong side of 0, of those that are decided.

    Examples
    --------
    >>> y, scores = np.array([1.0, -1, 1]), np.array([[2.0, 1, 0]])
    >>> error_rate(y, scores, np.ones(3), "na")
    array([0.5])
    """
    signs = signs_of(scores, ties)
    decided = ~np.isnan(signs)
    return _shares((decided & (signs != y)) @ weights, decided @ weights)


def hinge_loss(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Mean of ``max(0, 1 - y score)``."""
    return _means(np.maximum(0.0, 1.0 - y * scores), weights)


def log_loss(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Mean of ``log(1 + exp(-y score))``, the log loss of logistic scores."""
    return _means(np.logaddexp(0.0, -y * scores), weights)


def brier_score(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Mean of ``(p - [y = 1])^2`` of logistic ``p = 1 / (1 + exp(-score))``."""
    from scipy.special import expit

    return _means(np.square(expit(-y * scores)), weights)


def auc(y: Vector, scores: Matrix, weights: Vector, ties: Ties) -> Vector:
    """Area under the ROC curve; NaN where a level has no row."""
    return areas_under_curves((y > 0).astype(np.intp), scores, weights)


def _means(values: Matrix, weights: Vector) -> Vector:
    """Weighted mean of each line, NaN without any weight."""
    return _shares(values @ weights, np.full(len(values), weights.sum()))


def _shares(parts: Vector, totals: Vector) -> Vector:
    found = np.full(len(parts), np.nan)
    return np.asarray(np.divide(parts, totals, out=found, where=totals > 0.0))


MEASURES: dict[str, Measure] = {
    "error_rate": error_rate,
    "hinge_loss": hinge_loss,
    "log_loss": log_loss,
    "brier_score": brier_score,
    "auc": auc,
}
COLUMNS = (  # of the lines of the folds, beside the metrics
    *("repeat", "fold", "lam", "n_train", "n_test", "weight", "decided", "seed"),
    *("steps", "objective", "relative_gap"),
)
MOST = 1000  # metrics in a list, which may have no end
LARGER_IS_BETTER = ("auc",)
OF_LOSS: dict[LossName, tuple[str, ...]] = {
    "hinge": ("error_rate", "hinge_loss", "auc"),
    "log": ("error_rate", "log_loss", "brier_score", "auc"),
}
DECIDES: dict[LossName, str] = {"hinge": "error_rate", "log": "log_loss"}


def checked_metrics(metrics: Any, loss: LossName) -> tuple[Metric, ...]:
    """Read names of metrics, or functions of labels -1, +1 and scores.

    Parameters
    ----------
    metrics : None, str, callable, or sequence of them
        All that the loss has, if None.
    loss : "hinge" or "log"

    Raises
    ------
    OptionError
        If a metric is not known, does not go with the loss, or has the name of
        another one.
    """
    known = OF_LOSS[loss]
    if metrics is None:
        metrics = known
    single = isinstance(metrics, str) or callable(metrics)
    why = f"is not allowed; give different ones of {listing(known)}, or functions."
    with refusing(OptionError(why, "metrics", metrics)):
        items = [metrics] if single else list(islice(metrics, MOST))
    found = tuple(_checked(item, loss) for item in items)
    names = [metric.name for metric in found]
    if not found or len({*names, *COLUMNS}) < len(names) + len(COLUMNS):
        raise OptionError(why, "metrics", metrics)
    return found


def _checked(item: Any, loss: LossName) -> Metric:
    """Return the metric of this name, or the one that a function computes."""
    if isinstance(item, str) and item in OF_LOSS[loss]:
        return Metric(item, MEASURES[item], item in LARGER_IS_BETTER)
    name = getattr(item, "__name__", None) if callable(item) else None
    if isinstance(name, str) and name.isidentifier():
        return own_metric(name, item)
    raise OptionError(
        f"The metric {shown(item)} is not known for the {loss} loss"
        f"{did_you_mean(item, OF_LOSS[loss])}; give one of {listing(OF_LOSS[loss])}, "
        "or a function with a name."
    )


@dataclass(frozen=True)
class _OwnMeasure:
    """A user's function of labels and scores, called for one line after the other."""

    name: str
    function: Callable[[Vector, Vector], float]

    def __call__(
        self, y: Vector, scores: Matrix, weights: Vector, ties: Ties
    ) -> Vector:
        try:
            return np.array([float(self.function(y, line)) for line in scores])
        except Exception as error:
            raise OptionError(
                f"The metric {self.name} raised {type(error).__name__}: "
                f"{shown(str(error))}."
            ) from error


def own_metric(name: str, function: Callable[..., Any]) -> Metric:
    """A metric that a function of the user computes."""
    return Metric(name, _OwnMeasure(name, function))


def function_of(metric: Metric) -> Callable[..., object]:
    """The function that `own_metric` was given."""
    assert isinstance(metric.measure, _OwnMeasure)
    return metric.measure.function


def fold_lines(
    fitter: Fitter,
    folds: Folds,
    fits: Sequence[Sequence[Fit]],
    metrics: Sequence[Metric],
) -> pd.DataFrame:
    """Return a line for each fold and each lambda of its fits, with all metrics.

    Rows without a score, for which a transform has no value, are in no metric.
    """
    parts, model, ties = [], fitter.model, fitter.solver.ties
    for split, own in zip(folds.splits, fits, strict=True):
        test = split.test
        y, weights = model.problem.y[test], model.problem.row_weights[test]
        scores = np.array([fit.scores for fit in own])
        known = ~np.isnan(scores).any(axis=0)
        columns: dict[str, object] = {
            "repeat": split.repeat,
            "fold": split.fold,
            "n_train": split.n_train,
            "n_test": len(test),
            "weight": float(weights.sum()),
            "decided": ~np.isnan(signs_of(scores, ties)) @ weights,
            "seed": [fit.seed for fit in own],
            "steps": [fit.steps for fit in own],
            "objective": [fit.certificate.objective for fit in own],
            "relative_gap": [fit.certificate.relative_gap for fit in own],
        }
        if not known.all():
            y, scores, weights = y[known], scores[:, known], weights[known]
        for metric in metrics:
            columns[metric.name] = metric.measure(y, scores, weights, ties)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def means_and_errors(
    values: Matrix, weights: Matrix, repeats: Rows
) -> tuple[Vector, Vector]:
    """Means over the folds of each column, and their standard errors.

    In one repeat of k folds with values ``v_j`` and weights ``w_j`` these are
    ``m = sum w_j v_j / sum w_j`` and ``sqrt(sum w_j (v_j - m)^2 / sum w_j / (k - 1))``.
    Repeats share their rows: the mean is that of their means, and the standard error
    the root mean square of theirs, which does not shrink with the number of repeats.
    Folds in which the value is NaN are left out.

    Parameters
    ----------
    values, weights : float64 array, shape (folds, m)
        Weights are those of the held-out rows.
    repeats : int64 array, shape (folds,)

    Returns
    -------
    pair of float64 array, shape (m,)
        NaN where no fold has a value; the standard error also with one fold.

    References
    ----------
    Hastie, Tibshirani & Friedman, *The Elements of Statistical Learning* (2009),
    section 7.10.1.

    Examples
    --------
    >>> values = np.array([[0.25], [0.75]])
    >>> means_and_errors(values, np.ones((2, 1)), np.ones(2, int))
    (array([0.5]), array([0.25]))
    """
    kept = ~np.isnan(values)
    v, w = np.where(kept, values, 0.0), np.where(kept, weights, 0.0)
    means, squares, used = [], [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for repeat in np.unique(repeats):
            part = repeats == repeat
            count, total = kept[part].sum(axis=0), w[part].sum(axis=0)
            mean = (w[part] * v[part]).sum(axis=0) / total
            apart = (w[part] * np.square(v[part] - mean)).sum(axis=0) / total
            apart = np.where(count > 1, apart / (count - 1.0), np.nan)
            used.append(count > 0)
            means.append(np.where(count > 0, mean, 0.0))
            squares.append(np.where(count > 0, apart, 0.0))
        number = np.sum(used, axis=0)
        return np.sum(means, axis=0) / number, np.sqrt(np.sum(squares, axis=0) / number)


def curve(lines: pd.DataFrame, name: str, count: int = 1) -> tuple[Vector, Vector]:
    """Estimate and standard error of a metric for each lambda, shape (count,).

    A fold counts with the weight of its held-out rows; for the error rate, which is
    one of decided rows, with that of these. So its mean is the rate of all folds.

    Parameters
    ----------
    lines : DataFrame
        Those of one fold after the other, `count` of each: columns ``repeat``,
        ``weight``, ``decided`` and the metric.
    name : str
    count : int, default 1
        Number of lambdas.
    """
    by = "decided" if name == "error_rate" else "weight"
    values, weights = (
        lines[column].to_numpy(dtype=np.float64).reshape(-1, count)
        for column in (name, by)
    )
    return means_and_errors(values, weights, lines["repeat"].to_numpy()[::count])


def warn_undefined(by_fold: pd.DataFrame, metrics: Sequence[Metric]) -> None:
    """Warn of each metric that is NaN in some folds."""
    missing = by_fold[[metric.name for metric in metrics]].isna().sum()
    for name, count in missing[missing > 0].items():
        folds = counted(int(count), "fold")
        text = f"{name} is not defined in {folds} and is left out there."
        warn_caller(text, UndefinedMetricWarning)
