"""Options of standard errors: `Sandwich`, `Cluster`, `Bootstrap`, and defaults."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pegasos_stats import checks
from pegasos_stats.data.sample import Groups
from pegasos_stats.data.user_data import is_sparse
from pegasos_stats.errors import OptionError, did_you_mean, listing, shown
from pegasos_stats.foreign_names import foreign_value, own_value
from pegasos_stats.parallel import n_workers
from pegasos_stats.rng import SampleKind, checked_seed
from pegasos_stats.solvers.options import checked_tol
from pegasos_stats.solvers.problem import Problem

# fmt: off
Correction = Literal[
    "HC0", "HC1", "HC2", "HC3", "nonrobust", "CR0", "CR1", "CR3", "linearised",
    "default",
]
# fmt: on
CORRECTIONS: tuple[Correction, ...] = ("HC0", "HC1", "HC2", "HC3", "nonrobust")
OF_GROUPS: tuple[Correction, ...] = ("CR0", "CR1", "CR3", "linearised", "default")
OF_LEVERAGES: tuple[Correction, ...] = ("HC2", "HC3")
Interval = Literal["envelope", "percentile", "normal", "basic"]
INTERVALS: tuple[Interval, ...] = ("envelope", "percentile", "normal", "basic")

# Seconds per entry of X and resample, on two cores, up to 25 columns; with more, the
# time is proportional to the square of the number of columns.
SECONDS = 1.3e-8
DEFAULT_SECONDS, MOST_SECONDS = 3.0, 10.0  # for all resamples
REPLICATES = 999
STEP = 40  # with m + 1 a multiple of 40, 2.5% of m + 1 is a whole number


@dataclass(frozen=True)
class Sandwich:
    """Options of the sandwich covariance ``(1/n) H^-1 G H^-1``.

    ``H`` is the curvature of the penalised risk at the optimum, ``G`` the covariance of
    the gradients of the rows' losses. For the log loss ::

        H = (1/n) sum_i w_i s_i (1 - s_i) z_i z_i' + lam J,    s_i = 1 / (1 + exp(m_i))

    with ``z = (1, x)``, the margin ``m_i``, and ``J`` the identity with a 0 for the
    intercept. The hinge has curvature only at the margin, that is, where
    ``u_i = 1 - y_i f(x_i)`` is 0. ``H`` therefore depends on the density of the rows at
    the margin ::

        H = (1/n) sum_i w_i k_h(u_i) z~_i z~_i' + lam J,    z~_i = z_i - u_i c_{y_i}

    with the Gaussian kernel ``k_h``; ``c_y`` is the slope of the regression of ``z`` on
    ``u`` in class ``y``. The term ``u_i c_{y_i}`` moves the rows to the margin.

    Parameters
    ----------
    bandwidth : "silverman" or float, default "silverman"
        ``h`` for the hinge. The default is ``1.06 min(sd, IQR / 1.34) n^(-1/5)``, with
        ``sd`` and ``IQR`` of the ``u_i``, as in R's ``bw.nrd``.
    correction : "HC0", "HC1", "HC2", "HC3" or "nonrobust", default "HC0"
        The hinge allows only ``"HC0"``, the squared hinge all but ``"nonrobust"``.
        ``"HC1"`` multiplies the covariance by ``n / (n - d)`` with
        ``d = tr(H^-1 (H - lam J))``. ``"HC2"`` divides the gradient of a row by
        ``sqrt(1 - h_i)`` and ``"HC3"`` by ``1 - h_i``. The leverage is
        ``h_i = w_i s_i (1 - s_i) z_i'H^-1 z_i / n``; values above 0.99 are replaced by
        0.99. ``"nonrobust"`` uses the information ``H - lam J`` for ``G``, as in the
        usual output of logistic regression. This is valid if the model is correct and
        lambda tends to 0; weights are not allowed.

    Raises
    ------
    OptionError
        If an option is not allowed.

    Notes
    -----
    ``"HC3"`` is the default for the log loss and the squared hinge. With ``"HC3"`` and
    with the sandwich of the hinge, joint tests of ``q`` hypotheses in a model with
    ``k`` coefficients are Hotelling's: ``W (n - k - q + 1) / (q (n - k))`` is compared
    with F on ``q`` and ``n - k - q + 1`` degrees of freedom. With other corrections
    Wald's ``W`` is compared with chi-squared. The sandwich of the hinge is valid if a
    continuous predictor has an effect; its standard errors are too small if many
    margins are equal. The default for the hinge is `Bootstrap`. In statsmodels' Logit
    and GLM, HC1 to HC3 are equal to HC0.

    References
    ----------
    Huber, Proceedings of the fifth Berkeley symposium 1 (1967).
    MacKinnon & White, Journal of Econometrics 29 (1985), for HC1 to HC3.
    Koo, Lee, Kim & Park, JMLR 9 (2008), theorem 1, for the hinge.
    Scott, *Multivariate density estimation* (1992), for the bandwidth.
    Li, JASA 86 (1991), condition 3.1, for the regression of ``z`` on ``u``.

    Examples
    --------
    >>> Sandwich(correction="HC3").bandwidth
    'silverman'
    """

    bandwidth: Literal["silverman"] | float = "silverman"
    correction: Correction = "HC0"
    corrections: ClassVar[tuple[Correction, ...]] = CORRECTIONS

    def __post_init__(self) -> None:
        named = isinstance(self.bandwidth, str) and self.bandwidth == "silverman"
        if not named:
            width = checks.check_positive("bandwidth", self.bandwidth)
            object.__setattr__(self, "bandwidth", width)
        checks.check_choice("correction", self.correction, self.corrections)


@dataclass(frozen=True)
class Cluster(Sandwich):
    """Options of the sandwich covariance of clustered rows.

    ``S_g`` is the sum of the gradients of the rows of group ``g``, and ``M`` the number
    of groups ::

        G = (1/n) c sum_g S_g S_g'

    CR0 and CR1 use ``c = M / (M - 1)``. CR3, the default for the log loss and the
    squared hinge, approximates the fits that omit one group each. It uses ``c = 1`` and
    replaces ``S_g`` by ``(I - B_g A)^-1 S_g``. Here ``B_g`` is the Hessian of the
    group, and ``A = (n H)^-1``. Multiplied by ``A``, the new ``S_g`` is a Newton step
    between the fit and the fit without the group. Two groupings, ``a`` and ``b``, yield
    ``G_a + G_b - G_ab``, where each term has the ``c`` of its own groups. If a variance
    is then negative, negative eigenvalues of the covariance are set to 0, and a note
    reports this. With ``fit(strata=)`` the covariance is linearised: the ``S_g`` are
    centred in each stratum, with ``c = M_h / (M_h - 1)`` for the ``M_h`` groups of
    stratum ``h``.

    Parameters
    ----------
    bandwidth
        As for `Sandwich`.
    correction : "default", "CR3", "CR1", "CR0" or "linearised"
        ``"CR1"`` also multiplies by ``(n - 1) / (n - d)``, with ``d`` as for
        `Sandwich`. With strata the default is ``"linearised"``. Without strata it is
        ``"CR1"`` for the hinge and for two groupings, and otherwise ``"CR3"``.
    use_t : bool, default True
        Whether tests and intervals use t and F instead of the normal and chi-squared
        distributions. The degrees of freedom are ``M - 1``; with two groupings, ``M``
        is the smaller number of groups. With strata they are the number of groups,
        minus the number of strata, plus 1, minus the number of coefficients.

    Raises
    ------
    OptionError
        If an option is not allowed.

    Notes
    -----
    Joint tests of ``q`` hypotheses by CR3 compare ``W (M - q) / (q (M - 1))`` with F on
    ``q`` and ``M - q`` degrees of freedom. Other corrections compare ``W / q`` with F
    on ``q`` and the degrees of freedom of `use_t`. If a coefficient cannot be estimated
    without one of the groups, as for a dummy variable of one group, CR3 yields no
    standard error for it (NaN). For the other coefficients the generalised inverse is
    used.

    For ``lam = 0`` R computes the same standard errors: CR3 by
    ``clubSandwich::vcovCR()`` with ``type = "CR3"``; CR1 by ``sandwich::vcovCL()`` with
    ``type = "HC1"`` (for two groupings with ``cadjust = TRUE, multi0 = FALSE``); with
    strata, ``survey::svyglm()``. The names of clubSandwich differ: its ``"CR1S"`` is
    CR1, its ``"CR1"`` is CR0, and its ``"CR0"`` is CR0 without the factor ``c``. With
    few groups the standard errors of CR1 are too small (Bell & McCaffrey).

    References
    ----------
    Liang & Zeger, Biometrika 73 (1986).
    Bell & McCaffrey, Survey Methodology 28 (2002), for CR3.
    Pustejovsky & Tipton, Journal of Business & Economic Statistics 36 (2018).
    Cameron, Gelbach & Miller, Journal of Business & Economic Statistics 29 (2011).
    Binder, International Statistical Review 51 (1983), for strata.

    Examples
    --------
    >>> import pandas as pd, pegasos_stats as ps
    >>> school = pd.Series([1, 1, 2, 2, 3, 3, 4, 4, 5, 5], name="school")
    >>> x = pd.DataFrame({"x": [1.0, 2, 1, 3, 2, 5, 4, 4, 3, 6]})
    >>> model = ps.Logit(list("aabababbab"), x, lam=0.01)
    >>> str(model.fit(groups=school).groups)
    '5 groups of school'
    """

    correction: Correction = "default"
    use_t: bool = True
    corrections: ClassVar[tuple[Correction, ...]] = OF_GROUPS

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.check_flag("use_t", self.use_t)


@dataclass(frozen=True)
class Bootstrap:
    """Options of the pairs bootstrap, which refits the model to resampled rows.

    Resample ``b`` consists of the rows of the ``b``-th ``sample(n, n, replace = TRUE)``
    of R after ``set.seed(seed)``. Each resample uses the same ``lam``; balanced weights
    and standardization are computed again. With ``fit(groups=...)`` whole groups are
    drawn, each with all its rows, by ``sample(M, M, replace = TRUE)`` for ``M`` groups.
    Rows of weight 0 are not drawn, and not counted in ``n``.

    Parameters
    ----------
    replicates : int, default 999
    seed : int, default 1
        As for R's ``set.seed()``; None draws a seed.
    interval : "envelope", "percentile", "normal" or "basic", default "envelope"
        ``"percentile"``: quantiles of the resamples, R's type 7. ``"basic"``: these
        quantiles, reflected about the estimate. ``"normal"``: the estimate, plus and
        minus a normal quantile times the standard deviation of the resamples.
        ``"envelope"``: the estimate, plus and minus the larger of its distances to the
        ``k``-th smallest and the ``k``-th largest of ``m`` resamples, with
        ``k = floor((m + 1) (1 - level) / 2)``. The envelope contains the percentile and
        the basic interval.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``.
    tol : float, default 1e-6
        Maximum relative duality gap of each resample. The tolerance is reduced, down to
        1e-12, as long as a reduction moves the first resamples by more than 1e-3
        standard errors.
    workers : int, optional
        Number of threads; all usable cores if omitted. Results do not depend on it.

    Raises
    ------
    OptionError
        If an option is not allowed.
    SeedError
        If R would refuse the seed.

    Notes
    -----
    With envelopes the p-value is ``2 (1 + c) / (1 + m)``, at most 1. On each side of
    the estimate, count the resamples that are at least as far from the estimate as the
    hypothesis is; ``c`` is the larger count. The envelope of level ``1 - p``, with the
    p-value ``p``, is the widest that excludes the hypothesis. The p-value of joint
    hypotheses ``R theta = r`` is ``(1 + c) / (1 + m)``, where ``c`` counts the
    resamples ``theta*`` with ``D(R theta* - R theta) >= D(R theta - r)`` in the squared
    distance ::

        D(d) = d' (R S R')^-1 d,    S = ((1/n) sum_i w_i z_i z_i')^-1

    With the other intervals, tests use the normal and the chi-squared distribution.

    If predictors have few distinct values, many resamples of the hinge have equal
    estimates. A warning appears if at least 2.5% of the resamples are equal: no theory
    covers this case, and simulated coverage was 0.69 to 1. If all resamples are equal,
    p-value and interval are NaN.

    References
    ----------
    Efron, Annals of Statistics 7 (1979).
    Davison & Hinkley, *Bootstrap methods and their application* (1997), chapters 4, 5.

    Examples
    --------
    >>> Bootstrap(seed=443)
    Bootstrap(replicates=999, seed=443, interval='envelope', ...)
    """

    replicates: int = REPLICATES
    seed: int | None = 1
    interval: Interval = "envelope"
    sample_kind: SampleKind = "rejection"
    tol: float = 1e-6
    workers: int | None = None

    def __post_init__(self) -> None:
        replicates = checks.check_count("replicates", self.replicates)
        object.__setattr__(self, "replicates", replicates)
        if replicates < 2:
            raise OptionError(
                "replicates=1 yields no standard errors; use 2 or more, usually 999."
            )
        checks.check_choice("interval", self.interval, INTERVALS)
        tol = checked_tol("tol", checks.check_positive("tol", self.tol))
        object.__setattr__(self, "tol", tol)
        checked_seed(self.seed, self.sample_kind)
        n_workers(self.workers)


CovType = Sandwich | Cluster | Bootstrap | None
CovName = Literal[
    "default",
    "nonrobust",
    "HC0",
    "HC1",
    "HC2",
    "HC3",
    "CR0",
    "CR1",
    "CR3",
    "cluster",
    "bootstrap",
    "sandwich",
    "none",
]

SANDWICH = Sandwich()
COV_TYPES: dict[str, CovType] = {
    **{name: Sandwich(correction=name) for name in CORRECTIONS},
    **{name: Cluster(correction=name) for name in OF_GROUPS[:3]},
    "cluster": Cluster(),
    "bootstrap": Bootstrap(),
    "sandwich": SANDWICH,
    "none": None,
}


def checked_cov_type(value: object) -> CovType | Literal["default"]:
    """Return the options of the covariance for a name or an object.

    Raises
    ------
    OptionError
        If `value` is neither.
    """
    if value is None or isinstance(value, Sandwich | Bootstrap):
        return value
    value = own_value("cov_type", value)
    if isinstance(value, str) and value == "default":
        return "default"
    if isinstance(value, str) and value in COV_TYPES:
        return COV_TYPES[value]
    if here := foreign_value("cov_type", value):
        raise OptionError(here, "cov_type", value)
    kind, column = next(iter(value.items() if isinstance(value, dict) else ()), ("", 0))
    if foreign_value("cov_type", kind):  # of pyfixest
        cure = f"pass cov_type='cluster' and groups=data[{column!r}]."
        raise OptionError(f"names groups of rows; {cure}", "cov_type", value)
    names = ["default", *COV_TYPES]
    raise OptionError(
        f"cov_type={shown(value)} is not known{did_you_mean(value, names)}; use one "
        f"of {listing(names, len(names))}; in Python also Sandwich(...), Cluster(...), "
        "Bootstrap()."
    )


def chosen_options(
    cov_type: object, problem: Problem, groups: Groups | None = None
) -> CovType:
    """Return the options of a covariance that the model allows.

    For the log loss and the squared hinge the default is HC3. With groups it is CR3, or
    CR1 for two groupings; with strata, the linearised covariance. With Firth's penalty
    it is the model-based covariance. For the hinge it is the bootstrap, which draws
    whole groups if there are groups; for files and Dask, no standard errors.

    Raises
    ------
    OptionError
        If `cov_type` is neither a name nor options, or the groups or the model do not
        allow it.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.zeros((200, 1)), np.tile([-1.0, 1.0], 100)
    >>> chosen_options("default", Problem(X, y, lam=0.1)).replicates
    999
    >>> chosen_options("default", Problem(X, y, lam=0.1, loss="log")).correction
    'HC3'
    """
    options = checked_cov_type(cov_type)
    if options == "default":
        options = default_options(problem, groups)
    if isinstance(options, Cluster) and options.correction == "default":
        options = replace(options, correction=group_correction(problem, groups))
    resampled, cluster = isinstance(options, Bootstrap), isinstance(options, Cluster)
    correction = getattr(options, "correction", "")
    named = isinstance(cov_type, str) and cov_type in CORRECTIONS
    nonrobust, of_rows = correction == "nonrobust", bool(correction) and not cluster
    two_kinds = groups is not None and len(groups.numbers) > 1
    strata = groups is not None and bool(groups.strata_number)
    linearised = correction == "linearised"
    firth, flic = problem.has_firth, problem.penalty == "flic"
    if firth and groups is not None:
        raise OptionError("does not allow groups=; omit it.", "penalty", "firth")
    for is_wrong, reason in (
        (
            flic and options is not None,
            "does not go with penalty='flic', which is for predictions; use 'firth'.",
        ),
        (
            firth and options is not None and not nonrobust,
            "does not go with penalty='firth'; use 'nonrobust' or leave it out.",
        ),
        (cluster and groups is None, "needs groups=, the group of each row."),
        (cluster and linearised and not strata, "needs strata=."),
        (
            cluster and strata and not linearised,
            "does not go with strata=; use cov_type='cluster'.",
        ),
        (resampled and strata, "does not go with strata=; use cov_type='cluster'."),
        (
            correction == "CR3" and (two_kinds or problem.loss == "hinge"),
            "is for a single grouping, and not for the hinge; use 'CR1'.",
        ),
        (
            groups and not cluster | resampled,
            "does not allow groups=; use cov_type='cluster'.",
        ),
        (resampled and two_kinds, "allows only one grouping; use 'cluster'."),
        (
            problem.loss == "hinge" and of_rows and (named or correction != "HC0"),
            "is for the log loss; for the hinge use 'bootstrap' or 'sandwich'.",
        ),
        (nonrobust and problem.loss != "log", "is for the log loss; use 'HC3'."),
        (
            nonrobust and problem.weights is not None,
            "does not go with weights=; use 'HC3', or counts as freq_weights=.",
        ),
        (
            resampled and problem.source.is_streamed,
            "needs the rows in memory; use 'sandwich', or 'HC3' with the log loss.",
        ),
    ):
        if is_wrong:
            raise OptionError(reason, "cov_type", cov_type)
    return options


def default_options(problem: Problem, groups: Groups | None = None) -> CovType:
    """Return the default covariance, which depends on the loss and on the size.

    The number of resamples is reduced, down to 199, if 999 would need more than about
    `DEFAULT_SECONDS`.
    """
    if problem.has_firth:
        return COV_TYPES["nonrobust"] if problem.penalty == "firth" else None
    if problem.loss != "hinge":
        return COV_TYPES["HC3"] if groups is None else COV_TYPES["cluster"]
    if problem.source.is_streamed:
        return None
    allowed = int(DEFAULT_SECONDS / seconds_of(problem, 1))
    allowed = (min(allowed, REPLICATES) + 1) // STEP * STEP - 1
    return Bootstrap(max(allowed, 199))


def group_correction(problem: Problem, groups: Groups | None) -> Correction:
    """Return the default correction of `Cluster`."""
    if groups is not None and groups.strata_number:
        return "linearised"
    one_way = groups is None or len(groups.numbers) == 1
    return "CR3" if one_way and problem.loss != "hinge" else "CR1"


def seconds_of(problem: Problem, replicates: int) -> float:
    """Estimate the seconds for all resamples from the size of the problem."""
    X = problem.X
    sparse = problem.has_rows and is_sparse(X)
    size = max(1.0, float(X.nnz if sparse else problem.n * problem.p))
    return SECONDS * size * replicates * max(1.0, problem.p / 25.0)


def goes_with_groups(cov_type: object) -> bool:
    """Whether a covariance allows groups of rows.

    Examples
    --------
    >>> goes_with_groups("bootstrap"), goes_with_groups("HC3")
    (True, False)
    """
    if isinstance(cov_type, str):
        options = COV_TYPES.get(cov_type)
        return cov_type == "default" or isinstance(options, Cluster | Bootstrap)
    return isinstance(cov_type, Cluster | Bootstrap)
