"""Figure of a threshold that was chosen."""

import numpy as np

from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import NEGATIVE, POSITIVE, Axes, styled
from pegasos_stats.studies.threshold_results import Thresholds
from pegasos_stats.tables import significant

EDGE = 0.04  # of the width, beyond the outermost thresholds
ROOM = 0.55  # of the height of what is drawn, for the legend above it


def draw_thresholds(found: Thresholds, ax: "Axes | None" = None) -> "Axes":
    """Draw metric or cost against the threshold, and the thresholds of the folds.

    The line is that of the rows that have chosen the threshold; the diamond, with its
    standard error, is what is to be expected of new rows. Heights are seen from 0.

    Parameters
    ----------
    found : Thresholds
    ax : Axes, optional
    """
    name, table = found.target.name, found.table
    at = table["threshold"].to_numpy(dtype=np.float64)
    values = table[name].to_numpy(dtype=np.float64)
    inner = np.isfinite(at)
    folds = found.by_fold["threshold"].to_numpy(dtype=np.float64)
    points = np.concatenate([at[inner], folds[np.isfinite(folds)], [found.usual]])
    margin = EDGE * max(float(np.ptp(points)), 1e-3)
    low, high = float(points.min()) - margin, float(points.max()) + margin
    of_line = "out of fold" if found.out_of_fold else "new rows"
    chosen = float(np.clip(found.threshold, low, high))
    error = 0.0 if np.isnan(found.std_error) else found.std_error
    drawn = [*values, found.estimate - error, found.estimate + error]
    least, most = min(0.0, float(np.nanmin(drawn))), float(np.nanmax(drawn))
    height = max(most - least, 1e-3)
    with styled():
        axes = style.axes_of(ax)
        axes.step(
            np.clip(at, low, high),
            values,
            where="mid",
            color=NEGATIVE,
            label=f"{written(name)}, {of_line}",
        )
        axes.errorbar(
            chosen,
            found.estimate,
            yerr=error,
            fmt="D",
            ms=6,
            capsize=4,
            color=POSITIVE,
            label=f"chosen: {significant(found.threshold, 3)}, to be expected "
            f"{significant(found.estimate, 3)} ± {significant(found.std_error, 2)}",
            zorder=3,
        )
        axes.axvline(
            found.usual,
            color=style.REFERENCE,
            ls=":",
            lw=1.2,
            label=f"usual: {significant(found.usual, 3)}",
        )
        axes.plot(
            np.clip(folds, low, high),
            np.zeros(len(folds)),
            "|",
            ms=12,
            mew=1.6,
            color=POSITIVE,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            label="thresholds of the folds",
        )
        first, second = (style.written(level) for level in found.levels)
        of = f"probability of {second}" if found.scale == "probability" else "score"
        axes.set(
            xlim=(low, high),
            ylim=(least - EDGE * height, most + ROOM * height),
            xlabel=style.wrapped(
                f"threshold of the {of} (below: {first}, above: {second})",
                style.room_of(axes).across,
            ),
            ylabel="mean cost of a row" if name == "cost" else written(name),
        )
        top = most if name == "cost" else max(most, 1.0)
        axes.set_yticks([tick for tick in axes.get_yticks() if least <= tick <= top])
        axes.legend(loc="upper center", fontsize=style.LETTERS)
    return axes


def written(name: str) -> str:
    """Name of a metric as text of a figure."""
    known = {"mcc": "Matthews' correlation", "youden": "Youden's J"}
    return known.get(name, name.replace("_", " "))
