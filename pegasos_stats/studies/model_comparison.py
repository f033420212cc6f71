"""A regression table: several fits side by side, as text, HTML, LaTeX and Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import DataColumn
from pegasos_stats.checks import check_choice, check_flag, check_fraction, number_of
from pegasos_stats.data.foreign import is_name, named
from pegasos_stats.errors import OptionError, counted, listing
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.inference.options import Bootstrap, Cluster, Sandwich
from pegasos_stats.models.inference.wald import TIDY_COLUMNS
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import INTERCEPT
from pegasos_stats.studies.selection.cross_validation import CrossValidation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Brackets = Literal["std_error", "conf_int", "statistic", "p_value", "none"]

BRACKETS: tuple[Brackets, ...] = get_args(Brackets)
FITS = "give fits by name, such as {'hinge': a, 'log': b}, or a list of them."
STARS = (0.001, 0.01, 0.05)


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
    """Make a regression table of several fits: estimates, errors, goodness of fit.

    Terms are matched by name; kernel fits have none. `compare_errors` compares
    predictive performance. A p-value counted from m resamples is not below
    ``2 / (m + 1)``, so that few of them leave the last star out of reach.

    Parameters
    ----------
    results : mapping of name to fit, or list of fits
        Fits in a list are called (1), (2) and so on.
    brackets : "std_error", "conf_int", "statistic", "p_value" or "none"
        Quantity shown below each estimate, in brackets.
    stars : bool or sequence of float, default False
        Whether to mark small p-values: ``True`` gives three stars below 0.001, two
        below 0.01, one below 0.05. Give other thresholds as a sequence, such as
        ``(0.01, 0.05, 0.1)``.
    conf_level : float, default 0.95
        Confidence level of the intervals.
    original : bool, default False
        For fits with ``standardize=True``, whether to show coefficients on the original
        scale of the predictors.
    terms : list of str, optional
        Terms to show, in this order; all if left out.
    cross_validations : mapping of name to CrossValidation, optional
        Cross-validations of some of the fits; their means over the folds are shown too.

    Returns
    -------
    ModelComparison
        ``print()`` shows text, a notebook HTML; ``to_latex()``, ``to_markdown()``,
        ``to_frame()``; ``tidy()`` and ``glance()`` have the numbers. Standard errors
        that would take long are left out, as in ``summary()``.

    Raises
    ------
    OptionError
        If `results` is empty or holds something other than fits, or an option is not
        allowed.

    See Also
    --------
    compare_errors : differences of out-of-fold errors.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> small, large = (
    ...     ps.logit(formula, train, lam=0.01).fit(ps.SDCA(seed=1))
    ...     for formula in ("digit ~ p34", "digit ~ p34 + p43")
    ... )
    >>> found = ps.compare_models({"one": small, "two": large}, stars=True)
    >>> found.tidy()[["term", "model"]].values.tolist()[2:]
    [['p34', 'one'], ['p34', 'two'], ['p43', 'two']]
    """
    if isinstance(results, list | tuple):
        results = {f"({j})": fit for j, fit in enumerate(results, 1)}
    fits: dict[str, Results] = named("results", results, Results, FITS)
    check_choice("brackets", brackets, BRACKETS)
    check_flag("original", original)
    level, bounds = check_fraction("conf_level", conf_level), _bounds(stars)
    validated, estimates = {}, {}
    if cross_validations is not None:
        cure = f"give those of ps.cross_validate() for fits of {listing(fits)}."
        given = named("cross_validations", cross_validations, CrossValidation, cure)
        if not set(given) <= set(fits):
            raise OptionError(f"is not allowed; {cure}", "cross_validations", given)
        validated = {name: found.tidy() for name, found in given.items()}
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
    """Tables below each other, the name of each in the column ``model``."""
    named = [part.assign(model=name) for name, part in parts.items()]
    whole = pd.concat(named, ignore_index=True) if named else pd.DataFrame()
    return whole.reindex(columns=["model", *columns])


def _chosen(table: pd.DataFrame, terms: object) -> pd.DataFrame:
    """Rows of these terms; all, the intercept first, for None."""
    known = list(dict.fromkeys([INTERCEPT, *table["term"]]))
    chosen = [terms] if isinstance(terms, str) else terms
    if terms is not None:
        if not isinstance(chosen, list | tuple) or not all(
            is_name(name) and name in known for name in chosen
        ):
            raise OptionError(f"is no list of {listing(known)}.", "terms", terms)
        known = list(chosen)
    at = table["term"].map({term: j for j, term in enumerate(known)})
    order = at[at.notna()].sort_values(kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _bounds(stars: object) -> tuple[float, ...]:
    """Bounds of p-values, the smallest first."""
    if isinstance(stars, bool | np.bool_):
        return STARS if stars else ()
    if isinstance(stars, list | tuple) and stars:
        found = tuple(number_of(bound) for bound in stars)
        if all(0.0 < bound < 1.0 for bound in found) and len(set(found)) == len(found):
            return tuple(sorted(found))
    raise OptionError("is no flag, nor bounds of p-values.", "stars", stars)


IN_BRACKETS: dict[str, str] = {
    "std_error": "Standard errors in brackets.",
    "conf_int": "{:.4g}% intervals in brackets.",
    "statistic": "Estimates divided by their standard errors in brackets.",
    "p_value": "p-values in brackets.",
}
OF_PENALISED = (
    "Errors, intervals and p-values are of the penalised fits, lambda taken as fixed."
)
# Columns of glance(), their headings, and how they are written.
FACTS: dict[str, tuple[str, str]] = {
    "lam": ("lambda", "{:.6g}"),
    "objective": ("Objective", "{:.5g}"),
    "relative_gap": ("Relative gap", "{:z.2g}"),
    "llf": ("Log-likelihood", "{:.6g}"),
    "df_effective": ("Effective df", "{:.4g}"),
    "aic": ("AIC", "{:.6g}"),
    "bic": ("BIC", "{:.6g}"),
    "prsquared": ("McFadden's R2", "{:z.4g}"),
    "error_rate": ("Training error", "{:.2%}"),
}


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class ModelComparison(tables.Exported):
    """Several fits side by side; made by `compare_models`.

    Attributes
    ----------
    fits : mapping of name to fit
    estimates : DataFrame
        Columns ``model``, then those of a fit's ``tidy()``.
    validated : DataFrame
        Columns ``model, term, estimate, std_error``: cross-validated metrics, if given.
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
    >>> fit = ps.logit("digit ~ p34", train, lam=0.01).fit(ps.SDCA(seed=1))
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
        """Estimates as numbers, a row for each term and model."""
        return self.estimates.copy()

    def glance(self) -> pd.DataFrame:
        """One row for each fit: ``model``, ``outcome``, then `Results.glance`."""
        lines = [fit.glance() for fit in self.fits.values()]
        table = pd.concat(lines, ignore_index=True)
        table.insert(0, "model", list(self.fits))
        table.insert(1, "outcome", [fit.coding.name for fit in self.fits.values()])
        return table

    def to_frame(self) -> pd.DataFrame:
        """The table as shown: a column of text for each fit."""
        return pd.concat(self._sections)

    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the estimates of all fits with their intervals, term by term.

        The intercept is left out.

        Parameters
        ----------
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
        return draw_models(table, list(self.fits), ax, line)

    def plot_roc(
        self,
        data: object = None,
        actual: object = None,
        *,
        ax: "Axes | None" = None,
        **line: object,
    ) -> "Axes":
        """Draw the ROC curves of all fits, see `ResultPlots.roc`.

        Parameters
        ----------
        data, actual : optional
            New rows and their labels; without them each fit has its own rows.
        ax, **line
            As for `plot`.
        """
        from pegasos_stats.output.plotting.roc import draw_rocs

        return draw_rocs(self.fits, data, actual, ax, line)

    def as_text(self) -> str:
        """Plain text."""
        frame, lines, ruled = self._sheet()
        table = [line.rstrip() for line in tables.params_text(frame, ruled)]
        return "\n".join([*table, *("\n".join(wrap(n, tables.WIDTH)) for n in lines)])

    def _sheet(self) -> tuple[pd.DataFrame, list[str], list[int]]:
        above, terms, _ = map(len, self._sections)
        ruled = [above, above + terms] if terms else [above]
        return self.to_frame(), self.notes, ruled

    @property
    def notes(self) -> list[str]:
        """Notes: what the numbers are, and which of them are not comparable."""
        found, shown = [], self.brackets != "none"
        if shown and len(self.estimates):
            found.append(IN_BRACKETS[self.brackets].format(100.0 * self.level))
        if self.stars:
            bounds = zip(range(len(self.stars), 0, -1), self.stars, strict=True)
            found.append(", ".join(f"{'*' * n} p < {p:g}" for n, p in bounds) + ".")
        if (shown or self.stars) and self.estimates["std_error"].notna().any():
            found.append(OF_PENALISED)
        first, *others = (fit.problem for fit in self.fits.values())
        if any(
            (first.loss, first.lam) != (other.loss, other.lam)
            or not np.array_equal(first.y, other.y)
            for other in others
        ):
            found.append(
                "Objectives, log-likelihoods, AIC and BIC compare between fits of the "
                "same rows, loss and lambda alone; coefficients of the hinge and the "
                "log loss are on scales of their own."
            )
        references, scaled = set[str](), []
        for name, fit in self.fits.items():
            notes = [*fit.notes]
            if isinstance(fit, LinearResults):
                references |= {f"{a} {b}" for a, b in fit.reference_levels.items()}
                notes += fit.notes_on_errors() if shown else ()
            if fit.scaling is not None and not self.original:
                scaled.append(name)
            if warned := sum(note.severity == "warning" for note in notes):
                found.append(
                    f"{name}: {counted(warned, 'warning')}, see its summary()."
                )
        if references:
            found.append(f"Reference levels: {', '.join(sorted(references))}.")
        if scaled:
            found.append(
                f"Coefficients of standardized predictors: {', '.join(scaled)}."
            )
        return found

    @cached_property
    def _sections(self) -> list[pd.DataFrame]:
        """Rows above the estimates, the estimates, and those below."""
        fits, facts = list(self.fits.values()), self.glance()
        above = {
            "Outcome": [f"{fit.coding.name} = {fit.coding.positive}" for fit in fits],
            "Loss": [fit.problem.loss for fit in fits],
        }
        below = {"Rows": [f"{fit.nobs:,}" for fit in fits]}
        if len(self.estimates):
            below["Standard errors"] = [_covariance(fit) for fit in fits]
        for column, (title, form) in FACTS.items():
            if column in facts and facts[column].notna().any():
                cells = facts[column].map(form.format, na_action="ignore")
                below[title] = cells.fillna("").tolist()
        for metric, lines in self.validated.groupby("term", sort=False):
            cells = lines.set_index("model").apply(_with_error, axis=1)
            below[f"Out of fold: {metric}"] = [cells.get(n, "") for n in self.fits]
        rows = (pd.DataFrame(each, list(self.fits)).T for each in (above, below))
        first, last = rows
        return [first, self._terms(), last]

    def _terms(self) -> pd.DataFrame:
        """A row, or two with brackets, for each term."""
        parts = []
        for name, fit in self.fits.items():
            if isinstance(fit, LinearResults):
                table = self.estimates[self.estimates["model"] == name]
                original = self.original and fit.cov_type is not None
                parts.append(fit.displayed(table, original))
        cells = {
            (line.model, line.term): _cells(line, self.brackets, self.stars)
            for part in parts
            for line in part.itertuples()
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
    """How standard errors were estimated, in a word."""
    options = getattr(fit, "cov_type", None)
    if isinstance(options, Cluster | Bootstrap):
        return type(options).__name__.lower()
    return options.correction if isinstance(options, Sandwich) else ""


def _cells(line: Any, brackets: str, stars: Sequence[float]) -> tuple[str, str]:
    """An estimate with its stars, and what stands below it."""
    mark = "*" * sum(line.p_value < bound for bound in stars)
    if brackets == "conf_int":
        known = not np.isnan(line.conf_low)
        limits = f"[{tables.aligned(line.conf_low)}, {tables.aligned(line.conf_high)}]"
        return f"{tables.aligned(line.estimate)}{mark}", limits if known else ""
    value = getattr(line, brackets, np.nan)
    text = f"{value:.3f}" if brackets == "p_value" else tables.aligned(value)
    below = "" if np.isnan(value) else f"({text})"
    return f"{tables.aligned(line.estimate)}{mark}", below


def _with_error(line: DataColumn) -> str:
    error = line["std_error"]
    mean = tables.significant(line["estimate"])
    return mean if np.isnan(error) else f"{mean} ({tables.significant(error, 2)})"
