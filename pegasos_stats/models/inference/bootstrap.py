"""The pairs bootstrap of a linear fit, on R's random numbers."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from threading import local
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats.advice import InPython, bare, said
from pegasos_stats.arrays import Matrix, Rows, Vector, read_only
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.data.columns import Mask
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.errors import ConvergenceWarning, DataError, counted, warn_caller
from pegasos_stats.models.inference.covariance import BootstrapResult, agreeing
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.models.inference.sandwich import cross
from pegasos_stats.models.inference.wald import whitening
from pegasos_stats.models.notes.note import Note
from pegasos_stats.parallel import map_in_order
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.centring import centre_for_errors, centred, moved
from pegasos_stats.solvers.dense.threads import one_thread
from pegasos_stats.solvers.problem import Problem, Solution

PILOT, REACH, MOST_NEAR = 32, 2.0, 0.5  # see `Refit.look_near_the_margin`
WIDTH = 0.1  # of the smoothing, where a fit begins near its optimum
TINY = 1e-300
TOGETHER = 2**20  # rows drawn for one task, at most, unless a resample has more
SHARES, FEWEST, MOST = 64, 8, 32  # tasks; resamples in one, if that is not too long
SAME = 1e-5  # change of a score that is the solver's, for a change of x by its spread
MOST_COEFFICIENTS = 1000  # whose joint tests are steadied
CONSTANT = 1e-12  # variance, of standardized predictors
KNOWN = range(4)  # of a refit: gap, distance, status, and the prior
PRIOR = 3


def bootstrap(
    problem: Problem,
    solution: Solution,
    options: Bootstrap,
    scaling: Scaling | None = None,
    groups: Groups | None = None,
) -> BootstrapResult:
    """Draw rows with replacement, fit again, and again.

    Replicate ``b`` minimises ``lam/2 ||beta||^2 + mean w_i loss(y_i (x_i'beta +
    alpha))`` over the rows of the ``b``-th resample, to a relative duality gap of
    ``options.tol``. Weights of rows are drawn with them and scaled to mean 1 again;
    those that make both levels weigh the same are made anew, as are means and
    deviations of standardized predictors.
    A resample with one level alone has no optimum with an intercept: it is left out,
    and no other is drawn for it.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        Its coefficients are the centre of intervals; refits begin there.
    options : Bootstrap
    scaling : Scaling, optional
        How the predictors were standardized, if they were.
    groups : Groups, optional
        Draw whole groups, all rows of each; a resample then has the rows of as many
        groups as there are.

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
    on the number of threads, and the first ones within their gaps alone on the number
    of replicates.

    References
    ----------
    Efron, *Bootstrap methods: another look at the jackknife*, Annals of Statistics 7
    (1979).

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    >>> problem = Problem(X, y, lam=0.1, intercept=False)
    >>> fit = Solution(np.array([1.0]), 0.0, np.full(4, 0.5), 0, 0, None)
    >>> found = bootstrap(problem, fit, Bootstrap(500, seed=443, tol=1e-10))
    >>> found.estimates[:3].round(3)
    array([[0.333],
           [0.333],
           [1.   ]])
    """
    rng = RRandom(options.seed, sample_kind=options.sample_kind)
    centre = centre_for_errors(problem)
    how = options.tol, scaling is not None
    inner, start = problem, solution
    if centre is not None:
        inner, start = centred(problem, centre), moved(solution, -centre)
    refit = Refit(inner, start, *how)
    tasks = (
        resampled_rows(problem.n, options.replicates, rng)
        if groups is None
        else resampled_groups(groups, options.replicates, rng)
    )
    first = list(islice(tasks, -(-PILOT // in_a_task(problem.n, options.replicates))))
    with one_thread():
        known = list(map_in_order(refit, first, options.workers))
        refit.look_near_the_margin(np.concatenate([each for each, _ in known]))
        known += map_in_order(refit, tasks, options.workers)
    pairs = (pair for part in known for pair in zip(*part, strict=True))
    estimates, found = map(np.array, zip(*pairs, strict=True))
    if centre is not None:
        estimates[:, 0] -= estimates[:, 1:] @ centre
        if scaling is not None:
            found[:, len(KNOWN) : len(KNOWN) + problem.p] += centre
    reference = reference_of(inner)
    if centre is not None and reference is not None:
        back = Scaling(centre, np.ones(centre.size)).undoing(problem.intercept)
        reference = back @ reference @ back.T
    given = problem, solution, options, int(rng.seed or 0), estimates, found, scaling
    return replace(summarised(*given), reference=reference)


@np.errstate(over="ignore", invalid="ignore")
def reference_of(problem: Problem) -> Matrix | None:
    """``S = ((1/n) sum_i w_i z_i z_i')^-1``, a pseudoinverse; None if that is large.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
    >>> reference_of(Problem(X, y, lam=1.0)).round(3)
    array([[ 1.375, -0.375],
           [-0.375,  0.375]])
    """
    if problem.p > MOST_COEFFICIENTS:
        return None
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    ones = np.ones((problem.n, int(problem.intercept)))
    Z = np.hstack([ones, X.astype(np.float64, copy=False)])
    whiten = whitening(cross(Z, problem.row_weights) / problem.n)
    found = whiten.T @ whiten
    return found if np.isfinite(found).all() else None


def summarised(
    problem: Problem,
    solution: Solution,
    options: Bootstrap,
    seed: int,
    estimates: Matrix,
    found: Matrix,
    scaling: Scaling | None,
) -> BootstrapResult:
    """Put the result together; warn of resamples that are not at their optimum."""
    kept = found[:, dual.refits.STATUS] != dual.refits.NO_OPTIMUM
    n_left_out = int((~kept).sum())
    notes = left_out(n_left_out, options.replicates)
    gaps = found[kept, dual.refits.GAP]
    warn_of_gaps(gaps, options)
    first, fixed = 0 if problem.intercept else 1, None
    estimates, found = estimates[kept], found[kept]
    if scaling is not None:
        fixed = estimates[:, first:].copy()
        means, deviations = np.hsplit(found[:, len(KNOWN) :], 2)
        if scaling.centre.any():
            estimates[:, 0] += (estimates[:, 1:] * means).sum(axis=1)
        estimates[:, 1:] *= deviations
    estimates = np.ascontiguousarray(estimates[:, first:])
    tolerance = tolerance_of(problem)[first:]
    hinge = problem.loss == "hinge"
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = np.atleast_2d(np.cov(estimates, rowvar=False))
    if not np.isfinite(covariance).all():
        covariance = np.full_like(covariance, np.nan)
    return BootstrapResult(
        estimate=np.concatenate([[solution.alpha], solution.beta])[first:],
        estimates=estimates,
        covariance=covariance,
        seed=seed,
        n_left_out=n_left_out,
        n_not_converged=int((gaps > options.tol).sum()),
        relative_gap=float(gaps.max()),
        distance=float(found[:, dual.refits.DISTANCE].max()),
        options=options,
        notes=notes,
        tolerance=tolerance,
        fixed=fixed,
        priors=found[:, PRIOR].copy() if problem.balanced else None,
        agreeing=agreeing(estimates, tolerance) if hinge else 0.0,
    )


def tolerance_of(problem: Problem) -> Vector:
    """What is the solver's in estimates of ``alpha, beta``, shape (p + 1,)."""
    scaling = Scaling.of(problem.X, intercept=False)
    each = SAME / scaling.scale
    means = np.asarray(problem.X.mean(axis=0, dtype=np.float64)).ravel()
    return np.concatenate([[SAME + float(np.abs(means) @ each)], each])


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


def resampled_groups(groups: Groups, replicates: int, rng: RRandom) -> Iterator[Rows]:
    """Rows of the resamples, of whole groups; arrays of shape (1, rows drawn).

    Examples
    --------
    >>> groups = Groups(("",), (2,), (np.array([0, 1, 0]),))
    >>> [each.tolist() for each in resampled_groups(groups, 2, RRandom(1))]
    [[[0, 2, 1]], [[0, 2, 0, 2]]]
    """
    (codes,), (number,) = groups.codes, groups.numbers
    order, ends = np.argsort(codes, kind="stable"), np.bincount(codes).cumsum()
    members = np.split(order.astype(np.int64), ends[:-1])
    for _ in range(replicates):
        drawn = rng.sample_int(number, number, replace=True) - 1
        yield np.concatenate([members[group] for group in drawn])[None]


class NearMargin(NamedTuple):
    """Rows that resamples may move across the margin, and those that stay beyond it.

    Attributes
    ----------
    near : int array, shape (m,)
    is_far, beyond : bool array, shape (n, 1)
        Which rows are not near, and which of all are beyond the margin.
    totals : float64 array, shape (n, 2 (p + 2))
        ``1, offset, x`` of the far rows beyond the margin, for both classes; else 0.
    """

    near: Rows
    is_far: Mask
    beyond: Mask
    totals: Matrix


class Refit:
    """Fits resamples, beginning at the solution of the problem; for many threads."""

    def __init__(
        self,
        problem: Problem,
        solution: Solution,
        tol: float,
        standardizes: bool = False,
    ) -> None:
        self._problem, self._tol = problem, tol
        self._balances, self._standardizes = problem.balanced, standardizes
        w, norm2 = np.zeros(arithmetic.lanes.padded(problem.p)), np.zeros(problem.n)
        w[: problem.p] = solution.beta
        dual.sdca.put_norms(problem.rows, norm2)
        weights = problem.row_weights
        a = np.clip(solution.dual, 0.0, weights)
        with np.errstate(over="ignore"):
            width = WIDTH * float(norm2.mean()) / (problem.lam * problem.n)
        alpha = float(solution.alpha)
        offset = np.zeros(0) if problem.offset is None else problem.offset
        given = problem.y, w, alpha, a, weights, width, read_only(offset)
        self._origin = dual.refits.Origin(*given)
        self._scratch = local()
        self._at: NearMargin | None = None

    def look_near_the_margin(self, estimates: Matrix) -> None:
        """Leave rows alone that stay on their side of the margin, of the hinge.

        Beyond the margin the loss is straight, and inside it 0: such rows enter a
        refit as one mean row a class, or not at all. A row may move twice as far as in
        the first `estimates`; where one goes beyond that, all rows are fitted.
        """
        problem, origin = self._problem, self._origin
        anew = self._balances or self._standardizes
        plain = isinstance(problem.X, np.ndarray) and problem.X.dtype == np.float64
        if problem.loss != "hinge" or anew or not plain:
            return
        scores = problem.X @ origin.w[: problem.p] + problem.row_offsets
        u = 1.0 - problem.y * (scores + origin.alpha)
        changes = estimates - np.append(origin.alpha, origin.w[: problem.p])
        moves = problem.X @ changes[:, 1:].T + changes[:, 0]
        is_near = np.abs(u) <= REACH * np.abs(moves).max(axis=1)
        if is_near.sum() + 2 > MOST_NEAR * problem.n:  # with two mean rows
            return
        each = np.column_stack([np.ones(problem.n), problem.row_offsets, problem.X])
        fixed = ~is_near & (u > 0.0)
        totals = [each * (fixed & (problem.y == y))[:, None] for y in (-1.0, 1.0)]
        sides = ~is_near[:, None], (u > 0.0)[:, None]
        self._at = NearMargin(np.flatnonzero(is_near), *sides, np.hstack(totals))

    def __call__(self, rows: Rows) -> tuple[Matrix, Matrix]:
        """Coefficients ``alpha, beta`` of each resample, and facts about its fit.

        The facts are gap, distance, status and prior, the ``log(n- / n+)`` of balanced
        weights; then means and deviations of its rows, if resamples are standardized.
        Coefficients are for predictors as they are here.
        """
        if self._at is not None:
            return self._refitted_near(self._at, rows)
        if not (self._balances or self._standardizes):
            return self._refitted(self._problem, self._origin, rows)
        parts = [self._refitted_anew(rows[b : b + 1]) for b in range(len(rows))]
        estimates, found = zip(*parts, strict=True)
        return np.concatenate(estimates), np.concatenate(found)

    def _refitted_anew(self, rows: Rows) -> tuple[Matrix, Matrix]:
        """Fit one resample with weights, means and deviations of its own."""
        problem, origin, prior = self._problem, self._origin, 0.0
        drawn = np.bincount(rows[0], minlength=problem.n).astype(np.float64)
        if self._balances:
            totals = [max(1.0, drawn[problem.y == sign].sum()) for sign in (-1.0, 1.0)]
            weights = np.where(
                problem.y < 0.0, *(problem.n / (2.0 * t) for t in totals)
            )
            prior = float(np.log(totals[0] / totals[1]))
            a = origin.dual * weights / origin.weights
            problem = replace(problem, weights=weights)
            origin = origin._replace(weights=read_only(weights), dual=a)
        if not self._standardizes:
            estimates, found = self._refitted(problem, origin, rows)
            found[:, PRIOR] = prior
            return estimates, found
        means, deviations = moments(problem.X, drawn * problem.row_weights)
        scaling = Scaling(np.zeros(problem.p), deviations)
        scaled = replace(problem, X=scaling.apply(problem.X))
        estimates, found = self._refitted(scaled, origin, rows)
        estimates[:, 1:] /= deviations
        found[:, PRIOR] = prior
        return estimates, np.hstack([found, means[None], deviations[None]])

    def _refitted_near(self, at: NearMargin, rows: Rows) -> tuple[Matrix, Matrix]:
        """Fit the rows near the margin, and a mean row of those beyond it, a class."""
        problem, origin, near = self._problem, self._origin, at.near
        n, (y, offset) = problem.n, (problem.y[near], problem.row_offsets[near])
        drawn = np.array([np.bincount(each, minlength=n) for each in rows])
        weights = drawn * problem.row_weights
        means = (weights @ at.totals).reshape(len(rows), 2, -1)
        means[:, :, 1:] /= np.maximum(means[:, :, :1], TINY)
        X = np.concatenate([problem.X[near], np.zeros((2, problem.p))])
        y = read_only(np.append(y, [-1.0, 1.0]))
        share = origin.dual[near] / np.maximum(problem.row_weights[near], TINY)
        share, some = np.append(share, [1.0, 1.0]), np.arange(len(y))[None]
        parts = []
        for w_near, mean, total in zip(
            weights[:, near], means, weights.sum(axis=1), strict=True
        ):
            w, X[-2:] = np.append(w_near, mean[:, 0]), mean[:, 2:]
            known = origin.offset
            if known.size:
                known = read_only(np.append(offset, mean[:, 1]))
            start = origin._replace(
                y=y, dual=w * share, weights=read_only(w), offset=known
            )
            lam = problem.lam * total / max(w.sum(), TINY)
            alike = Problem(X, y, lam, "hinge", problem.intercept)
            parts.append(self._refitted(alike, start, some))
        estimates, found = map(np.concatenate, zip(*parts, strict=True))
        f = problem.X @ estimates[:, 1:].T + estimates[:, 0]
        f += problem.row_offsets[:, None]
        is_other = (problem.y[:, None] * f < 1.0) != at.beyond
        strays = (is_other & at.is_far & (drawn.T > 0)).any(axis=0)
        for b in np.flatnonzero(strays):
            whole = self._refitted(problem, origin, rows[b : b + 1])
            estimates[b], found[b] = whole[0][0], whole[1][0]
        return estimates, found

    def _refitted(
        self, problem: Problem, origin: Any, rows: Rows
    ) -> tuple[Matrix, Matrix]:
        estimates = np.zeros((len(rows), problem.p + 1))
        found = np.zeros((len(rows), len(KNOWN)))
        given: Any = problem.rows, problem.lam, problem.intercept, self._tol
        given = *given, rows, origin, estimates, found, self._room()
        dual.refits.refit_resamples(*given)
        return estimates, found

    def _room(self) -> Any:
        """Working arrays of this thread."""
        if not hasattr(self._scratch, "room"):
            problem = self._problem
            sizes = problem.n, problem.p, int(problem.loss_code)
            offset = self._origin.offset
            self._scratch.room = dual.refits.room(problem.rows, *sizes, offset)
        return self._scratch.room


def moments(X: Any, drawn: Vector) -> tuple[Vector, Vector]:
    """Means and standard deviations of rows drawn so often; 1 for a constant column.

    Examples
    --------
    >>> moments(np.array([[1.0, 5.0], [9.0, 5.0], [3.0, 5.0]]), np.array([1.0, 0, 1]))
    (array([2., 5.]), array([1.41421356, 1.        ]))
    """
    n = float(drawn.sum())
    means = (drawn @ X) / n
    variances = np.maximum(0.0, (drawn @ (X * X)) / n - means**2) * n / (n - 1.0)
    constant = variances <= CONSTANT * np.maximum(1.0, means**2)
    return means, np.where(constant, 1.0, np.sqrt(variances))


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
            said(
                f"{counted(beyond, 'resample')} of {options.replicates:,} have not "
                f"reached the relative gap of {options.tol:g}: the largest is "
                f"{gaps.max():.2g}; bring the predictors to a common scale, or give a "
                "larger ",
                bare("lam"),
                InPython(" or tolerance"),
                ".",
            ),
            ConvergenceWarning,
        )
