"""What every fit gives: predictions, errors, a certificate, a summary."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.confusion import ConfusionMatrix, confusion
from pegasos_stats.contingency.choices import Mode
from pegasos_stats.design import Design, ModelMatrix
from pegasos_stats.errors import ColumnError, OptionError, counted
from pegasos_stats.formula import outcome_of
from pegasos_stats.labels import LabelCoding, Ties
from pegasos_stats.objective import Certificate, zero_objective
from pegasos_stats.options import check_count
from pegasos_stats.problem import Problem
from pegasos_stats.sample import Dropped
from pegasos_stats.sdca import SDCA
from pegasos_stats.solvers import Pegasos
from pegasos_stats.tables import TITLES, Pairs, Summary, significant, weights_line


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
        How data become a matrix; replayed on new data.
    coding : LabelCoding
        Which level is -1 and which +1.
    index : Index, shape (n,)
        Row labels of the rows used.
    dropped : Dropped
        Counts of the rows left out for missing values.
    trace : DataFrame or None
        One line per epoch, where ``fit(trace=True)`` asked for it.
    refinement : SDCA or None
        What went on from the solver's dual point, where ``fit(refine=)`` asked for it.
    """

    problem: Problem
    solver: Pegasos | SDCA
    solution: Any
    design: Design
    coding: LabelCoding
    index: pd.Index
    dropped: Dropped
    trace: pd.DataFrame | None = None
    refinement: SDCA | None = None

    @property
    @abstractmethod
    def certificate(self) -> Certificate:
        """Primal and dual objective of the fit."""

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows of a matrix."""

    @abstractmethod
    def _coefficients(self, limit: int | None) -> tuple[pd.DataFrame, list[str]]:
        """Table of the summary, and a note where terms are left out."""

    @abstractmethod
    def _size(self) -> str:
        """How large the fit is, in words."""

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
    def n_violations(self) -> int:
        """Visits of rows with a margin below 1; for the log loss, below 0."""
        return int(self.solution.n_violations)

    @property
    def seed(self) -> int | None:
        """Seed of the run; ``set.seed()`` of R with it repeats the fit."""
        seed: int | None = self.solution.seed
        return seed

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
            As for `pegasos_stats.confusion`.

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
            self._actual(data) if actual is None else actual,
            self.coding.predicted(scores, self._ties(ties)),
            positive,
            levels=self.coding.levels,
            scores=scores,
            probabilities=self.coding.probabilities(scores) if logistic else None,
            mode=mode,
            prevalence=prevalence,
            beta=beta,
        )

    def summary(self, max_terms: int | None = 30) -> Summary:
        """Header, coefficients and notes.

        Parameters
        ----------
        max_terms : int or None, default 30
            With more coefficients than this only the largest by absolute value are
            shown, as many; ``None`` shows all.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook HTML; ``as_latex()`` gives LaTeX.
        """
        if max_terms is not None:
            check_count("max_terms", max_terms)
        table, note = self._coefficients(max_terms)
        title = TITLES[self.problem.loss]
        notes = [*self._notes(), *note]
        return Summary(title, self._left(), self._right(), table, notes)

    def __repr__(self) -> str:
        negative, positive = self.coding.levels
        return (
            f"<Results: {self.coding.name} ({negative!r} = -1, {positive!r} = +1), "
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

    def _actual(self, data: Any) -> "pd.Series[Any]":
        """Labels of `data`, found in its outcome column."""
        if data is None:
            return self.coding.decode(self.problem.y, self.index)
        if self.design.formula is not None:
            return outcome_of(self.design.formula, data)
        name = self.coding.name
        if not isinstance(data, pd.DataFrame) or name not in data.columns:
            raise ColumnError(
                f"The outcome {name!r} is not among the data; give the labels: "
                "confusion(data, actual=labels)."
            )
        return data[name]

    def _left(self) -> Pairs:
        negative, positive = self.coding.levels
        counts = {sign: int((self.problem.y == sign).sum()) for sign in (-1.0, 1.0)}
        return [
            ("Outcome:", self.coding.name),
            ("Coded -1:", f"{negative} ({counts[-1.0]:,} rows)"),
            ("Coded +1:", f"{positive} ({counts[1.0]:,} rows)"),
            ("Loss:", self.problem.loss),
            ("lambda:", significant(self.problem.lam, 6)),
            ("Intercept:", "free" if self.problem.intercept else "none"),
            *weights_line(getattr(self.problem, "weights", None)),
            ("No. Observations:", f"{self.nobs:,}"),
            ("Rows dropped (NA):", str(self.dropped)),
            ("Training errors:", self._errors()),
        ]

    def _right(self) -> Pairs:
        drawn = self.solver.uses_random_numbers
        return [
            ("Solver:", self.solver.name + (", then SDCA" * bool(self.refinement))),
            ("Order:", self.solver.order_name),
            ("Form:", self.solver.options or "plain"),
            ("Steps:", f"{self.n_iter:,}"),
            ("Margin violations:", f"{self.n_violations:,}"),
            ("Seed:", str(self.seed) if drawn else "none needed"),
            ("sample.kind:", self.solver.sample_kind.capitalize() if drawn else "-"),
            ("Objective:", significant(self.objective, 6)),
            ("Duality gap:", significant(self.gap, 3)),
            ("Relative gap:", significant(self.relative_gap, 3)),
        ]

    @cached_property
    def training_table(self) -> ConfusionMatrix:
        """Confusion table of the rows of the fit; a loaded model has its counts."""
        actual, levels = self._actual(None), self.coding.levels
        return confusion(actual, self.predict(), levels=levels)

    def _errors(self) -> str:
        table = self.training_table
        undecided = f", {table.n_undecided:,} undecided" if table.n_undecided else ""
        if not table.n_classified:
            return f"0 of 0{undecided}"
        return f"{table.n_errors:,} ({table.error_rate:.2%}){undecided}"

    def _notes(self) -> list[str]:
        negative, positive = self.coding.levels
        notes = [
            self._certified(),
            f"A positive score predicts {positive!r}, a negative one {negative!r}.",
            "Coefficients are penalised, the intercept is not.",
        ]
        if self.objective > zero_objective(self.problem):
            notes.insert(0, self._warning())
        if self.solver.uses_random_numbers:
            source = "drawn, not given" if self.solver.seed is None else "given"
            also = ", in R too" if isinstance(self.solver, Pegasos) else ""
            notes.append(f"The seed was {source}; it repeats this fit{also}.")
        return notes

    def _certified(self) -> str:
        """How far the fit is from the optimum, in words."""
        return (
            "Certified by duality: the optimum is not below "
            f"{significant(self.dual_objective, 6)}, so at most "
            f"{max(self.relative_gap, 0.0):.2%} of the objective could be gained."
        )

    def _warning(self) -> str:
        refit = self.problem.intercept and not self.solver.refit_intercept
        cause = "the intercept ran away" if refit else "the coefficients ran away"
        cure = "Pegasos(refit_intercept=True), more epochs" if refit else "more epochs"
        return (
            f"WARNING: the objective is above {zero_objective(self.problem):.4g}, that "
            f"of the model that is all zero: {cause} in the first, large steps. Give "
            f"{cure}, a larger lambda, or take SDCA for the exact optimum."
        )
