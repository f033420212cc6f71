"""Arrays that numpy saved, as columns, and labels that stand in a file of their own."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.svmlight import LABEL_NAME
from pegasos_stats.errors import DataError, counted
from pegasos_stats.writing.paths import shown_path

if TYPE_CHECKING:
    import pyarrow as pa

    Types = Mapping[str, pa.DataType]

NUMBERS = 2**21  # of an array of numpy that are read at a time


def npy_schema(file: str, types: "Types", labels: str | None = None) -> "pa.Schema":
    """The columns of an array that numpy saved: ``x0``, ``x1`` and so on.

    Raises
    ------
    DataError
        If there is not a label for each row in the file `labels`, if it is given.
    """
    import pyarrow as pa

    n, (p,), dtype = _checked(file, 2, "biuf")
    columns = [(f"x{j}", _type_of(dtype)) for j in range(p)]
    if labels is None:
        return pa.schema(columns)
    try:
        count, _, kind = _checked(labels, 1, "biufU")
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")[:120]
        raise DataError(
            f"The file {shown_path(labels)} cannot be read as labels ({reason}); save "
            "a number, a boolean or a text for each row by numpy.save."
        ) from None
    if count != n:
        raise DataError(
            f"The file {shown_path(labels)} has {counted(count, 'label')}, and "
            f"{shown_path(file)} {counted(n, 'row')}; give a label for each row."
        )
    return pa.schema([(LABEL_NAME, _type_of(kind)), *columns])


def npy_batches(
    file: str,
    columns: Sequence[str],
    rows: int,
    types: "Types",
    labels: str | None = None,
    first: int = 0,
) -> "Iterator[pa.RecordBatch]":
    """The rows of an array that numpy saved from `first` on, and their labels."""
    import pyarrow as pa

    n, (p,), _ = _checked(file, 2, "biuf")
    step = max(1, min(rows, NUMBERS // p))
    apart = labels is not None and LABEL_NAME in columns
    X = _parts(file, step, first) if set(columns) - {LABEL_NAME} else None
    y = _parts(str(labels), step, first) if apart else None
    for _ in range(first, n, step):
        of_rows = None if X is None else next(X)
        found: dict[str, Any] = {} if y is None else {LABEL_NAME: next(y)}
        for name in columns:
            if of_rows is not None and name not in found:
                found[name] = np.ascontiguousarray(of_rows[:, int(name[1:])])
        parts = [pa.array(found[name]) for name in columns]
        yield pa.RecordBatch.from_arrays(parts, names=list(columns))


def npy_length(file: str) -> int:
    """Number of rows of an array that numpy saved."""
    return _checked(file, 2, "biuf")[0]


def _parts(file: str, step: int, begins: int) -> Iterator[NDArray[Any]]:
    """An array, so many rows at a time; of one by columns through a map."""
    (n, *width), by_columns, dtype, begin = _npy(file)
    whole = np.load(file, mmap_mode="r") if by_columns else None
    with open(file, "rb") as handle:
        handle.seek(begin + begins * math.prod(width) * dtype.itemsize)
        for first in range(begins, n, step):
            shape = min(step, n - first), *width
            if whole is not None:
                part = whole[first : first + step]
            else:
                part = np.fromfile(handle, dtype, math.prod(shape)).reshape(shape)
            with np.errstate(over="ignore"):  # infinity is refused later
                yield part.astype(_held(dtype), copy=False)


def _npy(file: str) -> tuple[tuple[int, ...], bool, "np.dtype[Any]", int]:
    """Shape, whether by columns, type and place of the values of an array."""
    with open(file, "rb") as handle:
        version = np.lib.format.read_magic(handle)
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in readers:
            raise ValueError(f"its version is {version}")
        shape, by_columns, dtype = readers[version](handle)
        return shape, by_columns and shape[1:] not in ((), (1,)), dtype, handle.tell()


def _checked(file: str, dimensions: int, kinds: str) -> tuple[int, list[int], Any]:
    """Number of rows, of columns if there are any, and type of an array.

    Raises
    ------
    ValueError
        If it is of another shape, or does not hold such values.
    """
    shape, _, dtype, begin = _npy(file)
    if len(shape) != dimensions or 0 in shape or dtype.kind not in kinds:
        raise ValueError(f"it holds {dtype} in the shape {shape}")
    if os.path.getsize(file) < begin + math.prod(shape) * dtype.itemsize:
        raise ValueError("it ends before its last row")
    return shape[0], list(shape[1:]), dtype


def _type_of(dtype: "np.dtype[Any]") -> "pa.DataType":
    import pyarrow as pa

    if dtype.kind == "U":
        return pa.string()
    return pa.from_numpy_dtype(_held(dtype))


def _held(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """The type of the machine that a column of another one is read as."""
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return dtype.newbyteorder("=")
