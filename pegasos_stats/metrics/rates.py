"""Statistics of one class against the others: sensitivity, precision and so on."""

from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

# Of rows; of a weighted table their weights.
Counts = NDArray[np.int64] | NDArray[np.float64]


def ratio(numerator: SupportsFloat, denominator: SupportsFloat) -> float:
    """``numerator / denominator``, NaN where the denominator is zero.

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0)
    (0.25, nan)
    """
    if denominator == 0:
        return float("nan")
    return float(numerator) / float(denominator)


def total_of(cells: Counts) -> int:
    """Number of rows in some cells of a table; of a weighted one their weight."""
    found: int = cells.sum().item()
    return found


def sensitivity(counts: Counts, positive: int = 1) -> float:
    """Share of the rows of the class that are predicted as such, ``TP / (TP + FN)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
        Rows are actual, columns predicted levels.
    positive : int, default 1
        Position of the class.

    Returns
    -------
    float, NaN where no row is of the class

    Examples
    --------
    >>> sensitivity(np.array([[285, 15], [8, 292]]), 0)
    0.95
    """
    return ratio(counts[positive, positive], counts[positive].sum())


recall = sensitivity


def specificity(counts: Counts, positive: int = 1) -> float:
    """Share of the rows of other classes not predicted as it, ``TN / (TN + FP)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1

    Returns
    -------
    float, NaN where every row is of the class

    Examples
    --------
    >>> specificity(np.array([[285, 15], [8, 292]]), 0)
    0.9733333333333334
    """
    return ratio(*true_negatives(counts, positive))


def precision(counts: Counts, positive: int = 1) -> float:
    """Share of the rows predicted as the class that are of it, ``TP / (TP + FP)``.

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
    return ratio(counts[positive, positive], counts[:, positive].sum())


def true_negatives(counts: Counts, positive: int) -> tuple[int, int]:
    """Count the rows of other classes: those not predicted as the class, and all.

    Examples
    --------
    >>> true_negatives(np.array([[285, 15], [8, 292]]), 0)
    (292, 300)
    """
    rest = np.delete(counts, positive, axis=0)
    others: int = rest.sum().item()
    right: int = np.delete(rest, positive, axis=1).sum().item()
    return right, others


def prevalence(counts: Counts, positive: int = 1) -> float:
    """Share of the rows that are of the class, ``(TP + FN) / n``.

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
    return ratio(counts[positive].sum(), counts.sum())


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
        Prevalence; that of the table if left out, which gives the precision, to
        rounding, wherever both classes are there.

    Returns
    -------
    float, NaN where sensitivity or specificity is, or where the denominator is zero

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
        Prevalence; that of the table if left out.

    Returns
    -------
    float, NaN where sensitivity or specificity is, or where the denominator is zero

    Examples
    --------
    >>> neg_pred_value(np.array([[285, 15], [8, 292]]), 0)
    0.951140065146579...
    """
    p = prevalence(counts, positive) if share is None else share
    right = specificity(counts, positive) * (1 - p)
    return ratio(right, (1 - sensitivity(counts, positive)) * p + right)


def f_beta(counts: Counts, positive: int = 1, beta: float = 1.0) -> float:
    """F measure, ``(1 + beta^2) * prec * rec / (beta^2 * prec + rec)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1
    beta : float, default 1.0
        Recall counts `beta` times as much as precision.

    Returns
    -------
    float, NaN where precision or recall is, or where both are zero

    References
    ----------
    van Rijsbergen, Information Retrieval, 2nd ed. (1979), chapter 7.

    Examples
    --------
    >>> f_beta(np.array([[285, 15], [8, 292]]), 0)
    0.961214165261382...
    """
    p, r = precision(counts, positive), recall(counts, positive)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def detection_rate(counts: Counts, positive: int = 1) -> float:
    """Share of all rows that are of the class and predicted as such, ``TP / n``.

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
    return ratio(counts[positive, positive], counts.sum())


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
    return ratio(counts[:, positive].sum(), counts.sum())


def balanced_accuracy(counts: Counts, positive: int = 1) -> float:
    """Mean of sensitivity and specificity.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1

    Returns
    -------
    float, NaN where one of the two is

    Examples
    --------
    >>> balanced_accuracy(np.array([[285, 15], [8, 292]]), 0)
    0.9616666666666667
    """
    return (sensitivity(counts, positive) + specificity(counts, positive)) / 2
