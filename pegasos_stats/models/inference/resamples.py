"""Inference from bootstrap resamples: spread, intervals, p-values."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.checks import check_choice, check_fraction
from pegasos_stats.errors import counted
from pegasos_stats.models.inference.bootstrap_options import (
    INTERVALS,
    Bootstrap,
    Interval,
)
from pegasos_stats.models.inference.counting import ROUNDING, too_few, two_sided
from pegasos_stats.models.notes.note import Note
from pegasos_stats.models.notes.standard_errors import least_p_value

USUAL = 0.95  # level of intervals
MOST_WIDER = 0.25  # by simulation: `benchmarks/zoo.py`, populations of few values
AROUND = 1.25  # of statistics where fits differ in direction, by simulation
OFTEN = 0.002  # share of pairs of resamples that agree, from which on it is the most


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Coefficients of the resamples, ``k`` of them, the intercept first.

    Attributes
    ----------
    estimate : float64 array, shape (k,)
        Those of the fit itself.
    estimates : float64 array, shape (m, k)
        Those of the resamples in which both levels occurred.
    covariance : float64 array, shape (k, k)
        Sample covariance of `estimates`, with the divisor ``m - 1``.
    seed : int
    n_left_out : int
        Resamples without an optimum: of one level alone, with an intercept.
    n_not_converged : int
        Resamples in `estimates` whose relative gap is above ``options.tol``.
    relative_gap : float
        The largest of all resamples.
    distance : float
        Largest ``sqrt(2 gap / lam)``: no ``beta`` of a resample is farther from its
        optimum. It is to be small against `std_error`.
    options : Bootstrap
    notes : tuple of Note
        How many resamples were left out.
    tolerance : float64 array, shape (k,), optional
        Differences between estimates that are the solver's.
    fixed : float64 array, shape (m, k), optional
        Where the predictors were standardized, and so in every resample anew: the
        coefficients of the resamples for predictors as the fit standardized them.
    reference : float64 array, shape (k, k), optional
        ``(sum_i w_i z_i z_i' / n)^-1`` with ``z = (1, x)``: what the covariance would
        be, but for a factor, if rows of all predictors were at the margin alike.
    priors : float64 array, shape (m,), optional
        Where balanced weights were made anew for each resample: ``log(n- / n+)`` of
        its rows, which probabilities take off scores.
    pull : float64 array, shape (k,), optional
        By how much coefficients without penalty differ from these, as of `Covariance`.
    why : str
        Why the sandwich does not cover; empty if it does.
    groups : str
        The groups that were drawn, in words; empty if rows were.
    agreeing : float
        Share of the pairs of resamples in which all coefficients are the same.
    hardly : bool
        Whether predictors of the hinge hardly tell the levels apart, see `hardly_told`.
    nearer : bool
        Whether coefficients of samples are nearer to 0, see `Reasons`.
    separated : int
        Rows of the log loss whose scores nothing but the penalty limits.
    unbounded : float64 array, shape (k, q), optional
        Directions that nothing but the penalty limits, as of `Covariance`.
    always : bool
        Whether these would be so without penalty alone, see `certain_in_resamples`.
    proportional : bool array, shape (k,), optional
        Coefficients of standardized predictors with long tails: they vary in proportion
        to their size, as the deviation does that they are multiplied by.
    """

    estimate: Vector
    estimates: Matrix
    covariance: Matrix
    seed: int
    n_left_out: int
    n_not_converged: int
    relative_gap: float
    distance: float
    options: Bootstrap
    notes: tuple[Note, ...] = ()
    tolerance: Vector | None = None
    fixed: Matrix | None = None
    reference: Matrix | None = None
    priors: Vector | None = None
    pull: Vector | None = None
    why: str = ""
    groups: str = ""
    agreeing: float = 0.0
    hardly: bool = False
    nearer: bool = False
    separated: int = 0
    unbounded: Matrix | None = None
    always: bool = False
    proportional: NDArray[np.bool_] | None = None

    @property
    def matrix(self) -> Matrix:
        """The same as `covariance`, under the name that the sandwich gives it."""
        return self.covariance

    @property
    def std_error(self) -> Vector:
        """Standard deviations of the replicates, shape (k,); 0 for those `pinned`."""
        found = np.sqrt(np.clip(np.diag(self.covariance), 0.0, None))
        return np.where(self.pinned, 0.0, found)

    @property
    def df(self) -> float:
        """Degrees of freedom of tests: infinite, as for the normal distribution."""
        return float("inf")

    @property
    def description(self) -> str:
        """The estimate in words."""
        tests = "by the normal distribution"
        if self.is_symmetric:
            tests = "from the same replicates"
        kind = f"cluster bootstrap, {self.groups}" if self.groups else "pairs bootstrap"
        wide = f", widened by {100.0 * (self.widening - 1.0):.2g}% as resamples tie"
        wider = wide * (self.is_symmetric and self.widening > 1.0)
        number = int(self.by_ratio.sum())
        ratios = f", of {counted(number, 'coefficient')} by its logarithm"
        if number > 1:
            ratios = f", of {number} coefficients by their logarithms"
        return (
            f"{kind}, {counted(len(self.estimates), 'replicate')}, seed "
            f"{self.seed}; intervals: {self.options.interval}"
            f"{ratios * (self.is_symmetric and number > 0)}{wider}; tests {tests}"
        )

    @property
    def is_symmetric(self) -> bool:
        """Whether tests are from the replicates, as intervals are."""
        return self.options.interval == "symmetric"

    @property
    def counts_scaling(self) -> bool:
        """Whether predictors were standardized in every resample anew."""
        return self.fixed is not None

    @property
    def least_p_value(self) -> float:
        """The smallest p-value of a coefficient that the resamples can give."""
        return float(two_sided(np.zeros(1), len(self.estimates))[0])

    @property
    def notes_on_tests(self) -> list[Note]:
        """How small those of coefficients can be, where resamples are counted."""
        if not self.is_symmetric or self.pinned.all():
            return []
        m, least = len(self.estimates), self.least_p_value
        return least_p_value(m, least, has_interval=not self._is_few)

    @property
    def _is_few(self) -> bool:
        """Whether there is no symmetric interval of 95%."""
        return self.least_p_value > 1.0 - USUAL + ROUNDING

    @property
    @np.errstate(over="ignore", invalid="ignore")  # of a fit whose file was edited
    def nearly_pinned(self) -> NDArray[np.bool_]:
        """Coefficients that vary, but not within a symmetric interval of 95%.

        That is then of the tie that holds nearly all resamples, and not of the others,
        from which the standard error is. None where resamples are too few to tell.
        """
        if self._is_few:
            return np.zeros(len(self.estimate), dtype=bool)
        low, high = self.conf_int(interval="symmetric").T
        reach = (1.0 + ROUNDING) * (1.0 + self.widening) * self.solver_noise
        return np.asarray((high - low <= 2.0 * reach) & ~self.pinned)

    @property
    @np.errstate(over="ignore", invalid="ignore")  # of a fit whose file was edited
    def ending_at_zero(self) -> NDArray[np.bool_]:
        """Coefficients whose symmetric interval of 95% ends at 0, where resamples tie.

        The p-value is then above 5%, as these resamples are as far as 0 is.
        """
        if self._is_few:
            return np.zeros(len(self.estimate), dtype=bool)
        low, high = replace(self, agreeing=0.0).conf_int(interval="symmetric").T
        ends = np.minimum(np.abs(low), np.abs(high))  # before they are widened
        tied = np.abs(self.estimates) <= self.solver_noise
        often = tied.mean(axis=0) >= (1.0 - USUAL) / 2.0
        near = ends <= (1.0 + ROUNDING) * 2.0 * self.solver_noise
        return np.asarray(near & often & (self.p_values(np.zeros(1)) > 1.0 - USUAL))

    @property
    def solver_noise(self) -> Vector:
        """`tolerance`, or 0 where it is not known, shape (k,)."""
        if self.tolerance is None:
            return np.zeros(len(self.estimate))
        return self.tolerance

    @property
    def noise_of_distances(self) -> Vector:
        """`solver_noise` as `distances` have it, shape (k,)."""
        units = np.where(self.by_ratio, np.abs(self.estimate), 1.0)
        return self.solver_noise / units

    @property
    @np.errstate(over="ignore", invalid="ignore")
    def pinned(self) -> NDArray[np.bool_]:
        """Coefficients that are the same in all resamples, but for the solver.

        A face of the hinge holds them there; there is no spread to test them with.
        """
        found: NDArray[np.bool_] = np.ptp(self.estimates, axis=0) <= self.solver_noise
        return found

    @property
    def by_ratio(self) -> NDArray[np.bool_]:
        """Proportional coefficients whose sign is the same in all resamples.

        How far a resample is from the estimate is the logarithm of their ratio then.
        """
        if self.proportional is None:
            return np.zeros(len(self.estimate), dtype=bool)
        same = (np.sign(self.estimates) == np.sign(self.estimate)).all(axis=0)
        return np.asarray(self.proportional & same & (self.estimate != 0.0))

    @property
    def widening(self) -> float:
        """Factor of symmetric intervals: ``1 + min(1, agreeing / 0.002) / 4``.

        Where groups of rows tie at the margin, estimates jump from one corner of the
        objective to the next, and resamples of a fit at one corner hardly reach those
        at which the coefficients of the population may be.
        """
        return 1.0 + MOST_WIDER * self._tied

    @property
    def _tied(self) -> float:
        """How often resamples agree, 1 being often: ``min(1, agreeing / 0.002)``."""
        return min(1.0, self.agreeing / OFTEN)

    @property
    def joint_widening(self) -> float:
        """Factor of the statistics of resamples in tests of several hypotheses.

        1, or 1.25 where predictors hardly tell the levels apart, by simulation. There
        the loss limits the length of the coefficients, and fits differ in their
        direction. Without any effect that of a sample is noise ``a``, that of a
        resample ``a + b`` with as much noise again, so that resamples are nearer to the
        estimate than that is to 0.
        """
        return AROUND if self.hardly else 1.0

    @property
    def sides(self) -> float:
        """Factor of p-values of several hypotheses, from 1 to 2 if resamples agree.

        Where they jump from corner to corner, those at the corner of the population all
        lie on one side of the estimate, and count twice as for one hypothesis. Where
        predictors hardly tell the levels apart, 1.
        """
        return 1.0 if self.hardly else 1.0 + self._tied

    @np.errstate(over="ignore", invalid="ignore")
    def combined(self, R: Matrix) -> "BootstrapResult":
        """The bootstrap of the linear combinations ``R theta``."""
        reference = None if self.reference is None else R @ self.reference @ R.T
        proportional = self.proportional
        if proportional is not None:
            alone = (R != 0.0).sum(axis=1) == 1
            proportional = alone & (R[:, proportional] != 0.0).any(axis=1)
        return replace(
            self,
            estimate=R @ self.estimate,
            estimates=self.estimates @ R.T,
            covariance=R @ self.covariance @ R.T,
            tolerance=np.abs(R) @ self.solver_noise,
            fixed=None,
            reference=reference,
            pull=None,
            unbounded=None if self.unbounded is None else R @ self.unbounded,
            proportional=proportional,
        )

    def original(self, R: Matrix) -> "BootstrapResult":
        """The bootstrap of ``R theta`` on the original scale of the predictors."""
        if self.fixed is None:
            return self.combined(R)
        covariance = np.atleast_2d(np.cov(self.fixed, rowvar=False))
        known = replace(self, estimates=self.fixed, covariance=covariance)
        return replace(known, proportional=None).combined(R)

    @np.errstate(over="ignore", invalid="ignore")
    def distances(self, values: Matrix) -> Matrix:
        """How far values are from the estimate, with a sign, each shape (m, k).

        ``value - estimate``, or where they are `by_ratio` ``log(value / estimate)``,
        which is infinite for 0 and values of the other sign.
        """
        plain = values - self.estimate
        if not self.by_ratio.any():
            return plain
        unit = np.where(self.by_ratio, self.estimate, 1.0)
        with np.errstate(divide="ignore"):
            return np.where(
                self.by_ratio, np.log(np.maximum(values / unit, 0.0)), plain
            )

    @np.errstate(over="ignore", invalid="ignore")
    def conf_int(self, level: float = 0.95, interval: Interval | None = None) -> Matrix:
        """Intervals, shape (k, 2); see `Bootstrap` for the kinds.

        Symmetric ones of 95%, which tables show unasked, are NaN if there are too few
        resamples for them; a note says so.

        Raises
        ------
        OptionError
            If the level is not between 0 and 1, or above what as many resamples give of
            symmetric intervals; or the kind not known.
        """
        level = check_fraction("level", level)
        kind = self.options.interval if interval is None else interval
        check_choice("interval", kind, INTERVALS)
        shares = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        if kind == "symmetric":
            m = len(self.estimates)
            k = int(shares[0] * (m + 1) + ROUNDING)
            if k < 1 and abs(level - USUAL) > ROUNDING:
                raise too_few(level, m)
            if k < 1:
                return np.full((len(self.estimate), 2), np.nan)
            apart = np.sort(self.distances(self.estimates), axis=0)
            reach = np.maximum(-apart[k - 1], apart[m - k]) * self.widening
            reach += self.noise_of_distances
            return self._at_distance(reach)
        if kind == "normal":
            from scipy.stats import norm

            reach = np.outer(self.std_error, norm.ppf(shares))
            found: Matrix = self.estimate[:, None] + reach
            return found
        ends = np.quantile(self.estimates, shares, axis=0).T
        if kind == "basic":
            ends = 2.0 * self.estimate[:, None] - ends[:, ::-1]
        return ends

    def _at_distance(self, reach: Vector) -> Matrix:
        """Values that far below the estimate and above it, shape (k, 2)."""
        ends = np.outer([-1.0, 1.0], reach)
        plain, ratios = self.estimate + ends, self.estimate * np.exp(ends)
        return np.sort(np.where(self.by_ratio, ratios, plain), axis=0).T

    @np.errstate(over="ignore", invalid="ignore")
    def p_values(self, null: Vector) -> Vector:
        """Those of ``theta = null``, shape (k,), that go with symmetric intervals.

        One is at most ``1 - level`` where the interval does not hold the value.
        """
        reach = np.abs(self.distances(null)) - self.noise_of_distances
        apart = self.distances(self.estimates) * self.widening
        above, below = (apart >= reach).sum(axis=0), (-apart >= reach).sum(axis=0)
        return two_sided(np.maximum(above, below), len(apart))


def behind_tests(estimate: object) -> BootstrapResult | None:
    """The resamples that p-values are counted from; None if they are by z or t.

    Parameters
    ----------
    estimate : BootstrapResult, Covariance or None
    """
    if isinstance(estimate, BootstrapResult) and estimate.is_symmetric:
        return estimate
    return None
