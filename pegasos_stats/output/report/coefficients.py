"""The coefficients of a report: the strongest predictors, the table, figures."""

import re
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign, moments
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.summaries import largest_terms
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report import drawing, formatting
from pegasos_stats.output.report.document import Text, prose
from pegasos_stats.output.report.formatting import NBSP, aligned, number
from pegasos_stats.output.report.subject import Subject, factor_levels

STRONGEST = 3  # predictors on the first screen
MOST_TERMS, MOST_DRAWN = 30, 20  # coefficients in the table, and in the figure
LINE = 0.22  # inches of a coefficient in the figure
DUMMY = re.compile(r"(?:C\()?([^\[\]:(),]+)\)?\[T\.([^\[\]:]*)\]")
SPLINE = re.compile(r"\)\[\d+\]$")


def strongest(subject: Subject) -> list[doc.Block]:
    """The predictors that move the score most, with what they do.

    Predictors are ranked by their coefficient times their standard deviation; of the
    columns of one term the strongest is shown. With the log loss the effect is an odds
    ratio, for 0 and 1 of one against the other, else of one standard deviation; with
    the hinge loss it is the change of the share of rows predicted as the positive
    level, in percentage points.
    """
    result = subject.result
    if not isinstance(result, LinearResults) or not len(result.coef):
        return []
    table = result.displayed(result.coefficient_table())
    names = ["estimate", "conf_low", "conf_high"]
    each = table.set_index("term")[names].reindex(result.coef.index)
    cells = each.fillna({"estimate": 0.0}).to_numpy(dtype=np.float64)
    if result.scaling is not None:
        cells = cells / result.scaling.scale[:, None]
    slopes = cells[:, 0]
    with np.errstate(invalid="ignore", over="ignore"):
        order = np.argsort(-np.abs(slopes * _deviations(subject)), kind="stable")
    chosen = _one_of_each_term(subject, order)[:STRONGEST]
    if not chosen or not np.any(slopes[chosen]):
        return []
    positive = result.coding.positive
    lines: list[list[Text]] = []
    for at in chosen:
        step, change, name = _step(subject, int(at))
        if subject.is_logistic:
            with np.errstate(over="ignore"):
                ratio, low, high = np.exp(cells[at] * step)
            limits = "" if np.isnan(low) else f" [{_ratio(low)},{NBSP}{_ratio(high)}]"
            effect = _ratio(ratio) + limits
        else:
            effect = _points(subject, int(at), slopes[at] * step)
        lines.append([name, change, effect])
    columns: list[Text] = ["Strongest predictors", "Difference", "Effect"]
    columns[2] = f"Odds ratio of '{positive}' [95%]"
    if not subject.is_logistic:
        columns[2] = f"Score (rows predicted '{positive}')"
    return [doc.Table(columns, lines, words=(1,))]


def _one_of_each_term(subject: Subject, order: Any) -> list[int]:
    """Columns in an order, of each term of the formula the first alone.

    Columns of interactions and splines have no effect of their own and are left out.
    """
    design = subject.result.design
    design = design.design if isinstance(design, ScaledDesign) else design
    if not isinstance(design, FormulaDesign):
        return [int(at) for at in order]
    names, columns = list(design.names), list(design.spec.column_names)
    owner = {
        name: str(term)
        for term, where in design.spec.term_slices.items()
        for name in columns[where]
    }
    found: dict[str, int] = {}
    for at in order:
        if ":" in names[at] or SPLINE.search(names[at]):
            continue
        found.setdefault(owner.get(names[at], names[at]), int(at))
    return list(found.values())


def column_of(subject: Subject, at: int) -> Vector:
    """A predictor in the training rows, on its own scale."""
    X, scaling = subject.result.problem.X, subject.result.scaling
    column = np.asarray(
        X[:, at] if isinstance(X, np.ndarray) else X[:, [at]].toarray(),
        dtype=np.float64,
    ).ravel()
    return (
        column if scaling is None else column * scaling.scale[at] + scaling.centre[at]
    )


def is_dummy(column: Vector) -> bool:
    """Whether a predictor is 0 or 1 in every row, to rounding."""
    return bool((np.minimum(np.abs(column), np.abs(column - 1.0)) < 1e-9).all())


def _deviations(subject: Subject) -> Vector | float:
    """Standard deviations of the predictors; 1 where the rows are not known."""
    if not subject.has_rows:
        return 1.0
    scaling = subject.result.scaling
    return moments(subject.result.problem.X)[1] * (
        1.0 if scaling is None else scaling.scale
    )


def _step(subject: Subject, at: int) -> tuple[float, str, str]:
    """The difference whose effect is shown: its size, in words, and of what."""
    name = str(subject.result.design.names[at])
    dummy = DUMMY.fullmatch(name)
    levels = factor_levels(subject.result.design)
    if dummy is not None and dummy[1].strip() in levels:
        reference = levels[dummy[1].strip()][0]
        if "contr." not in (subject.result.design.formula or ""):
            return 1.0, f"{dummy[2]} vs {reference}", dummy[1].strip()
    if not subject.has_rows:
        return 1.0, "+1", name
    column = column_of(subject, at)
    if is_dummy(column):
        return 1.0, "1 vs 0", name
    deviation = float(np.std(column, ddof=1)) if len(column) > 1 else 0.0
    return deviation, f"+{number(deviation, 3)}{NBSP}(1{NBSP}SD)", name


def _ratio(value: float) -> str:
    """An odds ratio with two decimals, unless it is very small or large."""
    return f"{value:.2f}" if 0.1 <= value < 100.0 else number(value, 2)


def _points(subject: Subject, at: int, move: float) -> str:
    """The change of the score, and of the share of rows predicted positive."""
    scores = subject.training.scores
    shown = ("+" if move > 0.0 else "") + number(move, 3)
    if scores is None:
        return shown
    before = after = np.asarray(scores, dtype=np.float64)
    rows = subject.result.problem.row_weights > 0.0
    column = column_of(subject, at)[rows]
    if is_dummy(column):
        before = before - move * column
    after = before + move
    points = 100.0 * (np.mean(after > 0.0) - np.mean(before > 0.0))
    return f"{shown} ({points:+.1f} points)".replace("-", "−")


def coefficients(subject: Subject) -> doc.Section:
    """Coefficients with standard errors and intervals; of a kernel its support."""
    result = subject.result
    if isinstance(result, KernelResults):
        rows: list[tuple[Text, Text]] = [
            ("Kernel", str(result.problem.kernel)),
            ("Support rows", f"{result.n_support:,} of {result.nobs:,}"),
            ("Intercept", number(result.intercept, 5)),
        ]
        blocks: list[doc.Block] = [doc.Definitions(rows)]
        return doc.Section("Fitted function", "coefficients", blocks)
    table = result.displayed(result.coefficient_table())
    if subject.is_scaled:
        other = result.params_original.to_numpy()
        table = table.assign(other=np.where(table["estimate"] == 0.0, 0.0, other))
    elif subject.has_rows:
        slopes = result.coef * _deviations(subject)
        other = table["term"].map(slopes).to_numpy()
        table = table.assign(other=np.where(table["estimate"] == 0.0, 0.0, other))
    figures = [coefficient_figure(subject), _image(subject)]
    blocks = [
        doc.Paragraph(_reading(subject)),
        _table(
            table,
            "Original scale" if subject.is_scaled else "Per SD",
            "Boot. sd" if isinstance(result.cov_type, Bootstrap) else "Std. error",
        ),
        *(doc.Paragraph(subject.note_text(note)) for note in result.notes_on_errors()),
        doc.Beside([figure for figure in figures if figure is not None]),
    ]
    return doc.Section("Coefficients", "coefficients", blocks)


def _reading(subject: Subject) -> Text:
    """What a coefficient means."""
    level = f"'{subject.result.coding.positive}'"
    return prose(
        "A coefficient is the difference in the {} between rows that differ by {} in "
        "this predictor and in no other; above 0 it speaks for {}. It compares rows "
        "and is not the effect of a change. Columns of one variable (interactions, "
        "powers, splines) must be read together. Intervals are for the penalised "
        "coefficients at this lambda.",
        f"log odds of {level}" if subject.is_logistic else "score",
        "one standard deviation" if subject.is_scaled else "one unit",
        level,
    )


def _table(table: pd.DataFrame, other: str, error: str) -> doc.Table:
    """Coefficients with what is known of their precision."""
    shown = largest_terms(table, MOST_TERMS)
    columns: list[Text] = ["Term", "Estimate"]
    cells: list[list[str]] = [list(map(str, shown["term"])), aligned(shown["estimate"])]
    if shown["std_error"].notna().any():
        columns = ["Term", "Estimate [95% interval]", error, "p-value"]
        names = ("estimate", "conf_low", "conf_high", "std_error")
        value, low, high, errors = (
            aligned(shown[name], shown["std_error"]) for name in names
        )
        limits = zip(value, low, high, strict=True)
        intervals = [f"{x} [{a},{NBSP}{b}]" for x, a, b in limits]
        p_values = [formatting.p_value(p) for p in shown["p_value"]]
        cells = [cells[0], intervals, errors, p_values]
    if "other" in shown:
        columns.append(other)
        each = zip(shown["other"], aligned(shown["other"]), strict=True)
        cells.append(["" if np.isnan(value) else text for value, text in each])
    caption = ""
    if len(shown) < len(table):
        caption = f"The {MOST_TERMS} largest of {len(table) - 1:,} coefficients"
    return doc.Table(columns, list(zip(*cells, strict=True)), caption)


def coefficient_figure(subject: Subject) -> doc.Picture | None:
    """The largest coefficients, sorted."""
    result = subject.result
    if not isinstance(result, LinearResults) or not len(result.coef):
        return None
    plot, n = result.plot, min(len(result.coef), MOST_DRAWN)
    return drawing.picture(
        lambda ax: plot.coefficients(n, ax=ax),
        f"The {n} largest coefficients by absolute value, sorted",
        "Coefficients without the intercept.",
        max(2.2, LINE * n + 1.2),
    )


def _image(subject: Subject) -> doc.Picture | None:
    """Coefficients at the places of their pixels, where predictors are pixels."""
    shape, result = subject.image_shape, subject.result
    if shape is None or not isinstance(result, LinearResults):
        return None
    return drawing.picture(
        lambda ax: result.plot.coefficient_image(shape, ax=ax),
        f"Coefficients as an image of {shape[0]} by {shape[1]} pixels",
        "Coefficients at the places of their pixels.",
        drawing.WIDTH,
    )
