"""Statistics of one class against the others, and of the whole table.

A table has shape (k, k). For tables of shape (..., k, k) most statistics are arrays;
`no_information_rate`, `accuracy_p_value` and `mcnemar` accept only one table.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos_stats.errors import UndefinedMetricWarning, warn_caller

# Numbers of rows, or sums of weights.
Counts = NDArray[np.int64] | NDArray[np.float64]


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> float:
    """``numerator / denominator``, NaN where the denominator is zero.

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0)
    (0.25, nan)
    """
    above, below = np.broadcast_arrays(numerator, denominator)
    quotients: Any = np.full(
        above.shape, np.nan, np.result_type(above, below, np.float64)
    )
    np.divide(above, below, out=quotients, where=below != 0)
    value: float = quotients.item() if quotients.ndim == 0 else quotients
    return value


def warn_undefined(names: Sequence[str], why: str) -> None:
    """Warn once, with the names of all undefined statistics."""
    if names:
        text = f"Undefined and therefore NaN: {', '.join(names)} ({why})."
        warn_caller(text, UndefinedMetricWarning)


def total_of(cells: Counts) -> int:
    """Number of rows in some cells of a table, or their total weight."""
    total: int = cells.sum().item()
    return total


def sensitivity(counts: Counts, positive: int = 1) -> float:
    """Share of the rows of the class predicted correctly, ``TP / (TP + FN)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
        Rows are actual, columns predicted levels.
    positive : int, default 1
        Position of the class.

    Returns
    -------
    float, NaN if the class has no row

    Examples
    --------
    >>> sensitivity(np.array([[285, 15], [8, 292]]), 0)
    0.95
    """
    return ratio(counts[..., positive, positive], counts[..., positive, :].sum(-1))


recall = sensitivity


def specificity(counts: Counts, positive: int = 1) -> float:
    """Share of the rows of other classes predicted as others, ``TN / (TN + FP)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1

    Returns
    -------
    float, NaN if all rows belong to the class

    Examples
    --------
    >>> specificity(np.array([[285, 15], [8, 292]]), 0)
    0.9733333333333334
    """
    others = np.delete(counts, positive, axis=-2)
    right = np.delete(others, positive, axis=-1)
    return ratio(right.sum((-2, -1)), others.sum((-2, -1)))


def precision(counts: Counts, positive: int = 1) -> float:
    """Share of the rows predicted as the class that belong to it, ``TP / (TP + FP)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1

    Returns
    -------
    float, NaN where no row is predicted as the class

    Examples
    --------
    >>> precision(np.array([[285, 15], [8, 292]]), 0)
    0.9726962457337884
    """
    return ratio(counts[..., positive, positive], counts[..., positive].sum(-1))


def prevalence(counts: Counts, positive: int = 1) -> float:
    """Share of the rows that belong to the class, ``(TP + FN) / n``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
        Rows are actual, columns predicted levels.
    positive : int, default 1
        Position of the class.

    Returns
    -------
    float, NaN where there is no row

    Examples
    --------
    >>> prevalence(np.array([[285, 15], [8, 292]]), 0)
    0.5
    """
    return ratio(counts[..., positive, :].sum(-1), counts.sum((-2, -1)))


def pos_pred_value(
    counts: Counts, positive: int = 1, share: float | None = None
) -> float:
    """Positive predictive value by Bayes' rule, as caret computes it.

    ``sens * p / (sens * p + (1 - spec) * (1 - p))`` with the prevalence ``p``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1
    share : float, optional
        Prevalence, by default the table's. The default returns the precision, up to
        rounding, if both classes occur.

    Returns
    -------
    float, NaN if sensitivity or specificity is NaN, or the denominator is zero

    Examples
    --------
    >>> table = np.array([[285, 15], [8, 292]])
    >>> pos_pred_value(table, 0), pos_pred_value(table, 0, share=0.01)
    (0.972696245733788..., 0.264623955431755...)
    """
    p = prevalence(counts, positive) if share is None else share
    hit = sensitivity(counts, positive) * p
    return ratio(hit, hit + (1 - specificity(counts, positive)) * (1 - p))


def neg_pred_value(
    counts: Counts, positive: int = 1, share: float | None = None
) -> float:
    """Negative predictive value by Bayes' rule, as caret computes it.

    ``spec * (1 - p) / ((1 - sens) * p + spec * (1 - p))`` with the prevalence ``p``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1
    share : float, optional
        Prevalence, by default the table's.

    Returns
    -------
    float, NaN if sensitivity or specificity is NaN, or the denominator is zero

    Examples
    --------
    >>> neg_pred_value(np.array([[285, 15], [8, 292]]), 0)
    0.951140065146579...
    """
    p = prevalence(counts, positive) if share is None else share
    right = specificity(counts, positive) * (1 - p)
    return ratio(right, (1 - sensitivity(counts, positive)) * p + right)


def f_measure(counts: Counts, positive: int = 1, beta: float = 1.0) -> float:
    """F measure, ``(1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP)``.

    It is the weighted harmonic mean of precision and recall, and 0 if ``TP`` is 0.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1
    beta : float, default 1.0
        Recall counts `beta` times as much as precision.

    Returns
    -------
    float, NaN if no row belongs to the class and none is predicted so

    References
    ----------
    van Rijsbergen, Information Retrieval, 2nd ed. (1979), chapter 7.

    Examples
    --------
    >>> f_measure(np.array([[285, 15], [8, 292]]), 0)
    0.9612141652613828
    >>> f_measure(np.array([[0, 3], [0, 4]]), 0)
    0.0
    """
    hits = (1.0 + beta**2) * counts[..., positive, positive]
    own, predicted = counts[..., positive, :].sum(-1), counts[..., positive].sum(-1)
    return ratio(hits, beta**2 * own + predicted)


def detection_rate(counts: Counts, positive: int = 1) -> float:
    """Share of all rows that belong to the class and are predicted so, ``TP / n``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1

    Returns
    -------
    float, NaN where there is no row

    Examples
    --------
    >>> detection_rate(np.array([[285, 15], [8, 292]]), 0)
    0.475
    """
    return ratio(counts[..., positive, positive], counts.sum((-2, -1)))


def detection_prevalence(counts: Counts, positive: int = 1) -> float:
    """Share of all rows that are predicted as the class, ``(TP + FP) / n``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1

    Returns
    -------
    float, NaN where there is no row

    Examples
    --------
    >>> detection_prevalence(np.array([[285, 15], [8, 292]]), 0)
    0.48833333333333334
    """
    return ratio(counts[..., positive].sum(-1), counts.sum((-2, -1)))


def balanced_accuracy(counts: Counts, positive: int = 1) -> float:
    """Mean of sensitivity and specificity.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1

    Returns
    -------
    float, NaN if sensitivity or specificity is NaN

    Examples
    --------
    >>> balanced_accuracy(np.array([[285, 15], [8, 292]]), 0)
    0.9616666666666667
    """
    return (sensitivity(counts, positive) + specificity(counts, positive)) / 2


class ChiSquare(NamedTuple):
    """A chi-squared test."""

    statistic: float
    df: int
    p_value: float

    def _conditions(self) -> Iterator[object]:
        """Check that there are degrees of freedom."""
        yield self.df > 0


def accuracy(counts: Counts) -> float:
    """Share of the rows predicted correctly, the sum of the diagonal divided by ``n``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
        Rows are actual, columns predicted levels.

    Returns
    -------
    float, NaN where there is no row

    Examples
    --------
    >>> accuracy(np.array([[285, 15], [8, 292]]))
    0.9616666666666667
    """
    return ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum((-2, -1)))


def no_information_rate(counts: Counts) -> float:
    """Share of the largest actual class: the accuracy of always predicting it.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    float, NaN where there is no row

    Examples
    --------
    >>> no_information_rate(np.array([[285, 15], [8, 292]]))
    0.5
    """
    return ratio(counts.sum(axis=1).max(), counts.sum())


def accuracy_p_value(counts: Counts) -> float:
    """P-value of the one-sided test that accuracy exceeds the no-information rate.

    It is ``P(X >= x)``, where ``x`` rows were predicted correctly, and ``X`` is
    binomial with ``n`` rows and the no-information rate. It equals R's
    ``binom.test(x, n, rate, "greater")``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    float, NaN where there is no row

    Examples
    --------
    >>> accuracy_p_value(np.array([[285, 15], [8, 292]]))
    5.00181671779...e-140
    """
    from statsmodels.stats.proportion import binom_test

    right, n = int(np.trace(counts)), int(counts.sum())
    if n == 0:
        return float("nan")
    rate = no_information_rate(counts)
    return float(binom_test(right, n, rate, alternative="larger"))


def kappa(counts: Counts) -> float:
    """Cohen's kappa, ``(p_o - p_e) / (1 - p_e)``.

    ``p_o`` is the accuracy. ``p_e`` is the sum over levels of the share of actual rows
    times the share of predicted rows.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    float, NaN if there is no row, or all labels are the same level

    References
    ----------
    Cohen, Educational and Psychological Measurement 20 (1960).

    Examples
    --------
    >>> kappa(np.array([[285, 15], [8, 292]]))
    0.9233333333333333
    """
    # R's sum() accumulates in long double. In double 1 - p_e may lose many digits:
    # statsmodels' cohens_kappa of -0.0013 differs in the 14th digit.
    n = counts.sum((-2, -1), keepdims=True)[..., 0]
    shares: Any = ratio(counts.sum(-2), n) * np.asarray(ratio(counts.sum(-1), n))
    wide = np.result_type(shares, np.longdouble)
    chance = np.asarray(shares.sum(-1, dtype=wide)).astype(shares.dtype)
    return ratio(accuracy(counts) - chance, 1.0 - chance)


def matthews_correlation(counts: Counts) -> float:
    """Correlation of actual and predicted levels.

    With two levels it is Matthews' ``(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)
    (TN + FN))``, with more levels Gorodkin's ``R_K``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    float, NaN if all rows have the same actual or the same predicted level

    References
    ----------
    Matthews, Biochimica et Biophysica Acta 405 (1975); Gorodkin, Computational Biology
    and Chemistry 28 (2004), equation 8.

    Examples
    --------
    >>> matthews_correlation(np.array([[285, 15], [8, 292]]))
    0.92358...
    """
    if (
        counts.dtype.kind != "c"
    ):  # scaled to at most 1: products would overflow or underflow
        counts = np.ldexp(1.0 * counts, -np.frexp(1.0 * counts.max(initial=0))[1])
    sides = [counts.sum(-1), counts.sum(-2)]
    totals = [side.sum(-1, keepdims=True) for side in sides]
    right = np.trace(counts, axis1=-2, axis2=-1)
    together = right * totals[0][..., 0] - (sides[0] * sides[1]).sum(-1)
    spreads = [(x * (n - x)).sum(-1) for x, n in zip(sides, totals, strict=True)]
    return ratio(together, (spreads[0] * spreads[1]) ** 0.5)


def mcnemar(counts: Counts) -> ChiSquare:
    """Test that both kinds of misclassification are equally frequent.

    With two levels the statistic is McNemar's ``(|b - c| - 1)^2 / (b + c)``, without
    the continuity correction if ``b = c``, as in R's ``mcnemar.test``. With more levels
    it is Bowker's sum of ``(n_ij - n_ji)^2 / (n_ij + n_ji)`` over the pairs of levels.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    ChiSquare
        Statistic, degrees of freedom ``k (k - 1) / 2`` and p-value; NaN if two
        levels were never confused with each other.

    References
    ----------
    McNemar, Psychometrika 12 (1947); Edwards, Psychometrika 13 (1948); Bowker, JASA 43
    (1948).

    Examples
    --------
    >>> mcnemar(np.array([[285, 15], [8, 292]]))
    ChiSquare(statistic=1.565217391304..., df=1, p_value=0.21090292605...)
    """
    from statsmodels.stats import contingency_tables

    upper = np.triu_indices(len(counts), 1)
    above, below = counts[upper], counts.T[upper]
    df = len(above)
    if not df or not (above + below).all():  # statsmodels would omit such a pair
        return ChiSquare(float("nan"), df, float("nan"))
    if df == 1:  # R corrects unequal counts only
        corrected = bool(above != below)
        test = contingency_tables.mcnemar(counts, exact=False, correction=corrected)
    else:
        test = contingency_tables.SquareTable(counts, shift_zeros=False).symmetry()
    return ChiSquare(float(test.statistic), df, float(test.pvalue))


def mcnemar_exact(b: int, c: int) -> float:
    """Two-sided exact p-value of McNemar's test, R's ``binom.test(b, b + c)``.

    Parameters
    ----------
    b, c : int
        The two counts off the diagonal.

    Returns
    -------
    float, 1 where both counts are zero

    Examples
    --------
    >>> mcnemar_exact(15, 8)
    0.2100...
    """
    from statsmodels.stats import contingency_tables

    if b == c:  # statsmodels may return 0.9999999999999996
        return 1.0
    return float(contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue)


def mcnemar_mid_p(b: int, c: int) -> float:
    """Two-sided mid-p-value of McNemar's test.

    It is the exact p-value minus half the probability of counts with the same absolute
    difference. Its type I error rate is near the nominal level. The exact test and the
    test with continuity correction are conservative.

    Parameters
    ----------
    b, c : int
        The two counts off the diagonal.

    Returns
    -------
    float, 1 where both counts are zero

    References
    ----------
    Fagerland, Lydersen & Laake, BMC Medical Research Methodology 13 (2013), 91.

    Examples
    --------
    >>> mcnemar_mid_p(15, 8)
    0.15158...
    """
    from scipy.stats import binom

    if b == c == 0:
        return 1.0
    same = float(binom.pmf(min(b, c), b + c, 0.5))
    return mcnemar_exact(b, c) - (same / 2.0 if b == c else same)
