"""The read that counts: complete rows, labels, weights, scales, and a sample."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Mask, Rows, Vector
from pegasos_stats.data.columns import are_finite, in_a_piece
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.sample import (
    Dropped,
    NaAction,
    no_rows,
    some_missing,
)
from pegasos_stats.data.scaling import ScaledDesign, Scaling, overflow, power_of_two
from pegasos_stats.data.scan.files import Scan, rows_of_piece
from pegasos_stats.data.scan.formats import BOOLEANS, NUMBERS, kind_of
from pegasos_stats.data.scan.frames import frame_of
from pegasos_stats.data.scan.levels import ResolvedFormula, counted_pieces
from pegasos_stats.data.scan.partitions import Partition
from pegasos_stats.data.weights import RowOptions
from pegasos_stats.errors import LabelError, shown
from pegasos_stats.parallel import one_ahead

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Columns:
    """Means, deviations and ranges of the columns of some rows.

    Those of pieces are put together as by Chan, Golub & LeVeque, *Algorithms for
    computing the sample variance*, The American Statistician 37 (1983), with roots of
    mean squares for sums of squares, which neither overflow nor vanish.

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
        """Those of a piece, which is given by its columns."""
        p, m = len(columns), columns[0].size if columns else 0
        n: float = m if weights is None else float(weights.sum())
        found = cls(n, *(np.zeros(p) for _ in range(4)))
        apart = np.empty(m)
        for j, x in enumerate(columns if n else ()):
            with np.errstate(over="ignore", invalid="ignore"):
                mean, low, high = x.mean(dtype=np.float64), x.min(), x.max()
                if weights is not None:
                    mean = weights @ x / n
                power = int(power_of_two(max(float(high - mean), float(mean - low))))
                np.ldexp(np.subtract(x, mean, out=apart), -power, out=apart)
                np.square(apart, out=apart)
                squares = apart.sum() if weights is None else weights @ apart
                found.deviation[j] = np.ldexp(np.sqrt(squares / n), power)
            found.mean[j], found.low[j], found.high[j] = mean, low, high
        return found

    def plus(self, other: "Columns") -> "Columns":
        """Those of both, of rows that were summed by themselves."""
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        n = self.n + other.n
        share, apart = other.n / n, other.mean - self.mean
        within = np.hypot(
            self.deviation * np.sqrt(1.0 - share), other.deviation * np.sqrt(share)
        )
        between = np.abs(apart) * np.sqrt(share * (1.0 - share))
        return Columns(
            n,
            self.mean + apart * share,
            np.hypot(within, between),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def scaling(self, intercept: bool, count: float | None = None) -> Scaling:
        """Means and standard deviations, as by `Scaling.of`."""
        divisor = self.n - self.n / (count or self.n) or self.n
        deviation = self.deviation * np.sqrt(self.n / divisor)
        if not np.isfinite(deviation).all():
            raise overflow()
        return Scaling.of_moments(self.mean, deviation, intercept)

    def spread(self) -> Vector:
        """Standard deviations with divisor ``n``; exactly 0 of constant columns."""
        return np.where(self.low == self.high, 0.0, self.deviation)

    def radius(self, scaling: Scaling | None) -> float:
        """A bound of the largest ``||x_i||``."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        if scaling is not None:
            both = np.abs(scaling.apply(np.array([self.low, self.high])))
            ends = both.max(axis=0) * (1.0 + 1e-9)
        return float(np.hypot.reduce(ends))


class Matrices:
    """How pieces become rows of numbers.

    Attributes
    ----------
    design : Design
        What was agreed on, scaled if it is to be.
    variables : tuple of str
    single : bool
        Whether rows are of single precision, as all columns are.
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

    def columns(self, piece: "pa.RecordBatch") -> list[Vector] | None:
        """Columns of numbers, before any scaling, that are the matrix as they are.

        None if a value is missing, or is no number, or the matrix is computed.
        """
        columns = [piece.column(name) for name in self._names or ()]
        kinds = NUMBERS, BOOLEANS
        if not columns or any(
            kind_of(c.type) not in kinds or c.null_count for c in columns
        ):
            return None
        return [_numbers(column).astype(self.dtype, copy=False) for column in columns]

    def ends(self, piece: "pa.RecordBatch") -> int:
        """A checksum of the predictors in the first and the last row of a piece."""
        few, last = piece.select(list(self.variables)), piece.num_rows - 1
        rows = [few.slice(at, 1).to_pylist() for at in (0, last)]
        return crc32(repr(rows).encode())

    def rows(self, numbers: Sequence[Vector]) -> Dense:
        """Rows, C-contiguous, of some columns that `columns` gave."""
        columns = np.array(numbers, dtype=self.dtype)
        if self._scaling is not None:
            columns -= self._scaling.centre[:, None].astype(self.dtype)
            columns /= self._scaling.scale[:, None].astype(self.dtype)
        X: Dense = np.empty(columns.shape[::-1], dtype=self.dtype)
        np.copyto(X, columns.T)
        return X

    def matrix(
        self, piece: "pa.RecordBatch", index: pd.Index, usable: Mask
    ) -> tuple[Dense, Mask, dict[str, Mask]]:
        """Rows of any piece with these labels: those usable ones that lack no value.

        Values of the other rows may be any, as levels that no other row has.

        Returns
        -------
        array, shape (k, p)
        bool array
            Which they are.
        dict
            In which rows a column has no value.
        """
        frame = frame_of(piece.select(list(self.variables))).set_axis(index)
        found = self.design.matrix(frame if usable.all() else frame[usable])
        rows, kept = np.flatnonzero(usable), np.zeros(len(frame), dtype=bool)
        kept[rows[found.kept]] = True
        lacking = {
            name: frame[name].isna().to_numpy(dtype=bool) & ~usable
            for name in self.variables
        }
        for name, places in found.missing.items():
            lacking[name] = lacking.get(name, np.zeros(len(frame), dtype=bool))
            lacking[name][rows[places]] = True
        return np.ascontiguousarray(found.values, dtype=self.dtype), kept, lacking


def _numbers(column: "pa.Array") -> Vector:
    """Numbers of a column without missing values; booleans and decimals too."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    found: Vector = column.to_numpy(zero_copy_only=False)
    return found


WAITING = 0.25  # of the sample, rows that wait
LARGEST, SHARE_OF_ALL = 200_000, 0.1  # rows of a sample, and as a share of all
FEWEST = 20  # rows of a sample for each coefficient
SEED = 1  # of the rows of a sample
SHARE = 4  # of the budget, that a piece of the matrix may take


def size_of_sample(n: int, p: int) -> int:
    """A tenth of the rows, within bounds.

    Examples
    --------
    >>> size_of_sample(1_000_000, 50), size_of_sample(10**8, 50)
    (100000, 200000)
    """
    return min(n, LARGEST, max(int(SHARE_OF_ALL * n), FEWEST * (p + 1)))


class Reservoir:
    """The rows with the smallest keys so far, at most so many, in rising order.

    Parameters
    ----------
    most : int
    nothing : array, shape (0, p)
        Of the precision of the rows.

    Examples
    --------
    >>> sampling = Reservoir(2, np.zeros((0, 1)))
    >>> for key, number in ((0.5, 0), (0.7, 1), (0.6, 2), (0.9, 3)):
    ...     sampling.add(np.array([key]), np.array([number]), np.full((1, 1), number))
    >>> sample_of([sampling], 2)
    (array([0, 2]), array([[0.], [2.]]))
    """

    def __init__(self, most: int, nothing: Dense) -> None:
        self._most, self.largest = most, np.inf if most else 0.0  # key that may join
        self._parts: list[tuple[Vector, Rows, Dense]]
        self._parts = [(np.zeros(0), np.zeros(0, dtype=np.int64), nothing)]

    def add(self, keys: Vector, numbers: Rows, X: Dense) -> None:
        """Add rows, with numbers above those of all before; in rising order."""
        self._parts.append((keys, numbers, X))
        if sum(keys.size for keys, _, _ in self._parts) > (1.0 + WAITING) * self._most:
            self.largest = float(self.smallest(self._most)[0].max(initial=0.0))

    def smallest(self, most: int) -> tuple[Vector, Rows, Dense]:
        """Keys, numbers and rows of the smallest keys, which alone stay."""
        keys, numbers = (
            np.concatenate([part[j] for part in self._parts]) for j in (0, 1)
        )
        stays, rows, first = np.sort(np.argsort(keys, kind="stable")[:most]), [], 0
        for _, of_part, X in self._parts:
            begin, end = np.searchsorted(stays, [first, first + of_part.size])
            rows.append(X[stays[begin:end] - first])
            first += of_part.size
        kept: Dense = np.concatenate(rows)  # type: ignore[assignment]
        self._parts = [(keys[stays], numbers[stays], kept)]
        return self._parts[0]


def sample_of(parts: Sequence[Reservoir], most: int) -> tuple[Rows, Dense]:
    """As many rows of each part, at most so many of all."""
    found = [part.smallest(most // len(parts)) for part in parts]
    numbers = np.sort(np.concatenate([of_part for _, of_part, _ in found]))
    X = np.empty((numbers.size, found[0][2].shape[1]), dtype=found[0][2].dtype)
    for _, of_part, rows in found:
        X[np.searchsorted(numbers, of_part)] = rows
    return numbers, X


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


class Counted(NamedTuple):
    """What has been counted of rows that follow each other, wherever they are.

    Attributes
    ----------
    columns, negative, positive : Columns
        Moments of the predictors; of each class, weighted, if they are wanted.
    pieces : list of Piece
    y, weights, offset : list of arrays
        Of the rows of each piece that are used, weights as they were given.
    lacking : Counter
        How many values each column lacks.
    lines, rows, without : int
        Rows, before and after each was repeated, and those without an outcome.
    """

    columns: Columns
    negative: Columns
    positive: Columns
    pieces: list[Piece]
    y: list[NDArray[np.int8]]
    weights: list[Vector]
    offset: list[Vector]
    lacking: Counter[str]
    lines: int
    rows: int
    without: int

    def check(self, agreed: ResolvedFormula, na_action: NaAction) -> Dropped:
        """Rows that are not used.

        Raises
        ------
        DataError
            If there are some and none may be dropped, or all are.
        LabelError
            If a level of the outcome is in none that is used.
        """
        y, coding = np.concatenate(self.y), agreed.coding
        others = self.rows - self.without - y.size
        dropped = Dropped(self.without, others, tuple(self.lacking.items()))
        if na_action == "raise" and dropped.total:
            raise some_missing(dropped)
        if y.size == 0:
            raise no_rows(self.rows)
        for sign, level in zip((-1, 1), coding.levels, strict=True):
            if not (y == sign).any():
                raise LabelError(
                    f"The outcome {shown(coding.name)} is {shown(level)} in no row "
                    "that is complete; take data in which both classes occur."
                )
        return dropped


NO_COLUMNS = Columns.of([])
NO_LABELS = np.zeros(0, dtype=np.int8)
NOTHING = Counted(
    *(NO_COLUMNS, NO_COLUMNS, NO_COLUMNS, [], [NO_LABELS], [], [], Counter(), 0, 0, 0)
)


@dataclass(frozen=True, eq=False)
class CountingRule:
    """What is counted of rows.

    Attributes
    ----------
    agreed : ResolvedFormula
    matrices : Matrices
    weights : str or None
        The column of the weights.
    by_class : bool
        Whether weighted means and deviations are wanted, of classes first.
    """

    agreed: ResolvedFormula
    matrices: Matrices
    weights: str | None
    by_class: bool

    @property
    def beside(self) -> list[str]:
        """Columns that are no predictors."""
        given = self.weights, self.agreed.counts
        extra = [name for name in given if name is not None]
        return [*dict.fromkeys([*self.agreed.outcome, *extra, *self.agreed.known])]

    @property
    def wanted(self) -> list[str]:
        """All columns that are read."""
        return [*dict.fromkeys([*self.matrices.variables, *self.beside])]

    def step(self, scan: Scan | Partition) -> int:
        """How many rows a piece has, by what is read and by what it becomes."""
        read = rows_of_piece(scan.memory, scan.width(self.wanted))
        p = len(self.agreed.design.names)
        return min(read, rows_of_piece(scan.memory, p, SHARE))

    def pieces(
        self, scan: Scan | Partition, samples: Sequence[Reservoir] = ()
    ) -> Iterator[Counted]:
        """Count each piece of files or a partition; sample rows of -1 and of +1."""
        pieces = counted_pieces(scan, self.wanted, self.agreed.counts, self.step(scan))
        found = ((*piece, self.matrices.columns(piece.table)) for piece in pieces)
        number = n = 0
        yield NOTHING
        for labels, table, lines, columns in one_ahead(found):
            if not table.num_rows:
                yield NOTHING._replace(lines=lines)
                continue
            with in_a_piece():
                part, columns = self._counted(labels, table, columns)
            y = part.y[0]
            keys = np.random.default_rng([SEED, number]).random(y.size)
            for sampling, sign in zip(samples, (-1, 1), strict=False):
                few = np.flatnonzero((y == sign) & (keys < sampling.largest))
                X = self.matrices.rows([column[few] for column in columns])
                sampling.add(keys[few], n + few, X)
            number, n = number + 1, n + y.size
            yield part._replace(lines=lines)

    def _counted(
        self, index: pd.Index, table: "pa.RecordBatch", columns: list[Vector] | None
    ) -> tuple[Counted, list[Vector]]:
        """Count a piece and find the columns of its rows that are used."""
        agreed = self.agreed
        frame = frame_of(table.select(self.beside)).set_axis(index)
        given = RowOptions.of(self.weights, None, frame, index, None, agreed.offsets)
        labels = outcome_of(str(agreed.design.formula), frame)
        without = labels.isna().to_numpy(dtype=bool)
        lacking = {agreed.coding.name: without} | given.lacking
        if agreed.counts is not None:
            lacking["freq_weights"] = frame[agreed.counts].isna().to_numpy(dtype=bool)
        kept = usable = ~np.any([*lacking.values()], axis=0)
        clean = columns is not None and all(map(are_finite, columns))
        if columns is not None and clean:
            if not usable.all():
                columns = [column[usable] for column in columns]
        else:
            X, kept, further = self.matrices.matrix(table, index, usable)
            columns, lacking = [*np.ascontiguousarray(X.T)], lacking | further
        y = agreed.coding.encode(labels[kept]).astype(np.int8)
        each = given.weights[kept] if isinstance(given.weights, np.ndarray) else None

        def of_class(sign: int) -> Columns:
            rows = y == sign
            here = None if each is None else each[rows]
            return Columns.of([column[rows] for column in columns], here)

        some = None if usable.all() else usable
        ends = self.matrices.ends(table)
        found = Counted(
            columns=Columns.of(columns),
            negative=of_class(-1) if self.by_class else NO_COLUMNS,
            positive=of_class(1) if self.by_class else NO_COLUMNS,
            pieces=[Piece(table.num_rows, len(y), clean, some, ends)],
            y=[y],
            weights=[] if each is None else [each],
            offset=[] if given.offset is None else [given.offset[kept]],
            lacking=+Counter({name: int(rows.sum()) for name, rows in lacking.items()}),
            lines=0,
            rows=len(labels),
            without=int(without.sum()),
        )
        return found, columns
