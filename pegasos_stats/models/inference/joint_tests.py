"""Tests of several hypotheses together: by Wald, by Hotelling, by resamples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pegasos_stats import tables
from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.errors import counted
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models.inference.resamples import BootstrapResult
from pegasos_stats.models.inference.wald import beyond

ROUNDING = 1e-9
LARGE = 1e8  # noncentrality, a bias of 10,000 standard errors
REACH, TERMS = 10.0, 2000.0  # of Poisson weights: standard deviations, and half of all
TOWARDS = 0.2  # of the way to a covariance without ties, by simulation
NEARER = 0.5  # the same where coefficients of samples are nearer to 0


@suggest_names("test")
@dataclass(frozen=True, repr=False, eq=False)
class JointTest:
    """Wald's test of several hypotheses together; made by ``result.wald_test()``.

    Attributes
    ----------
    statistic : float
        ``(R theta - q)' (R V R')^-1 (R theta - q)``, for an F test divided by `df_num`.
        For Hotelling's test and by resamples, see `Sandwich` and `Bootstrap`.
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
    bias: Vector | None = None,
) -> JointTest:
    """Test ``R theta = q`` by chi-squared; by F if `df` is finite.

    Hypotheses that follow from the others are not counted twice. With a bias ``b`` of
    `theta` the distribution is the noncentral one, by ``b'R' (R V R')^-1 R b``.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    covariance : float64 array, shape (k, k)
    R : float64 array, shape (m, k)
    q : float or float64 array, shape (m,)
    df : float
        Of the covariance; infinite for chi-squared.
    hypotheses : list of str, length m
        What the rows say, in names.
    bias : float64 array, shape (k,), optional

    Returns
    -------
    JointTest
        NaN where the covariance is not defined, or something without variance is not
        as the hypothesis has it.

    References
    ----------
    Wald, *Tests of statistical hypotheses concerning several parameters when the number
    of observations is large*, Transactions of the AMS 54 (1943).

    Examples
    --------
    >>> wald_test(np.array([3.0, 1.0]), np.eye(2), np.eye(2)).statistic
    10.0
    """
    R = np.atleast_2d(R)
    middle, apart = R @ covariance @ R.T, R @ theta - q
    certain = (np.diag(middle) == 0.0) & (apart != 0.0)
    if certain.any() or not np.isfinite(middle).all():
        return undefined(R, df, hypotheses)
    whiten = whitening(middle)
    image, rank = whiten @ apart, len(whiten)
    statistic = float(image @ image) / (1 if np.isinf(df) else rank)
    pvalue = p_value(statistic, rank, df, 0.0 if bias is None else whiten @ (R @ bias))
    return JointTest(statistic, pvalue, rank, df, hypotheses)


def undefined(R: Matrix, df: float, hypotheses: Sequence[str]) -> JointTest:
    """The test of hypotheses that there is no statistic for."""
    rank = int(np.linalg.matrix_rank(R))
    return JointTest(np.nan, np.nan, rank, df, hypotheses)


def p_value(statistic: float, m: int, df: float, off: Vector | float = 0.0) -> float:
    """P-value by chi-squared, or by F if `df` is finite; noncentral by ``off'off``.

    That of one hypothesis is the p-value of its coefficient, see `wald.biased`.

    Examples
    --------
    >>> round(p_value(3.84, 1, np.inf), 3), round(p_value(3.84, 1, np.inf, 1.0), 3)
    (0.05, 0.17)
    """
    from scipy.stats import chi2, f

    with np.errstate(over="ignore"):
        noncentrality = float(np.square(off).sum())
    if noncentrality == 0.0:
        return float(chi2.sf(statistic, m) if np.isinf(df) else f.sf(statistic, m, df))
    if m == 1:
        distance, away = np.sqrt([statistic]), np.sqrt([noncentrality])
        return float(beyond(distance, away, df).item())
    return noncentral(statistic, m, df, noncentrality)


def noncentral(statistic: float, m: int, df: float, noncentrality: float) -> float:
    """Upper tail of the noncentral F, or if `df` is infinite chi-squared distribution.

    It is a mean of central ones, by Poisson weights. Functions of scipy for it overflow
    or do not end where the noncentrality is small or large.

    Examples
    --------
    >>> round(noncentral(3.0, 2, 10.0, 4.0), 6), noncentral(3.0, 2, np.inf, 1e300)
    (0.451032, 1.0)
    """
    from scipy.special import betainc, chdtr, gammaincc, gammaln, ndtr, xlogy

    if np.isnan(noncentrality + statistic):
        return float("nan")
    with np.errstate(all="ignore"):
        if noncentrality > LARGE and np.isinf(df):
            return float(ndtr(np.sqrt(noncentrality) - np.sqrt(statistic)))
        if noncentrality > LARGE:  # beside it only the estimated variance varies
            share = noncentrality / m / np.float64(statistic)
            return float(chdtr(df, df * share))
        mean = noncentrality / 2.0
        reach = REACH * (1.0 + np.sqrt(mean))
        step = np.ceil(reach / TERMS)
        j = np.arange(max(0.0, np.floor(mean - reach)), mean + reach, step)
        w = np.exp(xlogy(j, mean) - mean - gammaln(j + 1.0))
        if np.isinf(df):
            each = gammaincc(m / 2.0 + j, statistic / 2.0)
        else:
            each = betainc(df / 2.0, m / 2.0 + j, df / (df + m * statistic))
    return float(w @ each / w.sum())


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


def hotelling_test(
    theta: Vector,
    covariance: Matrix,
    rows: float,
    R: Matrix,
    q: Vector,
    hypotheses: Sequence[str] = (),
    bias: Vector | None = None,
) -> JointTest:
    """Hotelling's test of ``R theta = q``, by an effective number of rows.

    For ``m`` hypotheses ``W (rows - m + 1) / rows / m`` is compared with the F
    distribution with ``m`` and ``rows - m + 1`` degrees of freedom; NaN if there are
    too few rows. For infinitely many it is Wald's. With a bias of `theta` it is the
    noncentral one, as for `wald_test`.

    References
    ----------
    Hotelling, *The generalization of Student's ratio*, Annals of Mathematical
    Statistics 2 (1931).

    Examples
    --------
    >>> hotelling_test(np.array([3.0, 1.0]), np.eye(2), 40.0, np.eye(2), np.zeros(2))
    <Wald test of : F = 4.875, df = 2, 39, p = 0.0129>
    """
    R = np.atleast_2d(R)
    if np.isinf(rows):
        return wald_test(theta, covariance, R, q, np.inf, hypotheses, bias)
    found = wald_test(theta, covariance, R, q)
    m = found.df_num
    df = rows - m + 1.0
    if df <= 0.0 or np.isnan(found.statistic):
        return replace(found, pvalue=np.nan, hypotheses=hypotheses)
    off = 0.0 if bias is None else whitening(R @ covariance @ R.T) @ (R @ bias)
    statistic = found.statistic * df / (rows * m)
    pvalue = p_value(statistic, m, df, off)
    return JointTest(statistic, pvalue, m, df, hypotheses)


def steadied(covariance: Matrix, reference: Matrix, towards: float = TOWARDS) -> Matrix:
    """A covariance of resamples drawn towards one that has no ties.

    ``(1 - a) V + a c S`` with ``a`` of `towards`, the reference ``S``, and ``c`` that
    makes the mean variance the same, measured by ``S``.

    Examples
    --------
    >>> steadied(np.diag([2.0, 0.0]), np.eye(2))
    array([[1.8, 0. ],
           [0. , 0.2]])
    >>> steadied(np.diag([2.0, 0.0]), np.eye(2), towards=1.0)
    array([[1., 0.],
           [0., 1.]])
    """
    whiten = whitening(reference)
    if not len(whiten):
        return covariance
    scale = np.trace(whiten @ covariance @ whiten.T) / len(whiten)
    return np.asarray((1.0 - towards) * covariance + towards * scale * reference)


def statistics_of(images: Matrix, share: float = 1.0) -> Vector:
    """Squared length of each image, by the covariance of the other images.

    That of a hypothesis is by a covariance that it has no part in; in their own the
    resamples, ``m`` of them in ``k`` dimensions, would be too near by a share of about
    ``k / m``. One dimension alone keeps its own.

    Parameters
    ----------
    images : float64 array, shape (m, k)
        With the covariance 1; or with one of which theirs is a share.
    share : float

    Examples
    --------
    >>> statistics_of(np.array([[1.0], [-1.0], [0.0]]))
    array([1., 1., 0.])
    >>> square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> statistics_of(square * np.sqrt(0.75)).round(6)  # of three others
    array([3., 3., 3., 3.])
    """
    m, k = images.shape
    own = (images * images).sum(axis=1)
    if k < 2:
        return np.asarray(own)
    apart = images - images.mean(axis=0)
    # Sherman and Morrison, for V less one resample
    shrunk = (m - 2.0) / (m - 2.0 + share)
    weight = share * shrunk * m / ((m - 1.0) * (m - 2.0))
    left = 1.0 - weight * (apart * apart).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        more = weight * shrunk * np.square((images * apart).sum(axis=1)) / left
    more[left <= ROUNDING] = np.inf  # without it the others span no such direction
    return np.asarray(shrunk * own + more)


def resampled_test(
    found: BootstrapResult, R: Matrix, q: Vector, hypotheses: Sequence[str] = ()
) -> JointTest:
    """Test ``R theta = q`` by the statistics of the resamples.

    With ``W(t) = t' (R M R')^-1 t`` the p-value is ``(1 + c) / (1 + m)``, where ``c``
    of ``m`` resamples have ``W(R theta_b - R theta)`` as large as ``W(R theta - q)``.
    ``M = 0.8 V + 0.2 s S`` is the covariance ``V`` of the resamples, drawn a fifth of
    the way to a multiple of ``S = (sum_i w_i z_i z_i' / n)^-1``: where rows tie at the
    margin in this sample alone, resamples hardly vary in some directions, in which the
    true values may be far away. For the statistic of a resample ``V`` is that of the
    others. Where predictors hardly tell the levels apart, ``M = s S``: the loss limits
    the length of the coefficients, so that resamples hardly vary towards 0, and ``V``
    would have a hypothesis there too far away. It is half of the way where few rows and
    a strong penalty bring coefficients of samples nearer to 0. Recoding a factor
    changes neither. Where levels are hardly told apart, statistics of resamples count
    as larger, see `BootstrapResult.joint_widening`; where resamples agree, p-values are
    up to twice as large, see `BootstrapResult.sides`.

    For one hypothesis ``M = V``, and the p-value is that of the symmetric interval and
    of `t_test`, ``2 (1 + c) / (1 + m)``, with those ``c`` that lie on one side of the
    estimate: on that side where there are more. What is pinned at its hypothesis is no
    part of the test; what is pinned elsewhere leaves it undefined.

    Parameters
    ----------
    found : BootstrapResult
        Of ``theta``.
    R : float64 array, shape (m, k)
    q : float64 array, shape (m,)
    hypotheses : list of str, length m

    References
    ----------
    Hall, *On symmetric bootstrap confidence intervals*, Journal of the Royal
    Statistical Society B 50 (1988).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> x = np.arange(120.0)
    >>> X = np.column_stack([x % 3, x % 5])
    >>> y = np.where(X.sum(axis=1) + 2.0 * np.sin(x * x) > 3.0, 1.0, -1.0)
    >>> by = ps.Bootstrap(99, seed=1, interval="symmetric")
    >>> found = ps.SVM(y, X, lam=0.1).fit(ps.SDCA(seed=1), cov_type=by).covariance
    >>> resampled_test(found, np.eye(3)[1:], np.zeros(2)).pvalue  # the least there is
    0.02
    """
    each, m = found.combined(R), len(found.estimates)
    apart, free = each.estimate - q, ~each.pinned
    held = np.abs(apart) <= each.solver_noise
    if not (held | free).all():
        return JointTest(np.nan, np.nan, 0, np.inf, hypotheses, m)
    among, share = np.ix_(free, free), 1.0
    middle = each.covariance[among]
    if each.reference is not None and len(middle) > 1:
        towards = 1.0 if each.hardly else NEARER if each.nearer else TOWARDS
        middle = steadied(middle, each.reference[among], towards)
        share = 1.0 - towards
    whiten = whitening(middle)
    image = whiten @ apart[free]
    images = (each.estimates - each.estimate)[:, free] @ whiten.T
    own, rank = float(image @ image), len(whiten)
    if not free.any():
        pvalue = np.nan
    elif rank > 1:
        far = statistics_of(images, share) * each.joint_widening
        pvalue = min(1.0, each.sides * float(1 + (far >= own).sum()) / (1 + m))
    else:
        pvalue = float(each.p_values(q)[free][np.diag(middle).argmax()])
    return JointTest(own, pvalue, rank, np.inf, hypotheses, m)
