"""Data frames as JSON and arrays, and back: values, their types, and labels."""

from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.models.persist.header import Json, flag, items, one_of, record, whole
from pegasos_stats.models.persist.values import (
    packed,
    packed_dtype,
    restored,
    unpacked_dtype,
)
from pegasos_stats.studies.keeping.shelves import Emptying, Filling

LARGEST = 2**62  # end of a range of row labels


def frame_out(frame: pd.DataFrame, filling: Filling) -> Json:
    """Write a frame; one of a single type of numbers as one array.

    Raises
    ------
    DataError
        If it holds values of types that a file cannot hold.
    """
    types = set(frame.dtypes)
    if len(types) == 1 and _is_numeric(next(iter(types))):
        values = {"array": filling.put(frame.to_numpy())}
    else:
        columns = (frame.iloc[:, j] for j in range(frame.shape[1]))
        values = {"columns": [column_out(column, filling) for column in columns]}
    labels = [index_out(axis, filling) for axis in (frame.index, frame.columns)]
    return [values, *labels]


def frame_in(stored: Json, emptying: Emptying) -> pd.DataFrame:
    """Undo `frame_out`.

    Raises
    ------
    ValueError and others
        If it is not what `frame_out` writes.
    """
    values, *labels = items(stored, "a table", 3)
    form = one_of(next(iter(values), None), "the form of a table", ("array", "columns"))
    record(values, "a table", (form,))
    if form == "array":
        array = emptying.take(values[form])
        index, columns = (index_in(axis, emptying) for axis in labels)
        if array.shape != (len(index), len(columns)):
            raise ValueError(f"a table has the shape {array.shape}")
        return pd.DataFrame(array, index, columns, copy=False)
    each = [column_in(column, emptying) for column in items(values[form], "columns")]
    index, columns = (index_in(axis, emptying) for axis in labels)
    if len(each) != len(columns) or any(len(found) != len(index) for found in each):
        raise ValueError(f"a table has not {len(columns)} columns, or others")
    frame = pd.DataFrame(dict(enumerate(each)), index)
    frame.columns = columns
    return frame


def index_out(index: pd.Index, filling: Filling) -> Json:
    """Write labels of rows or columns."""
    names = [packed(name) for name in index.names]
    if isinstance(index, pd.RangeIndex):
        return ["range", names, [index.start, index.stop, index.step]]
    if isinstance(index, pd.MultiIndex):
        codes = [filling.put(np.asarray(code, dtype=np.int64)) for code in index.codes]
        levels = [index_out(level, filling) for level in index.levels]
        return ["several", names, [codes, levels]]
    regular = isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex)
    every = getattr(index, "freqstr", None) if regular else None
    return ["labels", names, [column_out(index, filling), every]]


def index_in(stored: Json, emptying: Emptying) -> pd.Index:
    """Undo `index_out`."""
    form, names, value = items(stored, "labels", 3)
    found: Any
    if form == "range":
        start, stop, step = items(value, "a range", 3)
        for number in (start, stop, step):
            whole(number, "a range", -LARGEST, LARGEST)
        found = pd.RangeIndex(start, stop, step)
        emptying.length(len(found))
    elif form == "several":
        codes, levels = items(value, "labels", 2)
        placed: Any = [emptying.take(code) for code in items(codes, "labels")]
        of: Any = [
            index_in(level, emptying) for level in items(levels, "labels", len(codes))
        ]
        found = pd.MultiIndex(of, placed)
    elif form == "labels":
        column, every = items(value, "labels", 2)
        found = pd.Index(column_in(column, emptying))
        if every is not None:
            found.freq = every
    else:
        raise ValueError(f"labels are of the form {form!r}")
    found.names = [restored(name) for name in items(names, "names", found.nlevels)]
    labels: pd.Index = found
    return labels


def column_out(column: Any, filling: Filling) -> Json:
    """Write a column or labels: numbers as an array, other values one by one."""
    dtype = column.dtype
    if _is_numeric(dtype):
        return ["numbers", filling.put(column.to_numpy())]
    if isinstance(dtype, pd.CategoricalDtype):
        values = column.cat if isinstance(column, pd.Series) else column
        codes = np.asarray(values.codes, dtype=np.int64)
        levels = index_out(dtype.categories, filling)
        return ["levels", [filling.put(codes), levels, bool(dtype.ordered)]]
    return ["values", [packed_dtype(dtype), [packed(value) for value in column]]]


def column_in(stored: Json, emptying: Emptying) -> Any:
    """Undo `column_out`."""
    form, value = items(stored, "a column", 2)
    if form == "numbers":
        array = emptying.take(value)
        if array.ndim != 1:
            raise ValueError(f"a column has the shape {array.shape}")
        return array
    if form == "levels":
        codes, levels, ordered = items(value, "levels", 3)
        placed, categories = emptying.take(codes), index_in(levels, emptying)
        levelled = pd.CategoricalDtype(categories, ordered=flag(ordered, "levels"))
        return pd.Categorical.from_codes(placed, dtype=levelled)
    if form != "values":
        raise ValueError(f"a column is of the form {form!r}")
    name, each = items(value, "a column", 2)
    values, dtype = restored(items(each, "a column")), unpacked_dtype(name)
    if dtype == np.dtype(object):
        objects = np.empty(len(values), dtype=object)
        for place, item in enumerate(values):
            objects[place] = item
        return objects
    return pd.Series(values, dtype=dtype).array


def _is_numeric(dtype: object) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"
