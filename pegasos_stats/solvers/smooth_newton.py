"""Losses that bend: L-BFGS with the metric of a sample, or Newton steps, in numpy."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Rows, Vector
from pegasos_stats.solvers.hinge_proximal import Hinge
from pegasos_stats.solvers.method import NEWTON, Goal, Method
from pegasos_stats.solvers.objective import Gap
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rows import newton_rows
from pegasos_stats.solvers.sums import (
    TINY,
    doubles,
    inverse,
    row_blocks,
    solved,
)
from pegasos_stats.solvers.threads import one_thread

SAMPLED, TO_A_COLUMN = 3000, 20  # rows from which a sample is fitted first
SHARE, FEWEST = 8, 2000  # one row in so many is of the sample, of which as many are
LEFT_OPEN = 0.1  # of ``p / m``, what the sample leaves open of the risk
FEW = 60  # columns of which a Hessian costs no more than some reads
GAIN = 0.7  # of a step of L-BFGS with the metric of a sample, at least
GAIN_ANEW = 0.3  # the same with the Hessian of all rows, which costs many reads
STEPS, STEPS_ANEW, STEPS_FEW = 12, 15, 2  # of L-BFGS with one metric
NEWTON_STEPS = 50  # over the sample
FALL = 1e-4  # share of the slope by which a step must lower the risk
ROUNDING = 1e-14  # of the risk
SHORTEST = 1e-8  # of a step
FARTHEST = 700.0  # margin below 0 whose exponential does not overflow
SMALL = 1e-3  # a risk that needs all digits of the logarithm
PRODUCTS_ABOUT = 30.0  # reads that conjugate gradients cost, about
POLISHING = 3  # steps; each squares what is left
LBFGS = "L-BFGS"  # with the Hessian of a sample as its metric
BALANCE = 2.0  # of the squared difference of the classes' dual weights


class RiskValue(NamedTuple):
    """What a read found; the gradient's last entry is that of the intercept."""

    risk: float
    gradient: Vector
    errors: int


class LogRisk:
    """Reads of the rows of a problem.

    Attributes
    ----------
    a : float64 array, shape (n,)
        Dual weights at the point that was read last.
    count : int
        Number of reads, a Hessian being as many as its products cost.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self._loss = problem, problem.loss_function
        constant = np.full(problem.n, float(problem.intercept))
        self.rows = newton_rows(problem.X, constant)
        self.a, self.count = np.empty(problem.n), 0.0
        self._last = 1.0

    def __call__(self, theta: Vector) -> RiskValue:
        """Read the rows at coefficients and intercept."""
        problem, n, p = self._problem, self._problem.n, self._problem.p
        beta, alpha = theta[:-1], float(theta[-1])
        risk, image, balance, errors = 0.0, np.zeros(p), 0.0, 0
        for rows in row_blocks(problem.X):
            B, y, a = doubles(problem.X, rows), problem.y[rows], self.a[rows]
            m = B @ beta
            m += alpha if problem.offset is None else alpha + problem.offset[rows]
            m *= y
            losses = self._losses(m, a)
            if problem.weights is None:
                risk += float(losses.sum())
            else:
                risk += float(losses @ problem.weights[rows])
                a *= problem.weights[rows]
            ay = a * y
            image += ay @ B
            balance += float(ay.sum())
            errors += int(np.count_nonzero(m < self._loss.margin))
        self.count += 1.0
        gradient = np.empty(p + 1)
        gradient[:-1] = problem.lam * beta - image / n
        gradient[-1] = -balance / n if problem.intercept else 0.0
        self._last = risk / n
        penalty = 0.5 * problem.lam * float(beta @ beta)
        return RiskValue(penalty + risk / n, gradient, errors)

    def _losses(self, m: Vector, a: Vector) -> Vector:
        """Losses at margins; puts their slopes in ``a``."""
        if self._problem.loss != "log":
            a[:] = self._loss.slopes(m)
            return self._loss.values(m)
        c = m if float(m.min()) >= -FARTHEST else np.maximum(m, -FARTHEST)
        e = np.exp(-c)
        q = 1.0 + e
        losses = np.log1p(e) if self._last < SMALL else np.log(q)
        if c is not m:
            losses += c - m
        np.divide(e, q, out=a)
        return np.asarray(losses)

    def heights(self) -> Vector:
        """Second derivatives of the losses where the rows were read last."""
        a, weights = self.a, self._problem.weights
        if self._problem.loss != "log":
            return self._loss.bends(a) * self._problem.row_weights
        if weights is None:
            return np.asarray(a * (1.0 - a))
        share = np.divide(a, weights, out=np.zeros(a.size), where=weights > 0.0)
        return np.asarray(a * np.maximum(0.0, 1.0 - share))

    def direction(self, gradient: Vector) -> Vector:
        """Newton's direction by conjugate gradients."""
        problem, p = self._problem, self._problem.p
        ridge = np.full(p + 1, problem.lam)
        ridge[p] = TINY if problem.intercept else 1.0
        self.count += PRODUCTS_ABOUT
        heights = self.heights() / problem.n
        bent = slice(None) if heights.all() else np.flatnonzero(heights)
        return self.rows.solution(heights[bent], ridge, -gradient, bent)

    def hessian(self) -> Matrix:
        """The Hessian where the rows were read last."""
        problem, p = self._problem, self._problem.p
        H = self.rows.gram(self.heights() / problem.n)
        H.flat[: -1 : p + 2] += problem.lam
        if not H[-1, -1] > 0.0:
            H[-1, -1] = 1.0
        self.count += 1.0 + p / 16.0
        return H


class LogSteps(Method):
    """Steps to the optimum of a loss that bends.

    Parameters
    ----------
    problem : Problem
    theta : float64 array, shape (p + 1,), optional
        Where to begin; at no coefficients if that is better, or not given.

    Attributes
    ----------
    theta, seen
        The last point, and what was found there.
    """

    def __init__(self, problem: Problem, theta: Vector | None = None) -> None:
        super().__init__()
        self.name = NEWTON
        self._problem, self._reads = problem, LogRisk(problem)
        self.theta = no_coefficients(problem)
        self._has_start = False
        if theta is not None:
            self.seen, there = self._reads(self.theta), self._reads(theta)
            self._has_start = there.risk <= self.seen.risk
            if self._has_start:
                self.theta, self.seen = theta, there
        self._walk = self._all_steps()

    def step(self, rows: Rows) -> None:
        """Take a step, of one read as a rule."""
        next(self._walk)
        self.steps += 1
        self.visits = self._reads.count * self._problem.n

    @property
    def gap(self) -> Gap:
        """The risk, and about the dual: what the gradient says.

        What bringing the dual weights into balance costs is of second order in their
        difference, as the entropy has its slope of 0 there with the score.
        """
        return Gap(self.seen.risk, self.seen.risk - self._left())

    def _left(self) -> float:
        g = self.seen.gradient
        balance = BALANCE * float(g[-1]) ** 2
        return float(g[:-1] @ g[:-1]) / 2.0 / self._problem.lam + balance

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a`` at the last point."""
        return self.theta[:-1].copy(), float(self.theta[-1]), self._reads.a.copy()

    def _all_steps(self) -> Iterator[None]:
        problem, p = self._problem, self._problem.p
        is_sampled = self._reads.rows.factorises() and not self._has_start
        is_sampled = is_sampled and problem.n >= max(SAMPLED, TO_A_COLUMN * p)
        if not (is_sampled or self._has_start):
            self.seen = self._reads(self.theta)
        if not self._reads.rows.factorises():
            while True:
                self._go(self._reads.direction(self.seen.gradient))
                yield
        if is_sampled:
            self.theta, H = of_sample(problem, self.theta)
            self.seen = self._reads(self.theta)
            self.name = LBFGS
            yield from self._quasi_newton(inverse(H), STEPS, GAIN)
        while True:
            self.name = NEWTON
            metric = inverse(self._reads.hessian())
            most = STEPS_FEW if p < FEW else STEPS_ANEW
            yield from self._quasi_newton(metric, most, GAIN_ANEW)

    def _quasi_newton(self, metric: Matrix, most: int, gain: float) -> Iterator[None]:
        """L-BFGS, until a step gains too little."""
        pairs: list[tuple[Vector, Vector, float]] = []
        for count in range(most):
            before, theta, g = self._left(), self.theta, self.seen.gradient
            self._go(two_loops(metric, pairs, -g))
            move, change = self.theta - theta, self.seen.gradient - g
            inner = float(move @ change)
            if inner > 0.0:
                pairs.append((move, change, inner))
            yield
            if count > 0 and self._left() > gain * before:
                return

    def _go(self, d: Vector) -> None:
        """Go along a direction as far as the risk falls enough."""
        self.theta, self.seen = searched(self._reads, self.theta, self.seen, d)
        self.violations += self.seen.errors


@one_thread()
def polished(
    problem: Problem, beta: Vector, alpha: float
) -> tuple[Vector, float, Vector] | None:
    """Newton steps with all digits, from a point near the minimum.

    Returns
    -------
    beta : float64 array, shape (p,)
    alpha : float
    a : float64 array, shape (n,)
        Dual weights. None of the three where the Hessian is too large.
    """
    reads = LogRisk(problem)
    if not reads.rows.factorises():
        return None
    theta = np.append(beta, alpha)
    seen = reads(theta)
    for _ in range(POLISHING):
        d = solved(reads.hessian(), -seen.gradient)
        theta, seen = searched(reads, theta, seen, d)
    return theta[:-1].copy(), float(theta[-1]), reads.a


def no_coefficients(problem: Problem) -> Vector:
    """The model with an intercept alone, offsets left out."""
    theta = np.zeros(problem.p + 1)
    if problem.intercept:
        is_plus, w = problem.y > 0.0, problem.weights  # no ones for rows in files
        plus, minus = (
            float(np.count_nonzero(rows) if w is None else w.sum(where=rows))
            for rows in (is_plus, ~is_plus)
        )
        theta[-1] = problem.loss_function.alone(plus, minus)
    return theta


def of_sample(problem: Problem, theta: Vector) -> tuple[Vector, Matrix]:
    """Newton's method over evenly spaced rows: its end, and the Hessian there.

    It ends where what is left is small beside what the sample leaves open.
    """
    n = problem.n
    m = max(n // SHARE, FEWEST)
    part = problem.of_rows(np.arange(0, n - n % (n // m), n // m))
    reads = LogRisk(part)
    seen = reads(theta)
    for _ in range(NEWTON_STEPS):
        H = reads.hessian()
        d = solved(H, -seen.gradient)
        if -float(seen.gradient @ d) <= LEFT_OPEN * problem.p / m * seen.risk:
            break
        theta, seen = searched(reads, theta, seen, d)
    return theta, H


def searched(
    reads: LogRisk, theta: Vector, seen: RiskValue, d: Vector
) -> tuple[Vector, RiskValue]:
    """The point along a direction where the risk has fallen in proportion to it."""
    slope, t = float(seen.gradient @ d), 1.0
    while True:
        new = theta + t * d
        found = reads(new)
        enough = seen.risk + FALL * t * slope + ROUNDING * seen.risk
        if found.risk <= enough:
            return new, found
        if t < SHORTEST:
            return theta, reads(theta)
        there = float(found.gradient @ d)
        share = slope / (slope - there) if there > max(slope, 0.0) else 0.5
        t *= min(0.7, max(0.1, share))


def two_loops(
    metric: Matrix, pairs: list[tuple[Vector, Vector, float]], d: Vector
) -> Vector:
    """The inverse Hessian of L-BFGS times a vector (Liu & Nocedal 1989)."""
    shares = []
    for move, change, inner in reversed(pairs):
        shares.append(float(move @ d) / inner)
        d = d - shares[-1] * change
    d = metric @ d
    for move, change, inner in pairs:
        d = d + (shares.pop() - float(change @ d) / inner) * move
    return d


def newton_steps(
    problem: Problem, goal: Goal, start: tuple[Vector, Vector] | None = None
) -> Method:
    """Newton steps for a loss, from ``(beta, alpha)`` and dual weights if given."""
    if problem.loss == "hinge":
        return Hinge(problem, goal, start)
    return LogSteps(problem, None if start is None else start[0])
