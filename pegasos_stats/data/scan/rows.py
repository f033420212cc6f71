"""Rows in files or partitions, read from first to last, some blocks at a time.

Of a Dask frame a read sends its work to each partition and brings back what is found
there, which is added up in the order of the partitions: no number depends on the number
of workers. What a lost worker had counted Dask computes again, from the partitions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Rows, Vector, read_only
from pegasos_stats.data.columns import are_finite
from pegasos_stats.data.language.design import of_all_rows
from pegasos_stats.data.sample import Dropped, NaAction
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.counting import (
    LARGEST,
    SEED,
    SHARE,
    Counted,
    CountingRule,
    Matrices,
    Piece,
    Reservoir,
    sample_of,
    size_of_sample,
)
from pegasos_stats.data.scan.files import Stamps, stamp_of
from pegasos_stats.data.scan.levels import ResolvedFormula, Source, counted_pieces
from pegasos_stats.data.scan.partitions import (
    Partition,
    Partitions,
    compute_tasks,
    of_partitions,
)
from pegasos_stats.data.weights import (
    ALLOWED,
    column_named,
    row_weights,
    rows_of_weights,
    weights_of_rows,
)
from pegasos_stats.errors import DataError, OptionError, PegasosStatsError
from pegasos_stats.parallel import map_in_order

if TYPE_CHECKING:
    import pyarrow as pa
    from dask.delayed import Delayed


Found = TypeVar("Found")

NUMBERS = 2**18  # of a block: two megabytes, which stay near the processor
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


@dataclass(eq=False)
class StreamedRows:
    """The rows of a fit from files, in the place of a matrix: all but the predictors.

    Attributes
    ----------
    scan : Scan, Partitions or Partition
    agreed : ResolvedFormula
    matrices : Matrices
    pieces : sequence of Piece
    y : int8 array, shape (n,), of -1 and +1
    weights : float64 array, shape (n,), or None
        With mean 1; None if all are 1.
    offset : float64 array, shape (n,), or None
    dropped : Dropped
    lines : int
        Rows of the data, before each was repeated.
    radius : float
        A bound of the largest ``||x_i||``.
    means, spread : float64 array, shape (p,)
        Means of the columns, before any scaling, and standard deviations with divisor
        ``n``.
    drawn : pair of arrays, shape (m,) and (m, p)
        Numbers and rows of a sample: half of -1, half of +1.
    step : int
        Rows of a piece at most.
    first_reads : int
        Of all rows, before a fit.
    stamps : dict
        Size, time and inode of each file before it was first read.
    workers : int, optional
        Number of threads; no number depends on it.
    shape : pair of int
    n_reads : int
        How many times all rows have been read.
    most_kept : int
        Rows that may be brought home.
    """

    scan: Source | Partition
    agreed: ResolvedFormula
    matrices: Matrices
    pieces: Sequence[Piece]
    y: NDArray[np.int8]
    weights: Vector | None
    offset: Vector | None
    dropped: Dropped
    lines: int
    radius: float
    means: Vector
    spread: Vector
    drawn: tuple[Rows, Dense]
    step: int
    first_reads: int
    stamps: Stamps = field(default_factory=dict)
    workers: int | None = None

    digest = None  # of all rows, which would take a read

    def __post_init__(self) -> None:
        p = len(self.agreed.design.names)
        self.shape, self.n_reads = (self.y.size, p), self.first_reads
        room = self.scan.memory // SHARE // (8 * p)
        self.most_kept = max(1, room)
        self._at_once: int | None = max(1, room // (MATRICES * p))  # blocks

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._not_here()

    def __getitem__(self, rows: object) -> NoReturn:
        raise self._not_here()

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise self._not_here()

    def _not_here(self) -> DataError:
        return DataError(
            f"The training rows are in {self.scan.noun} and not in memory; give data= "
            f"in memory, or {self.scan.title} to predict()."
        )

    @property
    def is_scaled(self) -> bool:
        """Whether the columns are standardized."""
        return isinstance(self.matrices.design, ScaledDesign)

    def check_unchanged(self) -> None:
        """Raise `DataError` if files are not those that were read."""
        for file, stamp in self.stamps.items():
            try:
                same = stamp_of(file) == stamp
            except DataError:  # it is gone
                same = False
            if not same:
                raise self._changed()

    def _changed(self) -> DataError:
        return DataError(
            f"The {self.scan.noun} have changed since they were first read; fit them "
            "again."
        )

    def read(
        self, work: Callable[[Block, Values], Found], values: Values = NO_VALUES
    ) -> Iterator[Found]:
        """Read all rows once: what `work` finds in each block, in their order.

        The blocks are the same each time. `work` is given the values of the block's
        rows too, of those of all rows, shape (n,), which it may change in place. It may
        run in several threads or elsewhere, where it is sent with all that it holds.
        What is found in blocks that follow each other may come as one, see `plus`.
        """

        def found(make: Callable[[], Block]) -> Found:
            block = make()
            return work(block, values[block.first : block.first + block.y.size])

        yield from map_in_order(found, self._blocks(), self.workers, self._at_once)
        self.n_reads += 1

    def sample(self, most: int) -> RowSubset:
        """Rows drawn at random, about as many of each class, at most so many."""
        numbers, X = self.drawn
        step = -(-numbers.size // most)
        rows = numbers[::step]
        w = np.ones(rows.size) if self.weights is None else self.weights[rows]
        offset = None if self.offset is None else self.offset[rows]
        return RowSubset(rows, X[::step], self.y[rows].astype(np.float64), w, offset)

    def _blocks(self) -> Iterator[Callable[[], Block]]:
        """What makes each block; a piece that is clean in the thread that uses it."""
        step = max(1, NUMBERS // max(1, self.shape[1]))
        for piece, first, table, columns in self._tables():
            if columns is not None and piece.usable is None:
                for at in range(0, piece.used, step):
                    part = [column[at : at + step] for column in columns]
                    yield partial(self._block, first + at, self.matrices.rows, part)
                continue
            X = self._rows_used(piece, table, columns)
            for at in range(0, piece.used, step):
                yield partial(self._block, first + at, np.array, X[at : at + step])

    def pieces_of_rows(self) -> Iterator[tuple[int, Dense]]:
        """Read all rows once, in their order: the number of a piece's first, and X."""
        for piece, first, table, columns in self._tables():
            if piece.used:
                yield first, self._rows_used(piece, table, columns)
        self.n_reads += 1

    def _tables(
        self,
    ) -> Iterator[tuple[Piece, int, "pa.RecordBatch", list[Vector] | None]]:
        """Read the predictors once: each piece, its first row, itself, its columns.

        Raises
        ------
        DataError
            If the files are not as they were.
        """
        assert not isinstance(self.scan, Partitions)  # each of them reads its own
        self.check_unchanged()
        first, known, names = 0, iter(self.pieces), self.matrices.variables
        for _, table, _ in counted_pieces(
            self.scan, names, self.agreed.counts, self.step
        ):
            if not table.num_rows:
                continue
            piece = next(known, None)
            if (
                piece is None
                or piece.size != table.num_rows
                or piece.ends != self.matrices.ends(table)
            ):
                raise self._changed()
            columns = self.matrices.columns(table) if piece.clean else None
            if piece.clean and columns is None:
                raise self._changed()
            yield piece, first, table, columns
            first += piece.used
        if next(known, None) is not None:
            raise self._changed()
        self.check_unchanged()

    def _rows_used(
        self, piece: Piece, table: "pa.RecordBatch", columns: list[Vector] | None
    ) -> Dense:
        """Rows of a piece that are used.

        Raises
        ------
        DataError
            If they are not as they were.
        """
        usable = np.ones(piece.size, bool) if piece.usable is None else piece.usable
        if columns is not None:
            X = self.matrices.rows(columns)[usable]
        else:
            try:
                X, *_ = self.matrices.matrix(table, pd.RangeIndex(piece.size), usable)
            except PegasosStatsError:  # of values that there were none of
                raise self._changed() from None
        if len(X) != piece.used or not are_finite(X):
            raise self._changed()
        return X

    def _block(self, first: int, rows: Callable[..., Dense], part: object) -> Block:
        X = rows(part)
        if not are_finite(X):
            raise self._changed()
        here = slice(first, first + len(X))
        w = np.ones(len(X)) if self.weights is None else self.weights[here]
        offset = None if self.offset is None else self.offset[here]
        return Block(first, X, self.y[here].astype(np.float64), w, offset)


@dataclass(eq=False)
class PartitionedRows(StreamedRows):
    """Rows of partitions.

    Attributes
    ----------
    counted : sequence
        What was counted of each partition, as tasks of Dask.
    sizes : sequence of int
        How many of its rows are used.
    """

    counted: "Sequence[Delayed]" = ()
    sizes: Sequence[int] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.scan, Partitions)
        counts = [] if self.agreed.counts is None else [self.agreed.counts]
        names = [*dict.fromkeys([*self.matrices.variables, *counts])]
        self._frames = self.scan.parts(names)
        self._edges = np.cumsum([0, *self.sizes])
        self._of_weights: Sequence[Delayed | None] = [None] * len(self.sizes)
        if self.weights is not None:
            import dask

            parts = map(dask.delayed, np.split(self.weights, self._edges[1:-1]))
            self._of_weights = list(dask.persist(*parts))
        # What is sent to partitions, each of which has its own rows.
        whole, nothing = _by_name(self), np.zeros(0, dtype=np.int64)
        whole |= {"scan": Partition(pd.DataFrame(), self.scan.memory), "pieces": ()}
        whole |= {"y": nothing.astype(np.int8), "weights": None, "offset": None}
        whole |= {"drawn": (nothing, np.zeros((0, self.shape[1]))), "workers": 1}
        self._lean = StreamedRows(**whole)

    def read(
        self, work: Callable[[Block, Values], Found], values: Values = NO_VALUES
    ) -> Iterator[Found]:
        """Read all rows once, where they are."""
        import dask

        look = dask.delayed((self._lean, work), traverse=False)
        ends = [*zip(self._edges[:-1], self._edges[1:], strict=True)]
        lines = zip(self._frames, self.counted, self._of_weights, ends, strict=True)
        tasks = [
            dask.delayed(_looked)(look, *line, values[slice(*line[-1])])
            for line in lines
        ]
        for (found, changed), (first, end) in zip(
            compute_tasks(tasks), ends, strict=True
        ):
            if changed is not None:
                values[first:end] = changed
            if first < end:
                yield found
        self.n_reads += 1


def _looked(
    look: tuple[StreamedRows, Callable[[Block, Values], Found]],
    frame: pd.DataFrame,
    counted: Counted,
    weights: Values | None,
    ends: tuple[int, int],
    values: Values,
) -> tuple[Found | None, Values | None]:
    """What is found in a partition, and the values of its rows if they changed.

    What Dask holds is not changed: it may be asked for again.
    """
    if ends[0] == ends[1]:
        return None, None
    lean, work = look
    here = replace(
        lean,
        scan=Partition(frame, lean.scan.memory),
        pieces=counted.pieces,
        y=np.concatenate(counted.y),
        weights=weights,
        offset=np.concatenate(counted.offset) if counted.offset else None,
    )
    changed = values.copy()

    def found(block: Block, beside: Values) -> Found:
        return work(block._replace(first=int(ends[0]) + block.first), beside)

    both = added(here.read(found, changed))
    return both, None if np.array_equal(changed, values) else changed


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
    column = weights if isinstance(weights, str) and weights != "balanced" else None
    if column is not None and column not in scan.kinds:
        column_named("weights", column, None, ALLOWED)
    scan.check([] if column is None else [column])
    single, p = scan.is_single(agreed.design.variables), len(agreed.design.names)
    by_class = standardize and weights is not None
    rule = CountingRule(agreed, Matrices(agreed, single), column, by_class)
    most = max(2, min(LARGEST, scan.memory // SHARE_OF_SAMPLE // (8 * p)))
    nothing: Dense = np.empty((0, p), dtype=rule.matrices.dtype)
    samples = [Reservoir(most // 2, nothing) for _ in "-+"]
    if not isinstance(scan, Partitions):
        count = added(rule.pieces(scan, samples))
        step, options = rule.step(scan), (weights, standardize, na_action)
        found = _summed(rule, count, scan, samples, *options, step, stamps)
        found.check_unchanged()
        return found
    import dask

    with of_partitions():
        tasks = scan.tasks(_counted, (rule, scan.memory), rule.wanted)
        there = list(dask.persist(*tasks))
    parts: list[Counted] = compute_tasks(there)
    step = rule.step(Partition(pd.DataFrame(), scan.memory))
    options = weights, standardize, na_action
    found = _summed(rule, added(parts), scan, samples, *options, step, stamps)
    sizes = [sum(map(len, part.y)) for part in parts]
    home = PartitionedRows(**_by_name(found), counted=there, sizes=sizes)
    rows = sample_rows(found.y, min(most, size_of_sample(found.y.size, p)))
    home.drawn = rows, np.concatenate(added(home.read(partial(_taken, rows))))
    home.first_reads = home.n_reads
    return home


def _by_name(rows: StreamedRows) -> dict[str, Any]:
    return {each.name: getattr(rows, each.name) for each in fields(StreamedRows)}


def _counted(sent: tuple[CountingRule, int], frame: pd.DataFrame) -> Counted:
    rule, memory = sent
    found: Counted = added(rule.pieces(Partition(frame, memory)))
    return found


def _summed(
    rule: CountingRule,
    count: Counted,
    scan: Source,
    samples: Sequence[Reservoir],
    weights: object,
    standardize: bool,
    na_action: NaAction,
    step: int,
    stamps: Stamps,
) -> StreamedRows:
    """What all pieces say together."""
    agreed, y = rule.agreed, np.concatenate(count.y)
    dropped, signs = count.check(agreed, na_action), y.astype(np.float64)
    given = np.concatenate(count.weights) if count.weights else weights
    given = weights_of_rows(given, signs, agreed.coding)
    doubtful = of_all_rows(agreed.design.doubtful, y.size)
    agreed = replace(agreed, design=replace(agreed.design, doubtful=doubtful))
    numbers, X = sample_of(samples, size_of_sample(y.size, len(agreed.design.names)))
    scaling, scaled, moments = None, None, count.columns
    if standardize:
        if given is not None:
            classes = zip((-1, 1), (count.negative, count.positive), strict=True)
            negative, positive = (
                of if count.weights else replace(of, n=of.n * given[y == sign][0])
                for sign, of in classes
            )
            moments = negative.plus(positive)
        scaling = moments.scaling(agreed.intercept, rows_of_weights(given))
        X, scaled = scaling.apply(X), ScaledDesign(agreed.design, scaling)
    return StreamedRows(
        scan=scan,
        agreed=agreed,
        matrices=Matrices(agreed, rule.matrices.single, scaled),
        pieces=count.pieces,
        y=y,
        weights=row_weights(given, signs, agreed.coding),
        offset=np.concatenate(count.offset) if count.offset else None,
        dropped=dropped,
        lines=count.lines,
        radius=count.columns.radius(scaling),
        means=count.columns.mean,
        spread=count.columns.spread(),
        drawn=(numbers, X),
        step=step,
        first_reads=agreed.n_reads + 1,
        stamps=stamps,
    )


def _taken(rows: Rows, block: Block, values: Values) -> list[Dense]:
    begin, end = np.searchsorted(rows, [block.first, block.first + block.y.size])
    return [block.X[rows[begin:end] - block.first]]


def in_memory_only(option: str, title: str) -> OptionError:
    """The error for an option that needs the rows of the fit in memory."""
    return OptionError(
        f"{option}= needs the rows in memory and does not go with {title}; leave it "
        "out."
    )
