"""Curves of scores, probabilities, thresholds, regularisation paths and losses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from pegasos_stats.arrays import Axes, Codes
from pegasos_stats.data.labels import signs_of
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.intervals import area_and_variance, area_interval
from pegasos_stats.metrics.scores import (
    PrecisionRecall,
    area_under_curve,
    band_of_roc,
    roc_curve,
)
from pegasos_stats.models import results
from pegasos_stats.models.kernel import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import POSITIVE, Floats, Style
from pegasos_stats.studies.calibration import Reliability
from pegasos_stats.studies.comparisons import RocComparison, SolverComparison
from pegasos_stats.studies.cross_validation import LambdaPath
from pegasos_stats.studies.thresholds import Thresholds
from pegasos_stats.tables import percent, significant

Fitted = LinearResults | KernelResults
LevelScores = tuple[Codes, Floats]

COUNT_BAR_HEIGHT = 0.08  # share of the height of the axes
THRESHOLD_PADDING = 0.04  # share of the range of thresholds
FOLD_DECIMALS = 9  # metrics are rounded, so that equal ones are drawn as equal
MIN_NET_BENEFIT = -0.15  # lower end of the axis, relative to the upper end
MAX_COST_RATIO = 3.0  # upper end of the axis, relative to the median cost
SELECTED = {"min": ("lambda_min", ":"), "1se": ("lambda_1se", "--")}
CENTRAL_PERCENTILES = (1.0, 99.0)  # their distance determines the bar width
GRID = 200  # points along each side of regions
REGION_OPACITIES = 0.32, 0.1  # differ in lightness too, for printing in grey
REGION_PADDING = 0.04  # share of the range of rows, so that no point is cut
BOOTSTRAP_MARGIN = 0.1  # share of the range, between an end of the interval and a spine
DECISION_COLUMNS = ["threshold", "net_benefit", "conf_low", "conf_high"]
BARS_OF_LEVELS: Sequence[tuple[str, Style]] = (
    (style.NEGATIVE, {"fill": True, "alpha": 0.4}),
    (POSITIVE, {"fill": False, "hatch": "////"}),
)
THREE_AXES = "three axes, for example plt.subplots(1, 3)[1]"

# --------------------------------------------------------------- ROC curves


def labelled_scores(table: ConfusionMatrix) -> tuple[Codes, Floats, int]:
    """Return codes and scores of the rows that have both a label and a score.

    Returns
    -------
    codes : int array, shape (n,)
        0 for the first, 1 for the second class.
    scores : float64 array, shape (n,)
    excluded : int
        Number of excluded rows.

    Raises
    ------
    DataError
        If no row has a label and a score.
    """
    rows = table.scored
    assert rows is not None
    assert rows.scores is not None
    used = (rows.codes >= 0) & np.isfinite(rows.scores)
    if not used.any():
        raise DataError(
            f"None of {counted(len(used), 'row')} has a label and a score; pass data "
            "with labels and without missing values."
        )
    return rows.codes[used], rows.scores[used], int((~used).sum())


def excluded_text(ax: "Axes", excluded: int) -> str:
    """Return a line with the numbers of rows that figures on these axes exclude.

    The text is empty if no row is excluded.
    """
    numbers = vars(ax).setdefault("excluded_rows", set())
    numbers.add(excluded)
    if not any(numbers):
        return ""
    rows, least = counted(max(numbers), "row"), min(numbers)
    span = f"{least:,} to " * (len(numbers) > 1)
    return f"\n({span}{rows} without label or score excluded)"


def check_both_levels(
    codes: Codes, table: ConfusionMatrix, levels: Sequence[object]
) -> None:
    """Raise `DataError` if a class has no row with a score."""
    for code, level in enumerate(levels):
        if not (codes == code).any():
            rows = counted(len(table.scored.codes), "row")  # type: ignore[union-attr]
            raise DataError(
                f"Among {rows}, none of class {level!r} has a score; pass data with "
                "both classes and without missing values."
            )


def roc_axes(ax: "Axes | None", levels: Sequence[object], excluded: int = 0) -> "Axes":
    """Return square axes for a ROC curve, with the diagonal."""
    ax, (negative, positive) = style.square_axes(ax), style.short_levels(levels)
    style.draw_reference(ax, [0, 1], [0, 1], "_Chance")
    x_label = f"False positive rate (of {negative}){excluded_text(ax, excluded)}"
    ax.set(xlabel=x_label, ylabel=f"True positive rate (of {positive})")
    return ax


def draw_roc(
    table: ConfusionMatrix,
    result: Fitted,
    ax: "Axes | None",
    line: Style,
    threshold: float | None = None,
    has_band: bool = False,
) -> "Axes":
    """Draw a ROC curve with its area and one threshold, see `ResultPlots.roc`.

    Parameters
    ----------
    table : ConfusionMatrix
        Table with the scores of its rows; the curve refers to its positive class.
    result : LinearResults or KernelResults
        The fit.
    ax : Axes, optional
    line : mapping
        Properties of the curve; a label precedes the area.
    threshold : float, optional
        As for ``result.predict()``; by default the score 0.
    has_band : bool
        Whether to draw the simultaneous band.

    Raises
    ------
    DataError
        If a class has no row with a score.
    """
    problem, levels, cut = result.problem, table.levels, 0.0
    codes, scores, excluded = labelled_scores(table)
    if threshold is not None:
        cut = results.checked_threshold(threshold, problem)
        scores = results.thresholded(scores, problem)
    check_both_levels(codes, table, levels)
    signs = signs_of(scores, result.solver.ties, cut)
    is_first = table.positive == levels[0]
    if is_first:  # low scores predict this class
        codes, scores, signs, levels = 1 - codes, -scores, -signs, levels[::-1]
    estimate, variance = area_and_variance(codes, scores)
    low, high = area_interval(estimate, variance)
    own = style.merge(line).get("label")
    area = f"{own}: area {estimate:.3f}" if own else f"Area {estimate:.3f}"
    if table.source != "new":
        area += f", {table.source} rows"
    elif not np.isnan(low):
        area += f" (95% CI {low:.3f} to {high:.3f})"
    ax, curve = roc_axes(ax, levels, excluded), roc_curve(codes, scores)
    x, y = curve.false_positive, curve.true_positive
    look: Style = {**line, "label": ""}
    artist = style.draw_line(ax, x, y, line=look, label=area)
    if has_band:
        draw_steps(ax, band_of_roc(codes, scores), artist.get_color())
    false, true = (float((signs[codes == code] > 0.0).mean()) for code in (0, 1))
    label, colour = "", artist.get_color()
    if not own:  # a single fit
        mark = f"Score {cut:.3g}"
        if problem.loss == "log":
            share = expit(-problem.prior_shift) if threshold is None else cut
            share = 1.0 - share if is_first else share
            mark = f"Probability {style.percent(float(share))}"
        label = f"{mark}: {percent(true)} true, {percent(false)} false positives"
        colour = POSITIVE
    point: Style = {"ms": 7.0, "markeredgecolor": style.text_colour(ax), "zorder": 3}
    ax.plot(false, true, "o", color=colour, label=label, **point)
    return style.finish(ax)


def draw_steps(ax: "Axes", band: pd.DataFrame, colour: str) -> None:
    """Fill a band between two step functions.

    The columns of `band` are ``x`` and the two limits. Between two successive values of
    ``x``, the first limit has its value at the larger ``x``, and the second limit its
    value at the smaller ``x``.
    """
    x, before, after = band.to_numpy(np.float64).T
    places = np.column_stack([x[:-1], x[1:]]).ravel()
    limits = np.repeat(before[1:], 2), np.repeat(after[:-1], 2)
    ax.fill_between(
        places, *limits, color=colour, alpha=style.opacity(ax), linewidth=0.0
    )


def draw_fold_rocs(
    folds: Sequence[LevelScores],
    area: float,
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw a thin ROC curve for each fold, and their mean.

    The mean curve averages the true positive rates at each false positive rate. `area`
    is the mean area. Folds without rows of both classes are excluded; the legend states
    their number.
    """
    own = style.merge(line).get("label")
    complete = [fold for fold in folds if len(set(fold[0].tolist())) == 2]
    if not complete:
        raise DataError(
            "A ROC curve needs rows of both classes, which no fold has; use fewer "
            "folds."
        )
    curves = [roc_curve(*fold) for fold in complete]
    areas = np.array([area_under_curve(*fold) for fold in complete])
    label = f"mean of {counted(len(complete), 'fold')}: area {area:.3f}"
    label = f"{own}, {label}" if own else label.capitalize()
    if len(complete) > 1:
        label += f" (folds {areas.min():.3f} to {areas.max():.3f})"
    if without := len(folds) - len(complete):
        label += f"; {counted(without, 'fold')} of one class excluded"
    at = np.linspace(0.0, 1.0, 201)
    heights = [np.interp(at, c.false_positive, c.true_positive) for c in curves]
    mean = [0.0, *at], [0.0, *np.mean(heights, axis=0)]
    ax = roc_axes(ax, levels)
    look: Style = {**line, "label": ""}
    artist = style.draw_line(ax, *mean, line=look, label=label, linewidth=2.2, zorder=3)
    thin: Style = {"color": artist.get_color(), "linewidth": 0.7}
    thin = {**thin, "alpha": style.opacity(ax, 0.45)}
    for curve in curves:
        ax.plot(curve.false_positive, curve.true_positive, linestyle="-", **thin)
    return style.finish(ax)


def draw_compared_rocs(rocs: RocComparison, ax: "Axes | None", line: Style) -> "Axes":
    """Draw two curves with their areas, see `RocComparison.plot`."""
    ax, areas = roc_axes(ax, rocs.levels), rocs.table["estimate"]
    labelled = {
        f"{style.as_text(name)}: area {area:.3f}": (c.false_positive, c.true_positive)
        for name, c, area in zip(rocs.names, rocs.curves, areas, strict=False)
    }
    style.draw_curves(ax, labelled, line)
    return style.finish(ax)


def draw_precision_recall(
    curve: PrecisionRecall, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw precision against recall in steps, see `PrecisionRecall.plot`."""
    share, name = curve.prevalence, style.short_level(curve.positive)
    ax = style.square_axes(ax)
    style.draw_reference(ax, None, share, f"Share of {name}: {percent(share)}")
    x, y = curve.table["recall"], curve.table["precision"]
    own = style.merge(line).get("label")
    label = f"{own}: average precision" if own else "Average precision"
    label, line = f"{label} {curve.average_precision:.3f}", {**line, "label": ""}
    style.draw_line(ax, x, y, line=line, label=label, drawstyle="steps-pre")
    x_label, y_label = f"Recall (of {name})", f"Precision (of {name})"
    return style.finish(ax, xlabel=x_label, ylabel=y_label)


# ------------------------------------------------------ histograms of scores


def draw_scores(
    table: ConfusionMatrix,
    result: Fitted,
    ax: "Axes | None",
    line: Style,
    threshold: float | None = None,
    *,
    are_shares: bool = False,
) -> "Axes":
    """Draw a histogram of the scores of each class, see `ResultPlots.scores`.

    The bars of the first class are filled; the bars of the second class are hatched.

    Parameters
    ----------
    table, result, ax, threshold
        See `draw_roc`.
    line : mapping
        Properties of the outlines.
    are_shares : bool
        Whether to draw probabilities of the second class instead of scores.

    Raises
    ------
    OptionError
        If the score at the threshold is not finite.
    """
    codes, values, excluded = labelled_scores(table)
    problem, levels, cut = result.problem, result.coding.levels, 0.0
    kind, dashed = "score of", problem.loss != "log" and threshold is None
    if threshold is not None:
        cut = results.checked_threshold(threshold, problem)
    if are_shares:
        values, kind = results.thresholded(values, problem), "probability of"
        label = f"Threshold {style.percent(cut)}"
        edges = np.linspace(0.0, 1.0, int(bars_for(values)) + 1)
    else:
        if threshold is not None:
            cut = results.score_at(cut, problem)
            if not np.isfinite(cut):
                raise OptionError("predicts all rows alike.", "threshold", threshold)
        edges, label = cut + bin_edges(values - cut), f"Threshold {significant(cut, 3)}"
    ax, look = style.axes_of(ax), style.merge(line, linewidth=1.4) | {"label": ""}
    short = style.short_levels(levels)
    for code, (colour, inside) in enumerate(BARS_OF_LEVELS):
        own = values[codes == code]
        above = f"{counted(own.size, 'row')}, {np.count_nonzero(own > cut):,} above"
        name = f"{short[code]}: {above}"
        shares, outline = level_shares(own, edges), {"color": colour, **look}
        fill = {"color": outline["color"], "linewidth": 0.0, **inside}
        ax.stairs(shares, edges, label=style.join_labels(line, name), **fill)
        ax.stairs(shares, edges, **outline)
    style.draw_reference(ax, cut, None, label, "-")
    for at in (-1.0, 1.0) * dashed:
        style.draw_reference(ax, at, None, "Margin 1" if at > 0.0 else "", "--")
    x_label = f"Predicted {kind} {short[1]}{excluded_text(ax, excluded)}"
    words = {"xlabel": x_label, "ylabel": "Share of the class"}
    return style.finish(ax, percent="x" * are_shares + "y", **words)


def bars_for(values: Floats) -> float:
    """Return the number of bars between the central percentiles of the values."""
    return float(np.clip(2.5 * np.cbrt(values.size), 10, 40))


def bin_edges(scores: Floats) -> Floats:
    """Return the edges of the bars; if bars are narrower than 1, integers are edges.

    A bar includes its left edge and excludes its right edge.

    Examples
    --------
    >>> bin_edges(np.array([-0.4, 0.2, 0.3, 1.9])).round(2).tolist()[:3]
    [-0.4, -0.2, 0.0]
    """
    low, high = np.percentile(scores, CENTRAL_PERCENTILES)
    least = 1e-9 * max(float(np.abs(scores).max()), 1e-9)
    width = max((high - low) / bars_for(scores), np.ptp(scores) / 1000, least)
    parts = np.ceil(1.0 / width) if width < 1.0 else 1.0 / np.ceil(width)
    first = np.floor(scores.min() * parts)
    last = np.floor(scores.max() * parts) + 1.0
    edges: Floats = np.arange(first, last + 1.0) / parts
    return edges


def level_shares(scores: Floats, edges: Floats) -> Floats:
    """Return the share of the scores in each bar; the end bars include scores beyond.

    Examples
    --------
    >>> level_shares(np.array([0.5, 1.0, 1.5, 1.5]), np.array([0.0, 1.0, 2.0])).tolist()
    [0.25, 0.75]
    """
    inside = np.clip(scores, edges[0], edges[-1])
    shares: Floats = np.histogram(inside, edges)[0] / max(scores.size, 1)
    return shares


# ------------------------------------------------ probabilities and thresholds


def draw_rates(
    table: ConfusionMatrix, result: Fitted, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw sensitivity and specificity in steps, see `ResultPlots.rates`."""
    codes, scores, excluded = labelled_scores(table)
    check_both_levels(codes, table, result.coding.levels)
    negative, positive = style.short_levels(result.coding.levels)
    is_share = result.problem.loss == "log"
    curve = roc_curve(codes, results.thresholded(scores, result.problem))
    at = curve.thresholds[:0:-1]
    ends = [0.0, 1.0] if is_share else at[[0, -1]]
    curves = {
        f"Sensitivity (of {positive})": curve.true_positive,
        f"Specificity (of {negative})": 1.0 - curve.false_positive,
    }
    ax = style.axes_of(ax)
    for label, y in curves.items():
        x, y = np.r_[ends[0], at, ends[1]], np.r_[y[-1], y[::-1]]
        style.draw_line(ax, x, y, line=line, label=label, drawstyle="steps-pre")
    scale = "probability" if is_share else "score"
    label = f"Threshold of the {scale} of {positive}{excluded_text(ax, excluded)}"
    words = {"xlabel": label, "ylabel": "Share of the class"}
    return style.finish(ax, percent="x" * is_share + "y", **words)


def draw_binned_residuals(
    table: ConfusionMatrix, result: Fitted, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw mean residuals by probability, see `LinearPlots.binned_residuals`."""
    codes, scores, excluded = labelled_scores(table)
    p = np.sort(results.thresholded(scores, result.problem))
    residuals = codes[np.argsort(scores, kind="stable")] - p
    count = max(int(np.sqrt(p.size)), 1)
    bins = list(zip(*(np.array_split(v, count) for v in (p, residuals)), strict=True))
    x, y = np.array([[own.mean() for own in pair] for pair in bins]).T
    half = [2.0 * own.std(ddof=own.size > 1) / np.sqrt(own.size) for _, own in bins]
    ax = style.axes_of(ax)
    style.draw_reference(ax, None, 0.0, linestyle="-")
    most, least = (counted(bins[j][0].size, "row") for j in (0, -1))
    span = f"{least.split()[0]} or " * (least != most)
    label = f"Mean of {span}{most}; band: 2 standard errors"
    colour = style.draw_points(ax, x, y, 4.0, line, label)
    band: Style = {"color": colour, "alpha": style.opacity(ax), "linewidth": 0.0}
    ax.fill_between(x, np.negative(half), half, **band)
    positive = style.short_levels(result.coding.levels)[1]
    x_label = f"Predicted probability of {positive}{excluded_text(ax, excluded)}"
    words = {"xlabel": x_label}
    words["ylabel"] = "Observed share minus probability"
    return style.finish(ax, percent="xy", **words)


def draw_regions(
    result: Fitted,
    data: pd.DataFrame,
    names: Sequence[str],
    at: Mapping[str, Any],
    cut: float,
    ax: "Axes | None",
) -> "Axes":
    """Draw the rows and the predicted regions, see `ResultPlots.regions`."""
    scored = result.confusion(data).scored
    assert scored is not None
    places = data[list(names)].to_numpy(dtype=np.float64)
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    beyond = REGION_PADDING * (high - low)
    sides = np.linspace(low - beyond, high + beyond, GRID).T
    moved = data.iloc[np.zeros(GRID**2, dtype=int)].reset_index(drop=True)
    for name in data.columns.difference([*names, *at]):
        is_number = pd.api.types.is_numeric_dtype(own := data[name])
        moved[name] = own.median() if is_number else next(iter(own.mode()), None)
    grid = (side.ravel() for side in np.meshgrid(*sides))
    for name, value in {**at, **dict(zip(names, grid, strict=True))}.items():
        moved[name] = value
    scores = np.asarray(result.decision_function(moved)).reshape(GRID, GRID) - cut
    ax = style.axes_of(ax, style.SQUARE_SIDE, style.SQUARE_SIDE)
    colours, ends = (style.NEGATIVE, POSITIVE), ([-np.inf, 0.0], [0.0, np.inf])
    for colour, opacity, limits in zip(colours, REGION_OPACITIES, ends, strict=True):
        fill: Style = {"colors": [colour], "alpha": style.opacity(ax, opacity)}
        ax.contourf(*sides, scores, levels=limits, **fill)
    ax.contour(*sides, scores, levels=[0.0], colors=[style.text_colour(ax)])
    for code, level in enumerate(result.coding.levels):
        look: Style = {"color": colours[code], "markersize": 3.5}
        filled = ("full", "none")[code]  # for printing in grey
        look = {**look, "alpha": style.opacity(ax, 0.7), "fillstyle": filled}
        own, label = places[scored.codes == code].T, style.as_text(level)
        ax.plot(*own, "os"[code], label=label, **look)
    x_label, y_label = map(style.as_text, names)
    return style.finish(ax, xlabel=x_label, ylabel=y_label)


def draw_bootstrap(values: Floats, row: Any, ax: "Axes | None", line: Style) -> "Axes":
    """Draw the resampled values of a coefficient, see `LinearPlots.bootstrap`."""
    ax, way = style.axes_of(ax), style.line_styles(1)[0]
    look = style.merge(line, color=way.colour, linewidth=1.2)
    label = style.join_labels(line, counted(values.size, "resample"))
    counts, edges = np.histogram(values, int(bars_for(values)))
    ax.stairs(counts, edges, fill=True, color=look["color"], alpha=0.4, label=label)
    ax.stairs(counts, edges, **look | {"label": ""})
    style.draw_reference(ax, row["estimate"], None, "Estimate", "-")
    for j, end in enumerate(row[["conf_low", "conf_high"]].dropna()):
        style.draw_reference(ax, end, None, "" if j else "95% interval", "--")
    ax.margins(x=BOOTSTRAP_MARGIN)
    x_label = style.as_text(f"Coefficient of {style.term_text(row.name)}")
    return style.finish(ax, xlabel=x_label, ylabel="Resamples")


def draw_reliability(
    reliability: Reliability, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw observed shares and the smooth curve, see `Reliability.plot`."""
    positive, table = style.short_level(reliability.positive), reliability.table
    table = table[table["n"] > 0]
    x, y, low, high = (table[c] for c in ("mean_predicted", "observed", "low", "high"))
    top = max(float(table[end].max()) for end in ("high", "conf_high", "observed"))
    ax = style.square_axes(ax, top)
    style.draw_reference(ax, [0, 1], [0, 1], "_As predicted", "--")
    own = style.merge(line).get("label")
    label = "" if own else "Observed, "
    label += f"{style.percent(reliability.level)} interval"
    colour = style.draw_points(ax, x, y, 5.0, line, label)
    ax.vlines(x, table["conf_low"], table["conf_high"], colour, "solid", linewidth=1.2)
    smooth = reliability.smooth
    if smooth is not None and len(smooth) and len(table) >= 5:
        at = smooth["probability"].to_numpy()
        ends = np.stack([low, high])[..., None]
        used = ((at >= ends[0]) & (at <= ends[1])).any(axis=0)
        columns = smooth[["observed", "conf_low", "conf_high"]].to_numpy().T
        look = {"linestyle": "-", **line, "marker": "", "label": ""}
        ends = np.where(used, columns, np.nan)
        label = "" if own else "Smooth curve"
        if label and not np.isnan(ends[1:]).all():
            label += f", {style.percent(reliability.level)} band"
        style.draw_line(ax, at, *ends, line=look, label=label, color=colour)
    wide = np.maximum(high - low, 0.01 * (high.max() - low.min()))
    density, place = table["n"] / wide, ax.get_xaxis_transform()
    look = {"align": "edge", "transform": place, "color": style.text_colour(ax)}
    look |= {"alpha": 0.2, "linewidth": 0.0, "zorder": 0, "bottom": COUNT_BAR_HEIGHT}
    scale = COUNT_BAR_HEIGHT * density / density.max()
    label = "" if own else f"Histogram: {positive} up, others down"
    ax.bar(low, scale * y, wide, label=label, **look)
    ax.bar(low, -scale * (1.0 - y), wide, **look)
    if reliability.band is not None:
        steps = reliability.band[["probability", "high", "low"]]
        draw_steps(ax, steps, colour)
    words = {"xlabel": "Predicted probability", "ylabel": "Observed share"}
    words = {axis: f"{text} of {positive}" for axis, text in words.items()}
    return style.finish(ax, **words)


def draw_instability(
    table: pd.DataFrame, positive: object, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw the 2.5% and 97.5% quantiles of each prediction, see `Validation.plot`."""
    table, positive = table.sort_values("estimate"), style.short_level(positive)
    top = float(table[["estimate", "conf_high"]].max().max())
    ax = style.square_axes(ax, top)
    style.draw_reference(ax, [0, 1], [0, 1], "_As the model", "--")
    ends = table["estimate"], table["conf_low"], table["conf_high"]
    colour = style.draw_points(ax, ends[0], ends[0], 2.0, line, "")
    ax.vlines(*ends, colour, "solid", linewidth=0.6, alpha=style.opacity(ax, 0.4))
    x_label = f"Probability of {positive} by the model"
    y_label = "2.5% to 97.5% quantile over the resamples"
    return style.finish(ax, xlabel=x_label, ylabel=y_label)


def draw_decision_curve(
    table: pd.DataFrame, positive: object, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw net benefit against the threshold, see `DecisionCurve.plot`.

    Parameters
    ----------
    table : DataFrame
        Table of a `DecisionCurve`; the rules ``all`` and ``none`` are last.
    positive : label
    ax : Axes, optional
    line : mapping
        Properties of the lines of models.
    """
    ax = style.axes_of(ax)
    before = ax.get_ylim()[1] if ax.has_data() else 0.0
    groups = table.set_index("model")[DECISION_COLUMNS].groupby(level=0, sort=False)
    curves = {
        style.as_text("Model" if str(name) == "model" else name): own.to_numpy().T
        for name, own in groups
    }
    (at, all_rows, *_), _ = curves.pop("all"), curves.pop("none")
    style.draw_curves(ax, curves, line)
    style.draw_reference(ax, at, all_rows, "Treat all", (0, (4, 2)))
    style.draw_reference(ax, at, np.zeros(len(at)), "Treat none")
    highest = float(table[["net_benefit", "conf_high"]].max().max())
    top = max(1.05 * highest, before, 1e-3)
    ax.set(ylim=(MIN_NET_BENEFIT * top, top), ylabel="Net benefit")
    x_label = f"Threshold probability of {style.short_level(positive)}"
    return style.finish(ax, percent="x", xlabel=x_label)


def draw_thresholds(thresholds: Thresholds, ax: "Axes | None", line: Style) -> "Axes":
    """Draw a metric or cost against the threshold, with the thresholds of the folds.

    The line shows the metric on the rows that were used to select the threshold. The
    diamond shows the metric expected on new rows, with its standard error. Strokes at
    the lower edge mark the thresholds of the folds. The vertical axis includes 0.

    Parameters
    ----------
    thresholds : Thresholds
    ax : Axes, optional
    line : mapping
        Properties of the line.
    """
    name, metric = thresholds.target.name, style.metric_name(thresholds.target.name)
    at, values = thresholds.table[["threshold", name]].to_numpy(dtype=np.float64).T
    folds = thresholds.by_fold["threshold"].to_numpy(dtype=np.float64)
    points = np.concatenate([at, folds, [thresholds.usual]])
    points = points[np.isfinite(points)]
    margin = THRESHOLD_PADDING * max(float(np.ptp(points)), 0.1)
    low, high = float(points.min()) - margin, float(points.max()) + margin
    is_share = thresholds.scale == "probability"
    error = float(np.nan_to_num(thresholds.std_error))
    write = style.percent if name in style.SHARE_METRICS else significant
    write_at = style.percent if is_share else significant
    chosen = f"Chosen: {write_at(thresholds.threshold, 3)}, expected "
    chosen += f"{write(thresholds.estimate, 3)} ± {write(thresholds.std_error, 2)}"
    steps, own = {"drawstyle": "steps-mid", **line}, "label" in line
    label = f"{metric}, {'out of fold' if thresholds.out_of_fold else 'new rows'}"
    ax = style.axes_of(ax)
    curve = style.draw_line(ax, np.clip(at, low, high), values, line=steps, label=label)
    colour = curve.get_color() if own else POSITIVE
    label = style.join_labels(line, chosen)
    place = np.clip(thresholds.threshold, low, high)
    bar: Style = {"fmt": "D", "ms": 6, "capsize": 4, "zorder": 3, "color": colour}
    ax.errorbar(place, thresholds.estimate, error, label=label, **bar)
    style.draw_reference(
        ax, thresholds.usual, None, f"Usual: {write_at(thresholds.usual, 3)}"
    )
    label = "" if own else "Thresholds of the folds"
    style.draw_rug(ax, np.clip(folds, low, high), colour, ms=12, mew=1.6, label=label)
    bottom, top = ax.get_ylim()
    top = max(top, (1.0 + THRESHOLD_PADDING) * float(np.nanmax(values)))
    if name == "cost":  # the cost of predicting one class for all rows is far higher
        highest = MAX_COST_RATIO * float(np.nanmedian(values))
        top = min(top, max(highest, thresholds.estimate + 2.0 * error))
    ax.set(xlim=(low, high), ylim=(min(bottom, -THRESHOLD_PADDING * top), top))
    second = style.short_levels(thresholds.levels)[1]
    scale = f"probability of {second}" if is_share else f"score (above: {second})"
    percent = "x" * is_share + "y" * (name in style.SHARE_METRICS)
    words = {"xlabel": f"Threshold of the {scale}", "ylabel": metric}
    return style.finish(ax, percent=percent, **words)


# --------------------------------------------------------- paths and folds


def draw_curve(path: LambdaPath, ax: "Axes | None", line: Style) -> "Axes":
    """Draw a cross-validated metric against lambda, see `LambdaPath.plot`."""
    lambdas, marks, name = path.lambdas, path.marks(), path.metric
    mean, error = path._curve(name)
    bars = np.nan_to_num(error)
    ax = style.axes_of(ax)
    curve = style.draw_line(ax, lambdas, mean, line=line, marker="o", markersize=3.5)
    colour = curve.get_color()
    bar: Style = {"ecolor": colour, "alpha": style.opacity(ax, 0.5), "capsize": 2}
    ax.errorbar(lambdas, mean, bars, fmt="none", **bar)
    if "1se" in marks:
        best = int(np.flatnonzero(lambdas == marks["min"])[0])
        span = mean[best] - bars[best], mean[best] + bars[best]
        label = "" if "label" in line else "Best ± standard error"
        ax.axhspan(*span, color=colour, alpha=style.opacity(ax), lw=0, label=label)
    percent = "y" * (name in style.SHARE_METRICS)
    y_label = f"{style.metric_name(name)}, cross-validated"
    return _finish_path(path, ax, percent=percent, ylabel=y_label)


def draw_path(
    path: LambdaPath, beta: pd.DataFrame, named: int, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw coefficients against lambda, see `LambdaPath.plot_coefficients`."""
    values = beta.to_numpy(dtype=np.float64)
    order = np.argsort(-np.abs(values[-1]), kind="stable")
    ax = style.axes_of(ax)
    thin: Style = {"color": style.text_colour(ax), "alpha": 0.3, "linewidth": 0.6}
    ax.plot(beta.index, values[:, order[named:1000]], linestyle="-", **thin)
    at, names = beta.index.to_numpy(), [*map(style.term_text, beta.columns)]
    levels = [
        f"…{name.partition(': ')[2]}" if len(name) > 24 and ": " in name else name
        for name in names
    ]
    is_clear = len(set(levels)) == len(set(names))
    texts = style.abbreviate(levels if is_clear else names, 24)
    for j in order[:named]:
        style.draw_line(ax, at, values[:, j], line=line, label=f"_{texts[j]}")
    ax.set_xscale("log")
    ax.invert_xaxis()  # the smallest lambda, with the largest coefficients, is right
    ends = values[-1, order[:named]]
    style.name_ends(ax, [texts[j] for j in order[:named]], ends)
    words = {"ylabel": "Coefficient", "xlabel": "Lambda, decreasing"}
    return _finish_path(path, ax, **words)


def _finish_path(path: LambdaPath, ax: "Axes", **words: str) -> "Axes":
    """Mark the selected lambdas; the legend says if one is an end of the path."""
    ends = [path.lambdas.min(), path.lambdas.max()] if len(path.lambdas) > 1 else []
    for key, lam in path.marks().items():
        name, dashes = SELECTED[key]
        label = f"{name} = {lam:.3g}" + ", an end of the path" * (lam in ends)
        style.draw_reference(ax, lam, None, label, dashes)
    ax.set_xscale("log")
    return style.finish(ax, **{"xlabel": "Lambda", **words})


def draw_folds(
    by_fold: pd.DataFrame, estimates: pd.DataFrame, ax: "Sequence[Axes] | Axes | None"
) -> NDArray[np.object_]:
    """Draw one panel per metric: a ring for each fold, mean and standard error.

    Parameters
    ----------
    by_fold : DataFrame
        One row per fold; the columns are metrics.
    estimates : DataFrame
        Columns ``term, estimate, std_error``.
    ax : Axes or sequence of Axes, optional
        One for each metric.
    """
    count, sizes = len(estimates), (style.FIGURE_WIDTH, 0.8 + 0.85 * len(estimates))
    cure = f"{counted(count, 'panel')}: plt.subplots({count})[1]"
    axes = style.panels_of(ax, [count], cure, sizes)
    for panel in axes if ax is None else ():
        panel.spines["left"].set_visible(False)
    columns = (estimates[name] for name in ("term", "estimate", "std_error"))
    for panel, term, mean, error in zip(axes, *columns, strict=True):
        values = by_fold[term].dropna().to_numpy(dtype=np.float64).round(FOLD_DECIMALS)
        ring: Style = {"mfc": "none", "mec": style.NEGATIVE, "ms": 7}
        ring = {**ring, "alpha": style.opacity(panel, 0.6)}
        bar: Style = {"color": POSITIVE, "fmt": "D", "ms": 6, "capsize": 4}
        texts = ["A fold", "Mean and its standard error"]
        fold, whole = texts if panel is axes[0] else ("", "")
        panel.plot(values, np.full(len(values), 0.55), "o", label=fold, **ring)
        place, bar = np.round(mean, FOLD_DECIMALS), {**bar, "label": whole}
        panel.errorbar(place, 0.15, xerr=np.nan_to_num(error), **bar)
        panel.set(ylim=(-0.1, 1.1), yticks=[], xlabel=style.metric_name(term))
        if term in style.SHARE_METRICS:
            style.write_percent(panel.xaxis)
    style.finish(*axes)
    return np.array(axes, dtype=object)


# ----------------------------------------------------------- losses and runs


@suggest_arguments
def plot_losses(*, ax: "Axes | None" = None, **line: object) -> "Axes":
    """Draw the losses against the margin ``m = y (x'beta + alpha)``.

    Four losses are drawn: the 0-1 loss, which is 1 for misclassified rows (``m < 0``)
    and 0 for others; the hinge ``max(0, 1 - m)`` of `svm`; its square
    (``loss="squared_hinge"``); and the log loss ``log(1 + exp(-m))`` of `logit`. The
    last three are convex substitutes for the first.

    Parameters
    ----------
    ax : Axes, optional
        By default the axes of a new figure.
    **line
        Properties of the lines, such as ``linewidth``.

    Returns
    -------
    Axes

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    OptionError
        If `ax` is not a matplotlib Axes, or a line property does not exist.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> from matplotlib.figure import Figure
    >>> ax = ps.plot_losses(ax=Figure().subplots())
    >>> for label in ax.get_legend_handles_labels()[1]:
    ...     print(label)
    0-1: 1 if m < 0, else 0
    Hinge: max(0, 1 - m)
    Squared hinge: max(0, 1 - m)²
    Log: log(1 + exp(-m))
    """
    m = np.linspace(-2.0, 3.0, 501)
    curves = {
        "0-1: 1 if m < 0, else 0": (m, np.where(m < 0.0, 1.0, 0.0)),
        "Hinge: max(0, 1 - m)": (m, np.maximum(0.0, 1.0 - m)),
        "Squared hinge: max(0, 1 - m)²": (m, np.maximum(0.0, 1.0 - m) ** 2),
        "Log: log(1 + exp(-m))": (m, np.logaddexp(0.0, -m)),
    }
    ax = style.axes_of(ax)
    style.draw_curves(ax, curves, line)
    ax.set(xlim=(m[0], m[-1]), ylim=(-0.2, 4.0))  # the squared hinge reaches 9
    ax.set(xlabel="Margin m", ylabel="Loss of a row")
    return style.finish(ax)


def draw_panels(
    axes: Sequence["Axes"],
    panels: Mapping[str, tuple[style.Curves, str]],
    line: Style,
    **look: float | str,
) -> None:
    """Draw curves against the epoch, one panel per quantity.

    Parameters
    ----------
    axes : sequence of Axes
    panels : mapping
        Curves and scale by the name of the quantity. The scale is ``"log"``,
        ``"percent"`` or an empty text. ``"log"`` omits values that are not positive.
    line, **look
        Properties of the lines, and their defaults.
    """
    from matplotlib.ticker import MaxNLocator

    for ax, (name, (curves, scale)) in zip(axes, panels.items(), strict=False):
        if scale == "log":
            ax.set_yscale("log")
            curves = {
                label: (x, *(np.where(y > 0.0, y, np.nan) for y in ys))
                for label, (x, *ys) in curves.items()
            }
        style.draw_curves(ax, curves, line, **look)
        if scale == "percent":
            style.write_percent(ax.yaxis)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        ax.set(xlabel="Epoch", ylabel=name)


def plot_comparison(
    comparison: SolverComparison, excess: bool, ax: "Sequence[Axes] | None", line: Style
) -> tuple["Axes", "Axes", "Axes"]:
    """Draw the three panels, see `SolverComparison.plot`."""
    statistics, bound = comparison.tidy(), comparison.lower_bound
    base = bound if excess else 0.0
    held_out = "test_error" in statistics["measure"].cat.categories
    which = "test" if held_out else "training"

    def curves(measure: str, x: str, base: float = 0.0) -> style.Curves:
        """Return the median over the runs of each solver, with 5% and 95% quantiles."""
        of_solver = {}
        for name in statistics["solver"].cat.categories:
            own = statistics[statistics["solver"] == name].set_index("measure")
            ys = own.loc[[measure], ["q50", "q05", "q95"]].to_numpy().T - base
            at = own.loc[[measure], x] if x == "epoch" else own.loc[[x], "q50"]
            of_solver[style.as_text(name)] = (at.to_numpy(dtype=np.float64), *ys)
        return of_solver

    losses = curves("objective", "cpu_seconds", base)
    wide = style.is_wide(np.concatenate([np.ravel(ys) for _, *ys in losses.values()]))
    panels = {
        "Objective minus bound" if base else "Objective": (losses, "log" * wide),
        f"{which.capitalize()} error": (curves(f"{which}_error", "epoch"), "percent"),
        "Duality gap": (curves("gap", "epoch"), "log"),
    }
    loss, error, gap = axes = style.panels_of(
        ax, [3], THREE_AXES, (style.FIGURE_WIDTH, 8.4)
    )
    draw_panels(axes, panels, line, markevery=style.MARKER_SPACING, markersize=4.5)
    loss.set_xscale("log", nonpositive="mask")
    loss.set_xlabel("CPU time of the updates (s)")
    if not excess and bound > 0.0:
        style.draw_reference(loss, None, bound, "Certified lower bound", "-")
    style.finish(error, gap, legend=False)
    style.finish(loss)
    return loss, error, gap
