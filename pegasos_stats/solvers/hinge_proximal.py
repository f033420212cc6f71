"""Proximal-point method for the hinge loss, with semismooth Newton steps.

With rows ``z_i = (x_i, 1)``, weights ``w_i``, targets ``t_i = 1 - y_i offset_i`` and
dual weights ``w_i a_i``, ``a_i`` in [0, 1], the objective is

    lam/2 ||beta||^2 + (1/n) sum_i w_i max over a_i of  a_i s_i,
    s_i = t_i - y_i z_i'theta.

For a centre ``c``, the proximal-point method maximises the dual objective minus

    gamma/(2 n) sum_i w_i (a_i - c_i)^2;

the maximiser is the next centre. For one centre this is equivalent to minimising the
smoothed objective

    lam/2 ||beta||^2 + (1/n) sum_i w_i max over a_i of  a_i s_i - gamma/2 (a_i - c_i)^2,

where the maximum is at ``a_i = min(1, max(0, c_i + s_i / gamma))``. The Hessian of the
smoothed objective is ``lam J + (1/(gamma n)) sum w_i z_i z_i'``, where ``J`` is the
identity matrix with 0 for the intercept, and the sum is over the active rows, those
with ``a_i`` in (0, 1). Newton's method with a line search converges in a few steps. A
row of weight 1000 is equivalent to 1000 equal rows.

Every step yields a duality gap. With the gradient ``g`` of the smoothed objective, the
gap is

    P - D = ||g||^2 / (2 lam) + (1/n) sum_i w_i (max(0, s_i) - a_i s_i),

where the first term bounds how far the smoothed objective is above its minimum, and the
second is the smoothing error. The centre moves when the first is at most `CENTRE_GAP`
times the second. With a free intercept the dual has the constraint
``sum_i w_i a_i y_i = 0``. After each step, a Newton step of the intercept alone nearly
restores this constraint. It saves steps: 70 are needed instead of 90 with sparse rows
(a9a, w8a, ijcnn1 and a text), and 262 instead of 276 with dense ones.

With many rows per column an active set is used. At the optimum the dual weight of a row
is 0 if its margin exceeds 1, ``w_i`` if its margin is below 1, and between the two only
if the margin equals 1. So rows far from the margin at a point near the optimum are
fixed at 0 or at ``w_i``, and the problem is solved for the other rows, the active set.
The rows fixed at ``w_i`` are replaced by one row per class, their weighted mean with
their total weight. This is exact while all their margins are below 1, because the hinge
is linear there. If each of these rows gets the same share of its weight as the mean, a
dual point of the reduced problem is feasible for all rows. So one pass over all rows
certifies the solution. The same pass detects rows that were fixed on the wrong side;
they enter the active set, and the problem is solved again. A sample is solved first;
its size and its margins determine how far from the margin rows are active.

References
----------
Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm in
convex programming*, Mathematics of Operations Research 1 (1976).
Yan & Li, *An efficient augmented Lagrangian method for support vector machine*,
Optimization Methods and Software 35 (2020).
"""

import math
from collections.abc import Iterator

import numpy as np

from pegasos_stats.arrays import Mask, Matrix, Rows, Vector
from pegasos_stats.solvers.certificate import Gap
from pegasos_stats.solvers.interior import InteriorSteps
from pegasos_stats.solvers.options import Goal, Method
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sums import (
    ENTRIES,
    LEAST_SAMPLE,
    ROWS_TO_A_COLUMN,
    DenseRows,
    blocks,
    doubles,
    drawn_evenly,
    newton_rows,
)

# Tolerance of the problem of the active rows, relative to the tolerance of the fit.
SCREENED_TOL = 0.3
NO_WEIGHT = 1e-9  # instead of 0, for a class without fixed rows
# The centre moves when the first term of the gap is at most this multiple of the
# smoothing error. Six data sets of 300 to 2,000 rows need 105 steps to a gap of 1e-4
# with 3, and 114 with 1.
CENTRE_GAP = 3.0
# Minimum number of active rows per column that estimate the Hessian; at least
# `LEAST_SAMPLE` rows do. With these minima a9a and w8a need 29 and 49 ms, with all
# active rows 31 and 64 ms.
HESSIAN_TO_A_COLUMN = 2 * ROWS_TO_A_COLUMN
# First and smallest gamma. Sixteen data sets of 300 to 2,000 rows need 276 steps to a
# gap of 1e-4 and 400 to 1e-6; if gamma starts at mean ||x_i||^2 / (4 lam n), 328 and
# 440. Predictors with unequal scales double the number of steps.
FIRST_GAMMA, LEAST_GAMMA = 2.0, 1e-6
TINY_RIDGE = 1e-12  # added to the Hessian for the intercept, which has no penalty
# The line search reduces the derivative to this share. Nine data sets need 230 and 313
# steps to gaps of 1e-4 and 1e-6; with 0.3, 240 and 328.
FLAT = 0.1
# Minimum number of rows per column for an active set, which also requires `ENTRIES`
# entries: 4,000 x 10 would need 5.3 ms with an active set and needs 3.2 ms without;
# 20,000 x 10 needs 6.8 ms with an active set, and 8.0 ms without.
SCREENED_TO_A_COLUMN = 60
RARE = 0.05  # share of the smaller class below which no active set is used
# Relative gap for the sample, and for the active rows before the first pass over all
# rows. To a gap of 1e-4, 100,000 x 50 needs 64 ms, and 123 ms with 1e-2 instead;
# 400,000 x 10 needs 63 and 69 ms.
ROUGH_GAP = 3e-3
# With fewer rows per column the sample contains all rows: to a gap of 1e-6, 50,000 x
# 300 and 20,000 x 200 need 0.88 and 0.21 s; with a tenth of the rows 1.37 and 0.25 s.
SAMPLED_TO_A_COLUMN = 200
MOST_NEAR = 0.25  # maximum share of active rows
# Interior points continue a small problem whose gap has not halved in `STALL_STEPS`
# steps, or that has taken `LONG_RUN` steps.
STALL_STEPS, LONG_RUN = 20, 90


def with_sums(
    Z: Matrix, y: Vector, t: Vector, w: Vector, sums: Matrix
) -> tuple[Vector, Vector, Vector]:
    """Append to the active rows, for each class, the mean of the rows fixed at ``w_i``.

    Parameters
    ----------
    Z : float64 array, shape (m + 2, k)
        Its last two rows are set to the means.
    y : float64 array, shape (m,)
        Labels of the active rows, or 1 if rows are multiplied by their labels.
    t, w : float64 array, shape (m,)
        Targets ``1 - y_i offset_i``, and weights.
    sums : float64 array, shape (2, k + 2)
        Sums of ``w_i y_i z_i``, ``w_i t_i`` and ``w_i`` over the fixed rows of each
        label.

    Returns
    -------
    y, t, w : float64 array, shape (m + 2,)

    Examples
    --------
    >>> Z, one = np.array([[1.0], [0.0], [0.0]]), np.ones(1)
    >>> sums = np.array([[0.0, 0.0, 0.0], [6.0, 3.0, 3.0]])
    >>> with_sums(Z, one, one, one, sums)[1].tolist(), Z[2].tolist()
    ([1.0, 0.0, 1.0], [2.0])
    """
    weight = np.maximum(sums[:, -1], NO_WEIGHT)
    np.divide(sums[:, :-2], weight[:, None], out=Z[-2:])
    t, w = np.append(t, sums[:, -2] / weight), np.append(w, weight)
    return np.append(y, [1.0, 1.0]), t, w


def on_wrong_side(full: Mask, low: Vector, high: Vector, reach: float) -> Mask:
    """Mark rows fixed on the wrong side of the margin, or within `reach` of it.

    Parameters
    ----------
    full : bool array, shape (n,)
        Rows fixed at ``w_i``; the others at 0.
    low, high : float64 array, shape (n,)
        Minimum and maximum of ``1 - m_i`` over several fits.
    reach : float
        Distance from the margin within which a row is marked.

    Examples
    --------
    >>> s = np.array([0.05, 0.2, -0.05, -0.2])
    >>> on_wrong_side(np.array([True, True, False, False]), s, s, 0.1).tolist()
    [True, False, True, False]
    """
    return np.asarray(np.where(full, low < reach, high > -reach))


class ProximalNewton:
    """Newton steps for the proximal point, from a primal and a dual point.

    Parameters
    ----------
    Z : DenseRows
        Rows ``z_i = (x_i, 1)``.
    y : float64 array, shape (m,)
        Labels; 0 for a row to ignore, whose target must be negative.
    t : float64 array, shape (m,)
        Targets ``1 - y_i offset_i``.
    w : float64 array, shape (m,)
    penalty : float64 array, shape (k,)
        ``lam`` for each column, 0 for the intercept.
    n : float
        Number by which sums over the rows are divided.
    theta : float64 array, shape (k,)
    a : float64 array, shape (m,)
        Dual weights as shares of the weights, in [0, 1]: the first centre.
    gamma : float

    Attributes
    ----------
    risk, dual : float
        The lowest objective so far, at `theta`, and the highest dual objective, at `a`.
    visits : float
        Rows visited so far, including products with the active rows.
    violations : int
        Rows with a margin below 1, summed over the steps.
    """

    def __init__(
        self,
        Z: DenseRows,
        y: Vector,
        t: Vector,
        w: Vector,
        penalty: Vector,
        n: float,
        theta: Vector,
        a: Vector,
        gamma: float,
    ) -> None:
        self._Z, self._y, self.gamma, self._penalty = Z, y, gamma, penalty
        self._w = w / n
        self._wy, self._wt = self._w * y, self._w * t
        self._half = np.zeros(penalty.size)
        np.divide(0.5, penalty, self._half, where=penalty > 0.0)
        self._free = penalty[-1] == 0.0
        self._ridge = np.maximum(penalty, TINY_RIDGE) if self._free else penalty
        one = y * Z.times(np.append(np.zeros(penalty.size - 1), float(self._free)))
        self._one, self._balances = one, self._w * one
        self._at, self._s, self._centre = theta, t - y * Z.times(theta), a
        self.theta, self.a, self.risk, self.dual = theta, a, math.inf, -math.inf
        self.visits, self.violations = 0.0, 0
        self._smooth()
        self._look()

    @property
    def gap(self) -> float:
        """Lowest objective minus highest dual objective."""
        return self.risk - self.dual

    def step(self) -> None:
        """Take a Newton step, after moving the centre if its problem is solved."""
        has_moved = self._is_solved
        if has_moved:
            self._centre, self.gamma = self._a, max(LEAST_GAMMA, 0.5 * self.gamma)
            self._smooth()
        d = self._direction(has_moved)
        if has_moved and not float(self._g @ d) < 0.0:  # no descent
            d = self._direction(False)
        self._search(d, self._y * self._Z.times(d))
        if self._free:
            self._balance()
        self._move()
        self._look()
        self.visits += 3.0 * self._y.size

    def _smooth(self) -> None:
        """Compute the dual shares and the gradient of the smoothed objective."""
        self._v = self._centre + self._s / self.gamma
        self._a = self._v.clip(0.0, 1.0)
        self._move()

    def _move(self) -> None:
        """Update the gradient of the smoothed objective."""
        self._image = self._Z.image(self._a * self._wy)
        self._shrunk = self._penalty * self._at
        self._g = self._shrunk - self._image

    def _look(self) -> None:
        """Compute both objectives at the current point; store the better ones."""
        at, g, short = self._at, self._g, np.maximum(self._s, 0.0)
        off = abs(float(g[-1])) * (abs(float(at[-1])) + 1.0) if self._free else 0.0
        self.violations += int(np.count_nonzero(short))
        risk = 0.5 * float(self._shrunk @ at) + float(short @ self._w)
        dual = float(self._a @ self._wt) - off
        dual -= float(self._half @ (self._image * self._image))
        if risk < self.risk:
            self.risk, self.theta = risk, at
        if dual > self.dual:
            self.dual, self.a = dual, self._a
        rest = float(self._half @ (g * g)) + off
        self._is_solved = rest <= CENTRE_GAP * (risk - dual - rest)

    def _direction(self, has_moved: bool) -> Vector:
        """Compute the Newton direction from the active rows, those with 0 < a_i < 1.

        If a new centre leaves fewer active rows than unknowns, the Hessian is nearly
        singular and the step is short. Then the rows with 0 < c_i < 1, which were
        active before, replace them if there are enough: for these rows ``a_i`` is
        ``c_i + s_i / gamma`` without clipping. If there are many active rows, the
        Hessian is estimated from evenly spaced ones.
        """
        active, ridge, g = self._v == self._a, self._ridge, self._g
        if has_moved and np.count_nonzero(active) < ridge.size:
            before = (self._centre > 0.0) & (self._centre < 1.0)
            if np.count_nonzero(before) >= ridge.size:
                active = before
                g = g - self._Z.image(active * (self._v - self._a) * self._wy)
        rows = active.nonzero()[0]
        if self._free and not rows.size:
            ridge = ridge.copy()
            ridge[-1] = max(TINY_RIDGE, 0.5 * abs(float(g[-1])))
        stride = max(1, rows.size // max(LEAST_SAMPLE, HESSIAN_TO_A_COLUMN * g.size))
        rows = rows[::stride]
        self.visits += ridge.size / 16.0 * rows.size
        h = self._w[rows] * (stride / self.gamma)
        return self._Z.solution(h, ridge, -g, rows)

    def _search(self, d: Vector, ds: Vector) -> None:
        """Line search: move to a point with a derivative near 0 along the direction.

        Step lengths follow regula falsi, starting at 1. ``ds`` is the change of the
        margins ``m_i`` per unit step.
        """
        dv, wds = ds / self.gamma, self._w * ds
        base, curvature = float(self._shrunk @ d), float(self._penalty @ (d * d))
        first = float(self._g @ d)
        t, low, low_slope, high, high_slope = 1.0, 0.0, first, math.inf, 0.0
        for _ in range(40):
            v = self._v - (dv if t == 1.0 else t * dv)
            a = v.clip(0.0, 1.0)
            slope = base + t * curvature - float(a @ wds)
            if abs(slope) <= FLAT * abs(first):
                break
            if slope < 0.0:
                low, low_slope = t, slope
            else:
                high, high_slope = t, slope
            if high == math.inf:
                t *= 2.0
            else:
                rise = high_slope - low_slope  # 0 if the derivatives overflow
                share = -low_slope / rise if rise > 0.0 else 0.5
                t = low + (high - low) * min(0.9, max(0.1, share))
        self._at, self._s = self._at + t * d, self._s - t * ds
        self._v, self._a = v, a

    def _balance(self) -> None:
        """Take a Newton step of the intercept if it halves ``|sum_i w_i a_i y_i|``."""
        excess = float(self._a @ self._balances)
        curvature = float((self._v == self._a) @ self._w) / self.gamma
        step = excess / curvature if curvature > 0.0 else 0.0
        v = self._v - (step / self.gamma) * self._one
        a = v.clip(0.0, 1.0)
        if abs(float(a @ self._balances)) < 0.5 * abs(excess):
            self._at[-1] += step
            self._s -= step * self._one
            self._v, self._a = v, a


class Hinge(Method):
    """Proximal Newton steps for the hinge loss, over all rows or over the active rows.

    Parameters
    ----------
    problem : Problem
    goal : Goal
    start : pair of float64 arrays, optional
        Warm start: ``theta``, shape (p + 1,), and dual weights, shape (n,).

    Attributes
    ----------
    theta : float64 array, shape (p + 1,)
    risk, dual : float
        Objective and dual objective of the problem after the last step.
    """

    name = "proximal Newton"

    def __init__(
        self,
        problem: Problem,
        goal: Goal,
        start: tuple[Vector, Vector] | None = None,
    ) -> None:
        super().__init__()
        self._problem, self._goal = problem, goal
        n, p = problem.n, problem.p
        self.gamma = FIRST_GAMMA
        self.penalty = np.full(p + problem.intercept, problem.lam)
        if problem.intercept:
            self.penalty[-1] = 0.0
        is_long = n * p >= ENTRIES and n >= SCREENED_TO_A_COLUMN * p
        is_long = is_long and isinstance(problem.X, np.ndarray)
        if is_long and start is None and problem.smaller_class_weight >= RARE * n:
            self.theta, self._walk = np.zeros(p + 1), self._over_few()
        else:
            self.theta, a = beginning(problem) if start is None else start
            self._walk = self._over_all(a)
        self._a = start and start[1]
        self._rows, self._full = np.zeros(0, dtype=np.int64), np.zeros(n, dtype=bool)
        self._now: ProximalNewton | None = None
        self.risk, self.dual = math.inf, -math.inf
        self._has_ended = False

    def step(self, rows: Rows | None = None) -> None:
        """Take a Newton step; or solve for the active rows, then pass over all rows."""
        self._has_ended = next(self._walk, self) is self
        self.steps += not self._has_ended
        self.gaps.append(self.risk - self.dual)
        is_slow = self.gap_stagnates(STALL_STEPS) or self.steps >= LONG_RUN
        is_slow = is_slow and InteriorSteps.serves(self._problem)
        self.has_stalled = self._has_ended or is_slow

    @property
    def gap(self) -> Gap:
        """Objective and dual objective after the last step."""
        return Gap(self.risk, self.dual)

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``."""
        return self.theta[:-1].copy(), float(self.theta[-1]), self._dual_weights()

    def _dual_weights(self) -> Vector:
        """Dual weights of active and fixed rows, shape (n,)."""
        if self._now is None:
            return beginning(self._problem)[1] if self._a is None else self._a
        problem, shares = self._problem, self._now.a
        weights = np.zeros(problem.n)
        if shares.size > self._rows.size:
            low, high = shares[-2:]
            weights[self._full] = np.where(problem.y[self._full] > 0.0, high, low)
        weights[self._rows] = shares[: self._rows.size]
        return weights if problem.weights is None else weights * problem.weights

    def _over_all(self, a: Vector) -> Iterator[None]:
        problem, w = self._problem, self._problem.row_weights
        rows = np.arange(problem.n) if w.all() else np.flatnonzero(w)
        steps = self._solving(rows, a[rows] / w[rows])
        self._rows, self._now = rows, steps
        before, visits = self.violations, self.visits
        while True:
            steps.step()
            self.theta = self._whole(steps.theta)
            self.risk, self.dual = steps.risk, steps.dual
            self.visits = visits + steps.visits
            self.violations = before + steps.violations
            yield

    def _over_few(self) -> Iterator[None]:
        n, p = self._problem.X.shape
        far = np.abs(self._slacks(self._solved_sample()))
        most = max(ROUGH_GAP, float(np.quantile(far, MOST_NEAR)))
        # About four standard errors of a margin.
        width = min(4.0 * math.sqrt(p / far.size), most)
        rows, s, sums = self._screened(width)
        shares, inner, self.gamma = share_by(s, width), 0.8, width
        first = max(inner, ROUGH_GAP / self._goal.share)
        while True:
            steps = self._solving(rows, shares, sums)
            for _ in range(200):
                if steps.gap <= first * self._goal(steps.risk):
                    break
                steps.step()
            else:
                return
            self.gamma, self.theta = steps.gamma, self._whole(steps.theta)
            self._rows, self._now, full = rows, steps, self._full.copy()
            wrong = self._looked_at(0.1 * width)
            self.dual, self.visits = steps.dual, self.visits + 2.0 * n + steps.visits
            yield
            if not wrong.size and first == inner:
                inner *= 0.1
            first = inner
            sums -= self._sums_of(wrong[full[wrong]])
            rows = np.append(rows, wrong)
            shares = np.append(steps.a[:-2], full[wrong])
            full[wrong] = False
            self._full = full
            if wrong.size:  # a small gamma needs many steps from a changed point
                self.gamma = width

    def _screened(self, width: float) -> tuple[Rows, Vector, Matrix]:
        """Return the active rows, their ``1 - m_i``, and sums of the fixed rows."""
        problem, numbers, s = self._problem, [], []
        sums = np.zeros((2, self.penalty.size + 2))
        for rows in blocks(*problem.X.shape):
            here = self._slacks(problem, rows)
            is_near = np.abs(here) <= width
            if problem.weights is not None:
                is_near &= problem.weights[rows] > 0.0
            self._full[rows] = here > width
            sums += self._sums_of(rows, self._full[rows])
            numbers.append(rows.start + np.flatnonzero(is_near))
            s.append(here[is_near])
        return np.concatenate(numbers), np.concatenate(s), sums

    def _looked_at(self, reach: float) -> Rows:
        """Sum the losses of all rows; return the rows fixed on the wrong side."""
        problem, beta, wrong_rows, loss = self._problem, self.theta[:-1], [], 0.0
        fixed = problem.row_weights > 0.0
        fixed[self._rows] = False
        for rows in blocks(*problem.X.shape):
            s = self._slacks(problem, rows)
            wrong = on_wrong_side(self._full[rows], s, s, reach) & fixed[rows]
            wrong_rows.append(rows.start + np.flatnonzero(wrong))
            short = np.maximum(s, 0.0)
            self.violations += int(np.count_nonzero(short))
            loss += float(short @ problem.row_weights[rows])
        self.risk = loss / problem.n + 0.5 * problem.lam * float(beta @ beta)
        return np.concatenate(wrong_rows)

    def _solved_sample(self) -> Problem:
        """Solve a sample, and return it.

        The sample has a tenth of the rows or 30 per column, whichever is more; with
        fewer than `SAMPLED_TO_A_COLUMN` rows per column it has all.
        """
        sample, (n, p), start = self._problem, self._problem.X.shape, None
        if n < SAMPLED_TO_A_COLUMN * p:
            start = beginning(sample)
        else:
            sample = sample.of_rows(drawn_evenly(n, n // max(n // 10, 30 * p)))
        part = Hinge(sample, Goal(ROUGH_GAP, None), start)
        for _ in range(200):
            part.step()
            if part.gap.gap <= ROUGH_GAP * part.risk:
                break
        self.theta = part.theta
        self.visits += part.visits
        return sample

    def _solving(
        self, rows: Rows, shares: Vector, sums: Matrix | None = None
    ) -> ProximalNewton:
        """Set up the steps for some rows, with `sums` of the rows fixed at ``w_i``."""
        problem, free = self._problem, self._problem.intercept
        y, w, t = problem.y[rows], problem.row_weights[rows], np.ones(rows.size)
        if problem.offset is not None:
            t -= y * problem.offset[rows]
        theta = self.theta if free else self.theta[:-1]
        if sums is None:
            X = problem.X if rows.size == problem.n else problem.X[rows]
            X, e = doubles(X, slice(0, rows.size)), np.ones(rows.size) if free else None
            if isinstance(X, np.ndarray) and X.size <= ENTRIES and e is not None:
                X, e = np.column_stack([X, e]), None
        else:
            X, e = np.ones((rows.size + 2, self.penalty.size)), None
            for part in blocks(rows.size, problem.p):
                X[part, : problem.p] = problem.X[rows[part]]
            y, t, w = with_sums(X, y, t, w, sums)
            shares = np.append(shares, [1.0, 1.0])
        return ProximalNewton(
            *(newton_rows(X, e), y, t, w, self.penalty, problem.n),
            *(theta, shares, self.gamma),
        )

    def _slacks(self, problem: Problem, rows: slice | None = None) -> Vector:
        """Compute ``1 - m_i`` of rows."""
        some = slice(0, problem.n) if rows is None else rows
        f: Vector = doubles(problem.X, some) @ self.theta[:-1] + self.theta[-1]
        if problem.offset is not None:
            f += problem.offset[some]
        return 1.0 - problem.y[some] * f

    def _sums_of(self, rows: Rows | slice, full: Mask | bool = True) -> Matrix:
        """Sum ``w_i y_i z_i``, ``w_i t_i`` and ``w_i`` over the rows of each label."""
        problem, p = self._problem, self._problem.p
        y = problem.y[rows]
        wy = full * (problem.row_weights[rows] * y)
        sides = np.stack([np.minimum(wy, 0.0), np.maximum(wy, 0.0)])
        Z, signed = np.empty((2, self.penalty.size + 2)), sides.sum(axis=1)
        Z[:, :p] = sides @ problem.X[rows]
        Z[:, p:-2], Z[:, -2:] = signed[:, None], np.abs(signed)[:, None]
        if problem.offset is not None:
            Z[:, -2] -= sides @ problem.offset[rows]
        return Z

    def _whole(self, theta: Vector) -> Vector:
        """Append an intercept of 0 if the problem has none."""
        return theta if self._problem.intercept else np.append(theta, 0.0)


def share_by(s: Vector, width: float) -> Vector:
    """Estimate dual shares from ``s = 1 - m_i``: linear for ``|s|`` up to `width`."""
    return (0.5 + s / (2.0 * width)).clip(0.0, 1.0)


def beginning(problem: Problem) -> tuple[Vector, Vector]:
    """Starting point: coefficients of 0, and half of the dual weights optimal for them.

    The optimal dual weights are ``w_i`` in the class of smaller total weight, and
    smaller in the other class, so that their sums agree. The intercept is the
    difference of the class weights, divided by their sum; the optimal one is -1 or 1.
    """
    theta, (minus, plus) = np.zeros(problem.p + 1), problem.class_weights
    if not problem.intercept:
        return theta, 0.5 * problem.row_weights
    theta[-1] = (plus - minus) / (plus + minus)
    low, high = 0.5 * min(plus, minus) / np.array([minus, plus])
    return theta, problem.row_weights * np.where(problem.y > 0.0, high, low)
