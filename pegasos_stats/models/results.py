"""What a fit of any kind gives: its certificate, predictions, tables, data frames."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.counts import Counts, column_of_counts
from pegasos_stats.data.design import Design
from pegasos_stats.data.labels import LabelCoding, Ties
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.metrics.inputs import Mode
from pegasos_stats.models import frames
from pegasos_stats.models.notes.fits import about_fit
from pegasos_stats.models.notes.note import Note
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solutions import AnySolution, certificate_of, scores_of
from pegasos_stats.tables import Summary, significant

if TYPE_CHECKING:
    from pegasos_stats.output.report.destination import Format
    from pegasos_stats.output.report.report import Report


@dataclass(frozen=True, repr=False, eq=False)
class Results(ABC):
    """A fitted model; made by the `fit` method of a model.

    Attributes
    ----------
    problem : Problem
        The rows used, as numbers.
    solver : Pegasos or SDCA
    solution : Solution or KernelSolution
    design : Design
        How data become a matrix; used again for new data.
    coding : LabelCoding
        Which level is -1 and which +1.
    index : Index, shape (n,)
        Row labels of the rows used.
    dropped : Dropped
        Counts of the rows left out for missing values.
    trace : DataFrame or None
        One line per epoch, where ``fit(trace=True)`` asked for it.
    refinement : SDCA or None
        The solver that went on from the first one's dual point, by ``fit(refine=)``.
    seconds : float or None
        Run time of the fit.
    counted : Counts or None
        How rows were counted, where ``freq_weights=`` was given.
    """

    problem: Problem
    solver: Pegasos | SDCA
    solution: AnySolution
    design: Design
    coding: LabelCoding
    index: pd.Index
    dropped: Dropped
    trace: pd.DataFrame | None = None
    refinement: SDCA | None = None
    seconds: float | None = None
    counted: Counts | None = None

    @cached_property
    def certificate(self) -> Certificate:
        """Primal and dual objective of the fit, and the gap between them."""
        return certificate_of(self.problem, self.solution)

    @property
    def objective(self) -> float:
        """Regularised risk at the fit, ``lam/2 ||beta||^2 + mean loss``."""
        return self.certificate.objective

    @property
    def dual_objective(self) -> float:
        """Dual objective at a feasible point: no model has a smaller risk."""
        return self.certificate.dual_objective

    @property
    def gap(self) -> float:
        """Duality gap, ``objective - dual_objective``."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """``gap / objective``."""
        return self.certificate.relative_gap

    @property
    def converged(self) -> bool | None:
        """Whether a tolerance was reached; None for a run without one."""
        at, last = self.certificate, self.refinement or self.solver
        return last.converged(at, self.solution.settled)

    @property
    @abstractmethod
    def n_support(self) -> int:
        """Number of training rows that the fit depends on."""

    @property
    def intercept(self) -> float:
        """Intercept ``alpha``; 0 for a model without one."""
        return float(self.solution.alpha)

    @property
    def nobs(self) -> int:
        """Number of rows used."""
        return self.problem.n

    @property
    def n_iter(self) -> int:
        """Number of steps taken."""
        return int(self.solution.n_iter)

    @property
    def n_epochs(self) -> int | None:
        """Epochs that Pegasos ran, those of ``refine=`` left out; None if unknown."""
        return self.solution.n_epochs

    @property
    def n_violations(self) -> int:
        """Visits of rows with a margin below 1; for the log loss, below 0."""
        return int(self.solution.n_violations)

    @property
    def seed(self) -> int | None:
        """Seed of the run; ``set.seed()`` of R with it repeats the fit."""
        return self.solution.seed

    @property
    def solver_name(self) -> str:
        """The solver, and the one that went on from it if there is one."""
        return self.solver.name + (", then SDCA" * bool(self.refinement))

    @property
    def scaling(self) -> Scaling | None:
        """How the predictors were scaled, by ``standardize=True``; else None."""
        return self.design.scaling if isinstance(self.design, ScaledDesign) else None

    def decision_function(self, data: object = None) -> "pd.Series[float]":
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
        """
        matrix = self._rows.matrix(data)
        return matrix.spread(self._scores(matrix.values)).rename("score")

    def predict(self, data: object = None, ties: Ties | None = None) -> pd.Series:
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
        Series of labels, on the index of `data`; missing in rows with missing values
        """
        scores = self.decision_function(data)
        return self.coding.predicted(scores, self._ties(ties))

    def predict_proba(self, data: object = None) -> pd.DataFrame:
        """Probabilities of both levels, ``1 / (1 + exp(-z))`` for the second.

        ``z`` is the score; with weights of the classes, such as ``"balanced"``, less
        ``log(w+ / w-)``, what they do to the odds: probabilities are for levels as
        frequent as at fit. Weights that differ from row to row stay in the odds.
        `predict` goes by the sign of the score.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.

        Returns
        -------
        DataFrame, a column for each level; NaN in rows with missing values

        Raises
        ------
        OptionError
            If the model was fitted by the hinge loss, which has no probabilities.
        """
        if self.problem.loss != "log":
            raise OptionError(
                "The hinge loss gives no probabilities; fit ps.logit() for them, or "
                "use decision_function() for scores."
            )
        scores = self.decision_function(data)
        return self.coding.probabilities(scores - self.problem.prior_shift)

    def confusion(
        self,
        data: object = None,
        actual: object = None,
        *,
        ties: Ties | None = None,
        positive: object = None,
        mode: Mode | None = None,
        prevalence: float | None = None,
        beta: float = 1.0,
        freq_weights: object = None,
    ) -> ConfusionMatrix:
        """Table of actual against predicted labels, with all that follows from it.

        With the area under the ROC curve; of a logistic fit log loss and Brier score.

        Parameters
        ----------
        data, ties : optional
            As for `predict`.
        actual : Series or array, optional
            Labels of the rows; taken from the outcome's column of `data` if left out.
        positive, mode, prevalence, beta : optional
            As for `pegasos_stats.metrics.confusion`.
        freq_weights : array or Series of whole numbers, or a column's name; optional
            How many rows each stands for: the fit's column of that name if left out.

        Returns
        -------
        ConfusionMatrix
            Without intervals and tests if the rows are those of the fit, in order.
        """
        matrix, logistic = self._rows.matrix(data), self.problem.loss == "log"
        scores = matrix.spread(self._scores(matrix.values)).rename("score")
        odds = scores - self.problem.prior_shift
        labels = self._rows.labels(data) if actual is None else actual
        counts = column_of_counts(freq_weights, self.counted, data)
        found = confusion(
            labels,
            self.coding.predicted(scores, self._ties(ties)),
            positive,
            levels=self.coding.levels,
            scores=scores,
            probabilities=self.coding.probabilities(odds) if logistic else None,
            mode=mode,
            prevalence=prevalence,
            beta=beta,
            freq_weights=counts,
        )
        seen = data is None or self._rows.are(matrix, labels, counts)
        return replace(found, source="training") if seen else found

    @cached_property
    def training_table(self) -> ConfusionMatrix:
        """Confusion table of the rows of the fit; a loaded model has its counts."""
        pair, levels = (self._rows.labels(), self.predict()), self.coding.levels
        return replace(confusion(*pair, levels=levels), source="training")

    @abstractmethod
    def tidy(self) -> pd.DataFrame:
        """What predictions are made of, a row for each term."""

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
        """
        facts = ("objective", "dual_objective", "gap", "relative_gap")
        counts = ("n_iter", "n_violations", "n_support")
        cells = {
            **{"nobs": self.nobs, "dropped": self.dropped.total},
            **{"loss": self.problem.loss, "lam": self.problem.lam},
            **{name: getattr(self, name) for name in (*facts, *counts)},
            "error_rate": self.training_table.error_rate,
            "solver": self.solver_name,
            "seed": pd.array([self.seed], dtype="Int64"),
            "converged": pd.array([self.converged], dtype="boolean"),
        }
        return pd.DataFrame(cells, index=[0])

    def augment(
        self,
        data: object = None,
        actual: object = None,
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
        actual, ties : optional
            As for `confusion`; without labels there is neither margin nor loss.
        prefix : str, default ""
            Put before the new names, if the data have columns of such names already.

        Returns
        -------
        DataFrame, on the index of `data`
            All columns of the data, then ``predicted``, ``score``, for the log loss
            ``probability`` (of the second level), and where the labels are known
            ``margin = y score`` and ``loss``. Incomplete rows have missing predictions.

        Raises
        ------
        ColumnError
            If the data have a column of one of these names.
        """
        scores, labels = self.decision_function(data), self._rows.known_labels
        given = labels(data, actual), self.coding, self.problem, self._ties(ties)
        added = frames.predictions(scores, *given)
        return frames.with_columns(self._rows.frame(data), added, prefix)

    @abstractmethod
    def summary(self) -> Summary:
        """Header, coefficients and notes."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What there is to say of the fit; `summary` says more on standard errors."""
        scaled, table = self.scaling is not None, self.training_table
        given = self.problem, self.certificate, self.solver, self.refinement
        return about_fit(*given, self.coding, scaled, table)

    def report(
        self,
        test: object = None,
        path: str | PathLike[str] | None = None,
        *,
        format: "Format | None" = None,
        title: str | None = None,
        source: str | PathLike[str] | None = None,
        image_shape: tuple[int, int] | None = None,
        overwrite: bool = False,
    ) -> "Report":
        """Report the fit on one page; as `pegasos_stats.report`."""
        from pegasos_stats.output.report.report import report

        return report(
            *(self, test, path),
            format=format,
            title=title,
            source=source,
            image_shape=image_shape,
            overwrite=overwrite,
        )

    def __repr__(self) -> str:
        return (
            f"<Results: {self.coding.described}, {counted(self.nobs, 'row')}, "
            f"{self._size()}, objective {significant(self.objective, 6)}, "
            f"seed {self.seed}>"
        )

    @abstractmethod
    def _size(self) -> str:
        """How large the fit is, in words."""

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows of a matrix."""
        return scores_of(self.problem, self.solution, X)

    @property
    def _rows(self) -> frames.TrainingRows:
        return frames.TrainingRows(self.problem, self.design, self.coding, self.index)

    def _ties(self, given: Ties | None) -> Ties:
        return self.solver.ties if given is None else given
