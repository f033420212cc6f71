"""Comparison of two classifiers on the same rows: McNemar's test, difference."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pegasos_stats.checks import check_fraction
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.caret import format_pval, r_format
from pegasos_stats.metrics.inputs import codes_of, levels_of, side_by_side
from pegasos_stats.metrics.intervals import Interval, paired_difference_interval
from pegasos_stats.metrics.rates import (
    ChiSquare,
    Counts,
    mcnemar,
    mcnemar_exact,
    mcnemar_mid_p,
    warn_undefined,
)
from pegasos_stats.tables import Facts, params_html

SIDES = ("right", "wrong")


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class PairedComparison(Facts):
    """Two classifiers on the same rows; made by `compare_predictions`.

    Attributes
    ----------
    table : DataFrame
        Counts: rows tell whether A was right, columns whether B was right.
    error_rate_a, error_rate_b : float
    difference : float
        Error rate of A minus that of B; negative if A has fewer errors.
    interval : Interval
        Confidence interval of the difference, by Newcombe's method 10.
    level : float
        Its confidence level.
    p_exact : float
        Two-sided exact p-value of McNemar's test that both error rates are equal.
    p_mid : float
        Mid-p-value of the same test: its size is nearest to the nominal one, and it
        agrees best with the interval.
    corrected : ChiSquare
        McNemar's chi-squared test with continuity correction, as R's ``mcnemar.test``;
        NaN if both are right and wrong in the same rows.
    n_left_out : int
        Rows without an actual label, or without one of the predictions.

    Examples
    --------
    >>> found = compare_predictions([5, 5, 6, 6], [5, 5, 6, 5], [6, 6, 6, 5])
    >>> found.error_rate_a, found.error_rate_b, found.p_exact
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
    corrected: ChiSquare
    n_left_out: int

    _title = "Comparison of Two Classifiers"

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two classifiers."""
        return str(self.table.index.name), str(self.table.columns.name)

    def __str__(self) -> str:
        return f"{self.table.to_string()}\n\n{super().__str__()}"

    def _repr_html_(self) -> str:
        a, b = self.names
        return params_html(self.table, over=b, corner=a) + super()._repr_html_()

    def _facts(self) -> dict[str, str]:
        """Error rates, their difference, and McNemar's test, in words."""
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
            f"{a} less {b}": f"{self.difference:.4f}, {self.level:.0%} interval "
            f"[{self.interval.low:.4f}, {self.interval.high:.4f}] (Newcombe)",
            "McNemar": f"p {mid} mid-p, {exact} exact, {corrected} corrected "
            f"(chi2 {statistic})",
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
        Labels predicted by A and by B. Rows with any label missing are left out and
        counted.
    names : pair of str, default ("A", "B")
        Names of the two in print, which must differ.
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
        If the three differ in length or row labels, or no row has all three labels.
    LabelError
        If the labels have no common order.
    OptionError
        If the level is not between 0 and 1, or the names are not a pair.

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
    tree less none   -0.4000, 95% interval [-0.6759, 0.0024] (Newcombe)
    McNemar          p 0.0625 mid-p, 0.125 exact, 0.1336 corrected (chi2 2.25)
    """
    level = check_fraction("level", level)
    names = checked_names(names)
    counts, n_left_out = _wrong_counts(actual, predicted_a, predicted_b)
    (neither, b_only), (a_only, both) = counts.tolist()
    n = int(counts.sum())
    corrected = mcnemar(counts)
    if corrected.p_value != corrected.p_value:
        warn_undefined(["corrected"], "no row is right by one and wrong by the other")
    rows, columns = (pd.Index(SIDES, name=name) for name in names)
    return PairedComparison(
        pd.DataFrame(counts, rows, columns),
        (both + a_only) / n,
        (both + b_only) / n,
        (a_only - b_only) / n,
        paired_difference_interval(both, a_only, b_only, neither, level),
        level,
        mcnemar_exact(a_only, b_only),
        mcnemar_mid_p(a_only, b_only),
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
    raise OptionError("is not allowed; give two different texts.", "names", names)


def _wrong_counts(actual: object, *predicted: object) -> tuple[Counts, int]:
    """Count rows by whether either errs, and rows that lack a label."""
    side_by_side(*predicted)
    pairs = [side_by_side(actual, labels) for labels in predicted]
    levels = list(dict.fromkeys(v for both in pairs for v in levels_of(both)))
    codes = [codes_of(both[side], levels) for both in pairs for side in both]
    labelled = np.logical_and.reduce([code >= 0 for code in codes])
    if not labelled.any():
        raise DataError("No row has an actual label and both predictions.")
    wrong = [(codes[i] != codes[i + 1])[labelled].astype(np.intp) for i in (0, 2)]
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, tuple(wrong), 1)
    return counts, int((~labelled).sum())
