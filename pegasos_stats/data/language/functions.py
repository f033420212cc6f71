"""What a formula may call: R's and numpy's vocabulary, as plain tables.

A name in a formula is looked up here and nowhere else. Formulaic's transformations
keep what they find at fit in a state, and so do the summaries of a column, such as
`mean`: new data are coded by the numbers of the fit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
from pegasos_stats.foreign_names import suggestion

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
    >>> second = natural_spline([0.0, 1.0, 2.0, 4.0], df=2)[2]
    >>> [round(float(value), 4) for value in second]  # round(ns(x, df = 2)[, 2], 4)
    [0.0, -0.2153, -0.154, 0.8081]
    """
    from formulaic.materializers.types import FactorValues

    values = np.asarray(x, dtype=np.float64)
    found = {} if state is None else state
    if "knots" not in found:
        ends = Boundary_knots or [values.min(), values.max()]
        low, high = sorted(map(float, ends))
        inner = sorted(map(float, knots or []))
        if df is not None:
            inner = _quantiles(values, low, high, df - 1 - intercept)
        found["boundary"], found["knots"] = [low, high], inner
    low, high = found["boundary"]
    columns = _basis(values, low, high, found["knots"], intercept).T
    return FactorValues(
        dict(enumerate(columns, start=1)),
        kind="numerical",
        format="{name}[{field}]",
        encoded=False,
    )


def _quantiles(values: Numbers, low: float, high: float, count: int) -> list[float]:
    """Inner knots at equal shares of the values; none on an outer one, as in R 4.4."""
    within = values[(values >= low) & (values <= high)]
    if count == 0:
        return []
    if not within.size:
        raise ValueError(
            f"ns() has no value between its outer knots {low:g} and {high:g}; give "
            "Boundary_knots that hold values"
        )
    knots = np.quantile(within, np.linspace(0.0, 1.0, count + 2)[1:-1])
    for end in (low, high):
        others = knots[knots != end]
        if not others.size:
            raise ValueError(
                f"all inner knots that ns() finds are {end:g}, an outer one, as so "
                "many rows have this value; give knots, or leave the term out"
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


ANY = 1_000_000


@dataclass(frozen=True)
class Function:
    """How a function is called.

    Attributes
    ----------
    call : callable or str
        Text is the name of one of formulaic's transformations.
    parameters : tuple of str
        Names of its parameters, in order.
    columns : int
        How many of these, from the first, may be columns; the others are constants.
    state : str
        Name of the argument that takes its state; empty if it has none.
    elementwise : bool
        Whether it takes all its parameters by position, and numbers only.
    open : bool
        Whether it takes any number of arguments.
    """

    call: Compute | str
    parameters: tuple[str, ...] = ("x",)
    columns: int = 1
    state: str = ""
    elementwise: bool = False
    open: bool = False

    @classmethod
    def given(cls, call: Compute) -> "Function":
        """A function of the caller, who knows its arguments."""
        return cls(call, columns=ANY, open=True)

    def mismatch(self, positional: int, keywords: Sequence[str]) -> str:
        """What is wrong with the number and names of arguments; empty if nothing.

        Examples
        --------
        >>> FUNCTIONS["log"].mismatch(3, [])
        'takes at most 2 arguments: x, base'
        """
        names = ", ".join(self.parameters)
        if self.open:
            return ""
        if self.elementwise and (keywords or positional != len(self.parameters)):
            return f"takes {len(self.parameters)} numbers or columns, without names"
        if positional > len(self.parameters):
            return f"takes at most {len(self.parameters)} arguments: {names}"
        left = self.parameters[positional:]
        wrong = [word for word in keywords if word not in left]
        if wrong or len(set(keywords)) < len(keywords):
            other = (wrong or list(keywords))[0]
            instead = suggestion(other, ("options", str(self.call)))
            return f"cannot be given {other!r}; {instead or f'it takes {names}'}"
        return ""

    @property
    def resolved(self) -> Compute:
        """The function itself."""
        if not isinstance(self.call, str):
            return self.call
        from formulaic.transforms import TRANSFORMS, ContrastsRegistry

        if self.call.startswith("contr."):
            found: Compute = vars(ContrastsRegistry)[self.call[6:]]
            return found
        transform: Compute = TRANSFORMS[self.call]
        return transform


UFUNCS: tuple[np.ufunc, ...] = (
    np.absolute, np.add, np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan,
    np.arctan2, np.arctanh, np.cbrt, np.ceil, np.copysign, np.cos, np.cosh, np.deg2rad,
    np.degrees, np.divide, np.equal, np.exp, np.exp2, np.expm1, np.fabs,
    np.float_power, np.floor, np.floor_divide, np.fmax, np.fmin, np.fmod, np.greater,
    np.greater_equal, np.heaviside, np.hypot, np.isfinite, np.isinf, np.isnan, np.less,
    np.less_equal, np.log, np.log10, np.log1p, np.log2, np.logaddexp, np.logaddexp2,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.maximum,
    np.minimum, np.multiply, np.negative, np.not_equal, np.positive, np.power,
    np.rad2deg, np.radians, np.remainder, np.rint, np.sign, np.signbit,
    np.sin, np.sinh, np.sqrt, np.square, np.subtract, np.tan, np.tanh, np.trunc,
)  # fmt: skip
BARE = (
    "abs", "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log10", "log1p",
    "log2", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
OF_R = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "ceiling": "ceil",
}
NUMPYS = {
    "abs": "absolute",
    "mod": "remainder",
    "pow": "power",
    "true_divide": "divide",
}


def _summary(compute: Compute, *options: str) -> Function:
    return Function(summary(compute), ("x", *options), state="state")


def _summaries(ddof: int) -> dict[str, Function]:
    """Numbers about a column; numpy divides by n where R and pandas take n - 1."""
    return {
        "max": _summary(lambda x: x.max()),
        "mean": _summary(lambda x: x.mean()),
        "median": _summary(lambda x: x.median()),
        "min": _summary(lambda x: x.min()),
        "quantile": _summary(lambda x, q=0.5: x.quantile(q), "q"),
        "std": _summary(lambda x: x.std(ddof=ddof)),
        "sum": _summary(lambda x: x.sum()),
        "var": _summary(lambda x: x.var(ddof=ddof)),
    }


ELEMENTWISE = {
    ufunc.__name__: Function(
        ufunc, ("x", "y")[: ufunc.nin], columns=ufunc.nin, elementwise=True
    )
    for ufunc in UFUNCS
}
ELEMENTWISE |= {name: ELEMENTWISE[known] for name, known in NUMPYS.items()}
ELEMENTWISE["reciprocal"] = Function(partial(np.divide, 1.0), elementwise=True)

TRANSFORMED = {
    "I": Function(lambda x: x),
    "C": Function("C", ("data", "contrasts", "levels", "spans_intercept")),
    "Q": Function(lambda x: x),
    "bs": Function(
        "bs",
        ("x", "df", "knots", "degree", "include_intercept", "lower_bound",
         "upper_bound", "extrapolation"),
        state="_state",
    ),
    "center": Function("center", ("data",), state="_state"),
    "cut": Function(
        cut,
        ("x", "breaks", "labels", "right", "include_lowest"),
        state="state",
    ),
    "hashed": Function("hashed", ("data", "levels", "contrasts", "spans_intercept")),
    "lag": Function(lagged, ("x", "k")),
    "ns": Function(
        natural_spline,
        ("x", "df", "knots", "intercept", "Boundary_knots"),
        state="state",
    ),
    "poly": Function("poly", ("x", "degree", "raw"), state="_state"),
    "relevel": Function(releveled, ("x", "ref")),
    "scale": Function("scale", ("data", "center", "scale", "ddof"), state="_state"),
    "standardize": Function(
        "standardize", ("x", "center", "rescale", "ddof"), state="_state"
    ),
}  # fmt: skip
SPLINE = (
    "x", "df", "knots", "lower_bound", "upper_bound", "constraints", "extrapolation",
)  # fmt: skip
for _name in ("cc", "cr", "cs"):
    TRANSFORMED[_name] = Function(_name, SPLINE, state="_state")

# Contrasts may stand without brackets, as in C(g, contr.sum).
CONTRASTS: dict[str, Function] = {
    "contr.SAS": Function("contr.SAS", ()),
    "contr.custom": Function("contr.custom", ("contrasts", "names"), columns=0),
    "contr.diff": Function("contr.diff", ("backward",), columns=0),
    "contr.helmert": Function("contr.helmert", ("reverse", "scale"), columns=0),
    "contr.poly": Function("contr.poly", ("scores",), columns=0),
    "contr.sum": Function("contr.sum", ()),
    "contr.treatment": Function("contr.treatment", ("base",), columns=0),
    "Diff": Function("Diff", ("backward",), columns=0),
    "Helmert": Function("Helmert", ("reverse", "scale"), columns=0),
    "Poly": Function("Poly", ("scores",), columns=0),
    "Sum": Function("Sum", ()),
    "Treatment": Function("Treatment", ("reference",), columns=0),
}
FUNCTIONS: dict[str, Function] = {
    **{f"np.{name}": function for name, function in ELEMENTWISE.items()},
    **{name: ELEMENTWISE[name] for name in BARE},
    **{name: ELEMENTWISE[known] for name, known in OF_R.items()},
    **TRANSFORMED,
    **CONTRASTS,
    **{f"np.{name}": function for name, function in _summaries(0).items()},
    **_summaries(1),
    "sd": _summary(lambda x: x.std(ddof=1)),
    "log": Function(log, ("x", "base"), columns=2),
    "round": Function(rounded, ("x", "digits")),
    "np.round": Function(rounded, ("x", "digits")),
    "np.around": Function(rounded, ("x", "digits")),
    "np.nan_to_num": Function(replaced_nan, ("x", "nan", "posinf", "neginf")),
    "np.clip": Function(np.clip, ("x", "a_min", "a_max"), columns=3),
    "np.where": Function(one_of, ("test", "yes", "no"), columns=3),
    "ifelse": Function(one_of, ("test", "yes", "no"), columns=3),
    "is_na": Function(is_missing),
    "pd.isna": Function(is_missing),
    "pd.isnull": Function(is_missing),
    "pd.notna": Function(is_there),
    "pd.notnull": Function(is_there),
    "coalesce": Function(first_there, columns=ANY, open=True),
    "addNA": Function(with_level_of_missing),
    "pmin": Function(smallest, columns=ANY, open=True),
    "pmax": Function(largest, columns=ANY, open=True),
    "as_numeric": Function(as_numeric),
    "as_integer": Function(as_integer),
    "as_logical": Function(as_logical),
    "as_character": Function(as_character),
    "nchar": Function(lambda x: column_of(x).str.len()),
    "toupper": Function(lambda x: column_of(x).str.upper()),
    "tolower": Function(lambda x: column_of(x).str.lower()),
    "trimws": Function(lambda x: column_of(x).str.strip()),
    "substr": Function(substring, ("x", "start", "stop")),
    "startsWith": Function(starts_with, ("x", "prefix")),
    "endsWith": Function(ends_with, ("x", "suffix")),
}

# Methods and attributes of a column: x.clip(0, 1), x.str.len(), x.dt.year.
METHODS: dict[str, Function] = {
    **_summaries(1),
    "abs": Function(pd.Series.abs),
    "astype": Function(as_type, ("x", "dtype")),
    "between": Function(
        pd.Series.between, ("x", "left", "right", "inclusive"), columns=3
    ),
    "clip": Function(pd.Series.clip, ("x", "lower", "upper"), columns=3),
    "fillna": Function(filled, ("x", "value"), columns=2),
    "isin": Function(pd.Series.isin, ("x", "values")),
    "isna": Function(is_missing),
    "isnull": Function(is_missing),
    "notna": Function(is_there),
    "notnull": Function(is_there),
    "round": Function(rounded, ("x", "decimals")),
    "str.len": Function(lambda x: x.str.len()),
    "str.lower": Function(lambda x: x.str.lower()),
    "str.upper": Function(lambda x: x.str.upper()),
    "str.strip": Function(lambda x: x.str.strip()),
    "str.title": Function(lambda x: x.str.title()),
    "str.capitalize": Function(lambda x: x.str.capitalize()),
    "str.slice": Function(sliced, ("x", "start", "stop")),
    "str.startswith": Function(starts_with, ("x", "pat")),
    "str.endswith": Function(ends_with, ("x", "pat")),
    "str.contains": Function(contains, ("x", "pat")),
}
ATTRIBUTES: dict[str, Function] = {
    f"dt.{name}": Function(attrgetter(f"dt.{name}"))
    for name in ("year", "month", "day", "hour", "minute", "second", "quarter")
}
# Under their earlier names too, of which pandas warns.
for _name, _now in {
    "dayofweek": "day_of_week",
    "weekday": "day_of_week",
    "dayofyear": "day_of_year",
}.items():
    ATTRIBUTES[f"dt.{_name}"] = Function(attrgetter(f"dt.{_now}"))
CONSTANTS: dict[str, Value] = {
    "np.pi": np.pi,
    "np.e": np.e,
    "np.inf": np.inf,
    "np.nan": np.nan,
    "np.euler_gamma": np.euler_gamma,
    "pi": np.pi,
    "Inf": np.inf,
    "NaN": np.nan,
    "NA": np.nan,
    "TRUE": True,
    "FALSE": False,
    "NULL": None,
}

KNOWN = {name.partition(".")[0] for name in (*FUNCTIONS, *CONSTANTS)} | {
    "c",
    "factor",
    "offset",
}
