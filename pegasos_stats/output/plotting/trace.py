"""Figure of the trace of a fit: objective and bound, gap, errors, by epoch."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import OptionError, counted
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Line, lines, styled

Against = Literal["epoch", "steps"]

HEIGHT = 6.8  # inches of the three panels
MARKED = 40  # epochs, at most, that are shown as points
DEPTH = 30.0  # times below the least objective, where the axis of the bound ends
BAND = 0.15  # opacity
BEYOND = 1.08  # where an axis of errors ends, as a multiple of the largest


def draw_trace(
    trace: pd.DataFrame,
    ax: "Axes | Sequence[Axes] | None" = None,
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
    with styled():
        axes = _panels(ax)
        from matplotlib.ticker import MaxNLocator

        draws = _objective, _gap, _errors
        if x == "steps":
            above = partial(_distance, optimum=optimum, lower=lower)
            draws = above, partial(_gap, x=x), _accuracy
        for draw, panel in zip(draws, axes, strict=False):
            draw(trace, panel)
            if refined_from is not None:
                label = "SDCA from here" if panel is axes[0] else ""
                line = {"color": style.REFERENCE, "lw": 1.0, "ls": ":", "label": label}
                last = trace.loc[trace["epoch"] == refined_from, x].item()
                panel.axvline(last, **line)
            style.put_legend(panel)
        for panel in axes:
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            shares = panel.get_shared_x_axes().joined(panel, axes[-1])
            if panel is axes[-1] or not shares:  # named once where panels share it
                panel.set_xlabel(x.capitalize())
    return axes


def _panels(ax: "Axes | Sequence[Axes] | None") -> NDArray[np.object_]:
    """The axes given, one to three, or three of a new figure."""
    if ax is None:
        made = style.pyplot().subplots(
            3, 1, figsize=(style.WIDTH, HEIGHT), sharex=True
        )[1]
        return np.asarray(made, dtype=object)
    found = np.ravel(np.asarray(ax, dtype=object))
    if not 1 <= found.size <= 3:
        raise OptionError(
            f"ax holds {counted(found.size, 'panel')}; give one to three, for the "
            "objective, the gap and the errors: plt.subplots(3, 1)[1]."
        )
    return np.array([style.axes_of(one) for one in found], dtype=object)


def _objective(trace: pd.DataFrame, ax: "Axes") -> None:
    """Objective and lower bound; the optimum lies between them."""
    epoch = trace["epoch"].to_numpy()
    objective = trace["objective"].to_numpy()
    bound = np.maximum(0.0, objective - trace["gap"].to_numpy())
    floor = float(objective.min()) / DEPTH
    lowest = bound
    if logarithmic := floor > 0.0 and style.wide(objective):
        lowest = np.maximum(bound, 0.5 * floor)
        bound = np.where(bound > 0.0, bound, np.nan)
        ax.set_yscale("log")
    upper, lower = lines(2)
    ax.fill_between(
        epoch, lowest, objective, color=style.REFERENCE, alpha=BAND, linewidth=0
    )
    _line(epoch, objective, "Objective of the fit", upper, ax)
    _line(epoch, bound, "Certified lower bound of the optimum", lower, ax)
    if logarithmic:
        values = np.concatenate([objective, lowest])
        if values.min() < floor:  # the bound is far below all objectives
            ax.set_ylim(bottom=floor)
        style.write_decimals(np.maximum(values, floor), ax.yaxis)
    ax.set_ylabel("Objective")


def _distance(
    trace: pd.DataFrame, ax: "Axes", optimum: float | None, lower: float
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
    above = objective - optimum
    _log_line(trace["steps"].to_numpy(), above, label, lines(3)[0], ax)
    ax.set_ylabel("Objective above the optimum")


def _accuracy(trace: pd.DataFrame, ax: "Axes") -> None:
    """Shares of rows predicted right, of the fit and held out if there are any."""
    least = 1.0
    for (rows, rate), line in zip(_rates(trace), lines(2), strict=False):
        label = f"{rows}, {1.0 - rate[-1]:.2%} at the end"
        _line(trace["steps"].to_numpy(), 1.0 - rate, label, line, ax)
        least = min(least, float(np.nanmin([*(1.0 - rate), 1.0])))
    room = 0.08 * max(1.0 - least, 1e-3)
    ax.set_ylim(least - room, 1.0 + room)
    style.write_percent(ax.yaxis)
    ax.set_ylabel("Accuracy")


def _rates(trace: pd.DataFrame) -> list[tuple[str, Floats]]:
    """Error rates of the rows of the fit, and of held-out rows if there are any."""
    names = {"training_error": "Rows of the fit", "test_error": "Held-out rows"}
    return [(rows, trace[n].to_numpy()) for n, rows in names.items() if n in trace]


def _gap(trace: pd.DataFrame, ax: "Axes", x: Against = "epoch") -> None:
    """Duality gap; epochs in which nothing is certified are not drawn."""
    gap = trace["gap"].to_numpy()
    share = float(gap[-1] / trace["objective"].iloc[-1])
    label = f"Objective less bound; relative gap {share:.2g} at the end"
    _log_line(trace[x].to_numpy(), gap, label, lines(3)[2], ax)
    ax.set_ylabel("Duality gap")


def _errors(trace: pd.DataFrame, ax: "Axes") -> None:
    """Error rates of the rows of the fit, and of held-out rows if there are any."""
    epoch, found = trace["epoch"].to_numpy(), _rates(trace)
    for (rows, rate), line in zip(found, lines(2), strict=False):
        _line(epoch, rate, f"{rows}, {rate[-1]:.2%} at the end", line, ax)
    largest = float(np.nanmax([1e-3, *(share for _, rate in found for share in rate)]))
    ax.set_ylim(-0.02 * largest, BEYOND * largest)
    style.write_percent(ax.yaxis)
    ax.set_ylabel("Misclassified rows")


def _log_line(x: Floats, values: Floats, label: str, line: Line, ax: "Axes") -> None:
    """Draw what is above 0, on a logarithmic axis if anything is."""
    values = np.where((values > 0.0) & np.isfinite(values), values, np.nan)
    above = values[values > 0.0]
    if above.size:
        ax.set_yscale("log")
        style.write_decimals(above, ax.yaxis)
    _line(x, values, label, line, ax)


def _line(epoch: Floats, values: Floats, label: str, line: Line, ax: "Axes") -> None:
    ax.plot(
        epoch,
        values,
        color=line.colour,
        linestyle=line.dashes,
        marker=line.marker if len(epoch) <= MARKED else None,
        markersize=3.5,
        label=label,
    )
