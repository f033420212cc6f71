"""Options of standard errors, and their names: `Sandwich` and `Cluster`."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pegasos_stats import checks
from pegasos_stats.errors import OptionError, did_you_mean, listing, shown
from pegasos_stats.models.inference.bootstrap_options import Bootstrap

Bandwidth = Literal["silverman", "hall-sheather", "bofinger"]
Correction = Literal["HC0", "HC1", "HC2", "HC3", "jackknife", "shrunk", "nonrobust"]

BANDWIDTHS: tuple[Bandwidth, ...] = ("silverman", "hall-sheather", "bofinger")
FOR_FEW_ROWS: tuple[Correction, ...] = ("jackknife", "shrunk")
OF_LEVERAGES: tuple[Correction, ...] = ("HC2", "HC3", *FOR_FEW_ROWS)
CORRECTIONS: tuple[Correction, ...] = ("HC0", "HC1", *OF_LEVERAGES, "nonrobust")
CLUSTER_CORRECTIONS: tuple[Correction, ...] = ("HC0", "HC1")


@dataclass(frozen=True)
class Sandwich:
    """Options of the sandwich covariance ``(1/n) H^-1 G H^-1``.

    ``H`` is the curvature of the risk at the optimum and ``G`` the covariance of the
    scores of the rows. For the log loss both are plain means. The hinge has its
    curvature where rows lie at the margin, ``u_i = 1 - y_i f(x_i) = 0``, so ``H`` needs
    the density of the rows there: with the Gaussian kernel ``k_h`` ::

        H = (1/n) sum_i k_h(u_i) z~_i z~_i' + lam J,    z~_i = z_i - u_i c_{y_i}

    where ``c_y`` is the slope of the regression of ``z = (1, x)`` on ``u`` in class
    ``y``: each row is moved to the margin along the regression line of its class.

    Parameters
    ----------
    bandwidth : str or float, default "silverman"
        Hinge only: rule for ``h``, or ``h`` itself. ``"silverman"`` is
        ``1.06 min(sd, IQR / 1.34) n^(-1/5)`` of the ``u_i``; ``"hall-sheather"`` and
        ``"bofinger"`` are the rules of quantile regression, at the share of rows
        beyond the margin.
    factor : float, default 1.0
        Multiplier of ``h``.
    move : bool, default True
        Hinge only. ``False`` does not move the rows, ``z~_i = z_i``; the standard
        errors of the largest effects are then too small.
    correction : "HC0", "HC1", "HC2", "HC3", "jackknife", "shrunk" or "nonrobust"
        ``"HC0"`` is the formula. ``"HC1"`` multiplies it by ``n / (n - d)``, with the
        effective number of coefficients ``d = tr(H^-1 (H - lam J))``; ``"HC2"`` divides
        every score by ``sqrt(1 - h_i)``, ``h_i`` the leverage of its row, and ``"HC3"``
        by ``1 - h_i``, as the jackknife does. The names are those used for linear
        models. ``"jackknife"``, for the log loss, has the standard errors of ``"HC3"``,
        and its intervals and tests allow for the bias of the estimates, which are too
        far from 0 with few rows per coefficient. For an estimate that is normal with
        mean ``theta + b`` the interval is ``estimate +- c``, where ``P(|b + se T| <=
        c)`` is the confidence level. ``T`` has Student's t distribution, with as many
        degrees of freedom as there are normal scores whose covariance would be as rough
        as that of these; where one level is rare, about the number of its rows.
        ``"shrunk"``, for the log loss, allows for bias too. Its ``G`` is that of
        ``"HC2"``, drawn towards ``c M``: ``M`` is ``G`` if labels are as probable as
        the fit has them, and ``c`` makes both as large on average. It is drawn by the
        share ``a = b^2 / d^2``, at most 1, of the noise ``b^2`` in the distance ``d^2``
        of the two (Ledoit and Wolf's rule): all the way where the rows cannot tell them
        apart, and ever less with more rows, if the model does not hold. Standard errors
        are not below those of ``"HC2"``. Degrees of freedom are those of ``G``, divided
        by ``(1 - a)^2``. The default is ``"HC0"``; where the rarer level has fewer than
        20 rows per coefficient, it is ``"HC3"`` for the hinge and ``"shrunk"`` for the
        log loss, ``"jackknife"`` if there are no more rows than coefficients; with more
        rows, where predictors have long tails, a kurtosis above 6 and above ``1 + n /
        100``, it is ``"HC3"`` for both. Joint tests of the hinge are Hotelling's, with
        a kernel of half the width, or the whole where predictors have long tails. For
        the log loss with ``"HC3"``, ``"jackknife"`` or ``"shrunk"``, joint tests are
        Hotelling's, by F, the latter two with the degrees of freedom of the intervals;
        where these are infinite, Wald's, by chi-squared.
        ``"nonrobust"``, for the log loss without weights, is model-based: ``G`` is the
        information ``H - lam J``, so that for ``lam -> 0`` the covariance is ``H^-1 /
        n``, as in any logistic regression.

    Raises
    ------
    OptionError
        If an option is not allowed.

    Notes
    -----
    Intervals of nominal 95% covered 93% to 97% in simulations with 500 and 2,000 rows,
    classes 50/50 and 20/80 (``benchmarks/interval_coverage.py``); the lowest coverage
    is that of the log loss with 500 rows and classes 20/80 (92.8% to 95%). With few
    rows coverage falls: in the mean over the coefficients 10 rows for each give 93% to
    95% (single large effects 89%, ``benchmarks/zoo.py``), 5 give 89% to 94%, 1 or 2
    less than 91%, down to 0% (``benchmarks/few_rows.py``). For the hinge the formula
    fails where predictors hardly tell the levels apart: if they say nothing, the best
    ``beta`` is 0, the margin has no rows, and tests reject in 20% to 90% of samples
    (``benchmarks/zoo.py``, ``no_effects``), also with equal classes and
    ``weights="balanced"``. The default resamples there. Where predictors have few
    different values, ``Bootstrap(interval="symmetric")``, the default, covers in nearly
    all populations that were tried (see *Do intervals cover?* in the documentation).
    Where rows are few for a strong penalty, coefficients of samples are nearer to 0
    than those of the population: it covers more there, 83% to 94% for large effects.

    References
    ----------
    Koo, Lee, Kim & Park, *A Bahadur representation of the linear support vector
    machine*, JMLR 9 (2008), theorem 1.
    Powell, *Estimation of monotonic regression models under quantile restrictions*, in
    Nonparametric and semiparametric methods in econometrics and statistics (1991), for
    the kernel.
    Li, *Sliced inverse regression for dimension reduction*, JASA 86 (1991), condition
    3.1, for the regression lines, which are exact for elliptical classes.
    MacKinnon & White, *Some heteroskedasticity-consistent covariance matrix estimators
    with improved finite sample properties*, Journal of Econometrics 29 (1985).
    Armstrong & Kolesar, *Optimal inference in a class of regression models*,
    Econometrica 86 (2018), for intervals of biased estimates.
    Satterthwaite, *An approximate distribution of estimates of variance components*,
    Biometrics 2 (1946), for the degrees of freedom.
    Angrist & Pischke, *Mostly harmless econometrics* (2009), section 8.1, for the
    larger of two standard errors.
    Ledoit & Wolf, *A well-conditioned estimator for large-dimensional covariance
    matrices*, Journal of Multivariate Analysis 88 (2004), for the share.

    Examples
    --------
    >>> Sandwich(correction="HC3").bandwidth
    'silverman'
    """

    bandwidth: Bandwidth | float = "silverman"
    factor: float = 1.0
    move: bool = True
    correction: Correction = "HC0"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", checked_bandwidth(self.bandwidth))
        object.__setattr__(self, "factor", checks.check_positive("factor", self.factor))
        checks.check_flag("move", self.move)
        checks.check_choice("correction", self.correction, CORRECTIONS)


@dataclass(frozen=True)
class Cluster(Sandwich):
    """Options of the sandwich covariance of rows that come in groups.

    Groups are taken as independent of each other; rows of one group may depend on each
    other. The scores of a group are summed before they are squared::

        G = (1/n) c sum_g S_g S_g',    S_g = sum of the centred scores of group g
        c = M / (M - 1) for M groups

    For two ways of grouping, ``a`` and ``b``, it is ``G_a + G_b - G_ab``, each with the
    factor ``c`` of its own groups; the groups of ``ab`` are the pairs that occur in the
    data. A difference may have variances below zero, mostly where there are few groups.
    Then, and only then, its eigenvalues below zero are taken as 0, which makes other
    standard errors larger too, and a note says so: NaN would leave coefficients without
    a test.

    Parameters
    ----------
    bandwidth, factor, move
        As for `Sandwich`.
    correction : "HC1" or "HC0", default "HC1"
        ``"HC1"`` multiplies by ``(n - 1) / (n - d)``, with ``d`` as for `Sandwich`;
        ``"HC0"`` does not.
    use_t : bool, default True
        Whether tests and intervals use Student's t and F with ``M - 1`` degrees of
        freedom (the smaller ``M``, if there are two groupings) instead of the normal
        and the chi-squared distribution.

    Raises
    ------
    OptionError
        If an option is not allowed.

    Notes
    -----
    For the log loss and ``lam -> 0`` the standard errors are those of
    ``sandwich::vcovCL(type = "HC1")`` and of statsmodels, which use the normal
    distribution for a logistic regression, as ``use_t=False`` does. So they are in two
    ways, where both have a factor for each way, ``cadjust = TRUE, multi0 = FALSE``, and
    not that of the smaller number of groups for all. Where they give NaN for a variance
    below zero, all numbers here are those of ``vcovCL(fix = TRUE)``. In simulations
    with 30 and 100 groups of 4 to 16 rows intervals by t covered 92% to 96%, normal
    ones 91% to 96%, and intervals that take rows as independent 78% to 93%
    (``benchmarks/cluster_coverage.py``). Standard errors are rough with fewer than 10
    groups.

    References
    ----------
    Liang & Zeger, *Longitudinal data analysis using generalized linear models*,
    Biometrika 73 (1986).
    Cameron, Gelbach & Miller, *Robust inference with multiway clustering*, Journal of
    Business & Economic Statistics 29 (2011), for two ways.
    Cameron & Miller, *A practitioner's guide to cluster-robust inference*, Journal of
    Human Resources 50 (2015), section VI, for the factors and the t distribution.

    Examples
    --------
    >>> import pandas as pd, pegasos_stats as ps
    >>> school = pd.Series([1, 1, 2, 2, 3, 3, 4, 4, 5, 5], name="school")
    >>> x = pd.DataFrame({"x": [1.0, 2, 1, 3, 2, 5, 4, 4, 3, 6]})
    >>> model = ps.Logit(list("aabababbab"), x, lam=0.01)
    >>> normal = ps.Cluster(use_t=False)
    >>> result = model.fit(ps.SDCA(seed=1), cov_type=normal, groups=school)
    >>> str(result.groups)
    '5 groups of school'
    """

    correction: Correction = "HC1"
    use_t: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.check_flag("use_t", self.use_t)
        checks.check_choice("correction", self.correction, CLUSTER_CORRECTIONS)


def checked_bandwidth(value: object) -> Bandwidth | float:
    """Return a rule or a width, or raise `OptionError`.

    Examples
    --------
    >>> checked_bandwidth("silverman"), checked_bandwidth(1)
    ('silverman', 1.0)
    """
    for rule in BANDWIDTHS:
        if isinstance(value, str) and value == rule:
            return rule
    width = checks.number_of(value)
    if not 0.0 < width <= np.finfo(np.float64).max:
        raise OptionError(
            f"bandwidth={shown(value)} is not allowed; give one of "
            f"{listing(BANDWIDTHS)}, or the width itself, a finite number above zero."
        )
    return width


CovType = Sandwich | Bootstrap | None
CovName = Literal[
    "default",
    "sandwich",
    "HC0",
    "HC1",
    "HC2",
    "HC3",
    "jackknife",
    "shrunk",
    "nonrobust",
    "cluster",
    "bootstrap",
    "none",
]

SANDWICH = Sandwich()
COV_TYPES: dict[str, CovType] = {
    "sandwich": SANDWICH,
    **{name: Sandwich(correction=name) for name in CORRECTIONS},
    "cluster": Cluster(),
    "bootstrap": Bootstrap(),
    "none": None,
}


def checked_cov_type(value: object) -> CovType:
    """Return the options of the covariance that a name or an object stands for.

    Raises
    ------
    OptionError
        If it is neither.

    Examples
    --------
    >>> checked_cov_type("sandwich") == Sandwich()
    True
    """
    if value is None or isinstance(value, Sandwich | Bootstrap):
        return value
    if isinstance(value, str) and value in COV_TYPES:
        return COV_TYPES[value]
    names = ["default", *COV_TYPES]
    raise OptionError(
        f"cov_type={shown(value)} is not known{did_you_mean(value, names)}; give one "
        f"of {listing(names, len(names))}, or "
        "Sandwich(...), Cluster(...) or Bootstrap(...) with options."
    )


def goes_with_groups(cov_type: object) -> bool:
    """Whether a covariance can be of groups of rows.

    Examples
    --------
    >>> goes_with_groups("bootstrap"), goes_with_groups("HC3")
    (True, False)
    """
    if isinstance(cov_type, str):
        return cov_type in ("default", "cluster", "bootstrap")
    return isinstance(cov_type, Cluster | Bootstrap)
