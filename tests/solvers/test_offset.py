"""Certificates of problems with an offset, in exact arithmetic; and their optimum."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.objective import (
    best_intercept,
    certificate,
    feasible,
    zero_objective,
)
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import refitted
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.refining import run_linear
from pegasos_stats.solvers.sdca import SDCA
from tests.solvers.exactly import TEN, fractions, log_loss, rows_of

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


def entropy(share):
    """``-p log p - (1 - p) log(1 - p)`` to some 40 digits."""
    if share in (0, 1):
        return Fraction(0)
    p = TEN.divide(Decimal(share.numerator), Decimal(share.denominator))
    q = TEN.subtract(Decimal(1), p)
    terms = [TEN.multiply(s, TEN.ln(s)) for s in (p, q)]
    return -Fraction(terms[0]) - Fraction(terms[1])


def both_objectives(problem, beta, alpha, a):
    """Primal and dual as they are defined, without rounding."""
    rows, lam, n = rows_of(problem.X), Fraction(problem.lam), problem.n
    y, w, o = (fractions(v) for v in (problem.y, problem.weights, problem.offset))
    b, a, alpha = fractions(beta), fractions(a), Fraction(alpha)
    loss = Fraction(0)
    for row, sign, weight, known in zip(rows, y, w, o, strict=True):
        dot = sum(x * v for x, v in zip(row, b, strict=True))
        m = sign * (dot + alpha + known)
        hinge = problem.loss == "hinge"
        loss += weight * (max(Fraction(0), 1 - m) if hinge else log_loss(m))
    reward = Fraction(0)
    for each, sign, weight, known in zip(a, y, w, o, strict=True):
        value = each if problem.loss == "hinge" else weight * entropy(each / weight)
        reward += value - each * sign * known
    image = [
        sum(each * sign * row[j] for each, sign, row in zip(a, y, rows, strict=True))
        for j in range(problem.p)
    ]
    of_dual = sum(v * v for v in image) / (lam * n) / (lam * n)
    primal = lam / 2 * sum(v * v for v in b) + loss / n
    return primal, reward / n - lam / 2 * of_dual


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


@LOSSES
def test_the_best_intercept_knows_it(loss):
    problem, beta = drawn(loss), np.array([0.5, -0.2, 0.1])
    scores = problem.X @ beta + problem.offset
    theirs = best_intercept(scores, problem.y, loss, problem.weights)
    assert refitted(problem, beta) == pytest.approx(theirs, rel=1e-12)


@LOSSES
def test_the_model_that_is_all_zero_has_the_loss_of_the_offset(loss):
    problem = drawn(loss)
    m = problem.y * problem.offset
    each = np.maximum(0.0, 1.0 - m) if loss == "hinge" else np.logaddexp(0.0, -m)
    assert zero_objective(problem) == pytest.approx(np.mean(problem.weights * each))


def test_a_ball_that_may_leave_the_optimum_out_is_refused():
    with pytest.raises(OptionError) as caught:
        run_linear(drawn(), Pegasos(2, seed=1, project=True))
    assert str(caught.value) == (
        "project=True keeps coefficients within 1 / sqrt(lam), and with an offset the "
        "best ones may be beyond it; leave the option out."
    )
