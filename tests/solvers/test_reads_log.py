"""The log loss from few reads, where the solution of a sample lies far off."""

import numpy as np
import pytest
from scipy.special import expit

from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.reads.few_reads import few_reads
from pegasos_stats.solvers.reads.log import Log
from pegasos_stats.solvers.reads.rows import InMemory
from pegasos_stats.solvers.reads.sampled import penalised_by
from pegasos_stats.solvers.reads.seeing import Described, Point
from pegasos_stats.solvers.sdca import SDCA

TOL = 1e-9
SOLVER = SDCA(tol=TOL, seed=1)


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
    found = few_reads(InMemory(problem, 1), lam, "log", True, SOLVER)
    assert found.reached
    least = found.certificate.dual_objective
    assert found.n_reads <= 1 + steps_from_zero(problem, least)


@pytest.fixture
def far_off():
    """Steps from a point where most of the losses are flat."""
    problem = rare_levels(1e-6)
    home = InMemory(problem, 1)
    point = Point(np.linspace(-4.0, 4.0, problem.p), 0.0)
    described, sample = Described(home, 1e-6, "log", True), home.sample(2000)
    return lambda: Log(described, sample, point)


def test_a_damped_step_leads_down_where_a_whole_one_does_not(far_off):
    step = far_off()
    begin, before = step.point, step.read().objective
    step.solve(0.0, SOLVER)
    whole, after_whole = step.point, step.read().objective
    step.solve(0.0, SOLVER)
    damped, after_damped = step.point, step.read().objective
    assert after_damped < before < after_whole
    lengths = [np.linalg.norm(each.beta - begin.beta) for each in (whole, damped)]
    assert lengths[1] < lengths[0]


def test_what_is_packed_is_all_that_steps_go_by(far_off):
    step = far_off()
    for _ in range(4):
        step.read()
        step.solve(0.0, SOLVER)
        other = far_off()
        other.point = step.point
        other.go_on_from(step.packed())
        for each in (step, other):
            each.read()
            each.solve(0.0, SOLVER)
        assert np.array_equal(step.point.packed(), other.point.packed())


@pytest.mark.parametrize("of_class", [-1.0, 1.0])
def test_halves_without_a_class_leave_the_penalty_as_it_is(of_class):
    problem = rare_levels(1e-6)
    many = np.flatnonzero(problem.y == of_class)[:50]
    one = np.flatnonzero(problem.y != of_class)[:1]
    assert penalised_by(problem.of_rows(np.r_[many, one]), SOLVER) == 1.0


def test_a_class_without_weight_in_a_half_leaves_the_penalty_as_it_is():
    plain = rare_levels(1e-6)
    weights = np.where(plain.y > 0.0, 0.0, 1.0)
    weights[np.flatnonzero(plain.y > 0.0)[0]] = 1.0
    assert penalised_by(rare_levels(1e-6, weights), SOLVER) == 1.0
