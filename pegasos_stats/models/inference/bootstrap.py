"""The pairs bootstrap of a linear fit, on R's random numbers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from threading import local
from typing import Any

import numpy as np

from pegasos_stats.arrays import Matrix, Rows, Vector
from pegasos_stats.checks import check_choice, check_fraction
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.data.weights import mean_one
from pegasos_stats.errors import ConvergenceWarning, DataError, counted, warn_caller
from pegasos_stats.models.inference.options import INTERVALS, Bootstrap, Interval
from pegasos_stats.models.notes import Note
from pegasos_stats.parallel import map_in_order
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.centring import centred, far_centre, moved
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.refining import run_linear
from pegasos_stats.solvers.sdca import SDCA

TOGETHER = 2**20  # rows drawn for one task, at most, unless a resample has more
SHARES, FEWEST, MOST = 64, 8, 32  # tasks; resamples in one, if that is not too long
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
        Resamples without an optimum: of one level alone, with an intercept.
    n_not_converged : int
        Resamples in `estimates` whose relative gap is above ``options.tol``.
    relative_gap : float
        The largest of all resamples.
    distance : float
        Largest ``sqrt(2 gap / lam)``: no ``beta`` of a resample is farther from its
        optimum. It is to be small against `std_error`.
    options : Bootstrap
    notes : tuple of Note
        How many resamples were left out.
    """

    estimate: Vector
    estimates: Matrix
    covariance: Matrix
    seed: int
    n_left_out: int
    n_not_converged: int
    relative_gap: float
    distance: float
    options: Bootstrap
    notes: tuple[Note, ...] = ()

    @property
    def matrix(self) -> Matrix:
        """The same as `covariance`, under the name that the sandwich gives it."""
        return self.covariance

    @property
    def std_error(self) -> Vector:
        """Standard deviations of the replicates, shape (k,)."""
        return np.sqrt(np.clip(np.diag(self.covariance), 0.0, None))

    @property
    def df(self) -> float:
        """Degrees of freedom of tests: infinite, as for the normal law."""
        return float("inf")

    @property
    def description(self) -> str:
        """The estimate in words."""
        return (
            f"pairs bootstrap, {counted(len(self.estimates), 'replicate')}, seed "
            f"{self.seed}; intervals: {self.options.interval}; tests by the normal law"
        )

    def combined(self, R: Matrix) -> "BootstrapResult":
        """The bootstrap of the linear combinations ``R theta``."""
        return replace(
            self,
            estimate=R @ self.estimate,
            estimates=self.estimates @ R.T,
            covariance=R @ self.covariance @ R.T,
        )

    def conf_int(self, level: float = 0.95, interval: Interval | None = None) -> Matrix:
        """Intervals, shape (k, 2); see `Bootstrap` for the kinds.

        Raises
        ------
        OptionError
            If the level is not between 0 and 1, or the kind not known.
        """
        level = check_fraction("level", level)
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

    Replicate ``b`` minimises ``lam/2 ||beta||^2 + mean w_i loss(y_i (x_i'beta +
    alpha))`` over the rows of the ``b``-th resample, to a relative duality gap of
    ``options.tol``. Weights of rows are drawn with them and scaled to mean 1 again.
    A resample with one level alone has no optimum with an intercept: it is left out,
    and no other is drawn for it.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        Its coefficients are the centre of intervals; refits begin there.
    options : Bootstrap
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    BootstrapResult
        With a note if resamples were left out.

    Raises
    ------
    DataError
        If fewer than two resamples are left.

    Warns
    -----
    ConvergenceWarning
        If resamples did not reach the tolerance.

    Notes
    -----
    Each thread holds a copy of the rows of one resample. The estimates do not depend
    on the number of threads, and the first ones not on the number of replicates.

    References
    ----------
    Efron, *Bootstrap methods: another look at the jackknife*, Annals of Statistics 7
    (1979).

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    >>> problem = Problem(X, y, lam=0.1, intercept=False)
    >>> fit = run_linear(problem, SDCA(tol=1e-9, seed=1))
    >>> found = bootstrap(problem, fit, Bootstrap(replicates=500, seed=443))
    >>> found.estimates[:3].round(3)
    array([[0.333],
           [0.333],
           [1.   ]])
    """
    rng = RRandom(options.seed, sample_kind=options.sample_kind)
    centre = far_centre(problem)
    refit = (
        Refit(problem, solution, options.tol)
        if centre is None
        else Refit(centred(problem, centre), moved(solution, -centre), options.tol)
    )
    tasks = resampled_rows(problem.n, options.replicates, rng)
    parts = map_in_order(refit, tasks, options.workers)
    estimates, found = collected(parts, options.replicates, progress)
    if centre is not None:
        estimates[:, 0] -= estimates[:, 1:] @ centre
    return summarised(problem, solution, options, int(rng.seed or 0), estimates, found)


def collected(
    parts: Iterable[tuple[Matrix, Matrix]], replicates: int, progress: bool
) -> tuple[Matrix, Matrix]:
    """Coefficients of all resamples; their gaps, distances and status: a row each."""
    each: Any = (pair for part in parts for pair in zip(*part, strict=True))
    if progress:
        each = with_progress(each, replicates, "resample")
    estimates, found = zip(*each, strict=True)
    return np.array(estimates), np.array(found)


def summarised(
    problem: Problem,
    solution: Solution,
    options: Bootstrap,
    seed: int,
    estimates: Matrix,
    found: Matrix,
) -> BootstrapResult:
    """Put the result together; warn of resamples that are not at their optimum."""
    kept = found[:, dual.refits.STATUS] != dual.refits.NO_OPTIMUM
    n_left_out = int((~kept).sum())
    notes = left_out(n_left_out, options.replicates)
    gaps = found[kept, dual.refits.GAP]
    warn_of_gaps(gaps, options)
    first = 0 if problem.intercept else 1
    estimates = np.ascontiguousarray(estimates[kept, first:])
    return BootstrapResult(
        estimate=np.concatenate([[solution.alpha], solution.beta])[first:],
        estimates=estimates,
        covariance=np.atleast_2d(np.cov(estimates, rowvar=False)),
        seed=seed,
        n_left_out=n_left_out,
        n_not_converged=int((gaps > options.tol).sum()),
        relative_gap=float(gaps.max()),
        distance=float(found[kept, dual.refits.DISTANCE].max()),
        options=options,
        notes=notes,
    )


def in_a_task(n: int, replicates: int) -> int:
    """Number of resamples that one call fits: fewer if they have many rows."""
    return max(1, min(TOGETHER // n, max(FEWEST, replicates // SHARES), MOST))


def resampled_rows(n: int, replicates: int, rng: RRandom) -> Iterator[Rows]:
    """Rows of the resamples, counted from zero; arrays of shape (b, n).

    R draws the rows of several resamples one after the other as it draws them at once.
    """
    size = in_a_task(n, replicates)
    for first in range(0, replicates, size):
        count = min(size, replicates - first)
        yield rng.sample_int(n, n * count, replace=True).reshape(count, n) - 1


class Refit:
    """Fits resamples, beginning at the solution of the problem; for many threads."""

    def __init__(self, problem: Problem, solution: Solution, tol: float) -> None:
        self._problem, self._tol = problem, tol
        w, norm2 = np.zeros(arithmetic.lanes.padded(problem.p)), np.zeros(problem.n)
        w[: problem.p] = solution.beta
        dual.sdca.put_norms(problem.rows, norm2)
        weights = problem.row_weights
        a = np.clip(solution.dual, 0.0, weights)
        width = float(norm2.mean()) / (problem.lam * problem.n)
        alpha = float(solution.alpha)
        self._origin = dual.refits.Origin(problem.y, w, alpha, a, weights, width)
        self._scratch = local()

    def __call__(self, rows: Rows) -> tuple[Matrix, Matrix]:
        """Fit resamples: ``alpha, beta`` of each, its gap, distance and status."""
        problem = self._problem
        estimates, found = (
            np.zeros((len(rows), problem.p + 1)),
            np.zeros((len(rows), 3)),
        )
        given: Any = problem.rows, problem.lam, problem.intercept, self._tol
        given = *given, rows, self._origin, estimates, found, self._room()
        dual.refits.refit_resamples(*given)
        for b in np.flatnonzero(~(found[:, dual.refits.GAP] <= self._tol)):
            self._by_sdca(rows[b], estimates[b], found[b])
        return estimates, found

    def _room(self) -> Any:
        """Working arrays of this thread."""
        if not hasattr(self._scratch, "room"):
            problem = self._problem
            given = problem.rows, problem.n, problem.p, int(problem.loss_code)
            self._scratch.room = dual.refits.room(*given)
        return self._scratch.room

    def _by_sdca(self, rows: Rows, estimate: Vector, found: Vector) -> None:
        """Fit one resample by SDCA, where the steps did not get there."""
        problem = self._problem
        weights = np.bincount(rows, minlength=problem.n) * problem.row_weights
        resample = replace(problem, weights=mean_one(weights))
        solver = SDCA(FALLBACK_EPOCHS, tol=self._tol, seed=0)
        solution = run_linear(resample, solver, warn=False)
        at = certificate(resample, solution.beta, solution.alpha, solution.dual)
        found[dual.refits.GAP] = at.relative_gap
        found[dual.refits.DISTANCE] = np.sqrt(2.0 * max(0.0, at.gap) / problem.lam)
        estimate[0], estimate[1:] = solution.alpha, solution.beta


def left_out(n_left_out: int, replicates: int) -> tuple[Note, ...]:
    """Note resamples without an optimum; raise `DataError` if too few are left."""
    said = f"{counted(n_left_out, 'resample')} of {replicates:,}"
    if replicates - n_left_out < 2:
        raise DataError(
            f"{said} hold one level alone, and fewer than two are left; take data with "
            "more rows of the rare level, or more replicates."
        )
    if not n_left_out:
        return ()
    text = (
        f"{said} hold one level alone, where no intercept is the best: they are left "
        "out; the rare level has few rows."
    )
    return (Note("standard errors", "note", text),)


def warn_of_gaps(gaps: Vector, options: Bootstrap) -> None:
    """Warn of resamples whose gap is above the tolerance."""
    beyond = int((gaps > options.tol).sum())
    if beyond:
        warn_caller(
            f"{counted(beyond, 'resample')} of {options.replicates:,} have not reached "
            f"tol={options.tol:g}: the largest relative gap is {gaps.max():.2g}; bring "
            "the predictors to a common scale, or give a larger lam or tolerance.",
            ConvergenceWarning,
        )
