"""Formulas as they are written: words of R, quotes, ``.``, the outcome and the terms.

Terms follow the grammar of Wilkinson and Rogers as R has it: ``a * b`` is
``a + b + a:b``, ``a / b`` is ``a + a:b``, and ``(a + b)^2`` has all products of two.
What is computed, as in ``log(x)`` or ``{x > 0}``, stays text, see `expressions`.

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
from itertools import accumulate, pairwise
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
from pegasos_stats.data.user_data import (
    check_hashable,
    is_valid_text,
    plain_column,
)
from pegasos_stats.errors import ColumnError, FormulaError, OptionError, listing

SIGN = re.compile(rf"{expressions.LITERAL}|`[^`]*`|%in%|[^'\"`\w\s]", re.DOTALL)
OPENING, CLOSING = "([{", ")]}"
WORD = r"[^\W\d][\w.]*|\.[\w.]+"
BLANKS = r"\s+", " "
DOT = r"(?<![\w.)\]])\.(?![\w.])", "`.`"
# Signs between terms as those of Python that bind as they do, and those in calls.
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
HINTS = {  # by a sign that is none of terms
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
    """Places of signs outside of quotes, and the brackets around each.

    That of a call is ``f``.

    Examples
    --------
    >>> list(signs_in("(x + f('+'))"))
    [(0, '(', ''), (3, '+', '('), (6, '(', '('), (10, ')', '('), (11, ')', '')]
    """
    around, last, before = "", 0, ""
    for found in SIGN.finditer(text):
        at, sign = found.start(), found[0]
        is_call = before == "`" or text[last:at].strip() != ""
        last, before = found.end(), sign[0]
        if before in "'\"`":
            continue
        around = around[:-1] if sign in CLOSING else around
        yield at, sign, around
        if sign in OPENING:
            around += "f" if sign == "(" and is_call else sign


def is_word(name: object) -> bool:
    """Whether a name can stand in an expression as it is."""
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
    """Pieces of a text between its tildes, but for those in brackets and quotes.

    Examples
    --------
    >>> sides("`a~b` ~ I(~x)"), sides("poly(x, 2)[1] = 0, y", ",")
    (['`a~b`', 'I(~x)'], ['poly(x, 2)[1] = 0', 'y'])
    """
    cuts = [at for at, sign, around in signs_in(text) if sign == mark and not around]
    edges = [-1, *cuts, len(text)]
    return [text[a + 1 : b].strip() for a, b in pairwise(edges)]


def with_quotes(text: str, columns: Collection[object]) -> str:
    """Put quotes around column names with a dot, as R has them.

    So are names that Python would write in another way (the micro sign as mu), and
    words of Python such as ``class``.

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
    known = {} if functions is None else functions
    if not isinstance(known, Mapping) or not all(map(callable, known.values())):
        raise OptionError(
            f"functions={listing([functions])} is not allowed; give a dictionary of "
            "names and functions, such as functions={'half': lambda x: x / 2}."
        )
    taken = {*KNOWN, *columns}
    if wrong := [name for name in known if not is_word(name) or name in taken]:
        raise OptionError(
            f"functions= has the names {listing(wrong)}; give words that are neither a "
            "function of formulas nor a column."
        )
    return dict(known)


# --------------------------------------------------------------------- the outcome


def outcome_of(
    formula: str, data: pd.DataFrame, functions: Functions | None = None
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
    with naming_columns(formula, data.columns):
        return _outcome_of(formula, data, functions)


def _outcome_of(
    formula: str, data: pd.DataFrame, functions: Functions | None
) -> DataColumn:
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
    """Values of an expression in all rows; missing where it has none.

    Raises
    ------
    FormulaError
        If it cannot be computed.
    """
    rows = data[sorted(expression.columns)].reset_index(drop=True).apply(plain_column)
    with errors_of(formula, rows):
        found = unwrapped_value(expression.evaluate(rows))
        values: DataColumn = pd.Series(found, index=rows.index)
        lacking = rows.isna().any(axis=None)
        values = values.convert_dtypes() if lacking else as_levels(plain_column(values))
    return values.set_axis(data.index)


@contextmanager
def errors_of(formula: str, used: pd.DataFrame, expr: str = "") -> Iterator[None]:
    """Errors of functions become errors about the formula, or a column of `used`."""
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
    """Read the right-hand side; ``.`` is every column that the outcome does not use.

    What stands in ``offset()`` is no term, see `offset_terms`.

    Raises
    ------
    FormulaError
        If it cannot be read, or the outcome is among the predictors.
    ColumnError
        If a column that it uses is not there or cannot be named in a formula.
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
    reader = TermReader(formula, lambda: _others(data, own, formula))
    found, terms, offsets = reader.terms(text), [], []
    check_columns(data, reader.names)
    if both := {*reader.computed}.intersection([*reader.names, *reader.others]):
        text = f"The column {listing(sorted(both))} has the name of a computed term"
        raise ColumnError(f"{text} beside it; rename it.")
    for term in found:
        first, *others = term.factors
        if first.kind == "expression" and first.text.startswith(OFFSET) and not others:
            offsets.append(first.text[len(OFFSET) : -1])
        else:
            terms.append(term)
    return tuple(terms), tuple(offsets)


def _others(data: pd.DataFrame, own: set[str], formula: str) -> list[str]:
    """Columns that ``.`` stands for: all but those of the outcome.

    Those without a single value, blank text included, are left out, unless all are.
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
    """Name a column that stands without backticks in a formula that cannot be read.

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
    errors.warn_caller(
        f"Column {listing(columns, 3)} holds no value and is left out.",
        errors.ColumnWarning,
    )


def no_value_in(columns: list[str]) -> errors.DataError:
    """The error for predictors that are missing in all rows."""
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
    """Columns that the terms use, those that stand there by name, and expressions.

    Raises
    ------
    FormulaError
        If a term does more than compute with columns.
    ColumnError
        If a column is not there or cannot be named in a formula.
    """
    factors = dict.fromkeys(factor for term in terms for factor in term.factors)
    names = [factor.text for factor in factors if factor.kind == "column"]
    computed = {
        text: expressions.read_expression(text, data.columns, formula, functions)
        for text, kind in sorted(factors)
        if kind == "expression"
    }
    found = sorted({*names}.union(*(each.columns for each in computed.values())))
    check_names(found)
    check_columns(data, found)
    return found, names, computed


class TermReader:
    """Reads a list of terms: Python's parser, and what its operators make of terms.

    Parameters
    ----------
    formula : str
        For messages.
    others : callable
        Gives the columns that ``.`` stands for.

    Attributes
    ----------
    names : list of str
        Columns that stand in the terms by their names, behind a minus too.
    others : list of str
        Those that ``.`` stood for.
    computed : list of str
        Texts of what is computed.

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
        """The terms, an intercept in front, those of fewer factors first.

        Raises
        ------
        FormulaError
            If they cannot be read.
        ColumnError
            If a name cannot be that of a column.
        """
        found = _single("1", "number")
        for minus, piece in self._pieces(in_python(text, DOT)):
            try:
                tree, self._quoted = expressions.parsed(piece, self._formula)
                expressions.check_in(tree, self._formula)
                _add(found, self._terms(tree), minus)
            except RecursionError:
                raise self._refusal(expressions.NESTED) from None
        one = found.pop(frozenset("1"), None)
        terms = sorted(found.values(), key=lambda term: len(term.factors))
        if any(factor.kind == "number" for term in terms for factor in term.factors):
            raise self._refusal(f"numbers stand in I(), as in I(2 * x){TERMS}")
        return (one, *terms) if one else tuple(terms)

    def _refusal(self, reason: str) -> FormulaError:
        return expressions.unusable(self._formula, reason)

    def _pieces(self, text: str) -> Iterator[tuple[bool, str]]:
        """Pieces of a sum, in Python, and whether each is behind a minus."""
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
        """The terms of a node of the tree."""
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
        """``a / b``: b within all that is in a."""
        factors = {f.text: f for term in outer.values() for f in term.factors}
        whole = {frozenset(factors): Term(tuple(factors.values()))}
        return outer | self._crossed(whole, inner)

    def _product(self, found: Terms, right: ast.expr) -> Terms:
        """``a:b``, written ``a**~b``, and ``(a + b)^2``, or one and another."""
        match right:
            case ast.UnaryOp(ast.Invert(), inner):
                return self._crossed(found, self._terms(inner))
            case ast.BinOp(power, ast.Pow(), ast.UnaryOp(ast.Invert()) as rest):
                return self._product(self._product(found, power), rest)
            case ast.Constant(int() as power) if power > 0:
                terms = found
                for _ in range(power - 1):  # until no new ones come
                    longer = self._crossed(found, terms)
                    if len(longer) == len(found):
                        break
                    found = longer
                return found
        raise self._refusal(NOT_WHOLE)

    def _crossed(self, left: Terms, right: Terms) -> Terms:
        self._products += len(left) * len(right)
        if self._products > MOST_PRODUCTS:
            text = f"it has more than {MOST_PRODUCTS:,} products of terms"
            raise self._refusal(text)
        found: Terms = {}
        for one in left.values():
            for other in right.values():
                factors = {f.text: f for f in (*one.factors, *other.factors)}
                found.setdefault(frozenset(factors), Term(tuple(factors.values())))
        return found


def _single(text: str, kind: Literal["number", "column", "expression"]) -> Terms:
    return {frozenset([text]): Term((Factor(text, kind),))}


def _add(found: Terms, part: Terms, minus: bool) -> Terms:
    """Add terms to those that are there, or take them away; 0 is -1."""
    if list(part) == [frozenset("0")]:
        part, minus = _single("1", "number"), not minus
    for key, term in part.items():
        if minus:
            found.pop(key, None)
        else:
            found.setdefault(key, term)
    return found
