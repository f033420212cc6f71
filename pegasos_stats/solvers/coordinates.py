"""Dual coordinate ascent, and methods where there are more columns than rows."""

import math
from typing import NamedTuple

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Rows, Vector, dense_rows, read_only
from pegasos_stats.solvers import objective
from pegasos_stats.solvers.interior import InteriorSteps
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.method import ASCENT, SMO, Goal, Method
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.smooth_newton import newton_steps

MANY_COLUMNS = 100  # where pairs of dense rows are quick
FREE, NOT_FREE = 1.25, 1.5  # rows to a column up to which they are, by intercept
RATIO = 0.07  # square of the constant column over the mean of ||x_i||^2
LOOK = 4  # epochs from one look at the gap to the next
FEWEST = 24  # epochs that tell how fast the gap falls
MOST_LEFT = 40.0  # epochs to the tolerance, if the gap falls as before
FIRST, WARM = 2, 1  # epochs before Newton steps on sparse rows, from 0 and from a fit
MOST_PAIRED = 4000  # rows whose X X', of 128 MB, is made
GRAM = 0.5  # visits of a row for each entry of X X', which is symmetric
PATIENCE = 10  # looks at pairs in which the gap is to be halved
LEAST_GOAL = 1e-12
SAME = 1e-12  # of the squared norms: the distance of two rows that are the same


class Coordinates(Method):
    """SDCA-perm: coordinate steps, ``alpha`` 0 or the coefficient of a column.

    Parameters
    ----------
    problem : Problem
    solver : Optimum or SDCA
    a : float64 array, shape (n,), optional
        Dual weights to begin with.
    ratio : float
        Square of the constant column that stands for an intercept; 0 for none.
    """

    name = "SDCA-perm"
    unit = "epoch"
    visits_rows = True

    def __init__(
        self,
        problem: Problem,
        solver: Optimum | SDCA,
        a: Vector | None,
        ratio: float = 0.0,
    ) -> None:
        super().__init__()
        self._problem, self._solver, self._ratio = problem, solver, ratio
        self._rows, self._y = problem.rows, problem.y.astype(np.int8)
        by_sgd = isinstance(solver, SDCA) and solver.start == "sgd"
        self._begins_by_sgd = by_sgd and a is None
        weights, offset = problem.row_weights, problem.offset
        self._state = compiled.sdca.start(self._rows, problem.p, weights, offset)
        if a is not None:
            y, lam = problem.y, problem.lam
            compiled.sdca.set_weights(self._rows, y, lam, a, self._state)

    def step(self, rows: Rows) -> None:
        """Visit the rows."""
        kernels, state = compiled.sdca, self._state
        loss, lam = int(self._problem.loss_code), self._problem.lam
        seen = self._rows, self._y, read_only(rows), lam, loss, self._ratio
        if self._begins_by_sgd:
            kernels.sgd_epoch(*seen, state)
        else:
            kernels.sdca_epoch(*seen, self._solver.arithmetic == "fast", state)
        self._begins_by_sgd = False
        self.visits += rows.size
        self.steps = int(state.scalars[kernels.STEPS])
        self.violations = int(state.scalars[kernels.VIOLATIONS])

    @property
    def gap(self) -> objective.Gap:
        """Objectives at the last iterate, computed from the rows."""
        return objective.certificate(self._problem, *self.best())

    def best(self) -> tuple[Vector, float, Vector]:
        """Return the last iterate."""
        return self._state.w.copy(), 0.0, self._state.a.copy()


class AveragedCoordinates(Coordinates):
    """SDCA-perm with the mean of its iterates, the averaging option of the paper.

    In an epoch each dual weight changes once. At place ``k`` of n rows, it enters with
    its former value ``k`` times, and with the new one ``n - k`` times.
    """

    _solver: SDCA

    def __init__(self, problem: Problem, solver: SDCA, a: Vector | None) -> None:
        super().__init__(problem, solver, a)
        self._sums = np.zeros(problem.n)
        self._epochs = self._n_averaged = 0

    def step(self, rows: Rows) -> None:
        """Visit the rows, and add up the dual weights."""
        n, before = self._problem.n, self._state.a.copy()
        super().step(rows)
        if self._solver.averages(self._epochs):
            place = np.empty(n)
            place[rows] = np.arange(1.0, n + 1.0)
            self._sums += place * before + (n - place) * self._state.a
            self._n_averaged += n
        self._epochs += 1

    def best(self) -> tuple[Vector, float, Vector]:
        """Return the mean iterate; before the epochs of the mean, the last one."""
        if not self._n_averaged:
            return super().best()
        problem, beta = self._problem, np.zeros(self._problem.p)
        a = np.minimum(self._sums / self._n_averaged, problem.most_dual)
        compiled.rows.add_rows(self._rows, a * problem.y, beta)
        return beta / (problem.lam * problem.n), 0.0, a


class WideCoordinates(Coordinates):
    """Coordinate steps while they close the gap, then pair or Newton steps.

    The penalty on the intercept is centred anew after every epoch, and the gap looked
    at every `LOOK` epochs. Where the tolerance is more than `MOST_LEFT` epochs away,
    pairs go on, or Newton steps.
    """

    name = ASCENT
    _solver: Optimum

    def __init__(self, problem: Problem, solver: Optimum, a: Vector | None) -> None:
        super().__init__(problem, solver, a)
        if problem.intercept:
            self._ratio = RATIO * float(self._state.norm2.mean()) or 1.0
            if a is not None:
                alpha = objective.refitted(problem, self._state.w)
                self._state.scalars[compiled.sdca.ALPHA] = alpha
        is_tall = problem.n > problem.p
        self._last = (FIRST if a is None else WARM) if is_tall else solver.epochs + 1
        self._epochs, self._before = 0, 1.0  # relative gap at the last look
        self._seen: Lengths | None = None
        self._goes_on = True

    def step(self, rows: Rows) -> None:
        """Visit the rows, and look at the gap."""
        super().step(rows)
        state, problem = self._state, self._problem
        balance = float(state.a @ problem.y)
        moved = self._ratio * balance / (problem.lam * problem.n)
        state.scalars[compiled.sdca.ALPHA] += moved
        self._epochs, self._seen = self._epochs + 1, None
        if self._epochs == self._last:
            self._goes_on = False
        elif self._epochs % LOOK == 0 or self._epochs == self._solver.epochs:
            at = self._look().at
            gap = max(at.relative_gap, LEAST_GOAL)
            fall, self._before = math.log(self._before / gap), gap
            wanted = math.log(gap / self._goal(at.objective))
            is_slow = LOOK * wanted > MOST_LEFT * max(fall, 0.0)
            self._goes_on = self._epochs < FEWEST or not is_slow

    def _goal(self, risk: float) -> float:
        """The relative gap to come to."""
        solver = self._solver
        goal = solver.tol or (solver.gap_tol or 0.0) / (risk or 1.0)
        return max(goal, LEAST_GOAL)

    @property
    def gap(self) -> objective.Gap:
        """Objectives of the last look; without one since, nothing is known."""
        return objective.Gap(0.0, -math.inf) if self._seen is None else self._seen.at

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a`` at their best lengths."""
        found = self._look()
        return found.fit * self._state.w, found.alpha, found.dual * self._balanced

    def following(self) -> Method | None:
        """Pairs or Newton steps, where epochs would take long."""
        if self._goes_on:
            return None
        if self._problem.n <= self._problem.p and pairs_serve(self._problem):
            return PairSteps(self._problem, self._solver, self._state.a)
        return newton_from(self._problem, self._solver, *self.best())

    def _look(self) -> "Lengths":
        """Look at all rows, for the gap of the present state."""
        if self._seen is None:
            problem, w, y = self._problem, self._state.w, self._problem.y
            self._balanced = a = objective.feasible(
                self._state.a, y, problem.intercept, problem.most_dual
            )
            image = (a * y) @ problem.X / (problem.lam * problem.n)
            alpha = float(self._state.scalars[compiled.sdca.ALPHA])
            norms = float(w @ w), float(image @ image)
            self._seen = lengths(problem, problem.X @ w, alpha, a, *norms)
        return self._seen


class PairSteps(Method):
    """Steps on pairs of dual weights of the hinge, from the Gram matrix of the rows.

    Parameters
    ----------
    problem : Problem
        Of the hinge.
    solver : Optimum
    a : float64 array, shape (n,)
        Dual weights to begin with.
    """

    unit = "epoch"

    def __init__(self, problem: Problem, solver: Optimum, a: Vector) -> None:
        super().__init__()
        self.name = SMO if problem.intercept else ASCENT
        self._problem, self._solver = problem, solver
        self._scale = problem.lam * problem.n
        y, w = problem.y, problem.row_weights
        X = problem.X.astype(np.float64, copy=False)
        K = dense_rows(X @ X.T)
        a = objective.feasible(a, y, problem.intercept, problem.most_dual)
        slope = y - K @ (a * y / self._scale)
        self._rows = compiled.working_sets.whole_set(K, y, w, a, slope)
        self.visits = GRAM * problem.n**2
        self._look()

    def step(self, rows: Rows) -> None:
        """Take as many steps as there are rows, and look at the gap."""
        sets, n = compiled.working_sets, self._problem.n
        steps = sets.pair_steps if self._problem.intercept else sets.single_steps
        steps(self._rows, self._scale, 0.0, SAME, n)
        self.steps += 1
        self.visits += float(n) ** 2 / self._problem.p
        self._look()

    @property
    def gap(self) -> objective.Gap:
        """Objectives of the last look."""
        at = self._seen.at
        return objective.Gap(at.objective, at.dual_objective)

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``."""
        problem, found, a = self._problem, self._seen, self._weights
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
        self._seen = lengths(self._problem, scores, 0.0, a, norm2, norm2)
        self.gaps.append(self._seen.at.gap)


def first_method(problem: Problem, solver: Optimum | SDCA, a: Vector | None) -> Method:
    """How a run begins: by Newton steps where rows are more than columns.

    With more columns by coordinate steps, or pairs of dense rows; the hinge on sparse
    rows always so.
    """
    if isinstance(solver, SDCA):
        is_plain = solver.average == "none"
        return (Coordinates if is_plain else AveragedCoordinates)(problem, solver, a)
    if is_wide(problem):
        if isinstance(problem.X, np.ndarray) and pairs_serve(problem):
            return PairSteps(problem, solver, np.zeros(problem.n) if a is None else a)
        return WideCoordinates(problem, solver, a)
    goal = Goal(solver.tol, solver.gap_tol)
    return newton_steps(problem, goal, None if a is None else start_of(problem, a))


def is_wide(problem: Problem) -> bool:
    """Whether there are more columns than rows.

    For the hinge nearly as many are enough, for its pairs, and on sparse rows any
    number. Pairs and lengths know no offset.

    Examples
    --------
    >>> X, y = np.ones((120, 100)), np.tile([-1.0, 1.0], 60)
    >>> is_wide(Problem(X, y, 1.0, "hinge")), is_wide(Problem(X, y, 1.0, "log"))
    (True, False)
    """
    n, p = problem.n, problem.p
    most = p
    if problem.loss == "hinge" and not isinstance(problem.X, np.ndarray):
        most = n + 1
    elif problem.loss == "hinge" and p >= MANY_COLUMNS:
        most = int(p * (FREE if problem.intercept else NOT_FREE))
    return n < most and problem.offset is None


def pairs_serve(problem: Problem) -> bool:
    """Whether pairs are for this problem: of the hinge, and scores of any ``a`` fit."""
    longest = max(1.0, float(problem.radius))
    in_range = math.isfinite(longest * longest / problem.lam)
    return in_range and problem.loss == "hinge" and problem.n <= MOST_PAIRED


def start_of(problem: Problem, dual: Vector) -> tuple[Vector, Vector]:
    """``(beta, alpha)`` that dual weights give, and these made feasible."""
    a = objective.feasible(dual, problem.y, problem.intercept, problem.most_dual)
    beta = (a * problem.y) @ problem.X / (problem.lam * problem.n)
    alpha = objective.refitted(problem, beta) if problem.intercept else 0.0
    return np.append(beta, alpha), a


def newton_from(
    problem: Problem, solver: Optimum, beta: Vector, alpha: float, a: Vector
) -> Method:
    """Newton steps from a fit and dual weights."""
    goal = Goal(solver.tol, solver.gap_tol)
    return newton_steps(problem, goal, (np.append(beta, alpha), a))


class Lengths(NamedTuple):
    """The best lengths of a fit and of a dual point, with the certificate of both."""

    fit: float
    alpha: float
    dual: float
    at: objective.Certificate


def lengths(
    problem: Problem,
    scores: Vector,
    alpha: float,
    a: Vector,
    norm2: float,
    dual_norm2: float,
) -> Lengths:
    """Return the ``s`` of the least risk of ``s (beta, alpha)``, and ``t`` of ``t a``.

    ``t`` gives the largest dual inside the box. Both are 1 for losses that bend. With a
    small penalty on separable rows no other number is as far from its best value.

    Parameters
    ----------
    problem : Problem
    scores : float64 array, shape (n,)
        ``X beta``.
    alpha : float
        Intercept; the hinge takes the best one, if it is free.
    a : float64 array, shape (n,)
        Dual weights that the dual allows.
    norm2, dual_norm2 : float
        ``||beta||^2`` and ``||beta(a)||^2``.
    """
    y, w, n = problem.y, problem.row_weights, problem.n
    penalty, dual_penalty = problem.lam * norm2, problem.lam * dual_norm2
    reward, s, t = float(LOSSES[problem.loss].rewards(a, w).sum()) / n, 1.0, 1.0
    if problem.loss == "hinge":
        if problem.intercept:
            alpha = objective.best_intercept(scores, y, "hinge", problem.weights)
        s = fit_length(penalty, w, y * (scores + alpha))
        if dual_penalty > 0.0:  # the largest dual, with t a inside its box
            inside = a > 0.0
            most = float((w[inside] / a[inside]).min(initial=np.inf))
            t = min(reward / dual_penalty, most)
    risk = objective.mean_loss(problem, s * scores, s * alpha)
    risk = objective.finite(risk + 0.5 * penalty * s * s)
    least = max(0.0, t * reward - 0.5 * dual_penalty * t * t)
    errors = int(np.count_nonzero(y * (scores + alpha) < 0.0))
    return Lengths(s, s * alpha, t, objective.Certificate(risk, least, errors))


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
