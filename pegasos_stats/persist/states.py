"""What transformations of a formula found at fit, as a file has to hold it.

A state that lacks a name would be found anew in new rows, and knots out of order would
give other columns, both in silence. What the arguments of a call say is compared too.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from pegasos_stats.data.language.expressions import Call, Constant, read_expression
from pegasos_stats.data.language.formula_design import FormulaDesign

MOST_KNOTS = 2000  # of a spline, and breaks
CUBIC = "lower_bound upper_bound constraints cyclic knots"
SCALE = "ddof center scale"
# The names in the state of a function; of all others the one of a summary.
NAMES = {
    "bs": "lower_bound upper_bound knots",
    **dict.fromkeys(("cc", "cr", "cs"), CUBIC),
    **dict.fromkeys(("center", "scale", "standardize"), SCALE),
    "ns": "boundary knots",
    "poly": "alpha norms2",
    "cut": "breaks",
}


def of_states(design: FormulaDesign) -> Iterator[object]:
    """Each transformation of the terms has its state, and nothing else has one."""
    variables, calls = set(design.variables), dict[str, Call]()
    for text, kind in {factor for term in design.terms for factor in term.factors}:
        if kind == "expression":
            read = read_expression(text, variables, text, design.functions)
            calls |= {call.key: call for call in read.calls if call.function.state}
    yield design.state.keys() == calls.keys()
    for key, call in calls.items():
        given = call.given.items()
        asked = {name: part.value for name, part in given if isinstance(part, Constant)}
        state, name = design.state[key], call.name.rpartition(".")[2]
        raw = name == "poly" and asked.get("raw")
        yield state.keys() == {*([] if raw else NAMES.get(name, "value").split())}
        columns = None if raw else _columns(name, asked, state)
        yield columns is None or len(design.fields.get(key, range(columns))) == columns
        if not raw:
            yield from CHECKS.get(name, _of_summary)(name, asked, state)


def _columns(name: str, asked: dict[str, Any], state: dict[str, Any]) -> int | None:
    """How many columns a transformation has by its state, if that says it."""
    if name == "poly":
        return len(state["alpha"])
    knots = len(state.get("knots") or [])
    if name == "bs":
        constant = bool(asked.get("include_intercept"))
        return knots - int(asked.get("degree", 3)) - 2 + constant
    if name in ("cc", "cr", "cs"):
        fixed = state["constraints"]
        return knots - (name == "cc") - (0 if fixed is None else len(fixed))
    if name == "ns":
        return knots + 1 + bool(asked.get("intercept"))
    computed = (state.get(part) for part in ("center", "scale") if part not in asked)
    shapes = {np.shape(value) for value in computed if value is not None}
    return max((math.prod(shape) for shape in shapes), default=None)


def _finite(*values: object) -> bool:
    """Whether all are numbers, or arrays or lists of some, and finite."""
    arrays = [np.asarray(value) for value in values]
    return all(a.dtype.kind in "iuf" and np.isfinite(a).all() for a in arrays)


def _rising(values: list[float], strictly: bool = True) -> bool:
    """Whether numbers are finite and in order, and no more than a spline may have."""
    rises = all(a < b or (a == b and not strictly) for a, b in pairwise(values))
    return len(values) <= MOST_KNOTS and all(map(_finite, values)) and rises


def _of_summary(
    name: str, asked: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """A number, that may be infinite nowhere."""
    yield isinstance(state["value"], float)
    yield _finite(state["value"])


def _of_scale(
    name: str, asked: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """What was asked for; a scale that is computed is above 0."""
    yield state["ddof"] == asked.get("ddof", 0 if name == "standardize" else 1)
    words = {"center": asked.get("center", True)}
    rescale = asked.get("rescale" if name == "standardize" else "scale", True)
    words["scale"] = False if name == "center" else rescale
    yield len({np.shape(state[part]) for part in words if words[part] is True}) < 2
    for part, value in words.items():
        found = state[part]
        yield (found is None) == (value is False)
        if found is not None:
            yield _finite(found)
            computed = np.greater(found, 0.0).all() or part == "center"
            yield computed if value is True else np.array_equal(found, value)


def _of_bounds(asked: dict[str, Any], state: dict[str, Any]) -> Iterator[object]:
    """Bounds in order, and those that were given."""
    yield _rising([state["lower_bound"], state["upper_bound"]], strictly=False)
    for bound in ("lower_bound", "upper_bound"):
        yield asked.get(bound) is None or float(asked[bound]) == float(state[bound])


def _of_bs(name: str, asked: dict[str, Any], state: dict[str, Any]) -> Iterator[object]:
    """The bounds on both sides, as often as the degree asks, and knots between."""
    yield from _of_bounds(asked, state)
    knots, ends, inner = state["knots"], asked.get("degree", 3) + 1, asked.get("knots")
    yield len(knots) <= MOST_KNOTS and len(knots) >= 2 * ends
    yield knots[:ends] == [float(state["lower_bound"])] * ends
    yield knots[-ends:] == [float(state["upper_bound"])] * ends
    between = knots[ends:-ends]
    yield _rising(knots, strictly=False) if inner is None else between == inner
    if asked.get("df"):
        yield _columns(name, asked, state) == asked["df"]
    else:
        yield inner is not None or not between


def _of_cubic(
    name: str, asked: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """Knots in order, those that were given among them, and constraints on columns."""
    yield from _of_bounds(asked, state)
    knots, fixed = state["knots"], state["constraints"]
    yield state["cyclic"] is (name == "cc")
    yield _rising(knots)
    yield knots[:1] == [float(state["lower_bound"])]
    yield knots[-1:] == [float(state["upper_bound"])]
    yield {float(knot) for knot in asked.get("knots") or []} <= {*knots}
    yield (fixed is None) == (asked.get("constraints") is None)
    if fixed is not None:
        yield _finite(fixed)
        yield fixed.ndim == 2 and fixed.shape[1] == len(knots) - (name == "cc")
    if asked.get("df"):
        yield _columns(name, asked, state) == asked["df"]


def _of_ns(name: str, asked: dict[str, Any], state: dict[str, Any]) -> Iterator[object]:
    """Knots in order within the boundary, as many and those that were asked for."""
    low, high = state["boundary"]
    knots, bounds, inner = (
        state["knots"],
        asked.get("Boundary_knots"),
        asked.get("knots"),
    )
    yield _rising([low, *knots, high], strictly=False)
    yield low < high
    yield not bounds or sorted(map(float, bounds)) == [low, high]
    yield not inner or sorted(map(float, inner)) == knots
    if asked.get("df") is not None:
        yield _columns(name, asked, state) == asked["df"]


def _of_poly(
    name: str, asked: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """Numbers of each degree, the squares of norms above 0."""
    degree, alpha, norms = asked.get("degree", 1), state["alpha"], state["norms2"]
    yield alpha.keys() == {*range(degree)}
    yield norms.keys() == {*range(degree + 1)}
    yield _finite(*alpha.values(), *norms.values())
    yield all(norm > 0.0 for norm in norms.values())


def _of_cut(
    name: str, asked: dict[str, Any], state: dict[str, Any]
) -> Iterator[object]:
    """Breaks in order: those that were given, or as many as there are to be."""
    breaks, given = state["breaks"], asked.get("breaks")
    if isinstance(given, list):
        yield breaks == sorted(map(float, given))
    else:
        yield _rising(breaks)
        yield given is not None and len(breaks) == given + 1


CHECKS = {
    "bs": _of_bs,
    **dict.fromkeys(("cc", "cr", "cs"), _of_cubic),
    **dict.fromkeys(("center", "scale", "standardize"), _of_scale),
    "ns": _of_ns,
    "poly": _of_poly,
    "cut": _of_cut,
}
