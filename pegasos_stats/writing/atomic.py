"""Files that are written beside their places first, then put there together."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from pegasos_stats.writing.paths import Place, check_earlier, new_part, remove_part


@contextmanager
def outputs() -> Iterator["Outputs"]:
    """Write files so that either all are in their places, whole, or none is.

    Yields
    ------
    Outputs

    Raises
    ------
    DataError
        If one cannot be written, or its place was taken meanwhile.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos_stats.writing import Kind, checked_place
    >>> kind = Kind("note", "note", lambda handle: handle.read(4) == b"note")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with outputs() as files:
    ...     files.write(checked_place(path, kind), "note 1")
    >>> path.read_text()
    'note 1'
    """
    files = Outputs()
    try:
        yield files
        files.finish()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise files.failed(error) from None
    finally:
        files.remove()


class Outputs:
    """Files that are put in their places once all are whole; `outputs` makes one."""

    def __init__(self) -> None:
        self._at: Place | None = None
        self._parts: list[_Part] = []
        self._folders: list[str] = []
        self._whole = False  # all are in their places

    def open(self, place: Place) -> IO[bytes]:
        """Open a new file, which is put in its place at the end."""
        self._at = place
        if any(part.place.path == place.path for part in self._parts):
            raise place.failed("another file of this call is written there")
        part = _Part(place)
        self._parts.append(part)
        return part.open()

    def write(self, place: Place, text: str) -> None:
        """Write a text in UTF-8, which is put in its place at the end."""
        try:
            content = text.encode("utf-8")
        except UnicodeEncodeError as error:
            held = error.object[error.start]
            raise place.failed(f"{held!a} is no character of UTF-8") from None
        self.open(place).write(content)

    def make_folder(self, place: Place, folder: str) -> None:
        """Make a folder for what belongs to a file; removed if the writing fails."""
        self._at = place
        with suppress(FileExistsError):
            os.mkdir(folder)
            self._folders.append(folder)

    def finish(self) -> None:
        """Bring all files to the disk, then put each in its place."""
        for part in self._parts:
            self._at = part.place
            part.close()
        for part in self._parts:
            self._at = part.place
            part.put()
        self._whole = True
        for folder in {part.place.folder for part in self._parts}:
            _sync_folder(folder)

    def remove(self) -> None:
        """Remove what was not put in its place, or was put there without the rest."""
        for part in self._parts:
            if not self._whole:
                part.take_back()
            part.remove()
        for folder in () if self._whole else self._folders:
            with suppress(OSError):
                os.rmdir(folder)

    def failed(self, error: OSError) -> Exception:
        """Return the error that says which file cannot be written, and why."""
        return error if self._at is None else self._at.failed(error)


class _Part:
    """One file that is written beside its place; a device or a pipe directly."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.path = place.path if place.stream else new_part(place.folder)
        self.handle: IO[bytes] | None = None
        self._new: os.stat_result | None = None  # in a place where nothing was

    def open(self) -> IO[bytes]:
        place = self.place
        if place.descriptor is not None:
            number = os.dup(place.descriptor)
        elif place.stream:
            number = os.open(self.path, os.O_WRONLY)
        else:  # what is private stays so while it is written
            mode = 0o666 if place.earlier() is None else 0o600
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
            number = os.open(self.path, flags, mode)
        self.handle = os.fdopen(number, "wb")
        return self.handle

    def close(self) -> None:
        assert self.handle is not None
        self.handle.flush()
        if not self.place.stream:
            os.fsync(self.handle.fileno())
        self.handle.close()

    def put(self) -> None:
        """Move the file to its place; check a file that appeared there meanwhile."""
        place = self.place
        if place.stream:
            return
        found, earlier = os.stat(self.path), place.earlier()
        if earlier is None and not place.overwrite:
            if _moved_to_empty(self.path, place.path):
                self._new = found
                return
            earlier = place.earlier()
        if earlier is not None:
            check_earlier(place, earlier)
            _keep_permissions(self.path, earlier)
        os.replace(self.path, place.path)
        self._new = found if earlier is None else None

    def take_back(self) -> None:
        """Remove the file from a place where nothing was, if it came there."""
        with suppress(OSError):
            found = os.stat(self.place.path)
            if self._new and os.path.samestat(found, self._new):
                os.unlink(self.place.path)

    def remove(self) -> None:
        if self.handle is not None:
            with suppress(OSError):
                self.handle.close()
        if not self.place.stream:
            remove_part(self.path)


def _moved_to_empty(part: str, path: str) -> bool:
    """Put a file where none is; if one appeared there meanwhile, leave that one."""
    try:
        os.link(part, path)
        return True
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links: an empty file claims the place
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return False
    try:
        os.replace(part, path)
    except BaseException:
        os.unlink(path)
        raise
    return True


def _keep_permissions(path: str, earlier: os.stat_result) -> None:
    """Give a file the mode of another and, where the system allows it, its owner."""
    for user, group in ((-1, earlier.st_gid), (earlier.st_uid, -1)):
        with suppress(OSError, AttributeError):  # not everyone may, not every system
            os.chown(path, user, group)
    made, mode = os.stat(path), stat.S_IMODE(earlier.st_mode)
    if (made.st_uid, made.st_gid) != (earlier.st_uid, earlier.st_gid):
        mode &= 0o777
    if stat.S_IMODE(made.st_mode) != mode:
        os.chmod(path, mode)


def _sync_folder(folder: str) -> None:
    """Write the new entry of a folder to the disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
