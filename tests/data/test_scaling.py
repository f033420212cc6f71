"""Scaling of the predictors, and both sets of coefficients."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.sparse import coo_array, csr_array

import pegasos_stats as ps
from pegasos_stats.data.design import Scaling
from pegasos_stats.errors import DataError

# Scores are sums of four terms of about 10; two ways of summing them.
ROUNDING = 1e-11


@pytest.fixture
def data():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(60, 4)) * [1, 100, 0.01, 3] + [5, -200, 0, 1])
    frame.columns = ["a", "b", "c", "d"]
    frame["same"] = 7.1
    frame["y"] = (frame["a"] + rng.normal(size=60) > 5).map({True: "yes", False: "no"})
    return frame


def test_columns_are_those_of_scale(data):
    model = ps.svm("y ~ a + b + c + d", data, standardize=True, lam=1.0)
    columns = data[["a", "b", "c", "d"]]
    expected = (columns - columns.mean()) / columns.std()
    np.testing.assert_allclose(model.problem.X, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_original_coefficients_give_the_scores(data, storage, intercept):
    X = storage(data[["a", "b", "c", "d", "same"]].to_numpy())
    given = {"lam": 0.1, "intercept": intercept, "standardize": True}
    result = ps.SVM(data["y"].to_numpy(), X, **given).fit(ps.Optimum(seed=1))
    original = result.params_original
    alpha = original["Intercept"] if intercept else 0.0
    beta = original.drop("Intercept", errors="ignore").fillna(0.0)  # of a constant
    scores = X @ beta.to_numpy() + alpha
    np.testing.assert_allclose(scores, result.decision_function(), atol=ROUNDING)
    assert (result.decision_function(X) == result.decision_function()).all()


def test_sparse_columns_stay_sparse_and_constant_ones_stay(data):
    X = csr_array(np.where(data[["a", "d"]] > 5, data[["a", "d"]], 0.0))
    model = ps.SVM(data["y"].to_numpy(), X, standardize=True, lam=1.0)
    assert model.problem.X.nnz == X.nnz
    deviations = X.toarray().std(axis=0, ddof=1)
    np.testing.assert_allclose(model.scaling.scale, deviations, rtol=1e-12)
    assert Scaling.of(data[["same"]].to_numpy()).scale.tolist() == [1.0]


def test_original_estimates_and_errors_are_those_of_logit():
    """Without a penalty scaling changes nothing: as by statsmodels' Logit, HC0."""
    table = sm.datasets.spector.load_pandas().data
    X, y = table[["GPA", "TUCE", "PSI"]], table["GRADE"]
    model = ps.Logit(y, X, lam=1e-12, standardize=True)
    result = model.fit(ps.Optimum(tol=1e-13, epochs=1000, seed=1), cov_type="HC0")
    found = result.tidy(original=True).set_index("term")
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, cov_type="HC0", tol=1e-14)
    expected = {"estimate": peer.params, "std_error": peer.bse, "p_value": peer.pvalues}
    for column, theirs in expected.items():  # to which the penalty has gone
        np.testing.assert_allclose(found[column], theirs, rtol=1e-6)
    np.testing.assert_allclose(found[["conf_low", "conf_high"]], peer.conf_int(), 1e-6)


def test_the_bootstrap_has_original_coefficients_too(data):
    """Those of each resample for predictors as the fit scaled them, scaled back."""
    model = ps.svm("y ~ a + b", data, lam=0.1, standardize=True)
    options = ps.Bootstrap(replicates=50, seed=1, interval="percentile")
    result = model.fit(ps.Optimum(tol=1e-8, seed=1), cov_type=options)
    theta = result.covariance.fixed
    mean, deviation = data[["a", "b"]].mean(), data[["a", "b"]].std()
    by_hand = theta[:, 0] - (theta[:, 1:] * (mean / deviation).to_numpy()).sum(axis=1)
    found = result.tidy(original=True)
    # the same 50 numbers, summed in another order
    assert found["std_error"][0] == pytest.approx(by_hand.std(ddof=1), rel=1e-10)
    slopes = theta[:, 1:].std(axis=0, ddof=1) / deviation
    np.testing.assert_allclose(found["std_error"][1:], slopes, rtol=1e-10)


@pytest.mark.parametrize("storage", [csr_array, coo_array])
def test_sparse_rows_are_centred_as_the_dense_rows_of_the_fit(data, storage):
    columns = data[["a", "b", "c", "d"]]
    result = ps.SVM(data["y"], columns, lam=0.1, standardize=True).fit(
        ps.Optimum(seed=1)
    )
    expected = result.decision_function(columns)
    rows = storage(columns.to_numpy())
    np.testing.assert_array_equal(result.decision_function(rows), expected)
    frame = columns.astype({"b": pd.SparseDtype(float, 0.0)})
    np.testing.assert_array_equal(result.decision_function(frame), expected)


@pytest.mark.parametrize("storage", [np.asarray, csr_array])
@pytest.mark.parametrize("power", [-700, -600, 600, 900])
def test_units_do_not_matter_where_squares_leave_the_range(data, storage, power):
    columns = data[["a", "b", "c", "d"]].to_numpy()
    plain = Scaling.of(storage(columns))
    found = Scaling.of(storage(np.ldexp(columns, power)))
    np.testing.assert_array_equal(found.scale, np.ldexp(plain.scale, power))
    np.testing.assert_array_equal(found.centre, np.ldexp(plain.centre, power))


def test_original_is_what_is_fitted_where_nothing_was_scaled(data):
    result = ps.svm("y ~ a + b", data, lam=0.1).fit(ps.Optimum(tol=1e-10, seed=1))
    assert result.tidy(original=True).equals(result.tidy())


@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_sums_that_overflow_are_an_error(storage):
    columns = storage(np.array([[1.5e308, 1.0], [1.5e308, 2.0], [-1e308, 4.0]]))
    with pytest.raises(DataError, match="overflows"):
        ps.SVM(["a", "b", "a"], columns, standardize=True, lam=1.0)
