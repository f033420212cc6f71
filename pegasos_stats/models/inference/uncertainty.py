"""Uncertainty of coefficients: from their covariance, and from the certificate."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.advice import Cure, Setting, Together
from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.groups import Groups
from pegasos_stats.errors import ConvergenceWarning, UndefinedMetricWarning, warn_caller
from pegasos_stats.models.inference import hypotheses as linear
from pegasos_stats.models.inference import joint_tests, wald
from pegasos_stats.models.inference.constant import is_constant
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.nearness import GOES_ON, distance_at
from pegasos_stats.models.inference.options import CovType, Sandwich
from pegasos_stats.models.inference.resamples import BootstrapResult, behind_tests
from pegasos_stats.models.inference.separation import is_unbounded
from pegasos_stats.models.notes import standard_errors as notes
from pegasos_stats.models.notes.note import Note
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.rounding import CLOSEST
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_advice import surely

# A coefficient that is off by a quarter of its standard error has an interval that
# covers with a probability of 94.3% instead of 95%.
SMALL = 0.25
SIGNIFICANT = 1.96  # standard errors
CLOSE = 1e-8  # relative gap of a fit that is near enough, as a rule
FAR = 1e-4  # and of one that is not


def kind_of(
    options: CovType, found: Covariance | BootstrapResult, groups: Groups | None
) -> str:
    """An estimate of standard errors in a few words.

    Examples
    --------
    >>> kind_of(Sandwich(correction="HC3"), None, None)
    'Standard errors: HC3'
    """
    if isinstance(found, BootstrapResult):
        what = "Pairs bootstrap" if groups is None else f"Bootstrap of {groups}"
        return f"{what}, {len(found.estimates):,} resamples, seed {found.seed}"
    assert isinstance(options, Sandwich)
    clustered = "" if groups is None else f", {groups}"
    return f"Standard errors: {options.correction}{clustered}"


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Errors of coefficients, tests and intervals, and whether to trust them.

    Attributes
    ----------
    theta : Series, shape (k,)
        Coefficients by name, the intercept first.
    covariance : Covariance or BootstrapResult
    nobs : int
    lam : float
    certificate : Certificate
        Of the fit.
    minimum : float
        Of the objective, or the least that is known.
    sdca : SDCA or None
        The solver, where a smaller tolerance goes on; of other fits `refine` does.
    groups : Groups or None
        Of rows that depend on each other.
    apart : float64 array, shape (k,), optional
        How far each coefficient may be from the optimum, where more is known of it than
        the certificate says.
    cure : Cure, optional
        What goes on to the optimum.
    in_files : bool
        Whether the rows are in files, so that they cannot be resampled.
    kind : str
        The estimate in a few words.
    events : int
        Rows of the rarer level; 0 if not known.
    lam_by_cv : bool
        Whether lambda was chosen by cross-validation.
    """

    theta: "pd.Series[float]"
    covariance: Covariance | BootstrapResult
    nobs: int
    lam: float
    certificate: Certificate
    minimum: float
    sdca: SDCA | None
    groups: Groups | None = None
    apart: Vector | None = None
    cure: Cure | None = None
    in_files: bool = False
    kind: str = "Standard errors"
    events: int = 0
    lam_by_cv: bool = False

    @property
    def is_defined(self) -> bool:
        """Whether there is a covariance."""
        return not np.isnan(self.covariance.matrix).any()

    @property
    def std_error(self) -> Vector:
        """Standard errors, shape (k,); NaN where only the penalty limits estimates."""
        return np.where(self.unlimited, np.nan, self.covariance.std_error)

    @cached_property
    def unlimited(self) -> NDArray[np.bool_]:
        """Coefficients that nothing but the penalty limits, shape (k,)."""
        return self._unlimited(np.eye(len(self.theta)))

    def _unlimited(self, R: Matrix) -> NDArray[np.bool_]:
        """Combinations ``R theta`` that nothing but the penalty limits, shape (m,)."""
        found = self.covariance
        if found.unbounded is None:
            return np.zeros(len(R), dtype=bool)
        grow, resampled = is_unbounded(R, found.unbounded), self._resampled
        return grow if resampled is None else grow & ~resampled.combined(R).pinned

    @property
    def distance(self) -> Vector:
        """How far each coefficient may be from the optimum, shape (k,).

        ``sqrt(2 gap / lam)`` by strong convexity, for those that are penalised; with
        the log loss the Newton step where that is smaller, and for the intercept. NaN
        for the intercept of a hinge fit. Where that is too far, a closer fit tells.
        """
        if self.apart is not None:
            return self.apart
        bound = distance_at(self.certificate.gap, self.lam)
        found = np.where(self.theta.index == "Intercept", np.nan, bound)
        step = getattr(self.covariance, "newton_step", None)
        return found if step is None else np.fmin(found, np.abs(step))

    @cached_property
    def far(self) -> NDArray[np.bool_]:
        """Which coefficients may be too far from the optimum for their errors.

        Those left out have errors so small that no certificate could tell.
        """
        allowed = SMALL * self.std_error
        floor = distance_at(CLOSEST * self.minimum, self.lam)
        found: NDArray[np.bool_] = (self.distance > allowed) & (allowed > floor)
        return found

    @property
    def remedy(self) -> Setting:
        """The option that takes the fit near enough to its optimum for all errors.

        Its value, a relative gap, is a power of ten.
        """
        near = CLOSE
        if self.far.any() and self.minimum > 0.0:
            allowed = SMALL * float(self.std_error[self.far].min())
            needed = 0.5 * self.lam * allowed**2 / self.minimum
            if 0.0 < needed < CLOSE:
                near = 10.0 ** math.floor(math.log10(needed))
        return Setting("refine" if self.sdca is None else "tol", near)

    @property
    def untried(self) -> Together:
        """The remedy, where it cannot be tried, with what goes with it."""
        remedy = self.remedy
        if self.sdca is None:
            return (remedy,)
        return surely(self.sdca, float(remedy.value or 0.0))

    @property
    def plain_cure(self) -> Cure:
        """The same as a sentence."""
        return Cure((self.untried,), GOES_ON)

    def warn(self) -> None:
        """Warn if the numbers cannot be trusted.

        Warns
        -----
        ConvergenceWarning
            If the fit may be too far from the optimum.
        UndefinedMetricWarning
            If the covariance is not defined, resamples were left out, or only the
            penalty limits coefficients.
        """
        if self.covariance.notes:
            *first, last = self._on_covariance()
            before = "".join(f"{note.sentence} " for note in first)
            warn_caller(before + last.capital, UndefinedMetricWarning, last.cure)
        for note in self.separated():
            warn_caller(note.capital, UndefinedMetricWarning, note.cure)
        for note in self._too_far():
            warn_caller(note.capital, ConvergenceWarning, note.cure)

    def frame(self, level: float) -> pd.DataFrame:
        """Coefficients with broom's columns, intervals of this level."""
        return self._each.estimates(level).frame(list(self.theta.index))

    @property
    def headings(self) -> list[str]:
        """Of the columns of tests in print."""
        return self._each.headings

    @property
    def _each(self) -> wald.ContrastTests:
        """Tests of every coefficient."""
        names, nothing = list(self.theta.index), np.zeros(len(self.theta))
        given = names, self._theta, self.std_error, nothing, self.covariance.df
        return wald.ContrastTests(*given, self._resampled, self._bias)

    def original(self, R: Matrix) -> Self:
        """What follows for ``R theta``, on the scale before standardizing."""
        theta = pd.Series(R @ self._theta, self.theta.index, name=self.theta.name)
        return replace(self, theta=theta, covariance=self.covariance.original(R))

    def t_test(self, hypotheses: object) -> wald.ContrastTests:
        """Test each of the hypotheses ``R theta = q`` alone."""
        names, resampled = list(self.theta.index), self._resampled
        R, q = linear.constraints(hypotheses, names)
        written = linear.written_hypotheses(R, q, names)
        found = wald.t_test(self._theta, self.covariance.matrix, R, q)
        errors = np.where(self._unlimited(R), np.nan, found.std_error)
        return wald.ContrastTests(
            written,
            found.estimate,
            np.where(self._constant(R, written), 0.0, errors),
            q,
            self.covariance.df,
            None if resampled is None else resampled.combined(R),
            None if self._bias is None else R @ self._bias,
        )

    def wald_test(self, hypotheses: object) -> joint_tests.JointTest:
        """Test the hypotheses ``R theta = q`` together."""
        names, V = list(self.theta.index), self.covariance
        R, q = linear.constraints(hypotheses, names)
        written = linear.written_hypotheses(R, q, names)
        constant = self._constant(R, written)
        if self._unlimited(R).any() or constant.all():
            return joint_tests.undefined(R, V.df, written)
        R, q = R[~constant], q[~constant]
        written = [each for each, c in zip(written, constant, strict=True) if not c]
        if isinstance(V, BootstrapResult):
            if V.is_symmetric:
                return joint_tests.resampled_test(V, R, q, written)
        elif np.linalg.matrix_rank(R) > 1 and self._completed.joint is not None:
            joint, rows = self._completed.joint, self._completed.rows
            given = self._theta, joint, rows, R, q, written
            return joint_tests.hotelling_test(*given, self._bias)
        plain = self._theta, V.matrix, R, q, V.df, written
        return joint_tests.wald_test(*plain, self._bias)

    def _constant(self, R: Matrix, written: list[str]) -> NDArray[np.bool_]:
        """Hypotheses about what is the same in all samples; warns of them."""
        penalties = np.where(self.theta.index == "Intercept", 0.0, self.lam)
        constant = is_constant(self.covariance, R, penalties) & ~self._unlimited(R)
        if constant.any():
            named = [each for each, c in zip(written, constant, strict=True) if c]
            warn_caller(notes.untested(named), UndefinedMetricWarning)
        return constant

    def remarks(self) -> list[Note]:
        """Notes on the standard errors: which they are, and whether to trust them."""
        if not self.is_defined:
            return self._on_covariance()
        found, k = self.covariance, len(self.theta)
        first = [
            *self._too_far(),
            *self.separated(),
            *notes.few_rows(self.nobs, k),
            *notes.few_groups(self.groups),
        ]
        if self.unlimited.all():  # there are no errors to speak of
            return first
        return [
            *first,
            *(notes.few_events(self.events, self.nobs, k) if self.events else []),
            *self._shrunk(),
            notes.estimate(self.kind, self.lam_by_cv),
            *notes.assumptions(found.description, self.groups, found.counts_scaling),
            *self._why(),
            *self._off(),
            *self._pinned(),
            *(self._resampled.notes_on_tests if self._resampled else []),
            *found.notes,
        ]

    def _shrunk(self) -> list[Note]:
        """Which small p-values may be the penalty's, if any.

        Without it the coefficient would be nearer to 0, or beyond, by more than its
        standard error.
        """
        pull, errors, theta = self.covariance.pull, self.std_error, self._theta
        if pull is None:
            return []
        penalised = self.theta.index != "Intercept"
        small = (np.abs(theta) > SIGNIFICANT * errors) & (errors > 0.0) & penalised
        other = small & (np.sign(pull) * np.sign(theta) < 0) & (np.abs(pull) > errors)
        if self._resampled is not None:
            other &= ~self._resampled.pinned
        return notes.shrunk(list(self.theta.index[other])) if other.any() else []

    def separated(self) -> list[Note]:
        """Which coefficients only the penalty limits, if any."""
        found, resampled = self.covariance.separated, self._resampled
        if found and found == self.nobs:
            return notes.complete_separation()
        names = list(self.theta.index[self.unlimited])
        if names and resampled is not None:
            return notes.separated_in_resamples(names, found, resampled.always)
        return notes.separated(names, found) if names else []

    def _why(self) -> list[Note]:
        """Why rows had better be resampled, or what resamples do not show."""
        found, why = list[Note](), self.covariance.why
        if why and self._resampled is None:
            one_way = self.groups is None or len(self.groups.numbers) == 1
            found = notes.not_covering(why, one_way and not self.in_files)
        if resampled := behind_tests(self.covariance):
            found += [notes.little_power()] * resampled.hardly
            found += [notes.biased_towards_zero()] * resampled.nearer
        return found

    def _pinned(self) -> list[Note]:
        """Which coefficients have no spread, or next to none, if any."""
        found = self._resampled
        if found is None:
            return []
        names, nearly = self.theta.index, found.nearly_pinned & self.is_resampled
        ending = found.ending_at_zero & self.is_resampled & ~found.pinned & ~nearly
        return [
            *notes.pinned(list(names[found.pinned])),
            *notes.nearly_pinned(list(names[nearly])),
            *notes.ending_at_zero(list(names[ending])),
        ]

    def _off(self) -> list[Note]:
        """How far estimates are off on average, where intervals allow for it."""
        if self._bias is None:
            return []
        off = wald.in_errors(self._bias, self.std_error)
        return notes.biased(list(self.theta.index), off)

    def _on_covariance(self) -> list[Note]:
        """What there is to say of the covariance; and if undefined, what may help."""
        remarks, found = [*self.covariance.notes], self.covariance
        overflows = isinstance(found, Covariance) and not np.isfinite(found.meat).all()
        if self.is_defined or overflows or self.certificate.relative_gap <= FAR:
            return remarks
        return [*remarks, notes.not_at_optimum(self.untried)]

    @property
    def is_resampled(self) -> bool:
        """Whether p-values are counted from resamples, not by z or t."""
        return behind_tests(self.covariance) is not None

    def _too_far(self) -> list[Note]:
        """That the fit may be too far from its optimum, if it may be."""
        if not self.far.any():
            return []
        most = float(np.nanmax(self.distance[self.far]))
        return [notes.too_far(most, self.std_error[self.far], self.cure)]

    @cached_property
    def _completed(self) -> Covariance:
        """The sandwich with what tests of several hypotheses need."""
        assert isinstance(self.covariance, Covariance)
        return self.covariance.completed()

    @property
    def _resampled(self) -> BootstrapResult | None:
        """The resamples that intervals are from, if they are."""
        found = self.covariance
        return found if isinstance(found, BootstrapResult) else None

    @property
    def _bias(self) -> Vector | None:
        """Of the coefficients, where intervals and tests allow for it."""
        found = self.covariance
        return found.bias if isinstance(found, Covariance) else None

    @property
    def _theta(self) -> Vector:
        return np.asarray(self.theta, dtype=np.float64)
