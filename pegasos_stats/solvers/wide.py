"""SDCA where there are more columns than rows."""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.solvers.dense.interior import LONG as MANY
from pegasos_stats.solvers.dense.interior import InteriorSteps
from pegasos_stats.solvers.objective import (
    Certificate,
    certificate,
    feasible,
    scores_and_image,
)
from pegasos_stats.solvers.problem import Problem, Solution, kernel_rows
from pegasos_stats.solvers.proximal import ProximalNewton
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain, solution_of
from pegasos_stats.solvers.shrinking import PASSES, Lengths, Shrinking, lengths

RATIO = 0.07  # square of the constant column over the mean of ||x_i||^2
FIRST_LOOK = 2  # epoch of the first look at the gap, of runs that may be quick
LONG = 5  # the same of others; epochs that tell how fast the gap falls
SHARE = 0.7  # of the epochs to the tolerance, if the gap falls as before, to a look
EPOCHS_OF_GRAM = 12.0  # an epoch for every so many rows costs as much as X X'
GRAM = 0.5  # visits of a row for each entry of X X', which is symmetric
MOST_SPARSE = 1000  # sparse rows, whose X X' is not: of more, epochs are cheaper
MOST_PAIRED = 4000  # sparse rows whose X X', of 128 MB, is made where epochs do not do
PATIENCE = 10  # looks at pairs in which the gap is to be halved
LEAST_GOAL = 1e-12
SAME = 1e-12  # of the squared norms: the distance of two rows that are the same
LEAST_SHRUNK = 80.0  # passes without some rows, at least, before pairs are shorter
TELLING = 5  # looks that tell how fast these close the gap
MOST_SHRUNK = 320.0  # the same, of rows that have as many entries as there are rows


class PairSteps:
    """Steps on pairs of dual weights of the hinge, from the Gram matrix of the rows.

    Parameters
    ----------
    problem : Problem
        Of the hinge.
    a : float64 array, shape (n,)
        Dual weights to begin with.
    """

    violations = 0

    def __init__(self, problem: Problem, a: Vector) -> None:
        self._problem, self._scale = problem, problem.lam * problem.n
        y, w, K = problem.y, problem.row_weights, inner_products(problem)
        a = feasible(a, y, problem.intercept, problem.weights)
        slope = y - K @ (a * y / self._scale)
        self._rows = dual.working_sets.whole_set(K, y, w, a, slope)
        self._gaps: list[float] = []
        self._look()

    @property
    def cost(self) -> float:
        """Rows whose visits would cost as much as the next step."""
        return float(self._problem.n) ** 2 / self._problem.p

    def step(self) -> None:
        """Take as many steps as there are rows, and look at the gap."""
        sets, n = dual.working_sets, self._problem.n
        steps = sets.pair_steps if self._problem.intercept else sets.single_steps
        steps(self._rows, self._scale, 0.0, SAME, n)
        self._look()

    @property
    def gap(self) -> Certificate:
        """Objectives of the last look."""
        return self._lengths.at

    @property
    def stands_still(self) -> bool:
        """Whether the last steps have not halved the gap."""
        gaps = self._gaps
        return len(gaps) > PATIENCE and gaps[-1] > 0.5 * gaps[-1 - PATIENCE]

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``."""
        problem, found, a = self._problem, self._lengths, self._weights
        beta = problem.X.T @ (a * problem.y / self._scale * found.fit)
        return np.asarray(beta, dtype=np.float64), found.alpha, found.dual * a

    @property
    def _weights(self) -> Vector:
        return self._rows.a[: self._problem.n].copy()

    def _look(self) -> None:
        y, a = self._problem.y, self._weights
        scores = y - self._rows.slope[: y.size]
        norm2 = float((a * y) @ scores) / self._scale
        self._lengths = lengths(self._problem, scores, 0.0, norm2, a, norm2)
        self._gaps.append(self._lengths.at.gap)


def inner_products(problem: Problem) -> NDArray[np.float64]:
    """``X X'``, shape (n, n).

    Examples
    --------
    >>> X, y = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([-1.0, 1.0])
    >>> inner_products(Problem(X, y, lam=1.0))
    array([[5., 6.],
           [6., 9.]])
    """
    if isinstance(problem.X, np.ndarray):
        X = problem.X.astype(np.float64, copy=False)
        return np.asarray(X @ X.T)
    columns, found = problem.X.T.tocsr(), np.zeros((problem.n, problem.n))
    arithmetic.rows.put_inner_products(
        problem.rows, kernel_rows(columns), columns.indptr[:-1].astype(np.int64), found
    )
    return found


Further = Shrinking | PairSteps | ProximalNewton | InteriorSteps


class Wide:
    """Coordinate steps while they close the gap, then pair or Newton steps.

    Without intercept those of the hinge on sparse rows leave out rows from the first
    look on, until they would take longer than pairs; those of the log loss then have an
    order of their own, and go on without a word to the next look. The penalty on the
    intercept of the coordinate steps is centred anew after every epoch. The gap is
    looked at where it may have come down to the tolerance. If many more epochs are
    wanted than the Gram matrix would cost, the hinge goes on with pairs; of many sparse
    rows only where the epochs that are left would not do. Newton steps follow where
    they would not do and there are no pairs, or where pairs do not halve the gap any
    more.

    Parameters
    ----------
    problem : Problem
    solver : SDCA
    dual : float64 array, shape (n,), optional
    is_observed : bool
        Whether somebody looks at every epoch.

    Attributes
    ----------
    visits : float
        Rows visited so far, or whose visits would have cost as much.
    """

    def __init__(
        self,
        problem: Problem,
        solver: SDCA,
        dual: Vector | None,
        is_observed: bool = False,
    ) -> None:
        self._problem, self._solver = problem, solver
        self._is_observed = is_observed
        self._coordinates = Plain(problem, solver, dual, 1.0)
        norm2 = float(self._coordinates.state.norm2.mean())
        if problem.intercept and norm2 > 0.0:
            self._coordinates.ratio = RATIO * norm2
        self._epochs = self._further_steps = 0
        self.visits = 0.0
        sparse = not isinstance(problem.X, np.ndarray)
        longest = max(1.0, float(problem.radius))
        in_range = math.isfinite(longest * longest / problem.lam)  # scores of any a
        has_pairs = in_range and problem.loss == "hinge"
        self._may_pair = has_pairs and not (sparse and problem.n > MOST_SPARSE)
        self._may_end_in_pairs = has_pairs and sparse and problem.n <= MOST_PAIRED
        is_quick = self._may_pair or problem.loss == "log" or Shrinking.serves(problem)
        entries = float(getattr(problem.X, "nnz", problem.X.size)) / problem.n
        self._most_shrunk = max(LEAST_SHRUNK, MOST_SHRUNK * problem.n / (entries + 1.0))
        self._next_look = FIRST_LOOK if is_quick else LONG
        self._looks = [(0, 1.0)]  # epochs and relative gaps
        self._looked: Lengths | None = None
        self._is_reached = False
        state = self._coordinates.state
        self._balanced = state.a
        self._further: Further | None = None

    @property
    def visits_rows(self) -> bool:
        """Whether the next epoch is one of coordinate steps."""
        return self._further is None and not self._passes_over

    @property
    def _passes_over(self) -> bool:
        """Whether the epochs up to the next look are taken in one go."""
        is_log = self._problem.loss == "log" and not self._problem.intercept
        is_free = is_log and self._solver.sums == "fast" and not self._is_observed
        return is_free and self._epochs >= FIRST_LOOK

    def epoch(self, rows: Rows) -> None:
        """Visit the rows, or take further steps if there are none."""
        if self._further is not None:
            self._go_further(self._further)
            return
        count = 1
        if rows.size > 0:
            self._coordinates.epoch(rows)
            self._coordinates.centre_anew()
        else:
            count = min(self._next_look, self._solver.epochs) - self._epochs
            if count == 0:
                return
            self._coordinates.pass_over(count)
        self.visits += count * self._problem.n
        self._epochs += count
        self._looked = None
        if self._epochs == self._next_look and Shrinking.serves(self._problem):
            self._further = Shrinking(self._coordinates, self._solver)
        elif self._epochs in (self._next_look, self._solver.epochs):
            at = self._look().at
            self._is_reached = self._solver.reached(at)
            if not self._is_reached:
                self._plan(max(at.relative_gap, LEAST_GOAL), self._goal(at))

    def reached(self) -> bool:
        """Whether the gap is within the tolerance, and again if computed anew."""
        near = self._is_reached
        if self._further is not None:
            near = self._solver.reached(self._further.gap)
        return near and self._solver.reached(self.certificate())

    def certificate(self) -> Certificate:
        """Primal and dual objective, computed from the rows."""
        return certificate(self._problem, *self._best(), self._solver.tol)

    def solution(self, seed: int | None) -> Solution:
        """Return the fit and the dual point of the last steps."""
        seen = 0 if self._further is None else self._further.violations
        return solution_of(
            self._coordinates, *self._best(), self._further_steps, seen, seed
        )

    def _look(self) -> Lengths:
        """Look at all rows, for the gap of the present state."""
        problem, state = self._problem, self._coordinates.state
        a = feasible(state.a, problem.y, problem.intercept, problem.weights)
        beta = state.w[: problem.p]
        scores, image, _ = scores_and_image(problem.rows, beta, a * problem.y)
        norm2 = float(np.square(state.w).sum())
        scale = problem.lam * problem.n
        dual_norm2 = float(np.square(image).sum()) / scale / scale
        alpha = float(state.scalars[dual.sdca.ALPHA])
        self._balanced = a
        self._looked = lengths(problem, scores, alpha, norm2, a, dual_norm2)
        return self._looked

    def _best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``."""
        if self._further is not None:
            return self._further.best()
        found = self._looked or self._look()
        beta = found.fit * self._coordinates.state.w[: self._problem.p]
        return beta, found.alpha, found.dual * self._balanced

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
        most = self._solver.epochs
        rate = math.log(before / gap) / passed if gap < before else 0.0
        left = math.log(gap / goal) / rate if rate > 0.0 else math.inf
        left = 0.0 if gap <= goal else left
        too_long = self._epochs >= 3 * LONG and left > 0.5 * (most - self._epochs)
        is_cheap = self._may_pair and left > self._problem.n / EPOCHS_OF_GRAM
        if is_cheap or (too_long and self._may_end_in_pairs):
            self.visits += GRAM * self._problem.n**2
            self._further = PairSteps(self._problem, self._coordinates.state.a)
        elif too_long:
            self._further = self._coordinates.newton_method()
        self._looks.append((self._epochs, gap))
        wait = min(SHARE * left, LONG if self._epochs < LONG else 2 * LONG)
        self._next_look += max(1, round(wait))

    def _go_further(self, steps: Further) -> None:
        """Take further steps; others from the next on where these take long."""
        self.visits += steps.cost
        steps.step()
        self._further_steps += 1
        if isinstance(steps, Shrinking):
            self._epochs += 1
            left = PASSES * (self._solver.epochs - self._epochs)
            is_long = steps.left() > min(left, self._most_shrunk)
            if is_long and steps.looks >= TELLING:
                self._further = self._without_shrinking()
        elif isinstance(steps, PairSteps | ProximalNewton):
            is_long = isinstance(steps, ProximalNewton) and self._further_steps >= MANY
            if steps.stands_still or is_long:
                self._further = self._last_steps(steps)

    def _last_steps(self, steps: PairSteps | ProximalNewton) -> Further:
        """Steps to go on with where these take long."""
        if InteriorSteps.serves(self._problem):
            return InteriorSteps(self._problem, *steps.best())
        return self._from_pairs(steps) if isinstance(steps, PairSteps) else steps

    def _without_shrinking(self) -> PairSteps | ProximalNewton:
        """Pairs, or Newton steps, from where the coordinates are."""
        if not (self._may_pair or self._may_end_in_pairs):
            return self._coordinates.newton_method()
        self.visits += GRAM * self._problem.n**2
        return PairSteps(self._problem, self._coordinates.state.a)

    def _from_pairs(self, pairs: PairSteps) -> ProximalNewton:
        """Newton steps from where the pairs are."""
        state = self._coordinates.state
        beta, alpha, a = pairs.best()
        state.w[: beta.size], state.a[:] = beta, a
        state.scalars[dual.sdca.ALPHA] = alpha
        return self._coordinates.newton_method()
