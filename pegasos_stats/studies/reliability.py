"""Predicted probabilities beside observed shares, and their recalibration."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from pegasos_stats.arrays import Codes, Matrix, Vector
from pegasos_stats.checks import check_choice, check_count, whole_of
from pegasos_stats.data.user_data import floats_of
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics import inputs, intervals, rates, scores
from pegasos_stats.metrics.intervals import NONE, Interval, quantile
from pegasos_stats.tables import Facts, params_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Strategy = Literal["uniform", "quantile"]

COLUMNS = ["low", "high", "n", "mean_predicted", "observed", "conf_low", "conf_high"]
MOST_BINS = 10_000
RARE = 0.1  # share of an outcome below which bins are quantiles
FEWEST, CURVE, SPAN = 20, 100, 2 / 3  # rows, points and share of rows of a smooth curve
BLOCKS = 5000  # of rows, from which it is made
PLACES = 1000  # at which it is computed, with lines between
STRATEGIES: tuple[Strategy, ...] = ("uniform", "quantile")
NAN = float("nan")


@suggest_names("reliability")
@dataclass(frozen=True, repr=False, eq=False)
class Reliability(Facts):
    """Reliability table: predicted probabilities and observed shares, by bins.

    Attributes
    ----------
    table : DataFrame
        One line for each bin of probabilities: ``low, high, n, mean_predicted,
        observed, conf_low, conf_high``. Bins include their upper end, the first one
        also its lower end. Empty bins have NaN.
    positive : label
        The level whose probabilities these are.
    level : float
        Confidence level of Wilson's intervals of the observed shares.
    brier_score, log_loss : float
        Means of ``(p - [y = 1])^2`` and of ``-log`` of the probability of the level
        that was observed.
    n_left_out : int
        Rows without a label or a probability.
    error_by_chance : float
        What `calibration_error` is on average if each probability is right, as so few
        rows have other shares by chance, see `distance_by_chance`; NaN if it was saved
        without.
    smooth : DataFrame or None
        Columns ``probability, observed``: the share by lowess, see `smoothed`; None
        with fewer than 20 rows.
    slope, intercept : float
        Of the logistic recalibration ``logit P = a + b logit(p)``: the slope ``b``, 1
        for calibrated probabilities and below 1 for extreme ones; the intercept ``a``
        with the slope held at 1, calibration in the large, above 0 for probabilities
        that are too low. NaN with probabilities of 0 or 1 or one outcome alone, the
        slope also where probabilities separate the outcomes.
    slope_interval, intercept_interval : Interval
        Wald intervals.
    ici : float
        Integrated calibration index: the row mean of the distance of a probability from
        the smooth curve.

    Examples
    --------
    >>> found = reliability([0, 1, 1, 1], [0.2, 0.4, 0.8, 0.9], bins=2)
    >>> found.table[["n", "mean_predicted", "observed"]].to_numpy().round(2).tolist()
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
    ici: float = float("nan")

    _title = "Reliability"

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: row mean of ``|observed - mean_predicted|``."""
        n = self.table["n"]
        apart = (self.table["observed"] - self.table["mean_predicted"]).abs()
        return rates.ratio((apart * n).sum(), n.sum())

    def tidy(self) -> pd.DataFrame:
        """One row for each statistic.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, conf_low, conf_high``.
        """
        rows = [
            ("slope", self.slope, *self.slope_interval),
            ("intercept", self.intercept, *self.intercept_interval),
            ("ici", self.ici, *NONE),
            ("calibration_error", self.calibration_error, *NONE),
            ("brier_score", self.brier_score, *NONE),
            ("log_loss", self.log_loss, *NONE),
        ]
        return pd.DataFrame(rows, columns=["term", "estimate", "conf_low", "conf_high"])

    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw observed shares with their intervals, and the smooth curve.

        Both axes are the same, and end near the largest where all is below one half.
        Grey bars at the bottom are the density of the probabilities.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of points and curve, such as ``color`` or ``label``.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.curves import draw_reliability

        named = str(self.positive)
        return draw_reliability(self.table, self.smooth, named, self.level, ax, line)

    def _facts(self) -> dict[str, str]:
        facts = {
            "Brier score": f"{self.brier_score:.4f}",
            "Log loss": f"{self.log_loss:.4f}",
            "Calibration error": f"{self.calibration_error:.4f}",
        }
        if not np.isnan(self.error_by_chance):
            chance = f"{self.error_by_chance:.4f} if probabilities are right"
            facts["Calibration error"] += f", by chance {chance}"
        for name, value, (low, high) in (
            ("Slope", self.slope, self.slope_interval),
            ("Intercept", self.intercept, self.intercept_interval),
        ):
            if not np.isnan(value):
                interval = f"{self.level:.0%} interval [{low:.4f}, {high:.4f}]"
                facts[name] = f"{value:.4f}, {interval}"
        if not np.isnan(self.ici):
            facts["ICI"] = f"{self.ici:.4f}"
        return facts

    def __str__(self) -> str:
        table = self.table.to_string(index=False, float_format="%.4f", na_rep="NA")
        rows = counted(int(self.table["n"].sum()), "row")
        head = f"Probability of {self.positive!r}, {rows}"
        return f"{head}\n{table}\n\n{super().__str__()}"

    def _repr_html_(self) -> str:
        cells = self.table.set_index("low").map("{:.4g}".format)
        cells.index = cells.index.map("{:.4g}".format)
        return params_html(cells, corner="low") + super()._repr_html_()


@suggest_arguments
def reliability(
    actual: object,
    probabilities: object,
    bins: object = 10,
    *,
    strategy: Strategy | None = None,
    positive: object = None,
    level: float = 0.95,
) -> Reliability:
    """Compare predicted probabilities with the observed share of the level.

    Parameters
    ----------
    actual : Series or array, shape (n,)
        Labels.
    probabilities : DataFrame, or Series or array of shape (n,)
        A column for each level, as from ``predict_proba()``; or the probabilities of
        the positive level.
    bins : int or sequence of float, default 10
        Number of bins, or their boundaries from 0 to 1.
    strategy : "uniform" or "quantile", optional
        Bins of equal width, or with about equal numbers of rows. By default
        ``"quantile"`` if the rarer outcome has less than a tenth of the rows.
    positive : label, optional
        The level whose probabilities these are; by default the second one.
    level : float, default 0.95
        Confidence level of Wilson's intervals of the observed shares.

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
        If bins, strategy, level or `positive` are not allowed.

    References
    ----------
    Murphy & Winkler, Applied Statistics 26 (1977), 41-47; Wilson, JASA 22 (1927); Van
    Calster et al., BMC Medicine 17 (2019), on slope and intercept; Austin & Steyerberg,
    Statistics in Medicine 38 (2019), 4051-4065, on the ICI.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1.0).fit(ps.SDCA(seed=1))
    >>> found = ps.reliability(test["digit"], result.predict_proba(test), bins=5)
    >>> int(found.table["n"].sum())
    163
    """
    if strategy is not None:
        check_choice("strategy", strategy, STRATEGIES)
    level = intervals.check_interval("wilson", level)
    events = inputs.events_of(actual, probabilities, positive)
    used = events.is_complete
    if not used.any():
        raise DataError("No row has both a label and a probability.")
    happened, p = events.codes[used], events.values[used]
    both = np.column_stack([1.0 - p, p])
    if strategy is None:
        share = float((happened == 1).mean())
        strategy = "quantile" if min(share, 1.0 - share) < RARE else "uniform"
    table, by_chance = _binned(happened, p, _ends(bins, strategy, p), level)
    smooth, ici = smoothed(p, happened)
    return Reliability(
        table=table,
        positive=events.positive,
        level=level,
        brier_score=scores.brier_score(happened, both),
        log_loss=scores.log_loss(happened, both),
        n_left_out=int((~used).sum()),
        error_by_chance=by_chance,
        smooth=smooth,
        ici=ici,
        **recalibrated(p, happened, level)._asdict(),
    )


def smoothed(p: Vector, happened: Codes) -> tuple[pd.DataFrame | None, float]:
    """Share of events by probability, by `lowess`, at 100 places; and the ICI.

    The curve has lines between the different probabilities, or 1000 of them. The
    integrated calibration index is the row mean of its distance from a probability.
    With fewer than 20 rows: None and NaN.

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
    if p.size < FEWEST:
        return None, float("nan")
    at = np.unique(p)
    if at.size > PLACES:
        at = at[np.linspace(0, at.size - 1, PLACES).round().astype(int)]
    shares = lowess(p, happened, at)
    low, high = np.quantile(p, [0.01, 0.99])
    grid = np.linspace(low, high, CURVE)
    observed = np.clip(np.interp(grid, at, shares), 0.0, 1.0)
    curve = pd.DataFrame({"probability": grid, "observed": observed})
    return curve, float(np.abs(np.interp(p, at, shares) - p).mean())


def lowess(p: Vector, happened: Codes, at: Vector) -> Vector:
    """Local lines through the nearest two thirds of the rows, with tricube weights.

    As ``lowess(p, y, iter = 0)`` of R, ``lowess(y, p, it=0)`` of statsmodels and the
    curve of ``val.prob`` of R's rms. Of more than 5000 rows means of neighbours are
    taken, in 5000 blocks or a few more.

    Parameters
    ----------
    p, happened : arrays, shape (n,)
    at : float64 array, shape (m,)
        Where the curve is computed: some of `p`.

    Returns
    -------
    float64 array, shape (m,)
        Not cut off at 0 and 1.

    References
    ----------
    Cleveland, *Robust locally weighted regression and smoothing scatterplots*, JASA 74
    (1979).

    Examples
    --------
    >>> lowess(np.arange(6.0), np.array([0, 0, 0, 1, 1, 1]), np.arange(6.0)).round(2)
    array([0.  , 0.  , 0.29, 0.71, 1.  , 1.  ])
    """
    order = np.argsort(p, kind="stable")
    first = np.arange(0, p.size, max(p.size // BLOCKS, 1))  # means of neighbours
    count = np.diff([*first, p.size])
    p = np.add.reduceat(p[order], first) / count
    share = np.add.reduceat(happened[order].astype(np.float64), first) / count
    near = max(int(SPAN * p.size + 1e-10), 2)
    found = np.empty(at.size)
    for j, x in enumerate(at):
        away = np.abs(p - x)
        width = max(float(np.partition(away, near - 1)[near - 1]), 1e-9)
        inside = away <= 0.999 * width
        w = count * inside * (1.0 - np.minimum(away / width, 1.0) ** 3) ** 3
        total, mean = w.sum(), w @ p / w.sum()
        level = w @ share / total
        spread = w @ np.square(p - mean)
        flat = spread <= 1e-12 * total
        slope = 0.0 if flat else w @ ((p - mean) * share) / spread
        found[j] = level + slope * (x - mean)
    return found


def distance_by_chance(p: Vector) -> float:
    """Mean distance of a count of events from its expectation, ``E|S - sum_i p_i|``.

    By de Moivre's formula for a count ``S`` of ``n`` events of the mean probability,
    ``2 (1 - p)^(n - k) p^(k + 1) (k + 1) C(n, k + 1)`` with ``k`` the whole part of ``n
    p``, times the standard deviation that the single probabilities give in place of
    that of their mean.

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


def _ends(bins: object, strategy: Strategy, p: Vector) -> Vector:
    """Return the ends of the bins, increasing: from 0 to 1, or quantiles of `p`."""
    if whole_of(bins) is not None:
        shares = np.linspace(0.0, 1.0, check_count("bins", bins, MOST_BINS) + 1)
        if strategy == "uniform":
            return shares
        ends = np.unique(np.quantile(p, shares))
        return ends if ends.size > 1 else np.array([0.0, 1.0])
    refused = OptionError("is no number of bins, nor ends from 0 to 1.", "bins", bins)
    ends = floats_of(bins, refused)
    good = ends.ndim == 1 and ends.size > 1 and bool((ends[1:] > ends[:-1]).all())
    if not good or ends[0] != 0.0 or ends[-1] != 1.0:
        raise refused
    return ends


def _binned(
    came: Codes, p: Vector, ends: Vector, level: float
) -> tuple[pd.DataFrame, float]:
    """Return one line for each bin, and the calibration error by chance."""
    place = np.searchsorted(ends[1:-1], p)
    lines, apart = [], 0.0
    for j in range(len(ends) - 1):
        inside = place == j
        n, count, here = int(inside.sum()), int(came[inside].sum()), p[inside]
        low, high = intervals.proportion_interval(count, n, "wilson", level)
        mean = float(here.mean()) if n else float("nan")
        lines.append((ends[j], ends[j + 1], n, mean, rates.ratio(count, n), low, high))
        apart += distance_by_chance(here)
    return pd.DataFrame(lines, columns=COLUMNS), apart / p.size


STEPS = 100
DECREMENT = 1e-14  # of the objective, by Newton's quadratic model
RIDGE = 1e-12  # on the diagonal of the Hessian, as Lin, Lin & Weng have it
SHORTEST = 1e-10  # step, as a share of Newton's


class Recalibration(NamedTuple):
    """Slope and intercept of a logistic recalibration, with Wald intervals."""

    slope: float = NAN
    slope_interval: Interval = NONE
    intercept: float = NAN
    intercept_interval: Interval = NONE


def recalibrated(p: Vector, happened: Codes, level: float = 0.95) -> Recalibration:
    """Recalibrate probabilities by ``logit P = a + b logit(p)``.

    The slope is ``b``. The intercept is ``a`` with ``b = 1``, an offset: calibration in
    the large. Both by maximum likelihood, with intervals from the information.

    Parameters
    ----------
    p : float64 array, shape (n,)
    happened : int array, shape (n,)
        1 for events, else 0.
    level : float, default 0.95

    Returns
    -------
    Recalibration
        NaN with events or other rows alone, or probabilities of 0 or 1; the slope also
        where probabilities separate the two, or are all the same.

    References
    ----------
    Cox, Biometrika 45 (1958), 562-565; Steyerberg, *Clinical Prediction Models* (2019),
    section 15.3.

    Examples
    --------
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8])
    >>> found = recalibrated(p, np.array([0, 0, 0, 1, 0, 1, 1, 1]))
    >>> round(found.slope, 3), abs(round(found.intercept, 3))
    (0.792, 0.0)
    """
    z = np.asarray(logit(p))
    events, others = z[happened == 1], z[happened == 0]
    if not (events.size and others.size and np.isfinite(z).all()):
        return Recalibration()
    ones = np.ones((z.size, 1))
    intercept, around = _last_coefficient(ones, happened, z, level)
    if others.max() <= events.min() or events.max() <= others.min():
        return Recalibration(intercept=intercept, intercept_interval=around)
    slope = _last_coefficient(np.column_stack([ones, z]), happened, 0.0 * z, level)
    return Recalibration(*slope, intercept, around)


def _last_coefficient(
    columns: Matrix, happened: Codes, offset: Vector, level: float
) -> tuple[float, Interval]:
    """The last coefficient of a logistic regression, and its interval."""
    w, targets = np.ones(len(columns)), happened.astype(np.float64)
    start = np.zeros(columns.shape[1])
    at = minimise_logistic(start, -columns, targets, w, -offset)
    inverse = np.linalg.inv(information(at, -columns, w, -offset))
    last, half = float(at[-1]), quantile(level) * float(inverse[-1, -1]) ** 0.5
    return last, Interval(last - half, last + half)


def minimise_logistic(
    at: Vector,
    columns: Matrix,
    targets: Vector,
    w: Vector,
    offset: Vector | float = 0.0,
) -> Vector:
    """Minimise `logistic_objective` from a starting point.

    By Newton's method, halving the step until it descends.

    References
    ----------
    Lin, Lin & Weng, Machine Learning 68 (2007), algorithm 1.
    """
    value = logistic_objective(at, columns, targets, w, offset)
    for _ in range(STEPS):
        p = expit(-(columns @ at + offset))
        gradient = columns.T @ (w * (targets - p))
        step = np.linalg.solve(information(at, columns, w, offset), -gradient)
        descent = float(gradient @ step)
        if -descent <= DECREMENT * (1.0 + value):
            return at + step
        length = 1.0
        while length >= SHORTEST:
            there = logistic_objective(at + length * step, columns, targets, w, offset)
            if there < value + 1e-4 * length * descent:
                break
            length /= 2.0
        else:
            return at
        at, value = at + length * step, there
    return at


def logistic_objective(
    at: Vector,
    columns: Matrix,
    targets: Vector,
    w: Vector,
    offset: Vector | float = 0.0,
) -> float:
    """``sum w_i (log(1 + exp(-z_i)) + t_i z_i)``, ``z`` the columns at ``at``."""
    z = columns @ at + offset
    return float(w @ (np.logaddexp(0.0, -z) + targets * z))


def information(
    at: Vector, columns: Matrix, w: Vector, offset: Vector | float = 0.0
) -> Matrix:
    """Second derivatives of `logistic_objective`."""
    p = expit(-(columns @ at + offset))
    ridge = RIDGE * np.eye(len(at))
    return np.asarray((columns.T * (w * p * (1.0 - p))) @ columns + ridge)
