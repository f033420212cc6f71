"""Data files, also compressed ones; an error says in one sentence what is wrong."""

import bz2
import codecs
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import IO, Any

import numpy as np
import pandas as pd

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn
from pegasos_stats.data import cells
from pegasos_stats.data.user_data import limit
from pegasos_stats.errors import listing
from pegasos_stats.writing import checked_path, shown_path

OPENERS = {rb"\x1f\x8b": gzip.open, rb"BZh\d1AY&SY": bz2.open}
BLOCK = 2**22  # bytes that are read at a time
IN_MEMORY: dict[str, bytes] = {}  # what standard input held, by the name it has here
UNREADABLE = (OSError, EOFError, zlib.error)
SEPARATED = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
NOT_UTF8 = (
    "it is not text in UTF-8; save it as 'CSV UTF-8', or name its encoding (on the "
    "command line --encoding cp1252, of Windows, or latin-1)"
)
EMPTY = "it is empty; give a header and rows"
BEGIN = 1000  # bytes that tell what a file is
UTF_16 = "text in UTF-16, as Excel's 'Unicode text'; read it with encoding='utf-16'"
WORKBOOK = "save the sheet as 'CSV UTF-8', and give that"
FORMATS = {  # that are no plain text, by what they begin with
    rb"\xff\xfe|\xfe\xff": UTF_16,
    rb"(?:[^\0]\0){8}": UTF_16.replace("'utf-16'", "'utf-16-le'"),
    rb"(?:\0[^\0]){8}": UTF_16.replace("'utf-16'", "'utf-16-be'"),
    rb"PK\x03\x04.{26}mimetype": f"an OpenDocument file; {WORKBOOK}",
    rb"PK\x03\x04.*(?:\[Content_Types\]|_rels/|xl/)": f"an Excel workbook; {WORKBOOK}",
    rb"\xd0\xcf\x11\xe0": f"an Excel workbook (.xls); {WORKBOOK}",
    rb"PK\x03\x04": "a zip archive; unpack it, and give a file in it",
    rb"PAR1": "a Parquet file; let its name end in .parquet",
    rb"ARROW1": "an Arrow file; let its name end in .arrow",
    rb"pegasos_stats model": "a saved model; give the rows that it is to predict",
    rb"%PDF": "a PDF file; give the table as CSV",
}


def opened(path: str | PathLike[str]) -> IO[bytes]:
    """Open a file for reading, unpacked where its first bytes are gzip's or bzip2's.

    Raises
    ------
    DataError
        If the file is not there, or cannot be read a second time.
    """
    found: IO[bytes]
    name = checked_path(path)
    if name in IN_MEMORY:
        held = IN_MEMORY[name]
        found = io.BytesIO(held)
        packed = [opener for mark, opener in OPENERS.items() if re.match(mark, held)]
        return packed[0](found, "rb") if packed else found  # type: ignore[operator]
    try:
        mode = os.stat(name).st_mode
        if not stat.S_ISREG(mode):
            folder = "is a folder; give the path of a data file"
            other = "is a pipe or a device; write it to a file, and give that"
            what = folder if stat.S_ISDIR(mode) else other
            raise errors.DataError(f"The file {shown_path(name)} {what}.")
        with open(name, "rb") as handle:
            begin = handle.read(10)
        packed = [opener for mark, opener in OPENERS.items() if re.match(mark, begin)]
        found = [*packed, open][0](name, "rb")  # type: ignore[operator]
    except OSError as error:
        raise errors.DataError(unreadable(name, error)) from None
    return found


def unreadable(name: str, error: Exception) -> str:
    """Say in one sentence that a file cannot be read, and why."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        what = "is not there; give the path of a data file"
        folder, base = os.path.split(name)
        with suppress(OSError):
            what += errors.did_you_mean(base, os.listdir(folder or "."))
        return f"The file {shown_path(name)} {what}."
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    reason = " ".join(reason.split()).rstrip(".")
    return f"The file {shown_path(name)} cannot be read: {reason}."


def not_csv(name: str, reason: str) -> errors.DataError:
    """The error for a file that is no table of text."""
    reason = " ".join(reason.split()).rstrip(".")
    return errors.DataError(
        f"The file {shown_path(name)} cannot be read as CSV: {reason}."
    )


def bytes_of_zero(name: str) -> errors.DataError:
    """The error for a file that is no text."""
    return not_csv(name, f"it holds bytes of zero; {NOT_UTF8}")


def most_unpacked(name: str) -> float:
    """Bytes of text that a file may hold, if it is packed: half of the memory."""
    held = IN_MEMORY.get(name)
    size = os.path.getsize(name) if held is None else len(held)
    return max(limit() / 2, size)


def check_size(name: str, size: int, most: float) -> None:
    """Raise `DataError` if a file unpacks to more than can be held in memory."""
    if size > most:
        raise errors.DataError(
            f"The file {shown_path(name)} unpacks to more than {most / 1e9:,.1f} GB, "
            "half of the memory that this process may use; give a smaller one."
        )


@dataclass(frozen=True)
class CsvStyle:
    """What separates the columns of a CSV file, and the decimals of its numbers.

    Attributes
    ----------
    sep, decimal : str
        One character each; ``"tab"`` may stand for a tab.
    encoding : str
        Of the text, by a name that Python knows.
    na_values : tuple of str
        What stands for a missing value, beside an empty cell, NA and the like; one text
        may stand for a tuple.
    keep_na : bool
        Whether NA and the like are values of columns of text.
    thousands : str
        Character between groups of three digits; empty if there is none.
    strip : tuple of str
        Text before or after numbers, such as ``"%"`` or ``"CHF"``, which is dropped.

    Raises
    ------
    OptionError
        If one is not a single character, both are the same, or the encoding has no
        such name.

    Examples
    --------
    >>> CsvStyle(";", ",", na_values="?").na_values
    ('?',)
    """

    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    na_values: tuple[str, ...] = ()
    keep_na: bool = False
    thousands: str = ""
    strip: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("na_values", "strip"):
            texts: str | Sequence[str] = getattr(self, name)
            texts = [texts] if isinstance(texts, str) else texts
            object.__setattr__(self, name, tuple(filter(None, texts)))
        if self.sep in ("tab", r"\t"):
            object.__setattr__(self, "sep", "\t")
        for name, others in (("sep", "\"'"), ("decimal", "\"'"), ("thousands", '"')):
            value = getattr(self, name)
            if len(value) != 1 and (name != "thousands" or value):
                wrong = True
            else:
                wrong = value != "" and (value in f"\r\n{others}" or value.isdigit())
            if wrong:
                raise errors.OptionError(
                    f"{name}={value!r} is not allowed; give a single character, such "
                    "as ';' or ','."
                )
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise errors.OptionError(
                "is no encoding of text; give one such as utf-8, latin-1 or cp1252.",
                "encoding",
                self.encoding,
            ) from None
        if self.sep == self.decimal:
            raise errors.OptionError(
                f"sep and decimal are both {self.sep!r}; give two characters, such as "
                "sep=';' and decimal=','."
            )


COMMAS = CsvStyle()


def read_csv(
    path: str,
    style: CsvStyle = COMMAS,
    kinds: cells.Kinds | None = None,
    id: str | None = None,
) -> pd.DataFrame:
    """Read a CSV file; a first column without a name becomes the row names.

    Other columns without a name are left out.

    Parameters
    ----------
    path : str
    style : CsvStyle
    kinds : mapping of str to str, optional
        What columns hold, ``"numbers"`` or ``"text"``, instead of what they seem to.
    id : str, optional
        A column that is read as it is written.

    Raises
    ------
    DataError
        If the file is not there, or is not a table.
    """
    try:
        file = content(path, style)
        names = _header(path, file, style)
        data = _columns(file, style, names, kinds or {}, id)
    except errors.PegasosStatsError:
        raise
    except UnicodeDecodeError:
        raise not_csv(path, NOT_UTF8) from None
    except pd.errors.EmptyDataError:
        raise not_csv(path, EMPTY) from None
    except (*UNREADABLE, ValueError) as error:
        raise not_csv(path, str(error)) from None
    unnamed = [j for j, name in enumerate(names) if j > 0 and not name]
    data = data.drop(columns=data.columns[unnamed])
    if names[0]:
        return data
    labels = data.pop(data.columns[0])
    whole = cells.as_numbers(labels)
    if whole is not None and whole.astype(str).equals(labels):
        labels = whole
    return data.set_axis(pd.Index(labels.array))


def _columns(
    file: IO[bytes],
    style: CsvStyle,
    names: Sequence[str],
    kinds: cells.Kinds,
    id: str | None,
) -> pd.DataFrame:
    """All columns; read again where pandas may not read them as they are written."""
    texts = [name for name in names if kinds.get(name) == cells.TEXT]
    data = _table(file, style, dtype=dict.fromkeys(texts, str))
    if not isinstance(data.index, pd.RangeIndex):  # of the first fields of long rows
        if not separator_in(data.columns):
            raise ValueError("its rows have more fields than its header")
        return data
    others = [name for name in names if name and name not in (id, *texts)]
    if again := [n for n in others if _is_uncertain(data[n], style, kinds.get(n))]:
        read = cells.cell_reader(style.decimal, style.thousands, style.strip)
        found = _table(file, style, usecols=again, dtype=str)
        numbers = {name: cells.as_numbers(found[name], read) for name in again}
        data = data.assign(**{n: c for n, c in numbers.items() if c is not None})
        data = cells.as_at_fit(data, {n: kinds[n] for n in again if n in kinds}, read)
    for name in [*others, *texts] if style.keep_na else []:
        if cells.is_text(data[name]) and kinds.get(name) != cells.NUMBERS:
            one: dict[str, Any] = {
                "usecols": [name],
                "dtype": str,
                "keep_default_na": False,
            }
            whole = _table(file, style, **one)[name]
            data[name] = whole if whole.count() > data[name].count() else data[name]
    written = [j for j, name in enumerate(names) if name == id or not (name or j)]
    for j in written:
        one = {"usecols": [j], "dtype": str, "na_filter": False}
        data.isetitem(j, _table(file, style, **one).iloc[:, 0].array)
    return data


def _is_uncertain(column: DataColumn, style: CsvStyle, kind: str | None) -> bool:
    """Whether pandas may have read something else than what is written.

    Whole numbers beside empty cells become floats, and those beyond 63 bits anything.
    """
    if column.dtype.kind == "f":
        return column.hasnans and bool((column.dropna() % 1 == 0).all())
    if cells.is_text(column):
        asked = style.thousands or style.strip or style.keep_na or kind
        return bool(asked) or any(type(v) is int or v == "" for v in column.array)
    return column.dtype == np.uint64


def _table(file: IO[bytes], style: CsvStyle, **options: Any) -> pd.DataFrame:
    """The columns of a CSV file as pandas reads them."""
    file.seek(0)
    empty = [""] if options.get("keep_default_na") is False else []
    found: pd.DataFrame = pd.read_csv(
        file,
        sep=style.sep,
        decimal=style.decimal,
        encoding=style.encoding,
        na_values=[*style.na_values, *empty],
        low_memory=False,
        **options,
    )
    return found


def content(path: str, style: CsvStyle) -> io.BytesIO:
    """All that is in a file, unpacked."""
    found, has_zeros = io.BytesIO(), b"\0" in "a".encode(style.encoding)
    with opened(path) as handle:
        most = most_unpacked(path)
        while block := handle.read(BLOCK):
            if not found.tell():
                check_is_text(path, block[:BEGIN], style.encoding)
            found.write(block)
            check_size(path, found.tell(), most)
            if b"\0" in block and not has_zeros:
                raise bytes_of_zero(path)
    found.seek(0)
    return found


def _header(path: str, file: IO[bytes], style: CsvStyle) -> list[str]:
    """Names in the first line of a CSV file.

    Raises
    ------
    ColumnError
        If one is there twice; pandas would rename it.
    """
    line = _table(file, style, header=None, nrows=1, dtype=str, na_filter=False)
    names = [name.removeprefix("\ufeff") for name in line.iloc[0]]
    if doubled := [name for name in names if name and names.count(name) > 1]:
        raise twice(doubled[0], path)
    return names


def check_is_text(
    path: str, begin: bytes, encoding: str = "utf-8", by_block: bool = False
) -> None:
    """Raise `DataError` for a file whose first bytes are those of another format.

    A file that is read `by_block` is in UTF-8.
    """
    for mark, what in FORMATS.items():
        if re.match(mark, begin, re.DOTALL) and b"\0" not in "a".encode(encoding):
            if by_block:
                what = re.sub("read it with.*", "save it as 'CSV UTF-8'", what)
            raise not_csv(path, f"it is {what}")


def twice(name: str, path: str) -> errors.ColumnError:
    """The error for a name that stands for two columns of a file."""
    return errors.ColumnError(
        f"Column {listing([name])} stands more than once in {shown_path(path)}; rename "
        "the columns."
    )


def separator_in(names: "Sequence[object] | pd.Index", own: str = ",") -> str:
    """What separates columns that were read as one; empty if it seems to be `own`.

    Examples
    --------
    >>> separator_in(["y;x1;x2"]), separator_in(["y", "x"])
    (';', '')
    """
    only = str(names[0]) if len(names) == 1 else ""
    return next((mark for mark in SEPARATED if mark in only and mark != own), "")
