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
from pegasos_stats.output.plotting.style import Axes, Floats, Style
from pegasos_stats.tables import percent

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
    counts, cmaps = table.to_numpy(dtype=np.float64), style.pyplot().get_cmap
    down, across = counts.shape
    with np.errstate(invalid="ignore"):  # of a row without any
        shares = counts / counts.sum(axis=1, keepdims=True)
    tile = max(TILE if down < 8 else 0.6, LEAST / across)
    beside = AROUND + LETTER * min(max(len(str(name)) for name in table.index), 24)
    ax = style.axes_of(ax, tile * across + beside, tile * down + AROUND)
    depth = np.nan_to_num(PALEST + (DARKEST - PALEST) * shares)
    blue, grey = cmaps("Blues")(depth[:, :down]), cmaps("Greys")(depth[:, down:])
    ax.imshow(np.concatenate([blue, grey], axis=1), interpolation="nearest")
    inches = ax.get_window_extent().width / ax.figure.dpi / across
    look: Style = {"ha": "center", "va": "center"}
    look = {**look, "fontsize": min(11.0, 11.0 * inches / 0.75)}
    for (row, column), count in np.ndenumerate(counts):
        share = shares[row, column]
        below = "" if np.isnan(share) else f"\n{percent(share)}"
        ink = "white" if share > DARK else "black"
        ax.text(column, row, f"{count:,.0f}{below}", color=ink, **look)
    _frame(ax)
    edge: Style = {"color": ax.get_facecolor(), "linewidth": 1.5}
    ax.hlines(np.arange(1, down) - 0.5, -0.5, across - 0.5, **edge)
    ax.vlines(np.arange(1, across) - 0.5, -0.5, down - 0.5, **edge)
    style.name_rows(ax, list(table.index))
    ax.set_ylim(down - 0.5, -0.5)
    words = {"title": style.written(title), "xlabel": "Predicted"}
    style.finish(ax, ylabel="Actual (shares of each row)", **words)
    ax.apply_aspect()  # names of rows and the title have taken their room
    inches = ax.get_window_extent().width / ax.figure.dpi / across
    room = max(int(inches / LETTER), 1)
    ax.set_xticks(range(across), style.fitted(list(table.columns), room, 3))
    return style.finish(ax)


def _frame(ax: "Axes") -> None:
    """Axes of an image: neither grid nor ticks."""
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0.0)


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
    _frame(ax)
    ax.set(xlabel="Column of pixels, from 0", ylabel="Row of pixels, from 0")
    ax.locator_params(nbins=5, integer=True)
    words = meaning(unit, levels, ", dotted," if dotted else "")
    return _colour_bar(ax, drawn, "bottom" if below else "right", words)


def _colour_bar(
    ax: "Axes", drawn: "ScalarMappable", location: str, label: str
) -> "Axes":
    """Put the bar of colours beside an image, or below a wide one."""
    place: Style = {"location": location, "fraction": 0.06, "pad": 0.04}
    bar = ax.figure.colorbar(drawn, ax=ax, use_gridspec=False, **place)
    bar.set_label(label)
    return style.finish(ax, bar.ax)


def checked_shape(shape: Any, p: int) -> tuple[int, int]:
    """Rows and columns of an image, or an error if it does not have `p` pixels.

    Examples
    --------
    >>> checked_shape((16, 16), 256)
    (16, 16)
    """
    refused = OptionError(
        f"shape={shown(shape)} is not allowed; give rows and columns whose product is "
        f"the number of coefficients, {p:,}."
    )
    with convert_errors(refused):
        rows, columns = (check_count("shape", side) for side in shape)
    if rows * columns != p:
        raise refused
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
    ring: Style = {"color": style.POSITIVE, "mfc": "none", "mew": 2.0, "ms": 10}
    ax.plot(*best, "D", **ring)
    ax.grid(visible=False)
    ax.set(xscale="log", yscale="log", xlabel="Lambda", ylabel="Gamma")
    ax.set_title(f"Best: lambda {best[0]:.3g}, gamma {best[1]:.3g}")
    return _colour_bar(ax, drawn, "right", style.metric_name(metric))


def _edges(values: Floats) -> Floats:
    """Ends of cells about rising values, halfway in logarithms; shape (m + 1,)."""
    logs = np.log(values)
    half = np.diff(logs) / 2.0 if logs.size > 1 else np.full(1, 0.5)
    outer = [logs[0] - half[0]], [logs[-1] + half[-1]]
    found: Floats = np.exp(np.concatenate([outer[0], logs[1:] - half, outer[1]]))
    return found
