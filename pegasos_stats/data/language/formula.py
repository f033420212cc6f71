"""Parse model formulas: the outcome, the terms, and the expressions in them.

Terms follow the grammar of Wilkinson and Rogers as in R: ``a * b`` is ``a + b + a:b``,
``a / b`` is ``a + a:b``, and ``(a + b)^2`` is ``a + b + a:b``. Calls and braces, as in
``log(x)`` or ``{x > 0}``, are expressions.

`ast.parse` parses the text of an expression. A whitelist then converts the tree to an
`Expression`, which computes the value. An expression consists of constants, columns,
operators and calls of functions of the vocabulary. Python never evaluates the text.

References
----------
Wilkinson, G. N. and Rogers, C. E. (1973). Symbolic description of factorial models for
analysis of variance. Applied Statistics 22, 392-399.
"""

import ast
import re
import unicodedata
import warnings
from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from keyword import iskeyword
from numbers import Number
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.language import vocabulary
from pegasos_stats.data.language.vocabulary import (
    RESERVED,
    Function,
    Functions,
    State,
    Value,
    as_levels,
    unwrapped_value,
)
from pegasos_stats.data.user_data import check_hashable, is_valid_text, plain_column
from pegasos_stats.errors import (
    ColumnError,
    FormulaError,
    OptionError,
    did_you_mean,
    listing,
    shown,
)
from pegasos_stats.foreign_names import suggestion

LONGEST_EXPRESSION = 10_000  # characters
NESTED = "it is nested too deeply"
LEAST_SIMILARITY = 0.6  # of a suggested function; function names are short
# Text in quotes; without a closing quote it extends to the end.
LITERAL = r"'(?:\\.|[^'\\])*+(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*+(?:\"|\\?\Z)"
QUOTED = re.compile(rf"({LITERAL}|`[^`]*`)", re.DOTALL)
# Patterns of names in R, and their replacements.
OF_R = (
    (r"(?<![\w.])(?:base|mgcv|rms|splines|stats)::(?=[\w.]+\()", ""),
    (r"(?<=[(,\s])([^\W\d]\w*)\.(\w+)(?=\s*=(?!=))", r"\1_\2"),  # Boundary.knots=
    (r"(?<![\w.])(?:as\.)?factor\(", "C("),
    (r"(?<![\w.])(as|is)\.(?=(?:numeric|integer|logical|character|na)\()", r"\1_"),
)
# With "and" and "or", comparisons need no brackets, as in R.
CONNECTIVES = (r"&", " and "), (r"\|", " or ")
Quote: TypeAlias = Callable[[re.Match[str]], str]
ALLOWED = (
    "allowed are columns (in backticks, if their names have spaces or signs), numbers, "
    "text, arithmetic, comparisons and functions such as log, np.sqrt, scale and poly; "
    "compute other columns in the data before, or use functions={'name': f} in Python"
)
OPERATOR_NAMES = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%",
    "Pow": "**", "BitAnd": "&", "BitOr": "|", "And": "&", "Or": "|", "USub": "negative",
    "UAdd": "positive", "Invert": "not", "Not": "not", "Eq": "==", "NotEq": "!=",
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "In": "in", "NotIn": "not_in",
}  # fmt: skip


OTHER_OPERATORS = {"BitXor": "^", "LShift": "<<", "RShift": ">>", "MatMult": "@"}
SIGN = re.compile(rf"{LITERAL}|`[^`]*`|%in%|[^'\"`\w\s]", re.DOTALL)
OPENING, CLOSING = "([{", ")]}"
WORD = r"[^\W\d][\w.]*|\.[\w.]+"
BLANKS = r"\s+", " "
DOT = r"(?<![\w.)\]])\.(?![\w.])", "`.`"
# Python operators that replace operators between terms, and inside calls. They have the
# precedence of R, except that R's %in% binds more tightly than * and /.
BETWEEN_TERMS = {":": "**~", "^": "**", "%in%": "@"}
IN_CALLS = {"%in%": " in "}
OFFSET = "offset("
LONGEST_FORMULA, MOST_BRACKETS = 100_000, 1000  # characters; nested brackets
MOST_TERM_PRODUCTS = 250_000  # computed in some seconds
FACTORED = re.compile(
    r"(?:C|factor|as\.factor|relevel)\(\s*(`[^`]+`|[\w.]+)\s*(?:,.*)?\)", re.DOTALL
)
TERMS = (
    "; terms are joined by +; names that are not words need backticks; what is "
    "computed or compared needs I(), as in I(x > 0)"
)
# Keywords of Python that are not quoted, since expressions may contain them.
PYTHON = ("and", "or", "not", "in", "True", "False", "None")
NOT_WHOLE = "the exponent of terms must be a whole number of at least 1"
HINTS = {  # advice for operators of Stata, and of R's lme4
    "#": "; write a * b for a##b, a:b for a#b, C(g) for i.g, and x for c.x",
    "|": "; there are no random effects; use C(g) as a term, or groups='g' for "
    "standard errors by group",
}


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
            States of transformations, by the text of their calls. A call without a
            state is fitted to `frame`, and its state is added to the dictionary.

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
            raise TypeError("the expression does not have one value for each row")
        return value

    def _values(self, frame: pd.DataFrame, states: dict[str, State]) -> list[Value]:
        """Values of the parts, without the attributes of `TermValue`."""
        values = (part._value(frame, states) for part in self.parts)
        return [vocabulary.unwrapped_value(value) for value in values]

    @abstractmethod
    def _value(self, frame: pd.DataFrame, states: dict[str, State]) -> Value:
        """Compute the value in all rows; it may have any type of the vocabulary."""


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
    """An operator, or a chain of comparisons with a name such as ``< <=``."""

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
        By the names of the parameters; by position for functions of the user.
    key : str
        The text of the call, which is the key of its state.
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
        Names of the columns. A column hides a constant or contrast of the same name.
    formula : str
        The whole formula, for messages.
    functions : mapping of str to callable, optional
        Further functions, which the caller defines.

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
        return _Whitelist(columns, formula, words, quoted).parse(tree)
    except RecursionError:
        raise unusable(formula, NESTED) from None


def in_python(text: str, *words: tuple[str, str | Quote]) -> str:
    """Replace names and operators of R by those of Python, outside quotes.

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
        The names that were in backticks, by the words that replace them.

    Raises
    ------
    FormulaError
        If the text is not an expression.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise unusable(
            formula, f"an expression may have at most {LONGEST_EXPRESSION:,} characters"
        )
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
            warnings.simplefilter("ignore")  # about invalid escapes in quoted text
            tree = ast.parse(code, mode="eval").body
        ast.unparse(tree)
    except (SyntaxError, ValueError) as error:
        if not code:
            raise unusable(formula, "a term is missing after a sign") from None
        reason = " ".join(str(getattr(error, "msg", error)).split())
        # Functions of R whose names begin with a keyword of Python.
        calls = re.findall(r"\b((?:as|is)\.\w+)\(", code)
        suggestions = (suggestion(call, ("formula",)) for call in calls)
        reason = next(filter(None, suggestions), reason)
        written = code[:60].replace("**~", ":").replace("@", "%in%")
        reason = f"{reason} in {written!r}; names that are not words need backticks"
        raise unusable(formula, reason) from None
    except (RecursionError, MemoryError):
        raise unusable(formula, NESTED) from None
    return tree, quoted


def check_in(tree: ast.expr, formula: str) -> None:
    """Raise `FormulaError` for ``2 * k %in% s``: R evaluates ``k %in% s`` first."""
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
    """Converts trees of `ast.parse` to expressions; refuses any other node."""

    columns: Collection[object]
    formula: str
    vocabulary: Mapping[str, Function]
    quoted: dict[str, str]

    def parse(self, node: ast.expr) -> Expression:
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
        parts = [self.parse(item) for item in items if item is not None]
        values = [part.value for part in parts if isinstance(part, Constant)]
        if len(values) < len(items):
            raise self._refusal("has a list whose items are not all constants")
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
                return Call(path, vocabulary.ATTRIBUTES[path], {"x": self.parse(owner)})
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
        parts = [self.parse(operand) for operand in operands]
        values = [part.value for part in parts if isinstance(part, Constant)]
        if name in vocabulary.OPERATORS and len(values) == len(parts):
            return self._folded(name, values)
        return Operation(name, tuple(parts))

    def _folded(self, name: str, values: list[Value]) -> Constant:
        """Compute with constants; a whole result of integers is an integer."""
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
        return Operation(" ".join(names), tuple(map(self.parse, parts)))

    def _call(self, node: ast.Call) -> Expression:
        name, arguments = _dotted(node.func) or "", node.args
        match name, arguments, node.keywords:
            case "c", _, []:
                return Constant(self._constants(arguments))
            case "I", [inner], []:
                return self.parse(inner)
            case "Q", [ast.Constant(value=str() as column)], []:
                return Column(column)
        path = name or self._written(node.func)
        if name not in self.vocabulary:
            # np.x() and contr.x() are functions, unless a column is called np or contr.
            first = name.partition(".")[0]
            module = first in ("np", "contr") and first not in self.columns
            if isinstance(node.func, ast.Attribute) and not module:
                path, owner = _path(node.func)
                arguments = [owner, *node.args]
            if path not in self.vocabulary or suggestion(name, ("formula",)):  # pd.cut
                raise self._unknown(path, name)
        function = self.vocabulary[path]
        words = {str(word.arg): self.parse(word.value) for word in node.keywords}
        if len(words) < len(node.keywords):
            text = f"{path}() has the same argument twice; pass it once"
            raise unusable(self.formula, text)
        try:
            bound = function.bind(path, [self.parse(item) for item in arguments], words)
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
        if f".{path}" in self.vocabulary:
            text = f"{path}() is a method here; write x.{path}() for a column x"
            return unusable(self.formula, text)
        if f"np.{path}" in self.vocabulary:
            text = f"there is no {path}() here; write np.{path}()"
            return unusable(self.formula, text)
        what = self.quoted.get(path, path).removeprefix(".")
        names = (*vocabulary.VOCABULARY, *vocabulary.ATTRIBUTES, *self.vocabulary)
        alike = [n.removeprefix(".") for n in names if ("." in n[1:]) <= ("." in what)]
        near = did_you_mean(what, alike, LEAST_SIMILARITY)
        return self._refusal(f"has {what!r}, which is not available{near}")


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
    """Return the error for a formula, with its reason as an attribute.

    Examples
    --------
    >>> refused("y ~ 1", "has no predictor; add one.")
    FormulaError("The formula 'y ~ 1' has no predictor; add one.")
    """
    return FormulaError(f"The formula {shown(formula)} {reason}", reason)


class Factor(NamedTuple):
    """A factor of a term.

    Attributes
    ----------
    text : str
    kind : "number", "column" or "expression"
    """

    text: str
    kind: Literal["number", "column", "expression"]


class Term(NamedTuple):
    """A product of factors.

    Examples
    --------
    >>> str(Term((Factor("a", "column"), Factor("log(b)", "expression"))))
    'a:log(b)'
    """

    factors: tuple[Factor, ...]

    def __str__(self) -> str:
        return ":".join(factor.text for factor in self.factors)


Terms: TypeAlias = dict[frozenset[str], Term]  # by the texts of the factors


# ------------------------------------------------------------------ text and words


def split_formula(formula: str) -> tuple[str, str]:
    """Split ``"y ~ a + b"`` into outcome and terms; ``factor()`` becomes ``C()``.

    Raises
    ------
    FormulaError
        If the formula does not have exactly one ``~`` with text on both sides, or is
        too long or nested too deeply.

    Examples
    --------
    >>> split_formula("am ~ wt + factor(hp)")
    ('am', 'wt + C(hp)')
    """
    is_short = isinstance(formula, str) and len(formula) <= LONGEST_FORMULA
    text = formula if is_short else ""
    levels = accumulate((c in OPENING) - (c in CLOSING) for c in text)
    if max(levels, default=0) > MOST_BRACKETS:
        raise unusable(text, NESTED)
    parts = sides(text)
    if len(parts) != 2 or not all(parts) or "``" in QUOTED.split(text):
        raise refused(
            formula,
            f"is not of the form 'outcome ~ terms', of at most {LONGEST_FORMULA:,} "
            "characters; write for example 'y ~ .' or 'y ~ a + C(b)'.",
        )
    return in_python(parts[0], BLANKS), in_python(parts[1], *OF_R, BLANKS)


def signs_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each sign outside quotes: its position, the sign, the brackets around it.

    Among the brackets, ``f`` represents the bracket of a call.

    Examples
    --------
    >>> list(signs_in("(x + f('+'))"))
    [(0, '(', ''), (3, '+', '('), (6, '(', '('), (10, ')', '('), (11, ')', '')]
    """
    around, last, before = "", 0, ""
    for match in SIGN.finditer(text):
        at, sign = match.start(), match[0]
        is_call = before == "`" or text[last:at].strip() != ""
        last, before = match.end(), sign[0]
        if before in "'\"`":
            continue
        around = around[:-1] if sign in CLOSING else around
        yield at, sign, around
        if sign in OPENING:
            around += "f" if sign == "(" and is_call else sign


def is_word(name: object) -> bool:
    """Whether a name needs no backticks in an expression."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        return False
    return unicodedata.normalize("NFKC", name) == name  # as Python's parser writes it


def in_backticks(name: str) -> str:
    """Put backticks around the name of a column if a formula requires them.

    Examples
    --------
    >>> in_backticks("age"), in_backticks("blood type")
    ('age', '`blood type`')
    """
    return name if is_word(name) else f"`{name}`"


def sides(text: str, mark: str = "~") -> list[str]:
    """Split a text at each `mark` that is outside brackets and quotes.

    Examples
    --------
    >>> sides("`a~b` ~ I(~x)"), sides("poly(x, 2)[1] = 0, y", ",")
    (['`a~b`', 'I(~x)'], ['poly(x, 2)[1] = 0', 'y'])
    """
    cuts = [at for at, sign, around in signs_in(text) if sign == mark and not around]
    edges = [-1, *cuts, len(text)]
    return [text[a + 1 : b].strip() for a, b in pairwise(edges)]


def with_quotes(text: str, columns: Collection[object]) -> str:
    """Put backticks around names of columns that contain a dot, as names in R may.

    Names that Python normalises (the micro sign to mu), and keywords of Python such as
    ``class``, get backticks too.

    Examples
    --------
    >>> with_quotes("log(Sepal.Length) + np.sqrt(x)", ["Sepal.Length", "x"])
    'log(`Sepal.Length`) + np.sqrt(x)'
    """
    texts = (column for column in columns if isinstance(column, str))
    names = {n for n in texts if not is_word(n) and n not in PYTHON}

    def quoted(match: re.Match[str]) -> str:
        return f"`{match[0]}`" if match[0] in names else match[0]

    return in_python(text, (WORD, quoted))


def factored(text: str, variables: Collection[str] = ()) -> str:
    """Return the column of ``name``, ``C(name, ...)`` or ``relevel(name, ...)``.

    Any other text is returned without backticks at its ends.

    Parameters
    ----------
    text : str
    variables : collection of str
        Names of columns. A text that is one of these names is that column.

    Examples
    --------
    >>> factored("factor(am)"), factored("`blood type`"), factored("mpg > 20")
    ('am', 'blood type', 'mpg > 20')
    >>> factored("C(age, contr.treatment(base='old'))"), factored("a `b`", ["a `b`"])
    ('age', 'a `b`')
    """
    match = FACTORED.fullmatch(text)
    name = match[1] if match else text
    return text if text in variables else name.strip("`")


def check_names(columns: Iterable[Hashable]) -> None:
    """Raise `ColumnError` for names that cannot be used in a formula."""
    wrong = [
        column
        for column in columns
        if not isinstance(column, str)
        or not is_valid_text(column)
        or re.fullmatch(r"[\d.]+|Intercept", column)
    ]
    if wrong:
        raise ColumnError(
            f"The column name {listing(wrong)} cannot be used in a formula; a name "
            "must be valid text, not too long, not a number and not 'Intercept': "
            "rename it."
        )


def check_functions(functions: object, columns: Collection[Hashable] = ()) -> Functions:
    """Check the argument ``functions=``.

    Raises
    ------
    OptionError
        If it is not a dictionary of functions, or a name is in use.

    Examples
    --------
    >>> list(check_functions({"half": lambda x: x / 2}, ["x"]))
    ['half']
    """
    own = {} if functions is None else functions
    if not isinstance(own, Mapping) or not all(map(callable, own.values())):
        raise OptionError(
            f"functions={listing([functions])} is not allowed; use a dictionary of "
            "names and functions, such as functions={'half': lambda x: x / 2}."
        )
    reserved = {*RESERVED, *columns}
    if wrong := [name for name in own if not is_word(name) or name in reserved]:
        raise OptionError(
            f"functions= has the names {listing(wrong)}; use words that are neither a "
            "function of formulas nor a column."
        )
    return dict(own)


# --------------------------------------------------------------------- the outcome


def outcome_of(
    formula: str, data: pd.DataFrame, functions: Functions | None = None
) -> DataColumn:
    """Compute the left-hand side of a formula: a column, or an expression.

    A value is missing where a variable of the expression is missing.

    Raises
    ------
    ColumnError
        If the data lack the column.
    FormulaError
        If an expression does more than compute with columns, or cannot be computed.

    Examples
    --------
    >>> cars = pd.DataFrame({"mpg": [21.0, None, 14.3]})
    >>> outcome_of("mpg > 20 ~ .", cars).tolist()
    [True, <NA>, False]
    """
    text = split_formula(formula)[0]
    name = factored(text)
    if name not in data.columns or name != text.strip("`"):
        outcome = read_outcome(formula, data.columns, functions)
        if isinstance(outcome, Column):
            name = outcome.name
        elif name not in data.columns:
            check_names(outcome.columns)
            check_columns(data, sorted(outcome.columns) or [text])
            return values_of_rows(outcome, data, formula).rename(text)
    check_columns(data, [name])
    column: DataColumn = data[name]
    return column


def read_outcome(
    formula: str, columns: Collection[Hashable], functions: Functions | None = None
) -> Expression:
    """Read the left-hand side of a formula.

    Raises
    ------
    FormulaError
        If it cannot be read, or does more than compute with columns.

    Examples
    --------
    >>> sorted(read_outcome("am > hp ~ .", ["am"]).columns)
    ['am', 'hp']
    """
    text = in_python(split_formula(formula)[0], *OF_R, (r"%in%", " in "))
    text = with_quotes(text, columns)
    check_in(parsed(text, formula)[0], formula)
    return read_expression(text, columns, formula, functions)


def values_of_rows(
    expression: Expression, data: pd.DataFrame, formula: str
) -> DataColumn:
    """Evaluate an expression in all rows; values may be missing.

    Raises
    ------
    FormulaError
        If it cannot be computed.
    """
    rows = data[sorted(expression.columns)].reset_index(drop=True).apply(plain_column)
    with errors_of(formula, rows):
        value = unwrapped_value(expression.evaluate(rows))
        values: DataColumn = pd.Series(value, index=rows.index)
        lacking = rows.isna().any(axis=None)
        values = values.convert_dtypes() if lacking else as_levels(plain_column(values))
    return values.set_axis(data.index)


@contextmanager
def errors_of(formula: str, used: pd.DataFrame, expr: str = "") -> Iterator[None]:
    """Convert exceptions of functions to errors about the formula or a column."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (ColumnError, FormulaError, Warning):
        raise
    except Exception as error:
        for name, values in used.items():
            check_hashable(name, values)
        about = f"{expr}: {error}" if expr else str(error)
        raise unusable(formula, errors.one_line(about, 1000)) from None


# ----------------------------------------------------------------------- the terms


def read_terms(
    formula: str,
    data: pd.DataFrame,
    intercept: bool,
    functions: Functions | None = None,
) -> tuple[Term, ...]:
    """Parse the right-hand side; ``.`` is every column that the outcome does not use.

    The result does not contain ``offset()``, see `offset_terms`.

    Raises
    ------
    FormulaError
        If it cannot be parsed, or the outcome is among the predictors.
    ColumnError
        If a column does not exist, or its name is ambiguous.
    """
    outcome = factored(split_formula(formula)[0])
    terms, _ = _terms_and_offsets(formula, data, intercept, functions)
    if outcome in factors_of(terms, formula, data, functions)[0]:
        raise refused(
            formula,
            "has its outcome among the predictors; remove it from the right-hand side.",
        )
    return terms


def offset_terms(
    formula: str, data: pd.DataFrame, functions: Functions | None = None
) -> tuple[str, ...]:
    """Return the arguments of ``offset()`` in the right-hand side.

    Raises
    ------
    FormulaError
        If it cannot be parsed.

    Examples
    --------
    >>> offset_terms("y ~ a + offset(log(t))", pd.DataFrame({"a": [1], "t": [2]}))
    ('log(t)',)
    """
    if OFFSET not in split_formula(formula)[1].replace(" ", ""):
        return ()
    return _terms_and_offsets(formula, data, True, functions)[1]


def _terms_and_offsets(
    formula: str, data: pd.DataFrame, intercept: bool, functions: Functions | None
) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Return terms that have coefficients, and the arguments of ``offset()``."""
    outcome, right = split_formula(formula)
    own = {factored(outcome)}
    if own.isdisjoint(data.columns):
        own = read_outcome(formula, data.columns, functions).columns
    text = with_quotes(right, data.columns) + ("" if intercept else " - 1")
    others = [column for column in data.columns if column not in own]
    reader = TermReader(formula, others)
    parsed, terms, offsets = reader.terms(text), [], []
    check_columns(data, reader.names)
    if both := {*reader.computed}.intersection(reader.names):
        text = f"The column {listing(sorted(both))} has the same name as a computed"
        raise ColumnError(f"{text} term of the formula; rename it.")
    for term in parsed:
        first, *more = term.factors
        if first.kind == "expression" and first.text.startswith(OFFSET) and not more:
            offsets.append(first.text[len(OFFSET) : -1])
        else:
            terms.append(term)
    return tuple(terms), tuple(offsets)


def factors_of(
    terms: Iterable[Term],
    formula: str,
    data: pd.DataFrame,
    functions: Functions | None = None,
) -> tuple[list[str], list[str], dict[str, Expression]]:
    """Return all columns used, the factors that are columns, and the expressions.

    Expressions are returned by their texts.

    Raises
    ------
    FormulaError
        If a term does more than compute with columns.
    ColumnError
        If a column does not exist, or its name is ambiguous.
    """
    factors = dict.fromkeys(factor for term in terms for factor in term.factors)
    names = [factor.text for factor in factors if factor.kind == "column"]
    computed = {
        text: read_expression(text, data.columns, formula, functions)
        for text, kind in sorted(factors)
        if kind == "expression"
    }
    used = sorted({*names}.union(*(e.columns for e in computed.values())))
    check_names(used)
    check_columns(data, used)
    return used, names, computed


class TermReader:
    """Parses a list of terms with Python's parser.

    Parameters
    ----------
    formula : str
        For messages.
    others : list of str
        The columns that ``.`` represents.

    Attributes
    ----------
    names : list of str
        Columns of the terms, including terms after a minus.
    computed : list of str
        Texts of expressions.

    Examples
    --------
    >>> reader = TermReader("y ~ .", [])
    >>> [str(term) for term in reader.terms("a*b + log( x) - b")], reader.names
    (['1', 'a', 'log(x)', 'a:b'], ['a', 'b', 'b'])
    """

    def __init__(self, formula: str, others: list[str]) -> None:
        self.names: list[str] = []
        self.computed: list[str] = []
        self._formula, self._others, self._products = formula, others, 0
        self._quoted: dict[str, str] = {}

    def terms(self, text: str) -> tuple[Term, ...]:
        """Parse the terms: the intercept first, then by the number of factors.

        Raises
        ------
        FormulaError
            If they cannot be parsed.
        ColumnError
            If the name of a column is ambiguous.
        """
        terms = _single("1", "number")
        for minus, piece in self._pieces(in_python(text, DOT)):
            try:
                tree, self._quoted = parsed(piece, self._formula)
                check_in(tree, self._formula)
                _add(terms, self._terms(tree), minus)
            except RecursionError:
                raise self._refusal(NESTED) from None
        one = terms.pop(frozenset("1"), None)
        ordered = sorted(terms.values(), key=lambda term: len(term.factors))
        if any(factor.kind == "number" for term in ordered for factor in term.factors):
            raise self._refusal(f"numbers need I(), as in I(2 * x){TERMS}")
        return (one, *ordered) if one else tuple(ordered)

    def _refusal(self, reason: str) -> FormulaError:
        return unusable(self._formula, reason)

    def _pieces(self, text: str) -> Iterator[tuple[bool, str]]:
        """Yield the summands in the syntax of Python, and whether a minus precedes."""
        piece, last, minus = "", 0, False
        for at, sign, around in (*signs_in(text), (len(text), "", "")):
            piece += text[last:at]
            last, in_call = at + len(sign), around.strip("(") != ""
            if sign in HINTS and not in_call:
                raise self._refusal(f"it cannot be read at {sign!r}{HINTS[sign]}")
            if sign not in ("+", "-", "") or around:
                piece += (IN_CALLS if in_call else BETWEEN_TERMS).get(sign, sign)
                continue
            if piece.strip() or not sign:
                yield minus, piece.strip()
                piece, minus = "", False
            minus = minus != (sign == "-")

    def _terms(self, node: ast.expr) -> Terms:
        """Return the terms of a node of the tree."""
        match node:
            case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
                minus = isinstance(sign, ast.Sub)
                return _add(self._terms(left), self._terms(right), minus)
            case ast.UnaryOp(ast.UAdd() | ast.USub() as sign, inner):
                return _add({}, self._terms(inner), isinstance(sign, ast.USub))
            case ast.BinOp(left, ast.Mult(), right):
                one, other = self._terms(left), self._terms(right)
                return one | other | self._crossed(one, other)
            case ast.BinOp(left, ast.Div(), right):
                return self._nested(self._terms(left), self._terms(right))
            case ast.BinOp(left, ast.MatMult(), right):  # %in%
                return self._nested(self._terms(right), self._terms(left))
            case ast.BinOp(left, ast.Pow(), right):
                return self._product(self._terms(left), right)
            case ast.Constant(int() | float() as number):
                return _single(f"{number:g}", "number")
            case ast.Name(id=name) if self._quoted.get(name) == ".":
                terms: Terms = {}
                for column in self._others:
                    terms |= self._column(column)
                return terms
            case ast.Name() | ast.Attribute():
                return self._column(written(node, self._quoted).strip("`"))
            case ast.Call() | ast.Set(elts=[_]):
                inner = node.elts[0] if isinstance(node, ast.Set) else node
                self.computed.append(written(inner, self._quoted))
                return _single(self.computed[-1], "expression")
        text = written(node, self._quoted)
        raise self._refusal(f"it cannot be read at {text[:60]!r}{TERMS}")

    def _column(self, name: str) -> Terms:
        check_names([name])
        self.names.append(name)
        return _single(name, "column")

    def _nested(self, outer: Terms, inner: Terms) -> Terms:
        """Return the terms of ``a / b``: those of a, and of b with all factors of a.

        For example, ``(a + b) / c`` is ``a + b + a:b:c``.
        """
        factors = {f.text: f for term in outer.values() for f in term.factors}
        whole = {frozenset(factors): Term(tuple(factors.values()))}
        return outer | self._crossed(whole, inner)

    def _product(self, left: Terms, right: ast.expr) -> Terms:
        """Return ``a:b``, written ``a**~b``, ``(a + b)^2``, or both combined."""
        match right:
            case ast.UnaryOp(ast.Invert(), inner):
                return self._crossed(left, self._terms(inner))
            case ast.BinOp(power, ast.Pow(), ast.UnaryOp(ast.Invert()) as rest):
                return self._product(self._product(left, power), rest)
            case ast.Constant(int() as power) if power > 0:
                terms = left
                for _ in range(power - 1):  # until there are no new terms
                    longer = self._crossed(left, terms)
                    if len(longer) == len(left):
                        break
                    left = longer
                return left
        raise self._refusal(NOT_WHOLE)

    def _crossed(self, left: Terms, right: Terms) -> Terms:
        self._products += len(left) * len(right)
        if self._products > MOST_TERM_PRODUCTS:
            text = f"it has more than {MOST_TERM_PRODUCTS:,} products; use fewer terms"
            raise self._refusal(text)
        crossed: Terms = {}
        for one, other in product(left.values(), right.values()):
            factors = {f.text: f for f in (*one.factors, *other.factors)}
            crossed.setdefault(frozenset(factors), Term(tuple(factors.values())))
        return crossed


def _single(text: str, kind: Literal["number", "column", "expression"]) -> Terms:
    return {frozenset([text]): Term((Factor(text, kind),))}


def _add(terms: Terms, summand: Terms, minus: bool) -> Terms:
    """Add terms in place, or remove them after a minus; 0 removes the intercept."""
    if list(summand) == [frozenset("0")]:
        summand, minus = _single("1", "number"), not minus
    for key, term in summand.items():
        if minus:
            terms.pop(key, None)
        else:
            terms.setdefault(key, term)
    return terms
