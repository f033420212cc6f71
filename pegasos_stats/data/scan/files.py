"""Files of rows: which they are, and their rows, some at a time."""

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegasos_stats.errors import (
    ColumnError,
    DataError,
    DependencyError,
    OptionError,
    counted,
    listing,
    shown,
)
from pegasos_stats.writing.paths import shown_path

if TYPE_CHECKING:
    import pyarrow as pa

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

UNITS = {"B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
UNITS |= {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?I?B)", re.ASCII | re.IGNORECASE)
LEAST = 64 * 2**20  # bytes, below which blocks would be a few rows
SHARE = 32  # of the budget that the rows of a piece may take
MOST_ROWS = 2**16  # of a piece
BUFFER = 2**20  # bytes of a column that are read at a time
MAGIC = "*?["
OF_PANDAS = re.compile(r"__index_level_\d+__")  # row labels, no column
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
}


@dataclass(frozen=True)
class Scan:
    """Rows in files; made by `scan`, and given to ``svm`` and ``logit`` as data.

    Attributes
    ----------
    files : tuple of str
        In the order in which they are read.
    memory : int
        Budget in bytes.
    """

    files: tuple[str, ...]
    memory: int

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds: numbers, text, booleans, or another type by name.

        Raises
        ------
        DataError
            If a file cannot be read.
        ColumnError
            If a column is not of one kind in all files.
        """
        found: dict[str, tuple[str, str]] = {}
        for file in self.files:
            for name, kind in self._schema(file).items():
                first, where = found.setdefault(name, (kind, file))
                if first == NOTHING:
                    found[name] = kind, file
                elif kind not in (first, NOTHING):
                    raise ColumnError(
                        f"Column {name!r} holds {kind} in {file} and {first} in "
                        f"{where}; give it one type in all files."
                    )
        return {name: kind for name, (kind, _) in found.items()}

    def _schema(self, file: str) -> dict[str, str]:
        schema = opened(file).schema_arrow
        named = [field for field in schema if not OF_PANDAS.fullmatch(field.name)]
        return {field.name: kind_of(field.type) for field in named}

    def is_single(self, columns: Iterable[str]) -> bool:
        """Whether all of these columns are of single precision in all files."""
        import pyarrow as pa

        return all(
            opened(file).schema_arrow.field(column).type == pa.float32()
            for file in self.files
            for column in columns
        )

    def check(self, columns: Iterable[str]) -> None:
        """Raise `ColumnError` for a column that is not in every file."""
        wanted = list(columns)
        for file in self.files:
            there = self._schema(file)
            if missing := [name for name in wanted if name not in there]:
                noun = "Column" if len(missing) == 1 else "Columns"
                raise ColumnError(
                    f"{noun} {listing(missing)} not found in {file}, which has "
                    f"{listing(there, 8)}; add what lacks, or leave the file out."
                )

    def pieces(self, columns: Sequence[str]) -> Iterator["pa.RecordBatch"]:
        """Read all files once, some rows at a time, the same each time.

        Parameters
        ----------
        columns : sequence of str

        Raises
        ------
        DataError
            If a file cannot be read to its end.
        """
        per_row = 8 * max(1, len(columns))
        size = max(1, min(MOST_ROWS, self.memory // SHARE // per_row))
        for file in self.files:
            try:
                yield from opened(file).iter_batches(size, columns=list(columns))
            except DataError:
                raise
            except Exception as error:  # of pyarrow, in the middle of a file
                raise unreadable(file, error) from None

    def __repr__(self) -> str:
        first = self.files[0]
        more = len(self.files) - 1
        also = f" and {counted(more, 'more file')}" * bool(more)
        return f"<Scan: {first}{also}, memory {self.memory / 2**30:.3g} GiB>"


NOTHING = "no value at all"


def kind_of(arrow_type: "pa.DataType") -> str:
    """What a column of this type holds, in words."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if types.is_null(arrow_type):
        return NOTHING
    if types.is_boolean(arrow_type):
        return "booleans"
    numbers = types.is_integer, types.is_floating, types.is_decimal
    if any(is_kind(arrow_type) for is_kind in numbers):
        return "numbers"
    texts = types.is_string, types.is_large_string
    if any(is_kind(arrow_type) for is_kind in texts):
        return "text"
    return str(arrow_type)


def opened(file: str) -> Any:
    """Open a file of Parquet.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    import pyarrow.parquet as parquet

    try:
        return parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
    except Exception as error:  # of pyarrow, and of the system
        raise unreadable(file, error) from None


def unreadable(file: str, error: Exception) -> DataError:
    """The error for a file that cannot be read."""
    reason = " ".join(str(error).split()).rstrip(".")
    return DataError(
        f"The file {shown_path(file)} cannot be read as Parquet ({reason[:120]}); "
        "write it again, or leave it out."
    )


def scan(paths: Paths, *, memory: str | int = "1GiB") -> Scan:
    """Name files whose rows are read block by block, as data for a fit.

    Parameters
    ----------
    paths : str or path, or a list of them
        Parquet files; a pattern such as ``"folder/*.parquet"`` stands for those that it
        matches, in the order of their names. Columns are found by name, and have one
        kind of values in all files.
    memory : str or int, default "1GiB"
        Budget for the rows at hand: ``"512MiB"``, ``"4GB"``, or a number of bytes. A
        fit keeps the rows near its margin, a few percent of all.

    Returns
    -------
    Scan
        For ``svm(formula, data)`` and ``logit(formula, data)``.

    Raises
    ------
    OptionError
        If `paths` or `memory` cannot be read.
    DataError
        If no file matches, or a file is not there.
    DependencyError
        If pyarrow is not installed.

    Examples
    --------
    >>> scan("nosuch/*.parquet")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: No file matches 'nosuch/*.parquet'; give ...
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DependencyError(
            "scan() reads files by pyarrow, which is not installed; install it by "
            "pip install 'pegasos_stats[files]'."
        ) from None
    given = [paths] if isinstance(paths, str | PathLike) else paths
    good = isinstance(given, Sequence) and all(
        isinstance(path, str | PathLike) for path in given
    )
    if not good or not len(given):
        raise OptionError(
            f"paths={shown(paths)} is not allowed; give a file, a pattern such as "
            "'folder/*.parquet', or a list of them."
        )
    found: list[str] = []
    for path in given:
        found += matched(os.fspath(path))
    twice = [file for file in dict.fromkeys(found) if found.count(file) > 1]
    if twice:
        raise OptionError(
            f"paths= names {listing(twice)} more than once; give each file once."
        )
    return Scan(tuple(found), bytes_of(memory))


def matched(path: str) -> list[str]:
    """Files that a path or a pattern stands for, by name."""
    pattern = any(sign in path for sign in MAGIC) and not os.path.exists(path)
    files = sorted(glob.glob(path, recursive=True)) if pattern else [path]
    if not files:
        raise DataError(
            f"No file matches {shown(path)}; give a pattern such as 'folder/*.parquet'."
        )
    for file in files:
        if not os.path.isfile(file):
            raise DataError(
                f"The file {shown_path(file)} is not there; give files, or a pattern "
                "such as 'folder/*.parquet'."
            )
        if Path(file).suffix.lower() not in FORMATS:
            raise DataError(
                f"The file {shown_path(file)} is of no format that is known by its "
                f"name; give files that end in {listing(FORMATS)}."
            )
    return files


def bytes_of(memory: object) -> int:
    """Read a budget.

    Raises
    ------
    OptionError
        If it is none, or less than 64 MiB.

    Examples
    --------
    >>> bytes_of("1GiB"), bytes_of("0.5 GB"), bytes_of(2**27)
    (1073741824, 500000000, 134217728)
    """
    size: float = -1.0
    if isinstance(memory, str) and (found := SIZE.fullmatch(memory.strip())):
        size = float(found.group(1)) * UNITS[found.group(2).upper()]
    elif isinstance(memory, int) and not isinstance(memory, bool):
        size = float(memory)
    if not LEAST <= size < 2**60:
        raise OptionError(
            "is not allowed; give a budget of 64MiB or more, such as '1GiB', or a "
            "number of bytes.",
            "memory",
            memory,
        )
    return int(size)
