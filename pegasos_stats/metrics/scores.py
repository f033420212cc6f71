"""Statistics of scores and probabilities: ROC curve, log loss, Brier score."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pegasos_stats.arrays import Codes, Mask, Matrix, Vector
from pegasos_stats.checks import check_choice
from pegasos_stats.metrics.intervals import NONE, Interval, quantile
from pegasos_stats.metrics.rates import ratio

Scale = Literal["logit", "plain"]
SCALES: tuple[Scale, ...] = ("logit", "plain")


@dataclass(frozen=True, repr=False, eq=False)
class Scored:
    """Actual labels of the rows, with their scores, their probabilities or both.

    Attributes
    ----------
    codes : int array, shape (n,)
        Position of the actual level, -1 where it is missing.
    scores : float64 array, shape (n,), optional
    probabilities : float64 array, shape (n, k), optional
    weights : float64 array, shape (n,), optional
    """

    codes: Codes
    scores: Vector | None = None
    probabilities: Matrix | None = None
    weights: Vector | None = None

    def terms(self, pooled: bool = False) -> dict[str, float]:
        """Area under the ROC curve, log loss and Brier score, as far as data are given.

        Rows without an actual label, a score or a probability are left out. A score
        of exactly 0, which leaves the predicted label open, counts as any other. The
        area is called ``auc_pooled`` where the scores are those of several fits.
        """
        found = {}
        if self.scores is not None:
            used = self._used(self.scores)
            area = area_under_curve(
                self.codes[used], self.scores[used], self._weights(used)
            )
            found["auc_pooled" if pooled else "auc"] = area
        if self.probabilities is not None:
            used = self._used(self.probabilities.sum(axis=1))
            for name, loss in (("log_loss", log_loss), ("brier_score", brier_score)):
                given = self.codes[used], self.probabilities[used]
                found[name] = loss(*given, self._weights(used))
        return found

    def area_limits(self, level: float = 0.95) -> Interval:
        """DeLong's interval of the area on the logit scale; NaN without scores."""
        if self.scores is None:
            return NONE
        used = self._used(self.scores)
        return auc_interval(self.codes[used], self.scores[used], level)

    def _used(self, values: Vector) -> Mask:
        """Rows with a level and a value."""
        return np.asarray((self.codes >= 0) & ~np.isnan(values))

    def _weights(self, used: Mask) -> Vector | None:
        return None if self.weights is None else self.weights[used]


def area_under_curve(
    codes: Codes, scores: Vector, weights: Vector | None = None
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
        Larger scores speak for the second level.
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


def areas_under_curves(codes: Codes, scores: Matrix, weights: Vector) -> Vector:
    """`area_under_curve` of each line of scores, shape (m, n).

    Examples
    --------
    >>> scores = np.array([[0.1, 0.4, 0.4, 0.8], [0.1, 0.5, 0.4, 0.8]])
    >>> areas_under_curves(np.array([0, 0, 1, 1]), scores, np.ones(4))
    array([0.875, 0.75 ])
    """
    order = np.argsort(scores, axis=1)
    sizes, at = weights[order], np.take_along_axis(scores, order, axis=1)
    middles = np.cumsum(sizes, axis=1) - sizes / 2
    second = weights * (codes == 1)
    m, total = float(second.sum()), float(weights.sum())
    u = (middles * second[order]).sum(axis=1) - m * m / 2
    if not m * (total - m) > 0.0:
        return np.full(len(scores), np.nan)
    found = np.asarray(u / (m * (total - m)))
    for line in np.flatnonzero((at[:, 1:] == at[:, :-1]).any(axis=1)):  # ties
        found[line] = area_under_curve(codes, scores[line], weights)
    return found


def log_loss(
    codes: Codes, probabilities: Matrix, weights: Vector | None = None
) -> float:
    """Mean of ``-log(p)``, ``p`` the probability given to the actual level.

    Parameters
    ----------
    codes : int array, shape (n,)
        Position of the actual level.
    probabilities : float64 array, shape (n, k)
    weights : float64 array, shape (n,), optional

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
        losses = np.abs(np.log(given))
    w = np.ones(len(codes)) if weights is None else weights
    counting = w > 0.0
    return ratio((w[counting] * losses[counting]).sum(), w.sum())


def brier_score(
    codes: Codes, probabilities: Matrix, weights: Vector | None = None
) -> float:
    """Mean squared difference of probability and outcome.

    Two levels: the mean of ``(p - y)^2``, ``y`` 1 for the second level and 0 for the
    first. More levels: Brier's sum over all levels, which for two is twice as large.

    Parameters
    ----------
    codes : int array, shape (n,)
        Position of the actual level.
    probabilities : float64 array, shape (n, k)
    weights : float64 array, shape (n,), optional

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
    each = squares[:, 1] if k == 2 else squares.sum(axis=1)
    w = np.ones(len(codes)) if weights is None else weights
    return ratio((w * each).sum(), w.sum())


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

    false_positive: Vector
    true_positive: Vector
    thresholds: Vector


def roc_curve(codes: Codes, scores: Vector) -> RocCurve:
    """Points of the ROC curve, one for each different score.

    Rows with the same score pass the threshold together, so that the area under the
    lines is `area_under_curve`, where ties count one half.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level; both occur.
    scores : float64 array, shape (n,)
        Larger scores speak for the second level.

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


def auc_interval(
    codes: Codes, scores: Vector, level: float = 0.95, scale: Scale = "logit"
) -> Interval:
    """Confidence interval of the area under the ROC curve, by DeLong's variance.

    The variance is ``V = S1 / m + S0 / n``. ``S1`` is the variance, over the ``m`` rows
    of the second level, of the share of rows of the first with a smaller score, ties
    one half; ``S0`` likewise over the ``n`` rows of the first. The interval is
    ``logit(A) +- z sqrt(V) / (A (1 - A))``, taken back to areas; it covers near 1 too.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level.
    scores : float64 array, shape (n,)
        Larger scores speak for the second level.
    level : float, default 0.95
    scale : "logit" or "plain", default "logit"
        ``"plain"`` is ``A +- z sqrt(V)``, cut off at 0 and 1, as ``ci.auc`` of R's pROC
        has it; near 1 it covers too seldom.

    Returns
    -------
    Interval
        NaN where a level has fewer than two rows, or where no row is out of order,
        so that the variance is 0 and says nothing.

    Raises
    ------
    OptionError
        If the level is not between 0 and 1, or the scale is not known.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988), equations 4 to 6; by ranks
    as in Sun & Xu, IEEE Signal Processing Letters 21 (2014); Pepe, *The Statistical
    Evaluation of Medical Tests* (2003), section 5.2.3, for the logit.

    Examples
    --------
    >>> scores = np.arange(6.0)[[0, 3, 1, 2, 4, 5]]
    >>> auc_interval(np.array([0, 0, 0, 1, 1, 1]), scores)
    Interval(low=0.261..., high=0.994...)
    >>> auc_interval(np.array([0, 0, 0, 1, 1, 1]), scores, scale="plain")
    Interval(low=0.580..., high=1.0)
    """
    from scipy.special import expit, logit

    check_choice("scale", scale, SCALES)
    z, n_second = quantile(level), int(np.count_nonzero(codes == 1))
    if min(n_second, len(codes) - n_second) < 2:
        return NONE
    variance = delong_variance(placement_values(codes, scores))
    if not variance > 0.0:
        return NONE
    area, half = area_under_curve(codes, scores), z * variance**0.5
    if scale == "plain":
        return Interval(max(area - half, 0.0), min(area + half, 1.0))
    middle, half = float(logit(area)), half / (area * (1.0 - area))
    return Interval(float(expit(middle - half)), float(expit(middle + half)))


def placement_values(codes: Codes, scores: Vector) -> tuple[Vector, Vector]:
    """Shares of the rows of the other level with a smaller score, ties one half.

    By midranks, in time ``O(n log n)``; the mean of the second is the area.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level; both occur.
    scores : float64 array, shape (n,)

    Returns
    -------
    pair of float64 arrays
        Of the rows of the first level, and of those of the second.

    References
    ----------
    Sun & Xu, IEEE Signal Processing Letters 21 (2014).

    Examples
    --------
    >>> placement_values(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    (array([0.  , 0.25]), array([0.75, 1.  ]))
    """
    from scipy.stats import rankdata

    among_all = rankdata(scores)
    first, second = (codes == code for code in (0, 1))
    below = [
        (among_all[own] - rankdata(scores[own])) / np.count_nonzero(other)
        for own, other in ((first, second), (second, first))
    ]
    return below[0], below[1]


def delong_variance(placements: tuple[Vector, Vector]) -> float:
    """Variance of an area, or of the difference of two, by placement values.

    NaN where a level has fewer than two rows.

    Examples
    --------
    >>> codes, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8])
    >>> delong_variance(placement_values(codes, scores))
    0.03125
    """
    if min(map(len, placements)) < 2:
        return float("nan")
    return sum(float(each.var(ddof=1)) / len(each) for each in placements)
