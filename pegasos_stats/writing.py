"""Files are written whole or not at all, and over no file of others unasked.

A file is written beside its place under a name of its own, brought to the disk, and
put in its place by one renaming. Whatever stops this, a full disk or an interrupt,
leaves the earlier file as it was. A run that is killed may leave such a part behind:
``.pegasos_stats-<process>-<random>.part``, which nothing reads and anyone may remove.

What is replaced keeps its permissions, and belongs to who writes it. A symbolic link
stays, and what it leads to is replaced. Other names of the same file (hard links) go on
to lead to the earlier content. Of several files that are written together all are whole
before the first is put in its place.
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

LONGEST = 500  # characters of a path in a message


@dataclass(frozen=True)
class Kind:
    """A kind of file that the package writes.

    Attributes
    ----------
    noun : str
        In messages: "The <noun> cannot be written", "is no <noun> of pegasos_stats".
    known : callable
        Whether an open file begins as one that the package wrote.
    """

    noun: str
    known: Callable[[IO[bytes]], bool]

    def is_at(self, path: str) -> bool:
        """Whether a file of this kind, written by the package, is at a path."""
        try:
            with open(path, "rb") as handle:
                return self.known(handle)
        except OSError:
            return False


@dataclass(frozen=True)
class OutputPath:
    """Where a file is to be written; `validated_output_path` makes one.

    Attributes
    ----------
    path : str
        Absolute, symbolic links followed.
    shown : str
        The path as it was given, on one line.
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
        """The folder that the file is in."""
        return os.path.dirname(self.path)

    def failed(self, reason: object) -> DataError:
        """Return the error that says why the file cannot be written."""
        reason = getattr(reason, "strerror", None) or reason
        verb = f"The {self.kind.noun} cannot be written to"
        return DataError(f"{verb} {self.shown}: {reason}; give another path.")

    def check(self) -> int | None:
        """Return the permissions of the file that is there, None without one.

        Raises
        ------
        DataError
            If it is not to be replaced, or no file can be made there.
        """
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            self._check_folder()
            return None
        if not stat.S_ISREG(mode):
            raise self.failed("it is no regular file")
        if not mode & 0o222 or not os.access(self.path, os.W_OK):
            raise self.failed("the file that is there is read-only")
        if not self.overwrite and not self.kind.is_at(self.path):
            raise DataError(
                f"The file {self.shown} is there and is no {self.kind.noun} of "
                "pegasos_stats; give another path, or overwrite=True to replace it."
            )
        self._check_folder()
        return mode & 0o777

    def _check_folder(self) -> None:
        """Raise `DataError` if the folder is not there, or takes no files."""
        shown = f"the folder {shown_path(self.folder)}"
        if not os.path.isdir(self.folder):
            raise self.failed(f"{shown} is not there")
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise self.failed(f"{shown} takes no files")


def validated_output_path(
    path: object, kind: Kind, overwrite: bool = False
) -> OutputPath:
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
    """Write files, which are put in their places once all of them are whole.

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
    """Files that are put in their places once all are whole; `outputs` makes one.

    Attributes
    ----------
    place : OutputPath or None
        Of the file that is being written.
    parts : list of str
        Paths of the files that are not whole yet.
    """

    def __init__(self) -> None:
        self.place: OutputPath | None = None
        self._files: list[tuple[OutputPath, str, IO[bytes]]] = []
        self.parts: list[str] = []

    def open(self, place: OutputPath) -> IO[bytes]:
        """Open a new file, which is put in its place at the end."""
        self.place = place
        if any(other.path == place.path for other, *_ in self._files):
            raise place.failed("another file of this call is written there")
        # What is private stays so while it is written.
        part = f".pegasos_stats-{os.getpid()}-{secrets.token_hex(8)}.part"
        path = os.path.join(place.folder, part)
        self.parts.append(path)
        mode = 0o600 if os.path.exists(place.path) else 0o666
        handle = open(path, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
        self._files.append((place, path, handle))
        return handle

    def write(self, place: OutputPath, content: str | bytes) -> None:
        """Write bytes, or a text in UTF-8."""
        try:
            content = content.encode() if isinstance(content, str) else content
        except UnicodeEncodeError as error:
            held = error.object[error.start]
            raise place.failed(f"{held!a} is no character of UTF-8") from None
        self.open(place).write(content)

    def finish(self) -> None:
        """Bring all files to the disk, then put each in its place."""
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
        """Remove what was not put in its place."""
        try:
            for _, _, handle in self._files:
                with suppress(OSError):
                    handle.close()
        finally:
            for path in self.parts:
                with suppress(OSError):
                    os.unlink(path)


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
    pegasos_stats.errors.OptionError: int is not a path; give text or a pathlib.Path ...
    """
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
        possible = isinstance(name, str) and b"\0" not in os.fsencode(name or "\0")
    except Exception:  # code of others, and characters that no name can hold
        name, possible = path, False
    if not possible:
        what = ascii(name) if isinstance(name, str) else type(name).__name__
        raise OptionError(
            f"{what} is not a path; give text or a pathlib.Path (of report(), the data "
            "come first: report(data, path))."
        )
    return str(name)


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
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)
