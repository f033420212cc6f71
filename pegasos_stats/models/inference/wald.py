"""Wald tests and intervals, from coefficients and their covariance.

statsmodels has such tests too. Ours stand here because theirs take the rank of
``R V R'`` as it is, so that of hypotheses on scales far apart only some are tested, and
because their results cannot have the intervals of a bootstrap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.errors import counted
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models.inference.covariance import BootstrapResult

TIDY_COLUMNS = ["term", "estimate", "std_error", "statistic", "p_value"]
TIDY_COLUMNS += ["conf_low", "conf_high"]

SAME = 1e-5  # of scores, what is the solver's: sqrt(D) is their mean change
NOISE = 1e-5  # of a score: estimates that move it by less are 0 in tables
SHOWN = ["estimate", "std_error", "conf_low", "conf_high"]


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
