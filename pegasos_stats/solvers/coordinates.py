"""SDCA one dual weight at a time, and where there are more columns than rows."""

import math
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Rows, Vector, dense_rows
from pegasos_stats.compiled import dual
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.method import Method
from pegasos_stats.solvers.newton.hinge import Goal
from pegasos_stats.solvers.newton.interior import InteriorSteps
from pegasos_stats.solvers.newton.log import newton_steps
from pegasos_stats.solvers.newton.sums import total
from pegasos_stats.solvers.objective import (
    Certificate,
    Gap,
    best_intercept,
    certificate,
    feasible,
    finite,
    mean_loss,
)
from pegasos_stats.solvers.pegasos_run import refitted
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA

RATIO = 0.07  # square of the constant column over the mean of ||x_i||^2
FIRST_LOOK = 2  # epoch of the first look at the gap, of runs that may be quick
WARM_EPOCHS = 1  # from dual weights, before Newton steps on sparse rows
LONG = 5  # the same of others; epochs that tell how fast the gap falls
SHARE = 0.7  # of the epochs to the tolerance, if the gap falls as before, to a look
EPOCHS_OF_GRAM = 12.0  # an epoch for every so many rows costs as much as X X'
GRAM = 0.5  # visits of a row for each entry of X X', which is symmetric
MOST_SPARSE = 1000  # sparse rows, whose X X' is not: of more, epochs are cheaper
MOST_PAIRED = 4000  # sparse rows whose X X', of 128 MB, is made where epochs do not do
PATIENCE = 10  # looks at pairs in which the gap is to be halved
LEAST_GOAL = 1e-12
SAME = 1e-12  # of the squared norms: the distance of two rows that are the same


class Coordinates(Method):
    """SDCA-perm: coordinate steps, ``alpha`` 0 or the coefficient of a column.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
    a : float64 array, shape (n,), optional
        Dual weights to begin with.
    ratio : float
        Square of the constant column that stands for an intercept; 0 for none.
    """

    visits_rows = True

    def __init__(
        self, problem: Problem, solver: SDCA, a: Vector | None, ratio: float = 0.0
    ) -> None:
        super().__init__()
        self._problem, self._solver, self._ratio = problem, solver, ratio
        self._rows, self._y = problem.rows, problem.y.astype(np.int8)
        self._begins_by_sgd = solver.start == "sgd" and a is None
        weights, offset = problem.row_weights, problem.offset
        self._state = dual.sdca.start(self._rows, problem.p, weights, offset)
        if a is not None:
            dual.sdca.set_weights(self._rows, problem.y, problem.lam, a, self._state)

    def step(self, rows: Rows) -> None:
        """Visit the rows."""
        loss, lam = int(self._problem.loss_code), self._problem.lam
        state, ratio = self._state, self._ratio
        if self._begins_by_sgd:
            dual.sdca.sgd_epoch(self._rows, self._y, rows, lam, loss, ratio, state)
        else:
            dual.sdca.sdca_epoch(
                self._rows,
                self._y,
                rows,
                lam,
                state,
                loss=loss,
                ratio=ratio,
                fast=self._solver.sums == "fast",
            )
        self._begins_by_sgd = False
        self.visits += rows.size
        self.steps = int(state.scalars[dual.sdca.STEPS])
        self.violations = int(state.scalars[dual.sdca.VIOLATIONS])

    @property
    def gap(self) -> Gap:
        """Objectives at the last iterate, computed from the rows."""
        return certificate(self._problem, *self.best())

    def best(self) -> tuple[Vector, float, Vector]:
        """Return the last iterate."""
        return self._state.w[: self._problem.p].copy(), 0.0, self._state.a.copy()


class WideCoordinates(Coordinates):
    """Coordinate steps while they close the gap, then pair or Newton steps.

    The penalty on the intercept is centred anew after every epoch. The gap is looked at
    where it may have come down to the tolerance. If many more epochs are wanted than
    the Gram matrix would cost, the hinge goes on with pairs; of many sparse rows only
    where the epochs that are left would not do. Newton steps follow where they would
    not do and there are no pairs.
    """

    def __init__(self, problem: Problem, solver: SDCA, a: Vector | None) -> None:
        super().__init__(problem, solver, a)
        norm2 = float(self._state.norm2.mean())
        if problem.intercept:
            self._ratio = RATIO * norm2 or 1.0
            if a is not None:
                beta = self._state.w[: problem.p]
                self._state.scalars[dual.sdca.ALPHA] = refitted(problem, beta)
        sparse = not isinstance(problem.X, np.ndarray)
        longest = max(1.0, float(problem.radius))
        in_range = math.isfinite(longest * longest / problem.lam)  # scores of any a
        pairs, n = in_range and problem.loss == "hinge", problem.n
        self._may_pair = pairs and not (sparse and n > min(problem.p, MOST_SPARSE))
        self._may_end_in_pairs = pairs and sparse and n <= min(problem.p, MOST_PAIRED)
        is_quick = self._may_pair or problem.loss == "log"
        few = FIRST_LOOK if a is None else WARM_EPOCHS
        self._to_newton = few if sparse and n > problem.p else 0
        self._epochs = 0
        self._next_look = FIRST_LOOK if is_quick else LONG
        self._looks = [(0, 1.0)]  # epochs and relative gaps
        self._balanced, self._is_seen, self._further = self._state.a, False, ""

    def step(self, rows: Rows) -> None:
        """Visit the rows, and look at the gap or choose other steps."""
        super().step(rows)
        self._centre_anew()
        self._epochs += 1
        self._is_seen = False
        if self._epochs == self._to_newton:
            self._further = "newton"
        elif self._epochs in (self._next_look, self._solver.epochs):
            at = self._seen().at
            if not self._solver.reached(at):
                self._plan(max(at.relative_gap, LEAST_GOAL), self._goal(at))

    @property
    def gap(self) -> Gap:
        """Objectives of the last look; without one since, nothing is known."""
        if not self._is_seen:
            return Gap(0.0, -math.inf)
        at = self._looked.at
        return Gap(at.objective, at.dual_objective)

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a`` at their best lengths."""
        found = self._seen()
        beta = found.fit * self._state.w[: self._problem.p]
        return beta, found.alpha, found.dual * self._balanced

    def following(self) -> Method | None:
        """Pairs or Newton steps, where epochs would take long."""
        if self._further == "pairs":
            return PairSteps(self._problem, self._solver, self._state.a)
        if self._further == "newton":
            return newton_from(self._problem, self._solver, *self.best())
        return None

    def _centre_anew(self) -> None:
        """Centre the penalty at ``alpha + ratio sum_i a_i y_i / (lam n)``."""
        balance = float(self._state.a @ self._problem.y)
        scale = self._problem.lam * self._problem.n
        self._state.scalars[dual.sdca.ALPHA] += self._ratio * balance / scale

    def _seen(self) -> "Lengths":
        if not self._is_seen:
            self._looked, self._is_seen = self._look(), True
        return self._looked

    def _look(self) -> "Lengths":
        """Look at all rows, for the gap of the present state."""
        problem, state = self._problem, self._state
        self._balanced = a = feasible(
            state.a, problem.y, problem.intercept, problem.most_dual
        )
        beta, scale = state.w[: problem.p], problem.lam * problem.n
        scores, image = problem.X @ beta, (a * problem.y) @ problem.X
        norm2 = float(np.square(state.w).sum())
        dual_norm2 = float(np.square(image).sum()) / scale / scale
        alpha = float(state.scalars[dual.sdca.ALPHA])
        return lengths(problem, scores, alpha, norm2, a, dual_norm2)

    def _goal(self, at: Certificate) -> float:
        """Return the relative gap to come to."""
        if self._solver.tol > 0.0 or at.objective == 0.0:
            return max(self._solver.tol, LEAST_GOAL)
        return max((self._solver.gap_tol or 0.0) / at.objective, LEAST_GOAL)

    def _plan(self, gap: float, goal: float) -> None:
        """Go on with other steps, or choose the epoch of the next look.

        Up to the tolerance the gap is taken to fall as in the last `LONG` epochs.
        """
        seen = [look for look in self._looks if look[0] <= self._epochs - LONG]
        since, before = seen[-1] if seen else self._looks[0]
        passed = self._epochs - since
        rate = math.log(before / gap) / passed if gap < before else 0.0
        left = math.log(gap / goal) / rate if rate > 0.0 else math.inf
        left = 0.0 if gap <= goal else left
        ahead = self._solver.epochs - self._epochs
        too_long = self._epochs >= 3 * LONG and left > 0.5 * ahead
        is_cheap = self._may_pair and left > self._problem.n / EPOCHS_OF_GRAM
        if is_cheap or (too_long and self._may_end_in_pairs):
            self._further = "pairs"
        elif too_long:
            self._further = "newton"
        self._looks.append((self._epochs, gap))
        wait = min(SHARE * left, LONG if self._epochs < LONG else 2 * LONG)
        self._next_look += max(1, round(wait))


class PairSteps(Method):
    """Steps on pairs of dual weights of the hinge, from the Gram matrix of the rows.

    Parameters
    ----------
    problem : Problem
        Of the hinge.
    solver : SDCA
    a : float64 array, shape (n,)
        Dual weights to begin with.
    """

    def __init__(self, problem: Problem, solver: SDCA, a: Vector) -> None:
        super().__init__()
        self._problem, self._solver = problem, solver
        self._scale = problem.lam * problem.n
        y, w, K = problem.y, problem.row_weights, inner_products(problem)
        a = feasible(a, y, problem.intercept, problem.most_dual)
        slope = y - K @ (a * y / self._scale)
        self._rows = dual.working_sets.whole_set(K, y, w, a, slope)
        self.visits = GRAM * problem.n**2
        self._look()

    def step(self, rows: Rows) -> None:
        """Take as many steps as there are rows, and look at the gap."""
        sets, n = dual.working_sets, self._problem.n
        steps = sets.pair_steps if self._problem.intercept else sets.single_steps
        steps(self._rows, self._scale, 0.0, SAME, n)
        self.steps += 1
        self.visits += float(n) ** 2 / self._problem.p
        self._look()

    @property
    def gap(self) -> Gap:
        """Objectives of the last look."""
        at = self._lengths.at
        return Gap(at.objective, at.dual_objective)

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``."""
        problem, found, a = self._problem, self._lengths, self._weights
        beta = problem.X.T @ (a * problem.y / self._scale * found.fit)
        return np.asarray(beta, dtype=np.float64), found.alpha, found.dual * a

    def following(self) -> Method | None:
        """Interior points or Newton steps, where pairs do not halve the gap."""
        if not self.stands_still(PATIENCE):
            return None
        if InteriorSteps.serves(self._problem):
            return InteriorSteps(self._problem, *self.best())
        return newton_from(self._problem, self._solver, *self.best())

    @property
    def _weights(self) -> Vector:
        return self._rows.a[: self._problem.n].copy()

    def _look(self) -> None:
        y, a = self._problem.y, self._weights
        scores = y - self._rows.slope[: y.size]
        norm2 = float((a * y) @ scores) / self._scale
        self._lengths = lengths(self._problem, scores, 0.0, norm2, a, norm2)
        self.gaps.append(self._lengths.at.gap)


def newton_from(
    problem: Problem, solver: SDCA, beta: Vector, alpha: float, a: Vector
) -> Method:
    """Newton steps from a fit and dual weights."""
    goal = Goal(solver.tol, solver.gap_tol)
    return newton_steps(problem, goal, (np.append(beta, alpha), a))


def inner_products(problem: Problem) -> Matrix:
    """``X X'``, shape (n, n).

    Examples
    --------
    >>> X, y = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([-1.0, 1.0])
    >>> inner_products(Problem(X, y, lam=1.0))
    array([[5., 6.],
           [6., 9.]])
    """
    X = problem.X.astype(np.float64, copy=False)
    return dense_rows(X @ X.T)


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
    reward, s, t = total(LOSSES[problem.loss].rewards(a, w)) / n, 1.0, 1.0
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
