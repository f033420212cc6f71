"""Places of files that are to be written, looked at before anything is computed."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import IO

from pegasos_stats.checks import check_flag
from pegasos_stats.errors import DataError
from pegasos_stats.writing.parts import new_part, remove_part
from pegasos_stats.writing.paths import checked_path, open_descriptor, shown_path

NAMES_OF_FOLDERS = ("", ".", "..")
WHAT = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


@dataclass(frozen=True)
class Kind:
    """A kind of file that the package writes.

    Attributes
    ----------
    noun : str
        In messages: "The <noun> cannot be written".
    one : str
        In messages: "is no <one> of pegasos_stats".
    known : callable
        Whether an open file begins as one that the package wrote.
    streams : bool
        Whether it may be written into a device or a pipe.
    """

    noun: str
    one: str
    known: Callable[[IO[bytes]], bool]
    streams: bool = False

    def is_at(self, path: str) -> bool:
        """Whether a file of this kind, written by the package, is at a path."""
        try:
            with open(path, "rb") as handle:
                return self.known(handle)
        except OSError:
            return False


@dataclass(frozen=True)
class Place:
    """Where a file is to be written; `checked_place` makes one.

    Attributes
    ----------
    path : str
        Absolute, symbolic links followed.
    shown : str
        The path as it was given, on one line.
    kind : Kind
    overwrite : bool
        Whether a file that the package did not write may be replaced.
    stream : bool
        Whether it is a device or a pipe, which is written into.
    descriptor : int or None
        If the path leads to an open file of this process, such as ``/dev/fd/3``.
    """

    path: str
    shown: str
    kind: Kind
    overwrite: bool = False
    stream: bool = False
    descriptor: int | None = None

    @property
    def folder(self) -> str:
        """The folder that the file is in."""
        return os.path.dirname(self.path)

    def earlier(self) -> os.stat_result | None:
        """Facts about what is there, if anything is."""
        try:
            return os.stat(self.path)
        except FileNotFoundError:
            return None

    def failed(self, reason: object) -> DataError:
        """Return the error that says why the file cannot be written."""
        reason = getattr(reason, "strerror", None) or reason
        verb = f"The {self.kind.noun} cannot be written to"
        return DataError(f"{verb} {self.shown}: {reason}; give another path.")


def checked_place(path: object, kind: Kind, overwrite: bool = False) -> Place:
    """Look at where a file is to be written, before anything is computed.

    Parameters
    ----------
    path : str or path
    kind : Kind
    overwrite : bool
        Whether a file that the package did not write may be replaced.

    Raises
    ------
    OptionError
        If the path is none, or `overwrite` is neither True nor False.
    DataError
        If no file can be written there, or one is there that is read-only or that the
        package did not write.
    """
    check_flag("overwrite", overwrite)
    name = checked_path(path)
    place = Place(name, shown_path(name), kind, overwrite)
    if os.path.basename(name) in NAMES_OF_FOLDERS:
        raise place.failed("it is a folder")
    try:
        earlier = place.earlier()
        descriptor = open_descriptor(name)
        if descriptor is not None or (earlier and not stat.S_ISREG(earlier.st_mode)):
            return _checked_stream(place, earlier, descriptor)
        place = replace(place, path=_real(place))
        if earlier is not None:
            check_earlier(place, earlier)
        check_folder(place, place.folder)
    except OSError as error:
        raise place.failed(error) from None
    return place


def check_earlier(place: Place, earlier: os.stat_result) -> None:
    """Raise `DataError` if what is at a place is not to be replaced."""
    if not stat.S_ISREG(earlier.st_mode):
        raise place.failed(f"it is {_what(earlier.st_mode)}")
    if not earlier.st_mode & 0o222 or not os.access(place.path, os.W_OK):
        raise place.failed("the file that is there is read-only")
    if not place.overwrite and not place.kind.is_at(place.path):
        raise DataError(
            f"The file {place.shown} is there and is no {place.kind.one} of "
            "pegasos_stats; give another path, or --overwrite (overwrite=True in "
            "Python) to replace it."
        )


def check_folder(place: Place, folder: str) -> None:
    """Raise `DataError` if a folder is not there, or no file can be made in it."""
    shown = f"the folder {shown_path(folder)}"
    if not os.path.isdir(folder):
        what = "is none" if os.path.lexists(folder) else "is not there"
        raise place.failed(f"{shown} {what}")
    part = new_part(folder)
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        reason = f"{shown} takes no files ({error.strerror})"
        raise place.failed(reason) from None
    finally:
        remove_part(part)


def _real(place: Place) -> str:
    try:
        return os.path.realpath(place.path)
    except FileNotFoundError:
        raise place.failed("the working folder is no longer there") from None


def _checked_stream(
    place: Place, found: os.stat_result | None, descriptor: int | None
) -> Place:
    """A device, a pipe or an open file, for what may be written into one."""
    mode = 0 if found is None else found.st_mode
    writable = descriptor is not None or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)
    if not place.kind.streams or not writable:
        raise place.failed(f"it is {_what(mode)}")
    if found is None or not os.access(place.path, os.W_OK):
        raise place.failed("it is not open for writing")
    path = os.path.abspath(place.path)
    return replace(place, path=path, stream=True, descriptor=descriptor)


def _what(mode: int) -> str:
    return WHAT.get(stat.S_IFMT(mode), "an open file")
