"""Linear fits as one SQL expression, and as JSON for other languages."""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, compress, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from pegasos_stats.checks import check_choice
from pegasos_stats.data.design import Design, FrameDesign, ScaledDesign, unscaled
from pegasos_stats.data.language.formula import (
    Call,
    Column,
    Constant,
    Expression,
    Operation,
    read_expression,
)
from pegasos_stats.data.language.formula_design import FormulaDesign, parts_of, products
from pegasos_stats.data.sample import Offset
from pegasos_stats.errors import OptionError, PegasosStatsError, listing, shown
from pegasos_stats.foreign_names import suggest_arguments

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

Tree: TypeAlias = list[Any]  # as in JSON: an operation and its operands

Level: TypeAlias = str | bool | int | float

Dialect = Literal["ansi", "sqlite", "duckdb", "postgresql"]

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

DOUBLE = {
    "ansi": "DOUBLE PRECISION",
    "sqlite": "REAL",
    "duckdb": "DOUBLE",
    "postgresql": "DOUBLE PRECISION",
}

# Databases in which NaN equals itself and is the largest number.
WITH_NAN = ("duckdb", "postgresql")

# SQL of a text column so that it is compared byte by byte, whatever its collation.
LETTERS = {"sqlite": "{} COLLATE BINARY", "duckdb": 'CAST({} AS VARCHAR) COLLATE "C"'}

WITH_BOOLEANS = ("ansi", "duckdb", "postgresql")  # dialects with a type of booleans

# Operations of trees whose values are true or false.
CONDITIONS = {"==", "!=", "<", "<=", ">", ">=", "in", "and", "or", "not"}

COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "in", "not_in"}

NUMBERS = {"number", "boolean", "long"}  # types of columns allowed in arithmetic

CONNECTIVES = {"&": "and", "|": "or"}

SUMMARIES = {"max", "mean", "median", "min", "quantile", "std", "sum", "var", "sd"}

# SQL of the operations that are not functions of the same name.
WRITTEN = {
    **{sign: f"({{0}} {sign} {{1}})" for sign in "+-*/"},
    "**": "POWER({0}, {1})",
    "negative": "(- {0})",
    # NULL if either operand is NULL
    "least": "CASE WHEN {0} <= {1} THEN {0} WHEN {1} < {0} THEN {1} END",
    "greatest": "CASE WHEN {0} >= {1} THEN {0} WHEN {1} > {0} THEN {1} END",
}

NAMES = {("ceiling", "sqlite"): "CEIL", ("ceiling", "duckdb"): "CEIL"}
LARGEST_INTEGER = 2**53  # doubles represent all integers up to it exactly
# Binary operations, which are applied from the left to more than two operands.
FOLDED = {"+", "-", "*", "/", "**", "least", "greatest"}
SAME_AS = {  # other names of functions
    **{"add": "+", "subtract": "-", "multiply": "*", "power": "**", "pow": "**"},
    **{"divide": "/", "true_divide": "/", "ceil": "ceiling"},
    **{"absolute": "abs", "fabs": "abs"},
    **{"arcsin": "asin", "arccos": "acos", "arctan": "atan"},
    **{"pmin": "least", "minimum": "least", "pmax": "greatest", "maximum": "greatest"},
}


class SqlTerm(NamedTuple):
    """``coefficient * (product of parts - centre) / scale``.

    Centre and scale are 0 and 1 unless predictors were standardized.
    """

    name: str
    coefficient: float
    centre: float
    scale: float
    parts: list[Tree]

    def in_json(self) -> dict[str, object]:
        """The term as JSON."""
        names = ("coefficient", "centre", "scale")
        return self._asdict() | {name: number(getattr(self, name)) for name in names}


def number(value: float) -> dict[str, object]:
    """A double as decimal and hexadecimal digits."""
    return {"value": float(value), "hex": float(value).hex()}


def constant(value: object) -> Tree:
    """Tree of text or of a number."""
    if isinstance(value, str):
        return ["text", value]
    if not isinstance(value, bool | int | float) or not is_double(value):
        raise cannot(f"the constant {listing([value])}")
    return ["number", number(value)]


def is_double(value: float) -> bool:
    """Whether a number is finite and exact in double precision."""
    is_large = isinstance(value, int) and abs(value) > LARGEST_INTEGER
    return math.isfinite(value) and not is_large


def joined(operation: str, trees: list[Tree]) -> Tree:
    """Apply a binary operation from the left."""
    return reduce(lambda first, second: [operation, first, second], trees)


def cannot(what: str) -> OptionError:
    """Return the error for expressions without a counterpart."""
    return OptionError(
        f"{what} cannot be written for other languages; compute it as a column of the "
        "data, and use this column in the formula."
    )


ONE, ZERO, TWO = (constant(value) for value in (1.0, 0.0, 2.0))

# Functions of numbers that trees contain, and functions composed of them.
FUNCTIONS = {"abs", "sqrt", "exp", "log10", "floor", "ceiling", "negative"}
FUNCTIONS |= {"sin", "cos", "tan", "asin", "acos", "atan"}
COMPOSED: dict[str, Callable[..., Tree]] = {
    "positive": lambda x: x,
    "log": lambda x, *base: joined("/", [["ln", part] for part in (x, *base)]),
    "log2": lambda x: ["/", ["ln", x], constant(math.log(2.0))],
    "log1p": lambda x: ["ln", ["+", ONE, x]],
    "expm1": lambda x: ["-", ["exp", x], ONE],
    "square": lambda x: ["*", x, x],
}


def applied(name: str, parts: Iterator[Tree], written: str) -> Tree:
    """Tree of an operation on numbers, or `OptionError` if it is not supported."""
    name = SAME_AS.get(name, name)
    if name in COMPOSED:
        return COMPOSED[name](*parts)
    if name in FOLDED:
        return joined(name, [*parts])
    if name in FUNCTIONS:
        return [name, *parts]
    raise cannot(written)


@dataclass(frozen=True)
class Lowering:
    """Converts expressions of formulas to the trees of `terms_of`.

    Attributes
    ----------
    state : mapping
        State of each transformation, such as a mean, by the text of its call.
    types : mapping of str to str
        Type of each column: ``"number"``, ``"text"`` or another. Arithmetic is only for
        numbers; numbers are compared with numbers, and a text column with text.
    """

    state: Mapping[str, Mapping[str, object]]
    types: Mapping[str, str]

    def number(self, node: Expression) -> Tree:
        """Tree of a number; a condition becomes 1 or 0."""
        return self._checked(self.factor(node))

    def _checked(self, tree: Tree) -> Tree:
        """Check that a tree is a number: only some databases read ``'1x'`` as 1."""
        if self._type(tree) not in NUMBERS:
            raise cannot(f"{listing([tree[1]])} as a number")
        return tree

    def _type(self, tree: Tree) -> str:
        """Type of the value of a tree; ``""`` for an unknown column."""
        operation, *parts = tree
        if operation == "column":
            return self.types.get(parts[0], "")
        if operation == "if":
            types = {*map(self._type, parts[1:])}
            return "number" if types <= NUMBERS else "computed"
        return "text" if operation == "text" else "number"

    def factor(self, node: Expression) -> Tree:
        """Tree of a factor: a column unchanged; a condition becomes 1 or 0."""
        tree = self._tree(node)
        return ["if", tree, ONE, ZERO] if tree[0] in CONDITIONS else tree

    def condition(self, node: Expression, operation: str) -> Tree:
        """Tree of a condition."""
        tree = self._tree(node)
        if tree[0] not in CONDITIONS:
            raise cannot(f"{operation} with an operand that is not a comparison")
        return tree

    def _tree(self, node: Expression) -> Tree:
        match node:
            case Column(name):
                return ["column", name]
            case Constant(value):
                return constant(value)
            case Call():
                return self._call(node)
            case Operation("not", (inner,)):
                return ["not", self.condition(inner, "'not'")]
            case Operation(name, parts) if name in CONNECTIVES:
                conditions = [self.condition(part, f"'{name}'") for part in parts]
                return joined(CONNECTIVES[name], conditions)
            case Operation(name, parts) if name.split()[0] in COMPARISONS:
                return self._comparison(name.split(), parts)
            case Operation(name, parts):
                return applied(name, map(self.number, parts), f"'{name}'")
        raise cannot(f"'{getattr(node, 'name', node)}'")

    def _comparison(self, names: list[str], parts: tuple[Expression, ...]) -> Tree:
        comparisons: list[Tree] = []
        for name, (left, right) in zip(names, pairwise(parts), strict=True):
            constants = getattr(right, "value", None)
            if isinstance(constants, list):
                first, levels = self.factor(left), [plain_level(v) for v in constants]
                self._check_compared(name, first, *map(constant, levels))
                inside = ["in", first, levels]
                comparisons.append(inside if name in ("in", "==") else ["not", inside])
            elif name in ("in", "not_in"):
                raise cannot(f"'{name}'")
            else:
                sides = self.factor(left), self.factor(right)
                self._check_compared(name, *sides)
                comparisons.append([name, *sides])
        return joined("and", comparisons)

    def _check_compared(self, name: str, *trees: Tree) -> None:
        """Raise an error unless numbers are compared, or a text column with text."""
        types = {*map(self._type, trees)} - {"boolean"}
        columns = [tree for tree in trees if tree[0] != "text"]
        is_text = types == {"text"} and len(columns) == 1 and columns[0][0] == "column"
        if not (is_text or types <= {"number"}):
            names = [tree[1] for tree in columns if tree[0] == "column"]
            raise cannot(f"'{name}' of {listing(names) if names else 'text'}")

    def _call(self, call: Call) -> Tree:
        name = call.name.removeprefix("np.").removeprefix(".")
        arguments, state = list(call.arguments.values()), self.state.get(call.key, {})
        if name == "as_numeric":
            return self._checked(self._tree(arguments[0]))
        if name in SUMMARIES and "value" in state:
            return constant(state["value"])
        if name in ("center", "scale", "standardize"):
            tree = self.number(arguments[0])
            for operation, part in (("-", "center"), ("/", "scale")):
                if state[part] is not None:
                    tree = [operation, tree, constant(state[part])]
            return tree
        if name in ("ifelse", "where"):
            test = self.condition(arguments[0], "ifelse()")
            return ["if", test, *map(self.factor, arguments[1:])]
        return applied(name, map(self.number, arguments), f"{call.name}()")


@dataclass(frozen=True)
class Writer:
    """Writes trees in a dialect.

    Attributes
    ----------
    dialect : str
    booleans : collection of str
        Columns that were true or false at fit.
    """

    dialect: Dialect
    booleans: Collection[str] = ()

    def value(self, tree: Tree) -> str:
        """SQL of a number, computed in double precision."""
        operation, *operands = tree
        if operation == "column":
            kind, name = DOUBLE[self.dialect], self.name(operands[0])
            column = f"CAST({name} AS {kind})"
            if self.dialect == "sqlite":  # text is larger than any number: NULL
                return f"CASE WHEN {name} <= CAST(9e999 AS {kind}) THEN {column} END"
            if self.dialect == "postgresql" and operands[0] in self.booleans:
                return f"CAST(CAST({name} AS INTEGER) AS {kind})"
            lacks_nan = self.dialect not in WITH_NAN
            return column if lacks_nan else f"NULLIF({column}, CAST('NaN' AS {kind}))"
        if operation == "number":
            return self.number(operands[0]["value"])
        if operation == "levels":
            inner, *coded = operands
            cases = " ".join(
                f"WHEN {self.equal(inner, level)} THEN {self.number(value['value'])}"
                for level, value in zip(*coded, strict=True)
            )
            return f"CASE {cases} END"  # NULL for new levels
        if operation == "if":
            test, yes, no = self.condition(operands[0]), *map(self.value, operands[1:])
            return f"CASE WHEN {test} THEN {yes} WHEN NOT {test} THEN {no} END"
        values = [self.value(part) for part in operands]
        if operation == "**" and operands[1] == TWO:
            return f"({values[0]} * {values[0]})"
        if operation in WRITTEN:
            return WRITTEN[operation].format(*values)
        name = NAMES.get((operation, self.dialect), operation.upper())
        return f"{name}({', '.join(values)})"

    def condition(self, tree: Tree) -> str:
        """SQL of a condition, which is NULL if a column is NULL."""
        operation, *operands = tree
        if operation in ("and", "or"):
            sides = [self.condition(part) for part in operands]
            return f"({f' {operation.upper()} '.join(sides)})"
        if operation == "not":
            return f"(NOT {self.condition(operands[0])})"
        if operation == "in":
            inner, levels = operands
            tests = " OR ".join(self.equal(inner, level) for level in levels)
            named = any(isinstance(level, str | bool) for level in levels)
            named = named and inner[0] == "column"
            there = self.name(inner[1]) if named else self.value(inner)
            return f"({there} IS NOT NULL AND ({tests}))"
        left, right = operands if operands[0][0] != "text" else operands[::-1]
        if right[0] != "text":
            sign = {"==": "=", "!=": "<>"}.get(operation, operation)
            return f"({self.value(left)} {sign} {self.value(right)})"
        if operation not in ("==", "!="):  # each database sorts text its own way
            raise cannot(f"'{operation}' of text")
        same = self.equal(left, right[1])
        return same if operation == "==" else f"(NOT {same})"

    def equal(self, tree: Tree, level: Level) -> str:
        """Condition that a tree equals a level; text is compared letter by letter."""
        column = self.name(tree[1]) if tree[0] == "column" else ""
        if isinstance(level, bool) and column and self.dialect in WITH_BOOLEANS:
            return f"({column} = {str(level).upper()})"
        if not isinstance(level, str):
            return f"({self.value(tree)} = {self.number(level)})"
        if not column:
            raise cannot("text that is computed")
        letters, text = LETTERS.get(self.dialect, "{}"), quoted(level, "'")
        return f"({letters.format(column)} = {text})"

    def name(self, name: str) -> str:
        """The name of a column in quotes."""
        # SQLite reads "x" as text if there is no column x, but not `x`.
        return quoted(name, "`" if self.dialect == "sqlite" else '"')

    def number(self, value: float) -> str:
        """Write a double with all digits; the exponent makes it a double in SQL."""
        text = repr(float(value))
        text = text if "e" in text else f"{text}e0"
        return f"({text})" if value < 0 else text


def quoted(text: str, mark: str) -> str:
    """Write a name or text in quotation marks."""
    if "\0" in text:  # a zero byte would end the statement
        raise cannot(f"The zero byte in {shown(text)}")
    return f"{mark}{text.replace(mark, 2 * mark)}{mark}"


def terms_of(result: "LinearResults") -> list[SqlTerm]:
    """Return the terms of a fit; the score is their sum plus the intercept.

    Raises
    ------
    OptionError
        If a term cannot be written for other languages.
    """
    design: Design = result.design
    p = len(design.names)
    centre, scale = np.zeros(p), np.ones(p)
    if isinstance(design, ScaledDesign):
        centre, scale = design.scaling.centre, design.scaling.scale
        design = design.design
    columns = zip(design.names, result.solution.beta, centre, scale, strict=True)
    try:
        terms = [
            SqlTerm(*column, parts)
            for column, parts in zip(columns, _products(design), strict=True)
        ]
    except PegasosStatsError:
        raise
    except (LookupError, TypeError, ValueError):  # the fit is from a forged file
        raise cannot(f"The formula {shown(str(design.formula))}") from None
    estimable = result.solution.estimable
    if estimable is not None:
        terms = list(compress(terms, estimable))
    if result.offsets is None:
        return terms
    return [*terms, *_offset_terms(result.offsets, types_of(design))]


def types_of(design: Design) -> dict[str, str]:
    """Types of the columns of a design, see `Lowering`."""
    design = unscaled(design)
    if isinstance(design, FrameDesign):
        return dict.fromkeys(map(str, design.columns), "number")
    assert isinstance(design, FormulaDesign)
    types = dict.fromkeys(design.variables, "text")
    return types | dict.fromkeys(design.numeric, "number") | design.types


def _offset_terms(offset: Offset, types: Mapping[str, str]) -> Iterator[SqlTerm]:
    """The parts of an offset as terms with coefficient 1."""
    if offset.given:
        raise OptionError(
            "The offset is an array, which is not available for other rows; pass the "
            "name of a column as offset= to the model."
        )
    trees = list[Tree]([["column", offset.column]] if offset.column else [])
    for term in offset.terms:
        expression = read_expression(term, (), term, offset.functions)
        nodes = (n for n in expression.walk() if isinstance(n, Operation | Call))
        looks = {node.name.split()[0] for node in nodes}
        is_plain = not looks & {*COMPARISONS, "as_numeric"}
        others = dict.fromkeys(expression.columns, "number") if is_plain else {}
        trees.append(Lowering({}, others | dict(types)).number(expression))
    for name, tree in zip(offset.parts, trees, strict=True):
        yield SqlTerm(name, 1.0, 0.0, 1.0, [tree])


def _products(design: Design) -> Iterator[list[Tree]]:
    """The parts of each column; in interactions the first factor changes fastest."""
    if isinstance(design, FrameDesign):
        yield from ([["column", name]] for name in design.names)
        return
    assert isinstance(design, FormulaDesign)
    for part in chain.from_iterable(parts_of(design.terms, design.spanning)):
        yield from map(list, products(part, partial(_factor, design)))


def _factor(design: FormulaDesign, text: str, reduced: bool) -> list[Tree]:
    """Trees of the columns of a factor: one number, or one tree per contrast."""
    if text in design.variables:  # the name of a column need not be a valid expression
        node: Expression = Column(text)
    else:
        functions = design.functions
        node = read_expression(text, design.variables, design.formula, functions)
    lowering = Lowering(design.state, types_of(design))
    coding = design.codings.get(text)
    if coding is None:
        tree = lowering.number(node)
        if text in design.fields:
            raise cannot(f"the term {text}")
        return [tree]
    while isinstance(node, Call) and node.name in ("C", "relevel"):
        node = next(iter(node.arguments.values()))
    levels = [plain_level(level) for level in coding.levels]
    inner = lowering.factor(node)
    return [
        ["levels", inner, levels, [number(value) for value in column]]
        for column in coding.columns(np.arange(len(levels)), reduced)
    ]


def plain_level(level: object) -> Level:
    """Return a level as text, number or boolean, or raise `OptionError`."""
    value = level.item() if isinstance(level, np.generic) else level
    if not isinstance(value, str | bool | int | float):
        raise cannot(f"levels of type {type(level).__name__}")
    if not isinstance(value, str) and not is_double(value):
        raise cannot(f"the level {listing([value])}")
    return value


def to_json(self: "LinearResults") -> str:
    """The fit as JSON, for other languages.

    The object has the keys ``format``, ``version``, ``loss``, ``lam``, ``penalty``
    (only if ``"firth"`` or ``"flic"``), ``formula``, ``outcome`` (``name``, and the
    classes ``negative`` and ``positive``), ``solver``, ``methods`` (the algorithms that
    ran: ``name``, ``iterations`` and their ``unit``), ``seed`` (null if no random
    numbers were used), ``has_intercept``, ``intercept`` and ``terms``. The score is the
    intercept plus the sum over the terms of
    ``coefficient * (product of parts - centre) / scale``.
    A part is a list that begins with its operation: ``["column", name]``,
    ``["number", x]``, ``["levels", part, levels, values]`` (one value for each
    level), ``["if", condition, part, part]``, ``["+", part, part]``, ``["ln",
    part]``, and so on. A row with a missing value in one of these columns has no
    score, even if a condition skips the part with this column. Numbers are objects with
    ``value`` and ``hex``: the same double in decimal and in hexadecimal digits.

    Returns
    -------
    str

    Raises
    ------
    OptionError
        If a term cannot be written in this form, such as ``poly()`` or ``bs()``.

    Examples
    --------
    >>> import json, pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ p34", train, lam=1.0).fit(ps.Pegasos(2, seed=1))
    >>> json.loads(result.to_json())["terms"][0]["parts"]
    [['column', 'p34']]
    """
    coding = self.coding
    document = {
        "format": "pegasos_stats linear fit",
        "version": 1,
        "loss": self.problem.loss,
        "lam": number(self.problem.lam),
        **({"penalty": self.problem.penalty} if self.problem.has_firth else {}),
        "formula": self.design.formula,
        "outcome": {
            "name": coding.name,
            "negative": coding.negative,
            "positive": coding.positive,
        },
        "solver": self.solver_name,
        "methods": [run._asdict() for run in self.solution.methods],
        "seed": self.seed,
        "has_intercept": self.problem.intercept,
        "intercept": number(self.intercept),
        "terms": [term.in_json() for term in terms_of(self)],
    }
    return json.dumps(
        document, ensure_ascii=False, allow_nan=False, indent=1, default=str
    )


@suggest_arguments
def to_sql(self: "LinearResults", dialect: Dialect = "ansi") -> str:
    """The score ``x'beta + alpha`` as one SQL expression, for use in a database.

    Factors become ``CASE`` expressions. The score of a row is NULL if a value is
    missing or a level is new, and in SQLite also if a numeric column contains text.
    Names are quoted. Boolean predictors may be stored as 0 and 1; in PostgreSQL they
    may also be stored as booleans.

    Parameters
    ----------
    dialect : "ansi", "sqlite", "duckdb" or "postgresql"
        For other databases start from ``"ansi"``: types, quotation marks and the
        comparison of text differ.

    Returns
    -------
    str

    Raises
    ------
    OptionError
        If a term cannot be written in SQL, such as ``poly()`` or ``bs()``, or if
        databases would compute it differently. Examples are text columns that are
        compared with each other or by ``<``, text used as a number, dates, and integers
        beyond 2^53.

    Examples
    --------
    >>> import pandas as pd, pegasos_stats as ps
    >>> data = pd.DataFrame({"y": [0, 0, 1, 1], "x": range(4)})
    >>> result = ps.svm("y ~ x", data, lam=0.25).fit(ps.Pegasos(2, seed=1))
    >>> print(result.to_sql())
    ((-2.8333333333333335e0)
     + 1.0e0 * CAST("x" AS DOUBLE PRECISION))
    """
    check_choice("dialect", dialect, DIALECTS)
    types = types_of(self.design).items()
    writer = Writer(dialect, {name for name, kind in types if kind == "boolean"})
    lines = [writer.number(self.intercept)] * self.problem.intercept
    for _, coefficient, centre, scale, parts in terms_of(self):
        value = " * ".join(map(writer.value, parts))
        if centre != 0.0:
            value = f"({value} - {writer.number(centre)})"
        if scale != 1.0:
            value = f"({value} / {writer.number(scale)})"
        lines.append(f"{writer.number(coefficient)} * {value}")
    return "(" + "\n + ".join(lines) + ")"
