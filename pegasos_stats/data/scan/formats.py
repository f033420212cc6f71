"""Formats of files of rows: their columns, and their rows, some at a time."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.data.files import (
    EMPTY,
    NOT_UTF8,
    bytes_of_zero,
    uneven_line,
    warn_unnamed,
)
from pegasos_stats.data.svmlight import (
    LABEL_NAME,
    are_whole,
    parsed_blocks,
    sorted_entries,
)
from pegasos_stats.data.user_data import in_known_types
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    PegasosStatsError,
    listing,
    shown,
)
from pegasos_stats.parallel import n_workers
from pegasos_stats.writing import shown_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.csv import CSVStreamingReader
    from pyarrow.parquet import ParquetFile

    Types = Mapping[str, pa.DataType]  # of columns, where files do not state them


NUMBERS, TEXT, BOOLEANS = "numbers", "text", "booleans"

NOTHING = "no value at all"

OBJECTS = "objects"  # of pandas: what they are is known where they are read

ALLOWED = (NUMBERS, TEXT, BOOLEANS, NOTHING, OBJECTS)

BUFFER = 2**17  # bytes of a column of Parquet that are read at a time

BUFFERS = 2**24  # of all columns

FEW_CORES = 2  # which the work on rows keeps busy while the next are read

BLOCK = 2**21  # bytes of a CSV file that are read at a time

FILE_OF_ARROW = b"ARROW1"  # begins one; a stream begins otherwise

MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan"]

MISSING += ["1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a"]

MISSING += ["nan", "null"]  # as pandas has it

UNLIKE = re.compile(r"In CSV column #(\d+):.* CSV conversion error .*value '(.*)'")

OF_CSV = {  # what arrow says of files, and what is wrong with them
    "invalid UTF8|codec can't decode": NOT_UTF8,
    "Empty CSV file": EMPTY,
    "straddling": "a row has more than 2 MB; close the quote that it may begin with",
}

TRUE, FALSE = ["True", "TRUE", "true"], ["False", "FALSE", "false"]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}


SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz")

MOST_FEATURES = 5000  # of rows that are written out with their zeros


class Format(NamedTuple):
    """How files of a format are read.

    Attributes
    ----------
    title : str
    schema : callable
        Of a file, and the types of columns where it does not state them: its columns.
    batches : callable
        Of a file, names of columns, rows that are wanted at a time, and these types:
        the rows, once.
    """

    title: str
    schema: "Callable[[str, Types], pa.Schema]"
    batches: "Callable[[str, Sequence[str], int, Types], Iterator[pa.RecordBatch]]"


def parquet_schema(file: str, types: "Types") -> "pa.Schema":
    """The columns of a Parquet file."""
    return parquet_file(file).schema_arrow


def parquet_batches(
    file: str, columns: Sequence[str], rows: int, types: "Types"
) -> "Iterator[pa.RecordBatch]":
    """The rows of a Parquet file."""
    given = {"columns": list(columns), "use_threads": n_workers(None) > FEW_CORES}
    yield from parquet_file(file, len(columns)).iter_batches(rows, **given)


PARQUET = Format("Parquet", parquet_schema, parquet_batches)


def arrow_schema(file: str, types: "Types") -> "pa.Schema":
    """The columns of a file or stream of Arrow."""
    return arrow_reader(file, None).schema


def arrow_batches(
    file: str, columns: Sequence[str], rows: int, types: "Types"
) -> "Iterator[pa.RecordBatch]":
    """The rows of a file or stream of Arrow, as the batches in it hold them."""
    names = arrow_schema(file, types).names
    reader = arrow_reader(file, [names.index(name) for name in columns])
    if hasattr(reader, "get_batch"):
        yield from map(reader.get_batch, range(reader.num_record_batches))
    else:
        yield from reader


ARROW = Format("Arrow", arrow_schema, arrow_batches)

FORMATS = {".parquet": PARQUET, ".pq": PARQUET}


def kind_of(arrow_type: "pa.DataType") -> str:
    """What a column of files holds: one of `ALLOWED`, or the name of another type."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if types.is_null(arrow_type):
        return NOTHING
    if types.is_boolean(arrow_type):
        return BOOLEANS
    numbers = types.is_integer, types.is_floating, types.is_decimal
    if any(is_kind(arrow_type) for is_kind in numbers):
        return NUMBERS
    texts = types.is_string, types.is_large_string, types.is_string_view
    if any(is_kind(arrow_type) for is_kind in texts):
        return TEXT
    return str(arrow_type)


def kind_of_dtype(dtype: object) -> str:
    """What a column of pandas holds: one of `ALLOWED`, or the name of another type.

    Examples
    --------
    >>> kind_of_dtype(np.dtype(bool)), kind_of_dtype(pd.SparseDtype(float))
    ('booleans', 'numbers')
    >>> kind_of_dtype(np.dtype(complex)), kind_of_dtype(pd.CategoricalDtype())
    ('complex128', 'text')
    """
    empty = in_known_types(pd.Series(dtype=dtype))  # type: ignore[call-overload]
    if isinstance(empty.dtype, pd.CategoricalDtype):
        return TEXT
    if dtype == np.dtype(object):
        return OBJECTS
    if pd.api.types.is_bool_dtype(empty):
        return BOOLEANS
    if pd.api.types.is_numeric_dtype(empty) and empty.dtype.kind != "c":
        return NUMBERS
    return TEXT if pd.api.types.is_string_dtype(empty) else str(dtype)


def parquet_file(file: str, columns: int = 1) -> "ParquetFile":
    """An open Parquet file, of which so many columns share the room of buffers."""
    import pyarrow.parquet as parquet

    size = max(2**12, min(BUFFER, BUFFERS // max(1, columns)))
    return parquet.ParquetFile(file, buffer_size=size, pre_buffer=False)


def arrow_reader(
    file: str, fields: list[int] | None
) -> "pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader":
    """A reader of these fields alone; of a file, not a map of it into memory."""
    import pyarrow as pa

    source = pa.OSFile(file)
    is_file = source.read(len(FILE_OF_ARROW)) == FILE_OF_ARROW
    source.seek(0)
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
    return opened(source, options=options)


def csv_schema(file: str, types: "Types", sep: str) -> "pa.Schema":
    """The columns of a CSV file, of these types."""
    import pyarrow as pa

    return pa.schema([(name, types[name]) for name in csv_names(file, sep)])


def csv_names(file: str, sep: str) -> list[str]:
    """Names in the first line of a CSV file; columns without a name are left out.

    A first one is of row names, of others there is a warning.
    """
    names = csv_header(file, sep)
    if "" in names[1:]:
        warn_unnamed(file, names.index("", 1) + 1)
    return [name for name in names if name]


def csv_header(file: str, sep: str) -> list[str]:
    """What stands in the first line of a CSV file."""
    names: list[str] = _csv(file, sep, {}).schema.names
    return names


def csv_batches(
    file: str, columns: Sequence[str], rows: int, types: "Types", sep: str
) -> "Iterator[pa.RecordBatch]":
    """The rows of a CSV file, columns of these types."""
    import pyarrow as pa

    if not columns:  # none would be all
        return
    whole = {name for name in columns if types[name] == pa.int64()}
    read = {name: pa.string() if name in whole else types[name] for name in columns}
    for batch in _csv(file, sep, read):
        found = {
            name: unsigned(trimmed(column)).cast(pa.int64())
            if name in whole
            else column
            for name, column in zip(columns, batch.columns, strict=True)
        }
        yield pa.RecordBatch.from_arrays([*found.values()], names=[*found])


def trimmed(values: "pa.StringArray") -> "pa.StringArray":
    """Without the blanks around a number, as Arrow and pandas have them."""
    import pyarrow.compute as pc

    return pc.utf8_trim(values, " \t")


def unsigned(values: "pa.StringArray") -> "pa.StringArray":
    """Without a plus in front of a digit, which Arrow takes for no whole number."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(values, r"^\+(\d)", r"\1")


def check_is_text(file: str, values: "pa.StringArray") -> None:
    """Raise `DataError` if text holds bytes of zero."""
    import pyarrow.compute as pc

    text = values.buffers()[2]
    suspect = text is not None and b"\0" in memoryview(text).tobytes()
    if suspect and pc.any(pc.match_substring(values, "\0")).as_py():
        raise bytes_of_zero(file)


def _csv(file: str, sep: str, types: "Types") -> "CSVStreamingReader":
    from pyarrow import csv

    return csv.open_csv(
        file,
        csv.ReadOptions(block_size=BLOCK),
        csv.ParseOptions(delimiter=sep, newlines_in_values=True),
        csv.ConvertOptions(
            column_types=dict(types),
            include_columns=list(types),
            null_values=MISSING,
            true_values=TRUE,
            false_values=FALSE,
            strings_can_be_null=True,
        ),
    )


def svmlight_types(files: Sequence[str], n_features: int | None) -> "Types":
    """Read svmlight files for the columns that they have together.

    These are ``label``, of whole numbers if all labels are, and ``x1``, ``x2`` and so
    on to the largest index; ``x0`` too if there is the index 0.

    Parameters
    ----------
    files : sequence of str
    n_features : int or None
        Columns beyond so many are left out.

    Raises
    ------
    DataError
        If a file is not in the format, none has rows, or there are too many features.
    """
    import pyarrow as pa

    largest, first, whole, rows = 0, 1, True, 0
    for file in files:
        for entries in parsed_blocks(file, kept=False):
            largest = max(largest, int(entries.indices.max(initial=0)))
            first = min(first, int(entries.indices.min(initial=1)))
            whole = whole and are_whole(entries.labels)
            rows += len(entries.labels)
    if files and not rows:
        raise DataError(
            f"The file {shown_path(files[0])} has no rows; give one with data."
        )
    count = largest + 1 - first if n_features is None else n_features
    if count > MOST_FEATURES:
        raise DataError(
            f"The svmlight files have {count:,} features, and rows that are read block "
            f"by block may have {MOST_FEATURES:,}; leave out those beyond, as in "
            f"n_features={MOST_FEATURES}, or fit sparse rows in memory."
        )
    label = pa.int64() if whole else pa.float64()
    features = range(first, first + count)
    return {LABEL_NAME: label} | {f"x{j}": pa.float64() for j in features}


def is_feature(name: str) -> bool:
    """Whether a column is a feature of svmlight files, ``x`` and its index.

    Examples
    --------
    >>> [is_feature(name) for name in ("x7", "x0", "x07", "label")]
    [True, True, False, False]
    """
    index = name[1:]
    return name[:1] == "x" and index.isdecimal() and str(int(index)) == index


def svmlight_schema(file: str, types: "Types") -> "pa.Schema":
    """The columns of a file: those of all files."""
    import pyarrow as pa

    return pa.schema(list(types.items()))


def svmlight_batches(
    file: str, columns: Sequence[str], rows: int, types: "Types"
) -> "Iterator[pa.RecordBatch]":
    """The rows of a file; a feature that a row does not have is 0."""
    import pyarrow as pa
    from scipy.sparse import csr_array

    wanted = [int(name[1:]) for name in columns if name != LABEL_NAME]
    for entries in parsed_blocks(file, kept=False):
        at, indices, values = sorted_entries(entries, file)
        places = pd.Index(wanted).get_indexer(pd.Index(indices))
        known, shape = places >= 0, (len(entries.labels), len(wanted))
        there = at[known], places[known]
        matrix = csr_array((values[known], there), shape=shape)
        labels = pa.array(entries.labels).cast(types[LABEL_NAME])
        for first in range(0, shape[0], rows):
            X = matrix[first : first + rows].toarray(order="F")
            found = {LABEL_NAME: labels.slice(first, rows)}
            found |= {f"x{j}": pa.array(X[:, k]) for k, j in enumerate(wanted)}
            yield pa.RecordBatch.from_pydict({name: found[name] for name in columns})


FORMATS |= {
    ending: Format("CSV", partial(csv_schema, sep=sep), partial(csv_batches, sep=sep))
    for ending, sep in SEPARATORS.items()
}

FORMATS |= {".arrow": ARROW, ".arrows": ARROW, ".feather": ARROW, ".ipc": ARROW}

FORMATS |= dict.fromkeys(
    SVMLIGHT, Format("svmlight", svmlight_schema, svmlight_batches)
)


def ending_of(file: str) -> str | None:
    """The ending that tells the format of a file, if it is one of `FORMATS`.

    Examples
    --------
    >>> ending_of("rows/2024.01.CSV.GZ"), ending_of("rows/2024.xlsx")
    ('.csv.gz', None)
    """
    name = file.lower()
    return next((ending for ending in FORMATS if name.endswith(ending)), None)


def format_of(file: str) -> Format:
    """The format of a file whose ending is one of `FORMATS`."""
    return FORMATS[str(ending_of(file))]


def unreadable(file: str, error: Exception) -> PegasosStatsError:
    """The error for a file that cannot be read."""
    reason, title = " ".join(str(error).split()).rstrip("."), format_of(file).title
    text = f"The file {shown_path(file)} cannot be read as {title}"
    if title != "CSV":
        return DataError(f"{text} ({reason[:120]}); write it again, or leave it out.")
    sep = SEPARATORS[str(ending_of(file))]
    if found := UNLIKE.search(reason):
        name = csv_header(file, sep)[int(found[1])]
        return ColumnError(
            f"Column {listing([name])} holds {shown(found[2])} in {shown_path(file)}, "
            "and types= states another type; mend the file, or state 'text'."
        )
    if "Expected" in reason:
        reason = uneven_line(file, sep) or reason
    known = (why for pattern, why in OF_CSV.items() if re.search(pattern, reason))
    return DataError(f"{text}: {next(known, reason)}.")


def of_equal_size(
    batches: "Iterable[pa.RecordBatch]", rows: int
) -> "Iterator[pa.RecordBatch]":
    """Cut and join batches so that each has so many rows, but for the last.

    Files come from others: places of text, indices of levels and characters of each
    batch are checked before anything looks at them.

    Raises
    ------
    ArrowInvalid
        If some are not valid.

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
