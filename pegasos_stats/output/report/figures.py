"""The figures of a report, drawn by those of `pegasos_stats.output.plotting`."""

import math

import numpy as np

from pegasos_stats.metrics import area_under_curve
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.predicting import score_at
from pegasos_stats.output.plotting.margins import draw_margins
from pegasos_stats.output.plotting.roc import at_threshold, draw_roc
from pegasos_stats.output.plotting.style import Axes
from pegasos_stats.output.report import drawing
from pegasos_stats.output.report.drawing import Figure
from pegasos_stats.output.report.facts import Facts, Study
from pegasos_stats.output.report.formatting import decimals

SQUARE = 4.2  # inches of the ROC curve
MOST = 20  # coefficients
LINE = 0.22  # inches of a coefficient


def figures_of(facts: Facts) -> dict[str, Figure]:
    """Draw the figures of a report, by name; those that are not defined are left out.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    study = facts.study
    found = {
        "roc": _roc(study),
        "coefficients": _coefficients(study),
        "image": _image(study),
        "margins": _margins(study),
        "calibration": _calibration(facts),
    }
    return {name: figure for name, figure in found.items() if figure is not None}


def _roc(study: Study) -> Figure | None:
    """The ROC curve of the quoted rows, of the positive class of the page."""
    rows, result = study.rows, study.result
    scored, levels = rows.table.scored, list(result.coding.levels)
    if scored is None or scored.scores is None or not rows.table.n_classified:
        return None
    used = (scored.codes >= 0) & ~np.isnan(scored.scores)
    area = area_under_curve(scored.codes[used], scored.scores[used])
    if math.isnan(area):
        return None
    codes, ties = scored.codes, result.solver.ties
    scores, cut, mark = at_threshold(scored.scores, result.problem, rows.threshold)
    if study.positive == levels[0]:
        codes, scores, cut = np.where(codes < 0, -1, 1 - codes), -scores, -cut
        levels = levels[::-1]
        # At the threshold the level is now the positive one that was the negative one.
        ties = "positive" if ties == "negative" else "negative"

    def draw(ax: "Axes") -> None:
        draw_roc(
            codes,
            scores,
            levels,
            ax,
            {},
            ties=ties,
            source=rows.table.source,
            threshold=cut,
            mark=mark,
        )

    alt = f"ROC curve of the {rows.name} rows, area {decimals(area)}"
    return drawing.drawn(draw, alt, f"ROC curve, {rows.name} rows.", SQUARE, SQUARE)


def _coefficients(study: Study) -> Figure | None:
    """The largest coefficients, sorted."""
    result = study.result
    if not isinstance(result, LinearResults) or not len(result.coef):
        return None
    plot, n = result.plot, min(len(result.coef), MOST)
    return drawing.drawn(
        lambda ax: plot.coefficients(n, ax=ax),
        f"The {n} largest coefficients by absolute value, sorted",
        "Coefficients without the intercept.",
        height=max(2.2, LINE * n + 1.2),
    )


def _image(study: Study) -> Figure | None:
    """Coefficients at the places of their pixels, where predictors are pixels."""
    shape, result = study.image_shape, study.result
    if shape is None or not isinstance(result, LinearResults):
        return None
    return drawing.drawn(
        lambda ax: result.plot.coefficient_image(shape, ax=ax),
        f"Coefficients as an image of {shape[0]} by {shape[1]} pixels",
        "Coefficients at the places of their pixels.",
        height=drawing.WIDTH,
    )


def _margins(study: Study) -> Figure | None:
    """Histogram of the margins of the quoted rows."""
    rows, result = study.rows, study.result
    scored, moved = rows.table.scored, rows.threshold is not None
    cut = 0.0 if rows.threshold is None else score_at(rows.threshold, result.problem)
    if scored is None or scored.scores is None or not rows.table.n_classified:
        return None
    if not math.isfinite(cut):
        return None
    codes, scores, levels = scored.codes, scored.scores - cut, result.coding.levels
    logistic = study.is_logistic
    return drawing.drawn(
        lambda ax: draw_margins(
            codes, scores, levels, ax, {}, logistic=logistic, moved=moved
        ),
        f"Histogram of the margins of the {rows.name} rows of both levels",
        f"Margins of the {rows.name} rows: below 0 a row is on the wrong side"
        f"{' of the threshold' * moved}.",
    )


def _calibration(facts: Facts) -> Figure | None:
    """Observed shares against probabilities."""
    calibration, name = facts.calibration, facts.study.rows.name
    if calibration is None:
        return None
    return drawing.drawn(
        lambda ax: calibration.curve.plot(ax=ax),
        f"Observed shares of the {name} rows against their probabilities",
        f"Calibration: observed shares of the {name} rows against mean probabilities; "
        "on the dashed line both are the same.",
    )
