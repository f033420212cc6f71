"""SDCA on a kernel problem: working sets of rows, up to a certified optimum."""

import math
from dataclasses import replace

import numpy as np

from pegasos_stats.arrays import Matrix, Rows, Vector
from pegasos_stats.compiled import dual, pegasos
from pegasos_stats.errors import DataError
from pegasos_stats.solvers.kernel_problem import (
    OVERFLOWING,
    KernelProblem,
    KernelSolution,
    kernel_certificate,
    value_roundings,
)
from pegasos_stats.solvers.kernel_run import check_kernel_solver
from pegasos_stats.solvers.objective import Certificate, best_intercept, feasible
from pegasos_stats.solvers.pegasos_run import Observer
from pegasos_stats.solvers.rounding import CLOSEST, UNIT
from pegasos_stats.solvers.sdca import SDCA, near_enough, warn_of
from pegasos_stats.solvers.sdca_run import run_epochs

TILE = 512  # rows and columns of a piece, which stays in the second cache
ADDED = 128  # values that are summed up before they are added to others
ROUGHEST = 1e-9  # of a value, what rounding may do to it
FEWEST = 64  # rows that are kept, however little memory is given
POWERS = 1000.0  # of two, that a value may reach either way


class KernelValues:
    """Values of a kernel between rows of a problem, as pieces of the Gram matrix.

    Inner products come from products of matrices. Two more columns make them the
    exponent of the Gaussian kernel, ``2 gamma x'z - gamma ||x||^2 - gamma ||z||^2``,
    of rows centred at their mean. Where rows are so far apart that the rounding of this
    difference would show, values are summed one by one.

    Parameters
    ----------
    problem : KernelProblem

    Attributes
    ----------
    unit : float
        Power of two that all values are divided by, so that none is above 1.
    roundings : float
        Of a value, in units of ``2^-53 sqrt(K(x, x) K(z, z))``, at most.

    Raises
    ------
    DataError
        If values of the kernel overflow.
    """

    def __init__(self, problem: KernelProblem) -> None:
        self._kernel, self._X, self.unit = problem.kernel, problem.X, 1.0
        self.roundings = value_roundings(problem.kernel, problem.p)
        self._summed = False
        if problem.kernel.name == "precomputed":
            self.unit = power_of_two(float(np.diag(problem.X).max()))
            return
        if problem.kernel.name == "gaussian":
            self._left, self._right = self._exponents()
        else:
            self._left, self._right = self._products()

    def __call__(self, rows: Rows, columns: Rows | slice) -> Matrix:
        """Values between these rows and these, each divided by the unit."""
        if self._kernel.name == "precomputed":
            return np.asarray(self._X[rows][:, columns] / self.unit)
        if self._summed:
            return self._one_by_one(rows, columns)
        found: Matrix = np.matmul(self._left[rows], self._right[columns].T)
        if self._kernel.name == "gaussian":
            return np.exp(found, out=found)
        return np.asarray(found ** (self._kernel.degree or 1))

    def _exponents(self) -> tuple[Matrix, Matrix]:
        """Columns whose products are the exponents of the Gaussian kernel."""
        gamma, p = self._kernel.gamma, self._X.shape[1]
        assert gamma is not None
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self._X - self._X.mean(axis=0)
            squares = gamma * np.einsum("ij,ij->i", Z, Z)
            roundings = (p + 16.0) * 4.0 * float(squares.max()) + 16.0
            self._summed = not roundings * UNIT <= ROUGHEST
            if not self._summed:
                self.roundings = roundings
            ones = np.ones(len(Z))
            left = np.column_stack([2.0 * gamma * Z, -squares, ones])
            return left, np.column_stack([Z, ones, -squares])

    def _products(self) -> tuple[Matrix, Matrix]:
        """Columns whose products are the values, or the bases of their powers."""
        X, degree = self._X, self._kernel.degree or 1
        offset = self._kernel.offset or 0.0
        largest = power_of_two(float(np.abs(X).max()))
        longest = math.sqrt(
            float(np.einsum("ij,ij->i", X / largest, X / largest).max())
        )
        size = power_of_two(max(largest * longest, math.sqrt(offset)))
        powers = 2.0 * degree * math.log2(size)
        if not powers <= POWERS:
            raise DataError(OVERFLOWING)
        size = max(size, 2.0 ** math.ceil(-0.5 * POWERS / degree))
        self.unit = size ** (2 * degree)
        Z, ones = X / size, np.ones((len(X), 1))
        if self._kernel.name == "linear":
            return Z, Z
        return np.hstack([Z, offset / size / size * ones]), np.hstack([Z, ones])

    def _one_by_one(self, rows: Rows, columns: Rows | slice) -> Matrix:
        others = self._X[columns]
        found = np.empty((len(rows), len(others)))
        width, code = pegasos.kernel_pegasos.WIDTH, self._kernel.code()
        for first in range(0, len(others), width):
            block = pegasos.kernel_pegasos.blocked(others[first : first + width])[0]
            for row, values in zip(rows, found[:, first : first + width], strict=True):
                pegasos.kernel_pegasos.kernel_values(code, self._X[row], block, values)
        return found

    def sums(self, weights: Vector) -> Vector:
        """``sum_j weights_j K(x_j, x_i)`` for all rows, shape (n,)."""
        support, n = np.flatnonzero(weights), len(self._X)
        total = np.zeros(n)
        for first in range(0, n, TILE):
            rows = np.arange(first, min(n, first + TILE))
            for start in range(0, support.size, ADDED):
                part = support[start : start + ADDED]
                total[rows] += self(rows, part) @ weights[part]
        return total * self.unit

    def roundings_of_sums(self, support: int) -> float:
        """Roundings of one of `sums` over so many rows, as `roundings` of a value."""
        return self.roundings + min(ADDED, support) + support / ADDED + 2.0


def power_of_two(number: float) -> float:
    """Return the power of two next above a number; 1 for 0.

    Examples
    --------
    >>> power_of_two(3.0), power_of_two(4.0), power_of_two(0.0)
    (4.0, 8.0, 1.0)
    """
    return 2.0 ** min(1023, math.frexp(number)[1])


class CachedRows:
    """Rows of the Gram matrix, as many as memory allows; those not used leave first.

    Parameters
    ----------
    values : KernelValues
    n : int
        Rows of the problem.
    memory : int
        Bytes that they may take.

    Attributes
    ----------
    rows : array, shape (capacity, n)
    """

    def __init__(self, values: KernelValues, n: int, memory: int) -> None:
        capacity = min(n, max(FEWEST, memory // (8 * n)))
        self.rows = np.empty((capacity, n))
        self._values = values
        self._owner = np.full(capacity, -1, dtype=np.int64)
        self._place = np.full(n, -1, dtype=np.int64)
        self._used = np.zeros(capacity, dtype=np.int64)
        self._calls = 0

    def places(self, wanted: Rows) -> Rows:
        """Return where these rows are kept, at most as many as there are places."""
        self._calls += 1
        there = self._place[wanted]
        self._used[there[there >= 0]] = self._calls
        missing = wanted[there < 0]
        if missing.size:
            oldest = np.argpartition(self._used, missing.size - 1)[: missing.size]
            self._fill(np.sort(oldest), missing)
        return self._place[wanted]

    def _fill(self, places: Rows, missing: Rows) -> None:
        leaving = self._owner[places]
        self._place[leaving[leaving >= 0]] = -1
        self._owner[places], self._place[missing] = missing, places
        self._used[places] = self._calls
        for first in range(0, len(self._place), TILE):
            columns = slice(first, first + TILE)
            self.rows[places, columns] = self._values(missing, columns)


WORKING_SET = 512  # rows; their part of the Gram matrix, 1 MiB, stays in a cache
PART = 0.1  # of how far slopes are apart, to which a working set is brought
MOST_STEPS = 20  # in a round, for each row of the working set
FLAT = 1e-12  # of the squared norms: rows that are not told apart
KNOWN = 0.1  # of a gap, below which the rest of it is a bound of rounding
SURE = 0.9  # of the tolerance, which an estimate is to reach
FIRST_LOOK, NEXT_LOOK = 1e-7, 1e-4  # the same of 1, and of the gap of the last look


class KernelAscent:
    """Dual weights of a kernel problem on their way up.

    A round takes the rows whose slopes ``y_i - f(x_i)`` are furthest apart, of those
    that may move, beside some of the last round. It moves them to their optimum, all
    others as they are, and adds what they moved by to the scores of all rows. Scores of
    a solution and its certificate are summed anew, and rounds go on from them.

    Parameters
    ----------
    problem : KernelProblem
    solver : SDCA
    a : float64 array, shape (n,), optional
        Dual weights to begin with.

    Attributes
    ----------
    is_stuck : bool
        Whether nearly all of the gap is a bound of rounding, so that nothing is done
        any more.

    References
    ----------
    Joachims, *Making large-scale SVM learning practical* (1999). Wen, Shi, Li, He &
    Chen, *ThunderSVM: a fast SVM library on GPUs and CPUs*, JMLR 19 (2018).
    """

    def __init__(
        self, problem: KernelProblem, solver: SDCA, a: Vector | None = None
    ) -> None:
        self.problem, self._solver = problem, solver
        self._y, self._w = problem.y, problem.row_weights
        self._values = KernelValues(problem)
        self._kept = CachedRows(self._values, problem.n, problem.memory)
        self._size = min(WORKING_SET, len(self._kept.rows))
        self._set = dual.working_sets.empty_set(self._size)
        self._a, self._slope = np.zeros(problem.n), problem.y.copy()
        self._order = np.arange(problem.n)
        self._last = np.zeros(0, dtype=np.int64)
        self._steps = self._violations = 0
        self.is_stuck = False
        self._settled: KernelSolution | None = None
        self._floor = FIRST_LOOK
        if a is not None:
            self.start_from(a)
        self._estimate()

    def start_from(self, a: Vector) -> None:
        """Go on from these dual weights."""
        problem = self.problem
        self._a = feasible(a, self._y, problem.intercept, problem.weights)
        scores = self._values.sums(self._a * self._y) / (problem.lam * problem.n)
        self._slope, self._settled = self._y - scores, None
        self._estimate()

    def move_to(self, lam: float) -> None:
        """Go on with another lambda, from ``t a`` with the ``t`` up to 1 of most dual.

        ``D(t a) = t mean(a) - t^2 sum_i a_i y_i g_i / (2 lam n^2)``.
        """
        g, n = self.solution(None).g, self.problem.n
        self.problem = replace(self.problem, lam=lam)
        length = float((self._a * self._y) @ g)
        t = min(1.0, float(self._a.sum()) * lam * n / length) if length > 0.0 else 1.0
        self._a = t * self._a
        self._slope = self._y - t * g / (lam * n)
        self._steps = self._violations = 0
        self._settled, self._floor = None, FIRST_LOOK
        self.is_stuck = False
        self._estimate()

    @property
    def visits(self) -> float:
        """Visits of rows so far."""
        return float(self._steps)

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is the first, which takes rows in random order."""
        return self._last.size == 0

    def epoch(self, rows: Rows) -> None:
        """Do rounds until as many rows were taken as there are, or the gap is small."""
        if rows.size:
            self._order = rows
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
        return kernel_certificate(self.problem, self.solution(None))

    def solution(self, seed: int | None) -> KernelSolution:
        """Return the solution of the present state, with recomputed scores."""
        if self._settled is None:
            self._settled = self._settle()
        return replace(self._settled, seed=seed)

    def _settle(self) -> KernelSolution:
        problem = self.problem
        # Weights at a bound stay there in the run; the certificate needs equal sums.
        a = feasible(self._a, self._y, problem.intercept, problem.weights)
        g = self._values.sums(a * self._y)
        scores, alpha = g / (problem.lam * problem.n), 0.0
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
        """Compute the gap from the rows, and choose when to do so again."""
        at = self.certificate()
        if not self._solver.reached(at):
            gap = at.relative_gap
            self._floor = NEXT_LOOK * gap
            self._estimate()
            self.is_stuck = self._gap < KNOWN * at.gap

    def _estimate(self) -> bool:
        """Find which rows may move; tell whether the gap seems small."""
        a, w, y, slope, n = self._a, self._w, self._y, self._slope, self.problem.n
        room, above = a < w, y > 0.0
        self._rise = np.where(np.where(above, room, a > 0.0), slope, -np.inf)
        self._fall = np.where(np.where(above, a > 0.0, room), slope, np.inf)
        self._alpha = 0.0
        if self.problem.intercept:
            high, low = float(self._rise.max()), float(self._fall.min())
            self._alpha, self._apart = 0.5 * (high + low), high - low
        else:
            self._apart = max(float(self._rise.max()), -float(self._fall.min()), 0.0)
        penalty = 0.5 * float((a * y) @ (y - slope)) / n
        slack = np.maximum(0.0, y * (slope - self._alpha))
        objective = penalty + float(w @ slack) / n
        self._gap = objective - (float(a.mean()) - penalty)
        goals = self._solver.tol * objective, self._solver.gap_tol or 0.0
        return self._gap <= max(self._floor * objective, SURE * max(goals))

    def _round(self) -> int:
        """Move a working set to its optimum; return the number of its rows."""
        taken = self._last = self._chosen()
        self._settled = None
        sets, moved, problem = dual.working_sets, self._set, self.problem
        places = self._kept.places(taken)
        sets.fill(
            moved,
            taken,
            self._kept.rows,
            places,
            self._y,
            self._w,
            self._a,
            self._slope,
        )
        self._violations += int(
            np.count_nonzero(self._y[taken] * (self._slope[taken] - self._alpha) > 0.0)
        )
        scale = problem.lam * problem.n / self._values.unit
        steps = sets.pair_steps if problem.intercept else sets.single_steps
        most = MOST_STEPS * taken.size
        self._steps += steps(moved, scale, PART * self._apart, FLAT, most)
        after = moved.a[: taken.size]
        change = (after - self._a[taken]) * self._y[taken]
        self._a[taken] = after
        self._add(taken, change)
        return int(taken.size)

    def _add(self, rows: Rows, change: Vector) -> None:
        """Add what ``a_i y_i`` of these rows have changed by to the scores of all."""
        shares = -change * self._values.unit / (self.problem.lam * self.problem.n)
        some = shares != 0.0
        rows, shares = rows[some], shares[some]
        for first in range(0, rows.size, self._size):
            part = slice(first, first + self._size)
            places = self._kept.places(rows[part])
            dual.working_sets.add_rows(
                self._kept.rows, places, shares[part], self._slope
            )

    def _chosen(self) -> Rows:
        """Rows whose slopes are furthest apart, and some of the last working set."""
        n, size, last = self.problem.n, self._size, self._last
        if size == n:
            return np.arange(n)
        fresh = self._furthest(size // 2 if last.size else size)
        rest = last[~np.isin(last, fresh)]
        inside = (self._a[rest] > 0.0) & (self._a[rest] < self._w[rest])
        rest = np.concatenate([rest[inside], rest[~inside]])
        return np.concatenate([fresh, rest[: size - fresh.size]])

    def _furthest(self, count: int) -> Rows:
        """Rows of the highest slopes that may rise, and of the lowest that may fall."""
        half = max(1, count // 2)
        rise, fall = self._rise[self._order], -self._fall[self._order]
        found = []
        for slopes in (rise, fall):
            top = np.argpartition(slopes, -half)[-half:]
            found.append(top[slopes[top] > -np.inf])
        return np.unique(self._order[np.concatenate(found)])


def run_kernel_sdca(
    problem: KernelProblem,
    solver: SDCA,
    observe: Observer | None = None,
    progress: bool = False,
    a: Vector | None = None,
) -> KernelSolution:
    """Run SDCA on a kernel problem, up to the tolerance.

    Parameters
    ----------
    problem : KernelProblem
    solver : SDCA
        Its options that kernels have: epochs, tolerances, seed, ties.
    observe, progress
        As for `run_sdca`.
    a : float64 array, shape (n,), optional
        Dual weights to begin with.

    Returns
    -------
    KernelSolution

    Raises
    ------
    OptionError
        If the solver has an option that kernels do not have.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    check_kernel_solver(problem, solver)
    ascent = KernelAscent(problem, solver, a)
    found: KernelSolution
    found, reached = run_epochs(ascent, problem.n, solver, observe, progress)
    if solver.stops and not reached:
        at = ascent.certificate()
        if not (solver.reached(at) or near_enough(at, solver)):
            closest = np.inf if ascent.is_stuck else CLOSEST
            taken_as = "tol" if a is None else "refine"
            warn_of(at, solver, False, taken_as, closest=closest)
    return found
