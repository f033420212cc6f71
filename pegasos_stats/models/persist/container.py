"""The container of a saved model: a zip archive of arrays, sealed by a digest.

An archive as numpy writes it (npz), its members stored as they are. The comment at its
end is the seal: `SEAL` and the SHA-256 digest, in hexadecimal, of all bytes before the
digest. So a change of any byte is found; and whoever can write the file can write the
digest anew. Files of format 1 are compressed and have no seal.
"""

import hashlib
import io
import math
import os
import re
import stat
import struct
import zipfile
from dataclasses import dataclass
from typing import IO

import numpy as np

from pegasos_stats.writing import Kind

Arrays = dict[str, np.ndarray]

SEAL = b"pegasos_stats sha256 "
MARK = b'"format": "pegasos_stats model"'
BEGIN = 1000  # bytes of the header that hold the mark
DIGITS = 64
END = struct.Struct("<4s4H2LH")  # the end of a zip archive, without its comment
END_OF_LARGE = struct.Struct("<4sQ2H2L4Q")  # before it, where offsets take 64 bits
LOCATOR = struct.Struct("<4sLQL")  # between the two
BLOCK = 2**20

LARGE = zipfile.ZIP64_LIMIT + 1  # bytes, from which it writes offsets in 64 bits
MOST_MEMBERS = 64
MOST_DIRECTORY = 2**16  # bytes
SMALL = 64 * 2**20  # bytes that a compressed file may always inflate to
MOST_RATIO = 32  # times its own size, that it may inflate to beyond

NAME = re.compile(r"[a-z]+(\.[a-z_]+|\.[bfiu][1-8])?\.npy", re.ASCII)
MAGIC = b"\x93NUMPY\x01\x00"
MOST_DESCRIBED = 1024  # bytes of the description in front of an array
DESCRIBED = re.compile(
    rb"\{'descr': '([<>|][biuf][0-9]{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:[0-9]{1,18}, ?)*[0-9]{0,18})\), \} *\n"
)


class NotOursError(Exception):
    """The file is no archive of the kind that this module writes."""


@dataclass(frozen=True)
class Member:
    """One array in the archive, as it describes itself.

    Attributes
    ----------
    info : ZipInfo
    dtype : numpy dtype
    shape : tuple of int
    by_columns : bool
        Whether the first index runs fastest.
    start : int
        Bytes of the description in front of the numbers.
    """

    info: zipfile.ZipInfo
    dtype: np.dtype
    shape: tuple[int, ...]
    by_columns: bool
    start: int


def sealed(arrays: Arrays) -> bytes:
    """Write arrays as a sealed archive: the same bytes for the same arrays.

    Examples
    --------
    >>> content = sealed({"a": np.arange(3)})
    >>> np.load(io.BytesIO(content))["a"]
    array([0, 1, 2])
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = SEAL + b"0" * DIGITS
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")  # of a fixed date
            info.create_system = 3  # the same on every system
            large = array.nbytes + MOST_DESCRIBED >= LARGE
            with archive.open(info, "w", force_zip64=large) as member:
                np.lib.format.write_array(member, array, (1, 0), allow_pickle=False)
    content = out.getbuffer()
    content[-DIGITS:] = hashlib.sha256(content[:-DIGITS]).hexdigest().encode()
    return bytes(content)


def opened(path: str) -> IO[bytes]:
    """Open a regular file; pipes and devices are not waited for.

    Raises
    ------
    OSError
        If there is no such file, it cannot be read, or it is no regular file.
    ValueError
        If the system allows no such path.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise OSError(None, "it is no regular file")


class Container:
    """Arrays in an open file; each is read when it is asked for.

    Raises
    ------
    NotOursError
        If the file is no zip archive, or has no array called ``header``.
    ValueError, zipfile.BadZipFile and others
        If it is damaged.
    """

    def __init__(self, handle: IO[bytes]) -> None:
        self.size = handle.seek(0, os.SEEK_END)
        handle.seek(0)
        if handle.read(4) != b"PK\x03\x04":
            raise NotOursError
        self.sealed = _is_sealed(handle, self.size)
        self._archive = archive_in(handle)
        infos = {info.filename: info for info in self._archive.infolist()}
        if "header.npy" not in infos:
            raise NotOursError
        self._check_infos(infos)
        inflated = sum(info.file_size for info in infos.values())
        if inflated > self.most_memory:
            raise ValueError(f"it would take {inflated:,} bytes of memory")
        self.members = {
            name.removesuffix(".npy"): self._described(info)
            for name, info in infos.items()
        }

    @property
    def most_memory(self) -> float:
        """Bytes that a file may inflate to; a sealed one does not inflate."""
        return math.inf if self.sealed else max(SMALL, MOST_RATIO * self.size)

    def array(self, name: str) -> np.ndarray:
        """Read an array; no byte more than it states is inflated."""
        member = self.members[name]
        flat = np.empty(math.prod(member.shape), dtype=member.dtype)
        left = flat.view(np.uint8).data if flat.size else memoryview(b"")
        with self._archive.open(member.info) as stream:
            stream.read(member.start)
            while len(left):
                block = stream.read(min(BLOCK, len(left)))
                if not block:
                    raise ValueError(f"{name} ends early")
                left[: len(block)] = block
                left = left[len(block) :]
            if stream.read(1):
                raise ValueError(f"{name} is longer than it says")
        native = flat.astype(member.dtype.newbyteorder("="), copy=False)
        return native.reshape(member.shape, order="F" if member.by_columns else "C")

    def _check_infos(self, infos: dict[str, zipfile.ZipInfo]) -> None:
        """Raise ValueError for an archive that neither `sealed` nor numpy writes."""
        if len(infos) < len(self._archive.infolist()):
            raise ValueError("it has two arrays of one name")
        if min(info.header_offset for info in infos.values()) != 0:
            raise ValueError("something stands before its arrays")
        stored, deflated = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
        allowed = {stored} if self.sealed else {stored, deflated}
        for name, info in infos.items():
            if not NAME.fullmatch(name):
                raise ValueError(f"it has a member {name[:40]!r}")
            if info.compress_type not in allowed or info.flag_bits & 1:
                raise ValueError(f"{name} is compressed or encrypted")
            if info.compress_type == stored and info.compress_size != info.file_size:
                raise ValueError(f"{name} states two sizes")

    def _described(self, info: zipfile.ZipInfo) -> Member:
        """Read what an array says of itself, in front of its numbers."""
        with self._archive.open(info) as stream:
            start = stream.read(len(MAGIC) + 2)
            length = int.from_bytes(start[len(MAGIC) :], "little")
            if start[: len(MAGIC)] != MAGIC or length > MOST_DESCRIBED:
                raise ValueError(f"{info.filename} is not described as an array")
            found = DESCRIBED.fullmatch(stream.read(length))
        if found is None:
            raise ValueError(f"{info.filename} is no array of numbers")
        dtype = np.dtype(found[1].decode())
        shape = tuple(int(size) for size in found[3].split(b",") if size.strip())
        start_of_numbers = len(start) + length
        if info.file_size != start_of_numbers + math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{info.filename} has not the size of shape {shape}")
        return Member(info, dtype, shape, found[2] == b"True", start_of_numbers)


def archive_in(handle: IO[bytes]) -> zipfile.ZipFile:
    """Open a file as an archive, if its end says that its directory is small.

    Raises
    ------
    ValueError, zipfile.BadZipFile and others
        If it is no archive of ours, or damaged; its digest is not looked at.
    """
    size = handle.seek(0, os.SEEK_END)
    _check_directory(handle, size, _seal(handle, size) != b"")
    return zipfile.ZipFile(handle)


def _seal(handle: IO[bytes], size: int) -> bytes:
    """The seal at the end of a file; empty if it has none."""
    length = len(SEAL) + DIGITS
    handle.seek(max(0, size - length))
    comment = handle.read(length)
    return comment if comment.startswith(SEAL) else b""


def _is_sealed(handle: IO[bytes], size: int) -> bool:
    """Whether a file has a seal; ValueError if it is another file's."""
    comment = _seal(handle, size)
    if not comment:
        return False
    handle.seek(0)
    digest, left = hashlib.sha256(), size - DIGITS
    while left > 0:
        block = handle.read(min(BLOCK, left))
        if not block:
            break
        digest.update(block)
        left -= len(block)
    if digest.hexdigest().encode() != comment[-DIGITS:]:
        raise ValueError("its content does not agree with its digest")
    return True


def _check_directory(handle: IO[bytes], size: int, has_seal: bool) -> None:
    """Raise ValueError unless the archive ends with the file and has few members."""
    comment = len(SEAL) + DIGITS if has_seal else 0
    at = max(0, size - END.size - comment)
    more = min(at, END_OF_LARGE.size + LOCATOR.size)
    handle.seek(at - more)
    before, end = handle.read(more), handle.read(END.size)
    if len(end) < END.size or not end.startswith(b"PK\x05\x06"):
        raise ValueError("its end is missing")
    _, _, _, _, count, length, _, stated = END.unpack(end)
    large = before[-LOCATOR.size :].startswith(b"PK\x06\x07")
    if stated != comment or (large and size < LARGE):
        raise ValueError("its end is not as it was written")
    if large:
        count, length = _stated_of_large(before, at - more)
    if count > MOST_MEMBERS or length > MOST_DIRECTORY:
        raise ValueError(f"it has {count} members")


def _stated_of_large(before: bytes, at: int) -> tuple[int, int]:
    """Members and bytes of the directory of an archive with offsets of 64 bits."""
    if len(before) < END_OF_LARGE.size + LOCATOR.size:
        raise ValueError("its end is missing")
    mark, _, _, _, _, _, _, count, length, _ = END_OF_LARGE.unpack_from(before)
    _, _, place, _ = LOCATOR.unpack_from(before, END_OF_LARGE.size)
    if mark != b"PK\x06\x06" or place != at:
        raise ValueError("its end is not as it was written")
    return count, length


def is_model(handle: IO[bytes]) -> bool:
    """Whether a file has the mark of a saved model; nothing else of it is read."""
    try:
        with archive_in(handle) as archive, archive.open("header.npy") as header:
            return MARK in header.read(BEGIN)
    except Exception:  # whatever zipfile makes of damage, or of something else
        return False


# What a file has to be that a saved model may replace.
MODEL = Kind("model", "model", is_model)
