"""Data of users as frames and columns of known types; checks of types and memory."""

import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeGuard, TypeVar

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.errors import (
    DataError,
    LabelError,
    OptionError,
    PegasosStatsError,
    counted,
    one_line,
    plain,
    shown,
)
from pegasos_stats.other_frames import check_valid, in_pandas

GIVE = "give a data frame, an array or a list"

Data = TypeVar("Data", DataColumn, pd.DataFrame)


@contextmanager
def refusing(error: PegasosStatsError) -> Iterator[None]:
    """Raise `error` for any exception of numpy, pandas or a foreign object inside.

    Reading an object runs code of its own, which may raise anything. It goes around a
    single conversion; errors of the package, and memory that runs out, pass.

    Examples
    --------
    >>> with refusing(DataError("These are no numbers; give numbers.")):
    ...     np.asarray(["a"], dtype=float)
    Traceback (most recent call last):
        ...
    pegasos_stats.errors.DataError: These are no numbers; give numbers.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except (PegasosStatsError, MemoryError):
        raise
    except Exception:
        raise error from None


def unreadable(data: object) -> DataError:
    """Make the error for data that neither numpy nor pandas can read."""
    return DataError(f"Data of type {type(data).__name__} cannot be read; {GIVE}.")


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
    except Exception:  # such as of Decimal("sNaN")
        return False


def is_valid_text(text: str) -> bool:
    """Whether text can be written: half of a surrogate pair, for one, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_name(value: object) -> TypeGuard[str]:
    """Whether a value can be the name of one thing among others.

    Examples
    --------
    >>> is_name("hinge"), is_name(" "), is_name(1)
    (True, False, False)
    """
    return isinstance(value, str) and bool(value.strip()) and is_valid_text(value)


def named(
    name: str, things: object, kind: Any, cure: str, least: int = 1
) -> dict[str, Any]:
    """Things of a kind by their names, or `OptionError` with what to give instead.

    Examples
    --------
    >>> named("fits", {"a": 1, "b": 2}, int, "give numbers by name.")
    {'a': 1, 'b': 2}
    """
    if not isinstance(things, Mapping) or len(things) < least:
        raise OptionError(f"is not allowed; {cure}", name, things)
    for key, each in things.items():
        if not is_name(key):
            raise OptionError(f"{name}= has the name {shown(key)}; give text as names.")
        if not isinstance(each, kind):
            raise OptionError(f"{shown(key)} is of type {type(each).__name__}; {cure}")
    return dict(things)


def series_of(values: object) -> DataColumn:
    """Values as a Series; of objects, if pandas cannot hold them as its own types."""
    try:
        return pd.Series(values, copy=False)  # to be read, and at once
    # Half a character where pyarrow holds text; a huge number before pandas 2.3.
    except (UnicodeEncodeError, OverflowError):
        return pd.Series(values, dtype=object)


def is_single(value: object) -> bool:
    """Whether a value can be a label: one thing that is equal to itself.

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
    except Exception:  # code of others
        return False


def position_of(level: object, levels: Sequence[object]) -> int:
    """Position of the level that a user names; -1 if it is not a level.

    A number means the level that equals it, whatever their types: 1 also ``True`` and
    ``np.float32(1)``. Where levels are numbers of single precision, 1.1 means the
    nearest of these, as in comparisons of numpy.

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
    meant, *known = (
        plain(v) if isinstance(v, numbers) else v for v in (level, *levels)
    )
    if meant not in known and isinstance(meant, float):
        with np.errstate(over="ignore"):
            meant = float(np.float32(meant))
        known = [one if isinstance(one, float) else None for one in known]
    return known.index(meant) if meant in known else -1


def in_known_types(data: Data) -> Data:
    """Give columns types that everything here knows: numpy's and pandas' own.

    Numbers are brought into the byte order of the machine, as pandas selects no
    others; files of some instruments (FITS, netCDF) hold the other one. Dictionaries
    of pyarrow become categories. Data that need no change are returned as they are.

    Parameters
    ----------
    data : Series or DataFrame

    Examples
    --------
    >>> in_known_types(pd.Series(np.array([1, 2], dtype=">i4"))).dtype.isnative
    True
    """
    if isinstance(data, pd.Series):
        dtype = data.dtype
        _check_valid(data)
        if _is_known(dtype):
            return data
        if isinstance(dtype, np.dtype):
            return data.astype(dtype.newbyteorder("="))
        array: Any = data.array
        found = in_pandas(array.__arrow_array__())
        return pd.Series(found.array, index=data.index, name=data.name)
    if all(map(_is_known, data.dtypes)):
        for j, dtype in enumerate(data.dtypes):
            if _is_of_arrow(dtype):
                _check_valid(data.iloc[:, j])
        return data
    columns = [in_known_types(data.iloc[:, j]) for j in range(data.shape[1])]
    return pd.concat(columns, axis=1).set_axis(data.columns, axis=1)


def _is_of_arrow(dtype: object) -> bool:
    kept = isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"
    return kept or isinstance(dtype, pd.ArrowDtype)


def _check_valid(column: DataColumn) -> None:
    """Raise `DataError` for text that is not UTF-8, or places beyond what is there."""
    if not _is_of_arrow(column.dtype):
        return
    array: Any = column.array
    check_valid(array.__arrow_array__(), "Column", column.name)


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
    check_is_ours(data)
    if isinstance(data, pd.DataFrame):
        return in_known_types(data)
    if isinstance(data, dict):
        try:
            return in_known_types(pd.DataFrame(data))
        except Exception as error:  # its keys and values may be of others
            raise DataError(
                f"data is a dictionary that makes no frame ({one_line(error)}); give "
                "columns of one length each."
            ) from None
    raise DataError(
        f"data is of type {type(data).__name__}; a formula needs a data frame with "
        "named columns, and the formula comes first: svm('y ~ .', data). Files of "
        "ps.scan() are read by predict() and confusion() alone."
    )


def check_is_ours(data: object) -> None:
    """Raise `DataError` for a frame or a column of another library, such as polars.

    Taken for an array it would lose the names of its columns.

    Parameters
    ----------
    data : any

    Raises
    ------
    DataError
        If it can be turned into pandas' own by its method ``to_pandas``.
    """
    if isinstance(data, pd.Series | pd.DataFrame):
        return
    with refusing(unreadable(data)):
        of_others = hasattr(data, "to_pandas")
    if of_others:
        kind = type(data)
        library = kind.__module__.partition(".")[0]
        raise DataError(
            f"The data are a {kind.__name__} of {library}; give pandas' own: "
            "data.to_pandas()."
        )


def check_labels(labels: DataColumn, name: str) -> None:
    """Raise `LabelError` if labels are lists, sets or the like, or no valid text."""
    values: Iterable[object] = ()
    if isinstance(labels.dtype, pd.CategoricalDtype):
        values = labels.cat.categories
    elif isinstance(labels.dtype, pd.StringDtype):
        values = labels.array.unique()
    elif labels.dtype.kind in "OV":
        values = labels.array
    try:
        different: Iterable[object] = set(values)
    except Exception:  # cannot be hashed
        different = values
    for value in different:
        if not (is_single(value) or is_missing(value)):
            raise LabelError(
                f"The outcome {shown(name)} holds {shown(value)}, of type "
                f"{type(value).__name__}; give text, numbers, booleans or categories."
            )


def column_of_frame(value: Any) -> Any:
    """Return the column of a frame of one; other values as they are.

    A relation of DuckDB has no columns but such frames.

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
    """Raise `DataError` unless values are one for each row, rows in the same order.

    Parameters
    ----------
    name : str
        What they are, for messages.
    values : Series, array or list
    index : Index, shape (n,)
        Row labels of the data.
    labelled : bool
        Whether the data have row labels of their own, which those of a Series equal.
    of : str
        What the data are, for messages.
    """
    if len(values) != len(index):
        raise DataError(
            f"{name} has {counted(len(values), 'value')} and {of} has "
            f"{counted(len(index), 'row')}; give one for each row."
        )
    if labelled and isinstance(values, pd.Series) and not values.index.equals(index):
        raise DataError(
            f"The row labels of {name} and {of} differ; align them ({name}.loc"
            f"[{of}.index]) or give {name}.to_numpy() to match by position."
        )


def column_of_labels(labels: Any, name: str = "y") -> DataColumn:
    """View a list, a one-dimensional array or a single column of labels as a Series.

    Raises
    ------
    DataError
        If it is anything else.
    LabelError
        If a value cannot be a label.
    """
    refused = DataError(
        f"Labels of type {type(labels).__name__} are not in one column; give one."
    )
    check_is_ours(labels)
    with refusing(refused):
        labels = column_of_frame(labels)
        if isinstance(labels, np.ndarray) and labels.shape[1:] == (1,):
            labels = labels[:, 0]
        if not isinstance(labels, list | tuple) and getattr(labels, "ndim", 0) != 1:
            raise refused
        column = in_known_types(series_of(labels))
        if len(column.array) != len(labels):
            raise refused
    check_labels(column, name)
    return column


def limit() -> float:
    """Bytes of memory that this process may use: of the machine, or of its own limit.

    Examples
    --------
    >>> limit() > 2**20
    True
    """
    found = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):  # not every system says
        found.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError):
        import resource

        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            allowed, _ = resource.getrlimit(kind)
            if allowed != resource.RLIM_INFINITY:
                found.append(float(allowed))
    return min(found)


def check_memory(needed: float, what: str, cure: str) -> None:
    """Raise `DataError` if more memory is needed than there is.

    Examples
    --------
    >>> check_memory(1e15, "A table of all pairs", "give fewer rows")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: A table of all pairs takes about 1,000,000.0 GB ...
    """
    if needed > limit():
        gigabytes = f"{needed / 1e9:,.1f}" if needed < 1e27 else f"{needed / 1e9:.1e}"
        raise DataError(
            f"{what} takes about {gigabytes} GB of memory, and this process may "
            f"use {limit() / 1e9:,.1f} GB; {cure}."
        )
