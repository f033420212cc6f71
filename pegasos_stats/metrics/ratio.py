"""Division that is NaN where it is not defined."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def ratio(numerator: Any, denominator: Any) -> float:
    """``numerator / denominator``, NaN where the denominator is zero.

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0)
    (0.25, nan)
    """
    if denominator == 0:
        return float("nan")
    return float(numerator) / float(denominator)
