"""The one visual style: colours safe for the colour-blind, readable in grey."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import DependencyError, OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 6.4, 4.0  # inches of a figure with one panel

# Okabe & Ito's colours, ordered so that neighbours differ in lightness too.
NEGATIVE, POSITIVE = "#0072B2", "#D55E00"  # the two levels of an outcome
REFERENCE = "#555555"  # what a figure is read against: thresholds, chance
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: Sequence[Any] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
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


class Line(NamedTuple):
    """How one of several lines is drawn; each differs in every respect."""

    colour: str
    dashes: Any
    marker: str


def lines(count: int) -> list[Line]:
    """Return the first so many ways to draw a line; no two of 36 are the same.

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
    """Draw in the style of the package; the user's settings are left alone.

    Only what the style sets is set back. The first figure in a notebook switches on
    that figures are shown, which has to outlast it.

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
    """Return ``matplotlib.pyplot``, loaded when first needed.

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
    """Return the axes given, or those of a new figure of this size in inches.

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
