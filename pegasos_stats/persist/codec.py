"""Convert objects to JSON and arrays, and back; dataclasses by their type hints.

Arrays of numbers are concatenated by type in the arrays of the file; the JSON text
stores their type, shape and order. Defects raise ValueError or another exception, which
`archive.opened` converts to a `DataError`.

`write` checks all types. `restore` checks only that reading does no harm, because its
result is written again, and must then equal the content of the file.

The type hints of a dataclass determine how its fields are saved; `validate` checks
their values. Two tables supplement the hints. `FORMS` contains functions for types that
have their own form in files. `RULES` contains further conditions of classes, functions
that prepare their objects for saving, and computed properties to save.
"""

import dataclasses
import datetime
import json
import math
import re
import types
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from inspect import getattr_static
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from pegasos_stats.data.labels import Dtype
from pegasos_stats.errors import DataError, one_line, plain, shown
from pegasos_stats.persist.archive import TYPES, Arrays, Json, Value

PLAIN = (bool, int, str, type(None))
NUMPY = re.compile(r"[<>|=][biufUOmM][0-9]*(\[[0-9]*[a-zA-Z]+\])?", re.ASCII)
ZONE = re.compile(r"(?!dateutil)[A-Za-z][\w+:/-]*", re.ASCII)  # not a file path
MAX_INTEGER = 2**62  # absolute value
HUGE = 1e300  # so that products with coefficients are finite
BOUNDS = {  # of numbers, by words of ``_field_rules``
    "finite": (-HUGE, HUGE),
    "nonnegative": (0.0, HUGE),
    "positive": (5e-324, math.inf),
    "distance": (0.0, math.inf),
    "share": (0.0, 1.0),
    "several": (2.0, HUGE),
    "code": (-1.0, HUGE),
    "seed": (1.0 - 2**31, 2**31 - 1.0),
}
MOST_EMPTY = 2**16  # maximum of a stated length, unless the file has a longer array


class ArrayWriter:
    """Arrays to be written, and functions of the user in the object.

    Attributes
    ----------
    functions : dict of str to callable
        Functions by the names that `load` needs.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., object]] = {}
        self._parts: dict[str, list[np.ndarray]] = {}

    def put(self, array: np.ndarray) -> Json:
        """Add an array; return its type, shape and whether it is in column order.

        Raises
        ------
        DataError
            If the array is not numeric.
        """
        name = array.dtype.str[1:]
        if name not in TYPES:
            raise cannot_hold(array)
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        flat = native.ravel("K" if by_columns else "C")
        self._parts.setdefault(name, []).append(flat)
        return [name, list(array.shape), by_columns]

    def use(self, name: str, function: Callable[..., object]) -> None:
        """Record a function of the user.

        Raises
        ------
        DataError
            If another function has the same name.
        """
        if self.functions.setdefault(name, function) is not function:
            raise DataError(
                f"Two different functions are called {name!r}, and a file holds "
                "only names; rename one of them."
            )

    def arrays(self) -> Arrays:
        """Return the arrays, one per type."""
        return {name: np.concatenate(parts) for name, parts in self._parts.items()}


class ArrayReader:
    """Arrays that `ArrayWriter` wrote, in the same order.

    Parameters
    ----------
    arrays : dict of str to array
    functions : dict of str to callable
        Functions of the user.
    """

    def __init__(self, arrays: Arrays, functions: dict[str, Callable[..., object]]):
        self._functions, self._arrays = functions, arrays
        self._positions, self._used = dict.fromkeys(arrays, 0), set[str]()
        sizes = (size for array in arrays.values() for size in array.shape)
        self._longest = max([MOST_EMPTY, *sizes])

    def take(self, stored: Json) -> np.ndarray:
        """Return the next array of its type, as a view.

        Raises
        ------
        ValueError
            If there is no such array.
        """
        name, shape, by_columns = stored
        for size in shape:
            self.check_length(size)
        self._used.add(name)
        at, size = self._positions[name], math.prod(shape)
        self._positions[name] = at + size
        flat = self._arrays[name][at : at + size]
        return flat.reshape(shape, order="F" if by_columns else "C")

    def check_length(self, length: int) -> None:
        """Raise ValueError for a length that the file cannot contain."""
        if not 0 <= length <= self._longest:
            raise ValueError(f"a length is {length}")

    def function(self, name: Json) -> Callable[..., object]:
        """Return a function of the user.

        Raises
        ------
        DataError
            If it is missing.
        """
        if name not in self._functions:
            raise DataError(
                f"The file calls the function {shown(name)}, which it does not "
                "contain; use "
                f"load(path, functions={{{shown(name)}: {one_line(name)}}})."
            )
        return self._functions[name]

    def check_all_used(self) -> None:
        """Raise ValueError if some values were not used."""
        if any(
            array.shape != (self._positions[n],) for n, array in self._arrays.items()
        ):
            raise ValueError("an array has values that no field uses")
        if unused := self._arrays.keys() - self._used:
            raise ValueError(f"no field uses the array {min(unused)!r}")


class Codec(NamedTuple):
    """Functions that write and read values of a type."""

    out: Callable[[Value, ArrayWriter], Json]
    back: Callable[[Json, ArrayReader], Value]


def check_same(stored: Json, again: Json) -> None:
    """Raise ValueError unless writing reproduces the content of the file."""
    if json.dumps(stored, sort_keys=True) != json.dumps(again, sort_keys=True):
        raise ValueError("a field differs from what save() would write")


def cannot_hold(value: object) -> DataError:
    """Return the error for a value of an unsupported type."""
    kind = getattr(value, "dtype", type(value).__name__)
    return DataError(
        f"{shown(value)} is of type {kind}, which a saved model cannot hold; convert "
        "it to text, 64-bit numbers or dates before the fit."
    )


# ------------------------------------------------------------------------------ values


def any_out(value: Value, writer: ArrayWriter) -> Json:
    """Write a value; types that JSON lacks become ``{type: parts}``.

    Parameters
    ----------
    value : object
        None, text, numbers and dates of Python, numpy and pandas; intervals; lists,
        tuples, dictionaries and arrays of these.
    writer : ArrayWriter

    Raises
    ------
    DataError
        If the value is of another type.

    Examples
    --------
    >>> any_out([1, 0.1, None], ArrayWriter()), any_out((1, np.inf), ArrayWriter())
    ([1, 0.1, None], {'tuple': [1, {'float': 'inf'}]})
    """
    kind = type(value)
    if kind in PLAIN or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [any_out(item, writer) for item in value]
    if kind is np.ndarray and value.dtype.kind in "biuf":
        return {"array": writer.put(value)}
    for name, (kinds, parts, _) in TAGGED.items():
        if isinstance(value, kinds):
            return {name: any_out(parts(value), writer)}
    raise cannot_hold(value)


def any_back(stored: Json, reader: ArrayReader) -> Value:
    """Undo `any_out`."""
    if isinstance(stored, list):
        return [any_back(item, reader) for item in stored]
    if not isinstance(stored, dict):
        return stored
    ((name, parts),) = stored.items()
    if name == "array":
        return reader.take(parts)
    return TAGGED[name][2](any_back(parts, reader))


def _numpy_parts(value: np.generic) -> list[Json]:
    if value.dtype.kind in "mM":
        return [value.dtype.str, int(value.astype(np.int64))]
    number = value.item()
    if isinstance(number, np.generic):  # longdouble: Python has no such number
        raise cannot_hold(value)
    return [value.dtype.str, number]


def _numpy_of(parts: Json) -> Value:
    name, value = parts
    return np.array(value).astype(_numpy_dtype(name, "biufUmM", [value]))[()]


def _numpy_dtype(name: Json, kinds: str, values: Sequence[Json] = ()) -> np.dtype:
    """Return the type of a name; text types must not far exceed the longest value."""
    if not isinstance(name, str) or not NUMPY.fullmatch(name):
        raise ValueError(f"{name!r} is not a type of numbers")
    dtype = np.dtype(name)
    longest = max((len(v) for v in values if isinstance(v, str)), default=0)
    too_long = dtype.kind == "U" and dtype.itemsize > 64 + 8 * longest
    if dtype.kind not in kinds or too_long:
        raise ValueError(f"{name!r} is not a type of such values")
    return dtype


def _objects_parts(array: np.ndarray) -> list[Json]:
    if array.dtype.kind not in "UO":
        raise cannot_hold(array)
    return [array.dtype.str, list(array.shape), array.ravel().tolist()]


def _objects_of(parts: Json) -> np.ndarray:
    name, shape, values = parts
    flat = np.fromiter(values, dtype=object)
    return flat.astype(_numpy_dtype(name, "UO", values)).reshape(shape)


def _time_parts(value: pd.Timestamp | pd.Timedelta) -> list[Json]:
    zone = getattr(value, "tz", None)
    return [int(value.asm8.astype(np.int64)), value.unit, zone and str(zone)]


def _time_of(parts: Json) -> pd.Timestamp:
    count, unit, zone = parts
    timestamp = pd.Timestamp(np.datetime64(count, unit)).as_unit(unit)
    if zone is None:
        return timestamp
    if not ZONE.fullmatch(zone):
        raise ValueError(f"{zone!r} is not a time zone")
    return timestamp.tz_localize("UTC").tz_convert(zone)


# Types that JSON lacks: functions to parts and back. Subclasses precede their base
# classes.
TAGGED: dict[
    str,
    tuple[type | tuple[type, ...], Callable[[Value], Json], Callable[[Json], Value]],
] = {
    "NA": (type(pd.NA), lambda value: None, lambda parts: pd.NA),
    "NaT": (type(pd.NaT), lambda value: None, lambda parts: pd.NaT),
    "timestamp": (pd.Timestamp, _time_parts, _time_of),
    "timedelta": (
        pd.Timedelta,
        _time_parts,
        lambda parts: pd.Timedelta(np.timedelta64(*parts[:2])).as_unit(parts[1]),
    ),
    "datetime": (
        datetime.datetime,
        datetime.datetime.isoformat,
        datetime.datetime.fromisoformat,
    ),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "interval": (
        pd.Interval,
        lambda value: [plain(value.left), plain(value.right), value.closed],
        lambda parts: pd.Interval(*parts),
    ),
    "period": (
        pd.Period,
        lambda value: [value.ordinal, value.freqstr],
        lambda parts: pd.Period(ordinal=parts[0], freq=parts[1]),
    ),
    "numpy": (np.generic, _numpy_parts, _numpy_of),
    "objects": (np.ndarray, _objects_parts, _objects_of),
    "float": (float, str, float),
    "tuple": (tuple, list, tuple),
    "dict": (dict, lambda value: [[k, v] for k, v in value.items()], dict),
}


# ------------------------------------------------------------- types, columns, tables


def dtype_out(dtype: Dtype, writer: ArrayWriter) -> Json:
    """Write a numpy or pandas type.

    Raises
    ------
    DataError
        If the type cannot be rebuilt from its name.
    """
    if isinstance(dtype, np.dtype):
        return {"numpy": dtype.str}
    if isinstance(dtype, pd.CategoricalDtype):
        return {"levels": [index_out(dtype.categories, writer), bool(dtype.ordered)]}
    if isinstance(dtype, pd.StringDtype):
        return {"string": [dtype.storage, "NA" if dtype.na_value is pd.NA else ""]}
    with suppress(TypeError, ValueError):
        if pandas_dtype(str(dtype)) == dtype:
            return {"pandas": str(dtype)}
    raise DataError(
        f"Labels of type {dtype} cannot be saved; convert them to text, numbers or "
        "categories before the fit."
    )


def dtype_back(stored: Json, reader: ArrayReader) -> Dtype:
    """Undo `dtype_out`; if pyarrow is missing, its string type becomes Python's."""
    ((form, name),) = stored.items()
    if form == "numpy":
        return _numpy_dtype(name, "biufOmM")
    if form == "levels":
        return pd.CategoricalDtype(index_back(name[0], reader), ordered=name[1])
    if form == "string":
        storage: Value = name[0]
        missing: Value = {"NA": pd.NA, "": np.nan}[name[1]]
        if storage not in ("python", "pyarrow"):
            raise ValueError(f"{storage!r} is not a type of text")
        try:
            dtype: Dtype = pd.StringDtype(storage, na_value=missing)
        except ImportError:
            dtype = pd.StringDtype("python", na_value=missing)
        except TypeError:  # pandas 2.2 has only one missing value of text
            dtype = pd.StringDtype("python") if name[1] else np.dtype(object)
        stored.clear()
        stored.update(dtype_out(dtype, ArrayWriter()))
        return dtype
    if len(name) > 200 or "dateutil" in name:
        raise ValueError(f"{name!r} is not a type of labels")
    return pandas_dtype(name)


def frame_out(frame: pd.DataFrame, writer: ArrayWriter) -> Json:
    """Write a table: its columns, and the labels of rows and columns.

    Raises
    ------
    DataError
        If it contains values of unsupported types.
    """
    columns = (frame.iloc[:, j] for j in range(frame.shape[1]))
    axes = [index_out(axis, writer) for axis in (frame.index, frame.columns)]
    return [*axes, [column_out(column, writer) for column in columns]]


def frame_back(stored: Json, reader: ArrayReader) -> pd.DataFrame:
    """Undo `frame_out`."""
    rows, names, columns = stored
    index, labels = index_back(rows, reader), index_back(names, reader)
    arrays = [column_back(column, reader) for column in columns]
    return pd.DataFrame(dict(enumerate(arrays)), index).set_axis(labels, axis=1)


def index_out(index: pd.Index, writer: ArrayWriter) -> Json:
    """Write labels of rows or columns."""
    names = [any_out(name, writer) for name in index.names]
    if isinstance(index, pd.RangeIndex):
        return ["range", names, [index.start, index.stop, index.step]]
    if isinstance(index, pd.MultiIndex):
        codes = [writer.put(np.asarray(code, dtype=np.int64)) for code in index.codes]
        levels = [index_out(level, writer) for level in index.levels]
        return ["several", names, [codes, levels]]
    regular = isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex)
    every = getattr(index, "freqstr", None) if regular else None
    return ["labels", names, [column_out(index, writer), every]]


def index_back(stored: Json, reader: ArrayReader) -> pd.Index:
    """Undo `index_out`."""
    form, names, value = stored
    index: Value
    if form == "range":
        index = pd.RangeIndex(*value)
        reader.check_length(len(index))
    elif form == "several":
        codes: Value = [reader.take(code) for code in value[0]]
        levels: Value = [index_back(level, reader) for level in value[1]]
        index = pd.MultiIndex(levels, codes)
    else:
        column, every = value
        index = pd.Index(column_back(column, reader))
        if every is not None:
            index.freq = every
    index.names = [any_back(name, reader) for name in names]
    labels: pd.Index = index
    return labels


def column_out(column: Value, writer: ArrayWriter) -> Json:
    """Write a column or labels: numbers as an array, other values one by one."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return ["numbers", writer.put(column.to_numpy())]
    if isinstance(dtype, pd.CategoricalDtype):
        codes = writer.put(column.array.codes.astype(np.int64))
        return ["levels", [codes, dtype_out(dtype, writer)]]
    values = [any_out(value, writer) for value in column]
    return ["values", [values, dtype_out(dtype, writer)]]


def column_back(stored: Json, reader: ArrayReader) -> Value:
    """Undo `column_out`."""
    form, value = stored
    if form == "numbers":
        return reader.take(value)
    parts, name = value
    if form == "levels":
        codes = reader.take(parts)
        levels: Value = dtype_back(name, reader)
        return pd.Categorical.from_codes(codes, dtype=levels)
    values, dtype = any_back(parts, reader), dtype_back(name, reader)
    if dtype == np.dtype(object):
        return np.fromiter(values, dtype=object)
    return pd.Series(values, dtype=dtype).array


# ------------------------------------------------------------- types that hints declare

FORMS: dict[object, Codec] = {
    **dict.fromkeys((Any, object, Hashable), Codec(any_out, any_back)),
    Dtype: Codec(dtype_out, dtype_back),
    pd.DataFrame: Codec(frame_out, frame_back),
    pd.Index: Codec(index_out, index_back),
}
CONCRETE: dict[object, tuple[object, ...]] = {}  # classes for an abstract one
NAMES: dict[str, object] = {}  # in type hints that modules import only for mypy
NUMBERS = {
    float: (float, int, np.floating),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


class Rule(NamedTuple):
    """How a class is saved, beyond its fields.

    Attributes
    ----------
    conditions : callable, optional
        Further conditions on the fields, which use modules that the class cannot
        import.
    prepared : callable, optional
        Returns the object to write.
    computed : tuple of str
        Computed properties whose values are written if present, with the declared
        return types.
    hints : dict of str to type
        Types, or names in `FORMS`, that replace declared types of fields.
    """

    conditions: Callable[[Value], Iterable[object]] = lambda record: ()
    prepared: Callable[[Value], Value] = lambda record: record
    computed: tuple[str, ...] = ()
    hints: Mapping[str, object] = {}


RULES: dict[str, Rule] = {}  # by class name


def validate(record: Value) -> None:
    """Raise ValueError if fields violate the sizes, bounds or conditions of the class.

    The class attribute ``_field_rules``, such as ``"beta p finite, problem.X np"``,
    states sizes and bounds. ``np`` is a shape: a letter for each dimension, the same
    letter for the same size. ``finite`` is a name of `BOUNDS`. ``problem.X`` is an
    attribute of the field ``problem``. The method ``_conditions()`` yields further
    conditions, which must be true.
    """
    kind, sizes = type(record), set[tuple[str, int]]()
    rules = getattr(kind, "_field_rules", "").split(", ")
    for name, *words in map(str.split, filter(None, rules)):
        value = attrgetter(name)(record)
        for word in words if value is not None else ():
            if word in BOUNDS:
                (low, high), numbers = BOUNDS[word], np.asarray(value)
                if not ((numbers >= low) & (numbers <= high)).all():
                    raise ValueError(f"{name} is not {word}")
            else:
                shape = getattr(value, "shape", None) or (len(value),)
                sizes |= {*zip(word, shape, strict=True)}
    conditions = RULES.get(kind.__name__, Rule()).conditions(record)
    own = getattr(kind, "_conditions", lambda record: ())(record)
    if len(dict(sizes)) < len(sizes) or not all(chain(conditions, own)):
        raise ValueError(f"the fields of a {kind.__name__} are inconsistent")


def write(hint: object, value: Value, writer: ArrayWriter) -> Json:
    """Write a value of a type.

    Raises
    ------
    DataError
        If the value is of another type or unsupported.

    Examples
    --------
    >>> write(tuple[int, ...], (1, 2), ArrayWriter())
    [1, 2]
    >>> write(int | str, "a", ArrayWriter())
    {'str': 'a'}
    """
    origin, inner = parts_of_hint(hint)
    if codec := FORMS.get(hint):
        return codec.out(value, writer)
    if choices := _choices(origin, inner):
        if value is None and types.NoneType in inner:
            return None
        for name, choice in choices.items():
            if len(choices) == 1 or _is_of(value, choice):
                stored = write(choice, value, writer)
                return stored if len(choices) == 1 else {name: stored}
        raise cannot_hold(value)
    if origin in (tuple, list):
        pairs = zip(_items(origin, inner, len(value)), value, strict=True)
        return [write(item, item_value, writer) for item, item_value in pairs]
    if origin in (dict, Mapping) and get_origin(inner[1]) is Callable:
        for name, function in value.items():
            writer.use(name, function)
        return sorted(value)
    if origin in (dict, Mapping):
        return write(_pairs(inner), list(value.items()), writer)
    if _is_record(origin):
        return _fields_out(origin, value, writer)
    if not _is_of(value, hint):
        raise cannot_hold(value)
    return writer.put(value) if origin is np.ndarray else any_out(value, writer)


def restore(hint: object, stored: Json, reader: ArrayReader) -> Value:
    """Undo `write`."""
    origin, inner = parts_of_hint(hint)
    if codec := FORMS.get(hint):
        return codec.back(stored, reader)
    if choices := _choices(origin, inner):
        if stored is None and types.NoneType in inner:
            return None
        ((name, part),) = stored.items() if len(choices) > 1 else [(*choices, stored)]
        return restore(choices[name], part, reader)
    if origin in (tuple, list):
        pairs = zip(_items(origin, inner, len(stored)), stored, strict=True)
        return origin([restore(item, part, reader) for item, part in pairs])
    if origin in (dict, Mapping) and get_origin(inner[1]) is Callable:
        return {name: reader.function(name) for name in stored}
    if origin in (dict, Mapping):
        return dict(restore(_pairs(inner), stored, reader))
    if _is_record(origin):
        return _fields_back(origin, stored, reader)
    return reader.take(stored) if origin is np.ndarray else any_back(stored, reader)


@cache
def parts_of_hint(hint: object) -> tuple[Any, tuple[Any, ...]]:
    """Return type and arguments of a hint; `NDArray` is an alias from numpy 2.5 on.

    Examples
    --------
    >>> from numpy.typing import NDArray
    >>> parts_of_hint(NDArray[np.float64])[0] is np.ndarray, parts_of_hint(int)
    (True, (<class 'int'>, ()))
    """
    value = getattr(get_origin(hint) or hint, "__value__", None)
    if value is not None:
        hint = value[get_args(hint)] if get_args(hint) else value
    return get_origin(hint) or hint, get_args(hint)


@cache
def _choices(origin: object, inner: tuple[object, ...]) -> dict[str, object]:
    """Return the alternative types of a value by name; none if there is only one."""
    if origin is Sequence:
        inner = list[inner], tuple[*inner, ...]  # type: ignore[valid-type]
    elif origin not in (Union, types.UnionType):
        inner = CONCRETE.get(origin, ())
    elif Any in inner:
        inner = (Any,)
    return {_name_of(hint): hint for hint in inner if hint is not types.NoneType}


def _name_of(hint: object) -> str:
    """Return the name of a type; for arrays the name of their number type."""
    origin, inner = parts_of_hint(hint)
    if origin in (Literal, Any):
        return "Literal"
    name: str = (get_args(inner[1])[0] if origin is np.ndarray else origin).__name__
    return name


def _items(origin: object, inner: tuple[object, ...], length: int) -> Sequence[object]:
    """Return the types of the items of a tuple or list."""
    one = origin is list or inner[1:] == (Ellipsis,)
    return [inner[0]] * length if one else inner


def _pairs(inner: tuple[object, ...]) -> object:
    """Return the type of the items of a dictionary, in order."""
    return types.GenericAlias(list, types.GenericAlias(tuple, inner))


def _is_of(value: object, hint: object) -> bool:
    """Return whether a value has a type; items of containers are not checked."""
    origin, inner = parts_of_hint(hint)
    if origin is Literal:
        return any(type(value) is type(a) and value == a for a in inner)
    if origin in NUMBERS:
        is_flag = isinstance(value, bool) and origin is not bool
        is_huge = isinstance(value, int) and abs(value) > MAX_INTEGER
        return isinstance(value, NUMBERS[origin]) and not is_flag and not is_huge
    if origin is np.ndarray:
        (declared,) = get_args(inner[1])
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, declared)
    classes = {Sequence: (list, tuple), Mapping: (dict,)} | CONCRETE
    return type(value) in classes.get(origin, (origin,))


def _is_record(kind: object) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


@cache
def _hints(kind: type) -> tuple[list[str], dict[str, object]]:
    """Return the fields of a dataclass or named tuple, and all saved types."""
    rule = RULES.get(kind.__name__, Rule())
    if dataclasses.is_dataclass(kind):
        names = [declared.name for declared in dataclasses.fields(kind)]
    else:
        names = list(getattr(kind, "_fields", ()))
    hints = {**get_type_hints(kind, localns=NAMES), **rule.hints}
    for name in rule.computed:
        function = getattr_static(kind, name).func
        hints[name] = get_type_hints(function, localns=NAMES)["return"]
    return names, {name: hints[name] for name in (*names, *rule.computed)}


def _fields_out(kind: type, value: Value, writer: ArrayWriter) -> Json:
    """Write a dataclass or a named tuple, field by field."""
    names, hints = _hints(kind)
    value = RULES.get(kind.__name__, Rule()).prepared(value)
    if type(value) is not kind:
        raise cannot_hold(value)
    there = (n for n in hints if n in names or n in vars(value))
    return {name: write(hints[name], getattr(value, name), writer) for name in there}


def _fields_back(kind: type, stored: Json, reader: ArrayReader) -> Value:
    """Undo `_fields_out`."""
    names, hints = _hints(kind)
    # Arrays must be read in the order of the file.
    values = {name: restore(hints[name], part, reader) for name, part in stored.items()}
    record = kind(**{name: values.pop(name) for name in names})
    if values:
        vars(record).update(values)
    validate(record)
    return record
