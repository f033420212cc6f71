"""Confidence intervals of proportions, their differences, and other statistics."""

from collections.abc import Callable
from math import atanh, exp, isnan, log, tanh
from typing import Literal, NamedTuple, get_args

import numpy as np

from pegasos_stats.arrays import Codes, Vector
from pegasos_stats.checks import check_choice, check_fraction
from pegasos_stats.metrics import rates
from pegasos_stats.metrics.rates import Counts
from pegasos_stats.metrics.scores import SCORES_AT_ONCE, area_under_curve

Method = Literal["exact", "wilson"]

METHODS: tuple[Method, ...] = get_args(Method)
STATSMODELS_NAMES = {"exact": "beta", "wilson": "wilson"}
COMPLEX_STEP = 1e-20  # imaginary; the derivative is exact to rounding
MIN_STANDARD_ERROR = 1e-12  # smaller values, also of 1 - g^2, are rounding errors


class Interval(NamedTuple):
    """Confidence limits."""

    low: float
    high: float


NONE = Interval(float("nan"), float("nan"))


def check_interval(method: str, level: float) -> float:
    """Return the level; raise `OptionError` if it or the method is not allowed."""
    check_choice("method", method, METHODS)
    return check_fraction("level", level)


def proportion_interval(
    count: float, n: float, method: Method = "exact", level: float = 0.95
) -> Interval:
    """Confidence interval of a proportion.

    Parameters
    ----------
    count, n : int, or float for an effective number of rows
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
        return NONE
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
    for continuity: method 10 of Newcombe. Unlike Wald's interval it does not shrink to
    a point if no row is discordant. statsmodels implements Newcombe's interval only for
    independent samples (``confint_proportions_2indep``).

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
    p, q = rates.ratio(both + first, n), rates.ratio(both + second, n)
    low_p, high_p = proportion_interval(both + first, n, "wilson", level)
    low_q, high_q = proportion_interval(both + second, n, "wilson", level)
    together = both * neither - first * second
    corrected = max(together - n / 2, 0.0) if together > 0 else together
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    phi = corrected / margins**0.5 if margins else 0.0
    below, above = (
        float(np.sqrt(a**2 - 2 * phi * a * b + b**2))
        for a, b in ((p - low_p, high_q - q), (high_p - p, q - low_q))
    )
    return Interval(p - q - below, p - q + above)


def kappa_interval(counts: rates.Counts, level: float = 0.95) -> Interval:
    """Confidence interval of Cohen's kappa, on Fisher's scale.

    ``tanh(atanh(k) +- z s / (1 - k^2))`` with the standard error ``s`` of Fleiss,
    Cohen and Everitt, which equals the delta method's for independent rows.

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
    return _on_fishers_scale(rates.kappa, counts, level)


def matthews_interval(counts: rates.Counts, level: float = 0.95) -> Interval:
    """Confidence interval of Matthews' correlation, on Fisher's scale.

    ``tanh(atanh(r) +- z s / (1 - r^2))`` with the delta method's standard error ``s``
    for independent rows. With two levels it is the interval of the coefficient phi.

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
    return _on_fishers_scale(rates.matthews_correlation, counts, level)


def class_intervals(
    counts: rates.Counts,
    positive: int = 1,
    share: float | None = None,
    method: Method = "exact",
    level: float = 0.95,
) -> dict[str, Interval]:
    """Confidence intervals of the rates of one class, by name.

    Sensitivity, specificity and precision are proportions of rows, and so are
    predictive values without `share`. With the prevalence `share`, ``p``, the intervals
    of predictive values are Mercaldo's, on the scale of log odds. The log odds of the
    positive predictive value are ``log(sens p / ((1 - spec) (1 - p)))``, with the
    variance ``(1 - sens) / (sens m) + spec / ((1 - spec) n)``, for ``m`` rows of the
    class and ``n`` other rows. Balanced accuracy ``b`` combines Wilson's
    limits of both rates: its lower limit is ``b - sqrt((sens - sens_low)^2 + (spec -
    spec_low)^2) / 2``. The upper limit uses the upper limits of the rates.

    Parameters
    ----------
    counts : int64 array, shape (k, k)
    positive : int, default 1
    share : float, optional
        Prevalence.
    method : "exact" or "wilson"
        Interval of a proportion.
    level : float, default 0.95

    Returns
    -------
    dict of str to Interval, NaN where not defined

    References
    ----------
    Mercaldo, Lau & Zhou, Statistics in Medicine 26 (2007), 2170-2183; Newcombe,
    Statistics in Medicine 17 (1998), 873-890; Zou & Donner, Statistics in Medicine 27
    (2008), 1693-1702.

    Examples
    --------
    >>> limits_by_name = class_intervals(np.array([[285, 15], [8, 292]]), 0)
    >>> limits_by_name["pos_pred_value"]
    Interval(low=0.946..., high=0.988...)
    >>> limits_by_name["balanced_accuracy"]
    Interval(low=0.941..., high=0.973...)
    """
    pairs = {
        name: (int(hits), int(total))
        for name, (hits, total) in rate_counts(counts, positive).items()
    }
    names = ("sensitivity", "specificity", "pos_pred_value", "neg_pred_value")
    limits_by_name = {
        name: proportion_interval(*pairs[name], method, level) for name in names
    }
    limits_by_name["precision"] = limits_by_name["pos_pred_value"]
    (hits, own), (rejected, others) = pairs["sensitivity"], pairs["specificity"]
    if share is not None:
        missed, alarms = own - hits, others - rejected
        among_positive = _predictive(hits, own, alarms, others, share, level)
        among_negative = _predictive(rejected, others, missed, own, 1.0 - share, level)
        limits_by_name |= {
            "pos_pred_value": among_positive,
            "neg_pred_value": among_negative,
        }
    limits_by_name["balanced_accuracy"] = NONE
    if own and others:
        limits = [proportion_interval(*pairs[n], "wilson", level) for n in names[:2]]
        p, (low, high) = np.array([hits / own, rejected / others]), np.array(limits).T
        middle = float(p.mean())
        below, above = np.linalg.norm(p - low) / 2.0, np.linalg.norm(high - p) / 2.0
        ends = middle - float(below), middle + float(above)
        limits_by_name["balanced_accuracy"] = Interval(*ends)
    return limits_by_name | {"recall": limits_by_name["sensitivity"]}


def _predictive(
    right: int, own: int, wrong: int, others: int, share: float, level: float
) -> Interval:
    """Limits of ``r p / (r p + w (1 - p))``, ``r = right / own, w = wrong / others``.

    NaN if a rate is 0, both rates are 1, or the prevalence is 0 or 1.
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


def _on_fishers_scale(
    statistic: Callable[[np.ndarray], float], counts: rates.Counts, level: float
) -> Interval:
    """``tanh(atanh(g) +- z s / (1 - g^2))``, ``s`` by the delta method.

    ``s^2 = sum_ij p_ij g_ij^2 / n`` with the derivatives ``g_ij`` with respect
    to ``p_ij``. Their mean is 0 because the statistic does not depend on ``n``.
    """
    value, n = statistic(counts), int(counts.sum())
    if isnan(value):
        return NONE
    cells = np.argwhere(counts)  # one table per cell, with an imaginary step in it
    steps = np.repeat((counts / n)[None].astype(np.complex128), len(cells), axis=0)
    diagonal = np.arange(len(cells)), *cells.T
    steps[diagonal] += COMPLEX_STEP * 1j
    derivatives = np.imag(statistic(steps)) / COMPLEX_STEP
    variance = float(steps[diagonal].real @ np.square(derivatives)) / n
    return fisher_interval(value, variance, level)


def area_and_variance(
    codes: Codes, scores: Vector, clusters: Codes | None = None
) -> tuple[float, float]:
    """Return the area and its variance, by DeLong or, for clusters, by Obuchowski.

    DeLong's variance is ``S1 / m + S0 / n``. Each of the ``m`` rows of the second level
    has a share of rows of the first level with a smaller score; ties count one half.
    ``S1`` is the variance of these shares, ``S0`` the same for the ``n`` rows of the
    first level. It is computed in blocks of rows, to save memory.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988), equations 4 to 6; by ranks
    as in Sun & Xu, IEEE Signal Processing Letters 21 (2014).

    Examples
    --------
    >>> area_and_variance(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    (0.875, 0.03125)
    """
    area, sides = area_under_curve(codes, scores), [codes == code for code in (0, 1)]
    if clusters is not None and all(map(np.any, sides)):
        groups = clusters[sides[0]], clusters[sides[1]]
        return area, area_variance(placement_values(codes, scores), groups)
    first, second = (np.sort(scores[side]) for side in sides)
    if min(first.size, second.size) < 2:
        return area, float("nan")
    variance = _variance_of_mean(second, first, area)
    return area, variance + _variance_of_mean(first, second, 1.0 - area)


def area_interval(area: float, variance: float, level: float = 0.95) -> Interval:
    """Confidence interval of the area under the ROC curve, on the logit scale.

    ``logit(A) +- z sqrt(V) / (A (1 - A))`` is transformed back to areas. For areas near
    1 its coverage is close to nominal, and the coverage of ``A +- z sqrt(V)`` too low.

    Parameters
    ----------
    area, variance : float
        From `area_and_variance`.
    level : float, default 0.95

    Returns
    -------
    Interval
        NaN without a variance, as with fewer than two rows of a level, and if the
        scores separate the classes, so that the estimated variance is 0.

    References
    ----------
    Pepe, *The Statistical Evaluation of Medical Tests* (2003), section 5.2.3.

    Examples
    --------
    >>> area_interval(0.8, 0.01)
    Interval(low=0.540..., high=0.931...)
    """
    from scipy.special import expit, logit

    if not (variance > 0.0 and 0.0 < area < 1.0):
        return NONE
    half = quantile(level) * variance**0.5 / (area * (1.0 - area))
    middle = float(logit(area))
    return Interval(float(expit(middle - half)), float(expit(middle + half)))


def fisher_interval(value: float, variance: float, level: float = 0.95) -> Interval:
    """``tanh(atanh(g) +- z s / (1 - g^2))``, between -1 and 1; NaN without variance.

    Examples
    --------
    >>> fisher_interval(-0.667, 0.111)
    Interval(low=-0.962..., high=0.354...)
    """
    complement = (1.0 - value) * (1.0 + value)
    if not (variance > MIN_STANDARD_ERROR**2 and complement > MIN_STANDARD_ERROR):
        return NONE
    middle, half = atanh(value), quantile(level) * variance**0.5 / complement
    return Interval(tanh(middle - half), tanh(middle + half))


def placement_values(codes: Codes, scores: Vector) -> tuple[Vector, Vector]:
    """Shares of the rows of the other level with a smaller score, ties one half.

    The mean over the second level is the area. The time is ``O(n log n)``.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level; both occur.
    scores : float64 array, shape (n,)

    Returns
    -------
    pair of float64 arrays
        Shares for the rows of the first level, and for the rows of the second level.

    References
    ----------
    Sun & Xu, IEEE Signal Processing Letters 21 (2014).

    Examples
    --------
    >>> placement_values(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    (array([0.  , 0.25]), array([0.75, 1.  ]))
    """
    first, second = (scores[codes == code] for code in (0, 1))
    return shares_below(first, np.sort(second)), shares_below(second, np.sort(first))


def _variance_of_mean(values: Vector, others: Vector, mean: float) -> float:
    """Variance of the mean of `shares_below`, computed in blocks to save memory."""
    squares = 0.0
    for at in range(0, values.size, SCORES_AT_ONCE):
        squares += (
            (shares_below(values[at : at + SCORES_AT_ONCE], others) - mean) ** 2
        ).sum()
    return float(squares / (values.size - 1) / values.size)


def shares_below(values: Vector, others: Vector) -> Vector:
    """Share of the sorted `others` below each value; ties count one half."""
    below = np.searchsorted(others, values) + np.searchsorted(others, values, "right")
    return np.asarray(below / (2 * others.size))


def area_variance(
    placements: tuple[Vector, Vector], clusters: tuple[Codes, Codes] | None = None
) -> float:
    """Variance of an area, or of the difference of two, by placement values.

    It is ``S10 / m + S01 / n`` for ``m`` and ``n`` rows of the two levels, where
    ``S10`` and ``S01`` are the variances of their placement values. For rows in
    clusters, both are computed from the sums of centred placement values in each
    cluster, and ``2 S11 / (m n)`` is added, with the covariance ``S11`` of these sums.

    Parameters
    ----------
    placements : pair of arrays
        Placement values of the rows of the first and of the second level.
    clusters : pair of arrays, optional
        Cluster of each row, from 0.

    Returns
    -------
    float, NaN if a level has fewer than two rows or clusters

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988), 837-845; Obuchowski,
    Biometrics 53 (1997), 567-578.

    Examples
    --------
    >>> codes, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8])
    >>> placements = placement_values(codes, scores)
    >>> rows = np.array([0, 1]), np.array([2, 3])
    >>> area_variance(placements), area_variance(placements, rows)
    (0.03125, 0.03125)
    """
    if clusters is None:
        if min(map(len, placements)) < 2:
            return float("nan")
        return sum(float(shares.var(ddof=1)) / len(shares) for shares in placements)
    number = 1 + max(int(own.max()) for own in clusters)
    sums, shares, totals = [], [], []
    for values, own in zip(placements, clusters, strict=True):
        rows = np.bincount(own, minlength=number)
        count, n = np.count_nonzero(rows), len(values)
        if count < 2:
            return float("nan")
        centred = np.bincount(own, values, number) - rows * values.mean()
        sums.append(centred)
        shares.append(count / (count - 1.0) * float(centred @ centred) / n**2)
        totals.append(n)
    n_clusters = np.unique(np.concatenate(clusters)).size
    # The area decreases with the placement values of the first level.
    between = -n_clusters / (n_clusters - 1.0) * float(sums[0] @ sums[1])
    return float(sum(shares) + 2.0 * between / (totals[0] * totals[1]))


def clustered_variance(hits: Counts, totals: Counts) -> Vector:
    """Variance of rates of rows in clusters: one row per cluster, one column per rate.

    Examples
    --------
    >>> hits, totals = np.array([[1], [0], [4], [2]]), np.array([[5], [5], [5], [5]])
    >>> clustered_variance(hits, totals).round(4)
    array([0.0292])
    """
    M, n = np.count_nonzero(totals, axis=0), totals.sum(axis=0)
    residuals = hits - hits.sum(axis=0) / n * totals
    return np.asarray(M / (M - 1.0) * np.square(residuals).sum(axis=0) / n**2)


def clustered_rate_interval(
    hits: Counts, totals: Counts, method: Method = "exact", level: float = 0.95
) -> Interval:
    """Interval of a rate ``p = sum a_g / sum b_g`` of rows in clusters.

    The variance of the ratio is ``v = M / (M - 1) sum (a_g - p b_g)^2 / (sum b_g)^2``
    over the ``M`` clusters with rows. The interval is computed as for a proportion of
    ``n*`` independent rows. This effective number is ``n* = (p (1 - p) / v) (t_{n-1} /
    t_{M-1})^2``, at most the actual number ``n``, with quantiles of Student's ``t``.

    Parameters
    ----------
    hits, totals : int arrays, shape (clusters,)
    method : "exact" or "wilson"
    level : float, default 0.95

    Returns
    -------
    Interval
        NaN with fewer than two clusters.

    References
    ----------
    Korn & Graubard, Survey Methodology 24 (1998), 193-201.

    Examples
    --------
    >>> clustered_rate_interval(np.array([1, 0, 4, 2]), np.array([5, 5, 5, 5]))
    Interval(low=0.014..., high=0.893...)
    """
    from scipy.stats import t as student

    hits, totals = hits[totals > 0], totals[totals > 0]
    n, M = int(totals.sum()), len(totals)
    if M < 2:
        return NONE
    p, v = float(hits.sum()) / n, float(clustered_variance(hits, totals))
    if not v > 0.0:
        return proportion_interval(int(hits.sum()), n, method, level)
    ends = student.ppf((1.0 + level) / 2.0, [n - 1, M - 1])
    rows = min(float(n), p * (1.0 - p) / v * float(ends[0] / ends[1]) ** 2)
    return proportion_interval(p * rows, rows, method, level)


def clustered_intervals(
    counts: Counts, method: Method = "exact", level: float = 0.95
) -> dict[tuple[str, int | None], Interval]:
    """Intervals of the rates of a table, and of each class by its position.

    Parameters
    ----------
    counts : int array, shape (clusters, k, k + 1)
    """
    limits: dict[tuple[str, int | None], Interval] = {}
    for at in range(counts.shape[1]):
        for name, pair in rate_counts(counts[:, :, :-1], at).items():
            place = None if name in ("error_rate", "accuracy") else at
            if (name, place) not in limits:
                own = clustered_rate_interval(*pair, method, level)
                limits[name, place] = own
        limits["recall", at] = limits["sensitivity", at]
        limits["precision", at] = limits["pos_pred_value", at]
    return limits


def rate_counts(counts: Counts, positive: int) -> dict[str, tuple[Counts, Counts]]:
    """Numerators and denominators of rates, for one table or for one per cluster.

    Parameters
    ----------
    counts : array, shape (k, k) or (clusters, k, k)
    positive : int
        Position of the class; error rate and accuracy do not depend on it.

    Examples
    --------
    >>> counts = rate_counts(np.array([[285, 15], [8, 292]]), 0)
    >>> [int(count) for count in counts["specificity"]]
    [292, 300]
    """
    total, right = counts.sum((-2, -1)), np.trace(counts, axis1=-2, axis2=-1)
    own, called = counts[..., positive, :].sum(-1), counts[..., positive].sum(-1)
    hits = counts[..., positive, positive]
    rejected = total - own - called + hits
    return {
        "error_rate": (total - right, total),
        "accuracy": (right, total),
        "sensitivity": (hits, own),
        "specificity": (rejected, total - own),
        "pos_pred_value": (hits, called),
        "neg_pred_value": (rejected, total - called),
    }
