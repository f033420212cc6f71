"""Figures of scores: ROC curves, and histograms of margins and of probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pegasos_stats.arrays import Codes
from pegasos_stats.data.labels import signs_of
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.intervals import auc_interval
from pegasos_stats.metrics.scores import area_under_curve, roc_curve
from pegasos_stats.models.kernel import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import checked_threshold, score_at, thresholded
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Style
from pegasos_stats.studies.comparisons import RocComparison

Fitted = LinearResults | KernelResults

FEWEST, MOST = 10, 40  # bars that the middle of the margins is divided into
MIDDLE = (1.0, 99.0)  # percentiles between which the width of bars is found
WHOLE = 1000  # bars in all
FINEST = 1e-9  # width of a bar, at least, as a share of the largest margin


def labelled_scores(table: ConfusionMatrix) -> tuple[Codes, Floats, int]:
    """Rows of a table with a label and a score.

    Returns
    -------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level.
    scores : float64 array, shape (n,)
    left_out : int
        How many rows lack one of both.

    Raises
    ------
    DataError
        If there is no such row.
    """
    found = table.scored
    assert found is not None
    assert found.scores is not None  # a fit gives scores
    used = (found.codes >= 0) & np.isfinite(found.scores)
    if not used.any():
        raise DataError(
            f"None of {counted(len(used), 'row')} has a label and a score; give data "
            "with labels and without missing values."
        )
    return found.codes[used], found.scores[used], int((~used).sum())


def draw_roc(
    table: ConfusionMatrix,
    result: Fitted,
    ax: "Axes | None",
    line: Style,
    threshold: float | None = None,
) -> "Axes":
    """Draw the curve, its area, chance and one threshold, see `ResultPlots.roc`.

    Parameters
    ----------
    table : ConfusionMatrix
        With the scores of its rows.
    result : LinearResults or KernelResults
        The fit.
    ax : Axes, optional
    line : mapping
        Keywords of the curve; a label stands before the area.
    threshold : float, optional
        As for ``result.predict()``; the score 0 if left out.

    Raises
    ------
    DataError
        If a level has no row with a score.
    """
    problem, levels, cut, mark = result.problem, result.coding.levels, 0.0, "Score 0"
    codes, scores, left_out = labelled_scores(table)
    if threshold is not None:
        cut = checked_threshold(threshold, problem)
        scores = thresholded(scores, problem)
        mark = f"Score {cut:.3g}"
        if problem.loss == "log":
            mark = f"Probability {style.percent(cut)}"
    for code, level in enumerate(levels):
        if not (codes == code).any():
            rows = counted(codes.size + left_out, "row")
            raise DataError(f"None of {rows} is {level!r} and has a score.")
    low, high = auc_interval(codes, scores)
    area = f"Area {area_under_curve(codes, scores):.3f}"
    if table.source != "new":
        area += f", {table.source} rows"
    elif not np.isnan(low):
        area += f" (95% CI {low:.3f} to {high:.3f})"
    look, own = style.labelled(line, area)
    ax = roc_axes(ax, levels, left_out)
    curve = roc_curve(codes, scores)
    x, y = curve.false_positive, curve.true_positive
    drawn = style.draw_line(ax, x, y, look, clip_on=False)
    positive = signs_of(scores, result.solver.ties, cut) > 0.0
    false, true = (float(positive[codes == code].mean()) for code in (0, 1))
    point: Style = {
        "label": "" if own else f"{mark}: {true:.1%} true, {false:.1%} false positives",
        "color": drawn.get_color() if own else style.POSITIVE,
        "markeredgecolor": style.ink(ax),
    }
    ax.plot([false], [true], "o", markersize=7.0, zorder=3, clip_on=False, **point)
    style.finish(ax, legend="lower right")
    return ax


def roc_axes(ax: "Axes | None", levels: Sequence[object], left_out: int = 0) -> "Axes":
    """Square axes with both rates and the line of chance."""
    ax = style.square_axes(ax)
    style.reference(ax, [0, 1], [0, 1], "_Chance")
    negative, positive = map(style.short, levels)
    without = f"\n({counted(left_out, 'row')} without label or score left out)"
    ax.set_xlabel(f"False positive rate (of {negative})" + without * (left_out > 0))
    ax.set_ylabel(f"True positive rate (of {positive})")
    return ax


def draw_fold_rocs(
    folds: Sequence[tuple[Codes, Floats]],
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw a thin curve for each fold, and the mean of them.

    The mean is that of the true positive rates at each false positive rate. A fold
    without rows of both levels has no curve, and the legend counts them.
    """
    ax = roc_axes(ax, levels)
    at = np.linspace(0.0, 1.0, 201)
    known = [(c, s) for c, s in folds if len(set(c.tolist())) == 2]
    if not known:
        raise DataError("No fold has rows of both levels, which a ROC curve needs.")
    curves = [roc_curve(codes, scores) for codes, scores in known]
    heights = [np.interp(at, c.false_positive, c.true_positive) for c in curves]
    areas = np.array([area_under_curve(codes, scores) for codes, scores in known])
    label = f"Mean of {counted(len(known), 'fold')}: area {areas.mean():.3f}"
    if len(known) > 1:
        label += f" ({areas.min():.3f} to {areas.max():.3f})"
    if without := len(folds) - len(known):
        label += f"; {counted(without, 'fold')} with one level left out"
    look, _ = style.labelled(line, label)
    mean = np.mean(heights, axis=0)
    drawn = style.draw_line(ax, [0.0, *at], [0.0, *mean], look, linewidth=2.2, zorder=3)
    thin = {"color": drawn.get_color(), "linewidth": 0.7, "alpha": 0.45}
    for curve in curves:
        ax.plot(curve.false_positive, curve.true_positive, linestyle="-", **thin)
    style.finish(ax, legend="lower right")
    return ax


def draw_compared_rocs(found: RocComparison, ax: "Axes | None", line: Style) -> "Axes":
    """Draw two curves with their areas, see `RocComparison.plot`."""
    ax, areas = roc_axes(ax, found.levels), found.table["estimate"]
    named = {
        f"{style.written(name)}: area {area:.3f}": (c.false_positive, c.true_positive)
        for name, c, area in zip(found.names, found.curves, areas, strict=False)
    }
    style.draw_curves(ax, named, line, clip_on=False)
    style.finish(ax, legend="lower right")
    return ax


def draw_rocs(
    fits: Mapping[str, Any],
    data: object,
    actual: object,
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw the curves of several fits, see `ModelComparison.plot_roc`."""
    ax = style.axes_of(ax, style.SQUARE, style.SQUARE)
    for name, fit in fits.items():
        look = {"label": style.written(name), **line}
        fit.plot.roc(data, actual, ax=ax, **look)
    return ax


def draw_margins(
    table: ConfusionMatrix,
    result: Fitted,
    ax: "Axes | None",
    line: Style,
    threshold: float | None = None,
) -> "Axes":
    """Draw the shares of each level's rows by margin, see `ResultPlots.margins`.

    Parameters
    ----------
    table, result, ax
        As for `draw_roc`.
    line : mapping
        Keywords of the outlines.
    threshold : float, optional
        Margins are those of the scores beyond it.

    Raises
    ------
    OptionError
        If the threshold is no finite score.
    """
    codes, scores, left_out = labelled_scores(table)
    moved, cut, levels = threshold is not None, 0.0, result.coding.levels
    if threshold is not None:
        cut = score_at(checked_threshold(threshold, result.problem), result.problem)
        if not np.isfinite(cut):
            raise OptionError("predicts all rows alike.", "threshold", threshold)
    margins = np.where(codes == 1, 1.0, -1.0) * (scores - cut)
    by_level = [margins[codes == code] for code in (0, 1)]
    labels = []
    for level, own in zip(levels, by_level, strict=True):
        below = "" if moved else f"{np.count_nonzero(own < 1.0):,} below 1, "
        below += f"{np.count_nonzero(own < 0.0):,} below 0"
        labels.append(f"{style.short(level)}: {counted(own.size, 'row')}, {below}")
    ax = _draw_levels(by_level, bin_edges(margins), labels, ax, line)
    for at, dashes in [(0.0, "-"), (1.0, "--")][: 1 if moved else 2]:
        label = "Threshold" if moved else f"Margin {at:.0f}"
        if result.problem.loss == "log" and not moved:
            label += f": probability {100.0 / (1.0 + np.exp(-at)):.0f}%"
        style.reference(ax, at, None, label, dashes)
    score = "the score less that of the threshold" if moved else "the score"
    name = f"Margin: {score}, its sign changed for {style.short(levels[0])}"
    _finish(ax, name, left_out)
    return ax


def draw_probabilities(
    table: ConfusionMatrix,
    result: Fitted,
    ax: "Axes | None",
    line: Style,
    threshold: float,
) -> "Axes":
    """Draw the shares of each level's rows by the probability of the second level.

    Parameters
    ----------
    table, result, ax, line
        As for `draw_margins`.
    threshold : float
        Probability above which the second level is predicted.
    """
    codes, scores, left_out = labelled_scores(table)
    cut, levels = checked_threshold(threshold, result.problem), result.coding.levels
    p = thresholded(scores, result.problem)
    by_level = [p[codes == code] for code in (0, 1)]
    bars = int(np.clip(2.5 * np.cbrt(p.size), FEWEST, MOST))
    labels = [
        f"{style.short(level)}: {counted(own.size, 'row')}, "
        f"{np.count_nonzero(own > cut):,} above"
        for level, own in zip(levels, by_level, strict=True)
    ]
    ax = _draw_levels(by_level, np.linspace(0.0, 1.0, bars + 1), labels, ax, line)
    style.reference(ax, cut, None, f"Threshold {style.percent(cut)}", "--")
    style.write_percent(ax.xaxis)
    _finish(ax, f"Predicted probability of {style.short(levels[1])}", left_out)
    return ax


def _draw_levels(
    by_level: Sequence[Floats],
    edges: Floats,
    labels: Sequence[str],
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw the first level as filled bars, the second as hatched ones."""
    ax = style.axes_of(ax)
    drawn = [p.get_data().values for p in ax.patches if hasattr(p, "get_data")]
    top = max((float(values.max()) for values in drawn), default=0.0)
    given = style.merged(line)
    own = given.pop("label", None)
    insides: tuple[dict[str, object], ...] = (
        {"fill": True, "alpha": 0.4},
        {"fill": False, "hatch": "////"},
    )
    colours = style.NEGATIVE, style.POSITIVE
    for values, label, colour, inside in zip(
        by_level, labels, colours, insides, strict=True
    ):
        shares = level_shares(values, edges)
        label = f"{own}, {label}" if own else label
        look: Style = {"color": colour, "linewidth": 1.4} | given
        fill: Style = {"color": look["color"], "linewidth": 0.0} | inside
        ax.stairs(shares, edges, label=label, **fill)
        ax.stairs(shares, edges, **look)
        top = max(top, float(shares.max()))
    ax.set_ylim(0.0, top)
    return ax


def _finish(ax: "Axes", name: str, left_out: int) -> None:
    without = f" ({counted(left_out, 'row')} without label or score left out)"
    ax.set(xlabel=name + without * (left_out > 0), ylabel="Rows of the level")
    style.write_percent(ax.yaxis)
    top = ax.get_ylim()[1]
    style.finish(ax)
    style.keep_clear(ax, 0.0, top, "upper left")


def bin_edges(margins: Floats) -> Floats:
    """Edges of the bars; 0 and 1 are edges where bars are narrower than 1.

    A bar holds the rows from its left edge up to, not including, its right one. All
    bars to the left of 1 are then the rows that the hinge loss counts.

    Examples
    --------
    >>> bin_edges(np.array([-0.4, 0.2, 0.3, 1.9])).round(2).tolist()[:3]
    [-0.4, -0.2, 0.0]
    """
    low, high = np.percentile(margins, MIDDLE)
    bars = np.clip(2.5 * np.cbrt(margins.size), FEWEST, MOST)
    least = FINEST * max(float(np.abs(margins).max()), FINEST)
    width = max((high - low) / bars, np.ptp(margins) / WHOLE, least)
    parts = np.ceil(1.0 / width) if width < 1.0 else 1.0 / np.ceil(width)
    first = np.floor(margins.min() * parts)
    last = np.floor(margins.max() * parts) + 1.0
    found: Floats = np.arange(first, last + 1.0) / parts
    return found


def level_shares(margins: Floats, edges: Floats) -> Floats:
    """Share of the margins in each bar; 0 where there is none.

    Examples
    --------
    >>> level_shares(np.array([0.5, 1.0, 1.5, 1.5]), np.array([0.0, 1.0, 2.0])).tolist()
    [0.25, 0.75]
    """
    inside = np.clip(margins, edges[0], edges[-1])
    shares: Floats = np.histogram(inside, edges)[0] / max(margins.size, 1)
    return shares
