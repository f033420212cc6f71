"""Expressions of a formula, read into a tree; nothing of the text is ever run.

`ast.parse` reads the text. What it finds is turned, piece by piece, into the few
kinds of nodes of `nodes`; whatever is not among them is refused by name.
"""

import ast
import re
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from keyword import iskeyword

from pegasos_stats.data.language.arguments import CONTRAST_NAMES
from pegasos_stats.data.language.arithmetic import CONNECTIVES, OPERATORS, Value, folded
from pegasos_stats.data.language.expressions import (
    Call,
    Column,
    Comparison,
    Constant,
    Functions,
    Node,
    Operation,
)
from pegasos_stats.data.language.functions import (
    ATTRIBUTES,
    CONSTANTS,
    CONTRASTS,
    FUNCTIONS,
    METHODS,
    Function,
)
from pegasos_stats.data.language.syntax import (
    OPERATOR_NAMES,
    POWERS,
    QUOTED,
    REFUSED,
    refusal,
    unusable,
)
from pegasos_stats.errors import did_you_mean, listing
from pegasos_stats.foreign_names import suggestion

MOST_LETTERS = 10_000
DEEPEST = 60
NESTED = "it has too many parts in each other"
LARGEST_INTEGER = 2**63
ALIKE = 0.6  # names of functions are short
CONTRASTED = ("C", "hashed")
ELSEWHERE = {"rcs": "ns", "s": "ns"}  # smooth terms of rms and mgcv


def read_expression(
    text: str,
    columns: Collection[object],
    formula: str,
    functions: Functions | None = None,
) -> Node:
    """Read an expression into a tree of allowed nodes.

    A name that is neither a column nor a constant is read as a column: whether it is
    there is asked where the data are.

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
    >>> read_expression("x > 1", ["x"], "x > 1 ~ z")
    Comparison(operators=('>',), operands=(Column(name='x'), Constant(value=1)))
    """
    source = Source.of(text, formula)
    return _Reader(columns, formula, functions or {}, source).read(source.tree)


def formatted(text: str, formula: str) -> str:
    """Write an expression as Python writes it, so that equal ones look alike.

    Examples
    --------
    >>> formatted("log( `a b`,2)", "y ~ log( `a b`,2)")
    'log(`a b`, 2)'
    """
    source = Source.of(text, formula)
    return source.written(source.tree, "`{}`".format)


@dataclass(frozen=True)
class Source:
    """An expression as `ast.parse` reads it, with words in the place of quoted names.

    Attributes
    ----------
    tree : ast.AST
    quoted : dict
        The names that stood in backticks, by the words that stand for them.
    """

    tree: ast.expr
    quoted: dict[str, str]

    @classmethod
    def of(cls, text: str, formula: str) -> "Source":
        """Read text; raise `FormulaError` if it is no expression."""
        _check_size(text, formula)
        pieces, quoted, stem = QUOTED.split(text), {}, "_quoted"
        while stem in text:
            stem += "_"
        for i, piece in enumerate(pieces):
            if piece.startswith("`"):
                word = f"{stem}{i}_"
                quoted[word] = piece.strip("`")
                pieces[i] = f" {word} "
        return cls(_parsed("".join(pieces).strip(), formula), quoted)

    def written(self, node: ast.AST, quote: Callable[[str], str]) -> str:
        """Text of a node, with the quoted names as `quote` writes them."""
        text = ast.unparse(node).replace("\n", " ")
        for word, name in self.quoted.items():
            text = text.replace(word, quote(name))
        return text


def _check_size(text: str, formula: str) -> None:
    """Raise `FormulaError` for text too long or too deeply nested to be parsed."""
    if len(text) > MOST_LETTERS:
        raise unusable(
            formula,
            f"an expression of it has {len(text):,} letters, and at most "
            f"{MOST_LETTERS:,} are read",
        )
    depth = deepest = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise unusable(formula, f"it has more than {DEEPEST} brackets in each other")


CALL_OF_R = re.compile(r"\b((?:as|is)\.\w+)\(")  # words of Python, with a dot
ALONE = re.compile(r"(?<=[(,])\s*(\w+)\s*(?=[),])")


def _parsed(code: str, formula: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in text
            tree = ast.parse(code, mode="eval").body
        ast.unparse(tree)
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "msg", None) or str(error)
        what = f"{' '.join(reason.split())} in {code[:60]!r}"
        for call in CALL_OF_R.findall(code):
            if instead := suggestion(call, ("formula",)):
                what = f"{call}() is not known; {instead}"
        for word in filter(iskeyword, ALONE.findall(code)):
            name = f"`{word}`"
            what = f"{word} is a word of Python; put the column in backticks, {name}"
        raise unusable(formula, what) from None
    except (RecursionError, MemoryError):
        raise unusable(formula, NESTED) from None
    return tree


@dataclass(frozen=True)
class _Reader:
    """Turns what `ast.parse` found into nodes."""

    columns: Collection[object]
    formula: str
    functions: Functions
    source: Source
    known: dict[str, Function] = field(default_factory=dict)

    def read(self, tree: ast.expr) -> Node:
        """Read a whole expression."""
        given = {name: Function.given(f) for name, f in self.functions.items()}
        self.known.update(FUNCTIONS | given)
        try:
            return self._node(tree)
        except RecursionError:
            raise unusable(self.formula, NESTED) from None

    def _node(self, node: ast.expr) -> Node:
        match node:
            case ast.Constant():
                return self._constant(node.value)
            case ast.Name():
                return self._name(node.id)
            case ast.List() | ast.Tuple() | ast.Set():
                return Constant([self._value(item) for item in node.elts])
            case ast.Dict():
                return self._dictionary(node)
            case ast.UnaryOp():
                return self._operation(node.op, (node.operand,))
            case ast.BinOp():
                return self._operation(node.op, (node.left, node.right))
            case ast.BoolOp():
                return self._operation(node.op, tuple(node.values))
            case ast.Compare():
                return self._comparison(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
        what = REFUSED.get(type(node), f"holds {type(node).__name__.lower()}")
        raise refusal(self.formula, what)

    def _constant(self, value: object) -> Constant:
        if isinstance(value, int) and abs(value) >= LARGEST_INTEGER:
            return self._folded("positive", (Constant(value),))
        if value is None or isinstance(value, bool | int | float | str):
            return Constant(value)
        raise refusal(self.formula, f"holds {type(value).__name__} {value!r}")

    def _name(self, name: str) -> Node:
        if name in self.source.quoted:
            return Column(self.source.quoted[name])
        if name in self.columns:
            return Column(name)
        if name in CONSTANTS:
            return Constant(CONSTANTS[name])
        if name in CONTRASTS:
            return Call(name, FUNCTIONS[name], (), (), name)
        return Column(name)

    def _value(self, item: ast.expr | None) -> Value:
        """Value of an item of a list, which must be constant."""
        found = None if item is None else self._node(item)
        if not isinstance(found, Constant):
            raise refusal(self.formula, "has a list of other things than constants")
        return found.value

    def _dictionary(self, node: ast.Dict) -> Constant:
        keys = [self._value(key) for key in node.keys]
        if not all(key is None or isinstance(key, str | int | float) for key in keys):
            raise refusal(self.formula, "has names in {...} that are lists")
        values = [self._value(value) for value in node.values]
        return Constant(dict(zip(keys, values, strict=True)))

    def _operation(self, operator: ast.AST, operands: tuple[ast.expr, ...]) -> Node:
        if isinstance(operator, ast.BitXor):
            raise unusable(self.formula, POWERS)
        name = OPERATOR_NAMES.get(type(operator))
        if name is None:
            raise refusal(self.formula, f"uses {type(operator).__name__.lower()}")
        nodes = tuple(self._node(operand) for operand in operands)
        numbers = all(isinstance(n, Constant) for n in nodes)
        if numbers and name in OPERATORS and name not in CONNECTIVES:
            return self._folded(name, nodes)
        return Operation(name, nodes)

    def _folded(self, name: str, nodes: tuple[Node, ...]) -> Constant:
        """Compute with constants."""
        try:
            values = [n.value for n in nodes if isinstance(n, Constant)]
            return Constant(folded(name, values))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise unusable(self.formula, str(error)) from None

    def _comparison(self, node: ast.Compare) -> Node:
        parts = [node.left, *node.comparators]
        connected = any(
            isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr)
            for part in parts
        )
        if len(parts) > 2 and connected:
            raise unusable(
                self.formula,
                "comparisons that & or | join stand in brackets: (x > 1) & (z < 2)",
            )
        names = tuple(OPERATOR_NAMES.get(type(op), "") for op in node.ops)
        if not all(names):
            raise refusal(self.formula, "compares by 'is', which is written ==")
        return Comparison(names, tuple(self._node(part) for part in parts))

    def _attribute(self, node: ast.Attribute) -> Node:
        """``np.pi``, ``contr.sum``, ``x.dt.year``; else the name of a column."""
        name = _dotted(node)
        if name in CONSTANTS:
            return Constant(CONSTANTS[name])
        if name in CONTRASTS:
            return Call(name, FUNCTIONS[name], (), (), name)
        path, owner = _path(node)
        if path not in ATTRIBUTES and name is not None:
            return Column(name)
        if path not in ATTRIBUTES:
            raise refusal(
                self.formula,
                f"uses the attribute {path!r}, which is not known"
                f"{did_you_mean(path, ATTRIBUTES, ALIKE)}",
            )
        key = self._key(node)
        return Call(path, ATTRIBUTES[path], (self._node(owner),), (), key)

    def _call(self, node: ast.Call) -> Node:
        name = _dotted(node.func)
        if name == "Q":
            return self._column_by_text(node)
        if name == "c":
            return Constant([self._value(item) for item in node.args])
        if name in self.known:
            return self._calling(name, self.known[name], (), node)
        # np.name and contr.name are functions, unless the data have such a column.
        first = (name or "").partition(".")[0]
        module = first in ("np", "contr") and first not in self.columns
        if isinstance(node.func, ast.Attribute) and not module:
            path, owner = _path(node.func)
            if path in METHODS:
                return self._calling(path, METHODS[path], (self._node(owner),), node)
            raise refusal(
                self.formula,
                f"calls the method {path!r}, which is not known"
                f"{did_you_mean(path, METHODS, ALIKE)}",
            )
        if name is None:
            raise refusal(self.formula, "calls what is not the name of a function")
        if instead := suggestion(name, ("formula",)):
            raise unusable(self.formula, f"there is no {name}() here; {instead}")
        meant = ELSEWHERE.get(name, name)
        raise refusal(
            self.formula,
            f"calls {self.source.quoted.get(name, name)!r}, which is not a known "
            f"function{did_you_mean(meant, self.known, ALIKE)}",
        )

    def _column_by_text(self, node: ast.Call) -> Column:
        """``Q("any name")`` of patsy."""
        names = [self._value(item) for item in node.args]
        if len(names) != 1 or node.keywords or not isinstance(names[0], str):
            raise refusal(self.formula, "has Q(), which takes the name of a column")
        return Column(names[0])

    def _calling(
        self, name: str, function: Function, owner: tuple[Node, ...], node: ast.Call
    ) -> Call:
        arguments = (*owner, *(self._node(item) for item in node.args))
        if name in CONTRASTED:
            self._check_contrasts(name, function, arguments, node)
        pairs = tuple((k.arg, self._node(k.value)) for k in node.keywords if k.arg)
        if len(pairs) < len(node.keywords):
            raise refusal(self.formula, "spreads values (**)")
        problem = function.mismatch(len(arguments), [key for key, _ in pairs])
        if problem:
            raise unusable(self.formula, f"{name}() {problem}")
        return Call(name, function, arguments, pairs, self._key(node))

    def _check_contrasts(
        self, name: str, function: Function, given: tuple[Node, ...], node: ast.Call
    ) -> None:
        """Raise `FormulaError` for the name of contrasts that are not known."""
        place = function.parameters.index("contrasts")
        named = [self._node(k.value) for k in node.keywords if k.arg == "contrasts"]
        for found in (*given[place : place + 1], *named):
            if isinstance(found, Column) and found.name not in self.columns:
                known = [*CONTRAST_NAMES, *(n for n in CONTRASTS if "." in n)]
                raise unusable(
                    self.formula,
                    f"{found.name!r} in {name}() is no contrast"
                    f"{did_you_mean(found.name, known, ALIKE)}; give one of "
                    f"{listing(CONTRAST_NAMES, len(CONTRAST_NAMES))}",
                )

    def _key(self, node: ast.AST) -> str:
        return self.source.written(node, _as_word)


def _dotted(node: ast.AST) -> str | None:
    """``a.b.c`` as text; None if it is anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else None


def _path(node: ast.Attribute) -> tuple[str, ast.expr]:
    """``x.abs``, ``x.str.len``: the name of the method, and what it belongs to."""
    inner = node.value
    if isinstance(inner, ast.Attribute) and inner.attr in ("str", "dt"):
        return f"{inner.attr}.{node.attr}", inner.value
    return node.attr, inner


def _as_word(name: str) -> str:
    """A quoted name as a word, as formulaic writes it in the names of states.

    Examples
    --------
    >>> _as_word("my col"), _as_word("2x")
    ('my_col', '_2x')
    """
    if name.isidentifier():
        return name
    word = re.sub(r"\W", "_", name)
    return f"_{word}" if word[:1].isdigit() else word
