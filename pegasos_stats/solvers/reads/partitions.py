"""Rows in the partitions of a Dask frame, as the method of few reads asks.

A read sends its work to each partition and brings home what is found there, which is
added up in the order of the partitions: no number depends on the number of workers. A
column that belongs to the rows stays beside them, as results of tasks that Dask
computes again, from the partitions, if a worker is lost.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Dense, Rows
from pegasos_stats.data.scan.files import computed
from pegasos_stats.data.scan.measuring import Counting, Measured
from pegasos_stats.data.scan.partitions import Partition, Partitions
from pegasos_stats.data.scan.sampling import Sampled
from pegasos_stats.solvers.reads.files import Found, InFiles
from pegasos_stats.solvers.reads.rows import (
    Block,
    Column,
    Here,
    Values,
    added,
    drawn,
)

if TYPE_CHECKING:
    from dask.delayed import Delayed


@dataclass(eq=False)
class There:
    """A number for each row, beside the rows.

    Attributes
    ----------
    parts : list
        Those of each partition, as tasks of Dask.
    """

    parts: "list[Delayed]"

    def gathered(self) -> Values:
        """The numbers of all rows, shape (n,)."""
        return np.concatenate(computed(self.parts))


class InPartitions(InFiles):
    """Rows of partitions that have been measured.

    Parameters
    ----------
    measured : Measured
        All of them together.
    counted : sequence
        What was counted of each partition, as tasks of Dask.
    sizes : sequence of int
        How many of its rows are used.

    Attributes
    ----------
    sizes : tuple of int
    """

    def __init__(
        self, measured: Measured, counted: "Sequence[Delayed]", sizes: Sequence[int]
    ) -> None:
        super().__init__(measured)
        assert isinstance(measured.scan, Partitions)
        columns = measured.agreed.rows.columns(measured.matrices.variables)
        self._frames = measured.scan.parts(columns)
        self._counted, self._edges = counted, np.cumsum([0, *sizes])
        self.sizes = tuple(sizes)
        nothing = np.zeros(0)
        few = Sampled(nothing.astype(np.int64), np.zeros((0, self.p)))
        self._lean = replace(
            measured,
            scan=Partition(pd.DataFrame(), measured.scan.memory),
            pieces=(),
            y=nothing.astype(np.int8),
            weights=None,
            offset=None,
            sample=few,
        )
        w = measured.weights
        self._weights: list[Delayed | None] = [None] * len(sizes)
        if w is not None:
            self._weights = self.column(w).parts

    def read(
        self, work: Callable[[Block, Values], Found], column: Column | None = None
    ) -> Iterator[Found]:
        """Read all rows once, where they are."""
        import dask

        look = dask.delayed(Look(self._lean, work), traverse=False)
        if column is None:
            parts: list[Delayed | None] = [None] * len(self._frames)
        else:
            assert isinstance(column, There)
            parts = column.parts
        lines = zip(
            *(self._frames, self._counted, self._weights, self._edges, parts),
            strict=False,  # there is one edge more
        )
        tasks = [dask.delayed(_looked, nout=2)(look, *line) for line in lines]
        if column is not None:
            tasks = list(dask.persist(*tasks))
        found = computed([task[0] for task in tasks])
        if column is not None:
            column.parts = list(dask.persist(*[task[1] for task in tasks]))
        self.n_reads += 1
        yield from (each for each in found if each is not None)

    def blank(self, dtype: type) -> There:
        """A column of zeros."""
        import dask

        return There([dask.delayed(np.zeros)(size, dtype) for size in self.sizes])

    def column(self, values: Values) -> There:
        """A column of these numbers."""
        import dask

        edges = zip(self._edges, self._edges[1:], strict=False)
        parts = [dask.delayed(values[first:end]) for first, end in edges]
        return There(list(dask.persist(*parts)))


@dataclass(frozen=True, eq=False)
class Look:
    """What a read does with a partition.

    Attributes
    ----------
    measured : Measured
        All rows together, without what there is of each.
    work : callable
    """

    measured: Measured
    work: Callable[[Block, Values], object]


def _looked(
    look: Look,
    frame: pd.DataFrame,
    counted: Counting,
    weights: Values | None,
    first: int,
    values: Values | None,
) -> tuple[object, Values | None]:
    """What is found in a partition, and the numbers beside its rows; None of no rows.

    What Dask holds is not changed: it may be asked for again.
    """
    if counted.n == 0:
        return None, values
    there = Partition(frame, look.measured.scan.memory)
    here = replace(
        look.measured,
        scan=there,
        agreed=replace(look.measured.agreed, rows=look.measured.agreed.rows.of(there)),
        pieces=counted.pieces,
        y=counted.y,
        weights=weights,
        offset=counted.offset,
    )
    column = None if values is None else Here(values.copy())

    def work(block: Block, beside: Values) -> object:
        return look.work(block._replace(first=int(first) + block.first), beside)

    found = added(InFiles(here, workers=1).read(work, column))
    return found, None if column is None else column.values


def in_partitions(
    measured: Measured, counted: "Sequence[Delayed]", sizes: Sequence[int], most: int
) -> InPartitions:
    """The home of partitions, with a sample of at most so many rows, for one read."""
    home = InPartitions(measured, counted, sizes)
    rows = np.sort(np.concatenate(drawn(measured.y, most)))
    sample = Sampled(rows, np.concatenate(added(home.read(partial(_taken, rows)))))
    known = replace(measured, sample=sample, n_reads=home.n_reads)
    return InPartitions(known, counted, sizes)


def _taken(rows: Rows, block: Block, values: Values) -> list[Dense]:
    begin, end = np.searchsorted(rows, [block.first, block.first + block.y.size])
    return [block.X[rows[begin:end] - block.first]]
