"""The pairs bootstrap of a linear fit, on R's random numbers."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import DataError, UndefinedMetricWarning, counted
from pegasos_stats.inference.resampling import INTERVALS, Bootstrap, Interval
from pegasos_stats.inference.wald import check_level
from pegasos_stats.options import check_choice
from pegasos_stats.parallel import map_in_order
from pegasos_stats.problem import Problem, Solution
from pegasos_stats.rng import RRandom
from pegasos_stats.running import with_progress
from pegasos_stats.sdca import SDCA
from pegasos_stats.sdca_running import run_sdca

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]

TOGETHER = 2**20  # rows drawn for one task, about
FALLBACK_EPOCHS = 2000


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Coefficients of the resamples, ``k`` of them, the intercept first.

    Attributes
    ----------
    estimate : float64 array, shape (k,)
        Those of the fit itself.
    estimates : float64 array, shape (m, k)
        Those of the resamples in which both levels occurred.
    covariance : float64 array, shape (k, k)
        Sample covariance of `estimates`, with the divisor ``m - 1``.
    seed : int
    n_left_out : int
        Resamples of one level alone.
    relative_gap : float
        The largest of all resamples.
    options : Bootstrap
    """

    estimate: Vector
    estimates: Matrix
    covariance: Matrix
    seed: int
    n_left_out: int
    relative_gap: float
    options: Bootstrap

    @property
    def std_error(self) -> Vector:
        """Standard deviations of the replicates, shape (k,)."""
        return np.sqrt(np.diag(self.covariance))

    def conf_int(self, level: float = 0.95, interval: Interval | None = None) -> Matrix:
        """Intervals, shape (k, 2); see `Bootstrap` for the kinds.

        Raises
        ------
        OptionError
            If the level is not between 0 and 1, or the kind not known.
        """
        check_level(level)
        kind = self.options.interval if interval is None else interval
        check_choice("interval", kind, INTERVALS)
        shares = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        if kind == "normal":
            from scipy.stats import norm

            reach = np.outer(self.std_error, norm.ppf(shares))
            found: Matrix = self.estimate[:, None] + reach
            return found
        ends = np.quantile(self.estimates, shares, axis=0).T
        if kind == "basic":
            ends = 2.0 * self.estimate[:, None] - ends[:, ::-1]
        return ends


def bootstrap(
    problem: Problem,
    solution: Solution,
    options: Bootstrap,
    progress: bool = False,
) -> BootstrapResult:
    """Draw rows with replacement, fit again, and again.

    Every resample is fitted to a relative duality gap of ``options.tol``, from the fit
    that is given. A resample with one level alone, which has no optimum, is left out;
    its draws are used up.

    Parameters
    ----------
    problem : Problem
    solution : Solution
    options : Bootstrap
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    BootstrapResult

    Raises
    ------
    DataError
        If fewer than two resamples have both levels.

    Warns
    -----
    UndefinedMetricWarning
        If resamples were left out.
    """
    rng = RRandom(options.seed, sample_kind=options.sample_kind)
    refit = Refit(problem, solution, options.tol)
    tasks = resampled_rows(problem.n, options.replicates, rng)
    found: Any = map_in_order(refit, tasks, options.workers)
    if progress:
        total = -(-options.replicates // in_a_task(problem.n, options.replicates))
        found = with_progress(found, total, "task")
    parts = list(found)
    estimates = np.concatenate([part[0] for part in parts])
    gaps = np.concatenate([part[1] for part in parts])
    kept = ~np.isnan(gaps)
    check_left_out(int((~kept).sum()), options.replicates)
    first = 0 if problem.intercept else 1
    estimates = np.ascontiguousarray(estimates[kept, first:])
    whole = np.concatenate([[solution.alpha], solution.beta])
    return BootstrapResult(
        estimate=whole[first:],
        estimates=estimates,
        covariance=np.atleast_2d(np.cov(estimates, rowvar=False)),
        seed=int(rng.seed or 0),
        n_left_out=int((~kept).sum()),
        relative_gap=float(gaps[kept].max()),
        options=options,
    )


def in_a_task(n: int, replicates: int) -> int:
    """Resamples that are fitted in one call: few where they are long."""
    return max(1, min(TOGETHER // n, replicates // 64, 32))


def resampled_rows(n: int, replicates: int, rng: RRandom) -> Iterator[Rows]:
    """Rows of the resamples, counted from zero; arrays of shape (b, n)."""
    size = in_a_task(n, replicates)
    for first in range(0, replicates, size):
        count = min(size, replicates - first)
        drawn = [rng.sample_int(n, n, replace=True) for _ in range(count)]
        yield np.array(drawn, dtype=np.int64) - 1


class Refit:
    """Fits resamples of a problem, from its solution; threads may share it."""

    def __init__(self, problem: Problem, solution: Solution, tol: float) -> None:
        from pegasos_stats.kernels.lanes import padded
        from pegasos_stats.kernels.refits import Origin

        self._problem, self._tol = problem, tol
        w = np.zeros(padded(problem.p))
        w[: problem.p] = solution.beta
        weights = problem.row_weights
        dual = np.clip(solution.dual, 0.0, weights)
        width = problem.radius**2 / (problem.lam * problem.n)
        self._origin = Origin(w, float(solution.alpha), dual, weights, width)
        self._scratch = local()

    def __call__(self, rows: Rows) -> tuple[Matrix, Vector]:
        """Coefficients ``alpha, beta`` of each resample, and its relative gap."""
        from pegasos_stats.kernels.refits import refit_resamples

        problem = self._problem
        estimates, gaps = np.zeros((len(rows), problem.p + 1)), np.zeros(len(rows))
        given: Any = problem.rows, problem.lam, problem.intercept, self._tol
        found: Any = rows, self._origin, estimates, gaps
        refit_resamples(*given, *found, self._room())
        for b in np.flatnonzero(gaps > self._tol):
            estimates[b], gaps[b] = self._by_sdca(rows[b])
        return estimates, gaps

    def _room(self) -> Any:
        """Scratch of this thread."""
        from pegasos_stats.kernels.refits import room

        if not hasattr(self._scratch, "room"):
            problem = self._problem
            made = room(problem.y, int(problem.loss_code), problem.p)
            self._scratch.room = made
        return self._scratch.room

    def _by_sdca(self, rows: Rows) -> tuple[Vector, float]:
        """Fit one resample by SDCA, where the steps did not get there."""
        from pegasos_stats.objective import certificate

        problem = self._problem
        weights = np.bincount(rows, minlength=problem.n) * problem.row_weights
        weights /= weights.mean()
        resample = replace(problem, weights=weights)
        solver = SDCA(FALLBACK_EPOCHS, tol=self._tol, seed=0)
        found = run_sdca(resample, solver)
        at = certificate(resample, found.beta, found.alpha, found.dual)
        return np.concatenate([[found.alpha], found.beta]), at.relative_gap


def check_left_out(n_left_out: int, replicates: int) -> None:
    """Warn of resamples without both levels; raise `DataError` if too few are left."""
    if replicates - n_left_out < 2:
        raise DataError(
            f"{counted(n_left_out, 'resample')} of {replicates:,} hold one level "
            "alone, and fewer than two are left; take data with more rows of the rare "
            "level."
        )
    if n_left_out:
        warnings.warn(
            f"{counted(n_left_out, 'resample')} of {replicates:,} hold one level alone "
            "and are left out; the rare level has few rows.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
