"""Interior-point method for the hinge: many small problems, or a difficult one.

Each problem is, over ``theta`` and ``s_i = b_i - z_i'theta``,

    min  1/2 sum_j pen_j theta_j^2 + sum_i w_i max(0, s_i) - fixed'theta.

Let ``xi_i - t_i = s_i`` with ``xi_i, t_i >= 0``, let ``a_i`` in [0, 1] be the dual
weights as shares of ``w_i``, ``P = diag(pen)``, and

    g = P theta - sum_i a_i w_i z_i - fixed.

At the optimum ``g = 0`` and ``a_i t_i = (1 - a_i) xi_i = 0``. All iterates have
``xi_i, t_i > 0`` and ``a_i`` in (0, 1). On the central path these products equal
``mu``. The predictor step aims at ``mu = 0``; its step length determines the ``mu`` of
the corrector step, which includes the second-order terms of the predictor. For both,
the step ``d`` of ``theta`` solves

    (P + sum_i w_i D_i z_i z_i') d = sum_i w_i D_i q_i z_i - g,
    D_i = 1 / (xi_i / (1 - a_i) + t_i / a_i).

In the predictor ``q_i = s_i``; the corrector adds to it the terms of ``mu`` and the
second-order terms. The number of steps hardly depends on the data: about ten, and
about twenty until rounding prevents progress. So `InteriorSteps` continue a run whose
method converges slowly: with a small penalty, or with columns of very different scales.

References
----------
Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM Journal
on Optimization 2 (1992). Ferris & Munson, *Interior-point methods for massive support
vector machines*, SIAM Journal on Optimization 13 (2002).
"""

from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Mask, Matrix, Rows, Vector, dense_rows
from pegasos_stats.solvers.certificate import Certificate, certificate, feasible
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.solvers.options import Method
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sums import ENTRIES, TINY

MOST_ENTRIES, MOST_UNKNOWNS = 32 * ENTRIES, 1000  # maximum size of a problem
NO_SPREAD = TINY**0.5  # its square is TINY


class InteriorSolution(NamedTuple):
    """The best iterates of B problems.

    Attributes
    ----------
    theta : float64 array, shape (B, k)
    s, a : float64 array, shape (B, m)
        ``b_i - z_i'theta``, and dual weights as shares of the weights.
    dual, gap : float64 array, shape (B,)
        The dual objective, and the objective minus the dual objective.
    """

    theta: Matrix
    s: Matrix
    a: Matrix
    dual: Vector
    gap: Vector


class InteriorPoints:
    """Strictly feasible iterates of B problems.

    Parameters
    ----------
    Z : float64 array, shape (B, k + 1, m) or (1, k + 1, m)
        Each column is a row of the data: ``z_i = y_i (x_i, 1)``, and ``b_i``.
    negative : bool array, shape (B, m) or (1, m)
        Rows with label -1.
    w : float64 array, shape (B, m), may be 0
        Divided by the weight of all rows, like `fixed`.
    fixed : float64 array, shape (B, 2, k + 1)
        Sums of ``w_i (z_i, b_i)`` over the fixed rows, by label -1 and +1: rows outside
        `Z` whose dual share is fixed at 1.
    penalty : float64 array, shape (B, k)
        The last is 0 if it belongs to an intercept.
    theta : float64 array, shape (B, k)
        Initial coefficients. ``xi``, ``t`` and ``a`` start where their products equal
        `mu`.
    mu : float64 array, shape (B,)
    products : float64 array, shape (m, k k), optional
        ``z_i z_i'`` if all problems share the rows.

    Attributes
    ----------
    refinements : int
        Number of iterative refinements of each direction.
    """

    refinements = 0

    def __init__(
        self,
        Z: Matrix,
        negative: Mask,
        w: Matrix,
        fixed: Matrix,
        penalty: Matrix,
        theta: Matrix,
        mu: Vector,
        products: Matrix | None = None,
    ) -> None:
        self.Z, self.w, self.fixed, self.penalty = Z, w, fixed, penalty
        self._products = products
        self.sides = np.stack(
            [np.where(negative, w, 0.0), np.where(negative, 0.0, w)], 1
        )
        self.theta = theta
        self.s = s = Z[:, -1] - (theta[:, None] @ Z[:, :-1])[:, 0]
        mu = mu[:, None]
        root = np.hypot(s, 2.0 * mu)
        self.t, self.xi = mu + 0.5 * (root - s), mu + 0.5 * (root + s)
        self.a, self.e = mu / self.t, mu / self.xi  # dual shares a, and 1 - a

    def solved(self, tol: float) -> "InteriorSolution":
        """Iterate, and return the point with the smallest gap of each problem.

        A problem stops at a relative gap of `tol`, or when rounding prevents progress:
        its relative gap is below 1e-5, and three steps have not halved it. There are at
        most 60 steps.
        """
        B = len(self.theta)
        best = InteriorSolution(
            *(self.theta.copy(), self.s.copy(), self.a.copy()),
            np.full(B, -np.inf),
            np.full(B, np.inf),
        )
        live, halved, halved_at = np.arange(B), np.full(B, np.inf), np.zeros(B)
        for count in range(60):
            gap, risk = self.look()
            better = gap < best.gap[live]
            here = self.theta, self.s, self.a, risk - gap, gap
            for values, value in zip(best, here, strict=True):
                values[live[better]] = value[better]
            fell = ~((gap > 0.5 * halved[live]) & (gap < 1e-5 * risk))
            halved[live[fell]], halved_at[live[fell]] = gap[fell], count
            going = ~(gap <= tol * risk) & (count - halved_at[live] < 3)
            live = live[going]
            if not live.size:
                break
            if not going.all():
                self._keep(going)
            try:
                self.step()
            except np.linalg.LinAlgError:
                break
        return best

    def _keep(self, some: Mask) -> None:
        """Continue with these problems only; shared rows do not change."""
        for name, value in vars(self).items():
            if not name.startswith("_") and len(value) == len(some):
                setattr(self, name, value[some])

    def look(self) -> tuple[Vector, Vector]:
        """Compute gaps and objectives.

        With a free intercept, the dual weights of the class with the larger sum are
        scaled down for the dual objective, so that both classes have equal sums.
        """
        theta, penalty, fixed = self.theta, self.penalty, self.fixed
        sums = fixed + (self.sides * self.a[:, None]) @ self.Z.transpose(0, 2, 1)
        self.gradient = penalty * theta - sums[:, :, :-1].sum(axis=1)
        point = np.column_stack([-theta, np.ones(len(theta))])
        risk = np.einsum("bi,bi->b", self.w, np.maximum(self.s, 0.0))
        risk += np.einsum("bsj,bj->b", fixed, point)
        risk += 0.5 * np.einsum("bj,bj->b", penalty, theta * theta)
        if (penalty[:, -1] == 0.0).all():
            of_class = np.abs(sums[:, :, -2])
            least = of_class.min(axis=1, keepdims=True)
            sums *= (least / np.maximum(of_class, TINY))[:, :, None]
        image = sums.sum(axis=1)
        squares = image[:, :-1] ** 2
        np.divide(squares, penalty, out=squares, where=penalty > 0.0)
        squares[penalty == 0.0] = 0.0
        return risk - image[:, -1] + 0.5 * squares.sum(axis=1), risk

    def step(self) -> None:
        """Take a predictor and a corrector step."""
        w, s, a, e, t, xi = self.w, self.s, self.a, self.e, self.t, self.xi
        X, over_a, over_e = self.Z[:, :-1], 1.0 / self.a, 1.0 / self.e
        D = 1.0 / (xi * over_e + t * over_a)
        wD = w * D
        H = hessians(X, wD, self._products)
        diagonal = np.einsum("bjj->bj", H)
        diagonal *= 1.0 + 1e-13  # so that rounding does not make H singular
        diagonal += self.penalty
        inverse = np.linalg.inv(H)

        def direction(q: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
            slope = (X @ (wD * q)[:, :, None])[:, :, 0] - self.gradient
            d = (inverse @ slope[:, :, None])[:, :, 0]
            ds = (d[:, None] @ X)[:, 0]
            for _ in range(self.refinements):
                rest = slope - self.penalty * d - (X @ (wD * ds)[:, :, None])[:, :, 0]
                d = d + (inverse @ rest[:, :, None])[:, :, 0]
                ds = (d[:, None] @ X)[:, 0]
            da = D * (q - ds)
            return d, ds, da, da * over_a, da * over_e

        *_, of_a, of_e = direction(s)
        # dt / t = -(1 + da / a) and dxi / xi = da / e - 1
        low, high = t * of_a * (1.0 + of_a), xi * of_e * (1.0 - of_e)
        longest = np.maximum(-of_a.min(axis=1), of_e.max(axis=1))
        longest = np.maximum(longest, 1.0 + of_a.max(axis=1))
        longest = np.maximum(longest, 1.0 - of_e.min(axis=1))
        way, wa, we = 1.0 / np.maximum(longest, 1.0), w * a, w * e
        now = np.einsum("bi,bi->b", wa, t) + np.einsum("bi,bi->b", we, xi)
        curved = np.einsum("bi,bi->b", we, high) - np.einsum("bi,bi->b", wa, low)
        then = (1.0 - way) * now + way * way * curved
        mu = (0.5 * now / w.sum(axis=1) * (then / now) ** 3)[:, None]
        low += mu * over_a
        high = mu * over_e - high
        d, ds, da, of_a, of_e = direction(s + low - high)
        dt, dxi = low - t * (1.0 + of_a), high + xi * (of_e - 1.0)
        longest = np.maximum(-of_a.min(axis=1), of_e.max(axis=1))
        longest = np.maximum(longest, -(dt / t).min(axis=1))
        longest = np.maximum(longest, -(dxi / xi).min(axis=1))
        way = np.minimum(1.0, 0.99 / np.maximum(longest, TINY))[:, None]
        self.theta = self.theta + way * d
        self.s = s - way * ds
        self.a, self.e = a + way * da, e - way * da
        self.t, self.xi = t + way * dt, xi + way * dxi


def hessians(X: Matrix, h: Matrix, products: Matrix | None = None) -> Matrix:
    """Compute ``sum_i h_i z_i z_i'`` of each problem, shape (B, k, k)."""
    if products is None:
        return np.asarray((X * h[:, None]) @ X.transpose(0, 2, 1))
    return np.asarray((h @ products).reshape(len(h), X.shape[1], X.shape[1]))


class InteriorSteps(Method):
    """Solve one hinge problem to machine precision, as one step of a run.

    Needed when proximal Newton steps stall, for example in a problem of eight rows,
    three columns, ``lam=1`` and an offset, where they end at a relative gap of 0.12.

    Columns are scaled, and centred if there is a free intercept. With more columns than
    rows the problem is reduced to the space of the rows.

    Parameters
    ----------
    problem : Problem
        Problem for which `serves` is true.
    beta, alpha, a
        The best fit and dual weights so far, returned if there are no better ones.
    """

    name = "interior point"

    def __init__(self, problem: Problem, beta: Vector, alpha: float, a: Vector) -> None:
        super().__init__()
        self._problem = problem
        self._beta, self._alpha = beta, alpha
        self._a = feasible(a, problem.y, problem.intercept, problem.weights)
        self._at = certificate(problem, *self.best())

    @staticmethod
    def serves(problem: Problem) -> bool:
        """Whether a problem is small, with the hinge loss and no extreme scale."""
        n, p = problem.X.shape
        is_small = min(n, p) <= MOST_UNKNOWNS and n * p <= MOST_ENTRIES
        radius, lam = problem.radius, problem.lam
        most = 1.0 / NO_SPREAD
        in_range = NO_SPREAD < radius < most and lam / radius / radius > NO_SPREAD
        return problem.loss == "hinge" and is_small and in_range and lam < most

    def step(self, rows: Rows | None = None) -> None:
        """Solve the problem, once."""
        if self.steps == 0:
            self.visits = 20.0 * self._problem.n
            self._solve()
        self.steps += 1

    @property
    def gap(self) -> Certificate:
        """Objectives of the best points, computed from the rows."""
        return self._at

    def _solve(self) -> None:
        problem, free = self._problem, self._problem.intercept
        rows = np.flatnonzero(problem.row_weights)
        w, y = problem.row_weights[rows], problem.y[rows]
        X = dense_rows(problem.X[rows])
        if free:
            X -= X.mean(axis=0)
        basis = None
        if problem.p > rows.size:
            basis, R = np.linalg.qr(X.T)
            X = R.T
        spread = np.sqrt(np.square(X).mean(axis=0))
        spread[~(spread > NO_SPREAD)] = 1.0
        Z = np.hstack([X / spread, np.ones((rows.size, free + 1))]).T * y
        Z[-1] = 1.0 - y * problem.row_offsets[rows]
        k = len(Z) - 1
        points = InteriorPoints(
            Z[None],
            (y < 0.0)[None],
            w[None] / problem.n,
            np.zeros((1, 2, k + 1)),
            np.append(problem.lam / spread / spread, np.zeros(int(free)))[None],
            np.zeros((1, k)),
            np.ones(1),
        )
        points.refinements = 2  # for the last digits
        best = points.solved(0.0)
        if np.isfinite(best.gap[0]):
            beta, a = best.theta[0, : spread.size] / spread, np.zeros(problem.n)
            a[rows] = best.a[0] * w
            self._keep(beta if basis is None else basis @ beta, a)

    def _keep(self, beta: Vector, a: Vector) -> None:
        """Store the fit and the dual weights, each if its objective is better."""
        problem, before, alpha = self._problem, self._at, 0.0
        if problem.intercept:
            scores = problem.X @ beta + problem.row_offsets
            alpha = best_intercept(scores, problem.y, "hinge", problem.weights)
        a = feasible(a, problem.y, problem.intercept, problem.weights)
        at = certificate(problem, beta, alpha, a)
        if at.objective < before.objective:
            self._beta, self._alpha = beta, alpha
        if at.dual_objective > before.dual_objective:
            self._a = a
        self._at = certificate(problem, *self.best())

    def best(self) -> tuple[Vector, float, Vector]:
        """Best primal point ``beta, alpha`` and best dual point ``a`` so far."""
        return self._beta, self._alpha, self._a
