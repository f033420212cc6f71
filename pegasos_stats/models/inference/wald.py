"""Tests and intervals from coefficients and their covariance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import OptionError, shown
from pegasos_stats.models.inference.hypotheses import constraints

__all__ = [
    "Estimates",
    "WaldTest",
    "check_level",
    "constraints",
    "estimates",
    "t_test",
    "wald_test",
]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


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


@dataclass(frozen=True, eq=False)
class WaldTest:
    """Test of linear hypotheses together.

    Attributes
    ----------
    statistic : float
        ``(R theta - q)' (R V R')^-1 (R theta - q)``, divided by `df` for the F law.
    p_value : float
    df : int
        Number of hypotheses that do not follow from the others.
    df_denominator : float
        Of the F law; infinite for the chi-squared law.
    """

    statistic: float
    p_value: float
    df: int
    df_denominator: float


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
    check_level(level)
    law = _law(df)
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
) -> WaldTest:
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

    Returns
    -------
    WaldTest
        NaN where the covariance is not defined.

    References
    ----------
    Wald, *Tests of statistical hypotheses concerning several parameters when the number
    of observations is large*, Transactions of the AMS 54 (1943).

    Examples
    --------
    >>> wald_test(np.array([3.0, 1.0]), np.eye(2), np.eye(2))
    WaldTest(statistic=10.0, p_value=0.0067..., df=2, df_denominator=inf)
    """
    from scipy.stats import chi2, f

    R = np.atleast_2d(R)
    middle = R @ covariance @ R.T
    if not np.isfinite(middle).all():
        return WaldTest(np.nan, np.nan, int(np.linalg.matrix_rank(R)), df)
    statistic, rank = _squared_length((R @ theta - q), middle)
    if np.isinf(df):
        return WaldTest(statistic, float(chi2.sf(statistic, rank)), rank, df)
    statistic /= rank
    return WaldTest(statistic, float(f.sf(statistic, rank, df)), rank, df)


def check_level(level: Any) -> None:
    """Raise `OptionError` unless the level is a number between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0.0 < level < 1.0:
        raise OptionError(
            f"level={shown(level)} is not allowed; give a number between 0 and 1."
        )


def _law(df: float) -> Any:
    from scipy.stats import norm, t

    return t(df) if np.isfinite(df) else norm


def _squared_length(apart: Vector, middle: Matrix) -> tuple[float, int]:
    """``apart' middle^-1 apart`` and the rank, all scaled to unit variances."""
    scale = np.sqrt(np.diag(middle))
    scale[scale == 0.0] = 1.0
    correlation, apart = middle / np.outer(scale, scale), apart / scale
    values, vectors = np.linalg.eigh(correlation)
    kept = values > 1e-10 * len(values)
    image = vectors[:, kept].T @ apart
    return float(image @ (image / values[kept])), int(kept.sum())
