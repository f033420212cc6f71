"""Files of rows: which they are, and their rows, some at a time."""

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import pandas as pd

from pegasos_stats.data.scan.csv_types import agreed_types, stated_types
from pegasos_stats.data.scan.formats import (
    FORMATS,
    SEPARATORS,
    ending_of,
    format_of,
    of_equal_size,
    unreadable,
)
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
MEMORY = "1GiB"
LEAST = 64 * 2**20  # bytes, below which blocks would be a few rows
SHARE = 32  # of the budget that the rows of a piece may take
MOST_ROWS = 2**15  # of a piece
MAGIC = "*?["
OF_PANDAS = re.compile(r"__index_level_\d+__")  # row labels, no column


@dataclass(frozen=True)
class Scan:
    """Rows in files; made by `scan`, and given to ``svm`` and ``logit`` as data.

    Attributes
    ----------
    files : tuple of str
        In the order in which they are read.
    memory : int
        Budget in bytes.
    stated : tuple of pairs of str
        Columns of CSV files, and what each of them holds.
    """

    files: tuple[str, ...]
    memory: int
    stated: tuple[tuple[str, str], ...] = ()

    noun, title = "files", "ps.scan()"
    more = "scan(paths, memory=)"  # of the budget

    def holds(self, data: object) -> bool:
        """Whether data are the same files."""
        return isinstance(data, Scan) and self.files == data.files

    @cached_property
    def types(self) -> "dict[str, pa.DataType]":
        """Types of the columns of CSV files, for which these are read once."""
        files = [file for file in self.files if ending_of(file) in SEPARATORS]
        return agreed_types(files, dict(self.stated))

    @property
    def n_reads(self) -> int:
        """How often rows had to be read to know their types: 1 for CSV files, else 0.

        Also where some files are of another format, or types of some columns stated.
        """
        return int(bool(set(self.types) - {name for name, _ in self.stated}))

    @cached_property
    def schemas(self) -> "dict[str, pa.Schema]":
        """The columns of each file.

        Raises
        ------
        DataError
            If a file cannot be read.
        ColumnError
            If a name stands for two columns of a file.
        """
        import pyarrow as pa

        found = {}
        for file in self.files:
            types = self.types
            try:
                schema = format_of(file).schema(file, types)
            except Exception as error:  # of pyarrow, and of the system
                raise unreadable(file, error) from None
            fields = [each for each in schema if not OF_PANDAS.fullmatch(each.name)]
            names = [field.name for field in fields]
            if twice := [name for name in names if names.count(name) > 1]:
                raise ColumnError(
                    f"Column {listing(twice[:1])} stands more than once in "
                    f"{shown_path(file)}; rename the columns."
                )
            found[file] = pa.schema(fields)
        return found

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
        for file, schema in self.schemas.items():
            for name, kind in ((each.name, kind_of(each.type)) for each in schema):
                first, where = found.setdefault(name, (kind, file))
                if first == NOTHING:
                    found[name] = kind, file
                elif kind not in (first, NOTHING):
                    raise ColumnError(
                        f"Column {name!r} holds {kind} in {file} and {first} in "
                        f"{where}; give it one type in all files."
                    )
        return {name: kind for name, (kind, _) in found.items()}

    def is_single(self, columns: Iterable[str]) -> bool:
        """Whether all of these columns are of single precision in all files."""
        import pyarrow as pa

        return all(
            schema.field(column).type == pa.float32()
            for schema in self.schemas.values()
            for column in columns
        )

    def check(self, columns: Iterable[str]) -> None:
        """Raise `ColumnError` for a column that is not in every file."""
        wanted = list(columns)
        for file, schema in self.schemas.items():
            if missing := [name for name in wanted if name not in schema.names]:
                noun = "Column" if len(missing) == 1 else "Columns"
                cure = "add what lacks"
                if ending_of(file) in SEPARATORS and missing == wanted:
                    cure = "its first line has to name the columns: write it"
                raise ColumnError(
                    f"{noun} {listing(missing)} not found in {file}, which has "
                    f"{listing(schema.names, 8)}; {cure}, or leave the file out."
                )

    def rows_at_once(self, columns: Sequence[str]) -> int:
        """How many rows of these columns a piece has."""
        return rows_of_piece(self.memory, len(columns))

    def labels(self, first: int, count: int) -> pd.Index:
        """What so many rows that follow each other are called in an error."""
        return pd.RangeIndex(first, first + count)

    def pieces(
        self, columns: Sequence[str], rows: int | None = None
    ) -> Iterator["pa.RecordBatch"]:
        """Read all files once, some rows at a time, the same each time.

        Pieces of the same rows are the same whatever the format of their files.

        Parameters
        ----------
        columns : sequence of str
        rows : int, optional
            How many at a time; as the budget allows, if left out.

        Raises
        ------
        DataError
            If a file cannot be read to its end.
        """
        names, size = list(columns), rows or self.rows_at_once(columns)
        for file in self.files:
            try:
                found = format_of(file).batches(file, names, size, self.types)
                for piece in of_equal_size(found, size):
                    yield piece.select(names)
            except Exception as error:  # of pyarrow, in the middle of a file
                raise unreadable(file, error) from None

    def __repr__(self) -> str:
        first = self.files[0]
        more = len(self.files) - 1
        also = f" and {counted(more, 'more file')}" * bool(more)
        return f"<Scan: {first}{also}, memory {self.memory / 2**30:.3g} GiB>"


def rows_of_piece(memory: int, columns: int) -> int:
    """How many rows a piece has, within a budget of so many bytes for all work."""
    return max(1, min(MOST_ROWS, memory // SHARE // (8 * max(1, columns))))


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


def scan(
    paths: Paths,
    *,
    memory: str | int = MEMORY,
    types: Mapping[str, str] | None = None,
) -> Scan:
    """Declare files as the data of a fit, to be read block by block.

    Parameters
    ----------
    paths : str or path, or a list of them
        Files of Parquet, CSV (also packed by gzip) or Arrow (Feather too), or arrays of
        numpy (``.npy``, whose columns are ``x0``, ``x1`` and so on), recognised by
        their extensions. A pattern such as ``"folder/*.parquet"`` stands for the files
        that it matches, in the order of their names; a folder stands for the files in
        it with such an extension. Columns are found by name, and each must hold one
        kind of values in all files.
    memory : str or int, default "1GiB"
        Memory for rows: ``"512MiB"``, ``"4GB"``, or a number of bytes. A fit keeps the
        rows near its margin, a few percent of all, in memory. A record batch of an
        Arrow file is read as a whole.
    types : dict, optional
        Types of columns of CSV files, ``"numbers"``, ``"text"`` or ``"booleans"``, as
        in ``{"zip": "text"}``. If types are missing, the files are read once more to
        find them.

    Returns
    -------
    Scan
        For ``svm(formula, data)`` and ``logit(formula, data)``.

    Raises
    ------
    OptionError
        If `paths`, `memory` or `types` is not valid.
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
    stated = stated_types(types)
    if stated and not any(ending_of(file) in SEPARATORS for file in found):
        raise OptionError(
            "types= is for CSV files, and there is none among the files; leave it out."
        )
    return Scan(tuple(found), bytes_of(memory), stated)


def matched(path: str) -> list[str]:
    """Files that a path, a pattern or a folder stands for, by name."""
    files = [path]
    if is_pattern(path):
        files = sorted(glob.glob(path, recursive=True))
    elif os.path.isdir(path):
        names = [each for each in sorted(os.listdir(path)) if each[0] not in "._"]
        inside = [os.path.join(path, each) for each in names if ending_of(each)]
        files = [file for file in inside if os.path.isfile(file)]
        if not files:
            raise DataError(
                f"The folder {shown_path(path)} has no file that ends in "
                f"{listing(FORMATS, len(FORMATS))}; give one that has."
            )
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
        if ending_of(file) is None:
            raise DataError(
                f"The file {shown_path(file)} is of no format that is known by its "
                f"name; give files that end in {listing(FORMATS, len(FORMATS))}."
            )
    return files


def is_pattern(path: str) -> bool:
    """Whether a path stands for the files that it matches.

    Examples
    --------
    >>> is_pattern("folder/*.parquet"), is_pattern("folder/rows.parquet")
    (True, False)
    """
    return any(sign in path for sign in MAGIC) and not os.path.exists(path)


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
