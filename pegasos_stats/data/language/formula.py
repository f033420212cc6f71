"""Formulas as they are written: words of R, quotes, ``.``, the outcome and the terms.

Terms follow the grammar of Wilkinson and Rogers as R has it: ``a * b`` is
``a + b + a:b``, ``a / b`` is ``a + a:b``, and ``(a + b)^2`` has all products of two.
What is computed, as in ``log(x)`` or ``{x > 0}``, stays text, see `expressions`.

References
----------
Wilkinson, G. N. and Rogers, C. E. (1973). Symbolic description of factorial models for
analysis of variance. Applied Statistics 22, 392-399.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from keyword import iskeyword
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.language.expressions import (
    CLOSING,
    LITERAL,
    NESTED,
    OPENING,
    QUOTED,
    Column,
    Expression,
    parsed,
    read_expression,
    refused,
    unusable,
    written,
)
from pegasos_stats.data.language.vocabulary import KNOWN, Functions, unwrapped_value
from pegasos_stats.data.user_data import as_data, convert_errors, plain_column
from pegasos_stats.errors import (
    ColumnError,
    ColumnWarning,
    DataError,
    FormulaError,
    OptionError,
    listing,
    one_line,
    warn_caller,
)

SIGN = re.compile(rf"{LITERAL}|`[^`]*`|[^'\"`\w\s]", re.DOTALL)
WORD = r"[^\W\d][\w.]*|\.[\w.]+"
# Words of R, and what they are here.
OF_R = (
    (r"(?<![\w.])(?:base|splines|stats)::(?=[\w.]+\()", ""),
    (r"(?<=[(,\s])([^\W\d]\w*)\.(\w+)(?=\s*=(?!=))", r"\1_\2"),  # Boundary.knots=
    (r"(?<![\w.])(?:as\.)?factor\(", "C("),
    (r"(?<![\w.])(as|is)\.(?=(?:numeric|integer|logical|character|na)\()", r"\1_"),
)
IN = r"%in%", " in "
CONNECTIVES = (r"&", " and "), (r"\|", " or ")  # in an outcome they bind as loosely
OFFSET = "offset("
MOST_LETTERS = 100_000
MOST_PRODUCTS = 250_000  # of terms, some seconds
FACTORED = re.compile(
    r"(?:C|factor|as\.factor|relevel)\(\s*(`[^`]+`|[\w.]+)\s*(?:,.*)?\)", re.DOTALL
)
TERMS = (
    "; terms are joined by + and stand in backticks where a name is no word; what is "
    "computed or compared stands in I(), as in I(x > 0)"
)
HINTS = {  # by the sign at which terms end
    "#": "; write a * b for a##b, a:b for a#b, C(g) for i.g, and x for c.x",
    "|": "; give one list of terms, with C(g), or fit(groups='g'): there are no random "
    "effects",
}
TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9.]*[0-9][0-9.]*(?![\w.]))|`(?P<quoted>[^`]+)`"
    r"|(?P<sign>\*\*|%in%|[-+*/:^()]|\.(?![\w.]))|(?P<name>[\w.]+)|(?P<other>.))",
    re.DOTALL,
)


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


Quote: TypeAlias = Callable[[re.Match[str]], str]
Terms: TypeAlias = dict[frozenset[str], Term]  # by the texts of their factors


# ------------------------------------------------------------------ text and words


def split_formula(formula: str) -> tuple[str, str]:
    """Split ``"y ~ a + b"`` into its outcome and its terms; ``factor()`` is ``C()``.

    Raises
    ------
    FormulaError
        If there is not one ``~`` with something on both sides.

    Examples
    --------
    >>> split_formula("am ~ wt + factor(hp)")
    ('am', 'wt + C(hp)')
    """
    kind = type(formula).__name__
    with convert_errors(
        FormulaError(f"The formula is of type {kind}; give text: 'y ~ .'.")
    ):
        text = str(formula)
    parts = sides(text) if len(text) <= MOST_LETTERS else []
    if len(parts) != 2 or not all(parts) or "``" in QUOTED.split(text):
        raise refused(
            text,
            f"is not of the form 'outcome ~ terms', of {MOST_LETTERS:,} letters at "
            "most; write for example 'y ~ .' or 'y ~ a + C(b)'.",
        )
    return parts[0], in_python(parts[1], *OF_R)


def signs_in(text: str, start: int = 0) -> Iterator[tuple[int, str, int]]:
    """Places of signs outside of quotes, and how many brackets are around each.

    Examples
    --------
    >>> list(signs_in("f(x + '+')"))
    [(1, '(', 0), (4, '+', 1), (9, ')', 0)]
    """
    depth = 0
    for found in SIGN.finditer(text, start):
        if len(sign := found[0]) == 1:
            depth = max(depth - (sign in CLOSING), 0)
            yield found.start(), sign, depth
            depth += sign in OPENING


def normal_form(name: str) -> str:
    """A name as Python's parser writes it."""
    return unicodedata.normalize("NFKC", name)


def is_word(name: object) -> bool:
    """Whether a name can stand in an expression as it is."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        return False
    return normal_form(name) == name


def sides(text: str, mark: str = "~") -> list[str]:
    """Pieces of a text between its tildes, but for those in brackets and quotes.

    Examples
    --------
    >>> sides("`a~b` ~ I(~x)"), sides("poly(x, 2)[1] = 0, y", ",")
    (['`a~b`', 'I(~x)'], ['poly(x, 2)[1] = 0', 'y'])
    """
    cuts = [at for at, sign, depth in signs_in(text) if sign == mark and not depth]
    edges = [-1, *cuts, len(text)]
    return [text[a + 1 : b].strip() for a, b in pairwise(edges)]


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


def with_quotes(text: str, columns: Collection[object]) -> str:
    """Put quotes around column names with a dot, as R has them.

    So are names that Python would write in another way (the micro sign as mu).

    Examples
    --------
    >>> with_quotes("log(Sepal.Length) + np.sqrt(x)", ["Sepal.Length", "x"])
    'log(`Sepal.Length`) + np.sqrt(x)'
    """
    texts = (column for column in columns if isinstance(column, str))
    names = {name for name in texts if "." in name or normal_form(name) != name}

    def quoted(match: re.Match[str]) -> str:
        return f"`{match[0]}`" if match[0] in names else match[0]

    return in_python(text, (WORD, quoted))


def factored(text: str, variables: Collection[str] = ()) -> str:
    """Name of the column behind ``name``, ``C(name, ...)``, ``relevel(name, ...)``.

    Parameters
    ----------
    text : str
    variables : collection of str
        Names of columns: a text that is one of them is that column.

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
    """Raise `ColumnError` for names that a formula cannot tell from its own words."""
    wrong = [column for column in columns if not _is_name(column)]
    if wrong:
        raise ColumnError(
            f"The column name {listing(wrong)} cannot be used in a formula; names must "
            "be text, no numbers, and not 'Intercept': rename it."
        )


def _is_name(column: Hashable) -> bool:
    if not isinstance(column, str) or column == "Intercept":
        return False
    try:
        float(column)
    except ValueError:
        return True
    return False


def check_functions(functions: object, columns: Collection[Hashable] = ()) -> Functions:
    """Check the dictionary of functions that the caller gives for a formula.

    Raises
    ------
    OptionError
        If it is not such a dictionary, or a name is taken.

    Examples
    --------
    >>> list(check_functions({"half": lambda x: x / 2}, ["x"]))
    ['half']
    """
    if functions is None:
        return {}
    if not isinstance(functions, Mapping) or not all(map(callable, functions.values())):
        raise OptionError(
            f"functions={listing([functions])} is not allowed; give a dictionary of "
            "names and functions, such as functions={'half': lambda x: x / 2}."
        )
    taken = {*KNOWN, *columns}
    wrong = [name for name in functions if not is_word(name) or name in taken]
    if wrong:
        raise OptionError(
            f"functions= has the names {listing(wrong)}; give words that are neither a "
            "function of formulas nor a column."
        )
    return dict(functions)


# --------------------------------------------------------------------- the outcome


def outcome_of(
    formula: str, data: object, functions: Functions | None = None
) -> DataColumn:
    """Compute the left-hand side of a formula: a column, or an expression.

    A value is missing where a variable of the expression is missing.

    Raises
    ------
    ColumnError
        If the column is not there.
    FormulaError
        If an expression does more than compute with columns, or cannot be computed.

    Examples
    --------
    >>> cars = pd.DataFrame({"mpg": [21.0, None, 14.3]})
    >>> outcome_of("mpg > 20 ~ .", cars).tolist()
    [True, <NA>, False]
    """
    data = as_data(data)
    expression = split_formula(formula)[0]
    name = factored(expression)
    if name not in data.columns or name != expression.strip("`"):
        outcome = read_outcome(formula, data.columns, functions)
        if isinstance(outcome, Column):
            name = outcome.name
        elif name not in data.columns:
            check_names(outcome.columns)
            check_columns(data, sorted(outcome.columns) or [expression])
            return values_of_rows(outcome, data, formula).rename(expression)
    check_columns(data, [name])
    column: DataColumn = data[name]
    return column


def read_outcome(
    formula: str, columns: Collection[Hashable], functions: Functions | None = None
) -> Expression:
    """Read the left-hand side of a formula.

    As in R, ``&`` and ``|`` join comparisons that stand without brackets.

    Raises
    ------
    FormulaError
        If it cannot be read, or does more than compute with columns.

    Examples
    --------
    >>> sorted(read_outcome("am > hp ~ .", ["am"]).columns)
    ['am', 'hp']
    """
    text = in_python(split_formula(formula)[0], *OF_R, IN, *CONNECTIVES)
    return read_expression(with_quotes(text, columns), columns, formula, functions)


@np.errstate(all="ignore")
def values_of_rows(
    expression: Expression, data: pd.DataFrame, formula: str
) -> DataColumn:
    """Values of an expression in all rows; missing where it has none.

    Raises
    ------
    FormulaError
        If it cannot be computed.
    """
    rows = data[sorted(expression.columns)].reset_index(drop=True).apply(plain_column)
    try:
        found = unwrapped_value(expression.evaluate(rows))
        values: DataColumn = pd.Series(found, index=rows.index)
    except Exception as error:
        raise unusable(formula, one_line(error, 1000)) from None
    lacking = rows.isna().any(axis=None)
    return (values.convert_dtypes() if lacking else values).set_axis(data.index)


# ----------------------------------------------------------------------- the terms


def read_terms(
    formula: str,
    data: pd.DataFrame,
    intercept: bool,
    functions: Functions | None = None,
) -> tuple[Term, ...]:
    """Read the right-hand side; ``.`` is every column that the outcome does not use.

    What stands in ``offset()`` is no term, see `offset_terms`.

    Raises
    ------
    FormulaError
        If it cannot be read, or the outcome is among the predictors.
    ColumnError
        If a column that it uses is not there or cannot be named in a formula.
    """
    terms, _ = _terms_and_offsets(formula, data, intercept, functions)
    outcome = factored(split_formula(formula)[0])
    if outcome in factors_of(terms, formula, data, functions)[0]:
        raise refused(
            formula,
            "has its outcome among the predictors; take it out of the right-hand side.",
        )
    return terms


def offset_terms(
    formula: str, data: pd.DataFrame, functions: Functions | None = None
) -> tuple[str, ...]:
    """Return what stands in each ``offset()`` of the right-hand side.

    Raises
    ------
    FormulaError
        If it cannot be read.

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
    """Terms that have coefficients, and what stands in each ``offset()``."""
    outcome, right = split_formula(formula)
    own = {factored(outcome)}
    if own.isdisjoint(data.columns):
        own = read_outcome(formula, data.columns, functions).columns
    text = with_quotes(right, data.columns) + ("" if intercept else " - 1")
    reader = TermReader(text, formula, lambda: _others(data, own, formula))
    found, terms, offsets = reader.terms(), [], []
    check_columns(data, reader.names)
    for term in found:
        calls = [_is_offset(factor) for factor in term.factors]
        if any(calls) and len(calls) > 1:
            raise refused(formula, "has offset() in a product; write it by itself.")
        if any(calls):
            offsets.append(str(term)[len(OFFSET) : -1])
        else:
            terms.append(term)
    return tuple(terms), tuple(offsets)


def _is_offset(factor: Factor) -> bool:
    return factor.kind == "expression" and factor.text.startswith(OFFSET)


def _others(data: pd.DataFrame, own: set[str], formula: str) -> list[str]:
    """Columns that ``.`` stands for: all but those of the outcome.

    Those without a single value, blank text included, are left out, unless all are.
    """
    names = [column for column in data.columns if column not in own]
    check_names(names)
    some = [has_value(column) for _, column in data.items()]
    present = set(data.columns[some]) if len(data) else set(names)
    if not (held := [name for name in names if name in present]):
        return names
    empty = [name for name in names if name not in present]
    if empty := [name for name in empty if not is_written(name, formula)]:
        warn_empty(empty)
    return held


def has_value(column: DataColumn) -> bool:
    """Whether a column holds a value that is not missing nor blank text.

    Examples
    --------
    >>> has_value(pd.Series([None, "  "])), has_value(pd.Series([" ", "a"]))
    (False, True)
    """
    values = column.dropna()
    return any(not isinstance(value, str) or value.strip() for value in values)


def is_written(name: Hashable, formula: str) -> bool:
    """Whether a column stands in the terms by its name, and not only by ``.``.

    Examples
    --------
    >>> is_written("e", "y ~ . + exp(x)"), is_written("e", "y ~ . - e")
    (False, True)
    """
    word = rf"(?<![\w.]){re.escape(str(name))}(?![\w.])"
    return re.search(word, split_formula(formula)[1]) is not None


def warn_empty(columns: Collection[Hashable]) -> None:
    """Warn that columns without a single value are no predictors."""
    warn_caller(
        f"Column {listing(columns, 3)} holds no value and is left out.",
        ColumnWarning,
    )


def no_value_in(columns: list[str]) -> DataError:
    """The error for predictors that are missing in all rows."""
    return DataError(
        f"No row is complete: {listing(columns)} holds no value at all; leave it out "
        "of the model."
    )


def factors_of(
    terms: Iterable[Term],
    formula: str,
    data: pd.DataFrame,
    functions: Functions | None = None,
) -> tuple[list[str], set[str], dict[str, Expression]]:
    """Columns that the terms use, those that stand there by name, and expressions.

    Raises
    ------
    FormulaError
        If a term does more than compute with columns.
    ColumnError
        If a column is not there or cannot be named in a formula.
    """
    factors = {factor for term in terms for factor in term.factors}
    names = {factor.text for factor in factors if factor.kind == "column"}
    expressions = {
        text: read_expression(text, data.columns, formula, functions)
        for text, kind in sorted(factors)
        if kind == "expression"
    }
    found = sorted(names.union(*(each.columns for each in expressions.values())))
    check_names(found)
    check_columns(data, found)
    return found, names, expressions


class TermReader:
    """Reads a list of terms by recursive descent, a method for each precedence.

    Parameters
    ----------
    text : str
    formula : str
        The formula that it is part of, for messages.
    others : callable
        Gives the columns that ``.`` stands for.

    Attributes
    ----------
    names : list of str
        Columns that stand in the terms by their names, behind a minus too.

    Examples
    --------
    >>> reader = TermReader("a*b + log( x) - b", "y ~ .", list)
    >>> [str(term) for term in reader.terms()], reader.names
    (['1', 'a', 'log(x)', 'a:b'], ['a', 'b', 'b'])
    """

    def __init__(
        self, text: str, formula: str, others: Callable[[], Iterable[str]]
    ) -> None:
        self.names: list[str] = []
        self._formula, self._others, self._products = formula, others, 0
        self._tokens = self._read(text.rstrip())
        self._kind, self._token = next(self._tokens)

    def terms(self) -> tuple[Term, ...]:
        """The terms, an intercept in front, those of fewer factors first.

        Raises
        ------
        FormulaError
            If they cannot be read.
        ColumnError
            If a name cannot be that of a column.
        """
        try:
            found = self._sum(_single("1", "number"))
        except RecursionError:
            raise unusable(self._formula, NESTED) from None
        if self._kind != "end":
            raise self._unexpected()
        one = found.pop(frozenset("1"), None)
        terms = sorted(found.values(), key=lambda term: len(term.factors))
        if any(factor.kind == "number" for term in terms for factor in term.factors):
            text = f"numbers stand in I(), as in I(2 * x){TERMS}"
            raise unusable(self._formula, text)
        return (one, *terms) if one else tuple(terms)

    def _read(self, text: str) -> Iterator[tuple[str, str]]:
        """Tokens and their kinds; a call, or what stands in braces, is one."""
        at = 0
        while found := TOKEN.match(text, at):
            kind = str(found.lastgroup)
            token, at = found[kind], found.end()
            brace = token == "{"
            if brace or (kind == "name" and text[at : at + 1] == "("):
                start = found.start(kind)
                at = self._behind_brackets(text, found.end() - brace)
                inside = in_python(text[start + brace : at - brace], IN)
                token = written(*parsed(inside, self._formula))
                kind = "expression"
            yield token if kind == "sign" else kind, token
        yield "end", ""

    def _behind_brackets(self, text: str, start: int) -> int:
        for at, sign, depth in signs_in(text, start):
            if depth == 0 and sign in CLOSING:
                return at + 1
        raise unusable(self._formula, f"a bracket is not closed{TERMS}")

    def _next(self, *kinds: str) -> str:
        """The next token, if it is of one of these kinds; else no text."""
        if self._kind not in kinds:
            return ""
        token = self._token
        self._kind, self._token = next(self._tokens)
        return token

    def _unexpected(self) -> FormulaError:
        token = repr(self._token) if self._token else "the end"
        hint = HINTS.get(self._token, TERMS)
        return unusable(self._formula, f"it cannot be read at {token}{hint}")

    def _sum(self, found: Terms) -> Terms:
        signs = self._signs() or "+"
        while signs:
            part, minus = self._product(), signs.count("-") % 2 == 1
            if list(part) == [frozenset("0")]:  # as -1
                part, minus = _single("1", "number"), not minus
            for key, term in part.items():
                if minus:
                    found.pop(key, None)
                else:
                    found.setdefault(key, term)
            signs = self._signs()
        return found

    def _signs(self) -> str:
        signs = ""
        while sign := self._next("+", "-"):
            signs += sign
        return signs

    def _product(self) -> Terms:
        found = self._interaction()
        while sign := self._next("*", "/", "%in%"):
            other = self._interaction()
            if sign == "*":
                found = _union(found, other, self._crossed(found, other))
                continue
            outer, inner = (found, other) if sign == "/" else (other, found)
            factors = {f.text: f for term in outer.values() for f in term.factors}
            whole = {frozenset(factors): Term(tuple(factors.values()))}
            found = _union(outer, self._crossed(whole, inner))
        return found

    def _interaction(self) -> Terms:
        found = self._power()
        while self._next(":"):
            found = self._crossed(found, self._power())
        return found

    def _power(self) -> Terms:
        """``(a + b)^2``: products of terms, until no new ones come."""
        found = terms = self._operand()
        if self._next("**", "^"):
            power = self._next("number")
            if not power.isdigit() or len(power) > 9 or int(power) == 0:
                text = "a power of terms is a whole number from 1"
                raise unusable(self._formula, text)
            for _ in range(int(power) - 1):
                longer = self._crossed(found, terms)
                if len(longer) == len(found):
                    break
                found = longer
        return found

    def _operand(self) -> Terms:
        token = self._token
        if self._next("("):
            found = self._sum({})
            if not self._next(")"):
                raise self._unexpected()
            return found
        if self._next("."):
            return _union(*(_single(name, "column") for name in self._others()))
        if self._next("quoted", "name"):
            check_names([token])
            self.names.append(token)
            return _single(token, "column")
        if self._next("number"):
            return _single(token, "number")
        if not self._next("expression"):
            raise self._unexpected()
        return _single(token, "expression")

    def _crossed(self, left: Terms, right: Terms) -> Terms:
        self._products += len(left) * len(right)
        if self._products > MOST_PRODUCTS:
            text = f"it has more than {MOST_PRODUCTS:,} products of terms"
            raise unusable(self._formula, text)
        found: Terms = {}
        for one in left.values():
            for other in right.values():
                factors = {f.text: f for f in (*one.factors, *other.factors)}
                found.setdefault(frozenset(factors), Term(tuple(factors.values())))
        return found


def _single(text: str, kind: Literal["number", "column", "expression"]) -> Terms:
    return {frozenset([text]): Term((Factor(text, kind),))}


def _union(*parts: Terms) -> Terms:
    found: Terms = {}
    for part in parts:
        for key, term in part.items():
            found.setdefault(key, term)
    return found
