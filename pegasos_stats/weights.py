"""Weights of the rows: how much the loss of each counts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import ColumnError, DataError, OptionError, counted, listing
from pegasos_stats.labels import LabelCoding

Vector = NDArray[np.float64]

ROUNDING = 1e-14  # of a mean that is 1


def given_weights(weights: Any, data: Any, index: pd.Index) -> Vector | None:
    """Read weights that are given row by row; NaN where one is missing.

    Parameters
    ----------
    weights : Series or array, shape (n,); the name of a column of `data`; or other
        ``None``, ``"balanced"`` and weights by level are left to `class_weights`.
    data : DataFrame or other
    index : Index, shape (n,)

    Raises
    ------
    ColumnError
        If there is no column of this name.
    DataError
        If they are not one number of 0 or more for each row, rows in the same order.
    """
    if weights is None or isinstance(weights, Mapping):
        return None
    if isinstance(weights, str):
        if weights == "balanced":
            return None
        weights = _column(weights, data)
    if isinstance(weights, pd.Series) and isinstance(data, pd.DataFrame | pd.Series):
        _check_aligned(weights, index)
    return _checked(weights, index)


def class_weights(weights: Any, y: Vector, coding: LabelCoding) -> Vector | None:
    """Weights by level, for every row: ``"balanced"``, or a dictionary.

    Balanced is ``n / (2 n_c)`` for the ``n_c`` rows of a level: both levels weigh the
    same.

    Raises
    ------
    OptionError
        If a dictionary does not name both levels.
    """
    if isinstance(weights, str) and weights == "balanced":
        counts = {sign: int((y == sign).sum()) for sign in (-1.0, 1.0)}
        low, high = (y.size / (2.0 * counts[sign]) for sign in (-1.0, 1.0))
        return _by_level(y, low, high)
    if not isinstance(weights, Mapping):
        return None
    if set(weights) != set(coding.levels):
        raise OptionError(
            f"weights name the levels {listing(weights)}; give a weight for each of "
            f"{listing(coding.levels)}."
        )
    each = pd.Series([weights[level] for level in coding.levels], coding.levels)
    low, high = _checked(each, each.index)
    return _by_level(y, low, high)


def normalized(weights: Vector | None, y: Vector, coding: LabelCoding) -> Vector | None:
    """Scale to a mean of 1, ``w_i / (sum(w) / n)``; None if all are the same.

    Raises
    ------
    DataError
        If a level has no weight at all.
    """
    if weights is None:
        return None
    for sign, level in zip((-1.0, 1.0), coding.levels, strict=True):
        if not weights[y == sign].any():
            raise DataError(
                f"All rows of level {level!r} have weight 0; give weights above zero "
                "to some of them."
            )
    if (weights == weights[0]).all():
        return None
    mean = float(weights.sum() / weights.size)
    return weights if abs(mean - 1.0) <= ROUNDING else weights / mean


def _by_level(y: Vector, low: float, high: float) -> Vector:
    return np.array([low, high])[(y > 0).astype(np.intp)]


def _column(name: str, data: Any) -> "pd.Series[Any]":
    if isinstance(data, pd.DataFrame) and name in data.columns:
        return data[name]
    raise ColumnError(
        f"weights={name!r} is no column of the data; give the name of one, a number "
        "for each row, a weight for each level, or 'balanced'."
    )


def _check_aligned(weights: "pd.Series[Any]", index: pd.Index) -> None:
    if len(weights) == len(index) and not weights.index.equals(index):
        raise DataError(
            "The row labels of weights and data differ; align them "
            "(weights.loc[X.index]) or give weights.to_numpy() to match by position."
        )


def _checked(weights: Any, index: pd.Index) -> Vector:
    """One number of 0 or more, or NaN, for every row."""
    values = _numbers(weights)
    if values.shape != (len(index),):
        raise DataError(
            f"weights have the shape {values.shape} and there are "
            f"{counted(len(index), 'row')}; give one weight for each row."
        )
    wrong = (values < 0.0) | np.isinf(values)
    if wrong.any():
        raise DataError(
            f"weights hold {listing(values[wrong])} in the rows "
            f"{listing(index[wrong])}; give finite numbers, 0 or more."
        )
    return values


def _numbers(weights: Any) -> Vector:
    try:
        if isinstance(weights, pd.Series):
            weights = weights.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.iscomplexobj(weights):
            raise TypeError
        found: Vector = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"weights of type {type(weights).__name__} are not numbers; give one "
            "number for each row, a weight for each level, or 'balanced'."
        ) from None
    return found
