"""Standard errors of wide fits: by way of the rows, and only what is asked for."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.models.inference import bread_and_meat as parts
from pegasos_stats.models.inference import defects
from pegasos_stats.models.inference import sandwich as sandwiches
from pegasos_stats.models.inference.inverse import inverse_of, solved
from pegasos_stats.solvers.problem import Problem

N = 60
RNG = np.random.default_rng(8)
Y = np.where(np.arange(N) % 3 == 0, -1.0, 1.0)


def problem_of(p, weights=None, sparse=False, intercept=True):
    X = np.random.default_rng(p).normal(size=(N, p)) * (np.arange(p) % 5 + 0.5)
    if sparse:
        X = csr_array(np.where(np.abs(X) < 1.0, 0.0, X))
    w = None if weights is None else weights / weights.mean()
    return Problem(X, Y, 0.3, "log", intercept, weights=w)


BALANCED = np.where(Y < 0, 2.0, 1.0)
GIVEN = RNG.choice([0.5, 1.0, 4.0], N)


@pytest.mark.parametrize("weights", [None, BALANCED, GIVEN])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("stretched", [False, True])
def test_few_rows_give_the_product_of_the_matrices(
    weights, sparse, intercept, stretched
):
    stretch = RNG.uniform(1.0, 2.0, N) if stretched else 1.0
    for p in (N - 2, N - 1, N, 150):  # around as many as there are rows, and more
        problem = problem_of(p, weights, sparse, intercept)
        s = RNG.uniform(size=N)
        k = p + intercept
        A = RNG.normal(size=(k, k))
        inverse = A @ A.T / k
        meat = parts.meat_of(problem, s, stretch)
        found = parts.sandwiched(problem, s, stretch, meat, inverse)
        expected = inverse @ meat @ inverse
        # Sums of some hundred products of numbers near 1, in another order.
        size = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size)


def test_inverses_and_solutions_are_those_of_numpy():
    A = RNG.normal(size=(40, 40))
    H = A @ A.T + np.eye(40)
    scale = 10.0 ** RNG.uniform(-6, 6, 40)
    H = H * scale * scale[:, None]
    found = inverse_of(H)
    assert np.array_equal(found, found.T)
    b = RNG.normal(size=40) * scale
    # The condition is some 100 without the scales.
    one = (found * scale * scale[:, None]) @ (H / scale / scale[:, None])
    np.testing.assert_allclose(one, np.eye(40), atol=1e-11)
    np.testing.assert_allclose(H @ solved(H, b) / scale, b / scale, atol=1e-10)
    assert solved(np.ones((3, 3)), np.ones(3)) is None
    assert np.isnan(inverse_of(np.diag([1.0, -1.0]))).all()
    assert np.isnan(inverse_of(np.diag([1.0, np.inf]))).all()


def test_variances_that_are_lost_are_raised_to_the_bound_of_rounding():
    inverse = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    meat = np.ones((3, 3))
    matrix = inverse @ meat @ inverse * 0.5  # the first is 1 - 1, exactly 0
    assert matrix[0, 0] == 0.0
    before = matrix.copy()
    lost = defects.raise_to_rounding(matrix, inverse, meat, 0.5)
    assert lost == 1
    assert matrix[0, 0] == pytest.approx(1e-13 * 0.5 * 4.0, rel=1e-12)
    before[0, 0] = matrix[0, 0]
    assert np.array_equal(matrix, before)


@pytest.mark.parametrize("shift", [0.0, 1e7])
@pytest.mark.parametrize("standardize", [False, True])
def test_what_joint_tests_need_is_computed_when_one_is_asked_for(
    shift, standardize, monkeypatch, tmp_path
):
    X = np.random.default_rng(3).normal(size=(N, 4)) + shift
    y = np.where(X[:, 0] - shift + RNG.normal(size=N) > 0, "a", "b")
    model = ps.SVM(y, X, lam=0.1, standardize=standardize)
    given = ps.SDCA(tol=1e-8, seed=1)
    at_once = model.fit(given, cov_type="sandwich")
    assert at_once.covariance.later is None
    assert at_once.covariance.joint is not None
    expected = at_once.wald_test("x1 = x2 = 0")
    assert expected.distribution == "F"

    monkeypatch.setattr(sandwiches, "WIDE", 4)
    later = model.fit(given, cov_type="sandwich")
    assert later.bse.equals(at_once.bse)
    assert later.covariance.joint is None
    assert later.covariance.later is not None
    assert later.wald_test("x1 = x2 = 0").statistic == expected.statistic
    again = pickle.loads(pickle.dumps(later))
    assert again.wald_test("x1 = x2 = 0").statistic == expected.statistic
    assert later.tidy(original=True).equals(at_once.tidy(original=True))
    ps.save(later, tmp_path / "model")
    loaded = ps.load(tmp_path / "model").wald_test("x1 = x2 = 0")
    assert (loaded.statistic, loaded.pvalue) == (expected.statistic, expected.pvalue)
    monkeypatch.setattr(sandwiches, "WIDE", 5)  # coefficients, the intercept too
    assert model.fit(given, cov_type="sandwich").covariance.later is None
