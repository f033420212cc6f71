"""Actual and predicted labels side by side, as positions among the levels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.foreign import is_single
from pegasos_stats.data.labels import column_of_labels, positions
from pegasos_stats.errors import (
    DataError,
    LabelError,
    OptionError,
    counted,
    listing,
    plain,
    shown,
)

Codes = NDArray[np.intp]


def checked_levels(levels: Any) -> list[Any]:
    """Return the levels as a list, or raise `OptionError`."""
    ordered = isinstance(levels, tuple | list | np.ndarray | pd.Series | pd.Index)
    several = ordered and getattr(levels, "ndim", 1) == 1
    found = [plain(level) for level in levels] if several else []
    if not found or not all(map(is_single, found)) or len(set(found)) < len(found):
        raise OptionError(
            f"levels={shown(levels)} is not allowed; give a list of different labels."
        )
    return found


def paired(actual: Any, predicted: Any) -> pd.DataFrame:
    """Put both sides into one frame with the same rows."""
    left = column_of_labels(actual, "actual")
    right = column_of_labels(predicted, "predicted")
    if len(left) != len(right):
        raise DataError(
            f"There are {len(left):,} actual and {len(right):,} predicted labels; give "
            "one of each for every row."
        )
    both_labelled = isinstance(actual, pd.Series) and isinstance(predicted, pd.Series)
    if both_labelled and not left.index.equals(right.index):
        raise DataError(
            "The row labels of actual and predicted differ; align them "
            "(actual.loc[predicted.index]) or give arrays to match by position."
        )
    index = left.index if isinstance(actual, pd.Series) else right.index
    sides = {"actual": left.set_axis(index), "predicted": right.set_axis(index)}
    return pd.DataFrame(sides)


def _once(levels: list[Any]) -> list[Any]:
    """Each label once, as it is written, whether or not it can be compared."""
    return list({shown(level): level for level in levels}.values())


def levels_of(pairs: pd.DataFrame) -> list[Any]:
    """Labels of both sides: categories in their order, else sorted."""
    levels: list[Any] = []
    for side in ("actual", "predicted"):
        if isinstance(pairs[side].dtype, pd.CategoricalDtype):
            return [plain(v) for v in pairs[side].cat.categories]
        levels += [plain(v) for v in pairs[side].dropna().unique()]
    try:
        found = sorted(set(levels))
    except Exception:  # values of others may raise what they like
        raise LabelError(
            f"The labels {listing(_once(levels))} have no common order; give "
            "levels=[...] or convert both sides to one type."
        ) from None
    return found


def codes_of(labels: "pd.Series[Any]", levels: Sequence[Any]) -> Codes:
    """Position of each label among the levels, -1 where it is missing."""
    codes = positions(labels, levels)
    unknown = (codes < 0) & labels.notna().to_numpy(dtype=bool)
    if unknown.any():
        raise LabelError(
            f"The {labels.name} labels hold {listing(labels[unknown].unique())} in "
            f"{counted(int(unknown.sum()), 'row')} "
            f"({listing(labels.index[unknown])}); known are {listing(levels)}: drop or "
            "recode these rows."
        )
    return codes
