"""The log loss with many rows to a column: steps from the solution of a sample."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.compiled import arithmetic
from pegasos_stats.solvers.centring import far_centre
from pegasos_stats.solvers.descending import Descending
from pegasos_stats.solvers.methods import choose_method
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.refining import run_sdca
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_steps import Narrow, run_epochs

TOL = 1e-8


def rows(n=5000, p=8, noise=1.0):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal(p) - 0.5 + noise * rng.logistic(size=n)
    return X, np.where(scores > 0.0, 1.0, -1.0)


def problems():
    X, y = rows()
    rng = np.random.default_rng(6)
    weights = rng.exponential(size=y.size)
    weights[:20] = 0.0
    weights /= weights.mean()
    mixed = X * np.logspace(-4.0, 0.0, 8) @ np.linalg.qr(rng.standard_normal((8, 8)))[0]
    twice = np.column_stack([X, X[:, 0], np.ones(y.size), np.zeros(y.size)])
    apart, sides = rows(noise=0.0)
    yield "plain", Problem(X, y, 1e-3, "log")
    yield "single", Problem(X.astype(np.float32), y, 1e-3, "log")
    yield "through zero", Problem(X, y, 1e-5, "log", intercept=False)
    yield "weights", Problem(X, y, 1e-5, "log", weights=weights)
    offset = 3.0 * rng.standard_normal(y.size)
    yield "offset", Problem(X, y, 1e-5, "log", offset=offset)
    yield "sparse", Problem(csr_array(np.where(X > 0.5, X, 0.0)), y, 1e-5, "log")
    yield "dependent", Problem(mixed, y, 1e-8, "log")
    yield "repeated", Problem(twice, y, 1e-6, "log")
    yield "sorted", Problem(X[np.argsort(y)], np.sort(y), 1e-5, "log")
    yield "one label only twice", Problem(X, np.r_[1, 1, -np.ones(4998)], 1e-4, "log")
    yield "large penalty", Problem(X, y, 1e3, "log")
    yield "tiny penalty", Problem(X, y, 1e-12, "log")
    yield "separable", Problem(apart, sides, 1e-9, "log")


@pytest.mark.parametrize(("name", "problem"), list(problems()))
def test_the_optimum_is_that_of_the_other_way(name, problem):
    solver = SDCA(tol=TOL, seed=1)
    runs = Descending, Narrow
    found, other = (
        run_epochs(of(problem, solver, None), problem.n, solver)[0] for of in runs
    )
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.gap <= TOL * at.objective
    there = certificate(problem, other.beta, other.alpha, other.dual)
    assert at.dual_objective <= there.objective  # both bound the same minimum
    assert there.dual_objective <= at.objective


def test_a_start_and_few_rows_go_the_other_way():
    many = Problem(*rows(5000, 500), 1e-3, "log")
    solver = SDCA(seed=1)
    assert choose_method(many, solver, None) is Descending
    for n, p in ((4999, 300), (5000, 501)):
        assert choose_method(Problem(*rows(n, p), 1e-3, "log"), solver, None) is Narrow
    assert choose_method(many, solver, np.zeros(5000)) is Narrow
    assert choose_method(many, SDCA(start="sgd", seed=1), None) is Narrow


def test_far_columns_are_known_by_moments_of_all_rows():
    X, y = rows(2999, 5)
    X = X + np.array([0.0, 29.0, 31.0, 1e9, -100.0])
    for kind, rtol in (("f8", 1e-12), ("f4", 1e-6)):  # the rounding of X itself
        given = X.astype(kind)
        centre = far_centre(Problem(given, y, 1.0))
        means = np.where(np.arange(5) > 1, given.mean(axis=0, dtype="f8"), 0.0)
        np.testing.assert_allclose(centre, means, rtol=rtol)


def test_a_gap_that_is_enough_needs_no_sums_of_twice_the_digits(monkeypatch):
    problem = Problem(*rows(), 1e-3, "log")
    found = run_sdca(problem, SDCA(tol=1e-14, seed=1), warn=False)
    given = problem, found.beta, found.alpha, found.dual
    exact = certificate(*given)
    assert exact.gap <= 1e-13 * exact.objective
    monkeypatch.delattr(arithmetic.risk, "risk_and_image_exactly")
    with pytest.raises(AttributeError, match="exactly"):
        certificate(*given)
    rough = certificate(*given, 1e-9)
    assert rough.gap <= 1e-9 * rough.objective
    assert rough.dual_objective <= exact.objective  # both bound the same minimum
    assert exact.dual_objective <= rough.objective + rough.rounding + exact.gap
