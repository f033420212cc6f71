"""What a column of files or partitions holds, in words."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.data.foreign import in_known_types

if TYPE_CHECKING:
    import pyarrow as pa

NUMBERS, TEXT, BOOLEANS = "numbers", "text", "booleans"
NOTHING = "no value at all"
OBJECTS = "objects"  # of pandas: what they are is known where they are read
ALLOWED = (NUMBERS, TEXT, BOOLEANS, NOTHING, OBJECTS)


def kind_of(arrow_type: "pa.DataType") -> str:
    """What a column of files holds: one of `ALLOWED`, or the name of another type."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if types.is_null(arrow_type):
        return NOTHING
    if types.is_boolean(arrow_type):
        return BOOLEANS
    numbers = types.is_integer, types.is_floating, types.is_decimal
    if any(is_kind(arrow_type) for is_kind in numbers):
        return NUMBERS
    texts = types.is_string, types.is_large_string, types.is_string_view
    if any(is_kind(arrow_type) for is_kind in texts):
        return TEXT
    return str(arrow_type)


def kind_of_dtype(dtype: object) -> str:
    """What a column of pandas holds: one of `ALLOWED`, or the name of another type.

    Examples
    --------
    >>> kind_of_dtype(np.dtype(bool)), kind_of_dtype(pd.SparseDtype(float))
    ('booleans', 'numbers')
    >>> kind_of_dtype(np.dtype(complex)), kind_of_dtype(pd.CategoricalDtype())
    ('complex128', 'text')
    """
    empty = in_known_types(pd.Series(dtype=dtype))  # type: ignore[call-overload]
    if isinstance(empty.dtype, pd.CategoricalDtype):
        return TEXT
    if dtype == np.dtype(object):
        return OBJECTS
    if pd.api.types.is_bool_dtype(empty):
        return BOOLEANS
    if pd.api.types.is_numeric_dtype(empty) and empty.dtype.kind != "c":
        return NUMBERS
    return TEXT if pd.api.types.is_string_dtype(empty) else str(dtype)
