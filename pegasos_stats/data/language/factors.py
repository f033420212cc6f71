"""Factors: which values have levels, how levels become columns, text by mistake.

Text, categories and ``C()`` are factors, see `is_factor`; so is nothing else.
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn, Matrix
from pegasos_stats.data.labels import positions
from pegasos_stats.data.language.formula import is_word
from pegasos_stats.data.language.vocabulary import TermValue, Value, is_column
from pegasos_stats.errors import (
    ColumnWarning,
    counted,
    listing,
    warn_caller,
)

Codes: TypeAlias = NDArray[np.integer]

MANY_LEVELS = 1000  # of a column of text, with few rows each: it names the rows
MANY = 10  # levels that a factor may well have, however many rows there are
ROWS = 3  # to a level, with fewer of which a column seems to name its rows
LIKE_NUMBERS = re.compile(r"[-+<>=~$€£¥\s]*\.?\d.*", re.DOTALL)  # and like dates


def is_factor(value: Value) -> bool:
    """Whether a value is a factor: by `C`, or for its categories or text."""
    if isinstance(value, TermValue):
        return value.is_factor
    return is_column(value) and (
        isinstance(value.dtype, pd.CategoricalDtype)
        or pd.api.types.is_string_dtype(value.dtype)
    )


@dataclass(frozen=True, eq=False)
class FactorCoding:
    """How a factor becomes columns.

    Attributes
    ----------
    levels : list
        In their order.
    names : tuple of str
        Of the columns where there is one less.
    base : int or None
        Position of the level that these leave out, of treatment contrasts.
    matrix : float64 array, shape (len(levels), len(names)), or None
        Other contrasts.
    fixed : bool
        Whether its columns are these beside any other terms.
    """

    levels: list[Hashable]
    names: tuple[str, ...]
    base: int | None = 0
    matrix: Matrix | None = None
    fixed: bool = False

    @classmethod
    def of(cls, text: str, value: Value, levels: list[Hashable]) -> "FactorCoding":
        """The contrasts that a factor of a formula asks for."""
        chosen = getattr(value, "contrasts", None)
        if chosen is None or len(levels) < 2:
            return cls(levels, tuple(f"{text}[T.{level}]" for level in levels[1:]))
        from formulaic.transforms import contrasts as known

        chosen = chosen() if isinstance(chosen, type) else chosen
        if not isinstance(chosen, known.Contrasts):
            chosen = known.CustomContrasts(chosen)
        fixed = isinstance(chosen, known.CustomContrasts)
        written = chosen.get_factor_format(levels, reduced_rank=True)
        names = tuple(
            written.format(name=text, field=field)
            for field in chosen.get_coding_column_names(levels, reduced_rank=True)
        )
        if isinstance(chosen, known.TreatmentContrasts):
            base = levels.index(chosen.get_drop_field(levels, reduced_rank=False))
            return cls(levels, names, base)
        matrix = chosen.get_coding_matrix(levels, reduced_rank=True)
        return cls(levels, names, None, np.asarray(matrix, dtype=np.float64), fixed)

    def names_of(self, text: str, reduced: bool) -> list[str]:
        """Names of the columns."""
        if reduced or self.fixed:
            return list(self.names)
        return [f"{text}[{level}]" for level in self.levels]

    def columns(self, codes: Codes, reduced: bool) -> list[NDArray[np.generic]]:
        """Columns of rows of these levels, by position; one less if `reduced`.

        Examples
        --------
        >>> FactorCoding(["u", "v"], ("g[T.v]",)).columns(np.array([0, 1]), True)
        [array([False,  True])]
        """
        if self.matrix is not None and (reduced or self.fixed):
            return list(self.matrix[codes].T)
        left_out = self.base if reduced else None
        return [codes == i for i in range(len(self.levels)) if i != left_out]


def named_levels(column: DataColumn) -> DataColumn:
    """Categories that are neither text, numbers nor booleans, as text.

    Examples
    --------
    >>> named_levels(pd.cut(pd.Series([1.0, 5.0]), [0, 2, 9])).tolist()
    ['(0, 2]', '(2, 9]']
    """
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    levels = column.dtype.categories
    known = levels.dtype.kind in "biuf" or pd.api.types.is_string_dtype(levels)
    return column if known else column.cat.rename_categories(str)


def codes_of(values: Value, levels: Sequence[Hashable]) -> Codes:
    """Position of each value among the levels; -1 for others and missing ones.

    ``1``, ``1.0`` and ``True`` are one level.
    """
    column = pd.Series(values)
    if levels and isinstance(levels[0], str):
        column = named_levels(column)
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    if is_category and list(column.cat.categories) == levels:
        return column.cat.codes.to_numpy()
    return positions(column, levels)


@dataclass(frozen=True)
class SuspiciousFactor:
    """A column of text that became a factor of many levels and was hardly meant to.

    Attributes
    ----------
    name : str
        Of the column.
    kind : "names" or "numbers"
        What its values look like: names of the rows, or numbers, units and dates too;
        in files of earlier versions dates by themselves.
    n_levels, n_rows : int
    words : tuple of str
        The values among numbers that are none, in order of appearance.
    row : str
        Label of the first row with such a value, if there is one and it is known.
    """

    name: str
    kind: Literal["names", "numbers", "dates"]
    n_levels: int
    n_rows: int
    words: tuple[str, ...] = ()
    row: str = ""

    @property
    def text(self) -> str:
        """What the column is, what became of it, and what to do: two sentences.

        Examples
        --------
        >>> print(SuspiciousFactor("lead", "numbers", 212, 300, ("<5",), "17").text)
        the column 'lead' is text, as '<5' (row 17) is no number: 212 levels ...
        """
        levels = counted(self.n_levels, "level")
        looks = f"has {levels} in {counted(self.n_rows, 'row')}, as names of rows: they"
        if self.kind == "numbers":
            row = f" (row {self.row})" if self.row else ""
            why = "though all its values are numbers"
            if self.words:
                why = f"as {listing(self.words, 3)}{row} is no number"
            looks = f"is text, {why}: {levels}"
        quoted = self.name if is_word(self.name) else f"`{self.name}`"
        return (
            f"the column {self.name!r} {looks} became "
            f"{counted(self.n_levels - 1, 'coefficient')}. Make it numbers or leave it "
            f"out; write C({quoted}) if its levels are meant."
        )


def doubtful_columns(
    data: pd.DataFrame, levels: Mapping[str, list[Hashable]], n_rows: int
) -> tuple[SuspiciousFactor, ...]:
    """Columns of text with many levels that look like numbers, or name the rows.

    What a column looks like is judged by all its values: a word that makes it text may
    stand in a row that is left out.

    Parameters
    ----------
    data : DataFrame
    levels : mapping of str to list
        Of the columns that became factors without ``C()``.
    n_rows : int
        Number of rows used.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [str(i) for i in range(20)] + ["<5"]})
    >>> found = doubtful_columns(frame, {"x": sorted(set(frame["x"]))}, 21)
    >>> found[0].kind, found[0].words, found[0].row
    ('numbers', ('<5',), '20')
    """
    found = []
    for name, known in levels.items():
        if len(known) <= MANY or not all(isinstance(level, str) for level in known):
            continue
        texts = data[name].dropna().astype(str).drop_duplicates()
        if texts.str.fullmatch(LIKE_NUMBERS).mean() > 0.5:
            words = texts[pd.to_numeric(texts, errors="coerce").isna()]
            row = str(words.index[0]) if len(words) else ""
            of = len(known), n_rows, tuple(words), row
            found.append(SuspiciousFactor(name, "numbers", *of))
        elif n_rows < ROWS * len(known):
            found.append(SuspiciousFactor(name, "names", len(known), n_rows))
    return tuple(found)


def warn_of_columns(found: Iterable[SuspiciousFactor]) -> None:
    """Warn of each of these columns."""
    for column in found:
        warn_caller(f"{column.text[:1].upper()}{column.text[1:]}", ColumnWarning)


def of_all_rows(
    found: Iterable[SuspiciousFactor], n_rows: int
) -> tuple[SuspiciousFactor, ...]:
    """Those that still are doubtful where the rows they were found in are not all.

    Levels are, so that only what names its rows can have been found wrongly. Where the
    rows stand among all is not known.

    Examples
    --------
    >>> kinds = ("ward", "names"), ("day", "numbers")
    >>> few = [SuspiciousFactor(*kind, 20, 30) for kind in kinds]
    >>> [column.name for column in of_all_rows(few, 1000)]
    ['day']
    """
    return tuple(
        replace(column, n_rows=n_rows, row="")
        for column in found
        if column.kind != "names" or n_rows < ROWS * column.n_levels
    )
