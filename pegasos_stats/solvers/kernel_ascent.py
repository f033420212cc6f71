"""Solvers of kernel SVMs: Pegasos, and SMO on working sets."""

import math
from dataclasses import replace

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Mask, Matrix, Rows, Vector, read_only
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.parallel import one_thread
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.certificate import Certificate, feasible
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.solvers.kernel_problem import (
    OVERFLOWING,
    KernelProblem,
    KernelSolution,
    diagonal_of,
    kernel_certificate,
    value_roundings,
)
from pegasos_stats.solvers.optimum import AnySolver, Optimum, near_enough, warn_of
from pegasos_stats.solvers.optimum_run import run_epochs
from pegasos_stats.solvers.options import KERNEL_TOL, SMO, changed_values
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Observer, Visitor, check_solver
from pegasos_stats.solvers.problem import MethodRun
from pegasos_stats.solvers.sdca import SDCA

# Rows of a working set, also of a block of the Gram matrix. With 3,000 rows, 9 columns
# and a Gaussian kernel, fits at C = 1 and C = 30 take 109 and 405 ms; with working sets
# of 256 rows 95 and 812 ms, with 1,024 rows 154 and 352 ms.
WORKING_SET = 512
ADDED = WORKING_SET // 8  # rows of a partial sum; also minimum number of cached rows


class KernelValues:
    """Values of a kernel between rows of a problem, in blocks of the Gram matrix.

    Inner products are computed as matrix products. For the Gaussian kernel, rows are
    centred, and two additional columns turn the product into the exponent
    ``2 gamma x'z - gamma ||x||^2 - gamma ||z||^2``. For a polynomial kernel, one
    additional column adds the offset.

    Parameters
    ----------
    problem : KernelProblem

    Attributes
    ----------
    roundings : float
        Bound on the rounding error of a value, in units of
        ``2^-53 sqrt(K(x, x) K(z, z))``.

    Raises
    ------
    DataError
        If values of the kernel overflow.
    """

    def __init__(self, problem: KernelProblem) -> None:
        kernel, X = problem.kernel, problem.X
        self._kernel, self._X = kernel, X
        self.roundings = value_roundings(kernel, problem.p)
        if not np.isfinite(diagonal_of(problem)).all():
            raise DataError(OVERFLOWING)
        if kernel.name == "precomputed":
            return
        ones = np.ones((len(X), 1))
        if kernel.name == "gaussian":
            assert kernel.gamma is not None
            Z = X - X.mean(axis=0)
            with np.errstate(over="ignore"):
                squares = kernel.gamma * np.einsum("ij,ij->i", Z, Z)[:, None]
                largest = 4.0 * float(squares.max())
            self.roundings = (problem.p + 16.0) * largest + 16.0
            self._left = np.hstack([2.0 * kernel.gamma * Z, -squares, ones])
            self._right = np.hstack([Z, ones, -squares])
        else:
            offset, gamma = kernel.offset or 0.0, kernel.gamma or 1.0
            self._left = np.hstack([X if gamma == 1.0 else gamma * X, offset * ones])
            self._right = np.hstack([X, ones])

    def __call__(
        self, rows: Rows, columns: Rows | slice, dtype: type = np.float64
    ) -> Matrix:
        """Compute values between rows; exponents (Gaussian) are rounded to `dtype`."""
        if self._kernel.name == "precomputed":
            return np.asarray(self._X[rows][:, columns])
        products: Matrix = np.matmul(self._left[rows], self._right[columns].T)
        if self._kernel.name == "gaussian":
            products = products.astype(dtype, copy=False)
            return np.exp(products, out=products)
        return np.asarray(products ** (self._kernel.degree or 1))

    def sums(self, weights: Vector) -> Vector:
        """Compute ``sum_j weights_j K(x_j, x_i)`` for all rows, shape (n,)."""
        support, n = np.flatnonzero(weights), len(self._X)
        total = np.zeros(n)
        for first in range(0, n, WORKING_SET):
            rows = np.arange(first, min(n, first + WORKING_SET))
            for start in range(0, support.size, ADDED):
                part = support[start : start + ADDED]
                total[rows] += self(rows, part) @ weights[part]
        return total

    def roundings_of_sums(self, support: int) -> float:
        """Bound on the rounding error of `sums` of `support` rows, see `roundings`."""
        return self.roundings + min(ADDED, support) + support / ADDED + 2.0


class CachedRows:
    """Cache of rows of the Gram matrix; rows that are not in use are replaced first.

    Parameters
    ----------
    values : KernelValues
    n : int
        Rows of the problem.
    memory : int
        Maximum size in bytes; at least 64 rows are stored.
    dtype : type
        Type of the stored values.

    Attributes
    ----------
    rows : array, shape (capacity, n)
    """

    def __init__(self, values: KernelValues, n: int, memory: int, dtype: type) -> None:
        capacity = min(n, max(ADDED, memory // (np.dtype(dtype).itemsize * n)))
        self.rows: Matrix = np.empty((capacity, n), dtype=dtype)
        self._values, self._dtype = values, dtype
        self._owner = np.full(capacity, -1, dtype=np.int64)
        self._place = np.full(n, -1, dtype=np.int64)
        self._used = np.zeros(capacity, dtype=np.int64)
        self._calls = 0

    def places(self, wanted: Rows, inside: Mask) -> Rows:
        """Return the places of rows in the cache, after storing missing rows.

        Stored rows that neither this nor the previous call uses, and whose dual weights
        are at a bound, are replaced first. Only then is unused memory filled, because
        its first use is slow.
        """
        self._calls += 1
        there = self._place[wanted]
        self._used[there[there >= 0]] = self._calls
        missing = wanted[there < 0]
        if missing.size:
            stays = (self._used > self._calls - 2) | inside[self._owner]
            rank = np.where(self._owner < 0, 1, np.where(stays, 2, 0))
            self._fill(np.lexsort((self._used, rank))[: missing.size], missing)
        return self._place[wanted]

    def _fill(self, places: Rows, missing: Rows) -> None:
        leaving = self._owner[places]
        self._place[leaving[leaving >= 0]] = -1
        self._owner[places], self._place[missing] = missing, places
        self._used[places] = self._calls
        for first in range(0, len(self._place), WORKING_SET):
            columns = slice(first, first + WORKING_SET)
            self.rows[places, columns] = self._values(missing, columns, self._dtype)


# A round reduces the largest difference of gradients to this share. With 0.05 fits take
# the same time, with 0.5 they take 1.5 times as long.
PART = 0.1
SINGLE = np.finfo(np.float32)
NEXT_LOOK = 1e-4  # recompute the gap from the rows when it has fallen to this share


class KernelAscent:
    """SMO on working sets of a kernel problem.

    The working set of a round consists of the rows whose gradients ``y_i - f(x_i)``
    violate the optimality conditions most, and some rows of the previous round. The
    round optimises their dual weights with the others fixed, and updates the scores of
    all rows. The scores for a solution and its certificate are recomputed from the
    rows.

    Rows of the Gram matrix are stored in single precision, as in iterative refinement.
    Once a recomputation of the scores shows that the gap has not fallen to a tenth,
    they are stored in double precision.

    Parameters
    ----------
    problem : KernelProblem
    solver : Optimum
    a : float64 array, shape (n,), optional
        Initial dual weights.

    Attributes
    ----------
    is_stuck : bool
        Whether more than nine tenths of the gap are a bound on rounding errors, so that
        rounds stop.

    References
    ----------
    Joachims, *Making large-scale SVM learning practical* (1999). Wen, Shi, Li, He &
    Chen, *ThunderSVM: a fast SVM library on GPUs and CPUs*, JMLR 19 (2018).
    """

    def __init__(
        self, problem: KernelProblem, solver: Optimum, a: Vector | None = None
    ) -> None:
        self.problem, self._solver = problem, solver
        self._y, self._w = problem.y, problem.row_weights
        self._values = KernelValues(problem)
        self._largest = float(diagonal_of(problem).max())
        self._store_rows(self._single_serves())
        a = np.zeros(problem.n) if a is None else a
        self._a = feasible(a, problem.y, problem.intercept, problem.weights)
        self._slope = self._y - self._values.sums(self._a * self._y) / self._scale
        self._order = np.arange(problem.n)
        self._steps = self._violations = self._epochs = 0
        self.is_stuck = False
        self._settled: KernelSolution | None = None
        self._floor, self._gap_before = float(SINGLE.eps), math.inf
        self._estimate()

    def _single_serves(self) -> bool:
        """Whether single precision changes scores by less than 1, without overflow.

        Scores are sums of ``a_i y_i K(x_i, .) / (lam n)``.
        """
        most = min(self.problem.lam / float(SINGLE.eps), float(SINGLE.max))
        return self._largest < most

    def _store_rows(self, in_single: bool) -> None:
        """Start a cache of rows of the Gram matrix, in single or double precision."""
        self._is_single, problem = in_single, self.problem
        dtype = np.float32 if in_single else np.float64
        self._cache = CachedRows(self._values, problem.n, problem.memory, dtype)
        self._size = min(WORKING_SET, len(self._cache.rows))
        self._last = np.zeros(0, dtype=np.int64)

    def move_to(self, lam: float) -> None:
        """Continue with another lambda, from dual weights ``t a`` with the best ``t``.

        It maximises ``D(t a) = t mean(a) - t^2 sum_i a_i y_i g_i / (2 lam n^2)`` for
        ``t <= 1``.
        """
        g = self.solution(None).g
        self.problem = replace(self.problem, lam=lam)
        if self._is_single and not self._single_serves():
            self._store_rows(in_single=False)
        length = float((self._a * self._y) @ g)
        total = float(self._a.sum()) * self._scale
        t = min(1.0, total / length) if length > 0.0 else 1.0
        self._a = t * self._a
        self._slope = self._y - t * g / self._scale
        self._steps = self._violations = self._epochs = 0
        self._settled, self._floor, self._gap_before = None, float(SINGLE.eps), math.inf
        self.is_stuck = False
        self._estimate()

    @property
    def _scale(self) -> float:
        return self.problem.lam * self.problem.n

    @property
    def visits(self) -> float:
        """Number of row visits so far."""
        return float(self._steps)

    @property
    def visits_rows(self) -> bool:
        """Whether the next working set is the first, in which ties are random."""
        return self._last.size == 0 and self._size < self.problem.n

    def epoch(self, rows: Rows) -> None:
        """Run rounds until they have updated n rows, or the gap seems small."""
        if rows.size:
            self._order = rows
        self._epochs += 1
        left = 0 if self.is_stuck else self.problem.n
        while left > 0:
            left -= self._round()
            if self._estimate():
                self._look_anew()
                return

    def reached(self) -> bool:
        """Whether the recomputed gap is within the tolerance."""
        return self._settled is not None and self._solver.reached(self.certificate())

    def certificate(self) -> Certificate:
        """Primal and dual objective, computed from the rows."""
        return kernel_certificate(self.problem, self.solution(None), as_verified=True)

    def solution(self, seed: int | None) -> KernelSolution:
        """Return the current solution, with recomputed scores."""
        if self._settled is None:
            self._settled = self._settle()
        runs = (MethodRun(SMO, self._epochs, "epoch"),)
        return replace(self._settled, seed=seed, n_epochs=self._epochs, methods=runs)

    def _settle(self) -> KernelSolution:
        problem = self.problem
        # The certificate requires exactly equal class sums. Only a copy is changed, so
        # that weights at a bound stay exactly there during the run.
        a = feasible(self._a, self._y, problem.intercept, problem.weights)
        g = self._values.sums(a * self._y)
        scores, alpha = g / self._scale, 0.0
        if problem.intercept and np.isfinite(scores).all():
            alpha = best_intercept(scores, self._y, "hinge", problem.weights)
        self._slope = self._y - scores
        return KernelSolution(
            counts=None,
            g=g,
            alpha=alpha,
            n_iter=self._steps,
            n_violations=self._violations,
            seed=None,
            dual=a,
            roundings=self._values.roundings_of_sums(int(np.count_nonzero(a))),
        )

    def _look_anew(self) -> None:
        """Compute the gap from the rows, and set when to recompute it."""
        at = self.certificate()
        if not self._solver.reached(at):
            gap = at.relative_gap
            if self._is_single and gap > 0.1 * self._gap_before:
                self._store_rows(in_single=False)
            self._floor, self._gap_before = NEXT_LOOK * gap, gap
            self._estimate()
            self.is_stuck = self._gap < 0.1 * at.gap

    def _estimate(self) -> bool:
        """Determine which dual weights may move; return whether the gap seems small."""
        a, w, y, slope, n = self._a, self._w, self._y, self._slope, self.problem.n
        room, above = a < w, y > 0.0
        self._inside = room & (a > 0.0)
        self._rise = np.where(np.where(above, room, a > 0.0), slope, -np.inf)
        self._fall = np.where(np.where(above, a > 0.0, room), slope, np.inf)
        self._alpha = 0.0
        if self.problem.intercept:
            high, low = float(self._rise.max()), float(self._fall.min())
            self._alpha, self._difference = 0.5 * (high + low), high - low
        else:
            self._difference = max(
                float(self._rise.max()), -float(self._fall.min()), 0.0
            )
        penalty = 0.5 * float((a * y) @ (y - slope)) / n
        slack = np.maximum(0.0, y * (slope - self._alpha))
        objective = penalty + float(w @ slack) / n
        self._gap = objective - (float(a.mean()) - penalty)
        goals = self._solver.tol * objective, self._solver.gap_tol or 0.0
        # The factor 0.9 allows for the rounding of the certificate.
        return self._gap <= max(self._floor * objective, 0.9 * max(goals))

    def _round(self) -> int:
        """Optimise a working set; return the number of its rows."""
        sets, problem, scale = compiled.working_sets, self.problem, self._scale
        rows = self._last = self._chosen()
        self._settled = None
        y, w, a, slope = (v[rows] for v in (self._y, self._w, self._a, self._slope))
        places = self._cache.places(rows, self._inside)
        values = (self._cache.rows[place].take(rows) for place in places)
        moving = sets.working_set(values, y, w, a, slope, problem.intercept)
        self._violations += int(np.count_nonzero(y * (slope - self._alpha) > 0.0))
        least, most = PART * self._difference, 20 * rows.size
        self._steps += sets.pair_steps(moving, scale, least, most)
        self._a[rows] = moving.a[: rows.size]
        shares = (a - self._a[rows]) * y / scale
        some = np.flatnonzero(shares)
        for first in range(0, some.size, ADDED):
            part = some[first : first + ADDED]
            self._slope += shares[part] @ self._cache.rows[places[part]]
        return int(rows.size)

    def _chosen(self) -> Rows:
        """Choose rows with extreme gradients, and some rows of the last working set."""
        n, size, last = self.problem.n, self._size, self._last
        if size == n:
            return np.arange(n)
        fresh = self._furthest(size // 2 if last.size else size)
        rest = last[~np.isin(last, fresh)]
        inside = self._inside[rest]
        rest = np.concatenate([rest[inside], rest[~inside]])
        return np.concatenate([fresh, rest[: size - fresh.size]])

    def _furthest(self, count: int) -> Rows:
        """Return rows with extreme gradients: the highest, and the lowest.

        The highest gradients are among rows whose ``a_i y_i`` may rise, the lowest
        among rows whose ``a_i y_i`` may fall.
        """
        half = max(1, count // 2)
        rise, fall = self._rise[self._order], -self._fall[self._order]
        extremes = []
        for gradients in (rise, fall):
            top = np.argpartition(gradients, -half)[-half:]
            extremes.append(top[gradients[top] > -np.inf])
        return np.unique(self._order[np.concatenate(extremes)])


@one_thread()
def run_working_sets(
    problem: KernelProblem,
    solver: Optimum,
    observe: Observer | None = None,
    progress: bool = False,
    a: Vector | None = None,
    warn: bool = True,
) -> KernelSolution:
    """Solve a kernel problem by working sets.

    Parameters
    ----------
    problem : KernelProblem
    solver : Optimum
        The options that apply to kernels: epochs, tolerances, seed, ties.
    observe, progress, warn
        As in `run_to_optimum`.
    a : float64 array, shape (n,), optional
        Initial dual weights.

    Returns
    -------
    KernelSolution

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    ascent = KernelAscent(problem, solver, a)
    solution: KernelSolution
    solution, reached = run_epochs(ascent, problem.n, solver, observe, progress)
    if solver.stops and warn and not reached:
        at = ascent.certificate()
        if not (solver.reached(at) or near_enough(at, solver, KERNEL_TOL)):
            taken_as = "tol" if a is None else "refine"
            warn_of(at, solver, taken_as, is_close=ascent.is_stuck)
    return solution


# Options of solvers that a kernel model accepts; the tolerances only with Optimum.
WITH_KERNELS = {
    *("epochs", "seed", "order", "steps", "refit_intercept", "sample_kind", "ties"),
    *("intercept", "tol", "gap_tol"),
}


class KernelVisitor(Visitor):
    """Kernel Pegasos (Shalev-Shwartz et al. 2011, figure 3).

    One row per step, without projection or averaging.
    """

    _problem: KernelProblem

    def _begin(self, rng: RRandom) -> None:
        problem = self._problem
        self._gram = compiled.kernel_pegasos.gram_of(
            problem.kernel.code(), problem.X, problem.memory
        )
        self._counts = np.zeros(problem.n, dtype=np.int64)
        self._g, self._wy = np.zeros(problem.n), problem.row_weights * problem.y
        self._alpha, self._steps, self._violations = 0.0, 0, 0

    def visit(self, rows: Rows) -> None:
        """Take a step at each of `rows`; Ctrl-C interrupts between two pieces."""
        problem = self._problem
        # A piece takes about a tenth of a second.
        length = max(1, 10**8 // (problem.n * problem.p))
        for first in range(0, max(len(rows), 1), length):
            piece = read_only(rows[first : first + length])
            self._alpha, below_one = compiled.kernel_pegasos.kernel_pegasos_epoch(
                *(self._gram, problem.y, self._wy, piece, problem.lam, self._steps),
                *(self._counts, self._g, self._alpha, problem.intercept),
            )
            self._steps += len(piece)
            self._violations += below_one

    def solution(self, seed: int | None) -> KernelSolution:  # type: ignore[override]
        """Return the solution at the current state."""
        alpha = self._alpha
        if self._solver.refit_intercept:
            scores = self._g / (self._problem.lam * self._steps)
            problem = self._problem
            alpha = best_intercept(scores, problem.y, problem.loss, problem.weights)
        return KernelSolution(
            counts=self._counts.copy(),
            g=self._g.copy(),
            alpha=alpha,
            n_iter=self._steps,
            n_violations=self._violations,
            **self._history(seed),
        )


def checked_kernel_solver(
    problem: KernelProblem, solver: AnySolver
) -> Optimum | Pegasos:
    """Return the solver; `OptionError` if kernel models do not support its options."""
    if isinstance(solver, SDCA):
        raise OptionError(
            "SDCA is for linear models without intercept; for a kernel model use "
            "ps.Optimum(), or leave the solver out."
        )
    if isinstance(solver, Pegasos) and solver.may_end_early:
        raise OptionError(
            "Pegasos has no tolerances for a kernel model; leave them out, or use "
            "ps.Optimum(tol=...)."
        )
    for name, value in changed_values(solver).items():
        if name not in WITH_KERNELS:
            why = "makes no sense for a kernel model; leave it out."
            raise OptionError(why, name, value)
    check_solver(problem, solver)
    return solver
