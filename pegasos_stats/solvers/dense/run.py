"""The run of SDCA on dense rows with a moderate number of columns, in numpy."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Rows, Vector
from pegasos_stats.solvers.dense.hinge import Goal, Hinge
from pegasos_stats.solvers.dense.interior import LONG, InteriorSteps
from pegasos_stats.solvers.dense.sums import (
    additions,
    blocks,
    doubles,
    gram,
    inverse,
    log_entropies,
    solved,
)
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    certificate,
    feasible,
)
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.rounding import UNIT
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_steps import Narrow

SAMPLED, TO_A_COLUMN = 3000, 20  # rows from which a sample is fitted first

SHARE, FEWEST = 8, 2000  # one row in so many is of the sample, of which as many are

LEFT_OPEN = 0.1  # of ``p / m``, what the sample leaves open of the risk

FEW = 60  # columns of which a Hessian costs no more than some reads

GAIN = 0.7  # of a step of L-BFGS with the metric of a sample, at least

GAIN_ANEW = 0.3  # the same with the Hessian of all rows, which costs many reads

STEPS, STEPS_ANEW, STEPS_FEW = 12, 15, 2  # of L-BFGS with one metric

NEWTON_STEPS = 50  # over the sample

HESSIANS = 80

FALL = 1e-4  # share of the slope by which a step must lower the risk

ROUNDING = 1e-14  # of the risk

SHORTEST = 1e-8  # of a step

FARTHEST = 700.0  # margin below 0 whose exponential does not overflow

SMALL = 1e-3  # a risk that needs all digits of the logarithm

ALMOST = 0.99  # of the gap that is asked for

BLOCKED = 3000.0  # roundings of a sum over a block of rows, hardly more

BALANCE = 2.0  # of the squared difference of the classes' dual weights

PATIENCE = 20  # steps in which the gap is to be halved

MOST_READS = 400.0  # after which it goes on compiled


class Seen(NamedTuple):
    """What a read found; the gradient's last entry is that of the intercept."""

    risk: float
    gradient: Vector
    errors: int


class Reads:
    """Reads of the rows of a problem.

    Attributes
    ----------
    a : float64 array, shape (n,)
        Dual weights at the point that was read last.
    count : int
        Number of reads, a Hessian being as many as its products cost.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._plus = (problem.y > 0.0).astype(np.float64)
        self.a, self.count = np.empty(problem.n), 0.0
        self._last = 1.0

    def __call__(self, theta: Vector) -> Seen:
        """Read the rows at coefficients and intercept."""
        problem, n, p = self._problem, self._problem.n, self._problem.p
        beta, alpha = theta[:-1], float(theta[-1])
        log1p = self._last < SMALL
        risk, images, errors = 0.0, np.zeros((2, p)), 0
        sums = np.zeros(2)
        for rows in blocks(n, p):
            B, y, a = doubles(problem.X, rows), problem.y[rows], self.a[rows]
            m = B @ beta
            m += alpha if problem.offset is None else alpha + problem.offset[rows]
            m *= y
            c = m if float(m.min()) >= -FARTHEST else np.maximum(m, -FARTHEST)
            e = np.exp(-c)
            q = 1.0 + e
            losses = np.log1p(e) if log1p else np.log(q)
            if c is not m:
                losses += c - m
            np.divide(e, q, out=a)
            if problem.weights is None:
                risk += float(losses.sum())
            else:
                risk += float(losses @ problem.weights[rows])
                a *= problem.weights[rows]
            side = np.empty((2, m.size))
            np.multiply(a, self._plus[rows], out=side[0])
            np.subtract(a, side[0], out=side[1])
            images += side @ B
            sums += side.sum(axis=1)
            errors += int(np.count_nonzero(m < 0.0))
        self.count += 1.0
        gradient = np.empty(p + 1)
        self._images, self._sums = images, sums
        gradient[:-1] = problem.lam * beta - (images[0] - images[1]) / n
        balance = float(self._sums[0] - self._sums[1])
        gradient[-1] = -balance / n if problem.intercept else 0.0
        self._last = risk / n
        penalty = 0.5 * problem.lam * float(beta @ beta)
        return Seen(penalty + risk / n, gradient, errors)

    def balanced(self) -> tuple[Vector, float]:
        """Dual weights in balance, but for rounding, and the dual objective there."""
        problem, a, images = self._problem, self.a, self._images
        if problem.intercept:
            factors = self._sums.min() / np.maximum(self._sums, 1e-300)
            down = self._plus * (factors[0] - factors[1]) + factors[1]
            a, images = a * down, images * factors[:, None]
        image = images[0] - images[1]
        reward = float(log_entropies(a, problem.weights).sum())
        if problem.offset is not None:
            reward -= float((a * problem.y) @ problem.offset)
        cost = float(image @ image) / (2.0 * problem.lam * problem.n)
        return a, (reward - cost) / problem.n

    def hessian(self) -> Matrix:
        """The Hessian where the rows were read last."""
        problem, a = self._problem, self.a
        if problem.weights is None:
            h = a * (1.0 - a)
        else:
            share = np.zeros(a.size)
            np.divide(a, problem.weights, out=share, where=problem.weights > 0.0)
            h = a * np.maximum(0.0, 1.0 - share)
        H = gram(problem.X, h, problem.intercept) / problem.n
        p = problem.p
        H.flat[: -1 : p + 2] += problem.lam
        if not H[-1, -1] > 0.0:
            H[-1, -1] = 1.0
        self.count += 1.0 + p / 16.0
        return H


class LogSteps:
    """Steps to the optimum of the log loss.

    Parameters
    ----------
    problem : Problem
    theta : float64 array, shape (p + 1,), optional
        Where to begin; at no coefficients if that is better, or not given.

    Attributes
    ----------
    theta, seen
        The last point, and what was found there.
    a : float64 array, shape (n,)
        Dual weights there.
    """

    def __init__(self, problem: Problem, theta: Vector | None = None) -> None:
        self._problem, self._reads = problem, Reads(problem)
        self.theta, self.violations = no_coefficients(problem), 0
        self.a = self._reads.a
        self._has_start = False
        if theta is not None:
            self.seen = self._reads(self.theta)
            there = self._reads(theta)
            if there.risk <= self.seen.risk:
                self.theta, self.seen, self._has_start = theta, there, True

    @property
    def risk(self) -> float:
        """The regularised risk at the last point."""
        return self.seen.risk

    @property
    def reads(self) -> float:
        """Reads so far."""
        return self._reads.count

    def certified(self) -> float:
        """The gap of the last point, with dual weights that are brought into balance.

        Computed with the images of both classes, without another read.
        """
        self.a, dual = self._reads.balanced()
        return self.risk - dual

    @property
    def gap(self) -> float:
        """About the gap: what the gradient says.

        What bringing the dual weights into balance costs is of second order in their
        difference, as the entropy has its slope of 0 there with the score.
        """
        g = self.seen.gradient
        balance = BALANCE * float(g[-1]) ** 2
        return float(g[:-1] @ g[:-1]) / 2.0 / self._problem.lam + balance

    def steps(self) -> Iterator[None]:
        """Take a step, of one read as a rule, each time."""
        problem, p = self._problem, self._problem.p
        if not self._has_start and problem.n >= max(SAMPLED, TO_A_COLUMN * p):
            self.theta, H = of_sample(problem, self.theta)
            self.seen = self._reads(self.theta)
            yield from self._quasi_newton(inverse(H), STEPS, GAIN)
        else:
            self.seen = self._reads(self.theta)
        for _ in range(HESSIANS):
            metric = inverse(self._reads.hessian())
            most = STEPS_FEW if p < FEW else STEPS_ANEW
            yield from self._quasi_newton(metric, most, GAIN_ANEW)

    def _quasi_newton(self, metric: Matrix, most: int, gain: float) -> Iterator[None]:
        """L-BFGS, until a step gains too little."""
        pairs: list[tuple[Vector, Vector, float]] = []
        for count in range(most):
            before, theta, g = self.gap, self.theta, self.seen.gradient
            self._go(two_loops(metric, pairs, -g))
            move, change = self.theta - theta, self.seen.gradient - g
            inner = float(move @ change)
            if inner > 0.0:
                pairs.append((move, change, inner))
            yield
            if count > 0 and self.gap > gain * before:
                return

    def _go(self, d: Vector) -> None:
        """Go along a direction as far as the risk falls enough."""
        self.theta, self.seen = searched(self._reads, self.theta, self.seen, d)
        self.a = self._reads.a
        self.violations += self.seen.errors


class DenseRun:
    """Steps in numpy, each an epoch; compiled ones where these do not suffice."""

    def __init__(self, problem: Problem, solver: SDCA, dual: Vector | None) -> None:
        self._problem, self._solver = problem, solver
        self._goal = Goal(solver.tol, solver.gap_tol)
        start = None if dual is None else start_of(problem, dual)
        self._steps: LogSteps | Hinge
        if problem.loss == "log":
            self._steps = LogSteps(problem, None if start is None else start[0])
            self._walk: Iterator[None] = self._steps.steps()
        else:
            self._steps = Hinge(problem, start)
            self._walk = self._steps.steps(self._goal)
        self._count = self._violations = 0
        self._gaps: list[float] = []
        self._further: Narrow | InteriorSteps | None = None

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        return isinstance(self._further, Narrow) and self._further.visits_rows

    @property
    def visits(self) -> float:
        """Rows visited so far, or whose visits would have cost as much."""
        further = self._further.visits if isinstance(self._further, Narrow) else 0.0
        return self._steps.reads * self._problem.n + further

    @np.errstate(all="ignore")
    def epoch(self, rows: Rows) -> None:
        """Take a step."""
        if isinstance(self._further, Narrow):
            self._further.epoch(rows)
            return
        if isinstance(self._further, InteriorSteps):
            self._further.step()
            self._count += 1
            return
        is_on = next(self._walk, self) is None
        self._count += is_on
        self._violations = self._steps.violations
        self._gaps.append(self._steps.gap)
        is_long = not is_on or self._steps.reads > MOST_READS or self.stands_still
        if InteriorSteps.serves(self._problem) and (is_long or self._count >= LONG):
            self._further = InteriorSteps(self._problem, *self.best())
        elif is_long:
            self._further = Narrow(self._problem, self._solver, self._steps.a)
        if self._further is not None and not is_on:
            self.epoch(rows)

    @property
    def stands_still(self) -> bool:
        """Whether the last steps have not halved the gap."""
        gaps = self._gaps
        return len(gaps) > PATIENCE and not gaps[-1] <= 0.5 * gaps[-1 - PATIENCE]

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``: the best so far."""
        if isinstance(self._further, InteriorSteps):
            return self._further.best()
        theta = self._steps.theta
        return theta[:-1], float(theta[-1]), self._steps.a

    @np.errstate(all="ignore")
    def reached(self) -> bool:
        """Whether the gap is within the tolerance, computed from the rows."""
        if isinstance(self._further, Narrow):
            return self._further.reached()
        if self._further is None:
            goal = self._goal(self._steps.risk)
            if not self._steps.gap <= goal:
                return False
            if isinstance(self._steps, LogSteps):
                gap = self._steps.certified()
                if not gap <= goal:
                    return False
                if gap + self._rounding() <= ALMOST * goal:
                    return True
        elif not self._solver.reached(self._further.gap):
            return False
        return self._solver.reached(self.certificate())

    def _rounding(self) -> float:
        """More than rounding does to the gap that steps of the log loss compute.

        Scores are off by `reach`, as in ``rounding.py``, and the length of the
        coefficients that dual weights give by `apart`.
        """
        problem, (beta, alpha, a) = self._problem, self.best()
        radius, count = problem.radius, problem.p + additions(problem.n) + BLOCKED
        size = radius * math.sqrt(float(beta @ beta)) + abs(alpha)
        reach = count * UNIT * (1.0 + size + (problem.farthest or 0.0))
        apart = count * UNIT * radius * float(a.sum()) / problem.n
        apart /= math.sqrt(2.0 * problem.lam)
        return 2.0 * reach + 2.0 * apart * math.sqrt(self._steps.risk) + apart * apart

    def certificate(self) -> Certificate:
        """Primal and dual objective, computed from the rows."""
        if isinstance(self._further, Narrow):
            return self._further.certificate()
        return certificate(self._problem, *self.best(), self._solver.tol)

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and its dual point."""
        if isinstance(self._further, Narrow):
            found = self._further.solution(seed)
            return replace(
                found,
                n_iter=self._count + found.n_iter,
                n_violations=self._violations + found.n_violations,
            )
        problem, (beta, alpha, a) = self._problem, self.best()
        return Solution(
            beta=beta.copy(),
            alpha=alpha,
            dual=feasible(a, problem.y, problem.intercept, problem.weights),
            n_iter=self._count,
            n_violations=self._violations,
            seed=seed,
        )


def no_coefficients(problem: Problem) -> Vector:
    """The model with an intercept alone, offsets left out."""
    theta = np.zeros(problem.p + 1)
    if problem.intercept:
        plus = float(problem.row_weights.sum(where=problem.y > 0.0))
        minus = float(problem.row_weights.sum(where=problem.y < 0.0))
        theta[-1] = math.log(plus) - math.log(minus)
    return theta


def of_sample(problem: Problem, theta: Vector) -> tuple[Vector, Matrix]:
    """Newton's method over evenly spaced rows: its end, and the Hessian there.

    It ends where what is left is small beside what the sample leaves open.
    """
    n = problem.n
    m = max(n // SHARE, FEWEST)
    part = problem.of_rows(np.arange(0, n - n % (n // m), n // m))
    reads = Reads(part)
    seen = reads(theta)
    for _ in range(NEWTON_STEPS):
        H = reads.hessian()
        d = solved(H, -seen.gradient)
        if -float(seen.gradient @ d) <= LEFT_OPEN * problem.p / m * seen.risk:
            break
        theta, seen = searched(reads, theta, seen, d)
    return theta, H


def searched(reads: Reads, theta: Vector, seen: Seen, d: Vector) -> tuple[Vector, Seen]:
    """The point along a direction where the risk has fallen in proportion to it."""
    slope, t = float(seen.gradient @ d), 1.0
    while True:
        new = theta + t * d
        found = reads(new)
        enough = seen.risk + FALL * t * slope + ROUNDING * seen.risk
        if found.risk <= enough or t < SHORTEST:
            return new, found
        there = float(found.gradient @ d)
        share = slope / (slope - there) if there > 0.0 else 0.5
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


def start_of(problem: Problem, dual: Vector) -> tuple[Vector, Vector]:
    """``(beta, alpha)`` that dual weights give, and these made feasible."""
    a = feasible(dual, problem.y, problem.intercept, problem.weights)
    beta = (a * problem.y) @ problem.X / (problem.lam * problem.n)
    alpha = 0.0
    if problem.intercept:
        scores = problem.X @ beta + problem.row_offsets
        alpha = best_intercept(scores, problem.y, problem.loss, problem.weights)
    return np.append(beta, alpha), a
