"""The first screen of a report: conclusion, errors, strongest predictors, a figure."""

import math

from pegasos_stats.errors import counted
from pegasos_stats.metrics.agreement import mcnemar_exact
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.coefficients import coefficient_figure, strongest
from pegasos_stats.output.report.document import Text, Tile
from pegasos_stats.output.report.formatting import limits, number, percent
from pegasos_stats.output.report.misclassification import confusion_table, roc_figure
from pegasos_stats.output.report.subject import EvaluatedRows, Subject

SMALL = 0.05  # of p-values
FEW_ROWS = 30
FEW_OF_A_LEVEL = 20  # an interval of the AUC covers 91% with 20 rows, 83% with 5
MOST_WARNINGS = 3


def summary(subject: Subject) -> list[doc.Block]:
    """What the fit is worth: in words, as numbers, and as one figure."""
    rows = subject.evaluated[-1]
    sentences = [*conclusion(subject, rows), *_threshold(subject)]
    left = [
        *strongest(subject),
        *([confusion_table(rows)] if rows.table.n_classified else []),
    ]
    figure = roc_figure(subject, rows) or coefficient_figure(subject)
    right = [] if figure is None else [figure]
    return [
        doc.Lead([text for each in sentences for text in (each, " ")][:-1]),
        doc.Tiles(_tiles(subject, rows)),
        doc.Columns([left, right] if left and right else [left or right]),
        *(doc.Notice(text, "warning") for text in warnings_of(subject, rows)),
        *_incomplete(subject),
    ]


def conclusion(subject: Subject, rows: EvaluatedRows) -> list[str]:
    """What the predictions are worth, in sentences."""
    table, result = rows.table, subject.result
    if not table.n_classified:
        return ["No new row has both an outcome and a prediction."]
    naive, share = rows.largest_class
    only, found = _only_prediction(subject.training), []
    if only is not None:
        found = [f"Every row is predicted '{only}'."]
    elif (only := _only_prediction(rows)) is not None:
        found = [f"Every new row is predicted '{only}'."]
    if only == naive and _only_prediction(rows) == naive:
        found.append(f"The error is that of the majority class, {percent(share)}.")
    else:
        found.append(_verdict(rows, naive, share))
    area = _area(rows)
    if result.problem.loss == "hinge" and only is not None:
        log, weights = ("ps.logit", "weights='balanced'")
        if subject.command:
            log, weights = ("--loss log", "--weights balanced")
        found.append(
            f"For probabilities or a ranking use the log loss ({log}); for a balanced "
            f"rule {weights}."
        )
    elif area is not None:
        low, high = result.coding.levels
        still = "As a ranking it" if only is not None else "It"
        found.append(
            f"{still} gives a '{high}' row a larger score than a '{low}' row in "
            f"{percent(area)} of pairs (AUC)."
        )
        if only is not None:
            how = subject.words("predict(threshold=)", "--threshold")
            which, other = ("lower", high) if only == low else ("higher", low)
            found.append(f"A {which} threshold ({how}) predicts rows as '{other}'.")
    if rows.name == "training":
        more = subject.words(
            "report(test, ...) or validation=ps.cross_validate(model)",
            "--test FILE or --cv 10",
        )
        found.append(
            "No new rows were given, and errors on new rows are usually higher; "
            f"{more} estimates them."
        )
    return found


def _verdict(rows: EvaluatedRows, naive: object, share: float) -> str:
    """The error beside that of always predicting the majority."""
    table, name = rows.table, rows.name
    n = f"{table.n_classified:,} {'training ' * (name == 'training')}rows"
    wrong, always = percent(rows.error_rate), f"always predicting '{naive}'"
    if rows.is_new:
        p = _p_value(rows, naive)
        word = "better" if rows.error_rate < share else "worse"
        verdict = f"{word} than" if p < SMALL else "not clearly better than"
        shown = "p < 0.0001" if p < 1e-4 else f"p = {number(p, 2)}"
        return (
            f"On new rows the model is {verdict} {always}: it is wrong in {wrong} of "
            f"{n} instead of {percent(share)} ({shown})."
        )
    start = "In cross-validation the" if name == "out-of-fold" else "The"
    if table.source == "partly training":
        n += f" ({table.n_seen:,} of them training rows)"
    return (
        f"{start} model is wrong in {wrong} of {n}; {always} would be wrong in "
        f"{percent(share)}."
    )


def _p_value(rows: EvaluatedRows, naive: object) -> float:
    """Exact p-value of McNemar's test against always predicting one level.

    The two rules differ in the rows that the model predicts as the other level.
    """
    counts, at = rows.table.counts, rows.table.levels.index(naive)
    return float(mcnemar_exact(int(counts[at, 1 - at]), int(counts[1 - at, 1 - at])))


def _only_prediction(rows: EvaluatedRows) -> object | None:
    """The level that every row is predicted to have, if there is one."""
    predicted = rows.table.counts[:, :2].sum(axis=0)
    if (predicted > 0).sum() != 1:
        return None
    level: object = rows.table.levels[int(predicted.argmax())]
    return level


def _area(rows: EvaluatedRows) -> float | None:
    """Area under the ROC curve; None where it is not defined."""
    overall = rows.report.overall
    area = overall.get("auc", overall.get("auc_pooled", math.nan))
    return None if math.isnan(area) else area


def _tiles(subject: Subject, rows: EvaluatedRows) -> list[Tile]:
    """Error, error of the majority rule, area under the ROC curve."""
    table = rows.table
    if not table.n_classified:
        return []
    names = {
        "test": "Error on new rows" if rows.is_new else "Error on the test rows",
        "out-of-fold": "Cross-validated error",
        "training": "Training error",
    }
    note = f"{table.n_errors:,} of {counted(table.n_classified, 'row')}"
    if rows.is_new:
        note = f"95% interval {limits(table.error_interval('exact'))}"
    elif rows.name == "out-of-fold":
        note = _standard_error(subject, rows)
    level, share = rows.largest_class
    tiles = [
        Tile(names[rows.name], percent(rows.error_rate), note),
        Tile(f"Always '{level}'", percent(share), "error of the majority class"),
    ]
    area = _area(rows)
    if area is not None:
        interval = rows.report.intervals.get("auc")
        note = "0.5 is guessing, 1 is perfect"
        if interval is not None and not math.isnan(interval.low):
            note = f"95% interval {interval.low:.3f} to {interval.high:.3f}"
        tiles.append(Tile("AUC", f"{area:.3f}", note))
    return tiles


def _standard_error(subject: Subject, rows: EvaluatedRows) -> str:
    """The standard error of the cross-validated error, at least that of rows."""
    validation = subject.validation
    assert validation is not None
    folds = validation.folds.description
    spread = float(validation.std_error.get("error_rate", math.nan))
    if subject.threshold is not None or math.isnan(spread):
        return folds
    rate = rows.error_rate
    chance = math.sqrt(rate * (1.0 - rate) / rows.table.n_classified)
    optimistic = subject.path is not None and validation.choosing is None
    more = "; optimistic, as lambda was chosen on these rows" if optimistic else ""
    return f"standard error {percent(max(spread, chance))}, {folds}{more}"


def _threshold(subject: Subject) -> list[str]:
    """The threshold of the labels, where it is not the usual one."""
    value, chosen = subject.threshold, subject.chosen
    if value is None:
        return []
    positive = subject.result.coding.positive
    scale = f"probability of '{positive}'" if subject.is_logistic else "score"
    text = f"Rows with a {scale} above {number(value)} are predicted '{positive}'."
    if chosen is None:
        return [text]
    name = chosen.target.name.replace("_", " ")
    at, usually = chosen.tidy()["estimate"]
    return [
        text,
        f"This threshold was chosen for its {name} ({chosen.folds.description}): "
        f"{number(at, 3)} is expected on new rows, {number(usually, 3)} at the usual "
        "threshold.",
    ]


def warnings_of(subject: Subject, rows: EvaluatedRows) -> list[Text]:
    """What a reader must know before using the numbers; the first three."""
    result, table = subject.result, rows.table
    notes = list(result.notes)
    if isinstance(result, LinearResults):
        notes += result.notes_on_errors()
    found: list[Text] = [
        subject.note_text(note)
        for note in notes
        if note.severity == "warning" and note.topic != "predictions"
    ]
    if rows.n_ties:
        found.append(
            f"{counted(rows.n_ties, 'row')} with a score exactly at the threshold "
            "cannot be predicted; error rates leave them out."
        )
    rarer = int(table.counts[:, :2].sum(axis=1).min())
    if rows.is_new and min(table.n_classified - FEW_ROWS, rarer - FEW_OF_A_LEVEL) < 0:
        found.append(
            f"Only {counted(table.n_classified, 'new row')}, {rarer:,} of the rarer "
            "level: the error rate and the AUC are rough."
        )
    return found[:MOST_WARNINGS]


def _incomplete(subject: Subject) -> list[doc.Block]:
    """That rows with missing values were left out."""
    dropped, nobs = subject.result.dropped.total, subject.result.nobs
    if not dropped:
        return []
    text = (
        f"Only complete rows were used: {dropped:,} of {dropped + nobs:,} training "
        "rows were left out. Results may not carry over if values are missing for a "
        "reason."
    )
    return [doc.Notice(text)]
