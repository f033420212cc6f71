"""Statistics of scores: areas, losses, curves, and decisions at thresholds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Axes, Codes, Integers, Matrix, Rows, Vector
from pegasos_stats.checks import check_fraction, whole_of
from pegasos_stats.data.user_data import floats_of, is_name
from pegasos_stats.errors import DataError, OptionError, counted, shown
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics import rates
from pegasos_stats.metrics.inputs import check_both_levels, events_of
from pegasos_stats.metrics.rates import ratio
from pegasos_stats.tables import Cells, Displayed, Facts, Lines, Part, percent

RELATIVE_TIE = 1e-12  # relative difference up to which values tie: sums are rounded
SCORES_AT_ONCE = 2**16  # rows at a time
Tables = NDArray[np.float64]  # shape (m, 2, 2): the positive class is the second level
# These metrics are usually largest at an extreme threshold, so they cannot choose one.
ONE_SIDED = ("sensitivity", "specificity", "precision")
NORMAL_95 = 1.959963984540054  # half-width of a 95% interval, in standard errors
COLUMNS = ["model", "threshold", "n", "prevalence", "tp_rate", "fp_rate"]
ALL, NONE = "all", "none"  # rules without a model: every row is positive, or no row
PRINTED_THRESHOLDS = 10
BAND_SAMPLES = 1000  # simulated samples that calibrate a ROC band
SIMULATED_ROWS = 5000  # largest simulated class
BISECTIONS = 20  # bisection steps for the logarithm of the local level
MAX_CELLS = 1000  # more distinct probabilities are rounded to three decimals


def area_under_curve(
    codes: Codes, scores: Vector, weights: Vector | None = None
) -> float:
    """Area under the ROC curve, by ranks.

    It is the share of pairs, one row of each level, in which the row of the second
    level has the larger score; ties count one half. It equals Mann and Whitney's
    ``U / (m n)`` and does not depend on which level is positive. The weight of a pair
    is the product of the weights of its rows.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level, -1 for excluded rows.
    scores : float64 array, shape (n,)
        Larger scores indicate the second level.
    weights : float64 array, shape (n,), optional
        0 or more, by default 1.

    Returns
    -------
    float, NaN if a level has no row

    References
    ----------
    Hanley & McNeil, Radiology 143 (1982).

    Examples
    --------
    >>> area_under_curve(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    0.875
    """
    return counts_of_pairs(codes, scores, weights).area


class PairCounts(NamedTuple):
    """Numbers, weights or shares of pairs of rows, with one row of each level.

    Attributes
    ----------
    larger : float
        Pairs in which the row of the second level has the larger score.
    tied : float
        Pairs with equal scores.
    total : float, default 1.0
        All pairs.
    """

    larger: float
    tied: float
    total: float = 1.0

    @property
    def area(self) -> float:
        """Area under the ROC curve; ties count one half."""
        return ratio(self.larger + self.tied / 2, self.total)

    @property
    def shares(self) -> "PairCounts":
        """Shares of all pairs.

        Examples
        --------
        >>> PairCounts(larger=3, tied=1, total=4).shares
        PairCounts(larger=0.75, tied=0.25, total=1.0)
        """
        return PairCounts(ratio(self.larger, self.total), ratio(self.tied, self.total))


def counts_of_pairs(
    codes: Codes, scores: Vector, weights: Vector | None = None
) -> PairCounts:
    """Count pairs in which the row of the second level has the larger score, and ties.

    The arguments are those of `area_under_curve`. Without weights the function needs
    memory for about two copies of the scores.

    Examples
    --------
    >>> counts_of_pairs(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    PairCounts(larger=3, tied=1, total=4)
    """
    if weights is not None:
        _, places = np.unique(scores, return_inverse=True)
        sides = (np.bincount(places, weights * (codes == code)) for code in (0, 1))
        first, second = sides
        larger, tied = second @ (np.cumsum(first) - first), second @ first
        return PairCounts(float(larger), float(tied), first.sum() * second.sum())
    first, second = (np.sort(scores[codes == code]) for code in (0, 1))
    below, up_to = (
        sum(
            int(np.searchsorted(first, second[at : at + SCORES_AT_ONCE], side).sum())
            for at in range(0, second.size, SCORES_AT_ONCE)
        )
        for side in ("left", "right")
    )
    return PairCounts(below, up_to - below, first.size * second.size)


def areas_under_curves(codes: Codes, scores: Matrix, weights: Vector) -> Vector:
    """Compute `area_under_curve` for each row of a matrix of scores, shape (m, n).

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
    areas = np.asarray(u / (m * (total - m)))
    for line in np.flatnonzero((at[:, 1:] == at[:, :-1]).any(axis=1)):  # ties
        areas[line] = area_under_curve(codes, scores[line], weights)
    return areas


def log_loss(
    codes: Codes, probabilities: Matrix, weights: Vector | None = None
) -> float:
    """Mean of ``-log(p)``, where ``p`` is the probability of the actual level.

    Parameters
    ----------
    codes : int array, shape (n,)
        Position of the actual level.
    probabilities : float64 array, shape (n, k)
    weights : float64 array, shape (n,), optional

    Returns
    -------
    float, infinite if an actual level had probability 0, NaN if there is no row

    Examples
    --------
    >>> log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.25, 0.75]]))
    0.490414...
    """
    actual_probabilities = probabilities[np.arange(len(codes)), codes]
    with np.errstate(divide="ignore"):
        losses = np.abs(np.log(actual_probabilities))
    w = np.ones(len(codes)) if weights is None else weights
    positive_weight = w > 0.0
    return ratio((w[positive_weight] * losses[positive_weight]).sum(), w.sum())


def brier_score(
    codes: Codes, probabilities: Matrix, weights: Vector | None = None
) -> float:
    """Mean squared difference of probability and outcome.

    Two levels: the mean of ``(p - y)^2``, where ``y`` is 1 for the second level and 0
    for the first. More levels: Brier's sum over all levels, which is twice as large for
    two levels.

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
    squares_of_rows = squares[:, 1] if k == 2 else squares.sum(axis=1)
    w = np.ones(len(codes)) if weights is None else weights
    return ratio((w * squares_of_rows).sum(), w.sum())


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Points of a ROC curve, from (0, 0) to (1, 1); straight lines join them.

    Attributes
    ----------
    false_positive : float64 array, shape (k + 1,)
        Share of the rows of the first level with a score at or above the threshold.
    true_positive : float64 array, shape (k + 1,)
        Share of the rows of the second level with a score at or above the threshold.
    thresholds : float64 array, shape (k + 1,)
        Infinity, then the distinct scores, the largest first.
    """

    false_positive: Vector
    true_positive: Vector
    thresholds: Vector


def roc_curve(codes: Codes, scores: Vector) -> RocCurve:
    """Compute the points of the ROC curve: (0, 0) and one for each distinct score.

    A line joins the points before and after a group of tied scores. The area under the
    lines therefore equals `area_under_curve`, where ties count one half.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level; both occur.
    scores : float64 array, shape (n,)
        Larger scores indicate the second level.

    References
    ----------
    Fawcett, Pattern Recognition Letters 27 (2006), algorithm 1.

    Examples
    --------
    >>> curve = roc_curve(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    >>> curve.false_positive.tolist(), curve.true_positive.tolist()
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
    """Weights of correct and wrong decisions; all arrays have shape (m,).

    Attributes
    ----------
    tp, fn : float64 array
        Rows of the positive class, predicted positive and predicted negative.
    fp, tn : float64 array
        Rows of the other class, predicted positive and predicted negative.
    """

    tp: Vector
    fn: Vector
    fp: Vector
    tn: Vector

    @property
    def tables(self) -> Tables:
        """Tables of actual and predicted levels, shape (m, 2, 2)."""
        cells = np.array([[self.tn, self.fp], [self.fn, self.tp]])
        return np.moveaxis(cells, 2, 0)


def _decisions(below: Tables, above: Tables, positive_is_second: bool) -> Decisions:
    """Return decisions from the weights below and above each threshold.

    `below` and `above` have one row for each level, shape (2, m).
    """
    if positive_is_second:
        return Decisions(above[1], below[1], above[0], below[0])
    return Decisions(below[0], above[0], below[1], above[1])


class ScoredRows(NamedTuple):
    """Rows of two levels with the values that are compared with a threshold.

    Attributes
    ----------
    values : float64 array, shape (n,)
        Larger scores indicate the second level.
    second : bool array, shape (n,)
        Whether a row belongs to the second level.
    weights : float64 array, shape (n,)
        0 or more.
    """

    values: Vector
    second: NDArray[np.bool_]
    weights: Vector

    def subset(self, at: Rows) -> "ScoredRows":
        """Return the rows at these positions."""
        return ScoredRows(self.values[at], self.second[at], self.weights[at])

    def at(self, threshold: float, positive_is_second: bool) -> Decisions:
        """Return decisions at a threshold, without the rows whose value equals it."""
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
    """Return the thresholds midway between neighbouring scores and at both ends.

    The default threshold replaces the threshold between the same two scores, because
    the decisions are the same. No threshold equals a score, so every row has a
    decision.

    Parameters
    ----------
    rows : ScoredRows
    positive_is_second : bool
        Whether the second level is the positive class.
    usual : float
        Default threshold.
    ends : pair of float
        Threshold below and above all scores.

    Returns
    -------
    thresholds : float64 array, shape (m,), increasing
    decisions : Decisions
        Decisions at each threshold.

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
    rows = rows.subset(np.flatnonzero((rows.weights > 0.0) & ~np.isnan(rows.values)))
    scores, places = np.unique(rows.values, return_inverse=True)
    weights_of_levels = [
        np.bincount(places, rows.weights * own, scores.size) for own in rows._levels
    ]
    below: Tables = np.insert(weights_of_levels, 0, 0.0, axis=1).cumsum(axis=1)
    above = np.maximum(below[:, -1:] - below, 0.0)
    edges = np.concatenate([[-np.inf], scores, [np.inf]])
    middle = scores[:-1] / 2.0 + scores[1:] / 2.0
    thresholds = np.concatenate([[ends[0]], middle, [ends[1]]])
    if usual not in scores:
        thresholds[int(np.searchsorted(scores, usual))] = usual
    separating = (edges[:-1] < thresholds) | np.isneginf(thresholds)
    separating &= (thresholds < edges[1:]) | np.isposinf(thresholds)
    decisions = _decisions(
        below[:, separating], above[:, separating], positive_is_second
    )
    return thresholds[separating], decisions


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
CHOOSING = tuple(name for name in METRICS if name not in ONE_SIDED)


@dataclass(frozen=True)
class Target:
    """Criterion for a threshold: a metric, or the cost of wrong decisions.

    Attributes
    ----------
    name : str
        Name of a metric, or ``"cost"``.
    false_positive, false_negative : float
        Cost of a wrong decision, for ``"cost"``.
    """

    name: str
    false_positive: float = 0.0
    false_negative: float = 0.0

    @property
    def larger_is_better(self) -> bool:
        """Whether the criterion is maximised."""
        return self.name not in ("cost", "error_rate")

    def of(self, tables: Tables) -> Vector:
        """Return the criterion at each threshold, NaN if undefined, shape (m,)."""
        if self.name != "cost":
            return np.asarray(METRICS[self.name](tables))
        wrong = tables[:, 0, 1], tables[:, 1, 0]
        costs = self.false_positive * wrong[0] + self.false_negative * wrong[1]
        return np.asarray(ratio(costs, tables.sum((1, 2))))

    def best(self, thresholds: Vector, decisions: Decisions, usual: float) -> int:
        """Return the position of the best threshold; ties go to the nearest to `usual`.

        Raises
        ------
        DataError
            If the criterion is not defined at any threshold.
        """
        values = self.of(decisions.tables)
        values = values if self.larger_is_better else -values
        if np.isnan(values).all():
            raise DataError(
                f"{self.name} is not defined at any threshold; use another metric."
            )
        best = np.nanmax(values)
        equal = np.flatnonzero(values >= best - RELATIVE_TIE * max(1.0, abs(best)))
        distances = np.abs(thresholds[equal] - usual)
        return int(equal[np.argmin(distances)])


@suggest_names("precision_recall")
@dataclass(frozen=True, repr=False, eq=False)
class PrecisionRecall(Facts):
    """Precision and recall at each score; returned by `precision_recall`.

    Attributes
    ----------
    table : DataFrame
        Columns ``threshold, precision, recall``. The first row has an infinite
        threshold, precision 1 and recall 0; then follow the distinct scores, the
        largest first. Rows with a score at or above the threshold are predicted
        positive.
    average_precision : float
        ``sum_k (R_k - R_(k-1)) P_k`` over the distinct scores, the largest first.
    prevalence : float
        Share of the positive class, which is the precision of random guessing.
    positive : label
    nobs : int
        Number of rows used.
    n_left_out : int
        Number of rows without a label or a score.

    Examples
    --------
    >>> curve = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.table[["threshold", "precision"]].round(2).to_numpy().tolist()
    [[inf, 1.0], [0.8, 1.0], [0.4, 0.5], [0.35, 0.67], [0.1, 0.5]]
    >>> curve.table["recall"].tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """

    table: pd.DataFrame
    average_precision: float
    prevalence: float
    positive: object
    nobs: int
    n_left_out: int

    _field_rules = "n_left_out nonnegative"

    _title = "Precision and Recall"

    def tidy(self) -> pd.DataFrame:
        """Return the curve, in columns ``threshold, precision, recall``."""
        return self.table.copy()

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw precision against recall; average precision is the area below the steps.

        The dotted line is the share of the positive class.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the curve.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_precision_recall

        return draw_precision_recall(self, ax, line)

    def _facts(self) -> dict[str, str]:
        share = percent(self.prevalence)
        return {
            "Rows": f"{self.nobs:,}, {share} of them {self.positive!r}",
            "Average precision": f"{self.average_precision:.4f}",
        }


@suggest_arguments
def precision_recall(
    actual: object, scores: object, *, positive: object = None
) -> PrecisionRecall:
    """Precision against recall at each score, and the average precision.

    Precision is the share of the rows predicted positive that are positive. Recall is
    the share of the positive rows that are predicted positive. If the positive class is
    rare, precision shows how many false positives there are per true positive, which a
    ROC curve does not show.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    scores : Series or array, shape (n,); or DataFrame
        Scores, larger for the positive class; or probabilities of two levels, one
        column per level. Rows without a label or a score are excluded and counted.
    positive : label, optional
        The positive class; by default the second level.

    Returns
    -------
    PrecisionRecall
        Equal to scikit-learn's ``average_precision_score`` and, in reversed order,
        ``precision_recall_curve``.

    Raises
    ------
    DataError
        If labels and scores differ in length or row labels, or a level has no row.
    OptionError
        If there are not two levels, or `positive` is not one of them.

    References
    ----------
    Davis & Goadrich, *The relationship between precision-recall and ROC curves*, ICML
    (2006), on why points are not joined by lines; Saito & Rehmsmeier, PLoS ONE 10
    (2015).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ p34 + p43", train).fit()
    >>> curve = ps.precision_recall(test["digit"], result.decision_function(test))
    >>> print(curve)
    Rows               163, ...% of them 6
    Average precision  0...
    """
    events = events_of(actual, scores, positive, "scores")
    used = events.is_complete
    codes, values = check_both_levels(events, used), events.values[used]
    order = np.argsort(-values, kind="stable")
    sorted_values = values[order]
    last = np.r_[
        np.flatnonzero(sorted_values[1:] != sorted_values[:-1]), sorted_values.size - 1
    ]  # the last row of each group of ties
    true = np.cumsum(codes[order])[last]
    precision, recall = true / (last + 1.0), true / true[-1]
    table = pd.DataFrame(
        {
            "threshold": np.r_[np.inf, sorted_values[last]],
            "precision": np.r_[1.0, precision],
            "recall": np.r_[0.0, recall],
        }
    )
    return PrecisionRecall(
        table=table,
        average_precision=float(np.diff(recall, prepend=0.0) @ precision),
        prevalence=float(codes.mean()),
        positive=events.positive,
        nobs=int(used.sum()),
        n_left_out=int((~used).sum()),
    )


@suggest_names("decision_curve")
@dataclass(frozen=True, repr=False, eq=False)
class DecisionCurve(Displayed):
    """Net benefit at each threshold; returned by `decision_curve`.

    Attributes
    ----------
    table : DataFrame
        One row for each model and threshold, then the rules ``all`` and ``none``:
        columns ``model, threshold, n, prevalence, tp_rate, fp_rate, net_benefit,
        conf_low, conf_high``. The rates are shares of all rows. The last two columns
        are pointwise 95% limits of the net benefit.
    positive : label
    nobs : int
        Number of rows used.
    n_left_out : int
        Number of rows excluded because the label or a probability is missing.

    Examples
    --------
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], [0.2, 0.5])
    >>> curve.table.set_index(["model", "threshold"])["net_benefit"].round(4)
    model  threshold
    model  0.2          0.4375
           0.5          0.2500
    all    0.2          0.3750
           0.5          0.0000
    none   0.2          0.0000
           0.5          0.0000
    Name: net_benefit, dtype: float64
    """

    table: pd.DataFrame
    positive: object
    nobs: int
    n_left_out: int

    _field_rules = "n_left_out nonnegative"

    def tidy(self) -> pd.DataFrame:
        """Return the curves, as a copy of `table`."""
        return self.table.copy()

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw net benefit against the threshold, with the rules ``all`` and ``none``.

        Bands are pointwise 95% intervals. The vertical axis ends a little below 0. A
        model below both rules does harm.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the lines of the models.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_decision_curve

        return draw_decision_curve(self.table, self.positive, ax, line)

    def _printed_values(self) -> pd.DataFrame:
        """Return net benefits at a few thresholds, one column per model."""
        wide = self.table.pivot(
            index="threshold", columns="model", values="net_benefit"
        )[list(dict.fromkeys(self.table["model"]))]
        rows = (
            np.linspace(0, len(wide) - 1, min(PRINTED_THRESHOLDS, len(wide)))
            .round()
            .astype(int)
        )
        return wide.iloc[rows].rename_axis(columns=None)

    def _lines(self) -> list[str]:
        lines = [f"Net benefit for {self.positive!r}, {counted(self.nobs, 'row')}"]
        if self.n_left_out:
            left_out = counted(self.n_left_out, "row")
            lines.append(f"Excluded: {left_out} without a label or a probability")
        return lines

    def __str__(self) -> str:
        first, *rest = self._lines()
        table = self._printed_values().to_string(float_format="%.4f")
        return "\n".join([first, table, *rest])

    __repr__ = __str__

    def _parts(self) -> Sequence[Part]:
        cells = self._printed_values().map("{:.4f}".format)
        return [Cells(cells, corner="threshold"), Lines(self._lines())]


@suggest_arguments
def decision_curve(
    actual: object,
    probabilities: object,
    thresholds: object = None,
    *,
    positive: object = None,
    prevalence: float | None = None,
) -> DecisionCurve:
    """Net benefit of acting on probabilities, at each threshold.

    Acting on a probability of ``t`` or more implies that a false alarm is
    ``t / (1 - t)`` times as bad as a missed case. The net benefit is the share of true
    positives minus the share of false positives, weighted by this ratio::

        net benefit(t) = TP/n - FP/n * t / (1 - t)

    A model is useful at a threshold if its net benefit exceeds both the net benefit of
    acting in all rows and 0, the net benefit of acting in none.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    probabilities : Series or array, shape (n,); DataFrame; or mapping of name to these
        Probabilities of the positive class, or of two levels with one column per level;
        from one model or, by name, from several. Rows without a label or a probability
        are excluded from all models and counted.
    thresholds : sequence of float, optional
        From 0 to below 1; by default 0, 0.01, ..., 0.99. Choose thresholds that
        decision makers might use.
    positive : label, optional
        The positive class; by default the second level.
    prevalence : float, optional
        Prevalence in the population, if rows were sampled by outcome (case-control).

    Returns
    -------
    DecisionCurve
        Equal to ``dca()`` of dcurves in R and Python.

    Raises
    ------
    DataError
        If labels and probabilities differ in length or row labels, or a level has no
        row.
    OptionError
        If there are not two levels, or an option is not allowed.

    References
    ----------
    Vickers & Elkin, *Decision curve analysis*, Medical Decision Making 26 (2006),
    565-574; Vickers, van Calster & Steyerberg, Diagnostic and Prognostic Research 3
    (2019), on the interpretation.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> p = ps.logit("digit ~ p34 + p43", train).fit().predict_proba(test)
    >>> curve = ps.decision_curve(test["digit"], {"two pixels": p}, [0.25, 0.5])
    >>> curve.tidy()["model"].tolist()
    ['two pixels', 'two pixels', 'all', 'all', 'none', 'none']
    """
    models = probabilities if isinstance(probabilities, Mapping) else None
    models = {"model": probabilities} if models is None else models
    for name in models or [None]:
        if not is_name(name) or name in (ALL, NONE):
            raise OptionError(
                f"probabilities= has the name {shown(name)}; use names other than "
                "'all' and 'none'."
            )
    at = _checked_thresholds(thresholds)
    sides = {name: events_of(actual, p, positive) for name, p in models.items()}
    used = np.logical_and.reduce([side.is_complete for side in sides.values()])
    first = next(iter(sides.values()))
    codes = check_both_levels(first, used)
    share = float(codes.mean())
    if prevalence is not None:
        share = check_fraction("prevalence", prevalence)
    rates = {}
    for name, side in sides.items():
        p = side.values[used]  # true and false positives: at or above the threshold
        levels = (np.sort(p[codes == 1]), share), (np.sort(p[codes == 0]), 1.0 - share)
        rates[name] = [s * (1.0 - np.searchsorted(v, at) / v.size) for v, s in levels]
    rates[ALL] = [np.full(at.size, share), np.full(at.size, 1.0 - share)]
    rates[NONE] = [np.zeros(at.size), np.zeros(at.size)]
    nobs = int(used.sum())
    parts = [
        pd.DataFrame(dict(zip(COLUMNS, [name, at, nobs, share, *pair], strict=True)))
        for name, pair in rates.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    odds = table["threshold"] / (1.0 - table["threshold"])
    true, false = table["tp_rate"], table["fp_rate"]
    table["net_benefit"] = true - odds * false
    if prevalence is None:
        variance = (true + odds**2 * false - table["net_benefit"] ** 2) / nobs
    else:  # two independent samples, one per class; the prevalence is fixed
        positives = int(codes.sum())
        variance = true * (share - true) / positives
        variance += odds**2 * false * (1.0 - share - false) / (nobs - positives)
    half = NORMAL_95 * np.sqrt(np.clip(variance, 0.0, None))
    table["conf_low"] = table["net_benefit"] - half
    table["conf_high"] = table["net_benefit"] + half
    return DecisionCurve(table, first.positive, nobs, int((~used).sum()))


def _checked_thresholds(thresholds: object) -> Vector:
    """Return the thresholds, increasing."""
    if thresholds is None:
        return np.arange(100) / 100.0
    refused = OptionError(
        "is not allowed; pass numbers from 0 to below 1.", "thresholds", thresholds
    )
    at = np.unique(np.atleast_1d(floats_of(thresholds, refused)))
    if at.ndim != 1 or not at.size or not ((at >= 0.0) & (at < 1.0)).all():
        raise refused
    return at


@suggest_arguments
def roc_band(
    actual: object,
    scores: object,
    *,
    positive: object = None,
    level: float = 0.95,
    seed: int = 1,
) -> pd.DataFrame:
    """Simultaneous confidence band of a ROC curve.

    ``P(low(x) <= ROC(x) <= high(x) for all x) = level``, approximately. The
    distribution function of the scores of each class has equal-precision bounds: with
    ``n`` scores, the value at the ``k``-th score is between the quantiles ``eta/2`` and
    ``1 - eta/2`` of ``Beta(k, n - k + 1)``. The band combines the bounds of both
    classes. A simulation chooses ``eta`` so that the share `level` of the bands of
    1,000 samples from the smoothed curve contains this curve.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    scores : Series or array, shape (n,); or DataFrame
        Scores, larger for the positive class; or probabilities of two levels, one
        column per level. Rows without a label or a score are excluded.
    positive : label, optional
        The positive class; by default the second level.
    level : float, default 0.95
    seed : int, default 1
        Seed of the simulation. Simulated samples have at most 5,000 rows of a class,
        which makes the bands of larger classes too narrow by 1 or 2%.

    Returns
    -------
    DataFrame
        Columns ``false_positive, low, high``. Between two rows, `high` is the value of
        the first row and `low` the value of the second.

    Raises
    ------
    DataError
        If labels and scores differ in length or row labels, or a level has no row.
    OptionError
        If `level` is not between 0 and 1, there are not two levels, or `positive` is
        not one of them.

    References
    ----------
    Moscovich & Nadler, Statistics and Probability Letters 123 (2017), on bounds of
    equal precision; Campbell, Statistics in Medicine 13 (1994), on combining the bands
    of both distribution functions.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> band = ps.roc_band(test["digit"], test["p34"].rsub(0))
    >>> band.iloc[[0, -1]].round(2).to_numpy().tolist()
    [[0.0, 0.0, 0.05], [1.0, 0.95, 1.0]]
    """
    level, whole = check_fraction("level", level), whole_of(seed)
    if whole is None or whole < 0:
        why = "is not allowed; pass a whole number, 0 or more."
        raise OptionError(why, "seed", seed)
    events = events_of(actual, scores, positive, "scores")
    used = events.is_complete
    codes = check_both_levels(events, used)
    return band_of_roc(codes, events.values[used], level, seed)


def band_of_roc(
    codes: Codes, scores: Vector, level: float = 0.95, seed: int = 1
) -> pd.DataFrame:
    """Compute the band of `roc_band` from positions of the levels."""
    n, m = (int(np.count_nonzero(codes == code)) for code in (0, 1))
    low, high = beta_bounds(n, eta := local_level(codes, scores, level, seed))
    low_true, high_true = beta_bounds(m, eta)
    curve = roc_curve(codes, scores)
    false, true = (
        np.rint(share * rows).astype(np.int64)
        for share, rows in ((curve.false_positive, n), (curve.true_positive, m))
    )
    at = np.unique([0.0, *low[false], *high[false], 1.0])
    top = np.searchsorted(low[false], at, side="right") - 1
    bottom = np.searchsorted(high[false], at, side="left")
    return pd.DataFrame(
        {
            "false_positive": at,
            "low": low_true[true[bottom]],
            "high": high_true[true[top]],
        }
    )


def beta_bounds(n: int, eta: float) -> tuple[Vector, Vector]:
    """Bounds of a survival function, where ``k = 0, ..., n`` scores are not smaller.

    The value at the ``k``-th largest score has the distribution ``Beta(k, n - k + 1)``,
    whose quantile ``eta / 2`` is the lower bound. The upper bound is the quantile
    ``1 - eta / 2`` of ``Beta(k + 1, n - k)``, the distribution at the next score. The
    lower bound for ``k = 0`` is 0, and the upper bound for ``k = n`` is 1.

    Examples
    --------
    >>> [bound.round(3).tolist() for bound in beta_bounds(2, 0.1)]
    [[0.0, 0.025, 0.224], [0.776, 0.975, 1.0]]
    """
    from scipy.special import betaincinv

    k = np.arange(1, n + 1)
    low = betaincinv(k, n - k + 1, eta / 2.0)
    return np.append(0.0, low), np.append(1.0 - low[::-1], 1.0)


def local_level(codes: Codes, scores: Vector, level: float, seed: int) -> float:
    """Return the largest local level with the required coverage of the smoothed curve.

    Let ``x`` be the survival function of the first level at a score. The ROC curve is
    the distribution function of ``x`` in the second level, and ``x`` is uniform in the
    first. The simulated ``x`` are therefore uniform in the first level, and their
    distribution function in the second level is the smoothed curve.
    """
    order = np.sort(-scores[codes == 0])
    above = np.searchsorted(order, np.sort(-scores[codes == 1]))
    n, m = (min(SIMULATED_ROWS, int((codes == code).sum())) for code in (0, 1))
    x, share = smoothed_places(above, order.size)
    rng = np.random.default_rng(seed)
    before = np.empty((BAND_SAMPLES, n), dtype=np.int64)  # positives above a negative
    for sample in before:
        places = np.sort(np.interp(rng.random(m), share, x))
        sample[:] = np.searchsorted(places, np.sort(rng.random(n)))

    def coverage(eta: float) -> float:
        low, high = beta_bounds(n, eta)
        low_true, high_true = beta_bounds(m, eta)
        inside = np.interp(low[1:], x, share) <= high_true[before]
        inside &= np.interp(high[:-1], x, share) >= low_true[before]
        return float(inside.all(axis=1).mean())

    least, most = np.log(1e-8), np.log(0.9)
    for _ in range(BISECTIONS):
        middle = (least + most) / 2.0
        enough = coverage(float(np.exp(middle))) >= level
        least, most = (middle, most) if enough else (least, middle)
    return float(np.exp(least))


def smoothed_places(above: Integers, n: int) -> tuple[Vector, Vector]:
    """Return knots of a continuous ROC curve, from 0 to 1.

    The ``k``-th of ``n`` negatives is at ``k / (n + 1)``; positives are spread evenly
    between their neighbouring negatives. `above` is the number of negatives with a
    larger score than each positive.

    Examples
    --------
    >>> x, share = smoothed_places(np.array([0, 0, 1]), 1)
    >>> x.tolist(), share.tolist()
    ([0.0, 0.125, 0.375, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75, 1.0])
    """
    _, first, counts = np.unique(above, return_index=True, return_counts=True)
    rank = np.arange(above.size) - np.repeat(first, counts)
    x = (above + (rank + 0.5) / np.repeat(counts, counts)) / (n + 1.0)
    return np.r_[0.0, x, 1.0], np.linspace(0.0, 1.0, above.size + 2)


def calibration_band(p: Vector, happened: Codes, level: float = 0.95) -> pd.DataFrame:
    """Compute the simultaneous band of an increasing calibration curve.

    The ``k`` distinct probabilities have ``k (k + 1) / 2`` ranges. The share of events
    in each range has limits of Clopper & Pearson, with the error probability
    ``(1 - level) / (k (k + 1))`` on each side. As the curve increases, the lower limit
    of a range bounds the curve at larger probabilities, and the upper limit bounds it
    at smaller ones. The band is therefore valid for all probabilities at once and with
    any number of rows.

    Parameters
    ----------
    p : float64 array, shape (n,)
        Probabilities. More than 1,000 distinct ones are rounded to three decimals: up
        for the lower limits, and down for the upper limits.
    happened : int array, shape (n,), of 0 and 1
        Whether the event happened.
    level : float

    Returns
    -------
    DataFrame
        Columns ``probability, low, high``, from 0 to 1. Between two rows `low` is the
        value of the first row and `high` the value of the second.

    References
    ----------
    Dimitriadis, Duembgen, Henzi, Puke & Ziegel, *Honest calibration assessment for
    binary outcome predictions*, Biometrika 110 (2023).

    Examples
    --------
    >>> p = np.repeat([0.2, 0.8], 50)
    >>> happened = np.tile(np.arange(50) < 10, 2).astype(int)
    >>> calibration_band(p, happened).round(3)
       probability    low   high
    0          0.0  0.000  0.312
    1          0.2  0.085  0.312
    2          0.8  0.114  0.368
    3          1.0  0.114  1.000
    """
    up, down = np.ceil(p * MAX_CELLS), np.floor(p * MAX_CELLS)
    if np.unique(p).size <= MAX_CELLS:
        up = down = p
    at, low = lower_limits(p, up, happened, 1.0 - level)
    flipped, misses = lower_limits(-p, -down, 1 - happened, 1.0 - level)
    at_all = np.unique(np.r_[0.0, at, -flipped, 1.0])
    below = np.searchsorted(at, at_all, side="right")
    after = np.searchsorted(flipped, -at_all, side="right")
    return pd.DataFrame(
        {
            "probability": at_all,
            "low": np.append(0.0, low)[below],
            "high": np.append(1.0, 1.0 - misses)[after],
        }
    )


def lower_limits(
    p: Vector, cell: Vector, happened: Codes, alpha: float
) -> tuple[Vector, Vector]:
    """Return the largest value of each cell, increasing, and lower limits of the curve.

    `cell` is the probability of each row, possibly rounded; see `calibration_band`.
    """
    from scipy.special import betaincinv

    cells, places = np.unique(cell, return_inverse=True)
    k = cells.size
    rows, events = np.bincount(places), np.bincount(places, happened)
    largest = np.full(k, -np.inf)
    np.maximum.at(largest, places, p)
    limits = np.zeros(k)
    for last in range(k):
        n = np.cumsum(rows[last::-1])
        y = np.cumsum(events[last::-1])
        positive = y > 0.0
        own = betaincinv(y[positive], (n - y)[positive] + 1.0, alpha / (k * (k + 1.0)))
        limits[last] = own.max(initial=0.0)
    return largest, np.maximum.accumulate(limits)
