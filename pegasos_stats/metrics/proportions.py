"""Confidence intervals of proportions and of their differences."""

from typing import Literal, NamedTuple

import numpy as np

from pegasos_stats.checks import check_fraction
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.metrics.rates import ratio

Method = Literal["exact", "wilson"]

STATSMODELS_NAMES = {"exact": "beta", "wilson": "wilson"}


class Interval(NamedTuple):
    """Confidence limits."""

    low: float
    high: float


def check_interval(method: str, level: float) -> float:
    """Return the level; raise `OptionError` if it or the method is not allowed."""
    if not isinstance(method, str) or method not in STATSMODELS_NAMES:
        raise OptionError(
            f"method={shown(method)} is not known; give 'exact' or 'wilson'."
        )
    return check_fraction("level", level)


def proportion_interval(
    count: int, n: int, method: Method = "exact", level: float = 0.95
) -> Interval:
    """Confidence interval of a proportion.

    Parameters
    ----------
    count, n : int
        The proportion is ``count / n``.
    method : "exact" or "wilson"
        Clopper and Pearson's interval, as R's ``binom.test``, or Wilson's score
        interval, as R's ``prop.test`` without correction.
    level : float, default 0.95

    Returns
    -------
    Interval
        ``(low, high)``; NaN where `n` is zero.

    Raises
    ------
    OptionError
        If the method is unknown or the level is not between 0 and 1.

    References
    ----------
    Clopper & Pearson, Biometrika 26 (1934); Wilson, JASA 22 (1927).

    Examples
    --------
    >>> proportion_interval(577, 600)
    Interval(low=0.943034446612..., high=0.975547536387...)
    """
    level = check_interval(method, level)
    if n == 0:
        return Interval(float("nan"), float("nan"))
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(
        count, n, alpha=1.0 - level, method=STATSMODELS_NAMES[method]
    )
    return Interval(float(low), float(high))


def paired_difference_interval(
    both: int, first: int, second: int, neither: int, level: float = 0.95
) -> Interval:
    """Newcombe's interval for the difference of two proportions of the same rows.

    The difference is ``(first - second) / n``. The interval combines the Wilson
    intervals of both proportions and allows for their correlation ``phi``, corrected
    for continuity: method 10 of Newcombe. Unlike Wald's it does not shrink to a point
    where no row is discordant. statsmodels has Newcombe's interval for independent
    samples only (``confint_proportions_2indep``).

    Parameters
    ----------
    both, first, second, neither : int
        Rows with the event in both, in the first only, in the second only, in neither.
    level : float, default 0.95

    Returns
    -------
    Interval
        ``(low, high)``; NaN where there is no row.

    References
    ----------
    Newcombe, Statistics in Medicine 17 (1998), 2635-2650, method 10.

    Examples
    --------
    >>> paired_difference_interval(1, 1, 7, 12)
    Interval(low=-0.506..., high=-0.025...)
    """
    n = both + first + second + neither
    p, q = ratio(both + first, n), ratio(both + second, n)
    low_p, high_p = proportion_interval(both + first, n, "wilson", level)
    low_q, high_q = proportion_interval(both + second, n, "wilson", level)
    together = both * neither - first * second
    corrected = max(together - n / 2, 0.0) if together > 0 else together
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    phi = corrected / margins**0.5 if margins else 0.0
    below = _squares_added(p - low_p, high_q - q, phi)
    above = _squares_added(high_p - p, q - low_q, phi)
    return Interval(p - q - below, p - q + above)


def _squares_added(one: float, other: float, phi: float) -> float:
    """Return the third side of a triangle, ``phi`` the cosine between the given two."""
    return float(np.sqrt(one**2 - 2 * phi * one * other + other**2))
