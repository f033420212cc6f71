"""`confusion`: a confusion table from actual and predicted labels."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.data.weights import Positions, numbers_of_rows, repeated
from pegasos_stats.errors import DataError, listing
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics import inputs
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.metrics.rates import Counts
from pegasos_stats.metrics.scores import Scored

__all__ = ["ConfusionMatrix", "confusion"]

ALLOWED = "one number for each row"


@suggest_arguments
def confusion(
    actual: object,
    predicted: object,
    positive: object = None,
    *,
    levels: Sequence[object] | None = None,
    scores: object = None,
    probabilities: object = None,
    event_level: inputs.EventLevel | None = None,
    mode: inputs.Mode | None = None,
    prevalence: object = None,
    beta: float = 1.0,
    freq_weights: object = None,
    weights: object = None,
) -> ConfusionMatrix:
    """Cross-tabulate actual and predicted labels.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels; rows with a missing one are left out and counted.
    predicted : Series or array, shape (n,)
        Predicted labels; missing ones are counted in a separate column and enter no
        statistic.
    positive : label, optional
        Positive class of two levels, for sensitivity and similar statistics; by default
        the second level. With more levels each is compared with all others.
    levels : sequence, optional
        The labels in the order of the table. By default those in the data: categories
        in their order, otherwise sorted values.
    scores : Series or array, shape (n,), optional
        Scores that are larger for the second of two levels, as from
        ``decision_function()``; used for the area under the ROC curve.
    probabilities : DataFrame or array, shape (n, k) or (n,), optional
        A column for each level, as from ``predict_proba()``, or the probability of the
        second of two levels; used for log loss and Brier score.
    event_level : "second" or "first", optional
        Which of two levels is the positive class, instead of `positive`; ``"first"`` is
        caret's rule. No matter with more levels.
    mode : "sens_spec", "prec_recall" or "everything", optional
        With a mode, ``print()`` shows the full report with the statistics that caret
        prints in this mode.
    prevalence : float, or dict or Series of them for more than two levels, optional
        Prevalence of the positive class, for the predictive values; by default that of
        the table.
    beta : float, default 1.0
        Weight of recall against precision in the F measure.
    freq_weights : Series or array, shape (n,), of whole numbers; optional
        How many rows each row stands for, as in a table of counts.
    weights : Series or array, shape (n,), optional
        Weight of each row, 0 or more, not rescaled. Cells are sums of weights; rates,
        kappa, AUC and losses are weighted. Intervals and tests need numbers of rows and
        are NaN.

    Returns
    -------
    ConfusionMatrix

    Raises
    ------
    DataError
        If labels, scores, probabilities and counts differ in length or row labels, or
        there is no label and no `levels`.
    LabelError
        If a label is none of `levels`, or the labels have no order.
    OptionError
        If an option is not allowed, not for this number of levels, or `positive` and
        `event_level` contradict each other.

    Examples
    --------
    >>> confusion([5, 5, 6], [5, 6, 6]).table
    Predicted  5  6
    Actual
    5          1  1
    6          0  1
    >>> confusion([5, 5, 6], [5, 6, 6], event_level="first").by_class["recall"].item()
    0.5
    >>> confusion(["a", "b"], ["a", "a"], freq_weights=[30, 2]).error_rate
    0.0625
    >>> confusion(["a", "b"], ["a", "a"], weights=[0.5, 1.5]).error_rate
    0.75
    """
    pairs = inputs.side_by_side(actual, predicted)
    order = inputs.levels_of(pairs) if levels is None else inputs.checked_levels(levels)
    if not order:
        raise DataError("No row has a label; give labels, or levels= of no rows.")
    choices = inputs.checked_choices(
        order, positive, event_level, prevalence=prevalence, beta=beta, mode=mode
    )
    index = pairs.index
    rows, columns = (inputs.codes_of(pairs[s], order) for s in ("actual", "predicted"))
    every: Positions | slice = slice(None)
    if freq_weights is not None:
        every = repeated(freq_weights, pairs, pairs.index)
    each = None if weights is None else _weights(weights, pairs)[every]
    rows, columns, pairs = rows[every], columns[every], pairs.iloc[every]
    labelled = rows >= 0
    shape = (len(order), len(order) + 1)
    cells = rows[labelled], columns[labelled]  # -1 is the last column
    counts: Counts = np.zeros(shape, dtype=np.int64)
    if each is not None:
        counts = np.zeros(shape)
    np.add.at(counts, cells, 1 if each is None else each[labelled])
    wrong = labelled & (columns >= 0) & (rows != columns)
    scored = None
    if scores is not None or probabilities is not None:
        has_index = any(isinstance(side, pd.Series) for side in (actual, predicted))
        at = (order, len(index), index if has_index else None)
        scored = Scored(
            rows,
            None if scores is None else inputs.checked_scores(scores, *at)[every],
            None
            if probabilities is None
            else inputs.checked_probabilities(probabilities, *at)[every],
            each,
        )
    return ConfusionMatrix(
        levels=tuple(order),
        counts=counts,
        errors=pairs[wrong],
        n_unlabelled=int((~labelled).sum()),
        choices=choices,
        scored=scored,
        source="new" if each is None else "weighted",
    )


def _weights(weights: object, pairs: pd.DataFrame) -> Vector:
    """What each row counts.

    Raises
    ------
    DataError
        If there is not one finite number of 0 or more for each row.
    """
    each = numbers_of_rows("weights", weights, pairs, pairs.index, ALLOWED)
    missing = pairs.index[np.isnan(each)]
    if len(missing):
        raise DataError(f"weights are missing in the rows {listing(missing)}.")
    if (each > np.finfo(float).max / max(1, len(each))).any():
        raise DataError("weights have no finite sum; divide them by the largest.")
    return each
