"""What holds between the fields of an object, where their types do not say it."""

from collections.abc import Callable
from typing import Any

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
    scored = matrix.scored
    if scored is None:
        return
    n, codes = scored.codes.size, scored.codes
    if codes.ndim != 1 or ((codes < -1) | (codes >= k)).any():
        raise ValueError(f"rows are of other levels than {k}")
    for array in (scored.scores, scored.weights):
        if array is not None and array.shape != (n,):
            raise ValueError(f"{n} rows have scores or weights of {array.shape}")
    if scored.probabilities is not None and scored.probabilities.shape != (n, k):
        raise ValueError(f"probabilities have the shape {scored.probabilities.shape}")


def check_reliability(found: Reliability) -> None:
    """Raise ValueError for a table of other columns."""
    bins = "low", "high", "n", "mean_predicted", "observed", "conf_low", "conf_high"
    if tuple(found.table.columns) != bins:
        raise ValueError("a reliability table has other columns")


CHECKS: dict[Any, Callable[[Any], None]] = {
    Split: check_split,
    Folds: check_folds,
    ConfusionMatrix: check_matrix,
    Reliability: check_reliability,
}
