"""The read that counts: complete rows, labels, weights, scales, and a sample."""

from collections.abc import Sequence
from copy import copy
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
from pegasos_stats.data.weights import RowOptions, rows_of_weights
from pegasos_stats.errors import LabelError, shown
from pegasos_stats.parallel import one_ahead

if TYPE_CHECKING:
    import pyarrow as pa


class Columns:
    """Means, deviations and ranges of the columns, a piece at a time.

    Means and deviations of pieces are put together as by Chan, Golub & LeVeque,
    *Algorithms for computing the sample variance*, The American Statistician 37 (1983),
    with roots of mean squares for sums of squares, which neither overflow nor vanish.

    Attributes
    ----------
    n : float
        Number of rows, or the sum of their weights.
    mean, deviation, low, high : float64 array, shape (p,)
        Deviations have the divisor ``n``.
    """

    def __init__(self, p: int) -> None:
        self.n: float = 0
        self.mean, self.deviation = np.zeros(p), np.zeros(p)
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
                power = int(power_of_two(max(float(high - mean), float(mean - low))))
                np.ldexp(np.subtract(x, mean, out=apart), -power, out=apart)
                np.square(apart, out=apart)
                squares = apart.sum() if weights is None else weights @ apart
                piece.deviation[j] = np.ldexp(np.sqrt(squares / piece.n), power)
            piece.mean[j], piece.low[j], piece.high[j] = mean, low, high
        self.join(piece)

    def join(self, other: "Columns") -> None:
        """Add rows that were summed by themselves."""
        if other.n == 0:
            return
        self.n += other.n
        share, apart = other.n / self.n, other.mean - self.mean
        within = np.hypot(
            self.deviation * np.sqrt(1.0 - share), other.deviation * np.sqrt(share)
        )
        between = np.abs(apart) * np.sqrt(share * (1.0 - share))
        self.deviation, self.mean = np.hypot(within, between), self.mean + apart * share
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)

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
            ends = [scaling.apply(each[None])[0] for each in (self.low, self.high)]
            ends = np.abs(ends).max(axis=0) * (1.0 + 1e-9)
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


class RowCounter:
    """What has been counted of rows that follow each other, wherever they are.

    Parameters
    ----------
    agreed : ResolvedFormula
    single : bool
        Whether all predictors are of single precision.
    weights : str or None
        The column of the weights.
    by_class : bool
        Whether weighted means and deviations are wanted, of classes first.
    most : int
        Rows of each class that are sampled at most.

    Attributes
    ----------
    lines : int
        Rows that were counted, before each was repeated.
    n : int
        Rows that are used.
    pieces : list of Piece
    columns : Columns
        Moments of the predictors.
    """

    def __init__(
        self,
        agreed: ResolvedFormula,
        single: bool,
        weights: str | None,
        by_class: bool,
        most: int = 0,
    ) -> None:
        p = len(agreed.design.names)
        self.agreed, self.matrices = agreed, Matrices(agreed, single)
        extra = [name for name in (weights, agreed.counts) if name is not None]
        self._beside = [*dict.fromkeys([*agreed.outcome, *extra, *agreed.known])]
        self._weights_in = weights
        nothing: Dense = np.empty((0, p), dtype=self.matrices.dtype)
        self._samples = [Reservoir(most, nothing) for _ in "-+"]
        self.columns, self.pieces = Columns(p), list[Piece]()
        self._by_class = {sign: Columns(p) for sign in (-1, 1)} if by_class else {}
        self._y = [np.zeros(0, dtype=np.int8)]
        self._weights, self._offset = list[Vector](), list[Vector]()
        self._lacking: dict[str, int] = {}
        self.lines = self.n = self._without = self._rows = 0

    @property
    def wanted(self) -> list[str]:
        """All columns that are read."""
        return [*dict.fromkeys([*self.matrices.variables, *self._beside])]

    def step(self, scan: Scan | Partition) -> int:
        """How many rows a piece has, by what is read and by what it becomes."""
        read = rows_of_piece(scan.memory, scan.width(self.wanted))
        p = len(self.agreed.design.names)
        return min(read, rows_of_piece(scan.memory, p, SHARE))

    def of(self, scan: Scan | Partition) -> "RowCounter":
        """Count all rows of files or of a partition."""
        pieces = counted_pieces(scan, self.wanted, self.agreed.counts, self.step(scan))
        found = ((*piece, self.matrices.columns(piece.table)) for piece in pieces)
        for index, table, lines, columns in one_ahead(found):
            self.lines += lines
            if table.num_rows:
                with in_a_piece():
                    self._add(index, table, columns)
        return self

    def _add(
        self, index: pd.Index, table: "pa.RecordBatch", columns: list[Vector] | None
    ) -> None:
        """Count a piece; its columns, if they are the matrix."""
        agreed = self.agreed
        frame = frame_of(table.select(self._beside)).set_axis(index)
        given = RowOptions.of(
            self._weights_in, None, frame, index, None, agreed.offsets
        )
        labels = outcome_of(str(agreed.design.formula), frame)
        lacking = {agreed.coding.name: labels.isna().to_numpy(dtype=bool)}
        self._without += int(lacking[agreed.coding.name].sum())
        lacking |= given.lacking
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
        for name, rows in lacking.items():
            self._lack(name, int(rows.sum()))
        y = agreed.coding.encode(labels[kept]).astype(np.int8)
        each = given.weights[kept] if isinstance(given.weights, np.ndarray) else None
        self._sample(columns, y)
        self.columns.add(columns)
        for sign, moments in self._by_class.items():
            rows = y == sign
            here = None if each is None else each[rows]
            moments.add([column[rows] for column in columns], here)
        self._y.append(y)
        if each is not None:
            self._weights.append(each)
        if given.offset is not None:
            self._offset.append(given.offset[kept])
        some = None if usable.all() else usable
        ends = self.matrices.ends(table)
        self.pieces.append(Piece(table.num_rows, len(y), clean, some, ends))
        self._rows, self.n = self._rows + len(labels), self.n + len(y)

    def join(self, other: "RowCounter") -> None:
        """Add rows that follow, which were counted by themselves and not sampled."""
        self.columns.join(other.columns)
        for sign, moments in self._by_class.items():
            moments.join(other._by_class[sign])
        self.pieces += other.pieces
        self._y += other._y
        self._weights += other._weights
        self._offset += other._offset
        for name, count in other._lacking.items():
            self._lack(name, count)
        self.lines, self.n = self.lines + other.lines, self.n + other.n
        self._without += other._without
        self._rows += other._rows

    @property
    def y(self) -> NDArray[np.int8]:
        """Labels of the rows that are used, shape (n,)."""
        return np.concatenate(self._y)

    @property
    def weights(self) -> Vector | None:
        """Weights of the rows that are used, as they were given."""
        return np.concatenate(self._weights) if self._weights else None

    @property
    def offset(self) -> Vector | None:
        """Offsets of the rows that are used, shape (n,); None without."""
        return np.concatenate(self._offset) if self._offset else None

    def sample(self) -> tuple[Rows, Dense]:
        """Numbers of some rows, half of each class, and the rows."""
        size = size_of_sample(self.n, len(self.agreed.design.names))
        return sample_of(self._samples, size)

    def _lack(self, name: str, count: int) -> None:
        if count:
            self._lacking[name] = self._lacking.get(name, 0) + count

    def _sample(self, columns: Sequence[Vector], y: NDArray[np.int8]) -> None:
        keys = np.random.default_rng([SEED, len(self.pieces)]).random(y.size)
        numbers = self.n + np.arange(y.size)
        for sampling, sign in zip(self._samples, (-1, 1), strict=True):
            few = np.flatnonzero((y == sign) & (keys < sampling.largest))
            X = self.matrices.rows([column[few] for column in columns])
            sampling.add(keys[few], numbers[few], X)

    def scaling(self, weights: Vector | None) -> Scaling:
        """Means and deviations, weighted where rows are."""
        if weights is None:
            return self.columns.scaling(self.agreed.intercept)
        whole, y = Columns(len(self.columns.mean)), self.y
        for sign, moments in self._by_class.items():
            factor = 1.0 if self._weights else float(weights[y == sign][0])
            moments = copy(moments)
            moments.n *= factor
            whole.join(moments)
        return whole.scaling(self.agreed.intercept, rows_of_weights(weights))

    def dropped(self, na_action: NaAction) -> Dropped:
        """Rows that are not used.

        Raises
        ------
        DataError
            If there are some and none may be dropped, or all are.
        LabelError
            If a level of the outcome is in none that is used.
        """
        y, coding = self.y, self.agreed.coding
        others = self._rows - self._without - y.size
        dropped = Dropped(self._without, others, tuple(self._lacking.items()))
        if na_action == "raise" and dropped.total:
            raise some_missing(dropped)
        if y.size == 0:
            raise no_rows(self._rows)
        for sign, level in zip((-1, 1), coding.levels, strict=True):
            if not (y == sign).any():
                raise LabelError(
                    f"The outcome {shown(coding.name)} is {shown(level)} in no row "
                    "that is complete; take data in which both classes occur."
                )
        return dropped
