"""Linear fits as one SQL expression."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from pegasos_stats.checks import check_choice
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.models.scoring.terms import Level, Tree, terms_of

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

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
            there = self.name(str(inner[1])) if _is_plain(inner) else self.value(inner)
            if _is_plain(inner) and not any(isinstance(v, str | bool) for v in levels):
                there = self.value(inner)
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


_Coded = tuple[Tree, list[Level], list[float]]


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
