"""Linear fits as one SQL expression, and as JSON for other languages."""

import ast
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

import numpy as np

from pegasos_stats.checks import check_choice
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.language.design import FormulaDesign, Part, parts_of
from pegasos_stats.data.language.expressions import (
    COMPARED,
    Call,
    Expression,
    column_name,
    column_node,
    literal,
    read_expression,
)
from pegasos_stats.data.language.formula import Term as FormulaTerm
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.weights import Offset
from pegasos_stats.errors import OptionError, PegasosStatsError, listing, shown

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

Tree: TypeAlias = list[object]

Level: TypeAlias = str | bool | int | float

CONDITIONS = {"==", "!=", "<", "<=", ">", ">=", "in", "and", "or", "not"}

# Functions of one number, under the names that trees have for them.
FUNCTIONS = {
    "abs": "abs", "absolute": "abs", "fabs": "abs", "sqrt": "sqrt", "exp": "exp",
    "log": "ln", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "asin": "asin",
    "acos": "acos", "atan": "atan", "floor": "floor", "ceil": "ceiling",
    "ceiling": "ceiling", "negative": "negative",
}  # fmt: skip

SUMMARIES = {"max", "mean", "median", "min", "quantile", "std", "sum", "var", "sd"}

ARITHMETIC = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "power": "**",
    "pow": "**",
}

REWRITTEN: dict[str, Callable[[Tree], Tree]] = {
    "log2": lambda x: ["/", ["ln", x], ["number", math.log(2.0)]],
    "log1p": lambda x: ["ln", ["+", ["number", 1.0], x]],
    "expm1": lambda x: ["-", ["exp", x], ["number", 1.0]],
    "square": lambda x: ["*", x, x],
}

EXTREMES = {"pmin", "minimum", "pmax", "maximum"}

KNOWN = {*FUNCTIONS, *ARITHMETIC, *REWRITTEN, *EXTREMES}

FORMAT = "pegasos_stats linear fit"

VERSION = 1

Dialect = Literal["ansi", "sqlite", "duckdb", "postgresql", "mysql", "sqlserver"]

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

DOUBLE = {
    "ansi": "DOUBLE PRECISION",
    "sqlite": "REAL",
    "duckdb": "DOUBLE",
    "postgresql": "DOUBLE PRECISION",
    "mysql": "DOUBLE",
    "sqlserver": "FLOAT",
}

# SQLite takes "x" for text where there is no column x; `x` it does not.
QUOTES = {"sqlite": ("`", "`"), "mysql": ("`", "`"), "sqlserver": ("[", "]")}

WITH_NAN = ("duckdb", "postgresql")  # which is equal to itself there, and the largest

WITH_BOOLEANS = ("ansi", "duckdb", "postgresql")

INFIX = {"+", "-", "*", "/", "<", "<=", ">", ">="}

_Coded = tuple[Tree, list[Level], list[float]]


@dataclass(frozen=True)
class Term:
    """``coefficient * (product of parts - centre) / scale``.

    Attributes
    ----------
    name : str
    coefficient, centre, scale : float
        The last two 0 and 1 unless predictors were standardized.
    parts : tuple of trees
    """

    name: str
    coefficient: float
    centre: float
    scale: float
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Lowering:
    """Turns the trees of formulas into those of `terms_of`.

    Attributes
    ----------
    state : mapping
        What transformations found at fit, by the text of their calls.
    expression : Expression
        That of the trees.
    """

    state: Mapping[str, Mapping[str, object]]
    expression: Expression

    def call(self, node: ast.expr) -> Call | None:
        """The call that a node is, if it is one."""
        return Call.of(node, self.expression.functions)

    def number(self, node: ast.expr) -> Tree:
        """A tree that gives a number; of a condition 1 or 0."""
        tree = self._tree(node)
        if tree[0] == "text":
            raise cannot(f"text {tree[1]!r} as a number")
        return as_number(tree)

    def factor(self, node: ast.expr) -> Tree:
        """A tree that gives a level: a column as it is, or 1 and 0 of a condition."""
        return as_number(self._tree(node))

    def _tree(self, node: ast.expr) -> Tree:
        if (column := column_name(node)) is not None:
            return ["column", column]
        if (call := self.call(node)) is not None:
            return self._call(call)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return _constant(literal(node))
        if node.func.id == COMPARED:
            return self._comparison(node.args)
        return self._operation(node.func.id, node.args)

    def _operation(self, operator: str, operands: list[ast.expr]) -> Tree:
        name = {"&": "and", "|": "or", "not": "not"}.get(operator)
        if name is not None:
            parts = [self._tree(operand) for operand in operands]
            if not all(part[0] in CONDITIONS for part in parts):
                raise cannot(f"'{operator}' of what is no comparison")
            return _joined(name, parts)
        if operator not in ("+", "-", "*", "/", "**", "negative", "positive"):
            raise cannot(f"'{operator}'")
        numbers = [self.number(operand) for operand in operands]
        return numbers[0] if operator == "positive" else _joined(operator, numbers)

    def _comparison(self, parts: list[ast.expr]) -> Tree:
        found: list[Tree] = []
        names = str(literal(parts[0])).replace("not in", "not_in").split()
        for name, (left, right) in zip(names, pairwise(parts[1:]), strict=True):
            known = literal(right)
            if isinstance(known, list):
                values = [plain_level(value) for value in known]
                inside: Tree = ["in", as_number(self._tree(left)), values]
                found.append(inside if name in ("in", "==") else ["not", inside])
            elif name in ("in", "not_in"):
                raise cannot(f"'{name}'")
            else:
                sides = [as_number(self._tree(side)) for side in (left, right)]
                found.append([name, *sides])
        return found[0] if len(found) == 1 else _joined("and", found)

    def _call(self, call: Call) -> Tree:
        name = call.name.removeprefix("np.").removeprefix(".")
        given = list(call.given.values())
        if call.name in ("I", "as_numeric") and len(given) == 1:
            return self._tree(given[0])
        if name in SUMMARIES and "value" in self.state.get(call.key, {}):
            return _constant(self.state[call.key]["value"])
        if name in ("center", "scale", "standardize"):
            return self._scaled(call)
        if name in ("ifelse", "where"):
            test, yes, no = (self._tree(part) for part in given)
            if test[0] not in CONDITIONS:
                raise cannot("ifelse() of what is no comparison")
            return ["if", test, as_number(yes), as_number(no)]
        if name not in KNOWN:
            raise cannot(f"{call.name}()")
        return self._of_numbers(call.name, name, [self.number(part) for part in given])

    def _of_numbers(self, called: str, name: str, given: list[Tree]) -> Tree:
        if name == "log" and len(given) == 2:
            return ["/", ["ln", given[0]], ["ln", given[1]]]
        if name in FUNCTIONS and len(given) == 1:
            return [FUNCTIONS[name], *given]
        if name in ARITHMETIC and len(given) == 2:
            return [ARITHMETIC[name], *given]
        if name in REWRITTEN and len(given) == 1:
            return REWRITTEN[name](given[0])
        if name in EXTREMES:
            return _joined("least" if "min" in name else "greatest", given)
        raise cannot(f"{called}()")

    def _scaled(self, call: Call) -> Tree:
        """``(x - center) / scale`` with the numbers of the fit."""
        tree = self.number(next(iter(call.given.values())))
        state = self.state.get(call.key, {})
        known = [state.get(name) for name in ("center", "scale", "mean", "sd")]
        numbers = [value for value in known if isinstance(value, int | float)]
        if any(isinstance(value, np.ndarray) for value in known) or not numbers:
            raise cannot(f"{call.name}()")
        centre, scale = state.get("center"), state.get("scale")
        if isinstance(centre, int | float):
            tree = ["-", tree, _constant(float(centre))]
        if isinstance(scale, int | float):
            tree = ["/", tree, _constant(float(scale))]
        return tree


@dataclass(frozen=True)
class Writer:
    """Writes trees in a dialect.

    Attributes
    ----------
    dialect : str
    """

    dialect: Dialect

    def value(self, tree: Tree) -> str:
        """A number, computed in double precision."""
        operation, *given = tree
        if operation in ("column", "known"):
            number = f"CAST({self.name(str(given[0]))} AS {DOUBLE[self.dialect]})"
            if operation == "column" or self.dialect not in WITH_NAN:
                return number
            return f"NULLIF({number}, CAST('NaN' AS {DOUBLE[self.dialect]}))"
        if operation == "number":
            return self.number(cast("float", given[0]))
        if operation == "levels":
            return self._by_level(*cast("_Coded", given))
        trees = cast("list[Tree]", given)
        if operation == "if":
            return self._chosen(*map(_null_if_nan, trees))
        if operation in ("least", "greatest"):
            trees = [_null_if_nan(part) for part in trees]
        values = [self.value(part) for part in trees]
        if operation in INFIX:
            return f"({values[0]} {operation} {values[1]})"
        if operation == "negative":
            return f"(- {values[0]})"
        if operation in ("least", "greatest"):  # NULL if either is
            sign = "<" if operation == "least" else ">"
            first, second = values
            return (
                f"CASE WHEN {first} {sign}= {second} THEN {first} "
                f"WHEN {second} {sign} {first} THEN {second} END"
            )
        if operation == "**":
            return self._power(trees[1], *values)
        return f"{self._function(str(operation))}({', '.join(values)})"

    def condition(self, tree: Tree) -> str:
        """A condition, which is unknown where a column is NULL."""
        operation, *given = tree
        if operation in ("and", "or"):
            sides = [self.condition(part) for part in cast("list[Tree]", given)]
            return f"({f' {str(operation).upper()} '.join(sides)})"
        if operation == "not":
            return f"(NOT {self.condition(cast('Tree', given[0]))})"
        if operation == "in":
            inner, levels = cast("tuple[Tree, list[Level]]", given)
            each = [self.equal(inner, level) for level in levels]
            named = _is_plain(inner) and any(isinstance(v, str | bool) for v in levels)
            there = self.name(str(inner[1])) if named else self.value(inner)
            return f"({there} IS NOT NULL AND ({' OR '.join(each)}))"
        left, right = cast("list[Tree]", given)
        if operation in ("==", "!="):
            if left[0] == "text":
                left, right = right, left
            level = cast("Level", right[1]) if right[0] == "text" else None
            same = (
                f"({self.value(left)} = {self.value(right)})"
                if level is None
                else self.equal(left, level)
            )
            return same if operation == "==" else f"(NOT {same})"
        if "text" in (left[0], right[0]):
            raise OptionError(
                f"'{operation}' of text has another order in every database; compute "
                "it as a column of the data, and fit that."
            )
        return f"({self.value(left)} {operation} {self.value(right)})"

    def equal(self, tree: Tree, level: Level) -> str:
        """Whether a tree gives a level; text is compared letter by letter."""
        plain = _is_plain(tree)
        if isinstance(level, bool):
            if plain and self.dialect in WITH_BOOLEANS:
                return f"({self.name(str(tree[1]))} = {str(level).upper()})"
            level = float(level)
        if not isinstance(level, str):
            return f"({self.value(tree)} = {self.number(float(level))})"
        if not plain:
            raise OptionError(
                "Text that is computed cannot be written in SQL; compute it as a "
                "column of the data, and fit that."
            )
        column = self.name(str(tree[1]))
        if self.dialect == "mysql":
            letters = f"CAST(CONVERT({column} USING utf8mb4) AS BINARY)"
            return f"({letters} = X'{level.encode().hex()}')"
        if self.dialect == "sqlserver":
            return f"({column} COLLATE Latin1_General_BIN2 = N{self.text(level)})"
        return f"({column} = {self.text(level)})"

    def name(self, name: str) -> str:
        """The name of a column in quotes."""
        if "\0" in name:
            raise _unwritable("name of a column", name)
        first, last = QUOTES.get(self.dialect, ('"', '"'))
        return f"{first}{name.replace(last, 2 * last)}{last}"

    def text(self, text: str) -> str:
        """Text in quotes."""
        if "\0" in text:
            raise _unwritable("level", text)
        return "'" + text.replace("'", "''") + "'"

    def number(self, number: float) -> str:
        """A double with all its digits, with an exponent so that it is one in SQL."""
        text = repr(float(number))
        text = text if "e" in text else f"{text}e0"
        return f"({text})" if number < 0 else text

    def _by_level(self, tree: Tree, levels: list[Level], values: list[float]) -> str:
        cases = " ".join(
            f"WHEN {self.equal(tree, level)} THEN {self.number(value)}"
            for level, value in zip(levels, values, strict=True)
        )
        return f"CASE {cases} END"  # of no known level NULL

    def _chosen(self, test: Tree, yes: Tree, no: Tree) -> str:
        known = self.condition(test)
        return (
            f"CASE WHEN {known} THEN {self.value(yes)} "
            f"WHEN NOT {known} THEN {self.value(no)} END"
        )

    def _power(self, exponent: Tree, base: str, power: str) -> str:
        if exponent == ["number", 2.0]:
            return f"({base} * {base})"
        return f"POWER({base}, {power})"

    def _function(self, name: str) -> str:
        if name == "ln" and self.dialect == "sqlserver":
            return "LOG"
        if name == "ceiling" and self.dialect in ("sqlite", "duckdb"):
            return "CEIL"
        return name.upper()


def terms_of(result: "LinearResults") -> list[Term]:
    """Write a fit as terms, whose sum and the intercept are the score.

    Raises
    ------
    OptionError
        If a term has no form that other languages have too.
    """
    design: Design = result.design
    p = len(design.names)
    centre, scale = np.zeros(p), np.ones(p)
    if isinstance(design, ScaledDesign):
        centre, scale = design.scaling.centre, design.scaling.scale
        design = design.design
    try:
        parts = list(_products(design))
        numbers = zip(result.solution.beta, centre, scale, strict=True)
        terms = [
            Term(name, float(beta), float(c), float(s), each)
            for name, (beta, c, s), each in zip(
                design.names, numbers, parts, strict=True
            )
        ]
    except PegasosStatsError:
        raise
    except (LookupError, TypeError, ValueError):  # of a file that was made up
        raise cannot(f"The formula {shown(str(design.formula))}") from None
    return terms if result.offsets is None else [*terms, *_known(result.offsets)]


def _known(offset: Offset) -> Iterator[Term]:
    """The parts of an offset, with the coefficient 1."""
    if offset.given:
        raise OptionError(
            "offset= was given as numbers, which no rule for other rows has; fit with "
            "the name of a column as offset=."
        )
    trees = list[Tree]([["column", offset.column]] if offset.column else [])
    for term in offset.terms:
        read = read_expression(term, (), term, offset.functions)
        trees.append(Lowering({}, read).number(read.tree))
    for name, tree in zip(offset.parts, trees, strict=True):
        yield Term(name, 1.0, 0.0, 1.0, (tree,))


def _products(design: Design) -> Iterator[tuple[Tree, ...]]:
    """The parts of every column of a design."""
    if isinstance(design, FrameDesign):
        for name in design.names:
            yield (["column", name],)
        return
    assert isinstance(design, FormulaDesign)
    for term, parts in zip(
        design.terms, parts_of(design.terms, design.spanning), strict=True
    ):
        yield from _columns(design, term, parts)


def _columns(
    design: FormulaDesign, term: FormulaTerm, parts: tuple[Part, ...]
) -> Iterator[tuple[Tree, ...]]:
    """The parts of each column of a term, the first factor changing fastest."""
    numbers = [float(f.text) for f in term.factors if f.kind == "number"]
    extra: list[Tree] = [["number", number] for number in numbers if number != 1.0]
    for part in filter(None, parts):
        coded = [_factor(design, *factor) for factor in part]
        for chosen in product(*reversed(coded)):
            yield (*extra, *reversed(chosen))


def _factor(design: FormulaDesign, text: str, reduced: bool) -> list[Tree]:
    """The columns of a factor: a number, or the contrasts of its levels."""
    # By its name alone, which may be one that is no word.
    if text in design.variables:
        read = Expression(text, column_node(text))
    else:
        read = _read(design, text)
    lowering, coding = Lowering(design.state, read), design.codings.get(text)
    if coding is None:
        number = lowering.number(read.tree)
        if text in design.fields:
            raise cannot(f"the term {text}")
        return [number]
    node = read.tree
    while (call := lowering.call(node)) and call.name in ("C", "relevel", "I"):
        node = next(iter(call.given.values()))
    levels = [plain_level(level) for level in coding.levels]
    inner = lowering.factor(node)
    return [
        ["levels", inner, levels, [float(value) for value in column]]
        for column in coding.columns(np.arange(len(levels)), reduced)
    ]


def _read(design: FormulaDesign, text: str) -> Expression:
    return read_expression(text, design.variables, design.formula, design.functions)


def plain_level(level: object) -> Level:
    """Return a level as text, number or boolean, or raise `OptionError`."""
    found = level.item() if isinstance(level, np.generic) else level
    if not isinstance(found, str | bool | int | float):
        raise cannot(f"levels of type {type(level).__name__}")
    return found


def cannot(what: str) -> OptionError:
    """The error for what other languages have no word for."""
    return OptionError(
        f"{what} cannot be written for other languages; compute it as a column of the "
        "data, and fit that."
    )


def as_number(tree: Tree) -> Tree:
    """Return a condition as 1 and 0; anything else as it is."""
    if tree[0] not in CONDITIONS:
        return tree
    return ["if", tree, ["number", 1.0], ["number", 0.0]]


def _constant(value: object) -> Tree:
    if isinstance(value, str):
        return ["text", value]
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        raise cannot(f"the constant {listing([value])}")
    return ["number", float(value)]


def _joined(name: str, trees: list[Tree]) -> Tree:
    """One operation after the other, from the first."""
    if len(trees) == 1:
        return [name, trees[0]] if name in ("negative", "not") else trees[0]
    found: Tree = trees[0]
    for tree in trees[1:]:
        found = [name, found, tree]
    return found


def json_of(result: "LinearResults") -> str:
    """Write a fit as JSON; see ``LinearResults.to_json``."""
    coding = result.coding
    document = {
        "format": FORMAT,
        "version": VERSION,
        "loss": result.problem.loss,
        "lam": _number(result.problem.lam),
        "formula": result.design.formula,
        "outcome": {
            "name": coding.name,
            "negative": _level(coding.negative),
            "positive": _level(coding.positive),
        },
        "has_intercept": result.problem.intercept,
        "intercept": _number(result.intercept),
        "terms": [
            {
                "name": term.name,
                "coefficient": _number(term.coefficient),
                "centre": _number(term.centre),
                "scale": _number(term.scale),
                "parts": [_exact(part) for part in term.parts],
            }
            for term in terms_of(result)
        ],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)


def _number(value: float) -> dict[str, object]:
    """A double as decimal digits and, for languages that round these, its bits."""
    return {"value": float(value), "hex": float(value).hex()}


def _exact(tree: Tree) -> Tree:
    """A tree with its numbers as `_number` has them."""
    operation, *given = tree
    if operation in ("column", "text"):
        return tree
    if operation == "number":
        return [operation, _number(float(str(given[0])))]
    if operation in ("levels", "in"):
        inner, levels, *values = given
        assert isinstance(inner, list)
        assert isinstance(levels, list)
        numbers = [
            [_number(v) for v in each] for each in values if isinstance(each, list)
        ]
        return [operation, _exact(inner), levels, *numbers]
    return [operation, *(_exact(part) for part in given if isinstance(part, list))]


def _level(level: object) -> object:
    return level if isinstance(level, str | bool | int | float) else str(level)


def sql_of(result: "LinearResults", dialect: Dialect) -> str:
    """Write the score of a fit as an expression; see ``LinearResults.to_sql``."""
    check_choice("dialect", dialect, DIALECTS)
    writer = Writer(dialect)
    lines = [writer.number(result.intercept)] if result.problem.intercept else []
    for term in terms_of(result):
        value = " * ".join(writer.value(part) for part in term.parts)
        if term.centre != 0.0:
            value = f"({value} - {writer.number(term.centre)})"
        if term.scale != 1.0:
            value = f"({value} / {writer.number(term.scale)})"
        lines.append(f"{writer.number(term.coefficient)} * {value}")
    return "(" + "\n + ".join(lines) + ")"


def _is_plain(tree: Tree) -> bool:
    """Whether a tree is a column as it is."""
    return tree[0] in ("column", "known")


def _null_if_nan(tree: Tree) -> Tree:
    """A tree in which NaN, which comparisons take for a large number, is NULL."""
    if tree[0] == "column":
        return ["known", *tree[1:]]
    nested = tree[:2] if tree[0] in ("in", "levels") else tree
    parts = [_null_if_nan(p) if isinstance(p, list) else p for p in nested]
    return [*parts, *tree[len(nested) :]]


def _unwritable(what: str, text: str) -> OptionError:
    return OptionError(
        f"The {what} {shown(text)} holds a zero byte, which ends a statement in SQL; "
        "rename it."
    )
