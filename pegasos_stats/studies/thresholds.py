"""Selection of a decision threshold on held-out scores, and its performance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pegasos_stats import checks
from pegasos_stats.arrays import Axes, Rows, Vector
from pegasos_stats.data.design import row_labels
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.formula_design import Unseen
from pegasos_stats.data.sample import RowIndex, column_of_counts, repeated
from pegasos_stats.data.user_data import position_of
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics import scores
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.metrics.scores import Decisions, ScoredRows, Target
from pegasos_stats.models.results import Results, thresholded
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies import fold_fits
from pegasos_stats.studies.fold_fits import FoldFitter
from pegasos_stats.studies.folds import Folds, draw_folds, whole_groups
from pegasos_stats.tables import Summarised, Summary, significant

SCALE_RANGE = {"score": (-np.inf, np.inf), "probability": (0.0, 1.0)}
INNER_FOLDS = 5  # inner folds that select the threshold of a fit
METRIC = "balanced_accuracy"
LARGEST_COST = 1e100  # the square must not overflow
BOTH = ("false_positive", "false_negative")


def scale_of(problem: Problem) -> str:
    """Return the scale of ``predict(threshold=)``."""
    return "probability" if problem.loss == "log" else "score"


@suggest_names("thresholds")
@dataclass(frozen=True, repr=False, eq=False)
class Thresholds(Summarised):
    """A selected threshold and its performance; returned by ``result.thresholds()``.

    Attributes
    ----------
    threshold : float
        Selected threshold, for ``predict(threshold=)`` and ``confusion(threshold=)``.
        A threshold at an end of the scale, which is an infinite score or the
        probability 0 or 1, predicts one class for all rows.
    usual : float
        Default threshold: the score 0, or the corresponding probability.
    scale : "score" or "probability"
        Scale of the thresholds: the score, or for the log loss the probability of the
        second level.
    target : Target
        Metric that the threshold maximises, or error rate or cost that it minimises.
    positive : label
        Positive class.
    levels : pair of labels
    folds : Folds
    seed : int or None
    out_of_fold : bool
        True for out-of-fold scores of the training rows, False for scores of new rows.
    by_fold : DataFrame
        One row per fold: ``repeat, fold, n_train, n_test, weight``, the ``threshold``
        selected without the rows of the fold, and the metric or cost of this threshold
        in the fold. The column with the suffix ``_usual`` refers to the default
        threshold.
    table : DataFrame
        One row per candidate: ``threshold``, the metrics, and ``cost`` if costs were
        specified. The values at the selected threshold are optimistic, because the same
        data selected it.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ p34 + p43", train, lam=0.01).fit(ps.Optimum(seed=1))
    >>> thresholds = result.thresholds(cost={5: 1, 6: 4}, seed=443)
    >>> thresholds.tidy()["term"].tolist()
    ['chosen', 'usual']
    >>> thresholds.threshold < thresholds.usual
    True
    """

    threshold: float
    usual: float
    scale: str
    target: Target
    positive: object
    levels: tuple[object, object]
    folds: Folds
    seed: int | None
    out_of_fold: bool
    by_fold: pd.DataFrame
    table: pd.DataFrame
    _judged: tuple[tuple[Decisions, Decisions], ...]

    _field_rules = "seed seed"

    @property
    def estimate(self) -> float:
        """Estimated metric or cost, on new rows, of a threshold selected in this way.

        Nested cross-validation selects the threshold of each fold without its rows,
        evaluates it on them, and pools the decisions of all folds.
        """
        return float(self.tidy()["estimate"].iloc[0])

    @property
    def std_error(self) -> float:
        """Standard error of `estimate`, by the jackknife over the folds."""
        return float(self.tidy()["std_error"].iloc[0])

    @property
    def apparent(self) -> float:
        """Optimistic metric or cost on the rows that selected the threshold."""
        at = self.table["threshold"] == self.threshold
        return float(self.table.loc[at, self.target.name].iloc[0])

    def tidy(self) -> pd.DataFrame:
        """Return estimates for new rows: ``term, threshold, estimate, std_error``.

        The row ``chosen`` is the selected threshold, the row ``usual`` the default. The
        decisions of all folds of a repeat are pooled, and estimates are means over the
        repeats. The standard error refers to a single repeat and comes from the
        delete-one-fold jackknife. For out-of-fold scores it includes Nadeau and
        Bengio's factor for shared training rows.
        """
        chosen, usual = zip(*self._judged, strict=True)
        lines = [
            ("chosen", self.threshold, *self._pooled(chosen)),
            ("usual", self.usual, *self._pooled(usual)),
        ]
        columns = ["term", "threshold", "estimate", "std_error"]
        return pd.DataFrame(lines, columns=columns)

    def _pooled(self, judged: Sequence[Decisions]) -> tuple[float, float]:
        """Return the mean over the repeats, and its standard error for one repeat."""
        tables, repeats = np.array([d.tables for d in judged]), self.by_fold["repeat"]
        means, variances = [], []
        for repeat in repeats.unique():
            own = tables[(repeats == repeat).to_numpy()]
            k, total = len(own), own.sum(axis=0)
            means.append(float(self.target.of(total)[0]))
            jackknife = np.array([self.target.of(total - part)[0] for part in own])
            spread = float(np.square(jackknife - jackknife.mean()).sum())
            variances.append(spread * (k - 1) / k if k > 1 else np.nan)
        factor = fold_fits.correction_factor(self.by_fold) if self.out_of_fold else 1.0
        return float(np.mean(means)), factor * float(np.sqrt(np.mean(variances)))

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the metric or cost against the threshold, and mark the selected one.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the lines, such as ``color`` or ``label``.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_thresholds

        return draw_thresholds(self, ax, line)

    def summary(self) -> Summary:
        """Summarise both thresholds, with a header and notes."""
        estimates, target = self.tidy(), self.target
        table = estimates.set_index("term").map(significant)
        table.columns = ["threshold", target.name, "std err"]
        best = f"{'largest' if target.larger_is_better else 'smallest'} {target.name}"
        left = [
            ("Class above threshold:", str(self.levels[1])),
            ("Scale:", self.scale),
            ("Positive class:", str(self.positive)),
            ("Best:", best),
        ]
        right = [
            ("Rows:", "out of fold" if self.out_of_fold else "new"),
            ("Folds:", self.folds.kind),
            ("Seed:", str(self.seed)),
        ]
        low, high = map(significant, self.by_fold["threshold"].agg(["min", "max"]))
        notes = [
            "Nested cross-validation: the thresholds, each chosen without the rows of "
            f"one fold, range from {low} to {high}.",
            f"On the rows that selected the threshold the {target.name} is "
            f"{significant(self.apparent)}, which is optimistic.",
        ]
        return Summary(["Threshold"], table, notes, left, right)


@dataclass(frozen=True)
class ThresholdRule:
    """Criterion and scale for the selection of a threshold.

    Attributes
    ----------
    target : Target
    positive : int
        Position of the positive class.
    coding : LabelCoding
    scale : "score" or "probability"
    usual : float
        Default threshold.
    """

    target: Target
    positive: int
    coding: LabelCoding
    scale: str
    usual: float

    @classmethod
    def of(
        cls,
        metric: object,
        cost: object,
        positive: object,
        coding: LabelCoding,
        scale: str,
        usual: float,
    ) -> "ThresholdRule":
        """Validate the criterion and the positive class.

        Parameters
        ----------
        metric : str or None
        cost : dict or None
            Costs with keys ``"false_positive"`` and ``"false_negative"``, or the costs
            of misclassifying a row of each level.
        positive : label or None
            By default the second level.
        coding, scale, usual
            See `ThresholdRule`.

        Raises
        ------
        OptionError
            If both criteria are specified, or a cost or level is invalid.
        """
        levels, at = coding.levels, positive_position(coding.levels, positive)
        if cost is None:
            name = METRIC if metric is None else metric
            checks.check_choice("metric", name, scores.CHOOSING)
            return cls(Target(str(name)), at, coding, scale, usual)
        if metric is not None:
            raise OptionError("excludes cost=; pass one of them.", "metric", metric)
        # A false positive is a row of the other class than the positive one.
        by_error = levels[1 - at], levels[at]
        costs = dict(cost) if isinstance(cost, Mapping) else {}
        for names in (by_error, BOTH):
            paid = {position_of(key, names): costs[key] for key in costs}
            if sorted(paid) == [0, 1]:
                pair = [checks.check_nonnegative("cost", paid[j]) for j in (0, 1)]
                if 0.0 < max(pair) <= LARGEST_COST:
                    return cls(Target("cost", *pair), at, coding, scale, usual)
        why = f"is not allowed; pass {{{levels[0]!r}: 1, {levels[1]!r}: 5}}."
        raise OptionError(why, "cost", cost)

    def best(self, rows: ScoredRows) -> tuple[float, Vector, Decisions]:
        """Return the best threshold for some rows, all candidates, and their decisions.

        Raises
        ------
        DataError
            If a level has no rows.
        """
        sides = (~rows.second, rows.second)
        for mark, level in zip(sides, self.coding.levels, strict=True):
            if not rows.weights[mark].any():
                raise DataError(
                    f"A threshold needs rows of both classes; {level!r} has none."
                )
        ends = SCALE_RANGE[self.scale]
        at, decisions = scores.cut(rows, self.positive == 1, self.usual, ends)
        return float(at[self.target.best(at, decisions, self.usual)]), at, decisions

    def thresholds(
        self,
        folds: Folds,
        seed: int | None,
        inside: Sequence[ScoredRows],
        outside: Sequence[ScoredRows],
        *,
        out_of_fold: bool = True,
    ) -> Thresholds:
        """Select a threshold on all rows, and evaluate the selection in each fold.

        Parameters
        ----------
        folds : Folds
        seed : int or None
        inside, outside : sequences of ScoredRows, one for each fold
            Rows to select a threshold, and rows to evaluate it. All scores come from
            fits without these rows.
        out_of_fold : bool
        """
        target, usual, second = self.target, self.usual, self.positive == 1
        lines, judged = [], []
        for split, own, others in zip(folds.splits, inside, outside, strict=True):
            at, *_ = self.best(own)
            judged.append((others.at(at, second), others.at(usual, second)))
            values = [float(target.of(side.tables)[0]) for side in judged[-1]]
            line = {
                "repeat": split.repeat,
                "fold": split.fold,
                "n_train": split.n_train,
                "n_test": len(split.test),
                "weight": float(others.weights.sum()),
                "threshold": at,
            }
            names = target.name, f"{target.name}_usual"
            lines.append(line | dict(zip(names, values, strict=True)))
        all_rows = map(np.concatenate, zip(*outside, strict=True))
        threshold, candidates, decisions = self.best(ScoredRows(*all_rows))
        table = pd.DataFrame({"threshold": candidates})
        for name, measure in scores.METRICS.items():
            table[name] = measure(decisions.tables)
        if target.name == "cost":
            table["cost"] = target.of(decisions.tables)
        return Thresholds(
            threshold=threshold,
            usual=usual,
            scale=self.scale,
            target=target,
            positive=self.coding.levels[self.positive],
            levels=self.coding.levels,
            folds=folds,
            seed=seed,
            out_of_fold=out_of_fold,
            by_fold=pd.DataFrame(lines),
            table=table,
            _judged=tuple(judged),
        )

    def by_new_rows(
        self,
        table: ConfusionMatrix,
        data: object,
        counts: object,
        groups: object,
        folds: object,
        repeats: object,
        seed: int | None,
    ) -> Thresholds:
        """Select a threshold on new rows, repeated by their frequencies.

        Rows without a label or a score are ignored. The threshold of a fold is selected
        on the other folds.

        Raises
        ------
        DataError
            If rows are not in memory.
        """
        scored, rng, codes = table.scored, RRandom(seed), None
        if scored is None or scored.scores is None:
            raise DataError("A threshold needs rows in memory; pass a data frame.")
        chances = scored.probability(1)
        values = scored.scores if chances is None else chances
        used = (scored.codes >= 0) & ~np.isnan(values)
        second = scored.codes[used] > 0
        if groups is not None:
            index = row_labels(data)
            positions = np.arange(len(index))
            if counts is not None:
                positions = repeated(counts, data, index)
            codes = whole_groups(RowIndex.of(data, positions[used], index), groups)
        partition = draw_folds(second.astype(np.intp), folds, repeats, rng, codes)
        rows = ScoredRows(values[used], second, np.ones(len(second)))
        inside = [rows.subset(split.train) for split in partition.splits]
        outside = [rows.subset(split.test) for split in partition.splits]
        return self.thresholds(partition, rng.seed, inside, outside, out_of_fold=False)


@suggest_arguments
def thresholds(
    result: Results,
    data: object = None,
    actual: object = None,
    *,
    metric: str | None = None,
    cost: object = None,
    positive: object = None,
    folds: object = INNER_FOLDS,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    unseen: Unseen = "error",
    freq_weights: object = None,
    offset: object = None,
    workers: int | None = None,
    progress: bool = False,
) -> Thresholds:
    """Select a threshold for ``predict(threshold=)`` and estimate its performance.

    The selection uses held-out scores: out-of-fold scores of the same model and
    solver, from folds as in `cross_validate`, or scores of new rows. Nested
    cross-validation estimates the performance of the procedure. For each fold, a
    threshold is selected on the other folds and evaluated on this fold. This
    inner selection uses out-of-fold scores from 5 inner folds, or the scores of the
    new rows.

    Candidates are the midpoints between neighbouring scores, and the two ends of the
    scale; the default threshold replaces the midpoint of the two scores that enclose
    it. Ties go to the candidate nearest to the default threshold. Thresholds are on the
    scale of `predict`.

    Metrics and costs use ``freq_weights=`` and weights of rows. Class weights, such as
    ``"balanced"``, apply only to the fits.

    Parameters
    ----------
    data, actual, unseen, freq_weights, offset : optional
        New rows, as for `confusion`; by default out-of-fold scores are used.
    metric : str, optional
        Metric to maximise: ``"balanced_accuracy"``, the default, ``"youden"``,
        ``"accuracy"``, ``"kappa"``, ``"mcc"``, ``"f1"``, ``"f0.5"``, ``"f2"``; or
        to minimise: ``"error_rate"``.
    cost : dict, optional
        Costs, instead of a metric; their mean over the rows is minimised. State the
        cost of each kind of error, ``{"false_positive": 1, "false_negative": 5}``, or
        of misclassifying a row of each class, ``{"no": 1, "yes": 5}``.
    positive : label, optional
        Positive class; by default the second class.
    folds, repeats, groups, seed, workers, progress
        As for `cross_validate`. By default folds do not split the groups of
        ``fit(groups=)``, or of the first of two groupings.

    Returns
    -------
    Thresholds
        With ``threshold``, ``estimate``, ``std_error``, ``table``, ``plot()``.

    Raises
    ------
    OptionError
        If an option is not allowed.
    DataError
        If `data` contain training rows, or are omitted although the training rows are
        not in memory.

    References
    ----------
    Varma & Simon, *Bias in error estimation when using cross-validation for model
    selection*, BMC Bioinformatics 7 (2006), 91.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ p34 + p43", train, lam=0.01).fit(ps.Optimum(seed=1))
    >>> cost = {"false_positive": 1, "false_negative": 5}
    >>> chosen = result.thresholds(cost=cost, seed=443)
    >>> usual, low = (
    ...     result.confusion(test, threshold=t).table.loc[6, 5]
    ...     for t in (0.0, chosen.threshold)
    ... )
    >>> bool(low < usual)
    True
    """
    problem, model = result.problem, result.full_model
    usual = float(thresholded(np.zeros(1), problem)[0])  # where the score is 0
    scale = scale_of(problem)
    rule = ThresholdRule.of(metric, cost, positive, result.coding, scale, usual)
    if not (data is None and actual is None):
        counts = column_of_counts(freq_weights, result.counted, data)
        table = result.confusion(
            data, actual, unseen=unseen, freq_weights=counts, offset=offset
        )
        if table.source.endswith("training"):
            advice = "pass new rows" if model is None else "omit data or pass new rows"
            raise DataError(f"data contain training rows; {advice}.")
        return rule.by_new_rows(table, data, counts, groups, folds, repeats, seed)
    checks.check_rows_have_own(freq_weights=freq_weights, offset=offset)
    if model is None:
        raise DataError(
            "Loaded fits and fits to files do not store their rows; pass new rows."
        )
    solver = result.refinement or result.solver
    fitter = FoldFitter.of(model, solver, Optimum(), seed, workers, progress)
    if groups is None and (own := getattr(result, "groups", None)) is not None:
        groups = replace(own, codes=own.codes[:1])  # the first of two groupings
    partition = fitter.folds(folds, repeats, groups)
    # The same seeds as in `cross_validate` lead to the same scores.
    outer = fitter.tasks(partition.splits)
    own, within = fitter.nested(
        partition, INNER_FOLDS, 1, np.array([problem.lam]), outer
    )
    fitter.warn_of_gaps([*own, *(fit for _, fits in within for fit in fits)])
    outside = [
        rows_of(problem, split.test, fit.scores)
        for split, (fit,) in zip(partition.splits, own, strict=True)
    ]
    inside = []
    for part, fits in within:  # training rows of a fold, out of its inner folds
        tested = np.concatenate([split.test for split in part.splits])
        scored = np.concatenate([fit.scores for (fit,) in fits])
        inside.append(rows_of(problem, tested, scored))
    return rule.thresholds(partition, fitter.rng.seed, inside, outside)


def rows_of(problem: Problem, rows: Rows, values: Vector) -> ScoredRows:
    """Return rows with their scores on the scale of ``predict(threshold=)``."""
    values = thresholded(values, problem)
    return ScoredRows(values, problem.y[rows] > 0.0, problem.outcome_weights[rows])
