"""The exact optimum with a free intercept from few reads of the rows.

The work of the exact solver on the rows is of three kinds only: scores ``x_i'beta``,
sums ``sum_i c_i x_i``, and products with the few rows whose curvature is not zero. So
rows may be in memory, in files, or on other machines, if these three can be asked for.

A sample that fits in memory is solved; then each read improves on the point before,
and gives the risk of that point. How is a matter of the loss: see below, and
``hinge.py``.

With the log loss and a small penalty the solution may fit the sample too well. A level
of a factor with few rows in it, all of one label, has a large coefficient and margins
far out, where the loss is flat, and Newton's steps for all rows go astray from there.
So the problem of the sample has the penalty, of those 10 times larger than each other,
whose solution for half of the sample has the least risk in the other half.

A loss that bends: the log loss, or the hinge with its corner rounded.
With slopes ``-s_i`` and second derivatives ``b_i`` of the losses of the rows, at their
margins, a read gives the gradient and the curvature

    g = lam J theta - (1/n) sum_i w_i s_i y_i z_i
    H = lam J + (1/n) sum_i w_i b_i z_i z_i'

with ``z = (1, x)`` and ``J`` the identity with a 0 for the intercept; the next point is
``theta - H^-1 g``, from the solution of a sample, where Newton's method is at home.
A step that led up is taken again from the point before, no longer than a radius: the
least value of the quadratic model with ``||D^(1/2) step|| <= r`` and ``D`` the mean
squares of ``z``, which is ``-(H + mu D)^-1 g``. The radius is a part of the step that
led up, and grows with every one that leads down. So a direction in which the loss is
all but flat at the point, as that of a level whose few rows are far out, is gone along
in some reads, and no step is too short in the others.

``a_i = w_i s_i`` is a dual point as soon as ``sum_i a_i y_i = 0``. What is missing at
the point of a read is taken off the weights of the sample, which is in memory: little,
and less with every step.

References
----------
Yu, Hsieh, Chang & Lin, *Large linear classification when data cannot fit in memory*,
KDD 2010.

More & Sorensen, *Computing a trust region step*, SIAM Journal on Scientific and
Statistical Computing 4, 1983.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Matrix, Rows, Vector
from pegasos_stats.data.scan.rows import Block, RowSubset, Values, added, size_of_sample
from pegasos_stats.solvers.centring import constants_of, without_constants
from pegasos_stats.solvers.certificate import Certificate
from pegasos_stats.solvers.losses import LOSSES, LossName
from pegasos_stats.solvers.method import NEWTON
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import MethodRun, Problem, Solution, joined
from pegasos_stats.solvers.rounding import Rounding
from pegasos_stats.solvers.sdca_run import solved_by_steps
from pegasos_stats.solvers.streamed import hinge
from pegasos_stats.solvers.streamed import risk_and_bound as bounds
from pegasos_stats.solvers.streamed.risk_and_bound import Point, Risk
from pegasos_stats.solvers.sums import Sums, risk_and_image
from pegasos_stats.solvers.threads import one_thread

NARROWER = 8.0  # what the width is divided by at most, after a step
CAREFUL = 2.0  # the same, once a step led up
MOST_DAMPED = 20  # steps; what needs more has no end
IN_CORNER = 5  # rows for each coefficient
AFTER = 0.5  # of the length of a step, what margins may still be off after it
LITTLE = 1e-3  # of the width: steps that are no longer bring nothing
LEAST_WIDTH = sys.float_info.min  # of a width
WIDEST = 4.0  # radius after a step that led up: a change of scores, about
SHORTER, LONGER = 0.25, 2.0  # radius, by a step that led up, and by one that did not
LEAST, HALVINGS = 2.0**-80, 60  # of the largest ``mu``; of its range, on a log scale
ENOUGH = 4  # rows to keep for each coefficient, at least
NARROWEST = 2.0**-20  # of the width: margins of rows to keep, where no step was made
WIDER = 1.5  # what the margins of rows to keep are multiplied by until there are
MOST_FAILED = 8  # times that rows found no room after all
FINER = 0.25  # of the tolerance, to which problems in memory are solved
FINEST = 1e-13  # relative gap of a problem in memory
ROUGH = 1e-4  # relative gap of the problem of the sample
FURTHER, MOST = 10.0, 1e6  # factors of its penalty
MOST_DUAL = 2.0**30  # sum of the dual weights of which units are counted exactly
HALVES = 1  # seed of the halves of a sample
TEN, LAST_SHARE = 10.0, 1e-4  # what the share is divided by where a read found nothing


class Curve(NamedTuple):
    """A loss that bends, or the hinge with its corner rounded over a width.

    Attributes
    ----------
    loss : str
        The loss in the risk.
    width : float
        Of the corner; 0 for a loss that has none.

    Examples
    --------
    >>> hinge = Curve("hinge", 0.5)
    >>> hinge.slopes(np.array([0.7, 0.9, 1.0, 1.25, 2.0]))
    array([1. , 0.7, 0.5, 0. , 0. ])
    >>> Curve("hinge", 0.8).above(np.ones(3), np.array([0.0, 1.0, 2.0]))
    0.1
    """

    loss: LossName
    width: float = 0.0

    def slopes(self, m: Vector) -> Vector:
        """Those of the loss, or ``clip(1/2 + (1 - m) / width, 0, 1)``."""
        if not self.width:
            return LOSSES[self.loss].slopes(m)
        return np.clip(0.5 + (1.0 - m) / self.width, 0.0, 1.0)

    def bends(self, w: Vector, s: Vector) -> Vector:
        """Those of the loss, or ``w / width`` in the corner: second derivatives."""
        if not self.width:
            return w * LOSSES[self.loss].bends(s)
        return np.where((s > 0.0) & (s < 1.0), w / self.width, 0.0)

    def above(self, w: Vector, m: Vector) -> float:
        """Sum by which it is above the loss in the risk."""
        if not self.width:
            return 0.0
        short = np.maximum(0.5 - np.abs(1.0 - m) / self.width, 0.0)
        return float(w @ (short * short)) * self.width / 2.0


class NewtonSums(NamedTuple):
    """What a read finds in a block.

    Attributes
    ----------
    seen : Sums
        Sums at the point, with the dual weights of rows that are not of the sample.
    excess : int
        ``sum_i a_i y_i`` of these, in units.
    first, second : float64 array, shape (k,) and (k, k)
        ``sum_i w_i s_i y_i z_i`` and ``sum_i w_i b_i z_i z_i'``.
    squares : float64 array, shape (k,)
        ``sum_i w_i z_i^2``.
    table : int array, shape (2, 3)
    violations : int
        Rows that violate the margin.
    bent : int
        Rows with a second derivative that is not 0.
    above : float
        ``sum_i w_i`` times the excess of the loss over that in the risk.
    """

    seen: Sums
    excess: int
    first: Vector
    second: Matrix
    squares: Vector
    table: NDArray[np.int64]
    violations: int
    bent: int
    above: float


@dataclass(frozen=True)
class NewtonPass:
    """What a read does with a block, and with the dual weights of its rows.

    Attributes
    ----------
    curve : Curve
    point : Point
    reach : float
        How far rounding may move a margin.
    intercept : bool
    sampled : int64 array, shape (m,)
        Numbers of the rows of the sample.
    """

    curve: Curve
    point: Point
    reach: float
    intercept: bool
    sampled: Rows

    @one_thread()
    @np.errstate(over="ignore", invalid="ignore")  # the gap says what they come to
    def __call__(self, block: Block, dual: Values) -> NewtonSums:
        """Look at a block, and change the dual weights of its rows."""
        first, X, y, w, offset = block
        scores = bounds.scores(X, self.point)
        f = scores if offset is None else scores + offset
        m = y * f
        s = self.curve.slopes(m)
        begin, end = np.searchsorted(self.sampled, [first, first + y.size])
        dual[:] = bounds.cut(w * s)
        dual[self.sampled[begin:end] - first] = 0.0
        bends = self.curve.bends(w, s)
        seen = risk_and_image(
            *(X, y, *self.point, self.curve.loss, dual, w, self.reach, offset, scores)
        )
        return NewtonSums(
            seen=seen,
            excess=bounds.units(dual[y > 0.0]) - bounds.units(dual[y < 0.0]),
            first=self._sum(X, w * s * y),
            second=self._curvature(X, bends),
            squares=self._sum(np.square(X, dtype=np.float64), w),
            table=bounds.table_of(y, f),
            violations=int(np.count_nonzero(m < LOSSES[self.curve.loss].margin)),
            bent=int(np.count_nonzero(bends)),
            above=self.curve.above(w, m),
        )

    def _sum(self, X: Dense, c: Vector) -> Vector:
        """Sum of the rows times numbers, and of these for the intercept."""
        inner = bounds.image(X, c)
        return np.concatenate([[c.sum()], inner]) if self.intercept else inner

    def _curvature(self, X: Dense, bends: Vector) -> Matrix:
        bent = np.flatnonzero(bends)
        if bent.size < bends.size:
            X, bends = X[bent], bends[bent]
        rooted = X * np.sqrt(bends)[:, None]
        inner = np.asarray(rooted.T @ rooted, dtype=np.float64)
        if not self.intercept:
            return inner
        sums = self._sum(X, bends)
        return np.block([[sums[:1], sums[1:]], [sums[1:, None], inner]])


class LowestRisk(NamedTuple):
    """The lowest risk that was read, and the sums there: mean gradient, curvature."""

    point: Point
    objective: float
    first: Vector
    second: Matrix


class Newton:
    """A loss that bends, between two reads.

    Attributes
    ----------
    point : Point
        Where the next read looks.
    bound : Bound
        Of the dual point at hand, at the point read last.
    violations : int
        Rows that violated the margin at the last read.
    bent : int
        Rows with a second derivative that was not 0 at the last read.
    stands : bool
        Whether the last read brought no step, as curvature is missing there.
    """

    name = NEWTON
    seed: int | None = None  # no rows are drawn

    def __init__(self, problem: Problem, sample: RowSubset, point: Point) -> None:
        self._problem, self._sample = problem, sample
        self.point, self.bound = point, bounds.NO_BOUND
        self.violations, self.bent, self.stands = 0, 0, False
        self._a = np.zeros(problem.n)  # dual weights of all rows
        self._of_sample = np.zeros(sample.y.size)  # and of those of the sample
        self._lowest: LowestRisk | None = None
        self._radius, self._squares = 0.0, np.zeros(0)  # 0 for no limit

    @property
    def curve(self) -> Curve:
        """The loss that the next read sums."""
        return Curve(self._problem.loss)

    def read(self) -> Risk:
        """Read all rows: risk, gradient and curvature at the point; a dual point."""
        problem = self._problem
        reach, free = Rounding(problem, *self.point).reach, problem.intercept
        numbers = self._sample.numbers
        looking = NewtonPass(self.curve, self.point, reach, free, numbers)
        found: NewtonSums = added(problem.X.read(looking, self._a))
        self.violations, self.bent = found.violations, found.bent
        self._squares = found.squares / problem.n
        risk = Risk.of(problem, self.point, found.seen, found.table)
        objective = risk.objective + found.above / problem.n
        if self._lowest is None or objective <= self._lowest.objective:
            self._lowest = None  # to have room
            first, second = found.first / problem.n, found.second / problem.n
            self._lowest = LowestRisk(self.point, objective, first, second)
        self.bound = self._bound(found.seen, found.excess)
        return risk

    def _bound(self, sums: Sums, excess: int) -> bounds.Bound:
        """The dual point: all rows at ``w_i s_i``, those of the sample balanced."""
        problem, sample = self._problem, self._sample
        f = bounds.scores(sample.X, self.point, sample.offset)
        a = bounds.cut(sample.w * self.curve.slopes(sample.y * f))
        most = sample.w if LOSSES[problem.loss].most == 1.0 else 2.0 * (sample.w + a)
        weights = bounds.balanced(a, sample.y, most, excess) if problem.intercept else a
        self._of_sample = np.zeros(a.size)
        if weights is None or sums.dual + float(a.sum()) > MOST_DUAL:
            return bounds.NO_BOUND
        self._of_sample = weights
        of_sample = risk_and_image(
            *(sample.X, sample.y, *self.point, self.curve.loss, weights, sample.w),
            offset=sample.offset,
        )
        return bounds.Bound.of(problem, sums.plus(of_sample))

    @property
    def is_lowest(self) -> bool:
        """Whether the point that was read last is the lowest of all."""
        return self._lowest is not None and self._lowest.point is self.point

    def solve(self, tol: float, solver: Optimum) -> None:
        """Take Newton's step, within a radius once one led up."""
        assert self._lowest is not None  # a read comes first
        point, _, sums, curvature = self._lowest
        first, low = int(self._problem.intercept), self._theta(point)
        sizes = np.sqrt(np.where(self._squares > 0.0, self._squares, 1.0))
        if not self.is_lowest:
            far = float(np.linalg.norm(sizes * (self._theta(self.point) - low)))
            self._radius = min(WIDEST, SHORTER * far)
        else:
            self._radius *= LONGER
        penalty = np.full(low.size, self._problem.lam)
        penalty[:first] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            bent = curvature.copy()
            np.einsum("ii->i", bent)[:] += penalty
            slope = penalty * low - sums
            step = (
                within(bent, slope, sizes, self._radius)
                if self._radius > 0.0
                else _step(bent, slope)
            )
        theta, self.stands = low - step, not step.any()
        self.point = Point(theta[first:], float(theta[0]) if first else 0.0)

    def _theta(self, point: Point) -> Vector:
        first = [point.alpha] if self._problem.intercept else []
        return np.concatenate([first, point.beta])

    def dual(self, weights: Vector | None) -> Vector:
        """Dual weights of all rows."""
        self._a[self._sample.numbers] = self._of_sample
        return self._a


class SmoothedNewton(Newton):
    """The hinge between two reads, where no row is kept.

    Attributes
    ----------
    width : float
        Of the corner, at the next read.
    apart : float
        How far margins may be off at the point of the next read, about.
    damped : int
        Steps that were shorter, after one that led up.
    """

    name = "smoothed Newton"

    def __init__(
        self, problem: Problem, sample: RowSubset, point: Point, width: float
    ) -> None:
        super().__init__(problem, sample, point)
        self.width = self.apart = max(LEAST_WIDTH, width)
        self.damped = 0

    @property
    def curve(self) -> Curve:
        """The loss that the next read sums."""
        return Curve("hinge", self.width)

    def solve(self, tol: float, solver: Optimum) -> None:
        """Take Newton's step, shorter if one led up; choose the next width."""
        before, sample = self.point, self._sample
        is_whole = self.is_lowest
        super().solve(tol, solver)
        if not is_whole:
            self.damped += 1
            self.stands |= self.damped > MOST_DAMPED
            return
        there, here = (bounds.scores(sample.X, point) for point in (self.point, before))
        length = float(np.sqrt(np.mean((there - here) ** 2)))
        if not np.isfinite(length):
            return
        fewest = self.width * IN_CORNER * (self._problem.p + 1) / max(1, self.bent)
        most = CAREFUL if self.damped else NARROWER
        width = min(self.width, max(length, self.width / most, LEAST_WIDTH))
        width = max(width, min(fewest, self.width * NARROWER))
        self.stands |= width >= self.width and length <= LITTLE * self.width
        if width > self.width and self._lowest is not None:  # too few in the corner
            self.stands = True
            # All risks are higher with this width: the next point is the lowest.
            self._lowest = self._lowest._replace(objective=np.inf)
        self.width, self.apart = width, AFTER * length


def _step(curvature: Matrix, slope: Vector) -> Vector:
    """Newton's step; 0 where there is none, as the loss of all rows is flat or huge."""
    try:
        found = np.asarray(np.linalg.solve(curvature, slope), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.zeros(slope.size)
    return found if np.isfinite(found).all() else np.zeros(slope.size)


def within(curvature: Matrix, slope: Vector, sizes: Vector, radius: float) -> Vector:
    """The shortest of ``(H + mu D)^-1 g`` with ``||D^(1/2) step|| <= radius``, or less.

    Parameters
    ----------
    curvature : float64 array, shape (k, k)
    slope, sizes : float64 array, shape (k,)
        ``g``, and the roots of the diagonal of ``D``.
    radius : float

    Examples
    --------
    >>> H, one = np.diag([1.0, 1e-9]), np.ones(2)
    >>> within(H, np.array([1.0, 1e-6]), one, 2000.0)
    array([   1., 1000.])
    >>> within(H, np.array([1.0, 1e-6]), one, 5.0).round(4)
    array([1.   , 4.899])
    """
    scaled = curvature / sizes / sizes[:, None]
    if not (np.isfinite(scaled).all() and np.isfinite(slope).all()):
        return np.zeros(slope.size)
    values, vectors = np.linalg.eigh(scaled)
    values, b = np.maximum(values, 0.0), vectors.T @ (slope / sizes)
    if values[0] > 0.0 and np.linalg.norm(b / values) <= radius:
        return np.asarray(vectors @ (b / values) / sizes)
    high = float(np.linalg.norm(b)) / radius  # where it is short enough
    low = LEAST * high
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        is_short = np.linalg.norm(b / (values + middle)) <= radius
        low, high = (low, middle) if is_short else (middle, high)
    return np.asarray(vectors @ (b / (values + high)) / sizes)


@dataclass(frozen=True, eq=False)
class StreamedFit:
    """What the reads brought.

    Attributes
    ----------
    solution : Solution
        With the reads for its epochs, that of the sample not counted.
    certificate : Certificate
    table : int array, shape (2, 3)
        Rows by label and predicted label.
    reached : bool
        Whether the solver has come to where it was to end.
    n_reads : int
        How often all rows were read.
    """

    solution: Solution
    certificate: Certificate
    table: NDArray[np.int64]
    reached: bool
    n_reads: int


class StreamingSolver:
    """A fit from read to read.

    The hinge keeps rows near its margin once they find room. Until then, and where
    there turns out to be none, it is smoothed and takes steps that keep no row.

    Parameters
    ----------
    problem : Problem
    solver : Optimum

    Attributes
    ----------
    step : StreamedHinge, Newton or SmoothedNewton
    best : Risk or None
        Of the best point that was read.
    methods : tuple of MethodRun
    seed : int or None
        Where rows were drawn.
    """

    def __init__(self, problem: Problem, solver: Optimum) -> None:
        sample = problem.X.sample(size_of_sample(problem.n, problem.p))
        self._problem, self._sample, self._solver = problem, sample, solver
        self.best: Risk | None = None
        self._share, self._failed, self._reads = FINER, 0, 0
        self.methods: tuple[MethodRun, ...] = ()
        found = solved(problem, sample, solver)
        self.seed = found.seed
        point = self._free(found.beta, found.alpha)
        self._width = hinge.WIDTHS * float(np.sqrt(problem.p / sample.y.size))
        self.step: hinge.StreamedHinge | Newton
        if problem.loss != "hinge":
            self.step = Newton(problem, sample, point)
        elif problem.X.most_kept < problem.n:
            self.step = SmoothedNewton(problem, sample, point, self._width)
        else:
            self.step = hinge.StreamedHinge(problem, sample, point, self._width)

    @property
    def is_exhausted(self) -> bool:
        """Whether further reads bring nothing."""
        return self._share < LAST_SHARE

    def read(self) -> tuple[Risk, Certificate]:
        """Read all rows, and keep those near the margin if they find room.

        A read that finds no room is broken off, and another one keeps none.

        Returns
        -------
        Risk
            Of the best point that was read.
        Certificate
            Of it, by the dual point at hand.
        """
        if isinstance(self.step, SmoothedNewton):
            self._keep_some(self.step)
        try:
            risk = self.step.read()
        except hinge.NoRoomError:
            self._keep_none()
            risk = self.step.read()
        self._reads += 1
        self.methods = joined(*self.methods, MethodRun(self.step.name, 1, "pass"))
        if self.best is None or risk.objective < self.best.objective:
            self.best = risk
        return self.best, self.best.certificate(self.step.bound)

    def solve(self, at: Certificate) -> None:
        """Go to the next point, and to a dual point."""
        if self._reads > 1 and self.step.stands:
            self._share /= TEN
        tol = tolerance(self._solver, at) * self._share
        try:
            self.step.solve(max(FINEST, tol), self._solver)
        except hinge.NoRoomError:
            self._keep_none()
        self.seed = self.step.seed if self.seed is None else self.seed
        self.step.point = self._free(*self.step.point)

    def _keep_some(self, step: SmoothedNewton) -> None:
        """Keep rows from now on, if those near the margin find room."""
        problem, sample = self._problem, self._sample
        delta = max(step.apart, NARROWEST * self._width)
        room, fewest = hinge.ROOM * problem.X.most_kept, ENOUGH * (problem.p + 1)
        most = max(fewest, room / 2.0**self._failed)

        def near(delta: float) -> float:
            return hinge.near_margin(problem, sample, step.point, delta)

        while near(delta) < fewest and delta < self._width:
            if near(WIDER * delta) > most:
                break
            delta *= WIDER
        may_keep = fewest <= room and self._failed < MOST_FAILED
        if may_keep and near(delta) <= most:
            self._width = step.width
            self.step = hinge.StreamedHinge(problem, sample, step.point, delta)

    def _keep_none(self) -> None:
        """Take steps that keep no row, until half as much room is enough."""
        self._failed = min(MOST_FAILED, self._failed + 1)
        problem, sample, point = self._problem, self._sample, self.step.point
        self.step = SmoothedNewton(problem, sample, point, self._width)

    def _free(self, beta: Vector, alpha: float) -> Point:
        """The point where a free intercept has the share of constant columns."""
        X, values = self._problem.X, None
        if self._problem.intercept and not X.is_scaled:
            values = constants_of(X.means, X.spread)
        return Point(*without_constants(beta, alpha, values))


@np.errstate(over="ignore", invalid="ignore")  # the certificate tells
def few_reads(
    problem: Problem,
    solver: Optimum,
    observe: Callable[[int, Certificate], None] | None = None,
) -> StreamedFit:
    """Minimise the risk over rows that are read a few times.

    Parameters
    ----------
    problem : Problem
        Its `X` are `StreamedRows`.
    solver : Optimum
        Its tolerances, and how many reads there may be: its epochs.
    observe : callable, optional
        Called after each read with its number and the certificate.

    Returns
    -------
    StreamedFit
        The point with the least risk that was read, and the last dual point.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import pegasos_stats as ps
    >>> rng, path = np.random.default_rng(0), f"{tempfile.mkdtemp()}/rows.parquet"
    >>> y = np.repeat([-1.0, 1.0], 2000)
    >>> x = 0.5 * y + rng.standard_normal(4000)
    >>> pd.DataFrame({"y": y, "x": x}).to_parquet(path)
    >>> problem = ps.svm("y ~ x", ps.scan(path), lam=0.01).problem
    >>> found = few_reads(problem, Optimum(tol=1e-6, seed=1))
    >>> found.reached, found.solution.n_epochs
    (True, 2)
    """
    fit, reads = StreamingSolver(problem, solver), 0
    while True:
        best, at = fit.read()
        reads += 1
        if observe is not None:
            observe(reads, at)
        reached = solver.reached(at)
        if reached or reads == solver.epochs or fit.is_exhausted:
            break
        fit.solve(at)
    solution = Solution(
        *best.point,
        dual=fit.step.dual(problem.weights),
        n_iter=reads * problem.n,
        n_violations=fit.step.violations,
        seed=fit.seed,
        n_epochs=reads,
        methods=fit.methods,
    )
    return StreamedFit(solution, at, best.table, reached, reads)


def tolerance(solver: Optimum, at: Certificate) -> float:
    """The relative gap that is asked for."""
    of_gap = (solver.gap_tol or 0.0) / at.objective if at.objective > 0.0 else 0.0
    return max(solver.tol, of_gap) or FINEST


def solved(problem: Problem, sample: RowSubset, solver: Optimum) -> Solution:
    """Solve the problem of a sample, whose classes weigh as in all rows."""
    w = sample.w.copy()
    for sign, weight in zip((-1.0, 1.0), problem.class_weights, strict=True):
        of_class = sample.y == sign
        w[of_class] *= weight / w[of_class].sum()
    w *= w.size / problem.n
    X = np.asarray(sample.X, dtype=np.float64)
    given = X, sample.y, problem.lam, problem.loss, problem.intercept
    inner = Problem(*given, weights=w, offset=sample.offset)
    rough = Optimum(tol=ROUGH, seed=solver.seed, sample_kind=solver.sample_kind)
    seed = None
    if problem.loss == "log" and sample.y.size < problem.n:
        factor, seed = penalised_by(inner, rough)
        inner = replace(inner, lam=inner.lam * factor)
    found = solved_by_steps(inner, rough)
    return found if seed is None else replace(found, seed=seed)


def penalised_by(problem: Problem, solver: Optimum) -> tuple[float, int | None]:
    """Factor of the penalty whose solution for half of the rows suits the others.

    Also the seed, where rows were drawn.

    Examples
    --------
    >>> X, y = np.random.default_rng(0).standard_normal((200, 20)), np.ones(200)
    >>> y[:100], X[:100, 0] = -1.0, X[:100, 0] - 1.0
    >>> penalised_by(Problem(X, y, lam=1e-3, loss="log"), Optimum(seed=1))
    (100.0, None)
    """
    places = np.random.default_rng(HALVES).permutation(problem.n)
    half, rest = problem.of_rows(places[::2]), problem.of_rows(places[1::2])
    if min(half.lightest, rest.lightest) == 0.0:
        return 1.0, None
    factor, least, seed = 1.0, math.inf, None
    while factor <= MOST:
        fit = solved_by_steps(replace(half, lam=problem.lam * factor), solver)
        seed = fit.seed
        f = rest.X @ fit.beta + fit.alpha + rest.row_offsets
        losses = np.logaddexp(0.0, -rest.y * f)
        risk = float(np.average(losses, weights=rest.row_weights))
        risk += 0.5 * problem.lam * float(fit.beta @ fit.beta)
        if not risk < least:
            break
        factor, least = factor * FURTHER, risk
    return max(1.0, factor / FURTHER), seed
