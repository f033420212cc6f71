"""Rows of a Dask frame, processed on its workers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data import user_data
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.files import BOOLEANS, NUMBERS, TEXT
from pegasos_stats.data.language.formula_design import named_levels
from pegasos_stats.data.scan import files
from pegasos_stats.errors import ColumnError, DataError, PegasosStatsError, listing

if TYPE_CHECKING:
    from dask.dataframe import DataFrame as DaskFrame
    from dask.delayed import Delayed

PLAIN = ("string", "bytes", "date", "empty")  # object columns that need no conversion


def of_one_kind(column: DataColumn) -> DataColumn:
    """Convert a column to numbers, booleans, text or categories.

    Object columns of numbers or booleans, and nullable numbers, get the dtype that they
    get for data in memory, see `plain_column`. Sparse columns become dense. Categories
    that are neither text, numbers nor booleans, such as intervals, become text.

    Raises
    ------
    ColumnError
        If a column contains objects of different types.

    Examples
    --------
    >>> of_one_kind(pd.Series([1, None, 2.5], dtype=object)).tolist()
    [1.0, nan, 2.5]
    >>> of_one_kind(pd.Series(pd.arrays.SparseArray([0, 1]))).dtype
    dtype('int64')
    """
    column = named_levels(user_data.to_supported_dtype(column))
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()  # type: ignore[attr-defined]
    of_pandas = not isinstance(column.dtype, np.dtype)
    if of_pandas and pd.api.types.is_numeric_dtype(column):
        return user_data.plain_column(column)
    if column.dtype != object or pd.api.types.infer_dtype(column) in PLAIN:
        return column
    plain = user_data.plain_column(column)
    if plain.dtype == object:
        user_data.check_hashable(column.name, plain)
        types = sorted({type(value).__name__ for value in plain})
        raise ColumnError(
            f"Column {listing([column.name])} contains values of the types "
            f"{', '.join(types[:5])}; convert it to numbers, booleans or text."
        )
    return plain


def kind_of_dtype(dtype: object) -> str:
    """Kind of a pandas column: one of `files.ALLOWED`, or the name of its dtype.

    Examples
    --------
    >>> kind_of_dtype(np.dtype(bool)), kind_of_dtype(pd.SparseDtype(float))
    ('booleans', 'numbers')
    >>> kind_of_dtype(np.dtype(complex)), kind_of_dtype(pd.CategoricalDtype())
    ('complex128', 'text')
    """
    empty = user_data.to_supported_dtype(pd.Series(dtype=dtype))  # type: ignore[call-overload]
    if isinstance(empty.dtype, pd.CategoricalDtype):
        return TEXT
    if dtype == np.dtype(object):
        return files.UNKNOWN
    if pd.api.types.is_bool_dtype(empty):
        return BOOLEANS
    if pd.api.types.is_numeric_dtype(empty) and empty.dtype.kind != "c":
        return NUMBERS
    return TEXT if pd.api.types.is_string_dtype(empty) else str(dtype)


@contextmanager
def convert_mismatches() -> Iterator[None]:
    """Raise `DataError` if a partition does not match the metadata of its frame."""
    try:
        yield
    except PegasosStatsError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split()).rstrip(".")[:160]
        raise DataError(
            f"A partition differs from the metadata of its Dask frame ({reason}); "
            "create the frame with the correct meta=."
        ) from error


@dataclass(frozen=True, eq=False)
class Partition:
    """One partition on its worker, with the interface of a `Scan`.

    Attributes
    ----------
    frame : DataFrame
    memory : int
        Budget in bytes.
    """

    frame: pd.DataFrame
    memory: int

    noun, title, is_ordered = "partitions", "a frame of Dask", False
    more = "pegasos_stats.dask.rows(data, memory=)"  # where to increase the budget

    def frames(
        self, columns: Sequence[str], rows: int | None = None
    ) -> Iterator[pd.DataFrame]:
        """Yield the rows in blocks, which are the same in every pass."""
        rows = rows or files.rows_of_piece(self.memory, len(columns))
        bare = self.frame.reset_index(drop=True)
        whole = pd.DataFrame({name: of_one_kind(bare[name]) for name in columns})
        for first in range(0, len(whole), rows):
            labels = self.frame.index[first : first + rows]
            yield whole.iloc[first : first + rows].set_axis(labels)


@dataclass(frozen=True, eq=False)
class Partitions:
    """Rows of a Dask frame, as data for ``svm`` and ``logit``.

    Attributes
    ----------
    frame : dask.dataframe.DataFrame
    memory : int
        Budget in bytes for rows that the client holds in memory.
    """

    frame: "DaskFrame"
    memory: int = 2**30

    noun, title, more = Partition.noun, Partition.title, Partition.more
    n_reads, is_ordered = 0, False  # no pass is needed to determine column types

    def holds(self, data: object) -> bool:
        """Whether `data` is the same frame."""
        return data is self.frame

    def renewed(self) -> files.Stamps:
        """Return an empty dictionary: there are no files that could change."""
        return {}

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Kind of each column, as for a `Scan`."""
        return {name: kind_of_dtype(of) for name, of in self.frame.dtypes.items()}

    def check(self, columns: Iterable[str]) -> None:
        """Raise `ColumnError` if a column is missing or occurs twice."""
        check_columns(self.frame._meta, columns)

    def is_single(self, columns: Iterable[str]) -> bool:
        """Whether all of these columns are of single precision."""
        return all(self.frame.dtypes[column] == "float32" for column in columns)

    @property
    def n_parts(self) -> int:
        """Number of partitions."""
        return int(self.frame.npartitions)

    @property
    def first_and_others(self) -> "Iterator[Partitions]":
        """Yield the first partition, then the others."""
        yield replace(self, frame=self.frame.partitions[:1])
        if self.n_parts > 1:
            yield replace(self, frame=self.frame.partitions[1:])

    def map_frames(
        self, rule: Callable[[pd.DataFrame], object], *of_model: object
    ) -> Iterator[Any]:
        """Apply a rule to each partition on its worker, with all columns.

        `of_model` is ignored; the method of `Scan` uses it to select columns.
        """
        yield from self.map_parts(lambda partition: rule(partition.frame), None)

    def predict(
        self, rule: Callable[[pd.DataFrame], object], *of_model: object
    ) -> object:
        """Apply a rule to each partition, lazily."""
        return self.frame.map_partitions(rule, meta=rule(self.frame._meta))

    def map_parts(
        self,
        call: Callable[[Partition], object] | Sequence[Callable[[Partition], object]],
        columns: Sequence[str] | None,
    ) -> list[Any]:
        """Apply one function to all partitions, or one function to each partition.

        Partitions contain only `columns`; None means all.
        """
        import dask

        with convert_mismatches():
            frame = self.frame if columns is None else self.frame[list(columns)]
            parts: list[Delayed] = list(frame.to_delayed())
            calls = [call] * len(parts) if callable(call) else call
            tasks = [
                dask.delayed(partial(_call, of_part, self.memory))(part)
                for of_part, part in zip(calls, parts, strict=True)
            ]
            return list(dask.compute(*tasks))


def _call(
    call: Callable[[Partition], object], memory: int, frame: pd.DataFrame
) -> object:
    return call(Partition(frame, memory))
