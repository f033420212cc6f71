"""What stands in the place of a matrix whose rows are in files."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pegasos_stats.arrays import Dense
from pegasos_stats.data.columns import are_finite
from pegasos_stats.data.scan.measuring import Measured, Piece
from pegasos_stats.errors import PegasosStatsError

if TYPE_CHECKING:
    import pyarrow as pa

from typing import Any, NoReturn

from pegasos_stats.errors import DataError, OptionError


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


class Elsewhere:
    """The rows of a fit from files: their shape, and where they are.

    Parameters
    ----------
    measured : Measured
    home : Home
        Of `pegasos_stats.solvers.reads.rows`: what reads them.
    """

    def __init__(self, measured: Measured, home: Any) -> None:
        self.measured, self.home = measured, home
        self.shape = measured.y.size, len(measured.agreed.design.names)
        self.digest: str | None = None  # of all rows, which would take a read

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._not_here()

    def __getitem__(self, rows: object) -> NoReturn:
        raise self._not_here()

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise self._not_here()

    @property
    def title(self) -> str:
        """What the rows were given as."""
        return self.measured.scan.title

    @property
    def noun(self) -> str:
        """Where the rows are."""
        return self.measured.scan.noun

    def _not_here(self) -> DataError:
        data = "ps.scan(...)" if self.noun == "files" else self.title
        return DataError(
            f"The training rows are in {self.noun} and not in memory; "
            f"give data= in memory, or {data} to predict()."
        )


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


def in_memory_only(option: str, title: str) -> OptionError:
    """The error for an option that needs the rows of the fit in memory."""
    return OptionError(
        f"{option}= needs the rows in memory and does not go with {title}; leave it "
        "out."
    )
