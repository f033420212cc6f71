"""Calibration: reliability of probabilities, and Platt's sigmoid."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from pegasos_stats import checks, errors, tables
from pegasos_stats.arrays import Axes, Codes, DataColumn, Matrix, Vector
from pegasos_stats.data.sample import Groups, column_named, column_of_counts, mean_one
from pegasos_stats.data.user_data import by_position
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics import inputs, intervals, rates, scores
from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
from pegasos_stats.metrics.intervals import NONE, Interval, quantile
from pegasos_stats.models.inference.options import Cluster, Sandwich
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.models.linear import Model
from pegasos_stats.models.new_rows import with_source
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import header_lines, solver_lines
from pegasos_stats.solvers.intercept import zero_model
from pegasos_stats.solvers.maximum_likelihood import maximum_likelihood
from pegasos_stats.solvers.optimum import AnySolver
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies import cross_validation, fold_fits
from pegasos_stats.studies.folds import Folds

Strategy = Literal["uniform", "quantile"]

INTERVAL_ENDS = ["conf_low", "conf_high"]
BIN_COLUMNS = ["low", "high", "n", "mean_predicted", "observed", *INTERVAL_ENDS]
MOST_BINS = 10_000
RARE_SHARE = 0.1  # share of the rarer class below which bins are quantiles
MIN_ROWS = 20  # for a smooth curve
LOWESS_SPAN = 2 / 3  # share of the rows in a local fit
CURVE_POINTS = 100
SMOOTH_BLOCKS = 5000  # minimum number of blocks when rows are averaged
MAX_PLACES = 1000  # maximum number of local fits; the curve is linear between them
STRATEGIES: tuple[Strategy, ...] = ("uniform", "quantile")
NAN = float("nan")
TERMS = ("slope", "intercept", "ici", "calibration_error", "brier_score", "log_loss")
MIN_SLOPE_SCORE = 1e-290  # below it the largest score counts as 0: A would overflow
MAX_RELATIVE_GAP = 0.01  # fits with a larger gap are not compared with the null model
SHARE_COLUMNS = "each probability is the share of its class"


@suggest_names("reliability")
@dataclass(frozen=True, repr=False, eq=False)
class Reliability(tables.Facts):
    """Reliability table: predicted probabilities and observed shares, by bins.

    Attributes
    ----------
    table : DataFrame
        One row per bin of probabilities: ``low, high, n, mean_predicted, observed,
        conf_low, conf_high``. Bins include their upper end, the first bin also its
        lower end. Empty bins have NaN.
    positive : label
        The class of the probabilities.
    level : float
        Confidence level of all intervals. Intervals of observed shares are Wilson's.
    brier_score, log_loss : float
        Means of ``(p - [y = 1])^2`` and of ``-log`` of the observed class's
        probability.
    n_left_out : int
        Number of rows without a label or a probability.
    error_by_chance : float
        Expected `calibration_error` if the probabilities are correct: above 0 by
        chance. NaN with groups, and in saved files that lack it.
    smooth : DataFrame or None
        Smooth calibration curve (lowess) at 100 probabilities, with pointwise limits:
        columns ``probability, observed, conf_low, conf_high``. None with fewer than 20
        rows.
    slope, intercept : float
        Coefficients of the logistic recalibration ``logit P = a + b logit(p)``. The
        slope ``b`` is 1 for calibrated probabilities and below 1 for too extreme ones.
        The intercept ``a``, with the slope fixed at 1, is calibration in the large:
        above 0 for probabilities that are too low. Both are NaN with probabilities of 0
        or 1, or with a single class. The slope is also NaN if the probabilities
        separate the classes or are all equal.
    slope_interval, intercept_interval : Interval
        Wald intervals of slope and intercept.
    ici : float
        Integrated calibration index: mean absolute difference between the probability
        and the smooth curve.
    band : DataFrame or None
        Simultaneous confidence band, with ``reliability(..., band=True)``: columns
        ``probability, low, high``. Between two neighbouring probabilities, `low` is the
        value at the smaller one and `high` the value at the larger one.

    Examples
    --------
    >>> table = reliability([0, 1, 1, 1], [0.2, 0.4, 0.8, 0.9], bins=2).table
    >>> table[["n", "mean_predicted", "observed"]].to_numpy().round(2).tolist()
    [[2.0, 0.3, 0.5], [2.0, 0.85, 1.0]]
    """

    table: pd.DataFrame
    positive: object
    level: float
    brier_score: float
    log_loss: float
    n_left_out: int
    error_by_chance: float = NAN
    smooth: pd.DataFrame | None = None
    slope: float = NAN
    slope_interval: Interval = NONE
    intercept: float = NAN
    intercept_interval: Interval = NONE
    ici: float = NAN
    band: pd.DataFrame | None = None

    _field_rules = "n_left_out nonnegative"

    _title = "Reliability"

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: weighted mean of ``|observed - mean_predicted|``.

        The mean is over bins, weighted by their numbers of rows.
        """
        n = self.table["n"]
        distances = (self.table["observed"] - self.table["mean_predicted"]).abs()
        return rates.ratio((distances * n).sum(), n.sum())

    def tidy(self) -> pd.DataFrame:
        """Return one row per statistic.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, conf_low, conf_high``.
        """
        rows = [
            (term, getattr(self, term), *getattr(self, f"{term}_interval", NONE))
            for term in TERMS
        ]
        return pd.DataFrame(rows, columns=["term", "estimate", *INTERVAL_ENDS])

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw observed shares with their intervals, and the smooth curve.

        Both axes have the same range: from 0 to 1, or to slightly above the largest
        value if this is below 0.7. Grey bars at the bottom show the density of the
        probabilities: upwards for rows of the class, downwards for other rows.

        Parameters
        ----------
        ax : Axes, optional
            By default the axes of a new figure.
        **line
            Properties of points and curve, such as ``color`` or ``label``.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_reliability

        return draw_reliability(self, ax, line)

    def _facts(self) -> dict[str, str]:
        facts = {
            "Brier score": f"{self.brier_score:.4f}",
            "Log loss": f"{self.log_loss:.4f}",
            "Calibration error": f"{self.calibration_error:.4f}",
        }
        if not np.isnan(self.error_by_chance):
            chance = f"{self.error_by_chance:.4f} if probabilities are correct"
            facts["Calibration error"] += f", by chance {chance}"
        for name, value, (low, high) in (
            ("Slope", self.slope, self.slope_interval),
            ("Intercept", self.intercept, self.intercept_interval),
        ):
            if not np.isnan(value):
                interval = f"{self.level:.0%} interval [{low:z.4f}, {high:z.4f}]"
                facts[name] = f"{value:z.4f}, {interval}"
        return facts if np.isnan(self.ici) else facts | {"ICI": f"{self.ici:.4f}"}

    def __str__(self) -> str:
        table = self.table.to_string(index=False, float_format="%.4f", na_rep="NA")
        rows = counted(int(self.table["n"].sum()), "row")
        head = f"Probability of {self.positive!r}, {rows}"
        return f"{head}\n{table}\n\n{super().__str__()}"

    def _parts(self) -> Sequence[tables.Part]:
        cells = self.table.set_index("low").map("{:.4g}".format)
        cells.index = cells.index.map("{:.4g}".format)
        return [tables.Cells(cells, corner="low"), *super()._parts()]

    def _conditions(self) -> Iterator[object]:
        """Check the columns of the table, its counts and its shares."""
        yield [*self.table.columns] == BIN_COLUMNS
        n = self.table["n"]
        yield ((n >= 0) & (n < np.inf) & (n % 1 == 0)).all()
        shares = self.table.drop(columns="n").to_numpy(np.float64)
        yield not ((shares < 0.0) | (shares > 1.0)).any()


@suggest_arguments
def reliability(
    actual: object,
    probabilities: object,
    bins: int = 10,
    *,
    strategy: Strategy | None = None,
    positive: object = None,
    level: float = 0.95,
    band: bool = False,
    groups: object = None,
) -> Reliability:
    """Compare predicted probabilities with observed shares of a class.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    probabilities : DataFrame, or Series or array of shape (n,)
        Probabilities of the positive class, or one column per class, as from
        ``predict_proba()``.
    bins : int, default 10
        Number of bins.
    strategy : "uniform" or "quantile", optional
        Bins of equal width, or with about equal numbers of rows. The default is
        ``"quantile"`` if the rarer class has less than a tenth of the rows, else
        ``"uniform"``. With ``"quantile"``, a probability that fills a whole bin has a
        bin of its own.
    positive : label, optional
        The class of the probabilities, by default the second.
    level : float, default 0.95
        Confidence level of all intervals. Intervals of observed shares are Wilson's.
    band : bool, default False
        Whether to add a simultaneous confidence band for an increasing calibration
        curve, `Reliability.band`. It is valid for any number of rows.
    groups : Series or array, shape (n,), optional
        Clusters of dependent rows, such as visits of a patient. Slope and intercept
        then have CR3 intervals, with t on the number of clusters minus 1. Intervals of
        shares use the effective number of rows (Korn & Graubard 1998). The limits of
        the smooth curve and `Reliability.error_by_chance` are NaN.

    Returns
    -------
    Reliability
        With slope and intercept of the logistic recalibration (`Reliability.slope`),
        and the integrated calibration index.

    Raises
    ------
    DataError
        If labels and probabilities differ in length or row labels, or no row has both.
    OptionError
        If bins, strategy, level or `positive` are not allowed, or if `band` is combined
        with `groups`: the band assumes independent rows.

    References
    ----------
    Murphy & Winkler, Applied Statistics 26 (1977), 41-47; Wilson, JASA 22 (1927); Van
    Calster et al., BMC Medicine 17 (2019), on slope and intercept; Austin & Steyerberg,
    Statistics in Medicine 38 (2019), 4051-4065, on the ICI; Dimitriadis et al.,
    Biometrika 110 (2023), on the band.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1.0).fit(ps.Optimum(seed=1))
    >>> calibration = ps.reliability(test["digit"], result.predict_proba(test), bins=5)
    >>> int(calibration.table["n"].sum())
    163
    """
    if strategy is not None:
        checks.check_choice("strategy", strategy, STRATEGIES)
    level = intervals.check_interval("wilson", level)
    checks.check_flag("band", band)
    events = inputs.events_of(actual, probabilities, positive)
    used = events.is_complete
    if not used.any():
        raise DataError(
            "No row has both a label and a probability; pass rows with both."
        )
    clusters = None
    if groups is not None:
        clusters = inputs.clusters_of(groups, len(used), actual, probabilities)[used]
        if band:
            raise OptionError("needs independent rows; omit groups=.", "band", band)
    happened, p = events.codes[used], events.values[used]
    both = np.column_stack([1.0 - p, p])
    if strategy is None:
        share = float((happened == 1).mean())
        strategy = "quantile" if min(share, 1.0 - share) < RARE_SHARE else "uniform"
    table, by_chance = _binned(happened, p, _ends(bins, strategy, p), level, clusters)
    smooth, ici = smoothed(p, happened, level)
    if clusters is not None and smooth is not None:
        smooth[INTERVAL_ENDS] = NAN
    return Reliability(
        table=table,
        positive=events.positive,
        level=level,
        brier_score=scores.brier_score(happened, both),
        log_loss=scores.log_loss(happened, both),
        n_left_out=int((~used).sum()),
        error_by_chance=by_chance if clusters is None else NAN,
        smooth=smooth,
        ici=ici,
        band=scores.calibration_band(p, happened, level) if band else None,
        **recalibrated(p, happened, level, clusters)._asdict(),
    )


def smoothed(
    p: Vector, happened: Codes, level: float = 0.95
) -> tuple[pd.DataFrame | None, float]:
    """Compute the smooth calibration curve at 100 probabilities, and the ICI.

    The curve is fitted at the distinct probabilities, at most 1000 of them, and is
    linear between them. Pointwise confidence limits of level `level` use the binomial
    variance of the local fits. The integrated calibration index (ICI) is the mean
    absolute difference between curve and probabilities. With fewer than 20 rows the
    results are None and NaN.

    References
    ----------
    Austin & Steyerberg, Statistics in Medicine 33 (2014), 517-535, for calibration;
    38 (2019), 4051-4065, for the index.

    Examples
    --------
    >>> p = np.linspace(0.0, 1.0, 101)
    >>> curve, ici = smoothed(p, (p > 0.5).astype(int))
    >>> curve["observed"].iloc[[0, 50, 99]].round(1).tolist(), round(ici, 2)
    ([0.0, 0.5, 1.0], 0.15)
    """
    if p.size < MIN_ROWS:
        return None, NAN
    at = np.unique(p)
    if at.size > MAX_PLACES:
        at = at[np.linspace(0, at.size - 1, MAX_PLACES).round().astype(int)]
    shares, errors = lowess(p, happened, at)
    half = quantile(level) * errors
    low, high = np.quantile(p, [0.01, 0.99])
    grid = np.linspace(low, high, CURVE_POINTS)
    curves = {"observed": shares, "conf_low": shares - half, "conf_high": shares + half}
    curve = pd.DataFrame({"probability": grid})
    for name, values in curves.items():
        curve[name] = np.clip(np.interp(grid, at, values), 0.0, 1.0)
    return curve, float(np.abs(np.interp(p, at, shares) - p).mean())


def lowess(p: Vector, happened: Codes, at: Vector) -> tuple[Vector, Vector]:
    """Fit local lines to the nearest two thirds of the rows, with tricube weights.

    With fewer than 10,000 rows the result equals ``lowess(y, p, it=0)`` of statsmodels
    and ``lowess(p, y, iter = 0, delta = 0)`` of R. ``val.prob`` of R's rms uses the
    default ``delta`` of R, which interpolates between fewer points. From 10,000 rows
    on, neighbours are averaged first, in 5000 to 7500 blocks.

    Parameters
    ----------
    p, happened : arrays, shape (n,)
    at : float64 array, shape (m,)
        Points of the curve, a subset of the values of `p`.

    Returns
    -------
    shares : float64 array, shape (m,)
        Not truncated at 0 and 1.
    errors : float64 array, shape (m,)
        Standard errors, with the binomial variance at the fitted point for all
        neighbours.

    References
    ----------
    Cleveland, *Robust locally weighted regression and smoothing scatterplots*, JASA 74
    (1979).

    Examples
    --------
    >>> shares, errors = lowess(np.arange(6.0), np.arange(6) // 3, np.arange(6.0))
    >>> shares.round(2)
    array([0.  , 0.  , 0.29, 0.71, 1.  , 1.  ])
    """
    order = np.argsort(p, kind="stable")
    first = np.arange(0, p.size, max(p.size // SMOOTH_BLOCKS, 1))  # means of neighbours
    count = np.diff([*first, p.size])
    p = np.add.reduceat(p[order], first) / count
    share = np.add.reduceat(happened[order].astype(np.float64), first) / count
    near = max(int(LOWESS_SPAN * p.size + 1e-10), 2)
    fitted, variance = np.empty(at.size), np.empty(at.size)
    for j, x in enumerate(at):
        away = np.abs(p - x)
        width = max(float(np.partition(away, near - 1)[near - 1]), 1e-9)
        inside = away <= 0.999 * width
        w = count * inside * (1.0 - np.minimum(away / width, 1.0) ** 3) ** 3
        total, mean = w.sum(), w @ p / w.sum()
        spread = w @ np.square(p - mean)
        flat = spread <= 1e-12 * total
        parts = w / total if flat else w / total + w * (p - mean) * (x - mean) / spread
        fitted[j] = parts @ share
        variance[j] = np.square(parts) @ (1.0 / count)
    chance = np.clip(fitted, 0.0, 1.0)
    return fitted, np.sqrt(chance * (1.0 - chance) * variance)


def distance_by_chance(p: Vector) -> float:
    """Compute the mean absolute deviation of a count of events, ``E|S - sum_i p_i|``.

    If all ``n`` probabilities equal ``q``, De Moivre's formula is exact::

        2 (k + 1) C(n, k + 1) q^(k + 1) (1 - q)^(n - k),    k = floor(n q)

    For unequal probabilities ``q`` is their mean, and the formula is multiplied by the
    standard deviation of the count, divided by its value for equal probabilities.

    References
    ----------
    Diaconis & Zabell, *Closed form summation for classical distributions: variations on
    a theme of De Moivre*, Statistical Science 6 (1991), equation 1.1.

    Examples
    --------
    >>> distance_by_chance(np.array([0.5])), distance_by_chance(np.array([0.5, 0.5]))
    (0.5, 0.5)
    >>> distance_by_chance(np.array([0.0, 1.0]))
    0.0
    """
    from scipy.stats import binom

    n, mean = p.size, float(p.mean()) if p.size else 0.0
    common, own = n * mean * (1.0 - mean), float((p * (1.0 - p)).sum())
    if common <= 0.0:
        return 0.0
    k = math.floor(n * mean)
    usual = 2.0 * (k + 1.0) * (1.0 - mean) * float(binom.pmf(k + 1, n, mean))
    return usual * math.sqrt(own / common)


def _ends(bins: int, strategy: Strategy, p: Vector) -> Vector:
    """Return the ends of the bins: from 0 to 1, or quantiles of `p`.

    A probability that fills a whole bin of quantiles gets its own bin. The width of
    this bin is 0 if the probability is the smallest.
    """
    shares = np.linspace(0.0, 1.0, checks.check_count("bins", bins, MOST_BINS) + 1)
    if strategy == "uniform":
        return shares
    ends = np.quantile(p, shares)
    full = np.unique(ends[1:][ends[1:] == ends[:-1]])
    if not full.size:
        return ends
    values = np.unique(p)
    if values.size == 1:
        return np.array([0.0, 1.0])
    last = values[np.searchsorted(values, ends[1:], side="right") - 1]
    before = values[np.searchsorted(values, full[full > values[0]]) - 1]
    return np.array([values[0], *np.union1d(last, before)])


def _binned(
    outcomes: Codes, p: Vector, ends: Vector, level: float, clusters: Codes | None
) -> tuple[pd.DataFrame, float]:
    """Return one row per bin, and the calibration error by chance."""
    place = np.searchsorted(ends[1:-1], p)
    lines, chance = [], 0.0
    for j, pair in enumerate(pairwise(ends)):
        inside = place == j
        here, count = p[inside], int(outcomes[inside].sum())
        n, mean = here.size, float(here.mean()) if here.size else NAN
        if clusters is None:
            interval = intervals.proportion_interval(count, n, "wilson", level)
        else:
            own = clusters[inside]
            hits, totals = np.bincount(own, outcomes[inside]), np.bincount(own)
            interval = intervals.clustered_rate_interval(hits, totals, "wilson", level)
        lines.append((*pair, n, mean, rates.ratio(count, n), *interval))
        chance += distance_by_chance(here)
    return pd.DataFrame(lines, columns=BIN_COLUMNS), chance / p.size


class Recalibration(NamedTuple):
    """Slope and intercept of a logistic recalibration, with Wald intervals."""

    slope: float = NAN
    slope_interval: Interval = NONE
    intercept: float = NAN
    intercept_interval: Interval = NONE


def recalibrated(
    p: Vector,
    happened: Codes,
    level: float = 0.95,
    clusters: Codes | None = None,
    weights: Vector | None = None,
) -> Recalibration:
    """Fit the logistic recalibration ``logit P = a + b logit(p)``.

    The slope is ``b``. The intercept is ``a`` with ``b`` fixed at 1: calibration in the
    large. Both are maximum likelihood estimates. Intervals use the Fisher information
    or, with clusters, the CR3 covariance and Student's t.

    Parameters
    ----------
    p : float64 array, shape (n,)
    happened : int array, shape (n,)
        1 for events, else 0.
    level : float, default 0.95
    clusters : int array, shape (n,), optional
    weights : float64 array, shape (n,), optional
        Weights above 0 of the rows in the likelihood; the intervals then have no
        meaning.

    Returns
    -------
    Recalibration
        NaN with a single class, or with probabilities of 0 or 1. The slope is also NaN
        if the probabilities separate the classes or are all equal.

    References
    ----------
    Cox, Biometrika 45 (1958), 562-565; Steyerberg, *Clinical Prediction Models* (2019),
    section 15.3.

    Examples
    --------
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8])
    >>> recalibration = recalibrated(p, np.array([0, 0, 0, 1, 0, 1, 1, 1]))
    >>> round(recalibration.slope, 3), abs(round(recalibration.intercept, 3))
    (0.792, 0.0)
    """
    from scipy.stats import t as student

    options, groups = Sandwich(correction="nonrobust"), None
    if clusters is not None:
        codes, labels = pd.factorize(clusters)
        options = Cluster(correction="CR3")
        groups = Groups(("",), (len(labels),), (codes,))
    z = np.asarray(logit(p))
    events, non_events = z[happened == 1], z[happened == 0]
    if not (events.size and non_events.size and np.isfinite(z).all()):
        return Recalibration()
    y = np.where(happened == 1, 1.0, -1.0)
    weights = None if weights is None else mean_one(weights)

    def last_coefficient(X: Matrix, offset: Vector) -> tuple[float, Interval]:
        problem = Problem(X, y, 0.0, "log", offset=offset, weights=weights)
        fit = maximum_likelihood(problem).solution
        assert fit is not None  # the classes overlap
        V = sandwich(problem, fit, options, groups=groups)
        last = float([fit.alpha, *fit.beta][-1])
        half = float(student.ppf((1.0 + level) / 2.0, V.df) * V.std_error[-1])
        return last, Interval(last - half, last + half)

    intercept, around = last_coefficient(np.empty((z.size, 0)), z)
    if non_events.max() <= events.min() or events.max() <= non_events.min():
        return Recalibration(intercept=intercept, intercept_interval=around)
    slope = last_coefficient(z[:, None], 0.0 * z)
    return Recalibration(*slope, intercept, around)


@dataclass(frozen=True)
class Sigmoid:
    """Platt's sigmoid ``P(y = 1 | f) = 1 / (1 + exp(A f + B))`` of the score ``f``.

    Attributes
    ----------
    A : float
        Negative if large scores indicate the second class.
    B : float

    Examples
    --------
    >>> Sigmoid(A=-2.0, B=0.0).logits(np.array([0.5]))
    array([1.])
    """

    A: float
    B: float

    def logits(self, scores: Vector) -> Vector:
        """Log odds of the second class, ``-(A f + B)``."""
        return -(self.A * scores + self.B)


def fit_sigmoid(y: Vector, scores: Vector, weights: Vector | None = None) -> Sigmoid:
    """Fit Platt's sigmoid by maximum likelihood with regularised targets.

    Minimises ``sum w_i (log(1 + exp(-z_i)) + t_i z_i)`` with ``z_i = A f_i + B``. The
    targets are ``t = (N+ + 1) / (N+ + 2)`` for the second class and ``1 / (N- + 2)``
    for the first, with the sums of weights ``N+`` and ``N-`` of both classes.

    Parameters
    ----------
    y : float64 array, shape (n,), of -1 and +1
    scores : float64 array, shape (n,)
    weights : float64 array, shape (n,), optional
        By default 1.

    References
    ----------
    Platt, *Probabilistic outputs for support vector machines*, Advances in Large
    Margin Classifiers (1999), equations 4 to 6; Lin, Lin & Weng, *A note on Platt's
    probabilistic outputs for support vector machines*, Machine Learning 68 (2007),
    algorithm 1.

    Examples
    --------
    >>> sigmoid = fit_sigmoid(np.array([-1.0, -1, 1, 1]), np.array([-1.0, 0, 0, 1]))
    >>> round(sigmoid.A, 4), abs(round(sigmoid.B, 4))
    (-1.0986, 0.0)
    """
    w = np.ones(len(y)) if weights is None else weights
    upper, lower = float(w[y > 0].sum()), float(w[y < 0].sum())
    targets = np.where(y > 0, (upper + 1.0) / (upper + 2.0), 1.0 / (lower + 2.0))
    size = float(np.abs(scores).max())
    if size < MIN_SLOPE_SCORE:  # the slope would overflow
        scores, size = np.zeros(len(y)), 1.0
    # A target between 0 and 1 equals two rows, one per class, that share the weight.
    X, labels = np.tile(scores[:, None] / size, (2, 1)), np.repeat([1.0, -1.0], len(y))
    weights = np.concatenate([w * targets, w * (1.0 - targets)])
    fit = maximum_likelihood(Problem(X, labels, 0.0, "log", weights=weights)).solution
    assert fit is not None  # all rows belong to both classes
    return Sigmoid(-float(fit.beta[0]) / size, -fit.alpha)


def base_rate(y: Vector, scores: Vector, weights: Vector) -> Sigmoid:
    """Return the constant sigmoid: the share of the second class for every score.

    Examples
    --------
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0])
    >>> base_rate(y, np.zeros(4), np.ones(4)).logits(np.zeros(1)).round(3)
    array([-1.099])
    """
    upper, lower = float(weights[y > 0].sum()), float(weights[y < 0].sum())
    with np.errstate(divide="ignore"):
        return Sigmoid(0.0, float(np.log(lower) - np.log(upper)))


Fitting = Callable[[Vector, Vector, Vector], Sigmoid]  # of labels, scores and weights


def sigmoid_of(y: Vector, scores: Matrix, weights: Vector, fitting: Fitting) -> Sigmoid:
    """Fit the sigmoid to the scores of all repeats together.

    The weight of a row is divided equally among its scores, one per repeat.

    Parameters
    ----------
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)
        NaN if a row is in no test fold.
    """
    scored = ~np.isnan(scores)
    shares = weights[:, None] / np.maximum(scored.sum(axis=1, keepdims=True), 1)
    labels, shares = (np.broadcast_to(v, scores.shape) for v in (y[:, None], shares))
    return fitting(labels[scored], scores[scored], shares[scored])


def cross_fitted_logits(
    folds: Folds, y: Vector, scores: Matrix, weights: Vector, fitting: Fitting
) -> Matrix:
    """Return log odds of each fold, from a sigmoid fitted to the other folds.

    Parameters
    ----------
    folds : Folds
    y, weights : float64 array, shape (n,)
    scores : float64 array, shape (n, repeats)
    fitting : callable

    Returns
    -------
    float64 array, shape (n, repeats)
    """
    logits = np.full(scores.shape, np.nan)
    for split in folds.splits:
        column = scores[:, split.repeat - 1]
        fitted = ~np.isnan(column)
        fitted[split.test] = False
        sigmoid = fitting(y[fitted], column[fitted], weights[fitted])
        logits[split.test, split.repeat - 1] = sigmoid.logits(column[split.test])
    return logits


@suggest_arguments
def calibrate(
    model: Model,
    solver: AnySolver | None = None,
    *,
    folds: object = 5,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    workers: int | None = None,
    progress: bool = False,
) -> "CalibratedResults":
    """Fit a model and Platt's sigmoid, which converts scores to probabilities.

    The model is fitted to all rows. The sigmoid ``1 / (1 + exp(A f + B))`` is fitted to
    out-of-fold scores, because a fit separates its training data better than new rows.
    This assumes that out-of-fold scores have the distribution of scores of new rows;
    more folds improve the approximation. The sigmoid maximises Platt's likelihood with
    regularised targets, as in Lin, Lin & Weng (2007).

    Class weights, such as ``weights="balanced"``, apply to the fits but not to the
    sigmoid: probabilities refer to the class frequencies of the data. Weights that
    differ within a class apply to both.

    Scores are uninformative in two cases. In the first, which needs a model without
    offset, the objective of the fit differs from the objective without predictors by at
    most the duality gap. In the second, out-of-fold scores of the second class are not
    larger than scores of the first, so that ``A`` is not negative. Each probability
    then equals the share of its class in the data, and a warning reports this.

    Parameters
    ----------
    model : SVM, KernelSVM or Logit
    solver, folds, repeats, groups, seed, workers, progress
        As for `cross_validate`, with at least 2 folds. Without a seed of its own,
        Pegasos uses the seed of the folds for the fit to all rows.

    Returns
    -------
    CalibratedResults

    Raises
    ------
    OptionError
        If an option is not allowed, or the solver cannot fit the model.
    DataError
        If the training rows of a fold have only one class, or there are fewer than two
        folds.

    Warns
    -----
    ConvergenceWarning
        If the solver does not reach its tolerance.
    UndefinedMetricWarning
        If the scores are uninformative, so that probabilities equal the shares of the
        classes.

    References
    ----------
    Platt, *Probabilistic outputs for support vector machines*, Advances in Large
    Margin Classifiers (1999); Lin, Lin & Weng, Machine Learning 68 (2007), 267-276.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ p34 + p43 + p22", train, lam=0.01)
    >>> calibrated = ps.calibrate(model, ps.Optimum(seed=1), folds=5, seed=443)
    >>> bool(calibrated.sigmoid.A < 0)
    True
    """
    validation = cross_validation.cross_validate(
        model,
        solver,
        folds=folds,
        repeats=repeats,
        groups=groups,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    per_repeat = Counter(split.repeat for split in validation.folds.splits)
    if min(per_repeat.values()) < 2:
        raise DataError("A repeat has only one fold; pass at least two folds.")
    fitted: Any = validation.model.at_chosen_lambda()
    solver = fold_fits.with_seed(validation.solver, validation.seed)
    result = fitted.fit(fold_fits.for_all_rows(solver))
    y, weights = model.problem.y, model.problem.outcome_weights
    scores = validation.scores_by_repeat.to_numpy()
    sigmoid = sigmoid_of(y, scores, weights, fit_sigmoid)
    why = _without_scores(result, sigmoid)
    way: Fitting = base_rate if why else fit_sigmoid
    if why:
        errors.warn_caller(f"{why}: {SHARE_COLUMNS}.", errors.UndefinedMetricWarning)
        sigmoid = sigmoid_of(y, scores, weights, way)
    logits = validation.scores_by_repeat.copy()
    logits[:] = cross_fitted_logits(validation.folds, y, scores, weights, way)
    return CalibratedResults(result, sigmoid, validation, logits, why)


def _without_scores(result: Results, sigmoid: Sigmoid) -> str:
    """Return the reason why scores are uninformative; empty if they are informative."""
    without = zero_model(result.problem)[1]
    no_offset = result.problem.offset is None  # offsets alone may be informative
    near = result.relative_gap <= MAX_RELATIVE_GAP
    if no_offset and near and abs(without - result.objective) <= result.gap:
        return "Up to its duality gap, the fit is no better than without predictors"
    if sigmoid.A >= 0.0:
        return "Out-of-fold scores of the second class are not larger than of the first"
    return ""


@suggest_names("calibrated")
@dataclass(frozen=True, repr=False, eq=False)
class CalibratedResults(tables.Summarised):
    """A fit with probabilities from Platt's sigmoid, see `calibrate`.

    Scores come from the fit to all rows. The sigmoid was fitted to out-of-fold scores:
    the score of a row comes from a fit without this row.

    Attributes
    ----------
    result : Results
        The fit to all rows.
    sigmoid : Sigmoid
        ``P(second class) = 1 / (1 + exp(A score + B))``, fitted to all out-of-fold
        scores.
    validation : CrossValidation
        The cross-validation that computed the out-of-fold scores.
    logits : DataFrame, shape (n, repeats)
        Out-of-fold log odds. The scores of a fold come from a fit to the other folds;
        a sigmoid fitted to the out-of-fold scores of the other folds converts them. The
        fits that computed the scores of the other folds include the rows of this fold.
    without_scores : str
        Reason why probabilities equal the shares of the classes; empty if they depend
        on scores.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ p34 + p43 + p22", train, lam=0.01)
    >>> calibrated = ps.calibrate(model, ps.Optimum(seed=1), seed=443)
    >>> calibrated.tidy()["term"].tolist()
    ['brier_score', 'log_loss']
    >>> calibrated.predict_proba(test).columns.tolist()
    [5, 6]
    """

    result: Results
    sigmoid: Sigmoid
    validation: cross_validation.CrossValidation
    logits: pd.DataFrame
    without_scores: str = ""

    @suggest_arguments
    def predict_proba(
        self, data: object = None, *, offset: object = None
    ) -> pd.DataFrame:
        """Predict the probabilities of both classes.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows, by default the training data. For training data prefer
            `probabilities`, which are out of fold.
        offset : optional
            Offset of new rows, as for ``result.decision_function()``.

        Returns
        -------
        DataFrame
            One column per class, the index of `data`; NaN in rows with missing values.
        """
        return self._chances(self.result.decision_function(data, offset=offset))

    @suggest_arguments
    def predict(
        self, data: object = None, *, threshold: float = 0.5, offset: object = None
    ) -> DataColumn:
        """Predict labels from probabilities; a label at the threshold is missing.

        A label may differ from ``result.predict()``, which uses the sign of the score.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows, by default the training data.
        threshold : float, default 0.5
            Rows with a larger probability of the second class are predicted as this
            class.
        offset : optional
            Offset of new rows, as for ``result.decision_function()``.

        Raises
        ------
        OptionError
            If `threshold` is not a probability.
        """
        upper = self.predict_proba(data, offset=offset).iloc[:, 1]
        cut = checks.check_threshold(threshold, is_probability=True)
        return self.result.coding.predicted(upper, "na", cut)

    @suggest_arguments
    def confusion(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float = 0.5,
        positive: object = None,
        freq_weights: object = None,
        offset: object = None,
        groups: object = None,
    ) -> ConfusionMatrix:
        """Compute the confusion table of actual and predicted labels.

        Without new rows, labels are predicted from the out-of-fold `probabilities`.
        These predictions are not independent, so intervals and p-values are NaN.

        Parameters
        ----------
        data, threshold, offset : optional
            As for `predict`.
        actual, positive, freq_weights, groups : optional
            As for ``result.confusion()``, of new rows.

        Raises
        ------
        OptionError
            If `threshold` is not a probability, or an argument for new rows lacks
            `data`.
        """
        result, counts, matrix = self.result, None, None
        labels: object = self.validation.actual
        chances = self.probabilities
        if data is None:
            options = {"freq_weights": freq_weights, "groups": groups}
            checks.check_rows_have_own(actual=actual, offset=offset, **options)
        else:
            if isinstance(groups, str):
                groups = column_named("groups", groups, data, "one label for each row")
            matrix = result._matrix(data, offset=offset)
            chances = self._chances(result._scores(matrix))
            actual, groups = by_position(actual, data), by_position(groups, data)
            labels = result._labels(data) if actual is None else actual
            counts = column_of_counts(freq_weights, result.counted, data)
            counts = by_position(counts, data)
        upper = chances.iloc[:, 1]
        cut = checks.check_threshold(threshold, is_probability=True)
        table = confusion(
            labels,
            result.coding.predicted(upper, "na", cut),
            positive,
            levels=result.coding.levels,
            scores=upper,
            probabilities=chances,
            freq_weights=counts,
            groups=groups,
        )
        if matrix is None:
            return replace(table, source="out of fold")
        return with_source(table, result, matrix, labels, counts)

    @property
    def probabilities(self) -> pd.DataFrame:
        """Out-of-fold probabilities of both classes, with the index of the rows.

        Neither the fit nor the sigmoid used the row; repeats are averaged.
        """
        upper = self.logits.map(expit).mean(axis=1)
        levels = self.result.coding.levels
        return pd.DataFrame(dict(zip(levels, (1.0 - upper, upper), strict=True)))

    @cached_property
    def _losses(self) -> pd.DataFrame:
        problem, lines = self.result.problem, []
        scores = np.asarray(self.result.decision_function(), dtype=np.float64)
        training = self.sigmoid.logits(scores)
        for name in ("brier_score", "log_loss"):
            means = []
            for column in (*self.logits.to_numpy(dtype=np.float64).T, training):
                finite = ~np.isnan(column)
                y, weights = problem.y[finite], problem.outcome_weights[finite]
                measure = fold_fits.MEASURES[name]
                means.append(float(measure(y, column[finite][None], weights, "na")[0]))
            lines.append((name, float(np.mean(means[:-1])), means[-1]))
        return pd.DataFrame(lines, columns=["term", "estimate", "in_sample"])

    def tidy(self) -> pd.DataFrame:
        """Brier score and log loss: ``term, estimate, in_sample``.

        The estimate is cross-fitted: neither the fit nor the sigmoid used the row. The
        sigmoid used scores of other rows, and the fits that computed these scores
        include the row, which makes the estimate slightly optimistic. ``in_sample``,
        for comparison, uses ``predict_proba()`` of the training data and is too
        optimistic.
        """
        return self._losses.copy()

    @suggest_arguments
    def reliability(
        self,
        bins: int = 10,
        *,
        strategy: Strategy | None = None,
        level: float = 0.95,
        band: bool = False,
        groups: object = None,
    ) -> Reliability:
        """Compare out-of-fold probabilities with observed shares.

        Parameters
        ----------
        bins, strategy, level, band, groups
            As for `pegasos_stats.reliability`.
        """
        return reliability(
            self.validation.actual,
            self.probabilities,
            bins,
            strategy=strategy,
            level=level,
            band=band,
            groups=groups,
        )

    @suggest_arguments
    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the reliability diagram of the out-of-fold probabilities.

        Parameters
        ----------
        ax, **line
            As for `Reliability.plot`.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        return self.reliability().plot(ax=ax, **line)

    @suggest_arguments
    def summary(self, *, details: bool = False) -> tables.Summary:
        """Return header, losses and notes: text in ``print()``, HTML in a notebook.

        Parameters
        ----------
        details : bool, default False
            Whether to add the sigmoid, the folds and the solver.
        """
        table = self._losses.set_index("term").map(tables.significant)
        table.columns = ["cross-fitted", "in sample"]
        notes = [
            *(
                [f"{self.without_scores}: {SHARE_COLUMNS}."]
                if self.without_scores
                else []
            ),
            "Cross-fitted: neither the fit nor the sigmoid used the row. In sample: "
            "training data, for which both losses are too optimistic.",
        ]
        return tables.Summary(
            header_lines(self.result, addition=", Platt scaling"),
            table,
            notes,
            *(self._facts() if details else ((), ())),
            footer="" if details else tables.MORE,
        )

    def _chances(self, scores: "pd.Series[float]") -> pd.DataFrame:
        """Convert scores of the fit to probabilities of both classes."""
        values = self.sigmoid.logits(np.asarray(scores, dtype=np.float64))
        return self.result.coding.probabilities(pd.Series(values, scores.index))

    def _facts(self) -> tuple[tables.Fields, tables.Fields]:
        """Describe the sigmoid, its folds, and the solver of the fit."""
        left = [
            ("Probability of:", str(self.result.coding.positive)),
            ("A:", tables.significant(self.sigmoid.A, 6)),
            ("B:", tables.significant(self.sigmoid.B, 6)),
            ("Folds:", self.validation.folds.kind),
            ("Seed of the folds:", str(self.validation.seed)),
        ]
        return left, solver_lines(self.result)
