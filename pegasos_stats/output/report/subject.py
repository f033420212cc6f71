"""The subject of a report: a fit, and the rows on which it is evaluated."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.counts import column_of_counts, repeated
from pegasos_stats.data.design import Design
from pegasos_stats.data.formula import unwrapped
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.labels import signs_of
from pegasos_stats.data.sample import aligned_labels
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import DataError, OptionError, listing
from pegasos_stats.metrics.caret import ConfusionReport
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import checked_choices
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import Note
from pegasos_stats.models.predicting import checked_threshold, thresholded
from pegasos_stats.output.option_names import as_options
from pegasos_stats.solvers.kernel_problem import KernelFunction, KernelProblem
from pegasos_stats.studies.selection.cross_validation import CrossValidation
from pegasos_stats.studies.selection.path_results import LambdaPath
from pegasos_stats.studies.threshold_results import Thresholds, scale_of

Fitted = LinearResults | KernelResults


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Rows with labels, and what a fit predicts for them.

    Attributes
    ----------
    name : str
        ``"training"``, ``"test"`` or ``"out-of-fold"``.
    rows : int
        All rows of the data, those left out at fit with them.
    table : ConfusionMatrix
    scores : Series or None, shape (n,)
        None for the training rows of a model that was loaded from a file.
    data : object
        What the fit takes as data; None for its own rows.
    labels : Series or None
        Labels that came beside the data, not in them.
    threshold : float or None
        Of the predictions, on the scale of ``predict(threshold=)``.
    """

    name: str
    rows: int
    table: ConfusionMatrix
    scores: "pd.Series[float] | None"
    data: object = None
    labels: "pd.Series[Any] | None" = None
    threshold: float | None = None

    @property
    def report(self) -> ConfusionReport:
        """All statistics of the table; those that are not defined are NaN."""
        return self.table.summary()

    @property
    def error_rate(self) -> float:
        """Error rate; NaN, without a warning, where no row was classified."""
        known = self.table.n_classified
        return self.table.n_errors / known if known else math.nan

    @property
    def is_new(self) -> bool:
        """Whether the fit has not seen the rows, so that they tell of others."""
        return self.table.source == "new" and self.table.n_classified > 0

    @property
    def largest_class(self) -> tuple[object, float]:
        """The level of most classified rows, and the error rate of always naming it."""
        counts = self.table.counts[:, :-1].sum(axis=1)
        if not counts.sum():
            return None, math.nan
        at = int(counts.argmax())
        return self.table.levels[at], 1.0 - float(counts[at]) / float(counts.sum())

    @property
    def codes(self) -> NDArray[np.intp]:
        """Position of each row's actual level, -1 where it is missing."""
        if self.table.scored is None:
            return np.empty(0, dtype=np.intp)
        return self.table.scored.codes

    @property
    def is_unscored(self) -> NDArray[np.bool_]:
        """Which rows have a label and no score, for a missing predictor."""
        if self.scores is None:
            return np.zeros(len(self.codes), dtype=bool)
        return self.scores.isna().to_numpy() & (self.codes >= 0)

    @property
    def n_unscored(self) -> int:
        """How many rows these are."""
        return int(self.is_unscored.sum())

    @property
    def n_ties(self) -> int:
        """Rows with a label and no prediction, as their score is at the threshold."""
        return self.table.n_undecided - self.n_unscored


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Attributes
    ----------
    result : Results
    training : EvaluatedRows
    test : EvaluatedRows or None
    image_shape : pair of int or None
        Rows and columns of the image whose pixels the predictors are.
    path : LambdaPath or None
        Where lambda was chosen.
    validation : CrossValidation or None
    threshold : float or None
        Of predicted labels, where it is not the usual one.
    chosen : Thresholds or None
        How that threshold was chosen.
    command : str
        The command line, if that is where the fit was made.
    """

    result: Fitted
    training: EvaluatedRows
    test: EvaluatedRows | None
    image_shape: tuple[int, int] | None = None
    path: LambdaPath | None = None
    validation: CrossValidation | None = None
    threshold: float | None = None
    chosen: Thresholds | None = None
    command: str = ""

    def note_text(self, note: Note) -> str:
        """A note, written for Python or for the command line."""
        return as_options(note.sentence) if self.command else note.sentence

    def words(self, python: str, command: str) -> str:
        """The words of Python, or those of the command line."""
        return command if self.command else python

    @cached_property
    def evaluated(self) -> list[EvaluatedRows]:
        """Training rows, then out of fold if they were cross-validated, then test rows.

        The last ones are those that errors are quoted for.
        """
        found = [self.training]
        if self.validation is not None:
            found.append(out_of_fold(self.validation, self.positive, self.threshold))
        return found if self.test is None else [*found, self.test]

    @property
    def positive(self) -> object:
        """The positive class of the page."""
        return self.training.table.positive

    @property
    def has_gram(self) -> bool:
        """Whether there are no predictors, but a precomputed kernel."""
        return self.kernel is not None and self.kernel.name == "precomputed"

    @property
    def kernel(self) -> KernelFunction | None:
        """The kernel of a kernel model."""
        problem = self.result.problem
        return problem.kernel if isinstance(problem, KernelProblem) else None

    @property
    def is_logistic(self) -> bool:
        """Whether the fit gives probabilities."""
        return self.result.problem.loss == "log"

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights of the training rows, if they differ."""
        return self.result.problem.weights

    @property
    def is_scaled(self) -> bool:
        """Whether the predictors were standardized."""
        return isinstance(self.result.design, ScaledDesign)

    @property
    def has_rows(self) -> bool:
        """Whether the training rows are there; a loaded model has none."""
        return self.training.scores is not None


def factor_levels(design: Design) -> dict[str, list[str]]:
    """Levels of each column that became a factor, the reference level first."""
    if isinstance(design, ScaledDesign):
        design = design.design
    if not isinstance(design, FormulaDesign):
        return {}
    return {
        name if name in design.variables else unwrapped(name): [
            str(level) for level in state["categories"]
        ]
        for name, (_, state) in design.spec.encoder_state.items()
        if "categories" in state
    }


def training_rows(
    result: Fitted, positive: object = None, threshold: float | None = None
) -> EvaluatedRows:
    """The rows of the fit, with its predictions of them."""
    rows = result.problem.n + result.dropped.total
    try:
        scores = result.decision_function()
    except DataError:  # loaded from a file, which holds no training rows
        known = result.training_table
        chosen = checked_choices(known.levels, positive)
        return EvaluatedRows("training", rows, replace(known, choices=chosen), None)
    scores = scores[result.problem.row_weights > 0.0]
    table = result.confusion(positive=positive, threshold=threshold)
    return EvaluatedRows("training", rows, table, scores, threshold=threshold)


def out_of_fold(
    validation: CrossValidation,
    positive: object = None,
    threshold: float | None = None,
) -> EvaluatedRows:
    """The rows of a cross-validation, predicted by fits that have not seen them."""
    table = validation.confusion(threshold=threshold)
    chosen = checked_choices(table.levels, positive)
    table = replace(table, choices=chosen)
    column = validation.scores_by_repeat[1].dropna()
    return EvaluatedRows("out-of-fold", len(column), table, column, threshold=threshold)


def held_out_rows(
    result: Fitted,
    test: object,
    positive: object = None,
    offset: object = None,
    threshold: float | None = None,
) -> EvaluatedRows:
    """Held-out rows, with the predictions of the fit.

    Parameters
    ----------
    result : Results
    test : DataFrame or pair (y, X)
    positive : label, optional
        The positive class; the second level if left out.
    offset : optional
        Of the rows, as for ``result.decision_function()``.
    threshold : float, optional
        As for ``result.predict()``.

    Raises
    ------
    ColumnError
        If the data have no column of the outcome, or lack a predictor.
    DataError
        If labels and rows do not fit together.
    """
    labels, data = None, test
    if isinstance(test, tuple) and len(test) == 2:
        labels, data = aligned_labels(*test), test[1]
    scores = result.decision_function(data, offset=offset)
    table = result.confusion(
        data, labels, positive=positive, offset=offset, threshold=threshold
    )
    counts = column_of_counts(None, result.counted, data)
    if counts is not None:
        scores = scores.iloc[repeated(counts, data, scores.index)]
    return EvaluatedRows("test", len(scores), table, scores, data, labels, threshold)


def misclassified(result: Fitted, rows: EvaluatedRows) -> pd.DataFrame:
    """Misclassified rows, those farthest on the wrong side first.

    Returns
    -------
    DataFrame
        Columns ``row`` (its label), ``actual``, ``predicted``, ``score``, and for the
        log loss ``probability`` of the actual level; a row that counts for several is
        there once.
    """
    from scipy.special import expit

    columns = ["row", "actual", "predicted", "score"]
    if rows.scores is None:
        return pd.DataFrame(columns=columns)
    scores = np.asarray(rows.scores, dtype=np.float64)
    levels = np.array(result.coding.levels, dtype=object)
    values, cut = scores, 0.0
    if rows.threshold is not None:
        values, cut = thresholded(scores, result.problem), rows.threshold
    signs = signs_of(values, result.solver.ties, cut)
    decided = (rows.codes >= 0) & ~np.isnan(signs)
    wrong = np.flatnonzero(decided & ((signs > 0) != (rows.codes > 0)))
    worst = wrong[np.argsort(-np.abs(values[wrong] - cut), kind="stable")]
    actual = rows.codes[worst]
    names = [str(name) for name in rows.scores.index[worst]]
    found = (names, levels[actual], levels[1 - actual], scores[worst])
    table = pd.DataFrame(dict(zip(columns, found, strict=True)))
    if result.problem.loss == "log":
        odds = scores[worst] - result.problem.prior_shift
        table["probability"] = expit(np.where(actual == 1, odds, -odds))
    return table if result.counted is None else table.drop_duplicates()


def checked_threshold_of(
    threshold: object, result: Fitted
) -> tuple[float | None, Thresholds | None]:
    """A threshold given as a number, or as the result of ``result.thresholds()``.

    Raises
    ------
    OptionError
        If it is no threshold of the fit.
    """
    if threshold is None:
        return None, None
    if not isinstance(threshold, Thresholds):
        return checked_threshold(threshold, result.problem), None
    scale, levels = scale_of(result.problem).name, result.coding.levels
    if (threshold.scale, threshold.levels) != (scale, levels):
        raise OptionError(
            f"threshold is for the {threshold.scale} of a fit of "
            f"{listing(threshold.levels)}, and this fit has a {scale} of "
            f"{listing(levels)}; give what its thresholds() returns, or a number."
        )
    return threshold.threshold, threshold
