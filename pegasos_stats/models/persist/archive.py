"""The file of a saved model: an npz archive of arrays and one JSON text, with a digest.

A zip archive as numpy writes it, whose members are stored as they are. The comment at
its end is `SEAL` and the SHA-256 digest, in hexadecimal, of all bytes before it. So a
change of any byte is found; whoever can write the file can write the digest anew.
"""

import hashlib
import io
import math
import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO

import numpy as np

from pegasos_stats.errors import DataError
from pegasos_stats.models.persist.header import Json, most_bytes, text_of, tree_of
from pegasos_stats.writing import Kind, checked_path, shown_path

Arrays = dict[str, np.ndarray]
Header = dict[str, Json]

FORMAT = "pegasos_stats model"
VERSION = 2
DIGEST = "sha256 of all bytes before it, at the end of the file"
FIELDS = {"format", "version", "digest", "package", "kind", "about", "fit"}
LONGEST = 200  # characters of a file's own words in a message

SEAL = b"pegasos_stats sha256 "
DIGITS = 64
START = b"PK\x03\x04"  # of a zip archive
END = struct.Struct("<4s4H2LH")  # of a zip archive, without its comment
LOCATOR = 20  # bytes before the end, where offsets take 64 bits
BLOCK = 2**20
LARGE = zipfile.ZIP64_LIMIT + 1  # bytes, from which it writes offsets in 64 bits
MOST_MEMBERS = 64
MOST_DIRECTORY = 2**16  # bytes
MOST_DESCRIBED = 1024  # bytes of the description in front of an array


class Archive:
    """A header, and arrays of which each is to be taken.

    Attributes
    ----------
    header : dict
    arrays : dict of str to array
    """

    def __init__(self, header: Header, arrays: Arrays) -> None:
        self.header, self.arrays = header, arrays
        self._left = set(arrays)

    def take(self, name: str, dtypes: str, *shape: int | None) -> np.ndarray:
        """Return an array of one of these types and this shape, None being any length.

        Raises
        ------
        ValueError
            If there is none, or it is another one.
        """
        if name not in self.arrays:
            raise ValueError(f"it has no {name}")
        array = self.arrays[name]
        fits = array.ndim == len(shape) and all(
            asked in (None, size)
            for size, asked in zip(array.shape, shape, strict=True)
        )
        if not fits or array.dtype.str[1:] not in dtypes.split():
            raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}")
        self._left.discard(name)
        return array

    def check_all_taken(self) -> None:
        """Raise ValueError if there is an array that nobody asked for."""
        if self._left:
            raise ValueError(f"{min(self._left)} is no part of it")


def header_of(kind: str, about: object, fit: object) -> Header:
    """The header of a file that this version writes."""
    from importlib.metadata import version

    return {
        "format": FORMAT,
        "version": VERSION,
        "digest": DIGEST,
        "package": version("pegasos_stats"),
        "kind": kind,
        "about": about,
        "fit": fit,
    }


def packed_archive(header: Header, arrays: Arrays) -> bytes:
    """Write a header and arrays as the content of a file.

    Raises
    ------
    ValueError
        If the header is too large.
    """
    text = np.frombuffer(text_of(header, _width(arrays)), dtype=np.uint8)
    return write_npz({"header": text} | arrays)


def _width(arrays: Arrays) -> int:
    """The largest dimension of arrays; those without numbers may state any."""
    return max((max(a.shape) for a in arrays.values() if a.size and a.ndim), default=0)


@contextmanager
def read_archive(path: str | PathLike[str]) -> Iterator[Archive]:
    """Read a file that is ours; whatever is wrong with it becomes a DataError.

    Raises
    ------
    DataError
        If the file is not there, is none of ours, is damaged or of another format.
    OptionError
        If `path` is none.
    """
    name = checked_path(path)
    shown = shown_path(name)
    try:
        if os.path.exists(name) and not os.path.isfile(name):  # no pipe is waited for
            raise OSError(None, "it is no regular file")
        handle = open(name, "rb")  # noqa: SIM115
    except OSError as error:
        what = f"cannot be read: {shortened(error.strerror)}"
        if isinstance(error, FileNotFoundError):
            what = "is not there"
        elif os.path.isdir(name):
            what = "is a folder"
        raise DataError(
            f"The file {shown} {what}; give the path of a saved model."
        ) from None
    with handle:
        try:
            yield unpacked_archive(handle, shown)
        except DataError:
            raise
        except Exception as error:  # what a damaged file raises, from wherever
            reason = shortened(error).rstrip(".") or type(error).__name__
            raise DataError(
                f"The file {shown} is damaged or incomplete ({reason}); save it again."
            ) from None


def unpacked_archive(handle: IO[bytes], shown: str = "to be written") -> Archive:
    """Read the content of a file, and check the format in its header.

    Raises
    ------
    DataError
        If it is none of ours, or of another format.
    ValueError, zipfile.BadZipFile and others
        If it is damaged.
    """
    _check_ours(handle, shown)
    arrays = read_npz(handle)
    text = arrays.pop("header")
    width = _width(arrays)
    if text.ndim != 1 or text.size > most_bytes(width):
        raise ValueError(f"its header has the shape {text.shape}")
    header = tree_of(text.tobytes(), width)
    version = header["version"]
    if type(version) is int and version > VERSION:
        by = shortened(header["package"])
        raise DataError(
            f"The file {shown} has format {shortened(version)}, written by "
            f"pegasos_stats {by}; this version reads format {VERSION}: install the "
            "newer one."
        )
    ours = {"format": FORMAT, "version": VERSION, "digest": DIGEST}
    if set(header) != FIELDS or type(version) is not int or header | ours != header:
        raise ValueError("its header has not the fields of its format")
    if not isinstance(header["kind"], str) or not isinstance(header["package"], str):
        raise ValueError("its header has no kind or package")
    return Archive(header, arrays)


def _check_ours(handle: IO[bytes], shown: str) -> None:
    """Raise `DataError` for a file that this version has not written."""
    handle.seek(0)
    if handle.read(len(START)) != START:
        raise DataError(
            f"The file {shown} is not a model saved by pegasos_stats; give one that "
            "save() or `pegasos-stats fit --save` wrote."
        )
    if not is_model(handle):
        raise DataError(
            f"The file {shown} has no digest: it is incomplete, of the former format "
            "1, or no saved model; fit the model and save it again."
        )


def shortened(text: object) -> str:
    """Write a file's own words in one line of a message."""
    line = " ".join(str(text).split())
    line = line if line.isprintable() else ascii(line)[1:-1]
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def write_npz(arrays: Arrays) -> bytes:
    """Write arrays as an archive with a digest: the same bytes for the same arrays.

    Examples
    --------
    >>> read_npz(io.BytesIO(write_npz({"a": np.arange(3)})))
    {'a': array([0, 1, 2])}
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


def read_npz(handle: IO[bytes]) -> Arrays:
    """Read the arrays of an archive that `write_npz` wrote.

    Raises
    ------
    ValueError, zipfile.BadZipFile and others
        If it is damaged, or another archive.
    """
    size = handle.seek(0, os.SEEK_END)
    _check_digest(handle, size)
    _check_directory(handle, size)
    with zipfile.ZipFile(handle) as archive:
        members = archive.infolist()
        if sum(info.file_size for info in members) > size:
            raise ValueError("its arrays are larger than the file")
        found = [(m.filename.removesuffix(".npy"), _array(archive, m)) for m in members]
    arrays = dict(found)
    if len(arrays) < len(found):
        raise ValueError("it has two arrays of one name")
    return arrays


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """Read a member; its size is as it says before memory is taken for it."""
    stored = info.compress_type == zipfile.ZIP_STORED
    if not stored or info.compress_size != info.file_size:
        raise ValueError(f"{info.filename} is compressed")
    with archive.open(info) as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError(f"{info.filename} is no array")
        shape, _, dtype = np.lib.format.read_array_header_1_0(
            member, max_header_size=MOST_DESCRIBED
        )
        numbers = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "biuf" or info.file_size != member.tell() + numbers:
            raise ValueError(f"{info.filename} is no array of numbers of its size")
    with archive.open(info) as member:
        array = np.lib.format.read_array(
            member, allow_pickle=False, max_header_size=MOST_DESCRIBED
        )
    return array.astype(dtype.newbyteorder("="), copy=False)


def _check_digest(handle: IO[bytes], size: int) -> None:
    """Raise ValueError if the digest at the end is not that of the content."""
    digest, left = hashlib.sha256(), size - DIGITS
    handle.seek(0)
    while left > 0 and (block := handle.read(min(BLOCK, left))):
        digest.update(block)
        left -= len(block)
    if digest.hexdigest().encode() != handle.read(DIGITS):
        raise ValueError("its content does not agree with its digest")


def _check_directory(handle: IO[bytes], size: int) -> None:
    """Raise ValueError unless the archive has few members, before they are listed.

    The directory of an archive of 2 GiB and more is not checked.
    """
    end = END.size + len(SEAL) + DIGITS
    if size >= LARGE or size < end + LOCATOR:
        return
    handle.seek(size - end - LOCATOR)
    locator, found = handle.read(LOCATOR), handle.read(END.size)
    mark, _, _, _, count, length, _, stated = END.unpack(found)
    if (
        mark != b"PK\x05\x06"
        or stated != end - END.size
        or locator.startswith(b"PK\x06\x07")
    ):
        raise ValueError("its end is not as it was written")
    if count > MOST_MEMBERS or length > MOST_DIRECTORY:
        raise ValueError(f"it has {count} members")


def is_model(handle: IO[bytes]) -> bool:
    """Whether a file begins and ends as a saved model."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(0)
    start = handle.read(len(START))
    handle.seek(max(0, size - DIGITS - len(SEAL)))
    return start == START and handle.read(len(SEAL)) == SEAL


# What a file has to be that a saved model may replace.
MODEL = Kind("model", "model", is_model)
