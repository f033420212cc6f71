"""What functions of formulas take, and what is said of arguments that they do not."""

import inspect
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
import pandas as pd

from pegasos_stats.data.language.arithmetic import Value, is_column, is_text
from pegasos_stats.data.language.functions import CONTRASTS, Function
from pegasos_stats.errors import counted, listing, shown

Given = Mapping[str, Value]


def refusal(name: str, parameter: str, value: Value, allowed: str) -> ValueError:
    """The error for an argument, with what it may be."""
    return ValueError(f"{parameter} of {name}() is {_shown(value)}; give {allowed}")


def _shown(value: Value) -> str:
    """A value in a message; of a column, that it is one."""
    if inspect.isfunction(value) or inspect.isclass(value):
        return "a function"
    return "a column" if is_column(value) else shown(value)


def _check_one(name: str, given: Given) -> None:
    """Raise ValueError if both df and knots are given."""
    if given.get("df") is not None and given.get("knots") is not None:
        raise ValueError(f"{name}() has both df and knots; give one of them")


def _check_natural(name: str, given: Given) -> None:
    _check_one(name, given)
    if given.get("df") == 1 and given.get("intercept", False):
        allowed = "a whole number of 2 or more, as intercept is True"
        raise refusal(name, "df", 1, allowed)
    values = np.asarray(given["x"], dtype=np.float64)
    if not values.min() < values.max():
        raise ValueError(_without_spread(name, values))
    ends = given.get("Boundary_knots")
    low, high = (values.min(), values.max()) if ends is None else sorted(ends)
    knots = given.get("knots")
    if any(not low < knot < high for knot in knots or []):
        allowed = f"numbers between {low:g} and {high:g}, the outer knots"
        raise refusal(name, "knots", knots, allowed)


def _check_spline(name: str, given: Given) -> None:
    """Bounds, and the range of the values, which there are at the fit."""
    _check_one(name, given)
    values = np.asarray(given["x"], dtype=np.float64)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    lower = low if given.get("lower_bound") is None else given["lower_bound"]
    upper = high if given.get("upper_bound") is None else given["upper_bound"]
    if lower > upper or (lower == upper and low < high):
        raise ValueError(
            f"{name}() has bounds from {lower:g} to {upper:g}; give a lower_bound "
            "below the upper_bound"
        )
    beyond = given.get("extrapolation", "raise" if name == "bs" else "extend")
    if beyond == "raise" and (low < lower or high > upper):
        raise ValueError(
            f"{name}() has bounds from {lower:g} to {upper:g}, and its values go from "
            f"{low:g} to {high:g}; give bounds that hold them, or extrapolation='clip'"
        )


def _check_basis(name: str, given: Given) -> None:
    _check_spline(name, given)
    df, degree = given.get("df"), given.get("degree", 3)
    least = degree + int(given.get("include_intercept", False))
    if df is not None and df < least:
        more = " and the intercept" if least > degree else ""
        raise refusal(
            name,
            "df",
            df,
            f"a whole number of {least} or more, as degree is {degree}{more}",
        )


def _check_cubic(name: str, given: Given) -> None:
    _check_spline(name, given)
    df, knots = given.get("df"), given.get("knots")
    if df is None and knots is None:
        raise ValueError(f"{name}() has neither df nor knots; give one of them")
    least = max(1, 3 - len(_constraints(given)))  # a knot between the outer ones
    if df is not None and df < least and name != "cc":
        raise refusal(name, "df", df, f"a whole number of {least} or more")
    values = np.asarray(given["x"], dtype=np.float64)
    low, high = given.get("lower_bound"), given.get("upper_bound")
    low = np.nanmin(values) if low is None else low
    high = np.nanmax(values) if high is None else high
    within = all(low < knot < high for knot in knots or [])
    if knots is not None and not (within and (knots or name == "cc")):
        raise refusal(name, "knots", knots, f"numbers between {low:g} and {high:g}")
    _check_constraints(name, given)
    inside = values[(values >= low) & (values <= high)]
    needed = len(set(knots)) if knots is not None else int(df or 0)
    if np.unique(inside).size < needed:
        raise ValueError(
            f"{name}() has {counted(np.unique(inside).size, 'different value')} "
            f"between its bounds; give {'fewer knots' if knots else 'a smaller df'}, "
            "or leave the term out"
        )


def _constraints(given: Given) -> list[list[float]]:
    """Weights of each constraint; those of 'center' follow from the column."""
    value = given.get("constraints")
    if value is None or value == "center":
        return [] if value is None else [[]]
    return value if isinstance(value[0], list) else [value]


def _check_constraints(name: str, given: Given) -> None:
    """Raise ValueError unless each has a weight for every column, and says its own."""
    rows, df, knots = _constraints(given), given.get("df"), given.get("knots")
    if not any(rows):
        return
    ends = 1 if name == "cc" else 2
    width = df + len(rows) if df is not None else len(set(knots or [])) + ends
    if any(len(row) != width for row in rows):
        allowed = f"{'a list' if len(rows) == 1 else f'{len(rows)} lists'} of {width}"
        raise refusal(name, "constraints", given["constraints"], f"{allowed} weights")
    if len(rows) == width or np.linalg.matrix_rank(rows) < len(rows):
        allowed = f"fewer than {width}, none of which follows from the others"
        raise refusal(name, "constraints", given["constraints"], allowed)


def _check_degree(name: str, given: Given) -> None:
    different = np.unique(np.asarray(given["x"], dtype=np.float64)).size
    degree = given.get("degree", 1)
    if given.get("raw", False) or degree < different:
        return
    if different < 2:
        raise ValueError(_without_spread(name, given["x"]))
    raise refusal(
        name,
        "degree",
        degree,
        f"a whole number below {different}, as there are so many different values",
    )


def _check_spread(name: str, given: Given) -> None:
    values = given["data" if name == "scale" else "x"]
    scaled = given.get("scale" if name == "scale" else "rescale", True)
    plain = np.asarray(getattr(values, "__wrapped__", values), dtype=np.float64)
    ddof = given.get("ddof", 1 if name == "scale" else 0)
    if scaled is not True:
        return
    if len(plain) <= ddof:
        raise refusal(
            name, "ddof", ddof, f"a whole number below {len(plain)}, the rows"
        )
    centred = given.get("center", True) is True
    if plain.ndim == 1 and centred and len(plain) and np.ptp(plain) == 0.0:
        raise ValueError(_without_spread(name, plain))


def _without_spread(name: str, values: Value) -> str:
    """That a column has one value."""
    return (
        f"{name}() has the value {float(np.ravel(values)[0]):g} in every row; leave "
        "the term out"
    )


AT_FIT: dict[str, Callable[[str, Given], None]] = {
    "bs": _check_basis,
    "ns": _check_natural,
    **dict.fromkeys(("cc", "cr", "cs"), _check_cubic),
    "poly": _check_degree,
    **dict.fromkeys(("scale", "standardize"), _check_spread),
}


MOST_DIGITS = 300
CONTRAST_NAMES = tuple(name for name in CONTRASTS if "." not in name)


@dataclass(frozen=True)
class Rule:
    """What an argument may be.

    Attributes
    ----------
    holds : callable
    allowed : str
        The same in words.
    """

    holds: Callable[[Value], bool]
    allowed: str


def is_whole(value: Value, least: int, most: float = np.inf) -> bool:
    """Whether a value is a whole number between two others."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and least <= value <= most


def is_number(value: Value) -> bool:
    """Whether a value is a finite number."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and bool(np.isfinite(float(value)))


def _is_list(value: Value, holds: Callable[[Value], bool], least: int = 0) -> bool:
    return isinstance(value, list) and len(value) >= least and all(map(holds, value))


def _differ(value: list[Value]) -> bool:
    return len(set(value)) == len(value)


def _whole(least: int, what: str = "") -> Rule:
    return Rule(
        lambda value: is_whole(value, least),
        f"a whole number{what} of {least} or more",
    )


def _rows_in(value: Value) -> list[list[Value]]:
    """One list of numbers, or several; none if it is anything else."""
    rows = value if _is_list(value, lambda row: isinstance(row, list), 1) else [value]
    return rows if all(_is_list(row, is_number, 1) for row in rows) else []


def _is_contrast(value: Value) -> bool:
    from formulaic.transforms.contrasts import Contrasts

    if isinstance(value, dict):
        value = list(value.values())
        return _is_list(value, lambda row: _is_list(row, is_number, 1), 1)
    if isinstance(value, list):
        return _is_list(value, lambda row: _is_list(row, is_number, 1), 1)
    return isinstance(value, Contrasts) or (
        inspect.isclass(value) and issubclass(value, Contrasts)
    )


FLAG = Rule(lambda value: isinstance(value, bool), "True or False")
NUMBER = Rule(is_number, "a finite number")
NUMBERS = Rule(
    lambda value: not is_text(value) and value is not None, "numbers, and no text"
)
CENTRE = Rule(lambda v: isinstance(v, bool) or is_number(v), "True, False or a number")
KNOTS = Rule(lambda v: _is_list(v, is_number), "a list of numbers")
ENDS = ("clip", "extend", "na", "raise", "zero")
BEYOND = Rule(lambda value: value in ENDS, f"one of {listing(ENDS)}")
CONTRAST = Rule(
    _is_contrast,
    f"one of {listing(CONTRAST_NAMES, len(CONTRAST_NAMES))}, Treatment('level'), or "
    "{'name': [a weight for each level]}",
)
LEVELS = Rule(
    lambda v: (
        _is_list(v, lambda each: not isinstance(each, list | dict), 1) and _differ(v)
    ),
    "a list of levels that differ",
)
BREAKS = Rule(
    lambda v: is_whole(v, 2) or (_is_list(v, _is_edge, 2) and _differ(v)),
    "a list of two or more numbers that differ, or a whole number of intervals, 2 or "
    "more",
)
CUBIC = {
    "df": _whole(1),
    "knots": KNOTS,
    "lower_bound": NUMBER,
    "upper_bound": NUMBER,
    "constraints": Rule(
        lambda v: (isinstance(v, str) and v == "center") or bool(_rows_in(v)),
        "'center', a list of weights, or several lists of weights",
    ),
    "extrapolation": BEYOND,
}
BOUNDED = {"a_min": NUMBERS, "a_max": NUMBERS, "lower": NUMBERS, "upper": NUMBERS}
DIGITS = Rule(
    lambda value: is_whole(value, -MOST_DIGITS, MOST_DIGITS),
    f"a whole number of at most {MOST_DIGITS}",
)
BASE = Rule(
    lambda v: is_column(v) or (is_number(v) and v > 0 and v != 1),
    "a number above 0 other than 1",
)
SHARE = Rule(lambda v: is_number(v) and 0 <= v <= 1, "a number between 0 and 1")

SCORES = Rule(lambda v: _is_list(v, is_number, 2) and _differ(v), "numbers that differ")
WEIGHTS = Rule(
    lambda value: isinstance(value, dict | list) and _is_contrast(value),
    "{'name': [a weight for each level]}, or a list of weights for each level",
)

RULES: dict[str, dict[str, Rule]] = {
    "C": {"contrasts": CONTRAST, "levels": LEVELS, "spans_intercept": FLAG},
    "bs": {
        "df": _whole(1),
        "knots": KNOTS,
        "degree": _whole(1),
        "include_intercept": FLAG,
        "lower_bound": NUMBER,
        "upper_bound": NUMBER,
        "extrapolation": BEYOND,
    },
    **dict.fromkeys(("cc", "cr", "cs"), CUBIC),
    "contr.custom": {"contrasts": WEIGHTS},
    **{key: {"backward": FLAG} for key in ("Diff", "contr.diff")},
    **{key: {"reverse": FLAG, "scale": FLAG} for key in ("Helmert", "contr.helmert")},
    **{key: {"scores": SCORES} for key in ("Poly", "contr.poly")},
    "cut": {"breaks": BREAKS, "right": FLAG, "include_lowest": FLAG},
    "hashed": {"levels": _whole(1), "contrasts": CONTRAST, "spans_intercept": FLAG},
    "lag": {"k": Rule(lambda v: is_whole(v, -(2**62)), "a whole number of rows")},
    "log": {"base": BASE},
    "ns": {
        "df": _whole(1),
        "knots": KNOTS,
        "intercept": FLAG,
        "Boundary_knots": Rule(
            lambda v: _is_list(v, is_number, 2) and len(v) == 2 and _differ(v),
            "a list of 2 numbers that differ",
        ),
    },
    "poly": {"degree": _whole(1), "raw": FLAG},
    "scale": {"center": CENTRE, "scale": CENTRE, "ddof": _whole(0)},
    "standardize": {"center": CENTRE, "rescale": CENTRE, "ddof": _whole(0)},
    **{key: {"q": SHARE} for key in ("quantile", "np.quantile")},
    **{key: {"digits": DIGITS} for key in ("np.round", "np.around")},
    "round": {"decimals": DIGITS, "digits": DIGITS},
    **dict.fromkeys(("np.clip", "clip"), BOUNDED),
    "between": {"left": NUMBERS, "right": NUMBERS},
    "isin": {"values": Rule(lambda v: isinstance(v, list), "a list of values")},
}
OPTIONAL = {"df", "knots", "lower_bound", "upper_bound", "constraints", "contrasts",
            "levels", "Boundary_knots", "a_min", "a_max", "lower", "upper",
            "base"}  # fmt: skip
NUMERIC = {
    "bs", "cc", "cr", "cs", "center", "cut", "log", "np.around", "np.clip",
    "np.nan_to_num", "np.round", "ns", "poly", "round", "scale", "standardize", "abs",
    "between", "clip",
}  # fmt: skip
OF_TEXT = {
    "endsWith", "nchar", "startsWith", "substr", "tolower", "toupper", "trimws",
}  # fmt: skip


def _is_edge(value: Value) -> bool:
    """Whether a value is a number, infinite ones included."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and not np.isnan(float(value))


def check_arguments(
    name: str,
    function: Function,
    arguments: list[Value],
    keywords: Given,
    state: MutableMapping[str, Value] | None = None,
) -> None:
    """Raise TypeError or ValueError for arguments that a function does not take.

    Parameters
    ----------
    name : str
        As the formula has it.
    function : Function
    arguments : list
    keywords : mapping
    state : mapping, optional
        What the call found at fit; empty at the fit itself.

    Examples
    --------
    >>> from pegasos_stats.data.language.functions import FUNCTIONS
    >>> x = np.array([1.0, 2.0])
    >>> check_arguments("poly", FUNCTIONS["poly"], [x, 2.5], {})
    Traceback (most recent call last):
        ...
    ValueError: degree of poly() is 2.5; give a whole number of 1 or more
    """
    if function.open:  # of the caller, who knows them
        return
    given = dict(zip(function.parameters, arguments, strict=False)) | dict(keywords)
    _check_complete(name, function, given)
    if arguments:
        _check_kind(name, arguments[0])
    for parameter, rule in RULES.get(name, {}).items():
        value = given.get(parameter)
        left_out = parameter not in given or (value is None and parameter in OPTIONAL)
        if not left_out and not rule.holds(value):
            raise refusal(name, parameter, value, rule.allowed)
    if name in AT_FIT and not state:
        AT_FIT[name](name, given)


def _check_kind(name: str, values: Value) -> None:
    """Raise TypeError for text where there should be numbers, or the other way."""
    if name in NUMERIC and is_text(values):
        if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
            raise TypeError(
                f"{name}() takes numbers, and there are categories; make numbers of "
                "them by as_numeric(), or leave the call out"
            )
        raise TypeError(f"{name}() takes numbers, and there is text")
    of_text = name in OF_TEXT or name.startswith("str.")
    if of_text and is_column(values) and values.dtype.kind in "biuf":
        raise TypeError(
            f"{name}() takes text, and there are numbers; make text of them by "
            "as_character()"
        )


def _check_complete(name: str, function: Function, given: Given) -> None:
    """Raise TypeError if an argument that has no default is not given."""
    if function.elementwise or name in CONTRASTS:
        return
    try:
        known = list(inspect.signature(function.resolved).parameters.values())
    except (TypeError, ValueError):  # some of pandas have none
        return
    needed = [each.default is each.empty for each in known]
    for parameter, is_needed in zip(function.parameters, needed, strict=False):
        if is_needed and parameter not in given:
            raise TypeError(
                f"{name}() lacks {parameter}; it takes {', '.join(function.parameters)}"
            )
