"""Paths of files of rows: patterns and folders, and the files they stand for."""

import glob
import os
from collections.abc import Iterable, Sequence
from os import PathLike

from pegasos_stats.data.scan.formats import FORMATS, ending_of, unreadable
from pegasos_stats.errors import DataError, OptionError, listing, shown
from pegasos_stats.writing import shown_path

Stamp = tuple[int, int, int]

Stamps = dict[str, Stamp]

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

MAGIC = "*?["


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


def all_files(paths: Paths, option: str) -> tuple[str, ...]:
    """All files that are given, each once, in the order in which they are read.

    Raises
    ------
    OptionError
        If `paths` holds something else than paths, or a file twice.
    DataError
        If no file matches, or a file is not there.
    """
    given = [paths] if isinstance(paths, str | PathLike) else paths
    good = isinstance(given, Sequence) and all(
        isinstance(path, str | PathLike) for path in given
    )
    if not good or not len(given):
        raise OptionError(
            f"{option}={shown(paths)} is not allowed; give a file, a pattern such as "
            "'folder/*.parquet', or a list of them."
        )
    found: list[str] = []
    for path in given:
        found += matched(os.fspath(path))
    twice = [file for file in dict.fromkeys(found) if found.count(file) > 1]
    if twice:
        raise OptionError(
            f"{option}= names {listing(twice)} more than once; give each file once."
        )
    return tuple(found)


def matched(path: str) -> list[str]:
    """Files that a path, a pattern or a folder stands for, by name."""
    files = [path]
    if is_pattern(path):
        files = sorted(glob.glob(path, recursive=True))
    elif os.path.isdir(path):
        names = [each for each in sorted(os.listdir(path)) if each[0] not in "._"]
        inside = [os.path.join(path, each) for each in names if ending_of(each)]
        files = [file for file in inside if os.path.isfile(file)]
        if not files:
            raise DataError(
                f"The folder {shown_path(path)} has no file that ends in "
                f"{listing(FORMATS, len(FORMATS))}; give one that has."
            )
    if not files:
        raise DataError(
            f"No file matches {shown(path)}; give a pattern such as 'folder/*.parquet'."
        )
    for file in files:
        if not os.path.isfile(file):
            raise DataError(
                f"The file {shown_path(file)} is not there; give files, or a pattern "
                "such as 'folder/*.parquet'."
            )
        if ending_of(file) is None:
            raise DataError(
                f"The file {shown_path(file)} is of no format that is known by its "
                f"name; give files that end in {listing(FORMATS, len(FORMATS))}."
            )
    return files


def is_pattern(path: str) -> bool:
    """Whether a path stands for the files that it matches.

    Examples
    --------
    >>> is_pattern("folder/*.parquet"), is_pattern("folder/rows.parquet")
    (True, False)
    """
    return any(sign in path for sign in MAGIC) and not os.path.exists(path)
