"""What a fit gives: coefficients, predictions, a summary."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.confusion import ConfusionMatrix, confusion
from pegasos_stats.design import Design, ModelMatrix
from pegasos_stats.errors import ColumnError, counted
from pegasos_stats.formula import FormulaDesign, outcome_of
from pegasos_stats.labels import LabelCoding, Ties, signs_of
from pegasos_stats.objective import primal
from pegasos_stats.solvers import Pegasos, Problem, Solution
from pegasos_stats.tables import Summary, significant, summary_table


@dataclass(frozen=True)
class Dropped:
    """Rows left out at fit: without an outcome, and without some predictor."""

    outcome: int
    predictors: int

    @property
    def total(self) -> int:
        """All rows left out."""
        return self.outcome + self.predictors

    def __str__(self) -> str:
        missing_outcome = f" ({self.outcome:,} without outcome)" if self.outcome else ""
        return f"{self.total:,}{missing_outcome}"


@dataclass(frozen=True, repr=False)
class Results:
    """A fitted model; made by the `fit` method of a model.

    Attributes
    ----------
    problem : Problem
        The rows used, as numbers.
    solver : Pegasos
    solution : Solution
    design : Design
        How data become a matrix; replayed on new data.
    coding : LabelCoding
        Which level is -1 and which +1.
    index : Index, shape (n,)
        Row labels of the rows used.
    dropped : Dropped
        Counts of the rows left out for missing values.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
    >>> result.params.index[:3].tolist()
    ['Intercept', 'p00', 'p01']
    """

    problem: Problem
    solver: Pegasos
    solution: Solution
    design: Design
    coding: LabelCoding
    index: pd.Index
    dropped: Dropped

    @property
    def intercept(self) -> float:
        """Intercept ``alpha``; 0 for a model without one."""
        return self.solution.alpha

    @cached_property
    def coef(self) -> "pd.Series[float]":
        """Coefficients ``beta``, shape (p,), the intercept left out."""
        return pd.Series(self.solution.beta, index=list(self.design.names), name="coef")

    @cached_property
    def params(self) -> "pd.Series[float]":
        """Intercept first, if the model has one, then the coefficients."""
        if not self.problem.intercept:
            return self.coef.rename("params")
        first = pd.Series({"Intercept": self.intercept})
        return pd.concat([first, self.coef]).rename("params")

    @property
    def nobs(self) -> int:
        """Number of rows used."""
        return len(self.problem.y)

    @property
    def n_iter(self) -> int:
        """Number of steps taken."""
        return self.solution.n_iter

    @property
    def n_violations(self) -> int:
        """Number of steps whose margin was below 1 when it was visited."""
        return self.solution.n_violations

    @property
    def seed(self) -> int:
        """Seed of the run; `set.seed()` of R with it repeats the fit."""
        return self.solution.seed

    @cached_property
    def objective(self) -> float:
        """Regularised risk at the fit, ``lam/2 ||beta||^2 + mean loss``."""
        problem, solution = self.problem, self.solution
        return primal(problem.X, problem.y, solution.beta, solution.alpha, problem.lam)

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
        from pegasos_stats.kernels.pegasos import scores

        matrix = self._matrix(data)
        found = scores(matrix.values, self.solution.beta, self.solution.alpha)
        return matrix.spread(found).rename("score")

    def predict(self, data: Any = None, ties: Ties = "na") -> "pd.Series[Any]":
        """Labels by the sign of the score.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.
        ties : "na", "positive" or "negative"
            Label of a row whose score is exactly 0: missing, the second level or
            the first.

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
        signs = signs_of(np.asarray(scores, dtype=np.float64), ties)
        return self.coding.decode(signs, scores.index)

    def confusion(
        self, data: Any = None, actual: Any = None, *, ties: Ties = "na"
    ) -> ConfusionMatrix:
        """Table of actual against predicted labels, with the error rate.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.
        actual : Series or array, optional
            Their labels; taken from the outcome's column of `data` if left out.
        ties : "na", "positive" or "negative"
            As for `predict`.

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
        predicted = self.predict(data, ties)
        if actual is None:
            actual = self._actual(data)
        elif not isinstance(actual, pd.Series):
            actual = pd.Series(actual, index=predicted.index)
        return confusion(actual, predicted, levels=self.coding.levels)

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
        shown, note = self._terms_shown(max_terms)
        table = pd.DataFrame({"coef": [significant(v, 5) for v in shown]}, shown.index)
        notes = [*self._notes(), *note]
        return summary_table(_TITLE, self._left(), self._right(), table, notes)

    def __repr__(self) -> str:
        negative, positive = self.coding.levels
        return (
            f"<Results: {self.coding.name} ({negative!r} = -1, {positive!r} = +1), "
            f"{counted(self.nobs, 'row')}, {counted(len(self.coef), 'coefficient')}, "
            f"objective {significant(self.objective, 6)}, seed {self.seed}>"
        )

    def _matrix(self, data: Any) -> ModelMatrix:
        if data is None:
            everything = np.ones(self.nobs, dtype=bool)
            return ModelMatrix(self.problem.X, everything, self.index)
        return self.design.matrix(data)

    def _actual(self, data: Any) -> "pd.Series[Any]":
        """Labels of `data`, found in its outcome column."""
        if data is None:
            return self.coding.decode(self.problem.y, self.index)
        if isinstance(self.design, FormulaDesign):
            return outcome_of(self.design.formula, data)
        name = self.coding.name
        if not isinstance(data, pd.DataFrame) or name not in data.columns:
            raise ColumnError(
                f"The outcome {name!r} is not among the data; give the labels: "
                "confusion(data, actual=labels)."
            )
        return data[name]

    def _terms_shown(self, limit: int | None) -> tuple["pd.Series[float]", list[str]]:
        """Coefficients to print, and a note where some are left out."""
        if limit is None or len(self.coef) <= limit:
            return self.params, []
        largest = self.coef.abs().sort_values(ascending=False, kind="stable").index
        shown = self.params[~self.params.index.isin(largest[limit:])]
        return shown, [
            f"The {limit} largest of {len(self.coef)} coefficients by absolute value "
            "are shown; all are in params."
        ]

    def _left(self) -> list[tuple[str, str]]:
        negative, positive = self.coding.levels
        counts = {sign: int((self.problem.y == sign).sum()) for sign in (-1.0, 1.0)}
        return [
            ("Outcome:", self.coding.name),
            ("Coded -1:", f"{negative} ({counts[-1.0]:,} rows)"),
            ("Coded +1:", f"{positive} ({counts[1.0]:,} rows)"),
            ("Loss:", "hinge"),
            ("lambda:", significant(self.problem.lam, 6)),
            ("Intercept:", "free" if self.problem.intercept else "none"),
            ("No. Observations:", f"{self.nobs:,}"),
            ("Rows dropped (NA):", str(self.dropped)),
        ]

    def _right(self) -> list[tuple[str, str]]:
        errors = self.confusion().n_errors
        return [
            ("Solver:", "Pegasos"),
            ("Epochs:", str(self.solver.epochs)),
            ("Steps:", f"{self.n_iter:,}"),
            ("Margin violations:", f"{self.n_violations:,}"),
            ("Seed:", str(self.seed)),
            ("sample.kind:", self.solver.sample_kind.capitalize()),
            ("Objective:", significant(self.objective, 6)),
            ("Training errors:", f"{errors:,} ({errors / self.nobs:.2%})"),
        ]

    def _notes(self) -> list[str]:
        negative, positive = self.coding.levels
        source = "drawn, not given" if self.solver.seed is None else "given"
        return [
            f"A positive score predicts {positive!r}, a negative one {negative!r}.",
            "Coefficients are penalised, the intercept is not.",
            f"The seed was {source}; it repeats this fit, in R too.",
        ]


_TITLE = "Support Vector Machine Results"
