"""Pegasos first, then Optimum from its dual point."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver_runs import (
    certificate_of,
    checked_refinement,
    run_then_refine,
)


@pytest.fixture(scope="module")
def digits():
    return ps.datasets.load_digits56()


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_gap_is_closed(digits, make, intercept):
    model = make("digit ~ .", digits[0], lam=0.01, intercept=intercept)
    first = model.fit(ps.Pegasos(3, seed=443))
    result = model.fit(ps.Pegasos(3, seed=443), refine=1e-7)
    assert first.relative_gap > 1e-3
    assert 0.0 <= result.relative_gap <= 1e-7
    assert first.dual_objective <= result.objective <= first.objective
    assert result.n_iter > first.n_iter
    assert result.seed == 443


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_poor_start_does_not_matter(loss, intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4)) * [1.0, 1e-2, 10.0, 300.0] + [0, 0, 20, 700]
    y = np.where(X[:, 0] + 100 * X[:, 1] > 0, 1.0, -1.0)
    problem = Problem(X, y, 1e-4, loss, intercept)
    first = ps.Pegasos(2, seed=1)
    found = run_then_refine(problem, first, checked_refinement(1e-6, first))
    poor = run_then_refine(problem, first)
    assert certificate_of(problem, poor).objective > 100.0
    assert 0.0 <= certificate_of(problem, found).relative_gap <= 1e-6


def test_the_trace_goes_on(digits):
    model = ps.svm("digit ~ .", digits[0], lam=0.1)
    solver = ps.Pegasos(3, seed=1)
    trace = model.fit(solver, refine=1e-6, trace=True, test=digits[1]).trace
    first = model.fit(solver, trace=True, test=digits[1]).trace
    columns = ["epoch", "steps", "objective", "gap", "violations", "test_error"]
    assert trace[columns][:3].equals(first[columns])
    assert (np.diff(trace["epoch"]) == 1).all()
    assert (np.diff(trace["steps"]) > 0).all()
    assert (np.diff(trace["cpu_seconds"]) >= 0).all()
    assert trace["gap"].iloc[-1] <= 1e-6 * trace["objective"].iloc[-1]
