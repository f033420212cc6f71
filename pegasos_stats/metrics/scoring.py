"""Statistics of scores and probabilities, beyond the table."""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.metrics.ratio import ratio

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]


def area_under_curve(
    codes: Codes, scores: Floats, weights: Floats | None = None
) -> float:
    """Area under the ROC curve, by ranks.

    The share of pairs, one row of each level, in which the row of the second level has
    the larger score; ties count one half. It is Mann and Whitney's ``U / (m n)``, and
    the same for either level as the positive one. With weights a pair counts their
    product.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level.
    scores : float64 array, shape (n,)
        Large for the second level.
    weights : float64 array, shape (n,), optional
        0 or more; 1 if not given.

    Returns
    -------
    float, NaN where a level has no row

    References
    ----------
    Hanley & McNeil, Radiology 143 (1982).

    Examples
    --------
    >>> area_under_curve(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    0.875
    """
    w = np.ones(len(codes)) if weights is None else weights
    _, places = np.unique(scores, return_inverse=True)
    sizes = np.bincount(places, w)
    middles = np.cumsum(sizes) - sizes / 2
    second = codes == 1
    m = w[second].sum()
    u = (w * middles[places])[second].sum() - m * m / 2
    return ratio(u, m * (w.sum() - m))


def log_loss(codes: Codes, probabilities: Floats) -> float:
    """Mean of ``-log(p)``, ``p`` the probability given to the actual level.

    Parameters
    ----------
    codes : int array, shape (n,)
        Position of the actual level.
    probabilities : float64 array, shape (n, k)

    Returns
    -------
    float, infinite where an actual level had probability 0, NaN where there is no row

    Examples
    --------
    >>> log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.25, 0.75]]))
    0.490414...
    """
    given = probabilities[np.arange(len(codes)), codes]
    with np.errstate(divide="ignore"):
        return ratio(np.abs(np.log(given)).sum(), len(codes))


def brier_score(codes: Codes, probabilities: Floats) -> float:
    """Mean squared difference of probability and outcome.

    Two levels: the mean of ``(p - y)^2``, ``y`` 1 for the second level and 0 for the
    first. More levels: Brier's sum over all levels, which for two is twice as large.

    Parameters
    ----------
    codes : int array, shape (n,)
        Position of the actual level.
    probabilities : float64 array, shape (n, k)

    Returns
    -------
    float, NaN where there is no row

    References
    ----------
    Brier, Monthly Weather Review 78 (1950).

    Examples
    --------
    >>> brier_score(np.array([0, 1]), np.array([[0.5, 0.5], [0.25, 0.75]]))
    0.15625
    """
    k = probabilities.shape[1]
    squares = (probabilities - np.eye(k)[codes]) ** 2
    total = squares[:, 1].sum() if k == 2 else squares.sum()
    return ratio(total, len(codes))
