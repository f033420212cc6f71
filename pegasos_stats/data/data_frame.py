"""The data of a formula as a frame of pandas."""

from os import PathLike

import numpy as np
import pandas as pd

from pegasos_stats.data.foreign import check_is_ours, in_known_types
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.errors import DataError, one_line


def as_data(data: object) -> pd.DataFrame:
    """View a frame or a dictionary of columns as a frame.

    Raises
    ------
    DataError
        If `data` is neither.
    """
    check_is_ours(data)
    if isinstance(data, pd.DataFrame):
        return in_known_types(data)
    if isinstance(data, dict):
        try:
            return in_known_types(pd.DataFrame(data))
        except Exception as error:  # its keys and values may be of others
            raise DataError(
                f"data is a dictionary that makes no frame ({one_line(error)}); give "
                "columns of one length each."
            ) from None
    if isinstance(data, Scan):
        raise DataError(
            "Files are read by predict(), predict_proba(), decision_function() and "
            "confusion() alone; give rows in memory, as a data frame."
        )
    cure = ""
    if isinstance(data, str) and "~" in data:
        cure = ": the formula comes first, the data second"
    elif isinstance(data, str | PathLike):
        cure = ": read the file first, and give a path to write to as path="
    elif isinstance(data, pd.Series | np.ndarray):
        cure = (
            ", such as svm('y ~ .', data); SVM(y, X) takes labels and rows, and for "
            "its fits confusion(X, y) and report((y, X))"
        )
    raise DataError(
        f"data is of type {type(data).__name__}; a formula needs a data frame with "
        f"named columns{cure}."
    )
