"""Figures of solvers: loss against time, error and gap against epoch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Style

THREE = "three axes, for example plt.subplots(1, 3)[1]"
HEIGHT = 8.4  # inches of the three panels
THIN = 0.6  # width of a line where some runs have ended
MARKERS_IN_A_LINE = 8
UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6}

Panels = tuple[Axes, Axes, Axes]


class Curve(NamedTuple):
    """A line with its band, a point for each epoch; float64 arrays of one shape.

    The first `whole` points are of all runs, the others of some.
    """

    x: Floats
    middle: Floats
    low: Floats
    high: Floats
    whole: int


class Panel(NamedTuple):
    """What a panel shows: values of a measure less `base`, against `x` scaled."""

    title: str
    x: str
    x_label: str
    measure: str
    y_label: str
    base: float = 0.0
    x_scale: float = 1.0
    always_log: bool = False


def plot_comparison(
    statistics: pd.DataFrame,
    bound: float,
    excess: bool,
    ax: "Sequence[Axes] | None",
    line: Style,
) -> Panels:
    """Draw the three panels, see `SolverComparison.plot`.

    Parameters
    ----------
    statistics : DataFrame
        As `SolverComparison.tidy` gives it.
    bound : float
        Best dual objective.
    excess : bool
        Whether to subtract it from the loss.
    ax : three axes, optional
    line : mapping
        Keywords of the lines.
    """
    if ax is None:
        loss, error, gap = style.new_axes(3, 1, (style.WIDTH, HEIGHT))[:, 0]
    else:
        loss, error, gap = style.several_axes(ax, [3], THREE)
    panels = panels_of(statistics, bound if excess else 0.0)
    for panel, on in zip(panels, (loss, error, gap), strict=True):
        draw(panel, statistics, on, line)
    if not excess and bound > 0.0:
        style.reference(loss, None, bound, "Certified lower bound", "-")
    style.finish(loss, error, gap)
    style.put_legend(loss)
    return loss, error, gap


def panels_of(statistics: pd.DataFrame, base: float) -> tuple[Panel, Panel, Panel]:
    """Loss, error on held-out rows if there are any, and gap."""
    held_out = "test_error" in statistics["measure"].cat.categories
    which = "test" if held_out else "training"
    loss = "Loss above the certified bound" if base else "Loss"
    label = "Loss less bound" if base else "Loss"
    title, named = f"{loss} against CPU time", f"{which.capitalize()} error"
    unit = time_unit(statistics)
    time = f"CPU time of the updates ({unit})"
    error, gap = f"{named} against epoch", "Duality gap against epoch"
    return (
        Panel(title, "cpu_seconds", time, "objective", label, base, UNITS[unit]),
        Panel(error, "epoch", "Epoch", f"{which}_error", named),
        Panel(gap, "epoch", "Epoch", "gap", "Duality gap", always_log=True),
    )


def time_unit(statistics: pd.DataFrame) -> str:
    """Unit in which the longest time is above 1, if there is one."""
    longest = float(statistics.query("measure == 'cpu_seconds'")["q50"].max())
    above = [unit for unit, scale in UNITS.items() if longest * scale >= 1.0]
    return above[0] if above else "s"


def draw(panel: Panel, statistics: pd.DataFrame, ax: "Axes", line: Style) -> None:
    """Draw the curves of all solvers in one panel."""
    names = list(statistics["solver"].cat.categories)
    curves = [curve(panel, statistics[statistics["solver"] == name]) for name in names]
    for place, found in enumerate(curves):
        way = style.lines(len(names))[place]
        every = max(1, round(len(found.x) / MARKERS_IN_A_LINE))
        look = style.merged(
            line,
            color=way.colour,
            linestyle=way.dashes,
            marker=way.marker,
            markersize=4.5,
            markevery=(int(place / len(names) * every), every),
            label=style.written(names[place]),
        )
        part, rest = slice(None, found.whole), slice(found.whole - 1, None)
        ax.plot(found.x[part], found.middle[part], **look)
        thin = look | {"linewidth": THIN, "marker": "", "label": ""}
        ax.plot(found.x[rest], found.middle[rest], **thin)
        fill = {"color": look["color"], "alpha": style.BAND, "linewidth": 0.0}
        ax.fill_between(found.x, found.low, found.high, **fill)
    set_scales(panel, curves, ax)
    if panel.measure.endswith("error"):
        style.write_percent(ax.yaxis)
    ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)


def curve(panel: Panel, statistics: pd.DataFrame) -> Curve:
    """Quantiles over the runs of one solver, each at the median of x."""
    y = statistics[statistics["measure"] == panel.measure].set_index("epoch")
    x = np.asarray(y.index, dtype=np.float64)
    if panel.x != "epoch":
        at = statistics[statistics["measure"] == panel.x]
        x = panel.x_scale * at["q50"].to_numpy(dtype=np.float64)
    middle, low, high = (
        y[name].to_numpy(dtype=np.float64) - panel.base
        for name in ("q50", "q05", "q95")
    )
    all_runs = statistics[statistics["measure"] == "objective"]["n_runs"]
    whole = int((all_runs == all_runs.max()).sum())
    return Curve(x, middle, low, high, whole)


def set_scales(panel: Panel, curves: Sequence[Curve], ax: "Axes") -> None:
    """Make axes logarithmic where values span much; those of time and gap always."""
    from matplotlib.ticker import MaxNLocator

    ends = np.array([found.x[-1] for found in curves])
    x = np.concatenate([found.x for found in curves])
    if (x > 0.0).all() and (panel.x == "cpu_seconds" or style.wide(ends)):
        ax.set_xscale("log", nonpositive="mask")
        style.write_decimals(x, ax.xaxis)
    elif panel.x == "epoch":
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    y = np.concatenate([y for found in curves for y in (found.low, found.high)])
    y = y[y > 0.0]
    error = panel.measure.endswith("error")
    if y.size and not error and (panel.always_log or style.wide(y)):
        ax.set_yscale("log", nonpositive="mask")
        style.write_decimals(y, ax.yaxis)
