"""The pieces of files as blocks of rows, one after the other or in any order."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pegasos_stats.advice import Setting, said
from pegasos_stats.arrays import Dense, Rows
from pegasos_stats.data.columns import are_finite
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.formats import of_equal_size, unreadable
from pegasos_stats.data.scan.measuring import Measured, Piece
from pegasos_stats.data.scan.seeking import Sections, sections_of
from pegasos_stats.errors import OptionError, PegasosStatsError, counted
from pegasos_stats.writing.paths import shown_path

if TYPE_CHECKING:
    import pyarrow as pa

IN_BLOCKS, IN_SEQUENCE = Setting("order", "blocks"), Setting("order", "sequential")


class Place(NamedTuple):
    """Where a piece is.

    Attributes
    ----------
    file : str
    sections : Sections or None
        None if it is the only piece of its file.
    first, size : int
        Its first row in the file, and how many rows it has.
    """

    file: str
    sections: Sections | None
    first: int
    size: int


class Whole(NamedTuple):
    """The rows of a piece that are used.

    Attributes
    ----------
    first : int
        Number of the first of them among all that are used.
    X : float64 or float32 array, shape (k, p), C-contiguous
    """

    first: int
    X: Dense


def rows_used(measured: Measured, piece: Piece, table: "pa.RecordBatch") -> Dense:
    """Rows of a piece that are used.

    Raises
    ------
    DataError
        If they are not as they were.
    """
    matrices = measured.matrices
    if piece.clean:
        X = matrices.rows(matrices.numbers(table))
        X = X if piece.usable is None else X[piece.usable]
    else:
        try:
            found = matrices.matrix(table, usable=piece.usable)
        except PegasosStatsError:  # of values that there were none of
            raise measured.changed() from None
        X = found.values
        if piece.usable is not None:
            X = X[piece.usable[found.kept]]
    if len(X) != piece.used or not are_finite(X):
        raise measured.changed()
    return X


def in_sequence(measured: Measured) -> Iterator[Whole]:
    """All rows that are used, once, in the order of the files."""
    for piece, first, table in measured.tables():
        if piece.used:
            yield Whole(first, rows_used(measured, piece, table))


class Blocks:
    """Pieces with rows that are used, to be read in any order.

    Parameters
    ----------
    measured : Measured
        Of a scan.

    Attributes
    ----------
    sizes : int array
        Rows of each that are used, none without any.

    Raises
    ------
    OptionError
        If a piece is in the middle of a file that has to be read from its beginning, or
        rows are counted.
    DataError
        If the files are not as they were.
    """

    def __init__(self, measured: Measured) -> None:
        assert isinstance(measured.scan, Scan)
        if measured.agreed.rows.column is not None:
            raise OptionError(
                said(
                    *(IN_BLOCKS, " does not go with ", Setting("freq_weights")),
                    *("; give ", IN_SEQUENCE),
                    ", or files that hold each row as often as it counts.",
                )
            )
        self._measured, self._scan = measured, measured.scan
        measured.check_unchanged()
        used = [piece.used for piece in measured.pieces]
        sizes = [piece.size for piece in measured.pieces]
        self._firsts = np.cumsum([0, *used])
        self._which = np.flatnonzero(used)
        self.sizes: Rows = np.array(used, dtype=np.int64)[self._which]
        self._places = [place for file in self._scan.files for place in self._in(file)]
        if [place.size for place in self._places] != sizes:
            raise measured.changed()

    def block(self, number: int) -> Whole:
        """Read a block."""
        measured, k = self._measured, int(self._which[number])
        piece, (file, sections, first, size) = measured.pieces[k], self._places[k]
        measured.check_unchanged(file)
        names = list(measured.matrices.variables)
        try:
            if sections is None:
                parts = self._from_the_beginning(file, names)
            else:
                parts = sections.rows(names, first, size)
            tables = [
                table.select(names) for table in of_equal_size(parts, measured.step)
            ]
        except Exception as error:  # of pyarrow
            raise unreadable(file, error) from None
        measured.check_unchanged(file)
        if [table.num_rows for table in tables] != [size]:
            raise measured.changed()
        X = rows_used(measured, piece, tables[0])
        return Whole(int(self._firsts[k]), X)

    def _in(self, file: str) -> list[Place]:
        """The pieces of a file."""
        step = self._measured.step
        try:
            sections = sections_of(file, self._scan.labels_of(file))
            if sections is not None:
                n = sections.n
                starts = range(0, n, step)
                return [Place(file, sections, k, min(step, n - k)) for k in starts]
            names = list(self._measured.matrices.variables)
            pieces = list(islice(self._from_the_beginning(file, names), 2))
        except Exception as error:  # of pyarrow
            raise unreadable(file, error) from None
        if len(pieces) > 1:
            raise OptionError(
                said(
                    IN_BLOCKS,
                    f" reads blocks of {counted(step, 'row')} in any order, and "
                    f"{shown_path(file)}, which has more rows, can only be read from "
                    "first to last; write it as Parquet, or give ",
                    *(IN_SEQUENCE, "."),
                )
            )
        return [Place(file, None, 0, piece.num_rows) for piece in pieces]

    def _from_the_beginning(
        self, file: str, names: list[str]
    ) -> "Iterator[pa.RecordBatch]":
        how, types = self._scan.format_of(file)
        step = self._measured.step
        return of_equal_size(how.batches(file, names, step, types), step)
