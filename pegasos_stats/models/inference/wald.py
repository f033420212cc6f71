"""Standard errors of a fit: tests and intervals by them, and notes on them.

statsmodels has Wald tests too. Ours stand here because theirs take the rank of
``R V R'`` as it is, so that of hypotheses on scales far apart only some are tested, and
because their results cannot have the intervals of a bootstrap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Mask, Matrix, Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.data.language import hypotheses as linear
from pegasos_stats.data.sample import Groups
from pegasos_stats.data.scan.rows import StreamedRows
from pegasos_stats.errors import (
    ConvergenceWarning,
    UndefinedMetricWarning,
    counted,
    listing,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models import notes
from pegasos_stats.models.inference.covariance import (
    BootstrapResult,
    Covariance,
    Estimate,
    whitening,
)
from pegasos_stats.models.inference.options import (
    MOST_SECONDS,
    Bootstrap,
    CovType,
    Sandwich,
    seconds_of,
)
from pegasos_stats.models.inference.separation import is_unbounded
from pegasos_stats.models.notes import Note
from pegasos_stats.solvers.problem import Problem

TIDY_COLUMNS = ["term", "estimate", "std_error", "statistic", "p_value"]
TIDY_COLUMNS += ["conf_low", "conf_high"]

SAME = 1e-5  # of scores, what is the solver's: sqrt(D) is their mean change
NOISE = 1e-5  # of a score: estimates that move it by less are 0 in tables
SHOWN = ["estimate", "std_error", "conf_low", "conf_high"]
ROUNDING = 1e-14  # of sums over the rows
SMALL = 0.25  # of a standard error: 95% intervals then cover 94.3%
FAR = 1e-4  # relative gap of a hinge fit that is not at its optimum
MOST_COEFFICIENTS, MOST_PRODUCTS = 1000, 1e10  # some two seconds


def without_noise(table: pd.DataFrame, noise: Vector) -> pd.DataFrame:
    """The same table with 0 for estimates, errors and limits that are the solver's.

    So is the statistic of an estimate that is 0, unless its standard error is too.

    Parameters
    ----------
    table : DataFrame, m rows
        Columns of broom's ``tidy``.
    noise : float64 array, shape (m,)
        Up to which numbers of each row are, see `LinearResults._noise`.

    Examples
    --------
    >>> table = pd.DataFrame({name: [2e-6, 0.4] for name in TIDY_COLUMNS})
    >>> without_noise(table, np.full(2, NOISE))["estimate"].tolist()
    [0.0, 0.4]
    """
    numbers, least = table[SHOWN].astype(np.float64), 1.001 * noise
    small = numbers.abs().le(least, axis=0)
    ratio = table["statistic"].astype(np.float64)
    apart = (ratio * numbers["std_error"]).abs()  # of the estimate and the hypothesis
    zero = small["estimate"] & ~small["std_error"] & (apart <= least)
    return table.assign(**numbers.mask(small, 0.0), statistic=ratio.mask(zero, 0.0))


@suggest_names("test")
@dataclass(frozen=True, repr=False, eq=False)
class ContrastTests:
    """Linear combinations of coefficients, each estimated and tested alone.

    Made by ``result.t_test()``; attributes have the names that statsmodels gives them.

    Attributes
    ----------
    hypotheses : list of str, length m
    effect : float64 array, shape (m,)
        ``R theta``.
    sd : float64 array, shape (m,)
        Standard errors.
    null : float64 array, shape (m,)
        Values ``q`` under the hypotheses.
    df_denom : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    resampled : BootstrapResult or None
        The bootstrap of these combinations, where intervals are from it.
    noise : float64 array, shape (m,), or None
        What of each effect is the solver's: it is 0 in tables, see `without_noise`.

    Examples
    --------
    >>> found = ContrastTests(["a - b = 0"], np.ones(1), np.ones(1), np.zeros(1))
    >>> print(found)
    ------------------------------------------------------------------------------
                    coef    std err          z      P>|z|     [0.025     0.975]
    a - b = 0     1.0000      1.000      1.000      0.317    -0.9600      2.960
    ------------------------------------------------------------------------------
    """

    hypotheses: Sequence[str]
    effect: Vector
    sd: Vector
    null: Vector
    df_denom: float = np.inf
    resampled: BootstrapResult | None = None
    noise: Vector | None = None

    def frame(self, level: float, terms: Sequence[str]) -> pd.DataFrame:
        """The columns of broom's ``tidy``, 0 for what is the solver's."""
        found = self.estimates(level)
        found.insert(0, "term", list(terms))
        return found if self.noise is None else without_noise(found, self.noise)

    def estimates(self, level: float = 0.95) -> pd.DataFrame:
        """Statistics, p-values and intervals of this level, see `estimates`."""
        found = estimates(self.effect, self.sd, self.df_denom, level, self.null)
        resampled = self.resampled
        if resampled is None:
            return found
        if self.is_resampled:
            found["p_value"] = resampled.p_values(self.null)
        untested = resampled.pinned | ~(self.sd > 0.0)
        found.loc[untested, ["statistic", "p_value"]] = np.nan
        found[["conf_low", "conf_high"]] = resampled.conf_int(level)
        found.loc[np.isnan(self.sd), ["conf_low", "conf_high"]] = np.nan
        return found

    @property
    def is_resampled(self) -> bool:
        """Whether p-values are counted from resamples, not by z or t."""
        return self.resampled is not None and self.resampled.is_counted

    @property
    def headings(self) -> list[str]:
        """Of the columns of tests in print."""
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

    def conf_int(self, alpha: float = 0.05) -> Matrix:
        """Intervals of level ``1 - alpha``, shape (m, 2)."""
        found = self.estimates(1.0 - check_fraction("alpha", alpha))
        return found[["conf_low", "conf_high"]].to_numpy()

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Estimates, tests and intervals, a row for each hypothesis.

        Without a column of statistics where p-values are from resamples.
        """
        table = self.frame(1.0 - check_fraction("alpha", alpha), self.hypotheses)
        table = table.set_index("term").rename_axis(None)
        if self.is_resampled:
            table = table.drop(columns="statistic")
        names = ["coef", "std err", *self.headings, "Conf. Int. Low", "Conf. Int. Upp."]
        return table.set_axis(names, axis=1)

    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """The same with broom's columns."""
        table = self.frame(check_fraction("conf_level", conf_level), self.hypotheses)
        table.insert(1, "null_value", self.null)
        return table

    def _cells(self) -> pd.DataFrame:
        return tables.estimate_cells(self.tidy(), self.headings)

    def __repr__(self) -> str:
        return "\n".join(tables.params_text(self._cells()))

    def _repr_html_(self) -> str:
        return tables.params_html(self._cells())


def estimates(
    estimate: Vector,
    std_error: Vector,
    df: float = np.inf,
    level: float = 0.95,
    null: Vector | float = 0.0,
) -> pd.DataFrame:
    """Statistics ``(estimate - null) / std_error``, two-sided p-values and intervals.

    Without an error there is no test: both are NaN.

    Parameters
    ----------
    estimate, std_error : float64 array, shape (m,)
    df : float
        Of Student's t; infinite for the normal distribution.
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
    >>> found = estimates(np.array([3.0]), np.array([1.0]))
    >>> found[["p_value", "conf_low"]].round(4).to_numpy()
    array([[0.0027, 1.04  ]])
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    level = check_fraction("level", level)
    share, finite = (1.0 + level) / 2.0, np.isfinite(df)
    with np.errstate(all="ignore"):
        statistic = np.where(std_error > 0.0, (estimate - null) / std_error, np.nan)
        beyond = stdtr(df, -np.abs(statistic)) if finite else ndtr(-np.abs(statistic))
        reach = float(stdtrit(df, share) if finite else ndtri(share)) * std_error
        low, high = estimate - reach, estimate + reach
    numbers = estimate, std_error, statistic, 2.0 * beyond, low, high
    return pd.DataFrame(dict(zip(TIDY_COLUMNS[1:], numbers, strict=True)))


@suggest_names("test")
@dataclass(frozen=True, repr=False, eq=False)
class JointTest:
    """Wald's test of several hypotheses together; made by ``result.wald_test()``.

    Attributes
    ----------
    statistic : float
        ``(R theta - q)' (R V R')^-1 (R theta - q)``, for an F test divided by `df_num`.
        For Hotelling's test see `Sandwich`, for resamples `Bootstrap`.
    pvalue : float
    df_num : int
        Number of hypotheses that do not follow from the others.
    df_denom : float
        Of the F distribution; infinite for chi-squared.
    hypotheses : list of str
    replicates : int
        Resamples of the bootstrap whose statistics this one is compared with, instead
        of a distribution; 0 if there are none.

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
        """Law of the statistic."""
        if self.replicates:
            return "bootstrap"
        return "F" if np.isfinite(self.df_denom) else "chi2"

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} = {value}" for name, value in self._facts())
        by = f" by {counted(self.replicates, 'replicate')}" * bool(self.replicates)
        return f"<Wald test of {', '.join(self.hypotheses)}: {facts}{by}>"

    def _repr_html_(self) -> str:
        facts = [("Hypotheses", ", ".join(self.hypotheses)), *self._facts()]
        if self.replicates:
            facts.append(("Replicates", f"{self.replicates:,}"))
        return tables.header_html("Wald Test", facts, [])

    def _facts(self) -> list[tuple[str, str]]:
        """Statistic, degrees of freedom and p-value, by name."""
        finite = np.isfinite(self.df_denom)
        df = f"{self.df_num}, {self.df_denom:.4g}" if finite else f"{self.df_num}"
        letter = "W" if self.replicates else self.distribution
        statistic = tables.significant(self.statistic)
        p_value = tables.significant(self.pvalue, 3)
        return [(letter, statistic), ("df", df), ("p", p_value)]


def wald_test(
    theta: Vector,
    covariance: Matrix,
    R: Matrix,
    q: Vector | float = 0.0,
    df: float = np.inf,
    hypotheses: Sequence[str] = (),
    rows: float = np.inf,
) -> JointTest:
    """Test ``R theta = q`` by ``W = (R theta - q)' (R V R')^-1 (R theta - q)``.

    ``W`` is compared with chi-squared on ``m`` degrees of freedom, ``m`` the hypotheses
    that do not follow from the others; with finite `df`, ``W / m`` with F on ``m`` and
    `df`. With finite `rows` and ``m > 1`` it is Hotelling's test: ``W (rows - m + 1) /
    (rows m)`` with F on ``m`` and ``rows - m + 1``. One hypothesis has the p-value of
    its coefficient, by the normal law or t.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    covariance : float64 array, shape (k, k)
    R : float64 array, shape (m, k)
    q : float or float64 array, shape (m,)
    df : float
        Of the covariance, as for clusters.
    hypotheses : list of str, length m
    rows : float
        ``n - k``.

    Returns
    -------
    JointTest
        NaN where the covariance is not defined, something without variance is not as
        the hypothesis has it, or rows are too few.

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
    middle, apart = R @ covariance @ R.T, R @ theta - q
    certain = (np.diag(middle) == 0.0) & (apart != 0.0)
    if certain.any() or not np.isfinite(middle).all():
        return undefined(R, df, hypotheses)
    image = whitening(middle) @ apart
    m, W = len(image), float(image @ image)
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
    """The test of hypotheses that there is no statistic for."""
    rank = int(np.linalg.matrix_rank(R))
    return JointTest(np.nan, np.nan, rank, df, hypotheses)


def resampled_test(
    found: BootstrapResult, R: Matrix, q: Vector, hypotheses: Sequence[str] = ()
) -> JointTest:
    """Test ``R theta = q`` by the distances of the resamples in the metric ``S``.

    With ``D(d) = d' (R S R')^-1 d`` and ``S = ((1/n) sum_i w_i z_i z_i')^-1`` the
    p-value is ``(1 + c) / (1 + m)``: ``c`` of ``m`` resamples have ``D(R theta_b - R
    theta)`` as large as ``D(R theta - q)``. The metric does not depend on how factors
    are coded. One hypothesis has the p-value of its coefficient. What is pinned at its
    hypothesis is no part of the test; what is pinned elsewhere leaves it undefined.

    Parameters
    ----------
    found : BootstrapResult
        Of ``theta``.
    R : float64 array, shape (m, k)
    q : float64 array, shape (m,)
    hypotheses : list of str, length m

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
    each, m = found.combined(R), len(found.estimates)
    apart, free = each.estimate - q, ~each.pinned
    held = np.abs(apart) <= each.solver_noise
    if not free.any() or not (held | free).all():
        return JointTest(np.nan, np.nan, 0, np.inf, hypotheses, m)
    S = each.covariance if each.reference is None else each.reference
    whiten = whitening(S[np.ix_(free, free)])
    images = (each.estimates - each.estimate)[:, free] @ whiten.T
    far, own = np.square(images).sum(axis=1), float(np.sum((whiten @ apart[free]) ** 2))
    is_far = np.sqrt(far) >= np.sqrt(own) - SAME
    pvalue = float(1 + is_far.sum()) / (1 + m)
    if len(whiten) == 1:
        pvalue = float(each.p_values(q)[free][np.diag(S)[free].argmax()])
    return JointTest(own, pvalue, len(whiten), np.inf, hypotheses, m)


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
    elsewhere = isinstance(problem.X, StreamedRows)
    if options is None and elsewhere and problem.loss == "hinge":
        why = (
            f"rows in {problem.X.scan.noun} are not resampled; with_covariance("
            "'sandwich') has those of the sandwich, which are too small where rows tie"
        )
    elif options is None:
        why = "cov_type='none'; with_covariance('default') gives the same fit with them"
    elif not (problem.has_rows or elsewhere):
        why = "they need the training rows; ask for them before saving"
    else:
        return []
    return [Note("standard errors", "note", f"There are no standard errors: {why}.")]


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
        if self.is_far:
            note = notes.too_far(self.to_optimum)
            warn_caller(note.sentence, ConvergenceWarning)

    def frame(self, level: float) -> pd.DataFrame:
        """Coefficients with broom's columns, intervals of this level."""
        names, nothing = list(self.theta.index), np.zeros(len(self.theta))
        df, errors = self.covariance.df, self.std_error
        each = ContrastTests(names, self._theta, errors, nothing, df, self._resampled)
        return each.frame(level, names)

    def original(self, R: Matrix) -> Self:
        """What follows for ``R theta``, on the scale before standardizing."""
        theta = pd.Series(R @ self._theta, self.theta.index, name=self.theta.name)
        return replace(self, theta=theta, covariance=self.covariance.original(R))

    def t_test(self, hypotheses: object) -> ContrastTests:
        """Test each of the hypotheses ``R theta = q`` alone."""
        names, resampled = list(self.theta.index), self._resampled
        R, q = linear.constraints(hypotheses, names)
        written = linear.written_hypotheses(R, q, names)
        self._warn_of_constant(R, written)
        errors = np.where(self._unlimited(R), np.nan, self._errors(R))
        combined = None if resampled is None else resampled.combined(R)
        given = written, R @ self._theta, errors, q, self.covariance.df
        noise = None if self.noise is None else np.abs(R) @ self.noise
        return ContrastTests(*given, combined, noise)

    def wald_test(self, hypotheses: object, df: float | None = None) -> JointTest:
        """Test the hypotheses ``R theta = q`` together; by F on `df`, if given."""
        names, V = list(self.theta.index), self.covariance
        R, q = linear.constraints(hypotheses, names)
        written = linear.written_hypotheses(R, q, names)
        constant = self._warn_of_constant(R, written)
        if self._unlimited(R).any() or constant.all():
            return undefined(R, V.df, written)
        R, q = R[~constant], q[~constant]
        written = [each for each, c in zip(written, constant, strict=True) if not c]
        if df is not None:
            return wald_test(self._theta, V.matrix, R, q, df, written)
        if isinstance(V, BootstrapResult) and V.is_counted:
            return resampled_test(V, R, q, written)
        rows = V.rows if isinstance(V, Covariance) else np.inf
        return wald_test(self._theta, V.matrix, R, q, V.df, written, rows)

    def _warn_of_constant(self, R: Matrix, written: list[str]) -> Mask:
        """Hypotheses about what is the same in all samples; warns of them."""
        constant = (self._errors(R) == 0.0) & ~self._unlimited(R)
        if constant.any():
            named = [each for each, c in zip(written, constant, strict=True) if c]
            warn_caller(
                f"There is no test of {listing(named)}: it is the same in all samples, "
                "up to rounding, and has no standard error.",
                UndefinedMetricWarning,
            )
        return np.asarray(constant)

    def remarks(self) -> list[Note]:
        """Notes on the standard errors: which they are, and whether to trust them."""
        V, problem, k = self.covariance, self.problem, len(self.theta)
        if not self.is_defined:
            return list(V.notes)
        far = self.is_far and problem.loss == "log"
        first = [
            *[notes.too_far(self.to_optimum)] * far,
            *self.separated(),
            *self.collinear(),
            *notes.few_groups(self.groups),
        ]
        if self.unlimited.all():  # there are no errors to speak of
            return first
        is_hc3 = getattr(self.options, "correction", "") == "HC3"
        for_glm = is_hc3 and not problem.weighted  # nonrobust does not go with weights
        return [
            *first,
            *notes.few_rows(min(problem.label_counts), problem.n_weighed, k),
            *[notes.COINCIDE] * (isinstance(V, BootstrapResult) and V.coincide),
            notes.estimate(self.kind, for_glm, problem.lam_rule == "cv"),
            *notes.assumptions(self.groups, V.counts_scaling),
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
        names = list(self.theta.index[self.unlimited])
        return notes.separated(names, self.covariance.separated, self.problem.n_weighed)

    def collinear(self, without_errors: bool = False) -> list[Note]:
        """Which predictors are linear combinations of others, if any."""
        B, names = self.covariance.collinear, self.theta.index
        if B is None or (without_errors and not self.unlimited.any()):
            return []
        last = np.array([np.flatnonzero(b)[-1] for b in B.T], dtype=np.intp)
        others = np.setdiff1d(np.flatnonzero(B.any(axis=1)), last)
        lack = bool(self.unlimited[last].any())
        return [notes.collinear(list(names[last]), list(names[others]), lack)]

    @property
    def _resampled(self) -> BootstrapResult | None:
        """The resamples that intervals are from, if they are."""
        found = self.covariance
        return found if isinstance(found, BootstrapResult) else None

    @property
    def _theta(self) -> Vector:
        return np.asarray(self.theta, dtype=np.float64)
