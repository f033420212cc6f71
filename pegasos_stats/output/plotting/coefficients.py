"""Figure of coefficients with their intervals, one term a line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.output.plotting.style import (
    NEGATIVE,
    POSITIVE,
    REFERENCE,
    WIDTH,
    axes_of,
    styled,
)
from pegasos_stats.output.plotting.words import longest_line, meaning, room_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.17  # inches of a line of text
ROOM = 1.2  # inches above and below all terms
TALLEST = 200.0  # inches
LETTERS, LEAST = 36, 28  # in a line: of a term, and of the label of the axis


def draw_coefficients(
    table: pd.DataFrame,
    levels: Sequence[Any],
    ax: "Axes | None" = None,
    *,
    title: str = "",
    unit: str = "unit",
) -> "Axes":
    """Draw estimates with intervals if there are any, see `LinearPlots.coefficients`.

    Parameters
    ----------
    table : DataFrame
        Columns ``term``, ``estimate`` and, with intervals, ``conf_low`` and
        ``conf_high``; one line each, the first at the top.
    levels : pair of labels
        What a coefficient below 0 speaks for, and one above.
    ax : Axes, optional
    title : str
    unit : str
        Of the predictors.
    """
    names = _names(table["term"], ax)
    tall = np.array([1.25 + name.count("\n") for name in names])
    places = np.cumsum(tall) - tall / 2.0
    with styled():
        ax = axes_of(ax, WIDTH, min(ROOM + LINE * float(tall.sum()), TALLEST))
        ax.axvline(0.0, color=REFERENCE, linewidth=1.0)
        _draw_points(table, places, ax)
        ax.set_yticks(places, names)
        ax.set_ylim(float(tall.sum()), 0.0)
        room = max(room_of(ax).across - longest_line(names) // 2, LEAST)
        ax.set_title(wrapped(title, room))
        ax.set_xlabel(meaning(unit, levels, room))
    return ax


def _names(terms: "pd.Series[Any]", ax: "Axes | None") -> list[str]:
    """Terms on as many lines as there is room for in the axes given."""
    if ax is None:
        return [wrapped(term, LETTERS) for term in terms]
    across, _ = room_of(axes_of(ax))
    inches = ax.get_window_extent().height / ax.figure.dpi
    lines = max(int(inches / LINE / len(terms)), 1)
    return [wrapped(term, min(LETTERS, across // 2), min(lines, 4)) for term in terms]


def _draw_points(table: pd.DataFrame, places: Any, ax: "Axes") -> None:
    """Round points for coefficients below 0, square ones above, and intervals."""
    above = table["estimate"].to_numpy() >= 0.0
    for chosen, colour, marker in ((~above, NEGATIVE, "o"), (above, POSITIVE, "s")):
        at, lines = places[chosen], table[chosen]
        if "conf_low" in table:
            ax.hlines(at, lines["conf_low"], lines["conf_high"], color=colour)
        ax.plot(lines["estimate"], at, marker, color=colour, markersize=5.5)
