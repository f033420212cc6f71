"""Figure of the coefficients of pixels, as the image that they belong to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.checks import check_count
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.output.plotting.style import axes_of, styled
from pegasos_stats.output.plotting.words import meaning, room_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = "RdBu_r"  # blue below 0, red above
SIZE, LONG = 4.0, 5.6  # inches of the longer side: of an image, of a wide one
BAR, LABELS = 1.1, 0.7  # inches beside the image
BROAD = 0.06  # share of the figure that the bar takes
SLENDER = 20  # ratio of the sides of the bar, more for one at the bottom
WIDE = 1.5  # ratio of the sides from which an image is wide
THINNEST = 1.0  # inches of the shorter side
DOTTED = 40  # pixels of the longer side, at most, that are large enough for a dot
FAINT = 0.1  # share of the largest coefficient below which a pixel has none

Floats = NDArray[np.floating[Any]]


def draw_image(
    beta: Floats,
    shape: Sequence[int],
    levels: Sequence[Any],
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
    levels : pair of labels
        What a coefficient below 0 speaks for, and one above.
    ax : Axes, optional
    unit : str
        Of the predictors.

    Raises
    ------
    OptionError
        If so many rows and columns do not have `p` pixels.
    """
    image = beta.reshape(checked_shape(shape, beta.size))
    limit = float(np.abs(image).max()) or 1.0
    with styled():
        ax = axes_of(ax, *_inches(image.shape))
        shown = ax.imshow(image, cmap=COLOURS, vmin=-limit, vmax=limit)
        dotted = max(image.shape) <= DOTTED
        if dotted:
            _dot_negative(image, limit, ax)
        _name_axes(ax)
        bar = _add_bar(shown, ax)
        side = room_of(ax)[_place(image.shape) == "right"]
        bar.set_label(meaning(unit, levels, side, ", dotted," if dotted else ""))
    return ax


def checked_shape(shape: Any, p: int) -> tuple[int, int]:
    """Rows and columns, or an error where they do not make `p` pixels.

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
            f"shape={(rows, columns)} has {rows * columns:,} pixels and the model "
            f"{p:,} coefficients; give rows and columns of which these are the product."
        )
    return rows, columns


def _add_bar(shown: Any, ax: "Axes") -> Any:
    """Colour bar along the longer side of the image."""
    place = _place(shown.get_array().shape)
    slender = SLENDER * (WIDE if place == "bottom" else 1.0)
    return ax.figure.colorbar(
        shown, ax=ax, location=place, fraction=BROAD, aspect=slender
    )


def _place(shape: tuple[int, ...]) -> str:
    """Side of the colour bar: the longer one of the image."""
    return "bottom" if shape[1] > WIDE * shape[0] else "right"


def _inches(shape: tuple[int, ...]) -> tuple[float, float]:
    """Width and height of a figure with the image and its bar."""
    below = _place(shape) == "bottom"
    longest = LONG if below else SIZE
    height, width = (max(longest * side / max(shape), THINNEST) for side in shape)
    beside = LABELS if below else LABELS + BAR
    return width + beside, height + (LABELS + BAR if below else LABELS)


def _dot_negative(image: Floats, limit: float, ax: "Axes") -> None:
    """Dot the pixels below 0, which grey print does not tell from those above."""
    row, column = np.nonzero(image < -FAINT * limit)
    ax.plot(column, row, ".", color="white", markersize=2.5)


def _name_axes(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    ax.grid(visible=False)
    ax.spines[:].set_visible(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set_xlabel("Column of pixels, from 0")
    ax.set_ylabel("Row of pixels, from 0")
