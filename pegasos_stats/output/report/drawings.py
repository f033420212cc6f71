"""The figures of a report."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from pegasos_stats.output.plotting.figures import Figure, drawn
from pegasos_stats.output.report.document import Picture
from pegasos_stats.output.report.numbers import decimals, number
from pegasos_stats.output.report.subject import Subject

WIDTH, HEIGHT = 5.2, 3.7  # inches; small, so that letters are large on a phone
LINE = 0.22  # inches of a coefficient
PANEL = 2.1  # inches of each panel of the record
MOST_TERMS = 20


def trace_figure(result: Any) -> Figure:
    """Objective, gap and errors over the epochs."""
    trace = result.trace
    first, last = trace["gap"].iloc[0], trace["gap"].iloc[-1]
    alt = (
        f"Objective, duality gap and error rate over {len(trace)} epochs; the gap goes "
        f"from {number(first, 3)} to {number(last, 3)}"
    )

    def draw(figure: Any) -> None:
        result.plot.trace(ax=figure.subplots(3, 1, sharex=True))

    return drawn(draw, alt, WIDTH, 3 * PANEL)


def error_pictures(subject: Subject) -> list[Picture]:
    """Margins and ROC curve of the rows that errors are quoted for."""
    rows = subject.held_out
    if rows.scores is None or not rows.table.n_classified:
        return []
    plot, given, name = subject.result.plot, (rows.data, rows.labels), rows.name
    found = [
        _picture(
            partial(plot.margins, *given),
            f"Histogram of the margins of the {name} rows of both levels",
            f"Margins of the {name} rows: below 0 a row is on the wrong side.",
        )
    ]
    area = rows.report.overall.get("auc", math.nan)
    if not math.isnan(area):
        alt = f"ROC curve of the {name} rows, area {decimals(area)}"
        caption = f"ROC curve of the {name} rows, with the point of score 0."
        found.append(_picture(partial(plot.roc, *given), alt, caption))
    return found


def coefficient_pictures(subject: Subject, n_terms: int) -> list[Picture]:
    """The coefficients, and their image where the predictors are pixels."""
    plot, shown = subject.result.plot, min(n_terms, MOST_TERMS)
    found = [
        _picture(
            partial(plot.coefficients, shown),
            f"The {shown} largest coefficients by absolute value, sorted",
            "Coefficients, the intercept left out.",
            max(2.2, LINE * shown + 1.2),
        )
    ]
    if subject.image_shape is not None:
        rows, columns = subject.image_shape
        alt = f"Coefficients as an image of {rows} by {columns} pixels"
        caption = "Coefficients at the places of their pixels."
        draw = partial(plot.coefficient_image, subject.image_shape)
        found.append(_picture(draw, alt, caption, WIDTH))
    return found


def _picture(
    draw: Callable[..., object], alt: str, caption: str, height: float = HEIGHT
) -> Picture:
    """One panel with its caption; `draw` takes the axes."""
    figure = drawn(lambda f: draw(ax=f.subplots()), alt, WIDTH, height)
    return Picture(figure, caption)
