"""Compute the optimum in few passes over the data.

The solver needs only scores ``x_i'beta``, sums ``sum_i c_i x_i`` and, over the rows
whose second derivative is not 0, sums of products ``sum_i b_i x_i x_i'``; for the hinge
it also stores rows near the margin. So rows may be in memory, in files, or on other
machines that support these operations.

First the problem is solved for a sample that fits in memory. Then each pass computes
the objective at the current point and the sums that the next step requires. For the
hinge, see ``hinge.py``.

With the log loss and a small penalty the solution may overfit the sample. A factor
level with few rows in the sample, all of one class, gets a large coefficient and
extreme margins, where the loss is flat, and Newton's method for all rows may diverge
from there. So the penalty for the sample is multiplied by 10 as long as this reduces
the validation loss: the solution for one half is evaluated in the other half.

A smooth loss is the log loss, the squared hinge, or the hinge smoothed at its kink.
With first derivatives ``-s_i`` and second derivatives ``b_i`` of the losses at the
margins, a pass computes the gradient and the Hessian

    g = lam J theta - (1/n) sum_i w_i s_i y_i z_i
    H = lam J + (1/n) sum_i w_i b_i z_i z_i'

with ``z = (1, x)`` and ``J`` the identity with a 0 for the intercept; the next point is
``theta - H^-1 g``, starting from the solution of a sample. A step that increases the
objective is halved.

With an intercept, ``a_i = w_i s_i`` is dual feasible only if ``sum_i a_i y_i = 0``. The
residual of this constraint, which is 0 at the optimum, is corrected in the dual weights
of the sample, which is in memory.

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
from pegasos_stats.solvers.optimum_run import solved_by_steps
from pegasos_stats.solvers.options import NEWTON
from pegasos_stats.solvers.problem import MethodRun, Problem, Solution, joined
from pegasos_stats.solvers.rounding import CLOSEST, Rounding
from pegasos_stats.solvers.streamed import hinge
from pegasos_stats.solvers.streamed import risk_and_bound as bounds
from pegasos_stats.solvers.streamed.risk_and_bound import Point, Risk
from pegasos_stats.solvers.sums import TINY, Sums, risk_and_image


class Curve(NamedTuple):
    """A smooth loss, or the hinge smoothed over a width around its kink.

    Attributes
    ----------
    loss : str
        The loss in the objective.
    width : float
        Width of the smoothing; 0 for a smooth loss.

    Examples
    --------
    >>> hinge = Curve("hinge", 0.5)
    >>> hinge.dual_weights(np.array([0.7, 0.9, 1.0, 1.25, 2.0]))
    array([1. , 0.7, 0.5, 0. , 0. ])
    >>> Curve("hinge", 0.8).above(np.ones(3), np.array([0.0, 1.0, 2.0]))
    0.1
    """

    loss: LossName
    width: float = 0.0

    def dual_weights(self, m: Vector) -> Vector:
        """Minus the derivatives; ``clip(1/2 + (1 - m) / width, 0, 1)`` if smoothed."""
        if not self.width:
            return LOSSES[self.loss].dual_weights(m)
        return np.clip(0.5 + (1.0 - m) / self.width, 0.0, 1.0)

    def second_derivatives(self, w: Vector, s: Vector) -> Vector:
        """Second derivatives times `w`; ``w / width`` near the kink if smoothed."""
        if not self.width:
            return w * LOSSES[self.loss].second_derivatives(s)
        return np.where((s > 0.0) & (s < 1.0), w / self.width, 0.0)

    def above(self, w: Vector, m: Vector) -> float:
        """Weighted sum of the smoothed losses minus the losses of the objective."""
        if not self.width:
            return 0.0
        short = np.maximum(0.5 - np.abs(1.0 - m) / self.width, 0.0)
        return float(w @ (short * short)) * self.width / 2.0


class NewtonSums(NamedTuple):
    """Sums of a pass over a block.

    Attributes
    ----------
    totals : Sums
        Sums at the point, with the dual weights of rows outside the sample.
    excess : int
        ``sum_i a_i y_i`` over rows outside the sample, in units of `DUAL_UNIT`.
    image, hessian : float64 array, shape (k,) and (k, k)
        ``sum_i w_i s_i y_i z_i`` and ``sum_i w_i b_i z_i z_i'``.
    n_curved : int
        Number of rows with a second derivative that is not 0.
    above : float
        See `Curve.above`.
    """

    totals: Sums
    excess: int
    image: Vector
    hessian: Matrix
    n_curved: int
    above: float


@dataclass(frozen=True)
class NewtonPass:
    """Compute the sums over a block that a Newton step needs.

    The dual weights of the rows of the block are set, too.

    Attributes
    ----------
    curve : Curve
    point : Point
    reach : float
        Bound on the rounding error of a margin.
    intercept : bool
    sampled : int64 array, shape (m,)
        Indices of the rows of the sample.
    """

    curve: Curve
    point: Point
    reach: float
    intercept: bool
    sampled: Rows

    @one_thread()
    @np.errstate(over="ignore", invalid="ignore")  # the gap is not finite then
    def __call__(self, block: Block, dual: Values) -> NewtonSums:
        """Compute the sums over a block, and set the dual weights of its rows."""
        first, X, y, w, offset = block
        scores = bounds.scores(X, self.point)
        f = scores if offset is None else scores + offset
        m = y * f
        s = self.curve.dual_weights(m)
        begin, end = np.searchsorted(self.sampled, [first, first + y.size])
        dual[:] = bounds.cut(w * s)
        dual[self.sampled[begin:end] - first] = 0.0
        second_derivatives = self.curve.second_derivatives(w, s)
        totals = risk_and_image(
            *(X, y, *self.point, self.curve.loss, dual, w, self.reach, offset, scores)
        )
        curved = np.flatnonzero(second_derivatives)
        rooted = X[curved] if curved.size < y.size else X
        rooted = rooted * np.sqrt(second_derivatives[curved])[:, None]
        hessian = np.asarray(rooted.T @ rooted, dtype=np.float64)
        if self.intercept:
            sums = self._sum(X, second_derivatives)
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
        """Sum ``c_i z_i`` over rows, including the intercept."""
        inner = bounds.blockwise_image(X, c)
        return np.append(c.sum(), inner) if self.intercept else inner


class LowestRisk(NamedTuple):
    """The lowest objective so far, and ``1/n`` times `image` and `hessian` there."""

    point: Point
    objective: float
    image: Vector
    hessian: Matrix


class Newton:
    """Newton's method with one pass per step, for smooth losses or a smoothed hinge.

    Parameters
    ----------
    problem : Problem
    sample : RowSubset
    point : Point
    width : float, optional
        Width of the smoothing of the hinge in the next pass.

    Attributes
    ----------
    point : Point
        Point of the next pass.
    bound : Bound
        Bound of the current dual point.
    violations : int
        Number of rows that violated the margin in the last pass.
    has_stalled : bool
        Whether progress has stopped: no step could be computed, or, for the smoothed
        hinge, more than 20 steps were halved, or the smoothing cannot be narrowed.
    distance : float
        Approximate error of the margins at the next point.
    """

    seed: int | None = None  # no randomness

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
        self._of_sample = np.zeros(sample.y.size)  # dual weights of the sample
        self._lowest: LowestRisk | None = None

    @property
    def curve(self) -> Curve:
        """The loss to sum in the next pass."""
        return Curve(self._problem.loss, self.width)

    def pass_over(self) -> Risk:
        """Pass over all rows: objective, gradient, Hessian, and a dual point."""
        problem, n = self._problem, self._problem.n
        reach, free = Rounding(problem, *self.point).reach, problem.intercept
        work = NewtonPass(self.curve, self.point, reach, free, self._sample.numbers)
        sums: NewtonSums = added(problem.X.map_blocks(work, self._a))
        self.violations, self._n_curved = sums.totals.violations, sums.n_curved
        risk = Risk.of(problem, self.point, sums.totals)
        objective = risk.objective + sums.above / n
        if self._lowest is None or objective <= self._lowest.objective:
            self._lowest = None  # free memory
            means = sums.image / n, sums.hessian / n
            self._lowest = LowestRisk(self.point, objective, *means)
        self.bound = self._bound(sums.totals, sums.excess)
        return risk

    def _bound(self, sums: Sums, excess: int) -> bounds.Bound:
        """Bound from the dual point: ``w_i s_i``, balanced in the sample."""
        problem, sample = self._problem, self._sample
        f = bounds.scores(sample.X, self.point, sample.offset)
        a = bounds.cut(sample.w * self.curve.dual_weights(sample.y * f))
        most = sample.w if LOSSES[problem.loss].most == 1.0 else 2.0 * (sample.w + a)
        weights = (
            bounds.balanced_units(a, sample.y, most, excess) if problem.intercept else a
        )
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
        """Take a Newton step from the best point, or halve a step that failed.

        A step fails if it increases the objective.
        """
        assert self._lowest is not None  # after a pass
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
        """Set the width of the smoothing to about the length of the step.

        The length is the root mean square change of the scores of the sample. The width
        falls at most to an eighth, or to half once a step was halved. It increases, at
        most eightfold, if fewer than five rows per coefficient are near the kink.
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
        # Too few rows near the kink.
        if width > self.width and self._lowest is not None:
            self.has_stalled = True
            # The objective increases with the width: do not compare with old values.
            self._lowest = self._lowest._replace(objective=np.inf)
        self.width, self.distance = width, 0.5 * length

    def dual(self, weights: Vector | None) -> Vector:
        """Return the dual weights of all rows."""
        self._a[self._sample.numbers] = self._of_sample
        return self._a


def _step(hessian: Matrix, gradient: Vector) -> Vector:
    """Compute a Newton step; 0 if the Hessian is singular or the step overflows."""
    try:
        step = np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.zeros(gradient.size)
    return step if np.isfinite(step).all() else np.zeros(gradient.size)


@dataclass(frozen=True, eq=False)
class StreamedFit:
    """Result of the passes.

    Attributes
    ----------
    solution : Solution
        Its epochs are the passes, not counting the sample.
    certificate : Certificate
    table : int array, shape (2, 3)
        Numbers of rows by label and predicted label, the last column for scores of 0.
    reached : bool
        Whether the tolerance was reached.
    n_reads : int
        Number of passes over all rows.
    """

    solution: Solution
    certificate: Certificate
    table: NDArray[np.int64]
    reached: bool
    n_reads: int


class StreamingSolver:
    """Solver that alternates passes over the data and steps in memory.

    With the hinge, the rows near the margin (the active rows) are stored once they fit
    in memory. Until then, or if they never fit, the hinge is smoothed and no rows are
    stored.

    Parameters
    ----------
    problem : Problem
    solver : Optimum

    Attributes
    ----------
    step : StreamedHinge or Newton
    best : Risk or None
        Objective of the best point so far.
    methods : tuple of MethodRun
    seed : int or None
        Seed, if rows were drawn at random.
    """

    def __init__(self, problem: Problem, solver: Optimum) -> None:
        sample = problem.X.sample(size_of_sample(problem.n, problem.p))
        self._problem, self._sample, self._solver = problem, sample, solver
        self.best: Risk | None = None
        # Tolerance of problems in memory, relative to the tolerance of the solver.
        self._share, self._failed, self._reads = 0.25, 0, 0
        self.methods: tuple[MethodRun, ...] = ()
        start = solved_sample(problem, sample, solver)
        self.seed = start.seed
        point = self._free(start.beta, start.alpha)
        self._width = hinge.SAMPLE_ERRORS * float(np.sqrt(problem.p / sample.y.size))
        self.step: hinge.StreamedHinge | Newton
        if problem.loss != "hinge":
            self.step = Newton(problem, sample, point)
        elif problem.X.max_retained_rows < problem.n:
            self.step = Newton(problem, sample, point, self._width)
        else:
            self.step = hinge.StreamedHinge(problem, sample, point, self._width)

    @property
    def is_exhausted(self) -> bool:
        """Whether further passes are unlikely to improve the solution, a heuristic."""
        return self._share < 1e-4

    def pass_over(self) -> tuple[Risk, Certificate]:
        """Pass over all rows, and store the active rows if they fit in memory.

        A pass that runs out of memory is repeated without storing rows.

        Returns
        -------
        Risk
            Objective of the best point so far.
        Certificate
            Its certificate, from the current dual point.
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
        """Compute the point of the next pass, and a dual point.

        Parameters
        ----------
        at : Certificate
            Certificate of the best point, which determines the tolerance.
        """
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
        """Store active rows from now on, if they fit in memory."""
        problem, sample = self._problem, self._sample
        delta = max(step.distance, 2.0**-20 * self._width)
        room, fewest = hinge.ROOM * problem.X.max_retained_rows, 4 * (problem.p + 1)
        most = max(fewest, room / 2.0**self._failed)

        def near(delta: float) -> float:
            return hinge.near_margin(problem, sample, step.point, delta)

        while near(delta) < fewest and delta < self._width:
            if near(1.5 * delta) > most:
                break
            delta *= 1.5
        may_keep = fewest <= room and self._failed < 8
        if may_keep and near(delta) <= most:
            self._width = step.width
            self.step = hinge.StreamedHinge(problem, sample, step.point, delta)

    def _keep_none(self) -> None:
        """Store no rows until the active rows fit in half as much memory."""
        self._failed += 1
        self.step = Newton(self._problem, self._sample, self.step.point, self._width)

    def _free(self, beta: Vector, alpha: float) -> Point:
        """Move the contribution of constant columns to a free intercept."""
        X, values = self._problem.X, None
        if self._problem.intercept:
            values = constants_of(X.means, X.spread)
        return Point(*without_constants(beta, alpha, values))


@np.errstate(over="ignore", invalid="ignore")  # checked by the certificate
def few_reads(
    problem: Problem,
    solver: Optimum,
    observe: Callable[[int, Certificate], None] | None = None,
) -> StreamedFit:
    """Minimise the objective in a few passes over streamed rows.

    Parameters
    ----------
    problem : Problem
        Its `X` is a `StreamedRows`.
    solver : Optimum
        Its tolerances, and its epochs as maximum number of passes.
    observe : callable, optional
        Called after each pass with its number and the certificate.

    Returns
    -------
    StreamedFit
        The best point of all passes, and the last dual point.

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
    >>> fit = few_reads(problem, Optimum(tol=1e-6, seed=1))
    >>> fit.reached, fit.solution.n_epochs
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
        n_iter=reads,
        n_violations=fit.step.violations,
        seed=fit.seed,
        n_epochs=reads,
        methods=fit.methods,
    )
    return StreamedFit(solution, at, best.totals.table, reached, reads)


def tolerance(solver: Optimum, at: Certificate) -> float:
    """Relative gap to reach."""
    of_gap = (solver.gap_tol or 0.0) / at.objective if at.objective > 0.0 else 0.0
    return max(solver.tol, of_gap) or CLOSEST


def problem_of_sample(problem: Problem, sample: RowSubset) -> Problem:
    """Set up the problem of a sample, with the class shares of all rows."""
    w = sample.w * (sample.w.size / problem.n)
    for sign, weight in zip((-1.0, 1.0), problem.class_weights, strict=True):
        rows = sample.y == sign
        w[rows] *= weight / sample.w[rows].sum()
    X, loss, free = np.asarray(sample.X, np.float64), problem.loss, problem.intercept
    offset = sample.offset
    return Problem(X, sample.y, problem.lam, loss, free, weights=w, offset=offset)


def solved_sample(problem: Problem, sample: RowSubset, solver: Optimum) -> Solution:
    """Solve the problem of a sample with low accuracy."""
    inner, seed = problem_of_sample(problem, sample), None
    rough = Optimum(tol=1e-4, seed=solver.seed, sample_kind=solver.sample_kind)
    if problem.loss == "log" and sample.y.size < problem.n:
        factor, seed = penalised_by(inner, rough)
        inner = replace(inner, lam=inner.lam * factor)
    solution = solved_by_steps(inner, rough)
    return solution if seed is None else replace(solution, seed=seed)


def penalised_by(problem: Problem, solver: Optimum) -> tuple[float, int | None]:
    """Choose a power of 10 as factor of the penalty by validation.

    The factor increases while the solution for one half of the rows reduces the loss
    plus ``lam/2 ||beta||^2`` in the other half. Also returns the seed if rows were
    drawn at random.

    Examples
    --------
    >>> X, y = np.random.default_rng(0).standard_normal((200, 20)), np.ones(200)
    >>> y[:100], X[:100, 0] = -1.0, X[:100, 0] - 1.0
    >>> penalised_by(Problem(X, y, lam=1e-3, loss="log"), Optimum(seed=1))
    (100.0, None)
    """
    places = np.random.default_rng(1).permutation(problem.n)
    half, rest = problem.of_rows(places[::2]), problem.of_rows(places[1::2])
    if min(half.smaller_class_weight, rest.smaller_class_weight) == 0.0:
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
