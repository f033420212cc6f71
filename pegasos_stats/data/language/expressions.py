"""Expressions: the kinds of nodes in their trees, and their values on a frame."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pegasos_stats.data.language.arguments import check_arguments
from pegasos_stats.data.language.arithmetic import (
    Compute,
    Value,
    as_numbers,
    as_real,
    check_shapes,
    compared,
    in_range,
    is_column,
    is_text,
    operated,
    widened,
)
from pegasos_stats.data.language.functions import CONTRASTS, Function

Functions = Mapping[str, Compute]

MOST = 1000
BEYOND = "beyond"  # in a state: what becomes of rows beyond those it was found in
COUNTS = ("breaks", "degree", "df", "levels")


@dataclass(frozen=True)
class Constant:
    """A number, text, True, False, None, or a list of such."""

    value: Value


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
    """A call of a known function, or of one of the caller's, with its arguments.

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


@dataclass(frozen=True)
class Evaluation:
    """Computes trees on the rows of a frame.

    Attributes
    ----------
    frame : DataFrame, n rows
        Complete rows in plain dtypes.
    state : mapping of str to dict
        What transformations found at fit, by the text of their calls. New ones are
        added.

    Examples
    --------
    >>> from pegasos_stats.data.language.reading import read_expression
    >>> frame = pd.DataFrame({"x": [1.0, 4.0]})
    >>> tree = read_expression("np.sqrt(x) + 1", frame.columns, "y ~ np.sqrt(x) + 1")
    >>> Evaluation(frame).value(tree).tolist()
    [2.0, 3.0]
    """

    frame: pd.DataFrame
    state: MutableMapping[str, dict[str, Value]] = field(default_factory=dict)

    def value(self, node: Node) -> Value:
        """Value of a tree: a constant, or something with one entry for each row."""
        match node:
            case Constant():
                return node.value
            case Column():
                return widened(self.frame[node.name])
            case Operation():
                return operated(node.operator, self._plain(node.operands))
            case Comparison():
                return compared(node.operators, self._plain(node.operands))
            case Call():
                found = self._called(node)
                if type(found) is pd.Series and len(found) == len(self.frame):
                    return found.set_axis(self.frame.index)  # some come without labels
                return found

    def _plain(self, nodes: tuple[Node, ...]) -> list[Value]:
        """Values without the wrapper that formulaic puts around `C` and `poly`."""
        values = [self.value(node) for node in nodes]
        return [getattr(value, "__wrapped__", value) for value in values]

    def _called(self, node: Call) -> Value:
        function = node.function
        arguments = [self.value(argument) for argument in node.arguments]
        if function.elementwise:
            arguments = [as_numbers(argument) for argument in arguments]
        keywords = {name: self.value(value) for name, value in node.keywords}
        self._check(node, arguments, keywords)
        if function.elementwise:
            return in_range(function.resolved, arguments)
        if function.state:
            state = self.state.setdefault(node.key, {})
            keywords[function.state] = state
            options = function.parameters[len(arguments) :]
            if node.name == "bs" and BEYOND in state and "extrapolation" in options:
                keywords.setdefault("extrapolation", state[BEYOND])
            arguments = [as_real(argument) for argument in arguments]
        return function.resolved(*arguments, **keywords)

    def _check(
        self, node: Call, arguments: list[Value], keywords: dict[str, Value]
    ) -> None:
        """Raise TypeError or ValueError for arguments that a function does not take."""
        function, parameters = node.function, node.function.parameters
        if function.elementwise:
            check_shapes(arguments)
            if any(is_text(argument) or argument is None for argument in arguments):
                raise TypeError(f"{node.name}() takes numbers")
        if function.open or function.elementwise:
            return
        if node.name not in CONTRASTS and not arguments:
            raise TypeError(f"{node.name}() takes a column")
        given = dict(zip(parameters, arguments, strict=False)) | keywords
        for name, value in given.items():
            if parameters.index(name) >= function.columns and is_column(value):
                raise TypeError(f"{name} of {node.name}() is a constant, not a column")
            if name in COUNTS and isinstance(value, int | float) and value > MOST:
                raise ValueError(f"{name} of {node.name}() is at most {MOST:,}")
        found = self.state.get(node.key) if function.state else None
        check_arguments(node.name, function, arguments, keywords, found)


def column_value(node: Node, evaluation: Evaluation) -> Value:
    """Value of an expression that is a term: a number, or one entry for each row.

    Raises
    ------
    TypeError
        If it is neither.
    """
    found = evaluation.value(node)
    plain = getattr(found, "__wrapped__", found)
    parts = plain.values() if isinstance(plain, dict) else [plain]
    for part in parts:
        shape = getattr(part, "shape", ())
        rows = shape[:1] == (len(evaluation.frame),) and len(shape) <= 2
        if not (rows or isinstance(part, bool | int | float | np.number | np.bool_)):
            raise TypeError("an expression does not give one number for each row")
    return found
