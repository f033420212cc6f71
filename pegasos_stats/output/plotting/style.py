"""The one look of all figures: colours, lines, axes, and texts that fit.

Colours are safe for the colour-blind and readable in grey.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import DependencyError, OptionError

if TYPE_CHECKING:
    import matplotlib.axes

Axes: TypeAlias = "matplotlib.axes.Axes"
Floats = NDArray[np.float64]
Dashes = str | tuple[int, tuple[int, ...]]

WIDTH, HEIGHT = 6.4, 4.0  # inches of a figure with one panel

# Okabe & Ito's colours, ordered so that neighbours differ in lightness too.
NEGATIVE, POSITIVE = "#0072B2", "#D55E00"  # the two levels of an outcome
REFERENCE = "#555555"  # what a figure is read against: thresholds, chance
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: Sequence[Dashes] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")

STYLE = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": True,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "lines.linewidth": 1.6,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "path",
    "savefig.dpi": 150,
}

DECADE = 10.0  # ratio of the largest to the smallest value, above which axes are log
LETTER = 0.075  # inches of a letter of 10 points
LETTERS, SMALL_LETTERS, NARROW = 9.5, 7.5, 40  # points, and below how many letters
SAMPLE = 7  # letters as wide as the sample of a line in a legend
LEADING = 1.45  # height of a line of a legend, as a multiple of its letters
LONGEST = 400  # letters of a name
UNSEEN = "\N{REPLACEMENT CHARACTER}"
MOST = 0.6  # share of the height of axes that a legend takes, at most


class Line(NamedTuple):
    """How one of several lines is drawn; each differs in every respect."""

    colour: str
    dashes: Dashes
    marker: str


def lines(count: int) -> list[Line]:
    """Ways to draw `count` lines; the first 36 all differ.

    Examples
    --------
    >>> [line.marker for line in lines(3)]
    ['o', 's', '^']
    """
    ways = len(COLOURS)
    found = []
    for i in range(count):
        other = (i + i // ways) % ways
        found.append(Line(COLOURS[i % ways], DASHES[other], MARKERS[other]))
    return found


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of the package, and restore the user's settings afterwards.

    Only the settings of the style are restored: the first figure in a notebook also
    switches on that figures are shown, and that has to last.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    settings = pyplot().rcParams
    before = {name: settings[name] for name in STYLE}
    settings.update(STYLE)
    try:
        yield
    finally:
        settings.update(before)


def pyplot() -> Any:
    """``matplotlib.pyplot``, loaded when first needed.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise DependencyError(
            "Figures need matplotlib, which is not installed; run "
            "pip install 'pegasos_stats[plot]'."
        ) from None
    return pyplot


def axes_of(ax: "Axes | None", width: float = WIDTH, height: float = HEIGHT) -> "Axes":
    """The axes given, or those of a new figure of this size in inches.

    Raises
    ------
    OptionError
        If what is given is no axes.
    """
    if ax is None:
        made: Axes = pyplot().subplots(figsize=(width, height))[1]
        return made
    refused = OptionError(
        f"ax is of type {type(ax).__name__}; give the axes of one panel, for example "
        "plt.subplots()[1]."
    )
    with refusing(refused):
        if not hasattr(ax, "get_xlim"):
            raise refused
    return ax


def wide(values: Floats) -> bool:
    """Whether positive numbers span more than a factor of ten.

    Examples
    --------
    >>> wide(np.array([1.0, 9.0])), wide(np.array([1.0, 11.0]))
    (False, True)
    """
    return bool(values.max() > DECADE * values.min())


def write_decimals(values: Floats, axis: Any) -> None:
    """Label 1, 2 and 5 of each decade of a logarithmic axis with few decades."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if values.max() <= DECADE**2 * values.min():
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def write_percent(axis: Any) -> None:
    """Label shares in percent."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100.0 * share:.3g}%"))


class Room(NamedTuple):
    """How many letters of 10 points fit along the sides of axes."""

    across: int
    down: int


def room_of(ax: "Axes") -> Room:
    """Letters that fit along the sides of axes, at least ten."""
    ax.apply_aspect()
    box, dots = ax.get_window_extent(), ax.figure.dpi * LETTER
    return Room(max(int(box.width / dots), 10), max(int(box.height / dots), 10))


def written(name: object) -> str:
    r"""A name as text of a figure, without what matplotlib would read as a command.

    What no font has, such as a control character, is a replacement character.

    Examples
    --------
    >>> written("price in $"), written("_hidden"), written(5)
    ('price in \\$', ' _hidden', '5')
    """
    text = str(name)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    seen = (c if c.isprintable() or c == "\n" else UNSEEN for c in text)
    plain = "".join(seen).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def wrapped(name: object, width: int = 32, most: int = 4) -> str:
    """A name on several lines, at most `most` of them; the rest is cut off with dots.

    Examples
    --------
    >>> print(wrapped("C(education)[T.vocational training]", width=26))
    C(education)[T.vocational
    training]
    """
    begin = str(name)[: (width + 1) * most + 1]  # a blank at each end of a line
    broken = wrap(begin, width, max_lines=most, placeholder=" …") or [""]
    return written("\n".join(broken))


def longest_line(names: Sequence[str]) -> int:
    """Letters in the longest line of some names."""
    return max((len(line) for name in names for line in name.split("\n")), default=0)


def put_legend(ax: "Axes", place: str = "best") -> float:
    """Put the legend into axes; return the share of their height that it takes.

    Its lines are broken, and in narrow axes its letters smaller, so that it fits.
    """
    across = room_of(ax).across
    size, share = (SMALL_LETTERS, 0.85) if across < NARROW else (LETTERS, 1.0)
    width = max(int(share * across * 10.0 / size) - SAMPLE, 10)
    handles, found = ax.get_legend_handles_labels()
    labels = ["\n".join(wrap(label, width)) for label in found]
    ax.legend(handles, labels, loc=place, fontsize=size).set_in_layout(False)
    inches = ax.get_window_extent().height / ax.figure.dpi
    count = sum(label.count("\n") + 1 for label in labels)
    return min(LEADING * size / 72.0 * (count + 0.5) / inches, MOST)
