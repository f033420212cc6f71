"""What tells that a file is not the one that was read before."""

import os
from collections.abc import Iterable

from pegasos_stats.data.scan.formats import unreadable

Stamp = tuple[int, int, int]
Stamps = dict[str, Stamp]


def stamp_of(file: str) -> Stamp:
    """Size, time of the last change and inode of a file.

    Raises
    ------
    DataError
        If it is not there.
    """
    try:
        found = os.stat(file)
    except OSError as error:
        raise unreadable(file, error) from None
    return found.st_size, found.st_mtime_ns, found.st_ino


def stamps_of(files: Iterable[str]) -> Stamps:
    """Size, time and inode of each file."""
    return {file: stamp_of(file) for file in files}
