"""The printed confusion report, laid out as caret prints it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

import pandas as pd

from pegasos_stats import tables
from pegasos_stats.foreign_names import with_visible_text
from pegasos_stats.metrics.inputs import Mode, printed_terms
from pegasos_stats.metrics.intervals import Interval
from pegasos_stats.tables import Fields

REPORT_DIGITS = 4  # max(3, getOption("digits") - 3) of R
REPORT_WIDTH = 80

Terms = Mapping[str, float]

TITLE = "Confusion Matrix and Statistics"
ORIENTATION = "Rows are the actual labels, columns the predicted ones."
GAP = ("", "")


CARET_NAMES = {  # in caret's order; caret does not name the other statistics
    name: name.replace("_", " ").title()
    for name in (
        *("accuracy", "kappa", "accuracy_low", "accuracy_high"),
        *("no_information_rate", "accuracy_p_value", "mcnemar_p_value"),
        *("sensitivity", "specificity", "pos_pred_value", "neg_pred_value"),
        *("precision", "recall", "f1", "prevalence", "detection_rate"),
        *("detection_prevalence", "balanced_accuracy"),
    )
} | {
    "accuracy_low": "AccuracyLower",
    "accuracy_high": "AccuracyUpper",
    "no_information_rate": "AccuracyNull",
    "accuracy_p_value": "AccuracyPValue",
    "mcnemar_p_value": "McnemarPValue",
}
FURTHER_NAMES = {  # of statistics that caret lacks
    "mcc": "Matthews Correlation",
    "auc": "Area under ROC Curve",
    "auc_pooled": "Area under ROC, Pooled",
    "log_loss": "Log Loss",
    "brier_score": "Brier Score",
}
MACHINE_EPSILON = 2.220446049250313e-16  # .Machine$double.eps


def label_of(name: str) -> str:
    """Return the name of a statistic as caret prints it, or as it is printed here.

    Examples
    --------
    >>> label_of("pos_pred_value"), label_of("f0.5")
    ('Pos Pred Value', 'F0.5')
    """
    return (CARET_NAMES | FURTHER_NAMES).get(name, name.capitalize())


@with_visible_text
@dataclass(frozen=True, repr=False, eq=False)
class ConfusionReport(tables.Displayed):
    """A confusion table with all its statistics: ``print()`` shows text.

    Returned by `ConfusionMatrix.summary`.

    Attributes
    ----------
    table : DataFrame
    sentences : sequence of str
        Lines about misclassified and excluded rows.
    overall : mapping of name to number
    classes : mapping of label to a mapping of name to number
        The positive class or, with more than two levels, every class.
    intervals : mapping of name to Interval
        Intervals of kappa and other statistics, and of the rates of the positive class;
        empty if the rows are not new.
    mode : "sens_spec", "prec_recall" or "everything"
    notes : sequence of str
    """

    table: pd.DataFrame
    sentences: Sequence[str]
    overall: Terms
    classes: Mapping[object, Terms]
    intervals: Mapping[str, Interval]
    mode: Mode
    notes: Sequence[str]

    def as_text(self) -> str:
        """Plain text, 80 characters wide, or as wide as the table."""
        head = [TITLE, "", self.table.to_string(), "", ORIENTATION, *self.sentences]
        return "\n".join([*head, "", *self._statistics()])

    def to_html(self) -> str:
        """HTML tables; with more than two levels the statistics are text."""
        return self._repr_html_()

    def _parts(self) -> Sequence[tables.Part]:
        table = tables.Cells(self.table, over="Predicted", corner="Actual")
        head: list[tables.Part] = [tables.Heading(TITLE), table]
        head.append(tables.Lines(self.sentences))
        if len(self.classes) > 1:
            return [*head, tables.Typewritten(self._statistics())]
        ((positive, terms),) = self.classes.items()
        left = [pair for pair in overall_fields(self.overall) if pair != GAP]
        right = [(f"Statistics of {positive}", ""), *class_fields(terms, self.mode)]
        facts = [tables.Pairs("", left, right), tables.Pairs("", self._further())]
        return [*head, *facts, tables.Lines(self.notes)]

    __str__ = __repr__ = as_text

    def _statistics(self) -> list[str]:
        """Write statistics in caret's layout, then statistics that caret lacks."""
        overall, further = overall_fields(self.overall), self._further()
        if len(self.classes) > 1:
            by_class = class_columns(self.classes, self.mode)
            heads = ("Overall Statistics", "Statistics by Class:")
            lines = [heads[0], "", *colons(overall), "", heads[1], "", *by_class, ""]
            lines += colons(further)
        else:
            ((positive, terms),) = self.classes.items()
            own = [GAP, *class_fields(terms, self.mode), GAP]
            lines = colons([*overall, *own, ("'Positive' Class", str(positive))])
            lines += ["", *colons(further)]
        for note in self.notes:
            lines += ["", *wrap(note, REPORT_WIDTH - 1, subsequent_indent="    ")]
        return lines

    def _further(self) -> list[tuple[str, str]]:
        fields = [
            (label, rounded(self.overall[name]))
            for name, label in FURTHER_NAMES.items()
            if name in self.overall
        ]
        for name in printed_terms(self.intervals, self.mode):
            label = label_of(name)
            fields.append((f"{label} 95% CI", written_interval(self.intervals[name])))
        return fields


def overall_fields(terms: Terms) -> list[tuple[str, str]]:
    """Return names and values of the table's statistics, with caret's blank lines."""
    limits = Interval(terms["accuracy_low"], terms["accuracy_high"])
    p_values = [terms["accuracy_p_value"], terms["mcnemar_p_value"]]
    above, mcnemar = format_pval(p_values, REPORT_DIGITS)
    return [
        ("Accuracy", rounded(terms["accuracy"])),
        ("95% CI", written_interval(limits)),
        ("No Information Rate", rounded(terms["no_information_rate"])),
        ("P-Value [Acc > NIR]", above),
        GAP,
        ("Kappa", rounded(terms["kappa"])),
        GAP,
        ("Mcnemar's Test P-Value", mcnemar),
    ]


def class_fields(terms: Terms, mode: Mode) -> list[tuple[str, str]]:
    """Return names and values of one class, all with the same precision."""
    names = printed_terms(terms, mode)
    values = r_format([terms[name] for name in names], REPORT_DIGITS)
    return [(label_of(n), value) for n, value in zip(names, values, strict=True)]


def class_columns(classes: Mapping[object, Terms], mode: Mode) -> list[str]:
    """Write the statistics of each class in a column, in blocks that fit the width.

    Examples
    --------
    >>> terms = {"sensitivity": 0.95, "specificity": 1.0}
    >>> for line in class_columns({"a": terms, "b": terms}, "sens_spec"):
    ...     print(line)
                Class: a Class: b
    Sensitivity     0.95     0.95
    Specificity     1.00     1.00
    """
    names = printed_terms(next(iter(classes.values())), mode)
    stubs = ["", *map(label_of, names)]
    stub_width = max(map(len, stubs))
    columns = [_column(label, terms, names) for label, terms in classes.items()]
    lines: list[str] = []
    room = 0
    for column in columns:
        room -= len(column[0]) + 1
        if room < 0:
            room = REPORT_WIDTH - stub_width - len(column[0]) - 1
            lines += (block := [stub.ljust(stub_width) for stub in stubs])
            start = len(lines) - len(block)
        for row, cell in enumerate(column):
            lines[start + row] += f" {cell}"
    return lines


def _column(label: object, terms: Terms, names: Sequence[str]) -> list[str]:
    cells = [
        f"Class: {label}",
        *r_format([terms[name] for name in names], REPORT_DIGITS),
    ]
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]


def colons(fields: Fields) -> list[str]:
    """Write names and values, with the colons in one column.

    Examples
    --------
    >>> colons([("Accuracy", "0.9617"), ("", ""), ("Kappa", "0.9233")])
    ['               Accuracy : 0.9617', '', '                  Kappa : 0.9233']
    """
    width = max(map(len, [" Mcnemar's Test P-Value", *(name for name, _ in fields)]))
    return [f"{name.rjust(width)} : {value}" if name else "" for name, value in fields]


def rounded(value: float) -> str:
    """Write a number as R's ``paste(round(x, 4))``."""
    return r_number(r_round(value, REPORT_DIGITS))


def written_interval(interval: Interval) -> str:
    """Write limits as ``(low, high)``."""
    return f"({rounded(interval.low)}, {rounded(interval.high)})"


def r_round(x: float, digits: int) -> float:
    """Round to a number of decimals, as R does since 4.0.

    Return the nearer of the two neighbours with `digits` decimals, compared as
    doubles. A tie goes to the neighbour whose last digit is even.

    Examples
    --------
    >>> r_round(0.15, 1), r_round(2.675, 2), r_round(-0.5, 0)
    (0.1, 2.67, -0.0)
    """
    if not math.isfinite(x):
        return x
    scale = 10.0**digits
    below = math.floor(x * scale)
    low, high = below / scale, math.ceil(x * scale) / scale
    nearer = (high - x) - (x - low)
    nearest = low if nearer > 0 or (nearer == 0 and below % 2 == 0) else high
    return math.copysign(nearest, x)


def r_format(values: Sequence[float], digits: int) -> list[str]:
    """Write numbers to one common precision and width, as ``format(x, digits)``.

    The precision is the smallest that shows at least `digits` significant digits of
    every number, not counting trailing zeros. NaN is written NA.

    Examples
    --------
    >>> r_format([0.95, 0.97333333, 1.0, float("nan")], 4)
    ['0.9500', '0.9733', '1.0000', '    NA']
    >>> r_format([1.25e-12], 4)
    ['1.25e-12']
    """
    finite = [x for x in values if math.isfinite(x)]
    parts = [_significant(x, digits) for x in finite]
    decimals = max((max(0, n - power - 1) for n, power in parts), default=0)
    mantissa = max((n - 1 for n, _ in parts), default=0)
    fixed, scientific = (
        [f"{x:.{places}{style}}" for x in finite]
        for places, style in ((decimals, "f"), (mantissa, "e"))
    )
    shorter = _width(fixed) <= _width(scientific)
    written = iter(fixed if shorter else scientific)
    special = {math.inf: "Inf", -math.inf: "-Inf"}
    texts = [
        next(written) if math.isfinite(x) else special.get(x, "NA") for x in values
    ]
    return [text.rjust(_width(texts)) for text in texts]


def r_number(x: float) -> str:
    """Write one number with up to 15 digits, as ``paste(x)``.

    Examples
    --------
    >>> r_number(0.5), r_number(1.0), r_number(1e-4)
    ('0.5', '1', '1e-04')
    """
    return r_format([x], 15)[0]


def format_pval(values: Sequence[float], digits: int) -> list[str]:
    """Write p-values together, as ``format.pval``.

    Examples
    --------
    >>> format_pval([1e-140, 0.2109], 4), format_pval([0.0, 0.0], 4)
    (['<2e-16', '0.2109'], ['< 2.2e-16', '< 2.2e-16'])
    """
    printed = [p for p in values if p >= MACHINE_EPSILON]
    fixed = [p for p in printed if p >= 1e-4]
    tiny = [p for p in printed if p < 1e-4]
    texts = dict(zip(fixed, r_format(fixed, digits), strict=True))
    texts |= dict(zip(tiny, r_format(tiny, digits), strict=True))
    below = _below(list(texts.values()), max(1, digits - 2))
    return ["NA" if p != p else texts.get(p, below) for p in values]


def _below(texts: Sequence[str], digits: int) -> str:
    """Write ``<2e-16`` for p-values below `MACHINE_EPSILON`, as wide as `texts`."""
    width = _width(texts)
    if texts and digits > 1 and digits + 6 > width:
        digits = max(1, width - 7)
    space = "" if digits == 1 and width <= 6 else " "
    return f"<{space}{r_format([MACHINE_EPSILON], digits)[0]}"


def _significant(x: float, digits: int) -> tuple[int, int]:
    """Significant digits without trailing zeros, and the power of ten."""
    mantissa, power = f"{x:.{digits - 1}e}".split("e")
    return max(1, len(mantissa.strip("-").replace(".", "").rstrip("0"))), int(power)


def _width(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0)
