"""Rows in files: where a `Measured` scan has them, as the method of few reads asks."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from pegasos_stats.arrays import Dense
from pegasos_stats.data.columns import are_finite
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.matrix_in_files import rows_used
from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.parallel import map_in_order
from pegasos_stats.solvers.centring import constants_of
from pegasos_stats.solvers.reads.rows import (
    Block,
    Column,
    Here,
    Taken,
    Values,
    rows_of_block,
    values_of,
)

Found = TypeVar("Found")

SHARE = 4  # of the budget that rows that are kept may take, and products of blocks
MATRICES = 2  # of p x p numbers, which a block takes for its products


class InFiles:
    """Rows of a scan that has been measured.

    Parameters
    ----------
    measured : Measured
    workers : int, optional
        Number of threads; no number depends on it.

    Attributes
    ----------
    n_reads : int
        How many times all rows have been read.
    """

    def __init__(self, measured: Measured, workers: int | None = None) -> None:
        self._measured, self._workers = measured, workers
        self.n, self.p = measured.y.size, len(measured.agreed.design.names)
        self.radius, self.weights = measured.radius, measured.weights
        w = measured.weights
        below, above = (
            float(np.count_nonzero(of_class) if w is None else w[of_class].sum())
            for of_class in (measured.y < 0, measured.y > 0)
        )
        self.class_weights, self._offset = (below, above), measured.offset
        known = measured.offset
        self.farthest = None if known is None else float(np.abs(known).max())
        is_scaled = isinstance(measured.matrices.design, ScaledDesign)
        self.constants = (
            None if is_scaled else constants_of(measured.means, measured.spread)
        )
        self.n_reads = measured.n_reads
        self.more = measured.scan.more
        products = measured.scan.memory // SHARE // (8 * MATRICES * self.p**2)
        self._at_once = max(1, products)  # blocks, each with its products
        self.most_kept = max(1, measured.scan.memory // SHARE // (8 * self.p))

    def read(
        self, work: Callable[[Block, Values], Found], column: Column | None = None
    ) -> Iterator[Found]:
        """Read all rows once."""

        def found(make: Callable[[], Block]) -> Found:
            block = make()
            return work(block, values_of(column, block))

        yield from map_in_order(found, self._blocks(), self._workers, self._at_once)
        self.n_reads += 1

    def blank(self, dtype: type) -> Column:
        """A column of zeros."""
        return Here(np.zeros(self.n, dtype=dtype))

    def column(self, values: Values) -> Column:
        """A column of these numbers."""
        return Here(values)

    def sample(self, most: int) -> Taken:
        """Rows drawn at random."""
        numbers, X = self._measured.sample
        step = -(-numbers.size // most)
        rows, X = numbers[::step], X[::step]
        w = np.ones(rows.size) if self.weights is None else self.weights[rows]
        offset = None if self._offset is None else self._offset[rows]
        y = self._measured.y[rows].astype(np.float64)
        return Taken(rows, X, y, w, offset)

    def _blocks(self) -> Iterator[Callable[[], Block]]:
        """What makes each block; a piece that is clean in the thread that uses it."""
        matrices, step = self._measured.matrices, rows_of_block(self.p)
        for piece, first, table in self._measured.tables():
            if piece.clean and piece.usable is None:
                numbers = matrices.numbers(table)
                for at in range(0, piece.used, step):
                    part = [column[at : at + step] for column in numbers]
                    yield partial(self._block, first + at, matrices.rows, part)
                continue
            X = rows_used(self._measured, piece, table)
            for at in range(0, piece.used, step):
                yield partial(self._block, first + at, np.array, X[at : at + step])

    def _block(self, first: int, rows: Callable[..., Dense], part: object) -> Block:
        X = rows(part)
        if not are_finite(X):
            raise self._measured.changed()
        here = slice(first, first + len(X))
        w = np.ones(len(X)) if self.weights is None else self.weights[here]
        offset = None if self._offset is None else self._offset[here]
        return Block(first, X, self._measured.y[here].astype(np.float64), w, offset)
