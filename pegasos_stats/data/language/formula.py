"""Texts of formulas: words of R, quotes, ``.``, the outcome and the terms.

Terms follow the grammar of Wilkinson and Rogers as in R: ``a * b`` is ``a + b + a:b``,
``a / b`` is ``a + a:b``, and ``(a + b)^2`` has all products of two terms. Calls and
braces, as in ``log(x)`` or ``{x > 0}``, stay text, see `expressions`.

References
----------
Wilkinson, G. N. and Rogers, C. E. (1973). Symbolic description of factorial models for
analysis of variance. Applied Statistics 22, 392-399.
"""

import ast
import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, pairwise, product
from keyword import iskeyword
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.language import expressions
from pegasos_stats.data.language.expressions import Column, Expression, in_python
from pegasos_stats.data.language.vocabulary import (
    KNOWN,
    Functions,
    as_levels,
    unwrapped_value,
)
from pegasos_stats.data.user_data import check_hashable, is_valid_text, plain_column
from pegasos_stats.errors import ColumnError, FormulaError, OptionError, listing

SIGN = re.compile(rf"{expressions.LITERAL}|`[^`]*`|%in%|[^'\"`\w\s]", re.DOTALL)
OPENING, CLOSING = "([{", ")]}"
WORD = r"[^\W\d][\w.]*|\.[\w.]+"
BLANKS = r"\s+", " "
DOT = r"(?<![\w.)\]])\.(?![\w.])", "`.`"
# Operators of terms as operators of Python with the same precedence; those in calls.
BETWEEN_TERMS = {":": "**~", "^": "**", "%in%": "@"}
IN_CALLS = {"%in%": " in "}
OFFSET = "offset("
MOST_LETTERS, DEEPEST = 100_000, 1000  # letters, and brackets in each other
MOST_PRODUCTS = 250_000  # of terms, some seconds
FACTORED = re.compile(
    r"(?:C|factor|as\.factor|relevel)\(\s*(`[^`]+`|[\w.]+)\s*(?:,.*)?\)", re.DOTALL
)
TERMS = (
    "; terms are joined by + and stand in backticks where a name is no word; what is "
    "computed or compared stands in I(), as in I(x > 0)"
)
PYTHON = ("and", "or", "not", "in", "True", "False", "None")  # words of expressions
NOT_WHOLE = "a power of terms is a whole number from 1"
HINTS = {  # by operators of other languages
    "#": "; write a * b for a##b, a:b for a#b, C(g) for i.g, and x for c.x",
    "|": "; give one list of terms, with C(g), or fit(groups='g'): there are no random "
    "effects",
}


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
    text = formula if isinstance(formula, str) and len(formula) <= MOST_LETTERS else ""
    levels = accumulate((c in OPENING) - (c in CLOSING) for c in text)
    if max(levels, default=0) > DEEPEST:
        raise expressions.unusable(text, expressions.NESTED)
    parts = sides(text)
    if len(parts) != 2 or not all(parts) or "``" in expressions.QUOTED.split(text):
        raise expressions.refused(
            formula,
            f"is not of the form 'outcome ~ terms', of {MOST_LETTERS:,} letters at "
            "most; write for example 'y ~ .' or 'y ~ a + C(b)'.",
        )
    return in_python(parts[0], BLANKS), in_python(parts[1], *expressions.OF_R, BLANKS)


def signs_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield positions of signs outside quotes, the signs, and their open brackets.

    The bracket of a call is ``f``.

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
    """Write the name of a column as a formula needs it.

    Examples
    --------
    >>> in_backticks("age"), in_backticks("blood type")
    ('age', '`blood type`')
    """
    return name if is_word(name) else f"`{name}`"


def sides(text: str, mark: str = "~") -> list[str]:
    """Split a text at the tildes that are outside brackets and quotes.

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

    The same holds for names that Python normalises (the micro sign to mu), and for
    keywords of Python such as ``class``.

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
    """Raise `ColumnError` for names that are ambiguous in a formula."""
    wrong = [
        column
        for column in columns
        if not isinstance(column, str)
        or not is_valid_text(column)
        or re.fullmatch(r"[\d.]+|Intercept", column)
    ]
    if wrong:
        raise ColumnError(
            f"The column name {listing(wrong)} cannot be used in a formula; names must "
            "be valid text, not too long, no numbers, and not 'Intercept': rename it."
        )


def check_functions(functions: object, columns: Collection[Hashable] = ()) -> Functions:
    """Check the argument ``functions=``.

    Raises
    ------
    OptionError
        If it is not a dictionary of functions, or a name is taken.

    Examples
    --------
    >>> list(check_functions({"half": lambda x: x / 2}, ["x"]))
    ['half']
    """
    own = {} if functions is None else functions
    if not isinstance(own, Mapping) or not all(map(callable, own.values())):
        raise OptionError(
            f"functions={listing([functions])} is not allowed; give a dictionary of "
            "names and functions, such as functions={'half': lambda x: x / 2}."
        )
    taken = {*KNOWN, *columns}
    if wrong := [name for name in own if not is_word(name) or name in taken]:
        raise OptionError(
            f"functions= has the names {listing(wrong)}; give words that are neither a "
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
    with naming_columns(formula, data.columns):
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
    text = in_python(split_formula(formula)[0], *expressions.OF_R, (r"%in%", " in "))
    text = with_quotes(text, columns)
    expressions.check_in(expressions.parsed(text, formula)[0], formula)
    return expressions.read_expression(text, columns, formula, functions)


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
    """Convert errors of functions to errors about the formula or a column of `used`."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (ColumnError, FormulaError, Warning):
        raise
    except Exception as error:
        for name, values in used.items():
            check_hashable(name, values)
        about = f"{expr}: {error}" if expr else str(error)
        raise expressions.unusable(formula, errors.one_line(about, 1000)) from None


# ----------------------------------------------------------------------- the terms


def read_terms(
    formula: str,
    data: pd.DataFrame,
    intercept: bool,
    functions: Functions | None = None,
) -> tuple[Term, ...]:
    """Parse the right-hand side; ``.`` is every column that the outcome does not use.

    ``offset()`` is not a term, see `offset_terms`.

    Raises
    ------
    FormulaError
        If it cannot be parsed, or the outcome is among the predictors.
    ColumnError
        If a column does not exist, or its name is ambiguous.
    """
    outcome = factored(split_formula(formula)[0])
    with naming_columns(formula, data.columns):
        terms, _ = _terms_and_offsets(formula, data, intercept, functions)
        predictors = factors_of(terms, formula, data, functions)[0]
    if outcome in predictors:
        raise expressions.refused(
            formula,
            "has its outcome among the predictors; take it out of the right-hand side.",
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
    reader = TermReader(formula, lambda: _others(data, own, formula))
    parsed, terms, offsets = reader.terms(text), [], []
    check_columns(data, reader.names)
    if both := {*reader.computed}.intersection([*reader.names, *reader.others]):
        text = f"The column {listing(sorted(both))} has the name of a computed term"
        raise ColumnError(f"{text} beside it; rename it.")
    for term in parsed:
        first, *others = term.factors
        if first.kind == "expression" and first.text.startswith(OFFSET) and not others:
            offsets.append(first.text[len(OFFSET) : -1])
        else:
            terms.append(term)
    return tuple(terms), tuple(offsets)


def _others(data: pd.DataFrame, own: set[str], formula: str) -> list[str]:
    """Return the columns of ``.``: all except those of the outcome.

    Columns with no value but blank text are excluded, unless all columns are empty.
    """
    names = [column for column in data.columns if column not in own]
    check_names(names)
    numbers = [dtype.kind in "fiub" for dtype in data.dtypes]
    present = set(data.columns[data.head().notna().any().to_numpy() & numbers])
    rest = [name for name in names if name not in present] if len(data) else []
    empty = {name for name in rest if not has_value(data[name])}
    if len(empty) == len(names):
        return names
    if left_out := [n for n in rest if n in empty and not is_written(n, formula)]:
        warn_empty(left_out)
    return [name for name in names if name not in empty]


@contextmanager
def naming_columns(formula: str, columns: Collection[Hashable]) -> Iterator[None]:
    """Suggest backticks for the name of a column, if a formula cannot be parsed.

    Examples
    --------
    >>> with naming_columns("y ~ . - Police-Nr", ["y", "Police-Nr"]):
    ...     raise FormulaError("Column 'Nr' not found.")
    Traceback (most recent call last):
    pegasos_stats.errors.FormulaError: Column 'Nr' not found; write `Police-Nr` in ...
    """
    try:
        yield
    except (ColumnError, FormulaError) as error:
        plain = " ".join(expressions.QUOTED.split(formula)[::2])
        names = [
            name
            for name in columns
            if isinstance(name, str)
            and re.search(r"\W", name)
            and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain)
        ]
        if not names:
            raise
        instead = f"write `{max(names, key=len)}` in backticks"
        raise type(error)(
            f"{re.split('[;:] |[.]$', str(error))[0]}; {instead}."
        ) from None


def has_value(column: DataColumn) -> bool:
    """Whether a column has a value that is neither missing nor blank text.

    Examples
    --------
    >>> has_value(pd.Series([None, "  "])), has_value(pd.Series([" ", "a"]))
    (False, True)
    """
    values = column.dropna()
    return any(not isinstance(value, str) or value.strip() for value in values)


def is_written(name: Hashable, formula: str) -> bool:
    """Whether the terms contain the name of a column.

    Examples
    --------
    >>> is_written("e", "y ~ . + exp(x)"), is_written("e", "y ~ . - e")
    (False, True)
    """
    word = rf"(?<![\w.]){re.escape(str(name))}(?![\w.])"
    return re.search(word, split_formula(formula)[1]) is not None


def warn_empty(columns: Collection[Hashable]) -> None:
    """Warn that columns without a value are excluded."""
    errors.warn_caller(
        f"Column {listing(columns, 3)} holds no value and is left out.",
        errors.ColumnWarning,
    )


def no_value_in(columns: list[str]) -> errors.DataError:
    """Return the error for predictors that are missing in all rows."""
    return errors.DataError(
        f"No row is complete: {listing(columns)} holds no value at all; leave it out "
        "of the model."
    )


def factors_of(
    terms: Iterable[Term],
    formula: str,
    data: pd.DataFrame,
    functions: Functions | None = None,
) -> tuple[list[str], list[str], dict[str, Expression]]:
    """Return the columns that the terms use, terms that are columns, and expressions.

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
        text: expressions.read_expression(text, data.columns, formula, functions)
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
    others : callable
        Returns the columns of ``.``.

    Attributes
    ----------
    names : list of str
        Columns that are named in the terms, also after a minus.
    others : list of str
        Columns of ``.``, once it was parsed.
    computed : list of str
        Texts of expressions.

    Examples
    --------
    >>> reader = TermReader("y ~ .", list)
    >>> [str(term) for term in reader.terms("a*b + log( x) - b")], reader.names
    (['1', 'a', 'log(x)', 'a:b'], ['a', 'b', 'b'])
    """

    def __init__(self, formula: str, others: Callable[[], Iterable[str]]) -> None:
        self.names: list[str] = []
        self.others: list[str] = []
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
        parsed = _single("1", "number")
        for minus, piece in self._pieces(in_python(text, DOT)):
            try:
                tree, self._quoted = expressions.parsed(piece, self._formula)
                expressions.check_in(tree, self._formula)
                _add(parsed, self._terms(tree), minus)
            except RecursionError:
                raise self._refusal(expressions.NESTED) from None
        one = parsed.pop(frozenset("1"), None)
        terms = sorted(parsed.values(), key=lambda term: len(term.factors))
        if any(factor.kind == "number" for term in terms for factor in term.factors):
            raise self._refusal(f"numbers stand in I(), as in I(2 * x){TERMS}")
        return (one, *terms) if one else tuple(terms)

    def _refusal(self, reason: str) -> FormulaError:
        return expressions.unusable(self._formula, reason)

    def _pieces(self, text: str) -> Iterator[tuple[bool, str]]:
        """Yield the summands in Python, and whether a minus precedes them."""
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
                self.others = names = [*self._others()]
                return {frozenset([n]): Term((Factor(n, "column"),)) for n in names}
            case ast.Name() | ast.Attribute():
                return self._column(expressions.written(node, self._quoted).strip("`"))
            case ast.Call() | ast.Set(elts=[_]):
                inner = node.elts[0] if isinstance(node, ast.Set) else node
                self.computed.append(expressions.written(inner, self._quoted))
                return _single(self.computed[-1], "expression")
        text = expressions.written(node, self._quoted)
        raise self._refusal(f"it cannot be read at {text[:60]!r}{TERMS}")

    def _column(self, name: str) -> Terms:
        check_names([name])
        self.names.append(name)
        return _single(name, "column")

    def _nested(self, outer: Terms, inner: Terms) -> Terms:
        """Return the terms of ``a / b``: a, and b within the product of a."""
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
        if self._products > MOST_PRODUCTS:
            text = f"it has more than {MOST_PRODUCTS:,} products of terms"
            raise self._refusal(text)
        crossed: Terms = {}
        for one, other in product(left.values(), right.values()):
            factors = {f.text: f for f in (*one.factors, *other.factors)}
            crossed.setdefault(frozenset(factors), Term(tuple(factors.values())))
        return crossed


def _single(text: str, kind: Literal["number", "column", "expression"]) -> Terms:
    return {frozenset([text]): Term((Factor(text, kind),))}


def _add(terms: Terms, summand: Terms, minus: bool) -> Terms:
    """Add terms in place, or remove them after a minus; 0 is -1."""
    if list(summand) == [frozenset("0")]:
        summand, minus = _single("1", "number"), not minus
    for key, term in summand.items():
        if minus:
            terms.pop(key, None)
        else:
            terms.setdefault(key, term)
    return terms
