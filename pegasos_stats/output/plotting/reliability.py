"""The reliability diagram."""

import numpy as np
import pandas as pd

from pegasos_stats.output.plotting.style import NEGATIVE, Axes, axes_of, styled

SIZE = 5.0  # inches: a square, as both axes are probabilities
FLOOR, TALLEST = -0.18, 0.11  # of the bars of counts, below the probabilities
GREY = "#cccccc"
MOST_NUMBERS = 12  # bins, with more of which the bars have no numbers


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
        heights = TALLEST * used["n"] / used["n"].max()
        widths = used["high"] - used["low"]
        axes.bar(
            used["low"],
            heights,
            widths,
            bottom=FLOOR,
            align="edge",
            color=GREY,
            edgecolor="white",
            label="rows in the bin",
        )
        if len(used) <= MOST_NUMBERS:
            middles = used["low"] + widths / 2
            for middle, height, n in zip(middles, heights, used["n"], strict=True):
                at = middle, FLOOR + height
                axes.annotate(f"{n}", at, ha="center", va="bottom", fontsize=8)
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
