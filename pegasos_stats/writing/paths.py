"""Paths as they are given: made sure to be some, and written into messages."""

import os
from contextlib import suppress

from pegasos_stats.errors import OptionError

MOST_LINKS = 40  # of a path, as Linux counts them


def checked_path(path: object) -> str:
    """Return a path as text, made sure to be one that a system can have.

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
    pegasos_stats.errors.OptionError: int is no path; give text or a pathlib.Path.
    """
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
    except Exception:  # code of others
        name = path
    if not isinstance(name, str):
        what = type(name).__name__
        raise OptionError(f"{what} is no path; give text or a pathlib.Path.")
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
    r"""Write a path for a message: in quotes where it would break the line.

    Examples
    --------
    >>> print(shown_path("fit.model"), shown_path("a\nb"))
    fit.model 'a\nb'
    """
    return path if path.isprintable() and path.strip() else ascii(path)


def is_same(path: str, other: str) -> bool:
    """Whether two paths lead to one file, by links too, or to one that is to be made.

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
