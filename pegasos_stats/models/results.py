"""What every fit gives: predictions, tables, a summary, data frames."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.metrics.inputs import Mode
from pegasos_stats.models.fits import Fit
from pegasos_stats.models.frames import (
    frame_of,
    glanced,
    known_labels,
    labels_of,
    scored,
    with_columns,
)
from pegasos_stats.models.notes import Note, listed, notes_of
from pegasos_stats.models.summaries import TITLES, model_lines, solver_lines
from pegasos_stats.solvers.solutions import scores_of
from pegasos_stats.tables import Fields, Summary, significant

if TYPE_CHECKING:
    from pegasos_stats.output.report.report import Report
    from pegasos_stats.output.report.writing import Format


@dataclass(frozen=True, repr=False, eq=False)
class Results(Fit):
    """A fitted model; made by the `fit` method of a model.

    Attributes are those of `Fit`: problem, solver, solution, design, coding, index,
    dropped, trace and refinement, with the numbers that follow from them.
    """

    @abstractmethod
    def summary(self) -> Summary:
        """Header, coefficients and notes."""

    @abstractmethod
    def tidy(self) -> pd.DataFrame:
        """What predictions are made of, a row for each term."""

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows of a matrix."""
        return scores_of(self.problem, self.solution, X)

    @abstractmethod
    def _size(self) -> str:
        """How large the fit is, in words."""

    def decision_function(self, data: Any = None) -> "pd.Series[float]":
        """Scores ``x'beta + alpha``; above 0 speaks for the second level.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.

        Returns
        -------
        Series, on the index of `data`; NaN in rows with missing values

        Raises
        ------
        ColumnError
            If `data` lack a column, or hold values that the model cannot use.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
        >>> result.decision_function(test).head(3).round(3).tolist()
        [...]
        """
        matrix = self._matrix(data)
        return matrix.spread(self._scores(matrix.values)).rename("score")

    def predict(self, data: Any = None, ties: Ties | None = None) -> "pd.Series[Any]":
        """Labels by the sign of the score.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.
        ties : "na", "positive" or "negative", optional
            Label of a row whose score is exactly 0: missing, the second level or
            the first. That of the solver if left out, which is ``"na"`` by default.

        Returns
        -------
        Series of the original labels, on the index of `data`; missing in rows with
        missing values

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
        >>> result.predict(test).head(3).tolist()
        [...]
        """
        scores = self.decision_function(data)
        return self.coding.predicted(scores, self._ties(ties))

    def predict_proba(self, data: Any = None) -> pd.DataFrame:
        """Probabilities of both levels, ``1 / (1 + exp(-score))`` for the second.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.

        Returns
        -------
        DataFrame, a column for each level, on the index of `data`; NaN in rows with
        missing values

        Raises
        ------
        OptionError
            If the model was fitted by the hinge loss, which has no probabilities.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.logit("digit ~ .", train).fit(ps.Pegasos(epochs=5, seed=443))
        >>> result.predict_proba(test).columns.tolist()
        [5, 6]
        """
        if self.problem.loss != "log":
            raise OptionError(
                "The hinge loss gives no probabilities; fit ps.logit() for them, or "
                "use decision_function() for scores."
            )
        return self.coding.probabilities(self.decision_function(data))

    def confusion(
        self,
        data: Any = None,
        actual: Any = None,
        *,
        ties: Ties | None = None,
        positive: Any = None,
        mode: Mode | None = None,
        prevalence: float | None = None,
        beta: float = 1.0,
    ) -> ConfusionMatrix:
        """Table of actual against predicted labels, with all that follows from it.

        The scores give the area under the ROC curve, a logistic fit also log loss and
        Brier score.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.
        actual : Series or array, optional
            Their labels; taken from the outcome's column of `data` if left out.
        ties : "na", "positive" or "negative", optional
            As for `predict`.
        positive, mode, prevalence, beta : optional
            As for `pegasos_stats.metrics.confusion`.

        Returns
        -------
        ConfusionMatrix

        Raises
        ------
        ColumnError
            If `data` have no column of the outcome and `actual` is not given.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
        >>> result.confusion(train).table
        Predicted    5    6
        Actual
        ...
        """
        scores = self.decision_function(data)
        logistic = self.problem.loss == "log"
        return confusion(
            labels_of(self, data) if actual is None else actual,
            self.coding.predicted(scores, self._ties(ties)),
            positive,
            levels=self.coding.levels,
            scores=scores,
            probabilities=self.coding.probabilities(scores) if logistic else None,
            mode=mode,
            prevalence=prevalence,
            beta=beta,
        )

    def glance(self) -> pd.DataFrame:
        """The fit in one row, as by broom's ``glance``.

        Returns
        -------
        DataFrame, one row
            Columns ``nobs, dropped`` (rows used, and left out for missing values),
            ``loss, lam, objective, dual_objective, gap, relative_gap, n_iter,
            n_violations, n_support, error_rate`` (of the training rows), ``solver,
            seed`` (missing where nothing was drawn) and ``converged`` (missing for a
            run without tolerance). ``pd.concat`` of several compares fits.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.SDCA(tol=1e-6, seed=1))
        >>> result.glance()[["nobs", "lam", "error_rate", "converged"]]
           nobs  lam  error_rate  converged
        0   200  1.0         0.0       True
        """
        return glanced(self, self.training_table.error_rate)

    def augment(
        self,
        data: Any = None,
        actual: Any = None,
        *,
        ties: Ties | None = None,
        prefix: str = "",
    ) -> pd.DataFrame:
        """The data with predictions beside them, as by broom's ``augment``.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows. If left out, the rows of the fit: the outcome and the columns
            of the matrix, factors as columns of 0 and 1.
        actual : Series or array, optional
            Labels; taken from the outcome's column of `data`, if there is one.
        ties : "na", "positive" or "negative", optional
            As for `predict`.
        prefix : str, default ""
            Put before the new names, where the data have a column of such a name
            already.

        Returns
        -------
        DataFrame, on the index of `data`
            All columns of the data, then ``predicted``, ``score``, for the log loss
            ``probability`` (of the second level), and where the labels are known
            ``margin = y score`` and ``loss``. Rows with a missing value keep their
            place, with missing predictions.

        Raises
        ------
        ColumnError
            If the data have a column of one of these names.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
        >>> result.augment(test).iloc[:2, -4:].round(3)
            predicted  score  margin   loss
        ...
        """
        frame = frame_of(self, data)
        labels = known_labels(self, data, actual)
        scores = self.decision_function(data)
        return with_columns(
            frame, scored(self, scores, labels, self._ties(ties)), prefix
        )

    @cached_property
    def training_table(self) -> ConfusionMatrix:
        """Confusion table of the rows of the fit; a loaded model has its counts."""
        actual, levels = labels_of(self, None), self.coding.levels
        return confusion(actual, self.predict(), levels=levels)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What there is to say of the fit; `summary` says more on standard errors.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> wild = ps.svm("digit ~ .", train, lam=1e-3).fit(ps.Pegasos(1, seed=443))
        >>> [note.topic for note in wild.notes if note.severity == "warning"]
        ['run']
        """
        return tuple(notes_of(self, self.training_table))

    def report(
        self,
        test: Any = None,
        path: str | PathLike[str] | None = None,
        *,
        format: "Format | None" = None,
        title: str | None = None,
        source: str | PathLike[str] | None = None,
        image_shape: tuple[int, int] | None = None,
        overwrite: bool = False,
    ) -> "Report":
        """Report the fit on one page; as `pegasos_stats.report`.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=5, seed=443))
        >>> result.report(test)  # with a path it is written there
        <Report: digit: 5 or 6>
        """
        from pegasos_stats.output.report.report import report

        return report(
            self,
            test,
            path,
            format=format,
            title=title,
            source=source,
            image_shape=image_shape,
            overwrite=overwrite,
        )

    def __repr__(self) -> str:
        return (
            f"<Results: {self.coding.described}, "
            f"{counted(self.nobs, 'row')}, {self._size()}, "
            f"objective {significant(self.objective, 6)}, seed {self.seed}>"
        )

    def _ties(self, given: Ties | None) -> Ties:
        return self.solver.ties if given is None else given

    def _matrix(self, data: Any) -> ModelMatrix:
        if data is None:
            everything = np.ones(self.nobs, dtype=bool)
            return ModelMatrix(self.problem.X, everything, self.index)
        return self.design.matrix(data)

    def _summarised(
        self, params: pd.DataFrame, notes: list[Note], further: Fields = ()
    ) -> Summary:
        """Put coefficients and their notes under the header of every fit."""
        left = [*model_lines(self, self.training_table), *further]
        title = TITLES[self.problem.loss]
        # Training errors are in the header, which says what they are.
        own = [note for note in self.notes if note.topic != "predictions"]
        shown = listed([*own, *notes])
        return Summary(title, left, solver_lines(self), params, shown)
