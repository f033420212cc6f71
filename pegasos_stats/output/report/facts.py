"""Contents of a report: numbers, tables and sentences that the template prints."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Codes, Vector
from pegasos_stats.data.design import moments, unscaled
from pegasos_stats.data.labels import AT_ZERO, LabelCoding, class_names, signs_of
from pegasos_stats.data.language.formula_design import FormulaDesign, Unseen
from pegasos_stats.data.user_data import is_valid_text
from pegasos_stats.errors import DataError, UndefinedMetricWarning, counted, visible
from pegasos_stats.metrics.caret import ConfusionReport
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import checked_choices
from pegasos_stats.metrics.rates import mcnemar_exact, ratio
from pegasos_stats.metrics.scores import (
    PairCounts,
    PrecisionRecall,
    Target,
    area_under_curve,
    precision_recall,
)
from pegasos_stats.models.diagnostics import terms_of
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import Note
from pegasos_stats.models.results import thresholded
from pegasos_stats.models.summaries import title_of
from pegasos_stats.output.plotting.curves import Fitted
from pegasos_stats.output.plotting.forest import INTERVAL
from pegasos_stats.output.plotting.style import factor_level, metric_name, term_text
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.maximum_likelihood import (
    MaximumLikelihood,
    maximum_likelihood,
)
from pegasos_stats.studies.calibration import RARE_SHARE, Reliability, reliability
from pegasos_stats.studies.cross_validation import CrossValidation, LambdaPath
from pegasos_stats.studies.folds import Folds
from pegasos_stats.studies.thresholds import Thresholds
from pegasos_stats.studies.validation import Validation
from pegasos_stats.tables import significant

Lines = Sequence[Sequence[str]]

MAX_STRONGEST = 3  # predictors
MAX_WARNINGS = 3  # notes of the fit on the first screen
FEW_NEW_ROWS, FEW_OF_CLASS = 30, 20  # with fewer new rows, error rate and AUC are rough
MAX_TABLE_ROWS = 30  # coefficients or predictors
MISCLASSIFIED_COLUMNS = ["row", "actual", "predicted", "score"]
P_VALUES = {
    "accuracy": "P-value [accuracy > no-information rate]",
    "mcnemar": "McNemar's test of the two kinds of error, p-value",
}
SYNONYMS = ("recall", "pos_pred_value")  # of sensitivity and precision
SUSPICIOUS_AUC = 0.99  # of the model and of a single term
MIN_LEAK_ROWS = 10  # of the rarer class; fewer may be separated by chance
MAX_LEAK_ROWS = 20_000  # to rank terms
UNDEFINED = "NA"
NBSP = "\N{NO-BREAK SPACE}"  # to keep an interval on one line
MIN_SHOWN_P = 1e-4  # smaller p-values are written as < 0.0001


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Labelled rows with their predictions; see `evaluate`.

    Attributes
    ----------
    name : str
        ``"training"``, ``"test"`` or ``"out-of-fold"``.
    table : ConfusionMatrix
    report : ConfusionReport
        All statistics of the table; undefined ones are NaN.
    error_rate : float
        Share of misclassified rows; NaN without classified rows.
    majority, majority_error : label and float
        The more frequent class, and the error rate of always predicting it.
    only : label or None
        The class predicted for every row, if it is the same for all.
    rarer : int
        Number of classified rows of the rarer class.
    pairs : PairCounts
        Shares of correctly ordered and of tied pairs of rows; out of fold, means over
        the folds.
    auc : float or None
        Area under the ROC curve, if defined; out of fold, the mean over the folds.
    is_new : bool
        Whether none of the rows is a training row. Only error rates of new rows have
        intervals.
    codes : int array, shape (n,)
        Actual class of each row: 0 for the first, 1 for the second, -1 if missing.
    scores : float64 array, shape (n,), or None
        None for the training rows of a loaded model.
    unscored : int array
        Classes of the rows that have no score because a predictor is missing.
    """

    name: str
    table: ConfusionMatrix
    report: ConfusionReport
    error_rate: float
    majority: object
    majority_error: float
    only: object | None
    rarer: int
    pairs: PairCounts
    auc: float | None
    is_new: bool
    codes: Codes
    scores: Vector | None
    unscored: Codes


def evaluate(
    name: str, table: ConfusionMatrix, validation: CrossValidation | None = None
) -> EvaluatedRows:
    """Evaluate the rows of a table, or the held-out rows of a cross-validation."""
    actual, predicted = (table.counts[:, :-1].sum(axis=axis) for axis in (1, 0))
    n, most = int(actual.sum()), int(actual.argmax())
    report = table.summary()
    area, pairs = report.overall.get("auc", math.nan), PairCounts(math.nan, math.nan)
    codes, scores = np.empty(0, dtype=np.intp), None
    if table.scored is not None:
        codes, scores = table.scored.codes, table.scored.scores
        pairs = table.scored.pairs()
    if validation is not None:
        pairs = validation.pairs()
        area = pairs.area
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
        pairs=pairs,
        auc=None if math.isnan(area) else area,
        is_new=table.source == "new" and n > 0,
        codes=codes,
        scores=scores,
        unscored=codes[missing & (codes >= 0)],
    )


def evaluate_sets(
    result: Fitted,
    test: object,
    validation: CrossValidation | None,
    threshold: float | None,
    positive: object,
    unseen: Unseen,
    offset: object,
) -> list[EvaluatedRows]:
    """Evaluate training rows, out-of-fold rows and test rows, as available.

    Parameters
    ----------
    result : Results
    test : DataFrame or pair (y, X), or None
    validation : CrossValidation or None
    threshold : float, optional
        As for ``result.predict()``.
    positive : label, optional
        The positive class; by default the second level.
    unseen, offset
        As for ``result.confusion()`` on test rows.
    """
    choices = checked_choices(result.coding.levels, positive)
    try:
        training = result.confusion(threshold=threshold)
    except DataError:  # a loaded model has no training rows
        training = result.training_table
    tables = {"training": training}
    if validation is not None:
        tables["out-of-fold"] = validation.confusion(threshold=threshold)
    if test is not None:
        new = result.confusion(test, threshold=threshold, unseen=unseen, offset=offset)
        if new.source != "training":
            tables["test"] = new
    design, levels = result.design, result.coding.levels
    names = class_names(result.coding, design.formula, design.functions)
    sets = []
    for name, table in tables.items():
        table = replace(table, choices=choices)
        if names != tuple(map(str, levels)):
            table = with_names(table, levels, names)
        folds = validation if name == "out-of-fold" else None
        sets.append(evaluate(name, table, folds))
    return sets


def with_names(
    table: ConfusionMatrix, levels: Sequence[object], names: tuple[str, str]
) -> ConfusionMatrix:
    """Replace the classes of a table by names for the reader."""
    name_of = dict(zip(levels, names, strict=True))
    positive = table.choices.positive
    choices = replace(
        table.choices, positive=None if positive is None else name_of[positive]
    )
    wrong = table.errors.astype(object).map(lambda level: name_of.get(level, level))
    return replace(table, levels=names, errors=wrong, choices=choices)


class Costs(NamedTuple):
    """Costs of misclassification.

    Attributes
    ----------
    false_positive, false_negative : float
        Cost of predicting the positive class for a row of the other class, and of
        predicting the other class for a row of the positive class.
    implied : bool
        Whether the costs are implied by the threshold, which they make optimal.
    """

    false_positive: float
    false_negative: float
    implied: bool = False


class RuleRates(NamedTuple):
    """Rates of a classification rule, and its mean cost compared with trivial rules.

    Attributes
    ----------
    sensitivity, specificity : float
    share : float
        Share of all rows predicted as the positive class.
    cost, cost_of_all, cost_of_none : float
        Mean cost per row of the rule, and of predicting all rows or none as the
        positive class; NaN without costs.
    std_error : float
        Standard error of the difference between `cost` and the smaller of `cost_of_all`
        and `cost_of_none`, for independent rows.
    """

    sensitivity: float
    specificity: float
    share: float
    cost: float
    cost_of_all: float
    cost_of_none: float
    std_error: float


@dataclass(frozen=True, eq=False)
class ReportFacts:
    """A fit, its evaluated rows and its selection, as a report presents them.

    Attributes
    ----------
    result : Results
    sets : list of EvaluatedRows
        The report quotes the error rate of the last set.
    image_shape : pair of int or None
        Rows and columns of the image, if predictors are pixels.
    path : LambdaPath or None
        Path from which lambda was selected.
    validation : CrossValidation or None
    threshold : float or None
        Threshold of predicted labels, if not the default.
    chosen : Thresholds or None
        Selection of the threshold.
    cost : Target or None
        Costs of misclassification, if specified.
    row_names : bool
        Whether the page names misclassified rows.
    coding : LabelCoding or None
        The classes in the data, if the report names them differently.
    title : str or None
        Heading of the page, if specified.
    optimism : Validation or None
    """

    result: Fitted
    sets: list[EvaluatedRows]
    image_shape: tuple[int, int] | None = None
    path: LambdaPath | None = None
    validation: CrossValidation | None = None
    threshold: float | None = None
    chosen: Thresholds | None = None
    cost: Target | None = None
    row_names: bool = False
    coding: LabelCoding | None = None
    title: str | None = None
    optimism: Validation | None = None

    @property
    def terms(self) -> list[str]:
        """Names of the coefficients or columns, as in figures."""
        return [term_text(name) for name in self.result.design.names]

    @property
    def rows(self) -> EvaluatedRows:
        """The set of rows whose error rate the report quotes."""
        return self.sets[-1]

    @cached_property
    def notes_on_errors(self) -> list[Note]:
        """Notes on standard errors."""
        result = self.result
        return result.notes_on_errors() if isinstance(result, LinearResults) else []

    @property
    def notes_on_folds(self) -> list[str]:
        """Notes on the lambda of the folds."""
        return [] if self.validation is None else self.validation._notes_on_lambda

    @property
    def model(self) -> str:
        """Name of the model, within a sentence."""
        problem = self.result.problem
        kernel = "kernel " if isinstance(problem, KernelProblem) else ""
        name = title_of(problem).lower().replace(", firth's", " with Firth's")
        return kernel + name.replace("flic", "FLIC")

    # ------------------------------------------------ the sentences of the first screen

    @property
    def warnings(self) -> list[str]:
        """Reasons not to trust the numbers of the first screen."""
        rows, table = self.rows, self.rows.table
        notes = [*self.result.notes, *self.notes_on_errors]
        serious = (note for note in notes if note.severity == "warning")
        other = "predictions" if self.is_decision else ""
        sentences = [note.sentence for note in serious if note.topic != other]
        sentences = sentences[:MAX_WARNINGS]
        if rows.is_new and (
            table.n_classified < FEW_NEW_ROWS or rows.rarer < FEW_OF_CLASS
        ):
            sentences.append(
                f"Only {counted(table.n_classified, 'new row')}, {rows.rarer:,} of the "
                "rarer class: the error rate and the AUC are imprecise."
            )
        if rows.is_new and (groups := getattr(self.result, "groups", None)):
            sentences.append(
                f"The standard errors allow for {groups}; intervals and tests on new "
                "rows do not. If a group has several new rows, these intervals are too "
                "short."
            )
        return sentences

    @property
    def positive(self) -> str:
        """The positive class."""
        return str(self.rows.table.positive)

    @property
    def other(self) -> str:
        """The class that is not `positive`."""
        return str(self.rows.table.levels[self.is_first])

    @property
    def is_first(self) -> bool:
        """Whether the positive class is the first level, which low scores predict."""
        return self.rows.table.positive == self.rows.table.levels[0]

    @property
    def is_decision(self) -> bool:
        """Whether a threshold, costs or class weights determine the predictions."""
        weighted = self.result.problem.weights_of != "rows"
        return self.threshold is not None or self.cost is not None or weighted

    @property
    def which(self) -> str:
        """Adjective for the rows whose error rate the report quotes."""
        names = {"out-of-fold": "held-out ", "training": "training "}
        return names.get(self.rows.name, "new " if self.rows.is_new else "test ")

    @property
    def conclusion(self) -> list[str]:
        """The first paragraphs of the page."""
        if not self.rows.table.n_classified:
            return ["No new row has both an outcome and a prediction."]
        message = [*self.one_answer()]
        more = [*self.choice(), *self.ranking(), *self.probabilities()]
        more += self.without_new_rows()
        if self.is_decision:
            return [
                *self.leak(),
                " ".join([*message, *self.decision()]),
                " ".join(more),
            ]
        message += [*self.verdict(), *self.operating_point()]
        return [*self.leak(), " ".join(message), " ".join(more)]

    def leak(self) -> Iterator[str]:
        """Warn if the model separates the classes almost perfectly."""
        is_suspicious = (self.rows.auc or 0.0) >= SUSPICIOUS_AUC
        if not is_suspicious or self.rows.rarer < MIN_LEAK_ROWS:
            return
        areas = self._areas_of_terms
        name = max(areas, key=lambda term: areas[term], default="")
        if name and areas[name] >= SUSPICIOUS_AUC:
            yield (
                f"A predictor probably contains the outcome: {name} alone separates "
                f"'{self.positive}' and '{self.other}' (AUC {areas[name]:.3f} on the "
                "training rows). Exclude it if known only after the outcome: "
                "the numbers below do not apply to new cases."
            )
        elif self.rows.is_new or self.rows.rarer > 2 * len(self.result.design.names):
            yield (
                "Predictors may contain the outcome: the model separates "
                f"'{self.positive}' and '{self.other}' almost perfectly (AUC "
                f"{self.rows.auc:.3f}), though no predictor does so alone. Exclude "
                "predictors whose values are known only after the outcome."
            )

    @property
    def _areas_of_terms(self) -> dict[str, float]:
        """AUC of each term's part of the score, in a linear fit."""
        result, problem = self.result, self.result.problem
        if self.fit_scores is None or not isinstance(result, LinearResults):
            return {}
        used = np.flatnonzero(problem.row_weights > 0.0)
        used = used[:: len(used) // MAX_LEAK_ROWS + 1]
        codes, X = (problem.y[used] > 0.0).astype(np.intp), problem.X[used]
        areas, start = dict[str, float](), 0
        for term, columns in terms_of(result.design).items():
            places = [*range(start, start := start + len(columns))]
            beta = np.nan_to_num(result.solution.beta[places])
            area = area_under_curve(codes, np.asarray(X[:, places] @ beta, np.float64))
            areas[term] = max(area, 1.0 - area)
        return areas

    def one_answer(self) -> Iterator[str]:
        """Report that all rows, or all training rows, are predicted as one class."""
        rows, training = self.rows, self.sets[0]
        agree = training.only == rows.only and rows.name != "training"
        at = " at this threshold" if self.threshold is not None else ""
        if rows.only is not None:
            which = "" if agree else self.which
            yield f"Every {which}row is predicted '{rows.only}'{at}."
        elif training.only is not None:
            yield f"Every training row is predicted '{training.only}'{at}."

    def verdict(self) -> Iterator[str]:
        """Compare the error rate with that of always predicting the majority class."""
        rows, n = self.rows, self.rows.table.n_classified
        wrong, always = percent(rows.error_rate), percent(rows.majority_error)
        if rows.only is not None and rows.only == rows.majority:
            rule = f"always predicting '{rows.only}'"
            yield f"The error rate equals that of {rule}, {always}."
        elif rows.is_new:
            better = "better" if rows.error_rate < rows.majority_error else "worse"
            better = "not clearly better" if self.p_value >= 0.05 else better
            small = self.p_value < MIN_SHOWN_P
            p = "p < 0.0001" if small else f"p = {number(self.p_value, 2)}"
            always = f"instead of {always}"
            yield (
                f"On new rows the model is {better} than always predicting "
                f"'{rows.majority}': it misclassifies {wrong} of {counted(n, 'row')} "
                f"{always} (exact McNemar test against always predicting "
                f"'{rows.majority}', {p})."
            )
        else:
            where = "In cross-validation the" if rows.name == "out-of-fold" else "The"
            which = "training " if rows.name == "training" else ""
            overlap = ""
            if rows.table.source == "partly training":
                overlap = f" ({rows.table.n_seen:,} of them training rows)"
            yield (
                f"{where} model misclassifies {wrong} of {n:,} {which}rows{overlap}; "
                f"always predicting '{rows.majority}' would misclassify {always}."
            )

    @property
    def costs(self) -> Costs | None:
        """Costs of misclassification, specified or implied by the threshold."""
        if self.cost is not None:
            return Costs(self.cost.false_positive, self.cost.false_negative)
        if (chosen := self.chosen) is not None:
            if chosen.target.name != "cost":
                return None
            pair = chosen.target.false_positive, chosen.target.false_negative
            first = chosen.positive == chosen.levels[0]
            return Costs(*(pair if first == self.is_first else pair[::-1]))
        if self.result.problem.loss != "log" or not 0.0 < (self.threshold or 0.0) < 1.0:
            return None
        share = self._cut_of_positive
        return Costs(1.0, (1.0 - share) / share, implied=True)

    @property
    def _cut_of_positive(self) -> float:
        """Threshold for the probability of the positive class."""
        assert self.threshold is not None
        return 1.0 - self.threshold if self.is_first else self.threshold

    @cached_property
    def decisions(self) -> RuleRates:
        """Rates and costs of the threshold in `rows`."""
        counts, at = self.rows.table.counts, int(not self.is_first)
        hits, missed = int(counts[at, at]), int(counts[at, 1 - at])
        alarms, left = int(counts[1 - at, at]), int(counts[1 - at, 1 - at])
        n, costs = self.rows.table.n_classified, self.costs or Costs(math.nan, math.nan)
        fp, fn = costs.false_positive, costs.false_negative
        of_all, of_none = ratio(fp * (alarms + left), n), ratio(fn * (hits + missed), n)
        # Savings and losses by the model, in rows where it and the cheaper rule differ.
        saving, loss, differ = fn, fp, (hits, alarms)
        if of_all <= of_none:
            saving, loss, differ = fp, fn, (left, missed)
        mean = ratio(loss * differ[1] - saving * differ[0], n)
        square = ratio(loss**2 * differ[1] + saving**2 * differ[0], n)
        return RuleRates(
            ratio(hits, hits + missed),
            ratio(left, left + alarms),
            ratio(hits + alarms, n),
            ratio(fn * missed + fp * alarms, n),
            of_all,
            of_none,
            math.sqrt(max(ratio(square - mean**2, n), 0.0)),
        )

    def decision(self) -> Iterator[str]:
        """Describe the rule and its rates, and compare its cost with trivial rules."""
        yes, no, rates = self.positive, self.other, self.decisions
        n, which = self.rows.table.n_classified, self.which
        cut, logistic = self.threshold or 0.0, self.result.problem.loss == "log"
        where, of = "Rows", counted(n, f"{which}row")
        if self.rows.name == "out-of-fold":
            where, of = f"In cross-validation ({self.folds}), rows", "all rows"
        rule = f"score {'below' if self.is_first else 'above'} {number(cut)}"
        if logistic and self.threshold is not None:
            rule = f"probability of '{yes}' above {number(self._cut_of_positive)}"
        yield (
            f"{where} with a {rule} are predicted '{yes}': {percent(rates.share)} of "
            f"{of}. They include {percent(rates.sensitivity)} of "
            f"the '{yes}' rows (sensitivity) and {percent(1.0 - rates.specificity)} of "
            f"the '{no}' rows (specificity {percent(rates.specificity)})."
        )
        if (costs := self.costs) is None:
            return
        why = f", as implied by the threshold {number(cut)}" * costs.implied
        best = costs.false_positive / (costs.false_positive + costs.false_negative)
        if logistic and not why and math.isclose(best, self._cut_of_positive):
            why = "; these costs imply the threshold"
        yield (
            f"The cost per row is {number(rates.cost, 3)}; it would be "
            f"{number(rates.cost_of_all, 3)} if all rows were predicted '{yes}' and "
            f"{number(rates.cost_of_none, 3)} if none were (a missed '{yes}' costs "
            f"{number(costs.false_negative, 3)}, a false alarm "
            f"{number(costs.false_positive, 3)}{why})."
        )
        least = min(rates.cost_of_all, rates.cost_of_none)
        if rates.std_error == 0.0:  # the model predicts what the cheaper rule does
            return
        of_folds, of_fit = self._groups_of_folds, getattr(self.result, "groups", None)
        is_grouped = of_folds is not None or of_fit is not None
        of_rows = " for independent rows" * is_grouped
        cheap = yes if least == rates.cost_of_all else no
        rules = ["The model", f"predicting '{cheap}' for all rows"]
        if rates.cost > least:
            rules = [f"Predicting '{cheap}' for all rows", "the model"]
        yield (
            f"{rules[0]} costs {number(abs(rates.cost - least), 3)} less per row than "
            f"{rules[1]} (standard error {number(rates.std_error, 2)}{of_rows})."
        )

    def choice(self) -> Iterator[str]:
        """Describe how the threshold was chosen, and what to expect on new rows."""
        if (chosen := self.chosen) is not None:
            here, usual = chosen.tidy()["estimate"]
            name = chosen.target.name.replace("_", " ")
            if name.startswith("f"):  # F measures refer to one class
                level = chosen.levels.index(chosen.positive)
                name += f" of '{self.rows.table.levels[level]}'"
            yield (
                f"The threshold was chosen by the {name} in cross-validation "
                f"({folds_text(chosen.folds)}): {number(here, 3)} is expected on new "
                f"rows, and {number(usual, 3)} at the usual threshold."
            )

    def probabilities(self) -> Iterator[str]:
        """Describe calibration in the large and the slope, in rows not used to fit."""
        if (calibration := self.calibration) is None:
            return
        mean, share = map(percent, self.in_the_large)
        yes, slope = self.positive, ""
        if math.isfinite(calibration.slope):
            low, high = (
                f"{end:.2f}".replace("-", "−") for end in calibration.slope_interval
            )
            slope = (
                f" The calibration slope is {calibration.slope:.2f} (95% interval "
                f"{low} to {high}); ideally it is 1, and below 1 the probabilities are "
                "too extreme."
            )
        yield (
            f"The mean predicted probability of '{yes}' is {mean}; {share} of the rows "
            f"are '{yes}'.{slope}"
        )

    def operating_point(self) -> Iterator[str]:
        """Describe sensitivity and specificity at the usual threshold."""
        yes, no, rates = self.positive, self.other, self.decisions
        if math.isnan(rates.sensitivity) or math.isnan(rates.specificity):
            return
        model = "It" if self.rows.is_new and self.rows.only is None else "The model"
        yield (
            f"{model} predicts {percent(rates.sensitivity)} of the '{yes}' rows as "
            f"'{yes}' (sensitivity) and {percent(rates.specificity)} of the '{no}' "
            f"rows as '{no}' (specificity)."
        )

    def ranking(self) -> Iterator[str]:
        """Describe how well the score ranks rows."""
        rows, logistic = self.rows, self.result.problem.loss == "log"
        if rows.pairs.tied == 1.0:
            yield "All rows have the same score."
        elif rows.auc is not None:
            yes, no = self.positive, self.other
            larger, tied, _ = rows.pairs
            what = f"probability of '{yes}'" if logistic else "score"
            side = "larger" if logistic or not self.is_first else "smaller"
            same = f" and the same in {percent(tied)}" if tied >= 5e-4 else ""
            within = rows.name == "out-of-fold"
            pairs = "of the pairs within folds" if within else "of pairs"
            share = "" if math.isnan(larger) else f" in {percent(larger)} {pairs}{same}"
            yield (
                f"The model gives '{yes}' rows a {side} {what} than '{no}' rows{share} "
                f"(AUC {rows.auc:.3f}; 0.5 is chance)."
            )

    def without_new_rows(self) -> Iterator[str]:
        """Warn that the training error rate is usually too low; recommend new rows."""
        if self.rows.name == "training":
            yield (
                "This report contains no new rows. On new rows the model usually "
                "performs worse: evaluate it with test data or cross-validation."
            )

    @property
    def tiles(self) -> list[tuple[str, str, str]]:
        """Numbers of the first screen: name, value, note."""
        return [
            *(self._decided() if self.is_decision else self._errors()),
            *self._area(),
        ]

    def _errors(self) -> Iterator[tuple[str, str, str]]:
        rows = self.rows
        names = {"out-of-fold": "Cross-validated error", "training": "Training error"}
        name = "Error on new rows" if rows.is_new else "Error on the test rows"
        note = f"{rows.table.n_errors:,} of {counted(rows.table.n_classified, 'row')}"
        if rows.is_new:
            low, high = map(percent, rows.table.error_interval("exact"))
            note = f"95% interval {low} to {high}"
        elif (validation := self.validation) is not None and rows.name == "out-of-fold":
            note = self.folds
            if not math.isnan(self.std_error):
                note = f"standard error {percent(self.std_error)}, {note}"
            if validation.folds.repeats > 1:
                note += "; this is the first repeat"
            if self.path is not None and validation.choosing is None:
                note += "; optimistic, as lambda was chosen on these rows"
        yield names.get(rows.name, name), percent(rows.error_rate), note
        always = percent(rows.majority_error)
        yield f"Always '{rows.majority}'", always, "error rate of this rule"

    def _decided(self) -> Iterator[tuple[str, str, str]]:
        rates, yes, no = self.decisions, self.positive, self.other
        for name, level in (("sensitivity", yes), ("specificity", no)):
            note = f"of '{level}' rows are predicted '{level}'"
            interval = self.rows.report.intervals.get(name)
            if interval is not None and not math.isnan(interval.low):
                note = "{}, 95% interval {} to {}".format(note, *map(percent, interval))
            yield name.capitalize(), percent(getattr(rates, name)), note
        count = round(rates.share * self.rows.table.n_classified)
        rows = counted(self.rows.table.n_classified, "row")
        yield f"Predicted '{yes}'", percent(rates.share), f"{count:,} of {rows}"
        if self.costs is not None:
            everyone, nobody = (
                number(x, 3) for x in (rates.cost_of_all, rates.cost_of_none)
            )
            note = f"{everyone} if all are predicted '{yes}', {nobody} if none is"
            yield "Cost per row", number(rates.cost, 3), note

    def _area(self) -> Iterator[tuple[str, str, str]]:
        rows = self.rows
        if rows.auc is None:
            return
        interval = rows.report.intervals.get("auc")
        note = "0.5 is chance, 1 is perfect"
        if rows.name == "out-of-fold" and self.validation is not None:
            note = "mean over the folds"
            if (error := self.validation.std_error.get("auc", math.nan)) > 0.0:
                note += f", standard error {error:.3f}"
        elif interval is not None and not math.isnan(interval.low):
            note = f"95% interval {interval.low:.3f} to {interval.high:.3f}"
        yield "AUC", f"{rows.auc:.3f}", note

    @property
    def p_value(self) -> float:
        """P-value of McNemar's exact test against always predicting the majority.

        The two rules differ in the rows that the model predicts as the minority. NaN
        without new rows, and if a threshold, costs or class weights determine the
        predictions.
        """
        if not self.rows.is_new or self.is_decision:
            return math.nan
        counts, levels = self.rows.table.counts, self.rows.table.levels
        at = levels.index(self.rows.majority)
        return mcnemar_exact(int(counts[at, 1 - at]), int(counts[1 - at, 1 - at]))

    @property
    def std_error(self) -> float:
        """Standard error of the cross-validated error rate, at least binomial."""
        n, rate = self.rows.table.n_classified, self.rows.error_rate
        if self.validation is None or self.is_decision or not n:
            return math.nan
        spread = float(self.validation.std_error.get("error_rate", math.nan))
        return max(spread, math.sqrt(rate * (1.0 - rate) / n))

    @property
    def name_of_groups(self) -> str:
        """Name of the column that defines the groups of the folds, as for the fit.

        Empty without groups, with other groups in the fit, or without a column name.
        """
        own = getattr(self.result, "groups", None)
        codes = None if self.validation is None else self.validation.folds.groups
        if codes is None or own is None or not own.by_name:
            return ""
        return str(own.names[0]) if np.array_equal(own.codes[0], codes) else ""

    @property
    def folds(self) -> str:
        """Folds of the cross-validation, with the column of their groups."""
        assert self.validation is not None
        text, name = folds_text(self.validation.folds), self.name_of_groups
        return text.replace(" groups", f" groups of {name}" if name else " groups")

    @property
    def lists_all(self) -> bool:
        """Whether the table lists all misclassified rows."""
        return len(self.rows.table.errors) >= self.rows.table.n_errors

    @cached_property
    def misclassified(self) -> pd.DataFrame:
        """Misclassified rows, by decreasing distance from the threshold.

        The columns are ``row`` (the name of the row), ``actual``, ``predicted``,
        ``score``, and for the log loss ``probability`` of the second class. With
        `freq_weights`, equal rows are listed once.
        """
        from scipy.special import expit

        result, table, codes = self.result, self.rows.table, self.rows.codes
        if self.rows.scores is None:
            return pd.DataFrame(columns=MISCLASSIFIED_COLUMNS)
        values, cut = self.rows.scores, 0.0
        if self.threshold is not None:
            values, cut = thresholded(values, result.problem), self.threshold
        positive = signs_of(values, result.solver.ties, cut)  # NaN where undecided
        wrong = np.where(codes == 1, positive < 0.0, positive > 0.0) & (codes >= 0)
        listed = np.flatnonzero(wrong)[: len(table.errors)]  # with files, only some
        scores = self.rows.scores[listed]
        errors = table.errors.reset_index(drop=True).assign(score=scores)
        names = [str(name) for name in table.errors.index]
        errors.insert(0, "row", [n if is_valid_text(n) else visible(n) for n in names])
        if self.result.problem.loss == "log":
            errors["probability"] = expit(scores - result.problem.prior_shift)
        order = np.argsort(-np.abs(values[listed] - cut), kind="stable")
        errors = errors.iloc[order]
        return errors if result.counted is None else errors.drop_duplicates()

    @cached_property
    def fit_scores(self) -> Vector | None:
        """Scores of training rows of positive weight; None without rows in memory."""
        try:
            scores = np.asarray(self.result.decision_function(), dtype=np.float64)
        except DataError:
            return None
        weighted: Vector = scores[self.result.problem.row_weights > 0.0]
        return weighted

    @property
    def n_positive(self) -> int:
        """Training rows of the positive class."""
        below, above = self.result.problem.label_counts
        return int(below if self.is_first else above)

    @property
    def n_predictors(self) -> int:
        """Number of predictor variables."""
        inner = unscaled(self.result.design)
        if isinstance(inner, FormulaDesign):
            return len(inner.variables)
        return len(inner.names)

    @property
    def own_effects(self) -> list[list[int]]:
        """Positions of the coefficients of each predictor whose effect they determine.

        Each list belongs to one predictor. Variables in several terms (interactions,
        squares), splines and polynomials are excluded.
        """
        inner = unscaled(self.result.design)
        if not isinstance(inner, FormulaDesign):
            return [[at] for at in range(len(inner.names))]
        columns = [inner.variables_of(term) for term in inner.terms]
        uses = Counter(name for variables in columns for name in variables)
        effects = []
        ends = np.cumsum([0, *map(len, inner.columns)]).tolist()
        for term, variables, pair in zip(
            inner.terms, columns, pairwise(ends), strict=True
        ):
            places = [*range(*pair)]
            levels = [at for at in places if self._level(at)]
            is_single = len(variables) == 1 and uses[next(iter(variables))] == 1
            is_factor = any(f.text in inner.codings for f in term.factors)
            if is_single and len(places) == (len(levels) if is_factor else 1):
                effects.append(places)
        return effects

    @cached_property
    def strongest(self) -> Lines:
        """Predictors with the largest effects on the score: name, difference, effect.

        Predictors are ranked by the standard deviation of their part of the score, so
        that the reference level of a factor does not matter. Without rows in memory, a
        factor is ranked by its largest coefficient. See `own_effects` for the
        predictors that are considered. Effects of 0 are omitted. The difference is 1
        for 0/1 predictors and one standard deviation for others; a factor has its level
        with the largest product of coefficient and standard deviation. With the log
        loss the effect is the odds ratio of the positive class; with the hinge losses,
        the change of the score.
        """
        result = self.result
        if not isinstance(result, LinearResults) or not len(result.coef):
            return []
        table = result.coefficient_table().set_index("term")
        cells = table[INTERVAL].reindex(result.coef.index).to_numpy(dtype=np.float64)
        deviations = np.ones(len(cells))
        if self.fit_scores is not None:
            deviations = moments(result.problem.X)[1]
        with np.errstate(invalid="ignore", over="ignore"):
            sizes = np.nan_to_num(np.abs(cells[:, 0] * deviations))
        beta = np.nan_to_num(cells[:, 0])
        ranked = dict[int, float]()
        for places in self.own_effects:
            at = max(places, key=sizes.__getitem__)
            ranked[at] = float(sizes[at])
            if len(places) > 1 and self.fit_scores is not None:
                ranked[at] = float(np.std(result.problem.X[:, places] @ beta[places]))
        strongest = sorted(ranked, key=ranked.__getitem__, reverse=True)
        strongest = [at for at in strongest if ranked[at] > AT_ZERO]
        if result.scaling is not None:
            cells = cells / result.scaling.scale[:, None]
        if self.is_first:
            cells = -cells[:, [0, 2, 1]]
        return [
            [*self._difference(at), self._effect(at, cells[at])]
            for at in strongest[:MAX_STRONGEST]
        ]

    def _column(self, at: int) -> Vector:
        """Return a predictor in the training rows of positive weight, unscaled."""
        problem, scaling = self.result.problem, self.result.scaling
        column = problem.X[:, [at]]
        if not isinstance(column, np.ndarray):
            column = column.toarray()
        values: Vector = np.asarray(column, dtype=np.float64).ravel()
        if scaling is not None:
            values = values * scaling.scale[at] + scaling.centre[at]
        return values[problem.row_weights > 0.0]

    def _step(self, at: int) -> float:
        """Return the difference for an effect: a standard deviation, or 1."""
        if self._level(at) or self.fit_scores is None or len(self.fit_scores) < 2:
            return 1.0
        column = self._column(at)
        return 1.0 if _is_dummy(column) else float(np.std(column, ddof=1))

    def _level(self, at: int) -> tuple[str, str, object] | None:
        result = self.result
        assert isinstance(result, LinearResults)
        factor, variable, level = factor_level(result.design.names[at]) or ("",) * 3
        references = result.reference_levels
        return (variable, level, references[factor]) if factor in references else None

    def _difference(self, at: int) -> tuple[str, str]:
        """Describe the predictor and the difference of an effect."""
        if level := self._level(at):
            return level[0], f"{level[1]} vs {level[2]}"
        name, step = str(self.result.design.names[at]), self._step(at)
        if self.fit_scores is None:
            return name, "per unit"
        if _is_dummy(self._column(at)):
            return name, "1 vs 0"
        return name, f"per standard deviation ({tables.without_power(step, 3)})"

    def _effect(self, at: int, estimate: Vector) -> str:
        """Write an odds ratio, or the change of the score."""
        with np.errstate(over="ignore"):
            moved = estimate * self._step(at)
            ratio, *ends = map(_ratio, np.exp(moved))
        if self.result.problem.loss == "log":
            return ratio + f" [{ends[0]},{NBSP}{ends[1]}]" * (not np.isnan(moved[1]))
        return ("+" if moved[0] > 0.0 else "") + number(float(moved[0]), 3)

    @cached_property
    def coefficients(self) -> tuple[list[str], Lines]:
        """Column names and the largest coefficients, as in a summary."""
        if not isinstance(self.result, LinearResults):
            return [], []
        cells, *_ = self.result.coefficient_cells(max_terms=MAX_TABLE_ROWS)
        if (maximum := self._unpenalised) is not None:
            cells = cells.assign(**{"max. likelihood": maximum.reindex(cells.index)})
        signed = cells.map(lambda cell: str(cell).replace("-", "−"))
        return ["Term", *cells.columns], [
            [term_text(term), *line] for term, *line in signed.itertuples(name=None)
        ]

    @cached_property
    def _maximum_likelihood(self) -> MaximumLikelihood | None:
        """Maximum likelihood fit to the rows of a penalised logistic regression."""
        result, problem = self.result, self.result.problem
        if not (isinstance(result, LinearResults) and problem.lam and problem.has_rows):
            return None
        if problem.loss != "log":
            return None
        names = list(map(str, result.design.names))
        return maximum_likelihood(replace(problem, lam=0.0), names)

    @property
    def _unpenalised(self) -> "pd.Series[str] | None":
        """Unpenalised coefficients, to show how much the penalty shrinks."""
        maximum, result = self._maximum_likelihood, self.result
        if maximum is None or not isinstance(result, LinearResults):
            return None
        if (solution := maximum.solution) is None:
            return None
        theta = np.append([solution.alpha] * result.problem.intercept, solution.beta)
        return pd.Series(list(map(tables.fixed, theta)), result.params.index)

    @property
    def without_maximum(self) -> str:
        """Why the coefficients are not compared with unpenalised ones, if so."""
        maximum = self._maximum_likelihood
        if maximum is None or maximum.solution is not None:
            return ""
        verdict, _, why = maximum.reason.partition(": ")
        return (
            "Unpenalised coefficients are not shown, because the maximum likelihood "
            f"estimate {verdict}{why and f' ({why})'}."
        )

    @property
    def events_per_coefficient(self) -> str:
        """Training rows of the rarer class per coefficient, without the intercept."""
        n = min(self.result.problem.label_counts)
        return number(n / max(len(self.result.design.names), 1), 3)

    @cached_property
    def statistics(self) -> Lines:
        """All statistics, one column per set of rows."""
        return _side_by_side([self._statistics(rows) for rows in self.sets])

    def _statistics(self, rows: EvaluatedRows) -> dict[str, str]:
        """Return names and values of all statistics of a set of rows.

        Synonyms are omitted, and so is the test of accuracy if a threshold, costs or
        class weights determine predictions.
        """
        with catch_warnings():
            simplefilter("ignore", UndefinedMetricWarning)
            statistics = rows.table.tidy()
        cells = {}
        for line in statistics.to_dict(orient="records"):
            term, level, p = line["term"], line["class"], line["p_value"]
            if term in SYNONYMS:
                continue
            label = metric_name(term)
            if term == "auc_pooled":
                cells[label] = decimals(math.nan if rows.auc is None else rows.auc)
            elif term != "mcnemar":
                value, *ends = (decimals(line[name]) for name in INTERVAL)
                interval = f" [{ends[0]},{NBSP}{ends[1]}]"
                of = "" if level is None else f" ({level})"
                with_interval = not math.isnan(line["conf_low"])
                cells[label + of] = value + interval * with_interval
            if not math.isnan(p) and not (term == "accuracy" and self.is_decision):
                small = p < MIN_SHOWN_P
                cells[P_VALUES[term]] = f"<{NBSP}0.0001" if small else decimals(p)
        return cells

    @property
    def undefined(self) -> str:
        """Explain NA in the table of statistics; empty if all are defined."""
        if not any(UNDEFINED in cells for _, *cells in self.statistics):
            return ""
        if not self.rows.table.n_classified:
            return "NA: no row has both an actual and a predicted class."
        return "NA: the denominator of the statistic is 0."

    @cached_property
    def counts(self) -> Lines:
        """Counts of rows, excluded rows, missing values by variable, rows by class."""
        columns, outcome = [], self.result.coding.name
        for rows in self.sets:
            if rows.name == "out-of-fold":
                continue
            unscored = np.bincount(rows.unscored, minlength=2)
            counts = {
                "Rows": len(rows.codes),
                "Missing outcome": rows.table.n_unlabelled,
            }
            counts["Missing predictor"] = len(rows.unscored)
            if rows.name == "training":
                problem, dropped = self.result.problem, self.result.dropped
                counts = {"Rows": problem.n + dropped.total}
                counts["Missing outcome"] = dropped.outcome
                counts["Missing predictor"] = dropped.predictors
                if problem.n_weightless:
                    counts["Weight 0"] = problem.n_weightless
                missing = [(name, n) for name, n in dropped.missing if name != outcome]
                counts |= {f"Missing: {name}": n for name, n in missing}
            used = rows.table.counts.sum(axis=1) - unscored
            levels = (f"Used, '{level}'" for level in rows.table.levels)
            counts |= dict(zip(levels, map(int, used), strict=True))
            columns.append({name: f"{n:,}" for name, n in counts.items()})
        return _side_by_side(columns)

    @cached_property
    def by_level(self) -> Lines:
        """Predictors by class: mean (standard deviation), or number (share) for 0/1."""
        problem = self.result.problem
        kernel = getattr(problem, "kernel", None)
        if self.fit_scores is None or getattr(kernel, "name", "") == "precomputed":
            return []
        y = problem.y[problem.row_weights > 0.0]
        lines, described = list[list[str]](), set[str]()
        for at, name in enumerate(self.terms[: self.n_described]):
            factor, variable, reference = self._factor(at)
            if factor and factor not in described:
                described.add(factor)
                share = 1.0 - np.sum([self._column(j) for j in self._places(factor)], 0)
                cells = (_share(share[y == s]) for s in (-1, 1))
                lines.append([f"{variable}: {reference} (reference)", *cells])
            column = self._column(at)
            parts = [column[y == s] for s in (-1, 1)]
            spread = float(column.std())
            is_dummy = _is_dummy(column)
            cells = (_share(x) if is_dummy else _mean(x, spread) for x in parts)
            lines.append([name, *cells])
        return lines

    @property
    def n_described(self) -> int:
        """Number of columns that `by_level` describes."""
        return min(len(self.terms), MAX_TABLE_ROWS)

    def _factor(self, at: int) -> tuple[str, str, object]:
        """Factor, variable and reference level of a column; empty if it has none."""
        inner = unscaled(self.result.design)
        factor, variable, _ = factor_level(inner.names[at]) or ("",) * 3
        if isinstance(inner, FormulaDesign) and factor in inner.reference_levels:
            return factor, variable, inner.reference_levels[factor]
        return "", "", None

    def _places(self, factor: str) -> list[int]:
        """Columns of the levels of a factor."""
        return [at for at in range(len(self.terms)) if self._factor(at)[0] == factor]

    @cached_property
    def calibration(self) -> Reliability | None:
        """Predicted probabilities against observed shares, in rows not used to fit.

        None if the rows have only one class.
        """
        rows, scored = self.rows, self.rows.table.scored
        if scored is None or rows.name == "training" or not rows.table.n_classified:
            return None
        at, positive = scored.codes >= 0, self.rows.table.positive
        p = scored.probability(self.result.coding.levels.index(positive))
        if p is None or np.unique(scored.codes[at]).size < 2:
            return None
        groups = self._groups_of_folds
        return reliability(
            self._labels[at],
            p[at],
            positive=positive,
            groups=None if groups is None else groups[at],
        )

    @property
    def _groups_of_folds(self) -> Codes | None:
        """Groups of the out-of-fold rows; None for other rows or single rows."""
        if self.rows.name != "out-of-fold" or self.validation is None:
            return None
        return self.validation.folds.groups

    @property
    def in_the_large(self) -> tuple[float, float]:
        """Mean predicted probability and observed share of the positive class."""
        assert self.calibration is not None
        bins = self.calibration.table.query("n > 0")
        means = (bins[name] for name in ("mean_predicted", "observed"))
        predicted, observed = (np.average(mean, weights=bins["n"]) for mean in means)
        return float(predicted), float(observed)

    @property
    def calibrated(self) -> str:
        """Describe the calibration error; empty without probabilities of new rows."""
        curve, problem = self.calibration, self.result.problem
        if curve is None:
            return ""
        text = f"The calibration error is {decimals(curve.calibration_error)}"
        if not math.isnan(by_chance := curve.error_by_chance):
            text += f" (expected under perfect calibration: {decimals(by_chance)})"
        text += "."
        if problem.prior_shift:
            return text + " Probabilities are corrected for the class weights."
        by_weight = " Probabilities refer to the weighted rows."
        return text + by_weight * (problem.weights is not None)

    @cached_property
    def precision_recall(self) -> PrecisionRecall | None:
        """Precision and recall of a class with less than a tenth of the rows."""
        scores, levels = self.rows.scores, self.result.coding.levels
        if scores is None or self.rows.auc is None:
            return None
        counts = np.bincount(self.rows.codes[self.rows.codes >= 0], minlength=2)
        rare = int(counts.argmin())
        if counts[rare] >= RARE_SHARE * counts.sum():
            return None
        signed = scores if rare else -scores
        return precision_recall(self._labels, signed, positive=levels[rare])

    @property
    def _labels(self) -> "pd.Series[str]":
        """The actual labels of `rows`."""
        kind = pd.CategoricalDtype(list(self.result.coding.levels))
        return pd.Series(pd.Categorical.from_codes(self.rows.codes, dtype=kind))


def _side_by_side(columns: Sequence[dict[str, str]]) -> Lines:
    """Join mappings into a table: one line per name, one column per mapping."""
    names = dict.fromkeys(name for column in columns for name in column)
    return [[name, *(column.get(name, "") for column in columns)] for name in names]


def _is_dummy(column: Vector) -> bool:
    """Test whether a predictor is 0 or 1 in every row, up to rounding."""
    return bool((np.minimum(np.abs(column), np.abs(column - 1.0)) < 1e-9).all())


def _share(values: Vector) -> str:
    return f"{round(values.sum()):,} ({values.mean():.0%})" if len(values) else ""


def _mean(values: Vector, spread: float) -> str:
    r"""Write a mean and a standard deviation with the decimals of three digits.

    Examples
    --------
    >>> _mean(np.array([63.0, 64.0, 67.0]), 13.7), _mean(np.array([2e7, 3e7]), 1e7)
    ('64.7\xa0(2.1)', '2.500e+07\xa0(7.07e+06)')
    """
    if not len(values):
        return ""
    mean, sd = values.mean(), values.std(ddof=1) if len(values) > 1 else 0.0
    if spread > 1e-4 and max(abs(mean), sd) < 1e6:
        places = max(2 - math.floor(math.log10(spread)), 0)
        cells = f"{mean:z,.{places}f}", f"{sd:,.{places}f}"
    else:
        cells = tables.without_power(float(mean)), tables.without_power(float(sd), 3)
    return f"{cells[0]}{NBSP}({cells[1]})".replace("-", "−")


def _ratio(value: float) -> str:
    """Write an odds ratio with two decimals, unless it is very small or large."""
    if 100.0 <= value < 1e6:
        return f"{value:,.0f}"
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


def plain_listing(items: Iterable[object], limit: int = 12) -> str:
    """Write the first few items without quotes.

    Examples
    --------
    >>> plain_listing(["age", "ward", "dose"], 2)
    'age, ward and 1 more'
    >>> plain_listing(["type 1", "type 2, insulin"])
    'type 1; type 2, insulin'
    """
    names = list(map(str, items))
    more, comma = len(names) - limit, any("," in name for name in names)
    return ("; " if comma else ", ").join(names[:limit]) + (
        f" and {more:,} more" * (more > 0)
    )


def folds_text(folds: Folds) -> str:
    """Describe folds and their seed.

    Examples
    --------
    >>> folds_text(Folds.stratified(["a", "b"] * 5, 2, seed=1))
    '10 rows in 2 stratified folds, seed 1'
    """
    return folds.description + ("" if folds.seed is None else f", seed {folds.seed}")


def fixed(value: float) -> str:
    """Write a number with three decimals and a real minus sign.

    Examples
    --------
    >>> fixed(4.77), fixed(-2.34)
    ('4.770', '−2.340')
    """
    return UNDEFINED if math.isnan(value) else tables.fixed(value).replace("-", "−")


WRITERS = (
    number,
    percent,
    decimals,
    fixed,
    plain_listing,
    folds_text,
)  # template filters
