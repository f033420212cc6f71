"""The optimum of the hinge by an interior-point method, and the fits that end by it."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.solvers.certificate import certificate, primal
from pegasos_stats.solvers.interior import InteriorSteps
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from tests.solvers.solved import risk_of_a_peer, solved

N = 150
RNG = np.random.default_rng(0)
UNITS = RNG.standard_normal((N, 4))
Y = np.where(UNITS[:, 0] + RNG.standard_normal(N) > 0, 1.0, -1.0)
SECONDS = UNITS * [1.0, 10.0, 1e7, 1e-5] + [0.0, 2000.0, 1.7e9, 0.0]
FORMS = {
    "units": UNITS,
    "seconds beside units": SECONDS,
    "sparse": csr_array(UNITS * [1e-3, 1.0, 1e4, 1e6] * (UNITS > -0.5)),
    "wide": RNG.standard_normal((N, 400)),
    "many columns": np.random.default_rng(1).standard_normal((N, 120)),
    "two rows the same": np.repeat(UNITS[: N // 2], 2, axis=0),
    "whole numbers": np.round(UNITS),
}


def from_zero(problem):
    n, p = problem.X.shape
    return InteriorSteps(problem, np.zeros(p), 0.0, np.zeros(n))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_the_optimum_is_exact(form, weighted, intercept):
    weights = np.arange(N) % 3 / 1.0 if weighted else None
    problem = Problem(FORMS[form], Y, 1e-3, intercept=intercept, weights=weights)
    steps = from_zero(problem)
    steps.step()
    at = certificate(problem, *steps.best())
    # What rounding leaves, of columns that are up to 1e9 from zero.
    assert 0.0 <= at.relative_gap <= 1e-9
    if not intercept:
        assert steps.best()[1] == 0.0


def test_grey_values_without_intercept_are_fitted_to_the_tolerance():
    # Separable, so that margins of 1 are held to rounding, by columns far from zero.
    rng = np.random.default_rng(24)
    X = rng.integers(0, 256, (300, 196)).astype(float)
    f = X[:, :30] @ rng.standard_normal(30)
    y = np.where(f - np.median(f) + f.std() * rng.standard_normal(300) > 0, 1.0, -1.0)
    problem = Problem(X, y, 1e-5, intercept=False)
    fit, at = solved(problem, Optimum(tol=1e-6, seed=1))
    assert fit.alpha == 0.0
    assert 0.0 <= at.relative_gap <= 1e-6


def test_steps_that_are_slow_give_way_before_the_last_default_epoch():
    rng = np.random.default_rng(14)
    X = (rng.random((1500, 200)) < 0.05).astype(float)
    f = X[:, :60] @ rng.standard_normal(60)
    y = np.where(f - np.median(f) + f.std() * rng.standard_normal(1500) > 0, 1.0, -1.0)
    problem = Problem((X - X.mean(axis=0)) / X.std(axis=0), y, 1e-6)
    assert Optimum().epochs == 100
    assert 0.0 <= solved(problem, Optimum(tol=1e-10, seed=1))[1].relative_gap <= 1e-10


def test_libsvm_finds_no_better_one():
    problem = Problem(UNITS, Y, 1e-3)
    steps = from_zero(problem)
    steps.step()
    theirs = risk_of_a_peer(problem)
    assert primal(problem, *steps.best()[:2]) <= theirs * (1 + 1e-14)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5])
def test_predictors_of_any_scale_are_fitted_within_the_default_epochs(lam, intercept):
    problem = Problem(SECONDS, Y, lam, intercept=intercept)
    assert solved(problem, Optimum(seed=1, tol=1e-8))[1].relative_gap <= 1e-8


@pytest.mark.parametrize("lam", [5e-324, 1e-300, 1e-160, 1e300])
@pytest.mark.parametrize("shape", [(30, 4), (12, 30)])
def test_scales_whose_squares_vanish_bring_no_warning_of_numpys(lam, shape):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), np.where(np.arange(shape[0]) % 3, -1.0, 1.0)
    for first in (1e-200, 1.0, 1e15):
        for scale in (1e-90, 1.0, 1e20, 1e90):
            columns = X * np.where(np.arange(shape[1]) == 0, first, 1.0) * scale
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", ps.errors.PegasosStatsWarning)
                fit = ps.SVM(y, columns, lam=lam).fit(
                    Optimum(tol=1e-9, epochs=60, seed=1)
                )
            assert not fit.certificate.gap < 0.0  # NaN where it overflows


def test_equations_that_rounding_makes_singular_end_in_no_error():
    # By the largest column all rows but one are alike, 1e38 times the others.
    rng = np.random.default_rng(10)
    X = rng.normal(size=(10, 10)) * 10.0 ** rng.integers(-140, 140, 10)
    X = np.clip(X, -1e38, 1e38).astype(np.float32)
    weights = np.where(np.arange(10) % 3 == 2, 0.0, 1.0 + rng.random(10))
    y = np.where(rng.random(10) < rng.choice([0.2, 0.5]), 1, -1)
    y[:2] = 1, -1
    with pytest.warns(ps.errors.ConvergenceWarning):
        at = ps.SVM(y, X, lam=1e-6, weights=weights).fit().certificate
    assert at.objective >= at.dual_objective >= 0.0
