"""Error rates, areas and calibration of a fit in subgroups of new rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats import checks, tables
from pegasos_stats.arrays import Mask
from pegasos_stats.data.user_data import check_aligned, column_of_labels
from pegasos_stats.data.weights import column_named
from pegasos_stats.errors import DataError, OptionError, counted, plain
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.effects import value_text
from pegasos_stats.models.results import Results
from pegasos_stats.studies.calibration import recalibrated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TERMS = ("error_rate", "sensitivity", "specificity", "auc")
CALIBRATION = ("intercept", "slope")
ENDS = ["conf_low", "conf_high"]
MAX_GROUPS = 200
ALLOWED = "one label for each row of the data"
SHORT = {"error_rate": "error", "sensitivity": "sens.", "specificity": "spec."}


@dataclass(frozen=True, repr=False, eq=False)
class Subgroups(tables.Summarised):
    """How well a fit predicts subgroups; made by ``result.confusion(data, by=...)``.

    Attributes
    ----------
    confusions : dict of label to ConfusionMatrix
        Of each subgroup, in the order of the labels.
    whole : ConfusionMatrix
        Of all rows with a label.
    name : str
        Of the labels.
    n_left_out : int
        Rows without a label.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> women = ps.load_affairs()
    >>> formula = "affair ~ rate_marriage + yrs_married"
    >>> result = ps.logit(formula, women.iloc[::2]).fit()
    >>> found = result.confusion(women.iloc[1::2], by="religious")
    >>> table = found.tidy()
    >>> table[table["term"] == "error_rate"].iloc[:, :5].round(3)
       religious     n  events        term  estimate
    0        1.0   513     200  error_rate     0.349
    6        2.0  1138     406  error_rate     0.288
    12       3.0  1203     349  error_rate     0.258
    18       4.0   329      71  error_rate     0.207
    """

    confusions: dict[object, ConfusionMatrix]
    whole: ConfusionMatrix
    name: str
    n_left_out: int = 0

    @suggest_arguments
    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """A row for each subgroup and statistic.

        Columns are the name of the labels, ``n, events, term, estimate, conf_low,
        conf_high``. Intervals of the error rate, sensitivity and specificity are exact
        (Clopper & Pearson), those of the area DeLong's; intercept and slope recalibrate
        the log odds of a logistic fit, see `reliability`.

        Parameters
        ----------
        conf_level : float, default 0.95
        """
        level = checks.check_fraction("conf_level", conf_level)
        columns = [self.name, "n", "events", "term", "estimate", *ENDS]
        lines = [
            (label, table.n_classified, _events(table), *line)
            for label, table in self.confusions.items()
            for line in _statistics(table, level)
        ]
        return pd.DataFrame(lines, columns=columns)

    @suggest_arguments
    def summary(self, *, digits: int = 3) -> tables.Summary:
        """A row for each subgroup, without intervals; ``print()`` shows text."""
        places, table = checks.check_count("digits", digits), self.tidy()
        wide = table.pivot(index=self.name, columns="term", values="estimate")
        wide = wide.reindex(list(self.confusions))[list(dict.fromkeys(table["term"]))]
        wide = wide.rename(columns=SHORT)
        cells = wide.map(lambda x: "" if np.isnan(x) else f"{x:.{places}f}")
        counts = table.drop_duplicates(self.name).set_index(self.name)
        for name in ("events", "n"):
            cells.insert(0, name, counts[name].map(lambda n: f"{n:,}"))
        cells.index, cells.columns.name = cells.index.map(value_text), None
        cells.index.name = None
        title = f"{self.whole.positive!r} predicted by {self.name}"
        notes = ["Intervals: tidy()."]
        if self.n_left_out:
            notes.append(f"{counted(self.n_left_out, 'row')} without a label left out.")
        return tables.Summary([title], cells, notes)

    @suggest_arguments
    def plot(
        self,
        term: str = "error_rate",
        *,
        conf_level: float = 0.95,
        ax: "Axes | None" = None,
        **line: object,
    ) -> "Axes":
        """Draw a statistic of each subgroup with its interval, and that of all rows.

        Parameters
        ----------
        term : str, default "error_rate"
            A term of `tidy`.
        conf_level : float, default 0.95
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of the lines, such as ``color``.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.forest import draw_subgroups

        table = self.tidy(conf_level)
        checks.check_choice("term", term, tuple(dict.fromkeys(table["term"])))
        own = table[table["term"] == term].set_index(self.name)
        of_all = {name: value for name, value, *_ in _statistics(self.whole, 0.95)}
        return draw_subgroups(own, term, of_all[term], ax, line)


def _events(table: ConfusionMatrix) -> int:
    """Classified rows of the positive class."""
    row = table.counts[table.levels.index(table.positive)]
    return int(row[:-1].sum())


def _statistics(
    table: ConfusionMatrix, level: float
) -> Iterator[tuple[str, float, float, float]]:
    """Statistics with their intervals."""
    found = table.tidy(level=level).set_index("term")
    for term in TERMS:
        numbers = found.loc[term, ["estimate", *ENDS]].to_numpy(dtype=np.float64)
        yield term, float(numbers[0]), float(numbers[1]), float(numbers[2])
    scored, place = table.scored, table.levels.index(table.positive)
    p = None if scored is None else scored.probability(place)
    if scored is None or p is None:
        return
    complete = (scored.codes >= 0) & ~np.isnan(p)
    happened = (scored.codes[complete] == place).astype(np.intp)
    at = recalibrated(p[complete], happened, level)
    for term in CALIBRATION:
        low, high = getattr(at, f"{term}_interval")
        yield term, getattr(at, term), low, high


def subgroups(
    result: Results,
    data: object,
    by: object,
    columns: Mapping[str, object],
    choices: Mapping[str, Any],
) -> Subgroups:
    """Confusion tables of the rows of each label, see ``result.confusion(by=)``.

    Parameters
    ----------
    columns : dict of option to name
        ``actual, offset, weights, freq_weights``; None if not given.
    choices : dict
        Other options of ``result.confusion()``.

    Raises
    ------
    OptionError
        If there are no rows, or an option is given by values.
    DataError
        If there are no labels, or more than 200.
    """
    if data is None:
        raise OptionError("takes subgroups of data=; give rows.", "by", by)
    for name, value in columns.items():
        if not isinstance(value, str | None):
            raise OptionError(f"With by= give {name}= as the name of a column.")
    frame = result._frame(data)
    given = isinstance(by, pd.Series)
    if isinstance(by, str):
        by = column_named("by", by, frame, ALLOWED)
    labels = column_of_labels(by, "by")
    check_aligned("by", labels, frame.index, given)
    codes, levels = pd.factorize(labels, sort=True)
    if not 0 < len(levels) <= MAX_GROUPS:
        raise DataError(
            f"by= has {counted(len(levels), 'label')}; give from 1 to {MAX_GROUPS}."
        )

    def of(rows: Mask) -> ConfusionMatrix:
        part = frame.iloc[np.flatnonzero(rows)]
        named: dict[str, Any] = {k: v for k, v in columns.items() if v is not None}
        if "actual" in named:
            named["actual"] = part[named["actual"]]
        return result.confusion(part, **named, **choices)

    confusions = {plain(label): of(codes == at) for at, label in enumerate(levels)}
    name = "group" if labels.name is None else str(labels.name)
    return Subgroups(confusions, of(codes >= 0), name, int((codes < 0).sum()))
