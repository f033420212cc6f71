"""How good held-out scores are: a number from labels and scores."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.foreign import refusing
from pegasos_stats.data.labels import Ties, signs_of
from pegasos_stats.errors import OptionError, listing, shown
from pegasos_stats.metrics import area_under_curve
from pegasos_stats.solvers.problem import LossName

Vector = NDArray[np.float64]
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
    """Mean of ``log(1 + exp(-y score))``: minus the mean log-likelihood."""
    return _mean(np.logaddexp(0.0, -y * scores), weights)


def brier_score(y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
    """Mean of ``(p - [y = 1])^2`` with ``p = 1 / (1 + exp(-score))``."""
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
    if not found or len(set(names)) < len(names):
        raise OptionError(
            f"metrics are {listing(names) or 'none'}; give different ones of "
            f"{listing(OF_LOSS[loss])}, or functions with names of their own."
        )
    return found


def _checked(item: Any, loss: LossName) -> Metric:
    if isinstance(item, str) and item in OF_LOSS[loss]:
        return Metric(item, MEASURES[item], item in LARGER_IS_BETTER)
    name = getattr(item, "__name__", None) if callable(item) else None
    if isinstance(name, str) and name.isidentifier():
        return Metric(name, _given(item))
    if isinstance(item, str) and item in ("log_loss", "brier_score"):
        raise OptionError(
            f"{item!r} needs probabilities, which the hinge loss does not give; take "
            "ps.logit(), or ps.calibrate() for probabilities of this model."
        )
    raise OptionError(
        f"The metric {shown(item)} is not known for the {loss} loss; give one of "
        f"{listing(OF_LOSS[loss])}, or a function of labels -1, +1 and scores that "
        "has a name."
    )


def _given(function: Callable[[Vector, Vector], float]) -> Measure:
    def measure(y: Vector, scores: Vector, weights: Vector, ties: Ties) -> float:
        found: Any = function(y, scores)
        refused = OptionError(
            f"The metric {function.__name__} gave {shown(found)}; let it return one "
            "number."
        )
        with refusing(refused):
            return float(found)

    return measure
