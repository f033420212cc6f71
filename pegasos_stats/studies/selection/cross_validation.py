"""Cross-validation, also nested: every row scored by a fit that has not seen it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn, Vector
from pegasos_stats.checks import check_choice, number_of
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.models.base import Model
from pegasos_stats.models.results import predicted
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import DEFAULT_EPOCHS, SDCA
from pegasos_stats.studies.selection import fold_fits
from pegasos_stats.studies.selection.fold_fits import Fitter, FoldFit, Task
from pegasos_stats.studies.selection.folds import (
    Folds,
    Split,
    check_classes,
    checked_folds,
    drawn_folds,
)
from pegasos_stats.studies.selection.lambda_path import (
    EPOCHS,
    RULES,
    LambdaPath,
    Rule,
    checked_lambdas,
    place,
)
from pegasos_stats.tables import Summarised, Summary, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@suggest_arguments
def cross_validate(
    model: Model,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    metrics: object = None,
    lambda_path: object = None,
    rule: Rule = "1se",
    workers: int | None = None,
    progress: bool = False,
) -> "CrossValidation":
    """Cross-validate a model: fit on all folds but one, score the fold left out.

    One stream of R's random numbers gives first the folds, then a seed for each fit:
    ``set.seed(seed)``, ``repeated_folds(y, k, repeats)`` and ``fit_seeds(k * repeats)``
    of ``r_reference``. If the solver has a seed, as `SDCA` always has, that is used in
    every fold instead.

    The scaling of ``standardize=True`` and transforms of a formula, such as ``scale()``
    and ``bs()``, are computed from the training rows of each fit. Factors keep the
    levels of all rows; a level without training rows has the coefficient 0. Balanced
    weights are those of all rows.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    solver : Pegasos or SDCA, optional
        By default SDCA to a relative gap of 1e-3.
    folds : int, Folds, Series or array, or list of pairs, default 10
        A number of stratified folds; the ``folds`` of another cross-validation; the
        fold of each row by number or label, with two dimensions a line for each repeat;
        or pairs ``(train, test)`` of positions among the rows used, counted from zero.
    repeats : int, default 1
        Number of times that folds are drawn.
    groups : str, Series, array or list, shape (n,), optional
        Groups of rows that depend on each other, as for ``SVM.fit``: each group is in
        one fold, levels are spread evenly, and errors are those of new groups.
    seed : int, default 1
        As for R's ``set.seed()``; None draws one.
    metrics : str, callable, or sequence of them, optional
        ``"error_rate"``, ``"auc"``; ``"hinge_loss"`` (hinge); ``"log_loss"``,
        ``"brier_score"`` (log loss); a function of labels -1, +1 and scores. By default
        all that suit the model's loss. Rows are weighted: with ``weights="balanced"``
        the error rate is that for levels of equal size.
    lambda_path : LambdaPath, True or sequence of float, optional
        Nested cross-validation: in each fold lambda is chosen from the training rows. A
        path gives the values, the number of folds and the metric; for a sequence of
        values, or True for those of `lambda_grid`, there are 10 folds. The estimate is
        for the whole procedure. The model's own lambda is not used. It is so, with the
        rule ``"min"``, for a model with ``lam="cv"``.
    rule : "1se" or "min", default "1se"
        Rule by which lambda is chosen, see `LambdaPath`.
    workers : int, optional
        Number of threads; all usable cores if omitted. Results do not depend on it.
        Each thread holds the rows of its fold or, with a kernel, of its Gram matrix.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    CrossValidation

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver does not suit the model.
    DataError
        If the training rows of a fold lack a level, folds are for other rows, or a fold
        splits a group.

    Warns
    -----
    ConvergenceWarning
        Once, if SDCA does not reach its tolerance in one or more folds.
    UndefinedMetricWarning
        If a metric is not defined in some fold, such as the area under the curve
        where a level has no held-out row.

    References
    ----------
    Stone, Journal of the Royal Statistical Society B 36 (1974), 111-147.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> found = ps.cross_validate(ps.svm("digit ~ .", train, lam=1), folds=5, seed=443)
    >>> found.by_fold["n_test"].tolist()
    [40, 40, 40, 40, 40]
    >>> bool(found.mean["error_rate"] == found.confusion().error_rate)
    True
    """
    model = fold_fits.checked_model(model)
    if model.problem.lam_rule == "cv" and lambda_path is None:
        lambda_path, rule = True, "min"
    choosing = checked_choosing(lambda_path, rule, model)
    default = SDCA(DEFAULT_EPOCHS if choosing is None else EPOCHS, fold_fits.FOLD_TOL)
    solver = fold_fits.checked_fold_solver(model, solver, default, choosing is None)
    chosen = fold_fits.checked_metrics(metrics, model.problem.loss)
    rng = RRandom(seed, sample_kind=solver.sample_kind)
    drawn = checked_folds(folds, repeats, model._sample, rng, groups)
    fitter = Fitter(model, solver, rng, workers, progress)
    if choosing is None:
        lam = np.array([model.problem.lam])
        fits = fitter.fits(fitter.tasks(drawn.splits), lam)
    else:
        fits, lams = nested_fits(fitter, drawn, choosing)
    fold_fits.warn_of_gaps(solver, fits)
    scores = np.full((model.problem.n, drawn.repeats), np.nan)
    for split, (fit,) in zip(drawn.splits, fits, strict=True):
        scores[split.test, split.repeat - 1] = fit.scores
    columns = pd.RangeIndex(1, drawn.repeats + 1, name="repeat")
    by_fold = fold_fits.fold_lines(fitter, drawn, fits, chosen)
    if choosing is not None:
        by_fold.insert(2, "lam", lams)
    fold_fits.warn_undefined(by_fold, chosen)
    return CrossValidation(
        model=model,
        solver=solver,
        folds=drawn,
        seed=rng.seed,
        metrics=chosen,
        by_fold=by_fold,
        scores_by_repeat=pd.DataFrame(scores, model._sample.index, columns),
        choosing=choosing,
    )


@suggest_names("validation")
@dataclass(frozen=True, repr=False, eq=False)
class CrossValidation(Summarised):
    """Cross-validated performance of a model; made by `cross_validate`.

    Attributes
    ----------
    model : Model
    solver : Pegasos or SDCA
    folds : Folds
        Folds, which can be given to another cross-validation of the same rows.
    seed : int or None
        Seed of the folds, if they were drawn, and of the fits.
    metrics : tuple of Metric
    by_fold : DataFrame
        One line for each fold: ``repeat, fold, n_train, n_test``, ``weight`` (of the
        held-out rows), ``decided`` (the weight of those with a predicted label),
        ``seed, steps, objective, relative_gap`` (of the fit) and the metrics; with
        nested choice of lambda also ``lam``.
    scores_by_repeat : DataFrame, shape (n, repeats)
        Out-of-fold scores: each row's score by the fit that has not seen it; NaN for a
        row that is never held out.
    choosing : Choosing or None
        How lambda was chosen in each fold; None if it was not.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> found = ps.cross_validate(ps.logit("digit ~ .", train, lam=1), folds=5, seed=1)
    >>> found.tidy()["term"].tolist()
    ['error_rate', 'log_loss', 'brier_score', 'auc']
    """

    model: Model
    solver: Pegasos | SDCA
    folds: Folds
    seed: int | None
    metrics: tuple[fold_fits.Metric, ...]
    by_fold: pd.DataFrame
    scores_by_repeat: pd.DataFrame
    choosing: "Choosing | None" = None

    def tidy(self) -> pd.DataFrame:
        """Metrics, one per row: ``term, estimate, std_error``, as in broom.

        The estimate is the mean over the folds, weighted by their held-out rows. The
        standard error is that of a single repeat (root mean square over the repeats).
        Folds share training rows, so it is an approximation and rather too small; for
        nested cross-validation it is multiplied by `correction_factor`.
        """
        lines = []
        for metric in self.metrics:
            (mean,), (error,) = fold_fits.curve(self.by_fold, metric.name)
            lines.append((metric.name, float(mean), float(error)))
        found = pd.DataFrame(lines, columns=["term", "estimate", "std_error"])
        if self.choosing is not None:
            found["std_error"] *= correction_factor(self.by_fold)
        return found

    @property
    def mean(self) -> "pd.Series[float]":
        """Mean of each metric over the folds."""
        return self.tidy().set_index("term")["estimate"]

    @property
    def std_error(self) -> "pd.Series[float]":
        """Standard error of each mean; NaN with a single fold."""
        return self.tidy().set_index("term")["std_error"]

    @property
    def scores(self) -> "pd.Series[float]":
        """Out-of-fold scores, the mean over the repeats, on the index of the rows."""
        return self.scores_by_repeat.mean(axis=1).rename("score")

    @property
    def actual(self) -> DataColumn:
        """Labels of the rows."""
        sample = self.model._sample
        return sample.coding.decode(sample.y, sample.index)

    @property
    def probabilities(self) -> pd.DataFrame:
        """Out-of-fold probabilities of a logistic model, from `scores`.

        Raises
        ------
        OptionError
            If the model has the hinge loss.
        """
        if self.model.problem.loss != "log":
            raise OptionError("The hinge loss has none; ps.calibrate() gives some.")
        odds = self.scores - self.model.problem.prior_shift
        return self.model.coding.probabilities(odds)

    def confusion(
        self,
        repeat: int = 1,
        *,
        ties: Ties | None = None,
        threshold: float | None = None,
    ) -> ConfusionMatrix:
        """Confusion table of actual against out-of-fold predicted labels of one repeat.

        Rows count once, whatever their weight, unless it is 0. Rows share fits: there
        are no intervals and tests; `tidy` has standard errors. The AUC, ``auc_pooled``,
        is of the pooled scores of all folds, and may be far from the mean over folds.

        Parameters
        ----------
        repeat : int, default 1
        ties, threshold : optional
            As for `Results.predict`.

        Raises
        ------
        OptionError
            If there is no such repeat, or `threshold` is not allowed.
        """
        if number_of(repeat) not in self.scores_by_repeat.columns:
            raise OptionError(f"is not 1 to {self.folds.repeats}.", "repeat", repeat)
        column, problem = self.scores_by_repeat[repeat], self.model.problem
        tested, coding = column.notna().to_numpy(dtype=bool), self.model.coding
        scores, logistic = column[tested], problem.loss == "log"
        ties = self.solver.ties if ties is None else ties
        odds, counts = scores - problem.prior_shift, problem.counting
        found = confusion(
            self.actual[tested],
            predicted(scores, problem, coding, ties, threshold),
            levels=coding.levels,
            scores=scores,
            probabilities=coding.probabilities(odds) if logistic else None,
            freq_weights=None if counts is None else counts[tested],
        )
        return replace(found, source="out of fold")

    def plot(self) -> "Figure":
        """Draw each metric in a panel: values of the folds, mean and standard error.

        Returns
        -------
        matplotlib Figure

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_folds

        return draw_folds(self.by_fold, self.tidy())

    def plot_roc(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the ROC curve of each fold, thin, and their mean.

        The mean is that of the true positive rates at each false positive rate. Folds
        without rows of both levels have no curve, and the legend counts them.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of the mean curve, such as ``color`` or ``label``.

        Raises
        ------
        DataError
            If no fold has rows of both levels.
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.scores import draw_fold_rocs

        codes = (self.model._sample.y > 0.0).astype(np.intp)
        scores = self.scores_by_repeat.to_numpy(dtype=np.float64)
        parts = [
            (codes[split.test], scores[split.test, split.repeat - 1])
            for split in self.folds.splits
        ]
        return draw_fold_rocs(parts, self.model.coding.levels, ax, line)

    def summary(self) -> Summary:
        """Header, metrics and notes; ``print()`` shows text, a notebook HTML."""
        found = self.tidy().set_index("term")
        folds = self.by_fold[list(found.index)]
        columns = {
            "mean": found["estimate"],
            "std err": found["std_error"],
            "lowest fold": folds.min(),
            "highest fold": folds.max(),
        }
        left = dict(fold_fits.model_fields(self.model))
        notes = [
            "Means over the folds, weighted by their held-out rows; standard errors of "
            "one repeat, from the spread of the folds, which share training rows.",
        ]
        if self.choosing is not None:
            ends = self.by_fold["lam"].agg(["min", "max"]).unique()
            left["lambda:"] = " to ".join(map(significant, ends))
            inner = counted(self.choosing.folds, "fold")
            notes.append(
                f"Nested: each fold chooses lambda from its training rows, by {inner}, "
                f"{self.choosing.metric.name} and the rule {self.choosing.rule}; "
                "standard errors are Nadeau and Bengio's."
            )
        gap = float(self.by_fold["relative_gap"].max())
        right = fold_fits.run_fields(self.solver, self.folds, self.seed, gap)
        table = pd.DataFrame(columns).map(significant)
        return Summary(["Cross-validation"], table, notes, [*left.items()], right)


INNER = 10  # folds, unless an earlier path says how many


@dataclass(frozen=True, eq=False)
class Choosing:
    """How lambda is chosen from the rows of a fit.

    Attributes
    ----------
    lambdas : float64 array, shape (m,)
        Largest first.
    folds, repeats : int
        Of the rows of each fit.
    metric : Metric
        The one that decides.
    rule : "1se" or "min"
    """

    lambdas: Vector
    folds: int
    repeats: int
    metric: fold_fits.Metric
    rule: Rule


def checked_choosing(lambda_path: object, rule: Rule, model: Model) -> Choosing | None:
    """Read how lambda is to be chosen; None if it is that of the model.

    Parameters
    ----------
    lambda_path : None, False, True, LambdaPath or sequence of float
    rule : "1se" or "min"
    model : Model

    Raises
    ------
    OptionError
        If lambdas or rule are not allowed.
    """
    check_choice("rule", rule, RULES)
    if lambda_path is None or lambda_path is False:
        return None
    usual = LOSSES[model.problem.loss].decides
    (metric,) = fold_fits.checked_metrics(usual, model.problem.loss)
    if not isinstance(lambda_path, LambdaPath):
        given = None if lambda_path is True else lambda_path
        return Choosing(checked_lambdas(given, model), INNER, 1, metric, rule)
    metric = next(m for m in lambda_path.metrics if m.name == lambda_path.metric)
    folds = lambda_path.folds
    size = (INNER, 1) if folds is None else (folds.k, folds.repeats)
    return Choosing(lambda_path.lambdas, *size, metric, rule)


def nested_fits(
    fitter: Fitter, folds: Folds, choosing: Choosing
) -> tuple[list[list[FoldFit]], list[float]]:
    """Fit the rows of each fold at the lambda that their own cross-validation chose.

    Returns
    -------
    fits : list of lists of one Fit
        One for each fold.
    lambdas : list of float
        Those chosen.
    """
    metric, lambdas = choosing.metric, choosing.lambdas
    sizes = choosing.folds, choosing.repeats
    outer, inner = inner_fits(fitter, folds, sizes, lambdas)
    found, chosen = [], []
    for whole, (part, own) in zip(outer, inner, strict=True):
        lines = fold_fits.fold_lines(fitter, part, own, [metric])
        mean, error = fold_fits.curve(lines, metric.name, len(lambdas))
        at = place(-mean if metric.larger_is_better else mean, error, choosing.rule)
        found.append([whole[at]])
        chosen.append(float(lambdas[at]))
    return found, chosen


def inner_fits(
    fitter: Fitter,
    folds: Folds,
    sizes: tuple[int, int],
    lambdas: Vector,
    outer: Sequence[Task] | None = None,
) -> tuple[list[list[FoldFit]], list[tuple[Folds, list[list[FoldFit]]]]]:
    """Fit the rows of each fold, and those of folds of these rows, at each lambda.

    Parameters
    ----------
    sizes : pair of int
        Number of the inner folds, and of their repeats.
    outer : sequence of Task, optional
        The fits of the folds themselves; by default one for each, with seeds drawn
        together with those of the inner folds.

    Returns
    -------
    outer : list of lists of Fit
    inner : list of (Folds, list of lists of Fit), for each fold
    """
    model, rng = fitter.model, fitter.rng
    inner = [inner_folds(model, folds, s, *sizes, rng) for s in folds.splits]
    every = [split for each in inner for split in each.splits]
    if outer is None:
        tasks = fitter.tasks([*folds.splits, *every])
    else:
        tasks = [*outer, *fitter.tasks(every)]
    fits = fitter.fits(tasks, lambdas)
    count = len(tasks) - len(every)
    rest = iter(fits[count:])
    return fits[:count], [(each, [next(rest) for _ in each.splits]) for each in inner]


def correction_factor(by_fold: pd.DataFrame) -> float:
    """What a standard error is multiplied by, as folds share the rows that they fit.

    ``sqrt(1 + k n_test / n_train)`` for ``k`` folds of a repeat. On noise, of 60 to 200
    rows, an estimate plus 1.96 errors was below the truth in 8% to 12% of samples
    without it.

    Parameters
    ----------
    by_fold : DataFrame
        Columns ``repeat, n_train, n_test``.

    References
    ----------
    Nadeau & Bengio, *Inference for the generalization error*, Machine Learning 52
    (2003), 239-281, section 3.3.

    Examples
    --------
    >>> lines = {"repeat": [1] * 10, "n_train": [90] * 10, "n_test": [10] * 10}
    >>> round(correction_factor(pd.DataFrame(lines)), 3)
    1.453
    """
    k = len(by_fold) / by_fold["repeat"].nunique()
    share = float((by_fold["n_test"] / by_fold["n_train"]).mean())
    return float(np.sqrt(1.0 + k * share))


def inner_folds(
    model: Model, folds: Folds, split: Split, k: int, repeats: int, rng: RRandom
) -> Folds:
    """Folds of the rows of a fit, as rows of the whole.

    Whole groups stay together if they do in `folds`. There are at most as many folds as
    rows, or groups.
    """
    rows, y = split.train, model.problem.y
    codes = (y[rows] > 0).astype(np.intp)
    groups, most = None, len(rows)
    if folds.groups is not None:
        groups = pd.factorize(folds.groups[rows])[0]
        most = int(groups.max()) + 1
    drawn = drawn_folds(codes, min(k, most), repeats, rng, groups)
    splits = tuple(
        Split(each.repeat, each.fold, rows[each.test], split.n, rows[each.train])
        for each in drawn.splits
    )
    found = Folds(splits, split.n)
    check_classes(found, y * (model.problem.row_weights > 0.0), model.coding)
    return found
