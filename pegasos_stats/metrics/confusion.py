"""From labels to a confusion table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.metrics.choices import Mode, checked_choices
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.metrics.pairing import (
    Codes,
    checked_levels,
    codes_of,
    levels_of,
    paired,
)
from pegasos_stats.metrics.scored import (
    Scored,
    column_of_scores,
    columns_of_probabilities,
)

__all__ = ["ConfusionMatrix", "confusion"]


def confusion(
    actual: Any,
    predicted: Any,
    positive: Any = None,
    *,
    levels: Sequence[Any] | None = None,
    scores: Any = None,
    probabilities: Any = None,
    mode: Mode | None = None,
    prevalence: Any = None,
    beta: float = 1.0,
) -> ConfusionMatrix:
    """Cross-tabulate actual and predicted labels.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels; rows where they are missing are left out and counted.
    predicted : Series or array, shape (n,)
        Predicted labels; missing ones are counted in a column of their own, and are in
        no statistic.
    positive : label, optional
        Positive class of two levels, for sensitivity and the like: the first level if
        left out, as in caret. With more levels each is compared with the others.
    levels : sequence, optional
        The labels in the order of the table; found in the data if left out:
        categories in their order, else sorted values.
    scores : Series or array, shape (n,), optional
        Large for the second of two levels, as ``decision_function()`` gives them; for
        the area under the ROC curve.
    probabilities : DataFrame or array, shape (n, k) or (n,), optional
        A column for each level, as ``predict_proba()`` gives them, or the probability
        of the second of two; for log loss and Brier score.
    mode : "sens_spec", "prec_recall" or "everything", optional
        With a mode ``print()`` shows the full report, with the statistics of a class
        that caret prints in this mode.
    prevalence : float, or dict or Series of them for more than two levels, optional
        Prevalence of the positive class for the predictive values; that of the table
        if left out.
    beta : float, default 1.0
        Weight of recall against precision in the F measure.

    Returns
    -------
    ConfusionMatrix

    Raises
    ------
    DataError
        If labels, scores and probabilities are not of the same rows.
    LabelError
        If a label is none of `levels`, or the labels have no order.
    OptionError
        If an option is not allowed, or makes no sense for so many levels.

    Examples
    --------
    >>> confusion([5, 5, 6], [5, 6, 6]).table
    Predicted  5  6
    Actual
    5          1  1
    6          0  1
    >>> confusion([5, 5, 6], [5, 6, 6], positive=6).by_class["precision"].item()
    0.5
    """
    pairs = paired(actual, predicted)
    order = levels_of(pairs) if levels is None else checked_levels(levels)
    choices = checked_choices(order, positive, prevalence, beta, mode)
    rows, columns = (codes_of(pairs[side], order) for side in ("actual", "predicted"))
    labelled = rows >= 0
    wrong = labelled & (columns >= 0) & (rows != columns)
    labels_have_index = any(isinstance(s, pd.Series) for s in (actual, predicted))
    return ConfusionMatrix(
        tuple(order),
        _counted(rows[labelled], columns[labelled], len(order)),
        pairs[wrong],
        int((~labelled).sum()),
        choices,
        _scored(
            rows,
            order,
            scores,
            probabilities,
            pairs.index if labels_have_index else None,
        ),
    )


def _counted(rows: Codes, columns: Codes, k: int) -> NDArray[np.int64]:
    """Counts of a table whose last column is for missing predictions."""
    counts = np.zeros((k, k + 1), dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    return counts


def _scored(
    codes: Codes,
    levels: Sequence[Any],
    scores: Any,
    probabilities: Any,
    index: pd.Index | None,
) -> Scored | None:
    """Check scores and probabilities; None without either."""
    if scores is None and probabilities is None:
        return None
    at = (levels, len(codes), index)
    return Scored(
        codes,
        None if scores is None else column_of_scores(scores, *at),
        None if probabilities is None else columns_of_probabilities(probabilities, *at),
    )
