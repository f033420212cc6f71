"""Dual methods for many columns: coordinate ascent, or SMO.

SMO is for the hinge, and for at most 4,000 rows. With dense rows and fewer than twice
as many rows as columns it comes first; otherwise it may continue coordinate ascent.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Rows, Vector, dense_rows
from pegasos_stats.solvers.certificate import Certificate, Gap, feasible, finite
from pegasos_stats.solvers.intercept import best_intercept, mean_loss, refitted
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.options import SMO, Goal, Method
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import Coordinates

if TYPE_CHECKING:
    from pegasos_stats.solvers.optimum import Optimum

# Times of the hinge loss, rows x columns. 300 x 3,000: SMO takes 16 ms, Newton steps
# 216 ms. 1,000 x 500: SMO 26 to 316 ms, Newton steps 133 to 841 ms. 2,000 x 200: SMO
# 349 to 633 ms, Newton steps 66 to 127 ms.
PAIRED = 2.0  # rows per column below which SMO is used
MOST_PAIRED = 4000  # maximum rows for SMO: a Gram matrix of 128 MB
# Squared value of the constant column, as a multiple of the mean of ||x_i||^2; 0.02
# takes as long. Log loss, 300 x 3,000: coordinate ascent takes 7 to 16 ms, Newton steps
# 12 to 39 ms.
SQUARED_CONSTANT = 0.07
LOOK = 4  # epochs between two certificates
# Coordinate ascent continues if, at the present rate, it reaches the tolerance within
# this number of further certificates; half as many are always computed. SMO continues
# if the gap has halved within this number of certificates.
MOST_CERTIFICATES = 10


def is_wide(problem: Problem) -> bool:
    """Whether a dual method of this module starts the run.

    True with more columns than rows. For the hinge and dense rows, true with less than
    twice as many rows as columns. False with an offset.

    Examples
    --------
    >>> X, y = np.ones((120, 100)), np.tile([-1.0, 1.0], 60)
    >>> is_wide(Problem(X, y, 1.0, "hinge")), is_wide(Problem(X, y, 1.0, "log"))
    (True, False)
    """
    if problem.offset is not None:
        return False
    is_paired = problem.loss == "hinge" and isinstance(problem.X, np.ndarray)
    return problem.n < (PAIRED if is_paired else 1.0) * problem.p


def pairs_serve(problem: Problem) -> bool:
    """Whether SMO can solve the problem.

    It needs the hinge loss, at most `MOST_PAIRED` rows, and scores that do not
    overflow.
    """
    longest = max(1.0, float(problem.radius))
    in_range = math.isfinite(longest * longest / problem.lam)
    return in_range and problem.loss == "hinge" and problem.n <= MOST_PAIRED


class WideCoordinates(Coordinates):
    """Coordinate steps, as long as they reduce the gap fast enough.

    The intercept is the coefficient of a constant column. After every epoch its penalty
    is centred at the current intercept, so that the penalty vanishes at the optimum.
    The gap is computed every `LOOK` epochs.
    """

    name = "coordinate ascent"

    def __init__(self, problem: Problem, solver: "Optimum", a: Vector | None) -> None:
        super().__init__(problem, a, is_fast=True)
        if problem.intercept:
            self._ratio = SQUARED_CONSTANT * float(self.state.norm2.mean()) or 1.0
            if a is not None:
                alpha = refitted(problem, self.state.w)
                self.state.scalars[compiled.sdca.ALPHA] = alpha
        self._goal, self._last = Goal(solver.tol, solver.gap_tol), solver.epochs
        self._left = math.inf  # logarithm of the gap over its goal
        self._lengths: Lengths | None = None

    def step(self, rows: Rows) -> None:
        """Visit the rows, and compute the gap every `LOOK` epochs."""
        super().step(rows)
        state, problem = self.state, self._problem
        balance = float(state.a @ problem.y)
        moved = self._ratio * balance / (problem.lam * problem.n)
        state.scalars[compiled.sdca.ALPHA] += moved
        self._lengths = None
        if self.epochs % LOOK == 0 or self.epochs == self._last:
            at, before = self._best_lengths().at, self._left
            goal = self._goal(at.objective) or 1.0  # the goal is 0 if the objective is
            self._left = math.log(max(at.gap / goal, 0.01))
            is_slow = self._left > MOST_CERTIFICATES * max(before - self._left, 0.0)
            self.has_stalled = self.epochs > MOST_CERTIFICATES * LOOK // 2 and is_slow

    @property
    def gap(self) -> Gap:
        """Objectives, if computed after the last epoch."""
        computed = self._lengths
        return Gap(0.0, -math.inf) if computed is None else computed.at

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``, optimally rescaled."""
        best = self._best_lengths()
        return best.fit * self.state.w, best.alpha, best.dual * self._balanced

    def _best_lengths(self) -> "Lengths":
        if self._lengths is None:
            problem, w, y = self._problem, self.state.w, self._problem.y
            self._balanced = a = feasible(
                self.state.a, y, problem.intercept, problem.dual_upper_bounds
            )
            image = (a * y) @ problem.X / (problem.lam * problem.n)
            alpha = float(self.state.scalars[compiled.sdca.ALPHA])
            norms = float(w @ w), float(image @ image)
            self._lengths = lengths(problem, problem.X @ w, alpha, a, *norms)
        return self._lengths


class PairSteps(Method):
    """SMO for the hinge, with the Gram matrix of the rows in memory.

    Parameters
    ----------
    problem : Problem
        Problem with the hinge loss.
    a : float64 array, shape (n,), or None
        Initial dual weights.
    """

    name, unit = SMO, "epoch"

    def __init__(self, problem: Problem, a: Vector | None) -> None:
        super().__init__()
        self._problem, self._scale = problem, problem.lam * problem.n
        y, w = problem.y, problem.row_weights
        X = problem.X.astype(np.float64, copy=False)
        K = dense_rows(X @ X.T)
        a = np.zeros(problem.n) if a is None else a
        a = feasible(a, y, problem.intercept, problem.dual_upper_bounds)
        slope = y - K @ (a * y / self._scale)
        sets = compiled.working_sets
        self._set = sets.working_set(K, y, w, a, slope, problem.intercept)
        self.visits = 0.5 * problem.n**2  # the Gram matrix is symmetric
        self._compute_gap()

    def step(self, rows: Rows) -> None:
        """Take as many steps as there are rows; compute the gap."""
        n = self._problem.n
        compiled.working_sets.pair_steps(self._set, self._scale, 0.0, n)
        self.steps += 1
        self.visits += float(n) ** 2 / self._problem.p
        self._compute_gap()

    @property
    def gap(self) -> Gap:
        """Objectives after optimal rescaling, not recomputed from the rows."""
        at = self._lengths.at
        return Gap(at.objective, at.dual_objective)

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``."""
        problem, best, a = self._problem, self._lengths, self._a
        beta = problem.X.T @ (a * problem.y / self._scale * best.fit)
        return np.asarray(beta, dtype=np.float64), best.alpha, best.dual * a

    @property
    def _a(self) -> Vector:
        return self._set.a[: self._problem.n].copy()

    def _compute_gap(self) -> None:
        y, a = self._problem.y, self._a
        scores = y - self._set.slope[: y.size]
        norm2 = float((a * y) @ scores) / self._scale
        self._lengths = lengths(self._problem, scores, 0.0, a, norm2, norm2)
        self.gaps.append(self._lengths.at.gap)
        self.has_stalled = self.gap_stagnates(MOST_CERTIFICATES)


class Lengths(NamedTuple):
    """Optimal scale factors of a fit and of a dual point, with their objectives.

    Attributes
    ----------
    fit, dual : float
        Factors of ``beta`` and of the dual weights.
    alpha : float
        Intercept after scaling.
    at : Certificate
        Objectives after scaling.
    """

    fit: float
    alpha: float
    dual: float
    at: Certificate


def lengths(
    problem: Problem,
    scores: Vector,
    alpha: float,
    a: Vector,
    norm2: float,
    dual_norm2: float,
) -> Lengths:
    """Return the best factor ``s`` of ``(beta, alpha)``, and ``t`` of ``a``.

    ``s`` minimises the objective, ``t`` maximises the dual within the bounds. Both are
    1 for smooth losses. With a small penalty and separable classes the length of
    ``beta`` converges more slowly than its direction.

    Parameters
    ----------
    problem : Problem
    scores : float64 array, shape (n,)
        ``X beta``.
    alpha : float
        Intercept before scaling. With the hinge loss and a free intercept, the optimal
        intercept replaces it.
    a : float64 array, shape (n,)
        Feasible dual weights.
    norm2, dual_norm2 : float
        ``||beta||^2`` and ``||beta(a)||^2``.
    """
    y, w, n = problem.y, problem.row_weights, problem.n
    penalty, dual_penalty = problem.lam * norm2, problem.lam * dual_norm2
    reward, s, t = float(LOSSES[problem.loss].conjugate_terms(a, w).sum()) / n, 1.0, 1.0
    if problem.loss == "hinge":
        if problem.intercept:
            alpha = best_intercept(scores, y, "hinge", problem.weights)
        s = fit_length(penalty, w, y * (scores + alpha))
        if dual_penalty > 0.0:  # maximise the dual, with t a within bounds
            inside = a > 0.0
            most = float((w[inside] / a[inside]).min(initial=np.inf))
            t = min(reward / dual_penalty, most)
    risk = mean_loss(problem, s * scores, s * alpha)
    risk = finite(risk + 0.5 * penalty * s * s)
    least = max(0.0, t * reward - 0.5 * dual_penalty * t * t)
    errors = int(np.count_nonzero(y * (scores + alpha) < 0.0))
    return Lengths(s, s * alpha, t, Certificate(risk, least, errors))


def fit_length(penalty: float, w: Vector, m: Vector) -> float:
    """Minimise ``penalty/2 s^2 + mean w_i max(0, 1 - s m_i)`` over ``s >= 0``.

    Kinks are at ``s = 1 / m_i``. A solution at a kink is rounded up, so that the margin
    ``s m_i`` is not below 1: with a small penalty its loss would dominate the
    objective.

    Examples
    --------
    >>> round(fit_length(0.1, np.ones(2), np.array([0.5, 1.0])), 12)
    2.0
    """
    gains, positive = w * m / m.size, m > 0.0
    if not positive.any():
        return 0.0
    kinks = 1.0 / m[positive]
    order = np.argsort(kinks)
    kinks, inside = kinks[order], gains[positive][order]
    before = np.cumsum(inside[::-1])[::-1] + float(gains[~positive].sum())
    first = int(np.argmax(penalty * kinks >= before - inside))
    kink, gain = float(kinks[first]), float(before[first])
    if gain <= 0.0:
        return 0.0
    if gain < penalty * kink:
        return gain / penalty
    return kink * (1.0 + 2.0**-50)
