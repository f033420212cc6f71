"""Counts: a row of the data that stands for several rows, all alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.foreign import check_memory
from pegasos_stats.data.weights import numbers_of_rows
from pegasos_stats.errors import DataError, counted, listing

Positions = NDArray[np.intp]

ALLOWED = "one whole number for each row"


@dataclass(frozen=True)
class Counts:
    """How the rows of a fit were counted.

    Attributes
    ----------
    column : str
        Name of the column with the counts; empty if they were given as numbers.
    lines : int
        Rows of the data before each was repeated.
    """

    column: str
    lines: int

    @classmethod
    def of(cls, freq_weights: object, lines: int) -> "Counts":
        """Remember the column, if they are one, and the number of lines."""
        return cls(freq_weights if isinstance(freq_weights, str) else "", lines)


def repeated(freq_weights: object, data: object, index: pd.Index) -> Positions:
    """Positions of the rows, each as often as it counts.

    Parameters
    ----------
    freq_weights : Series or array, shape (n,), of whole numbers; or a column's name
        A row that counts 0 is left out.
    data : DataFrame or other
    index : Index, shape (n,)

    Returns
    -------
    int array, shape (sum of counts,)

    Raises
    ------
    ColumnError
        If there is no column of this name.
    DataError
        If there is not one whole number for each row, or the rows take more memory
        than there is.

    Examples
    --------
    >>> repeated([2, 0, 1], None, pd.RangeIndex(3)).tolist()
    [0, 0, 2]
    """
    each = numbers_of_rows("freq_weights", freq_weights, data, index, ALLOWED)
    wrong = each != np.floor(each)  # also what is missing
    if wrong.any():
        raise DataError(
            f"freq_weights hold {listing(each[wrong])} in the rows "
            f"{listing(index[wrong])}; give whole numbers, or weights= for others."
        )
    total = float(each.sum())
    if total == 0.0:
        raise DataError(
            f"freq_weights are 0 in all of {counted(len(index), 'row')}; give how many "
            "rows each stands for."
        )
    width = getattr(data, "shape", (0, 1))[-1]
    check_memory(
        total * 8.0 * (width + 2),
        f"The data, of {counted(len(index), 'row')} that stand for {total:,.0f},",
        "divide the counts, or give them as weights= if only the fit is wanted",
    )
    return np.repeat(np.arange(len(index)), each.astype(np.int64))


def taken(values: Any, rows: Positions) -> Any:
    """Rows of a frame, a Series, an array or a sparse matrix, by position."""
    if isinstance(values, pd.DataFrame | pd.Series):
        return values.iloc[rows]
    return np.asarray(values)[rows] if isinstance(values, list) else values[rows]
