"""Data files, also compressed ones; an error says in one sentence what is wrong."""

import bz2
import codecs
import csv
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
from typing import IO

import pandas as pd

from pegasos_stats import errors
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

    def __post_init__(self) -> None:
        codes: str | Sequence[str] = self.na_values
        codes = [codes] if isinstance(codes, str) else codes
        object.__setattr__(self, "na_values", tuple(filter(None, codes)))
        if self.sep in ("tab", r"\t"):
            object.__setattr__(self, "sep", "\t")
        for name, value in (("sep", self.sep), ("decimal", self.decimal)):
            if len(value) != 1 or value in "\r\n\"'":
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


def read_csv(path: str, style: CsvStyle = COMMAS) -> pd.DataFrame:
    """Read a CSV file; a first column without a name becomes the row names.

    Other columns without a name are left out.

    Raises
    ------
    DataError
        If the file is not there, or is not a table.
    """
    try:
        data = pd.read_csv(
            content(path, style),
            sep=style.sep,
            decimal=style.decimal,
            encoding=style.encoding,
            na_values=list(style.na_values),
            low_memory=False,
        )
        header = _header(path, style)
        long = not isinstance(data.index, pd.RangeIndex)  # as row names
        if long and not separator_in(data.columns):
            raise ValueError("its rows have more fields than its header")
    except errors.PegasosStatsError:
        raise
    except UnicodeDecodeError:
        raise not_csv(path, NOT_UTF8) from None
    except pd.errors.EmptyDataError:
        raise not_csv(path, EMPTY) from None
    except (*UNREADABLE, ValueError) as error:
        raise not_csv(path, str(error)) from None
    unnamed = [j for j, name in enumerate(header) if j > 0 and not name]
    data = data.drop(columns=data.columns[unnamed])
    if not header[0]:
        return data.set_index(data.columns[0]).rename_axis(None)
    return data


def content(path: str, style: CsvStyle) -> io.BytesIO:
    """All that is in a file, unpacked."""
    found, has_zeros = io.BytesIO(), b"\0" in "a".encode(style.encoding)
    with opened(path) as handle:
        most = most_unpacked(path)
        while block := handle.read(BLOCK):
            found.write(block)
            check_size(path, found.tell(), most)
            if b"\0" in block and not has_zeros:
                raise bytes_of_zero(path)
    found.seek(0)
    return found


def _header(path: str, style: CsvStyle) -> list[str]:
    """Names in the first line of a CSV file.

    Raises
    ------
    ColumnError
        If one is there twice; pandas would rename it.
    """
    with opened(path) as handle:
        text = io.TextIOWrapper(handle, style.encoding, newline="")
        lines = csv.reader(text, delimiter=style.sep)
        names = next((line for line in lines if line), [])
    named = [name.removeprefix("\ufeff") for name in names if name]
    if doubled := [name for name in named if named.count(name) > 1]:
        raise twice(doubled[0], path)
    return names


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
