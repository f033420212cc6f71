"""The errors of a fit: tables, statistics, misclassified rows, figures."""

import math
from collections.abc import Iterable

import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.metrics import Interval
from pegasos_stats.metrics.catalogue import (
    class_reasons,
    label_of,
    overall_reasons,
    written_reasons,
)
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.document import Text
from pegasos_stats.output.report.drawing import picture
from pegasos_stats.output.report.formatting import NBSP, aligned, decimals, p_value
from pegasos_stats.output.report.subject import Judged, Subject, misclassified

MOST_ROWS = 30  # of misclassified rows
P_VALUES = {"accuracy_p_value", "mcnemar_p_value"}
OVERALL = {
    "no_information_rate": "No-information rate",
    "accuracy_p_value": "P-value [accuracy > no-information rate]",
    "kappa": "Kappa",
    "mcnemar_p_value": "McNemar's test, p-value",
    "mcc": "Matthews correlation",
    "auc": "Area under the ROC curve",
    "log_loss": "Log loss",
    "brier_score": "Brier score",
}
CLASS_NAMES = {
    "detection_rate": "Detection rate",
    "detection_prevalence": "Detection prevalence",
    "balanced_accuracy": "Balanced accuracy",
    "pos_pred_value": "Positive predictive value",
    "neg_pred_value": "Negative predictive value",
}


def errors_made(subject: Subject) -> doc.Section:
    """Both confusion tables with their statistics, and what was misclassified."""
    tables = doc.Beside([_counts(rows) for rows in subject.judged])
    blocks: list[doc.Block] = [tables, _statistics(subject)]
    for rows in subject.judged:
        reasons = {_label(name): why for name, why in undefined_terms(rows).items()}
        if reasons:
            named = written_reasons(reasons)
            blocks.append(doc.Paragraph(f"NA in the {rows.name} data: {named}."))
    pictures = _pictures(subject)
    if pictures:
        blocks.append(doc.Beside(pictures))
    blocks += [_misclassified(subject, rows) for rows in reversed(subject.judged)]
    return doc.Section("Right and wrong", "errors", blocks)


def _counts(rows: Judged) -> doc.Table:
    """The confusion table: rows actual, columns predicted."""
    table = rows.table.table
    columns: list[Text] = ["Actual", *(f"Predicted {c}" for c in table.columns)]
    if rows.table.n_undecided:
        columns[-1] = "No prediction"
    lines: list[list[Text]] = [
        [str(level), *(f"{int(count):,}" for count in counts)]
        for level, counts in zip(table.index, table.to_numpy(), strict=True)
    ]
    name = rows.name.capitalize()
    known = counted(rows.table.n_classified, "row")
    caption = f"{name} data: {rows.table.n_errors:,} of {known} misclassified"
    return doc.Table(columns, lines, caption)


def _statistics(subject: Subject) -> doc.Table:
    """Every statistic of the tables, a column for each data set."""
    names = [_terms(rows) for rows in subject.judged]
    lines: list[list[Text]] = [
        [name, *(terms.get(name, "") for terms in names)] for name in names[0]
    ]
    caption = doc.prose(
        "Statistics of the rows of either kind; of test rows with 95% intervals in "
        "brackets, where there is one. Sensitivity and what follows it are those of "
        "the class {}.",
        doc.Strong(str(subject.training.table.positive)),
    )
    columns = ["Statistic", *(rows.name.capitalize() for rows in subject.judged)]
    return doc.Table(columns, lines, caption)


def _terms(rows: Judged) -> dict[str, str]:
    """Names and values of all statistics of a table."""
    report = rows.report
    overall = report.overall
    ((_, of_class),) = report.classes.items()
    accuracy = Interval(overall["accuracy_low"], overall["accuracy_high"])
    error = Interval(1.0 - accuracy.high, 1.0 - accuracy.low)
    found = {
        "Error rate": _with(rows.error_rate, error),
        "Accuracy": _with(overall["accuracy"], accuracy),
    }
    for name, label in OVERALL.items():
        if name in P_VALUES and name in overall:
            found[label] = p_value(overall[name]) if rows.is_new else ""
        elif name in overall:
            found[label] = _with(overall[name], report.intervals.get(name))
    for name, value in of_class.items():
        found[_label(name)] = _with(value, report.intervals.get(name))
    return found


def _label(name: str) -> str:
    """Name of a statistic in words."""
    return OVERALL.get(name) or CLASS_NAMES.get(name) or label_of(name)


def _with(value: float, interval: Interval | None) -> str:
    """A share, with its interval where there is one."""
    if interval is None or math.isnan(interval.low):
        return decimals(value)
    low, high = decimals(interval.low), decimals(interval.high)
    return f"{decimals(value)} [{low},{NBSP}{high}]"


def undefined_terms(rows: Judged) -> dict[str, str]:
    """Statistics that are not defined, with the reason."""
    counts, levels = rows.table.counts[:, :-1], rows.table.levels
    reasons = overall_reasons(rows.report.overall, counts, rows.table.source)
    for level, terms in rows.report.classes.items():
        reasons |= class_reasons(terms, counts, levels.index(level), level)
    return reasons


def _pictures(subject: Subject) -> list[doc.Picture]:
    """Margins and ROC curve of the rows that errors are quoted for."""
    rows, plot = subject.held_out, subject.result.plot
    if rows.scores is None or not rows.table.n_classified:
        return []
    given, name = (rows.data, rows.labels), rows.name
    found = [
        picture(
            lambda ax: plot.margins(*given, ax=ax),
            f"Histogram of the margins of the {name} rows of both levels",
            f"Margins of the {name} rows: below 0 a row is on the wrong side.",
        )
    ]
    area = rows.report.overall.get("auc", math.nan)
    if not math.isnan(area):
        alt = f"ROC curve of the {name} rows, area {decimals(area)}"
        caption = f"ROC curve of the {name} rows, with the point of score 0."
        found.append(picture(lambda ax: plot.roc(*given, ax=ax), alt, caption))
    return found


def _misclassified(subject: Subject, rows: Judged) -> doc.Block:
    """The misclassified rows with their scores, the worst first."""
    name = rows.name
    if rows.scores is None:
        return doc.Paragraph(
            f"The {name} rows are not in a saved model, so the misclassified ones "
            "cannot be listed."
        )
    found = misclassified(subject.result, rows)
    if not len(found):
        return doc.Paragraph(f"No {name} row is misclassified.")
    shown = found.head(MOST_ROWS)
    columns: list[Text] = ["Row", "Actual", "Predicted", "Score"]
    cells: list[Iterable[str]] = [
        shown["row"],
        map(str, shown["actual"]),
        map(str, shown["predicted"]),
        aligned(shown["score"]),
    ]
    if subject.is_logistic:
        columns.append("Probability of the actual label")
        cells.append(f"{1.0 / (1.0 + math.exp(abs(s))):.3f}" for s in shown["score"])
    caption = f"Misclassified {name} rows, those farthest on the wrong side first"
    if len(found) > len(shown):
        caption += f": {len(shown)} of {len(found):,}"
    if isinstance(rows.scores.index, pd.RangeIndex):
        caption += "; rows are counted from 0"
    return doc.Table(columns, list(zip(*cells, strict=True)), caption, words=(1, 2))
