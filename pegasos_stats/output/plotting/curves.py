"""Curves: reliability, thresholds, paths along lambda, folds, losses."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.scores import PrecisionRecall
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import POSITIVE, Axes, Floats, Style
from pegasos_stats.studies.calibration import Reliability
from pegasos_stats.studies.comparisons import SolverComparison
from pegasos_stats.studies.cross_validation import LambdaPath
from pegasos_stats.studies.thresholds import Thresholds
from pegasos_stats.tables import significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = 0.12  # of the height of axes, for the bars of counts
LOW = 0.7  # probabilities all below this have axes that end near the largest
EDGE = 0.04  # of the width, beyond the outermost thresholds
PANEL = 0.85  # inches of height for one metric
DIGITS = 9  # of metrics, after which folds are the same
BELOW = -0.15  # of the largest net benefit, where its axis ends
LARGEST = 1000  # lines of a figure
NAME = 24  # letters of a name in a legend
HIGHEST = 3.0  # times the median of the costs, where their axis ends
CHOSEN = {"min": ("lambda_min", ":"), "1se": ("lambda_1se", "--")}


def draw_reliability(found: Reliability, ax: "Axes | None", line: Style) -> "Axes":
    """Draw observed shares and the smooth curve, see `Reliability.plot`."""
    smooth, positive = found.smooth, style.short(found.positive)
    used = found.table[found.table["n"] > 0]
    x, y = used["mean_predicted"].to_numpy(), used["observed"].to_numpy()
    top = max(float(used[end].max()) for end in ("high", "conf_high", "observed"))
    before = 0.0 if ax is None or not ax.has_data() else ax.get_xlim()[1]
    ax = style.square_axes(ax, 1.0 if top >= LOW else max(1.03 * top, before / 1.02))
    style.reference(ax, [0, 1], [0, 1], "_As predicted", "--")
    (points,) = ax.plot(
        x, y, **style.merged(line, marker="o", markersize=5.0) | {"linestyle": "none"}
    )
    own = style.merged(line).get("label")
    points.set_label(f"{own or 'Observed'}, {found.level:.0%} interval")
    colour = points.get_color()
    ax.vlines(x, used["conf_low"], used["conf_high"], colour, "solid", linewidth=1.2)
    if smooth is not None and len(smooth):
        look = {"linestyle": "-", **line, "color": colour, "marker": ""}
        look["label"] = "Smooth curve" if own is None else ""
        style.draw_line(ax, smooth["probability"], smooth["observed"], look)
    density = used["n"] / (width := used["high"] - used["low"])
    grey: Style = {"color": style.ink(ax), "alpha": 0.15, "linewidth": 0.0, "zorder": 0}
    across = ax.get_xaxis_transform()
    bars = BARS * density / density.max()
    ax.bar(used["low"], bars, width, align="edge", transform=across, **grey)
    ax.set_xlabel(f"Predicted probability of {positive}")
    ax.set_ylabel(f"Observed share of {positive}")
    style.finish(ax, legend="above")
    return ax


def draw_precision_recall(
    found: PrecisionRecall, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw precision against recall in steps, see `PrecisionRecall.plot`."""
    share, name = found.prevalence, style.short(found.positive)
    ax = style.square_axes(ax)
    style.reference(ax, None, share, f"Share of {name}: {share:.1%}")
    look, _ = style.labelled(line, f"Average precision {found.average_precision:.3f}")
    x, y = found.table["recall"], found.table["precision"]
    style.draw_line(ax, x, y, {"drawstyle": "steps-pre", **look}, clip_on=False)
    ax.set(xlabel=f"Recall (of {name})", ylabel=f"Precision (of {name})")
    style.finish(ax, legend="best")
    return ax


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
    parts = {str(name): part for name, part in table.groupby("model", sort=False)}
    treat_all, treat_none = parts.pop("all"), parts.pop("none")
    curves = {
        style.written("Model" if name == "model" else name): (
            part["threshold"],
            part["net_benefit"],
        )
        for name, part in parts.items()
    }
    style.draw_curves(ax, curves, line)
    x = treat_all["threshold"]
    style.reference(ax, x, treat_all["net_benefit"], "Treat all", "--")
    style.reference(ax, x, treat_none["net_benefit"], "Treat none")
    top = max(1.05 * float(table["net_benefit"].max()), before, 1e-3)
    ax.set_ylim(BELOW * top, top)
    ax.set(ylabel="Net benefit")
    ax.set_xlabel(f"Threshold probability of {style.short(positive)}")
    style.write_percent(ax.xaxis)
    style.finish(ax, legend="upper right")
    return ax


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
    name, table = found.target.name, found.table
    at = table["threshold"].to_numpy(dtype=np.float64)
    values = table[name].to_numpy(dtype=np.float64)
    folds = found.by_fold["threshold"].to_numpy(dtype=np.float64)
    points = np.concatenate([at, folds, [found.usual]])
    points = points[np.isfinite(points)]
    margin = EDGE * max(float(np.ptp(points)), 1e-3)
    low, high = float(points.min()) - margin, float(points.max()) + margin
    error = 0.0 if np.isnan(found.std_error) else found.std_error
    drawn = [*values, found.estimate - error, found.estimate + error]
    least, most = min(0.0, float(np.nanmin(drawn))), float(np.nanmax(drawn))
    if name == "cost":  # which is many times as high where all rows are one level
        most = min(most, max(HIGHEST * float(np.nanmedian(values)), drawn[-1]))
    height = max(most - least, 1e-3)
    write = style.percent if name in style.SHARES else significant
    at_text = style.percent if found.scale == "probability" else significant
    ax = style.axes_of(ax)
    rows = "out of fold" if found.out_of_fold else "new rows"
    label = f"{style.metric_name(name)}, {rows}"
    look = {"drawstyle": "steps-mid"} | dict(line)
    curve = style.draw_line(ax, np.clip(at, low, high), values, look, label=label)
    chosen, own = style.labelled(
        line,
        f"Chosen: {at_text(found.threshold, 3)}, expected "
        f"{write(found.estimate, 3)} ± {write(found.std_error, 2)}",
    )
    colour = curve.get_color() if own else POSITIVE
    place = float(np.clip(found.threshold, low, high)), found.estimate, error
    bar: Style = {"fmt": "D", "ms": 6, "capsize": 4, "zorder": 3, "color": colour}
    ax.errorbar(*place, label=chosen["label"], **bar)
    style.reference(ax, found.usual, None, f"Usual: {at_text(found.usual, 3)}")
    label = "" if own else "Thresholds of the folds"
    look = {"ms": 12, "mew": 1.6, "clip_on": False, "label": label}
    style.strokes(ax, np.clip(folds, low, high), colour, **look)
    second = style.short(found.levels[1])
    scale = f"score (above: {second})"
    if found.scale == "probability":
        scale = f"probability of {second}"
        style.write_percent(ax.xaxis)
    ax.set(xlim=(low, high), ylabel=style.metric_name(name))
    ax.set_xlabel(f"Threshold of the {scale}")
    style.write_metric(ax.yaxis, name)
    for _ in range(2):  # ticks are other ones, once there is room for the legend
        style.finish(ax)
        style.keep_clear(
            ax, least - EDGE * height, most + EDGE * height, "upper center"
        )
    return ax


def draw_curve(path: LambdaPath, ax: "Axes | None", line: Style) -> "Axes":
    """Draw a cross-validated metric against lambda, see `LambdaPath.plot`."""
    lambdas, marks, name = path.lambdas, path.marks(), path.metric
    mean, error = path._curve(name)
    ax = style.axes_of(ax)
    bars = np.where(np.isnan(error), 0.0, error)
    (curve,) = ax.plot(lambdas, mean, **style.merged(line, marker="o", markersize=3.5))
    colour = curve.get_color()
    ax.errorbar(
        lambdas, mean, yerr=bars, fmt="none", ecolor=colour, alpha=0.5, capsize=2
    )
    if "1se" in marks:
        best = int(np.flatnonzero(lambdas == marks["min"])[0])
        span = mean[best] - bars[best], mean[best] + bars[best]
        own: Style = (
            {"label": ""} if "label" in line else {"label": "Best ± standard error"}
        )
        ax.axhspan(*span, color=colour, alpha=style.BAND, lw=0, **own)
    _mark(ax, marks, lambdas)
    ax.set_xscale("log")
    ax.set(xlabel="Lambda", ylabel=f"{style.metric_name(name)}, cross-validated")
    style.write_metric(ax.yaxis, name)
    style.finish(ax)
    low, high = ax.dataLim.intervaly
    space = EDGE * max(high - low, 1e-9)
    style.keep_clear(ax, low - space, high + space, "upper center")
    return ax


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
    _mark(ax, path.marks(), path.lambdas)
    ax.set_xscale("log")
    ax.set(xlabel="Lambda", ylabel="Coefficient")
    style.finish(ax, legend="right")
    return ax


def _mark(ax: "Axes", marks: Mapping[str, float], lambdas: Floats) -> None:
    """Vertical lines at the lambdas chosen; those at an end of the path say so."""
    for key, lam in marks.items():
        name, dashes = CHOSEN[key]
        end = lam in (lambdas.min(), lambdas.max()) and len(lambdas) > 1
        label = f"{name} = {lam:.3g}" + ", an end of the path" * end
        style.reference(ax, lam, None, label, dashes)


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
    lines = (estimates[name] for name in ("term", "estimate", "std_error"))
    for ax, term, estimate, error in zip(axes, *lines, strict=True):
        values = by_fold[term].to_numpy(dtype=np.float64)
        _draw_metric(ax, values, estimate, error)
        ax.set_title(style.metric_name(term))
        style.write_metric(ax.xaxis, term)
    line = style.pyplot().Line2D
    ring = line([], [], marker="o", mfc="none", mec=style.NEGATIVE, ls="")
    diamond = line([], [], marker="D", color=POSITIVE)
    words = ["A fold", "Mean and its standard error"]
    figure: Figure = axes[0].figure
    figure.legend([ring, diamond], words, loc="outside lower center", ncols=2)
    return figure


def _draw_metric(ax: "Axes", values: Floats, mean: float, error: float) -> None:
    """A ring at each value; below them the mean with its standard error."""
    known = np.round(values[~np.isnan(values)], DIGITS)
    rings: Style = {"mfc": "none", "mec": style.NEGATIVE, "ms": 7, "alpha": 0.6}
    ax.plot(known, np.full(len(known), 0.55), "o", **rings)
    bar: Style = {"color": POSITIVE, "fmt": "D", "ms": 6, "capsize": 4}
    ax.errorbar(np.round(mean, DIGITS), 0.15, xerr=np.nan_to_num(error), **bar)
    ax.set(ylim=(-0.1, 1.1), yticks=[])
    ax.margins(x=0.05)
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)


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
    style.finish(ax, legend="upper right")
    return ax


THREE = "three axes, for example plt.subplots(1, 3)[1]"
HEIGHT = 8.4  # inches of the three panels
MARKERS_IN_A_LINE = 8

Panels = tuple[Axes, Axes, Axes]


def plot_comparison(
    found: SolverComparison,
    excess: bool,
    ax: "Sequence[Axes] | None",
    line: Style,
) -> Panels:
    """Draw the three panels, see `SolverComparison.plot`."""
    statistics, bound = found.tidy(), found.lower_bound
    if ax is None:
        loss, error, gap = style.new_axes(3, 1, (style.WIDTH, HEIGHT))[:, 0]
    else:
        loss, error, gap = style.several_axes(ax, [3], THREE)
    base = bound if excess else 0.0
    draw_measure(loss, statistics, "objective", line, base, in_seconds=True)
    shown = "Loss above the certified bound" if base else "Loss"
    loss.set(
        title=f"{shown} against CPU time",
        xlabel="CPU time of the updates (s)",
        ylabel="Loss less bound" if base else "Loss",
    )
    held_out = "test_error" in statistics["measure"].cat.categories
    which = "test" if held_out else "training"
    draw_measure(error, statistics, f"{which}_error", line)
    named = f"{which.capitalize()} error"
    error.set(title=f"{named} against epoch", xlabel="Epoch", ylabel=named)
    style.write_percent(error.yaxis)
    draw_measure(gap, statistics, "gap", line)
    gap.set(title="Duality gap against epoch", xlabel="Epoch", ylabel="Duality gap")
    if not excess and bound > 0.0:
        style.reference(loss, None, bound, "Certified lower bound", "-")
    style.finish(loss, error, gap)
    style.put_legend(loss)
    return loss, error, gap


def draw_measure(
    ax: "Axes",
    statistics: pd.DataFrame,
    measure: str,
    line: Style,
    base: float = 0.0,
    in_seconds: bool = False,
) -> None:
    """Draw medians over the runs of each solver, with bands from 5% to 95%.

    Parameters
    ----------
    ax : Axes
    statistics : DataFrame
    measure : str
        On the y axis, less `base`.
    line : mapping
    base : float
    in_seconds : bool
        Whether medians of the time are on the x axis, and not epochs.
    """
    names = list(statistics["solver"].cat.categories)
    ends, xs, ys = [], [], []
    for place, (name, way) in enumerate(
        zip(names, style.lines(len(names)), strict=True)
    ):
        own = statistics[statistics["solver"] == name]
        y = own[own["measure"] == measure].set_index("epoch")
        x = np.asarray(y.index, dtype=np.float64)
        if in_seconds:
            x = own[own["measure"] == "cpu_seconds"]["q50"].to_numpy()
        middle, low, high = (y[q].to_numpy() - base for q in ("q50", "q05", "q95"))
        every = max(1, round(len(x) / MARKERS_IN_A_LINE))
        look = style.merged(
            line,
            color=way.colour,
            linestyle=way.dashes,
            marker=way.marker,
            markersize=4.5,
            markevery=(int(place / len(names) * every), every),
            label=style.written(name),
        )
        ax.plot(x, middle, **look)
        fill = {"color": look["color"], "alpha": style.BAND, "linewidth": 0.0}
        ax.fill_between(x, low, high, **fill)
        ends.append(x[-1])
        xs.append(x)
        ys += [low, high]
    set_scales(ax, np.concatenate(xs), np.concatenate(ys), np.array(ends), measure)


def set_scales(ax: "Axes", x: Floats, y: Floats, ends: Floats, measure: str) -> None:
    """Make axes logarithmic where values span much; those of time and gap always."""
    from matplotlib.ticker import MaxNLocator

    if (x > 0.0).all() and (measure == "objective" or style.wide(ends)):
        ax.set_xscale("log", nonpositive="mask")
        style.write_decimals(x, ax.xaxis)
    elif measure != "objective":
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    y = y[y > 0.0]
    if y.size and (measure == "gap" or (measure == "objective" and style.wide(y))):
        ax.set_yscale("log", nonpositive="mask")
        style.write_decimals(y, ax.yaxis)
