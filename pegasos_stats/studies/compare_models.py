"""Several fits side by side: a regression table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.checks import check_choice, check_flag, check_fraction, number_of
from pegasos_stats.data.foreign import is_name
from pegasos_stats.errors import OptionError, listing, shown
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.inference.wald import TIDY_COLUMNS
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import INTERCEPT
from pegasos_stats.studies.model_comparison import Brackets, ModelComparison
from pegasos_stats.studies.selection.cross_validation import CrossValidation

BRACKETS: tuple[Brackets, ...] = (
    "std_error",
    "conf_int",
    "statistic",
    "p_value",
    "none",
)
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
) -> ModelComparison:
    """Make a regression table of several fits: estimates, errors, goodness of fit.

    Terms are matched by name; kernel fits have none. `compare_errors` compares
    predictive performance.

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
    fits = _named(results)
    check_choice("brackets", brackets, BRACKETS)
    check_flag("original", original)
    level, bounds = check_fraction("conf_level", conf_level), _bounds(stars)
    validated = [pd.DataFrame(columns=["model", "term", "estimate", "std_error"])]
    for name, found in _validations(cross_validations, fits).items():
        validated.append(found.tidy().assign(model=name))
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


def _named(results: object) -> dict[str, Results]:
    """Fits by name, or raise `OptionError`."""
    if isinstance(results, list | tuple):
        results = {f"({j})": fit for j, fit in enumerate(results, 1)}
    if not isinstance(results, Mapping) or not results:
        raise OptionError(
            f"results={shown(results)} is not allowed; give fits by name, such as "
            "ps.compare_models({'hinge': a, 'log': b}), or a list of them."
        )
    for name, fit in results.items():
        if not is_name(name):
            raise OptionError(f"A fit is called {shown(name)}; give it a name as text.")
        if not isinstance(fit, Results):
            raise OptionError(
                f"{shown(name)} is of type {type(fit).__name__}; give fits, as "
                "model.fit() makes them."
            )
    return dict(results)


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


def _validations(given: Any, fits: Mapping[str, Results]) -> dict[str, CrossValidation]:
    """Cross-validations by the names of fits, or raise `OptionError`."""
    if given is None:
        return {}
    known = isinstance(given, Mapping) and set(given) <= set(fits)
    if known and all(isinstance(each, CrossValidation) for each in given.values()):
        return dict(given)
    raise OptionError(
        f"cross_validations={shown(given)} is not allowed; give those that "
        f"ps.cross_validate() makes, by the names of the fits: {listing(fits)}."
    )
