"""Rows in files or partitions, which a pass reads block by block.

On a Dask frame each pass runs on the partitions; partial sums are combined in the order
of the partitions, so that no result depends on the number of workers. If a worker is
lost, Dask repeats its work.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar, cast
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import Dense, Mask, Predictors, Rows, Vector
from pegasos_stats.checks import check_flag
from pegasos_stats.data import sample as row_options
from pegasos_stats.data.design import ScaledDesign, Scaling, moments, overflow
from pegasos_stats.data.labels import Coding
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.language.formula_design import doubtful_in, warn_of_columns
from pegasos_stats.data.sample import MissingRowCounts, NaAction, Sample
from pegasos_stats.data.scan.files import Scan, Stamps, rows_of_piece
from pegasos_stats.data.scan.levels import (
    ResolvedFormula,
    Source,
    resolve_formula,
)
from pegasos_stats.data.scan.partitions import Partition, Partitions
from pegasos_stats.data.scan.source import (
    NO_VALUES,
    Block,
    RowSource,
    RowSubset,
    Values,
    Work,
    added,
    block_of,
    check_unset,
)
from pegasos_stats.data.user_data import are_finite
from pegasos_stats.errors import DataError, OptionError, shown
from pegasos_stats.other_frames import is_dask, is_streamed
from pegasos_stats.parallel import map_in_order, one_ahead

Result = TypeVar("Result")
ALL = slice(None)
STREAM_BLOCK = 2**18  # numbers in a block: 2 MB fit into the cache
MATRICES = 2  # p x p matrices that the products of a block need
MATRIX_SHARE = 4  # 1/4 of the memory is for a piece of the matrix, or retained rows
MOST_SAMPLED = 320_000  # rows
COMPARED_ROWS = 100  # sampled rows by which training data are recognised


@dataclass(frozen=True, eq=False)
class Columns:
    """Means, standard deviations and ranges of the columns of some rows.

    Pieces are combined as by Chan, Golub & LeVeque, *Algorithms for computing the
    sample variance*, The American Statistician 37 (1983). Root mean squares replace
    sums of squares, which could overflow or underflow.

    Attributes
    ----------
    n : float
        Number of rows, or the sum of their weights.
    mean, deviation, low, high : float64 array, shape (p,)
        Deviations have the divisor ``n``.
    """

    n: float
    mean: Vector
    deviation: Vector
    low: Vector
    high: Vector

    @classmethod
    def of(cls, columns: Sequence[Vector], weights: Vector | None = None) -> "Columns":
        """Statistics of a piece, from its columns."""
        p, m = len(columns), columns[0].size if columns else 0
        n: float = m if weights is None else float(weights.sum())
        piece = cls(n, *(np.zeros(p) for _ in range(4)))
        for j, x in enumerate(columns if n else ()):
            with np.errstate(over="ignore", invalid="ignore"):
                mean, deviation = moments(x[:, None], weights, np.inf)
            piece.mean[j], piece.deviation[j] = mean[0], deviation[0]
            piece.low[j], piece.high[j] = x.min(), x.max()
        return piece

    @np.errstate(over="ignore", invalid="ignore")
    def plus(self, other: "Columns") -> "Columns":
        """Combine the statistics of two sets of rows."""
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        n = self.n + other.n
        share, difference = other.n / n, other.mean - self.mean
        within = np.hypot(
            self.deviation * np.sqrt(1.0 - share), other.deviation * np.sqrt(share)
        )
        between = np.abs(difference) * np.sqrt(share * (1.0 - share))
        return Columns(
            n,
            self.mean + difference * share,
            np.hypot(within, between),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def are_finite(self) -> bool:
        """Whether all minima and maxima, and so all numbers, are finite."""
        return bool(np.isfinite([self.low, self.high]).all())

    @np.errstate(over="ignore", invalid="ignore")
    def scaling(self, intercept: bool, count: float | None = None) -> Scaling:
        """Scaling by means and standard deviations, as `Scaling.of` computes it."""
        divisor = self.n - self.n / (count or self.n) or self.n
        deviation = self.deviation * np.sqrt(self.n / divisor)
        if not np.isfinite(deviation).all():
            raise overflow()
        return Scaling.of_moments(self.mean, deviation, intercept)

    def spread(self) -> Vector:
        """Standard deviations with divisor ``n``; exactly 0 for constant columns."""
        return np.where(self.low == self.high, 0.0, self.deviation)

    @np.errstate(over="ignore", invalid="ignore")
    def radius(self, scaling: Scaling | None) -> float:
        """An upper bound on the largest ``||x_i||``."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        if scaling is not None:
            both = np.abs(scaling.apply(np.array([self.low, self.high])))
            ends = both.max(axis=0) * (1.0 + 1e-9)
        return float(np.hypot.reduce(ends))


class Matrices:
    """Converts pieces of data to design matrices.

    Attributes
    ----------
    design : Design
        Design with all levels, and scaling if standardized.
    variables : tuple of str
    single : bool
        Whether rows have single precision because all columns do.
    """

    def __init__(
        self, formula: ResolvedFormula, single: bool, scaled: ScaledDesign | None = None
    ) -> None:
        self.design = formula.design if scaled is None else scaled
        self.variables = formula.design.variables
        self._scaling = None if scaled is None else scaled.scaling
        self._names = formula.design.names if formula.plain else None
        self.single = single and formula.plain
        self.dtype = np.dtype(np.float32 if self.single else np.float64)

    def columns(self, piece: pd.DataFrame) -> list[Vector] | None:
        """Return the columns of the data if they form the unscaled design matrix.

        None if a column is not numeric, or if the formula computes the matrix.
        """
        by_name = dict(piece.items())
        columns = [by_name[name] for name in self._names or ()]
        plain = (
            isinstance(c.dtype, np.dtype) and c.dtype.kind in "fiub" for c in columns
        )
        if not columns or not all(plain):
            return None
        return [column.to_numpy().astype(self.dtype, copy=False) for column in columns]

    def ends(self, piece: pd.DataFrame, source: Source | Partition) -> int:
        """Checksum of the first and the last row of a partition; 0 for files."""
        if not isinstance(source, Partition):
            return 0
        few = piece.iloc[[0, -1]][list(self.variables)]
        return crc32(repr(few.to_dict("list")).encode())

    def rows(self, columns: Sequence[Vector], some: slice | Rows = ALL) -> Dense:
        """Return all or some rows of the design matrix from the result of `columns`."""
        numbers = np.array([column[some] for column in columns], dtype=self.dtype)
        X: Dense = np.empty(numbers.shape[::-1], dtype=self.dtype)
        np.copyto(X, numbers.T)
        return X if self._scaling is None else self._scaling.apply(X)

    def matrix(
        self, piece: pd.DataFrame, usable: Mask
    ) -> tuple[Dense, Mask, dict[str, Mask]]:
        """Return the design matrix of the complete rows of a piece.

        Rows that are not `usable` are excluded first; they may contain unknown levels.

        Returns
        -------
        array, shape (k, p)
        bool array
            Which rows are complete.
        dict
            For each column, which rows are without a value.
        """
        frame = piece[list(self.variables)]
        matrix = self.design.matrix(frame if usable.all() else frame[usable])
        rows, complete = np.flatnonzero(usable), np.zeros(len(frame), dtype=bool)
        complete[rows[matrix.complete]] = True
        lacking = {
            name: frame[name].isna().to_numpy(dtype=bool) & ~usable
            for name in self.variables
        }
        for name, places in matrix.missing.items():
            lacking[name] = lacking.get(name, np.zeros(len(frame), dtype=bool))
            lacking[name][rows[places]] = True
        return np.ascontiguousarray(matrix.values, dtype=self.dtype), complete, lacking


def size_of_sample(n: int, p: int) -> int:
    """Sample size: a tenth of the rows, or 20 per coefficient if more; up to 320,000.

    Examples
    --------
    >>> size_of_sample(1_000_000, 50), size_of_sample(10**8, 50)
    (100000, 320000)
    """
    return min(n, MOST_SAMPLED, max(int(0.1 * n), 20 * (p + 1)))


KeyedRows = tuple[Vector, Rows, Dense]  # random keys of rows, their numbers, the rows


def smallest(parts: Sequence[KeyedRows], most: int) -> KeyedRows:
    """Return at most `most` rows with the smallest keys, in order of their numbers."""
    keys, numbers = (np.concatenate([part[j] for part in parts]) for j in (0, 1))
    stays, rows, first = np.arange(keys.size), [], 0
    if most < keys.size:
        stays = np.sort(np.argpartition(keys, most)[:most])
    for _, of_part, X in parts:
        begin, end = np.searchsorted(stays, [first, first + of_part.size])
        rows.append(X[stays[begin:end] - first])
        first += of_part.size
    sampled_rows: Dense = np.concatenate(rows)  # type: ignore[assignment]
    return keys[stays], numbers[stays], sampled_rows


class Reservoir:
    """Rows with the smallest random keys so far, and a buffer of further rows.

    Parameters
    ----------
    most : int
        Number of rows to sample.
    nothing : array, shape (0, p)
        Empty matrix with the dtype of the rows.

    Attributes
    ----------
    parts : list of tuples
    largest : float
        Limit of the keys: only rows with smaller keys can still enter the sample.
    """

    def __init__(self, most: int, nothing: Dense) -> None:
        self._most, self.largest = most, np.inf
        self.parts: list[KeyedRows] = [
            (NO_VALUES, np.zeros(0, dtype=np.int64), nothing)
        ]

    def add(self, keys: Vector, numbers: Rows, X: Dense) -> None:
        """Add rows whose numbers are increasing, and above all earlier ones."""
        self.parts.append((keys, numbers, X))
        if sum(keys.size for keys, _, _ in self.parts) > 1.25 * self._most:
            self.parts = [smallest(self.parts, self._most)]
            self.largest = float(self.parts[0][0].max(initial=0.0))


def sample_of(
    samples: Sequence[Sequence[Reservoir]], sizes: Sequence[int], most: int
) -> tuple[Rows, Dense]:
    """Row numbers and rows of a sample with at most ``most / 2`` rows of each class.

    Parameters
    ----------
    samples : sequence of pairs of Reservoir
        Rows with label -1 and with +1: one pair for files, or one for each partition.
    sizes : sequence of int
        Number of rows from which each pair was sampled.
    most : int

    Examples
    --------
    >>> below, above = Reservoir(2, np.zeros((0, 1))), Reservoir(2, np.zeros((0, 1)))
    >>> for key, number in ((0.5, 0), (0.7, 1), (0.6, 2), (0.9, 3)):
    ...     below.add(np.array([key]), np.array([number]), np.full((1, 1), number))
    >>> sample_of([(below, above)], [4], 4)
    (array([0, 2]), array([[0.], [2.]]))
    """
    classes, firsts = [], np.cumsum([0, *sizes])
    for of_class in zip(*samples, strict=True):
        parts = [
            (keys, first + numbers, X)
            for reservoir, first in zip(of_class, firsts, strict=False)
            for keys, numbers, X in reservoir.parts
        ]
        classes.append(smallest(parts, most // 2))
    numbers = np.sort(np.concatenate([of_rows for _, of_rows, _ in classes]))
    X = np.empty((numbers.size, classes[0][2].shape[1]), dtype=classes[0][2].dtype)
    for _, of_rows, rows in classes:
        X[np.searchsorted(numbers, of_rows)] = rows
    return numbers, X


class Piece(NamedTuple):
    """Counts of a piece of files or of a partition.

    Attributes
    ----------
    size : int
        Number of rows.
    used : int
        Number of rows that are used.
    clean : bool
        Whether its columns form the design matrix, and all numbers are finite.
    usable : bool array, shape (size,), or None
        Rows with a label, a weight and an offset; None if all are usable.
    ends : int
        Checksum by `Matrices.ends`: detects that files behind a Dask frame were
        replaced.
    """

    size: int
    used: int
    clean: bool
    usable: Mask | None
    ends: int


class PassCounts(NamedTuple):
    """Counts and statistics of consecutive rows.

    Attributes
    ----------
    columns, negative, positive : Columns
        Statistics of the predictors: of all used rows, without weights, and of each
        class, with weights. The last two are empty unless a fit with weights is
        standardized.
    pieces : list of Piece
    y, weights, offset : list of arrays
        Values of the used rows of each piece; weights before scaling.
    lacking : Counter
        Number of missing values in each column.
    without : int
        Rows without an outcome.
    """

    columns: Columns
    negative: Columns
    positive: Columns
    pieces: list[Piece]
    y: list[NDArray[np.int8]]
    weights: list[Vector]
    offset: list[Vector]
    lacking: Counter[str]
    without: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(piece.size for piece in self.pieces)

    def check(self, formula: ResolvedFormula, na_action: NaAction) -> MissingRowCounts:
        """Return the counts of excluded rows.

        Raises
        ------
        DataError
            If a row is incomplete although `na_action` is "raise", or no row is
            complete.
        LabelError
            If one of the two levels of the outcome occurs in no complete row.
        """
        y, coding = np.concatenate(self.y), formula.coding
        others = self.rows - self.without - y.size
        dropped = MissingRowCounts(self.without, others, tuple(self.lacking.items()))
        if na_action == "raise" and dropped.total:
            raise row_options.some_missing(dropped)
        if y.size == 0:
            raise row_options.no_rows(self.rows, self.lacking)
        for sign, level in zip((-1, 1), coding.levels, strict=True):
            if not (y == sign).any():
                raise errors.LabelError(
                    f"No complete row has the level {shown(level)} of the outcome "
                    f"{shown(coding.name)}; both classes must occur."
                )
        return dropped


NO_COLUMNS = Columns.of([])
NO_LABELS = np.zeros(0, dtype=np.int8)
NOTHING = PassCounts(
    *(NO_COLUMNS, NO_COLUMNS, NO_COLUMNS, [], [NO_LABELS], [], [], Counter(), 0)
)


@dataclass(frozen=True, eq=False)
class CountingRule:
    """What to count in the first pass.

    Attributes
    ----------
    formula : ResolvedFormula
    matrices : Matrices
    weights : str, dict or None
        Name of a column of weights, or weights of classes as for `weights_of_rows`.
    standardize : bool
    """

    formula: ResolvedFormula
    matrices: Matrices
    weights: object
    standardize: bool

    @property
    def column(self) -> str | None:
        """Column of the weights, if there is one."""
        is_name = isinstance(self.weights, str) and self.weights != "balanced"
        return str(self.weights) if is_name else None

    @property
    def wanted(self) -> list[str]:
        """Columns to read."""
        formula = self.formula
        every = [*self.matrices.variables, *formula.outcome, *formula.offset_columns]
        every += filter(None, [self.column])
        return [*dict.fromkeys(every)]

    def step(self, scan: Source | Partition) -> int:
        """Rows per piece whose columns and design matrix fit the memory budget."""
        piece_rows = rows_of_piece(scan.memory, len(self.wanted))
        p = len(self.formula.design.names)
        return min(piece_rows, rows_of_piece(scan.memory, p, MATRIX_SHARE))

    def pieces(
        self, source: Scan | Partition, samples: Sequence[Reservoir]
    ) -> Iterator[PassCounts]:
        """Count each piece of files or a partition, and sample rows of each class."""
        frames = source.frames(self.wanted, self.step(source))
        pieces = ((frame, self.matrices.columns(frame)) for frame in frames)
        number = n = 0
        yield NOTHING
        for frame, columns in one_ahead(pieces):
            part, columns = self._counted(frame, columns, source)
            y = part.y[0]
            keys = np.random.default_rng([1, number]).random(y.size)
            for sampling, sign in zip(samples, (-1, 1), strict=True):
                few = np.flatnonzero((y == sign) & (keys < sampling.largest))
                X = self.matrices.rows(columns, few)
                sampling.add(keys[few], n + few, X)
            number, n = number + 1, n + y.size
            yield part

    def _counted(
        self,
        frame: pd.DataFrame,
        columns: list[Vector] | None,
        source: Scan | Partition,
    ) -> tuple[PassCounts, list[Vector]]:
        """Count a piece, and return the columns of its complete rows."""
        formula, name = self.formula, self.column
        options = row_options.RowOptions.of(
            name, None, frame, frame.index, None, formula.offsets
        )
        labels = outcome_of(str(formula.design.formula), frame)
        without = labels.isna().to_numpy(dtype=bool)
        lacking = {formula.coding.name: without} | options.lacking
        complete = usable = ~np.any([*lacking.values()], axis=0)
        sums = Columns.of(columns or [])
        clean = columns is not None and sums.are_finite
        if columns is not None and clean:
            if not usable.all():
                columns = [column[usable] for column in columns]
                sums = Columns.of(columns)
        else:
            X, complete, further = self.matrices.matrix(frame, usable)
            columns, lacking = [*np.ascontiguousarray(X.T)], lacking | further
            sums = Columns.of(columns)
        y = formula.coding.encode(labels[complete]).astype(np.int8)
        weights = options.by_row.get("weights")
        row_weights = None if weights is None else weights[complete]

        def of_class(sign: int) -> Columns:
            if not self.standardize or self.weights is None:
                return NO_COLUMNS
            rows = y == sign
            here = None if row_weights is None else row_weights[rows]
            return Columns.of([column[rows] for column in columns], here)

        some, ends = None if usable.all() else usable, self.matrices.ends(frame, source)
        counts = PassCounts(
            columns=sums,
            negative=of_class(-1),
            positive=of_class(1),
            pieces=[Piece(len(frame), len(y), clean, some, ends)],
            y=[y],
            weights=[] if row_weights is None else [row_weights],
            offset=[] if options.offset is None else [options.offset[complete]],
            lacking=+Counter({name: int(rows.sum()) for name, rows in lacking.items()}),
            without=int(without.sum()),
        )
        return counts, columns


def counted(
    rule: CountingRule, most: int, source: Scan | Partition
) -> tuple[PassCounts, list[Reservoir]]:
    """Count the rows of files or a partition, and sample each class."""
    nothing: Dense = np.empty((0, len(rule.formula.design.names)), rule.matrices.dtype)
    samples = [Reservoir(most, nothing) for _ in "-+"]
    return added(rule.pieces(source, samples)), samples


@dataclass(eq=False)
class StreamedRows(RowSource):
    """Training data in files or partitions: all but the predictors is in memory.

    Attributes
    ----------
    scan : Scan, Partitions or Partition
    formula : ResolvedFormula
    matrices : Matrices
    parts : list of lists of Piece
        One list for the files, or one for each partition.
    y : int8 array, shape (n,), of -1 and +1
    weights : float64 array, shape (n,), or None
        With mean 1; None if all are 1.
    offset : float64 array, shape (n,), or None
    dropped : MissingRowCounts
    radius : float
        An upper bound on the largest ``||x_i||``.
    means, spread : float64 array, shape (p,)
        Means and standard deviations of the columns without weights, with divisor
        ``n``.
    sampled : pair of arrays, shape (m,) and (m, p)
        Row numbers and rows of a sample, with the same maximum for each class.
    step : int
        Maximum number of rows in a piece.
    first_reads : int
        Number of passes before the fit.
    stamps : dict
        Size, time and inode of each file before it was first read.
    workers : int, optional
        Number of threads; no result depends on it.
    first : int
        Number of the first row, above 0 in later partitions.
    shape : pair of int
    n_reads : int
        Number of passes over all rows.
    max_retained_rows : int
        Number of rows in double precision that fit into a quarter of the memory budget.
    """

    scan: Source | Partition
    formula: ResolvedFormula
    matrices: Matrices
    parts: Sequence[Sequence[Piece]]
    y: NDArray[np.int8]
    weights: Vector | None
    offset: Vector | None
    dropped: MissingRowCounts
    radius: float
    means: Vector
    spread: Vector
    sampled: tuple[Rows, Dense]
    step: int
    first_reads: int
    stamps: Stamps = field(default_factory=dict)
    workers: int | None = None
    first: int = 0

    is_streamed = True
    digest = None  # would need a pass

    def __post_init__(self) -> None:
        p = len(self.formula.design.names)
        self.shape, self.n_reads = (self.y.size, p), self.first_reads
        self.noun, self.title = self.scan.noun, self.scan.title
        self.is_ordered = self.scan.is_ordered
        room = self.scan.memory // MATRIX_SHARE // (8 * p)
        self.max_retained_rows = max(1, room)
        self._at_once: int | None = max(1, room // (MATRICES * p))  # blocks

    @property
    def moments(self) -> tuple[Vector, Vector]:
        """Means and standard deviations of the columns."""
        return self.means, self.spread

    def equals(self, X: Predictors) -> bool:
        """Whether a matrix contains the sampled rows at their row numbers."""
        some = self.sample(COMPARED_ROWS)
        if self.shape != X.shape or not isinstance(X, np.ndarray):
            return False
        return np.array_equal(X[some.numbers].astype(some.X.dtype), some.X)

    def is_of(self, data: object) -> bool:
        """Whether the rows were read from these files or this frame."""
        return cast(Source, self.scan).holds(data)

    def check_unchanged(self) -> None:
        """Raise `DataError` if files have changed."""
        if isinstance(self.scan, Scan) and self.scan.renewed() != self.stamps:
            raise self._changed()

    def _changed(self) -> DataError:
        return DataError(
            f"The {self.scan.noun} have changed since they were first read; fit the "
            "model again."
        )

    def map_blocks(
        self, work: Work[Result], values: Values = NO_VALUES, rows: int | None = None
    ) -> Iterator[Result]:
        """Apply `work` to each block of rows, in their order, in one pass.

        The blocks are the same in every pass. The array `values` has one entry per row,
        shape (n,); `work` also receives the entries of the block and may change them in
        place. `work` may run in several threads or, pickled, on another machine.
        Results of consecutive blocks may be combined, see `plus`.
        """

        def apply(make: Callable[[], Block]) -> Result:
            block = make()
            first = block.first - self.first
            return work(block, values[first : first + block.y.size])

        if isinstance(self.scan, Partitions):
            yield from self._map_partitions(self.scan, work, values)
        else:
            yield from map_in_order(apply, self._blocks(), self.workers, self._at_once)
        self.n_reads += 1

    def _map_partitions(
        self, scan: Partitions, work: Callable[[Block, Values], Result], values: Values
    ) -> Iterator[Result]:
        """Read all partitions on their workers, which receive labels and weights."""
        calls, places, first = [], [], 0
        for pieces in self.parts:
            here = slice(first, first + sum(piece.used for piece in pieces))
            part = replace(
                self,
                scan=Partition(pd.DataFrame(), scan.memory),
                parts=[pieces],
                y=self.y[here],
                weights=None if self.weights is None else self.weights[here],
                offset=None if self.offset is None else self.offset[here],
                sampled=(NO_VALUES, NO_VALUES),
                workers=1,
                first=first,
            )
            calls.append(partial(_map_partition, part, work, values[here]))
            places.append(here)
            first = here.stop
        results = scan.map_parts(calls, self.matrices.variables)
        for here, (result, changed) in zip(places, results, strict=True):
            if changed is not None:
                values[here] = changed
            if result is not None:
                yield result

    def sample(self, most: int) -> RowSubset:
        """Return at most `most` rows of the sample, with similar class sizes."""
        numbers, X = self.sampled
        step = -(-numbers.size // most)
        rows = numbers[::step]
        few = block_of(0, X[::step], self.y, self.weights, self.offset, rows)
        return RowSubset(rows, *few[1:])

    def _blocks(self) -> Iterator[Callable[[], Block]]:
        """Yield functions that make the blocks, to be called in worker threads."""
        step = max(1, STREAM_BLOCK // max(1, self.shape[1]))
        for first, count, rows in self._pieces():
            for at in range(0, count, step):
                yield partial(self._block, first + at, rows, slice(at, at + step))

    def pieces_of_rows(self) -> Iterator[tuple[int, Dense]]:
        """Read all rows once: yield the number of the first row of a piece, and X."""
        for first, count, rows in self._pieces():
            if count:
                yield first, self._block(first, rows, ALL).X
        self.n_reads += 1

    def _pieces(self) -> Iterator[tuple[int, int, Callable[[slice], Dense]]]:
        """Read the predictors once: yield first row, row count and a function for rows.

        Raises
        ------
        DataError
            If the files have changed.
        """
        assert isinstance(self.scan, Scan | Partition)
        self.check_unchanged()
        first, expected, names = 0, chain(*self.parts), self.matrices.variables
        for table in self.scan.frames(names, self.step):
            piece = next(expected, None)
            ends = self.matrices.ends(table, self.scan)
            if piece is None or (piece.size, piece.ends) != (len(table), ends):
                raise self._changed()
            usable = np.ones(len(table), bool) if piece.usable is None else piece.usable
            columns = self.matrices.columns(table) if piece.clean else None
            rows: Callable[[slice], Dense]
            if columns is None:
                try:
                    X = self.matrices.matrix(table, usable)[0]
                except errors.PegasosStatsError:  # new values, such as unknown levels
                    raise self._changed() from None
                count, rows = len(X), X.__getitem__
            else:
                if piece.usable is not None:
                    columns = [column[usable] for column in columns]
                count, rows = len(columns[0]), partial(self.matrices.rows, columns)
            if count != piece.used:
                raise self._changed()
            yield first, count, rows
            first += count
        if next(expected, None) is not None:
            raise self._changed()
        self.check_unchanged()

    def _block(self, first: int, rows: Callable[[slice], Dense], some: slice) -> Block:
        X = rows(some)
        if isinstance(self.scan, Partition) and not are_finite(X):
            raise self._changed()
        here = slice(first, first + len(X))
        return block_of(self.first + first, X, self.y, self.weights, self.offset, here)


def _map_partition(
    rows: StreamedRows,
    work: Callable[[Block, Values], Result],
    values: Values,
    there: Partition,
) -> tuple[Result | None, Values | None]:
    """Return the result of a partition, and the values of its rows if they changed.

    `values` is not changed in place, as Dask may repeat the task.
    """
    changed = values.copy()
    result = added(replace(rows, scan=there).map_blocks(work, changed))
    return result, None if np.array_equal(changed, values) else changed


def streamed_rows(
    scan: Source,
    formula: ResolvedFormula,
    weights: object,
    standardize: bool,
    na_action: NaAction,
    stamps: Stamps,
) -> StreamedRows:
    """Read all rows once to count them and to draw a sample.

    Parameters
    ----------
    scan : Scan or Partitions
    formula : ResolvedFormula
    weights : str, dict or None
        Name of a column of weights, or weights of classes as for `weights_of_rows`.
    standardize : bool
    na_action : "drop" or "raise"
    stamps : dict
        Size, time and inode of each file before it was first read.

    Raises
    ------
    LabelError
        If a label is not one of the two levels, or a level occurs in no complete row.
    ColumnError
        If a column cannot be used, or the column of weights does not exist.
    DataError
        If no row is complete, or a row is incomplete and `na_action` is "raise".
    """
    design, p = formula.design, len(formula.design.names)
    matrices = Matrices(formula, scan.is_single(design.variables))
    rule = CountingRule(formula, matrices, weights, standardize)
    if rule.column is not None:
        if rule.column not in scan.kinds:
            row_options.column_named("weights", rule.column, None, row_options.ALLOWED)
        scan.check([rule.column])
    # An eighth of the memory budget is for the sample.
    room = max(2, min(MOST_SAMPLED, scan.memory // 8 // (8 * p)))
    most = -(-room // 2 // scan.n_parts)
    parts = scan.map_parts(partial(counted, rule, most), rule.wanted)
    count: PassCounts = added(of_part for of_part, _ in parts)
    y = np.concatenate(count.y)
    dropped, signs = count.check(formula, na_action), cast(Vector, y)
    raw = np.concatenate(count.weights) if count.weights else weights
    raw = row_options.weights_of_rows(raw, signs, formula.coding)
    sizes = [sum(map(len, of_part.y)) for of_part, _ in parts]
    samples = [reservoirs for _, reservoirs in parts]
    numbers, X = sample_of(samples, sizes, size_of_sample(y.size, p))
    scaling, scaled, moments = None, None, count.columns
    means, spread = moments.mean, moments.spread()
    if standardize:
        if raw is not None:
            classes = zip((-1, 1), (count.negative, count.positive), strict=True)
            negative, positive = (
                of if count.weights else replace(of, n=of.n * raw[y == sign][0])
                for sign, of in classes
            )
            moments = negative.plus(positive)
        scaling = moments.scaling(formula.intercept, row_options.rows_of_weights(raw))
        X, scaled = scaling.apply(X), ScaledDesign(formula.design, scaling)
        means = (means - scaling.centre) / scaling.scale
        spread = spread / scaling.scale
    rows = StreamedRows(
        scan=scan,
        formula=formula,
        matrices=Matrices(formula, matrices.single, scaled),
        parts=[of_part.pieces for of_part, _ in parts],
        y=y,
        weights=row_options.row_weights(raw, signs, formula.coding),
        offset=np.concatenate(count.offset) if count.offset else None,
        dropped=dropped,
        radius=count.columns.radius(scaling),
        means=means,
        spread=spread,
        sampled=(numbers, X),
        step=rule.step(scan),
        first_reads=formula.n_reads + 1,
        stamps=stamps,
    )
    rows.check_unchanged()
    return rows


def streamed(data: object) -> Source | None:
    """Return the source if rows are in files or in partitions; None for other data.

    If files have changed, their cached types are dropped.
    """
    if not is_streamed(data):
        return None
    source = cast(Source, Partitions(data) if is_dask(data) else data)
    source.renewed()
    return source


def sample_of_stream(
    formula: str,
    data: object,
    needs_memory: Mapping[str, object],
    intercept: bool,
    coding: Coding,
    na_action: NaAction,
    weights: object = None,
    freq_weights: object = None,
    functions: Mapping[str, Callable[..., object]] | None = None,
    standardize: bool = False,
    offset: object = None,
) -> tuple[Sample, bool]:
    """Evaluate a formula on files or partitions, in one or a few passes.

    Returns the sample and whether it has an intercept.

    Parameters
    ----------
    formula : str
    data : Scan, Partitions or dask.dataframe.DataFrame
    needs_memory : mapping
        Options that need the rows in memory: name and value, None if not used.
    intercept, coding, na_action, weights, freq_weights, functions, standardize, offset
        As for `SVM`.

    Raises
    ------
    FormulaError, ColumnError, LabelError, DataError
        As for `resolve_formula` and `streamed_rows`.
    OptionError
        If an option needs the rows in memory.
    """
    scan = cast(Source, streamed(data))
    options = {"functions": functions, "freq_weights": freq_weights}
    check_unset(scan.title, {**needs_memory, **options})
    check_flag("standardize", standardize)
    for name, value, allowed in (
        ("offset", offset, str),
        ("weights", weights, str | dict),
    ):
        if not (value is None or isinstance(value, allowed)):
            why = f"does not go with {scan.title}; use the name of a column."
            raise OptionError(why, name, value)
    column = cast("str | None", offset)
    stamps = scan.renewed()
    resolved = resolve_formula(scan, formula, intercept, coding, column)
    rows = streamed_rows(scan, resolved, weights, standardize, na_action, stamps)
    warn_of_columns(doubtful_in(rows.matrices.design))
    n = rows.y.size
    sample = Sample(
        X=rows,
        y=cast(Vector, rows.y),  # one byte per row instead of eight
        index=pd.RangeIndex(n),
        design=rows.matrices.design,
        coding=resolved.coding,
        dropped=rows.dropped,
        complete=np.broadcast_to(np.True_, n),
        weights=rows.weights,
        weights_of=row_options.kind_of(weights),
        offset=rows.offset,
        offsets=resolved.offsets,
    )
    return sample, resolved.intercept
