"""Linear fits as JSON, for any language that has numbers."""

import json
from typing import TYPE_CHECKING

from pegasos_stats.models.scoring.terms import Tree, terms_of

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

FORMAT = "pegasos_stats linear fit"
VERSION = 1


def json_of(result: "LinearResults") -> str:
    """Write a fit as JSON; see ``LinearResults.to_json``."""
    coding = result.coding
    document = {
        "format": FORMAT,
        "version": VERSION,
        "loss": result.problem.loss,
        "lam": _number(result.problem.lam),
        "formula": result.design.formula,
        "outcome": {
            "name": coding.name,
            "negative": _level(coding.negative),
            "positive": _level(coding.positive),
        },
        "has_intercept": result.problem.intercept,
        "intercept": _number(result.intercept),
        "terms": [
            {
                "name": term.name,
                "coefficient": _number(term.coefficient),
                "centre": _number(term.centre),
                "scale": _number(term.scale),
                "parts": [_exact(part) for part in term.parts],
            }
            for term in terms_of(result)
        ],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)


def _number(value: float) -> dict[str, object]:
    """A double as decimal digits and, for languages that round these, its bits."""
    return {"value": float(value), "hex": float(value).hex()}


def _exact(tree: Tree) -> Tree:
    """A tree with its numbers as `_number` has them."""
    operation, *given = tree
    if operation in ("column", "text"):
        return tree
    if operation == "number":
        return [operation, _number(float(str(given[0])))]
    if operation in ("levels", "in"):
        inner, levels, *values = given
        assert isinstance(inner, list)
        assert isinstance(levels, list)
        numbers = [
            [_number(v) for v in each] for each in values if isinstance(each, list)
        ]
        return [operation, _exact(inner), levels, *numbers]
    return [operation, *(_exact(part) for part in given if isinstance(part, list))]


def _level(level: object) -> object:
    return level if isinstance(level, str | bool | int | float) else str(level)
