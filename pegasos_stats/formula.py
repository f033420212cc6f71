"""Formulas: the outcome, and a design whose coding is kept and replayed."""

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.design import (
    Mask,
    ModelMatrix,
    check_columns,
    check_finite,
    complete,
    numeric_values,
    plain_name,
    selected,
)
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    FormulaError,
    counted,
    listing,
)

if TYPE_CHECKING:
    from formulaic import ModelSpec, SimpleFormula

ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
FACTOR_CALL = re.compile(r"\b(?:as\.)?factor\(")
TILDE = re.compile(r"~(?=(?:[^`]*`[^`]*`)*[^`]*$)")
WRAPPED_NAME = re.compile(r"^(?:C|factor|as\.factor)\(\s*(`[^`]+`|[\w.]+)\s*\)$")


@dataclass(frozen=True)
class FormulaDesign:
    """The right-hand side of a formula, with the coding found at fit.

    Attributes
    ----------
    formula : str
        The formula as it was given.
    spec : formulaic.ModelSpec
        Terms, levels and the state of transformations.
    names : tuple of str
        Names of the coefficients, the intercept left out.
    intercept : bool
        Whether the formula keeps its intercept (``- 1`` takes it away).
    variables : tuple of str
        Columns that the terms use.
    numeric : tuple of str
        Those of them that were numeric at fit.
    """

    formula: str
    spec: "ModelSpec"
    names: tuple[str, ...]
    intercept: bool
    variables: tuple[str, ...]
    numeric: tuple[str, ...]

    @classmethod
    def from_data(
        cls, formula: str, data: pd.DataFrame, usable: Mask, intercept: bool = True
    ) -> tuple["FormulaDesign", ModelMatrix]:
        """Read the formula and code the complete rows of `data`.

        Parameters
        ----------
        formula : str
            ``"y ~ ."``, ``"y ~ a + C(b)"``, ``"y ~ log(a):b - 1"``; the language is
            formulaic's. Text, categories and ``C()`` become treatment contrasts
            with the first level dropped.
        data : DataFrame, n rows
        usable : bool array, shape (n,)
            Rows that have an outcome.
        intercept : bool
            ``False`` takes the intercept away, as ``- 1`` does.

        Raises
        ------
        FormulaError
            If the formula cannot be read or has no predictor.
        ColumnError
            If it names a column that is not there.
        """
        outcome, terms = split_formula(formula)
        parsed = _parse(terms + ("" if intercept else " - 1"), outcome, data, formula)
        variables = _variables(parsed, formula)
        check_columns(data, variables)
        used = _complete_rows(data, variables, usable)
        if len(used) == 0:
            raise DataError(
                f"No row is complete in the outcome and {listing(variables)}; give "
                "data with values for all of them."
            )
        numbers = [v for v in variables if is_numeric(data[v])]
        check_finite(
            numeric_values(used[numbers]), data.loc[:, numbers].iloc[used.index]
        )
        coded = _materialize(parsed, used, formula)
        spec = coded.model_spec
        names = tuple(str(n) for n in spec.column_names if n != "Intercept")
        if not names:
            raise FormulaError(f"The formula {formula!r} has no predictor; add one.")
        has_intercept = "Intercept" in spec.column_names
        design = cls(
            formula, spec, names, has_intercept, tuple(variables), tuple(numbers)
        )
        return design, design._finished(coded, data.index)

    def matrix(self, data: Any) -> ModelMatrix:
        """Matrix of `data`, coded as at fit.

        Raises
        ------
        ColumnError
            If columns are missing, hold levels not seen at fit, text where there
            were numbers, or infinite values.
        """
        data = as_data(data)
        variables = list(self.variables)
        check_columns(data, variables)
        numbers = data[list(self.numeric)]
        check_finite(numeric_values(numbers), numbers)
        used = _complete_rows(data, variables, np.ones(len(data), dtype=bool))
        self._check_levels(used, data.index)
        coded = _materialize(self.spec, used, self.formula)
        return self._finished(coded, data.index)

    def _check_levels(self, used: pd.DataFrame, index: pd.Index) -> None:
        """Raise `ColumnError` for levels that did not occur at fit."""
        for factor, (kind, state) in self.spec.encoder_state.items():
            variable = unwrapped(factor)
            if kind.value != "categorical" or variable not in used:
                continue
            known = state["categories"]
            unseen = used[variable][~used[variable].isin(known)]
            if len(unseen):
                raise ColumnError(
                    f"Column {plain_name(variable)} holds levels that did not occur at "
                    f"fit, {listing(unseen.unique())}, in "
                    f"{counted(len(unseen), 'row')} ({listing(index[unseen.index])}); "
                    f"the model knows {listing(known)}: drop or recode these rows."
                )

    def _finished(self, coded: pd.DataFrame, index: pd.Index) -> ModelMatrix:
        """Keep the rows in which no transformation gave NaN."""
        positions = coded.index.to_numpy()
        labelled = coded[list(self.names)].set_axis(index[positions], axis=0)
        values = numeric_values(labelled)
        check_finite(values, labelled)
        whole = complete(values)
        kept = np.zeros(len(index), dtype=bool)
        kept[positions[whole]] = True
        return ModelMatrix(selected(values, whole), kept, index)


def as_data(data: Any) -> pd.DataFrame:
    """View a frame or a dictionary of columns as a frame.

    Raises
    ------
    DataError
        If `data` is neither.
    """
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, dict):
        return pd.DataFrame(data)
    raise DataError(
        f"data is of type {type(data).__name__}; a formula needs a data frame with "
        "named columns."
    )


def split_formula(formula: str) -> tuple[str, str]:
    """Split ``"y ~ a + b"`` into its outcome and its terms; ``factor()`` is ``C()``.

    Raises
    ------
    FormulaError
        If there is not one ``~`` with something on both sides.

    Examples
    --------
    >>> split_formula("am ~ wt + hp")
    ('am', 'wt + hp')
    """
    parts = [part.strip() for part in TILDE.split(str(formula))]
    if len(parts) != 2 or not all(parts):
        raise FormulaError(
            f"The formula {formula!r} is not of the form 'outcome ~ terms'; write for "
            "example 'y ~ .' or 'y ~ a + C(b)'."
        )
    return parts[0], FACTOR_CALL.sub("C(", parts[1])


def unwrapped(expression: str) -> str:
    """Name of the column behind ``name``, ```name```, ``C(name)``, ``factor(name)``.

    Examples
    --------
    >>> unwrapped("C(am)"), unwrapped("`blood type`"), unwrapped("mpg > 20")
    ('am', 'blood type', 'mpg > 20')
    """
    match = WRAPPED_NAME.match(expression)
    return (match.group(1) if match else expression).strip("`")


def outcome_of(formula: str, data: pd.DataFrame) -> "pd.Series[Any]":
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
    expression = split_formula(formula)[0]
    name = unwrapped(expression)
    if name in data.columns:
        return data[name]
    variables = _outcome_variables(expression, formula)
    check_columns(data, variables)
    values = pd.Series(data.eval(expression), index=data.index, name=expression)
    missing = data[variables].isna().any(axis=1)
    return values.convert_dtypes().mask(missing) if missing.any() else values


def _outcome_variables(expression: str, formula: str) -> list[str]:
    """Variables of the left-hand side; a name that is not a column is one too."""
    from formulaic import Formula

    try:
        parsed = Formula.from_spec(f"{{{expression}}} - 1")
    except Exception as error:
        raise FormulaError(_cannot_read(formula, error)) from None
    return _variables(parsed, formula) or [expression]


def _variables(parsed: "SimpleFormula", formula: str) -> list[str]:
    """Columns that the terms use; functions must be formulaic's or numpy's."""
    from formulaic.parser.types import Factor
    from formulaic.transforms import TRANSFORMS
    from formulaic.utils.variables import get_required_variables

    found: set[str] = set()
    for factor in {factor for term in parsed for factor in term.factors}:
        if factor.eval_method is Factor.EvalMethod.LOOKUP:
            found.add(str(factor.expr))
        elif factor.eval_method is Factor.EvalMethod.PYTHON:
            used = get_required_variables(factor.expr)
            names = {str(v.root): {role.value for role in v.roles} for v in used}
            unknown = {n for n in names if n not in TRANSFORMS}
            calls = {n for n in unknown if "callable" in names[n]}
            if calls:
                raise FormulaError(
                    f"The formula {formula!r} calls {listing(sorted(calls))}, which is "
                    "not a known function; use formulaic's or numpy's (np.log), or "
                    "compute the column before."
                )
            found |= unknown
    return sorted(found)


def _parse(
    terms: str, outcome: str, data: pd.DataFrame, formula: str
) -> "SimpleFormula":
    """Read the terms; ``.`` stands for every column that the outcome does not use."""
    from formulaic import Formula

    own = {unwrapped(outcome)}
    if own.isdisjoint(data.columns):
        own = set(_outcome_variables(outcome, formula))
    others = [column for column in data.columns if column not in own]
    try:
        return Formula.from_spec(
            terms, context={"__formulaic_variables_available__": others}
        )
    except Exception as error:
        raise FormulaError(_cannot_read(formula, error)) from None


def _materialize(design: Any, used: pd.DataFrame, formula: str) -> Any:
    """Build formulaic's model matrix, its mismatch warnings made errors."""
    from formulaic.errors import DataMismatchWarning, FormulaicError

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", DataMismatchWarning)
            return design.get_model_matrix(used, na_action="ignore", output="pandas")
    except (FormulaicError, DataMismatchWarning) as error:
        raise FormulaError(_cannot_read(formula, error)) from None


def _complete_rows(
    data: pd.DataFrame, variables: list[str], usable: Mask
) -> pd.DataFrame:
    """Rows without missing values, indexed by position, in plain dtypes."""
    frame = data[variables].reset_index(drop=True)
    frame = frame[usable & frame.notna().all(axis=1).to_numpy()]
    return frame.apply(_plain_column)


def _plain_column(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Drop unused categories, and turn nullable numbers into numpy's."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    if is_numeric(column) and not isinstance(column.dtype, np.dtype):
        return pd.Series(column.to_numpy(), index=column.index)
    return column


def is_numeric(column: "pd.Series[Any]") -> bool:
    """Whether a column holds numbers or booleans."""
    return bool(pd.api.types.is_numeric_dtype(column))


def _cannot_read(formula: str, error: Exception) -> str:
    reason = " ".join(ANSI_COLOUR.sub("", str(error)).split()).rstrip(".")
    return f"The formula {formula!r} cannot be used: {reason}."
