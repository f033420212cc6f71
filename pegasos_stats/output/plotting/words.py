"""Texts of figures: names, labels and legends, in lines that fit."""

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER = 0.075  # inches of a letter of 10 points
LETTERS, SMALL_LETTERS, NARROW = 9.5, 7.5, 40  # points, and below how many letters
SAMPLE = 7  # letters as wide as the sample of a line in a legend
LEADING = 1.45  # height of a line of a legend, as a multiple of its letters
MOST = 0.6  # share of the height of axes that a legend takes, at most


class Room(NamedTuple):
    """How many letters of 10 points fit along the sides of axes."""

    across: int
    down: int


def written(name: object) -> str:
    r"""Name as a text of a figure, without what matplotlib reads as a command.

    Examples
    --------
    >>> written("price in $"), written("_hidden"), written(5)
    ('price in \\$', ' _hidden', '5')
    """
    plain = str(name).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def wrapped(name: object, width: int = 32, most: int = 4) -> str:
    """Name on as many lines as it takes, at most so many, then cut off with dots.

    Examples
    --------
    >>> print(wrapped("C(education)[T.vocational training]", width=26))
    C(education)[T.vocational
    training]
    """
    lines = wrap(str(name), width, max_lines=most, placeholder=" …") or [""]
    return written("\n".join(lines))


def longest_line(names: Sequence[str]) -> int:
    """Letters in the longest line of some names."""
    return max((len(line) for name in names for line in name.split("\n")), default=0)


def meaning(unit: str, levels: Sequence[Any], width: int, marked: str = "") -> str:
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


def room_of(ax: "Axes") -> Room:
    """Letters that fit along the sides of axes, at least ten."""
    ax.apply_aspect()
    box, dots = ax.get_window_extent(), ax.figure.dpi * LETTER
    return Room(max(int(box.width / dots), 10), max(int(box.height / dots), 10))


def put_legend(ax: "Axes", place: str = "best") -> float:
    """Put the legend into axes, and tell which share of their height it takes.

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
