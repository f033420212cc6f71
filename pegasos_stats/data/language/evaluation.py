"""Values of an expression: its tree computed on the columns of a frame."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.data.language.arithmetic import (
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
from pegasos_stats.data.language.functions import CONTRASTS
from pegasos_stats.data.language.nodes import (
    Call,
    Column,
    Comparison,
    Constant,
    Node,
    Operation,
)

MOST = 1000
COUNTS = ("breaks", "degree", "df", "levels")


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
    state: MutableMapping[str, dict[str, Any]] = field(default_factory=dict)

    def value(self, node: Node) -> Any:
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
                return self._with_rows(self._called(node))

    def _plain(self, nodes: tuple[Node, ...]) -> list[Any]:
        """Values without what `C` and `poly` add to them."""
        values = [self.value(node) for node in nodes]
        return [getattr(value, "__wrapped__", value) for value in values]

    def _called(self, node: Call) -> Any:
        function = node.function
        arguments = [self.value(argument) for argument in node.arguments]
        if function.elementwise:
            arguments = [as_numbers(argument) for argument in arguments]
        keywords = {name: self.value(value) for name, value in node.keywords}
        self._check(node, arguments, keywords)
        if function.elementwise:
            return in_range(function.resolved, arguments)
        if function.state:
            keywords[function.state] = self.state.setdefault(node.key, {})
            arguments = [as_real(argument) for argument in arguments]
        return function.resolved(*arguments, **keywords)

    def _check(
        self, node: Call, arguments: list[Any], keywords: dict[str, Any]
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

    def _with_rows(self, found: Any) -> Any:
        """Label what came without the labels of the rows."""
        if type(found) is pd.Series and len(found) == len(self.frame):
            return found.set_axis(self.frame.index)
        return found


def column_value(node: Node, evaluation: Evaluation) -> Any:
    """Value of an expression that is a term: a number, or one entry for each row.

    Raises
    ------
    TypeError
        If it is neither.
    """
    found = evaluation.value(node)
    plain = getattr(found, "__wrapped__", found)
    parts = plain.values() if isinstance(plain, dict) else [plain]
    if not all(_is_number(part) or _has_rows(part, evaluation.frame) for part in parts):
        raise TypeError("an expression does not give one number for each row")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.number | np.bool_)


def _has_rows(value: Any, frame: pd.DataFrame) -> bool:
    """Whether a value has one or more columns with the rows of a frame."""
    shape = getattr(value, "shape", ())
    return shape[:1] == (len(frame),) and len(shape) <= 2
