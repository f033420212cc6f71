"""Rows from the middle of a file, without those before."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pegasos_stats.data.scan.formats import (
    ARROW,
    NPY,
    PARQUET,
    arrow_reader,
    format_of,
    parquet_file,
)
from pegasos_stats.data.scan.formats_npy import npy_batches, npy_length

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 2**14  # of a Parquet file, or an array of numpy, that are read at a time


@dataclass(frozen=True, eq=False)
class Sections:
    """The parts of a file that can be read by themselves.

    Attributes
    ----------
    edges : int array
        Rows before each section, and last all rows.
    section : callable
        Of a section's number and names of columns: its rows.
    """

    edges: np.ndarray
    section: "Callable[[int, Sequence[str]], Iterable[pa.RecordBatch]]"

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.edges[-1])

    def rows(
        self, columns: Sequence[str], first: int, count: int
    ) -> "Iterator[pa.RecordBatch]":
        """So many rows from `first` on, which are in the file."""
        number, end = int(np.searchsorted(self.edges, first, side="right")) - 1, 0
        while end < first + count:
            end = int(self.edges[number])
            for batch in self.section(number, columns):
                begin, end = end, end + batch.num_rows
                low, high = max(first, begin), min(first + count, end)
                if low < high:
                    yield batch.slice(low - begin, high - low)
                if end >= first + count:
                    return
            number += 1


def sections_of(file: str, labels: str | None = None) -> Sections | None:
    """The sections of a file; None of a format that is read from its beginning.

    Parameters
    ----------
    file : str
    labels : str, optional
        File with the labels of an array of numpy.
    """
    if format_of(file) is PARQUET:
        return _of_parquet(file)
    if format_of(file) is NPY:
        return _of_npy(file, labels)
    if format_of(file) is ARROW and hasattr(arrow_reader(file, None), "get_batch"):
        return _of_arrow(file)
    return None


def _of_parquet(file: str) -> Sections:
    facts = parquet_file(file).metadata
    sizes = [facts.row_group(k).num_rows for k in range(facts.num_row_groups)]

    def group(number: int, columns: Sequence[str]) -> "Iterator[pa.RecordBatch]":
        given = {"row_groups": [number], "columns": list(columns)}
        found: Iterator[pa.RecordBatch] = parquet_file(file).iter_batches(ROWS, **given)
        return found

    return Sections(np.cumsum([0, *sizes]), group)


def _of_npy(file: str, labels: str | None) -> Sections:
    n = npy_length(file)

    def part(number: int, columns: Sequence[str]) -> "Iterator[pa.RecordBatch]":
        first = number * ROWS
        yield from npy_batches(file, columns, ROWS, {}, labels, first)

    return Sections(np.array([*range(0, n, ROWS), n]), part)


def _of_arrow(file: str) -> Sections:
    import pyarrow as pa

    one = pa.ipc.IpcReadOptions(included_fields=[0])
    with pa.memory_map(file) as source:  # of which only the sizes are read
        reader = pa.ipc.open_file(source, options=one)
        count = reader.num_record_batches
        sizes = [reader.get_batch(k).num_rows for k in range(count)]
    return Sections(np.cumsum([0, *sizes]), partial(_batch, file))


def _batch(file: str, number: int, columns: Sequence[str]) -> "list[pa.RecordBatch]":
    names = arrow_reader(file, None).schema.names
    reader = arrow_reader(file, [names.index(name) for name in columns])
    return [reader.get_batch(number)]
