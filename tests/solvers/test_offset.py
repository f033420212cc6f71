"""Certificates of problems with an offset, in exact arithmetic; and their optimum."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.objective import certificate, feasible
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver_runs import run_linear
from tests.solvers.exactly import both_objectives

LOSSES = pytest.mark.parametrize("loss", ["hinge", "log"])
BOTH = pytest.mark.parametrize("intercept", [True, False])
FORMS = pytest.mark.parametrize("form", ["dense", "float32", "sparse", "wide"])


def drawn(loss="hinge", intercept=True, form="dense", lam=0.02):
    rng = np.random.default_rng(12)
    n, p = (12, 30) if form == "wide" else (40, 3)
    X = rng.normal(size=(n, p)).astype(np.float32 if form == "float32" else float)
    offset = 1.5 * rng.normal(size=n) - 0.4
    y = np.where(X[:, 0] + offset + rng.normal(size=n) > 0.3, 1.0, -1.0)
    w = rng.integers(0, 4, n) + 0.5
    X = csr_array(np.where(np.abs(X) > 0.6, X, 0.0)) if form == "sparse" else X
    given = {"weights": w / w.mean(), "offset": offset}
    return Problem(X, y, lam, loss, intercept, **given)


@LOSSES
@BOTH
@FORMS
def test_certificates_hold_in_exact_arithmetic(loss, intercept, form):
    problem = drawn(loss, intercept, form)
    found = run_linear(problem, SDCA(tol=1e-9, seed=3))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    a = feasible(found.dual, problem.y, intercept, problem.weights)
    primal, dual = both_objectives(problem, found.beta, found.alpha, a)
    assert at.relative_gap <= 1e-9
    assert dual <= primal
    assert Fraction(at.dual_objective) <= dual
    assert primal <= Fraction(at.objective + at.rounding) * (1 + Fraction(1, 10**13))
    # What the bound takes off for rounding is that alone.
    assert at.objective == pytest.approx(float(primal), rel=1e-12)
    assert at.dual_objective == pytest.approx(float(dual), rel=1e-11)


@LOSSES
@BOTH
@FORMS
def test_pegasos_comes_near_the_same_optimum(loss, intercept, form):
    problem = drawn(loss, intercept, form, lam=0.3)
    best = run_linear(problem, SDCA(tol=1e-9, seed=3))
    least = certificate(problem, best.beta, best.alpha, best.dual).objective
    for arithmetic in ("reference", "fast"):
        solver = Pegasos(400, seed=1, arithmetic=arithmetic, refit_intercept=intercept)
        found = run_linear(problem, solver)
        at = certificate(problem, found.beta, found.alpha, found.dual)
        # 4,800 or 16,000 steps of size 1 / (lam t)
        assert least * (1.0 - 1e-9) <= at.objective <= 1.03 * least
        assert at.dual_objective <= least


@BOTH
def test_the_optimum_of_the_hinge_is_that_of_a_quadratic_program(intercept):
    problem = drawn("hinge", intercept)
    n, p = problem.n, problem.p
    margins = problem.y[:, None] * np.column_stack([np.ones(n), problem.X])
    known = problem.y * problem.offset

    def objective(v):
        slack = problem.weights @ v[p + 1 :] / n
        return 0.5 * problem.lam * v[1 : p + 1] @ v[1 : p + 1] + slack

    def slope(v):
        return np.concatenate(
            [[0.0], problem.lam * v[1 : p + 1], problem.weights / n * np.ones(n)]
        )

    above = {
        "type": "ineq",
        "fun": lambda v: margins @ v[: p + 1] + known + v[p + 1 :] - 1.0,
        "jac": lambda v: np.hstack([margins, np.eye(n)]),
    }
    free = [(None, None) if intercept else (0.0, 0.0), *[(None, None)] * p]
    start = np.concatenate([np.zeros(p + 1), 10.0 * np.ones(n)])
    options = {"ftol": 1e-14, "maxiter": 500}
    theirs = minimize(
        objective,
        start,
        jac=slope,
        bounds=[*free, *[(0.0, None)] * n],
        constraints=above,
        method="SLSQP",
        options=options,
    )
    ours = run_linear(problem, SDCA(tol=1e-10, seed=1))
    at = certificate(problem, ours.beta, ours.alpha, ours.dual)
    # SLSQP leaves its constraints violated by some 1e-9.
    assert at.objective == pytest.approx(theirs.fun, rel=1e-6)
    np.testing.assert_allclose(ours.beta, theirs.x[1 : p + 1], atol=1e-3)


@LOSSES
@pytest.mark.parametrize("start", ["zero", "sgd"])
def test_coordinate_steps_alone_close_the_gap(loss, start):
    problem = drawn(loss, intercept=False, lam=0.3)
    for arithmetic in ("reference", "fast"):
        solver = SDCA(300, tol=1e-6, seed=1, algorithm="perm", start=start)
        found = run_linear(problem, replace(solver, arithmetic=arithmetic))
        at = certificate(problem, found.beta, 0.0, found.dual)
        assert at.relative_gap <= 1e-6


def test_a_ball_that_may_leave_the_optimum_out_is_refused():
    with pytest.raises(OptionError, match=r"^project=True"):
        run_linear(drawn(), Pegasos(2, seed=1, project=True))
