"""Where the optimum of the hinge is at 0, coefficients are 0, not a solver's noise."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import zero_where_best
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver_runs import certificate_of, run_linear


def rare(seed, share=0.04, n=250, p=3):
    rng = np.random.default_rng(seed)
    return rng.random(n) < share, rng.standard_normal((n, p))


@pytest.mark.parametrize("weights", [None, "uneven"])
@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-9])
def test_a_rare_class_is_given_up_altogether(tol, weights):
    y, X = rare(1)
    given = None if weights is None else np.random.default_rng(2).uniform(0.5, 2.0, 250)
    for seed in (1, 2):
        solver = ps.Optimum(tol=tol, epochs=1000, seed=seed)
        result = ps.SVM(y, X, lam=0.1, weights=given).fit(solver)
        assert (result.coef == 0.0).all()
        assert result.intercept == -1.0
        assert (result.decision_function() == -1.0).all()
        w = np.ones(250) if given is None else given / given.mean()
        assert result.objective == pytest.approx(2.0 * w[y].sum() / 250, rel=1e-12)


def test_it_is_never_worse_than_what_was_found():
    """Of 60 fits some are at 0; the others stay as they are."""
    at_zero = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((80, 2)) * 10.0 ** rng.integers(-1, 2)
        y = np.where(rng.random(80) < rng.choice([0.05, 0.5]), 1.0, -1.0)
        if abs(y.sum()) == 80:
            continue
        problem = Problem(X, y, 10.0 ** rng.uniform(-3, 1), intercept=bool(seed % 3))
        found = run_linear(problem, Optimum(tol=1e-3, seed=1), warn=False)
        best = zero_where_best(problem, found, 1e-3)
        before, after = (certificate_of(problem, each) for each in (found, best))
        assert after.objective <= before.objective
        if best.beta.any():
            assert best is found
        at_zero += not best.beta.any()
    assert 10 < at_zero < 50


def test_the_log_loss_has_no_such_optimum():
    y, X = rare(3)
    assert (ps.Logit(y, X, lam=0.1).fit().coef != 0.0).all()
