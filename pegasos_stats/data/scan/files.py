"""Files as data: paths, formats, and passes over their rows block by block."""

import csv
import glob
import io
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn
from pegasos_stats.data import files as one_file
from pegasos_stats.data.design import Design, unscaled
from pegasos_stats.data.files import (
    BOOLEANS,
    FALSE,
    NUMBERS,
    TEXT,
    TRUE,
    Kinds,
    as_at_fit,
)
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.formula_design import FormulaDesign, kinds_at_fit
from pegasos_stats.data.user_data import FileName
from pegasos_stats.errors import ColumnError, DataError, OptionError, listing, shown
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.other_frames import in_pandas
from pegasos_stats.parallel import n_workers
from pegasos_stats.writing import shown_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.csv import CSVStreamingReader
    from pyarrow.parquet import ParquetFile

    Types = Mapping[str, pa.DataType]  # of columns, where files do not state them

# ------------------------------------------------------------------------- formats

UNKNOWN = "values of unknown type"  # of object columns, and columns without values
ALLOWED = (NUMBERS, TEXT, BOOLEANS, UNKNOWN)
FILE_OF_ARROW = b"ARROW1"  # first bytes of an Arrow file; Arrow streams have others
MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan"]
MISSING += ["1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a"]
MISSING += ["nan", "null"]  # defaults of pandas
SIGN = r"^[ \t]*\+(\d)"  # plus signs, which Arrow does not allow
WHOLE = r"^[ \t]*[+-]?[0-9]+[ \t]*$"
NO_NUMBER = r"(?i)x|^[ \t]*[+-]?nan"  # Arrow reads these as numbers, pandas as text
SEPARATORS = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}
SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz")
MOST_FEATURES = 5000  # of svmlight files, whose rows become dense
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".arrows", ".feather", ".ipc")
FORMATS = {  # by the extensions of files
    **dict.fromkeys(PARQUET, "Parquet"),
    **dict.fromkeys(SEPARATORS, "CSV"),
    **dict.fromkeys(ARROW, "Arrow"),
    **dict.fromkeys(SVMLIGHT, "svmlight"),
}
LONG = "whole numbers that 64 bits do not hold"  # codes: they become text
WIDER = {  # types that a column of CSV may get by further values, by its type; or text
    "null": ("bool", "int64", LONG, "double"),
    "bool": ("bool",),
    "int64": ("int64", LONG, "double"),
    LONG: (LONG, "double"),
    "double": ("double",),
    "string": (),
}
STATED = {NUMBERS: "double", TEXT: "string", BOOLEANS: "bool"}
UNITS = {"B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
UNITS |= {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?I?B)", re.ASCII | re.IGNORECASE)
MEMORY = "1GiB"
CSV_BLOCK = 2**21  # bytes at a time
LEAST_MEMORY = 64 * 2**20  # bytes; with less, blocks would have very few rows
PIECE_SHARE = 32  # 1/32 of the budget is for the rows of a piece
PIECE_ROWS = 2**15  # maximum rows of a piece
MAGIC = "*?["

Result = TypeVar("Result")
Stamp = tuple[int, int, int]
Stamps = dict[str, Stamp]
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def format_of(file: str) -> str:
    """Format of a file by its ending: Parquet, CSV, Arrow or svmlight."""
    return FORMATS[str(ending_of(file))]


def schema_of(file: str, types: "Types") -> "pa.Schema":
    """Schema of a file, with these types if the file does not state them."""
    import pyarrow as pa

    if format_of(file) == "Parquet":
        return parquet_file(file).schema_arrow
    if format_of(file) == "Arrow":
        return arrow_reader(file, None).schema
    names = csv_names(file) if format_of(file) == "CSV" else [*types]
    return pa.schema([(name, types[name]) for name in names])


def batches_of(
    file: str,
    columns: Sequence[str],
    rows: int,
    types: "Types",
) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a file in batches.

    Parquet and svmlight files yield at most `rows` rows at a time, Arrow files their
    record batches, and CSV files blocks of `CSV_BLOCK` bytes.
    """
    names = list(columns)
    if format_of(file) == "Parquet":
        threads = n_workers(None) > 2  # two cores are busy with the rows read before
        reader = parquet_file(file, len(names))
        yield from reader.iter_batches(rows, columns=names, use_threads=threads)
    elif format_of(file) == "Arrow":
        yield from arrow_batches(file, names)
    elif format_of(file) == "CSV":
        yield from csv_batches(file, {name: types[name] for name in names})
    else:
        yield from svmlight_batches(file, names, rows, types)


def arrow_batches(file: str, columns: Sequence[str]) -> "Iterator[pa.RecordBatch]":
    """Yield the record batches of an Arrow file or stream."""
    names = arrow_reader(file, None).schema.names
    reader = arrow_reader(file, [names.index(name) for name in columns])
    if hasattr(reader, "get_batch"):
        yield from map(reader.get_batch, range(reader.num_record_batches))
    else:
        yield from reader


def kind_of(arrow_type: "pa.DataType") -> str:
    """Kind of a column's values: one of `ALLOWED`, or the name of another type."""
    import pyarrow as pa

    types, inner = pa.types, arrow_type
    if types.is_dictionary(arrow_type):
        inner = arrow_type.value_type
    numbers = types.is_integer(inner) or types.is_floating(inner)
    kinds = {
        UNKNOWN: types.is_null(inner),
        BOOLEANS: types.is_boolean(inner),
        NUMBERS: numbers or types.is_decimal(inner),
        TEXT: inner in (pa.string(), pa.large_string(), pa.string_view()),
    }
    return next((kind for kind, is_kind in kinds.items() if is_kind), str(inner))


def parquet_file(file: str, columns: int = 1) -> "ParquetFile":
    """Open a Parquet file; the more `columns`, the smaller the buffer of each."""
    import pyarrow.parquet as parquet

    size = max(2**12, min(2**17, 2**24 // max(1, columns)))  # bytes per column
    return parquet.ParquetFile(file, buffer_size=size, pre_buffer=False)


def arrow_reader(
    file: str, fields: list[int] | None
) -> "pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader":
    """Return a reader of these fields, without a memory map."""
    import pyarrow as pa

    source = pa.OSFile(file)
    is_file = source.read(len(FILE_OF_ARROW)) == FILE_OF_ARROW
    source.seek(0)
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
    return opened(source, options=options)


def csv_names(file: str) -> list[str]:
    """Return the column names in the header of a CSV file, except empty ones."""
    with one_file.opened(file) as handle:
        one_file.check_is_text(file, handle.read(one_file.HEAD_BYTES))
    return [name for name in csv_reader(file, {}).schema.names if name]


def check_quotes(file: str) -> None:
    """Raise ValueError for a quote that is not closed, which Arrow accepts."""
    with one_file.opened(file) as handle:
        text = io.TextIOWrapper(handle, "utf-8")
        usual = csv.field_size_limit(2**31 - 1)
        try:
            deque(csv.reader(text, strict=True), 0)
        except csv.Error as error:
            raise ValueError(f"a quote is opened and never closed ({error})") from None
        finally:
            csv.field_size_limit(usual)
        text.detach()


def csv_batches(file: str, types: "Types") -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a CSV file, with columns of these types."""
    import pyarrow as pa

    if not types:  # to Arrow, no columns means all columns
        return
    whole = {name for name, kind in types.items() if kind == pa.int64()}
    texts = dict.fromkeys(whole, pa.string())
    for batch in csv_reader(file, {**types, **texts}):
        columns = [
            whole_numbers(column) if name in whole else column
            for name, column in zip(types, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=[*types])


def whole_numbers(values: "pa.StringArray") -> "pa.Int64Array":
    """Parse integers, which may have a plus sign, although Arrow does not accept it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.replace_substring_regex(values, SIGN, r"\1")
    return pc.utf8_trim(plain, " \t").cast(pa.int64())


def csv_reader(file: str, types: "Types") -> "CSVStreamingReader":
    """Return a reader of these columns, or of all if `types` is empty."""
    from pyarrow import csv

    return csv.open_csv(
        file,
        csv.ReadOptions(block_size=CSV_BLOCK),
        csv.ParseOptions(
            delimiter=SEPARATORS[str(ending_of(file))], newlines_in_values=True
        ),
        csv.ConvertOptions(
            column_types=dict(types),
            include_columns=list(types),
            null_values=MISSING,
            true_values=TRUE,
            false_values=FALSE,
            strings_can_be_null=True,
        ),
    )


def svmlight_types(files: Sequence[str]) -> "Types":
    """Read svmlight files to find the union of their columns.

    These are ``label``, an integer column if all labels are whole numbers, and ``x1``,
    ``x2`` and so on to the largest index; also ``x0`` if the index 0 occurs.

    Raises
    ------
    DataError
        If a file is not an svmlight file, no file has rows, or there are too many
        features.
    """
    import pyarrow as pa

    largest, first, whole, rows = 0, 1, True, 0
    for file in files:
        for entries in one_file.parsed_blocks(file):
            largest = max(largest, int(entries.indices.max(initial=0)))
            first = min(first, int(entries.indices.min(initial=1)))
            whole = whole and one_file.are_whole(entries.labels)
            rows += len(entries.labels)
    if not rows:
        raise DataError(
            f"The file {shown_path(files[0])} has no rows; use a file with data."
        )
    count = largest + 1 - first
    if count > MOST_FEATURES:
        raise DataError(
            f"The svmlight files have {count:,} features, and rows that are read block "
            f"by block may have at most {MOST_FEATURES:,}; fit sparse rows in memory: "
            "read_svmlight()."
        )
    label = pa.int64() if whole else pa.float64()
    features = range(first, first + count)
    return {one_file.LABEL_NAME: label} | {f"x{j}": pa.float64() for j in features}


def is_feature(name: str) -> bool:
    """Whether a column is a feature of svmlight files, ``x`` and its index.

    Examples
    --------
    >>> [is_feature(name) for name in ("x7", "x0", "x07", "label")]
    [True, True, False, False]
    """
    index = name[1:]
    return name[:1] == "x" and index.isdecimal() and str(int(index)) == index


def svmlight_batches(
    file: str, columns: Sequence[str], rows: int, types: "Types"
) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of an svmlight file, with 0 for absent features."""
    import pyarrow as pa
    from scipy.sparse import csr_array

    wanted = [int(name[1:]) for name in columns if name != one_file.LABEL_NAME]
    for entries in one_file.parsed_blocks(file):
        at, indices, values = one_file.sorted_entries(entries, file)
        places = pd.Index(wanted).get_indexer(pd.Index(indices))
        is_wanted, shape = places >= 0, (len(entries.labels), len(wanted))
        there = at[is_wanted], places[is_wanted]
        matrix = csr_array((values[is_wanted], there), shape=shape)
        labels = pa.array(entries.labels).cast(types[one_file.LABEL_NAME])
        for first in range(0, shape[0], rows):
            X = matrix[first : first + rows].toarray(order="F")
            batch = {one_file.LABEL_NAME: labels.slice(first, rows)}
            batch |= {f"x{j}": pa.array(X[:, k]) for k, j in enumerate(wanted)}
            yield pa.RecordBatch.from_pydict({name: batch[name] for name in columns})


def ending_of(file: str) -> str | None:
    """Ending of a file, by which its format is recognised, or None.

    Examples
    --------
    >>> ending_of("rows/2024.01.CSV.GZ"), ending_of("rows/2024.xlsx")
    ('.csv.gz', None)
    """
    name = file.lower()
    return next((ending for ending in FORMATS if name.endswith(ending)), None)


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Convert exceptions of pyarrow and the system to errors that name the file."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        reason, title = errors.one_line(error, 120), format_of(file)
        text = f"The file {shown_path(file)} cannot be read as {title}"
        if title != "CSV":
            cure = "write it again, or leave it out"
            raise DataError(f"{text} ({reason}); {cure}.") from None
        if re.search("invalid UTF8|codec can't decode", reason):
            # Files that are read block by block cannot have another encoding.
            reason = one_file.NOT_UTF8.partition(", or")[0]
        raise DataError(f"{text}: {reason}.") from None


def of_equal_size(
    batches: "Iterable[pa.RecordBatch]", rows: int
) -> "Iterator[pa.RecordBatch]":
    """Cut and join batches so that all but the last have this number of rows.

    Files may be damaged, so each batch is validated first.

    Raises
    ------
    ArrowInvalid
        If offsets, indices of levels or characters are invalid.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batches = [pa.record_batch({"x": range(n)}) for n in (1, 5, 0, 2)]
    >>> [batch.num_rows for batch in of_equal_size(batches, 3)]
    [3, 3, 2]
    """
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        batch.validate(full=True)
        first = 0
        while batch.num_rows - first >= rows - count:
            waiting.append(batch.slice(first, rows - count))
            first += rows - count
            yield _as_one(waiting)
            waiting, count = [], 0
        if first < batch.num_rows:
            waiting.append(batch.slice(first))
            count += batch.num_rows - first
    if waiting:
        yield _as_one(waiting)


def _as_one(batches: "list[pa.RecordBatch]") -> "pa.RecordBatch":
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches).unify_dictionaries()
    return table.combine_chunks().to_batches()[0]


# --------------------------------------------------------------------------- scans


def stamp_of(file: str) -> Stamp:
    """Size, time of the last change and inode of a file.

    Raises
    ------
    DataError
        If the file does not exist.
    """
    with reading(file):
        status = os.stat(file)
    return status.st_size, status.st_mtime_ns, status.st_ino


def all_files(paths: Paths) -> tuple[str, ...]:
    """Return the files of these paths in the order in which they are read.

    Raises
    ------
    OptionError
        If `paths` contains objects that are not paths, or a file twice.
    DataError
        If no file matches, or a file does not exist.
    """
    items = [paths] if isinstance(paths, str | PathLike) else paths
    good = isinstance(items, Sequence) and all(
        isinstance(path, str | PathLike) for path in items
    )
    if not good or not len(items):
        raise OptionError(
            f"paths={shown(paths)} is not allowed; pass a file, a pattern such as "
            "'folder/*.parquet', or a list of them."
        )
    files = [file for path in items for file in matched(os.fspath(path))]
    if twice := [file for file, times in Counter(files).items() if times > 1]:
        raise OptionError(
            f"paths= names {listing(twice)} more than once; use each file once."
        )
    return tuple(files)


def matched(path: str) -> list[str]:
    """Files of a path, a pattern or a folder, sorted by name."""
    files = [path]
    if is_pattern(path):
        files = sorted(glob.glob(path, recursive=True))
    elif os.path.isdir(path):
        names = [name for name in sorted(os.listdir(path)) if name[0] not in "._"]
        inside = [os.path.join(path, name) for name in names if ending_of(name)]
        files = [file for file in inside if os.path.isfile(file)]
    if not files:
        raise DataError(
            f"No file matches {shown(path)}; use a pattern such as "
            "'folder/*.parquet', or a folder with such files."
        )
    for file in files:
        if not os.path.isfile(file) or ending_of(file) is None:
            raise DataError(
                f"The file {shown_path(file)} does not exist, or its format is not "
                f"supported; pass files that end in {listing(FORMATS, 99)}."
            )
    return files


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern of file names.

    Examples
    --------
    >>> is_pattern("folder/*.parquet"), is_pattern("folder/rows.parquet")
    (True, False)
    """
    return any(sign in path for sign in MAGIC) and not os.path.exists(path)


@dataclass(frozen=True)
class Scan:
    """Rows in files, as data for ``svm`` and ``logit``; returned by `scan`.

    Attributes
    ----------
    files : tuple of str
        In the order in which they are read.
    memory : int
        Budget in bytes.
    stated : tuple of pairs of str
        Names of columns of CSV files, and their types as stated by the user.
    """

    files: tuple[str, ...]
    memory: int
    stated: tuple[tuple[str, str], ...] = ()

    noun, title = "files", "ps.scan()"
    more = "scan(paths, memory=)"  # where to increase the budget
    n_parts, is_ordered = 1, True

    def holds(self, data: object) -> bool:
        """Whether `data` is a scan of the same files."""
        if not isinstance(data, Scan):
            return False
        return self.files == data.files

    @cached_property
    def types(self) -> "dict[str, Types]":
        """Types of the columns of CSV and svmlight files, found by a pass over them.

        The keys are ``"CSV"`` and ``"svmlight"``, if there are files of this format.
        """
        types: dict[str, Types] = {}
        by_format: dict[str, list[str]] = {"CSV": [], "svmlight": []}
        for file in self.files:
            by_format.setdefault(format_of(file), []).append(file)
        if by_format["CSV"] or self.stated:
            types["CSV"] = types_of_csv(by_format["CSV"], dict(self.stated))
        if by_format["svmlight"]:
            types["svmlight"] = svmlight_types(by_format["svmlight"])
        return types

    @property
    def is_svmlight(self) -> bool:
        """Whether all files are svmlight files."""
        return all(format_of(file) == "svmlight" for file in self.files)

    @property
    def n_reads(self) -> int:
        """Passes over the data to determine types: 1 if some type is unknown, else 0.

        Types are unknown in CSV and svmlight files, unless the user stated them.
        """
        stated = {name for name, _ in self.stated}
        return int(any(set(types) - stated for types in self.types.values()))

    def renewed(self) -> Stamps:
        """Return stamps of the files; drop cached types if a file has changed."""
        stamps, cached = {file: stamp_of(file) for file in self.files}, vars(self)
        if cached.get("_stamps", stamps) != stamps:
            for name in ("types", "schemas", "kinds"):
                cached.pop(name, None)
        cached["_stamps"] = stamps
        return stamps

    def types_in(self, file: str) -> "Types":
        """Types of the columns of a CSV or svmlight file; empty for other files."""
        return self.types.get(format_of(file), {})

    @cached_property
    def schemas(self) -> "dict[str, pa.Schema]":
        """Schema of each file.

        Raises
        ------
        DataError
            If a file cannot be read.
        ColumnError
            If a column name occurs twice in a file.
        """
        import pyarrow as pa

        schemas = {}
        for file in self.files:
            types = self.types_in(file)
            with reading(file):
                schema = schema_of(file, types)
            labels = row_labels(schema)
            fields = [field for field in schema if field.name not in labels]
            for name, count in Counter(field.name for field in fields).items():
                if count > 1:
                    raise one_file.twice(name, file)
            schemas[file] = pa.schema(fields)
        return schemas

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Kind of each column, as `kind_of` returns it.

        Raises
        ------
        DataError
            If a file cannot be read.
        ColumnError
            If a column is not of one kind in all files.
        """
        kinds: dict[str, tuple[str, str]] = {}
        for file, schema in self.schemas.items():
            for name, kind in ((field.name, kind_of(field.type)) for field in schema):
                first, where = kinds.setdefault(name, (kind, file))
                if first == UNKNOWN:
                    kinds[name] = kind, file
                elif kind not in (first, UNKNOWN):
                    raise ColumnError(
                        f"Column {name!r} holds {kind} in {file} and {first} in "
                        f"{where}; use one type in all files."
                    )
        return {name: kind for name, (kind, _) in kinds.items()}

    def is_single(self, columns: Iterable[str]) -> bool:
        """Whether all of these columns are of single precision in all files."""
        import pyarrow as pa

        return all(
            schema.field(column).type == pa.float32()
            for schema in self.schemas.values()
            for column in columns
        )

    def check(self, columns: Iterable[str]) -> None:
        """Raise `ColumnError` for a column that is not in every file.

        A feature that an svmlight file does not contain is 0 in all of its rows.
        """
        wanted = list(columns)
        for file, schema in self.schemas.items():
            there = set(schema.names)
            missing = [name for name in wanted if name not in there]
            if ending_of(file) in SVMLIGHT:
                missing = [name for name in missing if not is_feature(name)]
            if missing:
                noun = "Column" if len(missing) == 1 else "Columns"
                raise ColumnError(
                    f"{noun} {listing(missing)} not found in {file}, which has "
                    f"{listing(schema.names, 8)}; use columns that all files have."
                )

    @property
    def first_and_others(self) -> "Iterator[Scan]":
        """Yield the whole scan: files are not divided into a first part and others."""
        yield self

    def map_parts(
        self, call: "Callable[[Scan], Result]", columns: object
    ) -> "list[Result]":
        """Return the result of `call` for each part; all files form one part."""
        return [call(self)]

    def frames(
        self,
        columns: Sequence[str],
        rows: int | None = None,
        kinds: Kinds | None = None,
    ) -> Iterator[pd.DataFrame]:
        """Read all files once, in pieces that are the same in every pass.

        Row labels, which errors report, are row numbers within a file. If there are
        several files, the name of the index is the file. The pieces do not depend on
        the format of the files.

        Parameters
        ----------
        columns : sequence of str
        rows : int, optional
            Number of rows of a piece; by default as many as the memory budget allows.
        kinds : mapping of str to str, optional
            Types to which columns are converted, see `as_at_fit`.

        Raises
        ------
        DataError
            If a file cannot be read to its end.
        """
        import pyarrow as pa

        names, size = list(columns), rows or rows_of_piece(self.memory, len(columns))
        kinds = kinds or {}
        texts = {name: pa.string() for name in kinds if kinds[name] == TEXT}
        for file in self.files:
            types, first = self.types_in(file), 0
            types = {**types, **texts} if format_of(file) == "CSV" else types
            title = FileName(shown_path(file)) if len(self.files) > 1 else None
            with reading(file):
                batches = batches_of(file, names, size, types)
                for piece in of_equal_size(batches, size):
                    labels = pd.RangeIndex(first, first + piece.num_rows, name=title)
                    frame = as_at_fit(frame_of(piece.select(names)), kinds)
                    yield frame.set_axis(labels)
                    first += piece.num_rows

    def map_frames(
        self,
        rule: Callable[[pd.DataFrame], Result],
        design: Design,
        coding: LabelCoding,
        also: Sequence[str],
    ) -> Iterator[Result]:
        """Apply `rule` to each block of rows; parameters as for `scanned_frames`."""
        return map(rule, scanned_frames(self, design, coding, also))

    def predict(
        self,
        rule: Callable[[pd.DataFrame], Any],
        design: Design,
        coding: LabelCoding,
        also: Sequence[str],
    ) -> Any:
        """Join the results of `rule` for all rows, numbered over all files."""
        parts = [*self.map_frames(rule, design, coding, also)]
        return pd.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        first = self.files[0]
        more = len(self.files) - 1
        also = f" and {errors.counted(more, 'more file')}" * bool(more)
        return f"<Scan: {first}{also}, memory {self.memory / 2**30:.3g} GiB>"


def stated_types(types: object) -> tuple[tuple[str, str], ...]:
    """Check the argument ``types=`` of `scan`, and return it as pairs.

    Raises
    ------
    OptionError
        If `types` is not a dictionary of column names and types.

    Examples
    --------
    >>> stated_types({"zip": "text"})
    (('zip', 'text'),)
    """
    if types is None:
        return ()
    if not isinstance(types, Mapping) or not all(
        isinstance(name, str) and kind in [*STATED] for name, kind in types.items()
    ):
        raise OptionError(
            f"types={shown(types)} is not allowed; use a dictionary of columns and "
            f"what they hold, {listing(STATED)}, such as {{'zip': 'text'}}."
        )
    return tuple(types.items())


def types_of_csv(files: Sequence[str], stated: Mapping[str, str]) -> "Types":
    """Return the types of the columns of CSV files, from their values if not stated.

    A column is boolean if all its values in all files are ``True`` or ``False``. If all
    values are whole numbers, they become 64-bit integers, or text if one exceeds 64
    bits. Otherwise they become doubles if all are numbers, else text.

    Raises
    ------
    DataError
        If a file cannot be read to its end.
    ColumnError
        If a stated column is in no file.
    """
    import pyarrow as pa

    kinds: dict[str, str] = {}
    for file in files:
        with reading(file):
            names = csv_names(file)
            kinds = dict.fromkeys(names, "null") | kinds
            wanted = [name for name in dict.fromkeys(names) if name not in stated]
            # If a quote is not closed, the last cell contains the rest of the file.
            last: object = None
            for batch in csv_batches(file, dict.fromkeys(wanted, pa.string())):
                for name, column in zip(wanted, batch.columns, strict=True):
                    kinds[name] = widened(kinds[name], column, file)
                last = batch.columns[-1][-1].as_py() if batch.num_rows else last
            if "\n" in str(last):
                check_quotes(file)
    if unknown := [name for name in stated if name not in kinds]:
        raise ColumnError(
            f"types= names {listing(unknown[:1])}, which is not a column of the CSV "
            f"files; their columns are {listing(kinds, 8)}: check the spelling."
        )
    kinds |= {name: "string" for name, kind in kinds.items() if kind == LONG}
    kinds |= {name: STATED[kind] for name, kind in stated.items()}
    return {name: pa.type_for_alias(kind) for name, kind in kinds.items()}


def widened(kind: str, column: "pa.StringArray", file: str) -> str:
    """Return the narrowest type for the earlier values of a column and further ones.

    Parameters
    ----------
    kind : str
        Type of the earlier values, a key of `WIDER`.
    column : StringArray
        Further values.
    file : str
        Name of the file, for the error.

    Raises
    ------
    DataError
        If a value contains a zero byte.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [widened("null", pa.array(cells), "") for cells in (["7", None], ["7", ".5"])]
    ['int64', 'double']
    >>> widened("int64", pa.array(["True"]), "")
    'string'
    """
    import pyarrow.compute as pc

    values = column.drop_null()
    if not len(values):
        return kind
    if pc.any(pc.match_substring(values, "\0")).as_py():
        raise one_file.bytes_of_zero(file)
    return next((wide for wide in WIDER[kind] if _holds(values, wide)), "string")


def _holds(values: "pa.StringArray", kind: str) -> bool:
    """Whether all texts can be read as values of a type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "bool":
        words = pa.array([*TRUE, *FALSE])
        return bool(pc.all(pc.is_in(values, value_set=words)).as_py())
    if pc.any(pc.match_substring_regex(values, NO_NUMBER)).as_py():
        return False
    if kind == LONG:
        return bool(pc.all(pc.match_substring_regex(values, WHOLE)).as_py())
    try:
        if kind == "int64":
            whole_numbers(values)
        else:
            pc.utf8_trim(values, " \t").cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def rows_of_piece(memory: int, columns: float, share: int = PIECE_SHARE) -> int:
    """Number of rows of a piece, for a memory budget in bytes.

    A value counts as eight bytes. The piece may use 1 / `share` of the budget.
    """
    return max(1, min(PIECE_ROWS, int(memory // share // (8 * max(1, columns)))))


@suggest_arguments
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
        Parquet, CSV (``.csv``, or ``.tsv`` with tabs), Arrow (also Feather) or svmlight
        files (``.svm``, ``.svmlight``, ``.libsvm``), recognised by their extensions.
        CSV and svmlight files may be compressed by gzip. A pattern such as
        ``"folder/*.parquet"`` means the matching files, in the order of their names. A
        folder means the files in it with these extensions. Columns are matched by
        name, and each must have one kind of values in all files (in CSV files it is
        otherwise text, with a warning). The columns of
        svmlight files are ``label`` and ``x1``, ``x2`` and so on by the index of the
        feature, also ``x0`` if the index 0 occurs. One more pass finds the features of
        svmlight files, whose rows become dense; features that do not occur in new files
        are 0. Errors identify a row by its number in the file, counted from 0.
    memory : str or int, default "1GiB"
        Memory for rows: ``"512MiB"``, ``"4GB"``, or a number of bytes. A hinge fit
        stores the rows near its margin in memory: a few percent of all rows with ten
        columns, a third or more with thousands. If these rows do not fit, the fit needs
        more passes. The budget covers rows (eight bytes per text) and ``p x p``
        matrices such as ``X'X``. Libraries and their buffers need some 250 MB in
        addition. A record batch of an Arrow file is read as a whole.
    types : dict, optional
        Types of columns of CSV files, ``"numbers"``, ``"text"`` or ``"booleans"``, as
        in ``{"zip": "text"}``. One more pass finds the types of other columns.

    Returns
    -------
    Scan
        For ``svm(formula, data)`` and ``logit(formula, data)``.

    Raises
    ------
    OptionError
        If an option is not valid.
    DataError
        If no file matches, or a file does not exist.
    DependencyError
        If pyarrow is not installed.

    Examples
    --------
    >>> scan("nosuch/*.parquet")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: No file matches 'nosuch/*.parquet'; use ...
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise errors.DependencyError(
            "scan() reads files with pyarrow, which is not installed; run pip install "
            "'pegasos_stats[files]'."
        ) from None
    return Scan(all_files(paths), bytes_of(memory), stated_types(types))


def row_labels(schema: "pa.Schema") -> list[str]:
    """Names of the columns with row labels, from the metadata that pandas writes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.Table.from_pandas(pd.DataFrame({"x": [1]}, index=pd.Index([7])))
    >>> row_labels(table.schema), row_labels(pa.schema([]))
    (['__index_level_0__'], [])
    """
    try:
        labels = (schema.pandas_metadata or {}).get("index_columns")
    except (ValueError, AttributeError, RecursionError):  # written by other programs
        return []
    if not isinstance(labels, list):
        return []
    return [name for name in labels if isinstance(name, str)]


def bytes_of(memory: object) -> int:
    """Return a memory budget in bytes.

    Raises
    ------
    OptionError
        If `memory` is not a size, or is less than 64 MiB.

    Examples
    --------
    >>> bytes_of("1GiB"), bytes_of("0.5 GB"), bytes_of(2**27)
    (1073741824, 500000000, 134217728)
    """
    size: float = -1.0
    if isinstance(memory, str) and (match := SIZE.fullmatch(memory.strip())):
        size = float(match.group(1)) * UNITS[match.group(2).upper()]
    elif isinstance(memory, int | np.integer) and not isinstance(memory, bool):
        size = float(memory)
    if not LEAST_MEMORY <= size < 2**60:
        raise OptionError(
            "is not allowed; use a budget of 64MiB or more, such as '1GiB', or a "
            "number of bytes.",
            "memory",
            memory,
        )
    return int(size)


def frame_of(piece: "pa.RecordBatch") -> pd.DataFrame:
    """Convert a record batch to a frame.

    Integers remain integers, even if values are missing.
    """
    import pyarrow as pa

    names, own = piece.schema.names, {}
    for name, column in zip(names, piece.columns, strict=True):
        if pa.types.is_decimal(column.type):
            # As doubles, long codes could become equal.
            is_whole = column.type.scale <= 0
            own[name] = in_pandas(column.cast(pa.int64() if is_whole else pa.float64()))
        elif pa.types.is_dictionary(column.type) or (
            pa.types.is_integer(column.type) and column.null_count
        ):
            own[name] = in_pandas(column)
    plain = piece.select([name for name in names if name not in own])
    plain = plain.replace_schema_metadata()
    frame: pd.DataFrame = plain.to_pandas(split_blocks=True)
    if not own:
        return frame
    columns = dict(frame.items()) | own
    return pd.DataFrame({name: columns[name] for name in names}, copy=False)


def joined_frames(parts: list[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Concatenate frames and their row labels; columns as by `joined`."""
    columns = {name: joined([part[name] for part in parts]) for name in names}
    index = parts[0].index.append([part.index for part in parts[1:]])
    return pd.DataFrame(columns, pd.RangeIndex(len(index))).set_axis(index)


def joined(parts: list[DataColumn]) -> DataColumn:
    """Concatenate parts of a column; categories in the order of the first part.

    Categories remain ordered if they are equal in all parts. An empty part affects only
    the type of numbers.

    Raises
    ------
    ColumnError
        If some parts contain numbers and others text.

    Examples
    --------
    >>> one, other = pd.Series(["b", "a"]), pd.Series(["c", "a"])
    >>> joined([one.astype("category"), other.astype("category")]).cat.categories
    Index(['a', 'b', 'c'], dtype='str')
    >>> joined([pd.Series([1, 2]), pd.Series([], dtype=float)]).dtype
    dtype('float64')
    """
    if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
        differ = len({part.dtype for part in parts}) > 1
        union = pd.api.types.union_categoricals(parts, ignore_order=differ)
        return pd.Series(union, name=parts[0].name)
    filled = [part for part in parts if len(part)] or parts[:1]
    numbers = [pd.api.types.is_numeric_dtype(part) for part in filled]
    if len(set(numbers)) > 1 and any(map(pd.api.types.is_string_dtype, filled)):
        raise ColumnError(
            f"Column {listing([parts[0].name])} contains numbers and text; convert it "
            "to one type."
        )
    kinds = [part.dtype for part in parts if isinstance(part.dtype, np.dtype)]
    if len(kinds) == len(parts) and all(kind.kind in "iuf" for kind in kinds):
        filled = [part.astype(np.result_type(*kinds)) for part in filled]
    return pd.concat(filled, ignore_index=True)


def scanned_frames(
    scan: Scan,
    design: Design,
    coding: LabelCoding,
    also: Sequence[str] = (),
    id: str | None = None,
) -> Iterator[pd.DataFrame]:
    """Yield the columns that a model needs and further columns, block by block.

    Rows are numbered from 0 in each file, as in messages. Columns have the same types
    as in the training data.

    Parameters
    ----------
    scan : Scan
    design : Design
    coding : LabelCoding
    also : sequence of str
        Further columns, such as weights.
    id : str, optional
        Column with the names of the rows.

    Raises
    ------
    ColumnError
        If a file lacks a column.
    DataError
        If files change during the pass, or number features from 0 although the training
        files numbered them from 1.
    """
    stamps = scan.renewed()
    inner = unscaled(design)
    variables = inner.variables if isinstance(inner, FormulaDesign) else design.names
    names = [] if id is None else [id]
    used = [*dict.fromkeys([*also, *variables, *names])]
    of_all = str(inner.formula) == f"{one_file.LABEL_NAME} ~ ."
    if of_all and scan.is_svmlight and "x0" in scan.kinds and "x0" not in variables:
        raise DataError(
            "The svmlight files have the index 0, and those of the fit did not; "
            "renumber the features."
        )
    scan.check(used)
    empty = True
    kinds = kinds_at_fit(design, coding) | dict.fromkeys(names, TEXT)
    for frame in scan.frames(used, kinds=kinds):
        empty = False
        yield frame
    if scan.renewed() != stamps:
        raise DataError("The files have changed while they were read; read them again.")
    if empty:
        yield pd.DataFrame({name: np.zeros(0) for name in used})
