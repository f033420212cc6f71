"""Wald tests and intervals, from coefficients and their covariance.

statsmodels has such tests too. Ours stand here because theirs take the rank of
``R V R'`` as it is, so that of hypotheses on scales far apart only some are tested, and
because their results cannot have the intervals of a bootstrap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.errors import counted
from pegasos_stats.models.inference.resamples import BootstrapResult, two_sided

TIDY_COLUMNS = [
    "term",
    "estimate",
    "std_error",
    "statistic",
    "p_value",
    "conf_low",
    "conf_high",
]


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates, each with a test and an interval.

    Attributes
    ----------
    estimate, std_error, statistic, p_value, conf_low, conf_high : float64 array,
        shape (m,)
        NaN where the standard error is.
    df : float
        Degrees of freedom of Student's t; infinite for the normal law.
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
        Degrees of freedom of Student's t; infinite for the normal law.
    resampled : BootstrapResult or None
        The bootstrap of these combinations, where intervals are from it.

    Examples
    --------
    >>> found = ContrastTests(["a - b = 0"], np.ones(1), np.ones(1), np.zeros(1))
    >>> print(found)
    ==============================================================================
                    coef    std err          z      P>|z|     [0.025     0.975]
    ------------------------------------------------------------------------------
    a - b = 0     1.0000      1.000      1.000      0.317    -0.9600      2.960
    ==============================================================================
    """

    hypotheses: Sequence[str]
    effect: Vector
    sd: Vector
    null: Vector
    df_denom: float = np.inf
    resampled: BootstrapResult | None = None

    def estimates(self, level: float = 0.95) -> Estimates:
        """Statistics, p-values and intervals of this level."""
        found = estimates(self.effect, self.sd, self.df_denom, level, self.null)
        resampled = self.resampled
        if resampled is None:
            return found
        low, high = resampled.conf_int(level).T
        tested = (
            resampled.p_values(self.null) if resampled.is_symmetric else found.p_value
        )
        pinned = resampled.pinned
        return replace(
            found,
            conf_low=low,
            conf_high=high,
            statistic=np.where(pinned, np.nan, found.statistic),
            p_value=np.where(pinned, np.nan, tested),
        )

    @property
    def statistic(self) -> Vector:
        """``(effect - null) / sd``, shape (m,)."""
        return self.estimates().statistic

    @property
    def tvalue(self) -> Vector:
        """The same as `statistic`."""
        return self.statistic

    @property
    def pvalue(self) -> Vector:
        """Two-sided p-values, shape (m,)."""
        return self.estimates().p_value

    def conf_int(self, alpha: float = 0.05) -> Matrix:
        """Intervals of level ``1 - alpha``, shape (m, 2)."""
        found = self.estimates(1.0 - check_fraction("alpha", alpha))
        return np.column_stack([found.conf_low, found.conf_high])

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Estimates, tests and intervals, a row for each hypothesis."""
        found = self.estimates(1.0 - check_fraction("alpha", alpha))
        letter = tables.statistic_name(self.df_denom)
        names = ["coef", "std err", letter, f"P>|{letter}|"]
        names += ["Conf. Int. Low", "Conf. Int. Upp."]
        table = found.frame(self.hypotheses).set_index("term").rename_axis(None)
        return table.set_axis(names, axis=1)

    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """The same with broom's columns."""
        found = self.estimates(check_fraction("conf_level", conf_level))
        table = found.frame(self.hypotheses)
        table.insert(1, "null_value", self.null)
        return table

    def _cells(self) -> pd.DataFrame:
        return tables.estimate_cells(self.tidy(), self.df_denom)

    def __repr__(self) -> str:
        return "\n".join(tables.params_text(self._cells()))

    def _repr_html_(self) -> str:
        return tables.params_html(self._cells())


@dataclass(frozen=True, repr=False, eq=False)
class JointTest:
    """Wald's test of several hypotheses together; made by ``result.wald_test()``.

    Attributes
    ----------
    statistic : float
        ``(R theta - q)' (R V R')^-1 (R theta - q)``, for the F law divided by `df_num`.
    pvalue : float
    df_num : int
        Number of hypotheses that do not follow from the others.
    df_denom : float
        Of the F law; infinite for the chi-squared law.
    hypotheses : list of str
    replicates : int
        Resamples of the bootstrap whose statistics this one is compared with, instead
        of a law; 0 if there are none.

    Examples
    --------
    >>> JointTest(10.0, 0.00674, 2, hypotheses=["a = 0", "b = 0"])
    <Wald test of a = 0, b = 0: chi2 = 10, df = 2, p = 0.00674>
    """

    statistic: float
    pvalue: float
    df_num: int
    df_denom: float = np.inf
    hypotheses: Sequence[str] = ()
    replicates: int = 0

    @property
    def distribution(self) -> Literal["chi2", "F", "bootstrap"]:
        """Law of the statistic."""
        if self.replicates:
            return "bootstrap"
        return "F" if np.isfinite(self.df_denom) else "chi2"

    def __repr__(self) -> str:
        finite = np.isfinite(self.df_denom)
        df = f"{self.df_num}, {self.df_denom:.4g}" if finite else f"{self.df_num}"
        by = f" by {counted(self.replicates, 'replicate')}" * bool(self.replicates)
        letter = "W" if self.replicates else self.distribution
        return (
            f"<Wald test of {', '.join(self.hypotheses)}: {letter} = "
            f"{tables.significant(self.statistic)}, df = {df}, p = "
            f"{tables.significant(self.pvalue, 3)}{by}>"
        )


def estimates(
    estimate: Vector,
    std_error: Vector,
    df: float = np.inf,
    level: float = 0.95,
    null: Vector | float = 0.0,
) -> Estimates:
    """Statistics ``(estimate - null) / std_error``, two-sided p-values and intervals.

    Parameters
    ----------
    estimate, std_error : float64 array, shape (m,)
    df : float
        Of Student's t; infinite for the normal law.
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
        statistic = (estimate - null) / std_error
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
    return estimates(R @ theta, np.sqrt(variances), df, level, q)


def wald_test(
    theta: Vector,
    covariance: Matrix,
    R: Matrix,
    q: Vector | float = 0.0,
    df: float = np.inf,
    hypotheses: Sequence[str] = (),
) -> JointTest:
    """Test ``R theta = q`` by the chi-squared law, by the F law for finite `df`.

    Hypotheses that follow from the others are not counted twice.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    covariance : float64 array, shape (k, k)
    R : float64 array, shape (m, k)
    q : float or float64 array, shape (m,)
    df : float
        Of the covariance; infinite for the chi-squared law.
    hypotheses : list of str, length m
        What the rows say, in names.

    Returns
    -------
    JointTest
        NaN where the covariance is not defined.

    References
    ----------
    Wald, *Tests of statistical hypotheses concerning several parameters when the number
    of observations is large*, Transactions of the AMS 54 (1943).

    Examples
    --------
    >>> wald_test(np.array([3.0, 1.0]), np.eye(2), np.eye(2)).statistic
    10.0
    """
    from scipy.stats import chi2, f

    R = np.atleast_2d(R)
    middle = R @ covariance @ R.T
    if not np.isfinite(middle).all():
        rank = int(np.linalg.matrix_rank(R))
        return JointTest(np.nan, np.nan, rank, df, hypotheses)
    whiten = whitening(middle)
    image, rank = whiten @ (R @ theta - q), len(whiten)
    statistic = float(image @ image)
    if np.isinf(df):
        pvalue = float(chi2.sf(statistic, rank))
    else:
        statistic /= rank
        pvalue = float(f.sf(statistic, rank, df))
    return JointTest(statistic, pvalue, rank, df, hypotheses)


def whitening(middle: Matrix) -> Matrix:
    """``A`` of full row rank with ``A'A`` the inverse of a covariance.

    Directions without variance, on the scale of each diagonal element, are left out.

    Examples
    --------
    >>> whitening(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ]])
    """
    scale = np.sqrt(np.diag(middle))  # to unit variances, whatever the scales
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(middle / np.outer(scale, scale))
    kept = values > 1e-10 * len(values)
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T / scale)


def hotelling_test(
    theta: Vector,
    covariance: Matrix,
    rows: float,
    R: Matrix,
    q: Vector,
    hypotheses: Sequence[str] = (),
) -> JointTest:
    """Test ``R theta = q`` with a covariance that is worth so many rows.

    For ``m`` hypotheses ``W (rows - m + 1) / rows / m`` is compared with the F law with
    ``m`` and ``rows - m + 1`` degrees of freedom; NaN if there are too few rows.

    References
    ----------
    Hotelling, *The generalization of Student's ratio*, Annals of Mathematical
    Statistics 2 (1931).

    Examples
    --------
    >>> hotelling_test(np.array([3.0, 1.0]), np.eye(2), 40.0, np.eye(2), np.zeros(2))
    <Wald test of : F = 4.875, df = 2, 39, p = 0.0129>
    """
    from scipy.stats import f

    found = wald_test(theta, covariance, R, q)
    m = found.df_num
    df = rows - m + 1.0
    if df <= 0.0:
        return replace(found, pvalue=np.nan, hypotheses=hypotheses)
    statistic = found.statistic * df / (rows * m)
    return JointTest(statistic, float(f.sf(statistic, m, df)), m, df, hypotheses)


def resampled_test(
    found: BootstrapResult, R: Matrix, q: Vector, hypotheses: Sequence[str] = ()
) -> JointTest:
    """Test ``R theta = q`` by the statistics of the resamples.

    With ``W(t) = t' (R V R')^-1 t`` the p-value is ``2 (1 + c) / (1 + m)``, at most 1,
    where ``c`` of ``m`` resamples have ``W(R theta_b - R theta)`` as large as ``W(R
    theta - q)`` and lie on one side of the plane through the estimate across to the
    hypothesis: on that side where there are more. What is pinned at its hypothesis is
    no part of the test; what is pinned elsewhere leaves it undefined.

    Parameters
    ----------
    found : BootstrapResult
        Of ``theta``.
    R : float64 array, shape (m, k)
    q : float64 array, shape (m,)
    hypotheses : list of str, length m
    """
    each, m = found.combined(R), len(found.estimates)
    apart, free = each.estimate - q, ~each.pinned
    held = np.abs(apart) <= each.solver_noise
    if not (held | free).all():
        return JointTest(np.nan, np.nan, 0, np.inf, hypotheses, m)
    whiten = whitening(each.covariance[np.ix_(free, free)])
    image = whiten @ apart[free]
    images = (each.estimates - each.estimate)[:, free] @ whiten.T
    as_large = (images * images).sum(axis=1) >= image @ image
    side = images @ image
    count = max((as_large & (side > 0.0)).sum(), (as_large & (side < 0.0)).sum())
    pvalue = float(two_sided(count, m)) if free.any() else np.nan
    return JointTest(float(image @ image), pvalue, len(whiten), np.inf, hypotheses, m)
