"""Figures of solvers: loss against time, error and gap against epoch."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Style

THREE = "three axes, for example plt.subplots(1, 3)[1]"
HEIGHT = 8.4  # inches of the three panels
THIN = 0.6  # width of a line where some runs have ended
MARKERS_IN_A_LINE = 8

Panels = tuple[Axes, Axes, Axes]


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
        runs = own[own["measure"] == "objective"]["n_runs"]
        whole = int((runs == runs.max()).sum())  # points of all runs, before others
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
        ax.plot(x[:whole], middle[:whole], **look)
        thin = look | {"linewidth": THIN, "marker": "", "label": ""}
        ax.plot(x[whole - 1 :], middle[whole - 1 :], **thin)
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
