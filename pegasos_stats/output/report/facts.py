"""The facts of a report: all that is computed for it. The template words them."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.data.counts import column_of_counts, repeated
from pegasos_stats.data.design import Design
from pegasos_stats.data.formula import unwrapped
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.labels import signs_of
from pegasos_stats.data.sample import aligned_labels
from pegasos_stats.data.scaling import ScaledDesign, moments
from pegasos_stats.errors import DataError
from pegasos_stats.metrics import Interval
from pegasos_stats.metrics.agreement import mcnemar_exact
from pegasos_stats.metrics.caret import ConfusionReport
from pegasos_stats.metrics.catalogue import (
    class_reasons,
    label_of,
    overall_reasons,
    with_zero_f,
    written_reasons,
)
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import checked_choices
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import Note
from pegasos_stats.models.predicting import thresholded
from pegasos_stats.models.summaries import largest_terms
from pegasos_stats.output.option_names import as_options
from pegasos_stats.output.report.formatting import (
    NBSP,
    aligned,
    bracketed,
    number,
    p_value,
)
from pegasos_stats.solvers.kernel_problem import KernelFunction, KernelProblem
from pegasos_stats.studies.reliability import Reliability, reliability
from pegasos_stats.studies.selection.cross_validation import CrossValidation
from pegasos_stats.studies.selection.path_results import LambdaPath
from pegasos_stats.studies.threshold_results import Thresholds

Fitted = LinearResults | KernelResults
Lines = Sequence[Sequence[str]]  # of a table

STRONGEST, MOST_WARNINGS = 3, 3  # on the first screen
MOST = 30  # coefficients and predictors in a table
DUMMY = re.compile(r"(?:C\()?([^\[\]:(),]+)\)?\[T\.([^\[\]:]*)\]")
SPLINE = re.compile(r"\)\[\d+\]$")
LABELS = {
    "no_information_rate": "No-information rate",
    "accuracy_p_value": "P-value [accuracy > no-information rate]",
    "kappa": "Kappa",
    "mcnemar_p_value": "McNemar's test, p-value",
    "mcc": "Matthews correlation",
    "auc": "Area under the ROC curve",
    "auc_pooled": "Area under the ROC curve, scores of all folds pooled",
    "log_loss": "Log loss",
    "brier_score": "Brier score",
    "pos_pred_value": "Positive predictive value",
    "neg_pred_value": "Negative predictive value",
}


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Rows with labels, and what a fit predicts for them.

    Attributes
    ----------
    name : str
        ``"training"``, ``"test"`` or ``"out-of-fold"``.
    rows : int
        All rows of the data, with those that were left out at fit.
    table : ConfusionMatrix
    scores : Series or None, shape (n,)
        None for the training rows of a model that was loaded from a file.
    data : object
        What the fit takes as data; None for its own rows.
    threshold : float or None
        Of the predictions, on the scale of ``predict(threshold=)``.
    """

    name: str
    rows: int
    table: ConfusionMatrix
    scores: "pd.Series[float] | None"
    data: object = None
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
        """Whether no row is one of the fit, so that errors have intervals."""
        return self.table.source == "new" and self.table.n_classified > 0

    @property
    def largest_class(self) -> tuple[object, float]:
        """The majority level, and the error rate of always predicting it."""
        counts = self.table.counts[:, :-1].sum(axis=1)
        if not counts.sum():
            return None, math.nan
        at = int(counts.argmax())
        return self.table.levels[at], 1.0 - float(counts[at]) / float(counts.sum())

    @property
    def only_prediction(self) -> object | None:
        """The level that every row is predicted to have, if there is one."""
        predicted = self.table.counts[:, :2].sum(axis=0)
        one: object = self.table.levels[int(predicted.argmax())]
        return one if (predicted > 0).sum() == 1 else None

    @property
    def auc(self) -> float | None:
        """Area under the ROC curve; None where it is not defined."""
        overall = self.report.overall
        area = overall.get("auc", overall.get("auc_pooled", math.nan))
        return None if math.isnan(area) else area

    @property
    def codes(self) -> NDArray[np.intp]:
        """Position of each row's actual level, -1 where it is missing."""
        scored = self.table.scored
        return np.empty(0, dtype=np.intp) if scored is None else scored.codes

    @property
    def is_unscored(self) -> NDArray[np.bool_]:
        """Which rows have a label and no score, for a missing predictor."""
        if self.scores is None:
            return np.zeros(len(self.codes), dtype=bool)
        return self.scores.isna().to_numpy() & (self.codes >= 0)

    @property
    def n_ties(self) -> int:
        """Rows with a label and no prediction, as their score is at the threshold."""
        return self.table.n_undecided - int(self.is_unscored.sum())

    @property
    def is_numbered(self) -> bool:
        """Whether rows have no names but their numbers."""
        return self.scores is not None and isinstance(self.scores.index, pd.RangeIndex)

    @property
    def rarer(self) -> int:
        """Classified rows of the rarer level."""
        return int(self.table.counts[:, :2].sum(axis=1).min())


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


def out_of_fold_rows(
    validation: CrossValidation,
    positive: object = None,
    threshold: float | None = None,
) -> EvaluatedRows:
    """The rows of a cross-validation, predicted by fits that have not seen them."""
    table = validation.confusion(threshold=threshold)
    chosen = checked_choices(table.levels, positive)
    table = replace(table, choices=chosen)
    scores = validation.scores_by_repeat[1].dropna()
    return EvaluatedRows("out-of-fold", len(scores), table, scores, threshold=threshold)


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
    return EvaluatedRows("test", len(scores), table, scores, data, threshold)


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


@dataclass(frozen=True, eq=False)
class Study:
    """What a report is about: a fit, its rows, and how it was chosen.

    Attributes
    ----------
    result : Results
    sets : list of EvaluatedRows
        Training rows, then out of fold, then test rows, if there are any. Errors are
        quoted for the last ones.
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
    sets: list[EvaluatedRows]
    image_shape: tuple[int, int] | None = None
    path: LambdaPath | None = None
    validation: CrossValidation | None = None
    threshold: float | None = None
    chosen: Thresholds | None = None
    command: str = ""

    def worded(self, note: Note) -> str:
        """A note, written for Python or for the command line."""
        return as_options(note.sentence) if self.command else note.sentence

    @property
    def training(self) -> EvaluatedRows:
        """The rows of the fit."""
        return self.sets[0]

    @property
    def rows(self) -> EvaluatedRows:
        """The rows that errors are quoted for."""
        return self.sets[-1]

    @property
    def positive(self) -> object:
        """The positive class of the page."""
        return self.training.table.positive

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
    def has_rows(self) -> bool:
        """Whether the training rows are there; a loaded model has none."""
        return self.training.scores is not None


@dataclass(frozen=True)
class Calibration:
    """Probabilities beside what happened.

    Attributes
    ----------
    curve : Reliability
    predicted, observed : float
        Mean probability and share of the positive class.
    """

    curve: Reliability
    predicted: float
    observed: float


@dataclass(frozen=True)
class Coefficients:
    """The table of coefficients.

    Attributes
    ----------
    lines : sequence of sequences of str
        Term, estimate, then with `has_errors` standard error and p-value, then with
        `has_other` the estimate on another scale.
    has_errors, has_other, bootstrapped : bool
    left_out : int
        Coefficients that are not in the table.
    """

    lines: Lines
    has_errors: bool
    has_other: bool
    bootstrapped: bool
    left_out: int


@dataclass(frozen=True)
class Facts:
    """What is computed for a report.

    Attributes
    ----------
    study : Study
    warnings, notes_on_errors : sequence of str
        Of the fit; the first three warnings.
    p_value : float
        McNemar's exact test against always predicting the majority, of new rows.
    std_error : float
        Of the cross-validated error.
    strongest : sequence of sequences of str
        Predictors that move the score most: name, difference, effect.
    coefficients : Coefficients or None
    statistics : sequence of sequences of str
        A line for each statistic, a column for each set of rows.
    undefined : dict
        Why statistics are not defined, by set of rows.
    calibration : Calibration or None
    misclassified : DataFrame
    counts : sequence of sequences of str
        Rows, missing values and levels of the data.
    factors : dict
        Levels of each factor.
    by_level : sequence of sequences of str
        Predictors in the training rows of both levels.
    """

    study: Study
    warnings: Sequence[str]
    notes_on_errors: Sequence[str]
    p_value: float
    std_error: float
    strongest: Lines
    coefficients: Coefficients | None
    statistics: Lines
    undefined: dict[str, str]
    calibration: Calibration | None
    misclassified: pd.DataFrame
    counts: Lines
    factors: dict[str, list[str]]
    by_level: Lines


def facts_of(study: Study) -> Facts:
    """Compute all facts of a report."""
    result, rows = study.result, study.rows
    about = result.notes_on_errors() if isinstance(result, LinearResults) else []
    warned = [
        note
        for note in (*result.notes, *about)
        if note.severity == "warning" and note.topic != "predictions"
    ]
    return Facts(
        study,
        warnings=[study.worded(note) for note in warned[:MOST_WARNINGS]],
        notes_on_errors=[study.worded(note) for note in about],
        p_value=_p_value(rows),
        std_error=_standard_error(study),
        strongest=_strongest(study),
        coefficients=_coefficients(study),
        statistics=_statistics(study.sets),
        undefined={e.name: why for e in study.sets if (why := _undefined(e))},
        calibration=_calibration(study),
        misclassified=misclassified(result, rows),
        counts=_counts(study),
        factors=factor_levels(result.design),
        by_level=_by_level(study),
    )


def _p_value(rows: EvaluatedRows) -> float:
    """Exact p-value of McNemar's test against always predicting the majority.

    The two rules differ in the rows that the model predicts as the other level.
    """
    if not rows.is_new:
        return math.nan
    counts, at = rows.table.counts, rows.table.levels.index(rows.largest_class[0])
    return float(mcnemar_exact(int(counts[at, 1 - at]), int(counts[1 - at, 1 - at])))


def _standard_error(study: Study) -> float:
    """The standard error of the cross-validated error, at least that of rows."""
    validation, rows = study.validation, study.rows
    if validation is None or study.threshold is not None or not rows.table.n_classified:
        return math.nan
    spread = float(validation.std_error.get("error_rate", math.nan))
    rate = rows.error_rate
    return max(spread, math.sqrt(rate * (1.0 - rate) / rows.table.n_classified))


def _strongest(study: Study) -> Lines:
    """The predictors that move the score most, with what they do.

    Predictors are ranked by their coefficient times their standard deviation; of the
    columns of one term the strongest is shown. With the log loss the effect is an odds
    ratio, for 0 and 1 of one against the other, else of one standard deviation; with
    the hinge loss it is the change of the share of rows predicted as the positive
    level, in percentage points.
    """
    result = study.result
    if not isinstance(result, LinearResults) or not len(result.coef):
        return []
    table = result.displayed(result.coefficient_table())
    names = ["estimate", "conf_low", "conf_high"]
    each = table.set_index("term")[names].reindex(result.coef.index)
    cells = each.fillna({"estimate": 0.0}).to_numpy(dtype=np.float64)
    if result.scaling is not None:
        cells = cells / result.scaling.scale[:, None]
    slopes = cells[:, 0]
    with np.errstate(invalid="ignore", over="ignore"):
        order = np.argsort(-np.abs(slopes * _deviations(study)), kind="stable")
    chosen = _one_of_each_term(result.design, order)[:STRONGEST]
    if not np.any(slopes[chosen]):
        return []
    lines = []
    for at in chosen:
        step, change, name = _step(study, at)
        if study.is_logistic:
            with np.errstate(over="ignore"):
                ratio, low, high = map(_ratio, np.exp(cells[at] * step))
            known = not np.isnan(cells[at, 1])
            effect = f"{ratio} [{low},{NBSP}{high}]" if known else ratio
        else:
            effect = _points(study, at, slopes[at] * step)
        lines.append([name, change, effect])
    return lines


def _one_of_each_term(design: Design, order: Any) -> list[int]:
    """Columns in an order, of each term of the formula the first alone.

    Columns of interactions and splines have no effect of their own and are left out.
    """
    design = design.design if isinstance(design, ScaledDesign) else design
    if not isinstance(design, FormulaDesign):
        return [int(at) for at in order]
    names, columns = list(design.names), list(design.spec.column_names)
    owner = {
        name: str(term)
        for term, where in design.spec.term_slices.items()
        for name in columns[where]
    }
    found: dict[str, int] = {}
    for at in order:
        if ":" not in names[at] and not SPLINE.search(names[at]):
            found.setdefault(owner.get(names[at], names[at]), int(at))
    return list(found.values())


def _column(study: Study, at: int) -> Vector:
    """A predictor in the training rows, on its own scale."""
    X, scaling = study.result.problem.X, study.result.scaling
    column = np.asarray(
        X[:, at] if isinstance(X, np.ndarray) else X[:, [at]].toarray(),
        dtype=np.float64,
    ).ravel()
    if scaling is None:
        return column
    on_scale: Vector = column * scaling.scale[at] + scaling.centre[at]
    return on_scale


def _is_dummy(column: Vector) -> bool:
    """Whether a predictor is 0 or 1 in every row, to rounding."""
    return bool((np.minimum(np.abs(column), np.abs(column - 1.0)) < 1e-9).all())


def _deviations(study: Study) -> Vector | float:
    """Standard deviations of the predictors; 1 where the rows are not known."""
    if not study.has_rows:
        return 1.0
    scaling = study.result.scaling
    spread = np.asarray(moments(study.result.problem.X)[1], dtype=np.float64)
    return spread if scaling is None else spread * scaling.scale


def _step(study: Study, at: int) -> tuple[float, str, str]:
    """The difference whose effect is shown: its size, in words, and of what."""
    design = study.result.design
    name = str(design.names[at])
    dummy, levels = DUMMY.fullmatch(name), factor_levels(design)
    if dummy is not None and dummy[1].strip() in levels:
        reference = levels[dummy[1].strip()][0]
        if "contr." not in (design.formula or ""):
            return 1.0, f"{dummy[2]} vs {reference}", dummy[1].strip()
    if not study.has_rows:
        return 1.0, "+1", name
    column = _column(study, at)
    if _is_dummy(column):
        return 1.0, "1 vs 0", name
    deviation = float(np.std(column, ddof=1)) if len(column) > 1 else 0.0
    return deviation, f"+{number(deviation, 3)}{NBSP}(1{NBSP}SD)", name


def _ratio(value: float) -> str:
    """An odds ratio with two decimals, unless it is very small or large."""
    return f"{value:.2f}" if 0.1 <= value < 100.0 else number(value, 2)


def _points(study: Study, at: int, move: float) -> str:
    """The change of the score, and of the share of rows predicted positive."""
    scores = study.training.scores
    shown = ("+" if move > 0.0 else "") + number(move, 3)
    if scores is None:
        return shown
    before = after = np.asarray(scores, dtype=np.float64)
    column = _column(study, at)[study.result.problem.row_weights > 0.0]
    if _is_dummy(column):
        before = before - move * column
    after = before + move
    points = 100.0 * (np.mean(after > 0.0) - np.mean(before > 0.0))
    return f"{shown} ({points:+.1f} points)".replace("-", "−")


def _coefficients(study: Study) -> Coefficients | None:
    """The largest coefficients with their standard errors and intervals."""
    result = study.result
    if not isinstance(result, LinearResults):
        return None
    table = result.displayed(result.coefficient_table())
    other = None
    if result.scaling is not None:
        other = result.params_original.to_numpy()
    elif study.has_rows:
        other = table["term"].map(result.coef * _deviations(study)).to_numpy()
    if other is not None:
        table = table.assign(other=np.where(table["estimate"] == 0.0, 0.0, other))
    shown = largest_terms(table, MOST)
    estimates, errors = shown["estimate"], shown["std_error"]
    has_errors = bool(errors.notna().any())
    cells: list[Iterable[str]] = [map(str, shown["term"]), aligned(estimates)]
    if has_errors:
        columns = (shown[name] for name in ("estimate", "conf_low", "conf_high"))
        each = zip(*(aligned(column, errors) for column in columns), strict=True)
        cells[1] = (f"{value} [{low},{NBSP}{high}]" for value, low, high in each)
        cells += [aligned(errors, errors), map(p_value, shown["p_value"])]
    if other is not None:
        values = zip(shown["other"], aligned(shown["other"]), strict=True)
        cells.append("" if np.isnan(value) else text for value, text in values)
    return Coefficients(
        list(zip(*cells, strict=True)),
        has_errors,
        has_other=other is not None,
        bootstrapped=isinstance(result.cov_type, Bootstrap),
        left_out=len(table) - len(shown),
    )


def _label(name: str) -> str:
    """Name of a statistic in words."""
    return LABELS.get(name) or label_of(name).capitalize()


def _statistics(sets: Sequence[EvaluatedRows]) -> Lines:
    """Every statistic of the tables, a column for each set of rows."""
    columns = [_terms(rows) for rows in sets]
    names = dict.fromkeys(name for terms in columns for name in terms)
    return [[name, *(terms.get(name, "") for terms in columns)] for name in names]


def _terms(rows: EvaluatedRows) -> dict[str, str]:
    """Names and values of all statistics of a table."""
    overall, intervals = rows.report.overall, rows.report.intervals
    accuracy = Interval(overall["accuracy_low"], overall["accuracy_high"])
    error = Interval(1.0 - accuracy.high, 1.0 - accuracy.low)
    found = {
        "Error rate": bracketed(rows.error_rate, error),
        "Accuracy": bracketed(overall["accuracy"], accuracy),
    }
    for name in (name for name in LABELS if name in overall):
        value = bracketed(overall[name], intervals.get(name))
        if name.endswith("p_value"):
            value = p_value(overall[name]) if rows.is_new else ""
        found[_label(name)] = value
    ((level, of_class),) = rows.report.classes.items()
    counts, at = rows.table.counts[:, :-1], rows.table.levels.index(level)
    for name, share in with_zero_f(of_class, counts, at).items():
        of = "" if name == "balanced_accuracy" else f" ({level})"
        found[_label(name) + of] = bracketed(share, intervals.get(name))
    return found


def _undefined(rows: EvaluatedRows) -> str:
    """Statistics that are not defined, with the reason."""
    counts, levels = rows.table.counts[:, :-1], rows.table.levels
    reasons = overall_reasons(rows.report.overall, counts, rows.table.source)
    for level, terms in rows.report.classes.items():
        at = levels.index(level)
        reasons |= class_reasons(with_zero_f(terms, counts, at), counts, at, level)
    return written_reasons({_label(name): why for name, why in reasons.items()})


def _calibration(study: Study) -> Calibration | None:
    """Probabilities and observed shares of rows that are not the fit's own."""
    rows, scored = study.rows, study.rows.table.scored
    if scored is None or scored.probabilities is None or rows.name == "training":
        return None
    if not (study.is_logistic and rows.table.n_classified):
        return None
    levels, known = study.result.coding.levels, scored.codes >= 0
    actual = np.array(levels, dtype=object)[scored.codes[known]]
    frame = pd.DataFrame(scored.probabilities, columns=list(levels))[known]
    curve = reliability(actual, frame, positive=study.positive)
    bins = curve.table[curve.table["n"] > 0]
    predicted, observed = (
        float((bins[name] * bins["n"]).sum() / bins["n"].sum())
        for name in ("mean_predicted", "observed")
    )
    return Calibration(curve, predicted, observed)


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


def _counts(study: Study) -> Lines:
    """Rows, rows left out, missing values by variable, rows of each level."""
    sets = [rows for rows in study.sets if rows.name != "out-of-fold"]
    columns = [_counted(study.result, rows) for rows in sets]
    names = dict.fromkeys(name for each in columns for name in each)
    return [[name, *(f"{each.get(name, 0):,}" for each in columns)] for name in names]


def _counted(result: Fitted, rows: EvaluatedRows) -> dict[str, int]:
    """The counts of one set of rows, by name."""
    by_level = rows.table.counts.sum(axis=1)
    if rows.data is None:
        outcome, predictors = result.dropped.outcome, result.dropped.predictors
        missing = dict(result.dropped.missing)
    else:
        codes = rows.codes[rows.is_unscored]
        by_level = by_level - np.bincount(codes, minlength=len(by_level))
        outcome, predictors = rows.table.n_unlabelled, len(codes)
        missing = _missing_in(result, rows.data)
    found = {"Rows": rows.rows, "Without an outcome": outcome}
    found["Without a predictor"] = predictors
    if rows.data is None and result.problem.n_weightless:
        found["Of weight 0"] = result.problem.n_weightless
    found |= {f"Missing: {name}": count for name, count in missing.items()}
    for level, count in zip(rows.table.levels, by_level, strict=True):
        found[f"Used, '{level}'"] = int(count)
    return found


def _missing_in(result: Fitted, data: object) -> dict[str, int]:
    """Test rows without a value, by variable; a row counts as often as it stands."""
    matrix = result.design.matrix(data)
    counts = column_of_counts(None, result.counted, data)
    if counts is not None:
        matrix = matrix.taken(repeated(counts, data, matrix.index))
    return {name: len(at) for name, at in matrix.missing.items() if len(at)}


def _by_level(study: Study) -> Lines:
    """Mean and standard deviation of the predictors by level; of 0 and 1 the share."""
    result = study.result
    kernel = study.kernel
    if not study.has_rows or (kernel is not None and kernel.name == "precomputed"):
        return []
    used = result.problem.row_weights > 0.0
    sides = [used & (result.problem.y == sign) for sign in (-1.0, 1.0)]
    lines = []
    for at, name in enumerate(list(result.design.names)[:MOST]):
        column = _column(study, at)
        share = _is_dummy(column)
        lines.append([str(name), *(_described(column[side], share) for side in sides)])
    return lines


def _described(values: Vector, share: bool) -> str:
    if not len(values):
        return ""
    mean = float(values.mean())
    if share:
        return f"{round(mean * len(values)):,} ({mean:.0%})"
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return f"{number(mean, 3)}{NBSP}({number(sd, 3)})"
