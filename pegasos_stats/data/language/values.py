"""Arithmetic and comparisons of columns and constants, missing values as in R.

A value is a constant, a list of constants, a column of the rows (a Series) or several
(a DataFrame), or a `TermValue` of columns.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn, Mask

Value: TypeAlias = Any
Compute: TypeAlias = Callable[..., Value]

LARGEST_POWER = 1024.0
LARGEST = 2.0**63  # of whole numbers in 64 bits
NULLABLE = (pd.BooleanDtype, pd.Int64Dtype)

OPERATORS: dict[str, Compute] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
    "negative": operator.neg, "positive": operator.pos, "not": operator.invert,
}  # fmt: skip
GROWING = ("+", "-", "*", "**", "negative")
CONNECTIVES: dict[str, Compute] = {"&": operator.and_, "|": operator.or_}
COMPARISONS: dict[str, Compute] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class TermValue:
    """Columns of a term with more to them than their numbers.

    Attributes
    ----------
    values : Series or DataFrame
        Of a factor its levels.
    spans_intercept : bool
        Whether the constant is a combination of the columns.
    levels : list, optional
        Of a factor, where they were given.
    contrasts : object, optional
        Contrasts of formulaic, or weights.
    is_factor : bool
    """

    values: Value
    spans_intercept: bool = False
    levels: list[Value] | None = None
    contrasts: Value = None
    is_factor: bool = False


def unwrapped_value(value: Value) -> Value:
    """A value without what `TermValue` has beside it."""
    return value.values if isinstance(value, TermValue) else value


def on_rows(value: Value, index: pd.Index) -> Value:
    """What a function gave as columns of these rows; constants as they are."""
    if isinstance(value, TermValue):
        return replace(value, values=on_rows(value.values, index))
    if isinstance(value, np.ndarray | pd.Categorical) and value.ndim == 1:
        value = pd.Series(value)
    if isinstance(value, dict | np.ndarray) and getattr(value, "ndim", 2) == 2:
        value = pd.DataFrame(value)
    if isinstance(value, pd.Series | pd.DataFrame) and value.index is not index:
        return value.set_axis(index, axis=0)
    return value


def is_column(value: Value) -> bool:
    """Whether a value has one entry for each row."""
    return isinstance(value, pd.Series)


def is_text(value: Value) -> bool:
    """Whether a value is text, or a column that may hold some."""
    if is_column(value):
        return not pd.api.types.is_numeric_dtype(value) and value.dtype.kind not in "mM"
    return isinstance(value, str | list | dict)


def folded(name: str, values: Sequence[Value]) -> Value:
    """Compute with constants; whole numbers beyond 64 bits become real ones.

    Raises
    ------
    ArithmeticError, TypeError
        If the result is no number that a column can hold.

    Examples
    --------
    >>> folded("**", [2, 10]), folded("negative", [3])
    (1024, -3)
    """
    if name == "+" and all(isinstance(value, str) for value in values):
        return "".join(values)
    if not all(isinstance(value, bool | int | float) for value in values):
        raise TypeError(f"'{name}' takes numbers")
    if name == "not" and isinstance(values[0], bool):
        return not values[0]
    if name == "**" and all(isinstance(value, int) for value in values):
        base, exponent = values
        if abs(exponent) * abs(base).bit_length() > LARGEST_POWER:
            values = [float(base), exponent]
    found = OPERATORS[name](*values)
    if isinstance(found, complex) or found != found:
        raise ArithmeticError("a number of it is not real")
    return float(found) if isinstance(found, int) and abs(found) >= LARGEST else found


def operated(name: str, *values: Value, index: pd.Index) -> Value:
    """Apply an operator to columns and constants; missing where one of them is.

    Text can be joined, by ``+``; everything else takes numbers. True counts as 1 and
    false as 0, as in R. Whole numbers become real ones where they would overflow.

    Raises
    ------
    TypeError, ValueError
        If the operator does not go with the values.

    Examples
    --------
    >>> flags = pd.Series([True, False])
    >>> operated("+", flags, flags, index=flags.index).tolist()
    [2, 0]
    """
    _check_width(values)
    texts = [is_text(value) for value in values]
    if any(texts) and not (name == "+" and all(texts)):
        raise TypeError(f"'{name}' takes numbers, and there is text")
    if name in CONNECTIVES:
        return _connected(name, values, index)
    compute = OPERATORS[name]
    if name != "not":
        values = tuple(map(as_numbers, values))
    if name in GROWING:
        compute = partial(in_range, compute)
    return where_present(compute, values, index)


def _connected(name: str, values: Sequence[Value], index: pd.Index) -> Value:
    """``&`` and ``|``: true or missing is true, false and missing is false."""
    compute = CONNECTIVES[name]
    if all(map(_is_whole, values)):  # bit by bit, as in Python
        return where_present(lambda *each: reduce(compute, each), values, index)
    return without_nullable(reduce(compute, map(_truth, values)))


def _truth(value: Value) -> Value:
    """Whether a number is not 0."""
    if not is_column(value):
        return bool(value)
    if value.dtype.kind == "b":
        return value.astype("boolean")
    return (value != 0).astype("boolean").mask(value.isna())


def compared(names: str, *values: Value, index: pd.Index) -> Value:
    """Compare neighbours, all of which must hold: ``a < b <= c``.

    ``in`` takes a list, in which a missing value is not; ``==`` with a list is the
    same.

    Examples
    --------
    >>> found = compared("< <=", 0, pd.Series([0, 1, 2]), 1, index=pd.RangeIndex(3))
    >>> found.tolist()
    [False, True, False]
    """
    _check_width(values)
    parts = [
        _compared(name, values[i], values[i + 1], index)
        for i, name in enumerate(names.split())
    ]
    return parts[0] if len(parts) == 1 else _connected("&", parts, index)


def _compared(name: str, left: Value, right: Value, index: pd.Index) -> Value:
    if isinstance(left, list) and name in ("==", "!="):
        left, right = right, left
    if name in ("in", "not_in") or isinstance(right, list):
        if not isinstance(right, list) or name not in ("in", "not_in", "==", "!="):
            raise TypeError(f"'{name}' does not go with these values")
        inside = pd.Series(left).isin(right)
        return ~inside if name in ("not_in", "!=") else inside
    return where_present(COMPARISONS[name], (left, right), index)


def in_range(compute: Compute, *values: Value) -> Value:
    """Compute with whole numbers; with real ones if 64 bits cannot hold the result.

    So it is for powers below zero, which are no whole numbers.

    Examples
    --------
    >>> in_range(operator.mul, pd.Series([2**40]), 2**40).tolist()
    [1.2089258196146292e+24]
    >>> in_range(operator.pow, pd.Series([2, 4]), -1).tolist()
    [0.5, 0.25]
    """
    if not all(map(_is_whole, values)):
        return compute(*values)
    real = compute(*(value * 1.0 for value in values))
    if not np.all(np.abs(real) < LARGEST):
        return real
    try:
        return compute(*values)
    except ValueError:
        return real


def _is_whole(value: Value) -> bool:
    if isinstance(value, pd.Series | np.generic):
        return bool(value.dtype.kind in "iu")
    return isinstance(value, int)


def as_numbers(value: Value) -> Value:
    """Convert booleans to 1 and 0; return everything else as it is.

    numpy would add them by "or", and take functions of them in half precision.
    """
    if not is_column(value) or value.dtype.kind != "b":
        return value
    lacking = isinstance(value.dtype, pd.BooleanDtype) and value.isna().any()
    return value.astype("Int64" if lacking else np.int64)


def widened(column: DataColumn) -> DataColumn:
    """Convert short or unsigned numbers to 64 bits with a sign; keep other columns.

    Examples
    --------
    >>> widened(pd.Series([1, 2], dtype="uint8")).dtype.name
    'int64'
    """
    kind, size = column.dtype.kind, getattr(column.dtype, "itemsize", 8)
    if kind == "u" and size == 8 and (column >= 2**63).any():
        return column.astype(np.float64)
    if kind == "u" or (kind == "i" and size < 8):
        return column.astype(np.int64)
    return column.astype(np.float64) if kind == "f" and size < 4 else column


def as_real(value: Value) -> Value:
    """Convert whole numbers to real ones, so that products do not overflow.

    Examples
    --------
    >>> as_real(pd.Series([1, 2], dtype="uint8")).dtype.name
    'float64'
    """
    if isinstance(value, pd.DataFrame):
        return value.apply(as_real)
    if not is_column(value):  # and not what C() makes of numbers
        return value
    short = value.dtype.kind == "f" and getattr(value.dtype, "itemsize", 8) < 4
    return value.astype(np.float64) if value.dtype.kind in "iu" or short else value


def _check_width(values: Sequence[Value]) -> None:
    wide = (each for each in values if isinstance(each, pd.Series | pd.DataFrame))
    if len({tuple(getattr(each, "columns", ())) for each in wide}) > 1:
        raise TypeError("it joins terms of several columns with others")


def missing_in(value: Value) -> Mask | None:
    """Rows in which a value is missing; None of a constant.

    Examples
    --------
    >>> missing_in(pd.Series([1.0, np.nan])).tolist()
    [False, True]
    """
    plain = unwrapped_value(value)
    if not isinstance(plain, pd.Series | pd.DataFrame):
        return None
    found: Mask = np.asarray(pd.isna(plain), dtype=bool)
    return np.asarray(found.any(axis=1)) if found.ndim == 2 else found


def taken(value: Value, rows: Mask) -> Value:
    """Some of the rows of a value; constants as they are."""
    if isinstance(value, TermValue):
        return replace(value, values=taken(value.values, rows))
    if isinstance(value, pd.Series | pd.DataFrame):
        return without_nullable(value if rows.all() else value[rows])
    return value


def without_nullable(value: Value) -> Value:
    """Booleans and whole numbers as numpy has them, where none is missing."""
    if isinstance(getattr(value, "dtype", None), NULLABLE) and not value.isna().any():
        return value.astype(bool if value.dtype.kind == "b" else np.int64)
    return value


def spread(value: Value, index: pd.Index) -> Value:
    """Put columns of some rows on all rows, missing in the others."""
    if isinstance(value, TermValue):
        return replace(value, values=spread(value.values, index))
    if is_column(value) and value.dtype.kind in "bi":
        value = value.astype("boolean" if value.dtype.kind == "b" else "Int64")
    rows = isinstance(value, pd.Series | pd.DataFrame)
    return value.reindex(index) if rows else value


def where_present(compute: Compute, values: Sequence[Value], index: pd.Index) -> Value:
    """Compute on the rows in which no value is missing; missing in the others.

    Examples
    --------
    >>> x = pd.Series([1.0, np.nan, 4.0])
    >>> where_present(np.sqrt, [x], x.index).tolist()
    [1.0, nan, 2.0]
    """
    masks = [mask for value in values if (mask := missing_in(value)) is not None]
    lacking = np.logical_or.reduce([np.zeros(len(index), dtype=bool), *masks])
    if lacking.all():
        return pd.Series(np.nan, index=index)
    if not lacking.any():
        return on_rows(compute(*(taken(v, ~lacking) for v in values)), index)
    found = compute(*(taken(value, ~lacking) for value in values))
    return spread(on_rows(found, index[~lacking]), index)
