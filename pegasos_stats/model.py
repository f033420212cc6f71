"""Linear models: what is minimised, on which data."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from pegasos_stats.design import Design
from pegasos_stats.errors import ColumnError, DataError, OptionError
from pegasos_stats.formula import outcome_of
from pegasos_stats.labels import Coding, LabelCoding, Ties
from pegasos_stats.linear_results import LinearResults
from pegasos_stats.objective import Certificate, certificate
from pegasos_stats.options import check_flag, check_positive
from pegasos_stats.problem import LossName, Problem, Solution
from pegasos_stats.running import run_pegasos
from pegasos_stats.sample import (
    Dropped,
    NaAction,
    Sample,
    aligned_labels,
    sample_of_arrays,
    sample_of_formula,
)
from pegasos_stats.sdca import SDCA
from pegasos_stats.sdca_running import run_sdca
from pegasos_stats.solvers import Pegasos
from pegasos_stats.trace import Recorder


class Model(ABC):
    """What all models have in common: a sample, and a record of the fit."""

    problem: Problem
    _sample: Sample

    @abstractmethod
    def _certificate(self, found: Any) -> Certificate:
        """Primal and dual objective of a solution."""

    @abstractmethod
    def _errors_on(self, X: Any, y: Any, found: Any, ties: Ties) -> float:
        """Error rate of a solution on held-out rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept left out."""
        return self.design.names

    @property
    def design(self) -> Design:
        """How data become a matrix."""
        return self._sample.design

    @property
    def coding(self) -> LabelCoding:
        """Which level is -1 and which +1."""
        return self._sample.coding

    @property
    def dropped(self) -> Dropped:
        """Counts of the rows left out for missing values."""
        return self._sample.dropped

    def _recorder(self, trace: bool, test: Any, ties: Ties) -> Recorder | None:
        """Record of a fit, if one is asked for."""
        check_flag("trace", trace)
        if test is not None and not trace:
            raise OptionError("test= is recorded in the trace; give trace=True too.")
        if not trace:
            return None
        if test is None:
            return Recorder(self._certificate, self.problem.n, ties)
        X, y = self._held_out(test)
        return Recorder(
            self._certificate,
            self.problem.n,
            ties,
            lambda found: self._errors_on(X, y, found, ties),
        )

    def _held_out(self, test: Any) -> tuple[Any, Any]:
        """Code held-out rows as those of the fit; incomplete ones are left out."""
        labels, X = self._labels_and_data(test)
        matrix = self.design.matrix(X)
        y = self.coding.encode(labels)[matrix.kept]
        known = ~np.isnan(y)
        if not known.any():
            raise DataError(
                "No held-out row is complete; give test rows with labels and values."
            )
        return matrix.values[known], y[known]

    def _labels_and_data(self, test: Any) -> tuple["pd.Series[Any]", Any]:
        if isinstance(test, tuple) and len(test) == 2:
            return aligned_labels(*test), test[1]
        if self.design.formula is not None:
            return outcome_of(self.design.formula, test), test
        name = self.coding.name
        if isinstance(test, pd.DataFrame) and name in test.columns:
            return test[name], test
        raise ColumnError(
            f"The outcome {name!r} is not among the held-out data; give test=(y, X)."
        )


class LinearModel(Model):
    """What `SVM` and `Logit` have in common; they differ in the loss."""

    loss: ClassVar[LossName]

    def __init__(
        self,
        y: Any,
        X: Any,
        *,
        lam: float = 1.0,
        intercept: bool = True,
        coding: Coding = "factor",
        na_action: NaAction = "drop",
    ) -> None:
        check_flag("intercept", intercept)
        self._set_up(sample_of_arrays(y, X, coding, na_action), lam, intercept)

    @classmethod
    def from_formula(
        cls,
        formula: str,
        data: Any,
        *,
        lam: float = 1.0,
        intercept: bool = True,
        coding: Coding = "factor",
        na_action: NaAction = "drop",
    ) -> Self:
        """Build the model from a formula and a data frame.

        Parameters
        ----------
        formula : str
            ``"y ~ ."``, ``"y ~ a + C(b)"``, ``"y > 20 ~ log(a)"``. Text and categories
            become treatment contrasts with the first level dropped.
        data : DataFrame
        lam, intercept, coding, na_action
            As for the class.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> ps.SVM.from_formula("digit ~ p34 + p43", train).names
        ('p34', 'p43')
        """
        check_flag("intercept", intercept)
        sample, kept = sample_of_formula(formula, data, intercept, coding, na_action)
        model = cls.__new__(cls)
        model._set_up(sample, lam, kept)
        return model

    def _set_up(self, sample: Sample, lam: float, intercept: bool) -> None:
        self._sample = sample
        self.problem = Problem(
            sample.X, sample.y, check_positive("lam", lam), self.loss, bool(intercept)
        )

    def fit(
        self,
        solver: Pegasos | SDCA | None = None,
        *,
        trace: bool = False,
        test: Any = None,
        progress: bool = False,
    ) -> LinearResults:
        """Minimise the objective.

        Parameters
        ----------
        solver : Pegasos or SDCA, optional
            ``Pegasos()`` if none is given.
        trace : bool, default False
            Whether to record objective, gap, violations, errors and processor time
            after every epoch, in ``result.trace``.
        test : DataFrame or pair (y, X), optional
            Held-out rows with labels, whose error the trace records.
        progress : bool, default False
            Whether to show a progress bar.

        Returns
        -------
        LinearResults

        Raises
        ------
        OptionError
            If the solver does not go with the model, or `test` comes without `trace`.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ .", train)
        >>> result = model.fit(ps.Pegasos(epochs=2, seed=1), trace=True, test=test)
        >>> result.trace["steps"].tolist()
        [200, 400]
        """
        solver = checked_solver(solver)
        check_flag("progress", progress)
        recorder = self._recorder(trace, test, solver.ties)
        if isinstance(solver, SDCA):
            solution = run_sdca(self.problem, solver, recorder, progress)
        else:
            solution = run_pegasos(self.problem, solver, recorder, progress)
        return LinearResults(
            problem=self.problem,
            solver=solver,
            solution=solution,
            design=self.design,
            coding=self.coding,
            index=self._sample.index,
            dropped=self.dropped,
            trace=None if recorder is None else recorder.frame(),
        )

    def _certificate(self, found: Solution) -> Certificate:
        return certificate(self.problem, found.beta, found.alpha, found.dual)

    def _errors_on(self, X: Any, y: Any, found: Solution, ties: Ties) -> float:
        held_out = replace(self.problem, X=X, y=y)
        nothing = np.zeros(held_out.n)
        at = certificate(held_out, found.beta, found.alpha, nothing)
        return at.error_rate(held_out.n, ties)


class SVM(LinearModel):
    """Linear support vector machine with an intercept that is not penalised.

    Minimises ``lam/2 ||beta||^2 + mean(max(0, 1 - y_i (x_i'beta + alpha)))`` over
    the rows without missing values, the first level of the outcome coded -1 and the
    second +1.

    Parameters
    ----------
    y : Series or array, shape (n,)
        Outcome with two levels: text, numbers, booleans or categories.
    X : DataFrame, array or scipy sparse array, shape (n, p)
        Numeric predictors. A constant column is not needed. Sparse data, also sparse
        columns of a frame, stay sparse.
    lam : float, default 1.0
        Penalty, above zero (lambda in the literature).
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    coding : "factor", "first-seen" or a pair (negative, positive)
        Which level is coded -1, see `LabelCoding`.
    na_action : "drop" or "raise"
        What becomes of rows with missing values: left out and counted, or an error.

    Raises
    ------
    LabelError
        If the outcome does not have exactly two levels.
    ColumnError
        If a column is not numeric or holds infinite values.
    DataError
        If `y` and `X` do not fit together, or no complete row is left.
    OptionError
        If an option is not allowed.

    See Also
    --------
    SVM.from_formula : the same from a formula and a data frame, also as ``svm``.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
    equation 1 and section 6.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.SVM(train["digit"], train.drop(columns="digit"), lam=1.0)
    >>> result = model.fit(ps.Pegasos(epochs=20, seed=443))
    >>> result.nobs
    200
    """

    loss = "hinge"


class Logit(LinearModel):
    """Penalised logistic regression with an intercept that is not penalised.

    Minimises ``lam/2 ||beta||^2 + mean(log(1 + exp(-y_i (x_i'beta + alpha))))``.
    Parameters and errors are those of `SVM`; the fit also gives probabilities.

    See Also
    --------
    Logit.from_formula : the same from a formula and a data frame, also as ``logit``.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
    section 4.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train).fit(ps.Pegasos(epochs=5, seed=443))
    >>> probabilities = result.predict_proba(test)
    >>> bool((probabilities.sum(axis=1).round(12) == 1).all())
    True
    """

    loss = "log"


svm = SVM.from_formula
logit = Logit.from_formula


def checked_solver(solver: Pegasos | SDCA | None) -> Pegasos | SDCA:
    """Return the solver, ``Pegasos()`` if none is given.

    Raises
    ------
    OptionError
        If it is not a solver.
    """
    if solver is None:
        return Pegasos()
    if not isinstance(solver, Pegasos | SDCA):
        raise OptionError(
            f"solver is of type {type(solver).__name__}; give a solver such as "
            "Pegasos(epochs=20, seed=443)."
        )
    return solver
