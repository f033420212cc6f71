"""The file of a saved model: a sealed archive of arrays and one JSON text."""

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO

import numpy as np

from pegasos_stats.advice import InPython, said
from pegasos_stats.errors import DataError
from pegasos_stats.models.persist.container import (
    Arrays,
    Container,
    NotOursError,
    opened,
    sealed,
)
from pegasos_stats.models.persist.header import Json, most_bytes, text_of, tree_of
from pegasos_stats.writing import checked_path, shown_path

Header = dict[str, Json]

FORMAT = "pegasos_stats model"
VERSION = 2
DIGEST = "sha256 of all bytes before it, at the end of the file"
FIELDS = {"format", "version", "package", "kind", "about", "fit"}
LONGEST = 200  # characters of a file's own words in a message


class Archive:
    """The header of an archive; and its arrays, each read when it is asked for.

    Attributes
    ----------
    header : dict
    checked : bool
        Whether a digest covers the whole; files of format 1 have none.
    """

    def __init__(self, handle: IO[bytes]) -> None:
        self._container = Container(handle)
        self.checked = self._container.sealed
        shapes = self.shapes
        header = shapes.pop("header")
        self._left = set(shapes)
        width = _width(shapes.values())
        if len(header) != 1 or header[0] > most_bytes(width):
            raise ValueError(f"its header has the shape {header}")
        text = self._container.array("header").tobytes()
        self.header: Header = tree_of(text, width, self._container.most_memory)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays by name, the header among them."""
        return {name: found.shape for name, found in self._container.members.items()}

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return name in self.shapes

    def ndim(self, name: str) -> int:
        """Number of dimensions of an array; 0 of one that is not there."""
        return len(self.shapes.get(name, ()))

    def take(self, name: str, dtypes: str, *shape: int | None) -> np.ndarray:
        """Read an array of one of these types and this shape, None being any length.

        Raises
        ------
        ValueError
            If there is none, or it is another one; before anything of it is read.
        """
        if not self.has(name):
            raise ValueError(f"it has no {name}")
        found, native = self.shapes[name], self._dtype_of(name).newbyteorder("=")
        fits = len(found) == len(shape) and all(
            asked in (None, size) for size, asked in zip(found, shape, strict=True)
        )
        if not fits or native.str[1:] not in dtypes.split():
            raise ValueError(f"{name} has shape {found} and type {native}")
        self._left.discard(name)
        return self._read(name)

    def leave(self, name: str) -> None:
        """Leave an array of an earlier version where it is."""
        self._left.discard(name)

    def check_all_taken(self) -> None:
        """Raise ValueError if there is an array that nobody asked for."""
        if self._left:
            raise ValueError(f"{min(self._left)} is no part of it")

    def _dtype_of(self, name: str) -> np.dtype:
        return self._container.members[name].dtype

    def _read(self, name: str) -> np.ndarray:
        return self._container.array(name)


class Inside(Archive):
    """A part of an archive: a header and arrays of its own, which were read before."""

    def __init__(self, header: Header, arrays: Arrays) -> None:
        self.header, self.checked = header, True
        self._arrays, self._left = arrays, set(arrays)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays by name."""
        return {name: array.shape for name, array in self._arrays.items()}

    def _dtype_of(self, name: str) -> np.dtype:
        return self._arrays[name].dtype

    def _read(self, name: str) -> np.ndarray:
        return self._arrays[name]


def header_of(kind: str, about: object, fit: object) -> Header:
    """The header of a file that this version writes."""
    from importlib.metadata import version

    return {
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
    header = {"format": FORMAT, "version": VERSION, "digest": DIGEST} | header
    width = _width(array.shape for array in arrays.values())
    text = np.frombuffer(text_of(header, width), dtype=np.uint8)
    return sealed({"header": text} | arrays)


def _width(shapes: Iterable[tuple[int, ...]]) -> int:
    """The largest dimension of arrays; those without numbers may state any."""
    sizes = (size for shape in shapes if 0 not in shape for size in shape)
    return max(sizes, default=0)


@contextmanager
def read_archive(path: str | PathLike[str]) -> Iterator[Archive]:
    """Open a file that is ours; whatever is wrong with it becomes a DataError.

    Raises
    ------
    DataError
        If the file is not there, is none of ours, is damaged or too new.
    OptionError
        If `path` is none.
    """
    name = checked_path(path)
    shown = shown_path(name)
    try:
        handle = opened(name)
    except (OSError, ValueError) as error:
        what = f"cannot be read: {shortened(getattr(error, 'strerror', None) or error)}"
        if isinstance(error, FileNotFoundError):
            what = "is not there"
        elif os.path.isdir(name):
            what = "is a folder"
        raise DataError(
            f"The file {shown} {what}; give the path of a saved model."
        ) from None
    with handle:
        try:
            yield _checked(Archive(handle), shown)
        except DataError:
            raise
        except NotOursError:
            raise DataError(
                said(
                    f"The file {shown} is not a model saved by pegasos_stats; give one "
                    "that ",
                    InPython("save() or "),
                    "`pegasos-stats fit --save` wrote.",
                )
            ) from None
        except Exception as error:  # what a damaged file raises, from wherever
            reason = shortened(error).rstrip(".") or type(error).__name__
            raise DataError(
                f"The file {shown} is damaged or incomplete ({reason}); save it again."
            ) from None


def unpacked_archive(content: bytes) -> Archive:
    """Read the content of a file."""
    return _checked(Archive(io.BytesIO(content)), "to be written")


def _checked(archive: Archive, shown: str) -> Archive:
    """Check format and version of a header."""
    header = archive.header
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise NotOursError
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its version is {version!r}")
    if version > VERSION:
        package = header.get("package")
        by = shortened(package) if isinstance(package, str) else "of a later version"
        raise DataError(
            f"The file {shown} has format {shortened(version)}, written by "
            f"pegasos_stats {by}; this version reads formats up to {VERSION}: install "
            "the newer one."
        )
    if (version > 1) != archive.checked:
        has = "a" if archive.checked else "no"
        raise ValueError(f"it says that its format is {version}, and has {has} digest")
    expected = FIELDS | {"digest"} if archive.checked else FIELDS
    if set(header) != expected or header.get("digest", DIGEST) != DIGEST:
        raise ValueError("its header has not the fields of its format")
    if not isinstance(header["kind"], str) or not isinstance(header["package"], str):
        raise NotOursError
    return archive


def shortened(text: object) -> str:
    """Write a file's own words in one line of a message."""
    line = " ".join(str(text).split())
    line = line if line.isprintable() else ascii(line)[1:-1]
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
