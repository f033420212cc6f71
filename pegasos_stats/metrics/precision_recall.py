"""Precision against recall, and the average precision of scores."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.inputs import check_both_levels, events_of
from pegasos_stats.tables import Facts

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

        area, share = self.average_precision, self.prevalence
        return draw_precision_recall(self.table, area, share, self.positive, ax, line)

    def _facts(self) -> dict[str, str]:
        facts = {
            "Rows": f"{self.nobs:,}, {self.prevalence:.1%} of them {self.positive!r}",
            "Average precision": f"{self.average_precision:.4f}",
        }
        if self.n_left_out:
            left_out = counted(self.n_left_out, "row")
            facts["Left out"] = f"{left_out} without a label or a score"
        return facts


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
