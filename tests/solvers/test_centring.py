"""Columns far from zero: the fit is that of the same columns near it."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.compiled import arithmetic
from pegasos_stats.errors import ConvergenceWarning, UndefinedMetricWarning
from pegasos_stats.solvers.centring import far_centre
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
        ps.SDCA(tol=TOL, seed=1), **options
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


def test_columns_near_zero_are_left_as_they_are():
    assert far_centre(Problem(NEAR, Y, lam=1.0)) is None
    assert far_centre(Problem(np.full((N, 1), 7.0), Y, lam=1.0)) is None
    assert far_centre(Problem(csr_array(FAR), Y, lam=1.0)) is None
    assert far_centre(Problem(FAR, Y, lam=1.0, intercept=False)) is None
    centre = far_centre(Problem(FAR, Y, lam=1.0))
    assert centre.nonzero()[0].tolist() == [0, 2]


def test_columns_far_below_zero_and_constant_ones_are_far_too():
    centre = far_centre(Problem(NEAR - 1e8, Y, lam=1.0))
    # Means: sums in another order.
    np.testing.assert_allclose(centre, (NEAR - 1e8).mean(axis=0), rtol=1e-12)
    constant = np.column_stack([NEAR[:, 1], np.full(N, -1e9)])
    assert far_centre(Problem(constant, Y, lam=1.0)).tolist() == [0.0, -1e9]


def test_all_rows_are_looked_at():
    often = np.where(np.arange(N) % 2, 1e6 + NEAR[:, 1], 1e6)  # every second is a tie
    assert far_centre(Problem(often[:, None], Y, lam=1.0)) is not None
    two = np.where(np.arange(N) % 2, 1e6, -1e6)  # its spread is as large as its values
    assert far_centre(Problem(two[:, None], Y, lam=1.0)) is None


def test_a_tolerance_reached_only_for_centred_columns_is_said():
    X = NEAR[:, :1] + 1e15  # whole numbers are all that is left
    with pytest.warns(
        ps.errors.ConvergenceWarning,
        match="^SDCA has reached tol=1e-12 "
        "for centred columns only: the relative gap is ",
    ):
        ps.SVM(Y, X, lam=0.01).fit(ps.SDCA(tol=1e-12, seed=1))


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("shape", [(1, 1), (6, 3), (131, 21)])
def test_radius_and_moments_are_those_of_all_rows(shape, kind):
    X = np.random.default_rng(3).normal(5.0, 2.0, shape).astype(kind)
    problem = Problem(X, np.ones(shape[0]), 1.0)
    norm2 = arithmetic.rows.largest_norm2(problem.rows)
    np.testing.assert_allclose(problem.radius, np.sqrt(norm2), rtol=1e-14)
    means, spreads = problem.moments
    # Sums of at most 131 numbers; differences to the first row are some spreads.
    np.testing.assert_allclose(means, X.mean(axis=0, dtype="f8"), rtol=1e-12)
    np.testing.assert_allclose(spreads, X.std(axis=0, dtype="f8"), atol=1e-12)


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("value", [1.0, -1e-3, 1e5])
@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_the_coefficient_of_a_constant_column_is_0(model, value, lam, make):
    # alpha + value beta is not penalised where alpha alone has it
    X = make(np.column_stack([NEAR[:, :2], np.full(N, value)]))
    result = model(Y, X, lam=lam, weights=WEIGHTS).fit()
    without = model(Y, X[:, :2], lam=lam, weights=WEIGHTS).fit()
    assert result.coef.iloc[2] == 0.0
    tol = max(result.relative_gap, without.relative_gap)
    assert result.objective == pytest.approx(without.objective, rel=tol + ROUNDING)


def test_a_constant_column_is_0_however_many_rows_there_are():
    X = RNG.normal(size=(60_000, 2))
    y = np.where(X[:, 0] + RNG.normal(size=len(X)) > 0, 1, -1)
    result = ps.SVM(y, np.column_stack([X, np.ones(len(X))]), lam=0.01).fit()
    assert result.coef.iloc[2] == 0.0
    assert result.converged


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_constant_column_has_no_error_and_no_test(make, standardize):
    frame = pd.DataFrame(NEAR[:, :2], columns=["a", "b"]).assign(c=1.0, y=Y)
    model = make("y ~ a + b + c", frame, lam=0.01, standardize=standardize)
    found = model.fit().tidy().set_index("term").loc["c"]
    assert found["estimate"] == found["std_error"] == 0.0
    assert np.isnan(found["p_value"])
    others = make("y ~ a + b", frame, lam=0.01, standardize=standardize).fit()
    # Both fits are within 1e-6 of the optimum, and near it errors change smoothly.
    np.testing.assert_allclose(model.fit().bse.iloc[:3], others.bse, rtol=1e-2)
    result = model.fit()
    assert any("'c' is constant" in note.text for note in result.notes)
    assert list(result.summary().params.index) == ["Intercept", "a", "b"]


def test_nothing_is_tested_of_a_constant_column_however_far_the_fit_is():
    frame = pd.DataFrame(NEAR[:, :2], columns=["a", "b"]).assign(c=1.0, y=Y)
    model = ps.logit("y ~ a + b + c", frame, lam=0.01)
    with (
        pytest.warns(ConvergenceWarning, match="too far from its optimum"),
        pytest.warns(UndefinedMetricWarning, match="There is no test of 'c = 0'"),
    ):
        far = model.fit(ps.Pegasos(2, seed=1)).t_test("c = 0")
    assert far.effect[0] != 0.0
    assert np.isnan(far.pvalue).all()
    near = model.fit()
    for value in (0, 1):
        no_test = f"There is no test of 'c = {value}'"
        with pytest.warns(UndefinedMetricWarning, match=no_test):
            found = near.wald_test(f"a = 0, c = {value}")
        assert found.pvalue == near.wald_test("a = 0").pvalue
        assert found.hypotheses == ["a = 0"]


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("value", [1.0, 1e4, 1e6])
def test_errors_beside_a_constant_sparse_column_are_those_of_dense_rows(model, value):
    X = np.column_stack([NEAR[:, :2], np.full(N, value)])
    sparse, dense = (
        model(Y, rows, lam=0.01).fit(ps.SDCA(tol=TOL, seed=1), cov_type="sandwich")
        for rows in (csr_array(X), X)
    )
    assert sparse.bse.iloc[-1] == dense.bse.iloc[-1] == 0.0
    assert np.isnan(sparse.pvalues.iloc[-1])
    # Both are within 1e-8 of the optimum, near which errors change smoothly.
    np.testing.assert_allclose(sparse.bse, dense.bse, rtol=1e-2)
