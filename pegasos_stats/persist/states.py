"""Conditions for the states of formula transformations, such as means and knots.

A missing name would be estimated again from new rows, and unordered knots would give
other columns, both without an error. So every call is fitted again, to numbers that
span the range of its state. The state must have the same names, types and sizes. What
the arguments or the range determine must be equal.
"""

from collections.abc import Hashable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from pegasos_stats.data.language.expressions import Call, Constant, read_expression
from pegasos_stats.data.language.formula_design import FormulaDesign, fields_of
from pegasos_stats.data.language.vocabulary import State, Value

MOST_NUMBERS = 5000  # of a grid; degrees and knots are fewer
BOUNDS = ("boundary", "lower_bound", "upper_bound")  # the range, or arguments
POSITIVE = ("norms2", "scale")
WITH_TIES = ("bs", "ns")  # their knots are quantiles, some of which may be equal


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
        yield from _of_state(call, design.state[key], design.fields.get(key))


def _of_state(
    call: Call, state: State, labels: list[Hashable] | None
) -> Iterator[object]:
    """The state agrees with that of the same call of a grid over its range."""
    bounds = [state.get("lower_bound", 0.0), state.get("upper_bound", 1.0)]
    ends = state.get("boundary") or state.get("breaks") or bounds
    yield np.isfinite(ends).all()
    sizes = [len(part) for part in state.values() if isinstance(part, list | dict)]
    size = min(10 + 3 * max(sizes, default=0), MOST_NUMBERS)
    grid: Value = pd.Series(np.linspace(ends[0], ends[-1], size))
    centre: Value = state.get("center", state.get("scale"))
    if shape := np.shape(centre):  # of several columns
        grid = pd.DataFrame(dict.fromkeys(range(*shape), grid))
    first, again = call.function.words.partition(" ")[0], dict[str, State]()
    of_grid = replace(call, arguments=call.arguments | {first: Constant(grid)})
    value = of_grid.evaluate(pd.DataFrame(index=grid.index), again)
    yield labels is None or len(fields_of(value)) == len(labels)
    yield state.keys() == again[call.key].keys()
    options = {n: p.value for n, p in call.arguments.items() if isinstance(p, Constant)}
    options.setdefault("scale", options.get("rescale"))
    for name, part in again[call.key].items():
        yield type(state[name]) is type(part)
        option, is_list = options.get(name), isinstance(part, list)
        is_number = isinstance(option, int | float) and not isinstance(option, bool)
        if part is None or isinstance(part, bool) or name in ("ddof", *BOUNDS):
            yield state[name] == part
        elif isinstance(option, list) or (is_number and not is_list):
            yield np.array_equal(state[name], part)
        else:
            found = state[name]
            if isinstance(found, dict):
                yield found.keys() == part.keys()
                found, part = [*found.values()], [*part.values()]
            numbers, others = np.asarray(found), np.asarray(part)
            yield numbers.dtype.kind in "iuf" and numbers.shape == others.shape
            yield np.isfinite(numbers).all()
            yield name not in POSITIVE or (numbers > 0.0).all()
            if is_list:
                steps, at_ends = np.diff(numbers), np.isin(others, ends)
                yield ((steps > 0.0) | (steps == 0.0) & (call.name in WITH_TIES)).all()
                yield np.array_equal(numbers[at_ends], others[at_ends])
