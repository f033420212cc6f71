"""Objects as JSON and arrays, and back: values as they are, dataclasses by their hints.

Arrays of numbers stand one after the other, by type, in the arrays of the file: JSON
has their type, shape and order. What is wrong raises ValueError or another exception,
of which `archive.open_npz` makes one sentence.

`write` is strict, `read` is not: what `read` makes of a file is written again, and has
to be what stands there. So `read` asks for no more than that reading does no harm.

A dataclass is described once, where it is declared. What hints alone do not say stands
in three tables: `FORMS` has types that are written in a way of their own, `RULES` what
a class has beside its fields, `BOUNDS` numbers that fields of a name may be.
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
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from pegasos_stats.arrays import Vector
from pegasos_stats.data.labels import Dtype
from pegasos_stats.errors import DataError, one_line, plain, shown
from pegasos_stats.persist.archive import Arrays, Json, Value

PLAIN = (bool, int, str, type(None))
NUMPY = re.compile(r"[<>|=][biufUOmM][0-9]*(\[[0-9]*[a-zA-Z]+\])?", re.ASCII)
ZONE = re.compile(r"(?!dateutil)[A-Za-z][\w+:/-]*", re.ASCII)  # no path of a file
LONGEST = 200  # characters of the name of a type
LARGEST = 2**62  # whole number
TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
MOST_EMPTY = 2**16  # of a dimension of an array, whatever the size of the file


class ArrayWriter:
    """Arrays that are to be written, and the functions of the user that were met.

    Attributes
    ----------
    functions : dict of str to callable
        By the names under which they are to be given to `load`.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., object]] = {}
        self._parts: dict[str, list[np.ndarray]] = {}

    def put(self, array: np.ndarray) -> Json:
        """Add an array; return what finds it: type, shape, whether by columns.

        Raises
        ------
        DataError
            If it is not of numbers.
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
        """Note a function of the user.

        Raises
        ------
        DataError
            If another one has its name.
        """
        if self.functions.setdefault(name, function) is not function:
            raise DataError(
                f"Two different functions are called {name!r}, and a file holds "
                "only names; give one of them another name."
            )

    def arrays(self) -> Arrays:
        """All arrays, one for each type."""
        return {name: np.concatenate(found) for name, found in self._parts.items()}

    def holds_same(self, other: "ArrayWriter") -> bool:
        """Whether all arrays of another have the same bytes, in the same order."""
        both = self._parts, other._parts
        bits, others = (
            {name: [part.view("u1").data for part in parts] for name, parts in d}
            for d in (each.items() for each in both)
        )
        return [*bits] == [*others] and bits == others


class ArrayReader:
    """What `ArrayWriter` wrote, taken in the same order.

    Parameters
    ----------
    arrays : dict of str to array
    functions : dict of str to callable
        Those of the user.
    """

    def __init__(self, arrays: Arrays, functions: dict[str, Callable[..., object]]):
        self._functions, self._arrays = functions, arrays
        self._taken, self._asked = dict.fromkeys(arrays, 0), set[str]()
        sizes = (size for array in arrays.values() for size in array.shape)
        self._longest = max([MOST_EMPTY, *sizes])

    def take(self, stored: Json) -> np.ndarray:
        """The next array of its type, a view of what was read.

        Raises
        ------
        ValueError
            If it is not there.
        """
        name, shape, by_columns = stored
        for size in shape:
            self.check_length(size)
        self._asked.add(name)
        at, size = self._taken[name], math.prod(shape)
        self._taken[name] = at + size
        found = self._arrays[name][at : at + size]
        return found.reshape(shape, order="F" if by_columns else "C")

    def check_length(self, length: int) -> None:
        """Raise ValueError for a length of something that the file has no room for."""
        if not 0 <= length <= self._longest:
            raise ValueError(f"a length is {length}")

    def function(self, name: Json) -> Callable[..., object]:
        """A function of the user.

        Raises
        ------
        DataError
            If it is not given.
        """
        if name not in self._functions:
            raise DataError(
                f"The file calls the function {shown(name)}, which no file holds; give "
                f"load(path, functions={{{shown(name)}: {one_line(name)}}})."
            )
        return self._functions[name]

    def check_all_taken(self) -> None:
        """Raise ValueError if something was not asked for."""
        if any(array.shape != (self._taken[n],) for n, array in self._arrays.items()):
            raise ValueError("an array is longer than what is in it")
        if unused := self._arrays.keys() - self._asked:
            raise ValueError(f"nothing is in the array {min(unused)!r}")


class Codec(NamedTuple):
    """How values of a type are written, and how they are read."""

    out: Callable[[Value, ArrayWriter], Json]
    back: Callable[[Json, ArrayReader], Value]


def check_same(stored: Json, again: Json) -> None:
    """Raise ValueError unless what was read is written as it stands in the file."""
    if json.dumps(stored, sort_keys=True) != json.dumps(again, sort_keys=True):
        raise ValueError("a field is not as it would be written")


def cannot_hold(value: object) -> DataError:
    """Make the error for a value of a type that is not known."""
    kind = getattr(value, "dtype", type(value).__name__)
    return DataError(
        f"{shown(value)} is of type {kind}, which a saved model cannot hold; convert "
        "it to text, numbers of 64 bits or dates before the fit."
    )


# ------------------------------------------------------------------------------ values


def any_out(value: Value, writer: ArrayWriter) -> Json:
    """Write a value; what JSON does not have becomes ``{type: parts}``.

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
    held = value.item()
    if isinstance(held, np.generic):  # of more digits than Python's numbers have
        raise cannot_hold(value)
    return [value.dtype.str, held]


def _numpy_of(parts: Json) -> Value:
    name, value = parts
    return np.array(value).astype(_numpy_dtype(name, "biufUmM", [value]))[()]


def _numpy_dtype(name: Json, kinds: str, values: Sequence[Json] = ()) -> np.dtype:
    """Type of a name; of text, one that is not far longer than the longest value."""
    if not isinstance(name, str) or not NUMPY.fullmatch(name):
        raise ValueError(f"{name!r} is no type of numbers")
    found = np.dtype(name)
    longest = max((len(v) for v in values if isinstance(v, str)), default=0)
    too_long = found.kind == "U" and found.itemsize > 64 + 8 * longest
    if found.kind not in kinds or too_long:
        raise ValueError(f"{name!r} is not a type of such values")
    return found


def _objects_parts(array: np.ndarray) -> list[Json]:
    if array.dtype.kind not in "UO":
        raise cannot_hold(array)
    return [array.dtype.str, list(array.shape), array.ravel().tolist()]


def _objects_of(parts: Json) -> np.ndarray:
    name, shape, values = parts
    found = np.fromiter(values, dtype=object)
    return found.astype(_numpy_dtype(name, "UO", values)).reshape(shape)


def _time_parts(value: pd.Timestamp | pd.Timedelta) -> list[Json]:
    zone = getattr(value, "tz", None)
    return [int(value.asm8.astype(np.int64)), value.unit, zone and str(zone)]


def _time_of(parts: Json) -> pd.Timestamp:
    count, unit, zone = parts
    found = pd.Timestamp(np.datetime64(count, unit)).as_unit(unit)
    if zone is None:
        return found
    if not ZONE.fullmatch(zone):
        raise ValueError(f"{zone!r} is no time zone")
    return found.tz_localize("UTC").tz_convert(zone)


# Types that JSON does not have: their parts, and the value of these. A type stands
# before those that it is derived from.
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
    """Undo `dtype_out`; text held by pyarrow is held by Python if it is missing."""
    ((form, name),) = stored.items()
    if form == "numpy":
        return _numpy_dtype(name, "biufOmM")
    if form == "levels":
        return pd.CategoricalDtype(index_back(name[0], reader), ordered=name[1])
    if form == "string":
        storage: Value = name[0]
        missing: Value = {"NA": pd.NA, "": np.nan}[name[1]]
        if storage not in ("python", "pyarrow"):
            raise ValueError(f"{storage!r} is no type of text")
        try:
            found: Dtype = pd.StringDtype(storage, na_value=missing)
        except ImportError:
            found = pd.StringDtype("python", na_value=missing)
        except TypeError:  # pandas 2.2 has but one missing value of text
            found = pd.StringDtype("python") if name[1] else np.dtype(object)
        stored.clear()
        stored.update(dtype_out(found, ArrayWriter()))
        return found
    if len(name) > LONGEST or "dateutil" in name:
        raise ValueError(f"{name!r} is no type of labels")
    return pandas_dtype(name)


def frame_out(frame: pd.DataFrame, writer: ArrayWriter) -> Json:
    """Write a table: its columns, and the labels of rows and columns.

    Raises
    ------
    DataError
        If it holds values of types that a file cannot hold.
    """
    columns = (frame.iloc[:, j] for j in range(frame.shape[1]))
    axes = [index_out(axis, writer) for axis in (frame.index, frame.columns)]
    return [*axes, [column_out(column, writer) for column in columns]]


def frame_back(stored: Json, reader: ArrayReader) -> pd.DataFrame:
    """Undo `frame_out`."""
    rows, names, columns = stored
    index, labels = index_back(rows, reader), index_back(names, reader)
    each = [column_back(column, reader) for column in columns]
    return pd.DataFrame(dict(enumerate(each)), index).set_axis(labels, axis=1)


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
    found: Value
    if form == "range":
        found = pd.RangeIndex(*value)
        reader.check_length(len(found))
    elif form == "several":
        codes: Value = [reader.take(code) for code in value[0]]
        levels: Value = [index_back(level, reader) for level in value[1]]
        found = pd.MultiIndex(levels, codes)
    else:
        column, every = value
        found = pd.Index(column_back(column, reader))
        if every is not None:
            found.freq = every
    found.names = [any_back(name, reader) for name in names]
    labels: pd.Index = found
    return labels


def column_out(column: Value, writer: ArrayWriter) -> Json:
    """Write a column or labels: numbers as an array, other values one by one."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return ["numbers", writer.put(column.to_numpy())]
    if isinstance(dtype, pd.CategoricalDtype):
        codes = writer.put(column.array.codes.astype(np.int64))
        return ["levels", [codes, dtype_out(dtype, writer)]]
    each = [any_out(value, writer) for value in column]
    return ["values", [each, dtype_out(dtype, writer)]]


def column_back(stored: Json, reader: ArrayReader) -> Value:
    """Undo `column_out`."""
    form, value = stored
    if form == "numbers":
        return reader.take(value)
    each, name = value
    if form == "levels":
        codes = reader.take(each)
        levels: Value = dtype_back(name, reader)
        return pd.Categorical.from_codes(codes, dtype=levels)
    values, dtype = any_back(each, reader), dtype_back(name, reader)
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
CONCRETE: dict[
    object, tuple[object, ...]
] = {}  # classes in the place of an abstract one
NAMES: dict[str, object] = {}  # that hints have and their modules import for mypy alone
NUMBERS = {
    float: (float, int, np.floating),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


class Rule(NamedTuple):
    """What a class has beside its fields.

    Attributes
    ----------
    check : callable, optional
        Conditions for the fields to go together.
    shapes : str
        Arrays and their shapes, such as ``"beta p, X np"``: a letter for each
        dimension, the same letter for the same size; ``problem.y n`` is of a field.
    prepared : callable, optional
        Makes what is written of an object.
    computed : tuple of str
        Computed properties whose values are written, where there are any; they are of
        the types that these properties return.
    hints : dict of str to type
        Types, or names in `FORMS`, of fields that are not as declared.
    gone : tuple of str
        Fields that files of earlier versions have, and the class no more.
    gone_arrays : tuple of str
        The same of arrays, which are read, as they stand in the order of the file.
    """

    check: Callable[[Value], Iterable[object]] = lambda found: ()
    shapes: str = ""
    prepared: Callable[[Value], Value] = lambda found: found
    computed: tuple[str, ...] = ()
    hints: Mapping[str, object] = {}
    gone: tuple[str, ...] = ()
    gone_arrays: tuple[str, ...] = ()

    def verify(self, found: Value) -> None:
        """Raise ValueError for an object that is not good."""
        sizes: set[tuple[str, int]] = set()
        for name, letters in map(str.split, filter(None, self.shapes.split(", "))):
            array = attrgetter(name)(found)
            if array is not None:
                shape = getattr(array, "shape", None) or (len(array),)
                sizes |= {*zip(letters, shape, strict=True)}
        if len(dict(sizes)) < len(sizes) or not all(self.check(found)):
            raise ValueError(f"a {type(found).__name__} does not hold together")


RULES: dict[str, Rule] = {}  # by the name of the class, which no other class has
# By the former name of a class: makes of what a file has what is written today, and
# returns the name of today.
FORMER: dict[str, Callable[[Json], str]] = {}
# The least and the largest number that fields of a name, or their items, may be.
BOUNDS: dict[str, tuple[float, float]] = {}


def check_bounds(name: str, value: Value) -> None:
    """Raise ValueError for numbers that a field of this name cannot have."""
    if name in BOUNDS and isinstance(value, int | float | tuple | np.ndarray):
        (low, high), numbers = BOUNDS[name], np.asarray(value)
        is_number = numbers.dtype.kind in "biuf"
        if is_number and not ((numbers >= low) & (numbers <= high)).all():
            raise ValueError(f"{name} is not from {low:g} to {high:g}")


def write(hint: object, value: Value, writer: ArrayWriter) -> Json:
    """Write a value of a type.

    Raises
    ------
    DataError
        If the value is of another type, or no file can hold it.

    Examples
    --------
    >>> write(tuple[int, ...], (1, 2), ArrayWriter())
    [1, 2]
    >>> write(int | str, "a", ArrayWriter())
    {'str': 'a'}
    """
    origin, inner = meant_by(hint)
    if codec := FORMS.get(hint):
        return codec.out(value, writer)
    if choices := _choices(origin, inner):
        if value is None and types.NoneType in inner:
            return None
        for name, each in choices.items():
            if len(choices) == 1 or _is_of(value, each):
                stored = write(each, value, writer)
                return stored if len(choices) == 1 else {name: stored}
        raise cannot_hold(value)
    if origin in (tuple, list):
        each = zip(_items(origin, inner, len(value)), value, strict=True)
        return [write(item, held, writer) for item, held in each]
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


def read(hint: object, stored: Json, reader: ArrayReader) -> Value:
    """Undo `write`."""
    origin, inner = meant_by(hint)
    if codec := FORMS.get(hint):
        return codec.back(stored, reader)
    if choices := _choices(origin, inner):
        if stored is None and types.NoneType in inner:
            return None
        ((name, held),) = stored.items() if len(choices) > 1 else [(*choices, stored)]
        if name in FORMER and len(choices) > 1:
            stored[name := FORMER[name](held)] = stored.pop(name)
        return read(choices[name], held, reader)
    if origin in (tuple, list):
        each = zip(_items(origin, inner, len(stored)), stored, strict=True)
        return origin([read(item, held, reader) for item, held in each])
    if origin in (dict, Mapping) and get_origin(inner[1]) is Callable:
        return {name: reader.function(name) for name in stored}
    if origin in (dict, Mapping):
        return dict(read(_pairs(inner), stored, reader))
    if _is_record(origin):
        return _fields_back(origin, stored, reader)
    return reader.take(stored) if origin is np.ndarray else any_back(stored, reader)


@cache
def meant_by(hint: object) -> tuple[Any, tuple[Any, ...]]:
    """Type and arguments of a hint; `NDArray` is an alias from numpy 2.5 on.

    Examples
    --------
    >>> from numpy.typing import NDArray
    >>> meant_by(NDArray[np.float64])[0] is np.ndarray, meant_by(int)
    (True, (<class 'int'>, ()))
    """
    value = getattr(get_origin(hint) or hint, "__value__", None)
    if value is not None:
        hint = value[get_args(hint)] if get_args(hint) else value
    return get_origin(hint) or hint, get_args(hint)


@cache
def _choices(origin: object, inner: tuple[object, ...]) -> dict[str, object]:
    """Types that a value may be of, by their names; none where there is but one."""
    if origin is Sequence:
        inner = list[inner], tuple[*inner, ...]  # type: ignore[valid-type]
    elif origin not in (Union, types.UnionType):
        inner = CONCRETE.get(origin, ())
    elif Any in inner:
        inner = (Any,)
    return {_name_of(hint): hint for hint in inner if hint is not types.NoneType}


def _name_of(hint: object) -> str:
    """The name of a type; of arrays that of their numbers."""
    origin, inner = meant_by(hint)
    if origin in (Literal, Any):
        return "Literal"
    name: str = (get_args(inner[1])[0] if origin is np.ndarray else origin).__name__
    return name


def _items(origin: object, inner: tuple[object, ...], length: int) -> Sequence[object]:
    """The types of the items of a tuple or list."""
    one = origin is list or inner[1:] == (Ellipsis,)
    return [inner[0]] * length if one else inner


def _pairs(inner: tuple[object, ...]) -> object:
    """The type of the items of a dictionary, in its order."""
    return types.GenericAlias(list, types.GenericAlias(tuple, inner))


def _is_of(value: object, hint: object) -> bool:
    """Whether a value is of a type; of a container, whether it is one."""
    origin, inner = meant_by(hint)
    if origin is Literal:
        return any(type(value) is type(a) and value == a for a in inner)
    if origin in NUMBERS:
        is_flag = isinstance(value, bool) and origin is not bool
        is_huge = isinstance(value, int) and abs(value) > LARGEST
        return isinstance(value, NUMBERS[origin]) and not is_flag and not is_huge
    if origin is np.ndarray:
        (declared,) = get_args(inner[1])
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, declared)
    known = {Sequence: (list, tuple), Mapping: (dict,)} | CONCRETE
    return type(value) in known.get(origin, (origin,))


def _is_record(kind: object) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


@cache
def _hints(kind: type) -> tuple[list[str], dict[str, object]]:
    """The fields of a dataclass or named tuple, and the types of all that is saved."""
    rule = RULES.get(kind.__name__, Rule())
    if dataclasses.is_dataclass(kind):
        names = [each.name for each in dataclasses.fields(kind)]
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
    """Undo `_fields_out`; fields that are not there have their defaults."""
    names, hints = _hints(kind)
    rule = RULES.get(kind.__name__, Rule())
    for name in rule.gone:
        stored.pop(name, None)
    hints = {**hints, **dict.fromkeys(rule.gone_arrays, Vector | None)}
    # Arrays stand in the order of the file.
    values = {name: read(hints[name], held, reader) for name, held in stored.items()}
    for name in rule.gone_arrays:
        values.pop(name, None)
        stored.pop(name, None)
    for name, value in values.items():
        check_bounds(name, value)
    found = kind(**{name: values.pop(name) for name in names if name in values})
    for name in set(names) - set(stored):
        stored[name] = write(hints[name], getattr(found, name), ArrayWriter())
    if values:
        vars(found).update(values)
    rule.verify(found)
    return found
