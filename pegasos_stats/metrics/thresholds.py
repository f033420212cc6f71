"""Decisions of two levels at every threshold of a score, and the best threshold."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.errors import DataError

Measure = Callable[["Decisions"], Vector]
ROUNDING = 1e-12  # of sums of weights: what is nearer is as good


@dataclass(frozen=True, eq=False)
class Decisions:
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

    def __add__(self, other: "Decisions") -> "Decisions":
        return Decisions(
            self.tp + other.tp,
            self.fn + other.fn,
            self.fp + other.fp,
            self.tn + other.tn,
        )

    @property
    def total(self) -> Vector:
        """Weight of all rows."""
        return self.tp + self.fn + self.fp + self.tn


@dataclass(frozen=True, eq=False)
class ScoredRows:
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
        above, below = self.values > threshold, self.values < threshold

        def weight(mark: NDArray[np.bool_]) -> Vector:
            return np.array([float(self.weights[mark].sum())])

        return _decisions(
            weight(self.second & above),
            weight(self.second & below),
            weight(~self.second & above),
            weight(~self.second & below),
            positive_is_second,
        )


def _decisions(
    second_above: Vector,
    second_below: Vector,
    first_above: Vector,
    first_below: Vector,
    positive_is_second: bool,
) -> Decisions:
    if positive_is_second:
        return Decisions(second_above, second_below, first_above, first_below)
    return Decisions(first_below, first_above, second_below, second_above)


@dataclass(frozen=True, eq=False)
class Cuts:
    """Every way to cut scores in two, in rising order of the thresholds.

    Attributes
    ----------
    thresholds : float64 array, shape (m,)
        None of them is a score, so that every row is decided.
    decisions : Decisions
    """

    thresholds: Vector
    decisions: Decisions

    @classmethod
    def of(
        cls,
        rows: ScoredRows,
        positive_is_second: bool,
        usual: float,
        ends: tuple[float, float],
    ) -> "Cuts":
        """Cut between any two neighbouring scores, in the middle, and at both ends.

        Where the usual threshold lies between the two it takes the place of the middle,
        as it decides alike.

        Parameters
        ----------
        rows : ScoredRows
        positive_is_second : bool
            Whether the second level is the positive class.
        usual : float
            Threshold without a choice.
        ends : pair of float
            Threshold below and above all scores.

        Examples
        --------
        >>> values, second = np.array([0.1, 0.2, 0.2, 0.9]), np.array([0, 0, 1, 1]) > 0
        >>> rows = ScoredRows(values, second, np.ones(4))
        >>> cuts = Cuts.of(rows, True, 0.5, (0.0, 1.0))
        >>> cuts.thresholds
        array([0.  , 0.15, 0.5 , 1.  ])
        >>> cuts.decisions.tp, cuts.decisions.fp
        (array([2., 2., 1., 0.]), array([2., 1., 0., 0.]))
        """
        used = (rows.weights > 0.0) & ~np.isnan(rows.values)
        second, weights = rows.second[used], rows.weights[used]
        scores: Vector
        scores, places = np.unique(rows.values[used], return_inverse=True)
        second_below, first_below = (
            np.concatenate([[0.0], np.bincount(places, weights * own, scores.size)])
            for own in (second, ~second)
        )
        second_below, first_below = second_below.cumsum(), first_below.cumsum()
        edges = np.concatenate([[-np.inf], scores, [np.inf]])
        middle = scores[:-1] / 2.0 + scores[1:] / 2.0
        thresholds = np.concatenate([[ends[0]], middle, [ends[1]]])
        place = int(np.searchsorted(scores, usual))
        if usual not in scores:
            thresholds[place] = usual
        apart = (edges[:-1] < thresholds) | np.isneginf(thresholds)
        apart &= (thresholds < edges[1:]) | np.isposinf(thresholds)
        decisions = _decisions(
            np.maximum(second_below[-1] - second_below, 0.0)[apart],
            second_below[apart],
            np.maximum(first_below[-1] - first_below, 0.0)[apart],
            first_below[apart],
            positive_is_second,
        )
        return cls(thresholds[apart], decisions)


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

    def of(self, found: Decisions) -> Vector:
        """Its value at each threshold, NaN where it is not defined, shape (m,)."""
        if self.name != "cost":
            return METRICS[self.name](found)
        paid = self.false_positive * found.fp + self.false_negative * found.fn
        return _ratio(paid, found.total)

    def best(self, cuts: Cuts, usual: float) -> int:
        """Position of the best threshold; of several the one nearest to the usual one.

        Raises
        ------
        DataError
            If it is defined nowhere.
        """
        values = self.of(cuts.decisions)
        values = values if self.larger_is_better else -values
        if np.isnan(values).all():
            raise DataError(
                f"{self.name} is defined at no threshold, as the rows that it is "
                "chosen by are not of both levels; give rows of both."
            )
        best = np.nanmax(values)
        equal = np.flatnonzero(values >= best - ROUNDING * max(1.0, abs(best)))
        far = np.abs(cuts.thresholds[equal] - usual)
        return int(equal[np.argmin(far)])


def _ratio(numerator: Vector, denominator: Vector) -> Vector:
    """Quotients, NaN where the denominator is 0."""
    found = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=found, where=denominator != 0.0)
    return found


def sensitivity(d: Decisions) -> Vector:
    """``TP / (TP + FN)``."""
    return _ratio(d.tp, d.tp + d.fn)


def specificity(d: Decisions) -> Vector:
    """``TN / (TN + FP)``."""
    return _ratio(d.tn, d.tn + d.fp)


def precision(d: Decisions) -> Vector:
    """``TP / (TP + FP)``."""
    return _ratio(d.tp, d.tp + d.fp)


def accuracy(d: Decisions) -> Vector:
    """``(TP + TN) / n``."""
    return _ratio(d.tp + d.tn, d.total)


def error_rate(d: Decisions) -> Vector:
    """``(FP + FN) / n``."""
    return _ratio(d.fp + d.fn, d.total)


def balanced_accuracy(d: Decisions) -> Vector:
    """Mean of sensitivity and specificity."""
    return (sensitivity(d) + specificity(d)) / 2.0


def youden(d: Decisions) -> Vector:
    """Youden's ``J``, sensitivity + specificity - 1."""
    return sensitivity(d) + specificity(d) - 1.0


def kappa(d: Decisions) -> Vector:
    """Cohen's kappa."""
    n = d.total
    chance = (d.tp + d.fn) * (d.tp + d.fp) + (d.tn + d.fp) * (d.tn + d.fn)
    return _ratio(n * (d.tp + d.tn) - chance, n * n - chance)


def mcc(d: Decisions) -> Vector:
    """Matthews' correlation."""
    sides = (d.tp + d.fp) * (d.tp + d.fn) * (d.tn + d.fp) * (d.tn + d.fn)
    return _ratio(d.tp * d.tn - d.fp * d.fn, np.sqrt(sides))


def f_beta(beta: float) -> Measure:
    """``(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)``, 0 without a hit."""
    square = beta * beta

    def measure(d: Decisions) -> Vector:
        hits = (1.0 + square) * d.tp
        return _ratio(hits, hits + square * d.fn + d.fp)

    return measure


METRICS: dict[str, Measure] = {
    "accuracy": accuracy,
    "error_rate": error_rate,
    "balanced_accuracy": balanced_accuracy,
    "youden": youden,
    "kappa": kappa,
    "mcc": mcc,
    "f1": f_beta(1.0),
    "f0.5": f_beta(0.5),
    "f2": f_beta(2.0),
    "sensitivity": sensitivity,
    "specificity": specificity,
    "precision": precision,
}
# Best at one end of the scores, and so nothing to choose a threshold by.
ONE_SIDED = ("sensitivity", "specificity", "precision")
CHOOSING = tuple(name for name in METRICS if name not in ONE_SIDED)
