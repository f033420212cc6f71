"""Columns far from zero: the fit is that of the same columns near it."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import pegasos_stats as ps
from pegasos_stats.solvers.intercept import needed_centre
from pegasos_stats.solvers.problem import Problem

N = 200
RNG = np.random.default_rng(0)
NEAR = RNG.normal(size=(N, 3)) * [10.0, 1.0, 1e4]
FAR = NEAR + np.array([2000.0, 0.0, 1.7e9])  # a year, and a time in seconds
Y = np.where(NEAR[:, 0] / 10 + RNG.normal(size=N) > 0, 1.0, -1.0)
WEIGHTS = RNG.exponential(size=N)
TOL = 1e-8
# The numbers 1.7e9 + x have x to 2e-7, 2e-11 of its spread; so has the objective.
ROUNDING = 1e-10


def fit(model, X, lam, **options):
    return model(Y, X, lam=lam, weights=WEIGHTS).fit(
        ps.Optimum(tol=TOL, seed=1), **options
    )


def near_as_far(result, shift):
    """The same fit of columns that are shifted: only the intercept changes."""
    found, problem = result.solution, result.problem
    alpha = found.alpha - float(shift @ found.beta)
    return dataclasses.replace(
        result,
        solution=dataclasses.replace(found, alpha=alpha),
        problem=dataclasses.replace(problem, X=problem.X + shift),
    )


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-4])
def test_the_optimum_is_reached_wherever_the_columns_are(model, lam):
    near, far = fit(model, NEAR, lam), fit(model, FAR, lam)
    assert -ROUNDING < far.relative_gap <= TOL
    assert far.objective == pytest.approx(near.objective, rel=2 * TOL)
    # ||beta - beta*||^2 <= 2 gap / lam, for each of the two
    apart = np.linalg.norm(near.coef - far.coef)
    assert apart <= 2 * np.sqrt(2 * TOL * near.objective / lam)


def test_a_trace_is_that_of_the_columns_as_they_are():
    result = fit(ps.SVM, FAR, 0.01, trace=True, test=(Y, FAR))
    last = result.trace.iloc[-1]
    assert last["objective"] == result.objective
    assert last["test_error"] == (result.predict(FAR) != Y).mean()


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
def test_the_bootstrap_is_that_of_columns_near_zero(model):
    many = ps.Bootstrap(replicates=50, seed=1)
    near, far = (fit(model, X, 0.1, cov_type=many).estimated for X in (NEAR, FAR))
    assert far.relative_gap <= far.options.tol
    # Errors of refits by their gap, beside errors of 2e-5 and more
    np.testing.assert_allclose(far.std_error[1:], near.std_error[1:], rtol=1e-4)


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
def test_standard_errors_are_those_of_columns_near_zero(model):
    shift = np.array([0.0, 1e6, 0.0])
    near = fit(model, NEAR, 0.1, cov_type="sandwich")
    far = near_as_far(near, shift)
    near, far = near.estimated, far.estimated
    # 1e6 + x has x to 1e-10.
    np.testing.assert_allclose(far.std_error[1:], near.std_error[1:], rtol=1e-8)
    C = np.eye(4)  # (1, x + shift) = C' (1, x)
    C[0, 1:] = shift
    np.testing.assert_allclose(far.bread, C.T @ near.bread @ C, rtol=1e-8)


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("value", [1.0, -1e-3, 1e5])
@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_constant_column_changes_no_fit_and_is_not_estimable(model, value, lam, make):
    # alpha + value beta is not penalised where alpha alone has it
    X = make(np.column_stack([NEAR[:, :2], np.full(N, value)]))
    result = model(Y, X, lam=lam, weights=WEIGHTS).fit()
    without = model(Y, X[:, :2], lam=lam, weights=WEIGHTS).fit()
    assert np.isnan(result.coef.iloc[2])
    assert result.solution.beta[2] == 0.0
    tol = max(result.relative_gap, without.relative_gap)
    assert result.objective == pytest.approx(without.objective, rel=tol + ROUNDING)


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("value", [1.0, 1e4, 1e6])
def test_errors_beside_a_constant_sparse_column_are_those_of_dense_rows(model, value):
    X = np.column_stack([NEAR[:, :2], np.full(N, value)])
    sparse, dense = (
        model(Y, rows, lam=0.01).fit(ps.Optimum(tol=TOL, seed=1), cov_type="sandwich")
        for rows in (sp.csr_array(X), X)
    )
    for result in (sparse, dense):
        assert np.isnan([result.bse.iloc[-1], result.pvalues.iloc[-1]]).all()
    # Both are within 1e-8 of the optimum, near which errors change smoothly.
    np.testing.assert_allclose(sparse.bse, dense.bse, rtol=1e-2)


@pytest.mark.fuzz
@given(
    seed=st.integers(0, 2**32 - 1),
    sign=st.sampled_from([-1.0, 1.0]),
    near=st.booleans(),
)
def test_a_column_is_far_beyond_thirty_deviations_on_either_side(seed, sign, near):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 90))
    X = rng.standard_normal((n, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[:, 1] += sign * 30.0 * (0.99 if near else 1.01)
    X[:, 2] = sign * 1e6  # constant: any distance is far
    y = np.where(np.arange(n) % 3, 1.0, -1.0)
    found = needed_centre(Problem(X, y, 1.0))
    mean = 0.0 if near else X[:, 1].mean()
    # Means: sums in another order.
    np.testing.assert_allclose(found, [0.0, mean, sign * 1e6], rtol=1e-12)
    if near:
        assert needed_centre(Problem(X[:, :2], y, 1.0)) is None
    assert needed_centre(Problem(X, y, 1.0, intercept=False)) is None
    assert needed_centre(Problem(sp.csr_array(X), y, 1.0)) is None
