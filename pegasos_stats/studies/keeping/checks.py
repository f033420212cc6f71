"""What holds between the fields of an object, where their types do not say it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pegasos_stats.arrays import Matrix
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.studies.reliability import Reliability
from pegasos_stats.studies.selection.folds import Folds, Split


def check_split(split: Split) -> None:
    """Raise ValueError for rows that are not there."""
    for rows in (split.test, split.given):
        if rows is not None and (
            rows.ndim != 1 or ((rows < 0) | (rows >= split.n)).any()
        ):
            raise ValueError(f"a fold has rows beyond the {split.n} that there are")


def check_folds(folds: Folds) -> None:
    """Raise ValueError for folds of different rows, or of none."""
    repeats = [split.repeat for split in folds.splits]
    if not repeats or any(split.n != folds.n for split in folds.splits):
        raise ValueError(f"folds are not of {folds.n} rows")
    if repeats != sorted(repeats) or set(repeats) != set(range(1, repeats[-1] + 1)):
        raise ValueError(f"folds are of the repeats {repeats[:10]}")
    if folds.groups is not None and folds.groups.shape != (folds.n,):
        raise ValueError(f"groups have the shape {folds.groups.shape}")


def check_matrix(matrix: ConfusionMatrix) -> None:
    """Raise ValueError for a table that does not fit its levels."""
    k, counts = len(matrix.levels), matrix.counts
    if k < 2 or counts.shape != (k, k + 1) or not (counts >= 0).all():
        raise ValueError(f"a table of {k} levels has the shape {counts.shape}")
    positive_position(matrix.levels, matrix.choices.positive)
    scored = matrix.scored
    if scored is None:
        return
    n, codes = scored.codes.size, scored.codes
    if codes.ndim != 1 or ((codes < -1) | (codes >= k)).any():
        raise ValueError(f"rows are of other levels than {k}")
    for array in (scored.scores, scored.weights):
        if array is not None and array.shape != (n,):
            raise ValueError(f"{n} rows have scores or weights of {array.shape}")
    weights, p = scored.weights, scored.probabilities
    if weights is not None and not ((weights >= 0.0) & (weights < np.inf)).all():
        raise ValueError("rows have weights that are none")
    if p is None:
        return
    if p.shape != (n, k):
        raise ValueError(f"probabilities have the shape {p.shape}")
    _check_shares(p)


def check_reliability(found: Reliability) -> None:
    """Raise ValueError for a table of other columns, or of numbers that are none."""
    bins = "low", "high", "n", "mean_predicted", "observed", "conf_low", "conf_high"
    if tuple(found.table.columns) != bins:
        raise ValueError("a reliability table has other columns")
    if any(getattr(dtype, "kind", "") not in "iuf" for dtype in found.table.dtypes):
        raise ValueError("a reliability table has columns that are no numbers")
    n, shares = found.table["n"], found.table.drop(columns="n").to_numpy(np.float64)
    if not ((n >= 0) & (n < np.inf) & (n % 1 == 0)).all():
        raise ValueError("a reliability table has numbers of rows that are none")
    _check_shares(shares)


def _check_shares(shares: Matrix) -> None:
    """Raise ValueError for a share that is neither missing nor from 0 to 1."""
    if ((shares < 0.0) | (shares > 1.0)).any():
        raise ValueError("a share or probability is not from 0 to 1")


CHECKS: dict[Any, Callable[[Any], None]] = {
    Split: check_split,
    Folds: check_folds,
    ConfusionMatrix: check_matrix,
    Reliability: check_reliability,
}
