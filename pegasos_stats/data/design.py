"""Predictors from a frame, an array or a sparse matrix, at the fit and on new data."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn, Mask, Predictors, SparseRows, Vector
from pegasos_stats.data import user_data
from pegasos_stats.data.files import SEPARATED, separator_in
from pegasos_stats.errors import ColumnError, DataError, counted, listing

Table: TypeAlias = Union[pd.DataFrame, NDArray[np.generic], "SparseRows"]


@dataclass(frozen=True, eq=False)
class ModelMatrix:
    """Design matrix of the complete rows of some data.

    Attributes
    ----------
    values : float64 or float32 array, C-contiguous; or CSR array; shape (n_complete, p)
        Finite numbers.
    complete : bool array, shape (n,)
        Which rows of the data have no missing value.
    index : Index, shape (n,)
        Row labels of the data.
    missing : dict of str to int array
        Positions of the rows without a value, for each column that has such rows.
    offset : float64 array, shape (n_complete,), or None
        Offset of each row, if the model has an offset.
    """

    values: Predictors
    complete: Mask
    index: pd.Index
    missing: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)
    offset: NDArray[np.float64] | None = None

    def spread(self, values: NDArray[np.float64]) -> DataColumn:
        """Extend values of the complete rows to all rows, with NaN."""
        full = np.full(len(self.index), np.nan)
        full[self.complete] = values
        return pd.Series(full, index=self.index)

    def take_rows(self, rows: NDArray[np.intp]) -> "ModelMatrix":
        """Return the matrix of rows selected by position, possibly repeated."""
        complete = self.complete[rows]
        at = (np.cumsum(self.complete) - 1)[rows[complete]]
        missing = {k: np.flatnonzero(np.isin(rows, v)) for k, v in self.missing.items()}
        offset = None if self.offset is None else self.offset[at]
        return ModelMatrix(self.values[at], complete, self.index[rows], missing, offset)


class Design(Protocol):
    """Rule that converts data to a `ModelMatrix`, at the fit and on new data."""

    @property
    def formula(self) -> str | None:
        """The formula, if there is one."""

    @property
    def functions(self) -> Mapping[str, Callable[..., object]]:
        """Functions of the caller that the formula may call."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, without the intercept."""

    def matrix(self, data: object) -> ModelMatrix:
        """Matrix of `data`, with the columns in the order of `names`."""


@dataclass(frozen=True)
class FrameDesign:
    """Design of the columns of a frame, by name, or of an array, by position.

    Attributes
    ----------
    columns : tuple
        Column labels of the frame; for an array ``x1, x2, ...``.
    named : bool
        Whether the data are a frame or a Series, which has column names.
    formula : str or None
        The formula whose terms are these columns, if there was one.
    functions : dict of str to callable
        Functions of the caller that the outcome of the formula may call.

    Examples
    --------
    >>> design = FrameDesign.from_data(pd.DataFrame({"a": [1, 2], "b": [0.5, None]}))
    >>> design.matrix(pd.DataFrame({"b": [3.0], "a": [4]})).values
    array([[4., 3.]])
    """

    columns: tuple[Hashable, ...]
    named: bool
    formula: str | None = None
    functions: Mapping[str, Callable[..., object]] = field(
        default_factory=dict, compare=False
    )

    @classmethod
    def from_data(cls, X: object) -> "FrameDesign":
        """Design of the columns of a frame, a Series, a 2-D array or a sparse matrix.

        Raises
        ------
        ColumnError
            If there is no column, or two have the same name.
        DataError
            If `X` does not have rows and columns.
        """
        table = table_of(X)
        columns = column_labels(table)
        if len(columns) == 0:
            raise ColumnError("X has no columns; at least one predictor is needed.")
        named = isinstance(X, pd.DataFrame | pd.Series)
        if named:
            try:
                names = pd.Index([str(column) for column in columns], dtype=object)
            except Exception:  # str() of a foreign object may raise any exception
                what = "A column has a name that cannot be written as text; rename it."
                raise ColumnError(what) from None
            check_unique(names)
            if wrong := [name for name in names if not user_data.is_valid_text(name)]:
                raise ColumnError(
                    f"Column {listing(wrong)} has a name that is not valid text of up "
                    f"to {user_data.LONGEST_TEXT:,} characters; rename it."
                )
        if "Intercept" in columns:
            raise ColumnError("A column is called 'Intercept'; rename it.")
        return cls(tuple(columns.tolist()), named)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return tuple(str(column) for column in self.columns)

    def matrix(self, data: object) -> ModelMatrix:
        """Matrix of `data`, columns in the order of the fit.

        Raises
        ------
        ColumnError
            If columns are missing, not numeric, or hold infinite values.
        """
        table = table_of(data)
        if self.named and isinstance(table, pd.DataFrame):
            check_columns(table, self.columns)
            table = table.iloc[:, table.columns.get_indexer(labels_of(self.columns))]
        elif table.shape[1] != len(self.columns):
            raise ColumnError(
                f"The data have {counted(table.shape[1], 'column')}; the model was "
                f"fitted on {len(self.columns)}: use the same columns."
            )
        index, labels = row_labels(table), column_labels(table)
        is_sparse = user_data.is_sparse(table)
        numbers = user_data.sparse_values if is_sparse else user_data.numeric_values
        values = numbers(table)
        whole = user_data.checked_rows(values, labels, index)
        missing = {} if whole.all() else user_data.missing_values(values, self.names)
        return ModelMatrix(user_data.selected(values, whole), whole, index, missing)


def table_of(X: Any) -> Table:
    """View data as a frame, a plain array of numbers or a sparse matrix.

    Raises
    ------
    DataError
        If `X` does not have rows and columns.
    """
    if user_data.is_plain(X):
        return X
    if isinstance(X, pd.DataFrame | pd.Series) or not user_data.is_sparse(X):
        return as_frame(X)
    if len(X.shape) != 2:
        dimensions = counted(len(X.shape), "dimension")
        raise errors.DataError(
            f"The sparse predictors have {dimensions}; use a matrix with one row for "
            "each observation and one column for each predictor."
        )
    return X


def row_labels(X: object) -> pd.Index:
    """Row labels of a frame; 0, 1, ... of anything else."""
    table = table_of(X)
    if isinstance(table, pd.DataFrame):
        return table.index
    return pd.RangeIndex(table.shape[0])


def column_labels(X: object) -> pd.Index:
    """Column labels of a frame; ``x1, x2, ...`` of anything else."""
    table = table_of(X)
    if isinstance(table, pd.DataFrame):
        return table.columns
    p = table.shape[1]
    user_data.check_memory(
        100.0 * p,  # bytes of a name and a coefficient
        f"A model of {p:,} columns",
        "drop the columns that are not needed, or renumber them",
    )
    return pd.Index([f"x{j + 1}" for j in range(p)], dtype=object)


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
    refused = errors.DataError(
        f"The predictors (of type {type(X).__name__}) cannot be read as rows of "
        "equal length; use a data frame or an array."
    )
    with user_data.convert_errors(refused):
        is_masked = np.ma.isMaskedArray(X)
        array = np.ma.filled(X.astype(float), np.nan) if is_masked else np.asarray(X)
    if array.ndim != 2:
        shape = f"{counted(array.ndim, 'dimension')}" if array.ndim else "no rows"
        raise errors.DataError(
            f"The predictors (of type {type(X).__name__}) have {shape}; use an array "
            "with one row for each observation (X.reshape(-1, 1) for one predictor)."
        )
    names = [f"x{j + 1}" for j in range(array.shape[1])]
    try:
        return pd.DataFrame(array, columns=names, copy=False)
    except UnicodeEncodeError:  # text that pandas cannot store as a string
        return pd.DataFrame(array, columns=names, dtype=object)


def check_unique(columns: pd.Index) -> None:
    """Raise `ColumnError` naming the labels that occur more than once."""
    repeated = columns[columns.duplicated()].unique()
    if len(repeated):
        raise ColumnError(
            f"Column {listing(repeated)} occurs more than once; rename the columns."
        )


def check_columns(frame: pd.DataFrame, columns: Iterable[Hashable]) -> None:
    """Raise `ColumnError` naming the columns that `frame` does not have."""
    columns, names = list(columns), {*frame.columns}
    if len(names) == len(frame.columns) and names.issuperset(columns):
        return
    wanted = labels_of(columns)
    missing = list(wanted[~wanted.isin(frame.columns)])
    if not missing:
        check_unique(frame.columns[frame.columns.isin(wanted)])
        return
    near = errors.did_you_mean(missing[0], frame.columns) if len(missing) == 1 else ""
    raise ColumnError(
        f"{'Column' if len(missing) == 1 else 'Columns'} {listing(missing)} not found"
        f"{near}; the data have {listing(frame.columns, 8)}: "
        f"{missing_cure(frame.columns)}."
    )


def missing_cure(columns: Sequence[Hashable] | pd.Index) -> str:
    """Suggest a remedy for missing columns."""
    if mark := separator_in(columns, ""):
        return (
            f"the file has {SEPARATED[mark]} between its columns; read it with "
            f"sep={mark!r}, and with decimal=',' if numbers are like 1,5"
        )
    return (
        "check the spelling and the header; in a formula enclose names with spaces or "
        "signs in backticks, and write C(g) for i.g of Stata"
    )


def labels_of(columns: Iterable[Hashable]) -> pd.Index:
    """Return labels as an Index of objects, even if they are tuples or booleans."""
    return pd.Index(list(columns), dtype=object, tupleize_cols=False)


def check_distinct(names: Sequence[object]) -> None:
    """Raise `ColumnError` if two columns of the design matrix have the same name.

    Examples
    --------
    >>> check_distinct(["a", "b", "a:b"])
    """
    if twice := [name for name, times in Counter(map(str, names)).items() if times > 1]:
        raise ColumnError(
            f"Two columns of the model have the name {listing(twice)}; rename a column "
            "of the data."
        )


@dataclass(frozen=True, eq=False)
class Scaling:
    """Standardization ``z_j = (x_j - centre_j) / scale_j`` of every column ``j``.

    Attributes
    ----------
    centre : float64 array, shape (p,)
        Means; 0 for sparse data, which centring would make dense, and for models
        without an intercept.
    scale : float64 array, shape (p,)
        Standard deviations with the divisor ``n - 1``; 1 for a constant column. With
        weights, both are weighted, see `moments`.
    """

    centre: Vector
    scale: Vector

    _field_rules = "centre p finite, scale p positive finite"

    @classmethod
    def of(
        cls,
        X: Predictors,
        intercept: bool = True,
        weights: Vector | None = None,
        count: float | None = None,
    ) -> "Scaling":
        """Means and standard deviations of the columns of `X`, shape (n, p).

        Weights and their count are as for `moments`.

        Raises
        ------
        DataError
            If the sum of a column overflows.

        Examples
        --------
        >>> Scaling.of(np.array([[1.0, 5.0], [3.0, 5.0]])).scale.round(3)
        array([1.414, 1.   ])
        """
        with np.errstate(over="ignore", invalid="ignore"):
            means, deviations = moments(X, weights, count)
        if not np.isfinite(deviations).all():
            raise overflow()
        return cls.of_moments(
            means, deviations, intercept and isinstance(X, np.ndarray)
        )

    @classmethod
    def of_moments(
        cls, means: Vector, deviations: Vector, centred: bool = True
    ) -> "Scaling":
        """Scaling by these means and standard deviations."""
        size = np.maximum(np.abs(means), deviations)
        constant = deviations <= 1e-12 * size  # at most the rounding error of the mean
        return cls(
            centre=means if centred else np.zeros(means.size),
            scale=np.where(constant, 1.0, deviations),
        )

    def apply(self, X: Predictors) -> Predictors:
        """Return the scaled columns, with the dtype of `X`.

        A CSR array becomes dense if any `centre` is not 0.
        """
        if not isinstance(X, np.ndarray) and self.centre.any():
            X = X.toarray()
        if isinstance(X, np.ndarray):
            scaled = X - self.centre
            scaled /= self.scale
            return np.ascontiguousarray(scaled, dtype=X.dtype)
        scaled = X.copy()
        scaled.data = (X.data / self.scale[X.indices]).astype(X.dtype)
        return scaled

    def unapply(self, X: Predictors) -> Predictors:
        """Invert `apply`, up to rounding errors."""
        if isinstance(X, np.ndarray):
            return X * self.scale + self.centre
        unscaled = X.astype(np.float64)
        unscaled.data = unscaled.data * self.scale[unscaled.indices]
        return unscaled

    def undone(self, beta: Vector, alpha: float) -> tuple[Vector, float]:
        """Convert coefficients of the scaled columns to those of the original columns.

        They are ``beta_j / scale_j``, and ``alpha - sum_j centre_j beta_j / scale_j``
        is the intercept. The scores do not change.
        """
        original = beta / self.scale
        return original, float(alpha - self.centre @ original)

    def undoing(self, intercept: bool) -> NDArray[np.float64]:
        """Matrix of the linear map `undone`, from ``(alpha, beta)`` or only ``beta``.

        Returns
        -------
        float64 array, shape (k, k)

        Examples
        --------
        >>> Scaling(np.array([3.0]), np.array([2.0])).undoing(intercept=True)
        array([[ 1. , -1.5],
               [ 0. ,  0.5]])
        """
        slopes = np.diag(1.0 / self.scale)
        if not intercept:
            return slopes
        first = np.concatenate([[1.0], -self.centre / self.scale])
        return np.vstack([first, np.insert(slopes, 0, 0.0, axis=1)])


def overflow() -> DataError:
    """Return the error for columns whose sum overflows."""
    return DataError(
        "The sum of a column overflows; divide the predictors by a power of ten first."
    )


def moments(
    X: Predictors, weights: Vector | None = None, count: float | None = None
) -> tuple[Vector, Vector]:
    """Means and standard deviations of the columns.

    The mean is ``m = sum_i w_i x_i / W``, the variance is ``sum_i w_i (x_i - m)^2 / (W
    - W / N)``, with ``W = sum_i w_i``. If every weight is 1 the divisor is ``n - 1``.
    The standard deviation of a single row is 0.

    Parameters
    ----------
    X : array or CSR array, shape (n, p)
    weights : float64 array, shape (n,), optional
    count : float, optional
        ``N``, by default the number of rows with a positive weight; see
        `rows_of_weights`.

    Examples
    --------
    >>> moments(np.array([[1.0], [3.0]]))
    (array([2.]), array([1.41421356]))
    >>> moments(np.array([[1.0], [3.0]]), np.array([2.0, 1.0]), 3.0)  # 1, 1, 3
    (array([1.66666667]), array([1.15470054]))
    """
    n: float = X.shape[0]
    if weights is not None:
        n, count = float(weights.sum()), count or float((weights > 0.0).sum())
    divisor = n - n / (count or n) or n
    if isinstance(X, np.ndarray):
        means = X.mean(axis=0, dtype=np.float64)
        if weights is not None:
            means = weights @ X / n
        centred = X - means
        power = power_of_two(np.maximum(centred.max(axis=0), -centred.min(axis=0)))
        squares = np.square(np.ldexp(centred, -power, out=centred), out=centred)
        squares = squares.sum(axis=0) if weights is None else weights @ squares
    else:
        w = np.ones(X.shape[0]) if weights is None else weights
        w = np.repeat(w, np.diff(X.indptr))
        means = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
        if weights is not None:
            means = np.asarray(weights @ X).ravel() / n
        centred, columns = X.data - means[X.indices], X.indices
        furthest = np.abs(means)
        np.maximum.at(furthest, columns, np.abs(centred))
        power = power_of_two(furthest)
        squares = np.zeros(X.shape[1])
        np.add.at(squares, columns, w * np.square(np.ldexp(centred, -power[columns])))
        stored = np.bincount(columns, w, minlength=X.shape[1])
        squares += np.maximum(n - stored, 0.0) * np.square(np.ldexp(means, -power))
    return means, np.ldexp(np.sqrt(squares / divisor), power)


def power_of_two(sizes: Vector | float) -> NDArray[np.int32]:
    """Exponents ``e`` with ``size / 2^e`` in [1/2, 1), whose squares are in range."""
    return np.asarray(np.frexp(sizes)[1], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class ScaledDesign:
    """A design with standardized columns; new data are scaled as the training data.

    Attributes
    ----------
    design : Design
    scaling : Scaling
    """

    design: Design
    scaling: Scaling

    _field_rules = "names p, scaling.centre p"

    @property
    def formula(self) -> str | None:
        """The formula, if there is one."""
        return self.design.formula

    @property
    def functions(self) -> Mapping[str, Callable[..., object]]:
        """Functions of the caller that the formula may call."""
        return self.design.functions

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, without the intercept."""
        return self.design.names

    def matrix(self, data: object) -> ModelMatrix:
        """Scaled matrix of `data`, with the columns in the order of `names`."""
        matrix = self.design.matrix(data)
        return replace(matrix, values=self.scaling.apply(matrix.values))


def unscaled(design: Design) -> Design:
    """Return the design of the predictors before any standardization."""
    return design.design if isinstance(design, ScaledDesign) else design
