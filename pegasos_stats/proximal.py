"""The exact optimum with a free intercept: Newton steps for the proximal point.

The dual of ``lam/2 ||beta||^2 + mean w_i loss(y_i (x_i'beta + alpha))`` has the
constraint ``sum_i a_i y_i = 0``. From a centre ``c`` the proximal-point method goes to
the maximiser, under it, of

    D(a) - gamma/(2 n) ||a - c||^2

and takes that for the next centre. The problem of one centre is the smoothed primal of
``kernels/smooth.py``, a function of ``beta`` and ``alpha`` with piecewise constant
second derivatives: Newton steps with a line search end after few. ``gamma`` is halved
from centre to centre, and grows where one centre takes many steps. The log loss is
smooth, and Newton steps alone do.

Every step certifies itself. Its weights ``a(m)`` are feasible, because ``alpha`` is set
to where they balance, and with ``beta(a) = (1/(lam n)) sum_i a_i y_i x_i`` the gap is

    P - D = lam/2 ||beta - beta(a)||^2 + mean (w_i loss(m_i) - H_i(a_i) + a_i m_i),

the distance from the optimum of the smoothed risk, and of that from the risk. The next
centre is taken when the first is not larger than the second.

References
----------
Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm in
convex programming*, Mathematics of Operations Research 1 (1976).
Yan & Li, *An efficient augmented Lagrangian method for support vector machine*,
Optimization Methods and Software 35 (2020).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.objective import Certificate, certificate
from pegasos_stats.problem import Problem

Vector = NDArray[np.float64]

LEAST_WIDTH = 1e-6
SHRINK = 0.5  # of gamma, with a new centre
PATIENCE, GROW = 12, 2.0  # steps at one centre before gamma grows, and by how much
SOLVED = 1.0  # the first part of the gap over the second, for a new centre
RESIDUAL, PRODUCTS = 0.05, 300  # of conjugate gradients
FLAT = 0.3  # share of the slope that may be left after the line search
TRIALS = 60
BALANCED = 1e-13


class ProximalNewton:
    """Newton steps from dual weights and coefficients; the best points are kept.

    Parameters
    ----------
    problem : Problem
        With intercept.
    w : float64 array, shape (padded(p),)
        Coefficients, then zeros; changed in place.
    alpha : float
    a : float64 array, shape (n,)
        Dual weights in [0, w_i], the first centre; changed in place.
    width : float
        The first ``gamma``, if above 1: ``mean ||x_i||^2 / (lam n)``, the change of
        a margin with its own dual weight.

    Attributes
    ----------
    violations : int
        Rows with a margin below 1, summed over the steps.
    """

    def __init__(
        self, problem: Problem, w: Vector, alpha: float, a: Vector, width: float
    ) -> None:
        from pegasos_stats.kernels.newton import direction
        from pegasos_stats.kernels.smooth import put_dots, smooth

        self._problem, self._rows = problem, problem.rows
        self._w, self._alpha = w, alpha
        self._gamma, self._steps_here = max(1.0, width), 0
        loss = int(problem.loss_code)
        self._at = smooth(problem.y, problem.row_weights, a, loss, problem.p)
        self._direction = direction(problem.p)
        self._scores, self._moves = np.zeros(problem.n), np.zeros(problem.n)
        put_dots(self._rows, w, self._scores)
        self._objective, self._dual_objective, self._errors = math.inf, -math.inf, 0
        self._best_fit, self._best_a = (w.copy(), alpha), a.copy()
        self.violations = 0
        self._see()
        self._shorten()

    def step(self) -> None:
        """Take a Newton step, from a new centre if the present one is done with."""
        if self._solved:
            self._at.centre[:] = self._at.a
            self._move_on(SHRINK)
        elif self._steps_here == PATIENCE:
            self._move_on(GROW)
        self._steps_here += 1
        move, slope = self._find_direction()
        t = self._line_search(move, slope)
        self._w += t * self._direction.d
        self._scores += t * self._moves
        self._alpha += t * move
        self._see()

    def _move_on(self, factor: float) -> None:
        """Go on with another ``gamma``, and perhaps another centre."""
        self._gamma = max(LEAST_WIDTH, factor * self._gamma)
        self._steps_here = 0
        self._see()

    def _shorten(self) -> None:
        """Shrink ``beta`` to its best length, if that is less than the present one."""
        self._direction.d[:] = -self._w
        self._moves[:] = -self._scores
        slope = float(self._gradient @ self._direction.d)
        kept = 1.0 - min(1.0, self._line_search(0.0, slope))
        self._w *= kept
        self._scores *= kept
        self._see()

    @property
    def gap(self) -> Certificate:
        """Objectives of the best points so far, as the steps found them."""
        return Certificate(
            self._objective, max(0.0, self._dual_objective), self._errors
        )

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` of the least risk so far and ``a`` of the largest dual."""
        w, alpha = self._best_fit
        a = self._best_a
        return w[: self._problem.p].copy(), alpha, a.copy()

    def certificate(self) -> Certificate:
        """Objectives of the best points, computed anew from the rows."""
        return certificate(self._problem, *self.best())

    def _see(self) -> None:
        """Balance, and look at the rows: weights, gradient, both objectives."""
        from pegasos_stats.kernels import smooth

        at, problem, lam = self._at, self._problem, self._problem.lam
        self._balance()
        self._count = smooth.see_rows(
            self._rows, self._scores, self._alpha, self._gamma, at
        )
        n = problem.n
        image = at.image / (lam * n)
        self._gradient = lam * (self._w - image)
        sums = at.sums / n
        apart = float(self._gradient @ self._gradient) / (2.0 * lam)
        objective = lam / 2.0 * float(self._w @ self._w) + float(sums[smooth.RISK])
        dual = float(sums[smooth.REWARD]) - lam / 2.0 * float(image @ image)
        self._solved = apart <= SOLVED * (objective - dual - apart)
        self.violations += int(at.sums[smooth.VIOLATIONS])
        self._keep_best(objective, dual)

    def _keep_best(self, objective: float, dual: float) -> None:
        from pegasos_stats.kernels.smooth import ERRORS

        if objective < self._objective:
            self._objective, self._errors = objective, int(self._at.sums[ERRORS])
            self._best_fit = self._w.copy(), self._alpha
        if dual > self._dual_objective:
            self._dual_objective = dual
            self._best_a = self._at.a.copy()

    def _balance(self) -> None:
        """Set ``alpha`` to the root of ``sum_i a_i y_i``, which falls as it grows."""
        from pegasos_stats.kernels.smooth import BALANCE, CURVATURE, balance

        low, high, sums = -math.inf, math.inf, self._at.sums
        for trial in range(TRIALS):
            balance(self._scores, self._alpha, self._gamma, self._at)
            excess, curvature = float(sums[BALANCE]), float(sums[CURVATURE])
            if abs(excess) <= BALANCED * self._problem.n:
                return
            low, high = (self._alpha, high) if excess > 0 else (low, self._alpha)
            reach = 2.0**trial
            newton = excess / curvature if curvature > 0.0 else math.inf * excess
            new = self._alpha + min(reach, max(-reach, newton))
            if not low < new < high:
                new = (low + high) / 2.0
            if new == self._alpha or not math.isfinite(new):
                return
            self._alpha = new

    def _find_direction(self) -> tuple[float, float]:
        """Newton direction, in place; its part for alpha, and the slope along it."""
        from pegasos_stats.kernels.newton import newton_direction
        from pegasos_stats.kernels.smooth import BALANCE, put_dots

        slope = -float(self._at.sums[BALANCE]) / self._problem.n
        arguments: Any = self._rows, self._count, self._problem.lam, self._gradient
        move = newton_direction(
            *arguments, slope, RESIDUAL, PRODUCTS, self._at, self._direction
        )
        put_dots(self._rows, self._direction.d, self._moves)
        return move, float(self._gradient @ self._direction.d) + slope * move

    def _line_search(self, move: float, slope: float) -> float:
        """Step length at which the slope has fallen to a share of its size.

        The slope increases with the length. Secants inside the bracket, kept a tenth
        away from its ends; doubling while there is none. 0 if nothing can be gained.
        """
        low, high, t = (0.0, slope), (math.inf, math.inf), 1.0
        for _ in range(TRIALS):
            here = self._slope(move, t)
            if slope >= 0.0 or abs(here) <= FLAT * abs(slope):
                break
            low, high = ((t, here), high) if here < 0.0 else (low, (t, here))
            if high[0] == math.inf:
                t *= 2.0
                continue
            share = -low[1] / (high[1] - low[1])
            t = low[0] + (high[0] - low[0]) * max(0.1, min(0.9, share))
        return t if slope < 0.0 else 0.0

    def _slope(self, move: float, t: float) -> float:
        """Slope of the smoothed risk at length ``t`` along the direction."""
        from pegasos_stats.kernels.smooth import slope_along

        d, lam = self._direction.d, self._problem.lam
        rows = slope_along(
            self._scores, self._alpha, self._moves, move, t, self._gamma, self._at
        )
        penalty = lam * float(self._w @ d + t * (d @ d))
        return penalty + float(rows) / self._problem.n
