"""Catalogue of the statistics: names, caret's names, why one is undefined."""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from pegasos_stats.errors import UndefinedMetricWarning, warn_caller
from pegasos_stats.metrics import agreement, rates
from pegasos_stats.metrics.inputs import Mode
from pegasos_stats.metrics.proportions import proportion_interval
from pegasos_stats.metrics.rates import Counts

Reasons = Mapping[str, str]
Source = Literal["new", "training", "partly training", "out of fold", "weighted"]

# Why rows say nothing certain of new ones, by where they come from.
NO_INFERENCE: dict[Source, str] = {
    "training": "the fit has seen these rows",
    "partly training": "the fit has seen {:,} of these rows ({:.3g}%)",
    "out of fold": "rows share their fits, and are not independent trials",
    "weighted": "weights are not numbers of rows",
}
INFERRED = ("accuracy_low", "accuracy_high", "accuracy_p_value", "mcnemar_p_value")

BY_DELTA = ("kappa", "mcc")  # whose intervals are by their variance

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


def no_inference(source: Source, n_seen: int, n: float) -> str:
    """Why nothing is inferred from these `n` rows, some of them seen.

    Examples
    --------
    >>> no_inference("partly training", 30, 40)
    'the fit has seen 30 of these rows (75%)'
    """
    return NO_INFERENCE[source].format(n_seen, 100.0 * n_seen / n if n else math.nan)


def overall_terms(counts: Counts, source: Source = "new") -> dict[str, float]:
    """Compute the statistics of the whole table, by name; limits and tests of new rows.

    Examples
    --------
    >>> overall_terms(np.array([[285, 15], [8, 292]]))["kappa"]
    0.9233333333333333
    """
    right, n = int(counts.trace()), int(counts.sum())
    tested = source not in NO_INFERENCE
    low, high = proportion_interval(right, n) if tested else (math.nan, math.nan)
    return {
        "accuracy": agreement.accuracy(counts),
        "kappa": agreement.kappa(counts),
        "accuracy_low": low,
        "accuracy_high": high,
        "no_information_rate": agreement.no_information_rate(counts),
        "accuracy_p_value": agreement.accuracy_p_value(counts) if tested else math.nan,
        "mcnemar_p_value": agreement.mcnemar(counts).p_value if tested else math.nan,
        "mcc": agreement.matthews_correlation(counts),
    }


def class_terms(
    counts: Counts, positive: int, share: float | None = None, beta: float = 1.0
) -> dict[str, float]:
    """Compute the statistics of one class against the others, by name.

    Examples
    --------
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


def with_zero_f(
    terms: Mapping[str, float], counts: Counts, positive: int
) -> dict[str, float]:
    """Statistics of a class with an F measure of 0 where no hit was made.

    ``(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)`` is 0 there, and caret's quotient of
    precision and recall is not defined.

    Examples
    --------
    >>> with_zero_f({"f1": np.nan}, np.array([[0, 3], [0, 4]]), 0)
    {'f1': 0.0}
    """
    hits = counts[positive, positive]
    is_zero = hits == 0 and counts[positive].sum() + counts[:, positive].sum() > 0
    return {
        name: 0.0 if is_zero and is_f_measure(name) else value
        for name, value in terms.items()
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
    return [n for n in names if n not in BY_PRECISION and not is_f_measure(n)]


def is_f_measure(name: str) -> bool:
    """Whether the statistic is an F measure, named ``f`` and its beta."""
    return name[0] == "f" and name[1].isdigit()


def label_of(name: str) -> str:
    """Return the name of a statistic as caret prints it.

    Examples
    --------
    >>> label_of("pos_pred_value"), label_of("f0.5")
    ('Pos Pred Value', 'F0.5')
    """
    return CARET_NAMES.get(name, name.capitalize())


def class_reasons(
    terms: Mapping[str, float], counts: Counts, positive: int, level: object
) -> dict[str, str]:
    """Say for each statistic of a class that is NaN why it is not defined.

    Examples
    --------
    >>> class_reasons({"precision": np.nan}, np.array([[0, 3], [0, 4]]), 0, "a")
    {'precision': "no row is predicted 'a'"}
    """
    actual, predicted = counts[positive].sum(), counts[:, positive].sum()
    n, others = counts.sum(), np.delete(counts, positive, axis=0).sum()
    rejected = np.delete(counts, positive, axis=1).sum()
    lacks = {
        "actual": (actual == 0, f"no row is actually {level!r}"),
        "other": (others == 0, f"every row is actually {level!r}"),
        "predicted": (predicted == 0, f"no row is predicted {level!r}"),
        "rejected": (rejected == 0, f"every row is predicted {level!r}"),
        "hit": (counts[positive, positive] == 0, f"no {level!r} was predicted right"),
        "prevalence": (True, "the prevalence given makes its denominator zero"),
    }
    missing = {what: sentence for what, (holds, sentence) in lacks.items() if holds}
    undefined = [name for name, value in terms.items() if value != value]
    if not n:
        return dict.fromkeys(undefined, NO_ROWS)
    needs = {name: NEEDS["f" if is_f_measure(name) else name] for name in undefined}
    return {
        name: next(missing[what] for what in wanted if what in missing)
        for name, wanted in needs.items()
    }


def reasons_by_class(
    terms: Mapping[object, Mapping[str, float]],
    counts: Counts,
    positions: Mapping[object, int],
) -> dict[str, str]:
    """Reasons by the name of the statistic, and of its class if there are many."""
    found: dict[str, str] = {}
    for label, at in positions.items():
        reasons = class_reasons(terms[label], counts, at, label)
        prefix = f"{label}: " if len(positions) > 1 else ""
        found |= {f"{prefix}{name}": why for name, why in reasons.items()}
    return found


def overall_reasons(
    terms: Mapping[str, float], counts: Counts, source: Source = "new"
) -> dict[str, str]:
    """Say for each statistic of the whole table that is NaN why it is not defined.

    Limits and tests of rows that are not new are NaN by design, and have no reason.

    Examples
    --------
    >>> overall_reasons({"mcnemar_p_value": np.nan}, np.array([[3, 0], [0, 4]]))
    {'mcnemar_p_value': 'no row is misclassified'}
    """
    if len(counts) == 1:
        mcnemar = "there is one level only"
    elif counts.sum() == np.trace(counts):
        mcnemar = "no row is misclassified"
    else:
        mcnemar = "two levels are never taken for each other"
    of_table = {
        "kappa": "all rows have one level, actual and predicted",
        "mcnemar_p_value": mcnemar,
        "mcc": "all rows have one actual, or one predicted level",
    }
    of_scores = {
        "auc": "a level has no row with a score",
        "auc_pooled": "a level has no row with a score",
        "log_loss": "no row has an actual label and probabilities",
        "brier_score": "no row has an actual label and probabilities",
    }
    by_design = INFERRED if source in NO_INFERENCE else ()
    undefined = [
        name
        for name, value in terms.items()
        if value != value and name not in by_design
    ]
    if not counts.sum():
        of_table = dict.fromkeys(undefined, NO_ROWS)
    return {name: (of_table | of_scores)[name] for name in undefined}


def written_reasons(reasons: Reasons) -> str:
    """Write names with their reasons, those of one reason together.

    Examples
    --------
    >>> written_reasons({"auc": "no row", "mcc": "one level", "kappa": "no row"})
    'auc, kappa (no row); mcc (one level)'
    """
    grouped: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        grouped.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in grouped.items())


def without_interval(
    terms: Mapping[str, float], limits: Mapping[str, tuple[float, float]]
) -> list[str]:
    """Note of statistics that are defined and have no interval.

    Examples
    --------
    >>> without_interval({"kappa": 1.0}, {"kappa": (math.nan, math.nan)})
    ['No interval: kappa (the table leaves it no spread, as of 1, -1, or one level).']
    """
    without = {
        name: "the table leaves it no spread, as of 1, -1, or one level"
        for name in BY_DELTA
        if math.isnan(limits.get(name, (0.0,))[0]) and not math.isnan(terms[name])
    }
    return [f"No interval: {written_reasons(without)}."] if without else []


def warn_undefined(reasons: Reasons) -> None:
    """Warn, in one warning, of all statistics that are not defined."""
    if reasons:
        text = f"Not defined, and given as NaN: {written_reasons(reasons)}."
        warn_caller(text, UndefinedMetricWarning)
