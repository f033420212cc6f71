"""Why a statistic of a table is not defined."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from pegasos_stats.errors import UndefinedMetricWarning
from pegasos_stats.metrics.catalogue import is_f_measure
from pegasos_stats.metrics.ratio import Counts

Reasons = Mapping[str, str]

NO_ROWS = "no row has both an actual and a predicted label"

# What each statistic of a class needs, in the order in which it is missed.
NEEDS = {
    "sensitivity": ("actual",),
    "specificity": ("other",),
    "pos_pred_value": ("actual", "other", "predicted", "prevalence"),
    "neg_pred_value": ("actual", "other", "rejected", "prevalence"),
    "precision": ("predicted",),
    "recall": ("actual",),
    "f": ("actual", "predicted", "hit"),
    "balanced_accuracy": ("actual", "other"),
}


def class_reasons(
    terms: Mapping[str, float], counts: Counts, positive: int, level: Any
) -> dict[str, str]:
    """Reason for each statistic of a class that is NaN.

    Examples
    --------
    >>> class_reasons({"precision": np.nan}, np.array([[0, 3], [0, 4]]), 0, "a")
    {'precision': "no row is predicted 'a'"}
    """
    missing = _missing(counts, positive, level)
    undefined = [name for name, value in terms.items() if value != value]
    return {name: _first(missing, name) for name in undefined}


def overall_reasons(terms: Mapping[str, float], counts: Counts) -> dict[str, str]:
    """Reason for each statistic of the whole table that is NaN.

    Examples
    --------
    >>> overall_reasons({"mcnemar_p_value": np.nan}, np.array([[3, 0], [0, 4]]))
    {'mcnemar_p_value': 'no row is misclassified'}
    """
    reasons = {
        "kappa": "all rows have one level, actual and predicted",
        "mcnemar_p_value": _no_pairs(counts),
        "mcc": "all rows have one actual, or one predicted level",
        "auc": "a level has no row with a score",
        "log_loss": "no row has an actual label and probabilities",
        "brier_score": "no row has an actual label and probabilities",
    }
    beyond = ("auc", "log_loss", "brier_score")
    undefined = [name for name, value in terms.items() if value != value]
    if not counts.sum():
        reasons |= {name: NO_ROWS for name in undefined if name not in beyond}
    return {name: reasons[name] for name in undefined}


def written_reasons(reasons: Reasons) -> str:
    """Names with their reasons, those of one reason together.

    Examples
    --------
    >>> written_reasons({"auc": "no row", "mcc": "one level", "kappa": "no row"})
    'auc, kappa (no row); mcc (one level)'
    """
    grouped: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        grouped.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in grouped.items())


def warn_undefined(reasons: Reasons, stacklevel: int = 3) -> None:
    """Warn once of all statistics that are not defined."""
    if reasons:
        warnings.warn(
            f"Not defined, and given as NaN: {written_reasons(reasons)}.",
            UndefinedMetricWarning,
            stacklevel=stacklevel,
        )


def _missing(counts: Counts, positive: int, level: Any) -> dict[str, str]:
    """What the table lacks for statistics of the class."""
    actual, predicted = counts[positive].sum(), counts[:, positive].sum()
    n = counts.sum()
    lacks = {
        "actual": (actual == 0, f"no row is actually {level!r}"),
        "other": (actual == n, f"every row is actually {level!r}"),
        "predicted": (predicted == 0, f"no row is predicted {level!r}"),
        "rejected": (predicted == n, f"every row is predicted {level!r}"),
        "hit": (counts[positive, positive] == 0, f"no {level!r} was predicted right"),
        "prevalence": (True, "the prevalence given makes its denominator zero"),
    }
    if n == 0:
        return {"rows": NO_ROWS}
    return {what: sentence for what, (holds, sentence) in lacks.items() if holds}


def _first(missing: Mapping[str, str], name: str) -> str:
    if "rows" in missing:
        return missing["rows"]
    needs = NEEDS["f" if is_f_measure(name) else name]
    return next(missing[what] for what in needs if what in missing)


def _no_pairs(counts: Counts) -> str:
    if len(counts) == 1:
        return "there is one level only"
    if counts.sum() == np.trace(counts):
        return "no row is misclassified"
    return "two levels are never taken for each other"
