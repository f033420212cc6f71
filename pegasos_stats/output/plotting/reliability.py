"""The reliability diagram."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.output.plotting.style import NEGATIVE, axes_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 5.0  # inches: a square, as both axes are probabilities
FLOOR, TALLEST = -0.18, 0.11  # of the bars of counts, below the probabilities
GREY = "#cccccc"


def draw_reliability(
    table: pd.DataFrame, positive: str, level: float, ax: "Axes | None" = None
) -> "Axes":
    """Draw observed shares against mean probabilities, with counts at the bottom.

    Parameters
    ----------
    table : DataFrame
        Of a `Reliability`.
    positive : str
    level : float
        Of the intervals in the table.
    ax : Axes, optional
    """
    used = table[table["n"] > 0]
    with styled():
        axes = axes_of(ax, SIZE, SIZE)
        axes.plot([0, 1], [0, 1], color="black", lw=1.0, ls="--", label="as predicted")
        axes.axhline(0.0, color="black", lw=0.6)
        _draw_counts(axes, used)
        observed = used["observed"].to_numpy()
        below, above = observed - used["conf_low"], used["conf_high"] - observed
        axes.errorbar(
            used["mean_predicted"],
            observed,
            yerr=np.maximum([below, above], 0.0),
            fmt="o-",
            ms=5,
            color=NEGATIVE,
            capsize=3,
            elinewidth=1.2,
            label=f"observed, {level:.0%} interval",
        )
        axes.set(
            xlim=(-0.02, 1.02),
            ylim=(FLOOR, 1.02),
            yticks=np.linspace(0.0, 1.0, 6),
            xlabel=f"predicted probability of {positive}",
            ylabel=f"observed share of {positive}",
        )
        axes.legend(loc="upper left")
    return axes


def _draw_counts(axes: "Axes", used: pd.DataFrame) -> None:
    """Bars as wide as the bins, with the number of rows on top."""
    heights = TALLEST * used["n"] / used["n"].max()
    width = used["high"] - used["low"]
    axes.bar(
        used["low"],
        heights,
        width,
        bottom=FLOOR,
        align="edge",
        color=GREY,
        edgecolor="white",
        label="rows in the bin",
    )
    if len(used) > 12:
        return
    for middle, height, n in zip(
        used["low"] + width / 2, heights, used["n"], strict=True
    ):
        at = middle, FLOOR + height
        axes.annotate(f"{n}", at, ha="center", va="bottom", fontsize=8)
