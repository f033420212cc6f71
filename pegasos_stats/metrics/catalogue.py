"""Every statistic of a confusion report by its name."""

from collections.abc import Iterable

from pegasos_stats import metrics as statistics
from pegasos_stats.metrics.choices import Mode
from pegasos_stats.metrics.ratio import Counts

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


def overall_terms(counts: Counts) -> dict[str, float]:
    """Statistics of the whole table.

    Examples
    --------
    >>> import numpy as np
    >>> overall_terms(np.array([[285, 15], [8, 292]]))["kappa"]
    0.9233333333333333
    """
    right, n = int(counts.trace()), int(counts.sum())
    low, high = statistics.proportion_interval(right, n)
    return {
        "accuracy": statistics.accuracy(counts),
        "kappa": statistics.kappa(counts),
        "accuracy_low": low,
        "accuracy_high": high,
        "no_information_rate": statistics.no_information_rate(counts),
        "accuracy_p_value": statistics.accuracy_p_value(counts),
        "mcnemar_p_value": statistics.mcnemar(counts).p_value,
        "mcc": statistics.matthews_correlation(counts),
    }


def class_terms(
    counts: Counts, positive: int, share: float | None = None, beta: float = 1.0
) -> dict[str, float]:
    """Statistics of one class against the rest.

    Examples
    --------
    >>> import numpy as np
    >>> class_terms(np.array([[285, 15], [8, 292]]), 1)["specificity"]
    0.95
    """
    at = (counts, positive)
    return {
        "sensitivity": statistics.sensitivity(*at),
        "specificity": statistics.specificity(*at),
        "pos_pred_value": statistics.pos_pred_value(*at, share),
        "neg_pred_value": statistics.neg_pred_value(*at, share),
        "precision": statistics.precision(*at),
        "recall": statistics.recall(*at),
        f"f{beta:g}": statistics.f_beta(*at, beta),
        "prevalence": statistics.prevalence(*at) if share is None else share,
        "detection_rate": statistics.detection_rate(*at),
        "detection_prevalence": statistics.detection_prevalence(*at),
        "balanced_accuracy": statistics.balanced_accuracy(*at),
    }


def shown_terms(names: Iterable[str], mode: Mode) -> list[str]:
    """Statistics of a class that caret prints in this mode.

    Examples
    --------
    >>> shown_terms(["sensitivity", "recall", "f2", "prevalence"], "prec_recall")
    ['recall', 'f2', 'prevalence']
    """
    if mode == "everything":
        return list(names)
    if mode == "prec_recall":
        return [name for name in names if name not in BY_RATES]
    return [n for n in names if n not in BY_PRECISION and not is_f_measure(n)]


def is_f_measure(name: str) -> bool:
    """Whether the statistic is an F measure, named ``f`` and its beta."""
    return name[0] == "f" and name[1].isdigit()


def label_of(name: str) -> str:
    """Name of a statistic as caret prints it.

    Examples
    --------
    >>> label_of("pos_pred_value"), label_of("f0.5")
    ('Pos Pred Value', 'F0.5')
    """
    return CARET_NAMES.get(name, name.capitalize())
