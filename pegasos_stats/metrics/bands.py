"""Bands that hold for a whole curve: of a ROC curve, and of a calibration curve."""

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Codes, Integers, Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.inputs import check_both_levels, events_of
from pegasos_stats.metrics.scores import roc_curve

SAMPLES = 1000  # simulated, by which the level of a ROC band is calibrated
SIMULATED_ROWS = 5000  # of a class, at most
STEPS = 20  # halvings of the logarithm of the local level
CELLS = 1000  # different probabilities of a calibration band; else three digits


@suggest_arguments
def roc_band(
    actual: object,
    scores: object,
    *,
    positive: object = None,
    level: float = 0.95,
    seed: int = 1,
) -> pd.DataFrame:
    """Simultaneous confidence band of a ROC curve.

    ``P(low(x) <= ROC(x) <= high(x) for all x) = level``, nearly. The distribution
    function of the scores of each class has equal-precision bounds: the value at its
    ``k``-th score is between the quantiles ``eta/2`` and ``1 - eta/2`` of
    ``Beta(k, n - k + 1)``. The band is what both bounds allow. Its local level ``eta``
    is such that 1,000 samples from the smoothed curve give bands that contain it with
    the frequency `level`.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    scores : Series or array, shape (n,); or DataFrame
        Larger scores indicate the positive class; or probabilities of two levels, one
        column per level. Rows without a label or a score are excluded.
    positive : label, optional
        The positive class; by default the second level.
    level : float, default 0.95
    seed : int, default 1
        Of the samples. They have at most 5,000 rows of a class, so that bands of more
        rows are too narrow by a percent or two.

    Returns
    -------
    DataFrame
        Columns ``false_positive, low, high``. Between two lines `high` is that of the
        first, and `low` that of the second.

    Raises
    ------
    DataError
        If labels and scores differ in length or row labels, or a level has no row.
    OptionError
        If `level` is not between 0 and 1, there are not two levels, or `positive` is
        not one of them.

    References
    ----------
    Moscovich & Nadler, Statistics and Probability Letters 123 (2017), on bounds of
    equal precision; Campbell, Statistics in Medicine 13 (1994), on bands of both
    functions.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> band = ps.roc_band(test["digit"], test["p34"].rsub(0))
    >>> band.iloc[[0, -1]].round(2).to_numpy().tolist()
    [[0.0, 0.0, 0.05], [1.0, 0.95, 1.0]]
    """
    level = check_fraction("level", level)
    events = events_of(actual, scores, positive, "scores")
    used = events.is_complete
    codes = check_both_levels(events, used)
    return band_of_roc(codes, events.values[used], level, seed)


def band_of_roc(
    codes: Codes, scores: Vector, level: float = 0.95, seed: int = 1
) -> pd.DataFrame:
    """The band of `roc_band`, from positions of the levels."""
    n, m = (int(np.count_nonzero(codes == code)) for code in (0, 1))
    low, high = beta_bounds(n, eta := local_level(codes, scores, level, seed))
    low_true, high_true = beta_bounds(m, eta)
    curve = roc_curve(codes, scores)
    false, true = (
        np.rint(share * rows).astype(np.int64)
        for share, rows in ((curve.false_positive, n), (curve.true_positive, m))
    )
    at = np.unique([0.0, *low[false], *high[false], 1.0])
    top = np.searchsorted(low[false], at, side="right") - 1
    bottom = np.searchsorted(high[false], at, side="left")
    return pd.DataFrame(
        {
            "false_positive": at,
            "low": low_true[true[bottom]],
            "high": high_true[true[top]],
        }
    )


def beta_bounds(n: int, eta: float) -> tuple[Vector, Vector]:
    """Bounds of a survival function where ``k = 0, ..., n`` scores are at or above.

    It is at least a quantile of ``Beta(k, n - k + 1)``, the distribution at the
    ``k``-th largest score, and at most one of ``Beta(k + 1, n - k)``, at the next one.

    Examples
    --------
    >>> [bound.round(3).tolist() for bound in beta_bounds(2, 0.1)]
    [[0.0, 0.025, 0.224], [0.776, 0.975, 1.0]]
    """
    from scipy.special import betaincinv

    k = np.arange(1, n + 1)
    low = betaincinv(k, n - k + 1, eta / 2.0)
    return np.append(0.0, low), np.append(1.0 - low[::-1], 1.0)


def local_level(codes: Codes, scores: Vector, level: float, seed: int) -> float:
    """The largest local level whose bands contain the smoothed curve often enough.

    A curve in ``x``, the survival function of the first level, is the distribution
    function of ``x`` in the second level. So uniform numbers stand for the first level,
    and numbers from the smoothed distribution for the second.
    """
    order = np.sort(-scores[codes == 0])
    above = np.searchsorted(order, np.sort(-scores[codes == 1]))
    n, m = (min(SIMULATED_ROWS, int((codes == code).sum())) for code in (0, 1))
    x, share = smoothed_places(above, order.size)
    rng = np.random.default_rng(seed)
    before = np.empty((SAMPLES, n), dtype=np.int64)  # of a negative, positives
    for sample in before:
        places = np.sort(np.interp(rng.random(m), share, x))
        sample[:] = np.searchsorted(places, np.sort(rng.random(n)))

    def coverage(eta: float) -> float:
        low, high = beta_bounds(n, eta)
        low_true, high_true = beta_bounds(m, eta)
        inside = np.interp(low[1:], x, share) <= high_true[before]
        inside &= np.interp(high[:-1], x, share) >= low_true[before]
        return float(inside.all(axis=1).mean())

    least, most = np.log(1e-8), np.log(0.9)
    for _ in range(STEPS):
        middle = (least + most) / 2.0
        enough = coverage(float(np.exp(middle))) >= level
        least, most = (middle, most) if enough else (least, middle)
    return float(np.exp(least))


def smoothed_places(above: Integers, n: int) -> tuple[Vector, Vector]:
    """Knots of a continuous ROC curve, from 0 to 1.

    Positives with `above` negatives above them are spread between these negatives,
    which stand at ``k / (n + 1)``.

    Examples
    --------
    >>> x, share = smoothed_places(np.array([0, 0, 1]), 1)
    >>> x.tolist(), share.tolist()
    ([0.0, 0.125, 0.375, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75, 1.0])
    """
    _, first, counts = np.unique(above, return_index=True, return_counts=True)
    rank = np.arange(above.size) - np.repeat(first, counts)
    x = (above + (rank + 0.5) / np.repeat(counts, counts)) / (n + 1.0)
    return np.r_[0.0, x, 1.0], np.linspace(0.0, 1.0, above.size + 2)


def calibration_band(p: Vector, happened: Codes, level: float = 0.95) -> pd.DataFrame:
    """Band of the share of events by probability, if it increases with it.

    For all ranges of probabilities the lower limit of Clopper & Pearson, at the level
    ``(1 - level) / (k (k + 1))`` of ``k`` different probabilities, bounds the share at
    larger probabilities, and the upper limit the share at smaller ones. So the band
    holds for all probabilities and with any number of rows.

    Parameters
    ----------
    p : float64 array, shape (n,)
        Probabilities. More than 1,000 different ones are rounded to three digits: up
        for the lower limits, and down for the upper ones.
    happened : int array, shape (n,), of 0 and 1
    level : float

    Returns
    -------
    DataFrame
        Columns ``probability, low, high``, from 0 to 1. Between two lines `low` is that
        of the first, and `high` that of the second.

    References
    ----------
    Dimitriadis, Duembgen, Henzi, Puke & Ziegel, *Honest calibration assessment for
    binary outcome predictions*, Biometrika 110 (2023).

    Examples
    --------
    >>> p = np.repeat([0.2, 0.8], 50)
    >>> happened = np.tile(np.arange(50) < 10, 2).astype(int)
    >>> calibration_band(p, happened).round(3)
       probability    low   high
    0          0.0  0.000  0.312
    1          0.2  0.085  0.312
    2          0.8  0.114  0.368
    3          1.0  0.114  1.000
    """
    up, down = np.ceil(p * CELLS), np.floor(p * CELLS)
    if np.unique(p).size <= CELLS:
        up = down = p
    at, low = lower_limits(p, up, happened, 1.0 - level)
    flipped, misses = lower_limits(-p, -down, 1 - happened, 1.0 - level)
    both = np.unique(np.r_[0.0, at, -flipped, 1.0])
    below = np.searchsorted(at, both, side="right")
    after = np.searchsorted(flipped, -both, side="right")
    return pd.DataFrame(
        {
            "probability": both,
            "low": np.append(0.0, low)[below],
            "high": np.append(1.0, 1.0 - misses)[after],
        }
    )


def lower_limits(
    p: Vector, cell: Vector, happened: Codes, alpha: float
) -> tuple[Vector, Vector]:
    """Largest values of cells, increasing, and lower limits of the share of events."""
    from scipy.special import betaincinv

    cells, places = np.unique(cell, return_inverse=True)
    k = cells.size
    rows, events = np.bincount(places), np.bincount(places, happened)
    largest = np.full(k, -np.inf)
    np.maximum.at(largest, places, p)
    limits = np.zeros(k)
    for last in range(k):
        n = np.cumsum(rows[last::-1])
        y = np.cumsum(events[last::-1])
        some = y > 0.0
        own = betaincinv(y[some], (n - y)[some] + 1.0, alpha / (k * (k + 1.0)))
        limits[last] = own.max(initial=0.0)
    return largest, np.maximum.accumulate(limits)
