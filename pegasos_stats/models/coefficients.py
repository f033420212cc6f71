"""Coefficients with a covariance: errors, tests, intervals, and whether to trust."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import (
    ConvergenceWarning,
    UndefinedMetricWarning,
    counted,
    warn_caller,
)
from pegasos_stats.models.frames import TIDY_COLUMNS
from pegasos_stats.models.hypothesis_tests import (
    ContrastTests,
    JointTest,
    written_hypotheses,
)
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.bootstrap import BootstrapResult
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.notes import (
    Note,
    Setting,
    estimated_by,
    few_rows,
    not_there,
    too_far,
)
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.rounding import CLOSEST

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# A coefficient that is off by a quarter of its standard error has an interval that
# covers with a probability of 94.3% instead of 95%.
SMALL = 0.25
CLOSE = 1e-8  # relative gap of a fit that is near enough, as a rule
FAR = 1e-4  # and of one that is not


@dataclass(frozen=True, eq=False)
class Inference:
    """What follows from coefficients and their covariance.

    Attributes
    ----------
    theta : Series, shape (k,)
        Coefficients by name, the intercept first.
    covariance : Covariance or BootstrapResult
    nobs : int
    lam : float
    certificate : Certificate
        Of the fit.
    goes_on : str
        Setting that takes the relative gap at which a fit is to end.
    """

    theta: "pd.Series[float]"
    covariance: Covariance | BootstrapResult
    nobs: int
    lam: float
    certificate: Certificate
    goes_on: str

    @property
    def matrix(self) -> Matrix:
        """Covariance of the coefficients, shape (k, k)."""
        if isinstance(self.covariance, BootstrapResult):
            return self.covariance.covariance
        return self.covariance.matrix

    @property
    def df(self) -> float:
        """Degrees of freedom; infinite for the normal law."""
        return float(getattr(self.covariance, "df", np.inf))

    @property
    def is_defined(self) -> bool:
        """Whether there is a covariance."""
        return not np.isnan(self.matrix).any()

    @property
    def std_error(self) -> Vector:
        """Standard errors, shape (k,); 0 where rounding makes a variance negative."""
        return np.sqrt(np.clip(np.diag(self.matrix), 0.0, None))

    @property
    def distance(self) -> Vector:
        """How far each coefficient may be from the optimum, shape (k,).

        ``sqrt(2 gap / lam)`` by strong convexity, for those that are penalised; with
        the log loss the Newton step where that is smaller, and for the intercept. NaN
        for the intercept of a hinge fit.
        """
        bound = distance_at(self.certificate.gap, self.lam)
        found = np.where(self.theta.index == "Intercept", np.nan, bound)
        step = getattr(self.covariance, "newton_step", None)
        return found if step is None else np.fmin(found, np.abs(step))

    @property
    def far(self) -> NDArray[np.bool_]:
        """Which coefficients may be too far from the optimum for their errors.

        Those left out have errors so small that no certificate could tell.
        """
        allowed = SMALL * self.std_error
        floor = distance_at(CLOSEST * self.certificate.objective, self.lam)
        found: NDArray[np.bool_] = (self.distance > allowed) & (allowed > floor)
        return found

    @property
    def remedy(self) -> Setting:
        """What goes on to the optimum, near enough for the smallest error."""
        near = CLOSE
        if self.far.any():
            allowed = SMALL * self.std_error[self.far].min()
            near = self._near_enough(0.5 * self.lam * float(allowed) ** 2)
        return Setting(self.goes_on, near)

    def _near_enough(self, gap: float) -> float:
        """The power of ten that a relative gap has to reach for a gap."""
        objective = self.certificate.objective
        needed = gap / objective if objective > 0.0 else CLOSE
        return 10.0 ** math.floor(math.log10(needed)) if 0.0 < needed < CLOSE else CLOSE

    def with_warnings(self) -> Self:
        """These numbers; the first time with warnings, if they cannot be trusted.

        Warns
        -----
        ConvergenceWarning
            If the fit may be too far from the optimum.
        UndefinedMetricWarning
            If the covariance is not defined, or resamples were left out.
        """
        if "_has_warned" in vars(self):
            return self
        vars(self)["_has_warned"] = True
        if self.covariance.notes:
            remarks = " ".join(note.sentence for note in self._remarks())
            warn_caller(remarks, UndefinedMetricWarning)
        if self.far.any():
            warn_caller(self._too_far().sentence, ConvergenceWarning)
        return self

    def frame(self, level: float) -> pd.DataFrame:
        """Coefficients with broom's columns, intervals of this level."""
        theta, std_error = self._theta, self.std_error
        found = wald.estimates(theta, std_error, self.df, level)
        low, high = found.conf_low, found.conf_high
        if isinstance(self.covariance, BootstrapResult):
            low, high = self.covariance.conf_int(level).T
        columns = (
            list(self.theta.index),
            found.estimate,
            found.std_error,
            found.statistic,
            found.p_value,
            low,
            high,
        )
        return pd.DataFrame(dict(zip(TIDY_COLUMNS, columns, strict=True)))

    def transformed(self, R: Matrix) -> Self:
        """What follows for ``R theta``, with the names of ``theta``."""
        theta = pd.Series(R @ self._theta, self.theta.index, name=self.theta.name)
        covariance = self.covariance
        if isinstance(covariance, BootstrapResult):
            return replace(self, theta=theta, covariance=combined(covariance, R))
        matrix = R @ covariance.matrix @ R.T
        return replace(self, theta=theta, covariance=replace(covariance, matrix=matrix))

    def t_test(self, hypotheses: Any) -> ContrastTests:
        """Test each of the hypotheses ``R theta = q`` alone."""
        R, q = wald.constraints(hypotheses, list(self.theta.index))
        found = wald.t_test(self._theta, self.matrix, R, q, self.df)
        names = written_hypotheses(R, q, list(self.theta.index))
        resampled = None
        if isinstance(self.covariance, BootstrapResult):
            resampled = combined(self.covariance, R)
        return ContrastTests(
            names, found.estimate, found.std_error, q, self.df, resampled
        )

    def wald_test(self, hypotheses: Any) -> JointTest:
        """Test the hypotheses ``R theta = q`` together."""
        R, q = wald.constraints(hypotheses, list(self.theta.index))
        names = written_hypotheses(R, q, list(self.theta.index))
        found = wald.wald_test(self._theta, self.matrix, R, q, self.df)
        return JointTest.of(names, found)

    def notes(self) -> list[Note]:
        """What the numbers mean, and how far they can be trusted."""
        if not self.is_defined:
            return self._remarks()
        return [
            *([self._too_far()] if self.far.any() else []),
            *few_rows(self.nobs, len(self.theta)),
            *estimated_by(described(self.covariance), self.covariance.notes),
        ]

    def _remarks(self) -> list[Note]:
        """What there is to say, and why, if the fit is not at its optimum."""
        remarks = [*self.covariance.notes]
        if self.is_defined or self.certificate.relative_gap <= FAR:
            return remarks
        return [*remarks, not_there(self.remedy)]

    def _too_far(self) -> Note:
        most = float(np.nanmax(self.distance[self.far]))
        return too_far(most, self.std_error[self.far], self.remedy)

    @property
    def _theta(self) -> Vector:
        return np.asarray(self.theta, dtype=np.float64)


def described(covariance: Covariance | BootstrapResult) -> str:
    """The estimate in words."""
    if isinstance(covariance, Covariance):
        return covariance.description
    return (
        f"pairs bootstrap, {counted(len(covariance.estimates), 'replicate')}, seed "
        f"{covariance.seed}; intervals: {covariance.options.interval}; tests by the "
        "normal law"
    )


def combined(covariance: BootstrapResult, R: Matrix) -> BootstrapResult:
    """The bootstrap of the linear combinations ``R theta``."""
    return replace(
        covariance,
        estimate=R @ covariance.estimate,
        estimates=covariance.estimates @ R.T,
        covariance=R @ covariance.covariance @ R.T,
    )


def distance_at(gap: float, lam: float) -> float:
    """Bound ``sqrt(2 gap / lam)`` of ``||beta - beta*||``.

    Examples
    --------
    >>> distance_at(0.02, 1.0)
    0.2
    """
    return float(np.sqrt(2.0 * max(gap, 0.0) / lam))
