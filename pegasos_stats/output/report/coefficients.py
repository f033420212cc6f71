"""The coefficients of a report: what they mean, how uncertain they are, figures."""

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.data.design import Design
from pegasos_stats.data.formula import variables_of
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import counted, listing
from pegasos_stats.models.inference.resamples import behind_tests
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.summaries import INTERCEPT, largest_terms
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report import drawing, formatting
from pegasos_stats.output.report.document import Strong, Text, prose
from pegasos_stats.output.report.formatting import NBSP, aligned, number
from pegasos_stats.output.report.predictors import deviations
from pegasos_stats.output.report.subject import Subject

MOST_TERMS, MOST_DRAWN = 30, 20  # coefficients in the table, and in the figure
SMALL = 0.05  # of p-values
LINE = 0.22  # inches of a coefficient


def coefficients(subject: Subject) -> doc.Section:
    """Coefficients with standard errors and intervals; of a kernel its support."""
    result = subject.result
    if isinstance(result, KernelResults):
        return doc.Section("The fitted function", "coefficients", _support(result))
    notes, table = result.notes_on_errors(), result.coefficient_table()
    if subject.is_scaled:
        table = table.assign(original=result.params_original.to_numpy())
    elif subject.has_rows:
        slopes = result.coef * deviations(subject)
        table = table.assign(per_deviation=table["term"].map(slopes).to_numpy())
    table = table.assign(adjusted=adjusted(table))
    hints = [note for note in result.notes if note.severity == "note" and note.cure]
    warned = [note for note in notes if note.severity == "warning"]
    blocks: list[doc.Block] = [
        doc.Paragraph(_reading(subject)),
        *(doc.Notice(subject.said(note), "warning") for note in warned),
        *(doc.Paragraph(subject.said(note)) for note in hints),
        _table(table),
        *_several(table, result),
        *(doc.Paragraph(subject.said(note)) for note in notes if note not in warned),
        doc.Beside(_pictures(result, subject.image_shape)),
    ]
    return doc.Section("Coefficients", "coefficients", blocks)


def _support(result: KernelResults) -> list[doc.Block]:
    """How large the fitted function of a kernel is."""
    sentence = (
        "The score of a new row is a weighted sum of its kernel values with the "
        "support rows; the other training rows play no part."
    )
    rows: list[tuple[Text, Text]] = [
        ("Kernel", str(result.problem.kernel)),
        ("Support rows", f"{result.n_support:,} of {result.nobs:,}"),
        (prose(r"Intercept $\alpha$"), number(result.intercept, 5)),
    ]
    return [doc.Paragraph(sentence), doc.Definitions(rows)]


def _reading(subject: Subject) -> Text:
    """What a coefficient means."""
    negative, positive = (Strong(str(c)) for c in subject.result.coding.levels)
    scale = "one standard deviation" if subject.is_scaled else "one unit"
    unit = "fitted log odds of {}" if subject.is_logistic else "fitted score"
    sentence = (
        "A coefficient is the difference of the {} between rows that differ by {} in "
        "its predictor and in no other: above 0 it speaks for {}, below 0 for {}. It "
        "compares rows, and is not the effect of a change. The penalty makes the "
        "coefficients smaller as a whole; single ones may be larger than without it, "
        "or have the other sign."
    )
    what = unit.format(positive.text)
    parts: list[doc.Piece] = [what, scale, positive, negative]
    if names := entangled(subject.result.design):
        parts.append(listing(names))
        sentence += (
            " Where a variable is in several columns ({}), no "
            "coefficient alone says how it matters: beside an interaction one is for "
            "rows in which the other variable is 0 or at its reference level, and "
            "those of powers or splines of a variable belong together."
        )
    if subject.is_scaled:
        sentence += " The last column is for predictors as they were, per unit."
    elif subject.has_rows:
        sentence += (
            " The last column is per standard deviation of the predictor in the "
            "training rows, so that predictors can be compared."
        )
    return prose(sentence, *parts)


def entangled(design: Design) -> list[str]:
    """Variables of several terms, or numeric ones of several columns, of a formula.

    Examples
    --------
    >>> from pegasos_stats.data.design import FrameDesign
    >>> entangled(FrameDesign(("age", "dose"), named=True))
    []
    """
    inner = design.design if isinstance(design, ScaledDesign) else design
    if not isinstance(inner, FormulaDesign):
        return []
    columns: dict[str, list[int]] = {name: [] for name in inner.variables}
    nothing = pd.DataFrame(columns=list(inner.variables))
    for term, where in inner.spec.term_slices.items():
        for name in variables_of([term], inner.formula, nothing, inner.functions):
            columns[name].append(where.stop - where.start)
    return [
        name
        for name, sizes in columns.items()
        if len(sizes) > 1 or (name in inner.numeric and max(sizes) > 1)
    ]


def adjusted(table: pd.DataFrame) -> Vector:
    """p-values of the coefficients adjusted by Holm; NaN for the intercept.

    Parameters
    ----------
    table : DataFrame
        With columns ``term`` and ``p_value``.

    References
    ----------
    Holm, Scandinavian Journal of Statistics 6 (1979), 65-70.

    Examples
    --------
    >>> table = {"term": ["Intercept", "a", "b"], "p_value": [0.001, 0.03, 0.02]}
    >>> adjusted(pd.DataFrame(table))
    array([ nan, 0.04, 0.04])
    """
    from statsmodels.stats.multitest import multipletests

    p = table["p_value"].to_numpy(dtype=np.float64)
    tested = ~np.isnan(p) & (table["term"] != INTERCEPT).to_numpy()
    found = np.full(len(p), np.nan)
    if tested.any():
        found[tested] = multipletests(p[tested], method="holm")[1]
    return found


def _several(table: pd.DataFrame, result: LinearResults) -> list[doc.Block]:
    """How many p-values there are, and what that means."""
    count = int(table["adjusted"].notna().sum())
    if count < 2:
        return []
    resampled = behind_tests(result.estimated)
    least = 0.0 if resampled is None else resampled.least_p_value
    chance = (
        f": if none of these differed from 0, on average {SMALL * count:.2g} of the "
        f"{count:,} would be below 0.05 by chance"
    )
    text = (
        f"There are {count:,} p-values of coefficients{chance * (least < SMALL)}. "
        "Those adjusted by Holm allow for all of them together."
    )
    if least * count >= SMALL:
        text += (
            f" The smallest p-value of {number(least)} that the resamples can give is "
            f"{number(min(1.0, least * count), 3)} when adjusted, so that none can be "
            "below 0.05, however strong the evidence is: that takes more resamples, as "
            "by Bootstrap(replicates=9999, interval='symmetric') in Python."
        )
    return [doc.Paragraph(text)]


def _table(table: pd.DataFrame) -> doc.Table:
    """Coefficients with what is known of their precision."""
    shown = largest_terms(table, MOST_TERMS)
    columns: list[Text] = ["Term", "Estimate"]
    cells: list[list[str]] = [list(map(str, shown["term"])), aligned(shown["estimate"])]
    if shown["std_error"].notna().any():
        columns = ["Term", "Estimate [95% interval]", "Std. error", "p-value", "Holm"]
        error = shown["std_error"]
        names = ("estimate", "conf_low", "conf_high", "std_error")
        value, low, high, errors = (aligned(shown[name], error) for name in names)
        limits = zip(value, low, high, strict=True)
        intervals = [f"{x} [{a},{NBSP}{b}]" for x, a, b in limits]
        p_values, holm = (
            [formatting.p_value(p) for p in shown[name]]
            for name in ("p_value", "adjusted")
        )
        known = shown["adjusted"].notna()
        holm = [
            text if is_one else "" for text, is_one in zip(holm, known, strict=True)
        ]
        cells = [cells[0], intervals, errors, p_values, holm]
    if "original" in shown:
        columns.append("As they were")
        cells.append(aligned(shown["original"]))
    elif "per_deviation" in shown:
        columns.append("Per SD")
        each = zip(shown["per_deviation"], aligned(shown["per_deviation"]), strict=True)
        cells.append(["" if np.isnan(value) else text for value, text in each])
    caption = ""
    if len(shown) < len(table):
        slopes = counted(int((table["term"] != INTERCEPT).sum()), "coefficient")
        caption = f"The {MOST_TERMS} largest of {slopes} by absolute value"
    return doc.Table(columns, list(zip(*cells, strict=True)), caption)


def _pictures(
    result: LinearResults, image_shape: tuple[int, int] | None
) -> list[doc.Picture]:
    """The coefficients, and their image where the predictors are pixels."""
    plot, n = result.plot, min(len(result.coef), MOST_DRAWN)
    found = [
        drawing.picture(
            lambda ax: plot.coefficients(n, ax=ax),
            f"The {n} largest coefficients by absolute value, sorted",
            "Coefficients, the intercept left out.",
            max(2.2, LINE * n + 1.2),
        )
    ]
    if image_shape is not None:
        rows, columns = image_shape
        image = drawing.picture(
            lambda ax: plot.coefficient_image((rows, columns), ax=ax),
            f"Coefficients as an image of {rows} by {columns} pixels",
            "Coefficients at the places of their pixels.",
            drawing.WIDTH,
        )
        found.append(image)
    return found
