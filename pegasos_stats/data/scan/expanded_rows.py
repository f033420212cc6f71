"""Rows of a scan, each as often as a column of counts says."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.formats import BOOLEANS, NUMBERS, OBJECTS
from pegasos_stats.data.scan.partitions import Partition, Partitions
from pegasos_stats.data.weights import (
    COUNTS_ALLOWED,
    all_zero,
    column_named,
    whole_counts,
)
from pegasos_stats.errors import ColumnError, listing

if TYPE_CHECKING:
    import pyarrow as pa


class ExpandedRows:
    """All rows of a scan, as often as each counts.

    Parameters
    ----------
    scan : Scan, Partitions, or one Partition
    column : str or None
        With the counts; None if each row counts once.

    Attributes
    ----------
    lines : int
        Rows of the scan, as the last read counted them.

    Raises
    ------
    ColumnError
        If there is no such column of numbers in all of the scan.
    """

    def __init__(self, scan: Scan | Partition | Partitions, column: str | None) -> None:
        self.scan, self.column, self.lines = scan, column, 0
        if column is None or isinstance(scan, Partition):
            return
        if column not in scan.kinds:
            column_named("freq_weights", column, None, COUNTS_ALLOWED)
        scan.check([column])
        if scan.kinds[column] not in (NUMBERS, BOOLEANS, OBJECTS):
            raise ColumnError(
                f"Column {listing([column])} of freq_weights holds "
                f"{scan.kinds[column]}; give a column of whole numbers."
            )

    def of(self, partition: Partition) -> "ExpandedRows":
        """The rows of a partition, counted by the same column."""
        return ExpandedRows(partition, self.column)

    def lean(self) -> "ExpandedRows":
        """No rows, counted by the same column: what is sent to partitions."""
        return self.of(Partition(pd.DataFrame(), self.scan.memory))

    def columns(self, names: Sequence[str]) -> list[str]:
        """These columns, and that of the counts."""
        counts = [] if self.column is None else [self.column]
        return [*dict.fromkeys([*names, *counts])]

    def pieces(
        self, columns: Sequence[str], rows: int | None = None
    ) -> Iterator["pa.RecordBatch"]:
        """Read all rows once, as `labelled` does."""
        return (piece for _, piece in self.labelled(columns, rows))

    def labelled(
        self, columns: Sequence[str], rows: int | None = None
    ) -> Iterator[tuple[pd.Index, "pa.RecordBatch"]]:
        """Read all rows once, so many at a time, the same each time, with their labels.

        Raises
        ------
        DataError
            If a file cannot be read to its end, or a count is no whole number.
        """
        import pyarrow as pa

        assert not isinstance(self.scan, Partitions)  # each of them has its own
        names, step = list(columns), rows or self.scan.rows_at_once(columns)
        lines = total = 0
        for index, piece in self.scan.labelled(self.columns(names), step):
            lines += piece.num_rows
            if self.column is None:
                yield index, piece
                continue
            counts = piece.column(self.column).to_pandas().set_axis(index)
            each = whole_counts(counts, None, index)
            each[np.isnan(each)] = 1.0  # a row that is then left out
            ends = np.cumsum(each.astype(np.int64))
            there = int(ends[-1]) if ends.size else 0
            for first in range(0, there, step):
                numbers = np.arange(first, min(there, first + step))
                places = np.searchsorted(ends, numbers, side="right")
                yield index.take(places), piece.select(names).take(pa.array(places))
            total += there
        alone = not isinstance(self.scan, Partition)
        if self.column is not None and total == 0 and alone:
            raise all_zero(lines)
        self.lines = lines
