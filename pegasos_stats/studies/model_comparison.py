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
from pegasos_stats.errors import OptionError, counted, listing, shown
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
    validated = [pd.DataFrame(columns=["model", "term", "estimate", "std_error"])]
    if cross_validations is not None:
        cure = f"give those of ps.cross_validate() for fits of {listing(fits)}."
        given = named("cross_validations", cross_validations, CrossValidation, cure)
        if not set(given) <= set(fits):
            raise OptionError(f"is not allowed; {cure}", "cross_validations", given)
        validated += [found.tidy().assign(model=name) for name, found in given.items()]
    parts = [pd.DataFrame(columns=["model", *TIDY_COLUMNS])]
    for name, fit in fits.items():
        if isinstance(fit, LinearResults):
            scaled = original and fit.scaling is not None and fit.cov_type is not None
            table = fit.tidy(level, True) if scaled else fit.coefficient_table(level)
            parts.append(table.assign(model=name))
    return ModelComparison(
        fits=fits,
        estimates=_chosen(_joined(parts), terms),
        validated=_joined(validated),
        brackets=brackets,
        stars=bounds,
        level=level,
        original=bool(original),
    )


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Tables below each other, in the columns of the first, which is empty."""
    columns, filled = parts[0].columns, parts[1:]
    if not filled:
        return parts[0]
    return pd.concat(filled, ignore_index=True)[columns]


def _chosen(table: pd.DataFrame, terms: object) -> pd.DataFrame:
    """Rows of these terms; all, the intercept first, for None."""
    known = list(dict.fromkeys([INTERCEPT, *table["term"]]))
    chosen = [terms] if isinstance(terms, str) else terms
    if terms is not None:
        if not isinstance(chosen, list | tuple) or not all(
            is_name(name) and name in known for name in chosen
        ):
            raise OptionError(
                f"terms={shown(terms)} is not allowed; give a list of terms of these "
                f"fits: {listing(known)}."
            )
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
    raise OptionError(
        f"stars={shown(stars)} is not allowed; give True, False, or different bounds "
        "of p-values such as (0.01, 0.05, 0.1)."
    )


IN_BRACKETS: dict[str, str] = {
    "std_error": "Standard errors in brackets.",
    "conf_int": "{:.4g}% intervals in brackets.",
    "statistic": "Estimates divided by their standard errors in brackets.",
    "p_value": "p-values in brackets.",
}
OF_PENALISED = (
    "Errors, intervals and p-values are of the penalised fits, lambda taken as fixed."
)
# Columns of glance() and their headings, with the number of digits.
FACTS: dict[str, tuple[str, int]] = {
    "lam": ("lambda", 6),
    "objective": ("Objective", 5),
    "relative_gap": ("Relative gap", 2),
    "llf": ("Log-likelihood", 6),
    "df_effective": ("Effective df", 4),
    "aic": ("AIC", 6),
    "bic": ("BIC", 6),
    "prsquared": ("McFadden's R2", 4),
}


@suggest_names("comparison")
@dataclass(frozen=True, repr=False, eq=False)
class ModelComparison:
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
        table = tables.params_text(self.to_frame(), self._ruled)
        lines = [line.rstrip() for line in table]
        notes = ["\n".join(wrap(note, tables.WIDTH)) for note in self.notes]
        return "\n".join([*lines, *notes])

    def to_html(self) -> str:
        """An HTML table, and the notes as lines below it."""
        table = tables.params_html(self.to_frame(), self._ruled)
        return f"{table}\n{tables.lines_html(self.notes)}"

    def to_latex(self, caption: str = "", label: str = "") -> str:
        """LaTeX for the package booktabs, and the notes below it.

        Parameters
        ----------
        caption, label : str, optional
            As for the summary of a fit.
        """
        table = tables.params_latex(self.to_frame(), self._ruled)
        if caption or label:
            return tables.floating_latex(table, caption, label, self.notes)
        return "\n\n".join([table, *map(tables.latex, self.notes)])

    def to_markdown(self) -> str:
        """A table for Markdown, and the notes as paragraphs."""
        table = tables.params_markdown(self.to_frame())
        return "\n\n".join([table, *map(tables.markdown, self.notes)])

    @property
    def notes(self) -> list[str]:
        """Notes: what the numbers are, and which of them are not comparable."""
        fits, shown = list(self.fits.values()), self.brackets != "none"
        linear = {n: f for n, f in self.fits.items() if isinstance(f, LinearResults)}
        found = []
        if shown and len(self.estimates):
            found.append(IN_BRACKETS[self.brackets].format(100.0 * self.level))
        if self.stars:
            bounds = zip(range(len(self.stars), 0, -1), self.stars, strict=True)
            found.append(", ".join(f"{'*' * n} p < {p:g}" for n, p in bounds) + ".")
        if (shown or self.stars) and self.estimates["std_error"].notna().any():
            found.append(OF_PENALISED)
        if len({fit.problem.loss for fit in fits}) > 1:
            found.append(
                "Hinge and log loss have scores on scales of their own: neither "
                "coefficients nor objectives compare between them."
            )
        elif len({fit.problem.lam for fit in fits}) > 1:
            found.append("Objectives of different lambda do not compare.")
        if any(not np.array_equal(fits[0].problem.y, fit.problem.y) for fit in fits):
            found.append(
                "The fits are of different rows or outcomes: objectives, "
                "log-likelihoods, AIC and BIC do not compare."
            )
        levels = [fit.reference_levels.items() for fit in linear.values()]
        if references := sorted({f"{a} {b}" for each in levels for a, b in each}):
            found.append(f"Reference levels: {', '.join(references)}.")
        scaled = [name for name, fit in self.fits.items() if fit.scaling is not None]
        if scaled and not self.original:
            found.append(
                f"Coefficients of standardized predictors: {', '.join(scaled)}."
            )
        given = self.estimates.groupby("model")["std_error"].count()
        without = [name for name in linear if shown and not given.get(name, 0)]
        if without:
            found.append(
                f"Without standard errors, see summary(): {', '.join(without)}."
            )
        for name, fit in self.fits.items():
            errors = linear[name].notes_on_errors() if name in linear and shown else ()
            notes = [*fit.notes, *errors]
            if warned := sum(note.severity == "warning" for note in notes):
                found.append(
                    f"{name}: {counted(warned, 'warning')}, see its summary()."
                )
        return found

    @cached_property
    def _sections(self) -> list[pd.DataFrame]:
        """Rows above the estimates, the estimates, and those below."""
        fits = list(self.fits.values())
        above: dict[str, list[str]] = {
            "Outcome": [f"{fit.coding.name} = {fit.coding.positive}" for fit in fits],
            "Loss": [fit.problem.loss for fit in fits],
        }
        below: dict[str, list[str]] = {"Rows": [f"{fit.nobs:,}" for fit in fits]}
        facts = self.glance()
        if len(self.estimates):
            below["Standard errors"] = [_covariance(fit) for fit in fits]
        for column, (title, digits) in FACTS.items():
            if column in facts and facts[column].notna().any():
                below[title] = [
                    "" if np.isnan(v) else tables.significant(v, digits)
                    for v in facts[column]
                ]
        below["Training error"] = [
            "" if np.isnan(value) else f"{value:.2%}" for value in facts["error_rate"]
        ]
        for metric in self.validated["term"].unique():
            lines = self.validated[self.validated["term"] == metric]
            cells = lines.set_index("model").apply(_with_error, axis=1)
            below[f"Out of fold: {metric}"] = [
                str(cells.get(name, "")) for name in self.fits
            ]
        return [self._rows(above), self._terms(), self._rows(below)]

    def _rows(self, rows: Mapping[str, Sequence[str]]) -> pd.DataFrame:
        return pd.DataFrame(rows, index=list(self.fits)).T

    @property
    def _ruled(self) -> list[int]:
        """Rows before which there is a rule, if any other stand before them."""
        above, terms, _ = map(len, self._sections)
        return [above, above + terms] if terms else [above]

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

    __str__ = as_text
    __repr__ = as_text

    def _repr_html_(self) -> str:
        return self.to_html()


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
