"""Conditions for the states of formula transformations, such as means and knots.

A missing name would be estimated again from new rows, and unordered knots would give
other columns, both without an error. States are also compared with the arguments.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from pegasos_stats.data.language.expressions import Call, Constant, read_expression
from pegasos_stats.data.language.formula_design import FormulaDesign

MOST_KNOTS = 2000  # of a spline; also breaks
CUBIC = "lower_bound upper_bound constraints cyclic knots"
SCALE = "ddof center scale"
# Names in the state of a function; other functions have a single value.
NAMES = {
    "bs": "lower_bound upper_bound knots",
    **dict.fromkeys(("cc", "cr", "cs"), CUBIC),
    **dict.fromkeys(("center", "scale", "standardize"), SCALE),
    "ns": "boundary knots",
    "poly": "alpha norms2",
    "cut": "breaks",
}


def of_states(design: FormulaDesign) -> Iterator[object]:
    """The transformations of the terms, and nothing else, have states."""
    variables, calls = set(design.variables), dict[str, Call]()
    for text, kind in {factor for term in design.terms for factor in term.factors}:
        if kind == "expression":
            expression = read_expression(text, variables, text, design.functions)
            calls |= {
                call.key: call for call in expression.calls if call.function.state
            }
    yield design.state.keys() == calls.keys()
    for key, call in calls.items():
        arguments = call.given.items()
        options = {
            name: part.value for name, part in arguments if isinstance(part, Constant)
        }
        state, name = design.state[key], call.name.rpartition(".")[2]
        raw = name == "poly" and options.get("raw")
        yield state.keys() == {*([] if raw else NAMES.get(name, "value").split())}
        columns = None if raw else _columns(name, options, state)
        yield columns is None or len(design.fields.get(key, range(columns))) == columns
        if not raw:
            yield from CHECKS.get(name, _of_summary)(name, options, state)


def _columns(name: str, options: dict[str, Any], state: dict[str, Any]) -> int | None:
    """Return the number of columns that a state implies, or None."""
    if name == "poly":
        return len(state["alpha"])
    knots = len(state.get("knots") or [])
    if name == "bs":
        constant = bool(options.get("include_intercept"))
        return knots - int(options.get("degree", 3)) - 2 + constant
    if name in ("cc", "cr", "cs"):
        fixed = state["constraints"]
        return knots - (name == "cc") - (0 if fixed is None else len(fixed))
    if name == "ns":
        return knots + 1 + bool(options.get("intercept"))
    computed = (state.get(part) for part in ("center", "scale") if part not in options)
    shapes = {np.shape(value) for value in computed if value is not None}
    return max((math.prod(shape) for shape in shapes), default=None)


def _finite(*values: object) -> bool:
    """Return whether all are finite numbers, or arrays or lists of finite numbers."""
    arrays = [np.asarray(value) for value in values]
    return all(a.dtype.kind in "iuf" and np.isfinite(a).all() for a in arrays)


def _rising(values: list[float], strictly: bool = True) -> bool:
    """Return whether numbers are finite, in order and at most `MOST_KNOTS`."""
    rises = all(a < b or (a == b and not strictly) for a, b in pairwise(values))
    return len(values) <= MOST_KNOTS and all(map(_finite, values)) and rises


def _of_summary(
    name: str, options: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """The value is a finite number."""
    yield isinstance(state["value"], float)
    yield _finite(state["value"])


def _of_scale(
    name: str, options: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """The state agrees with the arguments; a computed scale is above 0."""
    yield state["ddof"] == options.get("ddof", 0 if name == "standardize" else 1)
    words = {"center": options.get("center", True)}
    rescale = options.get("rescale" if name == "standardize" else "scale", True)
    words["scale"] = False if name == "center" else rescale
    yield len({np.shape(state[part]) for part in words if words[part] is True}) < 2
    for part, value in words.items():
        fitted = state[part]
        yield (fitted is None) == (value is False)
        if fitted is not None:
            yield _finite(fitted)
            computed = np.greater(fitted, 0.0).all() or part == "center"
            yield computed if value is True else np.array_equal(fitted, value)


def _of_bounds(options: dict[str, Any], state: dict[str, Any]) -> Iterator[object]:
    """Bounds are in order and agree with the arguments."""
    yield _rising([state["lower_bound"], state["upper_bound"]], strictly=False)
    for bound in ("lower_bound", "upper_bound"):
        yield options.get(bound) is None or float(options[bound]) == float(state[bound])


def _of_bs(
    name: str, options: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """Knots begin and end with the bounds, ``degree + 1`` times."""
    yield from _of_bounds(options, state)
    knots, ends, inner = (
        state["knots"],
        options.get("degree", 3) + 1,
        options.get("knots"),
    )
    yield len(knots) <= MOST_KNOTS and len(knots) >= 2 * ends
    yield knots[:ends] == [float(state["lower_bound"])] * ends
    yield knots[-ends:] == [float(state["upper_bound"])] * ends
    between = knots[ends:-ends]
    yield _rising(knots, strictly=False) if inner is None else between == inner
    if options.get("df"):
        yield _columns(name, options, state) == options["df"]
    else:
        yield inner is not None or not between


def _of_cubic(
    name: str, options: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """Knots are in order and include the arguments; constraints fit the columns."""
    yield from _of_bounds(options, state)
    knots, fixed = state["knots"], state["constraints"]
    yield state["cyclic"] is (name == "cc")
    yield _rising(knots)
    yield knots[:1] == [float(state["lower_bound"])]
    yield knots[-1:] == [float(state["upper_bound"])]
    yield {float(knot) for knot in options.get("knots") or []} <= {*knots}
    yield (fixed is None) == (options.get("constraints") is None)
    if fixed is not None:
        yield _finite(fixed)
        yield fixed.ndim == 2 and fixed.shape[1] == len(knots) - (name == "cc")
    if options.get("df"):
        yield _columns(name, options, state) == options["df"]


def _of_ns(
    name: str, options: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """Knots are in order within the boundary and agree with the arguments."""
    low, high = state["boundary"]
    knots, bounds, inner = (
        state["knots"],
        options.get("Boundary_knots"),
        options.get("knots"),
    )
    yield _rising([low, *knots, high], strictly=False)
    yield low < high
    yield not bounds or sorted(map(float, bounds)) == [low, high]
    yield not inner or sorted(map(float, inner)) == knots
    if options.get("df") is not None:
        yield _columns(name, options, state) == options["df"]


def _of_poly(
    name: str, options: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """All degrees have finite numbers, with squared norms above 0."""
    degree, alpha, norms = options.get("degree", 1), state["alpha"], state["norms2"]
    yield alpha.keys() == {*range(degree)}
    yield norms.keys() == {*range(degree + 1)}
    yield _finite(*alpha.values(), *norms.values())
    yield all(norm > 0.0 for norm in norms.values())


def _of_cut(
    name: str, options: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """Breaks are in order and agree with the arguments."""
    breaks, cuts = state["breaks"], options.get("breaks")
    if isinstance(cuts, list):
        yield breaks == sorted(map(float, cuts))
    else:
        yield _rising(breaks)
        yield cuts is not None and len(breaks) == cuts + 1


CHECKS = {
    "bs": _of_bs,
    **dict.fromkeys(("cc", "cr", "cs"), _of_cubic),
    **dict.fromkeys(("center", "scale", "standardize"), _of_scale),
    "ns": _of_ns,
    "poly": _of_poly,
    "cut": _of_cut,
}
