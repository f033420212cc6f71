"""Predictions of the same rows by models of many resamples."""

import pandas as pd

from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Style


def draw_instability(
    table: pd.DataFrame, positive: object, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw a line from 2.5% to 97.5% of a row's predictions, see `Validation.plot`."""
    table, positive = table.sort_values("estimate"), style.short_level(positive)
    before = 0.0 if ax is None or not ax.has_data() else ax.get_xlim()[1]
    top = float(table[["estimate", "conf_high"]].max().max())
    ax = style.square_axes(ax, min(1.0, max(1.03 * top, before / 1.02)))
    style.draw_reference(ax, [0, 1], [0, 1], "_As the model", "--")
    look = {"marker": "o", "markersize": 2.0, **line, "linestyle": "none"}
    colour = style.draw_line(ax, table["estimate"], table["estimate"], line=look)
    ends = table["estimate"], table["conf_low"], table["conf_high"]
    ax.vlines(*ends, colour.get_color(), "solid", linewidth=0.6, alpha=0.4)
    x_label = f"Probability of {positive} by the model"
    return style.finish(
        ax, percent="xy", xlabel=x_label, ylabel="95% of the resamples' models"
    )
