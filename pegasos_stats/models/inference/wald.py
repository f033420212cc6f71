"""Wald tests and intervals, from coefficients and their covariance.

statsmodels has such tests too. Ours stand here because theirs take the rank of
``R V R'`` as it is, so that of hypotheses on scales far apart only some are tested, and
because their results cannot have the intervals of a bootstrap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.models.inference.resamples import BootstrapResult, behind_tests

TIDY_COLUMNS = [
    "term",
    "estimate",
    "std_error",
    "statistic",
    "p_value",
    "conf_low",
    "conf_high",
]


HALVINGS = 60  # of an interval, after which its ends are the same number


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates, each with a test and an interval.

    Attributes
    ----------
    estimate, std_error, statistic, p_value, conf_low, conf_high : float64 array,
        shape (m,)
        NaN where the standard error is.
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    level : float
        Confidence level of the intervals.
    """

    estimate: Vector
    std_error: Vector
    statistic: Vector
    p_value: Vector
    conf_low: Vector
    conf_high: Vector
    df: float
    level: float

    def frame(self, terms: Sequence[str]) -> pd.DataFrame:
        """A row for each term, with the columns of broom's ``tidy``."""
        numbers = {name: getattr(self, name) for name in TIDY_COLUMNS[1:]}
        return pd.DataFrame({"term": list(terms)} | numbers)


@dataclass(frozen=True, repr=False, eq=False)
class ContrastTests:
    """Linear combinations of coefficients, each estimated and tested alone.

    Made by ``result.t_test()``; attributes have the names that statsmodels gives them.

    Attributes
    ----------
    hypotheses : list of str, length m
    effect : float64 array, shape (m,)
        ``R theta``.
    sd : float64 array, shape (m,)
        Standard errors.
    null : float64 array, shape (m,)
        Values ``q`` under the hypotheses.
    df_denom : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    resampled : BootstrapResult or None
        The bootstrap of these combinations, where intervals are from it.
    bias : float64 array, shape (m,), or None
        Of `effect`, which intervals and p-values allow for.

    Examples
    --------
    >>> found = ContrastTests(["a - b = 0"], np.ones(1), np.ones(1), np.zeros(1))
    >>> print(found)
    ------------------------------------------------------------------------------
                    coef    std err          z      P>|z|     [0.025     0.975]
    a - b = 0     1.0000      1.000      1.000      0.317    -0.9600      2.960
    ------------------------------------------------------------------------------
    """

    hypotheses: Sequence[str]
    effect: Vector
    sd: Vector
    null: Vector
    df_denom: float = np.inf
    resampled: BootstrapResult | None = None
    bias: Vector | None = None

    def estimates(self, level: float = 0.95) -> Estimates:
        """Statistics, p-values and intervals of this level."""
        found = self._tested(level)
        if self.resampled is None:
            return found
        limits = self.resampled.conf_int(level)
        low, high = np.where(np.isnan(self.sd), np.nan, limits.T)
        return replace(found, conf_low=low, conf_high=high)

    def _tested(self, level: float = 0.95) -> Estimates:
        """Statistics and p-values; intervals but for those from resamples."""
        given = self.effect, self.sd, self.df_denom, level, self.null
        found = estimates(*given) if self.bias is None else biased(*given, self.bias)
        resampled = self.resampled
        if resampled is None:
            return found
        tested = resampled.p_values(self.null) if self.is_resampled else found.p_value
        untested = resampled.pinned | ~(self.sd > 0.0)
        return replace(
            found,
            statistic=np.where(untested, np.nan, found.statistic),
            p_value=np.where(untested, np.nan, tested),
        )

    @property
    def is_resampled(self) -> bool:
        """Whether p-values are counted from resamples, not by z or t."""
        return behind_tests(self.resampled) is not None

    @property
    def headings(self) -> list[str]:
        """Of the columns of tests in print."""
        is_biased = self.bias is not None
        return tables.headings_of_tests(self.df_denom, self.is_resampled, is_biased)

    @property
    def statistic(self) -> Vector:
        """``(effect - null) / sd``, shape (m,)."""
        return self._tested().statistic

    @property
    def tvalue(self) -> Vector:
        """The same as `statistic`."""
        return self.statistic

    @property
    def pvalue(self) -> Vector:
        """Two-sided p-values, shape (m,)."""
        return self._tested().p_value

    def conf_int(self, alpha: float = 0.05) -> Matrix:
        """Intervals of level ``1 - alpha``, shape (m, 2)."""
        found = self.estimates(1.0 - check_fraction("alpha", alpha))
        return np.column_stack([found.conf_low, found.conf_high])

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Estimates, tests and intervals, a row for each hypothesis.

        Without a column of statistics where p-values are from resamples.
        """
        found = self.estimates(1.0 - check_fraction("alpha", alpha))
        table = found.frame(self.hypotheses).set_index("term").rename_axis(None)
        if self.is_resampled:
            table = table.drop(columns="statistic")
        names = ["coef", "std err", *self.headings, "Conf. Int. Low", "Conf. Int. Upp."]
        return table.set_axis(names, axis=1)

    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """The same with broom's columns."""
        found = self.estimates(check_fraction("conf_level", conf_level))
        table = found.frame(self.hypotheses)
        table.insert(1, "null_value", self.null)
        return table

    def _cells(self) -> pd.DataFrame:
        return tables.estimate_cells(self.tidy(), self.headings)

    def __repr__(self) -> str:
        return "\n".join(tables.params_text(self._cells()))

    def _repr_html_(self) -> str:
        return tables.params_html(self._cells())


def estimates(
    estimate: Vector,
    std_error: Vector,
    df: float = np.inf,
    level: float = 0.95,
    null: Vector | float = 0.0,
) -> Estimates:
    """Statistics ``(estimate - null) / std_error``, two-sided p-values and intervals.

    Without an error there is no test: both are NaN.

    Parameters
    ----------
    estimate, std_error : float64 array, shape (m,)
    df : float
        Of Student's t; infinite for the normal distribution.
    level : float, default 0.95
    null : float or float64 array, shape (m,)
        Value under the hypothesis.

    Returns
    -------
    Estimates

    Raises
    ------
    OptionError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> found = estimates(np.array([3.0]), np.array([1.0]))
    >>> found.p_value.round(4), found.conf_low.round(2)
    (array([0.0027]), array([1.04]))
    """
    from scipy.stats import norm, t

    level = check_fraction("level", level)
    law = t(df) if np.isfinite(df) else norm
    with np.errstate(all="ignore"):
        statistic = np.where(std_error > 0.0, (estimate - null) / std_error, np.nan)
        reach = float(law.ppf((1.0 + level) / 2.0)) * std_error
        low, high = estimate - reach, estimate + reach
    return Estimates(
        estimate=estimate,
        std_error=std_error,
        statistic=statistic,
        p_value=2.0 * law.sf(np.abs(statistic)),
        conf_low=low,
        conf_high=high,
        df=df,
        level=level,
    )


@np.errstate(over="ignore", invalid="ignore")  # of a bias that is beyond all numbers
def biased(
    estimate: Vector,
    std_error: Vector,
    df: float,
    level: float,
    null: Vector | float,
    bias: Vector,
) -> Estimates:
    """The same for estimates that are about the true value plus a bias ``b``.

    The interval is ``estimate +- c`` with ``P(|b + std_error T| <= c) = level``, and
    the p-value ``P(|b + std_error T| >= |estimate - null|)``, where ``T`` has Student's
    t distribution, or the normal one.

    References
    ----------
    Armstrong & Kolesar, *Optimal inference in a class of regression models*,
    Econometrica 86 (2018).

    Examples
    --------
    >>> one = np.ones(1)
    >>> found = biased(3.0 * one, one, np.inf, 0.95, 0.0, one)
    >>> found.p_value.round(4), found.conf_low.round(2)  # 0.0027 and 1.04 without it
    (array([0.0228]), array([0.35]))
    """
    found = estimates(estimate, std_error, df, level, null)
    off = np.abs(in_errors(bias, std_error))
    reach = std_error * reach_of(off, df, level)
    return replace(
        found,
        p_value=beyond(np.abs(found.statistic), off, df),
        conf_low=estimate - reach,
        conf_high=estimate + reach,
    )


@np.errstate(over="ignore", invalid="ignore")  # of a fit whose file was edited
def in_errors(bias: Vector, std_error: Vector) -> Vector:
    """A bias in standard errors; 0 where these are 0.

    Examples
    --------
    >>> in_errors(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    nothing = np.zeros(len(bias))
    return np.divide(bias, std_error, nothing, where=std_error > 0.0)


def beyond(distance: Vector, off: Vector, df: float) -> Vector:
    """``P(|off + T| >= distance)``, of Student's t or the normal distribution."""
    from scipy.stats import norm, t

    law = t(df) if np.isfinite(df) else norm
    return np.asarray(law.sf(distance - off) + law.sf(distance + off))


def reach_of(off: Vector, df: float, level: float) -> Vector:
    """The distance that ``|off + T|`` has with a probability of `level` at most.

    Examples
    --------
    >>> reach_of(np.array([0.0, 1.0, 50.0]), np.inf, 0.95).round(4)
    array([ 1.96  ,  2.6461, 51.6449])
    """
    from scipy.stats import norm, t

    law = t(df) if np.isfinite(df) else norm
    low, high = off + law.ppf(level), off + law.ppf((1.0 + level) / 2.0)
    for _ in range(HALVINGS):  # one side alone is too near, both alike too far
        middle = (low + high) / 2.0
        short = beyond(middle, off, df) > 1.0 - level
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(high)


def t_test(
    theta: Vector,
    covariance: Matrix,
    R: Matrix,
    q: Vector | float = 0.0,
    df: float = np.inf,
    level: float = 0.95,
) -> Estimates:
    """Estimate each linear combination ``R theta``, and test ``R theta = q``.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    covariance : float64 array, shape (k, k)
    R : float64 array, shape (m, k)
    q : float or float64 array, shape (m,)
    df, level
        As for `estimates`.

    Returns
    -------
    Estimates
        Of shape (m,).

    Raises
    ------
    OptionError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> found = t_test(np.array([3.0, 1.0]), np.eye(2), np.array([[1.0, -1.0]]))
    >>> found.estimate, found.std_error.round(4)
    (array([2.]), array([1.4142]))
    """
    variances = np.einsum("ij,ij->i", R @ covariance, R)
    return estimates(R @ theta, np.sqrt(np.maximum(variances, 0.0)), df, level, q)
