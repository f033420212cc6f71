"""Text columns that probably should not be factors: identifiers, dates, numbers."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from pegasos_stats.data.language.syntax import is_word
from pegasos_stats.errors import counted, listing

MANY = 10  # levels that a factor may well have, however many rows there are
ROWS = 3  # to a level, with fewer of which a column seems to name its rows
DATE = re.compile(r"\d{1,4}([-/. ])(\d{1,2}|[A-Za-z]{3,9})\1\d{1,4}([ T]\d.*)?")
Kind = Literal["names", "dates", "numbers"]


@dataclass(frozen=True)
class Doubtful:
    """A column of text with many levels, probably not meant as a factor.

    Attributes
    ----------
    name : str
        Of the column.
    kind : "names", "dates" or "numbers"
        What its values look like: names of the rows, dates, or numbers and a few words.
    n_levels, n_rows : int
    words : tuple of str
        The values among numbers that are none, in order of appearance.
    row : str
        Label of the first row with such a value, if there is one.
    """

    name: str
    kind: Kind
    n_levels: int
    n_rows: int
    words: tuple[str, ...] = ()
    row: str = ""

    @property
    def text(self) -> str:
        """What the column is, what became of it, and what to do: two sentences.

        Examples
        --------
        >>> print(Doubtful("lead", "numbers", 212, 300, ("<5",), "17").text)
        the column 'lead' is text, as '<5' in row 17 is not a number: 212 levels ...
        """
        name, levels = self.name, counted(self.n_levels, "level")
        became = f"{levels} became {counted(self.n_levels - 1, 'coefficient')}"
        quoted = name if is_word(name) else f"`{name}`"
        left_out = f"leave it out, as in 'y ~ . - {quoted}'"
        meant = f"write C({quoted}) if its levels are meant"
        if self.kind == "names":
            return (
                f"the column {name!r} has {levels} in {counted(self.n_rows, 'row')}, "
                f"as if it named the rows: they became "
                f"{counted(self.n_levels - 1, 'coefficient')}. If it does, {left_out}; "
                f"{meant}."
            )
        if self.kind == "dates":
            return (
                f"the column {name!r} is text that looks like dates: {became}. Make it "
                f"numbers, such as days since a date, or {left_out}; {meant}."
            )
        why = "though all its values are numbers"
        cure = "make it a column of numbers"
        if self.words:
            verb = "is not a number" if len(self.words) == 1 else "are not numbers"
            first = "" if len(self.words) == 1 else ", the first"
            why = f"as {listing(self.words, 3)}{first} in row {self.row} {verb}"
            cure = "give such values as numbers, or leave them empty"
        return (
            f"the column {name!r} is text, {why}: {became}. If it is meant as numbers, "
            f"{cure}; {meant}."
        )


def doubtful_columns(
    used: pd.DataFrame, levels: Mapping[str, list[Hashable]], index: pd.Index
) -> tuple[Doubtful, ...]:
    """Columns of text with many levels that look like names, dates or numbers.

    Parameters
    ----------
    used : DataFrame
        Complete rows, indexed by position.
    levels : mapping of str to list
        Of the columns that became factors without ``C()``.
    index : Index
        Row labels of the data.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [str(i) for i in range(20)] + ["<5"]})
    >>> found = doubtful_columns(frame, {"x": sorted(set(frame["x"]))}, frame.index)
    >>> found[0].kind, found[0].words, found[0].row
    ('numbers', ('<5',), '20')
    """
    found = []
    for name, known in levels.items():
        if len(known) <= MANY or not all(isinstance(level, str) for level in known):
            continue
        texts, row = pd.Series(known, dtype=object), ""
        words: tuple[str, ...] = ()
        numbers = pd.to_numeric(texts.str.replace(",", ""), errors="coerce").notna()
        kind: Kind
        if numbers.sum() > MANY and numbers.mean() > 0.5:
            plain = pd.to_numeric(texts, errors="coerce").notna()
            strange = used[name][used[name].isin(texts[~plain])]
            words = tuple(map(str, strange.unique()))
            kind, row = "numbers", str(index[strange.index[0]]) if words else ""
        elif texts.str.fullmatch(DATE).mean() > 0.5:
            kind = "dates"
        elif len(used) < ROWS * len(known):
            kind = "names"
        else:
            continue
        found.append(Doubtful(name, kind, len(known), len(used), words, row))
    return tuple(found)
