"""Fields of a header, each made sure to be of its type and within its range.

What is wrong raises ValueError: `load` says it in one sentence.
"""

import math
from collections.abc import Collection
from typing import Any

LARGEST = 2**62


def whole(value: Any, name: str, low: int = 0, high: int = LARGEST) -> int:
    """Return a whole number within bounds.

    Examples
    --------
    >>> whole(3, "steps")
    3
    """
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}")
    return value


def real(value: Any, name: str, low: float = -math.inf) -> float:
    """Return a finite number of `low` or more.

    Examples
    --------
    >>> real(0.5, "lambda")
    0.5
    """
    if type(value) is not float or not math.isfinite(value) or value < low:
        raise ValueError(f"{name} is {value!r}")
    return value


def flag(value: Any, name: str) -> bool:
    """Return True or False."""
    if type(value) is not bool:
        raise ValueError(f"{name} is {value!r}")
    return value


def text(value: Any, name: str) -> str:
    """Return text."""
    if type(value) is not str:
        raise ValueError(f"{name} is {value!r}")
    return value


def one_of(value: Any, name: str, choices: Collection[str]) -> str:
    """Return one of some words."""
    if type(value) is not str or value not in choices:
        raise ValueError(f"{name} is {value!r}")
    return value


def items(value: Any, name: str, length: int | None = None) -> list[Any]:
    """Return a list, of a length if one is given."""
    if type(value) is not list or (length is not None and len(value) != length):
        raise ValueError(f"{name} is {value!r}")
    return value


def record(value: Any, name: str, fields: Collection[str]) -> dict[str, Any]:
    """Return a dictionary with these fields and no other."""
    if type(value) is not dict or set(value) != set(fields):
        raise ValueError(f"{name} has not the fields {', '.join(fields)}")
    return value
