"""Frames of other libraries: converted to pandas, results converted back.

Polars, pyarrow, DuckDB and whatever narwhals reads. `suggest_arguments` of
`foreign_names`, which stands at the public doors, asks `are_among` and lets `called`
make the call.
"""

from collections.abc import Callable, Iterable
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

Foreign: TypeAlias = "nw.DataFrame | nw.Series"  # as read

LIBRARIES = {
    *("polars", "pyarrow", "duckdb", "narwhals", "modin", "cudf"),
    *("dask", "ibis", "pyspark", "sqlframe"),
}
MOST = 3  # items of a list that may be columns: labels and rows, groups of two kinds
Call = TypeVar("Call", bound=Callable[..., object])
ROWS = ("X", "data", "test")  # arguments in which a single column is a predictor
NULLABLE = {"bool": "boolean"} | {  # of pandas, by the names of arrow
    f"{sign.lower()}int{bits}": f"{sign}Int{bits}"
    for sign in ("", "U")
    for bits in (8, 16, 32, 64)
}


def are_among(values: Iterable[object]) -> bool:
    """Whether a frame or column of another library is among the arguments of a call.

    Examples
    --------
    >>> import polars as pl
    >>> are_among([1, "a", None, pd.Series([1])]), are_among([(pl.Series([1]), 2)])
    (False, True)
    """
    return any(_is_other(item) for value in values for item in _items(value))


def called(call: Callable[..., object], given: BoundArguments) -> object:
    """Make a call with pandas' own in the place of frames and columns of others.

    Rows that come back, a Series or a DataFrame, are of the kind of ``data``. Frames of
    others have no row labels: they get those of a frame or column of pandas that stands
    beside them, and other columns are matched by position.

    Raises
    ------
    DataError
        For a query that has no rows yet, such as a LazyFrame of polars.
    DependencyError
        If narwhals or pyarrow is not installed.
    """
    arguments = given.arguments
    data = read = arguments.get("data")
    if is_dask(data) and getattr(call, "is_partitioned", False):
        return call(*given.args, **given.kwargs)
    if _is_other(data):
        read = arguments["data"] = _read(data)
    every = [item for value in arguments.values() for item in _items(value)]
    labelled = [v.index for v in every if isinstance(v, pd.Series | pd.DataFrame)]
    for name, value in arguments.items():
        arguments[name] = _ours(value, name in ROWS, labelled)
    found = call(*given.args, **given.kwargs)
    if not _is_other(data) or not isinstance(found, pd.Series | pd.DataFrame):
        return found
    back = _in_kind(found, read, arguments["data"])
    if _library(data) != "narwhals":
        return back
    import narwhals as nw

    return nw.from_native(back, allow_series=True)


def partitioned(call: Call) -> Call:
    """Let a call have frames of Dask as they are, as ``data``."""
    call.is_partitioned = True  # type: ignore[attr-defined]
    return call


def is_dask(value: object) -> bool:
    """Whether a value is a frame of Dask."""
    return _library(value) == "dask" and type(value).__name__ == "DataFrame"


def _items(value: object) -> Iterable[object]:
    """Return the value, or what is in a short list or in a dictionary of columns."""
    if type(value) in (list, tuple) and len(value) <= MOST:  # type: ignore[arg-type]
        return value  # type: ignore[return-value]
    return value.values() if type(value) is dict else (value,)


def _is_other(value: object) -> bool:
    return not LIBRARIES.isdisjoint(map(_library_of, type(value).__mro__))


def _library(value: object) -> str:
    return _library_of(type(value))


def _library_of(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]


def _read(value: object) -> object:
    """Return a frame or column as one of narwhals or pandas; other values as is."""
    kind = type(value).__name__
    name = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind} of {_library(value)}"
    if _library(value) == "dask":
        named = "pegasos_stats.dask.rows(data, columns=)" if kind == "Array" else "data"
        raise errors.DataError(
            f"The data are {name}, which has its rows elsewhere; give the rows, "
            f"data.compute(), or {named} with a formula to svm or logit."
        )
    try:
        import narwhals as nw
        import pyarrow as pa
    except ImportError as error:
        raise errors.DependencyError(
            f"The data are {name}, and {error.name} is not installed, which reads "
            "them; install it by pip install 'pegasos_stats[frames]', or give pandas' "
            "own."
        ) from None
    native = nw.to_native(value, pass_through=True)
    if isinstance(native, pd.Series | pd.DataFrame):
        return native
    if isinstance(native, pa.RecordBatch):
        native = pa.Table.from_batches([native])
    if isinstance(native, pa.Array):
        native = pa.chunked_array([native])
    if isinstance(native, pa.Table | pa.ChunkedArray):
        check_valid(native, "The frame", name)
    for column in getattr(native, "column_names", ()):
        if native.column_names.count(column) > 1:
            raise errors.ColumnError(f"The column {column!r} occurs more than once.")
    found: Any = nw.from_native(native, pass_through=True, allow_series=True)
    if not isinstance(found, nw.LazyFrame):
        return found
    if found.implementation.is_duckdb():
        return nw.from_native(found.to_native().to_arrow_table())
    own = _library(value) in ("polars", "narwhals")
    query = "data" if own else "narwhals.from_native(data)"
    raise errors.DataError(
        f"The data are {name}, a query that has no rows yet; give its rows: "
        f"{query}.collect()."
    )


def check_valid(
    values: "pa.Table | pa.ChunkedArray | pa.Array", what: str, name: object
) -> None:
    """Raise `DataError` for text that is not UTF-8, or places beyond what is there."""
    try:
        values.validate(full=True)
    except Exception as error:  # of pyarrow
        raise errors.DataError(
            f"{what} {errors.shown(name)} is damaged ({errors.one_line(error, 120)}): "
            "not text in UTF-8, for one; write the file again, or read it with the "
            "encoding that it has."
        ) from None


def _ours(value: Any, rows: bool, labelled: list[pd.Index]) -> Any:
    """Return frames and columns of others as pandas' own, also those in a list.

    A column is an Index, which has a name and a type but no row labels; among the
    predictors it is a Series.
    """
    if not _is_other(value):
        if not any(map(_is_other, _items(value))):
            return value
        if isinstance(value, dict):
            return {key: _ours(item, False, labelled) for key, item in value.items()}
        return type(value)(
            _ours(item, rows and place == 1, labelled)  # of test=(y, X)
            for place, item in enumerate(value)
        )
    read = _read(value)
    found = _in_pandas(read)
    if _has_labels(read):
        return found
    if isinstance(found, pd.Series) and not rows:
        single = found.astype(np.float32) if found.dtype == np.float16 else found
        return pd.Index(single, tupleize_cols=False)
    if not isinstance(found, pd.Series | pd.DataFrame):
        return value  # such as an expression
    index = next((index for index in labelled if len(index) == len(found)), None)
    return found if index is None else found.set_axis(index)


def _has_labels(read: Foreign) -> bool:
    """Whether rows have labels: those of pandas, modin and cuDF, also in narwhals."""
    made_by = getattr(read, "implementation", None)
    ours = isinstance(read, pd.Series | pd.DataFrame)
    return ours or (made_by is not None and made_by.is_pandas_like())


def _in_pandas(read: Foreign) -> object:
    """Return a frame or column that was read as pandas' own; other values as is."""
    import narwhals as nw

    if isinstance(read, nw.Series):
        return _column(read)
    if not isinstance(read, nw.DataFrame):
        return read
    if _has_labels(read):
        return read.to_pandas()
    columns = dict(enumerate(map(_column, read.iter_columns())))
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(read)))
    return frame.set_axis(pd.Index(read.columns, tupleize_cols=False), axis=1)


def _column(read: "nw.Series") -> DataColumn:
    """Return a column as a Series of the type that loses nothing.

    Whole numbers and booleans of which some are missing are nullable; dates are
    datetime64; what pandas has no type for, such as lists, are objects.
    """
    import narwhals as nw

    if _has_labels(read):
        return pd.Series(read.to_pandas())
    if read.dtype in (nw.Object, nw.Int128, nw.UInt128):  # arrow has none of them
        found = pd.Series(read.to_list(), dtype=object)
    else:
        found = in_pandas(read.to_arrow())
    return found.rename(read.name or None)


def in_pandas(read: "pa.Array | pa.ChunkedArray") -> DataColumn:
    """Return an array of pyarrow as a Series of the type that loses nothing."""
    import pyarrow as pa

    read = read if isinstance(read, pa.ChunkedArray) else pa.chunked_array([read])
    kind = read.type
    nullable = NULLABLE.get(str(kind)) if read.null_count else None
    types = None if nullable is None else {kind: pandas_dtype(nullable)}.get
    try:
        found = read.to_pandas(date_as_object=False, types_mapper=types)
    except (TypeError, ValueError):  # of levels that occur twice, or are missing
        if not pa.types.is_dictionary(kind):
            raise
        if pa.types.is_nested(kind.value_type):  # no levels: the values as they are
            return pd.Series(read.to_pylist(), dtype=object)
        levels = [v for chunk in read.chunks for v in chunk.dictionary.to_pylist()]
        known = pd.unique(pd.Series(levels).dropna())
        found = pd.Categorical(read.to_pylist(), known, ordered=kind.ordered)
    return pd.Series(found)


def _in_kind(found: pd.Series | pd.DataFrame, read: Foreign, ours: object) -> Any:
    """Return rows as a frame or column of the library that the data came from.

    Columns of the data that are among them, as `augment` has them, are those of the
    data, as they were.
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(read, pd.Series | pd.DataFrame):
        return found
    new = found.to_frame(found.name or "") if isinstance(found, pd.Series) else found
    kept = 0
    if isinstance(ours, pd.DataFrame) and not _has_labels(read):
        width = ours.shape[1]
        kept = width if new.iloc[:, :width].equals(ours) else 0
    new = new.iloc[:, kept:]
    names = [str(name) for name in new.columns]
    try:
        table = pa.Table.from_pandas(new.set_axis(names, axis=1), preserve_index=False)
    except (pa.ArrowException, TypeError):
        library = _library(nw.to_native(read, pass_through=True))
        mixed = sorted({type(v).__name__ for v in new.iloc[:, 0].dropna()})
        raise errors.DataError(
            f"The labels are of the types {', '.join(mixed)}, which a column of "
            f"{library} cannot hold together; give the data as pandas' own."
        ) from None
    added = nw.DataFrame.from_arrow(table, backend=read.implementation)
    if read.implementation.is_polars():
        added = added.with_columns(
            added[name].cast(nw.Enum(dtype.categories))
            for name, dtype in zip(names, new.dtypes, strict=True)
            if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered
        )
    if isinstance(found, pd.Series):
        return added[names[0]].to_native()
    whole = nw.concat([read, added], how="horizontal") if kept else added
    return whole.to_native()
