"""The data of a report: rows, missing values, levels, predictors."""

from typing import Any

import numpy as np

from pegasos_stats.data.formula import unwrapped
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import counted
from pegasos_stats.output.report.document import (
    Block,
    Pairs,
    Section,
    Strong,
    Table,
    Text,
    prose,
)
from pegasos_stats.output.report.numbers import joined
from pegasos_stats.output.report.subject import Judged, Subject

RULES = {
    "factor": "in the order of R's factor()",
    "first-seen": "the first in the data is coded −1",
    "explicit": "in the order given",
}


def data(subject: Subject) -> Section:
    """Rows, missing values, levels and their coding, predictors."""
    columns = ["", *(rows.name.capitalize() for rows in subject.judged)]
    blocks: list[Block] = [
        Table(columns, _row_counts(subject)),
        Pairs(_predictors(subject)),
    ]
    factors = factor_rows(subject.result.design)
    if factors:
        caption = "Text and categories became contrasts with their first level."
        blocks.append(Table(["Factor", "Levels"], factors, caption, words=(1,)))
    return Section("The data", "data", blocks)


def _row_counts(subject: Subject) -> list[list[Text]]:
    negative, positive = (Strong(str(c)) for c in subject.result.coding.levels)
    names: list[Text] = [
        "Rows",
        "Left out: no label",
        "Left out: a predictor is missing",
        prose("Labelled {}, coded −1", negative),
        prose("Labelled {}, coded +1", positive),
    ]
    columns = [_counts(subject, rows) for rows in subject.judged]
    return [
        [name, *(f"{column[at]:,}" for column in columns)]
        for at, name in enumerate(names)
    ]


def _counts(subject: Subject, rows: Judged) -> list[int]:
    """Rows; without label; without a predictor; of either level among the others."""
    table, dropped = rows.table, subject.result.dropped
    by_level = [int(count) for count in table.counts.sum(axis=1)]
    if rows.data is None:
        return [rows.rows, dropped.outcome, dropped.predictors, *by_level]
    return [rows.rows, table.n_unlabelled, rows.n_unscored, *by_level]


def _predictors(subject: Subject) -> list[tuple[Text, Text]]:
    result = subject.result
    names = list(result.design.names)
    found: list[tuple[Text, Text]] = [
        ("Outcome", f"{result.coding.name}; levels {RULES[result.coding.rule]}"),
        (counted(len(names), "predictor"), joined(names)),
    ]
    constant = constant_columns(result.problem.X) if subject.has_rows else 0
    if constant:
        same = f"{constant:,}, with one value in all training rows"
        found.append(("Without information", same))
    if subject.is_scaled:
        found.append(("Scale", "standardized, see the coefficients"))
    return found


def constant_columns(X: Any) -> int:
    """Number of columns that are the same in all rows of a dense or sparse matrix.

    Examples
    --------
    >>> constant_columns(np.array([[1.0, 2.0], [1.0, 3.0]]))
    1
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if not isinstance(X, np.ndarray):
        low, high = low.toarray(), high.toarray()
    return int((low == high).sum())


def factor_rows(design: Any) -> list[list[Text]]:
    """Columns that became factors, with their levels, the reference first."""
    if isinstance(design, ScaledDesign):
        design = design.design
    if not isinstance(design, FormulaDesign):
        return []
    return [
        [unwrapped(name), joined([str(level) for level in state["categories"]])]
        for name, (_, state) in design.spec.encoder_state.items()
        if "categories" in state
    ]
