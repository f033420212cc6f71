"""Standard errors of a fit: the estimate, tests and intervals by it, notes on it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Mask, Matrix, Vector
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.language import hypotheses as linear
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.scan.matrix_in_files import Elsewhere
from pegasos_stats.errors import ConvergenceWarning, UndefinedMetricWarning, warn_caller
from pegasos_stats.models import notes
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.bootstrap import bootstrap
from pegasos_stats.models.inference.covariance import (
    BootstrapResult,
    Covariance,
    Estimate,
)
from pegasos_stats.models.inference.options import (
    MOST_SECONDS,
    SANDWICH,
    Bootstrap,
    CovType,
    Sandwich,
    seconds_of,
)
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.models.inference.separation import is_unbounded
from pegasos_stats.models.notes import Note
from pegasos_stats.solvers.problem import Problem, Solution

ROUNDING = 1e-14  # of sums over the rows
SMALL = 0.25  # of a standard error: 95% intervals then cover 94.3%
UNKNOWN = "separated", "unbounded", "collinear"  # of a bootstrap
FAR = 1e-4  # relative gap of a hinge fit that is not at its optimum
MOST_COEFFICIENTS, MOST_PRODUCTS = 1000, 1e10  # some two seconds


def estimated(
    problem: Problem,
    found: Solution,
    options: Sandwich | Bootstrap,
    scaling: Scaling | None,
    groups: Groups | None,
    relative_gap: float,
) -> Estimate:
    """Estimate the covariance of the coefficients; see `Sandwich` and `Bootstrap`.

    Raises
    ------
    DataError
        If there are too many coefficients, or rows in files cannot be read.
    """
    if isinstance(options, Bootstrap):
        resampled = bootstrap(problem, found, options, scaling, groups)
        if problem.p > MOST_COEFFICIENTS:
            return resampled
        plain = sandwich(problem, found, SANDWICH)
        return replace(resampled, **{name: getattr(plain, name) for name in UNKNOWN})
    return sandwich(problem, found, options, scaling, groups, relative_gap)


def is_quick(problem: Problem) -> bool:
    """Whether the sandwich, of ``n p^2 + p^3`` products, takes a second or two."""
    n, p = problem.n, problem.p
    return p <= MOST_COEFFICIENTS and float(n) * p * p <= MOST_PRODUCTS


def why_left_out(problem: Problem, options: CovType, asked: bool) -> list[Note]:
    """Why a summary has no standard errors, and how to get them; empty if it has.

    Those that were asked for by name are computed, however long it takes.

    Examples
    --------
    >>> wide = Problem(np.zeros((3, 2000)), np.array([-1.0, 1.0, 1.0]), 1.0, "log")
    >>> why_left_out(wide, Sandwich(), asked=False)[0].text
    'Standard errors were not computed, which takes long for 2,000 coefficients: ...'
    """
    why = why_none(problem, options)
    if why or asked:
        return why
    if isinstance(options, Bootstrap):
        seconds = seconds_of(problem, options.replicates)
        takes = f"some {seconds:,.0f} seconds for {options.replicates} resamples"
        quick = seconds <= MOST_SECONDS and problem.p <= MOST_COEFFICIENTS
    else:
        takes, quick = f"long for {problem.p:,} coefficients", is_quick(problem)
    if quick:
        return []
    words = (
        f"Standard errors were not computed, which takes {takes}: "
        "result.conf_int() computes them, and the summary then shows them."
    )
    return [Note("standard errors", "note", words)]


def why_none(problem: Problem, options: CovType) -> list[Note]:
    """Why standard errors cannot be computed; empty if they can.

    Examples
    --------
    >>> small = Problem(np.zeros((3, 2)), np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> why_none(small, Sandwich()), why_none(small, None)[0].text[:28]
    ([], 'There are no standard errors')
    """
    elsewhere = isinstance(problem.X, Elsewhere)
    if options is None and elsewhere and problem.loss == "hinge":
        words = (
            f"There are no standard errors: rows in {problem.X.noun} are not "
            "resampled. result.with_covariance('sandwich') has those of the "
            "sandwich, which are too small where rows tie."
        )
    elif options is None:
        words = (
            "There are no standard errors: cov_type='none'; "
            "result.with_covariance('default') gives the same fit with them."
        )
    elif not (problem.has_rows or elsewhere):
        words = (
            "There are no standard errors: they need the training rows, which a "
            "saved model does not hold; ask for them, as by result.bse, before "
            "saving."
        )
    else:
        return []
    return [Note("standard errors", "note", words)]


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Errors of coefficients, tests and intervals, and whether to trust them.

    Attributes
    ----------
    theta : Series, shape (k,)
        Coefficients by name, the intercept first.
    covariance : Covariance or BootstrapResult
    options : Sandwich or Bootstrap
    problem : Problem
    relative_gap : float
        Of the fit.
    groups : Groups or None
        Of rows that depend on each other.
    noise : float64 array, shape (k,), or None
        What of each coefficient is the solver's.
    to_optimum : bool
        Whether the solver has a tolerance of its own.
    """

    theta: "pd.Series[float]"
    covariance: Estimate
    options: CovType
    problem: Problem
    relative_gap: float
    groups: Groups | None = None
    noise: Vector | None = None
    to_optimum: bool = False

    @property
    def is_defined(self) -> bool:
        """Whether there is a covariance."""
        return not np.isnan(self.covariance.matrix).any()

    @property
    def std_error(self) -> Vector:
        """Standard errors, shape (k,); NaN where only the penalty limits estimates."""
        return np.where(self.unlimited, np.nan, self.covariance.std_error)

    @cached_property
    def unlimited(self) -> Mask:
        """Coefficients that nothing but the penalty limits, shape (k,)."""
        return self._unlimited(np.eye(len(self.theta)))

    def _unlimited(self, R: Matrix) -> Mask:
        """Combinations ``R theta`` that nothing but the penalty limits, shape (m,)."""
        free = self.covariance.unbounded
        return np.zeros(len(R), dtype=bool) if free is None else is_unbounded(R, free)

    def _errors(self, R: Matrix) -> Vector:
        """Standard errors of ``R theta``; 0 of what is the same in all samples."""
        V = self.covariance
        variances = np.einsum("ij,ij->i", R @ V.matrix, R)
        if isinstance(V, BootstrapResult):
            same = V.combined(R).pinned
        else:  # r'H r is the penalty's alone, but for rounding: X r = 0
            penalised = np.where(self.theta.index == "Intercept", 0.0, self.problem.lam)
            most = np.einsum("ij,ij->i", np.abs(R) @ np.abs(V.bread), np.abs(R))
            forms = np.einsum("ij,ij->i", R @ V.bread, R)
            same = forms - np.square(R) @ penalised <= ROUNDING * most
        found = np.sqrt(np.maximum(variances, 0.0))
        return np.where(same, 0.0, found)

    @property
    def is_far(self) -> bool:
        """Whether the fit is too far from its optimum for its errors.

        For the log loss the Newton step tells, beside a quarter of a standard error;
        for the hinge the relative gap.
        """
        step = getattr(self.covariance, "newton_step", None)
        if step is None:
            return self.relative_gap > FAR
        with np.errstate(invalid="ignore"):
            return bool((np.abs(step) > SMALL * self.std_error).any())

    def warn(self) -> None:
        """Warn if the numbers cannot be trusted.

        Warns
        -----
        ConvergenceWarning
            If the fit is too far from its optimum.
        UndefinedMetricWarning
            If the covariance is not defined, resamples were left out, or only the
            penalty limits coefficients.
        """
        for note in (*self.covariance.notes, *self.separated(), *self.collinear(True)):
            warn_caller(note.sentence, UndefinedMetricWarning)
        for note in notes.too_far(self.is_far, self.to_optimum):
            warn_caller(note.sentence, ConvergenceWarning)

    def frame(self, level: float) -> pd.DataFrame:
        """Coefficients with broom's columns, intervals of this level."""
        names, nothing = list(self.theta.index), np.zeros(len(self.theta))
        each = wald.ContrastTests(
            names,
            self._theta,
            self.std_error,
            nothing,
            self.covariance.df,
            self._resampled,
        )
        return each.frame(level, names)

    def original(self, R: Matrix) -> Self:
        """What follows for ``R theta``, on the scale before standardizing."""
        theta = pd.Series(R @ self._theta, self.theta.index, name=self.theta.name)
        return replace(self, theta=theta, covariance=self.covariance.original(R))

    def t_test(self, hypotheses: object) -> wald.ContrastTests:
        """Test each of the hypotheses ``R theta = q`` alone."""
        names, resampled = list(self.theta.index), self._resampled
        R, q = linear.constraints(hypotheses, names)
        written = linear.written_hypotheses(R, q, names)
        self._warn_of_constant(R, written)
        errors = np.where(self._unlimited(R), np.nan, self._errors(R))
        combined = None if resampled is None else resampled.combined(R)
        given = written, R @ self._theta, errors, q, self.covariance.df
        noise = None if self.noise is None else np.abs(R) @ self.noise
        return wald.ContrastTests(*given, combined, noise)

    def wald_test(self, hypotheses: object) -> wald.JointTest:
        """Test the hypotheses ``R theta = q`` together."""
        names, V = list(self.theta.index), self.covariance
        R, q = linear.constraints(hypotheses, names)
        written = linear.written_hypotheses(R, q, names)
        constant = self._warn_of_constant(R, written)
        if self._unlimited(R).any() or constant.all():
            return wald.undefined(R, V.df, written)
        R, q = R[~constant], q[~constant]
        written = [each for each, c in zip(written, constant, strict=True) if not c]
        if isinstance(V, BootstrapResult) and V.is_counted:
            return wald.resampled_test(V, R, q, written)
        rows = V.rows if isinstance(V, Covariance) else np.inf
        return wald.wald_test(self._theta, V.matrix, R, q, V.df, written, rows)

    def _warn_of_constant(self, R: Matrix, written: list[str]) -> Mask:
        """Hypotheses about what is the same in all samples; warns of them."""
        constant = (self._errors(R) == 0.0) & ~self._unlimited(R)
        if constant.any():
            named = [each for each, c in zip(written, constant, strict=True) if c]
            warn_caller(notes.untested(named), UndefinedMetricWarning)
        return np.asarray(constant)

    def remarks(self) -> list[Note]:
        """Notes on the standard errors: which they are, and whether to trust them."""
        V, problem, k = self.covariance, self.problem, len(self.theta)
        if not self.is_defined:
            return list(V.notes)
        first = [
            *notes.too_far(self.is_far and problem.loss == "log", self.to_optimum),
            *self.separated(),
            *self.collinear(),
            *notes.few_groups(self.groups),
        ]
        if self.unlimited.all():  # there are no errors to speak of
            return first
        resampled = self._resampled
        pinned = list(self.theta.index[resampled.pinned]) if resampled else []
        is_hc3 = getattr(self.options, "correction", "") == "HC3"
        for_glm = is_hc3 and not problem.weighted  # nonrobust does not go with weights
        return [
            *first,
            *notes.few_rows(min(problem.label_counts), problem.n_weighed, k),
            *(notes.coincide() if resampled and resampled.coincide else []),
            notes.estimate(self.kind, for_glm, problem.lam_rule == "cv"),
            *notes.assumptions(self.groups, V.counts_scaling),
            *notes.pinned(pinned),
            *V.notes,
        ]

    @property
    def kind(self) -> str:
        """The estimate in a few words."""
        V, groups = self.covariance, self.groups
        if isinstance(V, BootstrapResult):
            what = "Pairs bootstrap" if groups is None else f"Bootstrap of {groups}"
            return f"{what}, {len(V.estimates):,} resamples, seed {V.seed}"
        assert isinstance(self.options, Sandwich)
        name = f"sandwich, kernel at the margin of width {V.bandwidth or 0.0:.2g}"
        name = self.options.correction if V.bandwidth is None else name
        law = f", t on {V.df:.0f} degrees of freedom" * bool(np.isfinite(V.df))
        return f"Standard errors: {name}" + f", {groups}" * (groups is not None) + law

    def separated(self) -> list[Note]:
        """Which coefficients only the penalty limits, if any."""
        found = self.covariance.separated
        if found and found == self.problem.n_weighed:
            return notes.complete_separation()
        names = list(self.theta.index[self.unlimited]) if found else []
        return notes.separated(names, found)

    def collinear(self, without_errors: bool = False) -> list[Note]:
        """Which predictors are linear combinations of others, if any."""
        B, names = self.covariance.collinear, self.theta.index
        if B is None or (without_errors and not self.unlimited.any()):
            return []
        last = np.array([np.flatnonzero(b)[-1] for b in B.T], dtype=np.intp)
        others = np.setdiff1d(np.flatnonzero(B.any(axis=1)), last)
        return notes.collinear(
            list(names[last]), list(names[others]), bool(self.unlimited[last].any())
        )

    @property
    def _resampled(self) -> BootstrapResult | None:
        """The resamples that intervals are from, if they are."""
        found = self.covariance
        return found if isinstance(found, BootstrapResult) else None

    @property
    def _theta(self) -> Vector:
        return np.asarray(self.theta, dtype=np.float64)
