"""Expressions of a formula: the whitelist that they pass, and their values.

`ast.parse` parses the text. What the whitelist allows becomes an `Expression` of
constants, columns, operators and calls of the vocabulary, which computes its value.
Python evaluates no part of the text.
"""

import ast
import re
import warnings
from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import TypeAlias

import numpy as np
import pandas as pd

from pegasos_stats.data.language import vocabulary
from pegasos_stats.data.language.vocabulary import Function, Functions, State, Value
from pegasos_stats.errors import FormulaError, did_you_mean, shown
from pegasos_stats.foreign_names import suggestion

MOST_LETTERS = 10_000
NESTED = "it has too many parts in each other"
ALIKE = 0.6  # names of functions are short
# Text in quotes; one that is never closed goes on to the end.
LITERAL = r"'(?:\\.|[^'\\])*+(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*+(?:\"|\\?\Z)"
QUOTED = re.compile(rf"({LITERAL}|`[^`]*`)", re.DOTALL)
# Words of R, and what they are here.
OF_R = (
    (r"(?<![\w.])(?:base|splines|stats)::(?=[\w.]+\()", ""),
    (r"(?<=[(,\s])([^\W\d]\w*)\.(\w+)(?=\s*=(?!=))", r"\1_\2"),  # Boundary.knots=
    (r"(?<![\w.])(?:as\.)?factor\(", "C("),
    (r"(?<![\w.])(as|is)\.(?=(?:numeric|integer|logical|character|na)\()", r"\1_"),
)
CONNECTIVES = (r"&", " and "), (r"\|", " or ")  # as in R they join comparisons
Quote: TypeAlias = Callable[[re.Match[str]], str]
ALLOWED = (
    "allowed are columns, numbers, text, arithmetic, comparisons and functions such as "
    "log, np.sqrt, scale and poly; compute other columns in the data before, or give "
    "functions={'name': f} in Python"
)
OPERATOR_NAMES = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%",
    "Pow": "**", "BitAnd": "&", "BitOr": "|", "And": "&", "Or": "|", "USub": "negative",
    "UAdd": "positive", "Invert": "not", "Not": "not", "Eq": "==", "NotEq": "!=",
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "In": "in", "NotIn": "not_in",
}  # fmt: skip


OTHER_OPERATORS = {"BitXor": "^", "LShift": "<<", "RShift": ">>", "MatMult": "@"}


class Expression(ABC):
    """An expression that passed the whitelist: a tree of the classes below.

    Attributes
    ----------
    parts : collection of Expression
        Its operands or arguments.
    """

    parts: Collection["Expression"] = ()

    def walk(self) -> Iterator["Expression"]:
        """The expression and all its parts, recursively."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def columns(self) -> set[str]:
        """Names of the columns in the expression."""
        return {node.name for node in self.walk() if isinstance(node, Column)}

    @property
    def calls(self) -> "list[Call]":
        """Calls of functions in the expression, without operators."""
        return [node for node in self.walk() if isinstance(node, Call)]

    def evaluate(
        self, frame: pd.DataFrame, states: dict[str, State] | None = None
    ) -> Value:
        """Compute the value: a number, or one entry for each row, which may be missing.

        Parameters
        ----------
        frame : DataFrame, n rows
            In plain dtypes.
        states : dict, optional
            States of transformations, by the text of their calls. Calls without a state
            are fitted to `frame`, and their states added.

        Raises
        ------
        TypeError
            If the value has another type.

        Examples
        --------
        >>> frame = pd.DataFrame({"x": [1.0, 4.0]})
        >>> read = read_expression("np.sqrt(x) + 1", frame.columns, "y ~ x")
        >>> read.evaluate(frame).tolist()
        [2.0, 3.0]
        """
        value = self._value(frame, {} if states is None else states)
        kinds = vocabulary.ROWS | Number | np.bool_
        if not isinstance(vocabulary.unwrapped_value(value), kinds):
            raise TypeError("an expression does not give one number for each row")
        return value

    def _values(self, frame: pd.DataFrame, states: dict[str, State]) -> list[Value]:
        """Values of the parts, without the attributes of `TermValue`."""
        values = (part._value(frame, states) for part in self.parts)
        return [vocabulary.unwrapped_value(value) for value in values]

    @abstractmethod
    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        """The value in all rows, of any type of the vocabulary."""


@dataclass(frozen=True)
class Column(Expression):
    """A column of the data."""

    name: str

    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        return frame[self.name]


@dataclass(frozen=True)
class Constant(Expression):
    """A number, text, boolean or None, or a list or dictionary of these."""

    value: Value

    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        return self.value


@dataclass(frozen=True)
class Operation(Expression):
    """An operator, or a chain of comparisons whose signs are joined by blanks."""

    name: str
    parts: tuple[Expression, ...]

    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        values = self._values(frame, states)
        return vocabulary.operated(self.name, values, frame.index)


@dataclass(frozen=True)
class Call(Expression):
    """A call of a function.

    Attributes
    ----------
    name : str
        Name of the function in the vocabulary.
    function : Function
    arguments : dict of str to Expression
        By the names of the parameters; by position for a function without names.
    key : str
        Name of its state: the text of the call.
    """

    name: str
    function: Function
    arguments: dict[str, Expression]
    key: str = ""

    @property
    def parts(self) -> Collection[Expression]:  # type: ignore[override]
        """The arguments."""
        return self.arguments.values()

    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        values, function = self._values(frame, states), self.function
        state = states.setdefault(self.key, {}) if function.state else {}

        def compute(*values: Value) -> Value:
            arguments = dict(zip(self.arguments, values, strict=True))
            return function.compute(self.name, arguments, state)

        if function.all_rows:
            values = [vocabulary.without_gaps(value) for value in values]
            return vocabulary.on_rows(compute(*values), frame.index)
        return vocabulary.where_present(compute, values, frame.index)


def read_expression(
    text: str,
    columns: Collection[object],
    formula: str,
    functions: Functions | None = None,
) -> Expression:
    """Parse an expression, which must pass the whitelist.

    An unknown name becomes a column; the caller checks that the data have it. As in R,
    ``&`` and ``|`` join comparisons without brackets.

    Parameters
    ----------
    text : str
        Names that are not words are in backticks.
    columns : collection
        Names of the columns, which take precedence over constants and functions.
    formula : str
        The whole formula, for messages.
    functions : mapping of str to callable, optional
        Further functions, of the caller.

    Raises
    ------
    FormulaError
        If the text cannot be parsed, or does more than compute with columns.

    Examples
    --------
    >>> comparison = read_expression("log(x) > a.b", ["x", "a.b"], "log(x) > a.b ~ z")
    >>> sorted(comparison.columns), [call.name for call in comparison.calls]
    (['a.b', 'x'], ['log'])
    """
    tree, quoted = parsed(in_python(text, *CONNECTIVES), formula)
    own = {
        name: Function(call, "", numbers=False, all_rows=True, open=True)
        for name, call in (functions or {}).items()
    }
    words = ChainMap(own, vocabulary.VOCABULARY)
    try:
        return _Whitelist(columns, formula, words, quoted).read(tree)
    except RecursionError:
        raise unusable(formula, NESTED) from None


def in_python(text: str, *words: tuple[str, str | Quote]) -> str:
    """Replace words of R outside of quotes.

    Examples
    --------
    >>> in_python("as.factor(a) + splines::ns(x, 3, Boundary.knots=c(0, 9))", *OF_R)
    'C(a) + ns(x, 3, Boundary_knots=c(0, 9))'
    """
    pieces = QUOTED.split(text)
    for pattern, word in words:
        pieces[::2] = [re.sub(pattern, word, piece) for piece in pieces[::2]]
    return "".join(pieces)


def parsed(text: str, formula: str) -> tuple[ast.expr, dict[str, str]]:
    """Parse an expression by `ast.parse`, with words in place of quoted names.

    Returns
    -------
    tree : ast.expr
    quoted : dict
        The names that were in backticks, by their words.

    Raises
    ------
    FormulaError
        If the text is not an expression.
    """
    if len(text) > MOST_LETTERS:
        raise unusable(formula, f"an expression has at most {MOST_LETTERS:,} letters")
    pieces, quoted, stem = QUOTED.split(text), {}, "_quoted"
    while stem in text:
        stem += "_"
    for i in range(1, len(pieces), 2):
        if pieces[i][0] == "`":
            word = f"{stem}{i}_"
            quoted[word] = pieces[i].strip("`")
            pieces[i] = f" {word} "
    code = "".join(pieces).strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in text
            tree = ast.parse(code, mode="eval").body
        ast.unparse(tree)
    except (SyntaxError, ValueError) as error:
        reason = " ".join(str(getattr(error, "msg", error)).split())
        calls = re.findall(r"\b((?:as|is)\.\w+)\(", code)  # words of R and of Python
        suggestions = (suggestion(call, ("formula",)) for call in calls)
        reason = next(filter(None, suggestions), reason)
        written = code[:60].replace("**~", ":").replace("@", "%in%")
        raise unusable(formula, f"{reason} in {written!r}") from None
    except (RecursionError, MemoryError):
        raise unusable(formula, NESTED) from None
    return tree, quoted


def check_in(tree: ast.expr, formula: str) -> None:
    """Raise for ``2 * k %in% s`` without brackets: R evaluates ``k %in% s`` first."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(
                left=ast.BinOp() as left, ops=[ast.In() | ast.NotIn(), *_]
            ):
                if left.col_offset == node.col_offset:  # there is no bracket
                    text = "put what is before %in% in brackets: (2 * k) %in% s"
                    raise unusable(formula, text)


def written(node: ast.AST, quoted: dict[str, str]) -> str:
    """Write a tree of `parsed` as text, with the quoted names in backticks.

    Equal expressions have equal texts.

    Examples
    --------
    >>> written(*parsed("log( `a b`,2)", "y ~ log( `a b`,2)"))
    'log(`a b`, 2)'
    """
    text = ast.unparse(node).replace("\n", " ")
    for word, name in quoted.items():
        text = text.replace(word, f"`{name}`")
    return text


@dataclass(frozen=True)
class _Whitelist:
    """Makes an `Expression` of the tree of `ast.parse`, and refuses everything else."""

    columns: Collection[object]
    formula: str
    vocabulary: Mapping[str, Function]
    quoted: dict[str, str]

    def read(self, node: ast.expr) -> Expression:
        """Return the expression of a node of the tree."""
        match node:
            case ast.Constant(value=int() | float() | str() | None as value):
                return Constant(value)
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.List() | ast.Tuple() | ast.Set():
                return Constant(self._constants(node.elts))
            case ast.Dict():
                keys = self._constants(node.keys)
                values = self._constants(node.values)
                if all(isinstance(key, Hashable) for key in keys):
                    return Constant(dict(zip(keys, values, strict=True)))
            case ast.UnaryOp():
                return self._operator(node.op, [node.operand])
            case ast.BinOp():
                return self._operator(node.op, [node.left, node.right])
            case ast.BoolOp():
                return self._operator(node.op, node.values)
            case ast.Compare():
                return self._comparison(node)
            case ast.Call():
                return self._call(node)
        raise self._refusal(f"has {self._written(node)!r}")

    def _refusal(self, what: str) -> FormulaError:
        return refused(self.formula, f"{what}; {ALLOWED}.")

    def _written(self, node: ast.AST) -> str:
        return written(node, self.quoted)[:60]

    def _constants(self, items: "Sequence[ast.expr | None]") -> list[Value]:
        parts = [self.read(item) for item in items if item is not None]
        values = [part.value for part in parts if isinstance(part, Constant)]
        if len(values) < len(items):
            raise self._refusal("has a list of other things than constants")
        return values

    def _name(self, node: ast.Name | ast.Attribute) -> Expression:
        """Return a column, ``np.pi``, ``contr.sum`` or ``x.dt.year``."""
        name = _dotted(node)
        if name in self.quoted:
            return Column(self.quoted[name])
        if name is not None and name not in self.columns:
            if name in vocabulary.CONSTANTS:
                return Constant(vocabulary.CONSTANTS[name])
            if name in vocabulary.CONTRASTS:
                return Call(name, vocabulary.CONTRASTS[name], {})
        if isinstance(node, ast.Attribute):
            path, owner = _path(node)
            if path in vocabulary.ATTRIBUTES:
                return Call(path, vocabulary.ATTRIBUTES[path], {"x": self.read(owner)})
            if name is None:
                raise self._unknown(path)
        return Column(str(name))

    def _operator(self, operator: ast.AST, operands: list[ast.expr]) -> Expression:
        kind = type(operator).__name__
        if (name := OPERATOR_NAMES.get(kind)) is None:
            power = "; write powers as x**2, not x^2" if kind == "BitXor" else ""
            raise self._refusal(
                f"has the operator {OTHER_OPERATORS.get(kind, kind)}{power}"
            )
        parts = [self.read(operand) for operand in operands]
        values = [part.value for part in parts if isinstance(part, Constant)]
        if name in vocabulary.OPERATORS and len(values) == len(parts):
            return self._folded(name, values)
        return Operation(name, tuple(parts))

    def _folded(self, name: str, values: list[Value]) -> Constant:
        """Compute with constants; integers give an integer, if the result is one."""
        try:
            result = vocabulary.arithmetic(name, *values)
        except (ArithmeticError, TypeError) as error:
            raise unusable(self.formula, str(error)) from None
        whole = all(isinstance(value, int) for value in values)
        return Constant(int(result) if whole and result.is_integer() else result)

    def _comparison(self, node: ast.Compare) -> Expression:
        names = [OPERATOR_NAMES.get(type(op).__name__, "") for op in node.ops]
        if "" in names:
            raise self._refusal(f"has {self._written(node)!r}")
        parts = [node.left, *node.comparators]
        return Operation(" ".join(names), tuple(map(self.read, parts)))

    def _call(self, node: ast.Call) -> Expression:
        name, arguments = _dotted(node.func) or "", node.args
        match name, arguments, node.keywords:
            case "c", _, []:
                return Constant(self._constants(arguments))
            case "I", [inner], []:
                return self.read(inner)
            case "Q", [ast.Constant(value=str() as column)], []:
                return Column(column)
        path = name or self._written(node.func)
        if name not in self.vocabulary:
            # np.name and contr.name are functions, unless the data have such a column.
            first = name.partition(".")[0]
            module = first in ("np", "contr") and first not in self.columns
            if isinstance(node.func, ast.Attribute) and not module:
                path, owner = _path(node.func)
                arguments = [owner, *node.args]
            if path not in self.vocabulary or suggestion(name, ("formula",)):  # pd.cut
                raise self._unknown(path, name)
        function = self.vocabulary[path]
        words = {str(word.arg): self.read(word.value) for word in node.keywords}
        if len(words) < len(node.keywords):
            raise unusable(self.formula, f"{path}() is given an argument twice")
        try:
            bound = function.bind(path, [self.read(item) for item in arguments], words)
        except TypeError as error:
            habits = (suggestion(word, ("options", path)) for word in words)
            instead = next(filter(None, habits), "")
            text = f"{path}(): {instead}" if instead else str(error)
            raise unusable(self.formula, text) from None
        return Call(path, function, bound, written(node, self.quoted))

    def _unknown(self, path: str, name: str = "") -> FormulaError:
        """Return the error for an unknown function or method."""
        if instead := suggestion(name or path, ("formula",)):
            text = f"there is no {name or path}() here; {instead}"
            return unusable(self.formula, text)
        what = self.quoted.get(path, path).removeprefix(".")
        names = (*vocabulary.VOCABULARY, *vocabulary.ATTRIBUTES, *self.vocabulary)
        alike = [n.removeprefix(".") for n in names if ("." in n[1:]) <= ("." in what)]
        near = did_you_mean(what, alike, ALIKE)
        return self._refusal(f"has {what!r}, which is not known{near}")


def _dotted(node: ast.AST) -> str | None:
    """Return ``a.b.c`` as text, and None for other trees."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else None


def _path(node: ast.Attribute) -> tuple[str, ast.expr]:
    """Return the name of a method, ``.abs`` or ``.str.len``, and its object."""
    inner = node.value
    if isinstance(inner, ast.Attribute) and inner.attr in ("str", "dt"):
        return f".{inner.attr}.{node.attr}", inner.value
    return f".{node.attr}", inner


def unusable(formula: str, reason: str) -> FormulaError:
    """Return the error for a formula that cannot be parsed or computed."""
    return refused(formula, f"cannot be used: {reason}.")


def refused(formula: str, reason: str) -> FormulaError:
    """Return the error for a formula, which also has the reason by itself.

    Examples
    --------
    >>> refused("y ~ 1", "has no predictor; add one.")
    FormulaError("The formula 'y ~ 1' has no predictor; add one.")
    """
    return FormulaError(f"The formula {shown(formula)} {reason}", reason)
