"""Decisions of two levels at every threshold of a score, and the best threshold."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.errors import DataError
from pegasos_stats.metrics import rates
from pegasos_stats.metrics.rates import ratio

ROUNDING = 1e-12  # of sums of weights: what is nearer is as good
Tables = NDArray[np.float64]  # shape (m, 2, 2): the positive class is the second level


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
