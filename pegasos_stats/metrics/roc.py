"""The ROC curve of scores, and the interval of the area under it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.metrics.intervals import Interval, check_interval
from pegasos_stats.metrics.scoring import area_under_curve

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Points of a ROC curve, from (0, 0) to (1, 1); straight lines join them.

    Attributes
    ----------
    false_positive : float64 array, shape (k + 1,)
        Share of the rows of the first level with a score at or above the threshold.
    true_positive : float64 array, shape (k + 1,)
        The same of the second level.
    thresholds : float64 array, shape (k + 1,)
        The different scores, the largest first, after an infinite one.
    """

    false_positive: Floats
    true_positive: Floats
    thresholds: Floats


def roc_curve(codes: Codes, scores: Floats) -> RocCurve:
    """Points of the ROC curve, one for each different score.

    Rows with the same score pass the threshold together, so that the area under the
    lines is `area_under_curve`, where ties count one half.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level; both occur.
    scores : float64 array, shape (n,)
        Large for the second level.

    References
    ----------
    Fawcett, Pattern Recognition Letters 27 (2006), algorithm 1.

    Examples
    --------
    >>> found = roc_curve(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    >>> found.false_positive.tolist(), found.true_positive.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    values, places = np.unique(scores, return_inverse=True)
    shares = [
        np.bincount(places[codes == code], minlength=values.size)[::-1].cumsum()
        / np.count_nonzero(codes == code)
        for code in (0, 1)
    ]
    negative, positive = (np.concatenate([[0.0], share]) for share in shares)
    return RocCurve(negative, positive, np.concatenate([[np.inf], values[::-1]]))


def auc_interval(codes: Codes, scores: Floats, level: float = 0.95) -> Interval:
    """Confidence interval of the area under the ROC curve, by DeLong's variance.

    ``A +- z sqrt(S1 / m + S0 / n)``, cut off at 0 and 1. ``S1`` is the variance, over
    the ``m`` rows of the second level, of the share of rows of the first with a
    smaller score, ties one half; ``S0`` likewise over the ``n`` rows of the first.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level.
    scores : float64 array, shape (n,)
        Large for the second level.
    level : float, default 0.95

    Returns
    -------
    Interval
        NaN where a level has fewer than two rows, or where no row is out of order,
        so that the variance is 0 and says nothing.

    Raises
    ------
    OptionError
        If the level is not between 0 and 1.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988), equations 4 to 6; by ranks
    as in Sun & Xu, IEEE Signal Processing Letters 21 (2014).

    Examples
    --------
    >>> auc_interval(np.array([0, 0, 0, 1, 1, 1]), np.arange(6.0)[[0, 3, 1, 2, 4, 5]])
    Interval(low=0.580..., high=1.0)
    """
    from scipy.special import ndtri

    level = check_interval("exact", level)
    variance = _delong_variance(codes, scores)
    if not variance > 0.0:
        return Interval(float("nan"), float("nan"))
    area = area_under_curve(codes, scores)
    half = float(ndtri((1.0 + level) / 2.0)) * variance**0.5
    return Interval(max(area - half, 0.0), min(area + half, 1.0))


def _delong_variance(codes: Codes, scores: Floats) -> float:
    """Variance of the area, NaN where a level has fewer than two rows."""
    from scipy.stats import rankdata

    among_all = rankdata(scores)
    variance = 0.0
    for code in (0, 1):
        own = codes == code
        size = int(np.count_nonzero(own))
        if size < 2:
            return float("nan")
        others = len(codes) - size
        before = (among_all[own] - rankdata(scores[own])) / others
        variance += float(before.var(ddof=1)) / size
    return variance
