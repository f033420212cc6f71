"""Weights of the rows: how much the loss of each counts.

Beside this file stands ``r_reference/R/weights.R``, with the same sums.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn, Vector
from pegasos_stats.data.columns import rows_listed
from pegasos_stats.data.foreign import column_of_frame, position_of
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    OptionError,
    counted,
    listing,
    shown,
)

ROUNDING = 1e-14  # of a mean that is 1
SMALLEST = 2.0**-1022  # the least double with all its digits
# Sums of weights beyond the doubles: no sum of fewer than 2^63 of them overflows at
# 2^-64 times its size, and none above zero is below SMALLEST at 2^128 times its size.
LESS, MORE = 2.0**-64, 2.0**128
TOGETHER = 2**16  # numbers summed at once, 16 bytes each
ALLOWED = "one number for each row, a weight for each level, or 'balanced'"


def given_weights(weights: object, data: object, index: pd.Index) -> Vector | None:
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
    if weights is None or isinstance(weights, Mapping) or are_balanced(weights):
        return None
    return numbers_of_rows("weights", weights, data, index, ALLOWED)


def numbers_of_rows(
    option: str,
    numbers: object,
    data: object,
    index: pd.Index,
    allowed: str,
    signed: bool = False,
) -> Vector:
    """Read a finite number of 0 or more for each row; NaN where one is missing.

    Parameters
    ----------
    option : str
        Its name, for messages.
    numbers : Series or array, shape (n,); or the name of a column of `data`
    data : DataFrame or other
    index : Index, shape (n,)
    allowed : str
        What may be given beside the name of a column, for messages.
    signed : bool
        Whether numbers below 0 are allowed as well.

    Raises
    ------
    ColumnError
        If there is no column of this name.
    DataError
        If they are not one number of 0 or more for each row, rows in the same order.
    """
    if isinstance(numbers, str):
        numbers = column_named(option, numbers, data, allowed)
    numbers = column_of_frame(numbers)
    if isinstance(numbers, pd.Series) and isinstance(data, pd.DataFrame | pd.Series):
        known = numbers.index if len(numbers) == len(index) else index
        if not known.equals(index):
            raise DataError(
                f"The row labels of {option} and data differ; align them ({option}.loc"
                f"[X.index]) or give {option}.to_numpy() to match by position."
            )
    columns = pd.Series | pd.Index | pd.Categorical
    if (
        signed
        and isinstance(numbers, columns)
        and isinstance(numbers.dtype, pd.CategoricalDtype)
    ):
        raise DataError(
            f"The values of {option} are categories and no numbers; give {allowed}."
        )
    return _checked(option, numbers, index, "rows", allowed, signed)


def are_balanced(weights: object) -> bool:
    """Whether weights are asked for by which both classes weigh the same.

    Examples
    --------
    >>> are_balanced("balanced"), are_balanced({"a": 2.0, "b": 1.0})
    (True, False)
    """
    return isinstance(weights, str) and weights == "balanced"


def class_weights(weights: object, y: Vector, coding: LabelCoding) -> Vector | None:
    """Weights by level, for every row: ``"balanced"``, or a dictionary.

    Balanced is ``n / (2 n_c)`` for the ``n_c`` rows of a level: both levels weigh the
    same.

    Raises
    ------
    OptionError
        If a dictionary does not name both levels.
    """
    if are_balanced(weights):
        counts = {sign: int((y == sign).sum()) for sign in (-1.0, 1.0)}
        low, high = (y.size / (2.0 * counts[sign]) for sign in (-1.0, 1.0))
        return _by_level(y, low, high)
    if not isinstance(weights, Mapping):
        return None
    keys = list(weights)
    at = [position_of(key, coding.levels) for key in keys]
    if sorted(at) != [0, 1]:
        raise OptionError(
            f"weights name the levels {listing(weights)}; give a weight for each of "
            f"{listing(coding.levels)}."
        )
    each = pd.Series([weights[keys[at.index(place)]] for place in (0, 1)], dtype=object)
    levels = pd.Index(coding.levels)
    low, high = _checked("weights", each, levels, "levels", ALLOWED)
    for level, weight in zip(coding.levels, (low, high), strict=True):
        if np.isnan(weight):
            raise DataError(
                f"The weight of level {level!r} is missing; give a number of 0 or more."
            )
    return _by_level(y, low, high)


def row_weights(weights: object, y: Vector, coding: LabelCoding) -> Vector | None:
    """Weights of the rows with a mean of 1 (see `mean_one`); None if all are equal.

    Parameters
    ----------
    weights : float64 array, shape (n,); or as for `class_weights`
    y : float64 array, shape (n,), of -1 and +1
    coding : LabelCoding

    Raises
    ------
    OptionError
        If a dictionary does not name both levels.
    DataError
        If a level has no weight at all, or weights are too far apart.
    """
    weights = weights_of_rows(weights, y, coding)
    if weights is None:
        return None
    for sign, level in zip((-1.0, 1.0), coding.levels, strict=True):
        if not weights[y == sign].any():
            raise DataError(
                f"All rows of level {level!r} have weight 0; give weights above zero "
                "to some of them."
            )
    return None if (weights == weights[0]).all() else mean_one(weights)


def weights_of_rows(weights: object, y: Vector, coding: LabelCoding) -> Vector | None:
    """Weights as they were given, a number for each row: see `row_weights`."""
    if isinstance(weights, np.ndarray):
        return weights
    return class_weights(weights, y, coding)


def rows_of_weights(weights: Vector | None) -> float | None:
    """How many rows weights stand for: their sum if all are whole numbers.

    Other weights have no scale, and stand for the rows with a weight above 0.

    Examples
    --------
    >>> rows_of_weights(np.array([2.0, 1.0, 0.0])), rows_of_weights(np.array([0.5, 0]))
    (3.0, 1.0)
    """
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        whole = bool((weights == np.floor(weights)).all())
        return float(weights.sum() if whole else (weights > 0.0).sum())


def mean_one(weights: Vector) -> Vector:
    """``w_i / (sum(w) / n)``, every bit as R computes it.

    The sum is R's, see `r_sum`. If it overflows, or the mean is so small that it lacks
    digits, the weights are first multiplied by a power of two, which rounds nothing.
    Weights whose mean is 1 to 1e-14 stay as they are, so that weights scaled once
    keep their bits.

    Parameters
    ----------
    weights : float64 array, shape (n,), of 0 or more, one above 0

    Raises
    ------
    DataError
        If a weight above zero would be rounded to 0, or near it.

    Examples
    --------
    >>> mean_one(np.array([1.0, 2.0, 3.0]))
    array([0.5, 1. , 1.5])
    >>> mean_one(np.array([1e308, 1e308, 1e308, 0.0]))
    array([1.33333333, 1.33333333, 1.33333333, 0.        ])
    """
    factor = 1.0
    mean = r_sum(weights) / weights.size
    if np.isinf(mean):
        factor = LESS
    elif mean < SMALLEST:
        factor = MORE
    if factor != 1.0:
        mean = r_sum(factor * weights) / weights.size
    if abs(mean - 1.0) <= ROUNDING:
        return weights
    found: Vector = factor * weights / mean
    lost = (weights > 0.0) & (found < SMALLEST)
    if lost.any():
        raise DataError(
            f"weights go from {float(weights[lost].min())!r} to "
            f"{float(weights.max())!r}: beside their mean the smallest would be 0; "
            "give 0 for rows that do not count, or weights nearer to each other."
        )
    return found


def class_log_ratio(weights: Vector | None, y: Vector) -> float | None:
    """``log(w+ / w-)`` of weights that are constant in each class; None of others.

    Parameters
    ----------
    weights : float64 array, shape (n,), or None
    y : float64 array, shape (n,), of -1 and +1

    Examples
    --------
    >>> class_log_ratio(np.array([0.5, 0.5, 2.0]), np.array([-1.0, -1.0, 1.0]))
    1.386...
    """
    if weights is None:
        return 0.0
    low, high = weights[y < 0.0], weights[y > 0.0]
    if np.ptp(low) > 0.0 or np.ptp(high) > 0.0:
        return None
    return float(np.log(high[0]) - np.log(low[0]))


def r_sum(values: Vector) -> float:
    """R's ``sum()``: from the first number to the last in long double, rounded once.

    Parameters
    ----------
    values : float64 array

    Examples
    --------
    >>> r_sum(np.array([1.0, 1e-16, 1e-16]))
    1.0000000000000002
    """
    total = np.zeros(1, dtype=np.longdouble)
    for first in range(0, values.size, TOGETHER):
        terms = np.concatenate([total, values[first : first + TOGETHER]])
        total = np.add.accumulate(terms)[-1:]
    with np.errstate(over="ignore"):  # as in R, whose sum is infinite then
        return float(total[0].astype(np.float64))


def _by_level(y: Vector, low: float, high: float) -> Vector:
    return np.array([low, high])[(y > 0).astype(np.intp)]


def column_named(option: str, name: str, data: object, allowed: str) -> DataColumn:
    """Return a column of the data, or raise `ColumnError` if there is none."""
    if isinstance(data, pd.DataFrame) and name in data.columns:
        return data[name]
    raise ColumnError(
        f"{option}={shown(name)} is no column of the data; give the name of one, or "
        f"{allowed}."
    )


def _checked(
    option: str,
    numbers: object,
    index: pd.Index,
    each: str,
    allowed: str,
    signed: bool = False,
) -> Vector:
    """Check that there is one number, 0 or more or NaN, for each row or each level."""
    who = f"The values of {option}" if signed else option
    values = _numbers(who, numbers, each, allowed)
    if values.shape != (len(index),):
        raise DataError(
            f"{who} have the shape {values.shape} and there are "
            f"{counted(len(index), 'row')}; give one for each row."
        )
    wrong = np.isinf(values) if signed else (values < 0.0) | np.isinf(values)
    if wrong.any():
        what = "finite numbers" if signed else "finite numbers, 0 or more"
        raise DataError(
            f"{who} hold {listing(values[wrong])} in the {each} "
            f"{rows_listed(index[wrong])}; give {what}."
        )
    return values


def _numbers(who: str, numbers: object, each: str, allowed: str) -> Vector:
    """Convert numbers to doubles, NaN where one is missing; refuse text and dates."""
    try:
        _check_are_numbers(numbers)
        with np.errstate(over="ignore"):  # what becomes infinite is refused by name
            if isinstance(numbers, pd.Series | pd.Index):
                numbers = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
            if isinstance(numbers, np.ma.MaskedArray):
                numbers = np.ma.filled(numbers.astype(np.float64), np.nan)
            found: Vector = np.array(numbers, dtype=np.float64)
    except OverflowError:
        raise DataError(
            f"{who} hold a number beyond the largest double, 1.8e308; give "
            "smaller ones."
        ) from None
    except Exception:  # also what an object of others raises
        kind = "" if each == "levels" else f" of type {type(numbers).__name__}"
        raise DataError(f"{who}{kind} are not numbers; give {allowed}.") from None
    return found


def _check_are_numbers(numbers: object) -> None:
    """Raise TypeError for text and dates, which numpy would turn into numbers."""
    values = np.asarray(numbers)
    if values.dtype.kind not in "biufO":
        raise TypeError
    if values.dtype == object and any(
        isinstance(value, str | bytes | complex) for value in values.flat
    ):
        raise TypeError
