"""The language of formulas: outcome, terms, and the columns that they use."""

import ast
import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from pegasos_stats.design import check_columns
from pegasos_stats.errors import ColumnError, DataError, FormulaError, listing
from pegasos_stats.foreign import check_is_ours, in_native_order

if TYPE_CHECKING:
    from formulaic import SimpleFormula

ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
DOTTED = re.compile(r"[A-Za-z_.][\w.]*\.[\w.]*")
FACTOR_CALL = re.compile(r"\b(?:as\.)?factor\(")
QUOTED = re.compile(r"(`[^`]*`)")
TILDE = re.compile(r"~(?=(?:[^`]*`[^`]*`)*[^`]*$)")
POWERS = "write powers as x**2, not x^2"
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
    parts = [part.strip() for part in TILDE.split(str(formula))]
    if len(parts) != 2 or not all(parts):
        raise FormulaError(
            f"The formula {formula!r} is not of the form 'outcome ~ terms'; write for "
            "example 'y ~ .' or 'y ~ a + C(b)'."
        )
    return parts[0], FACTOR_CALL.sub("C(", parts[1])


def as_data(data: Any) -> pd.DataFrame:
    """View a frame or a dictionary of columns as a frame.

    Raises
    ------
    DataError
        If `data` is neither.
    """
    check_is_ours(data)
    if isinstance(data, pd.DataFrame):
        return in_native_order(data)
    if isinstance(data, dict):
        try:
            return in_native_order(pd.DataFrame(data))
        except ValueError as error:
            raise DataError(
                f"data is a dictionary that makes no frame ({error}); give columns of "
                "one length each."
            ) from None
    raise DataError(
        f"data is of type {type(data).__name__}; a formula needs a data frame with "
        "named columns."
    )


def unwrapped(expression: str) -> str:
    """Name of the column behind ``name``, ```name```, ``C(name)``, ``factor(name)``.

    Examples
    --------
    >>> unwrapped("C(am)"), unwrapped("`blood type`"), unwrapped("mpg > 20")
    ('am', 'blood type', 'mpg > 20')
    """
    match = WRAPPED_NAME.match(expression)
    return (match.group(1) if match else expression).strip("`")


def with_quotes(text: str, columns: Any) -> str:
    """Put quotes around column names with a dot, as R has them.

    Examples
    --------
    >>> with_quotes("log(Sepal.Length) + np.sqrt(x)", ["Sepal.Length", "x"])
    'log(`Sepal.Length`) + np.sqrt(x)'
    """
    names = {column for column in columns if isinstance(column, str) and "." in column}

    def quoted(match: re.Match[str]) -> str:
        name = match.group(0)
        return f"`{name}`" if name in names else name

    pieces = QUOTED.split(text)
    pieces[::2] = [DOTTED.sub(quoted, piece) for piece in pieces[::2]]
    return "".join(pieces)


def outcome_of(formula: str, data: Any) -> "pd.Series[Any]":
    """Evaluate the left-hand side of a formula: a column, or an expression.

    A value is missing where a variable of the expression is missing.

    Raises
    ------
    ColumnError
        If the column is not there.
    FormulaError
        If an expression cannot be evaluated.

    Examples
    --------
    >>> cars = pd.DataFrame({"mpg": [21.0, None, 14.3]})
    >>> outcome_of("mpg > 20 ~ .", cars).tolist()
    [True, <NA>, False]
    """
    data = as_data(data)
    expression = split_formula(formula)[0]
    name = unwrapped(expression)
    if name in data.columns:
        check_columns(data, [name])
        column: pd.Series[Any] = data[name]
        return column
    variables = _outcome_variables(expression, formula, data)
    try:
        found = data.eval(with_quotes(expression, data.columns))
    except Exception as error:
        raise cannot_use(formula, error) from None
    values: pd.Series[Any] = pd.Series(found, index=data.index, name=expression)
    missing = data[variables].isna().any(axis=1)
    if missing.any():
        values = values.convert_dtypes().mask(missing)
    return values


def read_terms(formula: str, data: pd.DataFrame, intercept: bool) -> "SimpleFormula":
    """Read the right-hand side; ``.`` is every column that the outcome does not use.

    Raises
    ------
    FormulaError
        If it cannot be read, or the outcome is among the predictors.
    ColumnError
        If a column that it uses is not there or cannot be named in a formula.
    """
    outcome, right = split_formula(formula)
    own = {unwrapped(outcome)}
    if own.isdisjoint(data.columns):
        own = set(_outcome_variables(outcome, formula, data))
    others = _Names(column for column in data.columns if column not in own)
    text = with_quotes(right, data.columns) + ("" if intercept else " - 1")
    terms = _parsed(text, others, formula)
    if unwrapped(outcome) in variables_of(terms, formula, data):
        raise FormulaError(
            f"The formula {formula!r} has its outcome among the predictors; take it "
            "out of the right-hand side."
        )
    return terms


def _parsed(text: str, others: "_Names", formula: str) -> "SimpleFormula":
    """Read terms with formulaic; ``.`` stands for `others`."""
    from formulaic import Formula, SimpleFormula

    context = {"__formulaic_variables_available__": others}
    try:
        terms = Formula.from_spec(text, context=context)
    except ColumnError:
        raise
    except Exception as error:
        raise cannot_use(formula, error) from None
    if not isinstance(terms, SimpleFormula):
        raise FormulaError(
            f"The formula {formula!r} has several parts; give one list of terms."
        )
    return terms


class _Names(list[Any]):
    """Columns that ``.`` stands for, checked when it is read."""

    def __iter__(self) -> Any:
        check_names(list.__iter__(self))
        return list.__iter__(self)


def check_names(columns: Any) -> None:
    """Raise `ColumnError` for names that a formula cannot tell from its own words."""
    wrong = [column for column in columns if not _can_be_named(column)]
    if wrong:
        raise ColumnError(
            f"The column names {listing(wrong)} cannot be used in a formula; names "
            "must be text, no numbers, and not 'Intercept': rename them, for example "
            "data.add_prefix('x')."
        )


def _can_be_named(column: Any) -> bool:
    if not isinstance(column, str) or column == "Intercept":
        return False
    try:
        float(column)
    except ValueError:
        return True
    return False


def variables_of(terms: "SimpleFormula", formula: str, data: pd.DataFrame) -> list[str]:
    """Columns that the terms use; functions must be formulaic's or numpy's.

    Raises
    ------
    FormulaError
        If a function is not known.
    ColumnError
        If a column is not there or cannot be named in a formula.
    """
    from formulaic.parser.types import Factor

    found: set[str] = set()
    for factor in {factor for term in terms for factor in term.factors}:
        if factor.eval_method is Factor.EvalMethod.LOOKUP:
            found.add(str(factor.expr))
        elif factor.eval_method is Factor.EvalMethod.PYTHON:
            found |= _in_expression(factor.expr, formula, data)
    check_names(found)
    check_columns(data, sorted(found))
    return sorted(found)


def _in_expression(expression: str, formula: str, data: pd.DataFrame) -> set[str]:
    """Columns in an expression of Python: names that are no known functions."""
    from formulaic.transforms import TRANSFORMS
    from formulaic.utils.variables import get_required_variables

    if _has_caret(expression):
        raise FormulaError(f"The formula {formula!r} cannot be used: {POWERS}.")
    found = set()
    for variable in get_required_variables(expression):
        name = str(variable) if str(variable) in data.columns else str(variable.root)
        if name in data.columns:
            found.add(name)
        elif name not in TRANSFORMS:
            if "callable" in {role.value for role in variable.roles}:
                raise FormulaError(
                    f"The formula {formula!r} calls {name!r}, which is not a known "
                    "function; use numpy's (np.sqrt) or formulaic's, or compute the "
                    "column before."
                )
            found.add(name)
    return found


def _has_caret(expression: str) -> bool:
    """Whether ``^`` is an operator in it: a power in R, bits of integers in Python."""
    try:
        tree = ast.parse(QUOTED.sub("quoted", expression), mode="eval")
    except SyntaxError:
        return False
    return any(isinstance(node, ast.BitXor) for node in ast.walk(tree))


def _outcome_variables(expression: str, formula: str, data: pd.DataFrame) -> list[str]:
    """Columns of the left-hand side; a name that is not a column is one too."""
    from formulaic import Formula

    text = with_quotes(expression, data.columns)
    try:
        terms = Formula.from_spec(f"{{{text}}} - 1")
    except Exception as error:
        raise cannot_use(formula, error) from None
    found = variables_of(terms, formula, data)
    check_columns(data, found or [expression])
    return found


def cannot_use(formula: str, error: Exception) -> FormulaError:
    """Put a reason that another library gives into our words."""
    reason = " ".join(ANSI_COLOUR.sub("", str(error)).split()).rstrip(".")
    if "'xor'" in reason:
        reason = POWERS
    return FormulaError(f"The formula {formula!r} cannot be used: {reason}.")
