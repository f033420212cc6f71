"""Active-set method for the hinge with streamed rows.

1. A sample of ``m`` rows has been solved. The errors of its margins are usually below
   ``delta = 3.5 sqrt(p / m)``.
2. The first pass fixes rows with a margin below ``1 - delta`` at ``a_i = w_i`` and rows
   with a margin above ``1 + delta`` at 0. The other rows are active and are stored in
   memory. For each class the pass sums ``w_i x_i`` over the rows fixed at ``w_i``.
3. The reduced problem consists of the active rows and, for each class, the mean of the
   rows fixed at ``w_i``, with their total weight. This is exact while all margins of
   these rows are below 1, because the hinge is linear there. The step to the solution
   is shortened if it would put too many fixed rows on the wrong side.
4. The next pass computes the objective and stores rows that were fixed on the wrong
   side. The dual objective follows from the active rows and the sums. Both objectives
   form the certificate. Repeat from 3.

The certificate covers all rows, so it is valid for any ``delta``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Rows, Vector
from pegasos_stats.data.scan.source import Block, RowSubset, Values, plus
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import solved_by_steps
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import Rounding
from pegasos_stats.solvers.streamed import risk_and_bound as bounds
from pegasos_stats.solvers.streamed.risk_and_bound import Point, Risk
from pegasos_stats.solvers.sums import Sums, risk_and_image

ZERO, FULL, RETAINED = 0, 1, 2  # dual weight 0; dual weight w_i; active, in memory
SAMPLE_ERRORS = 3.5  # width of the active set, in sqrt(p / m)
ROOM = 0.8  # maximum share of the free memory to fill in one pass
NO_ROWS = np.zeros(0, dtype=np.int64)


class NoRoomError(Exception):
    """The active rows do not fit in memory."""


class ActiveRows:
    """Active rows in memory, in the order of their addition.

    Parameters
    ----------
    most, p : int
        Maximum number of rows, and number of columns. The arrays use physical memory
        only for rows that are stored.

    Attributes
    ----------
    m : int
        Number of rows.
    dual : float64 array, shape (m,)
        Dual weights.
    """

    def __init__(self, most: int, p: int) -> None:
        self.m, self._most = 0, most
        self._numbers = np.empty(most, dtype=np.int64)
        self._X = np.empty((most + 2, p))  # and two rows for the means of fixed rows
        self._row_data = np.empty((3, most + 2))
        self.dual = np.zeros(0)

    @property
    def numbers(self) -> Rows:
        """Indices of the active rows among all rows."""
        return self._numbers[: self.m]

    def add(self, rows: RowSubset, dual: Vector) -> None:
        """Store further rows, with initial dual weights."""
        here = slice(self.m, self.m + dual.size)
        if here.stop > self._most:
            raise NoRoomError
        self._numbers[here] = rows.numbers
        self._put(here, rows)
        self.dual, self.m = np.concatenate([self.dual, dual]), here.stop

    def _put(self, here: slice, rows: RowSubset) -> None:
        offset = 0.0 if rows.offset is None else rows.offset
        self._X[here] = rows.X
        for room, values in zip(self._row_data, (rows.y, rows.w, offset), strict=True):
            room[here] = values

    def together(self, others: RowSubset) -> RowSubset:
        """Return these rows followed by others, which later calls overwrite."""
        end = self.m + others.y.size
        self._put(slice(self.m, end), others)
        y, w, offset = self._row_data[:, :end]
        return RowSubset(self.numbers, self._X[:end], y, w, offset)


def is_wrong(state: Values, m: Vector) -> Values:
    """Mark rows fixed at a dual weight that contradicts their margin.

    Examples
    --------
    >>> is_wrong(np.array([FULL, FULL, ZERO, RETAINED]), np.array([0.5, 1.5, 0.5, 0.5]))
    array([False,  True,  True, False])
    """
    wrong: Values = ((state == FULL) & (m > 1.0)) | ((state == ZERO) & (m < 1.0))
    return wrong


class HingeSums(NamedTuple):
    """Sums and new active rows of a block.

    Attributes
    ----------
    totals : Sums
        Sums at the point, with the dual weights of the fixed rows.
    above : float64 array, shape (p,)
        ``sum_i a_i x_i`` over the rows with ``y_i = +1`` that are fixed at
        ``a_i = w_i``.
    fixed : int64 array, shape (2,)
        ``sum_i a_i`` over the rows fixed at ``w_i``, for each class, in units of
        `DUAL_UNIT`.
    offset_sums : float64 array, shape (2,)
        ``sum_i a_i offset_i`` over the same rows.
    joined : list of pairs
        Rows that become active, and their dual weights before.
    """

    totals: Sums
    above: Vector
    fixed: NDArray[np.int64]
    offset_sums: Vector
    joined: list[tuple[RowSubset, Vector]]


@dataclass(frozen=True)
class HingePass:
    """Sum the rows of a block in a pass, and update their states.

    Attributes
    ----------
    point : Point
    reach : float
        Bound on the rounding error of a margin.
    delta : float or None
        In the first pass, rows with a margin within this distance of 1 become active;
        None in later passes.
    """

    point: Point
    reach: float
    delta: float | None

    def state(self, m: Vector, before: Values) -> tuple[Values, Values]:
        """Update the states of rows, and mark rows to store, by their margins."""
        if self.delta is None:
            return before, is_wrong(before, m)
        return m < 1.0 - self.delta, np.abs(m - 1.0) <= self.delta

    def __call__(self, block: Block, state: Values) -> HingeSums:
        """Sum the rows of a block, and update their states."""
        first, X, y, w, offset = block
        scores = bounds.scores(X, self.point)
        f = scores if offset is None else scores + offset
        m = y * f
        before, joins = self.state(m, state)
        rows, a = np.flatnonzero(joins), bounds.cut(w) * (before == FULL)
        began, a[rows] = a[rows], 0.0
        state[:] = before
        state[rows] = RETAINED
        of_class = a * (y < 0.0), a * (y > 0.0)
        o = np.zeros(y.size) if offset is None else offset
        joined = RowSubset(first + rows, X[rows], y[rows], w[rows], o[rows])
        return HingeSums(
            totals=risk_and_image(
                *(X, y, *self.point, "hinge", a, w, self.reach, offset, scores)
            ),
            above=bounds.blockwise_image(X, of_class[1]),
            fixed=np.array([bounds.units(c) for c in of_class]),
            offset_sums=np.array([float(c @ o) for c in of_class]),
            joined=[(joined, began)] if rows.size else [],
        )


def rows_like(problem: Problem, y: Vector, chosen: Values) -> float:
    """Estimate how many of all rows are like the chosen rows of a sample."""
    count = 0.0
    for sign in (-1.0, 1.0):
        share = float(chosen[y == sign].mean())
        count += share * np.count_nonzero(problem.y == sign)
    return count


def near_margin(
    problem: Problem, sample: RowSubset, point: Point, delta: float
) -> float:
    """Estimate the number of rows with a margin within `delta` of 1."""
    m = sample.y * bounds.scores(sample.X, point, sample.offset)
    return rows_like(problem, sample.y, np.abs(m - 1.0) <= delta)


def thinned(sample: RowSubset, most: int) -> Block:
    """Take about `most` evenly spaced rows of each class of a sample."""
    rows = [np.flatnonzero(sample.y == sign) for sign in (-1.0, 1.0)]
    few = np.concatenate([of[:: max(1, -(-of.size // most))] for of in rows])
    offset = None if sample.offset is None else sample.offset[few]
    return Block(0, sample.X[few], sample.y[few], sample.w[few], offset)


class StreamedHinge:
    """Active-set method for the hinge, with one pass per step.

    Attributes
    ----------
    point : Point
        Point of the next pass.
    bound : Bound
        Bound of the current dual point.
    active : ActiveRows
    state : int8 array, shape (n,)
        `ZERO`, `FULL` or `RETAINED` of each row.
    violations : int
        Rows with a margin below 1 in the last pass.
    has_stalled : bool
        Whether the last pass activated no row.
    seed : int or None
        Seed, if a solution visited rows in random order.
    """

    name = "active set"
    seed: int | None = None

    def __init__(
        self, problem: Problem, sample: RowSubset, point: Point, delta: float
    ) -> None:
        self._problem, self._delta = problem, delta
        self.point, self.bound = point, bounds.NO_BOUND
        self.active = ActiveRows(min(problem.X.max_retained_rows, problem.n), problem.p)
        self.state = np.zeros(problem.n, dtype=np.int8)
        self._few = thinned(sample, max(1, 2**20 // problem.p // 2))
        self._state_of_few = np.zeros(self._few.y.size, dtype=np.int8)
        self.has_stalled, self.violations = False, 0
        self._sums: HingeSums | None = None

    def pass_over(self) -> Risk:
        """Pass over all rows: compute the objective, store new active rows."""
        problem, before = self._problem, self.active.m
        reach = Rounding(problem, *self.point).reach
        delta = self._delta if self._sums is None else None
        looking, sums = HingePass(self.point, reach, delta), None
        looking(self._few, self._state_of_few)
        for part in problem.X.map_blocks(looking, self.state):
            for rows, dual in part.joined:
                self.active.add(rows, dual)
            part = part._replace(joined=[])
            sums = part if sums is None else plus(sums, part)
        assert sums is not None  # a source is never empty
        self._sums, self.has_stalled = sums, self.active.m == before
        self.violations = sums.totals.violations
        return Risk.of(problem, self.point, sums.totals)

    def solve(self, tol: float, solver: Optimum) -> None:
        """Solve the reduced problem in memory for the next point and a dual point."""
        problem, active, sums = self._problem, self.active, self._sums
        assert sums is not None  # after a pass
        both = self._with_fixed(sums)
        if both.y.size == 0:  # all margins are well above 1
            self.point = Point(np.zeros(problem.p), self.point.alpha)
            return
        # The reduced problem divides by its number of rows instead of n.
        scale = both.y.size / problem.n
        offset = None if problem.max_abs_offset is None else both.offset
        like = both.X, both.y, problem.lam, problem.loss, problem.intercept
        inner = Problem(*like, weights=both.w * scale, offset=offset)
        begin = np.concatenate([active.dual, both.w[active.m :]]) * scale
        exact = Optimum(
            tol, epochs=1000, seed=solver.seed, sample_kind=solver.sample_kind
        )
        solution = solved_by_steps(inner, exact, begin)
        self.seed = solution.seed if self.seed is None else self.seed
        self.point = self._within_room(Point(solution.beta, solution.alpha))
        own = slice(active.m)
        X, y, w = both.X[own], both.y[own], both.w[own]
        a = bounds.cut(np.minimum(solution.dual[own] / scale, w))
        excess = int(sums.fixed[1] - sums.fixed[0])
        weights = bounds.balanced_units(a, y, w, excess) if problem.intercept else a
        if weights is not None:
            active.dual, offset = weights, None if offset is None else offset[own]
            of_kept = risk_and_image(
                *(X, y, *self.point, "hinge", weights, w), offset=offset
            )
            self.bound = bounds.Bound.of(problem, sums.totals.plus(of_kept))

    def _with_fixed(self, sums: HingeSums) -> RowSubset:
        """Return the active rows, and for each class one row for its fixed rows."""
        w = sums.fixed.astype(np.float64) * bounds.DUAL_UNIT
        # The image is the sum over the class +1 minus the sum over the class -1.
        below = sums.above - sums.totals.image
        X: Matrix = np.array([below, sums.above])
        there = w > 0.0
        of = w[there]
        y = np.array([-1.0, 1.0])[there]
        mean: Matrix = X[there] / of[:, None]
        offsets: Vector = sums.offset_sums[there] / of
        return self.active.together(RowSubset(NO_ROWS, mean, y, of, offsets))

    def _within_room(self, end: Point) -> Point:
        """Halve a step until the rows fixed on the wrong side fit in memory.

        Raises
        ------
        NoRoomError
            If eight halvings do not suffice, and memory is too small for all rows.
        """
        problem, left = self._problem, self._problem.X.max_retained_rows - self.active.m
        most, few = min(ROOM * left, max(self.active.m, 0.01 * problem.n)), self._few
        solved = end
        for _ in range(9):
            m = few.y * bounds.scores(few.X, end, few.offset)
            wrong = is_wrong(self._state_of_few, m)
            if rows_like(problem, few.y, wrong) <= most:
                return end
            beta = (self.point.beta + end.beta) / 2.0
            end = Point(beta, (self.point.alpha + end.alpha) / 2.0)
        if problem.X.max_retained_rows < problem.n:
            raise NoRoomError
        return solved

    def dual(self, weights: Vector | None) -> Vector:
        """Return the dual weights of all rows, for these row weights."""
        full = 1.0 if weights is None else bounds.cut(weights)
        a: Vector = np.where(self.state == FULL, full, 0.0)
        a[self.active.numbers] = self.active.dual
        return a
