"""Confusion tables by calibrated probabilities: of new rows, and out of fold."""

from dataclasses import replace
from typing import TYPE_CHECKING

from pegasos_stats.checks import check_rows_have_own
from pegasos_stats.data.counts import column_of_counts
from pegasos_stats.metrics.catalogue import Source
from pegasos_stats.metrics.confusion import confusion
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.models.predicting import probability_of

if TYPE_CHECKING:
    from pegasos_stats.studies.calibrated_results import CalibratedResults


def calibrated_table(
    found: "CalibratedResults",
    data: object,
    actual: object,
    threshold: float,
    positive: object,
    freq_weights: object,
    offset: object,
) -> ConfusionMatrix:
    """Table of actual against predicted labels, see ``CalibratedResults.confusion``.

    Raises
    ------
    OptionError
        If `threshold` is no probability, or something is given of rows that are not.
    """
    result, counts = found.result, None
    labels: object
    source: Source = "out of fold"
    if data is None:
        check_rows_have_own(actual=actual, freq_weights=freq_weights, offset=offset)
        chances, labels = found.probabilities, found.validation.actual
        cut = probability_of(threshold)
        predicted = result.coding.predicted(chances.iloc[:, 1], "na", cut)
    else:
        chances = found.predict_proba(data, offset=offset)
        predicted = found.predict(data, threshold=threshold, offset=offset)
        labels = result._rows.labels(data) if actual is None else actual
        counts = column_of_counts(freq_weights, result.counted, data)
        matrix = result._rows.matrix(data, offset=offset)
        source = "training" if result._rows.are(matrix, labels, counts) else "new"
    table = confusion(
        labels,
        predicted,
        positive,
        levels=result.coding.levels,
        scores=chances.iloc[:, 1],
        probabilities=chances,
        freq_weights=counts,
    )
    return replace(table, source=source)
