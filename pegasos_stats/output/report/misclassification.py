"""The errors of a fit: tables, statistics, misclassified rows, figures."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.metrics import Interval, area_under_curve
from pegasos_stats.metrics.catalogue import (
    class_reasons,
    label_of,
    overall_reasons,
    with_zero_f,
    written_reasons,
)
from pegasos_stats.models.predicting import score_at
from pegasos_stats.output.plotting.margins import draw_margins
from pegasos_stats.output.plotting.roc import at_threshold, draw_roc
from pegasos_stats.output.plotting.style import Axes
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.document import Text
from pegasos_stats.output.report.drawing import picture
from pegasos_stats.output.report.formatting import NBSP, aligned, decimals, p_value
from pegasos_stats.output.report.subject import EvaluatedRows, Subject, misclassified
from pegasos_stats.studies.reliability import Reliability, reliability

SQUARE = 4.2, 4.2  # height and width of the ROC curve, in inches
MOST_ROWS = 10  # of misclassified rows
P_VALUES = {"accuracy_p_value", "mcnemar_p_value"}
OVERALL = {
    "no_information_rate": "No-information rate",
    "accuracy_p_value": "P-value [accuracy > no-information rate]",
    "kappa": "Kappa",
    "mcnemar_p_value": "McNemar's test, p-value",
    "mcc": "Matthews correlation",
    "auc": "Area under the ROC curve",
    "auc_pooled": "Area under the ROC curve, scores of all folds pooled",
    "log_loss": "Log loss",
    "brier_score": "Brier score",
}
CLASS_NAMES = {
    "detection_rate": "Detection rate",
    "detection_prevalence": "Detection prevalence",
    "balanced_accuracy": "Balanced accuracy",
    "pos_pred_value": "Positive predictive value",
    "neg_pred_value": "Negative predictive value",
}


def statistics(subject: Subject) -> doc.Section:
    """Confusion tables, all statistics, calibration and margins."""
    sets, rows = subject.evaluated, subject.evaluated[-1]
    blocks: list[doc.Block] = [
        doc.Beside([confusion_table(each) for each in sets]),
        _statistics(subject),
    ]
    if rows.is_new:
        blocks.append(doc.Paragraph(_assumption(subject)))
    for each in sets:
        reasons = {_label(name): why for name, why in undefined_terms(each).items()}
        if reasons:
            named = written_reasons(reasons)
            blocks.append(doc.Paragraph(f"NA in the {each.name} data: {named}."))
    blocks += _calibration(subject)
    if pictures := _pictures(subject):
        blocks.append(doc.Beside(pictures))
    return doc.Section("All statistics", "statistics", blocks)


def _assumption(subject: Subject) -> str:
    """What intervals and tests of the new rows assume."""
    text = (
        "Intervals and tests assume that the test rows are an independent random "
        "sample and had no part in choosing the model."
    )
    if getattr(subject.result, "groups", None) is not None:
        text += (
            " They do not allow for groups: with several test rows of a group the "
            "intervals are too short."
        )
    return text


def confusion_table(rows: EvaluatedRows) -> doc.Table:
    """The confusion table: rows actual, columns predicted."""
    table = rows.table.table
    columns: list[Text] = ["Actual", *(f"Predicted {c}" for c in table.columns)]
    if rows.table.n_undecided:
        columns[-1] = "No prediction"
    lines: list[list[Text]] = [
        [str(level), *(f"{int(count):,}" for count in counts)]
        for level, counts in zip(table.index, table.to_numpy(), strict=True)
    ]
    known = counted(rows.table.n_classified, "row")
    name = rows.name.capitalize()
    caption = f"{name} data: {rows.table.n_errors:,} of {known} misclassified"
    return doc.Table(columns, lines, caption)


def _statistics(subject: Subject) -> doc.Table:
    """Every statistic of the tables, a column for each data set."""
    names = [_terms(rows) for rows in subject.evaluated]
    every = dict.fromkeys(name for terms in names for name in terms)
    lines: list[list[Text]] = [
        [name, *(terms.get(name, "") for terms in names)] for name in every
    ]
    caption = f"Sensitivity, precision and similar refer to '{subject.positive}'."
    if any(rows.is_new for rows in subject.evaluated):
        caption += " 95% intervals in brackets, for new rows only."
    columns = ["Statistic", *(rows.name.capitalize() for rows in subject.evaluated)]
    return doc.Table(columns, lines, caption)


def _terms(rows: EvaluatedRows) -> dict[str, str]:
    """Names and values of all statistics of a table."""
    report = rows.report
    overall = report.overall
    ((level, of_class),) = report.classes.items()
    counts, at = rows.table.counts[:, :-1], rows.table.levels.index(level)
    with_zeros = with_zero_f(of_class, counts, at)
    accuracy = Interval(overall["accuracy_low"], overall["accuracy_high"])
    error = Interval(1.0 - accuracy.high, 1.0 - accuracy.low)
    found = {
        "Error rate": _with(rows.error_rate, error),
        "Accuracy": _with(overall["accuracy"], accuracy),
    }
    for name, label in OVERALL.items():
        if name in P_VALUES and name in overall:
            found[label] = p_value(overall[name]) if rows.is_new else ""
        elif name in overall:
            found[label] = _with(overall[name], report.intervals.get(name))
    for name, value in with_zeros.items():
        label = _label(name)
        if name != "balanced_accuracy":
            label += f" ({level})"
        found[label] = _with(value, report.intervals.get(name))
    return found


def _label(name: str) -> str:
    """Name of a statistic in words."""
    return OVERALL.get(name) or CLASS_NAMES.get(name) or label_of(name)


def _with(value: float, interval: Interval | None) -> str:
    """A share, with its interval where there is one."""
    if interval is None or math.isnan(interval.low):
        return decimals(value)
    low, high = decimals(interval.low), decimals(interval.high)
    return f"{decimals(value)} [{low},{NBSP}{high}]"


def undefined_terms(rows: EvaluatedRows) -> dict[str, str]:
    """Statistics that are not defined, with the reason."""
    counts, levels = rows.table.counts[:, :-1], rows.table.levels
    reasons = overall_reasons(rows.report.overall, counts, rows.table.source)
    for level, terms in rows.report.classes.items():
        at = levels.index(level)
        reasons |= class_reasons(with_zero_f(terms, counts, at), counts, at, level)
    return reasons


def _pictures(subject: Subject) -> list[doc.Picture]:
    """Margins and ROC curve of the rows that errors are quoted for."""
    rows, scored = subject.evaluated[-1], subject.evaluated[-1].table.scored
    if scored is None or scored.scores is None or not rows.table.n_classified:
        return []
    name, levels = rows.name, subject.result.coding.levels
    codes, scores, logistic = scored.codes, scored.scores, subject.is_logistic
    found, threshold = [], rows.threshold
    cut = 0.0 if threshold is None else score_at(threshold, subject.result.problem)
    if math.isfinite(cut):
        moved = threshold is not None
        found.append(
            picture(
                lambda ax: draw_margins(
                    codes, scores - cut, levels, ax, {}, logistic=logistic, moved=moved
                ),
                f"Histogram of the margins of the {name} rows of both levels",
                f"Margins of the {name} rows: below 0 a row is on the wrong side"
                f"{' of the threshold' * moved}.",
            )
        )
    if _is_calibrated(rows):
        alt = f"Observed shares of the {name} rows against their probabilities"
        caption = (
            f"Calibration: observed shares of the {name} rows against mean "
            "probabilities; on the dashed line both are the same."
        )
        found.append(
            picture(lambda ax: _reliability(subject).plot(ax=ax), alt, caption)
        )
    return found


def roc_figure(subject: Subject, rows: EvaluatedRows) -> doc.Picture | None:
    """The ROC curve of some rows; None where it is not defined."""
    scored = rows.table.scored
    if scored is None or scored.scores is None or not rows.table.n_classified:
        return None
    used = (scored.codes >= 0) & ~np.isnan(scored.scores)
    area = area_under_curve(scored.codes[used], scored.scores[used])
    if math.isnan(area):
        return None
    alt = f"ROC curve of the {rows.name} rows, area {decimals(area)}"
    return picture(
        lambda ax: _roc(subject, ax), alt, f"ROC curve, {rows.name} rows.", *SQUARE
    )


def _roc(subject: Subject, ax: Axes) -> None:
    """The ROC curve with the positive class of the page."""
    rows, result = subject.evaluated[-1], subject.result
    scored, levels = rows.table.scored, list(result.coding.levels)
    assert scored is not None
    assert scored.scores is not None
    codes, ties = scored.codes, result.solver.ties
    scores, cut, mark = at_threshold(scored.scores, result.problem, rows.threshold)
    if subject.positive == levels[0]:
        codes, scores, cut = np.where(codes < 0, -1, 1 - codes), -scores, -cut
        levels = levels[::-1]
        # At the threshold the level is now the positive one that was the negative one.
        ties = "positive" if ties == "negative" else "negative"
    source = rows.table.source
    draw_roc(
        codes,
        scores,
        levels,
        ax,
        {},
        ties=ties,
        source=source,
        threshold=cut,
        mark=mark,
    )


def _is_calibrated(rows: EvaluatedRows) -> bool:
    """Whether there are probabilities that the rows can be compared with."""
    scored = rows.table.scored
    known = scored is not None and scored.probabilities is not None
    return known and rows.name != "training" and rows.table.n_classified > 0


def _reliability(subject: Subject) -> Reliability:
    """Probabilities of the positive class beside observed shares."""
    scored, levels = subject.evaluated[-1].table.scored, subject.result.coding.levels
    assert scored is not None
    known = scored.codes >= 0
    actual = np.array(levels, dtype=object)[scored.codes[known]]
    frame = pd.DataFrame(scored.probabilities, columns=list(levels))[known]
    return reliability(actual, frame, positive=subject.positive)


def _calibration(subject: Subject) -> list[doc.Block]:
    """Whether probabilities are near what happened."""
    rows = subject.evaluated[-1]
    if not (subject.is_logistic and _is_calibrated(rows)):
        return []
    found = _reliability(subject)
    table = found.table[found.table["n"] > 0]
    mean, share = (
        float((table[name] * table["n"]).sum() / table["n"].sum())
        for name in ("mean_predicted", "observed")
    )
    text = (
        f"The mean probability of '{subject.positive}' is {decimals(mean)}, and "
        f"{decimals(share)} of the {rows.name} rows are '{subject.positive}'. The "
        f"calibration error is {decimals(found.calibration_error)}; perfect "
        f"probabilities would give {decimals(found.error_by_chance)} by chance."
    )
    if subject.result.problem.prior_shift:
        text += " Weights of the levels are taken out of the probabilities."
    elif subject.weights is not None:
        text += " Probabilities are for rows that count by their weights."
    return [doc.Paragraph(text)]


def misclassified_rows(subject: Subject) -> doc.Section:
    """The misclassified rows, the worst first: ten here, all in a CSV file."""
    title, anchor, rows = "Misclassified rows", "misclassified", subject.evaluated[-1]
    if rows.scores is None:
        text = "The training rows are not in a saved model."
        return doc.Section(title, anchor, [doc.Paragraph(text)])
    found = misclassified(subject.result, rows)
    shown = found.head(MOST_ROWS)
    columns: list[Text] = ["Row", "Actual", "Predicted", "Score"]
    cells: list[Iterable[str]] = [
        shown["row"],
        map(str, shown["actual"]),
        map(str, shown["predicted"]),
        aligned(shown["score"]),
    ]
    if "probability" in shown:
        columns.append("Probability of the actual level")
        cells.append(f"{p:.3f}" for p in shown["probability"])
    lines = list(zip(*cells, strict=True))
    caption = f"The {counted(len(shown), 'row')} farthest on the wrong side"
    if isinstance(rows.scores.index, pd.RangeIndex):
        caption += ", counted from 0"
    text = f"All {len(found):,} misclassified {rows.name} rows:"
    csv = found.to_csv(index=False, lineterminator="\n")
    table = [doc.Table(columns, lines, caption, words=(1, 2))] if lines else []
    return doc.Section(title, anchor, [*table, doc.CsvFile(csv, text)])
