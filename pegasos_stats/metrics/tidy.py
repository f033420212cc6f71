"""The statistics of a table as data frames."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pegasos_stats.metrics.intervals import Method, check_interval, proportion_interval
from pegasos_stats.metrics.rates import Counts, ratio, true_negatives

COLUMNS = ["term", "class", "estimate", "conf_low", "conf_high", "p_value"]

NAN = float("nan")
Row = tuple[str, object, float]


def rate_counts(counts: Counts, positive: int) -> dict[str, tuple[int, int]]:
    """Count the rows of sensitivity and specificity: those predicted right, and all.

    Examples
    --------
    >>> import numpy as np
    >>> rate_counts(np.array([[285, 15], [8, 292]]), 0)
    {'sensitivity': (285, 300), 'specificity': (292, 300)}
    """
    hits, own = int(counts[positive, positive]), int(counts[positive].sum())
    return {
        "sensitivity": (hits, own),
        "specificity": true_negatives(counts, positive),
    }


def estimated(
    counts: Counts, positions: Mapping[object, int], method: Method, level: float
) -> pd.DataFrame:
    """Return error rate, accuracy, sensitivity and specificity with intervals."""
    check_interval(method, level)
    right, n = int(counts.trace()), int(counts.sum())
    rates: list[tuple[str, object, int, int]] = [
        ("error_rate", None, n - right, n),
        ("accuracy", None, right, n),
    ]
    for label, at in positions.items():
        pairs = rate_counts(counts, at)
        rates += [(term, label, *pair) for term, pair in pairs.items()]
    rows = [
        (term, label, ratio(k, m), *proportion_interval(k, m, method, level))
        for term, label, k, m in rates
    ]
    return _frame(rows, COLUMNS[:-1])


def tidy_terms(
    overall: Mapping[str, float],
    classes: Mapping[object, Mapping[str, float]],
    intervals: pd.DataFrame,
) -> pd.DataFrame:
    """Return all statistics as rows: the table's, then those of the classes."""
    names = next(iter(classes.values()))
    by_class = [
        (name, label, terms[name]) for name in names for label, terms in classes.items()
    ]
    error = intervals["estimate"].iloc[0]
    rows = [*_overall_rows(overall, error), *by_class]
    frame = _frame(rows, COLUMNS[:3])
    same = intervals[intervals["term"] == "sensitivity"].assign(term="recall")
    limits = pd.concat([intervals, same]).drop(columns="estimate")
    tidied = frame.merge(limits, how="left", on=COLUMNS[:2])
    p_values = {
        "accuracy": overall["accuracy_p_value"],
        "mcnemar": overall["mcnemar_p_value"],
    }
    return tidied.assign(p_value=tidied["term"].map(p_values))


def _overall_rows(overall: Mapping[str, float], error_rate: float) -> list[Row]:
    """Return broom's three rows, then the other statistics of the table."""
    rows: list[Row] = [
        ("accuracy", None, overall["accuracy"]),
        ("kappa", None, overall["kappa"]),
        ("mcnemar", None, NAN),
        ("error_rate", None, error_rate),
    ]
    further = ("no_information_rate", "mcc", "auc", "log_loss", "brier_score")
    return rows + [(name, None, overall[name]) for name in further if name in overall]


def _frame(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a frame in which labels keep their types beside missing ones."""
    sides = dict(zip(columns, zip(*rows, strict=True), strict=True))
    labels = pd.Series(list(sides["class"]), dtype=object)
    return pd.DataFrame(sides | {"class": labels})
