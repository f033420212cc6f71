"""Scores and probabilities beside the labels, checked and lined up with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.columns import floats_of
from pegasos_stats.errors import DataError, OptionError, listing
from pegasos_stats.metrics import area_under_curve, brier_score, log_loss

SUM_TOLERANCE = 1e-6  # of the probabilities of a row
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Scored:
    """Actual labels with what was said of each row beyond a label.

    Attributes
    ----------
    codes : int array, shape (n,)
        Position of the actual level, -1 where it is missing.
    scores : float64 array, shape (n,), optional
    probabilities : float64 array, shape (n, k), optional
    """

    codes: NDArray[np.intp]
    scores: Floats | None = None
    probabilities: Floats | None = None

    def terms(self) -> dict[str, float]:
        """Area under the curve, log loss and Brier score, where they can be had.

        Rows without an actual label, a score or a probability are left out; those
        whose score leaves the label undecided are not.
        """
        found = {}
        if self.scores is not None:
            used = (self.codes >= 0) & ~np.isnan(self.scores)
            found["auc"] = area_under_curve(self.codes[used], self.scores[used])
        if self.probabilities is not None:
            used = (self.codes >= 0) & ~np.isnan(self.probabilities).any(axis=1)
            codes, given = self.codes[used], self.probabilities[used]
            found["log_loss"] = log_loss(codes, given)
            found["brier_score"] = brier_score(codes, given)
        return found


def column_of_scores(
    scores: Any, levels: Sequence[Any], n: int, index: pd.Index | None
) -> Floats:
    """Scores as an array, or an error where they do not fit the labels.

    Raises
    ------
    OptionError
        If there are not two levels.
    DataError
        If the scores are no numbers, or of other rows.
    """
    if len(levels) != 2:
        raise OptionError(
            f"scores make no sense with {len(levels)} levels; leave them out."
        )
    return _numbers("scores", scores, (n,), index)


def columns_of_probabilities(
    probabilities: Any, levels: Sequence[Any], n: int, index: pd.Index | None
) -> Floats:
    """Probabilities as an array with a column for each level.

    Raises
    ------
    DataError
        If they are no probabilities, or of other rows or levels.
    """
    k = len(levels)
    if isinstance(probabilities, pd.DataFrame):
        probabilities = _columns(probabilities, levels)
    values = _numbers("probabilities", probabilities, (n, k), index)
    if values.ndim == 1:
        values = np.column_stack([1.0 - values, values])
    off = np.abs(values.sum(axis=1) - 1.0) > SUM_TOLERANCE
    if off.any() or (values < 0.0).any() or (values > 1.0).any():
        raise DataError(
            "The probabilities are not all between 0 and 1 with a sum of 1 in each "
            "row; give those of predict_proba(), or of the second of two levels."
        )
    return values


def _columns(frame: pd.DataFrame, levels: Sequence[Any]) -> pd.DataFrame:
    """The columns of a frame in the order of the levels."""
    if frame.shape[1] != len(levels) or set(frame.columns) != set(levels):
        raise DataError(
            f"The probabilities have the columns {listing(frame.columns)}; give one "
            f"for each of the levels {listing(levels)}."
        )
    return frame.iloc[:, [list(frame.columns).index(level) for level in levels]]


def _numbers(
    name: str, values: Any, shape: tuple[int, ...], index: pd.Index | None
) -> Floats:
    labelled = isinstance(values, pd.Series | pd.DataFrame) and index is not None
    if labelled and not values.index.equals(index):
        raise DataError(
            f"The row labels of {name} and of the labels differ; align them, or give "
            "arrays to match by position."
        )
    refused = DataError(f"The {name} are not numbers; give one for each row.")
    found = floats_of(values, refused)
    one_of_two = name == "probabilities" and shape[1:] == (2,)
    if found.shape != shape and not (one_of_two and found.shape == shape[:1]):
        raise DataError(
            f"The {name} have the shape {found.shape} and not {shape}; give one for "
            "each row, and probabilities for each level."
        )
    return found
