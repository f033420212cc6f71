"""Arithmetic, comparisons and connectives between columns and constants."""

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn

Value: TypeAlias = Any  # of an expression: a constant, a list, a column, columns
Compute: TypeAlias = Callable[..., Value]

LARGEST_POWER = 1024.0
LARGEST = 2.0**63  # of whole numbers in 64 bits

OPERATORS: dict[str, Compute] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "negative": operator.neg,
    "positive": operator.pos,
    "&": operator.and_,
    "|": operator.or_,
    "not": operator.invert,
}
CONNECTIVES = ("&", "|", "not")
GROWING = ("+", "-", "*", "**", "negative")
COMPARISONS: dict[str, Compute] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


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
    if name == "**" and all(isinstance(value, int) for value in values):
        base, exponent = values
        if abs(exponent) * abs(base).bit_length() > LARGEST_POWER:
            values = [float(base), exponent]
    found = OPERATORS[name](*values)
    if isinstance(found, complex) or found != found:
        raise ArithmeticError("a number of it is not real")
    return float(found) if isinstance(found, int) and abs(found) >= LARGEST else found


def operated(name: str, values: Sequence[Value]) -> Value:
    """Apply an operator to columns and constants.

    Text can be joined, by ``+``; everything else takes numbers. True counts as 1 and
    false as 0, as in R. Whole numbers become real ones where they would overflow.

    Raises
    ------
    TypeError, ValueError
        If the operator does not go with the values.

    Examples
    --------
    >>> flags = pd.Series([True, False])
    >>> operated("+", [flags, flags]).tolist(), operated("negative", [flags]).tolist()
    ([2, 0], [-1, 0])
    """
    check_shapes(values)
    texts = [is_text(value) for value in values]
    if any(texts) and not (name == "+" and all(texts)):
        raise TypeError(f"'{name}' takes numbers, and there is text")
    if name == "not" and isinstance(values[0], bool):
        return not values[0]
    if name not in CONNECTIVES:
        values = [as_numbers(value) for value in values]
    if name in GROWING:
        return in_range(OPERATORS[name], values)
    found = values[0] if len(values) > 1 else OPERATORS[name](values[0])
    for value in values[1:]:
        found = OPERATORS[name](found, value)
    return found


def compared(names: Sequence[str], values: Sequence[Value]) -> Value:
    """Compare neighbours, all of which must hold: ``a < b <= c``.

    ``in`` takes a list, and ``==`` with a list is the same.

    Examples
    --------
    >>> compared(["<", "<="], [0, pd.Series([0, 1, 2]), 1]).tolist()
    [False, True, False]
    """
    check_shapes(values)
    found = None
    for i, name in enumerate(names):
        each = _compared(name, values[i], values[i + 1])
        found = each if found is None else found & each
    return found


def _compared(name: str, left: Value, right: Value) -> Value:
    if isinstance(left, list) and name in ("==", "!="):
        left, right = right, left
    if name in ("in", "not in") or isinstance(right, list):
        if not isinstance(right, list) or name not in ("in", "not in", "==", "!="):
            raise TypeError(f"'{name}' does not go with these values")
        inside = pd.Series(left).isin(right)
        return ~inside if name in ("not in", "!=") else inside
    try:
        return COMPARISONS[name](left, right)
    except TypeError:
        if is_text(left) == is_text(right):
            raise
        raise TypeError(
            f"'{name}' has text on one side and numbers on the other; compare text "
            "with text, or numbers with numbers"
        ) from None


def as_numbers(value: Value) -> Value:
    """Convert booleans to 1 and 0; return everything else as it is.

    numpy would add them by "or", and take functions of them in half precision.
    """
    if not is_column(value) or value.dtype.kind != "b":
        return value
    lacking = isinstance(value.dtype, pd.BooleanDtype) and value.isna().any()
    return value.astype(np.float64 if lacking else np.int64)


def in_range(compute: Compute, values: Sequence[Value]) -> Value:
    """Compute with whole numbers; with real ones if 64 bits cannot hold the result.

    So it is for powers below zero, which are no whole numbers.

    Examples
    --------
    >>> in_range(operator.mul, [pd.Series([2**40]), 2**40]).tolist()
    [1.2089258196146292e+24]
    >>> in_range(operator.pow, [pd.Series([2, 4]), -1]).tolist()
    [0.5, 0.25]
    """
    if not all(_is_whole(value) for value in values):
        return compute(*values)
    real = compute(*(value * 1.0 for value in values))
    if not np.all(np.abs(real) < LARGEST):
        return real
    try:
        return compute(*values)
    except ValueError:
        return real


def _is_whole(value: Value) -> bool:
    if is_column(value):
        return bool(value.dtype.kind in "iu")
    return isinstance(value, int | np.integer)


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
    if type(value) not in (pd.Series, np.ndarray):  # not what C() makes of numbers
        return value
    short = value.dtype.kind == "f" and getattr(value.dtype, "itemsize", 8) < 4
    return value.astype(np.float64) if value.dtype.kind in "iu" or short else value


def is_text(value: Value) -> bool:
    """Whether a value is text, or a column that may hold some."""
    if isinstance(value, pd.Series):
        return not pd.api.types.is_numeric_dtype(value) and value.dtype.kind not in "mM"
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "biufmM"
    return isinstance(value, str | list | dict)


def is_column(value: Value) -> bool:
    """Whether a value has one entry for each row."""
    return isinstance(value, pd.Series | np.ndarray)


def check_shapes(values: Sequence[Value]) -> None:
    """Raise `TypeError` unless all columns have the same rows and the same width."""
    if len({value.shape for value in values if is_column(value)}) > 1:
        raise TypeError("it joins terms of several columns with others")
