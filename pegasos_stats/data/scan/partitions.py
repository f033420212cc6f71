"""Rows in the partitions of a Dask frame, which stay where they are."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.language.factors import named_levels
from pegasos_stats.data.scan.files import Stamps, kind_of_dtype
from pegasos_stats.data.user_data import (
    check_hashable,
    plain_column,
    to_supported_dtype,
)
from pegasos_stats.errors import ColumnError, DataError, PegasosStatsError, listing

if TYPE_CHECKING:
    from dask.dataframe import DataFrame as DaskFrame
    from dask.delayed import Delayed


PLAIN = ("string", "bytes", "date", "empty")  # objects that stay as they are


def of_one_kind(column: DataColumn) -> DataColumn:
    """A column of numbers, booleans, text or categories, all of one kind.

    Objects that are numbers or booleans become these, as in memory, and so do numbers
    of pandas' own types where none is missing; sparse columns become dense, and
    categories that are neither text nor numbers, such as intervals, text.

    Raises
    ------
    ColumnError
        If objects are of different kinds.

    Examples
    --------
    >>> of_one_kind(pd.Series([1, None, 2.5], dtype=object)).tolist()
    [1.0, nan, 2.5]
    >>> of_one_kind(pd.Series(pd.arrays.SparseArray([0, 1]))).dtype
    dtype('int64')
    """
    column = named_levels(to_supported_dtype(column))
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()  # type: ignore[attr-defined]
    of_pandas = not isinstance(column.dtype, np.dtype)
    if of_pandas and pd.api.types.is_numeric_dtype(column):
        return plain_column(column)
    if column.dtype != object or pd.api.types.infer_dtype(column) in PLAIN:
        return column
    plain = plain_column(column)
    if plain.dtype == object:
        check_hashable(column.name, plain)
        found = sorted({type(value).__name__ for value in plain})
        raise ColumnError(
            f"Column {listing([column.name])} holds values of the types "
            f"{', '.join(found[:5])}; make it numbers, booleans or text."
        )
    return plain


MEMORY = 2**30  # bytes, if no budget is given


def compute_tasks(tasks: "Sequence[Delayed]") -> list[Any]:
    """What tasks give, brought home."""
    import dask

    with map_partitions():
        return list(dask.compute(*tasks))


@contextmanager
def map_partitions() -> Iterator[None]:
    """Say of partitions that are not as their frame says what is wrong with them."""
    try:
        yield
    except PegasosStatsError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split()).rstrip(".")[:160]
        raise DataError(
            f"A partition of the Dask frame is not as the frame says ({reason})."
        ) from error


@dataclass(frozen=True, eq=False)
class Partition:
    """One partition, where it is: what a `Scan` is of files.

    Attributes
    ----------
    frame : DataFrame
    memory : int
        Budget in bytes.
    """

    frame: pd.DataFrame
    memory: int

    noun, title = "partitions", "a frame of Dask"
    more = "pegasos_stats.dask.rows(data, memory=)"  # of the budget

    def width(self, columns: Sequence[str]) -> float:
        """As that of `Scan`; all rows are in memory already."""
        return len(columns)

    def frames(self, columns: Sequence[str], rows: int) -> Iterator[pd.DataFrame]:
        """The rows, some at a time, the same each time."""
        bare = self.frame.reset_index(drop=True)
        whole = pd.DataFrame({name: of_one_kind(bare[name]) for name in columns})
        for first in range(0, len(whole), rows):
            labels = self.frame.index[first : first + rows]
            yield whole.iloc[first : first + rows].set_axis(labels)


@dataclass(frozen=True, eq=False)
class Partitions:
    """Rows of a Dask frame, given to ``svm`` and ``logit`` as data.

    Attributes
    ----------
    frame : dask.dataframe.DataFrame
    memory : int
        Budget in bytes for rows that are brought home.
    """

    frame: "DaskFrame"
    memory: int = MEMORY

    noun, title, more = Partition.noun, Partition.title, Partition.more
    n_reads = 0  # to know the types of columns

    def holds(self, data: object) -> bool:
        """Whether data are the same frame."""
        return data is self.frame

    def renewed(self) -> Stamps:
        """Nothing: there are no files to look at."""
        return {}

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds, as of a `Scan`."""
        return {name: kind_of_dtype(of) for name, of in self.frame.dtypes.items()}

    def check(self, columns: Iterable[str]) -> None:
        """Raise `ColumnError` for a column that is not there, or there twice."""
        check_columns(self.frame._meta, columns)

    def is_single(self, columns: Iterable[str]) -> bool:
        """Whether all of these columns are of single precision."""
        return all(self.frame.dtypes[column] == "float32" for column in columns)

    def parts(self, columns: Sequence[str]) -> "list[Delayed]":
        """Each partition of these columns, as a task of Dask."""
        with map_partitions():
            return list(self.frame[list(columns)].to_delayed())

    def tasks(
        self,
        call: Callable[[Any, pd.DataFrame], object],
        given: object,
        columns: Sequence[str] | None = None,
    ) -> "list[Delayed]":
        """What a call makes of something given and of each partition, as tasks."""
        import dask

        sent, there = (dask.delayed(each, traverse=False) for each in (given, call))
        parts = self.frame.to_delayed() if columns is None else self.parts(columns)
        return [there(sent, part) for part in parts]
