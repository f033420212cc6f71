"""Histograms of both levels: of margins, and of probabilities."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Codes
from pegasos_stats.errors import DataError, counted
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Style

FEWEST, MOST = 10, 40  # bars that the middle of the margins is divided into
MIDDLE = (1.0, 99.0)  # percentiles between which the width of bars is found
WHOLE = 1000  # bars in all
FINEST = 1e-9  # width of a bar, at least, as a share of the largest margin


def draw_margins(
    codes: Codes,
    scores: Floats,
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
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
    line : mapping
        Keywords of the outlines.
    logistic : bool
        Whether a margin is a log odds.
    moved : bool
        Whether scores are those beyond a threshold.

    Raises
    ------
    DataError
        If no row has a label and a score.
    """
    used = _used(codes, scores)
    margins = np.where(codes == 1, 1.0, -1.0)[used] * scores[used]
    by_level = [margins[codes[used] == code] for code in (0, 1)]
    labels = []
    for level, own in zip(levels, by_level, strict=True):
        below = "" if moved else f"{np.count_nonzero(own < 1.0):,} below 1, "
        below += f"{np.count_nonzero(own < 0.0):,} below 0"
        labels.append(f"{style.short(level)}: {counted(own.size, 'row')}, {below}")
    ax = _draw_levels(by_level, bin_edges(margins), labels, ax, line)
    for at, dashes in [(0.0, "-"), (1.0, "--")][: 1 if moved else 2]:
        label = "Threshold" if moved else f"Margin {at:.0f}"
        if logistic and not moved:
            label += f": probability {100.0 / (1.0 + np.exp(-at)):.0f}%"
        style.reference(ax, at, None, label, dashes)
    score = "the score less that of the threshold" if moved else "the score"
    name = f"Margin: {score}, its sign changed for {style.short(levels[0])}"
    _finish(ax, name, codes.size - margins.size)
    return ax


def draw_probabilities(
    codes: Codes,
    probabilities: Floats,
    levels: Sequence[object],
    threshold: float,
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw the shares of each level's rows by the probability of the second level.

    Parameters
    ----------
    codes, levels, ax, line
        As for `draw_margins`.
    probabilities : float64 array, shape (n,)
    threshold : float
        Probability above which the second level is predicted.
    """
    used = _used(codes, probabilities)
    by_level = [probabilities[used & (codes == code)] for code in (0, 1)]
    bars = int(np.clip(2.5 * np.cbrt(used.sum()), FEWEST, MOST))
    labels = [
        f"{style.short(level)}: {counted(own.size, 'row')}, "
        f"{np.count_nonzero(own > threshold):,} above"
        for level, own in zip(levels, by_level, strict=True)
    ]
    ax = _draw_levels(by_level, np.linspace(0.0, 1.0, bars + 1), labels, ax, line)
    style.reference(ax, threshold, None, f"Threshold {style.percent(threshold)}", "--")
    style.write_percent(ax.xaxis)
    name = f"Predicted probability of {style.short(levels[1])}"
    _finish(ax, name, codes.size - int(used.sum()))
    return ax


def _used(codes: Codes, values: Floats) -> NDArray[np.bool_]:
    """Rows with a label and a value, or `DataError` if there is none."""
    used: NDArray[np.bool_] = (codes >= 0) & np.isfinite(values)
    if not used.any():
        raise DataError(
            f"None of {counted(len(codes), 'row')} has a label and a score; give data "
            "with labels and without missing values."
        )
    return used


def _draw_levels(
    by_level: Sequence[Floats],
    edges: Floats,
    labels: Sequence[str],
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw the first level as filled bars, the second as hatched ones."""
    ax = style.axes_of(ax)
    drawn = [p.get_data().values for p in ax.patches if hasattr(p, "get_data")]
    top = max((float(values.max()) for values in drawn), default=0.0)
    given = style.merged(line)
    own = given.pop("label", None)
    insides: tuple[dict[str, object], ...] = (
        {"fill": True, "alpha": 0.4},
        {"fill": False, "hatch": "////"},
    )
    colours = style.NEGATIVE, style.POSITIVE
    for values, label, colour, inside in zip(
        by_level, labels, colours, insides, strict=True
    ):
        shares = level_shares(values, edges)
        label = f"{own}, {label}" if own else label
        look: Style = {"color": colour, "linewidth": 1.4} | given
        fill: Style = {"color": look["color"], "linewidth": 0.0} | inside
        ax.stairs(shares, edges, label=label, **fill)
        ax.stairs(shares, edges, **look)
        top = max(top, float(shares.max()))
    ax.set_ylim(0.0, top)
    return ax


def _finish(ax: "Axes", name: str, left_out: int) -> None:
    without = f" ({counted(left_out, 'row')} without label or score left out)"
    ax.set(xlabel=name + without * (left_out > 0), ylabel="Rows of the level")
    style.write_percent(ax.yaxis)
    top = ax.get_ylim()[1]
    style.finish(ax)
    style.keep_clear(ax, 0.0, top, "upper left")


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
    inside = np.clip(margins, edges[0], edges[-1])
    shares: Floats = np.histogram(inside, edges)[0] / max(margins.size, 1)
    return shares
