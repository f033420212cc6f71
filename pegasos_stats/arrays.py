"""Names for types of arrays and columns, and arrays that nobody writes to."""

from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # scipy is loaded where rows are sparse
    import pandas as pd
    from scipy.sparse import csr_array

Values = TypeVar("Values")

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Dense = NDArray[np.float64] | NDArray[np.float32]
Predictors: TypeAlias = Union[Dense, "csr_array"]  # shape (n, p)
Rows = NDArray[np.int64]  # numbers of rows, counted from zero
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.intp]  # positions of labels among their levels, -1 for none
DataColumn: TypeAlias = "pd.Series"  # of numbers, text, categories, ...


def read_only(values: Values) -> Values:
    """View an array, or each of a named tuple, as one that cannot be written to.

    Kernels are compiled for what they only read as read-only, not for both kinds: code
    for a kind costs seconds. Other values stay as they are.

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
    """Rows as a float64 array, shape (n, p), their zeros written out.

    Examples
    --------
    >>> dense_rows(np.array([[1, 2]], dtype=np.float32)).dtype
    dtype('float64')
    """
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)


def owned(values: Predictors, data: object) -> Predictors:
    """Return rows that the caller cannot change: a copy if memory may be shared.

    An array that is read-only itself, and not a view of one that can be written to, is
    taken as it is. The memory map of a file is copied: others may write to the file.

    Parameters
    ----------
    values : C-contiguous array or CSR array, shape (n, p)
    data : any
        What they were read from.

    Returns
    -------
    The same, read-only
    """
    if isinstance(data, np.ndarray) and is_frozen(values):
        return read_only(values)
    if not isinstance(values, np.ndarray):
        values = values.copy()
        parts = [values.data, values.indices, values.indptr]
    else:
        # What pandas gives a view of, read-only, the caller may still change.
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
    """Whether values are an array that nobody can write to, nor to what it views.

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
        return False  # kernels read numbers where they are aligned
    while isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.base
    return values is None
