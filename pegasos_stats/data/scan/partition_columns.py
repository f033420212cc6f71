"""Columns of pandas as arrow can hold them, read as they are read in memory."""

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.columns import check_hashable, plain_column
from pegasos_stats.data.factor_levels import named_levels
from pegasos_stats.data.foreign import in_known_types
from pegasos_stats.errors import ColumnError, listing

PLAIN = ("string", "bytes", "date", "empty")  # objects that arrow holds as they are


def for_arrow(column: DataColumn) -> DataColumn:
    """A column of numbers, booleans, text or categories, all of one kind.

    Objects that are numbers or booleans become these, as in memory; sparse columns
    become dense, and categories that are neither text nor numbers, such as intervals,
    text.

    Raises
    ------
    ColumnError
        If objects are of different kinds.

    Examples
    --------
    >>> for_arrow(pd.Series([1, None, 2.5], dtype=object)).tolist()
    [1.0, nan, 2.5]
    >>> for_arrow(pd.Series(pd.arrays.SparseArray([0, 1]))).dtype
    dtype('int64')
    """
    column = in_known_types(column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return named_levels(column)
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()  # type: ignore[attr-defined]
    if column.dtype == np.longdouble:
        with np.errstate(over="ignore"):  # infinity is refused later
            return column.astype(np.float64)
    return _of_one_kind(column) if column.dtype == object else column


def _of_one_kind(column: DataColumn) -> DataColumn:
    """A column of objects."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in PLAIN:
        return column
    present = column.notna().to_numpy(dtype=bool)
    plain = plain_column(column[present])
    if plain.dtype != object:
        values = pd.Series(plain.to_numpy(), np.flatnonzero(present))
        return values.reindex(range(len(column)))
    check_hashable(column.name, plain)
    found = sorted({type(value).__name__ for value in plain})
    raise ColumnError(
        f"Column {listing([column.name])} holds values of the type"
        f"{'s' * (len(found) > 1)} {', '.join(found[:5])}, and partitions are read as "
        "numbers, booleans or text, one of these in a column; make it one, or leave it "
        "out."
    )
