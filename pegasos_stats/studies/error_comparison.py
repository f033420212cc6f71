"""Differences of errors out of fold, on the same folds, with paired intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.data.foreign import named
from pegasos_stats.errors import (
    DataError,
    OptionError,
    listing,
    shown,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.base import Model
from pegasos_stats.models.inference.wald import TIDY_COLUMNS, estimates
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.cross_validation import (
    CrossValidation,
    cross_validate,
)
from pegasos_stats.studies.selection.fold_fits import checked_fold_solver
from pegasos_stats.studies.selection.fold_metrics import (
    OF_LOSS,
    checked_metrics,
)
from pegasos_stats.tables import (
    Summarised,
    Summary,
    estimate_cells,
    headings_of_tests,
    significant,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MODELS = "give two models or more by name, not fitted, or their cross-validations."


class PairedMean(NamedTuple):
    """The mean of differences over folds, its standard error, degrees of freedom."""

    mean: float
    std_error: float
    df: float


@suggest_arguments
def compare_errors(
    models: object,
    solver: Pegasos | SDCA | None = None,
    *,
    metric: object = "error_rate",
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "ErrorComparison":
    """Compare models by out-of-fold errors: paired differences on the same folds.

    Each model is fitted on all folds but one and evaluated on the fold left out. The
    differences ``d_j`` of the metric in the ``J`` folds of all repeats have the mean
    ``d``; by the corrected resampled t-test, which allows for shared training rows ::

        se^2 = (1/J + n_test/n_train) s^2,    s^2 = sum_j (d_j - d)^2 / (J - 1)

    and ``d / se`` is compared with Student's t with ``J - 1`` degrees of freedom. Means
    are weighted by the weights of the held-out rows.

    Parameters
    ----------
    models : mapping of name to model or CrossValidation
        Models of the same rows and outcome, not fitted; or their cross-validations
        on the same folds.
    solver : Pegasos or SDCA, optional
        As for `cross_validate`, for all models.
    metric : str or callable, default "error_rate"
        A metric that `cross_validate` has for all of the models.
    folds, repeats, groups, seed, workers, progress
        As for `cross_validate`; with `groups` whole groups of rows are held out.

    Returns
    -------
    ErrorComparison
        With a row for each pair in ``tidy()``.

    Raises
    ------
    OptionError
        If there are fewer than two models, or an option is not allowed.
    DataError
        If they do not have the same rows, outcomes and folds.

    Notes
    -----
    For models with equal error rates, with 60 and 200 rows, nominal 95% intervals
    excluded 0 in 0% to 5% of samples, mostly in 1% or 2%; intervals from the
    differences of single rows did so in up to 12% (``benchmarks/paired_errors.py``).

    References
    ----------
    Nadeau & Bengio, *Inference for the generalization error*, Machine Learning 52
    (2003), 239-281; Bouckaert & Frank, *Evaluating the replicability of significance
    tests for comparing learning algorithms*, PAKDD (2004), for repeated folds.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> models = {
    ...     "one pixel": ps.svm("digit ~ p34", train, lam=0.01),
    ...     "all pixels": ps.svm("digit ~ .", train, lam=0.01),
    ... }
    >>> found = ps.compare_errors(models, folds=5, seed=443)
    >>> found.tidy()[["term", "estimate", "conf_low", "conf_high"]].round(3)
                         term  estimate  conf_low  conf_high
    0  one pixel - all pixels ...
    """
    given = named("models", models, Model | CrossValidation, MODELS, least=2)
    column = _metric_of_all(metric, given)
    first = next((v for v in given.values() if isinstance(v, CrossValidation)), None)
    _check_same(given, first)
    for each in given.values():
        if isinstance(each, Model):
            checked_fold_solver(each, solver, SDCA())
    found: dict[str, CrossValidation] = {}
    for name, each in given.items():
        if isinstance(each, Model):
            each = cross_validate(
                each,
                solver,
                folds=folds if first is None else first.folds,
                repeats=repeats if first is None else 1,
                groups=groups if first is None else None,
                seed=seed if first is None else first.seed,
                metrics=metric,
                workers=workers,
                progress=progress,
            )
        first = first or each
        found[name] = each
    return ErrorComparison(found, column)


def _check_same(given: Mapping[str, Any], first: CrossValidation | None) -> None:
    """Raise `DataError` unless all are of the same rows, outcomes and folds."""
    samples = [getattr(each, "model", each)._sample for each in given.values()]
    a = samples[0]
    for (name, each), b in zip(given.items(), samples, strict=True):
        same = np.array_equal(a.y, b.y) and a.index.equals(b.index)
        if not same or a.coding.levels != b.coding.levels:
            raise DataError(
                f"{shown(name)} is not of the rows and outcomes of the first model."
            )
        if (
            first is not None
            and isinstance(each, CrossValidation)
            and not np.array_equal(first.folds.assignment, each.folds.assignment)
        ):
            raise DataError(f"{shown(name)} has folds of its own, and no pairs.")


def _metric_of_all(metric: object, given: Mapping[str, Any]) -> str:
    """Name of the metric, or raise `OptionError` unless each model has it."""
    own: tuple[str, ...] = ()
    if not isinstance(metric, str) and callable(metric):
        own = tuple(each.name for each in checked_metrics(metric, "log"))
        metric = own[0]
    for name, each in given.items():
        known = [found.name for found in getattr(each, "metrics", ())]
        if isinstance(each, Model):
            known = [*own, *OF_LOSS[each.problem.loss]]
        if not isinstance(metric, str) or metric not in known:
            why = f"is no metric of {shown(name)}, which has {listing(known)}."
            raise OptionError(why, "metric", metric)
    return str(metric)


def paired_mean(differences: Vector, weights: Vector, share: float) -> PairedMean:
    """The mean of differences over folds, with the corrected standard error.

    Parameters
    ----------
    differences : float64 array, shape (J,)
        NaN where a fold has none.
    weights : float64 array, shape (J,)
    share : float
        ``n_test / n_train``.

    Examples
    --------
    >>> found = paired_mean(np.array([0.1, 0.3]), np.ones(2), 1.0)
    >>> round(found.mean, 3), round(found.std_error, 4), found.df
    (0.2, 0.1732, 1.0)
    """
    kept = ~np.isnan(differences)
    d, w = differences[kept], weights[kept]
    count = len(d)
    if count < 2:
        mean = float(d[0]) if count else np.nan
        return PairedMean(mean, np.nan, np.nan)
    mean = float(w @ d / w.sum())
    variance = float(w @ np.square(d - mean) / w.sum()) * count / (count - 1)
    return PairedMean(
        mean, float(np.sqrt((1.0 / count + share) * variance)), count - 1.0
    )


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class ErrorComparison(Summarised):
    """Comparison of models by out-of-fold errors; made by `compare_errors`.

    Attributes
    ----------
    cross_validations : mapping of name to CrossValidation
    metric : str

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> models = {loss: build("digit ~ .", train, lam=0.1)
    ...           for loss, build in [("hinge", ps.svm), ("log", ps.logit)]}
    >>> found = ps.compare_errors(models, metric="auc", folds=5, seed=1)
    >>> list(found.means)
    ['hinge', 'log']
    """

    cross_validations: Mapping[str, CrossValidation]
    metric: str

    @property
    def means(self) -> dict[str, float]:
        """Mean of the metric for each model."""
        each = self.cross_validations.items()
        return {name: float(found.mean[self.metric]) for name, found in each}

    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Differences for each pair of models: the first minus the second.

        Parameters
        ----------
        conf_level : float, default 0.95

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, p_value, conf_low,
            conf_high, df``.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1.
        """
        level, lines = check_fraction("conf_level", conf_level), []
        for a, b in combinations(self.cross_validations, 2):
            pair = self._paired(a, b)
            numbers = np.array([pair.mean]), np.array([pair.std_error])
            line = estimates(*numbers, pair.df, level)
            lines.append(line.assign(term=f"{a} - {b}", df=pair.df))
        return pd.concat(lines, ignore_index=True)[[*TIDY_COLUMNS, "df"]]

    def plot(
        self, *, conf_level: float = 0.95, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw the differences with their intervals, a row for each pair of models.

        Parameters
        ----------
        conf_level : float, default 0.95
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of points and intervals.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.forest import draw_differences

        return draw_differences(self.tidy(conf_level), self.metric, ax, line)

    def _paired(self, a: str, b: str) -> PairedMean:
        one, two = (self.cross_validations[name].by_fold for name in (a, b))
        differences = (one[self.metric] - two[self.metric]).to_numpy(dtype=np.float64)
        share = float((one["n_test"] / one["n_train"]).mean())
        return paired_mean(differences, one["weight"].to_numpy(), share)

    def summary(self, alpha: float = 0.05) -> Summary:
        """Means, differences and notes; ``print()`` shows text, a notebook HTML."""
        alpha = check_fraction("alpha", alpha)
        table = self.tidy(1.0 - alpha)
        headings = headings_of_tests(float(table["df"].iloc[0]))
        cells = estimate_cells(table, headings, alpha)
        cells = cells.rename(columns={"coef": "difference"})
        first = next(iter(self.cross_validations.values()))
        left = [(f"{name}:", significant(v)) for name, v in self.means.items()]
        right = [
            ("Metric:", self.metric),
            ("Folds:", first.folds.kind),
            ("Seed:", str(first.seed)),
            ("No. Observations:", f"{first.model.problem.n:,}"),
        ]
        notes = [
            "Each difference is the first less the second, on the same folds; standard "
            "errors are Nadeau and Bengio's, which allow for rows that fits share.",
        ]
        if same := list(table["term"][table["statistic"].isna()]):
            notes.append(f"{listing(same)}: no spread over the folds, and so no test.")
        return Summary(["Errors out of fold"], cells, notes, left, right)

    def __repr__(self) -> str:
        return self.summary().as_text()
