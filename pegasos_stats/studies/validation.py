"""Internal validation: the optimism of a logistic regression, by the bootstrap."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats import checks, tables
from pegasos_stats.arrays import Axes, Mask, Matrix, Rows, Vector
from pegasos_stats.checks import check_count, check_flag, check_fraction
from pegasos_stats.data.sample import Groups, column_named
from pegasos_stats.data.user_data import check_aligned, column_of_labels
from pegasos_stats.errors import (
    DataError,
    OptionError,
    UndefinedMetricWarning,
    counted,
    plain,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.scores import areas_under_curves
from pegasos_stats.models.effects import value_text
from pegasos_stats.models.inference.bootstrap import resampled_groups
from pegasos_stats.models.linear import Logit
from pegasos_stats.models.results import Results
from pegasos_stats.parallel import map_in_order
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers import solver_runs
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.maximum_likelihood import maximum_likelihood
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.threads import one_thread
from pegasos_stats.studies.calibration import recalibrated
from pegasos_stats.studies.cross_validation import lambda_path
from pegasos_stats.studies.fold_fits import checked_model, training
from pegasos_stats.studies.folds import Split

NAMES = ("auc", "r2", "brier_score", "slope", "intercept")
MAX_FOLLOWED = 2_000  # rows whose predictions by all resamples are stored
MIN_RESAMPLES = 2
TERMS = ("error_rate", "sensitivity", "specificity", "auc")
CALIBRATION = ("intercept", "slope")
ENDS = ["conf_low", "conf_high"]
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
    """

    training: Vector
    test: Vector
    probabilities: Vector
    separated: bool


@suggest_arguments
def validate(
    model: object,
    resamples: int = 500,
    *,
    thresholds: Sequence[float] | float = (),
    groups: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "Validation":
    """Estimate the optimism of a logistic regression by the bootstrap.

    A statistic is too good in the training data; the optimism is the bias. Each
    resample draws the rows with replacement and repeats all steps of the model:
    transforms of the formula, standardization, the choice of lambda by ``lam="cv"``,
    and the fit. The optimism is the mean, over the resamples, of the statistic in the
    resample minus the statistic of the same fit in the training data. The corrected
    estimate is the apparent one minus the optimism (Harrell's optimism bootstrap).

    Parameters
    ----------
    model : Logit
        Model before ``fit()``, with its rows in memory.
    resamples : int, default 500
        Number of resamples. R draws the same rows by ``sample(n, n, replace = TRUE)``,
        repeated after one ``set.seed(seed)``.
    thresholds : float or sequence of float, optional
        Probabilities at which to estimate the net benefit too.
    groups : str, Series, array or list, shape (n,), optional
        Clusters of dependent rows: whole clusters are drawn.
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
        If the model is not a logistic regression, or an option is not allowed.
    DataError
        If the rows of the model are not in memory.

    Warns
    -----
    UndefinedMetricWarning
        If resamples with a single class were excluded.

    Notes
    -----
    In a separated resample the maximum likelihood estimate does not exist. A model
    without ``lam`` uses 1/n there, as it does for any separated data; with ``lam=0``
    the resample is excluded. The result reports both numbers.

    With ``lam="cv"`` all copies of a row are in one fold. Slope and intercept of the
    recalibration ``logit P = a + b logit(p)`` and Nagelkerke's R squared equal those of
    ``rms::validate()`` in R, whose ``Dxy`` is ``2 AUC - 1``.

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
    model = checked_model(model)
    if not isinstance(model, Logit) or model.problem.has_firth:
        raise OptionError(
            "validate() is for logistic regression without Firth's penalty; "
            "cross_validate() estimates the error of other models."
        )
    B, n = check_count("resamples", resamples), model.problem.n
    if B < MIN_RESAMPLES:
        raise OptionError("needs 2 or more, usually 500.", "resamples", resamples)
    check_flag("progress", progress)
    cuts = [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    levels = np.array([check_fraction("thresholds", level) for level in cuts])
    rng, lines = RRandom(seed), model._sample.lines
    whole = None if groups is None or lines is None else lines.groups(groups)
    if whole is not None and len(whole.codes) > 1:
        raise OptionError(
            "There are 2 groupings, but resamples can draw only one; give one."
        )
    followed = np.unique(np.linspace(0, n - 1, min(n, MAX_FOLLOWED)).astype(np.intp))
    with one_thread():
        original = repeated(model, np.arange(n), levels, followed)
        assert original is not None
        if whole is None:
            rows = (rng.sample_int(n, n, replace=True) - 1 for _ in range(B))
        else:
            rows = (task[0] for task in resampled_groups(whole, B, rng))
        parts = map_in_order(
            lambda rows: repeated(model, rows, levels, followed), rows, workers
        )
        shown = with_progress(parts, B, "resample") if progress else parts
        fits = [fit for fit in shown if fit is not None]
    if n_failed := B - len(fits):
        warn_caller(
            f"{counted(n_failed, 'resample')} of {B:,} had no fit (a single class, or "
            "separation with lam=0) and were excluded.",
            UndefinedMetricWarning,
        )
    if len(fits) < MIN_RESAMPLES:
        raise OptionError(
            "includes fewer than 2 resamples with a fit.", "resamples", resamples
        )
    training_values, test_values, probabilities, separated = zip(*fits, strict=True)
    return Validation(
        model=model,
        names=[*NAMES, *(f"net_benefit_{level:g}" for level in levels)],
        apparent=original.test,
        training=np.array(training_values),
        test=np.array(test_values),
        probabilities=np.array(probabilities),
        original=original.probabilities,
        followed=followed,
        n_resamples=B,
        n_separated=int(np.sum(separated)),
        seed=int(rng.seed or 0),
        groups=whole,
    )


def repeated(
    model: Logit, rows: Rows, thresholds: Vector, followed: Rows
) -> Resampled | None:
    """Fit a resample and compute its statistics; None if there is no fit.

    Parameters
    ----------
    rows : int array, shape (m,)
        Drawn with replacement.
    """
    whole = model.problem
    if len(np.unique(whole.y[rows])) < 2:
        return None
    split = Split(1, 1, np.arange(whole.n), whole.n, rows)
    problem, original, scored = training(model, split)
    other, lines = copy(model), model._sample.lines
    raw, index = model._sample.raw_weights, model._sample.index
    other.problem = problem
    other._choices = other._path = other._likelihood = None
    other._sample = replace(
        model._sample,
        X=problem.X,
        y=problem.y,
        index=index[rows],
        weights=problem.weights,
        raw_weights=None if raw is None else raw[rows],
        offset=problem.offset,
        lines=None
        if lines is None
        else replace(lines, positions=lines.positions[rows]),
    )
    codes, levels = pd.factorize(rows)
    copies = Groups(("",), (len(levels),), (codes,))
    if not problem.lam and problem.lam_rule == "given":
        estimate = maximum_likelihood(problem)
        if estimate.solution is None:
            return None
        chosen, solution = problem, estimate.solution
    else:
        if problem.lam_rule == "cv":  # by the criterion alone
            name = LOSSES[problem.loss].decides
            other._path = lambda_path(other, groups=copies, seed=1, metrics=name)
            other.problem = replace(problem, lam=other._path.lambda_min)
        fitted = other.at_chosen_lambda(copies)
        chosen, likelihood = fitted.problem, fitted._likelihood
        estimated = likelihood.solution if likelihood else None
        solution = estimated or solver_runs.run_linear(chosen, Optimum(), warn=False)
    shift = chosen.prior_shift
    inside = solver_runs.scores_of(chosen, solution, problem.X, problem.offset) - shift
    outside = np.full(whole.n, np.nan)
    offset = None if whole.offset is None else whole.offset[scored]
    outside[scored] = solver_runs.scores_of(chosen, solution, original, offset) - shift
    return Resampled(
        statistics(problem.y, inside, problem.outcome_weights, thresholds),
        statistics(whole.y, outside, whole.outcome_weights, thresholds),
        probability(outside[followed]),
        bool(chosen.no_ml),
    )


def probability(scores: Vector) -> Vector:
    """``1 / (1 + exp(-f))``."""
    from scipy.special import expit

    return np.asarray(expit(scores))


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
    p, events, total = probability(scores), y > 0.0, float(weights.sum())
    (area,) = areas_under_curves(events.astype(np.intp), scores[None], weights)
    brier = weights @ np.square(p - events) / total
    slope = intercept = r2 = np.nan
    line = Problem(
        scores[:, None], y, 0.0, loss="log", weights=weights * (len(y) / total)
    )
    recalibrated = maximum_likelihood(line).solution if np.ptp(scores) > 0.0 else None
    if recalibrated is not None:
        slope, intercept = float(recalibrated.beta[0]), recalibrated.alpha
        share = float(weights @ events) / total
        null = share * np.log(share) + (1.0 - share) * np.log1p(-share)
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
    """Optimism of a logistic regression, from `validate`.

    Attributes
    ----------
    model : Logit
    names : list of str, length m
        Names of the statistics: ``auc, r2`` (Nagelkerke's), ``brier_score, slope,
        intercept``, and ``net_benefit_`` followed by each threshold.
    apparent : float64 array, shape (m,)
        Statistics of the model in its training data.
    training, test : float64 array, shape (b, m)
        Statistics of the fit to each resample, in the resample and in the training
        data.
    probabilities : float64 array, shape (b, f)
        Predictions for the rows `followed` by the fit to each resample.
    original : float64 array, shape (f,)
        Predictions for these rows by the model.
    followed : int array, shape (f,)
        Positions of rows whose predictions are stored: all rows, or 2,000 evenly
        spaced.
    n_resamples, n_separated : int
        Number of resamples, and of those without a maximum likelihood estimate.
    seed : int
    groups : Groups or None

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> women = ps.load_affairs().iloc[::16]
    >>> model = ps.logit("affair ~ rate_marriage + yrs_married", women)
    >>> ps.validate(model, 50).names
    ['auc', 'r2', 'brier_score', 'slope', 'intercept']
    """

    model: Logit
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
    groups: Groups | None = None

    @suggest_arguments
    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Return one row per statistic.

        Columns are ``term, apparent, training, test, optimism, corrected, conf_low,
        conf_high``. The interval of the apparent statistic, from quantiles of the
        resamples, is shifted by the optimism (Noma et al. 2021). Slope and intercept
        have no interval: in the training data they are always 1 and 0 for maximum
        likelihood.

        Parameters
        ----------
        conf_level : float, default 0.95
        """
        level = check_fraction("conf_level", conf_level)
        training, test = self.training.mean(axis=0), self.test.mean(axis=0)
        optimism = training - test
        ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        low, high = np.quantile(self.training, ends, axis=0) - optimism
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
        """Spread of the resamples' predictions for each row.

        Columns are ``estimate``, the probability by the model; ``conf_low`` and
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
        """Return the table with its notes; ``print()`` shows text, a notebook HTML."""
        table, places = self.tidy(), check_count("digits", digits)
        columns = ["apparent", "optimism", "corrected", "conf_low", "conf_high"]
        cells = table.set_index("term")[columns].map(
            lambda x: "" if np.isnan(x) else f"{x:.{places}f}"
        )
        cells.columns = ["apparent", "optimism", "corrected", "[0.025", "0.975]"]
        cells.index.name = None
        units = "rows" if self.groups is None else str(self.groups)
        resampling = f"{len(self.training):,} resamples of {units}, seed {self.seed}."
        notes = [
            f"{resampling} Intervals: of the apparent statistic, less the optimism."
        ]
        if self.n_separated:
            notes.append(
                f"{counted(self.n_separated, 'resample')} had no maximum likelihood "
                "estimate and took lam = 1/n."
            )
        mean = float(self.instability["mean_difference"].mean())
        notes.append(
            f"Probabilities by resamples differ from the model's by {mean:.3f} on "
            "average."
        )
        header = [("Outcome:", str(self.model.coding.name))]
        return tables.Summary(["Optimism bootstrap"], cells, notes, header, [])

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
    """Performance of a fit in subgroups, from ``result.confusion(data, by=...)``.

    Attributes
    ----------
    confusions : dict of label to ConfusionMatrix
        Table of each subgroup, in the order of the labels.
    whole : ConfusionMatrix
        Table of all rows with a label.
    name : str
        Name of the labels.
    n_left_out : int
        Rows without a label.

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
        Pearson). Intervals of the area use DeLong's variance. Intercept and slope
        recalibrate the log odds of a logistic fit, see `reliability`.

        Parameters
        ----------
        conf_level : float, default 0.95
        """
        level = checks.check_fraction("conf_level", conf_level)
        columns = [self.name, "n", "events", "term", "estimate", *ENDS]
        lines = [
            (label, table.n_classified, _events(table), *line)
            for label, table in self.confusions.items()
            for line in _statistics(table, level)
        ]
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
            cells.insert(0, name, counts[name].map(lambda n: f"{n:,}"))
        cells.index, cells.columns.name = cells.index.map(value_text), None
        cells.index.name = None
        title = f"{self.whole.positive!r} predicted by {self.name}"
        notes = ["Intervals: tidy()."]
        if self.n_left_out:
            notes.append(f"{counted(self.n_left_out, 'row')} without a label excluded.")
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
        return draw_subgroups(own, term, of_all[term], ax, line)


def _events(table: ConfusionMatrix) -> int:
    """Count the classified rows of the positive class."""
    row = table.counts[table.levels.index(table.positive)]
    return int(row[:-1].sum())


def _statistics(
    table: ConfusionMatrix, level: float
) -> Iterator[tuple[str, float, float, float]]:
    """Yield statistics with their intervals."""
    statistics = table.tidy(level=level).set_index("term")
    for term in TERMS:
        numbers = statistics.loc[term, ["estimate", *ENDS]].to_numpy(dtype=np.float64)
        yield term, float(numbers[0]), float(numbers[1]), float(numbers[2])
    scored, place = table.scored, table.levels.index(table.positive)
    p = None if scored is None else scored.probability(place)
    if scored is None or p is None:
        return
    complete = (scored.codes >= 0) & ~np.isnan(p)
    happened = (scored.codes[complete] == place).astype(np.intp)
    at = recalibrated(p[complete], happened, level)
    for term in CALIBRATION:
        low, high = getattr(at, f"{term}_interval")
        yield term, getattr(at, term), low, high


def subgroups(
    result: Results,
    data: object,
    by: object,
    columns: Mapping[str, object],
    choices: Mapping[str, Any],
) -> Subgroups:
    """Compute a confusion table for each label, see ``result.confusion(by=)``.

    Parameters
    ----------
    columns : dict of option to name
        ``actual, offset, weights, freq_weights``, or None.
    choices : dict
        Other options of ``result.confusion()``.

    Raises
    ------
    OptionError
        If there are no rows, or an option is not a column name.
    DataError
        If there are no labels, or more than 200.
    """
    if data is None:
        raise OptionError("splits the rows of data=; give data.", "by", by)
    for name, value in columns.items():
        if not isinstance(value, str | None):
            raise OptionError(f"With by= give {name}= as the name of a column.")
    frame = result._frame(data)
    is_series = isinstance(by, pd.Series)
    if isinstance(by, str):
        by = column_named("by", by, frame, ALLOWED)
    labels = column_of_labels(by, "by")
    check_aligned("by", labels, frame.index, is_series)
    codes, levels = pd.factorize(labels, sort=True)
    if not 0 < len(levels) <= MAX_GROUPS:
        raise DataError(
            f"by= has {counted(len(levels), 'label')}; give from 1 to {MAX_GROUPS}."
        )

    def of(rows: Mask) -> ConfusionMatrix:
        part = frame.iloc[np.flatnonzero(rows)]
        named: dict[str, Any] = {k: v for k, v in columns.items() if v is not None}
        if "actual" in named:
            named["actual"] = part[named["actual"]]
        return result.confusion(part, **named, **choices)

    confusions = {plain(label): of(codes == at) for at, label in enumerate(levels)}
    name = "group" if labels.name is None else str(labels.name)
    return Subgroups(confusions, of(codes >= 0), name, int((codes < 0).sum()))
