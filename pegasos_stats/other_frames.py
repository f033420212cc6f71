"""Convert frames of other libraries to pandas, and results back.

Supported are Polars, pyarrow, DuckDB and other libraries that narwhals can read. Public
functions convert their arguments and results by the decorator
`foreign_names.suggest_arguments`, which calls `are_among` and `called`.
"""

from collections.abc import Callable, Iterable
from functools import cache
from inspect import BoundArguments
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

Foreign: TypeAlias = "nw.DataFrame | nw.Series"  # as narwhals returns it

LIBRARIES = {
    *("polars", "pyarrow", "duckdb", "narwhals", "modin", "cudf"),
    *("dask", "ibis", "pyspark", "sqlframe"),
}
N_ITEMS = 3  # longer lists and tuples are not searched for frames and columns
Call = TypeVar("Call", bound=Callable[..., object])
ROWS = ("X", "data", "test")  # arguments in which a single column is a predictor
NULLABLE = {"bool": "boolean"} | {  # nullable pandas types, by the names of arrow types
    f"{sign.lower()}int{bits}": f"{sign}Int{bits}"
    for sign in ("", "U")
    for bits in (8, 16, 32, 64)
}


def are_among(values: Iterable[object]) -> bool:
    """Return whether any argument contains data of another library, or rows in files.

    Examples
    --------
    >>> import polars as pl
    >>> are_among([1, "a", None, pd.Series([1])]), are_among([(pl.Series([1]), 2)])
    (False, True)
    """
    items = (item for value in values for item in _items(value))
    return any(_library(item) or hasattr(type(item), "map_frames") for item in items)


def called(call: Callable[..., object], bound: BoundArguments) -> object:
    """Call a function with frames and columns of other libraries converted to pandas.

    A resulting Series or DataFrame is converted to the library of ``data``. Frames
    without row labels, such as those of Polars, get the labels of the first pandas
    argument with the same number of rows. Without such an argument, their labels are 0,
    1, ....

    Raises
    ------
    DataError
        If an argument is a query that is not computed yet, such as a Polars LazyFrame,
        or is damaged; also for data of Dask in a function that needs them in memory.
    ColumnError
        If a column name occurs twice.
    DependencyError
        If narwhals or pyarrow is not installed.
    """
    arguments = bound.arguments
    data = native = arguments.get("data")
    if is_streamed(data):
        if hasattr(call, "by_block"):
            return call.by_block(**arguments)
        if getattr(call, "takes_streams", False):
            return call(*bound.args, **bound.kwargs)
    if _library(data):
        native = arguments["data"] = _narwhals_frame(data)
    every = [item for value in arguments.values() for item in _items(value)]
    labelled = [v.index for v in every if isinstance(v, pd.Series | pd.DataFrame)]
    for name, value in arguments.items():
        arguments[name] = as_pandas(value, name in ROWS, labelled)
    result = call(*bound.args, **bound.kwargs)
    if not _library(data) or not isinstance(result, pd.Series | pd.DataFrame):
        return result
    back = like(result, native, arguments["data"])
    if _library(data) != "narwhals":
        return back
    import narwhals as nw

    return nw.from_native(back, allow_series=True)


def takes_streams(call: Call) -> Call:
    """Mark a function that accepts files and Dask frames as ``data``."""
    call.takes_streams = True  # type: ignore[attr-defined]
    return call


def is_streamed(value: object) -> bool:
    """Return whether a value is a source of rows in files, or a frame of Dask."""
    return hasattr(type(value), "map_frames") or is_dask(value)


def is_dask(value: object) -> bool:
    """Return whether a value is a frame of Dask."""
    return _library(value) == "dask" and type(value).__name__ == "DataFrame"


def _items(value: object) -> Iterable[object]:
    """Return the value, or the items of a short list or a dictionary of columns."""
    if type(value) in (list, tuple) and len(value) <= N_ITEMS:  # type: ignore[arg-type]
        return value  # type: ignore[return-value]
    return value.values() if type(value) is dict else (value,)


def _library(value: object) -> str:
    """Return the library in `LIBRARIES` that defines the class of a value, or ``""``.

    A class that is derived from a class of the library counts too.
    """
    kind: Any = type(value)
    return _library_of(kind)


@cache
def _library_of(kind: type) -> str:
    names = (str(base.__module__).partition(".")[0] for base in kind.__mro__)
    return next((name for name in names if name in LIBRARIES), "")


def _narwhals_frame(value: object) -> object:
    """Convert a frame or column to narwhals or pandas, or return a value unchanged."""
    kind, library = type(value).__name__, _library(value)
    name = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind} of {library}"
    if library == "dask":
        named = "pegasos_stats.dask.rows(data, columns=)" if kind == "Array" else "data"
        raise errors.DataError(
            f"The data are {name}, whose rows are not in memory; pass data.compute(), "
            f"or call svm or logit with a formula and {named}."
        )
    try:
        import narwhals as nw
        import pyarrow as pa
    except ImportError as error:
        raise errors.DependencyError(
            f"The data are {name}; converting them needs {error.name}, which is not "
            "installed. Run pip install 'pegasos_stats[frames]', or pass a pandas "
            "object."
        ) from None
    native = nw.to_native(value, pass_through=True)
    if isinstance(native, pd.Series | pd.DataFrame):
        return native
    if isinstance(native, pa.RecordBatch):
        native = pa.Table.from_batches([native])
    if isinstance(native, pa.Array):
        native = pa.chunked_array([native])
    if isinstance(native, pa.Table | pa.ChunkedArray):
        try:
            native.validate(full=True)
        except pa.ArrowException as error:  # text that is not UTF-8, wrong offsets
            raise errors.DataError(
                f"The data are {name} that is damaged ({errors.one_line(error, 120)}); "
                "write the file again, or read it with the correct encoding."
            ) from None
    for column in getattr(native, "column_names", ()):
        if native.column_names.count(column) > 1:
            raise errors.ColumnError(
                f"Column {column!r} occurs more than once; rename the columns."
            )
    frame: Any = nw.from_native(native, pass_through=True, allow_series=True)
    if not isinstance(frame, nw.LazyFrame):
        return frame
    if frame.implementation.is_duckdb():
        return nw.from_native(frame.to_native().to_arrow_table())
    own = library in ("polars", "narwhals")
    query = "data" if own else "narwhals.from_native(data)"
    raise errors.DataError(
        f"The data are {name}, a query that has no rows yet; pass its rows: "
        f"{query}.collect(), or ps.scan('*.parquet') for files that exceed memory."
    )


def as_pandas(value: Any, rows: bool, labelled: list[pd.Index]) -> Any:
    """Convert frames and columns of other libraries, also in collections, to pandas.

    A column becomes a Series if it is a predictor. Otherwise it becomes an Index, which
    has a name and a type but no row labels.
    """
    if not _library(value):
        if not any(map(_library, _items(value))):
            return value
        if isinstance(value, dict):
            return {k: as_pandas(item, False, labelled) for k, item in value.items()}
        return type(value)(
            as_pandas(item, rows and place == 1, labelled)  # only X of test=(y, X)
            for place, item in enumerate(value)
        )
    frame = _narwhals_frame(value)
    converted = _in_pandas(frame)
    if _has_labels(frame):
        return converted
    if isinstance(converted, pd.Series) and not rows:
        single = (
            converted.astype(np.float32) if converted.dtype == np.float16 else converted
        )
        return pd.Index(single, tupleize_cols=False)
    if not isinstance(converted, pd.Series | pd.DataFrame):
        return value  # such as an expression of Polars
    index = next((index for index in labelled if len(index) == len(converted)), None)
    return converted if index is None else converted.set_axis(index)


def _has_labels(frame: Foreign) -> bool:
    """Return whether rows have labels, as in pandas, modin and cuDF."""
    made_by = getattr(frame, "implementation", None)
    ours = isinstance(frame, pd.Series | pd.DataFrame)
    return ours or (made_by is not None and made_by.is_pandas_like())


def _in_pandas(frame: Foreign) -> object:
    """Convert a narwhals frame or column to pandas; return other values unchanged."""
    import narwhals as nw

    if isinstance(frame, nw.Series):
        return _column(frame)
    if not isinstance(frame, nw.DataFrame):
        return frame
    if _has_labels(frame):
        return frame.to_pandas()
    columns = dict(enumerate(map(_column, frame.iter_columns())))
    ours = pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))
    return ours.set_axis(pd.Index(frame.columns, tupleize_cols=False), axis=1)


def _column(column: "nw.Series") -> DataColumn:
    """Convert a column to a Series without loss.

    Integers and booleans with missing values are nullable, dates are datetime64. Types
    that pandas lacks, such as lists, are objects.
    """
    import narwhals as nw

    if _has_labels(column):
        return pd.Series(column.to_pandas())
    if column.dtype in (nw.Object, nw.Int128, nw.UInt128):  # arrow lacks these types
        series = pd.Series(column.to_list(), dtype=object)
    else:
        series = in_pandas(column.to_arrow())
    return series.rename(column.name or None)


def in_pandas(array: "pa.Array | pa.ChunkedArray") -> DataColumn:
    """Convert an array of pyarrow to a Series without loss."""
    import pyarrow as pa

    array = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    kind = array.type
    nullable = NULLABLE.get(str(kind)) if array.null_count else None
    types = None if nullable is None else {kind: pandas_dtype(nullable)}.get
    try:
        series = array.to_pandas(date_as_object=False, types_mapper=types)
    except (TypeError, ValueError):  # levels that are duplicate, missing or nested
        if not pa.types.is_dictionary(kind):
            raise
        if pa.types.is_nested(kind.value_type):  # pandas allows no lists as categories
            return pd.Series(array.to_pylist(), dtype=object)
        levels = [v for chunk in array.chunks for v in chunk.dictionary.to_pylist()]
        categories = pd.unique(pd.Series(levels).dropna())
        series = pd.Categorical(array.to_pylist(), categories, ordered=kind.ordered)
    return pd.Series(series)


def like(rows: pd.Series | pd.DataFrame, frame: Foreign, ours: object) -> Any:
    """Convert a pandas result to a frame or column of the library of the data.

    If the first columns of the result equal the data, as in `augment`, the original
    columns replace them, so that their types do not change.

    Parameters
    ----------
    rows : Series or DataFrame
        The result.
    frame : frame of narwhals or pandas
        The data.
    ours : object
        The data in pandas.
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pd.Series | pd.DataFrame):
        return rows
    new = rows.to_frame(rows.name or "") if isinstance(rows, pd.Series) else rows
    n_original = 0
    if isinstance(ours, pd.DataFrame) and not _has_labels(frame):
        width = ours.shape[1]
        n_original = width if new.iloc[:, :width].equals(ours) else 0
    new = new.iloc[:, n_original:]
    names = [str(name) for name in new.columns]
    try:
        table = pa.Table.from_pandas(new.set_axis(names, axis=1), preserve_index=False)
    except (pa.ArrowException, TypeError):
        library = frame.implementation.value
        mixed = sorted({type(v).__name__ for v in new.iloc[:, 0].dropna()})
        raise errors.DataError(
            f"The labels in the result are of the types {', '.join(mixed)}, which "
            f"{library} cannot store in one column; pass a pandas object."
        ) from None
    added = nw.DataFrame.from_arrow(table, backend=frame.implementation)
    if frame.implementation.is_polars():
        added = added.with_columns(
            added[name].cast(nw.Enum(dtype.categories))
            for name, dtype in zip(names, new.dtypes, strict=True)
            if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered
        )
    if isinstance(rows, pd.Series):
        return added[names[0]].to_native()
    whole = nw.concat([frame, added], how="horizontal") if n_original else added
    return whole.to_native()
