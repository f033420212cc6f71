"""Figure of the trace of a fit: objective and bound, gap, errors, by epoch."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import OptionError
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Style

Against = Literal["epoch", "steps"]

HEIGHT = 6.8  # inches of the three panels
MARKED = 40  # epochs, at most, that are shown as points
DEPTH = 30.0  # times below the least objective, where the axis of the bound ends
BEYOND = 1.08  # where an axis of errors ends, as a multiple of the largest
PANELS = (
    "one to three, for the objective, the gap and the errors: plt.subplots(3, 1)[1]"
)


def draw_trace(
    trace: pd.DataFrame,
    ax: "Axes | Sequence[Axes] | None",
    line: Style,
    refined_from: int | None = None,
    x: Against = "epoch",
    optimum: float | None = None,
    lower: float = 0.0,
) -> NDArray[np.object_]:
    """Draw objective with bound, gap, and errors, see `ResultPlots.trace`.

    Parameters
    ----------
    trace : DataFrame
        As ``fit(trace=True)`` records it.
    ax : one to three axes, optional
    line : mapping
        Keywords of the lines.
    refined_from : int, optional
        Last epoch of Pegasos, where SDCA went on from it.
    x : "epoch" or "steps"
    optimum : float, optional
        Of the objective, for ``"steps"``; if left out the largest of the bounds of the
        trace and `lower`.
    lower : float
        Lower bound of the optimum.

    Returns
    -------
    array of Axes
    """
    style.pyplot()
    from matplotlib.ticker import MaxNLocator

    if ax is None:
        axes = list(style.new_axes(3, 1, (style.WIDTH, HEIGHT))[:, 0])
        for panel in axes[:2]:
            panel.sharex(axes[2])
            panel.tick_params(labelbottom=False)
    else:
        axes = style.several_axes(ax, [1, 2, 3], PANELS)
    at = trace[x].to_numpy()
    draws: list[Any] = [_objective, _gap, partial(_rates, accuracy=False)]
    if x == "steps":
        above = partial(_distance, optimum=optimum, lower=lower)
        draws = [above, _gap, partial(_rates, accuracy=True)]
    few = "o" if len(trace) <= MARKED else "None"
    for draw, panel in zip(draws, axes, strict=False):
        draw(trace, at, panel, {"marker": few, "markersize": 3.5} | dict(line))
        if refined_from is not None:
            last = trace.loc[trace["epoch"] == refined_from, x].item()
            style.reference(
                panel, last, None, "SDCA from here" if panel is axes[0] else ""
            )
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        shares = panel.get_shared_x_axes().joined(panel, axes[-1])
        if panel is axes[-1] or not shares:  # named once where panels share it
            panel.set_xlabel(x.capitalize())
    style.finish(*axes, legend="best")
    return np.array(axes, dtype=object)


def _objective(trace: pd.DataFrame, at: Floats, ax: "Axes", line: Style) -> None:
    """Objective and lower bound; the optimum lies between them."""
    objective = trace["objective"].to_numpy()
    bound = np.maximum(0.0, objective - trace["gap"].to_numpy())
    floor = float(objective.min()) / DEPTH
    lowest = bound
    if logarithmic := floor > 0.0 and style.wide(objective):
        lowest = np.maximum(bound, 0.5 * floor)
        bound = np.where(bound > 0.0, bound, np.nan)
        ax.set_yscale("log")
    fill = {"color": style.ink(ax), "alpha": 0.12, "linewidth": 0}
    ax.fill_between(at, lowest, objective, **fill)
    style.draw_line(ax, at, objective, style.labelled(line, "Objective of the fit")[0])
    label = "Certified lower bound of the optimum"
    style.draw_line(ax, at, bound, style.labelled(line, label)[0])
    if logarithmic:
        values = np.concatenate([objective, lowest])
        if values.min() < floor:  # the bound is far below all objectives
            ax.set_ylim(bottom=floor)
        style.write_decimals(np.maximum(values, floor), ax.yaxis)
    ax.set_ylabel("Objective")


def _distance(
    trace: pd.DataFrame,
    at: Floats,
    ax: "Axes",
    line: Style,
    optimum: float | None,
    lower: float,
) -> None:
    """Objective less the optimum, or less the largest lower bound of it."""
    objective = trace["objective"].to_numpy()
    label = "Objective above the optimum"
    if optimum is None:
        optimum = max(lower, float((objective - trace["gap"]).max()))
        label += ", at most"
    elif not optimum <= objective.min():
        raise OptionError(
            f"is above the objective {objective.min():.6g} of the trace; give the "
            "least objective, or leave it out.",
            "optimum",
            optimum,
        )
    _log_line(at, objective - optimum, label, line, ax)
    ax.set_ylabel("Objective above the optimum")


def _gap(trace: pd.DataFrame, at: Floats, ax: "Axes", line: Style) -> None:
    """Duality gap; epochs in which nothing is certified are not drawn."""
    gap = trace["gap"].to_numpy()
    share = float(gap[-1] / trace["objective"].iloc[-1])
    label = f"Objective less bound; relative gap {share:.2g} at the end"
    _log_line(at, gap, label, line, ax)
    ax.set_ylabel("Duality gap")


def _rates(
    trace: pd.DataFrame, at: Floats, ax: "Axes", line: Style, accuracy: bool
) -> None:
    """Shares of misclassified rows, or of the others; of held-out rows too."""
    drawn = [1e-3]
    for column, rows in {
        "training_error": "Rows of the fit",
        "test_error": "Held-out rows",
    }.items():
        if column not in trace:
            continue
        rate = trace[column].to_numpy()
        drawn += list(rate)
        rate = 1.0 - rate if accuracy else rate
        label = f"{rows}, {rate[-1]:.2%} at the end"
        style.draw_line(ax, at, rate, style.labelled(line, label)[0])
    most = float(np.nanmax(drawn))
    low, high = -0.02 * most, BEYOND * most
    ax.set_ylim(*((1.0 - high, 1.0 - low) if accuracy else (low, high)))
    style.write_percent(ax.yaxis)
    ax.set_ylabel("Accuracy" if accuracy else "Misclassified rows")


def _log_line(at: Floats, values: Floats, label: str, line: Style, ax: "Axes") -> None:
    """Draw what is above 0, on a logarithmic axis if anything is."""
    values = np.where((values > 0.0) & np.isfinite(values), values, np.nan)
    above = values[values > 0.0]
    if above.size:
        ax.set_yscale("log")
        style.write_decimals(above, ax.yaxis)
    style.draw_line(ax, at, values, style.labelled(line, label)[0])
