"""Confusion tables, images of coefficients, maps of a metric by lambda and gamma."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Axes
from pegasos_stats.checks import check_count
from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.forest import meaning
from pegasos_stats.output.plotting.style import Floats, Style
from pegasos_stats.tables import percent

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

TILE_MARGIN, TILE_LETTER_WIDTH = 0.8, 0.085  # inches around the tiles; per letter


def draw_confusion(
    table: pd.DataFrame, title: str = "", ax: "Axes | None" = None
) -> "Axes":
    """Draw the tiles, see `ConfusionMatrix.plot`.

    Parameters
    ----------
    table : DataFrame
        Counts by actual class (rows) and predicted class (columns). A further last
        column counts rows without a prediction.
    title : str
    ax : Axes, optional
    """
    counts, cmaps = table.to_numpy(dtype=np.float64), style.pyplot().get_cmap
    down, across = counts.shape
    with np.errstate(invalid="ignore"):  # empty rows
        shares = counts / counts.sum(axis=1, keepdims=True)
    tile = max(0.95 if down < 8 else 0.6, 2.8 / across)
    letters = min(max(len(str(name)) for name in table.index), 24)
    names_width = TILE_MARGIN + TILE_LETTER_WIDTH * letters
    ax = style.axes_of(ax, tile * across + names_width, tile * down + TILE_MARGIN)
    depth = np.nan_to_num(0.06 + (0.9 - 0.06) * shares)
    blue, grey = cmaps("Blues")(depth[:, :down]), cmaps("Greys")(depth[:, down:])
    ax.imshow(np.concatenate([blue, grey], axis=1), interpolation="nearest")
    look: Style = {"ha": "center", "va": "center"}
    for (row, column), count in np.ndenumerate(counts):
        share = shares[row, column]
        percentage = "" if np.isnan(share) else f"\n{percent(share)}"
        ink = "white" if share > 0.72 else "black"
        ax.text(column, row, f"{count:,.0f}{percentage}", color=ink, **look)
    _frame(ax)
    edge: Style = {"color": ax.get_facecolor(), "linewidth": 1.5}
    ax.hlines(np.arange(1, down) - 0.5, -0.5, across - 0.5, **edge)
    ax.vlines(np.arange(1, across) - 0.5, -0.5, down - 0.5, **edge)
    style.name_rows(ax, list(table.index), 0.3)
    ax.set_ylim(down - 0.5, -0.5)
    style.name_columns(ax, list(table.columns))
    words = {"title": style.as_text(title), "xlabel": "Predicted"}
    style.finish(ax, ylabel="Actual (shares of each row)", **words)
    inches = ax.get_window_extent().width / ax.figure.dpi / across
    for text in ax.texts:
        text.set_fontsize(min(11.0, 11.0 * inches / 0.75))
    return ax


def _frame(ax: "Axes") -> None:
    """Remove grid, spines and ticks from the axes of an image."""
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
        As for `LinearPlots.coefficients`.

    Raises
    ------
    OptionError
        If the image does not have `p` pixels.
    """
    image = beta.reshape(checked_shape(shape, beta.size))
    limit = float(np.abs(image).max()) or 1.0
    below = image.shape[1] > 1.5 * image.shape[0]
    sides = (max(4.4 * n / max(image.shape), 1.0) for n in image.shape)
    height, width = (side + TILE_MARGIN for side in sides)
    ax = style.axes_of(ax, width + 1.1 * (not below), height + 1.1 * below)
    artist = ax.imshow(image, cmap="RdBu_r", vmin=-limit, vmax=limit)
    dotted = max(image.shape) <= 40
    if dotted:
        row, column = np.nonzero(image < -0.1 * limit)
        ax.plot(column, row, ".", color="white", markersize=2.5)
    _frame(ax)
    ax.set(xlabel="Column of pixels, from 0", ylabel="Row of pixels, from 0")
    ax.locator_params(nbins=5, integer=True)
    words = meaning(unit, levels, ", dotted," if dotted else "")
    return _colour_bar(ax, artist, "bottom" if below else "right", words)


def _colour_bar(
    ax: "Axes", artist: "ScalarMappable", location: str, label: str
) -> "Axes":
    """Add a colour bar to the right of an image or below it."""
    place: Style = {"location": location, "fraction": 0.06, "pad": 0.04}
    bar = ax.figure.colorbar(artist, ax=ax, use_gridspec=False, **place)
    bar.set_label(label)
    return style.finish(ax, bar.ax)


def checked_shape(shape: Any, p: int, name: str = "shape") -> tuple[int, int]:
    """Validate the shape of an image of `p` pixels.

    Examples
    --------
    >>> checked_shape((16, 16), 256)
    (16, 16)
    """
    error = OptionError(
        f"{name}={shown(shape)} is not allowed; use rows and columns whose product is "
        f"the number of coefficients, {p:,}."
    )
    with convert_errors(error):
        rows, columns = (check_count("shape", side) for side in shape)
    if rows * columns != p:
        raise error
    return rows, columns


def draw_map(
    table: pd.DataFrame, metric: str, best: tuple[float, float], ax: "Axes | None"
) -> "Axes":
    """Draw a metric by lambda and gamma, see `KernelTuning.plot`.

    Parameters
    ----------
    table : DataFrame
        Columns ``lam``, ``gamma`` and `metric`. Lambdas may differ between gammas.
    metric : str
    best : pair of float
        The selected lambda and gamma.
    ax : Axes, optional
    """
    ax = style.axes_of(ax)
    values = table[metric].to_numpy(dtype=np.float64)
    span = {"vmin": np.nanmin(values), "vmax": np.nanmax(values), "cmap": "viridis"}
    gammas = np.unique(table["gamma"])
    for gamma, ends in zip(gammas, pairwise(_edges(gammas)), strict=True):
        own = table[table["gamma"] == gamma].sort_values("lam")
        cells = own[[metric]].to_numpy().T
        artist = ax.pcolormesh(_edges(own["lam"].to_numpy()), ends, cells, **span)
    ring: Style = {"color": style.POSITIVE, "mfc": "none", "mew": 2.0, "ms": 10}
    grids = table.loc[table["gamma"] == best[1], "lam"], table["gamma"]
    are_ends = (at in (v.min(), v.max()) for at, v in zip(best, grids, strict=True))
    marks = [" (an end of the grid)" * is_end for is_end in are_ends]
    label = f"Best: lambda {best[0]:.3g}{marks[0]}, gamma {best[1]:.3g}{marks[1]}"
    ax.plot(*best, "D", label=label, **ring)
    ax.grid(visible=False)
    ax.set(xscale="log", yscale="log", xlabel="Lambda", ylabel="Gamma")
    style.write_decimals(ax.xaxis, sorted(set(table["lam"])))
    style.write_decimals(ax.yaxis, gammas.tolist())
    return _colour_bar(ax, artist, "right", style.metric_name(metric))


def _edges(values: Floats) -> Floats:
    """Return cell edges at the geometric means of increasing values; shape (m + 1,)."""
    logs = np.log(values)
    half = np.diff(logs) / 2.0 if logs.size > 1 else np.full(1, 0.5)
    outer = [logs[0] - half[0]], [logs[-1] + half[-1]]
    edges: Floats = np.exp(np.concatenate([outer[0], logs[1:] - half, outer[1]]))
    return edges
