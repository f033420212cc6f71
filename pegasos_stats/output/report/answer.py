"""The first part of a report: the numbers that are looked for first."""

import math
from collections.abc import Sequence
from typing import Any

from pegasos_stats.errors import counted
from pegasos_stats.output.report.document import (
    Block,
    Notice,
    Paragraph,
    Piece,
    Section,
    Strong,
    Text,
    Tile,
    Tiles,
    prose,
)
from pegasos_stats.output.report.numbers import (
    SMALLEST,
    decimals,
    error_rate,
    largest_class,
    limits,
    number,
    percent,
)
from pegasos_stats.output.report.subject import Judged, Subject

FEW_ROWS = 30


def answer(subject: Subject) -> Section:
    """Error rates, area under the curve, distance from the optimum; warnings."""
    tiles = [*(_error_tile(rows) for rows in reversed(subject.judged))]
    area = subject.held_out.report.overall.get("auc")
    if area is not None:
        note = f"of the {subject.held_out.name} rows: 1 is perfect, 0.5 is guessing"
        tiles.append(Tile("Area under the ROC curve", decimals(area), note))
    tiles.append(_distance_tile(subject.result))
    blocks: list[Block] = [Tiles(tiles), Paragraph(_verdict(subject))]
    blocks += [Notice(text, "warning") for text in warnings_of(subject)]
    return Section("In short", "in-short", blocks)


def _distance_tile(result: Any) -> Tile:
    name, share = "Distance from the optimum", result.relative_gap
    if result.gap == math.inf:
        return Tile(name, "not known", "the numbers are too large for a certificate")
    if share == math.inf:
        return Tile(name, number(result.gap, 3), "at most: certified by duality")
    shown = percent(share) if share >= SMALLEST else "< 0.01%"
    return Tile(name, shown, "of the objective, at most: certified by duality")


def _error_tile(rows: Judged) -> Tile:
    table = rows.table
    note = f"{table.n_errors:,} of {counted(table.n_classified, 'row')}"
    if rows.name == "test" and table.n_classified:
        note += f"; 95% interval {limits(table.error_interval('exact'))}"
    return Tile(f"{rows.name.capitalize()} error", percent(error_rate(table)), note)


def _verdict(subject: Subject) -> Text:
    """The error in words, beside that of always naming one level."""
    table = subject.held_out.table
    level, naive = largest_class(table)
    if not table.n_classified:
        return f"No {subject.held_out.name} row has both a label and a prediction."
    compared = prose(
        " Always answering {}, the more frequent level, would be wrong in {} of them.",
        Strong(str(level)),
        percent(naive),
    )
    own = _of_training_rows(subject) if subject.test is None else _of_test_rows(subject)
    return (*own, *compared)


def _of_test_rows(subject: Subject) -> Sequence[Piece]:
    table = subject.held_out.table
    return prose(
        "{} of {}, which the fit has not seen, {} misclassified: an error rate of {}. "
        "On new rows of this kind it lies between {}, with 95% confidence.",
        f"{table.n_errors:,}",
        counted(table.n_classified, "test row"),
        _was(table.n_errors),
        Strong(percent(error_rate(table))),
        limits(table.error_interval("exact")).replace(" to ", " and "),
    )


def _of_training_rows(subject: Subject) -> Sequence[Piece]:
    table = subject.training.table
    return prose(
        "{} of {} {} misclassified, an error rate of {}. The fit has seen these rows; "
        "on new ones more errors are to be expected, and test data tell how many.",
        f"{table.n_errors:,}",
        counted(table.n_classified, "training row"),
        _was(table.n_errors),
        Strong(percent(error_rate(table))),
    )


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def warnings_of(subject: Subject) -> list[Text]:
    """What a reader should know before trusting the numbers."""
    found: list[Text] = [
        note.sentence for note in subject.result.notes if note.severity == "warning"
    ]
    for rows in subject.judged:
        if rows.n_ties:
            undecided = counted(rows.n_ties, f"{rows.name} row")
            found.append(
                f"{undecided} could not be decided: a score of exactly 0 predicts "
                "neither level. They are in no error rate."
            )
    few = subject.held_out.table.n_classified
    if 0 < few < FEW_ROWS:
        known = counted(few, "row")
        found.append(f"Error rates from {known} are rough: look at the intervals.")
    return found
