"""Estimated covariances of coefficients: `Covariance`, and `BootstrapResult`."""

from dataclasses import dataclass, replace

import numpy as np

from pegasos_stats.arrays import Mask, Matrix, Vector
from pegasos_stats.checks import check_choice, check_fraction
from pegasos_stats.errors import OptionError
from pegasos_stats.models.inference.options import INTERVALS, Bootstrap, Interval
from pegasos_stats.models.inference.separation import images
from pegasos_stats.models.notes import Note

ROUNDING = 1e-9  # of a rank
USUAL = 0.95  # level of intervals
OFTEN = 0.002  # share of the pairs of resamples that coincide


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariance of ``k`` coefficients by the sandwich, the intercept first.

    Attributes
    ----------
    matrix : float64 array, shape (k, k)
        ``(1/n) H^-1 G H^-1``; NaN where it is not defined.
    bread : float64 array, shape (k, k)
        ``H``, the curvature of the risk, penalty included.
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    rows : float
        ``n - k`` where joint tests are Hotelling's; infinite where they are Wald's.
    bandwidth : float or None
        ``h`` of the kernel at the margin, for the hinge.
    newton_step : float64 array, shape (k,), or None
        ``-H^-1 grad P`` for the log loss: how far the optimum is, very nearly.
    notes : tuple of Note
        Why it is not defined.
    fixed : float64 array, shape (k, k), optional
        Of standardized predictors: the covariance for the predictors as the fit
        standardized them, which become those on the original scale.
    prior : float64 array, shape (k + 1,), optional
        Of balanced weights with the log loss: covariances of the coefficients with
        ``log(n- / n+)``, and its variance.
    separated : int
        Rows whose scores nothing but the penalty limits.
    unbounded : float64 array, shape (k, q), optional
        Directions of ``theta`` that nothing but the penalty limits, and it not enough
        for a standard error.
    collinear : float64 array, shape (k, q), optional
        Directions that change no score, a column for each predictor that is a linear
        combination of those before it: its last number that is not 0 is that
        predictor's.
    """

    matrix: Matrix
    bread: Matrix
    df: float = np.inf
    rows: float = np.inf
    bandwidth: float | None = None
    newton_step: Vector | None = None
    notes: tuple[Note, ...] = ()
    fixed: Matrix | None = None
    prior: Vector | None = None
    separated: int = 0
    unbounded: Matrix | None = None
    collinear: Matrix | None = None

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def std_error(self) -> Vector:
        """Standard errors, shape (k,): roots of the diagonal of `matrix`."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.matrix), 0.0)))

    @property
    def counts_scaling(self) -> bool:
        """Whether means and deviations of standardized predictors are estimates too."""
        return self.fixed is not None and not np.allclose(self.fixed, self.matrix)

    def combined(self, R: Matrix) -> "Covariance":
        """The covariance of the linear combinations ``R theta``."""
        prior = self.prior
        return replace(
            self,
            matrix=R @ self.matrix @ R.T,
            fixed=None,
            prior=None if prior is None else np.append(R @ prior[:-1], prior[-1]),
            unbounded=images(R, self.unbounded),
            collinear=images(R, self.collinear),
        )

    def original(self, R: Matrix) -> "Covariance":
        """Covariance of ``R theta`` on the original scale of the predictors."""
        if self.fixed is None:
            return self.combined(R)
        return replace(self, matrix=self.fixed).combined(R)


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Coefficients of the resamples, ``k`` of them, the intercept first.

    Attributes
    ----------
    estimate : float64 array, shape (k,)
        Those of the fit.
    estimates : float64 array, shape (m, k)
        Those of the resamples that have an optimum.
    covariance : float64 array, shape (k, k)
        Of `estimates`, with the divisor ``m - 1``.
    seed : int
    n_left_out : int
        Resamples without an optimum: of one level alone, with an intercept.
    relative_gap, distance : float
        The largest relative gap, and the largest ``sqrt(2 gap / lam)``, which bounds
        how far the ``beta`` of a resample is from its optimum.
    options : Bootstrap
    notes : tuple of Note
        How many resamples were left out.
    tolerance : float64 array, shape (k,), optional
        Differences between estimates that are the solver's: 1e-5 in the score, for a
        standard deviation of the column.
    fixed : float64 array, shape (m, k), optional
        Where predictors were standardized, and so in every resample anew: the estimates
        for predictors as the fit standardized them.
    reference : float64 array, shape (k, k), optional
        ``S = ((1/n) sum_i w_i z_i z_i')^-1`` with ``z = (1, x)``.
    priors : float64 array, shape (m,), optional
        With balanced weights ``log(n- / n+)`` of each resample.
    agreeing : float
        Share of the pairs of resamples whose coefficients coincide.
    separated, unbounded, collinear
        As of `Covariance`.
    """

    estimate: Vector
    estimates: Matrix
    covariance: Matrix
    seed: int
    n_left_out: int
    relative_gap: float
    distance: float
    options: Bootstrap
    notes: tuple[Note, ...] = ()
    tolerance: Vector | None = None
    fixed: Matrix | None = None
    reference: Matrix | None = None
    priors: Vector | None = None
    agreeing: float = 0.0
    separated: int = 0
    unbounded: Matrix | None = None
    collinear: Matrix | None = None

    @property
    def matrix(self) -> Matrix:
        """The same as `covariance`."""
        return self.covariance

    @property
    def std_error(self) -> Vector:
        """Standard deviations of the resamples, shape (k,); 0 for those `pinned`."""
        found = np.sqrt(np.clip(np.diag(self.covariance), 0.0, None))
        return np.where(self.pinned, 0.0, found)

    @property
    def df(self) -> float:
        """Infinite, as for the normal distribution."""
        return float("inf")

    @property
    def is_counted(self) -> bool:
        """Whether p-values are counted from the resamples, as envelopes are."""
        return self.options.interval == "envelope"

    @property
    def counts_scaling(self) -> bool:
        """Whether predictors were standardized in every resample anew."""
        return self.fixed is not None

    @property
    def coincide(self) -> bool:
        """Whether resamples coincide, as where rows tie at the margin of the hinge."""
        return self.agreeing > OFTEN

    @property
    def solver_noise(self) -> Vector:
        """`tolerance`, or 0 where it is not known, shape (k,)."""
        unknown = np.zeros(len(self.estimate))
        return unknown if self.tolerance is None else self.tolerance

    @property
    @np.errstate(over="ignore", invalid="ignore")
    def pinned(self) -> Mask:
        """Coefficients that are the same in all resamples, but for the solver."""
        return np.asarray(np.ptp(self.estimates, axis=0) <= self.solver_noise)

    @np.errstate(over="ignore", invalid="ignore")
    def combined(self, R: Matrix) -> "BootstrapResult":
        """The bootstrap of the linear combinations ``R theta``."""
        return replace(
            self,
            estimate=R @ self.estimate,
            estimates=self.estimates @ R.T,
            covariance=R @ self.covariance @ R.T,
            tolerance=np.abs(R) @ self.solver_noise,
            fixed=None,
            reference=None if self.reference is None else R @ self.reference @ R.T,
            unbounded=images(R, self.unbounded),
            collinear=images(R, self.collinear),
        )

    def mapped(
        self, estimate: Vector, estimates: Matrix, covariance: Matrix, J: Matrix
    ) -> "BootstrapResult":
        """That of functions of the coefficients, with their derivatives ``J``."""
        return replace(
            self,
            estimate=estimate,
            estimates=estimates,
            covariance=covariance,
            tolerance=np.abs(J) @ self.solver_noise,
            fixed=None,
            reference=None,
        )

    def original(self, R: Matrix) -> "BootstrapResult":
        """The bootstrap of ``R theta`` on the original scale of the predictors."""
        if self.fixed is None:
            return self.combined(R)
        covariance = np.atleast_2d(np.cov(self.fixed, rowvar=False))
        return replace(self, estimates=self.fixed, covariance=covariance).combined(R)

    @np.errstate(over="ignore", invalid="ignore")
    def conf_int(self, level: float = 0.95, interval: Interval | None = None) -> Matrix:
        """Intervals, shape (k, 2); see `Bootstrap` for the kinds.

        An envelope needs ``2 / (1 - level) - 1`` resamples; that of 95%, which tables
        show unasked, is NaN with fewer.

        Raises
        ------
        OptionError
            If the level is not between 0 and 1, or too high for so few resamples, or
            the kind is not known.
        """
        level = check_fraction("level", level)
        kind = self.options.interval if interval is None else interval
        check_choice("interval", kind, INTERVALS)
        shares = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        m, centre = len(self.estimates), self.estimate[:, None]
        if kind == "envelope":
            rank = int(shares[0] * (m + 1) + ROUNDING)
            if rank < 1 and abs(level - USUAL) > ROUNDING:
                raise too_few(level, m)
            if rank < 1:
                return np.full((len(centre), 2), np.nan)
            apart = np.sort(self.estimates - self.estimate, axis=0)
            reach = np.maximum(-apart[rank - 1], apart[m - rank]) + self.solver_noise
            return np.asarray(centre + np.outer(reach, [-1.0, 1.0]), dtype=np.float64)
        if kind == "normal":
            from scipy.special import ndtri

            return np.asarray(centre + np.outer(self.std_error, ndtri(shares)))
        ends: Matrix = np.quantile(self.estimates, shares, axis=0).T
        return ends if kind == "percentile" else 2.0 * centre - ends[:, ::-1]

    @np.errstate(over="ignore", invalid="ignore")
    def p_values(self, null: Vector | float) -> Vector:
        """``2 (1 + c) / (1 + m)`` of ``theta = null``, at most 1, shape (k,).

        ``c`` resamples are as far from the estimate as `null` is, on the side where
        there are more: the level at which the envelope ends at `null`.
        """
        reach = np.abs(null - self.estimate) - self.solver_noise
        apart = self.estimates - self.estimate
        c = np.maximum((apart >= reach).sum(axis=0), (-apart >= reach).sum(axis=0))
        found: Vector = 2.0 * (1.0 + c) / (1.0 + len(apart))
        return np.minimum(1.0, found)


Estimate = Covariance | BootstrapResult


@np.errstate(over="ignore", invalid="ignore")
def agreeing(estimates: Matrix, tolerance: Vector) -> float:
    """Share of the pairs of resamples with the same coefficients, but for a tolerance.

    Examples
    --------
    >>> agreeing(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]]), np.full(2, 1e-5))
    0.3333333333333333
    """
    m = len(estimates)
    steps = np.round(estimates / np.where(tolerance > 0.0, tolerance, 1.0))
    counts = np.unique(steps, axis=0, return_counts=True)[1]
    return float((counts * (counts - 1)).sum() / (m * (m - 1)))


def too_few(level: float, m: int) -> OptionError:
    """The error for a level of which m resamples have no envelope."""
    needed = int(np.ceil(2.0 / (1.0 - level) - 1.0 - ROUNDING))
    return OptionError(
        f"An interval of level {level:.15g} takes {needed:,} resamples, and there are "
        f"{m:,}; give a lower level, or Bootstrap({needed})."
    )


def whitening(middle: Matrix) -> Matrix:
    """``A`` of full row rank with ``A'A`` the inverse of a covariance.

    Directions without variance, on the scale of each diagonal element, are left out; of
    numbers that are not finite all are.

    Examples
    --------
    >>> whitening(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ]])
    """
    varies = np.diag(middle) > 0.0  # and not below, by rounding
    scale = np.sqrt(np.where(varies, np.diag(middle), 1.0))  # to unit variances
    with np.errstate(all="ignore"):
        scaled = middle / scale / scale[:, None] * np.outer(varies, varies)
    if not np.isfinite(scaled).all():
        return np.zeros((0, len(middle)))
    values, vectors = np.linalg.eigh(scaled)
    kept = values > 1e-10 * len(values)
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T / scale)
