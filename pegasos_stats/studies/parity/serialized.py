"""Values of Python as R reads them, and back: R's own form of data, bit by bit.

The form is that of R's ``serialize()``, version 2 in XDR, as the manual *R Internals*
describes it (section Serialization Formats). No number passes through decimal text.
"""

import struct
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.data.r_numbers import r_number
from pegasos_stats.errors import DataError, shown

HEADER = b"X\n" + struct.pack(">3i", 2, 0x00020300, 0x00020300)
LARGEST_INTEGER = 2**31 - 1  # R keeps -2^31 for NA
NA_INTEGER = -(2**31)

SYMBOL, PAIRS, CHARACTERS, LOGICAL, INTEGER = 1, 2, 9, 10, 13
NUMBER, TEXT, LIST, RAW, AGAIN, NULL, EMPTY = 14, 16, 19, 24, 255, 254, 242
IS_OBJECT, HAS_ATTRIBUTES, HAS_TAG = 0x100, 0x200, 0x400
UTF8 = 0x8000
KINDS = {LOGICAL: ">i4", INTEGER: ">i4", NUMBER: ">f8", RAW: "u1"}


def to_r(value: object) -> bytes:
    """Write a value for R's ``unserialize()``.

    Parameters
    ----------
    value : object
        None becomes NULL, a dictionary a named list; numbers, logical values and text
        become vectors, arrays of more dimensions keep them; categories become a factor,
        missing labels of a Series NA. Whole numbers that R's integers do not hold
        become doubles.

    Raises
    ------
    DataError
        If an integer has no exact double, or a text holds a zero byte.

    Examples
    --------
    >>> from_r(to_r({"x": [0.1, 2.0], "n": 3, "s": "a"}))
    {'x': array([0.1, 2. ]), 'n': array([3]), 's': array(['a'], dtype=object)}
    """
    return HEADER + _item(value)


def from_r(content: bytes) -> Any:
    """Read what R's ``serialize(version = 2)`` wrote.

    Returns
    -------
    object
        Numbers, text and logical values as arrays of at least one dimension, a factor
        as its labels, a list as a dictionary if it has names, NULL as None. Missing
        integers make an array of floats with NaN, missing text or logical values one
        of objects with None.

    Raises
    ------
    DataError
        If there is something else in it than vectors and lists, such as a function.
    """
    return _Reader(content).value()


def _item(value: object) -> bytes:
    if value is None:
        return _int(NULL)
    if isinstance(value, dict):
        items = b"".join(_item(each) for each in value.values())
        return _vector(LIST, len(value), items, names=list(value) or None)
    if isinstance(value, pd.Series | pd.Categorical | pd.Index):
        return _labels(pd.Series(value))
    array = np.asarray(value)
    shape = array.shape if array.ndim > 1 else None
    return _array(array.ravel(order="F"), shape)  # R's order: the first index is fast


def _array(flat: np.ndarray, shape: tuple[int, ...] | None = None) -> bytes:
    """A vector of numbers, logical values or text, and its dimensions."""
    kind = flat.dtype.kind
    if kind == "b":
        content = LOGICAL, flat.astype(">i4").tobytes()
    elif kind in "iu" and (np.abs(flat.astype(float)) <= LARGEST_INTEGER).all():
        content = INTEGER, flat.astype(">i4").tobytes()
    elif kind in "iuf":
        numbers = flat.astype(np.float64)
        if kind in "iu" and [int(x) for x in numbers] != flat.tolist():
            raise DataError("An integer beyond 2^53 has no exact counterpart in R.")
        content = NUMBER, numbers.astype(">f8").tobytes()
    else:
        content = TEXT, b"".join(_characters(each) for each in flat)
    return _vector(content[0], len(flat), content[1], dim=shape)


def _labels(labels: "pd.Series[Any]") -> bytes:
    """Missing values as NA, categories as a factor, all else by its values."""
    if isinstance(labels.dtype, pd.CategoricalDtype):
        codes = labels.cat.codes.to_numpy(dtype=np.int64) + 1
        places = np.where(codes == 0, NA_INTEGER, codes).astype(">i4")
        levels = [_level(each) for each in labels.cat.categories]
        ordered = ["ordered"] * bool(labels.cat.ordered)
        kind = {"levels": levels, "class": [*ordered, "factor"]}
        return _vector(INTEGER, len(codes), places.tobytes(), **kind)
    missing = labels.isna().to_numpy(dtype=bool)
    if not missing.any():
        return _array(np.array(labels.tolist()))
    present = np.array(labels[~missing].tolist())
    if present.dtype.kind == "b":
        found = np.full(len(labels), NA_INTEGER, dtype=">i4")
        found[~missing] = present
        return _vector(LOGICAL, len(found), found.tobytes())
    if present.dtype.kind in "iuf":
        numbers = np.full(len(labels), np.nan)
        numbers[~missing] = present
        numbers.view(np.uint64)[missing] = 0x7FF00000000007A2  # R's NA
        return _array(numbers)
    text = np.full(len(labels), None, dtype=object)
    text[~missing] = present.astype(object)
    return _array(text)


def _level(value: object) -> str:
    """The name of a category as R's ``factor()`` would give it."""
    if isinstance(value, bool | np.bool_):
        return str(value).upper()
    return r_number(value) if isinstance(value, float) else str(value)


def _vector(kind: int, length: int, content: bytes, **attributes: Any) -> bytes:
    """A vector, and those of its attributes that are not None."""
    given = {name: each for name, each in attributes.items() if each is not None}
    if length > LARGEST_INTEGER:
        raise DataError("More than 2^31 numbers in one table are too many for R here.")
    flags = kind | HAS_ATTRIBUTES * bool(given) | IS_OBJECT * ("class" in given)
    pairs = b"".join(
        _int(PAIRS | HAS_TAG) + _int(SYMBOL) + _characters(name) + _item(each)
        for name, each in given.items()
    )
    return _int(flags) + _int(length) + content + (pairs + _int(NULL)) * bool(given)


def _characters(text: object) -> bytes:
    if text is None:
        return _int(CHARACTERS) + _int(-1)
    content = str(text).encode()
    if b"\0" in content:
        raise DataError(f"The text {shown(text)} holds a zero byte, which R cannot.")
    return _int(CHARACTERS | UTF8) + _int(len(content)) + content


def _int(number: int) -> bytes:
    return struct.pack(">i", number)


class _Reader:
    """Reads one item after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at, self._symbols = memoryview(content), 14, [""]

    def _take(self, size: int) -> memoryview:
        self._at += size
        return self._content[self._at - size : self._at]

    def _int(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def value(self) -> Any:
        flags = self._int()
        kind = flags & 0xFF
        if kind in (NULL, EMPTY):
            return None
        if kind == CHARACTERS:
            return self._characters()
        if kind == SYMBOL:
            self._symbols.append(self.value())
            return self._symbols[-1]
        if kind == AGAIN:
            return self._symbols[flags >> 8]
        if kind == PAIRS:
            return self._pairs(flags)
        if kind not in KINDS and kind not in (TEXT, LIST):
            raise DataError(f"R answered with type {kind}, which is no data.")
        length = self._int()
        if kind in (TEXT, LIST):
            found: Any = [self.value() for _ in range(length)]
        else:
            size = length * np.dtype(KINDS[kind]).itemsize
            found = np.frombuffer(self._take(size), dtype=KINDS[kind])
        given = self.value() if flags & HAS_ATTRIBUTES else {}
        return _whole(kind, found, given or {})

    def _characters(self) -> str | None:
        length = self._int()
        return None if length < 0 else bytes(self._take(length)).decode()

    def _pairs(self, flags: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while flags & 0xFF == PAIRS:
            if flags & HAS_ATTRIBUTES:
                self.value()
            name = self.value() if flags & HAS_TAG else str(len(found))
            found[name] = self.value()
            flags = self._int()
        return found


def _whole(kind: int, found: Any, given: dict[str, Any]) -> Any:
    """A vector or list as Python has it, with what its attributes say."""
    if kind == LIST:
        names = given.get("names")
        return found if names is None else dict(zip(names, found, strict=True))
    classes = given.get("class")
    if classes is not None and "factor" in classes:
        levels = [None, *given["levels"]]
        return np.array([levels[max(int(at), 0)] for at in found], dtype=object)
    if kind == TEXT:
        values = np.array(found, dtype=object)
    elif kind == LOGICAL:
        values = found.astype(bool)
        if (found == NA_INTEGER).any():
            values = values.astype(object)
            values[found == NA_INTEGER] = None
    elif kind == INTEGER:
        values = found.astype(np.int64)
        if (found == NA_INTEGER).any():
            values = found.astype(np.float64)
            values[found == NA_INTEGER] = np.nan
    else:
        values = found.astype(found.dtype.newbyteorder("="))
    dim = given.get("dim")
    return values if dim is None else values.reshape(tuple(dim), order="F")
