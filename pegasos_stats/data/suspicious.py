"""Columns that are probably not meant as they were read: names of rows, codes."""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from pegasos_stats import errors
from pegasos_stats.data.language.formula import in_backticks
from pegasos_stats.errors import counted, listing

MANY = 10  # levels that a factor may have in any number of rows
FEWEST_ROWS = 3  # per level; a column with fewer seems to name its rows
LOW_CODES, HIGH_CODES = (-99, -999, -9999, -99999), (999, 9999, 99999)
LIKE_NUMBERS = re.compile(r"[-+<>=~$€£¥\s]*\.?\d.*", re.DOTALL)  # and like dates


@dataclass(frozen=True)
class SuspiciousColumn:
    """A column of text with many levels, or of numbers with a code among them.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : "names", "numbers" or "codes"
        What the values look like: names of the rows; numbers, also with units, and
        dates; or numbers with a code for missing values, such as -99.
    n_levels, n_rows : int
    words : tuple of str
        Values that are not numbers, in order of appearance; or the code.
    row : str
        Label of the first row with such a value, if it is known.
    """

    name: str
    kind: Literal["names", "numbers", "codes"]
    n_levels: int
    n_rows: int
    words: tuple[str, ...] = ()
    row: str = ""

    @property
    def text(self) -> str:
        """What the column is, how the model uses it, and what to do.

        Examples
        --------
        >>> print(SuspiciousColumn("lead", "numbers", 212, 300, ("<5",), "17").text)
        the column 'lead' is text, as '<5' (row 17) is no number: 212 levels ...
        """
        if self.kind == "codes":
            return (
                f"the column {self.name!r} holds {self.words[0]}, far from its "
                "other numbers, as a code for missing values: it counts as a number. "
                f"If it is a code, read it as missing: na_values={self.words[0]}."
            )
        levels, rows = counted(self.n_levels, "level"), counted(self.n_rows, "row")
        looks = f"has {levels} in {rows}, as names of rows: they"
        if self.kind == "numbers":
            row = f" (row {self.row})" if self.row else ""
            why = f", as {listing(self.words, 3)}{row} is no number"
            why = why if self.words else ", though all its values are numbers"
            looks = f"is text{why}: {levels}"
        return (
            f"the column {self.name!r} {looks} became "
            f"{counted(self.n_levels - 1, 'coefficient')}. Make it numbers or leave it "
            f"out; write C({in_backticks(self.name)}) if its levels are meant."
        )


def suspicious_texts(
    data: pd.DataFrame, levels: Mapping[str, list[Hashable]], n_rows: int
) -> tuple[SuspiciousColumn, ...]:
    """Find columns of text with many levels that look like numbers, or name the rows.

    All values of a column count, because the word that makes it text may be in an
    excluded row.

    Parameters
    ----------
    data : DataFrame
    levels : mapping of str to list
        Levels of the columns that became factors without ``C()``.
    n_rows : int
        Number of rows used.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [str(i) for i in range(20)] + ["<5"]})
    >>> (column,) = suspicious_texts(frame, {"x": sorted(set(frame["x"]))}, 21)
    >>> column.kind, column.words, column.row
    ('numbers', ('<5',), '20')
    """
    columns = []
    for name, labels in levels.items():
        n_levels = len(labels)
        if n_levels <= MANY or not all(isinstance(label, str) for label in labels):
            continue
        texts = data[name].dropna().astype(str).drop_duplicates()
        if texts.str.fullmatch(LIKE_NUMBERS).mean() > 0.5:
            words = texts[pd.to_numeric(texts, errors="coerce").isna()]
            row = str(words.index[0]) if len(words) else ""
            sizes = n_levels, n_rows
            columns.append(SuspiciousColumn(name, "numbers", *sizes, tuple(words), row))
        elif n_rows < FEWEST_ROWS * n_levels:
            columns.append(SuspiciousColumn(name, "names", n_levels, n_rows))
    return tuple(columns)


def coded_missing(frame: pd.DataFrame) -> tuple[SuspiciousColumn, ...]:
    """Find columns of numbers that contain a usual code for missing values.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [40, -99, 61], "z": [-99.0, -3.5, 8.0]})
    >>> frame["change"] = [-99.0, -61.5, 8.0]
    >>> [(column.name, column.words) for column in coded_missing(frame)]
    [('age', ('-99',)), ('z', ('-99',))]
    """
    columns = []
    for name, column in frame.items():
        low, high = float(column.min()), float(column.max())
        for code, others in (
            (low, column[column > low]),
            (high, column[column < high]),
        ):
            if code not in (*LOW_CODES, *HIGH_CODES) or not len(others):
                continue
            is_far = 3 * others.abs().max() < abs(code)
            if is_far or (code < 0 and others.min() >= 0):
                codes = (f"{code:g}",)
                columns.append(
                    SuspiciousColumn(str(name), "codes", 0, len(column), codes)
                )
    return tuple(columns)


def warn_of_columns(columns: Iterable[SuspiciousColumn]) -> None:
    """Warn of these columns, one warning each."""
    for column in columns:
        text = f"{column.text[:1].upper()}{column.text[1:]}"
        errors.warn_caller(text, errors.ColumnWarning)


def in_all_rows(
    columns: Iterable[SuspiciousColumn], n_rows: int
) -> tuple[SuspiciousColumn, ...]:
    """Return the columns that are also suspicious in all rows, of which some were read.

    The levels are those of all rows, so only names of rows depend on their number.
    Labels of rows are unknown.

    Examples
    --------
    >>> kinds = ("ward", "names"), ("day", "numbers")
    >>> few = [SuspiciousColumn(*kind, 20, 30) for kind in kinds]
    >>> [column.name for column in in_all_rows(few, 1000)]
    ['day']
    """
    return tuple(
        replace(column, n_rows=n_rows, row="")
        for column in columns
        if column.kind != "names" or n_rows < FEWEST_ROWS * column.n_levels
    )
