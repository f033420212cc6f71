"""Precision against recall, and decision curves: the net benefit of acting."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.data.user_data import floats_of, is_name
from pegasos_stats.errors import OptionError, counted, shown
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.inputs import check_both_levels, events_of
from pegasos_stats.tables import Facts, lines_html, params_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@suggest_names("precision_recall")
@dataclass(frozen=True, repr=False, eq=False)
class PrecisionRecall(Facts):
    """Precision and recall at each score; made by `precision_recall`.

    Attributes
    ----------
    table : DataFrame
        Columns ``threshold, precision, recall``, the largest score first, after an
        infinite one with precision 1 and recall 0. Rows with a score at or above the
        threshold are predicted positive.
    average_precision : float
        ``sum_k (R_k - R_(k-1)) P_k`` over the different scores, the largest first.
    prevalence : float
        Share of the positive class, which is the precision of chance.
    positive : label
    nobs : int
        Rows used.
    n_left_out : int
        Rows without a label or a score.

    Examples
    --------
    >>> found = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> found.table[["threshold", "precision"]].round(2).to_numpy().tolist()
    [[inf, 1.0], [0.8, 1.0], [0.4, 0.5], [0.35, 0.67], [0.1, 0.5]]
    >>> found.table["recall"].tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """

    table: pd.DataFrame
    average_precision: float
    prevalence: float
    positive: object
    nobs: int
    n_left_out: int

    _title = "Precision and Recall"

    def tidy(self) -> pd.DataFrame:
        """The curve: columns ``threshold, precision, recall``."""
        return self.table.copy()

    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw precision against recall; the area below the steps is their average.

        The dotted line is the share of the positive class.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
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
        return {
            "Rows": f"{self.nobs:,}, {self.prevalence:.1%} of them {self.positive!r}",
            "Average precision": f"{self.average_precision:.4f}",
        }


@suggest_arguments
def precision_recall(
    actual: object, scores: object, *, positive: object = None
) -> PrecisionRecall:
    """Precision against recall at each score, and the average precision.

    Precision is the share of the rows predicted positive that are, recall the share of
    the positive rows that are predicted so. Where the class is rare they show what a
    ROC curve hides: how many false alarms there are for each true one.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    scores : Series or array, shape (n,); or DataFrame
        Larger ones speak for the positive class; or probabilities of two levels, a
        column for each. Rows that lack a label or a score are left out and counted.
    positive : label, optional
        The positive class; by default the second level.

    Returns
    -------
    PrecisionRecall
        As ``average_precision_score`` and, in reversed order,
        ``precision_recall_curve`` of scikit-learn.

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
    >>> found = ps.precision_recall(test["digit"], result.decision_function(test))
    >>> print(found)
    Rows               163, ...% of them 6
    Average precision  0...
    """
    events = events_of(actual, scores, positive, "scores")
    used = events.is_complete
    codes, values = check_both_levels(events, used), events.values[used]
    order = np.argsort(-values, kind="stable")
    each = values[order]
    last = np.r_[np.flatnonzero(each[1:] != each[:-1]), each.size - 1]  # of ties
    true = np.cumsum(codes[order])[last]
    precision, recall = true / (last + 1.0), true / true[-1]
    table = pd.DataFrame(
        {
            "threshold": np.r_[np.inf, each[last]],
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


COLUMNS = ["model", "threshold", "n", "prevalence", "tp_rate", "fp_rate"]
ALL, NONE = "all", "none"  # rules without a model: every row is positive, or no row
SHOWN = 10  # thresholds in print


@suggest_names("decision_curve")
@dataclass(frozen=True, repr=False, eq=False)
class DecisionCurve:
    """Net benefit at each threshold; made by `decision_curve`.

    Attributes
    ----------
    table : DataFrame
        One row for each model and threshold, then the rules ``all`` and ``none``:
        columns ``model, threshold, n, prevalence, tp_rate, fp_rate, net_benefit``. The
        rates are shares of all rows.
    positive : label
    nobs : int
        Rows used.
    n_left_out : int
        Rows without a label or one of the probabilities.

    Examples
    --------
    >>> found = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], [0.2, 0.5])
    >>> found.table.set_index(["model", "threshold"])["net_benefit"].round(4)
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

    def tidy(self) -> pd.DataFrame:
        """The curves: columns ``model, threshold, ..., net_benefit``."""
        return self.table.copy()

    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw net benefit against the threshold, beside treating all and none.

        The axis ends a little below 0: a model below both rules does harm, however
        much.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of the lines of the models.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_decision_curve

        return draw_decision_curve(self.table, self.positive, ax, line)

    def _at_some(self) -> pd.DataFrame:
        """Net benefits at a few thresholds, a column for each model."""
        wide = self.table.pivot(
            index="threshold", columns="model", values="net_benefit"
        )[list(dict.fromkeys(self.table["model"]))]
        rows = np.linspace(0, len(wide) - 1, min(SHOWN, len(wide))).round().astype(int)
        return wide.iloc[rows].rename_axis(columns=None)

    def _lines(self) -> list[str]:
        found = [f"Net benefit for {self.positive!r}, {counted(self.nobs, 'row')}"]
        if self.n_left_out:
            left_out = counted(self.n_left_out, "row")
            found.append(f"Left out: {left_out} without a label or a probability")
        return found

    def __str__(self) -> str:
        first, *rest = self._lines()
        table = self._at_some().to_string(float_format="%.4f")
        return "\n".join([first, table, *rest])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = self._at_some().map("{:.4f}".format)
        return params_html(cells, corner="threshold") + lines_html(self._lines())


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

    Someone who acts on a probability of ``t`` or more holds a false alarm for ``t / (1
    - t)`` times as bad as a case that is missed. The net benefit is the share of true
    positives less that of false positives at this rate, in units of true positives::

        net benefit(t) = TP/n - FP/n * t / (1 - t)

    A model is of use at a threshold where it is above both acting in all rows and in
    none, whose net benefit is 0.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    probabilities : Series or array, shape (n,); DataFrame; or mapping of name to these
        Probabilities of the positive class, or of two levels with a column for each;
        of one model or, by name, of several. Rows that lack a label or a probability
        are left out of all and counted.
    thresholds : sequence of float, optional
        From 0 to below 1; by default 0, 0.01 to 0.99. Those of interest are between
        the odds that any reader would take.
    positive : label, optional
        The positive class; by default the second level.
    prevalence : float, optional
        That of the population, where rows were sampled by their outcome (case-control).

    Returns
    -------
    DecisionCurve
        As ``dca()`` of dcurves in R and Python.

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
    (2019), on how to read one.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> p = ps.logit("digit ~ p34 + p43", train).fit().predict_proba(test)
    >>> found = ps.decision_curve(test["digit"], {"two pixels": p}, [0.25, 0.5])
    >>> found.tidy()["model"].tolist()
    ['two pixels', 'two pixels', 'all', 'all', 'none', 'none']
    """
    models = probabilities if isinstance(probabilities, Mapping) else None
    models = {"model": probabilities} if models is None else models
    for name in models or [None]:
        if not is_name(name) or name in (ALL, NONE):
            raise OptionError(f"probabilities= has the name {shown(name)}.")
    at = _checked_thresholds(thresholds)
    sides = {name: events_of(actual, each, positive) for name, each in models.items()}
    used = np.logical_and.reduce([each.is_complete for each in sides.values()])
    first = next(iter(sides.values()))
    codes = check_both_levels(first, used)
    share = float(codes.mean())
    if prevalence is not None:
        share = check_fraction("prevalence", prevalence)
    rates = {}
    for name, each in sides.items():
        p = each.values[used]  # and the shares at or above each threshold
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
    table["net_benefit"] = table["tp_rate"] - odds * table["fp_rate"]
    return DecisionCurve(table, first.positive, nobs, int((~used).sum()))


def _checked_thresholds(thresholds: object) -> Vector:
    """Return the thresholds, increasing."""
    if thresholds is None:
        return np.arange(100) / 100.0
    refused = OptionError(
        "is not allowed; give numbers from 0 to below 1.", "thresholds", thresholds
    )
    at = np.unique(np.atleast_1d(floats_of(thresholds, refused)))
    if at.ndim != 1 or not at.size or not ((at >= 0.0) & (at < 1.0)).all():
        raise refused
    return at
