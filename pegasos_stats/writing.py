"""Write files completely or not at all; replace foreign files only on request.

A file is written under a temporary name in the same folder, flushed to the disk and
renamed. If a full disk or an interrupt stops this, the earlier file is unchanged. A
killed process may leave ``.pegasos_stats-<process>-<random>.part``, which can be
removed.

A replaced file retains its permissions; its owner becomes the user who writes it. If
the path is a symbolic link, the target of the link is replaced. Other hard links to the
earlier file retain the earlier content. Files that belong together are all complete
before the first is renamed.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import IO

from pegasos_stats.checks import check_flag
from pegasos_stats.errors import DataError, OptionError

MAX_PATH = 500  # characters of a path in a message


@dataclass(frozen=True)
class Kind:
    """A kind of file that the package writes.

    Attributes
    ----------
    noun : str
        In messages: "The <noun> cannot be written", "is not a <noun> of pegasos_stats".
    is_own : callable
        Returns whether an open file was written by the package.
    """

    noun: str
    is_own: Callable[[IO[bytes]], bool]

    def is_at(self, path: str) -> bool:
        """Return whether a path leads to a file of this kind that the package wrote."""
        try:
            with open(path, "rb") as handle:
                return self.is_own(handle)
        except OSError:
            return False


@dataclass(frozen=True)
class OutputPath:
    """Path of a file to write, as `validated_output_path` returns.

    Attributes
    ----------
    path : str
        Absolute path, with symbolic links resolved.
    shown : str
        The user's path, on one line.
    kind : Kind
    overwrite : bool
        Whether a file that the package did not write may be replaced.
    """

    path: str
    shown: str
    kind: Kind
    overwrite: bool = False

    @property
    def folder(self) -> str:
        """Folder of the file."""
        return os.path.dirname(self.path)

    def failed(self, reason: object) -> DataError:
        """Return the error that explains why the file cannot be written."""
        reason = getattr(reason, "strerror", None) or reason
        verb = f"The {self.kind.noun} cannot be written to"
        return DataError(f"{verb} {self.shown}: {reason}; use another path.")

    def check(self) -> int | None:
        """Return the permissions of an existing file, or None.

        Raises
        ------
        DataError
            If the file must not be replaced, or no file can be created there.
        """
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            self._check_folder()
            return None
        if not stat.S_ISREG(mode):
            raise self.failed("it is not a regular file")
        if not mode & 0o222 or not os.access(self.path, os.W_OK):
            raise self.failed("the existing file is read-only")
        if not self.overwrite and not self.kind.is_at(self.path):
            raise DataError(
                f"The file {self.shown} exists and is not a {self.kind.noun} of "
                "pegasos_stats; use another path, or overwrite=True to replace it."
            )
        self._check_folder()
        return mode & 0o777

    def _check_folder(self) -> None:
        """Raise `DataError` if the folder does not exist or is not writable."""
        shown = f"the folder {shown_path(self.folder)}"
        if not os.path.isdir(self.folder):
            raise self.failed(f"{shown} does not exist")
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise self.failed(f"{shown} is not writable")


def validated_output_path(
    path: object, kind: Kind, overwrite: bool = False
) -> OutputPath:
    """Check the path of a file to write, before anything is computed.

    Parameters
    ----------
    path : str or path
    kind : Kind
    overwrite : bool
        Whether a file that the package did not write may be replaced.

    Raises
    ------
    OptionError
        If the path is invalid, or `overwrite` is neither True nor False.
    DataError
        If no file can be written there, or an existing file is read-only or not written
        by the package.
    """
    check_flag("overwrite", overwrite)
    name = checked_path(path)
    place = OutputPath(name, shown_path(name), kind, overwrite)
    if not os.path.basename(name) or os.path.isdir(name):
        raise place.failed("it is a folder")
    try:
        place = replace(place, path=os.path.realpath(name))
        place.check()
    except OSError as error:
        raise place.failed(error) from None
    return place


@contextmanager
def outputs() -> Iterator["Outputs"]:
    """Write files that replace earlier files once all of them are complete.

    Yields
    ------
    Outputs

    Raises
    ------
    DataError
        If a file cannot be written, or a foreign file appeared meanwhile.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> kind = Kind("note", lambda handle: handle.read(4) == b"note")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with outputs() as files:
    ...     files.write(validated_output_path(path, kind), "note 1")
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
        raise (files.place.failed(error) if files.place else error) from None
    finally:
        files.remove()


class Outputs:
    """Files that are renamed once all are complete, as `outputs` yields.

    Attributes
    ----------
    place : OutputPath or None
        Path of the file being written.
    parts : list of str
        Temporary paths of incomplete files.
    """

    def __init__(self) -> None:
        self.place: OutputPath | None = None
        self._files: list[tuple[OutputPath, str, IO[bytes]]] = []
        self.parts: list[str] = []

    def open(self, place: OutputPath) -> IO[bytes]:
        """Open a temporary file, which is renamed at the end."""
        self.place = place
        if any(other.path == place.path for other, *_ in self._files):
            raise place.failed("another file of this call has this path")
        # The new content of a private file must be private while it is written.
        part = f".pegasos_stats-{os.getpid()}-{secrets.token_hex(8)}.part"
        path = os.path.join(place.folder, part)
        self.parts.append(path)
        mode = 0o600 if os.path.exists(place.path) else 0o666
        handle = open(path, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
        self._files.append((place, path, handle))
        return handle

    def write(self, place: OutputPath, content: str | bytes) -> None:
        """Write bytes, or text encoded in UTF-8."""
        try:
            content = content.encode() if isinstance(content, str) else content
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise place.failed(f"{character!a} is not a character of UTF-8") from None
        self.open(place).write(content)

    def finish(self) -> None:
        """Flush all files to the disk, then rename them."""
        for place, _, handle in self._files:
            self.place = place
            handle.flush()
            os.fsync(handle.fileno())
            handle.close()
        for place, path, _ in self._files:
            self.place = place
            mode = place.check()
            if mode is not None:
                os.chmod(path, mode)
            os.replace(path, place.path)

    def remove(self) -> None:
        """Remove temporary files that were not renamed."""
        try:
            for _, _, handle in self._files:
                with suppress(OSError):
                    handle.close()
        finally:
            for path in self.parts:
                with suppress(OSError):
                    os.unlink(path)


def checked_path(path: object) -> str:
    """Return a path as text, or raise `OptionError` if no file can have this path.

    Raises
    ------
    OptionError
        If it is neither text nor a path, is empty, or contains invalid characters.

    Examples
    --------
    >>> checked_path("fit.model")
    'fit.model'
    >>> checked_path(3)
    Traceback (most recent call last):
    pegasos_stats.errors.OptionError: int is not a path; pass text or a pathlib.Path ...
    """
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
        possible = isinstance(name, str) and b"\0" not in os.fsencode(name or "\0")
    except Exception:  # foreign code, or invalid characters
        name, possible = path, False
    if not possible:
        what = ascii(name) if isinstance(name, str) else type(name).__name__
        raise OptionError(
            f"{what} is not a path; pass text or a pathlib.Path (report() takes the "
            "data first: report(data, path))."
        )
    return str(name)


def shown_path(path: str) -> str:
    r"""Write a path for a message, in quotes if it would break the line.

    Only the last 497 characters of a path of more than 500 are shown, after ``...``.

    Examples
    --------
    >>> print(shown_path("fit.model"), shown_path("a\nb"))
    fit.model 'a\nb'
    """
    plain = path if path.isprintable() and path.strip() else ascii(path)
    return plain if len(plain) <= MAX_PATH else f"...{plain[3 - MAX_PATH :]}"
