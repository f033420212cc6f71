"""Formulas as they are written: words of R, quotes, ``.``, outcome and terms."""

import re
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.columns import plain_column
from pegasos_stats.data.data_frame import as_data
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.foreign import refusing
from pegasos_stats.data.language.expressions import (
    QUOTED,
    Expression,
    cannot_use,
    check_names,
    is_word,
    normal_form,
    read_expression,
    refused,
    unusable,
)
from pegasos_stats.data.language.values import unwrapped_value
from pegasos_stats.data.language.vocabulary import KNOWN, Functions
from pegasos_stats.errors import (
    ColumnError,
    ColumnWarning,
    DataError,
    FormulaError,
    OptionError,
    listing,
    warn_caller,
)

TERMS = (
    "; terms are joined by + and stand in backticks where a name is no word; what is "
    "computed or compared stands in I(), as in I(x > 0)"
)
STATA = "; write a * b for a##b, a:b for a#b, C(g) for i.g, and x for c.x"
WORD = re.compile(r"[^\W\d][\w.]*|\.[\w.]+")
OF_R = {
    "factor": "C",
    "as.factor": "C",
    "as.numeric": "as_numeric",
    "as.integer": "as_integer",
    "as.logical": "as_logical",
    "as.character": "as_character",
    "is.na": "is_na",
}
CALLED = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, OF_R))})\(")
PACKAGE = re.compile(r"(?<![\w.])(?:base|splines|stats)::(?=[\w.]+\()")
DOTTED = re.compile(r"(?<=[(,\s])[^\W\d]\w*(?:\.\w+)+(?=\s*=(?!=))")
IN = re.compile(r"%in%")
OFFSET = "offset("
CONNECTIVE = re.compile(r"[&|]")
FACTOR_CALL = re.compile(r"^(?:C|factor|as\.factor|relevel)\(")
MOST_LETTERS = 100_000
WRAPPED_NAME = re.compile(r"^(?:C|factor|as\.factor)\(\s*(`[^`]+`|[\w.]+)\s*\)$")


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
    no_text = FormulaError(
        f"The formula is of type {type(formula).__name__}; give text such as 'y ~ .' "
        "or 'y ~ a + C(b)'."
    )
    with refusing(no_text):
        text = str(formula)
    if len(text) > MOST_LETTERS:
        raise refused(
            text,
            f"has {len(text):,} letters, and at most {MOST_LETTERS:,} are read; write "
            "'y ~ .' for all columns.",
        )
    if "``" in QUOTED.split(text):
        raise unusable(text, "there is no name between ``; write one, or take them out")
    parts = sides(text)
    if len(parts) != 2 or not all(parts):
        raise refused(
            text,
            "is not of the form 'outcome ~ terms'; write for example 'y ~ .' or "
            "'y ~ a + C(b)'.",
        )
    return parts[0], terms_in_python(parts[1])


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
    wrong = [name for name in functions if not is_word(name)]
    if wrong:
        raise OptionError(
            f"functions= has the names {listing(wrong)}; give words of letters, digits "
            "and underscores."
        )
    taken = [name for name in functions if name in KNOWN or name in columns]
    if taken:
        raise OptionError(
            f"functions= has {listing(taken)}, which already is a function of formulas "
            "or a column; give another name."
        )
    return dict(functions)


def unwrapped(expression: str) -> str:
    """Name of the column behind ``name``, ```name```, ``C(name)``, ``factor(name)``.

    Examples
    --------
    >>> unwrapped("C(am)"), unwrapped("`blood type`"), unwrapped("mpg > 20")
    ('am', 'blood type', 'mpg > 20')
    """
    match = WRAPPED_NAME.match(expression)
    return (match.group(1) if match else expression).strip("`")


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
    name = unwrapped(expression)
    if name not in data.columns:
        outcome = read_outcome(formula, data.columns, functions)
        if outcome.column is None:
            return _computed(outcome, expression, formula, data)
        name = outcome.column
    check_columns(data, [name])
    column: DataColumn = data[name]
    return column


def read_outcome(
    formula: str, columns: Collection[Hashable], functions: Functions | None = None
) -> Expression:
    """Read the left-hand side of a formula, without ``C()`` or ``I()`` around it.

    As in R, ``&`` and ``|`` join comparisons that stand without brackets.

    Raises
    ------
    FormulaError
        If it cannot be read, or does more than compute with columns.

    Examples
    --------
    >>> read_outcome("factor(am) ~ .", ["am"]).column
    'am'
    """
    text = with_quotes(outcome_in_python(split_formula(formula)[0]), columns)
    found = read_expression(text, columns, formula, functions)
    while (inner := found.inside("C", "I")) is not None:
        found = inner
    return found


@np.errstate(all="ignore")
def _computed(
    outcome: Expression, expression: str, formula: str, data: pd.DataFrame
) -> DataColumn:
    """Values of an outcome; missing where it has none."""
    variables = sorted(outcome.columns)
    check_names(variables)
    check_columns(data, variables or [expression])
    try:
        values = values_of_rows(outcome, data[variables]).rename(expression)
    except Exception as error:
        raise cannot_use(formula, error) from None
    return values.set_axis(data.index)


def values_of_rows(expression: Expression, frame: pd.DataFrame) -> DataColumn:
    """Values of an expression in all rows, by position; missing where it has none."""
    rows = frame.reset_index(drop=True).apply(plain_column)
    found = unwrapped_value(expression.value(rows))
    values: DataColumn = pd.Series(found, index=rows.index)
    return values.convert_dtypes() if rows.isna().any(axis=None) else values


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
    outcome = split_formula(formula)[0]
    terms = without_offsets(_all_terms(formula, data, intercept, functions), formula)
    if unwrapped(outcome) in variables_of(terms, formula, data, functions):
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
    if "offset" not in split_formula(formula)[1]:
        return ()
    return expressions_in(_all_terms(formula, data, True, functions))


def _all_terms(
    formula: str, data: pd.DataFrame, intercept: bool, functions: Functions | None
) -> tuple[Term, ...]:
    """Read the right-hand side, those in ``offset()`` included."""
    outcome, right = split_formula(formula)
    own = {unwrapped(outcome)}
    if own.isdisjoint(data.columns):
        own = read_outcome(formula, data.columns, functions).columns
    others = _Names(data, own, formula)
    text = with_quotes(right, data.columns) + ("" if intercept else " - 1")
    return _parsed(text, others, formula)


KINDS: dict[str, Literal["number", "column", "expression"]] = {
    "literal": "number",
    "lookup": "column",
    "python": "expression",
}


def _parsed(text: str, others: "_Names", formula: str) -> tuple[Term, ...]:
    """Read terms with formulaic; ``.`` stands for `others`."""
    from formulaic import Formula, SimpleFormula

    from pegasos_stats.data.language.formulaic_adapter import TermParser

    context = {"__formulaic_variables_available__": others}
    parser = TermParser(formula)
    try:
        terms = Formula.from_spec(text, parser=parser, context=context)
    except (ColumnError, FormulaError):
        raise
    except Exception as error:
        hint = STATA if "#" in text else TERMS
        raise cannot_use(formula, error, hint) from None
    if not isinstance(terms, SimpleFormula):
        raise unusable(formula, "it has several parts")
    check_columns(others.data, parser.taken_out)
    return tuple(
        Term(tuple(Factor(str(f.expr), KINDS[f.eval_method.value]) for f in t.factors))
        for t in terms
    )


class _Names(list[Hashable]):
    """Columns that ``.`` stands for, checked when it is read.

    Those without a single value, blank text included, are left out, unless all are.
    """

    def __init__(self, data: pd.DataFrame, own: set[str], formula: str) -> None:
        super().__init__(column for column in data.columns if column not in own)
        self.data, self._formula = data, formula

    def __iter__(self) -> Iterator[Hashable]:
        names = list(super().__iter__())
        check_names(names)
        some = [has_value(column) for _, column in self.data.items()]
        present = self.data.columns[some] if len(self.data) else names
        held = [name for name in names if name in present] or names
        empty = dict.fromkeys(names).keys() - held
        if empty := {name for name in empty if not is_written(name, self._formula)}:
            warn_empty([name for name in names if name in empty])
        return iter(held)


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


def warn_empty(columns: Sequence[Hashable]) -> None:
    """Warn that columns without a single value are no predictors."""
    several = len(columns) > 1
    warn_caller(
        f"{'Columns' if several else 'Column'} {listing(columns, 3)} "
        f"{'hold' if several else 'holds'} no value and "
        f"{'are' if several else 'is'} left out.",
        ColumnWarning,
    )


def factors_of(
    terms: Iterable[Term],
    formula: str,
    data: pd.DataFrame,
    functions: Functions | None = None,
) -> tuple[set[str], dict[str, Expression]]:
    """Columns that stand in the terms by their names, and the expressions in them.

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
        for text, kind in factors
        if kind == "expression"
    }
    found = names.union(*(each.columns for each in expressions.values()))
    check_names(found)
    check_columns(data, sorted(found))
    return names, dict(sorted(expressions.items()))


def variables_of(
    terms: Iterable[Term],
    formula: str,
    data: pd.DataFrame,
    functions: Functions | None = None,
) -> list[str]:
    """Columns that the terms use; errors are those of `factors_of`."""
    names, expressions = factors_of(terms, formula, data, functions)
    return sorted(names.union(*(each.columns for each in expressions.values())))


def no_value_in(columns: list[str]) -> DataError:
    """The error for predictors that are missing in all rows."""
    return DataError(
        f"No row is complete: {listing(columns)} holds no value at all; leave it out "
        "of the model."
    )


def sides(text: str, mark: str = "~") -> list[str]:
    """Pieces of a text between its tildes, but for those in brackets and quotes.

    Examples
    --------
    >>> sides("`a~b` ~ I(~x)"), sides("poly(x, 2)[1] = 0, y", ",")
    (['`a~b`', 'I(~x)'], ['poly(x, 2)[1] = 0', 'y'])
    """
    cuts = [at for at, sign, depth, _ in _signs(text) if sign == mark and not depth]
    edges = [-1, *cuts, len(text)]
    return [text[a + 1 : b].strip() for a, b in pairwise(edges)]


def terms_in_python(text: str) -> str:
    """Terms, with the words of R that Python does not have as it has them.

    Examples
    --------
    >>> terms_in_python("as.factor(a) + I(b %in% c(1, 2)) + x %in% z")
    'C(a) + I(b  in  c(1, 2)) + x %in% z'
    >>> terms_in_python("splines::ns(x, 3, Boundary.knots=c(0, 9))")
    'ns(x, 3, Boundary_knots=c(0, 9))'
    """
    text = _outside_quotes(PACKAGE, "", text)
    text = _outside_quotes(DOTTED, lambda m: m[0].replace(".", "_"), text)
    inside = {at for at, sign, _, called in _signs(text) if sign == "%" and called}
    whole = IN.sub(lambda m: " in " if m.start() in inside else m[0], text)
    return _outside_quotes(CALLED, lambda m: f"{OF_R[m[1]]}(", whole)


def outcome_in_python(text: str) -> str:
    """An outcome, with ``&`` and ``|`` that bind as loosely as in R.

    Examples
    --------
    >>> outcome_in_python("a > 1 & factor(b) %in% c('&')")
    "a > 1  and  C(b)  in  c('&')"
    """
    text = _outside_quotes(CALLED, lambda m: f"{OF_R[m[1]]}(", text)
    text = _outside_quotes(IN, " in ", text)
    words = {"&": " and ", "|": " or "}
    return _outside_quotes(CONNECTIVE, lambda m: words[m[0]], text)


def with_quotes(text: str, columns: Collection[object]) -> str:
    """Put quotes around column names with a dot, as R has them.

    So are names that Python would write in another way (the micro sign as mu).

    Examples
    --------
    >>> with_quotes("log(Sepal.Length) + np.sqrt(x)", ["Sepal.Length", "x"])
    'log(`Sepal.Length`) + np.sqrt(x)'
    """
    names = {
        column
        for column in columns
        if isinstance(column, str) and ("." in column or normal_form(column) != column)
    }

    def quoted(match: re.Match[str]) -> str:
        name = match.group(0)
        return f"`{name}`" if name in names else name

    return _outside_quotes(WORD, quoted, text)


def _outside_quotes(
    pattern: re.Pattern[str],
    replacement: str | Callable[[re.Match[str]], str],
    text: str,
) -> str:
    pieces = QUOTED.split(text)
    pieces[::2] = [pattern.sub(replacement, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _signs(text: str) -> Iterator[tuple[int, str, int, bool]]:
    """Signs outside of quotes: place, depth in brackets, and whether in a call.

    What follows a word in brackets is a call, and so is what stands in braces.
    """
    place, called = 0, [False]
    for number, piece in enumerate(QUOTED.split(text)):
        for at, sign in enumerate(piece if number % 2 == 0 else "", place):
            if sign in ")]}" and len(called) > 1:
                called.pop()
            yield at, sign, len(called) - 1, called[-1]
            if sign in "([{":
                after = text[at - 1 : at]
                opens = sign == "{" or after == "_" or after == "." or after.isalnum()
                called.append(called[-1] or opens)
        place += len(piece)


def expressions_in(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """What stands in each ``offset()``, a term that has no coefficient."""
    found = [term.factors[0].text for term in terms if _is_offset(term)]
    return tuple(text.removeprefix(OFFSET).removesuffix(")") for text in found)


def without_offsets(terms: tuple[Term, ...], formula: str) -> tuple[Term, ...]:
    """Terms that have coefficients.

    Raises
    ------
    FormulaError
        If an ``offset()`` is part of a product.
    """
    kept = tuple(term for term in terms if not _is_offset(term))
    if any(_calls_offset(factor) for term in kept for factor in term.factors):
        raise refused(
            formula, "has offset() in a product; write it as a term of its own."
        )
    return kept


def _calls_offset(factor: Factor) -> bool:
    return factor.kind == "expression" and factor.text.startswith(OFFSET)


def _is_offset(term: Term) -> bool:
    return len(term.factors) == 1 and _calls_offset(term.factors[0])
