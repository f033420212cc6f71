"""The first part of a report: the main numbers, in short, and warnings."""

import math
from collections.abc import Sequence

from pegasos_stats.errors import counted
from pegasos_stats.models.notes.fits import TINY
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report import formatting
from pegasos_stats.output.report.document import Piece, Strong, Text, Tile, prose
from pegasos_stats.output.report.formatting import decimals, number, percent
from pegasos_stats.output.report.origin import Fitted
from pegasos_stats.output.report.subject import Judged, Subject

FEW_ROWS = 30
FEW_OF_A_LEVEL = 20  # 91% with 20 and an area of 0.9, 83% with 5, 74% with 3
SHARED = (
    " Fits of different folds share rows: a standard error is rough, and there is no "
    "exact interval."
)


def answer(subject: Subject) -> doc.Section:
    """Error rates, area under the curve, distance from the minimum; warnings."""
    tiles = [_error_tile(subject, rows) for rows in reversed(subject.judged)]
    overall = subject.held_out.report.overall
    for name, folds in (("auc", ""), ("auc_pooled", ", scores of all folds pooled")):
        if name in overall:
            note = f"of the {subject.held_out.name} rows{folds}: 1 is perfect, 0.5 is "
            area = decimals(overall[name])
            tiles.append(Tile("Area under the ROC curve", area, f"{note}guessing"))
    tiles.append(_distance_tile(subject.result))
    blocks: list[doc.Block] = [doc.Tiles(tiles), doc.Paragraph(_verdict(subject))]
    if subject.deciding is not None:
        told = subject.deciding.told(subject.held_out.name)
        blocks.append(doc.Paragraph(told))
    blocks += [doc.Notice(text, "warning") for text in warnings_of(subject)]
    return doc.Section("In short", "in-short", blocks)


def _distance_tile(result: Fitted) -> Tile:
    name, known = "Distance from the minimum", result.shortfall
    if known.at_most == math.inf:
        return Tile(name, "not known", "the numbers are too large for a certificate")
    if known.at_most < TINY * result.objective:
        return Tile(name, "< 0.01%", "of the objective: certified by duality")
    low, high = number(known.at_least, 3), number(known.at_most, 3)
    where = f"of the objective, {number(result.objective, 3)}: certified by duality"
    shown = high if low == high else f"at most {high}"
    return Tile(name, shown, where)


def _error_tile(subject: Subject, rows: Judged) -> Tile:
    table = rows.table
    note = f"{table.n_errors:,} of {counted(table.n_classified, 'row')}"
    if rows.is_new:
        interval = formatting.limits(table.error_interval("exact"))
        note += f"; 95% interval {interval}"
    elif rows.table.source == "out of fold":
        note += f"; {_spread(subject)}"
    return Tile(f"{rows.name.capitalize()} error", percent(rows.error_rate), note)


def _verdict(subject: Subject) -> Text:
    """The error in words, beside that of always naming one level."""
    table = subject.held_out.table
    level, naive = subject.held_out.largest_class
    if not table.n_classified:
        return f"No {subject.held_out.name} row has both a label and a prediction."
    compared = prose(
        " Always answering {}, the more frequent level, would be wrong in {} of them.",
        Strong(str(level)),
        percent(naive),
    )
    return (*_in_words(subject), *compared)


def _in_words(subject: Subject) -> Sequence[Piece]:
    """The errors of the test rows; without them, of the training rows."""
    rows = subject.held_out
    table = rows.table
    is_tested = rows.is_new or table.source == "partly training"
    numbers: list[Piece] = [
        f"{table.n_errors:,}",
        counted(table.n_classified, "test row" if is_tested else "training row"),
        "was" if table.n_errors == 1 else "were",
        Strong(percent(rows.error_rate)),
    ]
    if subject.validation is not None and rows.name == "out-of-fold":
        how = subject.validation.folds.description
        return prose(
            "{} of {} {} misclassified by fits that had not seen them, an error rate "
            "of {}, {} ({}). " + _honest(subject) + SHARED,
            *numbers,
            _spread(subject),
            how,
        )
    if not rows.is_new:
        return prose(
            "{} of {} {} misclassified, an error rate of {}. The fit has seen {}, so "
            "nothing can be inferred from them: on new ones more errors are to be "
            "expected, and test data or a cross-validation tell how many.",
            *numbers,
            rows.seen,
        )
    return prose(
        "{} of {}, which the fit has not seen, {} misclassified: an error rate of {}. "
        "On new rows of this kind it lies between {}, with 95% confidence, if the test "
        "rows are an independent random sample of them and nothing was chosen by them.",
        *numbers,
        formatting.limits(table.error_interval("exact")).replace(" to ", " and "),
    )


def _spread(subject: Subject) -> str:
    """The standard error of the error out of fold."""
    assert subject.validation is not None
    errors = subject.validation.std_error
    other = subject.deciding is not None  # those of the folds are at the usual one
    if other or subject.weights is not None or "error_rate" not in errors:
        return "whose standard error is not known"
    table, rate = subject.held_out.table, subject.held_out.error_rate
    spread = float(errors["error_rate"])
    chance = math.sqrt(rate * (1.0 - rate) / max(1, table.n_classified))
    if chance > spread:  # stratified folds differ by less than rows do
        return f"standard error {percent(chance)}, that of as many independent rows"
    return f"standard error {percent(spread)}, from the folds"


def _honest(subject: Subject) -> str:
    """Whether the choice of lambda is in the estimate."""
    assert subject.validation is not None
    if subject.validation.choosing is not None:
        return "Lambda was chosen anew in each fold, so that the choice is counted."
    if subject.path is not None:
        return (
            "Lambda was chosen on the same rows, so this is optimistic; with "
            "cross_validate(model, lambda_path=path) the choice is counted."
        )
    return "Lambda was the same in all folds."


def warnings_of(subject: Subject) -> list[Text]:
    """What a reader should know before trusting the numbers."""
    found: list[Text] = [
        subject.said(note)
        for note in subject.result.notes
        if note.severity == "warning"
    ]
    for rows in subject.judged:
        if rows.n_ties:
            undecided = counted(rows.n_ties, f"{rows.name} row")
            at = "of exactly 0" if rows.threshold is None else "at the threshold"
            found.append(
                f"{undecided} could not be decided: a score {at} predicts "
                "neither level. They are in no error rate."
            )
        if tied := rows.n_near_ties(subject.result.problem.loss):
            found.append(
                f"Ties hold {counted(tied, f'{rows.name} row')} at a score of 0: the "
                "rounding of the solver decides which level they are predicted to "
                "have, and with another seed as many errors may be others."
            )
    if subject.deciding is not None and not subject.has_rows:
        found.append(
            "The training rows are not in a saved model: their table is that of the "
            "usual threshold."
        )
    table = subject.held_out.table
    few = table.n_classified
    if 0 < few < FEW_ROWS:
        known = counted(few, "row")
        found.append(f"Error rates from {known} are rough: look at the intervals.")
    rarer = int(table.counts.sum(axis=1).min())
    if subject.held_out.is_new and 0 < rarer < FEW_OF_A_LEVEL:
        found.append(
            f"One level has {counted(rarer, 'test row')}: intervals of the area under "
            "the ROC curve cover less than 95% with fewer than some "
            f"{FEW_OF_A_LEVEL} of each level."
        )
    return found
