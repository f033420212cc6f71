"""Pieces of files as rows of numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Dense, Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.data.columns import Mask
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.agreeing import Agreed
from pegasos_stats.data.scan.joining import frame_of
from pegasos_stats.data.scan.kinds import BOOLEANS, NUMBERS, kind_of
from pegasos_stats.errors import ColumnError

if TYPE_CHECKING:
    import pyarrow as pa


class Matrices:
    """How pieces become rows of numbers.

    Attributes
    ----------
    design : Design
        What was agreed on, scaled if it is to be.
    """

    def __init__(
        self, agreed: Agreed, single: bool, scaled: ScaledDesign | None = None
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
        arithmetic.columns.put_rows(columns, X)
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
