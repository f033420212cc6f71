"""Objects as JSON and arrays, and back: values as they are, dataclasses by their hints.

Arrays of numbers stand one after the other, by type, in the arrays of the file: JSON
has their type, shape and order. What is wrong raises ValueError or another exception,
of which `archive.opened` makes one sentence.

`Form.out` is strict, `Form.back` is not: what `Form.back` makes of a file is written
again, and has to be what stands there (`rebuilt`). So back asks for no more than that
reading does no harm.

A dataclass is described once, where it is declared. What hints alone do not say stands
in three tables: `FORMS` has types that are written in a way of their own, `RULES` what
a class has beside its fields, `BOUNDS` numbers that fields of a name may be. Fields
that computed properties keep are of the types that these properties return.
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
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

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
            raise DataError(
                f"An array of type {array.dtype} cannot be saved; convert it to "
                "numbers of 64 bits."
            )
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
        self._taken: dict[str, int] = {}
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
        pool, at, size = self._arrays[name], self._taken.get(name, 0), math.prod(shape)
        if size > pool.size - at:
            raise ValueError(f"its array {name} has the shape {pool.shape}")
        self._taken[name] = at + size
        return pool[at : at + size].reshape(shape, order="F" if by_columns else "C")

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
        for name, array in self._arrays.items():
            if self._taken.get(name) != array.size:
                raise ValueError(f"its array {name} is longer than what is in it")


Out: TypeAlias = Callable[[Value, ArrayWriter], Json]
Back: TypeAlias = Callable[[Json, ArrayReader], Value]


class Codec(NamedTuple):
    """How values of a type are written, and how they are read."""

    out: Out
    back: Back


def check_same(stored: Json, again: Json) -> None:
    """Raise ValueError unless what was read is written as it stands in the file."""
    if json.dumps(stored, sort_keys=True) != json.dumps(again, sort_keys=True):
        raise ValueError("a field is not as it would be written")


def cannot_hold(value: object) -> DataError:
    """Make the error for a value of a type that is not known."""
    return DataError(
        f"{shown(value)} is of type {type(value).__name__}, which a saved model cannot "
        "hold; convert it to text, a number or a date before the fit."
    )


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
    longest = len(value) if isinstance(value, str) else 0
    return np.array(value).astype(_numpy_dtype(name, "biufUmM", longest))[()]


def _numpy_dtype(name: Json, kinds: str, longest: int = 0) -> np.dtype:
    """Type of a name; of text, one that is not far longer than the longest."""
    if not isinstance(name, str) or not NUMPY.fullmatch(name):
        raise ValueError(f"{name!r} is no type of numbers")
    found = np.dtype(name)
    too_long = found.kind == "U" and found.itemsize > 64 + 8 * longest
    if found.kind not in kinds or too_long:
        raise ValueError(f"{name!r} is not a type of such values")
    return found


def _objects_parts(array: np.ndarray) -> list[Json]:
    if array.dtype.kind not in "UO":
        raise DataError(f"An array of type {array.dtype} cannot be saved with a model.")
    return [array.dtype.str, list(array.shape), array.ravel().tolist()]


def _objects_of(parts: Json) -> np.ndarray:
    name, shape, values = parts
    longest = max((len(v) for v in values if isinstance(v, str)), default=0)
    dtype = _numpy_dtype(name, "UO", longest)
    return objects(values).astype(dtype).reshape(shape)


def objects(values: list[Value]) -> np.ndarray:
    """An array of values as they are, shape (n,)."""
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        found[place] = value
    return found


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


def _timedelta_of(parts: Json) -> pd.Timedelta:
    count, unit, _ = parts
    return pd.Timedelta(np.timedelta64(count, unit)).as_unit(unit)


# Types that JSON does not have: their parts, and the value of these. A type stands
# before those that it is derived from.
TAGGED: dict[
    str,
    tuple[type | tuple[type, ...], Callable[[Value], Json], Callable[[Json], Value]],
] = {
    "NA": (type(pd.NA), lambda value: None, lambda parts: pd.NA),
    "NaT": (type(pd.NaT), lambda value: None, lambda parts: pd.NaT),
    "timestamp": (pd.Timestamp, _time_parts, _time_of),
    "timedelta": (pd.Timedelta, _time_parts, _timedelta_of),
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
    """Undo `dtype_out`; text kept by pyarrow is kept by Python if it is missing."""
    ((form, name),) = stored.items()
    if form == "numpy":
        return _numpy_dtype(name, "biufOmM")
    if form == "levels":
        levels, ordered = name
        return pd.CategoricalDtype(index_back(levels, reader), ordered=ordered)
    if form == "string":
        found = _string_dtype(*name)
        stored.clear()
        stored.update(dtype_out(found, ArrayWriter()))
        return found
    if len(name) > LONGEST or "dateutil" in name:
        raise ValueError(f"{name!r} is no type of labels")
    return pandas_dtype(name)


def _string_dtype(storage: Json, na: Json) -> Dtype:
    if storage not in ("python", "pyarrow") or na not in ("NA", ""):
        raise ValueError(f"{storage!r} is no type of text")
    missing = pd.NA if na == "NA" else np.nan
    try:
        return pd.StringDtype(storage, na_value=missing)
    except ImportError:
        return pd.StringDtype("python", na_value=missing)
    except TypeError:  # pandas 2.2 has but one missing value of text
        return pd.StringDtype("python") if na == "NA" else np.dtype(object)


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
    frame = pd.DataFrame(dict(enumerate(each)), index)
    frame.columns = labels
    return frame


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
        codes, levels = value
        placed: Value = [reader.take(code) for code in codes]
        of: Value = [index_back(level, reader) for level in levels]
        found = pd.MultiIndex(of, placed)
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
        values = column.cat if isinstance(column, pd.Series) else column
        codes = writer.put(np.asarray(values.codes, dtype=np.int64))
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
        levelled: Value = dtype_back(name, reader)
        return pd.Categorical.from_codes(codes, dtype=levelled)
    values, dtype = any_back(each, reader), dtype_back(name, reader)
    if dtype == np.dtype(object):
        return objects(values)
    return pd.Series(values, dtype=dtype).array


# ---------------------------------------------------- types that hints declare

ANY = Codec(any_out, any_back)
FORMS: dict[object, Codec] = {
    Any: ANY,
    object: ANY,
    Hashable: ANY,
    Dtype: Codec(dtype_out, dtype_back),
    pd.DataFrame: Codec(frame_out, frame_back),
    pd.Index: Codec(index_out, index_back),
}
CONCRETE: dict[object, tuple[type, ...]] = {}  # classes in the place of an abstract one
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
        dimension, the same letter for the same size.
    prepared : callable, optional
        Makes what is written of an object.
    computed : tuple of str
        Computed properties whose values are written, where there are any.
    hints : dict of str to type
        Types, or forms, of fields that are not as declared.
    later, gone : tuples of str
        Fields with a default that files of earlier versions do not have, and fields
        that they have and the class no more.
    """

    check: Callable[[Value], Iterable[object]] = lambda found: ()
    shapes: str = ""
    prepared: Callable[[Value], Value] = lambda found: found
    computed: tuple[str, ...] = ()
    hints: Mapping[str, object] = {}
    later: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def verify(self, found: Value) -> None:
        """Raise ValueError for an object that is not good."""
        sizes: dict[str, int] = {}
        for name, letters in map(str.split, filter(None, self.shapes.split(", "))):
            array = getattr(found, name)
            if array is None:
                continue
            each = zip(letters, array.shape, strict=array.ndim == len(letters))
            if array.ndim != len(letters) or any(
                sizes.setdefault(letter, size) != size for letter, size in each
            ):
                raise ValueError(f"{name} has the shape {array.shape}")
        if not all(self.check(found)):
            raise ValueError(f"a {type(found).__name__} does not hold together")


RULES: dict[type, Rule] = {}
# The least and the largest number that fields of a name, or their items, may be.
BOUNDS: dict[str, tuple[float, float]] = {}


def check_bounds(name: str, value: Value) -> None:
    """Raise ValueError for numbers that a field of this name cannot have."""
    if name in BOUNDS and isinstance(value, int | float | tuple | np.ndarray):
        (low, high), numbers = BOUNDS[name], np.asarray(value)
        within = numbers.dtype.kind not in "biuf" or (
            (numbers >= low) & (numbers <= high)
        )
        if not np.all(within):
            raise ValueError(f"{name} is not from {low:g} to {high:g}")


@cache
def codec_for(hint: object) -> Codec:
    """The form of the values of a field of this type.

    Raises
    ------
    TypeError
        If fields of this type have none.

    Examples
    --------
    >>> codec_for(tuple[int, ...]).out((1, 2), ArrayWriter())
    [1, 2]
    """
    if isinstance(hint, Codec):
        return hint
    hint = meant_by(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if hint in FORMS:
        return FORMS[hint]
    if hint in CONCRETE:
        return _one_of(CONCRETE[hint])
    if origin in (Union, types.UnionType):
        return _union(inner)
    if origin is Literal or hint in (str, *NUMBERS):
        return _strict(hint, any_out, any_back)
    if origin is np.ndarray:
        return _strict(hint, lambda v, w: w.put(v), lambda s, r: r.take(s))
    if origin is tuple:
        return _items(inner, tuple)
    if origin is list:
        return _items((inner[0], Ellipsis), list)
    if origin is Sequence:
        of_list = types.GenericAlias(list, inner)
        return _one_of((of_list, types.GenericAlias(tuple, (*inner, Ellipsis))))
    if origin in (dict, Mapping):
        return _functions() if get_origin(inner[1]) is Callable else _pairs(*inner)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or _is_named(hint)):
        return _fields(hint)
    raise TypeError(f"no form is known for {hint}")


def meant_by(hint: object) -> Any:
    """The type that an alias stands for; `NDArray` is one from numpy 2.5 on.

    Examples
    --------
    >>> from numpy.typing import NDArray
    >>> get_origin(meant_by(NDArray[np.float64])) is np.ndarray
    True
    """
    value = getattr(get_origin(hint) or hint, "__value__", None)
    if value is None:
        return hint
    return value[get_args(hint)] if get_args(hint) else value


def _is_named(hint: type) -> bool:
    return issubclass(hint, tuple) and hasattr(hint, "_fields")


def _is_of(value: object, hint: Any) -> bool:
    """Whether a value is of a type; of a container, whether it is one."""
    hint = meant_by(hint)
    origin = get_origin(hint) or hint
    if origin is Literal:
        return any(type(value) is type(a) and value == a for a in get_args(hint))
    if origin in NUMBERS:
        is_flag = isinstance(value, bool) and hint is not bool
        is_huge = isinstance(value, int) and abs(value) > LARGEST
        return isinstance(value, NUMBERS[hint]) and not is_flag and not is_huge
    if origin is np.ndarray:
        (declared,) = get_args(get_args(hint)[1])
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, declared)
    if origin in (Sequence, Mapping):
        return type(value) in ((list, tuple) if origin is Sequence else (dict,))
    if origin in CONCRETE:
        return type(value) in CONCRETE[origin]
    return type(value) is origin


def _strict(hint: object, out: Out, back: Back) -> Codec:
    """A form that writes nothing but values of a type."""

    def checked(value: Value, writer: ArrayWriter) -> Json:
        if not _is_of(value, hint):
            raise cannot_hold(value)
        return out(value, writer)

    return Codec(checked, back)


def _union(hints: tuple[object, ...]) -> Codec:
    """One of several types, or None."""
    if Any in hints:
        return ANY
    others = tuple(hint for hint in hints if hint is not types.NoneType)
    form = codec_for(others[0]) if len(others) == 1 else _one_of(others)
    if len(others) == len(hints):
        return form
    return Codec(
        lambda value, writer: None if value is None else form.out(value, writer),
        lambda stored, reader: None if stored is None else form.back(stored, reader),
    )


def _one_of(hints: tuple[object, ...]) -> Codec:
    """One of several types, whose name is written beside it."""
    named = {_name_of(hint): hint for hint in hints}

    def out(value: Value, writer: ArrayWriter) -> Json:
        for name, hint in named.items():
            if _is_of(value, hint):
                return {name: codec_for(hint).out(value, writer)}
        raise cannot_hold(value)

    def back(stored: Json, reader: ArrayReader) -> Value:
        ((name, value),) = stored.items()
        return codec_for(named[name]).back(value, reader)

    return Codec(out, back)


def _name_of(hint: object) -> str:
    """The name of a type; of arrays that of their numbers."""
    hint = meant_by(hint)
    origin = get_origin(hint) or hint
    if origin is Literal:
        return "Literal"
    of: Any = get_args(get_args(hint)[1])[0] if origin is np.ndarray else origin
    name: str = of.__name__
    return name


def _items(hints: tuple[object, ...], kind: Callable[[list[Value]], Value]) -> Codec:
    """A tuple or list: of values of one type, or of some types in their order."""
    several = len(hints) == 2 and hints[1] is Ellipsis

    def of(length: int) -> list[Codec]:
        return [codec_for(h) for h in ([hints[0]] * length if several else hints)]

    def out(value: Value, writer: ArrayWriter) -> Json:
        each = zip(of(len(value)), value, strict=True)
        return [form.out(item, writer) for form, item in each]

    def back(stored: Json, reader: ArrayReader) -> Value:
        each = zip(of(len(stored)), stored, strict=True)
        return kind([form.back(item, reader) for form, item in each])

    return Codec(out, back)


def _pairs(key: object, value: object) -> Codec:
    """A dictionary, in its order."""
    inner = _items((types.GenericAlias(tuple, (key, value)), Ellipsis), list)

    return Codec(
        lambda given, writer: inner.out(list(given.items()), writer),
        lambda stored, reader: dict(inner.back(stored, reader)),
    )


def _functions() -> Codec:
    """Functions of the user, of which a file has the names."""

    def out(given: Mapping[str, Callable[..., object]], writer: ArrayWriter) -> Json:
        for name, function in given.items():
            writer.use(name, function)
        return sorted(given)

    def back(stored: Json, reader: ArrayReader) -> Value:
        return {name: reader.function(name) for name in stored}

    return Codec(out, back)


def _fields(kind: type) -> Codec:
    """A dataclass or a named tuple, field by field."""
    rule = RULES.get(kind, Rule())
    is_class = dataclasses.is_dataclass(kind)
    fields = (
        [f.name for f in dataclasses.fields(kind)]
        if is_class
        else [*getattr(kind, "_fields", ())]
    )
    declared = {**get_type_hints(kind, localns=NAMES), **rule.hints}
    hints = {name: declared[name] for name in fields}
    computed = {name: _returned(kind, name) for name in rule.computed}

    def out(value: Value, writer: ArrayWriter) -> Json:
        value = rule.prepared(value)
        if type(value) is not kind:
            raise cannot_hold(value)
        stored = {
            name: codec_for(hint).out(getattr(value, name), writer)
            for name, hint in hints.items()
        }
        known = vars(value) if computed else {}
        for name, hint in computed.items():
            if name in known:
                stored[name] = codec_for(hint).out(known[name], writer)
        return stored

    def back(stored: Json, reader: ArrayReader) -> Value:
        for name in rule.gone:
            stored.pop(name, None)
        every = hints | computed
        for name in rule.later:
            if name not in stored:
                default = codec_for(hints[name]).out(getattr(kind, name), ArrayWriter())
                stored[name] = default
        # Arrays stand in the order of the file.
        values = {k: codec_for(every[k]).back(v, reader) for k, v in stored.items()}
        for name, value in values.items():
            check_bounds(name, value)
        found = kind(**{name: values.pop(name) for name in hints})
        if values:
            vars(found).update(values)
        rule.verify(found)
        return found

    return Codec(out, back)


def _returned(kind: type, name: str) -> object:
    """The type of a computed property."""
    function = getattr_static(kind, name).func
    found: object = get_type_hints(function, localns=NAMES)["return"]
    return found
