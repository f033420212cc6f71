"""Options of standard errors from resamples: `Bootstrap`."""

from dataclasses import dataclass
from typing import Literal

from pegasos_stats import checks
from pegasos_stats.errors import OptionError
from pegasos_stats.parallel import n_workers
from pegasos_stats.rng import SampleKind, checked_seed

Interval = Literal["percentile", "normal", "basic", "symmetric"]
INTERVALS: tuple[Interval, ...] = ("percentile", "normal", "basic", "symmetric")


@dataclass(frozen=True)
class Bootstrap:
    """Options of the pairs bootstrap: rows are drawn with replacement and fitted again.

    Replicate ``b`` has the rows that R draws, after one ``set.seed(seed)``, by the
    ``b``-th ``sample(n, n, replace = TRUE)``; ``lam`` stays as it is. With
    ``fit(groups=...)`` whole groups are drawn, each with all its rows, by ``sample(M,
    M, replace = TRUE)`` from the ``M`` groups in order of first appearance. Rows of
    weight 0 are not drawn, and not counted in ``n``.

    Parameters
    ----------
    replicates : int, default 1000
    seed : int, default 1
        As for R's ``set.seed()``; None draws one.
    interval : "normal", "percentile", "basic" or "symmetric", default "normal"
        ``"normal"``: the estimate, plus and minus a normal quantile times the standard
        deviation of the replicates. ``"percentile"``: quantiles of the replicates, R's
        type 7. ``"basic"``: these quantiles reflected about the estimate, ``2 estimate
        - quantile``. ``"symmetric"``: see below.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``.
    tol : float, default 1e-10
        Relative duality gap of each replicate. By ``||beta - optimum||^2 <= 2 gap /
        lam`` it keeps the error of the refits far below their standard deviation,
        unless `lam` is tiny; `BootstrapResult.distance` is that bound.
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
    Symmetric intervals are the estimate, plus and minus ``c`` times the larger of its
    distances to the ``k``-th smallest and largest of ``m`` replicates, with ``k =
    floor((m + 1) (1 - level) / 2)``. ``c = 1 + min(1, a / 0.002) / 4`` where a share
    ``a`` of the pairs of replicates of the hinge are the same in all coefficients.
    Levels above ``1 - 2 / (m + 1)`` have no such interval. P-values are from the
    replicates as well, ``2 (1 + j) / (1 + m)``: ``j`` of them, on the side where there
    are more, have a distance from the estimate that is, times ``c``, at least that of
    the hypothesis. What may be the solver's, 1e-5 in scores, is taken from the latter
    and added to intervals.

    The coefficient of a standardized predictor is in proportion to its standard
    deviation. Where long tails make that rough (a kurtosis above 6 and above ``1 + n /
    100``), and all replicates have the sign of the estimate, distances are those of
    logarithms, ``log(replicate / estimate)``, and the interval is the estimate times
    and divided by a number. On the original scale distances are plain.

    For several hypotheses ``R theta = q`` p-values are ``(1 + j) / (1 + m)`` times ``1
    + min(1, a / 0.002)``. Of ``j`` replicates the statistic ``d'(R M R')^-1 d`` with
    ``d = R (replicate - estimate)`` is at least that of ``d = R estimate - q``. ``M =
    0.8 V + 0.2 s S``, where ``V`` is the covariance of the replicates, ``S = (sum_i w_i
    z_i z_i' / n)^-1`` with ``z_i = (1, x_i)`` and the weights ``w_i`` of the rows, and
    ``s`` the mean variance of ``V`` measured by ``S``, ``tr(S^-1 V) / k``. Where
    predictors of the hinge hardly tell the levels apart, ``M = s S``, statistics of the
    replicates count 1.25 times, and p-values once; where few rows and a strong penalty
    bring coefficients of samples nearer to 0, ``M = (V + s S) / 2``.

    In simulations with 500 rows (``benchmarks/interval_coverage.py --bootstrap 200``)
    normal intervals of nominal 95% covered 93% to 97%, percentile intervals 91% to 96%
    with the log loss, whose small-sample bias they double, and basic ones 92% to 95%
    with the hinge. With 2,000 rows normal intervals covered 94% to 96%, percentile
    intervals 93% to 96% and basic ones 92% to 95%.

    Predictors with few values let whole groups of rows tie at the margin of the hinge,
    and estimates jump from one tie to another. Symmetric intervals covered 96% to 99%
    there, in the mean over the coefficients of a population (``benchmarks/zoo.py``),
    where normal ones fell short. They contain the percentile intervals, which respect
    any monotone transformation of the estimate.

    References
    ----------
    Davison & Hinkley, *Bootstrap Methods and their Application* (1997), sections 5.2,
    5.3 and 6.2.
    Fang & Santos, *Inference on directionally differentiable functions*, Review of
    Economic Studies 86 (2019).

    Examples
    --------
    >>> Bootstrap(replicates=200, seed=1).interval
    'normal'
    """

    replicates: int = 1000
    seed: int | None = 1
    interval: Interval = "normal"
    sample_kind: SampleKind = "rejection"
    tol: float = 1e-10
    workers: int | None = None

    def __post_init__(self) -> None:
        replicates = checks.check_count("replicates", self.replicates)
        object.__setattr__(self, "replicates", replicates)
        if self.replicates < 2:
            raise OptionError(
                "replicates=1 has no spread; give 2 or more, usually 1000."
            )
        checks.check_choice("interval", self.interval, INTERVALS)
        object.__setattr__(self, "tol", checks.check_positive("tol", self.tol))
        if self.tol >= 1.0:
            raise OptionError(
                f"tol={self.tol!r} is not allowed: every fit is within it; give a "
                "relative gap below 1."
            )
        checked_seed(self.seed, self.sample_kind)
        n_workers(self.workers)
