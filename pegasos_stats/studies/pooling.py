"""Rubin's rules: one table of the fits of multiply imputed data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from pegasos_stats import checks, tables
from pegasos_stats.arrays import Matrix
from pegasos_stats.errors import OptionError, counted, listing
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.inference.wald import INTERVAL_ENDS, estimates
from pegasos_stats.models.linear_results import LinearResults

POOLED = ["term", "estimate", "std_error", "statistic", "df", "p_value", *INTERVAL_ENDS]
POOLED += ["riv", "lambda", "fmi"]
BY_RUBIN = (
    "Standard errors have the variance between imputations (Rubin's rules); df by "
    "Barnard & Rubin (1999); fmi is the fraction of missing information."
)


@suggest_names("pooled")
@dataclass(frozen=True, repr=False, eq=False)
class PooledResults(tables.Summarised):
    """Coefficients of fits to imputed data, by Rubin's rules; made by `pool`.

    With estimates ``b_l`` and covariances ``U_l`` of ``m`` fits the estimate is their
    mean, and its covariance ``T = mean(U_l) + (1 + 1/m) B`` with ``B`` the covariance
    of the ``b_l``.

    Attributes
    ----------
    fits : tuple of LinearResults
    estimates : float64 array, shape (m, k)
        Coefficients of each fit.
    within : float64 array, shape (k, k)
        Mean covariance of the fits.
    df_complete : float
        Degrees of freedom if nothing were missing, ``n - k``; with clusters theirs.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> frames = [train.assign(p34=train["p34"] + shift % 3) for shift in range(5)]
    >>> fits = [ps.logit("digit ~ p34 + p43", frame).fit() for frame in frames]
    >>> ps.pool(fits).tidy()[["term", "estimate", "std_error", "df"]].round(2)
            term  estimate  std_error      df
    0  Intercept      0.45       0.50  144.43
    1        p34     -0.15       0.04  195.03
    2        p43      0.05       0.03  195.03
    """

    fits: tuple[LinearResults, ...]
    estimates: Matrix
    within: Matrix
    df_complete: float

    @property
    def m(self) -> int:
        """Number of imputations."""
        return len(self.fits)

    @property
    def nobs(self) -> int:
        """Rows of a fit; of the smallest, if they differ."""
        return min(fit.nobs for fit in self.fits)

    @property
    def params(self) -> "pd.Series[float]":
        """Pooled coefficients, by name."""
        return self._column("estimate", "params")

    @property
    def bse(self) -> "pd.Series[float]":
        """Standard errors, roots of the diagonal of `cov_params`."""
        return self._column("std_error", "bse")

    @property
    def pvalues(self) -> "pd.Series[float]":
        """Two-sided p-values by Student's t."""
        return self._column("p_value", "pvalues")

    def cov_params(self) -> pd.DataFrame:
        """Total covariance ``T``, shape (k, k)."""
        names = self.fits[0].params.index
        return pd.DataFrame(self.within + self._between, index=names, columns=names)

    @suggest_arguments
    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Intervals of level ``1 - alpha``, lower limits in column 0, upper in 1."""
        table = self.tidy(1.0 - checks.check_fraction("alpha", alpha)).set_index("term")
        return table[INTERVAL_ENDS].set_axis([0, 1], axis=1)

    @suggest_arguments
    def tidy(
        self, conf_level: float = 0.95, exponentiate: bool = False
    ) -> pd.DataFrame:
        """Coefficients as a data frame, as ``summary(pool(fit))`` of R's mice.

        Parameters
        ----------
        conf_level : float, default 0.95
        exponentiate : bool, default False
            Whether estimates and limits are odds ratios, for the log loss.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, df, p_value, conf_low,
            conf_high, riv, lambda, fmi``. ``riv`` is the relative increase of the
            variance by missing values, ``(1 + 1/m) B / mean(U)``; ``lambda`` their
            share of it, ``(1 + 1/m) B / T``; ``fmi`` the fraction of missing
            information, ``(riv + 2 / (df + 3)) / (1 + riv)``.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1, or odds ratios are requested for the
            hinge loss.
        """
        level = checks.check_fraction("conf_level", conf_level)
        checks.check_flag("exponentiate", exponentiate)
        if exponentiate:
            checks.check_log_loss(self.fits[0].problem.loss, "exponentiate=True (odds)")
        within, between = np.diag(self.within), np.diag(self._between)
        total, complete = within + between, self.df_complete
        with np.errstate(divide="ignore", invalid="ignore"):
            riv, share = between / within, between / total
            observed = (complete + 1) / (complete + 3) * complete * (1 - share)
            df = 1.0 / (np.square(share) / (self.m - 1) + 1.0 / observed)
        table = estimates(self.estimates.mean(axis=0), np.sqrt(total), df, level)
        if exponentiate:
            numbers = ["estimate", *INTERVAL_ENDS]
            table[numbers] = np.exp(table[numbers])
        table.insert(0, "term", self.fits[0].params.index)
        fmi = (riv + 2.0 / (df + 3.0)) / (1.0 + riv)
        of_missing = {"df": df, "riv": riv, "lambda": share, "fmi": fmi}
        return table.assign(**of_missing)[POOLED]

    @suggest_arguments
    def summary(self, alpha: float = 0.05) -> tables.Summary:
        """Header, table and a note; ``print()`` shows text, a notebook HTML.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        """
        alpha = checks.check_fraction("alpha", alpha)
        table, first = self.tidy(1.0 - alpha), self.fits[0]
        cells = tables.estimate_cells(table, ("t", "P>|t|"), alpha)
        cells = cells.drop(columns="t")
        for name in ("df", "fmi"):
            cells[name] = [f"{value:.{3 * (name == 'fmi')}f}" for value in table[name]]
        header = [
            f"Pooled fits, by the {first.problem.loss} loss",
            f"{first.coding.described}    {counted(self.m, 'imputation')}",
            f"n {self.nobs:,}    lambda {first.problem.lambda_text}",
        ]
        return tables.Summary(header, cells, [BY_RUBIN])

    @property
    def _between(self) -> Matrix:
        """``(1 + 1/m) B``."""
        deviations = self.estimates - self.estimates.mean(axis=0)
        factor = (1.0 + 1.0 / self.m) / (self.m - 1)
        return np.asarray(factor * deviations.T @ deviations)

    def _column(self, column: str, name: str) -> "pd.Series[float]":
        return self.tidy().set_index("term")[column].rename_axis(None).rename(name)

    # What the package maketables reads, as of a fit.

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        return tables.maketables_columns(self.tidy())

    @property
    def __maketables_depvar__(self) -> str:
        return self.fits[0].__maketables_depvar__

    __maketables_default_stat_keys__ = ("N", "m")
    __maketables_stat_labels__: ClassVar = {"m": "Imputations"}

    _field_rules = "estimates finite"

    def __maketables_stat__(self, key: str) -> object:
        return {"N": self.nobs, "m": self.m}.get(key)


@suggest_arguments
def pool(results: Sequence[LinearResults]) -> PooledResults:
    """Pool fits to multiply imputed data by Rubin's rules, as ``pool()`` of R's mice.

    The frames are from elsewhere, such as ``MICEData`` of statsmodels: fit the same
    model to each. Coefficients of ``standardize=True`` are pooled on the original scale
    of the predictors.

    Parameters
    ----------
    results : list or tuple of LinearResults
        Fits of the same model, one for each imputed frame, two or more. Their standard
        errors are those that they have, HC3 by default for the log loss.

    Returns
    -------
    PooledResults
        With ``summary(), tidy(), params, bse, conf_int(), pvalues, cov_params()``.
        Degrees of freedom are those of Barnard & Rubin, with ``n - k`` for complete
        data, or those of the clusters.

    Raises
    ------
    OptionError
        If there is one fit only, fits have the hinge loss, whose estimates are not
        nearly normal, or fits differ in terms, loss, lam or levels.

    References
    ----------
    Rubin, *Multiple Imputation for Nonresponse in Surveys* (1987), section 3.1.
    Barnard & Rubin, *Small-sample degrees of freedom with multiple imputation*,
    Biometrika 86 (1999).

    Examples
    --------
    See `PooledResults`.

    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> fits = [ps.logit("digit ~ p34", train, lam=lam).fit() for lam in (0.1, 0.2)]
    >>> ps.pool(fits)
    Traceback (most recent call last):
    pegasos_stats.errors.OptionError: The fits differ in lam: 0.1, 0.2; ...
    """
    fits = tuple(results) if isinstance(results, list | tuple) else ()
    if len(fits) < 2 or not all(isinstance(fit, LinearResults) for fit in fits):
        raise OptionError("pool() takes two or more fits of ps.logit() or ps.svm().")
    if any(fit.problem.loss == "hinge" for fit in fits):
        raise OptionError(
            "Fits with the hinge loss are not pooled: Rubin's rules need estimates "
            "that are nearly normal, and theirs are not. Pool fits of ps.logit(), or "
            'of ps.svm(..., loss="squared_hinge").'
        )
    for name, values in {
        "terms": [tuple(fit.params.index) for fit in fits],
        "loss": [fit.problem.loss for fit in fits],
        "lam": [fit.problem.lam for fit in fits],
        "levels": [tuple(fit.coding.levels) for fit in fits],
    }.items():
        if len(set(values)) > 1:
            differing = listing(dict.fromkeys(values))
            raise OptionError(f"The fits differ in {name}: {differing}; fit one model.")
    parts, degrees = [], []
    for fit in fits:
        errors = fit._errors
        degrees.append(errors.covariance.df)
        if fit.scaling is not None:
            errors = errors.original(fit.scaling.undoing(fit.problem.intercept))
        V, missing = errors.covariance.matrix.copy(), np.isnan(errors.std_error)
        V[missing] = V[:, missing] = np.nan
        parts.append((errors.estimate, V))
    estimates, covariances = (np.array(part) for part in zip(*parts, strict=True))
    rest = float(min(fit.df_resid for fit in fits))
    finite = [df for df in degrees if np.isfinite(df)]
    complete = max(1.0, min(finite, default=rest))
    return PooledResults(fits, estimates, covariances.mean(axis=0), complete)
