"""The pieces of files as blocks of rows, one after the other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pegasos_stats.arrays import Dense
from pegasos_stats.data.columns import are_finite
from pegasos_stats.data.scan.measuring import Measured, Piece
from pegasos_stats.errors import PegasosStatsError

if TYPE_CHECKING:
    import pyarrow as pa


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
