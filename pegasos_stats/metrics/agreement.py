"""Statistics of the whole table: accuracy, kappa, McNemar's test, correlation."""

from typing import NamedTuple

import numpy as np

from pegasos_stats.metrics.rates import Counts, ratio


class ChiSquare(NamedTuple):
    """A chi-squared test."""

    statistic: float
    df: int
    p_value: float


def accuracy(counts: Counts) -> float:
    """Share of the rows predicted right, the sum of the diagonal divided by ``n``.

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
    return ratio(np.trace(counts), counts.sum())


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
    """One-sided binomial test that the accuracy is above the no-information rate.

    ``P(X >= x)`` for ``X`` binomial with ``n`` rows and the no-information rate, where
    ``x`` rows were predicted right: ``binom.test(x, n, rate, "greater")`` of R.

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

    ``p_o`` is the accuracy and ``p_e`` the sum over levels of the share of actual
    times that of predicted rows.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    float, NaN where there is no row, or one level only in all of them

    References
    ----------
    Cohen, Educational and Psychological Measurement 20 (1960).

    Examples
    --------
    >>> kappa(np.array([[285, 15], [8, 292]]))
    0.9233333333333333
    """
    n = counts.sum()
    if n == 0:
        return float("nan")
    # R's sum() accumulates in long double; 1 - p_e may lose many of the digits, which
    # statsmodels' cohens_kappa does: one of -0.0013 differs in its 14th digit.
    shares = (counts.sum(axis=0) / n) * (counts.sum(axis=1) / n)
    chance = float(np.sum(shares, dtype=np.longdouble))
    return ratio(accuracy(counts) - chance, 1.0 - chance)


def matthews_correlation(counts: Counts) -> float:
    """Correlation of actual and predicted levels.

    For two levels Matthews' ``(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN +
    FN))``, for more Gorodkin's ``R_K``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    float, NaN where all rows have one actual, or one predicted level

    References
    ----------
    Matthews, Biochimica et Biophysica Acta 405 (1975); Gorodkin, Computational Biology
    and Chemistry 28 (2004), equation 8.

    Examples
    --------
    >>> matthews_correlation(np.array([[285, 15], [8, 292]]))
    0.92358...
    """
    if counts.dtype.kind == "f":  # its products overflow, or are 0, unless near 1
        counts = np.ldexp(counts, -np.frexp(counts.max(initial=0.0))[1])
    n, right = counts.sum().item(), np.trace(counts).item()
    actual, predicted = (counts.sum(axis=axis).tolist() for axis in (1, 0))
    together = right * n - sum(a * p for a, p in zip(actual, predicted, strict=True))
    apart = [n * n - sum(x * x for x in side) for side in (actual, predicted)]
    return ratio(together, (apart[0] * apart[1]) ** 0.5)


def mcnemar(counts: Counts) -> ChiSquare:
    """Test that both kinds of error are equally frequent, R's ``mcnemar.test``.

    Two levels: McNemar's ``(|b - c| - 1)^2 / (b + c)``, with R's continuity correction,
    which is not made where ``b = c``. More levels: Bowker's sum of ``(n_ij - n_ji)^2 /
    (n_ij + n_ji)`` over the pairs of levels.

    Parameters
    ----------
    counts : int64 array, shape (k, k)

    Returns
    -------
    ChiSquare
        Statistic, degrees of freedom ``k (k - 1) / 2`` and p-value; NaN where two
        levels were never taken for each other.

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
    if not df or not (above + below).all():  # statsmodels would leave such a pair out
        return ChiSquare(float("nan"), df, float("nan"))
    if df == 1:  # R corrects unequal counts only
        corrected = bool(above != below)
        test = contingency_tables.mcnemar(counts, exact=False, correction=corrected)
    else:
        test = contingency_tables.SquareTable(counts, shift_zeros=False).symmetry()
    return ChiSquare(float(test.statistic), df, float(test.pvalue))


def mcnemar_exact(b: int, c: int) -> float:
    """Exact p-value of McNemar's test, two-sided: ``binom.test(b, b + c)`` of R.

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

    if b == c:  # statsmodels may give 0.9999999999999996
        return 1.0
    return float(contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue)


def mcnemar_mid_p(b: int, c: int) -> float:
    """Mid-p-value of McNemar's test, two-sided.

    The exact p-value less half the probability of the counts that are just as far
    apart. Its size is near the nominal one, where the exact test and the one with
    continuity correction are conservative.

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
