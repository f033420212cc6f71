"""Figure of a confusion table: tiles with counts and shares of their rows."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, room_of, styled, wrapped

TILE, SMALL = 0.95, 0.6  # inches
LEAST = 2.8  # inches of all tiles
NAME = 24  # letters in a line of a name
LETTER, LINE = 0.085, 0.17  # inches
LABEL = 0.8  # inches of the label of an axis
MANY = 8  # levels, from which on tiles and letters are smaller
COLOURS, WITHOUT = "Blues", "Greys"  # the latter for rows without a prediction
PALEST, DARKEST = 0.06, 0.9  # of the colours
BRIGHT = 0.179  # luminance at which black and white have the same contrast


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
    shares = row_shares(counts)
    tile = max(TILE if len(table) < MANY else SMALL, LEAST / table.shape[1])
    names = Names.of(table, tile)
    with styled():
        ax = style.axes_of(ax, *names.inches(tile))
        depth = np.nan_to_num(PALEST + (DARKEST - PALEST) * shares)
        colours: Floats = style.pyplot().get_cmap(COLOURS)(depth)
        last = slice(len(table), None)
        colours[:, last] = style.pyplot().get_cmap(WITHOUT)(depth[:, last])
        ax.imshow(colours, interpolation="nearest")
        _write_tiles(counts, shares, colours, ax)
        _name_levels(names, ax)
        room = room_of(ax)
        ax.set_title(
            "\n".join(wrapped(line, room.across) for line in title.split("\n"))
        )
    return ax


class Names(NamedTuple):
    """Names of rows and columns, broken into lines."""

    rows: list[str]
    columns: list[str]
    slanted: bool

    @classmethod
    def of(cls, table: pd.DataFrame, tile: float) -> "Names":
        """Names of columns are slanted where a word is wider than a tile."""
        room = max(int(tile / LETTER), 1)
        words = [len(word) for name in table.columns for word in str(name).split()]
        slanted = max(words, default=0) > room
        columns = [wrapped(c, NAME if slanted else room) for c in table.columns]
        return cls([wrapped(row, NAME) for row in table.index], columns, slanted)

    def inches(self, tile: float) -> tuple[float, float]:
        """Width and height of a figure with such tiles."""
        beside = LETTER * style.longest_line(self.rows)
        below = LINE * (1 + max(name.count("\n") for name in self.columns))
        if self.slanted:
            below += 0.7 * LETTER * style.longest_line(self.columns)
        width, height = tile * len(self.columns), tile * len(self.rows)
        return width + beside + LABEL, height + below + LABEL


def row_shares(counts: Floats) -> Floats:
    """Counts divided by the sum of their row, NaN in a row without any.

    Examples
    --------
    >>> row_shares(np.array([[3.0, 1.0], [0.0, 0.0]])).tolist()
    [[0.75, 0.25], [nan, nan]]
    """
    sums = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.full_like(counts, np.nan)
    np.divide(counts, sums, out=shares, where=sums > 0.0)
    return shares


def ink_on(colour: Floats) -> str:
    """Black or white, whichever has the larger contrast on a colour.

    References
    ----------
    W3C, Web Content Accessibility Guidelines 2.1, relative luminance.

    Examples
    --------
    >>> ink_on(np.array([1.0, 1.0, 0.8])), ink_on(np.array([0.0, 0.2, 0.5]))
    ('black', 'white')
    """
    linear = np.where(
        colour[:3] <= 0.03928, colour[:3] / 12.92, ((colour[:3] + 0.055) / 1.055) ** 2.4
    )
    luminance = float(linear @ np.array([0.2126, 0.7152, 0.0722]))
    return "black" if luminance > BRIGHT else "white"


def _write_tiles(counts: Floats, shares: Floats, colours: Floats, ax: "Axes") -> None:
    """Write the count and the share of the row into each tile."""
    letters = 11.0 if len(counts) < MANY else 7.5
    for (row, column), count in np.ndenumerate(counts):
        share = shares[row, column]
        below = "" if np.isnan(share) else f"\n{share:.1%}"
        ax.text(
            column,
            row,
            f"{count:,.0f}{below}",
            color=ink_on(colours[row, column]),
            fontsize=letters,
            ha="center",
            va="center",
        )


def _name_levels(names: Names, ax: "Axes") -> None:
    """Name rows and columns, and draw white lines between the tiles."""
    across, down = len(names.columns), len(names.rows)
    ax.set_xticks(range(across), names.columns, rotation=45 if names.slanted else 0)
    ax.set_yticks(range(down), names.rows)
    ax.tick_params(length=0.0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.vlines(np.arange(0.5, across - 1), -0.5, down - 0.5, color="white")
    ax.hlines(np.arange(0.5, down - 1), -0.5, across - 0.5, color="white")
    ax.set_xlabel("Predicted")
    ax.set_ylabel(wrapped("Actual (shares of each row)", room_of(ax).down))
