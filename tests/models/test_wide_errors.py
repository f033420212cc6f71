"""Standard errors of wide fits: by way of the rows, and only what is asked for."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import UndefinedMetricWarning
from pegasos_stats.models.inference import bread_and_meat as parts
from pegasos_stats.models.inference import defects, symmetric
from pegasos_stats.models.inference import sandwich as sandwiches
from pegasos_stats.models.inference.bias import bias_of
from pegasos_stats.models.inference.by_rows import inverse_of_bread, sandwiched
from pegasos_stats.models.inference.inverse import inverse_of, solved
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.row_sums import cross_product, products
from pegasos_stats.models.inference.shrinkage import model_meat
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
        s = RNG.uniform(size=N) * (RNG.uniform(size=N) < 0.8)  # as of the hinge
        k = p + intercept
        A = RNG.normal(size=(k, k))
        inverse = A @ A.T / k
        meat = parts.meat_of(problem, s, stretch)
        found = sandwiched(problem, s, stretch, meat, inverse)
        expected = inverse @ meat @ inverse
        # Sums of some hundred products of numbers near 1, in another order.
        size = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("k", [3, symmetric.NARROW - 1, symmetric.NARROW, 200])
def test_products_by_half_of_a_matrix_are_those_with_the_whole(k):
    B, A = RNG.normal(size=(50, k)), RNG.normal(size=(k, k))
    A += A.T
    expected = B @ A @ B.T
    size = np.abs(B) @ np.abs(A) @ np.abs(B.T)  # sums of k^2 numbers, in another order
    assert (np.abs(symmetric.around(B, A) - expected) <= 1e-13 * size).all()
    forms = symmetric.forms(B, A)
    assert (np.abs(forms - np.diag(expected)) <= 1e-13 * np.diag(size)).all()
    half = symmetric.by_half(B, A)
    np.testing.assert_allclose(
        half + B @ np.triu(A, 1), B @ (A - np.diag(np.diag(A)) / 2)
    )


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_few_rows_give_the_inverse_of_the_curvature(loss, sparse, intercept):
    for lam, p in ((0.3, 150), (1e-3, 150), (1e-12, 150), (0.3, 100)):
        problem = replace(problem_of(p, GIVEN, sparse, intercept), loss=loss, lam=lam)
        u = RNG.normal(size=N) + 50.0 * (np.arange(N) % 2)  # no curvature far off
        s = parts.slopes_of(problem, np.clip(u, -5.0, 5.0))
        curvature = parts.curvature_of(problem, u, s, Sandwich(bandwidth=1.0))
        assert len(curvature.lines) == 2 * (loss == "hinge")
        H = parts.bread(problem, curvature)
        found, expected = inverse_of_bread(problem, curvature, H), inverse_of(H)
        if not np.isfinite(expected).all():
            assert np.isnan(found).all()
            continue
        # Both are off by the condition, of which 1e4 is the most here.
        np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("weights", [None, BALANCED, GIVEN])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_all_pairs_of_rows_give_the_bias_and_the_leverages(weights, sparse, intercept):
    for p in (5, 50, 150):
        problem = problem_of(p, weights, sparse, intercept)
        problem = replace(problem, balanced=weights is BALANCED)
        s = RNG.uniform(0.1, 0.9, N)
        curvature = parts.curvature_of(problem, np.zeros(N), s, Sandwich())
        inverse = inverse_of(parts.bread(problem, curvature))
        pairs = products(problem, inverse)
        found = bias_of(problem, s, inverse, pairs)
        np.testing.assert_allclose(found, bias_of(problem, s, inverse), rtol=1e-9)
        given = problem, curvature, inverse
        leverages = parts.leverages(*given, pairs)
        np.testing.assert_allclose(leverages, parts.leverages(*given), rtol=1e-10)


def test_the_meat_of_the_model_is_the_curvature_without_penalty_and_weights():
    for weights in (None, BALANCED, GIVEN):
        problem, s = problem_of(4, weights), RNG.uniform(0.1, 0.9, N)
        cross = cross_product(problem, problem.row_weights * s * (1.0 - s))
        found = model_meat(problem, s, cross)
        np.testing.assert_allclose(found, model_meat(problem, s), rtol=1e-12)


def test_least_errors_of_shrunk_ones_do_not_depend_on_where_the_rows_are():
    X = np.random.default_rng(4).standard_t(3, size=(N, 6))
    y = np.where(X[:, 0] + RNG.normal(size=N) > 0.5, "a", "b")
    near, far = (
        ps.Logit(y, X + shift, lam=0.05).fit(
            ps.SDCA(tol=1e-12, seed=1), cov_type="shrunk"
        )
        for shift in (0.0, 2.0**30)
    )
    least = near.with_covariance("HC2").bse
    above = near.bse / least - 1.0
    assert (np.abs(above) < 1e-12).any()  # the same, summed in another order
    assert (above > 1e-3).any()
    np.testing.assert_allclose(far.bse.iloc[1:], near.bse.iloc[1:], rtol=1e-6)


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


def test_a_fit_whose_rows_are_all_at_the_margin_is_saved(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 1000))
    result = ps.SVM(np.sign(X[:, 0]), X, lam=0.1).fit(ps.SDCA(seed=1))
    with pytest.warns(UndefinedMetricWarning, match="all rows have the same margin"):
        assert result.bse.isna().all()
    assert result.estimated.bandwidth == 0.0
    ps.save(result, tmp_path / "fit.model")
    with pytest.warns(UndefinedMetricWarning, match="all rows have the same margin"):
        assert ps.load(tmp_path / "fit.model").bse.isna().all()
