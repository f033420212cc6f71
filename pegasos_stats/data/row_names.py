"""How errors call rows: by their labels, or by their number in a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import pandas as pd

from pegasos_stats.errors import counted, listing

IN_FILES = ("row", "file")  # names of the parts of a label, of rows of several files
PIECE = ContextVar("PIECE", default=False)  # whether a piece of all rows is looked at


@contextmanager
def in_a_piece() -> Iterator[None]:
    """What is counted inside is counted in a piece of all rows."""
    token = PIECE.set(True)
    try:
        yield
    finally:
        PIECE.reset(token)


def in_the_rows(labels: pd.Index) -> str:
    """Write how many rows these are, and which.

    Parameters
    ----------
    labels : Index

    Examples
    --------
    >>> in_the_rows(pd.RangeIndex(3))
    'in 3 rows (0, 1, 2)'
    >>> with in_a_piece():
    ...     in_the_rows(pd.Index(["a"]))
    "in at least 1 row ('a')"
    """
    least = "at least " if PIECE.get() else ""
    return f"in {least}{counted(len(labels), 'row')} ({rows_listed(labels)})"


class FileName(str):
    """Name of an index whose labels are the numbers of rows in this file."""


def rows_listed(labels: pd.Index) -> str:
    """Write the first few labels of rows; of those in one of several files, with it.

    Examples
    --------
    >>> rows_listed(pd.Index([3, 7], name=FileName("a.csv")))
    '3, 7 of a.csv'
    """
    if isinstance(getattr(labels, "name", None), FileName):
        return f"{listing(labels)} of {labels.name}"
    if tuple(labels.names) != IN_FILES:
        return listing(labels)
    first = labels.get_level_values(1) == labels[0][1]
    numbers, others = labels.get_level_values(0)[first], labels[~first]
    return f"{listing(numbers)} of {labels[0][1]}" + (
        f", and {rows_listed(others)}" if len(others) else ""
    )
