"""Newton's equations of dense and of sparse rows are the same equations."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import pegasos_stats as ps
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sums import RESIDUAL, newton_rows

RNG = np.random.default_rng(5)
SOME = np.array([0, 3, 4, 9, 30])


def forms(n, p, intercept, density=0.2):
    X = random_array((n, p), density=density, rng=RNG, format="csr")
    e = np.ones(n) if intercept else None
    Z = X.toarray() if e is None else np.column_stack([X.toarray(), e])
    return Z, newton_rows(X.toarray(), e), newton_rows(X, e)


@pytest.mark.parametrize("intercept", [True, False])
def test_products_and_sums_are_those_of_the_matrix(intercept):
    Z, *both = forms(40, 12, intercept)
    theta, c, h = RNG.normal(size=Z.shape[1]), RNG.normal(size=40), RNG.random(40)
    for rows in both:
        np.testing.assert_allclose(rows.times(theta), Z @ theta, rtol=1e-13)
        np.testing.assert_allclose(rows.image(c), c @ Z, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(rows.gram(h), Z.T * h @ Z, rtol=1e-12)
        some = Z[SOME].T * h[SOME] @ Z[SOME]
        np.testing.assert_allclose(rows.gram(h[SOME], SOME), some, rtol=1e-12)


@pytest.mark.parametrize(("p", "density"), [(12, 0.2), (1200, 0.01)])
def test_solutions_solve_the_equations(p, density):
    """By a factorisation to rounding, by conjugate gradients to their residual."""
    Z, *both = forms(60, p, True, density)
    h, ridge, g = RNG.random(60), np.full(p + 1, 0.3), RNG.normal(size=p + 1)
    H = np.diag(ridge) + Z.T * h @ Z
    some = np.arange(60)
    for rows in both:
        left = g - H @ rows.solution(h, ridge, g, some)
        norm = np.sqrt(g @ (g / H.diagonal()))
        tol = 1e-12 if rows.factorises(some) else RESIDUAL
        assert np.sqrt(left @ (left / H.diagonal())) <= tol * norm


def test_sparse_rows_of_many_entries_are_solved_as_dense_ones():
    X, y = RNG.normal(size=(80, 6)), np.tile([-1.0, 1.0], 40)
    X[X < -0.5] = 0.0
    problem = Problem(csr_array(X), y, lam=0.1, loss="log")
    np.testing.assert_array_equal(problem.with_best_storage.X, X)


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
def test_a_path_of_sparse_rows_is_that_of_dense_ones(model):
    X = random_array((400, 8), density=0.1, rng=RNG, format="csr")
    y = np.where(X.toarray() @ RNG.normal(size=8) + RNG.logistic(size=400) > 0, 1, 0)
    lambdas = [1e-2, 1e-1]
    sparse, dense = (
        ps.lambda_path(model(y, form, lam=0.1), lambdas=lambdas, seed=1)
        for form in (X, X.toarray())
    )
    np.testing.assert_array_equal(sparse.table, dense.table)
