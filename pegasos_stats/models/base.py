"""Base class of models: the objective and the data."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Predictors, Vector
from pegasos_stats.checks import check_flag
from pegasos_stats.data.design import Design
from pegasos_stats.data.labels import LabelCoding, Ties, signs_of
from pegasos_stats.data.sample import Groups, MissingRowCounts, Sample, aligned_labels
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.data.weights import Counts, Offset, column_of_counts
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.results import labelled_rows, outcome_column
from pegasos_stats.models.summaries import problem_lines
from pegasos_stats.solvers.options import Solver
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Moment, Observer
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solutions import AnySolution, certificate_of, scores_of
from pegasos_stats.tables import header_html

if TYPE_CHECKING:
    from pegasos_stats.studies.cross_validation import LambdaPath


@dataclass(eq=False)
class Recorder:
    """Notes the progress of a run; called with a `Moment` after every epoch.

    Parameters
    ----------
    problem : Problem
        What is minimised, on the training rows.
    ties : "na", "positive" or "negative"
        How a score of exactly 0 counts; with ``"na"`` such rows are left out.
    test_error : callable, optional
        From a solution to its error rate on held-out rows.
    """

    problem: Problem
    ties: Ties
    test_error: Callable[[AnySolution], float] | None = None
    _lines: list[dict[str, object]] = field(default_factory=list)
    _violations: int = 0

    def __call__(self, moment: Moment) -> None:
        """Add a line."""
        found = moment.solution
        at = certificate_of(self.problem, found)
        line = {
            "epoch": moment.epoch,
            "steps": found.n_iter,
            "objective": at.objective,
            "gap": at.gap,
            "violations": found.n_violations - self._violations,
            "training_error": at.error_rate(self.problem.n, self.ties),
        }
        if self.test_error is not None:
            line["test_error"] = self.test_error(found)
        self._violations = found.n_violations
        self._lines.append(line | {"cpu_seconds": moment.cpu_seconds})

    def frame(self) -> pd.DataFrame:
        """Lines as a data frame, one row per epoch.

        Columns: ``epoch, steps, objective, gap, violations`` (of this epoch),
        ``training_error``, ``test_error`` if there are held-out rows, and
        ``cpu_seconds``, the processor time of all updates so far.
        """
        return pd.DataFrame(self._lines)


# The matrix of rows, -1 or +1 for each, and their offset where there is one.
HeldOut = tuple[Predictors, Vector, Vector | None]


@suggest_names("model")
class Model(ABC):
    """What all models have in common: the data, and a record of the fit."""

    problem: Problem
    _sample: Sample
    _path: "LambdaPath | None" = None  # that chose lambda, with lam="cv"
    _choices: "dict[bytes, Self] | None" = None  # models at such a lambda, by groups

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.coding.described}, "
            f"{counted(self.problem.n, 'row')}, "
            f"{counted(len(self.names), 'predictor')}, "
            f"lam {self._lambda_text()}; not fitted, see fit()>"
        )

    def _repr_html_(self) -> str:
        kernel = getattr(self.problem, "kernel", None)
        other = [
            ("Predictors:", f"{len(self.names):,}"),
            *([] if kernel is None else [("Kernel:", str(kernel))]),
            ("Solver:", "not fitted yet: see fit()"),
        ]
        return header_html(type(self).__name__, problem_lines(self), other)

    def _lambda_text(self) -> str:
        """Lambda as people read it; with ``lam="cv"`` a fit has to choose it first."""
        chosen = self.problem.lam_rule != "cv" or self._path is not None
        return self.problem.lambda_text if chosen else "by cross-validation"

    def at_chosen_lambda(self, groups: Groups | None = None) -> Self:
        """Return the model at its lambda, which with ``lam="cv"`` is chosen here.

        That is the ``lambda_min`` of ``lambda_path(model, folds=10, seed=1)``. It is
        chosen once for a model and its groups.

        Parameters
        ----------
        groups : Groups, optional
            Groups of rows that stay together in the folds; of two kinds the first.

        Returns
        -------
        Model
            The model itself where lambda is known.
        """
        if self.problem.lam_rule != "cv" or self._path is not None:
            return self
        from pegasos_stats.studies.cross_validation import lambda_path

        whole = None if groups is None else replace(groups, codes=groups.codes[:1])
        key = b"" if whole is None else whole.codes[0].tobytes()
        choices = self._choices or {}
        if key not in choices:
            other = copy(self)
            other._path = lambda_path(self, groups=whole, seed=1)
            lam = other._path.lambda_min
            other.problem = replace(self.problem, lam=lam, lam_rule="cv")
            self._choices = choices | {key: other}
        return (self._choices or choices)[key]

    @abstractmethod
    def solve(
        self, solver: Pegasos | SDCA, observe: Observer | None = None
    ) -> AnySolution:
        """Run a solver, and return its solution alone.

        Parameters
        ----------
        solver : Pegasos or SDCA
        observe : callable, optional
            Called with a `Moment` after every epoch, for example a `recorder`.

        Returns
        -------
        Solution or KernelSolution

        Raises
        ------
        OptionError
            If the solver does not go with the model.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept left out."""
        return self.design.names

    @property
    def design(self) -> Design:
        """Design: the rule that turns data into a matrix of predictors."""
        return self._sample.design

    @property
    def coding(self) -> LabelCoding:
        """Which level is -1 and which +1."""
        return self._sample.coding

    @property
    def dropped(self) -> MissingRowCounts:
        """Counts of the rows left out for missing values."""
        return self._sample.dropped

    @property
    def counted(self) -> Counts | None:
        """Counts of the rows, if ``freq_weights=`` was given; else None."""
        return self._sample.counted

    @property
    def offsets(self) -> Offset | None:
        """Source of the offset: a column, a term or numbers; None without an offset."""
        return self._sample.offsets

    @property
    def scaling(self) -> Scaling | None:
        """Centres and scales of ``standardize=True``; None without it."""
        return self.design.scaling if isinstance(self.design, ScaledDesign) else None

    def in_columns(self, solver: Pegasos | SDCA) -> Pegasos | SDCA:
        """Return the solver with its start in the order of the columns.

        Raises
        ------
        OptionError
            If the start has names that are not in `names`.
        """
        if not isinstance(solver, Pegasos):
            return solver
        return solver.for_columns(self.names, self.problem.intercept)

    def recorder(self, ties: Ties, held_out: HeldOut | None = None) -> Recorder:
        """Make the recorder of a run's trace, with the error on any `held_out` rows."""
        if held_out is None:
            return Recorder(self.problem, ties)
        X, y, offset = held_out

        def error_rate(found: AnySolution) -> float:
            signs = signs_of(self._scores(found, X, offset), ties)
            decided = ~np.isnan(signs)
            return float((signs != y)[decided].mean()) if decided.any() else np.nan

        return Recorder(self.problem, ties, error_rate)

    def _scores(
        self, found: AnySolution, X: Predictors, offset: Vector | None
    ) -> Vector:
        """Scores of the rows of a matrix by a solution."""
        return scores_of(self.problem, found, X, offset)

    def _recorder(self, trace: bool, test: object, ties: Ties) -> Recorder | None:
        """Make the record of a fit, if one is asked for."""
        check_flag("trace", trace)
        if test is not None and not trace:
            raise OptionError("test= is recorded in the trace; give trace=True too.")
        if not trace:
            return None
        return self.recorder(ties, None if test is None else self.held_out(test))

    @suggest_arguments
    def held_out(self, test: object) -> HeldOut:
        """Code held-out rows as those of the fit are coded; drop incomplete ones.

        Parameters
        ----------
        test : DataFrame or pair (y, X)

        Returns
        -------
        X : array, shape (n, p)
        y : float64 array, shape (n,), of -1 and +1
        offset : float64 array, shape (n,), or None

        Raises
        ------
        ColumnError
            If the outcome or a predictor is not there.
        DataError
            If no row is complete.
        OptionError
            If the offset of the model was given as numbers.
        """
        if self.offsets is not None and self.offsets.given:
            raise OptionError(
                "The model has offset= as numbers, which rows given as test= do not "
                "bring; give it the name of a column as offset=, or offset() in the "
                "formula."
            )
        if isinstance(test, tuple) and len(test) == 2:
            labels, X = aligned_labels(*test), test[1]
        else:
            labels = outcome_column(test, self.design, self.coding, "test=(y, X)")
            X = test
        matrix = self.design.matrix(X)
        if self.offsets is not None:
            matrix = self.offsets.on(matrix, X, None)
        counts = column_of_counts(None, self.counted, X)
        rows, labels, offset = labelled_rows(matrix, labels, counts)
        if not len(labels):
            raise DataError(
                "No held-out row is complete; give test rows with labels and values."
            )
        return rows, self.coding.encode(labels), offset


def checked_solver(
    solver: Pegasos | SDCA | None, default: type[Pegasos] | type[SDCA]
) -> Pegasos | SDCA:
    """Return the solver, or a plain one of the default kind if none is given.

    Raises
    ------
    OptionError
        If it is not a solver.
    """
    if solver is None:
        return default()
    if not isinstance(solver, Solver):
        raise OptionError(
            f"solver is of type {type(solver).__name__}; give a solver such as "
            "SDCA() or Pegasos(epochs=20, seed=443)."
        )
    return solver
