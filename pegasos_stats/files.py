"""Data files: opened whatever packed them, or one sentence why not."""

import bz2
import gzip
import re
import zlib
from os import PathLike, fspath
from pathlib import Path
from typing import IO

import pandas as pd

from pegasos_stats.errors import DataError

OPENERS = {rb"\x1f\x8b": gzip.open, rb"BZh\d1AY&SY": bz2.open}
UNREADABLE = (OSError, EOFError, zlib.error)


def opened(path: str | PathLike[str]) -> IO[bytes]:
    """Open a file for reading, unpacked where its first bytes are gzip's or bzip2's.

    Raises
    ------
    DataError
        If the file is not there.
    """
    name = fspath(path)
    if not Path(name).is_file():
        what = "is a folder" if Path(name).is_dir() else "is not there"
        raise DataError(f"The file {name} {what}; give the path of a data file.")
    try:
        with open(name, "rb") as handle:
            begin = handle.read(10)
        packed = [opener for mark, opener in OPENERS.items() if re.match(mark, begin)]
        found: IO[bytes] = [*packed, open][0](name, "rb")  # type: ignore[operator]
    except OSError as error:
        raise DataError(unreadable(name, error)) from None
    return found


def unreadable(name: str, error: Exception) -> str:
    """Say in one sentence that a file cannot be read, and why."""
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return f"The file {name} cannot be read: {reason}."


def read_csv(path: str) -> pd.DataFrame:
    """Read a CSV file; a first column without a name becomes the row names.

    Raises
    ------
    DataError
        If the file is not there, or is not a table.
    """
    try:
        with opened(path) as handle:
            data = pd.read_csv(handle, low_memory=False)
    except DataError:
        raise
    except (*UNREADABLE, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"The file {path} cannot be read as CSV: {reason}.") from None
    if str(data.columns[0]).startswith("Unnamed: 0"):
        return data.set_index(data.columns[0]).rename_axis(None)
    return data
