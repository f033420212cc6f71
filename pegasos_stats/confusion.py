"""Confusion tables and the error report."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import (
    DataError,
    LabelError,
    OptionError,
    UndefinedMetricWarning,
    counted,
    listing,
    plain,
)
from pegasos_stats.labels import check_hashable, column_of_labels, positions

Method = Literal["exact", "wilson"]

STATSMODELS_NAMES = {"exact": "beta", "wilson": "wilson"}


class Interval(NamedTuple):
    """Confidence limits."""

    low: float
    high: float


@dataclass(frozen=True, repr=False, eq=False)
class ConfusionMatrix:
    """Counts of actual against predicted labels, and what follows from them.

    Made by `confusion` or by ``result.confusion(data)``.

    Attributes
    ----------
    levels : tuple
        The labels, in the order of the table.
    counts : int64 array, shape (k, k + 1)
        Rows are actual and columns predicted levels; the last column counts rows
        without a prediction.
    errors : DataFrame
        The misclassified rows: columns ``actual`` and ``predicted``, on the index of
        the data.
    n_unlabelled : int
        Rows without an actual label; they are in no count.

    Examples
    --------
    >>> matrix = confusion(["a", "a", "b", "b"], ["a", "b", "b", None])
    >>> matrix.table
    Predicted  a  b  NA
    Actual
    a          1  1   0
    b          0  1   1
    >>> matrix.n_errors, matrix.error_rate
    (1, 0.3333333333333333)
    """

    levels: tuple[Any, ...]
    counts: NDArray[np.int64]
    errors: pd.DataFrame
    n_unlabelled: int = 0

    @cached_property
    def table(self) -> pd.DataFrame:
        """Counts with named axes, ``table(Actual = , Predicted = )`` of R.

        Every level is there, also with zero counts; a column ``NA`` is there when
        rows were left without a prediction (``<NA>`` beside a level called NA).
        """
        width = len(self.levels) + (self.n_undecided > 0)
        missing = "<NA>" if "NA" in self.levels else "NA"
        columns = [*self.levels, missing][:width]
        return pd.DataFrame(
            self.counts[:, :width],
            index=pd.Index(self.levels, name="Actual"),
            columns=pd.Index(columns, name="Predicted"),
        )

    @property
    def n_undecided(self) -> int:
        """Rows without a prediction: a score of exactly 0, or missing values."""
        return int(self.counts[:, -1].sum())

    @property
    def n_classified(self) -> int:
        """Rows with an actual and a predicted label."""
        return int(self.counts[:, :-1].sum())

    @property
    def n_errors(self) -> int:
        """Rows whose predicted label is not the actual one."""
        return self.n_classified - int(np.trace(self.counts))

    @property
    def error_rate(self) -> float:
        """Errors divided by classified rows; NaN, with a warning, without any."""
        if not self.n_classified:
            warnings.warn(
                "The error rate is not defined: no row has both an actual and a "
                "predicted label.",
                UndefinedMetricWarning,
                stacklevel=2,
            )
            return float("nan")
        return self.n_errors / self.n_classified

    def error_interval(self, method: Method = "exact", level: float = 0.95) -> Interval:
        """Confidence interval of the error rate.

        Parameters
        ----------
        method : "exact" or "wilson"
            ``"exact"`` is Clopper and Pearson's interval, as R's ``binom.test``;
            ``"wilson"`` is Wilson's score interval, as R's ``prop.test`` without
            correction.
        level : float, default 0.95

        Returns
        -------
        Interval
            ``(low, high)``; NaN where no row was classified.

        Raises
        ------
        OptionError
            If the method is unknown or the level is not between 0 and 1.

        References
        ----------
        Clopper & Pearson, Biometrika 26 (1934); Wilson, JASA 22 (1927).

        Examples
        --------
        >>> matrix = confusion(["a"] * 9 + ["b"], ["a"] * 10)
        >>> matrix.error_interval("wilson")
        Interval(low=0.0178..., high=0.4041...)
        """
        _check_interval(method, level)
        if not self.n_classified:
            return Interval(float("nan"), float("nan"))
        from statsmodels.stats.proportion import proportion_confint

        low, high = proportion_confint(
            self.n_errors,
            self.n_classified,
            alpha=1.0 - level,
            method=STATSMODELS_NAMES[method],
        )
        return Interval(float(low), float(high))

    def __str__(self) -> str:
        return "\n".join([self.table.to_string(), "", *self._lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = "<br>".join(self._lines())
        return f"{self.table.to_html()}<p>{lines}</p>"

    def _lines(self) -> list[str]:
        """Sentences of the error report."""
        lines = [f"Misclassified  {self.n_errors:,} of {self.n_classified:,}"]
        if self.n_classified:
            exact, wilson = self.error_interval(), self.error_interval("wilson")
            lines += [
                f"Error rate     {self.error_rate:.4f}",
                f"95% interval   {_written(exact)} exact, {_written(wilson)} Wilson",
            ]
        if self.n_undecided:
            lines.append(
                f"NA             {counted(self.n_undecided, 'row')} without a "
                "prediction, not in the error rate"
            )
        if self.n_unlabelled:
            lines.append(
                f"Left out       {counted(self.n_unlabelled, 'row')} without an "
                "actual label"
            )
        return lines


def confusion(
    actual: Any, predicted: Any, *, levels: Sequence[Any] | None = None
) -> ConfusionMatrix:
    """Cross-tabulate actual and predicted labels.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels; rows where they are missing are left out and counted.
    predicted : Series or array, shape (n,)
        Predicted labels; missing ones are counted in a column of their own.
    levels : sequence, optional
        The labels in the order of the table; found in the data if left out:
        categories in their order, else sorted values.

    Returns
    -------
    ConfusionMatrix

    Raises
    ------
    DataError
        If the two do not have the same rows.
    LabelError
        If a label is none of `levels`, or the labels have no order.

    Examples
    --------
    >>> confusion([5, 5, 6], [5, 6, 6]).table
    Predicted  5  6
    Actual
    5          1  1
    6          0  1
    """
    pairs = _paired(actual, predicted)
    for side in ("actual", "predicted"):
        check_hashable(pairs[side].dropna(), side)
    order = _levels_of(pairs) if levels is None else _checked_levels(levels)
    rows, columns = (_codes(pairs[side], order) for side in ("actual", "predicted"))
    k = len(order)
    counts = np.zeros((k, k + 1), dtype=np.int64)
    labelled = rows >= 0
    np.add.at(counts, (rows[labelled], columns[labelled]), 1)
    wrong = labelled & (columns >= 0) & (rows != columns)
    return ConfusionMatrix(tuple(order), counts, pairs[wrong], int((~labelled).sum()))


def _checked_levels(levels: Any) -> list[Any]:
    """Return the levels as a list, or raise `OptionError`."""
    ordered = isinstance(levels, tuple | list | np.ndarray | pd.Series | pd.Index)
    found = [plain(level) for level in levels] if ordered else []
    if not found or pd.isna(found).any() or len(set(found)) < len(found):
        raise OptionError(
            f"levels={levels!r} is not allowed; give a list of different labels."
        )
    return found


def _paired(actual: Any, predicted: Any) -> pd.DataFrame:
    """Put both sides into one frame with the same rows."""
    left, right = _as_series(actual), _as_series(predicted)
    if len(left) != len(right):
        raise DataError(
            f"There are {len(left):,} actual and {len(right):,} predicted labels; give "
            "one of each for every row."
        )
    both_labelled = isinstance(actual, pd.Series) and isinstance(predicted, pd.Series)
    if both_labelled and not left.index.equals(right.index):
        raise DataError(
            "The row labels of actual and predicted differ; align them "
            "(actual.loc[predicted.index]) or give arrays to match by position."
        )
    index = left.index if isinstance(actual, pd.Series) else right.index
    sides = {"actual": left.set_axis(index), "predicted": right.set_axis(index)}
    return pd.DataFrame(sides)


def _as_series(labels: Any) -> "pd.Series[Any]":
    if isinstance(labels, pd.Series):
        return labels
    if isinstance(labels, pd.DataFrame) and labels.shape[1] == 1:
        return labels.iloc[:, 0]
    return column_of_labels(labels)


def _levels_of(pairs: pd.DataFrame) -> list[Any]:
    """Labels of both sides: categories in their order, else sorted."""
    levels: list[Any] = []
    for side in ("actual", "predicted"):
        if isinstance(pairs[side].dtype, pd.CategoricalDtype):
            return [plain(v) for v in pairs[side].cat.categories]
        levels += [plain(v) for v in pairs[side].dropna().unique()]
    try:
        return sorted(set(levels))
    except TypeError:
        raise LabelError(
            f"The labels {listing(levels)} have no common order; give levels=[...] or "
            "convert both sides to one type."
        ) from None


def _codes(labels: "pd.Series[Any]", levels: Sequence[Any]) -> NDArray[np.intp]:
    """Position of each label among the levels, -1 where it is missing."""
    codes = positions(labels, levels)
    unknown = (codes < 0) & labels.notna().to_numpy(dtype=bool)
    if unknown.any():
        raise LabelError(
            f"The {labels.name} labels hold {listing(labels[unknown].unique())} in "
            f"{counted(int(unknown.sum()), 'row')} "
            f"({listing(labels.index[unknown])}); known are {listing(levels)}: drop or "
            "recode these rows."
        )
    return codes


def _check_interval(method: str, level: float) -> None:
    if not isinstance(method, str) or method not in STATSMODELS_NAMES:
        raise OptionError(f"method={method!r} is not known; give 'exact' or 'wilson'.")
    if not isinstance(level, float) or not 0.0 < level < 1.0:
        raise OptionError(
            f"level={level!r} is not allowed; give a number between 0 and 1."
        )


def _written(interval: Interval) -> str:
    return f"[{interval.low:.4f}, {interval.high:.4f}]"
