"""The pairs bootstrap of a linear fit, with R's random numbers."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Predictors, Rows, Vector, dense_rows
from pegasos_stats.data.design import Scaling
from pegasos_stats.data.sample import Groups
from pegasos_stats.errors import ConvergenceWarning, DataError, counted, warn_caller
from pegasos_stats.models.inference.options import MOST_SECONDS, Bootstrap
from pegasos_stats.models.inference.sandwich import cross
from pegasos_stats.models.inference.wald import BootstrapResult, whitening
from pegasos_stats.models.notes import Note
from pegasos_stats.parallel import map_in_order, n_workers, one_thread
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.certificate import certificate
from pegasos_stats.solvers.intercept import (
    best_intercept,
    centre_for_errors,
    centred,
    shifted_solution,
)
from pegasos_stats.solvers.maximum_likelihood import (
    LikelihoodRefits,
    estimable_columns,
    refit,
)
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.resamples import HingeResamples, Resamples, SmoothResamples
from pegasos_stats.solvers.solver_runs import run_linear

PILOT, REACH = 32, 2.0  # number of first resamples; see `Refit.look_near_the_margin`
TASK_ROWS = 2**17  # maximum rows in a task of several resamples
NOISE = 1e-3  # maximum solver error, relative to a standard error
SAFETY = 4.0  # factor: other resamples may have more solver error than the first ones
GAP, DISTANCE, STATUS, PRIOR = range(4)  # positions of facts about a refit
N_FACTS, NO_OPTIMUM, NO_MAXIMUM = 4, 1, 2
JOINT_ENTRIES = 5e7  # maximum entries of X for joint fits of resamples
SMALL_ENTRIES = 10**6  # with fewer entries of X, threads would wait for each other


Part = tuple[Matrix, Matrix]  # estimates of some resamples, and facts about them


def bootstrap(
    problem: Problem,
    solution: Solution,
    options: Bootstrap,
    scaling: Scaling | None = None,
    groups: Groups | None = None,
    limit: float = math.inf,
) -> BootstrapResult:
    """Draw resamples of the rows, and fit the model to each.

    Replicate ``b`` minimises ``lam/2 ||beta||^2 + mean w_i loss(y_i (x_i'beta +
    alpha))`` over the rows of the ``b``-th resample. The relative duality gap is at
    most ``options.tol``. This tolerance is reduced, down to 1e-12, until a further
    reduction moves the first estimates by less than 1e-3 standard errors. Each row is
    drawn with its weight, and the weights are scaled to mean 1 again. Balanced weights,
    and means and standard deviations of standardized predictors, are computed again. A
    resample with a single class has no optimum with an intercept: it is excluded, and
    not replaced.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        Solution for all rows, at which refits start.
    options : Bootstrap
    scaling : Scaling, optional
        Standardization of the predictors, if any.
    groups : Groups, optional
        With groups, a resample contains all rows of randomly drawn groups, as many
        groups as in the data.
    limit : float
        Maximum time in seconds. Without a limit a progress bar appears if resamples
        need more than `MOST_SECONDS`.

    Returns
    -------
    BootstrapResult
        With a note if resamples were excluded.

    Raises
    ------
    TooLongError
        If the resamples are estimated to need more than the limit.
    DataError
        If fewer than two resamples are left.

    Warns
    -----
    ConvergenceWarning
        If resamples did not reach the tolerance.

    Notes
    -----
    The estimates do not depend on the number of threads. With more replicates, the
    first estimates change by no more than their duality gaps allow.

    References
    ----------
    Efron, *Bootstrap methods: another look at the jackknife*, Annals of Statistics 7
    (1979).

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    >>> problem = Problem(X, y, lam=0.1, intercept=False)
    >>> fit = Solution(np.array([1.0]), 0.0, np.full(4, 0.5), 0, 0, None)
    >>> result = bootstrap(problem, fit, Bootstrap(500, seed=443, tol=1e-10))
    >>> result.estimates[:3].round(3)
    array([[0.333],
           [0.333],
           [1.   ]])
    """
    rng = RRandom(options.seed, sample_kind=options.sample_kind)
    inner, start, centre = problem, solution, centre_of_rows(problem)
    if centre is not None:
        inner, start = centred(problem, centre), shifted_solution(solution, -centre)
    settled = refits(inner, start, options, scaling is not None, groups, rng, limit)
    estimates, facts = settled.estimates, settled.facts
    if centre is not None:
        estimates[:, 0] -= estimates[:, 1:] @ centre
        if scaling is not None:
            facts[:, N_FACTS : N_FACTS + problem.p] += centre
    n_left_out = int((facts[:, STATUS] == NO_OPTIMUM).sum())
    n_infinite = int((facts[:, STATUS] == NO_MAXIMUM).sum())
    is_finite = facts[:, STATUS] == 0.0
    estimates, facts = estimates[is_finite], facts[is_finite]
    notes = left_out(n_left_out, options.replicates, n_infinite)
    gaps = facts[:, GAP]
    if beyond := int((gaps > options.tol).sum()):
        warn_caller(
            f"{counted(beyond, 'resample')} of {options.replicates:,} have not reached "
            f"the relative gap of {options.tol:g}: the largest is {gaps.max():.2g}. "
            "Use standardize=True, or a larger tol of Bootstrap.",
            ConvergenceWarning,
        )
    first, fixed = 0 if problem.intercept else 1, None
    if scaling is not None:
        fixed = estimates[:, first:].copy()
        means, deviations = np.hsplit(facts[:, N_FACTS:], 2)
        if scaling.centre.any():
            estimates[:, 0] += (estimates[:, 1:] * means).sum(axis=1)
        estimates[:, 1:] *= deviations
    estimates = np.ascontiguousarray(estimates[:, first:])
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = np.atleast_2d(np.cov(estimates, rowvar=False))
    if not np.isfinite(covariance).all():
        covariance = np.full_like(covariance, np.nan)
    return BootstrapResult(
        estimate=np.concatenate([[solution.alpha], solution.beta])[first:],
        estimates=estimates,
        covariance=covariance,
        seed=int(rng.seed or 0),
        n_left_out=n_left_out,
        n_infinite=n_infinite,
        relative_gap=float(gaps.max()),
        distance=float(facts[:, DISTANCE].max()),
        options=options,
        notes=notes,
        tolerance=settled.noise[first:],
        fixed=fixed,
        reference=reference_of(inner),
        priors=facts[:, PRIOR].copy() if problem.balanced else None,
        centre=centre if problem.intercept else None,
        error=settled.error[first:],
    )


def centre_of_rows(problem: Problem) -> Vector | None:
    """Means of the columns, to centre them for more accurate refits.

    Large or sparse data are not copied: see `centre_for_errors`.
    """
    is_dense = problem.intercept and isinstance(problem.X, np.ndarray)
    if is_dense and problem.n * problem.p <= JOINT_ENTRIES:
        return problem.moments[0]
    return centre_for_errors(problem)


class SettledRefits(NamedTuple):
    """Refits with small solver error.

    Attributes
    ----------
    estimates : float64 array, shape (B, p + 1)
        ``alpha, beta``.
    facts : float64 array, shape (B, ...)
        See `Refit`.
    noise : float64 array, shape (p + 1,)
        Solver error: differences between estimates below it are not meaningful.
    error : float64 array, shape (p + 1,)
        Difference between the fit and a fit to the same rows with the tolerance of the
        resamples.
    """

    estimates: Matrix
    facts: Matrix
    noise: Vector
    error: Vector


class TooLongError(Exception):
    """The resamples would need more time than allowed.

    Attributes
    ----------
    seconds : float
        Estimated time.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:,.0f} seconds")
        self.seconds = seconds


def refits(
    problem: Problem,
    solution: Solution,
    options: Bootstrap,
    standardizes: bool,
    groups: Groups | None,
    rng: RRandom,
    limit: float = math.inf,
) -> SettledRefits:
    """Fit all resamples, with the tolerance that the first ones need."""
    refit, B = Refit(problem, solution, options.tol, standardizes), options.replicates
    if groups is None:
        tasks = resampled_rows(problem.n, B, rng)
    else:
        tasks = resampled_groups(groups, B, rng)
    first = list(islice(tasks, -(-PILOT // in_a_task(problem.n, B))))
    is_quick = refit.is_single and problem.n * problem.p < SMALL_ENTRIES
    workers = 1 if is_quick else options.workers
    with one_thread():
        if refit.is_single:
            refit(first[0][:1])  # compilation is not timed
            seconds_of_all(refit, first[0], B, workers, limit)
        parts = list(map_in_order(refit, first, workers))
        refit.look_near_the_margin(*map(np.concatenate, zip(*parts, strict=True)))
        trial = resamples_of(first, 8 if refit.is_single else PILOT)
        settled, noise = refit.settled(lambda fit: map_in_order(fit, trial, workers))
        if settled is not refit:
            tasks, parts = chain(first, tasks), []
        seconds = seconds_of_all(settled, first[0], B, workers, limit)
        others = map_in_order(settled, tasks, workers)
        if seconds > MOST_SECONDS:
            others = with_progress(others, B)
        parts += others
        ((whole, _),) = map_in_order(settled, [np.arange(problem.n)[None]], 1)
    estimates, facts = map(np.concatenate, zip(*parts, strict=True))
    error = np.abs(whole[0] - np.append(solution.alpha, solution.beta))
    return SettledRefits(estimates, facts, noise, error)


def seconds_of_all(
    refit: "Refit", task: Rows, replicates: int, workers: int | None, limit: float
) -> float:
    """Estimate the time of all resamples by fitting some of them again.

    Raises
    ------
    TooLongError
        If that is longer than the limit.
    """
    some = task[:4] if refit.is_single else task
    began = time.thread_time()  # processor time, which other programs do not affect
    refit(some)
    seconds_per_resample = (time.thread_time() - began) / len(some)
    seconds = seconds_per_resample * replicates / n_workers(workers)
    if seconds > limit:
        raise TooLongError(seconds)
    return seconds


def with_progress(parts: Iterable[Part], replicates: int) -> Iterator[Part]:
    """Show a progress bar of the resamples."""
    from tqdm import tqdm

    with tqdm(total=replicates, unit="resample") as bar:
        for part in parts:
            yield part
            bar.update(len(part[0]))


def resamples_of(tasks: Sequence[Rows], count: int) -> list[Rows]:
    """Return the first `count` resamples of some tasks."""
    first = list[Rows]()
    for rows in tasks:
        first.append(rows[: count - sum(map(len, first))])
    return [rows for rows in first if len(rows)]


@np.errstate(over="ignore", invalid="ignore")
def reference_of(problem: Problem) -> Matrix | None:
    """Pseudoinverse ``S = ((1/n) sum_i w_i z_i z_i')^+``.

    None if it overflows, or with more than 1,000 predictors.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
    >>> reference_of(Problem(X, y, lam=1.0)).round(3)
    array([[ 1.375, -0.375],
           [-0.375,  0.375]])
    """
    if problem.p > 1000:
        return None
    ones = np.ones((problem.n, int(problem.intercept)))
    Z = np.hstack([ones, dense_rows(problem.X)])
    whiten = whitening(cross(Z, problem.row_weights) / problem.n)
    S = whiten.T @ whiten
    return S if np.isfinite(S).all() else None


def in_a_task(n: int, replicates: int) -> int:
    """Number of resamples per task."""
    return max(1, min(TASK_ROWS // n, max(8, replicates // 16), 64))


def resampled_rows(n: int, replicates: int, rng: RRandom) -> Iterator[Rows]:
    """Rows of the resamples, counted from zero; arrays of shape (b, n).

    In R, drawing several resamples at once yields the same rows as drawing them one
    after the other.
    """
    size = in_a_task(n, replicates)
    for first in range(0, replicates, size):
        count = min(size, replicates - first)
        yield rng.sample_int(n, n * count, replace=True).reshape(count, n) - 1


def resampled_groups(groups: Groups, replicates: int, rng: RRandom) -> Iterator[Rows]:
    """Rows of resamples of whole groups; arrays of shape (1, rows drawn).

    Examples
    --------
    >>> groups = Groups(("",), (2,), (np.array([0, 1, 0]),))
    >>> [rows.tolist() for rows in resampled_groups(groups, 2, RRandom(1))]
    [[[0, 2, 1]], [[0, 2, 0, 2]]]
    """
    (codes,), (number,) = groups.codes, groups.numbers
    order, ends = np.argsort(codes, kind="stable"), np.bincount(codes).cumsum()
    members = np.split(order.astype(np.int64), ends[:-1])
    for _ in range(replicates):
        sampled = rng.sample_int(number, number, replace=True) - 1
        yield np.concatenate([members[group] for group in sampled])[None]


Trial = Callable[["Refit"], Iterable[tuple[Matrix, Matrix]]]


class Refit:
    """Fits resamples in threads, from the solution of the problem.

    With few columns, many resamples are fitted at once, see ``solvers/resamples.py``.
    With more columns, or if this does not converge, resamples are fitted one at a time,
    starting at the dual variables of the solution.
    """

    def __init__(
        self,
        problem: Problem,
        solution: Solution,
        tol: float,
        standardizes: bool = False,
    ) -> None:
        self._problem, self._tol, self._requested_tol = problem, tol, tol
        self._standardizes = standardizes
        weights = np.maximum(problem.row_weights, 1e-300)
        self._shares = np.clip(solution.dual / weights, 0.0, 1.0)
        self._together: Resamples | None = None
        kind = HingeResamples if problem.loss == "hinge" else SmoothResamples
        n, p = problem.n, problem.p
        is_small = p <= 40 or p <= min(100, n / 10)
        is_small = is_small and n * p <= JOINT_ENTRIES
        self._likelihood: LikelihoodRefits | None = None
        if not problem.lam:
            self._at = estimable_columns(problem)
            self._theta = self._at.theta(solution.beta, solution.alpha)
            if is_small:
                self._likelihood = LikelihoodRefits(problem, self._at, self._theta)
        elif is_small:
            self._together = kind(problem, solution, tol)

    @property
    def is_single(self) -> bool:
        """Whether resamples are fitted one at a time."""
        return self._together is None and self._likelihood is None

    def look_near_the_margin(self, estimates: Matrix, facts: Matrix) -> None:
        """Restrict hinge refits to rows that may cross the margin.

        A row may move `REACH` times as far as in the first `estimates`.
        """
        some = facts[:, STATUS] != NO_OPTIMUM
        if self._together is not None and some.any():
            self._together.look_near(estimates[some], REACH)

    def tighter(self) -> "Refit":
        """Return a copy with the next smaller tolerance."""
        refit, refit._tol = copy(self), self._tol * 1e-2
        if self._together is not None:
            refit._together = self._together.with_tol(refit._tol)
        return refit

    def settled(self, trial: Trial) -> tuple["Refit", Vector]:
        """Return a refit with small solver error, and that error, shape (p + 1,).

        The error of a coefficient is `SAFETY` times its largest change between a
        tolerance and the next smaller one, if most resamples change. It is small below
        `NOISE` standard deviations of the coefficient. The tolerance is not reduced
        further once a tenth of the resamples miss it.
        """
        refit, (estimates, old_gaps) = self, solved_by(trial(self))
        noise = rounding = 1e-9 * np.abs(estimates).max(axis=0, initial=0.0)
        # Maximum likelihood is solved to rounding.
        while self._problem.lam and len(estimates):
            tighter = refit.tighter()
            closer, gaps = solved_by(trial(tighter))
            moves = np.abs(closer - estimates)
            most_move = (moves > 0.0).any(axis=1).sum() > 0.5 * len(moves)
            if most_move:
                noise = np.maximum(SAFETY * moves.max(axis=0), rounding)
            small = most_move and (noise <= NOISE * closer.std(axis=0)).all()
            solved = (gaps <= tighter._tol).mean() >= 0.9
            nearer = np.median(gaps) < 0.5 * np.median(old_gaps)
            if small or not (solved or nearer):
                break
            refit, estimates, old_gaps = tighter, closer, gaps
            if refit._tol <= 1e-12 or not solved:
                break
        return refit, noise

    def __call__(self, rows: Rows) -> tuple[Matrix, Matrix]:
        """Coefficients ``alpha, beta`` of each resample, and facts about its fit.

        The facts are the relative gap, the distance, the status, and the prior, which
        is ``log(n- / n+)`` with balanced weights. If resamples are standardized, means
        and standard deviations of their predictors follow. The coefficients refer to
        the predictors of the problem, not to standardized ones.
        """
        problem, B = self._problem, len(rows)
        counts_of_rows = [np.bincount(numbers, minlength=problem.n) for numbers in rows]
        counts = np.array(counts_of_rows, dtype=np.float64)
        sides = np.column_stack([problem.y < 0.0, problem.y > 0.0]).astype(np.float64)
        weights = counts * problem.row_weights
        estimates, facts = np.zeros((B, problem.p + 1)), np.zeros((B, N_FACTS))
        deviations = np.ones((B, problem.p))
        if problem.balanced:
            totals = np.maximum(1.0, counts @ sides)
            weights = counts * ((problem.n / (2.0 * totals)) @ sides.T)
            facts[:, PRIOR] = np.log(totals[:, 0] / totals[:, 1])
        if self._standardizes:
            means, deviations = moments(problem.X, weights)
            facts = np.hstack([facts, means, deviations])
        of_sides = weights @ sides
        least = of_sides.min(axis=1) if problem.intercept else of_sides.sum(axis=1)
        facts[least <= 0.0, STATUS] = NO_OPTIMUM
        some = np.flatnonzero(least > 0.0)
        if self._together is not None and some.size:
            penalties = problem.lam * deviations[some] ** 2
            estimates[some], gap, risk = self._together(weights[some], penalties)
            with np.errstate(all="ignore"):
                facts[some, GAP] = gap / risk
                facts[some, DISTANCE] = np.sqrt(2.0 * gap / problem.lam)
            some = some[~(facts[some, GAP] <= self._requested_tol)]
        elif self._likelihood is not None and some.size:
            estimates[some], exists = self._likelihood(weights[some])
            some = some[~exists]
        for b in some:
            facts[b, :STATUS] = np.inf
            with suppress(DataError):  # of squares that overflow
                estimates[b], own_facts = self._single_fit(weights[b], deviations[b])
                facts[b, : len(own_facts)] = own_facts
        return estimates, facts

    def _single_fit(self, weights: Vector, deviations: Vector) -> tuple[Vector, Vector]:
        """Coefficients ``alpha, beta`` of one resample, and facts about its fit."""
        rows = np.flatnonzero(weights)
        w = weights[rows] / weights[rows].mean()
        problem = replace(self._problem.of_rows(rows), weights=w)
        if not problem.lam:
            refitted = refit(problem, self._at, self._theta).solution
            if refitted is None:
                return np.zeros(problem.p + 1), np.array([0.0, np.inf, NO_MAXIMUM])
            return np.append(refitted.alpha, refitted.beta), np.zeros(STATUS + 1)
        if self._standardizes:
            scaling = Scaling(np.zeros(problem.p), deviations)
            problem = replace(problem, X=scaling.apply(problem.X))
        solver = Optimum(tol=self._tol, seed=1)
        fit = run_linear(problem, solver, dual=self._shares[rows] * w, warn=False)
        alpha = fit.alpha
        if problem.intercept and problem.loss == "hinge":
            scores = problem.X @ fit.beta + problem.row_offsets
            alpha = best_intercept(scores, problem.y, "hinge", w)
        at = certificate(problem, fit.beta, alpha, fit.dual, self._tol)
        facts = np.array([at.relative_gap, np.sqrt(2.0 * at.gap / problem.lam)])
        return np.append(alpha, fit.beta / deviations), facts


def solved_by(tasks: Iterable[tuple[Matrix, Matrix]]) -> tuple[Matrix, Vector]:
    """Coefficients and relative gaps of the resamples that have an optimum."""
    estimates, facts = map(np.concatenate, zip(*tasks, strict=True))
    some = facts[:, STATUS] == 0.0
    return estimates[some], facts[some, GAP]


def moments(X: Predictors, counts: Matrix) -> tuple[Matrix, Matrix]:
    """Means and standard deviations of resamples; 1 for a constant column.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [9.0, 5.0], [3.0, 5.0]])
    >>> moments(X, np.array([[1.0, 0.0, 1.0]]))
    (array([[2., 5.]]), array([[1.41421356, 1.        ]]))
    """
    n = counts.sum(axis=1)[:, None]
    means = (counts @ X) / n
    variances = np.maximum(0.0, (counts @ (X * X)) / n - means**2) * n / (n - 1.0)
    constant = variances <= 1e-12 * np.maximum(1.0, means**2)
    return means, np.where(constant, 1.0, np.sqrt(variances))


def left_out(n_left_out: int, replicates: int, n_infinite: int) -> tuple[Note, ...]:
    """Note resamples without an optimum; raise `DataError` if too few are left."""
    texts = []
    if n_left_out:
        texts.append(
            f"{counted(n_left_out, 'resample')} of {replicates:,} contain only one "
            "class, so no intercept is optimal; they are excluded."
        )
    if n_infinite:
        texts.append(
            f"{counted(n_infinite, 'resample')} of {replicates:,} have no maximum "
            "likelihood estimate and count as infinite; above 2.5% there are no "
            "standard errors, intervals or p-values. Use penalty='firth'."
        )
    if replicates - n_left_out - n_infinite < 2:
        raise DataError(
            f"{' '.join(texts)} Fewer than two are left; use more rows, or "
            "another covariance."
        )
    topic = "resamples" if n_infinite else "standard errors"
    return tuple(Note(topic, "note", text) for text in texts)
