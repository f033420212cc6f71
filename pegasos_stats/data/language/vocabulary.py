"""What a formula may call: words of R and numpy, and methods of columns.

A name is looked up in `VOCABULARY` and nowhere else. What a function finds at the fit
stays in its state, by which new rows are coded.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from numbers import Real
from operator import attrgetter
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.language.values import (
    LARGEST,
    Compute,
    TermValue,
    Value,
    as_numbers,
    as_real,
    in_range,
    is_column,
    is_text,
)
from pegasos_stats.errors import listing, shown

Functions = Mapping[str, Compute]
State = dict[str, Value]

MOST = 1000  # of a degree, levels, knots, ...
MOST_DIGITS = 300
BEYOND = "beyond"  # in a state: what becomes of rows beyond those it was found in
TYPES = {"float": "float64", "int": "int64"} | {
    name: name
    for name in (
        "bool", "category", "float32", "float64", "int32", "int64", "object", "str",
    )
}  # fmt: skip
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
    found: Value = np.where(chosen, yes, no)
    if found.dtype.kind not in "biuf":
        found = pd.Series(found.astype(object), index=index)
    if not unknown.any():
        return found
    return pd.Series(found, index=index).mask(unknown)


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


def extreme(join: Compute, *columns: Value) -> Value:
    """``pmin(a, b, ...)`` and ``pmax``, row by row."""
    if not columns or any(map(is_text, columns)):
        raise TypeError("pmin() and pmax() take numbers")
    found = columns[0]
    for column in columns[1:]:
        found = join(found, column)
    return found


def as_type(x: Value, dtype: str) -> Value:
    """Column in another type, which is one of `TYPES`."""
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
    if len(names) != len(edges) - 1 or len(set(names)) != len(names):
        raise ValueError(
            f"labels of cut() is {shown(labels)}; give a list of {len(edges) - 1} "
            "texts that differ, one for each interval"
        )
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
    return column_of(x).str.contains(pat, regex=False)


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
    return found if raw else TermValue(np.asarray(found))


def summary(compute: Compute) -> Compute:
    """A number about a column, found at fit and kept for new data."""

    def kept(x: Value, state: State, **options: Value) -> Value:
        if "value" not in state:
            numbers = as_real(as_numbers(column_of(x)))
            state["value"] = float(compute(numbers, **options))
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
        if df is not None and knots is not None:
            raise ValueError("ns() has both df and knots; give one of them")
        inner = sorted(map(float, knots or []))
        if not all(low < knot < high for knot in inner):
            raise ValueError(
                f"knots of ns() is {shown(knots)}; give numbers between {low:g} and "
                f"{high:g}, the outer knots"
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


@dataclass(frozen=True)
class Function:
    """How a function is called.

    Attributes
    ----------
    call : callable or str
        Text is the name of one of formulaic's transformations.
    words : str
        Names of its parameters, where its signature does not say them.
    takes : str
        ``numbers``, ``text`` or ``anything`` as its first argument.
    all_rows : bool
        Whether it is given rows with missing values too.
    state : str
        Name of the argument that takes its state; empty if it has none.
    open : bool
        Whether it takes any arguments.
    """

    call: Compute | str
    words: str = ""
    takes: str = "numbers"
    all_rows: bool = False
    state: str = ""
    open: bool = False

    @cached_property
    def signature(self) -> inspect.Signature:
        """Parameters that a formula may give; those of a ufunc have no names."""
        if isinstance(self.call, np.ufunc):
            place = inspect.Parameter.POSITIONAL_ONLY
            return inspect.Signature(
                [inspect.Parameter(name, place) for name in "xy"[: self.call.nin]]
            )
        if self.words:
            either = inspect.Parameter.POSITIONAL_OR_KEYWORD
            return inspect.Signature(
                [
                    inspect.Parameter(name, either, default=None)
                    for name in self.words.split()
                ]
            )
        if not callable(self.call):
            return inspect.Signature()
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
            return {}
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


UFUNCS: tuple[np.ufunc, ...] = (
    np.absolute, np.add, np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan,
    np.arctan2, np.arctanh, np.cbrt, np.ceil, np.copysign, np.cos, np.cosh, np.deg2rad,
    np.degrees, np.divide, np.equal, np.exp, np.exp2, np.expm1, np.fabs,
    np.float_power, np.floor, np.floor_divide, np.fmod, np.greater,
    np.greater_equal, np.heaviside, np.hypot, np.less,
    np.less_equal, np.log, np.log10, np.log1p, np.log2, np.logaddexp, np.logaddexp2,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.maximum,
    np.minimum, np.multiply, np.negative, np.not_equal, np.positive, np.power,
    np.rad2deg, np.radians, np.remainder, np.rint, np.sign, np.signbit,
    np.sin, np.sinh, np.sqrt, np.square, np.subtract, np.tan, np.tanh, np.trunc,
)  # fmt: skip
LOOKING = (np.isnan, np.isfinite, np.isinf, np.fmax, np.fmin)  # at missing values
# Other names of ufuncs: without np., R's, and numpy's own.
ALSO = {
    **{
        name: name
        for name in (
            "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
            "arctanh", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log10",
            "log1p", "log2", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
        )
    },
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin",
    "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
    "ceiling": "ceil", "np.abs": "absolute", "np.mod": "remainder", "np.pow": "power",
    "np.true_divide": "divide",
}  # fmt: skip


def _summaries(prefix: str, ddof: int) -> dict[str, Function]:
    """Numbers about a column; numpy divides by n where R and pandas take n - 1."""
    found: dict[str, Compute] = {
        "max": lambda x: x.max(),
        "mean": lambda x: x.mean(),
        "median": lambda x: x.median(),
        "min": lambda x: x.min(),
        "quantile": lambda x, q=0.5: x.quantile(q),
        "sd": lambda x: x.std(ddof=1),
        "std": lambda x: x.std(ddof=ddof),
        "sum": lambda x: x.sum(),
        "var": lambda x: x.var(ddof=ddof),
    }
    return {
        prefix + name: Function(
            summary(compute), "x q" if name == "quantile" else "x", state="state"
        )
        for name, compute in found.items()
        if name != "sd" or not prefix
    }


def _text(compute: Compute) -> Function:
    return Function(compute, takes="text")


def _any(compute: Compute | str, words: str = "", all_rows: bool = False) -> Function:
    return Function(compute, words, "anything", all_rows)


CUBIC = "x df knots lower_bound upper_bound constraints extrapolation"
# Contrasts may stand without brackets, as in C(g, contr.sum).
CONTRASTS: dict[str, Function] = {
    name: Function(name, words, "anything", open=not words)
    for name, words in {
        "contr.SAS": "", "contr.custom": "contrasts names", "contr.diff": "backward",
        "contr.helmert": "reverse scale", "contr.poly": "scores", "contr.sum": "",
        "contr.treatment": "base", "Diff": "backward", "Helmert": "reverse scale",
        "Poly": "scores", "Sum": "", "Treatment": "reference",
    }.items()
}  # fmt: skip
VOCABULARY: dict[str, Function] = {
    **{f"np.{ufunc.__name__}": Function(ufunc) for ufunc in UFUNCS},
    **{f"np.{ufunc.__name__}": Function(ufunc, all_rows=True) for ufunc in LOOKING},
    **CONTRASTS,
    **_summaries("", 1),
    **_summaries("np.", 0),
    **_summaries(".", 1),
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
    "lag": Function(lagged, takes="anything", all_rows=True),
    # numbers
    "log": Function(log),
    **{name: Function(rounded) for name in ("round", "np.round", "np.around")},
    "np.reciprocal": Function(
        lambda x: in_range(partial(np.divide, 1.0), as_numbers(x))
    ),
    "np.clip": Function(lambda x, a_min=None, a_max=None: np.clip(x, a_min, a_max)),
    "pmin": Function(partial(extreme, np.minimum), open=True),
    "pmax": Function(partial(extreme, np.maximum), open=True),
    ".abs": Function(lambda x: x.abs()),
    ".between": Function(
        lambda x, left, right, inclusive="both": x.between(left, right, inclusive)
    ),
    ".clip": Function(lambda x, lower=None, upper=None: x.clip(lower, upper)),
    ".round": Function(lambda x, decimals=0: rounded(x, decimals)),
    # missing values and choices
    "np.nan_to_num": Function(
        lambda x, nan=0.0, posinf=None, neginf=None: np.nan_to_num(
            x, copy=True, nan=nan, posinf=posinf, neginf=neginf
        ),
        all_rows=True,
    ),
    **{
        name: _any(lambda x: column_of(x).isna(), all_rows=True)
        for name in ("is_na", "pd.isna", "pd.isnull", ".isna", ".isnull")
    },
    **{
        name: _any(lambda x: column_of(x).notna(), all_rows=True)
        for name in ("pd.notna", "pd.notnull", ".notna", ".notnull")
    },
    "addNA": _any(with_level_of_missing, all_rows=True),
    "coalesce": Function(first_there, all_rows=True, open=True),
    ".fillna": _any(filled, all_rows=True),
    "ifelse": _any(one_of, all_rows=True),
    "np.where": _any(one_of, all_rows=True),
    ".isin": _any(lambda x, values: x.isin(values), all_rows=True),
    # types
    "as_numeric": _any(as_numeric),
    "as_integer": _any(as_integer),
    "as_logical": _any(lambda x: as_numeric(x) != 0),
    "as_character": _any(as_character),
    ".astype": _any(as_type),
    # text
    "nchar": _text(lambda x: column_of(x).str.len()),
    "toupper": _text(lambda x: column_of(x).str.upper()),
    "tolower": _text(lambda x: column_of(x).str.lower()),
    "trimws": _text(lambda x: column_of(x).str.strip()),
    "substr": _text(  # of R: places from 1, both ends included
        lambda x, start, stop: column_of(x).str.slice(max(start - 1, 0), max(stop, 0))
    ),
    "startsWith": _text(lambda x, prefix: column_of(x).str.startswith(prefix)),
    "endsWith": _text(lambda x, suffix: column_of(x).str.endswith(suffix)),
    ".str.len": _text(lambda x: x.str.len()),
    ".str.lower": _text(lambda x: x.str.lower()),
    ".str.upper": _text(lambda x: x.str.upper()),
    ".str.strip": _text(lambda x: x.str.strip()),
    ".str.title": _text(lambda x: x.str.title()),
    ".str.capitalize": _text(lambda x: x.str.capitalize()),
    ".str.slice": _text(lambda x, start=None, stop=None: x.str.slice(start, stop)),
    ".str.startswith": _text(lambda x, pat: x.str.startswith(pat)),
    ".str.endswith": _text(lambda x, pat: x.str.endswith(pat)),
    ".str.contains": _text(contains),
}
VOCABULARY |= {name: VOCABULARY[f"np.{known}"] for name, known in ALSO.items()}
# Attributes of a column, some under names of which pandas warns.
ATTRIBUTES: dict[str, Function] = {
    f".dt.{name}": _any(attrgetter(f"dt.{now}"), "x")
    for name, now in {
        **{
            name: name
            for name in ("year", "month", "day", "hour", "minute", "second", "quarter")
        },
        "dayofweek": "day_of_week",
        "weekday": "day_of_week",
        "dayofyear": "day_of_year",
    }.items()
}
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
KNOWN = {name.partition(".")[0] for name in (*VOCABULARY, *CONSTANTS)} | {
    "c",
    "factor",
    "offset",
}


def is_whole(value: Value, least: float, most: float = np.inf) -> bool:
    """Whether a value is a whole number between two others."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and least <= value <= most


def is_number(value: Value) -> bool:
    """Whether a value is a finite number."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and bool(np.isfinite(float(value)))


def _differ(value: Value, least: int = 1) -> bool:
    """Whether a value is a list of constants that differ."""
    if not isinstance(value, list) or any(isinstance(v, list | dict) for v in value):
        return False
    return len(value) >= least and len(set(value)) == len(value)


def _numbers(value: Value) -> bool:
    return isinstance(value, list) and all(map(is_number, value))


def _weights(value: Value) -> bool:
    """Whether a value is a list of weights, or several, with or without names."""
    rows = list(value.values()) if isinstance(value, dict) else value
    many = isinstance(rows, list) and bool(rows)
    return many and (_numbers(rows) or all(_numbers(row) and row for row in rows))


def _contrast(value: Value) -> bool:
    from formulaic.transforms.contrasts import Contrasts

    known = inspect.isclass(value) and issubclass(value, Contrasts)
    return known or isinstance(value, Contrasts) or _weights(value)


COUNT = (lambda v: is_whole(v, 1, MOST)), f"a whole number from 1 to {MOST:,}"
FLAG = (lambda v: isinstance(v, bool)), "True or False"
NUMBER = is_number, "a finite number"
CENTRE = (lambda v: isinstance(v, bool) or is_number(v)), "True, False or a number"
DIGITS = (
    lambda v: is_whole(v, -MOST_DIGITS, MOST_DIGITS),
    f"a whole number of at most {MOST_DIGITS}",
)
PLACE = (lambda v: is_whole(v, -(2**62), 2**62)), "a whole number"
TEXT = (lambda v: isinstance(v, str)), "text"
WEIGHTS = _weights, "{'name': [a weight for each level]}, or a list of weights"
CONTRAST = (
    _contrast,
    "'Sum', 'Treatment', 'Helmert', 'Diff' or 'Poly' without quotes, or "
    "{'name': [a weight for each level]}",
)
# What an argument may be, by the name of its parameter: it means the same everywhere.
RULES: dict[str, tuple[Compute, str]] = {
    **dict.fromkeys(("df", "degree"), COUNT),
    **dict.fromkeys(("backward", "include_intercept", "include_lowest"), FLAG),
    **dict.fromkeys(("intercept", "raw", "reverse", "spans_intercept"), FLAG),
    **dict.fromkeys(("lower_bound", "upper_bound"), NUMBER),
    **dict.fromkeys(("center", "scale", "rescale"), CENTRE),
    **dict.fromkeys(("decimals", "digits"), DIGITS),
    **dict.fromkeys(("k", "start", "stop"), PLACE),
    **dict.fromkeys(("pat", "prefix", "suffix"), TEXT),
    "breaks": (
        lambda v: (
            is_whole(v, 2, MOST)
            or (_differ(v, 2) and not any(map(is_text, v)) and None not in v)
        ),
        "a list of two or more numbers that differ, or a whole number of intervals, 2 "
        f"to {MOST:,}",
    ),
    "Boundary_knots": (
        lambda v: _numbers(v) and _differ(v) and len(v) == 2,
        "a list of 2 numbers that differ",
    ),
    "constraints": (
        lambda v: (
            (isinstance(v, str) and v == "center")
            or (_weights(v) and not isinstance(v, dict))
        ),
        "'center', a list of weights, or several lists of weights",
    ),
    "contrasts": CONTRAST,
    "ddof": (lambda v: is_whole(v, 0), "a whole number of 0 or more"),
    "dtype": (
        lambda v: isinstance(v, str) and v in TYPES,
        f"one of {listing(TYPES, len(TYPES))}",
    ),
    "extrapolation": (
        lambda v: v in ("clip", "extend", "na", "raise", "zero"),
        "one of 'clip', 'extend', 'na', 'raise', 'zero'",
    ),
    "inclusive": (
        lambda v: v in ("both", "left", "right", "neither"),
        "one of 'both', 'left', 'right', 'neither'",
    ),
    "knots": (_numbers, "a list of numbers"),
    "labels": (
        lambda v: _differ(v) and all(isinstance(each, str) for each in v),
        "a list of texts that differ",
    ),
    "levels": (_differ, "a list of levels that differ"),
    "q": (lambda v: is_number(v) and 0 <= v <= 1, "a number between 0 and 1"),
    "scores": (lambda v: _numbers(v) and _differ(v, 2), "numbers that differ"),
    "values": (lambda v: isinstance(v, list), "a list of values"),
}
OF_FUNCTION: dict[tuple[str, str], tuple[Compute, str]] = {
    ("cut", "right"): FLAG,
    ("hashed", "levels"): COUNT,
    ("log", "base"): (
        lambda v: is_column(v) or (is_number(v) and v > 0 and v != 1),
        "a number above 0 other than 1",
    ),
    ("contr.custom", "contrasts"): WEIGHTS,
}


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
        if function.takes == "numbers" and (value is None or is_text(value)):
            raise TypeError(f"{called}() takes numbers, and there is text")
        kind = getattr(value, "dtype", np.dtype(object)).kind
        if function.takes == "text" and kind in "biuf":
            raise TypeError(
                f"{called}() takes text, and there are numbers; make text of them by "
                "as_character()"
            )
    for parameter, value in list(given.items())[0 if name in CONTRASTS else 1 :]:
        rule = OF_FUNCTION.get((name, parameter)) or RULES.get(parameter)
        default = function.signature.parameters[parameter].default
        if rule and not (value is None and default is None) and not rule[0](value):
            what = "a column" if is_column(value) else shown(value)
            raise ValueError(f"{parameter} of {called}() is {what}; give {rule[1]}")
