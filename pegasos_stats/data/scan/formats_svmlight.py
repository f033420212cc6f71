"""Svmlight files as columns: the labels, and a column of numbers for each feature."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pegasos_stats.data.svmlight import (
    LABEL_NAME,
    are_whole,
    parsed_blocks,
    sorted_entries,
)
from pegasos_stats.errors import DataError
from pegasos_stats.writing import shown_path

if TYPE_CHECKING:
    import pyarrow as pa

    Types = Mapping[str, pa.DataType]

SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz")
MOST_FEATURES = 5000  # of rows that are written out with their zeros


def svmlight_types(files: Sequence[str], n_features: int | None) -> "Types":
    """Read svmlight files for the columns that they have together.

    These are ``label``, of whole numbers if all labels are, and ``x1``, ``x2`` and so
    on to the largest index; ``x0`` too if there is the index 0.

    Parameters
    ----------
    files : sequence of str
    n_features : int or None
        Columns beyond so many are left out.

    Raises
    ------
    DataError
        If a file is not in the format, none has rows, or there are too many features.
    """
    import pyarrow as pa

    largest, first, whole, rows = 0, 1, True, 0
    for file in files:
        for entries in parsed_blocks(file, kept=False):
            largest = max(largest, int(entries.indices.max(initial=0)))
            first = min(first, int(entries.indices.min(initial=1)))
            whole = whole and are_whole(entries.labels)
            rows += len(entries.labels)
    if files and not rows:
        raise DataError(
            f"The file {shown_path(files[0])} has no rows; give one with data."
        )
    count = largest + 1 - first if n_features is None else n_features
    if count > MOST_FEATURES:
        raise DataError(
            f"The svmlight files have {count:,} features, and rows that are read block "
            f"by block may have {MOST_FEATURES:,}, as their zeros are written out; "
            f"leave out those beyond, as in n_features={MOST_FEATURES}, or fit sparse "
            "rows in memory, ps.SVM(*ps.read_svmlight(path))."
        )
    label = pa.int64() if whole else pa.float64()
    features = range(first, first + count)
    return {LABEL_NAME: label} | {f"x{j}": pa.float64() for j in features}


def is_feature(name: str) -> bool:
    """Whether a column is a feature of svmlight files, ``x`` and its index.

    Examples
    --------
    >>> [is_feature(name) for name in ("x7", "x0", "x07", "label")]
    [True, True, False, False]
    """
    index = name[1:]
    return name[:1] == "x" and index.isdecimal() and str(int(index)) == index


def svmlight_schema(file: str, types: "Types") -> "pa.Schema":
    """The columns of a file: those of all files."""
    import pyarrow as pa

    return pa.schema(list(types.items()))


def svmlight_batches(
    file: str, columns: Sequence[str], rows: int, types: "Types"
) -> "Iterator[pa.RecordBatch]":
    """The rows of a file; a feature that a row does not have is 0."""
    import pyarrow as pa

    wanted = [int(name[1:]) for name in columns if name != LABEL_NAME]
    place = np.full(max(wanted, default=0) + 1, -1)
    place[wanted] = np.arange(len(wanted))
    for entries in parsed_blocks(file, kept=False):
        at, indices, values = sorted_entries(entries, file)
        known = indices < len(place)
        known[known] = place[indices[known]] >= 0
        at, values, into = at[known], values[known], place[indices[known]]
        n = len(entries.labels)
        for first in range(0, n, rows):
            count = min(rows, n - first)
            low, high = np.searchsorted(at, [first, first + count])
            X = np.zeros((len(wanted), count))
            X[into[low:high], at[low:high] - first] = values[low:high]
            parts = dict(zip(wanted, map(pa.array, X), strict=True))
            labels = pa.array(entries.labels[first : first + count])
            yield pa.RecordBatch.from_arrays(
                [
                    labels.cast(types[LABEL_NAME])
                    if name == LABEL_NAME
                    else parts[int(name[1:])]
                    for name in columns
                ],
                names=list(columns),
            )
