"""The figures of a report as SVG, drawn by those of `pegasos_stats.output.plotting`.

Letters are outlines: no font is needed to read them.
"""

import base64
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO

from pegasos_stats.errors import PegasosStatsWarning, warn_caller
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.predicting import score_at
from pegasos_stats.output.plotting.margin_histograms import draw_margins
from pegasos_stats.output.plotting.roc import at_threshold, draw_roc
from pegasos_stats.output.plotting.style import Axes, dress, pyplot
from pegasos_stats.output.report.facts import Facts
from pegasos_stats.output.report.formatting import decimals

WIDTH, HEIGHT = 5.2, 3.7  # inches; small, so that letters are large on a phone
SQUARE = 4.2  # inches of the ROC curve
MOST = 20  # coefficients
LINE = 0.22  # inches of a coefficient

# Without a date and with fixed names the same figure is the same text.
SETTINGS = {"svg.hashsalt": "pegasos_stats", "svg.fonttype": "path"}
LACKING = r"(?s)Glyph \d+ .* missing from "  # of matplotlib
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
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("always", LACKING, UserWarning)
            draw(dress(figure.subplots()))
            figure.savefig(text, format="svg", metadata=NO_DATE)
    _warn(caught)
    svg = text.getvalue()
    return Figure(svg[svg.index("<svg") :], alt, caption)


def _warn(caught: list[warnings.WarningMessage]) -> None:
    """Pass warnings on, those about letters that the font lacks as one of ours."""
    lacking = [each for each in caught if re.match(LACKING, str(each.message))]
    for each in caught:
        if each not in lacking:
            message = each.message
            warnings.warn_explicit(message, each.category, each.filename, each.lineno)
    if lacking:
        warn_caller(
            "Figures have boxes in the place of letters that their font lacks; give "
            "matplotlib.rcParams['font.family'] a font that has them.",
            PegasosStatsWarning,
        )


def figures_of(facts: Facts) -> dict[str, Figure]:
    """Draw the figures of a report, by name; those that are not defined are left out.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    found = {
        "roc": _roc(facts),
        "coefficients": _coefficients(facts),
        "image": _image(facts),
        "margins": _margins(facts),
        "calibration": _calibration(facts),
    }
    return {name: figure for name, figure in found.items() if figure is not None}


def _roc(facts: Facts) -> Figure | None:
    """The ROC curve of the quoted rows."""
    rows, result = facts.rows, facts.result
    scored = rows.table.scored
    if scored is None or scored.scores is None or rows.auc is None:
        return None
    scores, cut, mark = at_threshold(scored.scores, result.problem, rows.threshold)

    def draw(ax: "Axes") -> None:
        draw_roc(
            scored.codes,
            scores,
            result.coding.levels,
            ax,
            {},
            ties=result.solver.ties,
            source=rows.table.source,
            threshold=cut,
            mark=mark,
        )

    alt = f"ROC curve of the {rows.name} rows, area {decimals(rows.auc)}"
    return drawn(draw, alt, f"ROC curve, {rows.name} rows.", SQUARE, SQUARE)


def _coefficients(facts: Facts) -> Figure | None:
    """The largest coefficients, sorted."""
    result = facts.result
    if not isinstance(result, LinearResults) or not len(result.coef):
        return None
    plot, n = result.plot, min(len(result.coef), MOST)
    return drawn(
        lambda ax: plot.coefficients(n, ax=ax),
        f"The {n} largest coefficients by absolute value, sorted",
        "Coefficients without the intercept.",
        height=max(2.2, LINE * n + 1.2),
    )


def _image(facts: Facts) -> Figure | None:
    """Coefficients at the places of their pixels, where predictors are pixels."""
    shape, result = facts.image_shape, facts.result
    if shape is None or not isinstance(result, LinearResults):
        return None
    return drawn(
        lambda ax: result.plot.coefficient_image(shape, ax=ax),
        f"Coefficients as an image of {shape[0]} by {shape[1]} pixels",
        "Coefficients at the places of their pixels.",
        height=WIDTH,
    )


def _margins(facts: Facts) -> Figure | None:
    """Histogram of the margins of the quoted rows."""
    rows, result = facts.rows, facts.result
    scored, moved = rows.table.scored, rows.threshold is not None
    cut = 0.0 if rows.threshold is None else score_at(rows.threshold, result.problem)
    if scored is None or scored.scores is None or not rows.table.n_classified:
        return None
    if not math.isfinite(cut):
        return None
    codes, scores, levels = scored.codes, scored.scores - cut, result.coding.levels
    logistic = facts.is_logistic
    return drawn(
        lambda ax: draw_margins(
            codes, scores, levels, ax, {}, logistic=logistic, moved=moved
        ),
        f"Histogram of the margins of the {rows.name} rows of both levels",
        f"Margins of the {rows.name} rows: below 0 a row is on the wrong side"
        f"{' of the threshold' * moved}.",
    )


def _calibration(facts: Facts) -> Figure | None:
    """Observed shares against probabilities."""
    calibration, name = facts.calibration, facts.rows.name
    if calibration is None:
        return None
    return drawn(
        lambda ax: calibration.curve.plot(ax=ax),
        f"Observed shares of the {name} rows against their probabilities",
        f"Calibration: observed shares of the {name} rows against mean probabilities; "
        "on the dashed line both are the same.",
    )
