"""Rubin's rules for fits to multiply imputed data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from pegasos_stats import checks, tables
from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.language import hypotheses as linear
from pegasos_stats.errors import OptionError, counted, listing
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import NO_INFERENCE, ConfusionMatrix
from pegasos_stats.metrics.intervals import clustered_variance, rate_counts
from pegasos_stats.metrics.rates import Counts
from pegasos_stats.models.diagnostics import joint_tests_by_term
from pegasos_stats.models.effects import Margins
from pegasos_stats.models.inference.wald import INTERVAL_ENDS, JointTest, estimates
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.studies.comparisons import RocComparison

POOLED = ["term", "estimate", "std_error", "statistic", "df", "p_value", *INTERVAL_ENDS]
POOLED += ["riv", "lambda", "fmi"]
RATES = (
    *("error_rate", "sensitivity", "specificity"),
    *("pos_pred_value", "neg_pred_value"),
)
BY_RUBIN = (
    "Standard errors include the variance between imputations (Rubin's rules); df: "
    "Barnard & Rubin (1999); fmi: fraction of missing information."
)


class Rubin(NamedTuple):
    """Rubin's rules for single quantities.

    Attributes
    ----------
    estimate, total, df, riv, share, fmi : float64 array, shape (k,)
        Means; total variances; Barnard & Rubin's degrees of freedom; and the columns
        ``riv, lambda, fmi`` of `PooledResults.tidy`.
    """

    estimate: Vector
    total: Vector
    df: Vector
    riv: Vector
    share: Vector
    fmi: Vector

    @classmethod
    @np.errstate(divide="ignore", invalid="ignore")
    def of(cls, estimates: Matrix, within: Vector, complete: float) -> "Rubin":
        """Apply Rubin's rules to estimates, shape (m, k), and their mean variances.

        `complete` are the degrees of freedom of complete data; they may be infinite.

        Examples
        --------
        >>> rubin = Rubin.of(np.array([[1.0], [2.0], [3.0]]), np.array([1.0]), np.inf)
        >>> rubin.total.round(3), rubin.df.round(3)
        (array([2.333]), array([6.125]))
        """
        m = len(estimates)
        between = (1.0 + 1.0 / m) * estimates.var(axis=0, ddof=1)
        total = within + between
        riv, share = between / within, between / total
        df = (m - 1) / np.square(share)
        if np.isfinite(complete):
            observed = (complete + 1) / (complete + 3) * complete * (1 - share)
            df = 1.0 / (1.0 / df + 1.0 / observed)
        fmi = (riv + 2.0 / (df + 3.0)) / (1.0 + riv)
        return cls(estimates.mean(axis=0), total, df, riv, share, fmi)

    def table(self, level: float, null: Vector | float = 0.0) -> pd.DataFrame:
        """Return the columns of `POOLED` except the term."""
        table = estimates(self.estimate, np.sqrt(self.total), self.df, level, null)
        of_missing = {"df": self.df, "riv": self.riv, "lambda": self.share}
        return table.assign(**of_missing, fmi=self.fmi)


def joint_test(
    estimates: Matrix, within: Matrix, complete: float
) -> tuple[float, float]:
    """Compute the statistic and denominator df of `PooledResults.wald_test`.

    Parameters
    ----------
    estimates : float64 array, shape (m, k)
        Estimates minus the hypothesised values.
    within : float64 array, shape (k, k)
        Mean covariance of the estimates within imputations.
    complete : float
        Degrees of freedom of complete data.
    """
    m, k = estimates.shape
    mean, between = estimates.mean(axis=0), np.cov(estimates, rowvar=False, ddof=1)
    inverse = np.linalg.inv(within)
    r = (1.0 + 1.0 / m) * float(np.sum(np.atleast_2d(between) * inverse.T)) / k
    statistic, t = float(mean @ inverse @ mean) / (k * (1.0 + r)), k * (m - 1.0)
    if not r > 0.0:
        return statistic, complete
    if t <= 4.0:
        df = t * (1.0 + 1.0 / k) * (1.0 + 1.0 / r) ** 2 / 2.0
        return statistic, min(df, complete)
    a = r * t / (t - 2.0)
    if not np.isfinite(complete):
        return statistic, 4.0 + (t - 4.0) * (1.0 + 1.0 / a) ** 2
    v = (complete + 1.0) / (complete + 3.0) * complete
    c, one, four = 1.0 / (t - 4.0), v - 2.0 * (1.0 + a), v - 4.0 * (1.0 + a)
    z = 1.0 / four + c * a**2 * one / ((1.0 + a) ** 2 * four)
    z += c * (
        8.0 * a**2 * one / ((1.0 + a) * four**2) + 4.0 * a**2 / ((1.0 + a) * four)
    )
    z += c * (4.0 * a**2 / (four * one) + 16.0 * a**2 * one / four**3)
    z += c * 8.0 * a**2 / four**2
    return statistic, 4.0 + 1.0 / z


@suggest_names("pooled")
@dataclass(frozen=True, repr=False, eq=False)
class PooledResults(tables.Summarised):
    """Coefficients pooled by Rubin's rules; returned by `pool`.

    Let ``b_l`` be the estimates of ``m`` fits and ``U_l`` their covariances. The pooled
    estimate is the mean of the ``b_l``. Its covariance is ``T = mean(U_l) + (1 + 1/m)
    B`` with the sample covariance ``B`` of the ``b_l``.

    Attributes
    ----------
    fits : tuple of LinearResults
    estimates : float64 array, shape (m, k)
        Coefficients of each fit.
    within : float64 array, shape (k, k)
        Mean covariance matrix of the fits.
    df_complete : float
        Degrees of freedom of complete data: ``n - k``, or with clusters those of the
        cluster-robust covariance.

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
        """Number of rows of the smallest fit."""
        return min(fit.nobs for fit in self.fits)

    @property
    def params(self) -> "pd.Series[float]":
        """Pooled coefficients, by name."""
        return self._column("estimate", "params")

    @property
    def bse(self) -> "pd.Series[float]":
        """Standard errors: square roots of the diagonal of `cov_params`."""
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
        """Confidence limits of level ``1 - alpha``: lower in column 0, upper in 1."""
        table = self.tidy(1.0 - checks.check_fraction("alpha", alpha)).set_index("term")
        return table[INTERVAL_ENDS].set_axis([0, 1], axis=1)

    @suggest_arguments
    def tidy(
        self, conf_level: float = 0.95, exponentiate: bool = False
    ) -> pd.DataFrame:
        """Return coefficients as a data frame, like ``summary(pool(fit))`` of R's mice.

        Parameters
        ----------
        conf_level : float, default 0.95
        exponentiate : bool, default False
            Whether to return estimates and limits as odds ratios, for the log loss.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, df, p_value, conf_low,
            conf_high, riv, lambda, fmi``. ``riv``: relative increase of the variance
            due to missing values, ``(1 + 1/m) B / mean(U)``. ``lambda``: share of the
            variance due to missing values, ``(1 + 1/m) B / T``; it is not the penalty.
            ``fmi``: fraction of missing information,
            ``(riv + 2 / (df + 3)) / (1 + riv)``.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1, or odds ratios are requested for
            another loss than the log loss.
        """
        level = checks.check_fraction("conf_level", conf_level)
        checks.check_flag("exponentiate", exponentiate)
        if exponentiate:
            checks.check_log_loss(self.fits[0].problem.loss, "exponentiate=True (odds)")
        rubin = Rubin.of(self.estimates, np.diag(self.within), self.df_complete)
        table = rubin.table(level)
        if exponentiate:
            numbers = ["estimate", *INTERVAL_ENDS]
            table[numbers] = np.exp(table[numbers])
        table.insert(0, "term", self.fits[0].params.index)
        return table[POOLED]

    @suggest_arguments
    def wald_test(self, hypotheses: object) -> JointTest:
        """Test linear combinations of coefficients jointly, like ``D1()`` of R's mice.

        The statistic is ``D = (R b - q)' (R U R')^-1 (R b - q) / (k (1 + r))`` with the
        pooled estimate ``b``, the mean covariance ``U`` and ``k`` hypotheses. The
        relative increase in variance is ``r = (1 + 1/m) tr(R B R' (R U R')^-1) / k``.
        ``D`` is compared with the F distribution with ``k`` numerator degrees of
        freedom. The denominator degrees of freedom are Reiter's, which depend on the
        degrees of freedom of complete data. If ``k (m - 1)`` is 4 or less, Reiter's
        formula is not defined. Li, Raghunathan & Rubin's is used instead; its result is
        limited to the degrees of freedom of complete data.

        Parameters
        ----------
        hypotheses : str, list of str, or matrix
            As for ``result.wald_test``.

        Returns
        -------
        JointTest

        References
        ----------
        Li, Raghunathan & Rubin, JASA 86 (1991), 1065-1073; Reiter, Biometrika 94
        (2007), 502-508.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> frames = [train.assign(p34=train["p34"] + shift % 3) for shift in range(5)]
        >>> fits = [ps.logit("digit ~ p34 + p43", frame).fit() for frame in frames]
        >>> ps.pool(fits).wald_test("p34 = p43 = 0")
        <Wald test of p34 - p43 = 0, p43 = 0: F = 18.7, df = 2, 197, p = 3.65e-08>
        """
        from scipy.stats import f as f_law

        names = list(self.fits[0].params.index)
        R, q = linear.constraints(hypotheses, names)
        written = linear.written_hypotheses(R, q, names)
        statistic, df = joint_test(
            self.estimates @ R.T - q, R @ self.within @ R.T, self.df_complete
        )
        p = float(f_law.sf(statistic, len(R), df))
        return JointTest(statistic, p, len(R), df, written)

    def wald_test_terms(self) -> pd.DataFrame:
        """Test for each term of the formula whether all its coefficients are 0.

        Returns
        -------
        DataFrame
            Columns ``term, statistic, distribution, df, df_denom, p_value``, see
            `wald_test`.
        """
        return joint_tests_by_term(self.fits[0], self.wald_test)

    @suggest_arguments
    def summary(self, alpha: float = 0.05) -> tables.Summary:
        """Return header, table and a note: text in ``print()``, HTML in a notebook.

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
            f"Pooled fits with the {first.problem.loss} loss",
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

    _field_rules = "estimates finite"


Kind = Literal["plain", "log", "logit", "fisher", "wilson"]
TO_ESTIMATE = {"log": np.exp, "logit": expit, "fisher": np.tanh}


@dataclass(frozen=True, repr=False, eq=False)
class PooledEstimates(tables.Summarised):
    """Pooled effects, predictions, areas or rates; returned by `pool`.

    Attributes
    ----------
    title : str
    keys : DataFrame, k rows
        Term, contrast or other labels of each quantity.
    estimates, variances : float64 arrays, shape (m, k)
        Values for each imputation, on the scale on which they are pooled.
    kinds : tuple of str, length k
        Scale of each quantity: ``"plain"``; ``"log"`` for ratios; ``"logit"`` for
        areas, pooled as ``log(A / (1 - A))``; ``"fisher"`` for differences of areas,
        pooled as ``atanh(D)``; ``"wilson"`` for rates, such as the error rate and the
        sensitivity, with intervals of Lott & Reiter.
    sizes : float64 array, shape (k,)
        Number of rows in the denominator of a rate, averaged over the imputations; NaN
        for other quantities. With clusters it is at most the effective number
        ``p (1 - p) / v``, where ``v`` is the cluster-robust variance of the rate ``p``.
    null : float64 array, shape (k,)
        Value under the null hypothesis; NaN without a test.
    df_complete : float
        Degrees of freedom of complete data: infinite, or from the clusters.

    References
    ----------
    Marshall, Altman, Holder & Royston, BMC Medical Research Methodology 9 (2009), on
    scales. Lott & Reiter, American Statistician 74 (2020), 109-115, on rates.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> frames = [train.assign(p34=train["p34"] + shift % 3) for shift in range(5)]
    >>> fits = [ps.logit("digit ~ p34 + p43", frame).fit() for frame in frames]
    >>> pooled = ps.pool([fit.margins() for fit in fits])
    >>> pooled.tidy()[["term", "contrast", "estimate", "std_error"]].round(3)
      term contrast  estimate  std_error
    0  p34    dY/dX    -0.029      0.006
    1  p43    dY/dX     0.010      0.006
    """

    title: str
    keys: pd.DataFrame
    estimates: Matrix
    variances: Matrix
    kinds: tuple[Kind, ...]
    sizes: Vector
    null: Vector
    df_complete: float = np.inf

    @property
    def m(self) -> int:
        """Number of imputations."""
        return len(self.estimates)

    @suggest_arguments
    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Return one row per quantity: `keys`, and the columns of `PooledResults.tidy`.

        Parameters
        ----------
        conf_level : float, default 0.95
        """
        from scipy.stats import t as student

        level = checks.check_fraction("conf_level", conf_level)
        rubin = Rubin.of(self.estimates, self.variances.mean(axis=0), self.df_complete)
        table = rubin.table(level, self.null)
        names = ["estimate", "std_error", *INTERVAL_ENDS]
        numbers = table[names].to_numpy(dtype=np.float64, copy=True)
        for row, kind in enumerate(self.kinds):
            if back := TO_ESTIMATE.get(kind):
                value, error, *ends = numbers[row]
                value = float(back(value))
                slope = value if kind == "log" else 1.0 - value**2
                slope = value * (1.0 - value) if kind == "logit" else slope
                numbers[row] = value, error * slope, *back(ends)
            elif kind == "wilson":
                q, n = rubin.estimate[row], self.sizes[row]
                t = float(student.ppf((1.0 + level) / 2.0, rubin.df[row]))
                c = t**2 * (1.0 + np.nan_to_num(rubin.riv[row])) / n
                middle, half = (2.0 * q + c) / (2.0 * (1.0 + c)), q**2 / (1.0 + c)
                half = np.sqrt(max(0.0, middle**2 - half))
                numbers[row, 2:] = middle - half, middle + half
        table[names] = numbers
        table = pd.concat([self.keys.reset_index(drop=True), table], axis=1)
        return table[[*self.keys, *POOLED[1:]]]

    @suggest_arguments
    def summary(self, alpha: float = 0.05, *, digits: int = 3) -> tables.Summary:
        """Return the table and a note: text in ``print()``, HTML in a notebook.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        digits : int, default 3
            Number of decimals.
        """
        table = self.tidy(1.0 - checks.check_fraction("alpha", alpha))
        keys = [": ".join(map(str, row)) for row in self.keys.to_numpy()]
        table = table.drop(columns=list(self.keys)).assign(term=keys)
        cells = tables.estimate_cells(table, ("t", "P>|t|"), alpha, digits)
        cells = cells.drop(columns="t").rename(columns={"coef": "estimate"})
        if np.isnan(self.null).all():
            cells = cells.drop(columns="P>|t|")
        for name in ("df", "fmi"):
            cells[name] = [f"{value:.{3 * (name == 'fmi')}f}" for value in table[name]]
        return tables.Summary([self.title], cells, [BY_RUBIN])


def pool_margins(parts: Sequence[Margins]) -> PooledEstimates:
    """Pool effects or predictions."""
    first = parts[0]
    for part in parts[1:]:
        if not part.keys.equals(first.keys):
            raise OptionError(
                "Effects differ in their terms; compute the same effects of each fit."
            )
        if part.comparison != first.comparison:
            raise OptionError(
                "Effects differ in comparison=; compute the same effects of each fit."
            )
    tests = [part.estimates for part in parts]
    if any(test.is_resampled for test in tests):
        raise OptionError(
            "Effects with bootstrap standard errors, as for the hinge loss, cannot be "
            "pooled: Rubin's rules need estimates that are nearly normal. Pool effects "
            "of ps.logit()."
        )
    effects = np.array([test.effect for test in tests])
    errors = np.array([test.sd for test in tests])
    kind: Kind = "log" if first.comparison == "ratio" else "plain"
    if kind == "log":
        effects, errors = np.log(effects), errors / effects
    finite = [test.df_denom for test in tests if np.isfinite(test.df_denom)]
    k = len(first.keys)
    null = np.full(k, np.nan) if first.are_predictions else tests[0].null
    return PooledEstimates(
        title=f"Pooled: {first.title}, {counted(len(parts), 'imputation')}",
        keys=first.keys,
        estimates=effects,
        variances=np.square(errors),
        kinds=(kind,) * k,
        sizes=np.full(k, np.nan),
        null=np.zeros(k) if kind == "log" else null,
        df_complete=min(finite, default=np.inf),
    )


def pool_areas(parts: Sequence[RocComparison]) -> PooledEstimates:
    """Pool two areas and their difference."""
    names = list(parts[0].table["term"])
    if len({(part.names, part.levels) for part in parts}) > 1:
        raise OptionError(
            "The comparisons differ in names= or positive=; pass the same values."
        )
    values = np.array([part.table["estimate"] for part in parts], dtype=float)
    errors = np.array([part.table["std_error"] for part in parts], dtype=float)
    slopes = values * (1.0 - values)
    slopes[:, 2] = 1.0 - values[:, 2] ** 2
    pooled = logit(values[:, :2])
    return PooledEstimates(
        title=f"Pooled areas under ROC curves, {counted(len(parts), 'imputation')}",
        keys=pd.DataFrame({"term": names}),
        estimates=np.column_stack([pooled, np.arctanh(values[:, 2])]),
        variances=np.square(errors / slopes),
        kinds=("logit", "logit", "fisher"),
        sizes=np.full(3, np.nan),
        null=np.array([np.nan, np.nan, 0.0]),
    )


def hits_and_totals(counts: Counts, at: int) -> np.ndarray:
    """Return numerators and denominators of the rates `RATES`, along the last axis."""
    pairs = rate_counts(counts[..., :-1], at)
    return np.stack([pairs[name] for name in RATES], axis=-1)


def pool_tables(parts: Sequence[ConfusionMatrix]) -> PooledEstimates:
    """Pool error rates, and areas under the ROC curve if there are scores."""
    classes = {(part.levels, part.positive) for part in parts}
    if len(classes) > 1 or len(parts[0].levels) > 2:
        raise OptionError(
            "Tables need the same two levels and positive class; predict one outcome."
        )
    if any(part.choices.prevalence for part in parts):
        raise OptionError("Tables with prevalence= cannot be pooled; omit it.")
    if any(part.source in NO_INFERENCE for part in parts):
        raise OptionError(
            "Tables of training rows, of folds or with weights have no intervals, and "
            "cannot be pooled; pass tables of new rows."
        )
    rates, sizes, clusters = [], [], [np.inf]
    for part in parts:
        at = part.levels.index(part.positive)
        hits, totals = hits_and_totals(part.counts, at)
        p, n = hits / totals, totals.astype(float)
        if part.by_cluster is not None:
            own = hits_and_totals(part.by_cluster, at)
            with np.errstate(divide="ignore", invalid="ignore"):
                n = np.fmin(n, p * (1.0 - p) / clustered_variance(*own))
            clusters.append(np.count_nonzero(own[1][:, 0]) - 1.0)
        rates.append(p)
        sizes.append(n)
    values, n = np.array(rates), np.array(sizes).mean(axis=0)
    variances, terms = values * (1.0 - values) / np.array(sizes), list(RATES)
    kinds: list[Kind] = ["wilson"] * len(terms)
    scored = [part.scored for part in parts if part.scored is not None]
    areas = [rows.area_and_variance() for rows in scored if rows.scores is not None]
    if len(areas) == len(parts):
        area, variance = np.array(areas).T
        values = np.column_stack([values, logit(area)])
        variances = np.column_stack([variances, variance / (area * (1 - area)) ** 2])
        terms, n = [*terms, "auc"], np.append(n, np.nan)
        kinds.append("logit")
    return PooledEstimates(
        title=f"Pooled error rates, {counted(len(parts), 'imputation')}",
        keys=pd.DataFrame({"term": terms}),
        estimates=values,
        variances=variances,
        kinds=tuple(kinds),
        sizes=n,
        null=np.full(len(terms), np.nan),
        df_complete=min(clusters),
    )


@overload
def pool(results: Sequence[LinearResults]) -> PooledResults: ...


@overload
def pool(
    results: Sequence[Margins] | Sequence[ConfusionMatrix] | Sequence[RocComparison],
) -> PooledEstimates: ...


@suggest_arguments
def pool(results: Sequence[Any]) -> PooledResults | PooledEstimates:
    """Pool fits to multiply imputed data by Rubin's rules, like ``pool()`` of R's mice.

    Create the imputed frames with another package, such as ``MICEData`` of statsmodels,
    and fit the same model to each. Coefficients of ``standardize=True`` are pooled on
    the original scale of the predictors.

    Parameters
    ----------
    results : list or tuple of LinearResults
        Two or more fits of the same model, one per imputed frame. The variance within
        imputations is the mean of the fits' own covariances, by default HC3. Instead of
        fits, pass the results of ``result.margins()``, ``result.predictions()``,
        ``result.confusion(data)`` or `compare_roc`, one per frame.

    Returns
    -------
    PooledResults, or PooledEstimates
        Pooled fits have ``summary(), tidy(), params, bse, conf_int(), pvalues,
        cov_params(), wald_test()``; pooled margins, tables and areas have ``summary(),
        tidy()``. Degrees of freedom are Barnard & Rubin's. Their formula requires the
        degrees of freedom of complete data: ``n - k`` for fits, infinite for other
        results, and with clusters the degrees of freedom of the clusters.

    Raises
    ------
    OptionError
        If there is only one fit, or fits differ in terms, loss, lam or classes; if fits
        have the hinge loss, whose estimates are not nearly normal; if effects have
        bootstrap standard errors; or if tables have no intervals, as for training rows,
        or have ``prevalence=``.

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
    if len(fits) > 1:
        for kind, pooling in (
            (Margins, pool_margins),
            (ConfusionMatrix, pool_tables),
            (RocComparison, pool_areas),
        ):
            if all(isinstance(fit, kind) for fit in fits):
                return pooling(fits)
    if len(fits) < 2 or not all(isinstance(fit, LinearResults) for fit in fits):
        raise OptionError(
            "pool() needs two or more fits of ps.logit() or ps.svm(), or two or more "
            "of their margins, predictions, tables or ROC comparisons."
        )
    if any(fit.problem.loss == "hinge" for fit in fits):
        raise OptionError(
            "Fits with the hinge loss cannot be pooled: Rubin's rules need estimates "
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
            raise OptionError(
                f"The fits differ in {name}: {differing}; fit the same model to each "
                "frame."
            )
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
