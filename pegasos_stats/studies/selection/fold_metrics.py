"""Metrics of held-out scores: a line for each fold, means and standard errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Rows, Vector
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
from pegasos_stats.metrics import area_under_curve
from pegasos_stats.models.base import Model
from pegasos_stats.solvers.problem import LossName
from pegasos_stats.studies.selection.fold_fits import Fitted
from pegasos_stats.studies.selection.folds import Folds

Measure = Callable[[Vector, Vector, Vector, Ties], float]


@dataclass(frozen=True)
class Metric:
    """A number that says how good scores are.

    Attributes
    ----------
    name : str
    measure : callable
        From labels -1 and +1, scores, weights and ties.
    larger_is_better : bool
    """

    name: str
    measure: Measure
    larger_is_better: bool = False


def error_rate(y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
    """Share of rows with a score on the wrong side of 0, of those that are decided.

    Examples
    --------
    >>> error_rate(np.array([1.0, -1, 1]), np.array([2.0, 1, 0]), np.ones(3), "na")
    0.5
    """
    signs = signs_of(scores, ties)
    decided = ~np.isnan(signs)
    return _mean((signs != y)[decided], weights[decided])


def hinge_loss(y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
    """Mean of ``max(0, 1 - y score)``."""
    return _mean(np.maximum(0.0, 1.0 - y * scores), weights)


def log_loss(y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
    """Mean of ``log(1 + exp(-y score))``, the log loss of logistic scores."""
    return _mean(np.logaddexp(0.0, -y * scores), weights)


def brier_score(y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
    """Mean of ``(p - [y = 1])^2`` of logistic ``p = 1 / (1 + exp(-score))``."""
    from scipy.special import expit

    return _mean(np.square(expit(-y * scores)), weights)


def auc(y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
    """Area under the ROC curve; NaN where a level has no row."""
    return area_under_curve((y > 0).astype(np.intp), scores, weights)


def _mean(values: Any, weights: Vector) -> float:
    """Weighted mean, NaN without any weight."""
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0.0 else float("nan")


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
    if metrics is None:
        metrics = OF_LOSS[loss]
    single = isinstance(metrics, str) or callable(metrics)
    refused = OptionError(
        f"metrics={shown(metrics)} is not allowed; give a list with names of "
        f"{listing(OF_LOSS[loss])}, or functions."
    )
    with refusing(refused):
        items = [metrics] if single else list(islice(metrics, MOST))
    found = tuple(_checked(item, loss) for item in items)
    names = [metric.name for metric in found]
    if taken := [name for name in names if name in COLUMNS]:
        raise OptionError(
            f"A metric is called {taken[0]!r}, as a column of the lines of the folds "
            "is; give the function another name."
        )
    if not found or len(set(names)) < len(names):
        raise OptionError(
            f"metrics are {listing(names) or 'none'}; give different ones of "
            f"{listing(OF_LOSS[loss])}, or functions with names of their own."
        )
    return found


def _checked(item: Any, loss: LossName) -> Metric:
    """Return the metric of this name, or the one that a function computes."""
    if isinstance(item, str) and item in OF_LOSS[loss]:
        return Metric(item, MEASURES[item], item in LARGER_IS_BETTER)
    name = getattr(item, "__name__", None) if callable(item) else None
    if isinstance(name, str) and name.isidentifier():
        return own_metric(name, item)
    if isinstance(item, str) and item in ("log_loss", "brier_score"):
        raise OptionError(
            f"{item!r} needs probabilities, which the hinge loss does not give; take "
            "ps.logit(), or ps.calibrate() for probabilities of this model."
        )
    raise OptionError(
        f"The metric {shown(item)} is not known for the {loss} loss"
        f"{did_you_mean(item, OF_LOSS[loss])}; give one of {listing(OF_LOSS[loss])}, "
        "or a function of labels -1, +1 and scores that has a name."
    )


@dataclass(frozen=True)
class _Given:
    """A user's function, which is called as the metrics of the package are."""

    function: Callable[[Vector, Vector], float]

    def __call__(self, y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
        name = getattr(self.function, "__name__", "given")
        try:
            found: Any = self.function(y, scores)
        except Exception as error:
            raise OptionError(
                f"The metric {name} raised {type(error).__name__}: "
                f"{shown(str(error))}; give a function of labels -1, +1 and scores."
            ) from error
        refused = OptionError(
            f"The metric {name} gave {shown(found)}; let it return one number."
        )
        with refusing(refused):
            return float(found)


def own_metric(name: str, function: Callable[..., Any]) -> Metric:
    """A metric that a function of the user computes."""
    return Metric(name, _Given(function))


def function_of(metric: Metric) -> Callable[..., Any]:
    """The function that `own_metric` was given."""
    given: Any = metric.measure
    return given.function  # type: ignore[no-any-return]


def fold_lines(
    model: Model,
    folds: Folds,
    fits: Sequence[Fitted],
    metrics: Sequence[Metric],
    ties: Ties,
) -> pd.DataFrame:
    """Return a line for each fold and each lambda of its fits, with all metrics.

    Rows without a score, for which a transform has no value, are in no metric.
    """
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
                "decided": float(weights[test] @ ~np.isnan(signs_of(scores, ties))),
                "seed": fit.seed,
                "steps": steps,
                "objective": at.objective,
                "relative_gap": at.relative_gap,
            }
            known = ~np.isnan(scores)
            given = y[test][known], scores[known], weights[test][known], ties
            lines.append(line | {m.name: m.measure(*given) for m in metrics})
    return pd.DataFrame(lines)


def mean_and_error(
    values: Vector, weights: Vector, repeats: Rows
) -> tuple[float, float]:
    """Mean over the folds, and its standard error.

    In one repeat of k folds with values ``v_j`` and weights ``w_j`` these are
    ``m = sum w_j v_j / sum w_j`` and ``sqrt(sum w_j (v_j - m)^2 / sum w_j / (k - 1))``.
    Repeats share their rows: the mean is that of their means, and the standard error
    the root mean square of theirs, which does not shrink with the number of repeats.
    Folds in which the value is NaN are left out.

    Parameters
    ----------
    values : float64 array, shape (m,)
    weights : float64 array, shape (m,)
        Weight of the held-out rows.
    repeats : int64 array, shape (m,)

    Returns
    -------
    pair of float
        NaN where no fold has a value; the standard error also with one fold.

    References
    ----------
    Hastie, Tibshirani & Friedman, *The Elements of Statistical Learning* (2009),
    section 7.10.1.

    Examples
    --------
    >>> mean_and_error(np.array([0.25, 0.75]), np.ones(2), np.ones(2, int))
    (0.5, 0.25)
    """
    kept = ~np.isnan(values)
    if not kept.any():
        return float("nan"), float("nan")
    parts = [kept & (repeats == r) for r in np.unique(repeats[kept])]
    means, errors = [], []
    for part in parts:
        v, w = values[part], weights[part]
        mean = float(w @ v / w.sum())
        variance = np.nan
        if len(v) > 1:
            variance = w @ np.square(v - mean) / w.sum() / (len(v) - 1)
        means.append(mean)
        errors.append(float(np.sqrt(variance)))
    return float(np.mean(means)), float(np.sqrt(np.square(errors).mean()))


def estimates(lines: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return estimate and standard error of each metric, from a line for each fold.

    A fold counts with the weight of its held-out rows; for the error rate, which is
    one of decided rows, with that of these. So its mean is the rate of all folds.

    Parameters
    ----------
    lines : DataFrame
        Columns ``repeat``, ``weight``, ``decided`` and the metrics.
    names : list of str
        Names of the metrics.

    Returns
    -------
    DataFrame
        Columns ``term, estimate, std_error``.
    """
    repeats = lines["repeat"].to_numpy(dtype=np.int64)
    pairs = []
    for name in names:
        by = "decided" if name == "error_rate" else "weight"
        values, weights = lines[[name, by]].to_numpy(dtype=np.float64).T
        pairs.append(mean_and_error(values, weights, repeats))
    rows = [(name, *pair) for name, pair in zip(names, pairs, strict=True)]
    return pd.DataFrame(rows, columns=["term", "estimate", "std_error"])


def warn_undefined(by_fold: pd.DataFrame, metrics: Sequence[Metric]) -> None:
    """Warn of each metric that is NaN in some folds."""
    missing = by_fold[[metric.name for metric in metrics]].isna().sum()
    for name, count in missing[missing > 0].items():
        text = (
            f"{name} is not defined in {counted(int(count), 'fold')} and is left out "
            "there: a level has no held-out row, or no row is decided."
        )
        warn_caller(text, UndefinedMetricWarning)
