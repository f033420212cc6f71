"""The run of SDCA for the log loss with many more rows than columns."""

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Rows, Vector, read_only
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.solvers.objective import (
    Certificate,
    certificate,
    feasible,
    zero_objective,
)
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.proximal import ProximalNewton
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import settled

SHARE, FEWEST = 8, 2000  # one row in so many is of the sample, of which as many are
SOLVED = 0.005  # of what the sample leaves open, p / m of the risk
QUICK = 6  # steps over the sample before its Hessian is computed
SLOW = 36  # steps over the sample at most
PATIENCE, ENOUGH = 6, 0.1  # steps in which the gap is to fall to that share
MOST_COLUMNS = 1000  # of a Hessian
PAIRS = 12  # that L-BFGS remembers
CARRIED = 3  # of them, from the sample: earlier ones are of points farther off
FALL = 1e-4  # share of the slope by which a step must lower the risk
ROUNDING = 1e-13  # of the risk
TRIALS = 12
BLOCK = 2**13  # bytes of rows that are looked at together


class Seen(NamedTuple):
    """What a read found: regularised risk, its gradient, rows with a margin below 0.

    The last entry of a gradient is that of the intercept.
    """

    objective: float
    gradient: Vector
    errors: int


class Looking:
    """Reads of the rows of a problem.

    Attributes
    ----------
    a : float64 array, shape (n,)
        Dual weights at the last point.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        p, padded = problem.p, arithmetic.lanes.padded(problem.p)
        self.a = np.zeros(problem.n)
        self._w, self._image, self._sums = (np.zeros(k) for k in (padded, padded, 3))
        known = read_only(np.zeros(0)) if problem.offset is None else problem.offset
        self._given: Any = problem.rows, problem.y, problem.row_weights, known
        self._block = max(4, BLOCK // (8 * max(1, p)))

    def __call__(self, theta: Vector) -> Seen:
        """Read the rows at coefficients and intercept."""
        problem, n, p = self._problem, self._problem.n, self._problem.p
        self._w[:p] = theta[:-1]
        into: Any = self._block, self.a, self._image, self._sums
        point: Any = self._w, float(theta[-1])
        given: Any = (*self._given, *point, *into)
        dual.descent.look(*given)
        risk, balance, errors = self._sums.tolist()
        gradient = np.empty(p + 1)
        gradient[:-1] = problem.lam * theta[:-1] - self._image[:p] / n
        gradient[-1] = -balance / n if problem.intercept else 0.0
        penalty = 0.5 * problem.lam * float(theta[:-1] @ theta[:-1])
        return Seen(penalty + risk / n, gradient, int(errors))


class Steps:
    """L-BFGS with a preconditioner.

    Attributes
    ----------
    theta : float64 array, shape (p + 1,)
        Coefficients and intercept.
    seen : Seen
        There.
    metric : Metric
    """

    def __init__(self, looking: Looking, theta: Vector, metric: "Metric") -> None:
        self._looking, self.theta, self.metric = looking, theta, metric
        self.seen = looking(theta)
        self.pairs: list[tuple[Vector, Vector, float]] = []

    def step(self) -> bool:
        """Take a step; ``False``, and no step, if none lowers the risk."""
        f, g, _ = self.seen
        d = self._direction(g)
        slope, t = float(g @ d), 1.0
        for _ in range(TRIALS if slope < 0.0 else 0):
            theta = self.theta + t * d
            seen = self._looking(theta)
            there = float(seen.gradient @ d)
            is_lower = seen.objective <= f + FALL * t * slope
            is_same = seen.objective <= f + ROUNDING * f and there <= -0.9 * slope
            if is_lower or is_same:
                self._remember(theta - self.theta, seen.gradient - g)
                self.theta, self.seen = theta, seen
                return True
            share = slope / (slope - there) if there > 0.0 else 0.1
            t *= min(0.7, max(0.1, share))
        self._looking(self.theta)
        return False

    def _direction(self, g: Vector) -> Vector:
        d, shares = -g, []
        for move, change, inner in reversed(self.pairs):
            shares.append(float(move @ d) / inner)
            d = d - shares[-1] * change
        d = self.metric.solve(d)
        for move, change, inner in self.pairs:
            d = d + (shares.pop() - float(change @ d) / inner) * move
        return d

    def _remember(self, move: Vector, change: Vector) -> None:
        inner = float(move @ change)
        if inner > 0.0:
            self.pairs = [*self.pairs[1 - PAIRS :], (move, change, inner)]


class Metric:
    """What directions are measured by: a diagonal, or a Hessian.

    Parameters
    ----------
    diagonal : float64 array, shape (p + 1,)
    """

    def __init__(self, diagonal: Vector, hessian: Matrix | None = None) -> None:
        self.diagonal, self._factor = diagonal, None
        if hessian is not None:
            from scipy.linalg import cho_factor

            self._factor = cho_factor(hessian)

    @property
    def is_whole(self) -> bool:
        """Whether it is more than a diagonal."""
        return self._factor is not None

    def solve(self, v: Vector) -> Vector:
        """Multiply by the inverse."""
        if self._factor is None:
            return v / self.diagonal
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self._factor, v, check_finite=False))


class Sample:
    """Some of the rows, and steps over them.

    Attributes
    ----------
    steps : Steps
    centre : float64 array, shape (p,)
        The mean row under the dual weights, of the whole problem about.
    """

    def __init__(self, problem: Problem) -> None:
        n, p = problem.n, problem.p
        m = max(n // SHARE, min(n, FEWEST))
        rows = np.arange(n) if m == n else _drawn(n, m)
        w = problem.row_weights
        self._problem = part = problem.of_rows(rows)
        self._looking = Looking(part)
        theta = np.zeros(p + 1)
        is_plus = problem.y > 0.0
        plus, minus = (float(w.sum(where=side)) for side in (is_plus, ~is_plus))
        if problem.intercept:
            theta[-1] = math.log(plus) - math.log(minus)
        self.start = theta
        metric = self._diagonal(0.25 * part.row_weights)
        self.steps = Steps(self._looking, theta, metric)
        for count in range(SLOW):
            f, g, _ = self.steps.seen
            if float(g @ (g / metric.diagonal)) <= SOLVED * (p + 1) / m * f:
                break
            if count > 0 and count % QUICK == 0:
                self.steps.metric = self.metric()
                self.steps.pairs = []
            if not self.steps.step():
                break
        if not self.steps.metric.is_whole:
            self.steps.metric = self._diagonal(self._curvatures())
        a = self._looking.a
        self.centre = np.asarray(a @ part.X, dtype=np.float64) / a.sum()

    def metric(self, theta: Vector | None = None) -> Metric:
        """The Hessian at a point, the last one if none is given; or its diagonal."""
        if theta is not None:
            self._looking(theta)
        h = self._curvatures()
        diagonal = self._diagonal(h)
        if h.size < self._problem.p or self._problem.p > MOST_COLUMNS:
            return diagonal
        try:
            return Metric(diagonal.diagonal, self._hessian(h))
        except (np.linalg.LinAlgError, ValueError):  # not positive, not finite
            return diagonal

    def _curvatures(self) -> Vector:
        a, w = self._looking.a, self._problem.row_weights
        return a - np.divide(a * a, w, out=np.zeros(a.size), where=w > 0.0)

    def _diagonal(self, h: Vector) -> Metric:
        X = self._problem.X
        found = np.empty(self._problem.p + 1)
        if isinstance(X, np.ndarray):
            found[:-1] = np.einsum("ij,ij,i->j", X, X, h, dtype=np.float64)
        else:
            found[:-1] = h @ X.multiply(X)
        found[-1] = h.sum() if self._problem.intercept else 0.0
        found /= h.size
        found[:-1] += self._problem.lam
        found[-1] = found[-1] or 1.0
        return Metric(found)

    def _hessian(self, h: Vector) -> Matrix:
        X, (m, p) = self._problem.X, self._problem.X.shape
        H = np.zeros((p + 1, p + 1))
        if isinstance(X, np.ndarray):
            scaled = X * np.sqrt(h)[:, None]
            H[:p, :p] = scaled.T @ scaled
        else:
            H[:p, :p] = (X.T @ X.multiply(h[:, None])).toarray()
        if self._problem.intercept:
            H[-1, :p] = H[:p, -1] = h @ X
            H[-1, -1] = h.sum()
        H /= m
        H[range(p), range(p)] += self._problem.lam
        H[-1, -1] = H[-1, -1] or 1.0
        return H


def _drawn(n: int, m: int) -> Rows:
    """``m`` rows of ``n`` in their order, the same ones every time."""
    return np.sort(np.random.default_rng(0).integers(0, n, m))


class Descent:
    """Steps from a sample; Newton steps from where they stand still.

    The methods are those of `ProximalNewton`.

    Parameters
    ----------
    problem : Problem
        Of the log loss.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._looking = Looking(problem)
        self._sample = sample = Sample(problem)
        self._steps = Steps(self._looking, sample.steps.theta, sample.steps.metric)
        self._steps.pairs = sample.steps.pairs[-CARRIED:]
        if not self._steps.seen.objective <= zero_objective(problem):
            self._steps = Steps(self._looking, sample.start, sample.steps.metric)
        self._newton: ProximalNewton | None = None
        self._gaps = [self._gap()]
        self._is_renewed = False
        self._violations = self._steps.seen.errors

    @property
    def cost(self) -> float:
        """Rows that the next step visits, or whose visits would cost as much."""
        return float(self._problem.n) if self._newton is None else self._newton.cost

    @property
    def violations(self) -> int:
        """Rows with a margin below 0, summed over the steps."""
        return self._violations + (self._newton.violations if self._newton else 0)

    def step(self) -> None:
        """Take a step; another Hessian, then Newton steps, where they stand still."""
        if self._newton is None:
            self._go_on()
        if self._newton is not None:
            self._newton.step()

    def _go_on(self) -> None:
        has_moved = self._steps.step()
        self._gaps.append(self._gap())
        self._violations += self._steps.seen.errors
        gaps = self._gaps
        if has_moved and not (
            len(gaps) > PATIENCE and gaps[-1] > ENOUGH * gaps[-1 - PATIENCE]
        ):
            return
        metric = self._sample.metric(self._steps.theta)
        if has_moved and metric.is_whole and not self._is_renewed:
            self._is_renewed = True
            self._steps.metric, self._steps.pairs = metric, []
            self._gaps = gaps[-1:]
            return
        beta, alpha, a = self.best()
        w = np.zeros(arithmetic.lanes.padded(beta.size))
        w[: beta.size] = beta
        self._newton = ProximalNewton(self._problem, w, alpha, a.copy(), 1.0)

    def _gap(self) -> float:
        g = self._steps.seen.gradient
        apart = g[:-1] - g[-1] * self._sample.centre
        return float(apart @ apart) / 2.0 / self._problem.lam

    @property
    def gap(self) -> Certificate:
        """Objectives, the lower one about."""
        if self._newton is not None:
            return self._newton.gap
        objective, _, errors = self._steps.seen
        return Certificate(objective, max(0.0, objective - self._gaps[-1]), errors)

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` of the least risk so far, and ``a`` there; it changes."""
        if self._newton is not None:
            return self._newton.best()
        theta = self._steps.theta
        return theta[:-1].copy(), float(theta[-1]), self._looking.a


class Descending:
    """Steps of `Descent`, each an epoch; no row is drawn."""

    visits_rows = False

    def __init__(self, problem: Problem, solver: SDCA, dual: Vector | None) -> None:
        assert dual is None
        self._problem, self._solver = problem, solver
        self._descent: Descent | None = None
        self._settled: float | None = None
        self._steps = 0
        self.visits = 0.0

    @staticmethod
    def serves(problem: Problem, solver: SDCA, dual: Vector | None) -> bool:
        """Whether this is the run for a problem that starts from nothing."""
        from_nothing = dual is None and solver.start == "zero"
        return problem.loss == "log" and from_nothing and problem.many_rows

    def epoch(self, rows: Rows) -> None:
        """Take a step, the first one from the solution of a sample."""
        self._settled = None
        self._steps += 1
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self._descent is None:
                self._descent = Descent(self._problem)
                self.visits += 2.0 * self._problem.n
            self.visits += self._descent.cost
            self._descent.step()

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again if computed anew."""
        if self._descent is None or not self._solver.reached(self._descent.gap):
            return False
        self._settled, at = settled(self._problem, self._solver, *self._best())
        return self._solver.reached(at)

    def certificate(self) -> Certificate:
        """Primal and dual objective of the best points, computed from the rows."""
        return certificate(self._problem, *self._best())

    def solution(self, seed: int | None) -> Solution:
        """Return the best fit and its dual point."""
        problem, (beta, alpha, a) = self._problem, self._best()
        assert self._descent is not None  # an epoch comes first
        return Solution(
            beta=beta,
            alpha=alpha,
            dual=feasible(a, problem.y, problem.intercept, problem.weights),
            n_iter=self._steps,
            n_violations=self._descent.violations,
            seed=seed,
        )

    def _best(self) -> tuple[Vector, float, Vector]:
        assert self._descent is not None  # an epoch comes first
        beta, alpha, a = self._descent.best()
        return beta, alpha if self._settled is None else self._settled, a
