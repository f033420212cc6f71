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
from pegasos_stats.data.language.missing import (
    LOOKING,
    connected,
    missing_in,
    where_present,
)

Functions = Mapping[str, Compute]
# Values of expressions, by their text, and what transformations in them found.
Computed = Mapping[str, tuple[Value, Mapping[str, dict[str, Value]]]]

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


def looks_at_missing(node: Node, learning: bool = False) -> bool:
    """Whether an expression may have a value in a row in which a column has none.

    Parameters
    ----------
    node : Node
    learning : bool
        Whether functions that learn count too: they do so from all rows in which their
        own variable is there.

    Examples
    --------
    >>> from pegasos_stats.data.language.reading import read_expression
    >>> texts = "log(x)", "np.isnan(x)", "scale(x)"
    >>> trees = [read_expression(text, ["x"], "y ~ x") for text in texts]
    >>> [looks_at_missing(tree) for tree in trees]
    [False, True, False]
    >>> looks_at_missing(trees[2], learning=True)
    True
    """
    return any(_looks(part, learning) for part in walked(node))


def _looks(part: Node, learning: bool) -> bool:
    if isinstance(part, Operation):
        return part.operator in ("&", "|")
    if isinstance(part, Comparison):
        return len(part.operators) > 1 or _is_lookup(part)
    if isinstance(part, Call) and part.name not in ("I", "Q"):
        return (
            part.name in LOOKING
            or _is_of_caller(part)
            or (learning and bool(part.function.state))
        )
    return False


def _is_lookup(node: Comparison) -> bool:
    """Whether a comparison is with a list, in which a missing value is not."""
    lists = [
        isinstance(p, Constant) and isinstance(p.value, list) for p in node.operands
    ]
    return any(lists)


def _is_of_caller(call: Call) -> bool:
    return call.function.open and call.name not in ("pmin", "pmax")


@dataclass(frozen=True)
class Evaluation:
    """Computes trees on the rows of a frame.

    Attributes
    ----------
    frame : DataFrame, n rows
        Rows in plain dtypes.
    state : mapping of str to dict
        What transformations found at fit, by the text of their calls. New ones are
        added.
    missing : bool
        Whether rows may have missing values.

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
    missing: bool = False

    def value(self, node: Node) -> Value:
        """Value of a tree: a constant, or something with one entry for each row."""
        match node:
            case Constant():
                return node.value
            case Column():
                return widened(self.frame[node.name])
            case Operation():
                return self._operated(node)
            case Comparison():
                return self._compared(node)
            case Call():
                found = self._called(node)
                if type(found) is pd.Series and len(found) == len(self.frame):
                    return found.set_axis(self.frame.index)  # some come without labels
                return found

    def _operated(self, node: Operation) -> Value:
        values = self._plain(node.operands)
        if not self.missing:
            return operated(node.operator, values)
        masks = [missing_in(value) for value in values]
        lacking = any(mask is not None and mask.any() for mask in masks)
        if lacking and node.operator in ("&", "|"):
            return connected(node.operator, values)

        def compute(*present: Value) -> Value:
            return operated(node.operator, present)

        return where_present(compute, values, {}, self.frame.index)

    def _compared(self, node: Comparison) -> Value:
        values = self._plain(node.operands)
        if not self.missing or _is_lookup(node):
            return compared(node.operators, values)
        found = []
        for i, name in enumerate(node.operators):

            def compute(left: Value, right: Value, name: str = name) -> Value:
                return compared([name], [left, right])

            pair = values[i : i + 2]
            found.append(where_present(compute, pair, {}, self.frame.index))
        return found[0] if len(found) == 1 else connected("&", found)

    def _plain(self, nodes: tuple[Node, ...]) -> list[Value]:
        """Values without the wrapper that formulaic puts around `C` and `poly`."""
        values = [self.value(node) for node in nodes]
        return [getattr(value, "__wrapped__", value) for value in values]

    def _called(self, node: Call) -> Value:
        arguments = [self.value(argument) for argument in node.arguments]
        keywords = {name: self.value(value) for name, value in node.keywords}
        if not self.missing or node.name in LOOKING or _is_of_caller(node):
            return self._result(node, arguments, keywords)

        def compute(*present: Value, **others: Value) -> Value:
            return self._result(node, list(present), others)

        return where_present(compute, arguments, keywords, self.frame.index)

    def _result(
        self, node: Call, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        function = node.function
        if function.elementwise:
            arguments = [as_numbers(argument) for argument in arguments]
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
