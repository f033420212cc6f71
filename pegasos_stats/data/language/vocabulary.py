"""Functions and operators of formulas, as in R, numpy and pandas.

A value is a constant, a list of constants, a column (a Series), several columns (a
DataFrame), or a `TermValue` of columns. Missing values propagate as in R. Numbers are
in double precision. `VOCABULARY` lists all functions. The state of a call stores what
the call estimates from the training data, such as means and knots, to code new rows.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Mask
from pegasos_stats.errors import (
    ColumnError,
    ColumnWarning,
    counted,
    listing,
    shown,
    warn_caller,
)

Value: TypeAlias = Any
Compute: TypeAlias = Callable[..., Value]

ROWS = pd.Series | pd.DataFrame

OPERATORS: dict[str, Compute] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
    "negative": operator.neg, "positive": operator.pos,
}  # fmt: skip
CONNECTIVES: dict[str, Compute] = {"&": operator.and_, "|": operator.or_}
COMPARISONS: dict[str, Compute] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class TermValue:
    """Columns of a term with attributes for their coding.

    Attributes
    ----------
    values : Series or DataFrame
        Numbers, or the labels of a factor.
    spans_intercept : bool
        Whether the constant 1 is a linear combination of the columns.
    levels : list, optional
        Levels of a factor, if the formula lists them.
    contrasts : object, optional
        Contrasts of formulaic, or a matrix of contrast weights.
    is_factor : bool
    """

    values: Value
    spans_intercept: bool = False
    levels: list[Value] | None = None
    contrasts: Value = None
    is_factor: bool = False


def unwrapped_value(value: Value) -> Value:
    """Return the values of a `TermValue`, and other values unchanged."""
    return value.values if isinstance(value, TermValue) else value


def is_column(value: Value) -> bool:
    """Whether a value has one entry per row."""
    return isinstance(value, pd.Series)


def is_text(value: Value) -> bool:
    """Whether a value is text, or a column that may contain text."""
    if is_column(value):
        return not pd.api.types.is_numeric_dtype(value) and value.dtype.kind not in "mM"
    return isinstance(value, str | list | dict)


def is_time(value: Value) -> bool:
    """Whether a value is a column of dates, times or durations."""
    dtype = value.dtype if is_column(value) else np.dtype(float)
    return dtype.kind in "mM" or isinstance(dtype, pd.PeriodDtype)


def no_number(name: object, dtype: object) -> ColumnError:
    """Return the error for dates and durations, which as numbers would have no unit."""
    days = f"(data[{name!r}] - pd.Timestamp('2020-01-01')).dt.days"
    if getattr(dtype, "kind", "") == "m":
        days = "(data['end'] - data['start']).dt.days"
    what = "A term" if name is None else f"Column {listing([name])}"
    return ColumnError(
        f"{what} is of type {dtype}; convert it to numbers, such as data['days'] = "
        f"{days}, or to categories."
    )


def real(value: Value) -> Value:
    """Convert numbers and booleans to double precision; leave other values unchanged.

    Examples
    --------
    >>> real(pd.Series([True, None], dtype="boolean")).tolist(), real(2)
    ([1.0, nan], 2)
    """
    if isinstance(value, pd.DataFrame):
        return value.apply(real)
    is_number = is_column(value) and value.dtype.kind in "biuf"
    return value.astype(np.float64) if is_number else value


def without_gaps(value: Value) -> Value:
    """Convert nullable integers to floats."""
    with_gaps = isinstance(
        getattr(value, "dtype", None), pd.Int64Dtype | pd.UInt64Dtype
    )
    return value.astype(np.float64) if with_gaps else value


def as_levels(column: Value) -> Value:
    """Convert floats to integers if all are whole: a level is 2, not 2.0, as in R.

    Examples
    --------
    >>> as_levels(pd.Series([1.0, 2.0])).tolist()
    [1, 2]
    """
    column = pd.Series(column)
    if column.dtype.kind != "f":
        return column
    whole = (column == np.trunc(column)) & (column.abs() < 2.0**53)
    return column.astype(np.int64) if whole.all() else column


def missing_in(value: Value) -> Mask | None:
    """Return which rows lack a value; None for a constant.

    Examples
    --------
    >>> missing_in(pd.Series([1.0, np.nan])).tolist()
    [False, True]
    """
    plain = unwrapped_value(value)
    if not isinstance(plain, ROWS):
        return None
    missing: Mask = np.asarray(pd.isna(plain), dtype=bool)
    return np.asarray(missing.any(axis=1)) if missing.ndim == 2 else missing


def on_rows(value: Value, index: pd.Index, every: pd.Index | None = None) -> Value:
    """Convert the result of a function to columns; return constants unchanged.

    Values are missing in the rows of `every` that are not in `index`.
    """
    if isinstance(value, TermValue):
        return replace(value, values=on_rows(value.values, index, every))
    if isinstance(value, np.ndarray | pd.Categorical) and value.ndim == 1:
        value = pd.Series(value)
    if isinstance(value, dict | np.ndarray) and getattr(value, "ndim", 2) == 2:
        value = pd.DataFrame(value)
    if not isinstance(value, ROWS):
        return value
    value = value.set_axis(index, axis=0)
    if every is None or len(every) == len(index):
        return value
    if is_column(value) and value.dtype.kind == "b":
        value = value.astype("boolean")
    return value.reindex(every)


def where_present(compute: Compute, values: Sequence[Value], index: pd.Index) -> Value:
    """Compute in complete rows; the result is missing in the other rows.

    Examples
    --------
    >>> x = pd.Series([1.0, np.nan, 4.0])
    >>> where_present(np.sqrt, [x], x.index).tolist()
    [1.0, nan, 2.0]
    """
    rows = [value for value in values if isinstance(value, ROWS)]
    if len(rows) > 1 and any(isinstance(value, pd.DataFrame) for value in rows):
        raise TypeError(
            "a function or operator cannot combine several columns, such as those of "
            "poly(x, 2), with another column; use single columns"
        )
    present = np.ones(len(index), dtype=bool)
    for value in rows:
        present &= ~missing_in(value)  # type: ignore[operator]
    if not present.any():
        return pd.Series(np.nan, index=index)
    if not present.all():
        values = [v[present] if isinstance(v, ROWS) else v for v in values]
    return on_rows(compute(*values), index[present], index)


# ------------------------------------------------------------------- operators


def operated(name: str, values: Sequence[Value], index: pd.Index) -> Value:
    """Apply an operator to columns and constants; missing operands propagate.

    ``+`` also joins text; other operators need numbers. As in R, true counts as 1 and
    false as 0. A chain ``a < b <= c`` is true if both comparisons are.

    Raises
    ------
    TypeError, ValueError
        If the operator is not defined for the values.

    Examples
    --------
    >>> flags = pd.Series([True, False])
    >>> operated("+", [flags, flags], flags.index).tolist()
    [2.0, 0.0]
    >>> operated("< <=", [0, pd.Series([0, 1, 2]), 1], pd.RangeIndex(3)).tolist()
    [False, True, False]
    """
    if name == "not":
        return ~_truth(values[0])
    if name in CONNECTIVES:
        return reduce(CONNECTIVES[name], map(_truth, values))
    if name in OPERATORS:
        return where_present(partial(arithmetic, name), values, index)
    pairs = zip(name.split(), pairwise(values), strict=True)
    parts = [_compared(sign, *pair, index) for sign, pair in pairs]
    return parts[0] if len(parts) == 1 else operated("&", parts, index)


def arithmetic(name: str, *values: Value) -> Value:
    """Compute with columns and constants, in double precision.

    Raises
    ------
    TypeError
        If there is text, unless ``+`` joins two texts.
    ArithmeticError
        If the result is not a real number, or is too large.

    Examples
    --------
    >>> arithmetic("**", 2, 10), arithmetic("+", "a", "b")
    (1024.0, 'ab')
    """
    texts = [is_text(value) for value in values]
    if any(texts) and not (name == "+" and all(texts)):
        raise TypeError(f"'{name}' needs numbers, not text")
    numbers = (float(v) if isinstance(v, int) else real(v) for v in values)
    result = OPERATORS[name](*numbers)
    if isinstance(result, complex):
        raise ArithmeticError(f"the result of '{name}' is not a real number")
    return result


def _truth(value: Value) -> Value:
    """Convert booleans, or 1 and 0, to booleans with missing values."""
    numbers = real(value) if is_column(value) else pd.Series([value])
    if is_text(value) or not numbers.dropna().isin([0, 1]).all():
        raise TypeError("'and', 'or' and 'not' need comparisons, or 1 and 0")
    if not is_column(value):
        return np.bool_(value)
    return value.astype("boolean")


def kind_of(value: Value) -> str:
    """Return ``"text"``, ``"number"``, or ``""`` for dates, mixed or no values."""
    if is_column(value):
        is_category = isinstance(value.dtype, pd.CategoricalDtype)
        value = value.cat.categories if is_category else value.dropna()
        if not len(value):
            return ""
        if pd.api.types.is_numeric_dtype(value.dtype):
            return "number"
        return "text" if pd.api.types.is_string_dtype(value) else ""
    is_number = isinstance(value, int | float) and not pd.isna(value)
    return "text" if isinstance(value, str) else "number" if is_number else ""


def _compared(name: str, left: Value, right: Value, index: pd.Index) -> Value:
    """Compare two values, or look a value up in a list."""
    if isinstance(left, list) and name in ("==", "!="):
        left, right = right, left
    others = right if isinstance(right, list) else [right]
    if any(value is None for value in (left, *others)):
        raise TypeError(f"'{name}' cannot compare with None; write is.na(x)")
    if {"text", "number"} <= {*map(kind_of, [left, *others])}:
        raise TypeError(f"'{name}' cannot compare text with numbers")
    if name in COMPARISONS and not isinstance(right, list):
        return where_present(COMPARISONS[name], (left, right), index)
    if not isinstance(right, list):
        raise TypeError(f"'{name.replace('_', ' ')}' needs a list, such as c('a', 'b')")
    if name not in ("in", "not_in", "==", "!="):
        raise TypeError(f"'{name}' cannot compare with a list; use a single value")
    inside = pd.Series(left).isin(right)
    return inside if name in ("in", "==") else ~inside


# ------------------------------------------------------------------- functions

Functions = Mapping[str, Compute]
State = dict[str, Value]

LARGEST_SIZE = 1000  # maximum number of levels, breaks and degrees of freedom
BOUNDS = {"digits": (-300, 300), "decimals": (-300, 300), "breaks": (2, LARGEST_SIZE)}
BOUNDS |= {"df": (1, LARGEST_SIZE), "degree": (1, 100), "levels": (1, LARGEST_SIZE)}
DIGITS = 15  # decimal digits that a double preserves
BEYOND = "beyond"  # key of a state: how a spline extrapolates
# Patterns in the messages of Python and pandas about invalid arguments.
RAW = re.compile(
    "required positional|NoneType|'(int|float|str|list|dict)' object|operand|empty iter"
    "|out of (range|bounds)|has no attribute|not supported between|list-like"
)
TYPES = "bool category float float32 float64 int int32 int64 object str"
OF_NUMBERS = ["as_numeric", "as_integer", "as_logical", "np.nan_to_num"]
PATTERN = set("\\^$.|?*+()[]{}")


def log(x: Value, base: Value = None) -> Value:
    """Natural logarithm, or logarithm to a base, as in R.

    Examples
    --------
    >>> float(log(8.0, 2))
    3.0
    """
    return np.log(x) if base is None else np.log(x) / np.log(base)


def rounded(x: Value, digits: int = 0) -> Value:
    """Round as ``round(x, digits)`` of R: to the nearer of two decimal numbers.

    The two are the neighbours of `x` with `digits` decimals; ties go to the even digit.
    A number is unchanged if rounding would leave more than 15 significant digits.

    Examples
    --------
    >>> rounded(np.array([0.15, 0.25, 2.675]), 1).tolist(), float(rounded(2.675, 2))
    ([0.1, 0.2, 2.7], 2.67)
    """
    size, unit = np.abs(x), 10.0 ** abs(digits)
    near = np.rint(size / unit) * unit
    if digits > 0:
        low, high = np.floor(size * unit), np.ceil(size * unit)
        below, above = size - low / unit, high / unit - size
        takes_low = (below < above) | ((below == above) & (low % 2.0 == 0.0))
        near = np.where(takes_low, low, high) / unit
    stays = digits + (np.frexp(size)[1] - 0.5) * np.log10(2.0) > DIGITS
    return np.copysign(np.where(stays, size, near), x)


def one_of(test: Value, yes: Value, no: Value) -> Value:
    """Compute ``ifelse(test, yes, no)`` for numbers or for text."""
    if is_text(test):
        raise TypeError("ifelse() needs a test, such as x > 1, not text")
    if is_text(yes) != is_text(no):
        raise TypeError("ifelse() cannot choose between text and numbers; use one type")
    unknown = np.asarray(pd.isna(test))
    chosen = np.where(unknown, False, test).astype(bool)
    values: Value = np.where(chosen, real(yes), real(no))
    if not values.ndim:
        return values.item()
    return pd.Series(values).mask(unknown) if unknown.any() else values


def filled(x: Value, value: Value) -> Value:
    """Compute ``x.fillna(value)``; in a factor, a new level becomes the last level."""
    if isinstance(x.dtype, pd.CategoricalDtype) and not is_column(value):
        if value not in x.cat.categories:
            x = x.cat.add_categories([value])
        return x.fillna(value)
    if value is None or (x.notna().any() and is_text(value) != is_text(x)):
        raise TypeError("fill missing text with text, missing numbers with a number")
    return x.fillna(real(value))


def as_type(x: Value, dtype: str) -> Value:
    """Convert a column to a type of `TYPES`."""
    if dtype not in TYPES.split():
        raise ValueError(f"astype() needs one of the types {TYPES.replace(' ', ', ')}")
    if is_time(x) and dtype not in ("str", "object", "category"):
        raise no_number(x.name, x.dtype)
    result = x.astype(dtype)
    if result.dtype.kind == "i" and not is_text(x) and ((result - x).abs() >= 1).any():
        raise ValueError(f"the column has numbers that {dtype} cannot hold")
    return result


def as_character(x: Value) -> Value:
    """Convert a column to text; whole numbers have no decimal point, as in R.

    Examples
    --------
    >>> as_character(pd.Series([1.0, 2.5])).tolist()
    ['1', '2.5']
    """
    if x.dtype.kind == "f":
        return x.map(lambda number: f"{number:.15g}").astype(object)
    return x.astype(str).astype(object)


def cut(
    x: Value,
    breaks: Value,
    labels: Value = None,
    right: bool = True,
    include_lowest: bool = False,
    state: State | None = None,
) -> Value:
    """Return intervals between breaks, with the names of R: ``(0,10]``.

    A number, instead of a list of breaks, cuts the range of the training data into this
    many intervals of equal length, with the outer breaks moved outwards by a thousandth
    of the range, as in R. Values outside the breaks are missing.

    Examples
    --------
    >>> cut(pd.Series([1, 5, 30]), [0, 4, 20]).values.tolist()
    ['(0,4]', '(4,20]', nan]
    """
    state = {} if state is None else state
    if "breaks" not in state:
        state["breaks"] = _breaks(x, breaks)
    edges = state["breaks"]
    names = _interval_names(edges, right, include_lowest) if labels is None else labels
    cells = pd.cut(x, edges, right=right, labels=names, include_lowest=include_lowest)
    return TermValue(cells.cat.as_unordered(), True, names, is_factor=True)


def _breaks(x: Value, breaks: Value) -> list[float]:
    if isinstance(breaks, list):
        return sorted(float(edge) for edge in breaks)
    low, high = float(np.min(x)), float(np.max(x))
    if not low < high:
        raise ValueError(
            f"every row has the value {low:g}; cut() then needs a list of breaks"
        )
    edges = np.linspace(low, high, breaks + 1)
    edges[0], edges[-1] = low - (high - low) / 1000, high + (high - low) / 1000
    return [float(edge) for edge in edges]


def _interval_names(edges: list[float], right: bool, lowest: bool) -> list[str]:
    """Name intervals as in R: breaks have 3 significant digits, or more to differ."""
    for digits in range(3, 18):
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(texts):
            break
    marks = "(]" if right else "[)"
    names = [f"{marks[0]}{a},{b}{marks[1]}" for a, b in pairwise(texts)]
    if lowest and right:
        names[0] = f"[{names[0][1:]}"
    if lowest and not right:
        names[-1] = f"{names[-1][:-1]}]"
    return names


def contains(x: Value, pat: str) -> Value:
    """Whether text contains `pat`, which is literal text, not a regular expression."""
    if PATTERN & set(pat):
        raise ValueError(
            f"contains() needs text without regular expressions, not {pat!r}"
        )
    return x.str.contains(pat, regex=False)


def factor(
    x: Value,
    contrasts: Value = None,
    levels: list[Value] | None = None,
) -> Value:
    """Compute ``C(x)``: any values become a factor; missing values are not a level."""
    if levels is not None:
        if not isinstance(levels, list):
            raise TypeError("levels of C() must be a list, such as c('a', 'b')")
        levels = [level for level in levels if not pd.isna(level)]
    if isinstance(contrasts, str) and contrasts in CONTRASTS:
        contrasts = CONTRASTS[contrasts].call()
    if isinstance(contrasts, str | int | float):
        raise TypeError("contrasts of C() must be a name like contr.sum, or a matrix")
    return TermValue(x, True, levels, contrasts, is_factor=True)


def polynomial(
    x: Value, degree: int = 1, raw: bool = False, *, state: State | None = None
) -> Value:
    """Compute ``poly(x, degree)`` of R by formulaic, after a check of the degree."""
    different = np.unique(np.asarray(x)).size
    if not raw and not state and degree >= different:
        raise ValueError(
            f"degree of poly() is {degree}; use a whole number below {different}, the "
            "number of distinct values"
        )
    columns = formulaic("poly", x, degree, raw, _state=state)
    return dict(enumerate(np.asarray(columns).T, start=1))


Numbers = NDArray[np.float64]

DEGREE = 3


def natural_spline(
    x: Value,
    df: int | None = None,
    knots: Sequence[float] | None = None,
    intercept: bool = False,
    Boundary_knots: Sequence[float] | None = None,
    *,
    state: State | None = None,
) -> dict[int, Numbers]:
    """Compute columns of a natural cubic spline, linear beyond its boundary knots.

    Parameters
    ----------
    x : array-like of numbers
    df : int, optional
        Number of columns. The inner knots are then ``df - 1 - intercept`` quantiles of
        the values of `x` between the boundary knots.
    knots : list of numbers, optional
        The inner knots, instead of `df`. With neither, there are no inner knots.
    intercept : bool
        Whether the constant 1 is a linear combination of the columns.
    Boundary_knots : list of 2 numbers, optional
        By default the minimum and the maximum of `x`.
    state : dict, optional
        Knots of the training data; if it is empty, the knots of `x` are stored in it.

    Examples
    --------
    >>> second = natural_spline([0.0, 1.0, 2.0, 4.0], df=2)[2]
    >>> [round(float(value), 4) for value in second]  # round(ns(x, df = 2)[, 2], 4)
    [0.0, -0.2153, -0.154, 0.8081]
    """
    values = np.asarray(x, dtype=np.float64)
    state = {} if state is None else state
    if "knots" not in state:
        low, high = sorted(map(float, Boundary_knots or [values.min(), values.max()]))
        if not low < high:
            raise ValueError(
                f"the boundary knots of ns() are {low:g} and {high:g}; they must differ"
            )
        inner = sorted(map(float, knots or []))
        outside = not all(low < knot < high for knot in inner)
        both = knots is not None if df is not None else False
        if outside or both or (df or 2) < 1 + intercept:
            raise ValueError(
                f"ns() needs df of at least {1 + intercept}, or instead knots between "
                f"the boundary knots, here {low:g} and {high:g}"
            )
        if df is not None:
            inner = _quantiles(values, low, high, df - 1 - intercept)
        state["boundary"], state["knots"] = [low, high], inner
    low, high = state["boundary"]
    columns = _basis(values, low, high, state["knots"], intercept).T
    return dict(enumerate(columns, start=1))


def _quantiles(values: Numbers, low: float, high: float, count: int) -> list[float]:
    """Return quantiles as inner knots, moved off the boundary knots as in R 4.4."""
    within = values[(values >= low) & (values <= high)]
    knots = np.quantile(within, np.linspace(0.0, 1.0, count + 2)[1:-1])
    for end in (low, high):
        if (knots == end).any():
            others = knots[knots != end]
            nearest = others[np.abs(others - end).argmin()]
            knots[knots == end] += (nearest - end) / 8.0
    return [float(knot) for knot in knots]


def _basis(
    values: Numbers, low: float, high: float, knots: Sequence[float], intercept: bool
) -> Numbers:
    """Combine B-splines so that second derivatives are 0 at both boundary knots."""
    from scipy.interpolate import BSpline

    ends = np.array([low, high])
    at = np.sort([*np.repeat(ends, DEGREE + 1), *knots])
    first = 0 if intercept else 1
    spline = BSpline(at, np.eye(len(at) - DEGREE - 1)[:, first:], DEGREE)
    nearest = np.clip(values, low, high)
    splines = spline(nearest)
    beyond = values != nearest
    slopes = spline(nearest[beyond], nu=1)
    splines[beyond] += (values - nearest)[beyond, np.newaxis] * slopes
    Q = np.linalg.qr(spline(ends, nu=2).T, mode="complete").Q
    # Term by term, because BLAS may round a row differently if it is the only row.
    columns: Numbers = sum(splines[:, [j]] * Q[j, 2:] for j in range(len(Q)))
    return columns


@dataclass(frozen=True)
class Function:
    """A function of formulas.

    Attributes
    ----------
    call : callable
    words : str
        Names of its parameters, separated by spaces.
    numbers : bool
        Whether the function needs numbers, in double precision, not text.
    all_rows : bool
        Whether rows with missing values are passed to the function.
    state : str
        Name of the argument for the state of a call; empty for functions without state.
    open : bool
        Whether any number of arguments, with any names, is allowed.
    """

    call: Compute
    words: str = "x"
    numbers: bool = True
    all_rows: bool = False
    state: str = ""
    open: bool = False

    def bind(
        self, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value]
    ) -> dict[str, Value]:
        """Return arguments by the names of the parameters, or by position if `open`.

        Raises
        ------
        TypeError
            If there are too many arguments, or one is unknown or repeated.

        Examples
        --------
        >>> VOCABULARY["log"].bind("log", ["x", 2], {})
        {'x': 'x', 'base': 2}
        """
        words = self.words.split()
        if self.open:
            words = [str(i) for i in range(len(arguments))] + list(keywords)
        bound = dict(zip(words, arguments, strict=False))
        wrong = [word for word in keywords if word in bound or word not in words]
        if wrong or len(arguments) > len(words):
            takes = ", ".join(words) or "no arguments"
            other = f", not {listing(wrong)}" if wrong else ""
            raise TypeError(f"{name.removeprefix('.')}() takes {takes}{other}")
        return bound | dict(keywords)

    def compute(self, name: str, arguments: Mapping[str, Value], state: State) -> Value:
        """Call the function with values, by the names of its parameters.

        Raises
        ------
        TypeError, ValueError
            If the function does not accept the values.

        Examples
        --------
        >>> VOCABULARY["poly"].compute("poly", {"x": 1.0, "degree": 2.5}, {})
        Traceback (most recent call last):
            ...
        ValueError: degree of poly() is 2.5; use a whole number from 1 to 100
        """
        name, values = name.removeprefix("."), list(arguments.values())
        if self.numbers and any(is_column(v) and is_text(v) for v in values):
            raise TypeError(f"{name}() needs numbers, not text")
        if self.state and any(map(is_column, values[1:])):
            raise TypeError(f"{name}() needs one column")
        for word in BOUNDS.keys() & arguments.keys():
            self._check_bound(word, arguments[word], name)
        if times := [value for value in values if is_time(value)]:
            refusal = no_number(times[0].name, times[0].dtype)
            if self.state or name in OF_NUMBERS:
                raise refusal
        words = {w: real(v) if self.numbers else v for w, v in arguments.items()}
        places = {self.words.partition(" ")[0], *filter(str.isdigit, words)}
        positional = [words.pop(word) for word in arguments if word in places]
        if self.state:
            words[self.state] = state
        try:
            return self.call(*positional, **words)
        except Exception as error:
            if times:
                raise refusal from None
            if not RAW.search(str(error)):
                raise
            takes = ", ".join(self.words.split()) or "columns"
            text = f"{name}() takes {takes}, but not values such as these"
            raise TypeError(text) from None

    @staticmethod
    def _check_bound(word: str, value: Value, called: str) -> None:
        """Raise ValueError for numbers out of bounds, and for repeated values."""
        low, high = BOUNDS[word]
        allowed = f"a whole number from {low} to {high:,}"
        if word == "levels":
            allowed = "a list of distinct values"
        if word == "breaks":
            allowed = f"a list of distinct numbers, or {allowed}"
        several = isinstance(value, list) and low <= len(set(value)) == len(value)
        whole = type(value) is int and low <= value <= high
        if not (value is None or whole or (several and word in ("levels", "breaks"))):
            what = "a column" if is_column(value) else shown(value)
            verb = "is" if word in ("df", "degree") else "are"
            raise ValueError(f"{word} of {called}() {verb} {what}; use {allowed}")


def formulaic(name: str, *arguments: Value, **words: Value) -> Value:
    """Call a transformation of formulaic, or its contrasts, by name."""
    from formulaic.transforms import TRANSFORMS

    path, _, last = name.rpartition(".")
    transform = getattr(TRANSFORMS[path], last) if path else TRANSFORMS[name]
    if name == "bs" and "knots" in (state := words["_state"]):
        low, high = state["lower_bound"], state["upper_bound"]
        beyond = int(((arguments[0] < low) | (arguments[0] > high)).sum())
        if beyond and BEYOND not in state and "extrapolation" not in words:
            warn_caller(
                f"{name}() extrapolates beyond the training data ({low:g} to {high:g}) "
                f"in {counted(beyond, 'row')}, as in R; extrapolation= changes this.",
                ColumnWarning,
            )
        words.setdefault("extrapolation", state.get(BEYOND, "extend"))
    result = transform(*arguments, **words)
    plain = getattr(result, "__wrapped__", result)
    if not isinstance(plain, dict):
        return plain
    return TermValue(plain, result.__formulaic_metadata__.spans_intercept)


UFUNCS = (
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil "
    "copysign cos cosh deg2rad degrees divide equal exp exp2 expm1 fabs float_power "
    "floor floor_divide fmod greater greater_equal heaviside hypot less less_equal log "
    "log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
    "logical_xor maximum minimum multiply negative not_equal positive power rad2deg "
    "radians reciprocal remainder rint sign signbit sin sinh sqrt square subtract tan "
    "tanh trunc"
)
TAKING_MISSING = "isnan isfinite isinf fmax fmin"
# Other names of ufuncs: names without np., names of R, and aliases of numpy.
WITHOUT_NP = (
    "absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh ceil cos cosh exp "
    "exp2 expm1 floor log10 log1p log2 sign sin sinh sqrt tan tanh trunc"
)
ALSO = {name: name for name in WITHOUT_NP.split()} | {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin",
    "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
    "ceiling": "ceil", "np.abs": "absolute", "np.mod": "remainder", "np.pow": "power",
    "np.true_divide": "divide",
}  # fmt: skip


def _ufunc(name: str, all_rows: bool = False) -> Function:
    """Return a ufunc of numpy with one or two columns as its only arguments."""
    call = getattr(np, name)
    if call.nin == 1:
        return Function(call, all_rows=all_rows)
    return Function(lambda x, y: call(x, y), "x y", all_rows=all_rows)


def _learnt(name: str, words: str) -> Function:
    """Return a transformation of formulaic with a state."""
    return Function(partial(formulaic, name), words, state="_state")


def _summary(method: str, **fixed: int) -> Function:
    """Return a function that reduces a column of the training data to a number."""

    def reduced(x: Value, state: State, **options: Value) -> Value:
        if "value" not in state:
            state["value"] = float(getattr(x, method)(**fixed, **options))
        return state["value"]

    return Function(reduced, "x q" if method == "quantile" else "x", state="state")


def _any(compute: Compute, words: str = "x", all_rows: bool = False) -> Function:
    return Function(compute, words, False, all_rows)


def _method(
    path: str, words: str = "x", numbers: bool = False, all_rows: bool = False
) -> Function:
    """Return a method of columns as a function."""
    method = attrgetter(path)
    return Function(lambda x, **options: method(x)(**options), words, numbers, all_rows)


OF_TEXT = "len lower upper strip title capitalize"
SPREADS = ("std", "var")
BASIS = "x df knots degree include_intercept lower_bound upper_bound extrapolation"
CUBIC = "x df knots lower_bound upper_bound constraints extrapolation"
# Contrasts may be written without brackets, as in C(g, contr.sum).
CONTRASTS: dict[str, Function] = {
    name: _any(partial(formulaic, name), words)
    for name, words in {
        "contr.SAS": "", "contr.custom": "contrasts names", "contr.diff": "backward",
        "contr.helmert": "reverse scale", "contr.poly": "scores", "contr.sum": "",
        "contr.treatment": "base", "Diff": "backward", "Helmert": "reverse scale",
        "Poly": "scores", "Sum": "", "Treatment": "reference",
    }.items()
}  # fmt: skip
VOCABULARY: dict[str, Function] = {
    **{f"np.{name}": _ufunc(name) for name in UFUNCS.split()},
    **{f"np.{name}": _ufunc(name, True) for name in TAKING_MISSING.split()},
    **CONTRASTS,
    "sd": _summary("std", ddof=1),
    **{
        prefix + name: _summary(name, **({"ddof": ddof} if name in SPREADS else {}))
        for prefix, ddof in (("", 1), ("np.", 0), (".", 1))  # numpy divides by n
        for name in ("max", "mean", "median", "min", "quantile", "sum", *SPREADS)
    },
    # transformations
    "I": _any(lambda x: x, all_rows=True),
    "C": _any(factor, "data contrasts levels"),
    "relevel": _any(lambda x, ref: factor(x, formulaic("Treatment", ref)), "x ref"),
    "bs": _learnt("bs", BASIS),
    **{name: _learnt(name, CUBIC) for name in ("cc", "cr", "cs")},
    "center": _learnt("center", "data"),
    "scale": _learnt("scale", "data center scale ddof"),
    "standardize": _learnt("standardize", "x center rescale ddof"),
    "ns": Function(
        natural_spline, "x df knots intercept Boundary_knots", state="state"
    ),
    "poly": Function(polynomial, "x degree raw", state="state"),
    "cut": Function(cut, "x breaks labels right include_lowest", state="state"),
    # numbers
    "log": Function(log, "x base"),
    "round": Function(rounded, "x digits"),
    **dict.fromkeys(("np.round", "np.around"), Function(np.round, "x decimals")),
    "np.clip": Function(np.clip, "x a_min a_max"),
    "pmin": Function(lambda *columns: reduce(np.minimum, columns), "", open=True),
    "pmax": Function(lambda *columns: reduce(np.maximum, columns), "", open=True),
    ".abs": _method("abs", numbers=True),
    ".between": _method("between", "x left right inclusive", numbers=True),
    ".clip": _method("clip", "x lower upper", numbers=True),
    ".round": _method("round", "x decimals", numbers=True),
    # missing values and choices
    "np.nan_to_num": Function(np.nan_to_num, "x nan posinf neginf", all_rows=True),
    **dict.fromkeys(
        ("is_na", "pd.isna", "pd.isnull", ".isna", ".isnull"),
        _method("isna", all_rows=True),
    ),
    **dict.fromkeys(
        ("pd.notna", "pd.notnull", ".notna", ".notnull"),
        _method("notna", all_rows=True),
    ),
    "addNA": _any(  # missing values become the last level, NA
        lambda x: x.astype("category").cat.add_categories(["NA"]).fillna("NA"),
        all_rows=True,
    ),
    "coalesce": Function(
        lambda *columns: reduce(filled, columns), "", False, True, open=True
    ),
    ".fillna": _any(filled, "x value", all_rows=True),
    "ifelse": _any(one_of, "test yes no", all_rows=True),
    "np.where": _any(one_of, "test yes no", all_rows=True),
    ".isin": _method("isin", "x values", all_rows=True),
    # types
    "as_numeric": _any(lambda x: x.astype(np.float64)),
    "as_integer": _any(lambda x: np.trunc(x.astype(np.float64))),
    "as_logical": _any(lambda x: x.astype(np.float64) != 0),
    "as_character": _any(as_character),
    ".astype": _any(as_type, "x dtype"),
    # text
    **{f".str.{name}": _method(f"str.{name}") for name in OF_TEXT.split()},
    "nchar": _method("str.len"),
    "toupper": _method("str.upper"),
    "tolower": _method("str.lower"),
    "trimws": _method("str.strip"),
    "substr": _any(  # as in R: positions start at 1, and both ends are included
        lambda x, start, stop: x.str.slice(max(start - 1, 0), max(stop, 0)),
        "x start stop",
    ),
    "startsWith": _any(lambda x, prefix: x.str.startswith(prefix), "x prefix"),
    "endsWith": _any(lambda x, suffix: x.str.endswith(suffix), "x suffix"),
    ".str.slice": _method("str.slice", "x start stop"),
    ".str.startswith": _method("str.startswith", "x pat"),
    ".str.endswith": _method("str.endswith", "x pat"),
    ".str.contains": _any(contains, "x pat"),
}
VOCABULARY |= {name: VOCABULARY[f"np.{ufunc}"] for name, ufunc in ALSO.items()}
# Attributes of a column; pandas deprecates the names that are mapped to others.
OF_DATES = "year month day hour minute second quarter day_of_week day_of_year"
DATES = {"dayofweek": "day_of_week", "weekday": "day_of_week"}
DATES |= {"dayofyear": "day_of_year"} | {name: name for name in OF_DATES.split()}
ATTRIBUTES = {f".dt.{n}": _any(attrgetter(f"dt.{path}")) for n, path in DATES.items()}
CONSTANTS: dict[str, Value] = {
    **{f"np.{name}": getattr(np, name) for name in ("pi", "e", "inf", "nan")},
    **{"np.euler_gamma": np.euler_gamma, "pi": np.pi, "Inf": np.inf, "NaN": np.nan},
    **{"NA": np.nan, "TRUE": True, "FALSE": False, "NULL": None},
}
RESERVED = {name.partition(".")[0] for name in (*VOCABULARY, *CONSTANTS)}
RESERVED |= {"c", "factor", "offset"}
