"""The facts of a report: all that is computed for it. The template words them."""

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
from pegasos_stats.data.labels import AT_ZERO, LabelCoding, class_names, signs_of
from pegasos_stats.data.language.formula_design import FormulaDesign, Unseen
from pegasos_stats.data.scaling import moments, unscaled
from pegasos_stats.data.user_data import is_valid_text
from pegasos_stats.errors import DataError, UndefinedMetricWarning, counted, visible
from pegasos_stats.metrics.caret import ConfusionReport
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import checked_choices
from pegasos_stats.metrics.rates import mcnemar_exact, ratio
from pegasos_stats.metrics.scores import (
    PairShares,
    PrecisionRecall,
    Target,
    area_under_curve,
    precision_recall,
)
from pegasos_stats.models.diagnostics import terms_of
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import thresholded
from pegasos_stats.models.summaries import Note, needs_scaling
from pegasos_stats.output.plotting.curves import Fitted
from pegasos_stats.output.plotting.forest import INTERVAL
from pegasos_stats.output.plotting.result_plots import level_of
from pegasos_stats.output.plotting.style import metric_name
from pegasos_stats.studies.calibration import RARE, Reliability, reliability
from pegasos_stats.studies.cross_validation import CrossValidation, LambdaPath
from pegasos_stats.studies.thresholds import Thresholds
from pegasos_stats.tables import significant

Lines = Sequence[Sequence[str]]  # of a table

STRONGEST = 3  # predictors on the first screen
MOST = 30  # coefficients and predictors in a table
COLUMNS = ["row", "actual", "predicted", "score"]  # of misclassified rows
P_VALUES = {
    "accuracy": "P-value [accuracy > no-information rate]",
    "mcnemar": "McNemar's test of the two kinds of error, p-value",
}
TWICE = ("recall", "pos_pred_value")  # sensitivity and precision by other names
PERFECT = 0.9995  # area that is written as 1.000
SUSPICIOUS = 0.99  # area of a single term that hardly any measurement has
TOGETHER = 3  # terms that may contain the outcome between them
BY_CHANCE = math.log(1e4)  # of the orders of rows, of which one is perfect
SAMPLED = 20_000  # rows by which terms are ranked


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
    pairs : PairShares
        How often scores order a pair of rows right; out of fold a mean over the folds.
    auc : float or None
        Area under the ROC curve, where it is defined; out of fold a mean over the
        folds.
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
    pairs: PairShares
    auc: float | None
    is_new: bool
    codes: Codes
    scores: Vector | None
    unscored: Codes


def evaluated(
    name: str, table: ConfusionMatrix, validation: CrossValidation | None = None
) -> EvaluatedRows:
    """What a report says of the rows of a table, out of the folds of a validation."""
    actual, predicted = (table.counts[:, :-1].sum(axis=axis) for axis in (1, 0))
    n, most = int(actual.sum()), int(actual.argmax())
    report = table.summary()
    area, pairs = report.overall.get("auc", math.nan), PairShares(math.nan, math.nan)
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
    design, levels = result.design, result.coding.levels
    names = class_names(result.coding, design.formula, design.functions)
    found = []
    for name, table in tables.items():
        shown = replace(table, choices=choices)
        if names != tuple(map(str, levels)):
            shown = with_names(shown, levels, names)
        folds = validation if name == "out-of-fold" else None
        found.append(evaluated(name, shown, folds))
    return found


def with_names(
    table: ConfusionMatrix, levels: Sequence[object], names: tuple[str, str]
) -> ConfusionMatrix:
    """A table whose classes have names for a reader."""
    named = dict(zip(levels, names, strict=True))
    positive = table.choices.positive
    choices = replace(
        table.choices, positive=None if positive is None else named[positive]
    )
    wrong = table.errors.astype(object).map(lambda level: named.get(level, level))
    return replace(table, levels=names, errors=wrong, choices=choices)


class Costs(NamedTuple):
    """What wrong predictions cost.

    Attributes
    ----------
    false_positive, false_negative : float
        Of a row of the other class that is predicted as the positive one, and of a row
        of the positive class that is not.
    implied : bool
        Whether they are those that a threshold of a probability fits.
    """

    false_positive: float
    false_negative: float
    implied: bool = False


class RuleRates(NamedTuple):
    """What a rule decides: rates, and the mean cost of a row beside trivial rules.

    Attributes
    ----------
    sensitivity, specificity : float
    share : float
        Of all rows, those predicted as the positive class.
    cost, cost_of_all, cost_of_none : float
        Of the rule, and of predicting all rows or none as the positive class; NaN
        without costs.
    """

    sensitivity: float
    specificity: float
    share: float
    cost: float
    cost_of_all: float
    cost_of_none: float


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
    cost : Target or None
        What wrong predictions cost, if that was given.
    row_names : bool
        Whether the page has the names of misclassified rows.
    coding : LabelCoding or None
        The classes as they are in the data, if those of the fit have other names here.
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

    @property
    def rows(self) -> EvaluatedRows:
        """The rows that errors are quoted for."""
        return self.sets[-1]

    @cached_property
    def notes_on_errors(self) -> list[Note]:
        """Notes on standard errors."""
        result = self.result
        return result.notes_on_errors() if isinstance(result, LinearResults) else []

    # ------------------------------------------------ the sentences of the first screen

    @property
    def positive(self) -> str:
        """The class that sentences are about."""
        return str(self.rows.table.positive)

    @property
    def other(self) -> str:
        """The class that is not `positive`."""
        return str(self.rows.table.levels[self.is_first])

    @property
    def is_first(self) -> bool:
        """Whether the positive class is the first level, which low scores speak for."""
        return self.rows.table.positive == self.rows.table.levels[0]

    @property
    def is_decision(self) -> bool:
        """Whether a threshold, costs or weights of the classes decide rows."""
        weighted = self.result.problem.weights_of != "rows"
        return self.threshold is not None or self.cost is not None or weighted

    @property
    def which(self) -> str:
        """Which rows errors are quoted for, as an adjective."""
        names = {"out-of-fold": "held-out ", "training": "training "}
        return names.get(self.rows.name, "new " if self.rows.is_new else "test ")

    def conclusion(self, command: bool) -> list[str]:
        """What the page says first, in paragraphs.

        Parameters
        ----------
        command : bool
            Whether options are those of the command line.
        """
        if not self.rows.table.n_classified:
            return ["No new row has both an outcome and a prediction."]
        said = [*self.one_answer()]
        more = [*self.choice(), *self.ranking(command)]
        more += self.without_new_rows(command)
        if self.is_decision:
            return [*self.leak(), " ".join([*said, *self.decision()]), " ".join(more)]
        return [*self.leak(), " ".join([*said, *self.verdict(), *more])]

    def leak(self) -> Iterator[str]:
        """That predictors probably contain the outcome, and which."""
        rows, n = self.rows, self.rows.table.n_classified
        perfect = rows.table.n_errors == 0 or (rows.auc or 0.0) >= PERFECT
        chances = math.lgamma(n + 1) - math.lgamma(rows.rarer + 1)
        chances -= math.lgamma(n - rows.rarer + 1)
        few = rows.name == "training" and n <= 2 * len(self.result.design.names)
        if (
            few
            or chances < BY_CHANCE
            or not (perfect or (rows.auc or 0.0) >= SUSPICIOUS)
        ):
            return
        names, area = self._separating
        classes = f"'{self.positive}' and '{self.other}'"
        found = f"(AUC {area:.3f} on the training rows)"
        if len(names) > 1:
            said = (
                f"Predictors probably contain the outcome: {' and '.join(names)} "
                f"together separate {classes} {found}."
            )
        elif area >= SUSPICIOUS:
            said = (
                f"A predictor probably contains the outcome: {names[0]} alone "
                f"separates {classes} {found}."
            )
        elif perfect:
            most = f"; {names[0]} separates most, {found}" if names else ""
            said = (
                f"A predictor may contain the outcome: the model separates {classes} "
                f"almost perfectly, though none does so alone{most}."
            )
        else:
            return
        are, them = ("they are", "them") if len(names) > 1 else ("it is", "it")
        yield (
            f"{said} If {are} known only with the outcome, leave {them} out: the "
            "numbers below do not hold for new cases."
        )

    @cached_property
    def _separating(self) -> tuple[list[str], float]:
        """Terms that separate the training rows, the best first; and their area.

        One, or as many as `PERFECT` takes, up to `TOGETHER`, by what each adds to the
        score; of a kernel model, whose score is no sum, by the columns.
        """
        result, problem = self.result, self.result.problem
        if self.fit_scores is None:
            return [], math.nan
        used = np.flatnonzero(problem.row_weights > 0.0)
        used = used[:: len(used) // SAMPLED + 1]
        codes, X = (problem.y[used] > 0.0).astype(np.intp), problem.X[used]
        scores, start = dict[str, Vector](), 0
        for term, columns in terms_of(result.design).items():
            places = [*range(start, start := start + len(columns))]
            if isinstance(result, LinearResults):
                beta = np.nan_to_num(result.solution.beta[places])
                scores[term] = np.asarray(X[:, places] @ beta, dtype=np.float64)
            elif X.shape[1] == len(result.design.names) and len(places) == 1:
                scores[term] = np.asarray(X[:, start - 1], dtype=np.float64).ravel()

        def area(score: Vector) -> float:
            found = area_under_curve(codes, score)
            return max(found, 1.0 - found)

        names, total, areas = list[str](), np.zeros(len(used)), list[float]()
        most = TOGETHER if isinstance(result, LinearResults) else 1
        while scores and len(names) < most:
            best = max(scores, key=lambda term: area(total + scores[term]))
            names.append(best)
            total = total + scores.pop(best)
            areas.append(area(total))
            if areas[-1] >= (PERFECT if len(names) > 1 else SUSPICIOUS):
                return names, areas[-1]
        return names[:1], areas[0] if areas else math.nan

    def one_answer(self) -> Iterator[str]:
        """That all rows are predicted as one class, said of those it is true of."""
        rows, training = self.rows, self.sets[0]
        both = training.only == rows.only and rows.name != "training"
        at = " at this threshold" if self.threshold is not None else ""
        if rows.only is not None:
            which = "" if both else self.which
            yield f"Every {which}row is predicted '{rows.only}'{at}."
        elif training.only is not None:
            yield f"Every training row is predicted '{training.only}'{at}."

    def verdict(self) -> Iterator[str]:
        """The error rate beside that of always predicting the more frequent class."""
        rows, n = self.rows, self.rows.table.n_classified
        wrong, always = percent(rows.error_rate), percent(rows.majority_error)
        if rows.only is not None and rows.only == rows.majority:
            rule = f"always predicting '{rows.only}'"
            yield f"The error rate is that of {rule}, {always}."
        elif rows.is_new:
            better = "better" if rows.error_rate < rows.majority_error else "worse"
            better = "not clearly better" if self.p_value >= 0.05 else better
            small = self.p_value < SMALLEST
            p = "p < 0.0001" if small else f"p = {number(self.p_value, 2)}"
            always = f"instead of {always}"
            yield (
                f"On new rows the model is {better} than always predicting "
                f"'{rows.majority}': it is wrong in {wrong} of {counted(n, 'row')} "
                f"{always} (exact McNemar test against always predicting "
                f"'{rows.majority}', {p})."
            )
        else:
            where = "In cross-validation the" if rows.name == "out-of-fold" else "The"
            which = "training " if rows.name == "training" else ""
            seen = ""
            if rows.table.source == "partly training":
                seen = f" ({rows.table.n_seen:,} of them training rows)"
            yield (
                f"{where} model is wrong in {wrong} of {n:,} {which}rows{seen}; always "
                f"predicting '{rows.majority}' would be wrong in {always}."
            )

    @property
    def costs(self) -> Costs | None:
        """What wrong predictions cost: as given, or as the threshold implies."""
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
        """The threshold of a probability of the positive class."""
        assert self.threshold is not None
        return 1.0 - self.threshold if self.is_first else self.threshold

    @cached_property
    def decisions(self) -> RuleRates:
        """What the threshold decides in the rows that errors are quoted for."""
        counts, at = self.rows.table.counts, int(not self.is_first)
        hits, missed = int(counts[at, at]), int(counts[at, 1 - at])
        alarms, left = int(counts[1 - at, at]), int(counts[1 - at, 1 - at])
        n, costs = self.rows.table.n_classified, self.costs or Costs(math.nan, math.nan)
        return RuleRates(
            ratio(hits, hits + missed),
            ratio(left, left + alarms),
            ratio(hits + alarms, n),
            ratio(costs.false_negative * missed + costs.false_positive * alarms, n),
            ratio(costs.false_positive * (alarms + left), n),
            ratio(costs.false_negative * (hits + missed), n),
        )

    def decision(self) -> Iterator[str]:
        """The rule, and what it decides and costs beside predicting all or none."""
        yes, no, found = self.positive, self.other, self.decisions
        n, which = self.rows.table.n_classified, self.which
        cut, logistic = self.threshold or 0.0, self.result.problem.loss == "log"
        rule = f"score {'below' if self.is_first else 'above'} {number(cut)}"
        if logistic and self.threshold is not None:
            rule = f"probability of '{yes}' above {number(self._cut_of_positive)}"
        yield (
            f"Rows with a {rule} are predicted '{yes}': {percent(found.share)} of "
            f"{counted(n, f'{which}row')}. These are {percent(found.sensitivity)} of "
            f"the '{yes}' rows (sensitivity) and {percent(1.0 - found.specificity)} of "
            f"the '{no}' rows (specificity {percent(found.specificity)})."
        )
        if (costs := self.costs) is None:
            return
        why = f", the costs that a threshold of {number(cut)} fits" * costs.implied
        yield (
            f"The cost per row is {number(found.cost, 3)}; it would be "
            f"{number(found.cost_of_all, 3)} if all rows were predicted '{yes}' and "
            f"{number(found.cost_of_none, 3)} if none were (a missed '{yes}' costs "
            f"{number(costs.false_negative, 3)}, a false alarm "
            f"{number(costs.false_positive, 3)}{why})."
        )
        if found.cost > (least := min(found.cost_of_all, found.cost_of_none)):
            cheap = yes if least == found.cost_of_all else no
            yield f"Predicting '{cheap}' for all rows costs less than the model."

    def choice(self) -> Iterator[str]:
        """How a threshold was chosen; whether probabilities are right on average."""
        if (chosen := self.chosen) is not None:
            here, usual = chosen.tidy()["estimate"]
            name = chosen.target.name.replace("_", " ")
            if name.startswith("f"):  # F measures, which are of one class
                level = chosen.levels.index(chosen.positive)
                name += f" of '{self.rows.table.levels[level]}'"
            yield (
                f"The threshold was chosen for its {name} "
                f"({chosen.folds.description}): {number(here, 3)} is expected on new "
                f"rows, {number(usual, 3)} at the usual threshold."
            )
        if self.is_decision and self.calibration is not None:
            mean, share = map(percent, self.in_the_large)
            yes = self.positive
            yield f"The mean probability of '{yes}' is {mean}; {share} are '{yes}'."

    def ranking(self, command: bool) -> Iterator[str]:
        """How well the score ranks rows, or where a ranking is had."""
        rows, logistic = self.rows, self.result.problem.loss == "log"
        constant = rows.only is not None and not self.is_decision
        if constant and not logistic:
            if needs_scaling(self.result):
                scale = "--standardize" if command else "standardize=True"
                yield f"Scale the predictors first ({scale})."
            loss = "--loss log" if command else "ps.logit"
            weights = "--weights balanced" if command else "weights='balanced'"
            yield (
                f"For probabilities or a ranking use the log loss ({loss}); for a "
                f"balanced rule {weights}."
            )
        elif rows.pairs.tied == 1.0:
            yield "The model gives all rows the same score."
        elif rows.auc is not None:
            yes, no = self.positive, self.other
            larger, tied = rows.pairs
            what = f"probability of '{yes}'" if logistic else "score"
            side = "larger" if logistic or not self.is_first else "smaller"
            fold = " of a fold" if rows.name == "out-of-fold" else ""
            same = f" and the same in {percent(tied)}" if tied > 0.0 else ""
            pairs = "of pairs" + fold
            share = "" if math.isnan(larger) else f" in {percent(larger)} {pairs}{same}"
            subject = "As a ranking it" if constant else "The model"
            yield (
                f"{subject} gives '{yes}' rows a {side} {what} than '{no}' "
                f"rows{share} (AUC {rows.auc:.3f}; 0.5 is chance)."
            )
            if constant:
                cut = "--threshold" if command else "predict(threshold=)"
                first = str(rows.only) == rows.table.levels[0]
                way = "lower" if first else "higher"
                also = rows.table.levels[int(first)]
                yield f"A {way} threshold ({cut}) predicts rows as '{also}'."

    def without_new_rows(self, command: bool) -> Iterator[str]:
        """That errors of training rows are too low, and what estimates them."""
        if self.rows.name == "training":
            cure = "report(test, ...) or validation=ps.cross_validate(model)"
            cure = "--test FILE or --cv 10" if command else cure
            yield (
                "No new rows were given, and errors on new rows are usually higher; "
                f"{cure} estimates them."
            )

    @property
    def tiles(self) -> list[tuple[str, str, str]]:
        """Numbers of the first screen: name, value, what it is beside."""
        return [
            *(self._decided() if self.is_decision else self._errors()),
            *self._area(),
        ]

    def _errors(self) -> Iterator[tuple[str, str, str]]:
        rows = self.rows
        names = {"out-of-fold": "Cross-validated error", "training": "Training error"}
        name = "Error on new rows" if rows.is_new else "Error on the test rows"
        beside = f"{rows.table.n_errors:,} of {counted(rows.table.n_classified, 'row')}"
        if rows.is_new:
            low, high = map(percent, rows.table.error_interval("exact"))
            beside = f"95% interval {low} to {high}"
        elif (validation := self.validation) is not None and rows.name == "out-of-fold":
            beside = validation.folds.description
            if not math.isnan(self.std_error):
                beside = f"standard error {percent(self.std_error)}, {beside}"
            if validation.folds.repeats > 1:
                beside += ", the first of them"
            if self.path is not None and validation.choosing is None:
                beside += "; optimistic, as lambda was chosen on these rows"
        yield names.get(rows.name, name), percent(rows.error_rate), beside
        always = percent(rows.majority_error)
        yield f"Always '{rows.majority}'", always, "error rate of always predicting it"

    def _decided(self) -> Iterator[tuple[str, str, str]]:
        found, yes, no = self.decisions, self.positive, self.other
        for name, level in (("sensitivity", yes), ("specificity", no)):
            beside = f"of '{level}' rows are predicted '{level}'"
            interval = self.rows.report.intervals.get(name)
            if interval is not None and not math.isnan(interval.low):
                beside = "{}, 95% interval {} to {}".format(
                    beside, *map(percent, interval)
                )
            yield name.capitalize(), percent(getattr(found, name)), beside
        number_of = round(found.share * self.rows.table.n_classified)
        rows = counted(self.rows.table.n_classified, "row")
        yield f"Predicted '{yes}'", percent(found.share), f"{number_of:,} of {rows}"
        if self.costs is not None:
            everyone, nobody = (
                number(x, 3) for x in (found.cost_of_all, found.cost_of_none)
            )
            beside = f"{everyone} if all are predicted '{yes}', {nobody} if none is"
            yield "Cost per row", number(found.cost, 3), beside

    def _area(self) -> Iterator[tuple[str, str, str]]:
        rows = self.rows
        if rows.auc is None:
            return
        interval = rows.report.intervals.get("auc")
        beside = "0.5 is chance, 1 is perfect"
        if rows.name == "out-of-fold" and self.validation is not None:
            beside = "mean over the folds"
            if (error := self.validation.std_error.get("auc", math.nan)) > 0.0:
                beside += f", standard error {error:.3f}"
        elif interval is not None and not math.isnan(interval.low):
            beside = f"95% interval {interval.low:.3f} to {interval.high:.3f}"
        yield "AUC", f"{rows.auc:.3f}", beside

    @property
    def p_value(self) -> float:
        """McNemar's exact test of new rows against always predicting the majority.

        The two rules differ in the rows that the model predicts as the other level. A
        rule for costs is not judged by its error rate.
        """
        if not self.rows.is_new or self.is_decision:
            return math.nan
        counts, levels = self.rows.table.counts, self.rows.table.levels
        at = levels.index(self.rows.majority)
        return mcnemar_exact(int(counts[at, 1 - at]), int(counts[1 - at, 1 - at]))

    @property
    def std_error(self) -> float:
        """The standard error of the cross-validated error, at least that of rows."""
        n, rate = self.rows.table.n_classified, self.rows.error_rate
        if self.validation is None or self.is_decision or not n:
            return math.nan
        spread = float(self.validation.std_error.get("error_rate", math.nan))
        return max(spread, math.sqrt(rate * (1.0 - rate) / n))

    @property
    def lists_all(self) -> bool:
        """Whether the table lists all misclassified rows."""
        return len(self.rows.table.errors) >= self.rows.table.n_errors

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
        listed = np.flatnonzero(wrong)[: len(table.errors)]  # of files not all
        scores = self.rows.scores[listed]
        found = table.errors.reset_index(drop=True).assign(score=scores)
        names = [str(name) for name in table.errors.index]
        named = [n if is_valid_text(n) else visible(n) for n in names]
        found.insert(0, "row", named)
        if self.result.problem.loss == "log":
            found["probability"] = expit(scores - result.problem.prior_shift)
        order = np.argsort(-np.abs(values[listed] - cut), kind="stable")
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

    @property
    def n_predictors(self) -> int:
        """Number of variables in the predictors."""
        inner = unscaled(self.result.design)
        if isinstance(inner, FormulaDesign):
            return len(inner.variables)
        return len(inner.names)

    @property
    def own_effects(self) -> list[list[int]]:
        """Coefficients of the terms whose effect is that of one predictor alone.

        A variable of several terms, as in an interaction or beside its square, has no
        effect of its own; nor has one column of a spline or polynomial.
        """
        inner = unscaled(self.result.design)
        if not isinstance(inner, FormulaDesign):
            return [[at] for at in range(len(inner.names))]
        columns = [inner.variables_of(term) for term in inner.terms]
        uses = Counter(name for each in columns for name in each)
        found = []
        ends = np.cumsum([0, *map(len, inner.columns)]).tolist()
        for term, each, pair in zip(inner.terms, columns, pairwise(ends), strict=True):
            places = [*range(*pair)]
            levels = [at for at in places if self._level(at)]
            alone = len(each) == 1 and uses[next(iter(each))] == 1
            is_factor = any(f.text in inner.codings for f in term.factors)
            if alone and len(places) == (len(levels) if is_factor else 1):
                found.append(places)
        return found

    @cached_property
    def strongest(self) -> Lines:
        """The predictors that move the score most: name, difference, effect.

        Predictors are ranked by their coefficient times their standard deviation; of
        the columns of one term the strongest is shown; see `own_effects`. Those that do
        not move the score are left out. With the log loss the effect is an odds ratio
        of the positive class, for 0 and 1 of one against the other, else of one
        standard deviation; with the hinge loss it is the change of the share of rows
        predicted as the positive class, in percentage points.
        """
        result = self.result
        if not isinstance(result, LinearResults) or not len(result.coef):
            return []
        table = result.coefficient_table().set_index("term")
        each = table[INTERVAL].reindex(result.coef.index)
        cells, deviations = each.to_numpy(dtype=np.float64), np.ones(len(each))
        if self.fit_scores is not None:
            deviations = moments(result.problem.X)[1]
        with np.errstate(invalid="ignore", over="ignore"):
            sizes = np.nan_to_num(np.abs(cells[:, 0] * deviations))
        found = [max(places, key=sizes.__getitem__) for places in self.own_effects]
        found = [at for at in found if sizes[at] > AT_ZERO]
        found.sort(key=sizes.__getitem__, reverse=True)
        if result.scaling is not None:
            cells = cells / result.scaling.scale[:, None]
        if self.is_first:
            cells = -cells[:, [0, 2, 1]]
        return [
            [*self._difference(at), self._effect(at, cells[at])]
            for at in found[:STRONGEST]
        ]

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
        if self.fit_scores is None:
            return name, "per unit"
        if _is_dummy(self._column(at)):
            return name, "1 vs 0"
        return name, f"per standard deviation ({number(step, 3)})"

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
        sign = -1.0 if self.is_first else 1.0
        before, column = sign * self.fit_scores, self._column(at)
        cut = sign * (self.threshold or 0.0)
        if _is_dummy(column):
            before = before - move * column
        above = np.mean(before + move > cut) - np.mean(before > cut)
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
        return _side_by_side([self._statistics(rows) for rows in self.sets])

    def _statistics(self, rows: EvaluatedRows) -> dict[str, str]:
        """Names and values of all statistics of some rows.

        Those that two names have are there once, and a rule for costs is not tested
        against the more frequent class.
        """
        with catch_warnings():
            simplefilter("ignore", UndefinedMetricWarning)
            found = rows.table.tidy()
        written = {}
        for each in found.to_dict(orient="records"):
            term, level, p = each["term"], each["class"], each["p_value"]
            if term in TWICE:
                continue
            label = metric_name(term)
            if term == "auc_pooled":
                written[label] = decimals(math.nan if rows.auc is None else rows.auc)
            elif term != "mcnemar":
                value, *ends = (decimals(each[name]) for name in INTERVAL)
                interval = f" [{ends[0]},{NBSP}{ends[1]}]"
                of = "" if level is None else f" ({level})"
                with_interval = not math.isnan(each["conf_low"])
                written[label + of] = value + interval * with_interval
            if not math.isnan(p) and not (term == "accuracy" and self.is_decision):
                small = p < SMALLEST
                written[P_VALUES[term]] = f"<{NBSP}0.0001" if small else decimals(p)
        return written

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
        if scored is None or rows.name == "training" or not rows.table.n_classified:
            return None
        at, positive = scored.codes >= 0, self.rows.table.positive
        p = scored.probability(self.result.coding.levels.index(positive))
        if p is None:
            return None
        return reliability(self._labels()[at], p[at], positive=positive)

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


def _is_dummy(column: Vector) -> bool:
    """Whether a predictor is 0 or 1 in every row, to rounding."""
    return bool((np.minimum(np.abs(column), np.abs(column - 1.0)) < 1e-9).all())


def _share(values: Vector) -> str:
    return f"{round(values.sum()):,} ({values.mean():.0%})" if len(values) else ""


def _mean(values: Vector) -> str:
    if not len(values):
        return ""
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    mean = float(values.mean())
    # A mean of more than a hundred deviations, as of years, needs more digits.
    far = max(1.0, abs(mean) / sd) if sd > 0.0 else 1.0
    digits = 3 + max(0, math.ceil(math.log10(min(far, 1e12))) - 2)
    return f"{number(mean, digits)}{NBSP}({number(sd, 3)})"


UNDEFINED = "NA"
NBSP = "\N{NO-BREAK SPACE}"  # an interval stays on one line
SMALLEST = 1e-4  # p-value that is written in digits


def _ratio(value: float) -> str:
    """An odds ratio with two decimals, unless it is very small or large."""
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
    """
    found = list(map(str, items))
    more = len(found) - limit
    return ", ".join(found[:limit]) + f" and {more:,} more" * (more > 0)


WRITERS = number, percent, decimals, plain_listing  # of a template
