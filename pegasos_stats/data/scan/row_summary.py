"""The read that counts: complete rows, labels, weights, scales, and a sample."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Mask, Vector
from pegasos_stats.data.columns import in_a_piece
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.language.design import of_all_rows
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.sample import Dropped, NaAction, no_rows, some_missing
from pegasos_stats.data.scaling import ScaledDesign, Scaling, overflow, power_of_two
from pegasos_stats.data.scan.files import Scan, rows_of_piece
from pegasos_stats.data.scan.formats import BOOLEANS, NUMBERS, kind_of
from pegasos_stats.data.scan.frames import frame_of
from pegasos_stats.data.scan.levels_of_files import ResolvedFormula, Source
from pegasos_stats.data.scan.partitions import (
    Partition,
    Partitions,
    compute_tasks,
    of_partitions,
)
from pegasos_stats.data.scan.paths import Stamps, stamp_of
from pegasos_stats.data.scan.reservoir import (
    Reservoir,
    RowSample,
    sample_of,
    size_of_sample,
)
from pegasos_stats.data.weights import (
    given_weights,
    missing_in,
    row_weights,
    rows_of_weights,
    total,
    weights_of_rows,
)
from pegasos_stats.errors import ColumnError, DataError, LabelError, shown
from pegasos_stats.parallel import one_ahead

if TYPE_CHECKING:
    import pyarrow as pa
    from dask.delayed import Delayed


NONE = np.int32(-1100)  # the power of two of squares that are all 0
SMALLEST = -1000  # power of two whose inverse is a number


class Columns:
    """Means, deviations and ranges of the columns, a piece at a time.

    `n` is the number of rows, or the sum of their weights.
    Means and squares of pieces are put together as by Chan, Golub & LeVeque,
    *Algorithms for computing the sample variance*, The American Statistician 37 (1983).
    Squares of a column are those of its values times a power of two.
    """

    def __init__(self, p: int) -> None:
        self.n: float = 0
        self.mean, self._squares = np.zeros(p), np.zeros(p)
        self._power = np.full(p, NONE)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, columns: Sequence[Vector], weights: Vector | None = None) -> None:
        """Add the rows of a piece, which are given by its columns."""
        piece = Columns(self.mean.size)
        piece.n = columns[0].size if weights is None else float(weights.sum())
        apart = np.empty(columns[0].size)
        for j, x in enumerate(columns if piece.n else ()):
            with np.errstate(over="ignore", invalid="ignore"):
                mean, low, high = x.mean(dtype=np.float64), x.min(), x.max()
                if weights is not None:
                    mean = weights @ x / piece.n
                furthest = max(float(high - mean), float(mean - low))
                power = max(int(power_of(furthest)), SMALLEST)
                np.subtract(x, mean, out=apart)
                apart *= 2.0**-power
                np.square(apart, out=apart)
                piece._squares[j] = apart.sum() if weights is None else weights @ apart
            piece.mean[j], piece.low[j], piece.high[j] = mean, low, high
            piece._power[j] = power
        self.join(piece)

    def join(self, other: "Columns") -> None:
        """Add rows that were summed by themselves."""
        if other.n == 0:
            return
        count = self.n + other.n
        apart = other.mean - self.mean
        power = np.maximum(self._power, other._power)
        if self.n > 0:
            power = np.maximum(power, power_of(np.abs(apart)))
        self._squares = np.ldexp(self._squares, 2 * (self._power - power))
        self._squares += np.ldexp(other._squares, 2 * (other._power - power))
        if self.n > 0:
            between = np.square(np.ldexp(apart, -power))
            self._squares += between * (self.n * (other.n / count))
        self._power = power
        self.mean = self.mean + apart * (other.n / count)
        self.n = count
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)

    def times(self, factor: float) -> "Columns":
        """The same rows with weights that are multiplied."""
        found = copy(self)
        found.n, found._squares = factor * self.n, factor * self._squares
        return found

    def scaling(self, intercept: bool, count: float | None = None) -> Scaling:
        """Means and standard deviations, as by `Scaling.of`."""
        deviation = self._deviations(self.n - self.n / (count or self.n) or self.n)
        if not np.isfinite(deviation).all():
            raise overflow()
        return Scaling.of_moments(self.mean, deviation, intercept)

    def spread(self) -> Vector:
        """Standard deviations with divisor ``n``; exactly 0 of constant columns."""
        return np.where(self.low == self.high, 0.0, self._deviations(self.n))

    def radius(self, scaling: Scaling | None) -> float:
        """A bound of the largest ``||x_i||``."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        if scaling is not None:
            ends = [scaling.apply(each[None])[0] for each in (self.low, self.high)]
            ends = np.abs(ends).max(axis=0) * (1.0 + 1e-9)
        power = power_of_two(ends.max(initial=0.0))
        ends = np.ldexp(ends, -power)
        with np.errstate(over="ignore"):
            return float(np.ldexp(np.sqrt(ends @ ends), power))

    def _deviations(self, divisor: float) -> Vector:
        return np.ldexp(np.sqrt(self._squares / (divisor or 1.0)), self._power)


def power_of(sizes: Vector | float) -> NDArray[np.int32]:
    """Powers of two near sizes, `NONE` of those of 0."""
    return np.where(sizes > 0.0, power_of_two(sizes), NONE)


class Matrices:
    """How pieces become rows of numbers.

    Attributes
    ----------
    design : Design
        What was agreed on, scaled if it is to be.
    """

    def __init__(
        self, agreed: ResolvedFormula, single: bool, scaled: ScaledDesign | None = None
    ) -> None:
        self.design = agreed.design if scaled is None else scaled
        self.variables = agreed.design.variables
        self._scaling = None if scaled is None else scaled.scaling
        self._names = agreed.design.names if agreed.plain else None
        self.single = single and agreed.plain
        self.dtype = np.dtype(np.float32 if self.single else np.float64)

    def room(self, count: int, p: int) -> Dense:
        """Room for so many rows, in the precision of the files."""
        if self.single:
            return np.empty((count, p), dtype=np.float32)
        return np.empty((count, p))

    def columns(self, piece: "pa.RecordBatch") -> list[Vector] | None:
        """Columns of a piece that is clean; None if it is not.

        It is clean if all of its values are finite numbers, which are the matrix as
        they are.
        """
        if self._names is None:
            return None
        columns = [piece.column(name) for name in self._names]
        if any(column.null_count for column in columns):
            return None
        found = [_numbers(column).astype(self.dtype, copy=False) for column in columns]
        with np.errstate(over="ignore", invalid="ignore"):
            sums = [each.sum() for each in found]
        return found if np.isfinite(sums).all() else None

    def has_numbers(self, piece: "pa.RecordBatch") -> bool:
        """Whether columns are of numbers, and lack none, as those of a clean piece."""
        columns = [piece.column(name) for name in self._names or ()]
        kinds = NUMBERS, BOOLEANS
        return all(kind_of(c.type) in kinds and not c.null_count for c in columns)

    def ends(self, piece: "pa.RecordBatch") -> int:
        """A checksum of the predictors in the first and the last row of a piece."""
        few, last = piece.select(list(self.variables)), max(0, piece.num_rows - 1)
        rows = [few.slice(at, 1).to_pylist() for at in (0, last)]
        return crc32(repr(rows).encode())

    def numbers(self, piece: "pa.RecordBatch") -> list[Vector]:
        """Columns of a piece that is known to be clean, before any scaling."""
        return [_numbers(piece.column(name)) for name in self._names or ()]

    def rows(self, numbers: Sequence[Vector]) -> Dense:
        """Rows, C-contiguous, of some columns that `numbers` gave."""
        columns = np.array(numbers, dtype=self.dtype)
        if self._scaling is not None:
            columns -= self._scaling.centre[:, None].astype(self.dtype)
            columns /= self._scaling.scale[:, None].astype(self.dtype)
        X = self.room(columns.shape[1], columns.shape[0])
        np.copyto(X, columns.T)
        return X

    def matrix(
        self,
        piece: "pa.RecordBatch",
        index: pd.Index | None = None,
        usable: Mask | None = None,
    ) -> ModelMatrix:
        """Rows of any piece, with these labels, without those that lack a value.

        Values of rows that are not usable may be any, as levels that no other row has.
        """
        frame = frame_of(piece)
        frame = frame if index is None else frame.set_axis(index)
        try:
            found = self.design.matrix(frame)
        except ColumnError:
            if usable is None or usable.all():
                raise
            found = self._of_usable(frame, usable)
        return ModelMatrix(
            np.ascontiguousarray(found.values, dtype=self.dtype),
            *(found.kept, found.index, found.missing),
        )

    def _of_usable(self, frame: pd.DataFrame, usable: Mask) -> ModelMatrix:
        """Rows among the usable ones alone."""
        rows, kept = np.flatnonzero(usable), np.zeros(len(frame), dtype=bool)
        found = self.design.matrix(frame.iloc[rows])
        kept[rows[found.kept]] = True
        missing = {
            name: np.flatnonzero(frame[name].isna().to_numpy(dtype=bool) & ~usable)
            for name in self.variables
        }
        for name, places in found.missing.items():
            others = missing.get(name, np.zeros(0, dtype=np.intp))
            missing[name] = np.sort(np.concatenate([others, rows[places]]))
        missing = {name: places for name, places in missing.items() if places.size}
        return ModelMatrix(found.values, kept, frame.index, missing)


def _numbers(column: "pa.Array") -> Vector:
    """Numbers of a column without missing values; booleans and decimals too."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    found: Vector = column.to_numpy(zero_copy_only=False)
    return found


SEED = 1  # of the rows of a sample
SHARE = 4  # of the budget, that a piece of the matrix may take


class Piece(NamedTuple):
    """What is known of a piece of the files.

    Attributes
    ----------
    size : int
        Rows.
    used : int
        Rows that are used.
    clean : bool
        Whether all of its predictors are finite numbers.
    usable : bool array, shape (size,), or None
        Rows with a label, a weight and an offset; None if all are.
    ends : int
        Of `Matrices.ends`: which tell that the files behind a Dask frame were replaced.
    """

    size: int
    used: int
    clean: bool
    usable: Mask | None
    ends: int


@dataclass(frozen=True, eq=False)
class RowSummary:
    """All rows of a scan, but for their predictors.

    Attributes
    ----------
    scan : Scan or Partitions
    agreed : ResolvedFormula
    matrices : Matrices
    pieces : tuple of Piece
    y : int8 array, shape (n,), of -1 and +1
    weights : float64 array, shape (n,), or None
        With mean 1; None if all are 1.
    offset : float64 array, shape (n,), or None
    dropped : Dropped
    radius : float
        A bound of the largest ``||x_i||``.
    means, spread : float64 array, shape (p,)
        Means of the columns, before any scaling, and standard deviations with divisor
        ``n``.
    sample : RowSample
        Half of it of the rows of -1, half of those of +1.
    step : int
        Rows of a piece at most.
    n_reads : int
        Of all rows, so far.
    stamps : dict
        Size, time and inode of each file before it was first read.
    """

    scan: Scan | Partition | Partitions
    agreed: ResolvedFormula
    matrices: Matrices
    pieces: tuple[Piece, ...]
    y: NDArray[np.int8]
    weights: Vector | None
    offset: Vector | None
    dropped: Dropped
    radius: float
    means: Vector
    spread: Vector
    sample: RowSample
    step: int
    n_reads: int
    stamps: Stamps = field(default_factory=dict)

    def without_rows(self) -> "RowSummary":
        """What is sent to partitions, each of which has its own rows."""
        nothing, p = np.zeros(0, dtype=np.int64), len(self.agreed.design.names)
        return replace(
            self,
            scan=self.agreed.rows.lean().scan,
            pieces=(),
            y=nothing.astype(np.int8),
            weights=None,
            offset=None,
            sample=RowSample(nothing, np.zeros((0, p))),
        )

    def check_unchanged(self) -> None:
        """Raise `DataError` if files are not those that were read."""
        for each in self.stamps:
            try:
                same = stamp_of(each) == self.stamps.get(each, stamp_of(each))
            except DataError:  # it is gone
                same = False
            if not same:
                raise self.changed()

    def tables(self) -> Iterator[tuple[Piece, int, "pa.RecordBatch"]]:
        """Read the predictors once: each piece, the number of its first row, itself.

        Raises
        ------
        DataError
            If the files are not as they were.
        """
        assert not isinstance(self.scan, Partitions)  # each of them reads its own
        self.check_unchanged()
        first, known = 0, iter(self.pieces)
        for table in self.agreed.rows.pieces(self.matrices.variables, self.step):
            piece = next(known, None)
            if (
                piece is None
                or piece.size != table.num_rows
                or (piece.clean and not self.matrices.has_numbers(table))
                or piece.ends != self.matrices.ends(table)
            ):
                raise self.changed()
            yield piece, first, table
            first += piece.used
        if next(known, None) is not None:
            raise self.changed()
        self.check_unchanged()

    def changed(self) -> DataError:
        """The error for rows that are not as they were."""
        return DataError(
            f"The {self.scan.noun} have changed since they were first read; fit them "
            "again."
        )


class CountingRule(NamedTuple):
    """What is counted of rows, wherever they are.

    Attributes
    ----------
    agreed : ResolvedFormula
    single : bool
        Whether all predictors are of single precision.
    weights : str or None
        The column of the weights.
    scales_by_weights : bool
        Whether weighted means and deviations are wanted.
    """

    agreed: ResolvedFormula
    single: bool
    weights: str | None
    scales_by_weights: bool

    @classmethod
    def of(
        cls, scan: Source, agreed: ResolvedFormula, weights: object, standardize: bool
    ) -> "CountingRule":
        """Check that there is what is to be counted."""
        column = None
        if isinstance(weights, str) and weights != "balanced":
            column = weights
            if column not in scan.kinds:
                nothing = pd.DataFrame(columns=list(scan.kinds))
                given_weights(column, nothing, pd.RangeIndex(0))
            scan.check([column])
        single = scan.is_single(agreed.design.variables)
        return cls(agreed, single, column, standardize and weights is not None)

    @property
    def beside(self) -> list[str]:
        """Columns that are no predictors: of the outcome, and weights."""
        given = self.weights, self.agreed.rows.column
        extra = [column for column in given if column is not None]
        return [*dict.fromkeys([*self.agreed.outcome, *extra, *self.agreed.known])]

    @property
    def wanted(self) -> list[str]:
        """All columns."""
        return [*dict.fromkeys([*self.agreed.design.variables, *self.beside])]

    def rows_at_once(self, memory: int) -> int:
        """How many rows a piece has, by what is read and by what it becomes."""
        source = self.agreed.rows.scan
        assert not isinstance(source, Partitions)  # each of them has its own
        read = rows_of_piece(memory, source.width(self.wanted))
        return min(read, rows_of_piece(memory, len(self.agreed.design.names), SHARE))

    def counted(
        self, pieces: Iterable[tuple[pd.Index, "pa.RecordBatch"]], most: int
    ) -> "RowCounter":
        """Count pieces that follow each other, and sample so many of each class."""
        matrices = Matrices(self.agreed, self.single)
        count = RowCounter(self.agreed, matrices, most, self.scales_by_weights)
        found = ((*piece, matrices.columns(piece[1])) for piece in pieces)
        for index, piece, columns in one_ahead(found):
            with in_a_piece():
                count.add(index, piece, columns, self.beside, self.weights)
        return count


def counted_there(
    scan: Partitions, measuring: CountingRule
) -> "tuple[list[Delayed], list[RowCounter]]":
    """Count the rows of each partition: what stays there, and what came home."""
    import dask

    columns = measuring.agreed.rows.columns(measuring.wanted)
    with of_partitions():
        there = dask.persist(*scan.tasks(_counted, measuring, columns))
    return list(there), compute_tasks(there)


def _counted(measuring: CountingRule, frame: pd.DataFrame) -> "RowCounter":
    memory = measuring.agreed.rows.scan.memory
    there = measuring.agreed.rows.of(Partition(frame, memory))
    step = measuring.rows_at_once(memory)
    found = measuring.counted(there.labelled(measuring.wanted, step), 0)
    found.lines = there.lines
    return found


class RowCounter:
    """What has been counted so far.

    Attributes
    ----------
    lines : int
        Rows of a partition that were counted, before each was repeated.
    """

    lines = 0

    def __init__(
        self,
        agreed: ResolvedFormula,
        matrices: Matrices,
        most: int,
        weighted: bool = False,
    ) -> None:
        self._agreed, self._matrices = agreed, matrices
        p = len(agreed.design.names)
        self._samples = [Reservoir(most, matrices.room(0, p)) for _ in "-+"]
        self._columns = Columns(p)
        self._by_class = {sign: Columns(p) for sign in (-1, 1)} if weighted else {}
        self._pieces: list[Piece] = []
        self._y: list[NDArray[np.int8]] = []
        self._weights: list[Vector] = []
        self._offset: list[Vector] = []
        self._lacking: dict[str, int] = {}
        self._without = self._rows = self._n = 0

    def add(
        self,
        index: pd.Index,
        table: "pa.RecordBatch",
        columns: Sequence[Vector] | None,
        beside: list[str],
        weights: object,
    ) -> None:
        """Count a piece, whose columns are None if it is not clean."""
        agreed, size = self._agreed, table.num_rows
        frame = frame_of(table.select(beside)).set_axis(index)
        labels = outcome_of(str(agreed.design.formula), frame)
        usable = labels.notna().to_numpy(dtype=bool)
        self._lack(agreed.coding.name, without := size - int(usable.sum()))
        self._without += without
        each = None
        if weights is not None:
            each = given_weights(weights, frame, frame.index)
            assert each is not None  # the name of a column
            self._lack("weights", int(np.isnan(each).sum()))
            usable = usable & ~np.isnan(each)
        if (counts := agreed.rows.column) is not None:
            missing = frame[counts].isna().to_numpy(dtype=bool)
            self._lack("freq_weights", int(missing.sum()))
            usable = usable & ~missing
        offsets = agreed.offsets
        parts = {} if offsets is None else offsets.by_part(frame)
        for name, rows in missing_in(parts).items():
            if name not in self._matrices.variables:  # which count it themselves
                self._lack(name, len(rows))
            usable = usable & ~np.isin(np.arange(size), rows)
        clean, kept = columns is not None, usable
        if columns is None:
            predictors = table.select(list(self._matrices.variables))
            matrix = self._matrices.matrix(predictors, index, usable)
            for name, rows in matrix.missing.items():
                self._lack(name, len(rows))
            kept = usable & matrix.kept
            columns = [*np.ascontiguousarray(matrix.values[usable[matrix.kept]].T)]
        elif not usable.all():
            columns = [column[usable] for column in columns]
        y = agreed.coding.encode(labels[kept]).astype(np.int8)
        self._sample(columns, y)
        self._columns.add(columns)
        for sign, moments in self._by_class.items():
            rows = y == sign
            here = None if each is None else each[kept][rows]
            moments.add([column[rows] for column in columns], here)
        self._y.append(y)
        if each is not None:
            self._weights.append(each[kept])
        if offsets is not None:
            self._offset.append(total(parts)[kept])
        used = None if usable.all() else usable
        ends = self._matrices.ends(table)
        self._pieces.append(Piece(size, len(y), clean, used, ends))
        self._rows, self._n = self._rows + size, self._n + len(y)

    @classmethod
    def joined(cls, parts: "Sequence[RowCounter]") -> "RowCounter":
        """Count rows that follow each other, which were counted apart, unsampled."""
        first = parts[0]
        whole = cls(first._agreed, first._matrices, 0, bool(first._by_class))
        for part in parts:
            whole._join(part)
        return whole

    def _join(self, other: "RowCounter") -> None:
        self._columns.join(other._columns)
        for sign, moments in self._by_class.items():
            moments.join(other._by_class[sign])
        self._pieces += other._pieces
        self._y += other._y
        self._weights += other._weights
        self._offset += other._offset
        for name, count in other._lacking.items():
            self._lack(name, count)
        self.lines += other.lines
        self._without += other._without
        self._rows += other._rows
        self._n += other._n

    @property
    def n(self) -> int:
        """Rows that are used."""
        return self._n

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What is known of each piece."""
        return tuple(self._pieces)

    @property
    def y(self) -> NDArray[np.int8]:
        """Labels of the rows that are used, shape (n,)."""
        return np.concatenate([*self._y, np.zeros(0, dtype=np.int8)])

    @property
    def offset(self) -> Vector | None:
        """Offsets of the rows that are used, shape (n,); None without."""
        return np.concatenate(self._offset) if self._offset else None

    def _lack(self, name: str, count: int) -> None:
        if count:
            self._lacking[name] = self._lacking.get(name, 0) + count

    def _sample(self, columns: Sequence[Vector], y: NDArray[np.int8]) -> None:
        keys = np.random.default_rng([SEED, len(self._pieces)]).random(y.size)
        numbers = self._n + np.arange(y.size)
        for sampling, sign in zip(self._samples, (-1, 1), strict=True):
            few = np.flatnonzero((y == sign) & (keys < sampling.largest))
            X = self._matrices.rows([column[few] for column in columns])
            sampling.add(keys[few], numbers[few], X)

    def _scaling(self, weights: Vector | None) -> Scaling:
        """Means and deviations, weighted where rows are."""
        if weights is None:
            return self._columns.scaling(self._agreed.intercept)
        whole = Columns(len(self._columns.mean))
        for sign, moments in self._by_class.items():
            factor = 1.0 if self._weights else float(weights[self.y == sign][0])
            whole.join(moments.times(factor))
        return whole.scaling(self._agreed.intercept, rows_of_weights(weights))

    def finished(
        self,
        scan: Source,
        weights: object,
        standardize: bool,
        na_action: NaAction,
        step: int,
    ) -> RowSummary:
        """What all pieces say together."""
        agreed, y = self._agreed, self.y
        others = self._rows - self._without - y.size
        dropped = Dropped(self._without, others, tuple(self._lacking.items()))
        if na_action == "raise" and dropped.total:
            raise some_missing(dropped)
        if y.size == 0:
            raise no_rows(self._rows)
        for sign, level in zip((-1, 1), agreed.coding.levels, strict=True):
            if not (y == sign).any():
                raise LabelError(
                    f"The outcome {shown(agreed.coding.name)} is {shown(level)} in no "
                    "row that is complete; take data in which both classes occur."
                )
        given, each = np.concatenate(self._weights) if self._weights else weights, None
        if given is not None:
            given = weights_of_rows(given, y.astype(np.float64), agreed.coding)
            each = row_weights(given, y.astype(np.float64), agreed.coding)
        doubtful = of_all_rows(agreed.design.doubtful, y.size)
        design = replace(agreed.design, doubtful=doubtful)
        agreed, scaled = replace(agreed, design=design), None
        size = size_of_sample(y.size, len(design.names))
        scaling, sample = None, sample_of(self._samples, size)
        if standardize:
            scaling = self._scaling(given)
            scaled = ScaledDesign(design, scaling)
            sample = sample._replace(X=scaling.apply(sample.X))
        return RowSummary(
            scan=scan,
            agreed=agreed,
            matrices=Matrices(agreed, self._matrices.single, scaled),
            pieces=self.pieces,
            y=y,
            weights=each,
            offset=self.offset,
            dropped=dropped,
            radius=self._columns.radius(scaling),
            means=self._columns.mean,
            spread=self._columns.spread(),
            sample=sample,
            step=step,
            n_reads=agreed.n_reads + 1,
        )
