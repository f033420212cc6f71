"""The figures of a report."""

from typing import Any

from pegasos_stats.output.plotting.figures import Figure, drawn
from pegasos_stats.output.report.document import Picture
from pegasos_stats.output.report.numbers import decimals, number
from pegasos_stats.output.report.subject import Judged, Subject

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
    found = [_margins(subject, rows)]
    area = rows.report.overall.get("auc", float("nan"))
    if area == area:
        found.append(_roc(subject, rows, area))
    return found


def _margins(subject: Subject, rows: Judged) -> Picture:
    plot, given = subject.result.plot, _given(rows)
    alt = f"Histogram of the margins of the {rows.name} rows of both levels"
    figure = drawn(lambda f: plot.margins(*given, ax=f.subplots()), alt, WIDTH, HEIGHT)
    caption = f"Margins of the {rows.name} rows: below 0 a row is on the wrong side."
    return Picture(figure, caption)


def _roc(subject: Subject, rows: Judged, area: float) -> Picture:
    plot, given = subject.result.plot, _given(rows)
    alt = f"ROC curve of the {rows.name} rows, area {decimals(area)}"
    figure = drawn(lambda f: plot.roc(*given, ax=f.subplots()), alt, WIDTH, HEIGHT)
    caption = f"ROC curve of the {rows.name} rows, with the point of score 0."
    return Picture(figure, caption)


def _given(rows: Judged) -> tuple[Any, Any]:
    """Data and labels as the figures take them."""
    return rows.data, rows.labels


def coefficient_pictures(subject: Subject, n_terms: int) -> list[Picture]:
    """The coefficients, and their image where the predictors are pixels."""
    plot, shown = subject.result.plot, min(n_terms, MOST_TERMS)
    alt = f"The {shown} largest coefficients by absolute value, sorted"
    figure = drawn(
        lambda f: plot.coefficients(shown, ax=f.subplots()),
        alt,
        WIDTH,
        max(2.2, LINE * shown + 1.2),
    )
    found = [Picture(figure, "Coefficients, the intercept left out.")]
    shape = subject.image_shape
    if shape is not None:
        found.append(_image(subject, shape))
    return found


def _image(subject: Subject, shape: tuple[int, int]) -> Picture:
    plot = subject.result.plot
    alt = f"Coefficients as an image of {shape[0]} by {shape[1]} pixels"
    figure = drawn(
        lambda f: plot.coefficient_image(shape, ax=f.subplots()), alt, WIDTH, WIDTH
    )
    return Picture(figure, "Coefficients at the places of their pixels.")
