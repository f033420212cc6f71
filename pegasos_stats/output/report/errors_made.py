"""The errors of a fit: tables, statistics, misclassified rows, figures."""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.metrics import Interval
from pegasos_stats.metrics.catalogue import (
    class_reasons,
    label_of,
    overall_reasons,
    written_reasons,
)
from pegasos_stats.output.report.document import (
    Beside,
    Block,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
    prose,
)
from pegasos_stats.output.report.drawings import error_pictures
from pegasos_stats.output.report.numbers import aligned, decimals, error_rate
from pegasos_stats.output.report.subject import Judged, Subject, misclassified

NBSP = "\N{NO-BREAK SPACE}"  # an interval stays on one line
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


def errors_made(subject: Subject) -> Section:
    """Both confusion tables with their statistics, and what was misclassified."""
    tables = Beside([_counts(rows) for rows in subject.judged])
    blocks: list[Block] = [tables, _statistics(subject), *_undefined(subject)]
    pictures = error_pictures(subject)
    if pictures:
        blocks.append(Beside(pictures))
    for rows in reversed(subject.judged):
        blocks += _misclassified(subject, rows)
    return Section("Right and wrong", "errors", blocks)


def _counts(rows: Judged) -> Table:
    """The confusion table: rows actual, columns predicted."""
    table = rows.table.table
    undecided = rows.table.n_undecided > 0
    columns: list[Text] = ["Actual", *(f"Predicted {c}" for c in table.columns)]
    if undecided:
        columns[-1] = "No prediction"
    lines: list[list[Text]] = [
        [str(level), *(f"{int(count):,}" for count in counts)]
        for level, counts in zip(table.index, table.to_numpy(), strict=True)
    ]
    name = rows.name.capitalize()
    known = counted(rows.table.n_classified, "row")
    caption = f"{name} data: {rows.table.n_errors:,} of {known} misclassified"
    return Table(columns, lines, caption)


def _statistics(subject: Subject) -> Table:
    """Every statistic of the tables, a column for each data set."""
    names = [_terms(rows) for rows in subject.judged]
    lines: list[list[Text]] = [
        [name, *(terms.get(name, "") for terms in names)] for name in names[0]
    ]
    positive = subject.training.table.positive
    caption = prose(
        "Statistics with exact 95% intervals. Sensitivity and what follows it are "
        "those of the class {}.",
        Strong(str(positive)),
    )
    columns = ["Statistic", *(rows.name.capitalize() for rows in subject.judged)]
    return Table(columns, lines, caption)


def _terms(rows: Judged) -> dict[str, str]:
    """Names and values of all statistics of a table."""
    table, report = rows.table, rows.report
    overall = report.overall
    ((_, of_class),) = report.classes.items()
    accuracy = Interval(overall["accuracy_low"], overall["accuracy_high"])
    found = {
        "Error rate": _with(error_rate(table), table.error_interval("exact")),
        "Accuracy": _with(overall["accuracy"], accuracy),
    }
    for name, label in OVERALL.items():
        if name in overall:
            found[label] = _value(name, overall)
    for name, value in of_class.items():
        written = _with(value, report.intervals.get(name))
        found[_label(name)] = written
    return found


def _label(name: str) -> str:
    """Name of a statistic in words."""
    return OVERALL.get(name) or CLASS_NAMES.get(name) or label_of(name)


def _value(name: str, terms: Mapping[str, float]) -> str:
    if name in P_VALUES:
        return p_value(terms[name])
    return decimals(terms[name])


def p_value(value: float) -> str:
    r"""Write a p-value.

    Examples
    --------
    >>> p_value(0.0123), p_value(1e-20), p_value(float("nan"))
    ('0.0123', '<\xa00.0001', 'NA')
    """
    return f"<{NBSP}0.0001" if value < 1e-4 else decimals(value)


def _with(value: float, interval: Interval | None) -> str:
    """A share, with its interval where there is one."""
    if interval is None or math.isnan(interval.low):
        return decimals(value)
    low, high = decimals(interval.low), decimals(interval.high)
    return f"{decimals(value)} [{low},{NBSP}{high}]"


def _undefined(subject: Subject) -> list[Block]:
    """Why a statistic is not defined."""
    found: list[Block] = []
    for rows in subject.judged:
        reasons = {_label(name): why for name, why in undefined_terms(rows).items()}
        if reasons:
            named = written_reasons(reasons)
            found.append(Paragraph(f"NA in the {rows.name} data: {named}."))
    return found


def undefined_terms(rows: Judged) -> dict[str, str]:
    """Statistics that are not defined, with the reason."""
    counts, levels = rows.table.counts[:, :-1], rows.table.levels
    reasons = overall_reasons(rows.report.overall, counts)
    for level, terms in rows.report.classes.items():
        reasons |= class_reasons(terms, counts, levels.index(level), level)
    return reasons


def _misclassified(subject: Subject, rows: Judged) -> list[Block]:
    """The misclassified rows with their scores, the worst first."""
    name = rows.name
    if rows.scores is None:
        return [
            Paragraph(
                f"The {name} rows are not in a saved model, so the misclassified ones "
                "cannot be listed."
            )
        ]
    found = misclassified(subject.result, rows)
    if not len(found):
        return [Paragraph(f"No {name} row is misclassified.")]
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
    return [Table(columns, list(zip(*cells, strict=True)), caption, words=(1, 2))]
