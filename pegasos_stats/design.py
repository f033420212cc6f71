"""From a frame or an array to the matrix of predictors, the same on new data."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import ColumnError, DataError, counted, listing

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ModelMatrix:
    """The complete rows of some data, as numbers.

    Attributes
    ----------
    values : float64 array, shape (n_kept, p), C-contiguous, finite
    kept : bool array, shape (n,)
        Which rows of the data have no missing value.
    index : Index, shape (n,)
        Row labels of the data.
    """

    values: Matrix
    kept: Mask
    index: pd.Index

    def spread(self, values: NDArray[np.float64]) -> "pd.Series[float]":
        """Put values of the complete rows back on all rows, NaN in the others."""
        full = np.full(len(self.index), np.nan)
        full[self.kept] = values
        return pd.Series(full, index=self.index)


class Design(Protocol):
    """What turns data into a `ModelMatrix`, at fit and again on new data."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept left out."""

    def matrix(self, data: Any) -> ModelMatrix:
        """Matrix of `data`, with the columns in the order of `names`."""


@dataclass(frozen=True)
class FrameDesign:
    """Columns of a frame by name, or of an array by position.

    Attributes
    ----------
    columns : tuple
        Column labels of the frame; for an array ``x1, x2, ...``.
    named : bool
        Whether the labels came with the data.

    Examples
    --------
    >>> design = FrameDesign.from_data(pd.DataFrame({"a": [1, 2], "b": [0.5, None]}))
    >>> design.matrix(pd.DataFrame({"b": [3.0], "a": [4]})).values
    array([[4., 3.]])
    """

    columns: tuple[Any, ...]
    named: bool

    @classmethod
    def from_data(cls, X: Any) -> "FrameDesign":
        """Take the columns of `X`: a frame, a Series or a 2-D array."""
        frame = as_frame(X)
        repeated = frame.columns[frame.columns.duplicated()].unique()
        if len(repeated):
            raise ColumnError(
                f"Column names must differ; {listing(repeated)} occur more than once: "
                "rename them."
            )
        if frame.shape[1] == 0:
            raise ColumnError("X has no columns; give at least one predictor.")
        return cls(tuple(frame.columns), isinstance(X, pd.DataFrame | pd.Series))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return tuple(str(column) for column in self.columns)

    def matrix(self, data: Any) -> ModelMatrix:
        """Matrix of `data`, columns in the order of the fit.

        Raises
        ------
        ColumnError
            If columns are missing, not numeric, or hold infinite values.
        """
        frame = self._select(data)
        values = numeric_values(frame)
        check_finite(values, frame)
        kept = complete(values)
        return ModelMatrix(selected(values, kept), kept, frame.index)

    def _select(self, data: Any) -> pd.DataFrame:
        frame = as_frame(data)
        if self.named and isinstance(data, pd.DataFrame | pd.Series):
            check_columns(frame, self.columns)
            return frame[list(self.columns)]
        if frame.shape[1] != len(self.columns):
            raise ColumnError(
                f"The data have {counted(frame.shape[1], 'column')}; the model was "
                f"fitted on {len(self.columns)}: give the same columns."
            )
        return frame.set_axis(list(self.columns), axis=1)


def selected(values: Matrix, kept: Mask) -> Matrix:
    """Rows of `values` that are kept, C-contiguous; no copy where none is needed."""
    return np.ascontiguousarray(values if kept.all() else values[kept])


def complete(values: Matrix) -> Mask:
    """Which rows of `values` have no NaN."""
    return np.asarray(~np.isnan(values).any(axis=1))


def as_frame(X: Any) -> pd.DataFrame:
    """View a frame, a Series or a 2-D array as a frame.

    Raises
    ------
    DataError
        If `X` does not have rows and columns.
    """
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, pd.Series):
        return X.to_frame(name="x1" if X.name is None else X.name)
    array = np.asarray(X)
    if array.ndim != 2:
        raise DataError(
            f"X has {counted(array.ndim, 'dimension')}; give a data frame or an array "
            "with one row for each observation and one column for each predictor."
        )
    names = [f"x{j + 1}" for j in range(array.shape[1])]
    return pd.DataFrame(array, columns=names, copy=False)


def check_columns(frame: pd.DataFrame, columns: Any) -> None:
    """Raise `ColumnError` naming the columns that `frame` does not have."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        noun = "Column" if len(missing) == 1 else "Columns"
        raise ColumnError(
            f"{noun} {listing(missing)} not found; the data have "
            f"{listing(frame.columns, 8)}: check the spelling or add the column."
        )


def numeric_values(frame: pd.DataFrame) -> Matrix:
    """Numbers of a frame as float64, shape (n, p), missing values as NaN.

    Raises
    ------
    ColumnError
        If a column holds anything but numbers, booleans and missing values.
    """
    if all(isinstance(d, np.dtype) and d.kind in "fiub" for d in frame.dtypes):
        return frame.to_numpy(dtype=np.float64)
    columns = [_numeric_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return np.column_stack(columns)


def check_finite(values: Matrix, frame: pd.DataFrame) -> None:
    """Raise `ColumnError` naming the first column with infinite values, and rows."""
    infinite = np.isinf(values)
    if infinite.any():
        j = int(infinite.any(axis=0).argmax())
        rows = frame.index[infinite[:, j]]
        raise ColumnError(
            f"Column {plain_name(frame.columns[j])} holds infinite values in "
            f"{counted(len(rows), 'row')} ({listing(rows)}); only finite numbers and "
            "missing values are allowed: replace them or drop the rows."
        )


def plain_name(column: Any) -> str:
    """Write a column label as it stands in messages."""
    return listing([column])


def _numeric_column(column: "pd.Series[Any]") -> Matrix:
    """One column as float64, or an error naming what is not a number, and where."""
    if pd.api.types.is_numeric_dtype(column) and column.dtype.kind != "c":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    missing = column.isna().to_numpy(dtype=bool)
    values = column.to_numpy(dtype=object)
    numeric = np.array([isinstance(v, int | float | np.number) for v in values], bool)
    wrong = ~numeric & ~missing
    if wrong.any() or isinstance(column.dtype, pd.CategoricalDtype):
        wrong = wrong if wrong.any() else ~missing
        raise ColumnError(_not_numeric_message(column[wrong]))
    return np.where(missing, np.nan, values).astype(np.float64)


def _not_numeric_message(wrong: "pd.Series[Any]") -> str:
    found = wrong.astype(str).unique()
    return (
        f"Column {plain_name(wrong.name)} is not numeric: it holds {listing(found, 3)} "
        f"in {counted(len(wrong), 'row')} ({listing(wrong.index)}); give numbers, or "
        "take the column into a formula as a factor from the start."
    )
