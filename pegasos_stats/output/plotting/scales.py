"""Scales of axes: logarithmic ones, and shares in percent."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDE = 10.0  # ratio of the largest to the smallest value

Floats = NDArray[np.float64]


def wide(values: Floats) -> bool:
    """Whether positive numbers span more than a factor of ten.

    Examples
    --------
    >>> wide(np.array([1.0, 9.0])), wide(np.array([1.0, 11.0]))
    (False, True)
    """
    return bool(values.max() > WIDE * values.min())


def write_decimals(values: Floats, axis: Any) -> None:
    """Label 1, 2 and 5 of each decade where there are not many decades."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if values.max() <= WIDE**2 * values.min():
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def write_percent(axis: Any) -> None:
    """Label shares in percent."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100.0 * share:.3g}%"))
