"""Intervals of error rates of rows in clusters."""

import numpy as np

from pegasos_stats.arrays import Codes
from pegasos_stats.metrics.intervals import (
    NONE,
    Interval,
    Method,
    proportion_interval,
)
from pegasos_stats.metrics.rates import Counts


def counts_by_cluster(codes: Codes, cells: tuple[Codes, Codes], k: int) -> Counts:
    """Confusion table of each cluster, shape (clusters, k, k + 1)."""
    counts = np.zeros((int(codes.max(initial=-1)) + 1, k, k + 1), dtype=np.int64)
    np.add.at(counts, (codes, *cells), 1)
    return counts


def clustered_rate_interval(
    hits: Counts, totals: Counts, method: Method = "exact", level: float = 0.95
) -> Interval:
    """Interval of a rate ``p = sum a_g / sum b_g`` of rows in clusters.

    The variance of the ratio is ``v = M / (M - 1) sum (a_g - p b_g)^2 / (sum b_g)^2``
    over the ``M`` clusters with rows. The interval of a proportion is computed for ``p
    n*`` of ``n* = p (1 - p) / v (t_{n-1} / t_{M-1})^2`` rows, at most those there are,
    with the quantiles ``t`` of both degrees of freedom.

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
    p = float(hits.sum()) / n
    v = M / (M - 1.0) * float(np.square(hits - p * totals).sum()) / n**2
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
    square = counts[:, :, :-1]
    total, right = square.sum(axis=(1, 2)), np.trace(square, axis1=1, axis2=2)

    def of(hits: Counts, totals: Counts) -> Interval:
        return clustered_rate_interval(hits, totals, method, level)

    found: dict[tuple[str, int | None], Interval] = {
        ("error_rate", None): of(total - right, total),
        ("accuracy", None): of(right, total),
    }
    for at in range(square.shape[1]):
        own, called = square[:, at].sum(axis=1), square[:, :, at].sum(axis=1)
        hits = square[:, at, at]
        rejected = total - own - called + hits
        found["sensitivity", at] = found["recall", at] = of(hits, own)
        found["specificity", at] = of(rejected, total - own)
        found["pos_pred_value", at] = found["precision", at] = of(hits, called)
        found["neg_pred_value", at] = of(rejected, total - called)
    return found
