"""The exact optimum with a free intercept: Newton steps for the proximal point.

The dual of ``lam/2 ||beta||^2 + mean w_i loss(y_i (x_i'beta + alpha))`` has the
constraint ``sum_i a_i y_i = 0``. From a centre ``c`` the proximal-point method goes to
the maximiser, under it, of

    D(a) - gamma/(2 n) sum_i (a_i - c_i)^2 / max(1, w_i)

and takes that for the next centre. The problem of one centre is the smoothed primal of
``compiled/dual/newton.py``, a function of ``beta`` and ``alpha`` with piecewise
constant second derivatives: Newton steps with a line search end after few. ``gamma`` is
halved from centre to centre, and grows where one centre takes many steps. The log loss
is smooth, and Newton steps alone do.

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

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import dual
from pegasos_stats.solvers.objective import (
    Certificate,
    best_intercept,
    certificate,
    mean_loss,
)
from pegasos_stats.solvers.problem import Problem

PATIENCE = 20  # steps in which the gap is to be halved
PASSES = 3  # over all rows in a step, beside its products with the active ones


def zero_model(problem: Problem) -> tuple[float, float]:
    """Intercept and objective of the best fit without coefficients.

    Examples
    --------
    >>> problem = Problem(np.eye(3), np.array([1.0, 1.0, -1.0]), lam=1.0)
    >>> zero_model(problem)
    (1.0, 0.6666666666666666)
    """
    scores = problem.row_offsets
    alpha = (
        best_intercept(scores, problem.y, problem.loss, problem.weights)
        if problem.intercept
        else 0.0
    )
    return alpha, mean_loss(problem, scores, alpha)


class ProximalNewton:
    """Newton steps from dual weights and coefficients; the best points are kept.

    Far from the optimum the log loss is flat or straight, and Newton's method lost: a
    start that is worse than no coefficients at all is left for that.

    Parameters
    ----------
    problem : Problem
    w : float64 array, shape (padded(p),)
        Coefficients, then zeros; changed in place.
    alpha : float
    a : float64 array, shape (n,)
        Dual weights in [0, w_i], the first centre; changed in place.
    width : float
        The first ``gamma``, if above 1: ``mean ||x_i||^2 / (lam n)``, the change of
        a margin with its own dual weight.
    """

    def __init__(
        self, problem: Problem, w: Vector, alpha: float, a: Vector, width: float
    ) -> None:
        self._problem = problem
        self._gaps: list[float] = []
        loss = int(problem.loss_code)
        self._at = dual.newton.smooth(
            problem.y, problem.row_weights, a, loss, problem.p, problem.offset
        )
        self._state = dual.newton.proximal(problem.n, problem.p, w)
        is_sparse = not isinstance(problem.X, np.ndarray)
        self._to = dual.newton.direction(problem.p, is_sparse)
        if not w.any():
            self._begin_at(alpha, width)
            return
        dual.newton.begin(
            problem.rows,
            problem.lam,
            problem.intercept,
            alpha,
            width,
            self._at,
            self._to,
            self._state,
        )
        if problem.loss == "hinge":
            return
        alpha, objective = zero_model(problem)
        if not self._state.scalars[dual.newton.OBJECTIVE] <= objective:
            w[:] = 0.0
            self._begin_at(alpha, width)

    def _begin_at(self, alpha: float, width: float) -> None:
        problem = self._problem
        dual.newton.begin_at(
            problem.rows,
            problem.lam,
            problem.intercept,
            alpha,
            width,
            self._at,
            self._state,
        )

    @property
    def cost(self) -> float:
        """Rows that the next step visits, about, and at most by its products."""
        n, p = self._problem.n, self._problem.p
        active = float(self._state.scalars[dual.newton.ACTIVE])
        return PASSES * n + active * min(p + 1, dual.newton.PRODUCTS)

    def step(self) -> None:
        """Take a Newton step, from a new centre if the present one is done with."""
        problem = self._problem
        dual.newton.step(
            problem.rows,
            problem.lam,
            problem.intercept,
            self._at,
            self._to,
            self._state,
        )
        self._gaps.append(self.gap.gap)

    @property
    def stands_still(self) -> bool:
        """Whether the last steps have not halved the gap."""
        gaps = self._gaps
        return len(gaps) > PATIENCE and gaps[-1] > 0.5 * gaps[-1 - PATIENCE]

    @property
    def violations(self) -> int:
        """Rows with a margin below 1, summed over the steps."""
        return int(self._state.scalars[dual.newton.ALL_VIOLATIONS])

    @property
    def gap(self) -> Certificate:
        """Objectives of the best points so far, as the steps found them."""
        scalars = self._state.scalars
        return Certificate(
            float(scalars[dual.newton.OBJECTIVE]),
            max(0.0, float(scalars[dual.newton.DUAL_OBJECTIVE])),
            int(scalars[dual.newton.BEST_ERRORS]),
        )

    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` of the least risk so far and ``a`` of the largest dual."""
        beta = self._state.best_w[: self._problem.p].copy()
        alpha = float(self._state.scalars[dual.newton.BEST_ALPHA])
        return beta, alpha, self._state.best_a.copy()

    def certificate(self) -> Certificate:
        """Objectives of the best points, recomputed from the rows."""
        return certificate(self._problem, *self.best())
