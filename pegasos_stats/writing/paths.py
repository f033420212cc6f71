"""Where a file may be written, checked first; and its path until it is whole."""

import atexit
import os
import secrets
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO

from pegasos_stats.checks import check_flag
from pegasos_stats.errors import DataError, OptionError

MOST_LINKS = 40  # of a path, as Linux counts them
LONGEST = 500  # characters of a path in a message
NAMES_OF_FOLDERS = ("", ".", "..")
WHAT = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}

_parts: dict[str, int] = {}  # path of a part, the thread that writes it


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
    cure : str
        What to do where a file that the package did not write is in the way.
    """

    noun: str
    one: str
    known: Callable[[IO[bytes]], bool]
    streams: bool = False
    cure: str = (
        "give another path, or --overwrite (overwrite=True in Python) to replace it"
    )

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
    """Check where a file is to be written, before anything is computed.

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
        try:
            place = replace(place, path=os.path.realpath(name))
        except FileNotFoundError:
            raise place.failed("the working folder is no longer there") from None
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
            f"pegasos_stats; {place.kind.cure}."
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


def _checked_stream(
    place: Place, found: os.stat_result | None, descriptor: int | None
) -> Place:
    """Return the place of a device, a pipe or an open file, if it can be written."""
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


def checked_path(path: object) -> str:
    """Return a path as text, or raise `OptionError` if no file can have it.

    Raises
    ------
    OptionError
        If it is neither text nor a path, is empty, or holds what no name can hold.

    Examples
    --------
    >>> checked_path("fit.model")
    'fit.model'
    >>> checked_path(3)
    Traceback (most recent call last):
    pegasos_stats.errors.OptionError: int is not a path; give text or a pathlib.Path.
    """
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
    except Exception:  # code of others
        name = path
    if not isinstance(name, str):
        what = type(name).__name__
        rows = what in ("ndarray", "DataFrame", "Series")
        cure = "; data come first, as in report(data, path) or report((y, X), path)"
        raise OptionError(
            f"{what} is not a path; give text or a pathlib.Path{cure * rows}."
        )
    if not name:
        raise OptionError("The path is empty; give the path of a file.")
    try:
        held = "a NUL character" if b"\0" in os.fsencode(name) else ""
    except UnicodeEncodeError:
        held = "a character that no name of a file can hold"
    if held:
        raise OptionError(f"The path {name!a} holds {held}; give another path.")
    return name


def shown_path(path: str) -> str:
    r"""Write a path for a message, in quotes if it would break the line.

    Of a very long one the end, which has the file's name.

    Examples
    --------
    >>> print(shown_path("fit.model"), shown_path("a\nb"))
    fit.model 'a\nb'
    """
    plain = path if path.isprintable() and path.strip() else ascii(path)
    return plain if len(plain) <= LONGEST else f"...{plain[3 - LONGEST :]}"


def is_same(path: str, other: str) -> bool:
    """Whether two paths lead to the same file, through links or before it is made too.

    Examples
    --------
    >>> is_same("fit.model", "./fit.model"), is_same("fit.model", "other.model")
    (True, False)
    """
    with suppress(OSError):
        return os.path.samefile(path, other)
    with suppress(OSError):  # a working folder that is gone
        (one, name), (two, its) = map(
            os.path.split, map(os.path.realpath, (path, other))
        )
        return name == its and (one == two or os.path.samefile(one, two))
    return False


def open_descriptor(path: str) -> int | None:
    """Return the number of the open file that a path such as ``/dev/stdout`` means.

    Examples
    --------
    >>> open_descriptor("/dev/fd/1"), open_descriptor("fit.model")
    (1, None)
    """
    folders = ("/dev/fd", f"/proc/{os.getpid()}/fd")
    with suppress(OSError):
        for _ in range(MOST_LINKS):
            folder, name = os.path.split(os.path.abspath(path))
            folder = os.path.realpath(folder)
            if folder in folders and name.isascii() and name.isdecimal():
                return int(name)
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
    return None


def new_part(folder: str) -> str:
    """Return a path for a file that is not whole yet, which nothing else uses.

    It is known from before the file is made until `remove_part`, so that a handler of
    signals finds it at any moment.
    """
    path = os.path.join(folder, f"{_begin()}{secrets.token_hex(8)}.part")
    _parts[path] = threading.get_ident()
    return path


def remove_part(path: str) -> None:
    """Remove an unfinished file; one that is in its place by now is only forgotten."""
    with suppress(OSError):
        os.unlink(path)
    _parts.pop(path, None)


def remove_parts(thread: int | None = None) -> None:
    """Remove the unfinished files of this process, or of one of its threads."""
    for path, maker in tuple(_parts.items()):  # after a fork also those of the parent
        own = os.path.basename(path).startswith(_begin())
        if own and thread in (None, maker):
            remove_part(path)


def _begin() -> str:
    return f".pegasos_stats-{os.getpid()}-"


atexit.register(remove_parts)
