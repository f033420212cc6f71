"""Comparison of two areas under the ROC curve on the same rows: DeLong's test."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.checks import check_fraction
from pegasos_stats.data.columns import format_pval
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.catalogue import warn_undefined
from pegasos_stats.metrics.inputs import (
    Events,
    check_both_levels,
    events_of,
    positive_position,
    side_by_side,
)
from pegasos_stats.metrics.intervals import Interval
from pegasos_stats.metrics.paired import checked_names
from pegasos_stats.metrics.scores import (
    RocCurve,
    auc_interval,
    delong_variance,
    placement_values,
    roc_curve,
)
from pegasos_stats.models.inference.wald import TIDY_COLUMNS, estimates
from pegasos_stats.models.results import Results
from pegasos_stats.tables import Facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDS = ["conf_low", "conf_high"]


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class RocComparison(Facts):
    """Two areas under the ROC curve on the same rows; made by `compare_roc`.

    Attributes
    ----------
    names : pair of str
    table : DataFrame
        Both areas and their difference, in the columns of `tidy`.
    curves : pair of RocCurve
    levels : pair of labels
        The negative and the positive one.
    level : float
        Confidence level of the intervals.
    nobs : int
        Rows compared.
    n_left_out : int
        Rows without a label or without one of the scores.

    Examples
    --------
    >>> a, b = [1, 4, 2, 3, 5, 6], [1, 2, 3, 4, 5, 6]
    >>> found = compare_roc(list("nnnyyy"), a, b)
    >>> round(found.area_a, 3), found.area_b, round(found.pvalue, 3)
    (0.889, 1.0, 0.48)
    """

    names: tuple[str, str]
    table: pd.DataFrame
    curves: tuple[RocCurve, RocCurve]
    levels: tuple[object, object]
    level: float
    nobs: int
    n_left_out: int

    _title = "Comparison of Two Areas"

    @property
    def area_a(self) -> float:
        """Area under the curve of A."""
        return float(self.table["estimate"].iloc[0])

    @property
    def area_b(self) -> float:
        """Area under the curve of B."""
        return float(self.table["estimate"].iloc[1])

    @property
    def difference(self) -> float:
        """Area of A minus that of B."""
        return float(self.table["estimate"].iloc[2])

    @property
    def std_error(self) -> float:
        """Standard error of the difference."""
        return float(self.table["std_error"].iloc[2])

    @property
    def interval(self) -> Interval:
        """Confidence interval of the difference."""
        low, high = self.table[ENDS].iloc[2]
        return Interval(float(low), float(high))

    @property
    def statistic(self) -> float:
        """DeLong's statistic, the difference divided by its standard error."""
        return float(self.table["statistic"].iloc[2])

    @property
    def pvalue(self) -> float:
        """Two-sided p-value of the hypothesis that both areas are equal."""
        return float(self.table["p_value"].iloc[2])

    def tidy(self) -> pd.DataFrame:
        """Three rows: both areas and their difference.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, p_value, conf_low,
            conf_high``. Intervals of the areas are on the logit scale.
        """
        return self.table.copy()

    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw both ROC curves, with their areas.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of the curves.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.roc import draw_compared_rocs

        curves = dict(zip(self.names, self.curves, strict=True))
        areas = self.table["estimate"].iloc[:2].tolist()
        return draw_compared_rocs(curves, areas, self.levels, ax, line)

    def _facts(self) -> dict[str, str]:
        """Areas, their difference, and DeLong's test, in words."""
        a, b = self.names
        shown = [
            f"{estimate:.4f}, {self.level:.0%} interval [{low:.4f}, {high:.4f}]"
            for estimate, low, high in self.table[["estimate", *ENDS]].to_numpy()
        ]
        test = f"z {self.statistic:.4g}, p {format_pval([self.pvalue], 4)[0]}"
        facts = {
            "Rows": f"{self.nobs:,}, positive class {self.levels[1]!r}",
            f"Area {a}": shown[0],
            f"Area {b}": shown[1],
            f"{a} less {b}": shown[2],
            "DeLong": test,
        }
        if self.n_left_out:
            left_out = counted(self.n_left_out, "row")
            facts["Left out"] = f"{left_out} without a label or a score"
        return facts


@suggest_arguments
def compare_roc(
    actual: object,
    scores_a: object,
    scores_b: object,
    *,
    positive: object = None,
    names: tuple[str, str] = ("A", "B"),
    level: float = 0.95,
) -> RocComparison:
    """Compare two areas under the ROC curve on the same rows, by DeLong's test.

    The variance of the difference ``A - B`` of the areas is ``S1 / m + S0 / n``. ``S1``
    is the variance over the ``m`` positive rows of the difference of their placement
    values, which are the share of negative rows with a smaller score, ties one half;
    ``S0`` likewise over the ``n`` negative rows. The difference divided by its standard
    error is compared with the normal distribution, as ``roc.test`` of R's pROC does.

    Parameters
    ----------
    actual : Series or array, shape (n,); or a fit
        Labels. With two fits, ``compare_roc(fit_a, fit_b, data)``, the scores are
        those of the fits for new rows `data`, which have the outcome.
    scores_a, scores_b : Series or array, shape (n,)
        Scores by A and by B, larger ones for the positive class; or probabilities of
        two levels, a column for each. Rows that lack a label or a score are left out
        and counted.
    positive : label, optional
        The positive class; by default the second level.
    names : pair of str, default ("A", "B")
        Names of the two in print, which must differ.
    level : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    RocComparison
        With scores that order all rows alike the statistic is 0 and the p-value 1.

    Raises
    ------
    DataError
        If lengths or row labels differ, a level has no row with both scores, or `data`
        are rows that a fit was made from: there a larger model nearly always wins.
    OptionError
        If the fits have different levels, or an option is not allowed.

    Warns
    -----
    UndefinedMetricWarning
        If the difference has no variance, or a level has fewer than two rows.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988), 837-845; Sun & Xu, IEEE
    Signal Processing Letters 21 (2014), 1389-1393, for the computation; Demler,
    Pencina & D'Agostino, Statistics in Medicine 31 (2012), on nested models.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> a, b = (ps.logit(f"digit ~ {x}", train).fit() for x in ("p34", "p34 + p43"))
    >>> found = ps.compare_roc(a, b, test, names=("one pixel", "two"))
    >>> found.tidy()[["term", "estimate"]].round(3)
                  term  estimate
    0        one pixel     ...
    1              two     ...
    2  one pixel - two    ...
    """
    level = check_fraction("level", level)
    names = checked_names(names)
    if isinstance(actual, Results) or isinstance(scores_a, Results):
        sides = _of_fits(actual, scores_a, scores_b, positive)
    else:
        columns = (
            each.iloc[:, 0] if isinstance(each, pd.DataFrame) else each
            for each in (scores_a, scores_b)
        )
        side_by_side(*columns)
        sides = (
            events_of(actual, scores_a, positive, "scores"),
            events_of(actual, scores_b, positive, "scores"),
        )
    used = sides[0].is_complete & sides[1].is_complete
    codes = check_both_levels(sides[0], used)
    scores = [each.values[used] for each in sides]
    placements = [placement_values(codes, each) for each in scores]
    first, second = placements
    apart = (first[0] - second[0], first[1] - second[1])
    variances = [delong_variance(each) for each in (first, second, apart)]
    areas = [float(each[1].mean()) for each in placements]
    table = estimates(
        np.array([*areas, areas[0] - areas[1]]), np.sqrt(variances), level=level
    )
    table.insert(0, "term", [*names, f"{names[0]} - {names[1]}"])
    table.loc[:1, ["statistic", "p_value"]] = np.nan
    for row, each in enumerate(scores):
        table.loc[row, ENDS] = list(auc_interval(codes, each, level))
    if not (apart[0].any() or apart[1].any()):
        table.loc[2, ["statistic", "p_value"]] = 0.0, 1.0
    elif not variances[2] > 0.0:
        table.loc[2, ENDS] = np.nan
        warn_undefined(["pvalue"], "the difference of the areas has no variance")
    return RocComparison(
        names=names,
        table=table[TIDY_COLUMNS],
        curves=(roc_curve(codes, scores[0]), roc_curve(codes, scores[1])),
        levels=(sides[0].negative, sides[0].positive),
        level=level,
        nobs=int(used.sum()),
        n_left_out=int((~used).sum()),
    )


def _of_fits(
    a: object, b: object, data: object, positive: object
) -> tuple[Events, Events]:
    """Outcomes of new rows, and the scores of two fits."""
    if not (isinstance(a, Results) and isinstance(b, Results)):
        raise OptionError("A fit is compared with a fit: (fit_a, fit_b, data).")
    if a.coding.levels != b.coding.levels:
        raise OptionError("The fits differ in their levels; give those of one outcome.")
    at = positive_position(a.coding.levels, positive)
    sides = []
    for fit in (a, b):
        table = fit.confusion(data)
        if table.source != "new":
            raise DataError(
                "These are rows that a fit was made from; give new rows, or scores."
            )
        assert table.scored is not None
        codes, scores = table.scored.codes, table.scored.scores
        assert scores is not None  # a fit gives scores
        codes = np.where(codes < 0, -1, codes == at)
        negative, named = fit.coding.levels[1 - at], fit.coding.levels[at]
        sides.append(Events(codes, scores if at else -scores, negative, named))
    first, second = sides
    if not np.array_equal(first.codes, second.codes):
        raise DataError("The fits count these rows differently; give scores.")
    return first, second
