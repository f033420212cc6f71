"""Columns as numbers; errors name the values that are not numbers, and their rows."""

import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn, Dense, Mask, Predictors
from pegasos_stats.data.foreign import is_missing, refusing, unreadable
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    PegasosStatsError,
    counted,
    listing,
    shown,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SMALLEST = 2.220446049250313e-16  # .Machine$double.eps

PIECE = ContextVar("PIECE", default=False)  # whether a piece of all rows is looked at


class FileName(str):
    """Name of an index whose labels are the numbers of rows in this file."""


def r_round(x: float, digits: int) -> float:
    """Round to a number of decimals, as R does since 4.0.

    Of the two neighbours with so many decimals the nearer one as a double; halfway the
    one whose last digit is even.

    Examples
    --------
    >>> r_round(0.15, 1), r_round(2.675, 2), r_round(-0.5, 0)
    (0.1, 2.67, -0.0)
    """
    if not math.isfinite(x):
        return x
    scale = 10.0**digits
    below = math.floor(x * scale)
    low, high = below / scale, math.ceil(x * scale) / scale
    nearer = (high - x) - (x - low)
    found = low if nearer > 0 or (nearer == 0 and below % 2 == 0) else high
    return math.copysign(found, x)


def r_format(values: Sequence[float], digits: int) -> list[str]:
    """Write numbers to one common precision and width, as ``format(x, digits)``.

    The precision is the smallest with which every number has at least `digits`
    significant ones, trailing zeros aside; NaN is written NA.

    Examples
    --------
    >>> r_format([0.95, 0.97333333, 1.0, float("nan")], 4)
    ['0.9500', '0.9733', '1.0000', '    NA']
    >>> r_format([1.25e-12], 4)
    ['1.25e-12']
    """
    finite = [x for x in values if math.isfinite(x)]
    parts = [_significant(x, digits) for x in finite]
    decimals = max((max(0, n - power - 1) for n, power in parts), default=0)
    mantissa = max((n - 1 for n, _ in parts), default=0)
    fixed, scientific = (
        [f"{x:.{places}{style}}" for x in finite]
        for places, style in ((decimals, "f"), (mantissa, "e"))
    )
    shorter = _width(fixed) <= _width(scientific)
    written = iter(fixed if shorter else scientific)
    special = {math.inf: "Inf", -math.inf: "-Inf"}
    texts = [
        next(written) if math.isfinite(x) else special.get(x, "NA") for x in values
    ]
    return [text.rjust(_width(texts)) for text in texts]


def r_number(x: float) -> str:
    """Write one number with up to 15 digits, as ``paste(x)``.

    Examples
    --------
    >>> r_number(0.5), r_number(1.0), r_number(1e-4)
    ('0.5', '1', '1e-04')
    """
    return r_format([x], 15)[0]


def format_pval(values: Sequence[float], digits: int) -> list[str]:
    """Write p-values together, as ``format.pval``.

    Examples
    --------
    >>> format_pval([1e-140, 0.2109], 4), format_pval([0.0, 0.0], 4)
    (['<2e-16', '0.2109'], ['< 2.2e-16', '< 2.2e-16'])
    """
    shown = [p for p in values if p >= SMALLEST]
    fixed = [p for p in shown if p >= 1e-4]
    tiny = [p for p in shown if p < 1e-4]
    texts = dict(zip(fixed, r_format(fixed, digits), strict=True))
    texts |= dict(zip(tiny, r_format(tiny, digits), strict=True))
    below = _below(list(texts.values()), max(1, digits - 2))
    return ["NA" if p != p else texts.get(p, below) for p in values]


def _below(others: Sequence[str], digits: int) -> str:
    """Write a p-value below `SMALLEST`, such as ``<2e-16``, to fit in with `others`."""
    width = _width(others)
    if others and digits > 1 and digits + 6 > width:
        digits = max(1, width - 7)
    apart = "" if digits == 1 and width <= 6 else " "
    return f"<{apart}{r_format([SMALLEST], digits)[0]}"


def _significant(x: float, digits: int) -> tuple[int, int]:
    """Significant digits without trailing zeros, and the power of ten."""
    mantissa, power = f"{x:.{digits - 1}e}".split("e")
    return max(1, len(mantissa.strip("-").replace(".", "").rstrip("0"))), int(power)


def _width(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0)


@contextmanager
def in_a_piece() -> Iterator[None]:
    """What is counted inside is counted in a piece of all rows."""
    token = PIECE.set(True)
    try:
        yield
    finally:
        PIECE.reset(token)


def in_the_rows(labels: pd.Index) -> str:
    """Write how many rows these are, and which.

    Parameters
    ----------
    labels : Index

    Examples
    --------
    >>> in_the_rows(pd.RangeIndex(3))
    'in 3 rows (0, 1, 2)'
    >>> with in_a_piece():
    ...     in_the_rows(pd.Index(["a"]))
    "in at least 1 row ('a')"
    """
    least = "at least " if PIECE.get() else ""
    return f"in {least}{counted(len(labels), 'row')} ({rows_listed(labels)})"


def rows_listed(labels: pd.Index) -> str:
    """Write the first few labels of rows; of those in one of several files, with it.

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
        raise ColumnError(
            f"Column {listing([name])} holds values of type {min(kinds)}; split it."
        )


def is_sparse(X: object) -> bool:
    """Whether `X` is a scipy sparse matrix, or a frame with a sparse column."""
    if isinstance(X, pd.DataFrame):
        return any(isinstance(d, pd.SparseDtype) for d in X.dtypes)
    with refusing(unreadable(X)):
        return hasattr(X, "tocsr")


def is_plain(X: object) -> bool:
    """Whether `X` is a plain numpy array of two dimensions, of numbers or booleans."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub"


def numeric_values(frame: pd.DataFrame | NDArray[np.generic]) -> Dense:
    """Numbers of a frame or a plain array, shape (n, p), missing values as NaN.

    float32 if every column is, else float64.

    Raises
    ------
    ColumnError
        If a column holds anything but numbers, booleans and missing values.
    """
    if isinstance(frame, np.ndarray):
        if frame.dtype == np.float32:
            return np.asarray(frame, dtype=np.float32)
        with np.errstate(over="ignore"):  # of wider floats; infinity is refused later
            return np.asarray(frame, dtype=np.float64)
    if all(isinstance(d, np.dtype) and d.kind in "fiub" for d in frame.dtypes):
        single = bool(len(frame.dtypes)) and all(d == np.float32 for d in frame.dtypes)
        with np.errstate(over="ignore"):
            return frame.to_numpy(dtype=np.float32 if single else np.float64)
    columns = [_numeric_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return np.column_stack(columns)


def _not_in_rows() -> DataError:
    return DataError(
        "The sparse predictors cannot be read as rows; give a scipy sparse matrix "
        "whose indices are within its shape, or a dense array."
    )


def in_rows(X: "csr_array") -> "csr_array":
    """A sparse matrix as a CSR array; no index is followed that is not in its shape.

    Raises
    ------
    DataError
        If one is not.
    """
    from scipy.sparse import coo_array, csr_array

    with refusing(_not_in_rows()):
        if getattr(X, "format", None) == "coo" and X.ndim == 2:
            X = coo_array((X.data, (X.row, X.col)), shape=X.shape)  # looks at them
        elif hasattr(X, "check_format"):
            X = type(X)(X)  # of the same arrays; the check may set others
            X.check_format(full_check=True)
        found = csr_array(X)
        found.check_format(full_check=True)
    return found


def sparse_values(X: "pd.DataFrame | csr_array") -> "csr_array":
    """Numbers of a sparse matrix, or of a frame with sparse columns, as a CSR array.

    Columns are sorted within each row and occur once.

    Raises
    ------
    ColumnError
        If a column holds anything but numbers.
    """
    from scipy.sparse import csr_array

    with refusing(_not_in_rows()):
        X = _frame_to_csr(X) if isinstance(X, pd.DataFrame) else X
    matrix = in_rows(X)
    if matrix.dtype.kind not in "fiub":
        raise ColumnError(
            f"The sparse matrix is of type {matrix.dtype}; give real numbers."
        )
    with refusing(_not_in_rows()):
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
    """Give a column one of the dtypes that formulas can use.

    Unused categories are dropped; nullable numbers, and numbers and booleans that
    stand in an object column, become numpy's where no value is missing; text becomes
    object.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    if not isinstance(dtype, np.dtype) or dtype.kind == "O":
        there = column.notna()
        if not there.all():
            return _with_missing(plain_column(column[there]), column.index)
    if pd.api.types.is_numeric_dtype(column):
        if isinstance(dtype, np.dtype):
            return column
        column = pd.Series(column.to_numpy(), index=column.index)
        return plain_column(column) if column.dtype == object else column  # decimals
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return column
    if pd.api.types.is_string_dtype(column) and not isinstance(dtype, np.dtype):
        return column.astype(object)
    values = list(column) if pd.api.types.is_object_dtype(dtype) else []
    if values and all(isinstance(v, bool | np.bool_) for v in values):
        return column.astype(bool)
    if values and all(_is_number(v) for v in values):
        with np.errstate(over="ignore"):  # of wider floats; infinity is refused later
            return column.astype(np.float64)
    return column


def _with_missing(present: DataColumn, index: pd.Index) -> DataColumn:
    """A plain column on all rows, missing in those that it lacks."""
    kind = present.dtype.kind
    if present.dtype == np.uint64:
        return present.astype(np.float64).reindex(index)
    if kind == "b":
        return present.astype("boolean").reindex(index)
    return (present.astype("Int64") if kind in "iu" else present).reindex(index)


def checked_rows(values: Predictors, columns: pd.Index, index: pd.Index) -> Mask:
    """Return which rows have no missing value; refuse infinite values.

    Parameters
    ----------
    values : array or CSR array, shape (n, p)
    columns : Index, shape (p,)
    index : Index, shape (n,)

    Raises
    ------
    ColumnError
        Naming the first column with infinite values, and its rows.
    """
    numbers = values if isinstance(values, np.ndarray) else values.data
    with np.errstate(over="ignore", invalid="ignore"):  # a sum shows either in one pass
        if np.isfinite(_some_sum(numbers)):
            return np.ones(len(index), dtype=bool)
    check_finite(values, columns, index)
    kept = np.ones(values.shape[0], dtype=bool)
    kept[_places(values, np.isnan)[0]] = False
    return kept


def are_finite(numbers: Dense) -> bool:
    """Whether all numbers of a block are finite.

    Threads ask it of their blocks: a dot would start threads of its own.

    Examples
    --------
    >>> are_finite(np.array([1e200, -2.0])), are_finite(np.array([1e200, np.nan]))
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a sum may overflow
        return bool(np.isfinite(numbers.sum()) or np.isfinite(numbers).all())


def _some_sum(numbers: Dense) -> float:
    """A sum to which each number adds; that of squares takes half the time, as a dot.

    It may overflow.
    """
    if numbers.flags.c_contiguous:
        return float(np.vdot(numbers, numbers))
    if numbers.flags.f_contiguous:
        return float(np.vdot(numbers.T, numbers.T))
    return float(numbers.sum(dtype=np.float64))


def missing_values(
    values: Predictors, names: Sequence[str]
) -> dict[str, NDArray[np.intp]]:
    """Rows, by position, in which a column has no value; of each that lacks some.

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
    """Columns of a frame; where they stand side by side not copied, and in its order.

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


def selected(values: Predictors, kept: Mask) -> Predictors:
    """Return the rows that are kept, C-contiguous; copied only if they have to be."""
    if isinstance(values, np.ndarray):
        return np.ascontiguousarray(values if kept.all() else values[kept])
    return values if kept.all() else values[kept]


def check_finite(values: Predictors, columns: pd.Index, index: pd.Index) -> None:
    """Raise `ColumnError` naming the first column with infinite values, and rows.

    Parameters
    ----------
    values : array or CSR array, shape (n, p)
    columns : Index, shape (p,)
    index : Index, shape (n,)
    """
    places, found = _places(values, np.isinf)
    if not found.size:
        return
    first = found.min()
    rows = in_the_rows(index[np.unique(places[found == first])])
    raise ColumnError(
        f"Column {listing([columns[first]])} holds infinite values {rows}; only finite "
        "numbers and missing values are allowed: replace them or drop the rows."
    )


def _places(
    values: Predictors, marked: Callable[[np.ndarray], Mask]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the entries that are marked."""
    if isinstance(values, np.ndarray):
        rows, columns = np.nonzero(marked(values))
        return rows, columns
    entries = np.flatnonzero(marked(values.data))
    rows = np.searchsorted(values.indptr, entries, side="right") - 1
    return rows, values.indices[entries]


def _frame_to_csr(frame: pd.DataFrame) -> "csr_array":
    """Turn a frame with sparse columns into a sparse matrix, dense columns included."""
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
    """One column as float64, or an error naming what is not a number, and where."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)
    if pd.api.types.is_numeric_dtype(column) and column.dtype.kind != "c":
        refused = ColumnError(
            f"Column {listing([column.name])} of type {column.dtype} holds no numbers."
        )
        with refusing(refused):
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = [_as_number(value) for value in column.array]
    wrong = np.array([value is None for value in values], dtype=bool)
    found = np.array([math.nan if v is None else v for v in values], dtype=np.float64)
    if wrong.any() or isinstance(column.dtype, pd.CategoricalDtype):
        wrong = wrong if wrong.any() else ~np.isnan(found)
        strange = column[wrong]
        is_text = np.array([isinstance(v, str) for v in strange.array], dtype=bool)
        texts = strange.astype(object).where(is_text)
        words = pd.to_numeric(texts, errors="coerce").isna()
        strange = strange[words] if words.any() else strange  # beside numbers as text
        named = [v if isinstance(v, str) else shown(v) for v in strange.array]
        raise ColumnError(
            f"Column {listing([column.name])} is not numeric: it holds "
            f"{listing(dict.fromkeys(named), 3)} {in_the_rows(strange.index)}; give "
            "numbers, or make it a factor of the model: C(...) in a formula."
        )
    return found


def _as_number(value: object) -> float | None:
    """A real number or a boolean as a float, NaN for a missing one, None for others.

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
    except Exception:  # a signaling NaN, or numbers of others
        return None


def floats_of(values: object, refused: PegasosStatsError) -> NDArray[np.float64]:
    """Numbers of a list, an array, a Series or a frame, missing ones as NaN.

    Raises
    ------
    PegasosStatsError
        The one that is given, if they are anything else, such as text or dates.

    Examples
    --------
    >>> floats_of([1, None, True], DataError("These are no numbers; give numbers."))
    array([ 1., nan,  1.])
    """
    with refusing(refused):
        if isinstance(values, pd.Series | pd.Index):
            try:
                return _numeric_column(pd.Series(values))
            except ColumnError:
                raise refused from None
        if isinstance(values, pd.DataFrame):
            return numeric_values(values).astype(np.float64)
        if np.ma.isMaskedArray(values):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        array = np.asarray(values)
        if array.dtype.kind in "fiub":
            return array.astype(np.float64)
        found = [_as_number(value) for value in array.ravel()]
        if array.dtype.kind != "O" or None in found:
            raise refused
        return np.array(found, dtype=np.float64).reshape(array.shape)


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value of an object column is a real number or a boolean."""
    return isinstance(value, numbers.Real | Decimal | np.bool_)


def column_of_scores(scores: object) -> DataColumn:
    """View scores, or signs, as a column of numbers, NaN where one is missing.

    Raises
    ------
    DataError
        If they are anything else.
    """
    refused = DataError(
        f"Scores of type {type(scores).__name__} are no column of numbers; give one."
    )
    values = floats_of(scores, refused)
    if values.ndim != 1:
        raise refused
    return pd.Series(values, scores.index if isinstance(scores, pd.Series) else None)
