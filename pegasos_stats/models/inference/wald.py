"""Standard errors of a fit, with tests, intervals and notes.

The Wald tests of statsmodels are not used. They compute the rank of ``R V R'`` without
scaling, so that hypotheses on very different scales are only partly tested. Their
results cannot hold bootstrap intervals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self, TypeVar

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Integers, Mask, Matrix, Vector
from pegasos_stats.checks import check_choice, check_flag, check_fraction
from pegasos_stats.data.language import hypotheses as linear
from pegasos_stats.data.sample import Groups
from pegasos_stats.errors import (
    ConvergenceWarning,
    OptionError,
    UndefinedMetricWarning,
    counted,
    listing,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.inference.options import (
    INTERVALS,
    MOST_SECONDS,
    Bootstrap,
    CovType,
    Interval,
    Sandwich,
    seconds_of,
)
from pegasos_stats.models.notes import FEW, LISTED, Note
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.separation import images, is_unbounded

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

CONSTANT_ROUNDING = 1e-12  # relative, in the equation of a constant column
COMBINATION_ROUNDING = 1e-6  # relative, in the equation of a linear combination
RANK_ROUNDING = 1e-9  # of the rank of a resample that ends an interval
VARIANCE_ROUNDING = 1e-6  # relative to the largest element of a matrix
CONSTANT_ERROR = 1e-7  # rounding, relative to the largest possible standard error
DEFAULT_LEVEL = 0.95  # of intervals
DRAWS, BATCH = 2**18, 2**13  # simulated maxima of t statistics
EIGENVALUE_RATIO = 1e-12  # smaller eigenvalues of a correlation matrix count as 0
ATOM_SHARE = 0.025  # share of resamples with equal estimates from which a note warns
INTERVAL_ENDS = ["conf_low", "conf_high"]
TIDY_COLUMNS = ["term", "estimate", "std_error", "statistic", "p_value", *INTERVAL_ENDS]
MOST_STEP = 0.25  # standard errors: a 95% interval shifted by this covers 94.3%
OF_FIRTH = (
    "Standard errors: model-based. Intervals, z and p-values: profile likelihood with "
    "Firth's penalty; t_test() and margins() use Wald tests"
)
OF_ROWS = "Rows are assumed independent; otherwise pass groups=."
OF_GROUPS = "Groups are assumed independent; rows of a group may be dependent."
COMPLETE = (
    "the predictors separate the classes perfectly (complete separation): only the "
    "penalty limits the coefficients, which have no standard errors. Check whether a "
    "predictor contains the outcome."
)
MOST_GAP = 1e-4  # hinge and bootstrap: maximum relative gap for standard errors
QUICK_COEFFICIENTS, QUICK_PRODUCTS = 1000, 1e10  # about two seconds
MOST_COEFFICIENTS = 10_000  # sandwich: 800 MB for each matrix
TRIVIAL = (
    "There are no standard errors: all coefficients are 0 and all rows have the same "
    "prediction, so no resamples were drawn."
)


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Directions of the ``k`` coefficients that change no score of a training row.

    A constant column, given an intercept, or a linear combination of earlier columns is
    excluded, as in R: its coefficient is not estimable. A prediction is estimable if
    its row satisfies the same linear equations as the training rows. The row of an
    empty cell of an interaction does not.

    Attributes
    ----------
    names : tuple of str, length q
        Names of the excluded columns.
    columns : int array, shape (q,)
        Positions of these columns among the coefficients, the intercept first.
    directions : float64 array, shape (k, q)
        One direction for each excluded column: 1 for this column, 0 for the other
        excluded columns.
    """

    names: tuple[str, ...]
    columns: Integers
    directions: Matrix

    _field_rules = "names q, columns q nonnegative, directions kq finite"

    @classmethod
    def of_constants(
        cls, names: Sequence[str], constant: Mask, values: Vector, intercept: bool
    ) -> "NullSpace":
        """Return the null space of constant columns, with their values, shape (p,).

        Examples
        --------
        >>> mask, values = np.array([False, True]), np.array([0.0, 3.0])
        >>> null = NullSpace.of_constants(["x", "c"], mask, values, True)
        >>> null.directions.T
        array([[-3.,  0.,  1.]])
        >>> null.broken_by(np.array([[1.0, 5.0, 3.0], [1.0, 5.0, 0.0]])).ravel()
        array([False,  True])
        """
        first, chosen = int(intercept), np.flatnonzero(constant)
        directions = np.zeros((len(constant) + first, len(chosen)))
        directions[chosen + first, np.arange(len(chosen))] = 1.0
        if intercept:
            directions[0] = -values[chosen]
        return cls(tuple(names[int(j)] for j in chosen), chosen + first, directions)

    def mask(self) -> Mask:
        """Mask of the coefficients that are not estimable, shape (k,)."""
        mask = np.zeros(len(self.directions), dtype=bool)
        mask[self.columns] = True
        return mask

    def broken_by(self, R: Matrix) -> Mask:
        """Mask of the equations that new rows do not satisfy, shape (m, q)."""
        size = np.abs(R) @ np.abs(self.directions)
        rounding = np.where(self._are_constant, CONSTANT_ROUNDING, COMBINATION_ROUNDING)
        return np.asarray(np.abs(R @ self.directions) > rounding * size)

    @property
    def _are_constant(self) -> Mask:
        """Mask of the excluded columns that are constant, shape (q,)."""
        return np.asarray((self.directions[1:] != 0.0).sum(axis=0) <= 1)

    def undetermined(self, R: Matrix) -> Mask:
        """Mask of new rows that do not satisfy all equations, shape (m,)."""
        return np.asarray(self.broken_by(R).any(axis=1))

    def hypothesised(self, R: Matrix) -> Mask:
        """Mask of the equations that make hypotheses not estimable, shape (m, q).

        A hypothesis that does not involve an excluded column refers to the fit without
        this column.
        """
        return np.asarray(self.broken_by(R) & (R[:, self.columns] != 0.0))

    def reason(self, broken: Mask | None = None, nothing: str = "NaN") -> str:
        """Reason why estimates are NaN; `broken`, shape (m, q), is from `broken_by`."""
        if broken is None:
            broken = np.ones((1, len(self.columns)), dtype=bool)
        involved = np.asarray(broken.any(axis=0))
        own = [self.names[i] for i in np.flatnonzero(involved)]
        what = "constant"
        if not self._are_constant[involved].all():
            what += " or a combination of other predictors"
        verb = "is" if len(own) == 1 else "are"
        return (
            f"{nothing}: not estimable, as {listing(own, LISTED)} {verb} {what} in the "
            "training data."
        )

    def _conditions(self) -> Iterator[object]:
        """Check that the columns are positions of coefficients."""
        yield (self.columns < len(self.directions)).all()


def are_variances(matrix: Matrix) -> bool:
    """Return whether a matrix is finite and its variances positive up to rounding."""
    least = -VARIANCE_ROUNDING * np.abs(matrix).max(initial=0.0)
    return bool(np.isfinite(matrix).all() and (np.diag(matrix) >= least).all())


@dataclass(frozen=True, eq=False)
class Covariance:
    """Sandwich covariance of ``k`` coefficients, the intercept first.

    Attributes
    ----------
    matrix : float64 array, shape (k, k)
        ``(1/n) H^-1 G H^-1``; NaN where it is not defined.
    bread : float64 array, shape (k, k)
        ``H``, the curvature of the risk, penalty included.
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    rows : float
        ``n - k``, or `df` for CR3, where joint tests are Hotelling's; infinite where
        they are Wald's.
    bandwidth : float or None
        ``h`` of the kernel at the margin, for the hinge.
    newton_step : float64 array, shape (k,), or None
        ``-H^-1 grad P`` for the log loss and the squared hinge: approximately, the step
        to the optimum. None for the hinge and with Firth's penalty.
    notes : tuple of Note
        Reasons why the covariance is not defined; empty if it is defined.
    fixed : float64 array, shape (k, k), optional
        For standardized predictors, if `matrix` allows for the estimation of their
        means and standard deviations: the covariance that treats these as fixed.
    prior : float64 array, shape (k + 1,), optional
        For the log loss with balanced weights: covariances of the coefficients with
        ``log(n- / n+)``, then the variance of ``log(n- / n+)``.
    separated : int
        Number of separated rows: only the penalty limits their scores.
    unbounded : float64 array, shape (k, q), optional
        Directions of ``theta`` that only the penalty limits; combinations along them
        have no standard error.
    basis, inner : float64 arrays, shapes (k, b) and (b, b), optional
        If columns are far from 0 or nearly collinear: ``B``, and the covariance of
        ``phi``, where ``theta = B phi``. Variances of combinations are computed from
        both, as the elements of ``z'B`` are centred or nearly orthogonal.
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
    basis: Matrix | None = None
    inner: Matrix | None = None

    _field_rules = (
        "matrix kk, bread kk, newton_step k, fixed kk, unbounded kq finite, basis "
        "kb, inner bb, df positive, rows distance, bandwidth nonnegative, "
        "separated nonnegative"
    )

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def std_error(self) -> Vector:
        """Standard errors, shape (k,): roots of the diagonal of `matrix`."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.matrix), 0.0)))

    def combined(self, R: Matrix) -> "Covariance":
        """Return the covariance of the linear combinations ``R theta``."""
        prior = self.prior
        C, V = self._in_basis(R)
        return replace(
            self,
            matrix=C @ V @ C.T,
            fixed=None,
            prior=None if prior is None else np.append(R @ prior[:-1], prior[-1]),
            unbounded=images(R, self.unbounded),
            basis=None,
            inner=None,
        )

    def mapped(self, T: Matrix, bread: Matrix) -> "Covariance":
        """Return the covariance of the coefficients ``T theta``, with their `bread`."""
        step, fixed = self.newton_step, self.fixed
        return replace(
            self.combined(T),
            bread=bread,
            newton_step=None if step is None else T @ step,
            fixed=None if fixed is None else T @ fixed @ T.T,
            basis=T if self.basis is None else T @ self.basis,
            inner=self.matrix if self.inner is None else self.inner,
        )

    def _in_basis(self, R: Matrix) -> tuple[Matrix, Matrix]:
        """``C`` and ``V`` with the covariance ``C V C'`` of ``R theta``."""
        if self.basis is None or self.inner is None:
            return R, self.matrix
        return R @ self.basis, self.inner

    def variances(self, R: Matrix, shift: Vector | float = 0.0) -> Vector:
        """Variances of ``R theta + shift log(n- / n+)``, shape (m,)."""
        C, V = self._in_basis(R)
        variances: Vector = np.einsum("ij,jk,ik->i", C, V, C)
        if self.prior is not None:
            variances += shift * (2.0 * R @ self.prior[:-1] + shift * self.prior[-1])
        return np.maximum(variances, 0.0)

    def most(self, R: Matrix) -> Vector:
        """Bounds on the standard errors of ``R theta``, for any correlations; (m,)."""
        C, V = self._in_basis(R)
        deviations = np.sqrt(np.maximum(np.diag(V), 0.0))
        return np.asarray(np.abs(C) @ np.nan_to_num(deviations))

    def _conditions(self) -> Iterator[object]:
        """Check that the matrices form a sandwich estimate, or are NaN."""
        yield self.prior is None or self.prior.shape == (len(self.matrix) + 1,)
        yield (self.basis is None) == (self.inner is None)
        if not np.isnan(self.matrix).all():
            yield self.inner is None or are_variances(self.inner)
            yield self.basis is None or np.isfinite(self.basis).all()
            yield np.isfinite(self.bread).all() and are_variances(self.matrix)
            yield self.fixed is None or are_variances(self.fixed)


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Bootstrap estimates of ``k`` coefficients, the intercept first.

    Attributes
    ----------
    estimate : float64 array, shape (k,)
        Coefficients of the fit.
    estimates : float64 array, shape (m, k)
        Coefficients of the resamples that have an optimum.
    covariance : float64 array, shape (k, k)
        Covariance of `estimates`, with the divisor ``m - 1``.
    seed : int
    n_left_out : int
        Number of excluded resamples. They contain a single class, so that no finite
        intercept is optimal.
    n_infinite : int
        With ``lam = 0``, number of resamples without a maximum likelihood estimate.
        Intervals and p-values count them as infinite on either side of the estimate.
    relative_gap, distance : float
        The largest relative gap, and the largest ``sqrt(2 gap / lam)``, which bounds
        the distance of the ``beta`` of a resample from its optimum.
    options : Bootstrap
    notes : tuple of Note
        Notes on excluded resamples.
    tolerance : float64 array, shape (k,), optional
        Estimated bounds on differences between resamples that are due to the solver.
    error : float64 array, shape (k,), optional
        Differences between `estimate` and a fit with the tolerance of the resamples.
    fixed : float64 array, shape (m, k), optional
        For standardized predictors, which every resample standardizes again: the
        estimates for predictors on the scale of the fit.
    reference : float64 array, shape (k, k), optional
        ``S = ((1/n) sum_i w_i z_i z_i')^-1`` with ``z = (1, x - centre)``.
    priors : float64 array, shape (m,), optional
        With balanced weights ``log(n- / n+)`` of each resample.
    separated, unbounded
        As for `Covariance`.
    centre : float64 array, shape (p,), optional
        ``c``, if columns are far from 0: `tolerance`, `error` and `reference` are for
        ``(alpha + c'beta, beta)``.
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
    separated: int = 0
    unbounded: Matrix | None = None
    centre: Vector | None = None
    error: Vector | None = None
    n_infinite: int = 0

    _field_rules = (
        "estimate k, estimates mk finite, covariance kk, tolerance k distance, "
        "fixed mk, reference kk finite, priors m, unbounded kq finite, centre p "
        "finite, error k distance, seed seed, n_left_out nonnegative, n_infinite "
        "nonnegative, separated nonnegative"
    )

    @property
    def matrix(self) -> Matrix:
        """The same as `covariance`."""
        return self.covariance

    @property
    def std_error(self) -> Vector:
        """Standard deviations of the resamples, shape (k,).

        They are 0 for coefficients that are `pinned`; all are NaN if `is_unlimited`.
        """
        deviations = np.sqrt(np.clip(np.diag(self.covariance), 0.0, None))
        if self.is_unlimited:
            return np.full_like(deviations, np.nan)
        return np.where(self.pinned, 0.0, deviations)

    def allows(self, level: float) -> bool:
        """Whether there are enough resamples for an envelope of this level."""
        m = len(self.estimates) + self.n_infinite
        return (m + 1) * (1.0 - level) / 2.0 + RANK_ROUNDING >= 1.0

    @property
    def is_unlimited(self) -> bool:
        """Whether more than 2.5% of the resamples count as infinite."""
        m = len(self.estimates) + self.n_infinite
        return self.n_infinite > (1.0 - DEFAULT_LEVEL) / 2.0 * m

    df = float("inf")  # as for the normal distribution

    @property
    def is_counted(self) -> bool:
        """Whether p-values are counted from the resamples, as envelopes are."""
        return self.options.interval == "envelope"

    def _noise_of(self, noise: Vector | None, R: Matrix | None = None) -> Vector:
        """Map `tolerance` or `error` to ``R theta``; 0 if it is None."""
        R = np.eye(len(self.estimate)) if R is None else R
        if noise is None:
            return np.zeros(len(R))
        return np.abs(about_centre(R, self.centre)) @ noise

    @property
    def solver_noise(self) -> Vector:
        """Solver error of the distances between resamples and estimate, shape (k,)."""
        return self._noise_of(self.tolerance) + self._noise_of(self.error)

    @property
    @np.errstate(over="ignore", invalid="ignore")
    def pinned(self) -> Mask:
        """Mask of coefficients that are equal in all resamples, up to solver error."""
        spread = np.ptp(self.estimates, axis=0)
        return np.asarray(spread <= self._noise_of(self.tolerance))

    @cached_property
    def atoms(self) -> Vector:
        """Largest share of the resamples with equal estimates, shape (k,).

        For standardized predictors `fixed` is used, as each resample has its own scale.
        """
        draws = self.estimates if self.fixed is None else self.fixed
        widths = 2.0 * self._noise_of(self.tolerance)  # on both sides of a value
        return np.array(
            [largest_atom(*pair) for pair in zip(draws.T, widths, strict=True)]
        )

    @np.errstate(over="ignore", invalid="ignore")
    def combined(self, R: Matrix) -> "BootstrapResult":
        """Return the bootstrap of the linear combinations ``R theta``."""
        estimates, C = self.estimates @ R.T, about_centre(R, self.centre)
        covariance = np.atleast_2d(np.cov(estimates, rowvar=False))
        combined = self.mapped(R @ self.estimate, estimates, covariance, R)
        reference = None if self.reference is None else C @ self.reference @ C.T
        return replace(
            combined, reference=reference, unbounded=images(R, self.unbounded)
        )

    def mapped(
        self, estimate: Vector, estimates: Matrix, covariance: Matrix, J: Matrix
    ) -> "BootstrapResult":
        """Return the bootstrap of functions of coefficients with derivatives ``J``."""
        return replace(
            self,
            estimate=estimate,
            estimates=estimates,
            covariance=covariance,
            tolerance=self._noise_of(self.tolerance, J),
            error=self._noise_of(self.error, J),
            fixed=None,
            reference=None,
            centre=None,
        )

    def most(self, R: Matrix) -> Vector:
        """Bounds on the standard errors of ``R theta``, for any correlations; (m,)."""
        centred = self.estimates.copy()
        if self.centre is not None:
            centred[:, 0] += centred[:, 1:] @ self.centre
        C = about_centre(R, self.centre)
        return np.asarray(np.abs(C) @ np.nan_to_num(centred.std(axis=0, ddof=1)))

    @np.errstate(over="ignore", invalid="ignore")
    def conf_int(self, level: float = 0.95, interval: Interval | None = None) -> Matrix:
        """Intervals, shape (k, 2); see `Bootstrap` for the kinds.

        An envelope needs ``2 / (1 - level) - 1`` resamples. With fewer, the 95%
        envelope, the default of tables, is NaN; other levels raise an error. Intervals
        that are no wider than the solver error are NaN, and ends that are 0 up to it
        are 0. All intervals are NaN if the share of infinite resamples exceeds
        ``(1 - level) / 2``.

        Raises
        ------
        OptionError
            If the level is not between 0 and 1 or too high for the number of resamples,
            or `interval` is not a kind of `Bootstrap`.
        """
        level = check_fraction("level", level)
        kind = self.options.interval if interval is None else interval
        check_choice("interval", kind, INTERVALS)
        shares = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        centre, infinite = self.estimate[:, None], self.n_infinite
        m, nothing = len(self.estimates) + infinite, np.full((len(centre), 2), np.nan)
        if infinite > shares[0] * m:
            return nothing
        if kind == "envelope":
            rank = int(shares[0] * (m + 1) + RANK_ROUNDING)
            if rank < 1 and abs(level - DEFAULT_LEVEL) > RANK_ROUNDING:
                raise too_few_resamples(level, m)
            if rank <= infinite:
                return nothing
            distances = np.sort(self.estimates - self.estimate, axis=0)
            last = rank - 1 - infinite  # of the finite ones, from either end
            reach = np.maximum(-distances[last], distances[-1 - last])
            ends: Matrix = centre + np.outer(reach, [-1.0, 1.0])
        elif kind == "normal":
            from scipy.special import ndtri

            ends = centre + np.outer(self.std_error, ndtri(shares))
        else:
            beyond = np.full((infinite, len(centre)), np.inf)
            below, above = (
                np.vstack([self.estimates, far]) for far in (-beyond, beyond)
            )
            low = np.quantile(below, shares[0], axis=0)
            ends = np.column_stack([low, np.quantile(above, shares[1], axis=0)])
            ends = ends if kind == "percentile" else 2.0 * centre - ends[:, ::-1]
        noise = self.solver_noise[:, None]
        is_point = np.ptp(ends, axis=1, keepdims=True) <= 2.0 * noise
        return np.where(is_point, np.nan, np.where(np.abs(ends) <= noise, 0.0, ends))

    @np.errstate(over="ignore", invalid="ignore")
    def p_values(self, null: Vector | float) -> Vector:
        """``2 (1 + c) / (1 + m)`` of ``theta = null``, at most 1, shape (k,).

        ``c`` is the number of resamples at least as far from the estimate as `null`, on
        the side with more of them. The envelope of level ``1 - p`` is the widest that
        excludes `null`.
        """
        if self.is_unlimited:
            return np.full(len(self.estimate), np.nan)
        reach = np.abs(null - self.estimate) - self.solver_noise
        distances = self.estimates - self.estimate
        c = np.maximum(
            (distances >= reach).sum(axis=0), (-distances >= reach).sum(axis=0)
        )
        p_values: Vector = 2.0 * (1.0 + c + self.n_infinite)
        p_values /= 1.0 + len(distances) + self.n_infinite
        return np.minimum(1.0, p_values)

    def _conditions(self) -> Iterator[object]:
        """Check that variances are not negative, and the centre has p elements."""
        yield are_variances(self.covariance)
        yield self.centre is None or len(self.centre) == len(self.covariance) - 1


Estimate = Covariance | BootstrapResult
AnEstimate = TypeVar("AnEstimate", Covariance, BootstrapResult, Estimate)


def at_fixed_scale(estimate: AnEstimate) -> AnEstimate:
    """Return the estimate with the standardization of predictors treated as fixed."""
    if estimate.fixed is None:
        return estimate
    if isinstance(estimate, Covariance):
        bare = replace(estimate, fixed=None, basis=None, inner=None)
        return replace(bare, matrix=estimate.fixed)
    covariance = np.atleast_2d(np.cov(estimate.fixed, rowvar=False))
    return replace(
        estimate, estimates=estimate.fixed, covariance=covariance, fixed=None
    )


def about_centre(R: Matrix, centre: Vector | None) -> Matrix:
    """``C`` with ``C (alpha + c'beta, beta) = R (alpha, beta)``, shape (m, k).

    Examples
    --------
    >>> about_centre(np.array([[1.0, 2001.0]]), np.array([2000.0]))
    array([[1., 1.]])
    """
    if centre is None:
        return R
    C = np.array(R, dtype=np.float64)
    C[:, 1:] -= np.outer(C[:, 0], centre)
    return C


def largest_atom(draws: Vector, width: float) -> float:
    """Largest share of the draws in an interval of this width.

    Examples
    --------
    >>> largest_atom(np.array([1.0, 2.0, 3.0, 2.0 + 1e-9]), width=1e-8)
    0.5
    """
    ordered = np.sort(draws)
    ends = np.searchsorted(ordered, ordered + width, side="right")
    return float((ends - np.arange(len(ordered))).max() / len(ordered))


def resamples_for(level: float) -> int:
    """Smallest number of resamples for an envelope of a level.

    Examples
    --------
    >>> resamples_for(0.95), resamples_for(0.99)
    (39, 199)
    """
    return int(np.ceil(2.0 / (1.0 - level) - 1.0 - RANK_ROUNDING))


def too_few_resamples(level: float, m: int) -> OptionError:
    """Return the error for a level that needs more than m resamples."""
    needed = resamples_for(level)
    return OptionError(
        f"An interval of level {level:.15g} needs {needed:,} resamples, and there are "
        f"{m:,}; use a lower level, or Bootstrap({needed})."
    )


def whitening(middle: Matrix) -> Matrix:
    """``A`` of full row rank with ``A'A`` the inverse of a covariance.

    Directions with zero variance, relative to the diagonal, are dropped. If an element
    is not finite, all directions are dropped.

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
    positive = values > 1e-10 * len(values)
    return np.asarray((vectors[:, positive] / np.sqrt(values[positive])).T / scale)


@suggest_names("test")
@dataclass(frozen=True, repr=False, eq=False)
class ContrastTests(tables.Displayed):
    """Estimates and tests of linear combinations of coefficients, one at a time.

    Returned by ``result.t_test()``; attributes have the names of statsmodels.

    Attributes
    ----------
    hypotheses : list of str, length m
        Such as ``a - b = 0``.
    effect : float64 array, shape (m,)
        ``R theta``.
    sd : float64 array, shape (m,)
        Standard errors.
    null : float64 array, shape (m,)
        Values ``q`` under the hypotheses.
    df_denom : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    resampled : BootstrapResult or None
        The bootstrap of these combinations, if intervals come from it.
    covariances : float64 array, shape (m, m), or None
        Covariance of the effects, for simultaneous intervals.

    Examples
    --------
    >>> tests = ContrastTests(["a - b = 0"], np.ones(1), np.ones(1), np.zeros(1))
    >>> print(tests)
    ------------------------------------------------------------------------------
                    coef    std err          z      P>|z|     [0.025     0.975]
    a - b = 0      1.000      1.000       1.00      0.317     -0.960      2.960
    ------------------------------------------------------------------------------
    """

    hypotheses: Sequence[str]
    effect: Vector
    sd: Vector
    null: Vector
    df_denom: float = np.inf
    resampled: BootstrapResult | None = None
    covariances: Matrix | None = None

    def frame(
        self, level: float, terms: Sequence[str], simultaneous: bool = False
    ) -> pd.DataFrame:
        """Terms, estimates, tests and intervals, in the columns of broom's ``tidy``."""
        table = self.estimates(level, simultaneous)
        table.insert(0, "term", list(terms))
        return table

    def estimates(
        self, level: float = 0.95, simultaneous: bool = False
    ) -> pd.DataFrame:
        """Statistics, p-values and intervals of this level, see `estimates`.

        Simultaneous intervals hold jointly with this level, see `max_t_quantile`.
        """
        table = estimates(self.effect, self.sd, self.df_denom, level, self.null)
        resampled = self.resampled
        if simultaneous:
            if self.covariances is None:
                raise OptionError(
                    "needs at most 2,000 estimates, and is not available for files of "
                    "earlier versions; use fewer estimates, or omit it.",
                    "simultaneous",
                    True,
                )
            some = (self.sd > 0.0) & (np.diag(self.covariances) > 0.0)
            joint = self.covariances[np.ix_(some, some)]
            reach = max_t_quantile(joint, level, self.df_denom) * self.sd
            table["conf_low"] = self.effect - reach
            table["conf_high"] = self.effect + reach
            return table
        if resampled is None:
            return table
        if self.is_resampled:
            table["p_value"] = resampled.p_values(self.null)
        limits = resampled.conf_int(level)
        # The resamples agree up to solver error: a point, not an interval.
        is_point = np.isnan(limits).any(axis=1) & resampled.allows(level)
        untested = resampled.pinned | ~(self.sd > 0.0) | is_point
        table.loc[untested, ["statistic", "p_value"]] = np.nan
        table[INTERVAL_ENDS] = limits
        table.loc[np.isnan(self.sd), INTERVAL_ENDS] = np.nan
        return table

    @property
    def is_pinned(self) -> Mask:
        """Effects that are equal in all resamples, shape (m,)."""
        if self.resampled is None:
            return np.zeros(len(self.effect), dtype=bool)
        return self.resampled.pinned & ~np.isnan(self.sd)

    @property
    def is_resampled(self) -> bool:
        """Whether p-values are counted from resamples, and not computed from z or t."""
        return self.resampled is not None and self.resampled.is_counted

    @property
    def headings(self) -> list[str]:
        """Headings of the printed columns of tests."""
        return tables.headings_of_tests(self.df_denom, self.is_resampled)

    @property
    def statistic(self) -> Vector:
        """``(effect - null) / sd``, shape (m,)."""
        return self.estimates()["statistic"].to_numpy()

    @property
    def tvalue(self) -> Vector:
        """The same as `statistic`."""
        return self.statistic

    @property
    def pvalue(self) -> Vector:
        """Two-sided p-values, shape (m,)."""
        return self.estimates()["p_value"].to_numpy()

    @suggest_arguments
    def conf_int(self, alpha: float = 0.05, simultaneous: bool = False) -> Matrix:
        """Intervals of level ``1 - alpha``, shape (m, 2).

        Parameters
        ----------
        alpha : float, default 0.05
        simultaneous : bool, default False
            Whether the level is joint for all intervals, by the maximum of the t
            statistics, as ``confint(glht())`` of R's multcomp.
        """
        check_flag("simultaneous", simultaneous)
        table = self.estimates(1.0 - check_fraction("alpha", alpha), simultaneous)
        return table[INTERVAL_ENDS].to_numpy()

    @suggest_arguments
    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Estimates, tests and intervals, one row per hypothesis.

        If p-values come from resamples, there is no column of statistics.
        """
        table = self.frame(1.0 - check_fraction("alpha", alpha), self.hypotheses)
        table = table.set_index("term").rename_axis(None)
        if self.is_resampled:
            table = table.drop(columns="statistic")
        names = ["coef", "std err", *self.headings, "Conf. Int. Low", "Conf. Int. Upp."]
        return table.set_axis(names, axis=1)

    @suggest_arguments
    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Estimates, tests and intervals with broom's columns."""
        table = self.frame(check_fraction("conf_level", conf_level), self.hypotheses)
        table.insert(1, "null_value", self.null)
        return table

    def _cells(self) -> pd.DataFrame:
        return tables.estimate_cells(self.tidy(), self.headings)

    def __repr__(self) -> str:
        return "\n".join(tables.params_text(self._cells()))

    def _parts(self) -> Sequence[tables.Part]:
        return [tables.Cells(self._cells())]


def max_t_quantile(covariances: Matrix, level: float, df: float = np.inf) -> float:
    """Quantile of ``max_j |t_j|``, of correlated normal or t variables.

    It is simulated with 262,144 draws; the probability has a standard error of at most
    0.001, and 0.0004 at 95%. Intervals ``estimate +- quantile * std_error`` hold
    jointly with this probability.

    Parameters
    ----------
    covariances : float64 array, shape (m, m)
    level : float
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.

    References
    ----------
    Hothorn, Bretz & Westfall, Biometrical Journal 50 (2008); Montiel Olea &
    Plagborg-Moller, Journal of Applied Econometrics 34 (2019), on bands.

    Examples
    --------
    >>> [round(max_t_quantile(np.eye(m), 0.95), 2) for m in (1, 2)]
    [1.96, 2.24]
    """
    if not len(covariances):
        return float("nan")
    deviations = np.sqrt(np.diag(covariances))
    values, vectors = np.linalg.eigh(covariances / np.outer(deviations, deviations))
    some = values > EIGENVALUE_RATIO * values[-1]
    root = vectors[:, some] * np.sqrt(values[some])
    rng, largest = np.random.default_rng(1), np.empty(DRAWS)
    for first in range(0, DRAWS, BATCH):
        normal = rng.standard_normal((BATCH, root.shape[1]))
        largest[first : first + BATCH] = np.abs(normal @ root.T).max(axis=1)
    if np.isfinite(df):
        largest /= np.sqrt(rng.chisquare(df, DRAWS) / df)
    return float(np.quantile(largest, level))


def untested(theta: "pd.Series[float]") -> ContrastTests:
    """Return coefficients without standard errors and tests."""
    estimates = np.asarray(theta, dtype=np.float64)
    unknown, zero = np.full(len(theta), np.nan), np.zeros(len(theta))
    return ContrastTests(list(theta.index), estimates, unknown, zero)


def estimates(
    estimate: Vector,
    std_error: Vector,
    df: Vector | float = np.inf,
    level: float = 0.95,
    null: Vector | float = 0.0,
) -> pd.DataFrame:
    """Statistics ``(estimate - null) / std_error``, two-sided p-values and intervals.

    If a standard error is 0 or NaN, statistic and p-value are NaN.

    Parameters
    ----------
    estimate, std_error : float64 array, shape (m,)
    df : float or float64 array, shape (m,)
        Degrees of freedom of Student's t; infinite for the normal distribution.
    level : float, default 0.95
    null : float or float64 array, shape (m,)
        Value under the hypothesis.

    Returns
    -------
    DataFrame, m rows
        Columns ``estimate, std_error, statistic, p_value, conf_low, conf_high``.

    Raises
    ------
    OptionError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> table = estimates(np.array([3.0]), np.array([1.0]))
    >>> table[["p_value", "conf_low"]].round(4).to_numpy()
    array([[0.0027, 1.04  ]])
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    level = check_fraction("level", level)
    share, normal = (1.0 + level) / 2.0, np.isinf(df).all()
    with np.errstate(all="ignore"):
        statistic = np.where(std_error > 0.0, (estimate - null) / std_error, np.nan)
        beyond = ndtr(-np.abs(statistic)) if normal else stdtr(df, -np.abs(statistic))
        reach = (ndtri(share) if normal else stdtrit(df, share)) * std_error
        low, high = estimate - reach, estimate + reach
    numbers = estimate, std_error, statistic, 2.0 * beyond, low, high
    return pd.DataFrame(dict(zip(TIDY_COLUMNS[1:], numbers, strict=True)))


@suggest_names("test")
@dataclass(frozen=True, repr=False, eq=False)
class JointTest:
    """Joint Wald test of several hypotheses, returned by ``result.wald_test()``.

    Attributes
    ----------
    statistic : float
        ``(R theta - q)' (R V R')^-1 (R theta - q)``; an F test divides it by `df_num`.
        For Hotelling's test see `Sandwich`, for the test by resamples `Bootstrap`.
    pvalue : float
    df_num : int
        Number of linearly independent hypotheses.
    df_denom : float
        Denominator degrees of freedom of F; infinite for chi-squared.
    hypotheses : list of str
        Such as ``a - b = 0``.
    replicates : int
        Number of bootstrap resamples from which the p-value is counted; 0 for a test by
        F or chi-squared.

    Examples
    --------
    >>> JointTest(10.0, 0.00674, 2, hypotheses=["a = 0", "b = 0"])
    <Wald test of a = 0, b = 0: chi2 = 10, df = 2, p = 0.00674>
    """

    statistic: float
    pvalue: float
    df_num: int
    df_denom: float = np.inf
    hypotheses: Sequence[str] = ()
    replicates: int = 0

    @property
    def distribution(self) -> Literal["chi2", "F", "bootstrap"]:
        """Distribution of the statistic under the hypotheses."""
        if self.replicates:
            return "bootstrap"
        return "F" if np.isfinite(self.df_denom) else "chi2"

    def __repr__(self) -> str:
        finite = np.isfinite(self.df_denom)
        df = f"{self.df_num}, {self.df_denom:.4g}" if finite else f"{self.df_num}"
        letter = "W" if self.replicates else self.distribution
        by = f" by {counted(self.replicates, 'replicate')}" * bool(self.replicates)
        return (
            f"<Wald test of {', '.join(self.hypotheses)}: "
            f"{letter} = {tables.significant(self.statistic)}, df = {df}, "
            f"p = {tables.significant(self.pvalue, 3)}{by}>"
        )


def wald_test(
    theta: Vector,
    covariance: "Matrix | Estimate",
    R: Matrix,
    q: Vector | float = 0.0,
    df: float = np.inf,
    hypotheses: Sequence[str] = (),
    rows: float = np.inf,
) -> JointTest:
    """Test ``R theta = q`` by ``W = (R theta - q)' (R V R')^-1 (R theta - q)``.

    ``W`` is compared with chi-squared on ``m`` degrees of freedom, the number of
    linearly independent hypotheses; with finite `df`, ``W / m`` with F on ``m`` and
    `df`. With finite `rows` and ``m > 1`` it is Hotelling's test, which compares
    ``W (rows - m + 1) / (rows m)`` with F on ``m`` and ``rows - m + 1``. The p-value of
    a single hypothesis equals the p-value of its z or t test.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    covariance : Covariance, BootstrapResult or float64 array, shape (k, k)
    R : float64 array, shape (r, k)
    q : float or float64 array, shape (r,)
    df : float
        Degrees of freedom of the covariance, as for clusters.
    hypotheses : list of str, length r
    rows : float
        As for `Covariance`.

    Returns
    -------
    JointTest
        NaN if the covariance is not defined, a combination without variance differs
        from its hypothesis, or there are too few rows.

    References
    ----------
    Wald, Transactions of the AMS 54 (1943).
    Hotelling, Annals of Mathematical Statistics 2 (1931).

    Examples
    --------
    >>> wald_test(np.array([3.0, 1.0]), np.eye(2), np.eye(2)).statistic
    10.0
    >>> wald_test(np.array([3.0, 1.0]), np.eye(2), np.eye(2), rows=40.0)
    <Wald test of : F = 4.875, df = 2, 39, p = 0.0129>
    """
    from scipy.special import chdtrc, fdtrc

    R = np.atleast_2d(R)
    difference = R @ theta - q
    if isinstance(covariance, Covariance | BootstrapResult):
        middle = covariance.combined(R).matrix
    else:
        middle = R @ covariance @ R.T
    certain = (np.diag(middle) == 0.0) & (difference != 0.0)
    if certain.any() or not np.isfinite(middle).all():
        return undefined(R, df, hypotheses)
    image = whitening(middle) @ difference
    m, W = len(image), float(image @ image)
    if not m:
        return undefined(R, df, hypotheses)
    if np.isinf(rows) or m < 2:
        statistic = W if np.isinf(df) else W / max(1, m)
    else:
        df = rows - m + 1.0
        if df <= 0.0:
            return undefined(R, np.inf, hypotheses)
        statistic = W * df / (rows * m)
    pvalue = chdtrc(m, statistic) if np.isinf(df) else fdtrc(m, df, statistic)
    return JointTest(statistic, float(pvalue), m, df, hypotheses)


def undefined(R: Matrix, df: float, hypotheses: Sequence[str]) -> JointTest:
    """Return a test without a statistic."""
    rank = int(np.linalg.matrix_rank(R))
    return JointTest(np.nan, np.nan, rank, df, hypotheses)


def resampled_test(
    bootstrap: BootstrapResult, R: Matrix, q: Vector, hypotheses: Sequence[str] = ()
) -> JointTest:
    """Test ``R theta = q`` by the distances of the resamples in the metric ``S``.

    With ``D(d) = d' (R S R')^-1 d`` and ``S = ((1/n) sum_i w_i z_i z_i')^-1`` the
    p-value is ``(1 + c) / (1 + m)``. Here ``c`` is the number of the ``m`` resamples
    ``b`` with ``D(R theta_b - R theta) >= D(R theta - q)``. A single hypothesis is
    tested by `BootstrapResult.p_values`. A combination that is equal in all resamples
    is dropped if it equals its hypothesis; otherwise the test is undefined.

    Parameters
    ----------
    bootstrap : BootstrapResult
        Bootstrap of ``theta``.
    R : float64 array, shape (r, k)
    q : float64 array, shape (r,)
    hypotheses : list of str, length r

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> x = np.arange(120.0)
    >>> X = np.column_stack([x % 3, x % 5])
    >>> y = np.where(X.sum(axis=1) + 2.0 * np.sin(x * x) > 3.0, 1.0, -1.0)
    >>> fit = ps.SVM(y, X, lam=0.1).fit(cov_type=ps.Bootstrap(99, seed=1))
    >>> resampled_test(fit.covariance, np.eye(3)[1:], np.zeros(2)).pvalue
    0.01
    """
    combined, m = bootstrap.combined(R), len(bootstrap.estimates)
    difference, free = combined.estimate - q, ~combined.pinned
    noise = combined.solver_noise
    at_hypothesis = np.abs(difference) <= noise
    if bootstrap.is_unlimited or not free.any() or not (at_hypothesis | free).all():
        return JointTest(np.nan, np.nan, 0, np.inf, hypotheses, m)
    S = combined.covariance if combined.reference is None else combined.reference
    whiten = whitening(S[np.ix_(free, free)])
    images = (combined.estimates - combined.estimate)[:, free] @ whiten.T
    far, own = (
        np.square(images).sum(axis=1),
        float(np.sum((whiten @ difference[free]) ** 2)),
    )
    reach = float(np.linalg.norm(np.abs(whiten) @ noise[free]))
    is_far = np.sqrt(far) >= np.sqrt(own) - reach
    # Infinite resamples are farther than every hypothesis.
    n_far = 1 + int(is_far.sum()) + combined.n_infinite
    pvalue = n_far / (1 + m + combined.n_infinite)
    if len(whiten) == 1:
        pvalue = float(combined.p_values(q)[free][np.diag(S)[free].argmax()])
    return JointTest(own, pvalue, len(whiten), np.inf, hypotheses, m)


def is_quick(problem: Problem) -> bool:
    """Whether the sandwich, ``n p^2 + p^3`` products, takes at most two seconds."""
    n, p = problem.n, problem.p
    return p <= QUICK_COEFFICIENTS and float(n) * p * p <= QUICK_PRODUCTS


def reason_skipped(problem: Problem, options: CovType, requested: bool) -> str:
    """Why a summary shows no standard errors, and how to get them; else an empty text.

    Standard errors that were requested by name are always computed.

    Examples
    --------
    >>> wide = Problem(np.zeros((3, 2000)), np.array([-1.0, 1.0, 1.0]), 1.0, "log")
    >>> reason_skipped(wide, Sandwich(), requested=False)
    'Standard errors were not computed: slow for 2,000 coefficients. ...'
    >>> wide = Problem(np.zeros((3, 10_000)), np.array([-1.0, 1.0, 1.0]), 1.0, "log")
    >>> reason_skipped(wide, Sandwich(), requested=False)
    "There are no standard errors: with more than 10,000 coefficients only ..."
    """
    why = reason_unavailable(problem, options)
    if why or requested:
        return why
    if isinstance(options, Bootstrap):
        seconds = seconds_of(problem, options.replicates)
        quick = seconds <= MOST_SECONDS and problem.p <= QUICK_COEFFICIENTS
        return "" if quick else takes_seconds(seconds, options.replicates)
    if problem.p + problem.intercept > MOST_COEFFICIENTS:
        return (
            f"There are no standard errors: with more than {MOST_COEFFICIENTS:,} "
            "coefficients only cov_type='bootstrap' computes them."
        )
    reason = f"slow for {problem.p:,} coefficients"
    return "" if is_quick(problem) else not_computed(reason)


def takes_seconds(seconds: float, replicates: int) -> str:
    """Reason for not drawing resamples: the seconds that they would need."""
    return not_computed(f"about {seconds:,.0f} seconds for {replicates} resamples")


def not_computed(reason: str) -> str:
    """Why standard errors were not computed, and how to get them."""
    return (
        f"Standard errors were not computed: {reason}. result.conf_int() computes "
        "them, and the summary then shows them."
    )


def reason_unavailable(problem: Problem, options: CovType) -> str:
    """Why standard errors cannot be computed; empty if they can.

    Examples
    --------
    >>> small = Problem(np.zeros((3, 2)), np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> reason_unavailable(small, None)[:28]
    'There are no standard errors'
    """
    source = problem.source
    if problem.penalty == "flic":
        why = "penalty='flic' is for predictions; use penalty='firth'"
    elif options is None and source.is_streamed and problem.loss == "hinge":
        why = (
            f"rows in {source.noun} are not resampled; with_covariance('sandwich') "
            "computes sandwich standard errors, which are too small if many margins "
            "are equal"
        )
    elif options is None:
        why = "cov_type='none'; with_covariance('default') estimates them"
    elif source.is_missing:
        why = (
            "they were not saved with the fit, and need the training rows; call "
            "conf_int() before ps.save()"
        )
    else:
        return ""
    return f"There are no standard errors: {why}."


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Standard errors, tests and intervals of a fit, with notes on their reliability.

    Attributes
    ----------
    result : LinearResults
    theta : float64 array, shape (k,)
        Coefficients, the intercept first; 0 for columns that are not estimable.
    covariance : Covariance or BootstrapResult
    null : NullSpace
        Directions that the training rows do not determine.
    """

    result: "LinearResults"
    theta: Vector
    covariance: Estimate
    null: NullSpace

    @property
    def names(self) -> list[str]:
        """Names of the coefficients."""
        return list(self.result.params.index)

    @property
    def is_defined(self) -> bool:
        """Whether the covariance is defined."""
        return not np.isnan(self.covariance.matrix).any()

    @property
    def std_error(self) -> Vector:
        """Standard errors, shape (k,); NaN where only the penalty limits estimates."""
        missing = self.unlimited | self.null.mask()
        return np.where(missing, np.nan, self.covariance.std_error)

    @cached_property
    def unlimited(self) -> Mask:
        """Coefficients that only the penalty limits, shape (k,)."""
        return self._unlimited(np.eye(len(self.theta)))

    def _unlimited(self, R: Matrix) -> Mask:
        """Combinations ``R theta`` that only the penalty limits, shape (m,)."""
        free = self.covariance.unbounded
        return np.zeros(len(R), dtype=bool) if free is None else is_unbounded(R, free)

    def _same(self, R: Matrix, errors: Vector, written: list[str]) -> Mask:
        """Mask of the combinations that cannot be tested, shape (m,); warns of them.

        Their standard error is 0 up to rounding, or they are not estimable.
        """
        broken = self.null.hypothesised(R)
        undetermined = np.asarray(broken.any(axis=1))
        same = errors <= CONSTANT_ERROR * self.covariance.most(R)
        same &= ~self._unlimited(R) & ~undetermined
        if same.any():
            named = [text for text, is_one in zip(written, same, strict=True) if is_one]
            warn_caller(
                f"There is no test of {listing(named)}: the standard error is 0.",
                UndefinedMetricWarning,
            )
        if undetermined.any():
            warn_caller(self.null.reason(broken), UndefinedMetricWarning)
        return np.asarray(same | undetermined)

    @property
    def is_far(self) -> bool:
        """Whether the fit is too far from its optimum for reliable standard errors.

        The criterion for the sandwich of a smooth loss is a Newton step that exceeds a
        quarter of a coefficient's standard error. For the hinge and the bootstrap it is
        a relative gap above 1e-4, with Firth's penalty a fit that has not converged.
        """
        if self.result.problem.has_firth:
            return not self.result.solution.settled
        step = getattr(self.covariance, "newton_step", None)
        if step is None:
            return self.result.relative_gap > MOST_GAP
        with np.errstate(invalid="ignore"):
            return bool((np.abs(step) > MOST_STEP * self.std_error).any())

    def warn(self) -> None:
        """Warn if standard errors are undefined or unreliable.

        Warns
        -----
        ConvergenceWarning
            If the fit is too far from its optimum.
        UndefinedMetricWarning
            If the covariance is not defined, resamples were excluded, or only the
            penalty limits coefficients.
        """
        for note in (*self.covariance.notes, *self.separated()):
            warn_caller(note.sentence, UndefinedMetricWarning)
        if self.is_far:
            note = self._too_far()
            warn_caller(note.sentence, ConvergenceWarning)

    @property
    def tests(self) -> ContrastTests:
        """Tests that each coefficient is 0."""
        V, zeros = self.covariance, np.zeros(len(self.theta))
        resampled = V if isinstance(V, BootstrapResult) else None
        return ContrastTests(
            self.names, self.estimate, self.std_error, zeros, V.df, resampled, V.matrix
        )

    def frame(self, level: float) -> pd.DataFrame:
        """Coefficients with tests and intervals, in the columns of broom's ``tidy``."""
        return self.tests.frame(level, self.names)

    @property
    def estimate(self) -> Vector:
        """Coefficients, shape (k,); NaN if not estimable."""
        return np.where(self.null.mask(), np.nan, self.theta)

    def original(self, R: Matrix) -> Self:
        """Return the object for ``R theta``, the coefficients on the original scale."""
        null = replace(self.null, directions=R @ self.null.directions)
        covariance = at_fixed_scale(self.covariance).combined(R)
        return replace(self, theta=R @ self.theta, covariance=covariance, null=null)

    def t_test(self, hypotheses: object) -> ContrastTests:
        """Estimate and test linear combinations of coefficients, one at a time."""
        R, q, written = self._hypotheses(hypotheses)
        combined = self.covariance.combined(R)
        errors, effect = combined.std_error, R @ self.theta
        same = self._same(R, errors, written)
        errors = np.where(same | self._unlimited(R), np.nan, errors)
        effect[self.null.hypothesised(R).any(axis=1)] = np.nan
        resampled = combined if isinstance(combined, BootstrapResult) else None
        df, joint = combined.df, combined.matrix
        return ContrastTests(written, effect, errors, q, df, resampled, joint)

    def wald_test(self, hypotheses: object, df: float | None = None) -> JointTest:
        """Test linear combinations jointly, with `df` by F with denominator `df`."""
        (R, q, written), V = self._hypotheses(hypotheses), self.covariance
        errors = V.combined(R).std_error
        tested = ~self._same(R, errors, written)
        if self._unlimited(R).any() or not tested.any():
            return undefined(R, V.df, written)
        R, q = R[tested], q[tested]
        written = [
            text for text, is_tested in zip(written, tested, strict=True) if is_tested
        ]
        if isinstance(V, BootstrapResult) and V.is_counted and df is None:
            return resampled_test(V, R, q, written)
        rows = V.rows if isinstance(V, Covariance) and df is None else np.inf
        df = V.df if df is None else df
        return wald_test(self.theta, V, R, q, df, written, rows)

    def _hypotheses(self, hypotheses: object) -> tuple[Matrix, Vector, list[str]]:
        """Matrix, values and texts of linear hypotheses."""
        R, q = linear.constraints(hypotheses, self.names)
        return R, q, linear.written_hypotheses(R, q, self.names)

    def remarks(self) -> list[Note]:
        """Notes on the standard errors: their kind and their reliability."""
        V, problem, k = self.covariance, self.result.problem, len(self.theta)
        if not self.is_defined:
            return list(V.notes)
        notes = [self._too_far()] if self.is_far else []
        notes += self.separated()
        groups, rarer = self.groups, min(problem.label_counts)
        if groups is not None and groups.fewest < FEW:
            text = (
                f"there are {groups}: with fewer than {FEW} groups, intervals and "
                "tests are rough"
            )
            correction = getattr(self.result.cov_type, "correction", "")
            if correction in ("CR0", "CR1"):
                text += f", and {correction} intervals are far too narrow"
            notes.append(Note("few events", "warning", f"{text}."))
        if self.unlimited.all():  # no coefficient has a standard error
            return notes
        slopes = k - problem.intercept
        if rarer < FEW * slopes:
            text = (
                f"there are {counted(problem.n_weighed, 'row')}, {rarer:,} of the "
                f"rarer class, for {counted(slopes, 'coefficient')}"
                f"{' besides the intercept' * problem.intercept}: with fewer than "
                f"{FEW} rows of that class per coefficient, estimates and intervals "
                f"are rough. Use fewer predictors{self._or_firth}."
            )
            notes.append(Note("few events", "warning", text))
        if not any(note.topic == "resamples" for note in notes):
            notes += self.identical()
        text = self.kind
        is_hc3 = getattr(self.result.cov_type, "correction", "") == "HC3"
        if problem.has_firth:
            text = OF_FIRTH
        elif problem.lam:
            text += ", for penalised coefficients at this lambda"
            text += ", which is treated as fixed" * (problem.lam_rule == "cv")
        elif is_hc3 and problem.weights is None:  # nonrobust allows none
            text += "; cov_type='nonrobust' gives those of R's glm"
        notes.append(Note("standard errors", "note", f"{text}."))
        text = "Intervals and tests do not refer to the unpenalised coefficients. "
        text = text * bool(problem.lam) + (OF_ROWS if groups is None else OF_GROUPS)
        if problem.has_firth:
            text = "Rows are assumed independent."
        elif V.fixed is not None:
            text += (
                " Standard errors allow for estimated means and standard deviations."
            )
        return [*notes, Note("inference", "note", text), *V.notes]

    @property
    def kind(self) -> str:
        """Kind of the standard errors, as text."""
        V, groups = self.covariance, self.groups
        if isinstance(V, BootstrapResult):
            what = "Pairs bootstrap" if groups is None else f"Bootstrap of {groups}"
            text = (
                f"{what}, {len(V.estimates):,} resamples, seed {V.seed}, "
                f"{V.options.interval} intervals"
            )
            if V.options.interval == "envelope" and not V.allows(DEFAULT_LEVEL):
                text += (
                    f" (95% intervals need {resamples_for(DEFAULT_LEVEL)} resamples)"
                )
            return text
        options = self.result.cov_type
        assert isinstance(options, Sandwich)
        name = f"sandwich, kernel of bandwidth {V.bandwidth or 0.0:.2g} at the margin"
        name = options.correction if V.bandwidth is None else name
        law = ""
        if np.isfinite(V.df):
            law = f", t on {counted(int(V.df), 'degree')} of freedom"
        return f"Standard errors: {name}" + f", {groups}" * (groups is not None) + law

    def separated(self) -> list[Note]:
        """Note coefficients that only the penalty limits, or one group determines."""
        n_rows, free = self.covariance.separated, np.array(self.names)[self.unlimited]
        if not n_rows and len(free):
            text = (
                "only one group determines the coefficient of "
                f"{listing(list(free), LISTED)}: CR3 yields no standard error for it, "
                "and the standard error of cov_type='CR1' is far too small."
            )
            return [Note("groups", "warning", text)]
        if not n_rows:
            return []
        text = (
            f"{counted(n_rows, 'row')} can be predicted with certainty (separation), "
            "as happens if all rows of a level have the same outcome. There is no "
            f"standard error for {listing(list(free), LISTED)}, limited only by the "
            f"penalty. Merge or drop such a level{self._or_firth}."
        )
        if n_rows == self.result.nobs:
            text = COMPLETE
        return [Note("separation", "warning", text)]

    @property
    def _or_firth(self) -> str:
        """Advice if Firth's penalty is available; otherwise empty."""
        problem = self.result.problem
        other = problem.has_firth or problem.loss != "log" or self.groups is not None
        return "" if other or problem.weights is not None else " or use penalty='firth'"

    def identical(self) -> list[Note]:
        """Note that many resamples have equal estimates, if they do."""
        V = self.covariance
        if not isinstance(V, BootstrapResult):
            return []
        determined = ~self.null.mask()
        several = int(((V.atoms >= ATOM_SHARE) & determined).sum())
        if not several:
            return []
        text = (
            f"many bootstrap estimates of {several} of "
            f"{counted(len(self.theta), 'coefficient')} are identical; intervals "
            "may be unreliable"
        )
        if self.result.problem.loss == "hinge":
            text += " (simulated coverage 0.69 to 1). Logistic regression (ps.logit) "
            text += "does not have this problem"
        return [Note("resamples", "warning", f"{text}.{self._pinned(V)}")]

    def _pinned(self, V: BootstrapResult) -> str:
        """Name the coefficients on which the resamples agree, in a sentence."""
        agree = V.pinned
        if V.allows(DEFAULT_LEVEL) and not V.is_unlimited:
            agree = agree | np.isnan(V.conf_int()).any(axis=1)
        names = np.array(self.names)[agree & ~self.null.mask()]
        if not len(names):
            return ""
        return (
            f" All or almost all resamples agree on {listing(list(names), LISTED)}: no "
            "p-value and no interval (NaN)."
        )

    @property
    def groups(self) -> Groups | None:
        """Groups of the rows with a positive weight."""
        return self.result._weighed[2]

    def _too_far(self) -> Note:
        """Note that the fit is too far from its optimum."""
        result = self.result
        to_optimum = result.refinement is None and result.solver.to_optimum
        cure = f"use {'tol' if to_optimum else 'refine'}=1e-8."
        if isinstance(V := self.covariance, BootstrapResult):
            text = (
                "the resamples were fitted to their optimum, from which this fit is "
                f"too far: its intervals and p-values may be wrong; {cure}"
                f"{self._pinned(V)}"
            )
            return Note("resamples", "warning", text)
        text = "the fit is too far from its optimum for these standard errors; " + cure
        return Note("run", "warning", text)
