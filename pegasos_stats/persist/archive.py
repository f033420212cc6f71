"""The file of a saved object: an npz archive of arrays and JSON, with a digest.

A zip archive as numpy writes it, with uncompressed members. Its comment is `SEAL` and
the hexadecimal SHA-256 digest of all preceding bytes. The digest detects a change of
any byte, but anyone who can write the file can write a new digest.
"""

import hashlib
import io
import json
import math
import os
import struct
import zipfile
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

FORMAT = "pegasos_stats model"
VERSION = 4
FIELDS = {"format", "version", "package", "kind", "about", "object"}

MOST_BYTES = 4 * 2**20  # of the JSON text, plus an allowance per row or column
BYTES_EACH = 1024
MOST_NODES = 300_000  # values in the JSON text, plus an allowance per row or column
NODES_EACH = 24

SEAL = b"pegasos_stats sha256 "
HEX_DIGITS = 64
START = b"PK\x03\x04"  # of a zip archive
END = struct.Struct("<4s4H2LH")  # of a zip archive, without its comment
LOCAL, CENTRAL = 30, 46  # bytes of a member's headers, without its name
EXTRA = 20  # additional bytes in the local header of a large member
LOCATOR = 20  # bytes before the end record, if offsets take 64 bits
DIGEST_BLOCK = 2**20
LARGE = zipfile.ZIP64_LIMIT + 1  # bytes; larger archives have offsets of 64 bits
MOST_DIRECTORY = 2**12  # bytes
MAX_ARRAY_HEADER = 1024  # bytes


def pack(kind: str, about: Json, tree: Json, arrays: Arrays) -> bytes:
    """Return the content of a file for an object as JSON and arrays.

    Raises
    ------
    ValueError
        If the JSON text is too large.
    """
    from importlib.metadata import version

    header = {"format": FORMAT, "version": VERSION, "package": version("pegasos_stats")}
    text = json_text(header | {"kind": kind, "about": about, "object": tree})
    return write_npz({"header": np.frombuffer(text, dtype=np.uint8)} | arrays)


def json_text(tree: Json) -> bytes:
    """Write a tree as JSON, in the only form that `parse_json` accepts.

    Examples
    --------
    >>> parse_json(json_text({"a": [1, 0.5, None]}), {})
    {'a': [1, 0.5, None]}
    """
    return json.dumps(tree, allow_nan=False, ensure_ascii=False).encode()


def parse_json(text: bytes, arrays: Arrays) -> Json:
    """Read JSON that `json_text` wrote.

    Parameters
    ----------
    text : bytes
    arrays : dict of str to array
        Arrays of the file; the allowed size of the text grows with their length.

    Raises
    ------
    ValueError
        If the text has another form, or exceeds the bounds of this module.
    """
    width = max((array.size for array in arrays.values()), default=0)
    if len(text) > MOST_BYTES + BYTES_EACH * width:
        raise ValueError(f"its header has {len(text):,} bytes")
    if sum(text.count(m) for m in (b",", b"[", b"{")) > MOST_NODES + NODES_EACH * width:
        raise ValueError("its header has too many values")
    try:
        tree = json.loads(text.decode())
        if json_text(tree) != text:
            raise ValueError("its header is not as it was written")
    except RecursionError:
        raise ValueError("its header is nested too deep") from None
    return tree


@contextmanager
def open_npz(path: str | PathLike[str]) -> Iterator[tuple[Header, Arrays]]:
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
            raise OSError("it is no regular file")
        with open(name, "rb") as handle:
            yield unpack(handle, shown)
    except DataError:
        raise
    except FileNotFoundError:
        why = "is not there; give the path of a saved model"
        raise DataError(f"The file {shown} {why}.") from None
    except Exception as error:  # a damaged file may raise anything
        raise DataError(
            f"The file {shown} cannot be read, or is damaged or incomplete "
            f"({one_line(error)}); save it again."
        ) from None


def unpack(handle: IO[bytes], shown: str = "to be written") -> tuple[Header, Arrays]:
    """Read the content of a file: its header and its arrays.

    Raises
    ------
    DataError
        If the file is of another kind or format.
    ValueError, zipfile.BadZipFile and others
        If it is damaged.
    """
    if not is_model(handle):
        raise DataError(
            f"The file {shown} is not a model saved by pegasos_stats, or is "
            "incomplete; give one that save() or `pegasos-stats fit --save` wrote."
        )
    arrays = read_npz(handle)
    header = parse_json(arrays.pop("header").tobytes(), arrays)
    number, package = header["version"], header["package"]
    if type(number) is not int or number != VERSION:
        raise DataError(
            f"The file {shown} was saved by pegasos_stats {one_line(package)} in "
            f"format {one_line(number)}, and this version reads format {VERSION}; "
            "fit the model again and save it."
        )
    if {*header} != FIELDS or header["format"] != FORMAT or type(package) is not str:
        raise ValueError("its header has not the fields of its format")
    return header, arrays


def write_npz(arrays: Arrays) -> bytes:
    """Write arrays as an archive with a digest: the same bytes for the same arrays.

    Examples
    --------
    >>> read_npz(io.BytesIO(write_npz({"a": np.arange(3)})))
    {'a': array([0, 1, 2])}
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = SEAL + b"0" * HEX_DIGITS
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")  # with a fixed date
            info.create_system = 3  # the same on every system
            large = array.nbytes + MAX_ARRAY_HEADER >= LARGE
            with archive.open(info, "w", force_zip64=large) as member:
                np.lib.format.write_array(member, array, (1, 0), allow_pickle=False)
    with out.getbuffer() as content, content[:-HEX_DIGITS] as sealed:
        content[-HEX_DIGITS:] = hashlib.sha256(sealed).hexdigest().encode()
    return out.getvalue()


def read_npz(handle: IO[bytes]) -> Arrays:
    """Read the arrays of an archive that `write_npz` wrote.

    Raises
    ------
    ValueError, zipfile.BadZipFile and others
        If it is damaged, or another archive.
    """
    size = handle.seek(0, os.SEEK_END)
    _check_digest(handle, size)
    if size < LARGE:
        _check_directory(handle, size)
    with zipfile.ZipFile(handle) as archive:
        members = archive.infolist()
        _check_layout(archive, size)
        arrays = {m.filename.removesuffix(".npy"): _array(archive, m) for m in members}
    if len(arrays) < len(members):
        raise ValueError("it has two arrays of one name")
    return arrays


def _check_layout(archive: zipfile.ZipFile, size: int) -> None:
    """Raise ValueError if there are bytes before, between or after the members."""
    end = 0
    for info in archive.infolist():
        between = info.header_offset - end
        if between not in (0, EXTRA if end + MAX_ARRAY_HEADER >= LARGE else 0):
            raise ValueError("its arrays are larger than the file, or bytes between")
        name = len(info.filename.encode())
        end = info.header_offset + LOCAL + name + info.file_size
    directory = sum(CENTRAL + len(i.filename.encode()) for i in archive.infolist())
    if size < LARGE and end + directory + END.size + len(archive.comment) != size:
        raise ValueError("it has bytes that belong to no array")


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """Read a member after checking its size, before allocating memory."""
    stored = info.compress_type == zipfile.ZIP_STORED
    if not stored or info.compress_size != info.file_size:
        raise ValueError(f"{info.filename} is compressed")
    with archive.open(info) as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError(f"{info.filename} is no array")
        shape, _, dtype = np.lib.format.read_array_header_1_0(member, MAX_ARRAY_HEADER)
        numbers = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "biuf" or info.file_size != member.tell() + numbers:
            raise ValueError(f"{info.filename} is no array of numbers of its size")
        member.seek(0)
        array = np.lib.format.read_array(
            member, allow_pickle=False, max_header_size=MAX_ARRAY_HEADER
        )
    return array.astype(dtype.newbyteorder("="), copy=False)


def _check_digest(handle: IO[bytes], size: int) -> None:
    """Raise ValueError if the digest does not match the content."""
    digest, left = hashlib.sha256(), size - HEX_DIGITS
    handle.seek(0)
    while left > 0 and (block := handle.read(min(DIGEST_BLOCK, left))):
        digest.update(block)
        left -= len(block)
    if digest.hexdigest().encode() != handle.read(HEX_DIGITS):
        raise ValueError("its content does not agree with its digest")


def _check_directory(handle: IO[bytes], size: int) -> None:
    """Raise ValueError if the archive has many members, before listing them."""
    handle.seek(size - HEX_DIGITS - len(SEAL) - END.size - LOCATOR)
    locator, end = handle.read(LOCATOR), END.unpack(handle.read(END.size))
    if end[0] != b"PK\x05\x06" or locator.startswith(b"PK\x06\x07"):
        raise ValueError("its end is not as it was written")
    if end[5] > MOST_DIRECTORY:
        raise ValueError(f"it has {end[4]} members")


def is_model(handle: IO[bytes]) -> bool:
    """Return whether a file begins and ends like a saved model."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(0)
    start = handle.read(len(START))
    handle.seek(max(0, size - HEX_DIGITS - len(SEAL)))
    return start == START and handle.read(len(SEAL)) == SEAL


# Files that a saved model may replace without ``overwrite``.
MODEL = Kind("model", is_model)
