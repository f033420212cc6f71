"""Curves of scores, probabilities, thresholds, paths along lambda, runs and losses."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Codes
from pegasos_stats.data.labels import signs_of
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.intervals import auc_interval
from pegasos_stats.metrics.scores import PrecisionRecall, area_under_curve, roc_curve
from pegasos_stats.models import results
from pegasos_stats.models.kernel import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import POSITIVE, Axes, Floats, Style
from pegasos_stats.studies.calibration import Reliability
from pegasos_stats.studies.comparisons import RocComparison, SolverComparison
from pegasos_stats.studies.cross_validation import LambdaPath
from pegasos_stats.studies.thresholds import Thresholds
from pegasos_stats.tables import significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Fitted = LinearResults | KernelResults
LevelScores = tuple[Codes, Floats]

BARS = 0.12  # of the height of axes, for the bars of counts
LOW = 0.7  # probabilities all below this have axes that end near the largest
EDGE = 0.04  # of an axis, beyond what is drawn
PANEL = 0.85  # inches of height for one metric
DIGITS = 9  # of metrics, after which folds are the same
BELOW = -0.15  # of the largest net benefit, where its axis ends
LARGEST = 1000  # lines of a figure
NAME = 24  # letters of a name in a legend
HIGHEST = 3.0  # times the median of the costs, where their axis ends
CHOSEN = {"min": ("lambda_min", ":"), "1se": ("lambda_1se", "--")}
FEWEST, MOST = 10, 40  # bars that the middle of the margins is divided into
MIDDLE = (1.0, 99.0)  # percentiles between which the width of bars is found
WHOLE = 1000  # bars in all
FINEST = 1e-9  # width of a bar, at least, as a share of the largest margin
TALL = 8.4  # inches of the three panels of a comparison
THREE = "three axes, for example plt.subplots(1, 3)[1]"

# --------------------------------------------------------------- ROC curves


def labelled_scores(table: ConfusionMatrix) -> tuple[Codes, Floats, str]:
    """Rows of a table with a label and a score.

    Returns
    -------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level.
    scores : float64 array, shape (n,)
    left_out : str
        How many rows lack one of both, in brackets; empty if none does.

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
    n = int((~used).sum())
    left_out = f" ({counted(n, 'row')} without label or score left out)" if n else ""
    return found.codes[used], found.scores[used], left_out


def roc_axes(ax: "Axes | None", levels: Sequence[object], left_out: str = "") -> "Axes":
    """Square axes with both rates and the line of chance."""
    ax = style.square_axes(ax)
    style.reference(ax, [0, 1], [0, 1], "_Chance")
    negative, positive = map(style.short, levels)
    ax.set_xlabel(f"False positive rate (of {negative}){left_out}")
    ax.set_ylabel(f"True positive rate (of {positive})")
    return ax


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
    problem, levels, cut = result.problem, result.coding.levels, 0.0
    codes, scores, left_out = labelled_scores(table)
    if threshold is not None:
        cut = results.checked_threshold(threshold, problem)
        scores = results.thresholded(scores, problem)
    for code, level in enumerate(levels):
        if not (codes == code).any():
            rows = counted(len(table.scored.codes), "row")  # type: ignore[union-attr]
            raise DataError(f"None of {rows} is {level!r} and has a score.")
    low, high = auc_interval(codes, scores)
    area = f"Area {area_under_curve(codes, scores):.3f}"
    if table.source != "new":
        area += f", {table.source} rows"
    elif not np.isnan(low):
        area += f" (95% CI {low:.3f} to {high:.3f})"
    ax = roc_axes(ax, levels, left_out)
    curve = roc_curve(codes, scores)
    x, y = curve.false_positive, curve.true_positive
    drawn = style.draw_line(ax, x, y, line=line, label=area, clip_on=False)
    positive = signs_of(scores, result.solver.ties, cut) > 0.0
    false, true = (float(positive[codes == code].mean()) for code in (0, 1))
    point: Style = {"color": drawn.get_color(), "markeredgecolor": style.ink(ax)}
    if drawn.get_label() == area:  # one fit alone
        mark = f"Score {cut:.3g}"
        if threshold is not None and problem.loss == "log":
            mark = f"Probability {style.percent(cut)}"
        label = f"{mark}: {true:.1%} true, {false:.1%} false positives"
        point = {**point, "color": POSITIVE, "label": label}
    ax.plot([false], [true], "o", markersize=7.0, zorder=3, clip_on=False, **point)
    return style.finish(ax, legend="lower right")


def draw_fold_rocs(
    folds: Sequence[LevelScores],
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw a thin curve for each fold, and the mean of them.

    The mean is that of the true positive rates at each false positive rate. A fold
    without rows of both levels has no curve, and the legend counts them.
    """
    known = [fold for fold in folds if len(set(fold[0].tolist())) == 2]
    if not known:
        raise DataError("No fold has rows of both levels, which a ROC curve needs.")
    curves = [roc_curve(*fold) for fold in known]
    areas = np.array([area_under_curve(*fold) for fold in known])
    label = f"Mean of {counted(len(known), 'fold')}: area {areas.mean():.3f}"
    if len(known) > 1:
        label += f" ({areas.min():.3f} to {areas.max():.3f})"
    if without := len(folds) - len(known):
        label += f"; {counted(without, 'fold')} with one level left out"
    at = np.linspace(0.0, 1.0, 201)
    heights = [np.interp(at, c.false_positive, c.true_positive) for c in curves]
    mean = [0.0, *at], [0.0, *np.mean(heights, axis=0)]
    ax = roc_axes(ax, levels)
    look: Style = {"linewidth": 2.2, "zorder": 3}
    drawn = style.draw_line(ax, *mean, line=line, label=label, **look)
    thin = {"color": drawn.get_color(), "linewidth": 0.7, "alpha": 0.45}
    for curve in curves:
        ax.plot(curve.false_positive, curve.true_positive, linestyle="-", **thin)
    return style.finish(ax, legend="lower right")


def draw_compared_rocs(found: RocComparison, ax: "Axes | None", line: Style) -> "Axes":
    """Draw two curves with their areas, see `RocComparison.plot`."""
    ax, areas = roc_axes(ax, found.levels), found.table["estimate"]
    named = {
        f"{style.written(name)}: area {area:.3f}": (c.false_positive, c.true_positive)
        for name, c, area in zip(found.names, found.curves, areas, strict=False)
    }
    style.draw_curves(ax, named, line, clip_on=False)
    return style.finish(ax, legend="lower right")


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
        fit.plot.roc(data, actual, ax=ax, **{"label": style.written(name), **line})
    return ax


def draw_precision_recall(
    found: PrecisionRecall, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw precision against recall in steps, see `PrecisionRecall.plot`."""
    share, name = found.prevalence, style.short(found.positive)
    ax = style.square_axes(ax)
    style.reference(ax, None, share, f"Share of {name}: {share:.1%}")
    curve = found.table["recall"], found.table["precision"]
    label = f"Average precision {found.average_precision:.3f}"
    look: Style = {"drawstyle": "steps-pre", "clip_on": False}
    style.draw_line(ax, *curve, line=line, label=label, **look)
    ax.set(xlabel=f"Recall (of {name})", ylabel=f"Precision (of {name})")
    return style.finish(ax)


# ------------------------------------------------------ histograms of scores


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
    cut, score = 0.0, "the score"
    marks = {"Margin 0": 0.0, "Margin 1": 1.0}
    if result.problem.loss == "log":
        marks = {"Margin 0: probability 50%": 0.0, "Margin 1: probability 73%": 1.0}
    if threshold is not None:
        marks, score = {"Threshold": 0.0}, "the score less that of the threshold"
        at = results.checked_threshold(threshold, result.problem)
        cut = results.score_at(at, result.problem)
        if not np.isfinite(cut):
            raise OptionError("predicts all rows alike.", "threshold", threshold)
    margins = np.where(codes == 1, 1.0, -1.0) * (scores - cut)

    def counts(own: Floats) -> str:
        below = f"{np.count_nonzero(own < 0.0):,} below 0"
        costly = f"{np.count_nonzero(own < 1.0):,} below 1, " * (threshold is None)
        return costly + below

    ax = _draw_levels(codes, margins, bin_edges(margins), counts, result, ax, line)
    for (label, at), dashes in zip(marks.items(), ("-", "--"), strict=False):
        style.reference(ax, at, None, label, dashes)
    first = style.short(result.coding.levels[0])
    ax.set_xlabel(f"Margin: {score}, its sign changed for {first}{left_out}")
    return style.finish(ax, legend="above")


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
    cut = results.checked_threshold(threshold, result.problem)
    p = results.thresholded(scores, result.problem)
    edges = np.linspace(0.0, 1.0, int(np.clip(2.5 * np.cbrt(p.size), FEWEST, MOST)) + 1)

    def counts(own: Floats) -> str:
        return f"{np.count_nonzero(own > cut):,} above"

    ax = _draw_levels(codes, p, edges, counts, result, ax, line)
    style.reference(ax, cut, None, f"Threshold {style.percent(cut)}", "--")
    style.write_percent(ax.xaxis)
    second = style.short(result.coding.levels[1])
    ax.set_xlabel(f"Predicted probability of {second}{left_out}")
    return style.finish(ax, legend="above")


def _draw_levels(
    codes: Codes,
    values: Floats,
    edges: Floats,
    counts: Callable[[Floats], str],
    result: Fitted,
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw the first level as filled bars, the second as hatched ones."""
    ax = style.axes_of(ax)
    look = style.merged(line, linewidth=1.4)
    look.pop("label", None)
    ways: tuple[tuple[str, dict[str, object]], ...] = (
        (style.NEGATIVE, {"fill": True, "alpha": 0.4}),
        (POSITIVE, {"fill": False, "hatch": "////"}),
    )
    for code, (level, (colour, inside)) in enumerate(
        zip(result.coding.levels, ways, strict=True)
    ):
        own = values[codes == code]
        shares = level_shares(own, edges)
        label = f"{style.short(level)}: {counted(own.size, 'row')}, {counts(own)}"
        outline = {"color": colour, **look}
        fill = {"color": outline["color"], "linewidth": 0.0, **inside}
        ax.stairs(shares, edges, label=style.labelled(line, label), **fill)
        ax.stairs(shares, edges, **outline)
    ax.set_ylabel("Rows of the level")
    style.write_percent(ax.yaxis)
    return ax


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


# ------------------------------------------------ probabilities and thresholds


def draw_reliability(found: Reliability, ax: "Axes | None", line: Style) -> "Axes":
    """Draw observed shares and the smooth curve, see `Reliability.plot`."""
    smooth, positive = found.smooth, style.short(found.positive)
    used = found.table[found.table["n"] > 0]
    x, y = used["mean_predicted"], used["observed"]
    top = max(float(used[end].max()) for end in ("high", "conf_high", "observed"))
    before = 0.0 if ax is None or not ax.has_data() else ax.get_xlim()[1]
    ax = style.square_axes(ax, 1.0 if top >= LOW else max(1.03 * top, before / 1.02))
    style.reference(ax, [0, 1], [0, 1], "_As predicted", "--")
    own = style.merged(line).get("label")
    look = {"marker": "o", "markersize": 5.0, **line, "linestyle": "none"}
    look["label"] = f"{own or 'Observed'}, {found.level:.0%} interval"
    colour = style.draw_line(ax, x, y, line=look).get_color()
    ax.vlines(x, used["conf_low"], used["conf_high"], colour, "solid", linewidth=1.2)
    if smooth is not None and len(smooth):
        look = {"linestyle": "-", **line, "color": colour, "marker": "", "label": ""}
        label = "Smooth curve" if own is None else ""
        curve = smooth["probability"], smooth["observed"]
        style.draw_line(ax, *curve, line=look, label=label)
    density = used["n"] / (width := used["high"] - used["low"])
    grey: Style = {"color": style.ink(ax), "alpha": 0.15, "linewidth": 0.0, "zorder": 0}
    place: Style = {"align": "edge", "transform": ax.get_xaxis_transform()}
    ax.bar(used["low"], BARS * density / density.max(), width, **place, **grey)
    ax.set_xlabel(f"Predicted probability of {positive}")
    ax.set_ylabel(f"Observed share of {positive}")
    return style.finish(ax, legend="above")


def draw_decision_curve(
    table: pd.DataFrame, positive: object, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw net benefit against the threshold, see `DecisionCurve.plot`.

    Parameters
    ----------
    table : DataFrame
        Of a `DecisionCurve`, the rules ``all`` and ``none`` last.
    positive : label
    ax : Axes, optional
    line : mapping
        Keywords of the lines of models.
    """
    ax = style.axes_of(ax)
    before = ax.get_ylim()[1] if ax.has_data() else 0.0
    curves = {
        str(name): (part["threshold"], part["net_benefit"])
        for name, part in table.groupby("model", sort=False)
    }
    treat_all, treat_none = curves.pop("all"), curves.pop("none")
    named = {
        style.written("Model" if name == "model" else name): curve
        for name, curve in curves.items()
    }
    style.draw_curves(ax, named, line)
    style.reference(ax, *treat_all, "Treat all", "--")
    style.reference(ax, *treat_none, "Treat none")
    top = max(1.05 * float(table["net_benefit"].max()), before, 1e-3)
    ax.set(ylim=(BELOW * top, top), ylabel="Net benefit")
    ax.set_xlabel(f"Threshold probability of {style.short(positive)}")
    style.write_percent(ax.xaxis)
    return style.finish(ax, legend="upper right")


def draw_thresholds(found: Thresholds, ax: "Axes | None", line: Style) -> "Axes":
    """Draw metric or cost against the threshold, and the thresholds of the folds.

    The line is that of the rows that have chosen the threshold; the diamond, with its
    standard error, is what is to be expected of new rows. Heights begin at 0.

    Parameters
    ----------
    found : Thresholds
    ax : Axes, optional
    line : mapping
        Keywords of the line.
    """
    name, metric = found.target.name, style.metric_name(found.target.name)
    at, values = (
        found.table[c].to_numpy(dtype=np.float64) for c in ("threshold", name)
    )
    folds = found.by_fold["threshold"].to_numpy(dtype=np.float64)
    points = np.concatenate([at, folds, [found.usual]])
    points = points[np.isfinite(points)]
    margin = EDGE * max(float(np.ptp(points)), 1e-3)
    low, high = float(points.min()) - margin, float(points.max()) + margin
    error = float(np.nan_to_num(found.std_error))
    drawn = [*values, found.estimate - error, found.estimate + error]
    least, most = min(0.0, float(np.nanmin(drawn))), float(np.nanmax(drawn))
    if name == "cost":  # which is many times as high where all rows are one level
        most = min(most, max(HIGHEST * float(np.nanmedian(values)), drawn[-1]))
    write = style.percent if name in style.SHARES else significant
    at_text = style.percent if found.scale == "probability" else significant
    ax = style.axes_of(ax)
    curve = style.draw_line(
        ax,
        np.clip(at, low, high),
        values,
        line={"drawstyle": "steps-mid", **line},
        label=f"{metric}, {'out of fold' if found.out_of_fold else 'new rows'}",
    )
    chosen = f"Chosen: {at_text(found.threshold, 3)}, expected "
    chosen += f"{write(found.estimate, 3)} ± {write(found.std_error, 2)}"
    own = "label" in line
    bar: Style = {"fmt": "D", "ms": 6, "capsize": 4, "zorder": 3}
    colour = curve.get_color() if own else POSITIVE
    place = np.clip(found.threshold, low, high)
    label = style.labelled(line, chosen)
    ax.errorbar(place, found.estimate, error, label=label, color=colour, **bar)
    style.reference(ax, found.usual, None, f"Usual: {at_text(found.usual, 3)}")
    look: Style = {"ms": 12, "mew": 1.6, "clip_on": False}
    label = "" if own else "Thresholds of the folds"
    style.strokes(ax, np.clip(folds, low, high), colour, label=label, **look)
    second, space = style.short(found.levels[1]), EDGE * max(most - least, 1e-3)
    scale = f"score (above: {second})"
    if found.scale == "probability":
        scale = f"probability of {second}"
        style.write_percent(ax.xaxis)
    ax.set(xlim=(low, high), ylim=(least - space, most + space), ylabel=metric)
    ax.set_xlabel(f"Threshold of the {scale}")
    style.write_metric(ax.yaxis, name)
    return style.finish(ax, legend="above")


# --------------------------------------------------------- paths and folds


def draw_curve(path: LambdaPath, ax: "Axes | None", line: Style) -> "Axes":
    """Draw a cross-validated metric against lambda, see `LambdaPath.plot`."""
    lambdas, marks, name = path.lambdas, path.marks(), path.metric
    mean, error = path._curve(name)
    bars = np.nan_to_num(error)
    ax = style.axes_of(ax)
    curve = style.draw_line(ax, lambdas, mean, line=line, marker="o", markersize=3.5)
    colour = curve.get_color()
    ax.errorbar(lambdas, mean, bars, fmt="none", ecolor=colour, alpha=0.5, capsize=2)
    if "1se" in marks:
        best = int(np.flatnonzero(lambdas == marks["min"])[0])
        span = mean[best] - bars[best], mean[best] + bars[best]
        label = "" if "label" in line else "Best ± standard error"
        ax.axhspan(*span, color=colour, alpha=style.BAND, lw=0, label=label)
    ax.set_ylabel(f"{style.metric_name(name)}, cross-validated")
    style.write_metric(ax.yaxis, name)
    return _finish_path(path, ax, "above")


def draw_path(
    path: LambdaPath, beta: pd.DataFrame, named: int, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw coefficients against lambda, see `LambdaPath.plot_coefficients`."""
    values = beta.to_numpy(dtype=np.float64)
    order = np.argsort(-np.abs(values[-1]), kind="stable")
    ax = style.axes_of(ax, style.WIDTH + 1.0)
    thin = {"color": style.ink(ax), "alpha": 0.3, "linewidth": 0.6, "linestyle": "-"}
    ax.plot(beta.index, values[:, order[named:LARGEST]], **thin)
    names = style.abbreviated([beta.columns[j] for j in order[:named]], NAME)
    curves = {
        style.written(name): (beta.index, values[:, j])
        for j, name in zip(order[:named], names, strict=True)
    }
    style.draw_curves(ax, curves, line)
    ax.set_ylabel("Coefficient")
    return _finish_path(path, ax, "right")


def _finish_path(path: LambdaPath, ax: "Axes", legend: str) -> "Axes":
    """Mark the lambdas chosen; those at an end of the path say so."""
    ends = [path.lambdas.min(), path.lambdas.max()] if len(path.lambdas) > 1 else []
    for key, lam in path.marks().items():
        name, dashes = CHOSEN[key]
        label = f"{name} = {lam:.3g}" + ", an end of the path" * (lam in ends)
        style.reference(ax, lam, None, label, dashes)
    ax.set(xscale="log", xlabel="Lambda")
    return style.finish(ax, legend=legend)


def draw_folds(by_fold: pd.DataFrame, estimates: pd.DataFrame) -> "Figure":
    """Draw each metric in a panel: a ring for each fold, mean and standard error.

    Parameters
    ----------
    by_fold : DataFrame
        A line for each fold, with the metrics as columns.
    estimates : DataFrame
        Columns ``term, estimate, std_error``.
    """
    count = len(estimates)
    axes = style.new_axes(count, 1, (style.WIDTH, 0.6 + PANEL * count))[:, 0]
    ring: Style = {"mfc": "none", "mec": style.NEGATIVE, "ms": 7, "alpha": 0.6}
    bar: Style = {"color": POSITIVE, "fmt": "D", "ms": 6, "capsize": 4}
    columns = (estimates[name] for name in ("term", "estimate", "std_error"))
    for ax, term, mean, error in zip(axes, *columns, strict=True):
        values = np.round(by_fold[term].dropna().to_numpy(dtype=np.float64), DIGITS)
        rings = ax.plot(values, np.full(len(values), 0.55), "o", **ring)
        place = np.round(mean, DIGITS), 0.15
        means = ax.errorbar(*place, xerr=np.nan_to_num(error), **bar)
        ax.set(ylim=(-0.1, 1.1), yticks=[], title=style.metric_name(term))
        ax.margins(x=0.05)
        ax.grid(axis="y", visible=False)
        ax.spines["left"].set_visible(False)
        style.write_metric(ax.xaxis, term)
    words = ["A fold", "Mean and its standard error"]
    figure: Figure = axes[0].figure
    figure.legend([*rings, means], words, loc="outside lower center", ncols=2)
    return figure


# ----------------------------------------------------------- losses and runs


@suggest_arguments
def plot_losses(*, ax: "Axes | None" = None, **line: object) -> "Axes":
    """Draw the losses against the margin ``m = y (x'beta + alpha)``.

    Three losses are shown: the 0-1 loss ``[m < 0]``, the hinge ``max(0, 1 - m)`` of
    `svm`, and the log loss ``log(1 + exp(-m))`` of `logit`. The last two are convex and
    can be minimised in place of the first.

    Parameters
    ----------
    ax : Axes, optional
        By default those of a new figure.
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
        If `ax` is not a matplotlib Axes, or a property is not known.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> from matplotlib.figure import Figure
    >>> ax = ps.plot_losses(ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['0-1: an error', 'Hinge: max(0, 1 - m)', 'Log: log(1 + exp(-m))']
    """
    m = np.linspace(-2.0, 3.0, 501)
    curves = {
        "0-1: an error": (m, np.where(m < 0.0, 1.0, 0.0)),
        "Hinge: max(0, 1 - m)": (m, np.maximum(0.0, 1.0 - m)),
        "Log: log(1 + exp(-m))": (m, np.logaddexp(0.0, -m)),
    }
    ax = style.axes_of(ax)
    style.draw_curves(ax, curves, line)
    ax.set(xlim=(m[0], m[-1]), xlabel="Margin m", ylabel="Loss of a row")
    return style.finish(ax, legend="upper right")


def draw_panel(
    ax: "Axes",
    name: str,
    curves: style.Curves,
    line: Style,
    logarithmic: bool = False,
    marked: bool = False,
    **look: object,
) -> None:
    """Draw curves of a run against epochs; on a logarithmic axis what is above 0."""
    from matplotlib.ticker import MaxNLocator

    if logarithmic:
        curves = {
            label: (x, *(np.where(np.asarray(y) > 0.0, y, np.nan) for y in ys))
            for label, (x, *ys) in curves.items()
        }
        known = np.concatenate([y for _, *ys in curves.values() for y in ys])
        known = known[np.isfinite(known)]
        if known.size:
            ax.set_yscale("log")
            style.write_decimals(known, ax.yaxis)
    elif name.split()[-1] in ("error", "rows", "Accuracy"):
        style.write_percent(ax.yaxis)
    style.draw_curves(ax, curves, line, marked, **look)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylabel(name)


def plot_comparison(
    found: SolverComparison,
    excess: bool,
    ax: "Sequence[Axes] | None",
    line: Style,
) -> tuple["Axes", "Axes", "Axes"]:
    """Draw the three panels, see `SolverComparison.plot`."""
    statistics, bound = found.tidy(), found.lower_bound
    base = bound if excess else 0.0
    held_out = "test_error" in statistics["measure"].cat.categories
    which = "test" if held_out else "training"

    def curves(measure: str, base: float = 0.0) -> dict[str, tuple[Floats, ...]]:
        """Medians over the runs of each solver, with bands from 5% to 95%."""
        of_solver = {}
        for name in statistics["solver"].cat.categories:
            own = statistics[statistics["solver"] == name].set_index("measure")
            of_measure = own.loc[[measure]]
            x = of_measure["epoch"].to_numpy(dtype=np.float64)
            if measure == "objective":
                x = own.loc[["cpu_seconds"], "q50"].to_numpy()
            ys = (of_measure[q].to_numpy() - base for q in ("q50", "q05", "q95"))
            of_solver[style.written(name)] = (x, *ys)
        return of_solver

    loss, error, gap = panels = style.panels_of(ax, TALL, [3], THREE)
    losses, named = curves("objective", base), f"{which.capitalize()} error"
    all_losses = np.concatenate([np.ravel(ys) for _, *ys in losses.values()])
    positive = all_losses[all_losses > 0.0]
    wide = positive.size > 0 and style.is_wide(positive)
    look: Style = {"marked": True, "markersize": 4.5}
    draw_panel(loss, "Loss less bound" if base else "Loss", losses, line, wide, **look)
    draw_panel(error, named, curves(f"{which}_error"), line, **look)
    draw_panel(gap, "Duality gap", curves("gap"), line, True, **look)
    loss.set_xscale("log", nonpositive="mask")
    shown = "Loss above the certified bound" if base else "Loss"
    loss.set(title=f"{shown} against CPU time", xlabel="CPU time of the updates (s)")
    error.set(title=f"{named} against epoch", xlabel="Epoch")
    gap.set(title="Duality gap against epoch", xlabel="Epoch")
    if not excess and bound > 0.0:
        style.reference(loss, None, bound, "Certified lower bound", "-")
    style.finish(*panels, legend="")
    style.finish(loss)
    return loss, error, gap
