"""The file of a saved object: a digest, a JSON text, and arrays of numbers.

A file consists of `MARK`, a SHA-256 digest of the rest, the length of the text in 8
bytes, the text, and the arrays one after another in little-endian order. The text lists
the types and lengths of the arrays. Blanks after the text align the arrays, which are
sorted by the size of their numbers, largest first. So arrays can be views of the
content.

The digest detects a change of any byte, but anyone who can write the file can write a
new digest.
"""

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO, Any, TypeAlias

import numpy as np

from pegasos_stats.errors import DataError, one_line
from pegasos_stats.writing import Kind, checked_path, shown_path

Json: TypeAlias = Any  # result of `json.loads`; the file is not trusted
Value: TypeAlias = Any  # a value that a file can contain, see `any_out`
Arrays = dict[str, np.ndarray]
Header = dict[str, Json]

VERSION = 5  # of the format
FIELDS = {"version", "package", "kind", "about", "object", "arrays"}
TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")

MARK = b"pegasos_stats model    \n"
DIGEST_END = len(MARK) + hashlib.sha256().digest_size
TEXT_START = DIGEST_END + 8  # after the length of the text
ALIGNMENT = 8  # bytes

MOST_BYTES = 4 * 2**20  # of the JSON text of a file without arrays
BYTES_EACH = 1024  # additional bytes of text for each byte of the arrays
MOST_NODES = 300_000  # values in the JSON text of a file without arrays
NODES_EACH = 24  # additional values for each byte of the arrays


def pack(header: Header, arrays: Arrays) -> bytes:
    """Return the content of a file: the same bytes for the same header and arrays.

    Examples
    --------
    >>> unpack(pack({"kind": "a"}, {"f8": np.zeros(2)}))
    ({'kind': 'a', 'arrays': {'f8': 2}}, {'f8': array([0., 0.])})
    """
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    text = json_text(header | {"arrays": {name: arrays[name].size for name in names}})
    little = [arrays[n].astype(arrays[n].dtype.newbyteorder("<")) for n in names]
    parts: list[Any] = [len(text).to_bytes(ALIGNMENT, "little"), text, *little]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join([MARK, digest.digest(), *parts])


def unpack(content: bytes | bytearray) -> tuple[Header, Arrays]:
    """Undo `pack`.

    Raises
    ------
    ValueError, LookupError and others
        If the content is damaged.
    """
    sealed = memoryview(content)[DIGEST_END:]
    if hashlib.sha256(sealed).digest() != content[len(MARK) : DIGEST_END]:
        raise ValueError("its content does not agree with its digest")
    at = TEXT_START + int.from_bytes(content[DIGEST_END:TEXT_START], "little")
    if at > len(content):
        raise ValueError("its text is longer than the file")
    header, arrays = parse_json(content[TEXT_START:at], len(content) - at), {}
    for name, size in header["arrays"].items():
        if name not in TYPES or type(size) is not int or size < 0:
            raise ValueError(f"{name!r} is not a type of numbers, or has a bad length")
        stored = np.frombuffer(content, f"<{name}", size, at)
        at += stored.nbytes
        arrays[name] = np.require(stored, f"={name}", "A")
    if at != len(content):
        raise ValueError("it has bytes that belong to no array")
    return header, arrays


def json_text(tree: Json) -> bytes:
    """Write a tree as JSON, in the only form that `parse_json` accepts.

    Examples
    --------
    >>> json_text({"a": [1, 0.5]}), parse_json(json_text([None]), 0)
    (b'{"a": [1, 0.5]} ', [None])
    """
    text = json.dumps(tree, allow_nan=False, ensure_ascii=False).encode()
    return text.ljust(ALIGNMENT * math.ceil(len(text) / ALIGNMENT))


def parse_json(text: bytes | bytearray, width: int) -> Json:
    """Read JSON that `json_text` wrote.

    Parameters
    ----------
    text : bytes
    width : int
        Bytes of the arrays, with which the allowed size of the text grows.

    Raises
    ------
    ValueError
        If the text has another form, or exceeds the bounds of this module.
    """
    if len(text) > MOST_BYTES + BYTES_EACH * width:
        raise ValueError(f"its header has {len(text):,} bytes")
    if sum(text.count(m) for m in (b",", b"[", b"{")) > MOST_NODES + NODES_EACH * width:
        raise ValueError("its header has too many values")
    try:
        tree = json.loads(text.decode())
        if json_text(tree) != text:
            raise ValueError("its header differs from what save() writes")
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    return tree


@contextmanager
def opened(path: str | PathLike[str]) -> Iterator[tuple[Header, Arrays]]:
    """Open a saved file; raise `DataError` for any defect.

    Raises
    ------
    DataError
        If the file does not exist, is damaged, or is of another kind or format.
    OptionError
        If `path` is not a path.
    """
    name = checked_path(path)
    shown = shown_path(name)
    try:
        if os.path.exists(name) and not os.path.isfile(name):  # do not wait for a pipe
            raise OSError("it is not a regular file")
        header, arrays = _contents(name, shown)
        yield header, arrays
    except DataError:
        raise
    except FileNotFoundError:
        why = "does not exist; pass the path of a saved model"
        raise DataError(f"The file {shown} {why}.") from None
    except Exception as error:  # a damaged file may raise anything
        raise DataError(
            f"The file {shown} cannot be read, or is damaged or incomplete "
            f"({one_line(error)}); save it again."
        ) from None


def _contents(name: str, shown: str) -> tuple[Header, Arrays]:
    with open(name, "rb") as handle:
        if not is_model(handle):
            raise DataError(
                f"The file {shown} is not a model saved by pegasos_stats; use one "
                "that save() or `pegasos-stats fit --save` wrote."
            )
        content = bytearray(os.fstat(handle.fileno()).st_size)
        handle.seek(0)
        handle.readinto(content)
    header, arrays = unpack(content)
    number, package = header["version"], header["package"]
    if type(number) is not int or number != VERSION:
        raise DataError(
            f"The file {shown} was saved by pegasos_stats {one_line(package)} in "
            f"format {one_line(number)}, and this version reads format {VERSION}; "
            "fit the model again and save it."
        )
    if {*header} != FIELDS or type(package) is not str:
        raise ValueError("its header has missing or unknown fields")
    return header, arrays


def is_model(handle: IO[bytes]) -> bool:
    """Return whether a file begins like a saved model."""
    return handle.read(len(MARK)) == MARK


# Files that a saved model may replace without ``overwrite``.
MODEL = Kind("model", is_model)
