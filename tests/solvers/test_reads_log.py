"""The log loss from few reads, where the solution of a sample lies far off."""

import numpy as np
import pytest
from scipy.special import expit

from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.streamed.few_reads import few_reads
from tests.solvers.memory_rows import streamed
from tests.solvers.solved import solved

TOL = 1e-9
SOLVER = Optimum(tol=TOL, seed=1)


def rare_levels(lam, weights=None):
    """Levels of one row in a thousand and less, standardized, that move the odds."""
    rng = np.random.default_rng(3)
    X = (rng.random((20_000, 60)) < np.geomspace(3e-4, 0.3, 60)).astype(float)
    odds = X @ rng.normal(0.0, 3.0, 60) - 1.0
    y = np.where(rng.logistic(size=20_000) < odds, 1.0, -1.0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Problem(X, y, lam, "log", weights=weights)


def steps_from_zero(problem, optimum):
    """How many of Newton's steps lead from zero to the tolerance, by numpy alone."""
    Z = np.column_stack([np.ones(problem.n), problem.X])
    penalty = np.r_[0.0, np.full(problem.p, problem.lam)]
    theta = np.zeros(problem.p + 1)
    for count in range(100):
        s = expit(-problem.y * (Z @ theta))
        risk = np.mean(-np.log1p(-s)) + 0.5 * penalty @ theta**2
        if risk - optimum <= TOL * optimum:
            return count
        curvature = (Z.T * (s * (1.0 - s))) @ Z / problem.n + np.diag(penalty)
        slope = penalty * theta - Z.T @ (s * problem.y) / problem.n
        theta -= np.linalg.solve(curvature, slope)
    raise AssertionError("Newton's steps from zero do not get there")


@pytest.mark.parametrize("lam", [1e-3, 1e-4, 1e-5, 1e-6])
def test_a_sample_is_no_worse_to_begin_with_than_zero(lam):
    problem = rare_levels(lam)
    found = few_reads(streamed(problem, 1), SOLVER)
    assert found.reached
    least = found.certificate.dual_objective
    assert found.n_reads <= 1 + steps_from_zero(problem, least)


@pytest.mark.parametrize("lam", [1e-6, 1e-9])
@pytest.mark.parametrize("seed", range(4))
def test_a_level_of_few_rows_that_the_sample_takes_to_the_end_is_brought_back(
    lam, seed
):
    rng = np.random.default_rng(seed)
    group = rng.choice(6, 6000, p=[0.006, 0.3, 0.3, 0.15, 0.144, 0.1])
    X = np.column_stack([rng.standard_normal(6000), np.eye(6)[group][:, 1:]])
    likely = 1.0 / (1.0 + np.exp(0.3 + X[:, 0] + np.where(group == 0, 2.5, 0.0)))
    y = np.where(rng.random(6000) < likely, 1.0, -1.0)
    problem = Problem(X, y, lam, "log")
    solver = Optimum(tol=1e-6, seed=1)
    found = few_reads(streamed(problem), solver)
    _, exact = solved(problem, Optimum(tol=1e-12, seed=1))
    assert found.reached
    assert found.n_reads <= 20  # of 100; half of these did not get there in any number
    assert found.certificate.objective <= exact.objective * (1.0 + 1e-6)
