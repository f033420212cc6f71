"""Newton's method for losses with second derivatives: the log loss, the squared hinge.

    P(theta) = lam/2 ||beta||^2 + (1/n) sum_i w_i loss(m_i),
    m_i = y_i (x_i'beta + alpha + offset_i),    theta = (beta, alpha).

With few columns every step computes the Hessian. With many columns several steps of
L-BFGS use the same initial Hessian: first only its diagonal, then the full matrix,
which is recomputed when a step gains too little. If a Hessian is too expensive,
conjugate gradients compute Newton steps. With many rows per column L-BFGS uses the
Hessian of a sample and starts from the minimum of the sample, which is computed in
single precision if rows are dense. For sparse rows the sample's Hessian is rescaled, so
that its diagonal equals the diagonal for all rows. The first step from the null model
has the length that minimises the objective.

References
----------
Liu & Nocedal, *On the limited memory BFGS method for large scale optimization*,
Mathematical Programming 45 (1989).
Byrd, Chin, Neveitt & Nocedal, *On the use of stochastic Hessian information in
optimization methods for machine learning*, SIAM Journal on Optimization 21 (2011).
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats.arrays import UNIT, Matrix, Rows, Vector
from pegasos_stats.solvers.certificate import Gap
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.solvers.options import NEWTON, Goal, Method
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import CLOSEST
from pegasos_stats.solvers.sums import (
    EVERY,
    TINY,
    Sums,
    doubles,
    inverse,
    newton_rows,
    row_blocks,
    sample_rows,
    solved,
    sums_at,
)

Pairs = list[tuple[Vector, Vector, float]]  # steps, gradient changes, inner products
FEW_COLUMNS = 60  # columns up to which a Hessian costs no more than a few passes
# L-BFGS continues while each step reduces the gap to at most this share. With 0.5 the
# work is 3% more, with 0.3 it is 8% more (2,000 x 60 to 50,000 x 300, four kinds of
# data). Newton steps alone, without L-BFGS, take 1.2 times the work.
GAIN = 0.7
MOST_EXPONENT = {
    precision: float(np.log(np.finfo(precision).max))
    for precision in (np.dtype(np.float32), np.dtype(np.float64))
}
LBFGS_METHOD = "L-BFGS"


class RiskValue(NamedTuple):
    """Objective, its gradient and the number of margin violations at a point."""

    risk: float
    gradient: Vector
    violations: int


def two_loops(metric: Matrix | Vector, pairs: Pairs, d: Vector) -> Vector:
    """Multiply the inverse Hessian of L-BFGS by a vector, by the two-loop recursion.

    `metric` is the initial inverse Hessian: a matrix, or its diagonal as a vector.
    """
    shares = []
    for step, change, product in reversed(pairs):
        shares.append(float(step @ d) / product)
        d = d - shares[-1] * change
    d = metric @ d if metric.ndim > 1 else metric * d
    for step, change, product in pairs:
        d = d + (shares.pop() - float(change @ d) / product) * step
    return d


def line_search(
    risk: Callable[[Vector], RiskValue], theta: Vector, at: RiskValue, d: Vector
) -> tuple[Vector, RiskValue]:
    """Backtracking line search: find a point with a sufficient decrease (Armijo).

    Up to rounding, the decrease is at least 1e-4 times the decrease that the derivative
    predicts. Returns the start if no step length down to 1e-8 suffices.
    """
    slope, t = float(at.gradient @ d), 1.0
    while True:
        point = theta + t * d
        there = risk(point)
        if there.risk <= at.risk + 1e-4 * t * slope + CLOSEST * at.risk:
            return point, there
        if t < 1e-8:
            return theta, risk(theta)
        slope_there = float(there.gradient @ d)
        falls = slope_there > max(slope, 0.0)
        share = slope / (slope - slope_there) if falls else 0.5
        t *= min(0.7, max(0.1, share))


class SmoothRisk:
    """Objective, gradient and Hessian of a smooth loss, by passes over the data.

    Parameters
    ----------
    problem : Problem
    is_single : bool
        Whether products with the rows use single precision, to compute a starting
        point.

    Attributes
    ----------
    scores, a : float64 array, shape (n,)
        Scores without offsets, and dual weights, at the point of the last pass.
    signed : float64 array, shape (p + 1,)
        ``sum_i a_i y_i z_i`` at this point. ``z_i`` is ``(x_i, 1)``, or without
        intercept ``(x_i, 0)``.
    by_class : bool
        Whether passes also compute `positive`.
    positive : float64 array, shape (p + 1,), or None
        The sum `signed` over the rows with ``y = +1`` only.
    count : float
        Number of passes; a Hessian counts as passes of equal cost.
    n_blocks : int
        Number of blocks of rows in a pass.
    last_hessian : float64 array, shape (p + 1, p + 1), or None
    factorises : bool
        Whether a Hessian costs less than conjugate gradients.
    """

    def __init__(self, problem: Problem, is_single: bool = False) -> None:
        self._problem, self._loss = problem, problem.loss_function
        ones = np.full(problem.n, float(problem.intercept))
        self.rows = newton_rows(problem.X, ones)
        self.factorises = self.rows.factorises(
            np.arange(problem.n) if is_single else EVERY
        )
        self._blocks, is_dense = list(row_blocks(problem.X)), not self.rows.is_sparse
        self.n_blocks = len(self._blocks)
        if is_single:
            self._blocks = [slice(None)]
        self._Z: Matrix | None = None
        if is_dense and len(self._blocks) == 1:
            precision = np.float32 if is_single else np.float64
            self._Z = np.empty((problem.n, problem.p + 1), dtype=precision)
            self._Z[:, :-1], self._Z[:, -1] = problem.X, problem.intercept
        self.scores, self.a = np.empty(problem.n), np.empty(problem.n)
        self.signed: Vector = np.zeros(problem.p + 1)
        self.positive: Vector | None = None
        self.by_class, self.count = False, 0.0
        self.last_hessian: Matrix | None = None
        self._last = 1.0

    def __call__(self, theta: Vector) -> RiskValue:
        """Pass over the rows at coefficients and intercept `theta`."""
        problem, p = self._problem, self._problem.p
        risk, image, violations = 0.0, np.zeros(p + 1), 0
        self.positive = np.zeros(p + 1) if self.by_class else None
        for rows in self._blocks:
            B, f = self._scores(rows, theta)
            y, a, k = problem.y[rows], self.a[rows], B.shape[1]
            self.scores[rows] = f
            if problem.offset is not None:
                f += problem.offset[rows]
            m = np.multiply(f, y, out=f)
            losses = self._losses(m, a)
            if problem.weights is None:
                risk += float(np.add.reduce(losses))
            else:
                risk += float(losses @ problem.weights[rows])
                a *= problem.weights[rows]
            signed = (a * y).astype(B.dtype, copy=False)
            if self.positive is None:
                image[:k] += signed @ B
            else:
                images = np.stack([signed, np.maximum(signed, 0.0)]) @ B
                image[:k] += images[0]
                self.positive[:k] += images[1]
            if k == p and problem.intercept:
                image[p] += np.add.reduce(signed)
            violations += int(np.count_nonzero(m < self._loss.margin))
        self.count += 1.0
        self._last = risk = risk / problem.n
        self.signed, gradient = image, image / -problem.n
        penalty = problem.lam * theta[:p]
        gradient[:p] += penalty
        return RiskValue(risk + 0.5 * float(penalty @ theta[:p]), gradient, violations)

    def _scores(self, rows: slice, theta: Vector) -> tuple[Any, Vector]:
        """Return the rows of a block, with a constant column if copied, and scores."""
        if self._Z is not None:
            return self._Z, self._Z @ theta.astype(self._Z.dtype, copy=False)
        B = doubles(self._problem.X, rows)
        return B, B @ theta[:-1] + theta[-1]

    def _losses(self, m: Vector, a: Vector) -> Vector:
        """Compute losses at margins, and store minus their derivatives in ``a``."""
        if self._problem.loss != "log":
            a[:] = self._loss.dual_weights(m)
            return self._loss.values(m)
        least = 1.0 - MOST_EXPONENT[m.dtype]
        c = m if np.minimum.reduce(m) >= least else np.maximum(m, least)
        e = np.exp(-c)
        q = 1.0 + e
        # Use log1p where cancellation in the logarithm would matter.
        losses = np.log1p(e) if self._last < 1e-3 else np.log(q)
        if c is not m:
            losses += c - m
        np.divide(e, q, out=a)
        return np.asarray(losses)

    def best_length(self, theta: Vector, d: Vector) -> float:
        """Minimise the objective along a direction from the last point.

        Newton's method for the length needs the scores of the direction only, without
        further passes over the data.
        """
        problem, p, t = self._problem, self._problem.p, 1.0
        q = np.concatenate([self._scores(rows, d)[1] for rows in self._blocks])
        m = problem.y * (self.scores + problem.row_offsets)
        q, a = problem.y * q, np.empty(problem.n)
        wq = q * problem.row_weights
        slope = problem.lam * float(d[:p] @ theta[:p])
        penalty = problem.lam * float(d[:p] @ d[:p])
        for _ in range(8):
            self._losses(m + t * q, a)
            falls = float(a @ wq) / problem.n - slope - t * penalty
            h = self._loss.second_derivatives(a)
            curvature = float(h @ (q * wq)) / problem.n + penalty
            if not (curvature > 0.0 and abs(falls) > 0.01 * t * curvature):
                break  # the next step would change the length by at most 1%
            t = min(max(t + falls / curvature, t / 3.0), 3.0 * t)
        return t

    def sums(self, a: Vector, reach: float) -> Sums | None:
        """Return the sums for the certificate at the last point, for dual weights `a`.

        In each class `a` must be nearly a multiple of the dual weights of the last
        pass, as after balancing; the difference counts as rounding. None if the pass
        did not sum by class.
        """
        problem, own = self._problem, self.a
        if self.positive is None:
            return None
        p, y, dual = problem.p, problem.y, float(a.sum())
        plus, minus = 1.0, 1.0
        if problem.intercept:
            total, difference = float(own.sum()), float(own @ y)
            plus = dual / max(total + difference, TINY)
            minus = dual / max(total - difference, TINY)
        own = own * ((plus + minus) / 2.0 + y * ((plus - minus) / 2.0))
        rounding = float(np.abs(np.subtract(a, own, out=own)).sum())
        image = minus * self.signed[:p] + (plus - minus) * self.positive[:p]
        most = 8.0 + len(self._blocks) + math.ceil(problem.n / len(self._blocks))
        most += rounding / max(UNIT * dual, TINY)
        others = y, problem.loss, a, problem.weights, reach, problem.offset
        return sums_at(self.scores.copy(), image, most, *others)

    def heights(self) -> Vector:
        """Second derivatives of the weighted losses at the last pass, divided by n."""
        a, weights, n = self.a, self._problem.weights, self._problem.n
        if self._problem.loss != "log":
            return self._loss.second_derivatives(a) * self._problem.row_weights / n
        if weights is None:
            return np.asarray(a * (1.0 - a) / n)
        share = np.divide(a, weights, out=np.zeros(a.size), where=weights > 0.0)
        return np.asarray(a * np.maximum(0.0, 1.0 - share) / n)

    def direction(self, gradient: Vector) -> Vector:
        """Compute the Newton direction, by conjugate gradients if that costs less."""
        problem, p = self._problem, self._problem.p
        if self.factorises:
            return solved(self.hessian(), -gradient)
        ridge = np.full(p + 1, problem.lam)
        ridge[p] = TINY if problem.intercept else 1.0
        self.count += 30.0  # approximate number of products
        heights = self.heights()
        bent = slice(None) if heights.all() else np.flatnonzero(heights)
        return self.rows.by_products(heights[bent], ridge, -gradient, bent)

    def diagonal(self) -> Vector:
        """The diagonal of the Hessian at the last pass."""
        X: Any = self._problem.X if self._Z is None else self._Z[:, :-1]
        h = self.heights()
        if self.rows.is_sparse:
            squares = h @ X.power(2)
        else:
            squares = np.einsum("ij,ij,i->j", X, X, h, dtype=np.float64)
        return np.append(squares + self._problem.lam, h.sum() or 1.0)

    def hessian(self) -> Matrix:
        """The Hessian at the last pass."""
        p = self._problem.p
        if self._Z is None:
            H = self.rows.gram(self.heights())
        else:
            roots = np.sqrt(self.heights()).astype(self._Z.dtype, copy=False)
            rooted = self._Z * roots[:, None]
            H = (rooted.T @ rooted).astype(np.float64, copy=False)
        H.flat[: -1 : p + 2] += self._problem.lam
        if not H[-1, -1] > 0.0:
            H[-1, -1] = 1.0
        self.count += 1.0 + p / 16.0
        self.last_hessian = H
        return H


class SmoothSteps(Method):
    """Steps to the minimum of the objective, usually one pass over the data each.

    Parameters
    ----------
    problem : Problem
    theta : float64 array, shape (p + 1,), optional
        Starting point; the null model if that is better, or by default.
    is_single : bool
        As in `SmoothRisk`.
    goal : Goal, optional
        Near this gap, passes over several blocks of rows sum by class, so that the
        certificate needs no pass of its own.

    Attributes
    ----------
    theta, at
        The last point, and the objective at this point.
    """

    def __init__(
        self,
        problem: Problem,
        theta: Vector | None = None,
        is_single: bool = False,
        goal: Goal | None = None,
    ) -> None:
        super().__init__()
        self.name = NEWTON
        self._problem, self.risk = problem, SmoothRisk(problem, is_single)
        self._goal = goal
        self.theta = null_model(problem)
        self._is_null = True
        if theta is not None:
            null, self.at = self.risk(self.theta), self.risk(theta)
            self._is_null = not self.at.risk <= null.risk
            if not self._is_null:
                self.theta = theta
        self.walk = self._all_steps()

    def step(self, rows: Rows) -> None:
        """Take a step."""
        if len(self.gaps) > 1 and self._goal is not None and self.risk.n_blocks > 1:
            # Predict the next gap: quadratic convergence for Newton, else linear. Sums
            # by class cost a quarter of a pass; missing sums cost the certificate a
            # whole pass. Hence the factor of 10.
            (before, left), order = self.gaps[-2:], 2 if self.name == NEWTON else 1
            most = 10.0 * self._goal(self.at.risk)
            self.risk.by_class = left * left**order <= most * before**order
        next(self.walk)
        self.gaps.append(self._left())
        self.violations += self.at.violations
        self.steps += 1
        self.visits = self.risk.count * self._problem.n

    @property
    def gap(self) -> Gap:
        """Objective, and the dual objective estimated from the gradient.

        Balancing the dual weights changes the dual objective only by a second-order
        term, because the Lagrangian of the dual is nearly stationary at these weights.
        """
        return Gap(self.at.risk, self.at.risk - self._left())

    def sums(self, a: Vector, reach: float) -> Sums | None:
        """Return sums for the certificate, if the last pass computed them."""
        return self.risk.sums(a, reach)

    def _left(self) -> float:
        g = self.at.gradient
        balance = 2.0 * float(g[-1]) ** 2
        return float(g[:-1] @ g[:-1]) / 2.0 / self._problem.lam + balance

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a`` at the last point."""
        return self.theta[:-1].copy(), float(self.theta[-1]), self.risk.a.copy()

    def _all_steps(self) -> Iterator[None]:
        problem, risk = self._problem, self.risk
        p, rows = problem.p, None
        if self._is_null:
            rows = sample_rows(problem.y, problem.weights, p)
        if rows is not None and risk.rows.factorises(rows):
            self.theta, H = sample_minimum(problem.of_rows(rows), p / rows.size)
            self.at, self.name, self._is_null = risk(self.theta), LBFGS_METHOD, False
            if risk.rows.is_sparse:
                # Few rows of the sample have an entry in a rare column.
                size = np.sqrt(risk.diagonal() / H.diagonal())
                H *= size * size[:, None]
            yield from self._lbfgs(inverse(H))
        elif self._is_null:
            self.at = risk(self.theta)
            if p >= FEW_COLUMNS and not risk.rows.is_sparse:
                self.name = LBFGS_METHOD
                yield from self._lbfgs(1.0 / risk.diagonal())
        self.name = NEWTON
        while p < FEW_COLUMNS or not risk.factorises:
            self._move(risk.direction(self.at.gradient))
            yield
        while True:
            yield from self._lbfgs(inverse(risk.hessian()))

    def _move(self, d: Vector) -> None:
        """Move in a direction; from the null model by the best length.

        From the null model a Newton step is too short by a factor of about 2, because
        second derivatives are largest at margins of 0. The best length saves two of
        five to seven steps.
        """
        if self._is_null:
            d = d * self.risk.best_length(self.theta, d)
        self._is_null = False
        self.theta, self.at = line_search(self.risk, self.theta, self.at, d)

    def _lbfgs(self, metric: Matrix | Vector) -> Iterator[None]:
        """Run L-BFGS until a step leaves more than `GAIN` of the gap."""
        left, count = np.inf, 0
        pairs: Pairs = []
        while self._left() <= GAIN * left or count < 2:
            left, count = self._left(), count + 1
            theta, g = self.theta, self.at.gradient
            d = two_loops(metric, pairs, -g)
            self._move(d)
            step, change = self.theta - theta, self.at.gradient - g
            if (product := float(step @ change)) > 0.0:
                pairs.append((step, change, product))
            yield


def sample_minimum(sample: Problem, share: float) -> tuple[Vector, Matrix]:
    """Minimise the objective of a sample; return the point and its Hessian.

    Stops when a step reduces the objective by at most `share` times the objective,
    about the sampling error.
    """
    is_single = isinstance(sample.X, np.ndarray) and sample.radius < 1e15
    steps, before = SmoothSteps(sample, None, is_single), np.inf
    for _ in range(50):
        next(steps.walk)
        if before - steps.at.risk <= share * steps.at.risk:
            break
        before = steps.at.risk
    H = steps.risk.last_hessian
    if H is None or steps.risk.rows.is_sparse:
        H = steps.risk.hessian()
    H.flat[:: len(H) + 1] *= 1.0 + 1e-5  # positive definite despite rounding
    return steps.theta, H


def null_model(problem: Problem) -> Vector:
    """Fit the model with only an intercept and the offsets."""
    theta = np.zeros(problem.p + 1)
    if problem.intercept and problem.offset is not None:
        y = problem.y.astype(np.float64)
        theta[-1] = best_intercept(problem.offset, y, problem.loss, problem.weights)
    elif problem.intercept:
        plus, minus = reversed(problem.class_weights)
        theta[-1] = problem.loss_function.null_intercept(plus, minus)
    return theta
