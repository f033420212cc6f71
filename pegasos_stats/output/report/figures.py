"""The figures of a report as SVG, drawn by those of `pegasos_stats.output.plotting`.

Letters are outlines: no font is needed to read them.
"""

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO

from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import score_at
from pegasos_stats.output.plotting.scores import draw_margins, draw_roc, scored_rows
from pegasos_stats.output.plotting.style import Axes, dress, pyplot
from pegasos_stats.output.report.facts import Facts
from pegasos_stats.output.report.formatting import decimals

WIDTH, HEIGHT = 5.2, 3.7  # inches; small, so that letters are large on a phone
SQUARE = 4.2  # inches of the ROC curve
MOST = 20  # coefficients
LINE = 0.22  # inches of a coefficient

# Without a date and with fixed names the same figure is the same text.
SETTINGS = {"svg.hashsalt": "pegasos_stats", "svg.fonttype": "path"}
NO_DATE = {"Date": None, "Creator": None}


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    svg : str
        Text is drawn as outlines; no font is needed.
    alt : str
        What the figure shows, for those who do not see it.
    caption : str
    """

    svg: str
    alt: str
    caption: str = ""

    @property
    def uri(self) -> str:
        """The figure as the address of an image that holds all of it."""
        coded = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        return f"data:image/svg+xml;base64,{coded}"


def drawn(
    draw: Callable[["Axes"], object],
    alt: str,
    caption: str = "",
    width: float = WIDTH,
    height: float = HEIGHT,
) -> Figure:
    """Draw on empty axes of matplotlib, and keep the figure as SVG.

    Parameters
    ----------
    draw : callable
        Draws on the axes that it is given.
    alt : str
        What the figure shows.
    caption : str
    width, height : float
        In inches.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> drawn(lambda ax: ax.plot([1, 2]), "A line").svg[:4]
    '<svg'
    """
    with pyplot().rc_context(SETTINGS):
        from matplotlib.figure import Figure as Canvas  # one that no window knows of

        figure = Canvas(figsize=(width, height), layout="constrained")
        text = StringIO()
        draw(dress(figure.subplots()))
        figure.savefig(text, format="svg", metadata=NO_DATE)
    svg = text.getvalue()
    return Figure(svg[svg.index("<svg") :], alt, caption)


def figures_of(facts: Facts) -> dict[str, Figure]:
    """Draw the figures of a report, by name; those that are not defined are left out.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    rows, result, found = facts.rows, facts.result, dict[str, Figure]()
    name, cut = rows.name, rows.threshold
    scored = scored_rows(rows.table, result)
    if scored is not None and rows.auc is not None:
        found["roc"] = drawn(
            lambda ax: draw_roc(scored, ax, {}, cut),
            f"ROC curve of the {name} rows, area {decimals(rows.auc)}",
            f"ROC curve, {name} rows.",
            SQUARE,
            SQUARE,
        )
    if isinstance(result, LinearResults) and len(result.coef):
        n = min(len(result.coef), MOST)
        found["coefficients"] = drawn(
            lambda ax: result.plot.coefficients(n, ax=ax),
            f"The {n} largest coefficients by absolute value, sorted",
            "Coefficients without the intercept.",
            height=max(2.2, LINE * n + 1.2),
        )
    if isinstance(result, LinearResults) and (shape := facts.image_shape) is not None:
        found["image"] = drawn(
            lambda ax: result.plot.coefficient_image(shape, ax=ax),
            f"Coefficients as an image of {shape[0]} by {shape[1]} pixels",
            "Coefficients at the places of their pixels.",
            height=WIDTH,
        )
    start = 0.0 if cut is None else score_at(cut, result.problem)
    if scored is not None and rows.table.n_classified and math.isfinite(start):
        found["margins"] = drawn(
            lambda ax: draw_margins(scored, ax, {}, cut),
            f"Histogram of the margins of the {name} rows of both levels",
            f"Margins of the {name} rows: below 0 a row is on the wrong side"
            f"{' of the threshold' * (cut is not None)}.",
        )
    if (curve := facts.precision_recall) is not None:
        found["precision_recall"] = drawn(
            lambda ax: curve.plot(ax=ax),
            f"Precision against recall of '{curve.positive}' in the {name} rows",
            f"Precision against recall of '{curve.positive}', {name} rows; the dotted "
            "line is guessing.",
            SQUARE,
            SQUARE,
        )
    if (calibration := facts.calibration) is not None:
        found["calibration"] = drawn(
            lambda ax: calibration.plot(ax=ax),
            f"Observed shares of the {name} rows against their probabilities",
            f"Calibration: observed shares of the {name} rows against mean "
            "probabilities; on the dashed line both are the same.",
        )
    return found
