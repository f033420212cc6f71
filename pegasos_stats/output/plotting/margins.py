"""Figure of the margins of rows, level by level."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import DataError, counted
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, styled, wrapped

FEWEST, MOST = 10, 40  # bars that the middle of the margins is divided into
MIDDLE = (1.0, 99.0)  # percentiles between which the width of bars is found
WHOLE = 1000  # bars in all
FINEST = 1e-9  # width of a bar, at least, as a share of the largest margin
MARKS = {0.0: "-", 1.0: "--"}
# Bars of the first level are filled, those of the second hatched.
INSIDE: tuple[dict[str, Any], ...] = (
    {"fill": True, "alpha": 0.4},
    {"fill": False, "hatch": "////"},
)


def draw_margins(
    codes: NDArray[np.intp],
    scores: Floats,
    levels: Sequence[object],
    ax: "Axes | None" = None,
    *,
    logistic: bool = False,
    moved: bool = False,
) -> "Axes":
    """Draw the shares of each level's rows by margin, see `ResultPlots.margins`.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level, -1 where the label is missing.
    scores : float64 array, shape (n,)
        Large for the second level; NaN where missing.
    levels : pair of labels
    ax : Axes, optional
    logistic : bool
        Whether a margin is a log odds.
    moved : bool
        Whether scores are those beyond a threshold.

    Raises
    ------
    DataError
        If no row has a label and a score.
    """
    used = (codes >= 0) & np.isfinite(scores)
    if not used.any():
        raise DataError(
            f"None of {counted(len(codes), 'row')} has a label and a score; give data "
            "with labels and without missing values."
        )
    margins = np.where(codes == 1, 1.0, -1.0)[used] * scores[used]
    by_level = [margins[codes[used] == code] for code in range(len(levels))]
    shares = [level_shares(own, bin_edges(margins)) for own in by_level]
    with styled():
        ax = style.axes_of(ax)
        for code, level in enumerate(levels):
            edges, colour = bin_edges(margins), (style.NEGATIVE, style.POSITIVE)[code]
            ax.stairs(
                shares[code],
                edges,
                color=colour,
                linewidth=0.0,
                label=_label(level, by_level[code], moved),
                **INSIDE[code],
            )
            ax.stairs(shares[code], edges, color=colour, linewidth=1.4)
        marks = [_threshold(ax)] if moved else _mark(logistic, ax)
        _name_axes(levels[0], len(codes) - margins.size, moved, ax)
        free = 0.97 - style.put_legend(ax, "upper left")
        ax.set_ylim(0.0, max(share.max() for share in shares) / free)
        for mark in marks:
            mark.set_ydata([0.0, free])
    return ax


def bin_edges(margins: Floats) -> Floats:
    """Edges of the bars; 0 and 1 are edges where bars are narrower than 1.

    A bar holds the rows from its left edge up to, not including, its right one. All
    bars to the left of 1 are then the rows that the hinge loss counts.

    Examples
    --------
    >>> bin_edges(np.array([-0.4, 0.2, 0.3, 1.9])).round(2).tolist()[:3]
    [-0.4, -0.2, 0.0]
    """
    low, high = np.percentile(margins, MIDDLE)
    bars = np.clip(2.5 * np.cbrt(margins.size), FEWEST, MOST)
    least = FINEST * max(float(np.abs(margins).max()), FINEST)
    width = max((high - low) / bars, np.ptp(margins) / WHOLE, least)
    parts = np.ceil(1.0 / width) if width < 1.0 else 1.0 / np.ceil(width)
    first = np.floor(margins.min() * parts)
    last = np.floor(margins.max() * parts) + 1.0
    found: Floats = np.arange(first, last + 1.0) / parts
    return found


def level_shares(margins: Floats, edges: Floats) -> Floats:
    """Share of the margins in each bar; 0 where there is none.

    Examples
    --------
    >>> level_shares(np.array([0.5, 1.0, 1.5, 1.5]), np.array([0.0, 1.0, 2.0])).tolist()
    [0.25, 0.75]
    """
    shares: Floats = np.histogram(np.clip(margins, edges[0], edges[-1]), edges)[
        0
    ] / max(margins.size, 1)
    return shares


def _label(level: object, margins: Floats, moved: bool) -> str:
    below = "" if moved else f"{np.count_nonzero(margins < 1.0):,} below 1, "
    return (
        f"{style.written(level)}: {counted(margins.size, 'row')}, {below}"
        f"{np.count_nonzero(margins < 0.0):,} below 0"
    )


def _threshold(ax: "Axes") -> Any:
    return ax.axvline(
        0.0, color=style.REFERENCE, ls=MARKS[0.0], lw=1.2, label="Threshold"
    )


def _mark(logistic: bool, ax: "Axes") -> list[Any]:
    """Draw lines at margins of 0 and 1, for the log loss with their probability."""
    marks = []
    for at, dashes in MARKS.items():
        label = f"Margin {at:.0f}"
        if logistic:
            label += f": probability {1.0 / (1.0 + np.exp(-at)):.2f}"
        marks.append(
            ax.axvline(at, color=style.REFERENCE, ls=dashes, lw=1.2, label=label)
        )
    return marks


def _name_axes(negative: object, left_out: int, moved: bool, ax: "Axes") -> None:
    style.write_percent(ax.yaxis)
    ax.set_ylabel("Rows of the level")
    score = "the score less that of the threshold" if moved else "the score"
    label = f"Margin: {score}, its sign changed for {negative}"
    if left_out:
        label += f" ({counted(left_out, 'row')} without label or score left out)"
    ax.set_xlabel(wrapped(label, style.room_of(ax).across))
