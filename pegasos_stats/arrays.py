"""Names for types of arrays and columns, and views that cannot be written to."""

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union

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
Codes = NDArray[np.intp]  # positions of labels among their levels, -1 for none
DataColumn: TypeAlias = "pd.Series[Any]"  # of numbers, text, categories, ...


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
