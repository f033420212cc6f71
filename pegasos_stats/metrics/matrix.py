"""The confusion matrix: counts of labels, with errors, statistics and report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.errors import DataError, UndefinedMetricWarning, warn_caller
from pegasos_stats.foreign_names import missing_key, suggest_names
from pegasos_stats.metrics import agreement, catalogue, rates
from pegasos_stats.metrics import agreement_intervals as limits_of
from pegasos_stats.metrics.caret import ConfusionReport, amount, error_sentences
from pegasos_stats.metrics.catalogue import NO_INFERENCE, Source
from pegasos_stats.metrics.inputs import (
    DEFAULTS,
    Choices,
    Mode,
    check_mode,
    positive_position,
)
from pegasos_stats.metrics.proportions import (
    Interval,
    Method,
    check_interval,
    proportion_interval,
)
from pegasos_stats.metrics.rates import Counts, ratio, total_of, true_negatives
from pegasos_stats.metrics.scores import Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ["term", "class", "estimate", "conf_low", "conf_high", "p_value"]

NAN = float("nan")

Row = tuple[str, object, float]


class Statistics(pd.Series):
    """Statistics by name, which answers for names that it does not have.

    Examples
    --------
    >>> Statistics({"kappa": 0.5})["Kappa"]
    Traceback (most recent call last):
    pegasos_stats.errors.MissingKeyError: 'Kappa' is no statistic here; write 'kappa'.
    """

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            raise missing_key(key, self.index) from None


@suggest_names("confusion")
@dataclass(frozen=True, repr=False, eq=False)
class ConfusionMatrix:
    """A confusion table: counts of actual against predicted labels, and statistics.

    Made by `confusion` or by ``result.confusion(data)``. ``print()`` shows the table
    and the error rate; ``print(matrix.summary())`` the full report in caret's layout.

    Attributes
    ----------
    levels : tuple
        The labels, in the order of the table.
    counts : int64 array, shape (k, k + 1); with weights their sums, float64
        Rows are actual levels, columns predicted levels; the last column counts rows
        without a prediction.
    errors : DataFrame
        The misclassified rows: columns ``actual`` and ``predicted``, on the index of
        the data.
    n_unlabelled : int
        Rows without an actual label, which are not counted.
    choices : Choices
        Options: positive class, prevalence, beta and mode of the report.
    scored : Scored, optional
        Scores and probabilities of the rows.
    source : "new", "training", "partly training", "out of fold" or "weighted"
        Origin of the rows. Intervals, p-values and tests are given only for unweighted
        rows that a single fit has not seen; otherwise they are NaN.
    n_seen : int
        Rows that the fit has seen, where it has seen a part of them.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> matrix = ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", None])
    >>> matrix.table
    Predicted  a  b  NA
    Actual
    a          1  1   0
    b          0  1   1
    >>> matrix.n_errors, matrix.error_rate
    (1, 0.3333333333333333)
    >>> matrix.positive, matrix.by_class["sensitivity"].item()
    ('b', 1.0)
    """

    levels: tuple[object, ...]
    counts: Counts
    errors: pd.DataFrame
    n_unlabelled: int = 0
    choices: Choices = DEFAULTS
    scored: Scored | None = None
    source: Source = "new"
    n_seen: int = 0

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @property
    def table(self) -> pd.DataFrame:
        """Counts with named axes, as R's ``table(Actual = , Predicted = )``.

        All levels are included, also with zero counts. There is a column ``NA`` if some
        rows have no prediction (``<NA>`` if a level is called NA).
        """
        width = len(self.levels) + (self.n_undecided > 0)
        missing = "<NA>" if "NA" in self.levels else "NA"
        columns = [*self.levels, missing][:width]
        return pd.DataFrame(
            self.counts[:, :width],
            index=pd.Index(self.levels, name="Actual"),
            columns=pd.Index(columns, name="Predicted"),
        )

    @property
    def positive(self) -> object:
        """Positive class: the second level by default, None with more than two."""
        if len(self.levels) > 2:
            return None
        return self.levels[positive_position(self.levels, self.choices.positive)]

    @property
    def n_undecided(self) -> int:
        """Number of rows without a prediction: score exactly 0, or missing values."""
        return total_of(self.counts[:, -1])

    @property
    def n_classified(self) -> int:
        """Number of rows with an actual and a predicted label."""
        return total_of(self._square)

    @property
    def n_errors(self) -> int:
        """Number of rows whose predicted label is not the actual one."""
        return total_of(self._square[~np.eye(len(self.levels), dtype=bool)])

    @property
    def error_rate(self) -> float:
        """Errors divided by classified rows; NaN, with a warning, if there are none."""
        if not self.n_classified:
            text = f"The error rate is not defined: {catalogue.NO_ROWS}."
            warn_caller(text, UndefinedMetricWarning)
            return float("nan")
        return self.n_errors / self.n_classified

    @cached_property
    def overall(self) -> "pd.Series[float]":
        """Statistics of the whole table, from rows with actual and predicted labels.

        ``accuracy`` with its exact 95% interval, ``no_information_rate`` (the share of
        the largest actual class) and the p-value of the test that the accuracy is no
        larger, ``kappa``, ``mcnemar_p_value`` (Bowker's test with more than two levels)
        and ``mcc``; with scores ``auc`` (``auc_pooled`` for out-of-fold scores, which
        come from several fits), with probabilities ``log_loss`` and ``brier_score``.
        Undefined statistics are NaN, and a warning gives the reason.
        """
        catalogue.warn_undefined(self._overall_reasons())
        return Statistics(self._overall, name="overall", dtype=float)

    @cached_property
    def by_class(self) -> "pd.Series[float] | pd.DataFrame":
        """Statistics of the positive class; with more than two levels, a row per level.

        Each class is compared with all others. Predictive values are computed as in
        caret, by Bayes' rule from the prevalence. The F measure is named after its
        beta, as ``f1``, and is 0 if no row of the class was predicted correctly (NA in
        caret). Undefined statistics are NaN, and a warning gives the reason.
        """
        found = self._with_zeros
        reasons = catalogue.reasons_by_class(found, self._square, self._positions())
        catalogue.warn_undefined(reasons)
        if len(self.levels) > 2:
            return pd.DataFrame(found).T.rename_axis("class")
        return Statistics(found[self.positive], name=self.positive, dtype=float)

    def __getitem__(self, key: str) -> float:
        """A statistic of `overall`, else of `by_class`."""
        found = dict(self.overall)
        if len(self.levels) == 2:
            found |= dict(self.by_class)
        if key not in found:
            raise missing_key(key, found)
        return found[key]

    __iter__: ClassVar[None] = None  # it is no sequence

    def error_interval(self, method: Method = "exact", level: float = 0.95) -> Interval:
        """Confidence interval of the error rate.

        Parameters
        ----------
        method : "exact" or "wilson"
            ``"exact"`` is Clopper and Pearson's interval, as in R's ``binom.test``;
            ``"wilson"`` is Wilson's score interval, as in R's ``prop.test`` without
            continuity correction.
        level : float, default 0.95

        Returns
        -------
        Interval
            ``(low, high)``; NaN if no row was classified and, with a warning, for rows
            that are not new.

        Raises
        ------
        OptionError
            If the method is unknown or the level is not between 0 and 1.

        References
        ----------
        Clopper & Pearson, Biometrika 26 (1934); Wilson, JASA 22 (1927).

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> ps.confusion(["a"] * 9 + ["b"], ["a"] * 10).error_interval("wilson")
        Interval(low=0.0178..., high=0.4041...)
        """
        found = proportion_interval(self.n_errors, self.n_classified, method, level)
        if self.source not in NO_INFERENCE:
            return found
        why = catalogue.no_inference(self.source, self.n_seen, self.n_classified)
        catalogue.warn_undefined({"the interval": why})
        return limits_of.NONE

    def conf_int(self, method: Method = "exact", level: float = 0.95) -> pd.DataFrame:
        """Confidence intervals of rates, kappa, Matthews' correlation and AUC.

        Parameters
        ----------
        method, level
            Method and level for rates, as for `error_interval`. Intervals of kappa and
            Matthews' correlation use Fisher's transformation, that of balanced accuracy
            Wilson's limits, and that of the area under the ROC curve DeLong's variance
            on the logit scale.

        Returns
        -------
        DataFrame
            Columns ``term, class, estimate, conf_low, conf_high``; NaN without rows,
            for a variance of 0, and for rows that are not new.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> matrix = ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"])
        >>> matrix.conf_int().round(3).loc[[0, 4], :]
                  term class  estimate  conf_low  conf_high
        0   error_rate  None      0.25     0.006      0.806
        4  sensitivity     b      1.00     0.158      1.000
        """
        at = self._positions()
        shares = self.choices.prevalence or [None] * len(at)
        scored = None if self.source == "out of fold" else self.scored
        found = estimated(self._square, at, shares, scored, method, level)
        if self.source in NO_INFERENCE:
            found[["conf_low", "conf_high"]] = np.nan
        return found

    def tidy(self, method: Method = "exact", level: float = 0.95) -> pd.DataFrame:
        """All statistics, one per row, with the columns of broom's ``tidy``.

        Parameters
        ----------
        method, level
            For the intervals, as for `error_interval`.

        Returns
        -------
        DataFrame
            Columns ``term, class, estimate, conf_low, conf_high, p_value``. The p-value
            of the accuracy is for the test against the no-information rate.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> found = ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"]).tidy()
        >>> found["p_value"].dropna().tolist()
        [0.3125, 1.0]
        """
        intervals = self.conf_int(method, level)
        catalogue.warn_undefined(self._reasons(self._with_zeros))
        return tidy_terms(self._overall, self._with_zeros, intervals)

    def summary(self, mode: Mode | None = None) -> ConfusionReport:
        """Full report in the layout of caret.

        Parameters
        ----------
        mode : "sens_spec", "prec_recall" or "everything", optional
            Which statistics of a class are printed, as in caret. By default the mode
            given to `confusion`, else ``"sens_spec"``.

        Returns
        -------
        ConfusionReport
            ``print()`` shows text, a notebook HTML. Notes name the undefined
            statistics.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> print(ps.confusion(["a", "a", "b"], ["a", "b", "b"]).summary())
        Confusion Matrix and Statistics
        ...
                      Kappa : 0.4
        ...
           'Positive' Class : b
        ...
        """
        if mode is not None:
            check_mode(mode)
        reasons = self._reasons(self._classes)
        notes = [f"NA: {catalogue.written_reasons(reasons)}."] if reasons else []
        limits = self._limits()
        notes += catalogue.without_interval(self._overall, limits)
        if reasons != self._reasons(self._with_zeros):
            notes.append("An F measure without a hit is NA in caret and 0 in by_class.")
        return ConfusionReport(
            self.table,
            self._sentences(),
            self._overall,
            self._classes,
            limits,
            mode or self.choices.mode or "sens_spec",
            notes,
        )

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the table as tiles with counts and their shares of the actual level.

        Darker tiles have a larger share of their actual level, so rare levels are as
        visible as frequent ones. Shares include rows without a prediction, in grey.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError, DependencyError
            If there is no row to draw, or matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.tiles import draw_confusion

        if not self.counts.any():
            raise DataError(
                "The table is empty: no row has an actual label; give data with labels."
            )
        rate = f" ({self.n_errors / n:.1%})" if (n := self.n_classified) else ""
        undecided = self.n_undecided
        without = f"\n{amount(undecided)} without prediction" if undecided else ""
        title = f"{amount(self.n_errors)} of {amount(n)} misclassified{rate}{without}"
        return draw_confusion(self.table, title, ax)

    def __str__(self) -> str:
        if self.choices.mode is not None:
            return str(self.summary())
        return "\n".join([self.table.to_string(), "", *self._sentences()])

    __repr__ = __str__

    def to_html(self) -> str:
        """The table in HTML, errors and rows left out below it."""
        table = tables.params_html(self.table, over="Predicted", corner="Actual")
        return f"{table}\n{tables.lines_html(self._sentences())}"

    def to_latex(self, caption: str = "", label: str = "") -> str:
        """The table in LaTeX for the package booktabs, with notes.

        Parameters
        ----------
        caption, label : str, optional
            With one of these the table is a ``table``; else a tabular.
        """
        table = tables.params_latex(self.table, over="Predicted", corner="Actual")
        notes = self._sentences()
        if caption or label:
            return tables.floating_latex(table, caption, label, notes)
        return "\n\n".join([table, *map(tables.latex, notes)])

    def to_markdown(self) -> str:
        """The table for Markdown, with notes."""
        table = tables.params_markdown(self.table, "Actual, predicted")
        return "\n\n".join([table, *map(tables.markdown, self._sentences())])

    def _repr_html_(self) -> str:
        return (self if self.choices.mode is None else self.summary()).to_html()

    @property
    def _square(self) -> Counts:
        """The counts of rows with both labels."""
        return self.counts[:, :-1]

    @cached_property
    def _overall(self) -> dict[str, float]:
        pooled = self.source == "out of fold"
        found = catalogue.overall_terms(self._square, self.source)
        return found if self.scored is None else found | self.scored.terms(pooled)

    def _limits(self) -> dict[str, Interval]:
        """Intervals of 95% by name, of new rows: the table's, and of two levels."""
        if self.source in NO_INFERENCE:
            return {}
        table = with_recall(self.conf_int().iloc[2:])  # those of errors are sentences
        if len(self.levels) > 2:
            table = table[table["class"].isna()]
        limits = table[["conf_low", "conf_high"]].to_numpy()
        return dict(zip(table["term"], map(Interval._make, limits), strict=True))

    def _positions(self) -> dict[object, int]:
        """Classes that have statistics, with their positions among the levels."""
        labels = self.levels if len(self.levels) > 2 else (self.positive,)
        return {label: self.levels.index(label) for label in labels}

    @cached_property
    def _classes(self) -> dict[object, dict[str, float]]:
        at = self._positions()
        counts, beta = self._square, self.choices.beta
        shares = self.choices.prevalence or [None] * len(at)
        return {
            label: catalogue.class_terms(counts, at[label], share, beta)
            for label, share in zip(at, shares, strict=True)
        }

    @property
    def _with_zeros(self) -> dict[object, dict[str, float]]:
        """Statistics of the classes with F measures of 0, which caret leaves open."""
        return {
            label: catalogue.with_zero_f(self._classes[label], self._square, at)
            for label, at in self._positions().items()
        }

    def _overall_reasons(self) -> dict[str, str]:
        return catalogue.overall_reasons(self._overall, self._square, self.source)

    def _reasons(self, terms: dict[object, dict[str, float]]) -> dict[str, str]:
        """Why statistics are not defined: those of the table, then of the classes."""
        return self._overall_reasons() | catalogue.reasons_by_class(
            terms, self._square, self._positions()
        )

    def _sentences(self) -> list[str]:
        lines = error_sentences(
            self.n_errors,
            self.n_classified,
            self.n_undecided,
            self.n_unlabelled,
            self.source,
            self.n_seen,
        )
        if self.n_unlabelled and not self.n_undecided:  # as if their order were caret's
            lines[-1] += "; actual labels come first"
        return lines


def rate_counts(counts: Counts, positive: int) -> dict[str, tuple[int, int]]:
    """Count the rows of sensitivity and specificity: those predicted right, and all.

    Examples
    --------
    >>> import numpy as np
    >>> rate_counts(np.array([[285, 15], [8, 292]]), 0)
    {'sensitivity': (285, 300), 'specificity': (292, 300)}
    """
    hits, own = counts[positive, positive].item(), counts[positive].sum().item()
    return {
        "sensitivity": (hits, own),
        "specificity": true_negatives(counts, positive),
    }


def class_intervals(
    counts: Counts,
    positive: int,
    share: float | None = None,
    method: Method = "exact",
    level: float = 0.95,
) -> dict[str, Interval]:
    """Intervals of the rates of one class, by name.

    Examples
    --------
    >>> import numpy as np
    >>> found = class_intervals(np.array([[285, 15], [8, 292]]), 0)
    >>> found["sensitivity"]
    Interval(low=0.918..., high=0.971...)
    """
    at = counts, positive
    how = method, level
    found = {
        name: proportion_interval(*pair, *how)
        for name, pair in rate_counts(*at).items()
    }
    return found | {
        "pos_pred_value": limits_of.predictive_interval(*at, share, *how),
        "neg_pred_value": limits_of.negative_predictive_interval(*at, share, *how),
        "precision": limits_of.predictive_interval(*at, None, *how),
        "balanced_accuracy": limits_of.balanced_accuracy_interval(*at, level),
    }


def estimated(
    counts: Counts,
    positions: Mapping[object, int],
    shares: Sequence[float | None],
    scored: Scored | None,
    method: Method,
    level: float,
) -> pd.DataFrame:
    """Return the statistics that have an interval, with it; the table's come first.

    With scores the area under the ROC curve is among them.
    """
    check_interval(method, level)
    right, n = counts.trace().item(), counts.sum().item()
    rows: list[tuple[object, ...]] = [
        (name, None, ratio(k, n), *proportion_interval(k, n, method, level))
        for name, k in (("error_rate", n - right), ("accuracy", right))
    ]
    kappa, mcc = agreement.kappa(counts), agreement.matthews_correlation(counts)
    rows += [
        ("kappa", None, kappa, *limits_of.kappa_interval(counts, level)),
        ("mcc", None, mcc, *limits_of.matthews_interval(counts, level)),
    ]
    if scored is not None and scored.scores is not None:
        area = scored.terms()["auc"]
        rows.append(("auc", None, area, *scored.area_limits(level)))
    for (label, at), share in zip(positions.items(), shares, strict=True):
        found = class_intervals(counts, at, share, method, level)
        values = {
            **{name: ratio(*pair) for name, pair in rate_counts(counts, at).items()},
            "pos_pred_value": rates.pos_pred_value(counts, at, share),
            "neg_pred_value": rates.neg_pred_value(counts, at, share),
            "precision": rates.precision(counts, at),
            "balanced_accuracy": rates.balanced_accuracy(counts, at),
        }
        rows += [
            (name, label, value, *(found[name] if value == value else limits_of.NONE))
            for name, value in values.items()
        ]
    return _frame(rows, COLUMNS[:-1])


def with_recall(intervals: pd.DataFrame) -> pd.DataFrame:
    """The same with rows of recall, which is sensitivity by another name."""
    same = intervals[intervals["term"] == "sensitivity"].assign(term="recall")
    return pd.concat([intervals, same])


def tidy_terms(
    overall: Mapping[str, float],
    classes: Mapping[object, Mapping[str, float]],
    intervals: pd.DataFrame,
) -> pd.DataFrame:
    """Return all statistics as rows: the table's, then those of the classes."""
    names = next(iter(classes.values()))
    by_class = [
        (name, label, terms[name]) for name in names for label, terms in classes.items()
    ]
    error = intervals["estimate"].iloc[0]
    rows = [*_overall_rows(overall, error), *by_class]
    frame = _frame(rows, COLUMNS[:3])
    limits = with_recall(intervals).drop(columns="estimate")
    tidied = frame.merge(limits, how="left", on=COLUMNS[:2])
    p_values = {
        "accuracy": overall["accuracy_p_value"],
        "mcnemar": overall["mcnemar_p_value"],
    }
    return tidied.assign(p_value=tidied["term"].map(p_values))


def _overall_rows(overall: Mapping[str, float], error_rate: float) -> list[Row]:
    """Return broom's three rows, then the other statistics of the table."""
    rows: list[Row] = [
        ("accuracy", None, overall["accuracy"]),
        ("kappa", None, overall["kappa"]),
        ("mcnemar", None, NAN),
        ("error_rate", None, error_rate),
    ]
    further = (
        *("no_information_rate", "mcc", "auc", "auc_pooled"),
        *("log_loss", "brier_score"),
    )
    return rows + [(name, None, overall[name]) for name in further if name in overall]


def _frame(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a frame in which labels keep their types beside missing ones."""
    sides = dict(zip(columns, zip(*rows, strict=True), strict=True))
    labels = pd.Series(list(sides["class"]), dtype=object)
    return pd.DataFrame(sides | {"class": labels})
