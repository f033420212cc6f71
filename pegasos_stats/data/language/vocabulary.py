"""What a formula may call, and its arithmetic: words of R and numpy, and operators.

A value is a constant, a list of constants, a column of the rows (a Series) or several
(a DataFrame), or a `TermValue` of columns; missing values are as in R. A name is looked
up in `VOCABULARY` and nowhere else. What a function finds at the fit stays in its
state, by which new rows are coded.
"""

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import pairwise
from numbers import Real
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn, Mask
from pegasos_stats.errors import shown

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


# ------------------------------------------------------------------- functions

Functions = Mapping[str, Compute]
State = dict[str, Value]

MOST = 1000  # of a degree, levels, knots, ...
BEYOND = "beyond"  # in a state: what becomes of rows beyond those it was found in
TYPES = {"float": "float64", "int": "int64"}
OTHER_TYPES = "bool category float32 float64 int32 int64 object str"
TYPES |= {name: name for name in OTHER_TYPES.split()}
PATTERN = set("\\^$.|?*+()[]{}")


def log(x: Value, base: Value = None) -> Value:
    """Natural logarithm, or that to a base, as in R.

    Examples
    --------
    >>> float(log(8.0, 2))
    3.0
    """
    found = np.log(as_numbers(x))
    return found if base is None else found / np.log(as_numbers(base))


def rounded(x: Value, digits: int = 0) -> Value:
    """Round to digits behind the point; halves go to the even digit, as in R."""
    return np.round(as_numbers(x), digits)


def one_of(test: Value, yes: Value, no: Value) -> Value:
    """``ifelse(test, yes, no)``: text becomes categories of the term."""
    if is_text(test):
        raise TypeError("ifelse() takes a test, such as x > 1, and there is text")
    if is_text(yes) != is_text(no):
        raise TypeError("ifelse() has text and numbers to choose from; give one kind")
    unknown = np.asarray(pd.isna(test))
    index = getattr(test, "index", None)
    chosen = np.asarray(test, dtype=object) if unknown.any() else np.asarray(test)
    chosen = np.where(unknown, False, chosen).astype(bool)
    found: Value = np.where(chosen, yes, no)
    if found.dtype.kind not in "biuf":
        found = pd.Series(found.astype(object), index=index)
    if not unknown.any():
        return found
    return pd.Series(found, index=index).mask(unknown)


def filled(x: Value, value: Value) -> Value:
    """``x.fillna(value)``: a level that is new comes after the others."""
    if isinstance(x.dtype, pd.CategoricalDtype) and not is_column(value):
        if value not in x.cat.categories:
            x = x.cat.add_categories([value])
        return x.fillna(value)
    known = x.notna().any()
    if value is None or (known and is_text(value) != is_text(x)):
        raise TypeError("a missing value is filled by text in text, else by a number")
    found = x.fillna(value)
    return found.astype(bool) if found.dtype.kind == "b" else found


def first_there(*columns: Value) -> Value:
    """``coalesce(x, z, ...)``: the first that is not missing, row by row."""
    if not columns or not is_column(columns[0]):
        raise TypeError("coalesce() takes a column first, then what fills it")
    return reduce(filled, columns)


def with_level_of_missing(x: Value) -> Value:
    """``addNA(x)``: a factor in which missing values are the last level, ``NA``."""
    column = x.astype("category")
    name = "<NA>" if "NA" in column.cat.categories else "NA"
    return column.cat.add_categories([name]).fillna(name)


def extreme(join: Compute, *columns: Value) -> Value:
    """``pmin(a, b, ...)`` and ``pmax``, row by row."""
    if not columns or any(map(is_text, columns)):
        raise TypeError("pmin() and pmax() take numbers")
    return reduce(join, columns)


def as_type(x: Value, dtype: str) -> Value:
    """Column in another type, which is one of `TYPES`."""
    found = x.astype(TYPES[dtype])
    if found.dtype.kind == "i" and not is_text(x) and ((found - x).abs() >= 1).any():
        raise ValueError(f"astype() has numbers that {dtype} cannot hold")
    return found


def as_numeric(x: Value) -> Value:
    """Numbers of a column of numbers, of true and false, or of text."""
    return x.astype("float64")


def as_integer(x: Value) -> Value:
    """Whole numbers, cut towards zero as in R; beyond 64 bits they stay real."""
    whole = np.trunc(as_numeric(x))
    return whole.astype("int64") if (whole.abs() < LARGEST).all() else whole


def as_character(x: Value) -> Value:
    """Text of a column; whole numbers without a point, as in R.

    Examples
    --------
    >>> as_character(pd.Series([1.0, 2.5])).tolist()
    ['1', '2.5']
    """
    if x.dtype.kind == "f":
        return x.map(lambda number: f"{number:.15g}").astype(object)
    return x.astype(str).astype(object)


def lagged(x: Value, k: int = 1) -> Value:
    """Values of `k` rows before."""
    return x.shift(max(-len(x), min(k, len(x))))


def cut(
    x: Value,
    breaks: Value,
    labels: Value = None,
    right: bool = True,
    include_lowest: bool = False,
    state: State | None = None,
) -> Value:
    """Intervals between breaks, named as in R: ``(0,10]``.

    A number of breaks, instead of a list, cuts the range at fit into as many intervals
    of one length. Outside of them a value is missing.

    Examples
    --------
    >>> cut(pd.Series([1, 5, 30]), [0, 4, 20]).tolist()
    ['(0,4]', '(4,20]', nan]
    """
    kept = {} if state is None else state
    if "breaks" not in kept:
        kept["breaks"] = _breaks(x, breaks)
    edges = kept["breaks"]
    names = _interval_names(edges, right, include_lowest) if labels is None else labels
    cells = pd.cut(x, edges, right=right, labels=names, include_lowest=include_lowest)
    return cells.cat.as_unordered()


def _breaks(x: Value, breaks: Value) -> list[float]:
    if isinstance(breaks, list):
        return sorted(float(edge) for edge in breaks)
    low, high = float(np.min(x)), float(np.max(x))
    if not low < high:
        raise ValueError(f"cut() has the value {low:g} in every row")
    edges = np.linspace(low, high, breaks + 1)
    edges[0], edges[-1] = low - (high - low) / 1000, high + (high - low) / 1000
    return [float(edge) for edge in edges]


def _interval_names(edges: list[float], right: bool, lowest: bool) -> list[str]:
    """Breaks have three digits, and as in R more where they would look the same."""
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
    """Whether text contains other text, which is no pattern."""
    if PATTERN & set(pat):
        raise ValueError(
            f"contains() takes text without signs of patterns, not {pat!r}"
        )
    return x.str.contains(pat, regex=False)


def factor(
    x: Value,
    contrasts: Value = None,
    levels: list[Value] | None = None,
    spans_intercept: bool = True,
) -> Value:
    """``C(x)``: a factor, whatever the values are."""
    return TermValue(x, spans_intercept, levels, contrasts, is_factor=True)


def hashed(
    x: Value, levels: int, contrasts: Value = None, spans_intercept: bool = False
) -> Value:
    """A factor of so many levels, to which the values are hashed."""
    from formulaic.transforms import TRANSFORMS

    codes = TRANSFORMS["hashed"](x, levels).__wrapped__
    return factor(codes, contrasts, list(range(levels)), spans_intercept)


def releveled(x: Value, ref: Value) -> Value:
    """``relevel(x, ref)``: a factor whose reference is the level `ref`."""
    from formulaic.transforms import TRANSFORMS

    return factor(x, TRANSFORMS["Treatment"](ref))


def polynomial(
    x: Value, degree: int = 1, raw: bool = False, *, state: State | None = None
) -> Value:
    """``poly(x, degree)`` of R, by formulaic, which does not count the values."""
    from formulaic.transforms import TRANSFORMS

    different = np.unique(np.asarray(x, dtype=np.float64)).size
    if not raw and not state and degree >= different:
        raise ValueError(
            f"degree of poly() is {degree}; give a whole number below {different}, as "
            "there are so many different values"
        )
    found = TRANSFORMS["poly"](x, degree, raw, _state=state)
    return found if raw else TermValue(dict(enumerate(np.asarray(found).T, start=1)))


Numbers = NDArray[np.float64]

DEGREE = 3
MOVED = 1 / 8  # of the way to the next knot


def natural_spline(
    x: Value,
    df: int | None = None,
    knots: Sequence[float] | None = None,
    intercept: bool = False,
    Boundary_knots: Sequence[float] | None = None,
    *,
    state: dict[str, Value] | None = None,
) -> Value:
    """Columns of a natural cubic spline, a straight line beyond its outer knots.

    Parameters
    ----------
    x : array-like of numbers
    df : int, optional
        Number of columns. The inner knots are as many quantiles of `x` as that takes.
    knots : list of numbers, optional
        The inner knots, instead of `df`. With neither there are none.
    intercept : bool
        Whether the constant is a combination of the columns.
    Boundary_knots : list of 2 numbers, optional
        The outer knots. Default: the range of `x`.
    state : dict, optional
        The knots found at fit.

    Examples
    --------
    >>> second = natural_spline([0.0, 1.0, 2.0, 4.0], df=2).values[2]
    >>> [round(float(value), 4) for value in second]  # round(ns(x, df = 2)[, 2], 4)
    [0.0, -0.2153, -0.154, 0.8081]
    """
    values = np.asarray(x, dtype=np.float64)
    found = {} if state is None else state
    if "knots" not in found:
        ends = Boundary_knots or [values.min(), values.max()]
        low, high = sorted(map(float, ends))
        if not low < high:
            raise ValueError(f"ns() has the value {low:g} in every row")
        inner = sorted(map(float, knots or []))
        if (df is not None and knots is not None) or not all(
            low < k < high for k in inner
        ):
            raise ValueError(
                f"ns() takes df, or knots between {low:g} and {high:g}, the outer ones"
            )
        if df is not None:
            inner = _quantiles(values, low, high, df - 1 - intercept)
        found["boundary"], found["knots"] = [low, high], inner
    low, high = found["boundary"]
    columns = _basis(values, low, high, found["knots"], intercept).T
    return TermValue(dict(enumerate(columns, start=1)))


def _quantiles(values: Numbers, low: float, high: float, count: int) -> list[float]:
    """Inner knots at equal shares of the values; none on an outer one, as in R 4.4."""
    within = values[(values >= low) & (values <= high)]
    if count < 0:
        raise ValueError("df of ns() is 1; with an intercept give 2 or more")
    if count == 0:
        return []
    knots = np.quantile(within, np.linspace(0.0, 1.0, count + 2)[1:-1])
    for end in (low, high):
        others = knots[knots != end]
        if not others.size:
            raise ValueError(
                f"all inner knots that ns() finds are {end:g}, an outer one; give knots"
            )
        nearest = others[np.abs(others - end).argmin()]
        knots[knots == end] += (nearest - end) * MOVED
    return [float(knot) for knot in knots]


def _basis(
    values: Numbers, low: float, high: float, knots: Sequence[float], intercept: bool
) -> Numbers:
    """B-splines whose second derivative is 0 at both outer knots."""
    ends = np.array([low, high])
    at = np.sort([*np.repeat(ends, DEGREE + 1), *knots])
    first = 0 if intercept else 1
    from scipy.interpolate import BSpline

    spline = BSpline(at, np.eye(len(at) - DEGREE - 1)[:, first:], DEGREE)
    nearest = np.clip(values, low, high)
    found = spline(nearest)
    beyond = values != nearest
    slopes = spline(nearest[beyond], nu=1)
    found[beyond] += (values - nearest)[beyond, np.newaxis] * slopes
    Q = np.linalg.qr(spline(ends, nu=2).T, mode="complete").Q
    columns: Numbers = (found @ Q)[:, 2:]
    return columns


@dataclass(frozen=True)
class Function:
    """How a function is called.

    Attributes
    ----------
    call : callable or str
        Text is the name of one of formulaic's transformations.
    words : str
        Names of its parameters, where its signature does not say them.
    numbers : bool
        Whether its first argument cannot be text.
    all_rows : bool
        Whether it is given rows with missing values too.
    state : str
        Name of the argument that takes its state; empty if it has none.
    open : bool
        Whether it takes any arguments.
    """

    call: Compute | str
    words: str = ""
    numbers: bool = True
    all_rows: bool = False
    state: str = ""
    open: bool = False

    @cached_property
    def signature(self) -> inspect.Signature:
        """Parameters that a formula may give; those of a ufunc have no names."""
        if isinstance(self.call, np.ufunc):
            x = inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)
            return inspect.Signature([x, x.replace(name="y")][: self.call.nin])
        if self.words or isinstance(self.call, str):
            either = inspect.Parameter.POSITIONAL_OR_KEYWORD
            x = inspect.Parameter("x", either, default=None)
            return inspect.Signature([x.replace(name=n) for n in self.words.split()])
        known = inspect.signature(self.call).parameters.values()
        return inspect.Signature([each for each in known if each.name != self.state])

    @cached_property
    def resolved(self) -> Compute:
        """The function itself."""
        if not isinstance(self.call, str):
            return self.call
        from formulaic.transforms import TRANSFORMS, ContrastsRegistry

        if self.call.startswith("contr."):
            found: Compute = vars(ContrastsRegistry)[self.call[6:]]
            return found
        return partial(_transformed, TRANSFORMS[self.call])

    def given(
        self, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value]
    ) -> dict[str, Value]:
        """Arguments by the names of the parameters.

        Raises
        ------
        TypeError
            If there are too many, or one is not known.

        Examples
        --------
        >>> VOCABULARY["log"].given("log", ["x", 2], {})
        {'x': 'x', 'base': 2}
        """
        if self.open:
            return {str(i): each for i, each in enumerate(arguments)} | dict(keywords)
        try:
            return dict(self.signature.bind(*arguments, **keywords).arguments)
        except TypeError as error:
            words = ", ".join(self.signature.parameters) or "no arguments"
            called = name.removeprefix(".")
            raise TypeError(f"{called}() takes {words}: {error}") from None


def _transformed(transform: Compute, *arguments: Value, **keywords: Value) -> Value:
    """What a transformation of formulaic gives, as the vocabulary has values."""
    found = transform(*arguments, **keywords)
    plain = getattr(found, "__wrapped__", found)
    if not isinstance(plain, dict):
        return plain
    return TermValue(plain, found.__formulaic_metadata__.spans_intercept)


UFUNCS = (
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil "
    "copysign cos cosh deg2rad degrees divide equal exp exp2 expm1 fabs float_power "
    "floor floor_divide fmod greater greater_equal heaviside hypot less less_equal log "
    "log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
    "logical_xor maximum minimum multiply negative not_equal positive power rad2deg "
    "radians remainder rint sign signbit sin sinh sqrt square subtract tan tanh trunc"
)
LOOKING = "isnan isfinite isinf fmax fmin"  # at missing values
# Other names of ufuncs: without np., R's, and numpy's own.
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


def _summary(method: str, **fixed: int) -> Function:
    """A number about a column, found at fit and kept for new data."""

    def kept(x: Value, state: State, **options: Value) -> Value:
        if "value" not in state:
            numbers = as_real(as_numbers(x))
            state["value"] = float(getattr(numbers, method)(**fixed, **options))
        return state["value"]

    return Function(kept, "x q" if method == "quantile" else "x", state="state")


def _any(compute: Compute | str, words: str = "", all_rows: bool = False) -> Function:
    return Function(compute, words, False, all_rows)


def _method(
    path: str, words: str = "x", numbers: bool = False, all_rows: bool = False
) -> Function:
    """A method of columns, by its path from a column."""
    method = attrgetter(path)

    def called(x: Value, **given: Value) -> Value:
        return method(x)(**given)

    return Function(called, words, numbers, all_rows)


OF_TEXT = "len lower upper strip title capitalize"
SPREADS = ("std", "var")
CUBIC = "x df knots lower_bound upper_bound constraints extrapolation"
# Contrasts may stand without brackets, as in C(g, contr.sum).
CONTRASTS: dict[str, Function] = {
    name: Function(name, words, False, open=not words)
    for name, words in {
        "contr.SAS": "", "contr.custom": "contrasts names", "contr.diff": "backward",
        "contr.helmert": "reverse scale", "contr.poly": "scores", "contr.sum": "",
        "contr.treatment": "base", "Diff": "backward", "Helmert": "reverse scale",
        "Poly": "scores", "Sum": "", "Treatment": "reference",
    }.items()
}  # fmt: skip
VOCABULARY: dict[str, Function] = {
    **{f"np.{name}": Function(getattr(np, name)) for name in UFUNCS.split()},
    **{f"np.{n}": Function(getattr(np, n), all_rows=True) for n in LOOKING.split()},
    **CONTRASTS,
    "sd": _summary("std", ddof=1),
    **{
        prefix + name: _summary(name, **({"ddof": ddof} if name in SPREADS else {}))
        for prefix, ddof in (("", 1), ("np.", 0), (".", 1))  # numpy divides by n
        for name in ("max", "mean", "median", "min", "quantile", "sum", *SPREADS)
    },
    # transformations, those of formulaic by their names
    "I": _any(lambda x: x, all_rows=True),
    "C": _any(factor, "data contrasts levels spans_intercept"),
    "relevel": _any(releveled),
    "hashed": _any(hashed, "data levels contrasts spans_intercept"),
    "bs": Function(
        "bs",
        "x df knots degree include_intercept lower_bound upper_bound extrapolation",
        state="_state",
    ),
    **{name: Function(name, CUBIC, state="_state") for name in ("cc", "cr", "cs")},
    "ns": Function(natural_spline, state="state"),
    "poly": Function(polynomial, state="state"),
    "center": Function("center", "data", state="_state"),
    "scale": Function("scale", "data center scale ddof", state="_state"),
    "standardize": Function("standardize", "x center rescale ddof", state="_state"),
    "cut": Function(cut, state="state"),
    "lag": _any(lagged, all_rows=True),
    # numbers
    "log": Function(log),
    **{name: Function(rounded) for name in ("round", "np.round", "np.around")},
    "np.reciprocal": Function(
        lambda x: in_range(partial(np.divide, 1.0), as_numbers(x))
    ),
    "np.clip": Function(lambda x, a_min=None, a_max=None: np.clip(x, a_min, a_max)),
    "pmin": Function(partial(extreme, np.minimum), open=True),
    "pmax": Function(partial(extreme, np.maximum), open=True),
    ".abs": _method("abs", numbers=True),
    ".between": _method("between", "x left right inclusive", numbers=True),
    ".clip": _method("clip", "x lower upper", numbers=True),
    ".round": Function(lambda x, decimals=0: rounded(x, decimals)),
    # missing values and choices
    "np.nan_to_num": Function(
        lambda x, nan=0.0, posinf=None, neginf=None: np.nan_to_num(
            x, copy=True, nan=nan, posinf=posinf, neginf=neginf
        ),
        all_rows=True,
    ),
    **dict.fromkeys(
        ("is_na", "pd.isna", "pd.isnull", ".isna", ".isnull"),
        _method("isna", all_rows=True),
    ),
    **dict.fromkeys(
        ("pd.notna", "pd.notnull", ".notna", ".notnull"),
        _method("notna", all_rows=True),
    ),
    "addNA": _any(with_level_of_missing, all_rows=True),
    "coalesce": Function(first_there, all_rows=True, open=True),
    ".fillna": _any(filled, all_rows=True),
    "ifelse": _any(one_of, all_rows=True),
    "np.where": _any(one_of, all_rows=True),
    ".isin": _method("isin", "x values", all_rows=True),
    # types
    "as_numeric": _any(as_numeric),
    "as_integer": _any(as_integer),
    "as_logical": _any(lambda x: as_numeric(x) != 0),
    "as_character": _any(as_character),
    ".astype": _any(as_type),
    # text
    **{f".str.{name}": _method(f"str.{name}") for name in OF_TEXT.split()},
    "nchar": _method("str.len"),
    "toupper": _method("str.upper"),
    "tolower": _method("str.lower"),
    "trimws": _method("str.strip"),
    "substr": _any(  # of R: places from 1, both ends included
        lambda x, start, stop: x.str.slice(max(start - 1, 0), max(stop, 0))
    ),
    "startsWith": _any(lambda x, prefix: x.str.startswith(prefix)),
    "endsWith": _any(lambda x, suffix: x.str.endswith(suffix)),
    ".str.slice": _method("str.slice", "x start stop"),
    ".str.startswith": _method("str.startswith", "x pat"),
    ".str.endswith": _method("str.endswith", "x pat"),
    ".str.contains": _any(contains),
}
VOCABULARY |= {name: VOCABULARY[f"np.{known}"] for name, known in ALSO.items()}
# Attributes of a column, some under names of which pandas warns.
PARTS_OF_DATES = "year month day hour minute second quarter day_of_week day_of_year"
ATTRIBUTES: dict[str, Function] = {
    f".dt.{name}": _any(attrgetter(f"dt.{name}"), "x")
    for name in PARTS_OF_DATES.split()
}
ATTRIBUTES |= {
    ".dt.dayofweek": ATTRIBUTES[".dt.day_of_week"],
    ".dt.weekday": ATTRIBUTES[".dt.day_of_week"],
    ".dt.dayofyear": ATTRIBUTES[".dt.day_of_year"],
}
CONSTANTS: dict[str, Value] = {
    **{f"np.{name}": getattr(np, name) for name in ("pi", "e", "inf", "nan")},
    **{"np.euler_gamma": np.euler_gamma, "pi": np.pi, "Inf": np.inf, "NaN": np.nan},
    **{"NA": np.nan, "TRUE": True, "FALSE": False, "NULL": None},
}
KNOWN = {name.partition(".")[0] for name in (*VOCABULARY, *CONSTANTS)}
KNOWN |= {"c", "factor", "offset"}


def is_whole(value: Value, least: float, most: float = np.inf) -> bool:
    """Whether a value is a whole number between two others."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and least <= value <= most


def is_number(value: Value) -> bool:
    """Whether a value is a finite number, or true or false."""
    return isinstance(value, Real) and bool(np.isfinite(float(value)))


def _differ(value: Value, least: int = 1) -> bool:
    """Whether a value is a list of constants that differ."""
    return isinstance(value, list) and least <= len(set(value)) == len(value)


# What an argument may be, by the names of parameters; for others their function asks.
_RULES: dict[str, tuple[Compute, str]] = {
    "df degree": (
        lambda v: is_whole(v, 1, MOST),
        f"a whole number from 1 to {MOST:,}",
    ),
    "digits decimals": (lambda v: is_whole(v, -300, 300), "a whole number up to 300"),
    "k start stop": (lambda v: is_whole(v, -(2**62), 2**62), "a whole number"),
    "backward include_intercept include_lowest intercept raw reverse spans_intercept": (
        lambda v: isinstance(v, bool),
        "True or False",
    ),
    "center scale rescale lower_bound upper_bound": (
        is_number,
        "a number, True or False",
    ),
    "levels": (
        lambda v: is_whole(v, 1, MOST) or _differ(v),
        f"levels that differ, or how many, 1 to {MOST:,}",
    ),
    "breaks": (
        lambda v: is_whole(v, 2, MOST) or (_differ(v, 2) and all(map(is_number, v))),
        f"numbers that differ, or how many intervals, 2 to {MOST:,}",
    ),
}
RULES = {name: rule for names, rule in _RULES.items() for name in names.split()}


def check_arguments(name: str, function: Function, given: Mapping[str, Value]) -> None:
    """Raise TypeError or ValueError for arguments that a function does not take.

    Examples
    --------
    >>> check_arguments("poly", VOCABULARY["poly"], {"x": 1.0, "degree": 2.5})
    Traceback (most recent call last):
        ...
    ValueError: degree of poly() is 2.5; give a whole number from 1 to 1,000
    """
    called, values = name.removeprefix("."), list(given.values())
    for value in values if isinstance(function.call, np.ufunc) else values[:1]:
        if function.numbers and (value is None or is_text(value)):
            raise TypeError(f"{called}() takes numbers, and there is text")
    for parameter, value in list(given.items())[0 if name in CONTRASTS else 1 :]:
        rule = RULES.get(parameter)
        default = function.signature.parameters[parameter].default
        if rule and not (value is None and default is None) and not rule[0](value):
            what = "a column" if is_column(value) else shown(value)
            raise ValueError(f"{parameter} of {called}() is {what}; give {rule[1]}")
