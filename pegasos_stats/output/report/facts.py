"""The facts of a report: all that is computed for it. The template words them."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.data.labels import signs_of
from pegasos_stats.data.sample import aligned_labels
from pegasos_stats.data.scaling import moments
from pegasos_stats.data.weights import column_of_counts, repeated
from pegasos_stats.errors import DataError, UndefinedMetricWarning, listing
from pegasos_stats.metrics.caret import ConfusionReport
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import checked_choices
from pegasos_stats.metrics.intervals import Interval
from pegasos_stats.metrics.rates import mcnemar_exact
from pegasos_stats.metrics.scores import PrecisionRecall, precision_recall
from pegasos_stats.models.kernel import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import thresholded
from pegasos_stats.models.summaries import Note, factor_levels
from pegasos_stats.output.plotting.style import metric_name
from pegasos_stats.solvers.kernel_problem import KernelFunction, KernelProblem
from pegasos_stats.studies.calibration import RARE, Reliability, reliability
from pegasos_stats.studies.cross_validation import CrossValidation, LambdaPath
from pegasos_stats.studies.thresholds import Thresholds
from pegasos_stats.tables import significant

Fitted = LinearResults | KernelResults
Lines = Sequence[Sequence[str]]  # of a table

STRONGEST = 3  # predictors on the first screen
MOST = 30  # coefficients and predictors in a table
DUMMY = re.compile(r"(?:C\()?([^\[\]:(),]+)\)?\[T\.([^\[\]:]*)\]")
SPLINE = re.compile(r"\)\[\d+\]$")
P_VALUES = {
    "accuracy": "P-value [accuracy > no-information rate]",
    "mcnemar": "McNemar's test, p-value",
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

    @cached_property
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
    def is_scored(self) -> bool:
        """Whether the table has the scores of its rows."""
        return self.table.scored is not None and self.table.scored.scores is not None

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


@dataclass(frozen=True, eq=False)
class ReportFacts:
    """A fit, its rows and how it was chosen, with all that a report says of them.

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
    """

    result: Fitted
    sets: list[EvaluatedRows]
    image_shape: tuple[int, int] | None = None
    path: LambdaPath | None = None
    validation: CrossValidation | None = None
    threshold: float | None = None
    chosen: Thresholds | None = None

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

    @cached_property
    def notes_on_errors(self) -> list[Note]:
        """Notes on standard errors."""
        result = self.result
        return result.notes_on_errors() if isinstance(result, LinearResults) else []

    @property
    def warnings(self) -> list[Note]:
        """Warnings of the fit; that of constant predictions is the conclusion."""
        notes = (*self.result.notes, *self.notes_on_errors)
        return [
            note
            for note in notes
            if note.severity == "warning" and note.topic != "predictions"
        ]

    @property
    def p_value(self) -> float:
        """McNemar's exact test of new rows against always predicting the majority.

        The two rules differ in the rows that the model predicts as the other level.
        """
        if not self.rows.is_new:
            return math.nan
        counts, levels = self.rows.table.counts, self.rows.table.levels
        at = levels.index(self.rows.largest_class[0])
        return mcnemar_exact(int(counts[at, 1 - at]), int(counts[1 - at, 1 - at]))

    @property
    def std_error(self) -> float:
        """The standard error of the cross-validated error, at least that of rows."""
        n, rate = self.rows.table.n_classified, self.rows.error_rate
        if self.validation is None or self.threshold is not None or not n:
            return math.nan
        spread = float(self.validation.std_error.get("error_rate", math.nan))
        return max(spread, math.sqrt(rate * (1.0 - rate) / n))

    @property
    def factors(self) -> dict[str, list[object]]:
        """Levels of each factor."""
        return factor_levels(self.result.design)

    @cached_property
    def misclassified(self) -> pd.DataFrame:
        """The misclassified rows, see `misclassified`."""
        return misclassified(self.result, self.rows)

    @cached_property
    def strongest(self) -> Lines:
        """The predictors that move the score most: name, difference, effect.

        Predictors are ranked by their coefficient times their standard deviation; of
        the columns of one term the strongest is shown. With the log loss the effect is
        an odds ratio, for 0 and 1 of one against the other, else of one standard
        deviation; with the hinge loss it is the change of the share of rows predicted
        as the positive level, in percentage points.
        """
        result = self.result
        if not isinstance(result, LinearResults) or not len(result.coef):
            return []
        table = result.displayed(result.coefficient_table())
        names = ["estimate", "conf_low", "conf_high"]
        each = table.set_index("term")[names].reindex(result.coef.index)
        cells = each.fillna({"estimate": 0.0}).to_numpy(dtype=np.float64)
        if result.scaling is not None:
            cells = cells / result.scaling.scale[:, None]
        with np.errstate(invalid="ignore", over="ignore"):
            order = np.argsort(-np.abs(cells[:, 0] * self._deviations), kind="stable")
        chosen = self._one_of_each_term(order)[:STRONGEST]
        if not np.any(cells[chosen, 0]):
            return []
        lines = []
        for at in chosen:
            step, change, name = self._step(at)
            if self.is_logistic:
                with np.errstate(over="ignore"):
                    ratio, *ends = map(_ratio, np.exp(cells[at] * step))
                known = not np.isnan(cells[at, 1])
                effect = ratio + f" [{ends[0]},{NBSP}{ends[1]}]" * known
            else:
                effect = self._points(at, cells[at, 0] * step)
            lines.append([name, change, effect])
        return lines

    def _one_of_each_term(self, order: Iterable[int]) -> list[int]:
        """Columns in an order, of each factor the first alone.

        Interactions and splines have no effect of their own and are left out.
        """
        design, found = self.result.design, dict[str, int]()
        for at in order:
            name = str(design.names[at])
            before = name.partition("[")[0]
            is_level = before in self.factors or before.startswith("C(")
            if design.formula is None or not (":" in name or SPLINE.search(name)):
                found.setdefault(before if is_level else name, at)
        return list(found.values())

    def _column(self, at: int) -> Vector:
        """A predictor in the training rows, on its own scale."""
        X, scaling = self.result.problem.X, self.result.scaling
        column = X[:, at] if isinstance(X, np.ndarray) else X[:, [at]].toarray()
        found: Vector = np.asarray(column, dtype=np.float64).ravel()
        if scaling is not None:
            found = found * scaling.scale[at] + scaling.centre[at]
        return found

    @property
    def _deviations(self) -> Vector | float:
        """Standard deviations of the predictors; 1 where the rows are not known."""
        if not self.has_rows:
            return 1.0
        scaling = self.result.scaling
        spread: Vector = moments(self.result.problem.X)[1]
        return spread if scaling is None else spread * scaling.scale

    def _step(self, at: int) -> tuple[float, str, str]:
        """The difference whose effect is shown: its size, in words, and of what."""
        name = str(self.result.design.names[at])
        dummy = DUMMY.fullmatch(name)
        levels = self.factors.get(dummy[1].strip()) if dummy else None
        if dummy and levels and "contr." not in (self.result.design.formula or ""):
            return 1.0, f"{dummy[2]} vs {levels[0]}", dummy[1].strip()
        if not self.has_rows:
            return 1.0, "+1", name
        column = self._column(at)
        if _is_dummy(column):
            return 1.0, "1 vs 0", name
        deviation = float(np.std(column, ddof=1)) if len(column) > 1 else 0.0
        return deviation, f"+{number(deviation, 3)}{NBSP}(1{NBSP}SD)", name

    def _points(self, at: int, move: float) -> str:
        """The change of the score, and of the share of rows predicted positive."""
        shown = ("+" if move > 0.0 else "") + number(move, 3)
        if self.training.scores is None:
            return shown
        before = np.asarray(self.training.scores, dtype=np.float64)
        column = self._column(at)[self.result.problem.row_weights > 0.0]
        if _is_dummy(column):
            before = before - move * column
        above = np.mean(before + move > 0.0) - np.mean(before > 0.0)
        return f"{shown} ({100.0 * above:+.1f} points)".replace("-", "−")

    @cached_property
    def coefficients(self) -> tuple[list[str], Lines]:
        """Names of columns, and the largest coefficients, as in a summary."""
        if not isinstance(self.result, LinearResults):
            return [], []
        cells, *_ = self.result.coefficient_cells(max_terms=MOST)
        signed = cells.map(lambda cell: str(cell).replace("-", "−"))
        return ["Term", *cells.columns], list(map(list, signed.itertuples(name=None)))

    @cached_property
    def statistics(self) -> Lines:
        """Every statistic of the tables, a column for each set of rows."""
        return _side_by_side([_statistics(rows.table) for rows in self.sets])

    @cached_property
    def counts(self) -> Lines:
        """Rows, rows left out, missing values by variable, rows of each level."""
        sets = [rows for rows in self.sets if rows.name != "out-of-fold"]
        counts = [_counts(self.result, rows) for rows in sets]
        return _side_by_side(
            [{name: f"{n:,}" for name, n in each.items()} for each in counts], "0"
        )

    @cached_property
    def by_level(self) -> Lines:
        """Predictors by level: mean and standard deviation; of 0 and 1 the share."""
        result, kernel = self.result, self.kernel
        if not self.has_rows or (kernel is not None and kernel.name == "precomputed"):
            return []
        used = result.problem.row_weights > 0.0
        sides = [used & (result.problem.y == sign) for sign in (-1.0, 1.0)]
        lines = []
        for at, name in enumerate(list(result.design.names)[:MOST]):
            column = self._column(at)
            share = _is_dummy(column)
            lines.append([str(name), *(_described(column[s], share) for s in sides)])
        return lines

    @cached_property
    def calibration(self) -> Reliability | None:
        """Probabilities beside shares, in rows that are not the fit's own."""
        rows, scored = self.rows, self.rows.table.scored
        if scored is None or scored.probabilities is None or rows.name == "training":
            return None
        if not (self.is_logistic and rows.table.n_classified):
            return None
        levels, known = self.result.coding.levels, scored.codes >= 0
        actual = np.array(levels, dtype=object)[scored.codes[known]]
        frame = pd.DataFrame(scored.probabilities, columns=list(levels))[known]
        return reliability(actual, frame, positive=self.positive)

    @property
    def in_the_large(self) -> tuple[float, float]:
        """Mean probability and share of the positive class, where they are compared."""
        assert self.calibration is not None
        bins = self.calibration.table.query("n > 0")
        means = bins[["mean_predicted", "observed"]]
        predicted, observed = np.average(means, axis=0, weights=bins["n"])
        return float(predicted), float(observed)

    @cached_property
    def precision_recall(self) -> PrecisionRecall | None:
        """Precision and recall of a level that has less than a tenth of the rows."""
        scored, levels = self.rows.table.scored, list(self.result.coding.levels)
        if scored is None or scored.scores is None or self.rows.auc is None:
            return None
        counts = np.bincount(scored.codes[scored.codes >= 0], minlength=2)
        rare = int(counts.argmin())
        if counts[rare] >= RARE * counts.sum():
            return None
        actual = pd.Categorical.from_codes(
            scored.codes, dtype=pd.CategoricalDtype(levels)
        )
        scores = scored.scores if rare else -scored.scores
        return precision_recall(pd.Series(actual), scores, positive=levels[rare])


def _side_by_side(columns: Sequence[dict[str, str]], absent: str = "") -> Lines:
    """A line for each name, a column for each mapping."""
    names = dict.fromkeys(name for each in columns for name in each)
    return [[name, *(each.get(name, absent) for each in columns)] for name in names]


def _is_dummy(column: Vector) -> bool:
    """Whether a predictor is 0 or 1 in every row, to rounding."""
    return bool((np.minimum(np.abs(column), np.abs(column - 1.0)) < 1e-9).all())


def _ratio(value: float) -> str:
    """An odds ratio with two decimals, unless it is very small or large."""
    return f"{value:.2f}" if 0.1 <= value < 100.0 else number(value, 2)


def _statistics(table: ConfusionMatrix) -> dict[str, str]:
    """Names and values of all statistics of a table."""
    with catch_warnings():
        simplefilter("ignore", UndefinedMetricWarning)
        found = table.tidy()
    written = {}
    for each in found.to_dict(orient="records"):
        label, level = metric_name(each["term"]), each["class"]
        if each["term"] != "mcnemar":
            interval = Interval(each["conf_low"], each["conf_high"])
            of = "" if level is None else f" ({level})"
            written[label + of] = bracketed(each["estimate"], interval)
        if not math.isnan(each["p_value"]):
            written[P_VALUES[each["term"]]] = p_value(each["p_value"])
    return written


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


def _counts(result: Fitted, rows: EvaluatedRows) -> dict[str, int]:
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


def _described(values: Vector, share: bool) -> str:
    if not len(values):
        return ""
    mean = float(values.mean())
    if share:
        return f"{round(mean * len(values)):,} ({mean:.0%})"
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return f"{number(mean, 3)}{NBSP}({number(sd, 3)})"


UNDEFINED = "NA"
NBSP = "\N{NO-BREAK SPACE}"  # an interval stays on one line
SMALLEST = 1e-4  # share that is written in digits


def number(value: float, digits: int = 4) -> str:
    """Write a number with `digits` significant digits and a real minus sign.

    Examples
    --------
    >>> number(-0.69526668), number(float("nan")), number(1234.0, 6)
    ('−0.6953', 'NA', '1234')
    """
    if math.isnan(value):
        return UNDEFINED
    return significant(value, digits).replace("-", "−")


def decimals(value: float) -> str:
    """Write a share or a statistic with four decimals.

    Examples
    --------
    >>> decimals(0.9877), decimals(1.0), decimals(-0.25)
    ('0.9877', '1.0000', '−0.2500')
    """
    text = UNDEFINED if math.isnan(value) else f"{value:.4f}"
    return text.replace("-", "−")


def percent(share: float) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent(0.057), percent(0.4966), percent(1e-6), percent(2e-9), percent(0.0)
    ('5.70%', '49.7%', '0.000100%', '2.00e−07%', '0%')
    """
    if math.isnan(share):
        return UNDEFINED
    hundredths = 100.0 * share
    if hundredths in (0.0, 100.0):
        return f"{hundredths:.0f}%"
    if hundredths >= 10.0:
        return f"{hundredths:.1f}%"
    return f"{hundredths:#.3g}%".replace("-", "−")


def bracketed(value: float, interval: Interval | None) -> str:
    r"""Write a share or a statistic, with its interval where there is one.

    Examples
    --------
    >>> bracketed(0.5, Interval(0.25, 0.75)), bracketed(0.5, None)
    ('0.5000 [0.2500,\xa00.7500]', '0.5000')
    """
    if interval is None or math.isnan(interval.low):
        return decimals(value)
    low, high = decimals(interval.low), decimals(interval.high)
    return f"{decimals(value)} [{low},{NBSP}{high}]"


def p_value(value: float) -> str:
    r"""Write a p-value.

    Examples
    --------
    >>> p_value(0.0123), p_value(1e-20), p_value(float("nan"))
    ('0.0123', '<\xa00.0001', 'NA')
    """
    return f"<{NBSP}0.0001" if value < 1e-4 else decimals(value)


WRITERS = number, percent, decimals, listing  # of a template
