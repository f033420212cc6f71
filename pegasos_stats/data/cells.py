"""Cells of text files as columns of numbers or text.

Whole numbers are whole also where cells are empty, and text where 64 bits cannot hold
one of them, so that no two codes become the same number.
"""

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.language.vocabulary import as_character

Kinds = Mapping[str, str]  # NUMBERS, TEXT or BOOLEANS, by the name of a column
Reader = Callable[[str], str | None]

NUMBERS, TEXT, BOOLEANS = "numbers", "text", "booleans"
TRUE, FALSE = ["True", "TRUE", "true"], ["False", "FALSE", "false"]
WORDS = dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)
SIGNS = r"\d\s.,'\u2019+\-<>=~\u2264\u2265/:()"
CURRENCIES = {"CHF", "EUR", "USD", "GBP", "SFr", "Fr", "DM"}
QUOTED = {"'": '"\'"'}  # shorter than by shlex
MOST_UNITS = 3  # of a column
THOUSANDS = ("'", "\u2019", ",", ".", " ", "\u00a0", "\u202f")


def cell_reader(
    decimal: str = ".", thousands: str = "", units: Collection[str] = ()
) -> Reader:
    """Reader of a cell: its number as Python writes it; None if it holds none.

    Examples
    --------
    >>> read = cell_reader(",", ".", ["CHF"])
    >>> [read(cell) for cell in ("CHF 1.234,5", "-7", "1.5", "?")]
    ['1234.5', '-7', None, None]
    """
    groups = rf"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|" if thousands else ""
    number = re.compile(
        rf"({groups}[0-9]*)(?:{re.escape(decimal)}([0-9]*))?((?:[eE][+-]?[0-9]+)?)"
    )

    def read(cell: str) -> str | None:
        sign, text = "", cell.strip()
        for unit in ("", *units):
            text = text.removeprefix(unit).removesuffix(unit).strip()
            if not sign and text[:1] in ("+", "-"):
                sign, text = text[0], text[1:]
        parts = number.fullmatch(text)
        if parts is None or not (parts[1] or parts[2]):
            return None
        whole = parts[1].replace(thousands, "") if thousands else parts[1]
        return sign + whole + f".{parts[2]}" * (parts[2] is not None) + parts[3]

    return read


PLAIN = cell_reader()
UNIT = rf"^[+-]?\s*([^{SIGNS}]+)(\s?)|(\s?)([^{SIGNS}]+)$"  # before or after a number


def as_numbers(cells: DataColumn, read: Reader = PLAIN) -> "DataColumn | None":
    """Numbers of the cells of a column; text where 64 bits do not hold a whole one.

    None if a cell is no number.

    Examples
    --------
    >>> as_numbers(pd.Series(["9007199254740993", None])).tolist()
    [9007199254740993, <NA>]
    >>> as_numbers(pd.Series(["1.0", None])).tolist()
    [1.0, nan]
    """
    known = cells.dropna()
    plain = known.map(read)
    if plain.isna().any():
        return None
    if not plain.str.fullmatch("[+-]?[0-9]+").all():
        return plain.astype(np.float64).reindex(cells.index)
    whole = [int(text) for text in plain]
    if whole and not -(2**63) <= min(whole) <= max(whole) < 2**63:
        return cells
    found = pd.Series(whole, known.index, dtype=np.int64)
    complete = len(found) == len(cells)
    return found if complete else found.astype("Int64").reindex(cells.index)


def options_that_read(cells: Sequence[str], decimal: str = ".") -> str:
    """Options of the command line by which all cells are numbers; empty if none do.

    Examples
    --------
    >>> options_that_read(["1,5", "22,75"]), options_that_read(["CHF 5", "CHF 7"])
    ('--decimal ,', '--strip CHF')
    >>> options_that_read(["2026-01-31", "2026-02-01"]), options_that_read(["W12"])
    ('', '')
    """
    units = _units_of(cells)
    for mark, thousands in product((decimal, ",", "."), ("", *THOUSANDS)):
        read = cell_reader(mark, thousands, units)
        if mark != thousands and all(read(cell) is not None for cell in cells):
            return " ".join(
                [f"--decimal {shlex.quote(mark)}"] * (mark != decimal)
                + [f"--thousands {QUOTED.get(thousands) or shlex.quote(thousands)}"]
                * bool(thousands)
                + [f"--strip {shlex.quote(unit)}" for unit in units]
            )
    return ""


def _units_of(cells: Sequence[str]) -> list[str]:
    """Text beside the numbers: signs, or words with a blank, or the same for all."""
    units, words = set[str](), set[str]()
    for cell in cells:
        for before, blank, blank_too, after in re.findall(UNIT, cell.strip()):
            unit = before or after
            is_sign = not any(letter.isalpha() for letter in unit)
            (units if is_sign or blank or blank_too else words).add(unit)
            if before and not (is_sign or blank) and before not in CURRENCIES:
                return []  # such as of P12, the name of a row
    same = words if len(words) == 1 and len(min(words)) > 1 else words & CURRENCIES
    return sorted(units | same, key=len, reverse=True)[:MOST_UNITS]


def cell_value(cell: object, read: Reader = PLAIN) -> object:
    """The number or the boolean that a cell of text is; other cells as they are.

    Examples
    --------
    >>> [cell_value(cell) for cell in ("7", "7.5", "True", "?")]
    [7, 7.5, True, '?']
    """
    if not isinstance(cell, str):
        return cell
    if (plain := read(cell)) is None:
        return WORDS.get(cell, cell)
    return int(plain) if plain.lstrip("+-").isdigit() else float(plain)


def is_text(column: DataColumn) -> bool:
    """Whether a column of a file was read as text, or as booleans and empty cells."""
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype)


def as_at_fit(frame: pd.DataFrame, kinds: Kinds, read: Reader = PLAIN) -> pd.DataFrame:
    """Columns of a file in the kinds that they had at the fit.

    Numbers become text, and cells of text that are numbers become these; others stay.

    Examples
    --------
    >>> frame = pd.DataFrame({"code": [250, 401], "ward": ["7", "?"]})
    >>> as_at_fit(frame, {"code": TEXT, "ward": NUMBERS}).to_dict("list")
    {'code': ['250', '401'], 'ward': [7, '?']}
    """
    turned = {}
    for name in kinds.keys() & {*frame.columns}:
        column = frame[name]
        if kinds[name] == TEXT and column.dtype.kind in "biuf":
            turned[name] = as_text(column)
        elif kinds[name] != TEXT and is_text(column):
            values = [cell_value(cell, read) for cell in column.array]
            turned[name] = pd.Series(values, column.index, dtype=object)
    return frame.assign(**turned) if turned else frame


def as_text(column: DataColumn) -> DataColumn:
    """Numbers and booleans as text, missing ones as they are.

    Examples
    --------
    >>> as_text(pd.Series([7.0, 1.1, None])).tolist()
    ['7', '1.1', nan]
    """
    found: DataColumn = as_character(column.dropna())
    return found.reindex(column.index)
