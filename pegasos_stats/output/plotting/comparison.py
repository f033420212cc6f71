"""Figures of a study: loss against time, error and gap against epoch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Line, styled

THREE = "give three axes, for example plt.subplots(1, 3)[1]"
HEIGHT = 8.4  # inches of the three panels
BAND = 0.18  # opacity
THIN = 0.6  # width of a line where some runs have ended
MARKERS_IN_A_LINE = 8
LETTERS = 84  # that fit beside each other, the samples of lines counted as 8 each
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
    ax: "Sequence[Axes] | None" = None,
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
    """
    with styled():
        axes = three_axes(ax)
        panels = panels_of(statistics, bound if excess else 0.0)
        for panel, on in zip(panels, axes, strict=True):
            draw(panel, statistics, on)
        if not excess and bound > 0.0:
            mark(bound, axes[0])
        put_legend(axes[0], own=ax is None)
    return axes


def panels_of(statistics: pd.DataFrame, base: float) -> tuple[Panel, Panel, Panel]:
    """Loss, error on held-out rows if there are any, and gap."""
    held_out = "test_error" in statistics["measure"].cat.categories
    which = "test" if held_out else "training"
    loss = "Loss above the certified bound" if base else "Loss"
    label = "Loss less bound" if base else "Loss"
    title, named = f"{loss} against CPU time", f"{which.capitalize()} error"
    unit = time_unit(statistics)
    time = f"CPU time of the updates ({unit})"
    return (
        Panel(title, "cpu_seconds", time, "objective", label, base, UNITS[unit]),
        Panel(f"{named} against epoch", "epoch", "Epoch", f"{which}_error", named),
        Panel(
            "Duality gap against epoch",
            "epoch",
            "Epoch",
            "gap",
            "Duality gap",
            always_log=True,
        ),
    )


def time_unit(statistics: pd.DataFrame) -> str:
    """Unit in which the longest time is above 1, if there is one."""
    longest = float(statistics.query("measure == 'cpu_seconds'")["q50"].max())
    above = [unit for unit, scale in UNITS.items() if longest * scale >= 1.0]
    return above[0] if above else "s"


def draw(panel: Panel, statistics: pd.DataFrame, ax: "Axes") -> None:
    """Draw the curves of all solvers in one panel."""
    names = list(statistics["solver"].cat.categories)
    curves = [curve(panel, statistics[statistics["solver"] == name]) for name in names]
    for place, found in enumerate(curves):
        line = style.lines(len(names))[place]
        _draw_curve(style.written(names[place]), line, found, place / len(names), ax)
    set_scales(panel, curves, ax)
    ax.set_title(panel.title)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)


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


def _draw_curve(label: str, line: Line, found: Curve, shift: float, ax: "Axes") -> None:
    """Draw one curve; `shift` keeps its markers away from those of others."""
    every = max(1, round(len(found.x) / MARKERS_IN_A_LINE))
    ax.fill_between(
        found.x, found.low, found.high, color=line.colour, alpha=BAND, linewidth=0.0
    )
    part = slice(None, found.whole)
    ax.plot(
        found.x[part],
        found.middle[part],
        color=line.colour,
        linestyle=line.dashes,
        marker=line.marker,
        markersize=4.5,
        markevery=(int(shift * every), every),
        label=label,
    )
    rest = slice(found.whole - 1, None)
    ax.plot(
        found.x[rest],
        found.middle[rest],
        color=line.colour,
        linestyle=line.dashes,
        linewidth=THIN,
    )


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


def mark(bound: float, ax: "Axes") -> None:
    """Draw a line at the least value that the optimum can have."""
    label = "Certified lower bound"
    ax.axhline(bound, color=style.REFERENCE, linewidth=0.8, zorder=1, label=label)


def put_legend(ax: "Axes", own: bool) -> None:
    """Name the solvers: above the panels of a new figure, else in the first panel."""
    handles, labels = ax.get_legend_handles_labels()
    if own:
        longest = max(map(len, labels))
        columns = max(1, min(3, LETTERS // (longest + 8)))
        ax.figure.legend(handles, labels, loc="outside upper left", ncols=columns)
    else:
        ax.legend(handles, labels)


def three_axes(ax: "Sequence[Axes] | None") -> Panels:
    """The axes given, or those of a new figure, one below the other.

    Raises
    ------
    OptionError
        If they are not three.
    """
    if ax is None:
        ax = style.pyplot().subplots(3, 1, figsize=(style.WIDTH, HEIGHT))[1]
    with refusing(OptionError(f"ax is of type {type(ax).__name__}; {THREE}.")):
        found = tuple(np.ravel(np.asarray(ax, dtype=object)))
        right = len(found) == 3 and all(hasattr(x, "fill_between") for x in found)
    if not right:
        raise OptionError(f"ax holds {counted(len(found), 'item')}; {THREE}.")
    return found
