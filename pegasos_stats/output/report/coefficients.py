"""The coefficients of a report, with their intervals; of a kernel, its support."""

import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.summaries import INTERCEPT, largest_terms
from pegasos_stats.output.report.document import (
    Beside,
    Block,
    Notice,
    Pairs,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
    prose,
)
from pegasos_stats.output.report.drawings import coefficient_pictures
from pegasos_stats.output.report.errors_made import NBSP, p_value
from pegasos_stats.output.report.numbers import aligned, number
from pegasos_stats.output.report.subject import Subject

MOST_TERMS = 30


def coefficients(subject: Subject) -> Section:
    """Coefficients with standard errors and intervals; of a kernel its support."""
    if subject.is_kernel:
        return Section("The fitted function", "coefficients", _support(subject))
    result: LinearResults = subject.result
    notes, table = result.notes_on_errors(), result.coefficient_table()
    if subject.is_scaled:
        original = result.params_original
        table = table.assign(original=original.to_numpy())
    shown = largest_terms(table, MOST_TERMS)
    warned = [note for note in notes if note.severity == "warning"]
    blocks: list[Block] = [
        Paragraph(_reading(subject)),
        *(Notice(note.sentence, "warning") for note in warned),
        _table(table, shown),
        *(Paragraph(note.sentence) for note in notes if note not in warned),
        Beside(coefficient_pictures(subject, len(result.coef))),
    ]
    return Section("Coefficients", "coefficients", blocks)


def _reading(subject: Subject) -> Text:
    negative, positive = (Strong(str(c)) for c in subject.result.coding.levels)
    scale = "one standard deviation" if subject.is_scaled else "one unit"
    unit = "the log odds of {}" if subject.is_logistic else "the score"
    sentence = (
        "A predictor that grows by {} changes {} by its coefficient: above 0 it speaks "
        "for {}, below 0 for {}. The penalty draws all coefficients towards 0."
    )
    if subject.is_scaled:
        sentence += " The last column is for predictors as they were, per unit."
    what = unit.format(positive.text)
    return prose(sentence, scale, what, positive, negative)


def _table(table: pd.DataFrame, shown: pd.DataFrame) -> Table:
    """Coefficients with what is known of their precision."""
    columns: list[Text] = ["Term", "Estimate"]
    lines: list[list[Text]] = [[str(term)] for term in shown["term"]]
    cells = [aligned(shown["estimate"])]
    if "std_error" in shown and shown["std_error"].notna().any():
        columns = ["Term", "Estimate [95% interval]", "Std. error", "p-value"]
        cells = _with_intervals(shown)
    if "original" in shown:
        columns.append("As they were")
        cells.append(aligned(shown["original"]))
    for column in cells:
        for line, cell in zip(lines, column, strict=True):
            line.append(cell)
    caption = ""
    if len(shown) < len(table):
        slopes = counted(int((table["term"] != INTERCEPT).sum()), "coefficient")
        caption = f"The {MOST_TERMS} largest of {slopes} by absolute value"
    return Table(columns, lines, caption)


def _with_intervals(shown: pd.DataFrame) -> list[list[str]]:
    """Estimates with intervals, standard errors and p-values, a column each."""
    error = shown["std_error"]
    names = ("estimate", "conf_low", "conf_high", "std_error")
    value, low, high, errors = (aligned(shown[name], error) for name in names)
    limits = zip(value, low, high, strict=True)
    return [
        [f"{x} [{a},{NBSP}{b}]" for x, a, b in limits],
        errors,
        [p_value(p) for p in shown["p_value"]],
    ]


def _support(subject: Subject) -> list[Block]:
    """How large the fitted function of a kernel is."""
    result = subject.result
    sentence = (
        "The score of a new row is a weighted sum of its kernel values with the "
        "support rows; the other training rows play no part."
    )
    rows: list[tuple[Text, Text]] = [
        ("Kernel", str(result.problem.kernel)),
        ("Support rows", f"{result.n_support:,} of {result.nobs:,}"),
        (prose(r"Intercept $\alpha$"), number(result.intercept, 5)),
    ]
    return [Paragraph(sentence), Pairs(rows)]
