"""Functions of R and methods of columns, as formulas mean them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.language.arithmetic import (
    LARGEST,
    Compute,
    Value,
    as_numbers,
    as_real,
    is_column,
    is_text,
)
from pegasos_stats.errors import listing, shown

TYPES = {
    "bool": "bool",
    "category": "category",
    "float": "float64",
    "float32": "float32",
    "float64": "float64",
    "int": "int64",
    "int32": "int32",
    "int64": "int64",
    "object": "object",
    "str": "str",
}
PATTERN = set("\\^$.|?*+()[]{}")


def column_of(values: Value) -> DataColumn:
    """View values of the rows as a Series."""
    return values if isinstance(values, pd.Series) else pd.Series(values)


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
    found: Value = np.where(chosen, _plain_truth(yes), _plain_truth(no))
    if found.dtype.kind not in "biuf":
        found = pd.Series(found.astype(object), index=index)
    if not unknown.any():
        return found
    return pd.Series(found, index=index).mask(unknown)


def _plain_truth(value: Value) -> Value:
    """Return nullable booleans as numbers; anything else as it is."""
    nullable = isinstance(getattr(value, "dtype", None), pd.BooleanDtype)
    return as_numbers(value) if nullable else value


def is_missing(x: Value) -> Value:
    """``is.na(x)``: whether a value is missing."""
    return column_of(x).isna()


def is_there(x: Value) -> Value:
    """Whether a value is not missing."""
    return column_of(x).notna()


def filled(x: Value, value: Value) -> Value:
    """``x.fillna(value)``: a level that is new comes after the others."""
    column = column_of(x)
    if isinstance(column.dtype, pd.CategoricalDtype) and not is_column(value):
        if value not in column.cat.categories:
            column = column.cat.add_categories([value])
        return column.fillna(value)
    known = column.notna().any()
    if value is None or (known and is_text(value) != is_text(column)):
        raise TypeError("a missing value is filled by text in text, else by a number")
    found = column.fillna(value)
    return found.astype(bool) if found.dtype.kind == "b" else found


def first_there(*columns: Value) -> Value:
    """``coalesce(x, z, ...)``: the first that is not missing, row by row."""
    if not columns or not is_column(columns[0]):
        raise TypeError("coalesce() takes a column first, then what fills it")
    found = columns[0]
    for column in columns[1:]:
        found = filled(found, column)
    return found


def with_level_of_missing(x: Value) -> Value:
    """``addNA(x)``: a factor in which missing values are the last level, ``NA``."""
    column = column_of(x).astype("category")
    name = "<NA>" if "NA" in column.cat.categories else "NA"
    return column.cat.add_categories([name]).fillna(name)


def smallest(*columns: Value) -> Value:
    """``pmin(a, b, ...)``, row by row."""
    return _reduced(np.minimum, columns)


def largest(*columns: Value) -> Value:
    """``pmax(a, b, ...)``, row by row."""
    return _reduced(np.maximum, columns)


def _reduced(join: Compute, columns: Sequence[Value]) -> Value:
    if not columns:
        raise ValueError("pmin() and pmax() take at least one column")
    if any(map(is_text, columns)):
        raise TypeError("pmin() and pmax() take numbers, and there is text")
    found = columns[0]
    for column in columns[1:]:
        found = join(found, column)
    return found


def as_type(x: Value, dtype: str) -> Value:
    """Column in another type, which is one of `TYPES`."""
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise ValueError(f"astype() takes one of {', '.join(TYPES)}, not {dtype!r}")
    found = cast("Value", column_of(x)).astype(TYPES[dtype])
    if found.dtype.kind == "i" and not is_text(x) and ((found - x).abs() >= 1).any():
        raise ValueError(f"astype() has numbers that {dtype} cannot hold")
    return found


def as_numeric(x: Value) -> Value:
    """Numbers of a column of numbers, of true and false, or of text."""
    values = column_of(x)
    try:
        return values.astype("float64")
    except (TypeError, ValueError):
        wrong = values[pd.to_numeric(values, errors="coerce").isna()]
        raise ValueError(
            f"there are values that are no numbers, {listing(wrong.unique())}"
        ) from None


def as_integer(x: Value) -> Value:
    """Whole numbers, cut towards zero as in R; beyond 64 bits they stay real."""
    whole = np.trunc(as_numeric(x))
    return whole.astype("int64") if (whole.abs() < LARGEST).all() else whole


def as_logical(x: Value) -> Value:
    """True where a number is not 0."""
    return as_numeric(x) != 0


def as_character(x: Value) -> Value:
    """Text of a column; whole numbers without a point, as in R.

    Examples
    --------
    >>> as_character(pd.Series([1.0, 2.5])).tolist()
    ['1', '2.5']
    """
    values = column_of(x)
    if values.dtype.kind == "f":
        return values.map(lambda number: f"{number:.15g}").astype(object)
    return values.astype(str).astype(object)


def lagged(x: Value, k: int = 1) -> Value:
    """Values of `k` rows before."""
    values = column_of(x)
    return values.shift(max(-len(values), min(k, len(values))))


def cut(
    x: Value,
    breaks: Value,
    labels: Value = None,
    right: bool = True,
    include_lowest: bool = False,
    state: dict[str, Value] | None = None,
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
    _check_labels(labels, len(edges) - 1)
    names = _interval_names(edges, right, include_lowest) if labels is None else labels
    cells = pd.cut(
        column_of(x), sorted(edges), right=right, labels=False,
        include_lowest=include_lowest,
    )  # fmt: skip
    return cells.map(dict(enumerate(names))).astype(pd.CategoricalDtype(names))


def _breaks(x: Value, breaks: Value) -> list[float]:
    if isinstance(breaks, list):
        return sorted(float(edge) for edge in breaks)
    low, high = float(np.min(x)), float(np.max(x))
    if not low < high:
        raise ValueError(
            f"cut() has the value {low:g} in every row; leave the term out"
        )
    edges = np.linspace(low, high, breaks + 1)
    edges[0], edges[-1] = low - (high - low) / 1000, high + (high - low) / 1000
    return [float(edge) for edge in edges]


def _check_labels(labels: Value, intervals: int) -> None:
    if labels is None:
        return
    texts = isinstance(labels, list) and all(isinstance(each, str) for each in labels)
    if not texts or len(labels) != intervals or len(set(labels)) != intervals:
        raise ValueError(
            f"labels of cut() is {shown(labels)}; give a list of {intervals} texts "
            "that differ, one for each interval"
        )


def _interval_names(edges: list[float], right: bool, lowest: bool) -> list[str]:
    marks = "(]" if right else "[)"
    texts = next(filter(_neighbours_differ, _written(edges)), [])
    names = [f"{marks[0]}{a},{b}{marks[1]}" for a, b in pairwise(texts)]
    if lowest and right:
        names[0] = f"[{names[0][1:]}"
    if lowest and not right:
        names[-1] = f"{names[-1][:-1]}]"
    return names


def _written(edges: list[float]) -> Iterator[list[str]]:
    """Breaks as text, with three digits and then, as in R, with more."""
    for digits in range(3, 18):
        yield [f"{edge:.{digits}g}" for edge in edges]


def _neighbours_differ(texts: list[str]) -> bool:
    return all(a != b for a, b in pairwise(texts))


def substring(x: Value, start: int, stop: int) -> Value:
    """``substr(x, start, stop)`` of R: places from 1, both ends included."""
    _check_places("substr", start, stop)
    return column_of(x).str.slice(max(start - 1, 0), max(stop, 0))


def sliced(x: Value, start: int | None = None, stop: int | None = None) -> Value:
    """``x.str.slice(start, stop)``."""
    _check_places("slice", *(place for place in (start, stop) if place is not None))
    return column_of(x).str.slice(start, stop)


def _check_places(name: str, *places: Value) -> None:
    wrong = [place for place in places if not isinstance(place, int)]
    if wrong:
        raise ValueError(f"{name}() takes whole numbers as places, not {wrong[0]!r}")


def starts_with(x: Value, prefix: str) -> Value:
    """Whether text starts with a prefix."""
    return column_of(x).str.startswith(_text(prefix))


def ends_with(x: Value, suffix: str) -> Value:
    """Whether text ends with a suffix."""
    return column_of(x).str.endswith(_text(suffix))


def contains(x: Value, pat: str) -> Value:
    """Whether text contains other text, which is no pattern."""
    if PATTERN & set(_text(pat)):
        raise ValueError(
            f"contains() takes text without signs of patterns, not {pat!r}"
        )
    return column_of(x).str.contains(pat, regex=False)


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise ValueError(f"it takes text where {value!r} was given")
    return value


def replaced_nan(
    x: Value, nan: float = 0.0, posinf: Value = None, neginf: Value = None
) -> Value:
    """``np.nan_to_num``, into a new column."""
    return np.nan_to_num(x, copy=True, nan=nan, posinf=posinf, neginf=neginf)


def releveled(x: Value, ref: Value) -> Value:
    """``relevel(x, ref)``: a factor whose reference is the level `ref`."""
    from formulaic.transforms import TRANSFORMS

    return TRANSFORMS["C"](x, TRANSFORMS["Treatment"](ref))


def summary(compute: Compute) -> Compute:
    """A number about a column, found at fit and kept for new data."""

    def kept(x: Value, q: Value = None, *, state: dict[str, Value]) -> Value:
        if "value" not in state:
            if is_text(x):
                raise TypeError("means and other summaries take numbers")
            options = () if q is None else (q,)
            numbers = as_real(as_numbers(column_of(x)))
            state["value"] = float(compute(numbers, *options))
        return state["value"]

    return kept
