"""The confusion matrix: counts of labels, with errors, statistics and report."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.errors import DataError, UndefinedMetricWarning
from pegasos_stats.metrics import catalogue
from pegasos_stats.metrics.caret import ConfusionReport, error_sentences
from pegasos_stats.metrics.inputs import DEFAULTS, Choices, Mode, check_mode
from pegasos_stats.metrics.intervals import Interval, Method, proportion_interval
from pegasos_stats.metrics.rates import Counts
from pegasos_stats.metrics.scores import Scored
from pegasos_stats.metrics.tidy import estimated, rate_counts, tidy_terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THROUGH_CACHE = 4  # frames between a warning and the reader of a cached property


@dataclass(frozen=True, repr=False, eq=False)
class ConfusionMatrix:
    """Counts of actual against predicted labels, and what follows from them.

    Made by `confusion` or by ``result.confusion(data)``. ``print()`` shows the table
    and the errors; the full report, laid out as caret's, is ``print(summary())``.

    Attributes
    ----------
    levels : tuple
        The labels, in the order of the table.
    counts : int64 array, shape (k, k + 1)
        Rows are actual and columns predicted levels; the last column counts rows
        without a prediction.
    errors : DataFrame
        The misclassified rows: columns ``actual`` and ``predicted``, on the index of
        the data.
    n_unlabelled : int
        Rows without an actual label; they are in no count.
    choices : Choices
        Positive class, prevalence, beta and mode of the report.
    scored : Scored, optional
        Scores and probabilities of the rows.

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
    ('a', 0.5)
    """

    levels: tuple[object, ...]
    counts: Counts
    errors: pd.DataFrame
    n_unlabelled: int = 0
    choices: Choices = DEFAULTS
    scored: Scored | None = None

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @property
    def table(self) -> pd.DataFrame:
        """Counts with named axes, ``table(Actual = , Predicted = )`` of R.

        Every level is there, also with zero counts; a column ``NA`` is there when
        rows were left without a prediction (``<NA>`` beside a level called NA).
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
        """Positive class: the first level by default, None with more than two."""
        if len(self.levels) > 2:
            return None
        given = self.choices.positive
        return self.levels[0] if given is None else given

    @property
    def n_undecided(self) -> int:
        """Rows without a prediction: a score of exactly 0, or missing values."""
        return int(self.counts[:, -1].sum())

    @property
    def n_classified(self) -> int:
        """Rows with an actual and a predicted label."""
        return int(self._square.sum())

    @property
    def n_errors(self) -> int:
        """Rows whose predicted label is not the actual one."""
        return self.n_classified - int(np.trace(self.counts))

    @property
    def error_rate(self) -> float:
        """Errors divided by classified rows; NaN, with a warning, if there are none."""
        if not self.n_classified:
            warnings.warn(
                f"The error rate is not defined: {catalogue.NO_ROWS}.",
                UndefinedMetricWarning,
                stacklevel=2,
            )
            return float("nan")
        return self.n_errors / self.n_classified

    @cached_property
    def overall(self) -> "pd.Series[float]":
        """Statistics of the whole table, from the rows with both labels.

        ``accuracy`` with its exact 95% interval, ``no_information_rate`` (the largest
        actual class) and the p-value of the accuracy being no larger, ``kappa``,
        ``mcnemar_p_value`` (Bowker's test with more than two levels) and ``mcc``; with
        scores ``auc``, with probabilities ``log_loss`` and ``brier_score``. What is
        not defined is NaN, and a warning says why.
        """
        reasons = catalogue.overall_reasons(self._overall, self._square)
        catalogue.warn_undefined(reasons, THROUGH_CACHE)
        return pd.Series(self._overall, name="overall", dtype=float)

    @cached_property
    def by_class(self) -> "pd.Series[float] | pd.DataFrame":
        """Statistics of the positive class; with more levels a row for each of them.

        A class is compared with all others. Predictive values are those of caret, by
        Bayes' rule from the prevalence; the F measure is named after its beta,
        ``f1``. What is not defined is NaN, and a warning says why.
        """
        catalogue.warn_undefined(self._class_reasons(), THROUGH_CACHE)
        if len(self.levels) > 2:
            return pd.DataFrame(self._classes).T.rename_axis("class")
        return pd.Series(self._classes[self.positive], name=self.positive, dtype=float)

    def error_interval(self, method: Method = "exact", level: float = 0.95) -> Interval:
        """Confidence interval of the error rate.

        Parameters
        ----------
        method : "exact" or "wilson"
            ``"exact"`` is Clopper and Pearson's interval, as R's ``binom.test``;
            ``"wilson"`` is Wilson's score interval, as R's ``prop.test`` without
            correction.
        level : float, default 0.95

        Returns
        -------
        Interval
            ``(low, high)``; NaN where no row was classified.

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
        >>> matrix = ps.confusion(["a"] * 9 + ["b"], ["a"] * 10)
        >>> matrix.error_interval("wilson")
        Interval(low=0.0178..., high=0.4041...)
        """
        return proportion_interval(self.n_errors, self.n_classified, method, level)

    def conf_int(self, method: Method = "exact", level: float = 0.95) -> pd.DataFrame:
        """Confidence intervals of error rate, accuracy, sensitivity and specificity.

        Parameters
        ----------
        method, level
            As for `error_interval`.

        Returns
        -------
        DataFrame
            Columns ``term, class, estimate, conf_low, conf_high``; NaN where a rate
            has no row.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"]).conf_int().round(3)
                  term class  estimate  conf_low  conf_high
        0   error_rate  None      0.25     0.006      0.806
        1     accuracy  None      0.75     0.194      0.994
        2  sensitivity     a      0.50     0.013      0.987
        3  specificity     a      1.00     0.158      1.000
        """
        return estimated(self._square, self._positions(), method, level)

    def tidy(self, method: Method = "exact", level: float = 0.95) -> pd.DataFrame:
        """Every statistic as a row, with the columns of broom's ``tidy``.

        Parameters
        ----------
        method, level
            Of the intervals; as for `error_interval`.

        Returns
        -------
        DataFrame
            Columns ``term, class, estimate, conf_low, conf_high, p_value``. The
            p-value of the accuracy is that against the no-information rate.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> matrix = ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"])
        >>> matrix.tidy().loc[[0, 2], ["term", "estimate", "p_value"]]
               term  estimate  p_value
        0  accuracy      0.75   0.3125
        2   mcnemar       NaN   1.0000
        """
        intervals = estimated(self._square, self._positions(), method, level)
        catalogue.warn_undefined(self._reasons())
        return tidy_terms(self._overall, self._classes, intervals)

    def summary(self, mode: Mode | None = None) -> ConfusionReport:
        """The full report, laid out as caret prints it.

        Parameters
        ----------
        mode : "sens_spec", "prec_recall" or "everything", optional
            Which statistics of a class are printed, as in caret; that given to
            `confusion`, else ``"sens_spec"``.

        Returns
        -------
        ConfusionReport
            ``print()`` shows text, a notebook HTML. Notes name what is not defined.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> print(ps.confusion(["a", "a", "b"], ["a", "b", "b"]).summary())
        Confusion Matrix and Statistics
        ...
                      Kappa : 0.4
        ...
           'Positive' Class : a
        ...
        """
        if mode is not None:
            check_mode(mode)
        limits: dict[str, Interval] = {}
        if len(self.levels) <= 2:
            rates = rate_counts(self._square, self.levels.index(self.positive))
            limits = {name: proportion_interval(*pair) for name, pair in rates.items()}
        reasons = self._reasons()
        return ConfusionReport(
            self.table,
            self._sentences(),
            self._overall,
            self._classes,
            limits,
            mode or self.choices.mode or "sens_spec",
            [f"NA: {catalogue.written_reasons(reasons)}."] if reasons else [],
        )

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the table as tiles, each with its count and its share of the row.

        A tile is the darker the larger its share of the actual level's rows, so that a
        rare level is seen as well as a frequent one. Rows without a prediction are in
        a grey column, and in the shares.

        Parameters
        ----------
        ax : Axes, optional
            Those of a new figure if left out.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If there is no row to draw.
        DependencyError
            If matplotlib is not installed.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> from matplotlib.figure import Figure
        >>> matrix = ps.confusion(["a", "a", "b", "b"], ["a", "b", "b", None])
        >>> print(matrix.plot(ax=Figure().subplots()).get_title())
        1 of 3 misclassified (33.3%)
        1 without prediction
        """
        from pegasos_stats.output.plotting.confusion import draw_confusion

        if not self.counts.any():
            raise DataError(
                "The table is empty: no row has an actual label; give data with labels."
            )
        rate = f" ({self.n_errors / n:.1%})" if (n := self.n_classified) else ""
        undecided = self.n_undecided
        without = f"\n{undecided:,} without prediction" if undecided else ""
        title = f"{self.n_errors:,} of {n:,} misclassified{rate}{without}"
        return draw_confusion(self.table, title, ax)

    def __str__(self) -> str:
        if self.choices.mode is not None:
            return str(self.summary())
        return "\n".join([self.table.to_string(), "", *self._sentences()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.choices.mode is not None:
            return self.summary().as_html()
        lines = "<br>".join(self._sentences())
        return f"{self.table.to_html()}<p>{lines}</p>"

    @property
    def _square(self) -> Counts:
        """The counts of rows with both labels."""
        return self.counts[:, :-1]

    @cached_property
    def _overall(self) -> dict[str, float]:
        beyond = {} if self.scored is None else self.scored.terms()
        return catalogue.overall_terms(self._square) | beyond

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

    def _class_reasons(self) -> dict[str, str]:
        """Reasons by the name of the statistic, and of its class if there are many."""
        found: dict[str, str] = {}
        for label, at in self._positions().items():
            terms = self._classes[label]
            reasons = catalogue.class_reasons(terms, self._square, at, label)
            prefix = f"{label}: " if len(self.levels) > 2 else ""
            found |= {f"{prefix}{name}": why for name, why in reasons.items()}
        return found

    def _reasons(self) -> dict[str, str]:
        """Why statistics are not defined: those of the table, then of the classes."""
        overall = catalogue.overall_reasons(self._overall, self._square)
        return overall | self._class_reasons()

    def _sentences(self) -> list[str]:
        return error_sentences(
            self.n_errors, self.n_classified, self.n_undecided, self.n_unlabelled
        )
