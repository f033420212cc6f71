"""Images: confusion tables, coefficients of pixels, lambda by gamma."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.checks import check_count
from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.forest import meaning
from pegasos_stats.output.plotting.style import Axes, Floats

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

TILE, LEAST = 0.95, 2.8  # inches of a tile, and of all of them
AROUND, LETTER = 0.8, 0.085  # inches beside tiles, and of a letter
PALEST, DARKEST = 0.06, 0.9  # of the colours
DARK = 0.72  # share on whose colour white is read better than black

LONG, SHORT = 4.4, 1.0  # inches of the sides of an image
BAR = 1.1  # inches of the bar of colours
WIDE = 1.5  # ratio of the sides from which the bar is below
DOTTED = 40  # pixels of the longer side, at most, that are large enough for a dot
FAINT = 0.1  # share of the largest coefficient below which a pixel has none


def draw_confusion(
    table: pd.DataFrame, title: str = "", ax: "Axes | None" = None
) -> "Axes":
    """Draw the tiles, see `ConfusionMatrix.plot`.

    Parameters
    ----------
    table : DataFrame
        Counts; rows are actual and columns predicted levels, the last column rows
        without a prediction if it is not among the rows.
    title : str
    ax : Axes, optional
    """
    counts = table.to_numpy(dtype=np.float64)
    down, across = counts.shape
    with np.errstate(invalid="ignore"):  # of a row without any
        shares = counts / counts.sum(axis=1, keepdims=True)
    tile = max(TILE if down < 8 else 0.6, LEAST / across)
    beside = AROUND + LETTER * min(max(len(str(name)) for name in table.index), 24)
    ax = style.axes_of(ax, tile * across + beside, tile * down + AROUND)
    depth = np.nan_to_num(PALEST + (DARKEST - PALEST) * shares)
    colours: Floats = style.pyplot().get_cmap("Blues")(depth)
    colours[:, down:] = style.pyplot().get_cmap("Greys")(depth[:, down:])
    ax.imshow(colours, interpolation="nearest")
    inches = ax.get_window_extent().width / ax.figure.dpi / across
    letters = min(11.0, 11.0 * inches / 0.75)
    for (row, column), count in np.ndenumerate(counts):
        share = shares[row, column]
        below = "" if np.isnan(share) else f"\n{share:.1%}"
        look: style.Style = {"ha": "center", "va": "center", "fontsize": letters}
        ink = "white" if share > DARK else "black"
        ax.text(column, row, f"{count:,.0f}{below}", color=ink, **look)
    _frame(ax, "Predicted", "Actual (shares of each row)")
    for sides, lines in ((across, ax.axvline), (down, ax.axhline)):
        for place in range(1, sides):
            lines(place - 0.5, color=ax.get_facecolor(), linewidth=1.5)
    style.name_rows(ax, list(table.index))
    ax.set_ylim(down - 0.5, -0.5)
    _name_columns(ax, list(table.columns), inches)
    ax.set_title(style.written(title))
    style.finish(ax)
    return ax


def _name_columns(ax: "Axes", names: Sequence[object], inches: float) -> None:
    """Name columns: slanted where a word is wider than a tile."""
    room = max(int(inches / LETTER), 1)
    slanted = max(len(word) for name in names for word in str(name).split()) > room
    texts = style.fitted(names, 24 if slanted else room, 2 if slanted else 3)
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    look: style.Style = turned if slanted else {}
    ax.set_xticks(range(len(names)), texts, **look)


def _frame(ax: "Axes", x_label: str, y_label: str) -> None:
    """Axes of an image: labels, neither grid nor ticks."""
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0.0)
    ax.set(xlabel=x_label, ylabel=y_label)


def draw_image(
    beta: Floats,
    shape: Sequence[int],
    levels: Sequence[object],
    ax: "Axes | None" = None,
    *,
    unit: str = "unit",
) -> "Axes":
    """Draw coefficients as pixels, see `LinearPlots.coefficient_image`.

    Parameters
    ----------
    beta : float64 array, shape (p,)
    shape : pair of int
        Rows and columns of the image, filled row by row.
    levels, ax, unit
        As for the other figures of coefficients.

    Raises
    ------
    OptionError
        If the image does not have `p` pixels.
    """
    style.pyplot()
    from matplotlib.ticker import MaxNLocator

    image = beta.reshape(checked_shape(shape, beta.size))
    limit = float(np.abs(image).max()) or 1.0
    below = image.shape[1] > WIDE * image.shape[0]  # the bar, along the longer side
    sides = (max(LONG * n / max(image.shape), SHORT) for n in image.shape)
    height, width = (side + AROUND for side in sides)
    ax = style.axes_of(ax, width + BAR * (not below), height + BAR * below)
    drawn = ax.imshow(image, cmap="RdBu_r", vmin=-limit, vmax=limit)
    dotted = max(image.shape) <= DOTTED
    if dotted:
        row, column = np.nonzero(image < -FAINT * limit)
        ax.plot(column, row, ".", color="white", markersize=2.5)
    _frame(ax, "Column of pixels, from 0", "Row of pixels, from 0")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
    _colour_bar(ax, drawn, below, meaning(unit, levels, ", dotted," if dotted else ""))
    return ax


def _colour_bar(ax: "Axes", drawn: "ScalarMappable", below: bool, label: str) -> None:
    """Put the bar of colours beside an image, or below a wide one."""
    bar = ax.figure.colorbar(
        drawn,
        ax=ax,
        location="bottom" if below else "right",
        fraction=0.06,
        pad=0.04,
        use_gridspec=False,
    )
    bar.set_label(label)
    style.finish(ax, bar.ax)


def checked_shape(shape: Any, p: int) -> tuple[int, int]:
    """Rows and columns of an image, or an error if it does not have `p` pixels.

    Examples
    --------
    >>> checked_shape((16, 16), 256)
    (16, 16)
    """
    refused = OptionError(
        f"shape={shown(shape)} is not allowed; give rows and columns, such as (16, 16)."
    )
    with convert_errors(refused):
        sides = list(shape) if np.ndim(shape) == 1 else []
    if len(sides) != 2:
        raise refused
    rows, columns = (check_count("shape", side) for side in sides)
    if rows * columns != p:
        raise OptionError(
            f"shape={(rows, columns)} has {rows * columns:,} pixels and the model "
            f"{p:,} coefficients; give rows and columns of which these are the product."
        )
    return rows, columns


def draw_map(
    table: pd.DataFrame, metric: str, best: tuple[float, float], ax: "Axes | None"
) -> "Axes":
    """Draw a metric by lambda and gamma, see `KernelTuning.plot`.

    Parameters
    ----------
    table : DataFrame
        Columns ``lam``, ``gamma`` and `metric`; each gamma may have lambdas of its own.
    metric : str
    best : pair of float
        Lambda and gamma that are chosen.
    ax : Axes, optional
    """
    ax = style.axes_of(ax)
    values = table[metric].to_numpy(dtype=np.float64)
    span = {"vmin": np.nanmin(values), "vmax": np.nanmax(values), "cmap": "viridis"}
    gammas = np.unique(table["gamma"])
    for gamma, ends in zip(gammas, pairwise(_edges(gammas)), strict=True):
        own = table[table["gamma"] == gamma].sort_values("lam")
        cells = own[[metric]].to_numpy().T
        drawn = ax.pcolormesh(_edges(own["lam"].to_numpy()), ends, cells, **span)
    ax.set_title(f"Best: lambda {best[0]:.3g}, gamma {best[1]:.3g}")
    ring: style.Style = {
        "markerfacecolor": "none",
        "markeredgewidth": 2.0,
        "markersize": 10,
    }
    ax.plot(*best, "D", color=style.POSITIVE, linestyle="none", **ring)
    ax.grid(visible=False)
    ax.set(xscale="log", yscale="log", xlabel="Lambda", ylabel="Gamma")
    _colour_bar(ax, drawn, False, style.metric_name(metric))
    return ax


def _edges(values: Floats) -> Floats:
    """Ends of cells about rising values, halfway in logarithms; shape (m + 1,)."""
    logs = np.log(values)
    half = np.diff(logs) / 2.0 if logs.size > 1 else np.full(1, 0.5)
    outer = [logs[0] - half[0]], [logs[-1] + half[-1]]
    found: Floats = np.exp(np.concatenate([outer[0], logs[1:] - half, outer[1]]))
    return found
