"""Coordinate steps that leave out rows: the hinge without intercept."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sklearn.svm import LinearSVC

from pegasos_stats.solvers.objective import certificate, primal
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain
from pegasos_stats.solvers.shrinking import LEAST_COLUMNS, PASSES, Shrinking, fit_length
from pegasos_stats.solvers.solver_runs import run_sdca

ROUNDING = 1e-12


def sparse_problem(seed, lam=1e-3, n=150, p=400, noise=1.0, **given):
    rng = np.random.default_rng(seed)
    X = csr_array(random_sparse(n, p, 0.05, "csr", None, rng, rng.standard_normal))
    score = X @ rng.standard_normal(p) + noise * rng.standard_normal(n)
    y = np.where(score > 0.0, 1.0, -1.0)
    return Problem(X, y, lam, "hinge", False, **given)


def solved(problem, tol, seed=1):
    steps = Shrinking(Plain(problem, SDCA(seed=seed), None), SDCA(tol=tol, seed=seed))
    for _ in range(500):
        if steps.gap.relative_gap <= tol:
            return steps
        steps.step()
    raise AssertionError(steps.gap)


@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("n", [80, 600])
def test_the_optimum_is_that_of_liblinear(lam, n):
    problem = sparse_problem(1, lam, n)
    at = certificate(problem, *solved(problem, 1e-8).best())
    assert at.relative_gap <= 1e-8 + ROUNDING
    same = {"loss": "hinge", "dual": True, "fit_intercept": False}
    C = 1.0 / (lam * n)
    other = LinearSVC(C=C, tol=1e-9, max_iter=100_000, random_state=1, **same)
    beta = other.fit(problem.X, problem.y).coef_.ravel()
    assert at.objective <= primal(problem, beta, 0.0) + at.gap


def test_weights_of_rows_bound_their_dual_weights():
    rng = np.random.default_rng(3)
    w = rng.exponential(size=150)
    w[::7] = 0.0
    problem = sparse_problem(3, 1e-2, weights=w / w.mean())
    beta, _, a = solved(problem, 1e-8).best()
    assert (a <= problem.row_weights).all()
    assert not a[::7].any()
    assert certificate(problem, beta, 0.0, a).relative_gap <= 1e-8 + ROUNDING


@pytest.mark.parametrize("form", ["sparse", "dense", "float32"])
@pytest.mark.parametrize("n", [150, 600])
@pytest.mark.parametrize("lam", [1e-2, 1e-5])
@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_a_run_reaches_its_tolerance(form, n, lam, noise):
    given = sparse_problem(6, lam, n, noise=noise)
    X = given.X if form == "sparse" else given.X.toarray()
    X = X.astype(np.float32) if form == "float32" else X
    problem = Problem(X, given.y, lam, "hinge", False)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6


def test_newton_steps_follow_where_passes_would_take_long():
    problem = sparse_problem(7, 1e-5, n=2000, p=LEAST_COLUMNS, noise=3.0)
    assert Shrinking.serves(problem)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6
    assert found.n_iter < 2 * PASSES * problem.n


def test_passes_go_on_where_newton_steps_would_take_long():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((400, 300))
    y = np.where(X[:, :10].sum(1) > 0.0, 1.0, -1.0)
    problem = Problem(X, y, 1e-5, "hinge", False)  # rows that can be separated
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6
    assert found.n_iter > 2 * PASSES * problem.n


@pytest.mark.parametrize("penalty", [0.0, 1e-12, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_length_of_a_fit_is_the_best_one(penalty, seed):
    rng = np.random.default_rng(seed)
    w, m = rng.choice([0.0, 1.0, 2.5], 30), rng.standard_normal(30) + seed % 3

    def risk(s):
        return penalty / 2 * s * s + (w * np.maximum(0.0, 1.0 - s * m)).mean()

    s = fit_length(penalty, w, m)
    others = [0.0, *(1.0 / m[m > 0.0]), *np.linspace(0.0, 2.0 * s + 1.0, 301)]
    assert risk(s) <= min(map(risk, others)) * (1.0 + 1e-12)  # rounding of 30 terms
