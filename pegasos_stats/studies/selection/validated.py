"""What a cross-validation gives."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from pegasos_stats.checks import number_of
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError, UndefinedMetricWarning, counted, shown
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.models.base import Model
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.estimates import estimates
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.metrics import Metric
from pegasos_stats.tables import Fields, Summary, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, eq=False)
class CrossValidation:
    """Held-out performance of a model; made by `cross_validate`.

    Attributes
    ----------
    model : Model
    solver : Pegasos or SDCA
    folds : Folds
        To be given to another cross-validation of the same rows.
    seed : int or None
        Of the folds, if they were drawn, and of the fits.
    metrics : tuple of Metric
    by_fold : DataFrame
        One line for each fold: ``repeat, fold, n_train, n_test, weight`` (of the
        held-out rows), ``seed, steps, objective, relative_gap`` (of the fit) and the
        metrics.
    scores_by_repeat : DataFrame, shape (n, repeats)
        Out-of-fold scores: of each row by the fit that has not seen it. NaN where a
        row is in no held-out fold.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> found = ps.cross_validate(ps.logit("digit ~ .", train), folds=5, seed=1)
    >>> found.tidy()["term"].tolist()
    ['error_rate', 'log_loss', 'brier_score', 'auc']
    >>> bool(found.scores.index.equals(train.index))
    True
    """

    model: Model
    solver: Pegasos | SDCA
    folds: Folds
    seed: int | None
    metrics: tuple[Metric, ...]
    by_fold: pd.DataFrame
    scores_by_repeat: pd.DataFrame

    @cached_property
    def _estimates(self) -> pd.DataFrame:
        return estimates(self.by_fold, [metric.name for metric in self.metrics])

    def tidy(self) -> pd.DataFrame:
        """Each metric as a row: ``term, estimate, std_error``, as broom has it.

        The estimate is the mean over the folds, weighted by their held-out rows. The
        standard error is that of one repeat, root mean square over the repeats; folds
        share their training rows, so it is an approximation, rather too small.
        """
        return self._estimates.copy()

    @property
    def mean(self) -> "pd.Series[float]":
        """Mean of each metric over the folds."""
        return self._estimates.set_index("term")["estimate"]

    @property
    def std_error(self) -> "pd.Series[float]":
        """Standard error of each mean; NaN with a single fold."""
        return self._estimates.set_index("term")["std_error"]

    @property
    def scores(self) -> "pd.Series[float]":
        """Out-of-fold scores, the mean over the repeats, on the index of the rows."""
        return self.scores_by_repeat.mean(axis=1).rename("score")

    @property
    def actual(self) -> "pd.Series[Any]":
        """Labels of the rows."""
        model = self.model
        return model.coding.decode(model.problem.y, model._sample.index)

    @property
    def probabilities(self) -> pd.DataFrame:
        """Out-of-fold probabilities of a logistic model, from `scores`.

        Raises
        ------
        OptionError
            If the model has the hinge loss.
        """
        if self.model.problem.loss != "log":
            raise OptionError(
                "The hinge loss gives no probabilities; take ps.calibrate() for "
                "probabilities of this model, or fit ps.logit()."
            )
        return self.model.coding.probabilities(self.scores)

    def confusion(
        self, repeat: int = 1, *, ties: Ties | None = None
    ) -> ConfusionMatrix:
        """Table of actual against out-of-fold predicted labels of one repeat.

        Rows count once each, whatever their weights.

        Parameters
        ----------
        repeat : int, default 1
        ties : "na", "positive" or "negative", optional
            Label at a score of exactly 0; that of the solver if left out.

        Raises
        ------
        OptionError
            If there is no such repeat.
        """
        if number_of(repeat) not in self.scores_by_repeat.columns:
            raise OptionError(
                f"repeat={shown(repeat)} is not there; give 1 to {self.folds.repeats}."
            )
        column, coding = self.scores_by_repeat[repeat], self.model.coding
        tested = column.notna().to_numpy(dtype=bool)
        scores = column[tested]
        logistic = self.model.problem.loss == "log"
        return confusion(
            self.actual[tested],
            coding.predicted(scores, self.solver.ties if ties is None else ties),
            levels=coding.levels,
            scores=scores,
            probabilities=coding.probabilities(scores) if logistic else None,
        )

    def plot(self) -> "Figure":
        """Draw every metric: its folds, mean and standard error, a panel for each.

        Returns
        -------
        matplotlib Figure

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.selection import draw_folds

        return draw_folds(self.by_fold, self._estimates)

    def summary(self) -> Summary:
        """Header, metrics and notes; ``print()`` shows text, a notebook HTML."""
        return Summary(
            "Cross-Validation Results",
            self._left(),
            self._right(),
            self._table(),
            self._notes(),
        )

    def __repr__(self) -> str:
        first = self._estimates.iloc[0]
        return (
            f"<CrossValidation: {self.folds.description}, {first['term']} "
            f"{significant(first['estimate'])} "
            f"(standard error {significant(first['std_error'], 2)}), seed {self.seed}>"
        )

    def _left(self) -> Fields:
        problem, (negative, positive) = self.model.problem, self.model.coding.levels
        return [
            ("Outcome:", self.model.coding.name),
            ("Coded -1, +1:", f"{negative}, {positive}"),
            ("Loss:", problem.loss),
            ("lambda:", significant(problem.lam, 6)),
            ("Intercept:", "free" if problem.intercept else "none"),
            ("No. Observations:", f"{problem.n:,}"),
        ]

    def _right(self) -> Fields:
        folds, gaps = self.folds, self.by_fold["relative_gap"]
        return [
            ("Folds:", folds.kind),
            ("Seed:", str(self.seed)),
            ("Solver:", self.solver.name),
            ("Order:", self.solver.order_name),
            ("Largest relative gap:", significant(float(gaps.max()), 3)),
        ]

    def _table(self) -> pd.DataFrame:
        """One row for each metric, as text."""
        names = self._estimates["term"].tolist()
        columns = {
            "mean": self._estimates["estimate"].tolist(),
            "std err": self._estimates["std_error"].tolist(),
            "lowest fold": self.by_fold[names].min().tolist(),
            "highest fold": self.by_fold[names].max().tolist(),
        }
        cells = {k: [significant(v) for v in values] for k, values in columns.items()}
        return pd.DataFrame(cells, names)

    def _notes(self) -> list[str]:
        notes = [
            "Means over the folds, weighted by their held-out rows; standard errors "
            "from the spread of the folds, which share training rows.",
        ]
        if self.folds.repeats > 1:
            notes.append(
                "Repeats lessen the noise of drawing folds, not that of the data: the "
                "standard error is that of one repeat."
            )
        if self.model.problem.weights is not None:
            notes.append("Held-out rows count with their weights.")
        if self.folds.seed is not None:
            notes.append(
                "The seed repeats folds and fits; stratified_folds() of the R "
                "reference draws the same folds."
            )
        return notes

    def warn_undefined(self) -> None:
        """Warn once of metrics that are NaN in some fold."""
        names = [metric.name for metric in self.metrics]
        missing = self.by_fold[names].isna().sum()
        for name, count in missing[missing > 0].items():
            warnings.warn(
                f"{name} is not defined in {counted(int(count), 'fold')} and is left "
                "out there: a level has no held-out row, or no row is decided.",
                UndefinedMetricWarning,
                stacklevel=3,
            )
