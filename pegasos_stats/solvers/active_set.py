"""The exact optimum of the hinge loss, from its active set.

At the optimum every row is of one of three kinds: its dual weight is 0, or that of the
row in the risk, or between them, and then its margin is exactly 1. If it is known which
rows are free, that is of the third kind, the rest is linear: with ``u_i = a_i y_i`` and
``v = u / n``

    lam beta - sum_free v_i x_i = sum_bound v_i x_i
    x_i'beta + alpha            = y_i - offset_i     for the free rows
    sum_free v_i                = -sum_bound v_i     with an intercept

A step solves this and goes there. If a weight comes to the end of its range on the
way, the step ends there and the row is free no more. If none does, rows whose margin is
on the wrong side of 1 for their weight become free. The dual grows with every step, so
that no set of free rows comes back, and the last one gives the optimum to rounding.

Columns are scaled, and with an intercept centred, for the equations; ``lam`` is then
another for every column, and the optimum that of the problem as it is, whatever the
spread of the columns. With more columns than rows, or many columns of about one scale,
``beta`` is eliminated, which leaves the Gram matrix of the free rows.

References
----------
Scheinberg, *An efficient implementation of an active set method for SVMs*, Journal of
Machine Learning Research 7 (2006).
"""

from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    certificate,
    feasible,
)
from pegasos_stats.solvers.problem import Problem, Solution

Places = NDArray[np.int64]

MOST_ENTRIES = 2**22  # of a copy of the rows: 32 MB
QUICK_ENTRIES = 2**16  # of rows that a pivot goes through in no time
MOST_UNKNOWNS = 1000  # columns, or rows if these are fewer; and rows that are free
PATIENCE = 30  # Newton steps for the proximal point before, if they stand still
LONG, LATE = 60, 90  # and if they do not, where a pivot is quick and where it is not
PIVOTS = 50  # in a step of the run
TINY, HUGE = 1e-100, 1e100  # squares of what is between neither vanish nor overflow
SOFT = 1e-10  # of the largest weight: how far a margin of 1 gives way to a move by 1
SETTLED = 1e-5  # of the largest weight, a move after which SOFT does not matter
NEAR = 1e-13  # penalty on a column in standard deviations, that costs next to nothing
EXACT = 1e-13  # of the largest score: a margin this close to 1 is 1
MANY, EVEN = 100, 1e6  # columns that are eliminated, and the ratio of their penalties
BLOCK = 4  # rows to a column, that are bound together
SHARE = 4  # a fourth of the rows on the wrong side become free at once


def can_be_exact(problem: Problem) -> bool:
    """Whether the equations of the free rows are small enough to be solved often."""
    n, p = problem.X.shape
    is_small = min(n, p) <= MOST_UNKNOWNS and n * p <= MOST_ENTRIES
    radius, lam = problem.radius, problem.lam
    in_range = TINY < radius < HUGE and lam / radius / radius > TINY and lam < HUGE
    return problem.loss == "hinge" and is_small and in_range


class Steps(Protocol):
    """Steps that come near to the optimum."""

    @property
    def stands_still(self) -> bool:
        """Whether the last steps have not halved the gap."""

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` and ``a``: the best so far."""


AnySteps = TypeVar("AnySteps", bound=Steps)


def exactly(
    problem: Problem, steps: "AnySteps | ActiveSet", taken: int
) -> "AnySteps | ActiveSet":
    """Return the steps to go on with: others where these take long."""
    if isinstance(steps, ActiveSet) or taken < PATIENCE or not can_be_exact(problem):
        return steps
    is_quick = problem.n * problem.p <= QUICK_ENTRIES
    if taken < (LONG if is_quick else LATE) and not steps.stands_still:
        return steps
    return ActiveSet(problem, *steps.best())


class ActiveSet:
    """Steps to the exact optimum of the hinge, from dual weights.

    Parameters
    ----------
    problem : Problem
        One that `can_be_exact`.
    beta : float64 array, shape (p,)
    alpha : float
    a : float64 array, shape (n,)
        Dual weights to begin with. These three are kept until there are better ones.
    """

    violations = 0

    def __init__(self, problem: Problem, beta: Vector, alpha: float, a: Vector) -> None:
        self._problem, self._y, self._w = problem, problem.y, problem.row_weights
        self._offset = problem.row_offsets
        self._goal = self._y - self._offset
        given = problem.X
        dense = given if isinstance(given, np.ndarray) else given.toarray()
        X = np.array(dense, dtype=np.float64)
        self._centre = X.mean(axis=0) if problem.intercept else np.zeros(problem.p)
        X -= self._centre
        spread = np.sqrt(np.square(X).mean(axis=0))
        self._spread = np.where(spread > TINY, spread, 1.0)
        X /= self._spread
        self._X, self._penalty = X, problem.lam / self._spread / self._spread
        self._is_wide = problem.p > problem.n
        is_even = float(self._penalty.max()) <= EVEN * float(self._penalty.min())
        self._by_rows = self._is_wide or (problem.p >= MANY and is_even)
        self._gram = (X / self._penalty) @ X.T / problem.n if self._is_wide else X[:0]
        self._b: Vector | None = None
        self._alpha = 0.0
        self._one_by_one = self.is_exact = self._is_done = False
        self._begin(beta, alpha, a)

    def _begin(self, beta: Vector, alpha: float, a: Vector) -> None:
        """Start from these coefficients and weights."""
        problem = self._problem
        a = feasible(a, self._y, problem.intercept, problem.weights)
        self._u, self._free = a * self._y, (a > 0.0) & (a < self._w)
        self._fit, self._a = (beta, alpha), a
        self._at = certificate(problem, beta, alpha, a)

    def nearer(self) -> Problem | None:
        """The problem with far columns brought near; None where none is far.

        They are penalised more than in the problem itself, but hardly: its solution is
        next to that of the problem, and other methods find it.
        """
        if not float(self._penalty.min()) < NEAR:
            return None
        return replace(self._problem, X=self._X * self._widths())

    def begin_near(self, found: Solution) -> None:
        """Start from the solution of the problem with far columns brought near."""
        beta = found.beta * self._widths() / self._spread
        self._begin(beta, found.alpha - float(self._centre @ beta), found.dual)

    def _widths(self) -> Vector:
        """Standard deviations of columns that are brought near."""
        penalty = np.maximum(self._penalty, 2.0 * NEAR)
        return np.asarray(np.sqrt(self._problem.lam / penalty))

    @property
    def cost(self) -> float:
        """Rows that the next step visits, or whose visits would cost as much."""
        unknowns = float(self._free.sum()) + (0 if self._is_wide else self._problem.p)
        return PIVOTS * unknowns**3 / 3.0 / self._problem.p

    def step(self) -> None:
        """Solve for the free rows some times, and look at the gap; once if exact."""
        if self._is_done:
            return
        for _ in range(PIVOTS):
            if not self.is_exact:
                self._pivot()
        self._look()
        self._is_done = self.is_exact

    @property
    def gap(self) -> Certificate:
        """Objectives of the best points so far."""
        return self._at

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` of the least risk so far and ``a`` of the largest dual."""
        return *self._fit, self._a

    def certificate(self) -> Certificate:
        """Objectives of the best points, recomputed from the rows."""
        return certificate(self._problem, *self.best())

    def _pivot(self) -> None:
        """Go to the solution for the free rows, or to the first end of a range."""
        free = np.flatnonzero(self._free)
        if free.size == 0:
            self._free_first()
            return
        columns = self._problem.p + self._problem.intercept
        while free.size > columns and not self._is_wide:
            self._bind(free[: BLOCK * columns])
            free = np.flatnonzero(self._free)
        solved = self._solved_by_rows if self._by_rows else self._solved
        b, alpha, target = solved(free)
        u, w = self._u[free], self._w[free]
        low = np.where(self._y[free] > 0.0, 0.0, -w)
        end = np.where(target > u, low + w, low)
        moves = target != u
        reach = np.full(free.size, np.inf)
        reach[moves] = (end - u)[moves] / (target - u)[moves]
        t = float(reach.min())
        if t >= 1.0:
            self._u[free], self._b, self._alpha = target, b, alpha
            self._free_more(self._scores(b) + alpha)
            rest = float(np.abs(target - u).max())
            self.is_exact &= rest <= SETTLED * float(np.abs(target).max())
            if self.is_exact and self._by_rows and not self._is_wide:
                self._by_rows = self.is_exact = False  # once more, to more digits
            return
        self._b = None
        self._u[free] = u + max(0.0, t) * (target - u)
        ends = free[reach <= t]
        self._u[ends], self._free[ends] = end[reach <= t], False
        self._one_by_one = self._one_by_one or t <= 0.0

    def _bind(self, rows: Places) -> None:
        """Leave as many of these rows free as there are columns, the fit as it is.

        Weights move along which neither coefficients nor balance change and the dual
        does not fall, to the end of a range each time.
        """
        Z, y, u = self._X[rows], self._y[rows], self._u[rows]
        if self._problem.intercept:
            Z = np.column_stack([Z, np.ones(rows.size)])
        low = np.where(y > 0.0, 0.0, -self._w[rows])
        high, bound = low + self._w[rows], np.zeros(rows.size, dtype=bool)
        N = np.linalg.qr(Z, mode="complete")[0][:, Z.shape[1] :]  # where Z'N = 0
        while N.shape[1] > 0:
            d = N @ (y @ N)
            if not np.abs(d).max() > SOFT:
                d = N[:, 0]
            d = np.where(np.abs(d) > SOFT * np.abs(d).max(), d, 0.0)
            end = np.where(d > 0.0, high, low)
            reach = np.divide(end - u, d, out=np.full(rows.size, np.inf), where=d != 0)
            j = int(reach.argmin())
            u += max(0.0, float(reach[j])) * d
            u[j], bound[j] = end[j], True
            k = int(np.abs(N[j]).argmax())
            N = N - np.outer(N[:, k] / N[j, k], N[j])
            N[:, k] = N[:, -1]
            N = N[:, :-1]
        self._u[rows], self._free[rows] = np.clip(u, low, high), ~bound

    def _free_first(self) -> None:
        """Set a row free where none is; with an intercept two, to be in balance."""
        f = self._scores(self._images(self._u))
        if not self._problem.intercept:
            self._alpha = 0.0
            self._free_more(f)
            return
        rest = self._y - f
        low = np.where(self._y > 0.0, 0.0, -self._w)
        rise = np.where(self._u < low + self._w, rest, -np.inf)
        fall = np.where(self._u > low, rest, np.inf)
        first, second = int(rise.argmax()), int(fall.argmin())
        self.is_exact = not rise[first] > fall[second]
        self._free[[first, second]] = not self.is_exact

    def _free_more(self, f: Vector) -> None:
        """Set rows free whose margin is on the wrong side of 1; done if there is none.

        One alone can always move; of many some may not. After that one is set free.
        """
        slack, a = 1.0 - self._y * f, np.abs(self._u)
        wrong = np.where(a <= 0.0, slack, np.where(a >= self._w, -slack, 0.0))
        wrong[self._free | (self._w == 0.0)] = 0.0
        found = np.flatnonzero(wrong > EXACT * (1.0 + float(np.abs(f).max())))
        self.is_exact = found.size == 0
        room = MOST_UNKNOWNS - int(self._free.sum())
        many = max(1, min(-(-found.size // SHARE), room))
        count = 1 if self._one_by_one else many
        chosen = found[np.argsort(-wrong[found], kind="stable")[:count]]
        self._free[chosen], self._one_by_one = True, False

    def _images(self, u: Vector) -> Vector:
        """Coefficients of the scaled columns that weights give."""
        return np.asarray(self._X.T @ u / self._problem.n / self._penalty)

    def _scores(self, b: Vector) -> Vector:
        """Scores without intercept."""
        found = self._gram @ self._u if self._is_wide else self._X @ b
        return np.asarray(found + self._offset)

    def _solved(self, free: Places) -> tuple[Vector, float, Vector]:
        """Coefficients of the scaled columns, intercept, weights of the free rows."""
        p, m, n = self._problem.p, free.size, self._problem.n
        Z, bound = self._X[free], np.where(self._free, 0.0, self._u)
        A, right = np.zeros((p + m + 1, p + m + 1)), np.zeros(p + m + 1)
        scale = 1.0 / np.maximum(self._penalty, 1.0)
        A[:p, :p] = np.diag(self._penalty * scale)
        A[:p, p:-1] = -Z.T * scale[:, None] / n
        A[p:-1, :p], A[p:-1, -1], A[-1, p:-1] = Z, 1.0, 1.0
        A[range(p, p + m), range(p, p + m)] = SOFT
        right[:p] = self._X.T @ bound * scale / n
        right[p:-1] = self._goal[free] + SOFT * self._u[free]
        right[-1] = -bound.sum()
        found, alpha = self._of_equations(A, right)
        return found[:p], alpha, found[p:]

    def _solved_by_rows(self, free: Places) -> tuple[Vector, float, Vector]:
        """The same from the Gram matrix; without the coefficients if that is kept."""
        m, bound = free.size, np.where(self._free, 0.0, self._u)
        if self._is_wide:
            Z, fixed = self._X[:0], self._gram[free] @ bound
            gram = self._gram[np.ix_(free, free)]
        else:
            Z = self._X[free] / np.sqrt(self._penalty * self._problem.n)
            fixed = self._X[free] @ self._images(bound)
            gram = Z @ Z.T
        A, right = np.ones((m + 1, m + 1)), np.zeros(m + 1)
        A[:-1, :-1] = gram
        soft = SOFT * float(np.diag(gram).max())
        A[range(m), range(m)] += soft
        A[-1, -1] = 0.0
        right[:-1] = self._goal[free] + soft * self._u[free] - fixed
        right[-1] = -bound.sum()
        found, alpha = self._of_equations(A, right)
        if self._is_wide:
            return found[:0], alpha, found
        bound[free] = found
        return self._images(bound), alpha, found

    def _of_equations(self, A: Matrix, right: Vector) -> tuple[Vector, float]:
        """Solve them, with the intercept last; the shortest if many do, to rounding."""
        if not self._problem.intercept:
            A, right = A[:-1, :-1], right[:-1]
        try:
            found: Vector = np.linalg.solve(A, right).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            found = np.asarray(np.linalg.lstsq(A, right, rcond=None)[0], np.float64)
        if not self._problem.intercept:
            return found, 0.0
        return found[:-1], float(found[-1])

    def _look(self) -> None:
        """Keep the fit if its risk is less, and the weights if their dual is larger."""
        problem = self._problem
        b, alpha = self._b, self._alpha
        if b is None or self._is_wide:
            b = self._images(self._u)
        if self._b is None and problem.intercept:
            f = self._scores(b)
            alpha = best_intercept(f, self._y, "hinge", problem.weights)
        beta = b / self._spread
        fit, a = (beta, alpha - float(self._centre @ beta)), np.abs(self._u)
        if self.is_exact:
            a = feasible(a, self._y, problem.intercept, problem.weights)
        at = certificate(problem, *fit, a)
        if at.objective < self._at.objective:
            self._fit = fit
        if at.dual_objective > self._at.dual_objective:
            self._a = a
        self._at = self.certificate()
