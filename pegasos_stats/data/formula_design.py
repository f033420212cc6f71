"""Designs from formulas: terms and contrasts, kept and replayed on new data."""

import re
import warnings
from collections.abc import Hashable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.columns import (
    Mask,
    check_finite,
    checked_rows,
    is_sparse,
    numeric_values,
    plain_column,
    selected,
)
from pegasos_stats.data.design import FrameDesign, ModelMatrix, check_columns
from pegasos_stats.data.formula import (
    as_data,
    cannot_use,
    read_terms,
    unwrapped,
    variables_of,
)
from pegasos_stats.data.labels import positions
from pegasos_stats.data.language.expressions import Functions
from pegasos_stats.data.language.syntax import refused
from pegasos_stats.errors import ColumnError, DataError, counted, listing

if TYPE_CHECKING:
    from formulaic import ModelMatrix as FormulaicMatrix
    from formulaic import ModelSpec, SimpleFormula

Levels: TypeAlias = dict[str, list[Hashable]]  # of each factor, by its column

CONTRASTED = re.compile(r"^C\(\s*(`[^`]+`|[\w.]+)\s*,.*\)$", re.DOTALL)
NO_PREDICTOR = "has no predictor; add one."


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
    variables : tuple of str
        Columns that the terms use.
    numeric : tuple of str
        Those of them that were numeric at fit.
    functions : dict of str to callable
        Further functions, of the caller.
    """

    formula: str
    spec: "ModelSpec"
    names: tuple[str, ...]
    variables: tuple[str, ...]
    numeric: tuple[str, ...]
    functions: Functions = field(default_factory=dict, compare=False)

    @classmethod
    def from_terms(
        cls,
        formula: str,
        terms: "SimpleFormula",
        data: pd.DataFrame,
        usable: Mask,
        functions: Functions | None = None,
    ) -> tuple["FormulaDesign", ModelMatrix]:
        """Code the complete rows of `data` by the terms of a formula.

        Parameters
        ----------
        formula : str
        terms : formulaic.SimpleFormula
            Its right-hand side, read.
        data : DataFrame, n rows
        usable : bool array, shape (n,)
            Rows that have an outcome.
        functions : dict of str to callable, optional
            Further functions, of the caller.

        Raises
        ------
        FormulaError
            If the terms cannot be evaluated.
        ColumnError
            If a column is not there or holds infinite values.
        DataError
            If no row is complete.
        """
        functions = functions or {}
        variables = variables_of(terms, formula, data, functions)
        used = _complete_rows(data, variables, usable)
        if len(used) == 0:
            empty = [name for name in variables if data[name].isna().all()]
            if empty and len(data):
                raise DataError(
                    f"No row is complete: {listing(empty)} holds no value at all; "
                    "leave it out of the model, as in 'y ~ . - x'."
                )
            raise DataError(
                f"No row is complete in the outcome and {listing(variables)}; give "
                "data with values for all of them."
            )
        kinds = [dtype.kind for dtype in used.dtypes]
        numbers = [v for v, k in zip(variables, kinds, strict=True) if k in "fiub"]
        _check_numbers(used[numbers], data.index[used.index])
        _check_dates(used)
        coded = _materialize(terms, used, formula, functions)
        names = tuple(str(n) for n in coded.columns if n != "Intercept")
        if not names:
            raise refused(formula, NO_PREDICTOR)
        spec = coded.model_spec
        used_columns = tuple(variables), tuple(numbers)
        design = cls(formula, spec, names, *used_columns, functions)
        return design, design._finished(coded, data.index)

    def matrix(self, data: object) -> ModelMatrix:
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
        levels = levels_at_fit(self.spec, self.variables)
        data = as_at_fit(data[variables], levels, self.numeric)
        numeric_values(data[list(self.numeric)])
        used = _complete_rows(data, variables, np.ones(len(data), dtype=bool))
        if len(used) == 0:
            nothing = np.empty((0, len(self.names)))
            return ModelMatrix(nothing, np.zeros(len(data), dtype=bool), data.index)
        _check_numbers(used[list(self.numeric)], data.index[used.index])
        check_levels(used, levels, data.index)
        # A copy: formulaic writes into the specification that it is given.
        state = self.spec.encoder_state.items()
        spec = self.spec.update(
            encoder_state={name: (kind, dict(found)) for name, (kind, found) in state},
            transform_state=deepcopy(self.spec.transform_state),
        )
        coded = _materialize(spec, used, self.formula, self.functions)
        return self._finished(coded, data.index)

    def _finished(self, coded: pd.DataFrame, index: pd.Index) -> ModelMatrix:
        """Keep the rows in which no transformation gave NaN."""
        positions = coded.index.to_numpy()
        labelled = coded[list(self.names)].set_axis(index[positions], axis=0)
        values = numeric_values(labelled)
        whole = checked_rows(values, labelled.columns, labelled.index)
        kept = np.zeros(len(index), dtype=bool)
        kept[positions[whole]] = True
        return ModelMatrix(selected(values, whole), kept, index)


def design_of(
    formula: str,
    data: pd.DataFrame,
    usable: Mask,
    intercept: bool = True,
    functions: Functions | None = None,
) -> tuple[FormulaDesign | FrameDesign, ModelMatrix, bool]:
    """Read the terms of a formula and code the complete rows of `data`.

    Where a column is sparse and all terms are columns of numbers, they stay sparse.
    Contrasts, products and functions beside it make them dense.

    Parameters
    ----------
    formula : str
        ``"y ~ ."``, ``"y ~ a + C(b)"``, ``"y ~ log(a):b - 1"``; terms are joined as
        by formulaic and R. Text, categories and ``C()`` become treatment contrasts
        with the first level dropped.
    data : DataFrame, n rows
    usable : bool array, shape (n,)
        Rows that have an outcome.
    intercept : bool
        ``False`` takes the intercept away, as ``- 1`` does.
    functions : dict of str to callable, optional
        Further functions, of the caller.

    Returns
    -------
    design : FormulaDesign or FrameDesign
    matrix : ModelMatrix
    intercept : bool
        Whether the formula keeps its intercept.

    Raises
    ------
    FormulaError
        If the formula cannot be read or has no predictor.
    ColumnError
        If it names a column that is not there or cannot be used.
    DataError
        If no row is complete.
    """
    terms = read_terms(formula, data, intercept, functions)
    names = [str(term) for term in terms if str(term) != "1"]
    if not names:
        raise refused(formula, NO_PREDICTOR)
    free = len(names) < len(terms)
    if set(names) <= set(data.columns) and _stay_sparse(data[names]):
        plain = FrameDesign(tuple(names), True, formula, functions or {})
        return plain, plain.matrix(data), free
    design, matrix = FormulaDesign.from_terms(formula, terms, data, usable, functions)
    return design, matrix, free


def _stay_sparse(frame: pd.DataFrame) -> bool:
    """Whether some columns are sparse, and none needs contrasts."""
    if not is_sparse(frame):
        return False
    for _, column in frame.items():
        if isinstance(column.dtype, pd.SparseDtype):
            continue
        present = column.dropna()
        text = len(present) > 0 and pd.api.types.is_string_dtype(present)
        if text or isinstance(column.dtype, pd.CategoricalDtype):
            return False
    return True


def _check_numbers(frame: pd.DataFrame, index: pd.Index) -> None:
    """Raise `ColumnError` for text and infinite values among numeric columns."""
    values = numeric_values(frame.set_axis(index, axis=0))
    check_finite(values, frame.columns, index)


def _check_dates(frame: pd.DataFrame) -> None:
    """Raise `ColumnError` for dates and durations, which are no numbers."""
    for name, dtype in frame.dtypes.items():
        if dtype.kind in "mM" or isinstance(dtype, pd.PeriodDtype):
            raise ColumnError(
                f"Column {listing([name])} is of type {dtype}; give numbers, such as "
                "days since a date, or categories."
            )


def _materialize(
    terms: "SimpleFormula | ModelSpec",
    used: pd.DataFrame,
    formula: str,
    functions: Functions,
) -> "FormulaicMatrix":
    """Build formulaic's model matrix; its errors become errors about the formula."""
    from formulaic.errors import DataMismatchWarning

    from pegasos_stats.data.language.materializing import Materializer

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", DataMismatchWarning)
            return Materializer(used, formula, functions).matrix(terms)
    except DataMismatchWarning:
        raise ColumnError(
            f"The data hold levels that did not occur at fit in a term of {formula!r}; "
            "drop or recode these rows."
        ) from None
    except Exception as error:
        raise cannot_use(formula, error) from None


def _complete_rows(
    data: pd.DataFrame, variables: list[str], usable: Mask
) -> pd.DataFrame:
    """Rows without missing values, indexed by position, in plain dtypes."""
    frame = data[variables].reset_index(drop=True)
    complete = usable & frame.notna().all(axis=1).to_numpy()
    frame = frame[complete].copy(deep=False)
    for name, dtype in frame.dtypes.items():
        if not (isinstance(dtype, np.dtype) and dtype.kind in "fiub"):
            frame[name] = plain_column(frame[name])
    return frame


def levels_at_fit(spec: "ModelSpec", variables: tuple[str, ...]) -> Levels:
    """Levels of the columns that stand in the terms as factors.

    Parameters
    ----------
    spec : formulaic.ModelSpec
        As it was left by the fit.
    variables : tuple of str
        Columns that the terms use.
    """
    found = {
        factored(factor): list(state["categories"])
        for factor, (kind, state) in spec.encoder_state.items()
        if kind.value == "categorical" and "categories" in state
    }
    return {name: levels for name, levels in found.items() if name in variables}


def factored(factor: str) -> str:
    """Name of the column behind ``name``, ``C(name)`` or ``C(name, contrasts)``.

    Examples
    --------
    >>> factored("C(age, contr.treatment(base='old'))"), factored("`age group`")
    ('age', 'age group')
    """
    match = CONTRASTED.match(factor)
    return match.group(1).strip("`") if match else unwrapped(factor)


def as_at_fit(
    data: pd.DataFrame, levels: Levels, numeric: tuple[str, ...]
) -> pd.DataFrame:
    """Convert factors of numbers or booleans to the type that they had at fit.

    ``1``, ``1.0`` and ``True`` are one level, in a column of numbers as in one of
    categories. Columns with other values are left for `check_levels`.

    Parameters
    ----------
    data : DataFrame
    levels : dict
        Of `levels_at_fit`.
    numeric : tuple of str
        Columns that were numeric at fit; the others were categories.
    """
    turned = data.copy(deep=False)
    for name, known in levels.items():
        codes = positions(data[name], known)
        unseen = (codes < 0) & data[name].notna().to_numpy(dtype=bool)
        if not unseen.any() and not any(isinstance(level, str) for level in known):
            turned[name] = _of_levels(codes, known, numbers=name in numeric)
    return turned


def _of_levels(
    codes: NDArray[np.intp], known: list[Hashable], numbers: bool
) -> pd.Categorical | NDArray[np.generic]:
    """Return levels by their positions; a position of -1 is a missing value."""
    if not numbers:
        return pd.Categorical.from_codes(codes, categories=pd.Index(known))
    if (codes >= 0).all():
        return np.asarray(known)[codes]
    values = np.array([*known, None], dtype=object)
    return values[codes]


def check_levels(used: pd.DataFrame, levels: Levels, index: pd.Index) -> None:
    """Raise `ColumnError` for levels that did not occur at fit.

    Parameters
    ----------
    used : DataFrame
        Complete rows, indexed by position.
    levels : dict
        Of `levels_at_fit`.
    index : Index
        Row labels of the data.
    """
    for name, known in levels.items():
        unseen = used[name][~used[name].isin(known)]
        if len(unseen):
            raise ColumnError(
                f"Column {listing([name])} holds levels that did not occur at fit, "
                f"{listing(unseen.unique())}, in {counted(len(unseen), 'row')} "
                f"({listing(index[unseen.index])}); the model knows {listing(known)}: "
                "drop or recode these rows."
            )
