"""Rows in files or partitions, read from first to last, some blocks at a time.

Of a Dask frame a read sends its work to each partition and brings back what is found
there, which is added up in the order of the partitions: no number depends on the number
of workers. A column of numbers beside the rows stays there too, as results of tasks
that Dask computes again, from the partitions, if a worker is lost.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Dense, Rows, Vector, read_only
from pegasos_stats.data.columns import are_finite
from pegasos_stats.data.sample import NaAction
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.levels_of_files import ResolvedFormula, Source
from pegasos_stats.data.scan.matrix_in_files import Elsewhere
from pegasos_stats.data.scan.partitions import Partition, Partitions, compute_tasks
from pegasos_stats.data.scan.paths import Stamps
from pegasos_stats.data.scan.reservoir import LARGEST, RowSample, size_of_sample
from pegasos_stats.data.scan.row_summary import (
    CountingRule,
    Piece,
    RowCounter,
    RowSummary,
    counted_there,
)
from pegasos_stats.errors import PegasosStatsError
from pegasos_stats.parallel import map_in_order
from pegasos_stats.solvers.centring import constants_of

if TYPE_CHECKING:
    import pyarrow as pa
    from dask.delayed import Delayed


Found = TypeVar("Found")

NUMBERS = 2**18  # of a block: two megabytes, which stay near the processor
SEED = 1  # of the rows of a sample
SHARE = 4  # of the budget that rows that are kept may take, and products of blocks
SHARE_OF_SAMPLE = 8  # of the budget that a sample may take
MATRICES = 2  # of p x p numbers, which a block takes for its products


class Block(NamedTuple):
    """Some rows that follow each other.

    Attributes
    ----------
    first : int
        Number of the first of them.
    X : float64 or float32 array, shape (k, p), C-contiguous
    y : float64 array, shape (k,), of -1 and +1
    w : float64 array, shape (k,)
        Weights, whose mean over all rows is 1.
    offset : float64 array, shape (k,), or None
        Known part of each row's score.
    """

    first: int
    X: Dense
    y: Vector
    w: Vector
    offset: Vector | None = None


class RowSubset(NamedTuple):
    """Some rows that were brought home, with their numbers, in rising order."""

    numbers: Rows
    X: Dense
    y: Vector
    w: Vector
    offset: Vector | None = None


Values = np.ndarray
NO_VALUES: Values = read_only(np.zeros(0))


@dataclass(frozen=True, eq=False)
class LocalColumn:
    """A number for each row, in memory."""

    values: Values

    def gathered(self) -> Values:
        """The numbers of all rows, shape (n,)."""
        return self.values


@dataclass(eq=False)
class PartitionedColumn:
    """A number for each row, beside the rows.

    Attributes
    ----------
    parts : list
        Those of each partition, as tasks of Dask.
    """

    parts: "list[Delayed]"

    def gathered(self) -> Values:
        """The numbers of all rows, shape (n,)."""
        return np.concatenate(compute_tasks(self.parts))


Column = LocalColumn | PartitionedColumn


def plus(a: Any, b: Any, owned: bool = False) -> Any:
    """What two parts of a read found, together: tuples with names field by field.

    Parts with a method ``plus`` are added by it, and others by ``+``: of lists the
    items of both. Arrays of a first part that is `owned` are added to in place.
    """
    if hasattr(a, "plus"):
        return a.plus(b)
    if isinstance(a, tuple):
        return type(a)(*(plus(x, y, owned) for x, y in zip(a, b, strict=True)))
    if owned and isinstance(a, np.ndarray) and a.shape == np.shape(b):
        return np.add(a, b, out=a if a.dtype == np.result_type(a, b) else None)
    return a + b


def added(parts: Iterable[Any]) -> Any:
    """Sum of parts in their order, by `plus`; None of none.

    Examples
    --------
    >>> class Pair(NamedTuple):
    ...     one: float
    ...     two: list[float]
    >>> added([Pair(1, [2.0]), Pair(3, [4.0])])
    Pair(one=4, two=[2.0, 4.0])
    """
    total, owned = None, False
    for part in parts:
        if total is None:
            total = part
            continue
        total = plus(total, part, owned)
        owned = True
    return total


def sample_rows(y: Values, most: int) -> Rows:
    """Numbers of rows drawn at random, as many of -1 as of +1, in rising order."""
    rng, found = np.random.default_rng(SEED), []
    for sign in (-1, 1):
        of_class = np.flatnonzero(y == sign)
        count = min(most // 2, of_class.size)
        found.append(rng.choice(of_class, count, replace=False))
    return np.sort(np.concatenate(found))


class StreamedRows(Elsewhere):
    """Rows of files that have been measured.

    Parameters
    ----------
    measured : RowSummary
    workers : int, optional
        Number of threads; no number depends on it.

    Attributes
    ----------
    radius : float
        A bound of the largest ``||x_i||``.
    constants : float64 array, shape (p,), or None
        Values of the columns that are the same in all rows, 0 for other columns.
    most_kept : int
        Rows that may be brought home.
    more : str
        How to let there be more.
    n_reads : int
        How many times all rows have been read.
    """

    def __init__(self, measured: RowSummary, workers: int | None = None) -> None:
        super().__init__(measured)
        self._workers, self.radius = workers, measured.radius
        self._weights, self._offset = measured.weights, measured.offset
        is_scaled = isinstance(measured.matrices.design, ScaledDesign)
        self.constants = (
            None if is_scaled else constants_of(measured.means, measured.spread)
        )
        self.n_reads, self.more = measured.n_reads, measured.scan.more
        room = measured.scan.memory // SHARE // (8 * self.shape[1])
        self.most_kept = max(1, room)
        self._at_once = max(1, room // (MATRICES * self.shape[1]))  # blocks

    def read(
        self, work: Callable[[Block, Values], Found], column: Column | None = None
    ) -> Iterator[Found]:
        """Read all rows once: what `work` finds in each block, in their order.

        The blocks are the same each time. `work` is given the numbers of the block's
        rows in the column too, which it may change in place, or `NO_VALUES`. It may run
        in several threads or elsewhere, where it is sent with all that it holds. What
        is found in blocks that follow each other may come as one, see `plus`.
        """
        values = column.values if isinstance(column, LocalColumn) else None

        def found(make: Callable[[], Block]) -> Found:
            block = make()
            end = block.first + block.y.size
            return work(
                block, NO_VALUES if values is None else values[block.first : end]
            )

        yield from map_in_order(found, self._blocks(), self._workers, self._at_once)
        self.n_reads += 1

    def blank(self, dtype: type) -> Column:
        """A column of zeros."""
        return LocalColumn(np.zeros(self.shape[0], dtype=dtype))

    def column(self, values: Values) -> Column:
        """A column of these numbers, shape (n,)."""
        return LocalColumn(values)

    def sample(self, most: int) -> RowSubset:
        """Rows drawn at random, about as many of each class, at most so many."""
        numbers, X = self.measured.sample
        step = -(-numbers.size // most)
        rows, X = numbers[::step], X[::step]
        w = np.ones(rows.size) if self._weights is None else self._weights[rows]
        offset = None if self._offset is None else self._offset[rows]
        return RowSubset(rows, X, self.measured.y[rows].astype(np.float64), w, offset)

    def _blocks(self) -> Iterator[Callable[[], Block]]:
        """What makes each block; a piece that is clean in the thread that uses it."""
        matrices, step = (
            self.measured.matrices,
            max(1, NUMBERS // max(1, self.shape[1])),
        )
        for piece, first, table in self.measured.tables():
            if piece.clean and piece.usable is None:
                numbers = matrices.numbers(table)
                for at in range(0, piece.used, step):
                    part = [column[at : at + step] for column in numbers]
                    yield partial(self._block, first + at, matrices.rows, part)
                continue
            X = self._rows_used(piece, table)
            for at in range(0, piece.used, step):
                yield partial(self._block, first + at, np.array, X[at : at + step])

    def pieces(self) -> Iterator[tuple[int, Dense]]:
        """Read all rows once, in their order: the number of a piece's first, and X."""
        for piece, first, table in self.measured.tables():
            if piece.used:
                yield first, self._rows_used(piece, table)
        self.n_reads += 1

    def _rows_used(self, piece: Piece, table: "pa.RecordBatch") -> Dense:
        """Rows of a piece that are used.

        Raises
        ------
        DataError
            If they are not as they were.
        """
        matrices, changed = self.measured.matrices, self.measured.changed
        if piece.clean:
            X = matrices.rows(matrices.numbers(table))
            X = X if piece.usable is None else X[piece.usable]
        else:
            try:
                found = matrices.matrix(table, usable=piece.usable)
            except PegasosStatsError:  # of values that there were none of
                raise changed() from None
            X = found.values
            if piece.usable is not None:
                X = X[piece.usable[found.kept]]
        if len(X) != piece.used or not are_finite(X):
            raise changed()
        return X

    def _block(self, first: int, rows: Callable[..., Dense], part: object) -> Block:
        X = rows(part)
        if not are_finite(X):
            raise self.measured.changed()
        here = slice(first, first + len(X))
        w = np.ones(len(X)) if self._weights is None else self._weights[here]
        offset = None if self._offset is None else self._offset[here]
        return Block(first, X, self.measured.y[here].astype(np.float64), w, offset)


class PartitionedRows(StreamedRows):
    """Rows of partitions that have been measured.

    Parameters
    ----------
    measured : RowSummary
        All of them together.
    counted : sequence
        What was counted of each partition, as tasks of Dask.
    sizes : sequence of int
        How many of its rows are used.
    """

    def __init__(
        self, measured: RowSummary, counted: "Sequence[Delayed]", sizes: Sequence[int]
    ) -> None:
        super().__init__(measured)
        assert isinstance(measured.scan, Partitions)
        columns = measured.agreed.rows.columns(measured.matrices.variables)
        self._frames = measured.scan.parts(columns)
        self._counted, self._edges = counted, np.cumsum([0, *sizes])
        self._lean = measured.without_rows()
        w = measured.weights
        self._of_weights: list[Delayed | None] = [None] * len(sizes)
        if w is not None:
            self._of_weights = [*self.column(w).parts]

    def read(
        self, work: Callable[[Block, Values], Found], column: Column | None = None
    ) -> Iterator[Found]:
        """Read all rows once, where they are."""
        import dask

        look = dask.delayed((self._lean, work), traverse=False)
        parts = (
            column.parts
            if isinstance(column, PartitionedColumn)
            else [None] * len(self._frames)
        )
        lines = zip(
            *(self._frames, self._counted, self._of_weights, self._edges, parts),
            strict=False,  # there is one edge more
        )
        tasks = [dask.delayed(_looked, nout=2)(look, *line) for line in lines]
        if isinstance(column, PartitionedColumn):
            tasks = list(dask.persist(*tasks))
        found = compute_tasks([task[0] for task in tasks])
        if isinstance(column, PartitionedColumn):
            column.parts = list(dask.persist(*[task[1] for task in tasks]))
        self.n_reads += 1
        yield from (each for each in found if each is not None)

    def blank(self, dtype: type) -> PartitionedColumn:
        """A column of zeros, which are made where the rows are."""
        import dask

        return PartitionedColumn(
            [dask.delayed(np.zeros)(n, dtype) for n in np.diff(self._edges)]
        )

    def column(self, values: Values) -> PartitionedColumn:
        """A column of these numbers."""
        import dask

        edges = zip(self._edges, self._edges[1:], strict=False)
        parts = [dask.delayed(values[first:end]) for first, end in edges]
        return PartitionedColumn(list(dask.persist(*parts)))


def _looked(
    look: tuple[RowSummary, Callable[[Block, Values], object]],
    frame: pd.DataFrame,
    counted: RowCounter,
    weights: Values | None,
    first: int,
    values: Values | None,
) -> tuple[object, Values | None]:
    """What is found in a partition, and the numbers beside its rows; None of no rows.

    What Dask holds is not changed: it may be asked for again.
    """
    if counted.n == 0:
        return None, values
    (measured, work), column = (
        look,
        None if values is None else LocalColumn(values.copy()),
    )
    there = Partition(frame, measured.scan.memory)
    here = replace(
        measured,
        scan=there,
        agreed=replace(measured.agreed, rows=measured.agreed.rows.of(there)),
        pieces=counted.pieces,
        y=counted.y,
        weights=weights,
        offset=counted.offset,
    )

    def found(block: Block, beside: Values) -> object:
        return work(block._replace(first=int(first) + block.first), beside)

    both = added(StreamedRows(here, workers=1).read(found, column))
    return both, None if column is None else column.values


def streamed_rows(
    scan: Source,
    agreed: ResolvedFormula,
    weights: object,
    standardize: bool,
    na_action: NaAction,
    stamps: Stamps,
) -> StreamedRows:
    """Read all rows once: count them, and sample some.

    Of partitions a second read brings the sample home.

    Parameters
    ----------
    scan : Scan or Partitions
    agreed : ResolvedFormula
    weights : str, dict or None
        The name of a column, or as for `class_weights`.
    standardize : bool
    na_action : "drop" or "raise"
    stamps : dict
        Size, time and inode of each file before it was first read.

    Raises
    ------
    LabelError
        If a label is none of the two levels.
    ColumnError
        If a column cannot be used, or there is none of the weights' name.
    DataError
        If no row is complete, or some row is not and none may be dropped.
    """
    p, given = len(agreed.design.names), (weights, standardize, na_action)
    most = max(2, min(LARGEST, scan.memory // SHARE_OF_SAMPLE // (8 * p)))
    if isinstance(scan, Scan):
        measuring = CountingRule.of(scan, agreed, weights, standardize)
        step = measuring.rows_at_once(scan.memory)
        pieces = agreed.rows.labelled(measuring.wanted, step)
        count = measuring.counted(pieces, most // 2)
        found = count.finished(scan, *given, step)
        found = replace(found, stamps=stamps)
        found.check_unchanged()
        return StreamedRows(found)
    lean = replace(agreed, rows=agreed.rows.lean())  # which is sent to them
    measuring = CountingRule.of(scan, lean, weights, standardize)
    there, parts = counted_there(scan, measuring)
    count, sizes = RowCounter.joined(parts), [part.n for part in parts]
    agreed.rows.lines = count.lines
    found = count.finished(scan, *given, measuring.rows_at_once(scan.memory))
    rows = sample_rows(found.y, min(most, size_of_sample(found.y.size, p)))
    home = PartitionedRows(found, there, sizes)
    sample = RowSample(rows, np.concatenate(added(home.read(partial(_taken, rows)))))
    known = replace(found, sample=sample, n_reads=home.n_reads)
    return PartitionedRows(known, there, sizes)


def _taken(rows: Rows, block: Block, values: Values) -> list[Dense]:
    begin, end = np.searchsorted(rows, [block.first, block.first + block.y.size])
    return [block.X[rows[begin:end] - block.first]]
