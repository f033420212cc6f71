"""Intervals and tests by profile likelihood, also with Firth's penalty.

The deviance of a value ``b`` of coefficient ``j`` is twice the decrease of the maximum
(penalised) log likelihood if that coefficient is fixed at ``b``. The p-value of a
coefficient compares the deviance of the value 0 with chi-squared with one degree of
freedom. At the limits of its interval the deviance equals the quantile of chi-squared.

References
----------
Venzon & Moolgavkar, Applied Statistics 37 (1988).
Heinze & Schemper, Statistics in Medicine 21 (2002), for the penalised likelihood.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.solvers.firth import LikelihoodFit, OrthonormalRows, fit_likelihood

LIMIT_ACCURACY = 1e-11  # relative to the distance of a limit from the estimate
ZERO_DEVIANCE = 1e-6


@dataclass(frozen=True, eq=False)
class ProfileTable:
    """Profile likelihood tests and intervals of ``k`` coefficients.

    Attributes
    ----------
    statistic : float64 array, shape (k,)
        Square roots of the deviances at 0, with the signs of the estimates; NaN for
        coefficients that are not estimable.
    p_value : float64 array, shape (k,)
    limits : float64 array, shape (k, 2)
        Limits of the 95% intervals.
    """

    statistic: Vector
    p_value: Vector
    limits: Matrix

    _field_rules = "statistic k, p_value k, limits kl"

    def __post_init__(self) -> None:
        for array in vars(self).values():
            array.flags.writeable = False

    def _conditions(self) -> Iterator[object]:
        """Check that each coefficient has two limits."""
        yield self.limits.shape == (len(self.p_value), 2)


class Profile:
    """Profile likelihoods of the coefficients of a fit.

    Parameters
    ----------
    rows : OrthonormalRows
    firth : bool
        Whether the likelihood has Firth's penalty.

    Attributes
    ----------
    fit : LikelihoodFit
        The fit in which no coefficient is fixed.
    """

    def __init__(self, rows: OrthonormalRows, firth: bool) -> None:
        self.rows, self.firth = rows, firth
        self.fit = fit_likelihood(rows, firth)
        self.separated = firth and fit_likelihood(rows, firth=False).diverges

    def deviance(self, j: int, value: float) -> float:
        """Twice the decrease of log likelihood if coefficient `j` is fixed at a value.

        NaN if the fit with this coefficient fixed neither converges nor diverges, or if
        its (penalised) log likelihood exceeds that of `fit` by more than a tolerance.
        The latter is possible because the likelihood with Firth's penalty may have
        several maxima.
        """
        return self._constrained(j, value, self.fit)[0]

    def _constrained(
        self, j: int, value: float, start: LikelihoodFit
    ) -> tuple[float, LikelihoodFit]:
        starts = [] if self.fit.diverges else [start.phi]
        if self.separated:  # there may be several maxima
            starts.append(0.0 * start.phi if start is self.fit else self.fit.phi)
        constrained = fit_likelihood(self.rows, self.firth, {j: value}, starts)
        deviance = 2.0 * (self.fit.objective - constrained.objective)
        is_valid = constrained.converged or constrained.diverges
        is_valid = is_valid and deviance > -ZERO_DEVIANCE
        return (max(0.0, deviance) if is_valid else np.nan), constrained

    def table(self) -> ProfileTable:
        """Likelihood ratio tests that each coefficient is 0, and 95% intervals.

        Examples
        --------
        >>> from pegasos_stats.solvers.firth import orthonormal_rows
        >>> X, signs = np.array([[0.0], [0], [1], [1]]), np.array([-1.0, 1, 1, 1])
        >>> Profile(orthonormal_rows(X, signs), firth=True).table().p_value.round(3)
        array([1.   , 0.378])
        """
        from scipy.special import chdtrc

        deviances = np.full(len(self.fit.theta), np.nan)
        for j in np.flatnonzero(self.rows.estimable):
            deviances[j] = self.deviance(int(j), 0.0)
        roots = np.sign(self.fit.theta) * np.sqrt(deviances)
        return ProfileTable(roots, np.asarray(chdtrc(1.0, deviances)), self.limits())

    def limits(self, level: float = 0.95) -> Matrix:
        """Limits of intervals, shape (k, 2).

        A limit is infinite if rows are separated and the deviance does not increase. It
        is NaN if the coefficient is not estimable, or a fit does not converge.
        """
        from scipy.special import chdtri

        target = float(np.sqrt(chdtri(1.0, 1.0 - level)))
        ends = np.full((len(self.fit.theta), 2), np.nan)
        for j in np.flatnonzero(self.rows.estimable):
            ends[j] = [self._end(int(j), sign, target) for sign in (-1.0, 1.0)]
        return ends

    def _end(self, j: int, sign: float, target: float) -> float:
        """Return the limit on one side, where the deviance equals the quantile.

        The square root of the deviance is nearly a linear function of the distance from
        the estimate. Newton's method finds the distance at which it reaches the target,
        with bisection between a point inside the interval and one outside.
        """
        estimate, unit = float(self.fit.theta[j]), float(self.fit.std_error[j])
        if self.fit.diverges:  # a lower bound of the standard error
            unit = 2.0 * float(np.linalg.norm(self.rows.back[j]))
            farthest = estimate + sign * (2.0 * abs(estimate) + unit)
            if self.deviance(j, farthest) < ZERO_DEVIANCE:
                return sign * np.inf
        latest, inside, outside, at = self.fit, 0.0, np.inf, target
        for _ in range(100):
            deviance, constrained = self._constrained(
                j, estimate + sign * at * unit, latest
            )
            root, step = np.sqrt(deviance), np.nan
            if not np.isnan(root):
                latest = constrained
                slope = -sign * unit * constrained.slope(self.rows.back[j])
                step = (target - root) * root / slope if slope > 0.0 else np.nan
            if abs(step) <= LIMIT_ACCURACY * at:
                return estimate + sign * float(at + step) * unit
            if root < target:
                inside = at
            else:  # also if the fit does not converge, because `at` is too far out
                outside = at
            at += step
            if not inside < at < outside:
                at = (inside + outside) / 2.0 if np.isfinite(outside) else 2.0 * inside
            if outside - inside <= 1e-9 * inside:
                # The deviance jumps over the target: another local maximum takes over.
                return estimate + sign * at * unit if not np.isnan(root) else np.nan
        return np.nan
