"""Internal validation by the bootstrap, and statistics of subgroups."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from pegasos_stats import checks, tables
from pegasos_stats.arrays import Axes, Codes, Mask, Matrix, Rows, Vector
from pegasos_stats.checks import check_count, check_flag, check_fraction
from pegasos_stats.data.sample import Groups, column_named, mean_one
from pegasos_stats.data.user_data import check_aligned, column_of_labels
from pegasos_stats.errors import (
    DataError,
    OptionError,
    PegasosStatsWarning,
    UndefinedMetricWarning,
    counted,
    plain,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix, amount
from pegasos_stats.metrics.intervals import NONE
from pegasos_stats.metrics.scores import METRICS, ScoredRows, areas_under_curves
from pegasos_stats.models.effects import value_text
from pegasos_stats.models.inference.bootstrap import resampled_groups
from pegasos_stats.models.linear import PATH_FOLDS, Logit, Model
from pegasos_stats.parallel import map_in_order, one_thread
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers import solver_runs
from pegasos_stats.solvers.maximum_likelihood import maximum_likelihood
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver_runs import AnySolution
from pegasos_stats.studies.calibration import Sigmoid, recalibrated
from pegasos_stats.studies.calibration import calibrate as platt
from pegasos_stats.studies.cross_validation import best_lambda, cross_validate
from pegasos_stats.studies.fold_fits import (
    at_lambda,
    checked_model,
    learning_design,
    training,
)
from pegasos_stats.studies.folds import Folds, Split, draw_folds
from pegasos_stats.studies.thresholds import INNER_FOLDS, ThresholdRule

NAMES = ("auc", "r2", "brier_score", "slope", "intercept")
MAX_FOLLOWED = 2_000  # rows whose predictions by all resamples are stored
MIN_RESAMPLES = 2
RATES = ("error_rate", "sensitivity", "specificity")
TERMS = (*RATES, "auc")
CALIBRATION = ("intercept", "slope")
ENDS = ["conf_low", "conf_high"]
OF_SUBGROUPS = ("n", "events", "term", "estimate", *ENDS)
MAX_GROUPS = 200
ALLOWED = "one label for each row of the data"
SHORT = {"error_rate": "error", "sensitivity": "sens.", "specificity": "spec."}


class Resampled(NamedTuple):
    """Results of one resample.

    Attributes
    ----------
    training, test : float64 array, shape (m,)
        Statistics of its fit, in the resample and in the training data of the model.
    probabilities : float64 array
        Predictions of its fit for the rows `followed`.
    separated : bool
        Whether the maximum likelihood estimate does not exist.
    threshold : float
        Chosen threshold; NaN without a rule.
    """

    training: Vector
    test: Vector
    probabilities: Vector
    separated: bool
    threshold: float


@suggest_arguments
def validate(
    model: object,
    resamples: int = 500,
    *,
    thresholds: Sequence[float] | float = (),
    calibrate: bool = False,
    metric: str | None = None,
    cost: object = None,
    groups: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "Validation":
    """Estimate the optimism of a model by the bootstrap.

    Statistics of a model look too good in its training data; this bias is the optimism.
    Each resample draws the rows with replacement and repeats all steps of the model:
    transforms of the formula, standardization, the choice of lambda by ``lam="cv"``,
    the fit, Platt's sigmoid, and the choice of a threshold. The optimism is the mean,
    over the resamples, of the statistic in the resample minus the statistic of the same
    fit in the training data. The apparent estimate is the statistic of the model in its
    training data. The corrected estimate is the apparent estimate minus the optimism
    (Harrell's optimism bootstrap).

    Parameters
    ----------
    model : Logit, or SVM with ``calibrate=True``
        Model before ``fit()``, with its rows in memory and without Firth's penalty.
    resamples : int, default 500
        Number of resamples. R draws the same rows by ``sample(n, n, replace = TRUE)``,
        repeated after one ``set.seed(seed)``.
    thresholds : float or sequence of float, optional
        Thresholds of the probability at which the net benefit is estimated, too.
    calibrate : bool, default False
        Whether to compute probabilities by `pegasos_stats.calibrate`.
    metric, cost : optional
        Criterion that chooses a threshold from probabilities of held-out rows, as for
        ``result.thresholds()``. The metric or cost, error rate, sensitivity and
        specificity at the threshold are estimated, too.
    groups : str, Series, array or list, shape (n,), optional
        Clusters of dependent rows: whole clusters are drawn, and stay together in
        folds.
    seed : int, default 1
        Seed for R's ``set.seed()``; None draws a seed.
    workers : int, optional
        Number of threads; all usable cores if omitted. Results do not depend on it.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    Validation
        With ``tidy()``, ``summary()`` and ``plot()``.

    Raises
    ------
    OptionError
        If the model has Firth's penalty or no probabilities, or an option is not
        allowed.
    DataError
        If the rows of the model are not in memory.

    Warns
    -----
    UndefinedMetricWarning
        If resamples without a fit were excluded.

    Notes
    -----
    In a separated resample the maximum likelihood estimate does not exist. A model
    without ``lam`` uses 1/n there, as it does for any separated data; with ``lam=0``
    the resample is excluded. Resamples with a single class, or with a fold whose other
    rows have a single class, are excluded too. The summary counts the resamples that
    use 1/n, and a warning counts the excluded ones.

    Folds that choose lambda or a threshold, or fit the sigmoid, are stratified by class
    and drawn with seed 1. They consist of the distinct rows of a resample: all copies
    of a row are in one fold. Slope and
    intercept of the recalibration ``logit P = a + b logit(p)`` and Nagelkerke's R
    squared equal those of ``rms::validate()`` in R, whose ``Dxy`` is ``2 AUC - 1``.

    References
    ----------
    Harrell, Lee & Mark, Statistics in Medicine 15 (1996), 361-387.
    Noma, Shinozaki, Iba, Teramukai & Furukawa, Statistics in Medicine 40 (2021),
    5691-5701, on intervals. Riley & Collins, Biometrical Journal 65 (2023), 2200302, on
    instability.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> women = ps.load_affairs().iloc[::16]
    >>> model = ps.logit("affair ~ rate_marriage + yrs_married + religious", women)
    >>> validation = ps.validate(model, 50)
    >>> validation.tidy()[["term", "apparent", "corrected"]].round(2)
              term  apparent  corrected
    0          auc      0.75       0.75
    1           r2      0.24       0.23
    2  brier_score      0.18       0.18
    3        slope      1.00       0.98
    4    intercept      0.00      -0.02
    """
    model = checked_model(model, "validate()")
    check_flag("calibrate", calibrate)
    if model.problem.has_firth or not (calibrate or isinstance(model, Logit)):
        raise OptionError(
            "validate() needs probabilities: pass a logistic regression without "
            "Firth's penalty, or an SVM with calibrate=True."
        )
    B, n = check_count("resamples", resamples), model.problem.n
    if B < MIN_RESAMPLES:
        why = "is not allowed; pass 2 or more, usually 500."
        raise OptionError(why, "resamples", resamples)
    check_flag("progress", progress)
    cuts = np.atleast_1d(np.asarray(thresholds, dtype=object)).tolist()
    rule = None
    if not (metric is None and cost is None):
        rule = ThresholdRule.of(metric, cost, None, model.coding, "probability", 0.5)
    rng, lines = RRandom(seed), model._sample.lines
    whole = None if groups is None or lines is None else lines.groups(groups)
    if whole is not None and len(whole.codes) > 1:
        raise OptionError(
            "There are 2 groupings, but resamples can draw only one; pass one."
        )
    procedure = Procedure(
        model,
        levels=np.array([check_fraction("thresholds", level) for level in cuts]),
        followed=np.unique(np.linspace(0, n - 1, min(n, MAX_FOLLOWED)).astype(np.intp)),
        calibrates=calibrate,
        rule=rule,
        groups=None if whole is None else whole.codes[0],
    )
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each resample would warn as the model does
        original = procedure.repeated(np.arange(n))
        if whole is None:
            rows = (rng.sample_int(n, n, replace=True) - 1 for _ in range(B))
        else:
            rows = (task[0] for task in resampled_groups(whole, B, rng))
        parts = map_in_order(procedure.repeated, rows, workers)
        progressing = with_progress(parts, B, "resample") if progress else parts
        fits = [fit for fit in progressing if fit is not None]
    if n_failed := B - len(fits):
        warn_caller(
            f"{counted(n_failed, 'resample')} of {B:,} had no fit (a single class, or "
            "separation with lam=0) and were excluded.",
            UndefinedMetricWarning,
        )
    if original is None or len(fits) < MIN_RESAMPLES:
        why = "led to fewer than 2 fits; pass more resamples, or lam above 0."
        raise OptionError(why, "resamples", resamples)
    training_values, test, probabilities, separated, chosen = zip(*fits, strict=True)
    return Validation(
        model=model,
        names=procedure.names,
        apparent=original.test,
        training=np.array(training_values),
        test=np.array(test),
        probabilities=np.array(probabilities),
        original=original.probabilities,
        followed=procedure.followed,
        n_resamples=B,
        n_separated=int(np.sum(separated)),
        seed=int(rng.seed or 0),
        groups=whole,
        threshold=original.threshold,
        chosen=np.array(chosen),
    )


@dataclass(frozen=True)
class Procedure:
    """All steps of fitting a model, to be repeated in resamples.

    Attributes
    ----------
    model : Model
    levels : float64 array
        Probabilities at which the net benefit is computed.
    followed : int array
        Rows whose predictions are stored.
    calibrates : bool
        Whether Platt's sigmoid computes the probabilities.
    rule : ThresholdRule or None
    groups : int array, shape (n,), or None
    """

    model: Model
    levels: Vector
    followed: Rows
    calibrates: bool
    rule: ThresholdRule | None
    groups: Codes | None

    @property
    def names(self) -> list[str]:
        """Names of the statistics."""
        names = [*NAMES, *(f"net_benefit_{level:g}" for level in self.levels)]
        if self.rule is None:
            return names
        return [*names, *dict.fromkeys((*RATES, self.rule.target.name))]

    def repeated(self, rows: Rows) -> Resampled | None:
        """Repeat all steps on a resample; None if there is no fit.

        Parameters
        ----------
        rows : int array, shape (m,)
            Drawn with replacement.
        """
        try:
            return self._fitted(rows)
        except DataError:
            return None

    def _fitted(self, rows: Rows) -> Resampled:
        """Return the value of `repeated`; raise `DataError` if there is no fit."""
        whole, sample = self.model.problem, self.model._sample
        split = Split(1, 1, np.arange(whole.n), whole.n, rows)
        if len(np.unique(whole.y[rows])) < 2:
            raise DataError("The resample has a single class.")
        problem, original, scored = training(self.model, split)
        model, raw, lines = copy(self.model), sample.raw_weights, sample.lines
        if lines is not None:
            lines = replace(lines, positions=lines.positions[rows])
        model.problem = problem
        model._choices = model._path = model._likelihood = None
        model._sample = replace(
            sample,
            X=problem.X,
            y=problem.y,
            index=sample.index[rows],
            weights=problem.weights,
            raw_weights=None if raw is None else raw[rows],
            offset=problem.offset,
            lines=lines,
        )
        held_out: Vector | None = None
        shift, sigmoid = 0.0, Sigmoid(-1.0, 0.0)
        if self.calibrates:
            folds = self._folds(rows, INNER_FOLDS)
            calibrated = platt(model, folds=folds, workers=1)
            chosen, sigmoid = calibrated.result.problem, calibrated.sigmoid
            solution = calibrated.result.solution
            held_out = calibrated.logits.to_numpy()[:, 0]
        else:
            chosen, solution = self._solved(model, rows)
            shift = chosen.prior_shift
            if self.rule is not None:
                at = at_lambda(model, chosen.lam) if chosen.lam else model
                folds = self._folds(rows, INNER_FOLDS)
                validated = cross_validate(at, Optimum(), folds=folds, workers=1)
                held_out = validated.scores_by_repeat.to_numpy()[:, 0] - shift
        inside = solver_runs.scores_of(chosen, solution, problem.X, problem.offset)
        outside = np.full(whole.n, np.nan)
        offset = None if whole.offset is None else whole.offset[scored]
        outside[scored] = solver_runs.scores_of(chosen, solution, original, offset)
        inside, outside = (sigmoid.logits(f - shift) for f in (inside, outside))
        cut = np.nan
        if self.rule is not None and held_out is not None:
            cut, *_ = self.rule.best(scored_rows(problem, held_out))
        return Resampled(
            self._statistics(problem, inside, cut),
            self._statistics(whole, outside, cut),
            expit(outside[self.followed]),
            bool(chosen.no_ml),
            cut,
        )

    def _statistics(self, problem: Problem, logits: Vector, cut: float) -> Vector:
        """Return the statistics `names` of some rows."""
        values = statistics(problem.y, logits, problem.outcome_weights, self.levels)
        if self.rule is None:
            return values
        tables = scored_rows(problem, logits).at(cut, True).tables
        measures: dict[str, Callable[..., Any]]
        measures = {name: METRICS[name] for name in RATES}
        measures[self.rule.target.name] = self.rule.target.of
        return np.append(values, [measure(tables) for measure in measures.values()])

    def _solved(self, model: Model, rows: Rows) -> tuple[Problem, AnySolution]:
        """Return the problem of a resample at its lambda, and its solution."""
        problem = model.problem
        if not problem.lam and problem.lam_rule == "given":
            estimate = maximum_likelihood(problem)
            if estimate.solution is None:
                raise DataError(estimate.reason)
            return problem, estimate.solution
        if problem.lam_rule == "cv":
            lam = best_lambda(*self._merged(model, rows))
            problem = replace(problem, lam=lam)
        else:
            fitted = model.at_chosen_lambda()
            problem = fitted.problem
            if fitted._likelihood and fitted._likelihood.solution:
                return problem, fitted._likelihood.solution
        return problem, solver_runs.run_linear(problem, Optimum(), warn=False)

    def _merged(self, model: Model, rows: Rows) -> tuple[Model, Folds]:
        """Return the model with weighted distinct rows, and its folds.

        Copies are not merged if transforms of a formula are computed from the rows.
        """
        if learning_design(model):
            return model, self._folds(rows, PATH_FOLDS)
        different, first, counts = np.unique(rows, True, return_counts=True)
        problem, sample, other = model.problem, model._sample, copy(model)
        raw, offset = sample.raw_weights, problem.offset
        of_rows = np.ones(len(rows)) if raw is None else raw
        other._sample = replace(sample, raw_weights=counts * of_rows[first])
        other.problem = replace(
            problem,
            X=problem.X[first],
            y=problem.y[first],
            weights=mean_one(problem.row_weights[first] * counts),
            offset=None if offset is None else offset[first],
        )
        return other, self._folds(different, PATH_FOLDS)

    def _folds(self, rows: Rows, k: int) -> Folds:
        """Return folds that keep copies of a row, and groups, together."""
        different, copies = np.unique(rows, return_inverse=True)
        codes, groups = self.model.problem.y[different] > 0.0, None
        k = min(k, len(different))
        if self.groups is not None:
            groups = pd.factorize(self.groups[different])[0]
            k = min(k, int(groups.max()) + 1)
        folds = draw_folds(codes.astype(np.intp), k, 1, RRandom(1), groups)
        if np.array_equal(different, rows):
            return folds
        place, n = folds.assignment[0][copies], len(rows)
        parts = (np.flatnonzero(place == j) for j in range(1, k + 1))
        return Folds(tuple(Split(1, j, p, n) for j, p in enumerate(parts, 1)), n)


def scored_rows(problem: Problem, logits: Vector) -> ScoredRows:
    """Return rows with their probabilities, for thresholds."""
    used = ~np.isnan(logits)
    weights = problem.outcome_weights[used]
    return ScoredRows(expit(logits[used]), problem.y[used] > 0.0, weights)


def recalibration(y: Vector, scores: Vector, weights: Vector) -> Vector:
    """Return intercept and slope of ``logit P = a + b f``, by Newton's method.

    NaN if all scores are equal or they separate the classes.

    Examples
    --------
    >>> y, scores = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-1.0, 0.5, 0.2, -0.1])
    >>> recalibration(y, scores, np.full(4, 0.25)).round(3)
    array([0.119, 2.521])
    """
    low, high = scores[(y < 0.0) & (weights > 0.0)], scores[(y > 0.0) & (weights > 0.0)]
    if low.max() <= high.min() or high.max() <= low.min():
        return np.full(2, np.nan)
    Z, theta = np.column_stack([np.ones(len(y)), scores]), np.array([0.0, 1.0])
    loss, step = np.inf, np.zeros(2)
    for _ in range(100):
        margins = y * (Z @ theta)
        before, loss = loss, float(weights @ np.logaddexp(0.0, -margins))
        if loss > before * (1.0 + 1e-12):  # the step was too long
            step, loss = 0.5 * step, before
            theta = theta - step
            continue
        a = weights * expit(-margins)
        g = (a * y) @ Z
        step = np.linalg.solve((Z.T * (a * expit(margins))) @ Z, g)
        theta = theta + step
        if float(g @ step) < 1e-24:
            break
    return theta


def statistics(y: Vector, scores: Vector, weights: Vector, levels: Vector) -> Vector:
    """Compute the statistics `NAMES` and net benefits from log odds.

    Examples
    --------
    >>> y = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> values = statistics(y, np.array([-1.0, 0.5, 0.2, -0.1]), np.ones(4), np.ones(0))
    >>> values[:3].round(3)
    array([0.75 , 0.369, 0.198])
    """
    finite = np.isfinite(scores)
    y, scores, weights = y[finite], scores[finite], weights[finite]
    p, events, total = expit(scores), y > 0.0, float(weights.sum())
    (area,) = areas_under_curves(events.astype(np.intp), scores[None], weights)
    brier = weights @ np.square(p - events) / total
    intercept, slope = recalibration(y, scores, weights / total)
    share = float(weights @ events) / total
    null = share * np.log(share) + (1.0 - share) * np.log1p(-share)
    fitted = null  # for constant predictions
    if np.ptp(scores) > 0.0:
        margins = y * (intercept + slope * scores)
        fitted = -float(weights @ np.logaddexp(0.0, -margins)) / total
    r2 = -np.expm1(2.0 * (null - fitted)) / -np.expm1(2.0 * null)
    benefits = [
        (weights * (p >= level)) @ np.where(events, 1.0, -level / (1.0 - level)) / total
        for level in levels
    ]
    return np.array([area, r2, brier, slope, intercept, *benefits])


@suggest_names("validation")
@dataclass(frozen=True, repr=False, eq=False)
class Validation(tables.Summarised):
    """Optimism of a model; returned by `validate`.

    Attributes
    ----------
    model : Logit or SVM
    names : list of str, length m
        Names of the statistics: ``auc, r2`` (Nagelkerke's), ``brier_score, slope,
        intercept``, ``net_benefit_`` followed by each threshold, and rates at the
        chosen threshold.
    apparent : float64 array, shape (m,)
        Statistics of the model in its training data.
    training, test : float64 array, shape (b, m)
        Statistics of the fit to each resample, in the resample and in the training
        data.
    probabilities : float64 array, shape (b, f)
        Probabilities that the fit to each resample predicts for the rows `followed`.
    original : float64 array, shape (f,)
        Probabilities that the model predicts for the rows `followed`.
    followed : int array, shape (f,)
        Positions of rows whose predictions are stored: all rows, or 2,000 evenly
        spaced.
    n_resamples, n_separated : int
        Number of resamples; number of those that were fitted with the lambda 1/n,
        because the maximum likelihood estimate does not exist.
    seed : int
    groups : Groups or None
    threshold : float
        Threshold chosen by ``metric=`` or ``cost=``; else NaN.
    chosen : float64 array, shape (b,)
        Thresholds chosen in the resamples.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> women = ps.load_affairs().iloc[::16]
    >>> model = ps.logit("affair ~ rate_marriage + yrs_married", women)
    >>> ps.validate(model, 50).names
    ['auc', 'r2', 'brier_score', 'slope', 'intercept']
    """

    model: Model
    names: list[str]
    apparent: Vector
    training: Matrix
    test: Matrix
    probabilities: Matrix
    original: Vector
    followed: Rows
    n_resamples: int
    n_separated: int
    seed: int
    groups: Groups | None
    threshold: float
    chosen: Vector

    @property
    def _defined(self) -> Mask:
        """Mask of the statistics that are defined, shape (b, m)."""
        return np.asarray(np.isfinite(self.training - self.test))

    @suggest_arguments
    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Return one row per statistic.

        Columns are ``term, apparent, training, test, optimism, corrected, conf_low,
        conf_high``. The interval of the apparent statistic, from quantiles of the
        resamples, is shifted by the optimism (Noma et al. 2021). Slope and intercept
        never have an interval, because this method does not suit them: for maximum
        likelihood without offset or class weights they are 1 and 0 in every resample. A
        resample in which a statistic is not defined, such as the slope of constant
        predictions, is excluded for this statistic.

        Parameters
        ----------
        conf_level : float, default 0.95
        """
        level = check_fraction("conf_level", conf_level)
        ends, defined = [(1.0 - level) / 2.0, (1.0 + level) / 2.0], self._defined
        values = (
            np.where(defined, side, np.nan) for side in (self.training, self.test)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # undefined in all: NaN
            inside, outside = values
            training, test = np.nanmean(inside, axis=0), np.nanmean(outside, axis=0)
            optimism = training - test
            low, high = np.nanquantile(inside, ends, axis=0) - optimism
        recalibrates = np.isin(self.names, ["slope", "intercept"])
        low, high = (np.where(recalibrates, np.nan, end) for end in (low, high))
        return pd.DataFrame(
            {
                "term": self.names,
                "apparent": self.apparent,
                "training": training,
                "test": test,
                "optimism": optimism,
                "corrected": self.apparent - optimism,
                "conf_low": low,
                "conf_high": high,
            }
        )

    @cached_property
    def instability(self) -> pd.DataFrame:
        """Spread of the predictions by the resamples, for each row of `followed`.

        Columns are ``estimate``, the model's probability; ``conf_low`` and
        ``conf_high``, the 2.5% and 97.5% quantiles over the resamples; and
        ``mean_difference``, the mean absolute difference from the estimate (Riley &
        Collins 2023).
        """
        low, high = np.nanquantile(self.probabilities, [0.025, 0.975], axis=0)
        difference = np.nanmean(np.abs(self.probabilities - self.original), axis=0)
        return pd.DataFrame(
            {
                "estimate": self.original,
                "conf_low": low,
                "conf_high": high,
                "mean_difference": difference,
            },
            self.model._sample.index[self.followed],
        )

    @suggest_arguments
    def summary(self, *, digits: int = 3) -> tables.Summary:
        """Return the table with its notes: text in ``print()``, HTML in a notebook."""
        table, places = self.tidy(), check_count("digits", digits)
        columns = ["apparent", "optimism", "corrected", "conf_low", "conf_high"]
        cells = table.set_index("term")[columns].map(
            lambda x: "" if np.isnan(x) else f"{x:z.{places}f}"
        )
        cells.columns = ["apparent", "optimism", "corrected", "[0.025", "0.975]"]
        cells.index.name = None
        units = "rows" if self.groups is None else str(self.groups)
        resampling = f"{len(self.training):,} resamples of {units}, seed {self.seed}."
        notes = [
            f"{resampling} Intervals: quantiles of the resamples minus the optimism."
        ]
        if undefined := int((~self._defined).any(axis=1).sum()):
            notes.append(
                f"{counted(undefined, 'resample')} with constant or separated "
                "predictions had no slope and intercept."
            )
        if self.n_separated:
            notes.append(
                f"{counted(self.n_separated, 'resample')} had no maximum likelihood "
                "estimate and used lam = 1/n."
            )
        if not np.isnan(self.threshold):
            low, high = np.quantile(self.chosen, [0.025, 0.975])
            notes.append(
                f"Rates are at the chosen threshold, {self.threshold:.3f}; 95% of the "
                f"resamples choose {low:.3f} to {high:.3f}."
            )
        mean = float(self.instability["mean_difference"].mean())
        notes.append(
            f"Probabilities by resamples differ from the model's by {mean:.3f} on "
            "average."
        )
        left = [("Outcome:", str(self.model.coding.name))]
        right = [("No. Observations:", f"{self.model.problem.n:,}")]
        if self.model.dropped.total:
            left.append(("Rows dropped (NA):", str(self.model.dropped)))
        return tables.Summary(["Optimism bootstrap"], cells, notes, left, right)

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw predictions by the resamples against predictions by the model.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the points, such as ``color``.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_instability

        return draw_instability(self.instability, self.model.coding.positive, ax, line)


@dataclass(frozen=True, repr=False, eq=False)
class Subgroups(tables.Summarised):
    """Performance of a fit in subgroups; returned by ``result.confusion(by=...)``.

    Attributes
    ----------
    confusions : dict of label to ConfusionMatrix
        Table of each subgroup, in the order of the labels.
    whole : ConfusionMatrix
        Table of all rows with a label.
    name : str
        Name of the labels; ``"group"`` if they have no name, or if another column of
        `tidy` has the same name.
    n_left_out : int
        Number of rows without a label of a subgroup.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> women = ps.load_affairs()
    >>> formula = "affair ~ rate_marriage + yrs_married"
    >>> result = ps.logit(formula, women.iloc[::2]).fit()
    >>> subgroups = result.confusion(women.iloc[1::2], by="religious")
    >>> table = subgroups.tidy()
    >>> table[table["term"] == "error_rate"].iloc[:, :5].round(3)
       religious     n  events        term  estimate
    0        1.0   513     200  error_rate     0.349
    6        2.0  1138     406  error_rate     0.288
    12       3.0  1203     349  error_rate     0.258
    18       4.0   329      71  error_rate     0.207
    """

    confusions: dict[object, ConfusionMatrix]
    whole: ConfusionMatrix
    name: str
    n_left_out: int = 0

    @suggest_arguments
    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Return one row per subgroup and statistic.

        Columns are the labels, ``n, events, term, estimate, conf_low, conf_high``.
        Intervals of the error rate, sensitivity and specificity are exact (Clopper &
        Pearson). Intervals of the AUC use DeLong's variance. Intercept and slope
        recalibrate the log odds of a logistic fit, see `reliability`. With ``weights``,
        ``n`` and ``events`` are sums of weights, and all intervals are NaN.

        Parameters
        ----------
        conf_level : float, default 0.95
        """
        level = checks.check_fraction("conf_level", conf_level)
        columns = [self.name, *OF_SUBGROUPS]
        lines = []
        for label, table in self.confusions.items():
            of_class = table.counts[table.levels.index(table.positive), :-1]
            facts = label, table.n_classified, of_class.sum().item()
            lines += [(*facts, *line) for line in _statistics(table, level)]
        return pd.DataFrame(lines, columns=columns)

    @suggest_arguments
    def summary(self, *, digits: int = 3) -> tables.Summary:
        """Return one row per subgroup, without intervals; ``print()`` shows text."""
        places, table = checks.check_count("digits", digits), self.tidy()
        wide = table.pivot(index=self.name, columns="term", values="estimate")
        wide = wide.reindex(list(self.confusions))[list(dict.fromkeys(table["term"]))]
        wide = wide.rename(columns=SHORT)
        cells = wide.map(lambda x: "" if np.isnan(x) else f"{x:.{places}f}")
        counts = table.drop_duplicates(self.name).set_index(self.name)
        for name in ("events", "n"):
            cells.insert(0, name, counts[name].map(amount))
        cells.index, cells.columns.name = cells.index.map(value_text), None
        cells.index.name = None
        title = f"{self.whole.positive!r} predicted by {self.name}"
        notes = ["For intervals see tidy()."] if table["conf_low"].notna().any() else []
        excluded = {
            f"a value of {self.name!r}": self.n_left_out,
            "an actual label": self.whole.n_unlabelled,
            "a prediction": self.whole.n_undecided,  # with weights, their sum
        }
        for lacking, n in excluded.items():
            if n:
                weighted = isinstance(n, float)
                rows = f"rows of weight {amount(n)}" if weighted else counted(n, "row")
                notes.append(f"Excluded: {rows} without {lacking}.")
        return tables.Summary([title], cells, notes)

    @suggest_arguments
    def plot(
        self,
        term: str = "error_rate",
        *,
        conf_level: float = 0.95,
        ax: "Axes | None" = None,
        **line: object,
    ) -> "Axes":
        """Draw a statistic of each subgroup with its interval, and of all rows.

        Parameters
        ----------
        term : str, default "error_rate"
            A term of `tidy`.
        conf_level : float, default 0.95
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the lines, such as ``color``.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.forest import draw_subgroups

        table = self.tidy(conf_level)
        checks.check_choice("term", term, tuple(dict.fromkeys(table["term"])))
        own = table[table["term"] == term].set_index(self.name)
        of_all = {name: value for name, value, *_ in _statistics(self.whole, 0.95)}
        return draw_subgroups(own, term, of_all[term], conf_level, ax, line)


def _statistics(
    table: ConfusionMatrix, level: float
) -> Iterator[tuple[str, float, float, float]]:
    """Yield statistics with their intervals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # a cell remains empty
        statistics = table.tidy(level=level).set_index("term")
    for term in TERMS:
        numbers = statistics.loc[term, ["estimate", *ENDS]].to_numpy(dtype=np.float64)
        yield term, float(numbers[0]), float(numbers[1]), float(numbers[2])
    scored, place = table.scored, table.levels.index(table.positive)
    p = None if scored is None else scored.probability(place)
    if scored is None or p is None:
        return
    complete, weights = (scored.codes >= 0) & ~np.isnan(p), scored.weights
    if weights is not None:
        complete &= weights > 0.0
        weights = weights[complete]
    happened = (scored.codes[complete] == place).astype(np.intp)
    clusters = None if scored.clusters is None else scored.clusters[complete]
    at = recalibrated(p[complete], happened, level, clusters, weights)
    for term in CALIBRATION:
        low, high = getattr(at, f"{term}_interval") if table.source == "new" else NONE
        yield term, getattr(at, term), low, high


def subgroups(
    confusion: Callable[..., ConfusionMatrix],
    frame: pd.DataFrame,
    by: object,
    columns: Mapping[str, object],
    choices: Mapping[str, Any],
) -> Subgroups:
    """Compute a confusion table for each label, see ``result.confusion(by=)``.

    Parameters
    ----------
    confusion : callable
        Method ``confusion`` of the fit.
    frame : DataFrame
        New rows.
    columns : dict of option to name
        Column name for each of ``actual, offset, weights, groups, freq_weights``, or
        None.
    choices : dict
        Other options of ``result.confusion()``.

    Raises
    ------
    OptionError
        If an option is not a column name.
    DataError
        If there are no labels, or more than 200.
    """
    for name, value in columns.items():
        if not isinstance(value, str | None):
            raise OptionError(
                f"With by=, {name}= must be the name of a column; add a column to data."
            )
    is_series = isinstance(by, pd.Series)
    if isinstance(by, str):
        by = column_named("by", by, frame, ALLOWED)
    labels = column_of_labels(by, "by")
    check_aligned("by", labels, frame.index, is_series)
    codes, levels = pd.factorize(labels, sort=True)
    if not 0 < len(levels) <= MAX_GROUPS:
        raise DataError(
            f"by= has {counted(len(levels), 'label')}; pass from 1 to {MAX_GROUPS}."
        )

    def of(rows: Mask) -> ConfusionMatrix:
        part = frame.iloc[np.flatnonzero(rows)]
        named: dict[str, Any] = {k: v for k, v in columns.items() if v is not None}
        if "actual" in named:
            named["actual"] = part[named["actual"]]
        return confusion(part, **named, **choices)

    whole = of(codes >= 0)  # warns once of all rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PegasosStatsWarning)
        confusions = {plain(label): of(codes == at) for at, label in enumerate(levels)}
    if whole.source == "training":
        confusions = {k: replace(t, source="training") for k, t in confusions.items()}
    name = "group" if labels.name in (None, *OF_SUBGROUPS) else str(labels.name)
    return Subgroups(confusions, whole, name, int((codes < 0).sum()))
