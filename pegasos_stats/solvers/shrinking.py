"""The hinge without intercept: coordinate steps on the rows that may still move."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import dual
from pegasos_stats.solvers.dense.sums import log_entropies, total
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    finite,
    mean_loss,
)
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain


class Lengths(NamedTuple):
    """The best lengths of a fit and of a dual point, with the certificate of both."""

    fit: float
    alpha: float
    dual: float
    at: Certificate


def lengths(
    problem: Problem,
    scores: Vector,
    alpha: float,
    norm2: float,
    a: Vector,
    dual_norm2: float,
) -> Lengths:
    """Return the ``s`` of the least risk of ``s (beta, alpha)``, and ``t`` of ``t a``.

    ``t`` gives the largest dual inside the box. Both are 1 for the log loss. With a
    small penalty on separable rows no other number is as far from its best value.

    Parameters
    ----------
    problem : Problem
    scores : float64 array, shape (n,)
        ``X beta``.
    alpha : float
        Intercept; the hinge takes the best one, if it is free.
    norm2 : float
        ``||beta||^2``.
    a : float64 array, shape (n,)
        Dual weights that the dual allows.
    dual_norm2 : float
        ``||beta(a)||^2``.
    """
    y, w, n = problem.y, problem.row_weights, problem.n
    penalty, dual_penalty = problem.lam * norm2, problem.lam * dual_norm2
    rewards, s, t = a if problem.loss == "hinge" else log_entropies(a, w), 1.0, 1.0
    reward = total(rewards) / n
    if problem.loss == "hinge":
        if problem.intercept:
            alpha = best_intercept(scores, y, "hinge", problem.weights)
        s = fit_length(penalty, w, y * (scores + alpha))
        t = dual_length(dual_penalty, reward, w, a)
    risk = mean_loss(problem, s * scores, s * alpha)
    objective = finite(risk + 0.5 * penalty * s * s)
    least = max(0.0, t * reward - 0.5 * dual_penalty * t * t)
    errors = int(np.count_nonzero(y * (scores + alpha) < 0.0))
    return Lengths(s, s * alpha, t, Certificate(objective, least, errors))


def fit_length(penalty: float, w: Vector, m: Vector) -> float:
    """Minimise ``penalty/2 s^2 + mean w_i max(0, 1 - s m_i)``, by its kinks.

    Kinks are at ``1 / m_i``. A length at a kink is a little above it, so that no margin
    is short of 1: with a small penalty that would cost more than all the rest.

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


def dual_length(penalty: float, reward: float, w: Vector, a: Vector) -> float:
    """Maximise ``t reward - penalty/2 t^2`` with ``t a`` inside its box."""
    if penalty <= 0.0:
        return 1.0
    inside = a > 0.0
    return min(reward / penalty, float((w[inside] / a[inside]).min(initial=np.inf)))


LEAST_COLUMNS = 100  # of fewer, Newton steps solve the equations in no time
PASSES, FEWEST = 16.0, 4.0  # over as many rows as there are, in a step
FIRST = 0.1  # difference of slopes of the dual before the first look
FALL, STEEPEST = 0.5, 0.02  # by what the next is smaller, at least and at most
ENOUGH = 0.9  # of the tolerance: the gap is looked at again
SLOW = 1e-9  # of its logarithm, no fall at all
LEAST_TOL = 1e-12
LONGEST = 1e150  # coefficients whose squares do not overflow


class Shrinking:
    """Coordinate steps that leave out rows which stay where they are.

    Parameters
    ----------
    coordinates : Plain
        Where to begin; its state moves on.
    solver : SDCA
        Its seed is that of the order of the rows, and its tolerance where they end.
    """

    violations = 0  # counted in the state, as the rows that are visited
    cost = 0.0

    def __init__(self, coordinates: Plain, solver: SDCA) -> None:
        self._problem = problem = coordinates.problem
        self._state, n = coordinates.state, problem.n
        self._rows = np.arange(n)
        self._numbers = dual.shrinking.passes(n, solver.seed or 0)
        self._goal, self._seen = FIRST, [(0.0, 1.0)]  # passes and relative gaps
        self._tol = max(solver.tol, LEAST_TOL)
        self._scores = np.zeros(n)
        self._beta, self._length = np.zeros(problem.p), 1.0
        self._at = Certificate(math.inf, 0.0, 0)
        self._look()

    @staticmethod
    def serves(problem: Problem) -> bool:
        """Whether these are steps for a problem; few dense rows have pairs."""
        is_sparse = not isinstance(problem.X, np.ndarray)
        is_long = problem.p >= LEAST_COLUMNS and (is_sparse or problem.n >= problem.p)
        is_plain = not problem.intercept and problem.offset is None
        if not (problem.loss == "hinge" and is_plain and is_long):
            return False
        return max(1.0, problem.radius) / problem.lam < LONGEST

    def step(self) -> None:
        """Visit rows until those that may move are solved, or so many times; look.

        `PASSES` at most, and no more than are left to the tolerance by the looks so
        far, but `FEWEST`.
        """
        problem, passes = self._problem, PASSES
        if self.looks > 1:
            passes = min(PASSES, max(FEWEST, self.left()))
        solved = dual.shrinking.shrunk_passes(
            problem.rows,
            problem.y,
            self._rows,
            problem.lam,
            passes * problem.n,
            self._goal,
            self._state,
            self._numbers,
        )
        self._look()
        gap = self.gap.relative_gap
        if solved and gap > 0.0:
            share = ENOUGH * self._tol / gap
            self._goal *= max(STEEPEST, min(FALL, share))

    @property
    def looks(self) -> int:
        """Number of looks at all rows."""
        return len(self._seen) - 1

    @property
    def gap(self) -> Certificate:
        """Objectives of the best points so far."""
        return self._at

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` of the least risk so far and ``a`` of the largest dual."""
        return self._beta.copy(), 0.0, self._length * self._state.a

    def left(self) -> float:
        """Passes to the tolerance, if the gap falls as in the later half of looks."""
        half = (len(self._seen) - 1) // 2
        (before, was), (passes, now) = self._seen[half], self._seen[-1]
        if now <= self._tol:
            return 0.0
        passed = passes - before
        return passed * math.log(now / self._tol) / max(SLOW, math.log(was / now))

    def _look(self) -> None:
        """Look at all rows, for the gap, and keep the fit if its risk is less.

        The coefficients are ``sum_i a_i y_i x_i / (lam n)``, but for the rounding of
        all steps: for a gap within the tolerance they are summed anew.
        """
        problem, state = self._problem, self._state
        dual.newton.put_dots(problem.rows, state.w, self._scores)
        norm2 = float(np.square(state.w).sum())
        found = lengths(problem, self._scores, 0.0, norm2, state.a, norm2)
        if found.at.relative_gap <= self._tol:
            image = problem.X.T @ (state.a * problem.y) / (problem.lam * problem.n)
            found = lengths(
                problem, self._scores, 0.0, norm2, state.a, float(image @ image)
            )
        self._length = found.dual
        if found.at.objective < self._at.objective:
            self._beta = found.fit * state.w[: problem.p]
            self._at = found.at
        least = found.at.dual_objective
        self._at = replace(self._at, dual_objective=least)
        passes = float(state.scalars[dual.sdca.STEPS]) / problem.n
        self._seen.append((passes, self._at.relative_gap))
