"""Pieces of files as frames, frames in succession, and files for a known design."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import Design
from pegasos_stats.data.language.design import FormulaDesign
from pegasos_stats.data.scaling import unscaled
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.svmlight import LABEL_NAME
from pegasos_stats.errors import ColumnError, DataError, listing

if TYPE_CHECKING:
    import pyarrow as pa


def frame_of(piece: "pa.RecordBatch") -> pd.DataFrame:
    """Rows as a frame, as pandas reads them, decimals as doubles.

    Whole numbers among which some lack stay whole numbers.
    """
    import pyarrow as pa

    columns = [
        column.cast(pa.float64())
        if pa.types.is_decimal(column.type)
        else _with_levels(column)
        for column in piece.columns
    ]
    plain = pa.RecordBatch.from_arrays(columns, names=piece.schema.names)
    found: pd.DataFrame = plain.to_pandas(ignore_metadata=True)
    for name, column in zip(piece.schema.names, columns, strict=True):
        if pa.types.is_integer(column.type) and column.null_count:
            numbers = column.fill_null(0).to_numpy(zero_copy_only=False).copy()
            lacking = column.is_null().to_numpy(zero_copy_only=False).copy()
            found[name] = pd.arrays.IntegerArray(numbers, lacking)
    return found


def _with_levels(column: "pa.Array") -> "pa.Array":
    """A dictionary whose levels are there, each once; other columns as they are."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    levels = column.dictionary
    if len(levels.unique().drop_null()) == len(levels):
        return column
    return column.cast(column.type.value_type).dictionary_encode()


def joined_frames(parts: list[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Columns of frames after each other, see `joined`, with the labels of all rows."""
    columns = {name: joined([part[name] for part in parts]) for name in names}
    index = parts[0].index.append([part.index for part in parts[1:]])
    return pd.DataFrame(columns, pd.RangeIndex(len(index))).set_axis(index)


def joined(parts: list[DataColumn]) -> DataColumn:
    """Parts of a column after each other; categories in the order of the first.

    They stay ordered if they are the same in all parts. Of an empty part counts which
    numbers it would hold.

    Raises
    ------
    ColumnError
        If some hold numbers and others text.

    Examples
    --------
    >>> one, other = pd.Series(["b", "a"]), pd.Series(["c", "a"])
    >>> joined([one.astype("category"), other.astype("category")]).cat.categories
    Index(['a', 'b', 'c'], dtype='str')
    >>> joined([pd.Series([1, 2]), pd.Series([], dtype=float)]).dtype
    dtype('float64')
    """
    if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
        differ = len({part.dtype for part in parts}) > 1
        union = pd.api.types.union_categoricals(parts, ignore_order=differ)
        return pd.Series(union, name=parts[0].name)
    filled = [part for part in parts if len(part)] or parts[:1]
    numbers = [pd.api.types.is_numeric_dtype(part) for part in filled]
    if len(set(numbers)) > 1 and any(map(pd.api.types.is_string_dtype, filled)):
        raise ColumnError(
            f"Column {listing([parts[0].name])} holds numbers in some rows and text "
            "in others; give it one type, such as by .astype(str)."
        )
    kinds = [part.dtype for part in parts if isinstance(part.dtype, np.dtype)]
    if len(kinds) == len(parts) and all(kind.kind in "iuf" for kind in kinds):
        filled = [part.astype(np.result_type(*kinds)) for part in filled]
    return pd.concat(filled, ignore_index=True)


def scanned_frames(
    scan: Scan, design: Design, also: Sequence[str] = ()
) -> Iterator[pd.DataFrame]:
    """The columns that a design uses, and others, some rows at a time.

    Rows are numbered from 0 in each file, as errors name them.

    Raises
    ------
    ColumnError
        If a file lacks a column.
    DataError
        If files change while they are read, or count their features from 0 and those
        of the fit from 1.
    """
    stamps = scan.renewed()
    inner = unscaled(design)
    variables = inner.variables if isinstance(inner, FormulaDesign) else design.names
    used = [*dict.fromkeys([*variables, *also])]
    of_all = str(inner.formula) == f"{LABEL_NAME} ~ ."
    if of_all and scan.is_svmlight and "x0" in scan.kinds and "x0" not in variables:
        raise DataError(
            "The svmlight files have the index 0, and the features of the fit are "
            "counted from 1; renumber them."
        )
    scan.check(used)
    empty = True
    for labels, piece in scan.labelled(used):
        empty = False
        yield frame_of(piece).set_axis(labels)
    if scan.renewed() != stamps:
        raise DataError("The files have changed while they were read; read them again.")
    if empty:
        yield pd.DataFrame({name: np.zeros(0) for name in used})
