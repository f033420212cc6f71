"""Values and types as JSON, and back, with nothing lost."""

import datetime
import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from pegasos_stats.data.labels import Dtype, LabelCoding
from pegasos_stats.errors import DataError, plain, shown
from pegasos_stats.models.persist.header import Json, same

PLAIN = (bool, int, str, type(None))
NUMPY = re.compile(r"[<>|=][biufUOmM][0-9]*(\[[0-9]*[a-zA-Z]+\])?", re.ASCII)
UNITS = ("s", "ms", "us", "ns")
ZONE = re.compile(r"(?!dateutil)[A-Za-z][\w+:/-]*", re.ASCII)  # no path of a file
LONGEST = 200  # characters of the name of a type
RULES = ("factor", "first-seen", "explicit")


def packed(value: object) -> Json:
    """Write a value as JSON; what JSON does not have becomes ``{"type": ...}``.

    Parameters
    ----------
    value : object
        None, text, numbers and dates of Python, numpy and pandas; intervals; lists,
        tuples, dictionaries and arrays of these.

    Raises
    ------
    DataError
        If the value is of another type.

    Examples
    --------
    >>> packed([1, 0.1, None]), packed(float("inf"))
    ([1, 0.1, None], {'type': 'float', 'value': 'inf'})
    """
    kind = type(value)
    if kind in PLAIN or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, list) and kind is list:
        return [packed(item) for item in value]
    for name, (types, write, _) in CODECS.items():
        if isinstance(value, types):
            return {"type": name, "value": write(value)}
    raise cannot_hold(value)


def cannot_hold(value: object) -> DataError:
    """Make the error for a value of a type that is not known."""
    return DataError(
        f"{shown(value)} is of type {type(value).__name__}, which a saved model cannot "
        "hold; convert it to text, a number or a date before the fit."
    )


def unpacked(stored: Json) -> Any:
    """Undo `packed`.

    Raises
    ------
    ValueError and others
        If it is not what `packed` writes.

    Examples
    --------
    >>> unpacked(packed({1: (2, np.float64(0.1))}))
    {1: (2, np.float64(0.1))}
    """
    if isinstance(stored, list):
        return [unpacked(i) if isinstance(i, list | dict) else i for i in stored]
    if not isinstance(stored, dict):
        return stored
    if stored["type"] not in CODECS:
        raise ValueError(f"it holds an unknown type, {stored['type']!r}")
    return CODECS[stored["type"]][2](stored["value"])


def restored(stored: Json) -> Any:
    """Undo `packed`, made sure that nothing else is meant.

    Raises
    ------
    ValueError and others
        If it is not what `packed` writes.
    """
    value = unpacked(stored)
    if not same(packed(value), stored):
        raise ValueError(f"{stored!r} is not as it was written")
    return value


def packed_dtype(dtype: Dtype) -> Json:
    """Write a numpy or pandas type as JSON.

    Raises
    ------
    DataError
        If the type cannot be rebuilt from its name.
    """
    if isinstance(dtype, np.dtype):
        return {"numpy": dtype.str}
    if isinstance(dtype, pd.CategoricalDtype):
        levels = [packed(plain(level)) for level in dtype.categories]
        of = packed_dtype(dtype.categories.dtype)
        return {"levels": levels, "of": of, "ordered": dtype.ordered}
    if isinstance(dtype, pd.StringDtype):
        return {"string": dtype.storage, "na": "NA" if dtype.na_value is pd.NA else ""}
    with suppress(TypeError, ValueError):
        if pandas_dtype(str(dtype)) == dtype:
            return {"pandas": str(dtype)}
    raise DataError(
        f"Labels of type {dtype} cannot be saved; convert them to text, numbers or "
        "categories before the fit."
    )


def unpacked_dtype(stored: Json) -> Dtype:
    """Undo `packed_dtype`; text kept by pyarrow is kept by Python if it is missing.

    Raises
    ------
    ValueError and others
        If it is not what `packed_dtype` writes.
    """
    if "string" in stored:
        return _string_dtype(**stored)
    found = _dtype_of(stored)
    if not same(packed_dtype(found), stored):
        raise ValueError(f"{stored!r} is no type of labels")
    return found


def _dtype_of(stored: Json) -> Dtype:
    if "numpy" in stored:
        return _numpy_dtype(stored["numpy"], "biufOmM")
    if "levels" in stored:
        of = unpacked_dtype(stored["of"])
        levels = pd.Index(restored(stored["levels"]), dtype=of)
        return pd.CategoricalDtype(levels, ordered=stored["ordered"])
    name = stored["pandas"]
    if len(name) > LONGEST or "dateutil" in name:
        raise ValueError(f"{name!r} is no type of labels")
    return pandas_dtype(name)


def _string_dtype(string: Json, na: Json) -> Dtype:
    if string not in ("python", "pyarrow") or na not in ("NA", ""):
        raise ValueError(f"{string!r} is no type of text")
    missing: Any = pd.NA if na == "NA" else np.nan
    try:
        return pd.StringDtype(string, na_value=missing)
    except ImportError:
        return pd.StringDtype("python", na_value=missing)
    except TypeError:  # pandas 2.2 has but one missing value of text
        return pd.StringDtype("python") if na == "NA" else np.dtype(object)


def packed_coding(coding: LabelCoding) -> dict[str, Json]:
    """Write a label coding as JSON.

    Raises
    ------
    DataError
        If the levels or their type cannot be saved.
    """
    return {
        "levels": [packed(level) for level in coding.levels],
        "dtype": packed_dtype(coding.dtype),
        "name": coding.name,
        "rule": coding.rule,
    }


def unpacked_coding(stored: dict[str, Json]) -> LabelCoding:
    """Undo `packed_coding`.

    Raises
    ------
    ValueError and others
        If it is not what `packed_coding` writes.
    """
    negative, positive = restored(stored["levels"])
    dtype = unpacked_dtype(stored["dtype"])
    coding = LabelCoding(negative, positive, dtype, stored["name"], stored["rule"])
    if set(stored) != {"levels", "dtype", "name", "rule"}:
        raise ValueError("coding has other fields")
    if not isinstance(coding.name, str) or coding.rule not in RULES:
        raise ValueError(f"{coding.name!r} is coded by the rule {coding.rule!r}")
    _check_levels(coding)
    return coding


def _check_levels(coding: LabelCoding) -> None:
    """Raise an exception unless labels are coded and given back."""
    pair = coding.decode(np.array([-1.0, 1.0]))
    known = [plain(level) for level in pair] == list(coding.levels)
    if not known or coding.encode(pair).tolist() != [-1.0, 1.0]:
        raise ValueError(f"{coding.levels!r} are not two levels of type {coding.dtype}")
    coding.encode(coding.decode(np.array([np.nan, 1.0])))
    hash(str(coding.levels))  # an impossible date has no text


def numpy_out(value: np.generic) -> Json:
    """Write a scalar of numpy: its type and its value."""
    if value.dtype.kind in "mM":
        return [value.dtype.str, int(value.astype(np.int64))]
    held = value.item()
    if isinstance(held, np.generic):  # of more digits than Python's numbers have
        raise cannot_hold(value)
    return [value.dtype.str, packed(held)]


def numpy_in(stored: Json) -> Any:
    """Undo `numpy_out`."""
    name, value = stored
    if isinstance(value, list):
        raise ValueError(f"{value!r} is no single value")
    return np.array(unpacked(value)).astype(_numpy_dtype(name, "biufUmM", value))[()]


def _numpy_dtype(name: Json, kinds: str, longest: Json = "") -> np.dtype:
    """Type of a name; of text, one that is not far longer than the longest."""
    if not isinstance(name, str) or not NUMPY.fullmatch(name):
        raise ValueError(f"{name!r} is no type of numbers")
    found = np.dtype(name)
    too_long = found.kind == "U" and found.itemsize > 64 + 8 * len(longest)
    if found.kind not in kinds or too_long:
        raise ValueError(f"{name!r} is not a type of such values")
    return found


def array_out(array: np.ndarray) -> Json:
    """Write an array: its type, its shape and its values."""
    if array.dtype.kind not in "biufUO":
        raise DataError(f"An array of type {array.dtype} cannot be saved with a model.")
    return [array.dtype.str, list(array.shape), packed(array.ravel().tolist())]


def array_in(stored: Json) -> np.ndarray:
    """Undo `array_out`."""
    name, shape, values = stored
    longest = max((v for v in values if isinstance(v, str)), key=len, default="")
    dtype = _numpy_dtype(name, "biufUO", longest)
    return np.array(unpacked(values), dtype=dtype).reshape(shape)


def time_out(value: pd.Timestamp | pd.Timedelta) -> Json:
    """Write a time or a duration: a count, its unit, and a time zone."""
    zone = getattr(value, "tz", None)
    return [int(value.asm8.astype(np.int64)), value.unit, zone and str(zone)]


def timestamp_in(stored: Json) -> pd.Timestamp:
    """Undo `time_out` for a time."""
    count, unit, zone = _checked_time(stored)
    found = pd.Timestamp(np.datetime64(count, unit)).as_unit(unit)
    return found if zone is None else found.tz_localize("UTC").tz_convert(zone)


def timedelta_in(stored: Json) -> pd.Timedelta:
    """Undo `time_out` for a duration."""
    count, unit, _ = _checked_time(stored)
    return pd.Timedelta(np.timedelta64(count, unit)).as_unit(unit)


def _checked_time(stored: Json) -> Json:
    count, unit, zone = stored
    if unit not in UNITS or not (zone is None or ZONE.fullmatch(zone)):
        raise ValueError(f"{stored!r} is no point in time")
    return count, unit, zone


def interval_out(value: pd.Interval) -> Json:
    """Write an interval: its ends, and which of them belong to it."""
    ends = [packed(plain(value.left)), packed(plain(value.right))]
    return [*ends, value.closed]


def interval_in(stored: Json) -> pd.Interval:
    """Undo `interval_out`."""
    left, right, closed = stored
    return pd.Interval(unpacked(left), unpacked(right), closed)


def pairs_out(value: dict[object, object]) -> Json:
    """Write a dictionary as pairs: its keys need not be text."""
    return [[packed(key), packed(item)] for key, item in value.items()]


def pairs_in(stored: Json) -> dict[object, object]:
    """Undo `pairs_out`."""
    return {unpacked(key): unpacked(item) for key, item in stored}


# Types that JSON does not have: how to write and how to read them. A type stands
# before those that it is derived from.
CODECS: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "NA": (type(pd.NA), lambda value: None, lambda stored: pd.NA),
    "NaT": (type(pd.NaT), lambda value: None, lambda stored: pd.NaT),
    "timestamp": (pd.Timestamp, time_out, timestamp_in),
    "timedelta": (pd.Timedelta, time_out, timedelta_in),
    "datetime": (
        datetime.datetime,
        datetime.datetime.isoformat,
        datetime.datetime.fromisoformat,
    ),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "interval": (pd.Interval, interval_out, interval_in),
    "period": (
        pd.Period,
        lambda value: [value.ordinal, value.freqstr],
        lambda stored: pd.Period(ordinal=stored[0], freq=stored[1]),
    ),
    "numpy": (np.generic, numpy_out, numpy_in),
    "array": (np.ndarray, array_out, array_in),
    "float": (float, str, float),
    "tuple": (tuple, lambda value: packed(list(value)), lambda s: tuple(unpacked(s))),
    "dict": (dict, pairs_out, pairs_in),
}
