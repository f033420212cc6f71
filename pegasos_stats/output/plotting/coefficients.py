"""Figures of coefficients: with their intervals, and as the image of their pixels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.advice import InPython, said
from pegasos_stats.checks import check_count
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, room_of, styled, wrapped

LINE = 0.17  # inches of a line of text
ROOM = 1.2  # inches above and below all terms
TALLEST = 200.0  # inches
LETTERS, LEAST = 36, 28  # in a line: of a term, and of the label of the axis

COLOURS = "RdBu_r"  # of pixels: blue below 0, red above
SIZE, LONG = 4.0, 5.6  # inches of the longer side: of an image, of a wide one
BAR, LABELS = 1.1, 0.7  # inches beside the image
BROAD = 0.06  # share of the figure that the bar takes
SLENDER = 20  # ratio of the sides of the bar, more for one at the bottom
WIDE = 1.5  # ratio of the sides from which an image is wide
THINNEST = 1.0  # inches of the shorter side
DOTTED = 40  # pixels of the longer side, at most, that are large enough for a dot
FAINT = 0.1  # share of the largest coefficient below which a pixel has none


def meaning(unit: str, levels: Sequence[object], width: int, marked: str = "") -> str:
    """What a coefficient is, and which level its sign speaks for.

    Examples
    --------
    >>> print(meaning("unit", (5, 6), 48))
    Coefficient: change of the score per unit
    (below 0 speaks for 5, above for 6)
    """
    first = wrapped(f"Coefficient: change of the score per {unit}", width)
    below = f"below 0{marked} speaks for {levels[0]}"
    return first + "\n" + wrapped(f"({below}, above for {levels[1]})", width)


def draw_coefficients(
    table: pd.DataFrame,
    levels: Sequence[object],
    ax: "Axes | None" = None,
    *,
    title: str = "",
    unit: str = "unit",
) -> "Axes":
    """Draw estimates, with intervals if there are any; see `LinearPlots.coefficients`.

    Parameters
    ----------
    table : DataFrame
        Columns ``term``, ``estimate`` and, with intervals, ``conf_low`` and
        ``conf_high``; a row for each term, drawn from the top.
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
    above = table["estimate"].to_numpy() >= 0.0
    sides = (~above, style.NEGATIVE, "o"), (above, style.POSITIVE, "s")
    with styled():
        height = min(ROOM + LINE * float(tall.sum()), TALLEST)
        ax = style.axes_of(ax, style.WIDTH, height)
        ax.axvline(0.0, color=style.REFERENCE, linewidth=1.0)
        for chosen, colour, marker in sides:
            at, rows = places[chosen], table[chosen]
            if "conf_low" in table:
                ax.hlines(at, rows["conf_low"], rows["conf_high"], color=colour)
            ax.plot(rows["estimate"], at, marker, color=colour, markersize=5.5)
        ax.set_yticks(places, names)
        ax.set_ylim(float(tall.sum()), 0.0)
        room = max(room_of(ax).across - style.longest_line(names) // 2, LEAST)
        ax.set_title(wrapped(title, room))
        ax.set_xlabel(meaning(unit, levels, room))
    return ax


def _names(terms: "pd.Series[str]", ax: "Axes | None") -> list[str]:
    """Terms on as many lines as there is room for in the axes given."""
    if ax is None:
        return [wrapped(term, LETTERS) for term in terms]
    across, _ = room_of(style.axes_of(ax))
    inches = ax.get_window_extent().height / ax.figure.dpi
    most = max(int(inches / LINE / len(terms)), 1)
    return [wrapped(term, min(LETTERS, across // 2), min(most, 4)) for term in terms]


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
        As for `draw_coefficients`.

    Raises
    ------
    OptionError
        If the image does not have `p` pixels.
    """
    image = beta.reshape(checked_shape(shape, beta.size))
    limit = float(np.abs(image).max()) or 1.0
    below = image.shape[1] > WIDE * image.shape[0]  # the bar, along the longer side
    longest = LONG if below else SIZE
    height, width = (
        max(longest * side / max(image.shape), THINNEST) for side in image.shape
    )
    with styled():
        ax = style.axes_of(
            ax, width + LABELS + BAR * (not below), height + LABELS + BAR * below
        )
        shown = ax.imshow(image, cmap=COLOURS, vmin=-limit, vmax=limit)
        dotted = max(image.shape) <= DOTTED
        if dotted:
            row, column = np.nonzero(image < -FAINT * limit)
            ax.plot(column, row, ".", color="white", markersize=2.5)
        _name_axes(ax)
        bar = ax.figure.colorbar(
            shown,
            ax=ax,
            location="bottom" if below else "right",
            fraction=BROAD,
            aspect=SLENDER * (WIDE if below else 1.0),
        )
        side = room_of(ax).across if below else room_of(ax).down
        bar.set_label(meaning(unit, levels, side, ", dotted," if dotted else ""))
    return ax


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
    with refusing(refused):
        sides = list(shape) if np.ndim(shape) == 1 else []
    if len(sides) != 2:
        raise refused
    rows, columns = (check_count("shape", side) for side in sides)
    if rows * columns != p:
        raise OptionError(
            said(
                InPython(f"shape={(rows, columns)}", f"--image-shape {rows}x{columns}"),
                f" has {rows * columns:,} pixels and the model {p:,} coefficients; "
                "give rows and columns of which these are the product.",
            )
        )
    return rows, columns


def _name_axes(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    ax.grid(visible=False)
    ax.spines[:].set_visible(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set_xlabel("Column of pixels, from 0")
    ax.set_ylabel("Row of pixels, from 0")
