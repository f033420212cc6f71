"""Standard errors of the log loss where the rarer level has few rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import f

import pegasos_stats as ps
from pegasos_stats.models.inference.estimating import default_options
from pegasos_stats.models.inference.options import Cluster, Sandwich
from pegasos_stats.solvers.problem import Problem

TIGHT = ps.SDCA(tol=1e-12, epochs=2000, seed=1)


def rows(rare, n=200, p=2):
    """Rows of which so many have the label 1, others -1."""
    y = np.where(np.arange(n) < rare, 1.0, -1.0)
    return np.random.default_rng(3).normal(size=(n, p)) + 0.5 * y[:, None], y


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_fewer_than_20_rows_of_the_rarer_level_to_a_coefficient(sign):
    for rare, correction in ((59, "HC3"), (60, "HC0")):  # three coefficients
        X, y = rows(rare)
        chosen = default_options(Problem(X, sign * y, lam=0.1, loss="log"))
        assert chosen == Sandwich(correction=correction)
    X, y = rows(59)
    assert default_options(Problem(X, y, lam=0.1)) == Sandwich()  # the hinge


def test_groups_keep_their_own_estimate():
    X, y = rows(30)
    fit = ps.Logit(y, X, lam=0.1).fit(TIGHT, groups=np.arange(200) // 4)
    assert fit.cov_type == Cluster()


@pytest.fixture(scope="module")
def weighted():
    X, y = rows(40, n=90, p=3)
    weights = np.linspace(0.5, 2.0, 90)
    return ps.Logit(y, X, lam=0.05, weights=weights, standardize=True).fit(TIGHT)


def test_several_hypotheses_are_tested_by_f(weighted):
    theta, V = weighted.params.to_numpy()[1:], weighted.cov_params().to_numpy()[1:, 1:]
    assert weighted.covariance.description == "sandwich, HC3"
    w = weighted.problem.weights
    n, m = w.sum() ** 2 / (w @ w), 3
    statistic = theta @ np.linalg.solve(V, theta) * (n - m + 1.0) / (n * m)
    found = weighted.wald_test(np.eye(4)[1:])
    assert (found.df_num, found.df_denom) == (m, pytest.approx(n - m + 1.0))
    assert found.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(f.sf(statistic, m, n - m + 1.0), rel=1e-9)


def test_one_hypothesis_and_other_corrections_have_the_chi_squared_law(weighted):
    one = weighted.wald_test(np.eye(4)[2:3])
    assert one.distribution == "chi2"
    assert one.pvalue == pytest.approx(weighted.pvalues.iloc[2], rel=1e-9)
    plain = weighted.with_covariance("HC0")
    assert plain.wald_test(np.eye(4)[1:]).distribution == "chi2"
    assert (weighted.bse.to_numpy() > plain.bse.to_numpy()).all()


def test_it_is_saved(weighted, tmp_path):
    ps.save(weighted, tmp_path / "fit")
    back = ps.load(tmp_path / "fit").wald_test(np.eye(4)[1:])
    known = weighted.wald_test(np.eye(4)[1:])
    assert back.df_denom == known.df_denom
    assert back.statistic == pytest.approx(known.statistic, rel=1e-12)  # order of sums


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
def test_a_sparse_matrix_of_zeros_has_a_fit_and_a_summary(model):
    y = np.where(np.arange(15) % 7, "b", "a")
    result = model(y, csr_array((15, 2)), lam=0.1).fit(ps.SDCA(seed=1))
    assert result.params.iloc[1:].tolist() == [0.0, 0.0]
    assert str(result.summary())
