"""What functions of formulas take, and what is said of arguments that they do not."""

import inspect
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
import pandas as pd

from pegasos_stats.data.language.arithmetic import Value, is_column, is_text
from pegasos_stats.data.language.at_fit import AT_FIT, Given, refusal
from pegasos_stats.data.language.functions import CONTRASTS, Function
from pegasos_stats.errors import listing

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
