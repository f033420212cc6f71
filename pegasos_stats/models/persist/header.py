"""The header of a saved model, JSON: a tree of values within bounds, and its fields.

What is wrong raises ValueError: `load` says it in one sentence.
"""

import json
import math
from collections.abc import Collection
from typing import Any, TypeAlias

Json: TypeAlias = Any  # what `json.loads` gives, of a file that anyone may have written

MOST_BYTES = 4 * 2**20  # of text, and for every row or column
BYTES_EACH = 1024
MOST_NODES = 300_000  # values in the tree, and for every row or column
NODES_EACH = 24
DEEPEST = 60
LARGEST = 2**62  # whole number


def text_of(tree: Json, width: int) -> bytes:
    """Write a tree as JSON that `tree_of` reads.

    Raises
    ------
    ValueError
        If it does not.

    Examples
    --------
    >>> tree_of(text_of({"a": [1, 0.5, None]}, 0), 0)
    {'a': [1, 0.5, None]}
    """
    try:
        text = json.dumps(tree, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it has half a character (a lone surrogate)") from None
    tree_of(text, width)
    return text


def tree_of(text: bytes, width: int) -> Json:
    """Read JSON that is as `text_of` writes it.

    Parameters
    ----------
    text : bytes
    width : int
        The largest dimension of an array of the model: with the number of its rows or
        columns the text may grow.

    Raises
    ------
    ValueError
        If it is no JSON, has a number that is not finite, a name twice, half a
        character, or is larger or deeper than the bounds of this module.
    """
    nodes = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if len(text) > most_bytes(width):
        raise ValueError(f"its header has {len(text):,} bytes")
    if nodes > MOST_NODES + NODES_EACH * width:
        raise ValueError(f"its header has {nodes:,} values")
    try:
        tree = json.loads(
            text.decode(),
            parse_constant=_no_number,
            parse_float=_finite,
            object_pairs_hook=_different,
        )
    except RecursionError:
        raise ValueError("its header is nested too deep") from None
    _check(tree)
    return tree


def most_bytes(width: int) -> int:
    """Bytes that a text may have."""
    return MOST_BYTES + BYTES_EACH * width


def same(one: Json, other: Json) -> bool:
    """Whether two trees are the same, types of numbers and order of names included."""
    return json.dumps(one) == json.dumps(other)


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is no number of JSON")


def _finite(digits: str) -> float:
    found = float(digits)
    if not math.isfinite(found):
        raise ValueError(f"{digits[:40]} is too large a number")
    return found


def _different(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its header has one name twice")
    return found


def _check(tree: Json) -> None:
    """Raise ValueError for a tree that is too deep or has half a character."""
    level, depth = [tree], 0
    while level:
        if depth > DEEPEST:
            raise ValueError("its header is nested too deep")
        below: list[Json] = []
        for node in level:
            if isinstance(node, str):
                node.encode()
            elif isinstance(node, list):
                below += node
            elif isinstance(node, dict):
                below += [*node, *node.values()]
        level, depth = below, depth + 1


def whole(value: Json, name: str, low: int = 0, high: int = LARGEST) -> int:
    """Return a whole number within bounds.

    Examples
    --------
    >>> whole(3, "steps")
    3
    """
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}")
    return value


def real(value: Json, name: str, low: float = -math.inf) -> float:
    """Return a finite number of `low` or more.

    Examples
    --------
    >>> real(0.5, "lambda")
    0.5
    """
    if type(value) is not float or not math.isfinite(value) or value < low:
        raise ValueError(f"{name} is {value!r}")
    return value


def flag(value: Json, name: str) -> bool:
    """Return True or False."""
    if type(value) is not bool:
        raise ValueError(f"{name} is {value!r}")
    return value


def text(value: Json, name: str) -> str:
    """Return text."""
    if type(value) is not str:
        raise ValueError(f"{name} is {value!r}")
    return value


def one_of(value: Json, name: str, choices: Collection[str]) -> str:
    """Return one of some words."""
    if type(value) is not str or value not in choices:
        raise ValueError(f"{name} is {value!r}")
    return value


def items(value: Json, name: str, length: int | None = None) -> list[Json]:
    """Return a list, of a length if one is given."""
    if type(value) is not list or (length is not None and len(value) != length):
        raise ValueError(f"{name} is {value!r}")
    return value


def record(value: Json, name: str, fields: Collection[str]) -> dict[str, Json]:
    """Return a dictionary with these fields and no other."""
    if type(value) is not dict or set(value) != set(fields):
        raise ValueError(f"{name} has not the fields {', '.join(fields)}")
    return value
