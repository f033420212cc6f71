"""Formulas as they are written: words of R, quotes, ``.``, outcome and terms."""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

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
    formatted,
    is_word,
    normal_form,
    read_expression,
    refused,
    signs_in,
    unusable,
)
from pegasos_stats.data.language.terms import Factor, Term, TermReader
from pegasos_stats.data.language.values import unwrapped_value
from pegasos_stats.data.language.vocabulary import KNOWN, Functions
from pegasos_stats.errors import (
    ColumnWarning,
    DataError,
    FormulaError,
    OptionError,
    listing,
    warn_caller,
)

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
FACTOR_CALL = re.compile(r"^(?:C|factor|as\.factor|relevel)\(")
MOST_LETTERS = 100_000
WRAPPED_NAME = re.compile(r"^(?:C|factor|as\.factor)\(\s*(`[^`]+`|[\w.]+)\s*\)$")


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
    return parts[0], in_python(parts[1], *OF_R)


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
            check_names(outcome.columns)
            check_columns(data, sorted(outcome.columns) or [expression])
            return values_of_rows(outcome, data, formula).rename(expression)
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
    text = in_python(split_formula(formula)[0], *OF_R, IN, *CONNECTIVES)
    found = read_expression(with_quotes(text, columns), columns, formula, functions)
    while (inner := found.inside("C", "I")) is not None:
        found = inner
    return found


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
        found = unwrapped_value(expression.value(rows))
        values: DataColumn = pd.Series(found, index=rows.index)
    except Exception as error:
        raise cannot_use(formula, error) from None
    lacking = rows.isna().any(axis=None)
    return (values.convert_dtypes() if lacking else values).set_axis(data.index)


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
    terms, _ = _split_offsets(_all_terms(formula, data, intercept, functions), formula)
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
    return _split_offsets(_all_terms(formula, data, True, functions), formula)[1]


def _all_terms(
    formula: str, data: pd.DataFrame, intercept: bool, functions: Functions | None
) -> tuple[Term, ...]:
    """Read the right-hand side, those in ``offset()`` included."""
    outcome, right = split_formula(formula)
    own = {unwrapped(outcome)}
    if own.isdisjoint(data.columns):
        own = read_outcome(formula, data.columns, functions).columns
    reader = TermReader(
        with_quotes(right, data.columns) + ("" if intercept else " - 1"),
        formula,
        partial(_others, data, own, formula),
        lambda text: formatted(in_python(text, IN), formula),
    )
    terms = reader.terms()
    check_columns(data, reader.names)
    return terms


def _others(data: pd.DataFrame, own: set[str], formula: str) -> list[str]:
    """Columns that ``.`` stands for: all but those of the outcome.

    Those without a single value, blank text included, are left out, unless all are.
    """
    names = [column for column in data.columns if column not in own]
    check_names(names)
    some = [has_value(column) for _, column in data.items()]
    present = set(data.columns[some]) if len(data) else set(names)
    held = [name for name in names if name in present] or names
    empty = [name for name in names if name not in present and len(held) < len(names)]
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


def warn_empty(columns: Sequence[Hashable]) -> None:
    """Warn that columns without a single value are no predictors."""
    several = len(columns) > 1
    warn_caller(
        f"Column{'s' if several else ''} {listing(columns, 3)} "
        f"{'hold no value and are' if several else 'holds no value and is'} left out.",
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
    cuts = [at for at, sign, depth in signs_in(text) if sign == mark and not depth]
    edges = [-1, *cuts, len(text)]
    return [text[a + 1 : b].strip() for a, b in pairwise(edges)]


def in_python(text: str, *words: tuple[str, str]) -> str:
    """Replace words of R outside of quotes.

    Examples
    --------
    >>> in_python("as.factor(a) + splines::ns(x, 3, Boundary.knots=c(0, 9))", *OF_R)
    'C(a) + ns(x, 3, Boundary_knots=c(0, 9))'
    """
    for pattern, word in words:
        text = _outside_quotes(pattern, word, text)
    return text


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
    pattern: str,
    replacement: str | Callable[[re.Match[str]], str],
    text: str,
) -> str:
    pieces = QUOTED.split(text)
    pieces[::2] = [re.sub(pattern, replacement, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _split_offsets(
    terms: tuple[Term, ...], formula: str
) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Terms that have coefficients, and what stands in each ``offset()``.

    Raises
    ------
    FormulaError
        If an ``offset()`` is part of a product.
    """
    calls = [[_calls_offset(factor) for factor in term.factors] for term in terms]
    if any(any(each) and len(each) > 1 for each in calls):
        raise refused(
            formula, "has offset() in a product; write it as a term of its own."
        )
    rest = tuple(t for t, each in zip(terms, calls, strict=True) if not any(each))
    offsets = [str(t) for t, each in zip(terms, calls, strict=True) if any(each)]
    return rest, tuple(text[len(OFFSET) : -1] for text in offsets)


def _calls_offset(factor: Factor) -> bool:
    return factor.kind == "expression" and factor.text.startswith(OFFSET)
