"""The hinge: rows far from the margin are fixed, the others kept in memory.

1. A sample has been solved; its point errs by about ``delta = 4 sqrt(p / m)`` in a
   margin.
2. The first read fixes rows with a margin below ``1 - delta`` at ``a_i = w_i`` and
   those above ``1 + delta`` at 0. The others are kept. Of the rows fixed at ``w_i`` it
   sums ``w_i x_i`` in each class.
3. The problem with the fixed rows fixed is one of the kept rows and, for each class,
   one row that stands for those fixed at ``w_i``: their mean, of their total weight.
   That is exact while its margin is below 1, because the hinge is straight there. The
   step to its solution is cut where it would put too many rows on the wrong side.
4. The next read keeps rows that were fixed on the wrong side as well, and gives the
   risk of the point. The dual point is known from memory and the sums: both together
   are the certificate. Then 3 again.

No choice of ``delta`` can make the certificate wrong, which looks at all rows.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Matrix, Rows, Vector, read_only
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.data.scan.rows import Block, RowSubset, Values, plus
from pegasos_stats.solvers.losses import LossName
from pegasos_stats.solvers.newton.sums import Sums, risk_and_image
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.reads.risk_and_bound import (
    NO_BOUND,
    UNIT,
    Bound,
    Point,
    Risk,
    balanced,
    cut,
    scores,
)
from pegasos_stats.solvers.rounding import Rounding
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import solved_by_steps


def rows_in_block(n: int, p: int, stored: int) -> int:
    """Rows that are summed by themselves: about ``sqrt(n)``, more if these are short.

    A sum of ``n`` numbers in blocks has the rounding of ``2 sqrt(n)`` of them.
    """
    blocks = min(math.isqrt(n), stored // (8 * p + 1)) + 1
    return max(1, -(-n // blocks))


class ActiveRows:
    """Rows in memory, in the order in which they came.

    Attributes
    ----------
    numbers : int64 array, shape (m,)
    y, w, a, o : float64 array, shape (m,)
        Labels, weights in the risk, dual weights, and offsets.
    """

    def __init__(self, p: int) -> None:
        self.numbers = np.zeros(0, dtype=np.int64)
        self.y, self.w, self.a, self.o = (np.zeros(0) for _ in range(4))
        self._room = np.zeros((0, p))

    @property
    def m(self) -> int:
        """Number of rows."""
        return self.y.size

    @property
    def rows(self) -> Matrix:
        """The rows, shape (m, p), in double precision."""
        return self._room[: self.m]

    def add(self, parts: Iterable[tuple[RowSubset, Vector]]) -> None:
        """Keep further rows, with dual weights to begin with."""
        pieces, count = [(self.numbers, self.y, self.w, self.a, self.o)], self.m
        for rows, a in parts:
            self._put(count, rows.X)
            count += rows.y.size
            o = np.zeros(a.size) if rows.offset is None else rows.offset
            pieces.append((rows.numbers, rows.y, rows.w, a, o))
        self.numbers = np.concatenate([piece[0] for piece in pieces])
        self.y = np.concatenate([piece[1] for piece in pieces])
        self.w = np.concatenate([piece[2] for piece in pieces])
        self.a = np.concatenate([piece[3] for piece in pieces])
        self.o = np.concatenate([piece[4] for piece in pieces])

    def forget_rows(self) -> None:
        """Keep their numbers and dual weights alone."""
        self._room = self._room[:0].copy()
        self.y = self.w = self.o = self.y[:0].copy()

    def _put(self, count: int, further: Dense) -> None:
        """Put rows after the first `count`, in more room if there is not enough."""
        needed = count + len(further)
        if needed > len(self._room):  # grown in place, a quarter at a time
            room = max(needed + 16, len(self._room) * 5 // 4)
            self._room.resize((room, self._room.shape[1]), refcheck=False)
        self._room[count:needed] = further

    def problem(
        self,
        lam: float,
        loss: LossName,
        intercept: bool,
        n: int,
        others: RowSubset,
    ) -> Problem:
        """The problem of these rows and of others that stand for those not kept.

        ``lam/2 ||beta||^2 + (1/n) sum_i w_i loss(m_i)`` over both.
        """
        self._put(self.m, others.X)
        y = np.concatenate([self.y, others.y])
        w = np.concatenate([self.w, others.w])
        known = others.offset
        offset = None if known is None else np.concatenate([self.o, known])
        # A problem divides by the number of its rows, and here it is to be by n.
        return Problem(
            *(self._room[: y.size], y, lam, loss, intercept),
            weights=w * (y.size / n),
            offset=offset,
        )


NUMBERS = 2**20  # of the rows: eight megabytes
HALVINGS = 8  # of a step at most; what needs more has no end


def is_wrong(state: Values, m: Vector) -> Values:
    """Whether rows are fixed at a dual weight that their margins contradict.

    Examples
    --------
    >>> zero, full, kept = dual.fixing.ZERO, dual.fixing.FULL, dual.fixing.KEPT
    >>> is_wrong(np.array([full, full, zero, kept]), np.array([0.5, 1.5, 0.5, 0.5]))
    array([False,  True,  True, False])
    """
    at_zero, at_full = state == dual.fixing.ZERO, state == dual.fixing.FULL
    wrong: Values = (at_full & (m > 1.0)) | (at_zero & (m < 1.0))
    return wrong


class StepLimiter:
    """Some rows of each class of a sample, and what a fit knows of them.

    Attributes
    ----------
    block : Block
    state : int8 array
        As of all rows.
    """

    def __init__(self, sample: RowSubset) -> None:
        most = max(1, NUMBERS // max(1, sample.X.shape[1]) // 2)
        rows = np.concatenate([thinned(sample.y == sign, most) for sign in (-1.0, 1.0)])
        offset = None if sample.offset is None else sample.offset[rows]
        self.block = Block(0, sample.X[rows], sample.y[rows], sample.w[rows], offset)
        self.state = np.zeros(rows.size, dtype=np.int8)

    def wrong(self, point: Point, of_class: NDArray[np.int64]) -> float:
        """About how many of all rows are fixed wrongly at a point.

        Parameters
        ----------
        point : Point
        of_class : int array, shape (2,)
            Rows of -1, and of +1, that there are.
        """
        y = self.block.y
        found = is_wrong(self.state, y * scores(self.block.X, point, self.block.offset))
        shares = [float(found[y == sign].mean()) for sign in (-1.0, 1.0)]
        return float(np.dot(shares, of_class))

    def step(
        self, start: Point, end: Point, of_class: NDArray[np.int64], room: float
    ) -> Point | None:
        """The end of a step, or a point halfway and so on; None if none has room."""
        for _ in range(1 + HALVINGS):
            if self.wrong(end, of_class) <= room:
                return end
            beta, alpha = (start.beta + end.beta) / 2.0, (start.alpha + end.alpha) / 2.0
            end = Point(beta, alpha)
        return None


def thinned(chosen: Values, most: int) -> Rows:
    """Numbers of about so many chosen rows, evenly spread.

    Examples
    --------
    >>> thinned(np.array([True, True, False, True, True, True]), 2).tolist()
    [0, 4]
    """
    rows = np.flatnonzero(chosen)
    return rows[:: max(1, -(-rows.size // most))]


WIDTHS = 4.0  # times sqrt(p / m)
ROOM = 0.8  # of the rows that may be kept, those of one read
FEW = 0.01  # of all rows, which a step may always make join if there is room
EPOCHS = 1000  # of a problem in memory


class HingeSums(NamedTuple):
    """What a read finds in a block.

    Attributes
    ----------
    seen : Sums
        Sums at the point, with the dual weights of the rows fixed.
    above : float64 array, shape (p,)
        ``sum_i a_i x_i`` of the rows of ``y_i = +1`` that are fixed at ``a_i = w_i``.
    low, high : int
        ``sum_i a_i`` of the rows fixed there, of -1 and of +1, in units.
    known_low, known_high : float
        ``sum_i a_i offset_i`` of the same rows.
    table : int array, shape (2, 3)
    violations : int
        Rows with a margin below 1.
    joined : list of pairs
        Rows to keep from now on, and their dual weights so far.
    """

    seen: Sums
    above: Vector
    low: int
    high: int
    known_low: float
    known_high: float
    table: NDArray[np.int64]
    violations: int
    joined: list[tuple[RowSubset, Vector]]


@dataclass(frozen=True)
class HingePass:
    """What a read does with a block, and with what is known of its rows.

    Attributes
    ----------
    point : Point
    reach : float
        How far rounding may move a margin.
    delta : float
        About 1, margins of the rows to keep; below 0 after the first read.
    """

    point: Point
    reach: float
    delta: float

    def __call__(self, block: Block, state: Values) -> HingeSums:
        """Look at a block, and change what is known of its rows."""
        first, X, y, w, offset = block
        o = np.zeros(0) if offset is None else offset
        sums, counts = np.zeros(dual.fixing.SUMS), np.zeros(dual.fixing.COUNTS, int)
        joined, began = np.zeros(y.size, dtype=np.int64), np.zeros(y.size)
        p, padded = X.shape[1], arithmetic.lanes.padded(X.shape[1])
        beta, images = np.zeros(padded), np.zeros((2, padded))
        beta[:p] = self.point.beta
        size = rows_in_block(y.size, p, X.size)
        count = dual.fixing.screen_rows(
            read_only(X),
            read_only(y),
            read_only(w),
            read_only(o),
            read_only(beta),
            self.point.alpha,
            self.reach,
            self.delta,
            UNIT,
            size,
            state,
            joined,
            began,
            np.zeros((2, padded)),
            images,
            sums,
            counts,
        )

        def taken(rows: Rows) -> RowSubset:
            known = np.zeros(rows.size) if offset is None else o[rows]
            return RowSubset(first + rows, X[rows], y[rows], w[rows], known)

        return HingeSums(
            seen=seen_by(sums, counts, images[:, :p], size + -(-y.size // size) + 1),
            above=images[1, :p],
            low=int(counts[dual.fixing.LOW_UNITS]),
            high=int(counts[dual.fixing.HIGH_UNITS]),
            known_low=float(sums[dual.fixing.LOW]),
            known_high=float(sums[dual.fixing.HIGH]),
            table=counts[:6].reshape(2, 3),
            violations=int(counts[dual.fixing.VIOLATIONS]),
            joined=[(taken(joined[:count]), began[:count].copy())] if count else [],
        )


def seen_by(
    sums: Vector, counts: NDArray[np.int64], images: Matrix, additions: int
) -> Sums:
    """The sums that a certificate needs, from those of `look`."""
    at, units = dual.fixing, int(counts[-2:].sum())
    return Sums(
        loss=float(sums[at.LOSS]),
        loss_rest=float(sums[at.LOSS_REST]),
        entropy=float(units) * UNIT,
        entropy_rest=float(units - int(float(units))) * UNIT,
        errors=int(counts[1] + counts[3]),
        at_zero=(int(counts[2]), int(counts[5])),
        exposed=float(sums[at.EXPOSED]),
        dual=float(units) * UNIT,
        image=images[1] - images[0],
        additions=additions,
        known=float(sums[at.KNOWN]),
        known_rest=float(sums[at.KNOWN_REST]),
        known_size=float(sums[at.KNOWN_SIZE]),
        share=2.0**-53,  # compensated: the rests are known
    )


class NoRoomError(Exception):
    """The rows near the margin are more than may be kept."""


def near_margin(
    problem: Problem, sample: RowSubset, point: Point, delta: float
) -> float:
    """Share of the rows with a margin within delta of 1, as a sample says."""
    m = sample.y * scores(sample.X, point, sample.offset)
    near, (below, above) = np.abs(m - 1.0) <= delta, problem.class_weights
    shares = (float(near[sample.y == sign].mean()) for sign in (-1.0, 1.0))
    return float(np.dot([*shares], [below, above])) / problem.n


class StreamedHinge:
    """The rows of the hinge between two reads.

    Attributes
    ----------
    point : Point
        Where the next read looks.
    bound : Bound
        Of the dual point at hand.
    kept : ActiveRows
    state : int8 array, shape (n,)
        `ZERO`, `FULL` or `KEPT` of each row, as in `compiled.dual.fixing`.
    violations : int
        Rows with a margin below 1 at the last read.
    stands : bool
        Whether the last read found no row to keep.
    near : float
        Share of the rows that the first read is to keep, as the sample says.
    delta : float
        How far from 1 the margins of these are at most.
    """

    def __init__(
        self, problem: Problem, sample: RowSubset, point: Point, delta: float
    ) -> None:
        self._problem, self.delta = problem, delta
        self.point, self.bound = point, NO_BOUND
        self.kept = ActiveRows(problem.p)
        self.state = np.zeros(problem.n, dtype=np.int8)
        self._foreseen = StepLimiter(sample)
        self.near = near_margin(problem, sample, point, delta)
        self._is_first, self.stands, self.violations = True, False, 0
        self._sums: HingeSums | None = None

    def read(self) -> Risk:
        """Read all rows: the risk of the point, rows to keep, sums of the others."""
        problem, before, self._sums = self._problem, self.kept.m, None
        self.kept.add(self._joining())
        self.stands = self.kept.m == before
        self._is_first = False
        sums = self._found()
        self.violations = sums.violations
        return Risk.of(problem, self.point, sums.seen, sums.table)

    def _joining(self) -> Iterator[tuple[RowSubset, Vector]]:
        reach = Rounding(self._problem, *self.point).reach
        delta = self.delta if self._is_first else -1.0
        looking = HingePass(self.point, reach, delta)
        looking(self._foreseen.block, self._foreseen.state)
        home, count = self._problem.X, self.kept.m
        for part in home.read(looking, self.state):
            sums = part._replace(joined=[])
            self._sums = sums if self._sums is None else plus(self._sums, sums)
            count += sum(rows.y.size for rows, _ in part.joined)
            if count > home.most_kept:
                raise NoRoomError
            yield from part.joined

    def _found(self) -> HingeSums:
        assert self._sums is not None  # no home is without rows
        return self._sums

    def solve(self, tol: float, solver: SDCA) -> None:
        """Solve the problem in memory: the next point, and its dual point."""
        problem, kept = self._problem, self.kept
        sums, above, low, high, known_low, known_high, *_ = self._found()
        below = above - sums.image  # which is that of +1 less that of -1
        others = [(-1.0, low, below, known_low), (1.0, high, above, known_high)]
        means = [
            (y, count * UNIT, x / (count * UNIT), o / (count * UNIT))
            for y, count, x, o in others
            if count > 0
        ]
        y, w = (np.array([mean[k] for mean in means]) for k in (0, 1))
        X: Matrix = np.zeros((y.size, problem.p))
        X[:] = [mean[2] for mean in means] or 0.0
        has = problem.farthest is not None
        offset = np.array([mean[3] for mean in means]) if has else None
        rows = RowSubset(np.zeros(0, dtype=np.int64), X, y, w, offset)
        inner = kept.problem(problem.lam, "hinge", problem.intercept, problem.n, rows)
        if inner.n == 0:  # no margin is below 1, or near it
            self.point = Point(np.zeros(problem.p), self.point.alpha)
            return
        scale = inner.n / problem.n  # of weights there to those here
        begin = np.concatenate([kept.a, w]) * scale
        exact = SDCA(EPOCHS, tol, seed=solver.seed, sample_kind=solver.sample_kind)
        found = solved_by_steps(inner, exact, begin)
        left, few = problem.X.most_kept - kept.m, FEW * problem.n
        of_class = self._found().table.sum(axis=1)
        solved = Point(found.beta, found.alpha)
        most = min(ROOM * left, max(kept.m, few))
        step = self._foreseen.step(self.point, solved, of_class, most)
        if step is None and problem.X.most_kept < problem.n:
            raise NoRoomError
        self.point = solved if step is None else step
        a = cut(np.minimum(found.dual[: kept.m] / scale, kept.w))
        weights = balanced(a, kept.y, kept.w, high - low) if problem.intercept else a
        if weights is not None:
            kept.a = weights
            self.bound = self._bound(sums)

    def _bound(self, sums: Sums) -> Bound:
        """The dual point: rows fixed, and rows kept with their weights."""
        kept, rounding = self.kept, Rounding(self._problem, *self.point)
        of_kept = risk_and_image(
            *(kept.rows, kept.y, *self.point, "hinge", kept.a, kept.w),
            offset=None if self._problem.farthest is None else kept.o,
        )
        both = sums.plus(of_kept)
        return Bound(rounding.reward(both), rounding.cost(both))

    def dual(self, weights: Vector | None) -> Vector:
        """Dual weights of all rows, of these weights in the risk."""
        full = 1.0 if weights is None else cut(weights)
        a: Vector = np.where(self.state == dual.fixing.FULL, full, 0.0)
        a[self.kept.numbers] = self.kept.a
        return a

    def forget_rows(self) -> None:
        """Let go of the rows that are kept, to have room; nothing is read after it."""
        self.kept.forget_rows()
