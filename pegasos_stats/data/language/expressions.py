"""Expressions of a formula: the whitelist that they pass, and their values.

`ast.parse` reads the text. What is on the whitelist becomes an `Expression`, of
constants, columns, operators and calls of the vocabulary alone, which computes itself:
nothing of the text is given to Python.
"""

import ast
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
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


REFUSED = {"BitXor": "^", "LShift": "<<", "RShift": ">>", "MatMult": "@"}


class Expression(ABC):
    """An expression that passed the whitelist: a tree of the classes below.

    Attributes
    ----------
    parts : collection of Expression
        What it is computed from.
    """

    parts: Collection["Expression"] = ()

    def walk(self) -> Iterator["Expression"]:
        """It and all that is within it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def columns(self) -> set[str]:
        """Names of the columns that it uses."""
        return {node.name for node in self.walk() if isinstance(node, Column)}

    @property
    def calls(self) -> "list[Call]":
        """Calls of functions within it, operators left out."""
        return [node for node in self.walk() if isinstance(node, Call)]

    def evaluate(
        self, frame: pd.DataFrame, states: dict[str, State] | None = None
    ) -> Value:
        """A number, or one entry for each row, missing where it has none.

        Parameters
        ----------
        frame : DataFrame, n rows
            In plain dtypes.
        states : dict, optional
            What transformations found at fit, by the text of their calls. New ones are
            added.

        Raises
        ------
        TypeError
            If it is neither.

        Examples
        --------
        >>> frame = pd.DataFrame({"x": [1.0, 4.0]})
        >>> read = read_expression("np.sqrt(x) + 1", frame.columns, "y ~ x")
        >>> read.evaluate(frame).tolist()
        [2.0, 3.0]
        """
        found = self._value(frame, {} if states is None else states)
        kinds = vocabulary.ROWS | Number | np.bool_
        if not isinstance(vocabulary.unwrapped_value(found), kinds):
            raise TypeError("an expression does not give one number for each row")
        return found

    def _values(self, frame: pd.DataFrame, states: dict[str, State]) -> list[Value]:
        """Those of its parts, as other functions take them."""
        values = (part._value(frame, states) for part in self.parts)
        return [vocabulary.unwrapped_value(value) for value in values]

    @abstractmethod
    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        """Its value on all rows, as the vocabulary computes it."""


@dataclass(frozen=True)
class Column(Expression):
    """A column of the data."""

    name: str

    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        return frame[self.name]


@dataclass(frozen=True)
class Constant(Expression):
    """A number, text, true, false, None, or a list or dictionary of such."""

    value: Value

    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        return self.value


@dataclass(frozen=True)
class Operation(Expression):
    """An operator, or a chain of comparisons: their signs with blanks between."""

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
        As the vocabulary has it.
    function : Function
    given : dict of str to Expression
        Its arguments, by the names of the parameters; by position where it has none.
    key : str
        Under which it keeps what it found at fit.
    """

    name: str
    function: Function
    given: dict[str, Expression]
    key: str = ""

    @property
    def parts(self) -> Collection[Expression]:  # type: ignore[override]
        """Its arguments."""
        return self.given.values()

    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        values, function = self._values(frame, states), self.function
        state = states.setdefault(self.key, {}) if function.state else {}

        def called(*values: Value) -> Value:
            given = dict(zip(self.given, values, strict=True))
            return function.called(self.name, given, state)

        if function.all_rows:
            values = [vocabulary.without_gaps(value) for value in values]
            return vocabulary.on_rows(called(*values), frame.index)
        return vocabulary.where_present(called, values, frame.index)


def read_expression(
    text: str,
    columns: Collection[object],
    formula: str,
    functions: Functions | None = None,
) -> Expression:
    """Read an expression, which must pass the whitelist.

    A name that is neither a column nor a constant is read as a column: whether it is
    there is asked where the data are. As in R, ``&`` and ``|`` join comparisons that
    stand without brackets.

    Parameters
    ----------
    text : str
        Names that are no words stand in backticks.
    columns : collection
        Names of the columns, which come before all other meanings of a name.
    formula : str
        The formula that it is part of, for messages.
    functions : mapping of str to callable, optional
        Further functions, of the caller.

    Raises
    ------
    FormulaError
        If the text cannot be read, or does more than compute with columns.

    Examples
    --------
    >>> found = read_expression("log(x) > a.b", ["x", "a.b"], "log(x) > a.b ~ z")
    >>> sorted(found.columns), [call.name for call in found.calls]
    (['a.b', 'x'], ['log'])
    """
    tree, quoted = parsed(in_python(text, *CONNECTIVES), formula)
    try:
        return _Whitelist(columns, formula, functions or {}, quoted).read(tree)
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
    """Read an expression by `ast.parse`, words in the place of quoted names.

    Returns
    -------
    tree : ast.expr
    quoted : dict
        The names that stood in backticks, by the words that stand for them.

    Raises
    ------
    FormulaError
        If the text is no expression.
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
        for instead in filter(None, (suggestion(c, ("formula",)) for c in calls)):
            reason = instead
        written = code[:60].replace("**~", ":").replace("@", "%in%")
        raise unusable(formula, f"{reason} in {written!r}") from None
    except (RecursionError, MemoryError):
        raise unusable(formula, NESTED) from None
    return tree, quoted


def check_in(tree: ast.expr, formula: str) -> None:
    """Raise for ``2 * k %in% s`` as it is written: R has ``k %in% s`` before ``*``."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(
                left=ast.BinOp() as left, ops=[ast.In() | ast.NotIn(), *_]
            ):
                if left.col_offset == node.col_offset:  # there is no bracket
                    text = (
                        "what stands before %in% is in brackets, as in (2 * k) %in% s"
                    )
                    raise unusable(formula, text)


def written(node: ast.AST, quoted: dict[str, str]) -> str:
    """Text of a tree of `parsed`, with the quoted names in backticks.

    Equal expressions look alike.

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
    """Makes an `Expression` of what `ast.parse` read, and refuses the rest."""

    columns: Collection[object]
    formula: str
    functions: Functions
    quoted: dict[str, str]

    def read(self, node: ast.expr) -> Expression:
        """The expression of a node of the tree."""
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
        found = [self.read(item) for item in items if item is not None]
        values = [each.value for each in found if isinstance(each, Constant)]
        if len(values) < len(items):
            raise self._refusal("has a list of other things than constants")
        return values

    def _name(self, node: ast.Name | ast.Attribute) -> Expression:
        """A column, ``np.pi``, ``contr.sum``, ``x.dt.year``."""
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
            raise self._refusal(f"has the operator {REFUSED.get(kind, kind)}{power}")
        parts = [self.read(operand) for operand in operands]
        values = [part.value for part in parts if isinstance(part, Constant)]
        if name in vocabulary.OPERATORS and len(values) == len(parts):
            return self._folded(name, values)
        return Operation(name, tuple(parts))

    def _folded(self, name: str, values: list[Value]) -> Constant:
        """Compute with constants; of whole numbers a whole number, if it is one."""
        try:
            found = vocabulary.arithmetic(name, *values)
        except (ArithmeticError, TypeError) as error:
            raise unusable(self.formula, str(error)) from None
        whole = all(isinstance(value, int) for value in values)
        return Constant(int(found) if whole and found.is_integer() else found)

    def _comparison(self, node: ast.Compare) -> Expression:
        names = [OPERATOR_NAMES.get(type(op).__name__, "") for op in node.ops]
        if "" in names:
            raise self._refusal(f"has {self._written(node)!r}")
        parts = [node.left, *node.comparators]
        return Operation(" ".join(names), tuple(map(self.read, parts)))

    def _call(self, node: ast.Call) -> Expression:
        name = _dotted(node.func) or ""
        if name == "c" and not node.keywords:
            return Constant(self._constants(node.args))
        if name == "I" and len(node.args) == 1 and not node.keywords:
            return self.read(node.args[0])
        if name == "Q" and len(node.args) == 1 and not node.keywords:
            inner = self.read(node.args[0])
            if isinstance(inner, Constant) and isinstance(inner.value, str):
                return Column(inner.value)
        path, arguments = name or self._written(node.func), node.args
        if name not in vocabulary.VOCABULARY and name not in self.functions:
            # np.name and contr.name are functions, unless the data have such a column.
            first = name.partition(".")[0]
            module = first in ("np", "contr") and first not in self.columns
            if isinstance(node.func, ast.Attribute) and not module:
                path, owner = _path(node.func)
                arguments = [owner, *node.args]
            if path not in vocabulary.VOCABULARY or suggestion(
                name, ("formula",)
            ):  # of pd.cut
                raise self._unknown(path, name)
        if path in self.functions:
            call = self.functions[path]
            function = Function(call, "", numbers=False, all_rows=True, open=True)
        else:
            function = vocabulary.VOCABULARY[path]
        words = {str(each.arg): self.read(each.value) for each in node.keywords}
        if len(words) < len(node.keywords):
            raise unusable(self.formula, f"{path}() is given an argument twice")
        try:
            given = function.given(path, [self.read(item) for item in arguments], words)
        except TypeError as error:
            habits = (suggestion(word, ("options", path)) for word in words)
            instead = next(filter(None, habits), "")
            text = f"{path}(): {instead}" if instead else str(error)
            raise unusable(self.formula, text) from None
        return Call(path, function, given, written(node, self.quoted))

    def _unknown(self, path: str, name: str = "") -> FormulaError:
        """The error for a function that is not known, or a method, by its path."""
        if instead := suggestion(name or path, ("formula",)):
            text = f"there is no {name or path}() here; {instead}"
            return unusable(self.formula, text)
        what = self.quoted.get(path, path).removeprefix(".")
        names = [*vocabulary.VOCABULARY, *vocabulary.ATTRIBUTES, *self.functions]
        alike = [n.removeprefix(".") for n in names if ("." in n[1:]) <= ("." in what)]
        near = did_you_mean(what, alike, ALIKE)
        return self._refusal(f"has {what!r}, which is not known{near}")


def _dotted(node: ast.AST) -> str | None:
    """``a.b.c`` as text; None if it is anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else None


def _path(node: ast.Attribute) -> tuple[str, ast.expr]:
    """``.abs``, ``.str.len``: the name of a method, and what it belongs to."""
    inner = node.value
    if isinstance(inner, ast.Attribute) and inner.attr in ("str", "dt"):
        return f".{inner.attr}.{node.attr}", inner.value
    return f".{node.attr}", inner


def unusable(formula: str, reason: str) -> FormulaError:
    """The error for a formula that cannot be read or computed."""
    return refused(formula, f"cannot be used: {reason}.")


def refused(formula: str, reason: str) -> FormulaError:
    """The error for a formula, with the reason apart.

    Examples
    --------
    >>> refused("y ~ 1", "has no predictor; add one.")
    FormulaError("The formula 'y ~ 1' has no predictor; add one.")
    """
    return FormulaError(f"The formula {shown(formula)} {reason}", reason)
