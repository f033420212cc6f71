"""Confusion tables: `confusion` for one classifier, `compare_predictions` for two."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Axes, Codes, Matrix, Vector
from pegasos_stats.checks import check_choice, check_fraction
from pegasos_stats.data.sample import Positions, numbers_of_rows, repeated
from pegasos_stats.data.user_data import check_memory
from pegasos_stats.errors import (
    DataError,
    OptionError,
    UndefinedMetricWarning,
    counted,
    listing,
    warn_caller,
)
from pegasos_stats.foreign_names import missing_key, suggest_arguments, suggest_names
from pegasos_stats.metrics import inputs, intervals, rates
from pegasos_stats.metrics.caret import (
    ConfusionReport,
    format_pval,
    label_of,
    r_format,
)
from pegasos_stats.metrics.inputs import DEFAULTS, MODES, Choices, Mode, printed_terms
from pegasos_stats.metrics.intervals import (
    NONE,
    Interval,
    Method,
    clustered_intervals,
    clustered_rate_interval,
    proportion_interval,
    rate_counts,
)
from pegasos_stats.metrics.rates import Counts, ratio, total_of, warn_undefined
from pegasos_stats.metrics.scores import (
    SCORES_AT_ONCE,
    PairCounts,
    area_under_curve,
    brier_score,
    counts_of_pairs,
    log_loss,
)

COLUMNS = ["term", "class", "estimate", "conf_low", "conf_high", "p_value"]
TERMS = (  # of the whole table, after accuracy, kappa, McNemar's test and error rate
    *("no_information_rate", "mcc", "auc", "auc_pooled"),
    *("log_loss", "brier_score"),
)

Source = Literal["new", "training", "partly training", "out of fold", "weighted"]

# Reasons for the absence of inference, by the source of the rows.
NO_INFERENCE: dict[Source, str] = {
    "training": "these are training rows of the fit",
    "partly training": "{:,} of these rows ({:.3g}%) are training rows of the fit",
    "out of fold": "rows that share a fit are not independent",
    "weighted": "weights are not numbers of rows",
}
INFERRED = ("accuracy_low", "accuracy_high", "accuracy_p_value", "mcnemar_p_value")


MOST_ERRORS = 100_000  # misclassified rows listed by a table of several blocks
NO_ROWS = "no row has both an actual and a predicted label"
NO_DIVISOR = "the denominator is 0"
ALLOWED = "one number for each row"
SIDES = ("right", "wrong")


def overall_terms(counts: Counts, tested: bool = True) -> dict[str, float]:
    """Compute the statistics of the whole table, by name.

    Confidence limits and p-values are NaN unless `tested`.

    Examples
    --------
    >>> overall_terms(np.array([[285, 15], [8, 292]]))["kappa"]
    0.9233333333333333
    """
    right, n = int(counts.trace()), int(counts.sum())
    low, high = proportion_interval(right, n) if tested else NONE
    return {
        "accuracy": rates.accuracy(counts),
        "kappa": rates.kappa(counts),
        "accuracy_low": low,
        "accuracy_high": high,
        "no_information_rate": rates.no_information_rate(counts),
        "accuracy_p_value": rates.accuracy_p_value(counts) if tested else math.nan,
        "mcnemar_p_value": rates.mcnemar(counts).p_value if tested else math.nan,
        "mcc": rates.matthews_correlation(counts),
    }


def class_terms(
    counts: Counts, positive: int, share: float | None = None, beta: float = 1.0
) -> dict[str, float]:
    """Compute the statistics of one class against the others, by name.

    Examples
    --------
    >>> class_terms(np.array([[285, 15], [8, 292]]), 1)["specificity"]
    0.95
    """
    at = (counts, positive)
    return {
        "sensitivity": rates.sensitivity(*at),
        "specificity": rates.specificity(*at),
        "pos_pred_value": rates.pos_pred_value(*at, share),
        "neg_pred_value": rates.neg_pred_value(*at, share),
        "precision": rates.precision(*at),
        "recall": rates.recall(*at),
        f"f{beta:g}": rates.f_measure(*at, beta),
        "prevalence": rates.prevalence(*at) if share is None else share,
        "detection_rate": rates.detection_rate(*at),
        "detection_prevalence": rates.detection_prevalence(*at),
        "balanced_accuracy": rates.balanced_accuracy(*at),
    }


@dataclass(frozen=True, repr=False, eq=False)
class ScoredLabels:
    """Actual labels of the rows, with scores, probabilities or both.

    Attributes
    ----------
    codes : int array, shape (n,)
        Position of the actual level, -1 where it is missing.
    scores : float64 array, shape (n,), optional
    probabilities : float64 array, shape (n, k), optional
    weights : float64 array, shape (n,), optional
    shift : float, optional
        Scores minus `shift` are the log odds of a logistic fit, from which
        probabilities are computed instead of using `probabilities`.
    clusters : int array, shape (n,), optional
        Cluster of each row.
    """

    codes: Codes
    scores: Vector | None = None
    probabilities: Matrix | None = None
    weights: Vector | None = None
    shift: float | None = None
    clusters: Codes | None = None

    _field_rules = (
        "codes n code, scores n, probabilities nk share, weights n nonnegative, "
        "clusters n nonnegative"
    )

    def probability(self, position: int) -> Vector | None:
        """Return the probabilities of one of two levels, or None."""
        if self.shift is None and self.probabilities is None:
            return None
        return self._probabilities(slice(None))[:, position]

    def terms(self, pooled: bool = False) -> dict[str, float]:
        """Compute area under the ROC curve, log loss and Brier score, if available.

        Each statistic excludes rows without an actual label, or without the score or
        probability that it needs. Rows with a score of exactly 0 are included, even if
        they have no predicted label. The area is called ``auc_pooled`` if the scores
        come from several fits.
        """
        statistics = {}
        if self.scores is not None:
            name = "auc_pooled" if pooled else "auc"
            ranked = self._scored_codes, self.scores, self.weights
            statistics[name] = area_under_curve(*ranked)
        if self.shift is None and self.probabilities is None:
            return statistics
        return statistics | self._losses()

    def _losses(self) -> dict[str, float]:
        """Compute log loss and Brier score, in blocks of rows to save memory."""
        sums = np.zeros(3)  # weight, and the losses times the weight
        for first in range(0, len(self.codes), SCORES_AT_ONCE):
            rows = slice(first, first + SCORES_AT_ONCE)
            codes, p = self.codes[rows], self._probabilities(rows)
            used = (codes >= 0) & ~np.isnan(p).any(axis=1)
            weights = np.ones(codes.size)
            if self.weights is not None:
                weights = self.weights[rows]
            own = codes[used], p[used], weights[used]
            if total := float(own[2].sum()):
                sums += total * np.array([1.0, log_loss(*own), brier_score(*own)])
        return {
            "log_loss": ratio(sums[1], sums[0]),
            "brier_score": ratio(sums[2], sums[0]),
        }

    def _probabilities(self, rows: slice) -> Matrix:
        """Return probabilities of some rows, one column per level."""
        if self.shift is None or self.scores is None:
            assert self.probabilities is not None
            return self.probabilities[rows]
        from scipy.special import expit

        odds = self.scores[rows] - self.shift
        return np.asarray(expit(np.column_stack([-odds, odds])))

    def pairs(self) -> PairCounts:
        """Return shares of correctly ordered pairs and of ties; NaN without scores."""
        if self.scores is None:
            return PairCounts(math.nan, math.nan)
        return counts_of_pairs(self._scored_codes, self.scores, self.weights).shares

    def area_limits(self, level: float = 0.95) -> Interval:
        """Return the interval of the area on the logit scale; NaN without scores."""
        return intervals.area_interval(*self.area_and_variance(), level)

    def area_and_variance(self) -> tuple[float, float]:
        """Return the area and its variance; NaN without scores."""
        if self.scores is None:
            return math.nan, math.nan
        ranked = self._scored_codes, self.scores, self.clusters
        return intervals.area_and_variance(*ranked)

    @property
    def _scored_codes(self) -> Codes:
        """The codes, -1 for rows without a score."""
        assert self.scores is not None
        return np.where(np.isnan(self.scores), -1, self.codes)


Term = tuple[str, object]  # name of the statistic, and the class or None


class Statistics(pd.Series):
    """Statistics by name; the error for an unknown name suggests another.

    Examples
    --------
    >>> Statistics({"kappa": 0.5})["Kappa"]
    Traceback (most recent call last):
    pegasos_stats.errors.MissingKeyError: 'Kappa' is not a statistic; write 'kappa'.
    """

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            raise missing_key(key, self.index) from None


@suggest_names("confusion")
@dataclass(frozen=True, repr=False, eq=False)
class ConfusionMatrix(tables.Exported):
    """A confusion table: counts of actual against predicted labels, and statistics.

    Returned by `confusion` and ``result.confusion(data)``. ``print()`` shows the table
    and the error rate; ``print(matrix.summary())`` shows the report in caret's layout.

    Attributes
    ----------
    levels : tuple
        The labels, in the order of the table.
    counts : int64 array, shape (k, k + 1); with weights float64 sums of weights
        Rows are actual levels, columns predicted levels; the last column counts rows
        without a prediction.
    errors : DataFrame
        Misclassified rows: columns ``actual`` and ``predicted``, with the index of the
        data. Only the first 100,000 if files are read in several blocks.
    n_unlabelled : int
        Number of rows without an actual label, which are not in `counts`.
    choices : Choices
        Options: positive class, prevalence, beta and mode of the report.
    scored : ScoredLabels, optional
        Scores and probabilities of the rows.
    source : "new", "training", "partly training", "out of fold" or "weighted"
        Source of the rows, or "weighted" for a table with `weights`. Intervals and
        p-values are NaN unless the source is "new".
    n_seen : int
        Number of training rows in the table, if the source is "partly training".
    by_cluster : int64 array, shape (clusters, k, k + 1), optional
        The counts of each cluster of rows, for intervals.

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
    scored: ScoredLabels | None = None
    source: Source = "new"
    n_seen: int = 0
    by_cluster: Counts | None = None

    _over, _corner = "Predicted", "Actual"

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @property
    def table(self) -> pd.DataFrame:
        """Counts with named axes, as in R's ``table(Actual = , Predicted = )``.

        Levels without rows are included. There is a column ``NA`` if some rows have no
        prediction (``<NA>`` if a level is called NA).
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
        """Positive class, by default the second level; None with more levels."""
        if len(self.levels) > 2:
            return None
        return self.levels[inputs.positive_position(self.levels, self.choices.positive)]

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
        """Number of misclassified rows."""
        return total_of(self._square[~np.eye(len(self.levels), dtype=bool)])

    @property
    def error_rate(self) -> float:
        """Share of the classified rows that are misclassified.

        NaN, with a warning, if no row has an actual and a predicted label.
        """
        if not self.n_classified:
            text = f"The error rate is not defined: {NO_ROWS}."
            warn_caller(text, UndefinedMetricWarning)
            return float("nan")
        return self.n_errors / self.n_classified

    @cached_property
    def overall(self) -> "pd.Series[float]":
        """Statistics of the whole table, from rows with actual and predicted labels.

        ``accuracy_low`` and ``accuracy_high`` are the exact 95% interval of
        ``accuracy``. ``accuracy_p_value`` tests whether accuracy exceeds
        ``no_information_rate``, the share of the largest actual class.
        ``mcnemar_p_value`` is from McNemar's test, or with more than two levels from
        Bowker's. ``kappa`` and ``mcc`` are Cohen's kappa and Matthews' correlation.
        With scores there is ``auc`` (``auc_pooled`` for scores from several fits), with
        probabilities ``log_loss`` and ``brier_score``. Undefined statistics are NaN,
        with a warning.
        """
        warn_undefined(self._undefined({None: self._overall}), self._why)
        return Statistics(self._overall, name="overall", dtype=float)

    @cached_property
    def by_class(self) -> "pd.Series[float] | pd.DataFrame":
        """Statistics of the positive class; with more than two levels, of every class.

        Each class is compared with all others. Predictive values follow from the
        prevalence by Bayes' rule, as in caret. The name of the F measure includes beta,
        as in ``f1``. The F measure is 0 if no row of the class is predicted correctly
        (NA in caret). Undefined statistics are NaN, with a warning.
        """
        statistics = self._classes
        warn_undefined(self._undefined(statistics), self._why)
        if len(self.levels) > 2:
            return pd.DataFrame(statistics).T.rename_axis("class")
        return Statistics(statistics[self.positive], name=self.positive, dtype=float)

    def __getitem__(self, key: str) -> float:
        """Return a statistic of `overall` or `by_class`."""
        statistics = dict(self.overall)
        if len(self.levels) == 2:
            statistics |= dict(self.by_class)
        if key not in statistics:
            raise missing_key(key, statistics)
        return statistics[key]

    __iter__: ClassVar[None] = None  # not a sequence

    _field_rules = "counts nonnegative"

    @suggest_arguments
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
            ``(low, high)``; NaN if no row was classified, if all rows belong to one
            group or, with a warning, if `source` is not "new".

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
        if not self._has_inference:
            warn_undefined(["the interval"], self._why_none)
            return NONE
        if self.by_cluster is None:
            return proportion_interval(self.n_errors, self.n_classified, method, level)
        wrong, total = rate_counts(self.by_cluster[:, :, :-1], 0)["error_rate"]
        return clustered_rate_interval(wrong, total, method, level)

    @suggest_arguments
    def conf_int(self, method: Method = "exact", level: float = 0.95) -> pd.DataFrame:
        """Confidence intervals of rates, kappa, Matthews' correlation and AUC.

        Parameters
        ----------
        method, level
            Method and level for rates, as for `error_interval`. Kappa and Matthews'
            correlation use Fisher's transformation; balanced accuracy uses Wilson's
            limits. The area under the ROC curve uses DeLong's variance on the logit
            scale.

        Returns
        -------
        DataFrame
            Columns ``term, class, estimate, conf_low, conf_high``. Limits are NaN
            without rows, if `source` is not "new", and, for kappa, the correlation and
            the AUC, if their estimated variance is 0.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> matrix = ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"])
        >>> matrix.conf_int().round(3).loc[[0, 4], :]
                  term class  estimate  conf_low  conf_high
        0   error_rate  None      0.25     0.006      0.806
        4  sensitivity     b      1.00     0.158      1.000
        """
        limits, estimates = self._intervals(method, level), self._estimates()
        rows = [
            (*term, estimates[term], *interval)
            for term, interval in limits.items()
            if term[0] != "recall"  # the same as sensitivity
        ]
        return _frame(rows, COLUMNS[:-1])

    @suggest_arguments
    def tidy(self, method: Method = "exact", level: float = 0.95) -> pd.DataFrame:
        """Return all statistics, one per row, with the columns of broom's ``tidy``.

        Parameters
        ----------
        method, level
            Method and level of the intervals, as for `error_interval`.

        Returns
        -------
        DataFrame
            Columns ``term, class, estimate, conf_low, conf_high, p_value``. The p-value
            of the accuracy is for the test against the no-information rate.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> statistics = ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"]).tidy()
        >>> statistics["p_value"].dropna().tolist()
        [0.3125, 1.0]
        """
        limits = self._intervals(method, level)
        statistics = {None: self._overall, **self._classes}
        warn_undefined(self._undefined(statistics), self._why)
        tests = {"accuracy": "accuracy_p_value", "mcnemar": "mcnemar_p_value"}
        rows = [
            (
                *(name, label, value, *limits.get((name, label), NONE)),
                self._overall.get(tests.get(name, ""), np.nan),
            )
            for (name, label), value in self._estimates().items()
        ]
        return _frame(rows, COLUMNS)

    @suggest_arguments
    def summary(self, mode: Mode | None = None) -> ConfusionReport:
        """Return the full report in the layout of caret.

        Parameters
        ----------
        mode : "sens_spec", "prec_recall" or "everything", optional
            Printed statistics of a class, as in caret. By default the mode of
            `confusion`, or ``"sens_spec"``.

        Returns
        -------
        ConfusionReport
            ``print()`` shows text, a notebook shows HTML. Notes name the undefined
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
            check_choice("mode", mode, MODES)
        classes = {  # caret prints NA for an F measure of 0
            label: {
                name: math.nan if name[0] == "f" and value == 0.0 else value
                for name, value in terms.items()
            }
            for label, terms in self._classes.items()
        }
        mode = mode or self.choices.mode or "sens_spec"
        printed = {
            label: {name: terms[name] for name in printed_terms(terms, mode)}
            for label, terms in classes.items()
        }
        names = self._undefined({None: self._overall, **printed}, label_of)
        several, limits = len(self.levels) > 2, dict[str, Interval]()
        if self._has_inference:
            limits = {
                name: interval
                for (name, label), interval in self._intervals().items()
                if label is None or not several
            }
            del limits["error_rate"], limits["accuracy"]  # reported as sentences
        return ConfusionReport(
            self.table,
            self._sentences(),
            self._overall,
            classes,
            limits,
            mode,
            [f"NA: {', '.join(names)} ({self._why})."] * bool(names),
        )

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the table as tiles with counts and their shares of the actual level.

        The darker a tile, the larger its share of the actual level: rare levels are as
        visible as frequent levels. Rows without a prediction are grey tiles.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.

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
                "The table is empty, because no row has an actual label; pass labels."
            )
        n, undecided = self.n_classified, self.n_undecided
        rate = f" ({tables.percent(self.n_errors / n)})" if n else ""
        without = f"\n{amount(undecided)} without prediction" if undecided else ""
        title = f"{amount(self.n_errors)} of {amount(n)} misclassified{rate}{without}"
        return draw_confusion(self.table, title, ax)

    def __str__(self) -> str:
        if self.choices.mode is not None:
            return str(self.summary())
        return "\n".join([self.table.to_string(), "", *self._sentences()])

    __repr__ = __str__

    def _sheet(self) -> tuple[pd.DataFrame, list[str], tuple[int, ...]]:
        cells = self.table.map(lambda x: x if isinstance(x, int) else f"{x:.6g}")
        return cells, self._sentences(), ()

    def _parts(self) -> Sequence[tables.Part]:
        if self.choices.mode is None:
            return super()._parts()
        return self.summary()._parts()

    @property
    def _square(self) -> Counts:
        """The counts of rows with both labels."""
        return self.counts[:, :-1]

    @cached_property
    def _overall(self) -> dict[str, float]:
        tested = self._has_inference and self.by_cluster is None
        statistics = overall_terms(self._square, tested)
        if self.by_cluster is not None and self._has_inference:
            low, high = self.error_interval()
            statistics |= {"accuracy_low": 1.0 - high, "accuracy_high": 1.0 - low}
        if self.scored is None:
            return statistics
        return statistics | self.scored.terms(pooled=self.source == "out of fold")

    def _positions(self) -> dict[object, tuple[int, float | None]]:
        """Return position and specified prevalence of the classes with statistics."""
        labels = self.levels if len(self.levels) > 2 else (self.positive,)
        shares = self.choices.prevalence or [None] * len(labels)
        pairs = zip(labels, shares, strict=True)
        return {label: (self.levels.index(label), share) for label, share in pairs}

    @cached_property
    def _classes(self) -> dict[object, dict[str, float]]:
        return {
            label: class_terms(self._square, at, share, self.choices.beta)
            for label, (at, share) in self._positions().items()
        }

    def _estimates(self) -> dict[Term, float]:
        """Return all statistics: of the table in broom's order, then of the classes."""
        overall, classes = self._overall, self._classes
        of_table = {
            "accuracy": overall["accuracy"],
            "kappa": overall["kappa"],
            "mcnemar": np.nan,
            "error_rate": ratio(self.n_errors, self.n_classified),
        }
        of_table |= {name: overall[name] for name in TERMS if name in overall}
        estimates: dict[Term, float] = {
            (n, None): value for n, value in of_table.items()
        }
        for name in next(iter(classes.values())):
            estimates |= {
                (name, label): terms[name] for label, terms in classes.items()
            }
        return estimates

    def _intervals(
        self, method: Method = "exact", level: float = 0.95
    ) -> dict[Term, Interval]:
        """Return the available intervals; NaN if the source is not "new"."""
        intervals.check_interval(method, level)
        tested = self._has_inference
        counts = self._square if tested else np.zeros_like(self._square, dtype=np.int64)
        if self.by_cluster is not None and tested:
            own = clustered_intervals(self.by_cluster, method, level)
        else:
            right, n = int(counts.trace()), int(counts.sum())
            own = {
                ("error_rate", None): proportion_interval(n - right, n, method, level),
                ("accuracy", None): proportion_interval(right, n, method, level),
                ("kappa", None): intervals.kappa_interval(counts, level),
                ("mcc", None): intervals.matthews_interval(counts, level),
            }
        limits: dict[Term, Interval] = {
            (name, None): own.get((name, None), NONE)
            for name in ("error_rate", "accuracy", "kappa", "mcc")
        }
        if "auc" in self._overall and self.scored is not None:
            area = self.scored.area_limits(level) if tested else NONE
            limits["auc", None] = area
        for label, (at, share) in self._positions().items():
            terms = self._classes[label]
            if self.by_cluster is None or not tested:
                of_class = intervals.class_intervals(counts, at, share, method, level)
            else:
                of_class = {name: i for (name, place), i in own.items() if place == at}
                if share is not None:  # then they are not rates of these rows
                    del of_class["pos_pred_value"], of_class["neg_pred_value"]
            limits |= {
                (name, label): NONE if np.isnan(terms[name]) else interval
                for name, interval in of_class.items()
            }
        return limits

    @property
    def _has_inference(self) -> bool:
        """Whether the source of the rows is "new"."""
        return self.source not in NO_INFERENCE

    def _undefined(
        self,
        terms: Mapping[object, Mapping[str, float]],
        named: Callable[[str], str] = str,
    ) -> list[str]:
        """Return names of undefined statistics, except inference omitted by design.

        Parameters
        ----------
        terms : mapping
            Statistics of classes by label, of the table by None.
        """
        tested = self._has_inference and self.by_cluster is None
        by_design = () if tested else INFERRED
        several = len(self.levels) > 2
        return [
            f"{label}: {named(name)}" if several and label is not None else named(name)
            for label, statistics in terms.items()
            for name, value in statistics.items()
            if math.isnan(value) and name not in by_design
        ]

    @property
    def _why(self) -> str:
        """Why statistics are not defined."""
        return NO_DIVISOR if self.n_classified else NO_ROWS

    @property
    def _why_none(self) -> str:
        """Why there are no intervals and p-values if the source is not "new"."""
        share = 100.0 * ratio(self.n_seen, self.n_classified)
        return NO_INFERENCE[self.source].format(self.n_seen, share)

    def _sentences(self) -> list[str]:
        """Return lines on misclassified rows, error rate, interval, excluded rows."""
        by_weight = ", by weight" if self.source == "weighted" else ""
        errors, n = self.n_errors, self.n_classified
        lines = [f"Misclassified  {amount(errors)} of {amount(n)}{by_weight}"]
        if n:
            lines.append(f"Error rate     {errors / n:.4f}")
            if not self._has_inference:
                lines.append(f"No interval    {self._why_none}")
            elif math.isnan(self.error_interval().low):
                lines.append("No interval    all rows belong to one group")
            else:
                exact, wilson = (
                    "[{:.4f}, {:.4f}]".format(*self.error_interval(method))
                    for method in intervals.METHODS
                )
                lines.append(f"95% interval   {exact} exact, {wilson} Wilson")
        if undecided := self.n_undecided:
            rows = (
                f"weight {amount(undecided)}"
                if by_weight
                else counted(undecided, "row")
            )
            lines.append(
                f"NA             {rows} without a prediction, not in the error rate"
            )
        if self.n_unlabelled:
            left_out = counted(self.n_unlabelled, "row")
            lines.append(f"Excluded       {left_out} without an actual label")
            if not undecided:  # hint for the argument order of caret
                lines[-1] += "; pass actual labels first"
        return lines

    def _conditions(self) -> Iterator[object]:
        """Check that counts, codes and probabilities match the levels."""
        k, scored = len(self.levels), self.scored
        yield k >= 2 and self.counts.shape == (k, k + 1)
        inputs.positive_position(self.levels, self.choices.positive)
        if scored is not None:
            yield scored.codes.max(initial=-1) < k
            yield scored.probabilities is None or scored.probabilities.shape[1] == k


def amount(count: float) -> str:
    """Write a number of rows, or their weight with six digits.

    Examples
    --------
    >>> amount(12345), amount(1234.56789)
    ('12,345', '1,234.57')
    """
    return f"{count:,}" if isinstance(count, int) else f"{count:,.6g}"


def _frame(rows: Sequence[tuple[object, ...]], columns: list[str]) -> pd.DataFrame:
    """Return a frame in which missing labels do not change the type of the others."""
    labels = pd.Series([row[1] for row in rows], dtype=object)
    return pd.DataFrame(rows, columns=columns).assign(**{"class": labels})


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
    mode: Mode | None = None,
    prevalence: object = None,
    beta: float = 1.0,
    freq_weights: object = None,
    weights: object = None,
    groups: object = None,
) -> ConfusionMatrix:
    """Cross-tabulate actual and predicted labels.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Actual labels. Rows with a missing label are excluded and counted.
    predicted : Series or array, shape (n,)
        Predicted labels. Missing labels are counted in a separate column and excluded
        from the statistics.
    positive : label, optional
        Positive class of two levels, for sensitivity and similar statistics; by default
        the second level. With more levels each level is compared with all others.
    levels : sequence, optional
        Labels in the order of the table; by default the labels in the data: categories
        in their order, otherwise sorted values.
    scores : Series or array, shape (n,), optional
        Scores from ``decision_function()`` for the area under the ROC curve; larger
        scores indicate the second of two levels.
    probabilities : DataFrame or array, shape (n, k) or (n,), optional
        Probabilities for log loss and Brier score: one column per level, as from
        ``predict_proba()``, or the probability of the second of two levels.
    event_level : "second" or "first", optional
        Position of the positive class, instead of `positive`; ``"first"`` is caret's
        rule. Ignored with more than two levels.
    mode : "sens_spec", "prec_recall" or "everything", optional
        With a mode, ``print()`` shows the full report with the statistics that caret
        prints in this mode.
    prevalence : float, or dict or Series of them for more than two levels, optional
        Prevalence of the positive class, for the predictive values; by default the
        prevalence in the table.
    beta : float, default 1.0
        Weight of recall against precision in the F measure.
    freq_weights : Series or array, shape (n,), of whole numbers; optional
        Number of rows that each row represents, as in a table of counts.
    weights : Series or array, shape (n,), optional
        Weight of each row, 0 or more, not rescaled. Cells are sums of weights; rates,
        kappa, AUC and losses are weighted. Intervals and tests are NaN because they
        need numbers of rows.
    groups : Series or array, shape (n,), optional
        Groups of rows that depend on each other, such as visits of a patient. Intervals
        of error rate, accuracy, sensitivity, specificity and predictive values then use
        the effective number of rows (Korn & Graubard 1998). The interval of the AUC
        uses Obuchowski's variance (1997). All other intervals are NaN, and so are
        p-values, which need independent rows. Intervals of predictive values are also
        NaN with `prevalence`, and all intervals are NaN with a single group.

    Returns
    -------
    ConfusionMatrix

    Raises
    ------
    DataError
        If labels, scores, probabilities and counts differ in length or row labels, or
        there is no label and no `levels`.
    LabelError
        If a label is not in `levels`, or the labels have no order.
    OptionError
        If an option is not allowed or does not apply to this number of levels, or if
        `positive` and `event_level` contradict each other.

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
        raise DataError("No row has a label; pass labels, or levels=.")
    choices = inputs.checked_choices(
        order, positive, event_level, prevalence=prevalence, beta=beta, mode=mode
    )
    index = pairs.index
    rows, columns = (inputs.codes_of(pairs[s], order) for s in ("actual", "predicted"))
    every: Positions | slice = slice(None)
    if freq_weights is not None:
        every = repeated(freq_weights, pairs, pairs.index)
    row_weights = None if weights is None else _weights(weights, pairs)[every]
    clusters = None
    if groups is not None:
        clusters = inputs.clusters_of(groups, len(pairs), actual, predicted)[every]
    rows, columns, pairs = rows[every], columns[every], pairs.iloc[every]
    labelled = rows >= 0
    shape = (len(order), len(order) + 1)
    cells = rows[labelled], columns[labelled]  # -1 is the last column
    counts: Counts = np.zeros(shape)
    if row_weights is None:
        counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, cells, 1 if row_weights is None else row_weights[labelled])
    by_cluster = None
    if clusters is not None:
        own = clusters[labelled]
        by_cluster = np.zeros((own.max(initial=-1) + 1, *shape), dtype=np.int64)
        np.add.at(by_cluster, (own, *cells), 1)
    wrong = labelled & (columns >= 0) & (rows != columns)
    has_index = any(isinstance(side, pd.Series) for side in (actual, predicted))
    n, row_index = len(index), index if has_index else None
    scored: dict[str, Any] = {}
    if scores is not None:
        if len(order) != 2:
            raise OptionError(f"scores= needs two levels; there are {len(order)}.")
        scored["scores"] = inputs.numbers("scores", scores, (n,), row_index)[every]
    if probabilities is not None:
        p = inputs.checked_probabilities(probabilities, order, n, row_index)
        scored["probabilities"] = p[every]
    if scored:
        scored |= {"weights": row_weights, "clusters": clusters}
    return ConfusionMatrix(
        levels=tuple(order),
        counts=counts,
        errors=pairs[wrong],
        n_unlabelled=int((~labelled).sum()),
        choices=choices,
        scored=ScoredLabels(rows, **scored) if scored else None,
        source="new" if row_weights is None else "weighted",
        by_cluster=by_cluster,
    )


def joined_tables(
    tables: Iterable[ConfusionMatrix], shift: float | None
) -> ConfusionMatrix:
    """Combine the tables of several blocks of rows.

    The result stores the score and actual level of each row, nine bytes per row (17
    with weights), and the first `MOST_ERRORS` misclassified rows. The table of a single
    block is returned unchanged.

    Parameters
    ----------
    tables : iterable of ConfusionMatrix, one or more
        Tables of the same two levels, with scores.
    shift : float or None
        Attribute of `ScoredLabels`.
    """
    remaining = iter(tables)
    first, second = next(remaining), next(remaining, None)
    if second is None:
        return first
    if first.by_cluster is not None:
        raise DataError("groups= needs rows in memory; pass a data frame.")
    counts, n_unlabelled, room = np.zeros_like(first.counts), 0, MOST_ERRORS
    errors: list[pd.DataFrame] = []
    columns: dict[str, list[Any]] = {"codes": [], "scores": [], "weights": []}
    n = 0
    for table in chain([first, second], remaining):
        counts += table.counts
        n_unlabelled += table.n_unlabelled
        if room or not errors:
            errors.append(table.errors.head(room))
            room -= len(errors[-1])
        scored = table.scored
        assert scored is not None
        n += len(scored.codes)
        check_memory(17.0 * n, f"A table of {n:,} rows", "use fewer rows")
        columns["codes"].append(scored.codes.astype(np.int8))
        columns["scores"].append(scored.scores)
        columns["weights"].append(scored.weights)
    if first.scored is None or first.scored.weights is None:
        del columns["weights"]
    # Blocks are released column by column, to save memory.
    joined: dict[str, Any] = {
        name: np.concatenate(columns.pop(name)) for name in [*columns]
    }
    return replace(
        first,
        counts=counts,
        errors=pd.concat([part for part in errors if len(part)] or errors[:1]),
        n_unlabelled=n_unlabelled,
        scored=ScoredLabels(**joined, shift=shift),
    )


def _weights(weights: object, pairs: pd.DataFrame) -> Vector:
    """Return the weight of each row.

    Raises
    ------
    DataError
        If weights are not one finite number of 0 or more per row.
    """
    row_weights = numbers_of_rows("weights", weights, pairs, pairs.index, ALLOWED)
    missing = pairs.index[np.isnan(row_weights)]
    if len(missing):
        raise DataError(
            f"weights are missing in the rows {listing(missing)}; pass one per row."
        )
    return row_weights


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class PairedComparison(tables.Facts):
    """Comparison of two classifiers; returned by `compare_predictions`.

    Attributes
    ----------
    table : DataFrame
        Counts of rows: table rows state whether A is right, table columns whether B is.
    error_rate_a, error_rate_b : float
    difference : float
        Error rate of A minus error rate of B; negative if A is better.
    interval : Interval
        Confidence interval of the difference, by Newcombe's method 10.
    level : float
        Confidence level of `interval`.
    p_exact : float
        Two-sided exact p-value of McNemar's test that both error rates are equal.
    p_mid : float
        Mid-p-value of the same test. Of the three tests (exact, mid-p, corrected), the
        mid-p test has the type I error rate nearest to the nominal level and agrees
        best with `interval`.
    corrected : ChiSquare
        McNemar's chi-squared test with continuity correction, as in R's
        ``mcnemar.test``; NaN if both misclassify the same rows.
    n_left_out : int
        Number of rows excluded because the actual label or a prediction is missing.

    Examples
    --------
    >>> comparison = compare_predictions([5, 5, 6, 6], [5, 5, 6, 5], [6, 6, 6, 5])
    >>> comparison.error_rate_a, comparison.error_rate_b, comparison.p_exact
    (0.25, 0.75, 0.5)
    """

    table: pd.DataFrame
    error_rate_a: float
    error_rate_b: float
    difference: float
    interval: Interval
    level: float
    p_exact: float
    p_mid: float
    corrected: rates.ChiSquare
    n_left_out: int

    _field_rules = "n_left_out nonnegative"

    _title = "Comparison of Two Classifiers"

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two classifiers."""
        return str(self.table.index.name), str(self.table.columns.name)

    def __str__(self) -> str:
        return f"{self.table.to_string()}\n\n{super().__str__()}"

    def _parts(self) -> Sequence[tables.Part]:
        a, b = self.names
        return [tables.Cells(self.table, over=b, corner=a), *super()._parts()]

    def _facts(self) -> dict[str, str]:
        """Return error rates, their difference and McNemar's test as text."""
        exact, mid, corrected = (
            format_pval([p], 4)[0]
            for p in (self.p_exact, self.p_mid, self.corrected.p_value)
        )
        n = int(self.table.to_numpy().sum())
        (statistic,) = r_format([self.corrected.statistic], 4)
        a, b = self.names
        return {
            f"Error rate {a}": f"{self.error_rate_a:.4f} of {counted(n, 'row')}",
            f"Error rate {b}": f"{self.error_rate_b:.4f}",
            f"{a} minus {b}": f"{self.difference:.4f}, {self.level:.0%} interval "
            f"[{self.interval.low:.4f}, {self.interval.high:.4f}] (Newcombe)",
            "McNemar": f"p {mid} mid-p, {exact} exact",
            "chi2": f"{statistic} with continuity correction, p {corrected}",
        }


@suggest_arguments
def compare_predictions(
    actual: object,
    predicted_a: object,
    predicted_b: object,
    *,
    names: tuple[str, str] = ("A", "B"),
    level: float = 0.95,
) -> PairedComparison:
    """Compare two classifiers that predicted the same rows.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels, of two levels or more.
    predicted_a, predicted_b : Series or array, shape (n,)
        Labels predicted by A and by B. Rows with a missing label are excluded and
        counted.
    names : pair of str, default ("A", "B")
        Printed names of the two classifiers, which must differ.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    PairedComparison
        The two-by-two table, McNemar's test (mid-p, exact and corrected), and the
        difference of the error rates with Newcombe's interval.

    Raises
    ------
    DataError
        If the arrays differ in length or row labels, or no row has all three labels.
    LabelError
        If the labels cannot be sorted.
    OptionError
        If the level is not between 0 and 1, or the names are not two different texts.

    References
    ----------
    McNemar, Psychometrika 12 (1947); Newcombe, Statistics in Medicine 17 (1998),
    2635-2650; Fagerland, Lydersen & Laake, BMC Medical Research Methodology 13 (2013).

    Examples
    --------
    >>> actual = ["a"] * 5 + ["b"] * 5
    >>> predicted = ["a"] * 6 + ["b"] * 4, ["a"] * 10
    >>> print(compare_predictions(actual, *predicted, names=("tree", "none")))
    none   right  wrong
    tree
    right      5      4
    wrong      0      1
    <BLANKLINE>
    Error rate tree  0.1000 of 10 rows
    Error rate none  0.5000
    tree minus none  -0.4000, 95% interval [-0.6759, 0.0024] (Newcombe)
    McNemar          p 0.0625 mid-p, 0.125 exact
    chi2             2.25 with continuity correction, p 0.1336
    """
    level = check_fraction("level", level)
    names = checked_names(names)
    counts, n_left_out = _wrong_counts(actual, predicted_a, predicted_b)
    (neither, b_only), (a_only, both) = counts.tolist()
    n = int(counts.sum())
    corrected = rates.mcnemar(counts)
    if corrected.p_value != corrected.p_value:
        warn_undefined(["corrected"], "both classifiers misclassify the same rows")
    rows, columns = (pd.Index(SIDES, name=name) for name in names)
    return PairedComparison(
        pd.DataFrame(counts, rows, columns),
        (both + a_only) / n,
        (both + b_only) / n,
        (a_only - b_only) / n,
        intervals.paired_difference_interval(both, a_only, b_only, neither, level),
        level,
        rates.mcnemar_exact(a_only, b_only),
        rates.mcnemar_mid_p(a_only, b_only),
        corrected,
        n_left_out,
    )


def checked_names(names: object) -> tuple[str, str]:
    """Return two different texts, or raise `OptionError`."""
    if isinstance(names, tuple | list) and len(names) == 2:
        first, second = names
        texts = isinstance(first, str) and isinstance(second, str)
        if texts and first and second and first != second:
            return first, second
    raise OptionError("is not allowed; pass two different texts.", "names", names)


def _wrong_counts(actual: object, *predicted: object) -> tuple[Counts, int]:
    """Count rows by whether A and B misclassify them, and rows that lack a label."""
    inputs.side_by_side(predicted[0], predicted[1])
    pairs = [inputs.side_by_side(actual, labels) for labels in predicted]
    levels = list(dict.fromkeys(v for both in pairs for v in inputs.levels_of(both)))
    codes = [inputs.codes_of(both[side], levels) for both in pairs for side in both]
    labelled = np.logical_and.reduce([code >= 0 for code in codes])
    if not labelled.any():
        raise DataError(
            "No row has an actual label and both predictions; pass rows with all three."
        )
    wrong = [(codes[i] != codes[i + 1])[labelled].astype(np.intp) for i in (0, 2)]
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, tuple(wrong), 1)
    return counts, int((~labelled).sum())
