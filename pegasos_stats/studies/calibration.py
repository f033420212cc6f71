"""Probabilities from any model: Platt's sigmoid of out-of-fold scores."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit

from pegasos_stats.arrays import DataColumn, Matrix, Vector
from pegasos_stats.checks import check_rows_have_own
from pegasos_stats.data.weights import column_of_counts
from pegasos_stats.errors import (
    DataError,
    OptionError,
    UndefinedMetricWarning,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.metrics.scores import ScoredRows
from pegasos_stats.models.base import Model
from pegasos_stats.models.results import Results, probability_of, with_source
from pegasos_stats.models.summaries import MORE, header_lines, solver_lines
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.objective import zero_model
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.reliability import (
    Reliability,
    Strategy,
    minimise_logistic,
    reliability,
)
from pegasos_stats.studies.selection import cross_validation, fold_fits
from pegasos_stats.studies.selection.fold_fits import Fitter, for_all_rows, with_seed
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.thresholds import (
    INNER,
    Thresholds,
    checked_target,
    evaluate_threshold,
    inside_rows,
    new_parts,
    rows_of,
)
from pegasos_stats.tables import Fields, Summarised, Summary, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALLEST = 1e-290  # of a score, by which A can be divided


@dataclass(frozen=True)
class Sigmoid:
    """``P(y = 1 | f) = 1 / (1 + exp(A f + B))``.

    Attributes
    ----------
    A : float
        Below zero where large scores speak for the second level.
    B : float

    Examples
    --------
    >>> Sigmoid(A=-2.0, B=0.0).logits(np.array([0.5]))
    array([1.])
    """

    A: float
    B: float

    def logits(self, scores: Vector) -> Vector:
        """Log odds of the second level, ``-(A f + B)``."""
        return -(self.A * scores + self.B)


def fit_sigmoid(y: Vector, scores: Vector, weights: Vector | None = None) -> Sigmoid:
    """Fit Platt's sigmoid by maximum likelihood with regularised targets.

    Minimises ``sum w_i (log(1 + exp(-z_i)) + t_i z_i)``, ``z_i = A f_i + B``, where
    the targets are ``t = (N+ + 1) / (N+ + 2)`` for the second level and
    ``1 / (N- + 2)`` for the first, ``N`` the weight of a level: by Newton's method,
    halving the step until it descends.

    Parameters
    ----------
    y : float64 array, shape (n,), of -1 and +1
    scores : float64 array, shape (n,)
    weights : float64 array, shape (n,), optional
        1 if not given.

    References
    ----------
    Platt, *Probabilistic outputs for support vector machines*, Advances in Large
    Margin Classifiers (1999), equations 4 to 6; Lin, Lin & Weng, *A note on Platt's
    probabilistic outputs for support vector machines*, Machine Learning 68 (2007),
    algorithm 1.

    Examples
    --------
    >>> found = fit_sigmoid(np.array([-1.0, -1, 1, 1]), np.array([-1.0, 0, 0, 1]))
    >>> round(found.A, 4), abs(round(found.B, 4))
    (-1.0986, 0.0)
    """
    w = np.ones(len(y)) if weights is None else weights
    upper, lower = float(w[y > 0].sum()), float(w[y < 0].sum())
    targets = np.where(y > 0, (upper + 1.0) / (upper + 2.0), 1.0 / (lower + 2.0))
    size = max(float(np.abs(scores).max()), SMALLEST)
    columns = np.column_stack([scores / size, np.ones(len(y))])
    # GLM of statsmodels agrees to 1e-10, in eight times the time, and may overflow.
    start = np.array([0.0, np.log((lower + 1.0) / (upper + 1.0))])
    A, B = minimise_logistic(start, columns, targets, w)
    return Sigmoid(float(A) / size, float(B))


def base_rate(y: Vector, scores: Vector, weights: Vector) -> Sigmoid:
    """The constant sigmoid: the share of the second level for every score.

    Parameters
    ----------
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n,) or (n, repeats)
        NaN where a row has none; a row without any does not count.

    Examples
    --------
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0])
    >>> base_rate(y, np.zeros(4), np.ones(4)).logits(np.zeros(1)).round(3)
    array([-1.099])
    """
    known = ~np.isnan(scores).all(axis=1) if scores.ndim > 1 else ~np.isnan(scores)
    upper = float(weights[known & (y > 0)].sum())
    lower = float(weights[known & (y < 0)].sum())
    with np.errstate(divide="ignore"):
        return Sigmoid(0.0, float(np.log(lower) - np.log(upper)))


def sigmoid_of(y: Vector, scores: Matrix, weights: Vector) -> Sigmoid:
    """Fit the sigmoid to the scores of all repeats together, each row counted once.

    Parameters
    ----------
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)
        NaN where a row is in no held-out fold.
    """
    known = ~np.isnan(scores)
    shares = weights[:, None] / np.maximum(known.sum(axis=1, keepdims=True), 1)
    labels, shares = (np.broadcast_to(v, scores.shape) for v in (y[:, None], shares))
    return fit_sigmoid(labels[known], scores[known], shares[known])


def cross_fitted_logits(
    folds: Folds,
    y: Vector,
    scores: Matrix,
    weights: Vector,
    fitting: Callable[[Vector, Vector, Vector], Sigmoid] = fit_sigmoid,
) -> Matrix:
    """Return log odds of the rows of each fold, by the sigmoid of the other folds.

    Parameters
    ----------
    folds : Folds
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)
    fitting : callable
        Fits the sigmoid to labels, scores and weights.

    Returns
    -------
    float64 array, shape (n, repeats)
    """
    found = np.full(scores.shape, np.nan)
    for split in folds.splits:
        column = scores[:, split.repeat - 1]
        others = ~np.isnan(column)
        others[split.test] = False
        sigmoid = fitting(y[others], column[others], weights[others])
        found[split.test, split.repeat - 1] = sigmoid.logits(column[split.test])
    return found


NEAR = 0.01  # relative gap of a fit near enough to its optimum to be compared


@suggest_arguments
def calibrate(
    model: Model,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: object = 5,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "CalibratedResults":
    """Fit a model and Platt's sigmoid, which turns its scores into probabilities.

    The model is fitted on all rows. The sigmoid ``1 / (1 + exp(A f + B))`` is fitted on
    out-of-fold scores, because a fit separates its own training rows too well. This
    assumes that out-of-fold scores have the distribution of the scores of new rows in
    the fit on all rows, which holds better with more folds.
    `fit_sigmoid` has the likelihood and its regularised targets.

    Class weights, such as ``weights="balanced"``, are used in the fits but not in the
    sigmoid: probabilities are for levels as frequent as in the data. Weights that
    differ from row to row are used in both.

    Scores carry no information if the fit is, within its duality gap, no better than
    one without predictors, or if out-of-fold scores of the second level are not larger
    than those of the first. Then each probability is the share of the level, with a
    warning.

    Parameters
    ----------
    model : SVM, KernelSVM or Logit
    solver, folds, repeats, groups, seed, workers, progress
        As for `cross_validate`, with at least 2 folds. A run of Pegasos without a seed
        uses that of the folds on all rows.

    Returns
    -------
    CalibratedResults

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver does not suit the model.
    DataError
        If the training rows of a fold lack a level, or there are fewer than two folds.

    Warns
    -----
    ConvergenceWarning
        If SDCA does not reach its tolerance.
    UndefinedMetricWarning
        If the scores carry no information, so that probabilities are the shares of the
        levels.

    References
    ----------
    Platt, *Probabilistic outputs for support vector machines*, Advances in Large
    Margin Classifiers (1999); Lin, Lin & Weng, Machine Learning 68 (2007), 267-276.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ p34 + p43 + p22", train, lam=0.01)
    >>> found = ps.calibrate(model, ps.SDCA(seed=1), folds=5, seed=443)
    >>> bool(found.sigmoid.A < 0)
    True
    """
    validation = cross_validation.cross_validate(
        model,
        solver,
        folds=folds,
        repeats=repeats,
        groups=groups,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    per_repeat = Counter(split.repeat for split in validation.folds.splits)
    if min(per_repeat.values()) < 2:
        raise DataError("A repeat has one fold only; give at least two folds.")
    fitting: Any = validation.model.at_chosen_lambda()
    solver = for_all_rows(with_seed(validation.solver, validation.seed))
    result = fitting.fit(solver)
    y, weights = model.problem.y, model.problem.outcome_weights
    scores = validation.scores_by_repeat
    sigmoid = sigmoid_of(y, scores.to_numpy(), weights)
    why = _without_scores(result, sigmoid)
    way = base_rate if why else fit_sigmoid
    if why:
        warn_caller(f"{why}: {SHARES}.", UndefinedMetricWarning)
        sigmoid = base_rate(y, scores.to_numpy(), weights)
    logits = cross_fitted_logits(validation.folds, y, scores.to_numpy(), weights, way)
    columns = pd.DataFrame(logits, scores.index, scores.columns)
    return CalibratedResults(result, sigmoid, validation, columns, why)


def _without_scores(result: Results, sigmoid: Sigmoid) -> str:
    """Why scores say nothing of the labels; empty if they do."""
    without = zero_model(result.problem)[1]
    alone = result.problem.offset is None  # predictors say all that there is to say
    near = result.relative_gap <= NEAR
    if alone and near and abs(without - result.objective) <= result.gap:
        return "The fit is no better than one without predictors, within its gap"
    if sigmoid.A >= 0.0:
        return "Out-of-fold scores of the second level are not the larger ones"
    return ""


def calibrated_parts(
    found: "CalibratedResults", rng: RRandom, workers: int | None, progress: bool
) -> tuple[list[ScoredRows], list[ScoredRows]]:
    """Probabilities of the rows fitted on, by inner folds, and those out of fold.

    A sigmoid of the scores of the inner folds makes them probabilities.
    """
    validation, problem = found.validation, found.result.problem
    model, folds = validation.model, validation.folds
    fitter = Fitter(model, validation.solver, rng, workers, progress)
    _, scored = inside_rows(fitter, folds, problem.lam)
    fitting = base_rate if found.without_scores else fit_sigmoid
    logits, inside, outside = found.logits.to_numpy(), [], []
    for split, rows in zip(folds.splits, scored, strict=True):
        labels = np.where(rows.second, 1.0, -1.0)
        sigmoid = fitting(labels, rows.values, rows.weights)
        inside.append(rows._replace(values=expit(sigmoid.logits(rows.values))))
        own = expit(logits[split.test, split.repeat - 1])
        outside.append(rows_of(model.problem, split.test, own))
    return inside, outside


SHARES = "every probability is the share of its level"


@suggest_names("calibrated")
@dataclass(frozen=True, repr=False, eq=False)
class CalibratedResults(Summarised):
    """A fit with probabilities from Platt's sigmoid; made by `calibrate`.

    Scores are from the fit on all rows. The sigmoid was fitted on out-of-fold scores:
    each row was scored by a fit that has not seen it.

    Attributes
    ----------
    result : Results
        The fit on all rows.
    sigmoid : Sigmoid
        ``P(second level) = 1 / (1 + exp(A score + B))``, fitted on all out-of-fold
        scores.
    validation : CrossValidation
        The cross-validation that gave these scores.
    logits : DataFrame, shape (n, repeats)
        Out-of-fold log odds: the score of a row is from a fit that has not seen it, and
        the sigmoid is fitted on the out-of-fold scores of the other folds of the
        repeat, which are from fits that have.
    without_scores : str
        Reason for which probabilities are the shares of the levels; empty if they are
        computed from scores.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ p34 + p43 + p22", train, lam=0.01)
    >>> calibrated = ps.calibrate(model, ps.SDCA(seed=1), seed=443)
    >>> calibrated.tidy()["term"].tolist()
    ['brier_score', 'log_loss']
    >>> calibrated.predict_proba(test).columns.tolist()
    [5, 6]
    """

    result: Results
    sigmoid: Sigmoid
    validation: cross_validation.CrossValidation
    logits: pd.DataFrame
    without_scores: str = ""

    @suggest_arguments
    def predict_proba(
        self, data: object = None, *, offset: object = None
    ) -> pd.DataFrame:
        """Probabilities of both levels.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if omitted, for which `probabilities` is better,
            as the fit has seen them.
        offset : optional
            Offset of new rows, as for ``result.decision_function()``.

        Returns
        -------
        DataFrame, a column for each level, on the index of `data`; NaN in rows with
        missing values
        """
        return self._chances(self.result.decision_function(data, offset=offset))

    @suggest_arguments
    def predict(
        self, data: object = None, *, threshold: float = 0.5, offset: object = None
    ) -> DataColumn:
        """Labels by the probability of the second level; missing if at the threshold.

        A label may differ from that of ``result.predict()``, which uses the sign of the
        score.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if omitted.
        threshold : float, default 0.5
            Rows with a larger probability of the second level are predicted as that
            level.
        offset : optional
            Offset of new rows, as for ``result.decision_function()``.

        Raises
        ------
        OptionError
            If `threshold` is not a probability.
        """
        upper = self.predict_proba(data, offset=offset).iloc[:, 1]
        return self.result.coding.predicted(upper, "na", probability_of(threshold))

    @suggest_arguments
    def confusion(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float = 0.5,
        positive: object = None,
        freq_weights: object = None,
        offset: object = None,
    ) -> ConfusionMatrix:
        """Confusion table of actual against predicted labels, with its statistics.

        Without new rows the labels follow from the out-of-fold `probabilities`; these
        are not independent trials, so there are no intervals and tests.

        Parameters
        ----------
        data, threshold, offset : optional
            As for `predict`.
        actual, positive, freq_weights : optional
            As for ``result.confusion()``.

        Raises
        ------
        OptionError
            If `threshold` is not a probability, or an argument for new rows is given
            without `data`.
        """
        result, counts, matrix = self.result, None, None
        labels: object = actual
        if data is None:
            check_rows_have_own(actual=actual, freq_weights=freq_weights, offset=offset)
            chances, labels = self.probabilities, self.validation.actual
        else:
            matrix = result._matrix(data, offset=offset)
            chances = self._chances(result._scores(matrix))
            labels = result._labels(data) if actual is None else actual
            counts = column_of_counts(freq_weights, result.counted, data)
        table = confusion(
            labels,
            result.coding.predicted(
                chances.iloc[:, 1], "na", probability_of(threshold)
            ),
            positive,
            levels=result.coding.levels,
            scores=chances.iloc[:, 1],
            probabilities=chances,
            freq_weights=counts,
        )
        if matrix is None:
            return replace(table, source="out of fold")
        return with_source(table, result, matrix, labels, counts)

    @suggest_arguments
    def thresholds(
        self,
        data: object = None,
        actual: object = None,
        *,
        metric: str | None = None,
        cost: object = None,
        positive: object = None,
        folds: object = None,
        repeats: int | None = None,
        groups: object = None,
        seed: int | None = 1,
        freq_weights: object = None,
        offset: object = None,
        workers: int | None = None,
        progress: bool = False,
    ) -> Thresholds:
        """Choose a threshold for ``predict(threshold=)``, estimate its performance.

        As ``result.thresholds()``, with probabilities instead of scores: out-of-fold
        `probabilities`, or those of new rows. Without new rows, the threshold of each
        fold is chosen by probabilities of its training rows, from 5 inner folds and a
        sigmoid of their scores.

        Parameters
        ----------
        data, actual, metric, cost, positive, seed, freq_weights, offset, workers, \
progress
            As for ``result.thresholds()``.
        folds, repeats, groups : optional
            For new rows, as there; without new rows the folds are those of
            `validation`.

        Raises
        ------
        OptionError
            If an option is not allowed.
        DataError
            If `data` are the rows of the fit.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ p34 + p43", train, lam=0.01)
        >>> calibrated = ps.calibrate(model, ps.SDCA(seed=1), seed=443)
        >>> found = calibrated.thresholds(cost={5: 1, 6: 4}, seed=443)
        >>> found.scale, found.usual, found.threshold < 0.5
        ('probability', 0.5, True)
        """
        result, drawn = self.result, self.validation.folds
        target, at = checked_target(metric, cost, positive, result.coding)
        new = not (data is None and actual is None)
        if new:
            rng = RRandom(seed)
            counts = column_of_counts(freq_weights, result.counted, data)
            table = self.confusion(data, actual, freq_weights=counts, offset=offset)
            folds = INNER if folds is None else folds
            repeats = 1 if repeats is None else repeats
            drawn, inside, outside = new_parts(
                table, data, counts, groups, folds, repeats, rng
            )
        else:
            if any(each is not None for each in (folds, repeats, groups)):
                raise OptionError("folds=, repeats= and groups= are of new rows.")
            check_rows_have_own(freq_weights=freq_weights, offset=offset)
            rng = RRandom(seed, sample_kind=self.validation.solver.sample_kind)
            inside, outside = calibrated_parts(self, rng, workers, progress)
        return evaluate_threshold(
            inside,
            outside,
            drawn,
            rng.seed,
            target,
            "probability",
            0.5,
            result.coding,
            at,
            out_of_fold=not new,
        )

    @property
    def probabilities(self) -> pd.DataFrame:
        """Out-of-fold probabilities of both levels, on the index of the rows.

        Of a row that was neither of the fit nor of the sigmoid; with repeats, the mean.
        """
        upper = self.logits.map(expit).mean(axis=1)
        levels = self.result.coding.levels
        return pd.DataFrame(dict(zip(levels, (1.0 - upper, upper), strict=True)))

    @cached_property
    def _losses(self) -> pd.DataFrame:
        problem, lines = self.result.problem, []
        scores = np.asarray(self.result.decision_function(), dtype=np.float64)
        seen = self.sigmoid.logits(scores)
        columns = [*self.logits.to_numpy(dtype=np.float64).T, seen]
        for name in ("brier_score", "log_loss"):
            found = []
            for column in columns:
                known = ~np.isnan(column)
                y, weights = problem.y[known], problem.outcome_weights[known]
                measure = fold_fits.MEASURES[name]
                found.append(float(measure(y, column[known][None], weights, "na")[0]))
            lines.append((name, float(np.mean(found[:-1])), found[-1]))
        return pd.DataFrame(lines, columns=["term", "estimate", "in_sample"])

    def tidy(self) -> pd.DataFrame:
        """Brier score and log loss: ``term, estimate, in_sample``.

        The estimate is cross-fitted: a row was neither of the fit nor of the sigmoid
        behind its probability. The scores that the sigmoid is fitted on are from fits
        that have seen it, so that it may be a little too good. ``in_sample`` is from
        ``predict_proba()`` on the rows of the fit, for comparison, and too optimistic.
        """
        return self._losses.copy()

    def reliability(
        self,
        bins: object = 10,
        *,
        strategy: Strategy | None = None,
        level: float = 0.95,
    ) -> Reliability:
        """Out-of-fold probabilities beside observed shares.

        Parameters
        ----------
        bins, strategy, level
            As for `pegasos_stats.reliability`.
        """
        return reliability(
            *(self.validation.actual, self.probabilities, bins),
            strategy=strategy,
            level=level,
        )

    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the reliability diagram of the out-of-fold probabilities.

        Parameters
        ----------
        ax, **line
            As for `Reliability.plot`.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        return self.reliability().plot(ax=ax, **line)

    def summary(self, *, details: bool = False) -> Summary:
        """Header, losses and notes; ``print()`` shows text, a notebook HTML.

        Parameters
        ----------
        details : bool, default False
            Whether to add the sigmoid, the folds and the solver.
        """
        frame = self._losses
        cells = {
            "cross-fitted": [significant(v) for v in frame["estimate"]],
            "in sample": [significant(v) for v in frame["in_sample"]],
        }
        table = pd.DataFrame(cells, frame["term"].tolist())
        return Summary(
            header_lines(self.result, addition=", Platt scaling"),
            table,
            self._notes(details),
            *(self._facts() if details else ((), ())),
            footer="" if details else MORE,
        )

    def _notes(self, details: bool) -> list[str]:
        notes = [
            "Cross-fitted: each row was neither in the fit nor in the sigmoid. In "
            "sample: the rows of the fit, which is too optimistic.",
        ]
        if self.without_scores:
            notes.insert(0, f"{self.without_scores}: {SHARES}.")
        if details:
            notes.append(
                "Probabilities, for levels as frequent as in the data, are "
                "1 / (1 + exp(A score + B)) of the score of the fit on all rows."
            )
        return notes

    def _chances(self, scores: "pd.Series[float]") -> pd.DataFrame:
        """Probabilities of both levels, from scores of the fit."""
        values = self.sigmoid.logits(np.asarray(scores, dtype=np.float64))
        return self.result.coding.probabilities(pd.Series(values, scores.index))

    def _facts(self) -> tuple[Fields, Fields]:
        """The sigmoid and its folds; the solver of the fit."""
        left = [
            ("Probability of:", str(self.result.coding.positive)),
            ("A:", significant(self.sigmoid.A, 6)),
            ("B:", significant(self.sigmoid.B, 6)),
            ("Folds:", self.validation.folds.kind),
            ("Seed of the folds:", str(self.validation.seed)),
        ]
        return left, solver_lines(self.result)
