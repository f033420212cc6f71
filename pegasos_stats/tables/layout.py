"""Text tables of a fixed width: a header of two columns, and one of numbers."""

from collections.abc import Sequence
from textwrap import wrap

import pandas as pd

Pairs = Sequence[tuple[str, str]]

WIDTH = 78
GAP = 2
COLUMN = 11  # of numbers, where there is room
SHORTEST = 12  # that a name is cut to
DOUBLE, SINGLE = "=" * WIDTH, "-" * WIDTH


def header_text(title: str, left: Pairs, right: Pairs) -> list[str]:
    """Names and values side by side, values that are too long cut in the middle.

    Examples
    --------
    >>> header_text("Fit", [("Loss:", "hinge")], [])[2]
    'Loss:                            hinge'
    """
    wide, narrow = _needed(left), _needed(right)
    half = (WIDTH - GAP) // 2
    if wide > half:
        half = min(wide, max(WIDTH - GAP - narrow, half))
    other = WIDTH - GAP - half
    height = max(len(left), len(right))
    sides = [
        [*(_cell(name, value, size) for name, value in side)]
        + [" " * size] * (height - len(side))
        for side, size in ((left, half), (right, other))
    ]
    lines = [one + " " * GAP + two for one, two in zip(*sides, strict=True)]
    return [title.center(WIDTH).rstrip(), DOUBLE, *(line.rstrip() for line in lines)]


def params_text(params: pd.DataFrame) -> list[str]:
    """Coefficients in rows under their headings, between rules.

    Where names and numbers do not fit side by side, names are cut in the middle, but
    never so that two become the same.
    """
    cells = [
        [_line(str(cell)) for cell in row] for row in params.to_numpy(dtype=object)
    ]
    heads = [_line(str(column)) for column in params.columns]
    natural = [max(map(len, each)) for each in zip(heads, *cells, strict=True)]
    names = [_line(str(name)) for name in params.index]
    longest = max(map(len, names), default=0)
    sizes = _spread([size + GAP for size in natural], WIDTH - longest)
    names = shortened(names, max(WIDTH - sum(sizes), SHORTEST))
    first = max(map(len, names), default=0)
    rows = [
        name.ljust(first) + "".join(c.rjust(n) for c, n in zip(row, sizes, strict=True))
        for name, row in zip(["", *names], [heads, *cells], strict=True)
    ]
    return [DOUBLE, rows[0], SINGLE, *rows[1:], DOUBLE]


def note_text(number: int, note: str) -> list[str]:
    """Wrap a numbered note."""
    text = f"[{number}] {note}"
    return wrap(text, width=WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Cut names to a width, so that different ones stay different.

    They are cut in the middle; those that would become the same keep what they differ
    in; and if that is not enough, all are cut to a larger width.

    Examples
    --------
    >>> shortened(["age", "region[T.North West]"], 12)
    ['age', 'regio...est]']
    >>> shortened(["region[T.North of all]", "region[T.South of all]"], 12)
    ['reg...North ', 'reg...South ']
    """
    longest = max(map(len, names), default=0)
    different = set(names)
    while width < longest:
        short = {name: _cut(name, width) for name in different}
        short |= _told_apart(short, width)
        if len(set(short.values())) == len(different):
            return [short[name] for name in names]
        width += 1
    return list(names)


def _told_apart(short: dict[str, str], width: int) -> dict[str, str]:
    """Cut names anew that became the same: the beginning, and where they part."""
    groups: dict[str, list[str]] = {}
    for name, cut in short.items():
        groups.setdefault(cut, []).append(name)
    head = max((width - 3) // 3, 1)
    return {
        name: f"{name[:head]}...{name[_shared(group) :][: width - head - 3]}"
        for group in groups.values()
        if len(group) > 1
        for name in group
    }


def _shared(names: Sequence[str]) -> int:
    """Number of characters at the beginning that are the same in all names."""
    same = (len(set(letters)) == 1 for letters in zip(*names, strict=False))
    return next((i for i, equal in enumerate(same) if not equal), min(map(len, names)))


def _spread(sizes: list[int], room: int) -> list[int]:
    """Widen columns, the narrowest first, as long as there is room."""
    sizes = list(sizes)
    while sum(sizes) < room and min(sizes, default=COLUMN) < COLUMN:
        sizes[sizes.index(min(sizes))] += 1
    return sizes


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    kept = max(width - 3, 2)
    return f"{text[: (kept + 1) // 2]}...{text[-(kept // 2) :]}"


def _needed(side: Pairs) -> int:
    return max((len(_line(f"{name} {value}")) for name, value in side), default=0)


def _cell(name: str, value: str, size: int) -> str:
    name, value = _cut(_line(name), size - 4), _line(value)
    room = size - len(name) - 1
    return f"{name} {_cut(value, room).rjust(room)}"


def _line(text: str) -> str:
    """Text in one line."""
    return " ".join(text.split()) if len(text.splitlines()) > 1 else text
