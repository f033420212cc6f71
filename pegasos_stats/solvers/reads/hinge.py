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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Rows, Vector, read_only
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.solvers.methods import solved_by_steps
from pegasos_stats.solvers.reads.foreseeing import Foreseen
from pegasos_stats.solvers.reads.kept import Kept
from pegasos_stats.solvers.reads.rows import Block, Taken, Values, plus
from pegasos_stats.solvers.reads.seeing import (
    NO_BOUND,
    Bound,
    Described,
    Point,
    Risk,
    risk_and_image,
    scores,
)
from pegasos_stats.solvers.reads.whole_weights import UNIT, balanced, cut
from pegasos_stats.solvers.rounding import Rounding
from pegasos_stats.solvers.sdca import SDCA

if TYPE_CHECKING:  # numba is loaded with the first kernel that is asked for
    from pegasos_stats.compiled.arithmetic.risk import Seen

NO_ROWS = np.zeros(0, dtype=np.int64)
WIDTHS = 4.0  # times sqrt(p / m)
ROOM = 0.8  # of the rows that may be kept, those of one read
FEW = 0.01  # of all rows, which a step may always make join if there is room
EPOCHS = 1000  # of a problem in memory


class Part(NamedTuple):
    """What a read finds in a block.

    Attributes
    ----------
    seen : Seen
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

    seen: Any
    above: Vector
    low: int
    high: int
    known_low: float
    known_high: float
    table: NDArray[np.int64]
    violations: int
    joined: list[tuple[Taken, Vector]]


@dataclass(frozen=True)
class Looking:
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

    def __call__(self, block: Block, state: Values) -> Part:
        """Look at a block, and change what is known of its rows."""
        first, X, y, w, offset = block
        o = np.zeros(0) if offset is None else offset
        sums, counts = np.zeros(dual.fixing.SUMS), np.zeros(dual.fixing.COUNTS, int)
        joined, began = np.zeros(y.size, dtype=np.int64), np.zeros(y.size)
        p, padded = X.shape[1], arithmetic.lanes.padded(X.shape[1])
        beta, images = np.zeros(padded), np.zeros((2, padded))
        beta[:p] = self.point.beta
        size = arithmetic.risk.rows_in_block(X, y.size, p)
        rows: Any = *map(read_only, (X, y, w, o, beta)), self.point.alpha
        how: Any = self.reach, self.delta, UNIT, size, state
        into: Any = joined, began, np.zeros((2, padded)), images, sums, counts
        count = dual.fixing.look(*rows, *how, *into)

        def taken(rows: Rows) -> Taken:
            known = np.zeros(rows.size) if offset is None else o[rows]
            return Taken(first + rows, X[rows], y[rows], w[rows], known)

        return Part(
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
) -> "Seen":
    """The sums that a certificate needs, from those of `look`."""
    at, units = dual.fixing, int(counts[-2:].sum())
    return arithmetic.risk.Seen(
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
    )


class NoRoomError(Exception):
    """The rows near the margin are more than may be kept."""


def near_margin(problem: Described, sample: Taken, point: Point, delta: float) -> float:
    """Share of the rows with a margin within delta of 1, as a sample says."""
    m = sample.y * scores(sample.X, point, sample.offset)
    near, (below, above) = np.abs(m - 1.0) <= delta, problem.home.class_weights
    shares = (float(near[sample.y == sign].mean()) for sign in (-1.0, 1.0))
    return float(np.dot([*shares], [below, above])) / problem.n


class Hinge:
    """The rows of the hinge between two reads.

    Attributes
    ----------
    point : Point
        Where the next read looks.
    bound : Bound
        Of the dual point at hand.
    kept : Kept
    state : Column
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
        self, problem: Described, sample: Taken, point: Point, delta: float
    ) -> None:
        self._problem, self.delta = problem, delta
        self.point, self.bound = point, NO_BOUND
        self.kept = Kept(problem.p)
        self.state = problem.home.blank(np.int8)
        self._foreseen = Foreseen(sample)
        self.near = near_margin(problem, sample, point, delta)
        self._is_first, self.stands, self.violations = True, False, 0
        self._sums: Part | None = None

    def read(self) -> Risk:
        """Read all rows: the risk of the point, rows to keep, sums of the others."""
        problem, before, self._sums = self._problem, self.kept.m, None
        self.kept.add(self._joining())
        self.stands = self.kept.m == before
        self._is_first = False
        sums = self._found()
        self.violations = sums.violations
        return Risk.of(problem, self.point, sums.seen, sums.table)

    def _joining(self) -> Iterator[tuple[Taken, Vector]]:
        reach = Rounding(self._problem, *self.point).reach
        delta = self.delta if self._is_first else -1.0
        looking = Looking(self.point, reach, delta)
        looking(self._foreseen.block, self._foreseen.state)
        home, count = self._problem.home, self.kept.m
        for part in home.read(looking, self.state):
            sums = part._replace(joined=[])
            self._sums = sums if self._sums is None else plus(self._sums, sums)
            count += sum(rows.y.size for rows, _ in part.joined)
            if count > home.most_kept:
                raise NoRoomError
            yield from part.joined

    def _found(self) -> Part:
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
        rows = Taken(np.zeros(0, dtype=np.int64), X, y, w, offset)
        inner = kept.problem(problem.lam, "hinge", problem.intercept, problem.n, rows)
        if inner.n == 0:  # no margin is below 1, or near it
            self.point = Point(np.zeros(problem.p), self.point.alpha)
            return
        scale = inner.n / problem.n  # of weights there to those here
        begin = np.concatenate([kept.a, w]) * scale
        exact = SDCA(EPOCHS, tol, seed=solver.seed, sample_kind=solver.sample_kind)
        found = solved_by_steps(inner, exact, begin)
        left, few = problem.home.most_kept - kept.m, FEW * problem.n
        of_class = self._found().table.sum(axis=1)
        given = self.point, Point(found.beta, found.alpha), of_class
        step = self._foreseen.step(*given, min(ROOM * left, max(kept.m, few)))
        if step is None and problem.home.most_kept < problem.n:
            raise NoRoomError
        self.point = given[1] if step is None else step
        a = cut(np.minimum(found.dual[: kept.m] / scale, kept.w))
        weights = balanced(a, kept.y, kept.w, high - low) if problem.intercept else a
        if weights is not None:
            kept.a = weights
            self.bound = self._bound(sums)

    def _bound(self, sums: Any) -> Bound:
        """The dual point: rows fixed, and rows kept with their weights."""
        kept, rounding = self.kept, Rounding(self._problem, *self.point)
        of_kept = risk_and_image(
            *(kept.rows, kept.y, self.point, arithmetic.losses.HINGE, kept.a, kept.w),
            offset=None if self._problem.farthest is None else kept.o,
        )
        both = sums.plus(of_kept)
        return Bound(rounding.reward(both), rounding.cost(both))

    def dual(self, weights: Vector | None) -> Vector:
        """Dual weights of all rows, of these weights in the risk."""
        full = 1.0 if weights is None else cut(weights)
        a: Vector = np.where(self.state.gathered() == dual.fixing.FULL, full, 0.0)
        a[self.kept.numbers] = self.kept.a
        return a

    def forget_rows(self) -> None:
        """Let go of the rows that are kept, to have room; nothing is read after it."""
        self.kept.forget_rows()
