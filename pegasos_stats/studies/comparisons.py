"""Comparisons of models, fits and solvers: error rates, coefficients, ROC curves."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from textwrap import wrap
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from pegasos_stats import checks, errors, parallel, tables
from pegasos_stats.arrays import Axes, DataColumn, Vector
from pegasos_stats.data.sample import column_named
from pegasos_stats.data.user_data import is_name, named
from pegasos_stats.errors import DataError, OptionError, counted, listing, shown
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics import inputs, intervals
from pegasos_stats.metrics.caret import format_pval
from pegasos_stats.metrics.confusion import checked_names
from pegasos_stats.metrics.rates import warn_undefined
from pegasos_stats.metrics.scores import RocCurve, roc_curve
from pegasos_stats.models.inference.options import Bootstrap, Sandwich
from pegasos_stats.models.inference.wald import INTERVAL_ENDS, TIDY_COLUMNS, estimates
from pegasos_stats.models.linear import Model
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import INTERCEPT
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.optimum import AnySolver
from pegasos_stats.solvers.options import Solver
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.studies import cross_validation, fold_fits
from pegasos_stats.studies.cross_validation import CrossValidation

MODELS = "pass at least two models by name, not fitted, or their cross-validations."
FITS = "pass fits by name, such as {'hinge': a, 'log': b}, or a list of them."
STARS = (0.001, 0.01, 0.05)
SOLVERS = (
    "pass solvers by name: {'Pegasos': ps.Pegasos(epochs=20), 'Optimum': ps.Optimum()}."
)
MEASURES = (
    *("objective", "gap", "relative_gap", "violations"),
    *("training_error", "test_error", "cpu_seconds"),
)
QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


@suggest_arguments
def compare_errors(
    models: object,
    solver: AnySolver | None = None,
    *,
    metric: object = "error_rate",
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "ErrorComparison":
    """Compare models by paired differences of out-of-fold metrics on the same folds.

    Each model is fitted to all folds but one and evaluated on the held-out fold. The
    differences ``d_j`` of the metric in the ``J`` folds of all repeats have the mean
    ``d``. The corrected resampled t-test, which allows for training rows shared by the
    folds, uses ::

        se^2 = (1/J + n_test/n_train) s^2,    s^2 = sum_j (d_j - d)^2 / (J - 1)

    and ``d / se`` is compared with Student's t with ``J - 1`` degrees of freedom. The
    ratio ``n_test/n_train`` is averaged over the folds. In ``d`` and ``s^2``, each fold
    is weighted by the total weight of its held-out rows.

    Parameters
    ----------
    models : mapping of name to model or CrossValidation
        Models of the same rows and outcome, before ``fit()``; or their
        cross-validations on the same folds, whose folds and seed are then used.
    solver : Optimum, Pegasos or SDCA, optional
        As for `cross_validate`, for all models.
    metric : str or callable, default "error_rate"
        A metric of `cross_validate` for all models.
    folds, repeats, groups, seed, workers, progress
        As for `cross_validate`; with `groups`, whole groups of rows are held out.

    Returns
    -------
    ErrorComparison
        ``tidy()`` returns one row per pair.

    Raises
    ------
    OptionError
        If there are fewer than two models, or an option is not allowed.
    DataError
        If models differ in rows, outcomes or folds.

    Notes
    -----
    In simulations of models with equal error rates and 60 or 200 rows, nominal 95%
    intervals excluded 0 in 0% to 5% of samples, mostly in 1% or 2%. Intervals from the
    mean and the standard deviation of row-by-row differences excluded 0 in up to 12%
    (``benchmarks/paired_errors.py``).

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
    >>> studies = ps.compare_errors(models, folds=5, seed=443)
    >>> studies.tidy()[["term", "estimate", "conf_low", "conf_high"]].round(3)
                         term  estimate  conf_low  conf_high
    0  one pixel - all pixels ...
    """
    entries = named("models", models, Model | CrossValidation, MODELS, least=2)
    first = next((v for v in entries.values() if isinstance(v, CrossValidation)), None)
    studies: dict[str, CrossValidation] = {}
    for name, study in entries.items():
        if first is not None:
            folds, repeats, groups, seed = first.folds, 1, None, first.seed
        if isinstance(study, Model):
            study = cross_validation.cross_validate(
                study,
                solver,
                folds=folds,
                repeats=repeats,
                groups=groups,
                seed=seed,
                metrics=metric,
                workers=workers,
                progress=progress,
            )
        first = first or study
        studies[name] = study
        a, b = first.model._sample, study.model._sample
        same_rows = np.array_equal(a.y, b.y) and a.index.equals(b.index)
        same_folds = np.array_equal(first.folds.assignment, study.folds.assignment)
        if not (same_rows and same_folds and a.coding.levels == b.coding.levels):
            raise DataError(
                f"{shown(name)} and the first model differ in rows, classes or folds, "
                "so differences cannot be paired; use the same data and folds."
            )
        column = getattr(metric, "__name__", metric)
        if column not in (names := [metric.name for metric in study.metrics]):
            why = f"is not a metric of {shown(name)}, which has {listing(names)}."
            raise OptionError(why, "metric", metric)
    return ErrorComparison(studies, str(column))


def paired_mean(
    differences: Vector, weights: Vector, share: float
) -> tuple[float, float, float]:
    """Compute the mean difference over folds, its corrected standard error, and df.

    Parameters
    ----------
    differences : float64 array, shape (J,)
        NaN for folds without a difference.
    weights : float64 array, shape (J,)
        Total weight of the held-out rows of each fold.
    share : float
        ``n_test / n_train``.

    Examples
    --------
    >>> mean, error, df = paired_mean(np.array([0.1, 0.3]), np.ones(2), 1.0)
    >>> round(mean, 3), round(error, 4), df
    (0.2, 0.1732, 1.0)
    """
    finite = ~np.isnan(differences)
    d, w, count = differences[finite], weights[finite], int(finite.sum())
    if not count:
        return np.nan, np.nan, np.nan
    mean = float(w @ d / w.sum())
    if count < 2:
        return mean, np.nan, np.nan
    variance = float(w @ np.square(d - mean) / w.sum()) * count / (count - 1)
    return mean, float(np.sqrt((1.0 / count + share) * variance)), count - 1.0


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class ErrorComparison(tables.Summarised):
    """Comparison of models by out-of-fold metrics; returned by `compare_errors`.

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
    >>> comparison = ps.compare_errors(models, metric="auc", folds=5, seed=1)
    >>> list(comparison.means)
    ['hinge', 'log']
    """

    cross_validations: Mapping[str, CrossValidation]
    metric: str

    @property
    def means(self) -> dict[str, float]:
        """Mean of the metric for each model."""
        studies = self.cross_validations.items()
        return {name: float(study.mean[self.metric]) for name, study in studies}

    def _by_fold(self) -> dict[str, Vector]:
        """Differences in each fold, for each pair of models."""
        values = {
            name: study.by_fold[self.metric].to_numpy(np.float64)
            for name, study in self.cross_validations.items()
        }
        pairs = combinations(values.items(), 2)
        return {f"{a} - {b}": one - two for (a, one), (b, two) in pairs}

    @suggest_arguments
    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Return one row per pair of models: the first minus the second, with its test.

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
        level, lines = checks.check_fraction("conf_level", conf_level), []
        folds = next(iter(self.cross_validations.values())).by_fold
        share = float((folds["n_test"] / folds["n_train"]).mean())
        for term, delta in self._by_fold().items():
            mean, error, df = paired_mean(delta, folds["weight"].to_numpy(), share)
            line = estimates(np.array([mean]), np.array([error]), df, level)
            lines.append(line.assign(term=term, df=df))
        return pd.concat(lines, ignore_index=True)[[*TIDY_COLUMNS, "df"]]

    @suggest_arguments
    def plot(
        self, *, conf_level: float = 0.95, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw the differences with their intervals, one row per pair of models.

        Open circles show the differences in the folds.

        Parameters
        ----------
        conf_level : float, default 0.95
        ax : Axes, optional
            By default the axes of a new figure.
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

        table, folds = self.tidy(conf_level), self._by_fold()
        return draw_differences(table, folds, self.metric, conf_level, ax, line)

    @suggest_arguments
    def summary(self, alpha: float = 0.05) -> tables.Summary:
        """Return means, differences and notes: text in print(), HTML in a notebook.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        """
        alpha = checks.check_fraction("alpha", alpha)
        table = self.tidy(1.0 - alpha)
        headings = tables.headings_of_tests(float(table["df"].iloc[0]))
        cells = tables.estimate_cells(table, headings, alpha)
        first = next(iter(self.cross_validations.values()))
        left = [(f"{name}:", tables.significant(v)) for name, v in self.means.items()]
        right = [
            ("Metric:", self.metric),
            ("Folds:", first.folds.kind),
            ("Seed:", str(first.seed)),
            ("No. Observations:", f"{first.model.problem.n:,}"),
        ]
        notes = [
            "Each difference is the first minus the second, on the same folds. "
            "Standard errors are Nadeau and Bengio's: they allow for shared training "
            "rows."
        ]
        if same := list(table["term"][table["statistic"].isna()]):
            notes.append(
                f"{listing(same)}: no test, because the standard error is 0 or missing."
            )
        cells = cells.rename(columns={"coef": "difference"})
        return tables.Summary(["Out-of-fold comparison"], cells, notes, left, right)


Brackets = Literal["std_error", "conf_int", "statistic", "p_value", "none"]

BRACKETS: tuple[Brackets, ...] = get_args(Brackets)


@suggest_arguments
def compare_models(
    results: object,
    *,
    brackets: Brackets = "std_error",
    stars: object = False,
    conf_level: float = 0.95,
    original: bool = False,
    terms: object = None,
    cross_validations: object = None,
) -> "ModelComparison":
    """Make a regression table of fits: estimates, standard errors, goodness of fit.

    Terms are matched by name; kernel fits have no terms. `compare_errors` compares
    predictive performance. By default a bootstrap p-value from ``m`` resamples is at
    least ``2 / (m + 1)``, so three stars need 2,000 resamples or more.

    Parameters
    ----------
    results : mapping of name to fit, or list of fits
        Fits in a list are called (1), (2) and so on.
    brackets : "std_error", "conf_int", "statistic", "p_value" or "none"
        Quantity shown below each estimate, in brackets.
    stars : bool or sequence of float, default False
        Whether to mark small p-values: ``True`` means three stars below 0.001, two
        below 0.01, one below 0.05. For other thresholds pass a sequence, such as
        ``(0.01, 0.05, 0.1)``.
    conf_level : float, default 0.95
        Confidence level of the intervals.
    original : bool, default False
        For fits with ``standardize=True``, whether to show coefficients on the original
        scale of the predictors.
    terms : list of str, optional
        Terms to show, in this order; by default all.
    cross_validations : mapping of name to CrossValidation, optional
        Cross-validations of some fits; the table adds their means over the folds.

    Returns
    -------
    ModelComparison
        ``print()`` shows text, a notebook shows HTML; ``to_latex()``,
        ``to_markdown()`` and ``to_frame()`` convert the table; ``tidy()`` and
        ``glance()`` return the numbers. Slow standard errors are omitted, as in
        ``summary()``.

    Raises
    ------
    OptionError
        If `results` is empty or contains anything but fits, or an option is not
        allowed.

    See Also
    --------
    compare_errors : differences of out-of-fold errors.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> small, large = (
    ...     ps.logit(formula, train, lam=0.01).fit(ps.Optimum(seed=1))
    ...     for formula in ("digit ~ p34", "digit ~ p34 + p43")
    ... )
    >>> comparison = ps.compare_models({"one": small, "two": large}, stars=True)
    >>> comparison.tidy()[["term", "model"]].values.tolist()[2:]
    [['p34', 'one'], ['p34', 'two'], ['p43', 'two']]
    """
    if isinstance(results, list | tuple):
        results = {f"({j})": fit for j, fit in enumerate(results, 1)}
    fits: dict[str, Results] = named("results", results, Results, FITS)
    checks.check_choice("brackets", brackets, BRACKETS)
    checks.check_flag("original", original)
    level, bounds = checks.check_fraction("conf_level", conf_level), _bounds(stars)
    validated, estimates = {}, {}
    if cross_validations is not None:
        cure = f"pass results of ps.cross_validate() for {listing(fits)}."
        studies = named("cross_validations", cross_validations, CrossValidation, cure)
        if not set(studies) <= set(fits):
            raise OptionError(f"is not allowed; {cure}", "cross_validations", studies)
        validated = {name: comparison.tidy() for name, comparison in studies.items()}
    for name, fit in fits.items():
        if isinstance(fit, LinearResults):
            scaled = original and fit.scaling is not None and fit.cov_type is not None
            table = fit.tidy(level, True) if scaled else fit.coefficient_table(level)
            estimates[name] = table
    return ModelComparison(
        fits=fits,
        estimates=_chosen(_joined(estimates, TIDY_COLUMNS), terms),
        validated=_joined(validated, ["term", "estimate", "std_error"]),
        brackets=brackets,
        stars=bounds,
        level=level,
        original=bool(original),
    )


def _joined(parts: Mapping[str, pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Stack tables, with their names in the column ``model``."""
    named = [part.assign(model=name) for name, part in parts.items()]
    whole = pd.concat(named, ignore_index=True) if named else pd.DataFrame()
    return whole.reindex(columns=["model", *columns])


def _chosen(table: pd.DataFrame, terms: object) -> pd.DataFrame:
    """Return the rows of these terms; for None all rows, the intercept first."""
    names = list(dict.fromkeys([INTERCEPT, *table["term"]]))
    chosen = [terms] if isinstance(terms, str) else terms
    if chosen is not None:
        if not isinstance(chosen, list | tuple) or not all(
            is_name(name) and name in names for name in chosen
        ):
            why = f"is not allowed; pass a list of terms: {listing(names)}."
            raise OptionError(why, "terms", terms)
        names = list(chosen)
    rows = table[table["term"].isin(names)]
    place = {name: j for j, name in enumerate(names)}
    return rows.sort_values(
        "term", key=lambda term: term.map(place), kind="stable", ignore_index=True
    )


def _bounds(stars: object) -> tuple[float, ...]:
    """Validate thresholds of p-values, smallest first."""
    if isinstance(stars, bool | np.bool_):
        return STARS if stars else ()
    if not isinstance(stars, list | tuple) or not stars:
        why = "is not allowed; pass True, False or a list such as [0.01, 0.05]."
        raise OptionError(why, "stars", stars)
    return tuple(sorted({checks.check_fraction("stars", bound) for bound in stars}))


IN_BRACKETS: dict[str, str] = {
    "std_error": "Standard errors in brackets.",
    "conf_int": "{:.4g}% intervals in brackets.",
    "statistic": "Estimates divided by their standard errors in brackets.",
    "p_value": "p-values in brackets.",
}
# Columns of glance(), their headings and formats.
FACTS: dict[str, tuple[str, Callable[[float], str]]] = {
    "lam": ("lambda", "{:.6g}".format),
    "objective": ("Objective", "{:.5g}".format),
    "relative_gap": ("Relative gap", "{:z.2g}".format),
    "llf": ("Log-likelihood", "{:.1f}".format),
    "df_effective": ("Effective df", "{:.1f}".format),
    "aic": ("AIC", "{:.1f}".format),
    "bic": ("BIC", "{:.1f}".format),
    "prsquared": ("McFadden's R2", "{:z.3f}".format),
    "error_rate": ("Training error", tables.percent),
}


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class ModelComparison(tables.Exported):
    """Regression table of several fits; returned by `compare_models`.

    Attributes
    ----------
    fits : mapping of name to fit
    estimates : DataFrame
        Column ``model``, then the columns of a fit's ``tidy()``.
    validated : DataFrame
        Cross-validated metrics in columns ``model, term, estimate, std_error``.
    brackets : str
        Quantity shown below each estimate.
    stars : tuple of float
        Thresholds of p-values for stars, smallest first; empty for no stars.
    level : float
        Confidence level of the intervals.
    original : bool
        Whether coefficients are on the scale of the predictors before
        ``standardize=True``.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> fit = ps.logit("digit ~ p34", train, lam=0.01).fit(ps.Optimum(seed=1))
    >>> print(ps.compare_models([fit], brackets="none").to_markdown())
    |  | (1) |
    |:--|--:|
    | Outcome | digit = 6 |
    | Loss | log |
    | Intercept | ... |
    | p34 | ... |
    | Rows | 200 |
    ...
    """

    fits: Mapping[str, Results]
    estimates: pd.DataFrame
    validated: pd.DataFrame
    brackets: Brackets
    stars: tuple[float, ...]
    level: float
    original: bool

    def tidy(self) -> pd.DataFrame:
        """Return estimates as numbers, one row per term and model."""
        return self.estimates.copy()

    def glance(self) -> pd.DataFrame:
        """Return a row for each fit: ``model, outcome``, then its ``glance()``."""
        lines = [fit.glance() for fit in self.fits.values()]
        table = pd.concat(lines, ignore_index=True)
        table.insert(0, "model", list(self.fits))
        table.insert(1, "outcome", [fit.coding.name for fit in self.fits.values()])
        return table

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a data frame of text, one column per fit."""
        return pd.concat(self._sections)

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the estimates of all fits with their intervals, term by term.

        The intercept is omitted.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of points and intervals.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> fits = {f: ps.logit(f"digit ~ {f}", train).fit() for f in ("p34", "p43")}
        >>> from matplotlib.figure import Figure
        >>> ax = ps.compare_models(fits).plot(ax=Figure().subplots())
        >>> [text.get_text() for text in ax.get_yticklabels()]
        ['p34', 'p43']
        """
        from pegasos_stats.output.plotting.forest import draw_models

        table = self.estimates[self.estimates["term"] != INTERCEPT]
        levels = {
            name: getattr(fit, "reference_levels", {})
            for name, fit in self.fits.items()
        }
        return draw_models(table, levels, self.level, ax, line)

    @suggest_arguments
    def plot_roc(
        self,
        data: object = None,
        actual: object = None,
        *,
        ax: "Axes | None" = None,
        **line: object,
    ) -> "Axes":
        """Draw the ROC curves of all fits, as by ``result.plot.roc()``.

        Parameters
        ----------
        data, actual : optional
            New rows and their labels; by default each fit uses its training data.
        ax, **line
            As for `plot`.
        """
        from pegasos_stats.output.plotting import style

        ax = style.axes_of(ax, style.SQUARE_SIDE, style.SQUARE_SIDE)
        fits: Mapping[str, Any] = self.fits
        for name, fit in fits.items():
            fit.plot.roc(data, actual, ax=ax, **{"label": style.as_text(name), **line})
        return ax

    def as_text(self) -> str:
        """Plain text."""
        frame, lines, ruled = self._sheet()
        table = [line.rstrip() for line in tables.params_text(frame, ruled)]
        return "\n".join(
            [*table, *("\n".join(wrap(n, tables.TEXT_WIDTH)) for n in lines)]
        )

    def _sheet(self) -> tuple[pd.DataFrame, list[str], list[int]]:
        above, terms, _ = map(len, self._sections)
        ruled = [above, above + terms] if terms else [above]
        return self.to_frame(), self.notes, ruled

    @property
    def notes(self) -> list[str]:
        """Notes on the numbers and their comparability."""
        lines = []
        if self.brackets != "none" and len(self.estimates):
            lines.append(IN_BRACKETS[self.brackets].format(100.0 * self.level))
        if self.stars:
            bounds = zip(range(len(self.stars), 0, -1), self.stars, strict=True)
            lines.append(", ".join(f"{'*' * n} p < {p:g}" for n, p in bounds) + ".")
        problems = [fit.problem for fit in self.fits.values()]
        if len({(x.loss, x.lam, x.y.tobytes()) for x in problems}) > 1:
            lines.append(
                "Objectives, log-likelihoods, AIC and BIC are comparable only between "
                "fits with the same rows, loss and lambda; coefficients of the hinge "
                "and the log loss have different scales."
            )
        for name, fit in self.fits.items():
            if warned := sum(note.severity == "warning" for note in fit.notes):
                count = counted(warned, "warning")
                lines.append(f"{name}: {count}, see its summary().")
        scaled = [
            name
            for name, fit in self.fits.items()
            if isinstance(fit, LinearResults) and fit.scaling is not None
        ]
        if scaled and not self.original:
            names = ", ".join(scaled)
            lines.append(f"Coefficients of standardized predictors: {names}.")
        return lines

    @cached_property
    def _sections(self) -> list[pd.DataFrame]:
        """Return rows above the estimates, the estimates, and rows below."""
        fits, facts = list(self.fits.values()), self.glance()
        above = {
            "Outcome": [f"{fit.coding.name} = {fit.coding.positive}" for fit in fits],
            "Loss": [fit.problem.loss for fit in fits],
        }
        below = {"Rows": [f"{fit.nobs:,}" for fit in fits]}
        if len(self.estimates):
            below["Standard errors"] = [_covariance(fit) for fit in fits]
        for column, (title, write) in FACTS.items():
            if column in facts and facts[column].notna().any():
                cells = facts[column].map(write, na_action="ignore")
                below[title] = cells.fillna("").tolist()
        for metric, lines in self.validated.groupby("term", sort=False):
            cells = lines.set_index("model").apply(_with_error, axis=1)
            below[f"Out of fold: {metric}"] = [cells.get(n, "") for n in self.fits]
        first, last = (pd.DataFrame(part, list(self.fits)).T for part in (above, below))
        return [first, self._terms(), last]

    def _terms(self) -> pd.DataFrame:
        """Return one row per term, or two with brackets."""
        cells = {
            (line.model, line.term): _cells(line, self.brackets, self.stars)
            for line in self.estimates.itertuples()
        }
        both = slice(1 if self.brackets == "none" else 2)
        rows, labels = [], []
        for term in self.estimates["term"].unique():
            pairs = [cells.get((name, term), ("", "")) for name in self.fits]
            rows += list(zip(*pairs, strict=True))[both]
            labels += [term, ""][both]
        return pd.DataFrame(rows, labels, list(self.fits), dtype=object)

    __str__ = __repr__ = as_text


def _covariance(fit: Results) -> str:
    """Return the type of the standard errors."""
    options = getattr(fit, "cov_type", None)
    if isinstance(options, Bootstrap):
        return "bootstrap"
    return options.correction if isinstance(options, Sandwich) else ""


def _cells(line: Any, brackets: str, stars: Sequence[float]) -> tuple[str, str]:
    """Return an estimate with its stars, and the quantity below it."""
    mark = "*" * sum(line.p_value < bound for bound in stars)
    if brackets == "conf_int":
        value = line.conf_low
        text = f"[{tables.fixed(value)}, {tables.fixed(line.conf_high)}]"
    else:
        value = getattr(line, brackets, np.nan)
        text = f"({value:.3f})" if brackets == "p_value" else f"({tables.fixed(value)})"
    below = "" if np.isnan(value) else text
    return f"{tables.fixed(line.estimate)}{mark}", below


def _with_error(line: DataColumn) -> str:
    error = line["std_error"]
    mean = tables.significant(line["estimate"])
    return mean if np.isnan(error) else f"{mean} ({tables.significant(error, 2)})"


def _number(column: str, row: int, about: str) -> property:
    """Define a property for a number in the table of areas."""
    return property(lambda self: float(self.table[column].iloc[row]), doc=about)


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class RocComparison(tables.Facts):
    """Two areas under the ROC curve on the same rows; returned by `compare_roc`.

    Attributes
    ----------
    names : pair of str
    table : DataFrame
        Both areas and their difference, in the columns of `tidy`.
    curves : pair of RocCurve
    levels : pair of labels
        The negative and the positive class.
    level : float
        Confidence level of the intervals.
    nobs : int
        Number of rows compared.
    n_left_out : int
        Number of rows excluded because a label or a score is missing.

    Examples
    --------
    >>> a, b = [1, 4, 2, 3, 5, 6], [1, 2, 3, 4, 5, 6]
    >>> comparison = compare_roc(list("nnnyyy"), a, b)
    >>> round(comparison.area_a, 3), comparison.area_b, round(comparison.pvalue, 3)
    (0.889, 1.0, 0.48)
    """

    names: tuple[str, str]
    table: pd.DataFrame
    curves: tuple[RocCurve, RocCurve]
    levels: tuple[object, object]
    level: float
    nobs: int
    n_left_out: int

    _field_rules = "n_left_out nonnegative"

    _title = "Comparison of Two Areas"

    area_a = _number("estimate", 0, "Area under the curve of A.")
    area_b = _number("estimate", 1, "Area under the curve of B.")
    difference = _number("estimate", 2, "Area of A minus area of B.")
    std_error = _number("std_error", 2, "Standard error of the difference.")
    statistic = _number("statistic", 2, "Difference divided by its standard error.")
    pvalue = _number("p_value", 2, "Two-sided p-value of the test of equal areas.")

    @property
    def interval(self) -> intervals.Interval:
        """Confidence interval of the difference."""
        low, high = self.table[INTERVAL_ENDS].iloc[2]
        return intervals.Interval(float(low), float(high))

    def tidy(self) -> pd.DataFrame:
        """Return three rows: both areas and their difference.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, p_value, conf_low,
            conf_high``. Intervals of the areas are computed on the logit scale;
            ``statistic`` and ``p_value`` of the areas are NaN.
        """
        return self.table.copy()

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw both ROC curves, with their areas.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the curves.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_compared_rocs

        return draw_compared_rocs(self, ax, line)

    def _facts(self) -> dict[str, str]:
        """Describe the areas, their difference, and the test of equal areas."""
        a, b = self.names
        areas = [
            f"{estimate:.4f}, {self.level:.0%} interval [{low:.4f}, {high:.4f}]"
            for estimate, low, high in self.table[
                ["estimate", *INTERVAL_ENDS]
            ].to_numpy()
        ]
        test = f"z {self.statistic:.4g}, p {format_pval([self.pvalue], 4)[0]}"
        return {
            "Rows": f"{self.nobs:,}, positive class {self.levels[1]!r}",
            f"Area {a}": areas[0],
            f"Area {b}": areas[1],
            f"{a} minus {b}": areas[2],
            "Equal areas": test,
        }


@suggest_arguments
def compare_roc(
    actual: object,
    scores_a: object,
    scores_b: object,
    *,
    positive: object = None,
    names: tuple[str, str] = ("A", "B"),
    level: float = 0.95,
    groups: object = None,
    scale: Literal["fisher", "plain"] = "fisher",
) -> RocComparison:
    """Compare two areas under the ROC curve on the same rows, by DeLong's test.

    The placement value of a row is the share of the rows of the other class with a
    smaller score; ties count one half. ``S1`` is the variance, over the ``n1`` positive
    rows, of the difference between the placement values by A and by B. ``S0`` is the
    same variance over the ``n0`` negative rows. The difference of the areas has the
    standard error ::

        se = sqrt(S1 / n1 + S0 / n0)

    The difference divided by ``se`` is compared with the normal distribution, as in
    ``roc.test`` of R's pROC.

    Parameters
    ----------
    actual : Series or array, shape (n,); or a fit
        Labels. To compare two fits, call ``compare_roc(fit_a, fit_b, data)``. Both fits
        then predict scores of the new rows `data`, which must include the outcome.
    scores_a, scores_b : Series or array, shape (n,)
        Scores by A and by B, larger for the positive class; or probabilities, one
        column per class. Rows without a label or a score are excluded and counted.
    positive : label, optional
        The positive class, by default the second.
    names : pair of str, default ("A", "B")
        Two different names for the output.
    level : float, default 0.95
        Confidence level of the intervals.
    groups : Series, array or list, shape (n,); or column name in `data`; optional
        Clusters of dependent rows, such as the eyes of a person. The variances are then
        Obuchowski's.
    scale : "fisher" or "plain", default "fisher"
        Scale of the interval of the difference ``D``. ``"fisher"``:
        ``tanh(atanh(D) +- z se / (1 - D^2))``, which is between -1 and 1. ``"plain"``:
        ``D +- z se``, as in pROC. ``z`` is the normal quantile.

    Returns
    -------
    RocComparison
        If both scores rank the rows equally, the statistic is 0 and the p-value 1.

    Raises
    ------
    DataError
        If lengths or row labels differ, if a class has no row with both scores, or if
        `data` are training data of a fit, in which a larger model nearly always has the
        larger area.
    OptionError
        If the fits have different classes, or an option is not allowed.

    Warns
    -----
    UndefinedMetricWarning
        If the areas differ but the variance is 0, or a class has fewer than two rows.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988), 837-845; Obuchowski,
    Biometrics 53 (1997), 567-578, on groups; Sun & Xu, IEEE Signal Processing Letters
    21 (2014), 1389-1393, for the computation; Demler, Pencina & D'Agostino, Statistics
    in Medicine 31 (2012), on nested models.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> a, b = (ps.logit(f"digit ~ {x}", train).fit() for x in ("p34", "p34 + p43"))
    >>> comparison = ps.compare_roc(a, b, test, names=("one pixel", "two"))
    >>> comparison.tidy()[["term", "estimate"]].round(3)
                  term  estimate
    0        one pixel     ...
    1              two     ...
    2  one pixel - two    ...
    """
    level = checks.check_fraction("level", level)
    checks.check_choice("scale", scale, ("fisher", "plain"))
    names = checked_names(names)
    data = scores_b
    if isinstance(actual, Results) or isinstance(scores_a, Results):
        sides = _of_fits(actual, scores_a, scores_b, positive)
    else:
        pair = (scores_a, scores_b)
        sides = [inputs.events_of(actual, s, positive, "scores") for s in pair]
    used = sides[0].is_complete & sides[1].is_complete
    codes = inputs.check_both_levels(sides[0], used)
    scores = [sample.values[used] for sample in sides]
    first, second = (intervals.placement_values(codes, sample) for sample in scores)
    paired = (first[0] - second[0], first[1] - second[1])
    at = None
    if groups is not None:
        if isinstance(groups, str):
            groups = column_named("groups", groups, data, "one label for each row")
        own = inputs.clusters_of(groups, len(used), actual, scores_a, scores_b)[used]
        at = own[codes == 0], own[codes == 1]
    variances = [intervals.area_variance(p, at) for p in (first, second, paired)]
    areas = [float(sample[1].mean()) for sample in (first, second)]
    values = np.array([*areas, areas[0] - areas[1]])
    table = estimates(values, np.sqrt(variances), level=level)
    table.insert(0, "term", [*names, f"{names[0]} - {names[1]}"])
    table.loc[:1, ["statistic", "p_value"]] = np.nan
    for row, (area, variance) in enumerate(zip(areas, variances, strict=False)):
        ends = intervals.area_interval(area, variance, level)
        table.loc[row, INTERVAL_ENDS] = list(ends)
    if scale == "fisher":
        ends = intervals.fisher_interval(values[2], variances[2], level)
        table.loc[2, INTERVAL_ENDS] = list(ends)
    if not (paired[0].any() or paired[1].any()):
        table.loc[2, ["statistic", "p_value", *INTERVAL_ENDS]] = 0.0, 1.0, 0.0, 0.0
    elif not variances[2] > 0.0:
        table.loc[2, INTERVAL_ENDS] = np.nan
        warn_undefined(["pvalue"], "the difference of the areas has no variance")
    return RocComparison(
        names=names,
        table=table[TIDY_COLUMNS],
        curves=(roc_curve(codes, scores[0]), roc_curve(codes, scores[1])),
        levels=(sides[0].negative, sides[0].positive),
        level=level,
        nobs=int(used.sum()),
        n_left_out=int((~used).sum()),
    )


def _of_fits(
    a: object, b: object, data: object, positive: object
) -> list[inputs.Events]:
    """Return outcomes of new rows, and scores by two fits."""
    if not (isinstance(a, Results) and isinstance(b, Results)):
        raise OptionError("Pass two fits and data: compare_roc(fit_a, fit_b, data).")
    if a.coding.levels != b.coding.levels:
        raise OptionError("The fits differ in their classes; pass fits of one outcome.")
    at = inputs.positive_position(a.coding.levels, positive)
    sides = []
    for which, fit in (("first", a), ("second", b)):
        table = fit.confusion(data)
        if table.source != "new":
            rows = "The data"
            if table.source == "partly training":
                rows = f"{table.n_seen:,} of the rows"
            raise DataError(
                f"{rows} are training rows of the {which} fit; pass new rows."
            )
        assert table.scored is not None
        codes, scores = table.scored.codes, table.scored.scores
        assert scores is not None  # a fit has scores
        codes = np.where(codes < 0, -1, codes == at)
        negative, named = fit.coding.levels[1 - at], fit.coding.levels[at]
        sides.append(inputs.Events(codes, scores if at else -scores, negative, named))
    if not np.array_equal(sides[0].codes, sides[1].codes):
        raise DataError(
            "The fits differ in the outcomes or the frequency weights of these rows; "
            "pass labels and scores instead."
        )
    return sides


@suggest_arguments
def compare_solvers(
    model: Model,
    solvers: Mapping[str, AnySolver],
    *,
    runs: int = 100,
    test: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "SolverComparison":
    """Run each solver many times on one model and record every epoch.

    Run r of every solver uses the r-th of the seeds that this R code draws::

        set.seed(seed); sample.int(2147483647, runs)

    Solvers that draw rows in the same way therefore visit them in the same order.
    Additional runs do not change the first ones, and an additional solver does not
    change the results of the others. The solvers' own seeds are ignored. A solver
    without random numbers is run equally often; only its times vary.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    solvers : mapping of name to solver
        Solvers by name. `Optimum` and `SDCA` stop at their tolerance; with ``tol=0``
        they run all epochs.
    runs : int, default 100
    test : DataFrame or pair (y, X), optional
        Held-out rows with labels, to record their error rate.
    seed : int, default 1
        As for R's ``set.seed()``; None draws one.
    workers : int, optional
        Number of threads, by default one per usable core. Only the times depend on it.
    progress : bool, default False
        Whether to show a progress bar of the runs.

    Returns
    -------
    SolverComparison

    Raises
    ------
    OptionError
        If `model` is not a model, `solvers` are not named solvers, or a solver cannot
        fit the model.
    ColumnError
        If the held-out rows have no labels.
    DataError
        If a run overflows; a note on the exception names the run.

    Notes
    -----
    ``cpu_seconds`` is the processor time of the updates in the thread of the run. It
    excludes drawing rows and computing objectives and error rates. All solvers but
    `Pegasos` run once beforehand, so that times exclude the loading of compiled code.
    The runs of the solvers alternate, so that a slow phase of the machine affects all
    of them. Parallel threads share caches and memory, which slows them down; times are
    most accurate with ``workers=1``. With a kernel model each thread stores its own
    rows of the Gram matrix.

    References
    ----------
    Shalev-Shwartz & Zhang, JMLR 14 (2013), section 7: SDCA against Pegasos.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=0.1)
    >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "Newton": ps.Optimum(0, epochs=3)}
    >>> comparison = ps.compare_solvers(model, solvers, runs=5, test=test, seed=443)
    >>> comparison.runs.loc[[0, 15], ["solver", "run", "seed", "epoch", "steps"]]
         solver  run       seed  epoch  steps
    0   Pegasos    1  588432584      1    200
    15   Newton    1       <NA>      1      1
    """
    checked = named("solvers", solvers, Solver, SOLVERS)
    model = fold_fits.checked_model(model, in_memory=False).at_chosen_lambda()
    runs = checks.check_count("runs", runs)
    checks.check_flag("progress", progress)
    threads, stream = parallel.n_workers(workers), RRandom(seed)
    held_out = None if test is None else model.held_out(test)
    seeds = stream.sample_int(checks.LARGEST_R_INTEGER, runs).tolist()
    tasks = [  # the solvers in turn
        (name, number, solver.with_seed(seed))
        for number, seed in enumerate(seeds, 1)
        for name, solver in checked.items()
    ]

    def record(task: tuple[str, int, AnySolver]) -> pd.DataFrame:
        """Run one solver once; return its record with name, number and seed."""
        name, number, solver = task
        recorder = model.recorder(solver.ties, held_out)
        try:
            seed = model.solve(solver, recorder).seed
        except errors.PegasosStatsError as error:
            error.add_note(f"In run {number} of {name!r}, seed {solver.seed}.")
            raise
        lines = recorder.frame()
        lines.insert(0, "solver", name)
        lines.insert(1, "run", number)
        lines.insert(2, "seed", pd.Series([seed] * len(lines), dtype="Int64"))
        gap, objective = lines["gap"], lines["objective"]
        relative = (gap / objective).mask((gap == 0.0) & (objective == 0.0), 0.0)
        lines.insert(7, "relative_gap", relative)  # 0 / 0 is 0, as in a `Certificate`
        return lines

    with warnings.catch_warnings():
        # Warning filters apply to all threads. The record contains the gaps.
        warnings.simplefilter("ignore", errors.ConvergenceWarning)
        for solver in checked.values():
            if solver.to_optimum:
                model.solve(solver.with_seed(0))  # loads its compiled code
        frames: Iterable[pd.DataFrame] = parallel.map_in_order(record, tasks, threads)
        if progress:
            frames = with_progress(frames, len(tasks), "run")
        whole = pd.concat(frames, ignore_index=True)
    whole = whole.astype({"solver": pd.CategoricalDtype(list(checked))})
    return SolverComparison(
        runs=whole.sort_values(["solver", "run"], kind="stable", ignore_index=True),
        solvers=checked,
        model=model,
        n_runs=runs,
        n_test=None if held_out is None else len(held_out[1]),
        seed=int(stream.seed or 0),
        workers=threads,
    )


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class SolverComparison(tables.Summarised):
    """Runs of several solvers on one model; returned by `compare_solvers`.

    Attributes
    ----------
    runs : DataFrame
        One row per epoch and run: ``solver, run, seed, epoch, steps, objective, gap,
        relative_gap, violations`` (of this epoch), ``training_error``, ``test_error``
        with held-out rows, and ``cpu_seconds``, the cumulative processor time of the
        updates.
    solvers : mapping of name to solver
        The solvers by name.
    model : SVM, Logit or KernelSVM
    n_runs : int
        Number of runs of each solver.
    n_test : int or None
        Number of held-out rows.
    seed : int
        Seed from which the seeds of the runs are drawn.
    workers : int
        Number of threads.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=0.1)
    >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "Newton": ps.Optimum(0, epochs=3)}
    >>> comparison = ps.compare_solvers(model, solvers, runs=5, seed=443)
    >>> again = model.fit(comparison.solver("Newton", run=2), trace=True).trace
    >>> newton = comparison.runs.query("solver == 'Newton' and run == 2")
    >>> again["objective"].tolist() == newton["objective"].tolist()
    True
    """

    runs: pd.DataFrame
    solvers: Mapping[str, AnySolver]
    model: Model
    n_runs: int
    n_test: int | None
    seed: int
    workers: int

    _field_rules = "seed seed"

    @property
    def lower_bound(self) -> float:
        """Largest dual objective of all epochs: a lower bound on the optimum."""
        return float((self.runs["objective"] - self.runs["gap"]).max())

    @property
    def least_objective(self) -> float:
        """Smallest objective of all epochs: an upper bound on the optimum."""
        return float(self.runs["objective"].min())

    def solver(self, name: str, run: int) -> AnySolver:
        """Return a solver with the seed of one of its runs, to repeat the run.

        Parameters
        ----------
        name : str
        run : int
            Number of the run, from 1, as in `runs`.

        Raises
        ------
        OptionError
            If there is no such run.
        """
        checks.check_choice("name", name, tuple(self.solvers))
        at = (self.runs["solver"] == name) & (self.runs["run"] == checks.number_of(run))
        if not at.any():
            why = f"is not allowed; pass a number from 1 to {self.n_runs}."
            raise OptionError(why, "run", run)
        seed = self.runs.loc[at, "seed"].iloc[0]
        return self.solvers[name].with_seed(None if pd.isna(seed) else int(seed))

    def tidy(self) -> pd.DataFrame:
        """Return mean, spread and quantiles over the runs, at every epoch.

        Returns
        -------
        DataFrame
            One row per solver, epoch and measure: columns ``solver, epoch, measure,
            n_runs, mean, sd, q05, q25, q50, q75, q95``. Measures are ``objective, gap,
            relative_gap, violations, training_error, test_error, cpu_seconds``.
            Quantiles are R's type 7; ``sd`` uses the divisor ``n - 1`` (NaN for one
            run). Each epoch excludes runs that ended earlier; `n_runs` counts the rest.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ .", train, lam=0.1)
        >>> solvers = {"Pegasos": ps.Pegasos(epochs=3)}
        >>> table = ps.compare_solvers(model, solvers, runs=5, seed=443).tidy()
        >>> table.query("measure == 'gap'")[["epoch", "n_runs", "mean", "sd"]].round(3)
           epoch  n_runs   mean     sd
        1      1       5  ...
        """
        measures = pd.CategoricalDtype(measures_of(self.runs))
        names = list(measures.categories)
        long = self.runs.melt(["solver", "epoch"], names, "measure")
        long = long.astype({"measure": measures, "value": "float64"})
        keys = ["solver", "epoch", "measure"]
        values = long.groupby(keys, observed=True)["value"]
        columns = {"n_runs": values.count(), "mean": values.mean(), "sd": values.std()}
        columns |= {name: values.quantile(share) for name, share in QUANTILES.items()}
        return pd.DataFrame(columns).reset_index()

    def glance(self) -> pd.DataFrame:
        """Return statistics of each solver at the end of its runs.

        Returns
        -------
        DataFrame
            A row for each solver: ``solver, n_runs, epochs_min, epochs_max,
            n_reached`` (runs that reached the tolerance; missing if the solver has no
            tolerance), then the mean ``<measure>_mean`` and the standard deviation
            ``<measure>_sd`` of every measure at the last epoch of each run.
        """
        last = self.runs.groupby(["solver", "run"], observed=True).tail(1)
        by_solver = last.groupby("solver", observed=True)
        columns = {
            "n_runs": by_solver.size(),
            "epochs_min": by_solver["epoch"].min(),
            "epochs_max": by_solver["epoch"].max(),
        }
        reached = {
            name: runs_at_tolerance(runs, self.solvers[str(name)])
            for name, runs in by_solver
        }
        columns["n_reached"] = pd.Series(reached, dtype="Int64")
        for name in measures_of(self.runs):
            columns[f"{name}_mean"] = by_solver[name].mean()
            columns[f"{name}_sd"] = by_solver[name].std()
        return pd.DataFrame(columns).rename_axis("solver").reset_index()

    def summary(self) -> tables.Summary:
        """Summarise each solver at the end of its runs.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook shows HTML; ``to_latex()`` returns LaTeX.
        """
        last = self.glance().set_index("solver").rename_axis(None)
        low, high = (
            tables.significant(v, 8) for v in (self.lower_bound, self.least_objective)
        )
        right = [
            ("Runs of each:", f"{self.n_runs:,}"),
            ("Seed:", str(self.seed)),
            ("Held-out rows:", "none" if self.n_test is None else f"{self.n_test:,}"),
        ]
        reached = last["n_reached"].dropna().items()
        threads = counted(self.workers, "thread")
        notes = [
            "Means over the runs, each at its last epoch; for standard deviations see "
            "glance().",
            f"Certified by duality: the optimum lies between {low} and {high}.",
            *(f"{name} reached its tolerance in {n} runs." for name, n in reached),
            f"CPU time of the updates only, in {threads}.",
        ]
        which = "training" if self.n_test is None else "test"
        columns = {
            "epochs_max": "epochs",
            "objective_mean": "objective",
            "gap_mean": "gap",
            f"{which}_error_mean": f"{which} error",
            "cpu_seconds_mean": "CPU s",
        }
        table = last[list(columns)].map(tables.significant).rename(columns=columns)
        left = fold_fits.model_fields(self.model)
        return tables.Summary(["Comparison of solvers"], table, notes, left, right)

    @suggest_arguments
    def plot(
        self,
        *,
        excess: bool = False,
        ax: "Sequence[Axes] | None" = None,
        **line: object,
    ) -> "tuple[Axes, Axes, Axes]":
        """Draw the objective against CPU time, and test error and gap by epoch.

        Lines show the median over the runs, bands the 5% and 95% quantiles. Each point
        of the first panel is an epoch: the median objective at the median time. The
        axes of time and gap are logarithmic. The axis of the objective is logarithmic
        if values span more than a factor of ten.

        Parameters
        ----------
        excess : bool, default False
            Whether to show the objective minus `lower_bound`. This difference is an
            upper bound on the distance from the minimum.
        ax : three axes, optional
            By default new axes, one below the other.
        **line
            Properties of the lines.

        Returns
        -------
        tuple of three Axes
            Without held-out rows the second panel shows the training error.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        OptionError
            If `ax` does not contain three axes.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.svm("digit ~ .", train, lam=0.1)
        >>> solvers = {"Pegasos": ps.Pegasos(epochs=3), "Optimum": ps.Optimum()}
        >>> comparison = ps.compare_solvers(model, solvers, runs=5, test=test, seed=443)
        >>> from matplotlib.figure import Figure
        >>> loss, error, gap = comparison.plot(ax=Figure().subplots(3))
        >>> gap.get_ylabel()
        'Duality gap'
        """
        from pegasos_stats.output.plotting.curves import plot_comparison

        checks.check_flag("excess", excess)
        return plot_comparison(self, excess, ax, line)


def measures_of(runs: pd.DataFrame) -> list[str]:
    """Return the measures of a record; test errors need held-out rows."""
    return [name for name in MEASURES if name in runs.columns]


def runs_at_tolerance(last: pd.DataFrame, solver: AnySolver) -> int | None:
    """Count the runs of one solver that reached its tolerance; None if it has none.

    These runs ended before the last allowed epoch, or with a small enough gap.
    """
    if not solver.stops:
        return None
    near = last["gap"] <= solver.tol * last["objective"]
    if solver.gap_tol:
        near |= last["gap"] <= solver.gap_tol
    return int((near | (last["epoch"] < solver.epochs)).sum())
