"""Frequency weights: a row of the data that stands for several equal rows."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.data.columns import rows_listed
from pegasos_stats.data.foreign import check_memory
from pegasos_stats.data.weights import column_named, numbers_of_rows
from pegasos_stats.errors import DataError, counted, listing

Positions = NDArray[np.intp]

ALLOWED = "one whole number for each row"
MOST = 2.0**53  # up to which a double holds every whole number


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

    def __str__(self) -> str:
        by = f" by {self.column}" if self.column else ""
        return f"{counted(self.lines, 'line')}{by}"

    @classmethod
    def of(cls, freq_weights: object, lines: int) -> "Counts":
        """Remember the column, if they are one, and the number of lines."""
        return cls(freq_weights if isinstance(freq_weights, str) else "", lines)


def repeated(
    freq_weights: object, data: object, index: pd.Index, missing: int = 0
) -> Positions:
    """Positions of the rows, each as often as it counts.

    Parameters
    ----------
    freq_weights : Series or array, shape (n,), of whole numbers; or a column's name
        A row that counts 0 is left out.
    data : DataFrame or other
    index : Index, shape (n,)
    missing : int, default 0
        How often a row stands there whose count is missing.

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
    each = whole_counts(freq_weights, data, index)
    each = np.where(np.isnan(each), float(missing), each)
    total = float(each.sum())
    if total == 0.0:
        raise all_zero(len(index))
    width = getattr(data, "shape", (0, 1))[-1]
    check_memory(
        total * 8.0 * (width + 2),
        f"A table of {counted(len(index), 'row')} that stand for {total:,.0f}",
        "give the counts as weights= if only coefficients are wanted",
    )
    return np.repeat(np.arange(len(index)), each.astype(np.int64))


def whole_counts(freq_weights: object, data: object, index: pd.Index) -> Vector:
    """How often each row counts, as `repeated` reads it; NaN where that is missing."""
    each = numbers_of_rows("freq_weights", freq_weights, data, index, ALLOWED)
    wrong = (each != np.floor(each)) & ~np.isnan(each) | (each > MOST)
    if wrong.any():
        raise DataError(
            f"freq_weights hold {listing(each[wrong])} in the rows "
            f"{rows_listed(index[wrong])}; give whole numbers up to 2^53, or weights= "
            "for others."
        )
    return each


def all_zero(rows: int) -> DataError:
    """The error for counts none of which is above zero."""
    return DataError(
        f"freq_weights are 0 in all of {counted(rows, 'row')}; give how many rows each "
        "stands for."
    )


def column_of_counts(given: object, counts: Counts | None, data: object) -> object:
    """Counts of new data: those given, or the column of the fit, if it is there.

    Parameters
    ----------
    given : as `repeated` takes them, or None
    counts : Counts or None
        How the rows of the fit were counted.
    data : DataFrame or other

    Returns
    -------
    Series, array or None

    Raises
    ------
    ColumnError
        If a name was given and there is no column of it.
    """
    if given is None and counts is not None and isinstance(data, pd.DataFrame):
        is_there = counts.column != "" and counts.column in data.columns
        return data[counts.column] if is_there else None
    if isinstance(given, str):
        return column_named("freq_weights", given, data, ALLOWED)
    return given
