"""Text columns that probably should not be factors: identifiers, dates, numbers."""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from pegasos_stats.data.language.expressions import is_word
from pegasos_stats.data.language.formula import sides
from pegasos_stats.errors import ColumnWarning, counted, listing, warn_caller

MANY = 10  # levels that a factor may well have, however many rows there are
ROWS = 3  # to a level, with fewer of which a column seems to name its rows
DATE = re.compile(r"\d{1,4}([-/. ])(\d{1,2}|[A-Za-z]{3,9})\1\d{1,4}([ T]\d.*)?")
MARKED = re.compile(
    r"^[$€£¥]?\s*(?P<number>[-+]?[\d,.]+(?:[eE][-+]?\d+)?|[-+]?(?:inf|nan))\s*"
    r"(?P<unit>[%‰°$€£¥]|[^\W\d_]{1,4})?$",
    re.IGNORECASE,
)
NO_VALUE = re.compile(
    r"[\W_]*|n\.?/?a\.?|nan|null|none|missing|unknown|unk\.?", re.IGNORECASE
)
Kind = Literal["names", "dates", "numbers"]


@dataclass(frozen=True)
class Doubtful:
    """A column of text, of many levels or few numbers, probably not meant as a factor.

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
        Label of the first row with such a value, if there is one and it is known.
    outcome : str
        Left side of the formula.
    """

    name: str
    kind: Kind
    n_levels: int
    n_rows: int
    words: tuple[str, ...] = ()
    row: str = ""
    outcome: str = "y"

    @property
    def text(self) -> str:
        """What the column is, what became of it, and what to do: two sentences.

        Examples
        --------
        >>> print(Doubtful("lead", "numbers", 212, 300, ("<5",), "17").text)
        the column 'lead' is text, as '<5' (row 17) is no number: 212 levels ...
        """
        levels = counted(self.n_levels, "level")
        why = "though all its values are numbers"
        if self.words:
            first = f" (row {self.row})" if self.row else ""
            why = f"as {listing(self.words, 3)}{first} is no number"
        looks = {
            "names": f"has {levels} in {counted(self.n_rows, 'row')}, as if it named "
            "the rows: they",
            "dates": f"is text that looks like dates: {levels}",
            "numbers": f"is text, {why}: {levels}",
        }[self.kind]
        became = counted(self.n_levels - 1, "coefficient")
        return (
            f"the column {self.name!r} {looks} became {became}. "
            f"{self.cure[:1].upper()}{self.cure[1:]}; write C({self.quoted}) if its "
            "levels are meant."
        )

    @property
    def quoted(self) -> str:
        """Its name as a formula has it."""
        return self.name if is_word(self.name) else f"`{self.name}`"

    @property
    def cure(self) -> str:
        """What to do if it is not meant as a factor."""
        without = f"leave it out, as in '{self.outcome} ~ . - {self.quoted}'"
        if self.kind == "names":
            return without
        if self.kind == "dates":
            return f"if these are dates, make them numbers (days), or {without}"
        return "make it numbers, as by decimal= or na_values= where the file is read"


def doubtful_columns(
    data: pd.DataFrame,
    levels: Mapping[str, list[Hashable]],
    n_rows: int,
    formula: str = "y ~ .",
) -> tuple[Doubtful, ...]:
    """Columns of text that look like names, dates or numbers.

    Columns of few levels are told only where they are numbers beside a code for no
    value, or with commas.

    What a column looks like is judged by all its values: a word that makes it text may
    stand in a row that is left out.

    Parameters
    ----------
    data : DataFrame
    levels : mapping of str to list
        Of the columns that became factors without ``C()``.
    n_rows : int
        Number of rows used.
    formula : str

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [str(i) for i in range(20)] + ["<5"]})
    >>> found = doubtful_columns(frame, {"x": sorted(set(frame["x"]))}, 21)
    >>> found[0].kind, found[0].words, found[0].row
    ('numbers', ('<5',), '20')
    """
    found = []
    for name, known in levels.items():
        if not all(isinstance(level, str) for level in known):
            continue
        every = data[name].dropna().astype(object)
        texts, row = pd.Series(every.unique(), dtype=object).map(str), ""
        words: tuple[str, ...] = ()
        numbers = _like_numbers(texts)
        kind: Kind
        few = len(known) <= MANY
        if few and not _is_short_scale(texts, numbers):
            continue
        if few or (numbers.sum() > MANY and numbers.mean() > 0.5):
            words = tuple(texts[pd.to_numeric(texts, errors="coerce").isna()])
            strange = every.map(str).isin(words).to_numpy()
            kind = "numbers"
            row = str(every.index[int(np.argmax(strange))]) if words else ""
        elif texts.str.fullmatch(DATE).mean() > 0.5:
            kind = "dates"
        elif n_rows < ROWS * len(known):
            kind = "names"
        else:
            continue
        found.append(
            Doubtful(name, kind, len(known), n_rows, words, row, sides(formula)[0])
        )
    return tuple(found)


def warn_of_columns(found: Iterable[Doubtful]) -> None:
    """Warn of each of these columns."""
    for column in found:
        warn_caller(f"{column.text[:1].upper()}{column.text[1:]}", ColumnWarning)


def of_all_rows(found: Iterable[Doubtful], n_rows: int) -> tuple[Doubtful, ...]:
    """Those that still are doubtful where the rows they were found in are not all.

    Levels are, so that only what names its rows can have been found wrongly. Where the
    rows stand among all is not known.

    Examples
    --------
    >>> few = Doubtful("ward", "names", 20, 30), Doubtful("day", "dates", 20, 30)
    >>> [column.name for column in of_all_rows(few, 1000)]
    ['day']
    """
    return tuple(
        replace(column, n_rows=n_rows, row="")
        for column in found
        if column.kind != "names" or n_rows < ROWS * column.n_levels
    )


def _is_short_scale(texts: "pd.Series[str]", numbers: "pd.Series[bool]") -> bool:
    """Whether few values are numbers beside a code for none, or with commas.

    Other words among few numbers, as in ``1, 2, 3+``, are levels that are meant.

    Examples
    --------
    >>> texts = pd.Series(["1", "2", "3", "?"])
    >>> _is_short_scale(texts, _like_numbers(texts))
    True
    """
    coded = texts[~numbers].str.strip().str.fullmatch(NO_VALUE)
    some = numbers.sum() > 1 and (len(coded) > 0 or texts.str.contains(",").any())
    return bool(some and coded.all())


def _like_numbers(texts: "pd.Series[str]") -> "pd.Series[bool]":
    """Which are numbers, or would be without commas, signs of money, and one unit.

    Examples
    --------
    >>> _like_numbers(pd.Series(["5", "1,200", "12%", "$3", "P4"])).tolist()
    [True, True, True, True, False]
    >>> _like_numbers(pd.Series(["5 kg", "6 kg"])).tolist()
    [True, True]
    >>> _like_numbers(pd.Series(["12A", "12B"])).tolist()
    [False, False]
    """
    parts = texts.str.strip().str.extract(MARKED)
    units = parts["unit"].fillna("")
    one = units[units != ""].nunique() == 1
    plain = pd.to_numeric(parts["number"].str.replace(",", ""), errors="coerce")
    return plain.notna() & ((units == "") | (units == "%") | one)
