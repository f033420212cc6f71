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

A smooth loss is the log loss, the squared hinge, or the hinge with its corner rounded.
With slopes ``-s_i`` and second derivatives ``b_i`` of the losses of the rows, at their
margins, a read gives the gradient and the Hessian

    g = lam J theta - (1/n) sum_i w_i s_i y_i z_i
    H = lam J + (1/n) sum_i w_i b_i z_i z_i'

with ``z = (1, x)`` and ``J`` the identity with a 0 for the intercept; the next point is
``theta - H^-1 g``, from the solution of a sample. A step that increased the risk is
halved.

``a_i = w_i s_i`` is a dual point as soon as ``sum_i a_i y_i = 0``. What is missing at
the point of a read is taken off the weights of the sample, which is in memory: little,
and less with every step.

References
----------
Yu, Hsieh, Chang & Lin, *Large linear classification when data cannot fit in memory*,
KDD 2010.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Matrix, Rows, Vector
from pegasos_stats.data.scan.rows import size_of_sample
from pegasos_stats.data.scan.source import Block, RowSubset, Values, added
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers.certificate import Certificate
from pegasos_stats.solvers.intercept import constants_of, without_constants
from pegasos_stats.solvers.losses import LOSSES, LossName
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.options import NEWTON
from pegasos_stats.solvers.problem import MethodRun, Problem, Solution, joined
from pegasos_stats.solvers.rounding import CLOSEST, Rounding
from pegasos_stats.solvers.sdca_run import solved_by_steps
from pegasos_stats.solvers.streamed import hinge
from pegasos_stats.solvers.streamed import risk_and_bound as bounds
from pegasos_stats.solvers.streamed.risk_and_bound import Point, Risk
from pegasos_stats.solvers.sums import TINY, Sums, risk_and_image

MOST_FAILED = 8  # times that rows found no room after all


class Curve(NamedTuple):
    """A smooth loss, or the hinge with its corner rounded over a width.

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
    """Sums of a read over a block.

    Attributes
    ----------
    totals : Sums
        Sums at the point, with the dual weights of rows that are not of the sample.
    excess : int
        ``sum_i a_i y_i`` of these, in units.
    image, hessian : float64 array, shape (k,) and (k, k)
        ``sum_i w_i s_i y_i z_i`` and ``sum_i w_i b_i z_i z_i'``.
    n_curved : int
        Rows with a second derivative that is not 0.
    above : float
        ``sum_i w_i`` times the excess of the loss over that in the risk.
    """

    totals: Sums
    excess: int
    image: Vector
    hessian: Matrix
    n_curved: int
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
        totals = risk_and_image(
            *(X, y, *self.point, self.curve.loss, dual, w, self.reach, offset, scores)
        )
        curved = np.flatnonzero(bends)
        rooted = X[curved] if curved.size < y.size else X
        rooted = rooted * np.sqrt(bends[curved])[:, None]
        hessian = np.asarray(rooted.T @ rooted, dtype=np.float64)
        if self.intercept:
            sums = self._sum(X, bends)
            hessian = np.block([[sums[:1], sums[1:]], [sums[1:, None], hessian]])
        return NewtonSums(
            totals=totals,
            excess=bounds.units(dual[y > 0.0]) - bounds.units(dual[y < 0.0]),
            image=self._sum(X, w * s * y),
            hessian=hessian,
            n_curved=curved.size,
            above=self.curve.above(w, m),
        )

    def _sum(self, X: Dense, c: Vector) -> Vector:
        """Sum of the rows times numbers, and of these for the intercept."""
        inner = bounds.image(X, c)
        return np.append(c.sum(), inner) if self.intercept else inner


class LowestRisk(NamedTuple):
    """The lowest risk of all reads, and the mean image and Hessian there."""

    point: Point
    objective: float
    image: Vector
    hessian: Matrix


class Newton:
    """Newton steps between two reads: a smooth loss, or the hinge with a round corner.

    Parameters
    ----------
    problem : Problem
    sample : RowSubset
    point : Point
    width : float, optional
        Of the corner of the hinge, at the next read.

    Attributes
    ----------
    point : Point
        Where the next read looks.
    bound : Bound
        Of the dual point at hand, at the point of the last read.
    violations : int
        Rows that violated the margin at the last read.
    has_stalled : bool
        Whether the last read brought no step.
    distance : float
        How far margins may be off at the point of the next read, about.
    """

    seed: int | None = None  # no rows are drawn

    def __init__(
        self, problem: Problem, sample: RowSubset, point: Point, width: float = 0.0
    ) -> None:
        self._problem, self._sample, self.name = problem, sample, NEWTON
        if problem.loss == "hinge":
            self.name, width = "smoothed Newton", max(TINY, width)
        self.width = self.distance = width
        self.point, self.bound = point, bounds.NO_BOUND
        self.violations, self._n_curved, self._halved = 0, 0, 0
        self.has_stalled = False
        self._a = np.zeros(problem.n)  # dual weights of all rows
        self._of_sample = np.zeros(sample.y.size)  # and of those of the sample
        self._lowest: LowestRisk | None = None

    @property
    def curve(self) -> Curve:
        """The loss that the next read sums."""
        return Curve(self._problem.loss, self.width)

    def pass_over(self) -> Risk:
        """Read all rows: risk, gradient and Hessian at the point; a dual point."""
        problem, n = self._problem, self._problem.n
        reach, free = Rounding(problem, *self.point).reach, problem.intercept
        work = NewtonPass(self.curve, self.point, reach, free, self._sample.numbers)
        sums: NewtonSums = added(problem.X.map_blocks(work, self._a))
        self.violations, self._n_curved = sums.totals.violations, sums.n_curved
        risk = Risk.of(problem, self.point, sums.totals)
        objective = risk.objective + sums.above / n
        if self._lowest is None or objective <= self._lowest.objective:
            self._lowest = None  # to have room
            means = sums.image / n, sums.hessian / n
            self._lowest = LowestRisk(self.point, objective, *means)
        self.bound = self._bound(sums.totals, sums.excess)
        return risk

    def _bound(self, sums: Sums, excess: int) -> bounds.Bound:
        """The dual point: all rows at ``w_i s_i``, those of the sample balanced."""
        problem, sample = self._problem, self._sample
        f = bounds.scores(sample.X, self.point, sample.offset)
        a = bounds.cut(sample.w * self.curve.slopes(sample.y * f))
        most = sample.w if LOSSES[problem.loss].most == 1.0 else 2.0 * (sample.w + a)
        weights = bounds.balanced(a, sample.y, most, excess) if problem.intercept else a
        self._of_sample = np.zeros(a.size)
        if weights is None or sums.dual + float(a.sum()) > 2.0**62 * bounds.DUAL_UNIT:
            return bounds.NO_BOUND
        self._of_sample = weights
        of_sample = risk_and_image(
            *(sample.X, sample.y, *self.point, self.curve.loss, weights, sample.w),
            offset=sample.offset,
        )
        return bounds.Bound.of(problem, sums.plus(of_sample))

    def solve(self, tol: float, solver: Optimum) -> None:
        """Take Newton's step from the lowest point, or halve one that led up."""
        assert self._lowest is not None  # a read comes first
        low, here = self._lowest.point, self.point
        if low is not here:
            middle = 0.5 * (low.beta + here.beta), 0.5 * (low.alpha + here.alpha)
            self.point, self._halved = Point(*middle), self._halved + 1
            self.has_stalled = bool(self.width) and self._halved > 20
            return
        free, lam = int(self._problem.intercept), self._problem.lam
        theta = np.append([low.alpha] * free, low.beta)
        penalty = np.append([0.0] * free, np.full(low.beta.size, lam))
        with np.errstate(over="ignore", invalid="ignore"):
            H = self._lowest.hessian + np.diag(penalty)
            step = _step(H, penalty * theta - self._lowest.image)
        theta, self.has_stalled = theta - step, not step.any()
        self.point = Point(theta[free:], float(theta[0]) if free else 0.0)
        if self.width:
            self._choose_width(here)

    def _choose_width(self, before: Point) -> None:
        """The width of the corner by the length of the step: about as wide.

        It holds five rows to a coefficient, and is at least an eighth of the last one;
        half of that once a step led up.
        """
        sample = self._sample
        there, here = (bounds.scores(sample.X, point) for point in (self.point, before))
        length = float(np.sqrt(np.mean((there - here) ** 2)))
        if not np.isfinite(length):
            return
        fewest = self.width * 5 * (self._problem.p + 1) / max(1, self._n_curved)
        narrower = self.width / (2.0 if self._halved else 8.0)
        width = min(self.width, max(length, narrower, TINY))
        width = max(width, min(fewest, self.width * 8.0))
        self.has_stalled |= width >= self.width and length <= 1e-3 * self.width
        if width > self.width and self._lowest is not None:  # too few in the corner
            self.has_stalled = True
            # All risks are higher with this width: the next point is the lowest.
            self._lowest = self._lowest._replace(objective=np.inf)
        self.width, self.distance = width, 0.5 * length

    def dual(self, weights: Vector | None) -> Vector:
        """Dual weights of all rows."""
        self._a[self._sample.numbers] = self._of_sample
        return self._a


def _step(hessian: Matrix, gradient: Vector) -> Vector:
    """Newton's step; 0 where there is none, as the loss of all rows is flat or huge."""
    try:
        step = np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.zeros(gradient.size)
    return step if np.isfinite(step).all() else np.zeros(gradient.size)


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
    step : StreamedHinge or Newton
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
        # Share of the tolerance to which problems in memory are solved.
        self._share, self._failed, self._reads = 0.25, 0, 0
        self.methods: tuple[MethodRun, ...] = ()
        start = solved(problem, sample, solver)
        self.seed = start.seed
        point = self._free(start.beta, start.alpha)
        self._width = hinge.SAMPLE_ERRORS * float(np.sqrt(problem.p / sample.y.size))
        self.step: hinge.StreamedHinge | Newton
        if problem.loss != "hinge":
            self.step = Newton(problem, sample, point)
        elif problem.X.most_kept < problem.n:
            self.step = Newton(problem, sample, point, self._width)
        else:
            self.step = hinge.StreamedHinge(problem, sample, point, self._width)

    @property
    def is_exhausted(self) -> bool:
        """Whether further reads bring nothing."""
        return self._share < 1e-4

    def pass_over(self) -> tuple[Risk, Certificate]:
        """Read all rows, and keep those near the margin if they find room.

        A read that finds no room is broken off, and another one keeps none.

        Returns
        -------
        Risk
            Of the best point that was read.
        Certificate
            Of it, by the dual point at hand.
        """
        if isinstance(self.step, Newton) and self.step.width:
            self._keep_some(self.step)
        try:
            risk = self.step.pass_over()
        except hinge.NoRoomError:
            self._keep_none()
            risk = self.step.pass_over()
        self._reads += 1
        self.methods = joined(*self.methods, MethodRun(self.step.name, 1, "pass"))
        if self.best is None or risk.objective < self.best.objective:
            self.best = risk
        return self.best, self.best.certificate(self.step.bound)

    def solve(self, at: Certificate) -> None:
        """Go to the next point, and to a dual point."""
        if self._reads > 1 and self.step.has_stalled:
            self._share /= 10.0
        tol = tolerance(self._solver, at) * self._share
        try:
            self.step.solve(max(CLOSEST, tol), self._solver)
        except hinge.NoRoomError:
            self._keep_none()
        self.seed = self.step.seed if self.seed is None else self.seed
        self.step.point = self._free(*self.step.point)

    def _keep_some(self, step: Newton) -> None:
        """Keep rows from now on, if those near the margin find room."""
        problem, sample = self._problem, self._sample
        delta = max(step.distance, 2.0**-20 * self._width)
        room, fewest = hinge.ROOM * problem.X.most_kept, 4 * (problem.p + 1)
        most = max(fewest, room / 2.0**self._failed)

        def near(delta: float) -> float:
            return hinge.near_margin(problem, sample, step.point, delta)

        while near(delta) < fewest and delta < self._width:
            if near(1.5 * delta) > most:
                break
            delta *= 1.5
        may_keep = fewest <= room and self._failed < MOST_FAILED
        if may_keep and near(delta) <= most:
            self._width = step.width
            self.step = hinge.StreamedHinge(problem, sample, step.point, delta)

    def _keep_none(self) -> None:
        """Take steps that keep no row, until half as much room is enough."""
        self._failed = min(MOST_FAILED, self._failed + 1)
        self.step = Newton(self._problem, self._sample, self.step.point, self._width)

    def _free(self, beta: Vector, alpha: float) -> Point:
        """The point where a free intercept has the share of constant columns."""
        X, values = self._problem.X, None
        if self._problem.intercept:
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
        best, at = fit.pass_over()
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
    return StreamedFit(solution, at, best.totals.table, reached, reads)


def tolerance(solver: Optimum, at: Certificate) -> float:
    """The relative gap that is asked for."""
    of_gap = (solver.gap_tol or 0.0) / at.objective if at.objective > 0.0 else 0.0
    return max(solver.tol, of_gap) or CLOSEST


def problem_of_sample(problem: Problem, sample: RowSubset) -> Problem:
    """The problem of a sample, whose classes have the shares of all rows."""
    w = sample.w * (sample.w.size / problem.n)
    for sign, weight in zip((-1.0, 1.0), problem.class_weights, strict=True):
        rows = sample.y == sign
        w[rows] *= weight / sample.w[rows].sum()
    X, loss, free = np.asarray(sample.X, np.float64), problem.loss, problem.intercept
    offset = sample.offset
    return Problem(X, sample.y, problem.lam, loss, free, weights=w, offset=offset)


def solved(problem: Problem, sample: RowSubset, solver: Optimum) -> Solution:
    """Solve the problem of a sample, roughly."""
    inner, seed = problem_of_sample(problem, sample), None
    rough = Optimum(tol=1e-4, seed=solver.seed, sample_kind=solver.sample_kind)
    if problem.loss == "log" and sample.y.size < problem.n:
        factor, seed = penalised_by(inner, rough)
        inner = replace(inner, lam=inner.lam * factor)
    solution = solved_by_steps(inner, rough)
    return solution if seed is None else replace(solution, seed=seed)


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
    places = np.random.default_rng(1).permutation(problem.n)
    half, rest = problem.of_rows(places[::2]), problem.of_rows(places[1::2])
    if min(half.lightest, rest.lightest) == 0.0:
        return 1.0, None
    factor, least, seed = 1.0, math.inf, None
    while factor <= 1e6:
        fit = solved_by_steps(replace(half, lam=problem.lam * factor), solver)
        seed = fit.seed
        f = rest.X @ fit.beta + fit.alpha + rest.row_offsets
        losses = np.logaddexp(0.0, -rest.y * f)
        risk = float(np.average(losses, weights=rest.row_weights))
        risk += 0.5 * problem.lam * float(fit.beta @ fit.beta)
        if not risk < least:
            break
        factor, least = 10.0 * factor, risk
    return max(1.0, factor / 10.0), seed
