"""Data of other libraries and of other machines, at the door."""

from typing import Any, TypeVar

import numpy as np
import pandas as pd

from pegasos_stats.errors import DataError

Data = TypeVar("Data", "pd.Series[Any]", pd.DataFrame)


def in_native_order(data: Data) -> Data:
    """Bring numbers into the byte order of the machine; pandas selects no others.

    Files of some instruments (FITS, netCDF) hold the other one. Data that need no
    change are returned as they are.

    Parameters
    ----------
    data : Series or DataFrame

    Examples
    --------
    >>> in_native_order(pd.Series(np.array([1, 2], dtype=">i4"))).dtype.isnative
    True
    """
    if isinstance(data, pd.Series):
        return data if _is_native(data.dtype) else data.astype(_native(data.dtype))
    turned = [j for j, dtype in enumerate(data.dtypes) if not _is_native(dtype)]
    if not turned:
        return data
    columns = [in_native_order(data.iloc[:, j]) for j in range(data.shape[1])]
    return pd.concat(columns, axis=1).set_axis(data.columns, axis=1)


def check_is_ours(data: Any) -> None:
    """Raise `DataError` for a frame or a column of another library, such as polars.

    Taken for an array it would lose the names of its columns.

    Parameters
    ----------
    data : any

    Raises
    ------
    DataError
        If it can be turned into pandas' own by its method ``to_pandas``.
    """
    if hasattr(data, "to_pandas") and not isinstance(data, pd.Series | pd.DataFrame):
        kind = type(data)
        library = kind.__module__.partition(".")[0]
        raise DataError(
            f"The data are a {kind.__name__} of {library}; give pandas' own: "
            "data.to_pandas()."
        )


def _is_native(dtype: Any) -> bool:
    return not isinstance(dtype, np.dtype) or dtype.isnative


def _native(dtype: Any) -> Any:
    return dtype.newbyteorder("=")
