"""Statistics of scores and probabilities: ROC curve, losses, thresholds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Codes, Matrix, Rows, Vector
from pegasos_stats.errors import DataError
from pegasos_stats.metrics import rates
from pegasos_stats.metrics.rates import ratio

ROUNDING = 1e-12  # of sums of weights: what is nearer is as good
Tables = NDArray[np.float64]  # shape (m, 2, 2): the positive class is the second level


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


class Decisions(NamedTuple):
    """Weight of right and wrong decisions; each array has shape (m,).

    Attributes
    ----------
    tp, fn : float64 array
        Of the rows of the positive class, those predicted as such and the others.
    fp, tn : float64 array
        Of the rows of the other class, those predicted as positive and the others.
    """

    tp: Vector
    fn: Vector
    fp: Vector
    tn: Vector

    @property
    def tables(self) -> Tables:
        """Tables of actual and predicted levels, shape (m, 2, 2)."""
        found = np.array([[self.tn, self.fp], [self.fn, self.tp]])
        return np.moveaxis(found, 2, 0)


def _decisions(below: Tables, above: Tables, positive_is_second: bool) -> Decisions:
    """Decisions from the weights, shape (2, m), of both levels below and above."""
    if positive_is_second:
        return Decisions(above[1], below[1], above[0], below[0])
    return Decisions(below[0], above[0], below[1], above[1])


class ScoredRows(NamedTuple):
    """Rows of two levels with what a threshold is compared with.

    Attributes
    ----------
    values : float64 array, shape (n,)
        Larger scores speak for the second level.
    second : bool array, shape (n,)
        Which rows are of the second level.
    weights : float64 array, shape (n,)
        0 or more.
    """

    values: Vector
    second: NDArray[np.bool_]
    weights: Vector

    def taken(self, at: Rows) -> "ScoredRows":
        """The rows at these positions."""
        return ScoredRows(self.values[at], self.second[at], self.weights[at])

    def at(self, threshold: float, positive_is_second: bool) -> Decisions:
        """Decisions at one threshold; rows exactly at it are undecided."""
        sides = self.values < threshold, self.values > threshold
        below, above = (
            np.array([[self.weights[own & side].sum()] for own in self._levels])
            for side in sides
        )
        return _decisions(below, above, positive_is_second)

    @property
    def _levels(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return ~self.second, self.second


def cut(
    rows: ScoredRows, positive_is_second: bool, usual: float, ends: tuple[float, float]
) -> tuple[Vector, Decisions]:
    """Cut scores in two between any two neighbours, in the middle, and at both ends.

    Where the usual threshold lies between the two it takes the place of the middle,
    as it decides alike. No threshold is a score, so that every row is decided.

    Parameters
    ----------
    rows : ScoredRows
    positive_is_second : bool
        Whether the second level is the positive class.
    usual : float
        Threshold without a choice.
    ends : pair of float
        Threshold below and above all scores.

    Returns
    -------
    thresholds : float64 array, shape (m,), rising
    decisions : Decisions
        Those at each threshold.

    Examples
    --------
    >>> values, second = np.array([0.1, 0.2, 0.2, 0.9]), np.array([0, 0, 1, 1]) > 0
    >>> rows = ScoredRows(values, second, np.ones(4))
    >>> thresholds, decisions = cut(rows, True, 0.5, (0.0, 1.0))
    >>> thresholds
    array([0.  , 0.15, 0.5 , 1.  ])
    >>> decisions.tp, decisions.fp
    (array([2., 2., 1., 0.]), array([2., 1., 0., 0.]))
    """
    rows = rows.taken(np.flatnonzero((rows.weights > 0.0) & ~np.isnan(rows.values)))
    scores, places = np.unique(rows.values, return_inverse=True)
    each = [
        np.bincount(places, rows.weights * own, scores.size) for own in rows._levels
    ]
    below: Tables = np.insert(each, 0, 0.0, axis=1).cumsum(axis=1)
    above = np.maximum(below[:, -1:] - below, 0.0)
    edges = np.concatenate([[-np.inf], scores, [np.inf]])
    middle = scores[:-1] / 2.0 + scores[1:] / 2.0
    thresholds = np.concatenate([[ends[0]], middle, [ends[1]]])
    if usual not in scores:
        thresholds[int(np.searchsorted(scores, usual))] = usual
    apart = (edges[:-1] < thresholds) | np.isneginf(thresholds)
    apart &= (thresholds < edges[1:]) | np.isposinf(thresholds)
    decisions = _decisions(below[:, apart], above[:, apart], positive_is_second)
    return thresholds[apart], decisions


METRICS: dict[str, Callable[[Tables], float]] = {
    "accuracy": rates.accuracy,
    "error_rate": lambda t: ratio(t[:, 0, 1] + t[:, 1, 0], t.sum((1, 2))),
    "balanced_accuracy": rates.balanced_accuracy,
    "youden": lambda t: rates.sensitivity(t) + rates.specificity(t) - 1.0,
    "kappa": rates.kappa,
    "mcc": rates.matthews_correlation,
    "f1": rates.f_measure,
    "f0.5": partial(rates.f_measure, beta=0.5),
    "f2": partial(rates.f_measure, beta=2.0),
    "sensitivity": rates.sensitivity,
    "specificity": rates.specificity,
    "precision": rates.precision,
}
# Best at one end of the scores, and so nothing to choose a threshold by.
ONE_SIDED = ("sensitivity", "specificity", "precision")
CHOOSING = tuple(name for name in METRICS if name not in ONE_SIDED)


@dataclass(frozen=True)
class Target:
    """What a threshold is chosen by: a metric, or what wrong decisions cost.

    Attributes
    ----------
    name : str
        That of a metric, or ``"cost"``.
    false_positive, false_negative : float
        Cost of a wrong decision, for ``"cost"``.
    """

    name: str
    false_positive: float = 0.0
    false_negative: float = 0.0

    @property
    def larger_is_better(self) -> bool:
        """Whether it is maximised."""
        return self.name not in ("cost", "error_rate")

    def of(self, tables: Tables) -> Vector:
        """Its value at each threshold, NaN where it is not defined, shape (m,)."""
        if self.name != "cost":
            return np.asarray(METRICS[self.name](tables))
        wrong = tables[:, 0, 1], tables[:, 1, 0]
        paid = self.false_positive * wrong[0] + self.false_negative * wrong[1]
        return np.asarray(ratio(paid, tables.sum((1, 2))))

    def best(self, thresholds: Vector, decisions: Decisions, usual: float) -> int:
        """Position of the best threshold; of several the one nearest to the usual one.

        Raises
        ------
        DataError
            If it is defined nowhere.
        """
        values = self.of(decisions.tables)
        values = values if self.larger_is_better else -values
        if np.isnan(values).all():
            raise DataError(f"{self.name} is defined at no threshold.")
        best = np.nanmax(values)
        equal = np.flatnonzero(values >= best - ROUNDING * max(1.0, abs(best)))
        far = np.abs(thresholds[equal] - usual)
        return int(equal[np.argmin(far)])
