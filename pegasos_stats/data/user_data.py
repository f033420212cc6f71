"""Convert users' data to frames and columns of supported types, and to numbers.

Errors name the values that are not numbers, and their rows.
"""

import math
import numbers
import os
import warnings
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any, TypeGuard, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn, Dense, Mask, Predictors, SparseRows
from pegasos_stats.errors import counted, listing, shown
from pegasos_stats.other_frames import in_pandas

LARGEST_WHOLE = 2.0**53  # up to here doubles represent all whole numbers exactly
NULLABLE = {"b": "boolean", "i": "Int64", "u": "UInt64"}  # pandas types, by numpy kind

Data = TypeVar("Data", DataColumn, pd.DataFrame)
LONGEST_TEXT = 10_000  # characters of a name or level


class FileName(str):
    """Name of an index whose labels are the numbers of rows in this file."""


@contextmanager
def convert_errors(error: errors.PegasosStatsError) -> Iterator[None]:
    """Raise `error` in place of any exception of numpy, pandas or a foreign object.

    Reading a foreign object runs its own code, which may raise any exception. Use this
    context around a single conversion. Exceptions of the package and `MemoryError` are
    not converted.

    Examples
    --------
    >>> with convert_errors(errors.DataError("These are no numbers; use numbers.")):
    ...     np.asarray(["a"], dtype=float)
    Traceback (most recent call last):
        ...
    pegasos_stats.errors.DataError: These are no numbers; use numbers.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except (errors.PegasosStatsError, MemoryError):
        raise
    except Exception:
        raise error from None


def is_missing(value: object) -> bool:
    """Whether a single value is None, NaN, NA or NaT.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("a"), is_missing([None])
    (True, True, False, False)
    """
    try:
        single: Any = value
        return value is None or bool(pd.isna(single) is True)
    except Exception:  # such as for Decimal("sNaN")
        return False


def is_valid_text(text: str) -> bool:
    """Whether text can be encoded, and has at most `LONGEST_TEXT` characters."""
    if len(text) > LONGEST_TEXT:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_name(value: object) -> TypeGuard[str]:
    """Whether a value is text that can be used as a name.

    Examples
    --------
    >>> is_name("hinge"), is_name(" "), is_name(1)
    (True, False, False)
    """
    return isinstance(value, str) and bool(value.strip()) and is_valid_text(value)


def named(
    name: str, things: object, kind: Any, cure: str, least: int = 1
) -> dict[str, Any]:
    """Check a mapping of names to objects of a type; else raise `OptionError`.

    Examples
    --------
    >>> named("fits", {"a": 1, "b": 2}, int, "use numbers by name.")
    {'a': 1, 'b': 2}
    """
    if not isinstance(things, Mapping) or len(things) < least:
        raise errors.OptionError(f"is not allowed; {cure}", name, things)
    for key, thing in things.items():
        if not is_name(key):
            raise errors.OptionError(
                f"{name}= has the name {shown(key)}; use text as names."
            )
        if not isinstance(thing, kind):
            raise errors.OptionError(
                f"{shown(key)} is of type {type(thing).__name__}; {cure}"
            )
    return dict(things)


def is_single(value: object) -> bool:
    """Whether a value can be a label: no collection, and equal to itself, unlike NaN.

    Examples
    --------
    >>> is_single("a"), is_single(5), is_single((1, 2)), is_single(float("nan"))
    (True, True, False, False)
    """
    many = isinstance(value, Collection) and not isinstance(value, str | bytes)
    if many or value is None or isinstance(value, np.void):
        return False
    if isinstance(value, str):
        return is_valid_text(value)
    try:
        hash(value)
        return bool(value == value)
    except Exception:  # a foreign object may raise any exception
        return False


def position_of(level: object, levels: Sequence[object]) -> int:
    """Position of the level that a user names; -1 if there is no such level.

    A number matches the level that equals it, whatever their types: 1 also matches
    ``True`` and ``np.float32(1)``. If no level equals a float, it is rounded to single
    precision and compared again, so that 1.1 matches ``np.float32(1.1)``.

    Examples
    --------
    >>> position_of(np.float32(5), [5, 6]), position_of("5", [5, 6])
    (0, -1)
    >>> position_of(1.1, [np.float32(1.1), np.float32(2.2)])
    0
    """
    if not is_single(level):
        return -1
    numbers = np.number | np.bool_  # others, such as dates, are compared as they are
    plain_level, *plain_levels = (
        errors.plain(v) if isinstance(v, numbers) else v for v in (level, *levels)
    )
    if plain_level not in plain_levels and isinstance(plain_level, float):
        with np.errstate(over="ignore"):
            plain_level = float(np.float32(plain_level))
        plain_levels = [one if isinstance(one, float) else None for one in plain_levels]
    return plain_levels.index(plain_level) if plain_level in plain_levels else -1


def to_supported_dtype(data: Data) -> Data:
    """Convert columns to supported types, those of numpy and pandas.

    Numbers get the byte order of the machine, which pandas needs; some file formats
    (FITS, netCDF) use another order. Dictionaries of pyarrow become categories. Other
    data are returned unchanged.

    Parameters
    ----------
    data : Series or DataFrame

    Examples
    --------
    >>> to_supported_dtype(pd.Series(np.array([1, 2], dtype=">i4"))).dtype.isnative
    True
    """
    if isinstance(data, pd.Series):
        dtype = data.dtype
        if _is_known(dtype):
            return data
        if isinstance(dtype, np.dtype):
            return data.astype(dtype.newbyteorder("="))
        array: Any = data.array
        converted = in_pandas(array.__arrow_array__())
        return pd.Series(converted.array, index=data.index, name=data.name)
    if all(map(_is_known, data.dtypes)):
        return data
    columns = [to_supported_dtype(data.iloc[:, j]) for j in range(data.shape[1])]
    return pd.concat(columns, axis=1).set_axis(data.columns, axis=1)


def _is_known(dtype: object) -> bool:
    if isinstance(dtype, pd.ArrowDtype):
        return dtype.type is not pd.CategoricalDtype.type
    return not isinstance(dtype, np.dtype) or dtype.isnative


def as_data(data: object) -> pd.DataFrame:
    """View a frame or a dictionary of columns as a frame.

    Raises
    ------
    DataError
        If `data` is neither.
    """
    if isinstance(data, pd.DataFrame):
        cure = "A column has a name that cannot be compared; use text as its name."
        with convert_errors(errors.ColumnError(cure)):
            [(name == name, repr(name)) for name in data.columns]
        return to_supported_dtype(data)
    if isinstance(data, dict):
        try:
            return to_supported_dtype(pd.DataFrame(data))
        except Exception as error:  # its keys and values may be foreign objects
            raise errors.DataError(
                "data is a dictionary that cannot become a frame "
                f"({errors.one_line(error)}); use columns of equal length."
            ) from None
    if isinstance(data, str | os.PathLike) and "~" not in str(data):
        raise errors.DataError(
            f"data={errors.shown(str(data))} is text, not data; use path= for a file "
            "to write, and pd.read_csv(path) or ps.scan(path) for a file to read."
        )
    if type(data).__name__ == "TextFileReader":  # pd.read_csv(path, chunksize=)
        raise errors.DataError(
            "data is a TextFileReader, which has no rows yet; for chunks of a file "
            "pass ps.scan(path), for all rows pd.concat(data)."
        )
    raise errors.DataError(
        f"data is of type {type(data).__name__}; a formula needs a data frame with "
        "named columns, and the formula comes first: svm('y ~ .', data). Files of "
        "ps.scan() are read by fits, predict(), confusion() and report()."
    )


def check_labels(labels: DataColumn, name: str) -> None:
    """Raise `LabelError` if labels are lists, sets or the like, or invalid text."""
    if labels.dtype.kind in "biufM":
        return
    try:
        values: Iterable[object] = labels.unique()
    except Exception:  # cannot be hashed
        values = labels.array
    for value in values:
        if not (is_single(value) or is_missing(value)):
            raise errors.LabelError(
                f"The labels {shown(name)} hold {shown(value)}, of type "
                f"{type(value).__name__}; use text, numbers, booleans or categories."
            )


def column_of_frame(value: Any) -> Any:
    """Return the column of a single-column frame; other values unchanged.

    The columns of a DuckDB relation are such frames.

    Examples
    --------
    >>> column_of_frame(pd.DataFrame({"w": [1, 2]})).name
    'w'
    """
    single = isinstance(value, pd.DataFrame) and value.shape[1] == 1
    return value.iloc[:, 0] if single else value


def check_aligned(
    name: str, values: Any, index: pd.Index, labelled: bool = True, of: str = "data"
) -> None:
    """Raise `DataError` unless there is one value for each row, in the same order.

    Parameters
    ----------
    name : str
        Name of the values, for messages.
    values : Series, array or list
    index : Index, shape (n,)
        Row labels of the data.
    labelled : bool
        Whether the data have row labels; then the labels of a Series must equal them.
    of : str
        Name of the data, for messages.
    """
    if len(values) != len(index):
        raise errors.DataError(
            f"{name} has {counted(len(values), 'value')} and {of} has "
            f"{counted(len(index), 'row')}; use one value for each row."
        )
    if labelled and isinstance(values, pd.Series) and not values.index.equals(index):
        raise errors.DataError(
            f"The row labels of {name} and {of} differ; align them ({name}.loc"
            f"[{of}.index]) or use {name}.to_numpy() to match by position."
        )


def by_position(values: object, data: object) -> object:
    """A Series for rows without labels, such as an array's, loses its own labels.

    Examples
    --------
    >>> by_position(pd.Series([2, 5], [7, 8]), np.zeros((2, 3))).index.tolist()
    [0, 1]
    """
    if isinstance(values, pd.Series) and not isinstance(data, pd.DataFrame):
        return values.reset_index(drop=True)
    return values


def column_of_labels(labels: Any, name: str = "y") -> DataColumn:
    """View a list, a one-dimensional array or a single column of labels as a Series.

    Raises
    ------
    DataError
        If `labels` is anything else.
    LabelError
        If a value cannot be a label.
    """
    refused = errors.DataError(
        f"{name} is of type {type(labels).__name__}; use a list, an array of one "
        "dimension or one column, with a label for each row."
    )
    with convert_errors(refused):
        labels = column_of_frame(labels)
        if isinstance(labels, np.ndarray) and labels.shape[1:] == (1,):
            labels = labels[:, 0]
        if not isinstance(labels, list | tuple) and getattr(labels, "ndim", 0) != 1:
            raise refused
        try:
            column = pd.Series(labels, copy=False)
        except UnicodeEncodeError:  # text that pandas cannot store as a string
            column = pd.Series(labels, dtype=object)
        column = to_supported_dtype(column)
        if len(column.array) != len(labels):
            raise refused
    check_labels(column, name)
    return column


def limit() -> float:
    """Memory in bytes that this process may use: all memory, or the process's limit.

    Examples
    --------
    >>> limit() > 2**20
    True
    """
    limits = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        limits.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError):
        import resource

        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            allowed, _ = resource.getrlimit(kind)
            if allowed != resource.RLIM_INFINITY:
                limits.append(float(allowed))
    return min(limits)


def check_memory(needed: float, what: str, cure: str) -> None:
    """Raise `DataError` if more memory is needed than available.

    Examples
    --------
    >>> check_memory(1e15, "A table of all pairs", "use fewer rows")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: A table of all pairs needs about 1,000,000.0 GB ...
    """
    if needed > limit():
        gigabytes = f"{needed / 1e9:,.1f}" if needed < 1e27 else f"{needed / 1e9:.1e}"
        raise errors.DataError(
            f"{what} needs about {gigabytes} GB of memory, and this process may "
            f"use {limit() / 1e9:,.1f} GB; {cure}."
        )


def in_the_rows(labels: pd.Index) -> str:
    """Return text such as "in the rows 0, 1".

    Examples
    --------
    >>> in_the_rows(pd.RangeIndex(3)), in_the_rows(pd.Index(["a"]))
    ('in the rows 0, 1, 2', "in row 'a'")
    """
    return f"{'in row' if len(labels) == 1 else 'in the rows'} {rows_listed(labels)}"


def rows_listed(labels: pd.Index) -> str:
    """List the first row labels, and the file if there are several files.

    Examples
    --------
    >>> rows_listed(pd.Index([3, 7], name=FileName("a.csv")))
    '3, 7 of a.csv'
    """
    file = getattr(labels, "name", None)
    return listing(labels) + (f" of {file}" if isinstance(file, FileName) else "")


def check_hashable(name: Hashable, values: Iterable[object]) -> None:
    """Raise `ColumnError` for lists, arrays and the like in a column."""
    if kinds := {type(v).__name__ for v in values if not isinstance(v, Hashable)}:
        raise errors.ColumnError(
            f"Column {listing([name])} holds values of type {min(kinds)}; split it "
            "into columns of single values."
        )


def is_sparse(X: object) -> bool:
    """Whether `X` is a scipy sparse matrix, or a frame with a sparse column."""
    if isinstance(X, pd.DataFrame):
        return any(isinstance(d, pd.SparseDtype) for d in X.dtypes)
    unreadable = errors.DataError(
        f"Data of type {type(X).__name__} cannot be read; use a data frame, an array "
        "or a list."
    )
    with convert_errors(unreadable):
        return hasattr(X, "tocsr")


def is_plain(X: object) -> bool:
    """Whether `X` is a plain numpy array of two dimensions, of numbers or booleans."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub"


def numeric_values(frame: pd.DataFrame | NDArray[np.generic]) -> Dense:
    """Numbers of a frame or a plain array, shape (n, p), missing values as NaN.

    The type is float32 if every column is float32, else float64.

    Raises
    ------
    ColumnError
        If a column contains anything but numbers, booleans and missing values.
    """
    if isinstance(frame, np.ndarray):
        if frame.dtype == np.float32:
            return np.asarray(frame, dtype=np.float32)
        # Wider floats may overflow; infinite values are refused later.
        with np.errstate(over="ignore"):
            return np.asarray(frame, dtype=np.float64)
    if all(isinstance(d, np.dtype) and d.kind in "fiub" for d in frame.dtypes):
        single = bool(len(frame.dtypes)) and all(d == np.float32 for d in frame.dtypes)
        with np.errstate(over="ignore"):
            return frame.to_numpy(dtype=np.float32 if single else np.float64)
    columns = [_numeric_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return np.column_stack(columns)


def _not_in_rows() -> errors.DataError:
    return errors.DataError(
        "The sparse predictors cannot be read as rows; use a scipy sparse matrix "
        "whose indices are within its shape, or a dense array."
    )


def in_rows(X: SparseRows) -> SparseRows:
    """Convert a sparse matrix to a CSR array, after checking all its indices.

    Raises
    ------
    DataError
        If the matrix cannot be converted, or an index is outside its shape.
    """
    from scipy.sparse import coo_array, csr_array

    with convert_errors(_not_in_rows()):
        if getattr(X, "format", None) == "coo" and X.ndim == 2:
            # The constructor checks the indices.
            X = coo_array((X.data, (X.row, X.col)), shape=X.shape)
        elif hasattr(X, "check_format"):
            # The check may replace arrays, which must not change the user's matrix.
            X = type(X)(X)
            X.check_format(full_check=True)
        matrix = csr_array(X)
        matrix.check_format(full_check=True)
    return matrix


def sparse_values(X: "pd.DataFrame | SparseRows") -> SparseRows:
    """Numbers of a sparse matrix, or of a frame with sparse columns, as a CSR array.

    Within each row the column indices are sorted and occur once.

    Raises
    ------
    ColumnError
        If a column contains anything but numbers.
    DataError
        As for `in_rows`.
    """
    from scipy.sparse import csr_array

    with convert_errors(_not_in_rows()):
        matrix = in_rows(_frame_to_csr(X) if isinstance(X, pd.DataFrame) else X)
        if matrix.dtype.kind not in "fiub":
            raise errors.ColumnError(
                f"The sparse matrix is of type {matrix.dtype}; use real numbers."
            )
        if matrix.dtype != np.float32:
            matrix = matrix.astype(np.float64, copy=False)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    if matrix.indptr.dtype != np.int32 and max(matrix.nnz, *matrix.shape) < 2**31:
        indices = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        matrix = csr_array((matrix.data, *indices), shape=matrix.shape)
    return matrix


def plain_column(column: DataColumn) -> DataColumn:
    """Convert a column to a dtype that formulas can use.

    Unused categories are dropped. Nullable columns, and object columns of numbers or of
    booleans, get a numpy dtype; integers and booleans only if no value is missing.
    Text gets the dtype object. Integers become text if one exceeds 64 bits.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    if not isinstance(dtype, np.dtype) or dtype.kind == "O":
        there = column.notna()
        if not there.all():
            return _with_missing(plain_column(column[there]), there)
    if pd.api.types.is_numeric_dtype(column):
        if isinstance(dtype, np.dtype):
            return column
        column = pd.Series(column.to_numpy(), index=column.index)
        # Decimal numbers have the dtype object.
        return plain_column(column) if column.dtype == object else column
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return column
    if pd.api.types.is_string_dtype(column) and not isinstance(dtype, np.dtype):
        return column.astype(object)
    values = list(column) if pd.api.types.is_object_dtype(dtype) else []
    if values and all(isinstance(v, bool | np.bool_) for v in values):
        return column.astype(bool)
    if (
        values
        and all(type(v) is int for v in values)
        and (max(values) > LARGEST_WHOLE or min(values) < -LARGEST_WHOLE)
    ):  # as doubles, long codes could become equal
        is_long = min(values) < -(2**63) or max(values) >= 2**63
        return column.map(str) if is_long else column.astype(np.int64)
    if values and all(_is_number(v) for v in values):
        return column.map(_as_number).astype(np.float64)
    return column


def _with_missing(present: DataColumn, there: "pd.Series[bool]") -> DataColumn:
    """Extend the column of the present values to all rows; other rows are missing."""
    if nullable := NULLABLE.get(present.dtype.kind):
        present = present.astype(nullable)  # type: ignore[call-overload]
    places = np.where(there, np.cumsum(there) - 1, -1)
    values = present.array.take(places, allow_fill=True)
    return pd.Series(values, there.index, name=present.name)


def checked_rows(values: Predictors, columns: pd.Index, index: pd.Index) -> Mask:
    """Mark the rows without missing values; refuse infinite values.

    Parameters
    ----------
    values : array or CSR array, shape (n, p)
    columns : Index, shape (p,)
    index : Index, shape (n,)

    Raises
    ------
    ColumnError
        If a value is infinite. The error names the first such column, and its rows.
    """
    if are_finite(values if isinstance(values, np.ndarray) else values.data):
        return np.ones(len(index), dtype=bool)
    places, column_places = _places(values, np.isinf)
    if column_places.size:
        first = column_places.min()
        rows = in_the_rows(index[np.unique(places[column_places == first])])
        raise errors.ColumnError(
            f"Column {listing([columns[first]])} holds infinite values {rows}; only "
            "finite numbers and missing values are allowed: replace them or drop the "
            "rows."
        )
    complete = np.ones(values.shape[0], dtype=bool)
    complete[_places(values, np.isnan)[0]] = False
    return complete


def are_finite(numbers: Dense) -> bool:
    """Whether all numbers of a block are finite.

    The function uses a sum because it runs in several threads; a dot product would
    start further threads in each of them.

    Examples
    --------
    >>> are_finite(np.array([1e200, -2.0])), are_finite(np.array([1e200, np.nan]))
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a sum may overflow
        return bool(np.isfinite(numbers.sum()) or np.isfinite(numbers).all())


def missing_values(
    values: Predictors, names: Sequence[str]
) -> dict[str, NDArray[np.intp]]:
    """Positions of missing values, by column.

    Parameters
    ----------
    values : array or CSR array, shape (n, p)
    names : sequence of str, length p

    Examples
    --------
    >>> missing_values(np.array([[1.0, np.nan], [2.0, 3.0]]), ["a", "b"])
    {'b': array([0])}
    """
    rows, columns = _places(values, np.isnan)
    return {names[j]: rows[columns == j] for j in np.unique(columns).tolist()}


def columns_of(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return columns of a frame, in the order of `names`.

    If they are adjacent in the frame, they are not copied, and keep its order.

    Examples
    --------
    >>> frame = pd.DataFrame({"y": [1], "a": [2], "b": [3]})
    >>> columns_of(frame, ["b", "a"]).columns.tolist()
    ['a', 'b']
    """
    if names and frame.columns.is_unique:
        at = np.sort(frame.columns.get_indexer(pd.Index(names)))
        first, stop = int(at[0]), int(at[0]) + len(names)
        if first >= 0 and np.array_equal(at, np.arange(first, stop)):
            return frame.iloc[:, first:stop]
    return frame[list(names)]


def selected(values: Predictors, rows: Mask) -> Predictors:
    """Return the selected rows, C-contiguous; copied only if necessary."""
    if isinstance(values, np.ndarray):
        return np.ascontiguousarray(values if rows.all() else values[rows])
    return values if rows.all() else values[rows]


def _places(
    values: Predictors, marked: Callable[[np.ndarray], Mask]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the entries for which `marked` is true."""
    if isinstance(values, np.ndarray):
        rows, columns = np.nonzero(marked(values))
        return rows, columns
    entries = np.flatnonzero(marked(values.data))
    rows = np.searchsorted(values.indptr, entries, side="right") - 1
    return rows, values.indices[entries]


def _frame_to_csr(frame: pd.DataFrame) -> SparseRows:
    """Convert a frame of sparse and possibly dense columns to a sparse matrix."""
    from scipy.sparse import csc_array, hstack

    if all(isinstance(d, pd.SparseDtype) and d.fill_value == 0 for d in frame.dtypes):
        return frame.sparse.to_coo()  # type: ignore[attr-defined]
    parts = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if isinstance(column.dtype, pd.SparseDtype):
            column = column.sparse.to_dense()  # type: ignore[attr-defined]
        parts.append(csc_array(_numeric_column(column)[:, None]))
    return hstack(parts, format="csr")


def _numeric_column(column: DataColumn) -> NDArray[np.float64]:
    """Return a column as float64; errors name values that are not numbers."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)
    if pd.api.types.is_numeric_dtype(column) and column.dtype.kind != "c":
        refused = errors.ColumnError(
            f"Column {listing([column.name])} is of type {column.dtype}, which cannot "
            "be converted to numbers; use numbers or booleans."
        )
        with convert_errors(refused):
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = [_as_number(value) for value in column.array]
    wrong = np.array([value is None for value in values], dtype=bool)
    numbers = np.array([math.nan if v is None else v for v in values], dtype=np.float64)
    if wrong.any() or isinstance(column.dtype, pd.CategoricalDtype):
        wrong = wrong if wrong.any() else ~np.isnan(numbers)
        strange = column[wrong]
        is_text = np.array([isinstance(v, str) for v in strange.array], dtype=bool)
        texts = strange.astype(object).where(is_text)
        words = pd.to_numeric(texts, errors="coerce").isna()
        # If there is other text, do not report text such as "1".
        strange = strange[words] if words.any() else strange
        named = [v if isinstance(v, str) else shown(v) for v in strange.array]
        raise errors.ColumnError(
            f"Column {listing([column.name])} is not numeric: it holds "
            f"{listing(dict.fromkeys(named), 3)} {in_the_rows(strange.index)}; use "
            "numbers, or make it a factor of the model: C(...) in a formula."
        )
    return numbers


def _as_number(value: object) -> float | None:
    """A number or a boolean as a float, a missing value as NaN, others as None.

    Examples
    --------
    >>> _as_number(True), _as_number(None), _as_number("1"), _as_number(-(10**400))
    (1.0, nan, None, -inf)
    """
    if not _is_number(value):
        return math.nan if is_missing(value) else None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except Exception:  # a signaling NaN, or a foreign number
        return None


def floats_of(values: object, refused: errors.PegasosStatsError) -> NDArray[np.float64]:
    """Return the numbers of a list, an array, a Series or a frame, missing ones as NaN.

    Raises
    ------
    PegasosStatsError
        `refused`, if the values are not numbers, but for example text or dates.

    Examples
    --------
    >>> floats_of([1, None, True], errors.DataError("These are no numbers."))
    array([ 1., nan,  1.])
    """
    with convert_errors(refused):
        if isinstance(values, pd.DataFrame):
            return numeric_values(values).astype(np.float64)
        if np.ma.isMaskedArray(values):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        if not isinstance(values, pd.Series | pd.Index):
            values = np.asarray(values)
        if isinstance(values.dtype, pd.CategoricalDtype):
            values = values.astype(values.dtype.categories.dtype)
        flat = values.ravel() if isinstance(values, np.ndarray) else values
        try:
            return _numeric_column(pd.Series(flat)).reshape(values.shape)
        except errors.ColumnError:
            raise refused from None


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value of an object column is a real number or a boolean."""
    return isinstance(value, numbers.Real | Decimal | np.bool_)


def column_of_scores(scores: object) -> DataColumn:
    """View scores, or their signs, as a column of numbers, missing ones as NaN.

    Raises
    ------
    DataError
        If `scores` is not one column of numbers.
    """
    refused = errors.DataError(
        f"Scores of type {type(scores).__name__} are not a column of numbers; use a "
        "Series, an array or a list with one number for each row."
    )
    values = floats_of(scores, refused)
    if values.ndim != 1:
        raise refused
    return pd.Series(values, scores.index if isinstance(scores, pd.Series) else None)
