"""The text of a header, JSON, as a tree of values within stated bounds."""

import json
import math
from typing import Any

MOST_BYTES = 4 * 2**20  # of text, and for every row or column
BYTES_EACH = 1024
MOST_NODES = 300_000  # values in the tree, and for every row or column
NODES_EACH = 24
DEEPEST = 60
NODE = 64  # bytes in memory


def text_of(tree: Any, width: int) -> bytes:
    """Write a tree as JSON, made sure that `tree_of` reads it.

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


def tree_of(text: bytes, width: int, most_memory: float = math.inf) -> Any:
    """Read JSON that is as `text_of` writes it.

    Parameters
    ----------
    text : bytes
    width : int
        The largest dimension of an array of the model: with the number of its rows or
        columns the text may grow.
    most_memory : float
        Bytes that the tree may take.

    Raises
    ------
    ValueError
        If it is no JSON, has a number that is not finite, a name twice, half a
        character, or is larger or deeper than the bounds of this module.
    """
    nodes = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if len(text) > most_bytes(width):
        raise ValueError(f"its header has {len(text):,} bytes")
    if nodes > MOST_NODES + NODES_EACH * width or NODE * nodes > most_memory:
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


def same(one: Any, other: Any) -> bool:
    """Whether two trees are the same, types of numbers and order of names included."""
    return json.dumps(one) == json.dumps(other)


def _no_number(name: str) -> Any:
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


def _check(tree: Any) -> None:
    """Raise ValueError for a tree that is too deep or has half a character."""
    level, depth = [tree], 0
    while level:
        if depth > DEEPEST:
            raise ValueError("its header is nested too deep")
        below: list[Any] = []
        for node in level:
            if isinstance(node, str):
                node.encode()
            elif isinstance(node, list):
                below += node
            elif isinstance(node, dict):
                below += [*node, *node.values()]
        level, depth = below, depth + 1
