"""Intervals of statistics that are not simple proportions, such as kappa."""

from collections.abc import Callable
from math import atanh, exp, isnan, log, tanh
from typing import Any

import numpy as np

from pegasos_stats.checks import check_fraction
from pegasos_stats.metrics.proportions import Interval, Method, proportion_interval
from pegasos_stats.metrics.rates import Counts, true_negatives

NONE = Interval(float("nan"), float("nan"))
STEP = 1e-20  # imaginary; the derivative along it is exact to rounding
LEAST = 1e-12  # a standard error or a distance to 1 that is smaller is rounding

Statistic = Callable[[np.ndarray], Any]  # of shares, also complex ones


def kappa_interval(counts: Counts, level: float = 0.95) -> Interval:
    """Confidence interval of Cohen's kappa, by its variance on Fisher's scale.

    ``tanh(atanh(k) +- z s / (1 - k^2))`` with the error ``s`` of Fleiss, Cohen and
    Everitt, which is that of the delta method for independent rows.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
        Rows are actual, columns predicted levels.
    level : float, default 0.95

    Returns
    -------
    Interval
        NaN where kappa is not defined, or is 1 or -1, so that the variance is 0.

    References
    ----------
    Fleiss, Cohen & Everitt, Psychological Bulletin 72 (1969), equation 13.

    Examples
    --------
    >>> kappa_interval(np.array([[285, 15], [8, 292]]))
    Interval(low=0.8859..., high=0.9487...)
    """
    return _on_fishers_scale(_kappa, counts, level)


def matthews_interval(counts: Counts, level: float = 0.95) -> Interval:
    """Confidence interval of Matthews' correlation, on Fisher's scale.

    ``tanh(atanh(r) +- z s / (1 - r^2))`` with the error ``s`` of the delta method for
    independent rows; for two levels it is that of the coefficient phi.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    level : float, default 0.95

    Returns
    -------
    Interval
        NaN where the correlation is not defined, or is 1 or -1.

    References
    ----------
    Bishop, Fienberg & Holland, *Discrete Multivariate Analysis* (1975), section 11.3.

    Examples
    --------
    >>> matthews_interval(np.array([[285, 15], [8, 292]]))
    Interval(low=0.8864..., high=0.9488...)
    """
    return _on_fishers_scale(_matthews, counts, level)


def balanced_accuracy_interval(
    counts: Counts, positive: int = 1, level: float = 0.95
) -> Interval:
    """Confidence interval of the mean of sensitivity and specificity.

    From Wilson's limits of both: ``b - sqrt((p - l)^2 + (q - m)^2) / 2`` with lower
    limits ``l`` and ``m`` of the rates ``p`` and ``q``, and likewise with upper ones.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1
    level : float, default 0.95

    Returns
    -------
    Interval, NaN where one of the rates is not defined

    References
    ----------
    Newcombe, Statistics in Medicine 17 (1998), 873-890; Zou & Donner, Statistics in
    Medicine 27 (2008), 1693-1702.

    Examples
    --------
    >>> balanced_accuracy_interval(np.array([[285, 15], [8, 292]]))
    Interval(low=0.941..., high=0.973...)
    """
    pairs = (int(counts[positive, positive]), int(counts[positive].sum()))
    rates = [pairs, true_negatives(counts, positive)]
    if not all(n for _, n in rates):
        return NONE
    limits = [proportion_interval(k, n, "wilson", level) for k, n in rates]
    p = np.array([k / n for k, n in rates])
    low, high = np.array(limits).T
    middle = float(p.mean())
    below, above = np.linalg.norm(p - low) / 2.0, np.linalg.norm(high - p) / 2.0
    return Interval(middle - float(below), middle + float(above))


def predictive_interval(
    counts: Counts,
    positive: int = 1,
    share: float | None = None,
    method: Method = "exact",
    level: float = 0.95,
) -> Interval:
    """Confidence interval of the positive predictive value.

    With the prevalence of the table it is that of a proportion of the rows predicted
    as the class. With a prevalence that is given it is Mercaldo's on the scale of the
    log odds, ``log(sens p / ((1 - spec) (1 - p)))``, whose variance is ``(1 - sens) /
    (sens m) + spec / ((1 - spec) n)`` for ``m`` rows of the class and ``n`` others.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1
    share : float, optional
        Prevalence.
    method : "exact" or "wilson"
        Of a proportion.
    level : float, default 0.95

    Returns
    -------
    Interval, NaN where it is not defined

    References
    ----------
    Mercaldo, Lau & Zhou, Statistics in Medicine 26 (2007), 2170-2183.

    Examples
    --------
    >>> predictive_interval(np.array([[285, 15], [8, 292]]), 0)
    Interval(low=0.946..., high=0.988...)
    """
    hits, own = int(counts[positive, positive]), int(counts[positive].sum())
    if share is None:
        predicted = int(counts[:, positive].sum())
        return proportion_interval(hits, predicted, method, level)
    rejected, others = true_negatives(counts, positive)
    return _at_prevalence(hits, own, others - rejected, others, share, level)


def negative_predictive_interval(
    counts: Counts,
    positive: int = 1,
    share: float | None = None,
    method: Method = "exact",
    level: float = 0.95,
) -> Interval:
    """Confidence interval of the negative predictive value.

    Parameters
    ----------
    counts, positive, share, method, level
        As for `predictive_interval`.

    Examples
    --------
    >>> negative_predictive_interval(np.array([[285, 15], [8, 292]]), 0)
    Interval(low=0.920..., high=0.972...)
    """
    hits, own = int(counts[positive, positive]), int(counts[positive].sum())
    rejected, others = true_negatives(counts, positive)
    if share is None:
        of = rejected + own - hits
        return proportion_interval(rejected, of, method, level)
    return _at_prevalence(rejected, others, own - hits, own, 1.0 - share, level)


def _at_prevalence(
    right: int, own: int, wrong: int, others: int, share: float, level: float
) -> Interval:
    """Limits of ``r p / (r p + w (1 - p))``, ``r = right / own, w = wrong / others``.

    NaN where one of the rates is 0, or both are 1, or the prevalence is 0 or 1.
    """
    if not (right and wrong and 0.0 < share < 1.0):
        return NONE
    r, w = right / own, wrong / others
    middle = log(r * share / (w * (1.0 - share)))
    error = ((1.0 - r) / right + (1.0 - w) / wrong) ** 0.5
    if error == 0.0:
        return NONE
    half = quantile(level) * error
    return Interval(*(1.0 / (1.0 + exp(-x)) for x in (middle - half, middle + half)))


def quantile(level: float) -> float:
    """Normal quantile of a two-sided interval.

    Examples
    --------
    >>> quantile(0.95)
    1.959...
    """
    from scipy.special import ndtri

    return float(ndtri((1.0 + check_fraction("level", level)) / 2.0))


def _on_fishers_scale(statistic: Statistic, counts: Counts, level: float) -> Interval:
    """``tanh(atanh(g) +- z s / (1 - g^2))``, ``s`` by the delta method.

    ``s^2 = sum_ij p_ij g_ij^2 / n`` with the derivatives ``g_ij`` in the shares
    ``p_ij``, whose mean is 0 as the statistic does not depend on the number of rows.
    """
    z, n = quantile(level), int(counts.sum())
    if n == 0:
        return NONE
    shares = counts / n
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(np.real(statistic(shares.astype(np.complex128))))
        slopes = np.zeros(shares.shape)
        for cell in np.argwhere(counts):
            moved = shares.astype(np.complex128)
            moved[tuple(cell)] += STEP * 1j
            slopes[tuple(cell)] = np.imag(statistic(moved)) / STEP
    variance = float((shares * np.square(slopes)).sum()) / n
    room = (1.0 - value) * (1.0 + value)
    if isnan(value) or room < LEAST or not variance > LEAST**2:
        return NONE
    middle, half = atanh(value), z * variance**0.5 / room
    return Interval(tanh(middle - half), tanh(middle + half))


def _kappa(shares: np.ndarray) -> Any:
    total = shares.sum()
    chance = shares.sum(axis=0) @ shares.sum(axis=1) / total**2
    return (np.trace(shares) / total - chance) / (1.0 - chance)


def _matthews(shares: np.ndarray) -> Any:
    total = shares.sum()
    sides = [shares.sum(axis=axis) for axis in (0, 1)]
    apart = [total**2 - side @ side for side in sides]
    together = total * np.trace(shares) - sides[0] @ sides[1]
    return together / np.sqrt(apart[0] * apart[1])
