"""What an expression is made of: a few kinds of nodes, and nothing else."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pegasos_stats.data.language.functions import Function

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Constant:
    """A number, text, True, False, None, or a list of such."""

    value: Any


@dataclass(frozen=True)
class Column:
    """A column of the data."""

    name: str


@dataclass(frozen=True)
class Operation:
    """Arithmetic, ``&``, ``|`` and ``not``, by the name of the operator."""

    operator: str
    operands: tuple["Node", ...]


@dataclass(frozen=True)
class Comparison:
    """``a < b <= c``: one operator fewer than operands."""

    operators: tuple[str, ...]
    operands: tuple["Node", ...]


@dataclass(frozen=True)
class Call:
    """A function of the tables, or of the caller, and what it is given.

    Attributes
    ----------
    name : str
    function : Function
    arguments : tuple of nodes
    keywords : tuple of pairs
    key : str
        The call as text, under which a function keeps what it found at fit.
    """

    name: str
    function: Function
    arguments: tuple["Node", ...]
    keywords: tuple[tuple[str, "Node"], ...]
    key: str


Node = Constant | Column | Operation | Comparison | Call


def columns_in(node: Node) -> set[str]:
    """Names of the columns that an expression uses."""
    return {part.name for part in walked(node) if isinstance(part, Column)}


def walked(node: Node) -> Iterator[Node]:
    """All nodes of a tree."""
    yield node
    if isinstance(node, Operation | Comparison):
        for operand in node.operands:
            yield from walked(operand)
    elif isinstance(node, Call):
        for part in (*node.arguments, *(value for _, value in node.keywords)):
            yield from walked(part)
