"""Arrays: names of their types, and views that cannot be written to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]  # numbers of rows, counted from zero
Codes = NDArray[np.intp]  # positions of labels among their levels, -1 for none


def read_only(values: Any) -> Any:
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
