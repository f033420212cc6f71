"""Predictions of rows in files, written block by block."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from pegasos_stats.data.row_names import in_a_piece
from pegasos_stats.data.scan.frames import scanned_frames
from pegasos_stats.errors import DataError, FormulaError, LabelError, OptionError
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.results import Results
from pegasos_stats.output.cli import cross_validation, printed
from pegasos_stats.output.cli.input import Rows
from pegasos_stats.output.cli.output_paths import PREDICTIONS
from pegasos_stats.output.cli.process import PROGRAM, no_part_left, write_output
from pegasos_stats.writing import checked_place, outputs


def predicted_files(
    result: Results, rows: Rows, options: argparse.Namespace
) -> printed.Printed:
    """Predict the rows of files with a saved model, and write them as they come."""
    assert rows.scan is not None
    if options.json and options.output is None:
        raise OptionError(
            "--json without --output would hold the predictions of all rows in memory; "
            "give --output too."
        )
    deciding = {"ties": options.ties, "threshold": options.threshold}
    table, notes = _table(result, rows, options, deciding)
    offsets = result.offsets
    also = [] if offsets is None else offsets.columns([*rows.scan.kinds])
    also = also if options.id is None else [*also, options.id]
    n, counts = 0, dict.fromkeys(map(str, result.coding.levels), 0)
    with _written(options) as write:
        for frame in scanned_frames(rows.scan, result.design, also):
            piece = Rows(rows.path, frame=frame).named_by(options.id)
            known = piece.known_to(result.design, options.unseen)
            with in_a_piece():
                predictions = predictions_of(result, known, deciding)
            if options.id is None:  # numbered over all files
                predictions = predictions.set_axis(pd.RangeIndex(n, n + len(frame)))
            write(printed.csv_of(predictions, header=n == 0))
            n += len(frame)
            for level, count in printed.level_counts(result, predictions).items():
                counts[level] += count
            if known.unseen and len(notes) == 0:
                notes = ["levels that the fit did not see have no prediction"]
    found = printed.PrintedPredictions(
        title=f"{PROGRAM}: {options.model} on {options.data}",
        result=result,
        rows=n,
        counts=counts,
        table=table,
        notes=notes,
        written=options.output,
    )
    shown = found.as_json(None) if options.json else found.as_text()
    if options.output is None:
        return printed.Printed("", shown, exact=True)
    return printed.Printed(shown)


def predictions_of(
    result: Results, rows: Rows, deciding: dict[str, Any]
) -> pd.DataFrame:
    """Labels, scores and probabilities; `deciding` are ties and threshold."""
    scores = result.decision_function(rows.X)
    labels = result.predict(rows.X, **deciding)
    frame = pd.DataFrame({"predicted": labels, "score": scores})
    if result.problem.loss == "log":
        found = result.predict_proba(rows.X)
        for level in found.columns:
            frame[f"probability_{level}"] = found[level]
    return frame


@contextmanager
def _written(options: argparse.Namespace) -> Iterator[Callable[[str], object]]:
    """Where texts are written to: standard output, or a file once all are there."""
    if options.output is None:
        yield lambda text: write_output(text, exact=True)
        return
    with no_part_left(), outputs() as files:
        place = checked_place(options.output, PREDICTIONS, options.overwrite)
        handle = files.open(place)
        yield lambda text: handle.write(text.encode())


def _table(
    result: Results, rows: Rows, options: argparse.Namespace, deciding: dict[str, Any]
) -> tuple[ConfusionMatrix | None, list[str]]:
    """The confusion table, for which the rows are read once; or why there is none."""
    if options.unlabelled:
        return None, []
    positive = cross_validation.level_of(result, options.positive)
    choices: dict[str, Any] = {"unseen": options.unseen} | deciding
    if positive is not None:
        choices |= {"positive": positive, "mode": "sens_spec"}
    try:
        found = result.confusion(rows.scan, **choices)
    except LabelError:
        known = ", ".join(map(str, result.coding.levels))
        return None, [
            f"the labels in {rows.path} are not all among the model's levels, {known}: "
            "predictions only"
        ]
    except (DataError, FormulaError):  # of other columns the predictions tell
        return None, ["no labels among the data"]
    return found, []
