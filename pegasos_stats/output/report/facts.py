"""The facts of a report: all that is computed for it. The template words them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Codes, Vector
from pegasos_stats.data.labels import signs_of
from pegasos_stats.data.language.formula_design import Unseen
from pegasos_stats.data.scaling import moments
from pegasos_stats.errors import DataError, UndefinedMetricWarning, listing
from pegasos_stats.metrics.caret import ConfusionReport
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import checked_choices
from pegasos_stats.metrics.rates import mcnemar_exact
from pegasos_stats.metrics.scores import PrecisionRecall, precision_recall
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import thresholded
from pegasos_stats.models.summaries import Note
from pegasos_stats.output.plotting.curves import Fitted
from pegasos_stats.output.plotting.forest import NUMBERS
from pegasos_stats.output.plotting.result_plots import level_of
from pegasos_stats.output.plotting.style import metric_name
from pegasos_stats.studies.calibration import RARE, Reliability, reliability
from pegasos_stats.studies.cross_validation import CrossValidation, LambdaPath
from pegasos_stats.studies.thresholds import Thresholds
from pegasos_stats.tables import significant

Lines = Sequence[Sequence[str]]  # of a table

STRONGEST = 3  # predictors on the first screen
MOST = 30  # coefficients and predictors in a table
NO_EFFECT = re.compile(r":|\)\[\d+\]$")  # of its own: interactions and splines
COLUMNS = ["row", "actual", "predicted", "score"]  # of misclassified rows
P_VALUES = {
    "accuracy": "P-value [accuracy > no-information rate]",
    "mcnemar": "McNemar's test, p-value",
}


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Rows with labels, and what a fit predicts for them; made by `evaluated`.

    Attributes
    ----------
    name : str
        ``"training"``, ``"test"`` or ``"out-of-fold"``.
    table : ConfusionMatrix
    report : ConfusionReport
        All statistics of the table; those that are not defined are NaN.
    error_rate : float
        Of the classified rows; NaN where there is none.
    majority, majority_error : label and float
        The more frequent level, and the error rate of always predicting it.
    only : label or None
        The level that every row is predicted to have, if there is one.
    rarer : int
        Classified rows of the rarer level.
    auc : float or None
        Area under the ROC curve, where it is defined.
    is_new : bool
        Whether no row is one of the fit, so that errors have intervals.
    codes : int array, shape (n,)
        Position of each row's actual level, -1 where it is missing.
    scores : float64 array, shape (n,), or None
        None for the training rows of a model that was loaded from a file.
    unscored : int array
        Levels of the rows that have no score, for a missing predictor.
    """

    name: str
    table: ConfusionMatrix
    report: ConfusionReport
    error_rate: float
    majority: object
    majority_error: float
    only: object | None
    rarer: int
    auc: float | None
    is_new: bool
    codes: Codes
    scores: Vector | None
    unscored: Codes


def evaluated(name: str, table: ConfusionMatrix) -> EvaluatedRows:
    """What a report says of the rows of a table."""
    actual, predicted = (table.counts[:, :-1].sum(axis=axis) for axis in (1, 0))
    n, most = int(actual.sum()), int(actual.argmax())
    report = table.summary()
    area = report.overall.get("auc", report.overall.get("auc_pooled", math.nan))
    codes, scores = np.empty(0, dtype=np.intp), None
    if table.scored is not None:
        codes, scores = table.scored.codes, table.scored.scores
    missing = codes < 0 if scores is None else np.isnan(scores)
    return EvaluatedRows(
        name,
        table,
        report,
        error_rate=table.n_errors / n if n else math.nan,
        majority=table.levels[most] if n else None,
        majority_error=(n - int(actual[most])) / n if n else math.nan,
        only=table.levels[predicted.argmax()] if (predicted > 0).sum() == 1 else None,
        rarer=int(actual.min()),
        auc=None if math.isnan(area) else area,
        is_new=table.source == "new" and n > 0,
        codes=codes,
        scores=scores,
        unscored=codes[missing & (codes >= 0)],
    )


def evaluated_rows(
    result: Fitted,
    test: object,
    validation: CrossValidation | None,
    threshold: float | None,
    positive: object,
    unseen: Unseen,
    offset: object,
) -> list[EvaluatedRows]:
    """Training rows, then those out of fold, then test rows, as far as there are any.

    Parameters
    ----------
    result : Results
    test : DataFrame or pair (y, X), or None
    validation : CrossValidation or None
    threshold : float, optional
        As for ``result.predict()``.
    positive : label, optional
        The positive class; the second level if left out.
    unseen, offset
        As for ``result.confusion()`` on test rows.
    """
    choices = checked_choices(result.coding.levels, positive)
    try:
        training = result.confusion(threshold=threshold)
    except DataError:  # loaded from a file, which holds no training rows
        training = result.training_table
    tables = {"training": training}
    if validation is not None:
        tables["out-of-fold"] = validation.confusion(threshold=threshold)
    if test is not None:
        new = result.confusion(test, threshold=threshold, unseen=unseen, offset=offset)
        if new.source != "training":
            tables["test"] = new
    return [
        evaluated(name, replace(table, choices=choices))
        for name, table in tables.items()
    ]


@dataclass(frozen=True, eq=False)
class ReportFacts:
    """A fit, its rows and how it was chosen, with all that a report says of them.

    Attributes
    ----------
    result : Results
    sets : list of EvaluatedRows
        Errors are quoted for the last ones.
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
    def rows(self) -> EvaluatedRows:
        """The rows that errors are quoted for."""
        return self.sets[-1]

    @cached_property
    def notes_on_errors(self) -> list[Note]:
        """Notes on standard errors."""
        result = self.result
        return result.notes_on_errors() if isinstance(result, LinearResults) else []

    @property
    def p_value(self) -> float:
        """McNemar's exact test of new rows against always predicting the majority.

        The two rules differ in the rows that the model predicts as the other level.
        """
        if not self.rows.is_new:
            return math.nan
        counts, levels = self.rows.table.counts, self.rows.table.levels
        at = levels.index(self.rows.majority)
        return mcnemar_exact(int(counts[at, 1 - at]), int(counts[1 - at, 1 - at]))

    @property
    def std_error(self) -> float:
        """The standard error of the cross-validated error, at least that of rows."""
        n, rate = self.rows.table.n_classified, self.rows.error_rate
        if self.validation is None or self.threshold is not None or not n:
            return math.nan
        spread = float(self.validation.std_error.get("error_rate", math.nan))
        return max(spread, math.sqrt(rate * (1.0 - rate) / n))

    @cached_property
    def misclassified(self) -> pd.DataFrame:
        """Misclassified rows, those farthest on the wrong side first.

        Columns ``row`` (its label), ``actual``, ``predicted``, ``score``, and for the
        log loss ``probability`` of the second level. A row that counts for several is
        there once.
        """
        from scipy.special import expit

        result, table, codes = self.result, self.rows.table, self.rows.codes
        if self.rows.scores is None:
            return pd.DataFrame(columns=COLUMNS)
        values, cut = self.rows.scores, 0.0
        if self.threshold is not None:
            values, cut = thresholded(values, result.problem), self.threshold
        positive = signs_of(values, result.solver.ties, cut)  # NaN where undecided
        wrong = np.where(codes == 1, positive < 0.0, positive > 0.0) & (codes >= 0)
        scores = self.rows.scores[wrong]
        found = table.errors.reset_index(drop=True).assign(score=scores)
        found.insert(0, "row", [str(name) for name in table.errors.index])
        if self.result.problem.loss == "log":
            found["probability"] = expit(scores - result.problem.prior_shift)
        order = np.argsort(-np.abs(values[wrong] - cut), kind="stable")
        found = found.iloc[order]
        return found if result.counted is None else found.drop_duplicates()

    @cached_property
    def fit_scores(self) -> Vector | None:
        """Scores of the training rows; None where the predictors are not in memory."""
        try:
            scores = np.asarray(self.result.decision_function(), dtype=np.float64)
        except DataError:
            return None
        found: Vector = scores[self.result.problem.row_weights > 0.0]
        return found

    @cached_property
    def strongest(self) -> Lines:
        """The predictors that move the score most: name, difference, effect.

        Predictors are ranked by their coefficient times their standard deviation; of
        the columns of one term the strongest is shown; one in an interaction has no
        effect of its own and is left out. With the log loss the effect is
        an odds ratio, for 0 and 1 of one against the other, else of one standard
        deviation; with the hinge loss it is the change of the share of rows predicted
        as the positive level, in percentage points.
        """
        result = self.result
        if not isinstance(result, LinearResults) or not len(result.coef):
            return []
        table = result.displayed(result.coefficient_table()).set_index("term")
        each = table[NUMBERS].reindex(result.coef.index).fillna({"estimate": 0.0})
        cells, deviations = each.to_numpy(dtype=np.float64), np.ones(len(each))
        if self.fit_scores is not None:
            deviations = moments(result.problem.X)[1]
        with np.errstate(invalid="ignore", over="ignore"):
            order = np.argsort(-np.abs(cells[:, 0] * deviations), kind="stable")
        names = list(map(str, result.design.names))
        crossed = {  # whose effect depends on others
            part.partition("[")[0] for n in names if ":" in n for part in n.split(":")
        }
        found = dict[str, int]()  # the first column of each term
        for at in order.tolist():
            term = names[at].partition("[")[0]
            if result.design.formula is None:
                found[names[at]] = at
            elif not NO_EFFECT.search(names[at]) and term not in crossed:
                found.setdefault(term, at)
        chosen = [*found.values()][:STRONGEST]
        if not np.any(cells[chosen, 0]):
            return []
        if result.scaling is not None:
            cells = cells / result.scaling.scale[:, None]
        return [[*self._difference(at), self._effect(at, cells[at])] for at in chosen]

    def _column(self, at: int) -> Vector:
        """A predictor in the training rows that count, on its own scale."""
        problem, scaling = self.result.problem, self.result.scaling
        column = problem.X[:, [at]]
        if not isinstance(column, np.ndarray):
            column = column.toarray()
        found: Vector = np.asarray(column, dtype=np.float64).ravel()
        if scaling is not None:
            found = found * scaling.scale[at] + scaling.centre[at]
        return found[problem.row_weights > 0.0]

    def _step(self, at: int) -> float:
        """The difference whose effect is shown: a standard deviation, or 1."""
        if self._level(at) or self.fit_scores is None or len(self.fit_scores) < 2:
            return 1.0
        column = self._column(at)
        return 1.0 if _is_dummy(column) else float(np.std(column, ddof=1))

    def _level(self, at: int) -> tuple[str, str, object] | None:
        result = self.result
        assert isinstance(result, LinearResults)
        return level_of(str(result.design.names[at]), result.reference_levels)

    def _difference(self, at: int) -> tuple[str, str]:
        """What differs, and by how much, in words."""
        if found := self._level(at):
            return found[0], f"{found[1]} vs {found[2]}"
        name, step = str(self.result.design.names[at]), self._step(at)
        if step != 1.0:
            return name, f"+{number(step, 3)}{NBSP}(1{NBSP}SD)"
        return name, "+1" if self.fit_scores is None else "1 vs 0"

    def _effect(self, at: int, estimate: Vector) -> str:
        """An odds ratio; or the change of the score, and of the predicted share."""
        with np.errstate(over="ignore"):
            moved = estimate * self._step(at)
            ratio, *ends = map(_ratio, np.exp(moved))
        if self.result.problem.loss == "log":
            return ratio + f" [{ends[0]},{NBSP}{ends[1]}]" * (not np.isnan(moved[1]))
        move = float(moved[0])
        shown = ("+" if move > 0.0 else "") + number(move, 3)
        if self.fit_scores is None:
            return shown
        before, column = self.fit_scores, self._column(at)
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
        columns = []
        for rows in self.sets:
            if rows.name == "out-of-fold":
                continue
            unscored = np.bincount(rows.unscored, minlength=2)
            found = {
                "Rows": len(rows.codes),
                "Without an outcome": rows.table.n_unlabelled,
            }
            found["Without a predictor"] = len(rows.unscored)
            if rows.name == "training":
                problem, dropped = self.result.problem, self.result.dropped
                found = {"Rows": problem.n + dropped.total}
                found["Without an outcome"] = dropped.outcome
                found["Without a predictor"] = dropped.predictors
                if problem.n_weightless:
                    found["Of weight 0"] = problem.n_weightless
                found |= {f"Missing: {name}": n for name, n in dropped.missing}
            used = rows.table.counts.sum(axis=1) - unscored
            levels = (f"Used, '{level}'" for level in rows.table.levels)
            found |= dict(zip(levels, map(int, used), strict=True))
            columns.append({name: f"{n:,}" for name, n in found.items()})
        return _side_by_side(columns)

    @cached_property
    def by_level(self) -> Lines:
        """Predictors by level: mean and standard deviation; of 0 and 1 the share."""
        problem = self.result.problem
        kernel = getattr(problem, "kernel", None)
        if self.fit_scores is None or getattr(kernel, "name", "") == "precomputed":
            return []
        y = problem.y[problem.row_weights > 0.0]
        lines = []
        for at, name in enumerate(list(self.result.design.names)[:MOST]):
            column = self._column(at)
            describe = _share if _is_dummy(column) else _mean
            lines.append([str(name), *(describe(column[y == s]) for s in (-1, 1))])
        return lines

    @cached_property
    def calibration(self) -> Reliability | None:
        """Probabilities beside shares, in rows that are not the fit's own."""
        rows, scored = self.rows, self.rows.table.scored
        if scored is None or scored.probabilities is None or rows.name == "training":
            return None
        if not rows.table.n_classified:
            return None
        at, positive = scored.codes >= 0, self.rows.table.positive
        p = scored.probabilities[at, self.result.coding.levels.index(positive)]
        return reliability(self._labels()[at], p, positive=positive)

    @property
    def in_the_large(self) -> tuple[float, float]:
        """Mean probability and share of the positive class, where they are compared."""
        assert self.calibration is not None
        bins = self.calibration.table.query("n > 0")
        means = (bins[name] for name in ("mean_predicted", "observed"))
        predicted, observed = (np.average(mean, weights=bins["n"]) for mean in means)
        return float(predicted), float(observed)

    @cached_property
    def precision_recall(self) -> PrecisionRecall | None:
        """Precision and recall of a level that has less than a tenth of the rows."""
        scores, levels = self.rows.scores, self.result.coding.levels
        if scores is None or self.rows.auc is None:
            return None
        counts = np.bincount(self.rows.codes[self.rows.codes >= 0], minlength=2)
        rare = int(counts.argmin())
        if counts[rare] >= RARE * counts.sum():
            return None
        signed = scores if rare else -scores
        return precision_recall(self._labels(), signed, positive=levels[rare])

    def _labels(self) -> "pd.Series[str]":
        """The actual labels of the rows that errors are quoted for."""
        kind = pd.CategoricalDtype(list(self.result.coding.levels))
        return pd.Series(pd.Categorical.from_codes(self.rows.codes, dtype=kind))


def _side_by_side(columns: Sequence[dict[str, str]]) -> Lines:
    """A line for each name, a column for each mapping."""
    names = dict.fromkeys(name for each in columns for name in each)
    return [[name, *(each.get(name, "") for each in columns)] for name in names]


def _statistics(table: ConfusionMatrix) -> dict[str, str]:
    """Names and values of all statistics of a table."""
    with catch_warnings():
        simplefilter("ignore", UndefinedMetricWarning)
        found = table.tidy()
    written = {}
    for each in found.to_dict(orient="records"):
        label, level, p = metric_name(each["term"]), each["class"], each["p_value"]
        if each["term"] != "mcnemar":
            value, *ends = (decimals(each[name]) for name in NUMBERS)
            interval = f" [{ends[0]},{NBSP}{ends[1]}]"
            of = "" if level is None else f" ({level})"
            written[label + of] = value + interval * (not math.isnan(each["conf_low"]))
        if not math.isnan(p):
            small = p < SMALLEST
            written[P_VALUES[each["term"]]] = f"<{NBSP}0.0001" if small else decimals(p)
    return written


def _is_dummy(column: Vector) -> bool:
    """Whether a predictor is 0 or 1 in every row, to rounding."""
    return bool((np.minimum(np.abs(column), np.abs(column - 1.0)) < 1e-9).all())


def _share(values: Vector) -> str:
    return f"{round(values.sum()):,} ({values.mean():.0%})" if len(values) else ""


def _mean(values: Vector) -> str:
    if not len(values):
        return ""
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return f"{number(float(values.mean()), 3)}{NBSP}({number(sd, 3)})"


UNDEFINED = "NA"
NBSP = "\N{NO-BREAK SPACE}"  # an interval stays on one line
SMALLEST = 1e-4  # p-value that is written in digits


def _ratio(value: float) -> str:
    """An odds ratio with two decimals, unless it is very small or large."""
    return f"{value:.2f}" if 0.1 <= value < 100.0 else number(value, 2)


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
    return UNDEFINED if math.isnan(value) else f"{value:.4f}".replace("-", "−")


def percent(share: float) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent(0.057), percent(0.4966), percent(1e-6), percent(2e-9), percent(0.0)
    ('5.70%', '49.7%', '0.000100%', '2.00e−07%', '0%')
    """
    if math.isnan(share):
        return UNDEFINED
    return tables.percent(share).replace("-", "−")


WRITERS = number, percent, decimals, listing  # of a template
