"""Catalogue of the statistics: names, caret's names, those that are undefined."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pegasos_stats.errors import UndefinedMetricWarning, warn_caller
from pegasos_stats.metrics import rates
from pegasos_stats.metrics.inputs import Mode
from pegasos_stats.metrics.intervals import NONE, proportion_interval
from pegasos_stats.metrics.rates import Counts

Source = Literal["new", "training", "partly training", "out of fold", "weighted"]

# Why rows say nothing certain of new ones, by where they come from.
NO_INFERENCE: dict[Source, str] = {
    "training": "the fit has seen these rows",
    "partly training": "the fit has seen {:,} of these rows ({:.3g}%)",
    "out of fold": "rows share their fits, and are not independent trials",
    "weighted": "weights are not numbers of rows",
}
INFERRED = ("accuracy_low", "accuracy_high", "accuracy_p_value", "mcnemar_p_value")

# caret has no names for the others.
CARET_NAMES = {
    "accuracy": "Accuracy",
    "kappa": "Kappa",
    "accuracy_low": "AccuracyLower",
    "accuracy_high": "AccuracyUpper",
    "no_information_rate": "AccuracyNull",
    "accuracy_p_value": "AccuracyPValue",
    "mcnemar_p_value": "McnemarPValue",
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "pos_pred_value": "Pos Pred Value",
    "neg_pred_value": "Neg Pred Value",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "prevalence": "Prevalence",
    "detection_rate": "Detection Rate",
    "detection_prevalence": "Detection Prevalence",
    "balanced_accuracy": "Balanced Accuracy",
}
BY_RATES = ("sensitivity", "specificity", "pos_pred_value", "neg_pred_value")
BY_PRECISION = ("precision", "recall")

NO_ROWS = "no row has both an actual and a predicted label"
NO_DIVISOR = "their divisor is 0"


def overall_terms(counts: Counts, tested: bool = True) -> dict[str, float]:
    """Compute the statistics of the whole table, by name; limits and tests if `tested`.

    Examples
    --------
    >>> import numpy as np
    >>> overall_terms(np.array([[285, 15], [8, 292]]))["kappa"]
    0.9233333333333333
    """
    right, n = int(counts.trace()), int(counts.sum())
    low, high = proportion_interval(right, n) if tested else NONE
    return {
        "accuracy": rates.accuracy(counts),
        "kappa": rates.kappa(counts),
        "accuracy_low": low,
        "accuracy_high": high,
        "no_information_rate": rates.no_information_rate(counts),
        "accuracy_p_value": rates.accuracy_p_value(counts) if tested else math.nan,
        "mcnemar_p_value": rates.mcnemar(counts).p_value if tested else math.nan,
        "mcc": rates.matthews_correlation(counts),
    }


def class_terms(
    counts: Counts, positive: int, share: float | None = None, beta: float = 1.0
) -> dict[str, float]:
    """Compute the statistics of one class against the others, by name.

    Examples
    --------
    >>> import numpy as np
    >>> class_terms(np.array([[285, 15], [8, 292]]), 1)["specificity"]
    0.95
    """
    at = (counts, positive)
    return {
        "sensitivity": rates.sensitivity(*at),
        "specificity": rates.specificity(*at),
        "pos_pred_value": rates.pos_pred_value(*at, share),
        "neg_pred_value": rates.neg_pred_value(*at, share),
        "precision": rates.precision(*at),
        "recall": rates.recall(*at),
        f"f{beta:g}": rates.f_beta(*at, beta),
        "prevalence": rates.prevalence(*at) if share is None else share,
        "detection_rate": rates.detection_rate(*at),
        "detection_prevalence": rates.detection_prevalence(*at),
        "balanced_accuracy": rates.balanced_accuracy(*at),
    }


def shown_terms(names: Iterable[str], mode: Mode) -> list[str]:
    """Return the statistics of a class that caret prints in this mode.

    Examples
    --------
    >>> shown_terms(["sensitivity", "recall", "f2", "prevalence"], "prec_recall")
    ['recall', 'f2', 'prevalence']
    """
    if mode == "everything":
        return list(names)
    if mode == "prec_recall":
        return [name for name in names if name not in BY_RATES]
    f_measures = re.compile(r"f\d")
    return [n for n in names if n not in BY_PRECISION and not f_measures.match(n)]


def label_of(name: str) -> str:
    """Return the name of a statistic as caret prints it.

    Examples
    --------
    >>> label_of("pos_pred_value"), label_of("f0.5")
    ('Pos Pred Value', 'F0.5')
    """
    return CARET_NAMES.get(name, name.capitalize())


def undefined(terms: Mapping[str, float]) -> list[str]:
    """Names of the statistics that are NaN."""
    return [name for name, value in terms.items() if math.isnan(value)]


def warn_undefined(names: Sequence[str], why: str) -> None:
    """Warn, in one warning, of all statistics that are not defined."""
    if names:
        text = f"Not defined, and given as NaN: {', '.join(names)} ({why})."
        warn_caller(text, UndefinedMetricWarning)
