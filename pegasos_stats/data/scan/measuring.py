"""The read that counts: complete rows, labels, weights, scales, and a sample."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Vector
from pegasos_stats.data.columns import Mask
from pegasos_stats.data.formula import outcome_of
from pegasos_stats.data.offset import missing_in, total
from pegasos_stats.data.sample import Dropped, NaAction
from pegasos_stats.data.scaling import ScaledDesign, Scaling, overflow
from pegasos_stats.data.scan.agreeing import Agreed, frame_of, no_rows
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.matrices import Matrices
from pegasos_stats.data.scan.sampling import Sampled, Sampling
from pegasos_stats.data.weights import given_weights, row_weights
from pegasos_stats.errors import DataError, LabelError, counted, shown

if TYPE_CHECKING:
    import pyarrow as pa

SEED = 1  # of the rows of a sample


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
    """

    size: int
    used: int
    clean: bool
    usable: Mask | None


class Columns:
    """Means, deviations and ranges of the columns, a piece at a time.

    Means and squares of pieces are put together as by Chan, Golub & LeVeque,
    *Algorithms for computing the sample variance*, The American Statistician 37 (1983).
    """

    def __init__(self, p: int) -> None:
        self.n, self.mean, self._squares = 0, np.zeros(p), np.zeros(p)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, X: Dense) -> None:
        """Add the rows of a piece."""
        if len(X) == 0:
            return
        count = self.n + len(X)
        mean = X.mean(axis=0, dtype=np.float64)
        apart = mean - self.mean
        self._squares += np.square(X - mean).sum(axis=0)
        self._squares += np.square(apart) * (self.n * (len(X) / count))
        self.mean = self.mean + apart * (len(X) / count)
        self.n = count
        self.low = np.minimum(self.low, X.min(axis=0))
        self.high = np.maximum(self.high, X.max(axis=0))

    def scaling(self, intercept: bool) -> Scaling:
        """Means and standard deviations, as by `Scaling.of`."""
        deviation = np.sqrt(self._squares / max(self.n - 1, 1))
        if not np.isfinite(deviation).all():
            raise overflow()
        return Scaling.of_moments(self.mean, deviation, intercept)

    def spread(self) -> Vector:
        """Standard deviations with divisor ``n``; exactly 0 of constant columns."""
        found = np.sqrt(self._squares / max(self.n, 1))
        return np.where(self.low == self.high, 0.0, found)

    def radius(self, scaling: Scaling | None) -> float:
        """A bound of the largest ``||x_i||``."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        if scaling is not None:
            ends = [scaling.apply(each[None])[0] for each in (self.low, self.high)]
            ends = np.abs(ends).max(axis=0) * (1.0 + 1e-9)
        with np.errstate(over="ignore"):
            return float(np.sqrt(ends @ ends))


@dataclass(frozen=True, eq=False)
class Measured:
    """All rows of a scan, but for their predictors.

    Attributes
    ----------
    scan : Scan
    agreed : Agreed
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
    samples : pair of Sampled
        Of the rows of -1, and of +1.
    step : int
        Rows of a piece at most.
    n_reads : int
        Of all rows, so far.
    """

    scan: Scan
    agreed: Agreed
    matrices: Matrices
    pieces: tuple[Piece, ...]
    y: NDArray[np.int8]
    weights: Vector | None
    offset: Vector | None
    dropped: Dropped
    radius: float
    means: Vector
    spread: Vector
    samples: tuple[Sampled, Sampled]
    step: int
    n_reads: int

    def tables(self) -> Iterator[tuple[Piece, int, "pa.RecordBatch"]]:
        """Read the predictors once: each piece, the number of its first row, itself.

        Raises
        ------
        DataError
            If the files are not as they were.
        """
        first, known = 0, iter(self.pieces)
        for table in self.agreed.rows.pieces(self.matrices.variables, self.step):
            piece = next(known, None)
            if piece is None or piece.size != table.num_rows:
                raise DataError(CHANGED)
            yield piece, first, table
            first += piece.used
        if next(known, None) is not None:
            raise DataError(CHANGED)


CHANGED = "The files have changed since they were first read; fit them again."


def measure(
    scan: Scan,
    agreed: Agreed,
    weights: object,
    standardize: bool,
    na_action: NaAction,
    most: int,
) -> Measured:
    """Read all rows and count them.

    Parameters
    ----------
    scan : Scan
    agreed : Agreed
    weights : str, dict or None
        The name of a column, or as for `class_weights`.
    standardize : bool
    na_action : "drop" or "raise"
    most : int
        Rows of the sample of each class.

    Raises
    ------
    LabelError
        If a label is none of the two levels.
    ColumnError
        If a column cannot be used, or there is none of the weights' name.
    DataError
        If no row is complete, or some row is not and none may be dropped.
    """
    matrices = Matrices(agreed, scan.is_single(agreed.design.variables))
    by_column = isinstance(weights, str) and weights != "balanced"
    extra = [str(weights)] if by_column else []
    if by_column and weights not in scan.kinds:
        given_weights(weights, pd.DataFrame(columns=list(scan.kinds)), pd.RangeIndex(0))
    scan.check(extra)
    beside = [*dict.fromkeys([*agreed.outcome, *extra, *agreed.known])]
    wanted = [*dict.fromkeys([*matrices.variables, *beside])]
    count, step = Counting(agreed, matrices, most), scan.rows_at_once(wanted)
    for table in agreed.rows.pieces(wanted, step):
        count.add(table, beside, weights if by_column else None)
    left = None if by_column else weights
    return count.finished(scan, left, standardize, na_action, step)


class Counting:
    """What has been counted so far."""

    def __init__(self, agreed: Agreed, matrices: Matrices, most: int) -> None:
        self._agreed, self._matrices = agreed, matrices
        p = len(agreed.design.names)
        self._samples = [Sampling(matrices.room(most, p)) for _ in "-+"]
        self._columns = Columns(p)
        self._pieces: list[Piece] = []
        self._y: list[NDArray[np.int8]] = []
        self._weights: list[Vector] = []
        self._offset: list[Vector] = []
        self._lacking: dict[str, int] = {}
        self._without = self._rows = self._n = 0

    def add(self, table: "pa.RecordBatch", beside: list[str], weights: object) -> None:
        """Count a piece."""
        agreed, size = self._agreed, table.num_rows
        frame = frame_of(table.select(beside))
        frame.index = frame.index + self._rows
        labels = outcome_of(str(agreed.design.formula), frame)
        usable = labels.notna().to_numpy(dtype=bool)
        self._lack(agreed.coding.name, size - int(usable.sum()))
        self._without += size - int(usable.sum())
        each = None
        if weights is not None:
            each = given_weights(weights, frame, frame.index)
            assert each is not None  # the name of a column
            self._lack("weights", int(np.isnan(each).sum()))
            usable = usable & ~np.isnan(each)
        offsets = agreed.offsets
        parts = {} if offsets is None else offsets.by_part(frame)
        for name, rows in missing_in(parts).items():
            if name not in self._matrices.variables:  # which count it themselves
                self._lack(name, len(rows))
            usable = usable & ~np.isin(np.arange(size), rows)
        predictors = table.select(list(self._matrices.variables))
        clean = self._matrices.is_clean(predictors)
        if clean:
            X, kept = self._matrices.rows(predictors)[usable], usable
        else:
            matrix = self._matrices.matrix(predictors, self._rows)
            for name, rows in matrix.missing.items():
                self._lack(name, len(rows))
            kept = usable & matrix.kept
            X = matrix.values[usable[matrix.kept]]
        y = agreed.coding.encode(labels[kept]).astype(np.int8)
        self._sample(X, y)
        self._columns.add(X)
        self._y.append(y)
        if each is not None:
            self._weights.append(each[kept])
        if offsets is not None:
            self._offset.append(total(parts)[kept])
        known = None if usable.all() else usable
        self._pieces.append(Piece(size, len(y), clean, known))
        self._rows, self._n = self._rows + size, self._n + len(y)

    def _lack(self, name: str, count: int) -> None:
        if count:
            self._lacking[name] = self._lacking.get(name, 0) + count

    def _sample(self, X: Dense, y: NDArray[np.int8]) -> None:
        keys = np.random.default_rng([SEED, len(self._pieces)]).random(y.size)
        numbers = self._n + np.arange(y.size)
        for sampling, sign in zip(self._samples, (-1, 1), strict=True):
            few = np.flatnonzero((y == sign) & (keys < sampling.largest))
            sampling.add(keys[few], numbers[few], X[few])

    def finished(
        self,
        scan: Scan,
        weights: object,
        standardize: bool,
        na_action: NaAction,
        step: int,
    ) -> Measured:
        """What all pieces say together."""
        agreed, matrices = self._agreed, self._matrices
        y = np.concatenate([*self._y, np.zeros(0, dtype=np.int8)])
        names = tuple(self._lacking.items())
        dropped = Dropped(
            self._without, self._rows - self._without - y.size, missing=names
        )
        if na_action == "raise" and dropped.total:
            raise DataError(
                f"There are missing values in {counted(dropped.total, 'row')}: "
                f"{dropped.by_column}; fill them, or leave the rows out with "
                "na_action='drop'."
            )
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
            each = row_weights(given, y.astype(np.float64), agreed.coding)
        scaling, samples = None, [sampling.sampled() for sampling in self._samples]
        if standardize:
            scaling = self._columns.scaling(agreed.intercept)
            design = ScaledDesign(agreed.design, scaling)
            matrices = Matrices(agreed, matrices.single, design)
            samples = [each._replace(X=scaling.apply(each.X)) for each in samples]
        low, high = samples
        return Measured(
            scan=scan,
            agreed=agreed,
            matrices=matrices,
            pieces=tuple(self._pieces),
            y=y,
            weights=each,
            offset=np.concatenate(self._offset) if self._offset else None,
            dropped=dropped,
            radius=self._columns.radius(scaling),
            means=self._columns.mean,
            spread=self._columns.spread(),
            samples=(low, high),
            step=step,
            n_reads=agreed.n_reads + 1,
        )
