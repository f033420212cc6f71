"""Files in the svmlight (libsvm) format: labels and sparse rows as text."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import IO, TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn, Integers
from pegasos_stats.checks import check_count, check_flag
from pegasos_stats.data import files
from pegasos_stats.errors import DataError
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.writing import checked_path

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]

BLOCK = 1 << 22  # bytes of text parsed at a time
LARGEST_INDEX = 2**31 - 2
SAMPLE_LINES = 100
LABEL_NAME = "label"
COLON, SPACE, NEWLINE = ord(":"), ord(" "), ord("\n")

NUMBER = rb"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|nan|inf)"
LABEL = re.compile(NUMBER)
PAIR = re.compile(rb"\d+:" + NUMBER)
LIKE_PAIR = re.compile(rb"[+-]?\d+:[^\s,;]+")
ASIDE = re.compile(rb"#[^\n]*|[ \t]qid:\S+")


@dataclass(frozen=True, eq=False)
class Svmlight:
    """Rows of an svmlight file; ``y, X = data`` takes labels and rows out.

    Attributes
    ----------
    y : Series, shape (n,)
        Labels, as whole numbers where all of them are.
    X : float64 CSR array, shape (n, p)
        Column ``j`` is feature ``j + 1`` of the file, or ``j`` if `zero_based`;
        columns are sorted within each row and occur once.
    zero_based : bool
        Whether the features are counted from 0.
    n_dropped : int
        Number of different features that were left out as beyond ``n_features``.
    """

    y: DataColumn
    X: "csr_array"
    zero_based: bool
    n_dropped: int = 0

    def __iter__(self) -> Iterator["DataColumn | csr_array"]:
        return iter((self.y, self.X))


@suggest_arguments
def read_svmlight(
    path: str | PathLike[str],
    n_features: int | None = None,
    *,
    zero_based: bool | None = None,
) -> Svmlight:
    r"""Read an svmlight file: lines of ``label index:value index:value ...``.

    The file may be compressed by gzip or bzip2, whatever its name. Comments after ``#``
    and ``qid:`` entries are ignored; indices may be in any order.

    Parameters
    ----------
    path : str or path
    n_features : int, optional
        Number of columns; features beyond it are dropped and counted. By default the
        largest index in the file. For test data give that of the training data,
        ``X.shape[1]``.
    zero_based : bool, optional
        Whether features are counted from 0. By default from 0 if the index 0 occurs,
        otherwise from 1.

    Returns
    -------
    Svmlight
        ``y, X = read_svmlight(path)`` gives labels and rows. Models name the columns
        ``x1``, ``x2`` and so on by their place; `scan` names features by their index,
        which starts with ``x0`` if they are counted from 0.

    Raises
    ------
    DataError
        If the file does not exist or is not in this format, or a row has an index
        twice; the message names the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.txt"
    >>> _ = path.write_text("+1 1:0.5 3:2  # first row\n-1 2:1\n")
    >>> y, X = read_svmlight(path)
    >>> y.tolist(), X.toarray().tolist()
    ([1, -1], [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]])
    >>> read_svmlight(path, n_features=2).n_dropped
    1
    """
    if n_features is not None:
        check_count("n_features", n_features)
    if zero_based is not None:
        check_flag("zero_based", zero_based)
    name = checked_path(path)
    entries = _joined(list(parsed_blocks(name)), name)
    if zero_based is None:
        zero_based = bool((entries.indices == 0).any())
    elif not zero_based and (entries.indices == 0).any():
        raise DataError(
            f"The file {name} has the index 0, and features are to be counted from 1; "
            "renumber them, or count from 0 (zero_based=True in Python)."
        )
    return _assembled(entries, name, n_features, zero_based)


def looks_like_svmlight(path: str | PathLike[str]) -> bool:
    """Whether the first line with features reads ``label index:value ...``.

    Raises
    ------
    DataError
        If the file is not there or cannot be unpacked.

    Examples
    --------
    >>> from pegasos_stats.data.datasets import digits56_path
    >>> looks_like_svmlight(digits56_path())
    False
    """
    name = checked_path(path)
    first, begins = [b""], True
    with files.opened(name) as handle:
        try:
            for _ in range(SAMPLE_LINES):
                words = ASIDE.sub(b" ", handle.readline(BLOCK)).split()
                if len(words) > 1:
                    first = words
                    break
                begins = begins and not words
        except files.UNREADABLE as error:
            raise DataError(files.unreadable(name, error)) from None
    if LABEL.fullmatch(first[0]) and all(map(PAIR.fullmatch, first[1:])):
        return True
    # The first line of a CSV file names its columns; what is no label is told later.
    meant = begins and len(first) > 1 and not set(first[0]) & set(b',;|"')
    return meant and all(map(LIKE_PAIR.fullmatch, first[1:]))


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows as they stand in a file.

    Attributes
    ----------
    lines : int64 array, shape (n,)
        Line of each row, counted from 1.
    labels : float64 array, shape (n,)
    lengths : int64 array, shape (n,)
        Number of entries of each row.
    indices : int64 array, values : float64 array, shape (n_entries,)
    """

    lines: Integers
    labels: Floats
    lengths: Integers
    indices: Integers
    values: Floats


def parsed_blocks(name: str, kept: bool = True) -> Iterator[Entries]:
    """Entries of a file, some whole lines at a time.

    Parameters
    ----------
    name : str
    kept : bool
        Whether they are all kept, so that the whole file has to fit into memory.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is not in this format.
    """
    line = 1
    with files.opened(name) as handle:
        try:
            for block in _blocks(handle, name, kept):
                entries = _parsed(ASIDE.sub(b" ", block), line)
                if entries is None:
                    raise _wrong_line(block, line, name)
                yield entries
                line += block.count(b"\n")
        except files.UNREADABLE as error:
            raise DataError(files.unreadable(name, error)) from None


def _blocks(handle: IO[bytes], name: str, kept: bool) -> Iterator[bytes]:
    """Cut a file into pieces that end with a line."""
    rest: list[bytes] = []  # of a line that is longer than a piece
    size, most = 0, files.most_unpacked(name)
    while chunk := handle.read(BLOCK):
        size += len(chunk)
        files.check_size(name, size, most)
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, chunk[:cut]])
            rest, size = [], size if kept else 0
        rest.append(chunk[cut:])
    if any(rest):
        yield b"".join(rest)


def _parsed(block: bytes, line: int) -> Entries | None:
    """Read whole lines at once; None if any of them is not in the format."""
    text = np.frombuffer(block, dtype=np.uint8)
    solid = text > SPACE
    starts = np.flatnonzero(solid & ~np.concatenate([[False], solid[:-1]]))
    lines = np.searchsorted(np.flatnonzero(text == NEWLINE), starts)
    leads = np.diff(lines, prepend=-1) > 0
    colons = np.flatnonzero(text == COLON)
    if not _well_formed(text, starts, leads, colons):
        return None
    lengths = np.diff(np.flatnonzero(np.append(leads, True))) - 1
    numbers = _numbers(block.replace(b":", b" "))
    at = np.arange(len(lengths)) + 2 * (np.cumsum(lengths) - lengths)
    if len(numbers) != len(lengths) + 2 * len(colons):
        return None
    pairs = np.delete(numbers, at).reshape(-1, 2)
    found, labels = pairs[:, 0], numbers[at]
    allowed = (found >= 0) & (found <= LARGEST_INDEX) & (found == np.rint(found))
    if not allowed.all() or np.isinf(labels).any():
        return None
    indices = found.astype(np.int64)
    return Entries(lines[leads] + line, labels, lengths, indices, pairs[:, 1])


def _well_formed(
    text: NDArray[np.uint8],
    starts: NDArray[np.intp],
    leads: NDArray[np.bool_],
    colons: NDArray[np.intp],
) -> bool:
    """Whether each word but a line's first has one colon, with text on both sides."""
    words = np.searchsorted(starts, colons, side="right") - 1
    if len(colons) != int((~leads).sum()) or (words < 0).any():
        return False
    after = text[np.minimum(colons + 1, len(text) - 1)]
    inside = (starts[words] < colons) & (after > SPACE) & (after != COLON)
    return bool((words == np.flatnonzero(~leads)).all() and inside.all())


def _numbers(text: bytes) -> Floats:
    """Read numbers between spaces, up to the first that is none."""
    if not text.strip():
        return np.empty(0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return np.fromstring(text, sep=" ")
        except ValueError:
            return np.empty(0)


def _joined(parts: list[Entries], name: str) -> Entries:
    if not sum(len(part.labels) for part in parts):
        raise DataError(f"The file {name} has no rows; give one with data.")
    return Entries(
        *(
            np.concatenate([getattr(part, field) for part in parts])
            for field in Entries.__dataclass_fields__
        )
    )


def _assembled(
    entries: Entries, name: str, n_features: int | None, zero_based: bool
) -> Svmlight:
    """Put entries into a CSR array, sorted, without those beyond its columns."""
    from scipy.sparse import csr_array

    n = len(entries.labels)
    rows, indices, values = sorted_entries(entries, name)
    columns = indices - (0 if zero_based else 1)
    p = int(columns.max(initial=-1)) + 1 if n_features is None else n_features
    kept = columns < p
    n_dropped = len(np.unique(columns[~kept]))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=n))])
    whole = np.int32 if indptr[-1] <= LARGEST_INDEX else np.int64
    places = columns[kept].astype(whole), indptr.astype(whole)
    matrix = csr_array((values[kept], *places), shape=(n, p))
    return Svmlight(_labels(entries.labels), matrix, zero_based, n_dropped)


def sorted_entries(entries: Entries, name: str) -> tuple[Integers, Integers, Floats]:
    """The row of each entry, counted from 0, its index and its value, by row and index.

    Raises
    ------
    DataError
        If a row has an index twice.
    """
    rows = np.repeat(np.arange(len(entries.labels)), entries.lengths)
    indices, values = entries.indices, entries.values
    if ((np.diff(indices) <= 0) & (np.diff(rows) == 0)).any():
        order = np.lexsort((indices, rows))
        rows, indices, values = rows[order], indices[order], values[order]
    same = (np.diff(indices) == 0) & (np.diff(rows) == 0)
    if same.any():
        raise DataError(
            f"Line {entries.lines[rows[int(same.argmax())]]} of {name} has the same "
            "index twice; each feature may stand once in a row."
        )
    return rows, indices, values


def _labels(labels: Floats) -> DataColumn:
    whole = are_whole(labels)
    return pd.Series(labels.astype(np.int64) if whole else labels, name=LABEL_NAME)


def are_whole(labels: Floats) -> bool:
    """Whether all labels are whole numbers of 64 bits, and none is missing."""
    return bool((np.abs(labels) < 2.0**63).all() and (labels == np.rint(labels)).all())


def _wrong_line(block: bytes, line: int, name: str) -> DataError:
    """The error for the first line that is not in the format."""
    lines = enumerate(block.split(b"\n"), line)
    at, text = next(
        (k, each) for k, each in lines if _parsed(ASIDE.sub(b" ", each), k) is None
    )
    return DataError(
        f"Line {at} of {name} is {text[:60].decode('latin-1')!r}; the format is 'label "
        "index:value index:value ...', labels finite and indices whole numbers up to "
        f"{LARGEST_INDEX:,}."
    )
