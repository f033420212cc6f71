"""Names for types of arrays, columns and axes of figures; read-only arrays."""

from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # imported only where sparse rows or figures are used
    import matplotlib.axes
    import pandas as pd
    from scipy.sparse import csr_array

Values = TypeVar("Values")

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Dense = NDArray[np.float64] | NDArray[np.float32]
SparseRows: TypeAlias = "csr_array"
Predictors: TypeAlias = Union[Dense, "csr_array"]  # shape (n, p)
Rows = NDArray[np.int64]  # positions of rows, from zero
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.intp]  # positions of labels among their levels, -1 for none
Axes: TypeAlias = "matplotlib.axes.Axes"
DataColumn: TypeAlias = "pd.Series"  # of numbers, text, categories, ...

UNIT = 2.0**-53  # maximum relative rounding error of one operation on doubles


def read_only(values: Values) -> Values:
    """Return a read-only view of an array, or of all arrays of a named tuple.

    Functions are compiled only for read-only inputs: compiling them for writable inputs
    too would add seconds. Other values are returned unchanged.

    Examples
    --------
    >>> read_only(np.zeros(3)).flags.writeable
    False
    """
    if isinstance(values, tuple):
        return type(values)(*map(read_only, values))
    if not isinstance(values, np.ndarray) or not values.flags.writeable:
        return values
    view = values.view()
    view.flags.writeable = False
    return view


def dense_rows(X: Predictors) -> Matrix:
    """Return rows as a dense float64 array, shape (n, p).

    Examples
    --------
    >>> dense_rows(np.array([[1, 2]], dtype=np.float32)).dtype
    dtype('float64')
    """
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)


def owned(values: Predictors, data: object) -> Predictors:
    """Return rows that the caller cannot change: a copy if memory may be shared.

    A read-only array is not copied, unless it is a view of a writable array. The memory
    map of a file is copied, because other processes may write to the file.

    Parameters
    ----------
    values : C-contiguous array or CSR array, shape (n, p)
    data : any
        Source of the values.

    Returns
    -------
    The same values, read-only
    """
    if isinstance(data, np.ndarray) and is_frozen(values):
        return read_only(values)
    if not isinstance(values, np.ndarray):
        values = values.copy()
        parts = [values.data, values.indices, values.indptr]
    else:
        # pandas may return a read-only view of data that the caller can still change.
        new = values.flags.owndata and values.flags.writeable
        if not new or (
            isinstance(data, np.ndarray) and np.may_share_memory(values, data)
        ):
            values = values.copy()
        parts = [values]
    for part in parts:
        part.flags.writeable = False
    return values


def is_frozen(values: object) -> bool:
    """Return whether an array and the arrays that it views are read-only.

    Examples
    --------
    >>> values = np.zeros(3)
    >>> is_frozen(read_only(values))
    False
    >>> values.flags.writeable = False
    >>> is_frozen(values), is_frozen(values[1:])
    (True, True)
    """
    if isinstance(values, np.ndarray) and not values.flags.aligned:
        return False  # compiled functions require aligned numbers
    while isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.base
    return values is None
