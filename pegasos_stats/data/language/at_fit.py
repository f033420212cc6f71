"""What is asked of the arguments of a function where it is fitted to its column."""

import inspect
from collections.abc import Callable, Mapping

import numpy as np

from pegasos_stats.data.language.arithmetic import Value, is_column
from pegasos_stats.errors import counted, shown

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
