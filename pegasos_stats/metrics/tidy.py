"""The statistics of a table as data frames."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pegasos_stats.metrics import agreement, rates
from pegasos_stats.metrics import table_intervals as limits_of
from pegasos_stats.metrics.intervals import (
    Interval,
    Method,
    check_interval,
    proportion_interval,
)
from pegasos_stats.metrics.rates import Counts, ratio, true_negatives
from pegasos_stats.metrics.scores import Scored

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
    hits, own = counts[positive, positive].item(), counts[positive].sum().item()
    return {
        "sensitivity": (hits, own),
        "specificity": true_negatives(counts, positive),
    }


def class_intervals(
    counts: Counts,
    positive: int,
    share: float | None = None,
    method: Method = "exact",
    level: float = 0.95,
) -> dict[str, Interval]:
    """Intervals of the rates of one class, by name.

    Examples
    --------
    >>> import numpy as np
    >>> found = class_intervals(np.array([[285, 15], [8, 292]]), 0)
    >>> found["sensitivity"]
    Interval(low=0.918..., high=0.971...)
    """
    at = counts, positive
    how = method, level
    found = {
        name: proportion_interval(*pair, *how)
        for name, pair in rate_counts(*at).items()
    }
    return found | {
        "pos_pred_value": limits_of.predictive_interval(*at, share, *how),
        "neg_pred_value": limits_of.negative_predictive_interval(*at, share, *how),
        "precision": limits_of.predictive_interval(*at, None, *how),
        "balanced_accuracy": limits_of.balanced_accuracy_interval(*at, level),
    }


def estimated(
    counts: Counts,
    positions: Mapping[object, int],
    shares: Sequence[float | None],
    scored: Scored | None,
    method: Method,
    level: float,
) -> pd.DataFrame:
    """Return the statistics that have an interval, with it; the table's come first.

    With scores the area under the ROC curve is among them.
    """
    check_interval(method, level)
    right, n = counts.trace().item(), counts.sum().item()
    rows: list[tuple[object, ...]] = [
        (name, None, ratio(k, n), *proportion_interval(k, n, method, level))
        for name, k in (("error_rate", n - right), ("accuracy", right))
    ]
    kappa, mcc = agreement.kappa(counts), agreement.matthews_correlation(counts)
    rows += [
        ("kappa", None, kappa, *limits_of.kappa_interval(counts, level)),
        ("mcc", None, mcc, *limits_of.matthews_interval(counts, level)),
    ]
    if scored is not None and scored.scores is not None:
        area = scored.terms()["auc"]
        rows.append(("auc", None, area, *scored.area_limits(level)))
    for (label, at), share in zip(positions.items(), shares, strict=True):
        found = class_intervals(counts, at, share, method, level)
        values = {
            **{name: ratio(*pair) for name, pair in rate_counts(counts, at).items()},
            "pos_pred_value": rates.pos_pred_value(counts, at, share),
            "neg_pred_value": rates.neg_pred_value(counts, at, share),
            "precision": rates.precision(counts, at),
            "balanced_accuracy": rates.balanced_accuracy(counts, at),
        }
        rows += [
            (name, label, value, *(found[name] if value == value else limits_of.NONE))
            for name, value in values.items()
        ]
    return _frame(rows, COLUMNS[:-1])


def with_recall(intervals: pd.DataFrame) -> pd.DataFrame:
    """The same with rows of recall, which is sensitivity by another name."""
    same = intervals[intervals["term"] == "sensitivity"].assign(term="recall")
    return pd.concat([intervals, same])


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
    limits = with_recall(intervals).drop(columns="estimate")
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
    further = (
        *("no_information_rate", "mcc", "auc", "auc_pooled"),
        *("log_loss", "brier_score"),
    )
    return rows + [(name, None, overall[name]) for name in further if name in overall]


def _frame(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a frame in which labels keep their types beside missing ones."""
    sides = dict(zip(columns, zip(*rows, strict=True), strict=True))
    labels = pd.Series(list(sides["class"]), dtype=object)
    return pd.DataFrame(sides | {"class": labels})
