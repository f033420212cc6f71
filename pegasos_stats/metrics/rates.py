"""Proportions of the rows of one class, or of those predicted so."""

from pegasos_stats.metrics.ratio import Counts, ratio


def sensitivity(counts: Counts, positive: int = 0) -> float:
    """Rows of the class that were predicted so, ``TP / (TP + FN)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
        Rows are actual, columns predicted levels.
    positive : int, default 0
        Position of the class.

    Returns
    -------
    float, NaN where no row is of the class

    Examples
    --------
    >>> import numpy as np
    >>> sensitivity(np.array([[285, 15], [8, 292]]))
    0.95
    """
    return ratio(counts[positive, positive], counts[positive].sum())


recall = sensitivity


def specificity(counts: Counts, positive: int = 0) -> float:
    """Rows of other classes that were not predicted so, ``TN / (TN + FP)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 0

    Returns
    -------
    float, NaN where every row is of the class

    Examples
    --------
    >>> import numpy as np
    >>> specificity(np.array([[285, 15], [8, 292]]))
    0.9733333333333334
    """
    return ratio(*true_negatives(counts, positive))


def precision(counts: Counts, positive: int = 0) -> float:
    """Rows predicted so that are of the class, ``TP / (TP + FP)``.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 0

    Returns
    -------
    float, NaN where no row was predicted so

    Examples
    --------
    >>> import numpy as np
    >>> precision(np.array([[285, 15], [8, 292]]))
    0.9726962457337884
    """
    return ratio(counts[positive, positive], counts[:, positive].sum())


def true_negatives(counts: Counts, positive: int) -> tuple[int, int]:
    """Rows of other classes: those not predicted so, and all of them.

    Examples
    --------
    >>> import numpy as np
    >>> true_negatives(np.array([[285, 15], [8, 292]]), 0)
    (292, 300)
    """
    others = int(counts.sum() - counts[positive].sum())
    taken = int(counts[:, positive].sum() - counts[positive, positive])
    return others - taken, others
